//! Adumbra: a shading language and virtual machine whose values carry their screen-space derivatives as shadows.
//!
//! A renderer hands over shader text and gets something to call for every shading point. It fills the [`Globals`] with values and
//! their changes per pixel (ddx, ddy); out come values, closures, and, wherever the shader samples a texture or asks for a
//! derivative, the derivatives of whatever procedural mathematics led there.
//!
//! ```
//! use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, Options, SampleRequest, Sampled, Sources, Host};
//!
//! // 1. What the host knows about a point.
//! let layout = GlobalsLayout::hit();
//!
//! // 2. A shader, compiled once.
//! let text = "texture2d wood;
//!             shader plank(float scale = 4.0, out color c) {
//!                 float3 p = global_value<position>;
//!                 c = texture2d_sample<wood>(scale * p.x, sin(p.y));
//!             }";
//! let program = Compiler::new(layout).compile(&Sources::new("plank.adu", text))?;
//!
//! // 3. Its inputs, set once for each material; an evaluator for each thread.
//! let mut material = Instance::new(&program);
//! material.set("scale", 2.0_f32)?;
//! let mut evaluator = Evaluator::new(&material);
//!
//! // 4. Textures stay with the host. A request carries the derivatives that choose the mip level.
//! struct Wood;
//! impl Host for Wood {
//!     fn sample(&mut self, request: &SampleRequest) -> Sampled {
//!         assert_eq!((request.u, request.dudx), (2.0, 0.02));
//!         Sampled::Ready([0.5, 0.25, 0.125, 1.0])
//!     }
//! }
//!
//! // 5. For every point: values and derivatives in, outputs out.
//! let mut globals = Globals::new(program.globals());
//! globals.set("position", [1.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.0, 0.01, 0.0])?;
//! evaluator.evaluate(&globals, &mut Wood);
//! assert_eq!(evaluator.get::<[f32; 3]>("c")?.value, [0.5, 0.25, 0.125]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of the data is [`Sources`] → [`Compiler`] → [`Program`] → [`Instance`] → [`Evaluator`]. Nothing here is global: programs are
//! immutable and shared, evaluators own their memory. Errors are data ([`Findings`]); [`render`] turns them into text.

mod access;
mod arenas;
pub mod assembly;
mod batch;
#[cfg(doctest)]
mod book;
mod closure;
mod compiler;
mod differences;
mod dual;
mod entry;
mod evaluator;
mod floats;
mod globals;
mod group;
mod includes;
mod interface;
mod object;
mod origins;
mod program;
pub mod render;
mod simd;
mod sources;
mod stats;
mod tier;
mod value;

pub use access::{
    AccessError, ClosureSlot, GlobalSlot, InputSlot, OfGlobals, OfInputs, OfOutputs, OutputSlot,
    Slot,
};
pub use adumbra_aot::{ObjectShader, Platform, Target, TooLong, tell_debuggers};
pub use adumbra_derive::ShaderGlobals;
pub use adumbra_frontend::limits::MAX_SOURCE;
pub use adumbra_ir::eval::Origin;
pub use adumbra_ir::host::{
    DEFAULT_STEPS, Fault, FaultKind, Faults, Host, Limits, SampleRequest, Sampled,
};
pub use adumbra_ir::message::Message;
pub use adumbra_ir::metadata::{Metadata, MetadataValue};
pub use adumbra_ir::module::{ClosureShape, Input, MessageId, Output, TextureId};
pub use adumbra_ir::passes::{AtDivergence, Derivatives, FunctionReport, PASSES, ValueReport};
pub use adumbra_ir::quad::{Corner, Quad};
pub use adumbra_ir::{
    Code, Diagnostic, Direction, FileId, Label, Lanes, Module, Op, Scalar, Severity, Span, Type,
};
pub use adumbra_ops::row::{Class, Info as OpInfo};
pub use adumbra_vm::batch::MAX_WIDTH;
pub use adumbra_vm::words::{AnyWords, Words};
pub use adumbra_vm::{Level as SimdLevel, Outcome};
pub use arenas::MAX_KEPT_ARENA;
pub use assembly::Assembly;
pub use batch::globals::{BatchGlobals, Part};
pub use batch::{BatchEvaluator, BatchSetup};
pub use closure::leaves::{ArgumentSlot, ClosureKind, ClosureReader, WeightedLeaf};
pub use closure::registry::{ClosureRegistry, RegistryError};
pub use closure::{Closure, ClosureLeaf, ClosureView, MAX_SHOWN_NODES, TooManyNodes};
pub use compiler::{Compiler, Findings, Options};
pub use differences::{Difference, STEP, central_differences};
pub use dual::Dual;
pub use entry::{Entries, EntryKind, Given, entries, item_at};
pub use evaluator::{
    Engine, Evaluator, NoEngine, NoTextures, OutputView, ParkedPoint, TooManyParked,
    WrongEvaluator, fault_finding,
};
pub use floats::in_standard_mode;
pub use globals::{
    Flag, GlobalMember, GlobalValue, Globals, GlobalsLayout, LayoutError, Member, MemberVisitor,
    PointGlobals, ShaderGlobals,
};
pub use group::{Group, MAX_GROUP_INSTRUCTIONS, MAX_GROUP_TEXTS};
pub use includes::{Loader, MAX_INCLUDE_DEPTH, MAX_INCLUDED, MAX_INCLUDED_BYTES};
pub use interface::JsonInterface;
pub use object::{CannotAdd, ObjectFile};
pub use origins::{nan_origins, nan_origins_in_quad};
pub use program::{CannotFold, Instance, Program};
pub use simd::{NoSimd, SIMD_VARIABLE};
pub use sources::{MAX_TEXTS, Place, SourceFile, Sources};
pub use stats::{Memory, NativeStats, Phases, Stats};
pub use tier::{CompileWhen, HOT_POINTS, Tier, TierUp};
pub use value::{HostValue, HumanFloat, JsonFloat, View};
