//! The call graph.
//!
//! Guarantees: `order` lists each function that the entry can reach once, callees before callers,
//! and functions that call each other in a cycle next to one another. The algorithm is that of
//! Tarjan (1972), *Depth-first search and linear graph algorithms*, with an explicit stack: it is
//! linear, and a chain of any length is fine.

use crate::host::move_steps;
use crate::instruction::FieldMut;
use crate::module::{Array, FuncId, Function, InstKind, Module};

/// The functions that the entry reaches, callees first.
#[derive(Debug)]
pub struct CallGraph {
    /// Callees before callers; the entry is last.
    pub order: Vec<FuncId>,
    /// The parts of `order` that call each other in a cycle, as ranges; single functions too.
    pub components: Vec<std::ops::Range<usize>>,
    /// By function: whether it can be entered again before it has returned.
    pub recursive: Vec<bool>,
}

/// The functions that a function calls, once for each call.
pub fn callees(function: &Function) -> impl Iterator<Item = FuncId> {
    let insts = function.regions.iter().flat_map(|region| &region.insts);
    insts.filter_map(|inst| match inst.kind {
        InstKind::Call(callee, _) => Some(callee),
        _ => None,
    })
}

/// The steps that calls take because the caller's arrays are saved: those of a function that can be
/// entered again before the call returns.
#[derive(Debug, Default)]
pub struct SavedSteps {
    /// By function: its component, and the steps for its arrays; empty if no function has such
    /// arrays.
    by_function: Vec<(u32, u64)>,
}

impl SavedSteps {
    /// Computes the steps for a module.
    pub fn new(module: &Module) -> SavedSteps {
        let elements = |sum: u32, array: &Array| sum.saturating_add(array.len);
        let steps = |function: &Function| {
            // One sum over all arrays, since many small ones take as long as a large one.
            move_steps(function.arrays.iter().fold(0, elements))
        };
        let mut by_function: Vec<(u32, u64)> =
            module.functions.iter().map(|f| (0, steps(f))).collect();
        if by_function.iter().all(|&(_, steps)| steps == 0) {
            return SavedSteps::default();
        }
        let calls = CallGraph::new(module);
        for (number, component) in (0..).zip(&calls.components) {
            for function in &calls.order[component.clone()] {
                by_function[function.index()].0 = number;
            }
        }
        SavedSteps { by_function }
    }

    /// Steps that a call takes beside the one for the function that it enters.
    pub fn of(&self, caller: FuncId, callee: FuncId) -> u64 {
        let of = |function: FuncId| self.by_function.get(function.index());
        match (of(caller), of(callee)) {
            (Some(&(one, steps)), Some(&(other, _))) if one == other => steps,
            _ => 0,
        }
    }
}

impl CallGraph {
    /// Builds the graph of a module.
    pub fn new(module: &Module) -> CallGraph {
        CallGraph::of(module, vec![module.entry])
    }

    /// The graph of the functions that these reach.
    pub(crate) fn of(module: &Module, functions: Vec<FuncId>) -> CallGraph {
        CallGraph::from(module, functions, |function, reached| {
            reached.extend(callees(function));
        })
    }

    /// The graph of all functions, whether the entry reaches them or not.
    pub(crate) fn of_all(module: &Module) -> CallGraph {
        CallGraph::of(module, all(module))
    }

    /// The graph of all functions over other edges than calls: `edges` appends the functions that
    /// one leads to.
    pub(crate) fn by(module: &Module, edges: impl Fn(&Function, &mut Vec<FuncId>)) -> CallGraph {
        CallGraph::from(module, all(module), edges)
    }

    /// The graph of the functions that some reach.
    fn from(
        module: &Module,
        mut pending: Vec<FuncId>,
        edges: impl Fn(&Function, &mut Vec<FuncId>),
    ) -> CallGraph {
        const UNSEEN: u32 = u32::MAX;
        let count = module.functions.len();
        let mut graph = CallGraph {
            order: Vec::with_capacity(count),
            components: Vec::with_capacity(count),
            recursive: vec![false; count],
        };

        // Tarjan: a function's index counts from its first visit; `low` is the least index it
        // reaches among those still open.
        let mut index = vec![UNSEEN; count];
        let mut low = vec![0; count];
        let mut closed = vec![false; count];
        let mut open: Vec<FuncId> = Vec::new();
        // A function being visited, and the start of its callees in `pending`.
        let mut path: Vec<(FuncId, usize)> = Vec::new();
        let mut next = 0;

        loop {
            let floor = path.last().map_or(0, |&(_, start)| start);
            if pending.len() > floor {
                let callee = pending.pop().expect("longer than floor");
                let at = callee.index();
                if index[at] == UNSEEN {
                    index[at] = next;
                    low[at] = next;
                    next += 1;
                    open.push(callee);
                    path.push((callee, pending.len()));
                    edges(module.function(callee), &mut pending);
                } else if !closed[at] {
                    let caller = path.last().expect("only the entry has no caller").0;
                    graph.recursive[at] |= caller == callee;
                    low[caller.index()] = low[caller.index()].min(index[at]);
                }
                continue;
            }
            let Some((done, _)) = path.pop() else { break };
            let at = done.index();
            if low[at] == index[at] {
                let start = graph.order.len();
                loop {
                    let member = open.pop().expect("the component's root is open");
                    closed[member.index()] = true;
                    graph.order.push(member);
                    if member == done {
                        break;
                    }
                }
                let range = start..graph.order.len();
                if range.len() > 1 {
                    for &member in &graph.order[range.clone()] {
                        graph.recursive[member.index()] = true;
                    }
                }
                graph.components.push(range);
            }
            if let Some(&(caller, _)) = path.last() {
                low[caller.index()] = low[caller.index()].min(low[at]);
            }
        }
        graph
    }
}

fn all(module: &Module) -> Vec<FuncId> {
    (0..module.functions.len() as u32).map(FuncId).collect()
}

/// Removes functions that the entry does not reach. The others keep their order.
pub(crate) fn drop_uncalled(module: &mut Module, calls: &CallGraph) {
    if calls.order.len() == module.functions.len() {
        return;
    }
    let mut reached = vec![false; module.functions.len()];
    for &f in &calls.order {
        reached[f.index()] = true;
    }
    let mut renamed = vec![FuncId::default(); reached.len()];
    let mut next = 0;
    for (new, &reached) in renamed.iter_mut().zip(&reached) {
        if reached {
            *new = FuncId(next);
            next += 1;
        }
    }
    let mut keep = reached.iter();
    module
        .functions
        .retain(|_| *keep.next().expect("one per function"));
    module.entry = renamed[module.entry.index()];
    for function in &mut module.functions {
        for inst in function.regions.iter_mut().flat_map(|r| &mut r.insts) {
            inst.kind.for_each_field_mut(|field| {
                if let FieldMut::Function(callee) = field {
                    *callee = renamed[callee.index()];
                }
            });
        }
    }
}
