//! How a command can end.

use std::fmt;
use std::io;

/// The end of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The input is at fault; what about it was reported already.
    Reported,
    /// The usage is at fault; what about it was reported already.
    Misused,
    /// The usage is at fault: what to say about it.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// Somebody pressed Ctrl-C, and what had to be cleared away is.
    Interrupted,
}

impl Failure {
    /// Bad usage.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure::Usage(message.to_string())
    }
}

/// Only output is written with `?`: reading says more than the error alone.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}
