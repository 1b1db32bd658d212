//! The command `fit`: the page's example, and wrong arguments.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const PAGE: &str = include_str!("../../../docs/inverse-rendering.md");

/// Writes the files of the page into a folder.
fn write_files(folder: &Path) {
    for block in PAGE.split("```").skip(1).step_by(2) {
        let (head, content) = block.split_once('\n').unwrap();
        if let Some((_, name)) = head.split_once("file=") {
            std::fs::write(folder.join(name), content).unwrap();
        }
    }
}

fn render(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra-render"));
    command.current_dir(folder).args(line.split_whitespace());
    command.output().unwrap()
}

/// A scene with these inputs of the ball.
fn with_inputs(scene: &str, inputs: Value) -> String {
    let mut scene: Value = serde_json::from_str(scene).unwrap();
    scene["materials"]["ball"]["shader"]["inputs"] = inputs;
    scene.to_string()
}

#[test]
fn example_of_the_page_finds_what_the_target_was_drawn_with() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_files(folder);
    let scene = std::fs::read_to_string(folder.join("scene.json")).unwrap();
    let drawn = serde_json::json!({ "tint": [0.9, 0.55, 0.2], "roughness": 0.4 });
    std::fs::write(folder.join("drawn.json"), with_inputs(&scene, drawn)).unwrap();
    let done = render(folder, "drawn.json -o photo.exr --size 16x16 --spp 128");
    assert!(done.status.success(), "{done:?}");

    let line = PAGE
        .lines()
        .find(|line| line.starts_with("adumbra-render fit"));
    let line = line.unwrap().strip_prefix("adumbra-render ").unwrap();
    let done = render(folder, &format!("{line} --spp 4 --iterations 20 --json"));
    assert!(done.status.success(), "{done:?}");
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    let found = &report["parameters"];
    let numbers = found["ball.tint"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&found["ball.roughness"]]);
    for (number, expected) in numbers.zip([0.9, 0.55, 0.2, 0.4]) {
        assert!(
            (number.as_f64().unwrap() - expected).abs() < 0.06,
            "{found}"
        );
    }
    // The scene that is written has these numbers, and is drawn.
    let fitted = std::fs::read_to_string(folder.join("fitted.json")).unwrap();
    let written: Value = serde_json::from_str(&fitted).unwrap();
    let roughness = &written["materials"]["ball"]["shader"]["inputs"]["roughness"];
    let off = roughness.as_f64().unwrap() - found["ball.roughness"].as_f64().unwrap();
    assert!(off.abs() < 1e-6, "{fitted}");
    let done = render(folder, "fitted.json -o fitted.png --spp 1");
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn wrong_arguments_say_what_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_files(folder);
    std::fs::create_dir(folder.join("other")).unwrap();
    let done = render(folder, "scene.json -o photo.exr --size 16x16 --spp 1");
    assert!(done.status.success(), "{done:?}");
    let photo = "--target photo.exr --wrt ball.tint";
    for (arguments, status, expected) in [
        (
            "scene.json --target photo.exr --wrt ball.tnt -o a.json",
            2,
            "did you mean `tint`?",
        ),
        (
            "scene.json --target photo.exr --wrt bal.tint -o a.json",
            2,
            "did you mean `ball`?",
        ),
        (
            &format!("scene.json {photo} -o a.png"),
            2,
            "does not end in .json",
        ),
        (
            &format!("scene.json {photo} -o scene.json"),
            2,
            "would replace the scene",
        ),
        (
            &format!("scene.json {photo} -o other/a.json"),
            2,
            "in another folder",
        ),
        (
            &format!("ball.adu {photo} -o a.json"),
            2,
            "is no scene file",
        ),
        (
            "scene.json --target no.exr --wrt ball.tint -o a.json",
            1,
            "no.exr",
        ),
    ] {
        let done = render(folder, &format!("fit {arguments}"));
        let message = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(status), "{arguments}: {message}");
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    assert!(!folder.join("a.json").exists());
}
