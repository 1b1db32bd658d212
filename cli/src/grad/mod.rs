//! `adumbra grad FILE` gives the gradient of a shader's outputs: at a point, summed over the pixels
//! of an image, or as an image or arrays.

mod check;
mod decisions;
mod differences;
mod evaluate;
mod files;
mod fill;
mod points;
mod seeds;
mod show;

pub use evaluate::GradHost;
pub use show::json_number;

use crate::args::GlobalSet;
use crate::args::grad::{GradArgs, GradRules, GradView, ParameterName};
use crate::buffers::set_buffers;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::files::check_no_overwrite;
use crate::global_notes::{self, UnreadGlobals};
use crate::image::{PixelGrid, Textures};
use crate::load::{ProgramRequest, load, report_compile_error};
use crate::report::{self, OutputFormat};
use crate::run::unfolded_instance;
use crate::setup::Setup;
use adumbra::gradient::{
    Axis, DerivativePlace, DifferentiatedValue, Gradient, GradientRequest, JumpGradient, JumpRules,
    Parameter, ParameterKind,
};
use adumbra::program::BufferNumbers;
use adumbra::{Derivatives, Diagnostic, Instance, Program, Sources};
use differences::StepDifferences;
use files::OutputFiles;
use points::{GradPoints, SeededPoints};
use seeds::Seeds;
use show::Shown;
use std::path::PathBuf;
use std::sync::Arc;

/// # Errors
/// If the file is at fault, or the usage is.
pub fn grad(args: GradArgs) -> CliResult {
    let interrupt = Interrupt::default();
    interrupt.listen().map_err(CliError::usage)?;
    let format = OutputFormat::of(args.json);
    let mut compile = args.compile.clone();
    if args.size.is_some() {
        // An image has its own globals at each pixel.
        compile.globals.retain(|&set| set != GlobalSet::Image);
    }
    let mut setup = Setup::new(&compile)?;
    if matches!(setup.options.derivatives, Derivatives::Quad(_)) {
        return Err(CliError::usage(
            "`--derivatives quad-…` takes differences between points, and a gradient is of each point alone",
        ));
    }
    let grid = match args.size {
        Some(size) => Some(PixelGrid::new(&mut setup, size, 0.0, false)?),
        None => None,
    };
    let wanted = ProgramRequest {
        group: args.group,
        ..ProgramRequest::of_gradient(&args.file, args.shader.as_deref(), format)
    };
    let (program, sources) = load(&wanted, &setup)?;
    let request = request(&args, &program)?;
    let refuse = |diagnostics| report_compile_error(diagnostics, None, format);
    let is_one_point = args.size.is_none() || args.at.is_some();
    let (jumps, decisions) = match jump_rules(&args)? {
        None => (None, None),
        Some((axes, rules)) if is_one_point => {
            let decisions = program.jump_decisions(&request, &axes, rules);
            let decisions = decisions.map_err(refuse)?;
            (Some(decisions.jumps().clone()), Some(decisions))
        }
        Some((axes, rules)) => {
            let jumps = program.jump_gradient(&request, &axes, rules);
            (Some(jumps.map_err(refuse)?), None)
        }
    };
    let smooth;
    let gradient = match &jumps {
        Some(jumps) => jumps.smooth(),
        None => {
            smooth = program.gradient(&request).map_err(refuse)?;
            &smooth
        }
    };
    let mut read: Vec<PathBuf> = sources
        .iter()
        .map(|(_, file)| PathBuf::from(file.name()))
        .collect();
    let textures = Textures::load(&program, &sources, &args.textures, format, &mut read)?;
    read.extend(args.buffers.iter().map(|buffer| buffer.file.clone()));
    read.extend(seeds::files(&args.seeds));
    let files = OutputFiles::choose(&args, gradient)?;
    check_no_overwrite(files.paths(), read.iter().map(PathBuf::as_path))?;
    report::diagnostics_to_stderr(program.warnings(), &sources, format);
    if args.compile.stats {
        report::stats_to_stderr(&gradient.program().stats(), format);
    }
    if args.check && jumps.is_some() {
        let text = "`--check` takes differences where nothing jumps, so edges are not in them: `--rules fd` has differences across edges";
        report::note(text, format);
    }
    // Differences do not end where derivatives do.
    let ends = match (args.rules, &jumps) {
        (GradRules::Fd, _) => &[],
        (_, Some(jumps)) => jumps.ends(),
        (_, None) => gradient.ends(),
    };
    report::diagnostics_to_stderr(ends, &sources, format);
    if args.size.is_none() {
        let slips = UnreadGlobals::Misspelt;
        global_notes::note_unread_and_unset(&compile, &program, slips, format);
    } else {
        global_notes::note_inputs(&compile, &program, format);
    }

    let mut instance = unfolded_instance(&args.arguments, gradient.program())?;
    set_buffers(&args.buffers, &mut instance)?;
    let points_of = |program: &Program| match &grid {
        Some(grid) => GradPoints::of_image(grid.clone(), args.at, &setup, program),
        None => {
            let globals = setup.adopt_globals(&setup.globals, program)?;
            Ok(GradPoints::One(globals))
        }
    };
    let points = points_of(gradient.program())?;
    let is_view = args.view == Some(GradView::Difference);
    let differences = match args.rules == GradRules::Fd || is_view {
        true => {
            let mut instance = unfolded_instance(&args.arguments, &program)?;
            set_buffers(&args.buffers, &mut instance)?;
            let points = points_of(&program)?.without_seeds();
            Some(StepDifferences::new(instance, points, args.step, gradient)?)
        }
        false => None,
    };
    let seeds = seeds::read(&args.seeds, gradient.outputs(), &points)?;
    let job = GradJob {
        args: &args,
        setup: &setup,
        program: &program,
        request: &request,
        gradient,
        ends,
        jumps: jumps.as_ref(),
        differences: differences.as_ref(),
        instance: &instance,
        points: points.with_seeds(gradient, &seeds),
        seeds: &seeds,
        files: &files,
        textures: &textures,
        interrupt: &interrupt,
        sources: &sources,
    };
    job.check_files()?;
    if args.check {
        check::refuse(&job)?;
    }
    let done = job.evaluate(files.has_points(gradient))?;
    let checked = match args.check {
        true => Some(check::differences(&job)?),
        false => None,
    };
    let scales = job.write_files(&done)?;
    let shown = Shown {
        done: &done,
        differences: checked.as_deref(),
        scales: &scales,
        decisions: &job.list_decisions(decisions.as_ref())?,
    };
    show::print(&job, &shown)?;
    match done.report.stopped {
        0 => Ok(()),
        _ => Err(CliError::Reported),
    }
}

/// A gradient that is asked for, with all that it is evaluated by.
struct GradJob<'a> {
    args: &'a GradArgs,
    setup: &'a Setup,
    /// The program without the gradient.
    program: &'a Arc<Program>,
    request: &'a GradientRequest,
    gradient: &'a Gradient,
    /// Where it ends that would matter.
    ends: &'a [Diagnostic],
    /// What finds jumps, if these count.
    jumps: Option<&'a JumpGradient>,
    /// What takes differences, if they are the gradient, or a view shows how far they are from it.
    differences: Option<&'a StepDifferences>,
    /// The gradient's program with its inputs set.
    instance: &'a Instance,
    points: SeededPoints,
    /// By output.
    seeds: &'a [Seeds],
    files: &'a OutputFiles,
    textures: &'a Textures,
    interrupt: &'a Interrupt,
    sources: &'a Sources,
}

impl GradJob<'_> {
    /// Whether the gradient by a parameter is 0 at every point.
    fn is_zero(&self, parameter: &Parameter) -> bool {
        match self.jumps {
            Some(jumps) => jumps.is_zero(parameter),
            None => parameter.is_zero && self.args.rules != GradRules::Fd,
        }
    }

    /// The same gradient through edges, for a smooth one. Which parameters move edges does not
    /// depend on the axis along which these are looked for.
    fn edges(&self) -> Option<JumpGradient> {
        if self.args.rules != GradRules::Smooth {
            return None;
        }
        let mut read = (self.program.globals().members().iter())
            .filter(|member| self.program.reads(member.name()));
        let floats = read.find(|member| crate::show::has_floats(member.ty()))?;
        let axis = Axis::new(floats.name(), 0, 1.0);
        let edges = (self.program).jump_gradient(self.request, &[axis], JumpRules::Edge);
        edges.ok()
    }

    /// How many numbers the gradient by a parameter has.
    fn floats_of(&self, parameter: &Parameter) -> usize {
        match parameter.kind {
            ParameterKind::Buffer => {
                let numbers = self.instance.buffer(&parameter.value.name);
                numbers.map_or(0, BufferNumbers::len)
            }
            _ => parameter.value.ty.scalar_count(),
        }
    }
}

/// The rules for what jumps, and the axes along which it is looked for, if it is.
fn jump_rules(args: &GradArgs) -> CliResult<Option<(Vec<Axis>, JumpRules)>> {
    if args.quiet.is_some() && args.rules != GradRules::Pair {
        return Err(CliError::usage("`--quiet` is for `--rules pair`"));
    }
    let is_view = args.view == Some(GradView::Difference);
    if args.step.is_some() && args.rules != GradRules::Fd && !is_view {
        return Err(CliError::usage(
            "`--step` says how far differences move parameters: give `--rules fd`, or `--view difference`",
        ));
    }
    let rules = match args.rules {
        GradRules::Smooth | GradRules::Fd if args.axes.is_empty() => return Ok(None),
        GradRules::Smooth | GradRules::Fd => {
            return Err(CliError::usage(
                "`--axes` says where edges are looked for: give `--rules edge` or `--rules pair`",
            ));
        }
        GradRules::Pair => JumpRules::Pair,
        GradRules::Edge => JumpRules::Edge,
    };
    let axes = match args.axes.as_slice() {
        [] if args.size.is_some() => [0, 1].map(|at| Axis::new("pixel", at, 1.0)).to_vec(),
        [] => {
            return Err(CliError::usage(
                "edges are looked for along axes: give `--axes NAME[:SPACING],…`, floats of globals, or `--size WxH` for the pixels of an image",
            ));
        }
        axes => axes.to_vec(),
    };
    Ok(Some((axes, rules)))
}

/// What the command line asks of a program.
fn request(args: &GradArgs, program: &Program) -> CliResult<GradientRequest> {
    let mut request = GradientRequest::new();
    for name in &args.of {
        request = request.of(name.as_str());
    }
    let with_floats = || {
        let outputs = program.outputs().iter();
        outputs.filter(|output| crate::show::has_floats(&output.ty))
    };
    if args.of.is_empty() && with_floats().count() > 1 {
        let names: Vec<String> = with_floats()
            .map(|output| format!("`{}`", output.name))
            .collect();
        return Err(CliError::usage(format!(
            "several outputs have floats: say by `--of` which of {} is differentiated",
            names.join(", ")
        )));
    }
    let is_input = |name: &str| program.inputs().iter().any(|input| input.name == name);
    let is_global = |name: &str| program.globals().member(name).is_some();
    let is_buffer = |name: &str| program.buffers().any(|buffer| buffer.name == name);
    for name in &args.wrt {
        request = match name {
            ParameterName::AllInputs => request.by_inputs(),
            ParameterName::AllGlobals => request.by_globals(),
            ParameterName::AllBuffers => request.by_buffers(),
            ParameterName::Buffer(name) => request.by_buffer(name.as_str()),
            ParameterName::Input(name) => request.by_input(name.as_str()),
            ParameterName::Either(name) if !is_input(name) && is_global(name) => {
                request.by_global(name.as_str())
            }
            ParameterName::Either(name) if !is_input(name) && is_buffer(name) => {
                request.by_buffer(name.as_str())
            }
            ParameterName::Either(name) => request.by_input(name.as_str()),
            ParameterName::Global(name) => request.by_global(name.as_str()),
        };
    }
    Ok(request)
}

/// The name of a parameter of a gradient: `global:x` if it is by an input `x`, too, `buffer:x` if
/// it is by an input or a global of that name.
fn label(gradient: &Gradient, parameter: &Parameter) -> String {
    let name = &parameter.value.name;
    let is_before = |other: &Parameter| other.kind < parameter.kind && other.value.name == *name;
    match gradient.parameters().iter().any(is_before) {
        true if parameter.kind == ParameterKind::Buffer => format!("buffer:{name}"),
        true => format!("global:{name}"),
        false => name.clone(),
    }
}

/// The globals that have the seed of an output, each with the number of its first float.
pub fn seed_globals(output: &DifferentiatedValue) -> impl Iterator<Item = (&str, usize, usize)> {
    let DerivativePlace::Globals(globals) = &output.place else {
        panic!("the mode is backward");
    };
    let mut first = 0;
    globals.iter().map(move |(name, ty)| {
        let (start, count) = (first, ty.scalar_count());
        first += count;
        (name.as_str(), start, count)
    })
}

/// The output of the program that has the gradient by a parameter; none if it is a sum.
pub fn gradient_output(of: &DifferentiatedValue) -> Option<&str> {
    match &of.place {
        DerivativePlace::Output(name) => Some(name),
        DerivativePlace::Sum => None,
        DerivativePlace::Adjoints => panic!("the command asks for none by textures"),
        DerivativePlace::Globals(_) | DerivativePlace::Buffer(_) | DerivativePlace::Texture(_) => {
            panic!("the mode is backward")
        }
    }
}
