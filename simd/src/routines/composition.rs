//! Computations of an unmasked routine: an op, or a chain of ops in which each result is an operand
//! of the next.

use super::operand;
use crate::vector::SimdFloats;
use adumbra_ops::definition::{BitOpDef, OpDef, tangent};
use std::marker::PhantomData;

/// The value of a SIMD vector, with both shadows or with none.
#[derive(Clone, Copy)]
pub(super) struct SimdOperand<P: SimdFloats> {
    pub(super) value: P::Words,
    pub(super) shadows: Option<[P; 2]>,
}

/// A computation from `N` operands.
pub(super) trait SimdComputation<const N: usize> {
    /// Computes the value without shadows.
    fn value<P: SimdFloats>(args: [P::Words; N]) -> P::Words;
    /// Computes the value with the shadows that the operands have. The compiler knows which have
    /// any.
    fn dual<P: SimdFloats>(args: [SimdOperand<P>; N]) -> SimdOperand<P>;
}

impl<P: SimdFloats> SimdOperand<P> {
    #[inline(always)]
    fn plain(value: P::Words) -> SimdOperand<P> {
        let shadows = None;
        SimdOperand { value, shadows }
    }
}

/// An op on floats.
pub(super) struct FloatOp<R>(PhantomData<R>);
/// An op on words.
pub(super) struct BitOp<R>(PhantomData<R>);
/// The computation `A`, of `NA` operands, then `B`, of `NB`. The result of `A` is operand `AT` of
/// `B`, and the operands of `A` take its place.
pub(super) struct Chained<A, B, const NA: usize, const NB: usize, const AT: usize>(
    PhantomData<(A, B)>,
);

/// The computation `A`, of `NA` operands. Its operand `UPPER` equals operand `LOWER`, and is not
/// passed.
pub(super) struct SharedOperand<A, const NA: usize, const LOWER: usize, const UPPER: usize>(
    PhantomData<A>,
);

impl<R: OpDef<N>, const N: usize> SimdComputation<N> for FloatOp<R> {
    #[inline(always)]
    fn value<P: SimdFloats>(args: [P::Words; N]) -> P::Words {
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
    fn dual<P: SimdFloats>(args: [SimdOperand<P>; N]) -> SimdOperand<P> {
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
        let (value, partials) = R::value_and_partials(values);
        let value_bits = value.bits();
        if !has_shadows {
            return SimdOperand::plain(value_bits);
        }
        SimdOperand {
            value: value_bits,
            shadows: Some([tangent(&partials, x, value), tangent(&partials, y, value)]),
        }
    }
}

impl<R: BitOpDef<N>, const N: usize> SimdComputation<N> for BitOp<R> {
    #[inline(always)]
    fn value<P: SimdFloats>(args: [P::Words; N]) -> P::Words {
        R::value(args)
    }

    #[inline(always)]
    fn dual<P: SimdFloats>(args: [SimdOperand<P>; N]) -> SimdOperand<P> {
        let mut words = [args[0].value; N];
        let mut i = 1;
        while i < N {
            words[i] = args[i].value;
            i += 1;
        }
        SimdOperand::plain(R::value(words))
    }
}

/// The operands of the first of two computations, out of those of both.
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

/// The operands of the second computation, which has the first's result at index `at`.
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

/// The operands of a computation in which one occurs twice.
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

impl<A, B, const NA: usize, const NB: usize, const AT: usize, const N: usize> SimdComputation<N>
    for Chained<A, B, NA, NB, AT>
where
    A: SimdComputation<NA>,
    B: SimdComputation<NB>,
{
    #[inline(always)]
    fn value<P: SimdFloats>(args: [P::Words; N]) -> P::Words {
        const { assert!(N + 1 == NA + NB && AT < NB, "operands of both, but one") };
        B::value::<P>(then(args, A::value::<P>(first(args, AT)), AT))
    }

    #[inline(always)]
    fn dual<P: SimdFloats>(args: [SimdOperand<P>; N]) -> SimdOperand<P> {
        B::dual(then(args, A::dual(first(args, AT)), AT))
    }
}

impl<A, const NA: usize, const LOWER: usize, const UPPER: usize, const N: usize> SimdComputation<N>
    for SharedOperand<A, NA, LOWER, UPPER>
where
    A: SimdComputation<NA>,
{
    #[inline(always)]
    fn value<P: SimdFloats>(args: [P::Words; N]) -> P::Words {
        const { assert!(N + 1 == NA && LOWER < UPPER && UPPER < NA, "all but one") };
        A::value::<P>(doubled(args, LOWER, UPPER))
    }

    #[inline(always)]
    fn dual<P: SimdFloats>(args: [SimdOperand<P>; N]) -> SimdOperand<P> {
        A::dual(doubled(args, LOWER, UPPER))
    }
}
