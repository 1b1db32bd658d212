//! Globals as parameters: functions that read some scalars of globals get them passed.
//!
//! Derivatives of a function are with respect to its parameters. So a global that a shader is
//! differentiated by becomes one of its entry, and of every function that reads it, itself or by
//! those that it calls. A function, its derivatives, and the custom derivatives and substitutes
//! that are for it have one signature, and so get the same ones: *relatives*. The new parameters
//! come after those of the primal function, where the signatures of its relatives have them too. In
//! the derivatives that a shader itself asks for they are constants, as globals are there.

use crate::calls::{CallGraph, callees};
use crate::module::*;
use crate::passes::replacement::Replacements;
use crate::types::{Lanes, Scalar};
use rustc_hash::FxHashMap;

/// A scalar of a global.
pub(super) type GlobalScalar = (GlobalId, u32);

/// Makes these scalars parameters of all functions that read them. The entry gets all, in order.
pub(super) fn lift(module: &mut Module, scalars: &[GlobalScalar]) {
    if scalars.is_empty() {
        return;
    }
    let numbers: FxHashMap<GlobalScalar, usize> = scalars.iter().copied().zip(0..).collect();
    let needs = needs(module, &numbers);
    let places = places(module);
    for id in (0..module.functions.len()).map(|id| FuncId(id as u32)) {
        let mut function = std::mem::replace(
            &mut module.functions[id.index()],
            crate::builder::FunctionBuilder::new("", crate::span::Span::default()).finish(),
        );
        give(&mut function, id, &numbers, &needs, &places);
        module.functions[id.index()] = function;
    }
}

/// The functions whose signatures follow from each other: each with one of its relatives.
fn relations(module: &Module) -> Vec<(FuncId, FuncId)> {
    let mut relations = Vec::new();
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        let custom = &function.custom;
        let of = function.recipe.as_ref().map(|recipe| recipe.of);
        let others = [of, custom.forward, custom.backward, custom.substitute];
        relations.extend(others.into_iter().flatten().map(|other| (id, other)));
    }
    relations
}

/// By function, the numbers of the scalars that it is passed, in order.
fn needs(module: &Module, numbers: &FxHashMap<GlobalScalar, usize>) -> Vec<Vec<usize>> {
    let mut needs: Vec<Vec<bool>> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut read = vec![false; numbers.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            if let InstKind::Global(global, scalar) = inst.kind
                && let Some(&number) = numbers.get(&(global, scalar))
            {
                read[number] = true;
            }
        }
        needs.push(read);
    }
    needs[module.entry.index()].fill(true);
    let relations = relations(module);
    // Callees come first, so that a round passes everything on but between relatives.
    let order = CallGraph::of_all(module).order;
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &id in &order {
            for callee in callees(module.function(id)) {
                is_changed |= join(&mut needs, id, callee);
            }
        }
        for &(one, other) in &relations {
            is_changed |= join(&mut needs, one, other);
            is_changed |= join(&mut needs, other, one);
        }
    }
    let listed = |needs: &Vec<bool>| {
        let all = needs.iter().enumerate();
        all.filter(|(_, needed)| **needed)
            .map(|(at, _)| at)
            .collect()
    };
    needs.iter().map(listed).collect()
}

/// Adds what another function needs; whether that is more.
fn join(needs: &mut [Vec<bool>], to: FuncId, from: FuncId) -> bool {
    if to == from {
        return false;
    }
    let Ok([to, from]) = needs.get_disjoint_mut([to.index(), from.index()]) else {
        return false;
    };
    let mut is_more = false;
    for (to, from) in to.iter_mut().zip(from) {
        is_more |= *from && !*to;
        *to |= *from;
    }
    is_more
}

/// By function, the place of the new parameters among its scalar ones.
fn places(module: &Module) -> Vec<usize> {
    let count = module.functions.len();
    // By function: the one whose place is its own.
    let mut primal: Vec<Option<FuncId>> = vec![None; count];
    for (id, function) in (0..).map(FuncId).zip(&module.functions) {
        if let Some(recipe) = &function.recipe {
            primal[id.index()] = Some(recipe.of);
        }
        let rules = [function.custom.forward, function.custom.backward];
        for rule in rules.into_iter().flatten() {
            primal[rule.index()].get_or_insert(id);
        }
    }
    let place = |id: usize| {
        let id = FuncId(id as u32);
        let chain = std::iter::successors(Some(id), |id| primal[id.index()]);
        let first = chain.take(count).last().unwrap_or(id);
        module.function(first).params().len()
    };
    (0..count).map(place).collect()
}

/// Gives a function its new parameters, and passes them on to those that it calls.
fn give(
    function: &mut Function,
    id: FuncId,
    numbers: &FxHashMap<GlobalScalar, usize>,
    needs: &[Vec<usize>],
    places: &[usize],
) {
    let (own, place) = (&needs[id.index()], places[id.index()]);
    let mut params: FxHashMap<usize, ValueId> = FxHashMap::default();
    for &number in own {
        params.insert(number, ValueId(function.values.len() as u32));
        function.values.push(Value {
            ty: Scalar::F32,
            lanes: Lanes::NONE,
            span: function.span,
            name: None,
        });
    }
    let new = own.iter().map(|number| params[number]);
    let body = function.body.index();
    function.regions[body].params.splice(place..place, new);
    for member in &mut function.members {
        if member.params.0 as usize >= place && member.params.1 > 0 {
            member.params.0 += own.len() as u32;
        }
    }
    let constants = |active: &mut Vec<bool>| {
        active.splice(place..place, own.iter().map(|_| false));
    };
    if let Some(recipe) = &mut function.recipe {
        constants(&mut recipe.activity.params);
    }
    let rule = function.custom.forward.or(function.custom.backward);
    if rule.is_some() && !own.is_empty() {
        constants(&mut function.custom.activity.params);
        // Rules know nothing of globals.
        let slots = function.params().len() - own.len() + function.array_params().count();
        let lost = &mut function.custom.lost;
        lost.resize(slots, false);
        lost.splice(place..place, own.iter().map(|_| true));
    }

    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    let mut replacements = Replacements::new(function.values.len());
    for region in order {
        let mut insts = std::mem::take(&mut function.regions[region.index()].insts);
        insts.retain_mut(|inst| {
            replacements.rewrite(inst);
            match inst.kind {
                InstKind::Global(global, scalar) => match numbers.get(&(global, scalar)) {
                    Some(number) => {
                        replacements.replace(inst.results.first, params[number]);
                        false
                    }
                    None => true,
                },
                InstKind::Call(callee, _) => {
                    let passed = needs[callee.index()].iter().map(|number| params[number]);
                    inst.args.insert_many(places[callee.index()], passed);
                    true
                }
                _ => true,
            }
        });
        function.regions[region.index()].insts = insts;
    }
}
