//! Where instructions come from. A program carries that only for those that can fault; who wants to know of all lowers the module again and looks on.

use super::function::Emitter;
use super::lower_with;
use super::walk::Visitor;
use adumbra_ir::diagnostic::Diagnostic;
use adumbra_ir::module::{Inst, Module};
use adumbra_ir::span::Span;

/// For each instruction that [`lower`](super::lower) makes of a module, where it comes from.
///
/// # Panics
/// If the module is not what the verifier accepts.
///
/// # Errors
/// As for `lower`.
pub fn places(module: &Module) -> Result<Vec<Span>, Diagnostic> {
    let mut places = Vec::new();
    lower_with(module, Some(&mut places))?;
    Ok(places)
}

/// Emits a function, and notes where what it emits comes from.
pub(super) struct Located<'e, 'f, 'l, 'm> {
    emitter: &'e mut Emitter<'f, 'l, 'm>,
}

impl<'e, 'f, 'l, 'm> Located<'e, 'f, 'l, 'm> {
    /// What stands there comes from the function as a whole.
    pub(super) fn new(emitter: &'e mut Emitter<'f, 'l, 'm>) -> Located<'e, 'f, 'l, 'm> {
        let mut located = Located { emitter };
        located.note(located.emitter.function.span);
        located
    }

    /// What was emitted since the last time comes from there. Jumps that turned out to be none are gone.
    fn note(&mut self, span: Span) {
        let end = self.emitter.here();
        if let Some(places) = &mut self.emitter.lowering.places {
            places.resize(end, span);
        }
    }
}

impl Visitor for Located<'_, '_, '_, '_> {
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool {
        let fused = self.emitter.inst(at, inst, next);
        self.note(inst.span);
        fused
    }

    fn enter(&mut self, at: u32, inst: &Inst, fused: bool) {
        self.emitter.enter(at, inst, fused);
        self.note(inst.span);
    }

    fn turn(&mut self, at: u32, inst: &Inst) {
        self.emitter.turn(at, inst);
        self.note(inst.span);
    }

    fn leave(&mut self, at: u32, inst: &Inst) {
        self.emitter.leave(at, inst);
        self.note(inst.span);
    }
}

#[cfg(test)]
mod tests {
    use crate::lower::{lower, places};
    use adumbra_ir::passes::{self, PassOptions};
    use adumbra_ir::random::generate;

    /// In random modules each instruction has a place of its own.
    #[test]
    #[cfg_attr(miri, ignore = "hundreds of random programs take hours")]
    fn places_are_those_that_faults_have() {
        for seed in 0..300 {
            let (module, _) = passes::run(generate(seed), &PassOptions::default());
            let (program, places) = (lower(&module).unwrap(), places(&module).unwrap());
            assert_eq!(places.len(), program.code.len());
            for &(position, span) in &program.spans {
                assert_eq!(
                    places[position as usize], span,
                    "{seed}: {position}\n{program}"
                );
            }
        }
    }
}
