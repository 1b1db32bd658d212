//! Every row of the op table, as code, gives what it gives at one point, with registers to spare and with hardly any; so does a loop.

use super::{Point, X64};
use crate::trial::region::{Loop, MORE};
use crate::trial::{Trial, rows};

/// Few registers leave most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn rows_as_code_give_what_they_give_at_one_point() {
    for trial in rows().iter().chain([&Trial::far()]) {
        for registers in REGISTERS {
            let code = trial.code::<X64>(registers);
            if let Err(difference) = trial.judge(&trial.run(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn rows_as_code_of_one_point_give_the_same() {
    for trial in rows().iter().chain([&Trial::far()]) {
        for registers in REGISTERS {
            let code = trial.point_code::<Point>(registers);
            if let Err(difference) = trial.judge(&trial.run_alone(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri runs no machine code")]
fn a_loop_as_code_leaves_each_point_as_its_rows_do() {
    for (more, registers) in MORE
        .into_iter()
        .flat_map(|more| REGISTERS.map(|own| (more, own)))
    {
        let trial = Loop::new(more);
        let code = trial.code::<X64>(registers);
        if let Err(difference) = trial.judge(&trial.run(&code)) {
            panic!("with {registers} registers and {more} words more {difference}");
        }
    }
}
