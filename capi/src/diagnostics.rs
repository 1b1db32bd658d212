//! Errors, warnings and faults as data, as a report, and as JSON.

use crate::argument::{Argument, arg};
use crate::error::c_string;
use crate::guard::{Result, guard};
use crate::options::{AdumbraFormat, report_format};
use crate::pointer::{borrow, borrow_out, free_handle, out_buffer, store_handle};
use crate::sized_struct::{self, SizedStruct};
use crate::status::AdumbraStatus;
use adumbra::render::{self, JsonDiagnostic};
use adumbra::{
    Diagnostic, Diagnostics, Program, Sources,
    diagnostics::{Severity, fault_diagnostic},
    host::Faults,
};
use std::ffi::{CString, c_char};
use std::ptr::null;
use std::sync::OnceLock;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraSeverity {
    /// There is a program, or a result, perhaps not what was wanted.
    Warning = 0,
    /// There is none.
    Error = 1,
}

/// Errors and warnings of a compilation, or faults of a point, with the sources that they point
/// into.
#[derive(Debug)]
pub struct AdumbraDiagnostics {
    found: Diagnostics,
    /// The strings of each, made on first use.
    strings: OnceLock<Vec<DiagnosticStrings>>,
}

/// The strings of a diagnostic, as C reads them.
#[derive(Debug)]
struct DiagnosticStrings {
    code: CString,
    message: CString,
    help: Option<CString>,
    file: CString,
}

/// One diagnostic. Its strings live as long as its `AdumbraDiagnostics`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraDiagnostic {
    /// Bytes of this struct.
    pub size: u32,
    /// Its `AdumbraSeverity`.
    pub severity: u32,
    /// Its code, as in `E0201`.
    pub code: *const c_char,
    /// The message, one sentence.
    pub message: *const c_char,
    /// How to fix it, or NULL.
    pub help: *const c_char,
    /// The name of the source that it points into; `<bytecode>` for a program that was loaded.
    pub file: *const c_char,
    /// The first byte of the span in the source.
    pub start: u32,
    /// The first byte after the span.
    pub end: u32,
    /// Its line, counted from 1; 0 if the source is not known.
    pub line: u32,
    /// Its column in characters, counted from 1; 0 if the source is not known.
    pub column: u32,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraDiagnostic {}

impl AdumbraDiagnostics {
    fn strings(&self) -> &[DiagnosticStrings] {
        self.strings.get_or_init(|| {
            let found = self.found.diagnostics.iter();
            found
                .map(|found| DiagnosticStrings {
                    code: c_string(&found.code.to_string()),
                    message: c_string(&found.message),
                    help: found.help.as_deref().map(c_string),
                    file: c_string(
                        self.found
                            .sources
                            .get(found.span.file)
                            .map_or("", |file| file.name()),
                    ),
                })
                .collect()
        })
    }

    fn diagnostic(&self, index: Argument<usize>) -> Result<AdumbraDiagnostic> {
        let all = &self.found.diagnostics;
        let found = all.get(index.value);
        let found = found.ok_or_else(|| index.beyond(all.len(), "diagnostics"))?;
        let strings = &self.strings()[index.value];
        let file = self.found.sources.get(found.span.file);
        let file = file.filter(|file| found.span.end as usize <= file.text().len());
        let place = file.map(|file| file.line_column(found.span.start));
        Ok(AdumbraDiagnostic {
            size: 0,
            severity: match found.severity() {
                Severity::Warning => AdumbraSeverity::Warning as u32,
                Severity::Error => AdumbraSeverity::Error as u32,
            },
            code: strings.code.as_ptr(),
            message: strings.message.as_ptr(),
            help: strings.help.as_ref().map_or(null(), |help| help.as_ptr()),
            file: strings.file.as_ptr(),
            start: found.span.start,
            end: found.span.end,
            line: place.map_or(0, |place| place.line),
            column: place.map_or(0, |place| place.column),
        })
    }

    fn text(&self, format: AdumbraFormat) -> String {
        let Diagnostics {
            diagnostics,
            sources,
        } = &self.found;
        match format {
            AdumbraFormat::Text => render::text(diagnostics, sources, false),
            AdumbraFormat::Json => {
                let found = diagnostics.iter();
                let found: Vec<_> = found.map(|d| JsonDiagnostic::new(d, sources)).collect();
                serde_json::to_string(&found).expect("strings and numbers serialise")
            }
        }
    }
}

/// Stores diagnostics for a caller that has a pointer for them.
pub(crate) fn store_diagnostics(to: Option<&mut *mut AdumbraDiagnostics>, found: Diagnostics) {
    if let Some(to) = to {
        let strings = OnceLock::new();
        store_handle(to, AdumbraDiagnostics { found, strings });
    }
}

/// A substitute for the sources of a program that was loaded.
fn bytecode() -> Sources {
    Sources::new("<bytecode>", "")
}

/// The sources that a program's spans point into.
pub(crate) fn sources_of(program: &Program) -> Sources {
    let sources = program.sources().cloned();
    sources.unwrap_or_else(bytecode)
}

/// The faults of a point as diagnostics.
pub(crate) fn fault_diagnostics(faults: &Faults, program: &Program) -> Diagnostics {
    Diagnostics {
        diagnostics: faults.iter().map(fault_diagnostic).collect(),
        sources: sources_of(program),
    }
}

/// The diagnostic of invalid bytecode.
pub(crate) fn bytecode_diagnostics(diagnostic: Diagnostic) -> Diagnostics {
    Diagnostics {
        diagnostics: vec![diagnostic],
        sources: bytecode(),
    }
}

/// The number of diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_count(
    diagnostics: *const AdumbraDiagnostics,
    count: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (diagnostics, count) =
            unsafe { (borrow(arg!(diagnostics))?, borrow_out(arg!(count))?) };
        count.write(diagnostics.found.diagnostics.len());
        Ok(())
    })
}

/// One of the diagnostics, in the order of detection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_get(
    diagnostics: *const AdumbraDiagnostics,
    index: usize,
    diagnostic: *mut AdumbraDiagnostic,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (diagnostics, diagnostic) = unsafe {
            (
                borrow(arg!(diagnostics))?,
                sized_struct::out_struct(arg!(diagnostic))?,
            )
        };
        diagnostic.write(diagnostics.diagnostic(arg!(index))?);
        Ok(())
    })
}

/// All diagnostics: by `format`, an `AdumbraFormat`, the reports that the command prints, or the
/// JSON array that it prints with `--json`. The string ends with NUL. `needed`, unless it is NULL,
/// is its length with that NUL, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_render(
    diagnostics: *const AdumbraDiagnostics,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (diagnostics, buffer) = unsafe {
            (
                borrow(arg!(diagnostics))?,
                out_buffer(arg!(buffer).cast(), capacity, arg!(needed))?,
            )
        };
        let text = diagnostics.text(report_format(arg!(format))?);
        buffer.fill_string(&text)
    })
}

/// Frees diagnostics.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_free(diagnostics: *mut AdumbraDiagnostics) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_handle(arg!(diagnostics)) });
}
