//! Wrong programs, with the expected diagnostics in their comments.
//!
//! A comment `//~ CODE `source`` at the end of a line expects CODE there, with a span that covers
//! that source; `//~^` expects it in the line before. A part of the help comes after ` => `. No
//! other diagnostic may be reported, and every one names the fix. A program may start with `// run:
//! OPTIONS`.

use super::support::{header, json_lines, programs};
use crate::command::adumbra;

/// Line, code, and the source that the span covers.
type Expected = (usize, String, Option<String>);

/// The diagnostics that a program expects, each with a part of its help.
fn expected(text: &str) -> (Vec<Expected>, Vec<Option<&str>>) {
    let (mut diagnostics, mut helps) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        for note in line.split("//~").skip(1) {
            let (above, note) = match note.strip_prefix('^') {
                Some(rest) => (1, rest),
                None => (0, note),
            };
            let (note, help) = match note.split_once(" => ") {
                Some((note, help)) => (note, Some(help.trim())),
                None => (note, None),
            };
            let mut parts = note.trim().splitn(2, ' ');
            let code = parts.next().expect("a code").to_string();
            let source = parts.next().map(|p| p.trim_matches('`').to_string());
            diagnostics.push((number + 1 - above, code, source));
            helps.push(help);
        }
    }
    (diagnostics, helps)
}

#[test]
fn wrong_programs_get_code_location_and_fix() {
    let files = programs("diagnostics");
    assert!(files.len() >= 80);
    let mut wrong = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("the program can be read");
        let name = file.file_stem().and_then(|s| s.to_str()).expect("a name");
        let mut args = vec!["check", file.to_str().expect("a UTF-8 path"), "--json"];
        args.extend(header(&text, "run").flat_map(str::split_whitespace));
        let ran = adumbra(args.iter().copied());
        let mut lines = json_lines(&ran.stdout);
        // Errors of syntax are found before those of meaning.
        lines.sort_by_key(|line| line["span"]["start"].as_u64());
        let (expected, helps) = expected(&text);
        let mut found: Vec<Expected> = Vec::new();
        for (i, diagnostic) in lines.iter().enumerate() {
            let span = &diagnostic["span"];
            let at = |key: &str| span[key].as_u64().expect("a number") as usize;
            let code = diagnostic["code"].as_str().expect("a code").to_string();
            let source = &text[at("start")..at("end")];
            let has_source = expected.get(i).is_none_or(|e| e.2.is_some());
            found.push((
                at("line"),
                code.clone(),
                has_source.then(|| source.to_string()),
            ));
            let help = diagnostic["help"].as_str().unwrap_or_default();
            let part = helps.get(i).copied().flatten();
            if help.is_empty() || part.is_some_and(|part| !help.contains(part)) {
                wrong.push(format!(
                    "{name}: {code} does not name the fix: {diagnostic}"
                ));
            }
        }
        if found != expected {
            wrong.push(format!("{name}: expected {expected:?}\n  found {found:?}"));
        }
        args.retain(|&arg| arg != "--json");
        let report = adumbra(args).stderr;
        for (_, code, _) in &expected {
            if !report.contains(&format!("[{code}]")) || !report.contains("Help: ") {
                wrong.push(format!(
                    "{name}: the report lacks {code} or the fix:\n{report}"
                ));
            }
        }
        let fails = lines.iter().any(|l| l["severity"] == "error");
        assert_eq!(ran.code, i32::from(fails), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
