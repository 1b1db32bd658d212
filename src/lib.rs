//! Adumbra: a shading language and virtual machine whose values carry their screen-space
//! derivatives as shadows.
//!
//! A renderer passes a shader's source and gets a program to evaluate at every shading point. It
//! fills the [`Globals`] with values and their changes per pixel (ddx, ddy). Results are values and
//! closures. Wherever the shader samples a texture or asks for a derivative, the derivatives of the
//! procedural mathematics before it are computed, too.
//!
//! ```
//! use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, Options, SampleRequest, Sampled, Sources};
//!
//! // 1. What the host knows about a point.
//! let layout = GlobalsLayout::hit();
//!
//! // 2. A shader, compiled once.
//! let source = "texture2d wood;
//!             shader plank(float scale = 4.0, out color c) {
//!                 float3 p = global_value<position>;
//!                 c = texture2d_sample<wood>(scale * p.x, sin(p.y));
//!             }";
//! let program = Compiler::new(layout).compile(&Sources::new("plank.adu", source))?;
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
//! assert_eq!(evaluator.get::<[f32; 3]>("c")?, [0.5, 0.25, 0.125]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Data flows [`Sources`] → [`Compiler`] → [`Program`] → [`Instance`] → [`Evaluator`]. Nothing here
//! is global: programs are immutable and shared, evaluators own their memory. Errors are data
//! ([`Diagnostics`]); [`render`] makes text of them.
//!
//! The root has what most hosts need. The rest is in modules by subject: [`batch`] for many points
//! at once, [`closure`] for reflections, [`group`] for shaders wired to one another, [`host`] for
//! textures, limits and faults, [`inspect`] for what a compiler knows of a shader.

pub mod access;
mod arena_pool;
#[cfg(feature = "disassembly")]
pub mod assembly;
#[cfg(feature = "batch")]
pub mod batch;
#[cfg(doctest)]
mod book;
mod buffer;
pub mod closure;
mod compiler;
mod default_places;
pub mod derivatives;
pub mod diagnostics;
mod dual;
mod engine;
mod error_pages;
pub mod evaluator;
mod finite_differences;
mod float_environment;
mod folder;
pub mod globals;
pub mod gradient;
pub mod group;
mod hooks;
pub mod host;
mod includes;
pub mod inspect;
mod interface;
mod nan_origins;
mod native;
#[cfg(feature = "objects")]
pub mod object;
mod open_file;
pub mod program;
pub mod render;
pub mod session;
pub mod sources;
mod stats;
mod tape_stats;
mod texture_file;
#[cfg(feature = "batch")]
mod tier;
#[cfg(not(feature = "batch"))]
#[path = "tier/absent.rs"]
mod tier;
pub mod value;

pub use adumbra_derive::ShaderGlobals;
#[doc(inline)]
pub use adumbra_ir::Scalar;
/// Types as layouts, registries and programs name them. [`HostValue`](value::HostValue)s are their
/// Rust types.
///
/// ```
/// use adumbra::{GlobalsLayout, Scalar, Type};
/// let layout = GlobalsLayout::new()
///     .with("time", Type::FLOAT)?
///     .with("bounce", Type::Scalar(Scalar::I32))?
///     .with("uv", Type::Vector(2))?
///     .with("to_world", Type::Matrix(4))?;
/// let types: Vec<String> = layout.members().iter().map(|member| member.ty().to_string()).collect();
/// assert_eq!(types, ["float", "int", "float2", "float4x4"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use adumbra_ir::Type;
#[doc(inline)]
pub use adumbra_vm::Outcome;
pub use compiler::{Compiler, Options};
#[doc(inline)]
pub use derivatives::Derivatives;
#[doc(inline)]
pub use diagnostics::Diagnostic;
pub use diagnostics::Diagnostics;
pub use dual::Dual;
#[doc(inline)]
pub use evaluator::{Evaluator, NoTextures};
/// The crate whose vectors and matrices are values, in the version that this one is built with.
#[cfg(feature = "glam")]
pub use glam;
#[doc(inline)]
pub use globals::{Globals, GlobalsLayout, ShaderGlobals};
#[doc(inline)]
pub use host::{Host, Limits, SampleRequest, Sampled, Texel, TexelSlopes};
/// The crate whose vectors and matrices are values, in the version that this one is built with.
#[cfg(feature = "mint")]
pub use mint;
#[doc(inline)]
pub use program::{Instance, Program};
#[doc(inline)]
pub use sources::Sources;
