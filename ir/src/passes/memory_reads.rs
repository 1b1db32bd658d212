//! Reads of the host's memory: which buffers and textures each function reads, itself or by those
//! that it calls.
//!
//! A derived function whose body is yet to be written reads what its primal function does, and one
//! with custom derivatives or a substitute what these do.

use crate::calls::callees;
use crate::module::*;

/// By function: whether it reads each buffer and each texture. Empty lists in modules without them.
#[derive(Debug, Default)]
pub(super) struct MemoryReads(Vec<FunctionReads>);

/// What one function reads.
#[derive(Clone, Debug)]
struct FunctionReads {
    buffers: Box<[bool]>,
    textures: Box<[bool]>,
}

impl FunctionReads {
    /// What the function itself reads.
    fn new(module: &Module, function: &Function) -> FunctionReads {
        let none = |count: usize| vec![false; count].into_boxed_slice();
        let mut reads = FunctionReads {
            buffers: none(module.buffers.len()),
            textures: none(module.textures.len()),
        };
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            match inst.kind {
                InstKind::Buffer(buffer, ..) => reads.buffers[buffer.index()] = true,
                InstKind::Sample(texture, ..) => reads.textures[texture.index()] = true,
                _ => {}
            }
        }
        reads
    }

    /// Adds what another function reads; whether that is anything new.
    fn add(&mut self, other: &FunctionReads) -> bool {
        let mut is_new = false;
        let own = self.buffers.iter_mut().chain(&mut self.textures);
        for (own, &other) in own.zip(other.buffers.iter().chain(&other.textures)) {
            is_new |= other && !*own;
            *own |= other;
        }
        is_new
    }
}

impl MemoryReads {
    /// The reads of all functions.
    pub(super) fn new(module: &Module) -> MemoryReads {
        let functions = module.functions.iter();
        let mut reads: Vec<FunctionReads> =
            functions.map(|f| FunctionReads::new(module, f)).collect();
        let mut changed = !module.buffers.is_empty() || !module.textures.is_empty();
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
                    changed |= reads[id].add(&others);
                }
            }
        }
        MemoryReads(reads)
    }

    /// Adds a function that reads what another does.
    pub(super) fn push_like(&mut self, other: FuncId) {
        self.0.push(self.0[other.index()].clone());
    }

    /// Whether a function reads what is active.
    pub(super) fn any(&self, function: FuncId, active: &ActiveMemory) -> bool {
        let FunctionReads { buffers, textures } = &self.0[function.index()];
        let mut buffers = buffers.iter().zip(&active.buffers);
        let mut textures = textures.iter().zip(&active.textures);
        buffers.any(|(&reads, active)| reads && active.is_some())
            || textures.any(|(&reads, active)| reads && active.is_some())
    }
}
