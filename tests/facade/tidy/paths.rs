//! Files that pages name exist.
//!
//! A path from the root, but for what is built, must be a file or a folder. A name that ends with
//! `.rs` must be the end of a file's path, in the crates that an internals page is about. The
//! changelog is history, and names what has gone.

use super::{files, none, read, root};

/// The crates that the internals pages take bare names of files from; other pages take any.
const SUBJECTS: [(&str, &[&str]); 5] = [
    (
        "docs/internals/front-end.md",
        &["frontend/", "stdlib/", "src/", "ir/"],
    ),
    ("docs/internals/ir-and-passes.md", &["ir/", "ops/", "src/"]),
    ("docs/internals/point-engine.md", &["vm/", "src/"]),
    ("docs/internals/batch-engine.md", &["vm/", "simd/", "src/"]),
    ("docs/internals/machine-code.md", &["aot/", "vm/", "src/"]),
];

/// The words of a page that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let words = text.split(move |c| !is_path(c));
    words.map(|word| word.trim_end_matches(['.', '/']))
}

/// Whether a part of the path is a placeholder, as in `docs/errors/CODE.md`.
fn has_placeholder(path: &str) -> bool {
    let mut parts = path.split(['/', '.']);
    parts.any(|part| {
        part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_uppercase()) && part != "README"
    })
}

/// Whether the word is a path, and of nothing. `sources` are the files with source of Rust.
fn is_missing(page: &str, word: &str, sources: &[String]) -> bool {
    if let Some((first, rest)) = word.split_once('/') {
        let is_from_root =
            !first.starts_with('.') && first != "target" && root().join(first).is_dir();
        if !first.is_empty() && is_from_root && !rest.is_empty() && !has_placeholder(word) {
            let is_there = root().join(word).exists();
            let is_end = sources
                .iter()
                .any(|file| file.ends_with(&format!("/{word}")));
            return !is_there && !is_end;
        }
    }
    let Some(name) = word.strip_suffix(".rs").filter(|name| !name.is_empty()) else {
        return false;
    };
    let subject = SUBJECTS.iter().find(|(subject, _)| *subject == page);
    let is_subject =
        |file: &str| subject.is_none_or(|(_, crates)| crates.iter().any(|of| file.starts_with(of)));
    let is_site = name.starts_with("//");
    let end = format!("/{word}");
    !is_site
        && !sources
            .iter()
            .any(|file| is_subject(file) && (file == word || file.ends_with(&end)))
}

#[test]
fn files_that_pages_name_exist() {
    let sources = files(".rs");
    let mut pages = files(".md");
    pages.retain(|page| page != "CHANGELOG.md");
    let mut wrong = Vec::new();
    for page in pages {
        let text = read(&page);
        let missing = words(&text).filter(|word| is_missing(&page, word, &sources));
        wrong.extend(missing.map(|word| format!("{page} names {word}, which is not there")));
    }
    none(wrong);
}

#[test]
fn missing_file_is_found() {
    let sources = files(".rs");
    let page = "docs/internals/machine-code.md";
    for (word, missing) in [
        ("aot/src/gvn.rs", true),
        ("gvn.rs", true),
        ("value_numbering.rs", false),
        ("x64/frame.rs", false),
        ("tests/lang/nowhere", true),
        ("tests/lang", false),
        ("docs/errors/CODE.md", false),
        ("and/or", false),
    ] {
        assert_eq!(is_missing(page, word, &sources), missing, "{word}");
    }
}

#[test]
fn files_that_name_an_instruction_are_listed() {
    let contributing = read("CONTRIBUTING.md");
    let section = contributing.split("## Adding an instruction\n").nth(1);
    let section = section.and_then(|rest| rest.split("\n## ").next());
    let section = section.expect("the section");
    let listed = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let listed: Vec<&str> = listed.filter_map(|line| line.split('`').next()).collect();
    let is_test = |file: &str| file.contains("test");
    let names = |line: &str| {
        let of_table = line.trim_start().split_once(" Keep");
        let of_table = of_table.is_some_and(|(tag, rest)| {
            let tag = tag.trim_end_matches(" =");
            let is_tag = tag.starts_with('"') || tag.bytes().all(|byte| byte.is_ascii_digit());
            !tag.is_empty() && is_tag && !rest.starts_with(|c: char| c.is_alphanumeric())
        });
        ["InstKind::Keep", "Opcode::Keep", "BatchOp::Keep"]
            .iter()
            .any(|path| line.contains(path))
            || of_table
    };
    let mut wrong = files(".rs");
    wrong.retain(|file| {
        let is_listed = listed
            .iter()
            .any(|place| file == place || file.starts_with(&format!("{place}/")));
        !is_test(file) && !is_listed && read(file).lines().any(names)
    });
    none(wrong);
}
