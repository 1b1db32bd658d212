//! Central differences of the f64 reference, to compare with automatic differentiation.
//!
//! No one distance fits every function: `sin(1e6 * x)` asks for a short one, `x + 1e9` for a long
//! one, and the root of a small number for one that stays within its domain. So several are tried,
//! and what differs least from the next longer one is kept.

use crate::evaluator::reference::reference_point;
use crate::globals::{PointGlobals, point_words};
use crate::program::Instance;
use adumbra_ir::Direction;
use adumbra_ir::eval::{self, EvalOutcome, EvalPoint, EvalValue, Number, Progress};
use adumbra_ir::host::{Host, Limits};
use adumbra_ir::module::{InstKind, Module};
use adumbra_vm::FloatEnvironment;

/// The distances that are tried, each [`STEP_RATIO`] times as long as the one before.
const STEPS: usize = 20;
const STEP_RATIO: f64 = 16.0;

/// The shortest distance that is tried, in pixels, where all that moves is 0.
const LEAST_STEP: f64 = 1.0 / (1_u64 << 48) as f64;

/// The least move of a global, over its value: 8 floats or more, so that the steps of what is
/// rounded to f32 are seen.
const LEAST_MOVE: f64 = 1.0 / (1 << 20) as f64;

/// Central differences of one scalar of the outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentralDifference {
    /// The value in f64.
    pub value: f64,
    /// Per direction, x then y: the difference of the values a step to each side, per pixel. NaN if
    /// no step has a finite one.
    pub derivatives: [f64; 2],
    /// Per direction, whether both sides took the path of the middle: through the same branches, on
    /// the same side of every kink, with finite values. If not, the difference means little.
    pub smooth: [bool; 2],
}

/// Moves every global by a step times its derivative to either side, along x and then along y, and
/// evaluates in f64, for steps of several lengths. Gives the scalars of the outputs in order: zero
/// where a scalar is no float. `None` if the program was loaded, the point itself was stopped, or
/// the host let it wait.
///
/// ```
/// use adumbra::{Compiler, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type, derivatives::central_differences};
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
/// let program = compiler.compile_expression(&Sources::new("<expression>", "x * x"))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", 3.0, 1.0, 0.0)?;
/// let differences = central_differences(&Instance::new(&program), &globals, &mut NoTextures).unwrap();
/// assert!((differences[0].derivatives[0] - 6.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the globals have another layout than the program's.
pub fn central_differences<G: PointGlobals>(
    instance: &Instance,
    globals: &G,
    host: &mut dyn Host<f64>,
) -> Option<Vec<CentralDifference>> {
    let _mode = FloatEnvironment::enter();
    let program = instance.program();
    let module = program.module()?;
    let mut buffer = Vec::new();
    let globals = point_words(globals, program.globals(), &mut buffer);
    let options = eval::EvalOptions {
        limits: Limits::default(),
        path: true,
        ..eval::EvalOptions::default()
    };
    let start = widen(&reference_point(globals, instance));
    let mut evaluate = |point: &EvalPoint<f64>| -> Option<EvalOutcome<f64>> {
        match eval::begin(module, point, &options, host) {
            Progress::Done(outcome) if outcome.faults.stopped().is_none() => Some(outcome),
            _ => None,
        }
    };
    let middle = evaluate(&start)?;
    let is_read = read_globals(module);
    let mut differences: Vec<CentralDifference> = middle
        .outputs
        .iter()
        .map(|slot| CentralDifference {
            value: slot.float,
            derivatives: [0.0; 2],
            smooth: [true; 2],
        })
        .collect();
    for direction in Direction::BOTH {
        let scale = scale(&start, &is_read, direction);
        let mut step = match scale {
            0.0 => LEAST_STEP,
            _ => LEAST_MOVE * scale,
        };
        let mut estimates: Vec<Vec<Estimate>> = vec![Vec::new(); differences.len()];
        for _ in 0..STEPS {
            let sides = [step, -step].map(|step| evaluate(&moved(&start, direction, step)));
            if let [Some(above), Some(below)] = sides {
                let is_same_path = [&above, &below].iter().all(|side| side.path == middle.path);
                let sides = above.outputs.iter().zip(&below.outputs);
                let middle = differences.iter().map(|difference| difference.value);
                let slots = estimates.iter_mut().zip(middle).zip(sides);
                for ((estimates, value), (above, below)) in slots {
                    let slope = (above.float - below.float) / (2.0 * step);
                    let values = above.float.abs() + below.float.abs();
                    estimates.push(Estimate {
                        slope,
                        rounding: f64::EPSILON * (values + slope.abs() * scale) / step,
                        is_smooth: is_same_path && value.is_finite() && slope.is_finite(),
                    });
                }
            }
            step *= STEP_RATIO;
        }
        for (difference, estimates) in differences.iter_mut().zip(&estimates) {
            let at = direction as usize;
            (difference.derivatives[at], difference.smooth[at]) = best(estimates);
        }
    }
    Some(differences)
}

/// A difference by one step.
#[derive(Clone, Copy)]
struct Estimate {
    slope: f64,
    /// How far rounded values may move it.
    rounding: f64,
    is_smooth: bool,
}

/// Of the smooth estimates, by steps of rising length, the one that differs least from the next in
/// proportion, or else of all; and whether it is smooth.
fn best(estimates: &[Estimate]) -> (f64, bool) {
    let error = |pair: &[Estimate]| {
        let [a, b] = [pair[0].slope, pair[1].slope];
        ((a - b).abs() + pair[0].rounding) / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
    };
    let least = |is_chosen: &dyn Fn(&Estimate) -> bool| {
        let pairs = estimates.windows(2);
        let pairs = pairs.filter(|pair| pair.iter().all(is_chosen) && !error(pair).is_nan());
        let least = pairs.min_by(|a, b| error(a).total_cmp(&error(b)));
        least.map(|pair| pair[0].slope)
    };
    if let Some(slope) = least(&|estimate| estimate.is_smooth) {
        return (slope, true);
    }
    (least(&|_| true).unwrap_or(f64::NAN), false)
}

/// By scalar of the globals: whether the module reads it.
fn read_globals(module: &Module) -> Vec<bool> {
    let counts = module.globals.iter().map(|global| global.ty.scalar_count());
    let mut firsts = vec![0];
    firsts.extend(counts.scan(0, |all, count| {
        *all += count;
        Some(*all)
    }));
    let mut is_read = vec![false; firsts[module.globals.len()]];
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    for inst in regions.flat_map(|region| &region.insts) {
        if let InstKind::Global(id, scalar) = inst.kind {
            is_read[firsts[id.index()] + scalar as usize] = true;
        }
    }
    is_read
}

/// The greatest value of a global that is read and moves, over its move per pixel.
fn scale(point: &EvalPoint<f64>, is_read: &[bool], direction: Direction) -> f64 {
    let read = point.globals.iter().zip(is_read).filter(|(_, read)| **read);
    let scales = read.map(|(global, _)| {
        let move_per_pixel = global.shadow(direction).abs();
        global.float.abs() / move_per_pixel
    });
    scales.filter(|scale| scale.is_finite()).fold(0.0, f64::max)
}

fn widen(point: &EvalPoint) -> EvalPoint<f64> {
    let slot = |slot: &EvalValue| EvalValue {
        word: slot.word,
        float: slot.float.to_f64(),
        shadows: slot.shadows.map(Number::to_f64),
    };
    EvalPoint {
        globals: point.globals.iter().map(slot).collect(),
        inputs: point.inputs.iter().map(slot).collect(),
    }
}

fn moved(point: &EvalPoint<f64>, direction: Direction, step: f64) -> EvalPoint<f64> {
    let mut moved = point.clone();
    for slot in &mut moved.globals {
        slot.float += step * slot.shadow(direction);
    }
    moved
}
