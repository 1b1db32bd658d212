//! Evaluates a gradient: its numbers at all points, their sums, and the sums of buffers.

use super::fill::{FilledProgram, OutputScalar, add_scalars, output_planes};
use super::seeds::Seeds;
use super::{GradJob, gradient_output};
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::image::Textures;
use crate::report;
use adumbra::batch::{BatchReport, BatchSetup, PlaneSums, SumFaults};
use adumbra::gradient::{BufferGradients, JumpBatch, JumpReport, Parameter};
use adumbra::host::MessageId;
use adumbra::{Host, SampleRequest, Sampled};
use std::ops::Range;

/// Words of planes that are in memory at a time, but for those that are written to files.
const BAND_WORDS: usize = 1 << 24;

/// The most points of a band.
const MAX_BAND: usize = 1 << 20;

/// Floats of an output of the program, by plane.
struct Slot {
    name: String,
    planes: Range<usize>,
    /// Whether they are multiplied by the seeds of each pixel.
    is_weighted: bool,
}

/// A gradient at all points.
pub struct Evaluated {
    slots: Vec<Slot>,
    sums: PlaneSums,
    buffers: BufferGradients,
    pub report: BatchReport,
    /// What jumps did, if they count.
    pub jumps: Option<JumpReport>,
    pub points: usize,
    /// By plane, its number at each point, if these are wanted and it is one of a gradient.
    planes: Vec<Vec<f32>>,
}

impl Evaluated {
    /// The totals of an output of the program.
    fn total(&self, name: &str) -> Vec<f64> {
        let slot = self.slots.iter().find(|slot| slot.name == name);
        let planes = slot.expect("it is evaluated").planes.clone();
        self.sums.totals()[planes].to_vec()
    }

    /// The gradient by a parameter, summed over the points.
    pub fn gradient(&self, parameter: &Parameter) -> Vec<f64> {
        match gradient_output(&parameter.value) {
            Some(name) => self.total(name),
            None => {
                let sum = self.buffers.of(&parameter.value.name);
                sum.expect("points add to it")
            }
        }
    }

    /// The sum of seed times output over the points.
    pub fn weighted(&self, name: &str, seeds: &Seeds) -> f64 {
        let totals = self.total(name).into_iter();
        let weigh = |sum: f64, (float, total): (usize, f64)| match seeds {
            // What has no weight does not count, also where it is not finite.
            Seeds::Uniform(seeds) if seeds[float] == 0.0 => sum,
            Seeds::Uniform(seeds) => sum + total * f64::from(seeds[float]),
            Seeds::Pixels(..) => sum + total,
        };
        totals.enumerate().fold(0.0, weigh)
    }

    /// The floats of the gradient by a parameter at each point, float by float.
    pub fn planes(&self, parameter: &Parameter) -> &[Vec<f32>] {
        let name = gradient_output(&parameter.value).expect("buffers have sums alone");
        let slot = self.slots.iter().find(|slot| slot.name == name);
        &self.planes[slot.expect("it is evaluated").planes.clone()]
    }

    /// What is wrong with points of sums.
    pub fn faults(&self) -> SumFaults {
        self.sums.faults()
    }

    /// The output that a plane is of.
    pub fn output_of(&self, plane: usize) -> &str {
        let slot = self.slots.iter().find(|slot| slot.planes.contains(&plane));
        slot.map_or("", |slot| &slot.name)
    }
}

/// The host of a gradient's points.
pub struct GradHost<'a> {
    pub textures: &'a Textures,
    pub interrupt: &'a Interrupt,
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
    pub fn host(&self) -> GradHost<'_> {
        GradHost {
            textures: self.textures,
            interrupt: self.interrupt,
        }
    }

    /// Evaluates it at all points; `keeps_points` if the numbers of each are wanted.
    ///
    /// # Errors
    /// If the engine cannot run the program, or Ctrl-C was pressed.
    pub fn evaluate(&self, keeps_points: bool) -> CliResult<Evaluated> {
        let numbers = self.points.points().numbers();
        let outputs = self.gradient.outputs().iter().zip(self.seeds);
        let outputs = outputs.map(|(of, seeds)| {
            let is_weighted = matches!(seeds, Seeds::Pixels(..));
            (of.name.as_str(), is_weighted)
        });
        let gradients = self.gradient.parameters().iter();
        let gradients = gradients.filter_map(|by| Some((gradient_output(&by.value)?, false)));
        let (mut slots, mut scalars): (Vec<Slot>, Vec<OutputScalar<'_>>) = Default::default();
        for (name, is_weighted) in outputs.chain(gradients) {
            let first = scalars.len();
            add_scalars(self.gradient.program(), name, &mut scalars);
            slots.push(Slot {
                name: name.to_owned(),
                planes: first..scalars.len(),
                is_weighted,
            });
        }
        let first_gradient = slots
            .get(self.gradient.outputs().len())
            .map_or(scalars.len(), |slot| slot.planes.start);
        let mut kept = vec![Vec::new(); scalars.len()];
        let mut sums = PlaneSums::new(scalars.len());
        let mut whole = BatchReport::default();
        let mut jumps: Option<JumpReport> = None;
        let mut buffers: Option<BufferGradients> = None;
        let most = (BAND_WORDS / scalars.len().max(1)).clamp(1, MAX_BAND);
        for start in numbers.clone().step_by(most) {
            let band = start..numbers.end.min(start + most);
            let mut planes = vec![vec![0.0_f32; band.len()]; scalars.len()];
            let own = FilledProgram {
                instance: self.instance,
                points: &self.points,
                moved: None,
            };
            let (mut gradients, report) = self.fill(&own, &band, &scalars, &mut planes)?;
            if let Some(differences) = self.differences {
                let gradients = slots[self.gradient.outputs().len()..].iter();
                let gradients = gradients.map(|slot| slot.planes.clone());
                differences.put(self, &band, gradients, &mut planes)?;
            }
            if let Some((more, found)) = self.add_jumps(&band, &scalars, &mut planes)? {
                if let Some(more) = more {
                    gradients.join(&more);
                }
                jumps.get_or_insert_default().join(found);
            }
            if self.interrupt.is_pressed() {
                report::message("interrupted");
                return Err(CliError::Interrupted);
            }
            let weighted = slots.iter().zip(self.seeds);
            for (slot, seeds) in weighted.filter(|(slot, _)| slot.is_weighted) {
                for (float, plane) in planes[slot.planes.clone()].iter_mut().enumerate() {
                    for (number, point) in plane.iter_mut().zip(band.clone()) {
                        let seed = seeds.at(point)[float];
                        *number = if seed == 0.0 { 0.0 } else { *number * seed };
                    }
                }
            }
            let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
            sums.add(band.start as u64, &slices);
            whole.join(report);
            match &mut buffers {
                Some(buffers) => buffers.join(&gradients),
                None => buffers = Some(gradients),
            }
            if keeps_points {
                for (kept, plane) in kept.iter_mut().zip(planes).skip(first_gradient) {
                    match kept.is_empty() {
                        true => *kept = plane,
                        false => kept.extend(plane),
                    }
                }
            }
        }
        Ok(Evaluated {
            slots,
            sums,
            buffers: buffers.expect("there are points"),
            report: whole,
            jumps,
            points: numbers.len(),
            planes: kept,
        })
    }

    /// Adds what jumps do to a band of points, if they count.
    fn add_jumps(
        &self,
        band: &Range<usize>,
        scalars: &[OutputScalar<'_>],
        planes: &mut [Vec<f32>],
    ) -> CliResult<Option<(Option<BufferGradients>, JumpReport)>> {
        let Some(jumps) = self.jumps else {
            return Ok(None);
        };
        let setup = BatchSetup {
            limits: self.setup.limits(self.instance.program()),
            ..BatchSetup::default()
        };
        // The pixels a line away are neighbours, too.
        let width = self.points.points().width();
        let around = match width {
            None => band.clone(),
            Some(width) => {
                let all = self.points.points().numbers();
                let first = band.start.saturating_sub(width).max(all.start);
                first..all.end.min(band.end.saturating_add(width))
            }
        };
        let varying = self.points.planes(&around);
        let mut outputs = output_planes(scalars, planes);
        let mut batch = JumpBatch::new(jumps, self.instance)
            .setup(setup)
            .engine(self.setup.engine)
            .threads(self.args.threads.map_or(0, usize::from))
            .numbered_from(around.start as u64);
        if let Some(width) = width.filter(|_| self.args.axes.is_empty()) {
            batch = batch.image(width, 0..around.len());
        }
        let done = batch.add(
            &self.points.batch_globals(&varying),
            band.start - around.start..band.end - around.start,
            &mut outputs,
            || self.host(),
        );
        done.map(Some).map_err(CliError::usage)
    }
}
