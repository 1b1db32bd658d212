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

pub(crate) mod point_tier_up {
    //! The tier-up of single points: none.

    use crate::program::Program;
    use adumbra_ir::buffer::BufferMemory;
    use adumbra_ir::host::Limits;
    use adumbra_vm::PointMachine;
    use std::sync::Arc;

    /// The state of an evaluator's tier-up: it has none.
    pub(crate) enum PointTierUp {}

    impl PointTierUp {
        pub(crate) fn new(_: &Program, _: &Arc<BufferMemory>, _: Limits) -> Option<PointTierUp> {
            None
        }

        pub(crate) fn count(&mut self) -> Option<Option<Box<PointMachine>>> {
            match *self {}
        }

        pub(crate) fn wait(&self) {
            match *self {}
        }

        pub(crate) fn heap(&self) -> usize {
            match *self {}
        }
    }
}
