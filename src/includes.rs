//! `#include "file.adu"`: adds to sources all that they include, before anything is compiled.
//!
//! A source comes in once, however often it is included; the compiler declares its contents before
//! those of the source that includes it. The host's [`Loader`] gives the sources. Three limits
//! bound hostile ones: the number of included sources, their bytes together, and the depth of
//! nesting.

use crate::diagnostics::Diagnostics;
use crate::sources::Sources;
use adumbra_frontend::Include;
use adumbra_ir::{Code, Diagnostic, FileId};
use std::collections::HashMap;

/// The maximum number of sources of a compilation with those that are included.
pub const MAX_INCLUDED: usize = 1_000;
/// The maximum bytes of included sources together.
pub const MAX_INCLUDED_BYTES: usize = 4 * adumbra_frontend::limits::MAX_SOURCE_BYTES;
/// The maximum depth of nested includes.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// The loader of included sources.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, sources::Loader};
///
/// /// Sources of an asset library.
/// struct Library;
/// impl Loader for Library {
///     fn resolve(&self, path: &str, _from: &str) -> Result<String, String> {
///         Ok(format!("library/{path}"))
///     }
///     fn load(&self, name: &str) -> Result<String, String> {
///         match name {
///             "library/half.adu" => Ok("float half(float x) { return 0.5 * x; }".to_owned()),
///             _ => Err("the library has no such source".to_owned()),
///         }
///     }
/// }
///
/// let source = "#include \"half.adu\"\nshader s(float x, out float o) { o = half(x); }";
/// let sources = Sources::new("s.adu", source).including(&Library)?;
/// assert_eq!(sources.iter().len(), 2);
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// # Ok::<(), adumbra::Diagnostics>(())
/// ```
pub trait Loader {
    /// The name of the source that `from` includes as `path`: the same name for the same source.
    ///
    /// # Errors
    /// If there is none, with the reason for people.
    fn resolve(&self, path: &str, from: &str) -> Result<String, String>;

    /// The text of the source of that name.
    ///
    /// # Errors
    /// If there is none, with the reason for people.
    fn load(&self, name: &str) -> Result<String, String>;
}

impl Sources {
    /// These sources, followed by all that they include. Sources that are there already are not
    /// loaded again.
    ///
    /// # Errors
    /// For a source that cannot be loaded, at its directive, and for sources that include each
    /// other in a cycle.
    pub fn including(&self, loader: &dyn Loader) -> Result<Sources, Diagnostics> {
        let names = self.iter().map(|(id, file)| (file.name().to_owned(), id));
        let mut gathering = Gathering {
            loader,
            names: names.collect(),
            sources: self.clone(),
            open: Vec::new(),
            bytes: 0,
            found: Vec::new(),
        };
        for (id, _) in self.iter() {
            gathering.visit(id);
        }
        match gathering.found.is_empty() {
            true => Ok(gathering.sources),
            false => Err(Diagnostics {
                diagnostics: gathering.found,
                sources: gathering.sources,
            }),
        }
    }
}

struct Gathering<'l> {
    loader: &'l dyn Loader,
    names: HashMap<String, FileId>,
    sources: Sources,
    /// The sources that include each other down to here, each with the directive in it.
    open: Vec<(FileId, Include)>,
    /// The bytes of the sources loaded.
    bytes: usize,
    found: Vec<Diagnostic>,
}

impl Gathering<'_> {
    /// Loads the includes of a source, unless that was done.
    fn visit(&mut self, id: FileId) {
        let Some(file) = self
            .sources
            .get(id)
            .filter(|file| file.included().is_none())
        else {
            return;
        };
        let (name, text) = (file.name().to_owned(), file.text().to_owned());
        let mut included = Vec::new();
        for include in adumbra_frontend::find_includes(id, &text) {
            if self.found.len() >= adumbra_frontend::limits::MAX_DIAGNOSTICS {
                break;
            }
            self.open.push((id, include));
            match self.include(&name) {
                Ok(other) => included.push(other.0),
                Err(diagnostic) => self.found.push(diagnostic),
            }
            self.open.pop();
        }
        self.sources.set_included(id, included);
    }

    /// The source that the innermost directive names.
    fn include(&mut self, from: &str) -> Result<FileId, Diagnostic> {
        let (_, include) = self.open.last().expect("a directive is looked at").clone();
        let missing = |why: String| {
            let path = &include.path;
            Diagnostic::new(
                Code::IncludeNotFound,
                include.span,
                format!("`{path}` cannot be included: {why}"),
            )
            .here("included here")
            .help(
                "write a path that can be read; a relative one begins at the folder of this source",
            )
        };
        let name = self.loader.resolve(&include.path, from).map_err(missing)?;
        if let Some(&known) = self.names.get(&name) {
            self.visit_cycle(known, &name)?;
            self.visit(known);
            return Ok(known);
        }
        let too_many = |what: String| {
            Diagnostic::new(Code::TooManyIncludes, include.span, what)
                .here("one too many")
                .help("put several sources into one, or include fewer")
        };
        if self.open.len() > MAX_INCLUDE_DEPTH {
            let what =
                format!("more than {MAX_INCLUDE_DEPTH} sources include each other in one chain");
            return Err(too_many(what));
        }
        if self.sources.iter().len() >= MAX_INCLUDED {
            return Err(too_many(format!(
                "there are more than {MAX_INCLUDED} sources"
            )));
        }
        let text = self.loader.load(&name).map_err(missing)?;
        self.bytes += text.len();
        if self.bytes > MAX_INCLUDED_BYTES {
            let what = format!("the included sources have more than {MAX_INCLUDED_BYTES} bytes");
            return Err(too_many(what));
        }
        let id = self.sources.add(name.as_str(), text);
        self.names.insert(name, id);
        self.visit(id);
        Ok(id)
    }

    /// Refuses a source whose includes are being loaded: it would include itself.
    fn visit_cycle(&self, known: FileId, name: &str) -> Result<(), Diagnostic> {
        let Some(start) = self.open.iter().position(|(id, _)| *id == known) else {
            return Ok(());
        };
        let cycle = &self.open[start..];
        let (_, last) = cycle.last().expect("it begins here");
        let names = cycle.iter().map(|(id, _)| self.sources.get(*id));
        let names: Vec<&str> = names.flatten().map(|file| file.name()).collect();
        let message = format!(
            "sources include each other in a cycle: {} → {name}",
            names.join(" → ")
        );
        let mut diagnostic = Diagnostic::new(Code::IncludeCycle, last.span, message)
            .here("the cycle closes here")
            .help("move what both need into a source that both include");
        for (_, include) in &cycle[..cycle.len() - 1] {
            diagnostic = diagnostic.label(include.span, "by way of this");
        }
        Err(diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, GlobalsLayout};

    /// Sources by name; a path is relative to nothing.
    struct Library(HashMap<String, String>);

    impl Loader for Library {
        fn resolve(&self, path: &str, _: &str) -> Result<String, String> {
            Ok(path.to_owned())
        }
        fn load(&self, name: &str) -> Result<String, String> {
            self.0
                .get(name)
                .cloned()
                .ok_or("it is not there".to_owned())
        }
    }

    fn library(sources: &[(&str, &str)]) -> Library {
        let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        Library(sources.iter().map(owned).collect())
    }

    fn codes(main: &str, loader: &Library) -> Vec<Code> {
        let gathered = Sources::new("main", main).including(loader);
        let found = match gathered {
            Err(diagnostics) => diagnostics,
            Ok(sources) => match Compiler::new(GlobalsLayout::new()).compile(&sources) {
                Ok(_) => return Vec::new(),
                Err(diagnostics) => diagnostics,
            },
        };
        assert!(!found.to_string().is_empty());
        assert!(found.diagnostics.iter().all(|d| d.help.is_some()));
        found.diagnostics.iter().map(|d| d.code).collect()
    }

    #[test]
    fn included_source_is_declared_first_and_once() {
        let loader = library(&[
            ("n", "const int N = 3;"),
            ("a", "#include \"n\"\nconst int A[N] = { 1, 2, 3 };"),
            (
                "b",
                "#include \"n\" // again\nstruct b { float w[N]; };\n#include \"a\"",
            ),
        ]);
        let main = "# include \"a\"\n#include \"b\"\nshader s(out int o) { b x; x.w[0] = A[N - 1]; o = (int)x.w[0]; }";
        assert_eq!(codes(main, &loader), []);
        let sources = Sources::new("main", main).including(&loader).unwrap();
        let names: Vec<&str> = sources.iter().map(|(_, file)| file.name()).collect();
        assert_eq!(names, ["main", "a", "n", "b"]);
        let again = sources.including(&loader).unwrap();
        assert_eq!(again.iter().len(), 4);
    }

    #[test]
    fn diagnostics_point_into_included_source() {
        let loader = library(&[("a", "float f() { return nothing; }")]);
        let sources = Sources::new("main", "#include \"a\"\nshader s() {}");
        let sources = sources.including(&loader).unwrap();
        let found = Compiler::new(GlobalsLayout::new())
            .compile(&sources)
            .unwrap_err();
        assert_eq!(found.diagnostics[0].span.file, FileId(1));
        assert!(found.to_string().contains("a:1:"), "{found}");
    }

    #[test]
    fn include_cycle_is_reported_with_chain() {
        let loader = library(&[
            ("a", "#include \"b\""),
            ("b", "int f();\n#include \"a\""),
            ("c", "#include \"c\""),
        ]);
        assert_eq!(codes("#include \"c\"", &loader), [Code::IncludeCycle]);
        assert_eq!(codes("#include \"main\"", &loader), [Code::IncludeCycle]);
        let found = Sources::new("main", "#include \"a\"")
            .including(&loader)
            .unwrap_err();
        let cycle = &found.diagnostics[0];
        assert!(cycle.message.ends_with("a → b → a"), "{}", cycle.message);
        assert_eq!((cycle.span.file, cycle.labels.len()), (FileId(2), 1));
    }

    #[test]
    fn invalid_includes_are_refused() {
        let loader = library(&[("a", "")]);
        for (main, code) in [
            ("#include \"missing\"\nshader s() {}", Code::IncludeNotFound),
            ("#include <a>\nshader s() {}", Code::BadInclude),
            ("#include a\nshader s() {}", Code::BadInclude),
            ("#include \"a\nshader s() {}", Code::BadInclude),
            ("#include \"\"\nshader s() {}", Code::BadInclude),
            ("#include \"a\" b\nshader s() {}", Code::BadInclude),
            ("shader s() {\n#include \"a\"\n}", Code::BadInclude),
            (
                "int\n#include \"a\"\nf() { return 1; } shader s() {}",
                Code::BadInclude,
            ),
            ("#define X 1\nshader s() {}", Code::NoPreprocessor),
        ] {
            assert_eq!(codes(main, &loader), [code], "{main}");
        }
        assert_eq!(codes("shader s() {}\n#include \"a\"", &loader), []);
        // Their includes were not gathered.
        let sources = Sources::new("main", "#include \"a\"\nshader s() {}");
        let found = Compiler::new(GlobalsLayout::new())
            .compile(&sources)
            .unwrap_err();
        assert_eq!(found.diagnostics[0].code, Code::IncludeNotFound);
    }

    /// Sources called by numbers, generated on demand.
    struct Numbered<F>(F);
    impl<F: Fn(usize) -> String> Loader for Numbered<F> {
        fn resolve(&self, path: &str, _: &str) -> Result<String, String> {
            Ok(path.to_owned())
        }
        fn load(&self, name: &str) -> Result<String, String> {
            Ok((self.0)(name.parse().map_err(|_| "no number")?))
        }
    }

    #[test]
    fn include_limits_are_exact() {
        let refused = |text: &str, loader: &dyn Loader| {
            let found = Sources::new("main", text).including(loader).err()?;
            assert_eq!(found.diagnostics[0].code, Code::TooManyIncludes);
            Some(found.diagnostics[0].message.clone())
        };
        let chain = |length: usize| {
            Numbered(move |n: usize| match n + 1 {
                next if next < length => format!("#include \"{next}\""),
                _ => String::new(),
            })
        };
        let too_deep =
            format!("more than {MAX_INCLUDE_DEPTH} sources include each other in one chain");
        let first = "#include \"0\"";
        assert_eq!(refused(first, &chain(MAX_INCLUDE_DEPTH)), None);
        for length in [MAX_INCLUDE_DEPTH + 1, usize::MAX] {
            assert_eq!(refused(first, &chain(length)), Some(too_deep.clone()));
        }

        let all = |count: usize| -> String {
            let lines = (0..count).map(|n| format!("#include \"{n}\"\n"));
            lines.collect()
        };
        let empty = Numbered(|_| String::new());
        let too_many = format!("there are more than {MAX_INCLUDED} sources");
        // The source that includes them counts too.
        assert_eq!(refused(&all(MAX_INCLUDED - 1), &empty), None);
        assert_eq!(refused(&all(MAX_INCLUDED), &empty), Some(too_many));

        let long = Numbered(|n| match n {
            0..4 => " ".repeat(MAX_INCLUDED_BYTES / 4),
            _ => " ".to_owned(),
        });
        let too_long = format!("the included sources have more than {MAX_INCLUDED_BYTES} bytes");
        assert_eq!(refused(&all(4), &long), None);
        assert_eq!(refused(&all(5), &long), Some(too_long));
    }
}
