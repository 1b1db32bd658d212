//! Programs whose header says how to run them and what must come out.
//!
//! ```text
//! // run: OPTIONS                            each run checks the lines up to the next one, on every engine
//! // out: NAME = VALUE [: DDX : DDY] [~ T]   a float output within the tolerance T (default 1e-6); shadows need --derivs
//! // sample: TEXTURE U V : DUDX DUDY DVDX DVDY [~ T]
//! // closure: OUTPUT = NAME                  the output is a leaf of that name
//! // lanes[ merged]: VARIABLE = LANES, …     the shadows that the variable's definitions carry together, by `emit --stage demand`
//! // same as: OPTIONS                        the serialised bytecode is byte for byte that of these options
//! // refused: CODE                           `check` gives exactly this error
//! ```

use crate::command::{adumbra, scratch};
use crate::support::{close, header, json, number, programs};
use serde_json::Value;
use std::path::Path;

const ENGINES: [&str; 2] = ["reference", "point"];

/// Splits `text ~ tolerance`.
fn tolerance(line: &str) -> (&str, f64) {
    match line.rsplit_once('~') {
        Some((text, t)) => (text.trim(), t.trim().parse().expect("a tolerance")),
        None => (line, 1e-6),
    }
}

fn check_out(outputs: &Value, line: &str) {
    let (line, tolerance) = tolerance(line);
    let (name, expected) = line.split_once('=').expect("NAME = VALUE");
    let output = &outputs["outputs"][name.trim()];
    for (key, expected) in ["value", "ddx", "ddy"].iter().zip(expected.split(':')) {
        let expected: f64 = expected.trim().parse().expect("a number");
        let found = number(&output[key]);
        assert!(
            close(found, expected, tolerance),
            "{line}: {key} is {found}"
        );
    }
}

fn check_sample(outputs: &Value, line: &str) {
    let (line, tolerance) = tolerance(line);
    let mut words = line.split_whitespace().filter(|&w| w != ":");
    let texture = words.next().expect("a texture");
    let keys = ["u", "v", "dudx", "dudy", "dvdx", "dvdy"];
    let expected: Vec<f64> = words.map(|w| w.parse().expect("a number")).collect();
    assert_eq!(expected.len(), keys.len(), "{line}");
    let samples = outputs["samples"].as_array().expect("samples");
    assert!(
        samples.iter().any(|sample| {
            sample["texture"] == texture
                && keys
                    .iter()
                    .zip(&expected)
                    .all(|(key, &e)| close(number(&sample[key]), e, tolerance))
        }),
        "{line}: the samples are {samples:?}"
    );
}

fn check_lanes(file: &Path, options: &[&str], line: &str) {
    let file = file.to_str().expect("a UTF-8 path");
    let mut args = vec!["emit", file, "--stage", "demand", "--json"];
    args.extend(options);
    let functions = json(&args);
    for expectation in line.split(',') {
        let (name, expected) = expectation.split_once('=').expect("VARIABLE = LANES");
        let lanes: Vec<&str> = functions
            .as_array()
            .expect("a list of functions")
            .iter()
            .flat_map(|function| function["values"].as_array().expect("values"))
            .filter(|value| value["name"] == name.trim())
            .map(|value| value["lanes"].as_str().expect("lanes"))
            .collect();
        let union: String = ["x", "y"]
            .into_iter()
            .filter(|d| lanes.iter().any(|l| l.contains(d)))
            .collect();
        assert_eq!(
            union,
            expected.trim(),
            "{file}: lanes of {name}: {functions}"
        );
    }
}

/// What `emit --stage bytecode -o` writes to a file of that name.
fn bytecode(file: &str, options: &[&str], name: &str) -> Vec<u8> {
    let to = scratch(name, "");
    let mut args = vec!["emit", file, "--stage", "bytecode", "-o", &to];
    args.extend(options);
    let ran = adumbra(args.iter().copied());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    std::fs::read(&to).expect("the command wrote the file")
}

fn check_program(file: &Path) {
    let text = std::fs::read_to_string(file).expect("the program can be read");
    let path = file.to_str().expect("a UTF-8 path");
    if let Some(code) = header(&text, "refused").next() {
        let found = json(&["check", path, "--json"]);
        assert_eq!(found["code"], code, "{path}: {found}");
        return;
    }
    let mut options: Vec<&str> = Vec::new();
    let mut runs: Vec<Value> = Vec::new();
    let mut checks = 0;
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        let Some((key, rest)) = line
            .split_once(": ")
            .or(line.strip_suffix(':').map(|k| (k, "")))
        else {
            continue;
        };
        checks += 1;
        match key {
            "run" => {
                options = rest.split_whitespace().collect();
                runs = ENGINES
                    .iter()
                    .map(|engine| {
                        let mut args = vec!["run", path, "--json", "--engine", engine];
                        args.extend(&options);
                        json(&args)
                    })
                    .collect();
            }
            "out" => runs.iter().for_each(|run| check_out(run, rest)),
            "sample" => runs.iter().for_each(|run| check_sample(run, rest)),
            "closure" => {
                let (output, name) = rest.split_once(" = ").expect("OUTPUT = NAME");
                for run in &runs {
                    assert_eq!(run["outputs"][output]["value"]["closure"], name, "{path}");
                }
            }
            "lanes" | "lanes merged" => {
                let mut options = options.clone();
                options.retain(|&o| o != "--derivs");
                if key == "lanes merged" {
                    options.push("--merge-demand");
                }
                check_lanes(file, &options, rest);
            }
            "same as" => {
                let stem = file.file_stem().and_then(|s| s.to_str()).expect("a name");
                let one = bytecode(path, &options, &format!("{stem}.one.adb"));
                let mut other: Vec<&str> = options.clone();
                other.extend(rest.split_whitespace());
                let two = bytecode(path, &other, &format!("{stem}.two.adb"));
                assert!(
                    one == two,
                    "{path}: the bytecode differs from that of {rest}"
                );
            }
            _ => checks -= 1,
        }
    }
    assert!(checks > 1, "{path} checks nothing");
}

#[test]
fn the_posts_programs_do_what_the_post_says() {
    programs("post").iter().for_each(|file| check_program(file));
}
