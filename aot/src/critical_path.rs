//! How long the longest chain of nodes takes, each of which waits for the one before.

use crate::graph::{Graph, NodeOp};

/// The chains of a graph as far as it is written.
#[derive(Debug, Default)]
pub(crate) struct CriticalPath {
    /// When each node is done, in cycles from the beginning, if nothing but operands is waited for.
    done: Vec<u32>,
    longest: u32,
}

impl CriticalPath {
    /// Cycles of the longest chain, given what was written since this was asked last.
    pub(crate) fn length(&mut self, graph: &Graph) -> u32 {
        let known = self.done.len();
        self.done.resize(graph.len(), 0);
        for (id, &node) in graph.nodes.iter().enumerate().skip(known) {
            let mut start = 0;
            graph.for_each_operand(node, |operand| {
                start = start.max(self.done[operand as usize])
            });
            let done = start + latency(node.op);
            self.done[id] = done;
            self.longest = self.longest.max(done);
        }
        self.longest
    }

    /// From now on it is another graph.
    pub(crate) fn clear(&mut self) {
        self.done.clear();
        self.longest = 0;
    }
}

/// Cycles from the operands to the result of a vector instruction. They differ by processor, little enough for whom this guides: these are those of Zen 4 in
/// Agner Fog's instruction tables, but that what is loaded is there in time.
// By itself it is a look into a table; within a loop it became a jump by the code, which is foreseen wrongly too often.
#[inline(never)]
pub(crate) fn latency(code: NodeOp) -> u32 {
    use NodeOp::*;
    match code {
        Const | Plane | Uniform | VmRegister | Global | Param | Active => 0,
        Div => 11,
        Sqrt => 15,
        Add | Sub | Mul | MulAdd | NegMulAdd | MulSub | NegMulSub | RoundEven | RoundDown
        | RoundUp | RoundToZero | Truncate | ToI32 | ToU32 | FromI32 | IMul | IMulEach
        | MulWide => 4,
        Lookup => 20,
        Libcall => 100,
        // Taken by nobody.
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
    fn a_chain_is_as_long_as_its_slowest_way() {
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
