//! Mip levels of floors up to the horizon, whose coordinates are warped by noise, or are polar: by
//! dual numbers they are those of the true partials; by the mesh's partials, by quads, by dual
//! numbers of some ops only and without derivatives they are not. The page has the numbers.

use adumbra::derivatives::Corner;
use adumbra::{Compiler, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::differential::{
    Differentials, PathDifferentials, QuadSeeds, SeedRule, SurfaceSeeds, corner_of,
};
use adumbra_render::geometry::{Mesh, MeshInstance, World, shapes};
use adumbra_render::scene::Material;
use adumbra_render::scene_textures::PartialSource;
use adumbra_render::shading::{
    ClosureTable, MaterialShader, ShadingEngine, TextureAccess, TexturePoint, WavePoint, WaveShader,
};
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

/// The greatest coordinate before it is taken within its tile, which bounds how it is rounded.
const GREATEST: f64 = 50.0;

const WARPED: &str = "texture2d tile;
    shader warped(out color c) {
        float2 uv = global_value<uvw>.xy;
        float2 at = uv + float2(noise(2.0 * uv), noise(2.0 * uv + 17.0));
        c = texture2d_sample<tile>(at).xyz;
    }";

/// The pole is left of the image. Tiles end within it: quads across such a seam see a jump.
const POLAR: &str = "texture2d tile;
    shader polar(out color c) {
        float3 p = global_value<position> - float3(-12.0, 0.0, -2.0);
        float2 at = float2(8.0 * log(length(p)), 5.092958 * atan2(p.z, p.x));
        c = texture2d_sample<tile>(fract(at)).xyz;
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

/// A point of the image with its hit, and with those of its quad.
#[derive(Clone, Copy)]
struct SeenPoint {
    hit: SurfaceSeeds,
    quad: QuadSeeds,
}

fn seen(world: &World, camera: &Camera, corner: Corner, pixel: DVec2) -> Option<SeenPoint> {
    let differentials =
        PathDifferentials::new(camera, SeedRule::Exact, Differentials::default(), 1.0);
    let ray = differentials.camera_ray(pixel, DVec2::ZERO);
    let found = world.intersect(ray.origin, ray.direction, 0.0, f64::INFINITY)?;
    let triangle = world.triangle(&found);
    let surface = differentials.surface(&ray, &triangle, found.t);
    let rays = differentials.camera_quad(corner, pixel, DVec2::ZERO);
    Some(SeenPoint {
        hit: surface.seeds(),
        quad: rays.seeds(&triangle, &surface),
    })
}

/// A texture that notes the requests of points, not those of helpers.
struct Notes {
    partials: PartialSource,
    points: Vec<TexturePoint>,
    point: usize,
    requests: Vec<Option<Footprint>>,
    helpers: usize,
}

impl Host for Notes {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let point = self.points[self.point];
        let footprint = match self.partials {
            PartialSource::Request => Footprint {
                uv: [request.u, request.v],
                dx: [request.dudx, request.dvdx],
                dy: [request.dudy, request.dvdy],
            },
            PartialSource::Mesh => Footprint {
                uv: [request.u, request.v],
                dx: [point.uvw.ddx.x, point.uvw.ddx.y],
                dy: [point.uvw.ddy.x, point.uvw.ddy.y],
            },
        };
        let noted = self.requests[point.pixel as usize].replace(footprint);
        assert!(noted.is_none(), "one request for each point");
        Sampled::Ready([0.5; 4])
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }

    fn sample_for_helper(&mut self, _: &SampleRequest) -> Sampled {
        self.helpers += 1;
        Sampled::Ready([0.5; 4])
    }
}

impl TextureAccess for Notes {
    type Waiting = ();

    fn begin(&mut self, _: &[usize], points: &[TexturePoint]) {
        self.points = points.to_vec();
        self.point = 0;
    }

    fn take_waiting(&mut self) -> Vec<(usize, ())> {
        Vec::new()
    }

    fn answer(&mut self, (): &mut ()) -> Option<adumbra::Texel> {
        None
    }

    fn wait(&mut self) {}
}

/// The requests of a shader at points, one each.
fn requests(
    source: &str,
    points: &[SeenPoint],
    mode: DerivativeMode,
    engine: ShadingEngine,
) -> Vec<Footprint> {
    let table = ClosureTable::new();
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>())
        .with_closures(table.registry().clone())
        .with_options(mode.options());
    let program = compiler.compile(&Sources::new("floor.adu", source));
    let instance = Instance::new(&program.expect("the shader is right"));
    let material = Material {
        name: "floor".to_owned(),
        unfolded: instance.clone(),
        instance,
        textures: vec![0],
    };
    let shader = MaterialShader::new(&material, &table).expect("it makes no closures");
    let wave = points.iter().zip(0..).map(|(point, pixel)| WavePoint {
        material: 0,
        hit: point.hit,
        texture: TexturePoint {
            uvw: point.hit.uvw,
            pixel,
            ..TexturePoint::default()
        },
    });
    let wave: Vec<WavePoint> = wave.collect();
    let quads: Vec<QuadSeeds> = points.iter().map(|point| point.quad).collect();
    let mut notes = Notes {
        partials: mode.partials(),
        points: Vec::new(),
        point: 0,
        requests: vec![None; points.len()],
        helpers: 0,
    };
    let shaders = [shader];
    let mut shading = WaveShader::new(&shaders, &table, engine);
    let is_quad = [DerivativeMode::QuadFine, DerivativeMode::QuadCoarse].contains(&mode);
    assert_eq!(shading.is_in_quads(), is_quad);
    (shading.shade(&wave, &quads, &mut notes)).expect("the engine is there");
    let helpers = if is_quad { 3 * points.len() } else { 0 };
    assert_eq!(notes.helpers, helpers, "{mode:?}");
    let requests = notes.requests.into_iter();
    requests
        .map(|request| request.expect("each point asks"))
        .map(|request| match mode.ignores_partials() {
            true => Footprint {
                uv: request.uv,
                ..Footprint::default()
            },
            false => request,
        })
        .collect()
}

/// The part of the points whose level is more than one off the true one.
fn part_off(found: &[Footprint], truth: &[Footprint]) -> f64 {
    let level = |footprint: &Footprint| LevelRule::GlIso.level([TEXELS; 2], footprint, 0.0);
    let pairs = found.iter().zip(truth);
    let off = pairs.filter(|(a, b)| (level(a) - level(b)).abs() > 1.0);
    off.count() as f64 / truth.len() as f64
}

/// The points of the image that see the floor, not too far away.
fn pixels(world: &World, camera: &Camera) -> Vec<(Corner, DVec2)> {
    let all = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| [x, y]));
    all.map(|[x, y]| (corner_of([x, y]), DVec2::new(x.into(), y.into()) + 0.5))
        .filter(|&(corner, pixel)| {
            // Shifted cameras hit, too: the edge of the floor is far away.
            let found = seen(world, camera, corner, pixel);
            found.is_some_and(|point| point.hit.uvw.ddy.length() < MAX_CHANGE)
        })
        .collect()
}

/// The part of the pixels that is more than one level off, by mode. The partials of dual numbers
/// are held to the true ones by themselves.
fn parts_off(source: &str) -> Vec<(DerivativeMode, f64)> {
    let (world, camera) = floor();
    let pixels = pixels(&world, &camera);
    assert!(pixels.len() > 5000, "{}", pixels.len());
    let points = |shift: DVec2| -> Vec<SeenPoint> {
        let points = pixels.iter();
        points
            .map(|&(corner, pixel)| seen(&world, &camera, corner, pixel + shift))
            .map(|point| point.expect("it is floor"))
            .collect()
    };
    let dual =
        |points: &[SeenPoint]| requests(source, points, DerivativeMode::Dual, ShadingEngine::Batch);
    let change = |axis: DVec2| -> Vec<[f32; 2]> {
        let [after, before] = [1.0, -1.0].map(|sign| dual(&points(axis * SHIFT * sign)));
        let pairs = after.iter().zip(&before);
        let change = |(a, b): (&Footprint, &Footprint)| {
            [0, 1].map(|i| {
                let change = f64::from(a.uv[i]) - f64::from(b.uv[i]);
                // Over the edge of a tile, to the next one.
                ((change - change.round()) / (2.0 * SHIFT)) as f32
            })
        };
        pairs.map(change).collect()
    };
    let middle = points(DVec2::ZERO);
    let truth: Vec<Footprint> = change(DVec2::X)
        .into_iter()
        .zip(change(DVec2::Y))
        .map(|(dx, dy)| Footprint {
            uv: [0.0; 2],
            dx,
            dy,
        })
        .collect();
    for (found, truth) in dual(&middle).iter().zip(&truth) {
        for (found, expected) in [(found.dx, truth.dx), (found.dy, truth.dy)] {
            let last_place = f64::from(f32::EPSILON) * GREATEST;
            let allowed =
                0.01 * f64::from(expected[0].hypot(expected[1])) + 4.0 * last_place / SHIFT;
            for (found, expected) in found.into_iter().zip(expected) {
                let error = f64::from(found - expected).abs();
                assert!(error <= allowed, "{found} for {expected}");
            }
        }
    }
    let of_mode = |mode| {
        let found = requests(source, &middle, mode, ShadingEngine::Batch);
        for engine in [ShadingEngine::Point, ShadingEngine::Auto] {
            assert!(
                requests(source, &middle, mode, engine) == found,
                "{mode:?} {engine:?}"
            );
        }
        (mode, part_off(&found, &truth))
    };
    DerivativeMode::ALL.map(of_mode).to_vec()
}

#[test]
fn dual_levels_are_those_of_shifted_cameras() {
    let (warped, polar) = (parts_off(WARPED), parts_off(POLAR));
    let percent = |part: f64| match part {
        0.0 => "0".to_owned(),
        1.0 => "100 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * part),
    };
    let mut table = String::new();
    for ((mode, warped), (_, polar)) in warped.iter().zip(&polar) {
        let name = mode.name();
        table += &format!(
            "| `{name}` | {} | {} |\n",
            percent(*warped),
            percent(*polar)
        );
    }
    println!("more than one level off, warped by noise and polar:\n{table}");
    for ((mode, warped), (_, polar)) in warped.into_iter().zip(polar) {
        match mode {
            DerivativeMode::Dual => assert_eq!((warped, polar), (0.0, 0.0)),
            DerivativeMode::QuadFine | DerivativeMode::QuadCoarse => {
                assert!(
                    warped > 0.001 && polar > 0.001,
                    "{mode:?}: {warped} {polar}"
                );
            }
            DerivativeMode::Mesh => assert!(warped > 0.1 && polar > 0.1, "{warped} {polar}"),
            DerivativeMode::Partial => assert!(warped > 0.1 && polar > 0.9, "{warped} {polar}"),
            DerivativeMode::None => assert!(warped > 0.9 && polar > 0.9, "{warped} {polar}"),
        }
    }
    // The page has these numbers.
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/render.md"));
    let page = page.expect("the page can be read");
    assert!(
        page.contains(&table),
        "docs/render.md has another table than\n{table}"
    );
}
