//! Steps: what the batch interpreter runs, made from bytecode by [`load`](super::load).

use crate::bytecode::{BytecodeArray, ShadowPattern};
use crate::native::ArithmeticKind;
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::Channels;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::Op;
use adumbra_simd::{ConditionRoutine, OpRoutines, OperandShape, UnmaskedRoutine};

/// One step, and where its operands begin among the program's.
pub(super) struct BatchInstruction {
    pub(super) op: BatchOp,
    /// The first of its operands.
    pub(super) refs: u32,
    /// The instruction that it comes from.
    pub(super) position: u32,
}

/// What a step does. Targets are steps.
#[derive(Clone, Copy)]
pub(super) enum BatchOp {
    /// A row, or a copy, for each point. Operands: as its routines say.
    Arithmetic {
        what: ArithmeticKind,
        routines: OpRoutines,
        pattern: ShadowPattern,
        /// Whether points that do not run keep what they have in the planes that it writes.
        kept: bool,
    },
    /// The loop that begins here, by machine code; nothing if it is none that has any. Operands: the words of the region.
    CompiledLoop(Option<u32>),
    /// All of the rows that follow at once, by machine code. Operands: the words of the stretch.
    Segment {
        unit: u32,
        /// How many follow.
        rows: u32,
        /// Whether points that do not run keep what they have in the planes that it writes.
        kept: bool,
    },
    /// A row once, for all points.
    Uniform(ArithmeticKind, OpRoutines, ShadowPattern),
    /// All of the rows that follow at once. Operands: the last one's result, then what they have of others.
    Superinstruction {
        routine: UnmaskedRoutine,
        /// How many follow.
        rows: u32,
        /// Whether points that do not run keep what they have in the planes that the last one writes.
        kept: bool,
    },
    /// All of the steps that follow at once: rows for which there are routines for whole packs, alone or together.
    Sequence {
        /// The first of their calls, and how many there are.
        calls: (u32, u32),
        /// How many steps follow.
        steps: u32,
        /// Whether points that do not run keep what they have in planes that each of the rows writes.
        kept: bool,
    },
    /// Records faults of the row that follows. Operands: that row's.
    Fault(ConditionRoutine, FaultKind),
    /// Jumps unless the test is as said. Operands: the test's.
    Branch {
        /// The row that is tested; a truth value itself if none.
        op: Option<Op>,
        test: ConditionRoutine,
        when: bool,
        target: u32,
        /// Whether all points find the same.
        uniform: bool,
    },
    /// Others may wait here.
    Reconverge,
    /// Jumps forward.
    Jump(u32),
    /// Jumps back: one step of the budget.
    Loop(u32),
    /// Calls a function that holds so many array elements, and takes so many steps.
    Call {
        target: u32,
        elements: u32,
        steps: u64,
    },
    /// One step of the budget: for the turn of a loop whose steps follow, or for a call whose callee's steps follow, where so many such calls are open.
    CountStep(Option<u32>),
    /// As many of these at once as follow one another behind it, around the deepest call of which so many are open.
    CountSteps { count: u32, open: Option<u32> },
    /// Goes back to the caller; the shader itself ends.
    Return,
    /// Points that come here are stopped.
    Unreachable,
    /// Points that come here go on alone.
    BailOut,
    /// An element with shadows `to`. Operands: a plane for the value and each of these shadows, the index.
    Load { array: BytecodeArray, to: Lanes },
    /// Sets an element from a value with shadows `from`. Operands: the index, then the value and each of these shadows.
    Store { array: BytecodeArray, from: Lanes },
    /// Clears an array.
    ArrayZero(BytecodeArray),
    /// Operands: the plane for the number of parts, how many are asked for.
    ArrayResize { array: BytecodeArray, part: u32 },
    /// Copies the elements that both have.
    ArrayCopy {
        to: BytecodeArray,
        from: BytecodeArray,
    },
    /// Operand: where the part of the longer begins.
    ArrayCopyPart {
        to: BytecodeArray,
        from: BytecodeArray,
    },
    /// Operands: u, v, dudx, dudy, dvdx, dvdy, the level if it is one's own, then a plane for each channel.
    Sample {
        texture: u32,
        channels: Channels,
        detail: SampleDetail,
        /// Words that are not in their planes, from the first one on: see [`BailOutValue`].
        lent: (u32, u32),
    },
    /// The difference to a neighbour. Operands: the plane for it, the value. Words that are not in their planes: see [`BailOutValue`].
    Difference {
        direction: Direction,
        lent: (u32, u32),
    },
    /// Operands: the arguments.
    Message(u32),
    /// A closure of a shape. Operands: the plane for it, the arguments.
    MakeClosure(u32),
    /// Operands: the plane for it, two closures.
    ClosureAdd,
    /// Operands: the plane for it, a closure, a weight.
    ClosureScale,
    /// Operands: the plane for it, a closure, three weights.
    ClosureTint,
}

/// A row, or rows that are computed together, for whole packs, and where its operands begin among the program's.
pub(super) struct RoutineCall {
    pub(super) routine: UnmaskedRoutine,
    pub(super) refs: u32,
}

/// How a sample tells its footprint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleDetail {
    /// By the shadows of u and v, as they are read.
    Shadows,
    /// By partials that the shader computes.
    Gradients,
    /// By the level itself.
    Level,
}

/// Where an operand is, before there is memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum OperandLocation {
    /// The plane of a slot.
    Plane(u32),
    /// A cell that a step computes.
    Uniform(u32),
    /// The cell of a constant.
    Constant(u32),
    /// The cell of an input.
    Input(u32),
    /// The plane of a word among the globals.
    Global(u32),
    /// The cell of a word among the globals.
    UniformGlobal(u32),
    /// A plane of zeros.
    Zero,
    /// A plane for what is on its way.
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

    /// What a word there is as an operand.
    pub(super) fn shape(self) -> OperandShape {
        match self.is_uniform() {
            true => OperandShape::Uniform,
            false => OperandShape::Varying,
        }
    }
}

/// A word that a point has elsewhere than in its own plane where it may leave the chunk: at a sample or a difference.
#[derive(Clone, Copy)]
pub(super) struct BailOutValue {
    pub(super) slot: u32,
    /// Where: one of the program's operands.
    pub(super) operand: u32,
}

/// What the engine knows of a region beside its code.
pub(super) struct BatchLoop {
    /// Its kernel.
    pub(super) unit: u32,
    /// The steps that its ways lead to: exits, then its own blocks.
    pub(super) edges: Box<[u32]>,
    /// The step behind its last block.
    pub(super) end: u32,
    /// Steps of the budget that a turn takes at most.
    pub(super) iteration_steps: u64,
    /// The instruction of the bytecode that turns it: what stops points in its code is said to happen there.
    pub(super) position: u32,
    /// The most calls that are open around one whose callee stands in its place, if there is one.
    pub(super) open: Option<u32>,
}
