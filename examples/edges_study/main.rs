//! How exact gradients through edges are: pixels of `examples/edges` by both sets of rules, beside
//! the derivative of what a pixel shows, its average over [-Δ, Δ] along an axis.
//!
//! The truth comes from values in f64 alone (`reference`); `rule` has the rules `edge` in f64, so
//! that errors of rounding and errors of the rules are apart. A goal that is missed is printed,
//! and the status is 1.
//!
//! `cargo run --release --example edges_study -- OUT_DIR`

mod convergence;
mod corners;
mod images;
mod plot;
mod reference;
mod rule;
mod study;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The goals, and those of them that are missed.
#[derive(Default)]
struct Goals {
    count: usize,
    missed: Vec<String>,
}

impl Goals {
    fn check(&mut self, is_reached: bool, goal: impl FnOnce() -> String) {
        self.count += 1;
        if !is_reached {
            self.missed.push(goal());
        }
    }
}

fn main() -> Fallible<ExitCode> {
    let out = std::env::args().nth(1);
    let out = out.map_or_else(|| PathBuf::from("target/edges_study"), PathBuf::from);
    std::fs::create_dir_all(&out)?;
    let mut goals = Goals::default();
    convergence::run(&out, &mut goals)?;
    corners::run(&mut goals)?;
    images::run(&out, &mut goals)?;
    let Goals { count, missed } = goals;
    println!("{} of {count} goals", count - missed.len());
    for goal in &missed {
        println!("missed: {goal}");
    }
    Ok(match missed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
