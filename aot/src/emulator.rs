//! Runs code for aarch64 on any host that has an emulator of that processor, `qemu-aarch64-static`, and a C compiler for it, `aarch64-linux-gnu-gcc`.
//!
//! A small program (`emulator/harness.c`) is built once and runs as many kernels as it is given: starting a process takes longer than most of them.

use crate::emit::Code;
use crate::trial::{PACK_BYTES, POINTS, Planes, RUNS, Trial};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64-static";

/// The program that runs kernels, in a folder that goes with it.
pub(crate) struct Emulator {
    folder: PathBuf,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // What is left of a folder for temporary files harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Emulator {
    /// Nothing, and a notice, if the host lacks what it takes.
    pub(crate) fn new() -> Option<Emulator> {
        for tool in [COMPILER, EMULATOR] {
            let found = Command::new(tool).arg("--version").output();
            if !found.is_ok_and(|output| output.status.success()) {
                eprintln!("code for aarch64 is not run: this host has no {tool}");
                return None;
            }
        }
        // Tests of one process run side by side.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("adumbra-kernels-{}-{count}", process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("there is a folder for temporary files");
        let emulator = Emulator { folder };
        let source = emulator.folder.join("harness.c");
        fs::write(&source, include_str!("emulator/harness.c")).expect("it can be written");
        let built = Command::new(COMPILER)
            .args(["-O1", "-static", "-nostdlib", "-ffreestanding"])
            .args(["-fno-stack-protector", "-fno-tree-loop-distribute-patterns"])
            .args(["-Wall", "-Wextra", "-Werror", "-o"])
            .arg(emulator.harness())
            .arg(source)
            .arg("-lgcc")
            .status();
        assert!(built.expect("the compiler is there").success());
        Some(emulator)
    }

    fn harness(&self) -> PathBuf {
        self.folder.join("harness")
    }

    /// What the words of each trial hold when its code, one kernel, has run.
    pub(crate) fn run(&self, jobs: &[(&Trial, Code)]) -> Vec<Planes> {
        let mut input = Vec::new();
        for (trial, code) in jobs {
            push_job(&mut input, trial, code);
        }
        let path = self.folder.join("jobs");
        fs::write(&path, input).expect("it can be written");
        let output = Command::new(EMULATOR)
            .arg(self.harness())
            .stdin(File::open(path).expect("it was written"))
            .output()
            .expect("the emulator is there");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {complaint}", output.status);
        let mut words = output.stdout.chunks_exact(4);
        let mut word = || {
            let bytes = words.next().expect("all planes came back");
            u32::from_le_bytes(bytes.try_into().expect("they are four"))
        };
        let mut plane = |_| std::array::from_fn(|_| word());
        (jobs.iter())
            .map(|(trial, _)| trial.planes.iter().map(&mut plane).collect())
            .collect()
    }
}

/// Writes a job as the program reads it.
fn push_job(input: &mut Vec<u8>, trial: &Trial, code: &Code) {
    let mut push = |words: &[u32]| {
        words
            .iter()
            .for_each(|word| input.extend(word.to_le_bytes()))
    };
    let entry = code.kernels[0].expect("stretches have code").start as u32;
    let bytes = code.bytes.len() as u32;
    let counts = [RUNS.len(), trial.planes.len(), POINTS * 4, PACK_BYTES, 0, 0];
    push(&[bytes, entry]);
    push(&counts.map(|count| count as u32));
    input.extend(&code.bytes);
    let mut push = |words: &[u32]| {
        words
            .iter()
            .for_each(|word| input.extend(word.to_le_bytes()))
    };
    for run in RUNS {
        push(&[run.start, run.packs]);
    }
    for plane in &trial.planes {
        push(plane);
    }
}
