//! Errors of scenes, each with its file and place.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Where in a file an error is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScenePlace {
    /// The file as a whole.
    File,
    /// A line and a column, both from 1.
    Line(usize, usize),
    /// A key or an element, such as `instances[2].mesh`.
    Item(String),
}

/// Why a scene cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// The file that the error is in.
    pub file: PathBuf,
    /// Where in it.
    pub place: ScenePlace,
    /// Why, for people; it may have several lines.
    pub message: String,
}

impl SceneError {
    pub(super) fn file(file: &Path, message: impl fmt::Display) -> SceneError {
        SceneError::new(file, ScenePlace::File, message)
    }

    pub(super) fn item(
        file: &Path,
        item: impl Into<String>,
        message: impl fmt::Display,
    ) -> SceneError {
        SceneError::new(file, ScenePlace::Item(item.into()), message)
    }

    pub(super) fn new(file: &Path, place: ScenePlace, message: impl fmt::Display) -> SceneError {
        SceneError {
            file: file.to_owned(),
            place,
            message: message.to_string(),
        }
    }

    /// An error of reading JSON; serde's own place is left out of the message.
    pub(super) fn json(file: &Path, error: &serde_json::Error) -> SceneError {
        let message = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&suffix).unwrap_or(&message);
        let place = match error.line() {
            0 => ScenePlace::File,
            line => ScenePlace::Line(line, error.column()),
        };
        SceneError::new(file, place, message)
    }
}

/// Reads a file by a library that may panic if the file is malformed.
pub(super) fn guarded<T>(
    file: &Path,
    read: impl FnOnce() -> Result<T, SceneError>,
) -> Result<T, SceneError> {
    let why = "it is malformed: the library for such files cannot read it";
    let read = catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(SceneError::file(file, why)))
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match &self.place {
            ScenePlace::File => {}
            ScenePlace::Line(line, column) => write!(f, ":{line}:{column}")?,
            ScenePlace::Item(item) => write!(f, ": {item}")?,
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for SceneError {}
