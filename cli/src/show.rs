//! Formats values: one JSON shape for programs, aligned lines for people.

use adumbra::{Scalar, Type, evaluator::OutputView, value::ValueView};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::value::RawValue;
use std::fmt::Write;

/// A value, for JSON.
#[derive(Debug, Serialize)]
pub struct JsonValue<'a> {
    #[serde(rename = "type", serialize_with = "as_text")]
    ty: &'a Type,
    value: ShownValue<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ddx: Option<ValueView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ddy: Option<ValueView<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ShownValue<'a> {
    Plain(ValueView<'a>),
    Closure(Box<RawValue>),
    /// A closure that is not printed, and why.
    Unprinted {
        error: String,
    },
}

/// Serialises a type as the language writes it.
fn as_text<S: Serializer>(ty: &Type, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(ty)
}

impl<'a> JsonValue<'a> {
    /// A value that is no output, with those of its derivatives that are known.
    pub fn of(
        ty: &'a Type,
        value: ValueView<'a>,
        derivatives: [Option<ValueView<'a>>; 2],
    ) -> JsonValue<'a> {
        let [ddx, ddy] = derivatives.map(|known| known.filter(|_| has_floats(ty)));
        JsonValue {
            ty,
            value: ShownValue::Plain(value),
            ddx,
            ddy,
        }
    }

    /// The value, and its derivatives if asked for and if its type has any. A closure that is too
    /// large to be printed becomes `{"error": …}`.
    ///
    /// # Panics
    /// As [`derivatives_of`].
    pub fn new(output: &OutputView<'a>, derivatives: bool) -> JsonValue<'a> {
        let value = match output.closure() {
            Some(closure) => match closure.json() {
                Ok(json) => ShownValue::Closure(
                    RawValue::from_string(json).expect("closures print as well-formed JSON"),
                ),
                Err(error) => ShownValue::Unprinted {
                    error: error.to_string(),
                },
            },
            None => ShownValue::Plain(output.value()),
        };
        let [ddx, ddy] = derivatives_of(output, derivatives);
        JsonValue {
            ty: output.ty(),
            value,
            ddx,
            ddy,
        }
    }
}

/// Whether some scalar of the type can have derivatives.
pub fn has_floats(ty: &Type) -> bool {
    let mut any = false;
    ty.for_each_scalar(&mut |scalar| any |= scalar == Scalar::F32);
    any
}

/// Derivatives along x and y of an output, if asked for and if its type has any.
///
/// # Panics
/// If they are asked for, and the program was compiled without.
pub fn derivatives_of<'a>(
    output: &OutputView<'a>,
    are_asked_for: bool,
) -> [Option<ValueView<'a>>; 2] {
    if !are_asked_for || !has_floats(output.ty()) {
        return [None; 2];
    }
    let dual = output.dual().expect("the program was compiled with them");
    [Some(dual.ddx), Some(dual.ddy)]
}

/// The suffix that names one of a value's scalars: none for a float, `.x` for a vector's.
pub fn component_suffix(ty: &Type, index: usize) -> String {
    match ty {
        Type::Scalar(Scalar::F32) => String::new(),
        Type::Vector(_) => format!(".{}", &"xyzw"[index..=index]),
        Type::Matrix(n) => {
            let size = usize::from(*n);
            format!("[{}][{}]", index / size, index % size)
        }
        _ => format!("[{index}]"),
    }
}

/// The value for people, in one line.
pub fn value_text(output: &OutputView<'_>) -> String {
    match output.closure() {
        Some(closure) => closure.text().unwrap_or_else(|error| error.to_string()),
        None => output.value().to_string(),
    }
}

/// Value, ddx and ddy for people, a line each; the signs are in a column of their own.
pub fn value_lines(output: &OutputView<'_>, derivatives: bool) -> String {
    let mut rows = vec![("value", value_text(output))];
    let derivatives = derivatives_of(output, derivatives).into_iter().flatten();
    rows.extend(
        ["ddx", "ddy"]
            .into_iter()
            .zip(derivatives.map(|it| it.to_string())),
    );
    let mut out = String::new();
    for (label, text) in rows {
        let space = if text.starts_with('-') { "" } else { " " };
        let _ = writeln!(out, "{label:<5} {space}{text}");
    }
    out
}

/// Rows of a table for people: columns as wide as their widest cell, two spaces between them, none
/// at the end of a line.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // By hand: the width of a formatted argument is at most 65535.
            let padding = width - cell.chars().count() + 2;
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', padding));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_without_trailing_space() {
        let row = |cells: &[&str]| cells.iter().map(|c| c.to_string()).collect::<Vec<_>>();
        let rows = [row(&["a", "bcd", ""]), row(&["éé", "1", "2"])];
        assert_eq!(table(&rows), "a   bcd\néé  1    2\n");
        let wide = "x".repeat(100_000);
        assert_eq!(table(&[row(&[&wide, "y"])]), format!("{wide}  y\n"));
    }
}
