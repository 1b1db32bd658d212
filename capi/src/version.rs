//! The version of the library and of its interface.

use std::ffi::{CStr, c_char};

/// The number of the interface that this header describes. It grows when something is added; what
/// is there stays.
pub const ADUMBRA_API: u32 = 13;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// The version of the library, as in `0.1.0`. The string lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn adumbra_version() -> *const c_char {
    VERSION.as_ptr()
}

/// The `ADUMBRA_API` that the library was built with: at least that of the header that a host was
/// compiled with, or functions are missing.
#[unsafe(no_mangle)]
pub extern "C" fn adumbra_api() -> u32 {
    ADUMBRA_API
}
