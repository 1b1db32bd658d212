//! Image files: written ones are read again; broken or hostile ones, and other formats, are
//! refused.

mod parts;
mod rows;

use adumbra_image::{
    ColorSpace, Image, ImageError, ImageSize, MAX_PIXELS, PngImage, SizeError, read_image,
    read_image_as, srgb, write_exr, write_png,
};
use std::io::Cursor;
use std::path::PathBuf;

fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn size(width: u64, height: u64) -> ImageSize {
    ImageSize::new(width, height).unwrap()
}

fn exr(image: &Image) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    write_exr(image, 1, &mut bytes).unwrap();
    bytes.into_inner()
}

/// Threads compress blocks of 16 lines; the last block is a short one.
#[test]
fn exr_files_have_the_same_bytes_on_any_number_of_threads() {
    for height in [1, 16, 17, 500] {
        let size = size(7, height);
        let pixel = |at: usize| [(at as f32).sin(), at as f32, 0.5, 1.0];
        let image = Image::from_pixels(size, 4, (0..size.pixels()).map(pixel).collect());
        let alone = exr(&image);
        for threads in [0, 2, 3, 64] {
            let mut bytes = Cursor::new(Vec::new());
            write_exr(&image, threads, &mut bytes).unwrap();
            assert!(
                bytes.into_inner() == alone,
                "{threads} threads, {height} lines"
            );
        }
    }
}

fn png(size: ImageSize, bytes: &[u8], has_alpha: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let png = PngImage {
        size,
        bytes,
        has_alpha,
        is_srgb: true,
    };
    write_png(&png, &mut out).unwrap();
    out
}

#[test]
fn exr_files_keep_every_bit() {
    let odd = [
        0.0,
        -0.0,
        1e-45,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.1,
        -3.5,
    ];
    for channels in 1..=4 {
        let pixels = (0..35).map(|i| std::array::from_fn(|c| odd[(i + 3 * c) % odd.len()]));
        let image = Image::from_pixels(size(7, 5), channels, pixels.collect());
        let path = scratch(&format!("bits{channels}.exr"), &exr(&image));
        if channels == 2 {
            let refused = read_image(&path).unwrap_err().to_string();
            assert!(refused.contains("`R`, `G`, `B` or `Y`"), "{refused}");
            continue;
        }
        let again = read_image(&path).unwrap();
        assert_eq!(
            (again.size(), again.channels()),
            (size(7, 5), channels.max(3))
        );
        for (pixel, read) in image.pixels().iter().zip(again.pixels()) {
            let expected = match channels {
                1 => [pixel[0], pixel[0], pixel[0], 1.0],
                3 => [pixel[0], pixel[1], pixel[2], 1.0],
                _ => *pixel,
            };
            assert_eq!(read.map(f32::to_bits), expected.map(f32::to_bits));
        }
    }
}

#[test]
fn png_files_become_linear() {
    let bytes: Vec<u8> = (0..=255).flat_map(|i| [i, 255 - i, 0, i]).collect();
    let path = scratch("linear.png", &png(size(16, 16), &bytes, true));
    let image = read_image(&path).unwrap();
    assert_eq!((image.size(), image.channels()), (size(16, 16), 4));
    for (i, pixel) in image.pixels().iter().enumerate() {
        let part = i as f64 / 255.0;
        assert_eq!(pixel[0], srgb::to_linear(part) as f32);
        assert_eq!(pixel[1], srgb::to_linear((255 - i) as f64 / 255.0) as f32);
        assert_eq!((pixel[2], pixel[3]), (0.0, part as f32));
    }
    let path = scratch(
        "plain.png",
        &png(size(1, 2), &[0, 255, 0, 255, 0, 0], false),
    );
    let image = read_image(&path).unwrap();
    assert_eq!(image.channels(), 3);
    assert_eq!(image.pixels(), [[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]);
}

#[test]
fn linear_color_space_keeps_stored_numbers() {
    let bytes: Vec<u8> = (0..=255).flat_map(|i| [i, 255 - i, i]).collect();
    let path = scratch("numbers.png", &png(size(16, 16), &bytes, false));
    let image = read_image_as(&path, ColorSpace::Linear).unwrap();
    for (i, pixel) in image.pixels().iter().enumerate() {
        let stored = |byte: usize| byte as f32 / 255.0;
        assert_eq!(*pixel, [stored(i), stored(255 - i), stored(i), 1.0]);
    }
    let wide = raw_png(
        png::ColorType::Grayscale,
        png::BitDepth::Sixteen,
        1,
        &[0x12, 0x34],
    );
    let image = read_image_as(&scratch("wide_numbers.png", &wide), ColorSpace::Linear).unwrap();
    assert_eq!(image.pixels()[0][0], 0x1234 as f32 / 65_535.0);
    let image = Image::from_pixels(size(1, 1), 3, vec![[0.5, 2.0, -1.0, 1.0]]);
    let path = scratch("numbers.exr", &exr(&image));
    for space in ColorSpace::ALL {
        assert_eq!(read_image_as(&path, space).unwrap(), image);
    }
}

/// A PNG file of one row, of any colour type.
fn raw_png(color: png::ColorType, depth: png::BitDepth, width: u32, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, 1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![255, 0, 0, 0, 255, 0]);
        encoder.set_trns(vec![255, 0]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}

#[test]
fn png_files_of_all_kinds_are_read() {
    use png::{BitDepth::*, ColorType::*};
    let pixels =
        |name: &str, bytes: &[u8]| read_image(&scratch(name, bytes)).unwrap().pixels().to_vec();
    let grey = raw_png(Grayscale, Eight, 2, &[0, 255]);
    assert_eq!(pixels("grey.png", &grey), [[0.0, 0.0, 0.0, 1.0], [1.0; 4]]);
    let bits = raw_png(Grayscale, One, 2, &[0b0100_0000]);
    assert_eq!(pixels("bits.png", &bits), [[0.0, 0.0, 0.0, 1.0], [1.0; 4]]);
    let alpha = raw_png(GrayscaleAlpha, Eight, 1, &[255, 51]);
    assert_eq!(pixels("alpha.png", &alpha), [[1.0, 1.0, 1.0, 0.2]]);
    let palette = raw_png(Indexed, Eight, 2, &[0, 1]);
    let expected = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]];
    assert_eq!(pixels("palette.png", &palette), expected);
    let wide = raw_png(Rgb, Sixteen, 1, &[0xff, 0xff, 0x80, 0x00, 0x00, 0x00]);
    let half = srgb::to_linear(f64::from(0x8000) / 65_535.0) as f32;
    assert_eq!(pixels("wide.png", &wide), [[1.0, half, 0.0, 1.0]]);
}

/// A JPEG file that libjpeg wrote: 17×13 pixels, red rises to the right, green downwards.
const JPEG_FILES: [(&str, &[u8]); 3] = [
    ("colour.jpg", include_bytes!("../data/colour.jpg")),
    ("progressive.jpg", include_bytes!("../data/progressive.jpg")),
    ("grey.jpg", include_bytes!("../data/grey.jpg")),
];

#[test]
fn jpeg_files_become_linear() {
    for (name, bytes) in JPEG_FILES {
        // The first bytes choose the format, not the name.
        let image = read_image(&scratch(&format!("{name}.png"), bytes)).unwrap();
        assert_eq!(
            (image.size(), image.channels()),
            (size(17, 13), 3),
            "{name}"
        );
        for (i, pixel) in image.pixels().iter().enumerate() {
            let (x, y) = (i % 17, i / 17);
            let encoded = [x * 255 / 16, y * 255 / 12, (7 * x + 5 * y) % 256];
            let encoded = if name == "grey.jpg" {
                [encoded[0]; 3]
            } else {
                encoded
            };
            assert_eq!(pixel[3], 1.0);
            for (channel, expected) in encoded.into_iter().enumerate() {
                // Compression loses up to 3 levels of 255; decoders differ by 1 or 2.
                let tolerance = 5;
                let linear = |n: usize| srgb::to_linear(n.min(255) as f64 / 255.0) as f32;
                let (least, most) = (
                    linear(expected.saturating_sub(tolerance)),
                    linear(expected + tolerance),
                );
                let value = pixel[channel];
                assert!(
                    (least..=most).contains(&value),
                    "{name} {x} {y} {channel}: {value}"
                );
            }
        }
    }
}

#[test]
fn malformed_jpeg_files_are_refused() {
    for (name, good) in JPEG_FILES {
        for end in (3..good.len() - 1).step_by(7) {
            let refused = read_image(&scratch("cut.jpg", &good[..end]));
            assert!(refused.is_err(), "{name} {end}");
        }
        // Any byte may be wrong; the result is an image or an error.
        for at in 3..good.len() {
            for flip in [0xff, 0x01] {
                let mut bytes = good.to_vec();
                bytes[at] ^= flip;
                let _ = read_image(&scratch("flipped.jpg", &bytes));
            }
        }
        // The frame header's size: marker, length, precision, then height and width.
        let frame = good
            .windows(2)
            .position(|two| matches!(two, [0xff, 0xc0 | 0xc2]));
        let mut large = good.to_vec();
        large[frame.unwrap() + 5..][..4].fill(0xff);
        let refused = read_image(&scratch("large.jpg", &large));
        assert!(
            matches!(refused, Err(ImageError::Size(SizeError::TooLarge(_)))),
            "{refused:?}"
        );
        large[frame.unwrap() + 5..][..4].copy_from_slice(&[0x10, 0, 0x10, 0]);
        is_too_short(&scratch("large.jpg", &large));
    }
}

/// The size that a PNG file says it has, changed; its checksum is made right again.
fn with_size(mut bytes: Vec<u8>, width: u32, height: u32) -> Vec<u8> {
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = !0_u32;
    for &byte in &bytes[12..29] {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
    bytes
}

#[test]
fn malformed_images_are_refused() {
    assert!(matches!(
        read_image("no/such.png".as_ref()),
        Err(ImageError::Io(_))
    ));
    assert!(matches!(
        read_image(env!("CARGO_MANIFEST_DIR").as_ref()),
        Err(ImageError::Io(_))
    ));
    for (name, bytes) in [
        ("text.png", &b"not an image at all"[..]),
        ("empty.exr", b""),
    ] {
        let refused = read_image(&scratch(name, bytes));
        assert!(matches!(refused, Err(ImageError::UnknownFormat)), "{name}");
    }

    let good = png(size(4, 4), &[7; 48], false);
    assert!(read_image(&scratch("good.png", &with_size(good.clone(), 4, 4))).is_ok());
    let large = u32::try_from(MAX_PIXELS + 1).unwrap();
    for (width, height) in [(1_000_000_000, 1_000_000_000), (large, 1)] {
        let refused = read_image(&scratch(
            "large.png",
            &with_size(good.clone(), width, height),
        ));
        let is_refused = matches!(refused, Err(ImageError::Size(SizeError::TooLarge(..))));
        assert!(is_refused, "{refused:?}");
    }
    assert!(read_image(&scratch("none.png", &with_size(good.clone(), 0, 4))).is_err());
    // More rows than there are; and many more, which is said before they are looked for.
    assert!(read_image(&scratch("short.png", &with_size(good.clone(), 4, 4000))).is_err());
    let path = scratch("shorter.png", &with_size(good.clone(), 4, 400_000));
    is_too_short(&path);

    let image = Image::new(size(33, 17), 3);
    let good_exr = exr(&image);
    for (name, good) in [("cut.png", &good), ("cut.exr", &good_exr)] {
        // The last bytes only say that this is the end.
        for end in (8..good.len() - 24).step_by(1 + good.len() / 40) {
            assert!(
                read_image(&scratch(name, &good[..end])).is_err(),
                "{name} {end}"
            );
        }
    }
    // Any byte may be wrong; the result is an image or an error.
    for at in 4..good_exr.len().min(600) {
        let mut bytes = good_exr.clone();
        bytes[at] ^= 0xff;
        let _ = read_image(&scratch("flipped.exr", &bytes));
    }
    for at in 8..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        let _ = read_image(&scratch("flipped.png", &bytes));
    }
}

/// The file is refused by its length.
fn is_too_short(path: &std::path::Path) {
    let refused = read_image(path).map(|image| image.size());
    let refused = refused.expect_err("it is short").to_string();
    assert!(refused.contains("too few for"), "{path:?}: {refused}");
}

/// An EXR file of one colour, of this size and compression.
fn constant_exr(size: (usize, usize), compression: exr::prelude::Compression) -> Vec<u8> {
    use exr::prelude::*;
    let pixels = |_: Vec2<usize>| (f16::from_f32(0.25), 0.25_f32, 0.25_f32);
    let mut image = exr::image::Image::from_channels(size, SpecificChannels::rgb(pixels));
    image.layer_data.encoding.compression = compression;
    let mut bytes = Cursor::new(Vec::new());
    let write = image.write().non_parallel();
    write.to_buffered(&mut bytes).unwrap();
    bytes.into_inner()
}

/// An EXR file that says that it has 4096 rows instead of 64.
fn with_more_rows(mut bytes: Vec<u8>) -> Vec<u8> {
    let windows = [&63_i32.to_le_bytes()[..], &63_i32.to_le_bytes()].concat();
    let places = bytes.windows(8).enumerate();
    let places: Vec<usize> = places
        .filter_map(|(at, eight)| (eight == windows).then_some(at))
        .collect();
    assert_eq!(places.len(), 2, "of the data and of the display");
    for at in places {
        bytes[at..at + 8].copy_from_slice(&[0xff, 0x0f, 0, 0, 0xff, 0x0f, 0, 0]);
    }
    bytes
}

#[test]
fn length_of_file_bounds_size_of_image() {
    use exr::prelude::Compression::*;
    let compressions = [Uncompressed, RLE, ZIP1, ZIP16, PIZ, PXR24, B44, B44A];
    for compression in compressions.into_iter().chain([DWAA(None), DWAB(None)]) {
        let constant = constant_exr((1024, 1024), compression);
        let path = scratch("constant.exr", &constant);
        let image = read_image(&path).unwrap_or_else(|error| panic!("{compression}: {error}"));
        assert_eq!(image.size(), size(1024, 1024), "{compression}");
        let small = constant_exr((64, 64), compression);
        is_too_short(&scratch("more_rows.exr", &with_more_rows(small)));
    }
    let constant = png(size(2048, 2048), &vec![7; 3 << 22], false);
    assert!(read_image(&scratch("constant.png", &constant)).is_ok());
}
