//! What a fit writes.

use super::*;

#[test]
fn written_source_keeps_all_but_its_defaults() {
    let folder = folder();
    let ran = fit(&folder, "best.adu", &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stdout.contains("radius  1"), "{}", ran.stdout);
    let text = fs::read_to_string(folder.path().join("best.adu")).unwrap();
    let (radius, rest) = text
        .split_once("float radius = ")
        .unwrap()
        .1
        .split_once(' ')
        .unwrap();
    let radius: f32 = radius.parse().unwrap();
    assert!((radius - 11.0).abs() < 0.3, "{text}");
    assert!(
        rest.starts_with("/* a guess */ <<< min = 1, max = 20 >>>,"),
        "{text}"
    );
    let (centre, rest) = rest
        .split_once("float2 centre = float2(")
        .unwrap()
        .1
        .split_once(")")
        .unwrap();
    assert_eq!(centre.split(", ").count(), 2, "{text}");
    assert!(
        rest.starts_with(" <<< range = 20 >>>, // unknown"),
        "{text}"
    );
    assert!(
        rest.ends_with(DISC.split_once("// unknown").unwrap().1),
        "{text}"
    );
    // It draws the image that was written.
    let [best, again] = ["best.adu", "again.png"].map(|name| path(&folder, name));
    let drawn = adumbra(["image", &best, "-o", &again, "--size", "48x48"]);
    assert_eq!(drawn.code, 0, "{drawn:?}");
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("again.png"), bytes("best.png"));
    let chart = fs::read_to_string(folder.path().join("best.convergence.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.contains("best.adu"));
    let report: Value = serde_json::from_slice(&bytes("best.run.json")).unwrap();
    let schema = fs::read(project("docs/fit.schema.json")).unwrap();
    check_names(&report, &serde_json::from_slice(&schema).unwrap());
    assert_eq!(report["rules"], "edge");
    assert_eq!(report["targets"][0]["size"], serde_json::json!([48, 48]));
}

#[test]
fn values_of_all_types_are_written() {
    let folder = folder();
    let source =
        "shader s(float a, float w[2], float3x3 m = float3x3(1), vector v = vector(0, 1, 0),
            int n = 1, bool b, float k <<< keep >>>, out float o)
        {
            float3 p = float3(global_value<uv>, 1);
            o = a + w[0] * p.x + w[1] * p.y + dot(mul(m, p), v) + n * (b ? k : 0.0);
        }";
    let [shader, target, out] = ["s.adu", "t.png", "out.adu"].map(|name| path(&folder, name));
    fs::write(&shader, source).unwrap();
    let fixed = ["--arg", "n=-3", "--arg", "b=true", "--arg", "k=1e-9"];
    let common = [
        "fit", &shader, "--target", &target, "-o", &out, "--rules", "smooth",
    ];
    let ran = adumbra([&common[..], &fixed, &["--iterations", "2"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let text = fs::read_to_string(&out).unwrap();
    assert!(
        text.contains("int n = -3, bool b = true, float k = 1e-9 <<< keep >>>"),
        "{text}"
    );
    let again = path(&folder, "again.png");
    let drawn = adumbra(["image", &out, "-o", &again, "--size", "48x48"]);
    assert_eq!(drawn.code, 0, "{drawn:?} {text}");
    let written = fs::read(folder.path().join("out.png")).unwrap();
    assert_eq!(fs::read(again).unwrap(), written);
}

/// Width and height of a PNG file.
fn size(folder: &TempDir, name: &str) -> [u32; 2] {
    let bytes = fs::read(folder.path().join(name)).unwrap();
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn strip_and_frames_show_the_course() {
    let folder = folder();
    let ran = fit(&folder, "best.adu", &["--frames", "3", "--restarts", "2"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for written in [
        "best.strip.png",
        "best_0001.png to ",
        "; the best of 2 restarts is number",
    ] {
        assert!(ran.stdout.contains(written), "{}", ran.stdout);
    }
    // Start, three stages, best, target, and difference, two pixels apart.
    assert_eq!(size(&folder, "best.strip.png"), [7 * 48 + 6 * 2, 48]);
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("best_0003.png"), bytes("best.png"));
    assert_ne!(bytes("best_0001.png"), bytes("best.png"));
    assert!(!folder.path().join("best_0004.png").exists());
}

#[test]
fn first_frame_is_the_start() {
    let folder = folder();
    let ran = fit(
        &folder,
        "best.adu",
        &["--frames", "2", "--stop-after", "30"],
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let [source, start] = ["disc.adu", "start.png"].map(|name| path(&folder, name));
    let drawn = ["image", &source, "-o", &start, "--size", "48x48"];
    let drawn = adumbra([&drawn[..], &["--arg", "centre=19,28"]].concat());
    assert_eq!(drawn.code, 0, "{drawn:?}");
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("best_0001.png"), bytes("start.png"));
}

#[test]
fn accepted_loss_ends_the_search() {
    let folder = folder();
    let all = found(&folder, "all.adu", &["--restarts", "2"]);
    let trace = all["restarts"][0]["trace"].as_array().unwrap();
    let reached = trace[2]["loss"]
        .as_f64()
        .unwrap()
        .max(trace[1]["loss"].as_f64().unwrap());
    let accept = reached.to_string();
    let few = found(
        &folder,
        "few.adu",
        &["--restarts", "2", "--accept", &accept],
    );
    assert_eq!(few["restarts"].as_array().unwrap().len(), 1);
    assert!(few["loss"].as_f64().unwrap() <= reached, "{few}");
    assert!(few["restarts"][0]["iterations"].as_u64() < all["restarts"][0]["iterations"].as_u64());
    let report = fs::read_to_string(folder.path().join("few.run.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ended_by"], "--accept");
}
