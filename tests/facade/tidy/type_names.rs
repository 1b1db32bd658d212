//! Public type names: each exists once in the workspace, so that a name says which type is meant.

use super::{files, is_comment, none, read};
use std::collections::BTreeMap;

/// The keywords that declare a type.
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// The name of the public type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let item = line.trim_start().strip_prefix("pub ")?;
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let (keyword, rest) = item.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (KEYWORDS.contains(&keyword) && !name.is_empty()).then_some(name)
}

#[test]
fn declarations_of_public_types_are_read() {
    assert_eq!(declared("    pub struct View<'a> {"), Some("View"));
    assert_eq!(declared("pub unsafe trait Words: Copy {}"), Some("Words"));
    assert_eq!(declared("pub type Slot = u32;"), Some("Slot"));
    assert_eq!(declared("pub(crate) struct Inner;"), None);
    assert_eq!(declared("pub fn type_of() {}"), None);
    assert_eq!(declared("    type Value = T;"), None);
}

#[test]
fn public_type_names_are_unique() {
    let mut declarations: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files(".rs") {
        let source = read(&file);
        for line in source.lines().filter(|line| !is_comment(line)) {
            if let Some(name) = declared(line) {
                let places = declarations.entry(name.to_owned()).or_default();
                places.push(file.clone());
            }
        }
    }
    assert!(declarations.contains_key("Program"), "the facade is read");
    declarations.retain(|_, places| places.len() > 1);
    let lines = declarations
        .iter()
        .map(|(name, places)| format!("{name}: {}", places.join(", ")));
    none(lines.collect());
}
