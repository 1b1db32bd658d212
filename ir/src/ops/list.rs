//! The list of all rows. An op exists because it stands here; everything else is derived.
//!
//! Adding one: write its row in the file that it belongs to, name it here.

use super::arithmetic::*;
use super::row::{Info, Row, WordRow};
use super::word::*;

/// What to do with a row, whichever it is: see [`Op::visit`].
pub trait OpVisitor {
    /// What comes out.
    type Out;
    /// For a differentiable row.
    fn float<R: Row<N>, const N: usize>(self) -> Self::Out;
    /// For a row without derivative.
    fn word<R: WordRow<N>, const N: usize>(self) -> Self::Out;
}

macro_rules! list {
    (
        float { $($row:ident/$n:literal),* $(,)? }
        word { $($word:ident/$m:literal),* $(,)? }
    ) => {
        /// A row of the op table, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)]
        pub enum Op {
            $($row,)*
            $($word,)*
        }

        impl Op {
            /// Every op, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$row,)* $(Op::$word,)*];

            /// The row's data.
            pub const fn info(self) -> &'static Info {
                match self {
                    $(Op::$row => &<$row as Row<$n>>::INFO,)*
                    $(Op::$word => &<$word as WordRow<$m>>::INFO,)*
                }
            }

            /// Does for this row what the visitor does for any.
            #[inline]
            pub fn visit<V: OpVisitor>(self, visitor: V) -> V::Out {
                match self {
                    $(Op::$row => visitor.float::<$row, $n>(),)*
                    $(Op::$word => visitor.word::<$word, $m>(),)*
                }
            }
        }
    };
}

list! {
    float {
        Neg/1, Add/2, Sub/2, Mul/2, Div/2, Min/2, Select/3,
    }
    word {
        IAdd/2, IDiv/2, ILt/2, FLt/2, FToI/1, IToF/1,
    }
}

impl Op {
    /// How many operands it has: 1 to 3.
    pub const fn arity(self) -> usize {
        self.info().operands.len()
    }

    /// The op whose row has that name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.info().name == name)
    }
}
