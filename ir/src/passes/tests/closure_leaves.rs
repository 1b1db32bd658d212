//! Closures as numbers: weights and arguments of leaves are those of the closure.

use super::*;
use crate::eval::{EvalOptions, EvalOutcome, EvalPoint, evaluate};
use crate::host::{ClosureNode, ClosureRef, ConstantTexture};
use crate::random::generate;
use crate::types::Type;

const MODULES: u64 = 400;

/// The sums over all leaves of weight · 1, weight · arg₀, weight · arg₁ and weight · arg₂, by
/// channel; and the sum of magnitudes, by which rounding is judged.
type Sums = [[f64; 5]; 3];

fn evaluated(module: &Module) -> EvalOutcome {
    let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let point = EvalPoint::<f32>::new(module);
    evaluate(module, &point, &EvalOptions::default(), &mut host)
}

fn leaf_sums(arguments: [f64; 3]) -> Sums {
    let [a, b, c] = arguments;
    [[1.0, a, b, c, 1.0 + a.abs() + b.abs() + c.abs()]; 3]
}

fn of_closure(outcome: &EvalOutcome, root: u32) -> Sums {
    let arena = &outcome.closures;
    let mut nodes: Vec<Sums> = vec![Sums::default()];
    while let Some(node) = arena.node(ClosureRef::from_word(nodes.len() as u32)) {
        let below = |closure: ClosureRef| nodes[closure.word() as usize];
        let scaled = |closure: ClosureRef, by: [f32; 3]| {
            let mut sums = below(closure);
            for (sums, by) in sums.iter_mut().zip(by) {
                let by = f64::from(by);
                *sums = sums.map(|sum| by * sum);
                sums[4] = sums[4].abs();
            }
            sums
        };
        nodes.push(match node {
            ClosureNode::Leaf { args, .. } => {
                let words = arena.args(args);
                let [x, y] = [0, 1].map(|at| f64::from(f32::from_bits(words[at])));
                leaf_sums([x, y, f64::from(words[2] as i32)])
            }
            ClosureNode::Add(a, b) => {
                let (a, b) = (below(a), below(b));
                std::array::from_fn(|channel| {
                    std::array::from_fn(|at| a[channel][at] + b[channel][at])
                })
            }
            ClosureNode::Scale(closure, by) => scaled(closure, [by; 3]),
            ClosureNode::Tint(closure, by) => scaled(closure, by),
        });
    }
    nodes[root as usize]
}

/// The same of the outputs of leaves.
fn of_leaves(module: &Module, outcome: &EvalOutcome, leaves: &[SeparatedLeaf]) -> Sums {
    let floats_of = |name: &str| -> Vec<f64> {
        let mut first = 0;
        for output in &module.outputs {
            let count = output.ty.scalar_count();
            if output.name == name {
                let values = &outcome.outputs[first..first + count];
                let value = |value: &crate::eval::EvalValue| match output.ty {
                    Type::Scalar(Scalar::I32) => f64::from(value.word as i32),
                    _ => f64::from(value.float),
                };
                return values.iter().map(value).collect();
            }
            first += count;
        }
        panic!("no output {name}");
    };
    let mut sums = Sums::default();
    for leaf in leaves {
        let weight = floats_of(&leaf.weight);
        let [Some(xy), Some(n), None] = &leaf.arguments[..] else {
            panic!("a resource is no number: {leaf:?}");
        };
        let (xy, n) = (floats_of(xy), floats_of(n)[0]);
        let one = leaf_sums([xy[0], xy[1], n]);
        for channel in 0..3 {
            for at in 0..5 {
                sums[channel][at] += weight[channel] * one[channel][at];
            }
        }
    }
    sums
}

#[test]
fn leaves_of_random_modules_sum_to_their_closures() {
    let (mut compared, mut different) = (0, 0);
    for seed in 0..MODULES {
        let module = generate(seed);
        let closure = Type::Scalar(Scalar::Closure);
        let is_closure = |output: &crate::module::Output| output.ty == closure;
        let at = module.outputs.iter().position(is_closure).unwrap();
        let before = evaluated(&module);
        let scalars: usize = module.outputs[..at]
            .iter()
            .map(|output| output.ty.scalar_count())
            .sum();
        let expected = of_closure(&before, before.outputs[scalars].word);
        let mut separated = module.clone();
        let Ok(leaves) = separate_leaves(&mut separated, at) else {
            continue;
        };
        let separated = verified(separated);
        let after = evaluated(&separated);
        let found = of_leaves(&separated, &after, &leaves);
        let all = expected.as_flattened().iter().chain(found.as_flattened());
        if before.outputs.len() != after.outputs.len() && all.clone().all(|sum| sum.is_finite()) {
            for (found, expected) in found.iter().zip(expected) {
                for (sum, wanted) in found.iter().zip(expected).take(4) {
                    let rounding = 1e-5 * expected[4].abs().max(1e-30);
                    assert!(
                        (sum - wanted).abs() <= rounding,
                        "seed {seed}: {found:?}, {expected:?}"
                    );
                }
            }
            compared += 1;
            different += usize::from(expected[0][4] > 0.0);
        }
    }
    assert!(compared >= 100 && different >= 40, "{compared} {different}");
}

fn separate(body: &str) -> Result<(Module, Vec<SeparatedLeaf>), Box<Diagnostic>> {
    let text = format!(
        "adumbra ir 1\nclosure glow(float)\ninput x: float = 2.0\noutput c: closure\nentry main\n{body}"
    );
    let mut module =
        verified(parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}\n{text}")));
    let leaves = separate_leaves(&mut module, 0)?;
    Ok((verified(module), leaves))
}

#[test]
fn calls_have_leaves_of_their_own() {
    let (module, leaves) = separate(
        "fn twice(%0: closure, %1: f32) -> (closure) ^0 {
             %2: closure = closure_scale %0, %1
             %3: closure = make_closure glow(%1)
             %4: closure = closure_add %2, %3
             return %4
         }
         fn main(%0: f32) -> (closure) ^0 {
             %1: closure = const empty
             %2: closure = call twice(%1, %0)
             %3: closure = call twice(%2, %0)
             return %3
         }",
    )
    .unwrap();
    assert_eq!(leaves.len(), 2);
    let found = evaluated(&module);
    let floats: Vec<f32> = found.outputs.iter().map(|value| value.float).collect();
    // The first is scaled by the second call.
    assert_eq!(floats, [2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn leaves_beyond_the_limit_are_refused() {
    let body = |count: usize| {
        let mut body = String::from("fn main(%0: f32) -> (closure) ^0 {\n");
        body += "%1: closure = const empty\n";
        for at in 0..count {
            let (leaf, sum, before) = (2 + 2 * at, 3 + 2 * at, 1 + 2 * at);
            body += &format!("%{leaf}: closure = make_closure glow(%0)\n");
            body += &format!("%{sum}: closure = closure_add %{before}, %{leaf}\n");
        }
        body + &format!("return %{}\n}}", 1 + 2 * count)
    };
    assert!(separate(&body(MAX_CLOSURE_LEAVES)).is_ok());
    let refused = separate(&body(MAX_CLOSURE_LEAVES + 1)).unwrap_err();
    assert!(refused.message.contains("257 leaves"), "{refused:?}");
}
