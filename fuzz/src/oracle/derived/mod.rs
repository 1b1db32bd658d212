//! Derivatives of functions: what must hold of the programs of [`crate::generate::derived`].
//!
//! - [`gradient`]: a gradient is the transpose of the tangents and the slope of the values. Nothing
//!   that differences see is missing in it, unless a diagnostic or the program says so.
//! - [`shadow`]: tangents along the screen are the shadows, to the bit, on every engine.
//! - [`second`]: second derivatives are the same in every nesting, and symmetric.
//! - [`untaken`]: both modes agree wherever the value is finite, whatever else is not.
//! - [`shader`]: gradients of whole shaders without marks, by globals and buffers, in all these
//!   ways.
//! - [`engines`]: all engines agree to the bit, under limits that end anywhere.
//!
//! The names of outputs are what programs give. So they may be cut only around their shader.

pub mod engines;
pub mod gradient;
pub mod second;
pub mod shader;
pub mod shadow;
pub mod untaken;

use super::Disagreement;
use super::chain::{REFUSED, compiler};
use super::modes::CompileMode;
use super::noisy::{Noisy, Rounds};
use super::reference::{limits, place};
use super::richardson::{EstimatedSlope, slopes};
use crate::bundle;
use crate::generate::{GeneratedProgram, Point};
use adumbra::Diagnostics;
use adumbra_ir::Module;
use adumbra_ir::buffer::BufferNumbers;
use adumbra_ir::eval::{EvalOptions, EvalOutcome, EvalPoint, Number, ShadowMode, evaluate};
use adumbra_ir::host::ConstantTexture;
use adumbra_ir::module::BufferId;
use std::fmt;
use std::ops::AddAssign;

/// The greatest magnitude of outputs that are looked at: rounding hides slopes of others.
const MAX_VALUE: f64 = 1e6;

/// Counts of what was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DerivedCounts {
    /// Programs.
    pub programs: usize,
    /// Programs that a diagnostic about derivatives refuses, and rightly.
    pub refused: usize,
    /// Points.
    pub points: usize,
    /// Points that were stopped, or gave numbers that are not finite or too large.
    pub skipped: usize,
    /// Products of weights, derivative and directions that were compared between modes.
    pub products: usize,
    /// Partial derivatives that were held against differences.
    pub differences: usize,
    /// Those of them that are not zero.
    pub nonzero: usize,
    /// Those of these that are by numbers of buffers.
    pub by_buffers: usize,
    /// Gradients of zero though differences see something, with a cause that is written.
    pub explained: usize,
    /// Tangents that were compared with shadows, or points that engines were compared at.
    pub bits: usize,
    /// Points that limits stopped.
    pub stopped: usize,
}

impl DerivedCounts {
    /// Why the counts say too little, if they do.
    pub fn hollow(&self) -> Option<String> {
        let too_little = |what: &str| Some(format!("{what}\n{self}"));
        if self.points < self.programs.saturating_sub(self.refused) {
            return too_little("programs without a point");
        }
        if self.skipped * 4 > self.points {
            return too_little("too many points are skipped");
        }
        if self.differences > 100 && self.nonzero * 5 < self.differences {
            return too_little("too many derivatives are zero");
        }
        (self.products + self.bits == 0).then(|| format!("nothing was compared\n{self}"))
    }
}

impl AddAssign for DerivedCounts {
    fn add_assign(&mut self, other: DerivedCounts) {
        // Each field is named, so that none is forgotten.
        let DerivedCounts {
            programs,
            refused,
            points,
            skipped,
            products,
            differences,
            nonzero,
            by_buffers,
            explained,
            bits,
            stopped,
        } = other;
        self.programs += programs;
        self.refused += refused;
        self.points += points;
        self.skipped += skipped;
        self.products += products;
        self.differences += differences;
        self.nonzero += nonzero;
        self.by_buffers += by_buffers;
        self.explained += explained;
        self.bits += bits;
        self.stopped += stopped;
    }
}

impl fmt::Display for DerivedCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DerivedCounts {
            programs,
            refused,
            points,
            skipped,
            products,
            differences,
            nonzero,
            by_buffers,
            explained,
            bits,
            stopped,
        } = self;
        write!(
            f,
            "{programs} programs ({refused} refused), {points} points ({skipped} skipped): {products} products of two modes; \
             {differences} derivatives against differences ({nonzero} of them not zero, {by_buffers} of those by buffers, {explained} zero with a cause); \
             {bits} to the bit ({stopped} stopped by limits)"
        )
    }
}

/// The part of a source that says what its outputs are: it must stay when a program is cut.
fn frame(source: &str) -> &str {
    let at = source.find("[Differentiable]\nfloat total(");
    let at = at.or_else(|| source.find("shader main("));
    &source[at.unwrap_or(0)..]
}

/// Whether a program means what it did when it was generated: its shader is whole, and so are its
/// custom derivatives.
pub fn is_whole(program: &GeneratedProgram) -> bool {
    let Some((bytes, profile)) = program.choices().filter(|_| program.is_cut()) else {
        return true;
    };
    let whole = GeneratedProgram::generate(bytes, profile).source;
    let is_rule = |line: &&str| {
        line.contains("DifferentialPair<") || line.contains("ubstitute") || line.contains(" c")
    };
    let mut rules = program.source.lines().filter(is_rule);
    frame(&whole) == frame(&program.source) && rules.all(|rule| whole.lines().any(|l| l == rule))
}

/// The module of a program before any pass, or what the checker says.
fn lowered(program: &GeneratedProgram, mode: &CompileMode) -> Result<Module, Diagnostics> {
    let sources = bundle::sources(&program.source)?;
    compiler(mode).lowered(&sources)
}

/// Whether all that is refused is the size of derivatives: those of noise double with each order.
fn is_too_large(no: &Diagnostics) -> bool {
    let mut errors = no.diagnostics.iter().filter(|d| d.is_error());
    errors.all(|d| d.code.to_string() == "E0612")
}

/// Whether a program stops gradients on purpose.
fn stops_gradients(source: &str) -> bool {
    source.contains("no_diff") || source.contains("detach(")
}

/// A report that the checker refuses a program.
pub(super) fn refused(program: &GeneratedProgram, no: &Diagnostics) -> Disagreement {
    Disagreement::new(program, None, format!("{REFUSED}\n{no}"))
}

/// What a program gives over a kind of numbers.
#[derive(Clone, Debug)]
struct Given {
    /// The outputs, then the sums that the point adds to ([`sums`]).
    values: Vec<f64>,
    path: u64,
    /// Whether a fault stopped the point.
    is_stopped: bool,
    /// Whether the point was not stopped, and all numbers are finite and of moderate size.
    is_tame: bool,
}

fn given<F: Number>(module: &Module, point: &EvalPoint<F>) -> Given {
    let options = EvalOptions {
        limits: limits(),
        path: true,
        shadows: ShadowMode::Annotated,
        ..EvalOptions::default()
    };
    let outcome = evaluate(module, point, &options, &mut ConstantTexture([0.5; 4]));
    let outputs = outcome.outputs.iter().map(|o| o.float.to_f64());
    let values: Vec<f64> = outputs.chain(sums(module, point, &outcome)).collect();
    let is_stopped = outcome.faults.iter().any(|fault| fault.kind.stops());
    let is_tame = !is_stopped && values.iter().all(|v| v.abs() < MAX_VALUE);
    Given {
        values,
        path: outcome.path,
        is_stopped,
        is_tame,
    }
}

/// What a point adds to sums: a number for each number of the buffers that the sums are by.
fn sums<F: Number>(module: &Module, point: &EvalPoint<F>, outcome: &EvalOutcome<F>) -> Vec<f64> {
    let mut all = Vec::new();
    let buffers = (0..).map(BufferId).zip(&module.buffers);
    for (id, of) in buffers.filter_map(|(id, buffer)| Some((id, buffer.sum_of?))) {
        let mut sums = vec![0.0; point.buffers.numbers(of).len()];
        for added in outcome.added.iter().filter(|added| added.buffer == id) {
            let at = point.buffers.position(id, added.index, added.number);
            // Nothing is added to a buffer without elements.
            if let Some(sum) = sums.get_mut(at) {
                *sum += added.value.to_f64();
            }
        }
        all.extend(sums);
    }
    all
}

/// An output by the first letter of its name: its place, its number, and the scalar of the globals
/// that moves it.
#[derive(Clone, Copy, Debug)]
struct Named {
    at: usize,
    number: usize,
    global: Option<usize>,
}

/// The outputs whose names begin with a letter.
fn named(module: &Module, letter: char) -> Vec<Named> {
    let outputs = module.outputs.iter().enumerate();
    let found = outputs.filter_map(|(at, output)| {
        let rest = output.name.strip_prefix(letter)?;
        let (number, global) = match rest.split_once('_') {
            Some((number, global)) => (number, global.parse().ok()),
            None => (rest, None),
        };
        Some(Named {
            at,
            number: number.parse().ok()?,
            global,
        })
    });
    found.collect()
}

/// The sum of products of what two letters mean, by number, and the sum of their magnitudes.
fn product(module: &Module, values: &[f64], left: char, right: char) -> (f64, f64) {
    let right = named(module, right);
    let mut sums = (0.0, 0.0);
    for a in named(module, left) {
        if let Some(b) = right.iter().find(|b| b.number == a.number) {
            let term = values[a.at] * values[b.at];
            sums.0 += term;
            sums.1 += term.abs();
        }
    }
    sums
}

/// What differs where the gradient is not the transpose of the tangents, beyond a relative and an
/// absolute error and what can be rounding.
fn modes_apart(
    module: &Module,
    at: &Point,
    here: &Given,
    (relative, absolute): (f64, f64),
) -> Option<String> {
    let of_forward = |values: &[f64]| product(module, values, 'w', 'e').0;
    let difference = |values: &[f64]| of_forward(values) - product(module, values, 'g', 'd').0;
    let (forward, size) = product(module, &here.values, 'w', 'e');
    let (backward, other) = product(module, &here.values, 'g', 'd');
    let apart = (forward - backward).abs();
    let is_apart = || {
        let noise = product_noise(module, at, here, difference)
            + product_noise(module, at, here, of_forward);
        apart > 16.0 * noise
    };
    (apart > relative * (size + other) + absolute && is_apart())
        .then(|| format!("products: {forward:e} forward, {backward:e} backward"))
}

/// A number of the host that differences are by.
#[derive(Clone, Copy, Debug)]
enum HostNumber {
    /// A scalar of the globals.
    Global(usize),
    /// A number of a buffer.
    Buffer(BufferId, usize),
}

/// A point in f64, with a number of the host moved.
fn moved(point: &EvalPoint<f64>, number: HostNumber, by: f64) -> EvalPoint<f64> {
    let mut moved = point.clone();
    match number {
        HostNumber::Global(at) => moved.globals[at].float += by,
        HostNumber::Buffer(buffer, at) => {
            if let BufferNumbers::Floats(floats) = moved.buffers.numbers(buffer) {
                moved.replaced = Some((buffer, at, f64::from(floats[at]) + by));
            }
        }
    }
    moved
}

/// How much of what `of` says can be rounding: what it changes by when every global moves by a few
/// units in the last place, and when every operation errs ([`Noisy`]). Infinite if errors always
/// lead to another path.
fn product_noise(module: &Module, point: &Point, here: &Given, of: impl Fn(&[f64]) -> f64) -> f64 {
    let value = of(&here.values);
    let mut most = 0.0;
    for sign in [-1.0, 1.0] {
        let mut near = wide(module, point);
        for (i, slot) in near.globals.iter_mut().enumerate() {
            let way = if i % 2 == 0 { sign } else { -sign };
            slot.float *= 1.0 + way * 8.0 * f64::EPSILON;
        }
        let there = of(&given(module, &near).values);
        most = f64::max(most, (there - value).abs());
    }
    let noisy = noisy::<f64>(module, point, here);
    if noisy.is_empty() {
        return f64::INFINITY;
    }
    for there in noisy {
        let change = (of(&there.values) - value).abs();
        // Terms that cancel can be so large that what is left of them is not a number.
        most = most.max(if change.is_nan() {
            f64::INFINITY
        } else {
            change
        });
    }
    most
}

/// What a point gives where every operation errs by units of `F` ([`Noisy`]), on the same path.
fn noisy<F: Rounds>(module: &Module, point: &Point, here: &Given) -> Vec<Given> {
    let all = [
        given(module, &place::<Noisy<F, 0>>(module, point)),
        given(module, &place::<Noisy<F, 1>>(module, point)),
        given(module, &place::<Noisy<F, 2>>(module, point)),
        given(module, &place::<Noisy<F, 3>>(module, point)),
    ];
    let on_path = all.into_iter().filter(|there| there.path == here.path);
    on_path.collect()
}

/// How far apart what `of` says is where every operation errs by units of f32. `None` if f32
/// overflows, or takes other paths.
fn spread(module: &Module, point: &Point, here: &Given, of: impl Fn(&[f64]) -> f64) -> Option<f64> {
    let noisy = noisy::<f32>(module, point, here);
    let tame = noisy.iter().filter(|there| there.is_tame);
    let noisy: Vec<f64> = tame.map(|there| of(&there.values)).collect();
    let apart = noisy.iter().map(|there| (there - noisy[0]).abs());
    (noisy.len() > 1).then(|| apart.fold(0.0, f64::max))
}

/// The verdict of differences about a derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    /// They agree.
    Agrees,
    /// Differences say nothing here.
    Unknown,
    /// They see this slope.
    Differs(EstimatedSlope),
}

/// Holds a derivative, the value of that place, by a number of the host against differences of what
/// `of` says, where paths agree.
fn held(
    module: &Module,
    at: &Point,
    here: &Given,
    derivative: usize,
    by: HostNumber,
    of: impl Fn(&[f64]) -> f64,
) -> Verdict {
    const STEP: f64 = 1e-5;
    let point = wide(module, at);
    let given_at = |step: f64| {
        let there = given(module, &moved(&point, by, step));
        (there.path == here.path && there.is_tame).then(|| of(&there.values))
    };
    let found = here.values[derivative];
    let size = found.abs().max(1.0);
    if let (Some(ahead), Some(back)) = (given_at(STEP), given_at(-STEP)) {
        let slope = (ahead - back) / (2.0 * STEP);
        let is_seen = found != 0.0 || slope.abs() < 1e-9;
        if is_seen && (slope - found).abs() <= 1e-7 * size {
            return Verdict::Agrees;
        }
    }
    let Some(estimates) = slopes(|step| given_at(step).map(|value| vec![value])) else {
        return Verdict::Unknown;
    };
    let slope = estimates[0];
    let size = slope.value.abs().max(1e-3);
    if slope.error.is_nan() || slope.error > 1e-4 * size {
        return Verdict::Unknown;
    }
    // The constants of partials are those of the IR, numbers of f32. Where terms cancel, as those
    // of noise, differences show what is lost by that.
    let constants = match found == 0.0 {
        true => 1e-6 * size,
        false => 1e-5 * size.max(0.1),
    };
    let apart = (slope.value - found).abs();
    if apart <= 8.0 * slope.error + constants {
        return Verdict::Agrees;
    }
    // Where errors of f32 make as much, constants do, or values oscillate faster than any step;
    // where f32 overflows, f64 can absorb the step. A derivative that is lost has no spread.
    let spread = spread(module, at, here, |values| values[derivative]);
    match spread.map_or(found != 0.0, |spread| apart <= 4.0 * spread) {
        true => Verdict::Unknown,
        false => Verdict::Differs(slope),
    }
}

/// The point of a program in f64.
fn wide(module: &Module, point: &Point) -> EvalPoint<f64> {
    place::<f64>(module, point)
}
