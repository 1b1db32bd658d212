//! Tables of the internals: each file that the table of techniques names exists and has the name
//! beside it; the table of passes is the pipeline.

use super::{none, read, root};
use adumbra_ir::passes::PIPELINE;

/// The page with the tables.
const PAGE: &str = "docs/internals/techniques.md";

/// The file and the name of each technique, from lines such as ``| inlining | `a.rs` | `name` |``.
fn techniques(page: &str) -> Vec<(&str, &str)> {
    let code = |cell: &str| -> Option<(usize, usize)> {
        let start = cell.find('`')? + 1;
        Some((start, start + cell[start..].find('`')?))
    };
    let mut found = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let [_, file, name] = cells[..] else { continue };
        if let (Some((a, b)), Some((c, d))) = (code(file), code(name)) {
            found.push((&file[a..b], &name[c..d]));
        }
    }
    found
}

#[test]
fn technique_files_contain_their_names() {
    let page = read(PAGE);
    let techniques = techniques(&page);
    assert!(techniques.len() > 40, "the tables are read");
    let mut wrong = Vec::new();
    for (file, name) in techniques {
        if !root().join(file).is_file() {
            wrong.push(format!("{file} does not exist"));
            continue;
        }
        let source = read(file);
        let mut names = source.split(|c: char| !c.is_alphanumeric() && c != '_');
        if !names.any(|word| word == name) {
            wrong.push(format!("{file} has no {name}"));
        }
    }
    none(wrong);
}

#[test]
fn table_of_passes_is_the_pipeline() {
    let page = read("docs/internals/ir-and-passes.md");
    let mut sections = page.split("\n## ");
    let section = sections.find(|section| section.starts_with("Order of the passes"));
    let lines = section.expect("the section").lines();
    let lines = lines.filter(|line| line.starts_with("| ")).skip(1);
    let expected = PIPELINE.iter().map(|pass| {
        let slot = format!("{:?}", pass.slot).to_lowercase();
        format!("| {slot} | `{}` | {} |", pass.name, pass.establishes)
    });
    assert_eq!(lines.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
