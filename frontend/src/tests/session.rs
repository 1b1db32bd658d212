//! Tests of entries of `eval` and the REPL.

use super::*;

fn names(given: &[(SessionOutput, Vec<EvalValue>)]) -> Vec<SessionOutput> {
    given.iter().map(|(given, _)| given.clone()).collect()
}

fn variable(name: &str) -> SessionOutput {
    SessionOutput::Variable(name.to_owned())
}

#[test]
fn an_expression_of_globals() {
    let given = entry("x * y + p.z").unwrap();
    assert_eq!(names(&given), [SessionOutput::Value]);
    let value = given[0].1[0];
    assert_eq!((value.float, value.shadows), (3.75, [0.5 + 0.3, 1.5 + 0.6]));
}

#[test]
fn values_of_any_type() {
    assert_eq!(entry("p.xy").unwrap()[0].1.len(), 2);
    assert_eq!(entry("n > 3").unwrap()[0].1[0].word, 1);
    assert_eq!(entry("n / 2").unwrap()[0].1[0].word, 2);
    assert_eq!(
        entry("make_closure<glow>(x)").unwrap()[0].0,
        SessionOutput::Value
    );
    assert_eq!(names(&entry("x;").unwrap()), [SessionOutput::Value]);
}

#[test]
fn assigning_makes_a_variable() {
    let given = entry("w = sin(x) * 0 + x").unwrap();
    assert_eq!(names(&given), [variable("w")]);
    assert_eq!(given[0].1[0].shadows, [1.0, 0.0]);
    // A variable keeps its type if the value fits it.
    let given = entry("x = 2").unwrap();
    assert_eq!(
        (names(&given), given[0].1[0].float),
        (vec![variable("x")], 2.0)
    );
    let given = entry("n = p").unwrap();
    assert_eq!((names(&given), given[0].1.len()), (vec![variable("n")], 3));
    let given = entry("x = x + 1").unwrap();
    assert_eq!(given[0].1[0].float, 2.5);
}

#[test]
fn written_variables_become_outputs() {
    let given = entry("for (int i = 0; i < 3; ++i) { x += 1; p.y = x; float local = y; }").unwrap();
    assert_eq!(names(&given), [variable("x"), variable("p")]);
    assert_eq!(given[0].1[0].float, 4.5);
    assert_eq!(given[1].1[1].float, 4.5);
    assert_eq!(names(&entry("x += 1").unwrap()), [variable("x")]);
    let given = entry("n++").unwrap();
    assert_eq!(names(&given), [SessionOutput::Value, variable("n")]);
    assert_eq!((given[0].1[0].word, given[1].1[0].word), (5, 6));
    let given = entry("float a = 1, b = a + x;").unwrap();
    assert_eq!(names(&given), [variable("a"), variable("b")]);
    assert_eq!(given[1].1[0].float, 2.5);
}

#[test]
fn seeds() {
    let given = entry("u = 1 : 1.0/512 : 0").unwrap();
    assert_eq!(
        names(&given),
        [
            SessionOutput::Seed("u".to_owned()),
            SessionOutput::SeedDdx,
            SessionOutput::SeedDdy
        ]
    );
    let values: Vec<f32> = given.iter().map(|(_, slots)| slots[0].float).collect();
    assert_eq!(values, [1.0, 1.0 / 512.0, 0.0]);
    assert_eq!(
        entry("v = float2(1, 2) : float2(0) : float2(1)").unwrap()[2]
            .1
            .len(),
        2
    );
    assert_eq!(
        entry("u = true : 0 : 0").unwrap_err()[0].code,
        Code::BadDerivative
    );
    assert_eq!(
        entry("u = p : 0 : 0").unwrap_err()[0].code,
        Code::TypeMismatch
    );
}

#[test]
fn errors_of_entries() {
    let code = |text: &str| entry(text).unwrap_err()[0].code;
    assert_eq!(code("q + 1"), Code::UnknownName);
    assert_eq!(code("return 3;"), Code::BadReturn);
    assert_eq!(code("w = w + 1"), Code::UnknownName);
    assert_eq!(code("break;"), Code::BreakOutsideLoop);
    assert_eq!(code("float w[3];"), Code::BadVariableType);
    assert_eq!(code("c = make_closure<glow>(x)"), Code::BadVariableType);
    assert_eq!(
        names(&entry("{ float w[3]; w[1] = x; y = w[1]; }").unwrap()),
        [variable("y")]
    );
    let help = |text: &str| entry(text).unwrap_err()[0].help.clone().unwrap();
    assert_eq!(help("flog ? 1 : 2"), "did you mean `flag`?");
    assert_eq!(
        help("qqq + 1"),
        "give it a value: `qqq = 0.5` in a session, `-g qqq=0.5` to `eval`"
    );
}
