//! Tests of expressions: conversions, operators, vectors, arrays, structs, closures.

use super::*;
use adumbra_ir::host::{ClosureNode, ClosureRef};

#[test]
fn arithmetic_of_ints_and_floats() {
    assert_eq!(int("7 / 2"), 3);
    assert_eq!(int("-7 / 2"), -3);
    assert_eq!(int("-7 % 3"), -1);
    assert_eq!(int("1 << 33"), 2);
    assert_eq!(int("-8 >> 1"), -4);
    assert_eq!(int("(5 & 6) | (1 ^ 3)"), 6);
    assert_eq!(int("~0"), -1);
    assert_eq!(int("-true + +true"), 0);
    assert_eq!(int("!3 ? 10 : 20"), 20);
    assert_eq!(int("0x1f - -0x1F"), 62);
    assert_eq!(int("(int)3.99 + (int)-3.99"), 0);
    assert_eq!(int("(int)true"), 1);
    assert_eq!(float("7 / 2.0"), 3.5);
    assert_eq!(float("7.5 % 2"), 1.5);
    assert_eq!(float(".5 + 2. + 4.e1 - 1.e-0 + 3.0f"), 44.5);
    assert_eq!(float("1.0 / 512"), 1.0 / 512.0);
    assert_eq!(float("(float)7 / 2"), 3.5);
}

#[test]
fn unsigned_arithmetic() {
    let body = "uint a = 0xffffffff; o0 = (int)(a / 2u); o1 = (int)(a >> 31); o2 = a > 1u ? 1 : 0; o3 = (int)(a % 10u);";
    assert_eq!(ints(&shader("int", 4, "", body)), [0x7fff_ffff, 1, 1, 5]);
}

#[test]
fn comparisons() {
    let body = "int a = 1; float b = 1.5; o0 = a < b; o1 = b > a; o2 = a == 1; o3 = a >= 2; o4 = true != false;";
    assert_eq!(ints(&shader("bool", 5, "", body)), [1, 1, 1, 0, 1]);
}

#[test]
fn evaluation_is_from_left_to_right() {
    let body =
        "int n = 5; o0 = n - n++ * 10 + n; o1 = n; int k = 1; o2 = (k = 3) > k-- ? k : -1; o3 = k;";
    assert_eq!(ints(&shader("int", 4, "", body)), [5 - 50 + 6, 6, -1, 2]);
    let body = "int i = 0; int w[4] = { 10, 20, 30, 40 }; w[i++] += w[i] * ++i; o0 = w[0]; o1 = i;";
    assert_eq!(ints(&shader("int", 2, "", body)), [10 + 20 * 2, 2]);
}

#[test]
fn assignments_are_expressions() {
    let body = "int a; int b; a = b = 3; o0 = a + b; o1 = (a += 2) * 10; o2 = a++; o3 = a; o4 = --a; a <<= 2; a |= 1; o5 = a;";
    assert_eq!(ints(&shader("int", 6, "", body)), [6, 50, 5, 6, 5, 21]);
}

#[test]
fn vectors_and_scalars_in_both_orders() {
    let body = "vector v = vector(1, 2, 4); vector q = 1.0f / v - 2.0f; o0 = q.x; o1 = (2 * v).y; o2 = (v - v * 2).z; o3 = (-v).x; o4 = (v / 2).z;";
    assert_eq!(
        floats(&shader("float", 5, "", body)),
        [-1.0, 4.0, -4.0, -1.0, 2.0]
    );
}

#[test]
fn components_are_read_and_written() {
    let body = "vector v; v.x = 1.0f; v.g = 0.0; v.z = v.r; o0 = v.x + v.y + v.z;
        float4 c = float4(1, 2, 3, 4); c.xw = c.wx; o1 = c.x * 10 + c.w; o2 = c.bgr.y; c.zyx.xy = float2(7, 8); o3 = c.z * 10 + c.y;
        c[1] = 5; int i = 3; c[i] = 6; o4 = c.y + c[i] * 10; c.xy += 1; o5 = c.y; c.x++; o6 = c.x;";
    assert_eq!(
        floats(&shader("float", 7, "", body)),
        [2.0, 41.0, 2.0, 78.0, 65.0, 6.0, 6.0]
    );
}

#[test]
fn constructors_and_casts() {
    let body = "float3 a = color(2); o0 = a.y; float4 b = float4(a.xy, float2(3, 4)); o1 = b.w; o2 = float2(b).y; o3 = ((float3)0.5).z;
        vec2 t = vec2(1, 2); o4 = t.y; o5 = float3(t, 9).z; o6 = float(int(2.7));";
    assert_eq!(
        floats(&shader("float", 7, "", body)),
        [2.0, 4.0, 2.0, 0.5, 2.0, 9.0, 2.0]
    );
}

#[test]
fn built_in_functions_work_by_component() {
    let body = "float3 v = float3(-1, 0.25, 4); o0 = sqrt(v.yyy).x; o1 = clamp(v, 0, 1).z; o2 = mix(v, float3(0), 0.5).x; o3 = max(v, 0.5).y;
        o4 = pow(v.yz, 0.5).y; o5 = smoothstep(0.0, 1.0, v).y; o6 = step(0.0, v).x; o7 = abs(v).x;";
    let expected = [0.5, 1.0, -0.5, 0.5, 2.0, 0.15625, 0.0, 1.0];
    assert_eq!(floats(&shader("float", 8, "", body)), expected);
}

#[test]
fn built_in_functions_of_ints_stay_ints() {
    let body = "o0 = min(7, 3) / 2; o1 = abs(-7) / 2; o2 = clamp(9, 0, 5) / 2; o3 = sign(-4); o4 = max(1, 2); uint u = 7u; o5 = (int)(min(u, 3u) / 2u);";
    assert_eq!(ints(&shader("int", 6, "", body)), [1, 3, 2, -1, 2, 1]);
}

#[test]
fn aliases_mean_the_same() {
    let pairs = [
        ("lerp(1, 3, 0.25)", "mix(1.0, 3.0, 0.25)"),
        ("frac(-1.25)", "fract(-1.25)"),
        ("inversesqrt(3.0)", "rsqrt(3.0)"),
        ("atan(1.0, -2.0)", "atan2(1.0, -2.0)"),
        ("select(1, 2.0, 3)", "2.0"),
        ("mod(-1.0, 3.0)", "2.0"),
        ("fmod(-1.0, 3.0)", "-1.0"),
        ("saturate(1.5)", "1.0"),
    ];
    for (a, b) in pairs {
        assert_eq!(float(a), float(b), "{a} {b}");
    }
    let x = "global_value<x>";
    for name in ["ddx", "Dx", "dFdx", "dpdx", "ddx_fine", "dFdxCoarse"] {
        assert_eq!(float(&format!("{name}({x} * {x})")), 3.0, "{name}");
    }
}

#[test]
fn the_standard_library() {
    let v = "float3(1, 2, 2)";
    assert_eq!(float(&format!("length({v})")), 3.0);
    assert_eq!(float(&format!("dot({v}, {v})")), 9.0);
    assert_eq!(float(&format!("distance({v}, float3(1, 2, 4))")), 2.0);
    assert!((float(&format!("normalize({v} * 3).z")) - 2.0 / 3.0).abs() < 1e-6);
    assert_eq!(float("normalize(float3(0)).x"), 0.0);
    assert_eq!(float("cross(float3(1, 0, 0), float3(0, 1, 0)).z"), 1.0);
    assert_eq!(float("reflect(float2(1, -1), float2(0, 1)).y"), 1.0);
    assert_eq!(float("refract(float2(1, 0), float2(0, 1), 2.0).x"), 0.0);
    assert_eq!(
        float("faceforward(float2(0, 1), float2(0, 1), float2(0, 1)).y"),
        -1.0
    );
    assert_eq!(float("degrees(radians(90.0))"), 90.0);
    assert_eq!(float("length(float2(3, 4))"), 5.0);
    assert_eq!(float("fwidth(global_value<p>).y"), 0.2 + 0.5);
    assert!((float("filterwidth(global_value<p>.x)") - 0.17f32.sqrt()).abs() < 1e-6);
}

#[test]
fn arrays() {
    let body = "float w[8] = { 1.0f }; o0 = w[0] + w[7]; float[3] q = { 1, 2, 3 }; float r[3]; r = q; q[1] = 9; o1 = r[1] + q[1];
        float s[] = { 4, 5 }; int i = 1; o2 = s[i]; s[i] *= 2; o3 = s[1];";
    assert_eq!(
        floats(&shader("float", 4, "", body)),
        [1.0, 11.0, 5.0, 10.0]
    );
}

#[test]
fn array_in_loop_is_cleared_each_iteration() {
    let body = "for (int i = 0; i < 3; ++i) { float w[2]; w[1] += 1; o0 += w[1]; }";
    assert_eq!(floats(&shader("float", 1, "", body)), [3.0]);
}

#[test]
fn an_index_out_of_range_is_a_fault_and_clamped() {
    let result = outcome(&shader(
        "float",
        1,
        "",
        "float w[3] = { 1, 2, 3 }; int i = 7; o0 = w[i] + w[-1];",
    ));
    assert_eq!(result.outputs[0].float, 4.0);
    assert!(!result.faults.is_empty() && result.faults.stopped().is_none());
    let result = outcome(&shader(
        "float",
        1,
        "",
        "float3 v = float3(1, 2, 3); int i = -7; o0 = v[i]; v[9] = 5; o0 += v.z * 10;",
    ));
    assert_eq!(result.outputs[0].float, 51.0);
}

#[test]
fn structs() {
    let before = "struct ray { float3 origin; float t; }; struct pair { ray a; ray b; int n; };
        struct pair swap2(struct pair p) { struct pair q; q.a = p.b; q.b = p.a; q.n = p.n + 1; return q; }
        void reset(out float3 v) { v = float3(7); }";
    let body = "ray r = { { 1, 2, 3 }, 4 }; pair p = { r }; p.b.t = 5; p = swap2(p); o0 = p.a.t; o1 = p.b.origin.y; o2 = p.n;
        reset(p.a.origin); o3 = p.a.origin.z; p = swap2(swap2(p)); o4 = p.n; o5 = p.a.origin[1];
        pair none = {}; o6 = none.b.t;";
    let expected = [5.0, 2.0, 1.0, 7.0, 3.0, 7.0, 0.0];
    assert_eq!(floats(&shader("float", 7, before, body)), expected);
}

#[test]
fn arrays_of_structs_and_structs_with_arrays() {
    let before = "struct item { float a; float2 b; }; struct bag { int n; float w[4]; };
        bag fill(float x) { bag b; b.n = 2; b.w[1] = x; return b; }
        float sum(bag b) { float s; for (int i = 0; i < 4; ++i) s += b.w[i]; return s * b.n; }";
    let body = "item t[3]; t[1].b.y = 5; t[2] = t[1]; t[2].a = 1; int i = 2; o0 = t[i].b.y + t[i].a; o1 = t[0].b.y;
        bag b = fill(3); o2 = b.w[1] * b.n; bag c = b; c.w[1] = 1; o3 = sum(b) + sum(c); o4 = sum(fill(10)); o5 = fill(4).w[1];
        bag d = { 1, { 1, 2 } }; o6 = sum(d); o7 = sum(o6 > 2 ? b : d);";
    let expected = [6.0, 0.0, 6.0, 8.0, 20.0, 4.0, 3.0, 6.0];
    assert_eq!(floats(&shader("float", 8, before, body)), expected);
}

#[test]
fn user_names_hide_built_in_ones() {
    let before = "struct vec2 { float u; float v; }; int min(int p, int q) { return p * 100 + q; } float sin(float x) { return 42; }";
    let body = "vec2 t; t.u = 1; o0 = t.u; o1 = min(3, 4); o2 = sin(0.0); float cos = 3; o3 = cos; float color = 2; o4 = color;";
    assert_eq!(
        floats(&shader("float", 5, before, body)),
        [1.0, 304.0, 42.0, 3.0, 2.0]
    );
}

#[test]
fn derivatives_of_vectors_and_structs() {
    let before = "struct s { float a; int n; float2 b; };";
    let body = "float3 p = global_value<p>; o0 = ddx(p).y; o1 = ddy(p * 2).z; o2 = ddx(p.xy).y;
        s t; t.a = p.x; t.n = 3; t.b = p.yz; s d = ddy(t); o3 = d.a; o4 = d.n; o5 = d.b.y; o6 = ddx(2.0);";
    let expected = [0.2, 1.2, 0.2, 0.4, 0.0, 0.6, 0.0];
    assert_eq!(floats(&shader("float", 7, before, body)), expected);
}

#[test]
fn closures() {
    let before = "closure twice(closure c) { return c + c; }";
    let text = shader(
        "closure",
        1,
        before,
        "closure base = make_closure<glow>(1.0, 2, true, float2(3, 4)); closure c = 0.2 * make_closure<glow>(1.0) + base * 0.8;
         c += base; c = color(1, 2, 3) * twice(c) * 2; o0 = global_value<flag> ? c : base;",
    );
    let module = module(&text);
    assert_eq!(module.closures.len(), 2);
    assert_ne!(outputs(&text)[0].word, 0);
}

#[test]
fn resources_are_passed_on() {
    let before = "shader_resource first, second; closure lit(int n, shader_resource r) { return make_closure<table>(n, r); }
        shader_resource either(bool b, inout shader_resource r) { shader_resource old = r; r = second; return b ? old : first; }
        float first_of(float3 second) { return second.x; }";
    let body = "shader_resource r = second; for (int i = 0; i < 2; ++i) if (i == 1) r = first; closure c = lit(1, r);
        c += lit(2, either(false, r)) + make_closure<table>(3, r) + make_closure<table>(4, select(global_value<flag>, second, first)); o0 = c;";
    let text = shader("closure", 1, before, body);
    assert_eq!(module(&text).resources, ["second", "first"]);
    let outcome = outcome(&text);
    let mut given = Vec::new();
    let mut left = vec![ClosureRef::from_word(outcome.outputs[0].word)];
    while let Some(closure) = left.pop() {
        match outcome.closures.node(closure) {
            Some(ClosureNode::Add(a, b)) => left.extend([b, a]),
            Some(ClosureNode::Leaf { args, .. }) => {
                given.push(outcome.closures.args(args).to_vec())
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(given, [[1, 1], [2, 1], [3, 0], [4, 0]]);
}

#[test]
fn textures() {
    let before = "texture2d wood;";
    let body = "float2 uv = global_value<p>.xy; o0 = texture2d_sample<wood>(uv).y; o1 = texture2d_sample<wood>(0, 1).z; o2 = texture2d_sample_alpha<wood>(uv.x, uv.y);";
    let text = shader("float", 3, before, body);
    assert_eq!(floats(&text), [0.5, 0.75, 1.0]);
    assert_eq!(module(&text).textures[0].name, "wood");
}
