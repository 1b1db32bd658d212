//! A suspended point: its whole state between two instructions, owned. It can wait for a texture,
//! or for the other points of its quad, for any time.

use super::evaluation::{Evaluation, RegionExit};
use super::nan_origin::NanOrigins;
use super::tapes::Tapes;
use super::{AddedNumber, EvalOptions, EvalOutcome, EvalPoint, EvalValue, ExecutionCounts, Number};
use crate::host::{ClosureArena, Faults, Host, SampleRequest, Texel};
use crate::module::{FuncId, Module, RegionId};
use crate::quad::{Lockstep, QuadPause};

/// A place in a region: the instruction that runs next, or that waits for a region or function
/// inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RegionCursor {
    pub(super) region: RegionId,
    pub(super) at: usize,
}

/// A function being executed.
#[derive(Clone, Debug)]
pub(super) struct EvalFrame<F> {
    pub(super) function: FuncId,
    pub(super) slots: Vec<EvalValue<F>>,
    pub(super) arrays: Vec<Vec<EvalValue<F>>>,
    /// The open regions, outermost first.
    pub(super) cursors: Vec<RegionCursor>,
}

/// The state of a point.
#[derive(Clone, Debug)]
pub(super) struct EvalState<F> {
    pub(super) frames: Vec<EvalFrame<F>>,
    /// Array elements of all frames.
    pub(super) elements: u64,
    pub(super) steps: u64,
    pub(super) faults: Faults,
    pub(super) closures: ClosureArena,
    pub(super) tapes: Tapes<F>,
    pub(super) added: Vec<AddedNumber<F>>,
    pub(super) path: u64,
    pub(super) origins: NanOrigins,
    pub(super) tally: ExecutionCounts,
}

impl<F> Default for EvalState<F> {
    fn default() -> EvalState<F> {
        EvalState {
            frames: Vec::new(),
            elements: 0,
            steps: 0,
            faults: Faults::default(),
            closures: ClosureArena::default(),
            tapes: Tapes::default(),
            added: Vec::new(),
            path: 0,
            origins: NanOrigins::default(),
            tally: ExecutionCounts::default(),
        }
    }
}

/// The progress of an evaluation.
#[derive(Clone, Debug)]
pub enum Progress<F = f32> {
    /// The point is done.
    Done(EvalOutcome<F>),
    /// The host answered [`Pending`](crate::host::Sampled::Pending), or the point reached a
    /// difference.
    Pending(SuspendedPoint<F>),
}

/// A point that waits. It borrows nothing; dropping it gives the point up.
#[derive(Clone, Debug)]
pub struct SuspendedPoint<F = f32> {
    point: EvalPoint<F>,
    options: EvalOptions,
    awaited: QuadPause<F>,
    state: EvalState<F>,
}

/// Begins to evaluate one point. Texture requests go to the host in the order in which they are
/// executed.
///
/// # Panics
/// If the module breaks an invariant, or the point has fewer scalars than the module.
pub fn begin<F: Number>(
    module: &Module,
    point: &EvalPoint<F>,
    options: &EvalOptions,
    host: &mut dyn Host<F>,
) -> Progress<F> {
    F::begin(module, point, options, host)
}

/// The same, compiled for the numbers of the caller.
pub(super) fn begin_over<F: Number>(
    module: &Module,
    point: &EvalPoint<F>,
    options: &EvalOptions,
    host: &mut dyn Host<F>,
) -> Progress<F> {
    let options = EvalOptions {
        limits: options.limits.bounded(),
        ..*options
    };
    let machine = Evaluation::new(module, point, &options, host, EvalState::default());
    progress(machine.start(), &options, || point.clone())
}

/// The answer that a suspended point resumes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointAnswer<F> {
    /// To its request.
    Texel(Texel),
    /// The difference over its quad.
    Difference(F),
}

/// Resumes a point, compiled for the numbers of the caller.
pub(super) fn resume_over<F: Number>(
    suspended: SuspendedPoint<F>,
    answer: PointAnswer<F>,
    module: &Module,
    host: &mut dyn Host<F>,
) -> Progress<F> {
    let SuspendedPoint {
        point,
        options,
        state,
        ..
    } = suspended;
    let machine = Evaluation::new(module, &point, &options, host, state);
    let ended = match answer {
        PointAnswer::Texel(texel) => machine.resume(texel),
        PointAnswer::Difference(difference) => machine.resume_difference(difference),
    };
    progress(ended, &options, || point)
}

/// The progress as the host sees it.
fn progress<F>(
    ended: RegionExit<F>,
    options: &EvalOptions,
    point: impl FnOnce() -> EvalPoint<F>,
) -> Progress<F> {
    match ended {
        RegionExit::Done(outcome) => Progress::Done(outcome),
        RegionExit::Pending(awaited, state) => Progress::Pending(SuspendedPoint {
            point: point(),
            options: *options,
            awaited,
            state,
        }),
    }
}

impl Lockstep for Progress {
    fn awaited(&self) -> Option<&QuadPause> {
        match self {
            Progress::Done(_) => None,
            Progress::Pending(suspended) => Some(suspended.awaited()),
        }
    }

    fn is_at_same_instruction(&self, other: &Progress) -> bool {
        match (self, other) {
            (Progress::Pending(one), Progress::Pending(other)) => one.is_at_same_instruction(other),
            _ => false,
        }
    }
}

impl<F: Number> SuspendedPoint<F> {
    /// Where it waits, and for what.
    pub fn awaited(&self) -> &QuadPause<F> {
        &self.awaited
    }

    /// The request, if the point waits for the host.
    pub fn request(&self) -> Option<&SampleRequest<F>> {
        self.awaited.request()
    }

    /// Whether the other point, of the same module, waits at the same instruction, reached by the
    /// same calls.
    pub fn is_at_same_instruction(&self, other: &SuspendedPoint<F>) -> bool {
        let (mine, others) = (&self.state.frames, &other.state.frames);
        let mut pairs = mine.iter().zip(others);
        mine.len() == others.len()
            && pairs.all(|(a, b)| a.function == b.function && a.cursors == b.cursors)
    }

    /// The faults so far.
    pub fn faults(&self) -> &Faults {
        &self.state.faults
    }

    /// Resumes with the host's answer. The rest is as if the host had
    /// answered at once.
    ///
    /// # Panics
    /// If the module is not the one that the evaluation began with, or it is not the host that the
    /// point waits for.
    pub fn resume(
        self,
        module: &Module,
        texel: impl Into<Texel>,
        host: &mut dyn Host<F>,
    ) -> Progress<F> {
        F::resume(self, PointAnswer::Texel(texel.into()), module, host)
    }

    /// Resumes with a difference that the caller has computed from the points of the quad.
    ///
    /// # Panics
    /// If the module is not the one that the evaluation began with, or it is not a difference that
    /// the point waits for.
    pub fn resume_difference(
        self,
        module: &Module,
        difference: F,
        host: &mut dyn Host<F>,
    ) -> Progress<F> {
        F::resume(self, PointAnswer::Difference(difference), module, host)
    }

    /// Bytes that it holds, its own included.
    pub fn memory(&self) -> usize {
        let slots = |slots: &Vec<EvalValue<F>>| slots.capacity() * size_of::<EvalValue<F>>();
        let frame = |frame: &EvalFrame<F>| {
            let arrays = frame.arrays.iter().map(slots).sum::<usize>();
            let lists = frame.arrays.capacity() * size_of::<Vec<EvalValue<F>>>();
            let cursors = frame.cursors.capacity() * size_of::<RegionCursor>();
            slots(&frame.slots) + arrays + lists + cursors
        };
        let frames = self.state.frames.capacity() * size_of::<EvalFrame<F>>();
        size_of::<SuspendedPoint<F>>()
            + slots(&self.point.globals)
            + slots(&self.point.inputs)
            + frames
            + self.state.frames.iter().map(frame).sum::<usize>()
            + self.state.closures.memory()
            + self.state.tapes.memory()
            + self.state.added.capacity() * size_of::<AddedNumber<F>>()
            + self.state.origins.memory()
    }
}
