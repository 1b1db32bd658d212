//! Tests of declarations of files, and of a module's interface.

use super::*;
use adumbra_ir::module::PassingMode;

#[test]
fn shapes_of_files() {
    for text in [
        "",
        "// nothing",
        "/* \n */",
        "int three() { return 3; }",
        "shader a(){} shader b(){} int late(){ return 1; }",
    ] {
        assert!(compile(text).is_ok(), "{text}");
    }
}

#[test]
fn constants_of_files() {
    let before = "const float K = 0.5; const int N = 2 + 1; float table[N] = { 1, 2, sqrt(16.0) }; const float3 AXIS = float3(0, K, 1); struct s { float a; float w[N]; }; const s S = { 1, { 2, 3 } };";
    let body = "int i = 2; o0 = K + table[i] + table[1]; o1 = AXIS.y; o2 = S.w[1]; float w[N * 2]; w[5] = 3; o3 = w[5]; int j = 0; o4 = S.w[j] + AXIS[i]; float q[3] = table; o5 = q[2]; const int M = N + 1; float z[M]; o6 = M;";
    let expected = [6.5, 0.5, 3.0, 3.0, 3.0, 4.0, 4.0];
    assert_eq!(floats(&shader("float", 7, before, body)), expected);
}

#[test]
fn constants_may_follow_their_uses() {
    let before = "float d(float w[N] = table, float k = K) { return w[N - 1] + k; } const s S = { K, { 2, 3 } };
        const float first = S.w[1] + later, later = K; struct s { float a; float w[N]; };
        const float table[] = { 1, 2, K }; const int N = HALF + 1, HALF = 2; const float K = 0.5;";
    let body = "o0 = first; o1 = table[2]; o2 = N; o3 = S.a; o4 = d();";
    let expected = [3.5, 0.5, 3.0, 0.5, 1.0];
    assert_eq!(floats(&shader("float", 5, before, body)), expected);
    // Constants in the wrong order, 20,000 of them.
    let chain: String = (0..20_000)
        .map(|n| format!("const int c{n} = c{} + 1;", n + 1))
        .collect();
    let text = format!("{chain} const int c20000 = 0; shader s(out int o) {{ o = c0; }}");
    assert_eq!(ints(&text), [20_000]);
}

#[test]
fn cyclic_constants_are_refused_once() {
    for text in [
        "const float a = a;",
        "const float a = b; const float b = a;",
        "const float a = b + 1, b = c, c = 2 * a; float f() { return a + b + c; }",
        "const int n = S.w[0]; struct s { float w[n]; }; const s S = { { 1 } };",
        "const int n = w[0]; const int w[n] = { 1 };",
    ] {
        assert_eq!(codes(text), [Code::ConstantCycle], "{text}");
    }
}

#[test]
fn a_constant_array_is_filled_once_in_each_function() {
    let before =
        "float table[3] = { 1, 2, 3 }; float at(int i) { return table[i] + table[2 - i]; }";
    assert_eq!(
        floats(&shader(
            "float",
            2,
            before,
            "o0 = at(0); int i = 1; o1 = table[i] + at(i);"
        )),
        [4.0, 6.0]
    );
}

#[test]
fn inputs_and_outputs() {
    let text = "shader s(float gain = 1.5 <<< >>>, in const float a, int m = 2 <<< label = \"count\" >>>, float w[2] = { 3 }, out int r = 7, out float3 c, out float q[2]) {
        c = float3(gain, m, a); q[1] = w[0] + w[1]; }";
    let module = module(text);
    let inputs: Vec<_> = module
        .inputs
        .iter()
        .map(|input| (input.name.as_str(), input.default.clone()))
        .collect();
    let f = f32::to_bits;
    assert_eq!(
        inputs,
        [
            ("gain", vec![f(1.5)]),
            ("a", vec![0]),
            ("m", vec![2]),
            ("w", vec![f(3.0), 0])
        ]
    );
    let names: Vec<_> = module
        .outputs
        .iter()
        .map(|output| output.name.as_str())
        .collect();
    assert_eq!(names, ["r", "c", "q"]);
    let outputs = outputs(text);
    assert_eq!(outputs[0].word, 7);
    let floats: Vec<f32> = outputs[1..].iter().map(|slot| slot.float).collect();
    assert_eq!(floats, [1.5, 2.0, 0.0, 0.0, 3.0]);
}

#[test]
fn an_array_of_structs_as_an_output_is_in_the_order_of_the_host() {
    let text = "struct s { float a; float2 b; }; shader main(s t[2] = { { 1, { 2, 3 } }, { 4, { 5, 6 } } }, out s u[2], out float o) { u = t; o = t[1].b.x; }";
    assert_eq!(floats(text), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0]);
}

#[test]
fn outputs_read_back_initial_values() {
    assert_eq!(
        floats(&shader("float", 3, "", "o0 = 3; o1 = o0 * 2;")),
        [3.0, 6.0, 0.0]
    );
}

#[test]
fn members_group_parameters() {
    let before = "struct s { float a; float w[4]; }; s f(float3 v, inout s t, out float o) { o = v.x; return t; }";
    let module = module(&shader("float", 1, before, "s t; f(float3(1), t, o0);"));
    let members = &module.functions[1].members;
    let seen: Vec<_> = members
        .iter()
        .map(|m| (m.name.as_str(), m.mode, m.params, m.results, m.arrays))
        .collect();
    assert_eq!(
        seen,
        [
            ("v", PassingMode::In, (0, 3), (1, 0), (0, 0)),
            ("t", PassingMode::InOut, (3, 1), (1, 1), (0, 1)),
            ("o", PassingMode::InOut, (4, 1), (2, 1), (1, 0)),
            ("return", PassingMode::Return, (0, 0), (0, 1), (1, 1)),
        ]
    );
}

#[test]
fn values_have_the_names_of_their_variables() {
    let module = module(&shader(
        "float",
        1,
        "",
        "float3 p = global_value<p> * 2; float q = p.x + 1; o0 = q;",
    ));
    for name in ["p.x", "p.y", "p.z", "q", "o0"] {
        assert!(module.names.iter().any(|known| known == name), "{name}");
    }
    let entry = &module.functions[0];
    let named = |name: &str| {
        entry
            .values
            .iter()
            .any(|v| v.name.is_some_and(|id| module.names[id.index()] == name))
    };
    assert!(named("p.x") && named("q"));
}

#[test]
fn only_functions_that_are_reached_are_lowered() {
    let before = "float f(float x) { return g(x); } float g(float x) { return dot(float2(x), float2(1)); } float unused() { return 1; }";
    let module = module(&shader("float", 1, before, "o0 = f(1);"));
    let names: Vec<_> = module
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.library))
        .collect();
    assert_eq!(
        names,
        [("main", false), ("f", false), ("g", false), ("dot", true)]
    );
}

#[test]
fn a_struct_may_be_used_before_it_is_defined() {
    let before =
        "struct outer { inner i; }; float f(outer o) { return o.i.x; } struct inner { float x; };";
    assert_eq!(
        floats(&shader(
            "float",
            1,
            before,
            "outer o; o.i.x = 3; o0 = f(o);"
        )),
        [3.0]
    );
}

#[test]
fn keywords_take_any_word_as_a_name() {
    let text = "texture2d color; shader main(out closure c) { c = make_closure<float>(texture2d_sample<color>(0, 0)); }";
    assert_eq!(module(text).closures[0].name, "float");
}
