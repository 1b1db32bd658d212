//! The canonical signature of a derivative: which leaf of a pair is which scalar or array.

use crate::Interner;
use crate::ast::ParamDirection;
use crate::check::typed_tree::TypedFunction;
use crate::check::types::{TypeId, TypeTable};
use crate::lower::function::mode;
use adumbra_ir::module::{
    self, Activity, ArrayId, DifferentiationMode, FuncResult, PassingMode, SourceParam, ValueId,
};
use adumbra_ir::{FunctionBuilder, Lanes, Scalar, Span, Type};

/// One scalar or array of a function's signature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The parameter; `None` for the result.
    pub(super) param: Option<usize>,
    pub(super) leaf: u32,
    pub(super) scalar: Scalar,
    /// The number of elements; 0 for a scalar.
    pub(super) len: u32,
    pub(super) mode: PassingMode,
    pub(super) is_active: bool,
}

/// The signature of a function in scalars and arrays, in the order of
/// [`function`](super::function), with what is active in a derivative of it.
pub(super) struct Canonical<'t, 'p, 'a> {
    pub(super) types: &'t TypeTable,
    pub(super) function: &'p TypedFunction<'a>,
    /// By parameter, then the result: whether each leaf has a differential that counts.
    pub(super) masks: Vec<Vec<bool>>,
    pub(super) params: Vec<Slot>,
    pub(super) results: Vec<Slot>,
    pub(super) arrays: Vec<Slot>,
}

impl<'t, 'p, 'a> Canonical<'t, 'p, 'a> {
    pub(super) fn new(
        types: &'t TypeTable,
        function: &'p TypedFunction<'a>,
        plain: &[bool],
    ) -> Self {
        let mask = |ty: TypeId, is_active: bool| match is_active {
            true => types.differentiable_leaves(ty),
            false => vec![false; types.leaf_count(ty) as usize],
        };
        let params = function.params.iter().enumerate();
        let masks = params.map(|(index, param)| {
            let is_plain = plain.get(index).copied().unwrap_or(false);
            mask(param.ty, !param.is_no_diff && !is_plain)
        });
        let mut masks: Vec<Vec<bool>> = masks.collect();
        masks.push(mask(function.result, !function.is_no_diff));
        let mut canonical = Canonical {
            types,
            function,
            masks,
            params: Vec::new(),
            results: Vec::new(),
            arrays: Vec::new(),
        };
        let returned = canonical.slots(None, PassingMode::Return);
        let is_scalar = |slot: &&Slot| slot.len == 0;
        canonical.results.extend(returned.iter().filter(is_scalar));
        for (index, param) in function.params.iter().enumerate() {
            let mode = mode(param.call_direction());
            for slot in canonical.slots(Some(index), mode) {
                if slot.len > 0 {
                    canonical.arrays.push(slot);
                    continue;
                }
                if mode != PassingMode::Out {
                    canonical.params.push(slot);
                }
                if mode != PassingMode::In {
                    canonical.results.push(slot);
                }
            }
        }
        let arrays = returned.into_iter().filter(|slot| slot.len > 0);
        canonical.arrays.extend(arrays.map(|slot| Slot {
            mode: PassingMode::Out,
            ..slot
        }));
        canonical
    }

    fn slots(&self, param: Option<usize>, mode: PassingMode) -> Vec<Slot> {
        let ty = match param {
            Some(param) => self.function.params[param].ty,
            None => self.function.result,
        };
        let mask = self.mask(param);
        let leaves = (0..).zip(self.types.leaves(ty)).zip(mask);
        let slot = |((leaf, of), &is_active): ((u32, &crate::check::types::Leaf), &bool)| Slot {
            param,
            leaf,
            scalar: of.scalar,
            len: of.len,
            mode,
            is_active,
        };
        leaves.map(slot).collect()
    }

    /// By leaf of a parameter, `None` for the result: whether it has a differential that counts.
    pub(super) fn mask(&self, param: Option<usize>) -> &[bool] {
        &self.masks[param.unwrap_or(self.function.params.len())]
    }

    /// The leaf of the differential that belongs to a leaf of the value, among its own leaves.
    pub(super) fn differential_leaf(&self, slot: &Slot) -> u32 {
        let before = &self.mask(slot.param)[..slot.leaf as usize];
        before.iter().filter(|is_active| **is_active).count() as u32
    }

    /// The leaf of a pair that is the differential of a leaf of its value.
    pub(super) fn pair_leaf(&self, slot: &Slot) -> u32 {
        self.mask(slot.param).len() as u32 + self.differential_leaf(slot)
    }

    /// The direction of the parameter that a slot is of; none for the result.
    pub(super) fn direction(&self, slot: &Slot) -> Option<ParamDirection> {
        Some(self.function.params[slot.param?].direction)
    }

    /// Whether the slot is of a parameter that is only written; the value before is no parameter
    /// for the backward derivative.
    pub(super) fn is_output(&self, slot: &Slot) -> bool {
        self.direction(slot) == Some(ParamDirection::Out)
    }

    /// What is active in the derivative of that mode.
    pub(super) fn activity(&self, mode: DifferentiationMode) -> Activity {
        let is_backward = mode == DifferentiationMode::Backward;
        let param = |slot: &Slot| slot.is_active && !(is_backward && self.is_output(slot));
        let active = |slot: &Slot| slot.is_active;
        Activity {
            params: self.params.iter().map(param).collect(),
            results: self.results.iter().map(active).collect(),
            arrays: self.arrays.iter().map(active).collect(),
            memory: adumbra_ir::module::ActiveMemory::default(),
        }
    }

    /// For the backward derivative: the position of each parameter among the derivative's own; the
    /// last one is that of the result.
    pub(super) fn backward_positions(&self) -> Vec<Option<usize>> {
        let mut next = 0;
        let params = self.function.params.iter().enumerate();
        let mut positions: Vec<Option<usize>> = params
            .map(|(index, param)| {
                let is_active = self.masks[index].contains(&true);
                let is_kept = param.direction != ParamDirection::Out
                    || is_active
                    || self.has_differential(param.ty, param.is_no_diff);
                is_kept.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let result = self.function.result;
        positions.push(
            self.has_differential(result, self.function.is_no_diff)
                .then_some(next),
        );
        positions
    }

    fn has_differential(&self, ty: TypeId, is_no_diff: bool) -> bool {
        !is_no_diff && self.types.known_differential(ty).is_some()
    }
}

fn result(scalar: Scalar) -> FuncResult {
    FuncResult {
        ty: scalar,
        lanes: Lanes::NONE,
    }
}

/// The array of the IR for a slot.
pub(super) fn array_of(slot: &Slot, mode: Option<PassingMode>, span: Span) -> module::Array {
    module::Array {
        element: slot.scalar,
        len: slot.len,
        lanes: Lanes::NONE,
        mode,
        span,
        name: None,
    }
}

/// The values of an adapter or of a derived function, by the slots of the primal function.
pub(super) struct CanonicalParams {
    /// Of each parameter.
    pub(super) params: Vec<ValueId>,
    /// Of the tangent of each parameter, if it is active, or of the cotangent of each result.
    pub(super) changes: Vec<Option<ValueId>>,
    /// Of each array, if it is a parameter.
    pub(super) arrays: Vec<Option<ArrayId>>,
    /// The array of tangents, gradients or cotangents.
    pub(super) array_changes: Vec<Option<ArrayId>>,
}

/// Gives a function the canonical signature.
pub(super) fn declare(
    builder: &mut FunctionBuilder,
    canonical: &Canonical<'_, '_, '_>,
    mode: DifferentiationMode,
    activity: &Activity,
    span: Span,
) -> CanonicalParams {
    let is_backward = mode == DifferentiationMode::Backward;
    let arrays = canonical.arrays.iter().map(|slot| {
        let mode = match (is_backward, slot.mode) {
            (true, PassingMode::Out) => return None,
            (true, _) => PassingMode::In,
            (false, mode) => mode,
        };
        Some(builder.array(array_of(slot, Some(mode), span)))
    });
    let arrays: Vec<Option<ArrayId>> = arrays.collect();
    let changes = canonical.arrays.iter().zip(&activity.arrays);
    let array_changes = changes.map(|(slot, &is_active)| {
        let mode = match (is_backward, slot.mode) {
            (true, PassingMode::In) => PassingMode::Out,
            (true, PassingMode::Out) => PassingMode::In,
            (_, mode) => mode,
        };
        is_active.then(|| builder.array(array_of(slot, Some(mode), span)))
    });
    let array_changes: Vec<Option<ArrayId>> = array_changes.collect();
    let params = canonical.params.iter();
    let params: Vec<ValueId> = params
        .map(|slot| builder.param(slot.scalar, span))
        .collect();
    let changing = match is_backward {
        true => &activity.results,
        false => &activity.params,
    };
    let changes = changing
        .iter()
        .map(|&is_active| is_active.then(|| builder.param(Scalar::F32, span)));
    let changes: Vec<Option<ValueId>> = changes.collect();
    let count = |active: &[bool]| active.iter().filter(|active| **active).count();
    let results = &mut builder.function_mut().results;
    if is_backward {
        results.extend((0..count(&activity.params)).map(|_| result(Scalar::F32)));
    } else {
        results.extend(canonical.results.iter().map(|slot| result(slot.scalar)));
        results.extend((0..count(&activity.results)).map(|_| result(Scalar::F32)));
    }
    CanonicalParams {
        params,
        changes,
        arrays,
        array_changes,
    }
}

/// The members of a derived function: one for each scalar, `dx` for what belongs to `x`.
pub(super) fn members(
    function: &module::Function,
    canonical: &Canonical<'_, '_, '_>,
    (mode, activity): (DifferentiationMode, &Activity),
    interner: &Interner,
) -> Vec<SourceParam> {
    let name = |slot: &Slot| match slot.param {
        Some(param) => interner
            .name(canonical.function.params[param].name)
            .to_owned(),
        None => "return".to_owned(),
    };
    let changing = |slots: &[Slot], active: &[bool]| -> Vec<String> {
        let active = slots.iter().zip(active).filter(|(_, active)| **active);
        active.map(|(slot, _)| format!("d{}", name(slot))).collect()
    };
    let tangents = changing(&canonical.params, &activity.params);
    let changes = changing(&canonical.results, &activity.results);
    let mut params: Vec<String> = canonical.params.iter().map(name).collect();
    let mut results: Vec<String> = Vec::new();
    match mode {
        DifferentiationMode::Forward => {
            params.extend(tangents);
            results.extend(canonical.results.iter().map(name));
            results.extend(changes);
        }
        DifferentiationMode::Backward => {
            params.extend(changes);
            results.extend(tangents);
        }
    }
    let member = |name, ty, mode, params, results| SourceParam {
        name,
        ty: Type::Scalar(ty),
        mode,
        params,
        results,
        arrays: (0, 0),
    };
    let params = (0..).zip(params).zip(function.params());
    let params = params.map(|((index, name), &param)| {
        let ty = function.value(param).ty;
        member(name, ty, PassingMode::In, (index, 1), (0, 0))
    });
    let results = (0..).zip(results).zip(&function.results);
    let results = results.map(|((index, name), result)| {
        member(name, result.ty, PassingMode::Return, (0, 0), (index, 1))
    });
    params.chain(results).collect()
}
