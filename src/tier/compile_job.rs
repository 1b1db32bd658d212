//! A job for a machine with code: an evaluator submits it, the compile thread runs it, the
//! evaluator fetches the result between two batches.

use super::compile_queue::QueuedWork;
use super::made::Made;
use super::shared::{TierState, TierVariant, Verdict};
use crate::program::Program;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::Limits;
use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_vm::native::NativeBackend;
use adumbra_vm::{BatchMachine, BatchOptions, Bytecode, LoadedCode};
use std::sync::Arc;

/// The job's input and result.
pub(super) struct CompileJob {
    bytecode: Arc<Bytecode>,
    native: Arc<dyn NativeBackend>,
    tiers: Arc<TierState>,
    loaded: Arc<LoadedCode>,
    variant: Arc<TierVariant>,
    limits: Limits,
    width: usize,
    /// The buffers of the evaluator.
    memory: Arc<BufferMemory>,
    made: Made<BatchMachine>,
}

/// The result of a job: nothing if there is no code.
pub(super) type CompiledMachine = Option<Box<BatchMachine>>;

impl CompileJob {
    /// A job for a machine that computes such chunks, within such limits.
    pub(super) fn new(
        (program, memory): (&Program, &Arc<BufferMemory>),
        native: Arc<dyn NativeBackend>,
        variant: Arc<TierVariant>,
        limits: Limits,
        width: usize,
    ) -> CompileJob {
        CompileJob {
            bytecode: program.bytecode().clone(),
            memory: memory.clone(),
            native,
            tiers: program.tiers.clone(),
            loaded: program.loaded_code().clone(),
            variant,
            limits,
            width,
            made: Made::new(),
        }
    }

    pub(super) fn variant(&self) -> &TierVariant {
        &self.variant
    }

    pub(super) fn tiers(&self) -> &TierState {
        &self.tiers
    }

    /// A machine with code, if there is any.
    pub(super) fn make(&self) -> CompiledMachine {
        self.make_by(|| {
            let options = BatchOptions {
                width: Some(self.width),
                level: Some(self.variant.level()),
                uniform: self.variant.uniform().into(),
                native: Some(self.native.clone()),
                loaded: Some(self.loaded.clone()),
                ..BatchOptions::default()
            };
            let mut machine = BatchMachine::new(self.bytecode.clone(), self.limits, &options);
            machine.set_buffers(&self.memory);
            machine
        })
    }

    fn make_by(&self, make: impl FnOnce() -> BatchMachine) -> CompiledMachine {
        let machine = self.tiers.make(make);
        let machine = machine.filter(|made| made.has_machine_code() && made.width() == self.width);
        if machine.is_none() {
            self.variant.decide(Verdict::NoCode);
        }
        machine.map(Box::new)
    }

    /// Fetches the result. `None` if it is not there yet; it does not block.
    pub(super) fn fetch(&self) -> Option<CompiledMachine> {
        self.made.fetch()
    }

    /// Waits until there is a result that was not fetched yet.
    pub(super) fn wait(&self) {
        self.made.wait();
    }

    /// Bytes that it takes, its own included; what is shared belongs to the program.
    pub(super) fn memory(&self) -> usize {
        let machine = self.made.map_or_default(BatchMachine::memory);
        ARC_OVERHEAD + size_of::<CompileJob>() + machine
    }
}

impl QueuedWork for CompileJob {
    fn work(&self) {
        let verdict = self.variant.verdict();
        let made = match verdict.is_none_or(Verdict::prefers_code) {
            true => self.make(),
            false => None,
        };
        self.made.put(made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::NativeCompiler;
    use crate::{Compiler, GlobalsLayout, Sources};
    use adumbra_vm::SimdLevel;

    #[test]
    fn compiler_panic_leaves_interpreter() {
        let sources = Sources::new("s.adu", "shader s(out int o) { o = 1; }");
        let program = Compiler::new(GlobalsLayout::new()).compile(&sources);
        let program = program.expect("it is fine");
        let variant = program.tiers.variant(SimdLevel::best(), &[]);
        let Some(native) = NativeCompiler::new("s") else {
            return;
        };
        let native = Arc::new(native);
        let job = CompileJob::new(
            (&program, &Arc::default()),
            native,
            variant,
            Limits::default(),
            1,
        );
        let made = job.make_by(|| panic!("as a compiler must not"));
        assert!(made.is_none());
        assert_eq!(program.tiers.panicked(), 1);
        assert_eq!(job.variant.verdict(), Some(Verdict::NoCode));
        job.work();
        job.wait();
        assert!(matches!(job.fetch(), Some(None)));
        assert!(job.fetch().is_none(), "it was fetched");
    }
}
