//! Tests of long chains of conditions and operators, as generated source has them.

use super::*;
use crate::limits::MAX_CHAIN_OPERATORS;

/// The length of chains in generated source.
const LONG: usize = 10_000;

fn instructions(text: &str) -> usize {
    let module = module(text);
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    regions.map(|region| region.insts.len()).sum()
}

fn arms(count: usize, arm: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(arm).collect();
    all.join(" else ")
}

#[test]
fn condition_chains_take_first_true_arm() {
    let chosen = |n: usize, body: &str| {
        let body = format!("int n = {n}; {body}");
        floats(&shader("float", 2, "", &body))
    };
    let long = arms(LONG, |i| format!("if (n == {i}) o0 = {i};")) + " else o1 = 1;";
    assert_eq!(chosen(0, &long), [0.0, 0.0]);
    assert_eq!(chosen(LONG - 1, &long), [(LONG - 1) as f32, 0.0]);
    assert_eq!(chosen(LONG, &long), [0.0, 1.0]);
    let text = |count| {
        shader(
            "float",
            1,
            "",
            &format!(
                "int n = 3; {}",
                arms(count, |i| format!("if (n == {i}) o0 = {i};"))
            ),
        )
    };
    assert!(instructions(&text(LONG)) < 11 * instructions(&text(LONG / 10)));
}

#[test]
fn condition_chains_keep_all_assignments() {
    let run = |body: &str| {
        floats(&shader(
            "float",
            2,
            "float pick(int n) { if (n == 1) return 10; else if (n == 2) return 20; else if (n == 3) { return 30; } return 40; } int both(int n) { if (n == 0) return 5; else if (n == 1) return 6; else return 7; }",
            body,
        ))
    };
    // Conditions write, and what they wrote is seen by later ones, whichever arm is taken.
    assert_eq!(
        run(
            "int n = 0; if (++n == 5) o0 = 1; else if (++n == 2) o0 = n * 10; else o0 = 3; o1 = n;"
        ),
        [20.0, 2.0]
    );
    assert_eq!(
        run(
            "int n = 0; if (++n == 5) o0 = 1; else if (++n == 3) o0 = 2; else if (++n == 4) o0 = 9; o1 = n;"
        ),
        [0.0, 3.0]
    );
    // Different arms change different variables; variables of an arm are its own.
    assert_eq!(
        run(
            "float a = 1, b = 2; if (o0 > 0) a = 5; else if (o1 < 1) { float c = 4; b = c; } else { a = 7; b = 8; } o0 = a; o1 = b;"
        ),
        [1.0, 4.0]
    );
    // Arms that leave the function, or the loop around.
    assert_eq!(run("o0 = pick(2); o1 = pick(4);"), [20.0, 40.0]);
    assert_eq!(run("o0 = both(1); o1 = both(9);"), [6.0, 7.0]);
    assert_eq!(
        run(
            "for (int i = 0; i < 10; ++i) { if (i == 2) continue; else if (i == 5) break; else if (i == 3) { o1 += 100; } else o1 += 1; o0 += 1; }"
        ),
        [4.0, 103.0]
    );
    assert_eq!(
        run(
            "for (int i = 0; i < 4; ++i) switch (i) { case 1: if (o0 > 5) o0 = 1; else if (i == 1) break; else o0 = 2; case 2: o0 += 10; default: o1 += 1; }"
        ),
        [10.0, 3.0]
    );
    // Chains in chains, arrays, and conditions that are known.
    assert_eq!(
        run(
            "int n = 2; float w[2]; if (n == 0) w[0] = 1; else if (n == 2) { if (n > 5) w[1] = 1; else if (n > 1) w[1] = 4; else w[0] = 3; } else w[0] = 9; o0 = w[0]; o1 = w[1];"
        ),
        [0.0, 4.0]
    );
    assert_eq!(
        run("if (false) o0 = 1; else if (true) o0 = 2; else if (o1 > 5) o0 = 3; else o0 = 4;"),
        [2.0, 0.0]
    );
}

#[test]
fn every_path_of_a_chain_counts_for_the_result() {
    let function = |body: &str| codes(&format!("int f(int n) {{ {body} }}"));
    let returning = arms(LONG, |i| format!("if (n == {i}) return {i};"));
    assert_eq!(function(&format!("{returning} else return 1;")), []);
    assert_eq!(function(&returning), [Code::MissingReturn]);
    assert_eq!(
        function("if (n > 1) return 1; else if (n > 0) n = 3; else return 2;"),
        [Code::MissingReturn]
    );
    assert_eq!(
        function("if (n > 1) return 1; else if (true) return 3; else n = 2;"),
        []
    );
    assert_eq!(
        function("if (n > 1) n = 1; else if (true) return 3; else return 2;"),
        [Code::MissingReturn]
    );
    assert_eq!(
        function("if (n > 1) return 1; else if (false) n = 3; else return 2;"),
        []
    );
    assert_eq!(
        codes("void f(int n) { if (n > 1) break; else if (n > 0) continue; }"),
        [Code::BreakOutsideLoop, Code::BreakOutsideLoop]
    );
}

#[test]
fn operator_chains_lower_at_any_length() {
    let run = |functions: &str, body: &str| floats(&shader("float", 1, functions, body))[0];
    let n = LONG as f32;
    let terms = |term: &str| vec![term; LONG].join(" + ");
    assert_eq!(run("", &format!("float x = 1; o0 = {};", terms("x"))), n);
    assert_eq!(
        run("", &format!("int x = 1; o0 = {} + 0.5;", terms("x"))),
        n + 0.5
    );
    assert_eq!(
        run(
            "",
            &format!("float3 v = float3(0, 1, 2); o0 = ({}).y;", terms("v"))
        ),
        n
    );
    assert_eq!(
        run(
            "",
            &format!("float2x2 m = float2x2(1); o0 = ({})[1][1];", terms("m"))
        ),
        n
    );
    assert_eq!(run(&format!("const int K = {};", terms("1")), "o0 = K;"), n);
    assert_eq!(
        run(
            &format!("const float2 K = {};", terms("float2(1, 0)")),
            "o0 = K.x;"
        ),
        n
    );
    assert_eq!(
        run("", &format!("float w[{} - 9990]; o0 = w[9];", terms("1"))),
        0.0
    );
    assert_eq!(
        run(
            "",
            &format!(
                "for (int i = 0; i < 3 && {} > 0; ++i) o0 += {};",
                terms("i + 1"),
                terms("i")
            )
        ),
        3.0 * n
    );
    // Each side is evaluated once, left to right, and no further than it matters.
    let calls = vec!["++i > 0"; LONG].join(" && ");
    assert_eq!(
        run(
            "",
            &format!("int i = 0; bool all = {calls}; o0 = all ? i : -1;")
        ),
        n
    );
    let calls = vec!["++i > 99"; LONG].join(" || ");
    assert_eq!(
        run(
            "",
            &format!("int i = 0; bool any = {calls}; o0 = any ? i : -1;")
        ),
        100.0
    );
    assert_eq!(
        run(
            "",
            &format!("int i = 0; o0 = i++{};", " - i++ * 0 + 1".repeat(LONG))
        ),
        n
    );
    // One more or less than what is one tree.
    for count in MAX_CHAIN_OPERATORS - 1..=MAX_CHAIN_OPERATORS + 2 {
        let sum = "x + ".repeat(count) + "x";
        assert_eq!(
            run("", &format!("float x = 2; o0 = {sum};")),
            2.0 * (count + 1) as f32
        );
    }
    let text = |count: usize| {
        shader(
            "float",
            1,
            "",
            &format!("float x = 3; o0 = {}x;", "x * ".repeat(count)),
        )
    };
    assert!(instructions(&text(LONG)) < 11 * instructions(&text(LONG / 10)));
}

#[test]
fn chain_errors_are_reported_once() {
    let wrong = |operators: usize, last: &str| {
        codes(&shader(
            "float",
            1,
            "",
            &format!("float x = 1; o0 = {}{last};", "x + ".repeat(operators)),
        ))
    };
    assert_eq!(wrong(1_000, "nowhere"), [Code::UnknownName]);
    assert_eq!(wrong(1_000, "true + x"), [Code::BoolArithmetic]);
    assert_eq!(
        codes(&shader(
            "float",
            1,
            "",
            &format!("float x = 1; o0 = true + {}x;", "x + ".repeat(1_000))
        )),
        [Code::BoolArithmetic]
    );
}
