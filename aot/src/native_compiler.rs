//! Code where it can be run: pages that are written first and executed then, never both at once. The evaluators of a program share them.
//!
//! The pages come from memmap2 through dynasmrt: anonymous ones whose protection is changed, on every system. On Apple's processors too, without `MAP_JIT`: macOS lets
//! ordinary processes do so, and refuses it to those with the hardened runtime, unless they are entitled to unsigned executable memory. To be refused is no error: rows are
//! interpreted then.

use crate::code_symbols::CodeSymbols;
use crate::jit_interface::JitRegistration;
use crate::kernel_pointers;
use crate::machine_code::{KernelExtent, MachineCode};
use crate::object::{LinkedKernels, ObjectShader, fingerprint};
use crate::optimisation::Optimisations;
use crate::target::Target;
use adumbra_vm::native::{
    BatchKernels, CompileUnit, MAX_UNIFORMITY_VARIANTS, NativeBackend, PointCfg, PointKernels,
};
use dynasmrt::AssemblyOffset;
use dynasmrt::cache_control::synchronize_icache;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Makes the machine code of one program, for this processor, or finds it among what was linked.
#[derive(Debug)]
pub struct NativeCompiler {
    /// What profilers and debuggers call it.
    name: Box<str>,
    optimisations: Optimisations,
    /// For sets of words that are the same for all points.
    linked: Vec<LinkedKernels>,
    /// For single points.
    linked_points: Option<LinkedKernels>,
    made: Mutex<Made>,
    /// Held by whoever compiles, so that nothing is compiled twice. Who asks for figures, or for code that is there, does not wait for it.
    compiling: Mutex<()>,
}

/// What was made so far.
#[derive(Debug, Default)]
struct Made {
    variants: Vec<Variant>,
    /// For single points.
    points: Option<Placed<PointKernels>>,
    stats: CodeStats,
}

/// The code for a set of words that are the same for all points.
#[derive(Debug)]
struct Variant {
    uniform: Box<[bool]>,
    placed: Placed<BatchKernels>,
}

/// Code that was made and put into pages.
#[derive(Debug)]
struct Placed<K> {
    /// Nothing if there is none.
    kernels: Option<K>,
    /// Of code that stands in no file.
    symbols: Option<CodeSymbols>,
}

impl<K> Placed<K> {
    fn bytes(&self) -> usize {
        self.symbols.as_ref().map_or(0, |symbols| symbols.bytes)
    }
}

/// Figures about the code of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeStats {
    /// How long making it took.
    pub compile_time: Duration,
    /// Its bytes, constants included.
    pub bytes: usize,
    /// Bytes of the code that was linked, in place of being made.
    pub linked_bytes: usize,
    /// How often there was no memory that could be executed, or the code was too long for its own jumps: then rows are interpreted.
    pub refused: usize,
}

impl NativeCompiler {
    /// The backend for a program of that name, if it can make code for this processor: x86-64 with AVX2 and FMA, or aarch64.
    pub fn new(name: &str) -> Option<NativeCompiler> {
        NativeCompiler::is_available().then(|| NativeCompiler {
            name: name.into(),
            optimisations: Optimisations::ALL,
            linked: Vec::new(),
            linked_points: None,
            made: Mutex::default(),
            compiling: Mutex::default(),
        })
    }

    /// The same for a shader that was compiled ahead of time: what its object has is not compiled again.
    pub fn with_linked(name: &str, shader: &'static ObjectShader) -> Option<NativeCompiler> {
        let native = NativeCompiler::new(name)?;
        Some(NativeCompiler {
            linked: shader.kernels(),
            linked_points: shader.point_kernels(),
            ..native
        })
    }

    /// The same with some of the optimisations alone.
    #[doc(hidden)]
    pub fn with_optimisations(self, optimisations: Optimisations) -> NativeCompiler {
        NativeCompiler {
            optimisations,
            ..self
        }
    }

    /// Whether it can make code for this processor.
    pub fn is_available() -> bool {
        #[cfg(target_arch = "x86_64")]
        let is = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        // NEON is part of all targets of that name that have floats in registers.
        #[cfg(not(target_arch = "x86_64"))]
        let is = cfg!(all(
            target_arch = "aarch64",
            target_endian = "little",
            target_feature = "neon"
        ));
        // Miri runs none.
        is && !cfg!(miri)
    }

    /// What was made so far, and is kept.
    pub fn stats(&self) -> CodeStats {
        let made = self.made();
        let variants = made.variants.iter().map(|variant| variant.placed.bytes());
        let points = made.points.iter().map(Placed::bytes);
        let linked = self.linked.iter().chain(&self.linked_points);
        CodeStats {
            bytes: variants.chain(points).sum(),
            linked_bytes: linked.map(|own| own.bytes).sum(),
            ..made.stats
        }
    }

    /// A line for each kernel that was made and is kept, and for what kernels share, for profilers that look for code in `/tmp/perf-PID.map`. Kernels are numbered
    /// as units are, the program's name stands before.
    pub fn perf_map(&self) -> String {
        let mut lines = String::new();
        let made = self.made();
        let variants = made.variants.iter().map(|own| &own.placed.symbols);
        let points = made.points.iter().map(|own| &own.symbols);
        for symbols in variants.chain(points).flatten() {
            symbols.write_perf_map(&mut lines, &self.name);
        }
        lines
    }

    /// Bytes on the heap, pages of code left out.
    pub fn heap_bytes(&self) -> usize {
        self.name.len()
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // Whoever panicked there left no half of anything.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was made for such words, if anything was.
    fn find(&self, uniform: &[bool]) -> Option<Option<BatchKernels>> {
        let made = self.made();
        let found = made.variants.iter().find(|own| *own.uniform == *uniform);
        found.map(|variant| variant.placed.kernels.clone())
    }

    /// What was made for single points, if anything was.
    fn find_points(&self) -> Option<Option<PointKernels>> {
        let made = self.made();
        let points = made.points.as_ref();
        points.map(|points| points.kernels.clone())
    }

    /// Makes code and puts it into pages, and counts what it takes. Whoever does so is `compiling`.
    fn make<K>(
        &self,
        is_empty: bool,
        kind: &'static str,
        compile: impl FnOnce(Target) -> Option<MachineCode>,
        kernels: impl FnOnce(&MachineCode, Pages) -> K,
    ) -> (MutexGuard<'_, Made>, Placed<K>) {
        let start = Instant::now();
        let code = Target::host().filter(|_| !is_empty).and_then(compile);
        let pages = code.as_ref().and_then(Pages::of);
        let placed = match code.zip(pages) {
            Some((code, mut pages)) => {
                let symbols = CodeSymbols::from_code(&code, pages.start(), kind);
                pages.told = JitRegistration::register(&symbols, &self.name);
                Placed {
                    kernels: Some(kernels(&code, pages)),
                    symbols: Some(symbols),
                }
            }
            None => Placed {
                kernels: None,
                symbols: None,
            },
        };
        let time = start.elapsed();
        let mut made = self.made();
        made.stats.compile_time += time;
        if placed.kernels.is_none() && !is_empty {
            made.stats.refused += 1;
        }
        (made, placed)
    }

    /// Whoever has this compiles.
    fn compiling(&self) -> MutexGuard<'_, ()> {
        self.compiling
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: kernels are made of the rows' own algorithms, instruction by instruction; they write planes of results, and regions what they tell of points; the
// buffer lives as long as they.
unsafe impl NativeBackend for NativeCompiler {
    fn translate(&self, uniform: &[bool], units: &[CompileUnit]) -> Option<BatchKernels> {
        let mut linked = self.linked.iter();
        let linked =
            linked.find(|own| *own.uniform == *uniform && own.fingerprint == fingerprint(units));
        if let Some(linked) = linked {
            return Some(linked.kernels());
        }
        if let Some(kernels) = self.find(uniform) {
            return kernels;
        }
        let _compiling = self.compiling();
        if let Some(kernels) = self.find(uniform) {
            return kernels;
        }
        let code = |own: Target| own.compile_with(self.optimisations, units, false);
        let (mut made, placed) = self.make(units.is_empty(), "kernel", code, kernels);
        let found = placed.kernels.clone();
        if made.variants.len() == MAX_UNIFORMITY_VARIANTS {
            made.variants.remove(0);
        }
        made.variants.push(Variant {
            uniform: uniform.into(),
            placed,
        });
        found
    }

    fn translate_points(&self, flows: &dyn Fn() -> Vec<PointCfg>) -> Option<PointKernels> {
        if let Some(kernels) = self.find_points() {
            return kernels;
        }
        let _compiling = self.compiling();
        if let Some(kernels) = self.find_points() {
            return kernels;
        }
        let flows = flows();
        let linked = self.linked_points.as_ref();
        if let Some(linked) = linked.filter(|own| own.fingerprint == fingerprint(&flows)) {
            let kernels = Some(linked.point_kernels(&flows));
            self.made().points = Some(Placed {
                kernels: kernels.clone(),
                symbols: None,
            });
            return kernels;
        }
        let code = |own: Target| own.compile_flows_with(self.optimisations, &flows, false);
        let of = |code: &MachineCode, buffer| point_kernels(&flows, code, buffer);
        let (mut made, placed) = self.make(flows.is_empty(), "entry", code, of);
        let found = placed.kernels.clone();
        made.points = Some(placed);
        found
    }
}

/// Puts code into pages of its own; nothing if there are none.
#[cfg(test)]
pub(crate) fn install(code: &MachineCode) -> Option<BatchKernels> {
    Some(kernels(code, Pages::of(code)?))
}

/// The same for flows.
#[cfg(test)]
pub(crate) fn install_points(flows: &[PointCfg], code: &MachineCode) -> Option<PointKernels> {
    Some(point_kernels(flows, code, Pages::of(code)?))
}

fn kernels(code: &MachineCode, pages: Pages) -> BatchKernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: kernels of units begin there, which were written for this processor and its convention, and the pages are kept.
    unsafe { kernel_pointers::batch_kernels(addresses, Arc::new(pages)) }
}

fn point_kernels(flows: &[PointCfg], code: &MachineCode, pages: Pages) -> PointKernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: as above; kernels of these flows.
    unsafe { kernel_pointers::point_kernels(flows, addresses, Arc::new(pages)) }
}

/// Code where it can be run.
#[derive(Debug)]
struct Pages {
    /// Debuggers forget the code before it goes, so this stands first.
    told: Option<JitRegistration>,
    buffer: ExecutableBuffer,
}

impl Pages {
    /// Code in pages of its own; nothing if there are none.
    fn of(code: &MachineCode) -> Option<Pages> {
        let mut buffer = MutableBuffer::new(code.bytes.len()).ok()?;
        buffer.set_len(code.bytes.len());
        buffer.copy_from_slice(&code.bytes);
        let buffer = buffer.make_exec().ok()?;
        // Where instructions have a cache of their own.
        synchronize_icache(&buffer);
        Some(Pages { told: None, buffer })
    }

    /// Where the code begins, if there is any: none is written where each kernel would be too large.
    fn start(&self) -> usize {
        self.buffer.as_ptr() as usize
    }

    /// Where kernels begin.
    fn addresses(&self, code: &MachineCode) -> Vec<Option<*const u8>> {
        let kernels = code.kernels.iter();
        let address = |own: KernelExtent| self.buffer.ptr(AssemblyOffset(own.start));
        kernels.map(|own| own.map(address)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::DifferentialCase;

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn nobody_waits_for_a_compilation_but_who_wants_its_code() {
        let Some(native) = NativeCompiler::new("sum") else {
            return;
        };
        assert!(native.translate(&[true], &[]).is_none());
        let compiling = native.compiling.lock().unwrap();
        assert_eq!(native.stats().bytes, 0);
        assert!(native.translate(&[true], &[]).is_none(), "it is there");
        drop(compiling);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn code_is_kept_for_a_few_sets_of_uniform_words() {
        let Some(native) = NativeCompiler::new("sum") else {
            return;
        };
        let unit = CompileUnit::Segment(DifferentialCase::sum(4, false).segment);
        let entry = |set: usize| {
            let uniform: Vec<bool> = (0..16).map(|word| set >> word & 1 == 1).collect();
            let kernels = native
                .translate(&uniform, std::slice::from_ref(&unit))
                .unwrap();
            (kernels.entries[0].unwrap() as usize, kernels)
        };
        // Whoever has code keeps it, so that none of it comes to stand where other code was.
        let made: Vec<_> = (0..MAX_UNIFORMITY_VARIANTS).map(entry).collect();
        let bytes = native.stats().bytes;
        assert!(
            made.iter()
                .enumerate()
                .all(|(set, own)| own.0 == entry(set).0)
        );
        let more = entry(MAX_UNIFORMITY_VARIANTS);
        assert_eq!(native.stats().bytes, bytes);
        assert_eq!(entry(MAX_UNIFORMITY_VARIANTS).0, more.0);
        assert_eq!(entry(1).0, made[1].0);
        assert_ne!(entry(0).0, made[0].0, "the oldest is made anew");
    }
}
