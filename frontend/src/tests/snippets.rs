//! Tests of the snippets of the SORT post.

use super::*;

const EVAL_PRACTICAL: &str = "
float eval_practical(float x1, float x2) {
    const float u = x1 * x2 / (x1 + 1.f);
    return (sin(u) + log(1.f + u) - exp(x2)) * (u - tanh(x2));
}
";

#[test]
fn equation_3() {
    let text = shader(
        "float",
        1,
        EVAL_PRACTICAL,
        "o0 = eval_practical(global_value<x>, global_value<y>);",
    );
    let o = outputs(&text)[0];
    assert!((o.float - 0.176_843_36).abs() < 3e-7, "{o:?}");
    assert!((o.shadows[0] + 0.109_633_5).abs() < 3e-7, "{o:?}");
    assert!((o.shadows[1] - 0.302_920_9).abs() < 3e-7, "{o:?}");
}

#[test]
fn equation_3_by_ddx() {
    let body = "o0 = ddx(eval_practical(global_value<x>, global_value<y>));";
    let o = floats(&shader("float", 1, EVAL_PRACTICAL, body))[0];
    assert!((o + 0.109_633_5).abs() < 3e-7, "{o}");
}

#[test]
fn the_trace() {
    let text = "
void eval(float x1, float x2, out float o)
{
    const float v0 = x1 + 1.f;
    const float v1 = x1 * x2;
    const float v2 = v1 / v0;
    const float v3 = sin(v2);
    const float v4 = log(1.f + v2);
    const float v5 = exp(x2);
    const float v6 = tanh(x2);
    const float v7 = v3 + v4;
    const float v8 = v7 - v5;
    const float v9 = v2 - v6;
    const float v10 = v8 * v9;

    o = v10;
}
shader main(out float o) { eval(global_value<x>, global_value<y>, o); }";
    let o = outputs(text)[0];
    assert!(
        (o.float - 0.1768).abs() < 5e-5 && (o.shadows[0] + 0.1096).abs() < 5e-5,
        "{o:?}"
    );
}

#[test]
fn a_texture_shader() {
    let text = "
texture2d g_albedo;
shader shader_entry(out closure output)
{
    const float3 fake_normal = vector(0.0f, 1.0f, 0.0f);
    const float3 global_input_pos = global_value<p>;
    const float x = global_input_pos.x;
    const float y = global_input_pos.y;
    const float z = global_input_pos.z;
    const float v = y * z;
    const color basecolor = texture2d_sample<g_albedo>(x, v);
    output = make_closure<Lambert>(basecolor, fake_normal);
}";
    let module = module(text);
    assert_eq!(module.textures[0].name, "g_albedo");
    assert_eq!(module.closures[0].name, "Lambert");
    assert_eq!(
        module.closures[0].params,
        [Type::Vector(3), Type::Vector(3)]
    );
    let outcome = outcome(text);
    assert_eq!(outcome.outputs.len(), 1);
    assert_ne!(outcome.outputs[0].word, 0);
}

#[test]
fn out_parameter_keeps_derivative() {
    let text = "
void func(float x, float y, out float ox, out float oy)
{
    ox = x;
    oy = y;
}
shader shader_entry(out float g0, out float g1)
{
    float x0 = global_value<x>;
    float y0 = 1.f;
    float x1 = 1.f;
    float y1 = global_value<x>;
    float ox, oy;
    func(x0, y0, ox, oy);
    g0 = ddx(ox);
    func(x1, y1, ox, oy);
    g1 = ddx(oy) * 2 + ddx(ox);
}";
    assert_eq!(floats(text), [1.0, 2.0]);
}

#[test]
fn literals_through_out_have_none() {
    let text = "
void func(float x, out float ox) { ox = x; }
shader shader_entry(out float g0) {
    float x0 = 1.f;
    float x1 = 2.f;
    func(x0, x1);
    g0 = ddx(x1);
}";
    assert_eq!(floats(text), [0.0]);
}

#[test]
fn there_are_no_external_functions() {
    let text = "
float custom_square(float x);
shader function_name(float arg0, out float data) { data = custom_square(arg0); }";
    assert_eq!(codes(text), [Code::NeverDefined]);
}

#[test]
fn a_branch_between_derivatives() {
    let text = shader(
        "float",
        1,
        "",
        "float x = global_value<x>; float y = global_value<y>; float flag = global_value<n>;
         o0 = flag > 0.f ? ddx(x * 3) : ddy(y);",
    );
    assert_eq!(floats(&text), [3.0]);
}
