//! Random tokens: parsing ends, does not panic, and keeps its guarantees about its output.

use crate::ast::{AstFile, print};
use crate::interner::Interner;
use crate::limits::MAX_DIAGNOSTICS;
use crate::parse::{ReplParse, parse, parse_expression, parse_repl};
use crate::token_kind::TokenKind;
use adumbra_ir::{Diagnostic, FileId};
use bumpalo::Bump;
use proptest::prelude::*;

/// Parses `text` in every way and checks the properties of all sources.
fn read(text: &str) {
    let arena = Bump::new();
    let mut interner = Interner::new();
    let (file, diagnostics) = parse(&arena, &mut interner, FileId::MAIN, text);
    check(&file, &diagnostics, text, &interner);
    let (_, diagnostics) = parse_expression(&arena, &mut interner, FileId::MAIN, text);
    check_diagnostics(&diagnostics, text);
    if let ReplParse::Invalid(diagnostics) = parse_repl(&arena, &mut interner, FileId::MAIN, text) {
        assert!(!diagnostics.is_empty(), "{text}");
        check_diagnostics(&diagnostics, text);
    }
}

fn check(file: &AstFile, diagnostics: &[Diagnostic], text: &str, interner: &Interner) {
    check_diagnostics(diagnostics, text);
    let tree = print(file, interner);
    if diagnostics.is_empty() {
        assert!(!tree.contains("(broken"), "{text}\n{tree}");
    }
    for pair in file.items.windows(2) {
        assert!(pair[0].span.end <= pair[1].span.start, "{text}");
    }
}

fn check_diagnostics(diagnostics: &[Diagnostic], text: &str) {
    assert!(diagnostics.len() <= MAX_DIAGNOSTICS + 1, "{text}");
    for diagnostic in diagnostics {
        let spans = diagnostic.labels.iter().map(|label| label.span);
        for span in spans.chain([diagnostic.span]) {
            assert!(span.start <= span.end, "{text}: {diagnostic:?}");
            assert!(
                text.get(span.start as usize..span.end as usize).is_some(),
                "{text}: {diagnostic:?}"
            );
        }
        assert!(
            !diagnostic.message.is_empty() && !diagnostic.label.is_empty(),
            "{diagnostic:?}"
        );
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
    }
}

/// Any token, brackets and the commonest marks more often.
fn token() -> impl Strategy<Value = String> {
    let any_kind = prop::sample::select(TokenKind::ALL).prop_map(|kind| match kind {
        TokenKind::Name => "x".to_owned(),
        TokenKind::FloatLiteral => "1.5".to_owned(),
        TokenKind::IntLiteral => "7".to_owned(),
        TokenKind::UintLiteral => "7u".to_owned(),
        TokenKind::StringLiteral => "\"s\"".to_owned(),
        kind => kind.text().to_owned(),
    });
    let common =
        prop::sample::select(&["(", ")", "{", "}", ";", "\n", "x", "=", ",", "float", "f("][..]);
    prop_oneof![any_kind, common.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tokens(tokens in prop::collection::vec(token(), 0..60)) {
        read(&tokens.join(" "));
    }

    #[test]
    fn any_tokens_in_a_function(tokens in prop::collection::vec(token(), 0..40)) {
        read(&format!("float f(float x) {{\n{}\n}}\nfloat g() {{ return 1; }}", tokens.join(" ")));
    }

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        read(&text);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_program_with_one_change(at in 0usize..PROGRAM.len(), len in 0usize..4, put in "[(){};,=x1<> ]{0,3}") {
        let end = (at + len).min(PROGRAM.len());
        read(&format!("{}{put}{}", &PROGRAM[..at], &PROGRAM[end..]));
    }
}

const PROGRAM: &str = "texture2d g;\nstruct pair { float a; float b; };\nconst float k = 2.0;\n\
float f(float x, out float y = 1.0 <<< label = \"a\" >>>) {\n  y = x ? x * (k + 1) : -x;\n  for (int i = 0; i < 3; ++i) { y += w[i]; }\n  \
if (y > 1) return y; else { y = global_value<a>; }\n  return texture2d_sample<g>(x, y).x;\n}\nshader s(out color o) { struct pair p = { 1, 2 }; o = color(p.a, f(1, p.b), 0); }\n";

/// The worst case for naive backtracking: a fault deep inside operators of every level.
#[test]
fn deep_faults_parse_in_bounded_time() {
    let deep = |count: usize, open: &str, close: &str| {
        format!(
            "float f() {{ return {}{}; }}",
            open.repeat(count),
            close.repeat(count)
        )
    };
    for text in [
        deep(60, "1 + 2 * (", ")"),
        deep(10, "a || b && c | d ^ e & f == g < h << i + j * (", ")"),
        deep(60, "f(a + b * [", "])"),
        deep(60, "a ? (b ? ", ")"),
        deep(100, "- - (int)(", ")"),
        deep(60, "{ if (a) { w[(", ")] } }"),
        deep(30, "do { for (;(;) x = {(", ")} }"),
    ] {
        read(&text);
    }
}

#[test]
fn megabytes_of_garbage_parse_in_bounded_time() {
    let mut bytes = vec![0; 1 << 20];
    fastrand::Rng::with_seed(7).fill(&mut bytes);
    read(&String::from_utf8_lossy(&bytes));
    let marks: String = bytes
        .iter()
        .take(1 << 18)
        .map(|b| b"(){}[];,=x+ "[usize::from(*b) % 12] as char)
        .collect();
    read(&marks);
}
