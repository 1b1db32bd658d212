//! `--region`: each pixel has the bits of the whole image, with every option; and what is refused.

use super::*;
use adumbra_image::{ImageRegion, ImageSize, RegionCorners, merge_parts};

/// Every kind of pixel: derivatives, branches, textures, edges, messages and faults.
const SHADER: &str = "texture2d wood; shader s(out float4 c) {
    float2 p = global_value<pixel>;
    float x = p.x;
    while (x > 3) x = x * 0.5 - 1;
    if (p.x > 15 && p.y > 11) printf(\"%g\", p.x);
    int d = 7 / ((int)p.x - 9);
    float edge = length(p - 9.3) < 6.2 ? 0.75 : 0.0;
    c = float4(texture2d_sample<wood>(p / 9) * fwidth(x * p.y) + d, edge + global_value<time>);
}";

const SIZE: [u64; 2] = [19, 13];

/// Regions that begin and end at odd pixels and at edges; together they are the image.
const REGIONS: [[u64; 4]; 4] = [[0, 0, 7, 5], [7, 0, 19, 5], [0, 5, 18, 13], [18, 5, 19, 13]];

fn region(corners: [u64; 4]) -> ImageRegion {
    let size = ImageSize::new(SIZE[0], SIZE[1]).expect("it has pixels");
    RegionCorners(corners).within(size).expect("it is inside")
}

fn option(corners: [u64; 4]) -> String {
    format!(
        "--size {}x{} --region {}",
        SIZE[0],
        SIZE[1],
        region(corners)
    )
}

fn bits(pixels: &[[f32; 4]]) -> Vec<[u32; 4]> {
    pixels.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
}

#[test]
fn parts_merge_to_the_file_of_the_whole() {
    for (number, more) in [
        "",
        "--engine reference",
        "--engine point --time 0.5",
        "--engine native --samples 3",
        "--view width --derivatives quad-fine",
        "--view ddy --derivatives quad-coarse --coarse lower-left --engine point",
        "--derivatives quad-fine --engine batch",
        "--view lod",
        "--view nan",
        "--surface --output c -g pixel=3,4:0.7,0.1:0.2,0.9",
    ]
    .into_iter()
    .enumerate()
    {
        check_merged(&number.to_string(), SHADER, more);
    }
}

#[test]
fn edges_at_the_rim_of_regions_are_located() {
    // Edges within a pixel of each rim, along both axes.
    let text = "shader s(out float2 c) {
        float2 p = global_value<pixel>;
        c = float2(length(p - 9.3) < 6.2 ? 0.75 : 0.0, p.x + 0.3 * p.y < 7.4 ? p.y : 0.25 * p.x);
    }";
    for (number, reach) in ["", ":0.5 --engine point", " --threads 3"]
        .into_iter()
        .enumerate()
    {
        check_merged(
            &format!("edges_{number}"),
            text,
            &format!("--antialias edges{reach}"),
        );
    }
    // A neighbour is the pixel itself, which is just short of an edge that a move by the derivative
    // would lead across.
    let first = 6.3_f32;
    let columns = |slope: f32| {
        let at = |column: f64| (f64::from(first) + column * f64::from(slope)) as f32;
        let moved = (f64::from(at(6.5)) + f64::from(slope)) as f32;
        (at(7.5), moved)
    };
    let is_between = |slope: &f32| {
        let (there, moved) = columns(*slope);
        moved.next_up() < there
    };
    let mut slopes = (0..100).map(|step| -0.8 - step as f32 / 10_000.0);
    let slope = slopes.find(is_between).expect("some are rounded otherwise");
    let edge = columns(slope).1.next_up();
    let text = format!("shader s(out float c) {{ c = global_value<x> > {edge:?} ? 0.0 : 1e30; }}");
    check_merged(
        "edges_bits",
        &text,
        &format!("--antialias edges -g x={first:?}:{slope:?}"),
    );
}

#[test]
fn pixels_with_too_many_edges_have_places_in_the_image() {
    let text =
        "shader s(out float c) { c = fract(global_value<pixel>.x * 41.3) < 0.5 ? 1.0 : 0.0; }";
    for (corners, expected) in [
        // Columns beside the region are looked at, too.
        (
            [3, 3, 6, 6],
            "15 pixels, of the region and right beside it, have too many edges",
        ),
        ([3, 3, 6, 6], "the first is (2, 3)"),
        ([0, 0, 19, 13], "247 pixels have too many edges"),
    ] {
        let (ran, _) = draw(
            "many_edges.exr",
            text,
            &format!("{} --antialias edges", option(corners)),
        );
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

/// Parts with these options merge to the file that the whole image has.
fn check_merged(name: &str, text: &str, more: &str) {
    let size = format!("--size {}x{}", SIZE[0], SIZE[1]);
    let (ran, whole) = draw(
        &format!("whole_{name}.exr"),
        text,
        &format!("{size} {more}"),
    );
    assert_eq!(ran.code, 0, "{more}: {}", ran.stderr);
    let parts = REGIONS.iter().enumerate().map(|(at, corners)| {
        let name = format!("part_{name}_{at}.exr");
        let (ran, file) = draw(&name, text, &format!("{} {more}", option(*corners)));
        assert_eq!(ran.code, 0, "{more}: {}", ran.stderr);
        file
    });
    let parts: Vec<PathBuf> = parts.collect();
    let merged = merge_parts(&parts).unwrap_or_else(|error| panic!("{more}: {error}"));
    let mut bytes = std::io::Cursor::new(Vec::new());
    adumbra_image::write_exr(&merged, 1, &mut bytes).expect("memory");
    let expected = std::fs::read(whole).expect("an image");
    assert!(bytes.into_inner() == expected, "{more}");
}

#[test]
fn png_is_cropped() {
    let size = format!("--size {}x{}", SIZE[0], SIZE[1]);
    for (number, view) in ["value", "ddx --scale 2", "lod"].into_iter().enumerate() {
        let (whole, _) = bytes(
            &format!("crop_whole_{number}"),
            SHADER,
            &format!("{size} --view {view}"),
        );
        let args = format!("{} --view {view}", option([3, 1, 18, 9]));
        let (part, _) = bytes(&format!("crop_part_{number}"), SHADER, &args);
        let region = region([3, 1, 18, 9]);
        assert_eq!(part.len(), region.size().pixels());
        for (at, pixel) in part.iter().enumerate() {
            let [x, y] = region.place(at);
            assert_eq!(*pixel, whole[y * SIZE[0] as usize + x], "{view} {x},{y}");
        }
    }
}

#[test]
fn places_are_those_of_the_image() {
    let args = format!("{} --engine point", option([9, 11, 19, 13]));
    let (ran, _) = draw("places.exr", SHADER, &args);
    assert!(
        ran.stdout.starts_with("(15, 11) 15.5\n(16, 11) 16.5\n"),
        "{}",
        ran.stdout
    );
    let fault = "at 2 pixels, the first (9, 11)";
    assert!(ran.stderr.contains(fault), "{}", ran.stderr);
    let text =
        "shader s(out float o) { float2 p = global_value<pixel>;\n o = sqrt(8 - p.x - p.y); }";
    for derivatives in ["dual", "quad-fine"] {
        let args = format!(
            "{} --view nan --derivatives {derivatives}",
            option([3, 3, 9, 9])
        );
        let (ran, _) = draw("places_nan.exr", text, &args);
        for expected in [
            "NaN (red): 33 pixels, the first at (5, 3)",
            "at (5, 3) `o` became NaN in",
        ] {
            assert!(ran.stdout.contains(expected), "{}", ran.stdout);
        }
    }
}

#[test]
fn frames_have_parts_of_their_own() {
    let text = "shader s(out float o) { o = global_value<time> + global_value<uv>.x; }";
    let mut files = Vec::new();
    for (at, corners) in [[0, 0, 19, 4], [0, 4, 19, 13]].into_iter().enumerate() {
        let args = format!("{} --time 0..1 --frames 2", option(corners));
        let (ran, file) = draw(&format!("frames_{at}.exr"), text, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let frame = |n: u32| file.with_file_name(format!("frames_{at}_000{n}.exr"));
        files.push([frame(1), frame(2)]);
    }
    let [[a1, a2], [b1, b2]] = files.try_into().expect("two");
    for (parts, expected) in [([a1.clone(), b1], 0.0), ([a2, b2.clone()], 0.5)] {
        let merged = merge_parts(&parts).expect("they are parts of one frame");
        let first = 0.5 / SIZE[0] as f32 + expected;
        assert!((merged.pixels()[0][0] - first).abs() < 1e-6);
    }
    let error = merge_parts(&[a1, b2]).expect_err("they are of two frames");
    assert!(
        error.to_string().contains("parts of different images"),
        "{error}"
    );
}

#[test]
fn whole_region_has_the_pixels_of_the_image() {
    let size = format!("--size {}x{}", SIZE[0], SIZE[1]);
    let (whole, _) = floats("all_whole", SHADER, &size);
    let (part, _) = floats("all_part", SHADER, &option([0, 0, SIZE[0], SIZE[1]]));
    assert_eq!(bits(part.pixels()), bits(whole.pixels()));
}

#[test]
fn misused_regions_are_refused() {
    for (args, expected) in [
        ("--region 0,0,1", "is no region: one is X0,Y0,X1,Y1"),
        ("--region -1,0,3,3", "`-1,0,3,3` is no region"),
        ("--region 3,0,3,9", "region 3,0,3,9 has no pixels"),
        ("--region 5,5,4,9", "region 5,5,4,9 has no pixels"),
        (
            "--region 0,0,9,9",
            "goes beyond the image of 8x8: it ends at 8,8 at most",
        ),
        ("--region 8,0,9,8", "goes beyond the image of 8x8"),
        ("--region 0,0,4294967297,1", "goes beyond the image of 8x8"),
        (
            "--region 0,0,99999999999999999999999,1",
            "goes beyond the image of 8x8",
        ),
        (
            "--region 0,0,4,4 --view ddx",
            "give it by `--scale S`, or write an .exr file",
        ),
        (
            "--region 0,0,4,4 --view width",
            "give it by `--scale S`, or write an .exr file",
        ),
    ] {
        let (ran, file) = draw("region_refused.png", SHADER, &format!("--size 8x8 {args}"));
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{args}: {}", ran.stderr);
        assert!(!file.exists(), "{args}");
    }
    let source = scratch("region_at.adu", SHADER);
    let ran = adumbra(["image", &source, "--at", "1,1", "--region", "0,0,4,4"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("without -o nothing is"),
        "{}",
        ran.stderr
    );
}

#[test]
fn followed_pixels_are_those_of_the_whole_image() {
    let follow = |more: &str| {
        let args = format!("{} --at 2,3 {more}", option([4, 4, 8, 8]));
        let (ran, file) = draw("follow_region.exr", SHADER, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(read_image(&file).expect("an image").pixels().len(), 16);
        ran.stdout
    };
    assert!(follow("").starts_with("pixel 2,3 of 19x13\n"));
}
