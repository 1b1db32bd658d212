//! Completes words at Tab, from the tokens before the cursor and the names of the session.

use super::help;
use super::session::{ReplSession, is_command};
use adumbra::{Type, diagnostics::FileId, inspect::PASSES};
use adumbra_frontend::check::{builtin, predeclared_type_names};
use adumbra_frontend::lexer::lex;
use adumbra_frontend::token_kind::TokenKind;
use adumbra_frontend::{Interner, limits::MAX_SOURCE_BYTES};
use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, Path};

/// Where the word to complete begins, and its candidates, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    pub start: usize,
    pub words: Vec<String>,
}

/// The candidates at the end of a source.
pub fn complete(session: &ReplSession, text: &str) -> Completion {
    if !is_command(text) {
        return of_language(session, text);
    }
    let colon = text.find(':').map_or(0, |colon| colon + 1);
    let Some((name, rest)) = text[colon..].split_once(char::is_whitespace) else {
        let commands = help::COMMANDS.iter().map(|page| page.name.to_owned());
        return beginning_with(text, colon, commands);
    };
    let rest_start = text.len() - rest.len();
    let last_word = text.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
    match name {
        "image" => files(text, last_word),
        "load" => {
            let file = rest.trim_start();
            files(text, text.len() - file.len())
        }
        "help" | "h" | "?" => {
            let commands = help::COMMANDS.iter().map(|page| page.name);
            let topics = help::topics().chain(commands).map(str::to_owned);
            beginning_with(text, last_word, topics)
        }
        "ir" if text[..last_word].trim_end().ends_with("--after") => {
            beginning_with(text, last_word, PASSES.map(str::to_owned))
        }
        _ => {
            let completion = of_language(session, rest);
            Completion {
                start: rest_start + completion.start,
                ..completion
            }
        }
    }
}

/// Those of the words that begin as the source does from `start` on.
fn beginning_with(text: &str, start: usize, words: impl IntoIterator<Item = String>) -> Completion {
    let typed = &text[start..];
    let fitting = words.into_iter().filter(|word| word.starts_with(typed));
    Completion {
        start,
        words: fitting.collect::<BTreeSet<_>>().into_iter().collect(),
    }
}

/// Files and folders; a folder ends with the separator, so that it can be gone into.
fn files(text: &str, start: usize) -> Completion {
    let typed = &text[start..];
    let (folder, _) = match typed.rfind(['/', MAIN_SEPARATOR]) {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let entries = std::fs::read_dir(if folder.is_empty() {
        Path::new(".")
    } else {
        Path::new(folder)
    });
    let names = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let end = if entry.path().is_dir() { "/" } else { "" };
        Some(format!("{folder}{name}{end}"))
    });
    beginning_with(text, start, names)
}

fn of_language(session: &ReplSession, text: &str) -> Completion {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = text.trim_end_matches(is_word).len();
    let nothing = Completion {
        start,
        words: Vec::new(),
    };
    let typed = &text[start..];
    if text.len() > MAX_SOURCE_BYTES
        || typed.starts_with(|c: char| c.is_ascii_digit())
        || is_silent(&text[..start])
    {
        return nothing;
    }
    if let Some(before) = text[..start].strip_suffix('.') {
        let ty = receiver(before).and_then(|receiver| session.type_of(receiver));
        return beginning_with(text, start, ty.map(|ty| members(&ty)).unwrap_or_default());
    }
    if let Some(before) = text[..start].strip_suffix('<') {
        let keyword = &before[before.trim_end_matches(is_word).len()..];
        if keyword == TokenKind::GlobalValue.text() {
            return beginning_with(text, start, session.variables());
        }
        if keyword.starts_with(TokenKind::Sample.text()) {
            return beginning_with(text, start, session.declared().textures);
        }
    }
    match typed {
        "" => nothing,
        _ => beginning_with(text, start, names(session, &text[..start])),
    }
}

/// Whether a source ends in a comment or in a string, where there is nothing to complete.
fn is_silent(text: &str) -> bool {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    let last = lexed.tokens.tokens.last();
    let end = last.map_or(0, |token| token.end as usize);
    let is_string =
        lexed.tokens.kinds.last() == Some(&TokenKind::StringLiteral) && end == text.len();
    let last_line = text[end..].lines().last().unwrap_or_default();
    lexed.open_comment || is_string || (last_line.contains("//") && !text.ends_with('\n'))
}

/// All names in scope: the session's, built-in functions and the library's, keywords, and those
/// that are declared or used in the source so far. Functions come with their parenthesis.
fn names(session: &ReplSession, before: &str) -> BTreeSet<String> {
    let mut interner = Interner::new();
    let lexed = lex(&mut interner, FileId::MAIN, before);
    let tokens = lexed.tokens.kinds.iter().zip(&lexed.tokens.tokens);
    let words = tokens.filter(|(kind, _)| **kind == TokenKind::Name);
    let mut names: BTreeSet<String> = words
        .map(|(_, token)| before[token.start as usize..token.end as usize].to_owned())
        .collect();
    let declared = session.declared();
    names.extend(session.variables());
    names.extend(declared.others);
    names.extend(declared.textures);
    names.extend(
        TokenKind::KEYWORDS
            .iter()
            .map(|kind| kind.text().to_owned()),
    );
    names.extend(predeclared_type_names().map(str::to_owned));
    let library = builtin::builtin_names().chain(adumbra_stdlib::function_names());
    let functions = library.map(str::to_owned).chain(declared.functions);
    for function in functions.collect::<Vec<_>>() {
        names.remove(&function);
        names.insert(format!("{function}("));
    }
    names
}

/// The operand at the end of a source, which a `.` follows: names with members, indices and calls,
/// or something in parentheses.
fn receiver(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_';
    let mut start = bytes.len();
    loop {
        let end = start;
        while start > 0 && matches!(bytes[start - 1], b')' | b']') {
            start = opener(&bytes[..start])?;
        }
        while start > 0 && is_word(start - 1) {
            start -= 1;
        }
        if start == end || bytes[start].is_ascii_digit() {
            return None;
        }
        match start.checked_sub(1).map(|before| bytes[before]) {
            Some(b'.') => start -= 1,
            _ => return Some(&text[start..]),
        }
    }
}

/// The position of the bracket that the last one closes.
fn opener(bytes: &[u8]) -> Option<usize> {
    let mut open = 0;
    bytes.iter().rposition(|byte| {
        match byte {
            b')' | b']' => open += 1,
            b'(' | b'[' => open -= 1,
            _ => {}
        }
        open == 0
    })
}

/// The members that may follow a value and `.`.
fn members(ty: &Type) -> Vec<String> {
    match ty {
        Type::Vector(n) => ["xyzw", "rgba"]
            .iter()
            .flat_map(|letters| {
                let letters = &letters[..usize::from(*n)];
                let singles = letters.chars().map(String::from);
                let runs = (2..=letters.len()).map(|len| letters[..len].to_owned());
                singles.chain(runs).collect::<Vec<_>>()
            })
            .collect(),
        Type::Struct(of) => of.members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use crate::checkerboard::Interrupt;
    use crate::setup::Setup;
    use clap::Parser;

    fn session(typed: &str) -> ReplSession {
        let arguments = [
            "adumbra",
            "-g",
            "position=1,2,3",
            "-g",
            "tint=1,2,3,4",
            "-g",
            "n=3i",
        ];
        let args = Cli::try_parse_from(arguments).unwrap().repl;
        let setup = Setup::new(&args.compile).unwrap();
        let mut session = ReplSession::new(setup, Vec::new(), Interrupt::default()).unwrap();
        if !typed.is_empty() {
            session.declare("<test>", typed, 0..typed.len()).unwrap();
        }
        session
    }

    fn offered(session: &ReplSession, text: &str) -> Vec<String> {
        complete(session, text).words
    }

    #[test]
    fn names_of_every_kind_are_offered() {
        let mut session = session("");
        for declared in [
            "float wavy(float x) { return x; }",
            "struct wave { float height; };",
            "const float wavelength = 2.0;",
            "texture2d waves;",
        ] {
            session
                .declare(declared, declared, 0..declared.len())
                .unwrap();
        }
        assert_eq!(
            offered(&session, "1 + wa"),
            ["wave", "wavelength", "waves", "wavy("]
        );
        assert_eq!(offered(&session, "posi"), ["position"]);
        assert_eq!(offered(&session, "smooths"), ["smoothstep("]);
        assert_eq!(offered(&session, "cros"), ["cross("]);
        assert_eq!(offered(&session, "float4x"), ["float4x4"]);
        assert_eq!(offered(&session, "float amplitude = 1; amp"), ["amplitude"]);
        assert_eq!(offered(&session, "texture2d_sample<"), ["waves"]);
        assert_eq!(offered(&session, "global_value<po"), ["position"]);
        assert_eq!(complete(&session, "sin(posi").start, 4);
        assert_eq!(offered(&session, ""), [""; 0]);
        assert_eq!(offered(&session, "nosuchname"), [""; 0]);
    }

    #[test]
    fn members_are_those_of_the_type() {
        let wave = "struct inner { float2 at; }; ";
        let mut session = session(wave.trim());
        for declared in [
            "struct wave { float height; inner i; };",
            "wave crest(float x) { wave w; return w; }",
        ] {
            session
                .declare(declared, declared, 0..declared.len())
                .unwrap();
        }
        assert_eq!(
            offered(&session, "position."),
            ["b", "g", "r", "rg", "rgb", "x", "xy", "xyz", "y", "z"]
        );
        assert_eq!(offered(&session, "tint.xyz"), ["xyz", "xyzw"]);
        assert_eq!(offered(&session, "2 * crest(sin(u) + 1)."), ["height", "i"]);
        assert_eq!(offered(&session, "crest(1).i."), ["at"]);
        assert_eq!(offered(&session, "crest(1).i.at.").len(), 6);
        assert_eq!(offered(&session, "(position + 1).r"), ["r", "rg", "rgb"]);
        for nothing in ["n.", "2.", "1.5.", "nosuch.", ").", ".", "u.x.", "(."] {
            assert_eq!(offered(&session, nothing), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn nothing_is_offered_in_comments_and_strings() {
        let session = session("");
        for text in ["// si", "1 /* si", "\"si", "1 // a\n// si"] {
            assert_eq!(offered(&session, text), [""; 0], "{text}");
        }
        assert!(offered(&session, "// a\nsi").contains(&"sin(".to_owned()));
        assert!(offered(&session, "/* a */ si").contains(&"sin(".to_owned()));
    }

    #[test]
    fn command_arguments_are_completed_by_kind() {
        let session = session("");
        assert_eq!(offered(&session, ":l"), ["load"]);
        assert_eq!(complete(&session, "  :l").start, 3);
        assert_eq!(offered(&session, ":help smooths"), ["smoothstep"]);
        assert_eq!(offered(&session, ":help globals"), ["globals"]);
        assert_eq!(offered(&session, ":ir --after f"), ["fold"]);
        assert_eq!(offered(&session, ":ir --after fold posi"), ["position"]);
        assert_eq!(offered(&session, ":fd posi"), ["position"]);
        assert_eq!(complete(&session, ":fd 1 + posi").start, 8);
        assert_eq!(offered(&session, ":plot position.r for u in 0..1").len(), 0);
        assert_eq!(offered(&session, ":load Cargo.tom"), ["Cargo.toml"]);
        assert_eq!(offered(&session, ":load sr"), ["src/"]);
        assert_eq!(offered(&session, ":load src/li"), ["src/lib.rs"]);
        assert_eq!(offered(&session, ":load no/such/"), [""; 0]);
        let texture = ":image s.adu -o o.png Cargo.tom";
        assert_eq!(offered(&session, texture), ["Cargo.toml"]);
    }
}
