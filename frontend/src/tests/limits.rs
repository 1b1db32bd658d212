//! Tests of every limit of the checker and of lowering, and of expensive sources.

use super::*;
use crate::limits::*;
use adumbra_ir::limits::{MAX_ARRAY_ELEMENTS, MAX_FUNCTIONS, MAX_RECORD_FIELDS};
use adumbra_ir::passes::MAX_DERIVED_INSTRUCTIONS;

#[test]
fn as_deep_as_the_grammar_allows() {
    let open = |what: &str, depth: usize, close: &str, inner: &str| {
        format!("{}{inner}{}", what.repeat(depth), close.repeat(depth))
    };
    let depth = MAX_NESTING - 8;
    let bodies = [
        open("{", depth, "}", "o0 += 1;"),
        open("if (o0 < 1) { o0 += 1;", depth / 3, "}", "o0 = 3;"),
        open(
            "for (int i = 0; i < 1; ++i) { if (o0 > 500) continue; ",
            depth / 3,
            "}",
            "o0 = 3;",
        ),
        open("do { o0 += 1; ", depth / 3, "} while (o0 < 3);", ""),
        format!("o0 = {};", open("(1 + ", depth / 2, ")", "2")),
        format!("o0 = {};", open("sin(", depth, ")", "2")),
        format!("o0 = {};", open("-(", depth / 3, ")", "2")),
        format!("o0 = {} 3;", "global_value<n> ? 2 :".repeat(depth / 2)),
        format!("o0 = 1 {};", "+ 1".repeat(MAX_TREE_HEIGHT - 16)),
        format!(
            "bool b = true {};",
            "&& o0 > sin(o0)".repeat(MAX_TREE_HEIGHT - 16)
        ),
        format!(
            "if (o0 > 1) o0 = 2; {}",
            "else if (o0 > 3) o0 = 4; ".repeat(depth / 3)
        ),
        format!("float a; {} o0;", "a = ".repeat(depth)),
        format!(
            "o0 = global_value<p>{};",
            ".xyz".repeat(MAX_TREE_HEIGHT - 16)
        ) + "o0 = 1;",
    ];
    for body in &bodies[..bodies.len() - 1] {
        outputs(&shader("float", 1, "", body));
    }
    assert_eq!(
        codes(&shader("float", 1, "", &bodies[bodies.len() - 1])),
        [Code::TypeMismatch]
    );
}

#[test]
fn functions_are_bounded() {
    // The shader and its functions, each of which calls the next.
    let calls = |functions: usize| {
        let calls = (1..functions).map(|i| format!("void f{i:x}(){{f{:x}();}}", i + 1));
        let all: String = calls.collect();
        format!("shader s(out float o) {{ f1(); o = 1; }} {all} void f{functions:x}(){{}}")
    };
    assert_eq!(codes(&calls(MAX_FUNCTIONS - 1)), []);
    assert_eq!(codes(&calls(MAX_FUNCTIONS)), [Code::ProgramTooLarge]);
}

#[test]
fn struct_nesting_is_bounded() {
    let nested = |depth: usize| {
        let inner = (1..depth).map(|i| format!("struct s{i} {{ s{} a; }};", i - 1));
        let all: String = inner.collect();
        format!("struct s0 {{ float a; }}; {all}")
    };
    let backwards = |depth: usize| {
        let outer = (1..depth)
            .rev()
            .map(|i| format!("struct s{i} {{ s{} a; }};", i - 1));
        let all: String = outer.collect();
        format!("{all} struct s0 {{ float a; }};")
    };
    assert_eq!(codes(&nested(MAX_TYPE_DEPTH)), []);
    assert_eq!(codes(&backwards(MAX_TYPE_DEPTH)), []);
    assert_eq!(codes(&nested(MAX_TYPE_DEPTH + 1)), [Code::TypeTooLarge]);
    assert_eq!(codes(&backwards(MAX_TYPE_DEPTH + 1)), [Code::TypeTooLarge]);
    assert_eq!(codes(&backwards(20_000))[0], Code::TypeTooLarge);
}

#[test]
fn type_leaves_are_bounded() {
    let doubling = (1..40).map(|i| format!("struct s{i} {{ s{} a; s{} b; }};", i - 1, i - 1));
    let all: String = doubling.take(20).collect();
    assert_eq!(
        codes(&format!("struct s0 {{ float a; }}; {all}")),
        [Code::TypeTooLarge]
    );
    let members = |count: usize| {
        (0..count)
            .map(|i| format!("float a{i};"))
            .collect::<String>()
    };
    assert_eq!(
        codes(&format!("struct s {{ {} }};", members(MAX_LEAVES))),
        []
    );
    assert_eq!(
        codes(&format!("struct s {{ {} }};", members(MAX_LEAVES + 1))),
        [Code::TypeTooLarge]
    );
    let wide = members(MAX_LEAVES);
    let many = (0..2 * MAX_TOTAL_LEAVES / MAX_LEAVES).map(|i| format!("struct t{i} {{ s a; }};"));
    let all: String = many.collect();
    let found = codes(&format!("struct s {{ {wide} }}; {all}"));
    assert_eq!(found[0], Code::TypeTooLarge);
    assert_eq!(found.len(), MAX_DIAGNOSTICS + 1);
}

#[test]
fn array_elements_are_bounded() {
    let array = |len: u64| {
        shader(
            "float",
            1,
            "",
            &format!("float w[{len}]; w[1] = 2; o0 = w[1];"),
        )
    };
    assert_eq!(floats(&array(MAX_ARRAY_ELEMENTS)), [2.0]);
    assert_eq!(
        codes(&array(MAX_ARRAY_ELEMENTS + 1)),
        [Code::TooManyElements]
    );
    let two = shader(
        "float",
        1,
        "",
        &format!("float w[{MAX_ARRAY_ELEMENTS}]; float v[1]; o0 = w[1];"),
    );
    assert_eq!(codes(&two), [Code::TooManyElements]);
}

#[test]
fn shader_scalars_are_bounded() {
    let text = |count: u64| format!("shader s(out float w[{count}]) {{ w[1] = 1; }}");
    assert_eq!(codes(&text(MAX_SHADER_SCALARS)), []);
    assert_eq!(
        codes(&text(MAX_SHADER_SCALARS + 1)),
        [Code::BadShaderParameter]
    );
}

#[test]
fn overloads_are_bounded() {
    let overloads = |count: usize| {
        let one = |i: usize| {
            format!(
                "void f({}) {{}}",
                vec!["int"; i]
                    .iter()
                    .enumerate()
                    .map(|(j, t)| format!("{t} a{j}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        };
        (0..count).map(one).collect::<String>()
    };
    assert_eq!(codes(&overloads(MAX_OVERLOADS)), []);
    assert_eq!(
        codes(&overloads(MAX_OVERLOADS + 1)),
        [Code::TooManyOverloads]
    );
}

#[test]
fn error_count_is_bounded() {
    let text: String = (0..20_000)
        .map(|i| format!("float f{i}() {{ return unknown_{i}; }}\n"))
        .collect();
    let found = codes(&text);
    assert_eq!(found.len(), MAX_DIAGNOSTICS + 1);
    assert_eq!(found[MAX_DIAGNOSTICS], Code::TooManyErrors);
}

#[test]
fn diagnostic_sentences_are_bounded() {
    let long = "n".repeat(MAX_MESSAGE_BYTES);
    let member = "o = t.q; ".repeat(100_000);
    let text = format!(
        "struct {long} {{ float a; }}; shader s(out float o) {{ {long} t; o = t; g(t); {member} }} float g({long} a, float b) {{ return b; }}"
    );
    let found = compile(&text).unwrap_err();
    assert_eq!(found.len(), MAX_DIAGNOSTICS + 1);
    let sentences = |d: &Diagnostic| {
        let own = [d.message.len(), d.label.len()];
        let help = d.help.iter().map(String::len);
        own.into_iter().chain(help).max()
    };
    let longest = found.iter().filter_map(sentences).max();
    assert_eq!(longest, Some(MAX_MESSAGE_BYTES));
    assert!(found[0].message.ends_with('…'), "{}", found[0].message);
}

#[test]
fn calls_that_fan_out_are_lowered_once_each() {
    let level = |i: usize| {
        format!(
            "float f{}(float x) {{ return f{i}(x) + f{i}(x * 2) + f{i}(x * 3); }}\n",
            i + 1
        )
    };
    let all: String = (0..40).map(level).collect();
    let module = module(&shader(
        "float",
        1,
        &format!("float f0(float x) {{ return x; }}\n{all}"),
        "o0 = f40(1);",
    ));
    assert_eq!(module.functions.len(), 42);
}

#[test]
fn loops_in_loops_over_many_variables_stay_linear() {
    let variables: String = (0..500).map(|i| format!("float a{i};")).collect();
    let writes: String = (0..500).map(|i| format!("a{i} += o0;")).collect();
    let loops: String = (0..50)
        .map(|i| format!("for (int i{i} = 0; i{i} < 1; ++i{i}) {{"))
        .collect();
    let body = format!("{variables} {loops} {writes} {} o0 = a1;", "}".repeat(50));
    let module = module(&shader("float", 1, "", &body));
    let insts: usize = module.functions[0]
        .regions
        .iter()
        .map(|r| r.insts.len())
        .sum();
    assert!(insts < 5_000, "{insts}");
}

#[test]
fn branch_arguments_are_bounded() {
    let variables = 1 << 11;
    let declared: String = (0..variables).map(|i| format!("float a{i};")).collect();
    let written: String = (0..variables).map(|i| format!("a{i} = o0;")).collect();
    // The values that the loop or block itself passes come on top.
    let most = MAX_BRANCH_ARGUMENTS as usize / variables;
    let fits = |ways: usize, inside: &dyn Fn(usize) -> String| {
        let body = format!("int n = 3; {declared} {} o0 = a1;", inside(ways));
        let text = shader("float", 1, "", &body);
        let found = codes(&text);
        assert!(found.is_empty() || found == [Code::ProgramTooLarge]);
        found.is_empty()
    };
    let loops = |ways| {
        format!(
            "for (;;) {{ {} {written} break; }}",
            "if (n == 5) break; ".repeat(ways)
        )
    };
    let switches = |ways| {
        let cases: String = (0..ways)
            .map(|i| format!("case {i}: n++; break;"))
            .collect();
        format!("switch (n) {{ {cases} default: {written} }}")
    };
    let chains = |ways| format!("{} {{ {written} }}", "if (n == 5) n++; else ".repeat(ways));
    for inside in [&loops as &dyn Fn(usize) -> String, &switches, &chains] {
        assert!(fits(most - 8, inside));
        assert!(!fits(most + 1, inside));
    }
}

#[test]
fn derivatives_have_the_limits_of_records_and_arrays() {
    let shader =
        "shader main(out float o) { var p = diffPair(0.5); bwd_diff(f)(p, 3, 1.0); o = p.d; }";
    let refused = |functions: &str| {
        let mut module = module(&format!("{functions} {shader}"));
        match adumbra_ir::passes::differentiate(&mut module) {
            Ok(_) => {
                verified(&module);
                None
            }
            Err(refused) => {
                assert_eq!(refused.code, Code::DerivedCodeTooLarge);
                Some(refused.message)
            }
        }
    };
    let callee = |statements: usize| {
        let body = "r = sin(r); ".repeat(statements);
        format!(
            "[Differentiable] float g(float x) {{ float r = x; {body} return r; }}
             [Differentiable] float f(float x, int n) {{ return g(x) * g(n); }}"
        )
    };
    // Each exit passes on all that is kept, so they are counted before they are written.
    let exits = |ways: usize| {
        let body = "a = 0.5 * a + sin(a * x); if (a > 9) return a; ".repeat(ways);
        format!("[Differentiable] float f(float x, int n) {{ float a = x; {body} return a * n; }}")
    };
    assert_eq!(refused(&exits(200)), None);
    let message = refused(&exits(2_000)).unwrap_or_default();
    let of_exits = format!("more than {MAX_DERIVED_INSTRUCTIONS} instructions");
    assert!(message.contains(&of_exits), "{message}");
    let of_records = format!("more than {MAX_RECORD_FIELDS} values");
    assert_eq!(refused(&callee(MAX_RECORD_FIELDS)), None);
    let message = refused(&callee(MAX_RECORD_FIELDS + 1)).unwrap_or_default();
    assert!(message.contains(&of_records), "{message}");
    let body = "r = sin(r); ".repeat(MAX_RECORD_FIELDS + 2);
    let iteration = format!(
        "[Differentiable] float f(float x, int n) {{ float r = x; [PreferCheckpoint] for (int i = 0; i < n; i++) {{ {body} }} return r; }}"
    );
    let message = refused(&iteration).unwrap_or_default();
    assert!(message.contains(&of_records), "{message}");

    let array = |elements: u64| {
        format!(
            "[Differentiable] float f(float x, int n) {{ float a[{elements}]; a[n] = x; return a[n]; }}"
        )
    };
    assert_eq!(refused(&array(MAX_ARRAY_ELEMENTS / 4)), None);
    let message = refused(&array(MAX_ARRAY_ELEMENTS * 3 / 4)).unwrap_or_default();
    let of_arrays = format!("more than {MAX_ARRAY_ELEMENTS} elements");
    assert!(message.contains(&of_arrays), "{message}");
}
