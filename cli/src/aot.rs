//! `adumbra aot FILE… -o OUT.o --header OUT.h` compiles shaders ahead of time, for a linker.

use crate::args::AotArgs;
use crate::error::{CliError, CliResult};
use crate::files;
use crate::load::{ProgramRequest, load};
use crate::report::{self, OutputFormat};
use crate::setup::Setup;
use adumbra::object::{ObjectFile, Platform};
use std::path::Path;

/// # Errors
/// If a file is at fault, or the options are, or a file cannot be written.
pub fn aot(args: AotArgs) -> CliResult {
    if args.files.len() > 1 && !args.shaders.is_empty() {
        return Err(CliError::usage(
            "--shader chooses among the shaders of one file; several are given",
        ));
    }
    let written = [Some(&args.output), args.header.as_ref()].into_iter();
    let written = written.flatten().map(|path| &**path);
    files::check_no_overwrite(written, args.files.iter().map(|path| &**path))?;
    let mut file = ObjectFile::new(platform(args.target.as_deref())?);
    let setup = Setup::new(&args.compile)?;
    let names: Vec<Option<&str>> = match &args.shaders[..] {
        [] => vec![None],
        names => names.iter().map(|name| Some(&**name)).collect(),
    };
    for path in &args.files {
        for &shader in &names {
            let wanted = ProgramRequest {
                file: path,
                group: false,
                shader,
                derivs: args.derivs,
                is_evaluated: false,
                texture_slopes: false,
                format: OutputFormat::of(false),
            };
            let (program, sources) = load(&wanted, &setup)?;
            report::diagnostics_to_stderr(program.warnings(), &sources, wanted.format);
            let added = file.add(program.name(), &program, &args.same);
            added.map_err(CliError::usage)?;
            if args.compile.stats {
                report::stats_to_stderr(&program.stats(), OutputFormat::of(false));
            }
        }
    }
    let bytes = file.to_bytes().map_err(CliError::usage)?;
    // The object last: when a new one is there, its header is too.
    if let Some(path) = &args.header {
        files::write_file(path, file.header(&name(path)).as_bytes())?;
    }
    files::write_file(&args.output, &bytes)
}

/// The name of a file without its folders.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The platform that is asked for, or this host's.
fn platform(name: Option<&str>) -> CliResult<Platform> {
    let all = || Platform::ALL.map(Platform::name).join(", ");
    match name {
        Some(name) => Platform::from_name(name).ok_or_else(|| {
            CliError::usage(format!(
                "no objects are made for `{name}`; there are {}",
                all()
            ))
        }),
        None => Platform::host().ok_or_else(|| {
            CliError::usage(format!("say by --target what the object is for: {}", all()))
        }),
    }
}
