//! Highlights input by the lexer's tokens. It adds colours alone, so the cursor stays where it was.

use super::session::is_command;
use adumbra::diagnostics::FileId;
use adumbra_frontend::check::builtin;
use adumbra_frontend::lexer::lex;
use adumbra_frontend::token_kind::TokenKind;
use adumbra_frontend::{Interner, limits::MAX_SOURCE_BYTES};
use std::fmt::Write;

/// The classes of highlighted words, each with the number by which terminals know its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordClass {
    Plain = 0,
    Keyword = 35,
    Type = 36,
    Function = 34,
    Number = 33,
    Text = 32,
    Comment = 90,
}

/// The source with escapes that colour its words.
pub fn highlighted(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let rest = match is_command(text) {
        true => {
            let colon = text.find(':').unwrap_or(0);
            let end = text[colon..].find(char::is_whitespace);
            let (command, rest) = text.split_at(end.map_or(text.len(), |end| colon + end));
            put(command, WordClass::Keyword, &mut out);
            rest
        }
        false => text,
    };
    words(rest, &mut out);
    out
}

fn words(text: &str, out: &mut String) {
    if text.len() > MAX_SOURCE_BYTES {
        return out.push_str(text);
    }
    let mut end = 0;
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    let tokens = lexed.tokens.kinds.iter().zip(&lexed.tokens.tokens);
    for (kind, token) in tokens {
        let (start, stop) = (token.start as usize, token.end as usize);
        between(&text[end..start], out);
        let word = &text[start..stop];
        put(word, class(*kind, word), out);
        end = stop;
    }
    between(&text[end..], out);
}

/// Highlights the gap between tokens: blanks, comments, and bytes that are no tokens.
fn between(text: &str, out: &mut String) {
    let begin = text.trim_start();
    let is_comment = begin.starts_with("//") || begin.starts_with("/*");
    put(
        text,
        if is_comment {
            WordClass::Comment
        } else {
            WordClass::Plain
        },
        out,
    );
}

fn class(kind: TokenKind, word: &str) -> WordClass {
    let is_known = || {
        let builtin =
            !builtin::ops_of(word).is_empty() || builtin::derivative_direction(word).is_some();
        builtin || adumbra_stdlib::entry(word).is_some()
    };
    match kind {
        TokenKind::Name if is_known() => WordClass::Function,
        TokenKind::FloatLiteral
        | TokenKind::IntLiteral
        | TokenKind::UintLiteral
        | TokenKind::True
        | TokenKind::False => WordClass::Number,
        TokenKind::StringLiteral => WordClass::Text,
        _ if kind.type_keyword().is_some() => WordClass::Type,
        _ if kind.takes_name() => WordClass::Function,
        _ if kind.is_keyword() => WordClass::Keyword,
        _ => WordClass::Plain,
    }
}

fn put(text: &str, class: WordClass, out: &mut String) {
    if class == WordClass::Plain || text.is_empty() {
        return out.push_str(text);
    }
    let _ = write!(out, "\x1b[{}m{text}\x1b[0m", class as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source with the classes' initials in angle brackets instead of escapes.
    fn marked(text: &str) -> String {
        let mut out = highlighted(text);
        for (class, letter) in [
            (WordClass::Keyword, 'k'),
            (WordClass::Type, 't'),
            (WordClass::Function, 'f'),
            (WordClass::Number, 'n'),
            (WordClass::Text, 's'),
            (WordClass::Comment, 'c'),
        ] {
            out = out.replace(&format!("\x1b[{}m", class as u8), &format!("{letter}["));
        }
        out.replace("\x1b[0m", "]")
    }

    #[test]
    fn words_are_coloured_by_class() {
        assert_eq!(
            marked("float f(float x) { return sin(2.5 * x); } // twice"),
            "t[float] f(t[float] x) { k[return] f[sin](n[2.5] * x); }c[ // twice]"
        );
        assert_eq!(
            marked("ddx(lerp(u, true, 0x1f))"),
            "f[ddx](f[lerp](u, n[true], n[0x1f]))"
        );
        assert_eq!(marked("/* a */ 1 § \"s\""), "c[/* a */ ]n[1] § s[\"s\"]");
        assert_eq!(marked(":help sin"), "k[:help] f[sin]");
        assert_eq!(marked("  :fd"), "k[  :fd]");
        assert_eq!(marked(""), "");
    }

    #[test]
    fn highlighting_adds_only_escapes() {
        for text in [
            "a +\n b /* c",
            "\"open",
            "texture2d_sample<sin>(u)",
            "é ∂x :",
            ":",
            "\t",
        ] {
            let mut plain = highlighted(text);
            for class in [0, 32, 33, 34, 35, 36, 90] {
                plain = plain.replace(&format!("\x1b[{class}m"), "");
            }
            assert_eq!(plain, text);
        }
    }
}
