//! Tells the tests for which target they were built, so that they find its C compiler.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    println!("cargo::rustc-env=ADUMBRA_TARGET={target}");
}
