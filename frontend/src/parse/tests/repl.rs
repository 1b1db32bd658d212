//! Tests of the REPL's entries: complete, incomplete and wrong ones.

use crate::ast::{ExprKind, ItemKind, ReplEntry, StmtKind};
use crate::interner::Interner;
use crate::parse::{ReplParse, parse_repl};
use adumbra_ir::FileId;
use bumpalo::Bump;

/// The kind of each entry; `…` if more must come, `!` if it is wrong.
fn reply(text: &str) -> String {
    let arena = Bump::new();
    match parse_repl(&arena, &mut Interner::new(), FileId::MAIN, text) {
        ReplParse::Incomplete(_) => "…".to_owned(),
        ReplParse::Invalid(diagnostics) => {
            assert!(!diagnostics.is_empty(), "{text}");
            "!".to_owned()
        }
        ReplParse::Complete(entries) => {
            let words: Vec<&str> = entries.iter().map(word).collect();
            words.join(" ")
        }
    }
}

fn word(entry: &ReplEntry) -> &'static str {
    match entry {
        ReplEntry::Seed { .. } => "seed",
        ReplEntry::Item(item) => match item.kind {
            ItemKind::Function(function) if function.is_shader() => "shader",
            ItemKind::Function(_) => "function",
            ItemKind::Struct(_) => "struct",
            _ => "item",
        },
        ReplEntry::Statement(statement) => match statement.kind {
            StmtKind::Expr(expr) => match expr.kind {
                ExprKind::Assign { .. } => "assignment",
                _ => "expression",
            },
            StmtKind::Declaration(_) => "declaration",
            _ => "statement",
        },
    }
}

#[test]
fn complete_entries() {
    for (text, expected) in [
        ("", ""),
        ("  // nothing", ""),
        ("1 + 2", "expression"),
        ("sin(u);", "expression"),
        ("w = sin(u)", "assignment"),
        ("u = 0.25 : 1.0/512 : 0", "seed"),
        ("u = 0.25 : 1.0/512 : 0;", "seed"),
        ("u = a ? b : c", "assignment"),
        ("u = a ? b : c : 1 : 0", "seed"),
        ("float a = 1", "declaration"),
        ("float w[2] = {1, 2}", "declaration"),
        ("texture2d g", "declaration"),
        ("float f(float x) { return x; }", "function"),
        ("float f(float x);", "function"),
        ("shader s(out float o) { o = 1; }", "shader"),
        ("struct pair { float a; }", "struct"),
        ("for (int i = 0; i < 3; ++i) x += i", "statement"),
        ("a = 1; b", "assignment expression"),
        ("float f() { return 1; } f()", "function expression"),
        ("a\nb", "declaration"),
    ] {
        assert_eq!(reply(text), expected, "{text}");
    }
}

#[test]
fn incomplete_entries() {
    for text in [
        "f(",
        "f(1,",
        "w[",
        "{",
        "float f() {",
        "float f(float x)",
        "shader s(out float o)\n",
        "(a + b",
        "/* comment",
        "1 +",
        "if (a)",
        "if (a) b; else",
        "do { a; }",
        "float f(float x) { if (x) {\n return 1; }",
        "x =",
        "float",
        "u = 0.25 : 1.0/512 :",
    ] {
        assert_eq!(reply(text), "…", "{text}");
    }
}

#[test]
fn foreign_seeds_get_help() {
    for (text, fix) in [
        (
            "p = 1,2,3 : 1,0,0 : 0,1,0",
            "`p = float3(1, 2, 3) : float3(1, 0, 0)`",
        ),
        (
            "float2 r = float2(1, 2) : float2(1, 0)",
            "`r = VALUE : DDX : DDY`",
        ),
        ("int k = 2 : 1", "`k = VALUE : DDX : DDY`"),
        ("u : 1 : 0", "`u = VALUE : DDX : DDY`"),
    ] {
        let arena = Bump::new();
        let ReplParse::Invalid(found) =
            parse_repl(&arena, &mut Interner::new(), FileId::MAIN, text)
        else {
            panic!("{text} is wrong");
        };
        let help = found[0].help.clone().unwrap_or_default();
        assert!(help.contains(fix), "{text}: {help}");
    }
}

#[test]
fn wrong_entries() {
    for text in [
        "f(1))",
        "1 + * 2",
        ")",
        "float 3",
        "f(1; 2)",
        "@",
        "a @ (",
        "\"abc",
        "u = 1 : 2 : 3 : 4",
        "p = 1,2,3 : 1,0,0",
        "float2 r = float2(1) : 1",
        "u : 1 : 0",
        "3x",
        "float f() { return 1",
        "} {",
        "a < b < c",
    ] {
        let expected = if text == "float f() { return 1" {
            "…"
        } else {
            "!"
        };
        assert_eq!(reply(text), expected, "{text}");
    }
}
