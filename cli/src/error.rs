//! The ways a command can end.

use std::fmt;
use std::io;

/// The result of a command.
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
    /// Ctrl-C was pressed, and temporary state is cleared away.
    Interrupted,
}

impl CliError {
    /// Bad usage.
    pub fn usage(message: impl fmt::Display) -> CliError {
        CliError::Usage(message.to_string())
    }
}

/// Only output is written with `?`; errors of reading carry the file's name.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Output(error)
    }
}
