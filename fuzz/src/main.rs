//! The campaign command: `cargo run --release -p adumbra-fuzz -- show SEED` prints the program that a seed stands for.

use adumbra_fuzz::{Profile, Program};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["show", seed] => match seed.parse() {
            Ok(seed) => {
                print!("{}", Program::of_seed(seed, Profile::ANY).source);
                ExitCode::SUCCESS
            }
            Err(_) => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: adumbra-fuzz show SEED");
    ExitCode::from(2)
}
