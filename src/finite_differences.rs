//! Central differences of the f64 reference, to compare with automatic differentiation.
//!
//! No one distance fits every function: `sin(1e6 * x)` asks for a short one, `x + 1e9` for a long
//! one, and the root of a small number for one that stays within its domain. So the distance grows
//! from a short one, until the slope agrees with that of the next longer one, and as long as it
//! agrees better and better: beyond, a function that has decayed has a slope of 0 by any two. If
//! none agree, shorter ones are tried.

use crate::evaluator::reference::reference_point;
use crate::globals::{PointGlobals, point_words};
use crate::program::Instance;
use adumbra_ir::Direction;
use adumbra_ir::buffer::BufferNumbers;
use adumbra_ir::eval::{self, EvalOutcome, EvalPoint, EvalValue, Number, Progress};
use adumbra_ir::host::{Host, Limits};
use adumbra_ir::module::{BufferId, InstKind, Module};
use adumbra_vm::FloatEnvironment;

/// The most distances that are tried, each [`STEP_RATIO`] times as long as the one before, and how
/// many shorter ones if none of these agree.
const STEPS: usize = 20;
const SHORTER_STEPS: usize = 3;
const STEP_RATIO: f64 = 16.0;

/// By how much two slopes of one function may differ, in proportion.
const AGREEMENT: f64 = 1e-5;

/// A point beside the point itself may take [`SIDE_STEPS`] times its steps, and
/// [`MORE_SIDE_STEPS`]: one that takes longer has another path.
const SIDE_STEPS: u64 = 16;
const MORE_SIDE_STEPS: u64 = 1 << 12;

/// The shortest distance that is tried, in pixels, where all that moves is 0.
const LEAST_STEP: f64 = 1.0 / (1_u64 << 48) as f64;

/// The least move of a number at first, over its value: 8 floats or more, so that the steps of what
/// is rounded to f32 are seen.
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
/// where a scalar is no float. `None` if the point itself was stopped, or the host let it wait.
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
    let reference = WidePoint::new(instance, globals, Limits::default());
    let middle = reference.evaluate(&reference.start, u64::MAX, host)?;
    let mut differences: Vec<CentralDifference> = (middle.outputs.iter())
        .map(|slot| CentralDifference {
            value: slot.float,
            derivatives: [0.0; 2],
            smooth: [true; 2],
        })
        .collect();
    for direction in Direction::BOTH {
        let globals = reference.start.globals.iter();
        let motion = Motion {
            globals: globals.map(|slot| slot.shadow(direction)).collect(),
            inputs: vec![0.0; reference.start.inputs.len()],
            buffer: None,
        };
        let along = reference.differences(&middle, &motion, host);
        for (difference, found) in differences.iter_mut().zip(along) {
            let at = direction as usize;
            (difference.derivatives[at], difference.smooth[at]) = found;
        }
    }
    Some(differences)
}

/// A number that parameters of a program have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterScalar {
    /// A scalar of the inputs, counted over all of them.
    Input(usize),
    /// A scalar of the globals, counted over all of them.
    Global(usize),
    /// A number of a buffer: the buffer among [`Program::buffers`](crate::Program::buffers), and
    /// the number.
    Buffer(usize, usize),
}

/// Moves one number of inputs, globals or buffers after the other to either side, and evaluates in
/// f64, for steps of several lengths. Gives for each of them the difference quotient of each scalar
/// of the outputs in order, and whether both sides took the path of the middle, as
/// [`CentralDifference`] has them. `None` as for [`central_differences`].
///
/// ```
/// use adumbra::{Compiler, Globals, GlobalsLayout, Instance, Limits, NoTextures, Sources};
/// use adumbra::derivatives::{ParameterScalar, parameter_differences};
/// let sources = Sources::new("s.adu", "shader s(float a = 3.0, out float o) { o = a * a; }");
/// let instance = Instance::new(&Compiler::new(GlobalsLayout::new()).compile(&sources)?);
/// let globals = Globals::new(instance.program().globals());
/// let by_a = [ParameterScalar::Input(0)];
/// let found = parameter_differences(&instance, &globals, &by_a, Limits::default(), &mut NoTextures);
/// let (slope, is_smooth) = found.unwrap()[0][0];
/// assert!((slope - 6.0).abs() < 1e-9 && is_smooth);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the globals have another layout than the program's, or there is no such scalar.
pub fn parameter_differences<G: PointGlobals>(
    instance: &Instance,
    globals: &G,
    parameters: &[ParameterScalar],
    limits: Limits,
    host: &mut dyn Host<f64>,
) -> Option<Vec<Vec<(f64, bool)>>> {
    let _mode = FloatEnvironment::enter();
    let reference = WidePoint::new(instance, globals, limits);
    let middle = reference.evaluate(&reference.start, u64::MAX, host)?;
    let motions = parameters.iter().map(|by| reference.motion_of(*by));
    let slopes = motions.map(|motion| reference.differences(&middle, &motion, host));
    Some(slopes.collect())
}

/// How much each scalar of the globals and inputs moves by a step.
struct Motion {
    globals: Vec<f64>,
    inputs: Vec<f64>,
    /// The number of a buffer that moves by 1, and what it is.
    buffer: Option<(BufferId, usize, f64)>,
}

/// A point of a program in f64.
struct WidePoint<'m> {
    module: &'m Module,
    options: eval::EvalOptions,
    start: EvalPoint<f64>,
    /// By scalar of the globals: whether the module reads it.
    is_read: Vec<bool>,
}

impl<'m> WidePoint<'m> {
    fn new<G: PointGlobals>(instance: &'m Instance, globals: &G, limits: Limits) -> WidePoint<'m> {
        let program = instance.program();
        let module = program.module();
        let mut buffer = Vec::new();
        let globals = point_words(globals, program.globals(), &mut buffer);
        WidePoint {
            module,
            options: eval::EvalOptions {
                limits,
                path: true,
                ..eval::EvalOptions::default()
            },
            start: widen(&reference_point(globals, instance)),
            is_read: read_globals(module),
        }
    }

    /// Evaluates a point, which may take that number of steps and those of the limits.
    fn evaluate(
        &self,
        point: &EvalPoint<f64>,
        steps: u64,
        host: &mut dyn Host<f64>,
    ) -> Option<EvalOutcome<f64>> {
        let mut options = self.options;
        options.limits.steps = options.limits.steps.min(steps);
        match eval::begin(self.module, point, &options, host) {
            Progress::Done(outcome) if outcome.faults.stopped().is_none() => Some(outcome),
            _ => None,
        }
    }

    /// The motion of one number by 1.
    fn motion_of(&self, parameter: ParameterScalar) -> Motion {
        let mut motion = Motion {
            globals: vec![0.0; self.start.globals.len()],
            inputs: vec![0.0; self.start.inputs.len()],
            buffer: None,
        };
        match parameter {
            ParameterScalar::Input(at) => motion.inputs[at] = 1.0,
            ParameterScalar::Global(at) => motion.globals[at] = 1.0,
            ParameterScalar::Buffer(buffer, at) => {
                let buffer = BufferId(buffer as u32);
                let BufferNumbers::Floats(floats) = self.start.buffers.numbers(buffer) else {
                    panic!("a buffer of floats");
                };
                motion.buffer = Some((buffer, at, floats[at].into()));
            }
        }
        motion
    }

    /// The slope of each scalar of the outputs along a motion, and whether it is smooth there.
    fn differences(
        &self,
        middle: &EvalOutcome<f64>,
        motion: &Motion,
        host: &mut dyn Host<f64>,
    ) -> Vec<(f64, bool)> {
        let scale = self.scale(motion);
        let step = match scale {
            0.0 => LEAST_STEP,
            _ => LEAST_MOVE * scale,
        };
        let long = self.estimates(middle, motion, scale, (step, STEPS), host);
        let short = match long.iter().all(|estimates| agreeing(estimates).is_some()) {
            true => vec![Vec::new(); long.len()],
            false => {
                let shortest = (0..SHORTER_STEPS).fold(step, |step, _| step / STEP_RATIO);
                let steps = (shortest, SHORTER_STEPS + 1);
                self.estimates(middle, motion, scale, steps, host)
            }
        };
        let slopes = long.iter().zip(&short).map(|(long, short)| {
            match agreeing(long).or_else(|| agreeing(short)) {
                Some((slope, _)) => (slope, true),
                None => least_apart(long),
            }
        });
        slopes.collect()
    }

    /// The differences of each scalar of the outputs by steps of rising length, at most as many as
    /// `count`: until all have agreed best.
    fn estimates(
        &self,
        middle: &EvalOutcome<f64>,
        motion: &Motion,
        scale: f64,
        (mut step, count): (f64, usize),
        host: &mut dyn Host<f64>,
    ) -> Vec<Vec<Estimate>> {
        let steps = (middle.steps.saturating_mul(SIDE_STEPS)).saturating_add(MORE_SIDE_STEPS);
        let mut estimates: Vec<Vec<Estimate>> = vec![Vec::new(); middle.outputs.len()];
        for _ in 0..count {
            let sides =
                [step, -step].map(|step| self.evaluate(&self.moved(motion, step), steps, host));
            if let [Some(above), Some(below)] = sides {
                let is_same_path = [&above, &below].iter().all(|side| side.path == middle.path);
                let sides = above.outputs.iter().zip(&below.outputs);
                let middle = middle.outputs.iter().map(|slot| slot.float);
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
            if (estimates.iter()).all(|own| agreeing(own).is_some_and(|(_, is_best)| is_best)) {
                break;
            }
            step *= STEP_RATIO;
        }
        estimates
    }

    /// The greatest value of what is read and moves, over its move by a step.
    fn scale(&self, motion: &Motion) -> f64 {
        let globals = self.start.globals.iter().zip(&motion.globals);
        let read = globals.zip(&self.is_read).filter(|(_, read)| **read);
        let inputs = self.start.inputs.iter().zip(&motion.inputs);
        let scales = (read.map(|(global, _)| global).chain(inputs))
            .map(|(slot, step)| slot.float.abs() / step.abs());
        let buffer = motion.buffer.map(|(_, _, number)| number.abs());
        scales
            .chain(buffer)
            .filter(|scale| scale.is_finite())
            .fold(0.0, f64::max)
    }

    fn moved(&self, motion: &Motion, step: f64) -> EvalPoint<f64> {
        let mut moved = self.start.clone();
        for (slots, motion) in [
            (&mut moved.globals, &motion.globals),
            (&mut moved.inputs, &motion.inputs),
        ] {
            for (slot, motion) in slots.iter_mut().zip(motion) {
                slot.float += step * motion;
            }
        }
        moved.replaced = motion
            .buffer
            .map(|(buffer, at, number)| (buffer, at, number + step));
        moved
    }
}

/// A difference by one step.
#[derive(Clone, Copy)]
struct Estimate {
    slope: f64,
    /// How far rounded values may move it.
    rounding: f64,
    is_smooth: bool,
}

/// How far two estimates disagree, in proportion, and may by rounding.
fn disagreement(pair: &[Estimate]) -> f64 {
    let [a, b] = [pair[0].slope, pair[1].slope];
    ((a - b).abs() + pair[0].rounding) / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
}

/// Of estimates by steps of rising length, the first that agrees with the next, both smooth, or the
/// last of those after it that each agree better; and whether longer steps agree less.
fn agreeing(estimates: &[Estimate]) -> Option<(f64, bool)> {
    let error = |pair: &[Estimate]| match pair.iter().all(|estimate| estimate.is_smooth) {
        // No number is no agreement.
        true => f64::INFINITY.min(disagreement(pair)),
        false => f64::INFINITY,
    };
    let mut pairs = estimates
        .windows(2)
        .skip_while(|pair| error(pair) > AGREEMENT);
    let mut best = pairs.next()?;
    for pair in pairs {
        if error(pair) >= error(best) {
            return Some((best[0].slope, true));
        }
        best = pair;
    }
    Some((best[0].slope, false))
}

/// Of the smooth estimates the slope that differs least from the next in proportion, or else of
/// all; and whether it is smooth.
fn least_apart(estimates: &[Estimate]) -> (f64, bool) {
    let least = |is_chosen: &dyn Fn(&Estimate) -> bool| {
        let pairs = estimates.windows(2);
        let pairs = pairs.filter(|pair| pair.iter().all(is_chosen));
        let pairs = pairs.filter(|pair| !disagreement(pair).is_nan());
        let least = pairs.min_by(|a, b| disagreement(a).total_cmp(&disagreement(b)));
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

fn widen(point: &EvalPoint) -> EvalPoint<f64> {
    let slot = |slot: &EvalValue| EvalValue {
        word: slot.word,
        float: slot.float.to_f64(),
        shadows: slot.shadows.map(Number::to_f64),
    };
    EvalPoint {
        globals: point.globals.iter().map(slot).collect(),
        inputs: point.inputs.iter().map(slot).collect(),
        buffers: point.buffers.clone(),
        replaced: None,
    }
}
