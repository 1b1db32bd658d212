//! The command line's contract: names, JSON shapes, exit statuses, refusals.

mod aot;
mod diagnostics;
mod emit;
mod eval;
mod files;
mod fit;
mod fit_prune;
mod grad;
mod grad_arrays;
mod grad_differences;
mod grad_edges;
mod metric;
mod run;
mod simd;
mod usage;

use crate::command::{CommandOutput, adumbra, adumbra_with_input, finish, project, scratch, start};
use serde_json::{Value, json};
use std::process::Command;

const EQUATION: &str =
    "(sin(x1*x2/(x1+1)) + log(1 + x1*x2/(x1+1)) - exp(x2)) * (x1*x2/(x1+1) - tanh(x2))";

const SEEDS: [&str; 4] = ["-g", "x1=1.5:1:0", "-g", "x2=0.5:0:1"];

fn json_of(ran: &CommandOutput) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error} in {ran:?}"))
}

fn close(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 3e-7
}

fn example(name: &str) -> String {
    project(&format!("examples/{name}")).display().to_string()
}
