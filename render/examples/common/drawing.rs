//! Draws a scene as the command does, and records what pixels ask of textures.

use super::requests::{Answers, PixelRequest, RecordingTextures, RequestImage};
use adumbra_render::camera::{Camera, Projection};
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule};
use adumbra_render::frame::{FrameJob, draw_tiles, tiles};
use adumbra_render::scene::{Environment, Scene};
use adumbra_render::scene_image::add_textures;
use adumbra_render::scene_textures::{PartialSource, SceneTextures};
use adumbra_render::shading::environment::EnvironmentLight;
use adumbra_render::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialShader, PathScene, PathSettings, PixelFilter,
    ShadingEngine, WaveShader, trace_tile,
};
use adumbra_render::texture::cache::{CacheSettings, CacheStatistics, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost};
use glam::DVec2;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Any failure.
pub(crate) type Fallible<T> = Result<T, Box<dyn Error>>;

/// A scene with what is made of it once.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The scene.
    pub(crate) scene: Scene,
    table: ClosureTable,
    shaders: Vec<MaterialShader>,
    environment: EnvironmentLight,
    /// None: emission is seen, not sampled.
    area_lights: AreaLights,
    /// Threads that draw.
    pub(crate) threads: usize,
}

/// How an image is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shot {
    /// Samples of each pixel.
    pub(crate) samples: u32,
    /// The distance in pixels that derivatives are per.
    pub(crate) step: f64,
    /// The first random number.
    pub(crate) seed: u32,
    /// The camera looks at the point that is this far right and below, in pixels.
    pub(crate) shift: DVec2,
    /// Surfaces that a path may be scattered by.
    pub(crate) bounces: u32,
}

impl Default for Shot {
    fn default() -> Shot {
        Shot {
            samples: 1,
            step: 1.0,
            seed: 0,
            shift: DVec2::ZERO,
            bounces: 0,
        }
    }
}

impl Stage {
    /// Compiles a scene's materials, for a number of threads.
    ///
    /// # Errors
    /// If a material has closures that the renderer does not have.
    pub(crate) fn new(scene: Scene, threads: usize) -> Fallible<Stage> {
        let table = ClosureTable::new();
        let shaders = scene.materials.iter();
        let shaders = shaders.map(|material| MaterialShader::new(material, &table));
        let environment = match scene.environment {
            Environment::Constant(radiance) => EnvironmentLight::Constant(radiance),
            Environment::Image { .. } => return Err("experiments have no environment image".into()),
        };
        Ok(Stage {
            shaders: shaders.collect::<Result<_, _>>()?,
            table,
            environment,
            area_lights: AreaLights::default(),
            scene,
            threads,
        })
    }

    /// A new cache with the textures of the scene, of which nothing is read yet.
    ///
    /// # Errors
    /// If a texture cannot be read.
    pub(crate) fn cache(&self, budget: u64) -> Fallible<Arc<TextureCache>> {
        let settings = CacheSettings {
            budget,
            ..CacheSettings::default()
        };
        let cache = TextureCache::new(settings);
        add_textures(&cache, &self.scene);
        match cache.diagnostics().first() {
            Some(failed) => Err(format!("{}: {}", failed.file.display(), failed.message).into()),
            None => Ok(cache),
        }
    }

    fn settings(&self, shot: &Shot) -> PathSettings {
        let camera = shifted(&self.scene.camera, shot.shift);
        let differentials = Differentials::default();
        PathSettings {
            samples: shot.samples,
            bounces: shot.bounces,
            seed: shot.seed,
            filter: PixelFilter::default(),
            differentials: PathDifferentials::new(
                &camera,
                SeedRule::Exact,
                differentials,
                shot.step,
            ),
            clamp: None,
            hides_surroundings: false,
        }
    }

    fn path_scene(&self) -> PathScene<'_> {
        PathScene {
            world: &self.scene.world,
            lights: &self.scene.lights,
            environment: &self.environment,
            area_lights: &self.area_lights,
        }
    }

    /// Draws an image as the command does, without recording. Gives linear pixels.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    pub(crate) fn draw(
        &self,
        shot: &Shot,
        cache: &Arc<TextureCache>,
        lookup: LookupSettings,
        partials: PartialSource,
    ) -> Fallible<(Vec<[f32; 4]>, CacheStatistics)> {
        let size = self.scene.camera.size;
        let job = FrameJob {
            scene: self.path_scene(),
            settings: self.settings(shot),
            shaders: &self.shaders,
            table: &self.table,
            engine: ShadingEngine::Auto,
            time: 0.0,
            threads: self.threads,
            stop: &AtomicBool::new(false),
        };
        let mut pixels = vec![[0.0; 4]; size[0] as usize * size[1] as usize];
        draw_tiles(
            &job,
            &tiles(ImageTile::whole(size)),
            || SceneTextures::new(TextureHost::new(cache.clone(), lookup), partials),
            |tile, drawn, textures| {
                for ([x, y], colour) in tile.pixels().zip(drawn) {
                    pixels[(y * size[0] + x) as usize] = *colour;
                }
                textures.host().flush();
            },
        )?;
        Ok((pixels, cache.statistics()))
    }

    /// Draws an image of one sample a pixel and records the requests of each pixel. Requests have
    /// the partials of `replaced`, if it is there.
    ///
    /// # Errors
    /// If a material cannot be evaluated here.
    pub(crate) fn record(
        &self,
        shot: &Shot,
        answers: impl Fn() -> Answers + Sync,
        replaced: Option<&RequestImage>,
    ) -> Fallible<(Vec<[f32; 4]>, RequestImage)> {
        let size = self.scene.camera.size;
        let (scene, settings) = (self.path_scene(), self.settings(shot));
        let index = |[x, y]: [u32; 2]| (y * size[0] + x) as usize;
        let count = size[0] as usize * size[1] as usize;
        let found = Mutex::new((
            vec![[0.0; 4]; count],
            vec![Vec::<PixelRequest>::new(); count],
        ));
        let (tiles, next) = (tiles(ImageTile::whole(size)), AtomicUsize::new(0));
        let mut programs = self.shaders.iter().map(|shader| shader.instance.program());
        let is_in_quads = programs.any(|program| program.quad().is_some());
        let work = || -> Result<(), String> {
            let mut textures = RecordingTextures::new(answers(), replaced, is_in_quads);
            let mut shader = WaveShader::new(&self.shaders, &self.table, ShadingEngine::Auto);
            while let Some(&tile) = tiles.get(next.fetch_add(1, Ordering::Relaxed)) {
                textures.begin_tile(tile.pixels().map(|pixel| (pixel, index(pixel))).collect());
                let drawn = trace_tile(&scene, &settings, tile, &mut shader, &mut textures);
                let drawn = drawn.map_err(|error| error.to_string())?;
                let requests = textures.take_requests();
                let mut found = found.lock().map_err(|error| error.to_string())?;
                let (pixels, lists) = &mut *found;
                for (pixel, (colour, list)) in tile.pixels().zip(drawn.into_iter().zip(requests)) {
                    pixels[index(pixel)] = colour;
                    lists[index(pixel)] = list;
                }
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.collect::<Vec<_>>()
                .into_iter()
                .try_for_each(|end| match end {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
        })?;
        let (pixels, lists) = found.into_inner().map_err(|error| error.to_string())?;
        let requests = RequestImage::from_pixels(lists.iter().map(Vec::as_slice));
        Ok((pixels, requests))
    }
}

/// The camera that sees at each pixel what this one sees `by` pixels right and below.
pub(crate) fn shifted(camera: &Camera, by: DVec2) -> Camera {
    let [width, height] = camera.size.map(f64::from);
    let mut moved = *camera;
    if let Projection::Perspective { tan_half, shift } = &mut moved.projection {
        *shift += DVec2::new(2.0 * by.x / width, -2.0 * by.y / height) * *tan_half;
    }
    moved
}
