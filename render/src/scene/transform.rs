//! Affine maps of scene files.

use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The map of a quaternion that need not be normalised; none for a zero one.
pub(super) fn quaternion(xyzw: [f64; 4]) -> Option<DMat3> {
    let length = DQuat::from_array(xyzw).length_squared().sqrt();
    let quaternion = DQuat::from_array(xyzw.map(|v| v / length));
    (length > 0.0 && quaternion.is_finite()).then(|| DMat3::from_quat(quaternion))
}

/// The rotation about an axis by degrees, counter-clockwise as seen from the axis's tip.
pub(super) fn rotation(axis: DVec3, degrees: f64) -> Option<DMat3> {
    let axis = axis.try_normalize()?;
    let (sine, cosine) = libm::sincos(0.5 * degrees.to_radians());
    quaternion([axis.x * sine, axis.y * sine, axis.z * sine, cosine])
}

/// The map with three rows of four numbers.
pub(super) fn rows(rows: [[f64; 4]; 3]) -> DAffine3 {
    let column = |i: usize| DVec3::new(rows[0][i], rows[1][i], rows[2][i]);
    DAffine3 {
        matrix3: DMat3::from_cols(column(0), column(1), column(2)),
        translation: column(3),
    }
}

/// The frame of a camera that looks from one point to another: right, up, forward. None if both are
/// one, or `up` is along the view.
pub(super) fn look_at(from: DVec3, to: DVec3, up: DVec3) -> Option<[DVec3; 3]> {
    let forward = (to - from).try_normalize()?;
    let right = forward.cross(up.try_normalize()?);
    if right.length_squared() < 1e-18 {
        return None;
    }
    let right = right.try_normalize()?;
    Some([right, right.cross(forward), forward])
}
