//! The substitute for `single.rs` where the feature `batch` is off: there is no such evaluator, and
//! its construction reports why.

use super::EngineError;
use super::parked::{EvaluatorContext, ParkError, ParkedPoint};
use super::quad::ParkedQuad;
use crate::program::Instance;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::{Faults, Host, Limits, SampleRequest, Texel};
use adumbra_ir::quad::Corner;
use adumbra_vm::{Outcome, Parked, PointClosures};
use std::sync::Arc;

/// The batch engine for single points: there is none.
pub(super) enum SinglePointBatch {}

impl SinglePointBatch {
    pub(super) fn new(
        _: &Instance,
        _: Limits,
        _: &Arc<BufferMemory>,
    ) -> Result<Box<SinglePointBatch>, EngineError> {
        Err(EngineError::NotBuilt {
            what: "batches",
            feature: "batch",
        })
    }

    pub(super) fn run(&mut self, _: &Instance, _: &[u32], _: &mut dyn Host) -> Outcome {
        match *self {}
    }

    pub(super) fn run_quad(
        &mut self,
        _: &Instance,
        _: [&[u32]; 4],
        _: [bool; 4],
        _: &mut dyn Host,
    ) -> Outcome {
        match *self {}
    }

    pub(super) fn request(&self) -> Option<&SampleRequest> {
        match *self {}
    }

    pub(super) fn answer(&mut self, _: Texel, _: &mut dyn Host) -> Outcome {
        match *self {}
    }

    pub(super) fn park(&mut self, _: &Arc<EvaluatorContext>) -> Result<ParkedPoint, ParkError> {
        match *self {}
    }

    pub(super) fn unpark(&mut self, _: Box<Parked>) {
        match *self {}
    }

    pub(super) fn unpark_quad(&mut self, _: ParkedQuad) {
        match *self {}
    }

    pub(super) fn is_in_quads(&self) -> bool {
        match *self {}
    }

    pub(super) fn show(&mut self, _: Corner) -> Outcome {
        match *self {}
    }

    pub(super) fn outputs(&self) -> &[u32] {
        match *self {}
    }

    pub(super) fn faults(&self) -> &Faults {
        match *self {}
    }

    pub(super) fn closures(&self) -> PointClosures<'_> {
        match *self {}
    }

    pub(super) fn memory(&self) -> usize {
        match *self {}
    }
}
