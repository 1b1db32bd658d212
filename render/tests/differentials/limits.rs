//! Missing attributes, degenerate triangles, and derivatives that do not exist.

use super::scenes::{above, camera, direction, floor, hit, number, triangle, vector};
use adumbra_render::camera::Camera;
use adumbra_render::differential::{
    Neighbours, Ray, RayDifferential, SurfaceDifferential, Triangle,
};
use fastrand::Rng;
use glam::{DQuat, DVec2, DVec3};

#[test]
fn missing_attributes_have_documented_values() {
    let camera = above();
    let ray = camera.ray(DVec2::new(40.0, 60.0), DVec2::ZERO);
    let seeds = hit(&floor(), &ray).expect("a hit").seeds();
    assert_eq!(seeds.normal, seeds.gnormal);
    assert_eq!(seeds.gnormal, glam::Vec3::Y.into());
    assert_eq!(seeds.uvw, glam::Vec3::ZERO.into());
    // The first edge.
    assert_eq!(seeds.tangent, glam::Vec3::Z.into());
    assert!(seeds.position.ddx.x > 0.0 && seeds.position.ddy.z > 0.0);

    let u_along_x = Triangle {
        uvs: Some([DVec2::ZERO, DVec2::Y, DVec2::X]),
        ..floor()
    };
    let surface = hit(&u_along_x, &ray).expect("a hit");
    assert_eq!(surface.tangent, DVec3::X.into());
    // ∂P/∂v is along z.
    assert_eq!(surface.bitangent.value, DVec3::Z);
    for tangent_w in [1.0, -1.0] {
        let tangents = Some([DVec3::X; 3]);
        let triangle = Triangle {
            tangents,
            tangent_w,
            ..floor()
        };
        let bitangent = hit(&triangle, &ray).expect("a hit").bitangent;
        assert_eq!(bitangent.value, DVec3::NEG_Z * tangent_w);
    }
}

#[test]
fn mirrored_instances_keep_their_outside() {
    let ray = above().ray(DVec2::splat(50.0), DVec2::ZERO);
    let mirrored = Triangle {
        is_mirrored: true,
        ..floor()
    };
    let [one, other] = [floor(), mirrored].map(|t| hit(&t, &ray).expect("a hit").gnormal);
    assert_eq!((one, other), (DVec3::Y, DVec3::NEG_Y));
    // From below the normal is the same: it is not turned to the viewer.
    let below = Camera {
        origin: DVec3::new(0.2, -2.0, 0.1),
        forward: DVec3::Y,
        ..above()
    };
    let surface = hit(&floor(), &below.ray(DVec2::splat(50.0), DVec2::ZERO)).expect("a hit");
    assert_eq!(surface.gnormal, DVec3::Y);
}

/// A triangle, camera and pixel that no scene should have: `case` chooses in which way.
fn hostile(random: &mut Rng, case: usize) -> (Triangle, RayDifferential) {
    let sizes = [
        0.0, 1e-300, 1e-150, 1e-30, 1e-9, 1.0, 1e9, 1e38, 1e150, 1e300,
    ];
    let size = sizes[case % sizes.len()];
    let mut all = triangle(random, DVec3::ZERO, 1.0, 2.0);
    let other = sizes[random.usize(0..sizes.len())];
    match case % 6 {
        0 => all.positions[2] = all.positions[1],
        1 => all.positions[2] = all.positions[0].midpoint(all.positions[1]),
        2 => all.normals = Some([DVec3::ZERO; 3]),
        3 => all.uvs = Some([DVec2::splat(other); 3]),
        4 => {
            all.normals = all.normals.map(|at| at.map(|n| n * other));
            all.tangents = all.tangents.map(|at| at.map(|t| t * other));
        }
        _ => all.uvs = all.uvs.map(|at| at.map(|uv| uv * other)),
    }
    all.positions = all.positions.map(|p| p * size);
    let from = DVec3::new(0.0, 0.0, 3.0) + vector(random);
    let camera = camera(random, from, DVec3::ZERO);
    let pixel = DVec2::new(number(random, 0.0, 640.0), number(random, 0.0, 480.0));
    let ray = match random.bool() {
        true => camera.ray(pixel, DVec2::ZERO),
        false => camera.ray_with_sides(pixel, DVec2::ZERO, 1.0),
    };
    (all, ray)
}

#[test]
fn hostile_triangles_give_finite_results() {
    let mut random = Rng::with_seed(3);
    for case in 0..6000 {
        let (all, ray) = hostile(&mut random, case);
        let t = all.distance(ray.origin, ray.direction).unwrap_or(1.0);
        let surface = SurfaceDifferential::new(&all, &ray, t);
        let duals = [
            surface.position,
            surface.normal,
            surface.tangent,
            surface.bitangent,
            surface.incoming,
            surface.gnormal.into(),
            surface.uv.map(|uv| uv.extend(0.0)),
            surface.barycentric.map(|b| b.extend(0.0)),
        ];
        for part in duals
            .iter()
            .flat_map(|dual| [dual.value, dual.ddx, dual.ddy])
        {
            assert!(part.is_finite(), "{all:?}: {surface:?}");
        }
        let seeds = surface.seeds();
        let duals = [
            seeds.uvw,
            seeds.position,
            seeds.normal,
            seeds.incoming,
            seeds.tangent,
        ];
        for part in duals
            .iter()
            .flat_map(|dual| [dual.value, dual.ddx, dual.ddy])
        {
            assert!(part.is_finite(), "{all:?}: {seeds:?}");
        }
        // Two equal corners, or three on a line up to rounding.
        if case % 6 < 2 {
            assert_eq!(surface.gnormal, DVec3::ZERO);
            assert_eq!(surface.position.ddx, DVec3::ZERO);
            assert_eq!(surface.uv.ddy, DVec2::ZERO);
        }
    }
}

#[test]
fn overflowing_derivatives_are_zero() {
    let far = Triangle {
        positions: floor().positions.map(|p| p * 1e20),
        ..floor()
    };
    let ray = above().ray(DVec2::new(10.0, 20.0), DVec2::ZERO);
    let ray = RayDifferential {
        origin: ray.origin + DVec3::Y * 1e20,
        direction_d: ray.direction_d.map(|d| d * 1e300),
        ..ray
    };
    let surface = hit(&far, &ray).expect("a hit");
    assert_eq!(surface.position, surface.position.value.into());
    let turned = [far, floor()].map(|t| hit(&t, &ray).expect("a hit").reflected(DVec3::Y));
    assert!(
        turned
            .iter()
            .all(|ray| ray.direction_d.iter().all(|d| d.is_finite()))
    );
}

#[test]
fn lengths_of_normals_do_not_matter() {
    let mut random = Rng::with_seed(4);
    for length in [1e-300, 1e-200, 1e200] {
        let one = triangle(&mut random, DVec3::ZERO, 1.0, 0.3);
        let camera = camera(&mut random, DVec3::new(0.5, 0.2, 3.0), DVec3::ZERO);
        let other = Triangle {
            normals: one.normals.map(|at| at.map(|n| n * length)),
            ..one
        };
        let ray = camera.ray(DVec2::new(320.0, 240.0), DVec2::ZERO);
        let [one, other] = [one, other].map(|t| hit(&t, &ray).expect("a hit").normal);
        assert!(one.value.distance(other.value) < 1e-13);
        assert!(one.ddx.distance(other.ddx) < 1e-13 * one.ddx.length());
    }
}

#[test]
fn parallel_side_rays_give_zero() {
    let mut random = Rng::with_seed(5);
    for _ in 0..200 {
        let turn = DQuat::from_rotation_arc(DVec3::Y, direction(&mut random));
        let triangle = Triangle {
            positions: floor().positions.map(|p| turn * p),
            ..floor()
        };
        let origin = turn * DVec3::new(0.3, 1.0, 0.2);
        let along = |x: f64, y: f64, z: f64| turn * DVec3::new(x, y, z).normalize();
        let ray = RayDifferential {
            origin,
            direction: along(0.1, -1.0, 0.2),
            origin_d: [DVec3::ZERO; 2],
            direction_d: [DVec3::ZERO; 2],
            neighbours: Neighbours::Rays([
                Some(Ray {
                    origin,
                    direction: along(0.3, -1.0, 0.2),
                }),
                Some(Ray {
                    origin,
                    direction: along(0.3, 0.0, 0.4),
                }),
            ]),
        };
        let surface = hit(&triangle, &ray).expect("a hit");
        assert!(surface.position.ddx.length() > 0.1);
        assert_eq!(surface.position.ddy, DVec3::ZERO);
        assert!(surface.incoming.ddy.length() > 0.1);
        // The path goes on without it.
        let next = surface.reflected(surface.gnormal);
        assert!(matches!(next.neighbours, Neighbours::Rays([Some(_), None])));
    }
}
