//! The list of all ops. An op exists because it is in this list; everything else is derived.
//!
//! To add one, write its definition in the file of its subject, and name it here.

use crate::arithmetic::*;
use crate::bit_ops::*;
use crate::definition::{BitOpDef, OpDef, OpInfo};
use crate::exponential::*;
use crate::hyperbolic::*;
use crate::interpolation::*;
use crate::noise::cellular::*;
use crate::noise::gradient::*;
use crate::noise::value::*;
use crate::power::*;
use crate::rounding::*;
use crate::selection::*;
use crate::trigonometric::*;

/// A computation over any op's definition: see [`Op::visit`].
pub trait OpVisitor {
    /// The result.
    type Out;
    /// For a differentiable op.
    fn float<R: OpDef<N>, const N: usize>(self) -> Self::Out;
    /// For an op without derivative.
    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Self::Out;
}

macro_rules! list {
    (
        float { $($op:ident/$n:literal),* $(,)? }
        word { $($word:ident/$m:literal),* $(,)? }
    ) => {
        /// An op of the op table, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Op {
            $($op,)*
            $($word,)*
        }

        impl Op {
            /// Every op, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$op,)* $(Op::$word,)*];

            /// The op's data.
            pub const fn info(self) -> &'static OpInfo {
                match self {
                    $(Op::$op => &<$op as OpDef<$n>>::INFO,)*
                    $(Op::$word => &<$word as BitOpDef<$m>>::INFO,)*
                }
            }

            /// Calls the visitor with this op's definition.
            #[inline]
            pub fn visit<V: OpVisitor>(self, visitor: V) -> V::Out {
                match self {
                    $(Op::$op => visitor.float::<$op, $n>(),)*
                    $(Op::$word => visitor.bits::<$word, $m>(),)*
                }
            }
        }
    };
}

list! {
    float {
        Neg/1, Add/2, Sub/2, Mul/2, StrongMul/2, Div/2, Rcp/1,
        Min/2, Max/2, Clamp/3, Saturate/1, Select/3, Step/2, Abs/1, Sign/1, CopySign/2,
        Floor/1, Ceil/1, Round/1, Trunc/1, Fract/1, Mod/2, Fmod/2,
        Mix/3, SmoothStep/3, Held/1, Sloped/3,
        Sqrt/1, Rsqrt/1, Cbrt/1, Pow/2, Hypot/2, Norm3/3,
        Exp/1, Exp2/1, Log/1, Log2/1, Log10/1,
        Sin/1, Cos/1, Tan/1, Asin/1, Acos/1, Atan/1, Atan2/2,
        Sinh/1, Cosh/1, Tanh/1, Asinh/1, Acosh/1, Atanh/1,
        Perlin1/2, Perlin2/3, Perlin3/4, Perlin4/5,
        Simplex1/2, Simplex2/3, Simplex3/4, Simplex4/5,
        Value1/2, Value2/3, Value3/4, Value4/5,
        Cell1/2, Cell2/3, Cell3/4, Cell4/5,
        Worley1/2, Worley2/3, Worley3/4, Worley4/5,
        WorleySecond1/2, WorleySecond2/3, WorleySecond3/4, WorleySecond4/5,
        Voronoi1/2, Voronoi2/3, Voronoi3/4, Voronoi4/5,
    }
    word {
        IAdd/2, ISub/2, IMul/2, INeg/1, IDiv/2, IRem/2, UDiv/2, URem/2, Index/2, Iterations/2,
        And/2, Or/2, Xor/2, Not/1, LNot/1, Shl/2, Shr/2, Sar/2,
        IMin/2, IMax/2, IAbs/1, ISign/1, UMin/2, UMax/2,
        ILt/2, ILe/2, ULt/2, ULe/2, IEq/2, INe/2, FLt/2, FLe/2, FEq/2, FNe/2,
        ISel/3,
        FToI/1, FToU/1, IToF/1, UToF/1, BToI/1, BToU/1, IToU/1, UToI/1, AsInt/1, AsFloat/1,
    }
}

impl Op {
    /// How many operands it has: 1 to [`MAX_OPERANDS`](crate::MAX_OPERANDS).
    pub const fn arity(self) -> usize {
        self.info().operands.len()
    }

    /// The op of that name.
    pub fn from_name(name: &str) -> Option<Op> {
        let found = BY_NAME.binary_search_by(|op| op.info().name.cmp(name));
        found.ok().map(|index| BY_NAME[index])
    }

    /// The op with that definition.
    ///
    /// # Panics
    /// If the definition is in no list of ops.
    pub fn of<R: OpDef<N>, const N: usize>() -> Op {
        Op::from_name(R::INFO.name).expect("the definition is in the list")
    }

    /// Whether only derivatives of functions, textures with slopes or ray marches have it: sources
    /// cannot write it.
    pub const fn is_internal(self) -> bool {
        matches!(self, Op::Iterations | Op::StrongMul | Op::Held | Op::Sloped)
    }

    /// Whether its usage is a call of its own name: an intrinsic.
    pub fn is_intrinsic(self) -> bool {
        let info = self.info();
        let operands = info.usage.strip_prefix(info.name);
        operands.is_some_and(|operands| operands.starts_with('('))
    }
}

/// All ops, sorted by name.
static BY_NAME: [Op; Op::ALL.len()] = by_name();

const fn by_name() -> [Op; Op::ALL.len()] {
    let mut sorted = [Op::ALL[0]; Op::ALL.len()];
    let mut len = 0;
    while len < sorted.len() {
        let op = Op::ALL[len];
        let mut at = len;
        while at > 0 && is_less(op.info().name, sorted[at - 1].info().name) {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        sorted[at] = op;
        len += 1;
    }
    sorted
}

const fn is_less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}
