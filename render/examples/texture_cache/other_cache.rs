//! Requests that were recorded, replayed by this cache and by that of OpenImageIO.

use crate::drawing::DerivativeKind;
use crate::{Fallible, megabytes};
use adumbra_render::texture::cache::{CacheSettings, MissPolicy, TextureCache};
use adumbra_render::texture::host::TextureRequest;
use adumbra_render::texture::replay::{replay, write_requests};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script that replays requests into OpenImageIO.
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/experiments/replay_openimageio.py"
);

/// What a cache did.
#[derive(Debug)]
pub(crate) struct CacheRow {
    name: &'static str,
    unique_tiles: u64,
    redundant_reads: u64,
    peak_bytes: u64,
}

/// Writes requests; without derivatives their partials are zero.
pub(crate) fn write_stream(
    file: &Path,
    derivatives: DerivativeKind,
    mut requests: Vec<TextureRequest>,
) -> Fallible<()> {
    if derivatives == DerivativeKind::None {
        for request in &mut requests {
            request.footprint.dx = [0.0; 2];
            request.footprint.dy = [0.0; 2];
        }
    }
    Ok(write_requests(
        &requests,
        BufWriter::new(File::create(file)?),
    )?)
}

/// Replays by this cache: blocking, and parking by one thread and by eight.
pub(crate) fn ours(
    files: &[PathBuf],
    requests: &[TextureRequest],
    derivatives: DerivativeKind,
    budget: u64,
) -> Vec<CacheRow> {
    let ways = [
        ("blocking", MissPolicy::Block, 1),
        ("parking", MissPolicy::Park, 1),
        ("parking, 8 threads", MissPolicy::Park, 8),
    ];
    let rows = ways.map(|(name, policy, threads)| {
        let cache = TextureCache::new(CacheSettings {
            budget,
            policy,
            ..CacheSettings::default()
        });
        for file in files {
            cache.add(file, None);
        }
        let report = replay(&cache, requests, &derivatives.lookup(), threads);
        CacheRow {
            name,
            unique_tiles: report.statistics.unique_tiles,
            redundant_reads: report.statistics.redundant_reads(),
            peak_bytes: report.statistics.peak_bytes,
        }
    });
    rows.into()
}

/// Replays by OpenImageIO.
pub(crate) fn openimageio(
    python: &Path,
    stream: &Path,
    megabytes: u32,
    files: &[PathBuf],
) -> Fallible<CacheRow> {
    let output = Command::new(python)
        .args([SCRIPT, "--numbers"])
        .arg(stream)
        .arg(megabytes.to_string())
        .args(files)
        .output()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
    match (output.status.success(), &numbers[..]) {
        (true, &[unique_tiles, redundant_reads, peak_bytes]) => Ok(CacheRow {
            name: "OpenImageIO",
            unique_tiles,
            redundant_reads,
            peak_bytes,
        }),
        _ => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// Prints a table.
pub(crate) fn print(ours: &[CacheRow], theirs: &CacheRow) {
    println!("cache               different tiles  read again  most MB");
    for row in ours.iter().chain([theirs]) {
        let most = megabytes(row.peak_bytes);
        println!(
            "{:<20} {:>14} {:>11} {most:>8.2}",
            row.name, row.unique_tiles, row.redundant_reads
        );
    }
}
