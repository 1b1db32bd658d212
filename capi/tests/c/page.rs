//! The snippets of `docs/c-api.md`, which are one program: what stands in `c top` blocks, then `main` with what stands in `c` blocks, one behind the other.

use crate::compilers::{Language, Library, build, project, scratch};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use std::process::Command;

/// The program that the page is.
fn program(page: &str) -> String {
    let (mut top, mut main) = (String::new(), String::new());
    let mut block = None;
    for event in Parser::new(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => block = Some(info),
            Event::Text(text) => match block.as_deref() {
                Some("c top") => top.push_str(&text),
                Some("c") => main.push_str(&text),
                _ => {}
            },
            Event::End(TagEnd::CodeBlock) => block = None,
            _ => {}
        }
    }
    assert!(!top.is_empty() && !main.is_empty());
    format!("{top}\nint main(void)\n{{\n{main}    return 0;\n}}\n")
}

#[test]
fn what_the_page_shows_compiles_and_holds() {
    let page = std::fs::read_to_string(project("docs/c-api.md")).expect("the page is there");
    let file = scratch("page").join("page.c");
    std::fs::write(&file, program(&page)).expect("the folder can be written");
    let Some(program) = build(Language::C, &file, "page", Library::Static) else {
        return;
    };
    let said = Command::new(program).output().expect("the program starts");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{errors}");
}
