//! The op table, as things that can be written in an expression.
//!
//! An op's `usage` is its template: words that are not called and not type names are its operands,
//! in order. So a new op is generated as soon as it is in the table.

use crate::generate::Profile;
use crate::generate::range::ValueRange;
use adumbra_ir::Op;
use adumbra_ops::definition::{OpClass, OperandKind};
use adumbra_ops::{MAX_OPERANDS, OpSet};
use std::sync::LazyLock;

/// An op that the language can write.
#[derive(Clone, Debug)]
pub(super) struct WrittenOp {
    /// The op.
    pub(super) op: Op,
    /// Literal text and the operand that follows it; the last text is followed by none.
    parts: Vec<(String, Option<usize>)>,
}

impl WrittenOp {
    fn of(op: Op) -> Option<WrittenOp> {
        let usage = op.info().usage;
        let mut names: Vec<&str> = Vec::new();
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = usage;
        while let Some(c) = rest.chars().next() {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            if !c.is_ascii_alphabetic() {
                text.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let (word, after) = rest.split_at(end);
            rest = after;
            if after.starts_with('(') || matches!(word, "int" | "uint" | "float" | "bool") {
                text.push_str(word);
                continue;
            }
            let place = names.iter().position(|n| *n == word).unwrap_or_else(|| {
                names.push(word);
                names.len() - 1
            });
            parts.push((std::mem::take(&mut text), Some(place)));
        }
        parts.push((text, None));
        let can_be_written = names.len() == op.arity() && !op.is_internal();
        can_be_written.then_some(WrittenOp { op, parts })
    }

    /// The source of the op on operands, each of which is a name, a call, or in parentheses.
    pub(super) fn write(&self, operands: &[String]) -> String {
        let mut text = String::from("(");
        for (before, place) in &self.parts {
            text.push_str(before);
            if let Some(place) = place {
                text.push_str(&operands[*place]);
            }
        }
        text.push(')');
        text
    }

    /// The kinds of its operands.
    pub(super) fn operands(&self) -> &'static [OperandKind] {
        self.op.info().operands
    }

    /// Whether it is written as a call by name.
    pub(super) fn is_call(&self) -> bool {
        let usage = self.op.info().usage;
        usage
            .find('(')
            .is_some_and(|at| usage[..at].chars().all(|c| c.is_alphanumeric()) && at > 0)
    }

    /// Whether it is noise, whose last operand chooses one of many.
    pub(super) fn is_noise(&self) -> bool {
        self.op.info().usage.ends_with(", seed)")
    }

    /// Where the op is tame for an operand: where its test points are, within ±16.
    pub(super) fn domain(&self, operand: usize) -> ValueRange {
        match self.op.info().test_intervals.get(operand) {
            Some(interval) => ValueRange::new(interval.low.max(-16.0), interval.high.min(16.0)),
            None => ValueRange::new(-16.0, 16.0),
        }
    }

    /// About where its values lie for operands of these ranges: the op tried on corners and
    /// middles.
    pub(super) fn image(&self, operands: &[ValueRange]) -> ValueRange {
        let mut image: Option<ValueRange> = None;
        for point in 0..3_usize.pow(operands.len() as u32) {
            let mut rest = point;
            let mut at = [0.0; MAX_OPERANDS];
            for (x, range) in at.iter_mut().zip(operands) {
                *x = [range.low, range.middle(), range.high][rest % 3];
                rest /= 3;
            }
            let v = self.try_on(&at[..operands.len()]);
            if v.is_finite() {
                image = Some(match image {
                    Some(range) => range.with(v),
                    None => ValueRange::new(v, v),
                });
            }
        }
        // Between corners and middles a smooth op may bulge.
        let image = image.unwrap_or(ValueRange::ANY);
        match self.op.info().class {
            OpClass::Linear | OpClass::Discrete => image,
            _ => image.widened(0.25),
        }
    }

    fn try_on(&self, at: &[f64]) -> f64 {
        let info = self.op.info();
        if info.is_differentiable() {
            return self.op.spec(at);
        }
        let mut bits = [0; MAX_OPERANDS];
        for ((bits, kind), x) in bits.iter_mut().zip(info.operands).zip(at) {
            *bits = match kind {
                OperandKind::Float => (*x as f32).to_bits(),
                OperandKind::U32 => *x as u32,
                _ => *x as i32 as u32,
            };
        }
        let v = self.op.value(&bits[..at.len()]);
        match info.result {
            OperandKind::Float => f64::from(f32::from_bits(v)),
            OperandKind::U32 => f64::from(v),
            _ => f64::from(v as i32),
        }
    }
}

/// The ops that give one kind of result, by class.
#[derive(Debug, Default)]
pub(super) struct WrittenOps {
    /// Sums, products and the like.
    pub(super) linear: Vec<WrittenOp>,
    /// Differentiable and not linear.
    pub(super) smooth: Vec<WrittenOp>,
    /// With jumps, or from something that has no derivative.
    pub(super) jumping: Vec<WrittenOp>,
    /// Noise, smooth or not.
    pub(super) noise: Vec<WrittenOp>,
}

/// Ops that are younger than `tests/data/bits.txt`. Only units of groups have them: the record has
/// the bits of seeds of [`Profile::RECORDED`], and the seeds of tests name programs of the others.
pub(crate) const UNRECORDED: OpSet =
    OpSet::of(&[Op::Rcp, Op::CopySign, Op::Asinh, Op::Acosh, Op::Atanh]);

impl WrittenOps {
    fn giving(result: impl Fn(OperandKind) -> bool) -> WrittenOps {
        WrittenOps::among(|op| !UNRECORDED.contains(op) && result(op.info().result))
    }

    fn among(is_wanted: impl Fn(Op) -> bool) -> WrittenOps {
        let mut all = WrittenOps::default();
        for &op in Op::ALL {
            let info = op.info();
            if !is_wanted(op) {
                continue;
            }
            let Some(op) = WrittenOp::of(op) else {
                continue;
            };
            match info.class {
                _ if op.is_noise() => all.noise.push(op),
                OpClass::Linear => all.linear.push(op),
                OpClass::Smooth | OpClass::Kink => all.smooth.push(op),
                OpClass::Jump | OpClass::Discrete => all.jumping.push(op),
                OpClass::Given => {}
            }
        }
        all
    }
}

/// Ops that give a float, without those that are not recorded.
static RECORDED_FLOAT: LazyLock<WrittenOps> =
    LazyLock::new(|| WrittenOps::giving(|k| k == OperandKind::Float));
/// Ops that give a float.
static FLOAT: LazyLock<WrittenOps> =
    LazyLock::new(|| WrittenOps::among(|op| op.info().result == OperandKind::Float));

/// Ops that give a float, in programs of a profile.
pub(super) fn float(profile: Profile) -> &'static WrittenOps {
    match profile {
        Profile::UNIT => &FLOAT,
        _ => &RECORDED_FLOAT,
    }
}

/// Ops that can give an int.
pub(super) static INT: LazyLock<WrittenOps> = LazyLock::new(|| {
    WrittenOps::giving(|k| matches!(k, OperandKind::I32 | OperandKind::Int | OperandKind::Word))
});
/// Ops that can give a uint.
pub(super) static UINT: LazyLock<WrittenOps> = LazyLock::new(|| {
    WrittenOps::giving(|k| matches!(k, OperandKind::U32 | OperandKind::Int | OperandKind::Word))
});
/// Ops that give a bool.
pub(super) static BOOL: LazyLock<WrittenOps> =
    LazyLock::new(|| WrittenOps::giving(|k| k == OperandKind::Bool));

#[cfg(test)]
mod tests {
    use super::*;

    fn written(op: &str, operands: &[&str]) -> String {
        let op = Op::from_name(op).expect("an op of that name");
        let operands: Vec<String> = operands.iter().map(ToString::to_string).collect();
        WrittenOp::of(op)
            .expect("it can be written")
            .write(&operands)
    }

    #[test]
    fn usages_are_templates() {
        assert_eq!(written("neg", &["x"]), "(-x)");
        assert_eq!(written("sub", &["p", "q"]), "(p - q)");
        assert_eq!(written("min", &["p", "q"]), "(min(p, q))");
        assert_eq!(written("select", &["a", "b", "c"]), "(select(a, b, c))");
        assert_eq!(written("f2i", &["x"]), "((int)x)");
    }

    #[test]
    fn every_op_but_those_of_the_compiler_can_be_written() {
        for &op in Op::ALL {
            let written = WrittenOp::of(op).is_some();
            let is_own = op == Op::Index || op.is_internal();
            assert_eq!(written, !is_own, "{}", op.info().name);
        }
    }

    #[test]
    fn images_follow_the_op() {
        let sub = WrittenOp::of(Op::Sub).expect("it can be written");
        let image = sub.image(&[ValueRange::new(0.0, 1.0), ValueRange::new(-2.0, 3.0)]);
        assert_eq!((image.low, image.high), (-3.0, 3.0));
    }
}
