//! Dependencies between files: those of different folders form no cycle, and those of the engines
//! form none but natural ones, which are listed.
//!
//! A file depends on the file of each path of its crate (`crate::…`, `super::…`, `self::…`) that it
//! names outside of tests. A re-export is no dependency: it only gives an item a second path. Nor
//! is what a module names below itself: it is made of that.

use super::{files, is_comment, none, read};
use std::collections::{BTreeMap, BTreeSet};

/// The names of a path: `["crate", "value", "ValueView"]`.
type Names = Vec<String>;
/// A module's path in its crate, without `crate`.
type ModulePath = Vec<String>;

/// The crates whose files form no cycle either.
const ENGINES: [&str; 6] = ["aot/", "ir/", "ops/", "simd/", "src/", "vm/"];

/// The cycles of files that are natural: the parts of each define one another.
const NATURAL: &[(&str, &[&str])] = &[
    (
        "an op's tangent is computed by an op, and a field calls ops and hashes lattices",
        &[
            "ops/src/arithmetic.rs",
            "ops/src/definition.rs",
            "ops/src/field.rs",
            "ops/src/lattice.rs",
        ],
    ),
    (
        "an evaluation suspends to a state, and continues from it",
        &["ir/src/eval/evaluation.rs", "ir/src/eval/suspended.rs"],
    ),
    (
        "calls are part of the graph that the builder builds",
        &[
            "ir/src/passes/lost_gradients/build.rs",
            "ir/src/passes/lost_gradients/graph.rs",
        ],
    ),
    (
        "two passes run passes of the pipeline on what they made",
        &[
            "ir/src/passes/pipeline.rs",
            "ir/src/passes/shadow_rules.rs",
            "ir/src/passes/straighten.rs",
        ],
    ),
    (
        "the emitter of a function has its open scopes and spans, which emit by it",
        &[
            "vm/src/lower/function.rs",
            "vm/src/lower/jumps.rs",
            "vm/src/lower/spans.rs",
        ],
    ),
    (
        "the state of a point has its code and tapes, whose handlers work on the state",
        &[
            "vm/src/point/state.rs",
            "vm/src/point/tapes.rs",
            "vm/src/point/threaded_code.rs",
        ],
    ),
    (
        "a chunk has closures, quads and tapes, which work on the chunk",
        &[
            "vm/src/batch/chunk.rs",
            "vm/src/batch/closures.rs",
            "vm/src/batch/quads.rs",
            "vm/src/batch/tapes.rs",
        ],
    ),
    (
        "a compiler makes programs, and programs and gradients are compiled anew from their origin",
        &["src/compiler.rs", "src/gradient.rs", "src/program.rs"],
    ),
    (
        "a batch is evaluated in blocks, which report as the batch does",
        &["src/gradient/jump/batch.rs", "src/gradient/jump/blocks.rs"],
    ),
    (
        "a search narrows brackets, which sample by it",
        &[
            "src/gradient/jump/edge/bracket.rs",
            "src/gradient/jump/edge/search.rs",
        ],
    ),
];

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

/// The files that are in a cycle with each file that is in one.
fn cycles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<&str, BTreeSet<&str>> {
    let reached: BTreeMap<&str, _> = edges
        .keys()
        .map(|file| (file.as_str(), reachable(file, edges)))
        .collect();
    let cycle = |file: &str| {
        let to = reached[file].iter().copied();
        to.filter(|to| reached.get(to).is_some_and(|back| back.contains(file)))
            .collect::<BTreeSet<&str>>()
    };
    let all = edges.keys().map(|file| (file.as_str(), cycle(file)));
    all.filter(|(_, cycle)| !cycle.is_empty()).collect()
}

/// What is wrong with a cycle; none if it is natural, or of files of one folder beside the engines.
fn objection(cycle: &BTreeSet<&str>) -> Option<&'static str> {
    let first = cycle.first()?;
    if cycle.iter().any(|file| folder(file) != folder(first)) {
        return Some("files of several folders depend on one another");
    }
    let is_engine = ENGINES.iter().any(|engine| first.starts_with(engine));
    let is_natural = |files: &[&str]| cycle.iter().all(|file| files.contains(file));
    let natural = NATURAL.iter().any(|(_, files)| is_natural(files));
    (is_engine && !natural).then_some("these files depend on one another")
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

/// The dependencies between the files of each crate.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let is_root = |file: &String| file.ends_with("src/lib.rs") || file.ends_with("src/main.rs");
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for root in files(".rs").into_iter().filter(is_root) {
        let modules = modules(&root[..root.rfind('/').map_or(0, |at| at + 1)]);
        for (module, file) in &modules {
            let paths = paths(&code(&read(file)));
            let named = paths
                .iter()
                .filter_map(|path| resolve(path, module, &modules));
            let named = named.filter(|named| named != module && !named.is_empty());
            let named = named.map(|named| modules[&named].clone());
            edges.entry(file.clone()).or_default().extend(named);
        }
    }
    edges
}

#[test]
fn cycles_are_found() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    let found = |edges: &[(String, BTreeSet<String>)]| {
        let edges = edges.iter().cloned().collect();
        let all = cycles(&edges);
        let objections = all.values().filter_map(objection);
        objections.collect::<Vec<_>>()
    };
    let pair = |folder: &str| {
        let [a, b] = ["a.rs", "b.rs"].map(|file| format!("{folder}{file}"));
        [edge(&a, &b), edge(&b, &a)]
    };
    assert!(found(&pair("cli/src/")).is_empty());
    assert_eq!(found(&pair("vm/src/")).len(), 2);
    let line = [
        edge("vm/src/a.rs", "vm/src/b.rs"),
        edge("vm/src/b.rs", "vm/src/c.rs"),
    ];
    assert!(found(&line).is_empty());
    let long = [
        edge("cli/src/a.rs", "cli/src/b/c.rs"),
        edge("cli/src/b/c.rs", "cli/src/b/d.rs"),
        edge("cli/src/b/d.rs", "cli/src/a.rs"),
    ];
    assert_eq!(found(&long).len(), 3);
}

#[test]
fn files_form_natural_cycles_alone() {
    let edges = dependencies();
    let all = cycles(&edges);
    let wrong = all.values().filter_map(|cycle| {
        let files: Vec<&str> = cycle.iter().copied().collect();
        Some(format!("{}: {}", objection(cycle)?, files.join(", ")))
    });
    none(wrong.collect::<BTreeSet<String>>().into_iter().collect());
    // None that is listed is gone.
    let is_there = |files: &[&str]| {
        let cycle = |file: &&str| {
            all.get(file)
                .is_some_and(|cycle| cycle.len() == files.len())
        };
        files.iter().all(cycle)
    };
    let gone = NATURAL.iter().filter(|(_, files)| !is_there(files));
    none(
        gone.map(|(why, _)| format!("no cycle any more: {why}"))
            .collect(),
    );
}
