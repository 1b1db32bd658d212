//! Adapters: custom derivatives as functions of the canonical signature.

use super::canonical::{Canonical, CanonicalParams, Slot, array_of, declare};
use crate::ast::ParamDirection;
use crate::check::typed_tree::{FunctionId, TypedFunction};
use crate::lower::ModuleLowering;
use adumbra_ir::module::{
    self, Activity, ArrayId, DifferentiationMode, FuncId, InstKind, PassingMode, ValueId,
};
use adumbra_ir::{FunctionBuilder, Scalar, Span};

/// A custom derivative as a function of the canonical signature.
pub(in crate::lower) fn adapter(
    shared: &mut ModuleLowering<'_, '_>,
    mode: DifferentiationMode,
    of: FunctionId,
    rule: FunctionId,
) -> module::Function {
    let program = shared.program;
    let typed = |id: FunctionId| &program.functions[id.0 as usize];
    let (primal, given) = (typed(of), typed(rule));
    let canonical = Canonical::new(&program.types, primal, &[]);
    let activity = canonical.activity(DifferentiationMode::Forward);
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
        DifferentiationMode::Forward => adapter.forward(rule, given, &activity),
        DifferentiationMode::Backward => adapter.backward(rule, given, &activity),
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
