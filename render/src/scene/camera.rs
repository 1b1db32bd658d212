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
/// How much larger than the model the view is.
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
    // Half the box, but no point.
    let half = (0.5 * (max - min)).max(DVec3::splat(1e-6 * (1.0 + centre.abs().max_element())));
    let towards = DVec3::new(0.45, 0.35, 1.0).normalize();
    let frame = look_at(towards, DVec3::ZERO, DVec3::Y);
    let [right, up, forward] = frame.unwrap_or([DVec3::X, DVec3::Y, DVec3::NEG_Z]);
    let view = half_view(FRAMING_FOV, size) / FRAMING_MARGIN;
    // Each corner is seen from this far and farther.
    let distance = |corner: u32| {
        let sign = |axis: u32| if corner >> axis & 1 == 0 { -1.0 } else { 1.0 };
        let at = half * DVec3::new(sign(0), sign(1), sign(2));
        let across = (at.dot(right).abs() / view.x).max(at.dot(up).abs() / view.y);
        across - at.dot(forward)
    };
    let origin = centre + towards * (0..8).map(distance).fold(0.0, f64::max);
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
