//! Every row of the op table, as code, gives what it gives at one point, with registers to spare and with hardly any.

use super::X64;
use crate::emit::compile_with;
use crate::trial::rows;

/// Few registers leave most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];

#[test]
fn rows_as_code_give_what_they_give_at_one_point() {
    for trial in rows() {
        for registers in REGISTERS {
            let stretch = std::slice::from_ref(&trial.stretch);
            let code = compile_with::<X64>(stretch, registers).expect("it is short");
            if let Err(difference) = trial.judge(&trial.run(&code)) {
                panic!("with {registers} registers {difference}");
            }
        }
    }
}
