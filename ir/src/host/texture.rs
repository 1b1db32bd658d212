//! Texture requests, and their answers: numbers, slopes, or not yet.

use crate::module::TextureId;

/// A texture request: the place, and how both coordinates change towards the next pixel along x and
/// y. Numbers are `f32` for all engines, `f64` for the oracle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRequest<F = f32> {
    /// The texture, as an index into the program's textures.
    pub texture: TextureId,
    /// Coordinate along the texture's width; the image spans 0 to 1.
    pub u: F,
    /// Coordinate along its height.
    pub v: F,
    /// ∂u/∂x, per pixel.
    pub dudx: F,
    /// ∂u/∂y, per pixel.
    pub dudy: F,
    /// ∂v/∂x, per pixel.
    pub dvdx: F,
    /// ∂v/∂y, per pixel.
    pub dvdy: F,
    /// The explicit level of detail, 0 the finest, each further one half as wide; the partials are
    /// 0 then.
    pub level: Option<F>,
    /// Whether the point needs the slopes of the texel. If not, they are not read.
    pub slopes: bool,
}

/// The change of the four numbers of a texel along each coordinate of its texture, while the level
/// of detail is held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TexelSlopes {
    /// ∂/∂u of red, green, blue, alpha.
    pub u: [f32; 4],
    /// ∂/∂v of red, green, blue, alpha.
    pub v: [f32; 4],
}

/// The numbers that a request asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Texel {
    /// Red, green, blue, alpha.
    pub numbers: [f32; 4],
    /// Their slopes, if the host gives them. If not, they count as 0, with a fault where the point
    /// needs them.
    pub slopes: Option<TexelSlopes>,
}

impl Texel {
    /// Numbers that are the same all around.
    pub const fn flat(numbers: [f32; 4]) -> Texel {
        let slopes = TexelSlopes {
            u: [0.0; 4],
            v: [0.0; 4],
        };
        Texel {
            numbers,
            slopes: Some(slopes),
        }
    }

    /// Of the numbers, then their slopes along u and along v, or of the numbers alone.
    pub fn of_numbers(mut numbers: impl Iterator<Item = f32>) -> Texel {
        let mut four = || {
            let first = numbers.next()?;
            Some(std::array::from_fn(|i| match i {
                0 => first,
                _ => numbers.next().unwrap_or_default(),
            }))
        };
        let numbers = four().unwrap_or_default();
        Texel {
            numbers,
            slopes: four().map(|u| TexelSlopes {
                u,
                v: four().unwrap_or_default(),
            }),
        }
    }

    /// The words of a sample's results, with slopes or without.
    pub fn words(&self) -> impl Iterator<Item = u32> {
        let TexelSlopes { u, v } = self.slopes.unwrap_or_default();
        [self.numbers, u, v].into_iter().flatten().map(f32::to_bits)
    }

    /// Whether a request needs slopes that are not there.
    pub fn lacks_slopes(&self, wanted: bool) -> bool {
        wanted && self.slopes.is_none()
    }
}

impl From<([f32; 4], TexelSlopes)> for Texel {
    fn from((numbers, slopes): ([f32; 4], TexelSlopes)) -> Texel {
        Texel {
            numbers,
            slopes: Some(slopes),
        }
    }
}

impl From<[f32; 4]> for Texel {
    fn from(numbers: [f32; 4]) -> Texel {
        Texel {
            numbers,
            slopes: None,
        }
    }
}

/// The host's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampled {
    /// Red, green, blue, alpha.
    Ready([f32; 4]),
    /// Red, green, blue, alpha, and their slopes.
    Sloped([f32; 4], TexelSlopes),
    /// Not yet. The point waits at this sample and keeps its state. The host resumes it with the
    /// answer when it is available, or drops it. The request is not repeated.
    Pending,
}

impl From<Texel> for Sampled {
    fn from(texel: Texel) -> Sampled {
        match texel.slopes {
            Some(slopes) => Sampled::Sloped(texel.numbers, slopes),
            None => Sampled::Ready(texel.numbers),
        }
    }
}

impl Sampled {
    /// The texel, unless it is still to come.
    pub const fn texel(self) -> Option<Texel> {
        let (numbers, slopes) = match self {
            Sampled::Ready(numbers) => (numbers, None),
            Sampled::Sloped(numbers, slopes) => (numbers, Some(slopes)),
            Sampled::Pending => return None,
        };
        Some(Texel { numbers, slopes })
    }
}
