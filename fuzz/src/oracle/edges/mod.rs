//! Gradients through edges, by both rules: every engine finds the same ones, to the bit; they are
//! linear in the weights of outputs, which decide nothing; and they are finite where samples are.
//!
//! A point is evaluated with several weights at once: those of groups of outputs, and of all, each
//! in several scales. A group's gradient times a scale says how much rounding there is.

mod counts;
mod samples;

pub use counts::EdgeCounts;

use super::Disagreement;
use super::batch::words;
use super::chain::compiler;
use super::derived::refused;
use super::derived::shader::{drawn, may_have_none};
use super::modes::MODES;
use super::reference::limits;
use crate::bundle;
use crate::generate::jumps::is_tame;
use crate::generate::{GeneratedProgram, GlobalBits, Point};
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, Part};
use adumbra::evaluator::Engine;
use adumbra::gradient::{
    Axis, DerivativePlace, GradientRequest, JumpBatch, JumpGradient, JumpPoint, JumpReport,
    JumpRules,
};
use adumbra::{Diagnostics, Instance, Program};
use adumbra_ir::Type;
use adumbra_ir::host::ConstantTexture;

/// Points of a program.
const POINTS: usize = 2;

/// The most groups of outputs.
const MAX_GROUPS: usize = 3;

/// What weights are multiplied by. Twice a weight gives twice the gradient, to the bit; others give
/// what is rounded.
const SCALES: [f32; 5] = [1.0, 2.0, 0.7, 1.3, -1.1];

/// How far a sum may be from its terms: this part of their magnitudes, and of their rounding.
const CLOSE: f64 = 1e-5;
const ROUNDINGS: f64 = 16.0;

/// Distances of neighbours along `ga` and `gb`.
const SPACINGS: [f64; 2] = [0.5, 0.25];

/// The rules, as counts have them.
const RULES: [JumpRules; 2] = [JumpRules::Edge, JumpRules::Pair];

/// Checks the gradient of a shader through edges, by the globals that it reads, on these engines.
///
/// # Errors
/// The disagreement.
pub fn check_edges(
    program: &GeneratedProgram,
    engines: &[Engine],
    counts: &mut EdgeCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let sources = bundle::sources(&program.source);
    let plain = sources.and_then(|sources| compiler(&MODES[0]).compile(&sources));
    let plain = plain.map_err(|no| refused(program, &no))?;
    let axes = [("ga", SPACINGS[0]), ("gb", SPACINGS[1])];
    let axes = axes.map(|(name, spacing)| Axis::new(name, 0, spacing));
    let request = GradientRequest::new().by_globals();
    for (rules, of) in RULES.into_iter().enumerate() {
        let jumps = match plain.jump_gradient(&request, &axes, of) {
            Ok(jumps) => jumps,
            Err(no) if may_have_none(&no) => {
                counts.refused += 1;
                return Ok(());
            }
            Err(no) if of == JumpRules::Pair && has_no_pairs(&no) => {
                counts.without_pairs += 1;
                continue;
            }
            Err(no) => return Err(refused(program, &no)),
        };
        let report = |what: String| Disagreement::new(program, None, format!("{of:?}-{what}"));
        Weighed::new(program, &jumps)
            .check(&plain, rules, engines, counts)
            .map_err(report)?;
    }
    Ok(())
}

/// Whether all that is refused is to compare pairs of samples.
fn has_no_pairs(no: &Diagnostics) -> bool {
    let mut errors = no.diagnostics.iter().filter(|found| found.is_error());
    errors.all(|found| found.code.to_string() == "E0571")
}

/// A gradient at points with weights.
struct Weighed<'p> {
    program: &'p GeneratedProgram,
    jumps: &'p JumpGradient,
    /// The floats of the gradient: output and scalar.
    floats: Vec<(String, usize)>,
    /// The points of the plain program.
    points: Vec<Point>,
    /// Weights of the outputs' floats: of each group, then of all.
    weights: Vec<Vec<f32>>,
}

/// What an engine finds: the floats of the gradient by point.
struct Found {
    floats: Vec<Vec<f32>>,
    report: JumpReport,
    stopped: usize,
}

impl<'p> Weighed<'p> {
    fn new(program: &'p GeneratedProgram, jumps: &'p JumpGradient) -> Weighed<'p> {
        let points: Vec<Point> = (0..POINTS as u64).map(|at| program.point(at)).collect();
        let members = jumps.smooth().program().globals().members();
        let seeds = members[points[0].len()..].iter();
        let count: usize = seeds.map(|member| member.ty().scalar_count()).sum();
        let mut lot = program.seed;
        let all = drawn(&mut lot, count);
        let groups = count.min(MAX_GROUPS);
        let group = |number: usize| {
            let weights = all.iter().enumerate();
            weights.map(move |(at, &weight)| if at % groups == number { weight } else { 0.0 })
        };
        let mut weights: Vec<Vec<f32>> = (0..groups).map(|at| group(at).collect()).collect();
        weights.push(all.clone());
        Weighed {
            program,
            jumps,
            floats: floats_of(jumps),
            points,
            weights,
        }
    }

    /// A point of the gradient's program, with weights.
    fn with_weights(&self, point: &Point, weights: &[f32], scale: f32) -> Point {
        let members = self.jumps.smooth().program().globals().members();
        let mut point = point.clone();
        let mut weights = weights.iter();
        for member in &members[point.len()..] {
            let count = member.ty().scalar_count();
            let own = weights.by_ref().take(count);
            point.push(GlobalBits {
                value: own.map(|weight| (weight * scale).to_bits()).collect(),
                ddx: vec![0; count],
                ddy: vec![0; count],
            });
        }
        point
    }

    /// All points, in the order of [`at`](Weighed::at).
    fn all(&self) -> Vec<Point> {
        let mut all = Vec::new();
        for point in &self.points {
            for weights in &self.weights {
                all.extend(SCALES.map(|scale| self.with_weights(point, weights, scale)));
            }
        }
        all
    }

    /// The number of a point with weights in a scale.
    fn at(&self, point: usize, weights: usize, scale: usize) -> usize {
        (point * self.weights.len() + weights) * SCALES.len() + scale
    }

    fn check(
        &self,
        plain: &Program,
        rules: usize,
        engines: &[Engine],
        counts: &mut EdgeCounts,
    ) -> Result<(), String> {
        let gradient = self.jumps.smooth().program();
        let all = self.all();
        let words = words(gradient, &all);
        let globals = BatchGlobals::interleaved(gradient.globals(), &words);
        let batch = JumpBatch::new(self.jumps, &Instance::new(gradient)).setup(setup());
        let mut first: Option<Found> = None;
        for &engine in engines {
            let found = self.found(&batch.clone().engine(engine), &globals, all.len())?;
            match &first {
                None => first = Some(found),
                Some(first) => self.same(first, &found, (engines[0], engine), counts)?,
            }
        }
        let found = first.expect("there is an engine");
        let host = || ConstantTexture([0.5; 4]);
        let batch = batch.engine(engines[0]);
        let seen = batch.points(&globals, 0..all.len(), host);
        let seen = seen.map_err(|no| no.to_string())?;
        counts.points[rules] += POINTS;
        let per_point = self.at(1, 0, 0);
        counts.seeing[rules] += found.report.points / per_point;
        counts.nullified[rules] += found.report.nullified / per_point;
        if found.stopped > 0 {
            counts.stopped += POINTS;
            return Ok(());
        }
        self.weights_decide_nothing(&seen)?;
        self.linear(&found, counts)?;
        let samples = samples::are_finite(self, plain)?;
        for (point, is_finite) in samples.into_iter().enumerate() {
            if !is_finite {
                counts.wild += 1;
                continue;
            }
            let own = self.at(point, 0, 0)..self.at(point + 1, 0, 0);
            let mut numbers = found.floats.iter().flat_map(|plane| &plane[own.clone()]);
            let infinite = numbers.find(|number| !number.is_finite());
            match infinite {
                None => counts.finite[rules] += 1,
                // Between finite samples an edge can be where a value has a pole.
                Some(_) if rules == 0 && !is_tame(&self.program.source) => counts.singular += 1,
                Some(number) => {
                    return Err(format!(
                        "infinite: {number} at point {point}, by finite samples"
                    ));
                }
            }
        }
        Ok(())
    }

    fn found(
        &self,
        batch: &JumpBatch,
        globals: &BatchGlobals<'_>,
        points: usize,
    ) -> Result<Found, String> {
        let mut floats = vec![vec![0.0_f32; points]; self.floats.len()];
        let mut planes = planes(&self.floats, &mut floats);
        let host = || ConstantTexture([0.5; 4]);
        let done = batch.planes(globals, 0..points, &mut planes, host);
        let (_, stopped, report) = done.map_err(|no| no.to_string())?;
        Ok(Found {
            floats,
            report,
            stopped: stopped.stopped,
        })
    }

    /// Checks that two engines find the same.
    fn same(
        &self,
        first: &Found,
        other: &Found,
        engines: (Engine, Engine),
        counts: &mut EdgeCounts,
    ) -> Result<(), String> {
        if first.report != other.report {
            let reports = (first.report, other.report);
            return Err(format!("engines: {engines:?} report {reports:?}"));
        }
        for (first, other) in first.floats.iter().zip(&other.floats) {
            for (first, other) in first.iter().zip(other) {
                counts.bits += 1;
                let both_nan = first.is_nan() && other.is_nan();
                if first.to_bits() != other.to_bits() && !both_nan {
                    return Err(format!("engines: {engines:?} give {first:e} and {other:e}"));
                }
            }
        }
        Ok(())
    }

    /// Checks that the axis of a point, and which edges count, are the same by all weights.
    fn weights_decide_nothing(&self, seen: &[JumpPoint]) -> Result<(), String> {
        let per_point = self.at(1, 0, 0);
        for point in 0..self.points.len() {
            let own = seen.iter().filter(|seen| seen.point / per_point == point);
            let own: Vec<JumpPoint> = own.map(|seen| JumpPoint { point, ..*seen }).collect();
            let is_same = own.iter().all(|seen| *seen == own[0]);
            if !(own.is_empty() || is_same && own.len() == per_point) {
                return Err(format!("weights: they decide at point {point}: {own:?}"));
            }
        }
        Ok(())
    }

    /// Checks that the gradient of all outputs is the sum of those of the groups.
    fn linear(&self, found: &Found, counts: &mut EdgeCounts) -> Result<(), String> {
        let all = self.weights.len() - 1;
        for (plane, (name, scalar)) in found.floats.iter().zip(&self.floats) {
            for point in 0..self.points.len() {
                let at = |weights: usize, scale: usize| -> f64 {
                    plane[self.at(point, weights, scale)].into()
                };
                let own = self.at(point, 0, 0)..self.at(point + 1, 0, 0);
                if plane[own].iter().any(|number| !number.is_finite()) {
                    counts.infinite += 1;
                    continue;
                }
                let (mut sum, mut size, mut noise) = (0.0, 0.0, 0.0);
                for weights in 0..=all {
                    let one = at(weights, 0);
                    if (at(weights, 1) - 2.0 * one).abs() > f64::from(f32::MIN_POSITIVE) {
                        return Err(format!(
                            "twice: {name}.{scalar} is {one:e}, and {:e} by twice the weights",
                            at(weights, 1)
                        ));
                    }
                    let scaled = |scale: usize| at(weights, scale) / f64::from(SCALES[scale]);
                    let apart = (2..SCALES.len()).map(|scale| (scaled(scale) - one).abs());
                    noise += apart.fold(0.0, f64::max);
                    size += one.abs();
                    sum += if weights == all { -one } else { one };
                }
                counts.sums += 1;
                if sum.abs() > CLOSE * size + ROUNDINGS * noise {
                    return Err(format!(
                        "sum: {name}.{scalar} of all outputs is {:e}, {sum:e} from the sum of each ({noise:e} is rounded)",
                        at(all, 0)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The setup of all batches.
fn setup() -> BatchSetup {
    BatchSetup {
        limits: limits(),
        ..BatchSetup::default()
    }
}

/// Planes of floats of outputs.
fn planes<'f>(names: &'f [(String, usize)], floats: &'f mut [Vec<f32>]) -> Vec<OutputPlane<'f>> {
    let planes = names.iter().zip(floats);
    let planes =
        planes.map(|((name, scalar), to)| OutputPlane::new(name, Part::Value, *scalar, to, 1));
    planes.collect()
}

/// The floats of the gradient: output and scalar.
fn floats_of(jumps: &JumpGradient) -> Vec<(String, usize)> {
    let mut floats = Vec::new();
    for parameter in jumps.smooth().parameters() {
        if let DerivativePlace::Output(name) = &parameter.value.place {
            let scalars: Vec<usize> = Type::float_scalars(&parameter.value.ty);
            floats.extend(scalars.into_iter().map(|scalar| (name.clone(), scalar)));
        }
    }
    floats
}
