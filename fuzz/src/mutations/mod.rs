//! Mutations of the project's own sources: small changes, each of which a named test must notice.
//!
//! `fuzz/mutations` has lists of them by subject. A mutation is a paragraph:
//!
//! ```text
//! name_of_the_mutation
//! in path/of/the/file.rs
//! fails adumbra-ir --lib start_of_a_test
//!  a line around it
//! -a line that is replaced
//! +the line in its place
//! ```
//!
//! The lines of the file, without the first character, occur in it exactly once; a test of this
//! module keeps the lists from rotting. Lines that begin with `#` are comments. Running them is a
//! campaign ([`run`]), which takes a minute each where much is compiled.
//!
//! DeMillo, Lipton and Sayward (1978), *Hints on test data selection: help for the practicing
//! programmer*, Computer, on mutation tests.

pub mod run;

use std::path::{Path, PathBuf};

/// A change of a file that a test must notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMutation {
    /// A name for it, unique in all lists.
    pub name: String,
    /// The file, from the root of the project.
    pub file: String,
    /// The package of the test, then what selects its target; for `cargo test -p`.
    pub target: Vec<String>,
    /// The start of the test's name.
    pub test: String,
    before: String,
    after: String,
}

impl SourceMutation {
    /// The file's text with the change; `None` unless the lines occur in it exactly once.
    pub fn apply(&self, text: &str) -> Option<String> {
        // Whole lines only.
        let text = format!("\n{text}");
        let mut parts = text.split(&self.before);
        let (head, tail) = (parts.next()?, parts.next()?);
        let changed = format!("{head}{}{tail}", self.after);
        parts.next().is_none().then(|| changed[1..].to_owned())
    }
}

/// The root of the project.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// All mutations, by list and in order.
///
/// # Errors
/// A list cannot be read, or the first paragraph that is none.
pub fn all() -> Result<Vec<SourceMutation>, String> {
    let folder = root().join("fuzz/mutations");
    let list = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = list.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut mutations = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|e| format!("{}: {e}", file.display()))?;
        mutations.extend(parse(&text)?);
    }
    Ok(mutations)
}

/// The mutations of a list.
///
/// # Errors
/// The first paragraph that is none.
fn parse(text: &str) -> Result<Vec<SourceMutation>, String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let paragraphs = lines.split(|line| line.is_empty());
    let paragraphs = paragraphs.filter(|lines| !lines.is_empty());
    paragraphs
        .map(|lines| paragraph(lines).ok_or_else(|| format!("no mutation: {}", lines.join("\n"))))
        .collect()
}

fn paragraph(lines: &[&str]) -> Option<SourceMutation> {
    let [name, file, fails, change @ ..] = lines else {
        return None;
    };
    let mut target: Vec<String> = fails
        .strip_prefix("fails ")?
        .split(' ')
        .map(str::to_owned)
        .collect();
    let test = target.pop()?;
    let (mut before, mut after) = ("\n".to_owned(), "\n".to_owned());
    for line in change {
        let (kind, line) = line.split_at_checked(1)?;
        let sides: &mut [&mut String] = match kind {
            " " => &mut [&mut before, &mut after],
            "-" => &mut [&mut before],
            "+" => &mut [&mut after],
            _ => return None,
        };
        for side in sides {
            side.push_str(line);
            side.push('\n');
        }
    }
    Some(SourceMutation {
        name: (*name).to_owned(),
        file: file.strip_prefix("in ")?.to_owned(),
        target,
        test,
        before,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LIST: &str = "# A list.\n\nwrong_sum\nin a.rs\nfails p --lib sums\n x\n-a + b\n+a - b\n";

    #[test]
    fn mutation_replaces_whole_lines_once() {
        let [mutation] = &parse(LIST).expect("a list")[..] else {
            panic!("one mutation");
        };
        let file = "x\na + b\ny\n";
        assert_eq!(mutation.apply(file).as_deref(), Some("x\na - b\ny\n"));
        assert_eq!(mutation.apply("x\n a + b\ny\n"), None);
        assert_eq!(mutation.apply(&file.repeat(2)), None);
        assert_eq!(
            (&mutation.target[..], &*mutation.test),
            (&["p".to_owned(), "--lib".to_owned()][..], "sums")
        );
        assert!(parse("wrong_sum\nin a.rs\n-a + b\n").is_err());
    }

    #[test]
    fn every_mutation_fits_its_file() {
        let mutations = all().expect("lists");
        let mut names = BTreeSet::new();
        for mutation in &mutations {
            let name = &mutation.name;
            assert!(names.insert(name), "{name} twice");
            assert_ne!(mutation.before, mutation.after, "{name}");
            let text = std::fs::read_to_string(root().join(&mutation.file));
            let text = text.unwrap_or_else(|e| panic!("{name}: {}: {e}", mutation.file));
            assert!(
                mutation.apply(&text).is_some(),
                "{name}: its lines do not occur in {} exactly once",
                mutation.file
            );
        }
        assert!(names.len() >= 60, "{} mutations", names.len());
    }
}
