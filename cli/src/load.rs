//! Loads a program from a file: a source, a group, or serialised bytecode.

use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::report::{OutputFormat, report_diagnostics};
use crate::setup::Setup;
use adumbra::{
    Compiler, Derivatives, Diagnostic, Diagnostics, Options, Program, Sources, diagnostics::Code,
};
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
}

impl<'a> ProgramRequest<'a> {
    /// A source whose gradient is taken.
    pub fn of_gradient(
        file: &'a Path,
        shader: Option<&'a str>,
        format: OutputFormat,
    ) -> ProgramRequest<'a> {
        ProgramRequest {
            file,
            group: false,
            shader,
            derivs: false,
            is_evaluated: true,
            texture_slopes: true,
            format,
        }
    }
}

/// The program of a file, which is bytecode if it begins as bytecode does. The caller reports its
/// warnings, once the usage is known to be right.
///
/// # Errors
/// If the file cannot be read or has errors, which are reported; if it is bytecode, and a shader of
/// it is named.
pub fn load(wanted: &ProgramRequest, setup: &Setup) -> CliResult<(Arc<Program>, Sources)> {
    let (name, bytes) = input::read_bytes(wanted.file)?;
    let refused = |diagnostics: Diagnostics| report_diagnostics(&diagnostics, wanted.format);
    if Program::is_bytecode(&bytes) && !wanted.group {
        let options = Options {
            output_derivatives: wanted.derivs,
            shader: wanted.shader.map(str::to_owned),
            ..setup.options.clone()
        };
        let program = load_bytecode(&name, &bytes, options)?.map_err(refused)?;
        return Ok((program, Sources::new(name, "")));
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

/// The program of a file of bytecode, compiled anew for options that are no defaults.
///
/// # Errors
/// If an option is for source text.
pub fn load_bytecode(
    name: &str,
    bytes: &[u8],
    asked: Options,
) -> CliResult<Result<Arc<Program>, Diagnostics>> {
    if asked.shader.is_some() {
        return Err(CliError::usage(
            "--shader is for source text; this file is of one shader",
        ));
    }
    let loaded = Program::from_bytecode(bytes).map_err(|diagnostic| Diagnostics {
        sources: Sources::new(name, ""),
        diagnostics: vec![diagnostic],
    });
    Ok(loaded.and_then(|program| {
        let mut options = program.options().clone();
        if asked.derivatives != Derivatives::default() {
            options.derivatives = asked.derivatives;
            options.at_divergence = asked.at_divergence;
        }
        options.output_derivatives |= asked.output_derivatives;
        options.merge_demand |= asked.merge_demand;
        match options == *program.options() {
            true => Ok(program),
            false => program.with_options(options),
        }
    }))
}
