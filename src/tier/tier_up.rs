//! An evaluator's tier-up from the interpreter to machine code, or its way back.
//!
//! The tier changes only between batches: machines are exchanged before a batch, when suspended
//! points of the last one are given up anyway. The machine of a batch gives its results until the
//! next. So a machine never continues a point of another.

use super::ab_timing::AbTiming;
use super::compile_job::{CompileJob, CompiledMachine};
use super::compile_queue::{QueuedWork, compile_queue};
use super::shared::{TierVariant, Verdict};
use super::{CompileWhen, TierUp};
use crate::engine::Tier;
use crate::program::Program;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::Limits;
use adumbra_vm::{BatchMachine, FloatEnvironment, native};
use std::mem::swap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The stage of an evaluator's tier-up.
pub(crate) struct TierUpState {
    job: Arc<CompileJob>,
    up: TierUp,
    /// The tier that computes, or computed, the current batch.
    tier: Tier,
    stage: Stage,
}

enum Stage {
    /// There are too few points yet.
    Cold,
    /// A machine with code is being compiled.
    Requested,
    /// Both machines compute batches; the other one waits here.
    Trying(Box<BatchMachine>, AbTiming),
    /// The verdict has been reached.
    Settled,
}

impl TierUpState {
    /// The state of an evaluator that begins with this machine, an interpreter. The machine is
    /// exchanged if code is known to be faster. `None` if there can be no code.
    pub(crate) fn new(
        (program, memory): (&Program, &Arc<BufferMemory>),
        machine: &mut BatchMachine,
        uniform: &[bool],
        limits: Limits,
        up: TierUp,
    ) -> Option<TierUpState> {
        let level = machine.level();
        if up.when == CompileWhen::Never || !native::supports_level(level) {
            return None;
        }
        let native = program.native_backend()?;
        let variant = program.tiers.variant(level, uniform);
        let job = CompileJob::new((program, memory), native, variant, limits, machine.width());
        let mut state = TierUpState {
            job: Arc::new(job),
            up,
            tier: Tier::Interpreter,
            stage: Stage::Cold,
        };
        match state.variant().verdict() {
            Some(verdict) => {
                if verdict.prefers_code()
                    && let Some(made) = state.job.make()
                {
                    *machine = *made;
                    state.tier = Tier::Native;
                }
                state.stage = Stage::Settled;
            }
            // The thread starts here, so that no batch starts it.
            None if up.when == CompileWhen::Background => {
                compile_queue();
            }
            None => {}
        }
        Some(state)
    }

    /// The tier that computed the last batch, or will compute the first.
    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    /// The speedup of code over the interpreter, if it was measured.
    pub(crate) fn speedup(&self) -> Option<f64> {
        match self.variant().verdict()? {
            Verdict::Measured(speedup) => Some(speedup),
            Verdict::NoCode => None,
        }
    }

    fn variant(&self) -> &TierVariant {
        self.job.variant()
    }

    /// Runs a batch of `points` points.
    pub(crate) fn run(
        &mut self,
        machine: &mut BatchMachine,
        points: usize,
        run: impl FnOnce(&mut BatchMachine),
    ) {
        if points > 0 {
            // The host may have unmasked floating-point exceptions, and a verdict has a float.
            let _mode = FloatEnvironment::enter();
            self.before(machine, points);
        }
        match self.stage {
            Stage::Trying(..) if points > 0 => {
                let start = Instant::now();
                run(machine);
                self.after(points, start.elapsed());
            }
            _ => run(machine),
        }
    }

    /// Prepares for a batch of `points` points.
    fn before(&mut self, machine: &mut BatchMachine, points: usize) {
        if let Stage::Cold = self.stage
            && self.job.tiers().count(points) >= self.up.after
        {
            self.request_compilation();
        }
        if let Stage::Requested = self.stage
            && let Some(made) = self.job.fetch()
        {
            self.take(made);
        }
        if let Stage::Trying(other, timing) = &mut self.stage {
            let verdict = self.job.variant().verdict();
            let next = match verdict {
                None => timing.next(),
                Some(verdict) if verdict.prefers_code() => Tier::Native,
                Some(_) => Tier::Interpreter,
            };
            if next != self.tier {
                swap(machine, other);
                self.tier = next;
            }
            if verdict.is_some() {
                self.stage = Stage::Settled;
            }
        }
    }

    /// Records that a batch of `points` points took `took`.
    fn after(&mut self, points: usize, took: Duration) {
        if let Stage::Trying(_, timing) = &mut self.stage
            && let Some(speedup) = {
                // The host may have unmasked floating-point exceptions.
                let _mode = FloatEnvironment::enter();
                timing.record(points, took)
            }
        {
            self.variant().decide(Verdict::Measured(speedup));
        }
    }

    fn request_compilation(&mut self) {
        let verdict = self.variant().verdict();
        match self.up.when {
            // Another evaluator has reached a verdict.
            _ if verdict.is_some_and(|verdict| !verdict.prefers_code()) => self.take(None),
            CompileWhen::Never => {}
            CompileWhen::AtOnce => {
                let made = self.job.make();
                self.take(made);
            }
            CompileWhen::Background => {
                let work: Arc<dyn QueuedWork> = self.job.clone();
                if compile_queue().submit(Arc::downgrade(&work)) {
                    self.stage = Stage::Requested;
                }
            }
        }
    }

    fn take(&mut self, made: CompiledMachine) {
        self.stage = match made {
            Some(machine) => Stage::Trying(machine, AbTiming::default()),
            None => Stage::Settled,
        };
    }

    /// Waits for the result of the job.
    pub(crate) fn wait(&self) {
        if let Stage::Requested = self.stage {
            self.job.wait();
        }
    }

    /// Bytes that it takes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let other = match &self.stage {
            Stage::Trying(other, _) => other.memory(),
            _ => 0,
        };
        self.job.memory() + other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::NativeCompiler;
    use crate::tier::compile_queue::tests::block_queue;
    use crate::{
        Compiler, GlobalsLayout, Instance,
        batch::{BatchEvaluator, BatchGlobals, BatchSetup},
    };
    use crate::{NoTextures, Sources, Type, batch::Part};
    use adumbra_vm::SimdLevel;

    /// Points of a batch.
    const POINTS: usize = 64;

    fn program() -> Arc<Program> {
        let layout = GlobalsLayout::new().with("x", Type::FLOAT);
        let text = "shader s(out float o) { float x = global_value<x>; o = exp(x) * x + sqrt(x); }";
        let compiler = Compiler::new(layout.expect("one global"));
        compiler
            .compile(&Sources::new("s.adu", text))
            .expect("it is fine")
    }

    /// An evaluator whose program is compiled after its first point.
    fn evaluator(program: &Arc<Program>, when: CompileWhen) -> BatchEvaluator {
        let setup = BatchSetup {
            tier: Tier::Auto,
            tier_up: TierUp { when, after: 0 },
            ..BatchSetup::default()
        };
        BatchEvaluator::with(&Instance::new(program), &setup).expect("it is there")
    }

    /// Whether there is machine code for this processor; prints a note if not.
    fn is_there(program: &Program) -> bool {
        let machine = crate::batch::batch_machine(program, &BatchSetup::default(), &Arc::default());
        let is = NativeCompiler::is_available()
            && native::supports_level(machine.expect("it is there").level());
        if !is {
            println!("skipped: there is no machine code for this processor");
        }
        is
    }

    /// A batch; gives the outputs' bits and the tier that computed them.
    fn batch(evaluator: &mut BatchEvaluator) -> (Vec<u32>, Tier) {
        let x: Vec<f32> = (0..POINTS).map(|i| i as f32 * 0.1).collect();
        let program = evaluator.instance().program().clone();
        let mut globals = BatchGlobals::new(program.globals());
        let given = globals.plane("x", Part::Value, 0, &x, 1);
        given.expect("there is such a plane");
        evaluator.evaluate(&globals, 0, POINTS, &mut NoTextures);
        let values = |point| {
            evaluator
                .words(Part::Value, point)
                .expect("they are always there")
        };
        let bits = (0..POINTS).flat_map(values).collect();
        (bits, evaluator.tier())
    }

    /// The tier-up of a machine, by batches with given times; gives the tier at the end.
    fn climbed(nanos: impl Fn(Tier) -> u64) -> Tier {
        let program = program();
        let setup = BatchSetup::default();
        let memory = Arc::default();
        let mut machine =
            crate::batch::batch_machine(&program, &setup, &memory).expect("it is there");
        let up = TierUp {
            when: CompileWhen::AtOnce,
            after: 0,
        };
        let state = TierUpState::new(
            (&program, &memory),
            &mut machine,
            &[false; 3],
            setup.limits,
            up,
        );
        let mut state = state.expect("there is code");
        for _ in 0..100 {
            state.before(&mut machine, POINTS);
            assert_eq!(machine.has_machine_code(), state.tier() == Tier::Native);
            state.after(POINTS, Duration::from_nanos(nanos(state.tier())));
        }
        assert!(matches!(state.stage, Stage::Settled));
        let again = TierUpState::new(
            (&program, &memory),
            &mut machine,
            &[false; 3],
            setup.limits,
            up,
        );
        let again = again.expect("there is code");
        assert_eq!(again.tier(), state.tier(), "others begin where it ended");
        assert_eq!(machine.has_machine_code(), state.tier() == Tier::Native);
        state.tier()
    }

    #[test]
    fn faster_machine_is_kept() {
        if !is_there(&program()) {
            return;
        }
        let slow = |slow: Tier| move |tier| if tier == slow { 2_000 } else { 1_000 };
        assert_eq!(climbed(slow(Tier::Interpreter)), Tier::Native);
        assert_eq!(climbed(slow(Tier::Native)), Tier::Interpreter);
        assert_eq!(climbed(|_| 1_000), Tier::Interpreter);
    }

    #[test]
    fn evaluators_do_not_block_on_compile_thread() {
        let program = program();
        if !is_there(&program) {
            return;
        }
        let busy = block_queue(compile_queue());
        let mut evaluators = [(); 3].map(|()| evaluator(&program, CompileWhen::Background));
        let (expected, _) = batch(&mut evaluators[0]);
        for evaluator in &mut evaluators {
            for _ in 0..100 {
                assert_eq!(batch(evaluator), (expected.clone(), Tier::Interpreter));
            }
        }
        drop(busy);
        for evaluator in &mut evaluators {
            evaluator.wait_for_code();
            let found = [(); 2].map(|()| batch(evaluator));
            assert_eq!(
                found,
                [Tier::Interpreter, Tier::Native].map(|tier| (expected.clone(), tier))
            );
        }
    }

    #[test]
    fn dropped_evaluator_or_program_is_skipped() {
        let (gone, other) = (program(), program());
        if !is_there(&gone) {
            return;
        }
        let busy = block_queue(compile_queue());
        let mut evaluators = [&gone, &other].map(|p| evaluator(p, CompileWhen::Background));
        for evaluator in &mut evaluators {
            batch(evaluator);
        }
        let [dropped, mut kept] = evaluators;
        let weak = Arc::downgrade(gone.bytecode());
        drop((dropped, gone));
        assert!(weak.upgrade().is_none(), "nothing in the queue keeps it");
        drop(busy);
        kept.wait_for_code();
        batch(&mut kept);
        assert_eq!(batch(&mut kept).1, Tier::Native);
    }

    #[test]
    fn program_evaluators_share_point_count() {
        let program = program();
        if !is_there(&program) {
            return;
        }
        let setup = BatchSetup {
            tier: Tier::Auto,
            tier_up: TierUp {
                when: CompileWhen::AtOnce,
                after: 2 * POINTS as u64,
            },
            ..BatchSetup::default()
        };
        let new = || BatchEvaluator::with(&Instance::new(&program), &setup);
        let [mut a, mut b] = [new(), new()].map(|new| new.expect("it is there"));
        let code = |evaluator: &BatchEvaluator| evaluator.stats().native.map(|n| n.code_bytes);
        batch(&mut a);
        batch(&mut b);
        assert_eq!((code(&a), code(&b)), (Some(0), Some(0)));
        batch(&mut b);
        assert!(code(&a) > Some(0), "it is the program's");
        assert_eq!(
            [batch(&mut b).1, batch(&mut a).1, batch(&mut a).1],
            [Tier::Native, Tier::Interpreter, Tier::Native]
        );
    }

    #[test]
    fn no_compilation_without_option_or_backend() {
        let program = program();
        let never = evaluator(&program, CompileWhen::Never);
        let baseline = BatchSetup {
            tier: Tier::Auto,
            simd: Some(SimdLevel::Baseline),
            ..BatchSetup::default()
        };
        let baseline = BatchEvaluator::with(&Instance::new(&program), &baseline);
        let mut evaluators = vec![never];
        if !native::supports_level(SimdLevel::Baseline) {
            evaluators.push(baseline.expect("every processor has it"));
        }
        for mut evaluator in evaluators {
            for _ in 0..50 {
                assert_eq!(batch(&mut evaluator).1, Tier::Interpreter);
            }
            assert_eq!(evaluator.stats().native, None);
        }
    }
}
