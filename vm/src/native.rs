//! The interface of a native backend: its input, and the code that it returns.
//!
//! The batch engine keeps control: jumps, faults, samples, calls and arrays stay batch
//! instructions. Code is between them. Consecutive arithmetic instructions are a [`Segment`],
//! computed for whole SIMD vectors. It writes only live-out locations. The batch instructions stay
//! after the code: groups that must preserve inactive points run them, and programs without code.
//!
//! The point engine does the same: the interpreter's handlers run other instructions, and the code
//! of a [`PointCfg`] works on the register file in between.

#![allow(unsafe_code)]

use adumbra_ops::{Libcall, MAX_OPERANDS, Op};
pub use adumbra_simd::{OperandRef, VectorRun};
use adumbra_simd::{SimdLevel, vector_width};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Points that code may compute at once: SIMD vectors are a multiple of this.
pub const KERNEL_WIDTH: usize = 16;

/// The most kinds of segments ([`SegmentKey`]), each at a SIMD level, whose code is kept for a
/// program. Beyond that the oldest code goes with its last evaluator.
pub const MAX_CODE_VARIANTS: usize = 8;

/// Whether code can compute the SIMD vectors of a level.
pub fn supports_level(level: SimdLevel) -> bool {
    vector_width(level).is_multiple_of(KERNEL_WIDTH)
}

/// One edge or two.
fn one_or_two(first: Edge, second: Option<Edge>) -> impl Iterator<Item = Edge> + Clone {
    std::iter::once(first).chain(second)
}

/// A branch to one of two edges.
#[derive(Clone, Copy, Debug)]
pub struct CondBranch {
    /// Its condition.
    pub condition: Condition,
    /// The result of the condition that leads to `next`.
    pub when: bool,
    /// The edge for the other result.
    pub target: Edge,
    /// The edge for the result `when`.
    pub next: Edge,
}

/// An edge from a block of a CFG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// To a block of the CFG.
    Block(u32),
    /// Out of it, by an exit.
    Exit(u32),
}

/// What the segments of a program depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentKey {
    /// For each word among the globals, whether it is the same for all points.
    pub uniform: Box<[bool]>,
    /// Bytes from the plane of one register to that of the next.
    pub plane_bytes: usize,
}

/// Consecutive arithmetic instructions, which the batch engine has as one kernel. The point
/// engine's unit is a [`PointCfg`].
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The locations that its instructions name. The kernel's references are in the same order.
    pub locations: Vec<WordLocation>,
    /// The instructions, in order.
    pub instructions: Vec<ArithmeticInst>,
    /// The live-out locations: their planes must be written.
    pub live_out: Vec<u32>,
}

/// The control flow graph of a function's code for single points. Its blocks have arithmetic
/// instructions alone. The interpreter runs all other instructions, so control enters at several
/// blocks, and leaves at many.
#[derive(Debug, Default)]
pub struct PointCfg {
    /// The locations that its instructions name.
    pub locations: Vec<WordLocation>,
    /// The blocks, in order.
    pub blocks: Vec<PointBlock>,
    /// For each block a bit for each register that is live-out; none if all may be.
    pub live_out: Option<Vec<u64>>,
    /// The entries, in the order of the blocks.
    pub entries: Vec<CfgEntry>,
}

/// A basic block of code for single points, or a part of one, and its terminator.
#[derive(Debug)]
pub struct PointBlock {
    /// The arithmetic instructions, in order.
    pub instructions: Vec<ArithmeticInst>,
    /// For each of them, and for each location that it writes, the position of the last instruction
    /// of the basic block that reads what it writes: 0 if none does, [`LIVE_OUT`] if that is
    /// live-out of the basic block.
    pub last_uses: Vec<[u32; 3]>,
    /// Its terminator. Exits are the interpreter's numbers of instructions, or [`EXIT_FINISHED`].
    pub terminator: PointTerminator,
    /// Its last bytecode instruction.
    pub position: u32,
}

/// The last use of what is live-out of its block.
pub const LIVE_OUT: u32 = u32::MAX;

/// The exit by which the shader has returned. The output registers hold the outputs.
pub const EXIT_FINISHED: u32 = u32::MAX;

/// The terminator of a block for single points.
#[derive(Clone, Copy, Debug)]
pub enum PointTerminator {
    /// An unconditional jump.
    Jump(Edge),
    /// A jump that takes a step; out if none is left.
    StepJump {
        /// The edge of the jump.
        to: Edge,
        /// The exit to the instruction that takes the step.
        out: u32,
    },
    /// A conditional branch.
    Branch(CondBranch),
}

impl PointTerminator {
    /// The edges of the terminator, except the exit without a step.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + Clone + use<> {
        match *self {
            PointTerminator::Jump(edge) | PointTerminator::StepJump { to: edge, .. } => {
                one_or_two(edge, None)
            }
            PointTerminator::Branch(CondBranch { target, next, .. }) => {
                one_or_two(target, Some(next))
            }
        }
    }
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// An op whose result is a boolean; none if the first operand is the boolean.
    pub test: Option<Op>,
    /// The operands of the op.
    pub operands: [DualOperand; MAX_OPERANDS],
}

/// An entry of a CFG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfgEntry {
    /// The block.
    pub block: u32,
    /// Its first instruction, by the interpreter's number.
    pub at: u32,
    /// Inlined functions that may be active in the CFG beside those that the interpreter counts: 0
    /// if no instruction counts as a call.
    pub depth: u32,
}

/// The location of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordLocation {
    /// A plane: a value for each point.
    Plane,
    /// The plane of a register, this many bytes after that of the first register.
    RegisterPlane(i32),
    /// One value for all points, in each of 32 words.
    Uniform,
    /// These bits for all points.
    Constant(u32),
    /// In CFGs: a register.
    Register(u32),
    /// In CFGs: a word of the host's globals.
    Global(u32),
}

/// An arithmetic instruction of a segment or a CFG.
#[derive(Clone, Copy, Debug)]
pub struct ArithmeticInst {
    /// The computation.
    pub kind: ArithmeticKind,
    /// The location of its result.
    pub result: DualOperand,
    /// Its operands, as many as the computation has; the rest mean nothing.
    pub operands: [DualOperand; MAX_OPERANDS],
    /// The bytecode instruction that it comes from.
    pub position: u32,
}

/// The computation of an arithmetic instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticKind {
    /// An op, with shadows by the tangent formula.
    Op(Op),
    /// The operand itself; shadows that it lacks are zero.
    Copy,
    /// The operand, a shadow, as it is read: [`read_shadow`](adumbra_ir::host::read_shadow).
    ReadShadow,
    /// The operand, a float, made canonical for an output:
    /// [`canonical_float`](adumbra_ir::host::canonical_float), its shadows as they are read.
    /// Shadows that it lacks are zero.
    Canonicalise,
}

impl ArithmeticKind {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            ArithmeticKind::Op(op) => op.arity(),
            ArithmeticKind::Copy | ArithmeticKind::ReadShadow | ArithmeticKind::Canonicalise => 1,
        }
    }
}

/// The locations of a value, and of its shadows along x and y if it has them: the numbers of a
/// segment's or CFG's locations, or the locations themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DualOperand<L = u32> {
    /// The location of the value.
    pub value: L,
    /// The locations of its shadows.
    pub shadows: [Option<L>; 2],
}

impl<L> DualOperand<L> {
    /// The locations that exist, the value's first.
    pub fn locations(self) -> impl Iterator<Item = L> {
        let [x, y] = self.shadows;
        [Some(self.value), x, y].into_iter().flatten()
    }
}

/// Declares the functions of the calling convention that code uses.
macro_rules! by_convention {
    ($abi:literal) => {
        /// A function that sets each of `elements` words to a result from it and the word of the
        /// second list.
        pub type LibcallFn = unsafe extern $abi fn(a: *mut u32, b: *const u32, elements: usize);

        /// A function for each [`Libcall`], by its number.
        pub type LibcallTable = [LibcallFn; Libcall::ALL.len()];

        /// The functions that kernels call, by their numbers: [`Libcall`].
        pub static LIBCALLS: LibcallTable = [each::<0>, each::<1>, each::<2>, each::<3>, each::<4>];

        /// # Safety
        /// There are `elements` words at both, which are not shared.
        unsafe extern $abi fn each<const NUMBER: usize>(
            a: *mut u32,
            b: *const u32,
            elements: usize,
        ) {
            for element in 0..elements {
                // SAFETY: guaranteed by the caller.
                let (a, b) = unsafe { (&mut *a.add(element), *b.add(element)) };
                *a = Libcall::ALL[NUMBER].call(*a, b);
            }
        }

        /// A kernel that computes a segment for runs of SIMD vectors of `bytes` bytes each; there
        /// is a reference for each location. The code has no addresses in it: it calls
        /// [`LIBCALLS`].
        ///
        /// The code is entered in the default floating-point environment: to the nearest, denormals
        /// kept.
        pub type BatchKernel = unsafe extern $abi fn(
            refs: *const OperandRef,
            runs: *const VectorRun,
            count: usize,
            vector_bytes: usize,
            callees: &'static LibcallTable,
        );

        /// A kernel that runs a CFG from an entry on, for the point of this register file, which
        /// may take `steps` steps.
        ///
        /// The code is entered in the default floating-point environment: to the nearest, denormals
        /// kept.
        pub type PointKernel =
            unsafe extern $abi fn(
                file: *mut u32,
                globals: *const u32,
                steps: u64,
                callees: &'static LibcallTable,
            ) -> PointExit;
    };
}

/// The exit by which a point left the code of a CFG.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PointExit {
    /// The exit.
    pub exit: u64,
    /// Steps that are left.
    pub steps: u64,
}

impl PointExit {
    /// Whether the shader has returned.
    #[inline]
    pub(crate) fn has_returned(self) -> bool {
        self.exit == u64::from(EXIT_FINISHED)
    }
}

#[cfg(target_arch = "x86_64")]
by_convention!("sysv64");
#[cfg(not(target_arch = "x86_64"))]
by_convention!("C");

/// The code of a program's segments.
#[derive(Clone)]
pub struct BatchKernels {
    /// A kernel for each segment, in order; none where batch instructions are faster.
    pub entries: Arc<[Option<BatchKernel>]>,
    /// Owns the code.
    pub code: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for BatchKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// The code of a program's CFGs.
#[derive(Clone)]
pub struct PointKernels {
    /// The entries, and the kernel of each.
    pub entries: Arc<[(CfgEntry, PointKernel)]>,
    /// Owns the code.
    pub code: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for PointKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointKernels")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// A native backend, which compiles a program's segments and CFGs to machine code.
///
/// # Safety
/// Each kernel computes, to the bit, the instructions of its segment one after the other, for every
/// point of its SIMD vectors. It writes planes of results in these vectors, and no other memory
/// that it does not own. In locations that are not live-out it may write anything. It is called
/// with a reference for each location of its segment, runs within the planes, and vectors of a
/// multiple of [`KERNEL_WIDTH`] points. Planes of registers are as far apart as their locations
/// say.
///
/// Each kernel of a CFG has the effect of the CFG on its register file, where registers that are
/// not live-out may hold anything. It returns one of the CFG's exits. All can be run while `code`
/// lives, on any thread.
pub unsafe trait NativeBackend: fmt::Debug + Send + Sync {
    /// Compiles the segments of the program that this was made for, whose SIMD vectors are a
    /// multiple of [`KERNEL_WIDTH`] points. They follow from the key, so evaluators of a program
    /// can share their code. It may use all instructions of a level that the processor has. Returns
    /// none if there is no memory for it.
    fn compile_batch(
        &self,
        level: SimdLevel,
        key: &SegmentKey,
        segments: &[Segment],
    ) -> Option<BatchKernels>;

    /// Compiles the CFGs of the program, which `cfgs` makes if there is no code yet: they are
    /// always the same. Returns none if there is no memory for it.
    fn compile_points(&self, cfgs: &dyn Fn() -> Vec<PointCfg>) -> Option<PointKernels>;
}
