//! Tests of the limits of the analysis of lost shadows. The frontend tests its results on programs.

use super::super::lost_shadows::{MAX_DERIVATIVE_READS, MAX_WARNINGS};
use super::*;
use std::fmt::Write;

/// What is lost in a module whose `main` has this body, beside other functions.
fn lost(body: &str, others: &str) -> LostShadows {
    let module = module(&format!(
        "fn main() -> (f32) ^0 {{\n%0: f32 = global g[0]\n%1: f32 = ddx %0\n{body}}}\n{others}"
    ));
    lost_shadows(&module, &[])
}

fn warnings(body: &str, others: &str) -> usize {
    lost(body, others).warnings.len()
}

#[test]
fn warnings_are_limited() {
    let body = |count: usize| {
        let mut body = String::new();
        for i in 0..count {
            writeln!(body, "%{}: f32 = ddx %1 @{i}..{}", i + 2, i + 1).unwrap();
        }
        body + "return %0\n"
    };
    assert_eq!(warnings(&body(MAX_WARNINGS - 1), ""), MAX_WARNINGS - 1);
    assert_eq!(warnings(&body(MAX_WARNINGS + 1), ""), MAX_WARNINGS);
}

#[test]
fn derivative_reads_of_function_are_limited() {
    let asks = |count: usize| {
        let mut text = String::from("fn many(%0: f32) -> (f32) ^0 {\n");
        for i in 0..count {
            writeln!(text, "%{}: f32 = ddx %0 @{i}..{}", i + 1, i + 1).unwrap();
        }
        text + "return %0\n}"
    };
    let body = "%2: f32 = call many(%1)\nreturn %2\n";
    assert_eq!(
        warnings(body, &asks(MAX_DERIVATIVE_READS)),
        MAX_DERIVATIVE_READS
    );
    assert_eq!(
        warnings(body, &asks(MAX_DERIVATIVE_READS + 1)),
        MAX_DERIVATIVE_READS
    );
}

/// A function that calls itself and passes each parameter as the next; the derivative of the last
/// is read.
fn shifting(params: usize) -> String {
    let list = |f: &dyn Fn(usize) -> String| (0..params).map(f).collect::<Vec<_>>().join(", ");
    let parameters = list(&|i| format!("%{i}: f32"));
    let shifted = list(&|i| format!("%{}", i.saturating_sub(1)));
    let (last, call, slope) = (params - 1, params, params + 1);
    format!(
        "fn shift({parameters}) -> (f32) ^0 {{\n%{call}: f32 = call shift({shifted})\n%{slope}: f32 = ddx %{last}\nreturn %{call}\n}}"
    )
}

#[test]
fn derivatives_through_recursion_are_found() {
    let found = |params: usize| {
        let rest = ", %0".repeat(params - 1);
        let body = format!("%2: f32 = call shift(%1{rest})\nreturn %2\n");
        warnings(&body, &shifting(params))
    };
    for params in [2, 20, 200] {
        assert_ne!(found(params), 0, "{params}");
    }
}

/// A function that calls itself and returns each result as the one before; the last one is its
/// parameter, and no result is a derivative.
fn rising(results: usize) -> String {
    let list = |f: &dyn Fn(usize) -> String| (0..results).map(f).collect::<Vec<_>>().join(", ");
    format!(
        "fn rise(%0: f32) -> ({}) ^0 {{\n%1: f32 = ddx %0\n{} = call rise(%0)\nreturn {}\n}}",
        list(&|_| "f32".to_owned()),
        list(&|i| format!("%{}: f32", 2 + i)),
        list(&|i| match i + 1 == results {
            true => "%0".to_owned(),
            false => format!("%{}", 3 + i),
        }),
    )
}

#[test]
fn everything_is_assumed_of_long_recursion() {
    let is_marked = |results: usize| {
        let list: Vec<String> = (2..results + 2).map(|i| format!("%{i}: f32")).collect();
        let body = format!("{} = call rise(%0)\nreturn %2\n", list.join(", "));
        lost(&body, &rising(results)).second_order[0]
    };
    assert!(!is_marked(MAX_FIXPOINT_ROUNDS - 2));
    assert!(is_marked(MAX_FIXPOINT_ROUNDS + 2));
}
