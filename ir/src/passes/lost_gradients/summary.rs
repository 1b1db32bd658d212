//! The slots of functions, and what leads from those that go in to those that come out.

use super::is_number;
use crate::module::{Function, PassingMode};
use crate::types::Scalar;

/// The number of slots that go into a function: scalar parameters, then arrays.
pub(super) fn slots(function: &Function) -> usize {
    function.params().len() + function.array_params().count()
}

/// The number of slots that come out of a function: results, then arrays.
pub(super) fn result_slots(function: &Function) -> usize {
    function.results.len() + function.array_params().count()
}

/// The types of what goes into a function, by slot; none for an array that only comes out.
pub(super) fn types_in(function: &Function) -> impl Iterator<Item = Option<Scalar>> {
    let params = function.params().iter();
    let params = params.map(|&param| Some(function.value(param).ty));
    params.chain(
        function
            .array_params()
            .map(|array| (array.mode != Some(PassingMode::Out)).then_some(array.element)),
    )
}

/// The types of what comes out of a function, by slot; none for an array that only goes in.
pub(super) fn types_out(function: &Function) -> impl Iterator<Item = Option<Scalar>> {
    let results = function.results.iter().map(|result| Some(result.ty));
    results.chain(
        function
            .array_params()
            .map(|array| (array.mode != Some(PassingMode::In)).then_some(array.element)),
    )
}

/// By slot that comes out of a function: the slots in order that lead to it.
pub(super) type SourceSlots = Vec<Vec<u32>>;

/// What leads where in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// By derivatives.
    pub(super) carried: SourceSlots,
    /// By any way.
    pub(super) any: SourceSlots,
}

impl Summary {
    pub(super) fn none(function: &Function) -> Summary {
        let sources = vec![Vec::new(); result_slots(function)];
        Summary {
            carried: sources.clone(),
            any: sources,
        }
    }

    pub(super) fn all(function: &Function) -> Summary {
        let sources = |is_in: fn(Scalar) -> bool| -> SourceSlots {
            let ins = (0..).zip(types_in(function));
            let ins = ins.filter(|(_, ty)| ty.is_some_and(is_in));
            let ins: Vec<u32> = ins.map(|(slot, _)| slot).collect();
            let source = |ty: Option<Scalar>| match ty.is_some_and(is_in) {
                true => ins.clone(),
                false => Vec::new(),
            };
            types_out(function).map(source).collect()
        };
        Summary {
            carried: sources(|ty| ty == Scalar::F32),
            any: sources(is_number),
        }
    }

    pub(super) fn carries(&self, param: usize, result: usize) -> bool {
        self.carried[result].binary_search(&(param as u32)).is_ok()
    }
}
