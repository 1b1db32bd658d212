//! The rules `edge` in f64, as `docs/edges.md` has them: what the library's would be without
//! rounding.
//!
//! A shader that watches its decisions runs in the reference evaluator. The first decision that
//! differs between two samples is bisected by its margin, and runs at its root with both values
//! forced; slopes of margins are central differences.

use crate::reference::{Line, Reference};
use adumbra::Program;
use adumbra_ir::eval::EvalValue;
use adumbra_ir::passes::{DecisionSite, MAX_FORCED_DECISIONS, Tracing, trace_decisions};

/// Bisections of a kernel.
const BISECTIONS: usize = 48;

/// The step of a margin's differences along an axis.
const STEP: f64 = 1e-5;

/// Decisions that are forced, by their numbers.
type Forced = Vec<(i32, f64)>;

/// What a sample decided.
#[derive(Clone, Copy, Debug)]
struct TracedSample {
    /// The sum of the outputs.
    value: f64,
    /// The number of its decisions, and the hash of those before the watched one.
    trace: [u32; 3],
    margin: f64,
    decision: f64,
    site: u32,
}

/// A decision that turns between two samples.
struct FoundRoot {
    /// Over Δ.
    at: f64,
    number: i32,
    forced: Forced,
    /// The value on the side of the greater margin, less that on the other one.
    jump: f64,
}

/// The rules for a shader, by one input.
pub(crate) struct ReferenceRule {
    watched: Reference,
    sites: Vec<DecisionSite>,
}

impl ReferenceRule {
    pub(crate) fn new(program: &Program, parameter: &str, step: f64) -> ReferenceRule {
        let mut module = program.module().clone();
        let sites = trace_decisions(&mut module, Tracing::Watched);
        ReferenceRule {
            watched: Reference::new(&module, parameter, step),
            sites,
        }
    }

    /// A sample at a place, with the input moved by that.
    fn sample(&self, place: [f64; 2], moved: f64, forced: &Forced, watched: i32) -> TracedSample {
        let mut globals = vec![EvalValue::word(watched as u32)];
        for slot in 0..MAX_FORCED_DECISIONS {
            let (number, value) = forced.get(slot).copied().unwrap_or((-1, 0.0));
            globals.extend([
                EvalValue::word(number as u32),
                EvalValue::float(value, [0.0; 2]),
            ]);
        }
        let outputs = self.watched.outputs(place, moved, &globals);
        let (own, seen) = outputs.split_at(outputs.len() - 6);
        TracedSample {
            value: own.iter().map(|output| output.float).sum(),
            trace: [seen[0].word, seen[1].word, seen[2].word],
            margin: seen[3].float,
            decision: seen[4].float,
            site: seen[5].word,
        }
    }

    /// Adds the roots between two offsets on a line, of which these are forced already.
    fn add_roots(&self, line: &Line, ends: [f64; 2], forced: &Forced, found: &mut Vec<FoundRoot>) {
        let sample = |at: f64, forced: &Forced, watched: i32| {
            self.sample(line.at(at * line.spacing), 0.0, forced, watched)
        };
        let both = |watched: i32| ends.map(|end| sample(end, forced, watched));
        let [here, there] = both(i32::MAX);
        if here.trace == there.trace || forced.len() == MAX_FORCED_DECISIONS {
            return;
        }
        let least = here.trace[0].min(there.trace[0]) as i32;
        let differs = |number: &i32| {
            let [here, there] = both(*number);
            here.decision != there.decision
        };
        let Some(number) = (0..least).find(differs) else {
            return;
        };
        let [here, there] = both(number);
        let kind = self.sites[here.site as usize].kind;
        let boundary = kind.boundary(here.decision, there.decision);
        let is_up = there.margin > here.margin;
        let [mut low, mut high] = ends;
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            let is_beyond = (sample(middle, forced, number).margin > boundary) == is_up;
            *(if is_beyond { &mut high } else { &mut low }) = middle;
        }
        let at = 0.5 * (low + high);
        let forced_to = |value: f64| {
            let mut forced = forced.clone();
            forced.push((number, value));
            forced
        };
        let before = forced_to(here.decision);
        let after = forced_to(kind.neighbour(here.decision, there.decision));
        let [from, to] = [&before, &after].map(|forced| sample(at, forced, i32::MAX).value);
        found.push(FoundRoot {
            at,
            number,
            forced: forced.clone(),
            jump: if is_up { to - from } else { from - to },
        });
        self.add_roots(line, [ends[0], at], &before, found);
        self.add_roots(line, [at, ends[1]], &after, found);
    }

    /// What a root counts: half its jump by the slope of the margin, over that along the axis, if
    /// it moves no faster along the other one.
    fn counts(&self, line: &Line, root: &FoundRoot) -> f64 {
        let place = line.at(root.at * line.spacing);
        let margin = |place: [f64; 2], moved: f64| {
            self.sample(place, moved, &root.forced, root.number).margin
        };
        let along = |axis: usize| {
            let [less, more] = [-STEP, STEP].map(|step| {
                let mut place = place;
                place[axis] += step;
                margin(place, 0.0)
            });
            ((more - less) / (2.0 * STEP)).abs()
        };
        let step = self.watched.step;
        let by_input = (margin(place, step) - margin(place, -step)) / (2.0 * step);
        let (own, other) = (along(line.axis), along(1 - line.axis));
        match own >= other {
            true => 0.5 * root.jump * by_input / (own * line.spacing),
            false => 0.0,
        }
    }

    /// The gradient at a place; `None` if it is so near to an edge that the smooth part is not
    /// known.
    pub(crate) fn gradient(&self, place: [f64; 2], spacing: f64) -> Option<f64> {
        let step = self.watched.step;
        let none = Forced::new();
        let [less, more] = [-step, step].map(|moved| self.sample(place, moved, &none, i32::MAX));
        if less.trace != more.trace {
            return None;
        }
        let mut gradient = (more.value - less.value) / (2.0 * step);
        for axis in [0, 1] {
            let line = Line {
                place,
                axis,
                spacing,
            };
            for side in [-1.0, 1.0] {
                let mut roots = Vec::new();
                self.add_roots(&line, [0.0, side], &none, &mut roots);
                gradient += roots
                    .iter()
                    .map(|root| self.counts(&line, root))
                    .sum::<f64>();
            }
        }
        Some(gradient)
    }
}
