//! The globals and values of each pixel; neither threads nor engines change a bit.

use super::*;

#[test]
fn globals_are_sampled_at_pixel_centres() {
    let text = "shader s(out float4 o) { o = float4(global_value<uv>, global_value<pixel>); }";
    let (image, printed) = floats("globals", text, "--size 5x3");
    assert_eq!(
        (image.size().to_string(), image.channels()),
        ("5x3".to_owned(), 4)
    );
    assert_eq!(printed, "");
    for (i, pixel) in image.pixels().iter().enumerate() {
        let (x, y) = ((i % 5) as f64 + 0.5, (i / 5) as f64 + 0.5);
        assert_eq!(*pixel, [x / 5.0, y / 3.0, x, y].map(|x| x as f32));
    }
    let text = "shader s(out color o) { float2 r = global_value<resolution>; o = color(r.x, r.y, global_value<time>); }";
    let (image, _) = floats("still", text, "--size 5x3 --time 2.5");
    assert!(image.pixels().iter().all(|p| *p == [5.0, 3.0, 2.5, 1.0]));
    assert_eq!(floats("size", text, "").0.size().to_string(), "512x512");
}

#[test]
fn global_derivatives_are_pixel_differences() {
    for (view, step) in [
        ("ddx", [0.2, 0.0, 1.0, 0.0]),
        ("ddy", [0.0, 1.0 / 3.0, 0.0, 1.0]),
    ] {
        let text = "shader s(out float4 o) { o = float4(global_value<uv>, global_value<pixel>); }";
        let args = format!("--size 5x3 --view {view}");
        let (image, _) = floats(&format!("steps_{view}"), text, &args);
        assert!(
            image
                .pixels()
                .iter()
                .all(|p| *p == step.map(|x: f64| x as f32))
        );
    }
}

#[test]
fn set_globals_vary_by_their_derivatives() {
    let text =
        "shader s(out color o) { o = color(global_value<t>, global_value<k>, global_value<uv>); }";
    let args = "--size 4x4 -g t=1:0.5:-2 -g k=0.25 -g uv=7";
    let (image, _) = floats("moving", text, args);
    for (i, pixel) in image.pixels().iter().enumerate() {
        let (x, y) = ((i % 4) as f32 + 0.5, (i / 4) as f32 + 0.5);
        assert_eq!(pixel[..3], [1.0 + 0.5 * x - 2.0 * y, 0.25, 7.0]);
    }
}

#[test]
fn outputs_are_chosen_by_name_or_order() {
    let text = "shader s(out closure surface, out float first, out int n, out bool odd, out float2 o, out float3 c) {
        surface = make_closure<glow>(1.0); first = 0.25; n = -7; odd = true; o = float2(1, 2); c = float3(3, 4, 5); }";
    let shows = |args: &str| {
        let (image, _) = floats("chosen", text, &format!("--size 1x1 {args}"));
        image.pixels()[0][..3].to_vec()
    };
    assert_eq!(shows(""), [3.0, 4.0, 5.0]);
    assert_eq!(shows("--output first"), [0.25; 3]);
    assert_eq!(shows("--output n"), [-7.0; 3]);
    assert_eq!(shows("--output odd"), [1.0; 3]);
    assert_eq!(shows("--output n --view ddx"), [0.0; 3]);
    let without_names = "shader s(out closure surface, out float first, out float second) {
        surface = make_closure<glow>(1.0); first = 0.25; second = 0.5; }";
    let (image, _) = floats("first", without_names, "--size 1x1");
    assert_eq!(image.pixels()[0][0], 0.25);
}

#[test]
fn colours_are_clamped_and_encoded_as_srgb() {
    let text = "shader s(out color c) { float x = global_value<pixel>.x;
        c = x < 1 ? color(0, 0.5, 1) : x < 2 ? color(-1, 2, 0.0031308) : color(log(-x), 1 / (x - x), -1 / (x - x)); }";
    let (bytes_, _) = bytes("curve", text, "--size 3x1");
    let expected = [[0, 188, 255, 255], [0, 255, 10, 255], [0, 255, 0, 255]];
    assert_eq!(bytes_, expected);
    let (linear, _) = bytes("linear", text, "--size 3x1 --linear");
    assert_eq!(linear[..2], [[0, 128, 255, 255], [0, 255, 1, 255]]);
    let text = "shader s(out float4 c) { c = float4(1, 1, 1, 0.2); }";
    assert_eq!(bytes("alpha", text, "--size 1x1").0, [[255, 255, 255, 51]]);
    let text = "shader s(out float2 c) { c = float2(1, 0.5); }";
    assert_eq!(bytes("two", text, "--size 1x1").0, [[255, 188, 0, 255]]);
    let text = "shader s(out float c) { c = 0.5; }";
    assert_eq!(bytes("grey", text, "--size 1x1").0, [[188, 188, 188, 255]]);
}

/// A shader with a loop that pixels leave at different times, a texture, a fault, and a stop.
const DIVERGENT: &str = "
    texture2d wood;
    shader s(out color c) {
        float2 p = global_value<uv> * 3 - 1.5;
        float w[3] = { p.x, p.y, p.x * p.y };
        int iterations = 0;
        while (dot(p, p) < 4 && iterations < 60) { p = float2(p.x * p.x - p.y * p.y, 2 * p.x * p.y) + w[iterations % 4] * 0.1 + 0.3; iterations += 1; }
        c = color(iterations * 0.02, texture2d_sample<wood>(p).x, fwidth(p.x));
    }";

#[test]
fn threads_and_engines_change_no_bit() {
    let file = |args: &str| {
        let (ran, file) = draw(
            "same.exr",
            DIVERGENT,
            &format!("--size 150x70 --steps 40 {args}"),
        );
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        (std::fs::read(file).expect("an image"), ran.stderr)
    };
    let one = file("--threads 1");
    assert!(one.1.contains("pixels, the first (") && one.1.contains("pixels were stopped"));
    for args in [
        "--threads 3",
        "--threads 2 --engine point",
        "",
        "--threads 16 --engine batch",
    ] {
        assert!(file(args) == one, "{args}");
    }
    let reference = file("--threads 2 --engine reference");
    assert!(reference == one);
}

/// An image large enough that `auto`, the default engine, compiles while it draws.
#[test]
fn tier_changes_no_bit_of_large_image() {
    let text = "shader s(out color c) { float2 p = global_value<pixel>; c = color(sin(p.x * 0.1) * exp(p.y * 0.01), fwidth(p.x * p.y), p.x); }";
    let of = |engine: &str| {
        let args = format!("--size 301x300 --threads 8 --stats {engine}");
        let (ran, file) = draw("large.exr", text, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut lines = ran.stderr.lines();
        let line = lines.find(|line| line.starts_with("arithmetic by"));
        let tier = line.expect("it reports the tier").to_owned();
        (std::fs::read(file).expect("an image"), tier)
    };
    let (expected, tier) = of("--engine batch");
    assert!(tier.ends_with(" the interpreter"), "{tier}");
    let (found, tier) = of("");
    assert!(found == expected, "{tier}");
    if adumbra::batch::Tier::Native.is_available() {
        let (found, tier) = of("--engine native");
        assert!(
            found == expected && tier.ends_with(" machine code"),
            "{tier}"
        );
    }
}

#[test]
fn one_pixel_wide_images_are_drawn() {
    let text = "shader s(out float2 o) { o = global_value<pixel>; }";
    for (size, last) in [
        ("1x1", [0.5, 0.5]),
        ("300x1", [299.5, 0.5]),
        ("1x300", [0.5, 299.5]),
        ("65x65", [64.5, 64.5]),
    ] {
        let text = text.replace("float2 o", "color o").replace(
            "o = global_value<pixel>",
            "float2 p = global_value<pixel>; o = color(p.x, p.y, 0)",
        );
        let (image, _) = floats("thin", &text, &format!("--size {size}"));
        assert_eq!(image.size().to_string(), size);
        assert_eq!(image.pixels().last().expect("one pixel")[..2], last);
    }
}

#[test]
fn stopped_pixels_are_marked_in_the_image() {
    let text =
        "shader s(out color c) { c = color(0.5); for (; global_value<pixel>.x > 2;) c.x += 0; }";
    let (ran, file) = draw("stopped.png", text, "--size 4x2 --steps 1000");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("4 of 8 pixels were stopped"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("stopped here at 4 pixels, the first (2, 0)"),
        "{}",
        ran.stderr
    );
    let (grey, magenta) = ([188, 188, 188, 255], [255, 0, 255, 255]);
    let row = [grey, grey, magenta, magenta];
    assert_eq!(bytes_of(&file), [row, row].concat());
}

#[test]
fn pixels_that_are_nan_are_counted() {
    let text = |c: &str| format!("shader s(out color c) {{ c = color({c}); }}");
    let root = text("sqrt(global_value<pixel>.x - 3.5)");
    let (ran, _) = draw("nan.png", &root, "--size 5x2");
    let note = "6 of 10 pixels are NaN: `--view nan` shows where";
    assert!(ran.code == 0 && ran.stderr.contains(note), "{ran:?}");
    let (ran, _) = draw("no_nan.png", &text("global_value<pixel>.x"), "--size 5x2");
    assert_eq!(ran.stderr, "");
}

#[test]
fn faults_and_messages_say_which_pixel() {
    let text = "shader s(out float o) { float w[3]; int x = int(global_value<pixel>.x); o = w[x]; if (x == 3) printf(\"x is %d\\n\", x); }";
    let (ran, _) = draw("faults.png", text, "--size 5x2");
    assert_eq!(ran.code, 0);
    assert!(
        ran.stderr.contains("here at 4 pixels, the first (3, 0)"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "(3, 0) x is 3\n(3, 1) x is 3\n");
    let text = "shader s(out float o) { o = 0; printf(\"here\"); }";
    let (ran, _) = draw("messages.png", text, "--size 50x50 --threads 3");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    // MAX_SHOWN_MESSAGES of them, those of the first pixels.
    assert_eq!((lines.len(), lines[99]), (101, "(49, 1) here"));
    assert_eq!(lines[100], "… and 2400 more messages");
}

#[test]
fn every_material_draws_an_image() {
    let folder = crate::command::project("examples/materials");
    let mut names = listing(&folder);
    names.retain(|name| name.ends_with(".adu"));
    assert!(names.len() >= 10);
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).expect("a material");
        let (image, _) = floats("material", &text, "--size 32x32 --surface");
        let first = image.pixels()[0];
        assert!(
            image.pixels().iter().any(|pixel| *pixel != first),
            "{name} is one colour"
        );
        assert!(
            image.pixels().as_flattened().iter().all(|x| x.is_finite()),
            "{name}"
        );
    }
}

#[test]
fn bytecode_may_lack_image_globals() {
    let source = scratch(
        "image_lacking.adu",
        "shader s(out float o) { o = 0.25 * global_value<pixel>.x; }",
    );
    let bytecode = scratch("image_lacking.adb", "");
    let emit = ["emit", &source, "--stage", "bytecode", "-o", &bytecode];
    let ran = adumbra(emit.into_iter().chain(["-g", "pixel=0,0:1,0:0,1"]));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let out = place("lacking").join("lacking.exr");
    let out = out.to_str().expect("a path that is text");
    let ran = adumbra(["image", &bytecode, "-o", out, "--size", "2x1", "--surface"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let drawn = read_image(Path::new(out)).expect("an image");
    let red: Vec<f32> = drawn.pixels().iter().map(|pixel| pixel[0]).collect();
    assert_eq!(red, [0.125, 0.375]);

    let ran = adumbra(["run", &bytecode, "--globals", "picture", "--globals", "hit"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "o  64.125\n"),
        "{}",
        ran.stderr
    );
    // A global that is set exists, or it is a mistake.
    for command in [&["image", &bytecode, "-o", out][..], &["run", &bytecode]] {
        let set = ["-g", "pixel=0,0:1,0:0,1", "-g", "gain=2"];
        let ran = adumbra(command.iter().copied().chain(set));
        assert_eq!(ran.code, 2, "{command:?}");
        assert!(ran.stderr.contains("gain"), "{}", ran.stderr);
    }
}
