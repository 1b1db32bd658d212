//! Copies the instructions of a function into another function that is being built.

use crate::builder::FunctionBuilder;
use crate::module::*;
use crate::types::Scalar;

/// The names in the new function of what was copied.
pub(super) struct Copied {
    values: Vec<Option<ValueId>>,
    regions: Vec<Option<RegionId>>,
    arrays: Vec<Option<ArrayId>>,
}

impl Copied {
    /// Nothing of the function is copied yet.
    pub(super) fn new(function: &Function) -> Copied {
        Copied {
            values: vec![None; function.values.len()],
            regions: vec![None; function.regions.len()],
            arrays: vec![None; function.arrays.len()],
        }
    }

    /// The new value, if the old one has been copied.
    pub(super) fn get(&self, value: ValueId) -> Option<ValueId> {
        self.values[value.index()]
    }

    /// The new value of one that has been copied: its definition dominates the use.
    pub(super) fn value(&self, value: ValueId) -> ValueId {
        self.values[value.index()].expect("operands are copied before")
    }

    /// The new region of one that is open or was copied.
    pub(super) fn region(&self, region: RegionId) -> RegionId {
        self.regions[region.index()].expect("jumps lead to open regions")
    }

    /// The new array.
    pub(super) fn array(&self, array: ArrayId) -> ArrayId {
        self.arrays[array.index()].expect("arrays come before instructions")
    }

    /// Says which value the copy of an old one is.
    pub(super) fn set_value(&mut self, old: ValueId, new: ValueId) {
        self.values[old.index()] = Some(new);
    }

    /// Says which region the copy of an old one is.
    pub(super) fn set_region(&mut self, old: RegionId, new: RegionId) {
        self.regions[old.index()] = Some(new);
    }

    /// Forgets the copies of the values of a region, which has been closed.
    pub(super) fn hide(&mut self, function: &Function, region: RegionId) {
        let region = function.region(region);
        let results = region.insts.iter().flat_map(|inst| inst.results.iter());
        for value in region.params.iter().copied().chain(results) {
            self.values[value.index()] = None;
        }
    }

    /// Adds the copy of an old array, of that mode.
    pub(super) fn add_array(
        &mut self,
        builder: &mut FunctionBuilder,
        old: usize,
        array: &Array,
        mode: Option<PassingMode>,
    ) {
        self.arrays[old] = Some(builder.array(Array { mode, ..*array }));
    }

    /// The copied operands.
    pub(super) fn args(&self, args: &[ValueId]) -> Args {
        args.iter().map(|&arg| self.value(arg)).collect()
    }

    /// The kind with new arrays; regions are the caller's business.
    fn kind(&self, kind: &InstKind) -> InstKind {
        let mut kind = kind.clone();
        kind.for_each_array_mut(|array| *array = self.array(*array));
        kind
    }

    /// Copies an instruction without regions that is no terminator.
    pub(super) fn copy(&mut self, builder: &mut FunctionBuilder, from: &Function, inst: &Inst) {
        let types: Vec<Scalar> = inst.results.iter().map(|r| from.value(r).ty).collect();
        let results = builder.inst(
            self.kind(&inst.kind),
            self.args(&inst.args),
            types,
            inst.span,
        );
        self.define(builder, from, inst, results);
    }

    /// Says that the first of `results` are those of an old instruction.
    pub(super) fn define(
        &mut self,
        builder: &mut FunctionBuilder,
        from: &Function,
        inst: &Inst,
        results: Results,
    ) {
        for (old, new) in inst.results.iter().zip(results.iter()) {
            if let Some(name) = from.value(old).name {
                builder.name(new, name);
            }
            self.set_value(old, new);
        }
    }

    /// Adds a copied parameter to the current region.
    pub(super) fn param(&mut self, builder: &mut FunctionBuilder, from: &Function, old: ValueId) {
        let value = from.value(old);
        let new = builder.param(value.ty, value.span);
        if let Some(name) = value.name {
            builder.name(new, name);
        }
        self.set_value(old, new);
    }
}

/// An index that does not fault: that element which an access with `index` has, once it faulted.
pub(super) fn clamped_index(
    builder: &mut FunctionBuilder,
    index: ValueId,
    len: u32,
    span: crate::span::Span,
) -> ValueId {
    let last = builder.int(len as i32 - 1, span);
    let zero = builder.int(0, span);
    let below = builder.op(adumbra_ops::Op::IMin, &[index, last], span);
    builder.op(adumbra_ops::Op::IMax, &[below, zero], span)
}
