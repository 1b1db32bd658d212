//! Masked routines that go from point to point: each op's own scalar value and tangent, in a loop.
//!
//! They are the baseline's where most processors have a higher level. There the baseline has to
//! run, as fast as the point interpreter does. Vectors of four took 20 % of the time that compiling
//! all routines takes.

use crate::operand_ref::OperandRef;
use crate::shadow_pattern::ShadowPattern;
use crate::simd_level::{SimdLevel, vector_width};
use adumbra_ops::definition::{BitOpDef, OpDef, tangent};
use adumbra_ops::scalar_eval::operand_float;
use adumbra_ops::types::{Direction, Lanes};

/// Elements of a SIMD vector of the baseline.
const WIDTH: usize = vector_width(SimdLevel::Baseline);

/// The words of a shadow that is absent.
static ZEROS: [u32; WIDTH] = [0; WIDTH];

/// References: the result, those of its shadows that the pattern has, then the same for each
/// operand.
///
/// # Safety
/// As for [`MaskedRoutine`](super::MaskedRoutine).
pub(super) unsafe fn float_masked<R: OpDef<N>, const N: usize>(
    refs: *const OperandRef,
    pattern: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
) {
    let arg = |i: usize, word| operand_float(R::INFO.operands[i], word);
    if pattern.result().is_none() {
        let value = |operands: &[[u32; 1]; N]| {
            [R::value(std::array::from_fn(|i| arg(i, operands[i][0]))).to_bits()]
        };
        // SAFETY: guaranteed by the caller; an op whose result has no shadows reads none.
        return unsafe { each_point(refs, pattern, vectors, active, value) };
    }
    let dual = |operands: &[[u32; 3]; N]| {
        let (value, partials) =
            R::value_and_partials(std::array::from_fn(|i| arg(i, operands[i][0])));
        let along = |direction: Direction| {
            let shadow = |i: usize| f32::from_bits(operands[i][1 + direction as usize]);
            let shadows =
                std::array::from_fn(|i| (pattern.operand(i).has(direction)).then(|| shadow(i)));
            tangent(&partials, shadows, value).to_bits()
        };
        let [x, y] = Direction::BOTH.map(along);
        [value.to_bits(), x, y]
    };
    // SAFETY: guaranteed by the caller.
    unsafe { each_point(refs, pattern, vectors, active, dual) }
}

/// References: the result, then the operands.
///
/// # Safety
/// As for [`MaskedRoutine`](super::MaskedRoutine).
pub(super) unsafe fn bits_masked<R: BitOpDef<N>, const N: usize>(
    refs: *const OperandRef,
    _: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
) {
    let value = |operands: &[[u32; 1]; N]| [R::value(operands.map(|[word]| word))];
    // SAFETY: guaranteed by the caller.
    unsafe { each_point(refs, ShadowPattern::default(), vectors, active, value) }
}

/// Computes the active points of SIMD vectors. An operand or a result is a value, and its shadows
/// if `WORDS` is 3: 0 where the pattern has none.
///
/// # Safety
/// As for [`MaskedRoutine`](super::MaskedRoutine); the op has `N` operands, and no shadows if
/// `WORDS` is 1.
unsafe fn each_point<const N: usize, const WORDS: usize>(
    mut refs: *const OperandRef,
    pattern: ShadowPattern,
    vectors: &[u32],
    active: &[u32],
    compute: impl Fn(&[[u32; WORDS]; N]) -> [u32; WORDS],
) {
    let mut next = |lanes: Lanes, absent: OperandRef| {
        std::array::from_fn(|word| {
            if word > 0 && !lanes.has(Direction::BOTH[word - 1]) {
                return absent;
            }
            // SAFETY: there is a reference for each value, and for each shadow of the pattern.
            let there = unsafe { *refs };
            refs = refs.wrapping_add(1);
            there
        })
    };
    let mut unread = [0; WIDTH];
    let uniform = |at: *mut u32| OperandRef { at, mask: 0 };
    let result: [OperandRef; WORDS] = next(pattern.result(), uniform(unread.as_mut_ptr()));
    let zeros = uniform(ZEROS.as_ptr().cast_mut());
    let operands: [[OperandRef; WORDS]; N] =
        std::array::from_fn(|i| next(pattern.operand(i), zeros));
    for (&vector, &active) in vectors.iter().zip(active) {
        // SAFETY: planes have the vectors, and a uniform value has one, which all of them are;
        // guaranteed by the caller.
        let of_vector = |at: OperandRef| unsafe { at.vector(vector) };
        let operands = operands.map(|words| words.map(of_vector));
        let result = result.map(of_vector);
        for point in (0..WIDTH).filter(|point| active >> point & 1 == 1) {
            // SAFETY: a vector has `WIDTH` points.
            let words = operands.map(|words| words.map(|at| unsafe { *at.add(point) }));
            for (at, word) in result.into_iter().zip(compute(&words)) {
                // SAFETY: a vector has `WIDTH` points, and the point's operands were read before.
                // `ZEROS` is no result, so it is never written.
                unsafe { *at.add(point) = word };
            }
        }
    }
}
