//! The binary of the command `adumbra-render`: draws scenes, merges their parts, and converts
//! textures to tiled files.

use std::process::ExitCode;

fn main() -> ExitCode {
    adumbra_render::run_command(std::env::args_os()).into()
}
