//! The shadow flow graph of one function.
//!
//! A node can have shadows: a float value, an array of floats (one lane set for all its elements),
//! a result of the function. An edge leads from `a` to `b` if a shadow of `a` can become part of
//! one of `b`: through an op whose partial is not zero everywhere and that is not dropped, a
//! `Yield`, `Break`, `Continue` or `Return`, a store or load, a call by its callee's
//! [`ShadowSummary`]. Conditions, indices, casts to int, samples and `Shadow` itself are no edges.
//!
//! Lineage follows the edges, demand goes against them; both read this graph and nothing else. It
//! is built once for each function, in linear time, and serves all its variants.

use super::dataflow::{FlowEdges, FlowNode, Joins};
use super::flow_signature::{FlowSignature, FlowSlot, INS, SOURCE, ShadowSummary};
use super::memory_reads::MemoryReads;
use crate::instruction::Effect;
use crate::module::*;
use crate::types::{Direction, Lanes, Scalar};
use adumbra_ops::{MAX_OPERANDS, Op, OpSet};

/// The graph of one function, with its sources and seeds. Nodes are values by their id, then
/// arrays, then results, then joints of calls.
#[derive(Debug)]
pub(super) struct ShadowFlow<'m> {
    /// The function.
    pub(super) function: &'m Function,
    /// Edges forwards.
    pub(super) forward: FlowEdges,
    /// The same edges backwards.
    pub(super) backward: FlowEdges,
    /// Sources of shadows: floats of globals, values with given shadows, and results of calls whose
    /// callee has sources.
    pub(super) sources: Vec<FlowNode>,
    /// Seeds of demand: the places where shadows are read.
    pub(super) seeds: Vec<DemandSeed>,
    /// Every call and its callee, region by region in the order of [`Function::for_each_region`].
    pub(super) calls: Vec<(FuncId, &'m Inst)>,
}

/// A read of shadows as values.
#[derive(Clone, Copy, Debug)]
pub(super) struct DemandSeed {
    /// The node that is read.
    pub(super) node: FlowNode,
    /// The shadows that are read.
    pub(super) lanes: Lanes,
}

/// The node of an array.
pub(super) fn array_node(function: &Function, array: ArrayId) -> FlowNode {
    function.values.len() as u32 + array.0
}

/// The node of a function's result, after those of values and arrays.
pub(super) fn result_node(function: &Function, result: u32) -> FlowNode {
    (function.values.len() + function.arrays.len()) as u32 + result
}

/// The node, inside a function, of one of its ins.
pub(super) fn inner_in(function: &Function, slot: FlowSlot) -> FlowNode {
    match slot {
        FlowSlot::Scalar(i) => function.params()[i as usize].0,
        FlowSlot::Array(i) => array_node(function, ArrayId(i)),
    }
}

/// The node, inside a function, of one of its outs.
pub(super) fn inner_out(function: &Function, slot: FlowSlot) -> FlowNode {
    match slot {
        FlowSlot::Scalar(i) => result_node(function, i),
        FlowSlot::Array(i) => array_node(function, ArrayId(i)),
    }
}

/// The node, in the caller, of one of a call's ins.
pub(super) fn outer_in(caller: &Function, call: &Inst, slot: FlowSlot) -> FlowNode {
    match slot {
        FlowSlot::Scalar(i) => call.args[i as usize].0,
        FlowSlot::Array(i) => outer_array(caller, call, i),
    }
}

/// The node, in the caller, of one of a call's outs.
pub(super) fn outer_out(caller: &Function, call: &Inst, slot: FlowSlot) -> FlowNode {
    match slot {
        FlowSlot::Scalar(i) => call.results.first.0 + i,
        FlowSlot::Array(i) => outer_array(caller, call, i),
    }
}

fn outer_array(caller: &Function, call: &Inst, i: u32) -> FlowNode {
    match &call.kind {
        InstKind::Call(_, arrays) => array_node(caller, arrays[i as usize]),
        _ => unreachable!("a call"),
    }
}

/// The options of all graphs of a module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowOptions {
    /// Whether globals have shadows at all.
    pub(super) sources: bool,
    /// Whether the directions demanded in either arm of an outermost `If` are demanded in both, for
    /// every demand inside (`--merge-demand`).
    pub(super) merge_arms: bool,
    /// Ops that let no shadow pass.
    pub(super) dropped: OpSet,
}

/// The options of building a graph.
pub(super) struct Wiring<'a> {
    /// Those of all graphs.
    pub(super) options: FlowOptions,
    /// The callees, if shadows are to be followed through calls.
    pub(super) callees: Option<(&'a [FlowSignature], &'a [ShadowSummary])>,
    /// If the graph is to be that of derivatives of functions: no edge passes a `Detach`, one
    /// passes a `Shadow`, and a call joins all its ins with all its outs. That of
    /// [tangents along the screen](crate::derivative::Recipe::screen) is that of shadows, but for
    /// calls.
    pub(super) derivative: Option<DerivativeWiring<'a>>,
}

impl Wiring<'_> {
    /// Whether it is of derivatives by parameters, which a `Detach` cuts.
    fn cuts(&self) -> bool {
        self.derivative
            .is_some_and(|derivative| derivative.screen.is_none())
    }

    /// Whether shadows in this direction are read.
    fn reads(&self, direction: Direction) -> bool {
        let screen = self.derivative.and_then(|derivative| derivative.screen);
        screen.is_none_or(|along| along == direction)
    }

    /// Whether regions pass on what values of a type have beside them.
    fn passes(&self, ty: Scalar) -> bool {
        match self.derivative {
            Some(derivative) => derivative.rules.has_tangents(ty),
            None => ty == Scalar::F32,
        }
    }
}

/// What has a tangent, by a set of derivative rules.
pub(super) trait TangentRules {
    /// By operand: whether the tangent of an op's result can depend on that of the operand. The
    /// bits of some operands are known.
    fn carries(&self, op: Op, constants: [Option<u32>; MAX_OPERANDS]) -> [bool; MAX_OPERANDS];

    /// Whether values of a type have tangents within a function; in arrays, in records, and in what
    /// calls pass, only floats have.
    fn has_tangents(&self, ty: Scalar) -> bool;
}

/// What calls do in the graph of derivatives of functions.
#[derive(Clone, Copy)]
pub(super) struct DerivativeWiring<'a> {
    /// All functions of the module.
    pub(super) functions: &'a [Function],
    /// By function: whether it keeps or takes what another takes or kept.
    pub(super) uses_tape: &'a [bool],
    /// The derivative rules of ops.
    pub(super) rules: &'a dyn TangentRules,
    /// The memory of the host that functions read.
    pub(super) reads: &'a MemoryReads,
    /// The direction of tangents along the screen.
    pub(super) screen: Option<Direction>,
    /// By function: the directions of the shadows that it reads, itself or by those that it calls.
    pub(super) shadows: &'a [Lanes],
}

impl DerivativeWiring<'_> {
    /// Whether a function reads shadows that are tangents here, itself or by those that it calls.
    pub(super) fn reads_shadows(&self, function: FuncId) -> bool {
        let reads = |direction| self.shadows[function.index()].has(direction);
        self.screen.is_some_and(reads)
    }
}

impl<'m> ShadowFlow<'m> {
    /// The graph of a function.
    pub(super) fn new(function: &'m Function, wiring: &Wiring<'_>) -> ShadowFlow<'m> {
        let mut build = Build {
            function,
            edges: Vec::with_capacity(function.values.len() * 2),
            nodes: result_node(function, function.results.len() as u32),
            joins: Joins::new(function),
            arms: vec![NO_ARM; function.regions.len()],
            unions: Vec::new(),
            sources: Vec::new(),
            seeds: Vec::new(),
            calls: Vec::new(),
            constants: vec![None; function.values.len()],
        };
        function.for_each_region(|region| build.region(region, wiring));
        let Build {
            edges,
            nodes,
            mut seeds,
            ..
        } = build;
        if wiring.options.merge_arms {
            for (arm, seed) in &mut seeds {
                if let Some(&union) = build.unions.get(*arm as usize) {
                    seed.lanes = union;
                }
            }
        }
        ShadowFlow {
            function,
            forward: FlowEdges::new(nodes, &edges, |&(from, to)| (from, to)),
            backward: FlowEdges::new(nodes, &edges, |&(from, to)| (to, from)),
            sources: build.sources,
            seeds: seeds.into_iter().map(|(_, seed)| seed).collect(),
            calls: build.calls,
        }
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.forward.nodes()
    }
}

const NO_ARM: u32 = u32::MAX;

struct Build<'m> {
    function: &'m Function,
    edges: Vec<(FlowNode, FlowNode)>,
    nodes: u32,
    joins: Joins,
    /// By region: the outermost `If` around it, counted through the function.
    arms: Vec<u32>,
    /// By outermost `If`: the directions demanded inside.
    unions: Vec<Lanes>,
    sources: Vec<FlowNode>,
    seeds: Vec<(u32, DemandSeed)>,
    calls: Vec<(FuncId, &'m Inst)>,
    /// By value: its bits, if it is a constant.
    constants: Vec<Option<u32>>,
}

impl<'m> Build<'m> {
    fn region(&mut self, id: RegionId, wiring: &Wiring<'_>) {
        let arm = self.arms[id.index()];
        let function = self.function;
        for inst in &function.region(id).insts {
            let edges = &mut self.edges;
            self.joins.for_each(function, id, inst, |from, to| {
                if wiring.passes(function.value(to).ty) {
                    edges.push((from.0, to.0));
                }
            });
            match &inst.kind {
                InstKind::Op(op)
                    if (op.info().is_differentiable() || wiring.derivative.is_some())
                        && !wiring.options.dropped.contains(*op) =>
                {
                    let mut constants = [None; MAX_OPERANDS];
                    for (constant, arg) in constants.iter_mut().zip(&inst.args) {
                        *constant = self.constants[arg.index()];
                    }
                    let carries = match wiring.derivative {
                        Some(derivative) => derivative.rules.carries(*op, constants),
                        None => op.passes_shadows_given(constants),
                    };
                    for (&arg, carries) in inst.args.iter().zip(carries) {
                        if carries {
                            self.edge(arg.0, inst.results.first.0);
                        }
                    }
                }
                InstKind::WithSlopes(op) if wiring.derivative.is_none() => {
                    // A slope depends on what the value does.
                    let carries = op.passes_shadows_given([None; MAX_OPERANDS]);
                    let dropped = usize::from(wiring.options.dropped.contains(*op));
                    for (&arg, _) in inst.args.iter().zip(carries).filter(|arg| arg.1) {
                        for result in inst.results.iter().skip(dropped) {
                            self.edge(arg.0, result.0);
                        }
                    }
                }
                InstKind::Const(bits) => {
                    self.constants[inst.results.first.index()] = Some(*bits);
                }
                InstKind::Global(..)
                    if wiring.options.sources && self.is_float(inst.results.first) =>
                {
                    self.sources.push(inst.results.first.0);
                }
                InstKind::Attach if wiring.derivative.is_none() => {
                    self.sources.push(inst.results.first.0);
                }
                InstKind::Detach if wiring.cuts() => {}
                InstKind::Detach => self.edge(inst.args[0].0, inst.results.first.0),
                InstKind::Shadow(_) if wiring.cuts() => {
                    self.edge(inst.args[0].0, inst.results.first.0);
                }
                InstKind::Shadow(direction) if wiring.reads(*direction) => {
                    self.seed(arm, inst.args[0].0, direction.lanes());
                }
                InstKind::Sample(_, MipSelection::Shadows, _) if wiring.derivative.is_none() => {
                    for &arg in &inst.args {
                        self.seed(arm, arg.0, Lanes::XY);
                    }
                }
                InstKind::Load(array) => {
                    let array = array_node(function, *array);
                    self.float_edge(array, inst.results.first);
                }
                InstKind::Store(array) if self.is_float(inst.args[1]) => {
                    self.edge(inst.args[1].0, array_node(function, *array));
                }
                InstKind::ArrayCopy { to, from } => {
                    self.edge(array_node(function, *from), array_node(function, *to));
                }
                InstKind::Call(callee, _) => {
                    if let Some((signatures, summaries)) = wiring.callees {
                        let at = callee.index();
                        self.call(arm, inst, &signatures[at], &summaries[at]);
                    }
                    if let Some(derivative) = wiring.derivative {
                        let function = &derivative.functions[callee.index()];
                        if !function.custom.is_zero || derivative.screen.is_some() {
                            self.join(arm, inst, *callee, derivative);
                        }
                    }
                    self.calls.push((*callee, inst));
                }
                InstKind::If(then, other) => {
                    let union = match arm {
                        NO_ARM => {
                            self.unions.push(Lanes::NONE);
                            self.unions.len() as u32 - 1
                        }
                        outer => outer,
                    };
                    self.arms[then.index()] = union;
                    self.arms[other.index()] = union;
                }
                InstKind::Loop(body) | InstKind::Block(body) => self.arms[body.index()] = arm,
                InstKind::Return => {
                    for (i, &arg) in (0..).zip(&inst.args) {
                        if self.is_float(arg) {
                            self.edge(arg.0, result_node(function, i));
                        }
                    }
                }
                // Any function may take what this one keeps.
                kind if kind.effect() == Effect::UsesTape => {
                    for &arg in &inst.args {
                        if self.is_float(arg) {
                            self.seed(arm, arg.0, Lanes::XY);
                        }
                    }
                    if wiring.options.sources || wiring.derivative.is_some() {
                        let floats = inst
                            .results
                            .iter()
                            .filter(|&r| function.value(r).ty == Scalar::F32);
                        self.sources.extend(floats.map(|value| value.0));
                    }
                }
                // Nothing else hands shadows on.
                _ => {}
            }
        }
    }

    fn is_float(&self, value: ValueId) -> bool {
        self.function.value(value).ty == Scalar::F32
    }

    fn edge(&mut self, from: FlowNode, to: FlowNode) {
        self.edges.push((from, to));
    }

    fn float_edge(&mut self, from: FlowNode, to: ValueId) {
        if self.is_float(to) {
            self.edge(from, to.0);
        }
    }

    fn seed(&mut self, arm: u32, node: FlowNode, lanes: Lanes) {
        if let Some(union) = self.unions.get_mut(arm as usize) {
            *union |= lanes;
        }
        self.seeds.push((arm, DemandSeed { node, lanes }));
    }

    /// Edges from everything that goes into a call to everything that comes out.
    fn join(&mut self, arm: u32, call: &Inst, callee: FuncId, derivative: DerivativeWiring<'_>) {
        let signature = &FlowSignature::new(&derivative.functions[callee.index()]);
        let uses_tape = derivative.uses_tape[callee.index()];
        let is_read = uses_tape || derivative.reads_shadows(callee);
        let joint = self.nodes;
        self.nodes += 1;
        for &slot in &signature.ins {
            let from = outer_in(self.function, call, slot);
            self.edge(from, joint);
            if is_read {
                self.seed(arm, from, Lanes::XY);
            }
        }
        for &slot in &signature.outs {
            let to = outer_out(self.function, call, slot);
            self.edge(joint, to);
            if uses_tape {
                self.sources.push(to);
            }
        }
    }

    fn call(&mut self, arm: u32, call: &Inst, signature: &FlowSignature, summary: &ShadowSummary) {
        let function = self.function;
        for (&slot, &wants) in signature.ins.iter().zip(&summary.demanded) {
            if !wants.is_none() {
                self.seed(arm, outer_in(function, call, slot), wants);
            }
        }
        // Parameters that share a bit meet in a joint node, so that the edges stay few.
        let exact = signature.ins.len().min(INS.shared);
        let (own, shared) = signature.ins.split_at(exact);
        let joint = self.nodes;
        if !shared.is_empty() {
            self.nodes += 1;
            for &slot in shared {
                self.edge(outer_in(function, call, slot), joint);
            }
        }
        for (&slot, &flow) in signature.outs.iter().zip(&summary.flow) {
            let to = outer_out(function, call, slot);
            if flow & SOURCE != 0 {
                self.sources.push(to);
            }
            if flow & INS.of(INS.shared) != 0 && !shared.is_empty() {
                self.edge(joint, to);
            }
            for (i, &from) in own.iter().enumerate() {
                if flow & INS.of(i) != 0 {
                    self.edge(outer_in(function, call, from), to);
                }
            }
        }
    }
}
