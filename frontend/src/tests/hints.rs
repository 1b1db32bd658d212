//! Tests of the hints before loops and functions: what derivatives become of them.

use super::*;
use adumbra_ir::module::InstKind;
use adumbra_ir::passes::{PassOptions, differentiate};

/// The module of a program with its derivatives.
fn derived(text: &str) -> Result<Module, Diagnostic> {
    let mut module = module(text);
    differentiate(&mut module).map_err(|diagnostic| *diagnostic)?;
    verified(&module);
    Ok(module)
}

/// A program that differentiates a function of `x` and `n` with these attributes and this body.
fn program(attributes: &str, body: &str) -> String {
    format!(
        "[Differentiable] {attributes} float f(float x, int n) {{ float r = x; {body} return r; }}
         shader main(int n = 5, out float o) {{
             var x = diffPair(0.75); bwd_diff(f)(x, n, 1.0); o = x.d;
         }}"
    )
}

/// The instructions of all functions of a kind.
fn count(module: &Module, is_wanted: impl Fn(&InstKind) -> bool) -> usize {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    let kinds = regions.flat_map(|r| &r.insts).map(|inst| &inst.kind);
    kinds.filter(|kind| is_wanted(kind)).count()
}

/// The fields of the longest record, and the bits of the gradient.
fn kept(text: &str) -> (usize, u32) {
    let module = derived(text).expect("it can be made");
    let fields = module.records.iter().map(|record| record.fields.len());
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(
        &module,
        &point(&module),
        &EvalOptions::default(),
        &mut textures,
    );
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    (
        fields.max().unwrap_or(0),
        outcome.outputs[0].float.to_bits(),
    )
}

const SINES: &str = "for (int i = 0; i < n; i++) { float a = sin(r * x), b = r * r + x; r = a * b * b + cos(a) * exp(a); }";

#[test]
fn preferences_choose_what_is_kept() {
    let (default, bits) = kept(&program("", SINES));
    for (attributes, before) in [("[PreferCheckpoint]", ""), ("", "[PreferCheckpoint] ")] {
        let (more, same) = kept(&program(attributes, &format!("{before}{SINES}")));
        assert!(more > default, "{more} {default}");
        assert_eq!(same, bits);
    }
    for (attributes, before) in [("[PreferRecompute]", ""), ("", "[PreferRecompute] ")] {
        let (fewer, same) = kept(&program(attributes, &format!("{before}{SINES}")));
        // The loop-carried value alone.
        assert_eq!((fewer, same), (1, bits));
        assert!(fewer < default);
    }
}

#[test]
fn innermost_preference_counts() {
    let inner = format!("[PreferRecompute] {SINES}");
    let (fewest, bits) = kept(&program("[PreferCheckpoint]", &inner));
    assert_eq!((fewest, bits), kept(&program("[PreferRecompute]", SINES)));
}

#[test]
fn forced_loop_is_unrolled_beyond_default_limit() {
    let body = |hint: &str| {
        program(
            "",
            &format!("{hint} for (int i = 0; i < 400; i++) r = r * 0.5 + sin(r * x);"),
        )
    };
    let loops = |text: &str| {
        let module = derived(text).expect("it can be made");
        count(&module, |kind| matches!(kind, InstKind::Loop(_)))
    };
    assert!(loops(&body("")) > 0);
    assert_eq!(loops(&body("[ForceUnroll]")), 0);
}

/// Where nothing is differentiated, a loop that cannot be unrolled stays.
#[test]
fn forced_loop_in_plain_code_is_unrolled_where_it_can_be() {
    let loops = |hint: &str, most: &str, body: &str| {
        let text = format!(
            "shader main(float x = 0.5, int n = 3, out float o) {{ float r = 1; \
             {hint} for (int i = 0; i < {most}; i++) {{ {body} }} o = r; }}"
        );
        let module = adumbra_ir::passes::run(module(&text), &PassOptions::default()).0;
        count(&module, |kind| matches!(kind, InstKind::Loop(_)))
    };
    let body = "r = r * 0.5 + sin(r * x);";
    assert_eq!(loops("", "400", body), 1);
    assert_eq!(loops("[ForceUnroll]", "400", body), 0);
    assert_eq!(loops("[ForceUnroll]", "n", body), 1);
    assert_eq!(loops("[ForceUnroll]", "30000", body), 1);
    let left = "if (r > 2.0) break; r = r * 0.5 + x;";
    assert_eq!(loops("", "4", left), 1);
    assert_eq!(loops("[ForceUnroll]", "4", left), 0);
}

/// Loops that constants bound, and that are left or continued before.
#[test]
fn forced_loop_with_early_exits_is_unrolled() {
    let bodies = [
        "for (int i = 0; i < 3; i++) { r += x; if (r > 2.5) break; r *= x; }",
        "for (int i = 0; i < 3; i++) { if (r > 2.0) continue; r += x * i; }",
        "for (int i = 0; i < 3; i++) { r = r * x + 1.0; if (r > 3.0) return r * r; }",
        "for (int i = 0; i < 4; i++) { if (i == 1) continue; if (r > 2.0) { if (n > 4) break; return r * x; } r += x * i; }",
        "int i = 0; do { r *= x; if (r > 9.0) break; i += 2; } while (i < 5);",
        "int i = 0; while (true) { if (r > 1.1) { if (i > 2) break; } i++; if (i >= 4) return r * r; r = r * x + 0.1; }",
        "for (int i = 0; i < 3; i++) { for (int j = 0; j < n; j++) { if (j > i) return r * x; r = r * 0.9 + x; } if (r > 3.0) break; }",
        "for (int i = 0; i < 2; i++) { switch (n) { case 3: r += x; if (r > 2.0) break; r *= x; break; default: return r; } r += x; }",
        "int k = 1; for (int i = 0; i < 2; i++) { if (r > 1.5) k = 1; else k = 1; r += x; i += k - 1; if (r > 9.0) break; }",
    ];
    for body in bodies {
        let (_, bits) = kept(&program("", body));
        let text = match body.split_once("; ") {
            Some((before, rest)) if before.starts_with("int ") => {
                program("", &format!("{before}; [ForceUnroll] {rest}"))
            }
            _ => program("", &format!("[ForceUnroll] {body}")),
        };
        assert_eq!(kept(&text).1, bits, "{text}");
        let module = derived(&text).expect("it can be made");
        let loops = count(&module, |kind| matches!(kind, InstKind::Loop(_)));
        let inner = body.matches("for (int j").count();
        assert!(loops == 0 || inner > 0, "{text}");
    }
}

#[test]
fn forced_loop_that_stays_says_why() {
    let why = |body: &str| {
        let refused = derived(&program("", body)).expect_err("it stays");
        assert_eq!(refused.code, Code::NotUnrolled);
        refused.label
    };
    let endless = "no constant bounds its number of iterations";
    assert_eq!(
        why("[ForceUnroll] while (true) { r += x; if (r > 9.0) break; }"),
        endless
    );
    assert_eq!(
        why("[ForceUnroll] for (int i = 0; i < n; i++) { r += x; if (r > 9.0) break; }"),
        endless
    );
    let long = why(
        "[ForceUnroll] for (int i = 0; i < 30000; i++) { r = r * 0.5 + x; if (r > 9.0) break; }",
    );
    assert!(long.contains("65536 instructions"), "{long}");
}

#[test]
fn forced_loop_without_known_iterations_is_refused() {
    let text = program("", "[ForceUnroll] for (int i = 0; i < n; i++) r = r * x;");
    let refused = derived(&text).expect_err("n is not known");
    assert_eq!(refused.code, Code::NotUnrolled);
    let at = refused.span;
    assert_eq!(&text[at.start as usize..at.end as usize], "[ForceUnroll]");
    // Nothing is asked of loops that are not differentiated.
    let plain = "float f(int n) { float r = 1; [ForceUnroll] for (int i = 0; i < n; i++) r *= 2; return r; }
         shader main(int n = 3, out float o) { o = f(n) + fwd_diff(sin)(diffPair(0.0, 1.0)).d; }";
    derived(plain).expect("it can be made");
}

#[test]
fn forced_loop_beyond_its_limit_is_refused() {
    let body = "[ForceUnroll] for (int i = 0; i < 30000; i++) r = r * 0.5 + x;";
    let refused = derived(&program("", body)).expect_err("it is too long");
    assert_eq!(refused.code, Code::NotUnrolled);
    let body = "[ForceUnroll(30000)] for (int i = 0; i < n; i++) r = r * 0.5 + x;";
    let refused = derived(&program("", body)).expect_err("its blocks are too long");
    assert_eq!(refused.code, Code::NotUnrolled);
}

#[test]
fn blocks_keep_a_record_for_several_iterations() {
    let bodies = [
        "for (int i = 0; i < n; i++) r = r * 0.5 + sin(r * x);",
        "for (int i = 0; i < n; i++) { if (i == 1) continue; if (r > 4.0) break; r = r * 0.5 + sin(r * x); }",
        "while (true) { if (r > 1.1) { if (n > 4) break; return r * r; } r = r + x * x * 0.1; if (r < 0.9) continue; r = r * 1.01; }",
    ];
    for body in bodies {
        let (_, bits) = kept(&program("", body));
        for block in [1, 2, 3, 7] {
            let text = program("", &format!("[ForceUnroll({block})] {body}"));
            assert_eq!(kept(&text).1, bits, "{text}");
            let module = derived(&text).expect("it can be made");
            let next = count(&module, |kind| *kind == InstKind::TakeStep);
            assert_eq!(next > 0, block > 1, "{text}");
        }
    }
}

/// The kinds of fault of a program with `n` iterations of a loop with `[MaxIters(4)]`.
fn faults(body: &str, n: i32) -> Vec<adumbra_ir::host::FaultKind> {
    let text = program("", body).replace("n = 5", &format!("n = {n}"));
    let module = derived(&text).expect("it can be made");
    let mut textures = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let outcome = evaluate(
        &module,
        &point(&module),
        &EvalOptions::default(),
        &mut textures,
    );
    outcome.faults.iter().map(|fault| fault.kind).collect()
}

#[test]
fn more_iterations_than_said_are_reported_once() {
    use adumbra_ir::host::FaultKind::TooManyIterations;
    let bounded = "[MaxIters(4)] for (int i = 0; i < n; i++) r = r * x + sin(r);";
    assert_eq!(faults(bounded, 4), []);
    assert_eq!(faults(bounded, 5), [TooManyIterations]);
    // Also where the loop is left by a return, where it is entered several times, and where the
    // number is known.
    let left = "[MaxIters(4)] for (int i = 0; ; i++) { if (i == n) return r * x; r = r * x; }";
    assert_eq!(faults(left, 4), []);
    assert_eq!(faults(left, 5), [TooManyIterations]);
    let inner = "for (int k = 0; k < 3; k++) { [MaxIters(4)] for (int i = 0; i < n; i++) r = r * x + sin(r); }";
    assert_eq!(faults(inner, 4), []);
    assert_eq!(faults(inner, 7), [TooManyIterations]);
    let known = "[MaxIters(4)] for (int i = 0; i < 5; i++) r = r * x + sin(r);";
    assert_eq!(faults(known, 0), [TooManyIterations]);
    // Nothing is kept of a loop that no gradient passes.
    let plain = "int k = 0; [MaxIters(4)] for (int i = 0; i < n; i++) k += i; r = r * k;";
    assert_eq!(faults(plain, 9), []);
}

/// Each order has some two instructions for one of the order before: functions that are called once
/// are moved to their caller, of any size, where their constant tangents fold.
#[test]
fn derivatives_grow_evenly_with_their_order() {
    let size = |order: usize| {
        let mut text = "[Differentiable] float d0(float x) \
            { return sin(x * x) * exp(x) + sqrt(x + 2.0) / (1.0 + x * x); }"
            .to_owned();
        for k in 1..=order {
            let before = k - 1;
            text += &format!(
                "[Differentiable] float d{k}(float x) {{ return fwd_diff(d{before})(diffPair(x, 1.0)).d; }}"
            );
        }
        text += &format!("shader main(float x = 0.5, out float o) {{ o = d{order}(x); }}");
        let module = derived(&text).expect("it can be made");
        let (module, _) = adumbra_ir::passes::run(module, &PassOptions::default());
        assert_eq!(module.functions.len(), 1);
        count(&module, |_| true)
    };
    let sizes: Vec<usize> = (1..=5).map(size).collect();
    let is_even = |pair: &[usize]| pair[1] < 5 * pair[0] / 2;
    assert!(sizes.windows(2).all(is_even), "{sizes:?}");
}
