//! The command `adumbra-render`.
fn main() {}
