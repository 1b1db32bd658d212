//! Reverse mode of every op of the table against slopes of its specification, and mutations of
//! that: each instruction of the derived code is altered, and the check must notice.
//!
//! A mutation that changes no gradient here, as of a value that nothing reads, is equivalent; those
//! are counted apart.

use super::derivatives::{calling, derived, written};
use super::*;
use crate::builder::FunctionBuilder;
use crate::derivative::DifferentiationMode;
use crate::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use crate::host::ConstantTexture;
use crate::module::*;
use crate::span::Span;
use adumbra_ops::definition::OperandKind;

pub(super) fn float_ops() -> impl Iterator<Item = Op> {
    (Op::ALL.iter().copied()).filter(|op| op.info().is_differentiable())
}

/// The function of one op. With `used_again` it has its float operands for further results.
pub(super) fn function_of(op: Op, used_again: bool) -> Function {
    let span = Span::default();
    let mut builder = FunctionBuilder::new("f", span);
    let operands = op.info().operands.iter();
    let types: Vec<Scalar> = operands
        .map(|kind| match kind {
            OperandKind::Bool => Scalar::Bool,
            _ => Scalar::F32,
        })
        .collect();
    let args: Vec<ValueId> = types.iter().map(|&ty| builder.param(ty, span)).collect();
    let mut results = vec![builder.op(op, &args, span)];
    if used_again {
        let floats = args.iter().zip(&types).filter(|a| *a.1 == Scalar::F32);
        results.extend(floats.map(|(&arg, _)| arg));
    }
    let result = FuncResult {
        ty: Scalar::F32,
        lanes: Lanes::NONE,
    };
    let count = results.len();
    builder.terminate(InstKind::Return, results, span);
    let mut f = builder.finish();
    f.results = vec![result; count];
    f
}

/// A shader that calls the backward derivative of one op, and which function the derivative is.
/// Outputs are gradients by float operand; with `used_again` they are sums.
fn gradient_of(op: Op, used_again: bool) -> (Module, FuncId) {
    let mut shader = module("fn main() -> () ^0 {\n  return\n}");
    let id = FuncId(shader.functions.len() as u32);
    shader.functions.push(function_of(op, used_again));
    let derivative = derived(&mut shader, DifferentiationMode::Backward, id);
    (written(calling(shader, derivative)), derivative)
}

/// Operands, then cotangents; and the gradient, by float operand, where differences show it.
struct Sample {
    inputs: Vec<f64>,
    gradient: Vec<Option<f64>>,
}

/// The function that an op is near some operands: its specification, but where the derivative is
/// given.
fn near(op: Op, operands: &[f64], moved: &[f64]) -> f64 {
    match op {
        Op::Held => operands[0],
        Op::Sloped => moved[0] + moved[1] * (moved[2] - operands[2]),
        _ => op.spec(moved),
    }
}

/// The specification's slope along one operand, by differences of two widths and Richardson's
/// extrapolation, if they agree and stay on one smooth segment.
fn slope(op: Op, operands: &[f64], along: usize) -> Option<f64> {
    let segment = op.smooth_segment(operands);
    let at = |offset: f64| {
        let mut moved = operands.to_vec();
        moved[along] += offset;
        (op.smooth_segment(&moved) == segment).then(|| near(op, operands, &moved))
    };
    let central = |h: f64| Some((at(h)? - at(-h)?) / (2.0 * h));
    let width = 1e-3 * operands[along].abs().clamp(0.05, 1.0);
    let [wide, middle, narrow] = [1.0, 0.5, 0.25].map(|factor| central(width * factor));
    let extrapolated = |wide: f64, narrow: f64| (4.0 * narrow - wide) / 3.0;
    let (before, slope) = (extrapolated(wide?, middle?), extrapolated(middle?, narrow?));
    ((before - slope).abs() < TOLERANCE / 10.0 * (1.0 + slope.abs())).then_some(slope)
}

/// How far a gradient may be from differences, relative to 1 and it.
const TOLERANCE: f64 = 1e-6;

/// Samples of an op: inside its test intervals, and with cotangent 0 at zeros, where partials may
/// be infinite.
fn samples(op: Op, used_again: bool) -> Vec<Sample> {
    let info = op.info();
    let mut random = fastrand::Rng::with_seed(op as u64 + 1);
    let count = if info.shares_shadow_routine { 8 } else { 30 };
    let is_float = |i: &usize| info.operands[*i] != OperandKind::Bool;
    let floats: Vec<usize> = (0..op.arity()).filter(is_float).collect();
    let mut samples: Vec<Sample> = (0..count)
        .map(|_| {
            let operands: Vec<f64> = (info.operands.iter().zip(info.test_intervals))
                .map(|(kind, interval)| match kind {
                    OperandKind::Bool => f64::from(u8::from(random.bool())),
                    _ => interval.low + (interval.high - interval.low) * random.f64(),
                })
                .collect();
            let weight = random.f64() * 3.0 - 1.0;
            let more = |i: usize| if used_again { 0.7 + i as f64 } else { 0.0 };
            let gradient = (floats.iter().enumerate())
                .map(|(i, &along)| Some(slope(op, &operands, along)? * weight + more(i)))
                .collect();
            let mut inputs = operands;
            inputs.push(weight);
            if used_again {
                inputs.extend((0..floats.len()).map(more));
            }
            Sample { inputs, gradient }
        })
        .collect();
    if !used_again && floats.len() == op.arity() {
        let operands = vec![0.0; op.arity()];
        let partials = op.partials(&operands, op.spec(&operands));
        let singular = op.strong_partials();
        let gradient = floats
            .iter()
            .map(|&i| (singular[i] || partials[i].is_finite()).then_some(0.0));
        samples.push(Sample {
            gradient: gradient.collect(),
            inputs: [operands, vec![0.0]].concat(),
        });
    }
    samples
}

/// What a shader gives in f64.
pub(super) fn outputs(shader: &Module, inputs: &[f64]) -> Vec<f64> {
    let inputs = (shader.inputs.iter().zip(inputs))
        .map(|(input, &x)| match input.ty {
            crate::types::Type::Scalar(Scalar::Bool) => EvalValue::word(x as u32),
            _ => EvalValue::float(x, [0.0; 2]),
        })
        .collect();
    let point = EvalPoint {
        globals: vec![EvalValue::default(); shader.globals.len()],
        inputs,
        buffers: Default::default(),
        replaced: None,
    };
    let mut host = ConstantTexture([0.5; 4]);
    let outcome = evaluate(shader, &point, &EvalOptions::default(), &mut host);
    outcome.outputs.iter().map(|output| output.float).collect()
}

/// The gradients of samples that can be compared, up to the first wrong one, and what is wrong with
/// it.
fn run(shader: &Module, samples: &[Sample]) -> (Vec<f64>, Option<String>) {
    let mut compared = Vec::new();
    for sample in samples {
        let got = outputs(shader, &sample.inputs);
        for (i, (&got, &want)) in got.iter().zip(&sample.gradient).enumerate() {
            let Some(want) = want else {
                continue;
            };
            compared.push(got);
            if (got - want).abs() > TOLERANCE * (1.0 + want.abs()) || got.is_nan() {
                let inputs = &sample.inputs;
                let fault = format!("{inputs:?}: gradient {i} is {got}, slope {want}");
                return (compared, Some(fault));
            }
        }
    }
    (compared, None)
}

/// Whether gradients differ by rounding at most.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > TOLERANCE / 10.0 * (1.0 + b.abs());
    !a.iter().zip(b).any(differs)
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// The sign of a float, a boolean's truth, another number.
    Negated,
    /// A float by one part in a hundred.
    Scaled,
    /// A float by 1/4.
    Raised,
    /// Two gradients exchanged.
    Exchanged(usize, usize),
}

/// A shader in which one instruction of the derivative is altered.
fn altered(shader: &Module, derivative: FuncId, at: usize, change: Change) -> Option<Module> {
    let mut shader = shader.clone();
    let function = &mut shader.functions[derivative.index()];
    let body = function.body.index();
    let inst = function.regions[body].insts[at].clone();
    if let Change::Exchanged(a, b) = change {
        function.regions[body].insts[at].args.swap(a, b);
        return Some(shader);
    }
    let (result, span) = (inst.results.first, inst.span);
    let ty = function.value(result).ty;
    let mut add = |at: usize, kind: InstKind, args: &[ValueId]| {
        let first = ValueId(function.values.len() as u32);
        let mut value = *function.value(result);
        value.name = None;
        function.values.push(value);
        let results = Results { first, count: 1 };
        let args = Args::from_slice(args);
        let inst = Inst {
            kind,
            args,
            results,
            span,
        };
        function.regions[body].insts.insert(at, inst);
        first
    };
    let constant = |change: Change| match change {
        Change::Scaled => 1.01f32,
        _ => 0.25,
    };
    let new = match (ty, change) {
        (Scalar::F32, Change::Negated) => add(at + 1, InstKind::Op(Op::Neg), &[result]),
        (Scalar::F32, _) => {
            let by = add(at + 1, InstKind::Const(constant(change).to_bits()), &[]);
            let op = match change {
                Change::Scaled => Op::Mul,
                _ => Op::Add,
            };
            add(at + 2, InstKind::Op(op), &[result, by])
        }
        (Scalar::Bool, Change::Negated) => add(at + 1, InstKind::Op(Op::LNot), &[result]),
        (_, Change::Negated) => add(at + 1, InstKind::Op(Op::Not), &[result]),
        _ => return None,
    };
    let insts = &mut function.regions[body].insts;
    let after = insts
        .iter_mut()
        .skip_while(|inst| inst.results.first != new || inst.results.count == 0);
    for arg in after.skip(1).flat_map(|inst| &mut inst.args) {
        if *arg == result {
            *arg = new;
        }
    }
    Some(shader)
}

/// The most instructions of a derivative that are altered, spread over it: noise has thousands.
const MAX_ALTERED: usize = 24;

/// The mutations of a derivative's code, from its end on, where the gradients are.
fn mutations(function: &Function) -> Vec<(usize, Change)> {
    let insts = &function.region(function.body).insts;
    let mut all = Vec::new();
    // Of the forward sweep only what gradients are made of.
    let mut is_read = vec![false; function.values.len()];
    let mut read: Vec<(usize, &Inst)> = Vec::new();
    for (at, inst) in insts.iter().enumerate().rev() {
        if inst.kind.is_terminator() || is_read[inst.results.first.index()] {
            inst.args.iter().for_each(|arg| is_read[arg.index()] = true);
            read.push((at, inst));
        }
    }
    let step = read.len().div_ceil(MAX_ALTERED);
    for (at, inst) in read.into_iter().step_by(step) {
        if inst.kind == InstKind::Return {
            let pairs = (0..inst.args.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            all.extend(pairs.map(|(a, b)| (at, Change::Exchanged(a, b))));
        } else {
            all.extend([Change::Negated, Change::Scaled, Change::Raised].map(|c| (at, c)));
        }
    }
    all
}

#[test]
fn altered_gradients_of_ops_are_caught() {
    let (mut caught, mut equivalent, mut survivors) = (0, Vec::new(), Vec::new());
    let again = |op: Op| !op.info().shares_shadow_routine;
    let variants = float_ops().flat_map(|op| [Some((op, false)), again(op).then_some((op, true))]);
    for (op, used_again) in variants.flatten() {
        let (shader, derivative) = gradient_of(op, used_again);
        let samples = samples(op, used_again);
        let (gradients, fault) = run(&shader, &samples);
        let name = op.info().name;
        assert_eq!(fault, None, "{name}, used again: {used_again}");
        let compared = samples.iter().flat_map(|sample| &sample.gradient);
        let usable = compared.clone().filter(|slope| slope.is_some()).count();
        let all = compared.count();
        assert!(
            usable * 10 >= all * 6,
            "{name}: only {usable} of {all} slopes"
        );
        for (at, change) in mutations(shader.function(derivative)) {
            let Some(mutant) = altered(&shader, derivative, at, change) else {
                continue;
            };
            let kind = &shader
                .function(derivative)
                .region(shader.function(derivative).body)
                .insts[at]
                .kind;
            let line = format!("{name} {used_again} {kind:?} {at} {change:?}");
            match run(&mutant, &samples) {
                (_, Some(_)) => caught += 1,
                (same, None) if is_same(&same, &gradients) => equivalent.push(line),
                _ => survivors.push(line),
            }
        }
    }
    println!(
        "{caught} mutations caught; {} change nothing:",
        equivalent.len()
    );
    equivalent.iter().for_each(|line| println!("  {line}"));
    println!("survivors: {}", survivors.len());
    survivors.iter().for_each(|line| println!("  {line}"));
    assert!(survivors.is_empty());
    assert!(caught > 2 * equivalent.len(), "the suite is hollow");
}
