//! Which values depend on which parameters: the closure of a graph over the bodies of functions.
//!
//! A node is a value, or all values of a variable. Its *sources* are parameters of its own function:
//! those whose gradient reaches its floats, and those of which its integers are made. Edges stay
//! within a function. A call has ports: what its callee gives back. As a port gets a source, each
//! call of the function gets the edge from that argument. So a function is walked once, calls are
//! kept apart, and cycles of calls need nothing more.

use super::super::typed_tree::FunctionId;
use adumbra_ir::Span;
use smallvec::SmallVec;
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// What is known of a value: where its floats, and where its integers depend on parameters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) varied: Option<NodeId>,
    pub(super) rounded: Option<NodeId>,
}

/// A parameter of a function, as the source of a gradient.
pub(super) const fn varied(param: usize) -> usize {
    2 * param
}

/// A parameter of a function, whose integers are made of what has a gradient.
pub(super) const fn rounded(param: usize) -> usize {
    2 * param + 1
}

/// A set of sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources(SmallVec<[u64; 1]>);

impl Sources {
    /// Whether it was not in the set.
    pub(super) fn insert(&mut self, source: usize) -> bool {
        let (word, bit) = (source / 64, 1 << (source % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    /// Adds all of another set; whether one of them is new.
    fn join(&mut self, other: &Sources) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut is_changed = false;
        for (mine, &theirs) in self.0.iter_mut().zip(&other.0) {
            is_changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        is_changed
    }

    pub(super) fn contains(&self, source: usize) -> bool {
        let word = self.0.get(source / 64);
        word.is_some_and(|word| word >> (source % 64) & 1 != 0)
    }

    pub(super) fn meets(&self, other: &Sources) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn without(&self, other: &Sources) -> Sources {
        let word = |at: usize| other.0.get(at).copied().unwrap_or(0);
        let words = self.0.iter().enumerate();
        Sources(words.map(|(at, &mine)| mine & !word(at)).collect())
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(word, &bits): (usize, &u64)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 != 0)
                .map(move |bit| 64 * word + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// Where a port leads to at a call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortTarget {
    /// From the floats of arguments.
    pub(super) varied: Option<NodeId>,
    /// From their integers.
    pub(super) rounded: Option<NodeId>,
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct CallSite {
    /// What is called.
    pub(super) callee: FunctionId,
    /// The function whose body that is, or whose derivative.
    pub(super) body: FunctionId,
    /// By parameter of that function: what is passed.
    pub(super) args: Vec<Flow>,
    /// By port of that function.
    pub(super) targets: Vec<PortTarget>,
    /// Where floats are given back.
    pub(super) results: Vec<NodeId>,
    pub(super) span: Span,
}

#[derive(Debug, Default)]
struct Node {
    sources: Sources,
    /// The newest edge from it.
    edge: Option<u32>,
    is_waiting: bool,
    /// The function and the number of the port that it is.
    port: Option<(u32, u32)>,
    /// Where an integer is made of floats, if it is that.
    cast: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: NodeId,
    to: NodeId,
    /// The edge from the same node before it.
    next: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct DependenceGraph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Nodes whose sources have not reached others yet.
    waiting: Vec<NodeId>,
    pub(super) sites: Vec<CallSite>,
    /// By function, as it was first called: the calls of it.
    callers: Vec<Vec<u32>>,
}

impl DependenceGraph {
    pub(super) fn new(functions: usize) -> DependenceGraph {
        DependenceGraph {
            callers: vec![Vec::new(); functions],
            ..DependenceGraph::default()
        }
    }

    pub(super) fn node(&mut self) -> NodeId {
        self.nodes.push(Node::default());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// A node of an integer that is made of floats there.
    pub(super) fn cast(&mut self, span: Span) -> NodeId {
        let node = self.node();
        self.nodes[node.0 as usize].cast = Some(span);
        node
    }

    /// Makes a node a port of a function.
    pub(super) fn expose(&mut self, node: NodeId, function: FunctionId, port: usize) {
        self.nodes[node.0 as usize].port = Some((function.0, port as u32));
    }

    pub(super) fn source(&mut self, node: NodeId, source: usize) {
        if self.nodes[node.0 as usize].sources.insert(source) {
            self.wait(node);
        }
    }

    pub(super) fn sources(&self, node: NodeId) -> &Sources {
        &self.nodes[node.0 as usize].sources
    }

    pub(super) fn meets(&self, node: Option<NodeId>, seeds: &Sources) -> bool {
        node.is_some_and(|node| self.sources(node).meets(seeds))
    }

    fn wait(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.nodes[node.0 as usize].is_waiting, true) {
            self.waiting.push(node);
        }
    }

    pub(super) fn edge(&mut self, from: Option<NodeId>, to: Option<NodeId>) {
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let number = self.edges.len() as u32;
        let next = self.nodes[from.0 as usize].edge.replace(number);
        self.edges.push(Edge { from, to, next });
        self.pass(from, to);
    }

    fn pass(&mut self, from: NodeId, to: NodeId) {
        if from != to {
            let sources = std::mem::take(&mut self.nodes[from.0 as usize].sources);
            if self.nodes[to.0 as usize].sources.join(&sources) {
                self.wait(to);
            }
            self.nodes[from.0 as usize].sources = sources;
        }
    }

    /// A node that depends on all of these.
    pub(super) fn any(
        &mut self,
        nodes: impl IntoIterator<Item = Option<NodeId>>,
    ) -> Option<NodeId> {
        let nodes: SmallVec<[NodeId; 4]> = nodes.into_iter().flatten().collect();
        match nodes[..] {
            [] => None,
            [node] => Some(node),
            _ => {
                let all = self.node();
                for node in nodes {
                    self.edge(Some(node), Some(all));
                }
                Some(all)
            }
        }
    }

    /// Notes a call, before the graph is closed.
    pub(super) fn call(&mut self, site: CallSite) {
        let number = self.sites.len() as u32;
        self.callers[site.body.0 as usize].push(number);
        self.sites.push(site);
    }

    /// Passes all sources on, until none is new.
    pub(super) fn close(&mut self) {
        // By node that is a port: the sources that calls have edges for.
        let mut linked = vec![Sources::default(); self.nodes.len()];
        while let Some(node) = self.waiting.pop() {
            self.nodes[node.0 as usize].is_waiting = false;
            let mut next = self.nodes[node.0 as usize].edge;
            while let Some(edge) = next {
                let edge = self.edges[edge as usize];
                self.pass(node, edge.to);
                next = edge.next;
            }
            let Some((function, port)) = self.nodes[node.0 as usize].port else {
                continue;
            };
            let linked = &mut linked[node.0 as usize];
            let new = self.sources(node).without(linked);
            linked.join(&new);
            for at in 0..self.callers[function as usize].len() {
                let site = self.callers[function as usize][at] as usize;
                self.link(site, port as usize, &new);
            }
        }
    }

    /// Gives a call the edges of a port that has these sources.
    fn link(&mut self, site: usize, port: usize, new: &Sources) {
        for source in new.iter() {
            let site = &self.sites[site];
            let (Some(&arg), Some(&target)) = (site.args.get(source / 2), site.targets.get(port))
            else {
                continue;
            };
            match source % 2 {
                0 => self.edge(arg.varied, target.varied),
                _ => self.edge(arg.rounded, target.rounded),
            }
        }
    }

    /// The nodes that lead to one of these, themselves among them; a node at which an integer is
    /// made of floats ends the way. In order.
    pub(super) fn leading_to(&self, ends: &[NodeId]) -> Vec<NodeId> {
        let mut newest: Vec<Option<u32>> = vec![None; self.nodes.len()];
        let mut before: Vec<Option<u32>> = Vec::with_capacity(self.edges.len());
        for (number, edge) in self.edges.iter().enumerate() {
            before.push(newest[edge.to.0 as usize].replace(number as u32));
        }
        let mut found: HashSet<NodeId> = ends.iter().copied().collect();
        let mut open = ends.to_vec();
        while let Some(node) = open.pop() {
            let mut next = match self.cast_at(node) {
                Some(_) => None,
                None => newest[node.0 as usize],
            };
            while let Some(edge) = next {
                let from = self.edges[edge as usize].from;
                if found.insert(from) {
                    open.push(from);
                }
                next = before[edge as usize];
            }
        }
        let mut found: Vec<NodeId> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    /// Where an integer is made of floats, if the node is that.
    pub(super) fn cast_at(&self, node: NodeId) -> Option<Span> {
        self.nodes[node.0 as usize].cast
    }

    /// The node that would be next.
    pub(super) fn next_node(&self) -> NodeId {
        NodeId(self.nodes.len() as u32)
    }
}
