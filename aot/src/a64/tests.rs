//! Differential test of aarch64 code against scalar evaluation, for every op and for loops, with
//! many registers and with few.
//!
//! The code runs in an emulator if the host has one, and on the processor if it is an aarch64.
//! Elsewhere the bytes of a few kernels are compared with a golden file.

use super::A64Assembler;
use crate::differential::compiled_loop::{EXTRA_WORDS, LoopCase};
use crate::differential::{DifferentialCase, arithmetic_cases};
use crate::emulator::Emulator;
use crate::machine_code::MachineCode;
use adumbra_ops::Op;
use adumbra_vm::native::ArithmeticKind;
use std::fmt::Write;
use std::path::Path;

/// Two registers put most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];
/// Kernels that one process runs.
const JOBS: usize = 1000;
/// From this many bytes of code on, code counts as long.
const LONG: usize = 32 << 10;

fn code(trial: &DifferentialCase, registers: u8) -> MachineCode {
    trial.code::<A64Assembler>(registers)
}

/// The calling convention that a case is compiled and run by.
#[derive(Clone, Copy)]
enum As {
    Packs,
    Points,
}

/// Runs all cases with a number of registers and returns the differences.
fn check(emulator: &Emulator, trials: &[DifferentialCase], registers: u8, how: As) -> Vec<String> {
    let mut differences = Vec::new();
    for trials in trials.chunks(JOBS) {
        let jobs = trials.iter().enumerate().map(|(i, trial)| {
            let code = match how {
                As::Packs => code(trial, registers),
                As::Points => trial.point_code::<A64Assembler>(registers),
            };
            (i, trial, code)
        });
        // Long code is slow in the emulator: only one in eight of its operand locations runs.
        let jobs = jobs.filter(|(i, _, code)| code.bytes.len() < LONG || i % 8 == 0);
        let jobs: Vec<(&DifferentialCase, MachineCode)> =
            jobs.map(|(_, trial, code)| (trial, code)).collect();
        let found = match how {
            As::Packs => emulator.run(&jobs),
            As::Points => emulator.run_points(&jobs),
        };
        let judged = jobs.iter().zip(&found);
        differences.extend(judged.filter_map(|((trial, _), found)| trial.compare(found).err()));
    }
    differences
}

fn assert_same(emulator: &Emulator, trials: &[DifferentialCase], registers: u8, how: As) {
    let differences = check(emulator, trials, registers, how);
    let few = &differences[..differences.len().min(10)];
    assert!(
        differences.is_empty(),
        "with {registers} registers {} of {}: {few:#?}",
        differences.len(),
        trials.len()
    );
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn rows_as_code_give_what_they_give_at_one_point() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let trials = arithmetic_cases();
    for registers in REGISTERS {
        assert_same(&emulator, &trials, registers, As::Packs);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn rows_as_code_of_one_point_give_the_same() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let trials = arithmetic_cases();
    for registers in REGISTERS {
        assert_same(&emulator, &trials, registers, As::Points);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn what_is_further_than_an_instruction_reaches_is_found() {
    let trial = DifferentialCase::far_operands();
    let code = code(&trial, super::REGISTERS);
    assert!(code.bytes.len() > 1 << 20, "conditional jumps reach 1 MB");
    if let Some(emulator) = Emulator::new() {
        assert_same(&emulator, &[trial], super::REGISTERS, As::Packs);
        assert_same(
            &emulator,
            &[DifferentialCase::far_operands()],
            super::REGISTERS,
            As::Points,
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn a_loop_as_code_leaves_each_point_as_its_rows_do() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    for (more, registers) in EXTRA_WORDS
        .into_iter()
        .flat_map(|more| REGISTERS.map(|own| (more, own)))
    {
        let trial = LoopCase::new(more);
        let code = trial.code::<A64Assembler>(registers);
        if let Err(difference) = trial.compare(&emulator.run_loop(&trial, &code)) {
            panic!("with {registers} registers and {more} words more {difference}");
        }
    }
}

/// On an aarch64 processor.
#[cfg(target_arch = "aarch64")]
#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn the_processor_itself_gives_what_rows_give() {
    for trial in arithmetic_cases().iter().chain([&DifferentialCase::far()]) {
        for registers in REGISTERS {
            let alone = trial.run_alone(&trial.point_code::<A64Assembler>(registers));
            for found in [trial.run(&code(trial, registers)), alone] {
                if let Err(difference) = trial.judge(&found) {
                    panic!("with {registers} registers {difference}");
                }
            }
        }
    }
}

/// Ops whose code is kept in the golden file: one instruction and many, with constants, uniform
/// values, a slow path and a libcall.
const GOLDEN: [Op; 9] = [
    Op::Add,
    Op::Max,
    Op::Select,
    Op::FToU,
    Op::Shr,
    Op::Norm3,
    Op::Sin,
    Op::Fmod,
    Op::UDiv,
];

/// `ADUMBRA_BLESS=1 cargo test -p adumbra-aot` rewrites the file; bless only bytes that the other
/// tests ran.
#[test]
fn bytes_are_what_they_were() {
    let trials = arithmetic_cases();
    let mut text = String::new();
    for op in GOLDEN {
        let mut of_op = trials
            .iter()
            .filter(|trial| matches!(trial.segment.instructions[0].kind, ArithmeticKind::Op(own) if own == op));
        // The first has no shadows and all operands in planes; the last has shadows or a constant.
        for trial in [of_op.next(), of_op.next_back()].into_iter().flatten() {
            let code = code(trial, super::REGISTERS);
            writeln!(
                text,
                "{op:?}, entry {:#x}",
                code.kernels[0].expect("stretches have code").start
            )
            .unwrap();
            for line in code.bytes.chunks(32) {
                let words = line.chunks_exact(4);
                let words = words.map(|w| u32::from_le_bytes(w.try_into().unwrap()));
                let words: Vec<String> = words.map(|word| format!("{word:08x}")).collect();
                writeln!(text, "  {}", words.join(" ")).unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/a64/golden.txt");
    if std::env::var_os("ADUMBRA_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        golden,
        text,
        "ADUMBRA_BLESS=1 writes {} anew",
        path.display()
    );
}
