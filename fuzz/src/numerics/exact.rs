//! The oracle of sweeps at single operands: functions of CORE-MATH, which are correctly rounded in
//! f64, and the specs of the other ops.
//!
//! CORE-MATH is C, so it is there with the feature `core-math` alone: nothing else of the project
//! needs a compiler of C. Without it all are specs, by the mathematical library of the system.

use adumbra_ir::Op;

/// The name of the oracle that sweeps compare values with.
pub const ORACLE: &str = if cfg!(feature = "core-math") {
    "CORE-MATH's correctly rounded functions in f64, specs for the other ops"
} else {
    "specs in f64, by the system's mathematical library (`--features core-math`: correctly rounded)"
};

/// The value that an op should give.
pub(super) fn value(op: Op, operands: &[f64]) -> f64 {
    rounded(op, operands).unwrap_or_else(|| op.spec(operands))
}

/// The correctly rounded value of an op that is a function of CORE-MATH's.
#[cfg(feature = "core-math")]
fn rounded(op: Op, operands: &[f64]) -> Option<f64> {
    let unary: fn(f64) -> f64 = match op {
        Op::Sin => core_math::sin,
        Op::Cos => core_math::cos,
        Op::Tan => core_math::tan,
        Op::Asin => core_math::asin,
        Op::Acos => core_math::acos,
        Op::Atan => core_math::atan,
        Op::Sinh => core_math::sinh,
        Op::Cosh => core_math::cosh,
        Op::Tanh => core_math::tanh,
        Op::Asinh => core_math::asinh,
        Op::Acosh => core_math::acosh,
        Op::Atanh => core_math::atanh,
        Op::Exp => core_math::exp,
        Op::Exp2 => core_math::exp2,
        Op::Log => core_math::log,
        Op::Log2 => core_math::log2,
        Op::Log10 => core_math::log10,
        Op::Cbrt => core_math::cbrt,
        Op::Rsqrt => core_math::rsqrt,
        Op::Atan2 => return Some(core_math::atan2(operands[0], operands[1])),
        Op::Pow => return Some(core_math::pow(operands[0], operands[1])),
        Op::Hypot => return Some(core_math::hypot(operands[0], operands[1])),
        _ => return None,
    };
    Some(unary(operands[0]))
}

/// None is there.
#[cfg(not(feature = "core-math"))]
fn rounded(_op: Op, _operands: &[f64]) -> Option<f64> {
    None
}

#[cfg(all(test, feature = "core-math"))]
mod tests {
    use super::super::operands::SweepOperands;
    use super::super::swept_ops;
    use super::*;

    /// The specs, which all other tests hold values against, are as good as an f64 can be expected
    /// to be: half a unit in the last place is 1.1e-16.
    #[test]
    fn specs_are_the_correctly_rounded_functions() {
        let mut functions = 0;
        for op in swept_ops().filter(|&op| rounded(op, &[0.5, 0.5]).is_some()) {
            functions += 1;
            let operands = SweepOperands::of(op, 99_991, 40_000);
            let mut bits = [Vec::new(), Vec::new()];
            operands.fill(op, 0..operands.count(), &mut bits);
            let [first, second] = &bits;
            let (mut looked_at, mut greatest) = (0, 0.0_f64);
            for (&a, &b) in first.iter().zip(second) {
                let at = [a, b].map(|bits| f64::from(f32::from_bits(bits)));
                let at = &at[..op.arity()];
                let (want, got) = (value(op, at), op.spec(at));
                if want.is_nan() || want.is_infinite() || want == 0.0 {
                    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                    assert!(same, "{}({at:?}): {got:e}, {want:e}", op.info().name);
                    continue;
                }
                looked_at += 1;
                greatest = greatest.max(((got - want) / want).abs());
            }
            assert!(looked_at > 1_000, "{}: {looked_at}", op.info().name);
            assert!(greatest < 5e-16, "{}: {greatest:e}", op.info().name);
        }
        assert_eq!(functions, 22);
    }
}
