//! The outline of the book, `docs/SUMMARY.md`, lists each page once: mdBook builds listed pages
//! alone.

use super::{blesses, folder, name, page, pages};

/// Folders whose pages are listed below the folder's index, by number.
const NUMBERED: [&str; 2] = ["errors", "decisions"];

/// The title of a page: its first line, a heading.
fn title(page: &std::path::Path) -> String {
    let text = std::fs::read_to_string(page).expect("a page is text");
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches('#').trim().to_owned()
}

/// The lines of a folder's pages, but for its index.
fn numbered(kind: &str) -> Vec<String> {
    let pages = pages().into_iter();
    let listed = pages.filter(|page| {
        let name = name(page);
        name.starts_with(&format!("{kind}/")) && !name.ends_with("/index.md")
    });
    let line = |page: std::path::PathBuf| format!("  - [{}]({})", title(&page), name(&page));
    listed.map(line).collect()
}

/// The outline with the lists of numbered pages as they should be.
fn outline(now: &str) -> String {
    let is_numbered = |line: &str| {
        let mut kinds = NUMBERED.iter();
        line.starts_with("  - ") && kinds.any(|kind| line.contains(&format!("]({kind}/")))
    };
    let mut lines = Vec::new();
    for line in now.lines().filter(|line| !is_numbered(line)) {
        lines.push(line.to_owned());
        let mut kinds = NUMBERED.iter();
        if let Some(kind) = kinds.find(|kind| line.ends_with(&format!("]({kind}/index.md)"))) {
            lines.extend(numbered(kind));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn outline_lists_each_page_once() {
    let path = folder().join("SUMMARY.md");
    let mut now = std::fs::read_to_string(&path).expect("the outline is text");
    let then = outline(&now);
    if blesses() && now != then {
        std::fs::write(path, &then).expect("the outline can be written");
        now.clone_from(&then);
    }
    assert_eq!(page::difference("SUMMARY.md", &now, &then), None);

    let listed = page::links(&now);
    let mut wrong = Vec::new();
    for page in pages() {
        let name = name(&page);
        let times = listed.iter().filter(|link| link.file == name).count();
        if name != "SUMMARY.md" && times != 1 {
            wrong.push(format!("{name} is listed {times} times"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
