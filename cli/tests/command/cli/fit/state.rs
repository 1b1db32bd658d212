//! The state of a fit: threads and interruptions change no bit, and another fit does not go on.

use super::*;

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
    let more = [&kept[..], &["--resume", "--stop-after", "500"]].concat();
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
fn state_of_another_fit_is_refused_by_name() {
    let folder = folder();
    let state = path(&folder, "state");
    let kept = ["--checkpoint", state.as_str()];
    let missing = refused(&folder, "a.adu", &[&kept[..], &["--resume"]].concat());
    assert!(
        missing.contains("there is no state to go on from"),
        "{missing}"
    );
    let file = path(&folder, "t.png");
    let wrong = refused(&folder, "a.adu", &["--checkpoint", &file]);
    assert!(wrong.contains("that is a file"), "{wrong}");
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
        (
            ["--rules", "pair"],
            "`--rules` was edge there, and is pair here",
        ),
        (["--loss", "l1"], "`--loss` was l2 there, and is l1 here"),
        (["--restarts", "3"], "`--restarts` was 1 there, and is 3"),
        (["--random-seed", "3"], "`--random-seed` was 0 there"),
        (["--noise", "on"], "`--noise` was off there, and is on here"),
        (["--arg", "radius=3"], "`--arg radius` was not given there"),
        (
            ["--fixed", "radius"],
            "`--fixed radius` was not given there",
        ),
        (["--accept", "0.5"], "`--accept` was none there, and is 0.5"),
        (["--size", "24x24"], "`--size` was not given there"),
    ] {
        let why = resumed(&args);
        assert!(why.contains(part), "{why}");
    }
    fs::write(folder.path().join("disc.adu"), format!("{DISC}\n// more")).unwrap();
    let why = resumed(&[]);
    assert!(why.contains("disc.adu is not what it was"), "{why}");
    assert!(why.contains("another folder by `--checkpoint`"), "{why}");
}
