//! The optimisations of machine code, each of which can be switched off: tests hold that none changes a result, the benchmark says what each one gains.

use std::fmt;

/// Names each optimisation once, with the kind of code that it serves.
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

            /// What reports call it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Optimisation::$name => $title,)*
                }
            }
        }
    };
}

optimisations! {
    /// A computation that is there already is not done again ([`graph`](crate::graph)).
    ValueNumbering: "value-numbering",
    /// A node becomes a simpler one with the same result, across the ops that it comes from ([`graph`](crate::graph)).
    Simplification: "simplification",
    /// Batches: a long segment is cut into short loops over the points ([`compute`](crate::compute)).
    LoopFission: "loop-fission",
    /// Batches: constants of a loop are in registers that nothing else needs ([`allocate`](crate::allocate)).
    ConstantRegisters: "constant-registers",
    /// Batches: a segment computes several vectors at once, on machines whose instructions wait long for each other.
    Interleaving: "interleaving",
    /// Batches: a shader's loop is machine code as a whole; else its instructions are, segment by segment.
    CompiledLoops: "compiled-loops",
    /// Batches: short blocks of a compiled loop are computed for all points and selected from ([`trace`](crate::trace)).
    IfConversion: "if-conversion",
    /// Batches: a short compiled loop runs several groups of vectors side by side.
    LoopInterleaving: "loop-interleaving",
    /// Single points: blocks with one predecessor belong to its code, values stay in registers ([`flow`](crate::flow)).
    ExtendedBlocks: "extended-blocks",
    /// Single points: steps of the budget are taken together where nothing happens in between ([`flow`](crate::flow)).
    StepMerging: "step-merging",
    /// Single points: both shadows of a value are one vector ([`pair`](crate::pair)).
    ShadowPairs: "shadow-pairs",
    /// Single points: four computations that are alike are one vector ([`superword`](crate::superword)).
    Superwords: "superwords",
    /// Single points: what one side of a selection alone needs is computed if it is selected ([`choice`](crate::choice)).
    SelectToBranch: "select-to-branch",
    /// Single points: values stay in registers from one iteration to the next ([`carry`](crate::carry)).
    LoopCarriedValues: "loop-carried-values",
    /// Single points: a bound that an iteration waits for is predicted by a branch ([`carry`](crate::carry)).
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
    /// None of them.
    pub const NONE: Optimisations = Optimisations(0);
    /// Each of them.
    pub const ALL: Optimisations = Optimisations((1 << Optimisation::ALL.len()) - 1);

    /// The set with one more.
    pub const fn with(self, one: Optimisation) -> Optimisations {
        Optimisations(self.0 | 1 << one as u32)
    }

    /// The set with one less.
    pub const fn without(self, one: Optimisation) -> Optimisations {
        Optimisations(self.0 & !(1 << one as u32))
    }

    /// Whether one is in the set.
    pub const fn has(self, one: Optimisation) -> bool {
        self.0 >> one as u32 & 1 == 1
    }
}

impl Default for Optimisations {
    /// Each of them.
    fn default() -> Optimisations {
        Optimisations::ALL
    }
}
