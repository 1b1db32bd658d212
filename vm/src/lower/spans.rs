//! Source spans of instructions. A program has them only for instructions that can fault; this
//! module lowers a module again to find all.

use super::function::FunctionEmitter;
use super::linear_order::InstVisitor;
use super::lower_with;
use adumbra_ir::diagnostic::Diagnostic;
use adumbra_ir::module::{Inst, Module};
use adumbra_ir::span::Span;

/// The source span of each instruction that [`lower`](super::lower) makes of a module.
///
/// # Panics
/// If the verifier does not accept the module.
///
/// # Errors
/// As for `lower`.
pub fn instruction_spans(module: &Module) -> Result<Vec<Span>, Diagnostic> {
    let mut spans = Vec::new();
    lower_with(module, Some(&mut spans))?;
    Ok(spans)
}

/// Emits a function, and records the source spans of its instructions.
pub(super) struct SpanRecorder<'e, 'f, 'l, 'm> {
    emitter: &'e mut FunctionEmitter<'f, 'l, 'm>,
}

impl<'e, 'f, 'l, 'm> SpanRecorder<'e, 'f, 'l, 'm> {
    /// Starts recording; the first instructions have the span of the function.
    pub(super) fn new(
        emitter: &'e mut FunctionEmitter<'f, 'l, 'm>,
    ) -> SpanRecorder<'e, 'f, 'l, 'm> {
        let mut located = SpanRecorder { emitter };
        located.note(located.emitter.function.span);
        located
    }

    /// Records the span of the instructions that were emitted since the last call. Jumps that were
    /// removed are gone.
    fn note(&mut self, span: Span) {
        let end = self.emitter.here();
        if let Some(spans) = &mut self.emitter.lowering.spans {
            spans.resize(end, span);
        }
    }
}

impl InstVisitor for SpanRecorder<'_, '_, '_, '_> {
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool {
        let fused = self.emitter.inst(at, inst, next);
        self.note(inst.span);
        fused
    }

    fn enter(&mut self, at: u32, inst: &Inst, fused: bool) {
        self.emitter.enter(at, inst, fused);
        self.note(inst.span);
    }

    fn second_arm(&mut self, at: u32, inst: &Inst) {
        self.emitter.second_arm(at, inst);
        self.note(inst.span);
    }

    fn exit(&mut self, at: u32, inst: &Inst) {
        self.emitter.exit(at, inst);
        self.note(inst.span);
    }
}

#[cfg(test)]
mod tests {
    use crate::lower::{instruction_spans, lower};
    use adumbra_ir::passes::{self, PassOptions};
    use adumbra_ir::random::generate;

    /// In random modules each instruction has a span of its own.
    #[test]
    #[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
    fn instruction_spans_match_fault_spans() {
        for seed in 0..300 {
            let (module, _) = passes::run(generate(seed), &PassOptions::default());
            let (program, spans) = (lower(&module).unwrap(), instruction_spans(&module).unwrap());
            assert_eq!(spans.len(), program.code.len());
            for &(position, span) in &program.spans {
                assert_eq!(
                    spans[position as usize], span,
                    "{seed}: {position}\n{program}"
                );
            }
        }
    }
}
