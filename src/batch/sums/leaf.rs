//! Sums of whole leaves: 64 numbers of a plane.
//!
//! The code is for SIMD vectors of any width: eighths of a leaf are added and compared element by
//! element, in registers. Whether numbers spoil the sum is one test of the leaf; the points are
//! looked for only where it may be so.

use super::{EIGHTH, LEAF, PointFault, SumFaults, note};

/// The sum of the points of a leaf: of halves, in their order, down to one number.
#[inline]
pub(super) fn leaf_sum(
    values: &[f32; LEAF],
    plane: usize,
    leaf: u64,
    found: &mut SumFaults,
) -> f64 {
    // Points that are 32 apart are added, then sums that are 16 and 8 apart: all in registers.
    let mut sums = [0.0; EIGHTH];
    for (at, sum) in sums.iter_mut().enumerate() {
        let value = |eighth: usize| f64::from(values[eighth * EIGHTH + at]);
        let quarter = |eighth: usize| {
            (value(eighth) + value(eighth + 4)) + (value(eighth + 2) + value(eighth + 6))
        };
        *sum = quarter(0) + quarter(1);
    }
    let sum = fold_halves(sums, |left, right| left + right);
    // Floats of a leaf do not overflow `f64`: only such a number makes the sum infinite or NaN.
    if !sum.is_finite() || may_vanish(values) {
        find_faults(values, plane, leaf, found);
    }
    sum
}

/// Whether some of these finite numbers may be so small beside others that they change nothing.
#[inline]
fn may_vanish(values: &[f32; LEAF]) -> bool {
    // The magnitude whose bits are one less: magnitudes stay in order, and 0 becomes a NaN, which
    // is not greater than any. They are compared as floats, for which SSE2 has an instruction.
    let lowered = |value: f32| f32::from_bits(value.to_bits().wrapping_sub(1) & 0x7fff_ffff);
    let (mut most, mut least) = ([0.0; EIGHTH], [f32::NEG_INFINITY; EIGHTH]);
    for (at, (most, least)) in most.iter_mut().zip(&mut least).enumerate() {
        for eighth in 0..8 {
            let size = lowered(values[eighth * EIGHTH + at]);
            *most = greater(size, *most);
            *least = greater(-size, *least);
        }
    }
    let [most, least] = [fold_halves(most, greater), -fold_halves(least, greater)];
    let [most, least] = [most, least].map(|size| (size.to_bits() + 1) >> 23);
    // The sum is below 2^6 times the greatest, and has 53 bits: what is less than 2^47 times
    // smaller changes it. The least may be denormal, and then as much smaller as a mantissa is
    // long.
    most > least + if least == 0 { 22 } else { 45 }
}

/// The greater one; the second one if the first one is NaN.
#[inline]
fn greater(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

/// The tree of eight numbers: of halves, in their order, down to one number.
#[inline]
fn fold_halves<T: Copy>([a, b, c, d, e, f, g, h]: [T; EIGHTH], both: impl Fn(T, T) -> T) -> T {
    let [a, b, c, d] = [both(a, e), both(b, f), both(c, g), both(d, h)];
    let [a, b] = [both(a, c), both(b, d)];
    both(a, b)
}

/// Notes the points of a leaf that are not finite, and those that change nothing.
#[cold]
fn find_faults(values: &[f32; LEAF], plane: usize, leaf: u64, found: &mut SumFaults) {
    let fault = |at: usize| {
        Some(PointFault {
            plane,
            point: leaf * LEAF as u64 + at as u64,
            count: 1,
        })
    };
    let mut sums = values.map(f64::from);
    // The first point of each sum that is not 0.
    let mut firsts: [Option<usize>; LEAF] =
        std::array::from_fn(|at| (values[at] != 0.0).then_some(at));
    for (at, _) in sums
        .iter()
        .enumerate()
        .filter(|(_, value)| !value.is_finite())
    {
        note(&mut found.not_finite, fault(at));
    }
    let mut half = LEAF / 2;
    while half > 0 {
        for at in 0..half {
            let (left, right) = (sums[at], sums[at + half]);
            let sum = left + right;
            let [first, second] = [firsts[at], firsts[at + half]];
            if sum.is_finite() && sum == left && right != 0.0 {
                note(&mut found.vanished, second.and_then(fault));
            } else if sum.is_finite() && sum == right && left != 0.0 {
                note(&mut found.vanished, first.and_then(fault));
            }
            sums[at] = sum;
            firsts[at] = [first, second].into_iter().flatten().min();
        }
        half /= 2;
    }
}
