//! A session on a terminal: pasted and typed input.

use rexpect::session::{PtySession, spawn_command};
use std::process::Command;

/// How long a session may be silent, in milliseconds.
const TIMEOUT_MS: u64 = 20_000;

/// Terminals send these around a paste.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

fn session() -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let mut session = spawn_command(command, Some(TIMEOUT_MS)).expect("there is a terminal");
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
fn unfinished_paste_continues_with_typed_lines() {
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
