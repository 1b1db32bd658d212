//! Rules that are given the value of their function.
//!
//! A rule often begins with the value: `float t = root(p.p, d.p);`. Where it makes shadows, the
//! value is there already. So it gets a copy whose parameters, after its own, are the results of
//! the function, in place of each call of it with the rule's own parameters, in the rule or in what
//! it calls. Thus the shadows of a long search cost its rule alone.

use crate::module::*;
use crate::types::Lanes;
use rustc_hash::FxHashMap;

/// How deep such calls are looked for in what rules call.
const MAX_DEPTH: usize = 4;

/// A copy of a function's rule that takes the function's results, if it would compute them again.
pub(super) fn with_value(module: &mut Module, of: FuncId, rule: FuncId) -> Option<FuncId> {
    let function = module.function(of);
    let params = function.params().len() as u32;
    if params == 0 || function.array_params().next().is_some() {
        return None;
    }
    let mut copies = ValueCopies {
        of,
        made: FxHashMap::default(),
    };
    copies.copy(module, rule, (0..params).collect(), 0)
}

struct ValueCopies {
    /// The function whose value is known.
    of: FuncId,
    /// By function, and which of its parameters are those of `of`: the copy that was made.
    made: FxHashMap<(FuncId, Vec<u32>), Option<FuncId>>,
}

impl ValueCopies {
    /// A copy of a function whose parameters at `positions` are those of the known value, if it
    /// needs that.
    fn copy(
        &mut self,
        module: &mut Module,
        id: FuncId,
        positions: Vec<u32>,
        depth: usize,
    ) -> Option<FuncId> {
        let key = (id, positions);
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        self.made.insert(key.clone(), None);
        let mut copy = module.function(id).clone();
        let params = copy.params();
        let known: Vec<ValueId> = key.1.iter().map(|&at| params[at as usize]).collect();
        let types: Vec<_> = module.function(self.of).results.clone();
        let first = ValueId(copy.values.len() as u32);
        for result in &types {
            let value = ValueId(copy.values.len() as u32);
            copy.values.push(Value {
                ty: result.ty,
                lanes: Lanes::NONE,
                span: copy.span,
                name: None,
            });
            copy.regions[copy.body.index()].params.push(value);
        }
        let results = Results {
            first,
            count: types.len() as u32,
        };
        if !self.replace(module, &mut copy, &known, results, depth) {
            return None;
        }
        let made = FuncId(module.functions.len() as u32);
        module.functions.push(copy);
        self.made.insert(key, Some(made));
        Some(made)
    }

    /// Replaces calls by the results that are known. Returns whether there are any.
    fn replace(
        &mut self,
        module: &mut Module,
        copy: &mut Function,
        known: &[ValueId],
        results: Results,
        depth: usize,
    ) -> bool {
        let mut any = false;
        let mut order = Vec::new();
        copy.for_each_region(|region| order.push(region));
        let mut aliases = super::Replacements::new(copy.values.len());
        for region in order {
            copy.regions[region.index()].insts.retain_mut(|inst| {
                aliases.rewrite(inst);
                let InstKind::Call(callee, arrays) = &mut inst.kind else {
                    return true;
                };
                if *callee == self.of && inst.args[..] == *known {
                    for (of, by) in inst.results.iter().zip(results.iter()) {
                        aliases.replace(of, by);
                    }
                    any = true;
                    return false;
                }
                let is_plain =
                    arrays.is_empty() && module.function(*callee).custom == Default::default();
                if !is_plain || depth == MAX_DEPTH {
                    return true;
                }
                let position = |value: &ValueId| inst.args.iter().position(|arg| arg == value);
                let positions = known.iter().map(|value| Some(position(value)? as u32));
                if let Some(positions) = positions.collect()
                    && let Some(made) = self.copy(module, *callee, positions, depth + 1)
                {
                    *callee = made;
                    inst.args.extend(results.iter());
                    any = true;
                }
                true
            });
        }
        any
    }
}
