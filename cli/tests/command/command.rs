//! Runs the built command and keeps its output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The output and exit status of a run of the command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `adumbra` with nothing on standard input.
pub(crate) fn adumbra<'a>(args: impl IntoIterator<Item = &'a str>) -> CommandOutput {
    adumbra_with_input(args, "")
}

/// Runs `adumbra` with this string on standard input.
pub(crate) fn adumbra_with_input<'a>(
    args: impl IntoIterator<Item = &'a str>,
    input: impl AsRef<[u8]>,
) -> CommandOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    finish(start(command.args(args)), input)
}

/// Starts a command that is written to and read by pipes.
pub(crate) fn start(command: &mut Command) -> Child {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = piped.stderr(Stdio::piped()).spawn();
    child.expect("the command starts")
}

/// Gives a command this input on standard input, and waits until it ends.
///
/// # Panics
/// If the command ends by a signal, or prints bytes that are not UTF-8.
pub(crate) fn finish(mut child: Child, input: impl AsRef<[u8]>) -> CommandOutput {
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let input = input.as_ref().to_vec();
    // A command that stops reading early closes the pipe; that is its right.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("the writer does not panic");
    let stderr = String::from_utf8(output.stderr).expect("standard error is text");
    let code = output.status.code();
    CommandOutput {
        code: code.unwrap_or_else(|| panic!("{}: {stderr}", output.status)),
        stdout: String::from_utf8(output.stdout).expect("standard output is text"),
        stderr,
    }
}

/// A file of that name and content, in a directory of the test run; gives its path.
///
/// # Panics
/// If it cannot be written.
pub(crate) fn scratch(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("the directory for tests can be written to");
    path.to_str().expect("a path that is text").to_owned()
}

/// A file or folder of the project, by its path from the root.
pub(crate) fn project(path: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    root.expect("the workspace").join(path)
}

/// What a session on a pipe gives.
pub(crate) fn session(text: &str) -> CommandOutput {
    adumbra_with_input([] as [&str; 0], text)
}

/// The output of a session that is to succeed without a word on standard error.
pub(crate) fn said(text: &str) -> String {
    let ran = session(text);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}
