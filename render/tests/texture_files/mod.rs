//! Images for tests of textures.

use adumbra_image::{Image, ImageSize};

/// An image of noise, with 1 to 4 channels. One channel is grey in all, and alpha is 1 unless there
/// are four, as in images that were read.
pub(crate) fn noise(width: u32, height: u32, channels: usize, seed: u64) -> Image {
    let size = ImageSize::new(width.into(), height.into()).unwrap();
    let mut rng = fastrand::Rng::with_seed(seed);
    let pixels = (0..size.pixels()).map(|_| match channels {
        1 => {
            let grey = rng.f32();
            [grey, grey, grey, 1.0]
        }
        4 => std::array::from_fn(|_| 2.0 * rng.f32()),
        _ => [rng.f32(), rng.f32(), rng.f32(), 1.0],
    });
    Image::from_pixels(size, channels.max(3), pixels.collect())
}
