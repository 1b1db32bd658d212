//! Dependencies between files: those of different folders form no cycle.
//!
//! A file depends on the file of each path of its crate (`crate::…`, `super::…`, `self::…`) that it
//! names outside of tests. A re-export is no dependency: it only gives an item a second path.

use super::{files, is_comment, none, read};
use std::collections::{BTreeMap, BTreeSet};

/// The names of a path: `["crate", "value", "ValueView"]`.
type Names = Vec<String>;
/// A module's path in its crate, without `crate`.
type ModulePath = Vec<String>;

/// The source without comments and without what follows the first module of tests.
fn code(source: &str) -> String {
    let before = source.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
    let lines = before.lines().filter(|line| !is_comment(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the `use` before `at` only re-exports.
fn is_re_export(before: &str) -> bool {
    let statement = before.rsplit([';', '}', '\n']).next().unwrap_or("");
    statement.trim_start().starts_with("pub")
}

/// Adds the paths of a use tree below `prefix`.
fn expand(prefix: &[String], tree: &str, paths: &mut Vec<Names>) {
    let mut depth = 0;
    let branches = tree.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    for branch in branches.map(str::trim).filter(|branch| !branch.is_empty()) {
        let (names, group) = match branch.split_once('{') {
            Some((names, group)) => (names, group.strip_suffix('}')),
            None => (branch, None),
        };
        let names = names.split("::").map(|name| name.split(" as ").next());
        let names = names
            .flatten()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let path: Names = prefix
            .iter()
            .cloned()
            .chain(names.map(str::to_owned))
            .collect();
        match group {
            Some(group) => expand(&path, group, paths),
            None => paths.push(path),
        }
    }
}

/// The paths that code names: of its imports, and those in its text that begin at the crate or at a
/// module around.
fn paths(code: &str) -> Vec<Names> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut from = 0;
    for (at, _) in code.match_indices("use ") {
        let begins = code[..at].ends_with(|c: char| c.is_whitespace()) || at == 0;
        let Some(end) = code[at..].find(';').filter(|_| begins && at >= from) else {
            continue;
        };
        rest.push_str(&code[from..at]);
        from = at + end;
        if !is_re_export(&code[..at]) {
            expand(&[], &code[at + "use ".len()..at + end], &mut found);
        }
    }
    rest.push_str(&code[from..]);
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for path in rest
        .split(|c| !is_name(c))
        .filter(|path| path.contains("::"))
    {
        expand(&[], path.trim_matches(':'), &mut found);
    }
    found
}

/// The module that a path from within `module` names, as far as `modules` go.
fn resolve(
    path: &[String],
    module: &[String],
    modules: &BTreeMap<ModulePath, String>,
) -> Option<ModulePath> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let base = match path.first()?.as_str() {
        "crate" => &[],
        "self" => module,
        "super" => &module[..module.len().checked_sub(ups)?],
        _ => return None,
    };
    let names = &path[ups.max(1)..];
    let full: ModulePath = base.iter().chain(names).cloned().collect();
    let mut parts = (1..=full.len()).rev().map(|length| &full[..length]);
    Some(parts.find(|part| modules.contains_key(*part))?.to_vec())
}

/// The files of a crate by their module paths.
fn modules(source_folder: &str) -> BTreeMap<ModulePath, String> {
    let in_crate = files(".rs").into_iter().filter_map(|file| {
        let names = file.strip_prefix(source_folder)?.strip_suffix(".rs")?;
        let mut names: ModulePath = names.split('/').map(str::to_owned).collect();
        if matches!(names.last()?.as_str(), "mod" | "lib" | "main") {
            names.pop();
        }
        Some((names, file))
    });
    in_crate.collect()
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// All that can be reached from `file`.
fn reachable<'a>(
    file: &'a str,
    edges: &'a BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        let next = edges.get(file).into_iter().flatten().map(String::as_str);
        open.extend(next.filter(|next| reached.insert(*next)));
    }
    reached
}

/// The dependencies that close a cycle over folders.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let reached: BTreeMap<&str, _> = edges
        .keys()
        .map(|file| (file.as_str(), reachable(file, edges)))
        .collect();
    let closes = |from: &str, to: &str| reached.get(to).is_some_and(|files| files.contains(from));
    let crosses = |from: &str| {
        let cycle = reached[from].iter().filter(|to| closes(from, to));
        cycle.clone().any(|to| folder(to) != folder(from))
    };
    let all = edges
        .iter()
        .flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let closing = all.filter(|(from, to)| closes(from, to) && crosses(from));
    closing
        .map(|(from, to)| format!("{from} depends on {to}, which depends on it"))
        .collect()
}

#[test]
fn paths_of_code_are_read() {
    let source = "use crate::a::{B, c::{self, D}};\npub use crate::e::F;\n// crate::g::H\nfn f() { super::i::j(std::mem::k) }";
    let paths = paths(&code(source));
    let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(
        paths,
        [
            "crate::a::B",
            "crate::a::c::self",
            "crate::a::c::D",
            "super::i::j",
            "std::mem::k"
        ]
    );
}

#[test]
fn cycles_over_folders_are_found() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let found = |edges: &[(String, BTreeSet<String>)]| cycles(&edges.iter().cloned().collect());
    assert!(found(&[edge("a.rs", "b.rs"), edge("b.rs", "a.rs")]).is_empty());
    assert!(found(&[edge("a.rs", "b/c.rs"), edge("b/c.rs", "b/d.rs")]).is_empty());
    let long = [
        edge("a.rs", "b/c.rs"),
        edge("b/c.rs", "b/d.rs"),
        edge("b/d.rs", "a.rs"),
    ];
    assert_eq!(found(&long).len(), 3);
}

#[test]
fn files_of_different_folders_form_no_cycle() {
    let is_root = |file: &String| file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
    let mut wrong = Vec::new();
    for root in files(".rs").into_iter().filter(is_root) {
        let modules = modules(&root[..root.rfind('/').map_or(0, |at| at + 1)]);
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, file) in &modules {
            let paths = paths(&code(&read(file)));
            let named = paths
                .iter()
                .filter_map(|path| resolve(path, module, &modules));
            let named = named.filter(|named| named != module && !named.is_empty());
            edges.insert(
                file.clone(),
                named.map(|named| modules[&named].clone()).collect(),
            );
        }
        wrong.extend(cycles(&edges));
    }
    none(wrong);
}
