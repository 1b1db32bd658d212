//! Tiers: who computes the rows of batches, and how a program rises from the interpreter to machine code.
//!
//! The evaluators of a program count the points that they evaluate ([`shared`]). Whoever finds that they are many orders a machine with code ([`order`]), which
//! the thread that compiles makes ([`queue`]); between two batches the evaluator takes it ([`climb`]), tries both machines in turn ([`trial`]), and keeps the faster.
//! Both give the same bits, so nothing that a host sees depends on when this happens. No evaluator waits for anybody.

mod ab_timing;
mod compile_job;
mod compile_queue;
pub(crate) mod shared;
pub(crate) mod tier_up;

/// Points of a program that are evaluated before it is compiled, if nothing else is said.
///
/// Interpreting so many takes at least as long as compiling, be the shader short or long (10,000 to 40,000 points were measured to take as long where no row runs twice): so whatever
/// comes after, compiling at most doubles the time spent. Where there are loops a point takes longer, and code comes later than it could.
pub const HOT_POINTS: u64 = 1 << 15;

/// When a program evaluated by [`Tier::Auto`] is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierUp {
    /// Who compiles it.
    pub when: CompileWhen,
    /// Once so many of its points were evaluated, by all evaluators together that may compile it.
    pub after: u64,
}

impl Default for TierUp {
    fn default() -> TierUp {
        TierUp {
            when: CompileWhen::default(),
            after: HOT_POINTS,
        }
    }
}

/// Who compiles a program, and thereby when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompileWhen {
    /// A thread of the library's own, one for the process, while evaluators go on interpreting. It is begun with the first evaluator that may want it, and
    /// ends with the process.
    #[default]
    Background,
    /// The evaluator that finds that it is time, at once: its batch begins later.
    AtOnce,
    /// Nobody.
    Never,
}
