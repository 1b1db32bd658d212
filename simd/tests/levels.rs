//! The levels of SIMD instructions.

use adumbra_simd::SimdLevel;

#[test]
fn levels_are_found_by_name_and_the_best_is_there() {
    for level in SimdLevel::ALL {
        assert_eq!(SimdLevel::from_name(level.name()), Some(level));
    }
    assert_eq!(SimdLevel::from_name("AVX2"), None);
    assert!(SimdLevel::best().is_available() && SimdLevel::Baseline.is_available());
    let above = SimdLevel::ALL
        .into_iter()
        .filter(|&level| level > SimdLevel::best());
    assert!(above.into_iter().all(|level| !level.is_available()));
}
