//! `adumbra fit FILE --target IMAGE -o OUT.adu` finds the inputs with which a shader draws what an
//! image shows, and writes the same source with these as defaults.
//!
//! `adumbra_fit` searches; here are the shader's images and gradients, the files, and the state
//! that a fit goes on from.

mod files;
mod gradient;
mod images;
mod metadata;
mod noise;
mod objective;
mod parameters;
mod prune;
mod rewrite;
mod search;
mod show;
mod state;
mod strip;
mod target;

use crate::args::fit::{FitArgs, LossName, NoiseName};
use crate::args::{CompileArgs, GlobalSet};
use crate::buffers::refuse_buffers;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::files::check_no_overwrite;
use crate::global_notes;
use crate::image::{PixelGrid, ShownOutput, Textures, choose_output};
use crate::image_globals::IMAGE_GLOBALS;
use crate::load::{ProgramRequest, load, report_compile_error};
use crate::report::{self, OutputFormat};
use crate::run::unfolded_instance;
use crate::setting::GlobalSetting;
use crate::setup::Setup;
use adumbra::batch::BatchSetup;
use adumbra::diagnostics::{Code, FileId};
use adumbra::globals::GlobalMember;
use adumbra::sources::without_blocks;
use adumbra::value::ValueView;
use adumbra::{Derivatives, Dual, Program, Scalar, Sources};
use adumbra_fit::{Distance, FitOptions, FitTarget, PyramidLoss, Raster, RestartRecord, Schedule};
use adumbra_frontend::closest_name;
use adumbra_image::ImageSize;
use files::FitFiles;
use gradient::ShaderGradient;
use images::FitImages;
use noise::noisy_program;
use objective::{FittedShader, ImageObjective, OfPrograms, StartedProgram, TargetPixels};
use parameters::FittedInputs;
use prune::EliminableBlocks;
use rewrite::with_defaults;
use search::{FoundFit, Search};
use show::FitSummary;
use state::SearchState;
use std::path::PathBuf;
use std::sync::Arc;

/// # Errors
/// If the file is at fault, the usage is, or Ctrl-C was pressed.
pub fn fit(args: &FitArgs) -> CliResult {
    let interrupt = Interrupt::default();
    interrupt.listen().map_err(CliError::usage)?;
    let format = OutputFormat::of(args.json);
    let compile = compile_args(args)?;
    let setup = Setup::new(&compile)?;
    if setup.options.derivatives != Derivatives::Dual {
        return Err(CliError::usage("fits need `--derivatives dual`"));
    }
    let Some(tier) = setup.engine.tier() else {
        return Err(CliError::usage(
            "pixels are evaluated many at once: give `--engine batch`, `native` or `auto`",
        ));
    };
    let files = FitFiles::beside(&args.out, args.targets.len(), args.frames)?;
    let (program, sources) = load_shader(args, &setup, format)?;
    refuse_buffers(&program, "fit")?;
    check_target_globals(args, &program)?;
    let output = image_output(args, &program)?;
    let channels = output.channels.min(3);
    let targets = target::read_targets(args, channels)?;
    let mut read = read_files(args, &sources);
    let others = read.len();
    let textures = Textures::load(&program, &sources, &args.textures, format, &mut read)?;
    check_no_overwrite(files.paths(), read.iter().map(PathBuf::as_path))?;

    let start = unfolded_instance(&args.arguments, &program)?;
    let mut inputs = FittedInputs::new(&start, args, format)?;
    let source = sources.get(FileId::MAIN).expect("it was compiled");
    let text = source.text();
    let blocks = match args.prune {
        true => Some(EliminableBlocks::new(source)?),
        false => None,
    };
    let names = written_inputs(args, &inputs);
    // What cannot be written is refused before the search.
    with_defaults(text, &start, &names)?;
    report::diagnostics_to_stderr(program.warnings(), &sources, format);
    let noisy = match args.noise {
        NoiseName::On => noisy_program(&program, &mut inputs, &output, format)?,
        NoiseName::Off => None,
    };
    let noisy = noisy.map(|noisy| noisy.program().clone());
    let differentiated = noisy.as_ref().unwrap_or(&program);
    let gradient = ShaderGradient::by_rules(args.rules, differentiated, &inputs, &output)
        .map_err(|refused| report_compile_error(refused, None, format))?;
    if let Some(gradient) = &gradient {
        // A fit has no other axes, and the note says what a still image means.
        let ends = gradient.ends().iter();
        let ends = ends.filter(|end| end.code != Code::UnmovedAxis).cloned();
        report::diagnostics_to_stderr(&ends.collect::<Vec<_>>(), &sources, format);
        gradient.note_still_image(format);
    }
    global_notes::note_inputs(&compile, &program, format);
    if compile.stats {
        let drawn = gradient
            .as_ref()
            .map_or(&program, |it| it.smooth().program());
        report::stats_to_stderr(&drawn.stats(), format);
    }

    let programs = OfPrograms {
        gradient: gradient.as_ref().map(|of| of.smooth().program().clone()),
        own: program.clone(),
        noisy,
    };
    let pixels: CliResult<Vec<TargetPixels>> = (targets.iter().zip(&args.targets))
        .map(|(target, file)| {
            let grid =
                |program: &Program| pixel_grid(&setup, target, file.global.as_ref(), program);
            TargetPixels::new(target.image.shape(), &programs, grid)
        })
        .collect();
    let state = SearchState::new(args, &targets, &read[others..], &sources)?;
    let wanted: Vec<Raster> = targets.iter().map(|target| target.image.clone()).collect();
    let distance = match args.loss {
        LossName::L2 => Distance::L2,
        LossName::L1 => Distance::L1,
    };
    let loss = PyramidLoss::new(targets, distance).map_err(CliError::usage)?;
    let started = |program: &Arc<Program>| {
        Ok::<_, CliError>(StartedProgram {
            instance: unfolded_instance(&args.arguments, program)?,
            setup: BatchSetup {
                limits: setup.limits(program),
                tier,
                ..BatchSetup::default()
            },
        })
    };
    let shader = FittedShader {
        programs: programs.try_map(started)?,
        output: output.name,
        gradient,
        threads: args.threads.map_or(0, usize::from),
        textures: &textures,
        interrupt: &interrupt,
    };
    let mut search = Search {
        args,
        state: &state,
        objective: ImageObjective::new(shader, inputs, pixels?),
    };
    let found = search.run(loss.clone(), options(args))?;
    let objective = &mut search.objective;
    let values = &found.best().values;
    let mut images = FitImages::of_course(objective, &found, &wanted, args.frames)?;
    let pruned = blocks.map(|blocks| {
        let draw_by = |program: &Arc<Program>, objective: &mut ImageObjective<'_>| {
            objective.draw_by(started(program)?);
            Ok(())
        };
        blocks.prune(objective, (values, found.best().loss), &loss, draw_by)
    });
    let pruned = pruned.transpose()?;
    if pruned.is_some() {
        images.best = objective.images(values)?;
    }
    note_trouble(objective, &found, format);
    let mut best = start;
    objective.inputs().set(&mut best, values);
    let numbers = pruned.iter().flatten().map(|out| out.block);
    let numbers: Vec<u32> = numbers.collect();
    let source = without_blocks(&with_defaults(text, &best, &names)?, &numbers);
    let summary = FitSummary::new(args, &program, objective, &found, pruned);
    files.write(&source, &images, &found.records, &summary.run_json())?;
    summary.print(&best, &files)
}

/// Notes what makes a result doubtful: the best image, whose pixels were just drawn, or the search.
fn note_trouble(objective: &ImageObjective<'_>, found: &FoundFit, format: OutputFormat) {
    let note = |text: String| report::note(&text, format);
    if objective.stopped() > 0 {
        let stopped = objective.stopped();
        note(format!("{stopped} pixels of the best image were stopped"));
    }
    let sum =
        |count: fn(&RestartRecord) -> usize| -> usize { found.records.iter().map(count).sum() };
    let all = sum(|record| record.iterations);
    let non_finite = sum(|record| record.non_finite);
    if non_finite > 0 {
        note(format!(
            "in {non_finite} of {all} iterations the loss or its gradient was not finite, and did \
             not count: `adumbra image --view nan` shows where a shader is not"
        ));
    }
    let still = sum(|record| record.still);
    if still == all {
        note(
            "the gradient was 0 in all iterations, so nothing was fitted: no input changes the \
             image nearby, or none as far as the rules see"
                .to_owned(),
        );
    }
}

/// Checks the globals that targets are at: that the shader reads them, and their types.
fn check_target_globals(args: &FitArgs, program: &Program) -> CliResult {
    let Some(global) = args.targets[0].global.as_ref() else {
        return Ok(());
    };
    let name = &global.name;
    if program.reads(name) {
        return Ok(());
    }
    let members = program.globals().members().iter().map(GlobalMember::name);
    let read: Vec<&str> = members.filter(|other| program.reads(other)).collect();
    Err(CliError::usage(
        match closest_name(name, read.iter().copied()) {
            Some(meant) => format!(
                "`--target …@{name}=…`: nothing reads the global `{name}`; did you mean `{meant}`?"
            ),
            None => format!(
                "`--target …@{name}=…`: nothing reads the global `{name}`; the shader reads {}",
                match read.is_empty() {
                    true => "none".to_owned(),
                    false => read.join(", "),
                }
            ),
        },
    ))
}

/// The inputs whose values are written as defaults: those that are fitted, and those of `--arg`.
fn written_inputs(args: &FitArgs, inputs: &FittedInputs) -> Vec<String> {
    let fitted = inputs.inputs().iter().map(|input| &input.name);
    let given = args.arguments.iter().map(|argument| &argument.name);
    fitted.chain(given).cloned().collect()
}

/// Options of the compilation: those of the command line, with the globals of targets.
fn compile_args(args: &FitArgs) -> CliResult<CompileArgs> {
    let mut compile = args.compile.clone();
    // An image has its own globals at each pixel.
    compile.globals.retain(|&set| set != GlobalSet::Image);
    let first = args.targets[0].global.as_ref();
    for target in &args.targets {
        let global = target.global.as_ref();
        if let Some(global) = global {
            check_image_global(global)?;
        }
        let place =
            |global: Option<&GlobalSetting>| global.map(|it| (it.name.clone(), it.ty.clone()));
        if place(global) != place(first) {
            return Err(CliError::usage(
                "all targets are at values of one global, or none is at any",
            ));
        }
        let is_number = |it: &GlobalSetting| it.ty.float_scalars().is_empty() || it.is_shadowless;
        if !global.is_none_or(is_number) {
            return Err(CliError::usage(
                "a target is at the value of a global, without derivatives",
            ));
        }
    }
    compile.global_settings.extend(first.cloned());
    Ok(compile)
}

/// Checks that a value of a global that images have is of its type.
fn check_image_global(global: &GlobalSetting) -> CliResult {
    let own = IMAGE_GLOBALS.iter().find(|own| own.name == global.name);
    match own.map(|own| own.ty()) {
        Some(ty) if ty != global.ty => Err(CliError::usage(format!(
            "`--target …@{}=…`: that global of images is of type `{ty}`, and this value of type `{}`",
            global.name, global.ty
        ))),
        _ => Ok(()),
    }
}

fn load_shader(
    args: &FitArgs,
    setup: &Setup,
    format: OutputFormat,
) -> CliResult<(Arc<Program>, Sources)> {
    let mut setup = setup.clone();
    // It declares the globals of an image, which are the same in every size.
    let size = ImageSize::new(1, 1).map_err(CliError::usage)?;
    PixelGrid::new(&mut setup, size, 0.0, false)?;
    let wanted = ProgramRequest::of_gradient(&args.file, args.shader.as_deref(), format);
    let (program, sources) = load(&wanted, &setup).inspect_err(|_| {
        if let Some(global) = args.targets[0].global.as_ref() {
            let GlobalSetting { name, ty, .. } = global;
            let text = format!(
                "`--target …@{name}=…` declares the global `{name}` of type `{ty}`, as its value is"
            );
            report::note(&text, format);
        }
    })?;
    match program.sources() {
        Some(_) => Ok((program, sources)),
        None => Err(CliError::usage(
            "bytecode has no defaults to write: give its source",
        )),
    }
}

/// The output that is compared with the targets.
fn image_output(args: &FitArgs, program: &Program) -> CliResult<ShownOutput> {
    let output = choose_output(program, args.output.as_deref())?;
    if output.scalar != Scalar::F32 || output.channels == 2 {
        return Err(CliError::usage(format!(
            "the output `{}` is no color: one of type `float`, `color` or `float4` is compared with a target",
            output.name
        )));
    }
    Ok(output)
}

/// The files that are read, but for those of textures.
fn read_files(args: &FitArgs, sources: &Sources) -> Vec<PathBuf> {
    let sources = sources.iter().map(|(_, file)| PathBuf::from(file.name()));
    let targets = args.targets.iter().map(|target| target.file.clone());
    sources.chain(targets).chain(args.mask.clone()).collect()
}

/// The pixels of a target, with its global, for a program.
fn pixel_grid(
    setup: &Setup,
    target: &FitTarget,
    global: Option<&GlobalSetting>,
    program: &Program,
) -> CliResult<PixelGrid> {
    let mut setup = setup.clone();
    let shape = target.image.shape();
    let size = ImageSize::new(shape.width as u64, shape.height as u64).map_err(CliError::usage)?;
    let mut grid = PixelGrid::new(&mut setup, size, 0.0, false)?;
    if let Some(global) = global {
        let [value, ddx, ddy] = [&global.value, &global.ddx, &global.ddy]
            .map(|words| ValueView::new(&global.ty, words));
        let set = grid
            .globals_mut()
            .set_view(&global.name, Dual { value, ddx, ddy });
        set.map_err(CliError::usage)?;
    }
    grid.for_program(&setup, program)
}

fn options(args: &FitArgs) -> FitOptions {
    FitOptions {
        restarts: args.restarts as usize,
        random_seed: args.random_seed,
        noise: args.noise == NoiseName::On,
        first_given: true,
        accept: args.accept,
        schedule: Schedule {
            iterations: args.iterations as usize,
            ..Schedule::default()
        },
        ..FitOptions::default()
    }
}
