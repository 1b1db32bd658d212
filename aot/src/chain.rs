//! How long the longest chain of nodes takes, each of which waits for the one before.

use crate::graph::{Code, Graph};

/// The chains of a graph as far as it is written.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    /// When each node is done, in cycles from the beginning, if nothing but operands is waited for.
    done: Vec<u32>,
    longest: u32,
}

impl Chains {
    /// Cycles of the longest chain, given what was written since this was asked last.
    pub(crate) fn longest(&mut self, graph: &Graph) -> u32 {
        let known = self.done.len();
        self.done.resize(graph.len(), 0);
        for (id, &node) in graph.nodes.iter().enumerate().skip(known) {
            let mut start = 0;
            graph.each_operand(node, |operand| {
                start = start.max(self.done[operand as usize])
            });
            let done = start + cycles(node.code);
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
pub(crate) fn cycles(code: Code) -> u32 {
    use Code::*;
    match code {
        Const | Plane | Cell | Slot | Global | Param | Active => 0,
        Div => 11,
        Sqrt => 15,
        Add | Sub | Mul | MulAdd | NegMulAdd | MulSub | NegMulSub | RoundEven | RoundDown
        | RoundUp | RoundToZero | Truncate | ToI32 | ToU32 | FromI32 | IMul | IMulEach
        | MulWide => 4,
        Lookup => 20,
        CallOut => 100,
        // Taken by nobody.
        Rare => 0,
        Lt | Le | Eq | Min | Max | GuessedMin | GuessedMax | And | Or | Xor | AndNot | Select
        | IAdd | ISub | Shl | Shr | Sar | ShlBy | ShrBy | SarBy | ILt | IEq | IMin | IMax
        | ShrWide | ShlWide | Join | Halves | Interleave | Upper | Broadcast => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_as_long_as_its_slowest_way() {
        let mut graph = Graph::default();
        let mut chains = Chains::default();
        let [x, y] = [0, 1].map(|word| graph.push(Code::Plane, word, 0, 0));
        assert_eq!(chains.longest(&graph), 0, "what is loaded is there");
        let sum = graph.push(Code::Add, x, y, 0);
        let root = graph.push(Code::Sqrt, x, 0, 0);
        assert_eq!(chains.longest(&graph), cycles(Code::Sqrt));
        let product = graph.push(Code::Mul, sum, root, 0);
        let [sqrt, mul, add] = [Code::Sqrt, Code::Mul, Code::Add].map(cycles);
        assert_eq!(chains.longest(&graph), sqrt + mul);
        graph.push(Code::Add, product, y, 0);
        assert_eq!(chains.longest(&graph), sqrt + mul + add);
        chains.clear();
        assert_eq!(chains.longest(&Graph::default()), 0);
    }
}
