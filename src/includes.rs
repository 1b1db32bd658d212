//! `#include "file.adu"`: from texts to the texts with all that they include, before anything is compiled.
//!
//! A text comes in once, however often it is included; the compiler declares what it holds before what includes it. Where texts
//! come from is for the host to say. Hostile texts are bounded in how many others they bring, how long those are together, and how deep they stand.

use crate::compiler::Diagnostics;
use crate::sources::Sources;
use adumbra_frontend::Include;
use adumbra_ir::{Code, Diagnostic, FileId};
use std::collections::HashMap;

/// Most texts that a compilation may have with those that are included.
pub const MAX_INCLUDED: usize = 1_000;
/// Most bytes that included texts may have together.
pub const MAX_INCLUDED_BYTES: usize = 4 * adumbra_frontend::limits::MAX_SOURCE_BYTES;
/// Most texts that include each other in a row.
pub const MAX_INCLUDE_DEPTH: usize = 64;

/// Where included texts come from.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, sources::Loader};
///
/// /// Texts of an asset library.
/// struct Library;
/// impl Loader for Library {
///     fn resolve(&self, path: &str, _from: &str) -> Result<String, String> {
///         Ok(format!("library/{path}"))
///     }
///     fn load(&self, name: &str) -> Result<String, String> {
///         match name {
///             "library/half.adu" => Ok("float half(float x) { return 0.5 * x; }".to_owned()),
///             _ => Err("the library has no such text".to_owned()),
///         }
///     }
/// }
///
/// let text = "#include \"half.adu\"\nshader s(float x, out float o) { o = half(x); }";
/// let sources = Sources::new("s.adu", text).including(&Library)?;
/// assert_eq!(sources.iter().len(), 2);
/// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
/// # Ok::<(), adumbra::Findings>(())
/// ```
pub trait Loader {
    /// What the text is called that `from` includes as `path`: the same name for the same text.
    ///
    /// # Errors
    /// Why there can be none, for people.
    fn resolve(&self, path: &str, from: &str) -> Result<String, String>;

    /// The text of that name.
    ///
    /// # Errors
    /// Why there is none, for people.
    fn load(&self, name: &str) -> Result<String, String>;
}

impl Sources {
    /// These texts and all that they include, which stand behind them. Texts that are there already are not loaded again.
    ///
    /// # Errors
    /// What cannot be loaded, and where it is included; texts that include each other in a circle.
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
    /// The texts that include each other down to here, each with the directive in it.
    open: Vec<(FileId, Include)>,
    /// Of the texts loaded.
    bytes: usize,
    found: Vec<Diagnostic>,
}

impl Gathering<'_> {
    /// Loads what a text includes, unless that was done.
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

    /// What the innermost directive brings in.
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
            .help("write a path that can be read; a relative one begins where this text is")
        };
        let name = self.loader.resolve(&include.path, from).map_err(missing)?;
        if let Some(&known) = self.names.get(&name) {
            self.visit_circle(known, &name)?;
            self.visit(known);
            return Ok(known);
        }
        let too_many = |what: String| {
            Diagnostic::new(Code::TooManyIncludes, include.span, what)
                .here("one too many")
                .help("put several texts into one, or include fewer")
        };
        if self.open.len() > MAX_INCLUDE_DEPTH {
            let what = format!("more than {MAX_INCLUDE_DEPTH} texts include each other in a row");
            return Err(too_many(what));
        }
        if self.sources.iter().len() >= MAX_INCLUDED {
            return Err(too_many(format!(
                "there are more than {MAX_INCLUDED} texts"
            )));
        }
        let text = self.loader.load(&name).map_err(missing)?;
        self.bytes += text.len();
        if self.bytes > MAX_INCLUDED_BYTES {
            let what = format!("the included texts have more than {MAX_INCLUDED_BYTES} bytes");
            return Err(too_many(what));
        }
        let id = self.sources.add(name.as_str(), text);
        self.names.insert(name, id);
        self.visit(id);
        Ok(id)
    }

    /// Refuses a text that is being gathered: it would include itself.
    fn visit_circle(&self, known: FileId, name: &str) -> Result<(), Diagnostic> {
        let Some(start) = self.open.iter().position(|(id, _)| *id == known) else {
            return Ok(());
        };
        let circle = &self.open[start..];
        let (_, last) = circle.last().expect("it begins here");
        let names = circle.iter().map(|(id, _)| self.sources.get(*id));
        let names: Vec<&str> = names.flatten().map(|file| file.name()).collect();
        let message = format!(
            "texts include each other in a circle: {} → {name}",
            names.join(" → ")
        );
        let mut diagnostic = Diagnostic::new(Code::IncludeCycle, last.span, message)
            .here("the circle closes here")
            .help("move what both need into a text that both include");
        for (_, include) in &circle[..circle.len() - 1] {
            diagnostic = diagnostic.label(include.span, "by way of this");
        }
        Err(diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiler, GlobalsLayout};

    /// Texts by name; a path is relative to nothing.
    struct Texts(HashMap<String, String>);

    impl Loader for Texts {
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

    fn texts(texts: &[(&str, &str)]) -> Texts {
        let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        Texts(texts.iter().map(owned).collect())
    }

    fn codes(main: &str, loader: &Texts) -> Vec<Code> {
        let gathered = Sources::new("main", main).including(loader);
        let found = match gathered {
            Err(findings) => findings,
            Ok(sources) => match Compiler::new(GlobalsLayout::new()).compile(&sources) {
                Ok(_) => return Vec::new(),
                Err(findings) => findings,
            },
        };
        assert!(!found.to_string().is_empty());
        assert!(found.diagnostics.iter().all(|d| d.help.is_some()));
        found.diagnostics.iter().map(|d| d.code).collect()
    }

    #[test]
    fn what_is_included_is_declared_before_and_once() {
        let loader = texts(&[
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
    fn findings_point_into_the_included_text() {
        let loader = texts(&[("a", "float f() { return nothing; }")]);
        let sources = Sources::new("main", "#include \"a\"\nshader s() {}");
        let sources = sources.including(&loader).unwrap();
        let found = Compiler::new(GlobalsLayout::new())
            .compile(&sources)
            .unwrap_err();
        assert_eq!(found.diagnostics[0].span.file, FileId(1));
        assert!(found.to_string().contains("a:1:"), "{found}");
    }

    #[test]
    fn circles_are_told_with_their_chain() {
        let loader = texts(&[
            ("a", "#include \"b\""),
            ("b", "int f();\n#include \"a\""),
            ("c", "#include \"c\""),
        ]);
        assert_eq!(codes("#include \"c\"", &loader), [Code::IncludeCycle]);
        assert_eq!(codes("#include \"main\"", &loader), [Code::IncludeCycle]);
        let found = Sources::new("main", "#include \"a\"")
            .including(&loader)
            .unwrap_err();
        let told = &found.diagnostics[0];
        assert!(told.message.ends_with("a → b → a"), "{}", told.message);
        assert_eq!((told.span.file, told.labels.len()), (FileId(2), 1));
    }

    #[test]
    fn what_cannot_be_included() {
        let loader = texts(&[("a", "")]);
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
        // Nobody gathered them.
        let sources = Sources::new("main", "#include \"a\"\nshader s() {}");
        let found = Compiler::new(GlobalsLayout::new())
            .compile(&sources)
            .unwrap_err();
        assert_eq!(found.diagnostics[0].code, Code::IncludeNotFound);
    }

    /// Texts called by numbers, written as they are asked for.
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
    fn hostile_texts_are_bounded_and_each_limit_lets_pass_what_it_says() {
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
        let too_deep = format!("more than {MAX_INCLUDE_DEPTH} texts include each other in a row");
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
        let too_many = format!("there are more than {MAX_INCLUDED} texts");
        // The text that includes them is one too.
        assert_eq!(refused(&all(MAX_INCLUDED - 1), &empty), None);
        assert_eq!(refused(&all(MAX_INCLUDED), &empty), Some(too_many));

        let long = Numbered(|n| match n {
            0..4 => " ".repeat(MAX_INCLUDED_BYTES / 4),
            _ => " ".to_owned(),
        });
        let too_long = format!("the included texts have more than {MAX_INCLUDED_BYTES} bytes");
        assert_eq!(refused(&all(4), &long), None);
        assert_eq!(refused(&all(5), &long), Some(too_long));
    }
}
