//! Lowers one function: its parameters, results and variables.
//!
//! Scalar parameters are the scalars of `in` and `inout` parameters; results are the scalars of the
//! return value, then those of `out` and `inout` parameters. Array parameters come in the same
//! order, those of the return value last, as `Out`. The entry has no array parameters: their
//! elements are parameters and results of their own, in the order of the host's types.

use super::ModuleLowering;
use super::ssa::{JumpTarget, LeafValue, SsaEnvironment};
use crate::ast::ParamDirection;
use crate::check::typed_tree::{FunctionId, LocalId, TypedFunction, TypedParam};
use crate::check::types::{Leaf, TypeId, TypeKind, TypeTable};
use adumbra_ir::module::{
    self, Array, ArrayId, InstKind, NameId, PassingMode, SourceParam, ValueId,
};
use adumbra_ir::{FunctionBuilder, Lanes, Scalar, Span};
use smallvec::SmallVec;

/// The leaves of a value.
pub(super) type LeafValues = SmallVec<[LeafValue; 4]>;

/// The function being made.
pub(super) struct FunctionLowering<'l, 'p, 'a> {
    pub(super) shared: &'l mut ModuleLowering<'p, 'a>,
    pub(super) function: &'p TypedFunction<'a>,
    pub(super) builder: FunctionBuilder,
    pub(super) environment: SsaEnvironment,
    /// The first slot of each variable.
    first_slots: Vec<u32>,
    /// The loops and switches around the statement being lowered.
    pub(super) targets: Vec<JumpTarget>,
    /// The old value, inside a compound assignment.
    pub(super) current: LeafValues,
    /// Whether what the next call writes to its arguments is a constant for derivatives.
    pub(super) detaches_outputs: bool,
    /// The arrays of the return value.
    return_arrays: SmallVec<[ArrayId; 2]>,
    is_entry: bool,
    /// Whether the function is observed.
    pub(super) is_observed: bool,
    /// If so: the indices of the place that is being resolved, outermost first, without constants.
    pub(super) indices: Vec<ValueId>,
}

/// Lowers one function.
pub(super) fn lower(
    shared: &mut ModuleLowering<'_, '_>,
    id: FunctionId,
    is_entry: bool,
) -> module::Function {
    let function = &shared.program.functions[id.0 as usize];
    shared.hint_function(function);
    let types = &shared.program.types;
    let mut first_slots = Vec::with_capacity(function.locals.len());
    let mut slots = 0;
    for local in function.locals {
        first_slots.push(slots);
        slots += types.leaf_count(local.ty);
    }
    let is_observed = shared.observer.is_some() && !function.is_library;
    let mut body = FunctionLowering {
        builder: FunctionBuilder::new(shared.interner.name(function.name), function.span),
        shared,
        function,
        environment: SsaEnvironment::new(slots as usize),
        first_slots,
        targets: Vec::new(),
        current: LeafValues::new(),
        detaches_outputs: false,
        return_arrays: SmallVec::new(),
        is_entry,
        is_observed,
        indices: Vec::new(),
    };
    body.signature();
    if let Some(derived) = &function.derived {
        body.derivative_body(derived);
        let mut function = body.builder.finish();
        function.library = true;
        return function;
    }
    body.detach_params();
    body.observe_entry();
    body.statements(function.body);
    if !body.builder.is_terminated() {
        body.return_from_function(&[], function.span);
    }
    let mut lowered = body.builder.finish();
    lowered.custom = shared.custom(id);
    lowered.decides = function.decides;
    lowered
}

/// Calls `f` for each scalar of a value in the order of the host's types: its leaf and, in an
/// array, its element.
pub(super) fn for_each_host_scalar(
    types: &TypeTable,
    ty: TypeId,
    f: &mut impl FnMut(u32, Option<u32>),
) {
    for_each_host_scalar_from(types, ty, 0, None, f);
}

/// The same for the part of a value whose first leaf is `first` and whose elements begin with the
/// one numbered `at`.
pub(super) fn for_each_host_scalar_from(
    types: &TypeTable,
    ty: TypeId,
    first: u32,
    at: Option<u32>,
    f: &mut impl FnMut(u32, Option<u32>),
) {
    match types.kind(ty) {
        TypeKind::Array(element, len) => {
            for index in 0..len {
                let at = at.unwrap_or(0) * len + index;
                for_each_host_scalar_from(types, element, first, Some(at), f);
            }
        }
        TypeKind::Struct(number) => {
            for member in types.members(number) {
                for_each_host_scalar_from(types, member.ty, first + member.leaf, at, f);
            }
        }
        _ => (first..first + types.leaf_count(ty)).for_each(|leaf| f(leaf, at)),
    }
}

pub(super) fn mode(direction: ParamDirection) -> PassingMode {
    match direction {
        ParamDirection::In => PassingMode::In,
        ParamDirection::Out => PassingMode::Out,
        ParamDirection::InOut => PassingMode::InOut,
    }
}

impl<'p, 'a> FunctionLowering<'_, 'p, 'a> {
    pub(super) fn types(&self) -> &'p TypeTable {
        &self.shared.program.types
    }

    pub(super) fn leaves(&self, ty: TypeId) -> &'p [Leaf] {
        self.types().leaves(ty)
    }

    pub(super) fn first_slot(&self, local: LocalId) -> u32 {
        self.first_slots[local.0 as usize]
    }

    /// The name of a variable's first leaf.
    fn name_of(&mut self, local: LocalId) -> NameId {
        let slot = self.first_slot(local);
        if let Some(known) = self.environment.name(slot) {
            return known;
        }
        let variable = &self.function.locals[local.0 as usize];
        let first = self.shared.leaf_names(variable.name, variable.ty);
        for leaf in 0..self.types().leaf_count(variable.ty) {
            self.environment
                .set_name(slot + leaf, NameId(first.0 + leaf));
        }
        first
    }

    /// Sets a leaf of a declared variable, whose name the value gets if it has none.
    pub(super) fn set(&mut self, slot: u32, value: ValueId) {
        if let Some(name) = self.environment.name(slot) {
            self.builder.name(value, name);
        }
        self.environment.set(slot, value.into());
    }

    pub(super) fn new_array(
        &mut self,
        leaf: Leaf,
        mode: Option<PassingMode>,
        span: Span,
        name: Option<NameId>,
    ) -> ArrayId {
        self.builder.array(Array {
            element: leaf.scalar,
            len: leaf.len,
            lanes: Lanes::NONE,
            mode,
            span,
            name,
        })
    }

    fn add_result(&mut self, ty: Scalar) {
        self.builder
            .function_mut()
            .results
            .push(module::FuncResult {
                ty,
                lanes: Lanes::NONE,
            });
    }

    fn signature(&mut self) {
        let function = self.function;
        let mut members = Vec::with_capacity(function.params.len() + 1);
        self.builder.function_mut().library = function.is_library;
        let mut counts = Counts::default();
        for leaf in self.leaves(function.result) {
            if leaf.len == 0 {
                counts.results += 1;
                self.add_result(leaf.scalar);
            }
        }
        let returned = counts.results;
        for param in function.params {
            let before = counts;
            self.name_of(param.local);
            match self.is_entry {
                true => self.entry_param(param, &mut counts),
                false => self.param(param, &mut counts),
            }
            members.push(self.member(param, before, counts));
        }
        if function.result != TypeId::VOID {
            for &leaf in self.leaves(function.result) {
                if leaf.len > 0 {
                    let array = self.new_array(leaf, Some(PassingMode::Out), function.span, None);
                    self.return_arrays.push(array);
                }
            }
            members.push(SourceParam {
                name: "return".to_owned(),
                ty: self
                    .types()
                    .host_type(function.result, self.shared.interner),
                mode: PassingMode::Return,
                params: (0, 0),
                results: (0, returned),
                arrays: (counts.arrays, self.return_arrays.len() as u32),
            });
        }
        self.builder.function_mut().members = members;
        // After the parameters: array parameters precede all other arrays, and parameters all
        // instructions.
        for param in function.params {
            if self.direction(param) == ParamDirection::Out {
                self.start_output(param);
            }
        }
    }

    /// `no_diff` parameters are constants for derivatives.
    fn detach_params(&mut self) {
        for param in self.function.params {
            if !param.is_no_diff || self.is_entry {
                continue;
            }
            let first = self.first_slot(param.local);
            for (slot, &leaf) in (first..).zip(self.leaves(param.ty)) {
                let value = self.environment.get(slot);
                match (leaf.scalar, leaf.len) {
                    (Scalar::F32, 0) => {
                        let value = self.detached(value.value(), param.span);
                        self.set(slot, value);
                    }
                    (Scalar::F32, len) => {
                        self.detach_elements(value.array(), len, param.span);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The arrays of the return value, and places for its scalars.
    pub(super) fn returned_storage(&self) -> LeafValues {
        let mut arrays = self.return_arrays.iter();
        let leaves = self.leaves(self.function.result).iter();
        leaves
            .map(|leaf| match leaf.len {
                0 => LeafValue::EMPTY,
                _ => (*arrays.next().expect("an array for each array leaf")).into(),
            })
            .collect()
    }

    /// The direction of a parameter's value: an entry has no caller, so its outputs bring nothing.
    fn direction(&self, param: &TypedParam) -> ParamDirection {
        match self.is_entry {
            true => param.direction,
            false => param.call_direction(),
        }
    }

    fn member(&self, param: &TypedParam, before: Counts, after: Counts) -> SourceParam {
        let range = |start: u32, end: u32| (start, end - start);
        SourceParam {
            name: self.shared.interner.name(param.name).to_owned(),
            ty: self.types().host_type(param.ty, self.shared.interner),
            mode: mode(self.direction(param)),
            params: range(before.params, after.params),
            results: range(before.results, after.results),
            arrays: range(before.arrays, after.arrays),
        }
    }

    fn param(&mut self, param: &TypedParam, counts: &mut Counts) {
        let first = self.first_slot(param.local);
        let direction = param.call_direction();
        for (slot, &leaf) in (first..).zip(self.leaves(param.ty)) {
            if leaf.len > 0 {
                let name = self.environment.name(slot);
                let array = self.new_array(leaf, Some(mode(direction)), param.span, name);
                self.environment.set(slot, array.into());
                counts.arrays += 1;
                continue;
            }
            if direction != ParamDirection::Out {
                let value = self.builder.param(leaf.scalar, param.span);
                self.set(slot, value);
                counts.params += 1;
            }
            if direction != ParamDirection::In {
                self.add_result(leaf.scalar);
                counts.results += 1;
            }
        }
    }

    /// A parameter of the entry: elements of arrays are scalars of their own.
    fn entry_param(&mut self, param: &TypedParam, counts: &mut Counts) {
        let (types, leaves) = (self.types(), self.leaves(param.ty));
        if param.direction != ParamDirection::In {
            for_each_host_scalar(types, param.ty, &mut |leaf, _| {
                self.add_result(leaves[leaf as usize].scalar);
                counts.results += 1;
            });
            return;
        }
        let mut storage = self.allocate_variable(param.local, param.ty, param.span);
        let mut elements: Vec<(u32, u32, ValueId)> = Vec::new();
        for_each_host_scalar(types, param.ty, &mut |leaf, element| {
            let value = self.builder.param(leaves[leaf as usize].scalar, param.span);
            counts.params += 1;
            match element {
                None => storage[leaf as usize] = value.into(),
                Some(element) => elements.push((leaf, element, value)),
            }
        });
        for (leaf, element, value) in elements {
            self.store(storage[leaf as usize].array(), element, value, param.span);
        }
        self.bind_variable(param.local, storage);
    }

    /// An `out` parameter starts with its default or zero.
    fn start_output(&mut self, param: &TypedParam<'a>) {
        let storage = match self.is_entry {
            true => self.allocate_variable(param.local, param.ty, param.span),
            false => {
                let first = self.first_slot(param.local);
                let slots = first..first + self.types().leaf_count(param.ty);
                slots.map(|slot| self.environment.get(slot)).collect()
            }
        };
        self.initialise_variable(param.local, storage, param.default, true);
    }

    /// The storage of a variable: slots for scalar leaves, arrays for the others.
    pub(super) fn allocate_variable(
        &mut self,
        local: LocalId,
        ty: TypeId,
        span: Span,
    ) -> LeafValues {
        let name = self.name_of(local);
        let mut storage = LeafValues::new();
        for (index, &leaf) in (0..).zip(self.leaves(ty)) {
            storage.push(match leaf.len {
                0 => LeafValue::EMPTY,
                _ => {
                    let name = NameId(name.0 + index);
                    self.new_array(leaf, None, span, Some(name)).into()
                }
            });
        }
        storage
    }

    /// Begins a variable's life.
    pub(super) fn bind_variable(&mut self, local: LocalId, values: LeafValues) {
        self.name_of(local);
        let first = self.first_slot(local);
        let leaves = self.leaves(self.function.locals[local.0 as usize].ty);
        for ((slot, leaf), value) in (first..).zip(leaves).zip(values) {
            match leaf.len {
                0 => self.set(slot, value.value()),
                _ => self.environment.set(slot, value),
            }
        }
    }

    /// `array[element] = value` with a constant index.
    pub(super) fn store(&mut self, array: ArrayId, element: u32, value: ValueId, span: Span) {
        let index = self.builder.int(element as i32, span);
        self.builder
            .inst(InstKind::Store(array), [index, value], [], span);
    }

    /// Returns from the function with its results.
    pub(super) fn return_from_function(&mut self, value: &[LeafValue], span: Span) {
        let function = self.function;
        self.observe_return(value, span);
        let mut results: Vec<ValueId> = Vec::with_capacity(function.params.len() + value.len());
        let mut arrays = 0;
        let value = match function.is_no_diff {
            true => {
                let mut detached = LeafValues::from_slice(value);
                self.detach(function.result, &mut detached, span);
                detached
            }
            false => LeafValues::from_slice(value),
        };
        for (leaf, value) in self.leaves(function.result).iter().zip(&value) {
            if leaf.len == 0 {
                results.push(value.value());
                continue;
            }
            let kind = InstKind::ArrayCopy {
                to: self.return_arrays[arrays],
                from: value.array(),
            };
            self.builder.inst(kind, [], [], span);
            arrays += 1;
        }
        let outputs = function
            .params
            .iter()
            .filter(|p| p.direction != ParamDirection::In);
        for param in outputs {
            match self.is_entry {
                true => self.entry_output(param, span, &mut results),
                false => {
                    let first = self.first_slot(param.local);
                    let leaves = (first..).zip(self.leaves(param.ty));
                    let scalars = leaves.filter(|(_, leaf)| leaf.len == 0);
                    results.extend(scalars.map(|(slot, _)| self.environment.get(slot).value()));
                }
            }
        }
        self.builder.terminate(InstKind::Return, results, span);
    }

    fn entry_output(&mut self, param: &TypedParam, span: Span, results: &mut Vec<ValueId>) {
        let first = self.first_slot(param.local);
        let leaves = self.leaves(param.ty);
        for_each_host_scalar(self.types(), param.ty, &mut |leaf, element| {
            let value = self.environment.get(first + leaf);
            results.push(match element {
                None => value.value(),
                Some(element) => {
                    let index = self.builder.int(element as i32, span);
                    self.load(value.array(), leaves[leaf as usize].scalar, index, span)
                }
            });
        });
    }
}

/// How many scalar parameters, results and array parameters there are so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    params: u32,
    results: u32,
    arrays: u32,
}
