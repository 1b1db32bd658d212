//! What the backends differ in: how their instructions are written, and what their registers are for.

use crate::graph::NodeOp;
use crate::shadow_pairs::VectorHalf;
use adumbra_ops::Libcall;
use adumbra_vm::native::KERNEL_WIDTH;
use dynasmrt::DynamicLabel;
use std::hash::Hash;

/// Bytes of the least page: the stack ends in front of one that is not there.
pub(crate) const MIN_PAGE_BYTES: i32 = 4096;

/// Where an operand is, given how the machine finds constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AsmOperand<C> {
    Register(u8),
    /// So many bytes behind the stack pointer.
    Frame(i32),
    Constant(C),
    /// In this word's plane, so many vectors behind those at hand.
    Plane(u32, u8),
}

/// What a machine has written.
pub(crate) struct AssembledCode {
    pub(crate) bytes: Vec<u8>,
    /// Where instructions end.
    pub(crate) code_end: usize,
    /// Where constants and tables begin.
    pub(crate) data_start: usize,
}

/// Writes the instructions of a processor, one after the other.
///
/// What must survive from one instruction to the next: the vector registers below [`REGISTERS`](Machine::VALUE_REGISTERS), the frame, and what the loops count with.
pub(crate) trait MacroAssembler: Sized {
    /// How an instruction finds a constant.
    type Constant: Copy + Eq + Hash;

    /// Bytes of a vector.
    const VECTOR_BYTES: i32;
    /// Vectors that the kernel of a stretch computes at once: at most [`KERNEL_WIDTH`] points.
    const SEGMENT_VECTORS: usize;
    /// Vectors that the kernel of a region computes side by side: their points are a word of its sets. A turn of a loop waits for itself, so that several pay.
    const LOOP_GROUP_VECTORS: usize = KERNEL_WIDTH * size_of::<u32>() / Self::VECTOR_BYTES as usize;
    /// Groups of them that it computes in turns, at most, if their turns are short.
    const MAX_LOOP_GROUPS: usize;
    /// Vector registers that may hold values, from the first one on.
    const VALUE_REGISTERS: u8;
    /// Vector registers that are free; instructions use them for operands that are in none.
    const SCRATCH: [u8; 2];
    /// Bytes that a call puts on the stack.
    const RETURN_ADDRESS_BYTES: i32;
    /// Whether instructions find operands in planes as soon as in the frame: then what is in a plane need not be put there.
    const HAS_PLANE_OPERANDS: bool;
    /// Whether there are instructions for [`Code::ToI32`] and [`Code::ToU32`]; else [`Code::Truncate`] is all there is.
    const HAS_SATURATING_CONVERSIONS: bool;

    /// Nothing yet, with room for about so many rows.
    fn new(rows: usize) -> Self;

    /// How many bytes were written.
    fn position(&self) -> usize;
    fn new_label(&mut self) -> DynamicLabel;
    /// The label is here.
    fn bind(&mut self, label: DynamicLabel);
    fn constant(&mut self, bits: u32) -> Self::Constant;

    /// Begins a kernel with a frame of so many bytes, each page of which it touches; says where it is to be called.
    fn enter_kernel(&mut self, size: i32) -> usize;
    /// Ends it.
    fn leave_kernel(&mut self);
    /// Begins the loop over runs. There may be none.
    fn begin_runs(&mut self, next: DynamicLabel, done: DynamicLabel);
    fn end_runs(&mut self, next: DynamicLabel, done: DynamicLabel);
    /// Begins a loop over the vectors of a run. There is at least one pack.
    fn begin_loop(&mut self, next: DynamicLabel);
    /// Goes on to the vectors so many bytes further, if there are any.
    fn end_loop(&mut self, next: DynamicLabel, step: i32);

    /// Begins a routine with a frame of so many bytes.
    fn enter_routine(&mut self, size: i32);
    /// Ends it.
    fn leave_routine(&mut self, size: i32);

    fn load_uniform(&mut self, to: u8, word: u32);
    /// The loads and stores that follow are of this word's plane.
    fn address_plane(&mut self, word: u32);
    /// From so many bytes behind the vectors at hand.
    fn load_plane(&mut self, to: u8, at: i32);
    fn store_plane(&mut self, at: i32, register: u8);
    /// Moves an operand to a register, if it is not there.
    fn load(&mut self, to: u8, operand: AsmOperand<Self::Constant>);
    /// To so many bytes behind the stack pointer.
    fn store(&mut self, at: i32, register: u8);

    /// Computes a node of one operand; the number is the node's `b`.
    fn emit_unary(&mut self, code: NodeOp, number: u32, to: u8, a: AsmOperand<Self::Constant>);
    fn emit_binary(
        &mut self,
        code: NodeOp,
        to: u8,
        a: AsmOperand<Self::Constant>,
        b: AsmOperand<Self::Constant>,
    );
    fn emit_ternary(
        &mut self,
        code: NodeOp,
        to: u8,
        a: AsmOperand<Self::Constant>,
        b: AsmOperand<Self::Constant>,
        c: AsmOperand<Self::Constant>,
    );
    fn lookup(&mut self, table: &'static [u32], to: u8, index: AsmOperand<Self::Constant>);
    /// Calls a function for so many lanes of the free registers; the result is in the first of them. One lane's goes to all.
    fn call_libcall(&mut self, function: Libcall, lanes: usize);

    /// Of the points at hand those who run, as a mask.
    fn load_active(&mut self, to: u8, vector: usize);
    /// The turns that the points at hand may take go to so many bytes behind the stack pointer.
    fn begin_iterations(&mut self, at: i32);
    /// Jumps if there is another turn.
    fn next_iteration(&mut self, at: i32, again: DynamicLabel);
    /// Tells how many steps the points of a vector took.
    fn store_steps(&mut self, register: u8, vector: usize);
    /// Tells who of so many groups goes each of so many ways, whose masks begin there, one behind the other.
    fn store_edge_masks(&mut self, at: i32, ways: usize, groups: usize);

    /// Begins an entry of a flow with a frame of so many bytes, each page of which it touches; says where it is to be called.
    fn enter_point_kernel(&mut self, size: i32) -> usize;
    /// Ends it by an exit.
    fn leave_point_kernel(&mut self, size: i32, exit: u32);
    /// To the first lane of each half, and perhaps others.
    fn load_vm_register(&mut self, to: u8, slot: u32);
    fn load_global(&mut self, to: u8, word: u32);
    /// From the first lane of a half.
    fn store_vm_register(&mut self, slot: u32, register: u8, half: VectorHalf);
    /// Puts bits that are known into a slot.
    fn fill_vm_register(&mut self, slot: u32, bits: u32);
    /// Takes so many steps of those that the point has left; jumps if there were fewer.
    fn take_steps(&mut self, steps: u32, fewer: DynamicLabel);
    /// Gives steps back that were taken so.
    fn return_steps(&mut self, steps: u32);

    fn jump(&mut self, to: DynamicLabel);
    /// Jumps if any lane of a mask is set; where one point is at hand, the first one.
    fn jump_if_any(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    /// Jumps if the first lane of a register is less than that of another one, or if it is not. A NaN neither is less nor has anything less than it.
    fn jump_if_less(&mut self, a: u8, b: u8, is_less: bool, to: DynamicLabel);
    /// Jumps if any is not.
    fn jump_unless_all(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    /// Jumps if none is.
    fn jump_if_none(&mut self, mask: AsmOperand<Self::Constant>, to: DynamicLabel);
    fn call(&mut self, routine: DynamicLabel);

    /// All that was written; nothing if it is too long for its own jumps.
    fn assemble(self) -> Option<AssembledCode>;

    /// The operand in a register: this one, if it is in none.
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
