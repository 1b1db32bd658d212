//! Tests of ray marches: which functions are fields, the struct of results, and its name.

use super::*;

/// What is found where a shader marches through `f`, with the text at each place.
fn found(before: &str, march: &str) -> Vec<(Code, String)> {
    let text = format!("{before} shader main(out float o) {{ o = {march}.t; }}");
    let diagnostics = match compile(&text) {
        Ok((_, warnings)) => warnings,
        Err(errors) => errors,
    };
    let place = |d: &Diagnostic| text[d.span.start as usize..d.span.end as usize].to_owned();
    diagnostics
        .iter()
        .for_each(|d| assert!(d.help.is_some(), "{d:?}"));
    diagnostics.iter().map(|d| (d.code, place(d))).collect()
}

const MARCH: &str = "raymarch<f>(float3(0), float3(0, 0, 1), 8)";

#[test]
fn fields_are_marched_through() {
    for before in [
        "float f(float3 p) { return p.x; }",
        "float f(float3 p, out int label) { label = 1; return p.x; }",
        "float f(float3 p, out float3 normal) { normal = p; return p.x; }",
        "float f(float3 p, out int label, out float3 normal) { label = 1; normal = p; return p.x; }",
        "float f(float3 p, float size = 2.0) { return p.x - size; }",
        // The overload that takes what is passed on.
        "float f(float3 p) { return p.x; } float f(float2 p) { return p.x; } float f(float3 p, float3 more) { return p.x + more.x; }",
    ] {
        assert_eq!(found(before, MARCH), [], "{before}");
    }
    assert_eq!(
        found(
            "",
            "raymarch<sd_sphere>(float3(0), float3(0, 0, 1), 8, 1.0)"
        ),
        []
    );
    let two = "float f(float3 p, float a, bool[2] b) { return b[1] ? p.x : a; }";
    let march = "raymarch<f>(float3(0), float3(0, 0, 1), 8, 1.0, b)";
    let text = format!(
        "{two} shader main(out float o) {{ bool b[2] = {{ true, false }}; o = {march}.t; }}"
    );
    assert_eq!(codes(&text), []);
}

#[test]
fn other_functions_are_refused_where_they_are_named() {
    for (before, code) in [
        ("float f(float2 p) { return p.x; }", Code::BadField),
        ("float f() { return 1.0; }", Code::BadField),
        ("float3 f(float3 p) { return p; }", Code::BadField),
        ("no_diff float f(float3 p) { return p.x; }", Code::BadField),
        ("float f(no_diff float3 p) { return p.x; }", Code::BadField),
        ("float f(inout float3 p) { return p.x; }", Code::BadField),
        (
            "float f(float3 p, out float more) { more = 1; return p.x; }",
            Code::BadField,
        ),
        (
            "float f(float3 p, out float3 normal, out int label) { normal = p; label = 1; return p.x; }",
            Code::BadField,
        ),
        ("shader f(float3 p) { }", Code::BadField),
        (
            "float f(float3 p, int a) { return p.x; } float f(float3 p, float3 a) { return p.x; }",
            Code::BadField,
        ),
        (
            "float f(float3 p) { printf(\"p\"); return p.x; }",
            Code::FieldEffect,
        ),
        (
            "void say() { printf(\"p\"); } float f(float3 p) { if (p.x > 1) say(); return p.x; }",
            Code::FieldEffect,
        ),
        (
            "float f(float3 p) { return raymarch<f>(p, p, 2).t; }",
            Code::FieldCycle,
        ),
        (
            "float f(float3 p); float g(float3 p) { return raymarch<f>(p, p, 2).t; } float f(float3 p) { return g(p); }",
            Code::FieldCycle,
        ),
        ("", Code::UnknownFunction),
    ] {
        let found = found(before, MARCH);
        // A cycle is where the march was named first.
        assert_eq!(found.first(), Some(&(code, "f".to_owned())), "{before}");
    }
    let f = "float f(float3 p, float size) { return p.x - size; }";
    assert_eq!(found(f, MARCH)[0].0, Code::ArgumentCount);
    assert_eq!(
        found(f, "raymarch<f>(float3(0), 1.0, 8, true)")[0].0,
        Code::TypeMismatch
    );
}

#[test]
fn fields_and_what_they_call_need_no_mark() {
    let helper = "struct ball : IDifferentiable { float3 centre; float radius; }; float sd(ball b, float3 p) { return length(p - b.centre) - b.radius; }";
    let call = "float f(float3 p) { return sd(ball(float3(0), 1), p); }";
    assert_eq!(found(&format!("{helper} {call}"), MARCH), []);
    // Nor does the march through them in a function that is differentiated.
    let depth = "[Differentiable] float depth(float x) { return raymarch<f>(float3(x), float3(0, 0, 1), 8).t; }";
    let text = format!(
        "{helper} {call} {depth} shader main(out float o) {{ o = fwd_diff(depth)(diffPair(1.0, 1.0)).d; }}"
    );
    assert_eq!(codes(&text), []);
    // A field that is marked is checked as any other function that is, and so are other calls.
    let marked = format!("{helper} [Differentiable] {call}");
    assert_eq!(
        found(&marked, MARCH),
        [(Code::LostGradient, "sd(ball(float3(0), 1), p)".to_owned())]
    );
    let other =
        format!("{helper} {call} [Differentiable] float g(float x) {{ return f(float3(x)); }}");
    assert_eq!(
        found(&other, MARCH),
        [(Code::LostGradient, "f(float3(x))".to_owned())]
    );
    let derived = format!("{helper} {call}");
    let march = format!("fwd_diff(f)(diffPair(float3(0), float3(1))).p + {MARCH}");
    assert_eq!(
        found(&derived, &march),
        [(Code::NotDifferentiable, "fwd_diff(f)".to_owned())]
    );
}

#[test]
fn what_no_derivative_passes_is_reported_in_the_field() {
    for (before, code, place) in [
        (
            "texture2d wood; float f(float3 p) { return p.x - texture2d_sample<wood>(p.xy).x; }",
            Code::LostInSample,
            "texture2d_sample<wood>(p.xy)",
        ),
        (
            "texture2d wood; float at(float2 p) { return texture2d_sample<wood>(p).x; } float f(float3 p) { return p.x - at(p.xy); }",
            Code::LostInSample,
            "texture2d_sample<wood>(p)",
        ),
        (
            "float f(float3 p) { return p.x - (float)(int)p.y; }",
            Code::RoundedGradient,
            "(int)p.y",
        ),
        (
            "struct plain { float x; }; [ForwardDerivative(rule)] float at(plain q) { return q.x; } DifferentialPair<float> rule(plain q) { return diffPair(q.x, 0.0); } float f(float3 p) { return at(plain(p.x)); }",
            Code::PlainStructGradient,
            "plain(p.x)",
        ),
        // Where the march is, with a label in the field.
        (
            "float f(float3 p) { return p.x + ddx(p.y); }",
            Code::ShadowInBackward,
            "f",
        ),
    ] {
        assert_eq!(found(before, MARCH), [(code, place.to_owned())], "{before}");
    }
}

#[test]
fn hits_have_members_and_a_name_that_can_be_hidden() {
    let f = "float f(float3 p) { return p.x; }";
    let body = "hit h = raymarch<f>(float3(0), float3(1, 0, 0), 4); hit other = h; o0 = other.position.x + h.normal.y + h.distance + h.t + h.label + (h.converged ? 1 : 0);";
    assert_eq!(codes(&shader("float", 1, f, body)), []);
    let own = format!("{f} struct hit {{ float mine; }};");
    let body = "hit h = hit(1.0); var found = raymarch<f>(float3(0), float3(1, 0, 0), 4); o0 = h.mine + found.t;";
    assert_eq!(codes(&shader("float", 1, &own, body)), []);
    assert_eq!(
        codes(&shader(
            "float",
            1,
            &own,
            "hit h = raymarch<f>(float3(0), float3(1), 4); o0 = h.mine;"
        )),
        [Code::TypeMismatch]
    );
    // Names of the template mean nothing outside of it.
    assert_eq!(
        codes(&shader(
            "float",
            1,
            f,
            "raymarch<f>(float3(0), float3(1), 4); o0 = held(1.0) + reaches(1.0, 1.0);"
        )),
        [Code::UnknownFunction; 2]
    );
    // A function of that name is called as any other.
    let own = "float raymarch(float x) { return x; }";
    assert_eq!(
        codes(&shader(
            "float",
            1,
            own,
            "float raymarch2 = 1.0; o0 = raymarch(raymarch2) < 2.0 ? 1.0 : 0.0;"
        )),
        []
    );
}

#[test]
fn hits_are_differentiable() {
    let text = "float f(float3 p, float r) { return length(p) - r; }
        [Differentiable] float g(float r) { hit h = raymarch<f>(float3(0), float3(1, 0, 0), 4, r); return h.t + h.normal.x; }
        [Differentiable] hit marched(float r) { return raymarch<f>(float3(0), float3(1, 0, 0), 4, r); }
        shader main(out float o) { o = fwd_diff(g)(diffPair(1.0, 1.0)).d + fwd_diff(marched)(diffPair(1.0, 1.0)).d.t; }";
    assert_eq!(codes(text), []);
}
