//! Minimum cuts of graphs: the cheapest way to part what must be there from what need not be.
//!
//! Dinic (1970), *Algorithm for solution of a problem of maximum flow in networks with power
//! estimation*: a flow is raised along shortest paths until none is left; what the source still
//! reaches is its side of a minimum cut.

use std::collections::VecDeque;

/// The most edges that one cut looks at, again and again included.
pub(super) const MAX_CUT_WORK: usize = 1 << 22;

/// A capacity that no cut pays.
pub(super) const UNCUT: u32 = u32::MAX;

/// A graph whose edges have capacities, between a source and a sink.
pub(super) struct CutGraph {
    /// In pairs, an edge and its reverse one.
    edges: Vec<Edge>,
    /// By node.
    leaving: Vec<Vec<u32>>,
    work: usize,
}

struct Edge {
    to: u32,
    left: u32,
}

impl CutGraph {
    /// The node whose side holds what must be there.
    pub(super) const SOURCE: u32 = 0;
    /// The node whose side holds what need not be there.
    pub(super) const SINK: u32 = 1;

    /// A graph of the source and the sink.
    pub(super) fn new() -> CutGraph {
        CutGraph {
            edges: Vec::new(),
            leaving: vec![Vec::new(); 2],
            work: 0,
        }
    }

    /// Adds a node.
    pub(super) fn node(&mut self) -> u32 {
        self.leaving.push(Vec::new());
        self.leaving.len() as u32 - 1
    }

    /// Adds an edge, which costs its capacity if `from` is on the source's side and `to` is not.
    pub(super) fn edge(&mut self, from: u32, to: u32, capacity: u32) {
        for (from, to, left) in [(from, to, capacity), (to, from, 0)] {
            self.leaving[from as usize].push(self.edges.len() as u32);
            self.edges.push(Edge { to, left });
        }
    }

    /// By node whether it is on the source's side of a minimum cut; `None` if the search takes more
    /// than [`MAX_CUT_WORK`].
    pub(super) fn cut(mut self) -> Option<Vec<bool>> {
        loop {
            let distances = self.distances();
            if distances[CutGraph::SINK as usize] == u32::MAX {
                return Some(distances.iter().map(|&d| d != u32::MAX).collect());
            }
            let mut next = vec![0; self.leaving.len()];
            while self.raise(&distances, &mut next) {}
            if self.work > MAX_CUT_WORK {
                return None;
            }
        }
    }

    /// By node the number of edges from the source; the maximum if it is not reached.
    fn distances(&mut self) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.leaving.len()];
        distances[CutGraph::SOURCE as usize] = 0;
        let mut open = VecDeque::from([CutGraph::SOURCE]);
        while let Some(node) = open.pop_front() {
            self.work += self.leaving[node as usize].len();
            for &edge in &self.leaving[node as usize] {
                let Edge { to, left } = self.edges[edge as usize];
                if left > 0 && distances[to as usize] == u32::MAX {
                    distances[to as usize] = distances[node as usize] + 1;
                    open.push_back(to);
                }
            }
        }
        distances
    }

    /// Raises the flow along one shortest path; `next` are the edges to try next, by node.
    fn raise(&mut self, distances: &[u32], next: &mut [usize]) -> bool {
        let mut path: Vec<u32> = Vec::new();
        let mut node = CutGraph::SOURCE;
        while node != CutGraph::SINK {
            if self.work > MAX_CUT_WORK {
                return false;
            }
            self.work += 1;
            let at = next[node as usize];
            if let Some(&edge) = self.leaving[node as usize].get(at) {
                let Edge { to, left } = self.edges[edge as usize];
                if left > 0 && distances[to as usize] == distances[node as usize] + 1 {
                    path.push(edge);
                    node = to;
                } else {
                    next[node as usize] += 1;
                }
            } else if let Some(edge) = path.pop() {
                // A dead end: the edge to it is not tried again.
                node = self.edges[edge as usize ^ 1].to;
                next[node as usize] += 1;
            } else {
                return false;
            }
        }
        let flow = path
            .iter()
            .map(|&edge| self.edges[edge as usize].left)
            .min();
        let flow = flow.expect("the source is not the sink");
        debug_assert!(flow < UNCUT, "each path has an edge that can be cut");
        for edge in path {
            let there = &mut self.edges[edge as usize].left;
            *there = if *there == UNCUT {
                UNCUT
            } else {
                *there - flow
            };
            let back = &mut self.edges[edge as usize ^ 1].left;
            *back = back.saturating_add(flow);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheapest_edges_are_cut() {
        // Two ways from source to sink, cut at 3 and at 2; the bridge between them is dear.
        let mut graph = CutGraph::new();
        let [a, b, c] = [(); 3].map(|()| graph.node());
        graph.edge(CutGraph::SOURCE, a, UNCUT);
        graph.edge(CutGraph::SOURCE, b, 2);
        graph.edge(a, c, 3);
        graph.edge(b, c, UNCUT);
        graph.edge(c, CutGraph::SINK, 7);
        assert_eq!(graph.cut(), Some(vec![true, false, true, false, false]));
    }

    #[test]
    fn one_edge_is_cut_for_many() {
        let mut graph = CutGraph::new();
        let shared = graph.node();
        let mut wanted = Vec::new();
        for _ in 0..10 {
            let node = graph.node();
            graph.edge(CutGraph::SOURCE, node, 3);
            graph.edge(node, shared, UNCUT);
            wanted.push(node);
        }
        graph.edge(shared, CutGraph::SINK, 5);
        let sides = graph.cut().expect("it is small");
        assert!(wanted.iter().all(|&node| sides[node as usize]) && sides[shared as usize]);
    }

    #[test]
    fn long_searches_end() {
        let mut graph = CutGraph::new();
        graph.work = MAX_CUT_WORK;
        let node = graph.node();
        graph.edge(CutGraph::SOURCE, node, 3);
        graph.edge(node, CutGraph::SINK, 3);
        assert_eq!(graph.cut(), None);
    }
}
