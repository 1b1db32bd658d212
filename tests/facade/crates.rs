//! Outside crates that a host compiles with the facade, by features.

use std::path::Path;
use std::process::Command;

/// Outside crates of the facade with default features, procedural macros and build scripts
/// included.
const MAX_OUTSIDE: usize = 25;

/// The crates below the facade that are not of this project, by name and version.
fn outside(features: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--package", "adumbra"])
        .args(["--edges", "normal,build", "--prefix", "none"])
        .args([
            "--no-dedupe",
            "--no-default-features",
            "--features",
            features,
        ])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let tree = String::from_utf8(output.stdout).expect("UTF-8");
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let mut found: Vec<String> = tree.lines().map(words).collect();
    found.retain(|name| !name.starts_with("adumbra"));
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether crates of those names are among them.
fn has(crates: &[String], names: &[&str]) -> Vec<bool> {
    let found: Vec<_> = crates.iter().map(|own| own.split(' ').next()).collect();
    names
        .iter()
        .map(|&name| found.contains(&Some(name)))
        .collect()
}

#[test]
fn default_features_bring_few_crates() {
    let found = outside("default");
    assert!(has(&found, &["serde_json", "syn"]).iter().all(|&is| is));
    assert!(found.len() <= MAX_OUTSIDE, "{}: {found:#?}", found.len());
}

#[test]
fn features_bring_their_own_crates_alone() {
    let names = [
        "dynasmrt",
        "object",
        "iced-x86",
        "yaxpeax-arm",
        "glam",
        "mint",
    ];
    let cases = [
        ("", [false; 6]),
        ("default", [false; 6]),
        ("native", [true, false, false, false, false, false]),
        ("objects", [true, true, false, false, false, false]),
        ("disassembly", [true, false, true, true, false, false]),
        ("glam", [false, false, false, false, true, false]),
        ("mint", [false, false, false, false, false, true]),
    ];
    for (features, expected) in cases {
        assert_eq!(has(&outside(features), &names), expected, "{features}");
    }
}
