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

/// What is computed from `N` operands. Which of them have shadows is known wherever it is compiled.
pub(super) trait Part<const N: usize> {
    fn run<P: Pack>(args: [Arg<P>; N]) -> Arg<P>;
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
    fn run<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
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
        if !has_shadows {
            return Arg {
                value: R::value(values).bits(),
                shadows: None,
            };
        }
        let (value, partials) = R::both(values);
        Arg {
            value: value.bits(),
            shadows: Some([tangent(&partials, x, value), tangent(&partials, y, value)]),
        }
    }
}

impl<R: WordRow<N>, const N: usize> Part<N> for Whole<R> {
    #[inline(always)]
    fn run<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        let mut words = [args[0].value; N];
        let mut i = 1;
        while i < N {
            words[i] = args[i].value;
            i += 1;
        }
        Arg {
            value: R::value(words),
            shadows: None,
        }
    }
}

impl<A, B, const NA: usize, const NB: usize, const AT: usize, const N: usize> Part<N>
    for Then<A, B, NA, NB, AT>
where
    A: Part<NA>,
    B: Part<NB>,
{
    #[inline(always)]
    fn run<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        const { assert!(N + 1 == NA + NB && AT < NB, "operands of both, but one") };
        let mut first = [args[AT]; NA];
        let mut i = 1;
        while i < NA {
            first[i] = args[AT + i];
            i += 1;
        }
        let mut then = [A::run(first); NB];
        let mut i = 0;
        while i < NB {
            if i < AT {
                then[i] = args[i];
            } else if i > AT {
                then[i] = args[i + NA - 1];
            }
            i += 1;
        }
        B::run(then)
    }
}

impl<A, const NA: usize, const LOWER: usize, const UPPER: usize, const N: usize> Part<N>
    for Same<A, NA, LOWER, UPPER>
where
    A: Part<NA>,
{
    #[inline(always)]
    fn run<P: Pack>(args: [Arg<P>; N]) -> Arg<P> {
        const { assert!(N + 1 == NA && LOWER < UPPER && UPPER < NA, "all but one") };
        let mut all = [args[LOWER]; NA];
        let mut i = 0;
        while i < N {
            all[if i < UPPER { i } else { i + 1 }] = args[i];
            i += 1;
        }
        A::run(all)
    }
}
