//! A point between two instructions: everything that it is, owned, so that it can wait for a texture, or for the other points of its quad,
//! as long as it takes.

use super::machine::{Ended, Machine};
use super::origins::Origins;
use super::{Number, Options, Outcome, Point, Slot, Tally};
use crate::host::{ClosureArena, Faults, Host, SampleRequest};
use crate::module::{FuncId, Module, RegionId};
use crate::quad::{Awaited, Lockstep};

/// A place in a region: the instruction that runs next, or that waits for a region or function inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) region: RegionId,
    pub(super) at: usize,
}

/// A function being executed.
#[derive(Clone, Debug)]
pub(super) struct Frame<F> {
    pub(super) function: FuncId,
    pub(super) slots: Vec<Slot<F>>,
    pub(super) arrays: Vec<Vec<Slot<F>>>,
    /// The open regions, outermost first.
    pub(super) cursors: Vec<Cursor>,
}

/// How far a point has come.
#[derive(Clone, Debug)]
pub(super) struct State<F> {
    pub(super) frames: Vec<Frame<F>>,
    /// Array elements of all frames.
    pub(super) elements: u64,
    pub(super) steps: u64,
    pub(super) faults: Faults,
    pub(super) closures: ClosureArena,
    pub(super) path: u64,
    pub(super) origins: Origins,
    pub(super) tally: Tally,
}

impl<F> Default for State<F> {
    fn default() -> State<F> {
        State {
            frames: Vec::new(),
            elements: 0,
            steps: 0,
            faults: Faults::default(),
            closures: ClosureArena::default(),
            path: 0,
            origins: Origins::default(),
            tally: Tally::default(),
        }
    }
}

/// How far an evaluation came.
#[derive(Clone, Debug)]
pub enum Progress<F = f32> {
    /// The point is done.
    Done(Outcome<F>),
    /// The host answered [`Pending`](crate::host::Sampled::Pending), or the point came to a difference.
    Pending(Suspended<F>),
}

/// A point that waits. It borrows nothing; dropping it gives the point up.
#[derive(Clone, Debug)]
pub struct Suspended<F = f32> {
    point: Point<F>,
    options: Options,
    awaited: Awaited<F>,
    state: State<F>,
}

/// Begins to evaluate one point. Texture requests go to the host in the order in which they are executed.
///
/// # Panics
/// If the module breaks an invariant, or the point has fewer scalars than the module.
pub fn begin<F: Number>(
    module: &Module,
    point: &Point<F>,
    options: &Options,
    host: &mut dyn Host<F>,
) -> Progress<F> {
    F::begin(module, point, options, host)
}

/// The same, compiled for the numbers of whoever calls it.
pub(super) fn begin_over<F: Number>(
    module: &Module,
    point: &Point<F>,
    options: &Options,
    host: &mut dyn Host<F>,
) -> Progress<F> {
    let options = Options {
        limits: options.limits.bounded(),
        ..*options
    };
    let machine = Machine::new(module, point, &options, host, State::default());
    progress(machine.start(), &options, || point.clone())
}

/// What the host gets to see of a machine that came so far.
fn progress<F>(
    ended: Ended<F>,
    options: &Options,
    point: impl FnOnce() -> Point<F>,
) -> Progress<F> {
    match ended {
        Ended::Done(outcome) => Progress::Done(outcome),
        Ended::Pending(awaited, state) => Progress::Pending(Suspended {
            point: point(),
            options: *options,
            awaited,
            state,
        }),
    }
}

impl Lockstep for Progress {
    fn awaited(&self) -> Option<&Awaited> {
        match self {
            Progress::Done(_) => None,
            Progress::Pending(suspended) => Some(suspended.awaited()),
        }
    }

    fn is_beside(&self, other: &Progress) -> bool {
        match (self, other) {
            (Progress::Pending(one), Progress::Pending(other)) => one.is_beside(other),
            _ => false,
        }
    }
}

impl<F: Number> Suspended<F> {
    /// What it waits for.
    pub fn awaited(&self) -> &Awaited<F> {
        &self.awaited
    }

    /// What it asks the host, if it is the host that it waits for.
    pub fn request(&self) -> Option<&SampleRequest<F>> {
        self.awaited.request()
    }

    /// Whether the other point, of the same module, waits at the same instruction, which it came to by the same calls.
    pub fn is_beside(&self, other: &Suspended<F>) -> bool {
        let (mine, others) = (&self.state.frames, &other.state.frames);
        let mut pairs = mine.iter().zip(others);
        mine.len() == others.len()
            && pairs.all(|(a, b)| a.function == b.function && a.cursors == b.cursors)
    }

    /// What went wrong so far.
    pub fn faults(&self) -> &Faults {
        &self.state.faults
    }

    /// Goes on with the host's answer: red, green, blue, alpha. All that follows is as if the host had answered at once.
    ///
    /// # Panics
    /// If the module is not the one that the evaluation began with, or it is not the host that the point waits for.
    pub fn resume(self, module: &Module, texel: [f32; 4], host: &mut dyn Host<F>) -> Progress<F> {
        self.go_on(module, host, |machine| machine.resume(texel))
    }

    /// Goes on with a difference that whoever joins the points of the quad has found.
    ///
    /// # Panics
    /// If the module is not the one that the evaluation began with, or it is not a difference that the point waits for.
    pub fn join(self, module: &Module, difference: F, host: &mut dyn Host<F>) -> Progress<F> {
        self.go_on(module, host, |machine| machine.join(difference))
    }

    fn go_on(
        self,
        module: &Module,
        host: &mut dyn Host<F>,
        answer: impl FnOnce(Machine<'_, F>) -> Ended<F>,
    ) -> Progress<F> {
        let Suspended {
            point,
            options,
            state,
            ..
        } = self;
        let machine = Machine::new(module, &point, &options, host, state);
        progress(answer(machine), &options, || point)
    }

    /// Bytes that it holds, its own included.
    pub fn memory(&self) -> usize {
        let slots = |slots: &Vec<Slot<F>>| slots.capacity() * size_of::<Slot<F>>();
        let frame = |frame: &Frame<F>| {
            let arrays = frame.arrays.iter().map(slots).sum::<usize>();
            let lists = frame.arrays.capacity() * size_of::<Vec<Slot<F>>>();
            let cursors = frame.cursors.capacity() * size_of::<Cursor>();
            slots(&frame.slots) + arrays + lists + cursors
        };
        let frames = self.state.frames.capacity() * size_of::<Frame<F>>();
        size_of::<Suspended<F>>()
            + slots(&self.point.globals)
            + slots(&self.point.inputs)
            + frames
            + self.state.frames.iter().map(frame).sum::<usize>()
            + self.state.closures.memory()
            + self.state.origins.memory()
    }
}
