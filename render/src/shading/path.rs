//! A path tracer over waves: direct light by next-event estimation, the surroundings by multiple
//! importance sampling (Veach and Guibas, "Optimally Combining Sampling Techniques", SIGGRAPH 1995,
//! the balance heuristic), Russian roulette.

use super::area_lights::AreaLights;
use super::environment::EnvironmentLight;
use super::pixel_filter::PixelFilter;
use super::random::{PathRandom, pixel_position};
use super::tracer::PathTracer;
use super::wave::{ShadingError, TextureAccess, WaveShader};
use crate::differential::{PathDifferentials, RayDifferential, corner_of};
use crate::geometry::World;
use crate::scene::Light;
use adumbra::derivatives::Corner;
use adumbra_image::ImageRegion;
use glam::{DVec2, Vec3};

/// What every path of an image shares.
#[derive(Clone, Copy, Debug)]
pub struct PathScene<'a> {
    /// Meshes and instances.
    pub world: &'a World,
    /// Lights without a shape.
    pub lights: &'a [Light],
    /// Light from infinity.
    pub environment: &'a EnvironmentLight,
    /// Emissive triangles that are sampled as lights. Others are seen by chance alone.
    pub area_lights: &'a AreaLights,
}

/// How paths are traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Samples of each pixel.
    pub samples: u32,
    /// Surfaces that a path may be scattered by; with 0 only emission and direct light are seen.
    pub bounces: u32,
    /// Another number gives another image of the same scene.
    pub seed: u32,
    /// Where samples of a pixel are taken.
    pub filter: PixelFilter,
    /// The camera's rays and their derivatives.
    pub differentials: PathDifferentials,
    /// The most of each channel that a path adds at once after its first bounce. It takes light
    /// away: without it images are unbiased.
    pub clamp: Option<f32>,
    /// Whether the camera does not see the surroundings themselves, so that the image can lie over
    /// another by its alpha. They light surfaces all the same.
    pub hides_surroundings: bool,
}

/// Most paths of a wave. More hide more latency, fewer fit into caches.
pub const WAVE_PATHS: usize = 4096;

/// The most surfaces that a ray passes straight through, of paths and of shadow rays each. What is
/// beyond gives no light.
pub const MAX_PASSES: u32 = 256;

/// A rectangle of pixels, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageTile {
    /// The first column.
    pub x: u32,
    /// The first row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl ImageTile {
    /// All pixels of an image of that width and height.
    pub fn whole([width, height]: [u32; 2]) -> ImageTile {
        ImageTile {
            x: 0,
            y: 0,
            width,
            height,
        }
    }

    /// Its pixels, row by row.
    pub fn pixels(self) -> impl Iterator<Item = [u32; 2]> {
        let columns = self.x..self.x + self.width;
        let rows = self.y..self.y + self.height;
        rows.flat_map(move |y| columns.clone().map(move |x| [x, y]))
    }
}

impl From<ImageRegion> for ImageTile {
    fn from(region: ImageRegion) -> ImageTile {
        let ([x, y], size) = (region.start(), region.size());
        ImageTile {
            x,
            y,
            width: size.width(),
            height: size.height(),
        }
    }
}

/// A path on its way.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// The pixel's index in the tile.
    pub(super) pixel: usize,
    /// The pixel's place in its quad.
    pub(super) corner: Corner,
    /// The point of the image, and that of the lens.
    pub(super) start: [DVec2; 2],
    pub(super) random: PathRandom,
    pub(super) ray: RayDifferential,
    /// The distance along the ray up to which it has passed through surfaces, and their number.
    pub(super) passed: (f64, u32),
    pub(super) throughput: Vec3,
    pub(super) radiance: Vec3,
    /// Whether it ends at or is scattered by a surface: what alpha is.
    pub(super) is_covered: bool,
    /// The density of the ray's direction, or none after the camera and mirrors.
    pub(super) density: Option<f32>,
    pub(super) is_alive: bool,
    /// Surfaces that scattered it.
    pub(super) bounces: u32,
}

impl Path {
    /// Adds light that comes along the path, dimmed to the limit if there is one.
    pub(super) fn add(&mut self, light: Vec3, limit: Option<f32>) {
        let greatest = light.max_element();
        self.radiance += match limit {
            Some(limit) if greatest > limit => light * (limit / greatest),
            _ => light,
        };
    }

    /// The weight of light that the ray meets, if that was sampled with another density as well:
    /// the balance heuristic.
    pub(super) fn weight(&self, other: f32) -> f32 {
        match self.density {
            Some(density) if density + other > 0.0 => density / (density + other),
            _ => 1.0,
        }
    }

    /// Whether light that comes along it adds anything.
    pub(super) fn carries_light(&self) -> bool {
        self.throughput.is_finite() && self.throughput.max_element() > 0.0
    }

    /// The limit of what it adds now: after a bounce that of the settings, before none.
    pub(super) fn limit(&self, settings: &PathSettings) -> Option<f32> {
        settings.clamp.filter(|_| self.bounces > 0)
    }
}

/// Traces all samples of a tile's pixels. Gives linear radiance and coverage of each pixel, row by
/// row.
///
/// # Errors
/// If a material cannot be evaluated here.
pub fn trace_tile<T: TextureAccess>(
    scene: &PathScene<'_>,
    settings: &PathSettings,
    tile: ImageTile,
    shader: &mut WaveShader<'_>,
    textures: &mut T,
) -> Result<Vec<[f32; 4]>, ShadingError> {
    let samples = settings.samples.max(1);
    let mut sums = vec![[0.0_f64; 4]; tile.width as usize * tile.height as usize];
    let mut tracer = PathTracer::new(scene, settings);
    let mut paths = Vec::new();
    let mut all = samples_of(settings, tile);
    shader.clock.passed();
    while next_wave(&mut all, settings, &mut paths) {
        tracer.trace(&mut paths, shader, textures)?;
        // In the order of samples, whatever the waves are.
        for path in &paths {
            let sum = &mut sums[path.pixel];
            let radiance = if path.radiance.is_finite() {
                path.radiance
            } else {
                Vec3::ZERO
            };
            for (sum, value) in sum
                .iter_mut()
                .zip(radiance.extend(path.is_covered.into()).to_array())
            {
                *sum += f64::from(value);
            }
        }
    }
    let scale = 1.0 / f64::from(samples);
    Ok(sums
        .iter()
        .map(|sum| sum.map(|value| (value * scale) as f32))
        .collect())
}

/// The samples of a tile's pixels: the pixel's index, the pixel, and the sample's number.
pub(super) fn samples_of(
    settings: &PathSettings,
    tile: ImageTile,
) -> impl Iterator<Item = (usize, [u32; 2], u32)> + use<> {
    (0..settings.samples.max(1)).flat_map(move |sample| {
        let pixels = tile.pixels().enumerate();
        pixels.map(move |(index, pixel)| (index, pixel, sample))
    })
}

/// Sets `paths` to those of the next samples, at most [`WAVE_PATHS`]. Returns whether there are
/// any.
pub(super) fn next_wave(
    samples: &mut impl Iterator<Item = (usize, [u32; 2], u32)>,
    settings: &PathSettings,
    paths: &mut Vec<Path>,
) -> bool {
    paths.clear();
    let wave = samples.take(WAVE_PATHS);
    paths.extend(wave.map(|(index, pixel, sample)| start(settings, index, pixel, sample)));
    !paths.is_empty()
}

/// A path at the camera.
fn start(settings: &PathSettings, index: usize, pixel: [u32; 2], sample: u32) -> Path {
    let mut random = PathRandom::new(settings.seed, pixel, sample);
    let at = pixel_position(pixel, settings.samples, settings.filter, &mut random);
    let lens = super::bsdf::disk(random.next_2d()).as_dvec2();
    Path {
        pixel: index,
        corner: corner_of(pixel),
        start: [at, lens],
        random,
        ray: settings.differentials.camera_ray(at, lens),
        passed: (0.0, 0),
        throughput: Vec3::ONE,
        radiance: Vec3::ZERO,
        is_covered: false,
        density: None,
        is_alive: true,
        bounces: 0,
    }
}
