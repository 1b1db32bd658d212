//! Names of related languages: types, functions and variables, and their equivalents here.

use crate::syntax_error::foreign_keyword;
use std::borrow::Cow;

/// Types of other languages: their names, and the equivalent here.
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
        "use `float2x2` with the same numbers, its rows being GLSL's columns, and exchange factors: `M * v` is `mul(v, M)`, `A * B` is `mul(B, A)`",
    ),
    (
        &["mat3", "mat3x3"],
        "use `float3x3` with the same numbers, its rows being GLSL's columns, and exchange factors: `M * v` is `mul(v, M)`, `A * B` is `mul(B, A)`",
    ),
    (
        &["mat4", "mat4x4"],
        "use `float4x4` with the same numbers, its rows being GLSL's columns, and exchange factors: `M * v` is `mul(v, M)`, `A * B` is `mul(B, A)`",
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
        "there are no string variables: number the choices, and make it an `int`",
    ),
    (
        &["diffPair", "DiffPair"],
        "write `var d = diffPair(…);`, or its type: `DifferentialPair<float> d`",
    ),
    (&["char", "short"], "use `int`"),
    (&["long"], "use `int`, which has 32 bits"),
    (&["unsigned"], "use `uint`"),
    (
        &["SamplerState", "sampler", "SamplerComparisonState"],
        "remove it: how a texture is sampled is up to the host",
    ),
];

/// Predefined variables of other languages.
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
            "iMouse",
            "iDate",
            "iFrame",
            "iFrameRate",
            "iTimeDelta",
            "iSampleRate",
        ],
        "an image has `time`, `resolution`, `pixel` and `uv`; make anything else an input of the shader",
    ),
    (
        &["iChannel0", "iChannel1", "iChannel2", "iChannel3"],
        "declare a texture at file level, `texture2d t;`, and sample it: `texture2d_sample<t>(u, v)`",
    ),
    (&["M_PI", "PI"], "declare it: `const float PI = 3.1415927;`"),
];

/// Another language's name of a quantity that a host knows of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForeignGlobal {
    pub(super) name: &'static str,
    /// The language that has the name.
    pub(super) language: &'static str,
    /// The global for it here.
    pub(super) global: &'static str,
    /// The expression that reads it.
    pub(super) read: &'static str,
    /// Whether the name has no other meaning, so that it is recognised where the host lacks the
    /// global.
    pub(super) is_unmistakable: bool,
}

const fn osl(name: &'static str, global: &'static str, read: &'static str) -> ForeignGlobal {
    ForeignGlobal {
        name,
        language: "OSL",
        global,
        read,
        is_unmistakable: false,
    }
}

const fn of_image(
    language: &'static str,
    name: &'static str,
    global: &'static str,
    read: &'static str,
) -> ForeignGlobal {
    ForeignGlobal {
        name,
        language,
        global,
        read,
        is_unmistakable: true,
    }
}

const GLOBALS: &[ForeignGlobal] = &[
    osl("P", "position", "global_value<position>"),
    osl("N", "normal", "global_value<normal>"),
    osl("Ng", "gnormal", "global_value<gnormal>"),
    osl("u", "uvw", "global_value<uvw>.x"),
    osl("v", "uvw", "global_value<uvw>.y"),
    of_image("Shadertoy", "iTime", "time", "global_value<time>"),
    of_image("Shadertoy", "iGlobalTime", "time", "global_value<time>"),
    of_image(
        "Shadertoy",
        "iResolution",
        "resolution",
        "global_value<resolution>",
    ),
    of_image("Shadertoy", "fragCoord", "pixel", "global_value<pixel>"),
    of_image("GLSL", "gl_FragCoord", "pixel", "global_value<pixel>"),
];

/// Texture sampling in other languages, as functions and as methods, and here.
const SAMPLING: &[(&[&str], &str)] = &[
    (
        &["tex2D", "texture", "texture2D", "Sample"],
        "texture2d_sample<{}>(u, v)",
    ),
    (
        &["tex2Dlod", "textureLod", "texture2DLod", "SampleLevel"],
        "texture2d_sample_level<{}>(uv, level)",
    ),
    (
        &["tex2Dgrad", "textureGrad", "texture2DGrad", "SampleGrad"],
        "texture2d_sample_grad<{}>(uv, ddx(uv), ddy(uv))",
    ),
];

/// OSL's closures.
const CLOSURES: &[&str] = &[
    "diffuse",
    "oren_nayar",
    "microfacet",
    "emission",
    "reflection",
    "refraction",
    "transparent",
    "translucent",
    "ward",
    "phong",
    "subsurface",
    "background",
    "holdout",
];

/// Other functions, and methods of textures.
const FUNCTIONS: &[(&[&str], &str)] = &[
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
    (
        &["textureSize", "GetDimensions", "gettextureinfo"],
        "a shader does not know a texture's size: coordinates go from 0 to 1; make the size an input of the shader",
    ),
    (
        &["textureQueryLod", "CalculateLevelOfDetail"],
        "write `log2(max(length(ddx(uv * size)), length(ddy(uv * size))))`, with the texture's size",
    ),
    (
        &["floatBitsToInt"],
        "`asint(x)` gives the bits of a float as an int",
    ),
    (
        &["floatBitsToUint", "asuint"],
        "write `(uint)asint(x)`: `asint` gives the bits of a float as an int",
    ),
    (
        &["intBitsToFloat"],
        "`asfloat(n)` gives the float that has the bits of an int",
    ),
    (
        &["uintBitsToFloat"],
        "write `asfloat((int)n)`: `asfloat` gives the float that has the bits of an int",
    ),
    (
        &[
            "bitCount",
            "countbits",
            "bitfieldReverse",
            "reversebits",
            "findLSB",
            "findMSB",
            "firstbithigh",
            "firstbitlow",
        ],
        "write a loop over the bits of a uint, with `&` and `>>`",
    ),
    (
        &["modf"],
        "write `trunc(x)` for the whole part, and `x - trunc(x)` for the rest",
    ),
    (&["ldexp"], "write `x * exp2(n)`"),
    (
        &["frexp"],
        "the exponent is `floor(log2(abs(x))) + 1.0`, and the rest `x` divided by `exp2` of that",
    ),
    (
        &["roundEven"],
        "write `round(x)`: halves go to the even number",
    ),
    (
        &["outerProduct"],
        "make the matrix from its rows: `float3x3(a.x * b, a.y * b, a.z * b)`",
    ),
    (
        &["matrixCompMult"],
        "multiply the rows: `float3x3(a[0] * b[0], a[1] * b[1], a[2] * b[2])`",
    ),
    (
        &["clip"],
        "a shader always yields its outputs; give them a value that means nothing is there",
    ),
    (
        &[
            "raytype",
            "backfacing",
            "getattribute",
            "getmessage",
            "surfacearea",
            "trace",
        ],
        "what the host knows of a point is read by `global_value<name>`, if it offers that",
    ),
    (
        &["isconnected", "isconstant"],
        "a shader does not see its wires: an input that nothing is wired to has its default",
    ),
    (
        &["transform", "transformc"],
        "spaces have no names here: multiply by a matrix, `mul(m, p)`, which can be an input of the shader",
    ),
    (
        &["calculatenormal"],
        "write `normalize(cross(ddx(p), ddy(p)))`, and `-` before it if it faces the other side",
    ),
    (
        &[
            "grad",
            "gradient",
            "derivative",
            "differentiate",
            "jvp",
            "vjp",
            "jacobian",
        ],
        "`bwd_diff(f)(…)` gives the gradient of a function, `fwd_diff(f)(…)` its derivative in one direction; at the prompt, `:grad f(x)`",
    ),
    (&["log1p"], "write `log(1.0 + x)`"),
    (&["expm1"], "write `exp(x) - 1.0`"),
    (&["exp10"], "write `pow(10.0, x)`"),
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
        "there are no string variables; `printf(\"%f\\n\", x)` gives a message",
    ),
];

/// Whether the word is a name of another language.
pub(super) fn is_foreign(text: &str) -> bool {
    foreign_type_fix(text).is_some()
        || foreign_value_fix(text).is_some()
        || foreign_global(text).is_some_and(|global| global.is_unmistakable)
        || foreign_function_fix(text).is_some()
        || foreign_keyword::foreign_opener_fix(text).is_some()
}

/// The replacement of a type that the language does not have.
pub(super) fn foreign_type_fix(text: &str) -> Option<&'static str> {
    find(TYPES, text)
}

/// The replacement of a function that the language does not have.
pub(super) fn foreign_function_fix(text: &str) -> Option<Cow<'static, str>> {
    if let Some(sample) = texture_sampling_fix(text, "t") {
        let help = format!("declare `texture2d t;` at file level, and sample it: `{sample}`");
        return Some(help.into());
    }
    if CLOSURES.contains(&text) {
        let help = "closures are made by name, with the arguments that the host's have";
        return Some(format!("{help}: `make_closure<{text}>(…)`").into());
    }
    find(FUNCTIONS, text).map(Cow::Borrowed)
}

/// The expression that samples `texture`, as a replacement for another language's function or
/// method.
pub(super) fn texture_sampling_fix(function: &str, texture: &str) -> Option<String> {
    find(SAMPLING, function).map(|here| here.replace("{}", texture))
}

/// The replacement of a variable that the language does not have.
pub(super) fn foreign_value_fix(text: &str) -> Option<&'static str> {
    find(VALUES, text)
}

/// The global that corresponds to another language's name.
pub(super) fn foreign_global(text: &str) -> Option<&'static ForeignGlobal> {
    GLOBALS.iter().find(|global| global.name == text)
}

fn find(words: &[(&[&str], &'static str)], text: &str) -> Option<&'static str> {
    let known = words.iter().find(|(names, _)| names.contains(&text));
    known.map(|(_, help)| *help)
}
