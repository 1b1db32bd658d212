//! Engines with some of their optimisations switched off.
//!
//! A test checks with them that no optimisation changes a result, and the benchmark makes its table
//! of gains. A [`SwitchSubject`] is a program at some points. It runs as bytecode on the engines of
//! the VM themselves, since hosts have no such switch.

use crate::generate::Point;
use adumbra::Program;
use adumbra_aot::{NativeCompiler, Optimisations, Target};
use adumbra_ir::host::{ConstantTexture, Faults, Limits};
use adumbra_vm::native::{NativeBackend, PointCfg, Segment};
use adumbra_vm::{
    BatchMachine, BatchOptions, Bytecode, GlobalSource, Outcome, PointMachine, SimdLevel,
    SuperinstructionSet, batch_segments, point_cfgs,
};
use std::sync::Arc;

/// The value of each texture everywhere.
const TEXEL: [f32; 4] = [0.2, 0.4, 0.6, 0.8];

/// A program, and the points that it is evaluated at.
#[derive(Debug)]
pub struct SwitchSubject {
    /// Its name in reports.
    pub name: String,
    bytecode: Arc<Bytecode>,
    inputs: Vec<u32>,
    limits: Limits,
    /// The globals of each point.
    points: Vec<Vec<u32>>,
    /// The same by word, each for all points.
    planes: Vec<Vec<u32>>,
    /// Whether each word of the globals is the same for all points.
    uniform: Vec<bool>,
}

/// An engine with its switches, for a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchEngine {
    /// The point interpreter, on which there is nothing to switch off.
    Point,
    /// Single points by machine code.
    NativePoint(Optimisations),
    /// The batch interpreter at a level.
    Batch {
        /// The level of its routines.
        level: SimdLevel,
        /// SuperinstructionSet that are not used.
        without: SuperinstructionSet,
    },
    /// Batches by machine code.
    NativeBatch(Optimisations),
}

/// The observation of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchOutput {
    /// The outcome.
    pub outcome: Outcome,
    /// The words of its outputs: values and shadows.
    pub outputs: Vec<u32>,
    /// The faults.
    pub faults: Faults,
}

/// A subject on an engine.
pub struct SwitchRunner<'s> {
    subject: &'s SwitchSubject,
    machine: Machine,
    sources: Vec<GlobalSource<'s>>,
}

enum Machine {
    Point(Box<PointMachine>),
    Batch(Box<BatchMachine>),
}

impl SwitchSubject {
    /// Bytecode at points, of each of which all words of the globals are given.
    ///
    /// # Panics
    /// If there are no points, or some have not as many words as the globals.
    pub fn new(
        name: impl Into<String>,
        bytecode: Bytecode,
        points: Vec<Vec<u32>>,
    ) -> SwitchSubject {
        let words = bytecode.interface().global_words();
        assert!(!points.is_empty(), "there are points");
        assert!(points.iter().all(|point| point.len() == words), "all words");
        let plane = |word: usize| points.iter().map(|point| point[word]).collect();
        let planes: Vec<Vec<u32>> = (0..words).map(plane).collect();
        let is_uniform = |plane: &Vec<u32>| plane.iter().all(|word| word == &plane[0]);
        let inputs = bytecode.interface().inputs.iter();
        SwitchSubject {
            name: name.into(),
            inputs: inputs.flat_map(|input| input.default.clone()).collect(),
            limits: Limits::default(),
            uniform: planes.iter().map(is_uniform).collect(),
            planes,
            points,
            bytecode: Arc::new(bytecode),
        }
    }

    /// A program at points whose members are those of its layout, in order.
    ///
    /// # Panics
    /// As [`new`](SwitchSubject::new).
    pub fn of(name: impl Into<String>, program: &Program, points: &[Point]) -> SwitchSubject {
        let words = |point: &Point| {
            let members = point.iter();
            let words = members.flat_map(|member| [&member.value, &member.ddx, &member.ddy]);
            words.flatten().copied().collect()
        };
        let bytecode = adumbra_vm::lower(program.module()).expect("it was compiled");
        SwitchSubject::new(name, bytecode, points.iter().map(words).collect())
    }

    /// The same within other limits.
    pub fn within(self, limits: Limits) -> SwitchSubject {
        SwitchSubject { limits, ..self }
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// It on an engine; nothing if the processor has no machine code.
    pub fn on(&self, engine: SwitchEngine) -> Option<SwitchRunner<'_>> {
        let native = |optimisations| {
            let native = NativeCompiler::new(&self.name)?;
            Some(native.with_optimisations(optimisations))
        };
        let bytecode = || Arc::clone(&self.bytecode);
        let point = |machine| Machine::Point(Box::new(machine));
        let batch = |options: BatchOptions| {
            let options = BatchOptions {
                uniform: self.uniform.clone(),
                ..options
            };
            let machine = BatchMachine::new(bytecode(), self.limits, &options);
            Machine::Batch(Box::new(machine))
        };
        let machine = match engine {
            SwitchEngine::Point => point(PointMachine::new(bytecode(), self.limits)),
            SwitchEngine::NativePoint(optimisations) => {
                let native = native(optimisations)?;
                point(PointMachine::with_code(bytecode(), self.limits, &native))
            }
            SwitchEngine::Batch { level, without } => batch(BatchOptions {
                level: Some(level),
                without_fusions: without,
                ..BatchOptions::default()
            }),
            SwitchEngine::NativeBatch(optimisations) => {
                let native: Arc<dyn NativeBackend> = Arc::new(native(optimisations)?);
                batch(BatchOptions {
                    native: Some(native),
                    ..BatchOptions::default()
                })
            }
        };
        let sources = self.planes.iter().zip(&self.uniform);
        let sources = sources.map(|(words, &is_uniform)| match is_uniform {
            true => GlobalSource::Uniform(words[0]),
            false => GlobalSource::Varying { words, stride: 1 },
        });
        Some(SwitchRunner {
            subject: self,
            machine,
            sources: sources.collect(),
        })
    }

    /// Its machine code for a processor, of batches and of single points; nothing where it is too
    /// long.
    pub fn code(&self, target: Target, optimisations: Optimisations) -> [Option<Vec<u8>>; 2] {
        let segments: Vec<Segment> = batch_segments(&self.bytecode, &self.uniform);
        let cfgs: Vec<PointCfg> = point_cfgs(&self.bytecode);
        let batch = target.compile_batch_with(optimisations, &segments, false);
        let point = target.compile_points_with(optimisations, &cfgs, false);
        [batch, point].map(|code| code.map(|code| code.bytes))
    }
}

impl SwitchRunner<'_> {
    /// Evaluates all points.
    pub fn run(&mut self) {
        self.each(|_| {});
    }

    /// The observations of all points.
    pub fn shown(&mut self) -> Vec<SwitchOutput> {
        let mut all = Vec::with_capacity(self.subject.points());
        self.each(|machine| match machine {
            Machine::Point(machine) => all.push(SwitchOutput {
                outcome: machine.outcome(),
                outputs: machine.outputs().to_vec(),
                faults: machine.faults().clone(),
            }),
            Machine::Batch(machine) => {
                let scalars = machine.program().output_lanes().len();
                for point in 0..machine.points() {
                    let parts = (0..3 * scalars).map(|i| (i / 3, i % 3));
                    let word = |(scalar, part)| machine.output(scalar, part, point);
                    all.push(SwitchOutput {
                        outcome: machine.outcomes()[point],
                        outputs: parts.map(word).collect(),
                        faults: machine.faults(point).clone(),
                    });
                }
            }
        });
        all
    }

    /// The fusions that its instructions are joined by.
    pub fn superinstructions(&self) -> SuperinstructionSet {
        match &self.machine {
            Machine::Point(_) => SuperinstructionSet::NONE,
            Machine::Batch(machine) => machine.superinstructions(),
        }
    }

    /// Evaluates all points; shows the machine after each evaluation.
    fn each(&mut self, mut seen: impl FnMut(&Machine)) {
        let SwitchRunner {
            subject,
            machine,
            sources,
        } = self;
        let mut host = ConstantTexture(TEXEL);
        let width = match machine {
            Machine::Point(_) => 1,
            Machine::Batch(machine) => machine.width(),
        };
        for first in (0..subject.points()).step_by(width) {
            match machine {
                Machine::Point(machine) => {
                    machine.run(&subject.points[first], &subject.inputs, &mut host);
                }
                Machine::Batch(machine) => {
                    let points = width.min(subject.points() - first);
                    machine.run(sources, &subject.inputs, first, points, &mut host);
                }
            }
            seen(machine);
        }
    }
}
