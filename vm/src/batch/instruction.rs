//! Batch instructions: the instructions of the batch interpreter, which [`load`](super::load) makes
//! from bytecode.

use crate::bytecode::{BytecodeArray, ShadowPattern};
use crate::closures::planes::NodeKind;
use crate::native::ArithmeticKind;
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::{IndexCheck, MipSelection, Slopes};
use adumbra_ir::types::{Direction, Lanes};
use adumbra_simd::{ConditionRoutine, OpRoutines, OperandShape, UnmaskedRoutine};

/// A batch instruction, and the start of its operands in the program's list.
#[derive(Clone, Copy)]
pub(super) struct BatchInstruction {
    pub(super) op: BatchOp,
    /// The first of its operands.
    pub(super) refs: u32,
    /// The bytecode instruction that it comes from.
    pub(super) position: u32,
}

/// What becomes of the words of inactive points in the planes that a segment or a sequence writes.
#[derive(Clone, Copy)]
pub(super) enum InactiveWords {
    /// Nothing reads them.
    Unread,
    /// Those of some operands are saved and restored: the first of
    /// [`ChunkMemory::saved_operands`](super::memory::ChunkMemory::saved_operands), and how many.
    Saved(u32, u32),
    /// There are too many to save: groups that are active in a part of a vector run the batch
    /// instructions.
    Kept,
}

/// The operation of a batch instruction. Targets are batch instructions.
#[derive(Clone, Copy)]
pub(super) enum BatchOp {
    /// An op, or a copy, for each point. Operands: as its routines require.
    Arithmetic {
        kind: ArithmeticKind,
        routines: OpRoutines,
        pattern: ShadowPattern,
        /// Whether inactive points keep their words in the planes that it writes.
        keeps_inactive: bool,
    },
    /// The machine code of the arithmetic instructions that follow. Operands: the locations of the
    /// segment.
    Segment {
        segment: u32,
        /// How many follow.
        instructions: u32,
        inactive: InactiveWords,
    },
    /// An op once, for all points.
    Uniform(OpRoutines),
    /// Copies a uniform. Operands: to where, from where.
    UniformMove,
    /// The superinstruction of the two arithmetic instructions that follow. Operands: the result of
    /// the second, then the operands that the first does not compute.
    Superinstruction {
        routine: UnmaskedRoutine,
        /// How many operands it writes: the value, and the shadows of a dual, even where the second
        /// instruction writes the value only.
        written: u8,
        /// Whether inactive points keep their words in one of those.
        keeps_inactive: bool,
    },
    /// The unmasked routines of all instructions that follow, single or fused, one after the other.
    Sequence {
        /// The first of their calls, and how many there are.
        calls: (u32, u32),
        /// How many instructions follow.
        instructions: u32,
        inactive: InactiveWords,
    },
    /// Records faults of the arithmetic instruction that follows. Operands: that instruction's.
    Fault(ConditionRoutine, FaultKind),
    /// Jumps unless the result of the test is `when`. Operands: the test's.
    Branch {
        test: ConditionRoutine,
        when: bool,
        target: u32,
        /// Whether the result is the same for all points.
        uniform: bool,
    },
    /// A point of reconvergence: inactive groups may join here.
    Reconverge,
    /// Jumps forward.
    Jump(u32),
    /// Jumps back: one step of the budget.
    Loop(u32),
    /// Calls a function that holds `elements` array elements, and takes `steps` steps.
    Call {
        target: u32,
        elements: u32,
        steps: u64,
    },
    /// Takes one step of the budget: for an iteration of an unrolled loop, or for an inlined call.
    /// A call has the number of inlined calls that are open around it.
    CountStep(Option<u32>),
    /// Asks the host whether to stop.
    Query,
    /// Takes the steps of all consecutive [`BatchOp::CountStep`]s at once, around the deepest of
    /// which `open` inlined calls are open.
    CountSteps { count: u32, open: Option<u32> },
    /// Returns to the caller; the shader itself ends.
    Return,
    /// Points that come here are stopped.
    Unreachable,
    /// Points that come here bail out.
    BailOut,
    /// An element with shadows `to`. Operands: a plane for the value and each of these shadows, the
    /// index.
    Load { array: BytecodeArray, to: Lanes },
    /// A number of an element of a buffer. Operands: the plane for it, or a uniform if the index is
    /// one; the index.
    Buffer {
        buffer: u32,
        number: u32,
        check: IndexCheck,
    },
    /// Operand: the uniform for the number of elements.
    BufferLength { buffer: u32 },
    /// Adds to a number of an element of a sum. Operands: the index, what is added.
    BufferAdd { buffer: u32, number: u32 },
    /// Sets an element from a value with shadows `from`. Operands: the index, then the value and
    /// each of these shadows.
    Store { array: BytecodeArray, from: Lanes },
    /// Clears an array.
    ArrayZero { array: BytecodeArray, steps: u32 },
    /// Operands: the plane for the number of parts, how many are asked for.
    ArrayResize { array: BytecodeArray, part: u32 },
    /// Copies the elements that both have.
    ArrayCopy {
        to: BytecodeArray,
        from: BytecodeArray,
        steps: u32,
    },
    /// Operand: where the part of the longer begins.
    ArrayCopyPart {
        to: BytecodeArray,
        from: BytecodeArray,
        steps: u32,
    },
    /// Keeps a record. Operands: its words. Registers that are not in their planes: see
    /// [`BailOutValue`]. It takes `steps` steps for them, as do the others that have such.
    Keep {
        tape: u32,
        steps: u32,
        elsewhere: (u32, u32),
    },
    /// Takes a record. Operands: a plane for each word of it, or a uniform if it is dropped.
    Take { tape: u32, steps: u32 },
    /// Operands: u, v, dudx, dudy, dvdx, dvdy, the level if it is explicit, then a plane for each
    /// result.
    Sample {
        texture: u32,
        mip: MipSelection,
        slopes: Slopes,
        /// Registers that are not in their planes, from the first one on: see [`BailOutValue`].
        elsewhere: (u32, u32),
    },
    /// The adjoint of a sample. Operands: those of the sample's footprint, then the numbers.
    TextureAdjoint {
        texture: u32,
        mip: MipSelection,
        slopes: Slopes,
    },
    /// The difference to a neighbour. Operands: the plane for it, the value. Registers that are not
    /// in their planes: see [`BailOutValue`].
    Difference {
        direction: Direction,
        elsewhere: (u32, u32),
    },
    /// Operands: the arguments.
    Message { message: u32, steps: u32 },
    /// A node of a closure. Operands: the plane for the closure, those of the node.
    MakeClosure { kind: NodeKind, steps: u32 },
}

impl BatchOp {
    /// The range of [`BailOutValue`]s that it may need.
    pub(super) fn elsewhere(self) -> (u32, u32) {
        match self {
            BatchOp::Sample { elsewhere, .. }
            | BatchOp::Difference { elsewhere, .. }
            | BatchOp::Keep { elsewhere, .. } => elsewhere,
            _ => (0, 0),
        }
    }
}

/// A call of an unmasked routine, single or fused, and the start of its operands in the program's
/// list.
#[derive(Clone, Copy)]
pub(super) struct RoutineCall {
    pub(super) routine: UnmaskedRoutine,
    pub(super) refs: u32,
}

/// The number of operands of a sample's footprint, u and v included.
pub(super) const fn footprint_operands(mip: MipSelection) -> usize {
    match mip {
        MipSelection::Shadows | MipSelection::GRADIENTS => 6,
        MipSelection::LEVEL => 7,
    }
}

/// The location of an operand, before memory is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OperandLocation {
    /// The plane of a register.
    Plane(u32),
    /// A uniform value that an instruction computes.
    Uniform(u32),
    /// The uniform of a constant.
    Constant(u32),
    /// The uniform of an input.
    Input(u32),
    /// The plane of a word among the globals.
    Global(u32),
    /// The uniform of a word among the globals.
    UniformGlobal(u32),
    /// A plane of zeros.
    Zero,
    /// A plane for an intermediate value.
    Scratch(u32),
}

impl OperandLocation {
    /// Whether it holds one value for all points.
    pub(super) fn is_uniform(self) -> bool {
        matches!(
            self,
            OperandLocation::Uniform(_)
                | OperandLocation::Constant(_)
                | OperandLocation::Input(_)
                | OperandLocation::UniformGlobal(_)
        )
    }

    /// The shape of a word there as an operand.
    pub(super) fn shape(self) -> OperandShape {
        match self.is_uniform() {
            true => OperandShape::Uniform,
            false => OperandShape::Varying,
        }
    }
}

/// The instructions that a superinstruction computes.
pub(super) const FUSED_INSTRUCTIONS: usize = 2;

/// A register that is not in its own plane where a point may bail out: at a sample, a
/// difference, a keep, or the start of a block.
#[derive(Clone, Copy)]
pub(super) struct BailOutValue {
    pub(super) register: u32,
    /// Its location: one of the program's operands.
    pub(super) operand: u32,
}
