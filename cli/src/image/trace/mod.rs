//! `adumbra image FILE --at X,Y` traces all that a shader does at one pixel.
//!
//! The program is compiled once more, so that it reports by messages each variable's values and
//! each branch. The reference engine runs it with the globals, textures and limits of the pixel in
//! the image. It has the bits of every other engine, so the trace is what the image is made of.

mod json;
mod record;
mod text;

use super::output_choice::choose_output;
use super::textures::Textures;
use super::tile::Tile;
use super::{ImageSetup, grid, nan_origin, note_replaced_globals};
use crate::args::image::{ImageArgs, PixelPosition};
use crate::buffers::set_buffers;
use crate::checkerboard::Interrupt;
use crate::error::{CliError, CliResult};
use crate::global_notes;
use crate::report::{self, OutputFormat, report_diagnostics};
use crate::run::unfolded_instance;
use adumbra::{
    Compiler, Evaluator, Globals, Options, Program, Sources,
    derivatives::{AtDivergence, Corner},
    evaluator::Engine,
    inspect::{Observation, observed_nan_origin, observed_nan_origin_in_quad},
};
use adumbra_image::ImageRegion;
use record::{PointTrace, TraceHost};
use std::io::{self, Write};

/// The trace of a pixel.
struct PixelTrace<'a> {
    at: [usize; 2],
    size: [usize; 2],
    program: &'a Program,
    sources: &'a Sources,
    observations: &'a [Option<Observation>],
    /// The globals of the pixel itself.
    globals: &'a Globals,
    /// The evaluator that ran the point.
    evaluator: &'a Evaluator,
    trace: &'a PointTrace,
    /// The origin of the first NaN.
    nan_origin: Option<adumbra::diagnostics::Span>,
    has_derivatives: bool,
}

/// Prints what the shader does at the pixel. Returns whether the point came to its end.
///
/// # Errors
/// If the file is at fault, or the usage is.
pub fn trace_pixel(args: &ImageArgs, at: PixelPosition, interrupt: &Interrupt) -> CliResult<bool> {
    let format = OutputFormat::of(args.json);
    let at = at.within(args.size).map_err(CliError::usage)?;
    let mut scene = ImageSetup::new(args, false)?;
    scene.setup.engine = Engine::Reference;
    let setup = &scene.setup;
    if scene.program.sources().is_none() {
        return Err(CliError::usage(
            "bytecode does not say which variables there were: `--at` follows source text",
        ));
    }
    let options = Options {
        shader: args.shader.clone(),
        ..setup.options.clone()
    };
    let compiler = Compiler::new(setup.layout.clone())
        .with_options(options)
        .texture_slopes(true);
    if let Some(name) = &args.output {
        choose_output(&scene.program, Some(name))?;
    }
    let observed = compiler.compile_observed(&scene.sources);
    let (program, observations) = observed.map_err(|diagnostics| {
        // A point cannot report on an arm which all points evaluate.
        match setup.options.at_divergence {
            AtDivergence::Flatten => CliError::usage(
                "`--divergent live` has all points of a quad evaluate branches that `--at` cannot follow: move what assigns or calls out of them, or follow with `--derivatives dual`",
            ),
            AtDivergence::Refuse => report_diagnostics(&diagnostics, format),
        }
    })?;
    let grid = scene.grid.for_program(setup, &program)?;
    // Folding would number messages anew, and changes no result.
    let mut instance = unfolded_instance(&args.arguments, &program)?;
    set_buffers(&args.buffers, &mut instance)?;
    let files = &args.textures;
    let textures = Textures::load(&program, &scene.sources, files, format, &mut Vec::new())?;
    // The observations make this program larger; its limits are those of the image's program.
    let limits = setup.limits(&scene.program);
    let mut evaluator = setup.evaluator_within(&instance, limits)?;
    if args.out.is_none() {
        report::diagnostics_to_stderr(scene.program.warnings(), &scene.sources, format);
        global_notes::note_inputs(&scene.compile, &program, format);
        note_replaced_globals(&scene.compile, &program, format);
    }

    let rule = program.quad();
    let image = ImageRegion::whole(args.size);
    let pixel = image.pixel(at).expect("it is within");
    let (tile, point) = Tile::around(image, pixel, rule.is_some());
    let planes = grid.planes(&tile.positions, grid::PIXEL_CENTRE);
    let globals = (0..tile.positions.len()).map(|point| {
        let mut globals = grid.globals();
        grid.fill_point(&planes, point, &mut globals);
        globals
    });
    let globals: Vec<Globals> = globals.collect();
    let new_tracer = || TraceHost::new(&observations, &program, &textures, interrupt);
    let mut tracer = new_tracer();
    if let [a, b, c, d] = &globals[..] {
        evaluator.evaluate_quad([a, b, c, d], [false; 4], &mut tracer);
        evaluator.show(Corner::ALL[point]);
    } else {
        evaluator.evaluate(&globals[0], &mut tracer);
    }
    let mut recorders = tracer.finish();
    if let Some(rule) = rule {
        record::add_quad_derivatives(rule, Corner::ALL[point], &mut recorders);
    }
    let recorder = &recorders[point];
    if interrupt.is_pressed() {
        report::note("interrupted", format);
        return Err(CliError::Interrupted);
    }
    // A second run: origins of NaNs are dear, and few points have any.
    let born = recorder.has_nan().then(|| {
        let mut host = new_tracer();
        match &globals[..] {
            [a, b, c, d] => observed_nan_origin_in_quad(
                &instance,
                [a, b, c, d],
                Corner::ALL[point],
                limits,
                &mut host,
            ),
            _ => observed_nan_origin(&instance, &globals[0], limits, &mut host),
        }
    });
    let followed = PixelTrace {
        at,
        size: [args.size.width(), args.size.height()].map(|side| side as usize),
        program: &program,
        sources: &scene.sources,
        observations: &observations,
        globals: &globals[point],
        evaluator: &evaluator,
        trace: recorder,
        nan_origin: born.flatten(),
        has_derivatives: setup.options.derivatives != adumbra::Derivatives::Off,
    };
    let mut stdout = io::stdout().lock();
    match format {
        OutputFormat::Json => {
            serde_json::to_writer(&mut stdout, &json::to_json(&followed))
                .map_err(io::Error::from)?;
            writeln!(stdout)?;
        }
        OutputFormat::Text => {
            stdout.write_all(text::to_text(&followed).as_bytes())?;
            report::faults_to_stderr(&evaluator, &scene.sources);
        }
    }
    if args.compile.stats && args.out.is_none() {
        report::stats_to_stderr(&scene.program.stats(), format);
    }
    Ok(evaluator.faults().stopped().is_none())
}

impl PixelTrace<'_> {
    /// The observation of that number.
    fn observation(&self, number: usize) -> &Observation {
        let observation = self.observations[number].as_ref();
        observation.expect("the recorder took it for one")
    }

    /// The origin of the first NaN, as `file:line:column: source`.
    fn birth(&self) -> Option<String> {
        nan_origin::source_location(self.sources, self.nan_origin?)
    }
}
