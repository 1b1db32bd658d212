//! Derivatives against finite differences.
//!
//! The shadows of outputs and of texture coordinates, evaluated over `f64`, must be the slopes of
//! their values along the globals' shadows. A slope is only taken where all points of its stencil
//! take the same path through the program, and only compared where extrapolation says that it is
//! known well; how much was compared is counted, and asserted by the callers. Then the shadows over
//! `f32` must be those over `f64`, within what rounding can do to the program
//! ([`noisy`](super::noisy)).

use super::noisy::{Noisy, Rounds};
use super::reference::{place, trace};
use super::richardson::{EstimatedSlope, slopes};
use crate::generate::Point;
use adumbra_ir::eval::{self, Number};
use adumbra_ir::{Direction, Module, Scalar};
use std::fmt;

/// How well a slope must be known to be compared: this part of it, or of [`SMALL`].
const KNOWN: f64 = 1e-4;

/// Slopes below this are compared as if they were this large: values around 1 that vary less say
/// little about them.
const SMALL: f64 = 1e-2;

/// How far a shadow may be from a slope beyond a multiple of the slope's own error: this part of
/// it.
const CLOSE: f64 = 1e-6;

/// How far a shadow over `f32` may be from that over `f64`, in multiples of how far noisy ones are
/// apart.
const SPREAD: f64 = 32.0;

/// … and beyond that, this part of it, or of [`SMALL`].
const CLOSE_F32: f64 = 1e-5;

/// How far a shadow by a rule may be from that by the body beyond what noise does, as a part of it.
/// A search that has its root has not all of the slope yet.
const RULED: f64 = 1e-7;

/// Requests of a point that are looked at: a loop may make thousands, which say no more.
const MAX_REQUESTS: usize = 16;

/// The amount of derivatives that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GradientComparison {
    /// Derivatives that there were: of each float output, u and v, in each direction.
    pub total: usize,
    /// Those that were held against a finite difference.
    pub differences: usize,
    /// Those of them that were not zero.
    pub nonzero: usize,
    /// Those of which the `f32` shadow was held against the `f64` one.
    pub narrow: usize,
    /// Those of programs with rules, which were held against those without.
    pub by_rules: usize,
}

impl GradientComparison {
    /// Why the comparisons say too little, if they do.
    pub fn hollow(&self) -> Option<String> {
        let enough = 2 * self.differences >= self.total
            && 4 * self.nonzero >= self.total
            && 2 * self.narrow >= self.total;
        (!enough).then(|| format!("too little was compared: {self}"))
    }
}

impl std::ops::AddAssign for GradientComparison {
    fn add_assign(&mut self, other: GradientComparison) {
        self.total += other.total;
        self.differences += other.differences;
        self.nonzero += other.nonzero;
        self.narrow += other.narrow;
        self.by_rules += other.by_rules;
    }
}

impl fmt::Display for GradientComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GradientComparison {
            total,
            differences,
            nonzero,
            narrow,
            by_rules,
        } = self;
        write!(
            f,
            "{total} derivatives: {differences} against differences ({nonzero} of them not zero), {narrow} of f32 against f64, {by_rules} with rules against those without"
        )
    }
}

/// The values with a derivative: float outputs, u and v of the first [`MAX_REQUESTS`] requests.
struct Traced {
    path: u64,
    values: Vec<f64>,
    shadows: [Vec<f64>; 2],
}

fn traced<F: Number>(module: &Module, point: &eval::EvalPoint<F>) -> Traced {
    let (outcome, requests) = trace(module, point);
    let mut traced = Traced {
        path: outcome.path,
        values: Vec::new(),
        shadows: [Vec::new(), Vec::new()],
    };
    let mut push = |value: F, x: F, y: F| {
        traced.values.push(value.to_f64());
        traced.shadows[0].push(x.to_f64());
        traced.shadows[1].push(y.to_f64());
    };
    for (slot, result) in outcome.outputs.iter().zip(&module.entry().results) {
        if result.ty == Scalar::F32 {
            push(slot.float, slot.shadows[0], slot.shadows[1]);
        }
    }
    // Where the program says the level, u and v need no shadows.
    let asking = requests.iter().filter(|r| r.level.is_none());
    for r in asking.take(MAX_REQUESTS) {
        push(r.u, r.dudx, r.dudy);
        push(r.v, r.dvdx, r.dvdy);
    }
    traced
}

/// The names of what is traced, for reports.
fn name(module: &Module, index: usize) -> String {
    let results = module.entry().results.iter();
    let outputs = results.filter(|r| r.ty == Scalar::F32).count();
    match index.checked_sub(outputs) {
        None => format!("float output {index}"),
        Some(i) => format!("{} of request {}", ["u", "v"][i % 2], i / 2),
    }
}

/// Compares all derivatives of a module with lanes at a point, and counts what it compared.
///
/// # Errors
/// The disagreement.
pub fn check(
    module: &Module,
    point: &Point,
    compared: &mut GradientComparison,
) -> Result<(), String> {
    let here = place::<f64>(module, point);
    let wide = traced(module, &here);
    let narrow_shadows = narrow(module, point, wide.path);
    for direction in Direction::BOTH {
        let shadows = &wide.shadows[direction as usize];
        compared.total += shadows.len();
        let slopes = slopes(|t| {
            let there = traced(module, &moved(&here, direction, t));
            (there.path == wide.path).then_some(there.values)
        });
        for (i, slope) in slopes.into_iter().flatten().enumerate() {
            let Some(close) = is_close(slope, shadows[i]) else {
                continue;
            };
            compared.differences += 1;
            compared.nonzero += usize::from(slope.value.abs() > KNOWN);
            if !close {
                return Err(format!(
                    "{} along {direction:?}: shadow {:e}, slope {:e} ± {:e}",
                    name(module, i),
                    shadows[i],
                    slope.value,
                    slope.error
                ));
            }
        }
        let Some(narrow) = &narrow_shadows else {
            continue;
        };
        for (i, range) in narrow[direction as usize].iter().enumerate() {
            let Some(allowed) = range.allowed(shadows[i]) else {
                continue;
            };
            compared.narrow += 1;
            if (range.here - shadows[i]).abs() > allowed {
                return Err(format!(
                    "{} along {direction:?}: shadow {:e} over f64, {:e} over f32, {allowed:e} apart at most",
                    name(module, i),
                    shadows[i],
                    range.here
                ));
            }
        }
    }
    Ok(())
}

/// Holds the derivatives of a module with rules against those of the same without: values are the
/// same, shadows are within rounding.
///
/// # Errors
/// The disagreement.
pub fn check_rules(
    [ruled, unruled]: [&Module; 2],
    point: &Point,
    compared: &mut GradientComparison,
) -> Result<(), String> {
    let [by_rules, by_bodies] =
        [ruled, unruled].map(|module| traced(module, &place::<f64>(module, point)));
    for direction in Direction::BOTH {
        let along = |traced: &Traced| traced.shadows[direction as usize].clone();
        let noisy = noisy::<f64>(unruled, point).map(|traced| along(&traced));
        for (i, (rule, body)) in along(&by_rules)
            .into_iter()
            .zip(along(&by_bodies))
            .enumerate()
        {
            let spread = noisy.each_ref().map(|noisy| match noisy.get(i) {
                Some(noisy) => (noisy - body).abs(),
                None => f64::INFINITY,
            });
            let spread = spread.into_iter().fold(0.0, f64::max);
            if !rule.is_finite() || !body.is_finite() || !spread.is_finite() {
                continue;
            }
            compared.by_rules += 1;
            if (rule - body).abs() > SPREAD * spread + RULED * (rule.abs() + body.abs()) {
                return Err(format!(
                    "rules: {} along {direction:?}: {rule:e} by rules, {body:e} by bodies",
                    name(ruled, i)
                ));
            }
        }
    }
    Ok(())
}

/// Whether a shadow is the slope; nothing if that cannot be said.
fn is_close(slope: EstimatedSlope, shadow: f64) -> Option<bool> {
    let size = slope.value.abs().max(SMALL);
    if !shadow.is_finite() || slope.error.is_nan() || slope.error > KNOWN * size {
        return None;
    }
    Some((slope.value - shadow).abs() <= 4.0 * slope.error + CLOSE * size)
}

/// The point with its globals moved along their shadows.
fn moved(point: &eval::EvalPoint<f64>, direction: Direction, t: f64) -> eval::EvalPoint<f64> {
    let mut moved = point.clone();
    for slot in &mut moved.globals {
        slot.float += t * slot.shadow(direction);
    }
    moved
}

/// A shadow over `f32`, and where it lies with noise.
struct Range {
    here: f64,
    low: f64,
    high: f64,
}

impl Range {
    /// How far it may be from the shadow over `f64`; nothing if it says nothing.
    fn allowed(&self, wide: f64) -> Option<f64> {
        let size = wide.abs().max(SMALL);
        let spread = SPREAD * (self.high - self.low);
        (wide.is_finite() && spread < 0.1 * size).then_some(spread + CLOSE_F32 * size)
    }
}

/// What a point gives where every operation errs by units of `F`.
fn noisy<F: Rounds>(module: &Module, point: &Point) -> [Traced; 4] {
    [
        traced(module, &place::<Noisy<F, 0>>(module, point)),
        traced(module, &place::<Noisy<F, 1>>(module, point)),
        traced(module, &place::<Noisy<F, 2>>(module, point)),
        traced(module, &place::<Noisy<F, 3>>(module, point)),
    ]
}

/// The shadows over `f32` with their ranges, where they take the path given, with noise too.
fn narrow(module: &Module, point: &Point, path: u64) -> Option<[Vec<Range>; 2]> {
    let on_path = |traced: Traced| (traced.path == path).then_some(traced.shadows);
    let here = on_path(traced(module, &place::<f32>(module, point)))?;
    let mut ranges = here.map(|shadows| {
        let range = |here| Range {
            here,
            low: here,
            high: here,
        };
        shadows.into_iter().map(range).collect::<Vec<Range>>()
    });
    for noisy in noisy::<f32>(module, point) {
        let shadows = on_path(noisy)?;
        for (ranges, shadows) in ranges.iter_mut().zip(shadows) {
            for (range, shadow) in ranges.iter_mut().zip(shadows) {
                range.low = range.low.min(shadow);
                range.high = range.high.max(shadow);
            }
        }
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::{FileId, Lanes, text};

    /// u = x·y, a sample at (sin u, y), o = |u| + x.
    const PROGRAM: &str = "adumbra ir 1
global x: float
global y: float
texture wood
output o: float
entry main
fn main() -> (f32:xy) ^0 {
  %0: f32:xy = global x[0]
  %1: f32:xy = global y[0]
  %2: f32:xy = mul %0, %1
  %3: f32:xy = sin %2
  %4: f32, %5: f32, %6: f32, %7: f32 = sample wood(%3, %1)
  %8: f32:xy = abs %2
  %9: f32:xy = add %8, %0
  return %9
}";

    fn module() -> Module {
        let module = text::parse(PROGRAM, FileId::MAIN).expect("the program is IR");
        adumbra_ir::verify(&module).expect("the program is right");
        module
    }

    fn at(x: f32, y: f32) -> Point {
        let global = |value: f32, ddx: f32, ddy: f32| crate::generate::GlobalBits {
            value: vec![value.to_bits()],
            ddx: vec![ddx.to_bits()],
            ddy: vec![ddy.to_bits()],
        };
        vec![global(x, 1.0, 0.25), global(y, -0.5, 0.75)]
    }

    #[test]
    fn right_derivatives_are_compared_and_agree() {
        let mut compared = GradientComparison::default();
        check(&module(), &at(0.75, -1.5), &mut compared).expect("the derivatives are right");
        assert_eq!(
            (compared.total, compared.differences, compared.narrow),
            (6, 6, 6)
        );
        assert_eq!(compared.hollow(), None);
    }

    #[test]
    fn lost_lane_is_found() {
        let mut lost = module();
        lost.functions[0].values[3].lanes = Lanes::Y;
        let found = check(&lost, &at(0.75, -1.5), &mut GradientComparison::default());
        assert!(found.is_err_and(|e| e.contains("u of request 0 along X")));
    }

    #[test]
    fn slopes_across_a_kink_are_not_compared() {
        // u is zero here, so its sides lie on both sides of the stencil.
        let mut compared = GradientComparison::default();
        check(&module(), &at(0.0, -1.5), &mut compared).expect("nothing to be compared");
        assert_eq!(compared.differences, 0);
        assert!(compared.hollow().is_some());
    }
}
