//! Machine code, or its substitute where the feature `native` is off: a backend that no program
//! has.

pub(crate) use found::{NativeCompiler, native_backend};

#[cfg(feature = "native")]
mod found {
    use adumbra_vm::native::NativeBackend;
    use std::sync::Arc;

    pub(crate) use adumbra_aot::NativeCompiler;

    /// The backend, as engines take it.
    pub(crate) fn native_backend(native: &Arc<NativeCompiler>) -> Arc<dyn NativeBackend> {
        native.clone()
    }
}

#[cfg(not(feature = "native"))]
mod found {
    use adumbra_vm::native::NativeBackend;
    use std::sync::Arc;
    use std::time::Duration;

    /// The backend: there is none.
    #[derive(Debug)]
    pub(crate) enum NativeCompiler {}

    /// Statistics of machine code.
    pub(crate) struct CodeStats {
        pub(crate) compile_time: Duration,
        pub(crate) bytes: usize,
        pub(crate) linked_bytes: usize,
        pub(crate) refused: usize,
    }

    impl NativeCompiler {
        pub(crate) fn new(_: &str) -> Option<NativeCompiler> {
            None
        }

        pub(crate) fn is_available() -> bool {
            false
        }

        pub(crate) fn stats(&self) -> CodeStats {
            match *self {}
        }

        pub(crate) fn heap_bytes(&self) -> usize {
            match *self {}
        }

        pub(crate) fn perf_map(&self) -> String {
            match *self {}
        }
    }

    pub(crate) fn native_backend(native: &Arc<NativeCompiler>) -> Arc<dyn NativeBackend> {
        match **native {}
    }
}
