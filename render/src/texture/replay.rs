//! Request streams replayed through a cache: the experiment with and without derivatives.
//!
//! A stream is recorded by [`TextureHost::record`], or made by [`plain_requests`]. The same stream
//! can be written for other caches by [`write_requests`].

use super::Footprint;
use super::cache::{CacheStatistics, TextureCache, TextureDiagnostic};
use super::host::WaitingLookup;
use super::host::{COUNTED_LEVELS, LevelCounts, LookupSettings, TextureHost, TextureRequest};
use glam::DVec2;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Successive requests that one thread takes.
const RUN: usize = 256;
/// Most lookups of a thread that wait at once.
const MAX_WAITING: usize = 4096;

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    /// The answers, in the order of the requests.
    pub colours: Vec<[f32; 4]>,
    /// Number of lookups by the finest level that each read.
    pub levels: LevelCounts,
    /// The statistics of the cache, with what was before.
    pub statistics: CacheStatistics,
    /// What failed.
    pub diagnostics: Vec<TextureDiagnostic>,
}

/// Replays a stream by a number of threads, 1 at least; each takes runs of requests as it comes.
///
/// A lookup that misses waits, and its thread goes on with others, if that is the policy of the
/// cache. Answers are the same for any number of threads.
pub fn replay(
    cache: &Arc<TextureCache>,
    requests: &[TextureRequest],
    settings: &LookupSettings,
    threads: usize,
) -> ReplayReport {
    let mut colours = vec![[0.0; 4]; requests.len()];
    let mut levels = [0; COUNTED_LEVELS];
    let runs = Mutex::new(requests.chunks(RUN).zip(colours.chunks_mut(RUN)));
    let next = || runs.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        let worker = || scope.spawn(|| replay_runs(cache.clone(), *settings, next));
        let workers: Vec<_> = (0..threads.max(1)).map(|_| worker()).collect();
        for worker in workers {
            match worker.join() {
                Ok(counts) => levels.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    ReplayReport {
        colours,
        levels,
        statistics: cache.statistics(),
        diagnostics: cache.diagnostics(),
    }
}

/// Requests, and where their answers go.
type Run<'a> = (&'a [TextureRequest], &'a mut [[f32; 4]]);

/// Answers the runs that one thread takes.
fn replay_runs<'a>(
    cache: Arc<TextureCache>,
    settings: LookupSettings,
    next: impl Fn() -> Option<Run<'a>>,
) -> LevelCounts {
    let mut host = TextureHost::new(cache, settings);
    let mut waiting: Vec<WaitingLookup> = Vec::new();
    let mut answers = Vec::new();
    while let Some((requests, colours)) = next() {
        let first = answers.len() * RUN;
        answers.push(colours);
        for (index, request) in requests.iter().enumerate() {
            match host.request(first + index, *request) {
                Some(texel) => answers[first / RUN][index] = texel.numbers,
                None => waiting.append(&mut host.take_waiting()),
            }
            if waiting.len() >= MAX_WAITING {
                answer_some(&mut host, &mut waiting, &mut answers);
            }
        }
    }
    while !waiting.is_empty() {
        answer_some(&mut host, &mut waiting, &mut answers);
    }
    *host.level_counts()
}

/// Answers at least one lookup that waits.
fn answer_some(
    host: &mut TextureHost,
    waiting: &mut Vec<WaitingLookup>,
    answers: &mut [&mut [[f32; 4]]],
) {
    let before = waiting.len();
    waiting.sort_by_key(WaitingLookup::tile_order);
    loop {
        waiting.retain_mut(|lookup| match host.answer(lookup) {
            Some(texel) => {
                answers[lookup.point / RUN][lookup.point % RUN] = texel.numbers;
                false
            }
            None => true,
        });
        if waiting.len() < before {
            return;
        }
        host.wait();
    }
}

/// Writes a stream for other programs: a line for each request with the texture's index, u, v,
/// ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y. Requests of no texture and those of an explicit level are left out.
///
/// # Errors
/// If it cannot be written.
pub fn write_requests(requests: &[TextureRequest], mut out: impl Write) -> io::Result<()> {
    for request in requests {
        let (Some(texture), None) = (request.texture, request.level) else {
            continue;
        };
        let Footprint { uv, dx, dy } = request.footprint;
        write!(out, "{texture}")?;
        for number in [uv, dx, dy].concat() {
            write!(out, " {number:e}")?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// The requests of a camera over a plain that is tiled by textures, with exact partials.
///
/// The camera is 1 above the plain and looks towards the horizon, a quarter of the image from the
/// top; a texture is 4 wide. Requests come in buckets of 16×16 pixels, as renderers make them.
pub fn plain_requests(size: [u32; 2], textures: u32) -> Vec<TextureRequest> {
    /// Width of a bucket in pixels.
    const BUCKET: u32 = 16;
    /// Width of a texture on the plain.
    const SPAN: f64 = 4.0;
    let [width, height] = size;
    let textures = textures.max(1);
    let scale = 1.0 / f64::from(width.max(1));
    let horizon = 0.25 * f64::from(height);
    let mut requests = Vec::new();
    for bucket in 0..width.div_ceil(BUCKET) * height.div_ceil(BUCKET) {
        let columns = width.div_ceil(BUCKET);
        let (left, top) = (bucket % columns * BUCKET, bucket / columns * BUCKET);
        for y in top..height.min(top + BUCKET) {
            for x in left..width.min(left + BUCKET) {
                // The ray (a, −b, 1) meets the plain at (a, 1)/b.
                let a = (f64::from(x) + 0.5 - 0.5 * f64::from(width)) * scale;
                let b = (f64::from(y) + 0.5 - horizon) * scale;
                if b <= 0.0 {
                    continue;
                }
                let at = DVec2::new(a, 1.0) / b / SPAN;
                let dx = DVec2::new(scale / b, 0.0) / SPAN;
                let dy = DVec2::new(a, 1.0) * (-scale / (b * b)) / SPAN;
                let whole = at.floor();
                let number = whole.x + 7.0 * whole.y;
                let texture = number.rem_euclid(f64::from(textures)) as u32;
                let narrow = |v: DVec2| [v.x as f32, v.y as f32];
                requests.push(TextureRequest {
                    texture: Some(texture),
                    footprint: Footprint {
                        uv: narrow(at - whole),
                        dx: narrow(dx),
                        dy: narrow(dy),
                    },
                    level: None,
                    random: 0.5,
                    slopes: false,
                });
            }
        }
    }
    requests
}
