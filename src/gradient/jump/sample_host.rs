//! The host of samples: it knows the points that they are near to.

use adumbra_ir::host::{Host, SampleRequest, Sampled, Texel};
use adumbra_ir::module::MessageId;

/// Passes what samples ask for on to the host, with the numbers of the points that they are near
/// to. What a shader prints was printed at the points themselves.
pub(super) struct SampleHost<'h, H> {
    pub(super) host: &'h mut H,
    /// By sample, the number of its point.
    pub(super) numbers: &'h [usize],
    /// Memory for the numbers of a sample's points.
    points: Vec<usize>,
}

impl<'h, H> SampleHost<'h, H> {
    pub(super) fn new(host: &'h mut H, numbers: &'h [usize]) -> SampleHost<'h, H> {
        SampleHost {
            host,
            numbers,
            points: Vec::new(),
        }
    }

    fn number(&mut self, points: &[usize]) {
        self.points.clear();
        let numbers = points.iter().map(|&point| self.numbers[point]);
        self.points.extend(numbers);
    }
}

impl<H: Host> Host for SampleHost<'_, H> {
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
        self.host.at_point(self.numbers[point]);
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
        let host = &mut *self.host;
        host.texture_adjoint_batch(&self.points, requests, adjoints);
    }

    fn message(&mut self, _: MessageId, _: &[u32]) {}

    fn is_cancelled(&mut self) -> bool {
        self.host.is_cancelled()
    }
}
