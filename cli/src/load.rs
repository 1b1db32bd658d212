//! Loads a program from a file: a source, a group, or serialised bytecode.

use crate::args::{CompileArgs, DerivativesName, EngineName};
use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::report::{OutputFormat, report_diagnostics};
use crate::setup::Setup;
use adumbra::{Compiler, Diagnostic, Diagnostics, Options, Program, Sources, diagnostics::Code};
use std::path::Path;
use std::sync::Arc;

/// The program that a command line asks for.
pub struct ProgramRequest<'a> {
    pub file: &'a Path,
    pub group: bool,
    pub shader: Option<&'a str>,
    /// Whether the outputs' derivatives are asked for.
    pub derivs: bool,
    /// Whether it is for a point with the globals as they are set.
    pub is_evaluated: bool,
    /// Whether its host answers with slopes of textures.
    pub texture_slopes: bool,
    /// Whether diagnostics are for programs.
    pub format: OutputFormat,
    pub compile: &'a CompileArgs,
}

impl<'a> ProgramRequest<'a> {
    /// A source whose gradient is taken.
    pub fn of_gradient(
        file: &'a Path,
        shader: Option<&'a str>,
        format: OutputFormat,
        compile: &'a CompileArgs,
    ) -> ProgramRequest<'a> {
        ProgramRequest {
            file,
            group: false,
            shader,
            derivs: false,
            is_evaluated: true,
            texture_slopes: true,
            format,
            compile,
        }
    }
}

/// The error of bytecode whose derivatives are asked for and not there.
const NO_DERIVATIVES: &str = "the bytecode was compiled without the derivatives of its outputs: `adumbra emit --stage bytecode --derivs` compiles it with them";

/// The program of a file, which is bytecode if it begins as bytecode does. The caller reports its
/// warnings, once the usage is known to be right.
///
/// # Errors
/// If the file cannot be read or has errors, which are reported; if it is bytecode, and lacks what
/// is asked for.
pub fn load(wanted: &ProgramRequest, setup: &Setup) -> CliResult<(Arc<Program>, Sources)> {
    let (name, bytes) = input::read_bytes(wanted.file)?;
    let refused = |diagnostics: Diagnostics| report_diagnostics(&diagnostics, wanted.format);
    if Program::is_bytecode(&bytes) && !wanted.group {
        refuse_for_bytecode(wanted)?;
        let sources = Sources::new(name, "");
        return match Program::from_bytecode(&bytes) {
            Ok(program) if wanted.derivs && !program.output_derivatives() => {
                Err(CliError::usage(NO_DERIVATIVES))
            }
            Ok(program) => Ok((program, sources)),
            Err(diagnostic) => Err(refused(Diagnostics {
                sources,
                diagnostics: vec![diagnostic],
            })),
        };
    }
    let text = input::decode_source(&name, bytes).map_err(refused)?;
    let options = Options {
        output_derivatives: wanted.derivs,
        shader: wanted.shader.map(str::to_owned),
        ..setup.options.clone()
    };
    let layout = match wanted.is_evaluated {
        true => setup.layout.clone(),
        false => setup.globals.layout().clone(),
    };
    let compiler = Compiler::new(layout)
        .with_options(options)
        .texture_slopes(wanted.texture_slopes);
    let compiled = match wanted.group {
        true => input::read_group(wanted.file, &name, &text)
            .and_then(|group| compiler.compile_group(&group)),
        false => files::with_includes(Sources::new(name, text))
            .and_then(|sources| compiler.compile(&sources)),
    };
    let program = compiled
        .map_err(|diagnostics| report_compile_error(diagnostics, wanted.shader, wanted.format))?;
    let sources = program.sources().expect("it was compiled").clone();
    Ok((program, sources))
}

/// Reports why there is no program. An unknown shader named on the command line is bad usage.
pub fn report_compile_error(
    diagnostics: Diagnostics,
    shader: Option<&str>,
    format: OutputFormat,
) -> CliError {
    let is_unknown = |found: &Diagnostic| found.code == Code::UnknownShader;
    let is_misused = shader.is_some() && diagnostics.diagnostics.iter().any(is_unknown);
    match (report_diagnostics(&diagnostics, format), is_misused) {
        (CliError::Reported, true) => CliError::UsageReported,
        (failure, _) => failure,
    }
}

/// Refuses options of compilation for a program that is compiled already.
fn refuse_for_bytecode(wanted: &ProgramRequest) -> CliResult {
    let compile = wanted.compile;
    let meant = [
        (wanted.shader.is_some(), "--shader"),
        (compile.merge_demand, "--merge-demand"),
        (
            compile.engine == EngineName::Reference,
            "--engine reference",
        ),
        (
            compile.derivatives != DerivativesName::Dual,
            "--derivatives",
        ),
    ];
    match meant.into_iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, option)) => Err(CliError::usage(format!(
            "{option} is for source text; this file is compiled already"
        ))),
    }
}
