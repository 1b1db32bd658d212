//! How a command can end.

use std::fmt;
use std::io;

/// The end of a command.
pub type CliResult<T = ()> = Result<T, CliError>;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum CliError {
    /// The input is at fault; what about it was reported already.
    Reported,
    /// The usage is at fault; what about it was reported already.
    UsageReported,
    /// The usage is at fault: what to say about it.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// Somebody pressed Ctrl-C, and what had to be cleared away is.
    Interrupted,
}

impl CliError {
    /// Bad usage.
    pub fn usage(message: impl fmt::Display) -> CliError {
        CliError::Usage(message.to_string())
    }
}

/// Only output is written with `?`: reading says more than the error alone.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Output(error)
    }
}
