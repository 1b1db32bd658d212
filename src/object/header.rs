//! The header for C and C++ of an object file.

use crate::program::Program;
use adumbra_ir::{Scalar, Type};
use std::collections::HashSet;
use std::fmt::Write;

/// The reserved words of C and C++ up to their standards of 2023, and GNU's `typeof`. A host may
/// call a global by any of them.
const KEYWORDS: [&str; 95] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "const",
    "consteval",
    "constexpr",
    "constinit",
    "const_cast",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Names of macros: of the headers that are included, of `complex.h`, and those that GNU's
/// compilers define.
const MACROS: [&str; 5] = ["I", "NULL", "i386", "linux", "unix"];

/// The types of members: in C++, a member of such a name hides the type from the members after it.
const TYPES: [&str; 2] = ["int32_t", "uint32_t"];

/// The names of a scope.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    /// A name that is free: this one, or with `_` appended.
    fn take(&mut self, mut name: String) -> String {
        while !self.0.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// A string as a name of C: other characters become `_`. Hosts and groups choose any names.
fn identifier(text: &str) -> String {
    let is_of_names = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = text.replace(|c| !is_of_names(c), "_");
    match name.starts_with(|first: char| !first.is_ascii_digit()) {
        true => name,
        false => format!("_{name}"),
    }
}

/// A string that ends no comment.
fn remark(text: &str) -> String {
    text.replace("*/", "* /").replace(['\n', '\r'], " ")
}

/// The name and the array suffix of a declaration of that size.
fn dimensions(ty: &Type) -> String {
    match ty {
        Type::Vector(n) => format!("[{n}]"),
        Type::Matrix(n) => format!("[{n}][{n}]"),
        Type::Array(element, count) => format!("[{count}]{}", dimensions(element)),
        Type::Scalar(_) | Type::Struct(_) => String::new(),
    }
}

/// The type that a name is declared with, `indent` spaces from the left.
fn base(ty: &Type, indent: usize) -> String {
    match ty {
        Type::Scalar(Scalar::F32) | Type::Vector(_) | Type::Matrix(_) => "float".to_owned(),
        Type::Scalar(Scalar::I32) => "int32_t".to_owned(),
        Type::Scalar(_) => "uint32_t".to_owned(),
        Type::Array(element, _) => base(element, indent),
        Type::Struct(own) => {
            let members = own.members.iter().map(|(name, ty)| (&**name, ty));
            let members = self::members(members, "", indent + 4);
            format!("struct {{\n{members}{:indent$}}}", "")
        }
    }
}

/// Members of a struct, a line each or more.
fn members<'a>(
    all: impl IntoIterator<Item = (&'a str, &'a Type)>,
    parts: &str,
    indent: usize,
) -> String {
    let (mut text, mut names) = (String::new(), Names::default());
    // An empty array takes no memory, and C has no empty arrays.
    for (name, ty) in all.into_iter().filter(|(_, ty)| ty.scalar_count() > 0) {
        let (base, dimensions) = (base(ty, indent), dimensions(ty));
        let name = names.take(member(&identifier(name)));
        let _ = writeln!(text, "{:indent$}{base} {name}{parts}{dimensions};", "");
    }
    text
}

/// A name that may be a member's: one that is reserved in C, C++ or their headers gets a `_`
/// appended. So does one that would be the same then.
fn member(name: &str) -> String {
    match is_kept(name.trim_end_matches('_')) {
        true => format!("{name}_"),
        false => name.to_owned(),
    }
}

fn is_kept(name: &str) -> bool {
    let is_reserved = name.strip_prefix('_').is_some_and(|rest| {
        rest.starts_with(|first: char| first == '_' || first.is_ascii_uppercase())
    });
    let is_limit = name.ends_with("_MIN") || name.ends_with("_MAX");
    is_reserved
        || is_limit
        || name.starts_with("ADUMBRA_")
        || [&KEYWORDS[..], &MACROS, &TYPES]
            .iter()
            .any(|list| list.contains(&name))
}

/// A header under construction.
struct Header {
    text: String,
    /// The declarations so far.
    names: Names,
}

impl Header {
    /// A struct, and an assertion of its number of words; nothing for one without any. Gives its
    /// name.
    fn declare(&mut self, name: String, what: &str, members: &str, words: usize) -> String {
        let name = self.names.take(name);
        if words > 0 {
            let bytes = 4 * words;
            let check = self.names.take(format!("{name}_is_as_large"));
            let _ = write!(
                self.text,
                "\n/* {what} */\ntypedef struct {name} {{\n{members}}} {name};\n\
                 typedef char {check}[sizeof({name}) == {bytes} ? 1 : -1];\n"
            );
        }
        name
    }

    /// Numbers by name.
    fn numbers<'a>(&mut self, prefix: &str, what: &str, all: impl Iterator<Item = &'a str>) {
        let mut lines = String::new();
        for (number, name) in all.enumerate() {
            let name = self.names.take(format!("{prefix}_{}", identifier(name)));
            let _ = writeln!(lines, "    {name} = {number},");
        }
        if !lines.is_empty() {
            let _ = write!(self.text, "\n/* {what} */\nenum {{\n{lines}}};\n");
        }
    }
}

/// The header of these shaders, by their names in C.
pub(super) fn header<'a>(
    file: &str,
    shaders: impl Iterator<Item = (&'a str, &'a Program)>,
) -> String {
    let is_of_names = |c: char| c.is_ascii_alphanumeric();
    let guard = file.to_ascii_uppercase().replace(|c| !is_of_names(c), "_");
    let guard = format!("ADUMBRA_OBJECT_{guard}");
    let text = format!(
        "/* {}: shaders compiled ahead of time, as `adumbra aot` writes them. */\n\n\
         #ifndef {guard}\n#define {guard}\n\n#include \"adumbra.h\"\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
        remark(file)
    );
    let mut header = Header {
        text,
        names: Names::default(),
    };
    for (name, program) in shaders {
        shader(&mut header, name, program);
    }
    header.text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
}

fn shader(to: &mut Header, name: &str, program: &Program) {
    let _ = write!(
        to.text,
        "\n/* The shader {name}, for adumbra_program_from_object. */\n\
         extern const AdumbraObjectShader adumbra_object_{name};\n"
    );
    if !program.inputs().is_empty() {
        let _ = write!(to.text, "\n/* Its parameters, for adumbra_instance_set:\n");
        for input in program.inputs() {
            let _ = writeln!(to.text, " *   {} {}", input.ty, remark(&input.name));
        }
        to.text.push_str(" */\n");
    }
    let layout = program.globals();
    let globals = layout.members().iter().map(|own| (own.name(), own.ty()));
    let globals = to.declare(
        format!("{name}_globals"),
        "What the host knows of a point: of each the value, its change towards the next pixel along x, and that along y.",
        &members(globals, "[3]", 4),
        layout.size() / 4,
    );
    let outputs = || program.outputs().iter().map(|own| (&*own.name, &own.ty));
    let words = outputs().map(|(_, ty)| ty.scalar_count()).sum();
    let outputs = to.declare(
        format!("{name}_outputs"),
        "What comes out, or how it changes along x or y. Closures are numbers to read their trees by.",
        &members(outputs(), "", 4),
        words,
    );
    let prefix = |of: &str| format!("{name}_{of}");
    let textures = program.textures().iter().map(|texture| &*texture.name);
    let what = "Textures, as requests name them.";
    to.numbers(&prefix("texture"), what, textures);
    let resources = program.resources().iter().map(|name| &**name);
    let what = "Resources, as closures name them.";
    to.numbers(&prefix("resource"), what, resources);
    let shapes = program.closures().iter();
    let names = shapes.clone().map(|shape| &*shape.name);
    let what = "Closures, by the shape of a leaf.";
    to.numbers(&prefix("closure"), what, names);
    for shape in shapes {
        let mut each = String::new();
        for (number, ty) in shape.params.iter().enumerate() {
            each += &members([(&*format!("argument{number}"), ty)], "", 4);
        }
        let words = shape.params.iter().map(Type::scalar_count).sum();
        let own = format!("{name}_closure_{}_arguments", identifier(&shape.name));
        to.declare(own, "The arguments of such a leaf.", &each, words);
    }
    let has_derivatives = program.output_derivatives();
    functions(
        to,
        name,
        (&globals, layout.size()),
        (&outputs, words, has_derivatives),
    );
}

/// The functions that evaluate the shader: of globals of a type of `bytes` bytes, and outputs of
/// one of `words` words, with their derivatives or without.
fn functions(
    to: &mut Header,
    name: &str,
    (globals, bytes): (&str, usize),
    (outputs, words, has_derivatives): (&str, usize, bool),
) {
    let [point, batch, read_batch] =
        ["point", "batch", "batch_outputs"].map(|what| to.names.take(format!("{name}_{what}")));
    let (globals, given) = match bytes {
        0 => (String::new(), "NULL"),
        _ => (format!("const {globals} *globals, "), "globals"),
    };
    let (parts, are_outputs, are_parts) = match has_derivatives {
        true => (
            3,
            "The outputs are three: values, changes along x, and along y; or NULL.",
            "values, changes along x, along y; each may be NULL.",
        ),
        false => (
            1,
            "The outputs are the values, or NULL.",
            "values; they may be NULL. ddx and ddy must be: the shader was compiled without them.",
        ),
    };
    let (parameter, read) = match words {
        0 => (String::new(), String::new()),
        _ => (
            format!(", {outputs} *outputs"),
            format!(
                "    for (part = 0; status == ADUMBRA_STATUS_OK && outputs != NULL && part < {parts}; part++)\n        \
                 status = adumbra_evaluator_read(evaluator, part, 0, {words}, &outputs[part]);\n"
            ),
        ),
    };
    let part = if words == 0 {
        ""
    } else {
        "    uint32_t part;\n"
    };
    let _ = write!(
        to.text,
        "\n/* Evaluates one point. {are_outputs} So may be host and outcome. */\n\
         static inline AdumbraStatus {point}(AdumbraEvaluator *evaluator, {globals}const AdumbraHost *host, AdumbraOutcome *outcome{parameter})\n\
         {{\n{part}    AdumbraStatus status = adumbra_evaluator_evaluate(evaluator, {given}, {bytes}, host, outcome);\n{read}    return status;\n}}\n"
    );
    if words == 0 {
        return;
    }
    let _ = write!(
        to.text,
        "\n/* Outputs of `points` points of the last evaluation: {are_parts} */\n\
         static inline AdumbraStatus {read_batch}(const AdumbraBatchEvaluator *evaluator, size_t points, {outputs} *values, {outputs} *ddx, {outputs} *ddy)\n\
         {{\n    {outputs} *const parts[3] = {{values, ddx, ddy}};\n    AdumbraStatus status = ADUMBRA_STATUS_OK;\n    size_t scalar;\n    uint32_t part;\n    \
         for (part = 0; part < 3; part++)\n        for (scalar = 0; status == ADUMBRA_STATUS_OK && parts[part] != NULL && points > 0 && scalar < {words}; scalar++)\n            \
         status = adumbra_batch_evaluator_copy(evaluator, part, scalar, (float *)parts[part] + scalar, points * {words} - scalar, {words});\n    return status;\n}}\n\
         \n/* Evaluates points `first` to `first + points` of a batch, no more than the evaluator's width. The outputs begin with the first of these. */\n\
         static inline AdumbraStatus {batch}(AdumbraBatchEvaluator *evaluator, const AdumbraBatchGlobals *globals, size_t first, size_t points, const AdumbraHost *host, {outputs} *values, {outputs} *ddx, {outputs} *ddy)\n\
         {{\n    AdumbraStatus status = adumbra_batch_evaluator_evaluate(evaluator, globals, first, points, NULL, host);\n    \
         return status == ADUMBRA_STATUS_OK ? {read_batch}(evaluator, points, values, ddx, ddy) : status;\n}}\n"
    );
}
