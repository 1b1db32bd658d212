//! Byte spans: places in sources.

/// The number of a source of a compilation: the shader, a file given with it, a part of the
/// standard library. The caller of the compiler numbers them; `FileId::MAIN` is the shader itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u16);

impl FileId {
    /// The source that the user compiles.
    pub const MAIN: FileId = FileId(0);
}

/// A half-open range of bytes `start..end` in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// The source that the bytes are in.
    pub file: FileId,
}

impl Span {
    /// The range `start..end` of `file`.
    pub const fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { start, end, file }
    }

    /// The smallest span that covers both; `self` wins if they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }

    /// The empty span just after this one: the place of a missing token.
    pub const fn after(self) -> Span {
        Span::new(self.file, self.end, self.end)
    }
}
