//! `adumbra image FILE -o OUT`: a shader over a grid of pixels.

mod args;
mod at;
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
use adumbra::{Program, Sources};
use adumbra_image::{Picture, Png, write_exr, write_png};
use args::{Times, ViewName};
use draw::{Drawn, Job, TILE, draw};
use grid::Grid;
use save::{FileKind, save};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
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
    let out = args.out.as_deref().map(Out::new).transpose()?;
    check_options(&args)?;
    for picture in out.iter().flat_map(|out| pictures(&args, out)) {
        let textures = args.textures.iter().map(|texture| &*texture.file);
        let read = textures.chain([&*args.file]);
        files::are_apart([&*picture].into_iter(), read)?;
    }
    let is_whole = match args.at {
        Some(pixel) => at::follow(&args, pixel, interrupt)?,
        None => true,
    };
    match &out {
        Some(out) if args.watch => watch::watch(&args, out, interrupt)?,
        Some(out) => render(&args, out, interrupt, &mut Vec::new())?,
        None => {}
    }
    match is_whole {
        true => Ok(()),
        false => Err(Failure::Reported),
    }
}

/// The file of `-o`.
struct Out<'a> {
    path: &'a Path,
    kind: FileKind,
}

impl Out<'_> {
    fn new(path: &Path) -> Outcome<Out<'_>> {
        let kind = FileKind::of(path)?;
        Ok(Out { path, kind })
    }
}

/// Options that mean nothing with, or without, others.
fn check_options(args: &ImageArgs) -> Outcome {
    let is_over = matches!(args.time, Some(Times::Over(..)));
    let message = match args.frames {
        None if is_over => "`--time A..B` is for several pictures: say how many by `--frames N`",
        Some(_) if !is_over => "`--frames N` draws pictures over `--time A..B`",
        Some(_) if args.watch => "`--watch` draws one picture, and `--frames` several",
        _ if args.at.is_some() && args.watch => "`--at` follows a pixel once: leave `--watch` out",
        Some(_) if args.at.is_some() => {
            "`--at` follows a pixel of one picture: give its time by `--time T`, without `--frames`"
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
        _ => return Ok(()),
    };
    Err(Failure::usage(message))
}

/// The files that are written: OUT, or with `--frames` OUT_0001 and so on.
fn pictures(args: &ImageArgs, out: &Out<'_>) -> Vec<PathBuf> {
    let Some(frames) = args.frames else {
        return vec![out.path.to_owned()];
    };
    let text = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = (text(out.path.file_stem()), text(out.path.extension()));
    let digits = frames.to_string().len().max(4);
    let numbered = (1..=frames).map(|frame| format!("{stem}_{frame:0digits$}.{ending}"));
    numbered.map(|name| out.path.with_file_name(name)).collect()
}

/// What the command line says, but for what is made of it.
struct Scene {
    compile: CompileArgs,
    setup: Setup,
    /// Of all globals that there are, at the first time.
    grid: Grid,
    program: Arc<Program>,
    sources: Sources,
}

impl Scene {
    fn new(args: &ImageArgs, derivs: bool) -> Outcome<Scene> {
        let mut compile = args.compile.clone();
        // A picture has its own at each pixel.
        compile.globals.retain(|&set| set != GlobalSet::Picture);
        let mut setup = Setup::new(&compile)?;
        let first = times(args)?.of(0, args.frames.unwrap_or(1));
        let grid = Grid::new(&mut setup, args.size, first, args.surface)?;
        let wanted = Wanted {
            file: &args.file,
            group: args.group,
            shader: args.shader.as_deref(),
            derivs,
            is_evaluated: true,
            format: Format::of(args.json),
            compile: &compile,
        };
        let (program, sources) = load(&wanted, &setup)?;
        Ok(Scene {
            compile,
            setup,
            grid,
            program,
            sources,
        })
    }
}

/// Draws the picture, or each of several, once and writes it. Says in `read` which files it was made from, as far as it came.
fn render(
    args: &ImageArgs,
    out: &Out<'_>,
    interrupt: &Interrupt,
    read: &mut Vec<PathBuf>,
) -> Outcome {
    let derivs = !matches!(args.view, ViewName::Value | ViewName::Lod);
    let Scene {
        compile,
        setup,
        grid,
        program,
        sources,
    } = Scene::new(args, derivs)?;
    let times = times(args)?;
    read.extend(sources.iter().map(|(_, file)| PathBuf::from(file.name())));
    let grid = grid.of_program(&setup, &program)?;
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
    report::to_stderr(&program.warnings_for(&shown.name), &sources, Format::Text);
    tell_of_replaced(&compile, &program, Format::Text);
    let files = pictures(args, out);
    let mut stopped = false;
    for (frame, file) in (0..).zip(&files) {
        let time = times.of(frame, files.len() as u32);
        let grid = match times {
            Times::At(_) => grid.clone(),
            Times::Over(..) => grid.clone().at_time(time),
        };
        let job = Job {
            setup: &setup,
            instance: &instance,
            grid: &grid,
            shown: &shown,
            view: args.view,
            textures: &textures,
            interrupt,
            samples: args.samples,
            threads: args.threads.map_or(0, usize::from),
        };
        stopped |= !one(args, out.kind, &job, &sources, file)?;
    }
    match stopped {
        false => Ok(()),
        true => Err(Failure::Reported),
    }
}

/// Draws a picture and writes it: whether no pixel of it was stopped.
fn one(
    args: &ImageArgs,
    kind: FileKind,
    job: &Job<'_>,
    sources: &Sources,
    file: &Path,
) -> Outcome<bool> {
    let program = job.instance.program();
    let start = Instant::now();
    let drawn = draw(job, TILE);
    job.setup.name_code(program)?;
    let drawn = drawn?;
    let seconds = start.elapsed().as_secs_f64();

    let mut legend = write(args, kind, job, &drawn, file)?;
    if args.view == ViewName::Nan {
        legend += &nan::first(job, sources, &drawn.pixels).unwrap_or_default();
    }
    let width = job.grid.size().width() as usize;
    drawn.said.print(program, width)?;
    io::stdout().write_all(legend.as_bytes())?;
    drawn.faults.report(sources, width);
    if args.view == ViewName::Value {
        tell_of_nan(&drawn.pixels);
    }
    if args.compile.stats {
        let stats = drawn.stats.unwrap_or_else(|| program.stats());
        report::stats(&stats, Format::Text);
        let points = drawn.pixels.len() * (args.samples * args.samples) as usize;
        let rate = points as f64 / seconds;
        let line = format!("drawing {points} points in {seconds:.3} s, {rate:.0} points/s\n");
        // There is nowhere to report a failure of standard error to.
        let _ = anstream::stderr().write_all(line.as_bytes());
    }
    if !drawn.stopped.is_empty() {
        report::message(&format!(
            "{} of {} pixels were stopped",
            drawn.stopped.len(),
            drawn.pixels.len()
        ));
    }
    Ok(drawn.stopped.is_empty())
}

/// Says which globals of the picture are what `-g` says instead.
fn tell_of_replaced(args: &CompileArgs, program: &Program, format: Format) {
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
        let text = format!("`{name}` is what `-g` says, and {effect}");
        report::note(&text, format);
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

/// The times of `--time`; a global of that name has its own.
fn times(args: &ImageArgs) -> Outcome<Times> {
    match args.time {
        Some(_) if args.compile.sets("time") => {
            Err(Failure::usage("the global `time` is given twice"))
        }
        times => Ok(times.unwrap_or(Times::At(0.0))),
    }
}

/// Writes the file; gives the legend of what it shows.
fn write(
    args: &ImageArgs,
    kind: FileKind,
    job: &Job<'_>,
    drawn: &Drawn,
    path: &Path,
) -> Outcome<String> {
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
            save(path, |file| write_png(&png, file))?;
        }
        FileKind::Exr => {
            let picture = Picture::of(size, channels, drawn.pixels.clone());
            save(path, |file| write_exr(&picture, file))?;
        }
    }
    Ok(colours.legend)
}
