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

/// Parts that a kernel is cut into where a decision turns and turns back between its samples, and
/// where surfaces end.
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

impl Traced {
    /// Whether the watched decision is that of another sample.
    fn decides_as(&self, other: &Traced) -> bool {
        let is_same = self.value == other.value || (self.value.is_nan() && other.value.is_nan());
        self.site == other.site && is_same
    }
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
    /// The floats of the outputs on the side of the greater margin, less those on the other one; of
    /// surfaces those at the greater offset, less those at the lesser one.
    pub(super) jump: Vec<f64>,
    /// 1 if the jump is that away from the kernel's point, else -1.
    pub(super) rise: f64,
    /// Whether it is an edge of a surface, whose margin has no side.
    pub(super) is_of_surface: bool,
}

/// A part of a kernel within which decisions differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) kernel: usize,
    pub(super) ends: [f64; 2],
    pub(super) forced: Forced,
    /// The decisions at the ends, as far as they are known.
    traced: [Option<Traced>; 2],
}

/// A segment whose ends decide otherwise, and their decisions.
type Different = (Segment, [Traced; 2]);

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
            ends: [of.kernel.from, of.kernel.to],
            forced: Forced::default(),
            traced: [None; 2],
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
        let start = |root: &Root| kernels[root.kernel].kernel.from;
        let place = |root: &Root| (root.sample.offset - start(root)).abs();
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

/// Segments whose ends decide otherwise.
fn differing(
    open: &[Segment],
    kernels: &mut [SearchedKernel],
    sampler: &mut impl Sampler,
) -> Vec<Different> {
    let mut samples = Vec::new();
    for segment in open {
        let ends = segment.ends.iter().zip(&segment.traced);
        let unknown = ends.filter(|(_, traced)| traced.is_none());
        samples.extend(unknown.map(|(end, _)| sample(segment, kernels, *end, i32::MAX)));
    }
    let mut traced = sampler.trace(&samples).traced.into_iter();
    let mut found = Vec::new();
    for segment in open {
        let known = segment.traced.map(|known| known.or_else(|| traced.next()));
        let [a, b] = known.map(|known| known.expect("each unknown end was sampled"));
        if !a.has_ended || !b.has_ended || a.count.max(b.count) > MAX_DECISIONS {
            kernels[segment.kernel].is_unresolved = true;
        } else if (a.count, a.hash) != (b.count, b.hash) {
            let traced = [Some(a), Some(b)];
            found.push((Segment { traced, ..*segment }, [a, b]));
        }
    }
    found
}

/// Of that many segments one is searched before the others, which are probably alike.
const ALIKE: usize = 16;

/// The first decision that differs in each segment. Segments beside each other mostly have the same
/// one, so it is tried before bisection.
fn first_differences(
    different: &[Different],
    kernels: &mut [SearchedKernel],
    sites: &[DecisionSite],
    sampler: &mut impl Sampler,
) -> Vec<Bracket> {
    let mut found: Vec<Option<(i32, [Traced; 2])>> = vec![None; different.len()];
    let (some, others) = (0..different.len()).partition(|at| at % ALIKE == 0);
    for part in [some, others] {
        bisect(part, different, kernels, &mut found, sampler);
    }
    let mut brackets = Vec::with_capacity(different.len());
    for ((segment, _), found) in different.iter().zip(found) {
        let bracket = found.and_then(|(number, traced)| bracket(segment, number, traced, sites));
        match bracket {
            Some(bracket) => brackets.push(bracket),
            None => kernels[segment.kernel].is_unresolved = true,
        }
    }
    brackets
}

/// Finds the first decisions that differ in these segments, with what is seen of them at both ends.
fn bisect(
    segments: Vec<usize>,
    different: &[Different],
    kernels: &[SearchedKernel],
    found: &mut [Option<(i32, [Traced; 2])>],
    sampler: &mut impl Sampler,
) {
    // With the numbers among which it is, and the one that is tried.
    let mut open: Vec<(usize, [i32; 2], i32)> = Vec::with_capacity(segments.len());
    for at in segments {
        let high = different[at].1.map(|traced| traced.count).into_iter().min();
        let high = high.expect("there are two ends");
        let alike = found[at - at % ALIKE].map(|(number, _)| number);
        open.push((at, [0, high], alike.unwrap_or(high / 2).min(high)));
    }
    while !open.is_empty() {
        let samples = open.iter().flat_map(|&(at, _, number)| {
            let segment = &different[at].0;
            let ends = segment.ends.map(|end| (segment, end, number));
            ends.map(|(segment, end, number)| sample(segment, kernels, end, number))
        });
        let samples: Vec<Sample> = samples.collect();
        let traced = sampler.trace(&samples).traced;
        let mut traced = traced.chunks_exact(2);
        open.retain_mut(|(at, [low, high], number)| {
            let traced = traced.next().expect("each was traced");
            let [a, b] = [traced[0], traced[1]];
            if a.hash != b.hash {
                *high = *number - 1;
            } else if a.decides_as(&b) {
                *low = *number + 1;
            } else {
                found[*at] = Some((*number, [a, b]));
            }
            *number = *low + (*high - *low) / 2;
            found[*at].is_none() && low <= high
        });
    }
}

/// A root with its two sides, which are forced, and the parts of the segment in which others are
/// looked for.
struct Located<'b> {
    bracket: &'b Bracket,
    /// Where each side runs: at one place, but beside each other if they are surfaces.
    places: [f64; 2],
    sides: [Segment; 2],
    parts: [Segment; 2],
}

impl Located<'_> {
    /// The edge of a surface, between samples on it and on another one. Neither is forced.
    fn surfaces(bracket: &Bracket) -> Located<'_> {
        let segment = bracket.segment;
        let ([a, b], [at_a, at_b]) = (segment.ends, segment.traced);
        let part = |ends: [f64; 2], traced| Segment {
            ends,
            traced,
            ..segment
        };
        let places = bracket.ends;
        Located {
            bracket,
            places,
            sides: [segment; 2],
            parts: [
                part([a, places[0]], [at_a, None]),
                part([places[1], b], [None, at_b]),
            ],
        }
    }
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
                let ([a, b], [at_a, at_b]) = (segment.ends, segment.traced);
                let halves = [([a, at], [at_a, None]), ([at, b], [None, at_b])];
                parts.extend(halves.map(|(ends, traced)| Segment {
                    ends,
                    traced,
                    ..segment
                }));
            }
            // As well as steps can locate it.
            BracketState::Located | BracketState::Open => {
                if bracket.depths.is_some() {
                    // Nothing is forced, so there may be more of them; most are of choices that no
                    // output shows.
                    kernel.cuts += 1;
                    match kernel.cuts > MAX_CUTS {
                        true => kernel.is_unresolved = true,
                        false => located.push(Located::surfaces(bracket)),
                    }
                    continue;
                }
                kernel.roots += 1;
                let kind = sites[bracket.site as usize].kind;
                let [from, to] = bracket.values;
                let beside = kind.neighbour(from, to);
                let at = bracket.chord();
                let [a, b] = segment.ends;
                let [at_a, at_b] = segment.traced;
                let side = |ends: [f64; 2], value: f64, traced| {
                    let forced = segment.forced.with(bracket.number, value)?;
                    Some(Segment {
                        kernel: segment.kernel,
                        ends,
                        forced,
                        traced,
                    })
                };
                // What is forced to be as it is decides as before.
                let one = side([a, at], from, [at_a, None]);
                let other = side([at, b], beside, [None, at_b]);
                let (Some(one), Some(other)) = (one, other) else {
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
                        traced: [None, at_b],
                        ..segment
                    },
                };
                located.push(Located {
                    bracket,
                    places: [at; 2],
                    sides: [one, other],
                    parts: [one, rest],
                });
            }
        }
    }
    let mut samples = Vec::with_capacity(2 * located.len());
    for Located { places, sides, .. } in &located {
        let both = sides.iter().zip(places);
        samples.extend(both.map(|(side, &at)| sample(side, kernels, at, i32::MAX)));
    }
    let Traces { traced, outputs } = sampler.trace(&samples);
    let floats = outputs.len() / samples.len().max(1);
    for (number, located) in located.into_iter().enumerate() {
        let Located {
            bracket,
            places,
            parts: [mut one, mut other],
            ..
        } = located;
        let traced = [traced[2 * number], traced[2 * number + 1]];
        one.traced[1] = Some(traced[0]);
        if other.ends[0] == places[1] {
            other.traced[0] = Some(traced[1]);
        }
        if traced.iter().any(|traced| !traced.has_ended) {
            kernels[bracket.segment.kernel].is_unresolved = true;
            continue;
        }
        let (from, to) = outputs[2 * number * floats..][..2 * floats].split_at(floats);
        let (is_up, nearer) = match bracket.depths {
            None => (bracket.margins[1] > bracket.margins[0], 0),
            // What is nearer hides the other one: its edge moves.
            Some(depths) => (places[1] > places[0], usize::from(depths[1] < depths[0])),
        };
        let rise = if is_up { 1.0 } else { -1.0 };
        // Equal infinities do not jump.
        let jump = from.iter().zip(to).map(|(from, to)| match from == to {
            true => 0.0,
            false => rise * (to - from),
        });
        roots.push(Root {
            kernel: bracket.segment.kernel,
            sample: sample(&bracket.segment, kernels, places[nearer], bracket.number),
            jump: jump.collect(),
            rise,
            is_of_surface: bracket.depths.is_some(),
        });
        let has_inside = |part: &Segment| {
            let [a, b] = part.ends;
            let [from, to] = bracket.segment.ends;
            (b - a) * (to - from) > 0.0
        };
        parts.extend([one, other].into_iter().filter(has_inside));
    }
    parts
}

#[cfg(test)]
mod tests;
