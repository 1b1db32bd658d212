//! Buffer reads: which buffers each function reads, itself or by those that it calls.
//!
//! A derived function whose body is yet to be written reads what its primal function does, and one
//! with custom derivatives or a substitute what these do.

use crate::calls::callees;
use crate::module::*;

/// By function: whether it reads each buffer. Empty lists in modules without buffers.
#[derive(Debug, Default)]
pub(super) struct BufferReads(Vec<Box<[bool]>>);

impl BufferReads {
    /// The reads of all functions.
    pub(super) fn new(module: &Module) -> BufferReads {
        let count = module.buffers.len();
        let own = |function: &Function| -> Box<[bool]> {
            let mut reads = vec![false; count].into_boxed_slice();
            let insts = function.regions.iter().flat_map(|region| &region.insts);
            for inst in insts {
                if let InstKind::Buffer(buffer, ..) = inst.kind {
                    reads[buffer.index()] = true;
                }
            }
            reads
        };
        let mut reads: Vec<Box<[bool]>> = module.functions.iter().map(own).collect();
        let mut changed = count > 0;
        while changed {
            changed = false;
            for (id, function) in module.functions.iter().enumerate() {
                let custom = &function.custom;
                let rules = [custom.forward, custom.backward, custom.substitute];
                let primal = function.recipe.as_ref().map(|recipe| recipe.of);
                let others = callees(function)
                    .chain(rules.into_iter().flatten())
                    .chain(primal);
                for other in others {
                    let others = reads[other.index()].clone();
                    for (own, other) in reads[id].iter_mut().zip(others) {
                        changed |= other && !*own;
                        *own |= other;
                    }
                }
            }
        }
        BufferReads(reads)
    }

    /// Adds a function that reads what another does.
    pub(super) fn push_like(&mut self, other: FuncId) {
        self.0.push(self.0[other.index()].clone());
    }

    /// Whether a function reads one of the buffers that are active.
    pub(super) fn any(&self, function: FuncId, active: &[Option<BufferId>]) -> bool {
        let mut reads = self.0[function.index()].iter().zip(active);
        reads.any(|(&reads, active)| reads && active.is_some())
    }
}
