//! The commands of `docs/verification.md` and `docs/performance.md`: a filter of `cargo test` names
//! tests that exist, so each claim is shown by something.

use super::folder;
use pulldown_cmark::{Event, Parser};
use std::path::{Path, PathBuf};

/// The tests that a command asks for: those of a target whose path contains the filter.
#[derive(Debug, PartialEq)]
struct Asked {
    /// The folder or file of the target, without its ending, from the root.
    target: PathBuf,
    filter: String,
}

/// The tests that the commands with a filter ask for; `… FILTER` is of the target of the command
/// before.
fn asked(page: &str) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let mut target = PathBuf::new();
    for event in Parser::new(page) {
        let Event::Code(code) = event else { continue };
        let rest = match (code.rsplit_once("cargo test "), code.strip_prefix("… ")) {
            (Some((_, options)), _) => {
                target = Path::new("tests").into();
                options.to_owned()
            }
            (None, Some(filter)) => filter.to_owned(),
            (None, None) => continue,
        };
        let mut package = PathBuf::new();
        let mut words = rest.split_whitespace();
        while let Some(word) = words.next() {
            match word {
                "-p" => package = words.next().map(package_folder).expect("a package"),
                "--lib" => target = package.join("src"),
                "--test" => target = suite(&package, words.next().expect("a name")),
                "--bins" => target = package.join("src"),
                "--bin" => (target, _) = (Path::new("cli/src").into(), words.next()),
                "--features" => drop(words.next()),
                option if option.starts_with('-') => {}
                filter => all.push(Asked {
                    target: target.clone(),
                    filter: filter.to_owned(),
                }),
            }
        }
    }
    all
}

/// The folder of a suite; those of the command's package need not name that.
fn suite(package: &Path, name: &str) -> PathBuf {
    let package = if name == "command" && package.as_os_str().is_empty() {
        Path::new("cli")
    } else {
        package
    };
    package.join("tests").join(name)
}

/// The folder of a package.
fn package_folder(package: &str) -> PathBuf {
    package.strip_prefix("adumbra-").unwrap_or(".").into()
}

/// The tests of a target by their paths, `module::name`.
fn tests(target: &Path) -> Vec<String> {
    let root = folder().parent().expect("the root").join(target);
    let mut files = vec![root.with_extension("rs")];
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("the folder can be read").path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    let mut tests = Vec::new();
    for file in files {
        let module = file.strip_prefix(&root).unwrap_or(Path::new(""));
        let module = module.with_extension("");
        let module: Vec<_> = module.iter().map(|part| part.to_string_lossy()).collect();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let marked = text.split("#[test]\n").skip(1);
        let names = marked.filter_map(|test| test.split_once("fn ")?.1.split('(').next());
        tests.extend(names.map(|name| format!("{}::{name}", module.join("::"))));
    }
    tests
}

#[test]
fn verification_commands_find_tests() {
    let read = |name| std::fs::read_to_string(folder().join(name)).expect("a page is text");
    let mut all = asked(&read("verification.md"));
    assert!(all.len() > 20, "{all:?}");
    all.extend(asked(&read("performance.md")));
    let is_empty = |asked: &&Asked| {
        let tests = tests(&asked.target);
        !tests.iter().any(|test| test.contains(&asked.filter))
    };
    let wrong: Vec<&Asked> = all.iter().filter(is_empty).collect();
    assert!(wrong.is_empty(), "no test is found by {wrong:#?}");
}

#[test]
fn commands_are_read_with_their_targets() {
    let page = "| a | `cargo test -p adumbra-ops --test table values -- --nocapture`, `… kinks` | `cargo test --lib` |
        | b | `cargo run`, `cargo test --no-run && /usr/bin/time -v cargo test --bin adumbra repl` | passes |";
    let asked = asked(page);
    let all = asked.iter().map(|one| (one.target.to_str(), &*one.filter));
    assert!(all.eq([
        (Some("ops/tests/table"), "values"),
        (Some("ops/tests/table"), "kinks"),
        (Some("cli/src"), "repl"),
    ]));
    let here = tests(Path::new("cli/tests/command"));
    assert!(here.contains(&"docs::verification::commands_are_read_with_their_targets".to_owned()));
}
