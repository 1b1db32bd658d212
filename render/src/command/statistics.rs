//! What `--stats` prints.

use crate::shading::PhaseTimes;
use crate::texture::cache::CacheStatistics;
use std::time::Duration;

/// Prints what was read of textures, and the bytes of the environment's image.
pub(crate) fn print_statistics(statistics: &CacheStatistics, environment: usize) {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "textures    {} lookups, {} waited",
        statistics.lookups, statistics.parked
    );
    println!(
        "tiles       {} read, {} different, {} again",
        statistics.tiles_read,
        statistics.unique_tiles,
        statistics.redundant_reads()
    );
    println!(
        "tile bytes  {:.1} MB read, {:.1} MB loaded",
        megabytes(statistics.bytes_read),
        megabytes(statistics.bytes_loaded)
    );
    println!(
        "memory      {:.1} MB of tiles at most, {:.1} MB of textures besides, {:.1} MB of environment",
        megabytes(statistics.peak_bytes),
        megabytes(statistics.resident_bytes),
        megabytes(environment as u64)
    );
}

/// The share of each part in the time of all threads.
pub(crate) fn print_times(times: &PhaseTimes) {
    let total = times.total().as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |part: Duration| 100.0 * part.as_secs_f64() / total;
    println!(
        "time        {:.0} % intersection, {:.0} % shading, {:.0} % textures, {:.0} % other",
        share(times.intersection),
        share(times.shading),
        share(times.textures),
        share(times.other)
    );
}
