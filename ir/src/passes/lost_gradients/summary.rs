//! The slots of functions, and what leads from those that go in to those that come out.

use super::is_number;
use crate::module::{Function, PassingMode};
use crate::passes::source_sets::SourceSets;
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

/// What leads where in a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// By derivatives.
    pub(super) carried: SourceSets,
    /// By any way.
    pub(super) any: SourceSets,
}

impl Summary {
    pub(super) fn none(function: &Function) -> Summary {
        let none = SourceSets::none(result_slots(function));
        Summary {
            carried: none.clone(),
            any: none,
        }
    }

    pub(super) fn all(function: &Function) -> Summary {
        let sources = |counts: fn(Scalar) -> bool| {
            let is_in: Vec<bool> = types_in(function)
                .map(|ty| ty.is_some_and(counts))
                .collect();
            let is_out: Vec<bool> = types_out(function)
                .map(|ty| ty.is_some_and(counts))
                .collect();
            SourceSets::all(&is_in, &is_out)
        };
        Summary {
            carried: sources(|ty| ty == Scalar::F32),
            any: sources(is_number),
        }
    }
}
