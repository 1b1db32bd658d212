//! Fits that are killed at random moments go on as if they never were.
//!
//! `KILLS=50 cargo test --test command cli::fit::kills -- --nocapture` kills one fifty times, and
//! prints what was lost. The time since the state was last written is what is done once more.

use super::*;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// The longest wait for a kill: longer than the state stays unwritten.
const LONGEST: Duration = Duration::from_millis(2200);

/// The time between two writes of the state, with an iteration, on a machine with other work.
const MOST_LOST: Duration = Duration::from_millis(2500);

/// The arguments of a long fit that is written to `name`.
fn args(folder: &TempDir, name: &str, restarts: usize) -> Vec<String> {
    let [source, target, out] = ["disc.adu", "t.png", name].map(|name| path(folder, name));
    let restarts = restarts.to_string();
    let args = ["fit", &source, "--target", &target, "-o", &out];
    let long = ["--size", "96x96", "--noise", "on", "--threads", "1"];
    let more = ["--restarts", &restarts];
    let args = args.iter().chain(&long).chain(&more);
    args.map(|&word| word.to_owned()).collect()
}

/// Starts a fit and kills it after some time. How long ago it had written the state by then; none
/// if it had not begun to search. Whether it was over by itself.
fn killed(args: &[String], state: &Path, after: Duration) -> (Option<Duration>, bool) {
    let began = SystemTime::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    let command = command.args(args).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(after);
    let is_over = child.try_wait().expect("it can be asked").is_some();
    let written = fs::metadata(state).and_then(|state| state.modified());
    let now = SystemTime::now();
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let written = written.ok().filter(|written| *written >= began && !is_over);
    let ago = written.map(|written| now.duration_since(written).unwrap_or_default());
    (ago, is_over)
}

#[test]
fn killed_fit_goes_on() {
    let kills: usize = std::env::var("KILLS").map_or(3, |kills| kills.parse().unwrap());
    // As long as the kills take, and longer.
    let restarts = 3 + kills / 3;
    let folder = folder();
    let folder_of_state = path(&folder, "state");
    let state = Path::new(&folder_of_state).join("fit.json");
    let kept = ["--checkpoint", &folder_of_state];
    let common = args(&folder, "killed.adu", restarts);
    let mut lot = fastrand::Rng::with_seed(kills as u64);
    let (mut searching, mut most) = (0, Duration::ZERO);
    for _ in 0..kills {
        let resumes: &[&str] = if state.exists() { &["--resume"] } else { &[] };
        let words = kept.iter().chain(resumes).map(|&word| word.to_owned());
        let args: Vec<String> = common.iter().cloned().chain(words).collect();
        let (lost, is_over) = killed(&args, &state, LONGEST.mul_f64(lot.f64()));
        assert!(!is_over, "the fit is too short to be killed {kills} times");
        searching += usize::from(lost.is_some());
        most = most.max(lost.unwrap_or_default());
    }
    println!("{kills} kills, {searching} while searching; at most {most:?} were lost");
    assert!(searching > kills / 3, "{searching} of {kills}");
    assert!(most <= MOST_LOST, "{most:?}");
    let rest = common
        .iter()
        .map(String::as_str)
        .chain(kept)
        .chain(["--resume"]);
    let ran = adumbra(rest);
    assert_eq!(ran.code, 0, "{ran:?}");
    let whole = args(&folder, "whole.adu", restarts);
    assert_eq!(adumbra(whole.iter().map(String::as_str)).code, 0);
    for ending in ["adu", "png"] {
        let bytes = |name: &str| fs::read(folder.path().join(name).with_extension(ending)).unwrap();
        assert_eq!(bytes("killed"), bytes("whole"));
    }
    let report = |name: &str| {
        let report: Value =
            serde_json::from_slice(&fs::read(path(&folder, name)).unwrap()).unwrap();
        timeless(&report["report"])
    };
    assert_eq!(report("killed.run.json"), report("whole.run.json"));
}
