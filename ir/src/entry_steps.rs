//! Entry steps: the arrays that entering a function clears, and their steps of the budget. Engines
//! must agree in them.
//!
//! An array begins as zeros. If the function clears all of it before any other use, entering need
//! not do so. Any other array that the caller does not fill is cleared on entry, and takes steps
//! for it ([`move_steps`]).

use crate::host::move_steps;
use crate::module::{ArrayId, FuncId, Function, Inst, InstKind, Module, PassingMode, RegionId};

/// The first use of an array in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// Nothing yet.
    Nothing,
    /// Overwrites all of it, before anything else can happen.
    Clears,
    /// Anything else.
    Other,
}

/// By array, whether entering the function clears it.
pub fn cleared_arrays(function: &Function) -> Vec<bool> {
    let mut touched = vec![Touch::Nothing; function.arrays.len()];
    if !touched.is_empty() {
        for inst in &function.region(function.body).insts {
            touch(inst, true, &mut touched);
            // A nested region may not be executed. So the order inside is irrelevant, but it comes
            // before the instructions after it.
            let mut nested: Vec<RegionId> = inst.kind.regions().collect();
            while let Some(region) = nested.pop() {
                for inst in &function.region(region).insts {
                    touch(inst, false, &mut touched);
                    nested.extend(inst.kind.regions());
                }
            }
        }
    }
    let arrays = function.arrays.iter().zip(touched);
    arrays
        .map(|(array, touched)| match array.mode {
            Some(PassingMode::In | PassingMode::InOut) => false,
            // Also without any use, the caller gets it.
            Some(PassingMode::Out | PassingMode::Return) => true,
            None => touched == Touch::Other,
        })
        .collect()
}

fn touch(inst: &Inst, is_certain: bool, touched: &mut [Touch]) {
    let mut note = |array: ArrayId, clears: bool| {
        let touched = &mut touched[array.index()];
        if *touched == Touch::Nothing {
            *touched = match clears && is_certain {
                true => Touch::Clears,
                false => Touch::Other,
            };
        }
    };
    match &inst.kind {
        InstKind::ArrayZero(array) => note(*array, true),
        InstKind::ArrayCopy { to, from } => {
            note(*from, false);
            // A part of it leaves the rest as it is.
            note(*to, inst.args.is_empty());
        }
        InstKind::Load(array) | InstKind::Store(array) | InstKind::ArrayResize(array, _) => {
            note(*array, false);
        }
        InstKind::Call(_, arrays) => arrays.iter().for_each(|&array| note(array, false)),
        _ => {}
    }
}

/// The steps that entering functions takes beside the one step for each: for every array that is
/// cleared, in order.
#[derive(Debug, Default)]
pub struct EntrySteps {
    by_function: Vec<Vec<u64>>,
}

impl EntrySteps {
    /// Computes the steps for a module.
    pub fn new(module: &Module) -> EntrySteps {
        let steps = |function: &Function| -> Vec<u64> {
            if function.arrays.iter().all(|a| move_steps(a.len) == 0) {
                return Vec::new();
            }
            let arrays = function.arrays.iter().zip(cleared_arrays(function));
            let cleared = arrays.filter(|(_, cleared)| *cleared);
            cleared.map(|(array, _)| move_steps(array.len)).collect()
        };
        EntrySteps {
            by_function: module.functions.iter().map(steps).collect(),
        }
    }

    /// Those of a function, array by array.
    pub fn of(&self, function: FuncId) -> &[u64] {
        &self.by_function[function.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;
    use crate::text::parse;

    fn cleared_in(arrays: &str, body: &str) -> Vec<bool> {
        let text = format!(
            "adumbra ir 1\nentry main\nfn main() -> () ^0 {{\n{arrays}\n%0: i32 = const 1\n%1: bool = ilt %0, %0\n{body}\nreturn\n}}"
        );
        let module = parse(&text, FileId::MAIN).expect("it is IR");
        cleared_arrays(&module.functions[0])
    }

    #[test]
    fn array_not_overwritten_first_is_cleared() {
        let arrays = "array &0: i32[300]\narray &1: i32[300]";
        assert_eq!(cleared_in(arrays, ""), [false, false]);
        assert_eq!(
            cleared_in(arrays, "array_zero &0\nstore &0[%0], %0"),
            [false; 2]
        );
        assert_eq!(
            cleared_in(arrays, "store &0[%0], %0\narray_zero &0"),
            [true, false]
        );
        assert_eq!(cleared_in(arrays, "array_copy &0, &1"), [false, true]);
        assert_eq!(
            cleared_in(arrays, "%2: i32 = array_resize &1[%0], 1"),
            [false, true]
        );
    }

    #[test]
    fn array_overwritten_in_branch_is_cleared() {
        let arrays = "array &0: i32[300]\narray &1: i32[300]";
        let branch = "if %1 ^1 {\narray_zero &0\nif %1 ^3 {\nstore &1[%0], %0\nyield\n} else ^4 {\nyield\n}\nyield\n} else ^2 {\nyield\n}\narray_zero &1";
        assert_eq!(cleared_in(arrays, branch), [true, true]);
    }
}
