//! Parking and blocking on a disk that takes milliseconds for each tile.

use crate::Fallible;
use crate::drawing::{DerivativeKind, HallDrawing, draw};
use adumbra_render::scene::Scene;
use adumbra_render::texture::cache::{CacheSettings, MissPolicy};
use std::time::Duration;

/// Draws the scene by both policies and several threads; images with the same derivatives must have
/// the same bits.
pub(crate) fn compare(scene: &Scene, budget: u64, latency: Duration) -> Fallible<()> {
    println!("derivatives  threads  tiles  blocking s  parking s  times as fast");
    for derivatives in [DerivativeKind::Dual, DerivativeKind::None] {
        let mut expected = None;
        for threads in [1, 2, 8] {
            let mut draw_by = |policy| -> Fallible<_> {
                let drawn = draw(
                    scene,
                    &HallDrawing {
                        derivatives,
                        cache: CacheSettings {
                            budget,
                            policy,
                            disk_latency: latency,
                            loader_threads: 32,
                        },
                        threads,
                        records: false,
                    },
                )?;
                let bits = drawn.bits();
                match *expected.get_or_insert_with(|| bits.clone()) == bits {
                    true => Ok((drawn.time.as_secs_f64(), drawn.statistics.tiles_read)),
                    false => Err(format!("{policy:?} by {threads} threads changed the image")),
                }
                .map_err(Into::into)
            };
            let (blocking, _) = draw_by(MissPolicy::Block)?;
            let (parking, tiles) = draw_by(MissPolicy::Park)?;
            let times = blocking / parking;
            println!(
                "{:<11} {threads:>8} {tiles:>6} {blocking:>11.2} {parking:>10.2} {times:>14.1}",
                derivatives.name()
            );
        }
    }
    println!("images with the same derivatives have the same bits");
    Ok(())
}
