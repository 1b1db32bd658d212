//! The engines, and the errors of unavailable ones. A host matches on the same names whatever
//! features are on.

use crate::native::NativeCompiler;
use adumbra_vm::SimdLevel;
use serde::Serialize;
use std::fmt;

/// The engine of an evaluator. All engines give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The reference interpreter, which walks the intermediate representation and allocates: slow,
    /// and the one that the others are compared with.
    Reference,
    /// The point interpreter, for bytecode at one point at a time.
    Point,
    /// The batch interpreter, for bytecode at the many points of a
    /// [`BatchEvaluator`](crate::batch::BatchEvaluator). The single points of an
    /// [`Evaluator`](crate::Evaluator) run alone, as by `Point`.
    Batch,
    /// Machine code, in batches by [`Tier::Native`]: it computes the arithmetic between calls,
    /// arrays and host requests.
    Native,
    /// The engine that suits: for the single points of an [`Evaluator`](crate::Evaluator) `Point`,
    /// and machine code once many have been evaluated; [`Tier::Auto`] for batches.
    #[default]
    Auto,
}

impl Engine {
    /// The engines that this build has for this processor, among which `Auto` chooses.
    pub fn available() -> impl Iterator<Item = Engine> {
        let all = [
            Engine::Reference,
            Engine::Point,
            Engine::Batch,
            Engine::Native,
        ];
        let is = |engine: &Engine| engine.tier().is_none_or(Tier::is_available);
        all.into_iter().filter(is)
    }

    /// The engine that it chooses for points that run alone.
    pub(crate) fn for_single_points(self) -> Engine {
        match self {
            Engine::Auto => Engine::Point,
            chosen => chosen,
        }
    }

    /// The tier of its batches; `None` for the engines of single points.
    pub const fn tier(self) -> Option<Tier> {
        match self {
            Engine::Reference | Engine::Point => None,
            Engine::Batch => Some(Tier::Interpreter),
            Engine::Native => Some(Tier::Native),
            Engine::Auto => Some(Tier::Auto),
        }
    }
}

/// Why an engine cannot run a program here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// The batch engine needs instructions that this processor lacks.
    Simd(SimdError),
    /// There is no machine code for this processor, or for the instructions of the batch engine.
    Native,
    /// This build has no such engine: the crate's feature for it is off.
    NotBuilt {
        /// The missing instructions.
        what: &'static str,
        /// The feature.
        feature: &'static str,
    },
}

impl EngineError {
    /// The reason why there is no machine code.
    pub(crate) fn native_unavailable() -> EngineError {
        match cfg!(feature = "native") {
            true => EngineError::Native,
            false => EngineError::NotBuilt {
                what: "machine code",
                feature: "native",
            },
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Simd(no) => no.fmt(f),
            EngineError::Native => f.write_str(
                "the engine `native` wants an x86-64 processor with AVX2 and FMA, and a SIMD level that has them, or an aarch64 processor",
            ),
            EngineError::NotBuilt { what, feature } => write!(
                f,
                "this build has no {what}: the feature `{feature}` of the crate `adumbra` is off"
            ),
        }
    }
}

impl std::error::Error for EngineError {}

/// The tier that computes the arithmetic of a program. Results are the same to the bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The batch interpreter: no time goes into compiling.
    #[default]
    Interpreter,
    /// Machine code that is compiled for the program. x86-64 with AVX2 and FMA, or aarch64.
    Native,
    /// The interpreter first, and machine code after [`TierUp`](crate::batch::TierUp)'s number of
    /// points, if it is measured to be faster. Where there is no machine code, the interpreter: at
    /// a SIMD level without vectors that of single points.
    Auto,
}

impl Tier {
    /// Whether this build has it, for this processor.
    pub fn is_available(self) -> bool {
        match self {
            Tier::Interpreter | Tier::Auto => cfg!(feature = "batch"),
            Tier::Native => NativeCompiler::is_available(),
        }
    }
}

/// This processor lacks the level of SIMD instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimdError {
    /// There is no level of that name.
    Unknown(String),
    /// This processor lacks it.
    Unsupported(SimdLevel),
}

impl fmt::Display for SimdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimdError::Unknown(name) => {
                let names = SimdLevel::ALL.map(SimdLevel::name).join("`, `");
                write!(
                    f,
                    "there is no SIMD level `{name}`; the levels are `{names}`"
                )
            }
            SimdError::Unsupported(level) => write!(
                f,
                "this processor lacks the SIMD level `{level}`; its best is `{}`",
                SimdLevel::best()
            ),
        }
    }
}

impl std::error::Error for SimdError {}
