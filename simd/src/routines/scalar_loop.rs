//! General routines that go from point to point: each op's own scalar value and tangent, in a loop.
//!
//! They are the baseline's where processors usually have more. There it has to run anywhere, as fast as the point interpreter does; packs of four took a fifth of the
//! time that compiling all routines does.

use crate::operand_ref::OperandRef;
use crate::shadow_pattern::ShadowPattern;
use crate::simd_level::{SimdLevel, vector_width};
use adumbra_ops::definition::{BitOpDef, OpDef, tangent};
use adumbra_ops::scalar_eval::operand_float;
use adumbra_ops::types::{Direction, Lanes};

/// How many points a vector of the baseline has.
const WIDTH: usize = vector_width(SimdLevel::Baseline);

/// What a shadow reads that is not there.
static ZEROS: [u32; WIDTH] = [0; WIDTH];

/// References: the result, those of its shadows that the pattern has, then the same for each operand.
///
/// # Safety
/// As for [`General`](super::MaskedRoutine).
pub(super) unsafe fn float_masked<R: OpDef<N>, const N: usize>(
    refs: *const OperandRef,
    pattern: ShadowPattern,
    packs: &[u32],
    active: &[u32],
) {
    let arg = |i: usize, word| operand_float(R::INFO.operands[i], word);
    if pattern.result().is_none() {
        let value = |operands: &[[u32; 1]; N]| {
            [R::value(std::array::from_fn(|i| arg(i, operands[i][0]))).to_bits()]
        };
        // SAFETY: asked of the caller; an op whose result has no shadows reads none.
        return unsafe { each_point(refs, pattern, packs, active, value) };
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
    // SAFETY: asked of the caller.
    unsafe { each_point(refs, pattern, packs, active, dual) }
}

/// References: the result, then the operands.
///
/// # Safety
/// As for [`General`](super::MaskedRoutine).
pub(super) unsafe fn bits_masked<R: BitOpDef<N>, const N: usize>(
    refs: *const OperandRef,
    _: ShadowPattern,
    packs: &[u32],
    active: &[u32],
) {
    let value = |operands: &[[u32; 1]; N]| [R::value(operands.map(|[word]| word))];
    // SAFETY: asked of the caller.
    unsafe { each_point(refs, ShadowPattern::default(), packs, active, value) }
}

/// Computes the active points of packs. A point's operand or result is its value, and its shadows if `WORDS` is 3: 0 where the pattern has none.
///
/// # Safety
/// As for [`General`](super::MaskedRoutine); the op has `N` operands, and no shadows if `WORDS` is 1.
unsafe fn each_point<const N: usize, const WORDS: usize>(
    mut refs: *const OperandRef,
    pattern: ShadowPattern,
    packs: &[u32],
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
    for (&pack, &active) in packs.iter().zip(active) {
        // SAFETY: planes have the packs, and cells have one, which all of them are; the caller asks no less.
        let of_pack = |at: OperandRef| unsafe { at.vector(pack) };
        let operands = operands.map(|words| words.map(of_pack));
        let result = result.map(of_pack);
        for point in (0..WIDTH).filter(|point| active >> point & 1 == 1) {
            // SAFETY: a pack has `WIDTH` points.
            let words = operands.map(|words| words.map(|at| unsafe { *at.add(point) }));
            for (at, word) in result.into_iter().zip(compute(&words)) {
                // SAFETY: as above; the point's operands were read before. `ZEROS` is no result's, so it is never written.
                unsafe { *at.add(point) = word };
            }
        }
    }
}
