//! The interface of the backends: the instructions of a target, and the roles of its registers.

use crate::graph::NodeOp;
use crate::shadow_pairs::VectorHalf;
use adumbra_ops::Libcall;
use adumbra_vm::native::WordLocation;
use dynasmrt::DynamicLabel;
use std::hash::Hash;
use std::ops::Range;

/// Bytes of the smallest page: the stack ends before an unmapped one.
pub(crate) const MIN_PAGE_BYTES: i32 = 4096;

/// The location of an operand, with constants as the target addresses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AsmOperand<C> {
    Register(u8),
    /// A number of bytes above the stack pointer.
    Frame(i32),
    /// The copy of a uniform value, a number of bytes above the stack pointer.
    Uniform(i32),
    Constant(C),
    /// In this word's plane, a number of vectors after the current one.
    Plane(u32, u8),
    /// A mask in a register of its own.
    Mask(MaskRegister),
}

/// A mask register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MaskRegister {
    pub(crate) number: u8,
    /// Whether its bits are set where the mask is not.
    pub(crate) is_inverted: bool,
}

/// The output of an assembler.
pub(crate) struct AssembledCode {
    pub(crate) bytes: Vec<u8>,
    /// The end of the instructions.
    pub(crate) code_end: usize,
    /// The start of constants and tables.
    pub(crate) data_start: usize,
}

/// Writes the instructions of a target, one after the other.
///
/// These survive from one instruction to the next: the vector registers below
/// [`VALUE_REGISTERS`](MacroAssembler::VALUE_REGISTERS), mask registers for values, the frame, and
/// the loop counters.
pub(crate) trait MacroAssembler: Sized {
    /// The address of a constant.
    type Constant: Copy + Eq + Hash;

    /// Bytes of a vector.
    const VECTOR_BYTES: i32;
    /// Bytes of the copy of a uniform value: a vector, unless instructions read a word for all
    /// elements.
    const UNIFORM_BYTES: i32 = Self::VECTOR_BYTES;
    /// Vectors that the kernel of a segment computes at once: at most
    /// [`KERNEL_WIDTH`](adumbra_vm::native::KERNEL_WIDTH) points.
    const SEGMENT_VECTORS: usize;
    /// Vector registers that may hold values, from the first one on.
    const VALUE_REGISTERS: u8;
    /// Scratch registers; instructions load operands in memory into them.
    const SCRATCH: [u8; 2];
    /// Mask registers that may hold values.
    const MASK_REGISTERS: Range<u8> = 0..0;
    /// Bytes that a call pushes on the stack.
    const RETURN_ADDRESS_BYTES: i32;
    /// Whether a plane operand costs no more than a frame operand: a value in a plane then needs no
    /// copy in the frame.
    const HAS_PLANE_OPERANDS: bool;
    /// Whether there are instructions for [`NodeOp::ToI32`] and [`NodeOp::ToU32`]; else there is
    /// [`NodeOp::Truncate`] only.
    const HAS_SATURATING_CONVERSIONS: bool;

    /// An empty buffer with capacity for about `instructions` arithmetic instructions.
    fn new(instructions: usize) -> Self;

    /// The number of bytes written.
    fn position(&self) -> usize;
    fn new_label(&mut self) -> DynamicLabel;
    /// Binds the label to this position.
    fn bind(&mut self, label: DynamicLabel);
    fn constant(&mut self, bits: u32) -> Self::Constant;

    /// Begins a kernel with a frame of `size` bytes, each page of which it touches, for words at
    /// these locations. Returns its entry point.
    fn enter_kernel(&mut self, size: i32, locations: &[WordLocation]) -> usize;
    /// Ends the kernel.
    fn leave_kernel(&mut self);
    /// Begins a loop over all runs. There may be none.
    fn begin_runs(&mut self, next: DynamicLabel, done: DynamicLabel);
    fn end_runs(&mut self, next: DynamicLabel, done: DynamicLabel);
    /// Begins a loop over the vectors of a run. There is at least one SIMD vector of the VM.
    fn begin_loop(&mut self, next: DynamicLabel);
    /// Goes on to the vectors `step` bytes further, if there are any.
    fn end_loop(&mut self, next: DynamicLabel, step: i32);

    /// Begins a routine with a frame of `size` bytes.
    fn enter_routine(&mut self, size: i32);
    /// Ends the routine.
    fn leave_routine(&mut self, size: i32);

    /// Copies a uniform value to `at` bytes above the stack pointer.
    fn copy_uniform(&mut self, word: u32, at: i32);
    /// Loads and stores from here on are of this word's plane.
    fn address_plane(&mut self, word: u32);
    /// From `at` bytes after the current vectors.
    fn load_plane(&mut self, to: u8, at: i32);
    fn store_plane(&mut self, at: i32, register: u8);
    /// Moves an operand to a register, if it is not there.
    fn load(&mut self, to: u8, operand: AsmOperand<Self::Constant>);
    /// To `at` bytes above the stack pointer.
    fn store(&mut self, at: i32, register: u8);

    /// Computes a node of one operand; the number is the node's `b`.
    fn emit_unary(&mut self, op: NodeOp, number: u32, to: u8, a: AsmOperand<Self::Constant>);
    fn emit_binary(
        &mut self,
        op: NodeOp,
        to: u8,
        a: AsmOperand<Self::Constant>,
        b: AsmOperand<Self::Constant>,
    );
    /// Computes a node of two operands, a mask, in a mask register, on targets that have such.
    fn emit_mask(
        &mut self,
        _: NodeOp,
        _: MaskRegister,
        _: AsmOperand<Self::Constant>,
        _: AsmOperand<Self::Constant>,
    ) {
        unreachable!("there are no mask registers")
    }
    fn emit_ternary(
        &mut self,
        op: NodeOp,
        to: u8,
        a: AsmOperand<Self::Constant>,
        b: AsmOperand<Self::Constant>,
        c: AsmOperand<Self::Constant>,
    );
    fn lookup(&mut self, table: &'static [u32], to: u8, index: AsmOperand<Self::Constant>);
    /// Calls a libcall for `elements` elements of the scratch registers; the result is in the first
    /// of these. The result for one element goes to all.
    fn call_libcall(&mut self, function: Libcall, elements: usize);

    /// Begins an entry of a point CFG with a frame of `size` bytes, each page of which it touches.
    /// Returns its entry point.
    fn enter_point_kernel(&mut self, size: i32) -> usize;
    /// Ends the kernel by an exit.
    fn leave_point_kernel(&mut self, size: i32, exit: u32);
    /// To the first element of each half, and perhaps others.
    fn load_vm_register(&mut self, to: u8, vm_register: u32);
    fn load_global(&mut self, to: u8, word: u32);
    /// From the first element of a half.
    fn store_vm_register(&mut self, vm_register: u32, register: u8, half: VectorHalf);
    /// Stores constant bits in a VM register.
    fn fill_vm_register(&mut self, vm_register: u32, bits: u32);
    /// Takes a number of the steps that the point has left; jumps if there were fewer.
    fn take_steps(&mut self, steps: u32, fewer: DynamicLabel);
    /// Returns steps that were taken so.
    fn return_steps(&mut self, steps: u32);

    fn jump(&mut self, to: DynamicLabel);
    /// Jumps if any element of a mask is set; for one point, the first one.
    fn jump_if_any(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    /// Jumps if the first element of a register is less than that of another one, or if it is not.
    /// Comparisons with NaN are false.
    fn jump_if_less(&mut self, a: u8, b: u8, is_less: bool, to: DynamicLabel);
    /// Jumps if any element is not set.
    fn jump_unless_all(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    /// Jumps if no element is set.
    fn jump_if_none(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    fn call(&mut self, routine: DynamicLabel);

    /// The finished code, or `None` if it is too long for its own jumps.
    fn assemble(self) -> Option<AssembledCode>;

    /// The operand's register, or `scratch` after a load into it.
    fn in_register(&mut self, operand: AsmOperand<Self::Constant>, scratch: u8) -> u8 {
        match operand {
            AsmOperand::Register(register) => register,
            _ => {
                self.load(scratch, operand);
                scratch
            }
        }
    }
}
