//! Strong products of reverse mode that can be ordinary ones.
//!
//! A cotangent that is 0 because its value is not taken stays 0 whatever the partial is: that may
//! be infinite or NaN, since it is computed where its side is not taken too. So the transpose
//! multiplies by [`Op::StrongMul`]. Where a cotangent *counts*, the product is an ordinary one: the
//! value then goes into the only result that is differentiated on every way and through no
//! selection, and where it is not finite, neither is the result.
//!
//! Assumes that all functions are written. What counts is the greatest fixpoint over all reverse
//! sweeps: a sum counts if a term does, a term if its cotangent does, and what ways or calls join
//! if all do. A cotangent from a selection, an array or the tape does not, nor does the term of a
//! flat partial, which is 0 where a value is infinite.

use crate::module::*;
use crate::passes::dataflow::{FlowEdges, Joins};
use adumbra_ops::Op;
use rustc_hash::FxHashMap;

/// A strong product of a reverse sweep: of a partial by an operand without which the value is not
/// finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct StrongProduct {
    pub(super) product: ValueId,
    /// Whether it is strong only so that cotangents of 0 stay 0; the partial is finite where
    /// operands are.
    pub(super) is_guard: bool,
}

/// A function that ends in a reverse sweep.
pub(super) struct ReverseFunction {
    pub(super) id: FuncId,
    pub(super) strong: Vec<StrongProduct>,
    /// Cotangents that come from programs, if programs call it: one counts, but several may be 0 so
    /// that the others are chosen.
    pub(super) seeds: Vec<ValueId>,
}

/// Makes strong products ordinary where their cotangents count.
pub(super) fn weaken(module: &mut Module, reverse: &[ReverseFunction]) {
    let counts = Counting::new(module, reverse).solve();
    let mut first = 0;
    for function in reverse {
        let body = &mut module.functions[function.id.index()];
        let values = body.values.len();
        let mut weakened = vec![false; values];
        for strong in function.strong.iter().filter(|strong| strong.is_guard) {
            let product = strong.product.index();
            weakened[product] = counts[first + product];
        }
        for inst in body.regions.iter_mut().flat_map(|r| &mut r.insts) {
            if inst.kind == InstKind::Op(Op::StrongMul) && weakened[inst.results.first.index()] {
                inst.kind = InstKind::Op(Op::Mul);
            }
        }
        first += values;
    }
}

/// The graph of what counts because something else does: a node for each value of each function.
struct Counting {
    edges: Vec<(u32, u32)>,
    /// By node: how many of its sources do not count where it does not; 0 if it never does.
    sources: Vec<u8>,
}

impl Counting {
    fn new(module: &Module, reverse: &[ReverseFunction]) -> Counting {
        let mut first = FxHashMap::default();
        let mut nodes = 0;
        for function in reverse {
            first.insert(function.id, nodes);
            nodes += module.function(function.id).values.len() as u32;
        }
        let mut counting = Counting {
            edges: Vec::new(),
            sources: vec![0; nodes as usize],
        };
        for function in reverse {
            counting.add(module, function, &first);
        }
        counting
    }

    fn edge(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
        self.sources[to as usize] = 1;
    }

    fn add(&mut self, module: &Module, of: &ReverseFunction, first: &FxHashMap<FuncId, u32>) {
        let function = module.function(of.id);
        let own = first[&of.id];
        let node = |value: ValueId| own + value.0;
        for &param in function.params() {
            let is_chosen = of.seeds.len() > 1 && of.seeds.contains(&param);
            self.sources[node(param) as usize] = u8::from(!is_chosen);
        }
        let mut passes = vec![false; function.values.len()];
        for strong in &of.strong {
            passes[strong.product.index()] = true;
        }
        let joins = Joins::new(function);
        function.for_each_region(|region| {
            for inst in &function.region(region).insts {
                joins.for_each(function, region, inst, |from, to| {
                    self.edge(node(from), node(to));
                });
                let result = inst.results.first;
                match &inst.kind {
                    InstKind::Op(Op::Add | Op::Sub) => {
                        self.edge(node(inst.args[0]), node(result));
                        self.edge(node(inst.args[1]), node(result));
                        self.sources[node(result) as usize] = 2;
                    }
                    InstKind::Op(Op::Neg) => self.edge(node(inst.args[0]), node(result)),
                    // A coefficient, then the cotangent.
                    InstKind::Op(Op::Mul) => self.edge(node(inst.args[1]), node(result)),
                    InstKind::Op(Op::StrongMul) if passes[result.index()] => {
                        self.edge(node(inst.args[1]), node(result));
                    }
                    InstKind::Call(callee, _) => {
                        if let Some(&other) = first.get(callee) {
                            self.call(module.function(*callee), other, own, inst);
                        }
                    }
                    _ => {}
                }
            }
        });
    }

    /// Joins what calls pass to each parameter, and what returns pass to each result.
    fn call(&mut self, callee: &Function, other: u32, own: u32, inst: &Inst) {
        for (&arg, &param) in inst.args.iter().zip(callee.params()) {
            self.edges.push((own + arg.0, other + param.0));
        }
        let insts = callee.regions.iter().flat_map(|region| &region.insts);
        for end in insts.filter(|inst| inst.kind == InstKind::Return) {
            for (&returned, result) in end.args.iter().zip(inst.results.iter()) {
                self.edge(other + returned.0, own + result.0);
            }
        }
    }

    /// By node, whether it counts.
    fn solve(mut self) -> Vec<bool> {
        let nodes = self.sources.len() as u32;
        let users = FlowEdges::new(nodes, &self.edges, |&edge| edge);
        let mut open: Vec<u32> = (0..nodes)
            .filter(|&node| self.sources[node as usize] == 0)
            .collect();
        while let Some(node) = open.pop() {
            for &user in users.from(node) {
                let left = &mut self.sources[user as usize];
                if *left > 0 {
                    *left -= 1;
                    if *left == 0 {
                        open.push(user);
                    }
                }
            }
        }
        self.sources.iter().map(|&left| left > 0).collect()
    }
}
