//! The standard library: functions written in the language itself, in `adu/*.adu`.
//!
//! A file is a list of entries; an entry is a doc comment (`///`) and, directly below it, all functions of one name. The index of the
//! entries is built while this crate is compiled, so that only functions that are named are ever parsed. What an entry calls is found
//! the same way when its body is checked. Rows of the op table are called, never repeated.

/// One entry: the functions of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of its functions.
    pub name: &'static str,
    /// What they do, in the words of the comment, with its `///`.
    pub doc: &'static str,
    /// The functions, one after the other.
    pub text: &'static str,
}

const FILES: [&str; 3] = [
    include_str!("../adu/derivatives.adu"),
    include_str!("../adu/geometry.adu"),
    include_str!("../adu/numbers.adu"),
];

const COUNT: usize = count(FILES[0]) + count(FILES[1]) + count(FILES[2]);

/// Every entry, sorted by name.
static ENTRIES: [Entry; COUNT] = index();

/// The functions of that name.
pub fn find(name: &str) -> Option<&'static str> {
    entry(name).map(|entry| entry.text)
}

/// The entry of that name.
pub fn entry(name: &str) -> Option<&'static Entry> {
    let index = ENTRIES
        .binary_search_by(|entry| entry.name.cmp(name))
        .ok()?;
    Some(&ENTRIES[index])
}

/// Every name, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

const fn is_entry_start(text: &[u8], at: usize) -> bool {
    starts(text, at, b"///") && (at == 0 || text[at - 1] == b'\n') && !follows_doc(text, at)
}

/// Whether the line before the one that begins at `at` is a line of a doc comment.
const fn follows_doc(text: &[u8], at: usize) -> bool {
    if at < 2 {
        return false;
    }
    let mut start = at - 1;
    while start > 0 && text[start - 1] != b'\n' {
        start -= 1;
    }
    starts(text, start, b"///")
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

const fn count(text: &str) -> usize {
    let text = text.as_bytes();
    let (mut at, mut found) = (0, 0);
    while at < text.len() {
        if is_entry_start(text, at) {
            found += 1;
        }
        at += 1;
    }
    found
}

const fn slice(text: &'static str, start: usize, end: usize) -> &'static str {
    text.split_at(end).0.split_at(start).1
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The entry that begins at `start` and ends before `end`.
const fn read(text: &'static str, start: usize, end: usize) -> Entry {
    let bytes = text.as_bytes();
    let mut body = start;
    while starts(bytes, body, b"///") {
        while bytes[body] != b'\n' {
            body += 1;
        }
        body += 1;
    }
    // `float2 name(`: the name ends at the first parenthesis.
    let mut name_end = body;
    while bytes[name_end] != b'(' {
        name_end += 1;
    }
    let mut name = name_end;
    while is_word(bytes[name - 1]) {
        name -= 1;
    }
    Entry {
        name: slice(text, name, name_end),
        doc: slice(text, start, body),
        text: slice(text, body, end),
    }
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

const fn index() -> [Entry; COUNT] {
    const NONE: Entry = Entry {
        name: "",
        doc: "",
        text: "",
    };
    let mut entries = [NONE; COUNT];
    let mut len = 0;
    let mut file = 0;
    while file < FILES.len() {
        let text = FILES[file];
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            let mut end = start + 1;
            while end < bytes.len() && !is_entry_start(bytes, end) {
                end += 1;
            }
            // Insertion keeps them sorted.
            let entry = read(text, start, end);
            let mut at = len;
            while at > 0 && less(entry.name, entries[at - 1].name) {
                entries[at] = entries[at - 1];
                at -= 1;
            }
            entries[at] = entry;
            len += 1;
            start = end;
        }
        file += 1;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::{ENTRIES, entry, find};

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(ENTRIES.windows(2).all(|pair| pair[0].name < pair[1].name));
    }

    #[test]
    fn an_entry_holds_its_functions_and_nothing_else() {
        let cross = entry("cross").unwrap();
        assert!(cross.text.starts_with("float3 cross(float3 a"));
        assert!(cross.text.trim_end().ends_with('}'));
        assert_eq!(cross.doc, "/// The vector at right angles to both.\n");
        let refract = entry("refract").unwrap();
        assert_eq!(refract.doc.lines().count(), 2);
        assert_eq!(refract.text.matches("refract(").count(), 3);
        assert_eq!(find("sin"), None);
    }

    #[test]
    fn every_function_of_an_entry_has_its_name() {
        for entry in &ENTRIES {
            for line in entry
                .text
                .lines()
                .filter(|line| line.starts_with(|c: char| c.is_alphabetic()))
            {
                let called = format!(" {}(", entry.name);
                assert!(line.contains(&called), "{line} under {}", entry.name);
            }
        }
    }
}
