//! Rays after surfaces: normals of closures, widening, and the camera's approximation.

use super::scenes::{above, camera, direction, floor, hit, triangle};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{
    CameraApproximation, Differentials, Neighbours, PathDifferentials, RayDifferential, SeedRule,
};
use fastrand::Rng;
use glam::{DVec2, DVec3};

#[test]
fn sides_of_normals_do_not_matter_to_rays() {
    let mut random = Rng::with_seed(6);
    for _ in 0..200 {
        let triangle = triangle(&mut random, DVec3::ZERO, 1.0, 0.3);
        let camera = camera(&mut random, DVec3::new(0.5, 0.2, 3.0), DVec3::ZERO);
        let ray = camera.ray_with_sides(DVec2::new(300.0, 200.0), DVec2::ZERO, 1.0);
        let Some(surface) = hit(&triangle, &ray) else {
            continue;
        };
        let normal = surface.normal.value;
        assert_eq!(surface.reflected(-normal), surface.reflected(normal));
        assert_eq!(
            surface.refracted(-normal, 0.7),
            surface.refracted(normal, 0.7)
        );
        // A closure's normal: the derivative is still one of a unit vector.
        let ray = camera.ray(DVec2::new(300.0, 200.0), DVec2::ZERO);
        let surface = hit(&triangle, &ray).expect("a hit");
        let other = surface.reflected(normal + 0.2 * direction(&mut random));
        let [dx, dy] = other.direction_d;
        assert!((other.direction.length() - 1.0).abs() < 1e-12);
        for d in [dx, dy] {
            assert!(d.dot(other.direction).abs() < 1e-12 && d.length() > 0.0);
        }
    }
}

#[test]
fn widening_reaches_the_lobes_spread() {
    let ray = above().ray(DVec2::new(10.0, 70.0), DVec2::ZERO);
    let narrow = ray.direction_d.map(DVec3::length);
    let wide = ray.widened(0.25);
    for axis in [0, 1] {
        assert!((wide.direction_d[axis].length() - 0.25).abs() < 1e-15);
        assert!(wide.direction_d[axis].dot(ray.direction).abs() < 1e-15);
        assert!(wide.direction_d[axis].dot(ray.direction_d[axis]) > 0.0);
    }
    assert_eq!(ray.widened(narrow[0].min(narrow[1])), ray);
    // Parallel rays have none: each gets one across the ray.
    let still = RayDifferential {
        direction_d: [DVec3::ZERO; 2],
        ..ray
    };
    let [x, y] = still.widened(0.5).direction_d;
    assert!((x.length() - 0.5).abs() < 1e-15 && (y.length() - 0.5).abs() < 1e-15);
    assert!(x.dot(y).abs() < 1e-15 && x.dot(ray.direction).abs() < 1e-15);
}

#[test]
fn rough_surfaces_end_what_is_known() {
    let camera = above();
    let path = |differentials, rule| PathDifferentials::new(&camera, rule, differentials, 0.5);
    let pixel = DVec2::new(40.0, 60.0);
    let ray = path(Differentials::Widened, SeedRule::OnePixel).camera_ray(pixel, DVec2::ZERO);
    assert!(matches!(
        ray.neighbours,
        Neighbours::Rays([Some(_), Some(_)])
    ));
    let exact = camera.ray(pixel, DVec2::ZERO);
    assert_eq!(ray.direction_d, exact.scaled(0.5).direction_d);

    let surface = hit(&floor(), &ray).expect("a hit");
    let mirrored = surface.reflected(surface.normal.value);
    assert!(matches!(
        mirrored.neighbours,
        Neighbours::Rays([Some(_), Some(_)])
    ));
    for rule in [SeedRule::Exact, SeedRule::OnePixel] {
        for of in [
            Differentials::Widened,
            Differentials::Mirrored,
            Differentials::FromCamera,
        ] {
            assert_eq!(path(of, rule).scattered(mirrored, 0.0), mirrored);
        }
        let widened = path(Differentials::Widened, rule).scattered(mirrored, 0.3);
        assert_eq!(widened, mirrored.widened(0.3));
        let forgotten = path(Differentials::FromCamera, rule).scattered(mirrored, 0.3);
        assert_eq!(forgotten.neighbours, Neighbours::Forgotten);
    }
}

#[test]
fn camera_approximation_has_the_least_derivatives() {
    let projection = Projection::Perspective {
        tan_half: DVec2::new(0.5, 0.4),
        shift: DVec2::new(-0.2, 0.3),
    };
    let camera = Camera {
        projection,
        ..above()
    };
    let approximation = CameraApproximation::new(&camera);
    let mut least = [f64::INFINITY; 2];
    for at in 0..=100 * 101 {
        let pixel = DVec2::new(f64::from(at % 101), f64::from(at / 101));
        let ray = camera.ray(pixel, DVec2::ZERO);
        for (least, d) in least.iter_mut().zip(ray.direction_d) {
            *least = least.min(d.length());
        }
    }
    let towards = approximation.ray_towards(DVec3::new(0.7, 0.0, -0.4));
    for (least, d) in least.into_iter().zip(towards.direction_d) {
        assert!((d.length() / least - 1.0).abs() < 0.01, "{d} for {least}");
        assert!(d.dot(towards.direction).abs() < 1e-15);
    }
    // No direction, no derivatives.
    assert_eq!(
        approximation.ray_towards(camera.origin).direction_d,
        [DVec3::ZERO; 2]
    );
}

#[test]
fn camera_approximation_is_near_what_the_camera_sees() {
    for projection in [
        above().projection,
        Projection::Orthographic {
            half_size: DVec2::new(0.5, 0.4),
        },
    ] {
        let camera = Camera {
            projection,
            ..above()
        };
        let path = PathDifferentials::new(&camera, SeedRule::Exact, Differentials::FromCamera, 1.0);
        for pixel in [
            DVec2::splat(50.0),
            DVec2::new(20.0, 30.0),
            DVec2::new(90.0, 10.0),
        ] {
            let ray = camera.ray(pixel, DVec2::ZERO);
            let seen = hit(&floor(), &ray).expect("a hit");
            // Reached by another way: from above, after a rough surface.
            let other = RayDifferential {
                origin: seen.position.value + DVec3::Y,
                direction: DVec3::NEG_Y,
                neighbours: Neighbours::Forgotten,
                ..ray
            };
            let found = path.surface(&other, &floor(), 1.0);
            assert!(found.position.value.distance(seen.position.value) < 1e-12);
            assert_eq!(found.incoming.ddx, DVec3::ZERO);
            let half =
                PathDifferentials::new(&camera, SeedRule::Exact, Differentials::FromCamera, 0.5);
            let half = half.surface(&other, &floor(), 1.0).position.ddx;
            assert!(half.distance(found.position.ddx * 0.5) < 1e-15);
            // The least derivatives of any ray: those of the corners.
            for (found, seen) in [
                (found.position.ddx, seen.position.ddx),
                (found.position.ddy, seen.position.ddy),
            ] {
                let ratio = found.length() / seen.length();
                assert!((0.5..1.0 + 1e-9).contains(&ratio), "{ratio} of {seen}");
                assert!(found.dot(seen) > 0.9 * found.length() * seen.length());
            }
        }
    }
}
