//! Which values, arrays and results are 0 whatever the tangents are.
//!
//! A product with 0 counts as 0, as it has no derivative either. The greatest solution is found: a
//! value that ways join is 0 if all that is joined is, also around a loop. An array is 0 if all
//! that is ever written to it is. Calls are followed for each set of arguments that are 0, as deep
//! as [`MAX_ZERO_CALLS`] and for [`MAX_ZERO_SETS`] sets of a function; beyond, and around a cycle
//! of calls, results are not taken for 0.

use crate::module::*;
use crate::passes::dataflow::{FlowEdges, Joins};
use crate::passes::shadow_flow::{array_node, result_node};
use crate::types::Scalar;
use adumbra_ops::{MAX_OPERANDS, Op};
use rustc_hash::FxHashMap;

/// How many calls within each other are followed.
pub const MAX_ZERO_CALLS: usize = 64;

/// For how many sets of arguments that are 0 a function is followed.
pub const MAX_ZERO_SETS: usize = 16;

/// What of a function is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZeroSlots {
    /// By value, then by array, then by result.
    nodes: Vec<bool>,
    values: usize,
}

impl ZeroSlots {
    pub(super) fn value(&self, value: ValueId) -> bool {
        self.nodes[value.index()]
    }

    pub(super) fn array(&self, array: ArrayId) -> bool {
        self.nodes[self.values + array.index()]
    }

    /// What a call passes that is 0, of its floats: by scalar parameter, then by array.
    pub(super) fn passed(&self, caller: &Function, call: &Inst, arrays: &[ArrayId]) -> Vec<bool> {
        let is_float = |&arg: &ValueId| caller.value(arg).ty == Scalar::F32;
        let scalars = call.args.iter();
        let scalars = scalars.map(|arg| is_float(arg) && self.value(*arg));
        scalars
            .chain(arrays.iter().map(|&array| self.array(array)))
            .collect()
    }
}

/// A function, and what is 0 of its parameters.
type Call = (FuncId, Vec<bool>);

/// The analysis of a module whose functions have their bodies.
pub(super) struct Zeros<'m> {
    module: &'m Module,
    /// By function, for each set of its parameters that are 0: which of its results, then of its
    /// array parameters, are 0 after it.
    known: FxHashMap<FuncId, FxHashMap<Vec<bool>, Vec<bool>>>,
    /// The calls that are being followed.
    open: Vec<Call>,
}

/// What makes a node another value than 0, if one that leads to it is none.
#[derive(Clone, Copy)]
enum Maker<'f> {
    Any,
    Op(&'f Inst),
    Call(&'f Inst, FuncId, &'f [ArrayId]),
}

impl<'m> Zeros<'m> {
    pub(super) fn new(module: &'m Module) -> Zeros<'m> {
        Zeros {
            module,
            known: FxHashMap::default(),
            open: Vec::new(),
        }
    }

    /// What of a function is 0, if these of its parameters are.
    pub(super) fn of(&mut self, function: &Function, joins: &Joins, ins: &[bool]) -> ZeroSlots {
        let mut graph = Graph::new(function);
        graph.add_params(ins);
        function.for_each_region(|region| {
            for inst in &function.region(region).insts {
                joins.for_each(function, region, inst, |from, to| {
                    graph.edges.push((from.0, to.0));
                });
                graph.add(inst);
            }
        });
        self.solve(graph)
    }

    fn solve(&mut self, graph: Graph<'_>) -> ZeroSlots {
        let Graph {
            function,
            edges,
            makers,
            mut open,
            calls,
        } = graph;
        let nodes = makers.len();
        let mut slots = ZeroSlots {
            nodes: vec![true; nodes],
            values: function.values.len(),
        };
        let users = FlowEdges::new(nodes as u32, &edges, |&edge| edge);
        let mut is_waiting = vec![false; nodes];
        let mut waiting: Vec<u32> = calls;
        for &call in &waiting {
            is_waiting[call as usize] = true;
        }
        for &node in &open {
            slots.nodes[node as usize] = false;
        }
        loop {
            while let Some(node) = open.pop() {
                for &user in users.from(node) {
                    let stays = match makers[user as usize] {
                        Maker::Any => false,
                        Maker::Op(inst) => is_zero(inst, &slots),
                        Maker::Call(..) => {
                            if !std::mem::replace(&mut is_waiting[user as usize], true) {
                                waiting.push(user);
                            }
                            true
                        }
                    };
                    if slots.nodes[user as usize] && !stays {
                        slots.nodes[user as usize] = false;
                        open.push(user);
                    }
                }
            }
            let Some(call) = waiting.pop() else {
                break;
            };
            is_waiting[call as usize] = false;
            let Maker::Call(inst, callee, arrays) = makers[call as usize] else {
                continue;
            };
            let outs = self.outs(callee, slots.passed(function, inst, arrays));
            let given = inst.results.iter().map(|result| result.0);
            let given = given.chain(arrays.iter().map(|&array| array_node(function, array)));
            for (node, is_zero) in given.zip(outs) {
                if slots.nodes[node as usize] && !is_zero {
                    slots.nodes[node as usize] = false;
                    open.push(node);
                }
            }
        }
        slots
    }

    /// Of a callee's results, then of its arrays, which are 0 after a call.
    fn outs(&mut self, callee: FuncId, ins: Vec<bool>) -> Vec<bool> {
        let function = self.module.function(callee);
        let arrays = function.array_params().count() as u32;
        let known = self.known.entry(callee).or_default();
        if let Some(known) = known.get(&ins) {
            return known.clone();
        }
        let has_sets = known.len() >= MAX_ZERO_SETS;
        let call = (callee, ins);
        let is_cut = has_sets || self.open.len() >= MAX_ZERO_CALLS || self.open.contains(&call);
        // Nothing is known of a body that is not there yet.
        if is_cut || function.recipe.is_some() {
            return vec![false; function.results.len() + arrays as usize];
        }
        self.open.push(call.clone());
        let slots = self.of(function, &Joins::new(function), &call.1);
        let (_, ins) = self.open.pop().expect("it was pushed");
        let results = (0..function.results.len() as u32).map(|k| result_node(function, k));
        let outs = results.map(|node| slots.nodes[node as usize]);
        let outs: Vec<bool> = outs
            .chain((0..arrays).map(|array| slots.array(ArrayId(array))))
            .collect();
        self.known
            .entry(callee)
            .or_default()
            .insert(ins, outs.clone());
        outs
    }
}

/// What leads to what in a function. Nodes are values, arrays, results, then calls.
struct Graph<'f> {
    function: &'f Function,
    edges: Vec<(u32, u32)>,
    makers: Vec<Maker<'f>>,
    /// Nodes that are not 0.
    open: Vec<u32>,
    calls: Vec<u32>,
}

impl<'f> Graph<'f> {
    fn new(function: &'f Function) -> Graph<'f> {
        let nodes = result_node(function, function.results.len() as u32);
        Graph {
            function,
            edges: Vec::new(),
            makers: vec![Maker::Any; nodes as usize],
            open: Vec::new(),
            calls: Vec::new(),
        }
    }

    fn add_params(&mut self, ins: &[bool]) {
        let function = self.function;
        let params = function.params().iter().map(|param| param.0);
        let arrays = (0..).map(ArrayId).zip(function.array_params());
        let arrays = arrays.map(|(id, array)| (array_node(function, id), array.mode));
        let slots = params.map(|node| (node, None)).chain(arrays);
        for ((node, mode), is_zero) in slots.zip(ins) {
            if !is_zero && mode != Some(PassingMode::Out) {
                self.open.push(node);
            }
        }
    }

    fn add(&mut self, inst: &'f Inst) {
        let function = self.function;
        let node = |array: &ArrayId| array_node(function, *array);
        let result = inst.results.first;
        match &inst.kind {
            InstKind::Const(bits) if bits << 1 == 0 => {}
            InstKind::Op(op) if zero_by(*op, |_| true).is_some() => {
                self.makers[result.index()] = Maker::Op(inst);
                (self.edges).extend(inst.args.iter().map(|arg| (arg.0, result.0)));
            }
            InstKind::Detach => self.edges.push((inst.args[0].0, result.0)),
            InstKind::Load(array) => self.edges.push((node(array), result.0)),
            InstKind::Store(array) => self.edges.push((inst.args[1].0, node(array))),
            InstKind::ArrayCopy { to, from } => self.edges.push((node(from), node(to))),
            InstKind::Call(callee, arrays) => {
                let call = self.makers.len() as u32;
                self.makers.push(Maker::Call(inst, *callee, arrays));
                self.calls.push(call);
                let passed = inst.args.iter().map(|arg| arg.0);
                let passed = passed.chain(arrays.iter().map(node));
                self.edges.extend(passed.map(|from| (from, call)));
            }
            InstKind::Return => {
                let results = (0..).map(|k| result_node(function, k));
                let args = inst.args.iter().map(|arg| arg.0);
                self.edges.extend(args.zip(results));
            }
            kind if kind.regions().next().is_some() => {}
            _ => self.open.extend(inst.results.iter().map(|value| value.0)),
        }
    }
}

/// Whether an instruction gives 0.
fn is_zero(inst: &Inst, slots: &ZeroSlots) -> bool {
    let InstKind::Op(op) = inst.kind else {
        return false;
    };
    zero_by(op, |at| slots.value(inst.args[at])) == Some(true)
}

/// Whether an op gives 0, by which operands are 0; `None` if they do not decide it.
fn zero_by(op: Op, is_zero: impl Fn(usize) -> bool) -> Option<bool> {
    match op {
        Op::Mul | Op::StrongMul => Some(is_zero(0) || is_zero(1)),
        Op::Neg | Op::Div => Some(is_zero(0)),
        Op::Add | Op::Sub | Op::Mix => Some(is_zero(0) && is_zero(1)),
        Op::Select => Some(is_zero(1) && is_zero(2)),
        _ => keeps_zero(op).then(|| (0..op.arity()).all(is_zero)),
    }
}

/// Whether the value of an op is 0 wherever all operands are, of either sign.
fn keeps_zero(op: Op) -> bool {
    let mut words = [0; MAX_OPERANDS];
    let words = &mut words[..op.arity()];
    (0..1_u32 << words.len()).all(|signs| {
        for (at, word) in words.iter_mut().enumerate() {
            *word = (signs >> at & 1) << 31;
        }
        !op.faults(words) && op.value(words) << 1 == 0
    })
}
