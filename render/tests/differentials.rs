//! Derivatives of hits against differences of hits of shifted cameras, and where none exist.

use adumbra::Dual;
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{
    CameraApproximation, Differentials, Neighbours, PathDifferentials, Ray, RayDifferential,
    SeedRule, SurfaceDifferential, Triangle,
};
use fastrand::Rng;
use glam::{DQuat, DVec2, DVec3};

/// Pixels by which cameras are shifted.
const SHIFT: f64 = 0.01;

fn number(random: &mut Rng, from: f64, to: f64) -> f64 {
    from + (to - from) * random.f64()
}

fn vector(random: &mut Rng) -> DVec3 {
    DVec3::from_array([0; 3].map(|_| number(random, -1.0, 1.0)))
}

fn direction(random: &mut Rng) -> DVec3 {
    loop {
        let v = vector(random);
        if (0.1..1.0).contains(&v.length()) {
            return v.normalize();
        }
    }
}

/// A camera at `origin` that looks at `target`, of any kind.
fn camera(random: &mut Rng, origin: DVec3, target: DVec3) -> Camera {
    let forward = (target - origin).normalize();
    let right = forward.cross(direction(random)).normalize();
    let tan_half = DVec2::new(number(random, 0.2, 1.0), number(random, 0.2, 1.0));
    let shift = DVec2::new(number(random, -0.2, 0.2), number(random, -0.2, 0.2));
    let projection = match random.u8(0..3) {
        0 => Projection::Perspective { tan_half, shift },
        1 => Projection::Orthographic {
            half_size: tan_half,
        },
        _ => Projection::ThinLens {
            tan_half,
            shift,
            lens_radius: number(random, 0.0, 0.2),
            focus_distance: number(random, 1.0, 4.0),
        },
    };
    Camera {
        origin,
        right,
        up: right.cross(forward),
        forward,
        projection,
        size: [640, 480],
    }
}

/// A triangle of about the size `size` around a point, with normals that differ by `bend`.
fn triangle(random: &mut Rng, center: DVec3, size: f64, bend: f64) -> Triangle {
    let normal = direction(random);
    let frame = DQuat::from_rotation_arc(DVec3::Z, normal);
    let start = number(random, 0.0, 6.0);
    let corner = |at: u8, random: &mut Rng| {
        let turn = DQuat::from_rotation_z(start + 2.0 * f64::from(at) + number(random, -0.3, 0.3));
        center + frame * (turn * DVec3::X) * (size * number(random, 0.7, 1.3))
    };
    let tangent = frame * DVec3::X;
    Triangle {
        positions: [0, 1, 2].map(|at| corner(at, random)),
        normals: Some([0; 3].map(|_| (normal + vector(random) * bend) * number(random, 0.5, 2.0))),
        tangents: Some([0; 3].map(|_| tangent + vector(random) * 0.3)),
        tangent_w: if random.bool() { 1.0 } else { -1.0 },
        is_mirrored: random.bool(),
        uvs: Some([0; 3].map(|_| DVec2::new(number(random, -2.0, 2.0), number(random, -2.0, 2.0)))),
    }
}

fn hit(triangle: &Triangle, ray: &RayDifferential) -> Option<SurfaceDifferential> {
    let t = triangle
        .distance(ray.origin, ray.direction)
        .filter(|t| *t > 0.0)?;
    Some(SurfaceDifferential::new(triangle, ray, t))
}

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
    compare_with_shifted_cameras(|_| Bounce::Reflect, 500, 1e-5);
}

#[test]
fn refracted_hits_equal_shifted_cameras() {
    // Near the critical angle differences are not derivatives.
    let bounce = |random: &mut Rng| Bounce::Refract(number(random, 0.6, 1.1));
    compare_with_shifted_cameras(bounce, 500, 1e-4);
}

fn floor() -> Triangle {
    Triangle {
        positions: [
            DVec3::new(-1.0, 0.0, -1.0),
            DVec3::new(-1.0, 0.0, 3.0),
            DVec3::new(3.0, 0.0, -1.0),
        ],
        normals: None,
        tangents: None,
        tangent_w: 1.0,
        is_mirrored: false,
        uvs: None,
    }
}

fn above() -> Camera {
    Camera {
        origin: DVec3::new(0.2, 2.0, 0.1),
        right: DVec3::X,
        up: DVec3::NEG_Z,
        forward: DVec3::NEG_Y,
        projection: Projection::Perspective {
            tan_half: DVec2::splat(0.5),
            shift: DVec2::ZERO,
        },
        size: [100, 100],
    }
}

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
            // The least derivatives of any ray: those of the corners, (1 + 2·0.25)^-1 of the centre.
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
