//! Points that wait for a texture apart from any evaluator, and the memory that they wait in.
//!
//! An evaluator and the points parked from it share a *lot*: how many there are, how many bytes they hold, and memory that earlier ones left
//! for later ones. So parking allocates only until there was once as much at a time, and what is spare counts against the limit as well.

use super::quad::QuadMachine;
use super::reference::Reference;
use super::{Engine, Machine};
use crate::program::{IN_ARC, Instance};
use adumbra_ir::eval::Suspended;
use adumbra_ir::host::{Limits, SampleRequest};
use adumbra_vm::{Parked, PointMachine};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "batch")]
mod of_batch;

/// A point that waits for a texture, made by [`Evaluator::park`](super::Evaluator::park). It keeps what it needs, its globals too, and can be sent to another thread.
/// Dropping it gives the point up.
pub struct ParkedPoint {
    home: Arc<Home>,
    /// Nothing once it was resumed.
    state: Option<Waiting>,
}

/// The state of a point that waits, by engine.
pub(super) enum Waiting {
    Point(Box<Parked>),
    Reference(Box<Suspended>),
    /// With the machines of its neighbours. Their lock lets threads share the parked point, and what carries it: errors, too.
    Quad {
        machine: Mutex<Box<QuadMachine>>,
        request: SampleRequest,
        memory: usize,
    },
    /// All points of a quad of the batch engine.
    #[cfg_attr(
        not(feature = "batch"),
        expect(dead_code, reason = "no batch parks one")
    )]
    InBatch(Box<ParkedQuad>),
}

/// A quad of the batch engine, apart from it.
pub(crate) struct ParkedQuad {
    pub(super) points: [Box<Parked>; 4],
    pub(super) helpers: [bool; 4],
}

impl Waiting {
    fn memory(&self) -> usize {
        match self {
            Waiting::Point(parked) => parked.memory(),
            Waiting::Reference(suspended) => suspended.memory(),
            Waiting::Quad { memory, .. } => *memory,
            Waiting::InBatch(quad) => {
                let points = quad.points.iter().map(|point| point.memory());
                size_of::<ParkedQuad>() + points.sum::<usize>()
            }
        }
    }
}

/// What an evaluator and the points parked from it share.
pub(crate) struct Home {
    pub(crate) instance: Instance,
    pub(super) engine: Engine,
    pub(super) limits: Limits,
    lot: Mutex<Lot>,
}

/// The points parked from one evaluator.
#[derive(Default)]
struct Lot {
    points: u32,
    /// What all of them and the spare memory take.
    bytes: usize,
    #[expect(clippy::vec_box, reason = "the boxes go to points and come back")]
    spare: Vec<Box<Parked>>,
}

/// Too many points are parked from the evaluator. The one that could not be parked still waits in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyParked {
    /// There are as many as [`Limits::parked`] allows.
    Points(u32),
    /// With one more they would take more bytes than [`Limits::parked_bytes`] allows.
    Bytes(usize),
}

impl fmt::Display for TooManyParked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooManyParked::Points(limit) => write!(f, "{limit} points are parked already"),
            TooManyParked::Bytes(limit) => {
                write!(f, "the parked points would take more than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for TooManyParked {}

/// The point was parked by an evaluator of another instance, engine or limits.
#[derive(Debug)]
pub struct WrongEvaluator(
    /// The point, unharmed.
    pub ParkedPoint,
);

impl fmt::Display for WrongEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the point was parked by an evaluator of another instance, engine or limits")
    }
}

impl std::error::Error for WrongEvaluator {}

impl Home {
    pub(crate) fn new(instance: &Instance, engine: Engine, limits: Limits) -> Arc<Home> {
        Arc::new(Home {
            instance: instance.clone(),
            engine,
            limits,
            lot: Mutex::default(),
        })
    }

    /// What is in the lot is whole between any two statements, whoever panicked.
    fn lot(&self) -> MutexGuard<'_, Lot> {
        self.lot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a point parked from the other may go on here.
    fn is_like(&self, other: &Home) -> bool {
        let (a, b) = (&self.instance, &other.instance);
        Arc::ptr_eq(a.program(), b.program())
            && a.inputs() == b.inputs()
            && self.engine == other.engine
            && self.limits == other.limits
    }

    /// Bytes that it takes: a copy of the instance, parked points and spare memory.
    pub(crate) fn memory(&self) -> usize {
        let lot = self.lot();
        let beside = size_of::<Home>() - size_of::<Instance>();
        let list = lot.spare.capacity() * size_of::<Box<Parked>>();
        IN_ARC + beside + self.instance.memory() + list + lot.bytes
    }

    pub(super) fn parked(&self) -> u32 {
        self.lot().points
    }

    /// Moves the point that waits out of the machine.
    pub(super) fn park(&self, machine: &mut PointMachine) -> Result<Waiting, TooManyParked> {
        let mut lot = self.lot();
        lot.check_points(&self.limits)?;
        let mut memory = lot.take_spare().unwrap_or_default();
        loop {
            let wanted = machine.parked_memory(&memory);
            if lot.bytes + wanted <= self.limits.parked_bytes {
                break;
            }
            // Spare memory makes way first, then what this memory has too much.
            if lot.take_spare().is_some() {
                continue;
            }
            if wanted == machine.parked_memory(&Parked::default()) {
                return Err(TooManyParked::Bytes(self.limits.parked_bytes));
            }
            memory = Box::default();
        }
        machine.park(&mut memory);
        lot.points += 1;
        lot.bytes += memory.memory();
        Ok(Waiting::Point(memory))
    }

    /// Moves the point that waits out of the reference engine.
    pub(super) fn keep(&self, reference: &mut Reference) -> Result<Waiting, TooManyParked> {
        let mut lot = self.lot();
        lot.check_points(&self.limits)?;
        let waiting = reference.waiting.as_ref().expect("a point waits");
        let bytes = lot.bytes + waiting.memory();
        if bytes > self.limits.parked_bytes {
            return Err(TooManyParked::Bytes(self.limits.parked_bytes));
        }
        lot.points += 1;
        lot.bytes = bytes;
        Ok(Waiting::Reference(reference.park()))
    }

    /// Moves the quad that waits out of an evaluator, which gets another in its place.
    pub(super) fn exchange(
        &self,
        machine: &mut Box<QuadMachine>,
    ) -> Result<Waiting, TooManyParked> {
        let request = *machine.request().expect("one of the quad waits");
        self.make_room(machine.memory())?;
        let fresh = QuadMachine::new(&self.instance, machine.rule, self.limits, self.engine);
        let quad = std::mem::replace(machine, Box::new(fresh));
        let mut lot = self.lot();
        lot.points += 1;
        let memory = quad.memory();
        lot.bytes += memory;
        Ok(Waiting::Quad {
            machine: Mutex::new(quad),
            request,
            memory,
        })
    }

    /// Makes sure that one more point of so many bytes may be parked: spare memory makes way.
    pub(crate) fn make_room(&self, bytes: usize) -> Result<(), TooManyParked> {
        let mut lot = self.lot();
        lot.check_points(&self.limits)?;
        while lot.bytes + bytes > self.limits.parked_bytes {
            if lot.take_spare().is_none() {
                return Err(TooManyParked::Bytes(self.limits.parked_bytes));
            }
        }
        Ok(())
    }

    /// Keeps memory for the next point.
    pub(super) fn keep_spare(&self, mut memory: Box<Parked>) {
        memory.clear();
        let mut lot = self.lot();
        lot.bytes += memory.memory();
        lot.spare.push(memory);
    }
}

impl Lot {
    fn check_points(&self, limits: &Limits) -> Result<(), TooManyParked> {
        match self.points < limits.parked {
            true => Ok(()),
            false => Err(TooManyParked::Points(limits.parked)),
        }
    }

    fn take_spare(&mut self) -> Option<Box<Parked>> {
        let memory = self.spare.pop()?;
        self.bytes -= memory.memory();
        Some(memory)
    }
}

impl ParkedPoint {
    pub(super) fn new(home: &Arc<Home>, state: Waiting) -> ParkedPoint {
        ParkedPoint {
            home: home.clone(),
            state: Some(state),
        }
    }

    /// What it waits for.
    pub fn request(&self) -> &SampleRequest {
        let request = match &self.state {
            Some(Waiting::Point(parked)) => parked.request(),
            Some(Waiting::Reference(suspended)) => suspended.request(),
            Some(Waiting::Quad { request, .. }) => Some(request),
            Some(Waiting::InBatch(quad)) => quad.points.iter().find_map(|p| p.request()),
            None => None,
        };
        request.expect("it waits until it is resumed, which consumes it")
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        self.state.as_ref().map_or(0, Waiting::memory)
    }

    /// Puts it into the machine of an evaluator, to wait there.
    pub(super) fn unpark(
        mut self,
        home: &Home,
        machine: &mut Machine,
    ) -> Result<(), WrongEvaluator> {
        if !home.is_like(&self.home) {
            return Err(WrongEvaluator(self));
        }
        match (machine, self.leave()) {
            (Machine::Point(machine), Some(Waiting::Point(mut memory))) => {
                machine.unpark(&mut memory);
                self.home.keep_spare(memory);
            }
            (Machine::Batch(single), Some(Waiting::Point(memory))) => single.unpark(memory),
            (Machine::Quad(machine), Some(Waiting::Quad { machine: quad, .. })) => {
                *machine = quad.into_inner().unwrap_or_else(PoisonError::into_inner);
            }
            (Machine::Quad(machine), Some(Waiting::InBatch(quad))) => {
                let memory = machine.unpark(*quad);
                memory
                    .into_iter()
                    .for_each(|memory| self.home.keep_spare(memory));
            }
            (Machine::Batch(single), Some(Waiting::InBatch(quad))) => single.unpark_quad(*quad),
            (Machine::Reference(reference), Some(Waiting::Reference(suspended))) => {
                reference.unpark(suspended);
            }
            _ => unreachable!("the engines are the same"),
        }
        Ok(())
    }

    /// Takes the state out, and the point off the lot.
    fn leave(&mut self) -> Option<Waiting> {
        let state = self.state.take()?;
        let mut lot = self.home.lot();
        lot.points -= 1;
        lot.bytes -= state.memory();
        Some(state)
    }
}

impl Drop for ParkedPoint {
    fn drop(&mut self) {
        match self.leave() {
            Some(Waiting::Point(memory)) => self.home.keep_spare(memory),
            Some(Waiting::InBatch(quad)) => {
                let memory = quad.points.into_iter();
                memory.for_each(|memory| self.home.keep_spare(memory));
            }
            Some(Waiting::Reference(_) | Waiting::Quad { .. }) | None => {}
        }
    }
}

impl fmt::Debug for ParkedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkedPoint")
            .field("request", self.request())
            .finish_non_exhaustive()
    }
}

/// Errors that carry points go through `?` in threads, as `Box<dyn Error + Send + Sync>`.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<ParkedPoint>();
    is_shared::<WrongEvaluator>();
};
