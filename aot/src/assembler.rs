//! A buffer of code bytes, labels and references, which the assembler's macro writes to.
//!
//! It serves the macro as the assembler's own `VecAssembler` does. Most references are to
//! constants, so there are thousands of them: each takes 16 bytes here instead of 32, and short
//! runs of bytes are written inline and not by calls.

use dynasmrt::components::{LabelRegistry, PatchLoc};
use dynasmrt::relocations::Relocation;
use dynasmrt::{AssemblyOffset, DynamicLabel, DynasmApi, DynasmLabelApi};
use std::marker::PhantomData;

/// The encoding of a processor's references.
pub(crate) trait RelocationFormat: Relocation {
    /// The encoding of references that are a plain distance of 32 bits, if there are such. They are
    /// filled in without the assembler's help.
    const REL32: Option<u8>;
}

/// Code that is being written, for a processor whose references are `R`.
#[derive(Debug)]
pub(crate) struct Assembler<R> {
    bytes: Vec<u8>,
    labels: LabelRegistry,
    references: Vec<Reference>,
    /// Whether all labels are defined once, and all references are in reach of 32 bits.
    is_good: bool,
    of: PhantomData<R>,
}

/// A reference to a label in the code.
#[derive(Clone, Copy, Debug)]
struct Reference {
    label: DynamicLabel,
    /// The end of the instruction, or of the part of it, that has the reference.
    at: u32,
    /// Bytes back from there to the field that is filled in.
    field: u8,
    /// Bytes back from there to the origin of distances.
    origin: u8,
    /// The kind of the field, as the assembler encodes it.
    kind: u8,
}

impl<R: RelocationFormat> Assembler<R> {
    /// An empty buffer with capacity for a number of bytes, references and labels.
    pub(crate) fn new(bytes: usize, references: usize, labels: usize) -> Assembler<R> {
        Assembler {
            bytes: Vec::with_capacity(bytes),
            labels: LabelRegistry::with_capacity(0, 0, labels),
            references: Vec::with_capacity(references),
            is_good: true,
            of: PhantomData,
        }
    }

    pub(crate) fn new_dynamic_label(&mut self) -> DynamicLabel {
        self.labels.new_dynamic_label()
    }

    /// Writes the first `length` bytes, lowest first.
    #[inline]
    pub(crate) fn push_instruction(&mut self, bytes: u128, length: usize) {
        let end = self.bytes.len() + length;
        self.bytes.extend_from_slice(&bytes.to_le_bytes());
        self.bytes.truncate(end);
    }

    /// All bytes with references filled in, or `None` if one cannot be.
    pub(crate) fn finalize(mut self) -> Option<Vec<u8>> {
        if !self.is_good {
            return None;
        }
        for reference in &self.references {
            let AssemblyOffset(target) = self.labels.resolve_dynamic(reference.label).ok()?;
            if Some(reference.kind) == R::REL32 {
                let from = reference.at - u32::from(reference.origin);
                let distance = i32::try_from(target as i64 - i64::from(from)).ok()?;
                let field = (reference.at - u32::from(reference.field)) as usize;
                self.bytes[field..][..4].copy_from_slice(&distance.to_le_bytes());
                continue;
            }
            let location = PatchLoc::new(
                AssemblyOffset(reference.at as usize),
                0,
                reference.field,
                reference.origin,
                R::from_encoding(reference.kind),
            );
            let field = &mut self.bytes[location.range(0)];
            location.patch(field, 0, target).ok()?;
        }
        Some(self.bytes)
    }
}

impl<R> Extend<u8> for Assembler<R> {
    #[inline]
    fn extend<T: IntoIterator<Item = u8>>(&mut self, bytes: T) {
        self.bytes.extend(bytes);
    }
}

impl<'a, R> Extend<&'a u8> for Assembler<R> {
    #[inline]
    fn extend<T: IntoIterator<Item = &'a u8>>(&mut self, bytes: T) {
        for &byte in bytes {
            self.bytes.push(byte);
        }
    }
}

impl<R> DynasmApi for Assembler<R> {
    #[inline]
    fn offset(&self) -> AssemblyOffset {
        AssemblyOffset(self.bytes.len())
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn align(&mut self, alignment: usize, with: u8) {
        let length = self.bytes.len().next_multiple_of(alignment);
        self.bytes.resize(length, with);
    }
}

/// The panic message of the assembler's methods for named labels, which are not used.
const NO_NAMES: &str = "code has no labels with names";

impl<R: Relocation> DynasmLabelApi for Assembler<R> {
    type Relocation = R;

    fn dynamic_label(&mut self, label: DynamicLabel) {
        let here = self.offset();
        self.is_good &= self.labels.define_dynamic(label, here).is_ok();
    }

    fn dynamic_reloc(
        &mut self,
        label: DynamicLabel,
        target_offset: isize,
        field: u8,
        origin: u8,
        kind: u8,
    ) {
        let at = u32::try_from(self.bytes.len());
        self.is_good &= at.is_ok() && target_offset == 0;
        self.references.push(Reference {
            label,
            at: at.unwrap_or_default(),
            field,
            origin,
            kind,
        });
    }

    fn dynamic_relocation(&mut self, _: DynamicLabel, _: isize, _: u8, _: u8, _: R) {
        unreachable!("references are kept as the assembler encodes them")
    }

    fn local_label(&mut self, _: &'static str) {
        unreachable!("{NO_NAMES}")
    }
    fn global_label(&mut self, _: &'static str) {
        unreachable!("{NO_NAMES}")
    }
    fn global_relocation(&mut self, _: &'static str, _: isize, _: u8, _: u8, _: R) {
        unreachable!("{NO_NAMES}")
    }
    fn forward_relocation(&mut self, _: &'static str, _: isize, _: u8, _: u8, _: R) {
        unreachable!("{NO_NAMES}")
    }
    fn backward_relocation(&mut self, _: &'static str, _: isize, _: u8, _: u8, _: R) {
        unreachable!("{NO_NAMES}")
    }
    fn value_relocation(&mut self, _: usize, _: u8, _: u8, _: R) {
        unreachable!("{NO_NAMES}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dynasmrt::dynasm;
    use dynasmrt::x64::X64Relocation;

    fn assembler() -> Assembler<X64Relocation> {
        Assembler::new(0, 0, 0)
    }

    #[test]
    fn references_are_filled_by_finalize() {
        let mut asm = assembler();
        let [first, second] = [(); 2].map(|()| asm.new_dynamic_label());
        // A distance counts from the end of the instruction, whatever follows the distance in it.
        dynasm!(asm
            ; .arch x64
            ; =>first
            ; jmp =>second
            ; vroundps ymm1, [=>second], 8
            ; jmp =>first
            ; .align 16, 0
            ; =>second
        );
        let bytes = asm.finalize().expect("all labels are defined");
        let distance = |at: usize| i32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        assert_eq!(bytes.len(), 32);
        assert_eq!([distance(1), distance(10), distance(16)], [27, 17, -20]);
        assert_eq!(bytes[20..], [0; 12]);
    }

    #[test]
    fn unresolved_references_are_refused() {
        let mut unknown = assembler();
        let label = unknown.new_dynamic_label();
        dynasm!(unknown; .arch x64; jmp =>label);
        assert!(unknown.finalize().is_none());
        let mut twice = assembler();
        let label = twice.new_dynamic_label();
        dynasm!(twice; .arch x64; =>label; jmp =>label; =>label);
        assert!(twice.finalize().is_none());
    }
}
