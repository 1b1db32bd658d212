//! Every row of the op table, as code, gives what it gives at one point, with registers to spare and with hardly any; run by an emulator where the host has
//! one, and by the processor where it is one. Where there is neither, the bytes of a few kernels are what they were when they were run.

use super::A64;
use crate::emit::Code;
use crate::emulator::Emulator;
use crate::trial::{Trial, rows};

/// Few registers leave most values in the frame.
const REGISTERS: [u8; 2] = [super::REGISTERS, 2];
/// Kernels that are run by one process.
const JOBS: usize = 1000;

fn code(trial: &Trial, registers: u8) -> Code {
    trial.code::<A64>(registers)
}

/// Runs all trials, and says what is not the same.
fn check(emulator: &Emulator, trials: &[Trial], registers: u8) -> Vec<String> {
    let mut differences = Vec::new();
    for trials in trials.chunks(JOBS) {
        let jobs: Vec<(&Trial, Code)> = (trials.iter())
            .map(|trial| (trial, code(trial, registers)))
            .collect();
        let found = emulator.run(&jobs);
        let judged = trials.iter().zip(&found);
        differences.extend(judged.filter_map(|(trial, found)| trial.judge(found).err()));
    }
    differences
}

#[test]
fn rows_as_code_give_what_they_give_at_one_point() {
    let Some(emulator) = Emulator::new() else {
        return;
    };
    let trials = rows();
    for registers in REGISTERS {
        let differences = check(&emulator, &trials, registers);
        let few = &differences[..differences.len().min(10)];
        assert!(
            differences.is_empty(),
            "with {registers} registers {} of {}: {few:#?}",
            differences.len(),
            trials.len()
        );
    }
}
