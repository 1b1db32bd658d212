//! Searches of a shader that is a list of decisions, and what is beyond each limit.

use super::*;
use adumbra_ir::Span;
use adumbra_ir::passes::DecisionKind;
use adumbra_ops::Op;
use std::collections::HashMap;
use std::ops::Range;

/// A decision: its kind, and its margin by the offset.
type Decision = (DecisionKind, fn(f64) -> f64);

/// A shader that takes decisions one after the other; its output is their sum, each ten times the
/// one after it.
struct Decisions<'d> {
    decisions: &'d [Decision],
    /// Decisions that it says it takes beside those.
    others: i32,
    /// Offsets that do not run to their end.
    stopped: Range<f64>,
}

impl Sampler for Decisions<'_> {
    fn trace(&mut self, samples: &[Sample]) -> Traces {
        let mut traces = Traces::default();
        for sample in samples {
            let mut traced = Traced {
                has_ended: !self.stopped.contains(&sample.offset),
                count: self.decisions.len() as i32 + self.others,
                site: -1,
                ..Traced::default()
            };
            let mut output = 0.0;
            for (number, (kind, margin)) in (0..).zip(self.decisions) {
                let margin = margin(sample.offset);
                let natural = match kind {
                    DecisionKind::Floor => margin.floor(),
                    _ => f64::from(u8::from(margin > 0.0)),
                };
                let mut forced = sample.forced.decisions().iter();
                let forced = forced.find(|(of, _)| *of == number);
                let value = forced.map_or(natural, |(_, value)| *value);
                if number < sample.watched {
                    traced.hash[0] = traced.hash[0].wrapping_mul(31) + value as u32 + 7;
                }
                if number == sample.watched {
                    (traced.margin, traced.value, traced.site) = (margin, value, number);
                }
                output = 10.0 * output + value;
            }
            traces.traced.push(traced);
            traces.outputs.push(output);
        }
        traces
    }
}

/// What a search of a kernel on the side above finds: the kernel, and the roots that count.
fn found(sampler: &mut impl Sampler, kinds: &[DecisionKind]) -> (SearchedKernel, Vec<Root>) {
    let sites: Vec<DecisionSite> = kinds
        .iter()
        .map(|&kind| DecisionSite {
            op: Op::FLt,
            kind,
            span: Span::default(),
        })
        .collect();
    let mut kernels = [SearchedKernel::new(Kernel::beside(0, 0, 1.0))];
    let mut roots = search(&mut kernels, &sites, sampler);
    roots.retain(|_| !kernels[0].is_unresolved);
    (kernels[0], roots)
}

/// The same of decisions.
fn found_of(decisions: &[Decision]) -> (SearchedKernel, Vec<Root>) {
    let kinds: Vec<DecisionKind> = decisions.iter().map(|(kind, _)| *kind).collect();
    let mut sampler = Decisions {
        decisions,
        others: 0,
        stopped: 0.0..0.0,
    };
    found(&mut sampler, &kinds)
}

/// Asserts where roots are, and by how much the output jumps there.
fn assert_roots(roots: &[Root], known: &[(f64, f64)]) {
    assert_eq!(roots.len(), known.len(), "{roots:?}");
    for (root, (at, jump)) in roots.iter().zip(known) {
        let apart = (root.sample.offset - at).abs();
        assert!(apart <= TOLERANCE, "{root:?}, not {at}");
        assert_eq!(root.jump, [*jump], "{at}");
    }
}

/// A function whose chords are far from it: it grows from 1 to 4,096.
fn steep(x: f64) -> f64 {
    let cube = (1.0 + 3.0 * x) * (1.0 + 3.0 * x) * (1.0 + 3.0 * x);
    cube * cube
}

const SIGNS: [Decision; 5] = [
    (DecisionKind::Sign, |x| x - 0.7),
    (DecisionKind::Sign, |x| 0.1 - x),
    (DecisionKind::Sign, |x| steep(x) - steep(0.3)),
    (DecisionKind::Sign, |x| x * x * x - 0.125),
    (DecisionKind::Sign, |x| x - 0.9),
];

#[test]
fn roots_are_located_and_jump_towards_greater_margins() {
    let (kernel, roots) = found_of(&SIGNS[..4]);
    assert!(!kernel.is_unresolved);
    let known = [(0.1, 100.0), (0.3, 10.0), (0.5, 1.0), (0.7, 1000.0)];
    assert_roots(&roots, &known);
}

#[test]
fn kernel_with_more_roots_has_none() {
    assert_eq!(MAX_ROOTS, 4);
    let (kernel, roots) = found_of(&SIGNS);
    assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
}

#[test]
fn integer_parts_move_by_one() {
    let (kernel, roots) = found_of(&[(DecisionKind::Floor, |x| 4.0 * x + 0.5)]);
    assert!(!kernel.is_unresolved);
    let known = [0.125, 0.375, 0.625, 0.875].map(|at| (at, 1.0));
    assert_roots(&roots, &known);
    let (kernel, roots) = found_of(&[(DecisionKind::Floor, |x| (1.0 + 1.2 * x) * (1.0 + 1.2 * x))]);
    assert!(!kernel.is_unresolved);
    let known = [2.0_f64, 3.0, 4.0].map(|integer| ((integer.sqrt() - 1.0) / 1.2, 1.0));
    assert_roots(&roots, &known);
    let (kernel, roots) = found_of(&[(DecisionKind::Floor, |x| 5.0 * x + 0.5)]);
    assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
}

#[test]
fn decision_that_turns_and_turns_back_is_found() {
    let there_and_back: Decision = (DecisionKind::Sign, |x| 0.04 - (x - 0.5) * (x - 0.5));
    let (kernel, roots) = found_of(&[there_and_back, (DecisionKind::Sign, |x| x - 0.5)]);
    assert!(!kernel.is_unresolved && kernel.cuts == 1, "{kernel:?}");
    assert_roots(&roots, &[(0.3, 10.0), (0.5, 1.0), (0.7, 10.0)]);
}

/// Where decision number *n* is watched between ends that agree before it, number *n* - 1 turns.
struct Cuts(HashMap<u64, i32>);

impl Sampler for Cuts {
    fn trace(&mut self, samples: &[Sample]) -> Traces {
        let mut traces = Traces::default();
        for sample in samples {
            let turned = self.0.entry(sample.offset.to_bits());
            let turned = *turned.or_insert(sample.watched - 1);
            let is_turned = turned == sample.watched;
            traces.outputs.push(0.0);
            traces.traced.push(Traced {
                has_ended: true,
                count: LAST + 1,
                hash: [u32::from(turned < sample.watched) * (turned as u32 + 2), 0],
                margin: if is_turned { 1.0 } else { -1.0 },
                value: f64::from(u8::from(is_turned)),
                site: 0,
            });
        }
        traces
    }
}

/// The number of the last decision of [`Cuts`].
const LAST: i32 = 30;

#[test]
fn kernel_that_is_cut_more_often_is_unresolved() {
    assert_eq!(MAX_CUTS, 16);
    // The ends differ in the last decision.
    let ends = [(0.0_f64, i32::MAX - 1), (1.0, LAST)];
    let ends = ends.map(|(end, turned)| (end.to_bits(), turned));
    let mut sampler = Cuts(HashMap::from(ends));
    let (kernel, roots) = found(&mut sampler, &[DecisionKind::Sign]);
    assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
    // All parts are cut at once: 1, 2, 4, 8, and then 16 more.
    assert_eq!((kernel.cuts, kernel.roots), (31, 0));
}

#[test]
fn kernel_of_more_decisions_is_unresolved() {
    let mut sampler = Decisions {
        decisions: &SIGNS[..1],
        others: MAX_DECISIONS - 1,
        stopped: 0.0..0.0,
    };
    let (kernel, roots) = found(&mut sampler, &[DecisionKind::Sign]);
    assert!(!kernel.is_unresolved);
    assert_roots(&roots, &[(0.7, 1.0)]);
    sampler.others += 1;
    let (kernel, roots) = found(&mut sampler, &[DecisionKind::Sign]);
    assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
}

#[test]
fn kernel_with_a_sample_that_stops_is_unresolved() {
    for stopped in [0.9..1.1, 0.6..0.8] {
        let mut sampler = Decisions {
            decisions: &SIGNS[..1],
            others: 0,
            stopped,
        };
        let (kernel, roots) = found(&mut sampler, &[DecisionKind::Sign]);
        assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
    }
}

#[test]
fn margin_that_does_not_cross_is_unresolved() {
    // It is infinite at an end, or decides on one side of its boundary, 0.5.
    let infinite: Decision = (DecisionKind::Sign, |x| match x < 0.45 {
        true => -1.0,
        false => f64::INFINITY,
    });
    let beside: Decision = (DecisionKind::Round, |x| 0.4 * x - 0.2);
    for decision in [infinite, beside] {
        let (kernel, roots) = found_of(&[decision]);
        assert!(kernel.is_unresolved && roots.is_empty(), "{roots:?}");
    }
}
