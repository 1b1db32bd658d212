//! `adumbra image FILE -o OUT` draws a shader over a grid of pixels.

mod antialias;
mod draw;
mod grid;
mod host;
mod nan_origin;
mod output_choice;
mod save;
mod surface;
mod tally;
mod textures;
mod tile;
mod trace;
mod view;
mod watch;

use crate::args::image::{FrameTimes, ImageArgs, ViewName};
use crate::args::{CompileArgs, GlobalSet};
use crate::buffers::set_buffers;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::files;
use crate::global_notes;
use crate::image_globals;
use crate::load::{ProgramRequest, load};
use crate::report::{self, OutputFormat};
use crate::run::folded_instance;
use crate::setup::Setup;
use adumbra::{Program, Sources};
use adumbra_image::{Fingerprint, Image, ImageFormat, ImagePart, ImageRegion};
use antialias::EdgeAntialiasing;
use draw::{DrawJob, TILE_SIDE, draw_image, thread_pool};
pub use grid::{GlobalPlanes, PIXEL_CENTRE, PixelGrid};
pub use output_choice::{ShownOutput, choose_output};
use rayon::prelude::*;
use save::{OutputFile, save};
pub use save::{image_format, save_atomically, save_colours, save_numbers};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
pub use textures::Textures;
use view::{ToneMapping, is_scaled};

/// # Errors
/// If the file is at fault, the usage is, or a point was stopped.
pub fn image(args: ImageArgs) -> CliResult {
    let interrupt = Interrupt::default();
    interrupt.listen().map_err(CliError::usage)?;
    image_with_interrupt(args, &interrupt)
}

/// Draws an image where the caller listens to Ctrl-C.
///
/// # Errors
/// As for [`image`].
pub fn image_with_interrupt(args: ImageArgs, interrupt: &Interrupt) -> CliResult {
    let out = args.out.as_deref().map(OutputFile::new).transpose()?;
    check_options(&args)?;
    region(&args)?;
    for path in out.iter().flat_map(|out| image_paths(&args, out)) {
        let textures = args.textures.iter().map(|texture| &*texture.file);
        let read = textures.chain([&*args.file]);
        files::check_no_overwrite([&*path].into_iter(), read)?;
    }
    let is_whole = match args.at {
        Some(pixel) => trace::trace_pixel(&args, pixel, interrupt)?,
        None => true,
    };
    match &out {
        Some(out) if args.watch => watch::watch(&args, out, interrupt)?,
        Some(out) => render(&args, out, interrupt, &mut Vec::new())?,
        None => {}
    }
    match is_whole {
        true => Ok(()),
        false => Err(CliError::Reported),
    }
}

/// Refuses options that mean nothing with, or without, others.
fn check_options(args: &ImageArgs) -> CliResult {
    let is_over = matches!(args.time, Some(FrameTimes::Range(..)));
    let message = match args.frames {
        None if is_over => "`--time A..B` is for several images: say how many by `--frames N`",
        Some(_) if !is_over => "`--frames N` draws images over `--time A..B`",
        Some(_) if args.watch => "`--watch` draws one image, and `--frames` several",
        _ if args.at.is_some() && args.watch => "`--at` follows a pixel once: leave `--watch` out",
        Some(_) if args.at.is_some() => {
            "`--at` follows a pixel of one image: give its time by `--time T`, without `--frames`"
        }
        _ if args.region.is_some() && args.out.is_none() => {
            "`--region` says what is drawn, and without -o nothing is: `--at` is of the whole image"
        }
        _ if args.at.is_some() && args.group => {
            "`--at` follows a pixel of one shader: draw its group without it"
        }
        _ if args.at.is_some() && args.samples > 1 => {
            "`--at` follows the point in the middle of a pixel: with `--samples` a pixel is the mean of others"
        }
        _ if args.samples > 1 && matches!(args.view, ViewName::Lod | ViewName::Nan) => {
            "the views `lod` and `nan` are of single points: there is no mean of `--samples`"
        }
        _ if args.antialias.is_some() => return check_antialiasing(args),
        _ => return Ok(()),
    };
    Err(CliError::usage(message))
}

/// Refuses options that mean nothing with `--antialias`.
fn check_antialiasing(args: &ImageArgs) -> CliResult {
    let message = match args.view {
        _ if args.samples > 1 => {
            "`--antialias` and `--samples` are two ways to soften edges: give one"
        }
        _ if args.at.is_some() => "`--at` follows one point of a pixel: leave `--antialias` out",
        _ if args.surface => {
            "`--antialias` looks for edges in the plane of the image: leave `--surface` out"
        }
        ViewName::Value => return Ok(()),
        _ => "`--antialias` is for `--view value`: other views are of single points",
    };
    Err(CliError::usage(message))
}

/// The pixels of `--region`, or all.
///
/// # Errors
/// If they are not in the image, or have colours that depend on all others.
fn region(args: &ImageArgs) -> CliResult<ImageRegion> {
    let Some(corners) = args.region else {
        return Ok(ImageRegion::whole(args.size));
    };
    let is_png = |out: &PathBuf| ImageFormat::from_path(out) == Some(ImageFormat::Png);
    let is_shown = args.out.as_ref().is_some_and(is_png);
    if is_shown && is_scaled(args.view) && args.scale.is_none() {
        return Err(CliError::usage(
            "the scale of a view in PNG is that of all pixels, and `--region` draws some: give it by `--scale S`, or write an .exr file, which has none",
        ));
    }
    corners.within(args.size).map_err(CliError::usage)
}

/// The files that are written: OUT, or with `--frames` OUT_0001 and so on.
fn image_paths(args: &ImageArgs, out: &OutputFile<'_>) -> Vec<PathBuf> {
    match args.frames {
        None => vec![out.path.to_owned()],
        Some(frames) => numbered_paths(out.path, frames),
    }
}

/// The files of as many images: for `OUT.png` they are `OUT_0001.png` and so on.
pub fn numbered_paths(out: &Path, frames: u32) -> Vec<PathBuf> {
    let text = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = (text(out.file_stem()), text(out.extension()));
    let digits = frames.to_string().len().max(4);
    let numbered = (1..=frames).map(|frame| format!("{stem}_{frame:0digits$}.{ending}"));
    numbered.map(|name| out.with_file_name(name)).collect()
}

/// The setup of an image from the command line, with its program and grid.
struct ImageSetup {
    compile: CompileArgs,
    setup: Setup,
    /// The grid of all globals, at the first time.
    grid: PixelGrid,
    program: Arc<Program>,
    sources: Sources,
}

impl ImageSetup {
    fn new(args: &ImageArgs, derivs: bool) -> CliResult<ImageSetup> {
        let mut compile = args.compile.clone();
        // An image has its own globals at each pixel.
        compile.globals.retain(|&set| set != GlobalSet::Image);
        let mut setup = Setup::new(&compile)?;
        let first = times(args)?.at_frame(0, args.frames.unwrap_or(1));
        let grid = PixelGrid::new(&mut setup, args.size, first, args.surface)?;
        let wanted = ProgramRequest {
            file: &args.file,
            group: args.group,
            shader: args.shader.as_deref(),
            derivs,
            is_evaluated: true,
            texture_slopes: true,
            format: OutputFormat::of(args.json),
        };
        let (program, sources) = load(&wanted, &setup)?;
        Ok(ImageSetup {
            compile,
            setup,
            grid,
            program,
            sources,
        })
    }
}

/// Draws the image, or each of several, once and writes it. Adds the files that it is made from to
/// `read`, as far as it came.
fn render(
    args: &ImageArgs,
    out: &OutputFile<'_>,
    interrupt: &Interrupt,
    read: &mut Vec<PathBuf>,
) -> CliResult {
    let derivs = !matches!(args.view, ViewName::Value | ViewName::Lod);
    let ImageSetup {
        compile,
        setup,
        grid,
        program,
        sources,
    } = ImageSetup::new(args, derivs)?;
    let times = times(args)?;
    read.extend(sources.iter().map(|(_, file)| PathBuf::from(file.name())));
    let grid = grid.for_program(&setup, &program)?;
    let mut instance = folded_instance(&args.arguments, &program)?;
    set_buffers(&args.buffers, &mut instance)?;
    read.extend(args.buffers.iter().map(|buffer| buffer.file.clone()));
    let shown = output_choice::choose_output(&program, args.output.as_deref())?;
    let textures = {
        let first = read.len();
        let format = OutputFormat::Text;
        let textures = Textures::load(&program, &sources, &args.textures, format, read)?;
        let read = read[first..].iter().map(PathBuf::as_path);
        let written = image_paths(args, out);
        files::check_no_overwrite(written.iter().map(PathBuf::as_path), read)?;
        textures
    };
    report::diagnostics_to_stderr(
        &program.warnings_for(&shown.name),
        &sources,
        OutputFormat::Text,
    );
    global_notes::note_inputs(&compile, &program, OutputFormat::Text);
    note_replaced_globals(&compile, &program, OutputFormat::Text);
    let edges = EdgeAntialiasing::new(args, &program, &shown)?;
    if let Some(edges) = &edges {
        report::diagnostics_to_stderr(&edges.warnings(), &sources, OutputFormat::Text);
    }
    let region = region(args)?;
    let pool = thread_pool(args.threads.map_or(0, usize::from))?;
    let files = image_paths(args, out);
    let mut stopped = false;
    for (frame, file) in (0..).zip(&files) {
        let time = times.at_frame(frame, files.len() as u32);
        let grid = match times {
            FrameTimes::Fixed(_) => grid.clone(),
            FrameTimes::Range(..) => grid.clone().at_time(time),
        };
        let job = DrawJob {
            setup: &setup,
            instance: &instance,
            grid: &grid,
            region,
            output: &shown,
            view: args.view,
            textures: &textures,
            interrupt,
            samples: args.samples,
            pool: &pool,
        };
        let file = OutputFile {
            path: file,
            kind: out.kind,
        };
        stopped |= !one(args, &file, (&job, edges.as_ref()), &sources)?;
    }
    match stopped {
        false => Ok(()),
        true => Err(CliError::Reported),
    }
}

/// Draws an image and writes it. Returns whether no pixel of it was stopped.
fn one(
    args: &ImageArgs,
    out: &OutputFile<'_>,
    (job, edges): (&DrawJob<'_>, Option<&EdgeAntialiasing>),
    sources: &Sources,
) -> CliResult<bool> {
    let program = job.instance.program();
    let start = Instant::now();
    let drawn = draw_image(job, TILE_SIDE);
    job.setup.write_perf_map(program)?;
    let mut drawn = drawn?;
    if let Some(edges) = edges {
        edges.apply(job, &mut drawn.pixels)?;
    }
    let seconds = start.elapsed().as_secs_f64();

    let channels = view::view_channels(job.view, job.output);
    let image = Image::from_pixels(job.region.size(), channels, drawn.pixels);
    let mut legend = job
        .pool
        .install(|| write(args, out, job, &image, &drawn.stopped))?;
    if args.view == ViewName::Nan {
        legend += &nan_origin::first_nan_origin(job, sources, image.pixels()).unwrap_or_default();
    }
    drawn.messages.print(program, job.region)?;
    io::stdout().write_all(legend.as_bytes())?;
    drawn.faults.report(sources, job.region);
    if args.view == ViewName::Value {
        job.pool.install(|| note_nan_pixels(image.pixels()));
    }
    if args.compile.stats {
        let stats = drawn.stats.unwrap_or_else(|| program.stats());
        report::stats_to_stderr(&stats, OutputFormat::Text);
        let points = image.pixels().len() * (args.samples * args.samples) as usize;
        let rate = points as f64 / seconds;
        let line = format!("drawing {points} points in {seconds:.3} s, {rate:.0} points/s\n");
        // There is nowhere to report a failure of standard error to.
        let _ = anstream::stderr().write_all(line.as_bytes());
    }
    if !drawn.stopped.is_empty() {
        report::message(&format!(
            "{} of {} pixels were stopped",
            drawn.stopped.len(),
            image.pixels().len()
        ));
    }
    Ok(drawn.stopped.is_empty())
}

/// Notes which globals of the image `-g` replaces.
fn note_replaced_globals(args: &CompileArgs, program: &Program, format: OutputFormat) {
    let moving = image_globals::IMAGE_GLOBALS
        .iter()
        .filter(|global| global.is_varying);
    for global in moving.filter(|global| program.reads(global.name)) {
        let mut settings = args.global_settings.iter();
        let Some(setting) = settings.find(|setting| setting.name == global.name) else {
            continue;
        };
        let name = global.name;
        let effect = match setting.is_shadowless {
            true => {
                "is the same at all pixels: without `-g` it moves over the image, with `:DDX:DDY` as these say"
            }
            false => "moves over the image by these derivatives, from its upper left corner",
        };
        let text = format!("`{name}` is what `-g` says, and {effect}");
        report::note(&text, format);
    }
}

/// Notes how many pixels are NaN, which an image does not show.
fn note_nan_pixels(pixels: &[[f32; 4]]) {
    let is_nan = |pixel: &&[f32; 4]| pixel.iter().any(|x| x.is_nan());
    let count = pixels.par_iter().filter(is_nan).count();
    if count > 0 {
        report::message(&format!(
            "{count} of {} pixels are NaN: `--view nan` shows where",
            pixels.len()
        ));
    }
}

/// The times of `--time`. A global `time` that `-g` sets has its own.
fn times(args: &ImageArgs) -> CliResult<FrameTimes> {
    match args.time {
        Some(_) if args.compile.sets("time") => {
            Err(CliError::usage("the global `time` is given twice"))
        }
        times => Ok(times.unwrap_or(FrameTimes::Fixed(0.0))),
    }
}

/// Writes the file, with the threads of the caller's pool, and returns the legend of its view.
fn write(
    args: &ImageArgs,
    out: &OutputFile<'_>,
    job: &DrawJob<'_>,
    image: &Image,
    stopped: &[usize],
) -> CliResult<String> {
    let tone = ToneMapping {
        view: job.view,
        channels: image.channels(),
        is_linear: args.linear,
        scale: args.scale,
    };
    let pixels = image.pixels();
    let tone = ToneMapping {
        scale: Some(tone.scale(pixels)),
        ..tone
    };
    let part = args.region.map(|_| ImagePart {
        region: job.region,
        key: part_key(args, job),
        is_interrupted: false,
    });
    save(out, image, || tone.colours(pixels, stopped), part.as_ref())?;
    Ok(tone.legend(job.region, pixels))
}

/// The key of all parts of an image: what it is drawn from, but for textures and buffers.
fn part_key(args: &ImageArgs, job: &DrawJob<'_>) -> u64 {
    let mut all = Fingerprint::new();
    all.add_bytes(&job.instance.program().to_bytecode());
    all.add_debug(job.grid);
    all.add_debug(&(job.view, &job.output.name, job.samples, args.antialias));
    all.value()
}
