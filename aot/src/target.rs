//! The processors that code can be compiled for, on any host.

use crate::a64::A64Assembler;
use crate::emit::{compile_batch, compile_points};
use crate::machine_code::MachineCode;
use crate::macro_assembler::MacroAssembler;
use crate::optimisation::Optimisations;
use crate::x64::{X64Avx512Batch, X64Batch, X64Point};
use adumbra_vm::SimdLevel;
use adumbra_vm::native::{PointCfg, Segment};

/// A processor that code can be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// x86-64 with AVX2 and FMA.
    X86_64,
    /// aarch64 with NEON.
    Aarch64,
    /// x86-64 with AVX-512, whose parts [`SimdLevel::Avx512`] names, for batches. The code of
    /// single points is that of [`Target::X86_64`].
    X86_64Avx512,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 3] = [Target::X86_64, Target::Aarch64, Target::X86_64Avx512];

    /// The host's target for batches at a SIMD level, if it is supported.
    pub fn for_level(level: SimdLevel) -> Option<Target> {
        match level {
            SimdLevel::Avx512 => Some(Target::X86_64Avx512),
            SimdLevel::Baseline | SimdLevel::Avx2 => Target::host(),
        }
    }

    /// The target that every supported processor of the host's architecture has.
    pub const fn host() -> Option<Target> {
        if cfg!(target_arch = "x86_64") {
            Some(Target::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Target::Aarch64)
        } else {
            None
        }
    }

    /// `x86_64`, `aarch64` or `x86_64-avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            Target::X86_64 => "x86_64",
            Target::Aarch64 => "aarch64",
            Target::X86_64Avx512 => "x86_64-avx512",
        }
    }

    /// The code of segments on this processor, or `None` if it is too long for its own jumps.
    /// `in_parts` requests the purposes of its parts.
    pub fn compile_batch(self, segments: &[Segment], in_parts: bool) -> Option<MachineCode> {
        self.compile_batch_with(Optimisations::ALL, segments, in_parts)
    }

    /// Compiles segments with a subset of the optimisations.
    #[doc(hidden)]
    pub fn compile_batch_with(
        self,
        optimisations: Optimisations,
        segments: &[Segment],
        in_parts: bool,
    ) -> Option<MachineCode> {
        let compile = match self {
            Target::X86_64 => compile_for::<X64Batch>,
            Target::X86_64Avx512 => compile_for::<X64Avx512Batch>,
            Target::Aarch64 => compile_for::<A64Assembler>,
        };
        compile(optimisations, segments, in_parts)
    }

    /// The code of point CFGs, each entry of which is a kernel.
    pub fn compile_points(self, cfgs: &[PointCfg], in_parts: bool) -> Option<MachineCode> {
        self.compile_points_with(Optimisations::ALL, cfgs, in_parts)
    }

    /// Compiles point CFGs with a subset of the optimisations.
    #[doc(hidden)]
    pub fn compile_points_with(
        self,
        optimisations: Optimisations,
        cfgs: &[PointCfg],
        in_parts: bool,
    ) -> Option<MachineCode> {
        match self {
            Target::X86_64 | Target::X86_64Avx512 => {
                compile_points::<X64Point>(optimisations, cfgs, X64Point::VALUE_REGISTERS, in_parts)
            }
            Target::Aarch64 => compile_points::<A64Assembler>(
                optimisations,
                cfgs,
                A64Assembler::VALUE_REGISTERS,
                in_parts,
            ),
        }
    }
}

/// Compiles segments with all registers.
fn compile_for<M: MacroAssembler>(
    optimisations: Optimisations,
    segments: &[Segment],
    in_parts: bool,
) -> Option<MachineCode> {
    compile_batch::<M>(optimisations, segments, M::VALUE_REGISTERS, in_parts)
}
