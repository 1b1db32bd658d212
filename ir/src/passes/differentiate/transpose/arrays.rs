//! Arrays of adjoints.

use super::super::array::clamped_index;
use super::Transpose;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

impl Transpose<'_> {
    /// Adds the elements of an array to those of another.
    pub(in crate::passes::differentiate) fn add_array(
        &mut self,
        to: ArrayId,
        from: ArrayId,
        span: Span,
    ) {
        let len = self.builder.function().arrays[from.index()].len;
        self.each_element(len, span, |this, i| {
            let sum = this.load(to, i, span);
            let more = this.load(from, i, span);
            let sum = this.builder.op(Op::Add, &[sum, more], span);
            this.store(to, i, sum, span);
        });
    }

    /// Loads an element of an array of floats.
    pub(super) fn load(&mut self, array: ArrayId, index: ValueId, span: Span) -> ValueId {
        let kind = InstKind::Load(array);
        self.builder.inst(kind, [index], [Scalar::F32], span).first
    }

    /// Stores an element of an array.
    pub(super) fn store(&mut self, array: ArrayId, index: ValueId, value: ValueId, span: Span) {
        self.builder
            .inst(InstKind::Store(array), [index, value], [], span);
    }

    /// Writes a loop over the indices below `len`.
    pub(super) fn each_element(
        &mut self,
        len: u32,
        span: Span,
        body: impl FnOnce(&mut Self, ValueId),
    ) {
        let elements = self.builder.open_elements(len, span);
        body(self, elements.index);
        self.builder.close_elements(elements, span);
    }

    /// The index of a load or store, which faulted in the forward sweep if it was out of range.
    pub(super) fn index(&mut self, inst: &Inst, array: ArrayId) -> ValueId {
        let index = self.value(inst.args[0], inst.span);
        let len = self.linear.function.arrays[array.index()].len;
        clamped_index(&mut self.builder, index, len, inst.span)
    }

    /// Reverses the copy of an array: the adjoints of the target go to those of the source.
    pub(super) fn array_copy(&mut self, inst: &Inst, to: ArrayId, from: ArrayId) {
        let Some(adjoints) = self.adjoint_arrays[to.index()] else {
            return;
        };
        let span = inst.span;
        let arrays = &self.linear.function.arrays;
        let (to_len, from_len) = (arrays[to.index()].len, arrays[from.index()].len);
        let source = self.adjoint_arrays[from.index()];
        let start = inst.args.first().map(|&start| {
            let start = self.value(start, span);
            let most = to_len.abs_diff(from_len) + 1;
            clamped_index(&mut self.builder, start, most, span)
        });
        self.each_element(to_len.min(from_len), span, |this, i| {
            let moved = match start {
                Some(start) => this.builder.op(Op::IAdd, &[i, start], span),
                None => i,
            };
            let (at_to, at_from) = match to_len > from_len {
                true => (moved, i),
                false => (i, moved),
            };
            let more = this.load(adjoints, at_to, span);
            let zero = this.builder.float(0.0, span);
            // First, so that a copy of an array to itself changes nothing.
            this.store(adjoints, at_to, zero, span);
            if let Some(source) = source {
                let sum = this.load(source, at_from, span);
                let sum = this.builder.op(Op::Add, &[sum, more], span);
                this.store(source, at_from, sum, span);
            }
        });
    }
}
