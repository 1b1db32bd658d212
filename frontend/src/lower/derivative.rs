//! Derivatives of functions: calls with pairs become calls in scalars.
//!
//! A derived function of the IR has the [canonical signature](adumbra_ir::derivative): scalars and
//! arrays of the primal function, then tangents or cotangents. A call of the language has pairs,
//! whose leaves are those of the value, then those of the differential. [`Canonical`] knows which
//! leaf is which scalar. Custom derivatives are the other way round: an adapter with the canonical
//! signature calls the function of the shader writer.

use super::function::{FunctionLowering, LeafValues};
use super::ssa::LeafValue;
use super::{ModuleLowering, Work};
use crate::ast::ParamDirection;
use crate::check::typed_tree::{DerivedFunction, FunctionId, TypedExpr, TypedFunction};
use crate::check::types::{TypeId, TypeTable};
use adumbra_ir::module::{
    self, Activity, ArrayId, CustomDerivatives, DerivativeMode, FuncId, FuncResult, InstKind,
    PassingMode, Recipe, SourceParam, ValueId,
};
use adumbra_ir::{FunctionBuilder, Lanes, Scalar, Span, Type};

/// A derivative as the IR has it: mode, primal function, and which of its parameters are plain.
pub(super) type RecipeKey = (DerivativeMode, FunctionId, Vec<bool>);

/// One scalar or array of a function's signature.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The parameter; `None` for the result.
    param: Option<usize>,
    leaf: u32,
    scalar: Scalar,
    /// The number of elements; 0 for a scalar.
    len: u32,
    mode: PassingMode,
    is_active: bool,
}

/// The signature of a function in scalars and arrays, in the order of
/// [`function`](super::function), with what is active in a derivative of it.
struct Canonical<'t, 'p, 'a> {
    types: &'t TypeTable,
    function: &'p TypedFunction<'a>,
    /// By parameter, then the result: whether each leaf has a differential that counts.
    masks: Vec<Vec<bool>>,
    params: Vec<Slot>,
    results: Vec<Slot>,
    arrays: Vec<Slot>,
}

impl<'t, 'p, 'a> Canonical<'t, 'p, 'a> {
    fn new(types: &'t TypeTable, function: &'p TypedFunction<'a>, plain: &[bool]) -> Self {
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
            let mode = super::function::mode(param.call_direction());
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

    fn mask(&self, param: Option<usize>) -> &[bool] {
        &self.masks[param.unwrap_or(self.function.params.len())]
    }

    /// The leaf of the differential that belongs to a leaf of the value, among its own leaves.
    fn differential_leaf(&self, slot: &Slot) -> u32 {
        let before = &self.mask(slot.param)[..slot.leaf as usize];
        before.iter().filter(|is_active| **is_active).count() as u32
    }

    /// The leaf of a pair that is the differential of a leaf of its value.
    fn pair_leaf(&self, slot: &Slot) -> u32 {
        self.mask(slot.param).len() as u32 + self.differential_leaf(slot)
    }

    fn direction(&self, slot: &Slot) -> Option<ParamDirection> {
        Some(self.function.params[slot.param?].direction)
    }

    /// Whether the slot is of a parameter that is only written; the value before is no parameter
    /// for the backward derivative.
    fn is_output(&self, slot: &Slot) -> bool {
        self.direction(slot) == Some(ParamDirection::Out)
    }

    fn activity(&self, mode: DerivativeMode) -> Activity {
        let is_backward = mode == DerivativeMode::Backward;
        let param = |slot: &Slot| slot.is_active && !(is_backward && self.is_output(slot));
        let active = |slot: &Slot| slot.is_active;
        Activity {
            params: self.params.iter().map(param).collect(),
            results: self.results.iter().map(active).collect(),
            arrays: self.arrays.iter().map(active).collect(),
        }
    }

    /// For the backward derivative: the position of each parameter among the derivative's own; the
    /// last one is that of the result.
    fn backward_positions(&self) -> Vec<Option<usize>> {
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

fn array_of(slot: &Slot, mode: Option<PassingMode>, span: Span) -> module::Array {
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
struct CanonicalParams {
    /// Of each parameter.
    params: Vec<ValueId>,
    /// Of the tangent of each parameter, if it is active, or of the cotangent of each result.
    changes: Vec<Option<ValueId>>,
    /// Of each array, if it is a parameter.
    arrays: Vec<Option<ArrayId>>,
    /// The array of tangents, gradients or cotangents.
    array_changes: Vec<Option<ArrayId>>,
}

/// Gives a function the canonical signature.
fn declare(
    builder: &mut FunctionBuilder,
    canonical: &Canonical<'_, '_, '_>,
    mode: DerivativeMode,
    activity: &Activity,
    span: Span,
) -> CanonicalParams {
    let is_backward = mode == DerivativeMode::Backward;
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
fn members(
    function: &module::Function,
    canonical: &Canonical<'_, '_, '_>,
    (mode, activity): (DerivativeMode, &Activity),
    interner: &crate::Interner,
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
        DerivativeMode::Forward => {
            params.extend(tangents);
            results.extend(canonical.results.iter().map(name));
            results.extend(changes);
        }
        DerivativeMode::Backward => {
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

impl ModuleLowering<'_, '_> {
    /// The derived function of the IR.
    fn recipe(&mut self, key: RecipeKey) -> FuncId {
        let next = FuncId(self.queue.len() as u32);
        if let Some(&known) = self.recipes.get(&key) {
            return known;
        }
        self.queue.push(Work::Recipe(key.clone()));
        self.recipes.insert(key, next);
        next
    }

    /// The custom derivatives of a function, with adapters for them.
    pub(super) fn custom(&mut self, id: FunctionId) -> CustomDerivatives {
        let program = self.program;
        let function = &program.functions[id.0 as usize];
        let rules = function.custom;
        let is_derived = || program.functions.iter().any(|f| f.derived.is_some());
        if rules == Default::default() || !is_derived() {
            return CustomDerivatives::default();
        }
        let mut adapter = |mode: DerivativeMode, rule: Option<FunctionId>| {
            rule.map(|rule| {
                self.queue.push(Work::Adapter(mode, id, rule));
                FuncId(self.queue.len() as u32 - 1)
            })
        };
        let forward = adapter(DerivativeMode::Forward, rules.forward);
        let backward = adapter(DerivativeMode::Backward, rules.backward);
        let activity = match forward.or(backward) {
            Some(_) => {
                Canonical::new(&program.types, function, &[]).activity(DerivativeMode::Forward)
            }
            None => Activity::default(),
        };
        CustomDerivatives {
            forward,
            backward,
            substitute: rules.substitute.map(|substitute| self.reach(substitute)),
            is_zero: rules.is_zero,
            activity,
        }
    }

    /// A derived function, whose body is yet to be written.
    pub(super) fn derived_function(&mut self, (mode, of, plain): RecipeKey) -> module::Function {
        let program = self.program;
        let function = &program.functions[of.0 as usize];
        let canonical = Canonical::new(&program.types, function, &plain);
        let activity = canonical.activity(mode);
        let name = format!(
            "{}({})",
            match mode {
                DerivativeMode::Forward => "fwd_diff",
                DerivativeMode::Backward => "bwd_diff",
            },
            self.interner.name(function.name)
        );
        let mut builder = FunctionBuilder::new(name, function.span);
        declare(&mut builder, &canonical, mode, &activity, function.span);
        builder.terminate(InstKind::Unreachable, [], function.span);
        let primal = self.reach(of);
        let mut derived = builder.finish();
        derived.library = function.is_library;
        derived.members = members(&derived, &canonical, (mode, &activity), self.interner);
        derived.recipe = Some(Recipe {
            mode,
            of: primal,
            activity,
        });
        derived
    }
}

impl<'a> FunctionLowering<'_, '_, 'a> {
    /// A call of a derivative.
    pub(super) fn call_derivative(
        &mut self,
        callee: FunctionId,
        args: &[TypedExpr<'a>],
        ty: TypeId,
        is_detached: bool,
        span: Span,
    ) -> LeafValues {
        let function = &self.shared.program.functions[callee.0 as usize];
        let derived = function.derived.expect("a derivative");
        let mut values: Vec<LeafValues> = Vec::with_capacity(args.len());
        let mut outputs = Vec::new();
        for (index, (param, arg)) in function.params.iter().zip(args).enumerate() {
            if param.direction == ParamDirection::In {
                let passed = self.values(arg);
                let later = &args[index + 1..];
                values.push(self.fixed(param.ty, passed, later, span));
                continue;
            }
            let (access, place) = self.lower_place(arg);
            values.push(self.read(&access, span));
            outputs.push((index, param, access, place));
        }
        let mut returned = self.allocate_temporary(ty, span);
        self.call_canonical(&derived, &mut values, &mut returned, span);
        for (index, param, access, place) in outputs {
            if is_detached {
                self.detach(param.ty, &mut values[index], span);
            }
            self.write(&access, &values[index], span);
            self.observe_place(place, param.ty, &values[index], span);
        }
        returned
    }

    /// Calls a derived function. `values` are the leaves of each argument; those of outputs become
    /// the new ones, arrays in place. `returned` has the arrays of the result, and gets its scalars.
    fn call_canonical(
        &mut self,
        derived: &DerivedFunction<'_>,
        values: &mut [LeafValues],
        returned: &mut LeafValues,
        span: Span,
    ) {
        let program = self.shared.program;
        let primal = &program.functions[derived.of.0 as usize];
        let canonical = Canonical::new(&program.types, primal, derived.plain);
        let key = (derived.mode, derived.of, derived.plain.to_vec());
        let callee = self.shared.recipe(key);
        match derived.mode {
            DerivativeMode::Forward => {
                self.call_forward(callee, &canonical, values, returned, span);
            }
            DerivativeMode::Backward => self.call_backward(callee, &canonical, values, span),
        }
    }

    fn call_forward(
        &mut self,
        callee: FuncId,
        canonical: &Canonical<'_, '_, '_>,
        values: &mut [LeafValues],
        returned: &mut LeafValues,
        span: Span,
    ) {
        let of = |slot: &Slot, leaf: u32| match slot.param {
            Some(param) => values[param][leaf as usize],
            None => returned[leaf as usize],
        };
        let active = |slots: &[Slot]| -> Vec<Slot> {
            slots
                .iter()
                .filter(|slot| slot.is_active)
                .copied()
                .collect()
        };
        let (params, results) = (active(&canonical.params), active(&canonical.results));
        let primals = canonical.params.iter().map(|slot| of(slot, slot.leaf));
        let tangents = params
            .iter()
            .map(|slot| of(slot, canonical.pair_leaf(slot)));
        let scalars: Vec<ValueId> = primals.chain(tangents).map(LeafValue::value).collect();
        let primals = canonical.arrays.iter().map(|slot| of(slot, slot.leaf));
        let arrays = active(&canonical.arrays);
        let tangents = arrays
            .iter()
            .map(|slot| of(slot, canonical.pair_leaf(slot)));
        let arrays: Box<[ArrayId]> = primals.chain(tangents).map(LeafValue::array).collect();
        let types = canonical.results.iter().map(|slot| slot.scalar);
        let types: Vec<Scalar> = types.chain(results.iter().map(|_| Scalar::F32)).collect();
        let given = self
            .builder
            .inst(InstKind::Call(callee, arrays), scalars, types, span);
        let primals = canonical.results.iter().map(|slot| (slot, slot.leaf));
        let tangents = results.iter().map(|slot| (slot, canonical.pair_leaf(slot)));
        for ((slot, leaf), value) in primals.chain(tangents).zip(given.iter()) {
            match slot.param {
                Some(param) => values[param][leaf as usize] = value.into(),
                None => returned[leaf as usize] = value.into(),
            }
        }
    }

    fn call_backward(
        &mut self,
        callee: FuncId,
        canonical: &Canonical<'_, '_, '_>,
        values: &mut [LeafValues],
        span: Span,
    ) {
        let positions = canonical.backward_positions();
        let position = |slot: &Slot| {
            let index = slot.param.unwrap_or(canonical.function.params.len());
            positions[index].expect("a parameter of the derivative")
        };
        // The leaf of what is given or wanted for a slot beside its value.
        let change = |slot: &Slot| match canonical.direction(slot) {
            None | Some(ParamDirection::Out) => canonical.differential_leaf(slot) as usize,
            _ => canonical.pair_leaf(slot) as usize,
        };
        let mut scalars: Vec<ValueId> = Vec::new();
        for slot in &canonical.params {
            scalars.push(match canonical.is_output(slot) {
                true => self.builder.constant(slot.scalar, 0, span),
                false => values[position(slot)][slot.leaf as usize].value(),
            });
        }
        for slot in canonical.results.iter().filter(|slot| slot.is_active) {
            scalars.push(values[position(slot)][change(slot)].value());
        }
        let mut arrays: Vec<ArrayId> = Vec::new();
        for slot in &canonical.arrays {
            match slot.mode {
                PassingMode::Out => {}
                _ if canonical.is_output(slot) => {
                    arrays.push(self.builder.array(array_of(slot, None, span)));
                }
                _ => arrays.push(values[position(slot)][slot.leaf as usize].array()),
            }
        }
        for slot in canonical.arrays.iter().filter(|slot| slot.is_active) {
            let given = values[position(slot)][change(slot)].array();
            // The cotangent of an `out` array is replaced by a gradient that nobody wants.
            arrays.push(match (slot.mode, canonical.is_output(slot)) {
                (PassingMode::InOut, true) => {
                    let copy = self.builder.array(array_of(slot, None, span));
                    self.copy_array(copy, given, span);
                    copy
                }
                _ => given,
            });
        }
        let is_active = |slot: &&Slot| slot.is_active && !canonical.is_output(slot);
        let params: Vec<Slot> = canonical.params.iter().filter(is_active).copied().collect();
        let types = params.iter().map(|_| Scalar::F32);
        let kind = InstKind::Call(callee, arrays.into_boxed_slice());
        let gradients = self.builder.inst(kind, scalars, types, span);
        for (slot, gradient) in params.iter().zip(gradients.iter()) {
            values[position(slot)][change(slot)] = gradient.into();
        }
    }

    /// A call whose result, and what it writes, are constants for derivatives.
    pub(super) fn call_detached(
        &mut self,
        callee: FunctionId,
        args: &[TypedExpr<'a>],
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        self.detaches_outputs = true;
        let mut values = self.call(callee, args, ty, span);
        self.detach(ty, &mut values, span);
        values
    }

    /// The body of a derivative as a function of its own, whose derivative is wanted in turn.
    pub(super) fn derivative_body(&mut self, derived: &DerivedFunction<'_>) {
        let function = self.function;
        let span = function.span;
        let mut values: Vec<LeafValues> = Vec::with_capacity(function.params.len());
        for param in function.params {
            let first = self.first_slot(param.local);
            let slots = first..first + self.types().leaf_count(param.ty);
            values.push(slots.map(|slot| self.environment.get(slot)).collect());
        }
        let mut returned = self.returned_storage();
        self.call_canonical(derived, &mut values, &mut returned, span);
        let mut results: Vec<ValueId> = Vec::new();
        let scalars = |leaves: &LeafValues, ty: TypeId, types: &TypeTable| {
            let leaves = types.leaves(ty).iter().zip(leaves.iter());
            let scalars = leaves.filter(|(leaf, _)| leaf.len == 0);
            scalars.map(|(_, value)| value.value()).collect::<Vec<_>>()
        };
        results.extend(scalars(&returned, function.result, self.types()));
        for (param, leaves) in function.params.iter().zip(&values) {
            if param.direction != ParamDirection::In {
                results.extend(scalars(leaves, param.ty, self.types()));
            }
        }
        self.builder.terminate(InstKind::Return, results, span);
    }

    /// The value, as a constant for derivatives of functions.
    pub(super) fn detach(&mut self, ty: TypeId, values: &mut LeafValues, span: Span) {
        for (&leaf, value) in self.leaves(ty).iter().zip(values) {
            if leaf.scalar != Scalar::F32 {
                continue;
            }
            *value = match leaf.len {
                0 => self.detached(value.value(), span).into(),
                _ => {
                    let copy = self.new_array(leaf, None, span, None);
                    self.detach_array(copy, value.array(), leaf.len, span);
                    copy.into()
                }
            };
        }
    }

    pub(super) fn detached(&mut self, value: ValueId, span: Span) -> ValueId {
        let kind = InstKind::Detach;
        self.builder.inst(kind, [value], [Scalar::F32], span).first
    }

    /// `to` gets the elements of `from` as constants, in a loop.
    pub(super) fn detach_array(&mut self, to: ArrayId, from: ArrayId, len: u32, span: Span) {
        let zero = self.builder.int(0, span);
        let body = self.builder.open_region();
        let index = self.builder.param(Scalar::I32, span);
        let element = self.load(from, Scalar::F32, index, span);
        let element = self.detached(element, span);
        let kind = InstKind::Store(to);
        self.builder.inst(kind, [index, element], [], span);
        let one = self.builder.int(1, span);
        let next = self.builder.op(adumbra_ir::Op::IAdd, &[index, one], span);
        let end = self.builder.int(len as i32, span);
        let goes_on = self.builder.op(adumbra_ir::Op::ILt, &[next, end], span);
        let again = self.builder.open_region();
        self.builder
            .terminate(InstKind::Continue(body), [next], span);
        self.builder.close_region();
        let leave = self.builder.open_region();
        self.builder.terminate(InstKind::Break(body), [], span);
        self.builder.close_region();
        self.builder
            .inst(InstKind::If(again, leave), [goes_on], [], span);
        self.builder.terminate(InstKind::Unreachable, [], span);
        self.builder.close_region();
        self.builder.inst(InstKind::Loop(body), [zero], [], span);
    }
}

/// A custom derivative as a function of the canonical signature.
pub(super) fn adapter(
    shared: &mut ModuleLowering<'_, '_>,
    mode: DerivativeMode,
    of: FunctionId,
    rule: FunctionId,
) -> module::Function {
    let program = shared.program;
    let typed = |id: FunctionId| &program.functions[id.0 as usize];
    let (primal, given) = (typed(of), typed(rule));
    let canonical = Canonical::new(&program.types, primal, &[]);
    let activity = canonical.activity(DerivativeMode::Forward);
    let span = given.span;
    let mut builder = FunctionBuilder::new(shared.interner.name(given.name), span);
    let slots = declare(&mut builder, &canonical, mode, &activity, span);
    let mut adapter = Adapter {
        builder,
        canonical: &canonical,
        slots,
        positions: canonical.backward_positions(),
        span,
    };
    let rule = shared.reach(rule);
    match mode {
        DerivativeMode::Forward => adapter.forward(rule, given, &activity),
        DerivativeMode::Backward => adapter.backward(rule, given, &activity),
    }
    let mut function = adapter.builder.finish();
    function.library = true;
    function
}

/// An adapter being made.
struct Adapter<'c, 't, 'p, 'a> {
    builder: FunctionBuilder,
    canonical: &'c Canonical<'t, 'p, 'a>,
    slots: CanonicalParams,
    positions: Vec<Option<usize>>,
    span: Span,
}

/// Which part of a pair a leaf is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A leaf of the value.
    Primal(u32),
    /// The differential of this leaf of the value.
    Change(u32),
}

impl Adapter<'_, '_, '_, '_> {
    /// The part that leaf `leaf` is of a pair, or of a differential alone.
    fn part(&self, param: Option<usize>, leaf: u32, is_differential: bool) -> Part {
        let mask = self.canonical.mask(param);
        let first = if is_differential {
            0
        } else {
            mask.len() as u32
        };
        if leaf < first {
            return Part::Primal(leaf);
        }
        let active = (0..).zip(mask).filter(|(_, is_active)| **is_active);
        let nth = active.map(|(leaf, _)| leaf).nth((leaf - first) as usize);
        Part::Change(nth.expect("a leaf of the differential"))
    }

    fn find(slots: &[Slot], param: Option<usize>, leaf: u32) -> Option<usize> {
        let is_it = |slot: &Slot| slot.param == param && slot.leaf == leaf;
        slots.iter().position(is_it)
    }

    fn zero(&mut self, scalar: Scalar) -> ValueId {
        self.builder.constant(scalar, 0, self.span)
    }

    /// A copy of an array that the rule may write to.
    fn copy(&mut self, slot: &Slot, from: Option<ArrayId>) -> ArrayId {
        let copy = self.builder.array(array_of(slot, None, self.span));
        if let Some(from) = from {
            let kind = InstKind::ArrayCopy { to: copy, from };
            self.builder.inst(kind, [], [], self.span);
        }
        copy
    }

    fn forward(&mut self, rule: FuncId, given: &TypedFunction<'_>, activity: &Activity) {
        let theirs = Canonical::new(self.canonical.types, given, &[]);
        let mut scalars = Vec::new();
        for slot in &theirs.params {
            let part = self.part(slot.param, slot.leaf, false);
            let found = match part {
                Part::Primal(leaf) => Self::find(&self.canonical.params, slot.param, leaf)
                    .map(|index| self.slots.params[index]),
                Part::Change(leaf) => Self::find(&self.canonical.params, slot.param, leaf)
                    .and_then(|index| self.slots.changes[index]),
            };
            // An `out` parameter with a default takes nothing.
            scalars.push(found.unwrap_or_else(|| self.zero(slot.scalar)));
        }
        let mut arrays = Vec::new();
        for slot in &theirs.arrays {
            let (leaf, lists) = match self.part(slot.param, slot.leaf, false) {
                Part::Primal(leaf) => (leaf, &self.slots.arrays),
                Part::Change(leaf) => (leaf, &self.slots.array_changes),
            };
            let index = Self::find(&self.canonical.arrays, slot.param, leaf);
            let array = index.and_then(|index| lists[index]);
            arrays.push(array.expect("an array of the canonical signature"));
        }
        let types = theirs.results.iter().map(|slot| slot.scalar);
        let kind = InstKind::Call(rule, arrays.into_boxed_slice());
        let values = self.builder.inst(kind, scalars, types, self.span);
        let find = |param, leaf| {
            let index = Self::find(&theirs.results, param, leaf).expect("a result of the rule");
            ValueId(values.first.0 + index as u32)
        };
        let canonical = self.canonical;
        let primals = canonical
            .results
            .iter()
            .map(|slot| find(slot.param, slot.leaf));
        let active = canonical.results.iter().zip(&activity.results);
        let active = active.filter(|(_, is_active)| **is_active);
        let tangents = active.map(|(slot, _)| find(slot.param, canonical.pair_leaf(slot)));
        let results: Vec<ValueId> = primals.chain(tangents).collect();
        self.builder.terminate(InstKind::Return, results, self.span);
    }

    /// The parameter of the primal function, `None` for its result, that a parameter of its
    /// backward derivative belongs to; whether that is a differential alone.
    fn source(&self, position: usize) -> (Option<usize>, bool) {
        let index = self.positions.iter().position(|&at| at == Some(position));
        let index = index.expect("a parameter of the derivative");
        match self.canonical.function.params.get(index) {
            None => (None, true),
            Some(param) => (Some(index), param.direction == ParamDirection::Out),
        }
    }

    fn backward(&mut self, rule: FuncId, given: &TypedFunction<'_>, activity: &Activity) {
        let theirs = Canonical::new(self.canonical.types, given, &[]);
        let canonical = self.canonical;
        let mut scalars = Vec::new();
        for slot in &theirs.params {
            let (param, is_differential) = self.source(slot.param.expect("a parameter"));
            let found = match self.part(param, slot.leaf, is_differential) {
                Part::Primal(leaf) => {
                    Self::find(&canonical.params, param, leaf).map(|index| self.slots.params[index])
                }
                Part::Change(leaf) => Self::find(&canonical.results, param, leaf)
                    .and_then(|index| self.slots.changes[index]),
            };
            scalars.push(found.unwrap_or_else(|| self.zero(slot.scalar)));
        }
        let mut arrays = Vec::new();
        for slot in &theirs.arrays {
            let (param, is_differential) = self.source(slot.param.expect("a parameter"));
            let part = self.part(param, slot.leaf, is_differential);
            let (Part::Primal(leaf) | Part::Change(leaf)) = part;
            let index = Self::find(&canonical.arrays, param, leaf).expect("an array");
            arrays.push(match part {
                // The rule may write to the value of an `inout` pair, the canonical call not.
                Part::Primal(_) => self.copy(slot, self.slots.arrays[index]),
                Part::Change(_) => self.slots.array_changes[index].expect("an active array"),
            });
        }
        let types = theirs.results.iter().map(|slot| slot.scalar);
        let kind = InstKind::Call(rule, arrays.into_boxed_slice());
        let values = self.builder.inst(kind, scalars, types, self.span);
        // What an `out` array held before has no gradient.
        for (index, slot) in canonical.arrays.iter().enumerate() {
            if let (true, PassingMode::InOut, Some(array)) = (
                canonical.is_output(slot),
                slot.mode,
                self.slots.array_changes[index],
            ) {
                let kind = InstKind::ArrayZero(array);
                self.builder.inst(kind, [], [], self.span);
            }
        }
        let mut results = Vec::new();
        let active = canonical.params.iter().zip(&activity.params);
        for (slot, _) in active.filter(|(_, is_active)| **is_active) {
            results.push(match canonical.is_output(slot) {
                true => self.zero(Scalar::F32),
                false => {
                    let position = self.positions[slot.param.expect("a parameter")];
                    let leaf = canonical.pair_leaf(slot);
                    let index = Self::find(&theirs.results, position, leaf);
                    ValueId(values.first.0 + index.expect("a gradient of the rule") as u32)
                }
            });
        }
        self.builder.terminate(InstKind::Return, results, self.span);
    }
}
