//! The slope of pixels along the path, by each set of rules.
//!
//! What is compared is the average over the box around a pixel. So a slope is taken where its own
//! average completes the box. `smooth` and `fd` are of a point: it moves along both axes. `pair` is
//! an average along the pixel's axis: it moves across it. Of `edge` each edge counts on its own
//! axis, so those of either axis are looked for from a place that is moved across it; its smooth
//! parts are of a point.

use super::parameters::Parameters;
use super::points::{PointValues, output_planes};
use crate::error::{CliError, CliResult};
use crate::grad::gradient_output;
use adumbra::Instance;
use adumbra::batch::WholeBatch;
use adumbra::gradient::{Gradient, JumpBatch, JumpGradient};
use fastrand::Rng;

/// The steps of differences, of which the best counts.
pub const STEPS: [f64; 5] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5];

/// Parameters whose differences are taken at all places; if there are more, the places are fewer.
const DIFFERENCES_TOGETHER: usize = 8;

/// A set of rules.
pub enum Rules<'g> {
    Smooth(&'g Gradient),
    /// Central differences by a step.
    Fd(f64),
    /// With the axis of each pixel.
    Pair(&'g JumpGradient, Vec<usize>),
    Edge(&'g JumpGradient),
}

impl Rules<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Rules::Smooth(_) => "smooth",
            Rules::Fd(_) => "fd",
            Rules::Pair(..) => "pair",
            Rules::Edge(_) => "edge",
        }
    }

    /// The step of differences.
    pub fn step(&self) -> Option<f64> {
        match self {
            Rules::Fd(step) => Some(*step),
            _ => None,
        }
    }

    /// Of how many places of the path one is taken.
    pub fn places_together(&self, parameters: &Parameters) -> usize {
        match self {
            Rules::Fd(_) => parameters.count().div_ceil(DIFFERENCES_TOGETHER),
            _ => 1,
        }
    }

    /// Adds the slope of each pixel at values of the parameters: how much it changes on a path with
    /// that slope everywhere.
    ///
    /// # Errors
    /// If the engine cannot run a program.
    pub fn add(
        &self,
        points: &PointValues<'_>,
        values: &[f32],
        random: &mut Rng,
        sums: &mut [f64],
    ) -> CliResult {
        match self {
            Rules::Smooth(gradient) => {
                let planes = GradientPlanes::new(points, gradient, values);
                planes.add_smooth(random, sums)
            }
            Rules::Fd(step) => add_differences(points, *step, values, random, sums),
            Rules::Pair(jumps, axes) => {
                let mut planes = GradientPlanes::new(points, jumps.smooth(), values);
                let places = points.places(random, |pixel| [axes[pixel] == 1, axes[pixel] == 0]);
                let batch = JumpBatch::new(jumps, &planes.instance);
                planes.fill_and_add(&places, batch, true, sums)
            }
            Rules::Edge(jumps) => {
                let mut planes = GradientPlanes::new(points, jumps.smooth(), values);
                for axis in [0, 1] {
                    let places = points.places(random, |_| [axis == 1, axis == 0]);
                    let batch = JumpBatch::new(jumps, &planes.instance).along(axis);
                    planes.fill_and_add(&places, batch, false, sums)?;
                }
                planes.add_smooth(random, sums)
            }
        }
    }
}

/// The planes of a gradient at values of the parameters.
struct GradientPlanes<'a> {
    points: &'a PointValues<'a>,
    instance: Instance,
    /// Output and scalar of each float of the gradient.
    floats: Vec<(&'a str, usize)>,
}

impl<'a> GradientPlanes<'a> {
    fn new(points: &'a PointValues<'a>, gradient: &'a Gradient, values: &[f32]) -> Self {
        let program = gradient.program();
        let mut floats = Vec::new();
        for parameter in gradient.parameters() {
            let name = gradient_output(&parameter.value).expect("it is by inputs");
            let mut outputs = program.outputs().iter();
            let output = outputs.find(|output| output.name == name);
            let scalars = output.expect("it is an output").ty.float_scalars();
            floats.extend(scalars.into_iter().map(|scalar| (name, scalar)));
        }
        GradientPlanes {
            points,
            instance: points.parameters.instance(&Instance::new(program), values),
            floats,
        }
    }

    /// Adds the smooth slopes, at places moved along both axes.
    fn add_smooth(&self, random: &mut Rng, sums: &mut [f64]) -> CliResult {
        let places = self.points.places(random, |_| [true; 2]);
        let programs = self.points.programs;
        let at = programs.gradient.planes_at(places.iter().copied());
        let mut planes = self.empty();
        let batch = WholeBatch::new(&self.instance).setup(programs.setup.clone());
        let done = batch.planes(
            &programs.gradient.batch_globals(&at),
            0..places.len(),
            &mut output_planes(&self.floats, &mut planes),
            || programs.host(),
        );
        done.map_err(CliError::usage)?;
        self.add(&planes, sums);
        Ok(())
    }

    /// Adds the slopes through edges at places; those of smooth parts if they are wanted.
    fn fill_and_add(
        &mut self,
        places: &[[f64; 2]],
        batch: JumpBatch,
        with_smooth: bool,
        sums: &mut [f64],
    ) -> CliResult {
        let programs = self.points.programs;
        let at = programs.gradient.planes_at(places.iter().copied());
        let globals = programs.gradient.batch_globals(&at);
        let mut planes = self.empty();
        let mut outputs = output_planes(&self.floats, &mut planes);
        let batch = batch.setup(programs.setup.clone());
        let (all, host) = (0..places.len(), || programs.host());
        if with_smooth {
            let done = batch.planes(&globals, all, &mut outputs, host);
            done.map_err(CliError::usage)?;
        } else {
            let done = batch.add(&globals, all, &mut outputs, host);
            done.map_err(CliError::usage)?;
        }
        self.add(&planes, sums);
        Ok(())
    }

    fn empty(&self) -> Vec<Vec<f32>> {
        vec![vec![0.0; self.points.pixels.len()]; self.floats.len()]
    }

    /// Adds each float of the gradient, times how far its parameter moves.
    fn add(&self, planes: &[Vec<f32>], sums: &mut [f64]) {
        for (float, plane) in planes.iter().enumerate() {
            let way = self.points.parameters.way(float);
            for (sum, slope) in sums.iter_mut().zip(plane) {
                *sum += way * f64::from(*slope);
            }
        }
    }
}

/// Adds central differences by each parameter, at places moved along both axes. A float that the
/// step does not move has no slope.
fn add_differences(
    points: &PointValues<'_>,
    step: f64,
    values: &[f32],
    random: &mut Rng,
    sums: &mut [f64],
) -> CliResult {
    let places = points.shader_places(&points.places(random, |_| [true; 2]));
    for float in 0..values.len() {
        let (sides, apart) = points.parameters.moved(values, float, step);
        if apart == 0.0 {
            continue;
        }
        let [above, below] = sides.map(|side| points.outputs(&side, &places));
        let weight = points.parameters.way(float) / apart;
        for (sum, (above, below)) in sums.iter_mut().zip(above?.into_iter().zip(below?)) {
            *sum += weight * (above - below);
        }
    }
    Ok(())
}
