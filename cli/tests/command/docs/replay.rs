//! Runs the examples of a page, and gives the page with their real output.

use super::page::{CodeBlock, blocks};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A page after its blocks were run.
pub(crate) struct ReplayedPage {
    /// The page with what was really printed.
    pub(crate) page: String,
    /// Problems of the page whatever its commands print.
    pub(crate) problems: Vec<String>,
    /// Where its commands were run, with what they wrote.
    pub(crate) folder: PathBuf,
}

/// Runs the blocks of a page, in an empty folder of its own.
pub(crate) fn replay(name: &str, page: &str) -> ReplayedPage {
    let folder = scratch(name);
    let mut text = String::new();
    let mut complaints = Vec::new();
    let mut done = 0;
    for block in blocks(page) {
        text.push_str(&page[done..block.range.start]);
        done = block.range.end;
        match body(&block, &folder) {
            Ok(body) => text.push_str(&body),
            Err(complaint) => {
                text.push_str(block.body);
                complaints.push(format!("docs/{name}:{}: {complaint}", block.line(page)));
            }
        }
    }
    text.push_str(&page[done..]);
    ReplayedPage {
        page: text,
        problems: complaints,
        folder,
    }
}

/// The content that the block should have.
fn body(block: &CodeBlock, folder: &Path) -> Result<String, String> {
    match (block.language(), block.file()) {
        ("adu" | "json", Some(file)) => {
            std::fs::write(folder.join(file), block.body).map_err(|e| format!("{file}: {e}"))?;
        }
        ("adu", None) => {
            let check = ["check", "--globals", "hit", "--globals", "picture", "-"];
            let said = adumbra(folder, &check.map(str::to_owned), block.body);
            if !said.is_empty() {
                return Err(format!("`check` says\n{said}"));
            }
        }
        ("console", None) => return console(block.body, folder),
        ("repl", None) => return session(block.body, folder),
        ("rust" | "c" | "cpp" | "cmake" | "python" | "text" | "sh" | "toml", None) => {}
        _ => return Err(format!("a block of an unknown kind, `{}`", block.info)),
    }
    Ok(block.body.to_owned())
}

/// The command as it is written where it is not installed yet.
const BUILT: [&str; 4] = ["cargo", "run", "--release", "--"];

/// A shell's commands and what they print.
fn console(body: &str, folder: &Path) -> Result<String, String> {
    let mut text = String::new();
    for (line, shown) in prompts(body, "$ ")? {
        let mut words = shlex::split(line).ok_or_else(|| format!("`{line}` has open quotes"))?;
        if words.starts_with(&BUILT.map(str::to_owned)) {
            words.splice(..BUILT.len(), ["adumbra".to_owned()]);
        }
        if words.first().map(String::as_str) != Some("adumbra") {
            return Err(format!("`{line}` is not a command of adumbra"));
        }
        let args: Vec<String> = words.drain(1..).map(in_project).collect();
        let said = adumbra(folder, &args, "");
        text.push_str(&format!("$ {line}\n{}", shown_or(shown, said)));
    }
    Ok(text)
}

/// The argument as it must be from the page's folder: a path below `examples/` is the project's, of
/// a texture as well.
fn in_project(arg: String) -> String {
    let (name, path) = match arg.split_once('=') {
        Some((name, path)) => (format!("{name}="), path),
        None => (String::new(), arg.as_str()),
    };
    if !path.starts_with("examples/") {
        return arg;
    }
    let path = crate::command::project(path);
    format!("{name}{}", path.to_str().expect("a path that is text"))
}

/// One session: everything typed goes to one process, in which each answer follows its line.
fn session(body: &str, folder: &Path) -> Result<String, String> {
    let prompts = prompts(body, "> ")?;
    let mut text = String::new();
    let mut typed = String::new();
    let mut before = 0;
    for (line, shown) in prompts {
        typed.push_str(line);
        typed.push('\n');
        // A session has no marks between its answers, so each is what one line more adds.
        let said = adumbra(folder, &["repl".to_owned()], &typed);
        let news = said.get(before..).unwrap_or_default().to_owned();
        before = said.len();
        text.push_str(&format!("> {line}\n{}", shown_or(shown, news)));
    }
    Ok(text)
}

/// Each prompted line with the lines shown below it.
fn prompts<'a>(body: &'a str, prompt: &str) -> Result<Vec<(&'a str, String)>, String> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in body.lines() {
        match (line.strip_prefix(prompt), found.last_mut()) {
            (Some(typed), _) => found.push((typed, String::new())),
            (None, Some((_, shown))) => {
                shown.push_str(line);
                shown.push('\n');
            }
            (None, None) => return Err(format!("the block must begin with `{prompt}`")),
        }
    }
    Ok(found)
}

/// The lines of the page where they match, wildcards included; else the real ones.
fn shown_or(shown: String, said: String) -> String {
    let said = said
        .lines()
        .map(str::trim_end)
        .fold(String::new(), |all, line| all + line + "\n");
    let fits = shown.lines().count() == said.lines().count()
        && shown
            .lines()
            .zip(said.lines())
            .all(|(shown, said)| fits(shown, said));
    if fits { shown } else { said }
}

/// Whether a line matches, `[..]` standing for anything.
fn fits(shown: &str, said: &str) -> bool {
    let mut parts = shown.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = said.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        last = Some(part);
    }
    rest.is_empty() || last == Some("")
}

/// The output of the command, both streams as a terminal shows them.
fn adumbra(folder: &Path, args: &[String], input: &str) -> String {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    let command = command.args(args).current_dir(folder);
    let errors = writer.try_clone().expect("a second end");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(writer)
        .stderr(errors)
        .spawn()
        .expect("the command starts");
    // The builder holds the pipe's ends, which must close for the reading below to end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let input = input.to_owned();
    // A command that stops reading early closes the pipe; that is its right.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let mut said = String::new();
    reader
        .read_to_string(&mut said)
        .expect("the output is text");
    child.wait().expect("the command ends");
    feeder.join().expect("the feeder does not panic");
    said
}

/// An empty folder for the page.
fn scratch(name: &str) -> PathBuf {
    let name = name.replace(['/', '.'], "_");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("docs")
        .join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder can be emptied");
    }
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

#[test]
fn wildcard_matches_anything_in_a_line() {
    assert!(fits("a [..] c", "a b c") && fits("a[..]", "abc") && fits("[..]", ""));
    assert!(fits("abc", "abc") && !fits("ab", "abc") && !fits("a[..]d", "abc"));
    assert!(!fits("[..]b", "abc"));
}

#[test]
fn wrong_page_is_reported() {
    let page = "```console\n$ adumbra eval 1+1\n3\n```\n```bash\n```\n```adu\nint f() { }\n```\n";
    let replayed = replay("a page of this test", page);
    assert!(
        replayed.page.contains("$ adumbra eval 1+1\nvalue  2"),
        "{}",
        replayed.page
    );
    assert_eq!(replayed.problems.len(), 2, "{:?}", replayed.problems);
}
