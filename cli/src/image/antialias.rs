//! `--antialias edges`: each edge between pixels is located, and a pixel shows what lies beyond by
//! its share of the surroundings.

use super::draw::DrawJob;
use super::grid::PIXEL_CENTRE;
use super::output_choice::ShownOutput;
use crate::args::image::{Antialiasing, ImageArgs};
use crate::buffers::set_buffers;
use crate::error::{CliError, CliResult};
use crate::grad::GradHost;
use crate::load::report_compile_error;
use crate::report::{self, OutputFormat};
use crate::run::unfolded_instance;
use adumbra::batch::{BatchSetup, OutputPlane, Part};
use adumbra::diagnostics::Code;
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpGradient, JumpReport, JumpRules};
use adumbra::{Diagnostic, Instance, Program, Scalar};

/// Pixels whose planes are in memory at a time, but for whole lines around them.
const BAND: usize = 1 << 18;

/// What finds the edges of a shader's images.
pub struct EdgeAntialiasing {
    jumps: JumpGradient,
    instance: Instance,
    /// Whether neighbours are the pixels of the image.
    are_pixels: bool,
}

impl EdgeAntialiasing {
    /// That of an output; none if it is not asked for, or nothing moves over the image.
    ///
    /// # Errors
    /// If the output is no float, or the program has no edges that can be looked for.
    pub fn new(
        args: &ImageArgs,
        program: &Program,
        output: &ShownOutput,
    ) -> CliResult<Option<EdgeAntialiasing>> {
        let Some(Antialiasing { spacing }) = args.antialias else {
            return Ok(None);
        };
        if output.scalar != Scalar::F32 {
            return Err(CliError::usage(format!(
                "the output `{}` is no float: there is no mean of it",
                output.name
            )));
        }
        let members = program.globals().members().iter();
        let mut moving = members.filter(|member| {
            !member.ty().float_scalars().is_empty() && program.reads(member.name())
        });
        let Some(moving) = moving.next() else {
            return Ok(None);
        };
        // What it is by does not matter: edges are those of the output.
        let request = GradientRequest::new()
            .of(output.name.as_str())
            .by_global(moving.name());
        let axes = [0, 1].map(|at| Axis::new("pixel", at, spacing));
        let jumps = program.jump_gradient(&request, &axes, JumpRules::Edge);
        let jumps =
            jumps.map_err(|refused| report_compile_error(refused, None, OutputFormat::Text))?;
        let mut instance = unfolded_instance(&args.arguments, jumps.smooth().program())?;
        set_buffers(&args.buffers, &mut instance)?;
        Ok(Some(EdgeAntialiasing {
            jumps,
            instance,
            are_pixels: spacing == 1.0,
        }))
    }

    /// What of the output jumps unseen.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let ends = self.jumps.ends().iter();
        let unseen = [Code::VaryingEquality, Code::UnmovedAxis];
        ends.filter(|end| unseen.contains(&end.code))
            .cloned()
            .collect()
    }

    /// Antialiases the pixels of an image that was drawn.
    ///
    /// # Errors
    /// If the engine cannot run the program, or Ctrl-C was pressed.
    pub fn apply(&self, job: &DrawJob<'_>, pixels: &mut [[f32; 4]]) -> CliResult {
        let grid = job.grid.clone();
        let grid = grid.for_program(job.setup, self.jumps.smooth().program())?;
        // Neighbours are the pixels of the image, though they are not in the region.
        let frame = job.region.grown(1);
        let (width, count) = (frame.size().width() as usize, frame.size().pixels());
        let own = job.region.start()[1] - frame.start()[1];
        let first = own as usize * width;
        let end = first + job.region.size().height() as usize * width;
        let mut whole = JumpReport::default();
        for start in (first..end).step_by(BAND) {
            let band = start..end.min(start + BAND);
            // The pixels a line away are neighbours, too.
            let around = start.saturating_sub(width)..count.min(band.end + width);
            let positions: Vec<[usize; 2]> = around.clone().map(|at| frame.place(at)).collect();
            // Of the frame's pixels those that are in the region.
            let drawn: Vec<Option<usize>> = (band.clone())
                .map(|at| job.region.pixel(frame.place(at)))
                .collect();
            let planes = grid.planes(&positions, PIXEL_CENTRE);
            let mut values: Vec<Vec<f32>> = (0..job.output.channels)
                .map(|channel| {
                    let value = |at: &Option<usize>| at.map_or(0.0, |at| pixels[at][channel]);
                    drawn.iter().map(value).collect()
                })
                .collect();
            let mut outputs: Vec<OutputPlane<'_>> = (values.iter_mut().enumerate())
                .map(|(channel, plane)| {
                    OutputPlane::new(&job.output.name, Part::Value, channel, plane, 1)
                })
                .collect();
            let mut batch = JumpBatch::new(&self.jumps, &self.instance)
                .setup(BatchSetup {
                    limits: job.setup.limits(self.instance.program()),
                    ..BatchSetup::default()
                })
                .engine(job.setup.engine)
                .threads(job.pool.current_num_threads())
                .numbered_from(around.start as u64);
            if self.are_pixels {
                batch = batch.image(width, 0..around.len());
            }
            let own = start - around.start..band.end - around.start;
            let globals = grid.batch_globals(&planes);
            let host = || GradHost {
                textures: job.textures,
                interrupt: job.interrupt,
            };
            let found = batch.antialias(&globals, own, &mut outputs, host);
            whole.join(found.map_err(CliError::usage)?);
            if job.interrupt.is_pressed() {
                report::message("interrupted; nothing was written");
                return Err(CliError::Interrupted);
            }
            for (at, pixel) in drawn.into_iter().enumerate() {
                let Some(pixel) = pixel else { continue };
                for (channel, plane) in values.iter().enumerate() {
                    pixels[pixel][channel] = plane[at];
                }
            }
        }
        if let Some(first) = whole.first_nullified {
            let [x, y] = frame.place(first);
            let beside = match frame == job.region {
                true => "",
                false => ", of the region and right beside it,",
            };
            report::message(&format!(
                "{} pixels{beside} have too many edges beside them, which stay as they are; the first is ({x}, {y})",
                whole.nullified
            ));
        }
        Ok(())
    }
}
