//! Compiles the machine code of a program into executable memory, which its evaluators share. Pages
//! are written first and executed then, never both at once (W^X).
//!
//! The pages come from memmap2 through dynasmrt: anonymous ones whose protection is changed, on
//! every system. On Apple's processors too, without `MAP_JIT`: macOS lets ordinary processes do so,
//! and refuses it to those with the hardened runtime, unless they are entitled to unsigned
//! executable memory. A refusal is no error: instructions are interpreted then.

use crate::code_symbols::CodeSymbols;
use crate::jit_interface::JitRegistration;
use crate::kernel_pointers;
use crate::machine_code::{KernelExtent, MachineCode};
use crate::object::{LinkedKernels, ObjectShader, fingerprint};
use crate::optimisation::Optimisations;
use crate::target::Target;
use adumbra_vm::SimdLevel;
use adumbra_vm::native::{
    BatchKernels, MAX_CODE_VARIANTS, NativeBackend, PointCfg, PointKernels, Segment, SegmentKey,
};
use dynasmrt::AssemblyOffset;
use dynasmrt::cache_control::synchronize_icache;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Compiles the machine code of one program for this processor, or finds it in a linked object.
#[derive(Debug)]
pub struct NativeCompiler {
    /// The program's name in profilers and debuggers.
    name: Box<str>,
    optimisations: Optimisations,
    /// For sets of uniform words.
    linked: Vec<LinkedKernels>,
    /// For single points.
    linked_points: Option<LinkedKernels>,
    made: Mutex<Made>,
    /// Held during a compilation, so that nothing is compiled twice. Queries for statistics, or for
    /// code that is there, do not wait for it.
    compiling: Mutex<()>,
}

/// The code made so far.
#[derive(Debug, Default)]
struct Made {
    variants: Vec<Variant>,
    /// For single points.
    points: Option<Placed<PointKernels>>,
    stats: CodeStats,
}

/// The code for segments of one kind, at a SIMD level.
#[derive(Debug)]
struct Variant {
    level: SimdLevel,
    key: SegmentKey,
    placed: Placed<BatchKernels>,
}

/// Code in executable memory.
#[derive(Debug)]
struct Placed<K> {
    /// `None` if there is no code.
    kernels: Option<K>,
    /// Symbols of code that is in no file.
    symbols: Option<CodeSymbols>,
}

impl<K> Placed<K> {
    fn bytes(&self) -> usize {
        self.symbols.as_ref().map_or(0, |symbols| symbols.bytes)
    }
}

/// Statistics of a program's code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeStats {
    /// The time that compilation took.
    pub compile_time: Duration,
    /// Bytes of code, constants included.
    pub bytes: usize,
    /// Bytes of code that was linked instead of compiled.
    pub linked_bytes: usize,
    /// How often no memory could be made executable, or the code was too long for its own jumps:
    /// instructions are interpreted then.
    pub refused: usize,
}

impl NativeCompiler {
    /// The backend for a program of that name, if it supports this processor: x86-64 with AVX2 and
    /// FMA, or aarch64.
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

    /// The backend for a shader that was compiled ahead of time: kernels in its object are not
    /// compiled again.
    pub fn with_linked(name: &str, shader: &'static ObjectShader) -> Option<NativeCompiler> {
        let native = NativeCompiler::new(name)?;
        Some(NativeCompiler {
            linked: shader.kernels(),
            linked_points: shader.point_kernels(),
            ..native
        })
    }

    /// The backend with a subset of the optimisations.
    #[doc(hidden)]
    pub fn with_optimisations(self, optimisations: Optimisations) -> NativeCompiler {
        NativeCompiler {
            optimisations,
            ..self
        }
    }

    /// Whether the backend supports this processor.
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
        // Miri runs no machine code.
        is && !cfg!(miri)
    }

    /// The statistics of the code that is kept.
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

    /// A line for each kernel that is kept, and for the code that kernels share, for profilers that
    /// read `/tmp/perf-PID.map`. The name is the program's name and the kernel's number, which is
    /// its unit's.
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

    /// Bytes on the heap, without pages of code.
    pub fn heap_bytes(&self) -> usize {
        self.name.len()
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // A panic leaves the code in order: it changes nothing before it.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The code for segments of a kind at a level, if it was compiled.
    fn find(&self, level: SimdLevel, key: &SegmentKey) -> Option<Option<BatchKernels>> {
        let made = self.made();
        let mut variants = made.variants.iter();
        let found = variants.find(|own| own.level == level && own.key == *key);
        found.map(|variant| variant.placed.kernels.clone())
    }

    /// The code for single points, if it was compiled.
    fn find_points(&self) -> Option<Option<PointKernels>> {
        let made = self.made();
        let points = made.points.as_ref();
        points.map(|points| points.kernels.clone())
    }

    /// Compiles, installs and counts code. The caller holds `compiling`.
    fn make<K>(
        &self,
        is_empty: bool,
        kind: &'static str,
        compile: impl FnOnce() -> Option<MachineCode>,
        kernels: impl FnOnce(&MachineCode, Pages) -> K,
    ) -> (MutexGuard<'_, Made>, Placed<K>) {
        let start = Instant::now();
        let code = if is_empty { None } else { compile() };
        let pages = code.as_ref().and_then(Pages::of);
        let placed = match code.zip(pages) {
            Some((code, mut pages)) => {
                let symbols = CodeSymbols::from_code(&code, pages.start(), kind);
                pages.registration = JitRegistration::register(&symbols, &self.name);
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

    /// Locks compilation.
    fn compiling(&self) -> MutexGuard<'_, ()> {
        self.compiling
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: kernels compute the instructions' own algorithms; they write the planes of results; the
// buffer lives as long as they.
unsafe impl NativeBackend for NativeCompiler {
    fn compile_batch(
        &self,
        level: SimdLevel,
        key: &SegmentKey,
        segments: &[Segment],
    ) -> Option<BatchKernels> {
        let mut linked = self.linked.iter().filter(|own| own.uniform == key.uniform);
        let linked = linked.find(|own| own.fingerprint == fingerprint(segments));
        if let Some(linked) = linked {
            return Some(linked.kernels());
        }
        if let Some(kernels) = self.find(level, key) {
            return kernels;
        }
        let _compiling = self.compiling();
        if let Some(kernels) = self.find(level, key) {
            return kernels;
        }
        let target = Target::for_level(level);
        let code = || target?.compile_batch_with(self.optimisations, segments, false);
        let (mut made, placed) = self.make(segments.is_empty(), "kernel", code, kernels);
        let found = placed.kernels.clone();
        if made.variants.len() == MAX_CODE_VARIANTS {
            made.variants.remove(0);
        }
        made.variants.push(Variant {
            level,
            key: key.clone(),
            placed,
        });
        found
    }

    fn compile_points(&self, cfgs: &dyn Fn() -> Vec<PointCfg>) -> Option<PointKernels> {
        if let Some(kernels) = self.find_points() {
            return kernels;
        }
        let _compiling = self.compiling();
        if let Some(kernels) = self.find_points() {
            return kernels;
        }
        let cfgs = cfgs();
        let linked = self.linked_points.as_ref();
        if let Some(linked) = linked.filter(|own| own.fingerprint == fingerprint(&cfgs)) {
            let kernels = Some(linked.point_kernels(&cfgs));
            self.made().points = Some(Placed {
                kernels: kernels.clone(),
                symbols: None,
            });
            return kernels;
        }
        let code = || Target::host()?.compile_points_with(self.optimisations, &cfgs, false);
        let of = |code: &MachineCode, buffer| point_kernels(&cfgs, code, buffer);
        let (mut made, placed) = self.make(cfgs.is_empty(), "entry", code, of);
        let found = placed.kernels.clone();
        made.points = Some(placed);
        found
    }
}

/// Installs code into executable memory; `None` if there is none.
#[cfg(test)]
pub(crate) fn install(code: &MachineCode) -> Option<BatchKernels> {
    Some(kernels(code, Pages::of(code)?))
}

/// Installs the code of point CFGs.
#[cfg(test)]
pub(crate) fn install_points(cfgs: &[PointCfg], code: &MachineCode) -> Option<PointKernels> {
    Some(point_kernels(cfgs, code, Pages::of(code)?))
}

fn kernels(code: &MachineCode, pages: Pages) -> BatchKernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: the addresses are the starts of batch kernels, compiled for this processor and its
    // convention, and `pages` keeps them.
    unsafe { kernel_pointers::batch_kernels(addresses, Arc::new(pages)) }
}

fn point_kernels(cfgs: &[PointCfg], code: &MachineCode, pages: Pages) -> PointKernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: the addresses are the starts of point kernels of these CFGs, compiled for this
    // processor and its convention, and `pages` keeps them.
    unsafe { kernel_pointers::point_kernels(cfgs, addresses, Arc::new(pages)) }
}

/// Code in executable memory.
#[derive(Debug)]
struct Pages {
    /// Drops before the code, so that debuggers forget it first.
    registration: Option<JitRegistration>,
    buffer: ExecutableBuffer,
}

impl Pages {
    /// Copies code into pages of its own; `None` if there are none.
    fn of(code: &MachineCode) -> Option<Pages> {
        let mut buffer = MutableBuffer::new(code.bytes.len()).ok()?;
        buffer.set_len(code.bytes.len());
        buffer.copy_from_slice(&code.bytes);
        let buffer = buffer.make_exec().ok()?;
        // For processors with a separate instruction cache.
        synchronize_icache(&buffer);
        Some(Pages {
            registration: None,
            buffer,
        })
    }

    /// The address of the code, if there is any: there is none where each kernel's frame would be
    /// too large.
    fn start(&self) -> usize {
        self.buffer.as_ptr() as usize
    }

    /// The addresses of kernels.
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
    fn cached_code_lookup_never_waits() {
        let Some(native) = NativeCompiler::new("sum") else {
            return;
        };
        let key = SegmentKey::default();
        assert!(native.compile_batch(SimdLevel::Avx2, &key, &[]).is_none());
        let compiling = native.compiling.lock().unwrap();
        assert_eq!(native.stats().bytes, 0);
        assert!(
            native.compile_batch(SimdLevel::Avx2, &key, &[]).is_none(),
            "it is there"
        );
        drop(compiling);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn each_level_has_its_own_code() {
        let Some(native) = NativeCompiler::new("sum") else {
            return;
        };
        let segment = DifferentialCase::sum(4, false).segment;
        let entry = |level| {
            let kernels = native.compile_batch(
                level,
                &SegmentKey::default(),
                std::slice::from_ref(&segment),
            );
            kernels.unwrap().entries[0].unwrap() as usize
        };
        let levels: Vec<SimdLevel> = SimdLevel::available().collect();
        let entries: Vec<usize> = levels.iter().map(|&level| entry(level)).collect();
        for (at, &level) in levels.iter().enumerate() {
            assert_eq!(entry(level), entries[at], "{level} is kept");
            assert!(!entries[..at].contains(&entries[at]), "{level}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn variant_cache_is_bounded() {
        let Some(native) = NativeCompiler::new("sum") else {
            return;
        };
        let segment = DifferentialCase::sum(4, false).segment;
        let entry = |set: usize| {
            let key = SegmentKey {
                uniform: (0..15).map(|word| set >> word & 1 == 1).collect(),
                plane_bytes: set % 2,
            };
            let kernels = native
                .compile_batch(SimdLevel::Avx2, &key, std::slice::from_ref(&segment))
                .unwrap();
            (kernels.entries[0].unwrap() as usize, kernels)
        };
        // Each entry keeps its code, so that no code gets the address of other code.
        let made: Vec<_> = (0..MAX_CODE_VARIANTS).map(entry).collect();
        let bytes = native.stats().bytes;
        assert!(
            made.iter()
                .enumerate()
                .all(|(set, own)| own.0 == entry(set).0)
        );
        let more = entry(MAX_CODE_VARIANTS);
        assert_eq!(native.stats().bytes, bytes);
        assert_eq!(entry(MAX_CODE_VARIANTS).0, more.0);
        assert_eq!(entry(1).0, made[1].0);
        assert_ne!(entry(0).0, made[0].0, "the oldest is made anew");
    }
}
