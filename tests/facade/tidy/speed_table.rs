//! The README's table of speed repeats results of the page that a command writes.

use super::read;

/// The columns of a line of a table.
fn columns(line: &str) -> Vec<&str> {
    let columns = line.trim_matches('|').split('|');
    columns.map(str::trim).collect()
}

/// The last ratio of a result.
fn ratio<'p>(page: &'p str, name: &str) -> &'p str {
    let start = format!("| `{name}`");
    let line = page.lines().find(|line| line.starts_with(&start));
    columns(line.unwrap_or_else(|| panic!("there is no {name}")))[2]
}

#[test]
fn readme_has_the_results() {
    let (readme, page) = (read("README.md"), read("docs/performance.md"));
    let mut sections = readme.split("\n## ");
    let section = sections.find(|section| section.starts_with("Speed\n"));
    let lines = section.expect("the section").lines();
    let lines = lines.filter(|line| line.starts_with('|')).skip(2);
    let shown: Vec<String> = lines.map(|line| columns(line)[2..].join(" ")).collect();
    let mut expected = Vec::new();
    for program in ["w1", "w2", "w3", "w4"] {
        for what in ["value", "dual"] {
            let of = |engine| ratio(&page, &format!("{program}_avx2_{what}_{engine}_over_c"));
            expected.push(["batch", "native"].map(of).join(" "));
        }
    }
    assert_eq!(shown, expected);
}
