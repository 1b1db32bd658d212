//! Images row by row: the rows are those of the whole image; limits hold before memory is taken.

use crate::{JPEG_FILES, png, raw_png, scratch, size, with_size};
use adumbra_image::{
    ColorSpace, ImageError, ImageRows, MAX_DECODED_BYTES, MAX_PIXELS, MAX_SIDE, SizeError,
    read_image,
};
use exr::prelude::*;
use std::io::Cursor;

/// All numbers of an image, and its channels.
fn numbers(bytes: &[u8]) -> (usize, Vec<f32>) {
    let mut rows = ImageRows::of_bytes(bytes, ColorSpace::Srgb).unwrap();
    let height = rows.size()[1];
    let mut numbers = Vec::new();
    for _ in 0..height {
        numbers.extend_from_slice(rows.next_row().unwrap());
    }
    (rows.channels(), numbers)
}

fn check(bytes: &[u8], channels: usize) {
    let image = read_image(&scratch("rows", bytes)).unwrap();
    let pick: &[usize] = [&[0][..], &[0, 3], &[0, 1, 2], &[0, 1, 2, 3]][channels - 1];
    let pixels = image.pixels().iter();
    let expected: Vec<f32> = pixels
        .flat_map(|pixel| pick.iter().map(|c| pixel[*c]))
        .collect();
    assert_eq!(numbers(bytes), (channels, expected));
}

#[test]
fn channels_of_rows_are_those_of_files() {
    use ::png::{BitDepth, ColorType};
    for (color, channels) in [
        (ColorType::Grayscale, 1),
        (ColorType::GrayscaleAlpha, 2),
        (ColorType::Rgb, 3),
        (ColorType::Rgba, 4),
    ] {
        let data: Vec<u8> = (0..2 * 3 * channels as u8).map(|byte| 9 * byte).collect();
        check(&raw_png(color, BitDepth::Sixteen, 3, &data), channels);
        check(&raw_png(color, BitDepth::Eight, 6, &data), channels);
    }
    for (name, bytes) in JPEG_FILES {
        check(bytes, if name == "grey.jpg" { 1 } else { 3 });
    }
}

/// An EXR file of half floats, with a layer of other channels before.
fn blocks(encoding: Encoding, has_alpha: bool) -> (Vec<u8>, Vec<f32>) {
    const SIZE: Vec2<usize> = Vec2(37, 29);
    let number = |at: usize, channel: usize| f16::from_f32((at * 4 + channel) as f32 / 64.0);
    let pixels = SIZE.area();
    let channel = |name: &str, channel: usize| {
        let samples = (0..pixels).map(|at| number(at, channel));
        AnyChannel::new(name, FlatSamples::F16(samples.collect()))
    };
    let names = ["R", "G", "B", "A"];
    let count = if has_alpha { 4 } else { 3 };
    let colours = (0..count).map(|at| channel(names[at], at));
    let layer = |name: &str, channels: SmallVec<[AnyChannel<FlatSamples>; 4]>| {
        let attributes = LayerAttributes::named(name);
        Layer::new(SIZE, attributes, encoding, AnyChannels::sort(channels))
    };
    let mut layers = SmallVec::<[_; 2]>::new();
    if has_alpha {
        layers.push(layer("depth", [channel("Z", 0)].into_iter().collect()));
    }
    layers.push(layer("colours", colours.collect()));
    let window = IntegerBounds::from_dimensions(SIZE);
    let image = exr::image::Image::from_layers(ImageAttributes::new(window), layers);
    let mut bytes = Cursor::new(Vec::new());
    image
        .write()
        .non_parallel()
        .to_buffered(&mut bytes)
        .unwrap();
    let expected = (0..pixels).flat_map(|at| (0..count).map(move |c| number(at, c).to_f32()));
    (bytes.into_inner(), expected.collect())
}

#[test]
fn exr_blocks_of_every_order_are_rows() {
    let tiles = [Vec2(8, 8), Vec2(16, 5), Vec2(64, 64)].map(Blocks::Tiles);
    for blocks_of in tiles.into_iter().chain([Blocks::ScanLines]) {
        for line_order in [LineOrder::Increasing, LineOrder::Decreasing] {
            for compression in [Compression::ZIP1, Compression::ZIP16, Compression::PIZ] {
                let encoding = Encoding {
                    compression,
                    blocks: blocks_of,
                    line_order,
                };
                for has_alpha in [false, true] {
                    let (bytes, expected) = blocks(encoding, has_alpha);
                    let channels = if has_alpha { 4 } else { 3 };
                    assert_eq!(numbers(&bytes), (channels, expected), "{encoding:?}");
                    let rows = ImageRows::of_bytes(&bytes, ColorSpace::Srgb).unwrap();
                    assert!(rows.is_half());
                }
            }
        }
    }
}

/// A PNG file of 8 bits of grey, interlaced by Adam7 (PNG, 3rd edition, section 8.2).
fn interlaced_png(width: usize, height: usize, grey: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    const PASSES: [[usize; 4]; 7] = [
        [0, 0, 8, 8],
        [4, 0, 8, 8],
        [0, 4, 4, 8],
        [2, 0, 4, 4],
        [0, 2, 2, 4],
        [1, 0, 2, 2],
        [0, 1, 1, 2],
    ];
    let mut data = Vec::new();
    for [left, top, across, down] in PASSES {
        for y in (top..height).step_by(down) {
            let columns = (left..width).step_by(across);
            if columns.len() > 0 {
                data.push(0);
                data.extend(columns.map(|x| grey(x, y)));
            }
        }
    }
    let mut out = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut out, data.len() as u32 - 1, 1);
    encoder.set_color(::png::ColorType::Grayscale);
    encoder.set_filter(::png::Filter::NoFilter);
    let mut writer = encoder.write_header().unwrap();
    // The first byte of a line is its filter, which the encoder writes.
    writer.write_image_data(&data[1..]).unwrap();
    writer.finish().unwrap();
    out[28] = 1;
    with_size(out, width as u32, height as u32)
}

#[test]
fn interlaced_png_files_are_rows() {
    let grey = |x: usize, y: usize| {
        if (3 * x + 5 * y).is_multiple_of(4) {
            255
        } else {
            0
        }
    };
    let bytes = interlaced_png(11, 7, grey);
    let expected = (0..7).flat_map(|y| (0..11).map(move |x| f32::from(grey(x, y)) / 255.0));
    assert_eq!(numbers(&bytes), (1, expected.collect()));
}

#[test]
fn rows_have_more_pixels_than_images() {
    let height = MAX_PIXELS / u64::from(MAX_SIDE) + 1;
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, MAX_SIDE, height as u32);
    encoder.set_depth(::png::BitDepth::One);
    let mut writer = encoder.write_header().unwrap();
    let line = vec![0xff; MAX_SIDE as usize / 8];
    writer
        .write_image_data(&line.repeat(height as usize))
        .unwrap();
    writer.finish().unwrap();
    let refused = read_image(&scratch("rows_large.png", &bytes));
    assert!(matches!(
        refused,
        Err(ImageError::Size(SizeError::TooLarge(_)))
    ));
    let mut rows = ImageRows::of_bytes(&bytes, ColorSpace::Linear).unwrap();
    assert_eq!(rows.size(), [MAX_SIDE, height as u32]);
    for _ in 0..height {
        rows.next_row().unwrap();
    }
    for (width, height) in [(MAX_SIDE + 1, 1), (1, MAX_SIDE + 1)] {
        let longer = with_size(bytes.clone(), width, height);
        let refused = ImageRows::of_bytes(&longer, ColorSpace::Linear).unwrap_err();
        assert!(matches!(refused, ImageError::Size(SizeError::TooLong(_))));
    }
}

#[test]
fn whole_decodings_are_bounded() {
    let refused = |bytes: &[u8]| {
        let refused = ImageRows::of_bytes(bytes, ColorSpace::Srgb).unwrap_err();
        let refused = refused.to_string();
        assert!(
            refused.contains(&MAX_DECODED_BYTES.to_string()),
            "{refused}"
        );
    };
    // Files as long as such images could be.
    let mut jpeg = JPEG_FILES[0].1.to_vec();
    let frame = jpeg.windows(2).position(|two| two == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..][..4].fill(0xff);
    let end = jpeg.split_off(jpeg.len() - 2);
    jpeg.resize(1 << 24, 0);
    jpeg.extend(end);
    refused(&jpeg);
    let mut png = png(size(4, 4), &[7; 48], false);
    png[28] = 1;
    let mut png = with_size(png, 32_768, 10_923);
    png.resize(1 << 23, 0);
    refused(&png);
}
