//! The example of an embedder: it runs, shows what it is meant to show, and stays short.

use super::embed;
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
