//! The book as mdBook builds it, in `target/book`: `.ci/book` builds it and runs this.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let opening = format!(" {attribute}=\"");
    let parts = html.split(opening.as_str()).skip(1);
    parts
        .filter_map(|part| Some(part.split_once('"')?.0))
        .collect()
}

/// The pages below a folder.
fn html_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the book is built") {
            let path = entry.expect("the folder can be read").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(ending) if ending == "html" => found.push(path),
                _ => {}
            }
        }
    }
    found
}

/// Whether a link of a page is broken, given the anchors of all pages.
fn broken(page: &Path, link: &str, anchors: &HashMap<PathBuf, HashSet<String>>) -> bool {
    let is_outside = |start: &&str| link.starts_with(*start);
    if ["http:", "https:", "data:", "javascript:"]
        .iter()
        .any(is_outside)
    {
        return false;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        _ => page.parent().expect("a folder").join(file),
    };
    let Ok(target) = target.canonicalize() else {
        return true;
    };
    let has_anchor = |ids: &HashSet<String>| anchor.is_empty() || ids.contains(anchor);
    !anchors.get(&target).is_none_or(has_anchor)
}

#[test]
#[ignore = "it reads the built book, which `.ci/book` makes"]
fn built_book_has_no_broken_link() {
    let folder = crate::command::project("target/book");
    let folder = folder.canonicalize().expect("the book is built");
    let pages: HashMap<PathBuf, String> = html_files(&folder)
        .into_iter()
        .map(|path| {
            let html = std::fs::read_to_string(&path).expect("a page is text");
            (path, html)
        })
        .collect();
    let ids = |html: &String| values(html, "id").into_iter().map(str::to_owned).collect();
    let anchors = pages.iter().map(|(path, html)| (path.clone(), ids(html)));
    let anchors: HashMap<PathBuf, HashSet<String>> = anchors.collect();

    let mut wrong = Vec::new();
    let mut links = 0;
    for (path, html) in &pages {
        for link in values(html, "href").into_iter().chain(values(html, "src")) {
            links += 1;
            if broken(path, link, &anchors) {
                wrong.push(format!("{}: {link}", path.display()));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        pages.len() > 150 && links > 1000,
        "{} pages, {links} links",
        pages.len()
    );

    // A shader is highlighted: the class is there, and the definition is loaded.
    let language = &pages[&folder.join("language.html")];
    assert!(language.contains("language-adu"));
    assert!(language.contains("highlight/adu"));
}

#[test]
fn broken_links_of_pages_are_seen() {
    let page = crate::command::project("Cargo.toml")
        .canonicalize()
        .expect("a file");
    let ids = HashSet::from(["here".to_owned()]);
    let anchors = HashMap::from([(page.clone(), ids)]);
    let is_broken = |link: &str| broken(&page, link, &anchors);
    assert!(!is_broken("#here") && !is_broken("README.md") && !is_broken("https://rustup.rs"));
    assert!(is_broken("#there") && is_broken("Cargo.toml#there") && is_broken("nowhere.html"));
    assert_eq!(
        values("<a href=\"b\"> <a href=\"c#d\">", "href"),
        ["b", "c#d"]
    );
}
