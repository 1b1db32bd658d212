//! Sets of ops.

use crate::list::Op;

/// A set of ops, in the order of the table.
///
/// ```
/// use adumbra_ops::{Op, OpSet};
/// let set = OpSet::of(&[Op::Exp, Op::Log]).with(Op::Perlin2);
/// assert!(set.contains(Op::Log) && !set.contains(Op::Mul));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [Op::Exp, Op::Log, Op::Perlin2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpSet(u128);

const _: () = assert!(Op::ALL.len() <= u128::BITS as usize, "a bit for each op");

impl OpSet {
    /// No op.
    pub const NONE: OpSet = OpSet(0);

    /// These ops.
    pub const fn of(ops: &[Op]) -> OpSet {
        let mut set = OpSet::NONE;
        let mut at = 0;
        while at < ops.len() {
            set = set.with(ops[at]);
            at += 1;
        }
        set
    }

    /// The set and one more op.
    #[must_use]
    pub const fn with(self, op: Op) -> OpSet {
        OpSet(self.0 | 1 << op as u8)
    }

    /// Whether an op is in the set.
    pub const fn contains(self, op: Op) -> bool {
        self.0 >> op as u8 & 1 != 0
    }

    /// Its ops, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Op> {
        let all = Op::ALL.iter().copied();
        all.filter(move |op| self.contains(*op))
    }
}
