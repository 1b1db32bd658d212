//! Extended basic blocks of a point CFG: a tree of blocks, each with one forward predecessor,
//! becomes one graph.
//!
//! So values stay in registers from block to block (Muchnick 1997, "Advanced Compiler Design and
//! Implementation", section 7.1). An extended block begins with all words in the register file, and
//! stores those that it changed at its exits.
//!
//! The nodes of one arm of a branch are not visible in the other: blocks are in depth-first order,
//! and each arm starts from the state before the branch.

use crate::control::{BlockExit, ControlAction, ControlEvent, ExitTarget, RegisterStore};
use crate::graph::{ALL_ONES, NodeId, NodeOp};
use crate::graph_builder::{Computation, GraphBuilder, GraphStore, StoreTarget};
use crate::loop_carried::carry_values;
use crate::optimisation::{Optimisation, Optimisations};
use crate::select_to_branch::insert_branches;
use crate::superword::form_superwords;
use crate::template::OpTemplates;
use adumbra_vm::native::{
    ArithmeticInst, CondBranch, Edge, PointBlock, PointCfg, PointTerminator, WordLocation,
};

/// The number of nodes after which an extended block ends. The time of register allocation grows
/// with the live values, and few are worth a register throughout the block. Value numbering works
/// within an extended block: octaves of noise are some hundred nodes each.
const MAX_EBB_NODES: usize = 2048;

/// The most steps that are taken at once: targets have them as an immediate.
const MAX_STEPS: u32 = 64;
// aarch64 has immediates of twelve bits.
const _: () = assert!(MAX_STEPS < 1 << 12);

/// An extended block: blocks, or the rest of one, as one graph.
#[derive(Debug)]
pub(crate) struct ExtendedBlock {
    /// The label of its start.
    pub(crate) label: u32,
    /// The nodes and stores. The mask of a branch counts as stored there.
    pub(crate) computation: Computation,
    /// The control events between nodes, in order.
    pub(crate) events: Vec<ControlEvent>,
    /// How many of its first nodes compute loop-carried values: [`ExitTarget::NextIteration`] goes
    /// to the node after them.
    pub(crate) carried_nodes: u32,
}

/// The extended blocks of a point CFG, those of its entries in their order, and the number of
/// labels.
pub(crate) fn extended_blocks(
    optimisations: Optimisations,
    cfg: &PointCfg,
    templates: &mut OpTemplates,
) -> (Vec<ExtendedBlock>, u32) {
    let mut builder = EbbBuilder::new(optimisations, cfg);
    let mut ebbs = Vec::new();
    while let Some(root) = builder.waiting.pop() {
        ebbs.push(builder.build(root, templates));
    }
    (ebbs, builder.label_count)
}

/// The start of an extended block: a block from an instruction on.
#[derive(Clone, Copy)]
struct Root {
    at: u32,
    block: u32,
    first: usize,
}

/// A block of the current extended block that is yet to be written, and the state before it.
struct Arm {
    root: Root,
    /// Whether a branch leads to it; else control falls through.
    is_target: bool,
    nodes: usize,
    touched: usize,
    changes: usize,
}

/// The state of a word: the nodes of its current and of its initial value, and the last use of the
/// current one.
struct WordState {
    word: u32,
    current: Option<NodeId>,
    initial: Option<NodeId>,
    last_use: u32,
}

/// The builder of extended blocks.
struct EbbBuilder<'f> {
    optimisations: Optimisations,
    cfg: &'f PointCfg,
    writer: GraphBuilder<'f>,
    /// Whether an extended block begins with each block.
    is_root: Vec<bool>,
    /// Roots whose extended block is yet to be built.
    waiting: Vec<Root>,
    /// Whether each block's root is among them, or done.
    is_known: Vec<bool>,
    label_count: u32,
    arms: Vec<Arm>,
    /// The last use of each word's current value: [`PointBlock::last_uses`].
    last_uses: Vec<u32>,
    /// The log of words before a change.
    changes: Vec<WordState>,
    uses: Vec<GraphStore>,
    events: Vec<ControlEvent>,
}

impl<'f> EbbBuilder<'f> {
    fn new(optimisations: Optimisations, cfg: &'f PointCfg) -> EbbBuilder<'f> {
        let count = cfg.blocks.len();
        let mut sources = vec![0_usize; count];
        let mut is_root = vec![false; count];
        for (number, block) in cfg.blocks.iter().enumerate() {
            for edge in block.terminator.edges() {
                if let Edge::Block(to) = edge {
                    sources[to as usize] += 1;
                    is_root[to as usize] |= to as usize <= number;
                }
            }
        }
        let joins = optimisations.has(Optimisation::ExtendedBlocks);
        for (is_root, sources) in is_root.iter_mut().zip(sources) {
            *is_root |= sources > 1 || !joins;
        }
        let mut builder = EbbBuilder {
            optimisations,
            cfg,
            writer: GraphBuilder::with_shadow_pairs(optimisations, &cfg.locations),
            is_root,
            waiting: Vec::new(),
            is_known: vec![false; count],
            label_count: count as u32,
            arms: Vec::new(),
            last_uses: vec![0; cfg.locations.len()],
            changes: Vec::new(),
            uses: Vec::new(),
            events: Vec::new(),
        };
        // The last of the worklist is built first.
        for entry in cfg.entries.iter().rev() {
            builder.is_root[entry.block as usize] = true;
            builder.enqueue(entry.block);
        }
        builder
    }

    /// Queues the extended block that begins with a block.
    fn enqueue(&mut self, block: u32) {
        if !std::mem::replace(&mut self.is_known[block as usize], true) {
            self.waiting.push(Root {
                at: block,
                block,
                first: 0,
            });
        }
    }

    fn build(&mut self, root: Root, templates: &mut OpTemplates) -> ExtendedBlock {
        let PointBlock { position, .. } = self.cfg.blocks[root.block as usize];
        self.writer.set_position(position);
        // Events need a node to be after.
        self.writer.graph.constant(0);
        self.branch_off(root, false);
        while let Some(arm) = self.arms.pop() {
            self.restore(&arm);
            if arm.is_target {
                self.push_event(ControlAction::Label(arm.root.at));
            }
            self.write_block(arm.root, templates);
        }
        self.changes.clear();
        let mut computation = self.writer.finish(std::mem::take(&mut self.uses));
        let mut events = std::mem::take(&mut self.events);
        if self.optimisations.has(Optimisation::Superwords) {
            form_superwords(&mut computation, &mut events);
        }
        if self.optimisations.has(Optimisation::SelectToBranch) {
            self.label_count = insert_branches(&mut computation, &mut events, self.label_count);
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

    /// Queues a block of this extended block, with the current state.
    fn branch_off(&mut self, root: Root, is_target: bool) {
        self.arms.push(Arm {
            root,
            is_target,
            nodes: self.writer.graph.len(),
            touched: self.writer.touched.len(),
            changes: self.changes.len(),
        });
    }

    fn restore(&mut self, arm: &Arm) {
        for state in self.changes.drain(arm.changes..).rev() {
            let word = state.word as usize;
            self.writer.current[word] = state.current;
            self.writer.initial[word] = state.initial;
            self.last_uses[word] = state.last_use;
        }
        self.writer.touched.truncate(arm.touched);
        self.writer.graph.hide_from(arm.nodes);
    }

    fn is_full(&self) -> bool {
        self.writer.graph.len() >= MAX_EBB_NODES
    }

    /// Writes the rest of a block and its terminator.
    fn write_block(&mut self, root: Root, templates: &mut OpTemplates) {
        let PointBlock {
            instructions,
            last_uses,
            terminator,
            position,
        } = &self.cfg.blocks[root.block as usize];
        let numbered = instructions.iter().zip(last_uses).enumerate();
        for (number, (inst, last_uses)) in numbered.skip(root.first) {
            if self.is_full() && number > root.first {
                self.cut(root.block, number);
                return;
            }
            let operands = inst.operands[..inst.kind.arity()].iter();
            operands
                .flat_map(|operand| operand.locations())
                .chain(inst.result.locations())
                .for_each(|word| self.note(word));
            self.writer.arithmetic(inst, templates);
            for (word, &last_use) in inst.result.locations().zip(last_uses) {
                self.last_uses[word as usize] = last_use;
            }
        }
        let block = root.block;
        self.writer.set_position(*position);
        match terminator {
            PointTerminator::Jump(edge) => self.follow(block, *edge),
            PointTerminator::StepJump { to, out } => {
                self.step(block, *out);
                self.follow(block, *to);
            }
            PointTerminator::Branch(CondBranch {
                condition,
                when,
                target,
                next,
            }) => {
                let count = condition.test.map_or(1, |op| op.arity());
                for operand in &condition.operands[..count] {
                    self.note(operand.value);
                }
                let is_false = self.writer.condition_is_false(condition, templates);
                let node = self.writer.graph.node(is_false);
                let ones = self.writer.graph.constant(ALL_ONES);
                // Control exits where the condition has the other value.
                let (mask, is_set) = match node.op {
                    NodeOp::Xor if node.b == ones => (node.a, !when),
                    _ => (is_false, *when),
                };
                let child = self.child(*target);
                let exit = match child {
                    Some(child) => BlockExit::to(ExitTarget::Label(child)),
                    None => self.exit_by(block, *target),
                };
                self.uses.push(GraphStore {
                    after: self.last_node(),
                    target: StoreTarget::Condition,
                    value: mask,
                });
                self.push_event(ControlAction::Branch { mask, is_set, exit });
                if let Some(child) = child {
                    self.branch_off(self.whole(child), true);
                }
                self.follow(block, *next);
            }
        }
    }

    /// Takes a step after a block. It is merged with a step before it if nothing happens in
    /// between: a point without both goes on outside from there.
    fn step(&mut self, block: u32, out: u32) {
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
        let exit = self.exit(block, ExitTarget::Exit(out));
        self.push_event(ControlAction::TakeSteps { steps: 1, exit });
    }

    fn whole(&self, block: u32) -> Root {
        Root {
            at: block,
            block,
            first: 0,
        }
    }

    /// Logs the state of a word before an access, which may change it.
    fn note(&mut self, word: u32) {
        self.changes.push(WordState {
            word,
            current: self.writer.current[word as usize],
            initial: self.writer.initial[word as usize],
            last_use: self.last_uses[word as usize],
        });
    }

    /// The last node so far.
    fn last_node(&self) -> NodeId {
        self.writer.graph.len() as NodeId - 1
    }

    fn push_event(&mut self, action: ControlAction) {
        self.events.push(ControlEvent {
            after: self.last_node(),
            action,
            position: self.writer.position(),
        });
    }

    /// The block that an edge leads to, if it belongs to this extended block.
    fn child(&mut self, edge: Edge) -> Option<u32> {
        let Edge::Block(block) = edge else {
            return None;
        };
        let is_root = &mut self.is_root[block as usize];
        *is_root |= self.writer.graph.len() >= MAX_EBB_NODES;
        (!*is_root).then_some(block)
    }

    /// Follows an edge: falls through if its block belongs to this extended block.
    fn follow(&mut self, block: u32, edge: Edge) {
        match self.child(edge) {
            Some(child) => self.branch_off(self.whole(child), false),
            None => {
                let exit = self.exit_by(block, edge);
                self.push_event(ControlAction::Exit(exit));
            }
        }
    }

    fn exit_by(&mut self, block: u32, edge: Edge) -> BlockExit {
        let to = match edge {
            Edge::Exit(exit) => ExitTarget::Exit(exit),
            Edge::Block(to) => {
                self.enqueue(to);
                ExitTarget::Label(to)
            }
        };
        self.exit(block, to)
    }

    /// Exits after a block.
    fn exit(&mut self, block: u32, to: ExitTarget) -> BlockExit {
        let cfg = self.cfg;
        let words = cfg.live_out.as_ref().map(|live| {
            let each = live.len() / cfg.blocks.len();
            &live[block as usize * each..][..each]
        });
        let is_read = |vm_register: u32| {
            words
                .is_none_or(|words| words[vm_register as usize / 64] >> (vm_register % 64) & 1 == 1)
        };
        self.exit_with(|_, _, vm_register| is_read(vm_register), to)
    }

    /// Ends the extended block before an instruction, where another one begins.
    fn cut(&mut self, block: u32, first: usize) {
        let at = self.label_count;
        self.label_count += 1;
        let ArithmeticInst { position, .. } =
            self.cfg.blocks[block as usize].instructions[first - 1];
        let is_read = |builder: &Self, word: u32, _| builder.last_uses[word as usize] > position;
        let exit = self.exit_with(is_read, ExitTarget::Label(at));
        self.push_event(ControlAction::Exit(exit));
        self.waiting.push(Root { at, block, first });
    }

    fn exit_with(
        &mut self,
        is_read: impl Fn(&Self, u32, u32) -> bool,
        to: ExitTarget,
    ) -> BlockExit {
        let after = self.last_node();
        let GraphBuilder {
            current: now,
            initial: before,
            touched,
            ..
        } = &self.writer;
        let mut stores = Vec::new();
        for &word in touched {
            let (now, before) = (now[word as usize], before[word as usize]);
            let (WordLocation::Register(vm_register), Some(value)) =
                (self.cfg.locations[word as usize], now)
            else {
                continue;
            };
            if now != before && is_read(self, word, vm_register) {
                let (value, half) = self.writer.graph.half_of(value);
                stores.push(RegisterStore {
                    vm_register,
                    value,
                    half,
                });
                self.uses.push(GraphStore {
                    after,
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

    /// Blocks that take a step each and go on to the next one; the last one exits.
    fn steps(count: u32) -> PointCfg {
        let block = |number: u32| PointBlock {
            instructions: Vec::new(),
            last_uses: Vec::new(),
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
            blocks: (0..count).map(block).collect(),
            live_out: None,
            entries: vec![CfgEntry {
                block: 0,
                at: 0,
                depth: 0,
            }],
        }
    }

    /// The steps that are taken at once, and the exits to where they are taken one by one.
    fn taken(cfg: &PointCfg) -> Vec<(u32, u32)> {
        let (ebbs, _) = extended_blocks(Optimisations::ALL, cfg, &mut OpTemplates::new(false));
        let events = ebbs.iter().flat_map(|ebb| &ebb.events);
        let steps = events.filter_map(|event| match &event.action {
            ControlAction::TakeSteps { steps, exit } => match exit.target {
                ExitTarget::Exit(exit) => Some((*steps, exit)),
                ExitTarget::Label(_) | ExitTarget::NextIteration => None,
            },
            _ => None,
        });
        steps.collect()
    }

    #[test]
    fn merged_steps_are_bounded() {
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
    fn steps_after_branches_stay_there() {
        let mut cfg = steps(6);
        cfg.blocks[2].terminator = PointTerminator::Branch(CondBranch {
            condition: Condition {
                test: None,
                operands: [DualOperand::default(); adumbra_ops::MAX_OPERANDS],
            },
            when: true,
            target: Edge::Exit(9),
            next: Edge::Block(3),
        });
        assert_eq!(taken(&cfg), [(2, 0), (3, 3)]);
    }
}
