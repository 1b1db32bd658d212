//! Derivatives of functions: calls with pairs become calls in scalars.
//!
//! A derived function of the IR has the [canonical signature](adumbra_ir::derivative): scalars and
//! arrays of the primal function, then tangents or cotangents. A call of the language has pairs,
//! whose leaves are those of the value, then those of the differential. [`Canonical`] knows which
//! leaf is which scalar. Custom derivatives are the other way round: an [`adapter`] with the
//! canonical signature calls the function of the shader writer.

mod adapter;
mod canonical;

use super::function::{FunctionLowering, LeafValues};
use super::ssa::LeafValue;
use super::{ModuleLowering, Work};
use crate::ast::ParamDirection;
use crate::check::typed_tree::{
    CustomRules, DerivedFunction, FunctionId, TypedExpr, TypedFunction,
};
use crate::check::types::{TypeId, TypeTable};
pub(super) use adapter::adapter;
use adumbra_ir::module::{
    self, Activity, ArrayId, CustomDerivatives, DifferentiationMode, FuncId, InstKind, PassingMode,
    Recipe, ValueId,
};
use adumbra_ir::{FunctionBuilder, Scalar, Span};
use canonical::{Canonical, Slot, array_of, declare, members};

/// A scalar or an array of a function's signature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignatureSlot {
    /// The parameter; `None` for the result.
    pub(crate) param: Option<usize>,
    /// Whether derivatives have it.
    pub(crate) is_active: bool,
    /// Whether it is a float, or some.
    pub(crate) is_float: bool,
}

/// What goes into a function, scalars before arrays, and what comes out of it.
pub(crate) fn signature_slots(
    types: &TypeTable,
    function: &TypedFunction<'_>,
) -> [Vec<SignatureSlot>; 2] {
    let canonical = Canonical::new(types, function, &[]);
    let slot = |slot: &Slot| SignatureSlot {
        param: slot.param,
        is_active: slot.is_active,
        is_float: slot.scalar == Scalar::F32,
    };
    [&canonical.params, &canonical.results]
        .map(|scalars| scalars.iter().chain(&canonical.arrays).map(slot).collect())
}

/// A derivative as the IR has it: mode, primal function, and which of its parameters are plain.
pub(super) type RecipeKey = (DifferentiationMode, FunctionId, Vec<bool>);

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
        let rules = match self.has_derivatives {
            true => function.custom,
            // Shadows go by forward derivatives.
            false => CustomRules {
                forward: function.custom.forward,
                ..CustomRules::default()
            },
        };
        if rules == CustomRules::default() {
            return CustomDerivatives::default();
        }
        let mut adapter = |mode: DifferentiationMode, rule: Option<FunctionId>| {
            rule.map(|rule| {
                self.queue.push(Work::Adapter(mode, id, rule));
                FuncId(self.queue.len() as u32 - 1)
            })
        };
        let forward = adapter(DifferentiationMode::Forward, rules.forward);
        let backward = adapter(DifferentiationMode::Backward, rules.backward);
        let (mut activity, mut lost) = (Activity::default(), Vec::new());
        if forward.or(backward).is_some() {
            let canonical = Canonical::new(&program.types, function, &[]);
            activity = canonical.activity(DifferentiationMode::Forward);
            let is_lost = |slot: &Slot| {
                let param = slot.param.map(|at| &function.params[at]);
                slot.scalar == Scalar::F32
                    && !slot.is_active
                    && param.is_some_and(|param| {
                        !param.is_no_diff
                            && param.direction != ParamDirection::Out
                            && !program.types.is_differentiable(param.ty)
                    })
            };
            lost = (canonical.params.iter().chain(&canonical.arrays))
                .map(is_lost)
                .collect();
            if !lost.contains(&true) {
                lost.clear();
            }
        }
        CustomDerivatives {
            forward,
            backward,
            substitute: rules.substitute.map(|substitute| self.reach(substitute)),
            is_zero: rules.is_zero,
            activity,
            lost,
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
                DifferentiationMode::Forward => "fwd_diff",
                DifferentiationMode::Backward => "bwd_diff",
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
            with_results: false,
            screen: None,
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
    /// the new ones, arrays in place. `returned` has the arrays of the result, and gets its
    /// scalars.
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
            DifferentiationMode::Forward => {
                self.call_forward(callee, &canonical, values, returned, span);
            }
            DifferentiationMode::Backward => self.call_backward(callee, &canonical, values, span),
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
            // The cotangent of an `out` array is replaced by a gradient that the call drops.
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
        if !self.shared.has_derivatives {
            return;
        }
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

    /// The elements of an array become constants, in a loop.
    pub(super) fn detach_elements(&mut self, array: ArrayId, len: u32, span: Span) {
        if self.shared.has_derivatives {
            self.detach_array(array, array, len, span);
        }
    }

    /// `to` gets the elements of `from` as constants, in a loop.
    fn detach_array(&mut self, to: ArrayId, from: ArrayId, len: u32, span: Span) {
        let elements = self.builder.open_elements(len, span);
        let element = self.load(from, Scalar::F32, elements.index, span);
        let element = self.detached(element, span);
        let kind = InstKind::Store(to);
        self.builder.inst(kind, [elements.index, element], [], span);
        self.builder.close_elements(elements, span);
    }
}
