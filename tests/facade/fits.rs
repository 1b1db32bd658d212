//! The fits of the examples: they find what they are given, whatever runs them.

#[path = "../../examples/fit_brdf.rs"]
#[expect(dead_code, reason = "the test does what `main` does")]
mod fit_brdf;

#[path = "../../examples/fit_network.rs"]
#[expect(dead_code, reason = "the test does what `main` does, in fewer steps")]
mod fit_network;

#[path = "../../examples/fit_texture.rs"]
#[expect(dead_code, reason = "the test does what `main` does, on fewer texels")]
mod fit_texture;

use adumbra::batch::{BatchSetup, Tier};
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

/// A network learns an image, and every step is the same to the bit on any number of threads, by
/// any tier, and after an interruption.
#[test]
fn network_learns_an_image() {
    let program = fit_network::program().expect("it compiles");
    let gradient = program
        .gradient(&GradientRequest::new().of("error").by_buffer("w"))
        .unwrap();
    let planes = fit_network::planes();
    let globals = fit_network::seeded_globals(&gradient, &planes).unwrap();
    let steps = |fit: &mut fit_network::Fit, count: u32, tier: Tier, threads: usize| {
        let setup = BatchSetup {
            tier,
            ..BatchSetup::default()
        };
        for _ in 0..count {
            fit.step(&gradient, &globals, &setup, threads).unwrap();
        }
    };
    let mut whole = fit_network::Fit::new();
    steps(&mut whole, 3, Tier::Interpreter, 2);
    let tiers = [(Tier::Native, 1, 64), (Tier::Auto, 3, 512)];
    for (tier, threads, width) in tiers.into_iter().filter(|(tier, ..)| tier.is_available()) {
        let mut fit = fit_network::Fit::new();
        let setup = BatchSetup {
            tier,
            width: Some(width),
            ..BatchSetup::default()
        };
        for _ in 0..3 {
            let mut resumed = fit.clone();
            resumed.step(&gradient, &globals, &setup, threads).unwrap();
            fit = resumed;
        }
        assert!(fit == whole, "{tier:?}, {threads} threads");
    }
    let begin = whole.psnr();
    steps(&mut whole, 22, Tier::Auto, 2);
    assert!(
        whole.psnr() > begin + 5.0,
        "{begin} dB, then {} dB",
        whole.psnr()
    );
}

/// A texture comes nearer with every few steps, and each step is the same to the bit on any number
/// of threads, by any tier, and after an interruption.
#[test]
fn texture_is_learnt() {
    const SIDE: u32 = 24;
    let program = fit_texture::program().expect("it compiles");
    let truth = fit_texture::texture(SIDE);
    let gradient = program.gradient(&fit_texture::request()).unwrap();
    let view = fit_texture::View::take(&program, &truth, 36).unwrap();
    let steps = |fit: &mut fit_texture::Fit, count: u32, tier: Tier, threads: usize| {
        let setup = BatchSetup {
            tier,
            width: (threads > 1).then_some(64),
            ..BatchSetup::default()
        };
        for _ in 0..count {
            fit.step(&gradient, &view, &setup, threads).unwrap();
        }
    };
    let mut whole = fit_texture::Fit::new(SIDE);
    steps(&mut whole, 3, Tier::Interpreter, 1);
    let tiers = [(Tier::Interpreter, 2), (Tier::Native, 3), (Tier::Auto, 8)];
    for (tier, threads) in tiers.into_iter().filter(|(tier, _)| tier.is_available()) {
        let mut fit = fit_texture::Fit::new(SIDE);
        for _ in 0..3 {
            let mut resumed = fit.clone();
            steps(&mut resumed, 1, tier, threads);
            fit = resumed;
        }
        assert!(fit == whole, "{tier:?}, {threads} threads");
    }
    steps(&mut whole, fit_texture::STEPS - 3, Tier::Interpreter, 2);
    let [root, most] = whole.distance(&truth);
    assert!(root < 1.0 / 255.0, "{root} {most}");
}
