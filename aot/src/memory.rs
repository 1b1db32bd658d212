//! Code where it can be run: pages that are written first and executed then, never both at once. The evaluators of a program share them.
//!
//! The pages come from memmap2 through dynasmrt: anonymous ones whose protection is changed, on every system. On Apple's processors too, without `MAP_JIT`: macOS lets
//! ordinary processes do so, and refuses it to those with the hardened runtime, unless they are entitled to unsigned executable memory. To be refused is no error: rows are
//! interpreted then.

use crate::emit::Code;
use crate::object::{LinkedKernels, ObjectShader, fingerprint};
use crate::perf::{Piece, pieces, write_lines};
use crate::target::Target;
use adumbra_vm::native::{Flow, Kernel, Kernels, PointKernel, PointKernels, Translator, Unit};
use dynasmrt::AssemblyOffset;
use dynasmrt::cache_control::synchronize_icache;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sets of words that are the same for all points whose code is kept for a program; beyond, the oldest goes with its last evaluator.
pub const MAX_VARIANTS: usize = 8;

/// Makes the machine code of one program, for this processor, or finds it among what was linked.
#[derive(Debug, Default)]
pub struct Native {
    linked: Vec<LinkedKernels>,
    made: Mutex<Made>,
    /// Held by whoever compiles, so that nothing is compiled twice. Who asks for figures, or for code that is there, does not wait for it.
    compiling: Mutex<()>,
}

/// What was made so far.
#[derive(Debug, Default)]
struct Made {
    variants: Vec<Variant>,
    points: Option<Points>,
    stats: CodeStats,
}

/// The code for single points; nothing if there is none.
#[derive(Debug)]
struct Points {
    kernels: Option<PointKernels>,
    bytes: usize,
}

/// The code for a set of words that are the same for all points.
#[derive(Debug)]
struct Variant {
    uniform: Box<[bool]>,
    kernels: Option<Kernels>,
    bytes: usize,
    pieces: Vec<Piece>,
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
    /// The backend for a program, if it can make code for this processor: x86-64 with AVX2 and FMA, or aarch64.
    pub fn new() -> Option<Native> {
        Native::is_available().then(Native::default)
    }

    /// The same for a shader that was compiled ahead of time: what its object has is not compiled again.
    pub fn linked(shader: &'static ObjectShader) -> Option<Native> {
        let native = Native::new()?;
        Some(Native {
            linked: shader.kernels(),
            ..native
        })
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
        is
    }

    /// What was made so far, and is kept.
    pub fn stats(&self) -> CodeStats {
        let made = self.made();
        let variants = made.variants.iter().map(|variant| variant.bytes);
        let points = made.points.iter().map(|points| points.bytes);
        CodeStats {
            bytes: variants.chain(points).sum(),
            linked_bytes: self.linked.iter().map(|own| own.bytes).sum(),
            ..made.stats
        }
    }

    /// A line for each kernel that was made and is kept, and for what kernels share, for profilers that look for code in `/tmp/perf-PID.map`. Kernels are numbered
    /// as units are, `name` stands before.
    pub fn perf_map(&self, name: &str) -> String {
        let mut lines = String::new();
        for variant in &self.made().variants {
            write_lines(&mut lines, name, &variant.pieces);
        }
        lines
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        // Whoever panicked there left no half of anything.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was made for such words, if anything was.
    fn find(&self, uniform: &[bool]) -> Option<Option<Kernels>> {
        let made = self.made();
        let found = made.variants.iter().find(|own| *own.uniform == *uniform);
        found.map(|variant| variant.kernels.clone())
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
        let compiling = self.compiling.lock();
        let _compiling = compiling.unwrap_or_else(PoisonError::into_inner);
        if let Some(kernels) = self.find(uniform) {
            return kernels;
        }
        let start = Instant::now();
        let code = Target::host().filter(|_| !units.is_empty());
        let code = code.and_then(|own| own.compile(units));
        let bytes = code.as_ref().map_or(0, |code| code.bytes.len());
        let kernels = code.as_ref().and_then(place);
        let placed = code.as_ref().zip(kernels.as_ref());
        let pieces = placed.map_or_else(Vec::new, |(code, kernels)| pieces(code, kernels));
        let time = start.elapsed();
        let mut made = self.made();
        made.stats.time += time;
        if kernels.is_none() && !units.is_empty() {
            made.stats.refused += 1;
        }
        if made.variants.len() == MAX_VARIANTS {
            made.variants.remove(0);
        }
        made.variants.push(Variant {
            uniform: uniform.into(),
            bytes: if kernels.is_some() { bytes } else { 0 },
            kernels: kernels.clone(),
            pieces,
        });
        kernels
    }

    fn translate_points(&self, flows: &dyn Fn() -> Vec<Flow>) -> Option<PointKernels> {
        let mut made = self.made();
        if let Some(points) = &made.points {
            return points.kernels.clone();
        }
        let start = Instant::now();
        let flows = flows();
        let code = Target::host().filter(|_| !flows.is_empty());
        let code = code.and_then(|own| own.compile_flows(&flows));
        let bytes = code.as_ref().map_or(0, |code| code.bytes.len());
        let kernels = code.and_then(|code| place_points(&flows, &code));
        made.stats.time += start.elapsed();
        if kernels.is_none() && !flows.is_empty() {
            made.stats.refused += 1;
        }
        made.points = Some(Points {
            bytes: if kernels.is_some() { bytes } else { 0 },
            kernels: kernels.clone(),
        });
        kernels
    }
}

/// Puts code into pages of its own; nothing if there are none.
pub(crate) fn place(code: &Code) -> Option<Kernels> {
    let buffer = pages(code)?;
    let entries = code.kernels.iter().map(|kernel| {
        let at = buffer.ptr(AssemblyOffset(kernel.as_ref()?.start));
        // SAFETY: a kernel begins there, which was written for that convention.
        Some(unsafe { std::mem::transmute::<*const u8, Kernel>(at) })
    });
    Some(Kernels {
        entries: entries.collect(),
        code: Arc::new(buffer),
    })
}

/// The same for flows.
pub(crate) fn place_points(flows: &[Flow], code: &Code) -> Option<PointKernels> {
    let buffer = pages(code)?;
    let entries = flows.iter().flat_map(|flow| &flow.entries);
    let entries = entries.zip(&code.kernels).filter_map(|(entry, kernel)| {
        let at = buffer.ptr(AssemblyOffset(kernel.as_ref()?.start));
        // SAFETY: as above.
        let kernel = unsafe { std::mem::transmute::<*const u8, PointKernel>(at) };
        Some((*entry, kernel))
    });
    Some(PointKernels {
        entries: entries.collect(),
        code: Arc::new(buffer),
    })
}

/// Code in pages of its own; nothing if there are none.
fn pages(code: &Code) -> Option<ExecutableBuffer> {
    let mut buffer = MutableBuffer::new(code.bytes.len()).ok()?;
    buffer.set_len(code.bytes.len());
    buffer.copy_from_slice(&code.bytes);
    let buffer = buffer.make_exec().ok()?;
    // Where instructions have a cache of their own.
    synchronize_icache(&buffer);
    Some(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    #[test]
    fn nobody_waits_for_a_compilation_but_who_wants_its_code() {
        let native = Native::default();
        assert!(native.translate(&[true], &[]).is_none());
        let compiling = native.compiling.lock().unwrap();
        assert_eq!(native.stats().bytes, 0);
        assert!(native.translate(&[true], &[]).is_none(), "it is there");
        drop(compiling);
    }

    #[test]
    fn code_is_kept_for_a_few_sets_of_uniform_words() {
        let Some(native) = Native::new() else { return };
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
