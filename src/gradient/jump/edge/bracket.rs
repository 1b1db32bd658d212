//! Locates the root of a margin between two samples that decide otherwise, by secants.

use super::search::{Sampler, SearchedKernel, Segment, Traced, sample};
use adumbra_ir::passes::{DecisionKind, DecisionSite};

/// The error of a root's place, over the distance of two samples.
pub(super) const TOLERANCE: f64 = 1e-5;

/// Secant steps before only halves are taken, and steps at all.
const SECANTS: usize = 8;
const MAX_STEPS: usize = 32;

/// A segment whose first difference is known, and being located.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    pub(super) segment: Segment,
    pub(super) number: i32,
    pub(super) site: i32,
    /// The hash of the decisions before.
    hash: [u32; 2],
    /// The decision at both ends.
    pub(super) values: [f64; 2],
    /// The margin at which it turns.
    boundary: f64,
    /// What encloses the root, with the margins there, less the boundary.
    pub(super) ends: [f64; 2],
    pub(super) margins: [f64; 2],
    /// Where the surfaces at both ends are along their rays, if surfaces are compared.
    pub(super) depths: Option<[f64; 2]>,
    /// The end that stayed in the last step.
    stayed: Option<usize>,
    pub(super) state: BracketState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BracketState {
    Open,
    Located,
    /// An earlier decision turns here, and back again.
    Cut(f64),
    Lost,
}

/// The bracket of a root, if the margins at both ends enclose one.
pub(super) fn bracket(
    segment: &Segment,
    number: i32,
    traced: [Traced; 2],
    sites: &[DecisionSite],
) -> Option<Bracket> {
    let [a, b] = traced;
    if a.site != b.site || a.value == b.value {
        return None;
    }
    let site = sites.get(usize::try_from(a.site).ok()?)?;
    let depths = (site.kind == DecisionKind::Surface).then_some([a.margin, b.margin]);
    let boundary = site.kind.boundary(a.value, b.value);
    let margins = match depths {
        // Surfaces have no margin to be followed, and are only compared.
        Some(depths) if depths.iter().all(|depth| depth.is_finite()) => [-1.0, 1.0],
        _ => [a.margin - boundary, b.margin - boundary],
    };
    let encloses = margins[0] * margins[1] <= 0.0 && margins[0] != margins[1];
    (encloses && margins.iter().all(|margin| margin.is_finite())).then_some(Bracket {
        segment: *segment,
        number,
        site: a.site,
        hash: a.hash,
        values: [a.value, b.value],
        boundary,
        ends: segment.ends,
        margins,
        depths,
        stayed: None,
        state: BracketState::Open,
    })
}

impl Bracket {
    fn width(&self) -> f64 {
        (self.ends[1] - self.ends[0]).abs()
    }

    /// Where the chord through both ends has the boundary.
    pub(super) fn chord(&self) -> f64 {
        let [a, b] = self.ends;
        let share = self.margins[0] / (self.margins[0] - self.margins[1]);
        match (0.0..=1.0).contains(&share) {
            true => a + share * (b - a),
            false => 0.5 * (a + b),
        }
    }

    /// Where the next sample is taken: the chord, or just beyond an end that is at the root as far
    /// as is known, so that the other end follows.
    fn next(&self, step: usize) -> f64 {
        let [a, b] = self.ends;
        if step >= SECANTS || self.depths.is_some() {
            return 0.5 * (a + b);
        }
        let at = self.chord();
        let beyond = 0.9 * TOLERANCE * (b - a).signum();
        if (at - a).abs() < 0.5 * TOLERANCE {
            a + beyond
        } else if (b - at).abs() < 0.5 * TOLERANCE {
            b - beyond
        } else {
            at
        }
    }

    /// Takes a sample between the ends.
    fn narrow(&mut self, at: f64, traced: &Traced) {
        if !traced.has_ended || traced.margin.is_nan() {
            self.state = BracketState::Lost;
            return;
        }
        if traced.hash != self.hash || traced.site != self.site {
            self.state = BracketState::Cut(at);
            return;
        }
        let moved = usize::from(traced.value != self.values[0]);
        self.ends[moved] = at;
        if let Some(depths) = &mut self.depths {
            depths[moved] = traced.margin;
            self.values[moved] = traced.value;
            return;
        }
        self.margins[moved] = traced.margin - self.boundary;
        // The Illinois rule: an end that stays twice counts half (Dowell, Jarratt 1971).
        let stays = 1 - moved;
        if self.stayed == Some(stays) {
            self.margins[stays] *= 0.5;
        }
        self.stayed = Some(stays);
    }
}

/// Narrows brackets until the roots are located.
pub(super) fn locate(
    brackets: &mut [Bracket],
    kernels: &[SearchedKernel],
    sampler: &mut impl Sampler,
) {
    for step in 0..MAX_STEPS {
        let mut open = Vec::new();
        let mut samples = Vec::new();
        for (at, bracket) in brackets.iter_mut().enumerate() {
            if bracket.state != BracketState::Open {
                continue;
            }
            let is_at_end = bracket.margins.contains(&0.0);
            if is_at_end || bracket.width() <= TOLERANCE {
                bracket.state = BracketState::Located;
                continue;
            }
            let place = bracket.next(step);
            open.push((at, place));
            samples.push(sample(&bracket.segment, kernels, place, bracket.number));
        }
        if open.is_empty() {
            break;
        }
        let traced = sampler.trace(&samples).traced;
        for (&(at, place), traced) in open.iter().zip(&traced) {
            brackets[at].narrow(place, traced);
        }
    }
}
