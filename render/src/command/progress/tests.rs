//! Damaged files: any change is either found or harmless.

use super::*;
use crate::frame;
use adumbra_image::{ImageSize, RegionCorners};

fn size(width: u64, height: u64) -> ImageSize {
    ImageSize::new(width, height).expect("it has pixels")
}

/// The tiles of the inputs' region.
fn tiles() -> Vec<ImageTile> {
    frame::tiles(inputs().region.into())
}

fn inputs() -> ImageInputs {
    ImageInputs {
        region: ImageRegion::whole(size(40, 33)),
        scene: 1,
        images: 2,
        options: 3,
    }
}

/// The tiles that are restored, with the first number of each.
fn resume(out: &Path, inputs: &ImageInputs) -> Result<Vec<(usize, f32)>, String> {
    let mut found = Vec::new();
    let restore = |tile: usize, pixels: &[[f32; 4]]| found.push((tile, pixels[0][0]));
    let file = ProgressFile::open(out, inputs, &tiles(), true, restore);
    file.map(|_| found).map_err(|error| error.to_string())
}

/// A file with all four tiles, in an order of their own.
fn whole(out: &Path) -> Vec<u8> {
    let all = tiles();
    let file = ProgressFile::open(out, &inputs(), &all, false, |_, _| panic!("it is new"));
    let mut file = file.expect("it is opened").expect("it is written");
    for tile in [2, 0, 3, 1] {
        let area = (all[tile].width * all[tile].height) as usize;
        let pixels = vec![[tile as f32, f32::NAN, -0.0, 1.0]; area];
        file.append(tile, &pixels).expect("it is written");
    }
    std::fs::read(progress_path(out)).expect("it is there")
}

#[test]
fn files_cut_anywhere_keep_their_whole_tiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.png");
    let bytes = whole(&out);
    let drawn = [(2, 2.0), (0, 0.0), (3, 3.0), (1, 1.0)];
    let areas = [32, 1024, 8, 256].map(|area: usize| 16 + 16 * area);
    let ends: Vec<usize> = (0..=4)
        .map(|count| HEADER_BYTES + areas[..count].iter().sum::<usize>())
        .collect();
    assert_eq!(bytes.len(), ends[4]);
    let near = |cut: usize| ends.iter().any(|end| end.abs_diff(cut) < 20);
    for cut in (0..=bytes.len()).filter(|cut| cut % 97 == 0 || near(*cut)) {
        std::fs::write(progress_path(&out), &bytes[..cut]).expect("it is written");
        let count = ends
            .iter()
            .filter(|end| **end <= cut)
            .count()
            .saturating_sub(1);
        assert_eq!(
            resume(&out, &inputs()),
            Ok(drawn[..count].to_vec()),
            "{cut}"
        );
        let left = std::fs::read(progress_path(&out)).expect("it is there");
        assert!(left == bytes[..ends[count]], "{cut}: the rest is cut off");
    }
}

#[test]
fn changed_bytes_drop_the_tiles_from_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.png");
    let bytes = whole(&out);
    for at in (0..bytes.len()).filter(|at| at % 53 == 0 || *at < HEADER_BYTES + 12) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        std::fs::write(progress_path(&out), &changed).expect("it is written");
        let tiles = resume(&out, &inputs()).expect("damage is no error");
        let whole = [528, 16_400, 144, 4_112]
            .iter()
            .scan(HEADER_BYTES, |end, record| {
                *end += record;
                Some(*end)
            });
        let count = match at < HEADER_BYTES {
            true => 0,
            false => whole.take_while(|end| *end <= at).count(),
        };
        assert_eq!(tiles.len(), count, "{at}");
    }
}

#[test]
fn progress_of_another_image_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.png");
    let bytes = whole(&out);
    for (other, part) in [
        (
            ImageInputs {
                scene: 9,
                ..inputs()
            },
            "the scene has changed",
        ),
        (
            ImageInputs {
                images: 9,
                ..inputs()
            },
            "the images of the scene",
        ),
        (
            ImageInputs {
                options: 9,
                ..inputs()
            },
            "the options are others",
        ),
        (
            ImageInputs {
                region: ImageRegion::whole(size(33, 40)),
                ..inputs()
            },
            "its size is another",
        ),
        (
            ImageInputs {
                region: RegionCorners([0, 0, 39, 33])
                    .within(size(40, 33))
                    .expect("inside"),
                ..inputs()
            },
            "its region is another",
        ),
    ] {
        let error = resume(&out, &other).expect_err("it is another image");
        assert!(error.contains(part), "{error}");
    }
    let left = std::fs::read(progress_path(&out)).expect("it is there");
    assert!(left == bytes, "a refusal drops nothing");
}

#[test]
fn two_processes_cannot_draw_one_image() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("a.png");
    let open = || ProgressFile::open(&out, &inputs(), &tiles(), true, |_, _| {});
    let first = open().expect("it is opened").expect("it is written");
    let error = open().expect_err("it is locked").to_string();
    assert!(error.contains("another process draws"), "{error}");
    first.finish();
    open().expect("it is free");
}
