//! What the processor can do, and so which routines run. The text of a routine is the same at every level, and so are its results, to the bit.

use std::fmt;

/// A set of instructions that routines are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing beyond the target that this was compiled for: SSE2 on x86-64, NEON on aarch64.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 with its parts F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// Every level, the least first.
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// The levels that this processor has, the least first.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Those that it lacks.
    pub fn missing() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| !level.is_available())
    }

    /// The best level that this processor has.
    pub fn best() -> Level {
        Level::available().last().unwrap_or(Level::Baseline)
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Level::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// `baseline`, `avx2` or `avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Baseline => "baseline",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Points in a pack of a level. The types of the packs are held to it where they are compiled.
pub const fn lanes_of(level: Level) -> usize {
    match level {
        Level::Baseline if cfg!(target_arch = "aarch64") => 16,
        Level::Baseline => 4,
        Level::Avx2 => 16,
        Level::Avx512 => 32,
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
