//! Sources in files: a loader for hosts that keep shaders in a folder, and compilations that begin
//! with a name.

use crate::diagnostics::Diagnostics;
use crate::group::Group;
use crate::sources::{Loader, MAX_SOURCE_BYTES, Sources, open_file};
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Loads sources from files of a folder. Sources are named by their paths in it, with `/`; an
/// include is found from the folder of the source that has it. Absolute paths, and those that lead
/// out of the folder by `..`, are refused; symbolic links are followed.
///
/// ```no_run
/// use adumbra::{Compiler, GlobalsLayout, Sources, sources::Folder};
/// let folder = Folder::new("assets/shaders");
/// let sources = Sources::load("stone/brick.adu", &folder)?;
/// let program = Compiler::new(GlobalsLayout::hit()).compile(&sources)?;
/// # Ok::<(), adumbra::Diagnostics>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder at that path. It is read only when sources are loaded.
    pub fn new(root: impl Into<PathBuf>) -> Folder {
        Folder { root: root.into() }
    }
}

impl Loader for Folder {
    fn resolve(&self, path: &str, from: &str) -> Result<String, String> {
        if path.contains(['\\', ':', '\0']) {
            return Err("folders are separated by `/`".to_owned());
        }
        if Path::new(path).is_absolute() {
            return Err("absolute paths are not followed".to_owned());
        }
        let above = from.rsplit_once('/').map_or("", |(above, _)| above);
        let mut parts: Vec<&str> = Vec::new();
        for part in above.split('/').chain(path.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => {
                    return Err("it is outside of the folder".to_owned());
                }
                ".." => {}
                part => parts.push(part),
            }
        }
        Ok(parts.join("/"))
    }

    fn load(&self, name: &str) -> Result<String, String> {
        let path = self.root.join(name);
        let why = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut bytes = Vec::new();
        let mut file = open_file(&path)
            .map_err(why)?
            .take(MAX_SOURCE_BYTES as u64 + 1);
        file.read_to_end(&mut bytes).map_err(why)?;
        if bytes.len() > MAX_SOURCE_BYTES {
            return Err(format!(
                "{} has more than {MAX_SOURCE_BYTES} bytes",
                path.display()
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("{} is not UTF-8 text", path.display()))?;
        Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
    }
}

/// The name and the content of the first source of a compilation.
fn begin(path: &str, loader: &dyn Loader, code: Code) -> Result<(String, String), Diagnostics> {
    let loaded = loader.resolve(path, "").and_then(|name| {
        let text = loader.load(&name)?;
        Ok((name, text))
    });
    loaded.map_err(|why| {
        let span = Span::new(FileId::MAIN, 0, 0);
        let diagnostic = Diagnostic::new(code, span, format!("`{path}` cannot be loaded: {why}"))
            .help("name a source that the loader has");
        Diagnostics {
            diagnostics: vec![diagnostic],
            sources: Sources::new(path, ""),
        }
    })
}

impl Sources {
    /// A source by its name in a loader, and all that it includes.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, sources::Loader};
    /// struct Shelf;
    /// impl Loader for Shelf {
    ///     fn resolve(&self, path: &str, _from: &str) -> Result<String, String> {
    ///         Ok(path.to_owned())
    ///     }
    ///     fn load(&self, name: &str) -> Result<String, String> {
    ///         match name {
    ///             "s.adu" => Ok("#include \"half.adu\"\nshader s(float x, out float o) { o = half(x); }".to_owned()),
    ///             "half.adu" => Ok("float half(float x) { return 0.5 * x; }".to_owned()),
    ///             _ => Err("it is not on the shelf".to_owned()),
    ///         }
    ///     }
    /// }
    /// Compiler::new(GlobalsLayout::new()).compile(&Sources::load("s.adu", &Shelf)?)?;
    /// let diagnostics = Sources::load("t.adu", &Shelf).unwrap_err();
    /// assert_eq!(diagnostics.diagnostics[0].message, "`t.adu` cannot be loaded: it is not on the shelf");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such source; as [`Sources::including`].
    pub fn load(path: &str, loader: &dyn Loader) -> Result<Sources, Diagnostics> {
        let (name, text) = begin(path, loader, Code::IncludeNotFound)?;
        Sources::new(name, text).including(loader)
    }
}

impl Group {
    /// A group from a JSON file by its name in a loader, with its units' sources and all that they
    /// include. Paths of units begin at the file's folder.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, group::Group, sources::Folder};
    /// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    /// let group = Group::load("group/material.json", &Folder::new(examples))?;
    /// let program = Compiler::new(GlobalsLayout::hit()).compile_group(&group)?;
    /// assert_eq!(program.outputs()[0].name, "surface");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such file; as [`Group::from_json`] and [`Group::including`].
    pub fn load(path: &str, loader: &dyn Loader) -> Result<Group, Diagnostics> {
        let (name, text) = begin(path, loader, Code::GroupFile)?;
        let group = Group::from_json(&name, &text, |unit| {
            let unit = loader.resolve(unit, &name)?;
            let text = loader.load(&unit)?;
            Ok((unit, text))
        })?;
        group.including(loader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own, which is gone after the test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            let path = std::env::temp_dir().join(format!("adumbra-{name}-{}", std::process::id()));
            std::fs::create_dir_all(path.join("stone")).expect("a folder for the test");
            Temporary(path)
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            std::fs::write(self.0.join(name), text).expect("a file for the test");
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn include_paths_begin_at_source() {
        let folder = Folder::new("anywhere");
        let resolve = |path, from| folder.resolve(path, from);
        assert_eq!(resolve("a.adu", ""), Ok("a.adu".to_owned()));
        assert_eq!(
            resolve("a.adu", "stone/b.adu"),
            Ok("stone/a.adu".to_owned())
        );
        assert_eq!(resolve("../a.adu", "stone/b.adu"), Ok("a.adu".to_owned()));
        assert_eq!(resolve("./x//../a.adu", "b.adu"), Ok("a.adu".to_owned()));
    }

    #[test]
    fn paths_stay_in_folder() {
        let folder = Folder::new("anywhere");
        for (path, from) in [
            ("../a.adu", "b.adu"),
            ("../../a.adu", "stone/b.adu"),
            ("x/../../a.adu", ""),
            ("/etc/passwd", "b.adu"),
            ("C:a.adu", "b.adu"),
            ("stone\\a.adu", "b.adu"),
            ("a\0.adu", "b.adu"),
        ] {
            assert!(folder.resolve(path, from).is_err(), "{path} from {from}");
        }
    }

    #[test]
    fn sources_load_with_includes() {
        let place = Temporary::new("folder");
        place.write("lib.adu", "\u{feff}float half(float x) { return 0.5 * x; }");
        place.write(
            "stone/a.adu",
            "#include \"../lib.adu\"\n#include \"b.adu\"\nshader s() {}",
        );
        place.write("stone/b.adu", "#include \"../lib.adu\"");
        place.write(
            "g.json",
            r#"{ "units": { "u": { "source": "stone/a.adu" } } }"#,
        );
        let folder = Folder::new(&place.0);
        let sources = Sources::load("stone/a.adu", &folder).expect("all is there");
        let names: Vec<&str> = sources.iter().map(|(_, file)| file.name()).collect();
        assert_eq!(names, ["stone/a.adu", "lib.adu", "stone/b.adu"]);
        assert!(
            sources
                .get(FileId(1))
                .is_some_and(|file| file.text().starts_with("float"))
        );
        assert!(Group::load("g.json", &folder).is_ok());
    }

    #[test]
    fn invalid_utf8_and_non_files_are_refused() {
        let place = Temporary::new("refused");
        place.write("bytes.adu", b"shader \xff() {}");
        place.write("long.adu", vec![b' '; MAX_SOURCE_BYTES + 1]);
        let folder = Folder::new(&place.0);
        for (name, why) in [
            ("none.adu", "cannot read "),
            ("stone", "is not a file"),
            ("bytes.adu", "UTF-8"),
            ("long.adu", "has more than"),
        ] {
            let diagnostics = Sources::load(name, &folder).expect_err("there is no such source");
            let message = &diagnostics.diagnostics[0].message;
            assert!(
                message.starts_with(&format!("`{name}` cannot be loaded: ")),
                "{message}"
            );
            assert!(message.contains(why), "{message}");
            let group = Group::load(name, &folder).expect_err("there is no such source");
            assert_eq!(group.diagnostics[0].code, Code::GroupFile);
            assert!(group.to_string().contains(why), "{group}");
        }
    }
}
