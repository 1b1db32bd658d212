//! The number of random programs of each suite: a fraction of a campaign's, for the same checks.
//!
//! `docs/verification.md`, "Campaigns", has the command and the count of each campaign.

/// Programs whose batches are held against single points: enough that every op occurs.
pub(crate) const BATCHES: u64 = 1_000;

/// The same by machine code.
pub(crate) const NATIVE_BATCHES: u64 = 600;

/// The same by evaluators that tier up.
pub(crate) const AUTO_BATCHES: u64 = 200;

/// Programs in quads.
pub(crate) const QUADS: u64 = 100;

/// Programs in quads by evaluators that tier up.
pub(crate) const AUTO_QUADS: u64 = 30;

/// Programs on which all engines and compilations are compared.
pub(crate) const AGREEMENT: u64 = 400;

/// Programs that proptest draws for the same comparison; they are mostly smaller.
pub(crate) const AGREEMENT_DRAWN: u32 = 150;

/// Programs whose derivatives are held against differences.
pub(crate) const DERIVATIVES: u64 = 250;

/// Programs whose gradients through edges are checked by both rules.
pub(crate) const EDGES: u64 = 200;

/// Marked programs in which no gradient may be lost.
pub(crate) const GRADIENTS: u64 = 4_000;

/// Blocks of programs whose bits are recorded.
pub(crate) const RECORDED_BLOCKS: u64 = 1;

/// Bytecode files that are changed.
#[allow(dead_code, reason = "a suite of fuzz/tests reads it")]
pub(crate) const MUTANTS: u64 = 3_000;

/// Files that each loader is given.
#[allow(dead_code, reason = "a suite of fuzz/tests reads it")]
pub(crate) const LOADED: u64 = 300;

/// Programs that are observed.
pub(crate) const OBSERVED: u64 = 100;

/// Of the operands of ops, each how manieth float is looked at: a prime that no other test uses.
pub(crate) const OPERAND_STRIDE: u32 = 120_011;

/// Pairs of operands that are drawn.
pub(crate) const OPERAND_PAIRS: u64 = 12_500;
