//! `adumbra metric FILE` measures how wrong gradients through edges are, by each set of rules: the
//! error metric of Aδ (Yang, Barnes, Adams, Finkelstein 2022, section 7.3).
//!
//! The gradient is integrated over a short path of the parameters, and compared with how what a
//! pixel shows changes from the one end to the other. That is its average over the box [-1, 1]²
//! around it, so every gradient is taken at random places from which it is one of that average:
//! `slopes` says which.
//!
//! All random numbers follow from the seed, and those of a block of samples from its number. So any
//! number of threads gives the same result.

mod parameters;
mod pixels;
mod points;
mod show;
mod slopes;

use crate::args::metric::MetricArgs;
use crate::buffers::refuse_buffers;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::grad::seed_globals;
use crate::image::{PixelGrid, Textures};
use crate::load::{ProgramRequest, load, report_compile_error};
use crate::report::{self, OutputFormat};
use crate::run::unfolded_instance;
use crate::setup::Setup;
use crate::show::has_floats;
use adumbra::batch::BatchSetup;
use adumbra::gradient::{Axis, GradientRequest, JumpBatch, JumpGradient, JumpRules};
use adumbra::{Derivatives, Diagnostics, Instance, Program};
use fastrand::Rng;
use indicatif::ProgressBar;
use parameters::Parameters;
use pixels::DrawnPixels;
use points::{PointPrograms, PointValues};
use show::{MetricReport, RuleError};
use slopes::Rules;
use std::sync::Arc;

/// # Errors
/// If the file is at fault, or the usage is.
pub fn metric(args: MetricArgs) -> CliResult {
    let interrupt = Interrupt::default();
    interrupt.listen().map_err(CliError::usage)?;
    let format = OutputFormat::of(args.json);
    let mut setup = Setup::new(&args.compile)?;
    if setup.options.derivatives != Derivatives::Dual {
        return Err(CliError::usage(
            "gradients through edges need `--derivatives dual`",
        ));
    }
    let Some(tier) = setup.engine.tier() else {
        return Err(CliError::usage(
            "pixels are evaluated many at once: give `--engine batch`, `native` or `auto`",
        ));
    };
    let grid = PixelGrid::new(&mut setup, args.size, 0.0, false)?;
    let wanted = ProgramRequest::of_gradient(&args.file, args.shader.as_deref(), format);
    let (program, sources) = load(&wanted, &setup)?;
    if !program.inputs().iter().any(|input| has_floats(&input.ty)) {
        return Err(CliError::usage(
            "the shader has no parameters: none of its inputs has floats",
        ));
    }
    let centre = unfolded_instance(&args.at_values, &program)?;
    let refuse = |diagnostics| report_compile_error(diagnostics, None, format);
    let edge = jump_gradient(&program, JumpRules::Edge).map_err(refuse)?;
    let pair = jump_gradient(&program, JumpRules::Pair);
    refuse_buffers(&program, "metric")?;
    let textures = Textures::load(&program, &sources, &[], format, &mut Vec::new())?;
    report::diagnostics_to_stderr(program.warnings(), &sources, format);
    if args.compile.stats {
        report::stats_to_stderr(&edge.smooth().program().stats(), format);
    }

    let mut random = Rng::with_seed(args.random_seed);
    let parameters = Parameters::new(&centre, edge.smooth(), &mut random)?;
    let of_program = |program: &Program| grid.clone().for_program(&setup, program);
    let mut of_gradient = of_program(edge.smooth().program())?;
    for output in edge.smooth().outputs() {
        for (name, _, count) in seed_globals(output) {
            let globals = of_gradient.globals_mut();
            let member = globals.layout().member(name).expect("it has the seeds");
            let word = member.value_offset() / 4;
            globals.words_mut()[word..][..count].fill(1.0_f32.to_bits());
        }
    }
    let programs = PointPrograms {
        shader: of_program(&program)?,
        gradient: of_gradient,
        setup: BatchSetup {
            limits: setup.limits(edge.smooth().program()),
            tier,
            ..BatchSetup::default()
        },
        threads: args.threads.map_or(0, usize::from),
        textures: &textures,
        interrupt: &interrupt,
    };
    let ends = [-1.0, 1.0].map(|end| edge_pixels(&args, &programs, &edge, &parameters, end));
    let mut edges = Vec::new();
    for end in ends {
        edges.extend(end?);
    }
    let sides = [args.size.width(), args.size.height()].map(|side| side as usize);
    let drawn = DrawnPixels::draw(sides, &edges, args.pixels as usize, &mut random);
    if drawn.pixels.is_empty() {
        report::message("no pixel sees an edge, so nothing is measured");
    }
    let progress = ProgressBar::new(points::blocks(measured(&pair)));
    let values = PointValues {
        progress: &progress,
        programs: &programs,
        parameters: &parameters,
        pixels: &drawn.pixels,
    };
    let change = values.change(args.samples as usize, &mut random)?;
    let error_of = |rules: &Rules<'_>, random: &mut Rng| {
        let integral = values.integral(rules, args.places as usize, random)?;
        let errors = integral.iter().zip(&change).map(|(a, b)| (a - b).abs());
        let (mean, error) = drawn.mean(&errors.collect::<Vec<f64>>());
        Ok::<_, CliError>(RuleError {
            name: rules.name(),
            mean,
            error,
            step: rules.step(),
        })
    };
    let mut rules = vec![error_of(&Rules::Smooth(edge.smooth()), &mut random)?];
    let mut best: Option<RuleError> = None;
    for step in slopes::STEPS {
        let by_step = error_of(&Rules::Fd(step), &mut random)?;
        if best.as_ref().is_none_or(|best| by_step.mean < best.mean) {
            best = Some(by_step);
        }
    }
    rules.extend(best);
    match &pair {
        Ok(pair) => {
            let axes = values.axes(pair)?;
            rules.push(error_of(&Rules::Pair(pair, axes), &mut random)?);
        }
        Err(refused) => note_pair_refused(refused),
    }
    rules.push(error_of(&Rules::Edge(&edge), &mut random)?);
    progress.finish_and_clear();
    let report = MetricReport {
        pixels: drawn.pixels.len(),
        rules,
    };
    report.print(args.json)
}

/// How often values are summed over samples: for the change, and for each set of rules.
fn measured(pair: &Result<JumpGradient, Diagnostics>) -> usize {
    // `smooth`, and `edge`.
    1 + 2 + slopes::STEPS.len() + usize::from(pair.is_ok())
}

/// The gradient of all outputs by all inputs, along the axes of pixels.
fn jump_gradient(program: &Arc<Program>, rules: JumpRules) -> Result<JumpGradient, Diagnostics> {
    let outputs = program.outputs().iter();
    let outputs = outputs.filter(|output| has_floats(&output.ty));
    let request = outputs.fold(GradientRequest::new().by_inputs(), |request, output| {
        request.of(output.name.as_str())
    });
    let axes = [0, 1].map(|at| Axis::new("pixel", at, 1.0));
    program.jump_gradient(&request, &axes, rules)
}

/// The pixels of the image at one end of the path that see edges.
fn edge_pixels(
    args: &MetricArgs,
    programs: &PointPrograms<'_>,
    edge: &JumpGradient,
    parameters: &Parameters,
    end: f64,
) -> CliResult<Vec<usize>> {
    let own = Instance::new(edge.smooth().program());
    let values = parameters.values(end, &vec![0.0; parameters.count()]);
    let width = args.size.width() as usize;
    let places = (0..args.size.pixels()).map(|at| [at % width, at / width]);
    let places = places.map(|[x, y]| [x as f64 + 0.5, y as f64 + 0.5]);
    let planes = programs.gradient.planes_at(places);
    let found = JumpBatch::new(edge, &parameters.instance(&own, &values))
        .setup(programs.setup.clone())
        .threads(programs.threads)
        .image(width, 0..args.size.pixels())
        .points(
            &programs.gradient.batch_globals(&planes),
            0..args.size.pixels(),
            || programs.host(),
        );
    programs.check_interrupt()?;
    let found = found.map_err(CliError::usage)?;
    Ok(found.into_iter().map(|found| found.point).collect())
}

/// Says why the rules `pair` are left out.
fn note_pair_refused(refused: &Diagnostics) {
    let why = refused.diagnostics.first();
    let why = why.map_or(String::new(), |why| {
        format!(": {}: {}", why.code, why.message)
    });
    report::message(&format!("`pair` refuses the shader, and is left out{why}"));
}
