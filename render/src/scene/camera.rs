//! Cameras of scene files, and the one that frames a model that has none.

use super::file::CameraSection;
use super::transform::look_at;
use crate::camera::{Camera, Projection};
use glam::{DVec2, DVec3};

/// The size of the image if neither the scene nor the command gives one, in pixels.
pub const DEFAULT_SIZE: [u32; 2] = [640, 480];
/// The most pixels along a side of an image.
pub const MAX_SIDE: u32 = 16_384;

/// The vertical angle of view of [`framing_camera`], in degrees.
const FRAMING_FOV: f64 = 40.0;
/// How much larger than the model's sphere the view is.
const FRAMING_MARGIN: f64 = 1.05;

/// The height of the view at distance 1, halved.
fn tan_half(fov: f64) -> f64 {
    libm::tan(0.5 * fov.to_radians())
}

fn aspect(size: [u32; 2]) -> f64 {
    f64::from(size[0]) / f64::from(size[1])
}

/// The halves of a view's size at distance 1, for a vertical angle of view in degrees.
pub(super) fn half_view(fov: f64, size: [u32; 2]) -> DVec2 {
    let y = tan_half(fov);
    DVec2::new(y * aspect(size), y)
}

/// The camera of a scene file, or why it is none, with the key that is wrong.
pub(super) fn camera(
    section: &CameraSection,
    size: [u32; 2],
) -> Result<Camera, (&'static str, String)> {
    let (from, to, up) = match section {
        CameraSection::Perspective(p) => (p.from, p.to, p.up),
        CameraSection::Orthographic(o) => (o.from, o.to, o.up),
        CameraSection::ThinLens(t) => (t.from, t.to, t.up),
    };
    let [from, to, up] = [from, to, up].map(DVec3::from_array);
    let frame = look_at(from, to, up);
    let no_frame = "it is at `from`, or `up` is along the view".to_owned();
    let [right, up, forward] = frame.ok_or(("to", no_frame))?;
    let positive = |key: &'static str, value: f64| match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err((key, format!("it is {value}; it is greater than 0"))),
    };
    let field = |fov: f64| match fov > 0.0 && fov < 180.0 {
        true => Ok(fov),
        false => Err((
            "fov",
            format!("it is {fov}; it is between 0 and 180 degrees"),
        )),
    };
    let projection = match section {
        CameraSection::Perspective(view) => {
            let tan_half = half_view(field(view.fov)?, size);
            let shift = DVec2::from_array(view.shift) * tan_half;
            Projection::Perspective { tan_half, shift }
        }
        CameraSection::Orthographic(o) => {
            let half = 0.5 * positive("height", o.height)?;
            let half_size = DVec2::new(half * aspect(size), half);
            Projection::Orthographic { half_size }
        }
        CameraSection::ThinLens(lens) => {
            let distance = lens.focus_distance.unwrap_or(from.distance(to));
            let tan_half = half_view(field(lens.fov)?, size);
            let shift = DVec2::from_array(lens.shift) * tan_half;
            let radius = lens.lens_radius;
            if !(radius >= 0.0 && radius.is_finite()) {
                return Err(("lens-radius", format!("it is {radius}; it is at least 0")));
            }
            Projection::ThinLens {
                tan_half,
                shift,
                lens_radius: radius,
                focus_distance: positive("focus-distance", distance)?,
            }
        }
    };
    Ok(Camera {
        origin: from,
        right,
        up,
        forward,
        projection,
        size,
    })
}

/// A camera that sees all of a box, from the front (+z), a little from the right and above. Without
/// a box it sees the origin.
pub fn framing_camera(bounds: Option<(DVec3, DVec3)>, size: [u32; 2]) -> Camera {
    let (min, max) = bounds.unwrap_or((DVec3::NEG_ONE, DVec3::ONE));
    let centre = 0.5 * (min + max);
    let radius = (0.5 * (max - min).length()).max(1e-6);
    let towards = DVec3::new(0.45, 0.35, 1.0).normalize();
    // The narrower side decides: sin of half its angle, from the tangent.
    let narrow = tan_half(FRAMING_FOV) * aspect(size).min(1.0);
    let distance = radius * FRAMING_MARGIN * (1.0 + narrow * narrow).sqrt() / narrow;
    let origin = centre + towards * distance;
    let frame = look_at(origin, centre, DVec3::Y);
    let [right, up, forward] = frame.unwrap_or([DVec3::X, DVec3::Y, DVec3::NEG_Z]);
    Camera {
        origin,
        right,
        up,
        forward,
        projection: Projection::Perspective {
            tan_half: half_view(FRAMING_FOV, size),
            shift: DVec2::ZERO,
        },
        size,
    }
}
