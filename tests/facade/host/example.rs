//! The examples for embedders: they run, show what they are meant to show, and stay short.

use super::{embed, toy};
use std::collections::BTreeSet;

#[test]
fn the_example_blurs_tiles_towards_the_horizon() {
    let image = embed::render().unwrap();
    let rows: Vec<&str> = image.lines().collect();
    assert_eq!(rows.len(), 20);
    let shades = |row: &str| row.bytes().collect::<BTreeSet<u8>>().len();
    assert!(rows.iter().all(|row| row.len() == 64));
    assert!(rows[..4].iter().all(|row| shades(row) == 1), "{image}");
    assert!(rows[4..].iter().all(|row| shades(row) > 1), "{image}");
    // Near the eye the tiles are bright and dark.
    assert!(rows[19].contains('.') && rows[19].contains('#'), "{image}");
}

#[test]
fn the_example_is_read_in_five_minutes() {
    assert!(include_str!("../../../examples/embed.rs").lines().count() <= 100);
    embed::main().unwrap();
}

/// The toy renderer's image with this number of threads, as bits.
fn toy_image(threads: usize) -> Vec<[u32; 3]> {
    let (pixels, shares) = toy::render(60, threads).unwrap();
    assert_eq!((pixels.len(), shares.len()), (60 * 96, threads));
    assert!(pixels.iter().all(|pixel| pixel.is_finite()));
    let bits = pixels
        .iter()
        .map(|pixel| pixel.to_array().map(f32::to_bits));
    bits.collect()
}

#[test]
fn toy_image_is_one_for_all_threads() {
    let image = toy_image(1);
    assert!(toy_image(2) == image && toy_image(3) == image);
    // Something of everything is there: the sky above, and surfaces of many shades below it.
    let (sky, ground) = (image[0], &image[image.len() * 3 / 4..]);
    assert!(image.iter().filter(|pixel| **pixel == sky).count() > 60 * 96 / 10);
    assert!(ground.iter().all(|pixel| *pixel != sky));
    assert!(ground.iter().collect::<BTreeSet<_>>().len() > 500);
}

#[test]
fn toy_fits_in_150_lines() {
    let text = include_str!("../../../examples/toy.rs");
    assert!(text.lines().count() <= 150);
    assert!(text.lines().all(|line| line.chars().count() <= 100));
}
