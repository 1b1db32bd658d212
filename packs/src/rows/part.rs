//! What a full routine computes for a pack: a row, or rows of which each gives the next one an operand.

use super::operand;
use crate::pack::Pack;
use adumbra_ops::row::{Row, WordRow, tangent};
use std::marker::PhantomData;

/// A value of a pack, and its shadows if it has any: both or none.
#[derive(Clone, Copy)]
pub(super) struct Arg<P: Pack> {
    pub(super) value: P::Words,
    pub(super) shadows: Option<[P; 2]>,
}

/// What is computed from `N` operands.
pub(super) trait Part<const N: usize> {
    /// Without shadows.
    fn value<P: Pack>(args: [P::Words; N]) -> P::Words;
    /// With those that the operands have. Which do is known wherever it is compiled.
    fn dual<P: Pack>(args: [Arg<P>; N]) -> Arg<P>;
}

impl<P: Pack> Arg<P> {
    #[inline(always)]
    fn plain(value: P::Words) -> Arg<P> {
        let shadows = None;
        Arg { value, shadows }
    }
}

/// A row of floats.
pub(super) struct Float<R>(PhantomData<R>);
/// A row of words.
pub(super) struct Whole<R>(PhantomData<R>);
/// The part `A`, of `NA` operands, and then `B`, of `NB`, whose operand `AT` it gives. Its operands stand in place of that one.
pub(super) struct Then<A, B, const NA: usize, const NB: usize, const AT: usize>(
    PhantomData<(A, B)>,
);

/// The part `A`, of `NA` operands, of which that with the number `UPPER` is the same as that with the number `LOWER`, and not given.
pub(super) struct Same<A, const NA: usize, const LOWER: usize, const UPPER: usize>(PhantomData<A>);

impl<R: Row<N>, const N: usize> Part<N> for Float<R> {
    #[inline(always)]
    fn value<P: Pack>(args: [P::Words; N]) -> P::Words {
        let kinds = R::INFO.operands;
        let mut values = [operand::<P>(kinds[0], args[0]); N];
        let mut i = 1;
        while i < N {
            values[i] = operand(kinds[i], args[i]);
            i += 1;
        }
        R::value(values).bits()
    }

    #[inline(always)]
    fn dual<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        let kinds = R::INFO.operands;
        let mut values = [operand::<P>(kinds[0], args[0].value); N];
        let (mut x, mut y) = ([None; N], [None; N]);
        let mut has_shadows = false;
        let mut i = 0;
        while i < N {
            values[i] = operand(kinds[i], args[i].value);
            if let Some([along_x, along_y]) = args[i].shadows {
                (x[i], y[i]) = (Some(along_x), Some(along_y));
                has_shadows = true;
            }
            i += 1;
        }
        // The compiler removes the partials where there are no shadows to multiply.
        let (value, partials) = R::both(values);
        let value_bits = value.bits();
        if !has_shadows {
            return Arg::plain(value_bits);
        }
        Arg {
            value: value_bits,
            shadows: Some([tangent(&partials, x, value), tangent(&partials, y, value)]),
        }
    }
}

impl<R: WordRow<N>, const N: usize> Part<N> for Whole<R> {
    #[inline(always)]
    fn value<P: Pack>(args: [P::Words; N]) -> P::Words {
        R::value(args)
    }

    #[inline(always)]
    fn dual<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        let mut words = [args[0].value; N];
        let mut i = 1;
        while i < N {
            words[i] = args[i].value;
            i += 1;
        }
        Arg::plain(R::value(words))
    }
}

/// The operands of the first of two parts, out of those of both.
#[inline(always)]
fn first<T: Copy, const N: usize, const NA: usize>(args: [T; N], at: usize) -> [T; NA] {
    let mut first = [args[at]; NA];
    let mut i = 1;
    while i < NA {
        first[i] = args[at + i];
        i += 1;
    }
    first
}

/// The operands of the second, which has what the first gives at the number `at`.
#[inline(always)]
fn then<T: Copy, const N: usize, const NB: usize>(args: [T; N], given: T, at: usize) -> [T; NB] {
    let mut then = [given; NB];
    let mut i = 0;
    while i < NB {
        if i < at {
            then[i] = args[i];
        } else if i > at {
            then[i] = args[i + N - NB];
        }
        i += 1;
    }
    then
}

/// The operands of a part that has the same one twice.
#[inline(always)]
fn doubled<T: Copy, const N: usize, const NA: usize>(
    args: [T; N],
    lower: usize,
    upper: usize,
) -> [T; NA] {
    let mut all = [args[lower]; NA];
    let mut i = 0;
    while i < N {
        all[if i < upper { i } else { i + 1 }] = args[i];
        i += 1;
    }
    all
}

impl<A, B, const NA: usize, const NB: usize, const AT: usize, const N: usize> Part<N>
    for Then<A, B, NA, NB, AT>
where
    A: Part<NA>,
    B: Part<NB>,
{
    #[inline(always)]
    fn value<P: Pack>(args: [P::Words; N]) -> P::Words {
        const { assert!(N + 1 == NA + NB && AT < NB, "operands of both, but one") };
        B::value::<P>(then(args, A::value::<P>(first(args, AT)), AT))
    }

    #[inline(always)]
    fn dual<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        B::dual(then(args, A::dual(first(args, AT)), AT))
    }
}

impl<A, const NA: usize, const LOWER: usize, const UPPER: usize, const N: usize> Part<N>
    for Same<A, NA, LOWER, UPPER>
where
    A: Part<NA>,
{
    #[inline(always)]
    fn value<P: Pack>(args: [P::Words; N]) -> P::Words {
        const { assert!(N + 1 == NA && LOWER < UPPER && UPPER < NA, "all but one") };
        A::value::<P>(doubled(args, LOWER, UPPER))
    }

    #[inline(always)]
    fn dual<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        A::dual(doubled(args, LOWER, UPPER))
    }
}
