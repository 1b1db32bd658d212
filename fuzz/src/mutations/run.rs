//! Runs tests on copies of the sources with one mutation each.
//!
//! The copy and what is compiled of it are in `target/mutations`; the project is never written to.

use super::{SourceMutation, all, root};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that a test runs, in seconds: a mutation may keep a loop from ending.
const TIME_LIMIT: u64 = 240;

/// The most memory that a test takes, in kB.
const MEMORY_LIMIT: u64 = 8 << 20;

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    TooLong,
    NotCompiled,
}

/// Runs the mutations whose names contain one of these words, or all. Prints a line for each, and
/// returns whether each was caught.
///
/// # Errors
/// The sources cannot be copied, or a test fails without any mutation.
pub fn run(words: &[String]) -> Result<bool, String> {
    let is_chosen =
        |m: &SourceMutation| words.is_empty() || words.iter().any(|w| m.name.contains(w));
    let mutations: Vec<SourceMutation> = all()?.into_iter().filter(is_chosen).collect();
    let tree = Tree::copy().map_err(|e| format!("no copy of the sources: {e}"))?;
    let tests: BTreeSet<(&[String], &str)> = mutations
        .iter()
        .map(|m| (&m.target[..], &*m.test))
        .collect();
    for (target, test) in tests {
        let verdict = tree.test(target, test);
        if verdict != Verdict::Passed {
            return Err(format!(
                "{test} of {} without mutation: {verdict:?}",
                target.join(" ")
            ));
        }
    }
    let mut counts = BTreeMap::new();
    for mutation in &mutations {
        let begin = Instant::now();
        let verdict = tree
            .verdict(mutation)
            .map_err(|e| format!("{}: {e}", mutation.name))?;
        let word = match verdict {
            Verdict::Passed => "SURVIVED",
            Verdict::Failed | Verdict::TooLong => "caught",
            Verdict::NotCompiled => "NOT COMPILED",
        };
        *counts.entry(word).or_insert(0u32) += 1;
        println!("{word} {} ({} s)", mutation.name, begin.elapsed().as_secs());
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    println!("{} mutations: {}", mutations.len(), counts.join(", "));
    Ok(counts.len() == 1 && counts[0].ends_with("caught"))
}

/// A copy of the sources.
struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Copies the files of the work tree that are not ignored. Files that are the same stay, so
    /// that what was compiled before counts.
    fn copy() -> std::io::Result<Tree> {
        let from = root();
        let tree = Tree {
            root: from.join("target/mutations/tree"),
        };
        let list = Command::new("git")
            .arg("ls-files")
            .current_dir(&from)
            .output()?;
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let files: BTreeSet<&str> = list.lines().collect();
        for &file in &files {
            let Ok(bytes) = fs::read(from.join(file)) else {
                continue;
            };
            let to = tree.root.join(file);
            if fs::read(&to).is_ok_and(|there| there == bytes) {
                continue;
            }
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&to, bytes)?;
        }
        remove_others(&tree.root, &tree.root, &files)?;
        Ok(tree)
    }

    fn verdict(&self, mutation: &SourceMutation) -> std::io::Result<Verdict> {
        let file = self.root.join(&mutation.file);
        let text = fs::read_to_string(&file)?;
        let Some(changed) = mutation.apply(&text) else {
            return Ok(Verdict::NotCompiled);
        };
        fs::write(&file, changed)?;
        let verdict = self.test(&mutation.target, &mutation.test);
        fs::write(&file, text)?;
        Ok(verdict)
    }

    /// Compiles and runs a test.
    fn test(&self, target: &[String], test: &str) -> Verdict {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo
            .args(["test", "--no-run", "--offline", "-p"])
            .args(target);
        // What is compiled again for each mutation is compiled as fast as it can be.
        cargo.args(["--config", "profile.dev.opt-level=0"]);
        for package in ["adumbra-ir", "adumbra-simd", "adumbra-vm"] {
            let level = format!("profile.dev.package.{package}.opt-level=0");
            cargo.args(["--config", &level]);
        }
        cargo
            .args(["--config", "profile.dev.debug=false"])
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_TARGET_DIR", self.root.with_file_name("target"))
            .current_dir(&self.root);
        let Ok(output) = cargo.output() else {
            return Verdict::NotCompiled;
        };
        let lines = String::from_utf8_lossy(&output.stderr).into_owned();
        let binary = lines
            .lines()
            .rfind(|line| line.trim().starts_with("Executable"));
        let binary = binary.and_then(|line| line.rsplit_once('(')?.1.strip_suffix(')'));
        match binary {
            Some(binary) if output.status.success() => self.binary(Path::new(binary), test),
            _ => Verdict::NotCompiled,
        }
    }

    /// Runs a test of a binary, within limits.
    fn binary(&self, binary: &Path, test: &str) -> Verdict {
        let limited = format!("ulimit -v {MEMORY_LIMIT}; exec \"$0\" \"$@\"");
        let binary = self.root.join(binary);
        let args = [
            OsStr::new("-c"),
            limited.as_ref(),
            binary.as_ref(),
            test.as_ref(),
        ];
        let child = Command::new("sh")
            .args(args)
            .current_dir(&self.root)
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            return Verdict::NotCompiled;
        };
        let end = Instant::now() + Duration::from_secs(TIME_LIMIT);
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Verdict::Passed,
                Ok(None) if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Ok(None) => {
                    // It may have ended in between.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Verdict::TooLong;
                }
                _ => return Verdict::Failed,
            }
        }
    }
}

/// Removes the files of a folder that are not in the list.
fn remove_others(folder: &Path, root: &Path, files: &BTreeSet<&str>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, root, files)?;
        } else if let Ok(name) = path.strip_prefix(root)
            && !files.contains(&*name.to_string_lossy())
        {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
