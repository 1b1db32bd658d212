//! The REPL on a pipe: the output and exit status of sessions.

use crate::command::{adumbra, adumbra_with_input, said, scratch, session};

const QUARTER: &str = "value  0.25\nddx    0.001953125\nddy    0.0\n";

#[test]
fn fresh_session_has_u_and_v() {
    assert_eq!(said("u"), QUARTER);
    assert_eq!(said("v\n"), "value  0.5\nddx    0.0\nddy    0.001953125\n");
    assert_eq!(said("u;"), QUARTER);
    assert_eq!(said("u\r\n:quit\r\n"), QUARTER);
    assert_eq!(adumbra_with_input(["repl"], "u").stdout, QUARTER);
}

/// What is defined anew replaces what it was, however often.
#[test]
fn thousand_versions_of_a_function_leave_one() {
    let mut typed: String = (0..1_100)
        .map(|i| format!("float version(float x) {{ return x + {i}.0; }}\n"))
        .collect();
    typed.push_str("version(0.5)\n");
    assert_eq!(said(&typed), "value  1099.5\nddx    0.0\nddy    0.0\n");
}

#[test]
fn empty_input_prints_nothing() {
    for text in [
        "",
        "\n\n  \n",
        "// only a remark\n",
        "/* over\n two lines */\n",
        ";\n",
    ] {
        assert_eq!(said(text), "", "{text:?}");
    }
}

#[test]
fn variables_keep_value_and_derivatives() {
    assert_eq!(said("t = 0.25 : 1.0/512 : 0\nt"), QUARTER);
    assert_eq!(
        said("w = 2 * u + v\nw"),
        "value  1.0\nddx    0.00390625\nddy    0.001953125\n"
    );
    assert_eq!(said("u = 3\nu"), "value  3.0\nddx    0.0\nddy    0.0\n");
    assert_eq!(
        said("p = float2(u, v) : float2(1, 0) : float2(0, 1)\np.y"),
        "value  0.5\nddx    0.0\nddy    1.0\n"
    );
    // Parts that are left out are zero, of whatever type.
    assert_eq!(
        said("p = float2(u, v) : float2(1, 2)\np"),
        "value  (0.25, 0.5)\nddx    (1.0, 2.0)\nddy    (0.0, 0.0)\n"
    );
    // Another type replaces the variable.
    assert_eq!(said("n = 3; n + 1"), "value  4\n");
    assert_eq!(
        said("n = 3; n = float2(1, 2); n"),
        "value  (1.0, 2.0)\nddx    (0.0, 0.0)\nddy    (0.0, 0.0)\n"
    );
    assert_eq!(
        said("float x = 1; x += u; x *= 2; x"),
        "value  2.5\nddx    0.00390625\nddy    0.0\n"
    );
}

#[test]
fn missing_derivatives_of_variable_are_warned_about() {
    for text in ["w = 0.5\nddx(w)", "w = 0.5 : 1\nw = 2\nddx(sin(w))"] {
        let ran = session(text);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "value  0.0\n"));
        assert!(ran.stderr.contains("[W0514]"), "{}", ran.stderr);
        assert!(ran.stderr.contains("`name = value : ddx : ddy`"));
    }
    let ran = adumbra_with_input(["-g", "w=1"], "ddx(w)");
    assert!(ran.stderr.contains("[W0514]"), "{}", ran.stderr);
    assert_eq!(said("w = 0.5 : 0\nddx(w)"), "value  0.0\n");
    assert_eq!(
        said("w = 2 * v\nddx(w)\nn = 3\nn"),
        "value  0.0\nvalue  3\n"
    );
}

#[test]
fn reports_quote_typed_source_without_trailing_blanks() {
    let ran =
        session("a = 1; const float k = foo(2)\nconst float w = 1.0\nfloat w() { return x; }");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let quotes = |text: &str| lines.iter().any(|line| line.ends_with(text));
    assert!(quotes("│ a = 1; const float k = foo(2)"), "{}", ran.stderr);
    let blank = lines.iter().find(|line| line.ends_with(' '));
    assert_eq!(blank, None, "{}", ran.stderr);
}

#[test]
fn underscore_is_the_last_result() {
    assert_eq!(
        said("u\n_ + _"),
        format!("{QUARTER}value  0.5\nddx    0.00390625\nddy    0.0\n")
    );
}

#[test]
fn multiline_definitions_can_be_redefined() {
    let text =
        "float f(float x)\n{\n    return 2 * x;\n}\nf(u)\nfloat f(float x) { return 4 * x; }\nf(u)";
    assert_eq!(
        said(text),
        "value  0.5\nddx    0.00390625\nddy    0.0\nvalue  1.0\nddx    0.0078125\nddy    0.0\n"
    );
    let text = "struct s { float a; };\nfloat g() { s x; x.a = 3; return x.a; }\ng()";
    assert_eq!(said(text), "value  3.0\nddx    0.0\nddy    0.0\n");
    // A declaration that others still need in its old form stays.
    let ran = session(
        "struct s { float a; };\nfloat g() { s x; x.a = 3; return x.a; }\nstruct s { float b; };\ng()",
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("value  3.0"), "{ran:?}");
}

#[test]
fn expression_continues_over_lines() {
    assert_eq!(
        said("(u +\n\n u)"),
        "value  0.5\nddx    0.00390625\nddy    0.0\n"
    );
    assert_eq!(
        said("u +\nu"),
        "value  0.5\nddx    0.00390625\nddy    0.0\n"
    );
}

#[test]
fn unfinished_item_can_always_be_left() {
    for open in ["bad +\n\n", "(1\n\n:help sin\n", "float f() {\n:help sin\n"] {
        let ran = session(&format!("{open}u\n"));
        assert_eq!(ran.code, 1, "{open}: {ran:?}");
        assert!(ran.stdout.ends_with(QUARTER), "{open}: {ran:?}");
        assert_eq!(
            ran.stdout.contains("sin(t)"),
            open.contains("help"),
            "{ran:?}"
        );
    }
}

#[test]
fn words_of_other_repls_name_the_command() {
    for (word, fix) in [
        ("quit", "`:quit`"),
        ("exit()", "`:quit`"),
        ("help", "`:help`"),
        ("?", "`:help`"),
        ("help sin", "`:help sin`"),
    ] {
        let ran = session(word);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{word}: {ran:?}");
        assert!(ran.stderr.contains(fix), "{word}: {ran:?}");
    }
    assert_eq!(said("exit = 0.25 : 1.0/512 : 0\nexit"), QUARTER);
}

#[test]
fn help_shows_codes_and_declarations() {
    let page = said(":help e0205");
    assert!(
        page.starts_with("# E0205: a global that the host does not have\n"),
        "{page}"
    );
    assert_eq!(
        said("float half_of(float x, int n = 2) { return x / n; }\n:help half_of"),
        "float half_of(float x, int n = 2)\n"
    );
}

#[test]
fn errors_set_the_status_of_a_session() {
    for wrong in [
        "nope",
        "1 + )",
        "u = )",
        "float f() { return nope; }",
        ":nosuch",
        ":help nosuch",
        ":load no/such/file",
    ] {
        let ran = session(&format!("{wrong}\nu\n"));
        assert_eq!(ran.code, 1, "{wrong}: {ran:?}");
        assert!(ran.stdout.ends_with(QUARTER), "{wrong}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    let ran = session("float f(float x) {\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("[E0106]"), "{ran:?}");
    let ran = adumbra_with_input([] as [&str; 0], b"\xff\xfe\nu\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, QUARTER), "{ran:?}");
}

#[test]
fn faults_are_shown_and_a_stopped_point_fails() {
    let ran = session("n = 0\n7 / n\n");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "value  0\n"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("W0802"), "{ran:?}");
    let ran = session("int f() { while (true) {} return 1; }\nf()\nu\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, QUARTER), "{ran:?}");
    assert!(ran.stderr.contains("E0811"), "{ran:?}");
}

#[test]
fn derivative_prints_no_derivatives() {
    assert_eq!(said("ddx(u * u)"), "value  0.0009765625\n");
}

#[test]
fn help_prints_op_definitions() {
    let sine = said(":help sin");
    assert!(sine.contains("sin(t)") && sine.contains("cos(t)"), "{sine}");
    let all = said(":help");
    for word in [":type EXPR", ":fd EXPR", ":quit", "smoothstep"] {
        assert!(all.contains(word), "{word} in {all}");
    }
    assert!(said(":help :fd").contains("central differences"));
    assert!(said(":help dot").contains("float dot(float3 a, float3 b)"));
    assert!(said(":help ddx").contains("along x"));
    let ran = session(":help sinn");
    assert!(ran.stderr.contains("did you mean `sin`"), "{ran:?}");
    let ran = session(":hlep");
    assert!(ran.stderr.contains("did you mean `:help`"), "{ran:?}");
}

#[test]
fn commands_show_types_stages_and_variables() {
    assert_eq!(said(":type float3(u, v, 0)"), "float3\n");
    assert_eq!(said(":type 1 < 2"), "bool\n");
    assert!(said(":demand sin(u)").contains("xy") || said(":demand sin(u)").contains(" x"));
    assert!(said(":ir sin(u)").contains("sin"));
    assert!(said(":bytecode sin(u)").contains("sin"));
    assert_eq!(
        said("sin(u)\n:ir").split_once("\n").unwrap().0,
        said("sin(u)").split_once("\n").unwrap().0
    );
    assert_eq!(
        said(":globals"),
        "name  type   value  ddx          ddy\nu     float  0.25   0.001953125  0.0\nv     float  0.5    0.0          0.001953125\n"
    );
    assert!(said(":time sin(u)").contains("ns"));
}

#[test]
fn diff_compares_derivatives_with_differences() {
    let table = said(":fd sin(8 * u) * v");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["here", "differences", "apart"]);
    for (row, label) in rows[1..].iter().zip(["value", "ddx", "ddy"]) {
        assert_eq!(row[0], label);
        let [here, slow] = [row[1], row[2]].map(|x| x.parse::<f64>().unwrap());
        assert!((here - slow).abs() < 1e-6 * slow.abs(), "{table}");
    }
    assert!(said("x = 0.0 : 1 : 0\n:fd abs(x)").contains("kink"));
    assert!(said(":fd float2(u, v)").contains("ddy.y"));
}

#[test]
fn load_and_reset_change_the_scope() {
    let file = scratch("session.adu", "float thrice(float x) { return 3 * x; }");
    let ran = adumbra_with_input(["--with", &file], "thrice(u)");
    assert_eq!(
        ran.stdout, "value  0.75\nddx    0.005859375\nddy    0.0\n",
        "{ran:?}"
    );
    let ran = session(&format!(":load {file}\nthrice(u)\n:reset\nthrice(u)\n"));
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stdout, "value  0.75\nddx    0.005859375\nddy    0.0\n",
        "{ran:?}"
    );
    let again = said(&format!(":load {file}\n:load {file}\nthrice(1)"));
    assert_eq!(again, "value  3.0\nddx    0.0\nddy    0.0\n");
    assert_eq!(said("u = 7\n:reset\nu"), QUARTER);
    let ran = session("u = 7\n:reset u\nu + 0\n:quit now\nu + 1");
    assert!(
        ran.stderr.contains(":reset needs nothing after it"),
        "{ran:?}"
    );
    assert!(
        ran.stdout.contains("7.0") && ran.stdout.contains("8.0"),
        "{ran:?}"
    );
    assert_eq!(said("u\n:quit\nnope\n"), QUARTER);
}

#[test]
fn options_reach_the_session() {
    let ran = adumbra_with_input(["-g", "k=2:1:0"], "k * k");
    assert_eq!(
        ran.stdout, "value  4.0\nddx    4.0\nddy    0.0\n",
        "{ran:?}"
    );
    let ran = adumbra_with_input(["repl", "--engine", "reference"], "u");
    assert_eq!(ran.stdout, QUARTER);
    let ran = adumbra(["--with", "no/such/file.adu"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn session_declares_textures_without_last_semicolon() {
    let white = "value  (1.0, 1.0, 1.0)\nddx    (0.0, 0.0, 0.0)\nddy    (0.0, 0.0, 0.0)\n";
    assert_eq!(said("texture2d wood\ntexture2d_sample<wood>(u, v)"), white);
    let text = "struct s { float a; }\nfloat g() { s x; x.a = 2; return x.a; }; g()";
    assert_eq!(said(text), "value  2.0\nddx    0.0\nddy    0.0\n");
    assert_eq!(said("q = 4 : 1\nq"), "value  4.0\nddx    1.0\nddy    0.0\n");
}

#[test]
fn session_keeps_matrices_with_shadows() {
    let text = "x = 2 : 1\nm = float2x2(x, 0, 3, 4)\nm[0] = m[0] * x\nm\nmul(m, float2(1, 1))";
    assert_eq!(
        said(text),
        "value  [(4.0, 0.0), (3.0, 4.0)]\nddx    [(4.0, 0.0), (0.0, 0.0)]\nddy    [(0.0, 0.0), (0.0, 0.0)]\n\
         value  (4.0, 7.0)\nddx    (4.0, 0.0)\nddy    (0.0, 0.0)\n"
    );
}

#[test]
fn values_a_session_cannot_keep_are_refused() {
    for text in ["struct s { float a; }\ns x\nu", "float w[3]\nu"] {
        let ran = session(text);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, QUARTER), "{ran:?}");
        assert!(ran.stderr.contains("a session keeps"), "{ran:?}");
    }
}

#[test]
fn session_sources_are_bounded() {
    let mut text = String::new();
    for i in 0..1_001 {
        text += &format!("int f{i}() {{ return 1; }}\n");
    }
    let ran = session(&text);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(ran.stderr.matches("sources in scope").count(), 1, "{ran:?}");
}

#[test]
fn plot_shows_value_derivatives_and_ranges() {
    let plot = said(":plot u * u for u in 0..1");
    let lines: Vec<&str> = plot.lines().collect();
    // The value rises from 0 to 1; so does its derivative, by a pixel's share; along y nothing
    // changes.
    assert_eq!(lines[0], "value");
    assert!(lines[1].trim_start().starts_with("1.0 ┤"), "{plot}");
    assert!(lines[6].trim_start().starts_with("0.0 ┤⣀⣀"), "{plot}");
    assert!(lines[1].ends_with('⠉'), "{plot}");
    assert_eq!(lines[7], "ddx");
    assert!(lines[8].starts_with("  0.00390625 ┤"), "{plot}");
    assert_eq!(
        lines[14..],
        ["ddy is 0 everywhere", "for u from 0.0 to 1.0"]
    );
    // The axes are in the same column.
    let axis = |line: &str| line.chars().position(|c| c == '┤');
    assert_eq!(axis(lines[1]), axis(lines[8]));
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{plot}"
    );
    assert!(!plot.contains('\x1b'), "{plot}");
    assert_eq!(said(":plot u * u"), plot);
    assert_eq!(
        said("u * u\n:plot for u in 0..1")
            .lines()
            .skip(3)
            .collect::<Vec<_>>(),
        lines
    );
}

#[test]
fn plots_take_any_variable_component_and_range() {
    // A variable that the session lacks changes by 1 along x.
    let plot = said(":plot float2(t, 2 * t) for t in -1..1 + 1");
    assert!(plot.contains(".x -1.0 … 2.0  .y -2.0 … 4.0\n"), "{plot}");
    assert!(plot.contains(".x 1.0 … 1.0  .y 2.0 … 2.0\n"), "{plot}");
    assert!(plot.contains("for t from -1.0 to 2.0"), "{plot}");
    // Values that are not finite leave gaps; ints and derivatives have no derivatives of their own.
    let plot = said(":plot 1 / t for t in 0..1");
    assert!(plot.contains("of 124 values are not finite"), "{plot}");
    let plot = said(":plot log(t) for t in -2..-1");
    assert!(plot.contains("value\n  nowhere finite\n"), "{plot}");
    let plot = said(":plot (int)(4 * u)");
    assert!(
        plot.starts_with("value\n  4.0 ┤") && !plot.contains("ddx"),
        "{plot}"
    );
    assert!(!said(":plot ddx(u * u)").contains("ddy"));
    assert_eq!(said(":plot 3.0 for t in 0..1").matches("3.0 ┤").count(), 1);
    assert_eq!(
        said("k = 2 : 1 : 0\n:plot k * t for t in 0..1\nk")
            .lines()
            .last(),
        Some("ddy    0.0")
    );
}

#[test]
fn impossible_plots_say_why() {
    for (text, why) in [
        (":plot", ":plot needs an expression"),
        (
            ":plot u for u in 0",
            ":plot needs an expression, and a variable",
        ),
        (":plot u for u in 1..1", "is empty"),
        (":plot u for u in 0..1/0.0", "no end of a range"),
        (":plot u for u in 0..nosuch", "nosuch"),
        (":plot nosuch", "nosuch"),
        (":plot make_closure<glow>(u)", "only numbers and vectors"),
        ("n = 3\n:plot n for n in 0..1", "plots go along floats"),
        ("int f() { while (true) {} return 1; }\n:plot f()", "E0811"),
    ] {
        let ran = session(text);
        assert_eq!(ran.code, 1, "{text}: {ran:?}");
        assert!(ran.stderr.contains(why), "{text}: {ran:?}");
    }
    // A fault that does not stop the point is reported once.
    let ran = session("n = 0\n:plot u + 7 / n");
    assert_eq!(
        (ran.code, ran.stderr.matches("W0802").count()),
        (0, 1),
        "{ran:?}"
    );
}

#[test]
fn ir_is_shown_after_each_pass() {
    let folded = said(":ir --after fold u * (1.0 + 2.0)");
    let optimised = said(":ir --after dce u * (1.0 + 2.0)");
    assert!(
        folded.contains("const 1.0") && folded.contains("const 3.0"),
        "{folded}"
    );
    assert!(!optimised.contains("const 1.0"), "{optimised}");
    assert_eq!(
        said("u * u\n:ir --after lanes").lines().last(),
        said(":ir u * u").lines().last()
    );
    let square = "[Differentiable] float square(float x) { return x * x; }\n";
    let expanded = ":ir --after differentiate fwd_diff(square)(diffPair(u, 1.0)).d";
    let expanded = said(&format!("{square}{expanded}"));
    assert!(expanded.contains("fn \"fwd_diff(square)\""), "{expanded}");
    for (text, why) in [
        (
            ":ir --after nosuch u",
            "there is no pass `nosuch`, only `surfaces`, `straighten`",
        ),
        (":ir --after", "there is no pass ``"),
        (":ir --after inline u", "nothing to do here"),
        (":ir --after fold nosuch", "nosuch"),
    ] {
        let ran = session(text);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
}

#[test]
fn suggestions_are_close_names() {
    let stderr = |text| session(text).stderr;
    assert!(stderr(":help smothstep").contains("did you mean `smoothstep`?"));
    assert!(stderr(":hlep").contains("did you mean `:help`?"));
    for far in [":help qwerty", ":help nosuch", ":help xyzzy", ":zzz"] {
        assert!(!stderr(far).contains("did you mean"), "{far}");
    }
}

const DRAWN: &str = "struct ring { float r; };
float wave(ring a) { return sin(a.r); }
shader rings(out float o) { ring a; a.r = length(global_value<uv>) + global_value<time>; o = wave(a) + global_value<time>; }
shader plain(out float o) { o = 1; }";

#[test]
fn misspelt_commands_within_items_are_named() {
    let ran = session("float f(float x) {\n:hepl\n}");
    assert!(ran.stderr.contains("did you mean `:help`?"), "{ran:?}");
    let ran = session("float f(float x) {\n:unlike\n}");
    assert!(!ran.stderr.contains("did you mean"), "{ran:?}");
}

#[test]
fn load_skips_shaders_that_lack_globals() {
    let file = scratch("loaded_shader.adu", DRAWN);
    let ran = session(&format!(
        ":load {file}\nring q = {{ 0 }}; wave(q)\nring r; r.r = 0"
    ));
    assert!(
        ran.stderr
            .contains("the shader `rings` is left out: it reads `uv`, `time`, which"),
        "{ran:?}"
    );
    assert!(!ran.stderr.contains("E0205"), "{ran:?}");
    let ran = session(&format!(":load {file}\nwave(ring(0))"));
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "value  0.0\nddx    0.0\nddy    0.0\n")
    );
    // Other errors are reported as ever, and no part is loaded.
    let wrong = scratch(
        "loaded_wrong.adu",
        format!("{DRAWN} float f() {{ return nowhere; }}"),
    );
    let ran = session(&format!(":load {wrong}\nwave(ring(0))"));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.stderr.contains("E0201") && ran.stderr.contains("E0205"),
        "{ran:?}"
    );
}

#[test]
fn image_draws_from_a_session() {
    let file = scratch("session_drawn.adu", DRAWN);
    let out = scratch("session_drawn.png", "");
    assert_eq!(
        said(&format!(
            ":image {file} -o {out} --shader rings --size 8x4\n"
        )),
        ""
    );
    let png = std::fs::read(&out).expect("it was written");
    assert_eq!(png[16..24], [0, 0, 0, 8, 0, 0, 0, 4]);
    for (words, expected) in [
        ("", ":image needs FILE -o OUT after it"),
        ("x.adu", "-o"),
        ("'x.adu", "a quote is open"),
        ("x.adu -o x.png --size 0x1", "0x1"),
        ("x.adu -o x.png --nonsense", "--nonsense"),
    ] {
        let ran = session(&format!(":image {words}\n1"));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (1, "value  1\n"),
            "{words}"
        );
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
        assert!(!ran.stderr.contains("Usage:"), "{}", ran.stderr);
    }
}

#[test]
fn session_refuses_to_load_standard_input() {
    for command in [":load -", ":image - -o x.png"] {
        let ran = session(&format!("{command}\n1"));
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (1, "value  1\n"),
            "{command}"
        );
        assert!(
            ran.stderr.contains("give the name of a file"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn command_without_colon_is_named() {
    let square = "float f(float x) { return x * x; }\n";
    for (line, fix) in [
        ("plot f(u)", "write `:plot f(u)`"),
        ("check f(u)", "write `:check f(u)`"),
        ("fd u * u", "write `:fd u * u`"),
        ("sin u", "write `sin(u)`"),
    ] {
        let ran = session(&format!("{square}{line}"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(fix), "{line}: {}", ran.stderr);
    }
    assert!(said("plot = 2.0\nplot").contains("2.0"));
}
