//! Central differences of the f64 reference, to compare with automatic differentiation.

use crate::evaluator::reference::reference_point;
use crate::globals::{PointGlobals, point_words};
use crate::program::Instance;
use adumbra_ir::Direction;
use adumbra_ir::eval::{self, EvalOutcome, EvalPoint, EvalValue, Number, Progress};
use adumbra_ir::host::{Host, Limits};
use adumbra_vm::FloatEnvironment;

/// The distance that points move to each side, in pixels. It is small against a pixel, and large
/// enough that f64 keeps ten digits of the difference.
pub const DIFFERENCE_STEP: f64 = 1.0 / (1 << 17) as f64;

/// Central differences of one scalar of the outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CentralDifference {
    /// The value in f64.
    pub value: f64,
    /// Per direction, x then y: half the difference of the values a step to each side, per pixel.
    pub derivatives: [f64; 2],
    /// Per direction, whether both sides took the path of the middle: through the same branches, on
    /// the same side of every kink. If not, the difference means little.
    pub smooth: [bool; 2],
}

/// Moves every global by a step times its derivative to either side, along x and then along y, and
/// evaluates in f64. Gives the scalars of the outputs in order: zero where a scalar is no float.
/// `None` if the program was loaded, a point was stopped, or the host let one wait.
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
        let [above, below] = [DIFFERENCE_STEP, -DIFFERENCE_STEP]
            .map(|step| evaluate(&moved(&start, direction, step)));
        let (above, below) = (above?, below?);
        let smooth = [&above, &below].iter().all(|side| side.path == middle.path);
        let sides = above.outputs.iter().zip(&below.outputs);
        for (difference, (above, below)) in differences.iter_mut().zip(sides) {
            let at = direction as usize;
            difference.derivatives[at] = (above.float - below.float) / (2.0 * DIFFERENCE_STEP);
            difference.smooth[at] = smooth;
        }
    }
    Some(differences)
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
