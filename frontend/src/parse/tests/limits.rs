//! Tests of every limit, just met and just missed. A test's thread has 2 MiB of stack, the least
//! that a host must give.

use crate::interner::Interner;
use crate::limits::{MAX_DIAGNOSTICS, MAX_NESTING, MAX_SOURCE_BYTES, MAX_TREE_HEIGHT};
use crate::parse::{parse, parse_expression};
use adumbra_ir::{Code, Diagnostic, FileId};
use bumpalo::Bump;

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let arena = Bump::new();
    parse(&arena, &mut Interner::new(), FileId::MAIN, text).1
}

fn codes(text: &str) -> Vec<Code> {
    diagnostics(text).iter().map(|d| d.code).collect()
}

fn nested(count: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(count), close.repeat(count))
}

/// Ways to nest: the opening of a level, its inside, its closing, and the number of levels of the
/// frame around.
const WAYS: &[(&str, &str, &str)] = &[
    ("(", "x", ")"),
    ("f(", "x", ")"),
    ("f(a, (", "x", "))"),
    ("w[", "0", "]"),
    ("- ", "x", ""),
    ("!", "x", ""),
    ("++", "x", ""),
    ("(int)", "x", ""),
    ("a = ", "x", ""),
    ("a += ", "x", ""),
    ("a ? b : ", "x", ""),
    ("a ? ", "x", " : b"),
    ("a || b && c | d ^ e & f == g < h << i + j * (", "x", ")"),
];

const STATEMENT_WAYS: &[(&str, &str, &str)] = &[
    ("{", "x;", "}"),
    ("if (a) ", "x;", ""),
    ("if (a) { ", "x;", "}"),
    ("if (a) x; else { ", "x;", "}"),
    ("if (a) x; else for (;;) ", "x;", ""),
    ("for (;;) ", "x;", ""),
    ("while (a) ", "x;", ""),
    ("do ", "x;", " while (a);"),
    ("switch (a) { case 1: ", "x;", "}"),
];

#[test]
fn nesting_is_bounded_for_all_kinds() {
    let wrap = |inside: String| format!("void f() {{ {inside} }}");
    let expressions = WAYS.iter().map(|way| (way, ";"));
    let statements = STATEMENT_WAYS.iter().map(|way| (way, ""));
    for ((open, inside, close), end) in expressions.chain(statements) {
        let text = |count| wrap(nested(count, open, inside, close) + end);
        let refused = |count: usize| codes(&text(count)) == [Code::NestingTooDeep];
        // The frame is one level, and each repetition at least one and at most eleven.
        assert_eq!(codes(&text(MAX_NESTING)), [Code::NestingTooDeep], "{open}");
        assert_eq!(codes(&text(50_000)), [Code::NestingTooDeep], "{open}");
        let deepest = (1..MAX_NESTING).rev().find(|&count| !refused(count));
        let deepest = deepest.expect("some depth is fine");
        assert!(deepest * 12 >= MAX_NESTING - 12, "{open}: {deepest}");
        assert_eq!(codes(&text(deepest)), [], "{open}: {deepest}");
    }
}

#[test]
fn brackets_nest_to_the_limit_exactly() {
    let text = |count| format!("void f() {{ {}; }}", nested(count, "(", "x", ")"));
    assert_eq!(codes(&text(MAX_NESTING - 1)), []);
    let diagnostics = diagnostics(&text(MAX_NESTING));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, Code::NestingTooDeep);
    assert_eq!(diagnostics[0].span.start as usize, 11 + MAX_NESTING - 1);
    assert!(diagnostics[0].help.is_some());
}

#[test]
fn deep_conditions_and_deep_expressions_have_help_of_their_own() {
    let help = |open: &str, close: &str| {
        let text = format!("void f() {{ {} }}", nested(MAX_NESTING, open, "x;", close));
        let found = diagnostics(&text);
        assert_eq!(found[0].code, Code::NestingTooDeep, "{open}");
        found[0].help.clone().expect("it has help")
    };
    for open in ["if (a) { ", "while (a) { ", "{ if (a) "] {
        assert!(help(open, "}").contains("into a function of"), "{open}");
    }
    assert!(help("g(", ")").contains("a part of the expression"));
}

#[test]
fn unclosed_brackets_are_bounded_too() {
    for open in ["(", "[", "{", "f(a[{", "if (", "-("] {
        let codes = codes(&open.repeat(100_000));
        assert!(codes.contains(&Code::UnbalancedBracket), "{open}");
        assert!(codes.len() <= MAX_DIAGNOSTICS + 1, "{open}");
    }
    assert!(codes(&")".repeat(100_000)).len() <= MAX_DIAGNOSTICS + 1);
}

#[test]
fn long_flat_sources_parse() {
    for text in [
        format!("void f() {{ g({}x); }}", "x, ".repeat(10_000)),
        format!("void f() {{ {} }}", "-x + (y) * (int)z;".repeat(10_000)),
        format!(
            "void f() {{ {} }}",
            "if (a) { x = y = -z; } else y;".repeat(10_000)
        ),
        format!("float w[3] = {{ {}0 }};", "{ 1, 2 }, ".repeat(10_000)),
        format!("void f() {{ x = {}a; }}", "-a * +b - !c ".repeat(80)),
        format!("void f() {{ g({}x); }}", "a = b ? c : d, ".repeat(10_000)),
        format!("void f() {{ {} }}", "if (a) { b; } ".repeat(10_000)),
        "void f() {}\n".repeat(10_000),
    ] {
        let what = &text[..40];
        assert!(
            codes(&text).iter().all(|&c| c != Code::NestingTooDeep),
            "{what}"
        );
    }
}

#[test]
fn operator_chains_have_no_length_limit() {
    for text in [
        format!("void f() {{ {} x; }}", "if (a) b; else ".repeat(10_000)),
        format!("void f() {{ {} x; }}", "if (a) { b; } else ".repeat(10_000)),
        format!(
            "void f() {{ {} x; }}",
            "if (a) for (;;) while (b) if (c) d; else e; else ".repeat(10_000)
        ),
        format!("void f() {{ x = {}a; }}", "a + ".repeat(100_000)),
        format!(
            "void f() {{ x = {}a; }}",
            "a && b * c - d || ".repeat(10_000)
        ),
    ] {
        assert_eq!(codes(&text), [], "{}", &text[..40]);
    }
}

#[test]
fn tree_height_is_bounded() {
    let members = |count: usize| format!("a{}", ".x".repeat(count));
    let arena = Bump::new();
    let mut interner = Interner::new();
    let mut read = |text: &str| parse_expression(&arena, &mut interner, FileId::MAIN, text).1;
    assert_eq!(read(&members(MAX_TREE_HEIGHT - 1)), []);
    let diagnostics = read(&members(MAX_TREE_HEIGHT));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, Code::NestingTooDeep);
    assert!(diagnostics[0].help.is_some());
    for text in [
        members(300_000),
        format!("a{}", "[0]".repeat(300_000)),
        format!("a{}", "++".repeat(300_000)),
    ] {
        let codes: Vec<Code> = read(&text).iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NestingTooDeep], "{}", &text[..8]);
    }
}

#[test]
fn too_high_tree_is_dropped() {
    let arena = Bump::new();
    let text = format!(
        "float f() {{ return a{}; }} float g() {{ return a{}; }}",
        ".x".repeat(1_000),
        ".x".repeat(1_000)
    );
    let (file, diagnostics) = parse(&arena, &mut Interner::new(), FileId::MAIN, &text);
    assert!(file.items.is_empty());
    assert_eq!(diagnostics.len(), 2);
}

#[test]
fn source_length_is_bounded() {
    let text = " ".repeat(MAX_SOURCE_BYTES);
    assert_eq!(codes(&text), []);
    assert_eq!(codes(&(text + " ")), [Code::SourceTooLong]);
}

#[test]
fn reported_errors_are_bounded() {
    let wrong = |count: usize| format!("void f() {{ {} }}", "x = ;\n".repeat(count));
    assert_eq!(
        codes(&wrong(MAX_DIAGNOSTICS)),
        [Code::SyntaxError; MAX_DIAGNOSTICS]
    );
    for text in [
        "x = ;\n".repeat(10_000),
        "@ ".repeat(10_000),
        "(] ".repeat(10_000),
        "a < b < c;".repeat(1_000),
        "1x ".repeat(10_000),
    ] {
        let text = format!("void f() {{ {text} }}");
        let codes = codes(&text);
        assert_eq!(codes.len(), MAX_DIAGNOSTICS + 1, "{}", &text[..20]);
        assert_eq!(codes.last(), Some(&Code::TooManyErrors));
    }
}
