//! `grad`: gradients of shaders at a point, summed, as images; what is refused.

use super::{close, json_of};
use crate::command::{adumbra, adumbra_with_input};
use serde_json::{Value, json};
use tempfile::tempdir;

pub(super) const DISC: &str = "
    float2 centred(float2 p, float2 centre) { return p - centre; }
    shader disc(float radius = 0.3, float2 centre = float2(0.5, 0.4), color tint = color(1, 0.5, 0.2),
                int n = 3, out color c, out float luma, out int m)
    {
        float2 d = centred(global_value<uv>, centre);
        c = tint * smoothstep(radius + 0.05, radius - 0.05, length(d));
        luma = dot(c, color(0.2, 0.7, 0.1)); m = n;
    }";

pub(super) fn grad(source: &str, args: &[&str]) -> crate::command::CommandOutput {
    let args = [&["grad", "-"], args].concat();
    adumbra_with_input(args, source)
}

fn json_grad(args: &[&str]) -> Value {
    let ran = grad(DISC, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    json_of(&ran)
}

#[test]
fn gradient_at_a_point_is_that_of_differences() {
    let point = ["--globals", "picture", "-g", "uv=0.78,0.35", "--check"];
    let found = json_grad(&[&point[..], &["--of", "luma", "--wrt", "all,globals"]].concat());
    assert_eq!(found["points"], json!(1));
    assert_eq!(found["zero"], json!([]));
    assert!(found.get("ends").is_some() && found.get("per_point").is_none());
    let names: Vec<&String> = found["gradient"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for name in ["radius", "centre", "tint", "uv"] {
        let numbers = |value: &Value| match value {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        };
        let [gradient, differences] =
            ["gradient", "differences"].map(|of| numbers(&found[of][name]));
        for (gradient, difference) in gradient.iter().zip(&differences) {
            let difference = difference.as_f64().unwrap();
            let error = (gradient.as_f64().unwrap() - difference).abs();
            assert!(error < 1e-5 * (1.0 + difference.abs()), "{name}: {found}");
        }
    }
}

#[test]
fn seeds_weigh_numbers_of_outputs() {
    let point = ["--globals", "picture", "--wrt", "tint"];
    let with = |args: &[&str]| json_grad(&[&point[..], args].concat());
    let all = with(&["--of", "c,luma"]);
    assert_eq!(all["outputs"], json!({ "c": 1.7, "luma": 0.57 }));
    assert!(close(&all["gradient"]["tint"][1], 1.7));
    // In whatever order they are named.
    let red = with(&["--of", "luma,c", "--seed", "c=1,0,0"]);
    assert_eq!(red["outputs"], json!({ "c": 1.0, "luma": 0.0 }));
    assert_eq!(red["gradient"]["tint"], json!([1.0, 0.0, 0.0]));
    let both = with(&["--of", "luma,c", "--seed", "c=1,0,0", "--seed", "luma=-2"]);
    assert!(close(&both["gradient"]["tint"][1], -1.4));
}

#[test]
fn sums_over_images_are_those_of_pixels() {
    let image = ["--of", "luma", "--size", "9x7", "--wrt", "radius,uv"];
    let with = |args: &[&str]| json_grad(&[&image[..], args].concat());
    let whole = with(&[]);
    assert_eq!(whole["points"], json!(63));
    let mut sums = [0.0; 2];
    for (x, y) in (0..9).flat_map(|x| (0..7).map(move |y| (x, y))) {
        let pixel = with(&["--at", &format!("{x},{y}")]);
        sums[0] += pixel["gradient"]["radius"].as_f64().unwrap();
        sums[1] += pixel["gradient"]["uv"][1].as_f64().unwrap();
    }
    let total = [&whole["gradient"]["radius"], &whole["gradient"]["uv"][1]];
    for (sum, total) in sums.into_iter().zip(total) {
        assert!(
            (sum - total.as_f64().unwrap()).abs() < 1e-5,
            "{sum} {total}"
        );
    }
    for engine in ["reference", "point", "batch", "native"] {
        for threads in ["1", "3"] {
            let again = grad(
                DISC,
                &[
                    &image[..],
                    &["--json", "--engine", engine, "--threads", threads],
                ]
                .concat(),
            );
            // A machine may lack an engine.
            if again.code == 0 {
                assert_eq!(json_of(&again), whole, "{engine} {threads}");
            }
        }
    }
}

#[test]
fn images_of_gradients_are_written() {
    let folder = tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let out = file("g.png");
    let out = out.to_str().unwrap();
    let image = ["--of", "luma", "--size", "16x16", "-o", out];
    let ran = grad(DISC, &[&image[..], &["--wrt", "centre,uv"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("by centre: black -"), "{ran:?}");
    assert!(file("g.centre.png").exists() && file("g.uv.png").exists());
    assert!(!file("g.png").exists());
    let ran = grad(DISC, &[&image[..], &["--wrt", "radius", "--json"]].concat());
    let found = json_of(&ran);
    assert_eq!(found["per_point"], json!(true));
    assert!(found["scales"]["radius"].as_f64().unwrap() > 0.0, "{found}");
    assert!(file("g.png").exists());
    let wide = "shader s(float w[5], out float o) { o = w[0] * w[4]; }";
    let ran = grad(wide, &["--size", "4x4", "-o", out]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("5 numbers at each pixel"), "{ran:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (args, code, text) in [
        (
            &["--globals", "picture"][..],
            2,
            "say by `--of` which of `c`, `luma`",
        ),
        (
            &["--globals", "picture", "--of", "lumma"],
            1,
            "did you mean `luma`?",
        ),
        (
            &["--globals", "picture", "--of", "m"],
            1,
            "no float and so no gradient",
        ),
        (
            &["--globals", "picture", "--of", "luma", "--wrt", "n"],
            1,
            "no float and so no gradient",
        ),
        (
            &["--globals", "picture", "--of", "luma", "--wrt", "input:uv"],
            1,
            "there is no input `uv`",
        ),
        (
            &["--globals", "picture", "--of", "luma", "--wrt", "texture:w"],
            2,
            "none of `input:`, `global:` and `buffer:`",
        ),
        (
            &["--globals", "picture", "--of", "luma", "--seed", "c=1,0,0"],
            2,
            "no such output is differentiated, only `",
        ),
        (
            &["--globals", "picture", "--of", "luma", "--seed", "luma=1,2"],
            2,
            "wants 1 number",
        ),
        (
            &["--of", "luma", "--size", "4x4", "--at", "4,0"],
            2,
            "not in an image of 4x4",
        ),
        (
            &[
                "--of",
                "luma",
                "--size",
                "4x4",
                "--derivatives",
                "quad-fine",
            ],
            2,
            "differences between points",
        ),
        (
            &["--of", "luma", "--size", "4x4", "-o", "x.txt"],
            2,
            "ends in none of .png, .exr and .npz",
        ),
        (&["--of", "luma", "--at", "1,0"], 2, "--size <WxH>"),
        (
            &["--of", "luma", "--size", "4x4", "--at", "-1,0"],
            2,
            "`-1,0` is no pixel",
        ),
        (&["--of", "luma", "--size", "4x0"], 2, "4x0 has no pixels"),
        (
            &[
                "--of", "luma", "--size", "4x4", "--view", "axis", "-o", "x.png",
            ],
            2,
            "the view is one of edges",
        ),
        (
            &["--of", "luma", "--size", "4x4", "--view", "gradient"],
            2,
            "-o <OUT>",
        ),
        (
            &[
                "--of", "luma", "--size", "4x4", "--scale", "2", "-o", "x.npz",
            ],
            2,
            "`--view` and `--scale` are of images",
        ),
        (
            &[
                "--of", "luma", "--size", "4x4", "--at", "1,0", "-o", "x.png",
            ],
            2,
            "give `--size WxH`, without `--at`",
        ),
        (
            &["--of", "luma", "--globals", "picture", "-o", "x.exr"],
            2,
            "give `--size WxH`, without `--at`",
        ),
        (
            &["--of", "luma", "--size", "4x4", "--seed", "luma=nan"],
            2,
            "--seed luma: a seed is NaN",
        ),
        (
            &["--of", "luma", "--size", "4096x4096", "--check"],
            2,
            "is the limit",
        ),
        (&["--of", "luma"], 1, "the host has no global `uv`"),
    ] {
        let ran = grad(DISC, args);
        assert_eq!(ran.code, code, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(text), "{args:?}: {ran:?}");
    }
    let screen = "shader s(float a = 1, out float o) { o = ddx(a * global_value<uv>.x); }";
    let globals = ["--globals", "picture", "-g", "uv=0.5,0.5:0.25,0:0,0.25"];
    let ran = grad(screen, &globals);
    assert!(
        ran.code == 0 && ran.stdout.ends_with("a   0.25\n"),
        "{ran:?}"
    );
    let quads = [&globals[..], &["--derivatives", "quad-fine"]].concat();
    let ran = grad(screen, &quads);
    assert!(
        ran.code == 2 && ran.stderr.contains("differences between points"),
        "{ran:?}"
    );
}

#[test]
fn stopped_points_are_reported() {
    let source = "shader s(float a = 3, out float o) { o = a; while (global_value<uv>.x > 0.5) { o += 1; } }";
    let ran = grad(source, &["--size", "8x8", "--steps", "1000", "--json"]);
    assert_eq!(ran.code, 1);
    let found = json_of(&ran);
    assert_eq!(found["faults"]["stopped"], json!(32));
    assert_eq!(found["faults"]["first"], json!(4));
    assert_eq!(found["gradient"]["a"], json!(32.0));
    let ran = grad(source, &["--size", "8x8", "--steps", "1000"]);
    assert!(
        ran.stderr.contains("32 of 64 points: was stopped"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("first at pixel 4,0"), "{ran:?}");
}

#[test]
fn differences_are_within_the_step_budget() {
    let source =
        "shader s(float a = 3, out float o) { o = a; for (int i = 0; i < 500; i++) o += a; }";
    let slope = |args: &[&str]| {
        let ran = grad(source, &[&["--check", "--json"], args].concat());
        json_of(&ran)["differences"]["a"].as_f64().unwrap()
    };
    assert!((slope(&[]) - 501.0).abs() < 1e-6);
    assert_eq!(slope(&["--steps", "100"]), 0.0);
}

#[test]
fn sums_that_lack_something_are_reported() {
    let source = "shader s(float a = 1, out float o) { float2 p = global_value<pixel>;
        o = p.x < 1 ? a * sqrt(-p.x) : p.x < 2 ? a * 1e20 : a; }";
    let ran = grad(source, &["--size", "4x4", "--json"]);
    let found = json_of(&ran);
    assert_eq!(found["gradient"]["a"], json!("nan"));
    assert_eq!(found["not_finite"]["first"], json!(0));
    let ran = grad(source, &["--size", "4x4"]);
    assert!(ran.stderr.contains("not finite"), "{ran:?}");
    let source = source.replace("sqrt(-p.x)", "0");
    let ran = grad(&source, &["--size", "4x4", "--json"]);
    let found = json_of(&ran);
    assert!(found["vanished"]["count"].as_u64().unwrap() > 0, "{found}");
    let none = adumbra(["grad", "nosuch.adu"]);
    assert_eq!(none.code, 2);
}

pub(super) const TABLE: &str = "
    buffer<float> w;
    buffer<float2> v;
    buffer<int> n;
    shader table(float gain = 2, out float o)
    {
        o = 0;
        for (int i = 0; i < w.length(); i++) o += gain * sin(w[i] * (i + 1)) * v[n[i]].y;
    }";

/// A file of NumPy's format, version 1.
pub(super) fn npy(descr: &str, shape: &str, words: &[[u8; 4]]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(words.concat());
    bytes
}

#[test]
fn gradients_by_buffers_are_sums() {
    let folder = tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let floats = [0.5_f32, -1.0, 0.25].map(f32::to_le_bytes);
    let w = format!("w={}", file("w.f32", &floats.concat()));
    let pairs = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes);
    let v = format!("v={}", file("v.npy", &npy("<f4", "(2, 2)", &pairs)));
    let ints = [1_i32, 0, 1].map(i32::to_le_bytes);
    let n = format!("n={}", file("n.npy", &npy("<i4", "(3,)", &ints)));
    let given = ["--buffer", &w, "--buffer", &v, "--buffer", &n];
    let args = [&["--wrt", "all,buffers", "--check"], &given[..]].concat();
    let ran = grad(TABLE, &[&args[..], &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let found = json_of(&ran);
    let shape = |of: &Value| of.as_array().unwrap().len();
    assert_eq!(shape(&found["gradient"]["w"]), 3);
    assert_eq!(shape(&found["gradient"]["v"]), 2);
    for (of, at) in [("w", json!([0, 1, 2])), ("v", json!([0, 1]))] {
        for at in at.as_array().unwrap() {
            let at = at.as_u64().unwrap() as usize;
            let [found, difference] =
                ["gradient", "differences"].map(|kind| found[kind][of][at].clone());
            let numbers = |value: &Value| match value {
                Value::Array(all) => all.clone(),
                one => vec![one.clone()],
            };
            for (found, difference) in numbers(&found).iter().zip(numbers(&difference)) {
                let [found, difference] = [found, &difference].map(|x| x.as_f64().unwrap());
                let error = (found - difference).abs();
                assert!(
                    error < 1e-5 * (1.0 + difference.abs()),
                    "{of} {at}: {error}"
                );
            }
        }
    }
    let text = grad(TABLE, &args);
    assert!(text.stdout.contains("\nw     ("), "{text:?}");
    // `run` has them, too.
    let value = [&["run", "-"], &given[..]].concat();
    let value = adumbra_with_input(value, TABLE);
    assert!(value.stdout.starts_with("o  "), "{value:?}");
}

#[test]
fn buffers_that_are_not_there_are_reported() {
    let folder = tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let refused = |buffer: &str| {
        let ran = grad(TABLE, &["--wrt", "w", "--buffer", buffer]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    let said = refused("u=x.npy");
    assert!(
        said.contains("there is no buffer `u`, only `w`, `n`, `v`"),
        "{said}"
    );
    assert!(refused("w=nosuch.npy").contains("nosuch.npy: "));
    assert!(refused("w").contains("there is no `=`"));
    let odd = file("odd.f32", b"12345");
    assert!(refused(&format!("w={odd}")).contains("no whole numbers of four bytes"));
    let three = file("three.f32", &[0; 12]);
    let said = refused(&format!("v={three}"));
    assert!(said.contains("3 are no whole elements"), "{said}");
    let ints = file("ints.npy", &npy("<i4", "(1,)", &[[1, 0, 0, 0]]));
    assert!(refused(&format!("w={ints}")).contains("not floats of 4 or 8 bytes"));
    let broken = file("broken.npy", b"\x93NUMPY\x01\x00\xff\xff");
    assert!(refused(&format!("w={broken}")).contains("broken.npy: "));
    let ran = grad(TABLE, &["--wrt", "w"]);
    let note = "note: the buffer `w` has no elements: give it by `--buffer w=FILE`";
    assert!(ran.code == 0 && ran.stderr.contains(note), "{ran:?}");
    let ran = grad(
        TABLE,
        &["--wrt", "buffer:w", "--size", "4x4", "-o", "x.png"],
    );
    assert!(
        ran.stderr
            .contains("that by the buffer `w` is a sum over all"),
        "{ran:?}"
    );
    let ran = grad(TABLE, &["--wrt", "texture:w"]);
    assert!(
        ran.stderr
            .contains("none of `input:`, `global:` and `buffer:`"),
        "{ran:?}"
    );
}
