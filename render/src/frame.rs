//! A whole image: tiles of pixels that threads take one after the other.

use crate::shading::{
    ClosureTable, ImageTile, MaterialFaults, MaterialShader, PathScene, PathSettings, PhaseTimes,
    ShadingEngine, ShadingError, TextureAccess, WaveShader, trace_tile,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The side of a tile in pixels.
pub const TILE_SIDE: u32 = 32;

/// All that threads share to draw an image.
#[derive(Clone, Copy, Debug)]
pub struct FrameJob<'a> {
    /// Geometry and light.
    pub scene: PathScene<'a>,
    /// The paths of each pixel.
    pub settings: PathSettings,
    /// The materials, by the indices of instances.
    pub shaders: &'a [MaterialShader],
    /// The closures that they are made of.
    pub table: &'a ClosureTable,
    /// What evaluates them.
    pub engine: ShadingEngine,
    /// The time of the image, in seconds, for shaders that read it.
    pub time: f32,
    /// Threads, at least one.
    pub threads: usize,
    /// Ends the work after the tiles that are begun, once it is set.
    pub stop: &'a AtomicBool,
}

/// The tiles of an image, row by row.
pub fn tiles(size: [u32; 2]) -> Vec<ImageTile> {
    let side = TILE_SIDE as usize;
    let rows = (0..size[1]).step_by(side);
    let tile = |x: u32, y: u32| ImageTile {
        x,
        y,
        width: TILE_SIDE.min(size[0] - x),
        height: TILE_SIDE.min(size[1] - y),
    };
    rows.flat_map(|y| (0..size[0]).step_by(side).map(move |x| tile(x, y)))
        .collect()
}

/// What is known of drawn tiles beside their pixels.
#[derive(Clone, Debug, Default)]
pub struct FrameReport {
    /// Where the time of all threads went.
    pub times: PhaseTimes,
    /// What went wrong at points.
    pub faults: MaterialFaults,
}

/// Draws the tiles. `textures` makes each thread's access to textures; `finished` gets each tile's
/// pixels, row by row, and the access, in whatever order tiles are finished.
///
/// # Errors
/// If a material cannot be evaluated here; tiles that were finished before were passed on.
pub fn draw_tiles<T: TextureAccess>(
    job: &FrameJob<'_>,
    tiles: &[ImageTile],
    textures: impl Fn() -> T + Sync,
    finished: impl FnMut(ImageTile, &[[f32; 4]], &mut T) + Send,
) -> Result<FrameReport, ShadingError> {
    let next = AtomicUsize::new(0);
    let finished = Mutex::new(finished);
    let work = || -> Result<FrameReport, ShadingError> {
        let mut access = textures();
        let mut shader = WaveShader::new(job.shaders, job.table, job.engine).at_time(job.time);
        while !job.stop.load(Ordering::Relaxed) {
            let Some(&tile) = tiles.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            let pixels = trace_tile(&job.scene, &job.settings, tile, &mut shader, &mut access)?;
            let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
            finished(tile, &pixels, &mut access);
        }
        Ok(FrameReport {
            times: shader.times(),
            faults: shader.faults().clone(),
        })
    };
    let count = job.threads.clamp(1, tiles.len().max(1));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        let results = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let results: Vec<_> = results.collect();
        let reports: Vec<FrameReport> = results.into_iter().collect::<Result<_, _>>()?;
        let mut all = FrameReport {
            times: reports.iter().map(|report| report.times).sum(),
            ..FrameReport::default()
        };
        reports
            .into_iter()
            .for_each(|report| all.faults.merge(report.faults));
        Ok(all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_each_pixel_once() {
        for size in [[1, 1], [32, 33], [100, 70], [0, 5]] {
            let mut seen = vec![0; (size[0] * size[1]) as usize];
            for [x, y] in tiles(size).into_iter().flat_map(ImageTile::pixels) {
                seen[(y * size[0] + x) as usize] += 1;
            }
            assert!(seen.iter().all(|count| *count == 1), "{size:?}");
        }
    }
}
