//! Bytecode files: round trips, and damaged or hostile files.

use crate::support::*;
use adumbra_ir::Code;
use adumbra_ir::host::{ConstantTexture, Limits};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::random::generate;
use adumbra_vm::{Bytecode, PointMachine, lower};
use std::sync::Arc;

fn every_kind() -> Bytecode {
    let text = include_str!("../../../ir/src/text/every_kind.adir");
    bytecode(
        text.strip_prefix("adumbra ir 1\n")
            .expect("it has its first line"),
    )
}

#[test]
fn program_round_trips_through_bytes() {
    let program = every_kind();
    let bytes = program.to_bytes();
    let back = Bytecode::from_bytes(&bytes).expect("the bytes are valid");
    assert_eq!(back, program);
    assert_eq!(back.to_bytes(), bytes);
    assert_eq!(back.to_string(), program.to_string());
    assert_eq!(program.stats().bytes, bytes.len());
}

#[test]
fn unread_output_derivatives_are_unread_in_file() {
    let constant = || {
        bytecode(
            "output o: float entry main fn main() -> (f32) ^0 { %0: f32 = const 2.0 return %0 }",
        )
    };
    for (program, are_read) in [
        (constant(), false),
        (constant().with_output_derivatives(), true),
        (every_kind(), true),
    ] {
        let back = Bytecode::from_bytes(&program.to_bytes()).expect("the bytes are valid");
        assert_eq!(back.output_derivatives(), are_read, "{program}");
    }
}

/// FNV-1a, written once more: a change of the function in use would make old files unreadable.
fn seal(bytes: &mut [u8]) {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in &bytes[16..] {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    bytes[8..16].copy_from_slice(&hash.to_le_bytes());
}

fn code(bytes: &[u8]) -> Code {
    Bytecode::from_bytes(bytes).expect_err("it is refused").code
}

#[test]
fn file_faults_are_reported() {
    let bytes = every_kind().to_bytes();
    assert_eq!(code(&[]), Code::NotBytecode);
    assert_eq!(code(b"shader s() {}       "), Code::NotBytecode);
    let with = |at: usize, byte: u8| {
        let mut changed = bytes.clone();
        changed[at] = byte;
        changed
    };
    assert_eq!(code(&with(4, 9)), Code::BytecodeVersion);
    assert_eq!(code(&with(8, bytes[8] ^ 1)), Code::BytecodeDamaged);
    assert_eq!(code(&with(20, bytes[20] ^ 1)), Code::BytecodeDamaged);
    assert_eq!(code(&bytes[..bytes.len() - 1]), Code::BytecodeDamaged);
    let mut longer = bytes.clone();
    longer.push(0);
    seal(&mut longer);
    assert_eq!(code(&longer), Code::BytecodeInvalid);
}

/// Runs a program from any file, within tight limits.
fn run_any(program: Bytecode) {
    let limits = Limits {
        steps: 50,
        call_depth: 5,
        array_elements: 1000,
        closure_size: 100,
        ..Limits::default()
    };
    let globals = vec![0x3f00_0000; program.interface().global_words()];
    let inputs = vec![3; program.interface().input_words()];
    let program = Arc::new(program);
    let _ = program.to_string();
    let mut machine = PointMachine::new(program, limits);
    let mut textures = ConstantTexture([0.5; 4]);
    machine.run(&globals, &inputs, &mut textures);
}

#[test]
#[cfg_attr(miri, ignore = "thousands of rounds take hours")]
fn flipped_bits_and_cuts_are_harmless() {
    let bytes = every_kind().to_bytes();
    let mut accepted = 0;
    for at in 16..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            seal(&mut changed);
            if let Ok(program) = Bytecode::from_bytes(&changed) {
                accepted += 1;
                run_any(program);
            }
        }
    }
    // Validation is about harm, not about sense: many changes give another valid program.
    assert!(accepted > 100, "{accepted}");
    for end in 16..bytes.len() {
        let mut cut = bytes[..end].to_vec();
        seal(&mut cut);
        assert_eq!(code(&cut), Code::BytecodeInvalid, "cut at {end}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "thousands of rounds take hours")]
fn random_bytes_are_harmless() {
    let shadows = PassOptions {
        output_shadows: true,
        ..PassOptions::default()
    };
    let with_lanes = |seed| passes::run(generate(seed), &shadows).0;
    let mut files: Vec<Vec<u8>> = (0..20)
        .map(|seed| lower(&with_lanes(seed)).expect("it fits").to_bytes())
        .collect();
    files.push(every_kind().to_bytes());
    files.push(bytecode(crate::memory::BUSY).to_bytes());
    let mut random = fastrand::Rng::with_seed(1);
    let mut next = || random.usize(..);
    for _ in 0..5_000 {
        let mut changed = files[next() % files.len()].clone();
        for _ in 0..1 + next() % 3 {
            let at = 16 + next() % (changed.len() - 16);
            changed[at] = next() as u8;
        }
        seal(&mut changed);
        if let Ok(program) = Bytecode::from_bytes(&changed) {
            run_any(program);
        }
    }
}
