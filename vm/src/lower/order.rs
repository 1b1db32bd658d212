//! The order in which functions are lowered: callees first, functions that call each other in a circle together.

use adumbra_ir::module::{FuncId, Function, Inst, InstKind, Module};

/// Functions that can call each other.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) functions: Vec<FuncId>,
    /// Whether a function of it can be active twice at once.
    pub(crate) cyclic: bool,
}

/// Who calls whom.
#[derive(Debug)]
pub(crate) struct CallGraph {
    callees: Vec<Vec<FuncId>>,
}

impl CallGraph {
    /// The calls of a module.
    pub(crate) fn new(module: &Module) -> CallGraph {
        let of = |f: &Function| {
            let insts = f.regions.iter().flat_map(|r| &r.insts);
            let callee = |i: &Inst| match i.kind {
                InstKind::Call(callee, _) => Some(callee),
                _ => None,
            };
            insts.filter_map(callee).collect()
        };
        CallGraph {
            callees: module.functions.iter().map(of).collect(),
        }
    }

    /// The functions that a function calls, as often as it does.
    pub(crate) fn callees(&self, function: FuncId) -> &[FuncId] {
        &self.callees[function.index()]
    }

    /// The functions that the shader needs; callees of a component come before it. Tarjan's algorithm with its own stack.
    pub(crate) fn components(&self, entry: FuncId) -> Vec<Component> {
        let mut components = Vec::new();
        const NEW: u32 = 0;
        const DONE: u32 = u32::MAX;
        let mut number = vec![NEW; self.callees.len()];
        let mut low = vec![0; self.callees.len()];
        let mut next = 1;
        let mut open: Vec<FuncId> = Vec::new();
        let mut path: Vec<(FuncId, usize)> = Vec::new();
        let mut enter = Some(entry);
        loop {
            if let Some(f) = enter.take() {
                number[f.index()] = next;
                low[f.index()] = next;
                next += 1;
                open.push(f);
                path.push((f, 0));
            }
            let Some((f, at)) = path.last_mut() else {
                return components;
            };
            let f = *f;
            if let Some(&callee) = self.callees[f.index()].get(*at) {
                *at += 1;
                match number[callee.index()] {
                    NEW => enter = Some(callee),
                    DONE => {}
                    seen => low[f.index()] = low[f.index()].min(seen),
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller.index()] = low[caller.index()].min(low[f.index()]);
            }
            if low[f.index()] == number[f.index()] {
                let first = open.iter().rposition(|&g| g == f).expect("it is open");
                let functions = open.split_off(first);
                for g in &functions {
                    number[g.index()] = DONE;
                }
                let cyclic = functions.len() > 1 || self.callees[f.index()].contains(&f);
                components.push(Component { functions, cyclic });
            }
        }
    }
}
