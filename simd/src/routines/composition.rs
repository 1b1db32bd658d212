//! Computations of an unmasked routine: an op, or a chain of two, of which the first gives the
//! second an operand.

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
/// The computation `A`, then `B`, of two operands each. The result of `A` is operand `AT` of `B`,
/// and the operands of `A` take its place.
pub(super) struct Chained<A, B, const AT: usize>(PhantomData<(A, B)>);

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

impl<A, B, const AT: usize> SimdComputation<3> for Chained<A, B, AT>
where
    A: SimdComputation<2>,
    B: SimdComputation<2>,
{
    #[inline(always)]
    fn value<P: SimdFloats>([a, b, c]: [P::Words; 3]) -> P::Words {
        match const { AT == 0 } {
            true => B::value::<P>([A::value::<P>([a, b]), c]),
            false => B::value::<P>([a, A::value::<P>([b, c])]),
        }
    }

    #[inline(always)]
    fn dual<P: SimdFloats>([a, b, c]: [SimdOperand<P>; 3]) -> SimdOperand<P> {
        match const { AT == 0 } {
            true => B::dual([A::dual([a, b]), c]),
            false => B::dual([a, A::dual([b, c])]),
        }
    }
}
