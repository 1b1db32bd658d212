//! Proposed fixes, applied: each takes its diagnostic away.
//!
//! A help proposes source for the place of its diagnostic in one of the forms of [`PROPOSALS`]. The
//! test puts it there, checks the program again, and expects that this diagnostic is gone.

use super::support::{header, json_lines, programs};
use crate::command::{adumbra, scratch};
use serde_json::Value;

/// The codes whose helps propose source, the words before it, and the words after it.
const PROPOSALS: &[(&str, &str, &str)] = &[
    ("", "did you mean `", "`?"),
    ("E0103", "write it in hexadecimal: `", "`"),
    ("E0103", "write it in decimal: `", "`"),
    ("E0109", "write `const ", "`"),
    ("E0109", "write a function: `", "`"),
    (
        "E0109",
        "write a function, and an overload for each other type that it is called with: `",
        "`",
    ),
];

/// The source that a diagnostic proposes for its place.
fn proposal(diagnostic: &Value) -> Option<String> {
    let (code, help) = (diagnostic["code"].as_str()?, diagnostic["help"].as_str()?);
    PROPOSALS.iter().find_map(|(of, before, after)| {
        let text = help.strip_prefix(before)?.strip_suffix(after)?;
        let keyword = before.strip_suffix("const ").map_or("", |_| "const ");
        let is_it = of.is_empty() || *of == code;
        // An attribute is named without its brackets.
        let text = text.trim_start_matches('[').trim_end_matches(']');
        is_it.then(|| format!("{keyword}{text}"))
    })
}

/// A diagnostic without its place.
fn identity(diagnostic: &Value) -> [&Value; 2] {
    [&diagnostic["code"], &diagnostic["message"]]
}

#[test]
fn applied_fix_removes_its_diagnostic() {
    let (mut applied, mut wrong) = (0, Vec::new());
    for file in programs("diagnostics") {
        let text = std::fs::read_to_string(&file).expect("the program can be read");
        let options: Vec<&str> = header(&text, "run")
            .flat_map(str::split_whitespace)
            .collect();
        let check = |path: &str| {
            let args = ["check", path, "--json"].into_iter();
            json_lines(&adumbra(args.chain(options.iter().copied())).stdout)
        };
        let before = check(file.to_str().expect("a UTF-8 path"));
        for diagnostic in &before {
            let Some(proposal) = proposal(diagnostic) else {
                continue;
            };
            let at = |key: &str| diagnostic["span"][key].as_u64().expect("a number") as usize;
            let fixed = format!("{}{proposal}\n{}", &text[..at("start")], &text[at("end")..]);
            let name = file.file_stem().and_then(|stem| stem.to_str());
            let path = scratch(&format!("fixed_{}.adu", name.expect("a name")), &fixed);
            let count = |all: &[Value]| {
                let same = all.iter().filter(|d| identity(d) == identity(diagnostic));
                same.count()
            };
            applied += 1;
            let after = check(&path);
            let is_syntax = |d: &Value| {
                d["code"]
                    .as_str()
                    .is_some_and(|code| code.starts_with("E01"))
            };
            let syntax = [&before, &after].map(|all| all.iter().filter(|d| is_syntax(d)).count());
            if count(&after) >= count(&before) || syntax[1] > syntax[0] {
                wrong.push(format!(
                    "{path}: `{proposal}` leaves {diagnostic}\n{after:?}"
                ));
            }
        }
    }
    assert!(applied >= 30, "{applied} fixes");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
