//! Heap memory of values, as requested from the allocator.
//!
//! A struct counts its fields by [`heap_of!`](crate::heap_of), which names each of them: one that
//! is added is an error until it is counted.

use crate::codes::Code;
use crate::derivative::{DerivativeHint, DerivativeHints, HintKind};
use crate::diagnostic::{Diagnostic, Label};
use crate::instruction::InstField;
use crate::metadata::{Metadata, MetadataValue};
use crate::module::*;
use crate::quad::Quad;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar, StructType, Type};
use std::sync::{Arc, OnceLock};

/// A value that holds heap memory.
pub trait HeapSize {
    /// Bytes on the heap that belong to it. An [`Arc`] that several share is counted in parts.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Bytes of the counters beside a value in an [`Arc`].
pub const ARC_OVERHEAD: usize = 2 * size_of::<usize>();

/// Implements [`HeapSize`](crate::memory::HeapSize) for structs as the sum over all of their
/// fields.
#[macro_export]
macro_rules! heap_of {
    ($($name:ident { $($field:ident),* $(,)? })*) => { $(
        impl $crate::memory::HeapSize for $name {
            fn heap_bytes(&self) -> usize {
                let $name { $($field),* } = self;
                0 $(+ $crate::memory::HeapSize::heap_bytes($field))*
            }
        }
    )* };
}

macro_rules! nothing {
    ($($name:ty),*) => { $(impl HeapSize for $name {})* };
}

nothing!(
    bool,
    u8,
    u16,
    u32,
    u64,
    usize,
    Code,
    Span,
    HintKind,
    Scalar,
    Lanes,
    BufferId,
    TextureId,
    FuncId,
    RegionId,
    ArrayId,
    ValueId,
    FuncResult,
    TapeId,
    RecordId,
    DifferentiationMode,
    Direction,
    Value,
    Array,
    PassingMode,
    Decides,
    Results,
    Quad
);

impl HeapSize for DerivativeHints {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }
}

impl HeapSize for String {
    fn heap_bytes(&self) -> usize {
        self.capacity()
    }
}

impl<T: HeapSize> HeapSize for [T] {
    fn heap_bytes(&self) -> usize {
        self.iter().map(HeapSize::heap_bytes).sum()
    }
}

impl<T: HeapSize> HeapSize for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self[..].heap_bytes()
    }
}

impl<T: HeapSize> HeapSize for Box<[T]> {
    fn heap_bytes(&self) -> usize {
        size_of_val(&self[..]) + self[..].heap_bytes()
    }
}

impl HeapSize for Args {
    fn heap_bytes(&self) -> usize {
        match self.spilled() {
            true => self.capacity() * size_of::<ValueId>(),
            false => 0,
        }
    }
}

impl<T: HeapSize> HeapSize for Option<T> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, HeapSize::heap_bytes)
    }
}

impl<A: HeapSize, B: HeapSize> HeapSize for (A, B) {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.1.heap_bytes()
    }
}

impl<T: HeapSize + ?Sized> HeapSize for Arc<T> {
    fn heap_bytes(&self) -> usize {
        // Two counts precede the value, aligned with it.
        let inner = 2 * size_of::<usize>() + size_of_val(&**self);
        let all = inner.next_multiple_of(align_of::<usize>()) + T::heap_bytes(self);
        all / Arc::strong_count(self)
    }
}

impl HeapSize for str {}

impl<T: HeapSize> HeapSize for OnceLock<T> {
    fn heap_bytes(&self) -> usize {
        self.get().map_or(0, HeapSize::heap_bytes)
    }
}

impl HeapSize for Type {
    fn heap_bytes(&self) -> usize {
        match self {
            Type::Scalar(_) | Type::Vector(_) | Type::Matrix(_) => 0,
            Type::Array(element, _) => element.heap_bytes(),
            Type::Struct(ty) => ty.heap_bytes(),
        }
    }
}

impl HeapSize for MetadataValue {
    fn heap_bytes(&self) -> usize {
        self.as_str().map_or(0, |text| text.len())
    }
}

impl HeapSize for InstKind {
    fn heap_bytes(&self) -> usize {
        let mut bytes = 0;
        self.for_each_field(|field| {
            if let InstField::Passed(arrays) = field {
                bytes += arrays.heap_bytes();
            }
        });
        bytes
    }
}

heap_of! {
    StructType { name, members }
    Label { span, message }
    Diagnostic { code, message, span, label, labels, help }
    Module { functions, entry, globals, textures, buffers, resources, closures, inputs, outputs, messages, records, names, hints, quad }
    Record { fields }
    DerivativeHint { about, span, kind }
    Global { name, ty }
    Texture { name, metadata, span }
    Buffer { name, element, sum_of, metadata, span }
    Input { name, ty, default, metadata }
    Output { name, ty, metadata }
    Metadata { name, value }
    ClosureShape { name, params }
    Message { format, params }
    Function { name, variant, values, regions, arrays, body, results, members, library, recipe, custom, decides, span }
    Recipe { mode, of, activity, with_results, screen }
    Activity { params, results, arrays, memory }
    ActiveMemory { buffers, textures }
    CustomDerivatives { forward, backward, substitute, is_zero, activity, lost }
    SourceParam { name, ty, mode, params, results, arrays }
    Region { params, insts }
    Inst { kind, args, results, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_counted_in_parts() {
        let ty = StructType {
            name: String::with_capacity(10),
            members: Vec::new(),
        };
        let alone = Arc::new(ty);
        let whole = 2 * size_of::<usize>() + size_of::<StructType>() + 10;
        assert_eq!(alone.heap_bytes(), whole);
        let both = vec![Type::Struct(alone.clone()), Type::Struct(alone)];
        assert_eq!(both.heap_bytes(), 2 * size_of::<Type>() + whole / 2 * 2);
    }

    #[test]
    fn short_lists_of_operands_take_nothing() {
        let args: Args = (0..4).map(ValueId).collect();
        assert_eq!(args.heap_bytes(), 0);
        let args: Args = (0..5).map(ValueId).collect();
        assert!(args.heap_bytes() >= 5 * size_of::<ValueId>());
    }
}
