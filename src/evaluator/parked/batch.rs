//! Parking of points that are suspended in batches.

use super::{EvaluatorContext, ParkError, ParkedPoint, SuspendedState};
use crate::evaluator::quad::ParkedQuad;
use adumbra_vm::BatchMachine;
use std::sync::Arc;

impl ParkedPoint {
    /// Parks a point that is suspended in a batch machine, which must be so; with its quad, if it
    /// is in one.
    pub(crate) fn from_batch(
        context: &Arc<EvaluatorContext>,
        machine: &mut BatchMachine,
        point: usize,
    ) -> Result<ParkedPoint, ParkError> {
        let first = point / 4 * 4;
        let (which, own) = match machine.program().quad() {
            Some(_) => (first..first + 4, size_of::<ParkedQuad>()),
            None => (point..point + 1, 0),
        };
        let waiting = machine.suspended().iter();
        let waiting = waiting.filter(|(point, _)| which.contains(point));
        let bytes: usize = waiting.map(|(_, parked)| parked.memory()).sum();
        context.reserve(own + bytes)?;
        let helpers = std::array::from_fn(|at| machine.is_helper(first + at));
        let mut take = |point| {
            let taken = machine.take_suspended(point);
            taken.unwrap_or_else(|| panic!("point {point} is not suspended"))
        };
        let state = match own {
            0 => SuspendedState::Point(take(point)),
            _ => SuspendedState::BatchQuad(Box::new(ParkedQuad {
                points: std::array::from_fn(|at| take(first + at)),
                helpers,
            })),
        };
        let mut pool = context.pool();
        pool.points += 1;
        pool.bytes += state.memory();
        drop(pool);
        Ok(ParkedPoint::new(context, state))
    }
}
