//! The numbers that rows are written over, as nodes of a graph: running a row on them writes down what it computes.

use crate::graph::{Code, Graph, Id, Node, ONES};
use adumbra_ops::CallOut;
use adumbra_ops::field::{Field, Lane, Mask, Slow, Word};
use adumbra_ops::noise::numbers;
use adumbra_ops::row::Row;
use std::cell::RefCell;
use std::ops::Range;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// Code that is being written.
#[derive(Debug, Default)]
pub(crate) struct Pad {
    pub(crate) graph: Graph,
    /// The rare ways.
    pub(crate) rare: Vec<Rare>,
    /// Whether the machine has instructions for conversions that saturate.
    saturates: bool,
    is_rare: bool,
}

impl Pad {
    pub(crate) fn new(saturates: bool) -> Pad {
        Pad {
            saturates,
            ..Pad::default()
        }
    }

    /// Takes away what was written, and the rare ways in it.
    pub(crate) fn take(&mut self) -> (Graph, Vec<Rare>) {
        (self.graph.take(), std::mem::take(&mut self.rare))
    }
}

/// What is computed on a rare way alone.
#[derive(Clone, Debug)]
pub(crate) struct Rare {
    pub(crate) nodes: Range<usize>,
    pub(crate) result: Id,
}

/// A node, and where it stands.
#[derive(Clone, Copy)]
struct Noted<'p> {
    id: Id,
    pad: &'p RefCell<Pad>,
}

/// Floats.
#[derive(Clone, Copy)]
pub(crate) struct Floats<'p>(Noted<'p>);
/// Words.
#[derive(Clone, Copy)]
pub(crate) struct Words<'p>(Noted<'p>);
/// Masks.
#[derive(Clone, Copy)]
pub(crate) struct Bools<'p>(Noted<'p>);

impl<'p> Noted<'p> {
    fn lit(self, bits: u32) -> Noted<'p> {
        Noted {
            id: self.pad.borrow_mut().graph.constant(bits),
            ..self
        }
    }

    fn with(self, code: Code, a: Id, b: u32, c: u32) -> Noted<'p> {
        Noted {
            id: self.pad.borrow_mut().graph.push(code, a, b, c),
            ..self
        }
    }

    fn one(self, code: Code) -> Noted<'p> {
        self.with(code, self.id, 0, 0)
    }

    fn two(self, code: Code, other: Noted<'p>) -> Noted<'p> {
        self.with(code, self.id, other.id, 0)
    }

    fn three(self, code: Code, b: Noted<'p>, c: Noted<'p>) -> Noted<'p> {
        self.with(code, self.id, b.id, c.id)
    }

    fn node(self) -> Node {
        self.pad.borrow().graph.node(self.id)
    }

    fn bits(self) -> Option<u32> {
        let node = self.node();
        (node.code == Code::Const).then_some(node.a)
    }

    fn shift(self, [each, all]: [Code; 2], by: Noted<'p>) -> Noted<'p> {
        match by.bits() {
            Some(by) => self.with(all, self.id, by & 31, 0),
            None => self.two(each, by.two(Code::And, by.lit(31))),
        }
    }
}

impl<'p> Words<'p> {
    /// A parameter.
    pub(crate) fn param(pad: &'p RefCell<Pad>, number: u32) -> Words<'p> {
        let id = pad.borrow_mut().graph.push(Code::Param, number, 0, 0);
        Words(Noted { id, pad })
    }

    pub(crate) fn id(self) -> Id {
        self.0.id
    }
}

macro_rules! operators {
    ($($type:ident: $trait:ident $method:ident $code:ident;)*) => { $(
        impl<'p> $trait for $type<'p> {
            type Output = $type<'p>;
            fn $method(self, other: $type<'p>) -> $type<'p> {
                $type(self.0.two(Code::$code, other.0))
            }
        }
    )* };
}

operators! {
    Floats: Add add Add;
    Floats: Sub sub Sub;
    Floats: Mul mul Mul;
    Floats: Div div Div;
    Words: BitAnd bitand And;
    Words: BitOr bitor Or;
    Words: BitXor bitxor Xor;
    Bools: BitAnd bitand And;
    Bools: BitOr bitor Or;
    Bools: BitXor bitxor Xor;
}

impl Neg for Floats<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        Floats(self.0.two(Code::Xor, self.0.lit(1 << 31)))
    }
}

impl Not for Words<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Words(self.0.two(Code::Xor, self.0.lit(ONES)))
    }
}

impl Not for Bools<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Bools(self.0.two(Code::Xor, self.0.lit(ONES)))
    }
}

impl Mask for Bools<'_> {}

impl<'p> Field for Floats<'p> {
    type Mask = Bools<'p>;

    fn lit(self, c: f64) -> Self {
        Floats(self.0.lit((c as f32).to_bits()))
    }
    fn lt(self, other: Self) -> Bools<'p> {
        Bools(self.0.two(Code::Lt, other.0))
    }
    fn le(self, other: Self) -> Bools<'p> {
        Bools(self.0.two(Code::Le, other.0))
    }
    fn same(self, other: Self) -> Bools<'p> {
        Bools(self.0.two(Code::Eq, other.0))
    }
    fn select(mask: Bools<'p>, yes: Self, no: Self) -> Self {
        Floats(mask.0.three(Code::Select, yes.0, no.0))
    }
    fn call<R: Row<N>, const N: usize>(args: [Self; N]) -> Self {
        R::value(args)
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Self,
        cell: [Self; N],
        step: [Self; N],
    ) -> [Self; M] {
        numbers(
            salt,
            seed.to_i32(),
            cell.map(Lane::to_i32),
            step.map(Lane::to_i32),
        )
    }
}

impl<'p> Lane for Floats<'p> {
    type Word = Words<'p>;

    fn bits(self) -> Words<'p> {
        Words(self.0)
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        Floats(self.0.three(Code::MulAdd, b.0, c.0))
    }
    fn square_root(self) -> Self {
        Floats(self.0.one(Code::Sqrt))
    }
    fn magnitude(self) -> Self {
        Floats(self.0.two(Code::And, self.0.lit(ONES >> 1)))
    }
    fn round_even(self) -> Self {
        Floats(self.0.one(Code::RoundEven))
    }
    fn round_down(self) -> Self {
        Floats(self.0.one(Code::RoundDown))
    }
    fn round_up(self) -> Self {
        Floats(self.0.one(Code::RoundUp))
    }
    fn round_to_zero(self) -> Self {
        Floats(self.0.one(Code::RoundToZero))
    }
    fn to_i32(self) -> Words<'p> {
        if self.0.pad.borrow().saturates {
            return Words(self.0.one(Code::ToI32));
        }
        // Truncation gives the least integer for all that does not fit.
        let low = Words(self.0.one(Code::Truncate));
        let above = Words(self.lit(2_147_483_648.0).le(self).0);
        let number = Words(self.same(self).0);
        (low ^ above) & number
    }
    fn to_u32(self) -> Words<'p> {
        if self.0.pad.borrow().saturates {
            return Words(self.0.one(Code::ToU32));
        }
        // NaN becomes 0, since the greater one is the second operand then.
        let t = Floats(self.0.two(Code::Max, self.0.lit(0)));
        let half = t.lit(2_147_483_648.0);
        let above = half.le(t);
        let beyond = Words(t.lit(4_294_967_296.0).le(t).0);
        let low = t - Floats::select(above, half, t.lit(0.0));
        let low = Words(low.0.one(Code::Truncate));
        let top = Words(above.0).shl(low.lit(31));
        (low ^ top) | beyond
    }
    fn rare(mask: Bools<'p>, slow: impl Slow<Self>, fast: Self) -> Self {
        let pad = mask.0.pad;
        let start = {
            let mut pad = pad.borrow_mut();
            if pad.is_rare {
                drop(pad);
                return Floats::select(mask, slow.slow(), fast);
            }
            pad.is_rare = true;
            pad.graph.len()
        };
        let result = slow.slow().0.id;
        let mut pad = pad.borrow_mut();
        pad.is_rare = false;
        let end = pad.graph.len();
        pad.graph.forget_from(start);
        pad.rare.push(Rare {
            nodes: start..end,
            result,
        });
        let number = pad.rare.len() as u32 - 1;
        Floats(Noted {
            id: pad.graph.push(Code::Rare, mask.0.id, fast.0.id, number),
            ..mask.0
        })
    }
}

impl<'p> Word for Words<'p> {
    type Lane = Floats<'p>;
    type Mask = Bools<'p>;

    fn lit(self, c: u32) -> Self {
        Words(self.0.lit(c))
    }
    fn float(self) -> Floats<'p> {
        Floats(self.0)
    }
    fn plus(self, other: Self) -> Self {
        Words(self.0.two(Code::IAdd, other.0))
    }
    fn minus(self, other: Self) -> Self {
        Words(self.0.two(Code::ISub, other.0))
    }
    fn times(self, other: Self) -> Self {
        Words(self.0.two(Code::IMul, other.0))
    }
    fn times_high(self, other: Self) -> Self {
        let high = |word: Noted<'p>| word.one(Code::ShrWide);
        let even = high(self.0.two(Code::MulWide, other.0));
        let odd = high(self.0).two(Code::MulWide, high(other.0));
        Words(even) | Words(high(odd).one(Code::ShlWide))
    }
    fn shl(self, by: Self) -> Self {
        Words(self.0.shift([Code::Shl, Code::ShlBy], by.0))
    }
    fn shr(self, by: Self) -> Self {
        Words(self.0.shift([Code::Shr, Code::ShrBy], by.0))
    }
    fn sar(self, by: Self) -> Self {
        Words(self.0.shift([Code::Sar, Code::SarBy], by.0))
    }
    fn leading_zeros(self) -> Self {
        // Only the highest eight bits from the first one on stay, so that becoming a float does not round up to the next power of two. The
        // exponent of 1 is 127; with the highest bit set the float is negative, and what comes out is below 0.
        let few = Words(self.shr(self.lit(8)).0.two(Code::AndNot, self.0));
        let exponent = Words(few.i32_to_float().0).shr(self.lit(23));
        let zeros = self.lit(127 + 31).minus(exponent);
        let zeros = zeros.0.two(Code::IMax, self.lit(0).0);
        Words(zeros.two(Code::IMin, self.lit(32).0))
    }
    fn lt_signed(self, other: Self) -> Bools<'p> {
        Bools(self.0.two(Code::ILt, other.0))
    }
    fn lt_unsigned(self, other: Self) -> Bools<'p> {
        let sign = self.lit(1 << 31);
        (self ^ sign).lt_signed(other ^ sign)
    }
    fn same(self, other: Self) -> Bools<'p> {
        Bools(self.0.two(Code::IEq, other.0))
    }
    fn select(mask: Bools<'p>, yes: Self, no: Self) -> Self {
        Words(mask.0.three(Code::Select, yes.0, no.0))
    }
    fn truth(self, mask: Bools<'p>) -> Self {
        Words(mask.0) & self.lit(1)
    }
    fn i32_to_float(self) -> Floats<'p> {
        Floats(self.0.one(Code::FromI32))
    }
    fn u32_to_float(self) -> Floats<'p> {
        // Both halves are exact, so their sum is rounded once.
        let high = self.shr(self.lit(16)).i32_to_float();
        let low = (self & self.lit(0xffff)).i32_to_float();
        high * high.lit(65_536.0) + low
    }
    fn lookup(self, table: &'static [u32]) -> Self {
        let number = self.0.pad.borrow_mut().graph.table(table);
        Words(self.0.with(Code::Lookup, self.0.id, number, 0))
    }
    fn call_out(self, function: CallOut, b: Self) -> Self {
        Words(
            self.0
                .with(Code::CallOut, self.0.id, b.0.id, function as u32),
        )
    }
}
