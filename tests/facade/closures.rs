//! Closures as flat lists of weighted leaves, against the trees that they represent.

use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, NoTextures, Program, Scalar,
    Sources, Type,
    batch::{BatchEvaluator, BatchGlobals, Part},
    closure::{Closure, ClosureReader, ClosureRegistry, ClosureView},
};
use std::collections::BTreeMap;
use std::sync::Arc;

fn registry() -> ClosureRegistry {
    let closure = Type::Scalar(Scalar::Closure);
    ClosureRegistry::new()
        .with("glow", &[("strength", Type::FLOAT)])
        .and_then(|r| {
            r.with(
                "coat",
                &[
                    ("n", Type::Vector(3)),
                    ("below", closure),
                    ("k", Type::FLOAT),
                ],
            )
        })
        .and_then(|r| r.with("never", &[("steps", Type::Scalar(Scalar::I32))]))
        .unwrap()
}

fn compile(body: &str) -> Arc<Program> {
    let layout = GlobalsLayout::new().with("x", Type::FLOAT).unwrap();
    let text = format!("shader s(out closure c) {{ float x = global_value<x>; {body} }}");
    let compiler = Compiler::new(layout).with_closures(registry());
    compiler.compile(&Sources::new("s.adu", text)).unwrap()
}

/// Name, weight and first float of each leaf of the flat list.
fn flat(reader: &ClosureReader, closure: ClosureView<'_>) -> Vec<(String, [f32; 3], f32)> {
    let mut weights = vec![[f32::NAN; 3]; 5];
    let strength = registry().slot::<f32>("glow", "strength").unwrap();
    let k = registry().slot::<f32>("coat", "k").unwrap();
    let glow = registry().kind("glow").unwrap();
    let leaves = reader.leaves(closure, &mut weights).map(|leaf| {
        let argument = if leaf.kind == glow {
            leaf.read(strength)
        } else {
            leaf.read(k)
        };
        (leaf.leaf().name().to_owned(), leaf.weight, argument)
    });
    leaves.collect()
}

/// The sums of weights by leaf, of the tree; each way by itself.
fn walked(closure: ClosureView<'_>, weight: [f32; 3], sums: &mut BTreeMap<u32, [f32; 3]>) {
    match closure.closure() {
        None => {}
        Some(Closure::Add(a, b)) => {
            walked(a, weight, sums);
            walked(b, weight, sums);
        }
        Some(Closure::Scale(by, below)) => walked(below, weight.map(|w| w * by), sums),
        Some(Closure::Tint(by, below)) => {
            walked(below, std::array::from_fn(|i| weight[i] * by[i]), sums);
        }
        Some(Closure::Leaf(_)) => {
            let sum = sums.entry(closure.number()).or_default();
            *sum = std::array::from_fn(|i| sum[i] + weight[i]);
        }
    }
}

/// Runs a shader at some points together and hands each closure over.
fn each_point(body: &str, mut check: impl FnMut(&ClosureReader, ClosureView<'_>, f32)) {
    let program = compile(body);
    let reader = registry().reader(&program).unwrap();
    let slot = program.closure_slot("c").unwrap();
    let x = [0.0_f32, 0.5, 1.0, 2.0];
    let mut globals = BatchGlobals::new(program.globals());
    globals.plane("x", Part::Value, 0, &x, 1).unwrap();
    let instance = Instance::new(&program);
    let mut evaluator = BatchEvaluator::new(&instance).unwrap();
    evaluator.evaluate(&globals, 0, x.len(), &mut NoTextures);
    for (point, &x) in x.iter().enumerate() {
        check(&reader, evaluator.closure(slot, point), x);
    }
}

#[test]
fn flat_list_has_the_weights_of_the_tree() {
    let body = "closure a = make_closure<glow>(1.0);
        closure b = x * make_closure<coat>(float3(0, 1, 0), a, 7.0);
        closure sum = color(1, 0.5, x) * (a + 2.0 * b);
        c = 0.5 * sum + color(x, 0, 1) * (sum + make_closure<glow>(3.0));";
    each_point(body, |reader, closure, x| {
        let mut sums = BTreeMap::new();
        walked(closure, [1.0; 3], &mut sums);
        let expected: Vec<[f32; 3]> = sums.into_values().filter(|w| *w != [0.0; 3]).collect();
        let found = flat(reader, closure);
        let weights: Vec<[f32; 3]> = found.iter().map(|leaf| leaf.1).collect();
        assert_eq!(weights, expected, "{closure}");
        // Half of the sum and x times it, tinted: worked out by hand.
        let a = [0.5 + x, 0.25, x * 1.5];
        assert_eq!(found[0], ("glow".to_owned(), a, 1.0));
        assert_eq!(found.len(), if x == 0.0 { 2 } else { 3 });
        assert_eq!(
            found.last().unwrap(),
            &("glow".to_owned(), [x, 0.0, 1.0], 3.0)
        );
    });
}

#[test]
fn shared_closure_takes_no_longer_than_its_nodes() {
    let body = "closure sum = make_closure<glow>(x); for (int i = 0; i < 100; i++) sum = sum + sum; c = sum;";
    each_point(body, |reader, closure, x| {
        let weight = 2.0_f32.powi(100);
        assert_eq!(flat(reader, closure), [("glow".to_owned(), [weight; 3], x)]);
    });
}

#[test]
fn empty_closure_and_zero_weight_have_no_leaves() {
    each_point(
        "if (x > 0.75) c = 0.0 * make_closure<glow>(1.0);",
        |reader, closure, _| {
            assert_eq!(flat(reader, closure), []);
        },
    );
    // Nothing is multiplied by the weight of what does not count.
    let body = "c = 0.0 * ((1.0 / (x * 0.0)) * make_closure<glow>(1.0));";
    each_point(body, |reader, closure, _| {
        assert_eq!(flat(reader, closure), [])
    });
    // NaN is not nothing.
    let body = "c = (0.0 / (x * 0.0)) * make_closure<glow>(1.0);";
    each_point(body, |reader, closure, _| {
        assert!(flat(reader, closure)[0].1[0].is_nan());
    });
}

#[test]
fn closure_in_a_closure_is_read_by_its_slot() {
    let body = "c = 0.5 * make_closure<coat>(float3(x, 1, 2), 4.0 * make_closure<glow>(9.0), 7.0);";
    let registry = registry();
    let below = registry.closure_slot("coat", "below").unwrap();
    let n = registry.slot::<[f32; 3]>("coat", "n").unwrap();
    let strength = registry.slot::<f32>("glow", "strength").unwrap();
    each_point(body, |reader, closure, x| {
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let coats: Vec<_> = reader.leaves(closure, &mut outer).collect();
        assert_eq!(
            (coats.len(), coats[0].weight, coats[0].read(n)),
            (1, [0.5; 3], [x, 1.0, 2.0])
        );
        let below = coats[0].closure(below);
        let glows: Vec<_> = reader.leaves(below, &mut inner).collect();
        assert_eq!(
            (glows.len(), glows[0].weight, glows[0].read(strength)),
            (1, [4.0; 3], 9.0)
        );
    });
}

#[test]
fn slots_and_kinds_are_found_by_name() {
    let registry = registry();
    let index = |name| registry.kind(name).unwrap().index();
    assert_eq!(["glow", "coat", "never"].map(index), [0, 1, 2]);
    let why = |closure, param| {
        registry
            .slot::<f32>(closure, param)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        why("glwo", "strength"),
        "there is no `glwo`; did you mean `glow`?"
    );
    assert_eq!(
        why("glow", "strenght"),
        "there is no `strenght`; did you mean `strength`?"
    );
    assert_eq!(
        why("never", "steps"),
        "`steps` is of type `int`, not `float`"
    );
    assert!(registry.closure_slot("coat", "k").is_err());
}

#[test]
fn program_with_other_closures_has_no_reader() {
    let compile =
        |text: &str| Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", text));
    for (text, reads) in [
        (
            "shader s(out closure c) { c = make_closure<glow>(1.0); }",
            true,
        ),
        (
            "shader s(out closure c) { c = make_closure<glow>(1); }",
            false,
        ),
        (
            "shader s(out closure c) { c = make_closure<hair>(); }",
            false,
        ),
    ] {
        let program = compile(text).unwrap();
        let program = Program::from_bytecode(&program.to_bytecode()).unwrap();
        let reader = registry().reader(&program);
        assert_eq!(reader.is_ok(), reads, "{text}");
        if let Err(error) = reader {
            assert!(error.to_string().contains("not registered"), "{error}");
        }
    }
}

#[test]
#[should_panic(expected = "the slot is of this closure")]
fn slot_of_another_closure_panics() {
    let k = registry().slot::<f32>("coat", "k").unwrap();
    each_point("c = make_closure<glow>(1.0);", |reader, closure, _| {
        let mut weights = Vec::new();
        reader.leaves(closure, &mut weights).for_each(|leaf| {
            leaf.read(k);
        });
    });
}

#[test]
#[should_panic(expected = "of the reader's program")]
fn closure_of_another_program_panics() {
    let program = compile("c = make_closure<glow>(1.0);");
    let other = compile("c = make_closure<glow>(2.0);");
    let mut evaluator = Evaluator::new(&Instance::new(&other));
    evaluator.evaluate(&Globals::new(other.globals()), &mut NoTextures);
    let closure = evaluator.closure(other.closure_slot("c").unwrap());
    let reader = registry().reader(&program).unwrap();
    let _ = reader.leaves(closure, &mut Vec::new()).count();
}

#[test]
fn deep_closure_is_read_without_recursion() {
    let size = Limits::default().closure_size;
    let body = format!(
        "closure sum = make_closure<glow>(x); for (int i = 0; i < {}; i++) sum = color(1, 1, 1) * sum; c = sum;",
        size - 10
    );
    each_point(&body, |reader, closure, x| {
        assert_eq!(flat(reader, closure), [("glow".to_owned(), [1.0; 3], x)]);
    });
}
