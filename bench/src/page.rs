//! Brings `docs/performance.md` up to date.

use adumbra_cli::benchmarks::{BenchReport, updated_page};
use adumbra_fuzz::bits::root;
use std::process::Command;
use std::{env, fs, thread};

/// Writes the results of a report, the date and the processor into the page.
///
/// # Panics
/// If the page cannot be read or written.
pub fn update(report: &BenchReport) {
    let path = root().join("docs/performance.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let (arch, os) = (env::consts::ARCH, env::consts::OS);
    let measured = format!(
        "{}, on {cores} cores of {}, {arch}, {os}",
        date(),
        processor()
    );
    fs::write(&path, updated_page(&page, report, &measured)).expect("the page can be written");
}

/// The date of today, as the system's command gives it.
fn date() -> String {
    let output = Command::new("date").arg("+%F").output();
    let date = output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok());
    date.map_or("an unknown day".to_owned(), |date| date.trim().to_owned())
}

/// The processor's name, as Linux gives it.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or("an unknown processor", |(_, name)| name.trim())
        .to_owned()
}
