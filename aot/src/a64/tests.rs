//! Differential test of aarch64 code against scalar evaluation, for every op, with many registers
//! and with few.
//!
//! The code runs in an emulator if the host has one, and on the processor if it is an aarch64.
//! Elsewhere the bytes of a few kernels are compared with a golden file.

use super::A64Assembler;
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

fn code(case: &DifferentialCase, registers: u8) -> MachineCode {
    case.code::<A64Assembler>(registers)
}

/// The calling convention that a case is compiled and run by.
#[derive(Clone, Copy)]
enum Convention {
    Batch,
    Point,
}

/// Runs all cases with a number of registers and returns the differences.
fn check(
    emulator: &Emulator,
    cases: &[DifferentialCase],
    registers: u8,
    how: Convention,
) -> Vec<String> {
    let mut differences = Vec::new();
    for cases in cases.chunks(JOBS) {
        let jobs = cases.iter().enumerate().map(|(i, case)| {
            let code = match how {
                Convention::Batch => code(case, registers),
                Convention::Point => case.point_code::<A64Assembler>(registers),
            };
            (i, case, code)
        });
        // Long code is slow in the emulator: only one in eight of its operand locations runs.
        let jobs = jobs.filter(|(i, _, code)| code.bytes.len() < LONG || i % 8 == 0);
        let jobs: Vec<(&DifferentialCase, MachineCode)> =
            jobs.map(|(_, case, code)| (case, code)).collect();
        let found = match how {
            Convention::Batch => emulator.run(&jobs),
            Convention::Point => emulator.run_points(&jobs),
        };
        let judged = jobs.iter().zip(&found);
        differences.extend(judged.filter_map(|((case, _), found)| case.compare(found).err()));
    }
    differences
}

fn assert_same(emulator: &Emulator, cases: &[DifferentialCase], registers: u8, how: Convention) {
    let differences = check(emulator, cases, registers, how);
    let few = &differences[..differences.len().min(10)];
    assert!(
        differences.is_empty(),
        "with {registers} registers {} of {}: {few:#?}",
        differences.len(),
        cases.len()
    );
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn batch_code_matches_scalar_evaluation() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let cases = arithmetic_cases();
    for registers in REGISTERS {
        assert_same(&emulator, &cases, registers, Convention::Batch);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn point_code_matches_scalar_evaluation() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let cases = arithmetic_cases();
    for registers in REGISTERS {
        assert_same(&emulator, &cases, registers, Convention::Point);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn far_operands_are_reached() {
    let case = DifferentialCase::far_operands();
    let code = code(&case, super::REGISTERS);
    assert!(code.bytes.len() > 1 << 20, "conditional jumps reach 1 MB");
    if let Some(emulator) = Emulator::new() {
        assert_same(&emulator, &[case], super::REGISTERS, Convention::Batch);
        assert_same(
            &emulator,
            &[DifferentialCase::far_operands()],
            super::REGISTERS,
            Convention::Point,
        );
    }
}

/// On an aarch64 processor.
#[cfg(target_arch = "aarch64")]
#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn host_runs_match_scalar_evaluation() {
    for case in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in REGISTERS {
            let points = case.run_points(&case.point_code::<A64Assembler>(registers));
            for found in [case.run(&code(case, registers)), points] {
                if let Err(difference) = case.compare(&found) {
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
fn emitted_bytes_match_golden_file() {
    let cases = arithmetic_cases();
    let mut lines = String::new();
    for op in GOLDEN {
        let mut of_op = cases
            .iter()
            .filter(|case| matches!(case.segment.instructions[0].kind, ArithmeticKind::Op(own) if own == op));
        // The first has no shadows and all operands in planes; the last has shadows or a constant.
        for case in [of_op.next(), of_op.next_back()].into_iter().flatten() {
            let code = code(case, super::REGISTERS);
            writeln!(
                lines,
                "{op:?}, entry {:#x}",
                code.kernels[0].expect("segments have code").start
            )
            .unwrap();
            for line in code.bytes.chunks(32) {
                let words = line.chunks_exact(4);
                let words = words.map(|w| u32::from_le_bytes(w.try_into().unwrap()));
                let words: Vec<String> = words.map(|word| format!("{word:08x}")).collect();
                writeln!(lines, "  {}", words.join(" ")).unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/a64/golden.txt");
    if std::env::var_os("ADUMBRA_BLESS").is_some() {
        std::fs::write(&path, &lines).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        golden,
        lines,
        "ADUMBRA_BLESS=1 writes {} anew",
        path.display()
    );
}
