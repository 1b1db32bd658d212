//! Passes the target to the tests, which look for its C compiler, and sets the shared library's own
//! name.
//!
//! Programs that were linked to it look for that name, wherever the file was at link time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| std::env::var(name).unwrap_or_default();
    let target = std::env::var("TARGET").expect("cargo sets TARGET");
    println!("cargo::rustc-env=ADUMBRA_TARGET={target}");
    // No function of the interface is removed, so one name serves all versions.
    let name = match (
        &*of_target("CARGO_CFG_TARGET_VENDOR"),
        &*of_target("CARGO_CFG_TARGET_FAMILY"),
    ) {
        ("apple", _) => "-Wl,-install_name,@rpath/libadumbra_capi.dylib",
        (_, "unix") => "-Wl,-soname,libadumbra_capi.so",
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={name}");
}
