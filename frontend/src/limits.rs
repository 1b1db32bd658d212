//! The limits of a source. Each is met by a test, and each has its own error.

/// Longest source, in bytes: more than 100,000 lines.
pub const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Deepest nesting of brackets, operators that wait for their right operand, and statements inside
/// statements.
pub const MAX_NESTING: usize = 128;

/// Greatest height of the syntax tree of one declaration, counted in expressions and statements. A
/// chain of operators that group to the left, `1+1+1+…`, is no higher than one of them. A chain of
/// conditions, `if … else if … else if …`, is no higher than one `if`.
pub const MAX_TREE_HEIGHT: usize = 256;

/// Operators of a chain that become one tree; their result is a variable for those that follow.
pub const MAX_CHAIN_OPERATORS: usize = 64;

/// Most values that the loops, `switch`es and chains of conditions of one program pass: each exit
/// of one passes every variable that it may change, so that many exits with many variables would
/// need memory by their product.
pub const MAX_BRANCH_ARGUMENTS: u64 = 1 << 22;

/// Most diagnostics that one source reports.
pub const MAX_DIAGNOSTICS: usize = 32;

/// Longest sentence of a diagnostic with names and types, in bytes; a longer one ends in `…`. A
/// name may be as long as a source.
pub const MAX_MESSAGE_BYTES: usize = 1024;

/// Longest macro, in bytes, for which a declaration is proposed.
pub const MAX_MACRO_BYTES: usize = 256;

/// Most scalars and scalar arrays that a value of one type is made of.
pub const MAX_LEAVES: usize = 1024;

/// The same for all types of one compilation together.
pub const MAX_TOTAL_LEAVES: usize = 1 << 20;

/// Most scalars that the inputs, or the outputs, of one shader have together.
pub const MAX_SHADER_SCALARS: u64 = 4096;

/// Most structs and arrays that contain each other in one type.
pub const MAX_TYPE_DEPTH: usize = 24;

// The IR counts the innermost scalar or vector too.
const _: () = assert!(MAX_TYPE_DEPTH < adumbra_ir::limits::MAX_TYPE_DEPTH);

/// Most numbers in an array whose length is known only while shading. Memory for all of them is
/// cleared whenever its function is entered.
pub const MAX_RUN_TIME_ARRAY_SCALARS: u64 = 1 << 12;

/// Most functions of one name.
pub const MAX_OVERLOADS: usize = 64;

/// Most names that one unknown name is compared with, to suggest the one that was probably meant.
pub const MAX_COMPARED_NAMES: usize = 10_000;

/// Longest name that is compared with others, in bytes.
pub const MAX_COMPARED_NAME_BYTES: usize = 64;

/// Most derivatives that are taken of derivatives.
pub const MAX_DERIVATIVE_ORDER: usize = adumbra_ir::passes::MAX_ORDER as usize;
