//! Differential test of x86-64 code against scalar evaluation, for every op and for loops, with
//! many registers and with few.

use super::{X64Batch, X64Point};
use crate::differential::compiled_loop::{EXTRA_WORDS, LoopCase};
use crate::differential::{DifferentialCase, arithmetic_cases};

/// Two registers put most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn rows_as_code_give_what_they_give_at_one_point() {
    for trial in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in REGISTERS {
            let code = trial.code::<X64Batch>(registers);
            if let Err(difference) = trial.compare(&trial.run(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn rows_as_code_of_one_point_give_the_same() {
    for trial in arithmetic_cases()
        .iter()
        .chain([&DifferentialCase::far_operands()])
    {
        for registers in REGISTERS {
            let code = trial.point_code::<X64Point>(registers);
            if let Err(difference) = trial.compare(&trial.run_points(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn a_loop_as_code_leaves_each_point_as_its_rows_do() {
    for (more, registers) in EXTRA_WORDS
        .into_iter()
        .flat_map(|more| REGISTERS.map(|own| (more, own)))
    {
        let trial = LoopCase::new(more);
        let code = trial.code::<X64Batch>(registers);
        if let Err(difference) = trial.compare(&trial.run(&code)) {
            panic!("with {registers} registers and {more} words more {difference}");
        }
    }
}
