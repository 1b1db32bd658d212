//! The critical path of a graph: the latency of its longest chain of dependent nodes.

use crate::graph::{Graph, Node, NodeOp};

/// The critical path of the nodes written so far.
#[derive(Debug, Default)]
pub(crate) struct CriticalPath {
    /// The cycle in which each node is done if it waits for nothing but its operands.
    done: Vec<u32>,
    longest: u32,
}

impl CriticalPath {
    /// The length of the critical path in cycles; reads the nodes added since the last call.
    pub(crate) fn length(&mut self, graph: &Graph) -> u32 {
        let known = self.done.len();
        self.done.resize(graph.len(), 0);
        for (id, &node) in graph.nodes.iter().enumerate().skip(known) {
            let done = start(graph, node, &self.done) + latency(node.op);
            self.done[id] = done;
            self.longest = self.longest.max(done);
        }
        self.longest
    }

    /// Starts over with another graph.
    pub(crate) fn clear(&mut self) {
        self.done.clear();
        self.longest = 0;
    }
}

/// The cycle in which a node starts if it waits for nothing but its operands, each of which is done
/// in its cycle of `done`.
pub(crate) fn start(graph: &Graph, node: Node, done: &[u32]) -> u32 {
    let mut start = 0;
    graph.for_each_operand(node, |operand| start = start.max(done[operand as usize]));
    start
}

/// The latency of a vector instruction in cycles, from its operands to its result.
///
/// Latencies differ by processor, but little enough for what they guide: these are those of Zen 4
/// in Agner Fog's instruction tables. A load counts as 0.
// A call keeps this a table lookup: inlined in a loop it became a jump by the op, which is
// mispredicted too often.
#[inline(never)]
pub(crate) fn latency(op: NodeOp) -> u32 {
    use NodeOp::*;
    match op {
        Const | Plane | Uniform | VmRegister | Global | Param => 0,
        Div => 11,
        Sqrt => 15,
        Add | Sub | Mul | MulAdd | NegMulAdd | MulSub | NegMulSub | RoundEven | RoundDown
        | RoundUp | RoundToZero | Truncate | ToI32 | ToU32 | FromI32 | IMul | IMulEach
        | MulWide => 4,
        Lookup => 20,
        Libcall => 100,
        // Off the critical path.
        SlowPath => 0,
        Lt | Le | Eq | Min | Max | BranchMin | BranchMax | And | Or | Xor | AndNot | Select
        | IAdd | ISub | Shl | Shr | Sar | ShlBy | ShrBy | SarBy | ILt | IEq | IMin | IMax
        | ShrWide | ShlWide | Join | Duplicate | Interleave | UpperHalf | Broadcast => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_follows_slowest_operands() {
        let mut graph = Graph::default();
        let mut chains = CriticalPath::default();
        let [x, y] = [0, 1].map(|word| graph.push(NodeOp::Plane, word, 0, 0));
        assert_eq!(chains.length(&graph), 0, "what is loaded is there");
        let sum = graph.push(NodeOp::Add, x, y, 0);
        let root = graph.push(NodeOp::Sqrt, x, 0, 0);
        assert_eq!(chains.length(&graph), latency(NodeOp::Sqrt));
        let product = graph.push(NodeOp::Mul, sum, root, 0);
        let [sqrt, mul, add] = [NodeOp::Sqrt, NodeOp::Mul, NodeOp::Add].map(latency);
        assert_eq!(chains.length(&graph), sqrt + mul);
        graph.push(NodeOp::Add, product, y, 0);
        assert_eq!(chains.length(&graph), sqrt + mul + add);
        chains.clear();
        assert_eq!(chains.length(&Graph::default()), 0);
    }
}
