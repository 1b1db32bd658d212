//! What gradients lack, what has none, and limits.

use super::{gradient, program, refusal};
use adumbra::gradient::GradientRequest;
use adumbra::{Compiler, GlobalsLayout, Sources, Type};

#[test]
fn ends_are_reported_where_they_matter() {
    let ends = |body: &str| {
        let source = format!(
            "int steps(float x) {{ return (int)(x * 8); }}
             shader s(float a = 0.3, float b = 0.7, out float o, out closure c) {{ {body} }}"
        );
        let found = gradient(&source, GradientRequest::new());
        let ends = found.ends().iter();
        ends.map(|end| source[end.span.start as usize..end.span.end as usize].to_owned())
            .collect::<Vec<String>>()
    };
    let nothing: [&str; 0] = [];
    assert_eq!(ends("o = a * b;"), nothing);
    assert_eq!(
        ends("o = a; c = make_closure<glow>(b);"),
        nothing,
        "`c` is not of floats"
    );
    assert_eq!(ends("o = a * float(steps(b));"), ["steps(b)"]);
    assert_eq!(
        ends("o = a; if (steps(b) > 3) o = 2 * a;"),
        nothing,
        "only compared"
    );
    assert_eq!(ends("o = a * hash11(b);"), ["hash11(b)"]);
    assert_eq!(ends("o = a * no_diff hash11(b);"), nothing);
    assert_eq!(
        ends("o = hash11(a) + hash11(3.0) + no_diff hash11(b);"),
        ["hash11(a)"]
    );
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let source = "shader s(float gain, int n, out float o, out int m) { o = gain; m = n; }";
    let (message, help) = refusal(source, &GradientRequest::new().of("oo"));
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("there is no output `oo`", "did you mean `o`?")
    );
    let (message, help) = refusal(source, &GradientRequest::new().by_input("brightness"));
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("there is no input `brightness`", "there is `gain`")
    );
    let (message, _) = refusal(source, &GradientRequest::new().by_input("n"));
    assert_eq!(
        message,
        "the input `n` is of type `int`, which has no float and so no gradient"
    );
    let (message, _) = refusal(source, &GradientRequest::new().of("m"));
    assert!(
        message.starts_with("the output `m` is of type `int`"),
        "{message}"
    );
    let (message, _) = refusal("shader s(out float o) { o = 1; }", &GradientRequest::new());
    assert!(message.contains("no input has a float"), "{message}");
    let (message, _) = refusal(
        "shader s(float a, out int o) { o = 1; }",
        &GradientRequest::new(),
    );
    assert!(message.contains("no output with a float"), "{message}");
    let (message, _) = refusal(
        "shader s(float a, out float o) { o = a; }",
        &GradientRequest::new().by_globals(),
    );
    assert!(
        message.contains("no global with a float is read"),
        "{message}"
    );
    let (message, help) = refusal(
        "shader s(int a, out float o) { o = a; }",
        &GradientRequest::new().by_inputs().by_buffers(),
    );
    assert_eq!(
        message,
        "no input has a float, no buffer has floats, so there is nothing to differentiate by"
    );
    assert!(!help.contains("::"), "{help}");
}

#[test]
fn gradients_have_limits_that_say_so() {
    // The seeds of outputs are globals, of which there may be a number.
    let mut layout = GlobalsLayout::new();
    for at in 0..16_383 {
        layout.add(format!("g{at}"), Type::FLOAT).unwrap();
    }
    let sources = Sources::new(
        "s.adu",
        "shader s(float a, out float o, out float p) { o = a; p = a; }",
    );
    let full = Compiler::new(layout).compile(&sources).unwrap();
    assert!(full.gradient(&GradientRequest::new().of("o")).is_ok());
    let no = full.gradient(&GradientRequest::new()).unwrap_err();
    assert_eq!(no.diagnostics[0].code.to_string(), "E0570");
    assert!(
        no.diagnostics[0].message.contains("more than 16384"),
        "{no}"
    );
    // Derivatives nest to an order.
    let deep = "shader s(float a = 1.0, out float o) { o = sin(a); }";
    let mut program = program(deep);
    let (mut last, mut of) = (None, "o".to_owned());
    for order in 1..12 {
        let request = GradientRequest::new()
            .of(of.as_str())
            .by_input("a")
            .forward();
        match program.gradient(&request) {
            Ok(next) => program = next.program().clone(),
            Err(no) => {
                last = Some(no.diagnostics[0].message.clone());
                break;
            }
        }
        let which = if order == 1 {
            String::new()
        } else {
            order.to_string()
        };
        of = format!("d{which}({of})");
    }
    let last = last.expect("derivatives end");
    assert!(last.contains("differentiated more than 8 times"), "{last}");
}
