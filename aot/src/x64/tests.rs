//! Differential test of x86-64 code against scalar evaluation, for every op, with many registers
//! and with few.

use super::{X64Batch, X64Point};
use crate::differential::{DifferentialCase, arithmetic_cases};

/// Two registers put most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn batch_code_matches_scalar_evaluation() {
    for case in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in REGISTERS {
            let code = case.code::<X64Batch>(registers);
            if let Err(difference) = case.compare(&case.run(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn point_code_matches_scalar_evaluation() {
    for case in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in REGISTERS {
            let code = case.point_code::<X64Point>(registers);
            if let Err(difference) = case.compare(&case.run_points(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}
