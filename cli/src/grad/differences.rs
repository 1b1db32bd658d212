//! The gradient of `--rules fd`: central differences of the shader itself, float by float.
//!
//! Both sides are evaluated by the engine that was asked for, as any points are. The difference is
//! over how far the two floats are apart.

use super::GradJob;
use super::fill::{FilledProgram, OutputScalar, add_scalars};
use super::points::SeededPoints;
use crate::error::{CliError, CliResult};
use crate::moved::{MovedFloat, input_float, set_input_floats};
use adumbra::gradient::{Gradient, ParameterKind};
use adumbra::{Instance, Type};
use std::ops::Range;

/// The step of a float, over its value or 1, whichever is greater, if none is given.
const STEP: f64 = 1e-3;

/// Takes the differences of a shader at points.
pub struct StepDifferences {
    /// The shader's own program, and its points.
    instance: Instance,
    points: SeededPoints,
    step: Option<f64>,
}

impl StepDifferences {
    /// Differences by a step, or else one for each float.
    ///
    /// # Errors
    /// If the gradient is by a buffer.
    pub fn new(
        instance: Instance,
        points: SeededPoints,
        step: Option<f64>,
        gradient: &Gradient,
    ) -> CliResult<StepDifferences> {
        let mut parameters = gradient.parameters().iter();
        if let Some(buffer) = parameters.find(|by| by.kind == ParameterKind::Buffer) {
            return Err(CliError::usage(format!(
                "`--rules fd` is by inputs and globals, and `{}` is a buffer",
                buffer.value.name
            )));
        }
        Ok(StepDifferences {
            instance,
            points,
            step,
        })
    }

    /// A float to either side.
    fn moved(&self, name: &str, value: f32) -> CliResult<MovedFloat> {
        let step = self.step.unwrap_or(STEP * f64::from(value.abs()).max(1.0));
        let moved = MovedFloat::new(value, step);
        match moved.apart == 0.0 {
            true => Err(CliError::usage(format!(
                "a step of {step} does not move `{name}`, which is {value}: give a longer `--step`"
            ))),
            false => Ok(moved),
        }
    }

    /// Writes the gradient by each parameter at a band of points to its planes.
    ///
    /// # Errors
    /// If the engine cannot run the shader, or a step is too short.
    pub fn put(
        &self,
        job: &GradJob<'_>,
        band: &Range<usize>,
        of_parameters: impl Iterator<Item = Range<usize>>,
        planes: &mut [Vec<f32>],
    ) -> CliResult {
        let program = self.instance.program();
        let mut outputs = Vec::new();
        for output in job.gradient.outputs() {
            add_scalars(program, &output.name, &mut outputs);
        }
        for (parameter, own) in job.gradient.parameters().iter().zip(of_parameters) {
            let name = &parameter.value.name;
            let ty = self.type_of(name, parameter.kind);
            for (scalar, plane) in ty.float_scalars().into_iter().zip(&mut planes[own]) {
                let (sides, apart) = match parameter.kind {
                    ParameterKind::Input => {
                        let value = input_float(&self.instance, name, scalar);
                        let moved = self.moved(name, value)?;
                        let side = |side: f32| {
                            let mut instance = self.instance.clone();
                            set_input_floats(&mut instance, name, &[(scalar, side)]);
                            self.sums(job, &instance, None, band, &outputs)
                        };
                        let [above, below] = moved.sides.map(side);
                        ([above?, below?], vec![moved.apart; band.len()])
                    }
                    _ => {
                        let layout = program.globals();
                        let member = layout.member(name).expect("the gradient is by it");
                        let word = member.value_offset() / 4 + scalar;
                        let moved = self.moved_globals(name, word, band)?;
                        let side = |side: usize| {
                            let values: Vec<f32> =
                                moved.iter().map(|moved| moved.sides[side]).collect();
                            let values = Some((word, &values[..]));
                            self.sums(job, &self.instance, values, band, &outputs)
                        };
                        let apart = moved.iter().map(|moved| moved.apart).collect();
                        ([side(0)?, side(1)?], apart)
                    }
                };
                let [above, below] = sides;
                for (point, number) in plane.iter_mut().enumerate() {
                    *number = ((above[point] - below[point]) / apart[point]) as f32;
                }
            }
        }
        Ok(())
    }

    /// The type of an input or a global.
    fn type_of(&self, name: &str, kind: ParameterKind) -> &Type {
        let program = self.instance.program();
        let found = match kind {
            ParameterKind::Input => program.find_input(name).map(|(_, ty)| ty),
            _ => program.globals().member(name).map(|member| member.ty()),
        };
        found.expect("the gradient is by it")
    }

    /// A word of the globals at each point, to either side.
    fn moved_globals(
        &self,
        name: &str,
        word: usize,
        band: &Range<usize>,
    ) -> CliResult<Vec<MovedFloat>> {
        let mut moved = Vec::with_capacity(band.len());
        self.points.for_each_point(band.clone(), |_, globals| {
            let value = f32::from_bits(globals.words()[word]);
            moved.push(self.moved(name, value));
        });
        moved.into_iter().collect()
    }

    /// Σ seed·output at each point.
    fn sums(
        &self,
        job: &GradJob<'_>,
        instance: &Instance,
        moved: Option<(usize, &[f32])>,
        band: &Range<usize>,
        outputs: &[OutputScalar<'_>],
    ) -> CliResult<Vec<f64>> {
        let program = FilledProgram {
            instance,
            points: &self.points,
            moved,
        };
        let mut planes = vec![vec![0.0_f32; band.len()]; outputs.len()];
        job.fill(&program, band, outputs, &mut planes)?;
        let mut sums = vec![0.0; band.len()];
        for (at, sum) in sums.iter_mut().enumerate() {
            let seeds = job.seeds.iter().flat_map(|seeds| seeds.at(band.start + at));
            for (seed, plane) in seeds.zip(&planes) {
                // What has no weight does not count, also where it is not finite.
                if *seed != 0.0 {
                    *sum += f64::from(*seed) * f64::from(plane[at]);
                }
            }
        }
        Ok(sums)
    }
}
