//! Mip levels of a noise-warped floor up to the horizon: by dual numbers they are those of the true
//! partials; by the mesh's partials, by quads and without derivatives they are not.

use adumbra::batch::{BatchEvaluator, BatchGlobals};
use adumbra::derivatives::Quad;
use adumbra::{Compiler, Derivatives, Dual, GlobalsLayout, Instance, NoTextures, Options, Sources};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule, SurfaceSeeds};
use adumbra_render::geometry::{Mesh, MeshInstance, World, shapes};
use adumbra_render::texture::{Footprint, LevelRule};
use glam::{DAffine3, DMat3, DVec2, DVec3};

const SIZE: [u32; 2] = [160, 90];
/// The side of the texture.
const TEXELS: u32 = 1024;
/// How far the cameras of the true partials are shifted, in pixels.
const SHIFT: f64 = 0.01;

/// The greatest change of the mesh's coordinates, from pixel to pixel: level 8 of 10. Closer to the
/// horizon the noise is not straight over the shift of cameras, and differences are not true.
const MAX_CHANGE: f32 = 0.25;

const WARPED: &str = "shader warped(out float2 at) {
    float2 uv = global_value<uvw>.xy;
    at = uv + float2(noise(2.0 * uv), noise(2.0 * uv + 17.0));
}";

/// A floor whose texture repeats every few steps, and a camera that sees it up to the horizon.
fn floor() -> (World, Camera) {
    let mut quad: Mesh = shapes::quad();
    for uv in &mut quad.uvs {
        *uv *= 100.0;
    }
    let axes = DMat3::from_cols(400.0 * DVec3::X, -400.0 * DVec3::Z, DVec3::Y);
    let to_world = DAffine3::from_mat3_translation(axes, DVec3::new(-200.0, 0.0, 4.0));
    let instance = MeshInstance {
        mesh: 0,
        material: 0,
        to_world,
    };
    let forward = DVec3::new(0.1, -0.2, -1.0).normalize();
    let right = forward.cross(DVec3::Y).normalize();
    let camera = Camera {
        origin: DVec3::new(0.0, 1.5, 3.0),
        right,
        up: right.cross(forward),
        forward,
        projection: Projection::Perspective {
            tan_half: DVec2::new(0.8, 0.45),
            shift: DVec2::ZERO,
        },
        size: SIZE,
    };
    let world = World::new(vec![quad], vec![instance]).expect("the floor is a mesh");
    (world, camera)
}

/// The hit of a point of the image.
fn hit(world: &World, camera: &Camera, pixel: DVec2) -> Option<SurfaceSeeds> {
    let differentials =
        PathDifferentials::new(camera, SeedRule::Exact, Differentials::default(), 1.0);
    let ray = differentials.camera_ray(pixel, DVec2::ZERO);
    let found = world.intersect(ray.origin, ray.direction, 0.0, f64::INFINITY)?;
    let surface = differentials.surface(&ray, &world.triangle(&found), found.t);
    Some(surface.seeds())
}

/// The warped coordinates at hits, with the derivatives that the program gives them.
fn warped(hits: &[SurfaceSeeds], derivatives: Derivatives) -> Vec<Dual<[f32; 2]>> {
    let options = Options {
        derivatives,
        output_derivatives: true,
        ..Options::default()
    };
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>()).with_options(options);
    let program = compiler
        .compile(&Sources::new("warped.adu", WARPED))
        .expect("the shader is right");
    let at = program.output_slot::<[f32; 2]>("at").expect("it is there");
    let mut batch = BatchEvaluator::new(&Instance::new(&program)).expect("any processor");
    let mut found = Vec::with_capacity(hits.len());
    for chunk in hits.chunks(batch.width() / 4 * 4) {
        batch.evaluate(&BatchGlobals::from(chunk), 0, chunk.len(), &mut NoTextures);
        found.extend((0..chunk.len()).map(|point| batch.read(at, point)));
    }
    found
}

/// One way to get partials, for each pixel.
struct Partials(Vec<[[f64; 2]; 2]>);

impl Partials {
    fn of(duals: &[Dual<[f32; 2]>]) -> Partials {
        let partials = duals
            .iter()
            .map(|at| [at.ddx, at.ddy].map(|d| d.map(f64::from)));
        Partials(partials.collect())
    }

    /// The level of each pixel.
    fn levels(&self) -> Vec<f32> {
        let level = |[dx, dy]: &[[f64; 2]; 2]| {
            let narrow = |d: &[f64; 2]| d.map(|d| d as f32);
            let footprint = Footprint {
                uv: [0.0; 2],
                dx: narrow(dx),
                dy: narrow(dy),
            };
            LevelRule::GlIso.level([TEXELS; 2], &footprint, 0.0)
        };
        self.0.iter().map(level).collect()
    }

    /// The part of the pixels that is more than one level off the truth.
    fn part_off(&self, truth: &Partials) -> f64 {
        let pairs = self.levels().into_iter().zip(truth.levels());
        let off = pairs.filter(|(level, true_level)| (level - true_level).abs() > 1.0);
        off.count() as f64 / self.0.len() as f64
    }
}

#[test]
fn dual_levels_are_those_of_shifted_cameras() {
    let (world, camera) = floor();
    // Whole quads below the horizon, in the order of their corners.
    let corners = [[0, 0], [1, 0], [0, 1], [1, 1]];
    let quads = (0..SIZE[1] / 2).flat_map(|y| (0..SIZE[0] / 2).map(move |x| [2 * x, 2 * y]));
    let quads = quads.filter_map(|[x, y]| {
        let middle = |[dx, dy]: [u32; 2]| DVec2::new((x + dx).into(), (y + dy).into()) + 0.5;
        let pixels = corners.map(middle);
        let is_floor = |pixel: &DVec2| {
            // Shifted cameras hit, too: the edge of the floor is far away.
            let found = hit(&world, &camera, *pixel);
            found.is_some_and(|hit| hit.uvw.ddy.length() < MAX_CHANGE)
        };
        pixels.iter().all(is_floor).then_some(pixels)
    });
    let pixels: Vec<DVec2> = quads.flatten().collect();
    assert!(pixels.len() > 5000, "{}", pixels.len());
    let hits = |shift: DVec2| -> Vec<SurfaceSeeds> {
        let hits = pixels
            .iter()
            .map(|pixel| hit(&world, &camera, *pixel + shift));
        hits.map(|hit| hit.expect("it is floor")).collect()
    };
    let values = |shift: DVec2| warped(&hits(shift), Derivatives::Dual);
    let change = |axis: DVec2| -> Vec<[f64; 2]> {
        let [after, before] = [values(axis * SHIFT), values(axis * -SHIFT)];
        let pairs = after.iter().zip(&before);
        let change = |(a, b): (&Dual<[f32; 2]>, &Dual<[f32; 2]>)| {
            [0, 1].map(|i| (f64::from(a.value[i]) - f64::from(b.value[i])) / (2.0 * SHIFT))
        };
        pairs.map(change).collect()
    };
    let (along_x, along_y) = (change(DVec2::X), change(DVec2::Y));
    let truth = Partials(
        along_x
            .into_iter()
            .zip(along_y)
            .map(|(x, y)| [x, y])
            .collect(),
    );

    let middle = hits(DVec2::ZERO);
    let duals = warped(&middle, Derivatives::Dual);
    let dual = Partials::of(&duals);
    for ((found, expected), at) in dual.0.iter().zip(&truth.0).zip(&duals) {
        for (found, expected) in found.iter().zip(expected) {
            // The differences are of floats: each is rounded to its last place.
            let last_place =
                f64::from(f32::EPSILON) * at.value.map(f32::abs).iter().sum::<f32>() as f64;
            let noise = 4.0 * last_place / SHIFT;
            let length = expected[0].hypot(expected[1]);
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - expected).abs() <= 0.01 * length + noise,
                    "{found} for {expected} at {:?}",
                    at.value
                );
            }
        }
    }

    let of_mesh: Vec<Dual<[f32; 2]>> = middle
        .iter()
        .map(|hit| hit.uvw.map(|uvw| [uvw.x, uvw.y]))
        .collect();
    let mesh = Partials::of(&of_mesh);
    let quad = Partials::of(&warped(&middle, Derivatives::Quad(Quad::Fine)));
    let none = Partials(vec![[[0.0; 2]; 2]; pixels.len()]);
    let off = [&dual, &quad, &mesh, &none].map(|partials| partials.part_off(&truth));
    println!("more than one level off: dual, quad, mesh, none: {off:?}");
    let [dual, quad, mesh, none] = off;
    assert_eq!(dual, 0.0);
    assert!(quad > 0.001 && mesh > 0.1 && none > 0.9, "{off:?}");
}
