//! Tier-up from the interpreter to machine code: of a program's batches, decided by A/B timing, and
//! of single points ([`point_tier_up`]), which are not timed.
//!
//! The evaluators of a program count the points that they evaluate ([`shared`]). The evaluator
//! whose count reaches the threshold submits a job for a machine with code ([`compile_job`]), which
//! the compile thread runs ([`compile_queue`]). Between two batches the evaluator takes the result
//! ([`tier_up`]), runs both machines alternately ([`ab_timing`]), and keeps the faster. Both give
//! the same bits, so no result depends on when this happens. No evaluator blocks.

mod ab_timing;
mod compile_job;
mod compile_queue;
mod made;
pub(crate) mod point_tier_up;
pub(crate) mod shared;
pub(crate) mod tier_up;

/// The default number of evaluated points after which a program is compiled.
///
/// Points after which a program is compiled. Interpreting that many takes at least as long as
/// compiling, for short and long shaders. (10,000 to 40,000 points were measured to take as long,
/// without loops.) So compiling at most doubles the time spent. Where there are loops a point takes
/// longer, and code comes later than it could.
pub const HOT_POINTS: u64 = 1 << 15;

/// When a program evaluated by [`Tier::Auto`](crate::batch::Tier::Auto) is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierUp {
    /// The thread that compiles it.
    pub when: CompileWhen,
    /// The number of evaluated points after which it is compiled, of all evaluators together that
    /// may compile it.
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

/// The thread that compiles a program, and thereby when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompileWhen {
    /// The compile thread of the library, one for the process, while evaluators go on interpreting.
    /// It starts with the first evaluator that may need it, and ends with the process.
    #[default]
    Background,
    /// The evaluator whose count reaches the number, at once: its batch begins later.
    AtOnce,
    /// None: the program is never compiled.
    Never,
}
