//! `:help` on keywords that are not called: types, statements and qualifiers. The language
//! reference has the rest.

use super::help::{HelpPage, help_page};

/// Every keyword that no other list explains.
pub const KEYWORDS: &[HelpPage] = &[
    help_page(
        "bool",
        "bool b = true;",
        "a boolean. It takes part in no arithmetic: `b ? 1.0 : 0.0`, or `(int)b`",
    ),
    help_page(
        "int",
        "int i = -3;  int(x)",
        "a whole number of 32 bits that wraps. A call or a cast makes it of a float: truncated, and kept at the ends of int",
    ),
    help_page(
        "uint",
        "uint n = 7u;  uint(x)",
        "a whole number of 32 bits without sign: it divides, compares and shifts without one",
    ),
    help_page(
        "float",
        "float x = 0.5;  float(i)",
        "a number of 32 bits, with its derivatives wherever these are asked for",
    ),
    help_page(
        "float2",
        "float2 p = float2(x, y);",
        "a vector of 2 floats, with components .x .y or .r .g; also called vec2",
    ),
    help_page(
        "float3",
        "float3 p = float3(x, y, z);  float3(x)  float3(xy, z)",
        "a vector of 3 floats, with components .x .y .z or .r .g .b; also called vec3, color, vector, point, normal",
    ),
    help_page(
        "float4",
        "float4 p = float4(x, y, z, w);  float4(xyz, w)",
        "a vector of 4 floats, with components .x .y .z .w or .r .g .b .a; also called vec4",
    ),
    help_page(
        "float2x2",
        "float2x2 m = float2x2(a, b, c, d);  float2x2(1)",
        "a matrix, row by row: `m[row][column]`, `mul(m, v)`. One number fills the diagonal",
    ),
    help_page(
        "float3x3",
        "float3x3 m = float3x3(row0, row1, row2);  float3x3(1)",
        "a matrix, row by row: `m[row][column]`, `mul(m, v)`. One number fills the diagonal",
    ),
    help_page(
        "float4x4",
        "float4x4 m = float4x4(row0, row1, row2, row3);  float4x4(1)",
        "a matrix, row by row: `m[row][column]`, `mul(m, v)`. One number fills the diagonal",
    ),
    help_page(
        "closure",
        "closure c = make_closure<name>(…);",
        "a sum of reflections that the host evaluates: `0.5 * a + b`. Without a value it is empty",
    ),
    help_page(
        "texture2d",
        "texture2d name;",
        "a texture of the host, declared at the top of a file and sampled by `texture2d_sample<name>(uv)`",
    ),
    help_page(
        "buffer",
        "buffer<float> w;",
        "numbers of the host, declared at the top of a file and read by index: `w[i]`",
    ),
    help_page(
        "shader_resource",
        "shader_resource name;",
        "an object of the host that is passed to closures",
    ),
    help_page(
        "void",
        "void f(out float x) { … }",
        "a function that returns nothing",
    ),
    help_page(
        "struct",
        "struct ray { float3 from; float3 to; };",
        "a type with members: `ray r = { a, b };`, `r.from`. Derivatives go with the members",
    ),
    help_page(
        "shader",
        "shader name(float input = 1.0, out color result) { … }",
        "what the host calls: inputs with defaults, and outputs",
    ),
    help_page(
        "if",
        "if (a > b) { … } else if (…) { … } else { … }",
        "derivatives are those of the branch that was taken",
    ),
    help_page(
        "else",
        "if (a > b) { … } else { … }",
        "what is done if the condition does not hold",
    ),
    help_page(
        "for",
        "for (int i = 0; i < n; ++i) { … }",
        "a loop; `break` leaves it, `continue` goes on with the next iteration",
    ),
    help_page(
        "while",
        "while (condition) { … }",
        "a loop that tests its condition before each iteration",
    ),
    help_page(
        "do",
        "do { … } while (condition);",
        "a loop that tests its condition after each iteration",
    ),
    help_page(
        "switch",
        "switch (i) { case 0: …; break; case 1: case 2: …; break; default: … }",
        "compares an integer with constants; without `break` the next case follows",
    ),
    help_page(
        "case",
        "case 0: …",
        "a label of a `switch`: an integer constant",
    ),
    help_page(
        "default",
        "default: …",
        "the label of a `switch` for all that no `case` names",
    ),
    help_page(
        "break",
        "break;",
        "leaves the loop or the `switch` around it",
    ),
    help_page(
        "continue",
        "continue;",
        "goes on with the next iteration of the loop around it",
    ),
    help_page(
        "return",
        "return value;",
        "leaves the function; a shader gives its results through `out` parameters",
    ),
    help_page(
        "const",
        "const float k = 2.0;",
        "a value that is never written; at the top of a file, one for all functions",
    ),
    help_page(
        "let",
        "let x = 2.0 * y;",
        "a value that is never written, whose type is that of what it is given",
    ),
    help_page(
        "var",
        "var x = diffPair(p);",
        "a variable whose type is that of what it is given",
    ),
    help_page(
        "typedef",
        "typedef float3 radiance;",
        "another name of a type, at the top of a file",
    ),
    help_page(
        "in",
        "float f(in float x)",
        "a parameter that is given: what every parameter is without a qualifier",
    ),
    help_page(
        "out",
        "void f(out float x)",
        "a parameter that is handed back; in a shader, an output",
    ),
    help_page(
        "inout",
        "void f(inout float x)",
        "a parameter that is given and handed back",
    ),
    help_page(
        "no_diff",
        "float f(no_diff float x)  no_diff g(x)",
        "a constant for derivatives of functions: a parameter, a result, a member or a value. Its own derivatives `ddx` and `ddy` stay",
    ),
    help_page(
        "fwd_diff",
        "fwd_diff(f)(diffPair(x, dx), y)",
        "the forward derivative of a `[Differentiable]` function: a pair of its value `.p` and its differential `.d`",
    ),
    help_page(
        "bwd_diff",
        "bwd_diff(f)(x, y, 1.0)",
        "the backward derivative of a `[Differentiable]` function: the last argument is that of the result, and pairs get the gradient as `.d`",
    ),
    help_page(
        "diffPair",
        "DifferentialPair<float> x = diffPair(p, d);  diffPair(p)",
        "a pair of a value `.p` and its differential `.d`, which is 0 if it is left out",
    ),
    help_page(
        "detach",
        "detach(x)",
        "x, as a constant for derivatives of functions. Its own derivatives `ddx` and `ddy` stay",
    ),
    help_page(
        "Differentiable",
        "[Differentiable] float f(float x) { … }",
        "a mark of functions that `fwd_diff` and `bwd_diff` differentiate",
    ),
    help_page(
        "hit",
        "hit h = raymarch<f>(…);",
        "what `raymarch` gives: `converged`, `t`, `distance`, `position`, `normal` and `label`",
    ),
    help_page("true", "true", "the boolean that holds"),
    help_page("false", "false", "the boolean that does not hold"),
];

/// The keyword whose page explains this one: types have several names.
pub fn canonical_keyword(word: &str) -> &str {
    match word {
        "vec2" => "float2",
        "vec3" | "color" | "vector" | "point" | "normal" => "float3",
        "vec4" => "float4",
        _ => word,
    }
}
