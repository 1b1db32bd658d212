//! The article's drawing of one lookup: the footprint of a pixel over the texture, and the texels
//! that a filter reads (seed 000, the drawing after "Below shows the derivative coverage and mip
//! sampling footprint of the texture").
//!
//! Each panel shows the finest level around a lookup. The parallelogram is white: one pixel along x
//! and y by the partials. The ellipse of all points one pixel away is black. Outlines are the
//! texels that the filter reads: red those of the finer level, orange those of the coarser one. Of
//! random filters they are those of 256 numbers.
//!
//! `cargo run --release -p adumbra-render --example footprint -- OUT_DIR`

mod canvas;
#[path = "../common/mod.rs"]
mod common;

use adumbra_image::{MipPyramid, read_image};
use adumbra_render::scene::{SceneLoader, TextureSource};
use adumbra_render::scene_textures::{PartialSource, SceneTextures};
use adumbra_render::texture::host::{LookupSettings, TextureHost};
use adumbra_render::texture::{
    DFootprint, Filter, LevelRule, TexelSource, TileMissing, Wrap, lookup,
};
use canvas::TextureView;
use common::drawing::{Fallible, Shot, Stage};
use common::image_file::ByteImage;
use common::interior::write_scene;
use common::requests::{Answers, PixelRequest};
use glam::DVec2;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The side of a panel in pixels.
const PANEL: u32 = 176;

/// Random numbers for random filters.
const NUMBERS: u32 = 256;

/// Pixels of the interior: a far plank, the warped rug, the edge of the ball.
const PIXELS: [(&str, [u32; 2]); 3] = [
    ("floor", [430, 172]),
    ("rug", [250, 200]),
    ("ball", [246, 160]),
];

/// Rules and filters, a column each.
const COLUMNS: [(&str, LevelRule, Filter); 6] = [
    (
        "sort_floor, trilinear",
        LevelRule::SortFloor,
        Filter::Trilinear,
    ),
    ("gl_iso, trilinear", LevelRule::GlIso, Filter::Trilinear),
    ("gl_iso, one_tap", LevelRule::GlIso, Filter::OneTap),
    ("ewa", LevelRule::GlIso, EWA),
    (
        "one_tap_ewa",
        LevelRule::GlIso,
        Filter::OneTapEwa { max_anisotropy: 8 },
    ),
    (
        "gl_aniso16, gl_anisotropic",
        LevelRule::GlAniso16,
        Filter::GlAnisotropic,
    ),
];

/// pbrt's.
const EWA: Filter = Filter::Ewa {
    max_anisotropy: 8,
    weights: adumbra_render::texture::EwaWeights::Exact,
};

/// A texel: level, column, row.
type Texel = [u32; 3];

/// Texels that notes which ones are read.
struct Noted<'p> {
    pyramid: &'p MipPyramid,
    read: BTreeSet<Texel>,
}

impl TexelSource for Noted<'_> {
    fn levels(&self) -> u32 {
        TexelSource::levels(&self.pyramid)
    }

    fn size(&self, level: u32) -> [u32; 2] {
        TexelSource::size(&self.pyramid, level)
    }

    fn texel(&mut self, level: u32, x: u32, y: u32) -> Result<[f32; 4], TileMissing> {
        self.read.insert([level, x, y]);
        self.pyramid.texel(level, x, y)
    }
}

/// The texels that a lookup reads.
fn texels_read(
    pyramid: &MipPyramid,
    rule: LevelRule,
    filter: Filter,
    request: &PixelRequest,
) -> Fallible<BTreeSet<Texel>> {
    let mut source = Noted {
        pyramid,
        read: BTreeSet::new(),
    };
    let is_random = matches!(filter, Filter::OneTap | Filter::OneTapEwa { .. });
    let numbers = if is_random { NUMBERS } else { 1 };
    for number in 0..numbers {
        let random = (number as f32 + 0.5) / numbers as f32;
        let footprint = &request.footprint;
        let read = lookup(
            &mut source,
            rule,
            filter,
            Wrap::Repeat,
            footprint,
            0.0,
            random,
        );
        read.map_err(|_| "a pyramid has all texels")?;
    }
    Ok(source.read)
}

fn main() -> Fallible<()> {
    let out = std::env::args().nth(1);
    let out = out.map_or_else(|| PathBuf::from("target/footprint"), PathBuf::from);
    let scene = write_scene(&out.join("scene"))?;
    let stage = Stage::new(SceneLoader::new().load(&scene)?, 1)?;
    let cache = stage.cache(1 << 30)?;
    let answers = || {
        let host = TextureHost::new(cache.clone(), LookupSettings::default());
        Answers::Textures(Box::new(SceneTextures::new(host, PartialSource::Request)))
    };
    let (_, requests) = stage.record(&Shot::default(), answers, None)?;
    let mut panels = Vec::new();
    println!("| lookup | filter | level | texels |");
    println!("|---|---|---|---|");
    for (name, [x, y]) in PIXELS {
        let pixel = (y * stage.scene.camera.size[0] + x) as usize;
        let request = requests
            .pixel(pixel)
            .first()
            .ok_or(format!("{name}: no lookup"))?;
        let TextureSource::File(file) = &stage.scene.textures[request.texture].source else {
            return Err("textures are files".into());
        };
        let pyramid = MipPyramid::new(read_image(file)?);
        let size = TexelSource::size(&&pyramid, 0);
        let read = COLUMNS.map(|(_, rule, filter)| texels_read(&pyramid, rule, filter, request));
        let read: Vec<BTreeSet<Texel>> = read.into_iter().collect::<Fallible<_>>()?;
        let canvas = TextureView::around(&pyramid, &request.footprint, read.iter().flatten());
        for ((title, rule, filter), texels) in COLUMNS.into_iter().zip(&read) {
            let level = filter.level(rule, size, &request.footprint, 0.0, 0.5);
            println!("| {name} | {title} | {level:.2} | {} |", texels.len());
            panels.push(panel(&canvas, &request.footprint.into(), texels));
        }
    }
    ByteImage::sheet(&panels, COLUMNS.len() as u32).save(&out.join("footprints.png"))
}

/// The texture with what a lookup reads of it.
fn panel(canvas: &TextureView<'_>, footprint: &DFootprint, texels: &BTreeSet<Texel>) -> ByteImage {
    let mut image = canvas.texture(PANEL);
    let finest = texels.iter().map(|[level, ..]| *level).min();
    // The coarser ones first, so that the finer ones lie over them.
    for texel in texels.iter().rev() {
        let is_finer = Some(texel[0]) == finest;
        let colour = if is_finer {
            [230, 30, 30]
        } else {
            [255, 150, 0]
        };
        canvas.outline(&mut image, &canvas.corners(*texel), colour, 1.0);
    }
    let DFootprint { uv, dx, dy } = footprint.sanitised();
    let angle = |i: u32| libm::sincos(f64::from(i) * std::f64::consts::TAU / 96.0);
    let ellipse: Vec<DVec2> = (0..96)
        .map(angle)
        .map(|(s, c)| uv + c * dx + s * dy)
        .collect();
    canvas.outline(&mut image, &ellipse, [0, 0, 0], 1.6);
    let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
    let corners = corners.map(|(x, y)| uv + x * dx + y * dy);
    canvas.outline(&mut image, &corners, [255, 255, 255], 2.0);
    image
}
