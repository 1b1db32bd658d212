//! The command on a terminal: pasted and typed input, and Ctrl-C.

use rexpect::process::{Signal, WaitStatus};
use rexpect::session::{PtySession, spawn_command};
use signal_hook::consts::SIGINT;
use signal_hook::flag::register_conditional_default;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The time that a command may be silent, in milliseconds.
const TIMEOUT_MS: u64 = 20_000;

/// Around a paste, terminals send these.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// The command on a terminal of its own.
fn adumbra<'a>(args: impl IntoIterator<Item = &'a str>) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    command.args(args);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    spawn_command(command, Some(TIMEOUT_MS)).expect("there is a terminal")
}

fn session() -> PtySession {
    let mut session = adumbra([]);
    session.exp_string("Ctrl-D leaves").expect("a banner");
    session.exp_string("> ").expect("a prompt");
    session
}

fn paste(session: &mut PtySession, text: &str) {
    let [begin, end] = PASTE;
    let sent = session.send(&format!("{begin}{text}{end}\r"));
    sent.and_then(|_| session.flush()).expect("it listens");
}

#[test]
fn pasted_lines_are_evaluated_one_by_one() {
    let mut session = session();
    let text = "a = 2.0 : 1\nfloat f(float x)\n{\n    return 10 * x;\n}\nf(a)\nf(2 * a)";
    paste(&mut session, text);
    for expected in [
        "value  20.0",
        "ddx    10.0",
        "value  40.0",
        "ddx    20.0",
        "> ",
    ] {
        session.exp_string(expected).expect(expected);
    }
    session.send_line(":quit").expect("it listens");
    session.exp_eof().expect("it ends");
}

#[test]
fn unfinished_paste_goes_on_with_what_is_typed() {
    let mut session = session();
    paste(&mut session, "1 + 1\n(2 +");
    session.exp_string("value  2").expect("the first line");
    session.exp_string(". ").expect("a prompt for more");
    session
        .send("3)\r")
        .and_then(|_| session.flush())
        .expect("it listens");
    session.exp_string("value  5").expect("the second item");
    session.send_line(":quit").expect("it listens");
    session.exp_eof().expect("it ends");
}

/// The output of an endless shader after Ctrl-C, which must end the command by the signal.
fn interrupted<'a>(name: &str, args: impl IntoIterator<Item = &'a str>) -> String {
    let file = crate::command::scratch(
        name,
        "shader endless(out float o) {
            int unread = 1;
            float x = global_value<uv>.x;
            while (x < 2.0) {
                x = fract(x + 0.1);
            }
            o = x;
        }",
    );
    // Programs inherit an ignored signal, as background jobs of scripts do, but no handler.
    let is_default = Arc::new(AtomicBool::new(true));
    register_conditional_default(SIGINT, is_default).expect("a handler");
    let [command, rest @ ..] = &args.into_iter().collect::<Vec<_>>()[..] else {
        panic!("a command");
    };
    let budget = ["--globals", "picture", "--steps", "18446744073709551615"];
    let args = [*command, &*file].into_iter().chain(budget);
    let mut running = adumbra(args.chain(rest.iter().copied()));
    // The last output before the shader runs.
    running.exp_string("Help: remove it").expect("a warning");
    for _ in 0..2 {
        running.exp_string("\r\n").expect("the rest of it");
    }
    running.send_control('c').expect("a terminal");
    let output = running.exp_eof().expect("it ends");
    let ended = running.process().wait().expect("it ends");
    let by_signal = matches!(ended, WaitStatus::Signaled(_, Signal::SIGINT, _));
    assert!(by_signal, "{ended:?}");
    output
}

#[test]
fn interrupted_run_ends_by_the_signal() {
    assert_eq!(interrupted("endless-run.adu", ["run"]), "");
}

#[test]
fn interrupted_image_writes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let image = folder.path().join("endless.png");
    let image = image.to_str().expect("a path that is text");
    let output = interrupted("endless-image.adu", ["image", "-o", image]);
    // A progress bar is erased before.
    let last = output.rsplit("\x1b[2K").next();
    assert_eq!(last, Some("adumbra: interrupted; nothing was written\r\n"));
    let left = folder.path().read_dir().expect("the folder is there");
    assert_eq!(left.count(), 0);
}

#[test]
fn interrupted_trace_prints_nothing() {
    let output = interrupted("endless-at.adu", ["image", "--at", "3,4"]);
    assert_eq!(output, "adumbra: interrupted\r\n");
}
