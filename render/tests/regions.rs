//! Regions of images: their pixels have the bits of the whole, and `merge` makes its file of them.

use adumbra_image::{ImageRegion, ImageSize, RegionCorners, read_image};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SCENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/render/floor.json");

const SIZE: [u64; 2] = [50, 35];

/// Regions that begin and end at odd pixels, larger and smaller than tiles; together they are the
/// image.
const REGIONS: [[u64; 4]; 4] = [
    [0, 0, 39, 21],
    [39, 0, 50, 35],
    [0, 21, 1, 35],
    [1, 21, 39, 35],
];

fn run(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_adumbra-render"))
        .args(arguments)
        .output();
    command.expect("the command runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is there")
}

/// A folder that images are drawn into.
struct Drawings(TempDir);

impl Drawings {
    fn new() -> Drawings {
        Drawings(TempDir::new().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Draws the scene into a file, with options that spaces separate.
    fn try_draw(&self, name: &str, more: &str) -> (PathBuf, Output) {
        let out = self.path(name);
        let size = format!("{}x{}", SIZE[0], SIZE[1]);
        let mut arguments = vec![SCENE, "-o", text(&out), "--no-texture-cache"];
        for [option, value] in [["--size", &size], ["--spp", "2"]] {
            if !more.contains(option) {
                arguments.extend([option, value]);
            }
        }
        arguments.extend(more.split_whitespace());
        let output = run(&arguments);
        (out, output)
    }

    fn draw(&self, name: &str, more: &str) -> PathBuf {
        let (out, output) = self.try_draw(name, more);
        assert!(output.status.success(), "{more}: {}", said(&output));
        out
    }

    /// Draws the scene's regions.
    fn parts(&self, regions: &[[u64; 4]], more: &str) -> Vec<PathBuf> {
        let regions = regions.iter().enumerate();
        let draw = |(at, corners): (usize, &[u64; 4])| {
            let more = format!("--region {} {more}", RegionCorners(*corners));
            self.draw(&format!("part{at}.exr"), &more)
        };
        regions.map(draw).collect()
    }

    fn merge(&self, parts: &[PathBuf]) -> (PathBuf, Output) {
        let out = self.path("merged.exr");
        let parts = parts.iter().map(|part| text(part));
        let arguments = ["merge"].into_iter().chain(parts);
        let arguments: Vec<&str> = arguments.chain(["-o", text(&out)]).collect();
        let output = run(&arguments);
        (out, output)
    }

    /// What is said of parts that cannot be merged.
    fn refused(&self, parts: &[PathBuf]) -> String {
        let (out, output) = self.merge(parts);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(!out.exists() && output.stdout.is_empty());
        said(&output)
    }
}

#[test]
fn parts_merge_to_the_file_of_the_whole() {
    let drawings = Drawings::new();
    for (whole_by, parts_by) in [
        ("--engine batch", "--engine point --threads 1"),
        ("--engine batch", "--engine native --texture-memory 1"),
        (
            "--spp 5 --pixel-filter gaussian",
            "--spp 5 --pixel-filter gaussian --block",
        ),
        (
            "--derivatives quad-fine",
            "--derivatives quad-fine --engine point",
        ),
        (
            "--alpha --seed 7 --bounces 6",
            "--alpha --seed 7 --bounces 6 --threads 3",
        ),
        ("--view level", "--view level"),
        ("--view footprint", "--view footprint"),
        ("--view derivative=uvw", "--view derivative=uvw"),
    ] {
        let whole = drawings.draw("whole.exr", whole_by);
        let (merged, output) = drawings.merge(&drawings.parts(&REGIONS, parts_by));
        assert!(output.status.success(), "{parts_by}: {}", said(&output));
        assert!(read(&merged) == read(&whole), "{parts_by}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            printed.ends_with("merged.exr: 50×35, 4 parts\n"),
            "{printed}"
        );
    }
}

#[test]
fn one_part_may_be_all() {
    let drawings = Drawings::new();
    let whole = drawings.draw("whole.exr", "");
    for all in [drawings.parts(&[[0, 0, 50, 35]], ""), vec![whole.clone()]] {
        let (merged, output) = drawings.merge(&all);
        assert!(output.status.success(), "{}", said(&output));
        assert!(read(&merged) == read(&whole));
    }
}

#[test]
fn png_is_cropped() {
    let drawings = Drawings::new();
    let size = ImageSize::new(SIZE[0], SIZE[1]).expect("it has pixels");
    let region: ImageRegion = RegionCorners([3, 1, 44, 34])
        .within(size)
        .expect("it is inside");
    for more in ["", "--view level", "--alpha"] {
        let whole = drawings.draw("whole.png", more);
        let part = drawings.draw("part.png", &format!("--region {region} {more}"));
        let [whole, part] = [whole, part].map(|file| read_image(&file).expect("an image"));
        assert_eq!(part.size(), region.size());
        for (at, pixel) in part.pixels().iter().enumerate() {
            let [x, y] = region.place(at);
            let expected = whole.pixels()[y * SIZE[0] as usize + x];
            assert_eq!(*pixel, expected, "{more} {x},{y}");
        }
    }
}

#[test]
fn difference_is_to_the_pixels_of_the_region() {
    let drawings = Drawings::new();
    let whole = drawings.draw("whole.exr", "");
    let more = format!(
        "--region 7,5,50,20 --view difference --reference {}",
        text(&whole)
    );
    let (_, output) = drawings.try_draw("part.exr", &more);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed, "RMSE        0.000000\n", "{}", said(&output));
}

#[test]
fn parts_that_are_no_image_are_refused() {
    let drawings = Drawings::new();
    let whole = drawings.draw("whole.png", "");
    let parts = drawings.parts(&REGIONS, "");
    let said = drawings.refused(&parts[..3]);
    let gap = "532 of 1750 pixels are missing: no part has region 1,21,39,35";
    assert!(said.contains(gap), "{said}");
    let said = drawings.refused(&[&parts[..], &parts[1..2]].concat());
    let shared = "both have the pixels of region 39,0,50,35";
    assert!(said.contains(shared), "{said}");
    let others = "are parts of different images";
    let difference = format!("--view difference --reference {}", text(&whole));
    for (more, expected) in [
        ("--seed 3", others),
        ("--time 1", others),
        (&difference, others),
        ("--alpha", "have 3 numbers"),
        ("--size 60x35", "is a part of an image of 50x35"),
    ] {
        let other = drawings.draw("other.exr", &format!("--region 1,21,39,35 {more}"));
        let said = drawings.refused(&[&parts[..3], &[other]].concat());
        for part in [expected, "part0.exr", "other.exr"] {
            assert!(said.contains(part), "{more}: {said}");
        }
    }
    let cut = drawings.path("cut.exr");
    let bytes = read(&parts[3]);
    std::fs::write(&cut, &bytes[..bytes.len() - 9]).expect("it is written");
    for file in [cut, drawings.path("nosuch.exr"), whole] {
        let said = drawings.refused(&[&parts[..3], std::slice::from_ref(&file)].concat());
        assert!(said.contains(&format!("{}: ", file.display())), "{said}");
    }
}

#[test]
fn misused_regions_and_merges_are_refused() {
    let drawings = Drawings::new();
    let beyond = "goes beyond the image of 50x35: it ends at 50,35 at most";
    for (name, more, expected) in [
        ("a.exr", "--region 0,0,51,35", beyond),
        ("a.exr", "--region 50,0,51,35", beyond),
        ("a.exr", "--region 0,0,18446744073709551617,1", beyond),
        ("a.exr", "--region 4,4,4,9", "region 4,4,4,9 has no pixels"),
        ("a.exr", "--region 9,4,4,9", "region 9,4,4,9 has no pixels"),
        (
            "a.exr",
            "--region 0,0,4",
            "is no region: one is X0,Y0,X1,Y1",
        ),
        ("a.exr", "--region -1,0,4,4", "`-1,0,4,4` is no region"),
        (
            "a.png",
            "--region 0,0,4,4 --view derivative=uvw",
            "write an .exr file, which has the numbers",
        ),
    ] {
        let (out, output) = drawings.try_draw(name, more);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{more}: {said}");
        assert!(said.contains(expected), "{more}: {said}");
        assert!(!out.exists());
    }
    let part = drawings.draw("part.exr", "--region 0,0,50,35");
    let [exr, png] = ["out.exr", "out.png"].map(|name| drawings.path(name));
    for (arguments, expected) in [
        (&["merge", "-o", text(&exr)][..], "<PART>..."),
        (&["merge", text(&part)], "--out <FILE>"),
        (
            &["merge", text(&part), "-o", text(&png)],
            "does not end in .exr",
        ),
        (
            &["merge", text(&part), "-o", text(&part)],
            "write the image to another file",
        ),
    ] {
        let output = run(arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}
