//! SIMD levels of processors, which select routines (function multiversioning) and machine code.
//! Routines have the same source at every level, and the same results to the bit.

use std::fmt;

/// A set of instructions that a processor may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// Only the target's own instructions: SSE2 on x86-64, NEON on aarch64.
    Baseline,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 with its parts F, BW, DQ and VL, for machine code: routines are those of AVX2.
    Avx512,
}

impl SimdLevel {
    /// Every level, the least first.
    pub const ALL: [SimdLevel; 3] = [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512];

    /// The levels that this processor has, the least first.
    pub fn available() -> impl Iterator<Item = SimdLevel> {
        SimdLevel::ALL
            .into_iter()
            .filter(|level| level.is_available())
    }

    /// The levels that this processor lacks.
    pub fn missing() -> impl Iterator<Item = SimdLevel> {
        SimdLevel::ALL
            .into_iter()
            .filter(|level| !level.is_available())
    }

    /// The best level that this processor has.
    pub fn best() -> SimdLevel {
        SimdLevel::available().last().unwrap_or(SimdLevel::Baseline)
    }

    /// Whether this processor has the level.
    pub fn is_available(self) -> bool {
        match self {
            SimdLevel::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => {
                SimdLevel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            SimdLevel::Avx2 | SimdLevel::Avx512 => false,
        }
    }

    /// `baseline`, `avx2` or `avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            SimdLevel::Baseline => "baseline",
            SimdLevel::Avx2 => "avx2",
            SimdLevel::Avx512 => "avx512",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<SimdLevel> {
        SimdLevel::ALL
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// Elements of a SIMD vector at a level. The vector types are checked against it where they are
/// compiled.
pub const fn vector_width(level: SimdLevel) -> usize {
    match level {
        SimdLevel::Baseline if cfg!(target_arch = "aarch64") => 16,
        SimdLevel::Baseline => 4,
        SimdLevel::Avx2 | SimdLevel::Avx512 => 16,
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
