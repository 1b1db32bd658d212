//! The frame of level cards: its files, its columns, the true partials, and the count of pixels
//! whose level is wrong.

use crate::common::drawing::{Fallible, Shot, Stage};
use crate::common::requests::{Answers, PixelRequest, RequestImage, difference, with_partials};
use adumbra_render::derivative_mode::DerivativeMode;
use adumbra_render::scene::SceneLoader;
use adumbra_render::scene_textures::{PartialSource, SceneTextures};
use adumbra_render::texture::cache::TextureCache;
use adumbra_render::texture::host::{LookupSettings, TextureHost};
use adumbra_render::texture::{
    LevelRule, SampleFormat, TiledOptions, level_cards, write_tiled_levels,
};
use glam::DVec2;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The side of each texture.
pub(crate) const TEXELS: u32 = 1024;

/// Surfaces that a path may be scattered by: enough for a way through glass.
pub(crate) const BOUNCES: u32 = 6;

/// More than all tiles: nothing is dropped.
pub(crate) const BUDGET: u64 = 1 << 30;

/// The files of the scene.
const FILES: [(&str, &str); 7] = [
    (
        "scene.json",
        include_str!("../../../examples/render/level_cards/scene.json"),
    ),
    (
        "floor.adu",
        include_str!("../../../examples/render/level_cards/floor.adu"),
    ),
    (
        "wall.adu",
        include_str!("../../../examples/render/level_cards/wall.adu"),
    ),
    (
        "pillar.adu",
        include_str!("../../../examples/render/level_cards/pillar.adu"),
    ),
    (
        "swirl.adu",
        include_str!("../../../examples/render/level_cards/swirl.adu"),
    ),
    (
        "hill.adu",
        include_str!("../../../examples/render/level_cards/hill.adu"),
    ),
    (
        "glass.adu",
        include_str!("../../../examples/render/level_cards/glass.adu"),
    ),
];

/// The textures of the scene, one for each surface: all are the same cards.
const TEXTURES: [&str; 5] = ["floor", "wall", "pillar", "swirl", "hill"];

/// Writes the scene and its textures into a folder, and gives the scene's file.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_scene(folder: &Path) -> Fallible<PathBuf> {
    std::fs::create_dir_all(folder)?;
    for (name, contents) in FILES {
        std::fs::write(folder.join(name), contents)?;
    }
    let cards = level_cards(TEXELS)?;
    let options = TiledOptions {
        format: SampleFormat::Half,
        ..TiledOptions::default()
    };
    for name in TEXTURES {
        let file = std::fs::File::create(folder.join(name).with_extension("exr"))?;
        write_tiled_levels(&cards, &options, file)?;
    }
    Ok(folder.join("scene.json"))
}

/// The columns but the truth: whose partials lookups have.
pub(crate) const COLUMNS: [DerivativeMode; 5] = [
    DerivativeMode::None,
    DerivativeMode::Mesh,
    DerivativeMode::Partial,
    DerivativeMode::QuadFine,
    DerivativeMode::Dual,
];

/// How the textures of a column are looked up.
pub(crate) fn lookup(mode: DerivativeMode) -> LookupSettings {
    LookupSettings {
        ignores_partials: mode.ignores_partials(),
        ..LookupSettings::default()
    }
}

/// The scene compiled for a column.
///
/// # Errors
/// What is wrong with the scene.
pub(crate) fn stage(
    mode: DerivativeMode,
    scene: &Path,
    size: [u32; 2],
    threads: usize,
) -> Fallible<Stage> {
    let loader = SceneLoader::new().with_options(mode.options());
    Stage::new(loader.with_size(Some(size)).load(scene)?, threads)
}

/// The requests of each pixel's middle, with the partials that a column's lookups use.
///
/// # Errors
/// If a texture cannot be read, or a material not be evaluated.
pub(crate) fn requests(mode: DerivativeMode, stage: &Stage) -> Fallible<RequestImage> {
    let cache = stage.cache(BUDGET)?;
    let answers = || textures(&cache, lookup(mode), mode.partials());
    let (_, requests) = stage.record(&shot(0, DVec2::ZERO), answers, None)?;
    Ok(match mode.ignores_partials() {
        false => requests,
        true => requests.map(|_, _, request| PixelRequest {
            footprint: with_partials(&request.footprint, DVec2::ZERO, DVec2::ZERO),
            ..request
        }),
    })
}

/// Textures with these partials as what answers requests.
pub(crate) fn textures(
    cache: &Arc<TextureCache>,
    lookup: LookupSettings,
    partials: PartialSource,
) -> Answers {
    let host = TextureHost::new(cache.clone(), lookup);
    Answers::Textures(Box::new(SceneTextures::new(host, partials)))
}

/// One sample a pixel; footprints are those of whole pixels.
pub(crate) fn shot(seed: u32, shift: DVec2) -> Shot {
    Shot {
        seed,
        shift,
        bounces: BOUNCES,
        ..Shot::default()
    }
}

/// What cameras that are shifted a little see: partials without derivatives.
#[derive(Debug)]
pub(crate) struct Truth {
    /// The requests of each pixel's middle, with true partials.
    pub(crate) requests: RequestImage,
    /// Pixels whose levels are compared.
    pub(crate) is_counted: Vec<bool>,
    /// Pixels at silhouettes: the camera sees other surfaces one pixel aside.
    pub(crate) silhouettes: usize,
    /// Pixels elsewhere without true partials: an edge is within the shift of the cameras.
    pub(crate) unknown: usize,
}

/// Shifts of cameras in pixels, from large to small. Large ones are inexact where coordinates bend,
/// small ones where f32 rounds them.
const SHIFTS: [f64; 3] = [1.0 / 64.0, 1.0 / 512.0, 1.0 / 4096.0];

/// The part of a partial that may be due to rounding.
const MAX_ROUNDING: f64 = 0.05;

/// The requests that the camera makes from there, with whatever partials.
pub(crate) fn seen(stage: &Stage, seed: u32, shift: DVec2) -> Fallible<RequestImage> {
    Ok(stage.record(&shot(seed, shift), || Answers::Grey, None)?.1)
}

/// Central differences of a request's coordinates.
#[derive(Clone, Copy, Debug)]
struct Central {
    partials: [DVec2; 2],
    /// Whether they are larger than what rounding makes.
    is_exact: bool,
    /// Whether both halves of a difference are alike: no edge is between the cameras. A surface
    /// that hides a part of itself has such edges.
    is_smooth: bool,
}

impl Central {
    fn new(middle: &PixelRequest, around: [&PixelRequest; 4], shift: f64) -> Central {
        let middle = &middle.footprint;
        let [left, right, up, down] = around.map(|request| &request.footprint);
        let [u, v] = middle.uv.map(|x| f64::from(x.abs()).max(1.0));
        let rounding = 2.0 * f64::from(f32::EPSILON) * u.max(v) / (2.0 * shift);
        let is_smooth = |before, after| {
            let (a, b) = (
                difference(before, middle, shift),
                difference(middle, after, shift),
            );
            let both = a.length() + b.length();
            (a - b).length() <= 0.75 * both || both < 16.0 * rounding
        };
        let partials = [
            difference(left, right, 2.0 * shift),
            difference(up, down, 2.0 * shift),
        ];
        let longer = partials[0].length().max(partials[1].length());
        Central {
            partials,
            is_exact: rounding <= MAX_ROUNDING * longer,
            is_smooth: is_smooth(left, right) && is_smooth(up, down),
        }
    }
}

impl Truth {
    /// Compares what shifted cameras see. The random numbers of a pixel's path are the same for
    /// all, so paths through glass go the same way.
    ///
    /// # Errors
    /// If a material cannot be evaluated.
    pub(crate) fn new(stage: &Stage) -> Fallible<Truth> {
        let middle = seen(stage, 0, DVec2::ZERO)?;
        let mut is_counted: Vec<bool> = (0..middle.len())
            .map(|pixel| !middle.pixel(pixel).is_empty())
            .collect();
        let mut silhouettes = 0;
        for (x, y) in (-1..=1).flat_map(|y| (-1..=1).map(move |x| (x, y))) {
            if (x, y) == (0, 0) {
                continue;
            }
            let aside = seen(stage, 0, DVec2::new(x.into(), y.into()))?;
            for (pixel, is_counted) in is_counted.iter_mut().enumerate() {
                if *is_counted && !middle.has_same_path(&aside, pixel) {
                    *is_counted = false;
                    silhouettes += 1;
                }
            }
        }
        let mut around = Vec::new();
        for shift in SHIFTS {
            let sides = [DVec2::NEG_X, DVec2::X, DVec2::NEG_Y, DVec2::Y];
            let sides = sides.map(|side| seen(stage, 0, side * shift));
            let [left, right, up, down] = sides;
            around.push((shift, [left?, right?, up?, down?]));
        }
        let mut unknown = 0;
        let requests = middle.map(|pixel, at, request| {
            let mut partials = None;
            for (shift, sides) in &around {
                if !sides.iter().all(|side| middle.has_same_path(side, pixel)) {
                    continue;
                }
                let sides = sides.each_ref().map(|side| &side.pixel(pixel)[at]);
                let found = Central::new(&request, sides, *shift);
                if partials.is_none() || found.is_exact {
                    partials = Some(found);
                }
            }
            let partials = partials.filter(|found| found.is_smooth);
            let partials = partials.map(|found| found.partials);
            if partials.is_none() && is_counted[pixel] {
                is_counted[pixel] = false;
                unknown += 1;
            }
            let [dx, dy] = partials.unwrap_or_default();
            PixelRequest {
                footprint: with_partials(&request.footprint, dx, dy),
                ..request
            }
        });
        Ok(Truth {
            requests,
            is_counted,
            silhouettes,
            unknown,
        })
    }

    /// The number of pixels whose levels are compared.
    pub(crate) fn counted(&self) -> usize {
        self.is_counted.iter().filter(|is| **is).count()
    }

    /// The pixels that have a lookup more than one level off.
    pub(crate) fn pixels_off(&self, column: &RequestImage) -> Vec<usize> {
        let is_off = |pixel: &usize| {
            self.is_counted[*pixel] && {
                let pairs = column.pixel(*pixel).iter().zip(self.requests.pixel(*pixel));
                let level = |request: &PixelRequest| {
                    LevelRule::default().level([TEXELS; 2], &request.footprint, 0.0)
                };
                pairs
                    .into_iter()
                    .any(|(a, b)| (level(a) - level(b)).abs() > 1.0)
            }
        };
        (0..self.requests.len()).filter(is_off).collect()
    }
}
