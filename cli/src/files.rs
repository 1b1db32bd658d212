//! Loads and writes files by name. Included paths are relative to the including file; one file is
//! one source, however it is spelled.

use crate::error::{CliError, CliResult};
use crate::input;
use adumbra::{Diagnostics, Sources, sources::Loader};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// A file loader over the file system, with the names that files have got so far.
#[derive(Debug, Default)]
pub struct FileLoader {
    /// Names by canonical path.
    names: RefCell<HashMap<PathBuf, String>>,
}

impl FileLoader {
    /// A loader for sources that have their names already.
    pub fn with_names_of(sources: &Sources) -> FileLoader {
        let files = FileLoader::default();
        for (_, file) in sources.iter() {
            files.register(Path::new(file.name()), file.name());
        }
        files
    }

    /// The name of a file: `name`, unless it has one already.
    pub fn register(&self, path: &Path, name: &str) -> String {
        // A missing file is reported when it is read.
        let Ok(canonical) = path.canonicalize() else {
            return name.to_owned();
        };
        let mut names = self.names.borrow_mut();
        names
            .entry(canonical)
            .or_insert_with(|| name.to_owned())
            .clone()
    }
}

impl Loader for FileLoader {
    fn resolve(&self, path: &str, from: &str) -> Result<String, String> {
        if path.contains(['\\', '\0']) {
            return Err("folders are separated by `/`".to_owned());
        }
        if Path::new(path).is_absolute() {
            return Err("absolute paths are not followed".to_owned());
        }
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        let found = folder.join(path);
        Ok(self.register(&found, &plain(&found).display().to_string()))
    }

    fn load(&self, name: &str) -> Result<String, String> {
        let path = Path::new(name);
        // Standard input has no name here: a source called `-` is a file.
        let bytes = input::read_file(path).map_err(|failure| match failure {
            CliError::Usage(why) => why,
            _ => format!("cannot read {name}"),
        })?;
        input::decode_source(name, bytes).map_err(|found| found.diagnostics[0].message.clone())
    }
}

/// The path in its shortest form: `a/../b` and `./b` are `b`.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        let goes_back = part == Component::ParentDir
            && matches!(out.components().next_back(), Some(Component::Normal(_)));
        match (goes_back, part) {
            (true, _) => {
                out.pop();
            }
            (_, Component::CurDir) => {}
            _ => out.push(part),
        }
    }
    out
}

/// Whether two names are of one file.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let canonical = |name| Path::new(name).canonicalize();
    a == b || matches!((canonical(a), canonical(b)), (Ok(a), Ok(b)) if a == b)
}

/// The sources with all files that they include.
///
/// # Errors
/// If a file cannot be included.
pub fn with_includes(sources: Sources) -> Result<Sources, Diagnostics> {
    sources.including(&FileLoader::with_names_of(&sources))
}

/// Checks that no written file replaces one that is read, or is written twice.
///
/// # Errors
/// If a file of the one list is in the other, or twice in the first.
pub fn check_no_overwrite<'a>(
    written: impl Iterator<Item = &'a Path> + Clone,
    read: impl Iterator<Item = &'a Path>,
) -> CliResult {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    // A device takes whatever comes.
    let written =
        written.filter(|path| path.metadata().is_ok_and(|found| found.is_file()) || !path.exists());
    for other in read {
        if let Some(path) = (written.clone()).find(|path| is_same_file(&name(path), &name(other))) {
            let message = format!("{} is read, and would be written over", path.display());
            return Err(CliError::usage(message));
        }
    }
    for (i, path) in written.clone().enumerate() {
        if (written.clone().take(i)).any(|other| is_same_file(&name(path), &name(other))) {
            let message = format!("{} would be written twice", path.display());
            return Err(CliError::usage(message));
        }
    }
    Ok(())
}

/// Writes a file that was asked for.
///
/// # Errors
/// If it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> CliResult {
    std::fs::write(path, bytes)
        .map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn include_path_is_relative_to_includer() {
        let files = FileLoader::default();
        let resolve = |path, from| files.resolve(path, from);
        assert_eq!(resolve("b.adu", "a.adu").unwrap(), "b.adu");
        assert_eq!(resolve("b.adu", "x/y/a.adu").unwrap(), "x/y/b.adu");
        assert_eq!(resolve("../b.adu", "x/y/a.adu").unwrap(), "x/b.adu");
        assert_eq!(resolve("../../../b.adu", "x/a.adu").unwrap(), "../../b.adu");
        assert_eq!(resolve("b.adu", "./a.adu").unwrap(), "b.adu");
        assert_eq!(resolve("./x/./b.adu", "a.adu").unwrap(), "x/b.adu");
        assert_eq!(resolve("b.adu", "<stdin>").unwrap(), "b.adu");
        assert!(resolve("/etc/passwd", "a.adu").is_err());
        assert!(resolve("x\\b.adu", "a.adu").is_err());
        assert!(files.load("/dev/null").is_err());
        assert!(files.load("src").is_err());
    }

    #[test]
    fn spellings_of_a_file_share_one_name() {
        let sources = Sources::new("./src/lib.rs", "");
        let files = FileLoader::with_names_of(&sources);
        for (path, from) in [
            ("src/lib.rs", "a.adu"),
            ("lib.rs", "src/a.adu"),
            ("../src/repl/../lib.rs", "src/a.adu"),
        ] {
            assert_eq!(files.resolve(path, from).unwrap(), "./src/lib.rs", "{path}");
        }
        assert!(is_same_file("src/lib.rs", "src/repl/../lib.rs"));
        assert!(!is_same_file("src/lib.rs", "src/main.rs"));
        assert!(is_same_file("<stdin>", "<stdin>") && !is_same_file("no", "other"));
    }
}
