//! What is said of an expression's derivatives: about the expression as it was typed, and nothing
//! of the functions around it.

use super::super::expression_text::reached;
use super::super::session::{CompiledEntry, EXPRESSION};
use super::{DERIVATIVES, Differentiated};
use crate::report::{self, OutputFormat};
use adumbra::diagnostics::{Code, FileId, Span};
use adumbra::{Diagnostic, Diagnostics, Sources};

impl Differentiated<'_> {
    /// Where a byte of the text is in what was typed.
    fn typed_byte(&self, byte: usize) -> usize {
        let (mut text, mut typed) = (0, 0);
        for (bytes, name) in &self.replaced {
            let start = text + (bytes.start - typed);
            if byte <= start {
                break;
            }
            (text, typed) = (start + name, bytes.end);
        }
        typed + byte.saturating_sub(text)
    }

    /// Diagnostics of a derivative, about the expression in place of what is written around it.
    pub(super) fn quoted(&self, found: &[Diagnostic], sources: &Sources) -> Diagnostics {
        let start = self.declarations(&self.result, "").1 as u32;
        let end = self.text.len() as u32;
        let whole = Span::new(FileId::MAIN, 0, self.typed.len() as u32);
        let typed = |byte: u32| self.typed_byte((byte - start) as usize) as u32;
        let around = own_file(sources);
        let moved = |span: Span| match span.file {
            file if Some(file) == around && start <= span.start && span.end <= start + end => {
                Span::new(FileId::MAIN, typed(span.start), typed(span.end))
            }
            file if Some(file) == around || file == FileId::MAIN => whole,
            _ => span,
        };
        let renamed = |text: &str| {
            let text = text.replace(&format!("`{}`", self.own("value")), "the expression");
            let text = text.replace(&format!("`{}`", self.own("derivative")), "the expression");
            let renamed = self.variables.iter().filter(|v| v.label != v.name);
            renamed.fold(text, |text, v| {
                text.replace(&format!("`{}`", v.name), &format!("`{}`", v.label))
            })
        };
        let mut shown = Sources::new(EXPRESSION, &*self.typed);
        for (_, file) in sources.iter().skip(1) {
            shown.add(file.name(), file.text());
        }
        let quoted = found.iter().map(|diagnostic| {
            let mut quoted = diagnostic.clone();
            quoted.span = moved(quoted.span);
            quoted.message = renamed(&quoted.message);
            quoted.help = quoted.help.as_deref().map(renamed);
            for label in &mut quoted.labels {
                label.span = moved(label.span);
                label.message = renamed(&label.message);
            }
            // Two places that are both the whole expression are one.
            quoted.labels.retain(|label| label.span != quoted.span);
            quoted
        });
        Diagnostics {
            diagnostics: quoted.collect(),
            sources: shown,
        }
    }

    /// Warns of gradients that end where the expression reaches, as its reverse derivative shows.
    ///
    /// Returns whether there are any.
    pub(super) fn warn_of_losses(&self, reverse: &CompiledEntry) -> bool {
        let sources = &reverse.sources;
        let reached = reached(&self.text, sources);
        let is_within = |inner: Span, outer: Span| {
            inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
        };
        let own = own_file(sources);
        let is_own = |span: Span| Some(span.file) == own;
        let mut losses = Vec::new();
        for warning in reverse.program().warnings() {
            let is_loss = matches!(warning.code, Code::FlatDerivative | Code::RoundedGradient);
            let is_reached = || reached.iter().any(|of| is_within(warning.span, of.place));
            if !is_loss || !(is_own(warning.span) || is_reached()) {
                continue;
            }
            let mut warning = warning.clone();
            if warning.code == Code::FlatDerivative && is_own(warning.span) {
                let help = "nothing that has a derivative leads from there to the value: rounding, comparisons, `detach` and `no_diff` have none";
                warning.help = Some(help.to_owned());
            }
            losses.push(warning);
        }
        let quoted = self.quoted(&losses, sources);
        report::diagnostics_to_stderr(&quoted.diagnostics, &quoted.sources, OutputFormat::Text);
        !losses.is_empty()
    }
}

/// The source around an expression: after those in scope, whatever their names are.
fn own_file(sources: &Sources) -> Option<FileId> {
    let own = sources
        .iter()
        .filter(|(_, file)| file.name() == DERIVATIVES);
    own.map(|(id, _)| id).last()
}
