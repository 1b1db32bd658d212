//! Handlers of instructions on buffers.

use super::moves::read;
use super::state::{handler, next};
use crate::bytecode::Opcode;
use adumbra_ir::host::FaultKind;
use adumbra_ir::module::{BufferId, IndexCheck};

// `words`: to, buffer, index, number.
handler!(buffer, |ip, file, state| {
    // SAFETY: validation checked the registers.
    let [to, buffer, index, number, ..] = (*ip).words;
    let (buffer, index) = (BufferId(buffer), read(file, index));
    if !state.buffers.set.has(buffer, index)
        && matches!(state.opcode(ip), Opcode::Buffer(_, IndexCheck::Faults))
    {
        state.fault(ip, FaultKind::IndexOutOfRange);
    }
    *file.add(to as usize) = state.buffers.set.word(buffer, index, number);
    next(ip, file, state)
});

// `words`: to, buffer.
handler!(length, |ip, file, state| {
    // SAFETY: validation checked the register.
    let [to, buffer, ..] = (*ip).words;
    *file.add(to as usize) = state.buffers.set.len(BufferId(buffer));
    next(ip, file, state)
});

// `words`: sum, index, value, number.
handler!(add, |ip, file, state| {
    // SAFETY: validation checked the registers.
    let [sum, index, value, number, ..] = (*ip).words;
    let (index, value) = (read(file, index), f32::from_bits(read(file, value)));
    let set = &state.buffers.set;
    let mut sums = state.buffers.sums();
    let is_finite = sums.add(set, BufferId(sum), index, number, value);
    drop(sums);
    if !is_finite {
        state.fault(ip, FaultKind::SumNotFinite);
    }
    next(ip, file, state)
});
