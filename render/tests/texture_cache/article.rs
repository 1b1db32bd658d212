//! The cache experiment of the article in small: derivatives load a fraction of the bytes, and no
//! budget changes a bit. The example `texture_cache` is the large one.

use crate::support::{UNBOUNDED, bits, cache, noise};
use adumbra_render::texture::cache::MissPolicy;
use adumbra_render::texture::host::LookupSettings;
use adumbra_render::texture::replay::{plain_requests, replay};
use adumbra_render::texture::{TiledOptions, write_tiled};
use std::fs::File;

#[test]
fn derivatives_load_ten_times_fewer_bytes_with_any_budget() {
    // Four grey textures: 11 MB of tiles.
    let folder = tempfile::tempdir().unwrap();
    let file = |index: u64| folder.path().join(format!("{index}.exr"));
    for index in 0..4 {
        let image = noise(1024, 1024, 1, index);
        let out = File::create(file(index)).unwrap();
        write_tiled(image, &TiledOptions::default(), out).unwrap();
    }
    let files: Vec<_> = (0..4).map(file).collect();
    let requests = plain_requests([240, 136], 4);
    let mut loaded = Vec::new();
    for ignores_partials in [false, true] {
        let settings = LookupSettings {
            ignores_partials,
            ..LookupSettings::default()
        };
        let whole = cache(&files, UNBOUNDED, MissPolicy::Park);
        let expected = replay(&whole, &requests, &settings, 2);
        let statistics = expected.statistics;
        assert_eq!(statistics.redundant_reads(), 0);
        loaded.push(statistics.bytes_loaded);
        for (budget, threads) in [(50 << 10, 2), (256 << 10, 1), (1 << 20, 2), (1 << 20, 8)] {
            let small = cache(&files, budget, MissPolicy::Park);
            let report = replay(&small, &requests, &settings, threads);
            assert!(bits(&report.colours) == bits(&expected.colours), "{budget}");
            assert_eq!(report.levels, expected.levels, "{budget}");
            assert_eq!(report.statistics.unique_tiles, statistics.unique_tiles);
            assert!(report.statistics.bytes_loaded >= statistics.bytes_loaded);
        }
    }
    // What is read more than once counts once here; within a budget the ratio is greater.
    assert!(loaded[1] >= 10 * loaded[0] && loaded[0] > 0, "{loaded:?}");
}
