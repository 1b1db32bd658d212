//! Tests of the report of what reverse mode keeps: by loop and call, with reasons.

use super::*;
use adumbra_ir::Span;
use adumbra_ir::module::InstKind;
use adumbra_ir::passes::{
    KeepReason, KeptKind, KeptPer, KeptReader, KeptRecord, KeptValue, differentiate,
};

/// What the backward derivative of the function `f` of a program keeps.
fn kept(functions: &str) -> Vec<KeptRecord> {
    records(&format!(
        "{functions}
         shader main(float a = 0.75, int n = 5, out float o) {{
             var x = diffPair(a); bwd_diff(f)(x, n, 1.0); o = x.d;
         }}"
    ))
}

/// What a program keeps. Each of its records has the size of one in the module, and the other way
/// round.
fn records(text: &str) -> Vec<KeptRecord> {
    let mut module = module(text);
    let kept = differentiate(&mut module).expect("it can be made");
    verified(&module);
    let reached = adumbra_ir::calls::CallGraph::new(&module).order;
    let functions = reached.iter().map(|&id| module.function(id));
    let insts = functions
        .flat_map(|f| &f.regions)
        .flat_map(|region| &region.insts);
    let sizes = insts.filter_map(|inst| match inst.kind {
        InstKind::Keep(_, record) => Some(4 * module.records[record.index()].fields.len()),
        _ => None,
    });
    let sizes: std::collections::BTreeSet<usize> = sizes.collect();
    assert_eq!(sizes, kept.iter().map(|record| record.bytes).collect());
    for KeptRecord { bytes, values, .. } in &kept {
        assert!(values.is_empty() || *bytes == 4 * values.len());
    }
    kept
}

/// The name of each value of a record, with the reason.
fn reasons(record: &KeptRecord) -> Vec<(String, KeepReason)> {
    let name = |value: &KeptValue| match &value.kind {
        KeptKind::Value {
            name: Some(name), ..
        } => name.clone(),
        KeptKind::Value { word, .. } => word.unwrap_or("carried").to_owned(),
        KeptKind::Coefficient(word) => format!("partial {word}"),
        KeptKind::Exit => "exit".to_owned(),
        KeptKind::Count => "count".to_owned(),
        KeptKind::Call(callee) => format!("call {callee}"),
    };
    let values = record.values.iter();
    values.map(|value| (name(value), value.reason)).collect()
}

fn named<const N: usize>(values: [(&str, KeepReason); N]) -> Vec<(String, KeepReason)> {
    values
        .map(|(name, reason)| (name.to_owned(), reason))
        .to_vec()
}

#[test]
fn loop_carried_value_is_reported_with_its_reader() {
    let text = "[Differentiable] float f(float x, int n) {
        for (int i = 0; i < n; i++)
            x = x * x;
        return x; }";
    let kept = kept(text);
    let [record] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert_eq!(
        (record.per, record.bytes, record.copies),
        (KeptPer::Iteration, 4, 1)
    );
    assert_eq!(record.function, "bwd_diff(f)");
    let at = |span: Span| span.start as usize;
    assert!(text[at(record.span)..].starts_with("for (int"));
    assert_eq!(reasons(record), named([("x", KeepReason::LoopCarried)]));
    let (reader, span) = record.values[0].reader.as_ref().expect("it is read");
    assert_eq!(*reader, KeptReader::Partial("mul"));
    assert!(text[at(*span)..].starts_with("x * x"));
}

#[test]
fn straight_code_keeps_no_record() {
    assert_eq!(
        kept("[Differentiable] float f(float x, int n) { return x * sin(x); }"),
        []
    );
}

#[test]
fn costs_and_preferences_are_distinguished() {
    let body = "float f(float x, int n) {
        for (int i = 0; i < n; i++) { float a = exp(x), b = sin(a * x); x = b * b * a; }
        return x; }";
    let default = &kept(&format!("[Differentiable] {body}"))[0];
    let expected = [
        ("a", KeepReason::Cheaper),
        ("x", KeepReason::LoopCarried),
        ("b", KeepReason::Cheaper),
    ];
    assert_eq!(reasons(default), named(expected));
    let preferred = &kept(&format!("[Differentiable] [PreferCheckpoint] {body}"))[0];
    let reasons = reasons(preferred);
    assert!(reasons.len() > expected.len());
    let others = reasons.iter().filter(|(name, _)| name != "x");
    assert!(
        others
            .clone()
            .all(|(_, reason)| *reason == KeepReason::Preferred),
        "{reasons:?}"
    );
}

#[test]
fn inner_loop_is_reported_beside_the_outer_one() {
    let kept = kept(
        "[Differentiable] float f(float x, int n) {
             for (int i = 0; i < n; i++) {
                 for (int j = 0; j < i; j++) { x = x * x; if (x > 5.0) break; }
                 x = x * x;
             }
             return x; }",
    );
    let [outer, inner] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert!(outer.span.start < inner.span.start);
    assert_eq!(reasons(inner), named([("x", KeepReason::LoopCarried)]));
    let last = outer
        .values
        .iter()
        .filter(|value| value.is_of_last_iteration);
    assert_eq!(last.count(), 1);
    for (kind, reason) in [
        (KeptKind::Exit, KeepReason::ControlFlow),
        (KeptKind::Count, KeepReason::ControlFlow),
    ] {
        let found = outer.values.iter().find(|value| value.kind == kind);
        assert_eq!(found.map(|value| value.reason), Some(reason));
    }
    let result = outer
        .values
        .iter()
        .find(|value| value.reason == KeepReason::NotRepeatable);
    assert!(matches!(
        &result.expect("of the loop").kind,
        KeptKind::Value {
            word: Some("loop"),
            ..
        }
    ));
}

#[test]
fn calls_of_recursive_function_keep_records() {
    let kept =
        kept("[Differentiable] float f(float x, int n) { return n <= 0 ? 1.0 : x * f(x, n - 1); }");
    let [record] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert_eq!(record.per, KeptPer::Call);
    assert_eq!(record.function, "f.forward_sweep");
    let expected = [
        ("ile", KeepReason::Cheaper),
        ("call", KeepReason::NotRepeatable),
        ("x", KeepReason::Argument),
    ];
    assert_eq!(reasons(record), named(expected));
}

#[test]
fn kept_value_of_callee_names_it() {
    let kept = kept(
        "[Differentiable] float g(float x, int n) {
             for (int i = 0; i < n; i++) { x = sin(x); if (x > 5.0) return x; }
             return x; }
         [Differentiable] float f(float x, int n) {
             for (int i = 0; i < n; i++) x = g(x, n);
             return x; }",
    );
    let outer = kept
        .iter()
        .find(|record| record.function == "bwd_diff(f)")
        .expect("a record");
    let call = KeptKind::Call("g".to_owned());
    let of_call = outer.values.iter().find(|value| value.kind == call);
    assert_eq!(of_call.map(|value| value.reason), Some(KeepReason::Call));
}

#[test]
fn copies_of_a_loop_are_counted() {
    let kept = kept(
        "[Differentiable] float f(float x, int n) {
             [ForceUnroll] for (int k = 0; k < 3; k++)
                 for (int i = 0; i < n; i++) x = sin(x);
             return x; }",
    );
    assert_eq!(
        kept.iter().map(|record| record.copies).collect::<Vec<_>>(),
        [3]
    );
}

#[test]
fn record_with_tangents_has_its_size_alone() {
    let kept = records(
        "[Differentiable] float f(float x, int n) {
             for (int i = 0; i < n; i++) x = sin(x);
             return x; }
         [Differentiable] float g(float x, int n) {
             var d = diffPair(x); bwd_diff(f)(d, n, 1.0); return d.d; }
         shader main(float a = 0.75, int n = 5, out float o) {
             o = fwd_diff(g)(diffPair(a, 1.0), n).d; }",
    );
    let [record] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert_eq!((record.bytes, record.values.len()), (8, 0));
    assert_eq!(record.function, "fwd_diff(bwd_diff(f))");
}

/// What the reverse sweep of a call reads is chosen as for an iteration: the argument gives the
/// rest.
#[test]
fn calls_compute_cheap_values_again() {
    let kept = kept(
        "[Differentiable] float f(float x, int n) {
             if (n <= 0) return x;
             float a = 2 * x; float b = a + 1; float c = b * a + x;
             return c * a * b * f(x, n - 1); }",
    );
    let [record] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert!(
        record
            .values
            .iter()
            .any(|value| value.reason == KeepReason::Argument),
        "{record:?}"
    );
    assert!(
        record
            .values
            .iter()
            .all(|value| value.reason != KeepReason::AtHand),
        "{record:?}"
    );
    assert!(record.values.len() <= 5, "{record:?}");
}
