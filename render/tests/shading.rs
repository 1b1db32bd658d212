//! Light: energy, engines, threads and late textures, over the public API.

use adumbra::{Compiler, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources};
use adumbra_image::{Image, ImageSize};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule, SurfaceSeeds};
use adumbra_render::geometry::{MeshInstance, World, shapes};
use adumbra_render::scene::{Light, Material};
use adumbra_render::shading::environment::{EnvironmentImage, EnvironmentLight};
use adumbra_render::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialShader, PathScene, PathSettings, PixelFilter,
    ShadingEngine, TextureAccess, TexturePoint, WaveShader, trace_tile,
};
use glam::{DAffine3, DVec2, DVec3, Vec3};

/// A texture that says "not yet" to most requests, and to their repetitions as often as `late`
/// says.
struct Texture {
    late: u32,
    asked: u32,
    point: usize,
    waiting: Vec<(usize, (SampleRequest, u32))>,
    /// The order of each request that waited, as they are answered.
    answered: Vec<u128>,
}

impl Texture {
    fn new(late: u32) -> Texture {
        Texture {
            late,
            asked: 0,
            point: 0,
            waiting: Vec::new(),
            answered: Vec::new(),
        }
    }

    fn colour(request: &SampleRequest) -> [f32; 4] {
        let footprint = request.dudx.abs() + request.dvdy.abs();
        [
            request.u.fract().abs(),
            request.v.fract().abs(),
            footprint,
            1.0,
        ]
    }
}

impl Host for Texture {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        self.asked += 1;
        if self.late > 0 && !self.asked.is_multiple_of(5) {
            self.waiting.push((self.point, (*request, self.late)));
            return Sampled::Pending;
        }
        Sampled::Ready(Texture::colour(request))
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }
}

impl TextureAccess for Texture {
    type Waiting = (SampleRequest, u32);

    fn begin(&mut self, textures: &[usize], points: &[TexturePoint]) {
        assert!(textures.len() <= 1 && !points.is_empty());
        assert!(self.waiting.is_empty(), "all are taken");
        self.point = 0;
    }

    fn take_waiting(&mut self) -> Vec<(usize, Self::Waiting)> {
        std::mem::take(&mut self.waiting)
    }

    fn answer(&mut self, waiting: &mut Self::Waiting) -> Option<adumbra::Texel> {
        let order = self.order(waiting);
        let (request, times) = waiting;
        *times = times.saturating_sub(1);
        (*times == 0).then(|| {
            self.answered.push(order);
            Texture::colour(request).into()
        })
    }

    fn wait(&mut self) {}

    fn order(&self, (request, _): &Self::Waiting) -> u128 {
        request.u.to_bits().into()
    }
}

const PLASTIC: &str = "texture2d paint;
    shader plastic(out closure surface) {
        float3 n = global_value<normal>;
        color base = texture2d_sample<paint>(global_value<uvw>.xy * 3.0).xyz;
        surface = base * make_closure<oren_nayar>(n, 0.2)
            + make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, 0.16, 0.16, float3(0.04, 0.04, 0.04), 1);
    }";
/// The second lookup is where the first one says, and its partials by quads depend on both.
const WARPED: &str = "texture2d paint;
    shader warped(out closure surface) {
        float2 at = global_value<uvw>.xy;
        float2 by = texture2d_sample<paint>(at).xy;
        color base = texture2d_sample<paint>(at + 0.2 * by + 0.1 * sin(9.0 * at)).xyz;
        surface = base * make_closure<oren_nayar>(global_value<normal>, 0.2);
    }";
const GLASS: &str = "shader glass(out closure surface) {
        surface = make_closure<dielectric_bsdf>(global_value<normal>, 0.01, 1.5);
    }";
const WHITE: &str = "shader white(out closure surface) {
        surface = make_closure<diffuse>(global_value<normal>);
    }";
/// Both are known at shaded points alone, which shadow rays wait for.
const VEIL: &str = "texture2d paint;
    shader veil(out closure surface) {
        color part = texture2d_sample<paint>(global_value<uvw>.xy * 5.0).xyz;
        surface = (1.0 - part) * make_closure<diffuse>(global_value<normal>)
            + part * make_closure<transparent>();
    }";
const LAMP: &str = "texture2d paint;
    shader lamp(out closure surface) {
        surface = texture2d_sample<paint>(global_value<uvw>.xy).xyz * make_closure<emission>(color(1.0));
    }";
const GLOW: &str = "shader glow(out color c) { c = color(0.25, 0.5, 1.0); }";

/// A floor and two spheres: materials 0 and 1, 2.
struct Stage {
    camera: Camera,
    world: World,
    shaders: Vec<MaterialShader>,
    table: ClosureTable,
    lights: Vec<Light>,
    environment: EnvironmentLight,
    clamp: Option<f32>,
}

impl Stage {
    fn new(sources: [&str; 3], environment: EnvironmentLight) -> Stage {
        Stage::with_mode(sources, environment, DerivativeMode::Dual)
    }

    fn with_mode(sources: [&str; 3], environment: EnvironmentLight, mode: DerivativeMode) -> Stage {
        let table = ClosureTable::new();
        let materials = sources.map(|source| material(source, &table, mode));
        let at = |mesh, material, scale: f64, position| MeshInstance {
            mesh,
            material,
            to_world: DAffine3::from_scale_rotation_translation(
                DVec3::splat(scale),
                glam::DQuat::IDENTITY,
                position,
            ),
        };
        let meshes = vec![shapes::quad(), shapes::sphere([32, 16]).unwrap()];
        let instances = vec![
            at(0, 0, 20.0, DVec3::new(-10.0, -10.0, -6.0)),
            at(1, 1, 1.0, DVec3::new(-1.1, 0.0, -5.0)),
            at(1, 2, 1.0, DVec3::new(1.1, 0.0, -5.0)),
        ];
        let shaders = materials
            .iter()
            .map(|m| MaterialShader::new(m, &table).unwrap());
        Stage {
            camera: Camera {
                origin: DVec3::ZERO,
                right: DVec3::X,
                up: DVec3::Y,
                forward: DVec3::NEG_Z,
                projection: Projection::Perspective {
                    tan_half: DVec2::splat(0.5),
                    shift: DVec2::ZERO,
                },
                size: [16, 16],
            },
            world: World::new(meshes, instances).unwrap(),
            shaders: shaders.collect(),
            table,
            lights: vec![Light::Directional {
                direction: DVec3::new(-0.3, -0.8, -0.5),
                irradiance: Vec3::splat(2.0),
            }],
            environment,
            clamp: None,
        }
    }

    fn trace(
        &self,
        tile: ImageTile,
        engine: ShadingEngine,
        samples: u32,
        late: u32,
    ) -> Vec<[f32; 4]> {
        self.trace_with(tile, engine, samples, &mut Texture::new(late))
    }

    fn trace_with(
        &self,
        tile: ImageTile,
        engine: ShadingEngine,
        samples: u32,
        texture: &mut Texture,
    ) -> Vec<[f32; 4]> {
        let mut shader = WaveShader::new(&self.shaders, &self.table, engine);
        let area_lights = AreaLights::new(&self.world, &mut shader, &mut Texture::new(0));
        let area_lights = area_lights.expect("the engine is there");
        let scene = PathScene {
            world: &self.world,
            lights: &self.lights,
            environment: &self.environment,
            area_lights: &area_lights,
        };
        let step = 1.0 / f64::from(samples).sqrt();
        let differentials = Differentials::default();
        let settings = PathSettings {
            samples,
            bounces: 4,
            seed: 1,
            filter: PixelFilter::default(),
            clamp: self.clamp,
            hides_surroundings: false,
            differentials: PathDifferentials::new(
                &self.camera,
                SeedRule::Exact,
                differentials,
                step,
            ),
        };
        let mut shader = WaveShader::new(&self.shaders, &self.table, engine);
        let pixels = trace_tile(&scene, &settings, tile, &mut shader, texture).unwrap();
        assert!(shader.faults().of(0).is_empty());
        pixels
    }
}

fn material(source: &str, table: &ClosureTable, mode: DerivativeMode) -> Material {
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>())
        .with_closures(table.registry().clone())
        .with_options(mode.options());
    let program = compiler.compile(&Sources::new("m.adu", source)).unwrap();
    let textures = vec![0; program.textures().len()];
    Material {
        name: "m".to_owned(),
        instance: Instance::new(&program),
        unfolded: Instance::new(&program),
        textures,
    }
}

const WHOLE: ImageTile = ImageTile {
    x: 0,
    y: 0,
    width: 16,
    height: 16,
};

fn bits(pixels: &[[f32; 4]]) -> Vec<[u32; 4]> {
    pixels.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
}

#[test]
fn white_surfaces_in_white_surroundings_are_white() {
    let mut stage = Stage::new([WHITE; 3], EnvironmentLight::Constant(Vec3::ONE));
    stage.lights.clear();
    let pixels = stage.trace(WHOLE, ShadingEngine::Auto, 256, 0);
    let mean = pixels.iter().map(|pixel| f64::from(pixel[1])).sum::<f64>() / 256.0;
    // Paths end after four bounces, so some light between the surfaces is lost.
    assert!((0.93..1.01).contains(&mean), "{mean}");
}

#[test]
fn glass_in_white_surroundings_is_white() {
    let glow = "shader white(out color c) { c = color(1.0, 1.0, 1.0); }";
    let mut stage = Stage::new([glow, GLASS, GLASS], EnvironmentLight::Constant(Vec3::ONE));
    stage.lights.clear();
    // Pixels of both balls.
    let tile = ImageTile {
        x: 3,
        y: 6,
        width: 10,
        height: 4,
    };
    let pixels = stage.trace(tile, ShadingEngine::Auto, 256, 0);
    for pixel in &pixels {
        // A path ends after four bounces, and a rough lobe scatters once: a little is lost.
        assert!((0.9..1.02).contains(&pixel[0]), "{pixel:?}");
    }
    let mean = pixels.iter().map(|pixel| pixel[0]).sum::<f32>() / pixels.len() as f32;
    assert!((0.98..1.003).contains(&mean), "{mean}");
}

#[test]
fn colours_without_closures_are_seen_as_they_are() {
    let stage = Stage::new([GLOW; 3], EnvironmentLight::Constant(Vec3::ZERO));
    let pixels = stage.trace(WHOLE, ShadingEngine::Auto, 4, 0);
    assert!(pixels.iter().all(|pixel| *pixel == [0.25, 0.5, 1.0, 1.0]));
}

#[test]
fn clamped_images_lose_indirect_light_alone() {
    let mut stage = Stage::new([WHITE; 3], EnvironmentLight::Constant(Vec3::splat(0.2)));
    let free = stage.trace(WHOLE, ShadingEngine::Batch, 16, 0);
    stage.clamp = Some(1e6);
    assert_eq!(
        bits(&stage.trace(WHOLE, ShadingEngine::Batch, 16, 0)),
        bits(&free)
    );
    stage.clamp = Some(0.05);
    let clamped = stage.trace(WHOLE, ShadingEngine::Batch, 16, 0);
    let mean = |pixels: &[[f32; 4]]| pixels.iter().map(|p| p[1]).sum::<f32>() / pixels.len() as f32;
    let mut pairs = clamped.iter().zip(&free);
    assert!(pairs.all(|(less, all)| less[1] <= all[1]));
    // Direct light alone, which is not clamped, is much less than all.
    stage.clamp = Some(f32::MIN_POSITIVE);
    let direct = stage.trace(WHOLE, ShadingEngine::Batch, 16, 0);
    let [direct, clamped, free] = [&direct, &clamped, &free].map(|pixels| mean(pixels));
    assert!(direct > 0.25, "{direct}");
    assert!(
        direct < 0.98 * clamped && clamped < 0.98 * free,
        "{direct} {clamped} {free}"
    );
}

#[test]
fn engines_and_late_textures_give_the_same_bits() {
    let engines = [
        ShadingEngine::Point,
        ShadingEngine::Batch,
        ShadingEngine::Native,
        ShadingEngine::Auto,
    ];
    let mut images = Vec::new();
    for mode in [
        DerivativeMode::Dual,
        DerivativeMode::QuadFine,
        DerivativeMode::QuadCoarse,
        DerivativeMode::Partial,
    ] {
        let light = Image::from_pixels(
            ImageSize::new(2, 1).unwrap(),
            3,
            vec![[1.0, 2.0, 3.0, 1.0], [0.5; 4]],
        );
        let light = EnvironmentLight::Image(Box::new(EnvironmentImage::new(light, 1.0)));
        let stage = Stage::with_mode([WARPED, GLASS, PLASTIC], light, mode);
        let expected = bits(&stage.trace(WHOLE, ShadingEngine::Point, 4, 0));
        assert!(expected.iter().any(|pixel| pixel[0] != expected[0][0]));
        for engine in engines {
            for late in [0, 1, 3] {
                if engine == ShadingEngine::Native
                    && !adumbra::evaluator::Tier::Native.is_available()
                {
                    continue;
                }
                let pixels = bits(&stage.trace(WHOLE, engine, 4, late));
                assert!(pixels == expected, "{mode:?}, {engine:?}, {late}");
            }
        }
        images.push(expected);
    }
    let [dual, fine, coarse, partial] = &images[..] else {
        unreachable!("one for each mode");
    };
    assert!(dual != fine && fine != coarse && dual != coarse);
    assert!(partial == dual, "sines have derivatives in Cycles, too");
}

#[test]
fn late_textures_of_lamps_and_veils_give_the_same_bits() {
    for mode in [DerivativeMode::Dual, DerivativeMode::QuadFine] {
        let environment = EnvironmentLight::Constant(Vec3::splat(0.5));
        let stage = Stage::with_mode([PLASTIC, VEIL, LAMP], environment, mode);
        let expected = bits(&stage.trace(WHOLE, ShadingEngine::Point, 2, 0));
        for (engine, late) in [(ShadingEngine::Batch, 0), (ShadingEngine::Batch, 3)] {
            let pixels = bits(&stage.trace(WHOLE, engine, 2, late));
            assert!(pixels == expected, "{mode:?}, {engine:?}, {late}");
        }
        let tile = ImageTile {
            y: 5,
            height: 3,
            ..WHOLE
        };
        let part = bits(&stage.trace(tile, ShadingEngine::Batch, 2, 1));
        assert!(part[..] == expected[5 * 16..8 * 16], "{mode:?}: a part");
    }
}

#[test]
fn points_that_wait_are_resumed_in_order() {
    let environment = EnvironmentLight::Constant(Vec3::ONE);
    let stage = Stage::new([PLASTIC, PLASTIC, PLASTIC], environment);
    let expected = bits(&stage.trace(WHOLE, ShadingEngine::Batch, 8, 0));
    for engine in [ShadingEngine::Point, ShadingEngine::Batch] {
        let mut textures = Texture::new(1);
        let pixels = stage.trace_with(WHOLE, engine, 8, &mut textures);
        assert!(bits(&pixels) == expected, "{engine:?}");
        // Each wave begins anew.
        let falls = textures.answered.windows(2).filter(|two| two[0] > two[1]);
        let (falls, count) = (falls.count(), textures.answered.len());
        assert!(
            count > 1000 && falls < count / 50,
            "{engine:?}: {falls} of {count}"
        );
    }
}

#[test]
fn tiles_of_any_size_give_the_same_bits() {
    let stage = Stage::new(
        [PLASTIC, WHITE, GLASS],
        EnvironmentLight::Constant(Vec3::splat(0.5)),
    );
    let whole = bits(&stage.trace(WHOLE, ShadingEngine::Batch, 3, 0));
    for [width, height] in [[16, 1], [5, 16], [3, 4]] {
        for y in (0..16).step_by(height as usize) {
            for x in (0..16).step_by(width as usize) {
                let tile = ImageTile {
                    x,
                    y,
                    width: width.min(16 - x),
                    height: height.min(16 - y),
                };
                let part = bits(&stage.trace(tile, ShadingEngine::Batch, 3, 0));
                for (pixel, [x, y]) in part.iter().zip(tile.pixels()) {
                    assert_eq!(*pixel, whole[(y * 16 + x) as usize], "{tile:?} at {x}, {y}");
                }
            }
        }
    }
}
