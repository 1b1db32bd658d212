//! The views of derivatives, levels and NaNs.

use super::*;

/// o = u² + 3v: its derivatives are 2u/W and 3/H.
const SLOPES: &str =
    "shader s(out float o) { float2 p = global_value<uv>; o = p.x * p.x - 3 * p.y; }";

#[test]
fn derivatives_are_slopes() {
    let of = |view: &str| {
        floats(
            &format!("slopes_{view}"),
            SLOPES,
            &format!("--size 16x8 --view {view}"),
        )
        .0
    };
    let [ddx, ddy, width] = ["ddx", "ddy", "width"].map(of);
    for i in 0..16 * 8 {
        let u = ((i % 16) as f32 + 0.5) / 16.0;
        let (dx, dy) = (2.0 * u / 16.0, -3.0 / 8.0);
        let found = [&ddx, &ddy, &width].map(|image| image.pixels()[i][0]);
        assert_eq!(found, [dx, dy, dx.abs() + f32::abs(dy)]);
    }
}

#[test]
fn grey_is_no_slope_and_the_scale_is_printed() {
    // Flat on the left; ±1/8 a pixel on the right.
    let text = "shader s(out color c) { float u = global_value<uv>.x; float x = u < 0.5 ? 0 : u; c = color(x, -x, 0); }";
    let (greys, printed) = bytes("scaled", text, "--size 8x1 --view ddx");
    assert_eq!(printed, "black -0.125 per pixel, grey 0, white 0.125\n");
    assert_eq!(
        (greys[0], greys[7]),
        ([128, 128, 128, 255], [255, 0, 128, 255])
    );
    let (greys, printed) = bytes("given", text, "--size 8x1 --view ddx --scale 0.25");
    assert_eq!(printed, "black -0.25 per pixel, grey 0, white 0.25\n");
    assert_eq!(
        (greys[0], greys[7]),
        ([128, 128, 128, 255], [191, 64, 128, 255])
    );
    let (greys, printed) = bytes("width", text, "--size 8x1 --view width");
    assert_eq!(printed, "black 0, white 0.125 per pixel\n");
    assert_eq!((greys[0], greys[7]), ([0, 0, 0, 255], [255, 255, 0, 255]));
    // Without any change there is a scale all the same.
    let (greys, printed) = bytes(
        "flat",
        "shader s(out float o) { o = 1; }",
        "--size 2x2 --view ddy",
    );
    assert_eq!(printed, "black -1.0 per pixel, grey 0, white 1.0\n");
    assert_eq!(greys, [[128, 128, 128, 255]; 4]);
}

#[test]
fn steep_pixel_leaves_others_visible() {
    let text = "shader s(out float o) { float u = global_value<uv>.x; o = u; if (global_value<pixel>.x < 1) o = 1000 * u; }";
    let (_, printed) = bytes("steep", text, "--size 256x1 --view ddx");
    assert_eq!(
        printed,
        "black -0.00390625 per pixel, grey 0, white 0.00390625\n"
    );
}

#[test]
fn nans_are_marked_and_traced_to_origin() {
    let text = "float root(float x) {\n    return sqrt(x);\n}\nshader s(out color c) {
        float2 p = global_value<uv>;
        float unused = log(-1 - p.x);
        float y = 1 + root(p.x - 0.5);
        c = color(p.y, y, p.x > 0.9 ? 1 / (p.x - p.x) : unused > 0 ? 0 : 1);
    }";
    let (verdicts, printed) = floats("nan", text, "--size 16x2 --view nan");
    let row: Vec<f32> = verdicts.pixels()[..16].iter().map(|p| p[0]).collect();
    assert_eq!(row, [[3.0; 8].as_slice(), &[0.0; 6], &[2.0; 2]].concat());
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], "NaN (red): 16 pixels, the first at (0, 0)");
    assert_eq!(
        lines[1],
        "infinite (yellow): 4 pixels, the first at (14, 0)"
    );
    assert!(
        lines[3].starts_with("at (0, 0) `c` became NaN in ")
            && lines[3].ends_with("image_nan.adu:2:12: sqrt(x)"),
        "{printed}"
    );
    let (colours, _) = bytes("nan_colours", text, "--size 16x2 --view nan");
    assert_eq!(
        (colours[0], colours[15]),
        ([255, 0, 0, 255], [255, 208, 0, 255])
    );
    assert!(colours[9][0] == colours[9][1] && colours[9][0] < 100);
}

#[test]
fn nan_derivatives_are_found() {
    // The value is 0; the slope is the difference of two beyond all floats.
    let text = "shader s(out float o) { float x = global_value<pixel>.x - 0.5; float y = x * 3e38; y = y * 3e38; o = x > 0 ? x : y - y; }";
    let (verdicts, printed) = floats("nan_slope", text, "--size 3x1 --view nan");
    let row: Vec<f32> = verdicts.pixels().iter().map(|p| p[0]).collect();
    assert_eq!(row, [1.0, 0.0, 0.0]);
    assert!(
        printed.contains("blue): 1 pixel, the first at (0, 0)"),
        "{printed}"
    );
    assert!(
        printed.contains("at (0, 0) ddx of `o` became NaN in") && printed.contains(": y - y\n"),
        "{printed}"
    );
}

#[test]
fn image_without_nans_says_so() {
    let (_, printed) = floats("finite", SLOPES, "--size 4x4 --view nan");
    let expected = "NaN (red): 0 pixels\ninfinite (yellow): 0 pixels\nderivative NaN or infinite (blue): 0 pixels\n";
    assert_eq!(printed, expected);
}
