//! The binary of the `adumbra` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    adumbra_cli::run_command(std::env::args_os()).into()
}
