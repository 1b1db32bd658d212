//! The sources of one compilation, numbered by [`FileId`], which spans point into.

pub use crate::default_places::{DefaultPlace, default_places};
pub use crate::folder::Folder;
pub use crate::hooks::{AnimationHook, animation_hooks, eliminable_blocks, without_blocks};
pub use crate::includes::{Loader, MAX_INCLUDE_DEPTH, MAX_INCLUDED, MAX_INCLUDED_BYTES};
pub use crate::open_file::open_file;
pub use adumbra_frontend::limits::MAX_SOURCE_BYTES;

use adumbra_frontend::STDLIB_FILE;
use adumbra_ir::{FileId, heap_of};
use std::sync::{Arc, OnceLock};

/// The sources of one compilation. The first is the shader; others were given with it or belong to
/// the standard library.
///
/// ```
/// use adumbra::{Sources, diagnostics::FileId};
/// let sources = Sources::new("grid.adu", "shader grid() {\n}");
/// let place = sources.get(FileId::MAIN).unwrap().line_column(16);
/// assert_eq!((place.line, place.column), (2, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Sources {
    files: Vec<SourceFile>,
}

heap_of! {
    Sources { files }
    SourceFile { name, text, lines, included }
}

/// Adjacent sources of a compilation: those that one shader is made from, the first of which holds
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceSlice<'s> {
    sources: &'s Sources,
    first: u16,
    count: u16,
}

/// One source and its name.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    /// The first byte of each line, found on first use.
    lines: OnceLock<Vec<u32>>,
    /// The sources that it includes, as positions among those of its compilation; `None` until they
    /// were gathered.
    included: Option<Vec<u16>>,
}

/// A location for people: both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line, counted by line feeds.
    pub line: u32,
    /// Character in the line.
    pub column: u32,
}

/// The maximum number of sources of one compilation: spans name theirs by 16 bits, and the last
/// number is the library's.
pub const MAX_SOURCE_COUNT: usize = STDLIB_FILE.0 as usize;

impl Sources {
    /// A compilation of one source.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Sources {
        Sources {
            files: vec![SourceFile::new(name.into(), text.into())],
        }
    }

    /// Adds a source whose functions, structs and constants the first may use.
    ///
    /// # Panics
    /// If there are [`MAX_SOURCE_COUNT`] already.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let id = self.next_id();
        self.files.push(SourceFile::new(name.into(), text.into()));
        id
    }

    /// The number of the next source.
    ///
    /// # Panics
    /// If there are [`MAX_SOURCE_COUNT`] already.
    fn next_id(&self) -> FileId {
        assert!(
            self.files.len() < MAX_SOURCE_COUNT,
            "no more than MAX_SOURCE_COUNT"
        );
        FileId(self.files.len() as u16)
    }

    /// The source that a span points into; `None` for an unknown number.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// Records the includes of a source.
    pub(crate) fn set_included(&mut self, id: FileId, included: Vec<u16>) {
        self.files[id.0 as usize].included = Some(included);
    }

    /// Appends all sources of another compilation; gives the number of the first.
    pub(crate) fn append(&mut self, other: &Sources) -> FileId {
        let first = self.next_id();
        self.files.extend_from_slice(&other.files);
        first
    }

    /// The same for clones, and for nothing else that lives as long.
    pub(crate) fn identity(&self) -> Vec<(*const u8, *const u8)> {
        let files = self.files.iter();
        files
            .map(|file| (file.name.as_ptr(), file.text.as_ptr()))
            .collect()
    }

    /// All of them.
    pub(crate) fn as_slice(&self) -> SourceSlice<'_> {
        SourceSlice {
            sources: self,
            first: 0,
            count: self.files.len() as u16,
        }
    }

    /// A slice of `count` of them.
    pub(crate) fn slice(&self, first: FileId, count: usize) -> SourceSlice<'_> {
        SourceSlice {
            sources: self,
            first: first.0,
            count: count as u16,
        }
    }

    /// Every source with its number, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (FileId, &SourceFile)> {
        let numbered = self.files.iter().enumerate();
        numbered.map(|(index, file)| (FileId(index as u16), file))
    }
}

impl<'s> SourceSlice<'s> {
    /// The source that holds the shader.
    pub(crate) fn main(self) -> FileId {
        FileId(self.first)
    }

    /// Each source with its number, in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = (FileId, &'s SourceFile)> {
        let (first, count) = (self.first, self.count as usize);
        let files = self.sources.files[first as usize..][..count].iter();
        let numbered = files.enumerate();
        numbered.map(move |(index, file)| (FileId(first + index as u16), file))
    }

    /// The same, each after those that it includes.
    pub(crate) fn included_first(self) -> Vec<(FileId, &'s SourceFile)> {
        let files: Vec<(FileId, &SourceFile)> = self.iter().collect();
        let mut taken = vec![false; files.len()];
        let mut order = Vec::with_capacity(files.len());
        let mut open = Vec::new();
        for root in 0..files.len() {
            if !std::mem::replace(&mut taken[root], true) {
                open.push((root, 0));
            }
            while let Some((at, next)) = open.last_mut() {
                let included = files[*at].1.included().unwrap_or_default();
                match included.get(*next) {
                    Some(&inner) => {
                        *next += 1;
                        let inner = inner as usize;
                        if !std::mem::replace(&mut taken[inner], true) {
                            open.push((inner, 0));
                        }
                    }
                    None => {
                        order.push(files[*at]);
                        open.pop();
                    }
                }
            }
        }
        order
    }
}

impl SourceFile {
    fn new(name: Arc<str>, text: Arc<str>) -> SourceFile {
        SourceFile {
            name,
            text,
            lines: OnceLock::new(),
            included: None,
        }
    }

    /// Its name: a path as given, or `<expression>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the source.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its includes, if they were gathered.
    pub(crate) fn included(&self) -> Option<&[u16]> {
        self.included.as_deref()
    }

    /// The line and column of a byte; a byte inside a character counts as its first, one after the
    /// end as the end.
    pub fn line_column(&self, byte: u32) -> LineColumn {
        let byte = self.text.floor_char_boundary(byte as usize);
        let line = self.line_of(byte as u32);
        let before = &self.text[self.line_range(line).start..byte];
        LineColumn {
            line,
            column: before.chars().count() as u32 + 1,
        }
    }

    /// The line of a byte, counted from 1; one after the end is in the last.
    pub(crate) fn line_of(&self, byte: u32) -> u32 {
        self.lines().partition_point(|&start| start <= byte) as u32
    }

    /// The bytes of a line, without its line feed. Lines are counted from 1.
    pub(crate) fn line_range(&self, line: u32) -> std::ops::Range<usize> {
        let index = line as usize - 1;
        let start = self.lines()[index] as usize;
        let end = match self.lines().get(index + 1) {
            Some(&next) => next as usize - 1,
            None => self.text.len(),
        };
        start..end
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let feeds = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0)
                .chain(feeds.map(|(at, _)| at as u32 + 1))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_count_is_bounded() {
        let mut sources = Sources::new("a", "");
        let text: Arc<str> = "".into();
        let last = (1..MAX_SOURCE_COUNT).map(|_| sources.add(text.clone(), text.clone()));
        assert_eq!(last.last(), Some(FileId(STDLIB_FILE.0 - 1)));
        let more = std::panic::AssertUnwindSafe(|| sources.add("more", ""));
        assert!(std::panic::catch_unwind(more).is_err());
    }

    #[test]
    fn line_column_counts_characters() {
        let sources = Sources::new("a", "é = 1;\nsin(é);\n");
        let file = sources.get(FileId::MAIN).unwrap();
        let place = |byte| (file.line_column(byte).line, file.line_column(byte).column);
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(1), (1, 1));
        assert_eq!(place(2), (1, 2));
        assert_eq!(place(7), (1, 7));
        assert_eq!(place(8), (2, 1));
        assert_eq!(place(14), (2, 6));
        assert_eq!(place(17), (3, 1));
        assert_eq!(place(4_000_000), (3, 1));
        assert_eq!(&file.text()[file.line_range(2)], "sin(é);");
        assert_eq!(&file.text()[file.line_range(3)], "");
    }
}
