//! Included files: relative to the file that includes them, and never absolute.

use crate::input;
use crate::outcome::Failure;
use adumbra::{Findings, Loader, Sources};
use std::path::{Component, Path, PathBuf};

/// The file system.
pub struct Files;

impl Loader for Files {
    fn resolve(&self, path: &str, from: &str) -> Result<String, String> {
        if path.contains(['\\', '\0']) {
            return Err("folders are separated by `/`".to_owned());
        }
        if Path::new(path).is_absolute() {
            return Err("a path begins where the including text is".to_owned());
        }
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        Ok(plain(&folder.join(path)).display().to_string())
    }

    fn load(&self, name: &str) -> Result<String, String> {
        let path = Path::new(name);
        match path.metadata() {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(format!("{name} is not a file")),
            Err(error) => return Err(format!("cannot read {name}: {error}")),
        }
        let (name, bytes) = input::bytes(path).map_err(|failure| match failure {
            Failure::Usage(why) => why,
            _ => format!("cannot read {name}"),
        })?;
        input::text(&name, bytes).map_err(|found| found.diagnostics[0].message.clone())
    }
}

/// The path without detours: `a/../b` is `b`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        let goes_back = part == Component::ParentDir
            && matches!(out.components().next_back(), Some(Component::Normal(_)));
        match goes_back {
            true => {
                out.pop();
            }
            false => out.push(part),
        }
    }
    out
}

/// The texts with all files that they include.
///
/// # Errors
/// What cannot be included.
pub fn including(sources: Sources) -> Result<Sources, Findings> {
    sources.including(&Files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_where_the_including_file_is() {
        let resolve = |path, from| Files.resolve(path, from);
        assert_eq!(resolve("b.adu", "a.adu").unwrap(), "b.adu");
        assert_eq!(resolve("b.adu", "x/y/a.adu").unwrap(), "x/y/b.adu");
        assert_eq!(resolve("../b.adu", "x/y/a.adu").unwrap(), "x/b.adu");
        assert_eq!(resolve("../../../b.adu", "x/a.adu").unwrap(), "../../b.adu");
        assert_eq!(resolve("b.adu", "./a.adu").unwrap(), "./b.adu");
        assert_eq!(resolve("b.adu", "<stdin>").unwrap(), "b.adu");
        assert!(resolve("/etc/passwd", "a.adu").is_err());
        assert!(resolve("x\\b.adu", "a.adu").is_err());
        assert!(Files.load("/dev/null").is_err());
        assert!(Files.load("src").is_err());
    }
}
