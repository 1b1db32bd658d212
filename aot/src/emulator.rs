//! Runs aarch64 code on any host with the emulator `qemu-aarch64-static` and the C compiler
//! `aarch64-linux-gnu-gcc`.
//!
//! A small program (`emulator/harness.c`) is built once and runs as many kernels as it is given:
//! the start of a process takes longer than most of them.

use crate::differential::{DifferentialCase, EXIT, Planes, RUNS, STEPS, VM_VECTOR_BYTES};
use crate::machine_code::MachineCode;
use adumbra_vm::native::VectorRun;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const COMPILER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64-static";

/// The program that runs kernels, in a folder that is deleted with it.
pub(crate) struct Emulator {
    folder: TempDir,
}

impl Emulator {
    /// `None`, with a notice, if the host lacks a tool.
    pub(crate) fn new() -> Option<Emulator> {
        for tool in [COMPILER, EMULATOR] {
            let found = Command::new(tool).arg("--version").output();
            if !found.is_ok_and(|output| output.status.success()) {
                eprintln!("code for aarch64 is not run: this host has no {tool}");
                return None;
            }
        }
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let emulator = Emulator { folder };
        let source = emulator.folder.path().join("harness.c");
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
        self.folder.path().join("harness")
    }

    /// The planes of each case after its code, which has one kernel.
    pub(crate) fn run(&self, jobs: &[(&DifferentialCase, MachineCode)]) -> Vec<Planes> {
        let mut input = Vec::new();
        for (case, code) in jobs {
            let planes = case.planes.iter().map(|plane| &plane[..]);
            push_job(&mut input, code, planes, &RUNS);
        }
        let mut words = self.answer(&input).into_iter();
        let mut plane = |_| std::array::from_fn(|_| words.next().expect("all planes came back"));
        (jobs.iter())
            .map(|(case, _)| case.planes.iter().map(&mut plane).collect())
            .collect()
    }

    /// The planes of a segment after its code, which has one kernel, ran in these runs.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn run_planes<const WIDTH: usize>(
        &self,
        code: &MachineCode,
        planes: &[[u32; WIDTH]],
        runs: &[VectorRun],
    ) -> Vec<[u32; WIDTH]> {
        let mut input = Vec::new();
        push_job(
            &mut input,
            code,
            planes.iter().map(|plane| &plane[..]),
            runs,
        );
        self.answer(&input).as_chunks().0.to_vec()
    }

    /// The planes of each case after code for one point ran on one point after the other.
    pub(crate) fn run_points(&self, jobs: &[(&DifferentialCase, MachineCode)]) -> Vec<Planes> {
        let mut input = Vec::new();
        for (case, code) in jobs {
            let files = case.register_files();
            push_job(&mut input, code, files.iter().map(|file| &file[..]), &[]);
        }
        let mut words = self.answer(&input).into_iter();
        let mut file = |case: &DifferentialCase| {
            let count = case.planes.len();
            words.by_ref().take(count).collect::<Vec<u32>>()
        };
        (jobs.iter())
            .map(|(case, _)| {
                let files = case.register_files();
                let found: Vec<_> = files.iter().map(|_| file(case)).collect();
                case.planes_from_files(&found)
            })
            .collect()
    }

    /// The output of the program: all planes.
    fn answer(&self, input: &[u8]) -> Vec<u32> {
        let path = self.folder.path().join("jobs");
        fs::write(&path, input).expect("it can be written");
        let output = Command::new(EMULATOR)
            .arg(self.harness())
            .stdin(File::open(path).expect("it was written"))
            .output()
            .expect("the emulator is there");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {complaint}", output.status);
        let words = output.stdout.chunks_exact(4);
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("they are four"));
        words.map(word).collect()
    }
}

/// Writes a job in the program's format. Without runs, each plane is the register file of a point,
/// and its globals.
fn push_job<'p>(
    input: &mut Vec<u8>,
    code: &MachineCode,
    planes: impl Iterator<Item = &'p [u32]> + Clone,
    runs: &[VectorRun],
) {
    let entry = code.kernels[0].expect("segments have code").start as u32;
    let plane_words = planes.clone().next().map_or(0, <[u32]>::len);
    let header = [
        code.bytes.len() as u32,
        entry,
        runs.len() as u32,
        planes.clone().count() as u32,
        4 * plane_words as u32,
        VM_VECTOR_BYTES as u32,
        STEPS as u32,
        EXIT,
    ];
    let push = |input: &mut Vec<u8>, words: &[u32]| {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        input.extend(bytes);
    };
    push(input, &header);
    input.extend(&code.bytes);
    for run in runs {
        push(input, &[run.start, run.vectors]);
    }
    planes.for_each(|plane| push(input, plane));
}
