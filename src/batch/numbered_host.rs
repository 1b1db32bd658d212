//! A host by other numbers of points than an evaluator counts.

use adumbra_ir::host::{Host, SampleRequest, Sampled, Texel};
use adumbra_ir::module::MessageId;

/// Passes all that a host is asked on to it, with the number that a point of an evaluator has
/// there.
pub(crate) struct NumberedHost<'h, H, N> {
    host: &'h mut H,
    number_of: N,
    /// Whether messages are passed on.
    prints: bool,
    /// Memory for the numbers of a sample's points.
    points: Vec<usize>,
}

impl<'h, H, N: Fn(usize) -> usize> NumberedHost<'h, H, N> {
    pub(crate) fn new(host: &'h mut H, number_of: N) -> NumberedHost<'h, H, N> {
        NumberedHost {
            host,
            number_of,
            prints: true,
            points: Vec::new(),
        }
    }

    /// The same without messages.
    pub(crate) fn silent(mut self) -> NumberedHost<'h, H, N> {
        self.prints = false;
        self
    }

    /// Notes the numbers that an evaluator's points have.
    fn number(&mut self, points: &[usize]) {
        self.points.clear();
        let numbers = points.iter().map(|&point| (self.number_of)(point));
        self.points.extend(numbers);
    }
}

impl<H: Host, N: Fn(usize) -> usize> Host for NumberedHost<'_, H, N> {
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
        self.host.at_point((self.number_of)(point));
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

    fn sample_for_helper(&mut self, request: &SampleRequest) -> Sampled {
        self.host.sample_for_helper(request)
    }

    fn message(&mut self, message: MessageId, args: &[u32]) {
        if self.prints {
            self.host.message(message, args);
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.host.is_cancelled()
    }
}
