//! Builds graphs from a segment: instantiates the template of one instruction after the other, and
//! places the stores.

use crate::graph::{Graph, NodeId, NodeOp};
use crate::optimisation::{Optimisation, Optimisations};
use crate::shadow_pairs::{can_pair_shadows, paired_words};
use crate::template::OpTemplates;
use adumbra_ir::host::CANONICAL_NAN;
use adumbra_vm::native::{ArithmeticInst, ArithmeticKind, Condition, DualOperand, WordLocation};

/// A part of a segment as a graph.
#[derive(Debug)]
pub(crate) struct Computation {
    pub(crate) graph: Graph,
    /// The stores, in order.
    pub(crate) stores: Vec<GraphStore>,
    pub(crate) positions: NodePositions,
}

impl Computation {
    /// How many operands and stores each live node is.
    pub(crate) fn use_counts(&self) -> Vec<u32> {
        let graph = &self.graph;
        let mut uses = vec![0; graph.nodes.len()];
        for store in &self.stores {
            uses[store.value as usize] += 1;
        }
        for (id, &node) in graph.nodes.iter().enumerate().rev() {
            if uses[id] > 0 {
                graph.for_each_operand(node, |operand| uses[operand as usize] += 1);
            }
        }
        uses
    }
}

/// The position of the bytecode instruction that each node was first made for.
#[derive(Debug, Default)]
pub(crate) struct NodePositions {
    /// The positions in the order in which nodes were made for them, each with the number of its
    /// first node.
    pub(crate) made: Vec<(NodeId, u32)>,
}

impl NodePositions {
    /// The nodes from `first` on are made for the instruction at `position`.
    pub(crate) fn start_at(&mut self, first: NodeId, position: u32) {
        self.made.push((first, position));
    }

    /// Returns the positions and starts others in the same memory.
    fn take(&mut self) -> NodePositions {
        let made = self.made.as_slice().to_vec();
        self.made.clear();
        NodePositions { made }
    }

    /// The position that nodes are made for now.
    fn now(&self) -> u32 {
        self.made.last().map_or(0, |&(_, position)| position)
    }

    /// The position that a node was made for.
    pub(crate) fn position_of(&self, id: NodeId) -> u32 {
        let after = self.made.partition_point(|&(first, _)| first <= id);
        self.made[after - 1].1
    }

    /// The positions of the nodes in another order.
    pub(crate) fn reordered(&self, order: &[NodeId]) -> NodePositions {
        let mut positions = NodePositions::default();
        for (id, &before) in (0..).zip(order) {
            let position = self.position_of(before);
            if positions
                .made
                .last()
                .is_none_or(|&(_, last)| last != position)
            {
                positions.start_at(id, position);
            }
        }
        positions
    }
}

/// A store of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphStore {
    /// The node after which the store may be: the old value is dead, and the new one is computed.
    pub(crate) after: NodeId,
    pub(crate) target: StoreTarget,
    pub(crate) value: NodeId,
}

/// The target of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreTarget {
    /// The plane of a word.
    Word(u32),
    /// In a point CFG: no memory; it is the condition of a branch.
    Condition,
    /// The result of a routine.
    Result,
}

/// Builds a graph from instructions.
pub(crate) struct GraphBuilder<'s> {
    locations: &'s [WordLocation],
    pub(crate) graph: Graph,
    /// The node of each word's current value.
    pub(crate) current: Vec<Option<NodeId>>,
    /// The node of each word's initial value, if that is read.
    pub(crate) initial: Vec<Option<NodeId>>,
    /// Words that the segment read or wrote.
    pub(crate) touched: Vec<u32>,
    operands: Vec<NodeId>,
    /// Whether both shadows of a value are one node.
    in_pairs: bool,
    positions: NodePositions,
}

impl<'s> GraphBuilder<'s> {
    pub(crate) fn new(
        optimisations: Optimisations,
        locations: &'s [WordLocation],
    ) -> GraphBuilder<'s> {
        GraphBuilder {
            locations,
            graph: Graph::new(optimisations),
            current: vec![None; locations.len()],
            initial: vec![None; locations.len()],
            touched: Vec::new(),
            operands: Vec::new(),
            in_pairs: false,
            positions: NodePositions::default(),
        }
    }

    /// A builder for a point CFG, where both shadows of a value are one node.
    pub(crate) fn with_shadow_pairs(
        optimisations: Optimisations,
        locations: &'s [WordLocation],
    ) -> GraphBuilder<'s> {
        GraphBuilder {
            in_pairs: optimisations.has(Optimisation::ShadowPairs),
            ..GraphBuilder::new(optimisations, locations)
        }
    }

    /// Sets the position that nodes are made for from now on.
    pub(crate) fn set_position(&mut self, position: u32) {
        self.positions
            .start_at(self.graph.len() as NodeId, position);
    }

    /// The position that nodes are made for.
    pub(crate) fn position(&self) -> u32 {
        self.positions.now()
    }

    /// The node of a word's current value.
    pub(crate) fn read(&mut self, word: u32) -> NodeId {
        let index = word as usize;
        if let Some(id) = self.current[index] {
            return id;
        }
        let id = match self.locations[index] {
            WordLocation::Plane | WordLocation::RegisterPlane(_) => {
                self.graph.push(NodeOp::Plane, word, 0, 0)
            }
            WordLocation::Uniform => self.graph.uniform(word),
            WordLocation::Constant(bits) => self.graph.constant(bits),
            WordLocation::Register(vm_register) => {
                self.graph.push(NodeOp::VmRegister, vm_register, 0, 0)
            }
            WordLocation::Global(word) => self.graph.push(NodeOp::Global, word, 0, 0),
        };
        self.write(word, Some(id));
        self.initial[index] = Some(id);
        id
    }

    /// The stores of all words that the graph changes.
    pub(crate) fn changed_words(&self) -> Vec<GraphStore> {
        let mut stores = Vec::with_capacity(self.touched.len());
        for &word in &self.touched {
            let index = word as usize;
            let (now, before) = (self.current[index], self.initial[index]);
            if let Some(value) = now
                && before != now
            {
                stores.push(GraphStore {
                    after: value.max(before.unwrap_or(0)),
                    target: StoreTarget::Word(word),
                    value,
                });
            }
        }
        stores.sort_by_key(|store| store.after);
        stores
    }

    /// Finishes a graph with these stores.
    pub(crate) fn finish(&mut self, stores: Vec<GraphStore>) -> Computation {
        for word in self.touched.drain(..) {
            self.current[word as usize] = None;
            self.initial[word as usize] = None;
        }
        Computation {
            graph: self.graph.take(),
            stores,
            positions: self.positions.take(),
        }
    }

    /// Sets the node of a word's current value.
    pub(crate) fn write(&mut self, word: u32, id: Option<NodeId>) {
        let now = &mut self.current[word as usize];
        if now.is_none() {
            self.touched.push(word);
        }
        *now = id;
    }

    /// The node of both shadows that these words hold.
    pub(crate) fn read_pair(&mut self, words: [u32; 2]) -> NodeId {
        let [x, y] = words.map(|word| self.read(word));
        self.graph.join(x, y)
    }

    /// Sets the words to the halves of a node.
    pub(crate) fn write_pair(&mut self, [x, y]: [u32; 2], pair: NodeId) {
        let first = self.graph.join(pair, pair);
        let second = self.graph.upper(pair);
        self.write(x, Some(first));
        self.write(y, Some(second));
    }

    /// Adds the nodes of an instruction.
    pub(crate) fn arithmetic(&mut self, inst: &ArithmeticInst, templates: &mut OpTemplates) {
        self.set_position(inst.position);
        let in_pairs = self.in_pairs && can_pair_shadows(inst);
        self.operands.clear();
        for operand in &inst.operands[..inst.kind.arity()] {
            let value = self.read(operand.value);
            self.operands.push(value);
            match paired_words(operand) {
                Some(words) if in_pairs => {
                    let pair = self.read_pair(words);
                    self.operands.push(pair);
                }
                _ => {
                    for word in operand.shadows.into_iter().flatten() {
                        let shadow = self.read(word);
                        self.operands.push(shadow);
                    }
                }
            }
        }
        // A pair counts as one shadow.
        let shadows = |value: &DualOperand| {
            let [x, y] = value.shadows.map(|shadow| shadow.is_some());
            [x, y && !in_pairs]
        };
        let [value, x, y] = match inst.kind {
            ArithmeticKind::Op(op) => {
                let bits = |value: &DualOperand| {
                    let [x, y] = shadows(value).map(u16::from);
                    x | y << 1
                };
                let operands = inst.operands[..op.arity()].iter().enumerate();
                let shadows = operands.fold(bits(&inst.result), |shadows, (i, operand)| {
                    shadows | bits(operand) << (2 * i + 2)
                });
                templates.instantiate(op, shadows, &self.operands, &mut self.graph)
            }
            what => self.moved(what, shadows(&inst.operands[0])).map(Some),
        };
        self.write(inst.result.value, value);
        match paired_words(&inst.result) {
            Some(words) if in_pairs => {
                self.write_pair(words, x.expect("a result with shadows has them"));
            }
            _ => {
                for (word, id) in inst.result.shadows.into_iter().zip([x, y]) {
                    if let Some(word) = word {
                        self.write(word, id);
                    }
                }
            }
        }
    }

    /// The nodes of an instruction that is no op, for an operand with these shadows: a value and
    /// both shadows, zero where the operand has none.
    fn moved(&mut self, what: ArithmeticKind, shadows: [bool; 2]) -> [NodeId; 3] {
        let zero = self.graph.constant(0);
        let mut given = 1..;
        let mut shadow = |is_given| match is_given {
            true => self.operands[given.next().expect("there are more")],
            false => zero,
        };
        let [x, y] = shadows.map(&mut shadow);
        let value = self.operands[0];
        match what {
            ArithmeticKind::Op(_) | ArithmeticKind::Copy => [value, x, y],
            ArithmeticKind::ReadShadow => [self.read_shadow(value), x, y],
            ArithmeticKind::Canonicalise => {
                let [x, y] = [x, y].map(|shadow| {
                    let read = self.read_shadow(shadow);
                    self.canonical_float(read)
                });
                [self.canonical_float(value), x, y]
            }
        }
    }

    /// A shadow as it is read ([`read_shadow`](adumbra_ir::host::read_shadow)): −0 becomes 0.
    fn read_shadow(&mut self, shadow: NodeId) -> NodeId {
        let zero = self.graph.constant(0);
        self.graph.push(NodeOp::Add, shadow, zero, 0)
    }

    /// A canonicalised number ([`canonical_float`](adumbra_ir::host::canonical_float)).
    fn canonical_float(&mut self, x: NodeId) -> NodeId {
        let is_number = self.graph.push(NodeOp::Eq, x, x, 0);
        let nan = self.graph.constant(CANONICAL_NAN);
        self.graph.push(NodeOp::Select, is_number, x, nan)
    }

    /// A mask: whether the condition of a branch is false.
    pub(crate) fn condition_is_false(
        &mut self,
        condition: &Condition,
        templates: &mut OpTemplates,
    ) -> NodeId {
        let count = condition.test.map_or(1, |op| op.arity());
        self.operands.clear();
        for operand in &condition.operands[..count] {
            let id = self.read(operand.value);
            self.operands.push(id);
        }
        let value = match condition.test {
            Some(op) => {
                let [value, ..] = templates.instantiate(op, 0, &self.operands, &mut self.graph);
                value.expect("an op has a value")
            }
            None => self.operands[0],
        };
        let zero = self.graph.constant(0);
        self.graph.push(NodeOp::IEq, value, zero, 0)
    }
}
