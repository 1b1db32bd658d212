//! The standard library: functions written in the language itself, in `adu/*.adu`.
//!
//! A file is a subject. Its head (lines that begin with `// `) describes it, title first; then come
//! entries. An entry is a doc comment (`///`) and, directly below it, all functions of one name.
//! The index of the entries is built while this crate is compiled, so that only functions that are
//! named are ever parsed. Callees of an entry are found the same way when its body is checked. Ops
//! are called, never repeated.

/// One entry: the functions of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryEntry {
    /// The name of its functions.
    pub name: &'static str,
    /// The documentation of the functions, with its `///`.
    pub doc: &'static str,
    /// The functions, one after the other.
    pub source: &'static str,
}

/// One file of the library: its head and its entries.
#[derive(Clone, Copy, Debug)]
pub struct LibraryFile {
    text: &'static str,
}

const SUBJECTS: &[LibraryFile] = &[
    LibraryFile::new(include_str!("../adu/numbers.adu")),
    LibraryFile::new(include_str!("../adu/vectors.adu")),
    LibraryFile::new(include_str!("../adu/geometry.adu")),
    LibraryFile::new(include_str!("../adu/matrices.adu")),
    LibraryFile::new(include_str!("../adu/interpolation.adu")),
    LibraryFile::new(include_str!("../adu/colour.adu")),
    LibraryFile::new(include_str!("../adu/blending.adu")),
    LibraryFile::new(include_str!("../adu/rotations.adu")),
    LibraryFile::new(include_str!("../adu/hashing.adu")),
    LibraryFile::new(include_str!("../adu/noise.adu")),
    LibraryFile::new(include_str!("../adu/fractals.adu")),
    LibraryFile::new(include_str!("../adu/patterns.adu")),
    LibraryFile::new(include_str!("../adu/derivatives.adu")),
    LibraryFile::new(include_str!("../adu/shapes.adu")),
    LibraryFile::new(include_str!("../adu/outlines.adu")),
    LibraryFile::new(include_str!("../adu/combining.adu")),
    LibraryFile::new(include_str!("../adu/shading.adu")),
];

/// What `raymarch<f>` is made of, which is no entry: a struct and functions that only it calls.
pub const RAYMARCH: &str = include_str!("../adu/raymarch.adu");

/// Every entry, sorted by name.
static ENTRIES: [LibraryEntry; count()] = index();

/// The functions of that name.
pub fn function_source(name: &str) -> Option<&'static str> {
    entry(name).map(|entry| entry.source)
}

/// The entry of that name.
pub fn entry(name: &str) -> Option<&'static LibraryEntry> {
    let index = ENTRIES
        .binary_search_by(|entry| entry.name.cmp(name))
        .ok()?;
    Some(&ENTRIES[index])
}

/// Every name, sorted.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The files, in the order in which one would read about them.
pub fn files() -> impl Iterator<Item = LibraryFile> {
    SUBJECTS.iter().copied()
}

impl LibraryFile {
    const fn new(text: &'static str) -> LibraryFile {
        LibraryFile { text }
    }

    /// The head's first sentence without its full stop, and the rest of the head.
    pub fn title_and_summary(&self) -> (String, String) {
        let lines = self.text.lines().map_while(|line| line.strip_prefix("// "));
        let head = lines.collect::<Vec<_>>().join(" ");
        let (title, about) = head.split_once('.').unwrap_or((&head, ""));
        (title.to_owned(), about.trim().to_owned())
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = LibraryEntry> + use<> {
        let text = self.text;
        let mut at = first_entry(text);
        std::iter::from_fn(move || {
            let (entry, end) = (at < text.len()).then(|| read(text, at))?;
            at = end;
            Some(entry)
        })
    }
}

const fn starts(text: &[u8], at: usize, with: &[u8]) -> bool {
    let mut i = 0;
    while i < with.len() {
        if at + i >= text.len() || text[at + i] != with[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The end of the line that holds `at`, after its `\n`.
const fn line_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && text[at] != b'\n' {
        at += 1;
    }
    if at < text.len() { at + 1 } else { at }
}

/// The first line from `at` on that is one of a doc comment, or that is not one; the end of the
/// source if there is none.
const fn first_line(text: &[u8], mut at: usize, doc: bool) -> usize {
    while at < text.len() && starts(text, at, b"///") != doc {
        at = line_end(text, at);
    }
    at
}

/// The end of the head of a file.
const fn first_entry(text: &str) -> usize {
    first_line(text.as_bytes(), 0, true)
}

const fn slice(text: &'static str, start: usize, end: usize) -> &'static str {
    text.split_at(end).0.split_at(start).1
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The entry that begins at `start`, and its end.
const fn read(text: &'static str, start: usize) -> (LibraryEntry, usize) {
    let bytes = text.as_bytes();
    let body = first_line(bytes, start, false);
    let end = first_line(bytes, body, true);
    // `float2 name(`: the name ends at the first parenthesis.
    let mut name_end = body;
    while bytes[name_end] != b'(' {
        name_end += 1;
    }
    let mut name = name_end;
    while is_word(bytes[name - 1]) {
        name -= 1;
    }
    let entry = LibraryEntry {
        name: slice(text, name, name_end),
        doc: slice(text, start, body),
        source: slice(text, body, end),
    };
    (entry, end)
}

const fn count() -> usize {
    let (mut subject, mut found) = (0, 0);
    while subject < SUBJECTS.len() {
        let text = SUBJECTS[subject].text;
        let mut at = first_entry(text);
        while at < text.len() {
            at = read(text, at).1;
            found += 1;
        }
        subject += 1;
    }
    found
}

const fn less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

// The index takes more steps than the compiler's limit for constants, and ends with the sources.
#[allow(long_running_const_eval)]
const fn index() -> [LibraryEntry; count()] {
    const NONE: LibraryEntry = LibraryEntry {
        name: "",
        doc: "",
        source: "",
    };
    let mut entries = [NONE; count()];
    let mut len = 0;
    let mut subject = 0;
    while subject < SUBJECTS.len() {
        let text = SUBJECTS[subject].text;
        let mut start = first_entry(text);
        while start < text.len() {
            let (entry, end) = read(text, start);
            // Insertion keeps them sorted.
            let mut at = len;
            while at > 0 && less(entry.name, entries[at - 1].name) {
                entries[at] = entries[at - 1];
                at -= 1;
            }
            entries[at] = entry;
            len += 1;
            start = end;
        }
        subject += 1;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, entry, files, function_source};

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(ENTRIES.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn an_entry_holds_its_functions_and_nothing_else() {
        let cross = entry("cross").unwrap();
        assert!(cross.source.starts_with("float3 cross(float3 a"));
        assert!(cross.source.trim_end().ends_with('}'));
        assert_eq!(cross.doc, "/// The vector at right angles to both.\n");
        let refract = entry("refract").unwrap();
        assert_eq!(refract.doc.lines().count(), 2);
        assert_eq!(refract.source.matches("refract(").count(), 3);
        assert_eq!(function_source("sin"), None);
    }

    #[test]
    fn every_subject_has_a_head_and_entries() {
        for subject in files() {
            let (title, about) = subject.title_and_summary();
            assert!(!title.is_empty() && !about.is_empty(), "{title}: {about}");
            assert!(subject.entries().count() > 1, "{title}");
        }
        let count: usize = files().map(|subject| subject.entries().count()).sum();
        assert_eq!(count, ENTRIES.len());
    }

    #[test]
    fn every_function_of_an_entry_has_its_name() {
        for entry in &ENTRIES {
            for line in entry
                .source
                .lines()
                .filter(|line| line.starts_with(|c: char| c.is_alphabetic()))
            {
                let called = format!(" {}(", entry.name);
                assert!(line.contains(&called), "{line} under {}", entry.name);
            }
        }
    }
}
