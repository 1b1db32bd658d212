//! The standard library: properties of every function, derivatives that are slopes, and its pages.
//!
//! A new function gets its properties in the file of its subject; without one, the first test here
//! fails.

mod blending;
mod check;
mod colour;
mod combining;
mod derivatives;
mod draw;
mod fractals;
mod geometry;
mod hashing;
mod interpolation;
mod matrices;
mod mutants;
mod noise;
mod numbers;
mod outlines;
mod pages;
mod patterns;
mod rotations;
mod shading;
mod shapes;
mod signature;
mod suite;
mod vectors;

use adumbra::{Scalar, Type};
use adumbra_fuzz::oracle::gradients::{self, GradientComparison};
use adumbra_fuzz::signature::signatures;
use check::{Compiled, show};
use draw::{Random, Variables};
use signature::Called;
use std::collections::BTreeSet;
use suite::Function;

/// The claims, subject by subject.
fn functions() -> Vec<Function> {
    [
        numbers::functions(),
        vectors::functions(),
        geometry::functions(),
        matrices::functions(),
        interpolation::functions(),
        colour::functions(),
        blending::functions(),
        rotations::functions(),
        hashing::functions(),
        noise::functions(),
        fractals::functions(),
        patterns::functions(),
        derivatives::functions(),
        shapes::functions(),
        outlines::functions(),
        combining::functions(),
        shading::functions(),
    ]
    .concat()
}

/// Panics with what is wrong, if anything is.
fn none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_has_properties() {
    let functions = functions();
    let with: BTreeSet<&str> = functions
        .iter()
        .filter(|function| !function.properties.is_empty())
        .map(|function| function.name)
        .collect();
    assert_eq!(
        with.len(),
        functions.len(),
        "a function is here twice or without properties"
    );
    let all: BTreeSet<&str> = adumbra_stdlib::function_names().collect();
    let missing: Vec<_> = all.difference(&with).collect();
    let unknown: Vec<_> = with.difference(&all).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "without properties: {missing:?}; unknown: {unknown:?}"
    );
}

#[test]
fn every_function_compiles() {
    let mut errors = Vec::new();
    for function in functions() {
        for signature in signatures(function.name) {
            let variables = signature.read(&function);
            errors.extend(Compiled::shader(&signature.shader(), &variables, "").err());
        }
    }
    none(errors);
}

#[test]
fn properties_hold() {
    const POINTS: usize = 200;
    let mut wrong = Vec::new();
    for function in functions() {
        for property in &function.properties {
            if let Err(what) = check::check(&function, property, POINTS, "") {
                wrong.push(format!("{}: {property:?}: {what}", function.name));
            }
        }
    }
    none(wrong);
}

#[test]
fn changed_functions_are_noticed() {
    let (mut wrong, mut all, mut unnoticed) = (Vec::new(), 0, 0);
    for function in functions() {
        let (count, survivors) = mutants::survivors(&function);
        all += count;
        unnoticed += survivors.len();
        if (count - survivors.len()) * 100 < count * mutants::NOTICED {
            let name = function.name;
            let list = survivors.join("\n  ");
            wrong.push(format!(
                "{name}: of {count} mutants these survive\n  {list}"
            ));
        }
    }
    println!("{all} mutants, {} noticed", all - unnoticed);
    none(wrong);
}

#[test]
fn derivatives_are_the_slopes_of_values() {
    const POINTS: usize = 16;
    let (mut wrong, mut total) = (Vec::new(), GradientComparison::default());
    for function in functions().iter().filter(|function| !function.is_flat) {
        let mut of_function = GradientComparison::default();
        for (text, variables) in calls(function) {
            let compiled = Compiled::shader(&text, &variables, "").expect("it compiles");
            let module = compiled.program.module();
            let mut compared = GradientComparison::default();
            let mut random = Random(1);
            for _ in 0..POINTS {
                let point = random.moving_point(&variables, false);
                if let Err(what) = gradients::check(module, &point, &mut compared) {
                    wrong.push(format!("{text}: {what} at {}", show(&variables, &point)));
                }
            }
            if 2 * compared.differences < compared.total {
                wrong.push(format!("{text}: {compared}"));
            }
            of_function += compared;
        }
        // Functions that give no floats have nothing to compare.
        if of_function.total > 0 && of_function.nonzero == 0 {
            wrong.push(format!("{} is flat: {of_function}", function.name));
        }
        total += of_function;
    }
    println!("{total}");
    none(wrong);
}

/// At points with ends of domains, zeros and equal values in them.
#[test]
fn finite_arguments_give_finite_results() {
    const POINTS: usize = 100;
    let mut wrong = Vec::new();
    for function in functions() {
        for (text, variables) in calls(&function) {
            let mut compiled = Compiled::shader(&text, &variables, "").expect("it compiles");
            let floats = compiled.floats();
            let mut random = Random(2);
            for _ in 0..POINTS {
                let point = random.moving_point(&variables, true);
                let words = compiled.at(&point).expect("nothing stops it");
                for (dual, _) in words.chunks(3).zip(&floats).filter(|(_, float)| **float) {
                    let [value, ddx, ddy] = [dual[0], dual[1], dual[2]].map(f32::from_bits);
                    let is_finite = [value, ddx, ddy].iter().all(|x| x.is_finite());
                    if !is_finite || (function.is_flat && (ddx, ddy) != (0.0, 0.0)) {
                        let at = show(&variables, &point);
                        wrong.push(format!("{text}: {value} : {ddx} : {ddy} at {at}"));
                    }
                }
            }
        }
    }
    none(wrong);
}

/// Functions that may give numbers beside a NaN, and the parameters that this is true of.
const HIDING_NAN: &[(&str, &[&str])] = &[
    // A comparison chooses, or a loop that may not get there.
    ("faceforward", &["i", "g"]),
    ("fbm", &["lacunarity", "gain"]),
    ("turbulence", &["lacunarity", "gain"]),
    ("ridged", &["lacunarity", "gain"]),
    ("fbm_filtered", &["lacunarity", "gain"]),
    ("sd_star", &["inner"]),
    // They are `min` and `max`, which give their first argument beside a NaN.
    ("min_component", &["v"]),
    ("max_component", &["v"]),
    ("op_union", &["b"]),
    ("op_intersection", &["b"]),
    ("op_difference", &["b"]),
    ("op_repeat_limited", &["count"]),
    ("op_elongate", &["by"]),
    ("hexagon_edge", &["p"]),
    ("hexagons", &["p"]),
    ("sd_cone", &["height"]),
    // Its value depends on the derivatives of these.
    ("bump_normal", &["position", "height"]),
];

/// A NaN in an argument comes out again, so that its birth can be found. Flat functions are hashes,
/// which any bits have, and derivatives.
#[test]
fn nan_arguments_give_nan() {
    const POINTS: usize = 20;
    let mut hidden = BTreeSet::new();
    for function in functions().iter().filter(|function| !function.is_flat) {
        for (text, variables) in calls(function) {
            let mut compiled = Compiled::shader(&text, &variables, "").expect("it compiles");
            let floats = compiled.floats();
            if !floats.contains(&true) {
                continue;
            }
            let mut random = Random(3);
            for (index, (name, ty, _)) in variables.iter().enumerate() {
                let is_discrete =
                    matches!(ty, Type::Scalar(Scalar::I32 | Scalar::U32 | Scalar::Bool));
                for draw in 0..if is_discrete { 0 } else { POINTS } {
                    let mut point = random.moving_point(&variables, false);
                    point[index].value[draw % ty.scalar_count()] = f32::NAN.to_bits();
                    let words = compiled.at(&point).expect("nothing stops it");
                    let mut values = words.chunks(3).zip(&floats).filter(|(_, float)| **float);
                    if !values.any(|(dual, _)| f32::from_bits(dual[0]).is_nan()) {
                        hidden.insert((function.name, name.clone()));
                    }
                }
            }
        }
    }
    let allowed = HIDING_NAN.iter();
    let allowed = allowed
        .flat_map(|(function, names)| names.iter().map(|name| (*function, (*name).to_owned())));
    assert_eq!(hidden, allowed.collect());
}

/// Shaders that call each function of the name whose arguments can be drawn, and what is drawn for
/// them.
fn calls(function: &Function) -> impl Iterator<Item = (String, Variables)> {
    let signatures = signatures(function.name).into_iter();
    signatures.filter_map(|signature| Some((signature.shader(), signature.variables(function)?)))
}
