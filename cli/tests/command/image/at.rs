//! `--at X,Y` traces a pixel: the trace has the image's bits, is bounded, and is refused where it
//! is impossible.

use super::*;
use serde_json::Value;

/// Runs `image --at` on a shader. The name of its file has the test's, since tests run beside each
/// other.
fn at(name: &str, text: &str, args: &str) -> CommandOutput {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default().replace("::", "_");
    let source = scratch(&format!("{test}_{name}.adu"), text);
    adumbra(
        ["image", &source]
            .into_iter()
            .chain(args.split_whitespace()),
    )
}

/// The same with `--json`.
fn json(name: &str, text: &str, args: &str) -> Value {
    let ran = at(name, text, &format!("{args} --json"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// The bits of a number as JSON has it.
fn bits(number: &Value) -> u32 {
    let number = match number.as_str() {
        Some(text) => text.parse::<f32>().expect("nan, inf or -inf"),
        // The shortest decimal reads back to the same float.
        None => number.to_string().parse::<f32>().expect("a number"),
    };
    match number.is_nan() {
        true => f32::NAN.to_bits(),
        false => number.to_bits(),
    }
}

/// The numbers of a value in order.
fn flat(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::Bool(holds) => vec![f32::from(u8::from(*holds)).to_bits()],
        number => vec![bits(number)],
    }
}

/// Names and values of the assignments, as JSON text.
fn assigned(pixel: &Value) -> Vec<(String, String)> {
    let trace = pixel["trace"].as_array().expect("a list").iter();
    let steps = trace.filter(|step| step["event"] == "assign");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    steps
        .map(|step| (text(&step["name"]), step["value"].to_string()))
        .collect()
}

const MATERIAL: &str = "texture2d wood;
struct Hit { float2 at; float3x3 turn; float w[3]; };
float fold(float x, out float twice, int depth)
{
    twice = 2 * x;
    if (depth > 3) return x;
    float inner;
    return 0.5 * x + fold(x - 0.1, inner, depth + 1) * inner;
}
shader s(float gain = 1.25, out float4 c)
{
    float2 uv = global_value<uv>;
    Hit hit;
    hit.at = uv - 0.5;
    hit.turn = float3x3(2);
    int n = int(8 * uv.x);
    for (int i = 0; i < n; ++i) { hit.w[i % 3] += sin(uv.y * i); if (hit.w[0] > 1) break; }
    switch (n) { case 0: hit.at.x = 4; break; case 1: hit.at *= 3; case 2: hit.at.y = length(hit.at); break; default: hit.at = fract(hit.at * n); }
    float twice;
    float folded = fold(uv.x, twice, 0);
    float3 look = texture2d_sample<wood>(4 * uv * uv);
    if (uv.x + uv.y > 1) { float uv = twice; look *= uv; }
    c = gain * float4(hit.at, folded + hit.w[n % 3], look.x + fwidth(look.x * uv.y) + spread(uv));
    c.w += log(uv.y - 0.2);
}";

#[test]
fn traced_outputs_have_the_pixels_bits() {
    let spread = "float spread(float2 p) { return length(ddx(p)) + length(ddy(p)); }\n";
    let text = format!("{spread}{MATERIAL}");
    for (name, args) in [
        ("dual", "--arg gain=0.75"),
        ("fine", "--derivatives quad-fine"),
        ("coarse", "--derivatives quad-coarse --coarse lower-right"),
        ("off", "--derivatives off"),
        ("moved", "-g uv=0.2,0.1:0.05,0:0.01,0.06 --time 2"),
    ] {
        let size = "--size 11x7";
        let images = ["reference", "point", "batch", "native", "auto"].map(|engine| {
            let name = format!("at_{name}_{engine}");
            floats(&name, &text, &format!("{size} {args} --engine {engine}")).0
        });
        for pixel in [0, 10, 17, 38, 50, 76] {
            let (x, y) = (pixel % 11, pixel / 11);
            let followed = json(name, &text, &format!("{size} {args} --at {x},{y}"));
            let shown = flat(&followed["outputs"]["c"]["value"]);
            for image in &images {
                let drawn = image.pixels()[pixel].map(|x| match x.is_nan() {
                    true => f32::NAN.to_bits(),
                    false => x.to_bits(),
                });
                assert_eq!(shown, drawn, "{name} {x},{y}");
            }
            // The last assignment is the output's.
            let last = assigned(&followed).pop().expect("assignments");
            assert_eq!(last.0, "c.w");
            assert_eq!(last.1, followed["outputs"]["c"]["value"][3].to_string());
        }
    }
}

#[test]
fn trace_has_surface_textures_and_inputs() {
    let text = "texture2d wood; shader s(out color c) {
        float3 n = global_value<normal>; float2 p = 3 * global_value<uvw>.xy;
        c = texture2d_sample<wood>(p) * dot(n, float3(0, 0, 1)) + texture2d_sample_level<wood>(p, 1.5); }";
    let size = adumbra_image::ImageSize::new(4, 4).expect("a size");
    let bytes: Vec<u8> = (0..48).map(|byte| 5 * byte).collect();
    let png = adumbra_image::PngImage {
        size,
        bytes: &bytes,
        has_alpha: false,
        is_srgb: true,
    };
    let mut file = Vec::new();
    adumbra_image::write_png(&png, &mut file).expect("memory");
    let file = scratch("at_wood.png", file);
    let args = format!("--size 9x8 --surface --texture wood={file}");
    let (image, _) = floats("at_surface", text, &args);
    let followed = json("surface", text, &format!("{args} --at 5,2"));
    let shown = flat(&followed["outputs"]["c"]["value"]);
    let drawn = image.pixels()[2 * 9 + 5].map(f32::to_bits);
    assert_eq!(shown, drawn[..3]);
    let trace = followed["trace"].as_array().expect("a list");
    let samples: Vec<&Value> = trace.iter().filter(|s| s["event"] == "sample").collect();
    let [first, second] = samples[..] else {
        panic!("{trace:?}");
    };
    assert_eq!(
        (first["texture"].as_str(), first["line"].as_u64()),
        (Some("wood"), Some(3))
    );
    // The steps are three times those of the surface, whose shorter side is 8 pixels: four texels
    // go by in 8/3 of them.
    let step = f32::from_bits(bits(&first["dudx"]));
    assert!((step - 3.0 / 8.0).abs() < 1e-6, "{step}");
    let level = f32::from_bits(bits(&first["level"]));
    assert!((level - 1.5_f32.log2()).abs() < 1e-5, "{level}");
    assert_eq!(second["level"], 1.5);
    assert_eq!(second["color"].as_array().map(Vec::len), Some(4));
    assert_eq!(followed["globals"]["uvw"]["type"], "float3");
}

#[test]
fn traced_derivatives_match_their_views() {
    let text = "shader s(out float o) { float2 p = global_value<pixel>; float r = p.x * p.x * p.y; o = r; }";
    for (name, args) in [
        ("dual", ""),
        ("fine", "--derivatives quad-fine"),
        ("coarse", "--derivatives quad-coarse --coarse upper-right"),
    ] {
        for view in ["ddx", "ddy"] {
            let args = format!("--size 5x3 {args}");
            let drawn = format!("{args} --view {view}");
            let (image, _) = floats(&format!("at_{name}_{view}"), text, &drawn);
            for pixel in 0..15 {
                let place = format!("--at {},{}", pixel % 5, pixel / 5);
                let followed = json(name, text, &format!("{args} {place}"));
                let expected = image.pixels()[pixel][0].to_bits();
                assert_eq!(bits(&followed["outputs"]["o"][view]), expected);
                let trace = followed["trace"].as_array().expect("a list");
                let r = trace.iter().find(|step| step["name"] == "r").expect("r");
                assert_eq!(bits(&r[view]), expected, "{name} {view} {place}");
            }
        }
    }
    let off = json("off", text, "--size 5x3 --at 1,1 --derivatives off");
    assert!(off["outputs"]["o"].get("ddx").is_none());
    assert!(off["trace"][1].get("ddx").is_none());
}

#[test]
fn diverged_neighbours_give_no_quad_derivative() {
    let text = "float twice(float x) { return 2 * x; }
shader s(out float o) { float2 p = global_value<pixel>; o = 0;
    for (int i = 0; i < int(p.x); ++i) { o += twice(p.x); }
    if (p.y > 1) { float low = p.y * 3; o += low; } }";
    let followed = json(
        "parted",
        text,
        "--size 4x4 --at 1,1 --derivatives quad-fine",
    );
    let trace = followed["trace"].as_array().expect("a list");
    let low = trace
        .iter()
        .find(|step| step["name"] == "low")
        .expect("low");
    assert_eq!((low["ddx"].as_f64(), low.get("ddy")), (Some(0.0), None));
    // Only the pixel on the right enters the loop, and the one above.
    let x = trace.iter().find(|step| step["name"] == "x").expect("x");
    assert_eq!((x.get("ddx"), x["ddy"].as_f64()), (None, Some(0.0)));
}

#[test]
fn flattened_branches_are_traced_or_refused() {
    let live = "--size 4x4 --at 1,1 --derivatives quad-fine --divergent live";
    let text =
        "shader s(out float o) { float x = global_value<pixel>.x; o = x > 1 ? ddx(x * x) : 0; }";
    assert_eq!(json("live", text, live)["outputs"]["o"]["value"], 2.0);
    let text =
        "shader s(out float o) { float x = global_value<pixel>.x; if (x > 1) o = ddx(x * x); }";
    let ran = at("live", text, live);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("cannot follow"), "{}", ran.stderr);
}

#[test]
fn traced_iterations_are_bounded_and_counted() {
    let text = "shader s(out float o) { for (int i = 0; i < 250; ++i) { float k = i; o += k; } }";
    let followed = json("loop", text, "--size 2x2 --at 0,1");
    let trace = followed["trace"].as_array().expect("a list");
    let iterations = trace.iter().filter(|s| s["event"] == "iteration");
    assert_eq!(iterations.count(), 100);
    let left = trace
        .iter()
        .find(|s| s["event"] == "loop_left")
        .expect("it ends");
    assert_eq!(
        (&left["iterations"], &left["left_out"]),
        (&250.into(), &150.into())
    );
    assert_eq!(followed["outputs"]["o"]["value"], 31125.0);
    let said = at("loop", text, "--size 2x2 --at 0,1").stdout;
    assert!(
        said.contains("loop left after 250 iterations, 150 of them left out here"),
        "{said}"
    );

    let returns = "float f() { for (int i = 0; ; ++i) if (i == 149) return i; } shader s(out float o) { o = f(); }";
    let followed = json("returns", returns, "--size 2x2 --at 0,1");
    let trace = followed["trace"].as_array().expect("a list");
    let events: Vec<&Value> = trace.iter().rev().take(4).map(|s| &s["event"]).collect();
    assert_eq!(events, ["return", "assign", "return", "loop_left"]);
    assert_eq!(trace[trace.len() - 4]["left_out"], 50);
    assert_eq!(trace[trace.len() - 3]["value"], 149.0);

    let nested = "shader s(out float o) { for (int i = 0; i < 90; ++i) for (int j = 0; j < 90; ++j) o += 1; }";
    let followed = json("nested", nested, "--size 2x2 --at 0,1");
    assert_eq!(followed["trace"].as_array().map(Vec::len), Some(10_000));
    // Each inner iteration has the condition, the iteration, `o` and `j`; its loop `j = 0`, the
    // last condition and its end. So has the outer one.
    let steps = 1 + 90 * (2 + (1 + 90 * 4 + 2) + 1) + 2 + 1;
    assert_eq!(followed["more_steps"], steps - 10_000);
    let said = at("nested", nested, "--size 2x2 --at 0,1").stdout;
    assert!(said.contains("more steps"), "{said}");
}

#[test]
fn stopped_point_is_traced_as_stopped() {
    let text = "shader s(out float o) { for (;;) { o += 1; } }";
    let ran = at("stopped", text, "--size 2x2 --at 1,0 --steps 1000 --json");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let followed: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let trace = followed["trace"].as_array().expect("a list");
    assert_eq!(trace.last().expect("steps")["event"], "loop_stopped");
    assert_eq!(followed["faults"][0]["code"], "E0811");
    let ran = at("stopped", text, "--size 2x2 --at 1,0 --steps 1000");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("the point was stopped"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("stopped in a loop, in iteration"),
        "{}",
        ran.stdout
    );
}

#[test]
fn first_nan_and_infinity_have_locations() {
    let text = "shader s(out float o) {
    float far = 1 / (global_value<pixel>.x - 0.5);
    float root = far * 0 + 1;
    o = root > 0 ? 1.0 : 2.0;
    float y = global_value<pixel>.y - 0.5;
    float slope = 3e38 * (3000 * y * (1 - y) * (1 - y));
    o += slope;
}";
    let followed = json("nan", text, "--size 2x2 --at 0,0");
    let [infinity, nan] = &followed["nonfinite"].as_array().expect("a list")[..] else {
        panic!("{followed}");
    };
    assert_eq!(
        (&infinity["kind"], &infinity["name"]),
        (&"infinity".into(), &"far".into())
    );
    assert_eq!(
        (&infinity["part"], &infinity["line"]),
        (&"value".into(), &2.into())
    );
    assert_eq!(
        (&nan["kind"], &nan["name"]),
        (&"nan".into(), &"root".into())
    );
    assert_eq!(
        (&nan["born"]["text"], &nan["born"]["line"]),
        (&"far * 0".into(), &3.into())
    );
    let said = at("nan", text, "--size 2x2 --at 0,0").stdout;
    assert!(
        said.contains("the first infinity: `far` in line 2\n"),
        "{said}"
    );
    assert!(
        said.contains("the first NaN: `root` in line 3; it was born in "),
        "{said}"
    );
    assert!(said.contains("_nan.adu:3:18: far * 0\n"), "{said}");
    // Beyond the first column, a derivative alone is infinite in the first row.
    let followed = json("nan", text, "--size 2x2 --at 1,0");
    let [infinity] = &followed["nonfinite"].as_array().expect("a list")[..] else {
        panic!("{followed}");
    };
    assert_eq!(
        (&infinity["part"], &infinity["name"]),
        (&"ddy".into(), &"slope".into())
    );
    let followed = json("nan", text, "--size 2x2 --at 1,1");
    assert_eq!(followed["nonfinite"], Value::Array(Vec::new()));
}

#[test]
fn pixel_outside_of_image_is_bad_usage() {
    let text = "shader s(out float o) { o = 1; }";
    for (place, expected) in [
        (
            "4,0",
            "pixel 4,0 is not in an image of 4x3: its last one is 3,2",
        ),
        ("0,3", "not in an image"),
        ("18446744073709551615,0", "not in an image"),
        ("-1,0", "`-1,0` is no pixel"),
        ("0,-1", "is no pixel"),
        ("99999999999999999999999,0", "is no pixel"),
        ("1.5,0", "is no pixel"),
        ("1", "is no pixel"),
        ("1,2,3", "is no pixel"),
        (",", "is no pixel"),
        ("nan,0", "is no pixel"),
    ] {
        let ran = at("outside", text, &format!("--size 4x3 --at={place}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{place}");
        assert!(ran.stderr.contains(expected), "{place}: {}", ran.stderr);
        let ran = at("outside", text, &format!("--size 4x3 --at {place}"));
        assert_eq!(ran.code, 2, "{place}");
    }
}

#[test]
fn options_meaningless_with_at_are_refused() {
    let text = "shader s(out float o) { o = global_value<time>; }";
    for (args, expected) in [
        ("--at 0,0 --samples 2", "the mean of others"),
        ("--at 0,0 --watch", "leave `--watch` out"),
        ("--at 0,0 --time 0..1 --frames 2", "by `--time T`"),
        ("--at 0,0 --group", "of one shader"),
        ("--json", "--at"),
        ("--at 0,0 --json -o a.png", "cannot be used with"),
        ("--at 0,0 --output x", "no output `x`"),
        ("", "-o"),
    ] {
        let ran = at("options", text, &format!("--size 4x3 {args}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args}");
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
    }
    let source = scratch("at_code.adu", text);
    let code = place("at_code").join("s.adub");
    let code = code.to_str().expect("text");
    let emitted = [
        "emit",
        &source,
        "--globals",
        "picture",
        "--stage",
        "bytecode",
        "-o",
        code,
    ];
    assert_eq!(adumbra(emitted).code, 0);
    let ran = adumbra(["image", code, "--at", "0,0"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("follows source text"), "{}", ran.stderr);
}

#[test]
fn at_draws_only_with_a_file() {
    let text = "shader s(out closure k, out float o) { float x = 2; o = x; if (o < 1) x = unset; }";
    let ran = at("refused", text, "--at 0,0 --json");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("{\"file\""), "{}", ran.stderr);

    let text = "shader s(out closure k) { k = make_closure<glow>(2.0); printf(\"so\\n\"); }";
    let ran = at("closure", text, "--at 0,0");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("glow(2.0)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("printf: so\n"), "{}", ran.stdout);

    let text = "shader s(out float o) { float x = 2; o = x; }";
    let (ran, file) = draw("at_both.png", text, "--size 3x3 --at 1,1");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("pixel 1,1 of 3x3"), "{}", ran.stdout);
    assert_eq!(listing(file.parent().expect("a folder")), ["at_both.png"]);
}
