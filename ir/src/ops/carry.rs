//! Which operands' shadows a row passes on, found by asking its partials in a field where nothing is computed.

use super::field::{Field, Mask};
use super::list::{Op, OpVisitor};
use super::point::MAX_OPERANDS;
use super::row::{Partial, Row, WordRow};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The field of one element, which is also its only mask. Rows in it cost nothing; what remains is the kind of each partial.
#[derive(Clone, Copy, Debug)]
struct Nothing;

macro_rules! nothing {
    ($($op:ident $method:ident),*) => { $(
        impl $op for Nothing {
            type Output = Nothing;
            #[inline(always)]
            fn $method(self, _: Nothing) -> Nothing {
                Nothing
            }
        }
    )* };
}

nothing!(Add add, Sub sub, Mul mul, Div div, BitAnd bitand, BitOr bitor, BitXor bitxor);

impl Neg for Nothing {
    type Output = Nothing;
    #[inline(always)]
    fn neg(self) -> Nothing {
        Nothing
    }
}

impl Not for Nothing {
    type Output = Nothing;
    #[inline(always)]
    fn not(self) -> Nothing {
        Nothing
    }
}

impl Mask for Nothing {}

impl Field for Nothing {
    type Mask = Nothing;

    #[inline(always)]
    fn lit(self, _: f64) -> Nothing {
        Nothing
    }
    #[inline(always)]
    fn lt(self, _: Nothing) -> Nothing {
        Nothing
    }
    #[inline(always)]
    fn le(self, _: Nothing) -> Nothing {
        Nothing
    }
    #[inline(always)]
    fn same(self, _: Nothing) -> Nothing {
        Nothing
    }
    #[inline(always)]
    fn select(_: Nothing, _: Nothing, _: Nothing) -> Nothing {
        Nothing
    }
    #[inline(always)]
    fn call<R: Row<N>, const N: usize>(_: [Nothing; N]) -> Nothing {
        Nothing
    }
}

struct Carries;

impl OpVisitor for Carries {
    type Out = [bool; MAX_OPERANDS];

    #[inline]
    fn float<R: Row<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        let partials = R::partials([Nothing; N], Nothing);
        std::array::from_fn(|i| partials.get(i).is_some_and(|p| !matches!(p, Partial::Zero)))
    }

    #[inline]
    fn word<R: WordRow<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        [false; MAX_OPERANDS]
    }
}

impl Op {
    /// Per operand, whether its shadow can change the result's: false where the partial is 0 everywhere, as for `floor`, and for all
    /// operands of rows without derivative.
    pub fn carries(self) -> [bool; MAX_OPERANDS] {
        self.visit(Carries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadows_pass_where_the_partial_is_not_zero() {
        assert_eq!(Op::Mul.carries(), [true, true, false]);
        assert_eq!(Op::Floor.carries(), [false; 3]);
        assert_eq!(Op::Select.carries(), [false, true, true]);
        assert_eq!(Op::Step.carries(), [false; 3]);
        assert_eq!(Op::IToF.carries(), [false; 3]);
    }

    #[test]
    fn a_row_that_carries_nothing_has_zero_partials_as_numbers() {
        for &op in Op::ALL {
            let partials = op.partials(&[0.75_f64, 0.5, 0.25][..op.arity()], 0.5);
            for (partial, carries) in partials.into_iter().zip(op.carries()) {
                assert!(carries || partial == 0.0, "{op:?}");
            }
        }
    }
}
