//! Footprints: texture coordinates and their changes from pixel to pixel, made finite, and the axes
//! of the ellipse that they span (Heckbert, Fundamentals of Texture Mapping, 1989, section 3.5).

use glam::DVec2;

/// Largest magnitude of a partial. Larger ones, the infinite ones too, count as this one.
pub const MAX_PARTIAL: f64 = 1e8;

/// Texture coordinates, and how they change from pixel to pixel.
///
/// u and v span the texture from 0 to 1; v goes down from the first row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// (u, v).
    pub uv: [f32; 2],
    /// (∂u/∂x, ∂v/∂x).
    pub dx: [f32; 2],
    /// (∂u/∂y, ∂v/∂y).
    pub dy: [f32; 2],
}

/// A [`Footprint`] in f64, in which levels and weights are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DFootprint {
    /// (u, v).
    pub uv: DVec2,
    /// (∂u/∂x, ∂v/∂x).
    pub dx: DVec2,
    /// (∂u/∂y, ∂v/∂y).
    pub dy: DVec2,
}

impl From<Footprint> for DFootprint {
    fn from(f: Footprint) -> DFootprint {
        let wide = |[u, v]: [f32; 2]| DVec2::new(u.into(), v.into());
        DFootprint {
            uv: wide(f.uv),
            dx: wide(f.dx),
            dy: wide(f.dy),
        }
    }
}

impl DFootprint {
    /// The same coordinates with finite partials: NaN counts as 0, magnitudes end at
    /// [`MAX_PARTIAL`].
    #[must_use]
    pub fn sanitised(self) -> DFootprint {
        let finite = |x: f64| match x.is_nan() {
            true => 0.0,
            false => x.clamp(-MAX_PARTIAL, MAX_PARTIAL),
        };
        let both = |v: DVec2| DVec2::new(finite(v.x), finite(v.y));
        DFootprint {
            uv: self.uv,
            dx: both(self.dx),
            dy: both(self.dy),
        }
    }

    /// The partials in texels of an image of that size, in place of whole textures.
    pub(super) fn in_texels(&self, size: [u32; 2]) -> [DVec2; 2] {
        let size = DVec2::new(size[0].into(), size[1].into());
        [self.dx * size, self.dy * size]
    }

    /// The greatest magnitude of the four partials.
    pub(super) fn greatest_partial(&self) -> f64 {
        self.dx.abs().max_element().max(self.dy.abs().max_element())
    }
}

/// The greater and the smaller singular value of the matrix with these columns: half the axes of
/// the ellipse that a unit circle in pixels becomes.
pub(super) fn singular_values(dx: DVec2, dy: DVec2) -> [f64; 2] {
    let greater = greater_squared(dx, dy).sqrt();
    // Their product is the determinant. The difference of squares would cancel.
    let smaller = match greater > 0.0 {
        true => dx.perp_dot(dy).abs() / greater,
        false => 0.0,
    };
    [greater, smaller]
}

/// The unit vector along the longer axis of the ellipse of these columns.
pub(super) fn major_direction(dx: DVec2, dy: DVec2) -> DVec2 {
    // An eigenvector of [p q; q r] for the greater eigenvalue; of the two ways to write it, the one
    // that does not cancel.
    let (p, q, r) = (
        dx.x * dx.x + dy.x * dy.x,
        dx.x * dx.y + dy.x * dy.y,
        dx.y * dx.y + dy.y * dy.y,
    );
    let value = greater_squared(dx, dy);
    let direction = match p >= r {
        true => DVec2::new(value - r, q),
        false => DVec2::new(q, value - p),
    };
    direction.try_normalize().unwrap_or(DVec2::X)
}

/// The greater eigenvalue of the matrix times its transpose.
fn greater_squared(dx: DVec2, dy: DVec2) -> f64 {
    let (p, q, r) = (
        dx.x * dx.x + dy.x * dy.x,
        dx.x * dx.y + dy.x * dy.y,
        dx.y * dx.y + dy.y * dy.y,
    );
    let root = ((p - r) * (p - r) + 4.0 * q * q).sqrt();
    0.5 * (p + r + root)
}
