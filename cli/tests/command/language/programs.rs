//! Golden programs: each one's header has its runs and the expected results.
//!
//! ```text
//! // source: WHERE                           the source of the expected values; every program of
//! //                                         `tests/lang` has it
//! // run: OPTIONS                            each run checks the lines up to the next one, on
//! //                                         every engine
//! // out: NAME = VALUE [: DDX : DDY] [~ T]   an output; floats within T (default 1e-6; at 0 the
//! //                                         same float); shadows need --derivs
//! // sample: TEXTURE U V : DUDX DUDY DVDX DVDY [LEVEL] [~ T]
//! //                                         the requests are exactly these, in order; without
//! //                                         such a line, any
//! // closure: OUTPUT = NAME                  the output is a leaf of that name
//! // tree: OUTPUT = JSON                     the output is exactly that closure tree, as the
//! //                                         command prints it
//! // message: STRING                         the messages are exactly these, in order; a line
//! //                                         break in one is written \n
//! // fault: CODE                             the faults are exactly these, in order; without
//! //                                         such a line there is none
//! // warning: CODE                           the compiler's warnings are exactly these, in
//! //                                         order; without such a line there is none
//! // lanes[ merged]: VARIABLE = LANES, …     the shadows that the variable's definitions carry
//! //                                         together, by `emit --stage demand`
//! // same as: OPTIONS                        the bytecode is that of these options
//! // refused: CODE                           `check` gives exactly this error
//! ```
//!
//! A VALUE is `true`, `false`, a number, or numbers separated by commas; the rows of a matrix are
//! separated by semicolons.

use super::support::{COST_TABLE, close, header, json, json_lines, number, programs};
use crate::command::adumbra;
use serde_json::Value;
use std::path::Path;

/// The engines that this processor has, as the command names them.
fn engines() -> impl Iterator<Item = &'static str> {
    adumbra::evaluator::Engine::available().map(|engine| match engine {
        adumbra::evaluator::Engine::Reference => "reference",
        adumbra::evaluator::Engine::Point => "point",
        adumbra::evaluator::Engine::Batch => "batch",
        adumbra::evaluator::Engine::Native => "native",
        adumbra::evaluator::Engine::Auto => "auto",
    })
}

/// The results of one engine's run of a program.
struct Ran {
    engine: &'static str,
    result: Value,
    warnings: Vec<String>,
}

/// A run and the lines that it must satisfy, as key and value.
#[derive(Default)]
struct Run<'a> {
    options: Vec<&'a str>,
    lines: Vec<(&'a str, &'a str)>,
}

/// The runs of a header. Lines before the first `run:` belong to one without options.
fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs = vec![Run::default()];
    for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
        let Some((key, rest)) = line
            .split_once(": ")
            .or(line.strip_suffix(':').map(|k| (k, "")))
        else {
            continue;
        };
        match key {
            "run" => runs.push(Run {
                options: rest.split_whitespace().collect(),
                lines: Vec::new(),
            }),
            _ => runs.last_mut().expect("one run").lines.push((key, rest)),
        }
    }
    runs
}

/// The values of all lines with that key.
fn all<'a>(lines: &[(&'a str, &'a str)], key: &str) -> Vec<&'a str> {
    let found = lines.iter().filter(|(k, _)| *k == key);
    found.map(|(_, text)| *text).collect()
}

fn execute(path: &str, options: &[&str], engine: &'static str) -> Result<Ran, String> {
    let mut args = vec!["run", path, "--json", "--engine", engine];
    args.extend(options);
    let ran = adumbra(args.iter().copied());
    let result =
        serde_json::from_str(&ran.stdout).map_err(|_| format!("{args:?}: {}", ran.stderr))?;
    let warnings = json_lines(&ran.stderr);
    Ok(Ran {
        engine,
        result,
        warnings: warnings.iter().map(|w| text(&w["code"])).collect(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Splits `value ~ tolerance`.
fn tolerance(line: &str) -> (&str, f64) {
    match line.rsplit_once('~') {
        Some((text, t)) => (text.trim(), t.trim().parse().expect("a tolerance")),
        None => (line, 1e-6),
    }
}

/// Whether a value is the expected one: booleans and ints exactly, floats within the tolerance,
/// vectors and matrices by component.
fn is(found: &Value, expected: &str, tolerance: f64) -> bool {
    let expected = expected.trim();
    if let Some(parts) = found.as_array() {
        let separator = if parts.iter().any(Value::is_array) {
            ';'
        } else {
            ','
        };
        let expected: Vec<&str> = expected.split(separator).collect();
        return parts.len() == expected.len()
            && parts
                .iter()
                .zip(expected)
                .all(|(part, e)| is(part, e, tolerance));
    }
    match found {
        Value::Bool(found) => expected == found.to_string(),
        Value::Number(found) if !found.is_f64() => expected == found.to_string(),
        _ => {
            let expected: f64 = expected.parse().expect("a number");
            let found = number(found);
            found as f32 == expected as f32
                || found.is_nan() && expected.is_nan()
                || close(found, expected, tolerance)
        }
    }
}

fn check_out(outputs: &Value, line: &str) -> Result<(), String> {
    let (line, tolerance) = tolerance(line);
    let (name, expected) = line.split_once(" = ").expect("NAME = VALUE");
    let output = &outputs["outputs"][name];
    for (key, expected) in ["value", "ddx", "ddy"].iter().zip(expected.split(':')) {
        if !is(&output[key], expected, tolerance) {
            return Err(format!("{line}: {key} is {}", output[key]));
        }
    }
    Ok(())
}

/// Whether a request is the one of the line.
fn is_sample(sample: &Value, line: &str) -> bool {
    let (line, tolerance) = tolerance(line);
    let mut words = line.split_whitespace().filter(|&w| w != ":");
    let texture = words.next().expect("a texture");
    let keys = ["u", "v", "dudx", "dudy", "dvdx", "dvdy"];
    let expected: Vec<f64> = words.map(|w| w.parse().expect("a number")).collect();
    let (expected, level) = expected.split_at(keys.len());
    let level_is_right = match level {
        [] => sample["level"].is_null(),
        [level] => close(number(&sample["level"]), *level, tolerance),
        _ => panic!("too many numbers: {line}"),
    };
    level_is_right
        && sample["texture"] == texture
        && keys
            .iter()
            .zip(expected)
            .all(|(key, &e)| close(number(&sample[key]), e, tolerance))
}

fn check_samples(outputs: &Value, lines: &[&str]) -> Result<(), String> {
    let none = Vec::new();
    let samples = outputs["samples"].as_array().unwrap_or(&none);
    let pairs = samples.iter().zip(lines);
    if samples.len() == lines.len() && pairs.clone().all(|(sample, line)| is_sample(sample, line)) {
        return Ok(());
    }
    Err(format!("samples: expected {lines:?}, found {samples:?}"))
}

/// Compares a list that a run reports with the lines with that key.
fn check_list(what: &str, found: &[String], expected: &[&str], wrong: &mut impl FnMut(String)) {
    if found != expected {
        wrong(format!("{what}s: expected {expected:?}, found {found:?}"));
    }
}

/// The strings of a list in the result; the command leaves an empty one out.
fn reported(result: &Value, list: &str, of: impl Fn(&Value) -> String) -> Vec<String> {
    let list = result[list].as_array();
    list.map_or(Vec::new(), |list| list.iter().map(of).collect())
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

/// The listing of a shader's bytecode.
fn bytecode(file: &str, options: &[&str]) -> String {
    let args = ["emit", file, "--stage", "bytecode"];
    let ran = adumbra(args.iter().chain(options).copied());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    ran.stdout
}

/// Checks the results of an engine's run.
fn check_ran(ran: &Ran, lines: &[(&str, &str)], wrong: &mut impl FnMut(String)) {
    let mut wrong = |what: String| wrong(format!("{}: {what}", ran.engine));
    for (key, line) in lines {
        let checked = match *key {
            "out" => check_out(&ran.result, line),
            "closure" | "tree" => {
                let (output, expected) = line.split_once(" = ").expect("OUTPUT = CLOSURE");
                let found = &ran.result["outputs"][output]["value"];
                let fits = match *key {
                    "closure" => found["closure"] == expected,
                    _ => *found == serde_json::from_str::<Value>(expected).expect("JSON"),
                };
                fits.then_some(()).ok_or(format!("{line}: it is {found}"))
            }
            _ => Ok(()),
        };
        checked.unwrap_or_else(&mut wrong);
    }
    let samples = all(lines, "sample");
    if !samples.is_empty() {
        check_samples(&ran.result, &samples).unwrap_or_else(&mut wrong);
    }
    let faults = reported(&ran.result, "faults", |fault| text(&fault["code"]));
    check_list("fault", &faults, &all(lines, "fault"), &mut wrong);
    let messages = reported(&ran.result, "messages", |message| {
        text(message).replace('\n', "\\n")
    });
    check_list("message", &messages, &all(lines, "message"), &mut wrong);
    check_list("warning", &ran.warnings, &all(lines, "warning"), &mut wrong);
}

/// Checks all lines of a program's header, and returns the problems.
fn check_program(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("the program can be read");
    let path = file.to_str().expect("a UTF-8 path");
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(format!("{path}: {what}"));
    if let Some(code) = header(&text, "refused").next() {
        let diagnostic = json(&["check", path, "--json"]);
        if diagnostic["code"] != code {
            wrong(diagnostic.to_string());
        }
        return found;
    }
    let mut checks = 0;
    for Run { options, lines } in runs(&text) {
        let executes = ["out", "sample", "closure", "tree", "message", "fault"];
        let to_check = lines.iter().filter(|(key, _)| executes.contains(key));
        let to_check = to_check.count();
        checks += to_check;
        if to_check > 0 {
            for engine in engines() {
                match execute(path, &options, engine) {
                    Ok(ran) => check_ran(&ran, &lines, &mut wrong),
                    Err(refusal) => wrong(refusal),
                }
            }
        }
        for (key, rest) in lines {
            match key {
                "lanes" | "lanes merged" => {
                    let mut options = options.clone();
                    options.retain(|&o| o != "--derivs");
                    if key == "lanes merged" {
                        options.push("--merge-demand");
                    }
                    check_lanes(file, &options, rest);
                }
                "same as" => {
                    let one = bytecode(path, &options);
                    let mut other: Vec<&str> = options.clone();
                    other.extend(rest.split_whitespace());
                    if one != bytecode(path, &other) {
                        wrong(format!("the bytecode differs from that of {rest}"));
                    }
                }
                _ => continue,
            }
            checks += 1;
        }
    }
    if checks == 0 {
        wrong("nothing is checked".into());
    }
    found
}

#[test]
fn posts_programs_match_the_post() {
    let mut files = programs("post");
    files.extend(programs(COST_TABLE));
    let wrong: Vec<String> = files.iter().flat_map(|f| check_program(f)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn golden_programs_give_expected_values() {
    let files = programs("lang");
    assert!(files.len() >= 200);
    let mut wrong: Vec<String> = files.iter().flat_map(|f| check_program(f)).collect();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("the program can be read");
        if header(&text, "source").next().is_none() {
            wrong.push(format!("{} does not say its source", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
