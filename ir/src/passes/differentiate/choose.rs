//! Which primal values the reverse sweep keeps, and which it computes again.
//!
//! A value that the reverse sweep reads is *kept*, which costs writing and reading a word, or
//! *repeated*, which costs its instruction, and its operands must be there as well. The cheapest
//! choice for all values of a loop's iteration together is a minimum cut (Griewank and Walther
//! (2008), *Evaluating derivatives*, chapter 12, on the choice itself). Inner loops are cut first:
//! what they read of the outside must be there outside.
//!
//! In the body of a function, outside of ifs and loops, values are there anyway; but if the sweeps
//! are functions of their own that meet on the tape, the values of a call are like those of an
//! iteration.

use super::cut::{CutGraph, UNCUT};
use super::linear::Linear;
use super::shape::{Definition, Shape, Target};
use crate::module::*;
use crate::types::Scalar;
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;
use rustc_hash::FxHashMap;

/// How a value is there in the reverse sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is kept, for a reason.
    Keep(KeepReason),
    /// Its instruction is written again.
    Repeat,
    /// It is a loop's parameter that grows by a constant: where it begins, and the constant.
    Affine(RegionId, ValueId, ValueId),
}

/// Why a value is kept, rather than computed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepReason {
    /// It carries what earlier iterations of its loop computed.
    LoopCarried,
    /// It is an argument of the call.
    Argument,
    /// Its instruction cannot run again: it reads memory, calls, faults, or has regions.
    NotRepeatable,
    /// The shader writer prefers it: `[PreferCheckpoint]`.
    Preferred,
    /// Computing it again costs more than keeping it.
    Cheaper,
    /// There were too many values to find the cheapest choice.
    TooManyValues,
    /// It is there at the end of the forward sweep.
    AtHand,
    /// It says which way control took.
    ControlFlow,
    /// The reverse sweep of a call needs it.
    Call,
}

/// The cost of a kept value of a loop's iteration, in additions: a word goes to the tape and back.
const TAPE_COST: u32 = 6;

/// The cost of a kept value that an if or block hands out, in additions: a move in each arm.
const HANDED_COST: u32 = 2;

/// The cost of reading a number of a buffer again, in additions.
const READ_COST: u32 = 2;

/// A cost that is as good as any greater one.
const MAX_COST: u32 = 1 << 16;

/// Choices by value; those that nothing reads have none.
pub(super) struct Choices(FxHashMap<ValueId, Choice>);

impl Choices {
    /// Chooses for all values that reversing the touched instructions of a function reads;
    /// `on_tape` if what is kept at its end goes on the tape.
    pub(super) fn new(
        linear: &Linear,
        shape: &Shape,
        touched: &[bool],
        hints: &DerivativeHints,
        on_tape: bool,
    ) -> Choices {
        let function = &linear.function;
        let mut chooser = Chooser {
            linear,
            shape,
            hints,
            on_tape,
            read: FxHashMap::default(),
            choices: FxHashMap::default(),
            coefficient_costs: FxHashMap::default(),
        };
        // By loop, and by the body outside of loops; inner ones come after those around them.
        let mut groups = vec![None];
        function.for_each_region(|region| {
            if shape.loop_of(region) == Some(region) {
                groups.push(Some(region));
            }
            if touched[region.index()] {
                for (at, inst) in function.region(region).insts.iter().enumerate() {
                    let mut inner = inst.kind.regions().peekable();
                    if inner.peek().is_some() && !inner.any(|inner| touched[inner.index()]) {
                        continue;
                    }
                    linear.for_each_read((region, at), inst, |value| chooser.need(value));
                }
            }
        });
        for group in groups.into_iter().rev() {
            chooser.choose(group);
        }
        Choices(chooser.choices)
    }

    /// The choice for a value that the reverse sweep reads.
    pub(super) fn of(&self, value: ValueId) -> Choice {
        let choice = self.0.get(&value).copied();
        choice.unwrap_or(Choice::Keep(KeepReason::AtHand))
    }

    /// The reason why a value is kept.
    pub(super) fn reason(&self, value: ValueId) -> KeepReason {
        match self.of(value) {
            Choice::Keep(reason) => reason,
            Choice::Repeat | Choice::Affine(..) => KeepReason::AtHand,
        }
    }
}

struct Chooser<'a> {
    linear: &'a Linear,
    shape: &'a Shape,
    hints: &'a DerivativeHints,
    on_tape: bool,
    /// By innermost loop: the values of its iterations that must be there.
    read: FxHashMap<Option<RegionId>, Vec<ValueId>>,
    choices: FxHashMap<ValueId, Choice>,
    coefficient_costs: FxHashMap<ValueId, u32>,
}

/// How a value can be there without being kept.
enum Source<'a> {
    /// By an instruction that can run again at this cost.
    Inst(&'a Inst, u32),
    /// By the number of the iteration.
    Affine(Choice, [ValueId; 2]),
}

impl<'a> Chooser<'a> {
    fn group_of(&self, value: ValueId) -> Option<RegionId> {
        self.shape.loop_of(self.shape.region_of(value))
    }

    /// Whether a value is there at the end of the forward sweep, if it is kept at all.
    fn is_at_hand(&self, value: ValueId) -> bool {
        !self.on_tape && self.shape.region_of(value) == self.linear.function.body
    }

    fn need(&mut self, value: ValueId) {
        if self.is_at_hand(value) {
            let inst = self.shape.inst(&self.linear.function, value);
            if inst.is_some_and(|inst| inst.args.is_empty() && inst.kind.is_pure()) {
                self.choices.insert(value, Choice::Repeat);
            }
            return;
        }
        let group = self.group_of(value);
        self.read.entry(group).or_default().push(value);
    }

    /// Whether a value is chosen for among those of that loop's iterations.
    fn is_chosen_with(&self, group: Option<RegionId>, value: ValueId) -> bool {
        !self.is_at_hand(value) && self.group_of(value) == group
    }

    /// The cost of keeping a value: of the word, and of computing it in the forward sweep if only
    /// the reverse sweep reads it.
    fn kept_cost(&mut self, value: ValueId) -> u32 {
        let region = self.shape.region_of(value);
        let around = self.shape.loop_of(region);
        let tape = if self.on_tape || around.is_some() {
            TAPE_COST
        } else {
            0
        };
        let is_handed = region != around.unwrap_or(self.linear.function.body);
        let word = tape + if is_handed { HANDED_COST } else { 0 };
        let inst = self.shape.inst(&self.linear.function, value);
        match inst.and_then(|inst| self.hints.keeps(inst.span)) {
            // It is repeated if it can be.
            Some(false) => MAX_COST,
            _ => word + self.coefficient_cost(value),
        }
    }

    /// The cost of a coefficient in the forward sweep, with those that it is made of. What several
    /// are made of counts for each.
    fn coefficient_cost(&mut self, value: ValueId) -> u32 {
        let mut open = vec![value];
        while let Some(&value) = open.last() {
            let cost = match self.source(value) {
                Some(Source::Inst(inst, own)) if value.index() >= self.linear.primal_values => {
                    let before = open.len();
                    let known = &self.coefficient_costs;
                    open.extend(inst.args.iter().filter(|arg| !known.contains_key(arg)));
                    if open.len() > before {
                        continue;
                    }
                    // The forward sweep needs the value in any case.
                    let own = match inst.kind {
                        InstKind::WithSlopes(_) => 0,
                        _ => own,
                    };
                    let parts = inst.args.iter().map(|arg| known[arg]);
                    parts.fold(own, u32::saturating_add).min(MAX_COST)
                }
                _ => 0,
            };
            self.coefficient_costs.insert(value, cost);
            open.pop();
        }
        self.coefficient_costs[&value]
    }

    fn source(&self, value: ValueId) -> Option<Source<'a>> {
        match self.shape.definition(value) {
            Definition::Param(position) => self.affine(value, position),
            Definition::Inst(at) => {
                let region = self.shape.region_of(value);
                let inst = &self.linear.function.region(region).insts[at];
                let cost = match inst.kind {
                    InstKind::Const(_)
                    | InstKind::Global(..)
                    | InstKind::BufferLength(_)
                    | InstKind::Resource(_) => 0,
                    InstKind::Buffer(..) => READ_COST,
                    InstKind::Detach => 1,
                    InstKind::Op(_) if !inst.kind.is_pure() => return None,
                    InstKind::Op(_) | InstKind::WithSlopes(_)
                        if self.hints.keeps(inst.span) == Some(true) =>
                    {
                        MAX_COST
                    }
                    InstKind::Op(op) | InstKind::WithSlopes(op) => cost_of(op),
                    _ => return None,
                };
                Some(Source::Inst(inst, cost))
            }
        }
    }

    /// Chooses for the values of one loop's iterations, inner loops excluded.
    fn choose(&mut self, group: Option<RegionId>) {
        let Some(mut read) = self.read.remove(&group) else {
            return;
        };
        read.sort_unstable();
        read.dedup();
        let mut graph = CutGraph::new();
        let mut nodes: FxHashMap<ValueId, [u32; 2]> = FxHashMap::default();
        let mut order = Vec::new();
        let mut open = Vec::new();
        // Of each value a node that is on the source's side if it is there, and one if it is
        // repeated.
        for value in read {
            let [there, _] = node(&mut graph, &mut nodes, &mut open, value);
            graph.edge(CutGraph::SOURCE, there, UNCUT);
        }
        while let Some(value) = open.pop() {
            order.push(value);
            let [there, repeated] = nodes[&value];
            let kept = self.kept_cost(value);
            let Some(source) = self.source(value) else {
                graph.edge(there, CutGraph::SINK, kept);
                continue;
            };
            let (operands, cost): (&[ValueId], u32) = match &source {
                Source::Inst(inst, cost) => (&inst.args, *cost),
                Source::Affine(_, operands) => (operands, AFFINE_COST),
            };
            graph.edge(there, repeated, kept);
            graph.edge(repeated, CutGraph::SINK, cost);
            for &operand in operands {
                if self.is_chosen_with(group, operand) {
                    let [operand, _] = node(&mut graph, &mut nodes, &mut open, operand);
                    graph.edge(repeated, operand, UNCUT);
                }
            }
        }
        let sides = graph.cut();
        for value in order {
            let [there, repeated] = nodes[&value];
            let source = self.source(value);
            let (is_there, is_repeated) = match &sides {
                Some(sides) => (sides[there as usize], sides[repeated as usize]),
                // Too much to choose from: all is kept that can be kept only, or is not free.
                None => (
                    true,
                    matches!(&source, Some(Source::Inst(inst, 0)) if inst.args.is_empty()),
                ),
            };
            if !is_there {
                continue;
            }
            let choice = match source {
                Some(source) if is_repeated => {
                    let (choice, operands): (_, &[ValueId]) = match &source {
                        Source::Inst(inst, _) => (Choice::Repeat, &inst.args),
                        Source::Affine(choice, operands) => (*choice, operands),
                    };
                    for &operand in operands {
                        if !self.is_chosen_with(group, operand) {
                            self.need(operand);
                        }
                    }
                    choice
                }
                source => Choice::Keep(self.reason(value, source, sides.is_some())),
            };
            self.choices.insert(value, choice);
        }
    }

    /// Why a value is kept that this could also bring back; `is_cut` if a cut chose it.
    fn reason(&self, value: ValueId, source: Option<Source<'_>>, is_cut: bool) -> KeepReason {
        match (source, self.shape.definition(value)) {
            (None, Definition::Param(_))
                if self.shape.region_of(value) == self.linear.function.body =>
            {
                KeepReason::Argument
            }
            (None, Definition::Param(_)) => KeepReason::LoopCarried,
            (None, Definition::Inst(_)) => KeepReason::NotRepeatable,
            (Some(Source::Inst(inst, _)), _) if self.hints.keeps(inst.span) == Some(true) => {
                KeepReason::Preferred
            }
            (Some(_), _) if is_cut => KeepReason::Cheaper,
            (Some(_), _) => KeepReason::TooManyValues,
        }
    }

    /// A loop's parameter that grows by a constant in each iteration.
    fn affine(&self, value: ValueId, position: usize) -> Option<Source<'a>> {
        let (function, shape) = (&self.linear.function, self.shape);
        let region = shape.region_of(value);
        if function.value(value).ty != Scalar::I32 {
            return None;
        }
        let begin = *shape.loop_inst(function, region)?.args.get(position)?;
        let inst = |value: ValueId| shape.inst(function, value);
        let mut step: Option<ValueId> = None;
        for &site in shape.ends(Target::Continue(region)) {
            let end = function.terminator(shape.region_at(site));
            let next = inst(end.args[position])?;
            if next.kind != InstKind::Op(Op::IAdd) || next.args[0] != value {
                return None;
            }
            let constant = inst(next.args[1])?;
            let is_same = |step| inst(step).is_some_and(|step| step.kind == constant.kind);
            if !matches!(constant.kind, InstKind::Const(_)) || !step.is_none_or(is_same) {
                return None;
            }
            step = Some(next.args[1]);
        }
        let step = step?;
        let choice = Choice::Affine(region, begin, step);
        Some(Source::Affine(choice, [begin, step]))
    }
}

/// The nodes of a value, which is looked at later if it is new.
fn node(
    graph: &mut CutGraph,
    nodes: &mut FxHashMap<ValueId, [u32; 2]>,
    open: &mut Vec<ValueId>,
    value: ValueId,
) -> [u32; 2] {
    *nodes.entry(value).or_insert_with(|| {
        open.push(value);
        [graph.node(), graph.node()]
    })
}

/// The cost of a loop's parameter from the number of the iteration, in additions.
const AFFINE_COST: u32 = 2;

/// The cost of an op, in additions.
fn cost_of(op: Op) -> u32 {
    let info = op.info();
    match info.class {
        _ if info.shares_shadow_routine => 100,
        _ if matches!(op, Op::Div | Op::Sqrt) => 4,
        OpClass::Smooth => 12,
        _ => 1,
    }
}
