//! The tapes of a point: the values that it keeps for later, by tape and kind of record.

use super::EvalValue;
use crate::module::{RecordId, TapeId};
use std::collections::BTreeMap;

/// The values that a point has kept and not taken. Only values are counted; shadows lie beside
/// them.
#[derive(Clone, Debug)]
pub(super) struct Tapes<F> {
    kept: BTreeMap<(TapeId, RecordId), Vec<EvalValue<F>>>,
    words: u64,
}

impl<F> Default for Tapes<F> {
    fn default() -> Tapes<F> {
        Tapes {
            kept: BTreeMap::new(),
            words: 0,
        }
    }
}

impl<F: Copy> Tapes<F> {
    /// Keeps a record. Returns whether that is within `limit` words.
    pub(super) fn keep(
        &mut self,
        tape: TapeId,
        record: RecordId,
        values: impl ExactSizeIterator<Item = EvalValue<F>>,
        limit: u32,
    ) -> bool {
        let words = self.words + values.len() as u64;
        if words > u64::from(limit) {
            return false;
        }
        self.words = words;
        self.kept.entry((tape, record)).or_default().extend(values);
        true
    }

    /// Takes the record of that kind that was kept last, of `fields` values.
    pub(super) fn take(
        &mut self,
        tape: TapeId,
        record: RecordId,
        fields: usize,
    ) -> Option<Vec<EvalValue<F>>> {
        let kept = self.kept.get_mut(&(tape, record))?;
        let rest = kept.len().checked_sub(fields)?;
        self.words -= fields as u64;
        Some(kept.split_off(rest))
    }

    /// Bytes of the heap that they hold.
    pub(super) fn memory(&self) -> usize {
        let kept = self.kept.values().map(Vec::capacity).sum::<usize>();
        let lists = self.kept.len() * size_of::<((TapeId, RecordId), Vec<EvalValue<F>>)>();
        kept * size_of::<EvalValue<F>>() + lists
    }
}
