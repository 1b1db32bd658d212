//! The template for farms, `examples/farm/render.yaml`: its tasks, run by `bash` with the values of
//! its parameters, give the images that the command draws at once.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const TEMPLATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/farm/render.yaml");
const RENDER: &str = env!("CARGO_BIN_EXE_adumbra-render");

/// A scene whose light changes with time.
const SHADER: &str = "shader pulse(out closure surface) {
    color paint = color(0.2 + global_value<time>, 0.5, 0.8);
    surface = paint * make_closure<oren_nayar>(global_value<normal>, 0.2);
}";

/// A step of the template: what its tasks run.
#[derive(Debug, Default)]
struct Step {
    /// The arguments of `bash`, as they are written.
    arguments: Vec<String>,
    script: String,
}

/// The steps of the template by name. Of YAML it knows what the template has: lists of quoted
/// arguments, and a script by its indentation.
fn steps() -> BTreeMap<String, Step> {
    let template = std::fs::read_to_string(TEMPLATE).expect("the template");
    let (_, steps) = template.split_once("\nsteps:\n").expect("it has steps");
    let mut found = BTreeMap::new();
    for step in steps.split("\n  - name: ") {
        let step = step.trim_start_matches("  - name: ");
        let (name, rest) = step.split_once('\n').expect("it has more than a name");
        let (_, rest) = rest.split_once("args:\n").expect("it has arguments");
        let (arguments, rest) = rest.split_once("embeddedFiles:\n").expect("it has a file");
        let (_, script) = rest
            .split_once("data: |\n")
            .expect("the file has a content");
        let arguments = arguments.lines().filter_map(|line| {
            let argument = line.trim().strip_prefix("- \"")?.strip_suffix('"')?;
            Some(argument.to_owned())
        });
        let indent = script.len() - script.trim_start_matches(' ').len();
        let lines = script.lines().map(|line| line.get(indent..).unwrap_or(""));
        let step = Step {
            arguments: arguments.collect(),
            script: lines.collect::<Vec<_>>().join("\n"),
        };
        found.insert(name.to_owned(), step);
    }
    found
}

/// The default values of parameters.
fn defaults() -> BTreeMap<String, String> {
    let template = std::fs::read_to_string(TEMPLATE).expect("the template");
    let (_, rest) = template
        .split_once("parameterDefinitions:\n")
        .expect("parameters");
    let (parameters, _) = rest.split_once("\nsteps:\n").expect("it has steps");
    let mut found = BTreeMap::new();
    for parameter in parameters.split("  - name: ").skip(1) {
        let (name, rest) = parameter.split_once('\n').expect("a name");
        let mut lines = rest.lines().map(str::trim);
        let default = lines.find_map(|line| line.strip_prefix("default: "));
        if let Some(default) = default {
            found.insert(
                format!("Param.{name}"),
                default.trim_matches('"').to_owned(),
            );
        }
    }
    found
}

/// Runs a task of a step, with the values of all names.
fn run(folder: &Path, step: &Step, values: &BTreeMap<String, String>) -> Output {
    let script = folder.join("task.sh");
    std::fs::write(&script, &step.script).expect("it is written");
    let arguments = step.arguments.iter().map(|argument| {
        let name = argument
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        match name {
            Some("Task.File.Run") => script.to_str().expect("UTF-8").to_owned(),
            Some(name) => values
                .get(name)
                .unwrap_or_else(|| panic!("{name} has no value"))
                .clone(),
            None => argument.clone(),
        }
    });
    let mut command = Command::new("bash");
    command.args(arguments).output().expect("bash runs")
}

/// The files of a folder, sorted.
fn listing(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

#[test]
fn tasks_of_the_template_draw_the_frames() {
    let folder = TempDir::new().expect("a folder");
    // Blanks in names are no ends of words.
    let images = folder.path().join("the images");
    let shader = folder.path().join("pulse.adu");
    std::fs::write(&shader, SHADER).expect("it is written");
    let scene = shader.to_str().expect("UTF-8");
    let steps = steps();
    assert_eq!(steps.keys().collect::<Vec<_>>(), ["Draw", "Merge"]);
    let mut values = defaults();
    for (name, value) in [
        ("Param.Scene", scene),
        ("Param.Folder", images.to_str().expect("UTF-8")),
        ("Param.Width", "50"),
        ("Param.Height", "35"),
        ("Param.Columns", "3"),
        ("Param.Options", "--spp 2 --no-texture-cache"),
        ("Param.Renderer", RENDER),
    ] {
        values.insert(name.to_owned(), value.to_owned());
    }
    let mut task = |step: &str, names: &[(&str, u32)]| {
        for (name, value) in names {
            values.insert(format!("Task.Param.{name}"), value.to_string());
        }
        let output = run(folder.path(), &steps[step], &values);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let (columns, rows) = (1..=3, 1..=2);
    for (frame, time) in [(1, "0"), (13, "0.5")] {
        for (column, row) in columns
            .clone()
            .flat_map(|c| rows.clone().map(move |r| (c, r)))
        {
            let names = [("Frame", frame), ("Column", column), ("Row", row)];
            assert_eq!(task("Draw", &names), (Some(0), String::new()));
        }
        assert_eq!(task("Merge", &[("Frame", frame)]), (Some(0), String::new()));
        let whole = folder.path().join("whole.exr");
        let mut command = Command::new(RENDER);
        command.args([scene, "--size", "50x35", "--spp", "2", "--time", time]);
        let output = command.arg("-o").arg(&whole).output().expect("it runs");
        assert!(output.status.success());
        let [whole, merged] = [whole, images.join(format!("image_{frame:04}.exr"))]
            .map(|file| std::fs::read(file).expect("it is there"));
        assert!(whole == merged, "frame {frame}");
    }
    assert_eq!(listing(&images.join("parts")).len(), 12);
    // A task that fails says so, and one is not merged without a part.
    let (status, said) = task("Merge", &[("Frame", 2)]);
    assert!(
        status == Some(1) && said.contains("image_0002_1_1.exr: "),
        "{said}"
    );
    let (status, said) = task("Draw", &[("Column", 4)]);
    assert!(
        status == Some(2) && said.contains("goes beyond the image"),
        "{said}"
    );
}
