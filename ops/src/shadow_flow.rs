//! Which operands' shadows an op passes, by its partials in a field where only constants are known.

use crate::definition::{BitOpDef, OpDef, Partial, read_operands};
use crate::field::{Field, Mask};
use crate::list::{Op, OpVisitor};
use crate::scalar_eval::{MAX_OPERANDS, operand_float};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A number or boolean that is known, or not. A result of known operands is known.
#[derive(Clone, Copy, Debug)]
struct Known<T>(Option<T>);

macro_rules! known {
    ($ty:ty: $($op:ident $method:ident),*) => { $(
        impl $op for Known<$ty> {
            type Output = Known<$ty>;
            #[inline(always)]
            fn $method(self, other: Known<$ty>) -> Known<$ty> {
                Known(self.0.zip(other.0).map(|(a, b)| $op::$method(a, b)))
            }
        }
    )* };
}

known!(f32: Add add, Sub sub, Mul mul, Div div);
known!(bool: BitAnd bitand, BitOr bitor, BitXor bitxor);

impl Neg for Known<f32> {
    type Output = Known<f32>;
    #[inline(always)]
    fn neg(self) -> Known<f32> {
        Known(self.0.map(Neg::neg))
    }
}

impl Not for Known<bool> {
    type Output = Known<bool>;
    #[inline(always)]
    fn not(self) -> Known<bool> {
        Known(self.0.map(Not::not))
    }
}

impl Mask for Known<bool> {}

impl Known<f32> {
    #[inline(always)]
    fn compare(self, other: Known<f32>, test: fn(f32, f32) -> bool) -> Known<bool> {
        Known(self.0.zip(other.0).map(|(a, b)| test(a, b)))
    }
}

impl Field for Known<f32> {
    type Mask = Known<bool>;

    #[inline(always)]
    fn lit(self, c: f64) -> Known<f32> {
        Known(Some(c as f32))
    }
    #[inline(always)]
    fn lt(self, other: Known<f32>) -> Known<bool> {
        self.compare(other, Field::lt)
    }
    #[inline(always)]
    fn le(self, other: Known<f32>) -> Known<bool> {
        self.compare(other, Field::le)
    }
    #[inline(always)]
    fn same(self, other: Known<f32>) -> Known<bool> {
        self.compare(other, Field::same)
    }
    #[inline(always)]
    fn select(mask: Known<bool>, yes: Known<f32>, no: Known<f32>) -> Known<f32> {
        match mask.0 {
            Some(true) => yes,
            Some(false) => no,
            None => Known(None),
        }
    }
    #[inline(always)]
    fn call<R: OpDef<N>, const N: usize>(args: [Known<f32>; N]) -> Known<f32> {
        match args.iter().all(|arg| arg.0.is_some()) {
            true => Known(Some(R::value(args.map(|arg| arg.0.unwrap_or_default())))),
            false => Known(None),
        }
    }
    #[inline(always)]
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Known<f32>,
        cell: [Known<f32>; N],
        step: [Known<f32>; N],
    ) -> [Known<f32>; M] {
        let known = |numbers: [Known<f32>; N]| numbers.iter().all(|number| number.0.is_some());
        if seed.0.is_none() || !known(cell) || !known(step) {
            return [Known(None); M];
        }
        let value = |number: Known<f32>| number.0.unwrap_or_default();
        f32::lattice(salt, value(seed), cell.map(value), step.map(value))
            .map(|number| Known(Some(number)))
    }
}

/// The bits of each operand that is a constant.
struct Carries([Option<u32>; MAX_OPERANDS]);

impl OpVisitor for Carries {
    type Out = [bool; MAX_OPERANDS];

    #[inline]
    fn float<R: OpDef<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        let operands = read_operands(R::INFO.operands, &self.0, &|kind, bits| {
            Known(bits.map(|bits| operand_float(kind, bits)))
        });
        let partials: [Partial<Known<f32>>; N] = R::partials(operands, Known(None));
        of_partials(&partials, &|partial| match partial {
            Partial::Zero | Partial::Where(Known(Some(false))) => false,
            Partial::Of(Known(Some(p)))
            | Partial::Singular(Known(Some(p)))
            | Partial::Flat(Known(Some(p))) => p != 0.0,
            _ => true,
        })
    }

    #[inline]
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        [false; MAX_OPERANDS]
    }
}

/// The operands whose partials are flat, and with `or_singular` also the singular ones, regardless
/// of constants.
struct Strong {
    or_singular: bool,
}

impl OpVisitor for Strong {
    type Out = [bool; MAX_OPERANDS];

    fn float<R: OpDef<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        let unknown = Known(None);
        let partials: [Partial<Known<f32>>; N] = R::partials([unknown; N], unknown);
        of_partials(&partials, &|partial| match partial {
            Partial::Singular(_) => self.or_singular,
            Partial::Flat(_) => true,
            _ => false,
        })
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> [bool; MAX_OPERANDS] {
        [false; MAX_OPERANDS]
    }
}

/// Whether something holds of each partial; false beyond them.
fn of_partials(
    partials: &[Partial<Known<f32>>],
    holds: &dyn Fn(Partial<Known<f32>>) -> bool,
) -> [bool; MAX_OPERANDS] {
    std::array::from_fn(|i| partials.get(i).is_some_and(|&partial| holds(partial)))
}

impl Op {
    /// Per operand, whether its term is 0 where its partial or its shadow is, whatever the other is
    /// ([`Partial::Singular`], [`Partial::Flat`]).
    pub fn strong_partials(self) -> [bool; MAX_OPERANDS] {
        self.visit(Strong { or_singular: true })
    }

    /// Per operand, whether the value can be finite though it is not ([`Partial::Flat`]).
    pub fn flat_partials(self) -> [bool; MAX_OPERANDS] {
        self.visit(Strong { or_singular: false })
    }

    /// Per operand, whether its shadow can change the result's: false where the partial is 0
    /// everywhere, as for `floor`, and for all operands of ops without derivative.
    pub fn passes_shadows(self) -> [bool; MAX_OPERANDS] {
        self.passes_shadows_given([None; MAX_OPERANDS])
    }

    /// [`Op::passes_shadows`] where the bits of some operands are known: a factor of 0 lets no
    /// shadow of the other factor pass.
    pub fn passes_shadows_given(
        self,
        constants: [Option<u32>; MAX_OPERANDS],
    ) -> [bool; MAX_OPERANDS] {
        self.visit(Carries(constants))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which operands' shadows pass, where some operands are these constants.
    fn carries<const N: usize>(op: Op, constants: [Option<u32>; N]) -> [bool; N] {
        let mut all = [None; MAX_OPERANDS];
        all[..N].copy_from_slice(&constants);
        let carries = op.passes_shadows_given(all);
        assert!(carries[N..].iter().all(|carries| !carries));
        std::array::from_fn(|i| carries[i])
    }

    #[test]
    fn shadows_pass_where_the_partial_is_not_zero() {
        assert_eq!(carries(Op::Mul, [None; 2]), [true, true]);
        assert_eq!(carries(Op::Floor, [None]), [false]);
        assert_eq!(carries(Op::Select, [None; 3]), [false, true, true]);
        assert_eq!(carries(Op::Step, [None; 2]), [false; 2]);
        assert_eq!(carries(Op::IToF, [None]), [false]);
        assert_eq!(carries(Op::Perlin2, [None; 3]), [true, true, false]);
    }

    #[test]
    fn constants_can_keep_shadows_from_passing() {
        let [zero, two, yes] = [Some(0), Some(2_f32.to_bits()), Some(1)];
        assert_eq!(carries(Op::Mul, [None, zero]), [false, true]);
        assert_eq!(carries(Op::Mul, [None, two]), [true, true]);
        assert_eq!(carries(Op::Div, [zero, None]), [true, true]);
        assert_eq!(carries(Op::Mix, [None, None, zero]), [true, false, true]);
        assert_eq!(carries(Op::Select, [yes, None, None]), [false, true, false]);
    }

    #[test]
    fn ops_without_shadow_flow_have_zero_partials() {
        for &op in Op::ALL {
            let partials = op.partials(&[0.75_f64, 0.5, 0.25, 0.4, 0.3][..op.arity()], 0.5);
            for (partial, carries) in partials.into_iter().zip(op.passes_shadows()) {
                assert!(carries || partial == 0.0, "{op:?}");
            }
        }
    }
}
