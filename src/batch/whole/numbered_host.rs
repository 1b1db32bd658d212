//! The host of a whole batch, by the numbers that its points have.

use adumbra_ir::host::{Host, SampleRequest, Sampled, Texel};
use adumbra_ir::module::MessageId;

/// Passes all that a host is asked on to it, with the numbers of points counted from another first
/// one.
pub(super) struct NumberedHost<H> {
    host: H,
    /// The number of the point that an evaluator calls 0.
    first: usize,
    /// Memory for the numbers of a sample's points.
    points: Vec<usize>,
}

impl<H> NumberedHost<H> {
    /// A host for points from that number on. All numbers of points were checked to be less than
    /// `usize` can have.
    pub(super) fn new(host: H, first: u64) -> NumberedHost<H> {
        NumberedHost {
            host,
            first: first as usize,
            points: Vec::new(),
        }
    }
}

impl<H> NumberedHost<H> {
    /// Notes the numbers that an evaluator's points have.
    fn number(&mut self, points: &[usize]) {
        self.points.clear();
        let numbers = points.iter().map(|point| self.first + point);
        self.points.extend(numbers);
    }
}

impl<H: Host> Host for NumberedHost<H> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.host.sample(request)
    }

    fn sample_batch(
        &mut self,
        points: &[usize],
        requests: &[SampleRequest],
        answers: &mut [Sampled],
    ) {
        self.number(points);
        self.host.sample_batch(&self.points, requests, answers);
    }

    fn at_point(&mut self, point: usize) {
        self.host.at_point(self.first + point);
    }

    fn texture_adjoint(&mut self, request: &SampleRequest, adjoint: &Texel) {
        self.host.texture_adjoint(request, adjoint);
    }

    fn texture_adjoint_batch(
        &mut self,
        points: &[usize],
        requests: &[SampleRequest],
        adjoints: &[Texel],
    ) {
        self.number(points);
        let host = &mut self.host;
        host.texture_adjoint_batch(&self.points, requests, adjoints);
    }

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.host.sample_for_helper(request)
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        self.host.message(message, args);
    }

    fn is_cancelled(&mut self) -> bool {
        self.host.is_cancelled()
    }
}
