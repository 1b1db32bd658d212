//! Tracing: number types whose operations record graph nodes, so that an op's algorithm, run on
//! them, yields its graph (as in JAX and Dr.Jit).

use crate::graph::{ALL_ONES, Graph, Node, NodeId, NodeOp};
use adumbra_ops::Libcall;
use adumbra_ops::definition::OpDef;
use adumbra_ops::field::{Field, FloatField, Mask, SlowFn, WordField};
use adumbra_ops::lattice::lattice_numbers;
use std::cell::RefCell;
use std::ops::Range;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The recorder of a graph.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    pub(crate) graph: Graph,
    /// The slow paths.
    pub(crate) slow_paths: Vec<TracedSlowPath>,
    /// Whether the target has saturating conversions.
    saturates: bool,
    in_slow_path: bool,
}

impl Tracer {
    pub(crate) fn new(saturates: bool) -> Tracer {
        Tracer {
            saturates,
            ..Tracer::default()
        }
    }

    /// Returns the graph and its slow paths, and starts over.
    pub(crate) fn take(&mut self) -> (Graph, Vec<TracedSlowPath>) {
        (self.graph.take(), std::mem::take(&mut self.slow_paths))
    }
}

/// A slow path as it was traced.
#[derive(Clone, Debug)]
pub(crate) struct TracedSlowPath {
    pub(crate) nodes: Range<usize>,
    pub(crate) result: NodeId,
}

/// A node and its tracer.
#[derive(Clone, Copy)]
struct TracedNode<'p> {
    id: NodeId,
    tracer: &'p RefCell<Tracer>,
}

/// A float that is traced.
#[derive(Clone, Copy)]
pub(crate) struct TracedFloat<'p>(TracedNode<'p>);
/// A 32-bit word that is traced.
#[derive(Clone, Copy)]
pub(crate) struct TracedWord<'p>(TracedNode<'p>);
/// A mask that is traced.
#[derive(Clone, Copy)]
pub(crate) struct TracedMask<'p>(TracedNode<'p>);

impl<'p> TracedNode<'p> {
    fn lit(self, bits: u32) -> TracedNode<'p> {
        TracedNode {
            id: self.tracer.borrow_mut().graph.constant(bits),
            ..self
        }
    }

    fn with(self, op: NodeOp, a: NodeId, b: u32, c: u32) -> TracedNode<'p> {
        TracedNode {
            id: self.tracer.borrow_mut().graph.push(op, a, b, c),
            ..self
        }
    }

    fn one(self, op: NodeOp) -> TracedNode<'p> {
        self.with(op, self.id, 0, 0)
    }

    fn two(self, op: NodeOp, other: TracedNode<'p>) -> TracedNode<'p> {
        self.with(op, self.id, other.id, 0)
    }

    fn three(self, op: NodeOp, b: TracedNode<'p>, c: TracedNode<'p>) -> TracedNode<'p> {
        self.with(op, self.id, b.id, c.id)
    }

    fn node(self) -> Node {
        self.tracer.borrow().graph.node(self.id)
    }

    fn bits(self) -> Option<u32> {
        let node = self.node();
        (node.op == NodeOp::Const).then_some(node.a)
    }

    fn shift(self, [each, all]: [NodeOp; 2], by: TracedNode<'p>) -> TracedNode<'p> {
        match by.bits() {
            Some(by) => self.with(all, self.id, by & 31, 0),
            None => self.two(each, by.two(NodeOp::And, by.lit(31))),
        }
    }
}

impl<'p> TracedWord<'p> {
    /// A parameter.
    pub(crate) fn param(tracer: &'p RefCell<Tracer>, number: u32) -> TracedWord<'p> {
        let id = tracer.borrow_mut().graph.push(NodeOp::Param, number, 0, 0);
        TracedWord(TracedNode { id, tracer })
    }

    pub(crate) fn id(self) -> NodeId {
        self.0.id
    }
}

macro_rules! operators {
    ($($type:ident: $trait:ident $method:ident $op:ident;)*) => { $(
        impl<'p> $trait for $type<'p> {
            type Output = $type<'p>;
            fn $method(self, other: $type<'p>) -> $type<'p> {
                $type(self.0.two(NodeOp::$op, other.0))
            }
        }
    )* };
}

operators! {
    TracedFloat: Add add Add;
    TracedFloat: Sub sub Sub;
    TracedFloat: Mul mul Mul;
    TracedFloat: Div div Div;
    TracedWord: BitAnd bitand And;
    TracedWord: BitOr bitor Or;
    TracedWord: BitXor bitxor Xor;
    TracedMask: BitAnd bitand And;
    TracedMask: BitOr bitor Or;
    TracedMask: BitXor bitxor Xor;
}

impl Neg for TracedFloat<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        TracedFloat(self.0.two(NodeOp::Xor, self.0.lit(1 << 31)))
    }
}

impl Not for TracedWord<'_> {
    type Output = Self;
    fn not(self) -> Self {
        TracedWord(self.0.two(NodeOp::Xor, self.0.lit(ALL_ONES)))
    }
}

impl Not for TracedMask<'_> {
    type Output = Self;
    fn not(self) -> Self {
        TracedMask(self.0.two(NodeOp::Xor, self.0.lit(ALL_ONES)))
    }
}

impl Mask for TracedMask<'_> {}

impl<'p> Field for TracedFloat<'p> {
    type Mask = TracedMask<'p>;

    fn lit(self, c: f64) -> Self {
        TracedFloat(self.0.lit((c as f32).to_bits()))
    }
    fn lt(self, other: Self) -> TracedMask<'p> {
        TracedMask(self.0.two(NodeOp::Lt, other.0))
    }
    fn le(self, other: Self) -> TracedMask<'p> {
        TracedMask(self.0.two(NodeOp::Le, other.0))
    }
    fn same(self, other: Self) -> TracedMask<'p> {
        TracedMask(self.0.two(NodeOp::Eq, other.0))
    }
    fn select(mask: TracedMask<'p>, yes: Self, no: Self) -> Self {
        TracedFloat(mask.0.three(NodeOp::Select, yes.0, no.0))
    }
    fn call<R: OpDef<N>, const N: usize>(args: [Self; N]) -> Self {
        R::value(args)
    }
    fn lattice<const N: usize, const M: usize>(
        salt: u32,
        seed: Self,
        cell: [Self; N],
        step: [Self; N],
    ) -> [Self; M] {
        lattice_numbers(
            salt,
            seed.to_i32(),
            cell.map(FloatField::to_i32),
            step.map(FloatField::to_i32),
        )
    }
}

impl<'p> FloatField for TracedFloat<'p> {
    type Word = TracedWord<'p>;

    fn bits(self) -> TracedWord<'p> {
        TracedWord(self.0)
    }
    fn mul_add(self, b: Self, c: Self) -> Self {
        TracedFloat(self.0.three(NodeOp::MulAdd, b.0, c.0))
    }
    fn square_root(self) -> Self {
        TracedFloat(self.0.one(NodeOp::Sqrt))
    }
    fn magnitude(self) -> Self {
        TracedFloat(self.0.two(NodeOp::And, self.0.lit(ALL_ONES >> 1)))
    }
    fn round_even(self) -> Self {
        TracedFloat(self.0.one(NodeOp::RoundEven))
    }
    fn round_down(self) -> Self {
        TracedFloat(self.0.one(NodeOp::RoundDown))
    }
    fn round_up(self) -> Self {
        TracedFloat(self.0.one(NodeOp::RoundUp))
    }
    fn round_to_zero(self) -> Self {
        TracedFloat(self.0.one(NodeOp::RoundToZero))
    }
    fn to_i32(self) -> TracedWord<'p> {
        if self.0.tracer.borrow().saturates {
            return TracedWord(self.0.one(NodeOp::ToI32));
        }
        // Truncation gives the least integer for all that does not fit.
        let low = TracedWord(self.0.one(NodeOp::Truncate));
        let above = TracedWord(self.lit(2_147_483_648.0).le(self).0);
        let number = TracedWord(self.same(self).0);
        (low ^ above) & number
    }
    fn to_u32(self) -> TracedWord<'p> {
        if self.0.tracer.borrow().saturates {
            return TracedWord(self.0.one(NodeOp::ToU32));
        }
        // NaN becomes 0, since `Max` returns its second operand then.
        let t = TracedFloat(self.0.two(NodeOp::Max, self.0.lit(0)));
        let half = t.lit(2_147_483_648.0);
        let above = half.le(t);
        let beyond = TracedWord(t.lit(4_294_967_296.0).le(t).0);
        let low = t - TracedFloat::select(above, half, t.lit(0.0));
        let low = TracedWord(low.0.one(NodeOp::Truncate));
        let top = TracedWord(above.0).shl(low.lit(31));
        (low ^ top) | beyond
    }
    fn with_slow_path(mask: TracedMask<'p>, slow: impl SlowFn<Self>, fast: Self) -> Self {
        let tracer = mask.0.tracer;
        let start = {
            let mut tracer = tracer.borrow_mut();
            if tracer.in_slow_path {
                drop(tracer);
                return TracedFloat::select(mask, slow.compute(), fast);
            }
            tracer.in_slow_path = true;
            tracer.graph.len()
        };
        let result = slow.compute().0.id;
        let mut tracer = tracer.borrow_mut();
        tracer.in_slow_path = false;
        let end = tracer.graph.len();
        tracer.graph.hide_from(start);
        tracer.slow_paths.push(TracedSlowPath {
            nodes: start..end,
            result,
        });
        let number = tracer.slow_paths.len() as u32 - 1;
        TracedFloat(TracedNode {
            id: tracer
                .graph
                .push(NodeOp::SlowPath, mask.0.id, fast.0.id, number),
            ..mask.0
        })
    }
}

impl<'p> WordField for TracedWord<'p> {
    type Float = TracedFloat<'p>;
    type Mask = TracedMask<'p>;

    fn lit(self, c: u32) -> Self {
        TracedWord(self.0.lit(c))
    }
    fn float(self) -> TracedFloat<'p> {
        TracedFloat(self.0)
    }
    fn plus(self, other: Self) -> Self {
        TracedWord(self.0.two(NodeOp::IAdd, other.0))
    }
    fn minus(self, other: Self) -> Self {
        TracedWord(self.0.two(NodeOp::ISub, other.0))
    }
    fn times(self, other: Self) -> Self {
        TracedWord(self.0.two(NodeOp::IMul, other.0))
    }
    fn times_high(self, other: Self) -> Self {
        let high = |word: TracedNode<'p>| word.one(NodeOp::ShrWide);
        let even = high(self.0.two(NodeOp::MulWide, other.0));
        let odd = high(self.0).two(NodeOp::MulWide, high(other.0));
        TracedWord(even) | TracedWord(high(odd).one(NodeOp::ShlWide))
    }
    fn shl(self, by: Self) -> Self {
        TracedWord(self.0.shift([NodeOp::Shl, NodeOp::ShlBy], by.0))
    }
    fn shr(self, by: Self) -> Self {
        TracedWord(self.0.shift([NodeOp::Shr, NodeOp::ShrBy], by.0))
    }
    fn sar(self, by: Self) -> Self {
        TracedWord(self.0.shift([NodeOp::Sar, NodeOp::SarBy], by.0))
    }
    fn leading_zeros(self) -> Self {
        // Only the highest eight bits from the first one on stay, so that the conversion to float
        // does not round up to a power of two. The exponent of 1 is 127; with the highest bit set
        // the float is negative, and the result is below 0.
        let few = TracedWord(self.shr(self.lit(8)).0.two(NodeOp::AndNot, self.0));
        let exponent = TracedWord(few.i32_to_float().0).shr(self.lit(23));
        let zeros = self.lit(127 + 31).minus(exponent);
        let zeros = zeros.0.two(NodeOp::IMax, self.lit(0).0);
        TracedWord(zeros.two(NodeOp::IMin, self.lit(32).0))
    }
    fn lt_signed(self, other: Self) -> TracedMask<'p> {
        TracedMask(self.0.two(NodeOp::ILt, other.0))
    }
    fn lt_unsigned(self, other: Self) -> TracedMask<'p> {
        let sign = self.lit(1 << 31);
        (self ^ sign).lt_signed(other ^ sign)
    }
    fn same(self, other: Self) -> TracedMask<'p> {
        TracedMask(self.0.two(NodeOp::IEq, other.0))
    }
    fn select(mask: TracedMask<'p>, yes: Self, no: Self) -> Self {
        TracedWord(mask.0.three(NodeOp::Select, yes.0, no.0))
    }
    fn boolean(self, mask: TracedMask<'p>) -> Self {
        TracedWord(mask.0) & self.lit(1)
    }
    fn i32_to_float(self) -> TracedFloat<'p> {
        TracedFloat(self.0.one(NodeOp::FromI32))
    }
    fn u32_to_float(self) -> TracedFloat<'p> {
        // Both halves are exact, so their sum is rounded once.
        let high = self.shr(self.lit(16)).i32_to_float();
        let low = (self & self.lit(0xffff)).i32_to_float();
        high * high.lit(65_536.0) + low
    }
    fn lookup(self, table: &'static [u32]) -> Self {
        let number = self.0.tracer.borrow_mut().graph.table(table);
        TracedWord(self.0.with(NodeOp::Lookup, self.0.id, number, 0))
    }
    fn libcall(self, function: Libcall, b: Self) -> Self {
        TracedWord(
            self.0
                .with(NodeOp::Libcall, self.0.id, b.0.id, function as u32),
        )
    }
}
