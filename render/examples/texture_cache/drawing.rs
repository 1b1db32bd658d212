//! An image of the scene by a cache of its own, with what the cache did.

use crate::Fallible;
use adumbra_render::differential::{Differentials, PathDifferentials, SeedRule};
use adumbra_render::frame::{FrameJob, draw_tiles, tiles};
use adumbra_render::scene::Scene;
use adumbra_render::scene_image::{add_textures, load_environment};
use adumbra_render::scene_textures::{PartialSource, SceneTextures};
use adumbra_render::shading::{
    AreaLights, ClosureTable, ImageTile, MaterialShader, PathScene, PathSettings, PixelFilter,
    ShadingEngine,
};
use adumbra_render::texture::cache::{CacheSettings, CacheStatistics, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost, TextureRequest};
use adumbra_render::texture::{Filter, LevelRule};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Whose partials choose levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DerivativeKind {
    Dual,
    Mesh,
    None,
}

impl DerivativeKind {
    pub(crate) const ALL: [DerivativeKind; 3] = [
        DerivativeKind::Dual,
        DerivativeKind::Mesh,
        DerivativeKind::None,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            DerivativeKind::Dual => "dual",
            DerivativeKind::Mesh => "mesh",
            DerivativeKind::None => "none",
        }
    }

    /// Trilinear lookups by the rule of OpenImageIO, so that it can replay them.
    pub(crate) fn lookup(self) -> LookupSettings {
        LookupSettings {
            rule: LevelRule::OiioTriFormula,
            filter: Filter::Trilinear,
            ignores_partials: self == DerivativeKind::None,
            ..LookupSettings::default()
        }
    }
}

/// How an image is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HallDrawing {
    pub(crate) derivatives: DerivativeKind,
    pub(crate) cache: CacheSettings,
    pub(crate) threads: usize,
    /// Whether requests are recorded.
    pub(crate) records: bool,
}

/// An image, and what it took.
#[derive(Debug)]
pub(crate) struct HallImage {
    pub(crate) pixels: Vec<[f32; 4]>,
    pub(crate) statistics: CacheStatistics,
    pub(crate) time: Duration,
    /// The requests in their order, tile by tile.
    pub(crate) requests: Vec<TextureRequest>,
}

impl HallImage {
    /// The image to the bit.
    pub(crate) fn bits(&self) -> Vec<[u32; 4]> {
        let pixels = self.pixels.iter();
        pixels.map(|pixel| pixel.map(f32::to_bits)).collect()
    }
}

/// Draws the scene with one sample a pixel and one reflection.
pub(crate) fn draw(scene: &Scene, drawing: &HallDrawing) -> Fallible<HallImage> {
    let cache = TextureCache::new(drawing.cache);
    add_textures(&cache, scene);
    let table = ClosureTable::new();
    let materials = scene.materials.iter();
    let shaders: Result<Vec<_>, _> = materials
        .map(|material| MaterialShader::new(material, &table))
        .collect();
    let environment = load_environment(&scene.environment)?;
    let rules = Differentials::default();
    let job = FrameJob {
        scene: PathScene {
            world: &scene.world,
            lights: &scene.lights,
            environment: &environment,
            area_lights: &AreaLights::default(),
        },
        settings: PathSettings {
            samples: 1,
            bounces: 1,
            seed: 0,
            filter: PixelFilter::default(),
            differentials: PathDifferentials::new(&scene.camera, SeedRule::Exact, rules, 1.0),
            clamp: None,
            hides_surroundings: false,
        },
        shaders: &shaders?,
        table: &table,
        engine: ShadingEngine::Batch,
        time: 0.0,
        threads: drawing.threads,
        stop: &AtomicBool::new(false),
    };
    let [width, height] = scene.camera.size.map(|side| side as usize);
    let mut pixels = vec![[0.0; 4]; width * height];
    let mut requests = Vec::new();
    let partials = match drawing.derivatives {
        DerivativeKind::Mesh => PartialSource::Mesh,
        DerivativeKind::Dual | DerivativeKind::None => PartialSource::Request,
    };
    let start = Instant::now();
    draw_tiles(
        &job,
        &tiles(ImageTile::whole(scene.camera.size)),
        || {
            let mut host = TextureHost::new(cache.clone(), drawing.derivatives.lookup());
            if drawing.records {
                host.record();
            }
            SceneTextures::new(host, partials)
        },
        |tile, drawn, textures| {
            for (colour, [x, y]) in drawn.iter().zip(tile.pixels()) {
                pixels[y as usize * width + x as usize] = *colour;
            }
            if drawing.records {
                requests.append(&mut textures.host().take_recorded());
                textures.host().record();
            }
            textures.host().flush();
        },
    )?;
    let time = start.elapsed();
    if let Some(diagnostic) = cache.diagnostics().first() {
        return Err(diagnostic.message.clone().into());
    }
    Ok(HallImage {
        pixels,
        statistics: cache.statistics(),
        time,
        requests,
    })
}
