//! The page of the book: the errors that ops claim, held by tests, and their values at the ends of
//! the floats.

use super::engine::SweepEngine;
use super::operands::SweepOperands;
use super::sweep::sweep;
use super::swept_ops;
use adumbra_ir::Op;
use adumbra_ops::definition::{OpClass, OperandKind};
use std::fmt::Write;

/// Each how manieth pattern the hashes on the page are of. A prime, so that all ends of words
/// occur.
const STRIDE: u32 = 40_009;

/// How many pairs they are of.
const DRAWN: u64 = 60_000;

/// Where the ends are shown.
const ENDS: [(&str, f32); 9] = [
    ("-∞", f32::NEG_INFINITY),
    ("-max", f32::MIN),
    ("-least", -1e-45),
    ("-0", -0.0),
    ("0", 0.0),
    ("least", 1e-45),
    ("max", f32::MAX),
    ("∞", f32::INFINITY),
    ("NaN", f32::NAN),
];

/// The page, in Markdown.
pub fn page() -> String {
    let mut page = String::from(HEAD);
    for op in swept_ops().filter(|op| op.info().class != OpClass::Discrete) {
        let info = op.info();
        let hash = sweep(
            op,
            &SweepOperands::of(op, STRIDE, DRAWN),
            SweepEngine::Table,
            1,
            |_, _| {},
        )
        .hash;
        let worst: Vec<String> = info
            .worst_operands
            .iter()
            .map(|x| format!("{x:?}"))
            .collect();
        let error = match info.ulp {
            0.0 => String::from("rounded once"),
            ulp => ulp.to_string(),
        };
        let worst = worst.join(", ");
        let _ = writeln!(page, "| {} | {error} | {worst} | {hash:016x} |", info.usage);
    }
    page.push_str(EDGES);
    let _ = writeln!(
        page,
        "| |{}",
        ENDS.map(|(name, _)| format!(" {name} |")).concat()
    );
    let _ = writeln!(page, "|---|{}", "---|".repeat(ENDS.len()));
    for op in swept_ops().filter(|op| op.info().operands == [OperandKind::Float]) {
        let values = ENDS.map(|(_, x)| format!(" {} |", shown(op, op.value(&[x.to_bits()]))));
        let _ = writeln!(page, "| {} |{}", op.info().usage, values.concat());
    }
    page
}

/// A result as people write it.
fn shown(op: Op, bits: u32) -> String {
    let least = |x: f32| x == 1e-45 || x == -1e-45;
    match op.info().result {
        OperandKind::Float => match f32::from_bits(bits) {
            x if x.abs() == f32::MAX || least(x) || x.is_infinite() => {
                let name = ENDS.iter().find(|(_, end)| *end == x);
                name.map_or_else(String::new, |(name, _)| (*name).to_string())
            }
            x => format!("{x:?}"),
        },
        OperandKind::I32 => (bits as i32).to_string(),
        _ => bits.to_string(),
    }
}

const HEAD: &str = "# Numerics

Every function of one operand is within 1 unit in the last place (ulp) of the true value, over all 2³² floats: angles of any size,
denormals, infinities. Each is a fixed sequence of correctly rounded operations, so all engines, at every width and on every machine, give the
same bits; any NaN equals any NaN. Denormals are kept, everything rounds to nearest even, and nothing is fused or reordered but where an algorithm says so.

The errors below are the greatest that were found by looking at floats, all of them if one waits, or, for two operands, at pairs that are drawn and all pairs
of special floats:

    cargo run --release -p adumbra-fuzz -- numerics

An op claims what was found (rounded up), and the operands where it was found. `cargo test --test facade numerics::` sees that the error is that large
there, and looks at some millions of other operands, among which there must be no larger one. The page is made from the op table, `ops/src`. The
last column is a hash of the results for a few of these operands, always the same ones: wherever the tests pass, the bits are these.

| written | greatest error, ulp | at | hash |
|---|---|---|---|
";

const EDGES: &str = "
## At the ends

*Least* is the least denormal, 2⁻¹⁴⁹, *max* the greatest float.

";
