//! Errors, warnings and faults: as data, as a report for people, as JSON.

use crate::guard::{Result, guard};
use crate::options::{AdumbraFormat, report_format};
use crate::pointer::{borrow, borrow_out, fill_string, free_handle, store_handle};
use crate::sized_struct::{self, SizedStruct};
use crate::status::AdumbraStatus;
use crate::variable::c_string;
use adumbra::render::{self, JsonDiagnostic};
use adumbra::{
    Diagnostic, Diagnostics, Program, Sources,
    diagnostics::{Severity, fault_diagnostic},
    host::Faults,
};
use std::ffi::{CString, c_char};
use std::ptr::null;
use std::sync::OnceLock;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraSeverity {
    /// There is a program, or a result, perhaps not what was wanted.
    Warning = 0,
    /// There is none.
    Error = 1,
}

/// Errors and warnings of a compilation, or faults of a point, with the texts that they speak of.
#[derive(Debug)]
pub struct AdumbraDiagnostics {
    found: Diagnostics,
    /// One for each, made when first asked for.
    texts: OnceLock<Vec<Texts>>,
}

/// What C reads of a finding.
#[derive(Debug)]
struct Texts {
    code: CString,
    message: CString,
    help: Option<CString>,
    file: CString,
}

/// One finding. The texts live as long as the findings.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraDiagnostic {
    /// Bytes of this struct.
    pub size: u32,
    /// Its `AdumbraSeverity`.
    pub severity: u32,
    /// Its code, as in `E0201`.
    pub code: *const c_char,
    /// What is wrong, in one sentence.
    pub message: *const c_char,
    /// How to mend it, or NULL.
    pub help: *const c_char,
    /// The name of the text that it speaks of; `<bytecode>` for a program that was loaded.
    pub file: *const c_char,
    /// The first byte of the place in the text.
    pub start: u32,
    /// The first byte behind it.
    pub end: u32,
    /// Its line, counted from 1; 0 if the text is not known.
    pub line: u32,
    /// Its column in characters, counted from 1; 0 if the text is not known.
    pub column: u32,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraDiagnostic {}

impl AdumbraDiagnostics {
    fn texts(&self) -> &[Texts] {
        self.texts.get_or_init(|| {
            let found = self.found.diagnostics.iter();
            found
                .map(|found| Texts {
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

    fn finding(&self, index: usize) -> Result<AdumbraDiagnostic> {
        let found = self.found.diagnostics.get(index);
        let (found, texts) = (found.ok_or(AdumbraStatus::Index)?, &self.texts()[index]);
        let file = self.found.sources.get(found.span.file);
        let file = file.filter(|file| found.span.end as usize <= file.text().len());
        let place = file.map(|file| file.line_column(found.span.start));
        Ok(AdumbraDiagnostic {
            size: 0,
            severity: match found.severity() {
                Severity::Warning => AdumbraSeverity::Warning as u32,
                Severity::Error => AdumbraSeverity::Error as u32,
            },
            code: texts.code.as_ptr(),
            message: texts.message.as_ptr(),
            help: texts.help.as_ref().map_or(null(), |help| help.as_ptr()),
            file: texts.file.as_ptr(),
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
                serde_json::to_string(&found).expect("texts and numbers serialise")
            }
        }
    }
}

/// Gives findings to a caller who wants them.
pub(crate) fn store_diagnostics(to: Option<&mut *mut AdumbraDiagnostics>, found: Diagnostics) {
    if let Some(to) = to {
        let texts = OnceLock::new();
        store_handle(to, AdumbraDiagnostics { found, texts });
    }
}

/// What stands for the texts of a program that was loaded.
fn bytecode() -> Sources {
    Sources::new("<bytecode>", "")
}

/// What a program's places point into.
pub(crate) fn sources_of(program: &Program) -> Sources {
    let sources = program.sources().cloned();
    sources.unwrap_or_else(bytecode)
}

/// The faults of a point as findings.
pub(crate) fn fault_diagnostics(faults: &Faults, program: &Program) -> Diagnostics {
    Diagnostics {
        diagnostics: faults.iter().map(fault_diagnostic).collect(),
        sources: sources_of(program),
    }
}

/// What is wrong with a file of bytecode.
pub(crate) fn bytecode_diagnostics(diagnostic: Diagnostic) -> Diagnostics {
    Diagnostics {
        diagnostics: vec![diagnostic],
        sources: bytecode(),
    }
}

/// How many findings there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_count(
    findings: *const AdumbraDiagnostics,
    count: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (findings, count) = unsafe { (borrow(findings)?, borrow_out(count)?) };
        count.write(findings.found.diagnostics.len());
        Ok(())
    })
}

/// One of the findings, in the order found.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_get(
    findings: *const AdumbraDiagnostics,
    index: usize,
    finding: *mut AdumbraDiagnostic,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (findings, finding) =
            unsafe { (borrow(findings)?, sized_struct::out_struct(finding)?) };
        finding.write(findings.finding(index)?);
        Ok(())
    })
}

/// All findings: by `format`, an `AdumbraFormat`, the reports that the command prints, or a JSON array of what it prints with `--json`. The text ends with NUL,
/// and `needed`, unless it is NULL, is its length with that NUL, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_render(
    findings: *const AdumbraDiagnostics,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let findings = unsafe { borrow(findings)? };
        let text = findings.text(self::report_format(format)?);
        // SAFETY: as above.
        unsafe { fill_string(text, buffer, capacity, needed) }
    })
}

/// Frees findings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_diagnostics_free(findings: *mut AdumbraDiagnostics) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_handle(findings) });
}
