//! Substitutes: derived code calls a function's substitute wherever it would call the function.
//!
//! Derived code is what a derivative runs: the derivatives of a function and of its callees, custom
//! derivatives, and callees that have nothing active. So the value of a call in derived code does
//! not depend on what is active. Guarantees: no function that a
//! [`Recipe`](crate::derivative::Recipe) or a custom derivative leads to calls one with a
//! substitute, and none has a substitute. A function that ordinary code may call too, and that
//! reaches a substituted one, is copied for it.

use crate::calls::callees;
use crate::module::*;
use crate::passes::dataflow::FlowEdges;

/// Replaces calls of substituted functions in what is differentiated.
pub(super) fn substitute(module: &mut Module) {
    if module
        .functions
        .iter()
        .all(|f| f.custom.substitute.is_none())
    {
        return;
    }
    let mut substitution = Substitution {
        reaches: reaches_substituted(module),
        copies: vec![None; module.functions.len()],
        open: Vec::new(),
        module,
    };
    substitution.run();
}

struct Substitution<'m> {
    module: &'m mut Module,
    /// By function, but for copies: whether it calls a substituted one, perhaps through others.
    reaches: Vec<bool>,
    /// By function, but for copies: its copy for derived code.
    copies: Vec<Option<FuncId>>,
    /// Copies whose calls are still those of the original.
    open: Vec<FuncId>,
}

impl Substitution<'_> {
    fn run(&mut self) {
        for at in 0..self.reaches.len() {
            let mut recipe = self.module.functions[at].recipe.take();
            if let Some(recipe) = &mut recipe {
                recipe.of = self.in_derived_code(recipe.of);
            }
            self.module.functions[at].recipe = recipe;
            self.custom_derivatives(FuncId(at as u32));
        }
        while let Some(id) = self.open.pop() {
            self.custom_derivatives(id);
            let mut regions = std::mem::take(&mut self.module.functions[id.index()].regions);
            for inst in regions.iter_mut().flat_map(|region| &mut region.insts) {
                if let InstKind::Call(callee, _) = &mut inst.kind {
                    *callee = self.in_derived_code(*callee);
                }
            }
            self.module.functions[id.index()].regions = regions;
        }
        for function in &mut self.module.functions {
            function.custom.substitute = None;
        }
    }

    /// Custom derivatives are derived code.
    fn custom_derivatives(&mut self, id: FuncId) {
        let custom = &self.module.function(id).custom;
        let [forward, backward] = [custom.forward, custom.backward]
            .map(|rule| rule.map(|rule| self.in_derived_code(rule)));
        let custom = &mut self.module.functions[id.index()].custom;
        (custom.forward, custom.backward) = (forward, backward);
    }

    /// What derived code calls in place of a function.
    fn in_derived_code(&mut self, id: FuncId) -> FuncId {
        let id = last_substitute(self.module, id);
        if !self.reaches[id.index()] {
            return id;
        }
        let functions = &mut self.module.functions;
        *self.copies[id.index()].get_or_insert_with(|| {
            let copy = FuncId(functions.len() as u32);
            functions.push(functions[id.index()].clone());
            self.open.push(copy);
            copy
        })
    }
}

/// The substitute of a function that has none itself; a function without one is its own.
fn last_substitute(module: &Module, id: FuncId) -> FuncId {
    let next = |&id: &FuncId| module.function(id).custom.substitute;
    // A cycle of substitutes ends after as many steps as there are functions.
    let chain = std::iter::successors(Some(id), next).take(module.functions.len());
    chain.last().unwrap_or(id)
}

/// By function: whether it calls a substituted one, perhaps through others.
fn reaches_substituted(module: &Module) -> Vec<bool> {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut reaches = vec![false; module.functions.len()];
    for (caller, function) in (0..).zip(&module.functions) {
        for callee in callees(function) {
            let substitute = last_substitute(module, callee);
            reaches[caller as usize] |= substitute != callee;
            edges.push((substitute.0, caller));
        }
    }
    let callers = FlowEdges::new(module.functions.len() as u32, &edges, |&edge| edge);
    callers.flood(&mut reaches, &mut Vec::new());
    reaches
}
