//! Many points at once: a batch evaluator for a thread, whole batches on threads, sums over points.
//!
//! What a machine for batches is made of is here; `evaluator` has the machine of an instance,
//! `whole` joins evaluators of several threads.

pub use crate::engine::{SimdError, Tier};
pub use crate::tier::{CompileWhen, HOT_POINTS, TierUp};
pub use crate::value::Part;
pub use adumbra_vm::SimdLevel;
pub use adumbra_vm::batch::MAX_WIDTH;
pub use adumbra_vm::words::{AnyWords, Words};
pub use evaluator::BatchEvaluator;
pub use globals::BatchGlobals;
pub use simd_level::SIMD_VARIABLE;
pub use sums::{JoinError, PlaneSums, PointFault, SumFaults};
pub use whole::{
    BatchError, BatchReport, ClosureLeaves, FaultyPoints, OutputPlane, OutputSums, WholeBatch,
};

use crate::GlobalsLayout;
use crate::access::AccessError;
use crate::evaluator::EngineError;
use crate::program::Program;
use adumbra_ir::Type;
use adumbra_ir::buffer::BufferMemory;
use adumbra_ir::host::Limits;
use adumbra_vm::native::{self, NativeBackend};
use adumbra_vm::{BatchMachine, BatchOptions, FloatEnvironment};
use std::sync::Arc;

mod evaluator;
pub(crate) mod globals;
pub(crate) mod numbered_host;
pub(crate) mod pool;
mod simd_level;
mod sums;
pub(crate) mod threads;
pub(crate) mod whole;

/// Options of a [`BatchEvaluator`].
#[derive(Clone, Debug, Default)]
pub struct BatchSetup {
    /// The limits of each point.
    pub limits: Limits,
    /// Points of a chunk, 1 to [`MAX_WIDTH`]; `None` for a width that suits the program. A program
    /// with very large arrays has fewer; where points are evaluated in quads, the quads are whole.
    pub width: Option<usize>,
    /// The SIMD level; if `None`, the one that the environment names in [`SIMD_VARIABLE`], else the
    /// best.
    pub simd: Option<SimdLevel>,
    /// Globals whose values are the same for all points of a chunk: values that depend on them
    /// alone are computed once for each chunk. Of those given from planes, the first point's value
    /// counts. Names that are no globals of the program change nothing.
    pub uniform: Vec<String>,
    /// The tier that computes arithmetic.
    pub tier: Tier,
    /// With [`Tier::Auto`]: when the program is compiled.
    pub tier_up: TierUp,
}

/// The machine for an instance; one that may tier up begins as an interpreter.
///
/// # Errors
/// If this processor lacks the level.
pub(crate) fn batch_machine(
    program: &Program,
    setup: &BatchSetup,
    memory: &Arc<BufferMemory>,
) -> Result<BatchMachine, EngineError> {
    // Machine code has folded constants.
    let _mode = FloatEnvironment::enter();
    let level = simd_level::choose_level(setup.simd).map_err(EngineError::Simd)?;
    let native: Option<Arc<dyn NativeBackend>> = match setup.tier {
        Tier::Interpreter | Tier::Auto => None,
        Tier::Native if !native::supports_level(level) => {
            return Err(EngineError::native_unavailable());
        }
        Tier::Native => Some(
            program
                .native_backend()
                .ok_or_else(EngineError::native_unavailable)?,
        ),
    };
    let options = BatchOptions {
        width: setup.width,
        level: Some(level),
        uniform: uniform_words(program.globals(), &setup.uniform),
        native,
        loaded: Some(program.loaded_code().clone()),
        // No code will come at such a level, and its routines are slower than single points.
        pointwise: setup.tier == Tier::Auto && !native::supports_level(level),
        ..BatchOptions::default()
    };
    let bytecode = program.bytecode().clone();
    let mut machine = BatchMachine::new(bytecode, setup.limits, &options);
    machine.set_buffers(memory);
    Ok(machine)
}

impl AccessError {
    /// The error of a scalar that the value of that name lacks.
    fn no_scalar(name: &str, scalar: usize, has: &Type) -> AccessError {
        AccessError::Scalar {
            name: name.to_owned(),
            scalar,
            has: has.to_string(),
        }
    }
}

/// For each word of a layout, whether it is a value of one of these members.
pub(crate) fn uniform_words(layout: &GlobalsLayout, names: &[String]) -> Vec<bool> {
    let mut uniform = vec![false; layout.size() / 4];
    for member in layout.members() {
        if names.iter().any(|name| name == member.name()) {
            uniform[member.part(Part::Value as usize)].fill(true);
        }
    }
    uniform
}
