//! Success rates of `adumbra fit` on the programs of `examples/fit`, by each of its methods.
//!
//! All methods of a program have the same starts, targets and processor time, in slices, [`JOBS`]
//! at once, so that what else the machine does meets all alike. A restart succeeds if its loss
//! without noise is below twice the least that any method reached, and at most [`FRACTION`] of
//! the mean loss of the starts. The first restart, from the program's defaults, does not count;
//! nor does the last one if it is not over.

use adumbra_fit::{RestartRecord, SuccessStatistics, TracePoint};
use clap::Parser;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, fs, io, thread};

/// The greatest share of the mean loss of the starts that is a success.
pub const FRACTION: f64 = 0.25;

/// Seconds that a method fits at a time.
const SLICE: &str = "10";

/// Methods that fit at once, each on one thread.
const JOBS: usize = 2;

/// Seconds of processor time of a method, so that all of a program take an hour by [`JOBS`].
const SECONDS: f64 = 3600.0 * JOBS as f64 / METHODS.len() as f64;

/// Success rates of fits, by method
#[derive(Debug, Parser)]
#[command(name = "adumbra-bench fits", no_binary_name = true)]
pub struct FitRates {
    /// The command `adumbra`
    pub command: PathBuf,
    /// Programs of `examples/fit`; all without any
    pub programs: Vec<String>,
    /// Restarts of each method, if its time suffices: 100, or fewer of programs that march, if not
    /// given
    #[arg(long)]
    pub restarts: Option<usize>,
    /// Seconds of processor time of each method and program
    #[arg(long, default_value_t = SECONDS)]
    pub seconds: f64,
    /// The sizes of the specification
    #[arg(long)]
    pub full: bool,
    /// What sides are multiplied by
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// The seed of starts and noise
    #[arg(long, default_value_t = 1)]
    pub random_seed: u64,
    /// The folder of states, so that a run can go on
    #[arg(long, default_value = "target/fits")]
    pub folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A program with the sizes that it is fitted in: here, and with `--full`.
struct FitProgram {
    name: &'static str,
    /// The program of `examples/fit/targets` that draws the target.
    target: &'static str,
    size: [u32; 2],
    full: [u32; 2],
    /// Restarts of each method.
    restarts: usize,
    /// Whether its inputs feed a march, which has no random variables (Aδ, appendix D.4).
    marches: bool,
}

const PROGRAMS: [FitProgram; 9] = [
    program("disc", [64, 64], [256, 256]),
    program("ring", [64, 64], [256, 256]),
    program("path", [128, 8], [512, 32]),
    program("rings", [240, 120], [960, 480]),
    program("knot", [160, 160], [640, 640]),
    program("ball", [96, 96], [512, 512]),
    FitProgram {
        target: "boxes",
        restarts: 40,
        marches: true,
        ..program("boxes_marched", [160, 160], [640, 640])
    },
    FitProgram {
        target: "boxes",
        ..program("boxes_cast", [160, 160], [640, 640])
    },
    FitProgram {
        restarts: 10,
        marches: true,
        ..program("cut_sphere", [240, 240], [960, 960])
    },
];

const fn program(name: &'static str, size: [u32; 2], full: [u32; 2]) -> FitProgram {
    FitProgram {
        name,
        target: name,
        size,
        full,
        restarts: 100,
        marches: false,
    }
}

impl FitProgram {
    /// The methods that fit it.
    fn methods(&self) -> impl Iterator<Item = Method> {
        let methods = METHODS.into_iter();
        methods.filter(|method| !(self.marches && method.noise == "on"))
    }
}

/// A method: rules, and whether there is noise.
#[derive(Clone, Copy, Debug)]
struct Method {
    rules: &'static str,
    noise: &'static str,
}

const METHODS: [Method; 7] = [
    method("edge", "off"),
    method("edge", "on"),
    method("pair", "off"),
    method("pair", "on"),
    method("fd", "off"),
    method("spsa", "off"),
    method("smooth", "off"),
];

const fn method(rules: &'static str, noise: &'static str) -> Method {
    Method { rules, noise }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rules)?;
        match self.noise {
            "on" => f.write_str(", noise"),
            _ => Ok(()),
        }
    }
}

/// What a method reached so far.
struct MethodRun {
    method: Method,
    records: Vec<RestartRecord>,
    has_begun: bool,
    /// Whether all restarts are over.
    is_over: bool,
    /// Why it cannot fit the program, if it cannot.
    refusal: Option<String>,
}

impl MethodRun {
    fn new(method: Method) -> MethodRun {
        MethodRun {
            method,
            records: Vec::new(),
            has_begun: false,
            is_over: false,
            refusal: None,
        }
    }

    /// Whether a slice is to come, of as many seconds in all.
    fn is_open(&self, seconds: f64) -> bool {
        !self.is_over && self.refusal.is_none() && self.seconds() < seconds
    }

    /// The restarts that count: neither the first, nor the last if it is not over.
    fn counted(&self) -> &[RestartRecord] {
        let unfinished = usize::from(!self.is_over);
        let over = self.records.len().saturating_sub(unfinished);
        self.records[..over].get(1..).unwrap_or_default()
    }

    fn seconds(&self) -> f64 {
        self.records.iter().map(|record| record.cpu_s).sum()
    }
}

/// The rates of a program by one method.
#[derive(Debug, Serialize)]
struct MethodRate {
    program: &'static str,
    method: String,
    restarts: usize,
    success: f64,
    success_interval: [f64; 2],
    median_s: Option<f64>,
    expected_s: Option<f64>,
    least: f64,
    cpu_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// Measures the rates, and prints them program by program.
///
/// # Errors
/// If the command cannot run, a program of that name is not there, or files cannot be written.
pub fn measure_fit_rates(rates: &FitRates) -> io::Result<()> {
    let known = |name: &String| PROGRAMS.iter().any(|program| program.name == name);
    if let Some(name) = rates.programs.iter().find(|name| !known(name)) {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        let names = names.join(", ");
        return Err(io::Error::other(format!(
            "no program `{name}`: there are {names}"
        )));
    }
    let is_asked = |program: &&FitProgram| {
        let mut names = rates.programs.iter();
        rates.programs.is_empty() || names.any(|name| name == program.name)
    };
    for program in PROGRAMS.iter().filter(is_asked) {
        for rate in rates.measure(program)? {
            match rates.json {
                true => println!("{}", serde_json::to_string(&rate)?),
                false => println!("{rate}"),
            }
        }
    }
    Ok(())
}

impl FitRates {
    /// What a command line asks for; it ends the process if that makes no sense.
    pub fn of_arguments(arguments: &[String]) -> FitRates {
        FitRates::parse_from(arguments)
    }

    fn measure(&self, program: &FitProgram) -> io::Result<Vec<MethodRate>> {
        let folder = self.folder.join(program.name);
        fs::create_dir_all(&folder)?;
        let size = if self.full {
            program.full
        } else {
            program.size
        };
        let [width, height] = size.map(|side| (f64::from(side) * self.scale).ceil().max(1.0));
        let size = format!("{width}x{height}");
        let target = folder.join("target.png");
        let source = format!("examples/fit/targets/{}.adu", program.target);
        let drawn = Command::new(&self.command)
            .args(["image", &source, "--size", &size, "--samples", "8", "-o"])
            .arg(&target)
            .status()?;
        if !drawn.success() {
            return Err(io::Error::other(format!("{source} cannot be drawn")));
        }
        let mut runs: Vec<MethodRun> = program.methods().map(MethodRun::new).collect();
        loop {
            let open = runs.iter_mut().filter(|run| run.is_open(self.seconds));
            let mut open: Vec<&mut MethodRun> = open.collect();
            if open.is_empty() {
                break;
            }
            open.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
            let slices = open.into_iter().take(JOBS);
            let fit = |run| self.fit_on(program, &folder, &target, run);
            thread::scope(|scope| {
                let slices: Vec<_> = slices.map(|run| scope.spawn(|| fit(run))).collect();
                let mut slices = slices.into_iter();
                slices.try_for_each(|slice| slice.join().expect("a slice does not panic"))
            })?;
        }
        Ok(self.rates(program, &runs))
    }

    /// Fits by a method for a slice more.
    fn fit_on(
        &self,
        program: &FitProgram,
        folder: &Path,
        target: &Path,
        run: &mut MethodRun,
    ) -> io::Result<()> {
        let Method { rules, noise } = run.method;
        let restarts = self.restarts.unwrap_or(program.restarts);
        let folder = folder.join(format!("{rules}_{noise}"));
        fs::create_dir_all(&folder)?;
        let state = folder.join("state");
        let mut command = Command::new(&self.command);
        command
            .arg("fit")
            .arg(format!("examples/fit/{}.adu", program.name))
            .arg("--target")
            .arg(target)
            .arg("-o")
            .arg(folder.join("best.adu"))
            .args(["--rules", rules, "--noise", noise, "--threads", "1"])
            .args(["--restarts", &(restarts + 1).to_string()])
            .args(["--random-seed", &self.random_seed.to_string()])
            .args(["--time-limit", SLICE, "--json", "--checkpoint"])
            .arg(&state);
        // A state that is there is one of an earlier run.
        if run.has_begun || state.join("fit.json").exists() {
            command.arg("--resume");
        }
        run.has_begun = true;
        let ended = command.stdout(Stdio::null()).output()?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            run.refusal = Some(said);
            return Ok(());
        }
        let report: Value = serde_json::from_slice(&fs::read(folder.join("best.run.json"))?)?;
        run.is_over = report["ended_by"].is_null();
        let restarts = report["report"]["restarts"].as_array();
        run.records = restarts.into_iter().flatten().map(record).collect();
        Ok(())
    }

    fn rates(&self, program: &FitProgram, runs: &[MethodRun]) -> Vec<MethodRate> {
        let all: Vec<&RestartRecord> = runs.iter().flat_map(MethodRun::counted).collect();
        let losses = all.iter().map(|record| record.loss);
        let least = losses.fold(f64::INFINITY, f64::min);
        let starts: Vec<f64> = all
            .iter()
            .filter_map(|record| Some(record.trace.first()?.loss))
            .collect();
        let start = starts.iter().sum::<f64>() / starts.len().max(1) as f64;
        // Success is below twice of it.
        let bar = least.min(0.5 * FRACTION * start);
        let rate = |run: &MethodRun| {
            let records = run.counted();
            let statistics = SuccessStatistics::new(records, bar, self.random_seed);
            let losses = records.iter().map(|record| record.loss);
            MethodRate {
                program: program.name,
                method: run.method.to_string(),
                restarts: statistics.restarts,
                success: statistics.rate,
                success_interval: statistics.interval,
                median_s: statistics.median_s,
                expected_s: statistics.expected_s,
                least: losses.fold(f64::INFINITY, f64::min),
                cpu_s: run.seconds(),
                refused: run.refusal.clone(),
            }
        };
        runs.iter().map(rate).collect()
    }
}

/// A restart of a report.
fn record(restart: &Value) -> RestartRecord {
    // What is not finite is a string.
    let number = |value: &Value| value.as_f64().unwrap_or(f64::INFINITY);
    let count = |value: &Value| value.as_u64().unwrap_or_default() as usize;
    let points = restart["trace"].as_array().into_iter().flatten();
    let point = |point: &Value| TracePoint {
        iteration: count(&point["iteration"]),
        loss: number(&point["loss"]),
        cpu_s: number(&point["cpu_s"]),
        values: Vec::new(),
    };
    RestartRecord {
        restart: count(&restart["restart"]),
        loss: number(&restart["loss"]),
        values: Vec::new(),
        iterations: count(&restart["iterations"]),
        cpu_s: number(&restart["cpu_s"]),
        non_finite: count(&restart["non_finite"]),
        still: count(&restart["still"]),
        trace: points.map(point).collect(),
    }
}

impl fmt::Display for MethodRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.success_interval.map(|share| 100.0 * share);
        let seconds = |seconds: Option<f64>| match seconds {
            Some(seconds) => format!("{seconds:.1} s"),
            None => "–".to_owned(),
        };
        write!(
            f,
            "{:13} {:12} {:4} restarts  {:5.1} % [{low:4.1}, {high:5.1}]  median {:8} expected {:9} least {:.3e}",
            self.program,
            self.method,
            self.restarts,
            100.0 * self.success,
            seconds(self.median_s),
            seconds(self.expected_s),
            self.least,
        )?;
        match &self.refused {
            Some(why) => write!(f, "  refused: {}", why.lines().next().unwrap_or_default()),
            None => Ok(()),
        }
    }
}
