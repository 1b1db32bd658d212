//! Parameters: learning rates, inputs that are kept, and what metadata may have meant.

use super::*;

/// Parameters after a few iterations of a shader's text.
fn after_few(folder: &TempDir, source: &str, args: &[&str]) -> Value {
    fs::write(folder.path().join("disc.adu"), source).unwrap();
    let few = [args, &["--stop-after", "3"]].concat();
    found(folder, "best.adu", &few)["parameters"].clone()
}

#[test]
fn learning_rates_are_of_options_and_metadata() {
    let folder = folder();
    let of = |args: &[&str]| after_few(&folder, DISC, args);
    let usual = of(&[]);
    assert_eq!(of(&["--learning-rate", "0.01"]), usual);
    let fast = of(&["--learning-rate", "0.0625"]);
    let step = |found: &Value| (found["centre"][0].as_f64().unwrap() - 19.0).abs();
    assert!(step(&fast) > 3.0 * step(&usual), "{fast} {usual}");
    let one = of(&["--learning-rate", "radius=0.0625"]);
    assert!(step(&one) < 2.0 * step(&usual), "{one} {usual}");
    assert_ne!(one["radius"], usual["radius"]);
    let named = DISC.replace("max = 20", "max = 20, learning_rate = 0.0625");
    assert_eq!(after_few(&folder, &named, &[]), one);
    assert_eq!(
        after_few(&folder, &named, &["--learning-rate", "0.01"]),
        one
    );
    let again = ["--learning-rate", "radius=0.01"];
    assert_eq!(after_few(&folder, &named, &again), usual);
    let why = refused(&folder, "a.adu", &["--learning-rate", "radios=0.1"]);
    assert!(why.contains("did you mean `radius`?"), "{why}");
    let why = refused(&folder, "a.adu", &["--learning-rate", "-1"]);
    assert!(why.contains("above 0 and at most 1"), "{why}");
    let wrong = DISC.replace("max = 20", "max = 20, learning_rate = 2");
    fs::write(folder.path().join("disc.adu"), wrong).unwrap();
    let why = refused(&folder, "a.adu", &[]);
    assert!(
        why.contains("`learning_rate` of the input `radius`"),
        "{why}"
    );
}

#[test]
fn fixed_inputs_keep_their_values() {
    let folder = folder();
    let found = after_few(&folder, DISC, &["--fixed", "radius"]);
    assert!(
        found.get("radius").is_none() && found["centre"][0] != 19.0,
        "{found}"
    );
    let text = fs::read_to_string(folder.path().join("best.adu")).unwrap();
    assert!(text.contains("float radius = 7 /* a guess */"), "{text}");
    let why = refused(&folder, "a.adu", &["--fixed", "radiu"]);
    assert!(why.contains("did you mean `radius`?"), "{why}");
}

#[test]
fn metadata_that_is_nearly_of_fits_is_noted() {
    let folder = folder();
    let source = DISC.replace("keep", "kep").replace("range", "rnge");
    fs::write(folder.path().join("disc.adu"), source).unwrap();
    let ran = fit(&folder, "best.adu", &["--stop-after", "1"]);
    for note in [
        "no metadata `kep`, as the input `ink` has; did you mean `keep`?",
        "no metadata `rnge`, as the input `centre` has; did you mean `range`?",
    ] {
        assert!(ran.stderr.contains(note), "{ran:?}");
    }
}

#[test]
fn starts_beyond_bounds_are_noted() {
    let folder = folder();
    let ran = fit(
        &folder,
        "best.adu",
        &["--arg", "radius=50", "--stop-after", "1"],
    );
    let note = "`radius` is 50, beyond its `max`: the first start has 20";
    assert!(ran.stderr.contains(note), "{ran:?}");
}

#[test]
fn searches_that_see_nothing_are_noted() {
    let folder = folder();
    let [shader, target, out] = ["disc.adu", "t.png", "best.adu"].map(|name| path(&folder, name));
    let common = ["fit", &shader, "--target", &target, "-o", &out];
    let far = ["--arg", "centre=-500,-500", "--fixed", "radius", "--json"];
    let ran = adumbra([&common[..], &far].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let note = "the gradient was 0 in all iterations";
    let line = ran.stderr.lines().find(|line| line.contains(note));
    let line: Value = serde_json::from_str(line.unwrap_or_else(|| panic!("{ran:?}"))).unwrap();
    assert_eq!(line["severity"], "note");
    let nan = "shader s(float a = 1 <<< min = 0.5, max = 2 >>>, out float o)
        { o = sqrt(a - 3.0); }";
    fs::write(folder.path().join("disc.adu"), nan).unwrap();
    let ran = adumbra([&common[..], &["--iterations", "1"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let note = "iterations the loss or its gradient was not finite";
    assert!(ran.stderr.contains(note), "{ran:?}");
}
