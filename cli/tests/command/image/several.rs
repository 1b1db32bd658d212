//! Several points in a pixel, several images over time.

use super::*;

const EDGE: &str = "shader s(out float o) { o = global_value<uv>.x > 0.3 ? 1 : 0; }";

#[test]
fn samples_average_evenly_spaced_points() {
    let of = |samples: u32| {
        let (image, _) = floats("samples", EDGE, &format!("--size 1x1 --samples {samples}"));
        image.pixels()[0][0]
    };
    // At 0.5; at 0.25 and 0.75; at 1/6, 3/6, 5/6; at 1/8, 3/8, 5/8, 7/8.
    assert_eq!([1, 2, 3, 4].map(of), [1.0, 0.5, 2.0 / 3.0, 0.75]);
}

#[test]
fn samples_keep_constants_derivatives_and_bits() {
    let text = "shader s(out float3 o) { o = float3(0.1, global_value<pixel>.y, ddx(global_value<uv>.x)); }";
    for derivatives in ["dual", "quad-fine"] {
        let (one, _) = floats(
            "one",
            text,
            &format!("--size 5x3 --derivatives {derivatives}"),
        );
        let args = format!("--size 5x3 --samples 4 --derivatives {derivatives}");
        let (many, _) = floats("many", text, &args);
        for (one, many) in one.pixels().iter().zip(many.pixels()) {
            assert_eq!(one[..2], many[..2], "{derivatives}");
            assert!((one[2] - many[2]).abs() < 1e-6, "{derivatives}");
        }
    }
    let edge = "--size 9x7 --samples 3";
    let (batch, _) = floats("batch", EDGE, &format!("{edge} --engine batch --threads 3"));
    let (point, _) = floats("point", EDGE, &format!("{edge} --engine point"));
    assert_eq!(batch.pixels(), point.pixels());
}

#[test]
fn frames_are_images_of_their_times() {
    let text = "shader s(out float o) { o = global_value<time> * global_value<uv>.x; }";
    let (ran, file) = draw("film.exr", text, "--size 4x4 --time -1..3 --frames 4");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let folder = file.parent().expect("a folder");
    let names = [
        "film_0001.exr",
        "film_0002.exr",
        "film_0003.exr",
        "film_0004.exr",
    ];
    assert_eq!(listing(folder), names);
    for (name, time) in names.into_iter().zip(["-1", "0", "1", "2"]) {
        let (single, _) = floats("single", text, &format!("--size 4x4 --time {time}"));
        let frame = read_image(&folder.join(name)).expect("an image");
        assert_eq!(frame.pixels(), single.pixels(), "{name}");
    }
}

#[test]
fn conflicting_options_are_refused() {
    for (args, expected) in [
        ("--time 0..1", "say how many by `--frames N`"),
        ("--frames 3", "over `--time A..B`"),
        ("--time 2 --frames 3", "over `--time A..B`"),
        (
            "--time 0..1 --frames 3 --watch",
            "`--watch` draws one image",
        ),
        ("--time 0..1 --frames 0", "1 to 10000 images"),
        ("--time 0..1 --frames 3 -g time=1", "given twice"),
        ("--time 0..x --frames 3", "`x` is not a number"),
        ("--samples 0", "1 to 16 points"),
        ("--samples 17", "1 to 16 points"),
        ("--samples 2 --view lod", "no mean"),
        ("--samples 2 --view nan", "no mean"),
    ] {
        let (ran, file) = draw("refused_several.png", EDGE, args);
        assert_eq!(ran.code, 2, "{args}");
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
        assert_eq!(listing(file.parent().expect("a folder")), [""; 0], "{args}");
    }
}
