//! The routines for rows of the op table, made from the row's own value, partials and the one tangent formula, at every level.
//!
//! A routine goes over many packs. *Full* ones are made for the shapes of operands that occur, with the number of directions and the uniform
//! operands known to the compiler; they go over runs of neighbouring packs and may write whole packs. The *general* one of each row takes any shape
//! as it runs, and leaves the points alone that are not active. A *test* tells for which points a condition holds.

use crate::level::{Level, lanes_of};
use crate::pack::{self, Flags, Pack, PackWord};
use crate::pattern::Pattern;
use crate::places::{Ref, Run};
use adumbra_ops::canonical::CANONICAL_NAN;
use adumbra_ops::field::Word;
use adumbra_ops::row::{Kind, Row, WordRow, tangent};
use adumbra_ops::types::Direction;

/// Computes all points of runs of packs.
///
/// # Safety
/// The references are those of an instruction that the routine was found for, each plane has these packs, the processor has the level.
pub type Full = unsafe fn(refs: *const Ref, runs: &[Run]);

/// Computes the active points of packs, each so many bytes from the first one; one bit for each point, the first point's lowest. There are as many
/// sets of active points as packs.
///
/// # Safety
/// As for [`Full`]; the pattern is the instruction's.
pub type General = unsafe fn(refs: *const Ref, pattern: Pattern, packs: &[u32], active: &[u32]);

/// Tells for which points of each pack a condition holds, one bit each.
///
/// # Safety
/// As for [`Full`]; there is room for an answer for each pack.
pub type Test = unsafe fn(refs: *const Ref, packs: &[u32], holds: *mut u32);

/// What an operand of a row is. A *dual* one has both shadows, and value and shadows are planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A plane without shadows.
    Varying = 0,
    /// A cell without shadows.
    Uniform = 1,
    /// A plane with both shadows.
    Dual = 2,
}

const VARYING: u16 = Shape::Varying as u16;
const UNIFORM: u16 = Shape::Uniform as u16;
const DUAL: u16 = Shape::Dual as u16;

/// The shape of an operand, out of those of all: two bits each.
const fn shape(shapes: u16, operand: usize) -> u16 {
    shapes >> (2 * operand) & 3
}

/// Whether any operand is dual.
const fn has_dual(shapes: u16) -> bool {
    shapes & 0b10_10_10_10_10_10_10_10 != 0
}

/// What is done with every word of a plane: by its bits, in whatever floating-point mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// The word itself.
    Plain,
    /// A shadow as it is read: [`read_shadow`](adumbra_ops::canonical::read_shadow).
    ShadowRead,
    /// A float as it leaves: [`leaving`](adumbra_ops::canonical::leaving).
    FloatLeaving,
    /// A shadow as it leaves.
    ShadowLeaving,
}

/// A way of [`Copying`].
trait Each: 'static {
    fn each<P: Pack>(words: P::Words) -> P::Words;
}

struct Copied;
struct ShadowRead;
struct FloatLeaving;
struct ShadowLeaving;

impl Each for Copied {
    #[inline(always)]
    fn each<P: Pack>(words: P::Words) -> P::Words {
        words
    }
}

impl Each for ShadowRead {
    #[inline(always)]
    fn each<P: Pack>(words: P::Words) -> P::Words {
        let minus_zero = words.lit(1 << 31);
        Word::select(words.same(minus_zero), words.lit(0), words)
    }
}

impl Each for FloatLeaving {
    #[inline(always)]
    fn each<P: Pack>(words: P::Words) -> P::Words {
        let magnitude = words & words.lit(u32::MAX >> 1);
        let infinity = words.lit(f32::INFINITY.to_bits());
        let is_nan = infinity.lt_signed(magnitude);
        Word::select(is_nan, words.lit(CANONICAL_NAN), words)
    }
}

impl Each for ShadowLeaving {
    #[inline(always)]
    fn each<P: Pack>(words: P::Words) -> P::Words {
        FloatLeaving::each::<P>(ShadowRead::each::<P>(words))
    }
}

/// Names a routine at the level that is wanted.
macro_rules! at_level {
    ($level:expr, $type:ty, $body:ident::<$($generic:ty),*>) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512::$body::<$($generic),*> as $type,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::$body::<$($generic),*> as $type,
            _ => baseline::$body::<$($generic),*> as $type,
        }
    };
}

/// The routines of one level: the bodies below with its packs and its features.
macro_rules! level {
    ($name:ident, $packs:ident $(, #[$attribute:meta])?) => {
        #[allow(dead_code, reason = "not every level has all of them")]
        mod $name {
            use super::{Asked, Each, Part, Pattern, Ref, Row, Run, WordRow, pack};
            type P = pack::$packs::Floats;

            level!(@each [$(#[$attribute])?]
                full::<T: Part<N>, N: usize, SHAPES: u16>(refs: *const Ref, runs: &[Run]);
                float_general::<R: Row<N>, N: usize>(refs: *const Ref, pattern: Pattern, packs: &[u32], active: &[u32]);
                word_general::<R: WordRow<N>, N: usize>(refs: *const Ref, pattern: Pattern, packs: &[u32], active: &[u32]);
                test::<A: Asked>(refs: *const Ref, packs: &[u32], out: *mut u32);
                each_full::<E: Each, SHAPES: u16>(refs: *const Ref, runs: &[Run]);
                each_general::<E: Each>(refs: *const Ref, pattern: Pattern, packs: &[u32], active: &[u32]);
            );
        }
    };
    (@each [$($attribute:tt)*]) => {};
    (@each [$($attribute:tt)*]
        $routine:ident::<$type:ident: $bound:path $(, $constant:ident: $number:ty)*>($($arg:ident: $arg_type:ty),*);
        $($rest:tt)*
    ) => {
        /// # Safety
        /// As for the body of that name; the processor has the features of the level.
        $($attribute)*
        pub(super) unsafe fn $routine<$type: $bound $(, const $constant: $number)*>($($arg: $arg_type),*) {
            // SAFETY: what the routine may assume is what the body asks for.
            unsafe { super::$routine::<P, $type $(, $constant)*>($($arg),*) }
        }
        level!(@each [$($attribute)*] $($rest)*);
    };
}

level!(portable, portable);
#[cfg(target_arch = "x86_64")]
level!(avx2, avx2, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "x86_64")]
level!(avx512, avx512, #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]);

/// The routines of the baseline.
mod baseline {
    #[cfg(target_arch = "x86_64")]
    pub(super) use super::by_point::{float_general, word_general};
    pub(super) use super::portable::{each_full, each_general, test};
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) use super::portable::{float_general, full, word_general};
}

#[cfg(target_arch = "x86_64")]
mod by_point;
mod conditions;
mod part;
// Behind the macros, which they use.
#[macro_use]
mod find;
mod fused;

use conditions::{Asked, test};
pub use find::{
    Routines, find_copy, find_faults, find_row, find_test, find_truth, partials_of_one,
};
pub use fused::{Fusion, Fusions, Made, Piece, find_fusion};
use part::{Arg, Float, Part, Whole};

/// Callers lay memory out by what levels say of their packs.
const _: () = {
    #[cfg(target_arch = "x86_64")]
    {
        assert!(lanes_of(Level::Avx512) == pack::avx512::Words::LANES);
        assert!(lanes_of(Level::Avx2) == pack::avx2::Words::LANES);
    }
    assert!(lanes_of(Level::Baseline) == pack::portable::Words::LANES);
};

/// The float that a row sees for the words of an operand.
#[inline(always)]
fn operand<P: Pack>(kind: Kind, words: P::Words) -> P {
    match kind {
        Kind::Float => words.float(),
        _ => words.u32_to_float(),
    }
}

/// Does the same for each pack of runs. Written out where it stands, since closures are not always inlined where a level's features are.
macro_rules! each_pack {
    ($pack:ident in $runs:ident, $P:ty => $body:expr) => {
        for run in $runs {
            for index in 0..run.packs as usize {
                let $pack =
                    run.start as usize + index * (<$P as Pack>::Words::LANES * size_of::<u32>());
                $body
            }
        }
    };
}

/// # Safety
/// A pack is there.
#[inline(always)]
unsafe fn load<P: Pack>(from: *const u32, offset: usize) -> P::Words {
    // SAFETY: asked of the caller.
    unsafe { P::Words::load(from.byte_add(offset)) }
}

/// The first word there, for all points.
///
/// # Safety
/// A pack is there.
#[inline(always)]
unsafe fn splat<P: Pack>(from: *const u32) -> P::Words {
    // SAFETY: asked of the caller.
    unsafe { load::<P>(from, 0).lit(*from) }
}

/// # Safety
/// A pack is there.
#[inline(always)]
unsafe fn store<P: Pack>(to: *mut u32, offset: usize, words: P::Words) {
    // SAFETY: asked of the caller.
    unsafe { words.store(to.byte_add(offset)) }
}

/// Writes the active points of a pack.
///
/// # Safety
/// A pack is there.
#[inline(always)]
unsafe fn blend<P: Pack>(to: *mut u32, offset: u32, active: P::Flags, words: P::Words) {
    // SAFETY: asked of the caller.
    unsafe {
        let old = load::<P>(to, offset as usize);
        store::<P>(to, offset as usize, Word::select(active, words, old));
    }
}

/// References: the result, its shadows if any operand is dual, then each operand with its shadows if it is.
///
/// # Safety
/// As for [`Full`].
#[inline(always)]
unsafe fn full<P: Pack, T: Part<N>, const N: usize, const SHAPES: u16>(
    refs: *const Ref,
    runs: &[Run],
) {
    // SAFETY: the references are the instruction's, the planes have the packs. A result may stand where an operand stood: all of a pack is
    // read before it is written.
    unsafe {
        let place = |index: usize| (*refs.add(index)).at;
        let to = place(0);
        let (mut values, mut xs, mut ys) = ([to; N], [to; N], [to; N]);
        let mut at = if const { has_dual(SHAPES) } { 3 } else { 1 };
        let mut i = 0;
        while i < N {
            values[i] = place(at);
            at += 1;
            if shape(SHAPES, i) == DUAL {
                (xs[i], ys[i]) = (place(at), place(at + 1));
                at += 2;
            }
            i += 1;
        }
        let mut args = [splat::<P>(values[0]); N];
        let mut i = 1;
        while i < N {
            args[i] = splat::<P>(values[i]);
            i += 1;
        }
        if const { !has_dual(SHAPES) } {
            each_pack!(pack in runs, P => {
                let mut all = args;
                let mut i = 0;
                while i < N {
                    if shape(SHAPES, i) == VARYING {
                        all[i] = load::<P>(values[i], pack);
                    }
                    i += 1;
                }
                store::<P>(to, pack, T::value::<P>(all));
            });
            return;
        }
        let (to_x, to_y) = (place(1), place(2));
        each_pack!(pack in runs, P => {
            let mut all = [Arg { value: args[0], shadows: None }; N];
            let mut i = 0;
            while i < N {
                all[i].value = match shape(SHAPES, i) {
                    UNIFORM => args[i],
                    _ => load::<P>(values[i], pack),
                };
                if shape(SHAPES, i) == DUAL {
                    let (x, y) = (load::<P>(xs[i], pack), load::<P>(ys[i], pack));
                    all[i].shadows = Some([x.float(), y.float()]);
                }
                i += 1;
            }
            let found = T::dual(all);
            store::<P>(to, pack, found.value);
            if let Some([x, y]) = found.shadows {
                store::<P>(to_x, pack, x.bits());
                store::<P>(to_y, pack, y.bits());
            }
        });
    }
}

/// References: the result, those of its shadows that the pattern has, then the same for each operand.
///
/// # Safety
/// As for [`General`].
#[inline(always)]
unsafe fn float_general<P: Pack, R: Row<N>, const N: usize>(
    refs: *const Ref,
    pattern: Pattern,
    packs: &[u32],
    active: &[u32],
) {
    // SAFETY: as for `full`; which shadows there are is read from the pattern, as loading did.
    unsafe {
        let result = pattern.result();
        let mut at = refs;
        let mut next = || {
            let place = *at;
            at = at.add(1);
            place
        };
        let to = next().at;
        let mut to_shadow = [None; 2];
        let mut i = 0;
        while i < 2 {
            if result.has(Direction::BOTH[i]) {
                to_shadow[i] = Some(next().at);
            }
            i += 1;
        }
        let mut values = [*refs; N];
        let mut places = [[None; N]; 2];
        let mut i = 0;
        while i < N {
            values[i] = next();
            let mut d = 0;
            while d < 2 {
                if pattern.operand(i).has(Direction::BOTH[d]) {
                    places[d][i] = Some(next());
                }
                d += 1;
            }
            i += 1;
        }
        let kinds = R::INFO.operands;
        for (&pack, &active) in packs.iter().zip(active) {
            let active = P::Flags::from_bits(active);
            let mut args = [operand::<P>(kinds[0], P::Words::load(values[0].pack(pack))); N];
            let mut i = 1;
            while i < N {
                args[i] = operand(kinds[i], P::Words::load(values[i].pack(pack)));
                i += 1;
            }
            if result.is_none() {
                blend::<P>(to, pack, active, R::value(args).bits());
                continue;
            }
            let (value, partials) = R::both(args);
            let mut found = [value; 2];
            let mut d = 0;
            while d < 2 {
                let mut shadows = [None; N];
                let mut i = 0;
                while i < N {
                    if let Some(place) = places[d][i] {
                        shadows[i] = Some(P::Words::load(place.pack(pack)).float());
                    }
                    i += 1;
                }
                if to_shadow[d].is_some() {
                    found[d] = tangent(&partials, shadows, value);
                }
                d += 1;
            }
            blend::<P>(to, pack, active, value.bits());
            let mut d = 0;
            while d < 2 {
                if let Some(to) = to_shadow[d] {
                    blend::<P>(to, pack, active, found[d].bits());
                }
                d += 1;
            }
        }
    }
}

/// The operands of a row of words, in a pack.
///
/// # Safety
/// As for [`Full`]; the references begin with the first operand.
#[inline(always)]
unsafe fn words<P: Pack, const N: usize>(refs: *const Ref, pack: u32) -> [P::Words; N] {
    // SAFETY: asked of the caller.
    unsafe {
        let mut args = [P::Words::load((*refs).pack(pack)); N];
        let mut i = 1;
        while i < N {
            args[i] = P::Words::load((*refs.add(i)).pack(pack));
            i += 1;
        }
        args
    }
}

/// References: the result, then the operands.
///
/// # Safety
/// As for [`General`].
#[inline(always)]
unsafe fn word_general<P: Pack, R: WordRow<N>, const N: usize>(
    refs: *const Ref,
    _: Pattern,
    packs: &[u32],
    active: &[u32],
) {
    // SAFETY: as for `full`.
    unsafe {
        for (&pack, &active) in packs.iter().zip(active) {
            let active = P::Flags::from_bits(active);
            let value = R::value(words::<P, N>(refs.add(1), pack));
            blend::<P>((*refs).at, pack, active, value);
        }
    }
}

/// References: to, from.
///
/// # Safety
/// As for [`Full`].
#[inline(always)]
unsafe fn each_full<P: Pack, E: Each, const SHAPES: u16>(refs: *const Ref, runs: &[Run]) {
    // SAFETY: as for `full`.
    unsafe {
        let (to, from) = ((*refs).at, (*refs.add(1)).at);
        let first = E::each::<P>(splat::<P>(from));
        each_pack!(pack in runs, P => {
            let words = match shape(SHAPES, 0) {
                UNIFORM => first,
                _ => E::each::<P>(load::<P>(from, pack)),
            };
            store::<P>(to, pack, words);
        });
    }
}

/// References: to, from.
///
/// # Safety
/// As for [`General`].
#[inline(always)]
unsafe fn each_general<P: Pack, E: Each>(
    refs: *const Ref,
    _: Pattern,
    packs: &[u32],
    active: &[u32],
) {
    // SAFETY: as for `full`.
    unsafe {
        for (&pack, &active) in packs.iter().zip(active) {
            let active = P::Flags::from_bits(active);
            let words = P::Words::load((*refs.add(1)).pack(pack));
            blend::<P>((*refs).at, pack, active, E::each::<P>(words));
        }
    }
}
