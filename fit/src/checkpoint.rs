//! Checkpoints: the state of a fit as JSON that reads back to the same bits.
//!
//! A checkpoint names the setup that it belongs to, part by part, and is refused in another. What a
//! file says is checked before it is used.

use crate::objective::{FitParameter, RasterShape};
use crate::options::{FitOptions, FitSetupError};
use crate::restart::{Restart, RestartRecord};
use fnv::FnvHasher;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::Path;

/// What a file begins with, so that others are refused by name.
const FORMAT: &str = "adumbra fit checkpoint";
/// The version of the contents.
const VERSION: u32 = 2;

/// Why a fit cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The fit could not begin either.
    Setup(FitSetupError),
    /// It is no checkpoint, or one that was altered: why, in words.
    Malformed(String),
    /// It has the format of another version.
    Version(u32),
    /// It is of another setup.
    Differs(Box<SetupDifference>),
}

/// A part in which two setups differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupDifference {
    /// The name of the part.
    pub part: String,
    /// What the checkpoint has; none if it lacks the part.
    pub saved: Option<SetupPart>,
    /// What is here; none if the part is not.
    pub here: Option<SetupPart>,
}

impl From<FitSetupError> for CheckpointError {
    fn from(error: FitSetupError) -> CheckpointError {
        CheckpointError::Setup(error)
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckpointError::Setup(error) => error.fmt(f),
            CheckpointError::Malformed(why) => write!(f, "the checkpoint cannot be read: {why}"),
            CheckpointError::Version(version) => {
                write!(
                    f,
                    "the checkpoint has format {version}, and {VERSION} is needed"
                )
            }
            CheckpointError::Differs(difference) => {
                let SetupDifference { part, saved, here } = &**difference;
                let is_hash = |part: &Option<SetupPart>| part.as_ref().is_some_and(|of| of.is_hash);
                let value = |part: &Option<SetupPart>| match part {
                    Some(part) => part.value.clone(),
                    None => "none".to_owned(),
                };
                f.write_str("the checkpoint is of another setup: ")?;
                match is_hash(saved) && is_hash(here) {
                    true => write!(f, "{part} is not what it was"),
                    false => write!(f, "{part} was {}, and is {}", value(saved), value(here)),
                }
            }
        }
    }
}

impl std::error::Error for CheckpointError {}

/// A hash of contents, as 16 hexadecimal digits (FNV-1a, Fowler, Noll, Vo 1991): the same on every
/// machine, and no protection against forgery.
pub fn content_hash(bytes: &[u8]) -> String {
    let mut hash = FnvHasher::default();
    hash.write(bytes);
    format!("{:016x}", hash.finish())
}

/// A thing that the results of a fit depend on, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupPart {
    /// Its name.
    pub name: String,
    /// Its value, or the hash of its contents.
    pub value: String,
    /// Whether the value is a hash, which says nothing to people.
    pub is_hash: bool,
}

impl SetupPart {
    /// A part with a value that people can read.
    pub fn new(name: impl Into<String>, value: impl fmt::Display) -> SetupPart {
        SetupPart {
            name: name.into(),
            value: value.to_string(),
            is_hash: false,
        }
    }

    /// A part that is known by the [hash](content_hash) of its contents.
    pub fn hashed(name: impl Into<String>, contents: &[u8]) -> SetupPart {
        SetupPart {
            name: name.into(),
            value: content_hash(contents),
            is_hash: true,
        }
    }
}

/// All that results depend on, by name: the host's parts, then those of the fit.
pub(crate) fn setup_parts(
    host: &[SetupPart],
    options: &FitOptions,
    parameters: &[FitParameter],
    shapes: &[RasterShape],
    stages: usize,
) -> Vec<SetupPart> {
    let shapes: Vec<String> = shapes.iter().map(RasterShape::to_string).collect();
    let schedule = &options.schedule;
    let accept = options.accept.map(|accept| accept.to_string());
    let own = [
        SetupPart::new("restarts", options.restarts),
        SetupPart::new("first restart", options.first_restart),
        SetupPart::new("random seed", options.random_seed),
        SetupPart::new("noise", options.noise),
        SetupPart::new("given start", options.first_given),
        SetupPart::new("accepted loss", accept.as_deref().unwrap_or("none")),
        SetupPart::new("iterations of a stage", schedule.iterations),
        SetupPart::new("idle iterations", schedule.idle_iterations),
        SetupPart::new("idle stages", schedule.idle_stages),
        SetupPart::new("alternations", schedule.alternations),
        SetupPart::new("sizes of images", shapes.join(" ")),
        SetupPart::new("stages of the loss", stages),
        SetupPart::hashed("parameters", format!("{parameters:?}").as_bytes()),
    ];
    host.iter().cloned().chain(own).collect()
}

/// What every version begins with.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// A fit in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedFit {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u32,
    setup: Vec<SetupPart>,
    finished: Vec<RestartRecord>,
    current: Option<Restart>,
}

/// [`SavedFit`], borrowed.
#[derive(Serialize)]
struct SavedFitRef<'a> {
    format: &'static str,
    version: u32,
    setup: Vec<SetupPart>,
    finished: &'a [RestartRecord],
    current: Option<&'a Restart>,
}

impl SavedFit {
    pub(crate) fn write(
        setup: Vec<SetupPart>,
        finished: &[RestartRecord],
        current: Option<&Restart>,
    ) -> Vec<u8> {
        let saved = SavedFitRef {
            format: FORMAT,
            version: VERSION,
            setup,
            finished,
            current,
        };
        serde_json::to_vec(&saved).expect("strings and numbers are JSON")
    }

    pub(crate) fn read(bytes: &[u8], setup: &[SetupPart]) -> Result<SavedFit, CheckpointError> {
        let malformed = |error: serde_json::Error| CheckpointError::Malformed(error.to_string());
        let head: Head = serde_json::from_slice(bytes).map_err(malformed)?;
        if head.format != FORMAT {
            let why = format!("its format is `{}`", head.format);
            return Err(CheckpointError::Malformed(why));
        }
        if head.version != VERSION {
            return Err(CheckpointError::Version(head.version));
        }
        let saved: SavedFit = serde_json::from_slice(bytes).map_err(malformed)?;
        let find = |parts: &[SetupPart], name: &str| {
            let mut parts = parts.iter();
            parts.find(|part| part.name == name).cloned()
        };
        let names = setup.iter().chain(&saved.setup).map(|part| &part.name);
        for name in names {
            let (then, here) = (find(&saved.setup, name), find(setup, name));
            if then != here {
                return Err(CheckpointError::Differs(Box::new(SetupDifference {
                    part: name.clone(),
                    saved: then,
                    here,
                })));
            }
        }
        Ok(saved)
    }

    pub(crate) fn restarts(self) -> (Vec<RestartRecord>, Option<Restart>) {
        (self.finished, self.current)
    }
}

/// Writes a file beside its path, then renames it: a reader gets the old or the
/// new contents, also after a crash of the program.
///
/// The other file's name is always the same, so programs that are killed leave one at most. A path
/// has one writer.
///
/// # Errors
/// If it cannot be written; the old contents are then still there.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
    name.push(".part");
    let draft = path.with_file_name(name);
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(contents)?;
    // A rename may reach the disk before the contents do.
    file.sync_all()?;
    drop(file);
    std::fs::rename(&draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_the_published_one() {
        assert_eq!(content_hash(b""), "cbf29ce484222325");
        assert_eq!(content_hash(b"foobar"), "85944171f73967e8");
    }

    #[test]
    fn written_file_replaces_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.json");
        for contents in ["one", "another"] {
            write_atomically(&path, contents.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), contents);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomically(&folder.path().join("a/b"), b"").is_err());
    }
}
