//! What the functions of the library take and give, read from its text: each begins a line with
//! `TYPE NAME(PARAMETERS)`.

use adumbra_ir::{Scalar, Type};

/// One function of an entry of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibrarySignature {
    /// The word for its result, `void` among them.
    pub returns: String,
    /// Its name; overloads share it.
    pub name: String,
    /// Its parameters.
    pub params: Vec<SignatureParam>,
}

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureParam {
    /// Whether it is written: an `out` parameter.
    pub is_out: bool,
    /// The word for its type.
    pub ty: String,
    /// Its name.
    pub name: String,
}

/// The type that a word names, if globals can be of it.
pub fn type_of(word: &str) -> Option<Type> {
    match word {
        "float" => Some(Type::FLOAT),
        "float2" => Some(Type::Vector(2)),
        "float3" => Some(Type::Vector(3)),
        "float4" => Some(Type::Vector(4)),
        "float2x2" => Some(Type::Matrix(2)),
        "float3x3" => Some(Type::Matrix(3)),
        "float4x4" => Some(Type::Matrix(4)),
        "int" => Some(Type::Scalar(Scalar::I32)),
        "uint" => Some(Type::Scalar(Scalar::U32)),
        "bool" => Some(Type::Scalar(Scalar::Bool)),
        _ => None,
    }
}

/// The functions of an entry of the library, in order; none if it has no entry of that name.
pub fn signatures(name: &str) -> Vec<LibrarySignature> {
    let text = adumbra_stdlib::function_source(name).unwrap_or_default();
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    text.lines().filter(starts).map(signature).collect()
}

fn signature(line: &str) -> LibrarySignature {
    let (head, rest) = line.split_once('(').expect("a parameter list");
    let (returns, name) = head.rsplit_once(' ').expect("a type and a name");
    let end = parameters_end(rest);
    LibrarySignature {
        returns: returns.to_owned(),
        name: name.to_owned(),
        params: rest[..end].split(", ").filter_map(param).collect(),
    }
}

/// Where the parenthesis closes that is open at the start.
fn parameters_end(text: &str) -> usize {
    let mut depth = 1;
    let end = text.find(|c| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    end.expect("a parameter list on one line")
}

fn param(text: &str) -> Option<SignatureParam> {
    let declared = text.split('=').next()?.trim();
    let (ty, name) = declared.rsplit_once(' ')?;
    let (is_out, ty) = match ty.strip_prefix("out ") {
        Some(ty) => (true, ty),
        None => (false, ty),
    };
    Some(SignatureParam {
        is_out,
        ty: ty.to_owned(),
        name: name.to_owned(),
    })
}
