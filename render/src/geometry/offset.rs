//! Where rays leave surfaces: how far a computed hit can be off its triangle, and starts beyond.
//!
//! A hit's position has the roundings of the ray, of the instance's map and of the triangle's test.
//! They are bounded by the sizes of the numbers that it is computed from, as in Pharr, Jakob and
//! Humphreys, "Physically Based Rendering", 4th edition, section 6.8. The next ray starts beyond
//! that bound along the triangle's normal, so that it does not hit the triangle again. The bound
//! follows the numbers: near the origin it is far below that of a distant place.

use glam::{DAffine3, DMat3, DVec3};

/// Roundings in a row that a position has, with those of the next ray's test of the same triangle.
const ROUNDINGS: f64 = 64.0;

/// The greatest relative error of [`ROUNDINGS`]: γ of Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2002, section 3.1.
const GAMMA: f64 = {
    let all = ROUNDINGS * 0.5 * f64::EPSILON;
    all / (1.0 - all)
};

/// The sizes of a map's numbers.
fn sizes(map: &DAffine3) -> DAffine3 {
    let DMat3 {
        x_axis,
        y_axis,
        z_axis,
    } = map.matrix3;
    DAffine3 {
        matrix3: DMat3::from_cols(x_axis.abs(), y_axis.abs(), z_axis.abs()),
        translation: map.translation.abs(),
    }
}

/// How far off its triangle a hit's position may be along each axis. `reach` has the sizes of the
/// ray's numbers, and `corners` those of the triangle in object space.
pub(super) fn position_error(
    [to_world, to_object]: [&DAffine3; 2],
    reach: DVec3,
    corners: DVec3,
) -> DVec3 {
    let in_object = sizes(to_object).transform_point3(reach) + corners;
    GAMMA * (sizes(to_world).transform_point3(in_object) + reach)
}

/// A point off the triangle whose unit normal is `normal`, to the side of `direction`, further than
/// `error` from its plane. Off a triangle without a normal it is along the direction.
pub(super) fn offset(position: DVec3, error: DVec3, normal: DVec3, direction: DVec3) -> DVec3 {
    if normal == DVec3::ZERO {
        return position + direction * error.length();
    }
    let side = 1.0_f64.copysign(normal.dot(direction));
    position + normal * (side * normal.abs().dot(error))
}

#[cfg(test)]
mod tests {
    use crate::geometry::{Mesh, MeshInstance, World};
    use glam::{DAffine3, DQuat, DVec3, Vec3};

    fn vector(random: &mut fastrand::Rng) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| 2.0 * random.f64() - 1.0))
    }

    fn power(exponent: i32) -> f64 {
        libm::pow(10.0, exponent.into())
    }

    /// Triangles of many sizes, shapes and places, and rays that leave them to both sides, nearly
    /// along their planes as well: none hits its triangle again. Starts stay close.
    #[test]
    fn rays_that_leave_triangle_do_not_hit_it() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut hits = 0;
        for _ in 0..4000 {
            let size = power(random.i32(-4..5));
            let thin = power(random.i32(-3..1));
            let far = power(random.i32(-2..9));
            let corners = [0, 1, 2].map(|_| (vector(&mut random) * size).as_vec3());
            let mesh = Mesh {
                positions: corners.to_vec(),
                triangles: vec![[0, 1, 2]],
                ..Mesh::default()
            };
            let turn = DQuat::from_scaled_axis(3.0 * vector(&mut random));
            let scale = DVec3::new(1.0, thin, 0.1 + random.f64());
            let instance = MeshInstance {
                mesh: 0,
                to_world: DAffine3::from_scale_rotation_translation(
                    scale,
                    turn,
                    vector(&mut random) * far,
                ),
                material: 0,
            };
            let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
            let target = instance.to_world.transform_point3(centre.as_dvec3());
            let world = World::new(vec![mesh], vec![instance]).expect("it is a world");
            let origin = target + vector(&mut random) * size * power(random.i32(-2..3));
            let Some(towards) = (target - origin).try_normalize() else {
                continue;
            };
            let Some(hit) = world.intersect(origin, towards, 0.0, f64::INFINITY) else {
                continue;
            };
            hits += 1;
            let position = origin + towards * hit.t;
            let [a, b, c] = world.triangle(&hit).positions;
            let normal = (b - a).cross(c - a).normalize_or_zero();
            for _ in 0..8 {
                let flat = power(random.i32(-8..1));
                let any = vector(&mut random);
                let along = any - normal * (normal.dot(any) * (1.0 - flat));
                let direction = along.normalize_or(normal);
                let start = world.leave(&hit, origin, position, normal, direction);
                let again = world.intersect(start, direction, 0.0, f64::INFINITY);
                assert_eq!(again, None, "{corners:?} {instance:?} {start} {direction}");
                let reach = origin.length() + hit.t + far + size;
                assert!((start - position).length() < 1e-12 * reach, "it is close");
            }
        }
        assert!(hits > 3000, "{hits}");
    }

    #[test]
    fn degenerate_triangles_are_left_along_ray() {
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::X],
            triangles: vec![[0, 1, 2]],
            ..Mesh::default()
        };
        let instance = MeshInstance {
            mesh: 0,
            to_world: DAffine3::IDENTITY,
            material: 0,
        };
        let world = World::new(vec![mesh], vec![instance]).expect("it is a world");
        let hit = crate::geometry::RayHit {
            instance: 0,
            triangle: 0,
            t: 1.0,
        };
        let start = world.leave(&hit, DVec3::Y, DVec3::ZERO, DVec3::ZERO, DVec3::NEG_Y);
        assert!(start.y < 0.0 && start.y > -1e-12, "{start}");
    }
}
