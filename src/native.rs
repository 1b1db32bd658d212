//! Machine code, or what stands in for it where the feature `native` is off: a backend that no program has.

pub(crate) use found::{Native, translator};

#[cfg(feature = "native")]
mod found {
    use adumbra_vm::native::Translator;
    use std::sync::Arc;

    pub(crate) use adumbra_aot::Native;

    /// The backend, as engines take it.
    pub(crate) fn translator(native: &Arc<Native>) -> Arc<dyn Translator> {
        native.clone()
    }
}

#[cfg(not(feature = "native"))]
mod found {
    use adumbra_vm::native::Translator;
    use std::sync::Arc;
    use std::time::Duration;

    /// The backend: there is none.
    #[derive(Debug)]
    pub(crate) enum Native {}

    /// Figures about code.
    pub(crate) struct CodeStats {
        pub(crate) time: Duration,
        pub(crate) bytes: usize,
        pub(crate) linked_bytes: usize,
        pub(crate) refused: usize,
    }

    impl Native {
        pub(crate) fn new(_: &str) -> Option<Native> {
            None
        }

        pub(crate) fn is_available() -> bool {
            false
        }

        pub(crate) fn stats(&self) -> CodeStats {
            match *self {}
        }

        pub(crate) fn heap(&self) -> usize {
            match *self {}
        }

        pub(crate) fn perf_map(&self) -> String {
            match *self {}
        }
    }

    pub(crate) fn translator(native: &Arc<Native>) -> Arc<dyn Translator> {
        match **native {}
    }
}
