//! Arrays in derived functions: zeros, and indices that do not fault.

use crate::builder::FunctionBuilder;
use crate::module::{Array, ArrayId, InstKind, ValueId};
use crate::span::Span;
use adumbra_ops::Op;

/// An array of zeros, from here on.
pub(super) fn zero_array(builder: &mut FunctionBuilder, shape: &Array, span: Span) -> ArrayId {
    let array = builder.array(Array {
        mode: None,
        name: None,
        ..*shape
    });
    builder.inst(InstKind::ArrayZero(array), [], [], span);
    array
}

/// An index that does not fault: that element which an access with `index` has, once it faulted.
pub(super) fn clamped_index(
    builder: &mut FunctionBuilder,
    index: ValueId,
    len: u32,
    span: Span,
) -> ValueId {
    let last = builder.int(len as i32 - 1, span);
    let zero = builder.int(0, span);
    let below = builder.op(Op::IMin, &[index, last], span);
    builder.op(Op::IMax, &[below, zero], span)
}
