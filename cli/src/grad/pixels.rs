//! The points that a gradient is evaluated at, and its sums over them.

use super::{GradJob, gradient_output, seed_globals};
use crate::args::image::PixelPosition;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::image::{GlobalPlanes, PIXEL_CENTRE, PixelGrid, Textures};
use crate::report;
use crate::setup::Setup;
use adumbra::batch::{BatchReport, BatchSetup, OutputPlane, OutputSums, Part, WholeBatch};
use adumbra::gradient::Gradient;
use adumbra::host::MessageId;
use adumbra::{Evaluator, Globals, Host, Program, SampleRequest, Sampled};
use std::ops::Range;

/// Pixels whose globals are in memory at a time.
const BAND: usize = 1 << 20;

/// The points of a gradient.
pub enum GradPoints {
    /// One, with these globals.
    One(Globals),
    /// The pixels of an image, of which one alone may be meant.
    Image(Box<PixelGrid>, Option<usize>),
}

/// The sums over all points.
pub struct GradSums {
    /// Of the outputs that are differentiated, and of the gradient by each parameter.
    pub sums: OutputSums,
    pub report: BatchReport,
    pub points: usize,
}

impl GradPoints {
    /// The pixels of an image, or one of them.
    ///
    /// # Errors
    /// If the pixel is not in the image.
    pub fn of_image(
        grid: PixelGrid,
        at: Option<PixelPosition>,
        setup: &Setup,
        program: &Program,
    ) -> CliResult<GradPoints> {
        let grid = grid.for_program(setup, program)?;
        let at = at.map(|at| at.within(grid.size())).transpose();
        let at = at.map_err(CliError::usage)?;
        let pixel = at.map(|[x, y]| y * grid.size().width() as usize + x);
        Ok(GradPoints::Image(Box::new(grid), pixel))
    }

    /// The same points with the seeds of the outputs.
    pub fn with_seeds(mut self, gradient: &Gradient, seeds: &[Vec<f32>]) -> GradPoints {
        let globals = match &mut self {
            GradPoints::One(globals) => globals,
            GradPoints::Image(grid, _) => grid.globals_mut(),
        };
        for (output, seeds) in gradient.outputs().iter().zip(seeds) {
            for (name, first, count) in seed_globals(output) {
                let member = globals.layout().member(name).expect("it has the seeds");
                let word = member.value_offset() / 4;
                let words = seeds[first..][..count].iter().map(|seed| seed.to_bits());
                for (to, seed) in globals.words_mut()[word..].iter_mut().zip(words) {
                    *to = seed;
                }
            }
        }
        self
    }

    /// The numbers of the points.
    pub fn numbers(&self) -> Range<usize> {
        match self {
            GradPoints::One(_) => 0..1,
            GradPoints::Image(_, Some(pixel)) => *pixel..*pixel + 1,
            GradPoints::Image(grid, None) => 0..grid.size().pixels(),
        }
    }

    /// What varies at some points.
    fn planes(&self, points: &Range<usize>) -> GlobalPlanes {
        match self {
            GradPoints::One(_) => GlobalPlanes::new(),
            GradPoints::Image(grid, _) => {
                let width = grid.size().width() as usize;
                let positions: Vec<[usize; 2]> =
                    points.clone().map(|at| [at % width, at / width]).collect();
                grid.planes(&positions, PIXEL_CENTRE)
            }
        }
    }

    /// The globals of each of some points in turn.
    pub fn for_each_point(&self, points: Range<usize>, mut visit: impl FnMut(&Globals)) {
        match self {
            GradPoints::One(globals) => visit(globals),
            GradPoints::Image(grid, _) => {
                let planes = self.planes(&points);
                let mut globals = grid.globals();
                for at in 0..points.len() {
                    grid.fill_point(&planes, at, &mut globals);
                    visit(&globals);
                }
            }
        }
    }
}

/// The host of a gradient's points.
struct GradHost<'a> {
    textures: &'a Textures,
    interrupt: &'a Interrupt,
}

impl Host for GradHost<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.textures.sample(request).into()
    }

    // The shader is run for its derivative: what it prints is printed by `run` and `image`.
    fn message(&mut self, _: MessageId, _: &[u32]) {}

    fn is_cancelled(&mut self) -> bool {
        self.interrupt.is_pressed()
    }
}

impl GradJob<'_> {
    fn host(&self) -> GradHost<'_> {
        GradHost {
            textures: self.textures,
            interrupt: self.interrupt,
        }
    }

    /// The names of the outputs that are summed: those that are differentiated, and the gradients.
    pub fn summed(&self) -> Vec<&str> {
        let outputs = self.gradient.outputs().iter();
        let parameters = self.gradient.parameters().iter();
        let outputs = outputs.map(|output| output.name.as_str());
        outputs
            .chain(parameters.filter_map(|parameter| gradient_output(&parameter.value)))
            .collect()
    }

    /// The sums over all points.
    ///
    /// # Errors
    /// If the engine cannot run the program, or Ctrl-C was pressed.
    pub fn sums(&self) -> CliResult<GradSums> {
        let numbers = self.points.numbers();
        let program = self.gradient.program();
        let summed = self.summed();
        let mut all = OutputSums::new(program, &summed).map_err(CliError::usage)?;
        let mut whole = BatchReport::default();
        for start in numbers.clone().step_by(BAND) {
            let band = start..numbers.end.min(start + BAND);
            let (sums, report) = self.band(&band, &summed)?;
            if self.interrupt.is_pressed() {
                report::message("interrupted");
                return Err(CliError::Interrupted);
            }
            all.join(sums).expect("bands are of different points");
            whole.join(report);
        }
        Ok(GradSums {
            sums: all,
            report: whole,
            points: numbers.len(),
        })
    }

    /// The sums over a band of points.
    fn band(&self, band: &Range<usize>, summed: &[&str]) -> CliResult<(OutputSums, BatchReport)> {
        let Some(batch) = self.batch() else {
            return self.single_points(band, summed);
        };
        let planes = self.points.planes(band);
        let batch = batch.numbered_from(band.start as u64);
        let globals = self.batch_globals(&planes);
        let found = batch.sums(&globals, 0..band.len(), summed, || self.host());
        found.map_err(CliError::usage)
    }

    fn batch_globals<'p>(&self, planes: &'p GlobalPlanes) -> adumbra::batch::BatchGlobals<'p> {
        match &self.points {
            GradPoints::One(globals) => adumbra::batch::BatchGlobals::uniform_from(globals),
            GradPoints::Image(grid, _) => grid.batch_globals(planes),
        }
    }

    /// Batches by the engine that was chosen; `None` for those of single points.
    fn batch(&self) -> Option<WholeBatch> {
        let setup = BatchSetup {
            limits: self.setup.limits(self.instance.program()),
            tier: self.setup.engine.tier()?,
            ..BatchSetup::default()
        };
        let threads = self.args.threads.map_or(0, usize::from);
        Some(WholeBatch::new(self.instance).setup(setup).threads(threads))
    }

    /// The same by an engine of single points.
    fn single_points(
        &self,
        band: &Range<usize>,
        summed: &[&str],
    ) -> CliResult<(OutputSums, BatchReport)> {
        let mut evaluator = self.setup.evaluator(self.instance)?;
        let mut sums = OutputSums::new(self.instance.program(), summed).map_err(CliError::usage)?;
        let mut report = BatchReport::default();
        let mut numbers = band.clone();
        self.points.for_each_point(band.clone(), |globals| {
            let outcome = evaluator.evaluate(globals, &mut self.host());
            let number = numbers.next().expect("one for each point");
            report.add(number, outcome, evaluator.faults());
            let words = evaluator.words(Part::Value).expect("values are there");
            sums.add_point(number as u64, words);
        });
        sums.add_gradients(&evaluator.take_gradients());
        Ok((sums, report))
    }

    /// The floats of the gradient by a parameter at each pixel.
    ///
    /// # Errors
    /// As [`sums`](GradJob::sums).
    pub fn pixels(&self, parameter: usize) -> CliResult<Vec<[f32; 4]>> {
        let value = &self.gradient.parameters()[parameter].value;
        let name = gradient_output(value).expect("buffers have no images");
        let channels = value.ty.scalar_count();
        let numbers = self.points.numbers();
        let mut pixels = vec![[0.0; 4]; numbers.len()];
        let batch = self.batch();
        for start in numbers.clone().step_by(BAND) {
            let band = start..numbers.end.min(start + BAND);
            let to = &mut pixels[start - numbers.start..][..band.len()];
            match &batch {
                Some(batch) => {
                    let planes = self.points.planes(&band);
                    let globals = self.batch_globals(&planes);
                    let mut channel_planes = vec![vec![0.0_f32; band.len()]; channels];
                    let mut outputs: Vec<OutputPlane<'_>> = (channel_planes.iter_mut().enumerate())
                        .map(|(at, plane)| OutputPlane::new(name, Part::Value, at, plane, 1))
                        .collect();
                    let written =
                        batch.planes(&globals, 0..band.len(), &mut outputs, || self.host());
                    written.map_err(CliError::usage)?;
                    for (channel, plane) in channel_planes.iter().enumerate() {
                        for (pixel, number) in to.iter_mut().zip(plane) {
                            pixel[channel] = *number;
                        }
                    }
                }
                None => self.single_pixels(band, name, to)?,
            }
            if self.interrupt.is_pressed() {
                report::message("interrupted; nothing was written");
                return Err(CliError::Interrupted);
            }
        }
        Ok(pixels)
    }

    fn single_pixels(&self, band: Range<usize>, name: &str, to: &mut [[f32; 4]]) -> CliResult {
        let mut evaluator: Evaluator = self.setup.evaluator(self.instance)?;
        let mut to = to.iter_mut();
        self.points.for_each_point(band, |globals| {
            evaluator.evaluate(globals, &mut self.host());
            let mut outputs = evaluator.outputs();
            let output = outputs.find(|output| output.name() == name);
            let words = output.expect("it is there").value().words();
            if let Some(pixel) = to.next() {
                for (channel, word) in pixel.iter_mut().zip(words) {
                    *channel = f32::from_bits(word);
                }
            }
        });
        Ok(())
    }
}
