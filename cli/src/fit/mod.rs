//! `adumbra fit FILE --target IMAGE -o OUT.adu` finds the inputs with which a shader draws what an
//! image shows, and writes the same source with these as defaults.
//!
//! `adumbra_fit` searches; here are the shader's images and gradients, the files, and the state
//! that a fit goes on from.

mod files;
mod objective;
mod parameters;
mod prune;
mod rewrite;
mod search;
mod show;
mod target;

use crate::args::fit::{FitArgs, FitRules, LossName, NoiseName};
use crate::args::{CompileArgs, GlobalSet};
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::files::check_no_overwrite;
use crate::global_notes;
use crate::image::{PixelGrid, ShownOutput, Textures, choose_output};
use crate::input;
use crate::load::{ProgramRequest, load, report_compile_error};
use crate::report::{self, OutputFormat};
use crate::run::unfolded_instance;
use crate::setting::GlobalSetting;
use crate::setup::Setup;
use adumbra::batch::BatchSetup;
use adumbra::diagnostics::FileId;
use adumbra::gradient::{Axis, GradientRequest, JumpRules};
use adumbra::sources::without_blocks;
use adumbra::value::ValueView;
use adumbra::{Derivatives, Diagnostic, Dual, Program, Scalar, Sources};
use adumbra_fit::{Distance, FitOptions, FitTarget, PyramidLoss, Schedule, content_hash};
use adumbra_image::ImageSize;
use files::FitFiles;
use objective::{FittedShader, ImageObjective, ShaderGradient, StartedProgram, TargetPixels};
use parameters::FittedInputs;
use prune::EliminableBlocks;
use rewrite::with_defaults;
use search::{Search, SearchState};
use show::FitSummary;
use std::path::PathBuf;
use std::sync::Arc;

/// # Errors
/// If the file is at fault, the usage is, or Ctrl-C was pressed.
pub fn fit(args: &FitArgs) -> CliResult {
    if args.noise == NoiseName::On {
        return Err(CliError::usage(
            "`--noise on` is not built yet: inputs have one value for all pixels",
        ));
    }
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
    let files = FitFiles::beside(&args.out, args.targets.len())?;
    let (program, sources) = load_shader(args, &compile, &setup, format)?;
    let output = image_output(args, &program)?;
    let channels = output.channels.min(3);
    let targets = target::read_targets(args, channels)?;
    let mut read = read_files(args, &sources);
    let others = read.len();
    let textures = Textures::load(&program, &sources, &args.textures, format, &mut read)?;
    check_no_overwrite(files.paths(), read.iter().map(PathBuf::as_path))?;

    let start = unfolded_instance(&args.arguments, &program)?;
    let inputs = FittedInputs::new(&start)?;
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
    let gradient = gradient(args.rules, &program, &inputs, &output)
        .map_err(|refused| report_compile_error(refused, None, format))?;
    if let Some(gradient) = &gradient {
        report::diagnostics_to_stderr(ends(gradient), &sources, format);
        note_still_image(gradient, format);
    }
    global_notes::note_inputs(&compile, &program, format);
    if compile.stats {
        let drawn = gradient
            .as_ref()
            .map_or(&program, |it| it.smooth().program());
        report::stats_to_stderr(&drawn.stats(), format);
    }

    let of_gradient = gradient
        .as_ref()
        .map(|found| found.smooth().program().clone());
    let pixels: CliResult<Vec<TargetPixels>> = (targets.iter().zip(&args.targets))
        .map(|(target, file)| {
            let grid =
                |program: &Program| pixel_grid(&setup, target, file.global.as_ref(), program);
            let of_gradient = of_gradient.as_deref().map(grid).transpose()?;
            Ok(TargetPixels::new(grid(&program)?, of_gradient, channels))
        })
        .collect();
    let state = SearchState::new(
        args,
        state_parts(args, &targets, &read[others..], &sources)?,
    );
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
    let of_gradient = of_gradient.as_ref().map(started).transpose()?;
    let shader = FittedShader {
        own: started(&program)?,
        output: output.name,
        gradient: gradient.zip(of_gradient),
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
    let pruned = blocks.map(|blocks| {
        let draw_by = |program: &Arc<Program>, objective: &mut ImageObjective<'_>| {
            objective.draw_by(started(program)?);
            Ok(())
        };
        blocks.prune(objective, (values, found.best().loss), &loss, draw_by)
    });
    let pruned = pruned.transpose()?;
    let images = objective.images(values)?;
    if objective.stopped() > 0 {
        report::message(&format!(
            "{} pixels of the best image were stopped",
            objective.stopped()
        ));
    }
    let mut best = start;
    objective.inputs().set(&mut best, values);
    let numbers = pruned.iter().flatten().map(|out| out.block);
    let numbers: Vec<u32> = numbers.collect();
    let source = without_blocks(&with_defaults(text, &best, &names)?, &numbers);
    let summary = FitSummary::new(args, &program, objective, &found, pruned);
    files.write(&source, &images, &found.records, &summary.run_json())?;
    summary.print(&best, &files)
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

fn load_shader(
    args: &FitArgs,
    compile: &CompileArgs,
    setup: &Setup,
    format: OutputFormat,
) -> CliResult<(Arc<Program>, Sources)> {
    let mut setup = setup.clone();
    // It declares the globals of an image, which are the same in every size.
    let size = ImageSize::new(1, 1).map_err(CliError::usage)?;
    PixelGrid::new(&mut setup, size, 0.0, false)?;
    let wanted = ProgramRequest::of_gradient(&args.file, args.shader.as_deref(), format, compile);
    let (program, sources) = load(&wanted, &setup)?;
    match program.module() {
        Some(_) => Ok((program, sources)),
        None => Err(CliError::usage(
            "bytecode has no gradient and no defaults to write: give its source",
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

/// The gradient of the image by the inputs, unless it is one of differences of the loss.
fn gradient(
    rules: FitRules,
    program: &Arc<Program>,
    inputs: &FittedInputs,
    output: &ShownOutput,
) -> Result<Option<ShaderGradient>, adumbra::Diagnostics> {
    let request = GradientRequest::new().of(output.name.as_str());
    let inputs = inputs.inputs().iter();
    let request = inputs.fold(request, |request, input| request.by_input(&*input.name));
    let axes = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    let jumps = |rules| {
        let jumps = program.jump_gradient(&request, &axes, rules);
        jumps.map(ShaderGradient::Jumps).map(Some)
    };
    match rules {
        FitRules::Smooth => program
            .gradient(&request)
            .map(ShaderGradient::Smooth)
            .map(Some),
        FitRules::Pair => jumps(JumpRules::Pair),
        FitRules::Edge => jumps(JumpRules::Edge),
        FitRules::Fd | FitRules::Spsa => Ok(None),
    }
}

/// Where derivatives end that would matter.
fn ends(gradient: &ShaderGradient) -> &[Diagnostic] {
    match gradient {
        ShaderGradient::Smooth(gradient) => gradient.ends(),
        ShaderGradient::Jumps(jumps) => jumps.ends(),
    }
}

/// Notes that no input changes the image, as far as the rules see.
fn note_still_image(gradient: &ShaderGradient, format: OutputFormat) {
    let mut parameters = gradient.smooth().parameters().iter();
    let (is_still, advice) = match gradient {
        ShaderGradient::Smooth(_) => (
            parameters.all(|by| by.is_zero),
            ": `--rules edge` counts what moves its edges",
        ),
        ShaderGradient::Jumps(jumps) => (parameters.all(|by| jumps.is_zero(by)), ""),
    };
    if is_still {
        let text = format!("by these rules no input that is fitted changes the image{advice}");
        report::note(&text, format);
    }
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

/// What the result of a fit depends on, but for what `adumbra_fit` adds, by name.
fn state_parts(
    args: &FitArgs,
    targets: &[FitTarget],
    textures: &[PathBuf],
    sources: &Sources,
) -> CliResult<Vec<(&'static str, String)>> {
    let mut target_bytes = Vec::new();
    for target in targets {
        let weights = target.weights.iter().flatten();
        for number in target.image.values().iter().chain(weights) {
            target_bytes.extend(number.to_bits().to_le_bytes());
        }
    }
    let mut shader_bytes = Vec::new();
    for (_, file) in sources.iter() {
        shader_bytes.extend(file.text().as_bytes());
    }
    for file in textures {
        shader_bytes.extend(input::read_file(file)?);
    }
    let globals: Vec<_> = args.targets.iter().map(|target| &target.global).collect();
    let settings = format!(
        "{:?} {:?} {:?} {globals:?} {:?}",
        args.shader, args.arguments, args.compile.global_settings, args.output
    );
    Ok(vec![
        ("adumbra", env!("CARGO_PKG_VERSION").to_owned()),
        ("the shader", content_hash(&shader_bytes)),
        ("the target", content_hash(&target_bytes)),
        (
            "`--shader`, `--arg`, `-g` or `--output`",
            content_hash(settings.as_bytes()),
        ),
        ("`--rules`", format!("{:?}", args.rules).to_lowercase()),
        ("`--loss`", format!("{:?}", args.loss).to_lowercase()),
    ])
}

fn options(args: &FitArgs) -> FitOptions {
    FitOptions {
        restarts: args.restarts as usize,
        random_seed: args.random_seed,
        noise: false,
        first_given: true,
        schedule: Schedule {
            iterations: args.iterations as usize,
            ..Schedule::default()
        },
        ..FitOptions::default()
    }
}
