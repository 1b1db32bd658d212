//! What the functions of an entry take and give, read from its text: each begins a line with `TYPE NAME(PARAMETERS)`.

use crate::draw::Variables;
use crate::suite::Function;
use adumbra::{Scalar, Type};

/// One function of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// The word for its result, `void` among them.
    pub(crate) returns: String,
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
}

/// One of its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Whether it is written: an `out` parameter.
    pub(crate) is_out: bool,
    pub(crate) ty: String,
    pub(crate) name: String,
}

/// The type that a word names, if globals can be of it.
pub(crate) fn type_of(word: &str) -> Option<Type> {
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

/// The functions of an entry, in order.
pub(crate) fn signatures(name: &str) -> Vec<Signature> {
    let text = adumbra_stdlib::find(name).expect("an entry of that name");
    let starts = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    text.lines().filter(starts).map(signature).collect()
}

fn signature(line: &str) -> Signature {
    let (head, rest) = line.split_once('(').expect("a parameter list");
    let (returns, name) = head.rsplit_once(' ').expect("a type and a name");
    let end = parameters_end(rest);
    Signature {
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

fn param(text: &str) -> Option<Param> {
    let declared = text.split('=').next()?.trim();
    let (ty, name) = declared.rsplit_once(' ')?;
    let (is_out, ty) = match ty.strip_prefix("out ") {
        Some(ty) => (true, ty),
        None => (false, ty),
    };
    Some(Param {
        is_out,
        ty: ty.to_owned(),
        name: name.to_owned(),
    })
}

impl Signature {
    /// The parameters that are read and of types that globals can have, with where they are drawn from.
    pub(crate) fn read(&self, function: &Function) -> Variables {
        let read = self.params.iter().filter(|param| !param.is_out);
        read.filter_map(|param| {
            let ty = type_of(&param.ty)?;
            let domain = function.domain(&param.name, &ty);
            Some((param.name.clone(), ty, domain))
        })
        .collect()
    }

    /// The same; nothing if another is read, too.
    pub(crate) fn variables(&self, function: &Function) -> Option<Variables> {
        let is_known = |param: &Param| param.is_out || type_of(&param.ty).is_some();
        let all = self.params.iter().all(is_known);
        all.then(|| self.read(function))
    }

    /// A shader that calls it with globals, and zeros of other types, and gives what it gives.
    pub(crate) fn shader(&self) -> String {
        let (mut outs, mut locals, mut args) = (Vec::new(), String::new(), Vec::new());
        for Param { is_out, ty, name } in &self.params {
            if *is_out {
                outs.push(format!("out {ty} {name}"));
            } else if type_of(ty).is_some() {
                locals += &format!("{ty} {name} = global_value<{name}>; ");
            } else {
                locals += &format!("{ty} {name}; ");
            }
            args.push(name.as_str());
        }
        let mut call = format!("{}({});", self.name, args.join(", "));
        if self.returns != "void" {
            outs.push(format!("out {} given", self.returns));
            call = format!("given = {call}");
        }
        format!("shader call({}) {{ {locals}{call} }}", outs.join(", "))
    }

    /// A shader with two outputs that are equal if it works component by component; nothing if it gives no vector.
    pub(crate) fn componentwise_shader(&self) -> Option<String> {
        let width: usize = self.returns.strip_prefix("float")?.parse().ok()?;
        let args = |component: &str| {
            let each = self
                .params
                .iter()
                .map(|param| match param.ty == self.returns {
                    true => format!("global_value<{}>{component}", param.name),
                    false => format!("global_value<{}>", param.name),
                });
            each.collect::<Vec<_>>().join(", ")
        };
        let (ty, name) = (&self.returns, &self.name);
        let calls = [".x", ".y", ".z", ".w"][..width]
            .iter()
            .map(|component| format!("{name}({})", args(component)));
        let parts = calls.collect::<Vec<_>>().join(", ");
        let whole = args("");
        Some(format!(
            "shader parts(out {ty} one, out {ty} other) {{ one = {name}({whole}); other = {ty}({parts}); }}"
        ))
    }
}
