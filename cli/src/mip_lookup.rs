//! What a mip pyramid answers to a request.

use adumbra::{SampleRequest, Texel, TexelSlopes};
use adumbra_image::{MipPyramid, mip_level};

/// The changes of u and v that a request has, along x and along y.
pub fn request_steps(request: &SampleRequest) -> [[f32; 2]; 2] {
    [[request.dudx, request.dvdx], [request.dudy, request.dvdy]]
}

/// The level at which a pyramid answers a request: the one that it names, or that of its partials.
pub fn lookup_level(pyramid: &MipPyramid, request: &SampleRequest) -> f32 {
    request.level.unwrap_or_else(|| {
        let [dx, dy] = request_steps(request);
        mip_level(pyramid.size(), dx, dy)
    })
}

/// What a pyramid answers to a request, with slopes if these are asked for.
///
/// ```
/// use adumbra::SampleRequest;
/// use adumbra_image::{Image, ImageSize, MipPyramid};
/// let black = MipPyramid::new(Image::new(ImageSize::new(2, 2)?, 3));
/// let request = SampleRequest { texture: adumbra::host::TextureId(0), u: 0.5, v: 0.5, dudx: 0.0, dudy: 0.0, dvdx: 0.0, dvdy: 0.0, level: None, slopes: true };
/// assert!(adumbra_cli::mip_lookup::lookup(&black, &request).slopes.is_some());
/// # Ok::<(), adumbra_image::SizeError>(())
/// ```
pub fn lookup(pyramid: &MipPyramid, request: &SampleRequest) -> Texel {
    let at = [request.u, request.v];
    let level = lookup_level(pyramid, request);
    let slopes = request.slopes.then(|| {
        let [u, v] = pyramid.slopes(at, level);
        TexelSlopes { u, v }
    });
    Texel {
        numbers: pyramid.sample_level(at, level),
        slopes,
    }
}
