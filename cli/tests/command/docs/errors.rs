//! The error pages: `docs/errors/CODE.md`, one for each code, with a wrong source, its report and
//! its fix.

use super::page::{CodeBlock, blocks};
use adumbra::{Compiler, GlobalsLayout, Sources, diagnostics::Code};
use std::path::PathBuf;

fn path(code: Code) -> PathBuf {
    super::folder().join("errors").join(format!("{code}.md"))
}

fn block<'a, 'p>(blocks: &'a [CodeBlock<'p>], file: &str) -> Option<&'a CodeBlock<'p>> {
    blocks.iter().find(|block| block.file() == Some(file))
}

/// Whether a source gives a diagnostic of that code.
fn finds(code: Code, text: &str) -> bool {
    let found = Compiler::new(GlobalsLayout::hit()).check(&Sources::new("fixed.adu", text));
    found.iter().any(|diagnostic| diagnostic.code == code)
}

/// The problem of a code's page, if there is one.
fn complaint(code: Code) -> Option<&'static str> {
    let Ok(page) = std::fs::read_to_string(path(code)) else {
        return Some("has no page");
    };
    if !page.starts_with(&format!("# {code}: {}\n", code.title())) {
        return Some("has a page without its title");
    }
    let blocks = blocks(&page);
    let shows = |block: &CodeBlock| {
        matches!(block.language(), "console" | "repl" | "rust")
            && block.body.contains(&format!("{code}"))
    };
    if !blocks.iter().any(shows) {
        return Some("has a page that does not show it");
    }
    match (block(&blocks, "wrong.adu"), block(&blocks, "fixed.adu")) {
        (Some(_), None) => Some("has a page without the fix, `fixed.adu`"),
        (_, Some(fixed)) if finds(code, fixed.body) => Some("is still found in `fixed.adu`"),
        _ => None,
    }
}

#[test]
fn every_code_has_a_page_with_its_fix() {
    let wrong = Code::ALL.iter().filter_map(|&code| {
        complaint(code).map(|complaint| format!("{code} ({}) {complaint}", code.title()))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The page that lists all codes.
fn index() -> String {
    let mut text = String::from(
        "# Errors and warnings\n\nEach diagnostic has a code, each code a page: why it is wrong, an example, its report, and the fix. \
         `E` is an error, `W` a warning.\n",
    );
    let mut last = None;
    for &code in Code::ALL {
        let section = match code as u16 / 100 {
            1 => "Text and grammar",
            2 => "Names and declarations",
            3 => "Types",
            4 => "Statements and flow",
            5 => "Derivatives, textures, closures, the host",
            6 => "Limits",
            7 => "IR text and bytecode files",
            8 => "While a point runs",
            other => panic!("codes {other}xx have no section"),
        };
        if last != Some(section) {
            text += &format!("\n## {section}\n\n");
        }
        last = Some(section);
        text += &format!("- [{code}]({code}.md) {}\n", code.title());
    }
    text
}

#[test]
fn index_lists_every_code() {
    let path = super::folder().join("errors/index.md");
    let mut text = std::fs::read_to_string(&path).expect("the page exists");
    if super::blesses() && text != index() {
        text = index();
        std::fs::write(path, &text).expect("the page can be written");
    }
    let difference = super::page::difference("errors/index.md", &text, &index());
    assert_eq!(difference, None);
}

#[test]
fn every_page_has_a_code() {
    for page in std::fs::read_dir(super::folder().join("errors")).expect("the folder exists") {
        let page = page.expect("the folder can be read").path();
        let known = Code::ALL.iter().any(|&code| path(code) == page);
        assert!(known || page.ends_with("index.md"), "{}", page.display());
    }
}
