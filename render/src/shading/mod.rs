//! Materials evaluated in batches, their closures as lobes, direct light and paths.
//!
//! A *wave* is the set of paths that one thread follows together. Each bounce of a wave intersects
//! all rays, seeds the globals of all hits, evaluates materials in batches (one material after the
//! other), and walks the closures of all points into lobes. Points that wait for texels are parked
//! until the others of the wave are shaded. Every path has random numbers of its own, and a pixel
//! adds its samples in order, so images do not depend on threads, tiles, engines or tile caches.

mod adjoint;
mod area_lights;
pub mod bsdf;
mod closures;
pub mod environment;
mod leaf_values;
mod material;
mod material_faults;
mod number;
mod path;
mod phase_times;
mod pixel_filter;
mod point;
mod random;
mod shadow;
mod tracer;
mod wave;

pub(crate) use adjoint::{GradientMaterial, GradientShader, InputSums, tile_gradient};
pub use area_lights::{AreaLights, MAX_ESTIMATE_POINTS};
pub use closures::{ClosureTable, LEAVES, LeafInfo, Lobe, LobeShape};
pub use leaf_values::LeafReader;
pub use material::{MaterialShader, ShaderOutput};
pub use material_faults::MaterialFaults;
pub use number::{Colour, LobeNumber};
pub use path::{ImageTile, MAX_PASSES, PathScene, PathSettings, WAVE_PATHS, trace_tile};
pub(crate) use phase_times::LookupClock;
pub use phase_times::PhaseTimes;
pub use pixel_filter::{FILTER_RADIUS, PixelFilter};
pub use point::{TexturePoint, WavePoint};
pub use random::{PathRandom, pixel_position};
pub use wave::{ShadingEngine, ShadingError, TextureAccess, WaveShader};
