//! Images in floats, for renderers and for the command: PNG, EXR and JPEG files, and mip pyramids,
//! looked up at the level that derivatives ask for.
//!
//! The crate is independent of shaders. Everything is computed by the same arithmetic on every
//! machine. The contents of a file are checked before they are used.
//!
//! ```
//! use adumbra_image::{Image, ImageSize, MipPyramid};
//! let mut stripes = Image::new(ImageSize::new(4, 4)?, 1);
//! for (i, pixel) in stripes.pixels_mut().iter_mut().enumerate() {
//!     *pixel = if i % 2 == 0 { [1.0, 1.0, 1.0, 1.0] } else { [0.0, 0.0, 0.0, 1.0] };
//! }
//! let texture = MipPyramid::new(stripes);
//! // u moves by 1/4, one texel, from pixel to pixel; then by 2 texels, which is level 1, where the
//! // stripes are grey.
//! let at = |du| texture.sample([0.125, 0.125], [du, 0.0], [0.0, du])[0];
//! assert_eq!((at(0.25), at(0.5)), (1.0, 0.5));
//! # Ok::<(), adumbra_image::SizeError>(())
//! ```

mod error;
mod exr;
mod fingerprint;
mod image;
mod jpeg;
mod mip_pyramid;
mod part;
mod png;
mod region;
mod rows;
mod save;
mod size;
pub mod srgb;
mod texture_settings;
mod views;
mod wrap;

pub use error::ImageError;
pub use exr::{write_exr, write_exr_part};
pub use fingerprint::{Fingerprint, MAX_HASHED_BYTES};
pub use image::{Image, read_image, read_image_as};
pub use mip_pyramid::{HalvedRows, MipPyramid, TexelWeight, mip_level, step_level};
pub use part::{ImagePart, MergeError, merge_parts};
pub use png::{PngImage, write_png};
pub use region::{ImageRegion, RegionCorners, RegionError};
pub use rows::{ImageRows, MAX_DECODED_BYTES};
pub use save::{ImageFormat, save_atomically};
pub use size::{ImageSize, MAX_PIXELS, MAX_SIDE, SizeError};
pub use texture_settings::{ColorSpace, TextureSettings};
pub use views::{
    LEVEL_COLOURS, NO_LEVEL, WITHOUT_TEXTURE, derivative_grey, derivative_scale, level_colour,
    level_legend, pixel_count, to_byte,
};
pub use wrap::Wrap;
