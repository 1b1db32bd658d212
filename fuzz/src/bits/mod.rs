//! Hashes of the results of programs, to the bit: a record that later commits are compared with.
//!
//! The record ([`record`]) has an entry for each program of `tests/lang` ([`language`]), for each
//! material ([`materials`]), and for each thousand of random programs ([`random`]). An entry has
//! two hashes ([`FnvHasher`](crate::fnv::FnvHasher)): one of the source, one of all that a host can
//! see ([`observation`]). If the first one differs, the program is another; if only the second one
//! does, the same program gives something else.
//!
//! The point interpreter computes them. Other tests hold the other engines to it.

pub mod language;
pub mod materials;
pub mod observation;
pub mod random;
pub mod record;
pub mod run;

use std::path::{Path, PathBuf};

/// The hashes of a program, or of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashes {
    /// Of the source.
    pub source: u64,
    /// Of what it showed.
    pub shown: u64,
}

/// The folder of the workspace, which programs are read from.
pub fn root() -> &'static Path {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.expect("the crate is in a folder of the workspace")
}

/// The record that the repository keeps.
pub fn kept() -> PathBuf {
    root().join("tests/data/bits.txt")
}

/// The shaders in a folder of the workspace and in the folders in it, by their path from the
/// workspace on, in order.
///
/// # Errors
/// If the folder cannot be read.
fn shaders(folder: &str) -> Result<Vec<String>, String> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        let no = |error: std::io::Error| format!("{folder}: {error}");
        for entry in std::fs::read_dir(root().join(&folder)).map_err(no)? {
            let entry = entry.map_err(no)?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(no)?.is_dir() {
                open.push(path);
            } else if path.ends_with(".adu") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file of the workspace.
///
/// # Errors
/// If it cannot be read.
fn text(path: &str) -> Result<String, String> {
    std::fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))
}
