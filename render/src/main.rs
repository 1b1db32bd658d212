//! The command `adumbra-render`: draws scenes, and converts textures to tiled files.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::run(command::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("adumbra-render: {error}");
            ExitCode::FAILURE
        }
    }
}
