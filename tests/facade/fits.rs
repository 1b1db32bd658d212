//! The fits of the examples: they find what they are given, whatever runs them.

#[path = "../../examples/fit_brdf.rs"]
#[expect(dead_code, reason = "the test does what `main` does")]
mod fit_brdf;

use adumbra::gradient::GradientRequest;
use fit_brdf::{Fit, Measured, STEPS, program};

#[test]
fn fit_of_a_reflection_finds_roughness_and_color() {
    let program = program().expect("it compiles");
    let gradient = program
        .gradient(&GradientRequest::new().of("error"))
        .unwrap();
    for (roughness, base) in [(0.27, [0.8, 0.45, 0.1]), (0.6, [0.1, 0.2, 0.7])] {
        let measured = Measured::of(&program, roughness, base).unwrap();
        let mut fit = Fit::new();
        fit.run(&gradient, &measured, STEPS, 1).unwrap();
        let [found, red, green, blue] = fit.parameters;
        let expected = [roughness, base[0], base[1], base[2]];
        for (found, expected) in [found, red, green, blue].into_iter().zip(expected) {
            assert!((found - expected).abs() < 2e-3, "{fit:?}");
        }
        assert!(fit.error < 1e-5, "{fit:?}");
    }
}

#[test]
fn resumed_fit_is_the_uninterrupted_one() {
    let program = program().expect("it compiles");
    let gradient = program
        .gradient(&GradientRequest::new().of("error"))
        .unwrap();
    let measured = Measured::of(&program, 0.4, [0.3, 0.6, 0.2]).unwrap();
    let mut whole = Fit::new();
    whole.run(&gradient, &measured, 60, 1).unwrap();
    for threads in [1, 2, 8] {
        let mut fit = Fit::new();
        for steps in [1, 20, 39] {
            let mut resumed = fit.clone();
            resumed.run(&gradient, &measured, steps, threads).unwrap();
            fit = resumed;
        }
        assert_eq!(fit, whole, "{threads} threads");
    }
}

#[test]
fn shader_of_the_page_is_that_of_the_example() {
    let page = include_str!("../../docs/fit.md");
    let shader = include_str!("../../examples/fit/sun.adu");
    assert!(page.contains(&format!("```adu file=sun.adu\n{shader}```")));
}
