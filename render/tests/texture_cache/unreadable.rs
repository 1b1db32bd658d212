//! Files that cannot be read give a colour and a diagnostic; other images are converted.

use crate::support::{bits, cache, ewa, noise, scattered, textures};
use adumbra_render::texture::cache::{CacheSettings, ERROR_COLOUR, MissPolicy, TextureCache};
use adumbra_render::texture::host::LookupSettings;
use adumbra_render::texture::replay::replay;
use adumbra_render::texture::{Filter, SampleFormat, TiledFile, TiledOptions, Wrap, write_tiled};
use std::fs::{self, File};
use std::path::PathBuf;

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
    adumbra_image::write_exr(&image, 1, File::create(&file).unwrap()).unwrap();
    let cache = TextureCache::new(CacheSettings::default());
    let tiled = cache.add(&file, Some(Wrap::Clamp.into()));
    let memory = cache.add_image("noise", image, Wrap::Clamp);
    assert_eq!(cache.diagnostics(), []);
    assert_eq!(
        (cache.size(tiled), cache.levels(tiled)),
        (Some([100, 70]), Some(7))
    );
    assert_eq!(cache.size(memory), cache.size(tiled));
    assert_eq!(cache.wrap(tiled), Some(Wrap::Clamp.into()));
    assert_eq!((cache.len(), cache.size(2)), (2, None));
    let mut requests = scattered(500, 1);
    let first = replay(&cache, &requests, &ewa(), 1);
    assert!(first.statistics.tiles_read > 0);
    requests
        .iter_mut()
        .for_each(|request| request.texture = Some(1));
    let second = replay(&cache, &requests, &ewa(), 1);
    assert!(bits(&first.colours) == bits(&second.colours));
    // Both are read tile by tile; only the second is in memory.
    assert_eq!(
        second.statistics.tiles_read,
        2 * first.statistics.tiles_read
    );
    assert!(second.statistics.resident_bytes > 0);
}

#[test]
fn lookups_at_infinite_coordinates_are_counted() {
    let textures = textures(2);
    let mut requests = scattered(300, 2);
    for (request, lost) in requests
        .iter_mut()
        .step_by(3)
        .zip([f32::NAN, f32::INFINITY, 0.5].iter().cycle())
    {
        request.footprint.uv[1] = *lost;
    }
    let lost = |texture: u32| {
        let of = requests
            .iter()
            .filter(|request| request.texture == Some(texture));
        of.filter(|request| !request.footprint.uv[1].is_finite())
            .count()
    };
    for (policy, budget) in [(MissPolicy::Park, 1), (MissPolicy::Block, 1 << 26)] {
        let cache = cache(&textures.files, budget, policy);
        let report = replay(&cache, &requests, &LookupSettings::default(), 2);
        for (request, colour) in requests.iter().zip(&report.colours) {
            let is_finite = request.footprint.uv[1].is_finite();
            assert!(is_finite || *colour == [0.0; 4]);
        }
        let found: Vec<_> = report
            .diagnostics
            .into_iter()
            .map(|d| (d.texture, d.message))
            .collect();
        let expected = [0, 1].map(|texture: u32| {
            let count = lost(texture);
            let message = format!("{count} lookups at infinite or NaN coordinates are black");
            (texture as usize, message)
        });
        assert_eq!(found, expected, "{policy:?}");
    }
}
