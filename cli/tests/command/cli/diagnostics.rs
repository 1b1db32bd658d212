//! Diagnostics and bad usage: their messages, locations, and exit status.

use super::*;

#[test]
fn check_prints_reports_and_json() {
    let good = scratch("good.adu", "float twice(float x) { return 2 * x; }");
    assert_eq!(adumbra(["check", &good]).code, 0);

    let bad = scratch("bad.adu", "float twice(float x)\n{\n    return 2 * y;\n}\n");
    let ran = adumbra(["check", &good, &bad]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("bad.adu:3:16"), "{ran:?}");
    assert!(!ran.stderr.contains('\x1b'), "{ran:?}");

    let ran = adumbra(["check", "--json", &good, &bad]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    let diagnostic = json_of(&ran);
    assert_eq!(diagnostic["file"], bad);
    assert_eq!(diagnostic["severity"], "error");
    assert!(diagnostic["code"].as_str().unwrap().starts_with("E02"));
    assert_eq!(
        diagnostic["span"],
        json!({"start": 38, "end": 39, "line": 3, "column": 16})
    );
    assert!(diagnostic["message"].as_str().unwrap().contains("`y`"));
    assert!(diagnostic["labels"].is_array());
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let bad = scratch(
        "errors.adu",
        "float f() { return a; }\nfloat g( { }\nfloat h() { return b; }\n",
    );
    let ran = adumbra(["check", "--json", &bad]);
    let lines: Vec<u64> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["span"]["line"]
                .as_u64()
                .unwrap()
        })
        .collect();
    for line in 1..=3 {
        assert!(lines.contains(&line), "{ran:?}");
    }
}

#[test]
fn bad_usage_is_2_bad_input_1() {
    let two = scratch(
        "two.adu",
        "shader a(out int o) { o = 1; } shader b(out int o) { o = 2; }",
    );
    for args in [
        &["eval"][..],
        &["eval", "1", "--no-such-option"],
        &["eval", "1", "--engine", "gpu"],
        &["eval", "1", "-g", "x"],
        &["eval", "1", "-g", "x=1", "-g", "x=2"],
        &["eval", "1", "--globals", "hit", "-g", "position=1,2"],
        &["run", "no/such/file.adu"],
        &["run", &two, "--shader", "c"],
        &["nonsense"],
    ] {
        let ran = adumbra(args.iter().copied());
        assert_eq!(ran.code, 2, "{args:?} {ran:?}");
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty());
    }
    for args in [
        &["eval", "1 +"][..],
        &["eval", "nowhere"],
        &["eval", "1; 2"],
        &["run", &two],
        &["run", &example("eval_practical.adu")],
    ] {
        let ran = adumbra(args.iter().copied());
        assert_eq!(ran.code, 1, "{args:?} {ran:?}");
        assert!(ran.stderr.contains("Error"), "{ran:?}");
    }
    let ran = adumbra([&*two]);
    assert_eq!(ran.code, 2);
    let fix = format!("to run a shader: `adumbra run {two}`");
    assert!(ran.stderr.contains(&fix), "{ran:?}");
    let ran = adumbra(["run", &two, "--steps", "-1"]);
    assert!(ran.stderr.contains("'-1' for '--steps <N>'"), "{ran:?}");
    let ran = adumbra(["run", &two, "--shader", "b", "--json"]);
    assert_eq!(json_of(&ran)["outputs"]["o"]["value"], 2);
    let ran = adumbra(["help", "E0205"]);
    assert!(ran.stdout.starts_with("# E0205: "), "{ran:?}");
    assert_eq!(ran.code, 0);
    let ran = adumbra(["help", "smothstep"]);
    assert!(ran.stderr.contains("`smoothstep`"), "{ran:?}");
    assert_eq!(ran.code, 2);
    for args in [["--help"], ["--version"]] {
        let ran = adumbra(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
}

#[test]
fn shared_function_is_warned_about_once() {
    let file = scratch(
        "shared.adu",
        "float f(float x) { return ddx(ddx(x)); }\n\
         shader a(out float o) { o = f(global_value<x>); }\n\
         shader b(out float o) { o = f(global_value<x>); }\n",
    );
    let ran = adumbra(["check", &file, "--json", "-g", "x=1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(json_of(&ran)["code"], "W0512");
}

#[test]
fn helps_name_globals_of_the_host() {
    let check = |options: &[&str], text: &str| {
        let args = ["check", "-"].iter().chain(options).copied();
        adumbra_with_input(args, text).stderr
    };
    let text = "shader s(out float3 o) { o = P + global_value<position>; }";
    assert!(
        check(&["--globals", "hit"], text).contains("OSL's `P` is `global_value<position>` here")
    );
    assert!(check(&[], text).contains("`--globals hit` declares it"));
}

#[test]
fn missing_file_does_not_stop_check() {
    let ran = adumbra_with_input(["check", "no/such.adu", "-", "nor/such.adu"], "nonsense");
    assert_eq!(ran.code, 2, "{ran:?}");
    for part in ["no/such.adu", "nor/such.adu", "<stdin>"] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
}
