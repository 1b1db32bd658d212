//! The substitute for the tiers where the feature `batch` is off: programs are evaluated point by
//! point, and nothing is timed.

pub(crate) mod shared {
    //! The state that evaluators of a program share: none.

    /// The state of a program's tiers: there are none.
    #[derive(Debug, Default)]
    pub(crate) struct TierState;

    impl TierState {
        /// The number of panics of the compiler on its thread, which never starts.
        pub(crate) fn panicked(&self) -> usize {
            0
        }

        /// Bytes of the heap that it holds.
        pub(crate) fn heap(&self) -> usize {
            0
        }
    }
}
