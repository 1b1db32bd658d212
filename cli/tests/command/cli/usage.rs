//! Slips on the command line: their messages, and the same exit status for the same slip in every
//! command.

use crate::command::{CommandOutput, adumbra, adumbra_with_input, scratch};

const SHADER: &str = "texture2d t; shader a(float gain = 1, out float o) { o = gain * texture2d_sample<t>(global_value<uv>).x; }";

fn ran(args: &str) -> CommandOutput {
    let file = scratch("usage.adu", SHADER);
    let out = scratch("usage.png", "");
    let args = args.replace("FILE", &file).replace("OUT", &out);
    adumbra(args.split_whitespace())
}

#[test]
fn image_globals_are_declared_in_every_command() {
    for command in [
        "check FILE",
        "info FILE",
        "emit FILE --stage ir",
        "aot FILE -o OUT",
        "run FILE",
        "image FILE -o OUT --size 4x4",
    ] {
        let ran = ran(&format!("{command} --globals picture"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
    }
    let ran = ran("run FILE --globals picture --globals hit --json");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let sample = &json["samples"][0];
    assert_eq!(sample["u"], 0.50097656, "{json}");
    assert_eq!(
        (&sample["dudx"], &sample["dudy"]),
        (&(1.0 / 512.0).into(), &0.0.into())
    );
    let ran = self::ran("check FILE");
    assert!(
        ran.stderr.contains("`--globals picture` declares it"),
        "{}",
        ran.stderr
    );
}

#[test]
fn unknown_name_is_bad_usage_in_every_command() {
    for args in [
        "run FILE --shader nope",
        "info FILE --shader nope",
        "emit FILE --stage ir --shader nope",
        "aot FILE -o OUT --shader nope",
        "image FILE -o OUT --shader nope",
        "run FILE --arg nope=1",
        "emit FILE --stage ir --arg nope=1",
        "image FILE -o OUT --arg nope=1",
        "image FILE -o OUT --output nope",
        "aot FILE -o OUT --same nope",
    ] {
        let ran = ran(&format!("{args} --globals picture"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args}");
        assert!(ran.stderr.contains("nope"), "{args}: {}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_output_is_bad_usage_in_every_command() {
    use std::fs::File;
    use std::process::Command;
    let file = scratch("unwritable.adu", SHADER);
    for args in [
        vec!["help"],
        vec!["--help"],
        vec!["run", "--help"],
        vec!["--version"],
        vec!["eval", "1"],
        vec!["info", &file, "--globals", "picture"],
    ] {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("it is there");
        let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
        let ran = command
            .args(&args)
            .stdout(full)
            .output()
            .expect("it starts");
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
        assert!(
            String::from_utf8_lossy(&ran.stderr).contains("cannot write"),
            "{args:?}"
        );
    }
    for args in [
        "emit FILE --stage bytecode -o /dev/full",
        "emit FILE --stage bytecode -o /nonexistent/x",
        "aot FILE -o /nonexistent/x.o",
        "image FILE -o /nonexistent/x.png --size 4x4",
    ] {
        assert_eq!(ran(&format!("{args} --globals picture")).code, 2, "{args}");
    }
}

#[test]
fn bad_usage_suppresses_warnings() {
    let ran = ran("run FILE -g uv=1,2 --arg nope=1");
    assert!(!ran.stderr.contains("W0514"), "{}", ran.stderr);
    assert!(self::ran("run FILE -g uv=1,2").stderr.contains("W0514"));
}

#[test]
fn unread_globals_of_eval_are_noted() {
    let ran = ran("eval u -g u=1 -g nope=2");
    assert_eq!(ran.stderr, "adumbra: nothing reads the global `nope`\n");
    assert_eq!(self::ran("eval u -g u=1").stderr, "");
}

#[test]
fn unset_globals_are_noted() {
    let ran = ran("eval uvw.x --globals hit");
    assert!(
        ran.stderr.starts_with("adumbra: no `-g` sets `uvw`"),
        "{}",
        ran.stderr
    );
    let set = self::ran("eval uvw.x --globals hit -g uvw=1,2,3:0,0,0");
    assert_eq!(set.stderr, "");
    assert_eq!(self::ran("eval uv.x --globals picture").stderr, "");
}

#[test]
fn notes_and_errors_for_programs_are_json() {
    for (args, severity) in [
        ("eval 1 -g nope=1 --json", "note"),
        (
            "run FILE --globals picture -g uw=1 --arg nope=1 --json",
            "error",
        ),
        ("run nowhere.adu --json", "error"),
        ("check nowhere.adu neither.adu --json", "error"),
    ] {
        let ran = ran(args);
        assert!(!ran.stderr.is_empty(), "{args}");
        for line in ran.stderr.lines() {
            let json: serde_json::Value = serde_json::from_str(line).expect(line);
            assert_eq!(json["severity"], severity, "{args}");
            assert!(json["message"].is_string(), "{args}");
        }
    }
}

#[test]
fn replaced_image_globals_are_noted() {
    let still = ran("image FILE -o OUT --size 4x4 -g uv=0.5,0.5").stderr;
    assert!(
        still.contains("`uv` is what `-g` says, and is the same at all pixels"),
        "{still}"
    );
    let moving = ran("image FILE -o OUT --size 4x4 -g uv=0,0:0.1,0:0,0.1").stderr;
    assert!(
        moving.contains("moves over the image by these derivatives"),
        "{moving}"
    );
}

#[test]
fn eval_reads_declarations_before_the_expression() {
    let value = |text: &str| {
        let ran = adumbra(["eval", text]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{text}");
        ran.stdout
    };
    let nine = "value  9.0\nddx    0.0\nddy    0.0\n";
    assert_eq!(value("float f(float x) { return x * x; } f(3)"), nine);
    let text =
        "struct pair { float a; float b; }; float f(pair p) { return p.a + p.b; } f(pair(4, 5))";
    assert_eq!(value(text), nine);
    let wrong = |text: &str, expected: &str| {
        let ran = adumbra(["eval", text]);
        assert_eq!(ran.code, 1, "{text}");
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("│ {text}\n")),
            "{}",
            ran.stderr
        );
    };
    wrong(
        "float f(float x) { return y; } f(2)",
        "nothing is called `y`",
    );
    wrong("float f(float x) { return x } f(2)", "a `;` is missing");
    wrong(
        "float f(float x) { return x; } g(2)",
        "no function is called `g`",
    );
    wrong("float f(float x) { return x; }", "expected an expression");
}

#[test]
fn unfinished_input_says_what_is_open() {
    for (text, expected) in [
        ("1 + /* abc\n2\n", "[E0102]"),
        ("(1 +\n2\n", "[E0106]"),
        ("1 +\n", "[E0104]"),
    ] {
        let ran = adumbra_with_input([] as [&str; 0], text);
        assert_eq!(ran.code, 1, "{text}");
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
    }
}

#[cfg(unix)]
#[test]
fn interrupted_image_ends_by_the_signal() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let slow = "shader s(out float o) { float2 p = global_value<pixel>; for (int i = 0; i < 100000; ++i) o += sin(p.x * i); }";
    let file = scratch("slow.adu", slow);
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted.png");
    let mut command = Command::new(env!("CARGO_BIN_EXE_adumbra"));
    command
        .args(["image", &file, "-o"])
        .arg(&out)
        .args(["--size", "2048x2048"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status();
    assert!(killed.expect("there is a `kill`").success());
    let ran = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.signal(), Some(2), "{said}");
    assert!(said.contains("interrupted; nothing was written"), "{said}");
    assert!(!out.exists());
}

#[test]
fn globals_named_like_inputs_are_noted() {
    let file = scratch(
        "input.adu",
        "shader s(float gain = 2, out float o) { o = gain; }",
    );
    let note = "adumbra: nothing reads the global `gain`; the input of that name is set by `--arg gain=VALUE`\n";
    let ran = adumbra(["run", &file, "-g", "gain=1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "o  2.0\n"), "{ran:?}");
    assert_eq!(ran.stderr, note);
    assert_eq!(adumbra(["run", &file, "--arg", "gain=1"]).stderr, "");
    let ran = adumbra(["image", &file, "--at", "0,0", "-g", "gain=1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, note));
    let out = format!("{file}.png");
    let ran = adumbra(["image", &file, "-o", &out, "--size", "2x2", "-g", "gain=1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, note));
}

#[test]
fn misspelt_options_of_eval_are_named() {
    for (args, option) in [
        (["eval", "--jsn", "1"], "--jsn"),
        (["eval", "--derivs", "x"], "--derivs"),
    ] {
        let ran = adumbra(args);
        assert_eq!(ran.code, 2, "{ran:?}");
        let end =
            format!("`eval` has no option `{option}`, so that was taken for the expression\n");
        assert!(ran.stderr.ends_with(&end), "{ran:?}");
    }
    let ran = adumbra(["eval", "1", "2", "--json"]);
    assert!(!ran.stderr.contains("has no option"), "{ran:?}");
}
