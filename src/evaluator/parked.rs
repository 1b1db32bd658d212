//! Points that wait for a texture apart from any evaluator, and the memory that they wait in.
//!
//! An evaluator and the points parked from it share a *parking pool*: the number of parked points,
//! their bytes, and the memory that earlier points left for later ones. So parking allocates only
//! until there was once as much at a time, and spare memory counts against the limit as well.

use super::quad::{ParkedQuad, QuadMachine};
use super::reference::ReferenceMachine;
use super::{Engine, Machine};
use crate::program::Instance;
use adumbra_ir::eval::SuspendedPoint;
use adumbra_ir::host::{Limits, SampleRequest};
use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_vm::{Parked, PointMachine};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "batch")]
mod batch;

/// A point that waits for a texture, made by [`Evaluator::park`](super::Evaluator::park). It keeps
/// what it needs, its globals too, and can be sent to another thread. Dropping it gives the point
/// up.
pub struct ParkedPoint {
    context: Arc<EvaluatorContext>,
    /// `None` once it was resumed.
    state: Option<SuspendedState>,
}

/// The state of a suspended point, by engine.
pub(super) enum SuspendedState {
    Point(Box<Parked>),
    Reference(Box<SuspendedPoint>),
    /// With the machines of its neighbours. Their lock lets threads share the parked point, and
    /// what carries it: errors, too.
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
    BatchQuad(Box<ParkedQuad>),
}

impl SuspendedState {
    fn memory(&self) -> usize {
        match self {
            SuspendedState::Point(parked) => parked.memory(),
            SuspendedState::Reference(suspended) => suspended.memory(),
            SuspendedState::Quad { memory, .. } => *memory,
            SuspendedState::BatchQuad(quad) => {
                let points = quad.points.iter().map(|point| point.memory());
                size_of::<ParkedQuad>() + points.sum::<usize>()
            }
        }
    }
}

/// The state that an evaluator and the points parked from it share.
pub(crate) struct EvaluatorContext {
    pub(crate) instance: Instance,
    pub(super) engine: Engine,
    pub(super) limits: Limits,
    pool: Mutex<ParkingPool>,
}

/// The points parked from one evaluator.
#[derive(Default)]
struct ParkingPool {
    points: u32,
    /// The bytes of all of them and of the spare memory.
    bytes: usize,
    #[expect(clippy::vec_box, reason = "the boxes go to points and come back")]
    spare: Vec<Box<Parked>>,
}

/// Too many points are parked from the evaluator. The one that could not be parked still waits in
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParkError {
    /// There are as many as [`Limits::parked`] allows.
    Points(u32),
    /// With one more they would take more bytes than [`Limits::parked_bytes`] allows.
    Bytes(usize),
}

impl fmt::Display for ParkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParkError::Points(limit) => write!(f, "as many points are parked as may be: {limit}"),
            ParkError::Bytes(limit) => {
                write!(f, "the parked points would take more than {limit} bytes")
            }
        }
    }
}

impl std::error::Error for ParkError {}

/// The point was parked by an evaluator of another instance, engine or limits.
#[derive(Debug)]
pub struct ResumeError(
    /// The point, unharmed.
    pub ParkedPoint,
);

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the point was parked by an evaluator of another instance, engine or limits")
    }
}

impl std::error::Error for ResumeError {}

impl EvaluatorContext {
    /// The same for another instance.
    #[cfg(feature = "batch")]
    pub(crate) fn of_instance(&self, instance: &Instance) -> Arc<EvaluatorContext> {
        EvaluatorContext::new(instance, self.engine, self.limits)
    }

    pub(crate) fn new(
        instance: &Instance,
        engine: Engine,
        limits: Limits,
    ) -> Arc<EvaluatorContext> {
        Arc::new(EvaluatorContext {
            instance: instance.clone(),
            engine,
            limits,
            pool: Mutex::default(),
        })
    }

    /// The pool is consistent between any two statements, also after a panic.
    fn pool(&self) -> MutexGuard<'_, ParkingPool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a point parked from the other context may resume here.
    fn is_like(&self, other: &EvaluatorContext) -> bool {
        let (a, b) = (&self.instance, &other.instance);
        Arc::ptr_eq(a.program(), b.program())
            && a.inputs() == b.inputs()
            && self.engine == other.engine
            && self.limits == other.limits
    }

    /// Bytes that it takes: a copy of the instance, parked points and spare memory.
    pub(crate) fn memory(&self) -> usize {
        let pool = self.pool();
        let list = pool.spare.capacity() * size_of::<Box<Parked>>();
        // The memory of buffers is the instance's, which this one is a clone of.
        let own = size_of::<EvaluatorContext>() + self.instance.inputs_heap();
        ARC_OVERHEAD + own + list + pool.bytes
    }

    pub(super) fn parked_count(&self) -> u32 {
        self.pool().points
    }

    /// Moves the suspended point out of the machine.
    pub(super) fn park_point(
        &self,
        machine: &mut PointMachine,
    ) -> Result<SuspendedState, ParkError> {
        let mut pool = self.pool();
        pool.check_points(&self.limits)?;
        let mut memory = pool.take_spare().unwrap_or_default();
        loop {
            let wanted = machine.parked_memory(&memory);
            if pool.bytes + wanted <= self.limits.parked_bytes {
                break;
            }
            // Spare memory makes way first, then the surplus capacity of this memory.
            if pool.take_spare().is_some() {
                continue;
            }
            if wanted == machine.parked_memory(&Parked::default()) {
                return Err(ParkError::Bytes(self.limits.parked_bytes));
            }
            memory = Box::default();
        }
        machine.park(&mut memory);
        pool.points += 1;
        pool.bytes += memory.memory();
        Ok(SuspendedState::Point(memory))
    }

    /// Moves the suspended point out of the reference engine.
    pub(super) fn park_reference(
        &self,
        reference: &mut ReferenceMachine,
    ) -> Result<SuspendedState, ParkError> {
        let mut pool = self.pool();
        pool.check_points(&self.limits)?;
        let waiting = reference.suspended.as_ref().expect("a point waits");
        let bytes = pool.bytes + waiting.memory();
        if bytes > self.limits.parked_bytes {
            return Err(ParkError::Bytes(self.limits.parked_bytes));
        }
        pool.points += 1;
        pool.bytes = bytes;
        Ok(SuspendedState::Reference(reference.park()))
    }

    /// Moves the suspended quad out of an evaluator, which gets another in exchange.
    pub(super) fn park_quad(
        &self,
        machine: &mut Box<QuadMachine>,
    ) -> Result<SuspendedState, ParkError> {
        let request = *machine.request().expect("one of the quad waits");
        self.reserve(machine.memory())?;
        let fresh = QuadMachine::new(&self.instance, machine.rule, self.limits, self.engine);
        let quad = std::mem::replace(machine, Box::new(fresh));
        let mut pool = self.pool();
        pool.points += 1;
        let memory = quad.memory();
        pool.bytes += memory;
        Ok(SuspendedState::Quad {
            machine: Mutex::new(quad),
            request,
            memory,
        })
    }

    /// Makes sure that one more point of `bytes` bytes may be parked: spare memory makes way.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<(), ParkError> {
        let mut pool = self.pool();
        pool.check_points(&self.limits)?;
        while pool.bytes + bytes > self.limits.parked_bytes {
            if pool.take_spare().is_none() {
                return Err(ParkError::Bytes(self.limits.parked_bytes));
            }
        }
        Ok(())
    }

    /// Keeps memory for the next point.
    pub(super) fn recycle(&self, mut memory: Box<Parked>) {
        memory.clear();
        let mut pool = self.pool();
        pool.bytes += memory.memory();
        pool.spare.push(memory);
    }
}

impl ParkingPool {
    fn check_points(&self, limits: &Limits) -> Result<(), ParkError> {
        match self.points < limits.parked {
            true => Ok(()),
            false => Err(ParkError::Points(limits.parked)),
        }
    }

    fn take_spare(&mut self) -> Option<Box<Parked>> {
        let memory = self.spare.pop()?;
        self.bytes -= memory.memory();
        Some(memory)
    }
}

impl ParkedPoint {
    pub(super) fn new(context: &Arc<EvaluatorContext>, state: SuspendedState) -> ParkedPoint {
        ParkedPoint {
            context: context.clone(),
            state: Some(state),
        }
    }

    /// The request that it waits for.
    pub fn request(&self) -> &SampleRequest {
        let request = match &self.state {
            Some(SuspendedState::Point(parked)) => parked.request(),
            Some(SuspendedState::Reference(suspended)) => suspended.request(),
            Some(SuspendedState::Quad { request, .. }) => Some(request),
            Some(SuspendedState::BatchQuad(quad)) => quad.points.iter().find_map(|p| p.request()),
            None => None,
        };
        request.expect("it waits until it is resumed, which consumes it")
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        self.state.as_ref().map_or(0, SuspendedState::memory)
    }

    /// Puts it into the machine of an evaluator, suspended there.
    pub(super) fn unpark(
        mut self,
        context: &EvaluatorContext,
        machine: &mut Machine,
    ) -> Result<(), ResumeError> {
        if !context.is_like(&self.context) {
            return Err(ResumeError(self));
        }
        match (machine, self.leave()) {
            (Machine::Point(machine), Some(SuspendedState::Point(mut memory))) => {
                machine.unpark(&mut memory);
                self.context.recycle(memory);
            }
            (Machine::Batch(single), Some(SuspendedState::Point(memory))) => single.unpark(memory),
            (Machine::Quad(machine), Some(SuspendedState::Quad { machine: quad, .. })) => {
                *machine = quad.into_inner().unwrap_or_else(PoisonError::into_inner);
            }
            (Machine::Quad(machine), Some(SuspendedState::BatchQuad(quad))) => {
                let memory = machine.unpark(*quad);
                memory
                    .into_iter()
                    .for_each(|memory| self.context.recycle(memory));
            }
            (Machine::Batch(single), Some(SuspendedState::BatchQuad(quad))) => {
                single.unpark_quad(*quad)
            }
            (Machine::Reference(reference), Some(SuspendedState::Reference(suspended))) => {
                reference.unpark(suspended);
            }
            _ => unreachable!("the engines are the same"),
        }
        Ok(())
    }

    /// Takes the state out, and the point out of the pool.
    fn leave(&mut self) -> Option<SuspendedState> {
        let state = self.state.take()?;
        let mut pool = self.context.pool();
        pool.points -= 1;
        pool.bytes -= state.memory();
        Some(state)
    }
}

impl Drop for ParkedPoint {
    fn drop(&mut self) {
        match self.leave() {
            Some(SuspendedState::Point(memory)) => self.context.recycle(memory),
            Some(SuspendedState::BatchQuad(quad)) => {
                let memory = quad.points.into_iter();
                memory.for_each(|memory| self.context.recycle(memory));
            }
            Some(SuspendedState::Reference(_) | SuspendedState::Quad { .. }) | None => {}
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
    is_shared::<ResumeError>();
};
