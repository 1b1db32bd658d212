//! Hostile input to the command: it ends by itself, soon, with 0 or 1, and reports each failure.
//!
//! Every run has a deadline, and on Linux a limit of memory. A run beyond one ends by a signal,
//! which fails the test.

use crate::command::{CommandOutput, scratch};
use std::process::{Child, Command};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Bytes that a run may have mapped, resident or not: the limit of `docs/verification.md`. A debug
/// build needs a quarter of it here.
const SPACE: u64 = 1_000_000_000;

/// The time after which a run is killed. It should take a second; a busy machine and a debug build
/// make more of that, and only an endless run a minute.
const DEADLINE: Duration = Duration::from_secs(60);

/// The command, within [`SPACE`]. A shell sets the limit, since that is `unsafe` from here.
fn limited() -> Command {
    let adumbra = env!("CARGO_BIN_EXE_adumbra");
    if !cfg!(target_os = "linux") {
        return Command::new(adumbra);
    }
    let script = format!("ulimit -v {} && exec \"$@\"", SPACE / 1024);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", adumbra]);
    command
}

/// Waits for a child, which is killed at the [`DEADLINE`].
fn in_time<T>(child: Child, wait: impl FnOnce(Child) -> T) -> T {
    let id = child.id().to_string();
    let (_running, ended) = channel::<()>();
    std::thread::spawn(move || {
        if ended.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("killed after {DEADLINE:?}");
            let _ = Command::new("kill").args(["-KILL", &id]).status();
        }
    });
    wait(child)
}

fn adumbra<'a>(args: impl IntoIterator<Item = &'a str>) -> CommandOutput {
    adumbra_with_input(args, "")
}

fn adumbra_with_input<'a>(
    args: impl IntoIterator<Item = &'a str>,
    input: impl AsRef<[u8]>,
) -> CommandOutput {
    let child = crate::command::start(limited().args(args));
    in_time(child, |child| crate::command::finish(child, input))
}

/// Ends in order: not by a panic (101), not by a signal (no code at all).
fn ends_in_order(ran: &CommandOutput) {
    assert!(ran.code == 0 || ran.code == 1, "{}", ran.code);
    if ran.code == 1 {
        assert!(ran.stderr.contains("Error"), "{}", ran.stderr);
        assert!(ran.stderr.len() < 100_000, "{} bytes", ran.stderr.len());
    }
}

fn run(name: &str, text: impl AsRef<[u8]>) -> CommandOutput {
    let file = scratch(name, text);
    let ran = adumbra(["run", &file]);
    ends_in_order(&ran);
    ran
}

#[test]
fn deep_parentheses_end_in_order() {
    let text = format!(
        "shader s(out float o) {{ o = {}1{}; }}",
        "(".repeat(100_000),
        ")".repeat(100_000)
    );
    assert_eq!(run("parentheses.adu", &text).code, 1);
    let open = format!("shader s(out float o) {{ o = {}", "(".repeat(100_000));
    assert_eq!(run("open.adu", &open).code, 1);
    ends_in_order(&adumbra_with_input(["repl"], "(".repeat(100_000)));
}

#[test]
fn million_terms_end_in_order() {
    let sum = vec!["1"; 1_000_000].join("+");
    let ran = run(
        "terms.adu",
        format!("shader s(out float o) {{ o = {sum}; }}"),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "o  1000000.0\n"));
    ends_in_order(&adumbra_with_input(["repl"], format!("{sum}\n")));
}

#[test]
fn random_bytes_are_refused() {
    let mut bytes = vec![0; 1 << 20];
    fastrand::Rng::with_seed(7).fill(&mut bytes);
    assert_eq!(run("random.adu", &bytes).code, 1);
    let ascii: Vec<u8> = bytes.iter().map(|b| b % 96 + 32).collect();
    assert_eq!(run("random_ascii.adu", &ascii).code, 1);
    let file = scratch("random_check.adu", &bytes);
    let ran = adumbra(["check", "--json", &file]);
    assert_eq!(ran.code, 1);
    let diagnostic: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(diagnostic["code"], "E0110");
    ends_in_order(&adumbra_with_input(["repl"], &ascii));
}

#[test]
fn large_arrays_end_in_order() {
    run(
        "array.adu",
        "shader s(out float o) { float w[1000000]; w[999999] = 1; o = w[999999]; }",
    );
    run(
        "arrays.adu",
        "shader s(out float o) { float w[2000000000]; o = w[7]; }",
    );
    run(
        "file_array.adu",
        "const float w[1000000]; shader s(out float o) { o = w[7]; }",
    );
}

#[test]
fn endless_loops_and_recursion_are_stopped() {
    assert_eq!(
        run(
            "loop.adu",
            "shader s(out int o) { o = 1; while (true) { o += 1; } }"
        )
        .code,
        1
    );
    assert_eq!(
        run("for.adu", "shader s(out int o) { for (;;) {} o = 1; }").code,
        1
    );
    assert_eq!(
        run(
            "recursion.adu",
            "int f(int n) { return f(n + 1); } shader s(out int o) { o = f(0); }"
        )
        .code,
        1
    );
    let mutual = "int g(int n); int f(int n) { return g(n) + 1; } int g(int n) { return f(n) + 1; } shader s(out int o) { o = f(0); }";
    assert_eq!(run("mutual.adu", mutual).code, 1);
}

/// What a shader gives that takes the gradient by x, at 0.3, of a million iterations, by each
/// engine.
fn gradients_of_a_million(name: &str, body: &str) -> [CommandOutput; 4] {
    let text = format!(
        "[Differentiable] float f(float x) {{ {body} }}
         shader s(out float o) {{ var p = diffPair(0.3); bwd_diff(f)(p, 1.0); o = p.d; }}"
    );
    let file = scratch(name, text);
    ["reference", "point", "batch", "native"]
        .map(|engine| adumbra(["run", &file, "--engine", engine, "--steps", "10000000"]))
}

#[test]
fn million_iterations_have_a_gradient_or_the_same_limit() {
    let one = "float a = x; for (int i = 0; i < 1000000; ++i) a = sin(a) + x * 0.5; return a;";
    for ran in gradients_of_a_million("million.adu", one) {
        let gradient = ran.stdout.trim().strip_prefix("o  ");
        let gradient: f64 = gradient.expect("o alone").parse().expect("a number");
        // It is 0.5/(1 − cos a) where a = sin a + 0.15.
        assert!((gradient - 1.126_356_2).abs() < 1e-6, "{ran:?}");
    }
    let several = "float a = x, b = 2 * x, c = 3 * x, d = 4 * x, e = 5 * x;
        for (int i = 0; i < 1000000; ++i) {
            a = sin(a); b = sin(b); c = sin(c); d = sin(d); e = sin(e);
        }
        return a + b + c + d + e;";
    for ran in gradients_of_a_million("millions.adu", several) {
        assert!(ran.code == 1 && ran.stderr.contains("E0817"), "{ran:?}");
    }
}

#[test]
fn exponential_calls_end_in_order() {
    let mut text = "float f0(float x) { return sin(x); }\n".to_owned();
    for i in 1..40 {
        let j = i - 1;
        text +=
            &format!("float f{i}(float x) {{ return f{j}(x) + f{j}(x * 0.5) * f{j}(x + 1.0); }}\n");
    }
    text += "shader s(out float o) { o = f39(0.5); }\n";
    run("tower.adu", &text);
    let file = scratch("tower_derivs.adu", &text);
    ends_in_order(&adumbra(["run", &file, "--derivs"]));
}

#[test]
fn nonfinite_globals_end_in_order() {
    let text = "shader s(out float o, out int n) { float x = global_value<x>; o = sin(x) + pow(x, x) / x; n = (int)x; }";
    let file = scratch("nan.adu", text);
    for x in ["nan", "inf", "-inf", "1e-45", "-0", "3.4028235e38"] {
        let ran = adumbra([
            "run",
            &file,
            "--derivs",
            "--json",
            "-g",
            &format!("x={x}:{x}:{x}"),
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok());
    }
}

#[test]
fn closure_doubled_by_a_loop_ends() {
    let text = "shader s(out closure c) { c = make_closure<glow>(1.0); for (int i = 0; i < 90; i += 1) c = c + c; }";
    let ran = run("closure.adu", text);
    assert!(ran.stdout.contains("more than"), "{ran:?}");
    let file = scratch("closure_json.adu", text);
    let ran = adumbra(["run", &file, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let error = &json["outputs"]["c"]["value"]["error"];
    assert_eq!(error, "a closure of more than 65536 nodes");
}

#[test]
fn closure_scaled_by_a_loop_ends() {
    let text = "shader s(out closure c) { c = make_closure<glow>(1.0); for (int i = 0; i < 60000; i += 1) c = 0.5 * c; }";
    let ran = run("scaled.adu", text);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.ends_with("0.5 * glow(1.0)\n"));
}

#[test]
fn many_errors_of_long_names_end() {
    let name = "n".repeat(20_000);
    let uses = "o = t; o = t.q; half a; ".repeat(100_000);
    let text =
        format!("struct {name} {{ float a; }}; shader s(out float o) {{ {name} t; {uses} }}");
    assert_eq!(run("long_name.adu", text).code, 1);
}

#[test]
fn loop_with_large_carried_values_ends() {
    const COUNT: usize = 100_000;
    let declared: String = (0..COUNT).map(|i| format!("int v{i} = 0; ")).collect();
    let moved: String = (1..COUNT)
        .rev()
        .map(|i| format!("v{i} = v{}; ", i - 1))
        .collect();
    let last = COUNT - 1;
    let text = format!(
        "shader s(out float o) {{ {declared} for (int i = 0; i < 9; ++i) {{ {moved} v0 = 1; if (v{last} > 0) break; }} o = v{last}; }}"
    );
    assert_eq!(run("carried.adu", text).code, 0);
}

#[test]
fn calls_with_huge_arrays_end_in_order() {
    let function = |i: u32| {
        let inner = i
            .checked_sub(1)
            .map_or("x".to_owned(), |inner| format!("f{inner}(x)"));
        format!("float f{i}(float x) {{ float w[262144]; w[int(x)] = x; return w[1] + {inner}; }} ")
    };
    let functions: String = (0..62).map(function).collect();
    let text =
        format!("{functions} shader s(out color c) {{ c = color(f61(global_value<uv>.x)); }}");
    let file = scratch("huge_arrays.adu", text);
    let image = scratch("huge_arrays.png", "");
    let ran = adumbra([
        "image",
        &file,
        "-o",
        &image,
        "--size",
        "8x8",
        "--threads",
        "4",
    ]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("64 of 64 pixels were stopped"),
        "{ran:?}"
    );
}

#[cfg(unix)]
#[test]
fn endless_file_is_refused() {
    let ran = adumbra(["check", "/dev/zero"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("it is not a file"), "{ran:?}");
}

#[test]
fn broken_bytecode_is_refused() {
    let source = scratch(
        "whole.adu",
        "float f(float x) { float w[4]; w[1] = x; return w[1] * sin(x); } shader s(out float o) { o = f(2.0) + f(3.0); }",
    );
    let whole = scratch("whole.adb", "");
    let ran = adumbra(["emit", &source, "--stage", "bytecode", "-o", &whole]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let bytes = std::fs::read(&whole).unwrap();
    for length in (4..bytes.len()).step_by(bytes.len() / 12) {
        assert_eq!(run("truncated.adb", &bytes[..length]).code, 1);
    }
    for bit in (32..8 * bytes.len()).step_by(8 * bytes.len() / 25) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(run("flipped.adb", &flipped).code, 1, "bit {bit}");
    }
}

#[test]
fn printed_strings_never_control_the_terminal() {
    let ran = run(
        "escape.adu",
        "shader \x1b[2Js(out float o) { o = \"\x1b]0;title\x07\"; }",
    );
    assert!(
        !ran.stderr.contains('\x1b') && !ran.stderr.contains('\x07'),
        "{ran:?}"
    );
}

/// The reader of the output may close it at any time.
#[cfg(unix)]
#[test]
fn closed_output_is_no_panic() {
    use std::io::Write;
    let mut child = crate::command::start(limited().arg("repl"));
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let output = in_time(child, |child| {
        // The command may be gone before everything is written.
        let _ = stdin.write_all("u\n".repeat(10_000).as_bytes());
        drop(stdin);
        child.wait_with_output().unwrap()
    });
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), &[][..])
    );
}
