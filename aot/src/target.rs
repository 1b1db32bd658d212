//! The processors that code can be written for, on any host.

use crate::a64::A64;
use crate::emit::{compile, compile_flows};
use crate::listing::Compiled;
use crate::machine::Machine;
use crate::optimisation::Optimisations;
use crate::x64::{Point, X64};
use adumbra_vm::native::{Flow, Unit};

/// A processor that code can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// x86-64 with AVX2 and FMA.
    X86_64,
    /// aarch64 with NEON.
    Aarch64,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 2] = [Target::X86_64, Target::Aarch64];

    /// This host's own, if it is one.
    pub const fn host() -> Option<Target> {
        if cfg!(target_arch = "x86_64") {
            Some(Target::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Target::Aarch64)
        } else {
            None
        }
    }

    /// `x86_64` or `aarch64`.
    pub const fn name(self) -> &'static str {
        match self {
            Target::X86_64 => "x86_64",
            Target::Aarch64 => "aarch64",
        }
    }

    /// The code of units on this processor; nothing if it is too long for its own jumps. `in_parts` says whether it tells what its parts are for.
    pub fn compile(self, units: &[Unit], in_parts: bool) -> Option<Compiled> {
        self.compile_with(Optimisations::ALL, units, in_parts)
    }

    /// The same with some of the optimisations alone.
    #[doc(hidden)]
    pub fn compile_with(
        self,
        optimisations: Optimisations,
        units: &[Unit],
        in_parts: bool,
    ) -> Option<Compiled> {
        match self {
            Target::X86_64 => compile::<X64>(optimisations, units, X64::REGISTERS, in_parts),
            Target::Aarch64 => compile::<A64>(optimisations, units, A64::REGISTERS, in_parts),
        }
    }

    /// The same of flows, each entry of which is a kernel.
    pub fn compile_flows(self, flows: &[Flow], in_parts: bool) -> Option<Compiled> {
        self.compile_flows_with(Optimisations::ALL, flows, in_parts)
    }

    /// The same with some of the optimisations alone.
    #[doc(hidden)]
    pub fn compile_flows_with(
        self,
        optimisations: Optimisations,
        flows: &[Flow],
        in_parts: bool,
    ) -> Option<Compiled> {
        match self {
            Target::X86_64 => {
                compile_flows::<Point>(optimisations, flows, Point::REGISTERS, in_parts)
            }
            Target::Aarch64 => compile_flows::<A64>(optimisations, flows, A64::REGISTERS, in_parts),
        }
    }
}
