//! Results do not depend on budget, policy or threads; the budget is kept; statistics count.

use crate::support::{UNBOUNDED, bits, cache, ewa, scattered, textures};
use adumbra_render::texture::cache::{CacheSettings, DEFAULT_BUDGET, MissPolicy, TextureCache};
use adumbra_render::texture::host::{LookupSettings, TextureHost, TextureRequest, WaitingLookup};
use adumbra_render::texture::replay::{plain_requests, replay, write_requests};
use adumbra_render::texture::{Filter, Footprint, LevelRule, Wrap, lookup};
use std::time::Duration;

#[test]
fn budget_policy_and_threads_do_not_change_bits() {
    let textures = textures(24);
    let requests = scattered(3000, 24);
    for settings in [LookupSettings::default(), ewa()] {
        let whole = cache(&textures.files, UNBOUNDED, MissPolicy::Block);
        let expected = replay(&whole, &requests, &settings, 1);
        assert_eq!(expected.statistics.redundant_reads(), 0);
        // Beyond a black border no texel is read.
        let counted = expected.levels.iter().sum::<u64>();
        assert!((2000..3000).contains(&counted), "{counted}");
        // 1 byte, less than a lookup needs, about 1/10 of all tiles, and all.
        for budget in [1, 300 << 10, UNBOUNDED] {
            for policy in [MissPolicy::Park, MissPolicy::Block] {
                for threads in [1, 2, 8] {
                    let small = cache(&textures.files, budget, policy);
                    let report = replay(&small, &requests, &settings, threads);
                    let what = format!("{budget} {policy:?} {threads}");
                    assert!(bits(&report.colours) == bits(&expected.colours), "{what}");
                    assert_eq!(report.levels, expected.levels, "{what}");
                    let statistics = report.statistics;
                    assert_eq!(statistics.lookups, 3000, "{what}");
                    assert_eq!(statistics.unique_tiles, expected.statistics.unique_tiles);
                    let is_whole = budget == UNBOUNDED;
                    assert_eq!(statistics.redundant_reads() == 0, is_whole, "{what}");
                    assert_eq!(statistics.evictions == 0, is_whole, "{what}");
                    assert_eq!(statistics.parked > 0, policy == MissPolicy::Park, "{what}");
                    assert_eq!(report.diagnostics, []);
                }
            }
        }
    }
}

#[test]
fn lookups_equal_those_of_whole_textures() {
    let textures = textures(8);
    let tiled = cache(&textures.files, 100 << 10, MissPolicy::Park);
    let requests = scattered(2000, 8);
    let filters = [
        Filter::Trilinear,
        Filter::Nearest,
        Filter::OneTap,
        Filter::Anisotropic { max_anisotropy: 16 },
    ];
    for filter in filters {
        for wrap in [None, Some(Wrap::Mirror)] {
            let settings = LookupSettings {
                filter,
                wrap,
                bias: 0.5,
                ..LookupSettings::default()
            };
            let report = replay(&tiled, &requests, &settings, 2);
            for (request, colour) in requests.iter().zip(&report.colours) {
                let index = request.texture.unwrap() as usize;
                if request.level.is_some() {
                    continue;
                }
                let wrap = wrap.unwrap_or(Wrap::ALL[index % 4]);
                let (rule, random) = (LevelRule::default(), request.random);
                let mut pyramid = &textures.pyramids[index];
                let footprint = &request.footprint;
                let expected = lookup(&mut pyramid, rule, filter, wrap, footprint, 0.5, random);
                let expected = expected.unwrap().map(f32::to_bits);
                assert_eq!(colour.map(f32::to_bits), expected);
            }
        }
    }
}

#[test]
fn explicit_levels_are_read_exactly() {
    let textures = textures(4);
    let cache = cache(&textures.files, DEFAULT_BUDGET, MissPolicy::Block);
    for (index, pyramid) in textures.pyramids.iter().enumerate() {
        let mut host = TextureHost::new(cache.clone(), LookupSettings::default());
        for (level, image) in pyramid.levels().iter().enumerate() {
            let (width, height) = (image.size().width(), image.size().height());
            let (x, y) = (width / 2, height / 3);
            let middle = |at: u32, side: u32| (at as f32 + 0.5) / side as f32;
            let request = TextureRequest {
                texture: Some(index as u32),
                footprint: Footprint {
                    uv: [middle(x, width), middle(y, height)],
                    ..Footprint::default()
                },
                level: Some(level as f32),
                random: 0.5,
                slopes: false,
            };
            let colour = host.request(0, request).unwrap();
            assert_eq!(host.last_level(), Some(level as u32));
            let texel = image.pixels()[(y * width + x) as usize];
            for (channel, expected) in colour.numbers.iter().zip(texel) {
                // The middle of a texel is rounded to f32.
                assert!((channel - expected).abs() < 1e-4, "{index} {level}");
            }
        }
        let levels = pyramid.levels().len();
        assert_eq!(host.level_counts()[..levels], vec![1; levels]);
    }
}

#[test]
fn eviction_keeps_to_the_budget() {
    let textures = textures(24);
    let requests = scattered(3000, 24);
    let settings = LookupSettings {
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let whole = cache(&textures.files, UNBOUNDED, MissPolicy::Park);
    let expected = replay(&whole, &requests, &settings, 2);
    // A whole tile has up to 64 KiB; a thread keeps up to 16.
    let budget = 40 << 16;
    assert!(
        expected.statistics.peak_bytes > 2 * budget,
        "{:?}",
        expected.statistics
    );
    for (policy, threads) in [
        (MissPolicy::Park, 2),
        (MissPolicy::Block, 2),
        (MissPolicy::Block, 1),
    ] {
        let small = cache(&textures.files, budget, policy);
        let statistics = replay(&small, &requests, &settings, threads).statistics;
        assert!(statistics.peak_bytes <= budget, "{statistics:?}");
        assert!(statistics.bytes <= statistics.peak_bytes && statistics.bytes > budget / 2);
        assert!(statistics.evictions > 0, "{statistics:?}");
        assert_eq!(statistics.over_budget, 0);
    }
}

#[test]
fn pinned_tiles_alone_exceed_the_budget() {
    let textures = textures(24);
    let requests = scattered(2000, 24);
    for policy in [MissPolicy::Park, MissPolicy::Block] {
        let tiny = cache(&textures.files, 1, policy);
        let statistics = replay(&tiny, &requests, &LookupSettings::default(), 2).statistics;
        assert!(statistics.over_budget > 0);
        // Two threads with 16 tiles each, what they read, and what loader threads read.
        assert!(statistics.peak_bytes <= 48 * (65 << 10), "{statistics:?}");
        // Nothing is left but the last tile, which nothing had to make place for.
        assert!(statistics.bytes <= 16 * (65 << 10), "{statistics:?}");
    }
}

#[test]
fn derivatives_load_fewer_tiles() {
    let textures = textures(24);
    let requests = plain_requests([320, 240], 24);
    let settings = LookupSettings::default();
    let with = cache(&textures.files, UNBOUNDED, MissPolicy::Park);
    let with = replay(&with, &requests, &settings, 2).statistics;
    let without = LookupSettings {
        ignores_partials: true,
        ..settings
    };
    let finest = cache(&textures.files, UNBOUNDED, MissPolicy::Park);
    let report = replay(&finest, &requests, &without, 2);
    assert_eq!(report.levels[0], requests.len() as u64);
    assert!(with.unique_tiles > 0 && with.bytes_loaded < report.statistics.bytes_loaded);
    let mut written = Vec::new();
    write_requests(&requests, &mut written).unwrap();
    let lines = String::from_utf8(written).unwrap();
    assert_eq!(lines.lines().count(), requests.len());
    let numbers = lines.lines().last().unwrap().split(' ').skip(1);
    let numbers: Vec<f32> = numbers.map(|number| number.parse().unwrap()).collect();
    let Footprint { uv, dx, dy } = requests[requests.len() - 1].footprint;
    assert_eq!(numbers, [uv, dx, dy].concat());
}

#[test]
fn waiting_lookups_keep_within_the_budget() {
    let textures = textures(8);
    let budget = 1 << 20;
    let settings = LookupSettings {
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let requests = scattered(600, 8);
    let blocking = cache(&textures.files, budget, MissPolicy::Block);
    let expected = replay(&blocking, &requests, &settings, 1);
    let cache = cache(&textures.files, budget, MissPolicy::Park);
    let mut host = TextureHost::new(cache.clone(), settings);
    assert!(!cache.is_saturated());
    for (point, request) in requests.iter().enumerate() {
        host.request(point, *request);
    }
    // The tiles of these lookups are several times the budget. However soon they are read, half of
    // the lookups wait: 306 of them if each read ends before the next request.
    let mut waiting = host.take_waiting();
    assert!(cache.is_saturated() && waiting.len() > 300);
    waiting.sort_by_key(WaitingLookup::tile_order);
    while !waiting.is_empty() {
        let before = waiting.len();
        waiting.retain_mut(|lookup| match host.answer(lookup) {
            Some(colour) => {
                assert_eq!(colour.numbers, expected.colours[lookup.point]);
                false
            }
            None => true,
        });
        if waiting.len() == before {
            host.wait();
        }
    }
    drop(host);
    assert!(!cache.is_saturated());
    let statistics = cache.statistics();
    assert!(statistics.peak_bytes <= budget, "{statistics:?}");
    assert_eq!(statistics.over_budget, 0);
    // In the order of tiles nearly each is read once; in that of requests they are read again.
    let read = [statistics.tiles_read, expected.statistics.tiles_read];
    assert!(read[0] < read[1], "{read:?}");
    assert!(
        statistics.redundant_reads() < statistics.unique_tiles / 4,
        "{statistics:?}"
    );
}

#[test]
fn starved_threads_read_tiles_themselves() {
    let textures = textures(2);
    let tiny = cache(&textures.files, 1, MissPolicy::Park);
    let mut hosts = [0, 1].map(|_| TextureHost::new(tiny.clone(), LookupSettings::default()));
    let requests = scattered(40, 1);
    let mut waiting = Vec::new();
    for (host, request) in hosts.iter_mut().zip(&requests) {
        host.request(0, *request);
        waiting.extend(host.take_waiting());
    }
    let [held, starved] = &mut waiting[..] else {
        panic!("both wait: {waiting:?}");
    };
    // The tile of the first is read and not yet used, so none is read for the second.
    hosts[0].wait();
    assert!(held.is_over() && hosts[1].answer(starved).is_none());
    hosts[1].wait();
    hosts[1].wait();
    assert!(hosts[1].answer(starved).is_some());
    assert!(hosts[0].answer(held).is_some());
}

#[test]
fn reads_are_dropped_with_the_cache() {
    let textures = textures(8);
    let slow = TextureCache::new(CacheSettings {
        loader_threads: 1,
        disk_latency: Duration::from_millis(1),
        ..CacheSettings::default()
    });
    for file in &textures.files {
        slow.add(file, None);
    }
    let mut host = TextureHost::new(slow.clone(), LookupSettings::default());
    for request in scattered(300, 8) {
        host.request(0, request);
    }
    let waiting = host.take_waiting();
    assert!(!waiting.is_empty() && host.take_waiting().is_empty());
    drop(host);
    drop(slow);
    // Most of them are never read; nothing hangs.
    assert!(waiting.iter().any(|lookup| !lookup.is_over()));
}
