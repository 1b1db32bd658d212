//! A shader's source with other defaults: all else stays as it was written, comments too.

use super::parameters::can_be_written;
use crate::error::{CliError, CliResult};
use adumbra::sources::default_places;
use adumbra::{Instance, Scalar, Type};

/// The source of a shader with the values of an instance as defaults of the inputs of these names.
///
/// # Errors
/// If an input is not declared in that source, or is a struct.
pub fn with_defaults(text: &str, instance: &Instance, names: &[String]) -> CliResult<String> {
    let program = instance.program();
    let places = default_places(text, program.name());
    for name in names {
        let input = program.inputs().iter().find(|input| input.name == *name);
        let is_written = input.is_some_and(|input| can_be_written(&input.ty));
        if !is_written || !places.iter().any(|place| place.input == *name) {
            return Err(CliError::usage(format!(
                "no default of the input `{name}` can be written in the file itself"
            )));
        }
    }
    let mut changed = text.to_owned();
    // From the last, so that the places before keep their bytes.
    let places = places.iter().rev();
    for place in places.filter(|place| names.contains(&place.input)) {
        let view = instance.view(&place.input).expect("it is an input");
        let written = &text[place.ty.clone()];
        let value = literal(view.ty(), written, &mut view.words());
        let value = match place.default.is_empty() {
            true => format!(" = {value}"),
            false => value,
        };
        changed.replace_range(place.default.clone(), &value);
    }
    Ok(changed)
}

/// A value as source, from its words. `written` is its type there.
fn literal(ty: &Type, written: &str, words: &mut impl Iterator<Item = u32>) -> String {
    let mut list = |count: usize| {
        let numbers = words.take(count).map(|word| number(Scalar::F32, word));
        numbers.collect::<Vec<String>>().join(", ")
    };
    match ty {
        Type::Scalar(scalar) => number(*scalar, words.next().expect("a word for each scalar")),
        Type::Vector(3) if written == "color" => format!("color({})", list(3)),
        Type::Vector(n) => format!("float{n}({})", list(usize::from(*n))),
        Type::Matrix(n) => format!("float{n}x{n}({})", list(ty.scalar_count())),
        Type::Array(element, count) => {
            let elements = (0..*count).map(|_| literal(element, written, words));
            format!("{{ {} }}", elements.collect::<Vec<String>>().join(", "))
        }
        Type::Struct(_) => unreachable!("no struct can be written"),
    }
}

/// A scalar; of a float the shortest decimal.
fn number(scalar: Scalar, word: u32) -> String {
    match scalar {
        Scalar::F32 => format!("{:?}", f32::from_bits(word)),
        Scalar::I32 => (word as i32).to_string(),
        Scalar::Bool => (word != 0).to_string(),
        _ => word.to_string(),
    }
}
