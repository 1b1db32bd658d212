//! Reads programs and their headers, and the command's JSON.

use crate::command::{adumbra, project};
use serde_json::Value;
use std::path::PathBuf;

/// A file below `tests/`.
pub(crate) fn path(relative: &str) -> PathBuf {
    project("tests").join(relative)
}

/// Every `.adu` file in a folder below `tests/` and in its subfolders, sorted.
pub(crate) fn programs(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![path(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "adu") {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "no programs in {folder}");
    files
}

/// The folder of the shaders of the post's cost table, which the benchmarks run.
pub(crate) const COST_TABLE: &str = "../cli/src/benchmarks/post";

/// The values of the header lines `// key: value`, in order.
pub(crate) fn header<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .take_while(|line| line.starts_with("//"))
        .filter_map(move |line| {
            line.strip_prefix("// ")?
                .strip_prefix(key)?
                .strip_prefix(':')
        })
        .map(str::trim)
}

/// Runs the command and reads its output as one JSON value.
///
/// # Panics
/// If it is not one.
pub(crate) fn json(args: &[&str]) -> Value {
    let ran = adumbra(args.iter().copied());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}\n{ran:?}"))
}

/// A JSON number, or one of the strings in place of numbers that JSON lacks.
pub(crate) fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("nan") => f64::NAN,
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        _ => value
            .as_f64()
            .unwrap_or_else(|| panic!("{value} is not a number")),
    }
}

/// Whether two numbers agree within a tolerance that is absolute or relative, whichever is wider.
pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

/// Each line of the output as a JSON value.
pub(crate) fn json_lines(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}")))
        .collect()
}
