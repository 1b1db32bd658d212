//! Maps the options that all commands share to the library's. Options that are not built yet are
//! refused here.

use crate::args::{CompileArgs, CornerName, DerivativesName, DivergentName, EngineName, GlobalSet};
use crate::error::{CliError, CliResult};
use crate::image_globals;
use crate::setting::GlobalSetting;
use adumbra::{
    Derivatives, Dual, Evaluator, Globals, GlobalsLayout, Instance, Limits, Options, Program, Type,
    derivatives::{AtDivergence, Corner, Quad},
    evaluator::Engine,
    host::DEFAULT_STEPS,
    value::ValueView,
};
use std::fs::OpenOptions;
use std::io::Write;

/// Most instructions that a point executes, about, if `--steps` does not set its step budget. The
/// budget alone does not bound the work, since an iteration of a long shader does much. A clock
/// would, and stop other points on a busy machine.
pub const MAX_INSTRUCTIONS_RUN: u64 = 1 << 31;

/// Options of a compilation and an evaluation, beside the source.
#[derive(Clone, Debug)]
pub struct Setup {
    pub options: Options,
    pub globals: Globals,
    /// The layout of the globals as they are set: those given as values alone are known to have no
    /// derivatives.
    pub layout: GlobalsLayout,
    /// The names of the globals that were set without derivatives.
    pub shadowless: Vec<String>,
    /// The names of the globals that `-g` sets.
    given: Vec<String>,
    pub engine: Engine,
    /// The step budget that `--steps` sets.
    steps: Option<u64>,
    /// Whether to write a map of the machine code for `perf`.
    perf_map: bool,
    /// Whether to register the machine code with debuggers.
    gdb: bool,
}

impl Setup {
    /// # Errors
    /// If the options contradict each other or name something that is not built yet.
    pub fn new(args: &CompileArgs) -> CliResult<Setup> {
        let engine = match args.engine {
            EngineName::Reference => Engine::Reference,
            EngineName::Point => Engine::Point,
            EngineName::Batch => Engine::Batch,
            EngineName::Native => Engine::Native,
            EngineName::Auto => Engine::Auto,
        };
        let derivatives = match args.derivatives {
            DerivativesName::Dual => Derivatives::Dual,
            DerivativesName::Off => Derivatives::Off,
            DerivativesName::QuadFine => Derivatives::Quad(Quad::Fine),
            DerivativesName::QuadCoarse => {
                let corner = args.coarse.map_or(Corner::UpperLeft, |name| match name {
                    CornerName::UpperLeft => Corner::UpperLeft,
                    CornerName::UpperRight => Corner::UpperRight,
                    CornerName::LowerLeft => Corner::LowerLeft,
                    CornerName::LowerRight => Corner::LowerRight,
                });
                Derivatives::Quad(Quad::Coarse(corner))
            }
        };
        if args.coarse.is_some() && args.derivatives != DerivativesName::QuadCoarse {
            let message = "--coarse says which neighbours `--derivatives quad-coarse` takes";
            return Err(CliError::usage(message));
        }
        let at_divergence = match args.divergent {
            Some(DivergentName::Live) => AtDivergence::Flatten,
            Some(DivergentName::Refuse) | None => AtDivergence::Refuse,
        };
        if args.divergent.is_some() && !matches!(derivatives, Derivatives::Quad(_)) {
            let message = "--divergent is about `--derivatives quad-fine` and `quad-coarse`";
            return Err(CliError::usage(message));
        }
        if args.gdb && !adumbra::inspect::register_with_debuggers(true) {
            let message = "--gdb needs a system whose programs are ELF files, on x86-64 or aarch64";
            return Err(CliError::usage(message));
        }
        let globals = globals(args)?;
        let mut layout = globals.layout().clone();
        let shadowless = args.global_settings.iter().filter(|s| s.is_shadowless);
        let mut shadowless: Vec<String> = shadowless.map(|s| s.name.clone()).collect();
        if args.globals.contains(&GlobalSet::Image) {
            let still = image_globals::IMAGE_GLOBALS
                .iter()
                .filter(|global| !global.is_varying);
            let still = still.map(|global| global.name.to_owned());
            shadowless.extend(still.filter(|name| !args.sets(name)));
        }
        for name in &shadowless {
            layout = layout.shadowless(name).map_err(CliError::usage)?;
        }
        Ok(Setup {
            options: Options {
                derivatives,
                at_divergence,
                merge_demand: args.merge_demand,
                ..Options::default()
            },
            globals,
            layout,
            shadowless,
            engine,
            given: args
                .global_settings
                .iter()
                .map(|set| set.name.clone())
                .collect(),
            steps: args.steps,
            perf_map: args.perf_map,
            gdb: args.gdb,
        })
    }

    /// Lays out the globals for a program. A program that was compiled elsewhere may lack those
    /// that `-g` does not name.
    ///
    /// # Errors
    /// If it lacks others, or has them with another type.
    pub fn adopt_globals(&self, globals: &Globals, program: &Program) -> CliResult<Globals> {
        let mut adopted = Globals::new(program.globals());
        for member in globals.layout().members() {
            let name = member.name();
            if program.globals().member(name).is_none() && !self.given.iter().any(|g| g == name) {
                continue;
            }
            let view = globals.view(name).expect("its own member");
            adopted.set_view(name, view).map_err(CliError::usage)?;
        }
        Ok(adopted)
    }

    /// The limits of a point of a program: the step budget that was asked for, or else the default.
    /// It is lower in a program whose iterations can execute more than [`MAX_INSTRUCTIONS_RUN`]
    /// instructions together.
    pub fn limits(&self, program: &Program) -> Limits {
        let instructions = program.stats().bytecode_ops.max(1) as u64;
        let default = DEFAULT_STEPS.min(MAX_INSTRUCTIONS_RUN / instructions);
        Limits {
            steps: self.steps.unwrap_or(default),
            ..Limits::default()
        }
    }

    /// An evaluator with the engine and within the limits that were asked for.
    ///
    /// # Errors
    /// If the engine cannot run the program.
    pub fn evaluator(&self, instance: &Instance) -> CliResult<Evaluator> {
        self.evaluator_within(instance, self.limits(instance.program()))
    }

    /// An evaluator with the engine that was asked for, within other limits.
    ///
    /// # Errors
    /// As for [`evaluator`](Setup::evaluator).
    pub fn evaluator_within(&self, instance: &Instance, limits: Limits) -> CliResult<Evaluator> {
        if (self.perf_map || self.gdb) && self.engine != Engine::Native {
            let message = "--perf-map and --gdb are about machine code, which a single point has by `--engine native`";
            return Err(CliError::usage(message));
        }
        Evaluator::with(instance, self.engine, limits).map_err(CliError::usage)
    }

    /// Writes a map of the machine code that ran for `perf`, if it was asked for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_perf_map(&self, program: &Program) -> CliResult {
        if !self.perf_map {
            return Ok(());
        }
        let path = format!("/tmp/perf-{}.map", std::process::id());
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(program.perf_map().as_bytes()))
            .map_err(|error| CliError::usage(format!("cannot write {path}: {error}")))
    }
}

fn globals(args: &CompileArgs) -> CliResult<Globals> {
    let mut layout = match args.globals.contains(&GlobalSet::Hit) {
        true => GlobalsLayout::hit(),
        false => GlobalsLayout::new(),
    };
    let of_image = match args.globals.contains(&GlobalSet::Image) {
        true => &image_globals::IMAGE_GLOBALS[..],
        false => &[],
    };
    for global in of_image {
        layout = layout
            .with(global.name, global.ty())
            .map_err(CliError::usage)?;
    }
    for (index, setting) in args.global_settings.iter().enumerate() {
        let earlier = &args.global_settings[..index];
        if earlier.iter().any(|other| other.name == setting.name) {
            return Err(CliError::usage(format!(
                "the global `{}` is given twice",
                setting.name
            )));
        }
        if layout.member(&setting.name).is_none() {
            layout = layout
                .with(&setting.name, setting.ty.clone())
                .map_err(CliError::usage)?;
        }
    }
    let mut globals = Globals::new(&layout);
    let mut set = |name: &str, ty: &Type, [value, ddx, ddy]: [&[u32]; 3]| {
        let [value, ddx, ddy] = [value, ddx, ddy].map(|words| ValueView::new(ty, words));
        let given = globals.set_view(name, Dual { value, ddx, ddy });
        given.map_err(CliError::usage)
    };
    for global in of_image {
        let words = global.at_centre();
        set(global.name, &global.ty(), words.each_ref().map(|w| &w[..]))?;
    }
    for GlobalSetting {
        name,
        ty,
        value,
        ddx,
        ddy,
        ..
    } in &args.global_settings
    {
        set(name, ty, [value, ddx, ddy])?;
    }
    Ok(globals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use adumbra::{Compiler, Sources};
    use clap::Parser;
    use std::sync::Arc;

    fn setup(options: &[&str]) -> Setup {
        let words = ["adumbra", "run", "s.adu"].iter().chain(options);
        let cli = Cli::try_parse_from(words).expect("the options are known");
        let Some(Command::Run(args)) = cli.command else {
            panic!("it is `run`");
        };
        Setup::new(&args.compile).expect("the options fit together")
    }

    /// A shader of a loop with this number of statements in it.
    fn program(statements: usize) -> Arc<Program> {
        let body = "x = sin(x) * 1.5;".repeat(statements);
        let text =
            format!("shader s(out float o) {{ float x = 1; while (x != 0) {{ {body} }} o = x; }}");
        let compiled = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", text));
        compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
    }

    #[test]
    fn step_budget_shrinks_with_program_size() {
        let (small, large) = (program(1), program(10_000));
        let setup = setup(&[]);
        assert_eq!(setup.limits(&small).steps, DEFAULT_STEPS);
        let instructions = large.stats().bytecode_ops as u64;
        assert!(instructions > 10_000);
        let steps = setup.limits(&large).steps;
        assert!(
            steps * instructions <= MAX_INSTRUCTIONS_RUN
                && (steps + 1) * instructions > MAX_INSTRUCTIONS_RUN
        );
    }

    #[test]
    fn requested_step_budget_holds() {
        let large = program(10_000);
        for steps in ["7", "1048576", "99999999999"] {
            let limits = setup(&["--steps", steps]).limits(&large);
            assert_eq!(limits.steps.to_string(), steps);
        }
    }
}
