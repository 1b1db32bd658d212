//! Finds the jumps between a point and its neighbours: where a decision turns, and what the outputs
//! are on its two sides.
//!
//! The decisions of two samples are compared in order of execution. The first one that differs
//! turns somewhere between them, at its *root*, which is located by its margin. There the shader
//! runs twice, with that decision forced as it is at either end. What else differs does so between
//! an end and the run that was forced to be on its side, so the search goes on in both parts, and
//! keeps what was forced. All kernels of a block go through it together, since samples are
//! evaluated in batches.

use super::bracket::{Bracket, BracketState, TOLERANCE, bracket, locate};
use crate::gradient::jump::kernels::Kernel;
use crate::gradient::jump::points::{Forced, Sample};
use adumbra_ir::passes::{DecisionSite, MAX_FORCED_DECISIONS};

/// The most roots of a kernel; the jumps of one that has more do not count.
pub const MAX_ROOTS: usize = MAX_FORCED_DECISIONS;

/// The most decisions of a point; of one that has more, jumps do not count.
pub const MAX_DECISIONS: i32 = 1 << 20;

/// Parts that a kernel is cut into where a decision turns and turns back between its samples.
const MAX_CUTS: usize = 16;

/// The decisions of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::gradient::jump) struct Traced {
    /// Whether the point ran to its end.
    pub(in crate::gradient::jump) has_ended: bool,
    pub(in crate::gradient::jump) count: i32,
    pub(in crate::gradient::jump) hash: [u32; 2],
    pub(in crate::gradient::jump) margin: f64,
    pub(in crate::gradient::jump) value: f64,
    /// Negative where no decision has the number that is watched.
    pub(in crate::gradient::jump) site: i32,
}

/// Evaluates samples.
pub(in crate::gradient::jump) trait Sampler {
    fn trace(&mut self, samples: &[Sample]) -> Traces;
}

/// What samples came to.
#[derive(Clone, Debug, Default)]
pub(in crate::gradient::jump) struct Traces {
    /// The decisions of each.
    pub(in crate::gradient::jump) traced: Vec<Traced>,
    /// The floats of the outputs that are differentiated, sample by sample.
    pub(in crate::gradient::jump) outputs: Vec<f64>,
}

/// A kernel that is searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchedKernel {
    pub(super) kernel: Kernel,
    /// The roots that were found.
    pub(super) roots: usize,
    /// Whether jumps of it do not count: it has too many roots, or one that was not located.
    pub(super) is_unresolved: bool,
    cuts: usize,
}

impl SearchedKernel {
    pub(super) fn new(kernel: Kernel) -> SearchedKernel {
        SearchedKernel {
            kernel,
            roots: 0,
            is_unresolved: false,
            cuts: 0,
        }
    }
}

/// A decision that turns between two samples.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// The kernel's number.
    pub(super) kernel: usize,
    /// Where it turns, with the decision watched.
    pub(super) sample: Sample,
    /// The floats of the outputs on the side of the greater margin, less those on the other one.
    pub(super) jump: Vec<f64>,
}

/// A part of a kernel within which decisions differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) kernel: usize,
    pub(super) ends: [f64; 2],
    pub(super) forced: Forced,
}

/// Searches kernels, which are in order. Roots are in order of kernels, and of their place there;
/// those of kernels that are unresolved are among them, as far as they were found.
pub(super) fn search(
    kernels: &mut [SearchedKernel],
    sites: &[DecisionSite],
    sampler: &mut impl Sampler,
) -> Vec<Root> {
    let mut roots = Vec::new();
    let mut open: Vec<Segment> = (kernels.iter().enumerate())
        .map(|(kernel, of)| Segment {
            kernel,
            ends: [0.0, of.kernel.side],
            forced: Forced::default(),
        })
        .collect();
    while !open.is_empty() {
        let different = differing(&open, kernels, sampler);
        let mut brackets = first_differences(&different, kernels, sites, sampler);
        locate(&mut brackets, kernels, sampler);
        open = split(&brackets, kernels, sites, &mut roots, sampler);
        open.retain(|segment| !kernels[segment.kernel].is_unresolved);
    }
    roots.sort_by(|a: &Root, b: &Root| {
        let place = |root: &Root| root.sample.offset.abs();
        (a.kernel.cmp(&b.kernel)).then(place(a).total_cmp(&place(b)))
    });
    roots
}

pub(super) fn sample(
    segment: &Segment,
    kernels: &[SearchedKernel],
    offset: f64,
    watched: i32,
) -> Sample {
    let kernel = &kernels[segment.kernel].kernel;
    Sample {
        point: kernel.point,
        axis: kernel.axis,
        offset,
        forced: segment.forced,
        watched,
    }
}

/// Segments whose ends decide otherwise, with the number of decisions at both.
fn differing(
    open: &[Segment],
    kernels: &mut [SearchedKernel],
    sampler: &mut impl Sampler,
) -> Vec<(Segment, i32)> {
    let mut samples = Vec::with_capacity(2 * open.len());
    for segment in open {
        samples.extend(
            segment
                .ends
                .map(|end| sample(segment, kernels, end, i32::MAX)),
        );
    }
    let traced = sampler.trace(&samples).traced;
    let mut found = Vec::new();
    for (segment, traced) in open.iter().zip(traced.chunks_exact(2)) {
        let [a, b] = [traced[0], traced[1]];
        let most = a.count.max(b.count);
        if !a.has_ended || !b.has_ended || most > MAX_DECISIONS {
            kernels[segment.kernel].is_unresolved = true;
        } else if (a.count, a.hash) != (b.count, b.hash) {
            found.push((*segment, a.count.min(b.count)));
        }
    }
    found
}

/// The first decision that differs in each segment: all before it are the same, by bisection.
fn first_differences(
    different: &[(Segment, i32)],
    kernels: &mut [SearchedKernel],
    sites: &[DecisionSite],
    sampler: &mut impl Sampler,
) -> Vec<Bracket> {
    // Per segment: that many decisions are the same, and no more than that many.
    let mut ranges: Vec<[i32; 2]> = different.iter().map(|(_, least)| [0, *least]).collect();
    let mut trace_at = |numbers: &[(usize, i32)], kernels: &[SearchedKernel]| {
        let samples = numbers.iter().flat_map(|&(at, number)| {
            let segment = &different[at].0;
            segment
                .ends
                .map(|end| sample(segment, kernels, end, number))
        });
        let samples: Vec<Sample> = samples.collect();
        sampler.trace(&samples).traced
    };
    loop {
        let open = ranges
            .iter()
            .enumerate()
            .filter(|(_, [low, high])| low < high);
        let open: Vec<(usize, i32)> = open
            .map(|(at, [low, high])| (at, low + (high - low + 1) / 2))
            .collect();
        if open.is_empty() {
            break;
        }
        let traced = trace_at(&open, kernels);
        for ((at, number), traced) in open.iter().zip(traced.chunks_exact(2)) {
            match traced[0].hash == traced[1].hash {
                true => ranges[*at][0] = *number,
                false => ranges[*at][1] = number - 1,
            }
        }
    }
    let numbers: Vec<(usize, i32)> = ranges
        .iter()
        .enumerate()
        .map(|(at, [number, _])| (at, *number))
        .collect();
    let traced = trace_at(&numbers, kernels);
    let mut brackets = Vec::with_capacity(different.len());
    for (((segment, _), (_, number)), traced) in
        different.iter().zip(&numbers).zip(traced.chunks_exact(2))
    {
        match bracket(segment, *number, [traced[0], traced[1]], sites) {
            Some(bracket) => brackets.push(bracket),
            None => kernels[segment.kernel].is_unresolved = true,
        }
    }
    brackets
}

/// A root with its two sides, which are forced, and the parts of the segment in which others are
/// looked for.
struct Located<'b> {
    bracket: &'b Bracket,
    at: f64,
    sides: [Segment; 2],
    parts: [Segment; 2],
}

/// Runs both sides of each root, and cuts segments there. Returns the parts.
fn split(
    brackets: &[Bracket],
    kernels: &mut [SearchedKernel],
    sites: &[DecisionSite],
    roots: &mut Vec<Root>,
    sampler: &mut impl Sampler,
) -> Vec<Segment> {
    let mut parts = Vec::new();
    let mut located: Vec<Located<'_>> = Vec::new();
    for bracket in brackets {
        let (segment, kernel) = (bracket.segment, &mut kernels[bracket.segment.kernel]);
        match bracket.state {
            BracketState::Lost => kernel.is_unresolved = true,
            BracketState::Cut(at) => {
                kernel.cuts += 1;
                kernel.is_unresolved |= kernel.cuts > MAX_CUTS;
                let [a, b] = segment.ends;
                parts.extend([[a, at], [at, b]].map(|ends| Segment { ends, ..segment }));
            }
            // As well as steps can locate it.
            BracketState::Located | BracketState::Open => {
                kernel.roots += 1;
                let kind = sites[bracket.site as usize].kind;
                let [from, to] = bracket.values;
                let beside = kind.neighbour(from, to);
                let at = bracket.chord();
                let [a, b] = segment.ends;
                let side = |ends: [f64; 2], value: f64| {
                    let forced = segment.forced.with(bracket.number, value)?;
                    Some(Segment {
                        kernel: segment.kernel,
                        ends,
                        forced,
                    })
                };
                let (Some(one), Some(other)) = (side([a, at], from), side([at, b], beside)) else {
                    kernel.is_unresolved = true;
                    continue;
                };
                if kernel.roots > MAX_ROOTS {
                    kernel.is_unresolved = true;
                    continue;
                }
                // An integer part moves by one: from the next one on it is free to move on.
                let rest = match beside == to {
                    true => other,
                    false => Segment {
                        ends: [at + TOLERANCE * (b - a).signum(), b],
                        ..segment
                    },
                };
                located.push(Located {
                    bracket,
                    at,
                    sides: [one, other],
                    parts: [one, rest],
                });
            }
        }
    }
    let mut samples = Vec::with_capacity(2 * located.len());
    for Located { at, sides, .. } in &located {
        samples.extend(sides.map(|side| sample(&side, kernels, *at, i32::MAX)));
    }
    let Traces { traced, outputs } = sampler.trace(&samples);
    let floats = outputs.len() / samples.len().max(1);
    for (number, located) in located.into_iter().enumerate() {
        let Located {
            bracket,
            at,
            parts: own,
            ..
        } = located;
        if traced[2 * number..][..2]
            .iter()
            .any(|traced| !traced.has_ended)
        {
            kernels[bracket.segment.kernel].is_unresolved = true;
            continue;
        }
        let (from, to) = outputs[2 * number * floats..][..2 * floats].split_at(floats);
        let sign = match bracket.margins[1] > bracket.margins[0] {
            true => 1.0,
            false => -1.0,
        };
        // Equal infinities do not jump.
        let jump = from.iter().zip(to).map(|(from, to)| match from == to {
            true => 0.0,
            false => sign * (to - from),
        });
        roots.push(Root {
            kernel: bracket.segment.kernel,
            sample: sample(&bracket.segment, kernels, at, bracket.number),
            jump: jump.collect(),
        });
        let has_inside = |part: &Segment| {
            let [a, b] = part.ends;
            let [from, to] = bracket.segment.ends;
            (b - a) * (to - from) > 0.0
        };
        parts.extend(own.into_iter().filter(has_inside));
    }
    parts
}

#[cfg(test)]
mod tests;
