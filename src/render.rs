//! Diagnostics and faults as people and programs see them. No other file prints a diagnostic.
//!
//! For people: a report with carets, drawn by ariadne. For programs: one JSON object a line. Spans
//! are bytes throughout. The source shown is made harmless first: control characters in a shader
//! never reach a terminal, and a line too long to be shown is cut to the neighbourhood of the span.

use crate::sources::{SourceFile, Sources};
use adumbra_ir::{Diagnostic, FileId, Severity, Span};
use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};
use serde::Serialize;
use std::fmt::Write;

/// A line with more bytes than this is not drawn; the neighbourhood of the span is quoted instead.
pub const MAX_DRAWN_LINE: usize = 400;

/// The maximum number of reports that are drawn; the others are counted. Programs get all of them.
pub const MAX_DRAWN: usize = 50;

/// Characters quoted on each side of a span in a line that is not drawn.
const QUOTED_AROUND: usize = 30;

/// The reports for people, errors and warnings in the order given. `color` adds terminal escapes.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources};
/// let sources = Sources::new("half.adu", "shader half(out float o) { o = hlaf(1.0); }");
/// let report = Compiler::new(GlobalsLayout::new()).compile(&sources).unwrap_err();
/// let text = adumbra::render::text(&report.diagnostics, &report.sources, false);
/// assert!(text.contains("half.adu:1:32"), "{text}");
/// ```
pub fn text(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let mut out = String::new();
    let mut shown = Shown::of(sources);
    for diagnostic in diagnostics.iter().take(MAX_DRAWN) {
        draw(diagnostic, sources, &mut shown, color, &mut out);
    }
    if diagnostics.len() > MAX_DRAWN {
        let _ = writeln!(out, "… and {} more", diagnostics.len() - MAX_DRAWN);
    }
    out
}

/// A diagnostic as programs see it.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources, render::JsonDiagnostic};
/// let sources = Sources::new("half.adu", "shader half(out float o) { o = hlaf(1.0); }");
/// let found = Compiler::new(GlobalsLayout::new()).compile(&sources).unwrap_err();
/// let json = serde_json::to_value(JsonDiagnostic::new(&found.diagnostics[0], &sources))?;
/// assert_eq!(json["span"]["column"], 32);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct JsonDiagnostic<'a> {
    file: &'a str,
    severity: &'static str,
    code: String,
    message: &'a str,
    span: JsonSpan,
    labels: Vec<JsonLabel<'a>>,
    help: Option<&'a str>,
}

/// A span as programs see it (the `span` of a [`JsonDiagnostic`], whose example shows it): bytes
/// from 0, half open. Line and column count from 1, columns in characters, where the source is
/// known.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct JsonSpan {
    start: u32,
    end: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
struct JsonLabel<'a> {
    file: &'a str,
    span: JsonSpan,
    message: &'a str,
}

impl JsonSpan {
    /// The location of a span.
    pub fn new(span: Span, sources: &Sources) -> JsonSpan {
        let file = sources.get(span.file).filter(|file| knows(file, span));
        let place = file.map(|file| file.line_column(span.start));
        JsonSpan {
            start: span.start,
            end: span.end,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    }
}

impl<'a> JsonDiagnostic<'a> {
    /// The diagnostic with its locations. The label of the primary span is the first of the labels.
    pub fn new(diagnostic: &'a Diagnostic, sources: &'a Sources) -> JsonDiagnostic<'a> {
        let here = (!diagnostic.label.is_empty()).then_some((diagnostic.span, &diagnostic.label));
        let others = diagnostic.labels.iter().map(|l| (l.span, &l.message));
        JsonDiagnostic {
            file: file_name(sources, diagnostic.span),
            severity: severity_name(diagnostic.severity()),
            code: diagnostic.code.to_string(),
            message: &diagnostic.message,
            span: JsonSpan::new(diagnostic.span, sources),
            labels: here
                .into_iter()
                .chain(others)
                .map(|(span, message)| JsonLabel {
                    file: file_name(sources, span),
                    span: JsonSpan::new(span, sources),
                    message,
                })
                .collect(),
            help: diagnostic.help.as_deref(),
        }
    }
}

/// Whether a span lies in the source that is known of its file. No span of serialised bytecode
/// does.
fn knows(file: &SourceFile, span: Span) -> bool {
    span.end as usize <= file.text().len()
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn file_name(sources: &Sources, span: Span) -> &str {
    sources.get(span.file).map_or("", SourceFile::name)
}

/// A span for ariadne: the file and the bytes.
type Range = (FileId, std::ops::Range<usize>);

fn draw(
    diagnostic: &Diagnostic,
    sources: &Sources,
    shown: &mut Shown<'_>,
    color: bool,
    out: &mut String,
) {
    let spans = || std::iter::once(diagnostic.span).chain(diagnostic.labels.iter().map(|l| l.span));
    if !spans().all(|span| can_be_drawn(span, sources)) {
        return quote(diagnostic, sources, out);
    }

    let (kind, hue) = match diagnostic.severity() {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let range = |span: Span| -> Range {
        let file = sources.get(span.file).expect("every span can be drawn");
        let start = file.text().floor_char_boundary(span.start as usize);
        let end = file.text().ceil_char_boundary(span.end as usize).max(start);
        (span.file, start..end)
    };
    let config = Config::new()
        .with_index_type(IndexType::Byte)
        .with_color(color);
    let mut report = Report::build(kind, range(diagnostic.span))
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(harmless(&diagnostic.message));
    let mut here = Label::new(range(diagnostic.span))
        .with_color(hue)
        .with_priority(1);
    if !diagnostic.label.is_empty() {
        here = here.with_message(harmless(&diagnostic.label));
    }
    let mut labels = vec![(diagnostic.span, here)];
    labels.extend(diagnostic.labels.iter().map(|label| {
        let message = harmless(&label.message);
        let drawn = Label::new(range(label.span)).with_color(Color::Cyan);
        (label.span, drawn.with_message(message))
    }));
    // Lines in their order are one excerpt, wherever the primary one is.
    labels.sort_by_key(|(span, _)| {
        let last = span.end.saturating_sub(1).max(span.start);
        let line = sources
            .get(span.file)
            .map(|file| file.line_column(last).line);
        (span.file != diagnostic.span.file, span.file, line)
    });
    report.add_labels(labels.into_iter().map(|(_, label)| label));
    if let Some(help) = &diagnostic.help {
        report.set_help(harmless(help));
    }

    let mut drawn = Vec::new();
    match report.finish().write(shown, &mut drawn) {
        Ok(()) => {
            // Lines that hold nothing but margin end in blanks.
            for line in String::from_utf8_lossy(&drawn).lines() {
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        Err(_) => quote(diagnostic, sources, out),
    }
}

/// The sources as reports show them: harmless, and prepared once for any number of reports.
struct Shown<'a> {
    sources: &'a Sources,
    files: Vec<Option<Source<String>>>,
}

impl<'a> Shown<'a> {
    fn of(sources: &'a Sources) -> Shown<'a> {
        Shown {
            sources,
            files: vec![None; sources.iter().len()],
        }
    }
}

impl ariadne::Cache<FileId> for &mut Shown<'_> {
    type Storage = String;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<String>, impl std::fmt::Debug> {
        let file = self.sources.get(*id).ok_or("no such source")?;
        let shown = &mut self.files[id.0 as usize];
        Ok::<_, &str>(shown.get_or_insert_with(|| Source::from(harmless(file.text()))))
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl std::fmt::Display + 'b> {
        self.sources.get(*id).map(|file| harmless(file.name()))
    }
}

/// Whether the first and last line of a span are short enough to be shown whole.
fn can_be_drawn(span: Span, sources: &Sources) -> bool {
    let Some(file) = sources.get(span.file) else {
        return false;
    };
    let is_short = |byte| file.line_range(file.line_column(byte).line).len() <= MAX_DRAWN_LINE;
    !file.text().is_empty() && is_short(span.start) && is_short(span.end)
}

/// The report without a drawing: for spans in lines that are too long to be shown, or in sources
/// that are not known.
fn quote(diagnostic: &Diagnostic, sources: &Sources, out: &mut String) {
    let kind = match diagnostic.severity() {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let _ = writeln!(
        out,
        "[{}] {kind}: {}",
        diagnostic.code,
        harmless(&diagnostic.message)
    );
    let primary = std::iter::once((diagnostic.span, &diagnostic.label));
    let others = diagnostic.labels.iter().map(|l| (l.span, &l.message));
    for (span, message) in primary.chain(others) {
        let Some(file) = sources.get(span.file) else {
            continue;
        };
        if file.text().is_empty() {
            let _ = match span.end {
                0 => writeln!(out, "  in {}", harmless(file.name())),
                _ => writeln!(
                    out,
                    "  in {}, made from bytes {} to {} of its source",
                    harmless(file.name()),
                    span.start,
                    span.end
                ),
            };
            continue;
        }
        let place = file.line_column(span.start);
        let line = &file.text()[file.line_range(place.line)];
        let at = place.column as usize - 1;
        let near: String = line
            .chars()
            .skip(at.saturating_sub(QUOTED_AROUND))
            .take(2 * QUOTED_AROUND)
            .collect();
        let before = if at > QUOTED_AROUND { "…" } else { "" };
        let _ = write!(
            out,
            "  at {}:{}:{} near `{before}{}…`",
            harmless(file.name()),
            place.line,
            place.column,
            harmless(&near)
        );
        match message.as_str() {
            "" => out.push('\n'),
            message => {
                let _ = writeln!(out, ": {}", harmless(message));
            }
        }
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  Help: {}", harmless(help));
    }
}

/// The source with every control character and every line separator but the line feed replaced by
/// something visible of as many bytes. Spans stay right, lines are counted as elsewhere, and a
/// terminal obeys nothing that a shader says.
///
/// ```
/// assert_eq!(adumbra::render::harmless("red \x1b[31m"), "red ?[31m");
/// ```
pub fn harmless(text: &str) -> String {
    let replaced = |c: char| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() && c.len_utf8() == 1 => '?',
        c if c.is_control() => '¿',
        c => c,
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::Code;

    fn diagnostic(start: u32, end: u32) -> Diagnostic {
        Diagnostic::new(Code::SyntaxError, Span::new(FileId::MAIN, start, end), "no")
            .here("this one")
            .help("leave it out")
    }

    #[test]
    fn report_shows_location_line_and_help() {
        let sources = Sources::new("a.adu", "float é = 1;\nfloat y = ;\n");
        let plain = text(&[diagnostic(24, 25)], &sources, false);
        assert!(plain.contains("[E0104] Error: no"), "{plain}");
        assert!(plain.contains("a.adu:2:11"), "{plain}");
        assert!(plain.contains("float y = ;"), "{plain}");
        assert!(plain.contains("this one") && plain.contains("leave it out"));
        assert!(!plain.contains('\x1b'));
        assert!(text(&[diagnostic(24, 25)], &sources, true).contains('\x1b'));
    }

    #[test]
    fn control_characters_never_reach_terminal() {
        let hostile = "a\x1b[2J\r\u{9b}\u{2028}\u{202e}\x07 b\nc";
        assert_eq!(harmless(hostile).len(), hostile.len());
        let sources = Sources::new("x\x1b[2J", hostile);
        let mut diagnostic = diagnostic(1, 3);
        diagnostic.message = hostile.to_owned();
        let plain = text(&[diagnostic], &sources, false);
        assert!(
            plain.chars().all(|c| c == '\n' || !c.is_control()),
            "{plain:?}"
        );
    }

    #[test]
    fn long_line_is_quoted() {
        let long = "1+".repeat(500_000);
        let sources = Sources::new("long.adu", long);
        let plain = text(&[diagnostic(600_000, 600_001)], &sources, false);
        assert!(plain.len() < 1_000, "{} bytes", plain.len());
        assert!(plain.contains("long.adu:1:600001"), "{plain}");
    }

    #[test]
    fn every_span_can_be_rendered() {
        let sources = Sources::new("a.adu", "é\n\r\n");
        for start in 0..8 {
            for end in start..8 {
                assert!(!text(&[diagnostic(start, end)], &sources, true).is_empty());
            }
        }
        let letters = [
            "a",
            "é",
            "日",
            "\t",
            "\n",
            "\r\n",
            " ",
            "\u{200b}",
            "\u{85}",
            "👩‍👩‍👧",
        ];
        let mut numbers = fastrand::Rng::with_seed(1);
        let mut random = |below: u32| numbers.u32(..below);
        for _ in 0..500 {
            let text: String = (0..random(30))
                .map(|_| letters[random(letters.len() as u32) as usize])
                .collect();
            let mut span = || {
                let start = random(text.len() as u32 + 3);
                Span::new(FileId::MAIN, start, start + random(9))
            };
            let first = span();
            let diagnostic = diagnostic(first.start, first.end)
                .label(span(), "one")
                .label(span(), "two");
            let sources = Sources::new("r.adu", text);
            assert!(!super::text(&[diagnostic], &sources, true).is_empty());
        }
        let mut elsewhere = diagnostic(0, 1);
        elsewhere.span.file = FileId(7);
        assert!(text(&[elsewhere], &sources, false).contains("[E0104]"));
    }

    #[test]
    fn many_reports_are_counted() {
        let sources = Sources::new("a.adu", "x");
        let plain = text(&vec![diagnostic(0, 1); MAX_DRAWN + 7], &sources, false);
        assert!(plain.ends_with("… and 7 more\n"));
    }

    #[test]
    fn json_has_contract_fields() {
        let sources = Sources::new("a.adu", "x\ny z");
        let diagnostic = diagnostic(4, 5).label(Span::new(FileId::MAIN, 0, 1), "declared here");
        let json = serde_json::to_value(JsonDiagnostic::new(&diagnostic, &sources)).unwrap();
        let span = serde_json::json!({"start": 4, "end": 5, "line": 2, "column": 3});
        assert_eq!(
            json,
            serde_json::json!({
                "file": "a.adu", "severity": "error", "code": "E0104", "message": "no", "span": span,
                "labels": [
                    {"file": "a.adu", "span": span, "message": "this one"},
                    {"file": "a.adu", "span": {"start": 0, "end": 1, "line": 1, "column": 1}, "message": "declared here"},
                ],
                "help": "leave it out",
            })
        );
    }
}
