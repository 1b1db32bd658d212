//! Draws every pixel of an image's region: tiles, shared out among threads. A pixel's result
//! depends neither on the threads, nor on the tiles, nor on the region.

use super::grid::{GlobalPlanes, PixelGrid};
use super::host::TileHost;
use super::output_choice::ShownOutput;
use super::tally::{FaultTally, MessageTally};
use super::textures::Textures;
use super::tile::Tile;
use super::view::PixelSample;
use crate::args::image::ViewName;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::setup::Setup;
use adumbra::{
    Evaluator, Globals, Instance,
    batch::{BatchEvaluator, BatchSetup, Part},
    derivatives::Corner,
    host::Faults,
    inspect::Stats,
};
use adumbra_image::ImageRegion;
use indicatif::ProgressBar;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pixels along the side of a tile.
pub const TILE_SIDE: usize = 64;

/// The inputs of a drawing.
pub struct DrawJob<'a> {
    pub setup: &'a Setup,
    pub instance: &'a Instance,
    pub grid: &'a PixelGrid,
    /// The pixels of the grid that are drawn.
    pub region: ImageRegion,
    pub output: &'a ShownOutput,
    pub view: ViewName,
    pub textures: &'a Textures,
    pub interrupt: &'a Interrupt,
    /// The number of points along each side of a pixel.
    pub samples: u32,
    /// The threads.
    pub pool: &'a ThreadPool,
}

/// That many threads; with 0 as many as suit the machine.
///
/// # Errors
/// If the system has none to give.
pub fn thread_pool(threads: usize) -> CliResult<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads);
    pool.build().map_err(CliError::usage)
}

/// A drawn region of an image, with its stopped pixels, messages and faults. Its pixels are
/// numbered row by row.
#[derive(Debug, Default)]
pub struct DrawnImage {
    /// The colour of each pixel, row by row.
    pub pixels: Vec<[f32; 4]>,
    /// Pixels whose points were stopped, rising.
    pub stopped: Vec<usize>,
    pub faults: FaultTally,
    pub messages: MessageTally,
    /// The statistics of one of the evaluators in the end.
    pub stats: Option<Stats>,
}

impl DrawJob<'_> {
    /// Whether derivatives come from neighbours.
    pub fn is_in_quads(&self) -> bool {
        self.instance.program().quad().is_some()
    }

    /// The parts of outputs that the program computes; views show no others.
    fn parts(&self) -> &'static [Part] {
        match self.instance.program().output_derivatives() {
            true => &Part::ALL,
            false => &[Part::Value],
        }
    }
}

/// Draws all pixels of the region, in tiles of `tile` pixels a side; one more, if quads would not
/// be whole.
///
/// # Errors
/// If the engine cannot run the program, or Ctrl-C was pressed.
pub fn draw_image(job: &DrawJob<'_>, tile: usize) -> CliResult<DrawnImage> {
    let in_quads = job.is_in_quads();
    let tile = tile.next_multiple_of(if in_quads { 2 } else { 1 });
    let end = job.region.end().map(|end| end as usize);
    let start = job.region.start().map(|start| start as usize);
    // Quads begin at even columns and rows.
    let start = start.map(|start| if in_quads { start / 2 * 2 } else { start });
    let [across, down] = [0, 1].map(|axis| (end[axis] - start[axis]).div_ceil(tile));
    let tiles = across * down;
    let progress = ProgressBar::new(tiles as u64);
    let next = AtomicUsize::new(0);
    let drawn = Mutex::new(DrawnImage {
        pixels: vec![[0.0; 4]; job.region.size().pixels()],
        ..DrawnImage::default()
    });
    let work = || -> CliResult {
        let mut painter = TilePainter::new(job)?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= tiles || job.interrupt.is_pressed() {
                let mut drawn = drawn.lock().expect("no thread panics");
                drawn.stats = Some(painter.stats());
                return Ok(());
            }
            let [column, row] = [index % across, index / across];
            let corner = [start[0] + column * tile, start[1] + row * tile];
            let tile = Tile::new(job.region, corner, tile, in_quads);
            let part = painter.mean(&tile);
            let mut drawn = drawn.lock().expect("no thread panics");
            for (&pixel, seen) in tile.pixels.iter().zip(part.pixels) {
                if let Some(pixel) = pixel {
                    drawn.pixels[pixel] = seen;
                }
            }
            drawn.stopped.extend(part.stopped);
            drawn.faults.merge(part.faults);
            drawn.messages.merge(part.messages);
            progress.inc(1);
        }
    };
    let results = job.pool.broadcast(|_| work());
    progress.finish_and_clear();
    results.into_iter().collect::<CliResult>()?;
    if job.interrupt.is_pressed() {
        crate::report::message("interrupted; nothing was written");
        return Err(CliError::Interrupted);
    }
    let mut drawn = drawn.into_inner().expect("no thread panics");
    drawn.stopped.sort_unstable();
    Ok(drawn)
}

/// The state of one drawing thread.
struct TilePainter<'a> {
    job: &'a DrawJob<'a>,
    engine: TileEngine,
}

/// An engine, and the memory for its points.
enum TileEngine {
    Batch(Box<BatchEvaluator>),
    /// The globals of one point, or of a quad.
    Single(Box<Evaluator>, Vec<Globals>),
}

/// The results of the points of a tile: of the shown output, the words of value, ddx and ddy of
/// each channel.
type Words = [[Vec<u32>; 4]; 3];

impl<'a> TilePainter<'a> {
    fn new(job: &'a DrawJob<'a>) -> CliResult<TilePainter<'a>> {
        let engine = match job.setup.engine.tier() {
            Some(tier) => {
                let setup = BatchSetup {
                    limits: job.setup.limits(job.instance.program()),
                    tier,
                    ..BatchSetup::default()
                };
                let evaluator = BatchEvaluator::with(job.instance, &setup);
                TileEngine::Batch(Box::new(evaluator.map_err(CliError::usage)?))
            }
            None => {
                let evaluator = job.setup.evaluator(job.instance)?;
                let points = if job.is_in_quads() { 4 } else { 1 };
                TileEngine::Single(Box::new(evaluator), vec![job.grid.globals(); points])
            }
        };
        Ok(TilePainter { job, engine })
    }

    fn stats(&self) -> Stats {
        match &self.engine {
            TileEngine::Batch(evaluator) => evaluator.stats(),
            TileEngine::Single(evaluator, _) => evaluator.stats(),
        }
    }

    /// Draws all points of these pixels, and gives each pixel their mean. Messages are those of its
    /// first point.
    fn mean(&mut self, tile: &Tile) -> DrawnImage {
        let side = self.job.samples;
        let middle = |index: u32| (f64::from(index) + 0.5) / f64::from(side);
        let position = |sample: u32| [middle(sample % side), middle(sample / side)];
        let mut all = self.draw(tile, position(0));
        if side == 1 {
            return all;
        }
        let mut sums: Vec<[f64; 4]> = all.pixels.iter().map(|seen| seen.map(f64::from)).collect();
        for sample in 1..side * side {
            let drawn = self.draw(tile, position(sample));
            for (sum, seen) in sums.iter_mut().zip(drawn.pixels) {
                *sum = std::array::from_fn(|channel| sum[channel] + f64::from(seen[channel]));
            }
            all.stopped.extend(drawn.stopped);
            all.faults.merge_sample(drawn.faults);
        }
        let count = f64::from(side * side);
        all.pixels = (sums.into_iter())
            .map(|sum| sum.map(|sum| (sum / count) as f32))
            .collect();
        all.stopped.sort_unstable();
        all.stopped.dedup();
        all
    }

    /// Draws a point of each of these pixels; results of others in their quads are dropped.
    fn draw(&mut self, tile: &Tile, point: [f64; 2]) -> DrawnImage {
        let job = self.job;
        let pixels = &tile.pixels;
        let planes = job.grid.planes(&tile.positions, point);
        let mut host = TileHost::new(job.textures, job.interrupt, pixels);
        let mut words: Words = Default::default();
        let mut drawn = DrawnImage::default();
        let mut meet = |point: usize, faults: &Faults| {
            let Some(pixel) = pixels[point] else {
                return;
            };
            if !faults.is_empty() {
                drawn.faults.add(pixel, faults);
            }
            if faults.stopped().is_some() {
                drawn.stopped.push(pixel);
            }
        };
        for part in &mut words {
            part[..job.output.channels].fill(vec![0; pixels.len()]);
        }
        match &mut self.engine {
            TileEngine::Batch(evaluator) => {
                let helpers = &tile.helpers;
                chunks(
                    job, evaluator, &planes, helpers, &mut host, &mut words, &mut meet,
                );
            }
            TileEngine::Single(evaluator, globals) => {
                for first in (0..pixels.len()).step_by(globals.len()) {
                    for (point, globals) in (first..).zip(&mut *globals) {
                        job.grid.fill_point(&planes, point, globals);
                    }
                    host.set_first_point(first);
                    if let [a, b, c, d] = &globals[..] {
                        let helpers = std::array::from_fn(|at| tile.helpers[first + at]);
                        evaluator.evaluate_quad([a, b, c, d], helpers, &mut host);
                    } else {
                        evaluator.evaluate(&globals[0], &mut host);
                    }
                    for (point, corner) in (first..).zip(Corner::ALL).take(globals.len()) {
                        if globals.len() > 1 {
                            evaluator.show(corner);
                        }
                        for (&part, channels) in job.parts().iter().zip(&mut words) {
                            let given = evaluator.words(part).expect("it is computed");
                            let given = given.skip(job.output.first_scalar);
                            let channels = channels[..job.output.channels].iter_mut();
                            for (plane, word) in channels.zip(given) {
                                plane[point] = word;
                            }
                        }
                        meet(point, evaluator.faults());
                    }
                }
            }
        }
        for (point, &level) in host.levels.iter().enumerate() {
            let seen = PixelSample {
                output: job.output,
                word: |part: Part, channel: usize| words[part as usize][channel][point],
                level,
            };
            drawn.pixels.push(seen.numbers(job.view));
        }
        drawn.messages = host.messages;
        drawn
    }
}

/// Evaluates the points of a tile in chunks.
fn chunks(
    job: &DrawJob<'_>,
    evaluator: &mut BatchEvaluator,
    planes: &GlobalPlanes,
    helpers: &[bool],
    host: &mut TileHost<'_>,
    words: &mut Words,
    meet: &mut dyn FnMut(usize, &Faults),
) {
    let globals = job.grid.batch_globals(planes);
    let points = host.levels.len();
    let width = evaluator.width();
    for first in (0..points).step_by(width) {
        let count = width.min(points - first);
        host.set_first_point(0);
        match job.is_in_quads() {
            true => evaluator.evaluate_quads(&globals, first, &helpers[first..][..count], host),
            false => evaluator.evaluate(&globals, first, count, host),
        }
        for (&part, channels) in job.parts().iter().zip(&mut *words) {
            for (channel, plane) in channels[..job.output.channels].iter_mut().enumerate() {
                let to = &mut plane[first..first + count];
                let copied = evaluator.copy(&job.output.name, part, channel, to, 1);
                copied.expect("the output has the part");
            }
        }
        for point in 0..count {
            meet(first + point, evaluator.faults(point));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use crate::report::OutputFormat;
    use adumbra::{Compiler, Derivatives, Sources, derivatives::Quad, evaluator::Engine};
    use adumbra_image::{ImageSize, RegionCorners};
    use clap::Parser;

    #[test]
    fn tiles_and_regions_do_not_change_pixels() {
        for derivatives in [
            Derivatives::Dual,
            Derivatives::Quad(Quad::Fine),
            Derivatives::Quad(Quad::Coarse(Corner::LowerRight)),
        ] {
            check_tiles_and_regions(derivatives);
        }
    }

    fn check_tiles_and_regions(derivatives: Derivatives) {
        let text = "shader s(out float4 c) { float2 p = global_value<pixel>; float x = p.x;
            while (x > 3) x = x * 0.5 - 1;
            c = float4(p.x, p.y, x, fwidth(x * p.y)); }";
        let cli = Cli::try_parse_from(["adumbra", "image", "s.adu", "-o", "s.png"]);
        let Some(Command::Image(args)) = cli.expect("a command line").command else {
            panic!("image is a command");
        };
        let mut setup = Setup::new(&args.compile).expect("it is fine");
        let size = ImageSize::new(70, 41).expect("it has pixels");
        let grid = PixelGrid::new(&mut setup, size, 0.0, false).expect("few globals");
        setup.options.derivatives = derivatives;
        let compiler = Compiler::new(setup.layout.clone()).with_options(setup.options.clone());
        let program = compiler
            .compile(&Sources::new("s.adu", text))
            .expect("it is fine");
        let grid = grid.for_program(&setup, &program);
        let grid = grid.expect("it was compiled for it");
        let shown =
            super::super::output_choice::choose_output(&program, None).expect("there is one");
        let sources = program.sources().expect("it was compiled");
        let format = OutputFormat::Text;
        let textures = Textures::load(&program, sources, &[], format, &mut Vec::new());
        let textures = textures.expect("there are none");
        let instance = Instance::new(&program);
        let interrupt = Interrupt::default();
        let pool = thread_pool(3).expect("the system has threads");
        let mut bits = |engine: Engine, region: ImageRegion, tile: usize| {
            setup.engine = engine;
            let job = DrawJob {
                setup: &setup,
                instance: &instance,
                grid: &grid,
                region,
                output: &shown,
                view: ViewName::Value,
                textures: &textures,
                interrupt: &interrupt,
                samples: 1,
                pool: &pool,
            };
            let drawn = draw_image(&job, tile).expect("nothing interrupts");
            assert!(drawn.stats.is_some());
            drawn
                .pixels
                .into_iter()
                .map(|pixel| pixel.map(f32::to_bits))
                .collect::<Vec<_>>()
        };
        let image = ImageRegion::whole(size);
        let whole = bits(Engine::Batch, image, 100);
        for tile in [1, 7, 16, TILE_SIDE] {
            for engine in [Engine::Batch, Engine::Auto] {
                assert!(bits(engine, image, tile) == whole, "{tile}, {engine:?}");
            }
        }
        for corners in [
            [1, 1, 70, 41],
            [13, 7, 46, 8],
            [69, 40, 70, 41],
            [0, 3, 2, 36],
        ] {
            let region = RegionCorners(corners).within(size).expect("it is inside");
            let part = (0..region.size().pixels()).map(|pixel| region.place(pixel));
            let part = part.map(|place| whole[image.pixel(place).expect("it is inside")]);
            let part: Vec<_> = part.collect();
            for (engine, tile) in [(Engine::Point, 16), (Engine::Batch, 7), (Engine::Auto, 64)] {
                assert!(bits(engine, region, tile) == part, "{region}, {engine:?}");
            }
        }
    }
}
