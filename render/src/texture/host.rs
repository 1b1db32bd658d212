//! The textures of a thread as the host of its shaders: [`adumbra::Host`] by a [`TextureCache`].
//!
//! A request whose tiles are missing is answered by [`Sampled::Pending`]. The host keeps a
//! [`WaitingLookup`] for it; the renderer repeats it by [`TextureHost::answer`] when its tiles are
//! there, and resumes the point with the colour.

use super::cache::{CacheReader, CacheSource, ERROR_COLOUR, MissPolicy, TextureCache, TileWaits};
use super::{DFootprint, Filter, Footprint, LevelRule, TexelSource, TileMissing, Wrap};
use super::{filter_slopes, filter_texels};
use adumbra::{Host, SampleRequest, Sampled, Texel, TexelSlopes};
use glam::DVec2;
use std::sync::Arc;

/// Number of levels that are counted: those of the largest texture.
pub const COUNTED_LEVELS: usize = 32;

/// How textures are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LookupSettings {
    /// How the level follows from the partials.
    pub rule: LevelRule,
    /// How texels become a colour.
    pub filter: Filter,
    /// It is added to each level.
    pub bias: f32,
    /// The wrap mode of all textures in place of their own.
    pub wrap: Option<Wrap>,
    /// Partials count as zero: textures are looked up at their finest level.
    pub ignores_partials: bool,
}

/// A request of a shader, with all that its answer depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRequest {
    /// The texture's index in the cache; `None` for one that does not exist.
    pub texture: Option<u32>,
    /// Coordinates and partials.
    pub footprint: Footprint,
    /// The explicit level, if the shader has one.
    pub level: Option<f32>,
    /// In [0, 1), for random rules and filters.
    pub random: f32,
    /// Whether the answer has slopes.
    pub slopes: bool,
}

/// A request that waits for tiles.
#[derive(Clone, Debug)]
pub struct WaitingLookup {
    /// The point of the batch whose request it is.
    pub point: usize,
    request: TextureRequest,
    waits: TileWaits,
}

impl WaitingLookup {
    /// Whether its tiles were read, so that [`TextureHost::answer`] is worth a call.
    pub fn is_over(&self) -> bool {
        self.waits.are_over()
    }

    /// A number by which lookups that wait for the same tile are neighbours. If they are answered
    /// in this order, a tile is read once for all of them, however small the budget is.
    pub fn tile_order(&self) -> u128 {
        self.waits.tile_order()
    }
}

/// Lookups of one level, for views and statistics.
pub type LevelCounts = [u64; COUNTED_LEVELS];

/// The host of one thread.
#[derive(Debug)]
pub struct TextureHost {
    reader: CacheReader,
    settings: LookupSettings,
    /// For each texture of the program, its index in the cache.
    bound: Vec<u32>,
    /// For each point of the batch, the seed of its random numbers.
    seeds: Vec<u64>,
    point: usize,
    waiting: Vec<WaitingLookup>,
    levels: LevelCounts,
    last_level: Option<u32>,
    recorded: Option<Vec<TextureRequest>>,
    /// Reads of the cache that were finished when it last waited.
    finished_reads: u64,
    /// Whether nothing is read for any lookup: the next one is answered by reading its tiles here.
    is_starved: bool,
}

impl TextureHost {
    /// A host with no textures bound.
    pub fn new(cache: Arc<TextureCache>, settings: LookupSettings) -> TextureHost {
        TextureHost {
            finished_reads: cache.finished_reads(),
            is_starved: false,
            reader: CacheReader::new(cache),
            settings,
            bound: Vec::new(),
            seeds: Vec::new(),
            point: 0,
            waiting: Vec::new(),
            levels: [0; COUNTED_LEVELS],
            last_level: None,
            recorded: None,
        }
    }

    /// The cache.
    pub fn cache(&self) -> &Arc<TextureCache> {
        self.reader.cache()
    }

    /// Sets the textures of the program: their indices in the cache, in the program's order.
    pub fn bind(&mut self, textures: &[usize]) {
        self.bound.clear();
        // An index that large is none of the cache.
        let index = |&texture: &usize| u32::try_from(texture).unwrap_or(u32::MAX);
        self.bound.extend(textures.iter().map(index));
    }

    /// Sets the points that come next: the seed of the random numbers of each, by its index in the
    /// batch. A number is a hash of the seed and of the request, so it does not depend on when or
    /// where the point is shaded.
    pub fn begin(&mut self, seeds: &[u64]) {
        self.seeds.clear();
        self.seeds.extend_from_slice(seeds);
        self.point = 0;
    }

    /// Takes the lookups that wait, in the order of their requests.
    pub fn take_waiting(&mut self) -> Vec<WaitingLookup> {
        std::mem::take(&mut self.waiting)
    }

    /// Repeats a lookup that waited. `None` if it has to wait longer; it is asked again later.
    ///
    /// The tiles that were read for it are there; others that it needs are read by this thread.
    pub fn answer(&mut self, waiting: &mut WaitingLookup) -> Option<Texel> {
        if !waiting.is_over() {
            return None;
        }
        let policy = if waiting.waits.have_begun() || self.is_starved {
            self.is_starved = false;
            MissPolicy::Block
        } else if self.cache().is_saturated() {
            return None;
        } else {
            MissPolicy::Park
        };
        match self.look_up(&waiting.request, policy) {
            Ok(texel) => Some(texel),
            Err(waits) => {
                waiting.waits = waits;
                None
            }
        }
    }

    /// Waits until tiles were read since the last call. If none are being read, since lookups of
    /// other threads wait for as many as they may, the next lookup is answered without them.
    pub fn wait(&mut self) {
        let finished = self.finished_reads;
        self.is_starved = !self.cache().wait(finished);
        self.finished_reads = self.cache().finished_reads();
    }

    /// Answers a request at once, by reading its tiles in this thread if need be.
    pub fn answer_now(&mut self, request: &TextureRequest) -> Texel {
        // A blocking lookup does not wait.
        let answer = self.look_up(request, MissPolicy::Block);
        answer.unwrap_or_else(|_| Texel::flat(ERROR_COLOUR))
    }

    /// Answers a request, or keeps it as that of a point that waits.
    pub fn request(&mut self, point: usize, request: TextureRequest) -> Option<Texel> {
        let policy = self.cache().settings().policy;
        if let Some(recorded) = &mut self.recorded {
            recorded.push(request);
        }
        match self.look_up(&request, policy) {
            Ok(texel) => Some(texel),
            Err(waits) => {
                self.waiting.push(WaitingLookup {
                    point,
                    request,
                    waits,
                });
                None
            }
        }
    }

    /// The request of a shader's sample.
    fn texture_request(&self, request: &SampleRequest) -> TextureRequest {
        let texture = self.bound.get(request.texture.index()).copied();
        let footprint = Footprint {
            uv: [request.u, request.v],
            dx: [request.dudx, request.dvdx],
            dy: [request.dudy, request.dvdy],
        };
        let seed = self.seeds.get(self.point).copied().unwrap_or(0);
        TextureRequest {
            texture,
            footprint,
            level: request.level,
            random: random(seed, texture, &footprint),
            slopes: request.slopes,
        }
    }

    fn look_up(
        &mut self,
        request: &TextureRequest,
        policy: MissPolicy,
    ) -> Result<Texel, TileWaits> {
        self.last_level = None;
        let Some(texture) = request.texture else {
            return Ok(Texel::flat(ERROR_COLOUR));
        };
        let settings = &self.settings;
        let found = self.reader.lookup(texture as usize, policy, |source| {
            let wrap = settings.wrap.map_or(source.wrap(), Into::into);
            if !request.footprint.uv.iter().all(|x| x.is_finite()) {
                source.note_lost_lookup();
            }
            match request.level {
                Some(level) => at_level(source, settings, wrap, request, level),
                None => by_partials(source, settings, wrap, request),
            }
        })?;
        self.last_level = found.finest;
        if let Some(level) = found.finest {
            self.levels[(level as usize).min(COUNTED_LEVELS - 1)] += 1;
        }
        Ok(found.texel)
    }

    /// The finest level that the last lookup read; `None` if it waits or read no texel.
    pub fn last_level(&self) -> Option<u32> {
        self.last_level
    }

    /// Number of lookups by the finest level that each read.
    pub fn level_counts(&self) -> &LevelCounts {
        &self.levels
    }

    /// Takes that number; counts are zero afterwards.
    pub fn take_level_counts(&mut self) -> LevelCounts {
        std::mem::take(&mut self.levels)
    }

    /// Records all requests from now on.
    pub fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// Takes the requests that were recorded, in their order.
    pub fn take_recorded(&mut self) -> Vec<TextureRequest> {
        self.recorded.take().unwrap_or_default()
    }

    /// Adds what it counted to the statistics of the cache, and drops its last tiles.
    pub fn flush(&mut self) {
        self.reader.flush();
        self.reader.release();
    }
}

impl Host for TextureHost {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let request = self.texture_request(request);
        match self.request(self.point, request) {
            Some(texel) => texel.into(),
            None => Sampled::Pending,
        }
    }

    fn at_point(&mut self, point: usize) {
        self.point = point;
    }
}

fn by_partials(
    source: &mut CacheSource<'_>,
    settings: &LookupSettings,
    wrap: [Wrap; 2],
    request: &TextureRequest,
) -> Result<Texel, TileMissing> {
    let footprint = match settings.ignores_partials {
        true => Footprint {
            uv: request.footprint.uv,
            ..Footprint::default()
        },
        false => request.footprint,
    };
    let footprint = DFootprint::from(footprint);
    let by = (settings.rule, settings.filter, settings.bias.into());
    filtered(source, by, wrap, &footprint, request)
}

/// The shader's own level: trilinear, or the nearest or one random texel if the filter is such.
fn at_level(
    source: &mut CacheSource<'_>,
    settings: &LookupSettings,
    wrap: [Wrap; 2],
    request: &TextureRequest,
    level: f32,
) -> Result<Texel, TileMissing> {
    let filter = match settings.filter {
        Filter::Nearest => Filter::Nearest,
        Filter::OneTap | Filter::OneTapEwa { .. } => Filter::OneTap,
        _ => Filter::Trilinear,
    };
    // Steps of one texel are level 0; the level is its bias.
    let [width, height] = source.size(0).map(f64::from);
    let [u, v] = request.footprint.uv.map(f64::from);
    let footprint = DFootprint {
        uv: DVec2::new(u, v),
        dx: DVec2::new(1.0 / width, 0.0),
        dy: DVec2::new(0.0, 1.0 / height),
    };
    let bias = f64::from(level) + f64::from(settings.bias);
    filtered(
        source,
        (LevelRule::GlIso, filter, bias),
        wrap,
        &footprint,
        request,
    )
}

/// The texel by a rule, a filter and a bias, with slopes if the request asks for them.
fn filtered(
    source: &mut CacheSource<'_>,
    (rule, filter, bias): (LevelRule, Filter, f64),
    wrap: [Wrap; 2],
    footprint: &DFootprint,
    request: &TextureRequest,
) -> Result<Texel, TileMissing> {
    let narrowed = |numbers: [f64; 4]| numbers.map(|number| number as f32);
    let random = request.random.into();
    Ok(match request.slopes {
        true => {
            let found = filter_slopes(source, rule, filter, wrap, footprint, bias, random)?;
            let slopes = TexelSlopes {
                u: narrowed(found.along_u),
                v: narrowed(found.along_v),
            };
            (narrowed(found.numbers), slopes).into()
        }
        false => {
            let found = filter_texels(source, rule, filter, wrap, footprint, bias, random)?;
            narrowed(found).into()
        }
    })
}

/// A number in [0, 1) by the seed of a point and by its request.
fn random(seed: u64, texture: Option<u32>, footprint: &Footprint) -> f32 {
    let Footprint { uv, dx, dy } = footprint;
    let words = uv.iter().chain(dx).chain(dy).map(|number| number.to_bits());
    let words = std::iter::once(texture.unwrap_or(u32::MAX)).chain(words);
    let hash = words.fold(mix(seed), |hash, word| {
        mix(hash.rotate_left(29) ^ u64::from(word))
    });
    (hash >> 40) as f32 / (1_u64 << 24) as f32
}

/// The finaliser of MurmurHash3 for 64 bits (Appleby, 2011), with an offset so that 0 is not 0.
fn mix(word: u64) -> u64 {
    let mut x = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_uniform_and_repeatable() {
        let number = |seed: u64, u: f32| {
            let footprint = Footprint {
                uv: [u, 0.25],
                ..Footprint::default()
            };
            random(seed, Some(3), &footprint)
        };
        assert_eq!(number(7, 0.5), number(7, 0.5));
        let mut counts = [0; 16];
        let mut sum = 0.0;
        for i in 0..16_000 {
            // Either only the seed changes, or only the last bits of a coordinate.
            let x = match i % 2 {
                0 => number(i, 0.5),
                _ => number(1, f32::from_bits(0.5_f32.to_bits() + i as u32)),
            };
            assert!((0.0..1.0).contains(&x));
            counts[(x * 16.0) as usize] += 1;
            sum += f64::from(x);
        }
        // Six standard deviations of a binomial of 16,000 and 1/16, and of the mean.
        assert!(counts.iter().all(|n| (816..1184).contains(n)), "{counts:?}");
        assert!((sum / 16_000.0 - 0.5).abs() < 0.014, "{sum}");
    }
}
