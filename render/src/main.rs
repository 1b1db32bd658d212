//! The command `adumbra-render`: draws scenes, merges their parts, and converts
//! textures to tiled files.

mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::run(command::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("adumbra-render: {error}");
            match error.is::<command::UsageError>() {
                true => ExitCode::from(2),
                false => ExitCode::FAILURE,
            }
        }
    }
}
