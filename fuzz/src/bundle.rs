//! Bundles: several sources in one string, so that a program with includes is one file of bytes.
//!
//! A line `//// NAME` begins the source of that name. The main source, [`MAIN`], is before the
//! first such line. The line is a comment, so a source without includes is its own bundle.

use adumbra::{Diagnostics, Sources, sources::Loader};

/// The name of the main source.
pub const MAIN: &str = "fuzz.adu";

/// The start of the line before a source.
pub const MARK: &str = "//// ";

/// The sources of a bundle, with all that they include.
///
/// # Errors
/// The diagnostics of the includes.
pub fn sources(bundle: &str) -> Result<Sources, Diagnostics> {
    let mut files = Vec::new();
    let (mut name, mut from, mut at) = (MAIN, 0, 0);
    for line in bundle.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix(MARK) {
            files.push((name, &bundle[from..at]));
            (name, from) = (next.trim(), at + line.len());
        }
        at += line.len();
    }
    files.push((name, &bundle[from..]));
    let (main, others) = files.split_first().expect("there is always a main source");
    Sources::new(MAIN, main.1).including(&Others(others))
}

/// The sources after the first.
struct Others<'b>(&'b [(&'b str, &'b str)]);

impl Loader for Others<'_> {
    fn resolve(&self, path: &str, _from: &str) -> Result<String, String> {
        match path.contains('/') {
            true => Err("a bundle has no folders".to_owned()),
            false => Ok(path.to_owned()),
        }
    }

    fn load(&self, name: &str) -> Result<String, String> {
        let text = self.0.iter().find(|(other, _)| *other == name);
        text.map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| "the bundle has no such text".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_sources_are_found() {
        let bundle = "#include \"a.adu\"\nshader s() {}\n//// a.adu\n#include \"b.adu\"\n//// b.adu\nint b() { return 1; }\n";
        let sources = sources(bundle).expect("all that is included is there");
        let found: Vec<(&str, &str)> = (sources.iter())
            .map(|(_, file)| (file.name(), file.text()))
            .collect();
        let [main, a, b] = found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(main, (MAIN, "#include \"a.adu\"\nshader s() {}\n"));
        assert_eq!(a, ("a.adu", "#include \"b.adu\"\n"));
        assert_eq!(b, ("b.adu", "int b() { return 1; }\n"));
    }

    #[test]
    fn missing_or_cyclic_include_is_refused() {
        let code = |bundle: &str| {
            let diagnostics = sources(bundle).expect_err("something is wrong with it");
            diagnostics.diagnostics[0].code.to_string()
        };
        assert_eq!(code("#include \"a.adu\"\n"), "E0112");
        assert_eq!(code("#include \"x/a.adu\"\n//// x/a.adu\n"), "E0112");
        assert_eq!(code("#include \"fuzz.adu\"\n"), "E0113");
        let cycle =
            "#include \"a.adu\"\n//// a.adu\n#include \"b.adu\"\n//// b.adu\n#include \"a.adu\"\n";
        assert_eq!(code(cycle), "E0113");
        assert_eq!(sources("").map(|s| s.iter().len()).unwrap_or(0), 1);
    }
}
