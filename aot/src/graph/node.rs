//! The nodes of graphs.

/// A node, by number.
pub(crate) type NodeId = u32;

/// What a node computes, for each lane of a vector of 32-bit words. Masks are words of all bits or none. Codes stand in the order of how many operands they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum NodeOp {
    // Of no operands.
    /// The bits `a`.
    Const,
    /// The plane of word `a` of the unit.
    Plane,
    /// The cell of word `a` of the unit.
    Uniform,
    /// Slot `a` of the register file.
    VmRegister,
    /// Word `a` of the globals.
    Global,
    /// What a template or routine is given, by number.
    Param,
    /// Who runs a trace: a mask.
    Active,

    // Of one.
    /// Of floats.
    Sqrt,
    RoundEven,
    RoundDown,
    RoundUp,
    RoundToZero,
    /// To i32 without the fraction; the least integer for all that does not fit. For machines that have no better.
    Truncate,
    /// To i32 and u32 without the fraction; the nearest one for what does not fit, 0 for NaN. For machines that have these.
    ToI32,
    ToU32,
    /// i32 to float.
    FromI32,
    /// Of words, by the number `b`.
    ShlBy,
    ShrBy,
    SarBy,
    /// Pairs of lanes as 64-bit words, shifted right by 32.
    ShrWide,
    /// The same, shifted left by 32.
    ShlWide,
    /// Word `a` of table `b`.
    Lookup,
    /// The second half, twice. In flows.
    UpperHalf,
    /// Lane `b`, in each lane. In flows.
    Broadcast,

    // Of two.
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
    /// The same by a branch, which processors guess: what follows does not wait for what is not taken. In flows.
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
    /// The same where each lane counts. In flows.
    IMulEach,
    /// By `b` < 32 of each lane.
    Shl,
    Shr,
    Sar,
    /// Signed masks.
    ILt,
    IEq,
    IMin,
    IMax,
    /// The 64-bit products of the even lanes.
    MulWide,
    /// The first half of a, and that of b behind it. In flows.
    Join,
    /// The first lane of a twice, and that of b behind it. In flows.
    Duplicate,
    /// The first lanes of a and b, then the second ones. In flows.
    Interleave,
    /// Call-out `c` of a and b.
    Libcall,
    /// The result of rare way `c` where mask a is what takes it, else b.
    SlowPath,

    // Of three.
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

/// A node: a code, and its operands or numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) op: NodeOp,
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) c: u32,
}

impl NodeOp {
    /// How many of `a`, `b`, `c` are nodes. That is asked of each node again and again, and nobody foresees the answer: so no branch is taken for it.
    #[inline]
    pub(crate) fn operand_count(self) -> usize {
        let lasts = [NodeOp::Active, NodeOp::Broadcast, NodeOp::SlowPath];
        lasts.map(|last| usize::from(self > last)).iter().sum()
    }

    /// Whether a and b may change places.
    pub(crate) fn is_commutative(self) -> bool {
        use NodeOp::*;
        matches!(
            self,
            Add | Mul | Eq | And | Or | Xor | IAdd | IMul | IEq | IMin | IMax | MulWide
        )
    }

    /// Whether it needs no place: it is a constant in memory.
    pub(crate) fn needs_no_location(self) -> bool {
        matches!(
            self,
            NodeOp::Const | NodeOp::Uniform | NodeOp::Param | NodeOp::Active
        )
    }
}

impl Node {
    pub(crate) fn new(code: NodeOp, a: u32, b: u32, c: u32) -> Node {
        Node { op: code, a, b, c }
    }

    /// The same of other operands.
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

    /// Calls for each of its operands.
    #[inline]
    pub(crate) fn for_each_operand(&self, mut each: impl FnMut(NodeId)) {
        let count = self.op.operand_count();
        for (index, word) in [self.a, self.b, self.c].into_iter().enumerate() {
            if index < count {
                each(word);
            }
        }
    }
}
