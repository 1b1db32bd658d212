//! Tests of tokens, numbers, comments and characters that are no token.

use super::lex;
use crate::interner::Interner;
use crate::limits::MAX_DIAGNOSTICS;
use crate::token_kind::TokenKind::{self, *};
use adumbra_ir::{Code, FileId};

/// Kinds and the source that each token covers.
fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    assert!(
        lexed.diagnostics.is_empty(),
        "{text}: {:?}",
        lexed.diagnostics
    );
    let places = lexed.tokens.tokens.iter();
    let covered = places.map(|t| &text[t.start as usize..t.end as usize]);
    lexed.tokens.kinds.iter().copied().zip(covered).collect()
}

fn kinds(text: &str) -> Vec<TokenKind> {
    tokens(text).into_iter().map(|(kind, _)| kind).collect()
}

/// Kind and bits of the single literal in `text`.
fn literal(text: &str) -> (TokenKind, u32) {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    assert!(
        lexed.diagnostics.is_empty(),
        "{text}: {:?}",
        lexed.diagnostics
    );
    assert_eq!(lexed.tokens.kinds.len(), 1, "{text}");
    (lexed.tokens.kinds[0], lexed.tokens.tokens[0].value)
}

/// Code and covered source of each diagnostic.
fn problems(text: &str) -> Vec<(Code, &str)> {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    let found = lexed.diagnostics.iter();
    found
        .map(|d| (d.code, &text[d.span.start as usize..d.span.end as usize]))
        .collect()
}

#[test]
fn float_literals() {
    for (text, value) in [
        (".5", 0.5),
        ("2.", 2.0),
        ("4.e1", 40.0),
        ("1.e-0", 1.0),
        ("1.f", 1.0),
        ("0.5f", 0.5),
        ("3.0F", 3.0),
        ("1f", 1.0),
        ("1e-3", 1e-3),
        ("1E+3", 1e3),
        ("00.5", 0.5),
        ("0.1", 0.1),
        ("3.4028235e38", f32::MAX),
        ("1e-45", f32::from_bits(1)),
        ("1e-60", 0.0),
    ] {
        assert_eq!(literal(text), (FloatLiteral, f32::to_bits(value)), "{text}");
    }
}

#[test]
fn whole_literals() {
    for (text, kind, value) in [
        ("0", IntLiteral, 0),
        ("007", IntLiteral, 7),
        ("2147483647", IntLiteral, 0x7fff_ffff),
        ("0x1f", IntLiteral, 0x1f),
        ("0X1F", IntLiteral, 0x1f),
        ("0xffffffff", IntLiteral, 0xffff_ffff),
        ("3u", UintLiteral, 3),
        ("4294967295U", UintLiteral, 0xffff_ffff),
        ("0xfu", UintLiteral, 15),
    ] {
        assert_eq!(literal(text), (kind, value), "{text}");
    }
    assert_eq!(kinds("-2147483648"), [Minus, IntLiteral]);
}

#[test]
fn malformed_numbers_are_refused() {
    for text in [
        "3x",
        "1.5q",
        "2.xy",
        "1_000",
        "0x",
        "0xg",
        "0x1ffffffff",
        "1e",
        "1e+",
        "1.0e-x",
        "1e39",
        "2147483648",
        "4294967296u",
        "99999999999",
        "017",
        "0b101",
        "1.0h",
        "2L",
        "1.5u",
    ] {
        assert_eq!(problems(text), [(Code::BadNumber, text)], "{text}");
    }
}

#[test]
fn foreign_number_is_one_token_of_its_value() {
    for (text, kind, bits) in [
        ("0b101", IntLiteral, 5),
        ("0B11u", UintLiteral, 3),
        ("0o17", IntLiteral, 15),
        ("0x1.8p3", FloatLiteral, 12f32.to_bits()),
        ("0x1p-2", FloatLiteral, 0.25f32.to_bits()),
        ("10L", IntLiteral, 10),
        ("2.5h", FloatLiteral, 2.5f32.to_bits()),
    ] {
        let tokens = lex(&mut Interner::new(), FileId(0), text);
        assert_eq!(tokens.tokens.kinds[0], kind, "{text}");
        assert_eq!(tokens.tokens.tokens[0].value, bits, "{text}");
        assert_eq!(tokens.diagnostics.len(), 1, "{text}");
    }
}

#[test]
fn longest_mark_wins() {
    assert_eq!(
        kinds("a>>=b>=c>>d>e"),
        [
            Name,
            ShiftRightAssign,
            Name,
            GreaterEqual,
            Name,
            ShiftRight,
            Name,
            Greater,
            Name
        ]
    );
    assert_eq!(
        kinds("a<<=b<=c<<d<e"),
        [
            Name,
            ShiftLeftAssign,
            Name,
            LessEqual,
            Name,
            ShiftLeft,
            Name,
            Less,
            Name
        ]
    );
    assert_eq!(kinds("<<< >>>"), [MetaOpen, MetaClose]);
    assert_eq!(kinds("a+++b"), [Name, PlusPlus, Plus, Name]);
    assert_eq!(kinds("v.x..5"), [Name, Dot, Name, Dot, FloatLiteral]);
}

#[test]
fn every_mark_and_keyword_is_its_own_kind() {
    for &kind in TokenKind::ALL.iter().filter(|&&kind| kind >= LParen) {
        assert_eq!(tokens(kind.text()), [(kind, kind.text())]);
    }
}

#[test]
fn angle_brackets_hold_any_word() {
    let expected = [GlobalValue, Less, Name, Greater];
    assert_eq!(kinds("global_value<normal>"), expected);
    assert_eq!(kinds("global_value<float>"), expected);
    assert_eq!(kinds("global_value < if >"), expected);
    for (tail, rest) in [
        (">1", vec![Greater, IntLiteral]),
        ("=1", vec![Assign, IntLiteral]),
        (">>1", vec![ShiftRight, IntLiteral]),
    ] {
        let text = format!("global_value<x>{tail}");
        assert_eq!(kinds(&text), [&expected[..], &rest[..]].concat(), "{text}");
    }
    assert_eq!(kinds("x<y>>z"), [Name, Less, Name, ShiftRight, Name]);
}

#[test]
fn comments_are_white_space() {
    assert_eq!(
        kinds("int /*a*/ k = 3; // /* x"),
        [Int, Name, Assign, IntLiteral, Semicolon]
    );
    assert_eq!(kinds("a/**/b/*/*/c"), [Name, Name, Name]);
    assert_eq!(kinds("// only"), []);
    assert_eq!(problems("a /* b"), [(Code::UnterminatedComment, "/*")]);
    assert!(lex(&mut Interner::new(), FileId::MAIN, "/*/").open_comment);
}

#[test]
fn tokens_know_line_starts() {
    let lexed = lex(
        &mut Interner::new(),
        FileId::MAIN,
        "a b\nc /* \n */ d // e\nf",
    );
    let starts: Vec<bool> = lexed.tokens.tokens.iter().map(|t| t.starts_line).collect();
    assert_eq!(starts, [true, false, true, true, true]);
}

#[test]
fn strings_and_their_escapes() {
    let mut interner = Interner::new();
    for (text, value) in [
        (r#""""#, ""),
        (r#""%f %d""#, "%f %d"),
        (r#""a\n\t\\\"b""#, "a\n\t\\\"b"),
        (r#""\n""#, "\n"),
        ("\"ünï\"", "ünï"),
    ] {
        let lexed = lex(&mut interner, FileId::MAIN, text);
        assert!(lexed.diagnostics.is_empty(), "{text}");
        assert_eq!(lexed.tokens.kinds, [StringLiteral], "{text}");
        let symbol = crate::Symbol(lexed.tokens.tokens[0].value);
        assert_eq!(interner.name(symbol), value);
    }
    assert_eq!(problems("\"abc\nd"), [(Code::BadString, "\"abc")]);
    assert_eq!(problems("\"abc"), [(Code::BadString, "\"abc")]);
    assert_eq!(problems("\"abc\\"), [(Code::BadString, "\"abc\\")]);
    assert_eq!(
        problems("\"a\\q\\ü\""),
        [(Code::BadString, "\\q"), (Code::BadString, "\\ü")]
    );
}

#[test]
fn unknown_characters_are_refused() {
    assert_eq!(problems("a @@$ b"), [(Code::UnknownCharacter, "@@$")]);
    assert_eq!(problems("x = größe;"), [(Code::UnknownCharacter, "öß")]);
    assert_eq!(
        problems("\u{feff}x"),
        [(Code::UnknownCharacter, "\u{feff}")]
    );
    assert_eq!(
        problems("#undef A // x\nint a;"),
        [(Code::NoPreprocessor, "#undef A // x")]
    );
    assert_eq!(
        problems("#include <a.h>\nint a;"),
        [(Code::BadInclude, "#include <a.h>")]
    );
    let many = "@ ".repeat(1_000);
    assert_eq!(problems(&many).len(), MAX_DIAGNOSTICS + 1);
}
