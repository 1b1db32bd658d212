//! Tests of buffers: where they are declared, what reads them, and what is refused.

use super::*;

#[test]
fn buffers_are_read_by_their_names() {
    for text in [
        "buffer<float> w; shader s(out float o) { o = w[0] + w[w.length() - 1]; }",
        "buffer<float3> w, v; float f(uint i) { return w[i].y * v[i][0]; } shader s(out float o) { o = f(2u); }",
        "buffer<int> n <<< label = \"indices\", hidden >>>; shader s(out int o) { o = n[n[0]]; }",
        // Locals, structs and variables may have these names.
        "buffer<float> w; shader s(out float o) { float w[2]; w[0] = 1; o = w[0]; }",
        "shader s(out float o) { float buffer = 2; int n = 3; o = buffer < n ? 1.0 : 0.0; }",
        "struct buffer { float a; }; shader s(out float o) { buffer b; b.a = 1; o = b.a; }",
        "float buffer(float x) { return x; } shader s(out float o) { o = buffer(2); }",
    ] {
        assert!(compile(text).is_ok(), "{text}: {:?}", compile(text).err());
    }
    let found =
        module("buffer<float> unread; buffer<float2> w; shader s(out float o) { o = w[3].y; }");
    let names: Vec<&str> = found.buffers.iter().map(|buffer| &*buffer.name).collect();
    assert_eq!(names, ["w"], "as textures, those that are read");
    assert_eq!(
        (found.buffers[0].width(), found.buffers[0].sum_of),
        (2, None)
    );
}

#[test]
fn what_is_no_buffer_is_refused() {
    let shader = |body: &str| format!("buffer<float> w; shader s(out float o) {{ o = 0; {body} }}");
    let declared = |item: &str| format!("{item} shader s(out float o) {{ o = 1; }}");
    for (text, code) in [
        (declared("buffer w;"), Code::BadVariableType),
        (declared("buffer<float, int> w;"), Code::BadVariableType),
        (declared("buffer<bool> w;"), Code::BadVariableType),
        (declared("buffer<uint> w;"), Code::BadVariableType),
        (declared("buffer<closure> w;"), Code::BadVariableType),
        (declared("buffer<float2x2> w;"), Code::BadVariableType),
        (declared("buffer<float[3]> w;"), Code::BadVariableType),
        (declared("buffer<buffer<float> > w;"), Code::BadVariableType),
        (declared("buffer<nosuch> w;"), Code::UnknownType),
        (declared("buffer<float> w[3];"), Code::BadVariableType),
        (
            declared("buffer<float> w = { 1, 2 };"),
            Code::BadInitializer,
        ),
        (declared("buffer<float> w; float w = 1;"), Code::Redeclared),
        (
            declared("float f(buffer<float> w) { return 1; }"),
            Code::BadVariableType,
        ),
        (
            declared("struct t { buffer<float> w; };"),
            Code::BadVariableType,
        ),
        (shader("buffer<float> v;"), Code::BadVariableType),
        (shader("o = w;"), Code::NotAValue),
        (shader("o = sin(w);"), Code::NotAValue),
        (shader("float v[2] = w;"), Code::NotAValue),
        (shader("w[0] = 1;"), Code::WriteToConst),
        (shader("w[0]++;"), Code::WriteToConst),
        (shader("o = w.size();"), Code::UnknownFunction),
        (shader("o = w.length(1);"), Code::ArgumentCount),
        (shader("o = w[0.5];"), Code::TypeMismatch),
        (shader("o = w.x;"), Code::NotAValue),
    ] {
        assert_eq!(codes(&text), [code], "{text}");
    }
}
