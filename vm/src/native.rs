//! What a native backend is given, and what it gives back.
//!
//! The batch engine keeps control: faults, samples, calls and arrays stay steps of its own. What lies between them is code: rows that follow one another
//! are a [`Segment`], which is computed for whole packs; a loop all of whose blocks are rows and jumps is a [`CompiledLoop`], which [`KERNEL_WIDTH`] points run together, or
//! groups of so many by turns, up to [`KERNEL_PADDING`], until the last of them has left. Both write only the words that somebody reads later. The steps stay behind the
//! code, for groups that have to leave what others keep alone, for points whose budget may end in the loop, and for where there is no code.
//!
//! The point engine does likewise: routines do what one point does beside rows and jumps, and the code of a [`Flow`] works on its register file in between.

#![allow(unsafe_code)]

use adumbra_ops::{Libcall, MAX_OPERANDS, Op};
pub use adumbra_simd::{OperandRef, VectorRun};
use adumbra_simd::{SimdLevel, vector_width};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Points that code computes at once, those of a word of a set: packs are a multiple of so many.
pub const KERNEL_WIDTH: usize = 16;

/// Up to a multiple of so many points the kernel of a region may go beyond those of its runs, none of whom runs there. Planes and sets have room for that.
pub const KERNEL_PADDING: usize = 32;

/// Sets of words that are the same for all points whose code is kept for a program; beyond, the oldest goes with its last evaluator.
pub const MAX_UNIFORMITY_VARIANTS: usize = 8;

/// Whether the packs of a level are such that code can compute them.
pub fn supports_level(level: SimdLevel) -> bool {
    vector_width(level).is_multiple_of(KERNEL_WIDTH)
}

/// What one kernel computes.
#[derive(Debug)]
pub enum CompileUnit {
    /// Rows that follow one another.
    Segment(Segment),
    /// A loop.
    Loop(CompiledLoop),
}

/// Blocks that control enters at the first one alone, and leaves for later ones outside. Whoever runs is at the least block, as everywhere in the engine.
#[derive(Debug, Default)]
pub struct CompiledLoop {
    /// How the words that rows name are found. The kernel's references stand in the same order.
    pub locations: Vec<WordLocation>,
    /// The blocks, in order.
    pub blocks: Vec<LoopBlock>,
    /// How many ways lead out.
    pub exits: u32,
    /// The words that are read behind the region: by those who leave it, or wait there while it runs.
    pub live_out: Vec<u32>,
}

/// A block of a region.
#[derive(Debug)]
pub struct LoopBlock {
    /// Its rows, in order.
    pub instructions: Vec<ArithmeticInst>,
    /// Steps of the budget that it takes, but for the one that its own end may take.
    pub steps: u32,
    /// Where control goes.
    pub terminator: LoopTerminator,
    /// The instruction of the bytecode that it ends with.
    pub position: u32,
}

/// How a block ends.
#[derive(Clone, Copy, Debug)]
pub enum LoopTerminator {
    /// There, for all.
    Jump(Edge),
    /// Back to a block: a step of the budget.
    Loop(u32),
    /// To one of two.
    Branch(CondBranch),
}

impl LoopTerminator {
    /// Where control goes, forward or back.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + Clone + use<> {
        match *self {
            LoopTerminator::Jump(way) => one_or_two(way, None),
            LoopTerminator::Loop(block) => one_or_two(Edge::Block(block), None),
            LoopTerminator::Branch(CondBranch { target, next, .. }) => {
                one_or_two(target, Some(next))
            }
        }
    }
}

/// The ways that are there.
fn one_or_two(first: Edge, second: Option<Edge>) -> impl Iterator<Item = Edge> + Clone {
    std::iter::once(first).chain(second)
}

/// A choice between two ways.
#[derive(Clone, Copy, Debug)]
pub struct CondBranch {
    /// What is asked.
    pub condition: Condition,
    /// What it has to be for going to `next`.
    pub when: bool,
    /// Where those go for whom it is not.
    pub target: Edge,
    /// Where the others go.
    pub next: Edge,
}

/// Where control goes from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// To a block of the region.
    Block(u32),
    /// Out of it, by an exit.
    Exit(u32),
}

/// What the kernel of a region is told of points, and tells of them. Sets of points are bits, [`KERNEL_WIDTH`] points to a word, the first of the chunk lowest. Sets, steps and planes reach
/// up to a multiple of [`KERNEL_PADDING`] points.
#[derive(Debug)]
#[repr(C)]
pub struct LoopState {
    /// Who runs: one set.
    pub active: *const u16,
    /// Who leaves by each exit, and then who is left before each block: a set for each, which is written for the packs of the run.
    pub edges: *mut u16,
    /// Words from one way's set to the next.
    pub stride: usize,
    /// How many steps of the budget each point took: a number for each, written for the same packs.
    pub steps: *mut u32,
    /// How many turns of loops the points that are computed at once may take.
    pub iterations: u64,
}

/// Rows that follow one another.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// How the words that rows name are found. The kernel's references stand in the same order.
    pub locations: Vec<WordLocation>,
    /// The rows, in order.
    pub instructions: Vec<ArithmeticInst>,
    /// Words that are read behind the stretch: what these hold at the end has to be in their planes.
    pub live_out: Vec<u32>,
}

/// What of a function is code for single points: pieces of rows, between which control goes. Whatever else stands there is left to the interpreter, so
/// control comes in at several pieces, and goes out at many.
#[derive(Debug, Default)]
pub struct PointCfg {
    /// How the words that rows name are found.
    pub locations: Vec<WordLocation>,
    /// The pieces, in order.
    pub blocks: Vec<PointBlock>,
    /// For each piece a bit for each slot: whether somebody reads behind it what the slot holds there. Nothing if all may be read.
    pub live_out: Option<Vec<u64>>,
    /// Where control comes in, in the order of the pieces.
    pub entries: Vec<CfgEntry>,
}

/// Rows that follow one another, and what comes then.
#[derive(Debug)]
pub struct PointBlock {
    /// The rows, in order.
    pub instructions: Vec<ArithmeticInst>,
    /// Where control goes. Exits are numbers that the interpreter knows its instructions by, or [`EXIT_FINISHED`].
    pub terminator: PointTerminator,
    /// Its last instruction of the bytecode.
    pub position: u32,
}

/// The exit by which the shader has returned. The outputs' slots hold what comes out.
pub const EXIT_FINISHED: u32 = u32::MAX;

/// Where control goes behind a piece.
#[derive(Clone, Copy, Debug)]
pub enum PointTerminator {
    /// There.
    Jump(Edge),
    /// There, with a step less to take; out if none is left.
    StepJump {
        /// Where control goes.
        to: Edge,
        /// The exit to the instruction that takes the step.
        out: u32,
    },
    /// To one of two.
    Branch(CondBranch),
}

impl PointTerminator {
    /// Where control goes, but for where no step is left.
    pub fn edges(&self) -> impl Iterator<Item = Edge> + Clone + use<> {
        match *self {
            PointTerminator::Jump(way) | PointTerminator::StepJump { to: way, .. } => {
                one_or_two(way, None)
            }
            PointTerminator::Branch(CondBranch { target, next, .. }) => {
                one_or_two(target, Some(next))
            }
        }
    }
}

/// What a branch asks.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// A row that gives a truth value; or the first operand itself is one.
    pub test: Option<Op>,
    /// What is asked about.
    pub operands: [DualOperand; MAX_OPERANDS],
}

/// Where control comes into a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfgEntry {
    /// The piece.
    pub block: u32,
    /// The instruction that it begins with, as exits are known.
    pub at: u32,
    /// Functions that may be active in the flow beside those that the interpreter knows to be called: 0 if nothing in it counts as a call.
    pub depth: u32,
}

/// How a word is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordLocation {
    /// A plane: a value for each point.
    Plane,
    /// One value for all points, in each word of a cell of 32.
    Uniform,
    /// These bits for all points.
    Constant(u32),
    /// In flows: a slot of the register file.
    Register(u32),
    /// In flows: a word of the host's globals.
    Global(u32),
}

/// A row of a unit.
#[derive(Clone, Copy, Debug)]
pub struct ArithmeticInst {
    /// What is computed.
    pub kind: ArithmeticKind,
    /// Where it goes.
    pub result: DualOperand,
    /// From what: as many as the row has operands; the rest mean nothing.
    pub operands: [DualOperand; MAX_OPERANDS],
    /// The instruction of the bytecode that it comes from.
    pub position: u32,
}

/// What a row computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArithmeticKind {
    /// A row of the op table, with shadows by the tangent formula.
    Op(Op),
    /// The operand itself; shadows that it lacks are zero.
    Copy,
    /// The operand, a shadow, as it is read: [`read_shadow`](adumbra_ir::host::read_shadow).
    ReadShadow,
    /// The operand, a float, as it leaves an evaluation by an output: [`leaving`](adumbra_ir::host::leaving), its shadows as they are read. Shadows that it
    /// lacks are zero.
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

/// A value, and its shadows along x and y if it has them: words of the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DualOperand {
    /// The word of the value.
    pub value: u32,
    /// Those of its shadows.
    pub shadows: [Option<u32>; 2],
}

/// Declares what goes by the calling convention that code is written for.
macro_rules! by_convention {
    ($abi:literal) => {
        /// Sets each of so many words to what a function makes of it and that of the second list.
        pub type LibcallFn = unsafe extern $abi fn(a: *mut u32, b: *const u32, lanes: usize);

        /// One for each [`Libcall`], by its number.
        pub type LibcallTable = [LibcallFn; Libcall::ALL.len()];

        /// The functions that kernels call, by their numbers: [`Libcall`].
        pub static LIBCALLS: LibcallTable = [each::<0>, each::<1>, each::<2>, each::<3>, each::<4>];

        /// # Safety
        /// So many words are at both, and nobody else has them.
        unsafe extern $abi fn each<const NUMBER: usize>(
            a: *mut u32,
            b: *const u32,
            lanes: usize,
        ) {
            for lane in 0..lanes {
                // SAFETY: asked of the caller.
                let (a, b) = unsafe { (&mut *a.add(lane), *b.add(lane)) };
                *a = Libcall::ALL[NUMBER].call(*a, b);
            }
        }

        /// Computes a unit for runs of packs, of which each plane has so many bytes; there is a reference for each word. Stretches are told nothing of
        /// points. The code knows no addresses: what it calls are the [`LIBCALLS`].
        ///
        /// The code is entered with the usual floating-point mode: to the nearest, denormals kept.
        pub type BatchKernel = unsafe extern $abi fn(
            refs: *const OperandRef,
            runs: *const VectorRun,
            count: usize,
            pack_bytes: usize,
            points: *mut LoopState,
            callees: &'static LibcallTable,
        );

        /// Runs a flow from an entry on, for the point whose register file this is, and which may take so many steps.
        ///
        /// The code is entered with the usual floating-point mode: to the nearest, denormals kept.
        pub type PointKernel =
            unsafe extern $abi fn(
                file: *mut u32,
                globals: *const u32,
                steps: u64,
                callees: &'static LibcallTable,
            ) -> PointExit;
    };
}

/// How a point left the code of a flow.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PointExit {
    /// The exit.
    pub exit: u64,
    /// Steps that it may still take.
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

/// The code of a program's units.
#[derive(Clone)]
pub struct BatchKernels {
    /// One for each unit, in order; none where the steps themselves are better.
    pub entries: Arc<[Option<BatchKernel>]>,
    /// Keeps the code where it is.
    pub code: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for BatchKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// The code of a program's flows.
#[derive(Clone)]
pub struct PointKernels {
    /// Where control comes in, and by which kernel.
    pub entries: Arc<[(CfgEntry, PointKernel)]>,
    /// Keeps the code where it is.
    pub code: Arc<dyn Any + Send + Sync>,
}

impl fmt::Debug for PointKernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointKernels")
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

/// Makes machine code of a program's units and flows.
///
/// # Safety
/// Each kernel computes, to the bit, what the rows of its unit compute one after the other, for every point of the packs that it is given, or who
/// runs among them; it writes planes of results in these packs, and nothing else that is not its own. It is called with a reference for each word of its unit, runs within the planes, and packs of a
/// multiple of [`KERNEL_WIDTH`] points.
///
/// The kernel of a region gets what [`LoopState`] says, and one run from the first point on, behind which it may go on up to a multiple of [`KERNEL_PADDING`] points. Where nobody runs it may write what it
/// found there, or, of words that are not kept, anything.
///
/// Each kernel of a flow does what the flow says with the register file that it is given, where slots that nobody reads later may hold anything, and gives one of
/// the flow's exits. All can be run while `code` lives, on any thread.
pub unsafe trait NativeBackend: fmt::Debug + Send + Sync {
    /// Code for the units of the program that this was made for, whose packs are a multiple of [`KERNEL_WIDTH`] points. They depend on which words among the
    /// globals are the same for all points, and on nothing else, so that evaluators of a program can share their code. Nothing if there is no memory
    /// for it.
    fn translate(&self, uniform: &[bool], units: &[CompileUnit]) -> Option<BatchKernels>;

    /// Code for the flows of the program, which are asked for if it is not made yet: they are always the same. Nothing if there is no memory for it.
    fn translate_points(&self, flows: &dyn Fn() -> Vec<PointCfg>) -> Option<PointKernels>;
}
