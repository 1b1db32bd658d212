//! The tapes of a point, and the handlers that keep and take records.
//!
//! A tape is a list of words that grows, and is kept for later points. Its records all have as many
//! words. Only their values count against the limit, so that it is met at the same record with and
//! without shadows.

use super::state::{handler, next};
use crate::bytecode::Bytecode;
use adumbra_ir::host::FaultKind;

/// The words that a point has kept and not taken, by tape.
#[derive(Debug)]
pub(super) struct Tapes {
    pub(super) words: Box<[Vec<u32>]>,
    /// Of each tape the fields of a record, and the words.
    shapes: Box<[(u32, u32)]>,
    /// Values on all tapes.
    kept: u32,
}

impl Tapes {
    /// The empty tapes of a program.
    pub(super) fn new(program: &Bytecode) -> Tapes {
        let tapes = program.tapes.iter();
        let shapes = tapes.map(|tape| (tape.fields.len() as u32, tape.words() as u32));
        Tapes {
            words: vec![Vec::new(); program.tapes.len()].into_boxed_slice(),
            shapes: shapes.collect(),
            kept: 0,
        }
    }

    /// Drops all records but keeps the memory.
    pub(super) fn clear(&mut self) {
        if self.kept > 0 {
            self.words.iter_mut().for_each(Vec::clear);
            self.kept = 0;
        }
    }

    /// Bytes of the heap that they hold.
    pub(super) fn memory(&self) -> usize {
        let words = self.words.iter().map(Vec::capacity).sum::<usize>();
        size_of_val(&self.words[..]) + size_of_val(&self.shapes[..]) + words * size_of::<u32>()
    }

    /// The words on all tapes.
    pub(super) fn len(&self) -> usize {
        self.words.iter().map(Vec::len).sum()
    }

    /// Replaces what is on the tapes by words of each, whose numbers are given.
    pub(super) fn load<'a>(&mut self, tapes: impl Iterator<Item = &'a [u32]>) {
        self.kept = 0;
        for ((words, &(fields, size)), from) in self.words.iter_mut().zip(&self.shapes).zip(tapes) {
            words.clear();
            words.extend_from_slice(from);
            self.kept += from.len() as u32 / size * fields;
        }
    }

    /// Makes capacity for records; `fill` writes their words.
    #[cfg(feature = "batch")]
    pub(super) fn put(&mut self, tape: usize, records: u32, fill: impl FnOnce(&mut [u32])) {
        let (fields, size) = self.shapes[tape];
        let words = &mut self.words[tape];
        words.clear();
        words.resize((records * size) as usize, 0);
        fill(words);
        self.kept += records * fields;
    }
}

// `words`: tape, the list of its registers.
handler!(keep, |ip, file, state| {
    // SAFETY: validation checked the tape, the list and its registers.
    if let Some(kind) = state.take_move_steps(ip) {
        return state.stop(ip, kind);
    }
    let [tape, list, ..] = (*ip).words;
    let (fields, size) = state.tapes.shapes[tape as usize];
    let kept = state.tapes.kept.saturating_add(fields);
    if kept > state.limits.kept_words {
        return state.stop(ip, FaultKind::KeptWords);
    }
    state.tapes.kept = kept;
    let registers = &state.lists[list as usize..][..size as usize];
    let words = registers
        .iter()
        .map(|&register| *file.add(register as usize));
    state.tapes.words[tape as usize].extend(words);
    next(ip, file, state)
});

// `words`: tape, the list of its registers; constants among them take nothing.
handler!(take, |ip, file, state| {
    // SAFETY: validation checked the tape, the list and its registers; constants, which come after
    // all registers in the file, are not written.
    if let Some(kind) = state.take_move_steps(ip) {
        return state.stop(ip, kind);
    }
    let [tape, list, ..] = (*ip).words;
    let (fields, size) = state.tapes.shapes[tape as usize];
    let words = &mut state.tapes.words[tape as usize];
    let Some(rest) = words.len().checked_sub(size as usize) else {
        return state.stop(ip, FaultKind::NothingKept);
    };
    let registers = &state.lists[list as usize..][..size as usize];
    for (&register, &word) in registers.iter().zip(&words[rest..]) {
        if register < state.program.registers {
            *file.add(register as usize) = word;
        }
    }
    words.truncate(rest);
    state.tapes.kept -= fields;
    next(ip, file, state)
});
