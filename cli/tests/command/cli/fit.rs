//! `fit`: a disc is found by the rules that see its edge, whatever the threads and interruptions;
//! the source that is written, and what is refused.

use super::json_of;
use crate::command::{CommandOutput, adumbra, project};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::{TempDir, tempdir};

/// With soft edges, by another formula.
const TARGET: &str = "shader t(out color c)
{
    float2 p = global_value<pixel> - float2(26.3, 22.4);
    c = smoothstep(0.6, -0.6, (dot(p, p) - 121.0) / 22.0) * color(1, 0.5, 0.2);
}";

const DISC: &str = "// A disc.
shader disc(float radius = 7 /* a guess */ <<< min = 1, max = 20 >>>,
            float2 centre <<< range = 20 >>>, // unknown
            color ink = color(1, 0.5, 0.2) <<< keep >>>,
            out color c)
{
    float2 p = global_value<pixel> - centre;
    c = length(p) < radius ? ink : color(0, 0, 0);
}";

/// A folder with the disc and its target.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    for (name, source) in [("t.adu", TARGET), ("disc.adu", DISC)] {
        fs::write(folder.path().join(name), source).unwrap();
    }
    let (source, image) = (path(&folder, "t.adu"), path(&folder, "t.png"));
    let drawn = adumbra(["image", &source, "-o", &image, "--size", "48x48"]);
    assert_eq!(drawn.code, 0, "{drawn:?}");
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// Fits the disc from a bad start, and writes `NAME.adu`.
fn fit(folder: &TempDir, name: &str, args: &[&str]) -> CommandOutput {
    let [source, target, out] = ["disc.adu", "t.png", name].map(|name| path(folder, name));
    let common = ["fit", &source, "--target", &target, "-o", &out];
    let few = ["--arg", "centre=19,28", "--iterations", "20"];
    adumbra([&common[..], &few, args].concat())
}

fn found(folder: &TempDir, name: &str, args: &[&str]) -> Value {
    let ran = fit(folder, name, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    json_of(&ran)
}

fn refused(folder: &TempDir, name: &str, args: &[&str]) -> String {
    let ran = fit(folder, name, args);
    assert_eq!(ran.code, 2, "{ran:?}");
    ran.stderr
}

/// What does not depend on clocks.
fn timeless(report: &Value) -> Value {
    let mut report = report.clone();
    for name in ["median_s", "expected_s"] {
        report.as_object_mut().unwrap().remove(name);
    }
    for restart in report["restarts"].as_array_mut().unwrap() {
        restart.as_object_mut().unwrap().remove("cpu_s");
        for point in restart["trace"].as_array_mut().unwrap() {
            point.as_object_mut().unwrap().remove("cpu_s");
        }
    }
    report
}

/// Checks that objects have the properties of a schema, and no others.
fn check_names(value: &Value, schema: &Value) {
    if let (Some(values), Some(items)) = (value.as_array(), schema.get("items")) {
        values.iter().for_each(|value| check_names(value, items));
    }
    let (Some(values), Some(known)) = (value.as_object(), schema["properties"].as_object()) else {
        return;
    };
    let names: Vec<&String> = values.keys().collect();
    assert_eq!(names, known.keys().collect::<Vec<_>>());
    let mut required: Vec<&str> = schema["required"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    required.sort_unstable();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, required);
    for (name, value) in values {
        check_names(value, &known[name]);
    }
}

fn first_loss(report: &Value) -> f64 {
    report["restarts"][0]["trace"][0]["loss"].as_f64().unwrap()
}

#[test]
fn disc_is_found_by_rules_for_edges() {
    let folder = folder();
    for rules in ["edge", "pair", "fd", "spsa"] {
        let found = found(&folder, "best.adu", &["--rules", rules]);
        let loss = found["loss"].as_f64().unwrap();
        assert!(loss < 0.05 * first_loss(&found), "{rules}: {found}");
        let parameters = &found["parameters"];
        let near = |value: &Value, truth: f64| (value.as_f64().unwrap() - truth).abs() < 0.3;
        assert!(near(&parameters["radius"], 11.0), "{rules}: {found}");
        assert!(near(&parameters["centre"][0], 26.3), "{rules}: {found}");
        assert!(near(&parameters["centre"][1], 22.4), "{rules}: {found}");
        assert!(parameters.get("ink").is_none(), "{found}");
    }
}

#[test]
fn smooth_rules_do_not_move_a_disc() {
    let folder = folder();
    let ran = fit(&folder, "best.adu", &["--rules", "smooth", "--json"]);
    assert!(
        ran.stderr
            .contains("no input that is fitted changes the image")
    );
    let found = json_of(&ran);
    assert_eq!(found["loss"].as_f64(), Some(first_loss(&found)));
    assert_eq!(found["parameters"]["radius"], 7.0);
}

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
fn threads_and_interruptions_change_no_bit() {
    let folder = folder();
    let common = ["--restarts", "2", "--random-seed", "5"];
    let of = |name: &str, args: &[&str]| timeless(&found(&folder, name, &[&common, args].concat()));
    let whole = of("one.adu", &["--threads", "1"]);
    assert_eq!(whole["restarts"].as_array().unwrap().len(), 2);
    assert_eq!(of("two.adu", &["--threads", "2"]), whole);
    let state = path(&folder, "state");
    let kept = ["--checkpoint", state.as_str()];
    let stopped = of("part.adu", &[&kept[..], &["--stop-after", "37"]].concat());
    assert_eq!(stopped["restarts"][0]["iterations"], 37);
    let more = [&kept[..], &["--resume", "--stop-after", "170"]].concat();
    assert_eq!(
        of("part.adu", &more)["restarts"].as_array().unwrap().len(),
        2
    );
    let resumed = of(
        "part.adu",
        &[&kept[..], &["--resume", "--threads", "2"]].concat(),
    );
    assert_eq!(resumed, whole);
    for ending in ["adu", "png"] {
        let bytes = |name: &str| fs::read(folder.path().join(name).with_extension(ending)).unwrap();
        assert_eq!(bytes("two"), bytes("one"));
        assert_eq!(bytes("part"), bytes("one"));
    }
}

#[cfg(unix)]
#[test]
fn interrupted_fit_goes_on() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    let folder = folder();
    let [source, target, state] = ["disc.adu", "t.png", "state"].map(|name| path(&folder, name));
    let args = |out: &str| {
        let args = ["fit", &source, "--target", &target, "-o", out];
        let long = ["--arg", "centre=19,28", "--size", "160x160"];
        args.iter()
            .chain(&long)
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
    };
    let kept = ["--checkpoint", &state];
    let [one, two] = ["one.adu", "two.adu"].map(|name| path(&folder, name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    command.args(args(&two)).args(kept).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    while !Path::new(&state).join("fit.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let pressed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(pressed.expect("there is a `kill`").success());
    let ran = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.signal(), Some(2), "{said}");
    assert!(
        said.contains("the same command with `--resume` goes on"),
        "{said}"
    );
    assert!(!Path::new(&two).exists());
    let whole = args(&one);
    assert_eq!(adumbra(whole.iter().map(String::as_str)).code, 0);
    let rest = args(&two);
    let rest = rest
        .iter()
        .map(String::as_str)
        .chain(kept)
        .chain(["--resume"]);
    assert_eq!(adumbra(rest).code, 0);
    assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap());
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

#[test]
fn state_of_another_fit_is_refused_by_name() {
    let folder = folder();
    let state = path(&folder, "state");
    let kept = ["--checkpoint", state.as_str()];
    let missing = refused(&folder, "a.adu", &[&kept[..], &["--resume"]].concat());
    assert!(missing.contains("fit.json"), "{missing}");
    let begun = fit(
        &folder,
        "a.adu",
        &[&kept[..], &["--stop-after", "1"]].concat(),
    );
    assert_eq!(begun.code, 0, "{begun:?}");
    let again = refused(&folder, "a.adu", &kept);
    assert!(again.contains("by `--resume`"), "{again}");
    let resumed =
        |args: &[&str]| refused(&folder, "a.adu", &[&kept[..], &["--resume"], args].concat());
    for (args, part) in [
        (["--rules", "pair"], "`--rules` was edge, and is pair"),
        (["--loss", "l1"], "`--loss` was l2, and is l1"),
        (["--restarts", "3"], "restarts was 1, and is 3"),
        (["--random-seed", "3"], "random seed was 0, and is 3"),
        (["--size", "24x24"], "the target was"),
    ] {
        let why = resumed(&args);
        assert!(why.contains(part), "{why}");
    }
    fs::write(folder.path().join("disc.adu"), format!("{DISC}\n// more")).unwrap();
    let why = resumed(&[]);
    assert!(why.contains("the shader was"), "{why}");
}

#[test]
fn target_has_weights_and_sizes() {
    let folder = folder();
    // Beside the mask's white pixels the shader may be anything.
    let mask = "shader m(out float o) { o = global_value<pixel>.x < 24 ? 1.0 : 0.0; }";
    fs::write(folder.path().join("m.adu"), mask).unwrap();
    let (source, mask) = (path(&folder, "m.adu"), path(&folder, "m.png"));
    adumbra(["image", &source, "-o", &mask, "--size", "48x48", "--linear"]);
    let half = found(&folder, "half.adu", &["--mask", &mask, "--stop-after", "1"]);
    let all = found(&folder, "all.adu", &["--stop-after", "1"]);
    assert!(first_loss(&half) > 0.0 && first_loss(&half) != first_loss(&all));
    let small = ["--size", "24x24", "--stop-after", "1", "--loss", "l1"];
    found(&folder, "small.adu", &small);
    let report = fs::read_to_string(folder.path().join("small.run.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["targets"][0]["size"], serde_json::json!([24, 24]));
    assert_eq!(report["ended_by"], "--stop-after");
}

#[test]
fn several_targets_are_at_values_of_a_global() {
    let folder = tempdir().unwrap();
    let source = "shader s(float gain = 0.2, float base = 0.1, out float o)
        { o = base + gain * global_value<time>; }";
    let shader = path(&folder, "s.adu");
    fs::write(&shader, source).unwrap();
    let mut args = vec!["fit".to_owned(), shader.clone(), "--json".to_owned()];
    for time in ["0", "1"] {
        let image = path(&folder, &format!("t{time}.exr"));
        let truth = ["--arg", "gain=0.5", "--arg", "base=0.3", "--size", "16x16"];
        let drawn = ["image", &shader, "-o", &image, "--time", time];
        assert_eq!(adumbra([&drawn[..], &truth].concat()).code, 0);
        args.extend(["--target".to_owned(), format!("{image}@time={time}")]);
    }
    let out = path(&folder, "best.adu");
    args.extend(["-o", out.as_str(), "--rules", "smooth"].map(str::to_owned));
    let ran = adumbra(args.iter().map(String::as_str));
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = json_of(&ran);
    let near = |name: &str, truth: f64| (found["parameters"][name].as_f64().unwrap() - truth).abs();
    assert!(
        near("gain", 0.5) < 0.01 && near("base", 0.3) < 0.01,
        "{found}"
    );
    assert!(Path::new(&path(&folder, "best.2.png")).exists());
}

#[test]
fn misused_fits_are_refused() {
    let folder = folder();
    let target = path(&folder, "t.png");
    for (name, args, why) in [
        (
            "a.adu",
            &["--noise", "on"][..],
            "`--noise on` is not built yet",
        ),
        ("a.png", &[], "does not end in .adu"),
        ("none/a.adu", &[], "there is no folder"),
        ("disc.adu", &[], "is read, and would be written over"),
        ("t.adu", &[], "t.png is read, and would be written over"),
        ("a.adu", &["--engine", "point"], "`--engine batch`"),
        (
            "a.adu",
            &["--target", "none.png@time=1"],
            "values of one global",
        ),
        ("a.adu", &["--target", "none.png"], "cannot read none.png"),
        (
            "a.adu",
            &["--arg", "radios=2"],
            "there is no input `radios`",
        ),
        ("a.adu", &["--resume"], "--checkpoint"),
        ("a.adu", &["--time-limit", "0"], "greater than 0"),
        ("a.adu", &["--accept", "1"], "--accept"),
    ] {
        let said = refused(&folder, name, args);
        assert!(said.contains(why), "{said}");
    }
    let of = |source: &str| {
        let (shader, out) = (path(&folder, "s.adu"), path(&folder, "out.adu"));
        fs::write(&shader, source).unwrap();
        let ran = adumbra(["fit", &shader, "--target", &target, "-o", &out]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    for (inputs, why) in [
        ("int n", "there is nothing to fit"),
        ("float x <<< keep >>>", "there is nothing to fit"),
        (
            "float x <<< min = 2, max = 1 >>>",
            "the first below the second",
        ),
        ("float x <<< range = -1 >>>", "`range` of the input `x`"),
        ("int n <<< fit >>>", "cannot be fitted"),
    ] {
        let said = of(&format!(
            "shader s({inputs}, out color c) {{ c = color(0, 0, 0); }}"
        ));
        assert!(said.contains(why), "{said}");
    }
    let said = of("shader s(float x, out int c) { c = (int)x; }");
    assert!(said.contains("`c` is no color"), "{said}");
}
