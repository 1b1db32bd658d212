//! A whole image of a scene, for programs that draw without the command.

use crate::differential::{Differentials, PathDifferentials, SeedRule};
use crate::frame::{FrameJob, draw_tiles, tiles};
use crate::scene::{DEFAULT_BOUNCES, Environment, Scene};
use crate::scene_textures::{PartialSource, SceneTextures};
use crate::shading::environment::{EnvironmentImage, EnvironmentLight};
use crate::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialFaults, MaterialShader, PathScene, PathSettings,
    PhaseTimes, PixelFilter, ShadingEngine, ShadingError, WaveShader,
};
use crate::texture::cache::{CacheSettings, CacheStatistics, TextureCache};
use crate::texture::host::{LevelCounts, LookupSettings, TextureHost};
use adumbra::closure::RegistryError;
use adumbra_image::read_image;
use std::fmt;
use std::sync::atomic::AtomicBool;

/// How a scene is drawn.
#[derive(Clone, Debug)]
pub struct ImageSettings {
    /// Samples of each pixel.
    pub samples: u32,
    /// Surfaces that a path may be scattered by.
    pub bounces: u32,
    /// Another number gives another image of the same scene.
    pub seed: u32,
    /// Where samples of a pixel are taken.
    pub filter: PixelFilter,
    /// How derivatives go on after rough surfaces.
    pub differentials: Differentials,
    /// How textures are looked up.
    pub lookup: LookupSettings,
    /// How their tiles are kept.
    pub cache: CacheSettings,
    /// What evaluates materials.
    pub engine: ShadingEngine,
    /// Threads, at least one.
    pub threads: usize,
}

impl Default for ImageSettings {
    /// One sample, four bounces, one thread.
    fn default() -> ImageSettings {
        ImageSettings {
            samples: 1,
            bounces: DEFAULT_BOUNCES,
            seed: 0,
            filter: PixelFilter::default(),
            differentials: Differentials::default(),
            lookup: LookupSettings::default(),
            cache: CacheSettings::default(),
            engine: ShadingEngine::default(),
            threads: 1,
        }
    }
}

/// An image, and what it took.
#[derive(Clone, Debug)]
pub struct SceneImage {
    /// Linear radiance and coverage, row by row.
    pub pixels: Vec<[f32; 4]>,
    /// Where the time of all threads went.
    pub times: PhaseTimes,
    /// What went wrong at points.
    pub faults: MaterialFaults,
    /// What was read of textures.
    pub textures: CacheStatistics,
    /// Number of lookups by the finest level that each read.
    pub levels: LevelCounts,
}

impl SceneImage {
    /// The mean of the levels that lookups read; none without lookups.
    pub fn mean_level(&self) -> Option<f64> {
        let levels = self.levels.iter().enumerate();
        let sum: f64 = levels
            .map(|(level, count)| level as f64 * *count as f64)
            .sum();
        let count: u64 = self.levels.iter().sum();
        (count > 0).then(|| sum / count as f64)
    }

    /// The mean of the squares of all differences of colours to a reference, each relative to the
    /// reference's square: relMSE, of (x − r)²/(r² + 0.01) (Rousselle, Knaus and Zwicker, "Adaptive
    /// Sampling and Reconstruction using Greedy Error Minimization", SIGGRAPH Asia 2011).
    pub fn relative_mse(&self, reference: &SceneImage) -> f64 {
        let pairs = self.pixels.iter().zip(&reference.pixels);
        let sum: f64 = pairs
            .flat_map(|(own, other)| own.iter().zip(other).take(3))
            .map(|(own, other)| (f64::from(*own), f64::from(*other)))
            .map(|(own, other)| (own - other) * (own - other) / (other * other + 0.01))
            .sum();
        sum / (3 * self.pixels.len().max(1)) as f64
    }

    /// The root of the mean square of all differences of colours to another image of the same size.
    pub fn rmse(&self, reference: &SceneImage) -> f64 {
        let colours = |image: &SceneImage| -> Vec<f64> {
            let pixels = image.pixels.iter();
            pixels
                .flat_map(|pixel| pixel[..3].iter().map(|c| f64::from(*c)).collect::<Vec<_>>())
                .collect()
        };
        let (own, other) = (colours(self), colours(reference));
        let squares: f64 = own.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum();
        (squares / own.len().max(1) as f64).sqrt()
    }
}

/// Why a scene cannot be drawn.
#[derive(Debug)]
pub enum SceneImageError {
    /// The image of the environment cannot be read: which, and why.
    Image(String),
    /// A material has closures that the renderer does not know.
    Closures(RegistryError),
    /// A material cannot be evaluated here.
    Shading(ShadingError),
}

impl fmt::Display for SceneImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SceneImageError::Image(why) => f.write_str(why),
            SceneImageError::Closures(error) => error.fmt(f),
            SceneImageError::Shading(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SceneImageError {}

/// Adds the textures of a scene to a cache, in their order. The cache has a diagnostic for each
/// that cannot be read.
pub fn add_textures(cache: &TextureCache, scene: &Scene) {
    for texture in &scene.textures {
        cache.add_source(&texture.source, texture.color_space, Some(texture.wrap));
    }
}

/// The light from infinity, with its image.
///
/// # Errors
/// If the image cannot be read.
pub fn load_environment(environment: &Environment) -> Result<EnvironmentLight, SceneImageError> {
    Ok(match environment {
        Environment::Constant(radiance) => EnvironmentLight::Constant(*radiance),
        Environment::Image { file, scale } => {
            let image = read_image(file);
            let image = image
                .map_err(|error| SceneImageError::Image(format!("{}: {error}", file.display())))?;
            EnvironmentLight::Image(Box::new(EnvironmentImage::new(image, *scale)))
        }
    })
}

/// The paths of an image.
pub(crate) fn path_settings(scene: &Scene, settings: &ImageSettings) -> PathSettings {
    let step = 1.0 / f64::from(settings.samples.max(1)).sqrt();
    let (rule, how) = (SeedRule::Exact, settings.differentials);
    PathSettings {
        samples: settings.samples,
        bounces: settings.bounces,
        seed: settings.seed,
        filter: settings.filter,
        differentials: PathDifferentials::new(&scene.camera, rule, how, step),
        clamp: None,
        hides_surroundings: false,
    }
}

/// Draws a scene.
///
/// # Errors
/// If the image of the environment cannot be read, or a material cannot be evaluated here.
pub fn draw_scene(scene: &Scene, settings: &ImageSettings) -> Result<SceneImage, SceneImageError> {
    let cache = TextureCache::new(settings.cache);
    add_textures(&cache, scene);
    let table = ClosureTable::new();
    let shaders = scene.materials.iter();
    let shaders = shaders.map(|material| MaterialShader::new(material, &table));
    let shaders: Vec<_> = shaders
        .collect::<Result<_, _>>()
        .map_err(SceneImageError::Closures)?;
    let environment = load_environment(&scene.environment)?;
    let textures = || {
        let host = TextureHost::new(cache.clone(), settings.lookup);
        SceneTextures::new(host, PartialSource::Request)
    };
    let mut shader = WaveShader::new(&shaders, &table, settings.engine);
    let area_lights = AreaLights::new(&scene.world, &mut shader, &mut textures())
        .map_err(SceneImageError::Shading)?;
    let job = FrameJob {
        scene: PathScene {
            world: &scene.world,
            lights: &scene.lights,
            environment: &environment,
            area_lights: &area_lights,
        },
        settings: path_settings(scene, settings),
        shaders: &shaders,
        table: &table,
        engine: settings.engine,
        time: 0.0,
        threads: settings.threads,
        stop: &AtomicBool::new(false),
    };
    let [width, height] = scene.camera.size.map(|side| side as usize);
    let mut pixels = vec![[0.0; 4]; width * height];
    let mut levels = LevelCounts::default();
    let report = draw_tiles(
        &job,
        &tiles(ImageTile::whole(scene.camera.size)),
        textures,
        |tile, drawn, textures| {
            for ([x, y], pixel) in tile.pixels().zip(drawn) {
                pixels[y as usize * width + x as usize] = *pixel;
            }
            let counts = textures.host().take_level_counts();
            levels
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
            textures.host().flush();
        },
    );
    let report = report.map_err(SceneImageError::Shading)?;
    Ok(SceneImage {
        times: report.times,
        faults: report.faults,
        textures: cache.statistics(),
        pixels,
        levels,
    })
}
