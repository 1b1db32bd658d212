//! The nodes of graphs: operation and operands.

/// The number of a node.
pub(crate) type NodeId = u32;

/// The operation of a node, for each element of a vector of 32-bit words. Masks are words of all
/// bits or none. Operations are in the order of their operand counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum NodeOp {
    // No operands.
    /// The bits `a`.
    Const,
    /// The plane of word `a` of the unit.
    Plane,
    /// The uniform value of word `a` of the unit.
    Uniform,
    /// Register `a` of the register file.
    VmRegister,
    /// Word `a` of the globals.
    Global,
    /// Parameter `a` of a template or routine.
    Param,

    // One operand.
    /// Of floats.
    Sqrt,
    RoundEven,
    RoundDown,
    RoundUp,
    RoundToZero,
    /// To i32 without the fraction; the least integer for all that does not fit. For targets
    /// without saturating conversions.
    Truncate,
    /// To i32 and u32 without the fraction; the nearest one for a number that does not fit, 0 for
    /// NaN. For targets with saturating conversions.
    ToI32,
    ToU32,
    /// i32 to float.
    FromI32,
    /// Of words, by the number `b`.
    ShlBy,
    ShrBy,
    SarBy,
    /// Pairs of elements as 64-bit words, shifted right by 32.
    ShrWide,
    /// The same, shifted left by 32.
    ShlWide,
    /// Word `a` of table `b`.
    Lookup,
    /// The second half, twice. In point CFGs.
    UpperHalf,
    /// Element `b`, in each element. In point CFGs.
    Broadcast,

    // Two operands.
    /// Of floats.
    Add,
    Sub,
    Mul,
    Div,
    /// Masks; false where either is NaN.
    Lt,
    Le,
    Eq,
    /// a < b ? a : b.
    Min,
    /// a > b ? a : b.
    Max,
    /// The same by a branch, which processors predict: the nodes after it do not wait for the
    /// operand that is not taken. In point CFGs.
    BranchMin,
    BranchMax,
    And,
    Or,
    Xor,
    /// !a & b.
    AndNot,
    /// Of words, which wrap.
    IAdd,
    ISub,
    IMul,
    /// The same with all elements defined. In point CFGs.
    IMulEach,
    /// By `b` < 32 of each element.
    Shl,
    Shr,
    Sar,
    /// Signed masks.
    ILt,
    IEq,
    IMin,
    IMax,
    /// The 64-bit products of the even elements.
    MulWide,
    /// The first half of a, and that of b after it. In point CFGs.
    Join,
    /// The first element of a twice, and that of b after it. In point CFGs.
    Duplicate,
    /// The first elements of a and b, then the second ones. In point CFGs.
    Interleave,
    /// Libcall `c` of a and b.
    Libcall,
    /// The result of slow path `c` where mask a takes it, else b.
    SlowPath,

    // Three operands.
    /// a·b + c, rounded once.
    MulAdd,
    /// −a·b + c, rounded once.
    NegMulAdd,
    /// a·b − c, rounded once.
    MulSub,
    /// −a·b − c, rounded once.
    NegMulSub,
    /// Mask a ? b : c.
    Select,
}

/// A node: an operation, and its operands or numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) op: NodeOp,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

impl NodeOp {
    /// How many of `a`, `b`, `c` are nodes. This is branch-free: it runs for each node again and
    /// again, and a branch would be mispredicted.
    #[inline]
    pub(crate) fn operand_count(self) -> usize {
        let lasts = [NodeOp::Param, NodeOp::Broadcast, NodeOp::SlowPath];
        lasts.map(|last| usize::from(self > last)).iter().sum()
    }

    /// Whether `a` and `b` may be swapped.
    pub(crate) fn is_commutative(self) -> bool {
        use NodeOp::*;
        matches!(
            self,
            Add | Mul | Eq | And | Or | Xor | IAdd | IMul | IEq | IMin | IMax | MulWide
        )
    }

    /// Whether it compares its operands.
    pub(crate) fn is_comparison(self) -> bool {
        use NodeOp::*;
        matches!(self, Lt | Le | Eq | ILt | IEq)
    }

    /// Whether it combines its operands bit by bit.
    pub(crate) fn is_bitwise(self) -> bool {
        use NodeOp::*;
        matches!(self, And | Or | Xor | AndNot)
    }

    /// Whether it needs no location: it is a constant in memory.
    pub(crate) fn needs_no_location(self) -> bool {
        matches!(self, NodeOp::Const | NodeOp::Uniform | NodeOp::Param)
    }
}

impl Node {
    pub(crate) fn new(op: NodeOp, a: u32, b: u32, c: u32) -> Node {
        Node { op, a, b, c }
    }

    /// Whether each element has all bits or none, as far as the node and those of its operands that
    /// are masks say.
    pub(crate) fn is_mask(self, is_mask: impl Fn(NodeId) -> bool) -> bool {
        match self.op {
            NodeOp::Const => self.a == 0 || self.a == u32::MAX,
            NodeOp::Select => is_mask(self.b) && is_mask(self.c),
            op if op.is_bitwise() => is_mask(self.a) && is_mask(self.b),
            op => op.is_comparison(),
        }
    }

    /// The node with other operands.
    #[inline]
    pub(crate) fn map_operands(self, name: impl Fn(NodeId) -> NodeId) -> Node {
        let count = self.op.operand_count();
        let named = |index, word| if index < count { name(word) } else { word };
        Node {
            a: named(0, self.a),
            b: named(1, self.b),
            c: named(2, self.c),
            ..self
        }
    }

    /// Calls `each` for each of its operands, the last one first: on targets whose instructions
    /// overwrite an operand, that is the last one, so register allocation begins with it.
    #[inline]
    pub(crate) fn for_each_operand(&self, mut each: impl FnMut(NodeId)) {
        let count = self.op.operand_count();
        for (index, word) in [self.a, self.b, self.c].into_iter().enumerate().rev() {
            if index < count {
                each(word);
            }
        }
    }
}
