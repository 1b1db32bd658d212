//! Derivatives against differences of hits of cameras that are shifted by a hundredth of a pixel.

use super::scenes::{camera, direction, hit, number, triangle, vector};
use adumbra::Dual;
use adumbra_render::camera::Camera;
use adumbra_render::differential::{SurfaceDifferential, Triangle};
use fastrand::Rng;
use glam::{DVec2, DVec3};

/// Pixels by which cameras are shifted.
const SHIFT: f64 = 0.01;

fn is_inside(surface: &SurfaceDifferential) -> bool {
    let b = surface.barycentric.value;
    b.min_element() > 0.0 && b.x + b.y < 1.0
}

fn is_grazing(surface: &SurfaceDifferential) -> bool {
    let cosine = |normal: DVec3| surface.incoming.value.dot(normal).abs();
    cosine(surface.gnormal) < 0.15 || cosine(surface.normal.value) < 0.15
}

/// What a ray does at the first of two triangles.
#[derive(Clone, Copy, Debug)]
enum Bounce {
    None,
    Reflect,
    Refract(f64),
}

/// The last hit of the path through a pixel.
fn trace(
    camera: &Camera,
    [first, second]: &[Triangle; 2],
    bounce: Bounce,
    pixel: DVec2,
    lens: DVec2,
) -> Option<SurfaceDifferential> {
    let surface = hit(first, &camera.ray(pixel, lens))?;
    if !is_inside(&surface) || is_grazing(&surface) {
        return None;
    }
    let normal = surface.normal.value;
    let next = match bounce {
        Bounce::None => return Some(surface),
        Bounce::Reflect => surface.reflected(normal),
        Bounce::Refract(eta) => surface.refracted(normal, eta)?,
    };
    hit(second, &next)
}

/// The relative difference of a derivative to that by differences of hits, of all quantities.
fn worst(at: &SurfaceDifferential, shifted: [[SurfaceDifferential; 2]; 2]) -> f64 {
    type Pick = fn(&SurfaceDifferential) -> Dual<DVec3>;
    let picks: [Pick; 6] = [
        |s| s.position,
        |s| s.uv.map(|uv| uv.extend(0.0)),
        |s| s.normal,
        |s| s.tangent,
        |s| s.bitangent,
        |s| s.incoming,
    ];
    let mut worst: f64 = 0.0;
    for pick in picks {
        let own = pick(at);
        for (derivative, [before, after]) in [own.ddx, own.ddy].into_iter().zip(shifted) {
            let difference = (pick(&after).value - pick(&before).value) / (2.0 * SHIFT);
            // Noise of differences: 1e-16 of the value by 0.02 pixels.
            let size = difference.length().max(1e-4);
            worst = worst.max(derivative.distance(difference) / size);
        }
    }
    worst
}

fn compare_with_shifted_cameras(bounce: fn(&mut Rng) -> Bounce, cases: usize, limit: f64) {
    let mut random = Rng::with_seed(7);
    let mut compared = 0;
    for _ in 0..400 * cases {
        if compared == cases {
            break;
        }
        let center = vector(&mut random);
        let from = center + direction(&mut random) * number(&mut random, 1.5, 4.0);
        let camera = camera(&mut random, from, center);
        let size = number(&mut random, 0.3, 1.5);
        let first = triangle(&mut random, center, size, 0.3);
        let aside = center + direction(&mut random) * 2.0;
        let second = triangle(&mut random, aside, 2.0, 0.3);
        let bounce = bounce(&mut random);
        let pixel = DVec2::new(
            number(&mut random, 0.0, 640.0),
            number(&mut random, 0.0, 480.0),
        );
        let lens = DVec2::new(
            number(&mut random, -0.7, 0.7),
            number(&mut random, -0.7, 0.7),
        );
        let at = |shift: DVec2| trace(&camera, &[first, second], bounce, pixel + shift, lens);
        let Some(surface) = at(DVec2::ZERO).filter(|s| is_inside(s) && !is_grazing(s)) else {
            continue;
        };
        let axis = |v: DVec2| Some([at(-SHIFT * v)?, at(SHIFT * v)?]);
        let (Some(x), Some(y)) = (axis(DVec2::X), axis(DVec2::Y)) else {
            continue;
        };
        let error = worst(&surface, [x, y]);
        assert!(
            error < limit,
            "{bounce:?} of {camera:?} at {pixel}: {error:e}"
        );
        compared += 1;
    }
    assert_eq!(compared, cases, "enough paths hit");
}

#[test]
fn first_hits_equal_shifted_cameras() {
    compare_with_shifted_cameras(|_| Bounce::None, 2000, 1e-6);
}

#[test]
fn mirrored_hits_equal_shifted_cameras() {
    compare_with_shifted_cameras(|_| Bounce::Reflect, 500, 1e-6);
}

#[test]
fn refracted_hits_equal_shifted_cameras() {
    // Near the critical angle differences are not derivatives.
    let bounce = |random: &mut Rng| Bounce::Refract(number(random, 0.6, 1.1));
    compare_with_shifted_cameras(bounce, 500, 1e-6);
}
