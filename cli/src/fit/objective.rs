//! The images of a shader at its targets' pixels, and the gradient of a loss of them.
//!
//! The derivatives of the loss by the colours are the seeds of the shader's gradient, a plane for
//! each channel, and the gradient is summed over the pixels. Both have the same bits on any number
//! of threads.

use super::gradient::ShaderGradient;
use super::noise::NoisePlanes;
use super::parameters::FittedInputs;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::grad::{GradHost, gradient_output, seed_globals};
use crate::image::{GlobalPlanes, PIXEL_CENTRE, PixelGrid, Textures};
use adumbra::batch::{BatchGlobals, BatchSetup, OutputPlane, OutputSums, Part, WholeBatch};
use adumbra::gradient::JumpBatch;
use adumbra::{Instance, Program};
use adumbra_fit::{
    FitParameter, Objective, ParameterGradient, ParameterPoint, Raster, RasterShape, Render,
};
use std::fmt;
use std::sync::Arc;

/// Why there is no image or gradient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectiveError {
    /// Ctrl-C was pressed.
    Interrupted,
    /// The engine cannot evaluate it: why.
    Engine(String),
}

impl fmt::Display for ObjectiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectiveError::Interrupted => f.write_str("interrupted"),
            ObjectiveError::Engine(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ObjectiveError {}

/// One of a kind for each program that a fit evaluates.
pub struct OfPrograms<T> {
    /// The shader.
    pub own: T,
    /// The shader with random variables, if there are some.
    pub noisy: Option<T>,
    /// Its gradient, or that of the one with random variables. None if it is one of differences.
    pub gradient: Option<T>,
}

impl<T> OfPrograms<T> {
    /// One of another kind for each.
    ///
    /// # Errors
    /// If one cannot be made.
    pub fn try_map<U>(&self, made: impl Fn(&T) -> CliResult<U>) -> CliResult<OfPrograms<U>> {
        Ok(OfPrograms {
            own: made(&self.own)?,
            noisy: self.noisy.as_ref().map(&made).transpose()?,
            gradient: self.gradient.as_ref().map(&made).transpose()?,
        })
    }
}

/// The pixels of a target.
pub struct TargetPixels {
    /// By program, its globals.
    globals: OfPrograms<GridPlanes>,
    shape: RasterShape,
}

/// A grid with the globals at its pixels.
struct GridPlanes {
    grid: PixelGrid,
    planes: GlobalPlanes,
}

impl GridPlanes {
    fn new(grid: PixelGrid) -> GridPlanes {
        let [width, height] = [grid.size().width(), grid.size().height()].map(|side| side as usize);
        let lines = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
        let planes = grid.planes(&lines.collect::<Vec<_>>(), PIXEL_CENTRE);
        GridPlanes { grid, planes }
    }

    fn globals(&self) -> BatchGlobals<'_> {
        self.grid.batch_globals(&self.planes)
    }
}

impl TargetPixels {
    /// The pixels of a shape, with the grid for each program.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(
        shape: RasterShape,
        programs: &OfPrograms<Arc<Program>>,
        grid: impl Fn(&Program) -> CliResult<PixelGrid>,
    ) -> CliResult<TargetPixels> {
        let globals = programs.try_map(|program| Ok(GridPlanes::new(grid(program)?)))?;
        Ok(TargetPixels { globals, shape })
    }
}

/// A program with the values of inputs that are not fitted.
pub struct StartedProgram {
    pub instance: Instance,
    pub setup: BatchSetup,
}

/// A shader that is evaluated for a fit.
pub struct FittedShader<'a> {
    pub programs: OfPrograms<StartedProgram>,
    /// The output that is the image.
    pub output: String,
    /// None if the gradient is one of differences.
    pub gradient: Option<ShaderGradient>,
    pub threads: usize,
    pub textures: &'a Textures,
    pub interrupt: &'a Interrupt,
}

/// The images of a shader by its fitted inputs.
pub struct ImageObjective<'a> {
    shader: FittedShader<'a>,
    inputs: FittedInputs,
    targets: Vec<TargetPixels>,
    shapes: Vec<RasterShape>,
    noise: NoisePlanes,
    /// Pixels of the last images that a limit stopped.
    stopped: usize,
}

impl<'a> ImageObjective<'a> {
    pub fn new(
        shader: FittedShader<'a>,
        inputs: FittedInputs,
        targets: Vec<TargetPixels>,
    ) -> ImageObjective<'a> {
        ImageObjective {
            shapes: targets.iter().map(|target| target.shape).collect(),
            shader,
            inputs,
            targets,
            noise: NoisePlanes::default(),
            stopped: 0,
        }
    }

    /// The shader's program.
    pub fn program(&self) -> &Arc<Program> {
        self.shader.programs.own.instance.program()
    }

    /// Draws images by another program of the same globals and inputs; gradients stay those of the
    /// first one.
    pub fn draw_by(&mut self, own: StartedProgram) {
        self.shader.programs.own = own;
    }

    /// What is fitted.
    pub fn inputs(&self) -> &FittedInputs {
        &self.inputs
    }

    /// Pixels of the last images that a limit stopped.
    pub fn stopped(&self) -> usize {
        self.stopped
    }

    /// The images at values, without noise.
    ///
    /// # Errors
    /// If the engine cannot evaluate the shader, or Ctrl-C was pressed.
    pub fn images(&mut self, values: &[f64]) -> CliResult<Vec<Raster>> {
        let mut images: Vec<Raster> = self.shapes.iter().copied().map(Raster::new).collect();
        let rendered = self.render(&ParameterPoint::exact(values), &mut images);
        rendered.map_err(|error| match error {
            ObjectiveError::Interrupted => CliError::Interrupted,
            ObjectiveError::Engine(why) => CliError::Usage(why),
        })?;
        Ok(images)
    }
}

impl FittedShader<'_> {
    fn host(&self) -> GradHost<'_> {
        GradHost {
            textures: self.textures,
            interrupt: self.interrupt,
        }
    }

    fn check_interrupt(&self) -> Result<(), ObjectiveError> {
        match self.interrupt.is_pressed() {
            true => Err(ObjectiveError::Interrupted),
            false => Ok(()),
        }
    }

    fn batch(&self, instance: &Instance, setup: &BatchSetup) -> WholeBatch {
        WholeBatch::new(instance)
            .setup(setup.clone())
            .threads(self.threads)
    }

    /// The gradient, with its program.
    fn gradient(&self) -> (&ShaderGradient, &StartedProgram) {
        let program = self.programs.gradient.as_ref();
        let taken = self.gradient.as_ref().zip(program);
        taken.expect("a gradient is taken")
    }

    /// The sums of the gradient's outputs over the pixels of a shape with these globals. Points
    /// look along random variables from that of number `random_from` on.
    fn sums<'p>(
        &self,
        instance: &Instance,
        (shape, mut globals): (RasterShape, BatchGlobals<'p>),
        adjoint: &'p Raster,
        outputs: &[&str],
        random_from: u64,
    ) -> Result<OutputSums, ObjectiveError> {
        let (gradient, StartedProgram { setup, .. }) = self.gradient();
        let channels = shape.channels;
        let of_image = gradient.smooth().outputs();
        for (name, first, count) in of_image.iter().flat_map(seed_globals) {
            for scalar in 0..count.min(channels.saturating_sub(first)) {
                let seeds = &adjoint.values()[first + scalar..];
                globals
                    .plane(name, Part::Value, scalar, seeds, channels)
                    .expect("it has the seeds");
            }
        }
        let (points, host) = (0..shape.pixels(), || self.host());
        let sums = match gradient {
            ShaderGradient::Smooth(_) => {
                let sums = self
                    .batch(instance, setup)
                    .sums(&globals, points, outputs, host);
                sums.map(|(sums, _)| sums)
            }
            ShaderGradient::Jumps(jumps) => {
                let sums = JumpBatch::new(jumps, instance)
                    .setup(setup.clone())
                    .threads(self.threads)
                    .image(shape.width, points.clone())
                    .random_from(random_from)
                    .sums(&globals, points, outputs, host);
                sums.map(|(sums, ..)| sums)
            }
        };
        self.check_interrupt()?;
        sums.map_err(|error| ObjectiveError::Engine(error.to_string()))
    }
}

impl Render for ImageObjective<'_> {
    type Error = ObjectiveError;

    fn parameters(&self) -> &[FitParameter] {
        self.inputs.floats()
    }

    fn shapes(&self) -> &[RasterShape] {
        &self.shapes
    }

    fn render(
        &mut self,
        point: &ParameterPoint<'_>,
        images: &mut [Raster],
    ) -> Result<(), ObjectiveError> {
        let shader = &self.shader;
        let has_noise = !point.scales.is_empty();
        let started = shader.programs.noisy.as_ref().filter(|_| has_noise);
        let StartedProgram { instance, setup } = started.unwrap_or(&shader.programs.own);
        let mut instance = instance.clone();
        self.inputs.set(&mut instance, point.values);
        if has_noise {
            self.inputs.set_scales(&mut instance, point.scales);
            self.noise.draw(point, &self.inputs, &self.shapes);
        }
        self.stopped = 0;
        for (number, (target, image)) in self.targets.iter().zip(images).enumerate() {
            let (channels, pixels) = (target.shape.channels, target.shape.pixels());
            let mut planes = vec![vec![0.0_f32; pixels]; channels];
            let mut outputs: Vec<OutputPlane<'_>> = (planes.iter_mut().enumerate())
                .map(|(at, plane)| OutputPlane::new(&shader.output, Part::Value, at, plane, 1))
                .collect();
            let noisy = target.globals.noisy.as_ref().filter(|_| has_noise);
            let mut globals = noisy.unwrap_or(&target.globals.own).globals();
            if has_noise {
                self.noise.set(number, &self.inputs, &mut globals);
            }
            let batch = shader.batch(&instance, setup);
            let done = batch.planes(&globals, 0..pixels, &mut outputs, || shader.host());
            shader.check_interrupt()?;
            let (_, report) = done.map_err(|error| ObjectiveError::Engine(error.to_string()))?;
            self.stopped += report.stopped;
            let values = image.values_mut().chunks_exact_mut(channels).enumerate();
            for (at, pixel) in values {
                for (value, plane) in pixel.iter_mut().zip(&planes) {
                    *value = plane[at];
                }
            }
        }
        Ok(())
    }
}

impl Objective for ImageObjective<'_> {
    fn gradient(
        &mut self,
        point: &ParameterPoint<'_>,
        adjoint: &[Raster],
        gradient: &mut ParameterGradient,
    ) -> Result<(), ObjectiveError> {
        let shader = &self.shader;
        let (of_shader, started) = shader.gradient();
        let mut instance = started.instance.clone();
        self.inputs.set(&mut instance, point.values);
        let has_noise = !point.scales.is_empty();
        if has_noise {
            self.inputs.set_scales(&mut instance, point.scales);
            self.noise.draw(point, &self.inputs, &self.shapes);
        }
        let parameters = of_shader.smooth().parameters();
        let outputs: Vec<&str> = (parameters.iter())
            .map(|by| gradient_output(&by.value).expect("it is by inputs"))
            .collect();
        *gradient = ParameterGradient::zeros(point);
        for (number, (target, adjoint)) in self.targets.iter().zip(adjoint).enumerate() {
            let pixels = target.globals.gradient.as_ref();
            let mut globals = pixels.expect("a gradient is taken").globals();
            if has_noise {
                self.noise.set(number, &self.inputs, &mut globals);
            }
            let of = (target.shape, globals);
            let sums = shader.sums(&instance, of, adjoint, &outputs, point.noise_seed)?;
            let total = |name: &str| {
                let at = parameters.iter().position(|by| by.value.name == name);
                let at = at.expect("it is by all inputs that are fitted");
                sums.total(outputs[at]).expect("it is summed")
            };
            for input in self.inputs.inputs() {
                let slopes = input.of_mut(&mut gradient.values).iter_mut();
                let sums = slopes.zip(total(&input.name));
                sums.for_each(|(slope, sum)| *slope += sum);
                let Some(variable) = input.variable.as_ref().filter(|_| has_noise) else {
                    continue;
                };
                // By scales over the ranges of the inputs.
                let floats = input.of(self.inputs.floats());
                let slopes = input.of_mut(&mut gradient.scales).iter_mut().zip(floats);
                let sums = slopes.zip(total(&variable.scale));
                sums.for_each(|((slope, float), sum)| *slope += float.width() * sum);
            }
        }
        Ok(())
    }
}
