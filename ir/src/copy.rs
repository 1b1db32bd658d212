//! Copies of instructions and regions, within a function or into another.
//!
//! [`Copied`] knows what the copy of each value, region and array is, and gives copied instructions
//! those in place of the originals. It reads the instruction table, so no kind of instruction needs
//! code of its own to be copied. Linking, inlining, unrolling, DCE and derivatives of functions
//! copy by it; each decides what new values and arrays are like.
//!
//! A value is defined before its uses, an array before instructions, and a region is open where a
//! jump leads to it. So whatever an instruction holds has a copy already.

use crate::builder::FunctionBuilder;
use crate::instruction::FieldMut;
use crate::module::*;
use crate::types::Scalar;

/// The copies of what a function consists of.
#[derive(Debug)]
pub(crate) struct Copied {
    values: Vec<Option<ValueId>>,
    regions: Vec<Option<RegionId>>,
    arrays: Vec<Option<ArrayId>>,
}

impl Copied {
    /// Nothing of the function is copied yet.
    pub(crate) fn new(function: &Function) -> Copied {
        Copied {
            values: vec![None; function.values.len()],
            regions: vec![None; function.regions.len()],
            arrays: vec![None; function.arrays.len()],
        }
    }

    /// Each part of the function is its own copy, for copies within it.
    pub(crate) fn itself(function: &Function) -> Copied {
        let mut copied = Copied {
            values: Vec::new(),
            regions: Vec::new(),
            arrays: (0..function.arrays.len() as u32)
                .map(ArrayId)
                .map(Some)
                .collect(),
        };
        copied.extend(function);
        copied
    }

    /// Makes the values and regions that the function has got since then their own copies, too.
    pub(crate) fn extend(&mut self, function: &Function) {
        let values = self.values.len() as u32..function.values.len() as u32;
        self.values.extend(values.map(ValueId).map(Some));
        let regions = self.regions.len() as u32..function.regions.len() as u32;
        self.regions.extend(regions.map(RegionId).map(Some));
    }

    /// The copy of a value, if it has been copied.
    pub(crate) fn get(&self, value: ValueId) -> Option<ValueId> {
        self.values[value.index()]
    }

    /// The copy of a value that has been copied: its definition dominates the use.
    pub(crate) fn value(&self, value: ValueId) -> ValueId {
        self.values[value.index()].expect("operands are copied before")
    }

    /// The copy of a region that is open or was copied.
    pub(crate) fn region(&self, region: RegionId) -> RegionId {
        self.regions[region.index()].expect("jumps lead to open regions")
    }

    /// The copy of an array.
    pub(crate) fn array(&self, array: ArrayId) -> ArrayId {
        self.arrays[array.index()].expect("arrays come before instructions")
    }

    /// Whether an array has been copied.
    pub(crate) fn has_array(&self, array: ArrayId) -> bool {
        self.arrays[array.index()].is_some()
    }

    /// Says which value the copy of an old one is.
    pub(crate) fn set_value(&mut self, old: ValueId, new: ValueId) {
        self.values[old.index()] = Some(new);
    }

    /// Says which region the copy of an old one is.
    pub(crate) fn set_region(&mut self, old: RegionId, new: RegionId) {
        self.regions[old.index()] = Some(new);
    }

    /// Says which array the copy of an old one is.
    pub(crate) fn set_array(&mut self, old: ArrayId, new: ArrayId) {
        self.arrays[old.index()] = Some(new);
    }

    /// Forgets the copies of the values of a region, which has been closed.
    pub(crate) fn hide(&mut self, function: &Function, region: RegionId) {
        let region = function.region(region);
        let results = region.insts.iter().flat_map(|inst| inst.results.iter());
        for value in region.params.iter().copied().chain(results) {
            self.values[value.index()] = None;
        }
    }

    /// The copies of operands.
    pub(crate) fn args(&self, args: &[ValueId]) -> Args {
        args.iter().map(|&arg| self.value(arg)).collect()
    }

    /// The kind with copies of its regions and arrays.
    pub(crate) fn kind(&self, kind: &InstKind) -> InstKind {
        let mut kind = kind.clone();
        self.rename_kind(&mut kind);
        kind
    }

    fn rename_kind(&self, kind: &mut InstKind) {
        kind.for_each_field_mut(|field| match field {
            FieldMut::Region(id) | FieldMut::Target(id) => *id = self.region(*id),
            FieldMut::Read(id) | FieldMut::Written(id) => *id = self.array(*id),
            FieldMut::Passed(ids) => ids.iter_mut().for_each(|id| *id = self.array(*id)),
            _ => {}
        });
    }

    /// Replaces what an instruction holds by the copies, but for the results.
    pub(crate) fn rename(&self, inst: &mut Inst) {
        for arg in &mut inst.args {
            *arg = self.value(*arg);
        }
        self.rename_kind(&mut inst.kind);
    }

    /// Makes an instruction its copy, whose results are new values from `first` on.
    pub(crate) fn inst(&mut self, inst: &mut Inst, first: usize) {
        self.rename(inst);
        let results = Results {
            first: ValueId(first as u32),
            count: inst.results.count,
        };
        for (old, new) in inst.results.iter().zip(results.iter()) {
            self.set_value(old, new);
        }
        inst.results = results;
    }

    /// Appends copies of regions to a function: `order` lists each before those nested in it, and
    /// all of those. `original` gives a region, `value` the copy of a value, both in the function
    /// that is copied, which may be the same.
    pub(crate) fn regions(
        &mut self,
        to: &mut Function,
        order: &[RegionId],
        original: impl Fn(&Function, RegionId) -> Region,
        mut value: impl FnMut(&Function, ValueId) -> Value,
    ) {
        for &old in order {
            self.set_region(old, RegionId(to.regions.len() as u32));
            to.regions.push(Region::default());
        }
        for &old in order {
            let mut region = original(to, old);
            for param in &mut region.params {
                let new = ValueId(to.values.len() as u32);
                to.values.push(value(to, *param));
                self.set_value(*param, new);
                *param = new;
            }
            for inst in &mut region.insts {
                let results = inst.results;
                self.inst(inst, to.values.len());
                for old in results.iter() {
                    to.values.push(value(to, old));
                }
            }
            to.regions[self.region(old).index()] = region;
        }
    }

    /// Adds the copy of an array, of that mode, to the function being built.
    pub(crate) fn add_array(
        &mut self,
        builder: &mut FunctionBuilder,
        old: usize,
        array: &Array,
        mode: Option<PassingMode>,
    ) {
        let new = builder.array(Array { mode, ..*array });
        self.set_array(ArrayId(old as u32), new);
    }

    /// Appends a copy of an instruction whose regions are copied, to the function being built.
    pub(crate) fn copy(&mut self, builder: &mut FunctionBuilder, from: &Function, inst: &Inst) {
        let types: Vec<Scalar> = inst.results.iter().map(|r| from.value(r).ty).collect();
        let (kind, args) = (self.kind(&inst.kind), self.args(&inst.args));
        let results = builder.inst(kind, args, types, inst.span);
        self.define(builder, from, inst, results);
    }

    /// Says that the first of `results` are the copies of those of an instruction.
    pub(crate) fn define(
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

    /// Adds the copy of a parameter to the current region of the function being built.
    pub(crate) fn param(&mut self, builder: &mut FunctionBuilder, from: &Function, old: ValueId) {
        let value = from.value(old);
        let new = builder.param(value.ty, value.span);
        if let Some(name) = value.name {
            builder.name(new, name);
        }
        self.set_value(old, new);
    }
}
