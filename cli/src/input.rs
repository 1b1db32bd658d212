//! Reads the files that a command is given.

use crate::error::{CliError, CliResult};
use crate::files::FileLoader;
use adumbra::{
    Diagnostic, Diagnostics, Sources,
    diagnostics::{Code, FileId, Span},
    group::Group,
    sources::open_file,
};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes that are read of one file. A source may have fewer still; serialised bytecode is
/// larger than its source.
pub const MAX_FILE_BYTES: u64 = 1 << 26;

/// Most sources that a compilation joins. Each compilation of a session reads all of them.
pub const MAX_SOURCE_FILES: usize = 1_000;

/// A file's bytes with the name to call it by; `-` is standard input. A file beyond
/// [`MAX_FILE_BYTES`] gives one byte more.
///
/// # Errors
/// If it cannot be read.
pub fn read_bytes(path: &Path) -> CliResult<(String, Vec<u8>)> {
    if !is_stdin(path) {
        return Ok((path.display().to_string(), read_file(path)?));
    }
    let name = "<stdin>";
    match limited(io::stdin().lock()) {
        Ok(bytes) => Ok((name.to_owned(), bytes)),
        Err(error) => Err(CliError::usage(format!("cannot read {name}: {error}"))),
    }
}

/// A file's bytes, even if it is called `-`. A file beyond [`MAX_FILE_BYTES`] gives one byte more.
///
/// # Errors
/// If it cannot be read.
pub fn read_file(path: &Path) -> CliResult<Vec<u8>> {
    read(path).map_err(|error| CliError::usage(format!("cannot read {}: {error}", path.display())))
}

/// Whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    limited(open_file(path)?)
}

fn limited(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The group that a file describes, with all files that its units include. Paths are relative to
/// its folder, or to the current one for standard input.
///
/// # Errors
/// If its form is wrong, or files of its units cannot be read.
pub fn read_group(path: &Path, name: &str, text: &str) -> Result<Group, Diagnostics> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = FileLoader::default();
    Group::from_json(name, text, |unit| {
        let path = folder.join(unit);
        let bytes = read(&path).map_err(|error| error.to_string())?;
        let name = files.register(&path, &path.display().to_string());
        let text = self::decode_source(&name, bytes)
            .map_err(|found| found.diagnostics[0].message.clone())?;
        Ok((name, text))
    })?
    .including(&files)
}

/// Refuses a source beyond [`MAX_SOURCE_FILES`].
///
/// # Errors
/// If there are as many as may be.
pub fn check_source_count(count: usize) -> CliResult {
    match count < MAX_SOURCE_FILES {
        true => Ok(()),
        false => Err(CliError::usage(format!(
            "there are {count} sources in scope already; put several into one file"
        ))),
    }
}

/// The bytes as a source, without a byte order mark at its beginning.
///
/// # Errors
/// A diagnostic at the first byte that is not UTF-8, or of a listing that `emit` printed.
pub fn decode_source(name: &str, bytes: Vec<u8>) -> Result<String, Diagnostics> {
    let without_mark = |text: String| match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    let text = String::from_utf8(bytes).map(without_mark).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[at];
        let start = at.min(u32::MAX as usize) as u32;
        let before = String::from_utf8_lossy(&error.as_bytes()[..start as usize]).into_owned();
        let diagnostic = Diagnostic::new(
            Code::NotUtf8,
            Span::new(FileId::MAIN, start, start),
            format!("`{name}` is not a text: byte 0x{byte:02x} at offset {at} is not UTF-8"),
        )
        .here("what follows is no text")
        .help("save the file as UTF-8; a serialised program is no source: `run`, `info`, `image`, `grad`, `metric`, `emit` and `aot` take one");
        Diagnostics {
            sources: Sources::new(name, before),
            diagnostics: vec![diagnostic],
        }
    })?;
    match emitted_listing(&text) {
        Some(diagnostic) => Err(Diagnostics {
            sources: Sources::new(name, text),
            diagnostics: vec![diagnostic],
        }),
        None => Ok(text),
    }
}

/// The error of a text that `emit` printed for reading, and that was saved for running.
fn emitted_listing(text: &str) -> Option<Diagnostic> {
    let line = text.lines().next()?;
    let (stage, help) = if line.starts_with("; ") && line.contains(" instructions, ") {
        let help = "`adumbra emit --stage bytecode FILE -o OUT.adub` writes bytecode that runs";
        ("bytecode", help)
    } else if line.starts_with("adumbra ir ") {
        ("intermediate representation", "give the shader's source")
    } else {
        return None;
    };
    let message = format!("this is a listing of {stage}, which is to be read by people");
    let span = Span::new(FileId::MAIN, 0, line.len() as u32);
    let diagnostic = Diagnostic::new(Code::SyntaxError, span, message);
    Some(diagnostic.here("no source begins so").help(help))
}
