//! Evaluates a program at the points of a gradient, by any engine, into planes.

use super::GradJob;
use super::points::SeededPoints;
use crate::error::{CliError, CliResult};
use adumbra::batch::{BatchReport, BatchSetup, OutputPlane, Part, WholeBatch};
use adumbra::gradient::BufferGradients;
use adumbra::{Instance, Program};
use std::ops::Range;

/// A program at the points of a gradient: that of the gradient, or the shader's own.
pub struct FilledProgram<'e> {
    pub instance: &'e Instance,
    pub points: &'e SeededPoints,
    /// A word of its globals that is another one, with that at each point of the band.
    pub moved: Option<(usize, &'e [f32])>,
}

/// A scalar of the program's outputs: its output, its number there, and among those of all.
pub struct OutputScalar<'n> {
    pub output: &'n str,
    pub scalar: usize,
    pub among_all: usize,
}

/// The planes of scalars of outputs.
pub fn output_planes<'p>(
    scalars: &[OutputScalar<'p>],
    planes: &'p mut [Vec<f32>],
) -> Vec<OutputPlane<'p>> {
    let planes = scalars.iter().zip(planes);
    planes
        .map(|(of, plane)| OutputPlane::new(of.output, Part::Value, of.scalar, plane, 1))
        .collect()
}

/// Adds the floats of an output of a program.
pub fn add_scalars<'n>(program: &Program, name: &'n str, to: &mut Vec<OutputScalar<'n>>) {
    let mut before = 0;
    for output in program.outputs() {
        if output.name == name {
            let floats = output.ty.float_scalars().into_iter();
            to.extend(floats.map(|scalar| OutputScalar {
                output: name,
                scalar,
                among_all: before + scalar,
            }));
            return;
        }
        before += output.ty.scalar_count();
    }
}

impl GradJob<'_> {
    /// Evaluates a band of points, and writes scalars of a program's outputs to a plane each.
    ///
    /// # Errors
    /// If the engine cannot run the program.
    pub fn fill(
        &self,
        program: &FilledProgram<'_>,
        band: &Range<usize>,
        scalars: &[OutputScalar<'_>],
        planes: &mut [Vec<f32>],
    ) -> CliResult<(BufferGradients, BatchReport)> {
        let Some(tier) = self.setup.engine.tier() else {
            return self.fill_singly(program, band, scalars, planes);
        };
        let setup = BatchSetup {
            limits: self.setup.limits(program.instance.program()),
            tier,
            ..BatchSetup::default()
        };
        let varying = program.points.planes(band);
        let mut globals = program.points.batch_globals(&varying);
        if let Some((word, values)) = program.moved {
            globals.plane_word(word, values, 1);
        }
        let mut outputs = output_planes(scalars, planes);
        let done = WholeBatch::new(program.instance)
            .setup(setup)
            .threads(self.args.threads.map_or(0, usize::from))
            .numbered_from(band.start as u64)
            .planes(&globals, 0..band.len(), &mut outputs, || self.host());
        done.map_err(CliError::usage)
    }

    /// The same by an engine of single points.
    fn fill_singly(
        &self,
        program: &FilledProgram<'_>,
        band: &Range<usize>,
        scalars: &[OutputScalar<'_>],
        planes: &mut [Vec<f32>],
    ) -> CliResult<(BufferGradients, BatchReport)> {
        let mut evaluator = self.setup.evaluator(program.instance)?;
        let mut report = BatchReport::default();
        let mut words = Vec::new();
        let points = program.points;
        points.for_each_point(band.clone(), |number, globals| {
            let at = number - band.start;
            let mut globals = globals.clone();
            if let Some((word, values)) = program.moved {
                globals.words_mut()[word] = values[at].to_bits();
            }
            let outcome = evaluator.evaluate(&globals, &mut self.host());
            report.add(number, outcome, evaluator.faults());
            words.clear();
            words.extend(evaluator.words(Part::Value).expect("values are there"));
            for (of, plane) in scalars.iter().zip(&mut *planes) {
                plane[at] = f32::from_bits(words[of.among_all]);
            }
        });
        Ok((evaluator.take_gradients(), report))
    }
}
