//! Batch code that a program's machines share: it is loaded once for each way to load it.

use super::load::{BatchCode, load};
use crate::bytecode::Bytecode;
use crate::native::{Segment, SegmentKey};
use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_simd::{SimdLevel, SuperinstructionSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many ways to load a program are kept.
const MAX_KEPT: usize = 8;

/// What batch code depends on beside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoadKey {
    pub(super) level: SimdLevel,
    pub(super) segments: SegmentKey,
    pub(super) native: bool,
    pub(super) without: SuperinstructionSet,
}

impl LoadKey {
    /// Loads a program.
    pub(super) fn load(&self, program: &Bytecode) -> BatchCode {
        let LoadKey {
            level,
            segments,
            native,
            without,
        } = self;
        load(program, *level, segments, *native, *without)
    }
}

/// What batch machines of a program were loaded to: those that come after are made faster.
pub struct LoadedCode {
    program: Arc<Bytecode>,
    /// The latest ways, in order.
    kept: Mutex<Vec<(LoadKey, Arc<BatchCode>)>>,
}

impl LoadedCode {
    /// Nothing so far, of a program.
    pub fn new(program: &Arc<Bytecode>) -> LoadedCode {
        LoadedCode {
            program: program.clone(),
            kept: Mutex::default(),
        }
    }

    /// Whether it is of this program.
    pub(super) fn is_of(&self, program: &Arc<Bytecode>) -> bool {
        Arc::ptr_eq(&self.program, program)
    }

    /// The code for a key, which is loaded at the first call.
    pub(super) fn get(&self, key: LoadKey) -> Arc<BatchCode> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = kept().iter().find(|(known, _)| *known == key) {
            return code.clone();
        }
        let code = Arc::new(key.load(&self.program));
        let mut kept = kept();
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push((key, code.clone()));
        code
    }

    /// Bytes of the heap that it holds, but for the program.
    pub fn heap(&self) -> usize {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let codes = kept.iter().map(|(key, code)| {
            ARC_OVERHEAD
                + size_of::<BatchCode>()
                + heap_of_code(code)
                + size_of_val(&key.segments.uniform[..])
        });
        held(&kept) + codes.sum::<usize>()
    }
}

fn heap_of_code(code: &BatchCode) -> usize {
    // Each field is named, so that the compiler reports a new one.
    let BatchCode {
        instructions,
        operands,
        routine_calls,
        bail_out_values,
        block_values,
        saved_operands,
        segments,
        uniforms: _,
        constants,
        globals,
        written_inputs,
        entry: _,
        depth: _,
        superinstructions: _,
    } = code;
    held(instructions)
        + held(operands)
        + held(routine_calls)
        + held(bail_out_values)
        + held(block_values)
        + held(saved_operands)
        + held(segments)
        + segments.iter().map(heap_of_segment).sum::<usize>()
        + held(constants)
        + held(globals)
        + held(written_inputs)
}

fn heap_of_segment(segment: &Segment) -> usize {
    let Segment {
        locations,
        instructions,
        live_out,
    } = segment;
    held(locations) + held(instructions) + held(live_out)
}

/// Bytes that a list of values without memory of their own takes.
fn held<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

impl fmt::Debug for LoadedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedCode").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchMachine, BatchOptions};
    use adumbra_ir::host::Limits;
    use adumbra_ir::passes::{PassOptions, run};
    use adumbra_ir::random::generate;

    fn program() -> Arc<Bytecode> {
        let (module, _) = run(generate(1), &PassOptions::default());
        Arc::new(crate::lower(&module).expect("the module fits"))
    }

    /// One of eight ways to load a program.
    fn key(program: &Bytecode, way: usize) -> LoadKey {
        let words = program.interface.global_words();
        assert!(words >= 3, "{words}");
        LoadKey {
            level: SimdLevel::Baseline,
            segments: SegmentKey {
                uniform: (0..words)
                    .map(|word| word < 3 && way >> word & 1 != 0)
                    .collect(),
                plane_bytes: 0,
            },
            native: way == MAX_KEPT,
            without: SuperinstructionSet::NONE,
        }
    }

    #[test]
    fn each_way_is_loaded_once_and_the_oldest_is_forgotten() {
        assert_eq!(MAX_KEPT, 8);
        let program = program();
        let code = LoadedCode::new(&program);
        let empty = code.heap();
        let get = |way: usize| code.get(key(&program, way));
        let (first, second) = (get(0), get(1));
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&first, &get(0)));
        assert!(code.heap() > empty);
        for way in 2..=MAX_KEPT {
            get(way);
        }
        assert!(Arc::ptr_eq(&second, &get(1)));
        assert!(!Arc::ptr_eq(&first, &get(0)));
    }

    #[test]
    fn machines_of_other_programs_do_not_have_it() {
        let (own, other) = (program(), program());
        let options = BatchOptions {
            loaded: Some(Arc::new(LoadedCode::new(&own))),
            ..BatchOptions::default()
        };
        let loaded = options.loaded.as_ref().expect("it was just given");
        let empty = loaded.heap();
        BatchMachine::new(other, Limits::default(), &options);
        assert_eq!(loaded.heap(), empty);
        BatchMachine::new(own, Limits::default(), &options);
        assert!(loaded.heap() > empty);
    }
}
