//! Runs the examples of the documentation, and compares them with what the pages show.
//!
//! The first word of a fenced block is its kind:
//!
//! ```text
//! adu file=NAME    a source that later blocks of the page use by that name; without a name, a
//!                  library that `check` accepts
//! json file=NAME   the same for a group or other data
//! console          lines `$ adumbra …` or `$ cargo run --release -- …`, each followed by its
//!                  output, run where the page's files are; paths that begin with `examples/`
//!                  are the project's
//! repl             lines `> …` typed into one session, each followed by its output
//! rust             an example; rustdoc runs it (`src/book.rs` lists the pages)
//! c, c top         parts of the one program that the page is; the tests of `capi` build and run it
//! cpp, cpp top     the same in C++
//! text, sh, toml   an illustration, not run
//! cmake            the same
//! ```
//!
//! In output, `[..]` matches anything in one line. An image of the page is the file that one of its
//! commands writes under that name. `ADUMBRA_BLESS=1 cargo test --test command docs::` writes the
//! real output.

mod built;
mod errors;
mod highlight;
mod images;
mod page;
mod readme;
mod replay;
mod summary;
mod verification;

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    crate::command::project("docs")
}

/// Every page below `docs/`, sorted.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The page's path from `docs/`, for people.
fn name(page: &Path) -> String {
    let inside = page.strip_prefix(folder()).expect("a page of the docs");
    inside.display().to_string()
}

/// Whether pages are to be brought up to date instead of compared.
fn blesses() -> bool {
    std::env::var_os("ADUMBRA_BLESS").is_some()
}

#[test]
fn page_examples_show_real_output() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page is text");
        let replayed = replay::replay(&name(&path), &text);
        wrong.extend(replayed.problems);
        wrong.extend(images::problems(&path, &text, &replayed.folder));
        if blesses() && replayed.page != text {
            std::fs::write(&path, &replayed.page).expect("the page can be written");
        } else {
            wrong.extend(page::difference(&name(&path), &text, &replayed.page));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_page_with_rust_is_given_to_rustdoc() {
    let listed = include_str!("../../../../src/book.rs");
    let mut wrong = Vec::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page is text");
        let is_listed = listed.contains(&format!("\"../docs/{}\"", name(&path)));
        let has_rust = page::blocks(&text)
            .iter()
            .any(|block| block.language() == "rust");
        if has_rust != is_listed {
            let verb = if has_rust { "wants" } else { "needs no" };
            wrong.push(format!("{} {verb} line in src/book.rs", name(&path)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The problem of a link of that page, if there is one.
fn broken(path: &Path, link: &page::Link) -> Option<&'static str> {
    let target = match link.file.as_str() {
        "" => path.to_owned(),
        file => path.parent().expect("a folder").join(file),
    };
    let Ok(target) = target.canonicalize() else {
        return Some("is not there");
    };
    if !target.starts_with(folder().canonicalize().expect("the folder exists")) {
        return Some("leads out of the book");
    }
    let anchor = link.anchor.as_ref()?;
    let text = std::fs::read_to_string(target).ok()?;
    (!page::anchors(&text).contains(anchor)).then_some("is no heading there")
}

#[test]
fn links_lead_to_pages_and_headings() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page is text");
        for link in page::links(&text) {
            if let Some(complaint) = broken(&path, &link) {
                wrong.push(format!("{}: {link:?} {complaint}", name(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
