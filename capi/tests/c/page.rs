//! The snippets of `docs/c-api.md`, one program in each language.
//!
//! The program has the `c top` or `cpp top` blocks first, then `main` with the `c` or `cpp` blocks
//! in their order.

use crate::compilers::{Language, Library, build, project, scratch};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::process::Command;

/// The program in a language that the page is.
fn program(page: &str, language: &str) -> String {
    let before = format!("{language} top");
    let (mut top, mut main) = (String::new(), String::new());
    let mut block = None;
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => block = Some(info),
            Event::Text(text) => match block.as_deref() {
                Some(word) if word == before => top.push_str(&text),
                Some(word) if word == language => main.push_str(&text),
                _ => {}
            },
            Event::End(TagEnd::CodeBlock) => block = None,
            _ => {}
        }
    }
    assert!(!top.is_empty() && !main.is_empty());
    let nothing = if language == "c" { "void" } else { "" };
    format!("{top}\nint main({nothing})\n{{\n{main}    return 0;\n}}\n")
}

#[test]
fn page_snippets_compile_and_run() {
    let page = std::fs::read_to_string(project("docs/c-api.md")).expect("the page is there");
    for (language, ending) in [(Language::C, "c"), (Language::Cpp, "cpp")] {
        let name = format!("page_{ending}");
        let file = scratch(&name).join("page").with_extension(ending);
        std::fs::write(&file, program(&page, ending)).expect("the folder can be written");
        let Some(program) = build(language, &file, &name, Library::Static) else {
            continue;
        };
        let said = Command::new(program).output().expect("the program starts");
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "{errors}");
    }
}
