//! The call graph of a program: the calls that bail out, and how deep the others nest.

use crate::bytecode::{Bytecode, Opcode};

/// The result of the analysis of a program's calls.
pub(super) struct BatchCalls {
    /// Per instruction, whether points bail out there: at calls in a recursive cycle, and at
    /// instructions that save registers for them.
    pub(super) bails_out: Vec<bool>,
    /// The most calls that are open at once in a chunk.
    pub(super) depth: usize,
}

/// A call: its caller and its callee.
struct Edge {
    position: usize,
    from: usize,
    to: usize,
}

impl BatchCalls {
    pub(super) fn of(program: &Bytecode) -> BatchCalls {
        let edges = edges(program);
        let count = program.functions.len();
        // A call is in a cycle if both functions are after a cycle and before one.
        let after = longest_paths(count, edges.iter().map(|e| (e.from, e.to)));
        let before = longest_paths(count, edges.iter().map(|e| (e.to, e.from)));
        let in_cycle = |f: usize| after[f].is_none() && before[f].is_none();
        let mut bails_out: Vec<bool> = (program.code.iter())
            .map(|code| saves(code.opcode))
            .collect();
        for edge in &edges {
            bails_out[edge.position] |= in_cycle(edge.from) && in_cycle(edge.to);
        }
        let others = edges.iter().filter(|edge| !bails_out[edge.position]);
        let depths = longest_paths(count, others.map(|e| (e.from, e.to)));
        BatchCalls {
            bails_out,
            depth: depths.into_iter().flatten().max().unwrap_or(0),
        }
    }
}

/// Whether an instruction saves or restores registers around calls.
fn saves(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Save | Opcode::Restore | Opcode::ArrayFromSaved | Opcode::ArrayToSaved
    )
}

fn edges(program: &Bytecode) -> Vec<Edge> {
    let mut edges = Vec::new();
    let mut from = 0;
    for (position, code) in program.code.iter().enumerate() {
        let next = program.functions.get(from + 1);
        if next.is_some_and(|f| f.start as usize == position) {
            from += 1;
        }
        if code.opcode == Opcode::Call {
            let to = code.words[0] as usize;
            edges.push(Edge { position, from, to });
        }
    }
    edges
}

/// Removes, one by one, the nodes that no edge leads to any more (Kahn, 1962). Returns the longest
/// path to each node; none for nodes in cycles or after them, which remain.
fn longest_paths(
    count: usize,
    edges: impl Iterator<Item = (usize, usize)> + Clone,
) -> Vec<Option<usize>> {
    let mut next = vec![Vec::new(); count];
    let mut incoming = vec![0_usize; count];
    for (from, to) in edges {
        next[from].push(to);
        incoming[to] += 1;
    }
    let mut longest = vec![0; count];
    let mut free: Vec<usize> = (0..count).filter(|&f| incoming[f] == 0).collect();
    let mut found = vec![None; count];
    while let Some(f) = free.pop() {
        found[f] = Some(longest[f]);
        for &to in &next[f] {
            longest[to] = longest[to].max(longest[f] + 1);
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(to);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_and_their_successors_remain() {
        // 0 calls 1, which calls 2; 3 and 4 call each other; 4 calls 2 and 0 calls 3.
        let edges = [(0, 1), (1, 2), (3, 4), (4, 3), (4, 2), (0, 3)];
        let lengths = longest_paths(5, edges.into_iter());
        assert_eq!(lengths, [Some(0), Some(1), None, None, None]);
        let back = longest_paths(5, edges.into_iter().map(|(a, b)| (b, a)));
        assert_eq!(back, [None, Some(1), Some(0), None, None]);
        let deep = longest_paths(3, [(0, 1), (0, 2), (1, 2)].into_iter());
        assert_eq!(deep, [Some(0), Some(1), Some(2)]);
    }
}
