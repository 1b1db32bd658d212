//! Reading the files that a command is given.

use crate::outcome::{Failure, Outcome};
use adumbra::{Code, Diagnostic, FileId, Findings, Sources, Span};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// A file's bytes with the name to call it by; `-` is standard input.
pub fn bytes(path: &Path) -> Outcome<(String, Vec<u8>)> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        return match io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Ok(("<stdin>".to_owned(), bytes)),
            Err(error) => Err(Failure::usage(format!(
                "cannot read standard input: {error}"
            ))),
        };
    }
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(Failure::usage(format!("cannot read {name}: {error}"))),
    }
}

/// The bytes as text; a diagnostic at the first byte that is not.
pub fn text(name: &str, bytes: Vec<u8>) -> Result<String, Findings> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[at];
        let start = at.min(u32::MAX as usize) as u32;
        let before = String::from_utf8_lossy(&error.as_bytes()[..start as usize]).into_owned();
        let diagnostic = Diagnostic::new(
            Code::NotUtf8,
            Span::new(FileId::MAIN, start, start),
            format!("`{name}` is not a text: byte 0x{byte:02x} at offset {at} is not UTF-8"),
        )
        .here("the text ends here")
        .help("save the file as UTF-8; serialised bytecode is taken by `run` alone");
        Findings {
            sources: Sources::new(name, before),
            diagnostics: vec![diagnostic],
        }
    })
}
