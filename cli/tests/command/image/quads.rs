//! Images with derivatives from neighbours: quads begin at even columns and rows, helpers complete
//! them at the edges.

use super::*;

/// Columns of a row of an image.
fn row(image: &Image, from: usize, count: usize) -> Vec<f32> {
    let row = &image.pixels()[from..][..count];
    row.iter().map(|pixel| pixel[0]).collect()
}

#[test]
fn step_within_a_quad_has_slope() {
    let of = |edge: u32, derivatives: &str| {
        let text = format!("shader s(out float o) {{ o = step({edge}, global_value<pixel>.x); }}");
        let args = format!("--size 12x3 --view ddx --derivatives {derivatives}");
        let (image, _) = floats(&format!("step_{edge}_{derivatives}"), &text, &args);
        let rows: Vec<f32> = row(&image, 0, 36);
        assert!(rows[..12] == rows[12..24] && rows[..12] == rows[24..]);
        rows[..12].to_vec()
    };
    let mut odd = [0.0; 12];
    odd[8..10].fill(1.0);
    for derivatives in ["quad-fine", "quad-coarse"] {
        assert_eq!(of(9, derivatives), odd);
        assert_eq!(of(10, derivatives), [0.0; 12]);
    }
    assert_eq!(of(9, "dual"), [0.0; 12]);
}

#[test]
fn edge_quads_match_a_larger_image() {
    let text = "shader s(out color c) { float2 p = global_value<pixel>; c = color(p.x * p.x * p.y, ddy(p.x * p.y * p.y), p.x / p.y); }";
    for (view, rule) in [
        ("value", "quad-fine"),
        ("ddx", "quad-fine"),
        ("ddy", "quad-coarse --coarse lower-right"),
        ("width", "quad-coarse --coarse upper-right"),
    ] {
        let of = |name: &str, size: &str| {
            let args = format!("--size {size} --view {view} --derivatives {rule}");
            floats(&format!("edges_{view}_{name}"), text, &args).0
        };
        let whole = of("whole", "80x70");
        for (name, width, height) in [("odd", 67, 65), ("wide", 5, 1), ("one", 1, 1)] {
            let part = of(name, &format!("{width}x{height}"));
            for (y, pixels) in part.pixels().chunks_exact(width).enumerate() {
                assert_eq!(pixels, &whole.pixels()[80 * y..][..width], "{view} {name}");
            }
            assert_eq!(part.pixels().len(), width * height);
        }
    }
    let (one, _) = floats(
        "square",
        "shader s(out float o) { o = global_value<pixel>.x; o *= o; }",
        "--size 1x1 --view ddx --derivatives quad-fine",
    );
    assert_eq!(row(&one, 0, 1), [2.0]);
}

#[test]
fn every_engine_draws_the_same_quads() {
    let text = "texture2d wood; shader s(out color c) {
        float2 p = global_value<pixel>;
        float x = p.x;
        while (x > 3) x = x * 0.5 - 1;
        if (p.x > 5 && p.y > 6) printf(\"%g\", p.x);
        int d = 7 / ((int)p.x - 3);
        c = texture2d_sample<wood>(fract(p / 9)) * fwidth(x * p.y) + d;
    }";
    for view in ["value", "ddx", "ddy", "width", "lod", "nan"] {
        let of = |engine: &str| {
            let args = format!(
                "--size 7x9 --view {view} --engine {engine} --derivatives quad-coarse --coarse lower-left"
            );
            let (ran, file) = draw(&format!("engine_{view}.exr"), text, &args);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let image = read_image(&file).expect("an image");
            let bits: Vec<_> = image.pixels().iter().map(|p| p.map(f32::to_bits)).collect();
            (bits, ran.stdout, ran.stderr)
        };
        let expected = of("reference");
        assert!(expected.1.contains("(5, 6) 5.5\n(6, 6) 6.5\n") && !expected.1.contains("(7,"));
        assert!(
            expected.2.contains("at 9 pixels, the first (3, 0)"),
            "{}",
            expected.2
        );
        for engine in ["point", "batch", "auto"] {
            assert!(of(engine) == expected, "{view} {engine}");
        }
    }
}

#[test]
fn quads_keep_shaders_without_derivatives() {
    let text = "shader s(out color c) { float2 p = global_value<uv>; c = color(sin(9 * p.x), p.y * p.y, p.x > p.y ? 1 : 0); }";
    let of = |derivatives: &str| {
        let args = format!("--size 33x17 --derivatives {derivatives}");
        let (ran, file) = draw(&format!("plain_{derivatives}.png"), text, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        std::fs::read(file).expect("an image")
    };
    assert_eq!(of("quad-fine"), of("dual"));
    assert_eq!(of("quad-coarse"), of("dual"));
}

#[test]
fn seam_is_sampled_at_coarse_level() {
    // The seam lies between columns 8 and 9 of 16.
    let text = "texture2d wood; shader s(out float o) { o = texture2d_sample_alpha<wood>(fract((global_value<pixel>.x + 7) / 16), 0.5); }";
    let of = |derivatives: &str| {
        let args = format!("--size 16x2 --view lod --derivatives {derivatives}");
        row(
            &floats(&format!("seam_{derivatives}"), text, &args).0,
            0,
            16,
        )
    };
    let (dual, quads) = (of("dual"), of("quad-fine"));
    for (column, (dual, quads)) in dual.iter().zip(&quads).enumerate() {
        assert_eq!(quads > dual, column / 2 == 4, "{column}");
    }
}

#[test]
fn neighbours_nans_are_traced() {
    let args = "--size 4x2 --view nan --derivatives quad-fine";
    let (verdicts, printed) = floats(
        "nan_quads",
        "shader s(out float o) { float x = 2 - global_value<pixel>.x;\n o = sqrt(x + 0.5); }",
        &format!("{args} --engine batch"),
    );
    // At column 3 it is NaN, and at its neighbour the difference is.
    assert_eq!(row(&verdicts, 0, 4), [0.0, 0.0, 1.0, 3.0]);
    assert!(
        printed.contains("at (3, 0) `o` became NaN in")
            && printed.ends_with(":2:6: sqrt(x + 0.5)\n"),
        "{printed}"
    );
    // A neighbour's value that was not selected has no effect.
    let text =
        "shader s(out float o) { float x = global_value<pixel>.x - 1; o = x > 0 ? sqrt(x) : 3; }";
    let (verdicts, _) = floats("nan_chosen", text, args);
    assert_eq!(row(&verdicts, 0, 4), [0.0; 4]);
}
