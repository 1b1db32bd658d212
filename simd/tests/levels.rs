//! The levels of SIMD instructions.

use adumbra_simd::SimdLevel;
#[cfg(all(target_arch = "x86_64", unix))]
use {
    adumbra_simd::{find_copy, find_faults, find_op, find_superinstruction, find_test},
    object::{Object as _, ObjectSymbol as _},
    std::hint::black_box,
    std::path::{Path, PathBuf},
};

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

/// The text of all files in a folder.
#[cfg(all(target_arch = "x86_64", unix))]
fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).expect("it can be read");
    let paths = entries.map(|entry| entry.expect("it has a path").path());
    let text = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => std::fs::read_to_string(path).expect("it can be read"),
    };
    paths.map(text).collect()
}

/// Every intrinsic is inlined into the routines of its level. It cannot be inlined into a function
/// between, which lacks the level's features, such as the closure of an array's `map`: each is a
/// call then that takes its vectors through memory. This binary has all routines, optimised in all
/// profiles; it is searched for intrinsics that are functions.
#[cfg(all(target_arch = "x86_64", unix))]
#[test]
#[cfg_attr(miri, ignore = "Miri makes no binary")]
fn intrinsics_are_inlined() {
    // What is referred to is linked.
    black_box([
        find_copy as *const (),
        find_op as *const (),
        find_test as *const (),
        find_faults as *const (),
        find_superinstruction as *const (),
    ]);
    let path = std::env::current_exe().expect("the test has a path");
    let binary = std::fs::read(path).expect("it can be read");
    let binary = object::File::parse(&*binary).expect("it is an object");
    let symbols = binary.symbols().filter(|symbol| symbol.is_definition());
    let names: Vec<&str> = symbols.filter_map(|symbol| symbol.name().ok()).collect();
    let is_routine = |name: &&str| name.contains("adumbra_simd") && name.contains("avx2");
    assert!(
        names.iter().any(is_routine),
        "the binary has symbols: `strip` is `none`"
    );
    // Other crates have intrinsics too.
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let is_intrinsic = |name: &&str| {
        let at = name.find("_mm").filter(|_| name.contains("core_arch"));
        at.is_some_and(|at| sources.contains(&name[at..]))
    };
    assert!(sources.contains("_mm256_mul_ps"));
    let found: Vec<&str> = names.into_iter().filter(is_intrinsic).collect();
    assert!(found.is_empty(), "{found:#?}");
}
