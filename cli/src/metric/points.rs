//! Evaluates programs of a shader at places of pixels, and sums what they give over samples.

use super::parameters::Parameters;
use super::slopes::Rules;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::grad::GradHost;
use crate::image::{GlobalPlanes, PIXEL_CENTRE, PixelGrid, Textures};
use crate::report;
use adumbra::Instance;
use adumbra::batch::{BatchSetup, OutputPlane, Part, WholeBatch};
use adumbra::gradient::{JumpBatch, JumpGradient};
use fastrand::Rng;
use indicatif::ProgressBar;
use rayon::prelude::*;
use std::ops::Range;

/// Blocks that samples are divided into, whatever the number of threads.
const BLOCKS: usize = 64;

/// Samples of a pixel that have offsets of parameters in common.
const SAMPLES_TOGETHER: usize = 16;

/// The blocks that are summed if values are that many times.
pub fn blocks(times: usize) -> u64 {
    (times * BLOCKS) as u64
}

/// What programs of a shader are evaluated by.
pub struct PointPrograms<'a> {
    /// The globals of the shader's own program.
    pub shader: PixelGrid,
    /// Those of the gradient's program, with a seed of 1 for each float.
    pub gradient: PixelGrid,
    pub setup: BatchSetup,
    pub threads: usize,
    pub textures: &'a Textures,
    pub interrupt: &'a Interrupt,
}

impl PointPrograms<'_> {
    pub fn host(&self) -> GradHost<'_> {
        GradHost {
            textures: self.textures,
            interrupt: self.interrupt,
        }
    }

    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn check_interrupt(&self) -> CliResult {
        if self.interrupt.is_pressed() {
            report::message("interrupted");
            return Err(CliError::Interrupted);
        }
        Ok(())
    }
}

/// Values of pixels that were drawn, with parameters on their path.
pub struct PointValues<'a> {
    pub programs: &'a PointPrograms<'a>,
    pub parameters: &'a Parameters,
    /// Counts the blocks that are summed.
    pub progress: &'a ProgressBar,
    /// Column and line of each.
    pub pixels: &'a [[usize; 2]],
}

impl PointValues<'_> {
    /// How much the average of each pixel changes on the whole path. Both ends have the same random
    /// samples.
    ///
    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn change(&self, samples: usize, random: &mut Rng) -> CliResult<Vec<f64>> {
        let groups = samples.div_ceil(SAMPLES_TOGETHER);
        let mut change = self.sum_blocks(groups, random, |group, random, sums| {
            let offsets = self.parameters.offsets(random);
            let first = group * SAMPLES_TOGETHER;
            let together = samples.min(first + SAMPLES_TOGETHER) - first;
            let places = (0..together).flat_map(|_| self.places(random, |_| [true; 2]));
            let places: Vec<[f64; 2]> = places.collect();
            let places = self.shader_places(&places);
            for end in [-1.0, 1.0] {
                let values = self.parameters.values(end, &offsets);
                let instance = self.parameters.instance(self.parameters.centre(), &values);
                let values = self.outputs(&instance, &places)?;
                for values in values.chunks(self.pixels.len()) {
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += end * value;
                    }
                }
            }
            Ok(())
        })?;
        change.iter_mut().for_each(|sum| *sum /= samples as f64);
        Ok(change)
    }

    /// The gradient by some rules, integrated over the path at the middles of equal parts.
    ///
    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn integral(
        &self,
        rules: &Rules<'_>,
        places: usize,
        random: &mut Rng,
    ) -> CliResult<Vec<f64>> {
        let places = places.div_ceil(rules.places_together(self.parameters));
        let mut integral = self.sum_blocks(places, random, |place, random, sums| {
            let along = (2 * place + 1) as f64 / places as f64 - 1.0;
            let values = self
                .parameters
                .values(along, &self.parameters.offsets(random));
            rules.add(self, &values, random, sums)
        })?;
        integral.iter_mut().for_each(|sum| *sum /= places as f64);
        Ok(integral)
    }

    /// By pixel, the axis that supplies its gradient by the rules `pair`, in the middle of the
    /// path.
    ///
    /// # Errors
    /// If Ctrl-C was pressed.
    pub fn axes(&self, pair: &JumpGradient) -> CliResult<Vec<usize>> {
        let values = self
            .parameters
            .values(0.0, &vec![0.0; self.parameters.count()]);
        let own = Instance::new(pair.smooth().program());
        let places = self.places(&mut Rng::with_seed(0), |_| [false; 2]);
        let planes = self.programs.gradient.planes_at(places.iter().copied());
        let globals = self.programs.gradient.batch_globals(&planes);
        let batch = JumpBatch::new(pair, &self.parameters.instance(&own, &values));
        let batch = batch.setup(self.programs.setup.clone());
        let found = batch.points(&globals, 0..places.len(), || self.programs.host());
        self.programs.check_interrupt()?;
        let mut axes = vec![0; places.len()];
        for found in found.map_err(CliError::usage)? {
            axes[found.point] = found.axis.unwrap_or(0);
        }
        Ok(axes)
    }

    /// A place of each pixel: its middle, moved at random by up to 1 along those axes that it is
    /// moved along, by the number of the pixel.
    pub fn places(&self, random: &mut Rng, is_moved: impl Fn(usize) -> [bool; 2]) -> Vec<[f64; 2]> {
        let mut place = |(number, pixel): (usize, &[usize; 2])| {
            let moved = is_moved(number);
            [0, 1].map(|axis| {
                let offset = match moved[axis] {
                    true => 2.0 * random.f64() - 1.0,
                    false => 0.0,
                };
                pixel[axis] as f64 + PIXEL_CENTRE[axis] + offset
            })
        };
        self.pixels.iter().enumerate().map(&mut place).collect()
    }

    /// Places with the globals of the shader there.
    pub fn shader_places(&self, places: &[[f64; 2]]) -> ShaderPlaces {
        ShaderPlaces {
            count: places.len(),
            planes: self.programs.shader.planes_at(places.iter().copied()),
        }
    }

    /// The sum of all floats of the shader's outputs at each place.
    ///
    /// # Errors
    /// If the engine cannot run the shader.
    pub fn outputs(&self, instance: &Instance, places: &ShaderPlaces) -> CliResult<Vec<f64>> {
        let outputs = instance.program().outputs().iter();
        let floats = outputs.flat_map(|output| {
            let floats = output.ty.float_scalars().into_iter();
            floats.map(|scalar| (output.name.as_str(), scalar))
        });
        let floats: Vec<(&str, usize)> = floats.collect();
        let mut values = vec![vec![0.0_f32; places.count]; floats.len()];
        let mut outputs = output_planes(&floats, &mut values);
        let done = WholeBatch::new(instance)
            .setup(self.programs.setup.clone())
            .planes(
                &self.programs.shader.batch_globals(&places.planes),
                0..places.count,
                &mut outputs,
                || self.programs.host(),
            );
        done.map_err(CliError::usage)?;
        let sum = |at: usize| values.iter().map(|plane| f64::from(plane[at])).sum();
        Ok((0..places.count).map(sum).collect())
    }

    /// Sums over samples, by pixel. The random numbers of a block are its own, and the sums of
    /// blocks are added in their order.
    fn sum_blocks(
        &self,
        samples: usize,
        random: &mut Rng,
        add: impl Fn(usize, &mut Rng, &mut [f64]) -> CliResult + Sync,
    ) -> CliResult<Vec<f64>> {
        let blocks: Vec<(Range<usize>, Rng)> = (0..BLOCKS)
            .map(|block| {
                let bound = |block: usize| block * samples / BLOCKS;
                (bound(block)..bound(block + 1), random.fork())
            })
            .collect();
        let sum = |(samples, mut random): (Range<usize>, Rng)| {
            let mut sums = vec![0.0; self.pixels.len()];
            for sample in samples {
                if self.programs.interrupt.is_pressed() {
                    break;
                }
                add(sample, &mut random, &mut sums)?;
            }
            self.progress.inc(1);
            Ok(sums)
        };
        if self.pixels.is_empty() {
            return Ok(Vec::new());
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.programs.threads);
        let pool = pool.build().map_err(CliError::usage)?;
        let sums: CliResult<Vec<Vec<f64>>> =
            pool.install(|| blocks.into_par_iter().map(sum).collect());
        if self.programs.interrupt.is_pressed() {
            self.progress.finish_and_clear();
        }
        self.programs.check_interrupt()?;
        let mut all = vec![0.0; self.pixels.len()];
        for sums in sums? {
            all.iter_mut().zip(sums).for_each(|(all, sum)| *all += sum);
        }
        Ok(all)
    }
}

/// Places with the globals of a shader there.
pub struct ShaderPlaces {
    count: usize,
    planes: GlobalPlanes,
}

/// The planes of floats of outputs.
pub fn output_planes<'p>(
    floats: &[(&'p str, usize)],
    planes: &'p mut [Vec<f32>],
) -> Vec<OutputPlane<'p>> {
    let planes = floats.iter().zip(planes);
    planes
        .map(|(&(output, scalar), plane)| OutputPlane::new(output, Part::Value, scalar, plane, 1))
        .collect()
}
