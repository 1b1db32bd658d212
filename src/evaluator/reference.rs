//! The reference engine in an evaluator: the walk over the intermediate representation, from a
//! host's words and back to them.

use crate::program::{Instance, Program};
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::eval::{self, EvalPoint, EvalValue, Progress, SuspendedPoint};
use adumbra_ir::host::{ClosureArena, Faults, Host, Limits, Texel, canonical_float, read_shadow};
use adumbra_ir::{Direction, Module, Scalar};
use adumbra_vm::{FloatEnvironment, Outcome};
use std::sync::Arc;

/// It keeps nothing between points but the results of the last one, or its state.
pub(super) struct ReferenceMachine {
    limits: Limits,
    pub(super) faults: Faults,
    pub(super) closures: ClosureArena,
    /// Value, ddx and ddy of each scalar of the outputs.
    pub(super) outputs: Vec<u32>,
    /// The last point, if it is suspended.
    pub(super) suspended: Option<Box<SuspendedPoint>>,
    memory: Arc<BufferMemory>,
}

impl ReferenceMachine {
    /// A machine with outputs that are zero until a point is evaluated.
    pub(super) fn new(
        instance: &Instance,
        limits: Limits,
        memory: &Arc<BufferMemory>,
    ) -> ReferenceMachine {
        let outputs = instance.program().outputs().iter();
        let scalars: usize = outputs.map(|output| output.ty.scalar_count()).sum();
        ReferenceMachine {
            limits,
            faults: Faults::default(),
            closures: ClosureArena::default(),
            outputs: vec![0; 3 * scalars],
            suspended: None,
            memory: memory.clone(),
        }
    }

    /// Evaluates one point of a program that has a module.
    pub(super) fn run(
        &mut self,
        instance: &Instance,
        globals: &[u32],
        host: &mut dyn Host,
    ) -> Outcome {
        let _mode = FloatEnvironment::enter();
        let program = instance.program();
        let module = program.module();
        let options = eval::EvalOptions {
            limits: self.limits,
            ..eval::EvalOptions::default()
        };
        let progress = eval::begin(module, &reference_point(globals, instance), &options, host);
        self.give(program, progress)
    }

    /// Resumes the suspended point.
    pub(super) fn answer(
        &mut self,
        program: &Program,
        texel: Texel,
        host: &mut dyn Host,
    ) -> Outcome {
        self.go_on(program, |waiting, module| {
            waiting.resume(module, texel, host)
        })
    }

    /// Resumes the point that waits at a difference.
    pub(super) fn join(
        &mut self,
        program: &Program,
        difference: f32,
        host: &mut dyn Host,
    ) -> Outcome {
        self.go_on(program, |waiting, module| {
            waiting.resume_difference(module, difference, host)
        })
    }

    fn go_on(
        &mut self,
        program: &Program,
        by: impl FnOnce(SuspendedPoint, &Module) -> Progress,
    ) -> Outcome {
        let _mode = FloatEnvironment::enter();
        let waiting = self.suspended.take().expect("a point waits");
        let module = program.module();
        let progress = by(*waiting, module);
        self.give(program, progress)
    }

    /// Bytes that it takes, its own included.
    pub(super) fn memory(&self) -> usize {
        let waiting = self.suspended.as_ref().map_or(0, |point| point.memory());
        let outputs = self.outputs.capacity() * size_of::<u32>();
        size_of::<ReferenceMachine>() + outputs + self.closures.memory() + waiting
    }

    /// Takes out the suspended point.
    pub(super) fn park(&mut self) -> Box<SuspendedPoint> {
        self.faults.clear();
        self.suspended.take().expect("a point waits")
    }

    /// Suspends a point here.
    pub(super) fn unpark(&mut self, suspended: Box<SuspendedPoint>) {
        self.faults = suspended.faults().clone();
        self.closures.clear();
        self.outputs.fill(0);
        self.suspended = Some(suspended);
    }

    fn give(&mut self, program: &Program, progress: Progress) -> Outcome {
        let done = match progress {
            Progress::Done(done) => done,
            Progress::Pending(suspended) => {
                self.unpark(Box::new(suspended));
                return Outcome::Pending;
            }
        };
        self.suspended = None;
        self.outputs.clear();
        let mut slots = done.outputs.iter();
        for output in program.outputs() {
            output.ty.for_each_scalar(&mut |scalar| {
                let words = slots.next().map(|slot| canonical_words(slot, scalar));
                self.outputs.extend(words.unwrap_or_default());
            });
        }
        let mut sums = self.memory.sums();
        for added in &done.added {
            let (buffer, at) = (added.buffer, [added.index, added.number]);
            // It has faulted if it is not finite.
            sums.add(&self.memory.set, buffer, at[0], at[1], added.value);
        }
        drop(sums);
        self.faults = done.faults;
        self.closures = done.closures;
        match self.faults.stopped() {
            None => Outcome::Finished,
            Some(_) => Outcome::Stopped,
        }
    }
}

/// The point as the reference engine takes it.
pub(crate) fn reference_point(globals: &[u32], instance: &Instance) -> EvalPoint {
    let mut slots = Vec::new();
    for member in instance.program().globals().members() {
        let [mut values, mut ddx, mut ddy] =
            [0, 1, 2].map(|part| globals[member.part(part)].iter());
        let mut next = || {
            [&mut values, &mut ddx, &mut ddy]
                .map(|words| *words.next().expect("one for each scalar"))
        };
        member.ty().for_each_scalar(&mut |scalar| {
            let [value, ddx, ddy] = next();
            slots.push(match scalar {
                Scalar::F32 => {
                    let [value, ddx, ddy] = [value, ddx, ddy].map(f32::from_bits);
                    EvalValue::float(value, [ddx, ddy])
                }
                _ => EvalValue::from_bits(scalar, value),
            });
        });
    }
    let mut inputs = Vec::new();
    let mut words = instance.inputs().iter();
    for input in instance.program().inputs() {
        input.ty.for_each_scalar(&mut |scalar| {
            let word = words.next().copied().unwrap_or_default();
            inputs.push(EvalValue::from_bits(scalar, word));
        });
    }
    EvalPoint {
        globals: slots,
        inputs,
        buffers: instance.buffers().clone(),
        replaced: None,
    }
}

/// Value, ddx and ddy of an output's scalar, with canonical NaNs.
fn canonical_words(slot: &EvalValue, scalar: Scalar) -> [u32; 3] {
    if scalar != Scalar::F32 {
        return [slot.bits(scalar), 0, 0];
    }
    let shadow = |direction| read_shadow(slot.shadow(direction));
    [slot.float, shadow(Direction::X), shadow(Direction::Y)].map(|x| canonical_float(x).to_bits())
}
