//! Words of related languages: types and functions that people write by habit, and what to write here.

/// Types: what begins so, and what to write instead.
const TYPES: &[(&str, &str)] = &[
    ("double", "use `float`: all arithmetic is in 32 bits"),
    ("half", "use `float`"),
    ("int2", "use separate ints: vectors are of floats"),
    ("int3", "use separate ints: vectors are of floats"),
    ("int4", "use separate ints: vectors are of floats"),
    ("uint2", "use separate uints: vectors are of floats"),
    ("uint3", "use separate uints: vectors are of floats"),
    ("uint4", "use separate uints: vectors are of floats"),
    ("bool2", "use separate bools: vectors are of floats"),
    ("bool3", "use separate bools: vectors are of floats"),
    ("bool4", "use separate bools: vectors are of floats"),
    ("ivec2", "use separate ints: vectors are of floats"),
    ("ivec3", "use separate ints: vectors are of floats"),
    ("ivec4", "use separate ints: vectors are of floats"),
    ("uvec2", "use separate uints: vectors are of floats"),
    ("uvec3", "use separate uints: vectors are of floats"),
    ("uvec4", "use separate uints: vectors are of floats"),
    ("bvec2", "use separate bools: vectors are of floats"),
    ("bvec3", "use separate bools: vectors are of floats"),
    ("bvec4", "use separate bools: vectors are of floats"),
    ("half2", "use `float2`"),
    ("half3", "use `float3`"),
    ("half4", "use `float4`"),
    ("double2", "use `float2`"),
    ("double3", "use `float3`"),
    ("double4", "use `float4`"),
    ("mat2", "use `float2x2`"),
    ("mat3", "use `float3x3`"),
    ("mat4", "use `float4x4`"),
    ("matrix", "use `float4x4`"),
    ("sampler2D", "declare `texture2d name;` at file level"),
    ("Texture2D", "declare `texture2d name;` at file level"),
    (
        "string",
        "texts stand only in messages: `printf(\"text\\n\")`",
    ),
    ("char", "use `int`"),
    ("short", "use `int`"),
    ("long", "use `int`, which has 32 bits"),
    ("unsigned", "use `uint`"),
];

/// Functions, and methods of textures.
const FUNCTIONS: &[(&[&str], &str)] = &[
    (
        &["tex2D", "texture", "texture2D", "Sample"],
        "declare `texture2d t;` at file level, and sample it: `texture2d_sample<t>(u, v)`",
    ),
    (
        &["tex2Dlod", "textureLod", "texture2DLod", "SampleLevel"],
        "declare `texture2d t;` at file level, and sample it: `texture2d_sample_level<t>(uv, level)`",
    ),
    (
        &["tex2Dgrad", "textureGrad", "texture2DGrad", "SampleGrad"],
        "declare `texture2d t;` at file level, and sample it: `texture2d_sample_grad<t>(uv, ddx(uv), ddy(uv))`",
    ),
    (
        &[
            "tex2Dbias",
            "tex2Dproj",
            "SampleBias",
            "textureProj",
            "texelFetch",
            "Load",
        ],
        "there are `texture2d_sample<t>`, `texture2d_sample_grad<t>` and `texture2d_sample_level<t>`",
    ),
    (
        &[
            "print",
            "fprintf",
            "puts",
            "debugPrintfEXT",
            "warning",
            "error",
        ],
        "messages are written `printf(\"%f\\n\", x)`",
    ),
    (
        &["pnoise", "psnoise"],
        "noise has no period here; it has one on a circle: `noise(r * cos(a), r * sin(a))`, which repeats with the angle",
    ),
    (
        &["perlin"],
        "Perlin's noise is `noise(p)`, from 0 to 1, or `snoise(p)`, from -1 to 1",
    ),
    (&["log1p"], "write `log(1.0 + x)`"),
    (&["expm1"], "write `exp(x) - 1.0`"),
    (&["exp10"], "write `pow(10.0, x)`"),
    (&["rcp"], "write `1.0 / x`"),
    (&["mad", "fma"], "write `a * b + c`"),
    (
        &[
            "any",
            "all",
            "lessThan",
            "lessThanEqual",
            "greaterThan",
            "greaterThanEqual",
            "equal",
            "notEqual",
        ],
        "there are no vectors of bools: compare components, `a.x < b.x && a.y < b.y`",
    ),
    (
        &["sprintf", "format"],
        "there are no variables of texts; `printf(\"%f\\n\", x)` gives a message",
    ),
];

/// What to write instead of a type that the language does not have.
pub(super) fn foreign_type(text: &str) -> Option<&'static str> {
    let known = TYPES.iter().find(|(name, _)| *name == text);
    known.map(|(_, help)| *help)
}

/// What to write instead of a function that the language does not have.
pub(super) fn foreign_function(text: &str) -> Option<&'static str> {
    let known = FUNCTIONS.iter().find(|(names, _)| names.contains(&text));
    known.map(|(_, help)| *help)
}
