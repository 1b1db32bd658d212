//! Reference values in f64: correctly rounded where [`exact`] has the function, else specs of ops.
//!
//! Looking at all floats means calling the mathematical library thousands of millions of times,
//! which takes far longer than the ops themselves. But floats that follow one another are so close
//! that a smooth function between them is its cubic: over a [`BLOCK_LEN`] of them a step is 2⁻²³ of
//! the argument at most, and the error of the fourth order far below f64's own. So the spec is
//! computed at four floats of a run, and at two more where the cubic through those would be off the
//! most: if it is not, it serves for the others; where the function is steep, bent or broken, each
//! is computed. Where all six are the same, 0, infinity and NaN included, so are the others.

use super::exact;
use adumbra_ir::Op;

/// Floats of one sign and binade that follow one another.
pub const BLOCK_LEN: usize = 64;

/// Steps from one float of a run where the spec is computed to the next.
const STEP: usize = 21;

/// The floats of a run where the cubic is looked at.
const PROBES: [usize; 2] = [8, 55];

/// How far it may be off there, relative to the value: a ten-millionth of an ulp, some forty units
/// in the last place of an f64.
const TOLERANCE: f64 = 1e-14;

/// Writes the specs of an op at operands; where it has one operand, the second are not looked at.
pub(super) fn specs(op: Op, [first, second]: [&[u32]; 2], specs: &mut [f64]) {
    let wide = |bits: u32| f64::from(f32::from_bits(bits));
    if op.arity() == 2 {
        for ((spec, &a), &b) in specs.iter_mut().zip(first).zip(second) {
            *spec = exact::value(op, &[wide(a), wide(b)]);
        }
        return;
    }
    // An op that rounds once is cheap to compute, and its ties need the spec to the last bit.
    let smooth = op.info().ulp > 0.0;
    for (specs, bits) in specs.chunks_mut(BLOCK_LEN).zip(first.chunks(BLOCK_LEN)) {
        if !(smooth && is_run(bits) && cubic(op, bits[0], specs)) {
            for (spec, &bits) in specs.iter_mut().zip(bits) {
                *spec = exact::value(op, &[wide(bits)]);
            }
        }
    }
}

/// Whether patterns in ascending order are those of a whole run.
fn is_run(bits: &[u32]) -> bool {
    bits.len() == BLOCK_LEN
        && bits[0].is_multiple_of(BLOCK_LEN as u32)
        && bits[BLOCK_LEN - 1] - bits[0] == BLOCK_LEN as u32 - 1
}

/// Writes the specs of a run by a cubic. False if it does not fit, or where it might lose the sign
/// of a zero.
fn cubic(op: Op, first: u32, specs: &mut [f64]) -> bool {
    let spec = |at: usize| exact::value(op, &[f64::from(f32::from_bits(first + at as u32))]);
    let nodes = [0, 1, 2, 3].map(|node| spec(node * STEP));
    let probes = PROBES.map(spec);
    if nodes
        .iter()
        .chain(&probes)
        .all(|f| f.to_bits() == nodes[0].to_bits())
    {
        specs.fill(nodes[0]);
        return true;
    }
    let [f0, f1, f2, f3] = nodes;
    // Newton's forward differences.
    let d1 = f1 - f0;
    let d2 = f2 - 2.0 * f1 + f0;
    let d3 = f3 - 3.0 * (f2 - f1) - f0;
    let at = |i: usize| {
        let s = i as f64 / STEP as f64;
        f0 + s * (d1 + (s - 1.0) * 0.5 * (d2 + (s - 2.0) * (1.0 / 3.0) * d3))
    };
    let fits = |(i, want): (usize, f64)| (at(i) - want).abs() <= TOLERANCE * want.abs();
    if f0 == 0.0 || !PROBES.into_iter().zip(probes).all(fits) {
        return false;
    }
    for (i, spec) in specs.iter_mut().enumerate() {
        *spec = at(i);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::swept_ops;
    use super::*;

    /// The specs of the run that begins there, and how many of them are not computed but lie on a
    /// cubic.
    fn run(op: Op, first: u32) -> ([f64; BLOCK_LEN], usize) {
        let bits: Vec<u32> = (first..=first + (BLOCK_LEN as u32 - 1)).collect();
        let mut all = [0.0; BLOCK_LEN];
        specs(op, [&bits, &[]], &mut all);
        let mut cubic = [0.0; BLOCK_LEN];
        let fits = op.info().ulp > 0.0 && super::cubic(op, first, &mut cubic);
        (all, if fits { BLOCK_LEN - 6 } else { 0 })
    }

    #[test]
    fn cubics_are_as_good_as_specs_and_serve_nearly_everywhere() {
        for op in swept_ops().filter(|op| op.arity() == 1 && op.info().ulp > 0.0) {
            let (mut looked_at, mut served) = (0, 0);
            for first in (0..u32::MAX - 64).step_by(64 * 40_009) {
                let (all, cubics) = run(op, first);
                for (i, &got) in all.iter().enumerate() {
                    let x = f64::from(f32::from_bits(first + i as u32));
                    let want = exact::value(op, &[x]);
                    let same = got == want || (got.is_nan() && want.is_nan());
                    let close = (got - want).abs() <= 4.0 * TOLERANCE * want.abs();
                    assert!(
                        same || close,
                        "{}({x:e}): {got:e}, {want:e}",
                        op.info().name
                    );
                }
                looked_at += BLOCK_LEN;
                served += cubics;
            }
            // Angles of circular functions grow apart beyond a few hundred.
            let least = if matches!(op, Op::Sin | Op::Cos | Op::Tan) {
                40
            } else {
                80
            };
            assert!(
                served * 100 > looked_at * least,
                "{}: {served} of {looked_at}",
                op.info().name
            );
        }
    }

    #[test]
    fn no_cubic_serves_where_a_function_is_broken_or_its_zero_has_a_sign() {
        for (op, x) in [
            (Op::Sin, 1e30_f32),
            (Op::Sin, -0.0),
            (Op::Log, 1.0),
            (Op::Asin, 0.99999994),
            (Op::Sqrt, 2.0),
            (Op::Atan, f32::INFINITY),
        ] {
            let first = x.to_bits() & !(BLOCK_LEN as u32 - 1);
            assert_eq!(run(op, first).1, 0, "{}({x})", op.info().name);
        }
        let (all, _) = run(Op::Sin, (-0.0_f32).to_bits());
        assert!(all[0] == 0.0 && all[0].is_sign_negative());
        let (all, served) = run(Op::Log, (-1.0_f32).to_bits());
        assert!(all.iter().all(|x| x.is_nan()) && served > 0);
    }
}
