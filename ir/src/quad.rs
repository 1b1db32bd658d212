//! Quads: derivatives as GPUs take them, by differences between the points of a block of 2×2
//! pixels.
//!
//! The rule is here once, for all engines: [`Quad::difference`]. The points of a quad are evaluated
//! in lockstep. Each reaches a [`Difference`](crate::module::InstKind::Difference) with a value of
//! its own and waits there ([`QuadPause`]). The evaluator of the quad computes each point's answer
//! by this rule, and resumes them.

use crate::host::{Host, SampleRequest, Sampled, read_shadow};
use crate::module::MessageId;
use crate::types::Direction;

pub use rule::{Corner, Quad};

pub(crate) mod rule;

impl Quad {
    /// From the first to the second of two neighbours: one subtraction in `f32`, and no negative
    /// zero.
    #[inline]
    pub fn between(first: f32, second: f32) -> f32 {
        read_shadow(second - first)
    }

    /// The derivative at each point from the values at all of them, in the order of
    /// [`Corner::ALL`]: right minus left, lower minus upper. A stopped point has no value; a
    /// derivative that would need it is 0.
    ///
    /// ```
    /// use adumbra_ir::{Direction, quad::{Corner, Quad}};
    /// let values = [1.0, 3.0, 10.0, 50.0].map(Some);
    /// assert_eq!(Quad::Fine.difference(Direction::X, values), [2.0, 2.0, 40.0, 40.0]);
    /// assert_eq!(Quad::Fine.difference(Direction::Y, values), [9.0, 47.0, 9.0, 47.0]);
    /// let lower_left = Quad::Coarse(Corner::LowerLeft);
    /// assert_eq!(lower_left.difference(Direction::X, values), [40.0; 4]);
    /// assert_eq!(lower_left.difference(Direction::Y, values), [9.0; 4]);
    /// ```
    pub fn difference(self, direction: Direction, values: [Option<f32>; 4]) -> [f32; 4] {
        Corner::ALL.map(|own| {
            let (first, second) = self.neighbours(own, direction);
            match (values[first as usize], values[second as usize]) {
                (Some(first), Some(second)) => Quad::between(first, second),
                _ => 0.0,
            }
        })
    }

    /// Passes each existing point its [difference](Quad::difference).
    pub fn for_each_difference(
        self,
        direction: Direction,
        values: [Option<f32>; 4],
        mut to: impl FnMut(Corner, f32),
    ) {
        let differences = self.difference(direction, values);
        for corner in Corner::ALL {
            if values[corner as usize].is_some() {
                to(corner, differences[corner as usize]);
            }
        }
    }
}

/// The answer that a point waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuadPause<F = f32> {
    /// The host's answer to this request.
    Texel(SampleRequest<F>),
    /// The other points of its quad: the difference of this value in that direction.
    Difference(Direction, F),
}

impl<F> QuadPause<F> {
    /// The request, if the point waits for the host.
    pub const fn request(&self) -> Option<&SampleRequest<F>> {
        match self {
            QuadPause::Texel(request) => Some(request),
            QuadPause::Difference(..) => None,
        }
    }
}

/// A point of a quad, in any engine.
pub trait Lockstep {
    /// The awaited answer, unless the point is done.
    fn awaited(&self) -> Option<&QuadPause>;

    /// Whether it waits for the host.
    fn awaits_host(&self) -> bool {
        self.awaited()
            .is_some_and(|awaited| awaited.request().is_some())
    }

    /// Whether both wait at the same instruction, reached by the same calls.
    fn is_at_same_instruction(&self, other: &Self) -> bool;
}

/// The host as a helper sees it: a helper is evaluated for its neighbours alone.
struct HelpersHost<'h>(&'h mut dyn Host);

impl Host for HelpersHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.0.sample_for_helper(request)
    }

    fn message(&mut self, _: MessageId, _: &[u32]) {}

    fn is_cancelled(&mut self) -> bool {
        self.0.is_cancelled()
    }
}

/// Runs a point with the host as it sees it.
pub fn with_host<T>(
    is_helper: bool,
    host: &mut dyn Host,
    run: impl FnOnce(&mut dyn Host) -> T,
) -> T {
    match is_helper {
        true => run(&mut HelpersHost(host)),
        false => run(host),
    }
}

/// Runs the points of a quad until all of them are done or one waits for the host. `join` passes a
/// point its difference, and runs it until it is done or waits again. Points that wait at different
/// places have no differences with each other; compiled modules never cause that, but foreign
/// bytecode may.
///
/// Subtracts in the thread's floating-point environment.
pub fn advance<P: Lockstep>(
    rule: Quad,
    points: &mut [P; 4],
    mut join: impl FnMut(Corner, &mut P, f32),
) {
    loop {
        if points.iter().any(P::awaits_host) {
            return;
        }
        let mut waiting = points.iter().filter_map(|point| match point.awaited() {
            Some(&QuadPause::Difference(direction, _)) => Some((point, direction)),
            _ => None,
        });
        let Some((first, direction)) = waiting.next() else {
            return;
        };
        let values = Corner::ALL.map(|corner| {
            let point = &points[corner as usize];
            match point.awaited() {
                Some(&QuadPause::Difference(_, value)) => {
                    point.is_at_same_instruction(first).then_some(value)
                }
                _ => None,
            }
        });
        rule.for_each_difference(direction, values, |corner, difference| {
            join(corner, &mut points[corner as usize], difference);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_coarse_corner_gives_another_answer() {
        // Four values whose differences along both rows and both columns are all different.
        let values = [0.0, 1.0, 3.0, 8.0].map(Some);
        let answers = Corner::ALL.map(|corner| {
            let [dx, ..] = Quad::Coarse(corner).difference(Direction::X, values);
            let [dy, ..] = Quad::Coarse(corner).difference(Direction::Y, values);
            (dx, dy)
        });
        assert_eq!(answers, [(1.0, 3.0), (1.0, 7.0), (5.0, 3.0), (5.0, 7.0)]);
    }

    #[test]
    fn difference_with_missing_point_is_zero() {
        let values = [Some(1.0), Some(2.0), None, Some(5.0)];
        let dx = Quad::Fine.difference(Direction::X, values);
        let dy = Quad::Fine.difference(Direction::Y, values);
        assert_eq!((dx, dy), ([1.0, 1.0, 0.0, 0.0], [0.0, 3.0, 0.0, 3.0]));
    }

    #[test]
    fn a_difference_of_nothing_has_no_sign() {
        let values = [0.0, -0.0, 0.0, -0.0].map(Some);
        for difference in Quad::Fine.difference(Direction::X, values) {
            assert_eq!(difference.to_bits(), 0);
        }
    }
}
