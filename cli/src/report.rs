//! Prints diagnostics and faults: reports for people, one JSON object a line for programs.

use crate::error::CliError;
use crate::show;
use crate::tape::tape_text;
use adumbra::render::{self, JsonDiagnostic, JsonSpan};
use adumbra::{
    Diagnostic, Diagnostics, Evaluator, Sources,
    batch::Tier,
    diagnostics::fault_diagnostic,
    host::FaultKind,
    inspect::{NativeStats, Stats},
};
use serde::Serialize;
use std::io::{self, Write};

/// The reader that the command writes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// People.
    Text,
    /// Programs: `--json`.
    Json,
}

impl OutputFormat {
    /// The format that `--json` selects.
    pub fn of(json: bool) -> OutputFormat {
        if json {
            OutputFormat::Json
        } else {
            OutputFormat::Text
        }
    }
}

/// Reports diagnostics on standard error. Standard output belongs to results.
pub fn diagnostics_to_stderr(diagnostics: &[Diagnostic], sources: &Sources, format: OutputFormat) {
    let mut stderr = anstream::stderr();
    // There is nowhere to report a failure of standard error to.
    let _ = match format {
        OutputFormat::Json => json_lines(diagnostics, sources, &mut stderr),
        OutputFormat::Text => {
            let text = render::text(diagnostics, sources, true);
            stderr.write_all(text.as_bytes())
        }
    };
}

/// Reports the diagnostics that prevent a program.
pub fn report_diagnostics(diagnostics: &Diagnostics, format: OutputFormat) -> CliError {
    diagnostics_to_stderr(&diagnostics.diagnostics, &diagnostics.sources, format);
    CliError::Reported
}

/// Writes one JSON object a line.
pub fn json_lines(
    diagnostics: &[Diagnostic],
    sources: &Sources,
    out: &mut impl Write,
) -> io::Result<()> {
    for diagnostic in diagnostics {
        serde_json::to_writer(&mut *out, &JsonDiagnostic::new(diagnostic, sources))?;
        writeln!(out)?;
    }
    Ok(())
}

/// A message of the command itself.
pub fn message(message: &str) {
    // There is nowhere to report a failure of standard error to.
    let _ = writeln!(anstream::stderr(), "adumbra: {}", render::harmless(message));
}

/// Prints a message of the command itself; for programs, as an object of that severity.
fn said(severity: &str, text: &str, format: OutputFormat) {
    #[derive(Serialize)]
    struct Line<'a> {
        severity: &'a str,
        message: &'a str,
    }
    if format == OutputFormat::Text {
        return message(text);
    }
    let line = Line {
        severity,
        message: text,
    };
    let line = serde_json::to_string(&line).expect("strings serialise");
    // There is nowhere to report a failure of standard error to.
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints a note that is no diagnostic.
pub fn note(text: &str, format: OutputFormat) {
    said("note", text, format);
}

/// Prints an error of the command that is no diagnostic.
pub fn error(text: &str, format: OutputFormat) {
    said("error", text, format);
}

/// The faults of the last evaluation, as diagnostics.
pub fn fault_diagnostics(evaluator: &Evaluator) -> Vec<Diagnostic> {
    let faults = evaluator.faults();
    let mut diagnostics: Vec<Diagnostic> = faults.iter().map(fault_diagnostic).collect();
    if let (Some(last), Some(FaultKind::Cancelled)) = (
        diagnostics.last_mut(),
        faults.stopped().map(|fault| fault.kind),
    ) {
        last.help = Some("Ctrl-C was pressed".to_owned());
    }
    diagnostics
}

/// Reports faults to people, and how many there were beyond those that are kept.
pub fn faults_to_stderr(evaluator: &Evaluator, sources: &Sources) {
    diagnostics_to_stderr(&fault_diagnostics(evaluator), sources, OutputFormat::Text);
    note_omitted_faults(evaluator.faults().omitted_count());
}

/// Prints how many faults are not listed, if there are any.
pub fn note_omitted_faults(more: u32) {
    if more > 0 {
        message(&format!("… and {more} more faults"));
    }
}

/// A fault, for JSON.
#[derive(Debug, Serialize)]
pub struct JsonFault {
    /// The source that the location is in, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    code: String,
    message: String,
    span: JsonSpan,
}

impl JsonFault {
    /// Each fault with its location.
    pub fn all(faults: &[Diagnostic], sources: &Sources) -> Vec<JsonFault> {
        let fault = |fault: &Diagnostic| JsonFault {
            file: (sources.get(fault.span.file)).map(|file| file.name().to_owned()),
            code: fault.code.to_string(),
            message: fault.message.clone(),
            span: JsonSpan::new(fault.span, sources),
        };
        faults.iter().map(fault).collect()
    }
}

/// Prints the statistics of a compilation.
pub fn stats_to_stderr(stats: &Stats, format: OutputFormat) {
    #[derive(Serialize)]
    struct Line<'a> {
        stats: &'a Stats,
    }
    if format == OutputFormat::Json {
        let line = serde_json::to_string(&Line { stats }).expect("numbers serialise");
        // There is nowhere to report a failure of standard error to.
        let _ = writeln!(anstream::stderr(), "{line}");
        return;
    }
    let phases = stats.phases_us;
    let times = [
        ("parse", phases.parse),
        ("check", phases.check),
        ("lower", phases.lower),
        ("lineage", phases.lineage),
        ("demand", phases.demand),
        ("optimise", phases.optimise),
        ("bytecode", phases.bytecode),
        ("total", phases.total),
    ];
    let sizes = [
        ("ir ops", stats.ir_ops),
        ("bytecode ops", stats.bytecode_ops),
        ("bytecode bytes", stats.bytecode_bytes),
        ("lanes", stats.lanes),
        ("registers", stats.registers),
        ("program's memory", stats.memory.program),
    ];
    let native = stats
        .native
        .map(|native| ("machine code", native.compile_us));
    let times = times.into_iter().chain(native);
    let times = times.map(|(name, time)| vec![name.to_owned(), format!("{time:>10.1} µs")]);
    let others = [
        ("instance's memory", stats.memory.instance),
        ("evaluator's memory", stats.memory.evaluator),
        ("machine code's bytes", stats.native.map(|n| n.code_bytes)),
    ];
    let others = others
        .into_iter()
        .filter_map(|(name, size)| Some((name, size?)));
    let sizes = sizes.into_iter().chain(others);
    let sizes = sizes.map(|(name, size)| vec![name.to_owned(), format!("{size:>10}")]);
    let tier = stats
        .tier
        .map(|tier| vec!["arithmetic by".to_owned(), self::tier(tier, stats.native)]);
    let rows: Vec<_> = times.chain(sizes).chain(tier).collect();
    let text = show::table(&rows) + &tape_text(&stats.tape);
    // There is nowhere to report a failure of standard error to.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// The tier that computes arithmetic instructions, and why.
fn tier(tier: Tier, native: Option<NativeStats>) -> String {
    let name = match tier {
        Tier::Interpreter => "the interpreter",
        Tier::Native => "machine code",
        Tier::Auto => "either",
    };
    let Some(native) = native else {
        return name.to_owned();
    };
    let speedup = native.speedup.map(|ratio| match tier {
        Tier::Native => format!(", {ratio:.2} times as fast as the interpreter"),
        _ => format!(", machine code being {ratio:.2} times as fast"),
    });
    let troubles = [
        (native.refused, "no executable memory"),
        (native.panicked, "the compiler failed"),
    ];
    let troubles = troubles.into_iter().filter(|(count, _)| *count > 0);
    let troubles = troubles.map(|(count, what)| format!(", {what} ({count} times)"));
    [name.to_owned()]
        .into_iter()
        .chain(speedup)
        .chain(troubles)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkerboard::{CheckerboardHost, Interrupt};
    use adumbra::{Compiler, Globals, GlobalsLayout, Instance, diagnostics::Code};

    #[test]
    fn stopped_point_reports_its_reason() {
        let text = "shader s(out int o) { for (;;) o++; }";
        let sources = Sources::new("endless.adu", text);
        let compiled = Compiler::new(GlobalsLayout::new()).compile(&sources);
        let program = compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let mut evaluator = Evaluator::new(&Instance::new(&program));
        let mut stops = |interrupt: &Interrupt| {
            let mut checker = CheckerboardHost::new(interrupt);
            evaluator.evaluate(&Globals::new(program.globals()), &mut checker);
            let mut faults = fault_diagnostics(&evaluator);
            let last = faults.pop().expect("the loop has no end");
            (last.code, last.help.expect("a fix"))
        };
        let interrupt = Interrupt::default();
        let (code, help) = stops(&interrupt);
        assert_eq!(code, Code::StepBudget);
        assert!(help.starts_with("let the loop"), "{help}");
        interrupt.press();
        let (code, help) = stops(&interrupt);
        assert_eq!((code, &*help), (Code::Cancelled, "Ctrl-C was pressed"));
    }
}
