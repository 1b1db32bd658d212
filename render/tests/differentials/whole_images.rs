//! The partials of texture coordinates over whole images, against cameras that are shifted by a
//! hundredth of a pixel.

use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{
    Differentials, PathDifferentials, RayDifferential, SeedRule, SurfaceDifferential,
};
use adumbra_render::geometry::{Mesh, MeshInstance, World, shapes};
use glam::{DAffine3, DQuat, DVec2, DVec3};

const SIZE: [u32; 2] = [160, 120];
/// Pixels by which cameras are shifted.
const SHIFT: f64 = 0.01;
/// The greatest relative error of a partial.
const CLOSE: f64 = 0.01;
/// Pixels of an image at which coordinates may be so curved that a difference over [`SHIFT`] is no
/// derivative: within a hundredth of a pixel of where glass reflects all light, for instance. There
/// cameras are shifted by a hundredth of that.
const MAX_CURVED: u32 = 2;
/// The greatest part of the pixels that may lie on edges of triangles.
const MAX_EDGES: f64 = 0.02;
/// The greatest part of the pixels that may see no surface with coordinates.
const MAX_MISSED: f64 = 0.5;
/// Surfaces that a path may meet.
const MAX_SURFACES: usize = 8;

/// What a path does at a surface, by the number of its material.
const MATTE: usize = 0;
const MIRROR: usize = 1;
const GLASS: usize = 2;

struct Still {
    name: &'static str,
    world: World,
    camera: Camera,
    lens: DVec2,
}

/// The last surface of a path, and all that it met.
struct Seen {
    met: Vec<(usize, usize)>,
    last: SurfaceDifferential,
}

fn camera(from: DVec3, to: DVec3, projection: Projection) -> Camera {
    let forward = (to - from).normalize();
    let right = forward.cross(DVec3::Y).normalize();
    Camera {
        origin: from,
        right,
        up: right.cross(forward),
        forward,
        projection,
        size: SIZE,
    }
}

const PERSPECTIVE: Projection = Projection::Perspective {
    tan_half: DVec2::new(0.4, 0.3),
    shift: DVec2::ZERO,
};

fn at(mesh: usize, material: usize, to_world: DAffine3) -> MeshInstance {
    MeshInstance {
        mesh,
        material,
        to_world,
    }
}

fn placed(scale: f64, position: [f64; 3]) -> DAffine3 {
    let position = DVec3::from(position);
    DAffine3::from_scale_rotation_translation(DVec3::splat(scale), DQuat::IDENTITY, position)
}

fn sphere() -> Mesh {
    shapes::sphere([64, 32]).expect("a sphere")
}

/// Instances that are turned, stretched and mirrored.
fn objects() -> World {
    let mut instances = vec![at(2, MATTE, placed(12.0, [0.0, -1.0, 0.0]))];
    for (i, mirror) in (0_u8..6).zip([1.0, -1.0].into_iter().cycle()) {
        let angle = f64::from(i);
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, angle, 0.5).normalize(), angle);
        let scale = DVec3::new(mirror * 0.7, 0.4 + 0.1 * angle, 0.6);
        let place = DVec3::new(angle - 2.5, 0.3 * (angle * 1.7).sin(), -angle * 0.4);
        let map = DAffine3::from_scale_rotation_translation(scale, turn, place);
        instances.push(at(usize::from(i % 2), MATTE, map));
    }
    let floor = shapes::grid([8, 8]).expect("a grid");
    World::new(vec![sphere(), shapes::cuboid(), floor], instances).expect("they are sound")
}

fn stills() -> Vec<Still> {
    let mirror_and_glass = vec![
        at(0, MATTE, placed(30.0, [0.0, -1.0, 0.0])),
        at(1, MIRROR, placed(1.0, [-1.2, 0.0, 0.0])),
        at(1, GLASS, placed(1.0, [1.2, 0.0, 0.4])),
    ];
    let terrain = shapes::terrain([48, 48], 0.06, 5).expect("a terrain");
    let grid = shapes::grid([4, 4]).expect("a grid");
    let world = |meshes, instances| World::new(meshes, instances).expect("they are sound");
    let from = DVec3::new(0.5, 1.5, 7.0);
    let thin_lens = Projection::ThinLens {
        tan_half: DVec2::new(0.4, 0.3),
        shift: DVec2::new(0.05, -0.1),
        lens_radius: 0.15,
        focus_distance: 7.0,
    };
    let orthographic = Projection::Orthographic {
        half_size: DVec2::new(1.3, 1.0),
    };
    let still = |name, world, camera| Still {
        name,
        world,
        camera,
        lens: DVec2::new(0.6, -0.3),
    };
    vec![
        still(
            "mirror and glass",
            world(vec![grid, sphere()], mirror_and_glass),
            camera(from, DVec3::ZERO, PERSPECTIVE),
        ),
        still(
            "mirrored instances",
            objects(),
            camera(from, DVec3::ZERO, PERSPECTIVE),
        ),
        still("thin lens", objects(), camera(from, DVec3::ZERO, thin_lens)),
        still(
            "terrain",
            world(
                vec![terrain],
                vec![at(0, MATTE, placed(6.0, [0.0, 0.0, 0.0]))],
            ),
            camera(DVec3::new(0.2, 1.0, 3.5), DVec3::ZERO, PERSPECTIVE),
        ),
        still(
            "curved sphere",
            world(vec![sphere()], vec![at(0, MATTE, placed(1.0, [0.0; 3]))]),
            camera(from, DVec3::ZERO, orthographic),
        ),
    ]
}

impl Still {
    fn trace(&self, paths: &PathDifferentials, pixel: DVec2) -> Option<Seen> {
        let mut ray = paths.camera_ray(pixel, self.lens);
        let mut met = Vec::new();
        while met.len() < MAX_SURFACES {
            let t_min = if met.is_empty() { 0.0 } else { 1e-6 };
            let hit = (self.world).intersect(ray.origin, ray.direction, t_min, f64::INFINITY)?;
            met.push((hit.instance, hit.triangle));
            let surface = paths.surface(&ray, &self.world.triangle(&hit), hit.t);
            ray = match self.world.material(&hit) {
                MATTE => return Some(Seen { met, last: surface }),
                MIRROR => surface.reflected(surface.normal.value),
                GLASS => after_glass(&surface),
                other => unreachable!("material {other}"),
            };
        }
        None
    }
}

/// Through glass, or mirrored where all light is.
fn after_glass(surface: &SurfaceDifferential) -> RayDifferential {
    let normal = surface.normal.value;
    let eta = match surface.incoming.value.dot(normal) < 0.0 {
        true => 1.0 / 1.5,
        false => 1.5,
    };
    let refracted = surface.refracted(normal, eta);
    refracted.unwrap_or_else(|| surface.reflected(normal))
}

/// The relative error of both partials of a pixel; none if a shifted camera sees other triangles.
fn error(
    still: &Still,
    paths: &PathDifferentials,
    pixel: DVec2,
    seen: &Seen,
    shift: f64,
) -> Option<f64> {
    let uv = seen.last.uv;
    let mut worst: f64 = 0.0;
    for (axis, derivative) in [(DVec2::X, uv.ddx), (DVec2::Y, uv.ddy)] {
        let shifted = |shift: f64| {
            let shifted = still.trace(paths, pixel + axis * shift)?;
            (shifted.met == seen.met).then_some(shifted.last.uv.value)
        };
        let difference = (shifted(shift)? - shifted(-shift)?) / (2.0 * shift);
        // Noise of differences: 1e-16 of the value by twice the shift.
        let size = difference.length().max(1e-9);
        worst = worst.max(derivative.distance(difference) / size);
    }
    Some(worst)
}

#[test]
fn uv_partials_of_whole_images_equal_shifted_cameras() {
    for still in stills() {
        let paths = PathDifferentials::new(
            &still.camera,
            SeedRule::Exact,
            Differentials::default(),
            1.0,
        );
        let (mut compared, mut edges, mut missed, mut curved, mut worst) = (0, 0, 0, 0, 0.0_f64);
        for (x, y) in (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y))) {
            let pixel = DVec2::new(x.into(), y.into()) + 0.5;
            let Some(seen) = still.trace(&paths, pixel) else {
                missed += 1;
                continue;
            };
            let error_of = |shift| error(&still, &paths, pixel, &seen, shift);
            match error_of(SHIFT) {
                None => edges += 1,
                Some(error) if error <= CLOSE => {
                    compared += 1;
                    worst = worst.max(error);
                }
                Some(_) => {
                    curved += 1;
                    let error = error_of(SHIFT / 100.0).expect("the larger shift meets the same");
                    assert!(error <= CLOSE, "{} at {pixel}: {error}", still.name);
                }
            }
        }
        let all = f64::from(SIZE[0] * SIZE[1]);
        println!(
            "{}: {compared} compared, worst {worst:.1e}; {curved} curved, {edges} on edges, {missed} missed",
            still.name
        );
        assert!(curved <= MAX_CURVED, "{}: {curved}", still.name);
        assert!(
            f64::from(edges) <= MAX_EDGES * all,
            "{}: {edges}",
            still.name
        );
        assert!(
            f64::from(missed) <= MAX_MISSED * all,
            "{}: {missed}",
            still.name
        );
    }
}
