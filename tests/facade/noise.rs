//! Random variables: shaders see inputs at offsets, and edges count along these as they should.

#[path = "../../examples/noise_study.rs"]
#[expect(dead_code, reason = "the test does what `main` does")]
mod noise_study;

use adumbra::gradient::JumpRules;
use noise_study::{SCALE, WALL, beyond, columns, compiled, gradients, of_column, truth};

#[test]
fn noise_of_edges_is_unbiased_and_that_of_pairs_is_not() {
    let program = compiled(WALL);
    let noisy = program.with_noise(&["end", "low"]).unwrap();
    let [edge, pair] = [JumpRules::Edge, JumpRules::Pair]
        .map(|rules| ["d(end)", "d(low)"].map(|by| gradients(&noisy, rules, 2, by)));
    assert!(columns().count() >= 9);
    let mut biased = 0;
    for column in columns() {
        for (by, truth) in truth(column).into_iter().enumerate() {
            let (mean, error) = of_column(&edge[by], column);
            assert!(
                error > 0.0 && error < 0.1 * (0.1 + truth.abs()),
                "{column} {by}: {error}"
            );
            assert!(
                (mean - truth).abs() <= 3.0 * error,
                "{column} {by}: {mean} ± {error}, {truth}"
            );
            let (mean, error) = of_column(&pair[by], column);
            biased += usize::from((mean - truth).abs() > 3.0 * error);
        }
    }
    assert!(biased >= columns().count(), "{biased} by pairs");
}

/// By the scale of `end`: the edge is at `end` + scale · u, so its place grows by u.
#[test]
fn scales_have_the_gradient_of_their_average() {
    let program = compiled(
        "shader s(float end = 24, out float c)
        { c = global_value<pixel>.x < end ? 1.0 : 0.0; }",
    );
    let noisy = program.with_noise(&["end"]).unwrap();
    assert_eq!(noisy.variables()[0].scale, "scale(end)");
    let by_scale = gradients(&noisy, JumpRules::Edge, 1, "d(scale(end))");
    for column in [18, 21, 24, 28] {
        let (mean, error) = of_column(&by_scale, column);
        let truth = (beyond(column, 24.0) - 0.5) / SCALE;
        // One edge at one place: the only error is that of rounding and of the root.
        assert!(
            error < 1e-6 && (mean - truth).abs() < 1e-5,
            "{column}: {mean}, {truth}"
        );
    }
    let other = gradients(&noisy, JumpRules::Edge, 2, "d(scale(end))");
    assert_eq!(by_scale, other);
}

/// A bar whose two edges are at one offset from each other: wherever in the interval a point is, it
/// sees each of them once.
#[test]
fn edges_along_one_variable_are_counted_once() {
    let program = compiled(
        "shader s(float low = 24, out float c)
        { float x = global_value<pixel>.x; c = x < low ? 0.0 : (x < low + 4.0 ? 1.0 : 3.0); }",
    );
    let noisy = program.with_noise(&["low"]).unwrap();
    let by_low = gradients(&noisy, JumpRules::Edge, 1, "d(low)");
    for column in 21..31 {
        let (mean, error) = of_column(&by_low, column);
        assert!(
            error < 1e-6 && (mean + 3.0 / SCALE).abs() < 1e-5,
            "{column}: {mean} ± {error}"
        );
    }
}

#[test]
fn random_inputs_must_have_floats() {
    let program = compiled("shader s(int n, float spread, out float c) { c = spread * n; }");
    let why = program.with_noise(&["n"]).unwrap_err().to_string();
    assert!(why.contains("`n` is of type `int`"), "{why}");
    let why = program.with_noise(&["spred"]).unwrap_err().to_string();
    assert!(why.contains("did you mean `spread`?"), "{why}");
}
