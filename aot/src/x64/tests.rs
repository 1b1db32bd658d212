//! Differential test of x86-64 code against scalar evaluation, for every op, with many registers
//! and with few.

use super::{X64Avx512Batch, X64Batch, X64Point};
use crate::differential::{DifferentialCase, arithmetic_cases};
use crate::macro_assembler::MacroAssembler;
use adumbra_vm::SimdLevel;

/// All registers; or two, which put most values in the frame.
fn register_counts<M: MacroAssembler>() -> [u8; 2] {
    [M::VALUE_REGISTERS, 2]
}

fn check_batches<M: MacroAssembler>() {
    for case in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in register_counts::<M>() {
            let code = case.code::<M>(registers);
            if let Err(difference) = case.compare(&case.run(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn batch_code_matches_scalar_evaluation() {
    check_batches::<X64Batch>();
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn avx512_code_matches_scalar_evaluation() {
    match SimdLevel::Avx512.is_available() {
        true => check_batches::<X64Avx512Batch>(),
        false => println!("skipped: this processor lacks AVX-512"),
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn point_code_matches_scalar_evaluation() {
    for case in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in register_counts::<X64Point>() {
            let code = case.point_code::<X64Point>(registers);
            if let Err(difference) = case.compare(&case.run_points(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}
