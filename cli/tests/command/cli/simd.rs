//! The SIMD level that the environment asks for.

use adumbra::batch::{SIMD_VARIABLE, SimdLevel};
use std::process::Command;

#[test]
fn simd_level_is_chosen_by_name() {
    let run = |simd: &str| {
        Command::new(env!("CARGO_BIN_EXE_adumbra"))
            .args(["eval", "sin(x) / 3", "-g", "x=0.5:1:0", "--engine", "batch"])
            .env(SIMD_VARIABLE, simd)
            .output()
            .unwrap()
    };
    let expected = run("baseline");
    assert!(expected.status.success() && !expected.stdout.is_empty());
    for level in SimdLevel::ALL {
        let ran = run(level.name());
        if level.is_available() {
            assert_eq!(ran.stdout, expected.stdout, "{level}");
        } else {
            let said = String::from_utf8(ran.stderr).unwrap();
            assert!(
                said.contains("lacks") && said.contains(level.name()),
                "{said}"
            );
        }
    }
    let said = String::from_utf8(run("mmx").stderr).unwrap();
    assert!(said.contains("no SIMD level `mmx`"), "{said}");
}
