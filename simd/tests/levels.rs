//! The levels of SIMD instructions.

use adumbra_simd::SimdLevel;

#[test]
fn level_names_round_trip() {
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
