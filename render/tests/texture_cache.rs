//! The texture cache: results do not depend on budget, policy or threads; the budget is kept;
//! files that cannot be read give a colour and a diagnostic.

mod texture_files;

use adumbra::batch::{BatchEvaluator, BatchGlobals, Part};
use adumbra::{Compiler, Evaluator, GlobalsLayout, Instance, Outcome, Sources, Type};
use adumbra_image::MipPyramid;
use adumbra_render::texture::cache::{
    CacheSettings, DEFAULT_BUDGET, ERROR_COLOUR, MissPolicy, TextureCache,
};
use adumbra_render::texture::host::{LookupSettings, TextureHost, TextureRequest};
use adumbra_render::texture::replay::{plain_requests, replay, write_requests};
use adumbra_render::texture::{
    EwaWeights, Filter, Footprint, LevelRule, SampleFormat, TiledFile, TiledOptions, Wrap, lookup,
    write_tiled,
};
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use texture_files::noise;

const UNBOUNDED: u64 = u64::MAX / 2;

/// Tiled textures of several sizes and formats in a folder.
struct Textures {
    _folder: TempDir,
    files: Vec<PathBuf>,
    pyramids: Vec<MipPyramid>,
}

fn textures(count: usize) -> Textures {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut pyramids = Vec::new();
    for index in 0..count {
        let [width, height] = [[256, 256], [200, 144], [300, 65], [64, 190]][index % 4];
        let channels = [4, 3, 1][index % 3];
        let image = noise(width, height, channels, index as u64);
        let options = TiledOptions {
            format: SampleFormat::Float,
            wrap: Wrap::ALL[index % 4],
            ..TiledOptions::default()
        };
        let file = folder.path().join(format!("{index}.exr"));
        write_tiled(image.clone(), &options, File::create(&file).unwrap()).unwrap();
        files.push(file);
        pyramids.push(MipPyramid::new(image));
    }
    Textures {
        _folder: folder,
        files,
        pyramids,
    }
}

fn cache(files: &[PathBuf], budget: u64, policy: MissPolicy) -> Arc<TextureCache> {
    let cache = TextureCache::new(CacheSettings {
        budget,
        policy,
        loader_threads: 4,
        disk_latency: Duration::ZERO,
    });
    for (index, file) in files.iter().enumerate() {
        assert_eq!(cache.add(file, None), index);
    }
    cache
}

/// Requests without order, of all sizes of footprints.
fn scattered(count: usize, textures: usize) -> Vec<TextureRequest> {
    let mut rng = fastrand::Rng::with_seed(24);
    let number = |rng: &mut fastrand::Rng, scale: f32| scale * (2.0 * rng.f32() - 1.0);
    (0..count)
        .map(|_| {
            let scale = 0.5_f32.powi(rng.i32(1..9));
            let rng = &mut rng;
            TextureRequest {
                texture: Some(rng.u32(0..textures as u32)),
                footprint: Footprint {
                    uv: [number(rng, 2.0), number(rng, 2.0)],
                    dx: [number(rng, scale), number(rng, scale)],
                    dy: [number(rng, scale), number(rng, scale)],
                },
                level: rng.bool().then(|| 6.0 * rng.f32()).filter(|_| rng.bool()),
                random: rng.f32(),
            }
        })
        .collect()
}

fn bits(colours: &[[f32; 4]]) -> Vec<[u32; 4]> {
    colours.iter().map(|c| c.map(f32::to_bits)).collect()
}

fn ewa() -> LookupSettings {
    LookupSettings {
        filter: Filter::Ewa {
            max_anisotropy: 8,
            weights: EwaWeights::Exact,
        },
        ..LookupSettings::default()
    }
}

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
            };
            let colour = host.request(0, request).unwrap();
            assert_eq!(host.last_level(), Some(level as u32));
            let texel = image.pixels()[(y * width + x) as usize];
            for (channel, expected) in colour.iter().zip(texel) {
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
fn used_tiles_stay_in_memory() {
    // One texture of a tile is used between all others: it gets a second chance each time.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.exr");
    let options = TiledOptions {
        format: SampleFormat::Float,
        ..TiledOptions::default()
    };
    let image = noise(64 * 40, 64, 4, 1);
    write_tiled(image, &options, File::create(&file).unwrap()).unwrap();
    let cache = cache(&[file], 20 * (65 << 10), MissPolicy::Block);
    let settings = LookupSettings {
        filter: Filter::Nearest,
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let mut host = TextureHost::new(cache.clone(), settings);
    let mut read = |tile: usize| {
        let request = TextureRequest {
            texture: Some(0),
            footprint: Footprint {
                uv: [(tile as f32 + 0.5) / 40.0, 0.5],
                ..Footprint::default()
            },
            level: None,
            random: 0.0,
        };
        host.request(0, request).unwrap();
        // Without its last tiles the thread asks the cache each time.
        host.flush();
    };
    for tile in 1..40 {
        read(0);
        read(tile);
    }
    read(0);
    let statistics = cache.statistics();
    // The hand's first round may drop it once.
    assert!((40..=41).contains(&statistics.tiles_read), "{statistics:?}");
    assert_eq!(
        (statistics.unique_tiles, statistics.misses),
        (40, statistics.tiles_read)
    );
    assert_eq!(statistics.hits + statistics.misses, 79);
    assert!(statistics.evictions >= 20 && statistics.over_budget == 0);
    // What was dropped is read again, and that counts: 20 tiles of 39 are in memory.
    let before = statistics.redundant_reads();
    (1..40).for_each(&mut read);
    assert!(cache.statistics().redundant_reads() >= before + 19);
}

#[test]
fn unreadable_files_have_a_colour_and_a_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let options = TiledOptions {
        format: SampleFormat::Float,
        ..TiledOptions::default()
    };
    let mut bytes = std::io::Cursor::new(Vec::new());
    write_tiled(noise(256, 256, 3, 5), &options, &mut bytes).unwrap();
    let good = bytes.into_inner();
    fs::write(path("good.exr"), &good).unwrap();
    // The last tiles are those of coarse levels.
    fs::write(path("cut.exr"), &good[..good.len() - 2000]).unwrap();
    fs::write(path("head.exr"), &good[..100]).unwrap();
    let mut damaged = good.clone();
    let middle = good.len() / 2;
    damaged[middle..middle + 40_000].fill(0x55);
    fs::write(path("damaged.exr"), &damaged).unwrap();
    fs::write(path("text.png"), "not an image").unwrap();
    fs::create_dir(path("folder")).unwrap();
    let names = [
        "good.exr",
        "cut.exr",
        "head.exr",
        "damaged.exr",
        "text.png",
        "missing.exr",
        "folder",
    ];
    let files: Vec<PathBuf> = names.iter().map(|name| path(name)).collect();
    let requests = scattered(4000, names.len() + 1);
    let tiled = TiledFile::open(&files[3]).unwrap();
    let mut file = File::open(&files[3]).unwrap();
    let tiles = (0..16).map(|tile| tiled.read_tile(&mut file, 0, tile % 4, tile / 4));
    let failures: Vec<String> = tiles
        .filter_map(|read| Some(read.err()?.to_string()))
        .collect();
    assert!(failures.len() > 1 && failures[0].contains("damaged.exr: tile"));
    let first_failure = failures[0].clone();
    let mut first: Option<(Vec<[u32; 4]>, String)> = None;
    for (policy, threads) in [
        (MissPolicy::Block, 1),
        (MissPolicy::Park, 2),
        (MissPolicy::Park, 8),
    ] {
        let cache = cache(&files, 200 << 10, policy);
        let nearest = LookupSettings {
            filter: Filter::Nearest,
            ..LookupSettings::default()
        };
        let report = replay(&cache, &requests, &nearest, threads);
        let of_texture = |texture: usize| {
            let both = requests.iter().zip(&report.colours);
            both.filter(move |(request, _)| request.texture == Some(texture as u32))
                .map(|(_, colour)| *colour == ERROR_COLOUR)
                .collect::<Vec<bool>>()
        };
        assert!(of_texture(0).iter().all(|is_error| !is_error));
        for partly in [1, 3] {
            let errors = of_texture(partly);
            assert!(
                errors.contains(&true) && errors.contains(&false),
                "{partly}"
            );
        }
        for never in [2, 4, 5, 6, 7] {
            assert!(
                of_texture(never).iter().all(|is_error| *is_error),
                "{never}"
            );
        }
        let diagnostics = &report.diagnostics;
        let indices: Vec<usize> = diagnostics.iter().map(|d| d.texture).collect();
        assert_eq!(indices, [1, 2, 3, 4, 5, 6]);
        for diagnostic in diagnostics {
            let name = names[diagnostic.texture];
            assert!(diagnostic.message.contains(name), "{}", diagnostic.message);
            assert_eq!(diagnostic.file, path(name));
        }
        assert!(
            diagnostics[0].message.contains("the file ends early"),
            "{}",
            diagnostics[0].message
        );
        assert!(diagnostics[0].message.contains("of level "));
        assert!(
            diagnostics[3].message.contains("no PNG, EXR or JPEG"),
            "{}",
            diagnostics[3].message
        );
        assert!(report.statistics.failed_reads > 0);
        // Neither colours nor messages depend on the order of reads.
        let messages = diagnostics
            .iter()
            .map(|d| d.message.clone())
            .collect::<String>();
        assert!(messages.contains(&first_failure), "{messages}");
        let result = (bits(&report.colours), messages);
        assert!(*first.get_or_insert(result.clone()) == result);
    }
}

#[test]
fn other_images_are_converted_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scan lines.exr");
    let image = noise(100, 70, 4, 9);
    adumbra_image::write_exr(&image, File::create(&file).unwrap()).unwrap();
    let cache = TextureCache::new(CacheSettings::default());
    let tiled = cache.add(&file, Some(Wrap::Clamp));
    let memory = cache.add_image("noise", image, Wrap::Clamp);
    assert_eq!(cache.diagnostics(), []);
    assert_eq!(
        (cache.size(tiled), cache.levels(tiled)),
        (Some([100, 70]), Some(7))
    );
    assert_eq!(cache.size(memory), cache.size(tiled));
    assert_eq!(cache.wrap(tiled), Some(Wrap::Clamp));
    assert_eq!((cache.len(), cache.size(2)), (2, None));
    let mut requests = scattered(500, 1);
    let first = replay(&cache, &requests, &ewa(), 1);
    assert!(first.statistics.tiles_read > 0);
    requests
        .iter_mut()
        .for_each(|request| request.texture = Some(1));
    let second = replay(&cache, &requests, &ewa(), 1);
    assert!(bits(&first.colours) == bits(&second.colours));
    assert_eq!(first.statistics.tiles_read, second.statistics.tiles_read);
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
fn waiting_lookups_saturate_the_cache() {
    let textures = textures(8);
    let cache = cache(&textures.files, 1 << 20, MissPolicy::Park);
    let settings = LookupSettings {
        ignores_partials: true,
        ..LookupSettings::default()
    };
    let mut host = TextureHost::new(cache.clone(), settings);
    assert!(!cache.is_saturated());
    for request in scattered(300, 8) {
        host.request(0, request);
    }
    // The tiles of 300 lookups take more than half of the budget, read or not.
    let mut waiting = host.take_waiting();
    assert!(cache.is_saturated());
    while !waiting.is_empty() {
        let finished = cache.finished_reads();
        let before = waiting.len();
        waiting.retain_mut(|lookup| host.answer(lookup).is_none());
        if waiting.len() == before {
            cache.wait(finished);
        }
    }
    drop(host);
    assert!(!cache.is_saturated());
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

const SHADER: &str = "texture2d wood;
    texture2d warp;
    shader s(out color c) {
        float2 p = global_value<uv>;
        color w = texture2d_sample<warp>(0.3 * p.x, p.y);
        c = texture2d_sample<wood>(3 * p.x + w.x, 2 * p.y + w.y);
    }";

/// Shades points in batches, and goes on with those that waited.
fn shade(cache: &Arc<TextureCache>, points: usize) -> (Vec<[f32; 3]>, usize) {
    let layout = GlobalsLayout::new().with("uv", Type::Vector(2)).unwrap();
    let program = Compiler::new(layout)
        .compile(&Sources::new("s.adu", SHADER))
        .unwrap();
    let material = Instance::new(&program);
    let slot = program.output_slot::<[f32; 3]>("c").unwrap();
    let mut batch = BatchEvaluator::new(&material).unwrap();
    let mut single = Evaluator::new(&material);
    let settings = LookupSettings {
        filter: Filter::OneTap,
        ..LookupSettings::default()
    };
    let mut host = TextureHost::new(cache.clone(), settings);
    host.bind(&[2, 1]);
    let mut colours = vec![[0.0; 3]; points];
    let mut parked = Vec::new();
    let mut waited = 0;
    for start in (0..points).step_by(64) {
        let count = 64.min(points - start);
        let seeds: Vec<u64> = (start..start + count).map(|point| point as u64).collect();
        let uv: Vec<f32> = (start..start + count)
            .flat_map(|point| [(point % 40) as f32 / 40.0, (point / 40) as f32 / 40.0])
            .collect();
        let step = [[1.0 / 40.0, 0.0], [0.0, 1.0 / 40.0]].map(|step| [step; 64].concat());
        let mut globals = BatchGlobals::new(program.globals());
        for component in 0..2 {
            for (part, values) in [
                (Part::Value, &uv),
                (Part::Ddx, &step[0]),
                (Part::Ddy, &step[1]),
            ] {
                globals
                    .plane("uv", part, component, &values[component..], 2)
                    .unwrap();
            }
        }
        host.begin(&seeds);
        batch.evaluate(&globals, 0, count, &mut host);
        for (point, outcome) in batch.outcomes().iter().enumerate() {
            if *outcome == Outcome::Finished {
                colours[start + point] = batch.read(slot, point).value;
            }
        }
        let mut of_batch = Vec::new();
        batch.park_all(&mut of_batch).unwrap();
        let mut lookups = host.take_waiting();
        lookups.sort_by_key(|lookup| lookup.point);
        of_batch.sort_by_key(|(point, _)| *point);
        assert_eq!(of_batch.len(), lookups.len());
        for ((point, waiting), lookup) in of_batch.into_iter().zip(lookups) {
            assert_eq!(point, lookup.point);
            parked.push((start + point, waiting, lookup));
        }
    }
    while !parked.is_empty() {
        let finished = cache.finished_reads();
        let mut still = Vec::new();
        let before = parked.len();
        for (point, waiting, mut lookup) in parked {
            let Some(texel) = host.answer(&mut lookup) else {
                still.push((point, waiting, lookup));
                continue;
            };
            waited += 1;
            host.begin(&[point as u64]);
            match single.resume(waiting, texel, &mut host).unwrap() {
                Outcome::Pending => {
                    let lookup = host.take_waiting().pop().unwrap();
                    still.push((point, single.park().unwrap(), lookup));
                }
                outcome => {
                    assert_eq!(outcome, Outcome::Finished);
                    colours[point] = single.read(slot).value;
                }
            }
        }
        parked = still;
        if parked.len() == before {
            cache.wait(finished);
        }
    }
    (colours, waited)
}

#[test]
fn parked_points_equal_blocking_ones() {
    let textures = textures(3);
    let bits = |colours: &[[f32; 3]]| -> Vec<[u32; 3]> {
        colours.iter().map(|c| c.map(f32::to_bits)).collect()
    };
    let blocking = cache(&textures.files, DEFAULT_BUDGET, MissPolicy::Block);
    let (expected, waited) = shade(&blocking, 1000);
    assert_eq!(waited, 0);
    assert!(expected.iter().any(|colour| *colour != expected[0]));
    for budget in [1, 100 << 10, DEFAULT_BUDGET] {
        let parking = cache(&textures.files, budget, MissPolicy::Park);
        let (colours, waited) = shade(&parking, 1000);
        assert!(waited > 0);
        assert!(bits(&colours) == bits(&expected), "{budget}");
    }
}
