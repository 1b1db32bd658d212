//! Random variables: discs are found with noise, and threads change none of it.

use super::*;

#[test]
fn disc_is_found_with_noise() {
    let folder = folder();
    for (rules, most) in [("edge", 0.1), ("pair", 0.1), ("fd", 0.1), ("spsa", 0.3)] {
        let found = found(&folder, "best.adu", &["--noise", "on", "--rules", rules]);
        let loss = found["loss"].as_f64().unwrap();
        assert!(loss < most * first_loss(&found), "{rules}: {found}");
    }
    let report = fs::read_to_string(folder.path().join("best.run.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["noise"], true);
}

#[test]
fn threads_and_interruptions_change_no_noise() {
    let folder = folder();
    let of = |name: &str, args: &[&str]| {
        let noise: &[&str] = match args.contains(&"--noise") {
            true => &[],
            false => &["--noise", "on"],
        };
        timeless(&found(&folder, name, &[noise, args].concat()))
    };
    let whole = of("one.adu", &["--threads", "1"]);
    assert_eq!(of("two.adu", &["--threads", "2"]), whole);
    assert_ne!(of("other.adu", &["--random-seed", "1"]), whole);
    assert_ne!(of("calm.adu", &["--noise", "off"]), whole);
    let state = path(&folder, "state");
    let kept = ["--checkpoint", state.as_str()];
    of("part.adu", &[&kept[..], &["--stop-after", "7"]].concat());
    let resumed = of("part.adu", &[&kept[..], &["--resume"]].concat());
    assert_eq!(resumed, whole);
}

/// Noise only moves edges, so an input that moves none is no random variable.
#[test]
fn metadata_says_what_is_random() {
    let folder = folder();
    let of = |name: &str, radius: &str, centre: &str, ink: &str| {
        let source = DISC
            .replace("min = 1, max = 20", &format!("min = 1, max = 20{radius}"))
            .replace("range = 20", &format!("range = 20{centre}"))
            .replace("keep", ink);
        fs::write(folder.path().join("disc.adu"), source).unwrap();
        fit(
            &folder,
            name,
            &["--noise", "on", "--stop-after", "9", "--json"],
        )
    };
    let all = of("all.adu", "", "", "keep");
    let both = of("both.adu", ", noise", ", noise", "keep");
    let one = of("one.adu", ", noise", "", "keep");
    let other = of("other.adu", "", ", noise = false", "keep");
    let loss = |ran: &CommandOutput| timeless(&json_of(ran));
    assert_eq!(loss(&all), loss(&both));
    assert_eq!(loss(&one), loss(&other));
    assert_ne!(loss(&one), loss(&all));
    let refused = of("none.adu", "", "", "noise");
    assert_eq!(refused.code, 2);
    let why = "`noise` of the input `ink`: only inputs that move edges";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    let still = of("still.adu", ", noise = false", ", noise = false", "keep");
    assert!(
        still.stderr.contains("so none is a random variable"),
        "{still:?}"
    );
}
