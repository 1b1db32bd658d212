//! The SIMD level that the batch engine uses.

use crate::engine::SimdError;
use adumbra_vm::SimdLevel;

/// The environment variable that names the level for batches, where the host does not.
pub const SIMD_VARIABLE: &str = "ADUMBRA_SIMD";

/// The given level, else the one that the environment names, else the best.
///
/// # Errors
/// If the environment names no level, or one that the processor lacks.
pub(super) fn choose_level(given: Option<SimdLevel>) -> Result<SimdLevel, SimdError> {
    let named = || match std::env::var(SIMD_VARIABLE) {
        Ok(name) => SimdLevel::from_name(&name)
            .map(Some)
            .ok_or(SimdError::Unknown(name)),
        Err(_) => Ok(None),
    };
    let level = match given {
        Some(level) => level,
        None => named()?.unwrap_or_else(SimdLevel::best),
    };
    match level.is_available() {
        true => Ok(level),
        false => Err(SimdError::Unsupported(level)),
    }
}
