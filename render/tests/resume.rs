//! Processes that are really killed: what is drawn is kept, and no file is half written.
//!
//! A limit on the size of files kills a process at a chosen byte of a write (SIGXFSZ), so these
//! tests depend on no time.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/render/floor.json");
const RENDER: &str = env!("CARGO_BIN_EXE_adumbra-render");
/// 24 tiles; the file of progress has 327 kB.
const OPTIONS: [&str; 6] = ["--size", "176x116", "--spp", "2", "--bounces", "2"];

/// A scene of its own, and where it is drawn to.
struct Drawing {
    folder: TempDir,
    scene: PathBuf,
    out: PathBuf,
}

impl Drawing {
    fn new() -> Drawing {
        let folder = TempDir::new().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["floor.adu", "lacquer.adu", "glass.adu"] {
            let copied = fs::copy(Path::new(SCENE).with_file_name(name), at(name));
            copied.expect("it is copied");
        }
        // A tiled texture is read where it is. Another would be converted to a temporary file.
        let scene = fs::read_to_string(SCENE).expect("it is there");
        let scene = scene.replace("tiles.png", "tiles.exr");
        fs::write(at("floor.json"), scene).expect("it is written");
        let mut convert = Command::new(RENDER);
        convert
            .arg("texture")
            .arg(Path::new(SCENE).with_file_name("tiles.png"));
        let converted = convert.arg("-o").arg(at("tiles.exr")).output();
        assert!(converted.expect("it runs").status.success());
        let (scene, out) = (at("floor.json"), at("out.exr"));
        Drawing { folder, scene, out }
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let [scene, out] = [&self.scene, &self.out].map(|path| path.to_str().expect("UTF-8"));
        [&[scene, "-o", out][..], &OPTIONS, more].concat()
    }

    fn run(&self, more: &[&str]) -> Output {
        let mut command = Command::new(RENDER);
        command
            .args(self.arguments(more))
            .output()
            .expect("it runs")
    }

    /// Runs until a file is longer than `blocks` of 512 bytes.
    fn run_killed_at(&self, blocks: u64, more: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -c 0; ulimit -f $0; exec \"$@\""]);
        command
            .arg(blocks.to_string())
            .arg(RENDER)
            .args(self.arguments(more));
        command.output().expect("it runs")
    }

    fn progress(&self) -> PathBuf {
        self.folder.path().join("out.exr.adumbra-progress")
    }

    /// The image, as one run draws it.
    fn expected() -> Vec<u8> {
        let drawing = Drawing::new();
        let output = drawing.run(&["--threads", "2"]);
        assert!(output.status.success(), "{}", said(&output));
        assert!(!drawing.progress().exists(), "it is removed in the end");
        read(&drawing.out)
    }
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).expect("it is there")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether a signal ended the process: `sh` would say 128 and its number.
fn is_killed(output: &Output) -> bool {
    output.status.code().is_none_or(|code| code > 128)
}

#[test]
fn killed_in_any_write_resume_gives_the_same_file() {
    let expected = Drawing::expected();
    // Within the header, a first tile, tiles later on; and the last before all is drawn.
    for (blocks, threads) in [
        (0, "1"),
        (1, "2"),
        (33, "8"),
        (100, "1"),
        (250, "2"),
        (500, "8"),
    ] {
        let drawing = Drawing::new();
        fs::write(&drawing.out, "old").expect("it is written");
        let output = drawing.run_killed_at(blocks, &["--threads", threads]);
        assert!(is_killed(&output), "{blocks}: {}", said(&output));
        assert_eq!(
            read(&drawing.out),
            b"old",
            "{blocks}: the old file is whole"
        );
        assert_eq!(read(&drawing.progress()).len() as u64, 512 * blocks);
        // Twice, and with other threads.
        let again = drawing.run_killed_at(blocks + 40, &["--resume", "--threads", "2"]);
        assert!(is_killed(&again), "{blocks}: {}", said(&again));
        let output = drawing.run(&["--resume", "--threads", threads]);
        assert!(output.status.success(), "{blocks}: {}", said(&output));
        let is_continued = said(&output).contains(" of 24 tiles are drawn");
        assert!(is_continued, "{blocks}: {}", said(&output));
        assert!(read(&drawing.out) == expected, "{blocks}: the bits differ");
        assert!(!drawing.progress().exists());
    }
}

#[test]
fn killed_while_the_image_is_written_loses_nothing() {
    let expected = Drawing::expected();
    let drawing = Drawing::new();
    // All tiles, but for the last, are there; drawing it ends the process.
    let tiles = drawing.run_killed_at(500, &[]);
    assert!(is_killed(&tiles));
    let progress = read(&drawing.progress());
    fs::write(&drawing.out, "old").expect("it is written");
    // With a folder in the place of the image it is drawn, but not written.
    fs::remove_file(&drawing.out).expect("it is there");
    fs::create_dir(&drawing.out).expect("it is made");
    let output = drawing.run(&["--resume"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    fs::remove_dir(&drawing.out).expect("it is empty");
    let whole = read(&drawing.progress());
    assert!(whole.len() > progress.len(), "all tiles are kept");
    // Now nothing is left to draw; the limit ends the process within the image.
    fs::write(&drawing.out, "old").expect("it is written");
    for blocks in [0, 1, expected.len() as u64 / 512] {
        let output = drawing.run_killed_at(blocks, &["--resume"]);
        assert!(is_killed(&output), "{blocks}: {}", said(&output));
        assert_eq!(
            read(&drawing.out),
            b"old",
            "{blocks}: the old file is whole"
        );
        assert!(
            read(&drawing.progress()) == whole,
            "{blocks}: no tile is lost"
        );
    }
    let output = drawing.run(&["--resume"]);
    assert!(said(&output).contains("24 of 24 tiles are drawn"));
    assert!(read(&drawing.out) == expected);
}

#[test]
fn killed_by_sigkill_resume_gives_the_same_file() {
    let expected = Drawing::expected();
    let drawing = Drawing::new();
    let more = ["--threads", "1"];
    let mut command = Command::new(RENDER);
    command.args(drawing.arguments(&more)).stderr(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    // It is killed after a tile, whenever that is; a process that is faster has drawn all.
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    while length(&drawing.progress()) < 20_000 && child.try_wait().expect("it runs").is_none() {
        std::thread::yield_now();
    }
    child.kill().expect("it is killed, or was over");
    child.wait().expect("it is over");
    if drawing.out.exists() {
        assert!(read(&drawing.out) == expected);
    }
    let output = drawing.run(&["--resume", "--threads", "8"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(read(&drawing.out) == expected);
}

#[test]
fn killed_region_is_continued_alone() {
    let region = ["--region", "33,5,176,100"];
    let expected = {
        let drawing = Drawing::new();
        let output = drawing.run(&region);
        assert!(output.status.success(), "{}", said(&output));
        read(&drawing.out)
    };
    let drawing = Drawing::new();
    assert!(is_killed(&drawing.run_killed_at(200, &region)));
    for other in [&[][..], &["--region", "33,5,176,99"]] {
        let output = drawing.run(&[other, &["--resume"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        let is_other = said(&output).contains("its region is another");
        assert!(is_other, "{other:?}: {}", said(&output));
    }
    let output = drawing.run(&[&region[..], &["--resume", "--threads", "8"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains(" of 15 tiles are drawn"));
    assert!(read(&drawing.out) == expected);
}

#[test]
fn interrupted_part_is_not_merged() {
    let drawing = Drawing::new();
    // Slow, so that it is not over before it is interrupted.
    let more = [
        "--region",
        "0,0,176,116",
        "--threads",
        "1",
        "--filter",
        "ewa",
    ];
    let mut command = Command::new(RENDER);
    command
        .args(drawing.arguments(&more))
        .stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    // As soon as it has begun: all of 24 tiles are left.
    while length(&drawing.progress()) == 0 {
        std::thread::yield_now();
    }
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.expect("it runs").success());
    let output = child.wait_with_output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let merged = drawing.folder.path().join("merged.exr");
    let [part, out] = [&drawing.out, &merged].map(|path| path.to_str().expect("UTF-8"));
    let output = Command::new(RENDER)
        .args(["merge", part, "-o", out])
        .output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("its drawing was interrupted"),
        "{}",
        said(&output)
    );
    assert!(!merged.exists());
}

#[test]
fn changed_inputs_are_refused() {
    let drawing = Drawing::new();
    assert!(is_killed(&drawing.run_killed_at(100, &[])));
    let progress = read(&drawing.progress());
    let refused = |more: &[&str], part: &str| {
        let output = drawing.run(&[more, &["--resume"]].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{more:?}: {}", said(&output));
        assert!(read(&drawing.progress()) == progress, "nothing is lost");
    };
    for more in [
        ["--seed", "1"],
        ["--bias", "0.5"],
        ["--filter", "ewa"],
        ["--mip-rule", "article"],
        ["--seeds", "one-pixel"],
        ["--derivatives", "none"],
        ["--view", "level"],
    ] {
        refused(&more, "the options are others");
    }
    // Each input in turn, and back. Comments and the order of keys are no change.
    for (name, from, to) in [
        ("floor.json", "[0, 1.1, 4]", "[0, 1.1, 4.01]"),
        ("floor.json", "[96, 48]", "[96, 47]"),
        ("floor.json", "[0.9, 0.7, 0.2]", "[0.9, 0.7, 0.21]"),
        ("floor.json", "\"scale\": 16", "\"scale\": 17"),
        ("floor.json", "[2, 1.9, 1.7]", "[2, 1.9, 1.8]"),
        ("floor.json", "[0.5, 0.6, 0.8]", "[0.5, 0.6, 0.7]"),
        ("floor.adu", "17.0", "18.0"),
    ] {
        let path = drawing.folder.path().join(name);
        let old = fs::read_to_string(&path).expect("it is there");
        assert!(old.contains(from), "{name}: {from}");
        fs::write(&path, old.replacen(from, to, 1)).expect("it is written");
        refused(&[], "the scene has changed");
        fs::write(&path, format!("{old}\n")).expect("it is written");
    }
    let texture = drawing.folder.path().join("tiles.exr");
    let old = read(&texture);
    fs::write(&texture, [&old[..], b"more"].concat()).expect("it is written");
    refused(&[], "the images of the scene have changed");
    fs::write(&texture, &old).expect("it is written");
    // What changes no bit may change.
    let more = [
        "--resume",
        "--threads",
        "8",
        "--engine",
        "point",
        "--texture-memory",
        "1",
    ];
    let output = drawing.run(&more);
    assert!(output.status.success(), "{}", said(&output));
    assert!(read(&drawing.out) == Drawing::expected());
}

#[test]
fn damaged_progress_is_ignored_with_a_message() {
    let expected = Drawing::expected();
    let drawing = Drawing::new();
    fs::write(
        drawing.progress(),
        "no progress at all, but long enough to be a whole header of such a file, and more",
    )
    .expect("it is written");
    let output = drawing.run(&["--resume"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("or damaged: all is drawn anew"),
        "{}",
        said(&output)
    );
    assert!(read(&drawing.out) == expected);
}
