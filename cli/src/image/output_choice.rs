//! Chooses the output that an image shows.

use crate::error::{CliError, CliResult};
use adumbra::{Program, Scalar, Type};

/// An output that can be shown: up to four numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownOutput {
    pub name: String,
    /// Scalars of the outputs before it.
    pub first_scalar: usize,
    pub channels: usize,
    pub scalar: Scalar,
}

/// Outputs of these names are shown first.
const PREFERRED: [&str; 3] = ["color", "c", "o"];

/// The output of that name; without a name, the one that is called `color`, `c` or `o`, else the
/// first that can be shown.
///
/// # Errors
/// If there is none.
pub fn choose_output(program: &Program, wanted: Option<&str>) -> CliResult<ShownOutput> {
    let mut first = 0;
    let mut all = Vec::new();
    let mut others = Vec::new();
    for output in program.outputs() {
        let channels = output.ty.scalar_count();
        match kind(&output.ty) {
            Some(scalar) => all.push(ShownOutput {
                name: output.name.clone(),
                first_scalar: first,
                channels,
                scalar,
            }),
            None => others.push(format!("`{}` is of type `{}`", output.name, output.ty)),
        }
        first += channels;
    }
    let named = |name: &str| all.iter().find(|output| output.name == name);
    let found = match wanted {
        Some(name) => named(name),
        None => PREFERRED.into_iter().find_map(named).or(all.first()),
    };
    if let Some(found) = found {
        return Ok(found.clone());
    }
    let mut why = match wanted {
        Some(name) => format!("no output `{name}` can be shown"),
        None => "no output can be shown".to_owned(),
    };
    let names: Vec<String> = all
        .iter()
        .map(|output| format!("`{}`", output.name))
        .collect();
    if names.is_empty() && others.is_empty() {
        why.push_str(": the shader has none");
    }
    if !names.is_empty() {
        why.push_str(&format!(", only {}", names.join(", ")));
    }
    if !others.is_empty() {
        why.push_str(&format!(
            "; an image shows numbers, booleans and vectors, and {}",
            others.join(", ")
        ));
    }
    Err(CliError::Usage(why))
}

/// The kind of the scalars of a type that can be shown.
fn kind(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(Scalar::Closure | Scalar::Resource) => None,
        Type::Scalar(scalar) => Some(*scalar),
        Type::Vector(_) => Some(Scalar::F32),
        Type::Matrix(_) | Type::Array(..) | Type::Struct(_) => None,
    }
}

impl ShownOutput {
    /// The number that a word encodes. Booleans are 0 and 1.
    pub fn number(&self, word: u32) -> f32 {
        match self.scalar {
            Scalar::F32 => f32::from_bits(word),
            Scalar::I32 => word as i32 as f32,
            _ => word as f32,
        }
    }
}
