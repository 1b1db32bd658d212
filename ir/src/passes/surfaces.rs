//! Removes what marks where rays meet surfaces.
//!
//! Assumes a verified module, whose decisions were traced if they are to be. Guarantees that no
//! function is a mark, and none is called as one: results of such calls are not read, so nothing
//! else changes.

use crate::module::*;

/// Whether there are no marks.
pub(super) fn is_done(module: &Module) -> bool {
    module.functions.iter().all(|f| f.decides == Decides::Own)
}

/// Removes them.
pub(super) fn remove(module: &mut Module) {
    let marks: Vec<bool> = (module.functions.iter())
        .map(|function| function.decides == Decides::Surface)
        .collect();
    for function in &mut module.functions {
        function.decides = Decides::Own;
        for region in &mut function.regions {
            let is_mark = |inst: &Inst| match inst.kind {
                InstKind::Call(callee, _) => marks[callee.index()],
                _ => false,
            };
            region.insts.retain(|inst| !is_mark(inst));
        }
    }
}
