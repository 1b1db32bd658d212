//! Stands in for the tiers where the feature `batch` is off: programs are evaluated point by point, and there is nothing to find out.

pub(crate) mod shared {
    //! What the evaluators of a program share: nothing.

    /// What is known of a program's tiers: there are none.
    #[derive(Debug, Default)]
    pub(crate) struct Tiers;

    impl Tiers {
        /// How often the compiler panicked on a thread of its own, which nobody begins.
        pub(crate) fn panicked(&self) -> usize {
            0
        }

        /// Bytes of the heap that it holds.
        pub(crate) fn heap(&self) -> usize {
            0
        }
    }
}
