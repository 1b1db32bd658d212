//! The images of a shader at its targets' pixels, and the gradient of a loss of them.
//!
//! The derivatives of the loss by the colours are the seeds of the shader's gradient, a plane for
//! each channel, and the gradient is summed over the pixels. Both have the same bits on any number
//! of threads.

use super::parameters::FittedInputs;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::grad::{GradHost, gradient_output, seed_globals};
use crate::image::{GlobalPlanes, PIXEL_CENTRE, PixelGrid, Textures};
use adumbra::batch::{BatchSetup, OutputPlane, OutputSums, Part, WholeBatch};
use adumbra::gradient::{Gradient, JumpBatch, JumpGradient};
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

/// The gradient of the shader, by rules.
pub enum ShaderGradient {
    Smooth(Gradient),
    Jumps(JumpGradient),
}

impl ShaderGradient {
    /// The gradient of the smooth parts.
    pub fn smooth(&self) -> &Gradient {
        match self {
            ShaderGradient::Smooth(gradient) => gradient,
            ShaderGradient::Jumps(jumps) => jumps.smooth(),
        }
    }
}

/// The pixels of a target.
pub struct TargetPixels {
    /// The globals of the shader, and of the program of its gradient.
    shader: GridPlanes,
    gradient: Option<GridPlanes>,
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
}

impl TargetPixels {
    /// The pixels of a grid for the shader, and of one for its gradient, if one is taken.
    pub fn new(shader: PixelGrid, gradient: Option<PixelGrid>, channels: usize) -> TargetPixels {
        let [width, height] =
            [shader.size().width(), shader.size().height()].map(|side| side as usize);
        TargetPixels {
            shader: GridPlanes::new(shader),
            gradient: gradient.map(GridPlanes::new),
            shape: RasterShape {
                width,
                height,
                channels,
            },
        }
    }
}

/// A program with the values of inputs that are not fitted.
pub struct StartedProgram {
    pub instance: Instance,
    pub setup: BatchSetup,
}

/// A shader that is evaluated for a fit.
pub struct FittedShader<'a> {
    pub own: StartedProgram,
    /// The output that is the image.
    pub output: String,
    /// With its program. None if the gradient is one of differences.
    pub gradient: Option<(ShaderGradient, StartedProgram)>,
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
            stopped: 0,
        }
    }

    /// The shader's program.
    pub fn program(&self) -> &Arc<Program> {
        self.shader.own.instance.program()
    }

    /// Draws images by another program of the same globals and inputs; gradients stay those of the
    /// first one.
    pub fn draw_by(&mut self, own: StartedProgram) {
        self.shader.own = own;
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

    /// The sums of the gradient's outputs over the pixels of a target.
    fn sums(
        &self,
        instance: &Instance,
        target: &TargetPixels,
        adjoint: &Raster,
        outputs: &[&str],
    ) -> Result<OutputSums, ObjectiveError> {
        let (gradient, StartedProgram { setup, .. }) =
            self.gradient.as_ref().expect("a gradient is taken");
        let pixels = target.gradient.as_ref().expect("a gradient is taken");
        let mut globals = pixels.grid.batch_globals(&pixels.planes);
        let channels = target.shape.channels;
        let of_image = gradient.smooth().outputs();
        for (name, first, count) in of_image.iter().flat_map(seed_globals) {
            for scalar in 0..count.min(channels.saturating_sub(first)) {
                let seeds = &adjoint.values()[first + scalar..];
                globals
                    .plane(name, Part::Value, scalar, seeds, channels)
                    .expect("it has the seeds");
            }
        }
        let (points, host) = (0..target.shape.pixels(), || self.host());
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
                    .image(target.shape.width, points.clone())
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
        let StartedProgram { instance, setup } = &shader.own;
        let mut instance = instance.clone();
        self.inputs.set(&mut instance, point.values);
        self.stopped = 0;
        for (target, image) in self.targets.iter().zip(images) {
            let (channels, pixels) = (target.shape.channels, target.shape.pixels());
            let mut planes = vec![vec![0.0_f32; pixels]; channels];
            let mut outputs: Vec<OutputPlane<'_>> = (planes.iter_mut().enumerate())
                .map(|(at, plane)| OutputPlane::new(&shader.output, Part::Value, at, plane, 1))
                .collect();
            let globals = target.shader.grid.batch_globals(&target.shader.planes);
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
        let gradient_taken = shader.gradient.as_ref();
        let (of_shader, started) = gradient_taken.expect("a gradient is taken");
        let mut instance = started.instance.clone();
        self.inputs.set(&mut instance, point.values);
        let parameters = of_shader.smooth().parameters();
        let outputs: Vec<&str> = (parameters.iter())
            .map(|by| gradient_output(&by.value).expect("it is by inputs"))
            .collect();
        *gradient = ParameterGradient::zeros(point);
        for (target, adjoint) in self.targets.iter().zip(adjoint) {
            let sums = shader.sums(&instance, target, adjoint, &outputs)?;
            for input in self.inputs.inputs() {
                let at = parameters.iter().position(|by| by.value.name == input.name);
                let at = at.expect("it is by all inputs that are fitted");
                let total = sums.total(outputs[at]).expect("it is summed");
                let slopes = input.of_mut(&mut gradient.values);
                slopes
                    .iter_mut()
                    .zip(total)
                    .for_each(|(to, sum)| *to += sum);
            }
        }
        Ok(())
    }
}
