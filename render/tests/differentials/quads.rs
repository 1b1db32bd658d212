//! Helpers of quads: the hits of neighbouring pixels on the same triangle.

use super::scenes::{above, camera, direction, floor, number, triangle, vector};
use adumbra::Dual;
use adumbra::derivatives::Corner;
use adumbra_render::camera::Camera;
use adumbra_render::differential::{
    Differentials, PathDifferentials, QuadRays, SeedRule, SurfaceSeeds, corner_of,
};
use fastrand::Rng;
use glam::{DVec2, DVec3, Vec3};

fn values(seeds: &SurfaceSeeds) -> [Vec3; 7] {
    let SurfaceSeeds {
        uvw,
        position,
        normal,
        gnormal,
        incoming,
        tangent,
        bitangent,
        uv: _,
        time: _,
    } = seeds;
    [uvw, position, normal, gnormal, incoming, tangent, bitangent].map(|dual| dual.value)
}

/// From one corner of a quad to another, in pixels.
fn offset(from: Corner, to: Corner) -> DVec2 {
    let place = |corner| match corner {
        Corner::UpperLeft => DVec2::ZERO,
        Corner::UpperRight => DVec2::X,
        Corner::LowerLeft => DVec2::Y,
        Corner::LowerRight => DVec2::ONE,
    };
    place(to) - place(from)
}

fn exact(camera: &Camera) -> PathDifferentials {
    PathDifferentials::new(camera, SeedRule::Exact, Differentials::default(), 1.0)
}

#[test]
fn camera_helpers_are_hits_of_the_neighbours() {
    let mut random = Rng::with_seed(3);
    let mut compared = 0;
    for _ in 0..200 {
        let center = vector(&mut random);
        let from = center + direction(&mut random) * 3.0;
        let camera = camera(&mut random, from, center);
        let triangle = triangle(&mut random, center, 1.0, 0.3);
        let paths = exact(&camera);
        let pixel = DVec2::new(
            number(&mut random, 0.0, 640.0),
            number(&mut random, 0.0, 480.0),
        );
        let lens = DVec2::new(0.3, -0.4);
        let surface = |pixel: DVec2| {
            let ray = paths.camera_ray(pixel, lens);
            let t = triangle.distance(ray.origin, ray.direction)?;
            Some(paths.surface(&ray, &triangle, t))
        };
        let Some(own_surface) = surface(pixel) else {
            continue;
        };
        for own in Corner::ALL {
            let quad = paths
                .camera_quad(own, pixel, lens)
                .seeds(&triangle, &own_surface);
            assert_eq!(quad.own, own);
            for corner in Corner::ALL {
                let Some(neighbour) = surface(pixel + offset(own, corner)) else {
                    continue;
                };
                let found = values(&quad.seeds[corner as usize]);
                assert_eq!(found, values(&neighbour.seeds()), "{own:?} {corner:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

#[test]
fn helpers_after_a_mirror_are_the_neighbours_to_second_order() {
    let camera = above();
    let (paths, mirror) = (exact(&camera), floor());
    // A tilted wall over the mirror.
    let mut wall = floor();
    wall.positions = [
        DVec3::new(-40.0, 9.0, -40.0),
        DVec3::new(-40.0, 11.0, 40.0),
        DVec3::new(40.0, 9.5, -40.0),
    ];
    wall.uvs = Some([DVec2::ZERO, DVec2::X, DVec2::Y]);
    let second = |pixel: DVec2| {
        let ray = paths.camera_ray(pixel, DVec2::ZERO);
        let t = mirror.distance(ray.origin, ray.direction).expect("below");
        let surface = paths.surface(&ray, &mirror, t);
        let ray = surface.reflected(surface.normal.value);
        let t = wall.distance(ray.origin, ray.direction).expect("above");
        (ray, paths.surface(&ray, &wall, t))
    };
    for own in Corner::ALL {
        let pixel = DVec2::new(61.5, 44.5);
        let (ray, surface) = second(pixel);
        let quad = QuadRays::after(own, &ray).seeds(&wall, &surface);
        for corner in Corner::ALL.into_iter().filter(|corner| *corner != own) {
            let (_, neighbour) = second(pixel + offset(own, corner));
            let found = quad.seeds[corner as usize].uvw.value;
            let [expected, here] = [neighbour, surface].map(|s| s.seeds().uvw.value);
            let (step, error) = (expected.distance(here), found.distance(expected));
            assert!(
                step > 1e-4 && error < 0.01 * step,
                "{own:?} {corner:?}: {error} of {step}"
            );
        }
    }
}

#[test]
fn helpers_without_rays_are_moved_by_derivatives() {
    let camera = above();
    let paths = PathDifferentials::new(&camera, SeedRule::Exact, Differentials::FromCamera, 1.0);
    let triangle = floor();
    let ray = paths.scattered(paths.camera_ray(DVec2::new(40.0, 60.0), DVec2::ZERO), 0.5);
    let t = triangle.distance(ray.origin, ray.direction).expect("below");
    let surface = paths.surface(&ray, &triangle, t);
    let own = surface.seeds().position;
    let quad = QuadRays::after(Corner::LowerRight, &ray).seeds(&triangle, &surface);
    let found = quad.seeds.map(|seeds| seeds.position.value);
    let Dual { value, ddx, ddy } = own;
    assert_eq!(found, [value - ddx - ddy, value - ddy, value - ddx, value]);
    assert!(ddx.length() > 0.0);

    // At a degenerate triangle nothing changes.
    let mut flat = floor();
    flat.positions[2] = flat.positions[1];
    let surface = paths.surface(&ray, &flat, t);
    let quad = QuadRays::after(Corner::UpperLeft, &ray).seeds(&flat, &surface);
    assert_eq!(quad.seeds[3].position.value, quad.seeds[0].position.value);
}

#[test]
fn quads_begin_at_even_pixels() {
    let corners = [[4, 6], [5, 6], [4, 7], [5, 7]].map(corner_of);
    assert_eq!(corners, Corner::ALL);
}
