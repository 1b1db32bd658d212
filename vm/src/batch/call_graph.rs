//! Which calls of a program can be made for many points at once, and how deep they nest.

use crate::bytecode::{Bytecode, Opcode};

/// What loading knows of a program's calls.
pub(super) struct BatchCalls {
    /// Per instruction, whether points leave the chunk there: at calls in a circle, and at what saves registers for them.
    pub(super) bails_out: Vec<bool>,
    /// The most calls that are open at once in a chunk.
    pub(super) depth: usize,
}

/// A call: the function that it stands in and the one that it calls.
struct Edge {
    position: usize,
    from: usize,
    to: usize,
}

impl BatchCalls {
    pub(super) fn of(program: &Bytecode) -> BatchCalls {
        let edges = edges(program);
        let count = program.functions.len();
        // A call in a circle stands in a function that is behind a circle and before one.
        let after = in_circles(count, edges.iter().map(|e| (e.from, e.to)));
        let before = in_circles(count, edges.iter().map(|e| (e.to, e.from)));
        let circles = |f: usize| after[f].is_none() && before[f].is_none();
        let mut leaves: Vec<bool> = (program.code.iter())
            .map(|code| saves(code.opcode))
            .collect();
        for edge in &edges {
            leaves[edge.position] |= circles(edge.from) && circles(edge.to);
        }
        let others = edges.iter().filter(|edge| !leaves[edge.position]);
        let depths = in_circles(count, others.map(|e| (e.from, e.to)));
        BatchCalls {
            bails_out: leaves,
            depth: depths.into_iter().flatten().max().unwrap_or(0),
        }
    }
}

/// Whether it serves calls that save registers.
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

/// Takes away, one by one, what no edge leads to any more. Gives for each thing the longest way of edges to it; nothing for those in circles
/// or behind them, which remain.
fn in_circles(
    count: usize,
    edges: impl Iterator<Item = (usize, usize)> + Clone,
) -> Vec<Option<usize>> {
    let mut next = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (from, to) in edges {
        next[from].push(to);
        waiting[to] += 1;
    }
    let mut longest = vec![0; count];
    let mut free: Vec<usize> = (0..count).filter(|&f| waiting[f] == 0).collect();
    let mut found = vec![None; count];
    while let Some(f) = free.pop() {
        found[f] = Some(longest[f]);
        for &to in &next[f] {
            longest[to] = longest[to].max(longest[f] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
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
    fn circles_and_what_is_behind_them_remain() {
        // 0 calls 1, which calls 2; 3 and 4 call each other; 4 calls 2 and 0 calls 3.
        let edges = [(0, 1), (1, 2), (3, 4), (4, 3), (4, 2), (0, 3)];
        let ways = in_circles(5, edges.into_iter());
        assert_eq!(ways, [Some(0), Some(1), None, None, None]);
        let back = in_circles(5, edges.into_iter().map(|(a, b)| (b, a)));
        assert_eq!(back, [None, Some(1), Some(0), None, None]);
        let deep = in_circles(3, [(0, 1), (0, 2), (1, 2)].into_iter());
        assert_eq!(deep, [Some(0), Some(1), Some(2)]);
    }
}
