//! Quads after a bounce: partials of what a mirror shows, by differences within quads, are close to
//! those of dual numbers.

use adumbra::{Compiler, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule, SurfaceSeeds};
use adumbra_render::geometry::{MeshInstance, World, shapes};
use adumbra_render::scene::Material;
use adumbra_render::shading::environment::EnvironmentLight;
use adumbra_render::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialShader, PathScene, PathSettings, PixelFilter,
    ShadingEngine, TextureAccess, TexturePoint, WaveShader, trace_tile,
};
use glam::{DAffine3, DQuat, DVec2, DVec3, Vec3};

const SIZE: u32 = 24;

const MIRROR: &str = "shader mirror(out closure surface) {
        float3 n = global_value<normal>;
        surface = make_closure<generalized_schlick_bsdf>(n, global_value<tangent>, 0.0, 0.0, float3(1.0), 0);
    }";
const WALL: &str = "texture2d paint;
    shader wall(out color c) {
        c = texture2d_sample<paint>(global_value<uvw>.xy * 3.0).xyz;
    }";

/// A texture whose colour is what it is asked with.
struct Steps;

impl Host for Steps {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let along_x = request.dudx.hypot(request.dvdx);
        let along_y = request.dudy.hypot(request.dvdy);
        Sampled::Ready([along_x, along_y, 0.0, 1.0])
    }
}

impl TextureAccess for Steps {
    type Waiting = ();

    fn begin(&mut self, _: &[usize], _: &[TexturePoint]) {}

    fn take_waiting(&mut self) -> Vec<(usize, ())> {
        Vec::new()
    }

    fn answer(&mut self, (): &mut ()) -> Option<adumbra::Texel> {
        None
    }

    fn wait(&mut self) {}
}

/// The steps that each pixel's lookup has, on a slanted wall that a mirror shows.
fn steps(mode: DerivativeMode, samples: u32) -> Vec<[f32; 4]> {
    let table = ClosureTable::new();
    let compiler = Compiler::new(GlobalsLayout::of::<SurfaceSeeds>())
        .with_closures(table.registry().clone())
        .with_options(mode.options());
    let shaders = [MIRROR, WALL].map(|source| {
        let program = compiler.compile(&Sources::new("s.adu", source));
        let instance = Instance::new(&program.unwrap_or_else(|report| panic!("{report}")));
        let textures = vec![0; instance.program().textures().len()];
        let name = String::new();
        let material = Material {
            name,
            textures,
            unfolded: instance.clone(),
            instance,
        };
        MaterialShader::new(&material, &table).expect("the table is the compiler's")
    });
    let at = |material, scale: f64, angle, position| MeshInstance {
        mesh: 0,
        material,
        to_world: DAffine3::from_translation(position)
            * DAffine3::from_quat(DQuat::from_rotation_y(angle))
            * DAffine3::from_scale(DVec3::splat(scale))
            * DAffine3::from_translation(DVec3::new(-0.5, -0.5, 0.0)),
    };
    let instances = vec![
        at(0, 20.0, 0.0, DVec3::new(0.0, 0.0, -4.0)),
        at(1, 60.0, 0.5, DVec3::new(0.0, 0.0, 6.0)),
    ];
    let world = World::new(vec![shapes::quad()], instances).expect("it is sound");
    let camera = Camera {
        origin: DVec3::ZERO,
        right: DVec3::X,
        up: DVec3::Y,
        forward: DVec3::NEG_Z,
        projection: Projection::Perspective {
            tan_half: DVec2::splat(0.3),
            shift: DVec2::ZERO,
        },
        size: [SIZE; 2],
    };
    let step = 1.0 / f64::from(samples).sqrt();
    let settings = PathSettings {
        samples,
        bounces: 1,
        seed: 0,
        filter: PixelFilter::default(),
        differentials: PathDifferentials::new(
            &camera,
            SeedRule::Exact,
            Differentials::default(),
            step,
        ),
        clamp: None,
        hides_surroundings: false,
    };
    let tile = ImageTile {
        x: 0,
        y: 0,
        width: SIZE,
        height: SIZE,
    };
    let scene = PathScene {
        world: &world,
        lights: &[],
        environment: &EnvironmentLight::Constant(Vec3::ZERO),
        area_lights: &AreaLights::default(),
    };
    let mut shader = WaveShader::new(&shaders, &table, ShadingEngine::Batch);
    trace_tile(&scene, &settings, tile, &mut shader, &mut Steps).expect("the engine is there")
}

#[test]
fn quads_in_a_mirror_are_close_to_dual_numbers() {
    for samples in [1, 4] {
        let dual = steps(DerivativeMode::Dual, samples);
        for mode in [DerivativeMode::QuadFine, DerivativeMode::QuadCoarse] {
            let quad = steps(mode, samples);
            assert_ne!(quad, dual, "differences over a pixel are no derivatives");
            for (quad, dual) in quad.iter().zip(&dual) {
                for (quad, dual) in quad.iter().zip(dual).take(2) {
                    assert!(*dual > 1e-3, "the mirror shows the wall: {dual}");
                    assert!(
                        (quad - dual).abs() < 0.05 * dual,
                        "{mode:?}: {quad} for {dual}"
                    );
                }
            }
        }
    }
}
