//! Removes what marks where rays meet surfaces.
//!
//! Assumes a verified module, whose decisions were traced if they are to be. Guarantees that no
//! function is a mark, and none is called as one: where results of such calls are not read, there
//! are no calls, and where they are, as in IR text they may be, it is a function as any.

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
        let mut is_read = vec![false; function.values.len()];
        let insts = function.regions.iter().flat_map(|region| &region.insts);
        for arg in insts.flat_map(|inst| &inst.args) {
            is_read[arg.index()] = true;
        }
        for region in &mut function.regions {
            let is_mark = |inst: &Inst| match inst.kind {
                InstKind::Call(callee, _) => {
                    marks[callee.index()]
                        && !inst.results.iter().any(|result| is_read[result.index()])
                }
                _ => false,
            };
            region.insts.retain(|inst| !is_mark(inst));
        }
    }
}
