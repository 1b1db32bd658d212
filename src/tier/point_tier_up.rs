//! The change of an evaluator of single points from the interpreter to machine code.
//!
//! Code for single points was faster than the interpreter on every program that was measured, so
//! nothing is timed. Machines are exchanged before a point, when one that is suspended is given up
//! anyway. Parked points continue in either: what they keep are registers of bytecode.

use super::compile_queue::{QueuedWork, compile_queue};
use super::made::Made;
use super::shared::TierState;
use crate::program::Program;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::Limits;
use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_vm::native::NativeBackend;
use adumbra_vm::{Bytecode, PointMachine};
use std::sync::Arc;

/// The number of points that an evaluator evaluates before its program is compiled. Interpreting
/// that many takes as long as compiling W1 (`w1_point_value`, `native_compile_w1_value` of the
/// benchmark), and longer than compiling what is longer.
const HOT_SINGLE_POINTS: u32 = 1 << 10;

/// How many points lie between two looks for the result.
const POINTS_BETWEEN_LOOKS: u32 = 1 << 6;

/// The state of an evaluator's tier-up, until it ends.
pub(crate) struct PointTierUp {
    job: Arc<PointJob>,
    /// Points before the next step.
    left: u32,
    is_requested: bool,
}

impl PointTierUp {
    /// The state of an evaluator that begins with the interpreter. `None` if there can be no code.
    pub(crate) fn new(
        program: &Program,
        memory: &Arc<BufferMemory>,
        limits: Limits,
    ) -> Option<PointTierUp> {
        let job = PointJob {
            native: program.native_backend()?,
            bytecode: program.bytecode().clone(),
            tiers: program.tiers.clone(),
            memory: memory.clone(),
            limits,
            made: Made::new(),
        };
        Some(PointTierUp {
            job: Arc::new(job),
            left: HOT_SINGLE_POINTS,
            is_requested: false,
        })
    }

    /// Counts a point before it is evaluated. A result ends the tier-up, with a machine that
    /// replaces the interpreter if there is code.
    #[inline]
    pub(crate) fn count(&mut self) -> Option<Option<Box<PointMachine>>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                None
            }
            None => self.step(),
        }
    }

    #[cold]
    fn step(&mut self) -> Option<Option<Box<PointMachine>>> {
        self.left = POINTS_BETWEEN_LOOKS;
        if self.is_requested {
            return self.job.made.fetch();
        }
        let work: Arc<dyn QueuedWork> = self.job.clone();
        self.is_requested = compile_queue().submit(Arc::downgrade(&work));
        None
    }

    /// Waits for code, if it was requested.
    pub(crate) fn wait(&self) {
        if self.is_requested {
            self.job.made.wait();
        }
    }

    /// Bytes that it takes on the heap.
    pub(crate) fn heap(&self) -> usize {
        let machine = self.job.made.map_or_default(PointMachine::memory);
        ARC_OVERHEAD + size_of::<PointJob>() + machine
    }
}

/// A job for a machine of single points with code.
struct PointJob {
    bytecode: Arc<Bytecode>,
    native: Arc<dyn NativeBackend>,
    tiers: Arc<TierState>,
    /// The buffers of the evaluator.
    memory: Arc<BufferMemory>,
    limits: Limits,
    made: Made<PointMachine>,
}

impl QueuedWork for PointJob {
    fn work(&self) {
        let machine = self.tiers.make(|| {
            let bytecode = self.bytecode.clone();
            let mut machine = PointMachine::with_code(bytecode, self.limits, &*self.native);
            machine.set_buffers(&self.memory);
            Box::new(machine)
        });
        self.made.put(machine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Engine;
    use crate::{
        Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, NoTextures, Outcome,
        SampleRequest, Sampled, Sources, Type,
    };

    fn program(text: &str) -> Arc<Program> {
        let layout = GlobalsLayout::new().with("x", Type::FLOAT);
        let compiler = Compiler::new(layout.expect("one global"));
        let program = compiler.compile(&Sources::new("s.adu", text));
        program.expect("it is fine")
    }

    fn evaluator(program: &Arc<Program>, engine: Engine) -> Evaluator {
        let evaluator = Evaluator::with(&Instance::new(program), engine, Limits::default());
        evaluator.expect("every build has it")
    }

    /// Evaluates enough points that code is requested and used, where there is any.
    fn warm(evaluator: &mut Evaluator, globals: &Globals) {
        for _ in 0..=HOT_SINGLE_POINTS {
            evaluator.evaluate(globals, &mut NoTextures);
        }
        evaluator.wait_for_code();
        for _ in 0..=POINTS_BETWEEN_LOOKS {
            evaluator.evaluate(globals, &mut NoTextures);
        }
    }

    #[test]
    fn hot_evaluators_have_code_and_the_same_bits() {
        let program = program(
            "shader s(out float o) { float x = global_value<x>; o = exp(x) * x + noise(x * 7.0); }",
        );
        let [mut auto, mut alone] =
            [Engine::Auto, Engine::Point].map(|engine| evaluator(&program, engine));
        let mut globals = Globals::new(program.globals());
        let is_there = crate::batch::Tier::Native.is_available();
        for x in [0.25_f32, -3.0, f32::NAN] {
            globals.set("x", x, 1.0, 0.0).expect("it is there");
            warm(&mut auto, &globals);
            assert_eq!(auto.has_machine_code(), is_there);
            alone.evaluate(&globals, &mut NoTextures);
            let bits = [&auto, &alone].map(|e| e.get::<f32>("o").expect("it is there").to_bits());
            assert_eq!(bits[0], bits[1]);
        }
        warm(&mut alone, &globals);
        assert!(
            !alone.has_machine_code(),
            "it was asked for the interpreter"
        );
    }

    /// A host whose texture is late.
    struct Late;

    impl Host for Late {
        fn sample(&mut self, _: &SampleRequest) -> Sampled {
            Sampled::Pending
        }
    }

    #[test]
    fn points_parked_before_continue_after() {
        let program = program(
            "texture2d wood; shader s(out float o) { float x = global_value<x>, y = x * 3.0 + 1.0; \
             o = y * texture2d_sample_alpha<wood>(x, x) + exp(y); }",
        );
        let mut evaluator = evaluator(&program, Engine::Auto);
        let mut globals = Globals::new(program.globals());
        globals.set("x", 0.5_f32, 1.0, 0.0).expect("it is there");
        assert_eq!(evaluator.evaluate(&globals, &mut Late), Outcome::Pending);
        let before = evaluator.park().expect("one may be parked");
        warm(&mut evaluator, &globals);
        assert_eq!(evaluator.evaluate(&globals, &mut Late), Outcome::Pending);
        let after = evaluator.park().expect("two may be parked");
        let mut bits = Vec::new();
        for point in [before, after] {
            let outcome = evaluator.resume(point, [0.0, 0.0, 0.0, 0.5], &mut NoTextures);
            assert_eq!(outcome.expect("it is its own"), Outcome::Finished);
            bits.push(evaluator.get::<f32>("o").expect("it is there").to_bits());
        }
        assert_eq!(bits[0], bits[1]);
    }
}
