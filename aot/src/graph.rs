//! Straight-line vector code as a value graph: the nodes to compute for each point, before register
//! allocation.
//!
//! The operands of a node come before it, so the order of the nodes is an order of evaluation.
//! Equal nodes are one (hash consing). Nodes are simplified as they are made, by rules that change
//! no bit but those of NaNs.

mod node;
#[cfg(test)]
mod tests;

pub(crate) use node::{Node, NodeId, NodeOp};

use crate::optimisation::{Optimisation, Optimisations};
use crate::value_numbering::ValueNumbers;
use adumbra_ops::field::{Field, FloatField, WordField};
use std::ops::Range;

/// A call of a slow path: the routine, and the range of its arguments in the graph's inputs.
#[derive(Clone, Debug)]
pub(crate) struct SlowPathCall {
    /// The value of the mask in elements that take the slow path.
    pub(crate) taken_if_set: bool,
    pub(crate) routine: u32,
    inputs: Range<u32>,
}

/// A word with all bits set.
pub(crate) const ALL_ONES: u32 = u32::MAX;
const SIGN: u32 = 1 << 31;

/// A graph of nodes, each once.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    optimisations: Optimisations,
    pub(crate) nodes: Vec<Node>,
    /// Whether each node was a mask as it was added.
    is_mask: Vec<bool>,
    value_numbers: ValueNumbers,
    /// The tables that lookups read.
    pub(crate) tables: Vec<&'static [u32]>,
    /// The words whose uniform values are nodes.
    pub(crate) uniforms: Vec<u32>,
    pub(crate) slow_paths: Vec<SlowPathCall>,
    /// The arguments of slow paths.
    pub(crate) inputs: Vec<NodeId>,
}

impl Graph {
    /// An empty graph.
    pub(crate) fn new(optimisations: Optimisations) -> Graph {
        Graph {
            optimisations,
            ..Graph::default()
        }
    }

    /// The node for this operation, or a simpler equal one.
    pub(crate) fn push(&mut self, op: NodeOp, a: u32, b: u32, c: u32) -> NodeId {
        let node = Node::new(op, a, b, c);
        if !self.optimisations.has(Optimisation::Simplification) {
            return self.intern(node);
        }
        match self.simplify(node) {
            Ok(id) => id,
            Err(node) => self.intern(node),
        }
    }

    // Inlining keeps the fields of the node in registers.
    #[inline(always)]
    fn intern(&mut self, node: Node) -> NodeId {
        let shares =
            node.op.needs_no_location() || self.optimisations.has(Optimisation::ValueNumbering);
        let at = match self.value_numbers.find(&node, &self.nodes) {
            Ok(id) if shares => return id,
            Ok(_) => None,
            Err(at) => Some(at),
        };
        let is = node.is_mask(|id| self.is_mask(id));
        let id = self.nodes.len() as NodeId;
        if let Some(at) = at {
            self.value_numbers.insert(at, id);
        }
        self.nodes.push(node);
        self.is_mask.push(is);
        id
    }

    /// These bits in every element.
    pub(crate) fn constant(&mut self, bits: u32) -> NodeId {
        self.intern(Node::new(NodeOp::Const, bits, 0, 0))
    }

    /// Whether each element of a node has all bits or none. Only graphs as they were built say so.
    pub(crate) fn is_mask(&self, id: NodeId) -> bool {
        self.is_mask[id as usize]
    }

    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id as usize]
    }

    fn bits(&self, id: NodeId) -> Option<u32> {
        let node = self.node(id);
        (node.op == NodeOp::Const).then_some(node.a)
    }

    fn is(&self, id: NodeId, bits: u32) -> bool {
        self.bits(id) == Some(bits)
    }

    /// The node that this is the negation of, if it is one: as a float (the sign) or as a mask (all
    /// bits).
    fn flipped(&self, id: NodeId, by: u32) -> Option<NodeId> {
        let node = self.node(id);
        (node.op == NodeOp::Xor && self.is(node.b, by)).then_some(node.a)
    }

    fn simplify(&mut self, mut node: Node) -> Result<NodeId, Node> {
        use NodeOp::*;
        if let Some(bits) = self.fold(node) {
            return Ok(self.constant(bits));
        }
        if node.op.is_commutative() && self.bits(node.a).is_some() {
            (node.a, node.b) = (node.b, node.a);
        }
        let Node { op, a, b, c } = node;
        match op {
            And | Or if a == b => return Ok(a),
            And if self.is(b, ALL_ONES) => return Ok(a),
            And | Or | Xor if self.is(b, 0) => {
                return Ok(if op == And { b } else { a });
            }
            Xor if let Some(inner) = self.both_flips(a, b) => return Ok(inner),
            And if let Some(inverse) = self.flipped(a, ALL_ONES) => {
                return Ok(self.push(AndNot, inverse, b, 0));
            }
            And if let Some(inverse) = self.flipped(b, ALL_ONES) => {
                return Ok(self.push(AndNot, inverse, a, 0));
            }
            AndNot if self.is(a, 0) => return Ok(b),
            AndNot if let Some(inverse) = self.flipped(a, ALL_ONES) => {
                return Ok(self.push(And, inverse, b, 0));
            }
            IAdd | ISub if self.is(b, 0) => return Ok(a),
            ShlBy | ShrBy | SarBy if b == 0 => return Ok(a),
            Shl | Shr | Sar if let Some(by @ 0..32) = self.bits(b) => {
                let op = match op {
                    Shl => ShlBy,
                    Shr => ShrBy,
                    _ => SarBy,
                };
                return Ok(self.push(op, a, by, 0));
            }
            ShrBy if let Some(mut word) = self.shifted_in(a, b) => {
                while let Some(inner) = self.shifted_in(word, b) {
                    word = inner;
                }
                return Ok(self.push(ShrBy, word, b, 0));
            }
            IMul if let Some((product, further)) = self.multiplied(a, b) => {
                let further = self.constant(further);
                return Ok(self.push(IAdd, product, further, 0));
            }
            Select if b == c => return Ok(b),
            Select if let Some(mask) = self.bits(a) => {
                return Ok(if mask == 0 { c } else { b });
            }
            SlowPath if self.is(a, 0) => return Ok(b),
            Select if let Some(inverse) = self.flipped(a, ALL_ONES) => {
                return Ok(self.push(Select, inverse, c, b));
            }
            Select if self.is(c, 0) => return Ok(self.push(And, a, b, 0)),
            Select if self.is(b, 0) => return Ok(self.push(AndNot, a, c, 0)),
            Select if self.node(a).op == Lt => {
                let test = self.node(a);
                if (test.a, test.b) == (b, c) {
                    return Ok(self.push(Min, b, c, 0));
                }
                if (test.a, test.b) == (c, b) {
                    return Ok(self.push(Max, b, c, 0));
                }
            }
            MulAdd | NegMulAdd | MulSub | NegMulSub => return self.simplify_product(node),
            // An unsigned word as a float, by halves, whose highest bit is 0.
            Add if let Some(word) = self.halves(a, b) => {
                return Ok(self.push(FromI32, word, 0, 0));
            }
            // No absolute value is less than 0.
            Lt if self.is(b, 0) && self.is_short(a) => return Ok(b),
            // A boolean that was converted to a float and is compared with 0.
            Eq if self.is(b, 0) && self.node(a).op == FromI32 => {
                return Ok(self.push(IEq, self.node(a).a, b, 0));
            }
            IEq if self.is(b, 0) => {
                let one = self.node(a);
                let is_truth =
                    matches!(one.op, And | AndNot) && self.is(one.b, 1) && self.is_mask(one.a);
                if is_truth && one.op == AndNot {
                    return Ok(one.a);
                }
                if is_truth {
                    let ones = self.constant(ALL_ONES);
                    return Ok(self.push(Xor, one.a, ones, 0));
                }
            }
            _ => {}
        }
        Err(node)
    }

    /// The word whose upper half times 65,536 is `high`, and whose lower half is `low`, if it is
    /// the same as a signed one.
    fn halves(&self, high: NodeId, low: NodeId) -> Option<NodeId> {
        let (product, low) = (self.node(high), self.node(low));
        if product.op != NodeOp::Mul || !self.is(product.b, 65_536_f32.to_bits()) {
            return None;
        }
        let high = self.node(product.a);
        if (high.op, low.op) != (NodeOp::FromI32, NodeOp::FromI32) {
            return None;
        }
        let (high, low) = (self.node(high.a), self.node(low.a));
        let are_halves = (high.op, high.b) == (NodeOp::ShrBy, 16)
            && low.op == NodeOp::And
            && self.is(low.b, 0xffff)
            && high.a == low.a;
        (are_halves && self.is_short(high.a)).then_some(high.a)
    }

    /// Whether the highest bit is known to be 0.
    fn is_short(&self, id: NodeId) -> bool {
        let node = self.node(id);
        match node.op {
            NodeOp::And | NodeOp::AndNot => self.bits(node.b).is_some_and(|mask| mask >> 31 == 0),
            NodeOp::ShrBy => node.b > 0,
            _ => false,
        }
    }

    /// The one of two combined words that remains after a shift that removes the other one: the end
    /// of a hash that was mixed with its upper half, before a comparison.
    fn shifted_in(&self, id: NodeId, by: u32) -> Option<NodeId> {
        let Node { op, a, b, .. } = self.node(id);
        let is_out = |id: NodeId| {
            let node = self.node(id);
            node.op == NodeOp::ShrBy && node.b + by >= u32::BITS
        };
        match op {
            NodeOp::Xor | NodeOp::Or if is_out(b) => Some(a),
            NodeOp::Xor | NodeOp::Or if is_out(a) => Some(b),
            _ => None,
        }
    }

    /// The product of a word with a constant that the graph has already, and the constant to add
    /// for `by`: hashes are computed for neighbouring lattice points.
    fn multiplied(&mut self, id: NodeId, by: NodeId) -> Option<(NodeId, u32)> {
        let (sum, factor) = (self.node(id), self.bits(by)?);
        if sum.op != NodeOp::IAdd {
            return None;
        }
        let more = self.bits(sum.b)?;
        let product = Node::new(NodeOp::IMul, sum.a, by, 0);
        let product = self.value_numbers.find(&product, &self.nodes).ok()?;
        Some((product, more.wrapping_mul(factor)))
    }

    /// The operand that remains where the same bits are flipped twice.
    fn both_flips(&self, a: NodeId, b: NodeId) -> Option<NodeId> {
        self.flipped(a, self.bits(b)?)
    }

    /// Moves the signs of operands into the operation.
    fn simplify_product(&mut self, node: Node) -> Result<NodeId, Node> {
        use NodeOp::*;
        let (mut product, mut sum) = match node.op {
            MulAdd => (false, false),
            NegMulAdd => (true, false),
            MulSub => (false, true),
            _ => (true, true),
        };
        let mut new = node;
        let unsigned = |operand: &mut NodeId, sign: &mut bool| {
            if let Some(inner) = self.flipped(*operand, SIGN) {
                *operand = inner;
                *sign = !*sign;
            }
        };
        unsigned(&mut new.a, &mut product);
        unsigned(&mut new.b, &mut product);
        unsigned(&mut new.c, &mut sum);
        new.op = match (product, sum) {
            (false, false) => MulAdd,
            (true, false) => NegMulAdd,
            (false, true) => MulSub,
            (true, true) => NegMulSub,
        };
        Err(new)
    }

    /// The bits of a node whose operands are constants.
    fn fold(&self, node: Node) -> Option<u32> {
        use NodeOp::*;
        let count = node.op.operand_count();
        if count == 0 {
            return None;
        }
        let word = |id: NodeId, index: usize| {
            if index < count {
                self.bits(id)
            } else {
                Some(0)
            }
        };
        let (a, b, c) = (word(node.a, 0)?, word(node.b, 1)?, word(node.c, 2)?);
        let (x, y, z) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
        let mask = |holds: bool| if holds { ALL_ONES } else { 0 };
        let float = |value: f32| value.to_bits();
        Some(match node.op {
            Add => float(x + y),
            Sub => float(x - y),
            Mul => float(x * y),
            Div => float(x / y),
            Sqrt => float(x.square_root()),
            MulAdd => float(FloatField::mul_add(x, y, z)),
            NegMulAdd => float(FloatField::mul_add(-x, y, z)),
            MulSub => float(FloatField::mul_add(x, y, -z)),
            NegMulSub => float(FloatField::mul_add(-x, y, -z)),
            RoundEven => float(x.round_even()),
            RoundDown => float(x.round_down()),
            RoundUp => float(x.round_up()),
            RoundToZero => float(x.round_to_zero()),
            Lt => mask(x < y),
            Le => mask(x <= y),
            Eq => mask(x == y),
            Min | BranchMin => {
                if x < y {
                    a
                } else {
                    b
                }
            }
            Max | BranchMax => {
                if x > y {
                    a
                } else {
                    b
                }
            }
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            AndNot => !a & b,
            Select => Field::select(a != 0, f32::from_bits(b), z).to_bits(),
            FromI32 => float(a.i32_to_float()),
            IAdd => a.plus(b),
            ISub => a.minus(b),
            IMul | IMulEach => a.times(b),
            Shl => WordField::shl(a, b),
            Shr => WordField::shr(a, b),
            Sar => WordField::sar(a, b),
            ShlBy => WordField::shl(a, node.b),
            ShrBy => WordField::shr(a, node.b),
            SarBy => WordField::sar(a, node.b),
            ILt => mask(a.lt_signed(b)),
            IEq => mask(a == b),
            IMin => (a as i32).min(b as i32) as u32,
            IMax => (a as i32).max(b as i32) as u32,
            Truncate if (-2147483648.0..2147483648.0).contains(&x) => x as i32 as u32,
            Truncate => SIGN,
            ToI32 => x.to_i32(),
            ToU32 => x.to_u32(),
            // All elements are equal, so pairs of them are as well.
            Const | Plane | Uniform | VmRegister | Global | Param | MulWide | ShrWide | ShlWide
            | Lookup | Join | Duplicate | Interleave | UpperHalf | Broadcast | Libcall
            | SlowPath => {
                return None;
            }
        })
    }

    /// A graph of these nodes as they are, without value numbers.
    pub(crate) fn from_nodes(nodes: Vec<Node>, like: &Graph) -> Graph {
        Graph {
            nodes,
            tables: like.tables.clone(),
            ..Graph::default()
        }
    }

    /// Returns the graph and starts another one in the same memory.
    pub(crate) fn take(&mut self) -> Graph {
        let graph = Graph {
            nodes: self.nodes.as_slice().to_vec(),
            is_mask: self.is_mask.as_slice().to_vec(),
            tables: std::mem::take(&mut self.tables),
            uniforms: std::mem::take(&mut self.uniforms),
            slow_paths: self.slow_paths.as_slice().to_vec(),
            inputs: self.inputs.as_slice().to_vec(),
            ..Graph::default()
        };
        self.nodes.clear();
        self.is_mask.clear();
        self.slow_paths.clear();
        self.inputs.clear();
        self.value_numbers.clear();
        graph
    }

    /// The uniform value of a word.
    pub(crate) fn uniform(&mut self, word: u32) -> NodeId {
        self.uniforms.push(word);
        self.push(NodeOp::Uniform, word, 0, 0)
    }

    /// The result of a slow path for its arguments where a mask is set, else the default result.
    /// The mask mostly says where the default holds: negated masks are not computed.
    pub(crate) fn slow_path(
        &mut self,
        mask: NodeId,
        fast: NodeId,
        routine: u32,
        inputs: impl Iterator<Item = NodeId>,
    ) -> NodeId {
        let start = self.inputs.len() as u32;
        self.inputs.extend(inputs);
        let inputs = start..self.inputs.len() as u32;
        let (mask, is_set) = match self.flipped(mask, ALL_ONES) {
            Some(inverse) => (inverse, false),
            None => (mask, true),
        };
        self.slow_paths.push(SlowPathCall {
            taken_if_set: is_set,
            routine,
            inputs,
        });
        // Not simplified: the slow path says which mask value takes it.
        let call = self.slow_paths.len() as u32 - 1;
        self.intern(Node::new(NodeOp::SlowPath, mask, fast, call))
    }

    /// The arguments of a slow path.
    pub(crate) fn inputs(&self, call: &SlowPathCall) -> &[NodeId] {
        let Range { start, end } = call.inputs;
        &self.inputs[start as usize..end as usize]
    }

    /// The number of nodes, which is where the nodes of a slow path begin.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Hides nodes from `start` on from GVN: they are computed on a slow path only.
    pub(crate) fn hide_from(&mut self, start: usize) {
        for node in &self.nodes[start..] {
            self.value_numbers.remove(node, &self.nodes);
        }
    }

    /// The number of a routine's parameters, which come first, in order.
    pub(crate) fn param_count(&self) -> usize {
        let nodes = self.nodes.iter();
        let params = nodes.take_while(|node| node.op == NodeOp::Param);
        // The result is left at the location of the first one.
        params.count().max(1)
    }

    /// The number of a table.
    pub(crate) fn table(&mut self, table: &'static [u32]) -> u32 {
        let found = self.tables.iter().position(|own| std::ptr::eq(*own, table));
        found.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        }) as u32
    }

    /// Calls `each` for all nodes that a node needs, those of a slow path included.
    #[inline]
    pub(crate) fn for_each_operand(&self, node: Node, mut each: impl FnMut(NodeId)) {
        node.for_each_operand(&mut each);
        if node.op == NodeOp::SlowPath {
            let inputs = self.inputs(&self.slow_paths[node.c as usize]);
            inputs.iter().copied().for_each(each);
        }
    }
}
