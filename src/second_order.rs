//! Which outputs depend on a derivative: their own derivatives are second order.
//!
//! Derivatives of derivatives count as zero (with a warning where they are asked for), so a session that prints every result with its
//! derivatives has to know where that zero would be a lie. The way of the data is followed through the module as lowered, floats only: a
//! condition or an index that was computed from a derivative passes nothing on.

use adumbra_ir::Scalar;
use adumbra_ir::module::{ArrayId, Function, InstKind, Module, ValueId};

/// Per scalar of the outputs, whether it depends on a derivative.
pub(crate) fn outputs(module: &Module) -> Vec<bool> {
    let mut graph = Graph::new(module);
    for (index, function) in module.functions.iter().enumerate() {
        graph.add_function(module, index, function);
    }
    let reached = graph.reached();
    let entry = module.entry.index();
    let results = 0..module.functions[entry].results.len();
    results.map(|i| reached[graph.result(entry, i)]).collect()
}

/// Where each function's nodes begin: its values, then its arrays, then its results.
struct Bases {
    values: usize,
    arrays: usize,
    results: usize,
}

/// Floats, arrays and results of all functions, with an edge wherever one becomes part of another.
struct Graph {
    bases: Vec<Bases>,
    nodes: usize,
    edges: Vec<(u32, u32)>,
    derivatives: Vec<u32>,
}

impl Graph {
    fn new(module: &Module) -> Graph {
        let mut nodes = 0;
        let bases = module.functions.iter().map(|function| {
            let values = nodes;
            let arrays = values + function.values.len();
            let results = arrays + function.arrays.len();
            nodes = results + function.results.len();
            Bases {
                values,
                arrays,
                results,
            }
        });
        Graph {
            bases: bases.collect(),
            nodes,
            edges: Vec::new(),
            derivatives: Vec::new(),
        }
    }

    fn value(&self, function: usize, value: ValueId) -> usize {
        self.bases[function].values + value.index()
    }

    fn array(&self, function: usize, array: ArrayId) -> usize {
        self.bases[function].arrays + array.index()
    }

    fn result(&self, function: usize, result: usize) -> usize {
        self.bases[function].results + result
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.edges.push((from as u32, to as u32));
    }

    /// Edges from each value to the one that it becomes.
    fn edges(
        &mut self,
        at: usize,
        from: impl IntoIterator<Item = ValueId>,
        to: impl IntoIterator<Item = ValueId>,
    ) {
        for (from, to) in from.into_iter().zip(to) {
            self.edge(self.value(at, from), self.value(at, to));
        }
    }

    fn add_function(&mut self, module: &Module, at: usize, function: &Function) {
        // What `Yield` and `Break` give their values to, per region.
        let mut owners = vec![None; function.regions.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            for region in inst.kind.regions() {
                owners[region.index()] = Some(inst.results);
            }
        }
        let given_to = |region: usize| owners[region].into_iter().flat_map(|r| r.iter());
        for (region, inst) in function
            .regions
            .iter()
            .enumerate()
            .flat_map(|(i, region)| region.insts.iter().map(move |inst| (i, inst)))
        {
            let args = || inst.args.iter().copied();
            match &inst.kind {
                InstKind::Shadow(_) => {
                    let node = self.value(at, inst.results.first);
                    self.derivatives.push(node as u32);
                }
                InstKind::Op(_) => {
                    let result = inst.results.first;
                    let floats = args().filter(|&arg| function.value(arg).ty == Scalar::F32);
                    for arg in floats {
                        self.edge(self.value(at, arg), self.value(at, result));
                    }
                }
                InstKind::Load(array) => {
                    self.edge(self.array(at, *array), self.value(at, inst.results.first));
                }
                InstKind::Store(array) => {
                    self.edge(self.value(at, inst.args[1]), self.array(at, *array));
                }
                InstKind::ArrayCopy { to, from } => {
                    self.edge(self.array(at, *from), self.array(at, *to));
                }
                InstKind::Call(callee, arrays) => {
                    let callee_index = callee.index();
                    let callee = module.function(*callee);
                    for (arg, &param) in args().zip(callee.params()) {
                        self.edge(self.value(at, arg), self.value(callee_index, param));
                    }
                    for (i, result) in inst.results.iter().enumerate() {
                        self.edge(self.result(callee_index, i), self.value(at, result));
                    }
                    for (i, &array) in (0..).zip(arrays.iter()) {
                        let outside = self.array(at, array);
                        let inside = self.array(callee_index, ArrayId(i));
                        self.edge(outside, inside);
                        self.edge(inside, outside);
                    }
                }
                InstKind::Loop(body) => {
                    let params = function.region(*body).params.iter().copied();
                    self.edges(at, args(), params);
                }
                InstKind::Continue(target) => {
                    let params = function.region(*target).params.iter().copied();
                    self.edges(at, args(), params);
                }
                InstKind::Break(target) => self.edges(at, args(), given_to(target.index())),
                InstKind::Yield => self.edges(at, args(), given_to(region)),
                InstKind::Return => {
                    for (i, arg) in args().enumerate() {
                        self.edge(self.value(at, arg), self.result(at, i));
                    }
                }
                InstKind::Const(_)
                | InstKind::Global(..)
                | InstKind::Resource(_)
                | InstKind::ArrayZero(_)
                | InstKind::Sample(..)
                | InstKind::MakeClosure(_)
                | InstKind::ClosureAdd
                | InstKind::ClosureScale
                | InstKind::If(..)
                | InstKind::Block(_)
                | InstKind::Unreachable => {}
            }
        }
    }

    /// Every node that a derivative reaches.
    fn reached(&mut self) -> Vec<bool> {
        self.edges.sort_unstable();
        let mut reached = vec![false; self.nodes];
        let mut open = self.derivatives.clone();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut reached[node as usize], true) {
                continue;
            }
            let first = self.edges.partition_point(|&(from, _)| from < node);
            let ways = self.edges[first..]
                .iter()
                .take_while(|(from, _)| *from == node);
            open.extend(ways.map(|&(_, to)| to));
        }
        reached
    }
}
