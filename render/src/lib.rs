//! A reference renderer for Adumbra: the host's half of derivatives.
//!
//! Data flows one way. A [`scene`] file becomes geometry, materials and textures. The [`camera`]
//! makes rays with differentials; [`geometry`] finds hits; [`differential`] transfers the
//! differentials to the hit and seeds the globals of shaders. [`shading`] evaluates materials in
//! batches and integrates light. Shaders ask [`texture`] for texels with u, v and their four
//! partials: a level rule picks the level, a filter reads texels, a cache loads tiles. [`frame`]
//! divides an image among threads. A [`derivative_mode`] replaces the partials by those of
//! renderers of other kinds. [`run_command`] is the command `adumbra-render`.

pub mod camera;
mod command;
pub mod derivative_mode;
pub mod differential;
pub mod frame;
pub mod geometry;
pub mod inverse;
pub mod scene;
pub mod scene_image;
pub mod scene_textures;
pub mod shading;
pub mod texture;

pub use command::run_command;
