//! Parts of an image: they have its every bit, and merge to its file.

use crate::{exr, scratch, size};
use adumbra_image::{
    Image, ImagePart, ImageRegion, ImageSize, MergeError, RegionCorners, merge_parts,
    write_exr_part,
};
use std::io::Cursor;
use std::path::PathBuf;

const KEY: u64 = 0x0123_4567_89ab_cdef;

fn region(image: ImageSize, corners: [u64; 4]) -> ImageRegion {
    let region = RegionCorners(corners).within(image);
    region.expect("it is in the image")
}

/// An image of numbers that are all different.
fn numbers(size: ImageSize, channels: usize) -> Image {
    let number = |pixel: usize, channel: usize| match channel < channels {
        true => (4 * pixel + channel) as f32 + 0.1,
        false => 0.0,
    };
    let pixels = (0..size.pixels()).map(|pixel| [0, 1, 2, 3].map(|c| number(pixel, c)));
    Image::from_pixels(size, channels, pixels.collect())
}

fn cut(image: &Image, region: ImageRegion) -> Image {
    let whole = ImageRegion::whole(image.size());
    let pixels = (0..region.size().pixels()).map(|pixel| {
        let pixel = whole.pixel(region.place(pixel));
        image.pixels()[pixel.expect("it is in the image")]
    });
    Image::from_pixels(region.size(), image.channels(), pixels.collect())
}

fn bytes_of(image: &Image, part: &ImagePart) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    write_exr_part(&cut(image, part.region), part, 1, &mut bytes).expect("memory can be written");
    bytes.into_inner()
}

fn complete(region: ImageRegion) -> ImagePart {
    ImagePart {
        region,
        key: KEY,
        is_interrupted: false,
    }
}

/// Writes parts of an image of 7×5 pixels with three channels.
fn write_parts(name: &str, parts: &[ImagePart]) -> Vec<PathBuf> {
    let image = numbers(size(7, 5), 3);
    let parts = parts.iter().enumerate();
    let write = |(at, part): (usize, &ImagePart)| {
        scratch(&format!("{name}{at}.exr"), &bytes_of(&image, part))
    };
    parts.map(write).collect()
}

fn refused(files: &[PathBuf]) -> MergeError {
    merge_parts(files).expect_err("they are no image")
}

#[test]
fn merged_parts_are_the_whole_to_the_byte() {
    // All, three parts of which two share rows, a single pixel; in no order.
    let splits: [&[[u64; 4]]; 3] = [
        &[[0, 0, 7, 5]],
        &[[3, 2, 7, 5], [0, 0, 7, 2], [0, 2, 3, 5]],
        &[[0, 1, 7, 5], [1, 0, 7, 1], [0, 0, 1, 1]],
    ];
    for channels in 1..=4 {
        let image = numbers(size(7, 5), channels);
        for (number, split) in splits.iter().enumerate() {
            let files = split.iter().enumerate().map(|(at, corners)| {
                let part = complete(region(image.size(), *corners));
                let name = format!("split{channels}_{number}_{at}.exr");
                scratch(&name, &bytes_of(&image, &part))
            });
            let merged = merge_parts(&files.collect::<Vec<_>>()).expect("they are all");
            assert_eq!(merged, image);
            assert!(exr(&merged) == exr(&image));
        }
    }
}

#[test]
fn windows_are_those_of_region_and_image() {
    let image = numbers(size(7, 5), 1);
    let bytes = bytes_of(&image, &complete(region(image.size(), [2, 1, 6, 4])));
    // Attributes of the format: name, type, size, then the numbers.
    let window = |name: &[u8]| -> [i32; 4] {
        let start = [name, b"\0box2i\0\x10\0\0\0"].concat();
        let at = bytes.windows(start.len()).position(|part| part == start);
        let numbers = &bytes[at.expect("it is there") + start.len()..][..16];
        let (numbers, _) = numbers.as_chunks::<4>();
        [0, 1, 2, 3].map(|i| i32::from_le_bytes(numbers[i]))
    };
    assert_eq!(window(b"dataWindow"), [2, 1, 5, 3]);
    assert_eq!(window(b"displayWindow"), [0, 0, 6, 4]);
}

#[test]
fn written_parts_have_the_same_bytes_each_time() {
    let image = numbers(size(7, 5), 4);
    let part = complete(region(image.size(), [0, 0, 7, 2]));
    let first = bytes_of(&image, &part);
    assert!((0..8).all(|_| bytes_of(&image, &part) == first));
}

#[test]
fn no_parts_are_no_image() {
    assert!(matches!(refused(&[]), MergeError::NoParts));
}

#[test]
fn missing_pixels_are_counted_and_shown() {
    let image = size(7, 5);
    for (parts, gap, count) in [
        (&[[0, 0, 7, 2]][..], [0, 2, 7, 5], 21),
        (&[[0, 0, 3, 5], [4, 0, 7, 5]], [3, 0, 4, 5], 5),
        (&[[0, 0, 6, 5], [6, 0, 7, 4]], [6, 4, 7, 5], 1),
        // Two gaps: the first is shown.
        (&[[0, 0, 7, 1], [0, 2, 7, 4]], [0, 1, 7, 2], 14),
        (&[[1, 0, 7, 5], [0, 0, 1, 2]], [0, 2, 1, 5], 3),
        // Within, between others that end and begin at different rows.
        (
            &[
                [0, 0, 7, 1],
                [0, 1, 2, 5],
                [5, 1, 7, 4],
                [2, 3, 5, 5],
                [5, 4, 7, 5],
            ],
            [2, 1, 5, 3],
            6,
        ),
        (&[[3, 1, 4, 2]], [0, 0, 7, 1], 34),
        (&[[0, 0, 7, 1], [3, 1, 4, 2]], [0, 1, 3, 5], 27),
        (
            &[[0, 0, 7, 2], [4, 2, 7, 5], [0, 4, 2, 5]],
            [0, 2, 4, 4],
            10,
        ),
    ] {
        let parts: Vec<_> = parts
            .iter()
            .map(|at| complete(region(image, *at)))
            .collect();
        let error = refused(&write_parts("gap", &parts));
        let MergeError::Missing(found, missing) = &error else {
            panic!("{error}");
        };
        assert_eq!((*found, *missing), (region(image, gap), count), "{error}");
        assert!(error.to_string().contains(&found.to_string()), "{error}");
    }
}

#[test]
fn overlaps_name_both_files() {
    let image = size(7, 5);
    let parts = [[0, 0, 4, 5], [4, 0, 7, 2], [3, 2, 7, 5]];
    let parts = parts.map(|at| complete(region(image, at)));
    let files = write_parts("overlap", &parts);
    let error = refused(&files);
    let MergeError::Overlap(both, shared) = &error else {
        panic!("{error}");
    };
    assert_eq!(both[..], [files[0].clone(), files[2].clone()]);
    assert_eq!(*shared, region(image, [3, 2, 4, 5]));
    let twice = [files[0].clone(), files[0].clone()];
    assert!(matches!(refused(&twice), MergeError::Overlap(..)));
}

#[test]
fn parts_of_different_images_are_refused() {
    let whole = region(size(7, 5), [0, 0, 4, 5]);
    let first = scratch(
        "of_a.exr",
        &bytes_of(&numbers(size(7, 5), 3), &complete(whole)),
    );
    let beside = region(size(7, 5), [4, 0, 7, 5]);
    let other_key = ImagePart {
        key: KEY + 1,
        ..complete(beside)
    };
    let interrupted = ImagePart {
        is_interrupted: true,
        ..complete(beside)
    };
    let larger = complete(region(size(8, 5), [4, 0, 8, 5]));
    for (channels, part, expected) in [
        (3, other_key, "are parts of different images"),
        (3, interrupted, "its drawing was interrupted"),
        (3, larger, "a part of an image of 7x5"),
        (4, complete(beside), "have 3 numbers"),
    ] {
        let image = numbers(part.region.image(), channels);
        let second = scratch("of_b.exr", &bytes_of(&image, &part));
        let error = refused(&[first.clone(), second]).to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("of_b.exr"), "{error}");
    }
    // That a part is interrupted counts of the first, too.
    let [a, b] = [interrupted, complete(whole)];
    let error = refused(&write_parts("early", &[a, b])).to_string();
    assert!(error.contains("early0.exr is not complete"), "{error}");
}

#[test]
fn files_that_are_no_parts_are_named() {
    let part = complete(region(size(7, 5), [2, 1, 6, 4]));
    let bytes = bytes_of(&numbers(size(7, 5), 3), &part);
    let replaced = |from: &[u8], to: &[u8]| {
        let at = bytes.windows(from.len()).position(|part| part == from);
        let at = at.expect("it is there");
        [&bytes[..at], to, &bytes[at + from.len()..]].concat()
    };
    let display = |numbers: [i32; 4]| {
        let numbers = numbers.map(i32::to_le_bytes).concat();
        [b"displayWindow\0box2i\0\x10\0\0\0", &numbers[..]].concat()
    };
    for (bytes, expected) in [
        (Vec::new(), ""),
        (b"\x89PNG\r\n\x1a\n".to_vec(), ""),
        (bytes[..bytes.len() / 2].to_vec(), ""),
        (
            replaced(&display([0, 0, 6, 4]), &display([1, 0, 7, 4])),
            "does not begin at (0, 0)",
        ),
        (
            replaced(&display([0, 0, 6, 4]), &display([0, 0, 4, 4])),
            "its data window goes beyond",
        ),
        (
            replaced(&display([0, 0, 6, 4]), &display([0, 0, 99_999, 99_999])),
            "more than",
        ),
        (replaced(b"B\0\x02", b"C\0\x02"), "its channels are not"),
    ] {
        let file = scratch("no_part.exr", &bytes);
        let error = refused(&[file]);
        assert!(matches!(error, MergeError::File(..)), "{error}");
        let error = error.to_string();
        assert!(error.contains("no_part.exr: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    for path in ["no_such_part.exr", env!("CARGO_TARGET_TMPDIR")] {
        let error = refused(&[PathBuf::from(path)]).to_string();
        assert!(error.starts_with(&format!("{path}: ")), "{error}");
    }
}
