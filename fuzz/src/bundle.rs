//! Several texts in one, so that programs that include others are bytes, can be shrunk, and fit in a file.
//!
//! A line `//// NAME` begins the text of that name; what stands before the first such line is the main text, [`MAIN`]. It is a comment, so
//! a text without includes is its own bundle.

use adumbra::{Diagnostics, Sources, sources::Loader};

/// What the main text is called.
pub const MAIN: &str = "fuzz.adu";

/// What begins the line before a text.
pub const MARK: &str = "//// ";

/// The texts of a bundle, with all that they include.
///
/// # Errors
/// What is wrong with the includes.
pub fn sources(bundle: &str) -> Result<Sources, Diagnostics> {
    let mut texts = Vec::new();
    let (mut name, mut from, mut at) = (MAIN, 0, 0);
    for line in bundle.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix(MARK) {
            texts.push((name, &bundle[from..at]));
            (name, from) = (next.trim(), at + line.len());
        }
        at += line.len();
    }
    texts.push((name, &bundle[from..]));
    let (main, others) = texts.split_first().expect("there is always a main text");
    Sources::new(MAIN, main.1).including(&Others(others))
}

/// The texts behind the first.
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
    fn texts_are_told_apart_and_found() {
        let bundle = "#include \"a.adu\"\nshader s() {}\n//// a.adu\n#include \"b.adu\"\n//// b.adu\nint b() { return 1; }\n";
        let sources = sources(bundle).expect("all that is included is there");
        let texts: Vec<(&str, &str)> = (sources.iter())
            .map(|(_, file)| (file.name(), file.text()))
            .collect();
        let [main, a, b] = texts[..] else {
            panic!("{texts:?}");
        };
        assert_eq!(main, (MAIN, "#include \"a.adu\"\nshader s() {}\n"));
        assert_eq!(a, ("a.adu", "#include \"b.adu\"\n"));
        assert_eq!(b, ("b.adu", "int b() { return 1; }\n"));
    }

    #[test]
    fn what_is_missing_or_a_circle_is_said() {
        let code = |bundle: &str| {
            let findings = sources(bundle).expect_err("something is wrong with it");
            findings.diagnostics[0].code.to_string()
        };
        assert_eq!(code("#include \"a.adu\"\n"), "E0112");
        assert_eq!(code("#include \"x/a.adu\"\n//// x/a.adu\n"), "E0112");
        assert_eq!(code("#include \"fuzz.adu\"\n"), "E0113");
        let circle =
            "#include \"a.adu\"\n//// a.adu\n#include \"b.adu\"\n//// b.adu\n#include \"a.adu\"\n";
        assert_eq!(code(circle), "E0113");
        assert_eq!(sources("").map(|s| s.iter().len()).unwrap_or(0), 1);
    }
}
