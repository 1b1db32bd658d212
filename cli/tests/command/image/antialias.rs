//! `--antialias edges`: pixels show what is beyond an edge by its share, and what is refused.

use super::{draw, floats};

/// White left of a line of slope ½, by a global other than the axes.
const LINE: &str = "shader line(float at = 3.3, out float c)
    { float2 uv = global_value<uv>; c = 8.0 * uv.x + 2.0 * (uv.y - 0.5) < at ? 1.0 : 0.0; }";

#[test]
fn pixels_show_both_sides_of_an_edge() {
    let (plain, _) = floats("antialias_none", LINE, "--size 8x4");
    let (wide, _) = floats("antialias_wide", LINE, "--size 8x4 --antialias edges");
    let (own, _) = floats("antialias_own", LINE, "--size 8x4 --antialias edges:0.5");
    for y in 0..4 {
        // Where the edge is on the line, along x, along which it moves faster.
        let edge = 3.3 - 2.0 * ((y as f64 + 0.5) / 4.0 - 0.5);
        for x in 0..8 {
            let middle = x as f64 + 0.5;
            let share = |reach: f64| ((edge - middle + reach) / (2.0 * reach)).clamp(0.0, 1.0);
            let at = 8 * y + x;
            let seen = [&plain, &wide, &own].map(|image| f64::from(image.pixels()[at][0]));
            let expected = [f64::from(u8::from(middle < edge)), share(1.0), share(0.5)];
            for (seen, expected) in seen.into_iter().zip(expected) {
                assert!((seen - expected).abs() < 1e-5, "{x},{y}: {seen} {expected}");
            }
        }
    }
}

#[test]
fn image_without_edges_stays() {
    for text in [
        "shader s(out float c) { c = 0.25; }",
        "shader s(out float c) { c = global_value<uv>.x; }",
        "shader s(out float c) { c = global_value<time> < 1.0 ? 0.5 : 0.0; }",
    ] {
        let (plain, _) = floats("antialias_plain", text, "--size 4x4");
        let (same, _) = floats("antialias_same", text, "--size 4x4 --antialias edges");
        assert_eq!(plain.pixels(), same.pixels(), "{text}");
    }
}

#[test]
fn misused_antialiasing_is_refused() {
    for (args, expected) in [
        ("--antialias edges --samples 2", "two ways to soften edges"),
        ("--antialias edges --view ddx", "for `--view value`"),
        ("--antialias edges --surface", "leave `--surface` out"),
        ("--antialias edges --at 1,1", "leave `--antialias` out"),
        ("--antialias points", "no way to soften edges"),
        ("--antialias edges --output n", "is no float"),
        ("--antialias edges --derivatives quad-fine", "quads"),
    ] {
        let text = "shader s(out float c, out int n) { c = global_value<uv>.x; n = (int)c; }";
        let (ran, _) = draw("antialias_refused.png", text, args);
        assert_ne!(ran.code, 0, "{args}");
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
    }
}
