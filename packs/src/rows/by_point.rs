//! General routines that go from point to point: one loop for all ops, which calls the op's own scalar value and tangent.
//!
//! They are the baseline's where processors usually have more. There it has to run anywhere, not to be fast, and packs of four took a fifth of the time that compiling
//! all routines does.

use crate::level::{Level, lanes_of};
use crate::pattern::Pattern;
use crate::places::Ref;
use adumbra_ops::point::{MAX_OPERANDS, operand_float};
use adumbra_ops::row::{Row, WordRow, tangent};
use adumbra_ops::types::Direction;

/// The words of a point: a value and its shadows, which are 0 where there are none.
type Words = [u32; 3];
/// Computes a point of an op.
type Compute = fn(operands: &[Words; MAX_OPERANDS], pattern: Pattern) -> Words;

/// Where a value is, and its shadows as far as it has any.
type Place = [Option<Ref>; 3];

/// References: the result, those of its shadows that the pattern has, then the same for each operand.
///
/// # Safety
/// As for [`General`](super::General).
pub(super) unsafe fn float_general<R: Row<N>, const N: usize>(
    refs: *const Ref,
    pattern: Pattern,
    packs: &[u32],
    active: &[u32],
) {
    // SAFETY: asked of the caller.
    unsafe { each_point(refs, pattern, packs, active, N, float::<R, N>) }
}

/// References: the result, then the operands.
///
/// # Safety
/// As for [`General`](super::General).
pub(super) unsafe fn word_general<R: WordRow<N>, const N: usize>(
    refs: *const Ref,
    _: Pattern,
    packs: &[u32],
    active: &[u32],
) {
    // SAFETY: asked of the caller.
    unsafe { each_point(refs, Pattern::default(), packs, active, N, word::<R, N>) }
}

fn float<R: Row<N>, const N: usize>(operands: &[Words; MAX_OPERANDS], pattern: Pattern) -> Words {
    let mut args = [0.0; N];
    let mut shadows = [[None; N]; 2];
    for i in 0..N {
        let [value, along @ ..] = operands[i];
        args[i] = operand_float(R::INFO.operands[i], value);
        for d in 0..2 {
            if pattern.operand(i).has(Direction::BOTH[d]) {
                shadows[d][i] = Some(f32::from_bits(along[d]));
            }
        }
    }
    let (value, partials) = R::both(args);
    let [x, y] = shadows;
    let (x, y) = (tangent(&partials, x, value), tangent(&partials, y, value));
    [value.to_bits(), x.to_bits(), y.to_bits()]
}

fn word<R: WordRow<N>, const N: usize>(operands: &[Words; MAX_OPERANDS], _: Pattern) -> Words {
    let mut args = [0; N];
    for i in 0..N {
        args[i] = operands[i][0];
    }
    [R::value(args), 0, 0]
}

/// Computes the active points of packs.
///
/// # Safety
/// As for [`General`](super::General); the op has `operands` operands.
unsafe fn each_point(
    mut refs: *const Ref,
    pattern: Pattern,
    packs: &[u32],
    active: &[u32],
    operands: usize,
    compute: Compute,
) {
    let mut next = |[x, y]: [bool; 2]| {
        [true, x, y].map(|is_there| {
            is_there.then(|| {
                // SAFETY: there is a reference for each value, and for each shadow of the pattern.
                let place = unsafe { *refs };
                refs = refs.wrapping_add(1);
                place
            })
        })
    };
    let result = next(Direction::BOTH.map(|d| pattern.result().has(d)));
    let mut places: [Place; MAX_OPERANDS] = [[None; 3]; MAX_OPERANDS];
    for (i, place) in places[..operands].iter_mut().enumerate() {
        *place = next(Direction::BOTH.map(|d| pattern.operand(i).has(d)));
    }
    let mut words = [[0; 3]; MAX_OPERANDS];
    for (&pack, &active) in packs.iter().zip(active) {
        for lane in (0..lanes_of(Level::Baseline)).filter(|lane| active >> lane & 1 == 1) {
            // SAFETY: planes have the packs, and cells have one, which all of them are; the caller asks no less.
            let word = |place: Ref| unsafe { place.pack(pack).add(lane) };
            for (words, place) in words.iter_mut().zip(&places[..operands]) {
                // SAFETY: as above.
                *words = place.map(|place| place.map_or(0, |place| unsafe { *word(place) }));
            }
            for (place, found) in result.iter().zip(compute(&words, pattern)) {
                if let Some(place) = place {
                    // SAFETY: as above; the operands of the point were read before.
                    unsafe { *word(*place) = found };
                }
            }
        }
    }
}
