//! Flows as trees: a piece that control comes to from one other alone, forward, is one graph with it, so that values stay in registers from one to the other. Each
//! tree begins with all words in the register file, and puts there what it changed where control leaves it.
//!
//! Nodes of one arm of a branch are not to be found from the other: pieces stand depth first, and with each arm everything is again as it was before the branch.

use crate::graph::{ALL_ONES, NodeId, NodeOp};
use crate::graph_builder::{
    Computation, GraphBuilder, GraphStore, StoreTarget, WordAccesses, dual_words,
};
use crate::loop_carried::carry_values;
use crate::optimisation::{Optimisation, Optimisations};
use crate::select_to_branch::insert_branches;
use crate::shadow_pairs::VectorHalf;
use crate::superword::pack_superwords;
use crate::template::OpTemplates;
use adumbra_vm::native::{CondBranch, Edge, PointBlock, PointCfg, PointTerminator, WordLocation};

/// Nodes from which on a tree ends. Finding places takes time by the values that wait, and only few are worth to be kept from one end of a tree to the other. What is alike is found
/// within a tree: octaves of noise are some hundred nodes each.
const TREE: usize = 2048;

/// Steps that are taken at once, at most: machines have them in their instructions.
const MAX_STEPS: u32 = 64;
// Twelve bits in those of aarch64.
const _: () = assert!(MAX_STEPS < 1 << 12);

/// Pieces, or the rest of one, as one graph.
#[derive(Debug)]
pub(crate) struct ExtendedBlock {
    /// Where it begins.
    pub(crate) label: u32,
    /// What is computed. What is wanted at a turn counts as stored there.
    pub(crate) computation: Computation,
    /// What happens between nodes, in order.
    pub(crate) events: Vec<ControlEvent>,
    /// How many of its first nodes compute what it carries from turn to turn: [`ExitTarget::NextIteration`] is behind them.
    pub(crate) carried_nodes: u32,
}

/// Something that happens behind a node.
#[derive(Debug)]
pub(crate) struct ControlEvent {
    pub(crate) after: NodeId,
    pub(crate) action: ControlAction,
    /// The instruction of the bytecode that it is for.
    pub(crate) position: u32,
}

/// Something that control does.
#[derive(Debug)]
pub(crate) enum ControlAction {
    /// It comes to this place, from a branch.
    Label(u32),
    /// It leaves if a mask is as said, else goes on.
    Branch {
        mask: NodeId,
        is_set: bool,
        exit: BlockExit,
    },
    /// It takes so many steps, or leaves if not all of them are left.
    TakeSteps { steps: u32, exit: BlockExit },
    /// It leaves.
    Exit(BlockExit),
}

impl ControlAction {
    /// How control leaves, if it may.
    pub(crate) fn exit(&mut self) -> Option<&mut BlockExit> {
        match self {
            ControlAction::Label(_) => None,
            ControlAction::Branch { exit: leave, .. }
            | ControlAction::TakeSteps { exit: leave, .. }
            | ControlAction::Exit(leave) => Some(leave),
        }
    }
}

/// How control leaves where it is.
#[derive(Debug)]
pub(crate) struct BlockExit {
    pub(crate) stores: Vec<RegisterStore>,
    /// Behind that: nodes of the tree, and what is put in their places, all at once.
    pub(crate) loop_carried: Vec<(NodeId, NodeId)>,
    pub(crate) target: ExitTarget,
}

impl BlockExit {
    /// Nothing is done before.
    pub(crate) fn to(to: ExitTarget) -> BlockExit {
        BlockExit {
            stores: Vec::new(),
            loop_carried: Vec::new(),
            target: to,
        }
    }
}

/// What is put into a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterStore {
    pub(crate) vm_register: u32,
    pub(crate) value: NodeId,
    pub(crate) half: VectorHalf,
}

/// Where control goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExitTarget {
    /// To a place: a piece, or, behind their number, the rest of one.
    Label(u32),
    /// To another turn of the tree that it leaves.
    NextIteration,
    /// Out of the flow.
    Exit(u32),
}

/// The trees of a flow, those of its entries in their order, and how many places they have.
pub(crate) fn extended_blocks(
    optimisations: Optimisations,
    flow: &PointCfg,
    templates: &mut OpTemplates,
) -> (Vec<ExtendedBlock>, u32) {
    let mut grower = Grower::new(optimisations, flow);
    let mut trees = Vec::new();
    while let Some(root) = grower.waiting.pop() {
        trees.push(grower.tree(root, templates));
    }
    (trees, grower.places)
}

/// Where a tree begins: a piece from a row on.
#[derive(Clone, Copy)]
struct Root {
    at: u32,
    piece: u32,
    row: usize,
}

/// A piece of the tree that is yet to be written, and how things were before it.
struct Arm {
    root: Root,
    /// Whether a branch leads to it; else control comes from what is written before.
    is_target: bool,
    nodes: usize,
    touched: usize,
    changes: usize,
}

/// Grows trees.
struct Grower<'f> {
    optimisations: Optimisations,
    flow: &'f PointCfg,
    writer: GraphBuilder<'f>,
    /// Whether a tree begins with each piece.
    is_root: Vec<bool>,
    /// Trees that are yet to be grown.
    waiting: Vec<Root>,
    /// Whether each piece's tree is among them, or done.
    is_known: Vec<bool>,
    places: u32,
    /// When the rows of the piece that was cut last access words.
    accesses: Option<(u32, WordAccesses)>,
    arms: Vec<Arm>,
    /// What words held before: now, and in the beginning.
    changes: Vec<(u32, [Option<NodeId>; 2])>,
    uses: Vec<GraphStore>,
    events: Vec<ControlEvent>,
}

impl<'f> Grower<'f> {
    fn new(optimisations: Optimisations, flow: &'f PointCfg) -> Grower<'f> {
        let count = flow.blocks.len();
        let mut sources = vec![0_usize; count];
        let mut is_root = vec![false; count];
        for (number, piece) in flow.blocks.iter().enumerate() {
            for way in piece.terminator.edges() {
                if let Edge::Block(to) = way {
                    sources[to as usize] += 1;
                    is_root[to as usize] |= to as usize <= number;
                }
            }
        }
        let joins = optimisations.has(Optimisation::ExtendedBlocks);
        for (is_root, sources) in is_root.iter_mut().zip(sources) {
            *is_root |= sources > 1 || !joins;
        }
        let mut grower = Grower {
            optimisations,
            flow,
            writer: GraphBuilder::with_shadow_pairs(optimisations, &flow.locations),
            is_root,
            waiting: Vec::new(),
            is_known: vec![false; count],
            places: count as u32,
            accesses: None,
            arms: Vec::new(),
            changes: Vec::new(),
            uses: Vec::new(),
            events: Vec::new(),
        };
        // The last that is wanted is grown first.
        for entry in flow.entries.iter().rev() {
            grower.is_root[entry.block as usize] = true;
            grower.want(entry.block);
        }
        grower
    }

    /// A tree that begins with a piece will be grown.
    fn want(&mut self, piece: u32) {
        if !std::mem::replace(&mut self.is_known[piece as usize], true) {
            self.waiting.push(Root {
                at: piece,
                piece,
                row: 0,
            });
        }
    }

    fn tree(&mut self, root: Root, templates: &mut OpTemplates) -> ExtendedBlock {
        let PointBlock { position, .. } = self.flow.blocks[root.piece as usize];
        self.writer.set_position(position);
        // There is always a node to be behind.
        self.writer.graph.constant(0);
        self.branch_off(root, false);
        while let Some(arm) = self.arms.pop() {
            self.go_back(&arm);
            if arm.is_target {
                self.turn(ControlAction::Label(arm.root.at));
            }
            self.arm(arm.root, templates);
        }
        let Computation {
            graph,
            positions: lineage,
            ..
        } = self.writer.finish(|_| false);
        self.changes.clear();
        let mut computation = Computation {
            graph,
            stores: std::mem::take(&mut self.uses),
            positions: lineage,
        };
        let mut events = std::mem::take(&mut self.events);
        if self.optimisations.has(Optimisation::Superwords) {
            pack_superwords(&mut computation, &mut events);
        }
        if self.optimisations.has(Optimisation::SelectToBranch) {
            self.places = insert_branches(&mut computation, &mut events, self.places);
        }
        let first = match self.optimisations.has(Optimisation::LoopCarriedValues) {
            true => carry_values(self.optimisations, &mut computation, &mut events, root.at),
            false => 0,
        };
        ExtendedBlock {
            label: root.at,
            computation,
            events,
            carried_nodes: first,
        }
    }

    /// A piece of this tree will be written, as things are now.
    fn branch_off(&mut self, root: Root, is_target: bool) {
        self.arms.push(Arm {
            root,
            is_target,
            nodes: self.writer.graph.len(),
            touched: self.writer.touched.len(),
            changes: self.changes.len(),
        });
    }

    fn go_back(&mut self, arm: &Arm) {
        for (word, [now, before]) in self.changes.drain(arm.changes..).rev() {
            self.writer.current[word as usize] = now;
            self.writer.initial[word as usize] = before;
        }
        self.writer.touched.truncate(arm.touched);
        self.writer.graph.hide_from(arm.nodes);
    }

    fn is_full(&self) -> bool {
        self.writer.graph.len() >= TREE
    }

    /// Writes the rest of a piece, and where control goes from there.
    fn arm(&mut self, root: Root, templates: &mut OpTemplates) {
        let PointBlock {
            instructions: rows,
            terminator: then,
            position,
        } = &self.flow.blocks[root.piece as usize];
        for (number, row) in rows.iter().enumerate().skip(root.row) {
            if self.is_full() && number > root.row {
                self.cut(root.piece, number);
                return;
            }
            let operands = row.operands[..row.kind.arity()].iter();
            operands
                .flat_map(dual_words)
                .chain(dual_words(&row.result))
                .for_each(|word| self.note(word));
            self.writer.arithmetic(row, templates);
        }
        let piece = root.piece;
        self.writer.set_position(*position);
        match then {
            PointTerminator::Jump(way) => self.go(piece, *way),
            PointTerminator::StepJump { to, out } => {
                self.step(piece, *out);
                self.go(piece, *to);
            }
            PointTerminator::Branch(CondBranch {
                condition: question,
                when,
                target,
                next,
            }) => {
                let count = question.test.map_or(1, |op| op.arity());
                for operand in &question.operands[..count] {
                    self.note(operand.value);
                }
                let is_false = self.writer.condition_is_false(question, templates);
                let node = self.writer.graph.node(is_false);
                let ones = self.writer.graph.constant(ALL_ONES);
                // Control leaves where the answer is another one.
                let (mask, is_set) = match node.op {
                    NodeOp::Xor if node.b == ones => (node.a, !when),
                    _ => (is_false, *when),
                };
                let child = self.child(*target);
                let leave = match child {
                    Some(child) => BlockExit::to(ExitTarget::Label(child)),
                    None => self.leave_by(piece, *target),
                };
                self.uses.push(GraphStore {
                    after: self.behind(),
                    target: StoreTarget::Condition,
                    value: mask,
                });
                self.turn(ControlAction::Branch {
                    mask,
                    is_set,
                    exit: leave,
                });
                if let Some(child) = child {
                    self.branch_off(self.whole(child), true);
                }
                self.go(piece, *next);
            }
        }
    }

    /// Control takes a step behind a piece. With one before it that nothing happens behind it is taken there: who has not both goes on outside from there.
    fn step(&mut self, piece: u32, out: u32) {
        if let Some(ControlEvent {
            action: ControlAction::TakeSteps { steps, .. },
            ..
        }) = self.events.last_mut()
            && *steps < MAX_STEPS
            && self.optimisations.has(Optimisation::StepMerging)
        {
            *steps += 1;
            return;
        }
        let leave = self.leave(piece, ExitTarget::Exit(out));
        self.turn(ControlAction::TakeSteps {
            steps: 1,
            exit: leave,
        });
    }

    fn whole(&self, piece: u32) -> Root {
        Root {
            at: piece,
            piece,
            row: 0,
        }
    }

    /// Before a word is accessed: what it holds may change.
    fn note(&mut self, word: u32) {
        let GraphBuilder {
            current: now,
            initial: before,
            ..
        } = &self.writer;
        let held = [now[word as usize], before[word as usize]];
        self.changes.push((word, held));
    }

    /// The node that everything written so far is behind.
    fn behind(&self) -> NodeId {
        self.writer.graph.len() as NodeId - 1
    }

    fn turn(&mut self, turn: ControlAction) {
        self.events.push(ControlEvent {
            after: self.behind(),
            action: turn,
            position: self.writer.position(),
        });
    }

    /// The piece that a way leads to, if it belongs to this tree.
    fn child(&mut self, way: Edge) -> Option<u32> {
        let Edge::Block(piece) = way else { return None };
        let is_root = &mut self.is_root[piece as usize];
        *is_root |= self.writer.graph.len() >= TREE;
        (!*is_root).then_some(piece)
    }

    /// Control goes a way: on, if what is there belongs to this tree.
    fn go(&mut self, piece: u32, way: Edge) {
        match self.child(way) {
            Some(child) => self.branch_off(self.whole(child), false),
            None => {
                let leave = self.leave_by(piece, way);
                self.turn(ControlAction::Exit(leave));
            }
        }
    }

    fn leave_by(&mut self, piece: u32, way: Edge) -> BlockExit {
        let to = match way {
            Edge::Exit(exit) => ExitTarget::Exit(exit),
            Edge::Block(to) => {
                self.want(to);
                ExitTarget::Label(to)
            }
        };
        self.leave(piece, to)
    }

    /// Control leaves behind a piece.
    fn leave(&mut self, piece: u32, to: ExitTarget) -> BlockExit {
        let flow = self.flow;
        let words = flow.live_out.as_ref().map(|live| {
            let each = live.len() / flow.blocks.len();
            &live[piece as usize * each..][..each]
        });
        let is_read =
            |slot: u32| words.is_none_or(|words| words[slot as usize / 64] >> (slot % 64) & 1 == 1);
        self.leave_with(|_, slot| is_read(slot), to)
    }

    /// The tree ends in front of a row, and another one begins.
    fn cut(&mut self, piece: u32, row: usize) {
        let flow = self.flow;
        let rows = &flow.blocks[piece as usize].instructions;
        let mut accesses = match self.accesses.take() {
            Some((of, accesses)) if of == piece => accesses,
            _ => WordAccesses::of(rows, flow.locations.len()),
        };
        let at = self.places;
        self.places += 1;
        let last = row as u32 - 1;
        let is_read = |word: u32, _| accesses.is_live_after(word, last).unwrap_or(true);
        let leave = self.leave_with(is_read, ExitTarget::Label(at));
        self.accesses = Some((piece, accesses));
        self.turn(ControlAction::Exit(leave));
        self.waiting.push(Root { at, piece, row });
    }

    fn leave_with(
        &mut self,
        mut is_read: impl FnMut(u32, u32) -> bool,
        to: ExitTarget,
    ) -> BlockExit {
        let behind = self.behind();
        let GraphBuilder {
            current: now,
            initial: before,
            touched,
            ..
        } = &self.writer;
        let mut stores = Vec::new();
        for &word in touched {
            let (now, before) = (now[word as usize], before[word as usize]);
            let (WordLocation::Register(slot), Some(value)) =
                (self.flow.locations[word as usize], now)
            else {
                continue;
            };
            if now != before && is_read(word, slot) {
                let (value, half) = self.writer.graph.half_of(value);
                stores.push(RegisterStore {
                    vm_register: slot,
                    value,
                    half,
                });
                self.uses.push(GraphStore {
                    after: behind,
                    target: StoreTarget::Word(word),
                    value,
                });
            }
        }
        BlockExit {
            stores,
            ..BlockExit::to(to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_vm::native::{CfgEntry, Condition, DualOperand};

    /// Pieces that take a step each and then go on to the next one; the last one goes out.
    fn steps(count: u32) -> PointCfg {
        let piece = |number: u32| PointBlock {
            instructions: Vec::new(),
            terminator: PointTerminator::StepJump {
                to: match number + 1 < count {
                    true => Edge::Block(number + 1),
                    false => Edge::Exit(0),
                },
                out: number,
            },
            position: number,
        };
        PointCfg {
            locations: vec![WordLocation::Register(0)],
            blocks: (0..count).map(piece).collect(),
            live_out: None,
            entries: vec![CfgEntry {
                block: 0,
                at: 0,
                depth: 0,
            }],
        }
    }

    /// The steps that are taken at once, and the exits to where they are taken one by one.
    fn taken(flow: &PointCfg) -> Vec<(u32, u32)> {
        let (trees, _) = extended_blocks(Optimisations::ALL, flow, &mut OpTemplates::new(false));
        let events = trees.iter().flat_map(|tree| &tree.events);
        let steps = events.filter_map(|event| match &event.action {
            ControlAction::TakeSteps { steps, exit: leave } => match leave.target {
                ExitTarget::Exit(exit) => Some((*steps, exit)),
                ExitTarget::Label(_) | ExitTarget::NextIteration => None,
            },
            _ => None,
        });
        steps.collect()
    }

    #[test]
    fn so_many_steps_are_taken_at_once() {
        for count in [1, 2, MAX_STEPS, MAX_STEPS + 1, 3 * MAX_STEPS + 7] {
            let taken = taken(&steps(count));
            let mut first = 0;
            for (steps, exit) in taken {
                assert_eq!((steps, exit), (MAX_STEPS.min(count - first), first));
                first += steps;
            }
            assert_eq!(first, count);
        }
    }

    #[test]
    fn steps_behind_a_branch_are_not_taken_in_front_of_it() {
        let mut flow = steps(6);
        flow.blocks[2].terminator = PointTerminator::Branch(CondBranch {
            condition: Condition {
                test: None,
                operands: [DualOperand::default(); adumbra_ops::MAX_OPERANDS],
            },
            when: true,
            target: Edge::Exit(9),
            next: Edge::Block(3),
        });
        assert_eq!(taken(&flow), [(2, 0), (3, 3)]);
    }
}
