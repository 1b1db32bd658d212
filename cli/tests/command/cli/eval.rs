//! `eval` prints values and derivatives of expressions.

use super::*;

#[test]
fn equation_3_evaluates_with_both_derivatives() {
    let ran = adumbra(["eval", EQUATION, "--json"].into_iter().chain(SEEDS));
    assert_eq!(ran.code, 0, "{ran:?}");
    let json = json_of(&ran);
    assert_eq!(json["type"], "float");
    assert!(close(&json["value"], 0.17684336098110578), "{json}");
    assert!(close(&json["ddx"], -0.10963349927997776), "{json}");
    assert!(close(&json["ddy"], 0.3029208889788374), "{json}");
    assert_eq!(json.as_object().unwrap().len(), 4);
}

#[test]
fn eval_prints_aligned_lines_for_people() {
    let ran = adumbra(["eval", "-x * 2", "-g", "x=0.5:1:-1"]);
    assert_eq!(ran.stdout, "value -1.0\nddx   -2.0\nddy    2.0\n");
    let ran = adumbra(["eval", "float3(x, 1, 2)", "-g", "x=0.5:1"]);
    assert_eq!(
        ran.stdout,
        "value  (0.5, 1.0, 2.0)\nddx    (1.0, 0.0, 0.0)\nddy    (0.0, 0.0, 0.0)\n"
    );
}

#[test]
fn engines_print_the_same_output() {
    for engine in ["reference", "point", "auto"] {
        let ran = adumbra(
            ["eval", EQUATION, "--json", "--engine", engine]
                .into_iter()
                .chain(SEEDS),
        );
        let point = adumbra(["eval", EQUATION, "--json"].into_iter().chain(SEEDS));
        assert_eq!(ran.stdout, point.stdout, "{engine}");
    }
}

#[test]
fn value_without_derivatives_prints_none() {
    let eval = |expr| {
        json_of(&adumbra([
            "eval",
            expr,
            "--json",
            "-g",
            "x=0.5:1:0",
            "-g",
            "n=3i",
        ]))
    };
    assert_eq!(eval("n + 1"), json!({"type": "int", "value": 4}));
    assert_eq!(eval("x < 1.0"), json!({"type": "bool", "value": true}));
    // Second order: not zero, but unknown.
    assert_eq!(eval("ddx(x * x)"), json!({"type": "float", "value": 1.0}));
    assert_eq!(eval("2 * ddx(x)"), json!({"type": "float", "value": 2.0}));
    // A constant does have derivatives.
    assert_eq!(
        eval("0.25"),
        json!({"type": "float", "value": 0.25, "ddx": 0.0, "ddy": 0.0})
    );
}

#[test]
fn floats_read_back_to_the_same_bits() {
    let value = |x: &str| {
        let ran = adumbra(["eval", "x", "--json", "-g", &format!("x={x}")]);
        json_of(&ran)["value"].clone()
    };
    assert_eq!(value("nan"), "nan");
    assert_eq!(value("inf"), "inf");
    assert_eq!(value("-inf"), "-inf");
    assert_eq!(
        value("1e-45").as_f64().map(|x| x as f32),
        Some(f32::from_bits(1))
    );
    let ran = adumbra(["eval", "x", "--json", "-g", "x=-0"]);
    assert!(ran.stdout.contains("\"value\":-0.0"), "{ran:?}");
    let ran = adumbra(["eval", "x", "--json", "-g", "x=0.1:nan:-inf"]);
    assert!(
        ran.stdout
            .contains("\"value\":0.1,\"ddx\":\"nan\",\"ddy\":\"-inf\""),
        "{ran:?}"
    );
}

#[test]
fn eval_calls_functions_of_a_file() {
    let file = scratch("with.adu", "float twice(float x) { return 2 * x; }");
    let ran = adumbra([
        "eval", "twice(x)", "--with", &file, "-g", "x=2:1:0", "--json",
    ]);
    assert_eq!(
        json_of(&ran),
        json!({"type": "float", "value": 4.0, "ddx": 2.0, "ddy": 0.0})
    );
}

#[test]
fn derivatives_can_be_left_out_or_merged() {
    let value = |extra: &[&'static str]| {
        let args = ["eval", EQUATION, "--json"].into_iter().chain(SEEDS);
        json_of(&adumbra(args.chain(extra.iter().copied())))
    };
    let plain = value(&[]);
    assert_eq!(value(&["--merge-demand"]), plain);
    let off = value(&["--derivatives", "off"]);
    assert_eq!(off["value"], plain["value"]);
    assert_eq!((&off["ddx"], &off["ddy"]), (&json!(0.0), &json!(0.0)));
}
