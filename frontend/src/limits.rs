//! The limits of a source text. Each is met by a test, and each has its own error.

/// Longest source text, in bytes: more than 100,000 lines.
pub const MAX_SOURCE: usize = 4 << 20;

/// Deepest nesting of brackets, operators that wait for their right side, and statements inside statements.
pub const MAX_NESTING: usize = 128;

/// Greatest height of the syntax tree of one declaration, counted in expressions and statements. A chain such as `1+1+1+…` is as
/// high as it has operators.
pub const MAX_HEIGHT: usize = 256;

/// Most findings that one text reports.
pub const MAX_DIAGNOSTICS: usize = 32;
