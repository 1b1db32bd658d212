//! `adumbra image FILE -o OUT`: a shader over a grid of pixels.

mod args;
mod draw;
mod findings;
mod grid;
mod host;
mod nan;
mod save;
mod shown;
mod surface;
mod textures;
mod tile;
mod view;
mod watch;

pub use args::ImageArgs;

use crate::args::{CompileArgs, GlobalSet};
use crate::checker::Interrupt;
use crate::files;
use crate::load::{Wanted, load};
use crate::outcome::{Failure, Outcome};
use crate::picture;
use crate::report::{self, Format};
use crate::run::instance;
use crate::setup::Setup;
use adumbra::Program;
use adumbra_image::{Picture, Png, write_exr, write_png};
use args::ViewName;
use draw::{Drawn, Job, TILE, draw};
use grid::Grid;
use save::{FileKind, save};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;
use textures::Textures;
use view::Tone;

/// # Errors
/// If the file is at fault, the usage is, or a point was stopped.
pub fn image(args: ImageArgs) -> Outcome {
    let interrupt = Interrupt::default();
    interrupt.listen().map_err(Failure::usage)?;
    image_until(args, &interrupt)
}

/// The same where somebody else listens to Ctrl-C.
///
/// # Errors
/// As for [`image`].
pub fn image_until(args: ImageArgs, interrupt: &Interrupt) -> Outcome {
    let kind = FileKind::of(&args.out)?;
    let textures = args.textures.iter().map(|texture| &*texture.file);
    let read = textures.chain([&*args.file]);
    files::are_apart([&*args.out].into_iter(), read)?;
    match args.watch {
        true => watch::watch(&args, kind, interrupt),
        false => render(&args, kind, interrupt, &mut Vec::new()),
    }
}

/// Draws the picture once and writes it. Says in `read` which files it was made from, as far as it came.
fn render(
    args: &ImageArgs,
    kind: FileKind,
    interrupt: &Interrupt,
    read: &mut Vec<PathBuf>,
) -> Outcome {
    let mut compile = args.compile.clone();
    // A picture has its own at each pixel.
    compile.globals.retain(|&set| set != GlobalSet::Picture);
    let mut setup = Setup::new(&compile)?;
    let time = time(args)?;
    let grid = Grid::new(&mut setup, args.size, time, args.surface)?;
    let derivs = !matches!(args.view, ViewName::Value | ViewName::Lod);
    let wanted = Wanted {
        file: &args.file,
        group: args.group,
        shader: args.shader.as_deref(),
        derivs,
        is_evaluated: true,
        format: Format::Text,
        compile: &compile,
    };
    let (program, sources) = load(&wanted, &setup)?;
    read.extend(sources.iter().map(|(_, file)| PathBuf::from(file.name())));
    let grid = grid.of_program(&program)?;
    let instance = instance(&args.arguments, &program)?;
    let shown = shown::shown(&program, args.output.as_deref())?;
    let textures = Textures::load(&program, &args.textures)?;
    if derivs
        && program.module().is_none()
        && program.stats().lanes == 0
        && program.quad().is_none()
    {
        report::message(
            "the bytecode has no derivatives, so all are 0: `emit --derivs` writes those of the outputs",
        );
    }
    report::to_stderr(&program.warnings_for(&shown.name), &sources, wanted.format);
    tell_of_replaced(&compile, &program);
    let job = Job {
        setup: &setup,
        instance: &instance,
        grid: &grid,
        shown: &shown,
        view: args.view,
        textures: &textures,
        interrupt,
        threads: args.threads.map_or(0, usize::from),
    };
    let start = Instant::now();
    let drawn = draw(&job, TILE);
    setup.name_code(instance.program())?;
    let drawn = drawn?;
    let seconds = start.elapsed().as_secs_f64();

    let mut legend = write(args, kind, &job, &drawn)?;
    if args.view == ViewName::Nan {
        legend += &nan::first(&job, &sources, &drawn.pixels).unwrap_or_default();
    }
    let width = grid.size().width() as usize;
    drawn.said.print(&program, width)?;
    io::stdout().write_all(legend.as_bytes())?;
    drawn.faults.report(&sources, width);
    if args.view == ViewName::Value {
        tell_of_nan(&drawn.pixels);
    }
    if args.compile.stats {
        let stats = drawn.stats.unwrap_or_else(|| program.stats());
        report::stats(&stats, Format::Text);
        let points = drawn.pixels.len();
        let rate = points as f64 / seconds;
        let line = format!("drawing {points} points in {seconds:.3} s, {rate:.0} points/s\n");
        // There is nowhere to report a failure of standard error to.
        let _ = anstream::stderr().write_all(line.as_bytes());
    }
    match drawn.stopped.as_slice() {
        [] => Ok(()),
        stopped => {
            report::message(&format!(
                "{} of {} pixels were stopped",
                stopped.len(),
                drawn.pixels.len()
            ));
            Err(Failure::Reported)
        }
    }
}

/// Says which globals of the picture are what `-g` says instead.
fn tell_of_replaced(args: &CompileArgs, program: &Program) {
    let moving = picture::GLOBALS.iter().filter(|global| global.moves);
    for global in moving.filter(|global| program.reads(global.name)) {
        let mut settings = args.globals_set.iter();
        let Some(setting) = settings.find(|setting| setting.name == global.name) else {
            continue;
        };
        let name = global.name;
        let effect = match setting.is_shadowless {
            true => {
                "is the same at all pixels: without `-g` it moves over the picture, with `:DDX:DDY` as these say"
            }
            false => "moves over the picture by these derivatives, from its upper left corner",
        };
        report::message(&format!("`{name}` is what `-g` says, and {effect}"));
    }
}

/// Says how many pixels are NaN, which a picture shows as nothing.
fn tell_of_nan(pixels: &[[f32; 4]]) {
    let is_nan = |pixel: &&[f32; 4]| pixel.iter().any(|x| x.is_nan());
    let count = pixels.iter().filter(is_nan).count();
    if count > 0 {
        report::message(&format!(
            "{count} of {} pixels are NaN: `--view nan` shows where",
            pixels.len()
        ));
    }
}

/// The time of `--time`; a global of that name has its own.
fn time(args: &ImageArgs) -> Outcome<f32> {
    let is_set = args
        .compile
        .globals_set
        .iter()
        .any(|set| set.name == "time");
    match (args.time, is_set) {
        (Some(_), true) => Err(Failure::usage("the global `time` is given twice")),
        (time, _) => Ok(time.unwrap_or(0.0)),
    }
}

/// Writes the file; gives the legend of what it shows.
fn write(args: &ImageArgs, kind: FileKind, job: &Job<'_>, drawn: &Drawn) -> Outcome<String> {
    let size = job.grid.size();
    let channels = view::channels(job.view, job.shown);
    let tone = Tone {
        view: job.view,
        channels,
        is_linear: args.linear,
        scale: args.scale,
    };
    let colours = tone.colours(size, &drawn.pixels, &drawn.stopped);
    match kind {
        FileKind::Png => {
            let png = Png {
                size,
                bytes: &colours.bytes,
                has_alpha: colours.has_alpha,
                is_srgb: colours.is_srgb,
            };
            save(&args.out, |file| write_png(&png, file))?;
        }
        FileKind::Exr => {
            let picture = Picture::of(size, channels, drawn.pixels.clone());
            save(&args.out, |file| write_exr(&picture, file))?;
        }
    }
    Ok(colours.legend)
}
