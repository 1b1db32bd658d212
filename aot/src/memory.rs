//! Code where it can be run: pages that are written first and executed then, never both at once. The evaluators of a program share them.
//!
//! The pages come from memmap2 through dynasmrt: anonymous ones whose protection is changed, on every system. On Apple's processors too, without `MAP_JIT`: macOS lets
//! ordinary processes do so, and refuses it to those with the hardened runtime, unless they are entitled to unsigned executable memory. To be refused is no error: rows are
//! interpreted then.

use crate::entries;
use crate::gdb::Told;
use crate::listing::{Compiled, Extent};
use crate::object::{LinkedKernels, ObjectShader, fingerprint};
use crate::optimisation::Optimisations;
use crate::symbols::Symbols;
use crate::target::Target;
use adumbra_vm::native::{Flow, Kernels, MAX_VARIANTS, PointKernels, Translator, Unit};
use dynasmrt::AssemblyOffset;
use dynasmrt::cache_control::synchronize_icache;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Makes the machine code of one program, for this processor, or finds it among what was linked.
#[derive(Debug)]
pub struct Native {
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
    placed: Placed<Kernels>,
}

/// Code that was made and put into pages.
#[derive(Debug)]
struct Placed<K> {
    /// Nothing if there is none.
    kernels: Option<K>,
    /// Of code that stands in no file.
    symbols: Option<Symbols>,
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
    pub time: Duration,
    /// Its bytes, constants included.
    pub bytes: usize,
    /// Bytes of the code that was linked, in place of being made.
    pub linked_bytes: usize,
    /// How often there was no memory that could be executed, or the code was too long for its own jumps: then rows are interpreted.
    pub refused: usize,
}

impl Native {
    /// The backend for a program of that name, if it can make code for this processor: x86-64 with AVX2 and FMA, or aarch64.
    pub fn new(name: &str) -> Option<Native> {
        Native::is_available().then(|| Native {
            name: name.into(),
            optimisations: Optimisations::ALL,
            linked: Vec::new(),
            linked_points: None,
            made: Mutex::default(),
            compiling: Mutex::default(),
        })
    }

    /// The same for a shader that was compiled ahead of time: what its object has is not compiled again.
    pub fn linked(name: &str, shader: &'static ObjectShader) -> Option<Native> {
        let native = Native::new(name)?;
        Some(Native {
            linked: shader.kernels(),
            linked_points: shader.point_kernels(),
            ..native
        })
    }

    /// The same with some of the optimisations alone.
    #[doc(hidden)]
    pub fn with_optimisations(self, optimisations: Optimisations) -> Native {
        Native {
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
            symbols.write_lines(&mut lines, &self.name);
        }
        lines
    }

    /// Bytes on the heap, pages of code left out.
    pub fn heap(&self) -> usize {
        self.name.len()
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // Whoever panicked there left no half of anything.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was made for such words, if anything was.
    fn find(&self, uniform: &[bool]) -> Option<Option<Kernels>> {
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
        compile: impl FnOnce(Target) -> Option<Compiled>,
        kernels: impl FnOnce(&Compiled, Pages) -> K,
    ) -> (MutexGuard<'_, Made>, Placed<K>) {
        let start = Instant::now();
        let code = Target::host().filter(|_| !is_empty).and_then(compile);
        let pages = code.as_ref().and_then(Pages::of);
        let placed = match code.zip(pages) {
            Some((code, mut pages)) => {
                let symbols = Symbols::of(&code, pages.start(), kind);
                pages.told = Told::of(&symbols, &self.name);
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
        made.stats.time += time;
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
unsafe impl Translator for Native {
    fn translate(&self, uniform: &[bool], units: &[Unit]) -> Option<Kernels> {
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
        if made.variants.len() == MAX_VARIANTS {
            made.variants.remove(0);
        }
        made.variants.push(Variant {
            uniform: uniform.into(),
            placed,
        });
        found
    }

    fn translate_points(&self, flows: &dyn Fn() -> Vec<Flow>) -> Option<PointKernels> {
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
        let of = |code: &Compiled, buffer| point_kernels(&flows, code, buffer);
        let (mut made, placed) = self.make(flows.is_empty(), "entry", code, of);
        let found = placed.kernels.clone();
        made.points = Some(placed);
        found
    }
}

/// Puts code into pages of its own; nothing if there are none.
#[cfg(test)]
pub(crate) fn place(code: &Compiled) -> Option<Kernels> {
    Some(kernels(code, Pages::of(code)?))
}

/// The same for flows.
#[cfg(test)]
pub(crate) fn place_points(flows: &[Flow], code: &Compiled) -> Option<PointKernels> {
    Some(point_kernels(flows, code, Pages::of(code)?))
}

fn kernels(code: &Compiled, pages: Pages) -> Kernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: kernels of units begin there, which were written for this processor and its convention, and the pages are kept.
    unsafe { entries::kernels(addresses, Arc::new(pages)) }
}

fn point_kernels(flows: &[Flow], code: &Compiled, pages: Pages) -> PointKernels {
    let addresses = pages.addresses(code).into_iter();
    // SAFETY: as above; kernels of these flows.
    unsafe { entries::point_kernels(flows, addresses, Arc::new(pages)) }
}

/// Code where it can be run.
#[derive(Debug)]
struct Pages {
    /// Debuggers forget the code before it goes, so this stands first.
    told: Option<Told>,
    buffer: ExecutableBuffer,
}

impl Pages {
    /// Code in pages of its own; nothing if there are none.
    fn of(code: &Compiled) -> Option<Pages> {
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
    fn addresses(&self, code: &Compiled) -> Vec<Option<*const u8>> {
        let kernels = code.kernels.iter();
        let address = |own: Extent| self.buffer.ptr(AssemblyOffset(own.start));
        kernels.map(|own| own.map(address)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn nobody_waits_for_a_compilation_but_who_wants_its_code() {
        let Some(native) = Native::new("sum") else {
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
        let Some(native) = Native::new("sum") else {
            return;
        };
        let unit = Unit::Stretch(Trial::sum(4, false).stretch);
        let entry = |set: usize| {
            let uniform: Vec<bool> = (0..16).map(|word| set >> word & 1 == 1).collect();
            let kernels = native
                .translate(&uniform, std::slice::from_ref(&unit))
                .unwrap();
            (kernels.entries[0].unwrap() as usize, kernels)
        };
        // Whoever has code keeps it, so that none of it comes to stand where other code was.
        let made: Vec<_> = (0..MAX_VARIANTS).map(entry).collect();
        let bytes = native.stats().bytes;
        assert!(
            made.iter()
                .enumerate()
                .all(|(set, own)| own.0 == entry(set).0)
        );
        let more = entry(MAX_VARIANTS);
        assert_eq!(native.stats().bytes, bytes);
        assert_eq!(entry(MAX_VARIANTS).0, more.0);
        assert_eq!(entry(1).0, made[1].0);
        assert_ne!(entry(0).0, made[0].0, "the oldest is made anew");
    }
}
