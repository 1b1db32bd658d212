//! Gradients by pairs of samples: secants of every op, straight-line code of random modules, and
//! samples that are equal.

use super::op_gradients::float_ops;
use super::*;
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, Number, evaluate};
use crate::host::ConstantTexture;
use crate::random::generate;
use crate::verify;
use adumbra_ops::definition::OpClass;

const MODULES: u64 = 6000;

/// Evaluates a module; globals that are not set follow from their names, so that a neighbour that
/// is not set is the same sample.
fn run<F: Number>(module: &Module, inputs: &[f32], set: &[(&str, f32)]) -> EvalOutcome<F> {
    let mut point = EvalPoint::<F>::new(module);
    for (value, &input) in point.inputs.iter_mut().zip(inputs) {
        *value = EvalValue::from_bits(Scalar::F32, input.to_bits());
    }
    let mut scalar = 0;
    for global in &module.globals {
        let name = &global.name;
        let own = name
            .strip_prefix("there(")
            .and_then(|name| name.strip_suffix(')'));
        let own = own.unwrap_or(name);
        let found = set.iter().find(|(known, _)| known == name);
        let number = match found {
            Some((_, number)) => *number,
            None if own.starts_with("d(") => 1.0,
            None => 0.3 + (own.bytes().map(u32::from).sum::<u32>() % 7) as f32,
        };
        global.ty.for_each_scalar(&mut |ty| {
            let bits = match ty {
                Scalar::F32 => number.to_bits(),
                _ => number as i32 as u32,
            };
            point.globals[scalar] = EvalValue::from_bits(ty, bits);
            scalar += 1;
        });
    }
    let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    evaluate(module, &point, &EvalOptions::default(), &mut host)
}

/// The number of the first scalar of an output.
fn first_of(module: &Module, name: &str) -> usize {
    let outputs = module.outputs.iter();
    let before = outputs.take_while(|output| output.name != name);
    before.map(|output| output.ty.scalar_count()).sum()
}

fn by_all(module: &Module, with_globals: bool) -> EntryDerivative {
    let numbers = |types: Vec<&crate::types::Type>| -> Vec<usize> {
        let types = types.into_iter().enumerate();
        types
            .filter_map(|(at, ty)| tangent_type(ty).map(|_| at))
            .collect()
    };
    EntryDerivative {
        mode: crate::derivative::DifferentiationMode::Backward,
        outputs: numbers(module.outputs.iter().map(|output| &output.ty).collect()),
        inputs: numbers(module.inputs.iter().map(|input| &input.ty).collect()),
        globals: match with_globals {
            true => numbers(module.globals.iter().map(|global| &global.ty).collect()),
            false => Vec::new(),
        },
        buffers: Vec::new(),
        textures: Vec::new(),
        nested: 0,
        passes_shadows: false,
    }
}

/// A shader of an op whose operands are the first inputs where g is negative, and the others where
/// it is not.
fn jumping(op: Op) -> Module {
    let count = op.arity();
    let params: Vec<String> = (0..2 * count).map(|at| format!("%{at}: f32")).collect();
    let mut text = format!("fn main({}) -> (f32) ^0 {{\n", params.join(", "));
    let at = 2 * count;
    let [global, zero, below] = [at, at + 1, at + 2];
    text += &format!("  %{global}: f32 = global g[0]\n  %{zero}: f32 = const 0.0\n");
    text += &format!("  %{below}: bool = flt %{global}, %{zero}\n");
    for operand in 0..count {
        let other = count + operand;
        let selected = at + 3 + operand;
        text += &format!("  %{selected}: f32 = select %{below}, %{operand}, %{other}\n");
    }
    let operands: Vec<String> = (0..count)
        .map(|operand| format!("%{}", at + 3 + operand))
        .collect();
    let result = at + 3 + count;
    let name = op.info().name;
    text += &format!("  %{result}: f32 = {name} {}\n", operands.join(", "));
    text += &format!("  return %{result}\n}}");
    module(&text)
}

/// Operands of an op at both ends of a kernel, where it has a value also between them.
fn ends(op: Op, random: &mut fastrand::Rng) -> Option<[Vec<f64>; 2]> {
    let intervals = op.info().test_intervals;
    let mut operands = || -> Vec<f64> {
        let operands = intervals.iter();
        operands
            .map(|i| i.low + (i.high - i.low) * random.f64())
            .collect()
    };
    let ends = [operands(), operands()];
    let is_finite = (0..1 << intervals.len()).all(|chosen: usize| {
        let mixed = (0..intervals.len()).map(|at| ends[chosen >> at & 1][at]);
        op.spec(&mixed.collect::<Vec<f64>>()).is_finite()
    });
    let are_apart = ends[0]
        .iter()
        .zip(&ends[1])
        .all(|(a, b)| (a - b).abs() > 1e-3);
    (is_finite && are_apart).then_some(ends)
}

#[test]
fn secants_of_every_op_sum_to_its_change() {
    let mut checked = 0;
    for op in float_ops() {
        let has_own_rule = matches!(
            op,
            Op::Select | Op::Min | Op::Max | Op::Clamp | Op::Saturate | Op::Abs
        );
        if has_own_rule || op.info().class == OpClass::Given {
            continue;
        }
        let mut module = jumping(op);
        let derivative = by_all(&module, false);
        pair_gradient(&mut module, &derivative).expect("it is straight");
        verify(&module).unwrap();
        let mut random = fastrand::Rng::with_seed(op as u64);
        let mut found = 0;
        for _ in 0..12 {
            let Some([here, there]) = ends(op, &mut random) else {
                continue;
            };
            let inputs: Vec<f32> = here
                .iter()
                .chain(&there)
                .map(|&float| float as f32)
                .collect();
            let kernel = |[own, next]: [f32; 2]| {
                let sides = [("g", own), ("there(g)", next), (pair_names::SIDE, next)];
                let outcome: EvalOutcome<f64> = run(&module, &inputs, &sides);
                let roots = outcome.outputs[1 + inputs.len()].word;
                let outputs = outcome.outputs.iter().map(|output| output.float);
                (roots, outputs.collect::<Vec<f64>>())
            };
            let [(roots, up), (other_roots, down)] = [[-1.0, 1.0], [1.0, -1.0]].map(kernel);
            let count = here.len();
            let sum = |slopes: &[f64]| -> f64 {
                let changes = there.iter().zip(&here).map(|(there, here)| there - here);
                slopes
                    .iter()
                    .zip(changes)
                    .map(|(slope, change)| slope * change)
                    .sum()
            };
            let change = down[0] - up[0];
            // Of an op that decides the value may stay.
            assert!(roots == 1 || change == 0.0, "{op:?}");
            assert_eq!(roots, other_roots, "{op:?}");
            let scale = 1e-5 * (1.0 + change.abs() + up[0].abs());
            for slopes in [&up[1..=count], &down[1 + count..=2 * count]] {
                assert!(
                    (sum(slopes) - change).abs() < scale,
                    "{op:?} {here:?} {there:?}: {}, not {change}",
                    sum(slopes)
                );
            }
            // Both orders count the same, so it is one gradient from either side.
            for (one, other) in up[1..=count].iter().zip(&down[1 + count..]) {
                assert!((one - other).abs() < scale * 1e3, "{op:?} {one} {other}");
            }
            found += 1;
        }
        assert!(found > 0, "{op:?}");
        checked += 1;
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn straight_code_has_the_outputs_of_before() {
    let mut straight = 0;
    for seed in 0..MODULES {
        let module = generate(seed);
        let insts = module
            .functions
            .iter()
            .flat_map(|f| &f.regions)
            .flat_map(|r| &r.insts);
        let mut ops = insts.filter_map(|inst| match inst.kind {
            InstKind::Op(op) => Some(op),
            _ => None,
        });
        // These round otherwise.
        let rounds = ops.any(|op| matches!(op, Op::Mod | Op::Fmod));
        let mut made = module.clone();
        if rounds || straighten_entry(&mut made).is_err() {
            continue;
        }
        verify(&made).unwrap_or_else(|found| panic!("seed {seed}: {found:?}"));
        let [own, found]: [EvalOutcome<f32>; 2] = [&module, &made].map(|made| run(made, &[], &[]));
        if own.faults.stopped().is_some() {
            continue;
        }
        let mut scalar = 0;
        for output in &module.outputs {
            output.ty.for_each_scalar(&mut |ty| {
                let (own, found) = (&own.outputs[scalar], &found.outputs[scalar]);
                let is_same = match ty {
                    Scalar::F32 => {
                        own.float == found.float || own.float.is_nan() && found.float.is_nan()
                    }
                    Scalar::Closure => true,
                    _ => own.word == found.word,
                };
                assert!(is_same, "seed {seed} {}: {own:?} {found:?}", output.name);
                scalar += 1;
            });
        }
        straight += 1;
    }
    assert!(straight > 50, "{straight}");
}

#[test]
fn equal_samples_have_the_smooth_gradient() {
    let mut compared = 0;
    for seed in 0..MODULES {
        let module = generate(seed);
        let derivative = by_all(&module, true);
        let is_by = !derivative.inputs.is_empty() || !derivative.globals.is_empty();
        if derivative.outputs.is_empty() || !is_by {
            continue;
        }
        let (mut pair, mut smooth) = (module.clone(), module.clone());
        if pair_gradient(&mut pair, &derivative).is_err() {
            continue;
        }
        verify(&pair).unwrap_or_else(|found| panic!("seed {seed}: {found:?}"));
        differentiate_entry(&mut smooth, &derivative);
        if differentiate(&mut smooth).is_err() {
            continue;
        }
        let [own, found]: [EvalOutcome<f64>; 2] =
            [&smooth, &pair].map(|module| run(module, &[], &[]));
        if own.faults.stopped().is_some() {
            continue;
        }
        assert_eq!(found.outputs[first_of(&pair, pair_names::ROOTS)].word, 0);
        let first: usize = module
            .outputs
            .iter()
            .map(|output| output.ty.scalar_count())
            .sum();
        for at in first..own.outputs.len() {
            let (own, found) = (own.outputs[at].float, found.outputs[at].float);
            if own.is_finite() && found.is_finite() {
                let apart = (own - found).abs();
                assert!(
                    apart <= 1e-4 * own.abs().max(1.0),
                    "seed {seed}: {own} {found}"
                );
                compared += usize::from(own != 0.0);
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A shader of one float output; `%0` is an input, `%1` the global g, `%2` is 0 and `%3` 1.
fn shader(body: &str, result: &str) -> Module {
    let text = format!(
        "fn main(%0: f32) -> (f32) ^0 {{
           %1: f32 = global g[0]
           %2: f32 = const 0.0
           %3: f32 = const 1.0
           {body}
           return {result}
         }}"
    );
    let mut module = module(&text);
    let derivative = by_all(&module, false);
    pair_gradient(&mut module, &derivative).expect("it is straight");
    verify(&module).unwrap();
    module
}

/// The gradient by the input, and the visible roots, of a kernel.
fn kernel(module: &Module, input: f32, [here, there]: [f32; 2]) -> (f64, u32) {
    let side = (there - here).signum();
    let set = [("g", here), ("there(g)", there), (pair_names::SIDE, side)];
    let outcome: EvalOutcome<f64> = run(module, &[input], &set);
    let roots = outcome.outputs[first_of(module, pair_names::ROOTS)].word;
    (outcome.outputs[1].float, roots)
}

#[test]
fn roots_are_counted_where_they_are_visible() {
    let step = "%4: f32 = step %2, %1\n";
    let cases = [
        ("one decision", "", "%4: f32 = step %2, %1", 1),
        (
            "floors of one operand",
            "%4: f32 = const 7.0\n%5: f32 = mul %1, %4",
            "%6: f32 = floor %5",
            1,
        ),
        (
            "a margin and its negative",
            "%4: f32 = step %2, %1\n%5: f32 = neg %1\n%6: f32 = step %2, %5",
            "%7: f32 = add %4, %6",
            1,
        ),
        (
            "two orders of a difference",
            "%4: bool = flt %1, %2\n%5: bool = flt %2, %1\n%6: f32 = select %4, %3, %2\n%7: f32 = select %5, %3, %2",
            "%8: f32 = add %6, %7",
            1,
        ),
        (
            "a side and a floor",
            "%4: f32 = sign %1\n%5: f32 = floor %1",
            "%6: f32 = add %4, %5",
            1,
        ),
        (
            "scaled margins",
            "%4: f32 = step %2, %1\n%5: f32 = add %1, %1\n%6: f32 = step %2, %5",
            "%7: f32 = add %4, %6",
            2,
        ),
        (
            "a margin that jumps itself",
            &(step.to_owned() + "%5: f32 = const 0.5"),
            "%6: f32 = step %5, %4",
            1,
        ),
        ("a product by 0", step, "%5: f32 = mul %4, %2", 1),
        (
            "a minimum of another operand",
            &(step.to_owned() + "%5: f32 = const -5.0"),
            "%6: f32 = min %4, %5",
            0,
        ),
        (
            "a minimum that changes its operand",
            &(step.to_owned() + "%5: f32 = const 0.5"),
            "%6: f32 = min %4, %5",
            1,
        ),
        (
            "a selection that is a minimum",
            "%4: bool = flt %1, %0",
            "%5: f32 = select %4, %1, %0",
            0,
        ),
        (
            "a selection that is a magnitude",
            "%4: bool = flt %1, %2\n%5: f32 = neg %1",
            "%6: f32 = select %4, %5, %1",
            0,
        ),
        (
            "an arm that no sample takes",
            &(step.to_owned() + "%5: bool = flt %3, %0"),
            "%6: f32 = select %5, %4, %3",
            0,
        ),
        (
            "a condition that stays",
            "%4: bool = flt %1, %2\n%5: bool = flt %3, %0\n%6: bool = and %4, %5",
            "%7: f32 = select %6, %3, %2",
            0,
        ),
        (
            "margins that are too near",
            "%4: f32 = const 1e-9\n%5: f32 = mul %1, %4",
            "%6: f32 = step %2, %5",
            0,
        ),
        (
            "the cut of an angle",
            "%4: f32 = neg %3",
            "%5: f32 = atan2 %1, %4",
            1,
        ),
        ("an angle off its cut", "", "%4: f32 = atan2 %1, %3", 0),
        (
            "an equality between the samples",
            "%4: bool = feq %1, %2",
            "%5: f32 = select %4, %3, %2",
            0,
        ),
    ];
    for (what, before, last, roots) in cases {
        let result = last.split(':').next().unwrap();
        let module = shader(&format!("{before}\n{last}"), result);
        for ends in [[-0.5, 0.5], [0.5, -0.5]] {
            assert_eq!(kernel(&module, -1.0, ends).1, roots, "{what}");
        }
        assert_eq!(kernel(&module, -1.0, [0.25, 0.26]).1, 0, "{what}: quiet");
    }
    // An equality is two comparisons: at one of the samples one of them turns.
    let equality = "%4: bool = feq %1, %2\n%5: f32 = select %4, %3, %2";
    assert_eq!(kernel(&shader(equality, "%5"), 0.0, [0.0, 0.5]).1, 1);
}

#[test]
fn guards_take_partials_in_place_of_secants() {
    // An operand that hardly changes: one operand has its partial here, two the mean of both ends.
    let little =
        "%4: f32 = step %2, %1\n%5: f32 = const 5e-5\n%6: f32 = mul %4, %5\n%7: f32 = add %0, %6";
    let root = shader(&format!("{little}\n%8: f32 = sqrt %7"), "%8");
    let (slope, roots) = kernel(&root, 4.0, [-0.5, 0.5]);
    assert_eq!((slope, roots), (0.25, 1));
    let power = shader(
        &format!("{little}\n%8: f32 = const 2.0\n%9: f32 = pow %7, %8"),
        "%9",
    );
    let (slope, _) = kernel(&power, 4.0, [-0.5, 0.5]);
    assert!((slope - (8.0 + 5e-5)).abs() < 1e-7, "{slope}");
    // One end is not finite: the partial here.
    let pole = "%4: f32 = step %2, %1\n%5: f32 = mul %4, %0\n%6: f32 = rcp %5";
    let (slope, _) = kernel(&shader(pole, "%6"), 2.0, [0.5, -0.5]);
    // The product before it has the mean of the other factor.
    assert_eq!(slope, -0.25 * 0.5);
}

#[test]
fn arms_need_no_value_where_they_are_not_taken() {
    // g > 0 ? in·sqrt(g) : in·sqrt(-g) + 1: no sample has both.
    let roots = shader(
        "%4: bool = flt %2, %1\n%5: f32 = sqrt %1\n%6: f32 = neg %1\n%7: f32 = sqrt %6
         %8: f32 = add %7, %3\n%9: f32 = select %4, %5, %8\n%10: f32 = step %2, %1
         %11: f32 = add %10, %0\n%12: f32 = mul %5, %11\n%13: f32 = add %1, %0
         %14: bool = flt %2, %13\n%15: f32 = select %14, %12, %8",
        "%15",
    );
    // Here the first arm is taken: the other factor of its product has no value there.
    let (slope, count) = kernel(&roots, 0.0, [0.25, -0.5]);
    let jump = (0.5 - (0.5_f64.sqrt() + 1.0)) / 0.75;
    assert_eq!(count, 2);
    assert!((slope - (jump + 0.5)).abs() < 1e-6, "{slope} {jump}");
}
