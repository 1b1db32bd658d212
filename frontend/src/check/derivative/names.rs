//! The names of what is built in for derivatives of functions.

use crate::ast::DERIVATIVE_MODES;
use adumbra_ir::module::DifferentiationMode;

/// A built-in function on pairs and differentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum PairBuiltin {
    /// `diffPair(p, d)`, `diffPair(p)`
    DiffPair,
    /// `detach(x)`
    Detach,
    /// `updatePrimal(pair, p)`
    UpdatePrimal,
    /// `updateDiff(pair, d)`
    UpdateDiff,
    /// `updatePair(pair, p, d)`
    UpdatePair,
}

/// The built-ins, by name.
pub(in crate::check) const PAIR_BUILTINS: [(&str, PairBuiltin); 5] = [
    ("diffPair", PairBuiltin::DiffPair),
    ("detach", PairBuiltin::Detach),
    ("updatePrimal", PairBuiltin::UpdatePrimal),
    ("updateDiff", PairBuiltin::UpdateDiff),
    ("updatePair", PairBuiltin::UpdatePair),
];

/// The built-in of that name.
pub(in crate::check) fn pair_builtin(name: &str) -> Option<PairBuiltin> {
    let found = PAIR_BUILTINS.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// The mode of the derivative of that name.
pub(in crate::check) fn derivative_mode(name: &str) -> Option<DifferentiationMode> {
    match DERIVATIVE_MODES.iter().position(|mode| *mode == name)? {
        0 => Some(DifferentiationMode::Forward),
        _ => Some(DifferentiationMode::Backward),
    }
}
