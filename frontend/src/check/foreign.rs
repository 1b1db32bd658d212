//! Words of related languages: types, functions and variables that people write by habit, and what to write here.

/// Types: what is called so, and what to write instead.
const TYPES: &[(&[&str], &str)] = &[
    (&["double"], "use `float`: all arithmetic is in 32 bits"),
    (&["half", "f16", "f32", "f64"], "use `float`"),
    (
        &["int2", "int3", "int4", "ivec2", "ivec3", "ivec4"],
        "use separate ints: vectors are of floats",
    ),
    (
        &["uint2", "uint3", "uint4", "uvec2", "uvec3", "uvec4"],
        "use separate uints: vectors are of floats",
    ),
    (
        &["bool2", "bool3", "bool4", "bvec2", "bvec3", "bvec4"],
        "use separate bools: vectors are of floats",
    ),
    (&["half2", "double2", "dvec2"], "use `float2`"),
    (&["half3", "double3", "dvec3"], "use `float3`"),
    (&["half4", "double4", "dvec4"], "use `float4`"),
    (
        &["mat2", "mat2x2"],
        "use `float2x2`, made from its rows: GLSL's numbers are columns, so exchange them or call `transpose`",
    ),
    (
        &["mat3", "mat3x3"],
        "use `float3x3`, made from its rows: GLSL's numbers are columns, so exchange them or call `transpose`",
    ),
    (
        &["mat4", "mat4x4"],
        "use `float4x4`, made from its rows: GLSL's numbers are columns, so exchange them or call `transpose`",
    ),
    (&["matrix"], "use `float4x4`"),
    (
        &[
            "float2x3", "float2x4", "float3x2", "float3x4", "float4x2", "float4x3", "mat2x3",
            "mat2x4", "mat3x2", "mat3x4", "mat4x2", "mat4x3",
        ],
        "matrices are square: use `float2x2`, `float3x3` or `float4x4`, or an array of vectors",
    ),
    (
        &["sampler2D", "Texture2D"],
        "declare `texture2d name;` at file level",
    ),
    (
        &["string"],
        "texts stand only in messages: `printf(\"text\\n\")`",
    ),
    (&["char", "short"], "use `int`"),
    (&["long"], "use `int`, which has 32 bits"),
    (&["unsigned"], "use `uint`"),
];

/// Variables that are simply there in other languages.
const VALUES: &[(&[&str], &str)] = &[
    (
        &["gl_FragColor", "fragColor", "FragColor"],
        "results are `out` parameters of the shader: `shader name(out float4 c) { … }`",
    ),
    (
        &["Ci"],
        "results are `out` parameters of the shader: `shader name(out closure c) { … }`",
    ),
    (
        &[
            "gl_FragCoord",
            "fragCoord",
            "iResolution",
            "iTime",
            "iMouse",
        ],
        "what the host knows is read by `global_value<name>`, with the names that it has",
    ),
    (&["M_PI", "PI"], "declare it: `const float PI = 3.1415927;`"),
];

/// OSL's names of what a renderer knows of a point, the global that has it here, and how to read it.
const GLOBALS: &[(&str, &str, &str)] = &[
    ("P", "position", "global_value<position>"),
    ("N", "normal", "global_value<normal>"),
    ("Ng", "gnormal", "global_value<gnormal>"),
    ("u", "uvw", "global_value<uvw>.x"),
    ("v", "uvw", "global_value<uvw>.y"),
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
    find(TYPES, text)
}

/// What to write instead of a function that the language does not have.
pub(super) fn foreign_function(text: &str) -> Option<&'static str> {
    find(FUNCTIONS, text)
}

/// What to write instead of a variable that the language does not have.
pub(super) fn foreign_value(text: &str) -> Option<&'static str> {
    find(VALUES, text)
}

/// The global that has what OSL calls so, and how to read it.
pub(super) fn foreign_global(text: &str) -> Option<(&'static str, &'static str)> {
    let known = GLOBALS.iter().find(|(name, ..)| *name == text);
    known.map(|(_, global, read)| (*global, *read))
}

fn find(words: &[(&[&str], &'static str)], text: &str) -> Option<&'static str> {
    let known = words.iter().find(|(names, _)| names.contains(&text));
    known.map(|(_, help)| *help)
}
