//! Which of the processor's instructions the batch engine uses.

use adumbra_vm::Level;
use std::fmt;

/// The environment variable that names the level for batches, where the host does not.
pub const SIMD_VARIABLE: &str = "ADUMBRA_SIMD";

/// A level of SIMD instructions was asked for that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSimd {
    /// There is no level of that name.
    Unknown(String),
    /// This processor lacks it.
    Lacking(Level),
}

impl fmt::Display for NoSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoSimd::Unknown(name) => {
                let names = Level::ALL.map(Level::name).join("`, `");
                write!(
                    f,
                    "there is no SIMD level `{name}`; the levels are `{names}`"
                )
            }
            NoSimd::Lacking(level) => write!(
                f,
                "this processor lacks the SIMD level `{level}`; its best is `{}`",
                Level::best()
            ),
        }
    }
}

impl std::error::Error for NoSimd {}

/// The level that is given, else the one that the environment names, else the best.
///
/// # Errors
/// If the environment names none that there is, or the processor lacks the level.
pub(crate) fn choose(given: Option<Level>) -> Result<Level, NoSimd> {
    let named = || match std::env::var(SIMD_VARIABLE) {
        Ok(name) => Level::from_name(&name)
            .map(Some)
            .ok_or(NoSimd::Unknown(name)),
        Err(_) => Ok(None),
    };
    let level = match given {
        Some(level) => level,
        None => named()?.unwrap_or_else(Level::best),
    };
    match level.is_available() {
        true => Ok(level),
        false => Err(NoSimd::Lacking(level)),
    }
}
