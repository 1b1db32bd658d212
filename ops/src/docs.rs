//! The op table in Markdown, for `docs/` and `:help`.

use crate::definition::{OpInfo, OperandKind};
use crate::list::Op;
use std::fmt::Write;

/// Every op in Markdown: first those with a derivative, then those without.
pub fn table() -> String {
    let mut page = String::from(
        "| written | derivative | at kinks and poles | ulp | what it gives |\n|---|---|---|---|---|\n",
    );
    let ops = |differentiable: bool| {
        let infos = Op::ALL.iter().map(|op| op.info());
        infos.filter(move |info| info.is_differentiable() == differentiable)
    };
    for info in ops(true) {
        let columns = [
            info.usage,
            info.derivative,
            info.kink,
            &accuracy(info),
            info.doc,
        ];
        line(&mut page, &columns);
    }
    page.push_str("\n| written | name | types | what it gives |\n|---|---|---|---|\n");
    for info in ops(false) {
        line(
            &mut page,
            &[info.usage, info.name, &signature(info), info.doc],
        );
    }
    page
}

/// The accuracy of the value, in units in the last place: `rounded once`, `≤ 0.9`, or, where terms
/// cancel, `≤ 4 of 1`, those of 1.
pub fn accuracy(info: &OpInfo) -> String {
    match (info.ulp, info.cancelling_terms) {
        (0.0, _) => String::from("rounded once"),
        (ulp, 0.0) => format!("≤ {ulp}"),
        (ulp, terms) => format!("≤ {ulp} of {terms}"),
    }
}

/// The types of operands and result that a shader can write: `(int, int) → bool`.
pub fn signature(info: &OpInfo) -> String {
    // The IR joins conditions by these as well. Between bools a shader writes other operators.
    let is_of_bits = [Op::And, Op::Or, Op::Xor].map(|op| op.info().name);
    let name = |&kind: &OperandKind| match kind {
        OperandKind::Word if is_of_bits.contains(&info.name) => kind_name(OperandKind::Int),
        _ => kind_name(kind),
    };
    let operands: Vec<&str> = info.operands.iter().map(name).collect();
    format!("({}) → {}", operands.join(", "), name(&info.result))
}

fn kind_name(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::Float => "float",
        OperandKind::I32 => "int",
        OperandKind::U32 => "uint",
        OperandKind::Bool => "bool",
        OperandKind::Int => "int or uint",
        OperandKind::Word => "int, uint or bool",
    }
}

/// One line of a Markdown table; bars inside are escaped.
fn line(page: &mut String, columns: &[&str]) {
    for column in columns {
        let _ = write!(page, "| {} ", column.replace('|', "\\|"));
    }
    page.push_str("|\n");
}
