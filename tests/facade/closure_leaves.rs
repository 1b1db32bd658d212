//! The leaves of closures as outputs: their values are those of the closure, and their gradients
//! those of differences, of the materials of `examples/materials` and of every way that closures
//! take through a shader.

use adumbra::closure::LeafProgram;
use adumbra::derivatives::{ParameterScalar, parameter_differences};
use adumbra::evaluator::Engine;
use adumbra::gradient::GradientRequest;
use adumbra::value::Part;
use adumbra::{
    Compiler, Evaluator, Globals, GlobalsLayout, Instance, Limits, Program, Scalar, Sources, Type,
};
use adumbra_ir::host::ConstantTexture;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const TEXEL: ConstantTexture = ConstantTexture([0.75, 0.5, 0.25, 1.0]);

/// Points of a curved surface.
const POINTS: usize = 3;

fn hit(program: &Program, number: usize) -> Globals {
    let at = number as f32;
    let (x, y) = (0.23 + 0.31 * at, 0.41 - 0.17 * at);
    let normal = [-0.2 * x, 0.1, 0.97];
    let mut globals = Globals::new(program.globals());
    let mut set = |name: &str, value: [f32; 3], by: f32| {
        let (dx, dy) = ([0.01 * by, 0.002 * by, 0.0], [-0.001 * by, 0.012 * by, 0.0]);
        globals.set(name, value, dx, dy).unwrap();
    };
    set("uvw", [x, y, 0.0], 1.0);
    set("position", [2.0 * x, 2.0 * y, 0.3], 2.0);
    set("normal", normal, 0.1);
    set("gnormal", [0.0, 0.0, 1.0], 0.0);
    set("I", [0.1, -0.3, -0.95], 0.01);
    set("tangent", [0.98, 0.0, 0.2], 0.01);
    globals
}

fn compiled(name: &str, text: String) -> Arc<Program> {
    let compiler = Compiler::new(GlobalsLayout::hit()).texture_slopes(true);
    let program = compiler.compile(&Sources::new(name, text));
    program.unwrap_or_else(|no| panic!("{no}"))
}

fn material(name: &str) -> Arc<Program> {
    let file = format!("{name}.adu");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/materials");
    compiled(&file, std::fs::read_to_string(folder.join(&file)).unwrap())
}

fn leaves(program: &Arc<Program>) -> LeafProgram {
    let leaves = program.closure_leaves("surface");
    leaves.unwrap_or_else(|no| panic!("{no}"))
}

fn is_close(a: f64, b: f64, size: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * size.max(1e-3)
}

/// Of each kind of leaf Σ weight and Σ weight · argument over its floats, by red.
fn sums_by_name(of: impl Iterator<Item = (String, f32, Vec<f32>)>) -> BTreeMap<String, Vec<f64>> {
    let mut sums = BTreeMap::<String, Vec<f64>>::new();
    for (name, weight, arguments) in of.filter(|(_, weight, _)| *weight != 0.0) {
        let terms = std::iter::once(1.0).chain(arguments);
        let terms: Vec<f64> = terms.map(|term| f64::from(weight * term)).collect();
        let sum = sums.entry(name).or_insert_with(|| vec![0.0; terms.len()]);
        sum.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += term);
    }
    sums
}

/// The floats of a type's scalars that have these words.
fn floats(ty: &Type, words: impl Iterator<Item = u32>) -> Vec<f32> {
    let mut words = words;
    let mut floats = Vec::new();
    ty.for_each_scalar(&mut |scalar| {
        let word = words.next().unwrap();
        floats.extend((scalar == Scalar::F32).then(|| f32::from_bits(word)));
    });
    floats
}

/// Compares the outputs of leaves with the closure itself, at all points.
fn leaves_are_those_of_the_closure(program: &Arc<Program>) {
    let found = leaves(program);
    for number in 0..POINTS {
        let mut evaluator = Evaluator::new(&Instance::new(program));
        evaluator.evaluate(&hit(program, number), &mut TEXEL.clone());
        let closure = evaluator.output("surface").unwrap().closure().unwrap();
        let mut weights = Vec::new();
        let expected = sums_by_name(closure.leaves(&mut weights).map(|(weight, leaf)| {
            let arguments = leaf.args().flat_map(|arg| floats(arg.ty(), arg.words()));
            (leaf.name().to_owned(), weight[0], arguments.collect())
        }));
        let mut evaluator = Evaluator::new(&Instance::new(found.program()));
        evaluator.evaluate(&hit(found.program(), number), &mut TEXEL.clone());
        let words: Vec<u32> = evaluator.words(Part::Value).unwrap().collect();
        let output = |name: &str| {
            let (at, ty) = found.program().find_output(name).unwrap();
            floats(ty, words[at..].iter().copied())
        };
        let separate = sums_by_name(found.leaves().iter().map(|leaf| {
            let arguments = leaf.arguments.iter().flatten();
            let arguments = arguments.flat_map(|name| output(name));
            (
                leaf.shape.name.clone(),
                output(&leaf.weight)[0],
                arguments.collect(),
            )
        }));
        assert!(
            expected.keys().eq(separate.keys()),
            "{expected:?} {separate:?}"
        );
        for (sums, wanted) in separate.values().zip(expected.values()) {
            for (sum, wanted) in sums.iter().zip(wanted) {
                assert!(
                    is_close(*sum, *wanted, wanted.abs(), 1e-5),
                    "{separate:?} {expected:?}"
                );
            }
        }
    }
}

/// A weight for each float of the leaves' outputs, with the cotangent's name.
fn cotangents(found: &LeafProgram) -> Vec<(String, Type, Vec<f32>)> {
    let names = found.leaves().iter().flat_map(|leaf| {
        let arguments = leaf.arguments.iter().flatten();
        std::iter::once(&leaf.weight).chain(arguments)
    });
    let floats = names.filter_map(|name| {
        let (_, ty) = found.program().find_output(name).unwrap();
        let count = ty.float_scalars().len();
        (count > 0).then(|| (name.clone(), ty.clone(), count))
    });
    let mut at = 0;
    let weighed = floats.map(|(name, ty, count)| {
        let weights = (at..at + count).map(|at| [1.0, -0.5, 0.25, 2.0, -1.5][at % 5]);
        at += count;
        (name, ty, weights.collect())
    });
    weighed.collect()
}

fn set_floats(globals: &mut Globals, name: &str, values: &[f32]) {
    match *values {
        [x] => globals.set(name, x, 0.0, 0.0),
        [x, y] => globals.set(name, [x, y], [0.0; 2], [0.0; 2]),
        [x, y, z] => globals.set(name, [x, y, z], [0.0; 3], [0.0; 3]),
        [x, y, z, w] => globals.set(name, [x, y, z, w], [0.0; 4], [0.0; 4]),
        _ => panic!("{name}"),
    }
    .unwrap();
}

/// Compares gradients with forward mode and with differences, and engines with each other. Returns
/// how many numbers of inputs were held against differences.
fn gradients_are_differences(program: &Arc<Program>) -> usize {
    let found = leaves(program);
    let weighed = cotangents(&found);
    let of_all = weighed
        .iter()
        .fold(GradientRequest::new(), |request, (name, ..)| {
            request.of(name)
        });
    // No gradient passes `ddx`, by which materials measure pixels and bump normals.
    let passes = |name: &str| {
        found
            .program()
            .gradient(&of_all.clone().by_input(name))
            .is_ok()
    };
    let names = found
        .program()
        .inputs()
        .iter()
        .map(|input| input.name.as_str());
    let names: Vec<&str> = names.filter(|name| passes(name)).collect();
    let request = names
        .iter()
        .fold(of_all.clone(), |request, name| request.by_input(*name));
    let backward = found.program().gradient(&request).unwrap();
    let forward = found
        .program()
        .gradient(&request.clone().forward())
        .unwrap();
    let (mut inputs, mut at) = (Vec::new(), 0);
    for input in found.program().inputs() {
        let is_by = names.contains(&input.name.as_str());
        input.ty.for_each_scalar(&mut |scalar| {
            inputs.extend((is_by && scalar == Scalar::F32).then_some(at));
            at += 1;
        });
    }
    let mut compared = 0;
    for number in 0..POINTS {
        let mut globals = hit(backward.program(), number);
        for (name, _, weights) in &weighed {
            set_floats(&mut globals, &format!("d({name})"), weights);
        }
        let mut found_by = Vec::new();
        for engine in Engine::available() {
            let limits = Limits::default();
            let instance = Instance::new(backward.program());
            let mut evaluator = Evaluator::with(&instance, engine, limits).unwrap();
            evaluator.evaluate(&globals, &mut TEXEL.clone());
            found_by.push(evaluator.words(Part::Value).unwrap().collect::<Vec<u32>>());
        }
        assert!(
            found_by.iter().all(|words| *words == found_by[0]),
            "engines differ"
        );
        let mut gradient = Vec::new();
        for input in found.program().inputs() {
            if let Some((at, ty)) = backward
                .program()
                .find_output(&format!("d({})", input.name))
            {
                gradient.extend(floats(ty, found_by[0][at..].iter().copied()));
            }
        }
        assert_eq!(gradient.len(), inputs.len());

        let mut globals = hit(forward.program(), number);
        for by in forward.parameters() {
            let count = by.value.ty.scalar_count();
            set_floats(
                &mut globals,
                &format!("d({})", by.value.name),
                &vec![1.0; count],
            );
        }
        let mut evaluator = Evaluator::new(&Instance::new(forward.program()));
        evaluator.evaluate(&globals, &mut TEXEL.clone());
        let words: Vec<u32> = evaluator.words(Part::Value).unwrap().collect();
        let (mut along, mut size) = (0.0, 0.0);
        for (name, _, weights) in &weighed {
            let (at, ty) = forward
                .program()
                .find_output(&format!("d({name})"))
                .unwrap();
            for (tangent, weight) in floats(ty, words[at..].iter().copied()).iter().zip(weights) {
                along += f64::from(tangent * weight);
                size += f64::from((tangent * weight).abs());
            }
        }
        let sum: f64 = gradient.iter().copied().map(f64::from).sum();
        let all: f64 = gradient.iter().map(|by| f64::from(by.abs())).sum();
        assert!(is_close(sum, along, size.max(all), 1e-4), "{sum} {along}");

        let parameters: Vec<_> = inputs
            .iter()
            .map(|&at| ParameterScalar::Input(at))
            .collect();
        let instance = Instance::new(found.program());
        let globals = hit(found.program(), number);
        let limits = Limits::default();
        let slopes =
            parameter_differences(&instance, &globals, &parameters, limits, &mut TEXEL.clone());
        for (slopes, by) in slopes.unwrap().iter().zip(&gradient) {
            let (mut wanted, mut size, mut smooth) = (0.0, 0.0_f64, true);
            for (name, ty, weights) in &weighed {
                let (at, _) = found.program().find_output(name).unwrap();
                let floats = ty.float_scalars().into_iter();
                for (scalar, weight) in floats.zip(weights) {
                    let (slope, is_smooth) = slopes[at + scalar];
                    wanted += f64::from(*weight) * slope;
                    size += (f64::from(*weight) * slope).abs();
                    smooth &= is_smooth;
                }
            }
            if smooth {
                compared += 1;
                assert!(
                    is_close(f64::from(*by), wanted, size, 2e-3),
                    "{by} {wanted}, of {size}"
                );
            }
        }
    }
    compared
}

macro_rules! materials {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            let program = material(stringify!($name));
            leaves_are_those_of_the_closure(&program);
            let compared = gradients_are_differences(&program);
            assert!(compared > 0, "nothing was compared");
        }
    )* };
}

materials! { brick car_paint fabric lava marble rust sdf_scene terrain tiles wood }

/// Functions that get closures and make some, in branches, after returns from within, twice.
const WAYS: &str = "
    closure dimmed(closure c, float by) { if (by > 0.25) { return by * c; } return c; }
    closure both(float k, bool first) {
        closure c = k * make_closure<one>(k * k);
        if (first) { c += color(k, 1, 0.5) * make_closure<two>(float2(k, 1)); }
        else { return dimmed(c, k); }
        return c + c;
    }
    void more(inout closure c, float k) { c = c + sin(k) * make_closure<two>(float2(1, k)); }
    shader s(float k = 0.75, color tint = color(1, 0.5, 0.25), out float other, out closure surface, out closure unread) {
        closure c = both(k, global_value<uvw>.x > 0.3);
        more(c, k);
        closure d = dimmed(both(tint.x, false), k) + c;
        float scale = 1;
        for (int i = 0; i < 3; i++) { scale *= k; d = tint * d; if (scale < 0.2) break; }
        switch ((int)(4 * global_value<uvw>.y)) {
            case 0: more(d, scale); break;
            case 1: d = c; break;
            default: break;
        }
        surface = d;
        other = k * scale;
        unread = make_closure<three>();
    }";

#[test]
fn closures_may_go_any_way() {
    let program = compiled("ways.adu", WAYS.to_owned());
    leaves_are_those_of_the_closure(&program);
    assert!(gradients_are_differences(&program) >= 3);
    // Two of `both`, twice; one of each `more`; and that of the closure that is left out.
    let found = leaves(&program);
    assert_eq!(found.leaves().len(), 7);
    let closure = Type::Scalar(Scalar::Closure);
    assert!(
        found
            .program()
            .outputs()
            .iter()
            .all(|output| output.ty != closure)
    );
    assert!(found.program().find_output("other").is_some());
}

#[test]
fn leaves_of_groups_and_gradients_are_programs() {
    let program = compiled("ways.adu", WAYS.to_owned());
    let found = leaves(&program);
    let gradient = found.program().gradient(&GradientRequest::new()).unwrap();
    let loaded = Program::from_bytecode(&gradient.program().to_bytecode()).unwrap();
    let run = |program: &Arc<Program>| {
        let mut evaluator = Evaluator::new(&Instance::new(program));
        evaluator.evaluate(&hit(program, 1), &mut TEXEL.clone());
        evaluator.words(Part::Value).unwrap().collect::<Vec<u32>>()
    };
    assert_eq!(run(gradient.program()), run(&loaded));
    let refused = loaded.closure_leaves("surface").unwrap_err();
    assert!(refused.to_string().contains("was loaded and"), "{refused}");
}

#[track_caller]
fn is_refused(body: &str, functions: &str, message: &str) {
    let source = format!("{functions} shader s(float k = 0.5, out closure surface) {{ {body} }}");
    let refused = compiled("s.adu", source)
        .closure_leaves("surface")
        .unwrap_err();
    let found = &refused.diagnostics[0];
    assert!(found.message.contains(message), "{}", found.message);
    assert!(found.help.is_some());
}

#[test]
fn closures_without_fixed_leaves_are_refused() {
    let many = "surface = make_closure<a>(); for (int i = 0; i < 3; i++) surface += k * make_closure<b>(i);";
    is_refused(many, "", "a loop makes");
    let deep = "closure f(int n) { if (n == 0) return make_closure<a>(); return 0.5 * f(n - 1); }";
    is_refused("surface = f(3);", deep, "calls itself");
    let kept = "closure all[2]; all[0] = make_closure<a>(k); surface = all[0] + all[1];";
    is_refused(kept, "", "in an array");
    let within = "surface = make_closure<coat>(k, make_closure<a>(k));";
    is_refused(within, "", "among its arguments");
}

#[test]
fn unknown_closure_says_which_there_are() {
    let source =
        "shader s(float k = 0.5, out float o, out closure c) { o = k; c = make_closure<a>(k); }";
    let program = compiled("s.adu", source.to_owned());
    for name in ["o", "surface"] {
        let refused = program.closure_leaves(name).unwrap_err();
        let help = refused.diagnostics[0].help.clone().unwrap();
        assert!(help.contains("`c`"), "{help}");
    }
}
