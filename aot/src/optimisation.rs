//! The optimisations of machine code. Each can be switched off: tests check that none changes a
//! result, and the benchmark measures the gain of each.

use std::fmt;

/// Defines the optimisations, with the kind of code that each serves.
macro_rules! optimisations {
    ($($(#[doc = $doc:literal])* $name:ident: $title:literal,)*) => {
        /// A transformation that makes machine code faster and changes no result.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Optimisation {
            $($(#[doc = $doc])* $name,)*
        }

        impl Optimisation {
            /// All of them.
            pub const ALL: &[Optimisation] = &[$(Optimisation::$name,)*];

            /// Its name in reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Optimisation::$name => $title,)*
                }
            }
        }
    };
}

optimisations! {
    /// A computation that exists already is not repeated ([`graph`](crate::graph)).
    ValueNumbering: "value-numbering",
    /// A node becomes a simpler one with the same result, across the ops that it comes from
    /// ([`graph`](crate::graph)).
    Simplification: "simplification",
    /// Batches: a long segment is split into short loops over the points
    /// ([`loop_fission`](crate::loop_fission)).
    LoopFission: "loop-fission",
    /// Batches: constants of a loop are in registers that nothing else needs
    /// ([`register_allocation`](crate::register_allocation)).
    ConstantRegisters: "constant-registers",
    /// Batches: a segment computes several vectors at once, on processors whose instructions have
    /// long latencies.
    Interleaving: "interleaving",
    /// Single points: blocks with one predecessor are compiled with it, values stay in registers
    /// ([`extended_blocks`](crate::extended_blocks)).
    ExtendedBlocks: "extended-blocks",
    /// Single points: steps of the budget are taken together where nothing happens in between
    /// ([`extended_blocks`](crate::extended_blocks)).
    StepMerging: "step-merging",
    /// Single points: both shadows of a value are one vector
    /// ([`shadow_pairs`](crate::shadow_pairs)).
    ShadowPairs: "shadow-pairs",
    /// Single points: four like computations are one vector ([`superword`](crate::superword)).
    Superwords: "superwords",
    /// Single points: nodes that only one arm of a selection needs are computed if it is selected
    /// ([`select_to_branch`](crate::select_to_branch)).
    SelectToBranch: "select-to-branch",
    /// Single points: values stay in registers from one iteration to the next
    /// ([`loop_carried`](crate::loop_carried)).
    LoopCarriedValues: "loop-carried-values",
    /// Single points: a bound that an iteration waits for is predicted by a branch
    /// ([`loop_carried`](crate::loop_carried)).
    BoundPrediction: "bound-prediction",
}

impl fmt::Display for Optimisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of optimisations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimisations(u32);

impl Optimisations {
    /// The empty set.
    pub const NONE: Optimisations = Optimisations(0);
    /// The set of all optimisations.
    pub const ALL: Optimisations = Optimisations((1 << Optimisation::ALL.len()) - 1);

    /// The set with `one` added.
    pub const fn with(self, one: Optimisation) -> Optimisations {
        Optimisations(self.0 | 1 << one as u32)
    }

    /// The set without `one`.
    pub const fn without(self, one: Optimisation) -> Optimisations {
        Optimisations(self.0 & !(1 << one as u32))
    }

    /// Whether `one` is in the set.
    pub const fn has(self, one: Optimisation) -> bool {
        self.0 >> one as u32 & 1 == 1
    }
}

impl Default for Optimisations {
    /// All optimisations.
    fn default() -> Optimisations {
        Optimisations::ALL
    }
}
