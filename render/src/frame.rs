//! An image, or a region of it: tiles of pixels that threads take one after the other. A pixel's
//! result depends on no tile.

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

/// The tiles of a rectangle of pixels, row by row, from its upper left corner on.
pub fn tiles(all: ImageTile) -> Vec<ImageTile> {
    let side = TILE_SIDE as usize;
    let [right, bottom] = [all.x + all.width, all.y + all.height];
    let tile = |x: u32, y: u32| ImageTile {
        x,
        y,
        width: TILE_SIDE.min(right - x),
        height: TILE_SIDE.min(bottom - y),
    };
    let rows = (all.y..bottom).step_by(side);
    rows.flat_map(|y| (all.x..right).step_by(side).map(move |x| tile(x, y)))
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
    let finished = Mutex::new(finished);
    let reports = share_tiles(job, tiles, |next| {
        let mut access = textures();
        let mut shader = WaveShader::new(job.shaders, job.table, job.engine).at_time(job.time);
        while let Some(tile) = next() {
            let pixels = trace_tile(&job.scene, &job.settings, tile, &mut shader, &mut access)?;
            let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
            finished(tile, &pixels, &mut access);
        }
        Ok(FrameReport {
            times: shader.times(),
            faults: shader.faults().clone(),
        })
    });
    let reports: Vec<FrameReport> = reports.into_iter().collect::<Result<_, ShadingError>>()?;
    let mut all = FrameReport {
        times: reports.iter().map(|report| report.times).sum(),
        ..FrameReport::default()
    };
    reports
        .into_iter()
        .for_each(|report| all.faults.merge(report.faults));
    Ok(all)
}

/// Has threads take tiles one after the other until none is left, or the job is stopped. `work`
/// gets what takes the next one; its results come in no order.
pub(crate) fn share_tiles<R: Send>(
    job: &FrameJob<'_>,
    tiles: &[ImageTile],
    work: impl Fn(&dyn Fn() -> Option<ImageTile>) -> R + Sync,
) -> Vec<R> {
    let taken = AtomicUsize::new(0);
    let next = || {
        let is_stopped = job.stop.load(Ordering::Relaxed);
        let next = || tiles.get(taken.fetch_add(1, Ordering::Relaxed)).copied();
        (!is_stopped).then(next).flatten()
    };
    let count = job.threads.clamp(1, tiles.len().max(1));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(|| work(&next))).collect();
        let results = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_each_pixel_once() {
        let region = ImageTile {
            x: 31,
            y: 7,
            width: 66,
            height: 33,
        };
        for all in [[1, 1], [32, 33], [100, 70], [0, 5]]
            .map(ImageTile::whole)
            .into_iter()
            .chain([region])
        {
            let mut tiled: Vec<_> = tiles(all).into_iter().flat_map(ImageTile::pixels).collect();
            tiled.sort_by_key(|[x, y]| [*y, *x]);
            assert_eq!(tiled, all.pixels().collect::<Vec<_>>());
        }
    }
}
