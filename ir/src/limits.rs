//! The limits of a module's size. Producers report them with diagnostics of their own; the verifier
//! refuses larger modules.

/// Regions within regions, the body included.
pub const MAX_REGION_DEPTH: usize = 1_000;
/// Functions of a module: each is one step of every pass.
pub const MAX_FUNCTIONS: usize = 1 << 17;
/// Elements of all arrays of one function together.
pub const MAX_ARRAY_ELEMENTS: u64 = 1 << 18;
/// Tapes of a point.
pub const MAX_TAPES: u32 = 8;
/// Fields of one record.
pub const MAX_RECORD_FIELDS: usize = 1 << 12;
/// Globals of a module: each costs a name, a type and its words at every point.
pub const MAX_GLOBALS: usize = 1 << 14;
/// Scalars of one type of a global, an input, an output or a closure's parameter.
pub const MAX_TYPE_SCALARS: u64 = 1 << 16;
/// Scalars of all types of a module's tables together: types are short to write but long to walk.
pub const MAX_TABLE_SCALARS: u64 = 1 << 22;
/// Structs and arrays within each other in one type, the scalar or vector innermost included.
pub const MAX_TYPE_DEPTH: usize = 32;
