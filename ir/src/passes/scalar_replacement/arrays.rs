//! Chooses the arrays whose elements become values.

use super::{MAX_COPIED_BY_ELEMENT, MAX_JOINED_ELEMENTS, MAX_REPLACED_ELEMENTS};
use crate::instruction::InstField;
use crate::module::*;
use std::ops::Range;

/// The arrays of a function that are replaced.
pub(super) struct ReplacedArrays {
    /// By array: the number of its first element among all that are replaced.
    first: Vec<Option<u32>>,
    /// The array of each element.
    pub(super) array_of: Vec<ArrayId>,
    /// By region: the elements that it or a region within it writes, in order.
    pub(super) written: Vec<Vec<u32>>,
    /// By value: its bits, if it is a constant.
    pub(super) known: Vec<Option<u32>>,
}

impl ReplacedArrays {
    /// The elements of an array, if it is replaced.
    pub(super) fn elements(&self, function: &Function, array: ArrayId) -> Option<Range<u32>> {
        let first = self.first[array.index()]?;
        Some(first..first + function.arrays[array.index()].len)
    }

    /// The element of an array at a constant index, if it is replaced.
    pub(super) fn element(&self, array: ArrayId, index: ValueId) -> Option<u32> {
        let first = self.first[array.index()]?;
        let at = self.known[index.index()].expect("indices of replaced arrays are constants");
        Some(first + at)
    }
}

/// Finds them. `None` if there are none.
pub(super) fn find(function: &Function) -> Option<ReplacedArrays> {
    let is_own = |array: &Array| array.mode.is_none();
    if !function.arrays.iter().any(is_own) {
        return None;
    }
    let mut known = vec![None; function.values.len()];
    let mut order = Vec::new();
    function.for_each_region(|id| {
        order.push(id);
        for inst in &function.region(id).insts {
            if let InstKind::Const(bits) = inst.kind {
                known[inst.results.first.index()] = Some(bits);
            }
        }
    });
    let stays = staying(function, &order, &known);

    let mut found = ReplacedArrays {
        first: vec![None; function.arrays.len()],
        array_of: Vec::new(),
        written: vec![Vec::new(); function.regions.len()],
        known,
    };
    for (at, array) in function.arrays.iter().enumerate() {
        if !stays[at] {
            found.first[at] = Some(found.array_of.len() as u32);
            let elements = std::iter::repeat_n(ArrayId(at as u32), array.len as usize);
            found.array_of.extend(elements);
        }
    }
    if found.array_of.is_empty() {
        return None;
    }
    found.find_written(function, &order).then_some(found)
}

/// By array, whether it stays: those that others see, those with an index that is not a constant
/// in range, and those with a large copy to or from one that stays.
fn staying(function: &Function, order: &[RegionId], known: &[Option<u32>]) -> Vec<bool> {
    let len = |array: ArrayId| function.arrays[array.index()].len;
    let mut stays: Vec<bool> = function.arrays.iter().map(|a| a.mode.is_some()).collect();
    // Small ones first, as far as the capacity goes.
    let mut by_len: Vec<usize> = (0..stays.len()).filter(|&at| !stays[at]).collect();
    by_len.sort_by_key(|&at| function.arrays[at].len);
    let mut capacity = MAX_REPLACED_ELEMENTS;
    for at in by_len {
        match capacity.checked_sub(function.arrays[at].len as usize) {
            Some(left) => capacity = left,
            None => stays[at] = true,
        }
    }

    let mut copies = vec![Vec::new(); function.arrays.len()];
    for inst in order.iter().flat_map(|&id| &function.region(id).insts) {
        match &inst.kind {
            InstKind::Load(array) | InstKind::Store(array) => {
                let index = known[inst.args[0].index()];
                if index.is_none_or(|index| index >= len(*array)) {
                    stays[array.index()] = true;
                }
            }
            InstKind::ArrayZero(_) => {}
            InstKind::ArrayCopy { to, from } => {
                let start = inst.args.first();
                if start.is_some_and(|start| known[start.index()].is_none()) {
                    stays[to.index()] = true;
                    stays[from.index()] = true;
                }
                if len(*to).min(len(*from)) > MAX_COPIED_BY_ELEMENT {
                    copies[to.index()].push(*from);
                    copies[from.index()].push(*to);
                }
            }
            kind => kind.for_each_field(|field| match field {
                InstField::Read(array) | InstField::Written(array) => stays[array.index()] = true,
                InstField::Passed(arrays) => {
                    arrays.iter().for_each(|array| stays[array.index()] = true);
                }
                _ => {}
            }),
        }
    }

    let mut open: Vec<usize> = (0..stays.len()).filter(|&at| stays[at]).collect();
    while let Some(at) = open.pop() {
        for array in std::mem::take(&mut copies[at]) {
            if !std::mem::replace(&mut stays[array.index()], true) {
                open.push(array.index());
            }
        }
    }
    stays
}

impl ReplacedArrays {
    /// Finds which elements each region writes. Returns whether they are few enough.
    fn find_written(&mut self, function: &Function, order: &[RegionId]) -> bool {
        let mut all = 0;
        // Inner regions before those around them.
        for &id in order.iter().rev() {
            let mut written = Vec::new();
            for inst in &function.region(id).insts {
                match inst.kind {
                    InstKind::Store(array) => written.extend(self.element(array, inst.args[0])),
                    InstKind::ArrayZero(array) | InstKind::ArrayCopy { to: array, .. } => {
                        written.extend(self.elements(function, array).into_iter().flatten());
                    }
                    _ => {}
                }
                for nested in inst.kind.regions() {
                    written.extend(&self.written[nested.index()]);
                }
            }
            written.sort_unstable();
            written.dedup();
            if id != function.body {
                all += written.len();
            }
            if all > MAX_JOINED_ELEMENTS {
                return false;
            }
            self.written[id.index()] = written;
        }
        true
    }
}
