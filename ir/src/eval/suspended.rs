//! A point between two instructions: everything that it is, owned, so that it can wait for a texture as long as the host likes.

use super::machine::{Ended, Machine};
use super::origins::Origins;
use super::{Number, Options, Outcome, Point, Slot, Tally};
use crate::host::{ClosureArena, Faults, Host, SampleRequest};
use crate::module::{FuncId, Module, RegionId};

/// A place in a region: the instruction that runs next, or that waits for a region or function inside it.
#[derive(Clone, Debug)]
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
    /// The host answered [`Pending`](crate::host::Sampled::Pending).
    Pending(Suspended<F>),
}

/// A point that waits for a texture. It borrows nothing; dropping it gives the point up.
#[derive(Clone, Debug)]
pub struct Suspended<F = f32> {
    point: Point<F>,
    options: Options,
    request: SampleRequest<F>,
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
        Ended::Pending(request, state) => Progress::Pending(Suspended {
            point: point(),
            options: *options,
            request,
            state,
        }),
    }
}

impl<F: Number> Suspended<F> {
    /// What it waits for.
    pub fn request(&self) -> &SampleRequest<F> {
        &self.request
    }

    /// What went wrong so far.
    pub fn faults(&self) -> &Faults {
        &self.state.faults
    }

    /// Goes on with the host's answer: red, green, blue, alpha. All that follows is as if the host had answered at once.
    ///
    /// # Panics
    /// If the module is not the one that the evaluation began with.
    pub fn resume(self, module: &Module, texel: [f32; 4], host: &mut dyn Host<F>) -> Progress<F> {
        let Suspended {
            point,
            options,
            state,
            ..
        } = self;
        let machine = Machine::new(module, &point, &options, host, state);
        progress(machine.resume(texel), &options, || point)
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
