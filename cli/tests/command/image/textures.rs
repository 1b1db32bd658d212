//! Textures of files: their colours and levels, and the checkerboard in place of those that are not
//! given.

use super::*;
use adumbra_image::{ImageSize, PngImage, write_png};

/// A PNG texture of that size in a folder of tests; its red is 255 in every other column.
fn stripes(name: &str, width: u64, height: u64) -> String {
    let size = ImageSize::new(width, height).expect("a size");
    let pixels = (0..size.pixels()).map(|i| {
        [
            255 * u8::from((i % width as usize).is_multiple_of(2)),
            255,
            0,
        ]
    });
    let bytes: Vec<[u8; 3]> = pixels.collect();
    let png = PngImage {
        size,
        bytes: bytes.as_flattened(),
        has_alpha: false,
        is_srgb: true,
    };
    let mut file = Vec::new();
    write_png(&png, &mut file).expect("memory");
    scratch(name, file)
}

const LOOK: &str =
    "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(global_value<t>); }";

#[test]
fn levels_match_an_independent_table() {
    let table = include_str!("../../../../tests/data/mip_table.csv");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    for line in lines {
        // The only fields with commas are two in quotes, before the levels.
        let (start, rest) = line.split_once(",\"").expect("texels");
        let rest = rest.rsplit_once("\",").expect("levels").1;
        let start: Vec<&str> = start.split(',').collect();
        let rest: Vec<&str> = rest.split(',').collect();
        let column = header
            .iter()
            .position(|name| *name == "gl_iso")
            .expect("a column");
        let expected: f32 = rest[column - 8].parse().expect("a number");
        let [w, h, dudx, dvdx, dudy, dvdy] = [0, 1, 2, 3, 4, 5].map(|i| start[i]);
        let file = stripes(
            &format!("stripes_{w}_{h}.png"),
            w.parse().expect("a width"),
            h.parse().expect("a height"),
        );
        let args = format!(
            "--size 2x2 --view lod --texture wood={file} -g t=0,0:{dudx},{dvdx}:{dudy},{dvdy}"
        );
        let (levels, _) = floats("levels", LOOK, &args);
        for pixel in levels.pixels() {
            assert!((pixel[0] - expected).abs() < 1e-6, "{line}: {}", pixel[0]);
        }
    }
}

#[test]
fn distant_texture_is_its_mean() {
    let file = stripes("stripes.png", 8, 8);
    let look = |step: &str| {
        let args = format!("--size 8x1 --texture wood={file} -g t=0,0:{step},0:0,{step}");
        let (image, _) = floats("near_and_far", LOOK, &args);
        image.pixels().iter().map(|p| p[0]).collect::<Vec<f32>>()
    };
    assert_eq!(look("0.125"), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(look("0.25"), [0.5; 8]);
    assert_eq!(look("100"), [0.5; 8]);
}

#[test]
fn explicit_levels_and_gradients_are_obeyed() {
    let file = stripes("stripes_explicit.png", 8, 8);
    let text = "texture2d wood; shader s(out color c) { float2 t = float2(0.0625, 0.5);
        c = color(texture2d_sample_level<wood>(t, 0.0).x, texture2d_sample_level<wood>(t, 0.5).x,
            texture2d_sample_grad<wood>(t, float2(0.25, 0), float2(0, 0)).x); }";
    let (image, _) = floats(
        "explicit",
        text,
        &format!("--size 1x1 --texture wood={file}"),
    );
    assert_eq!(image.pixels()[0][..3], [1.0, 0.75, 0.5]);
    let (levels, _) = floats(
        "explicit_levels",
        text,
        &format!("--size 1x1 --view lod --texture wood={file}"),
    );
    assert_eq!(levels.pixels()[0][0], 1.0);
}

#[test]
fn texture_without_file_is_checkerboard() {
    let text =
        "texture2d wood; shader s(out color c) { c = texture2d_sample<wood>(global_value<uv>); }";
    let (image, _) = floats("checker", text, "--size 16x16");
    for (i, pixel) in image.pixels().iter().enumerate() {
        let is_even = (i % 16 / 2 + i / 16 / 2) % 2 == 0;
        assert_eq!(pixel[0], f32::from(u8::from(is_even)));
    }
    // Its level is that of 256 texels a side: here 16 of them a pixel.
    let (levels, _) = floats("checker_levels", text, "--size 16x16 --view lod");
    assert!(levels.pixels().iter().all(|p| p[0] == 4.0));
}

#[test]
fn levels_have_colours_and_a_legend() {
    let text = "texture2d wood; shader s(out color c) { float2 uv = global_value<uv>; c = color(0);
        if (uv.x > 0.5) c = texture2d_sample<wood>(uv * 0.0625) + texture2d_sample<wood>(uv * 0.25); }";
    let (colours, printed) = bytes("legend", text, "--size 16x4 --view lod");
    let lines: Vec<&str> = printed.lines().collect();
    // 64 texels a column, 16 rows: 256/4/4 = 16 texels along y, the greater of the two requests.
    assert_eq!(lines[4], "level 4    #c9d13b  32 pixels");
    assert_eq!(lines.last(), Some(&"no texture #282828  32 pixels"));
    assert_eq!(
        (colours[0], colours[15]),
        ([0x28, 0x28, 0x28, 255], [0xc9, 0xd1, 0x3b, 255])
    );
}
