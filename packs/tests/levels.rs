//! The levels of SIMD instructions.

use adumbra_packs::Level;

#[test]
fn levels_are_found_by_name_and_the_best_is_there() {
    for level in Level::ALL {
        assert_eq!(Level::from_name(level.name()), Some(level));
    }
    assert_eq!(Level::from_name("AVX2"), None);
    assert!(Level::best().is_available() && Level::Baseline.is_available());
    let above = Level::ALL
        .into_iter()
        .filter(|&level| level > Level::best());
    assert!(above.into_iter().all(|level| !level.is_available()));
}
