//! Targets: weights, sizes, and values of globals.

use super::*;

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
fn globals_of_targets_are_checked() {
    let folder = folder();
    let source = "shader s(float gain = 0.2, out float o)
        { o = gain * global_value<time> * global_value<speed>; }";
    let [shader, target, out] = ["s.adu", "t.png", "a.adu"].map(|name| path(&folder, name));
    fs::write(&shader, source).unwrap();
    let at = |global: &str| {
        let target = format!("{target}@{global}");
        let ran = adumbra([
            "fit", &shader, "--target", &target, "-o", &out, "-g", "speed=2",
        ]);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    let typo = at("tiem=1");
    assert!(
        typo.contains("nothing reads the global `tiem`; did you mean `time`?"),
        "{typo}"
    );
    let other = at("colour=1");
    assert!(other.contains("the shader reads speed, time"), "{other}");
    let wide = at("time=1,2");
    assert!(
        wide.contains("is of type `float`, and this value of type `float2`"),
        "{wide}"
    );
    let target = format!("{target}@speed=1,2");
    let ran = adumbra(["fit", &shader, "--target", &target, "-o", &out]);
    let note = "declares the global `speed` of type `float2`";
    assert!(ran.code == 1 && ran.stderr.contains(note), "{ran:?}");
}
