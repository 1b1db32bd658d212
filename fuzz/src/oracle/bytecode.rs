//! Any bytes as a bytecode file: they are refused, or they are a program that ends, by machine code as by the interpreter.

use super::chain::{compiler, observe};
use super::modes::MODES;
use super::observed::Extent;
use crate::choices::Choices;
use crate::generate::{Point, point};
use adumbra::{Engine, Program, Sources, Tier};

/// Bytes of a file before its payload: magic, version, checksum.
const HEADER: usize = 16;

/// What became of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They are no valid program.
    Refused,
    /// They were run.
    Run,
}

impl Fate {
    /// As tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Refused => "refused",
            Fate::Run => "run",
        }
    }
}

/// Reads, lists, runs and writes bytes.
///
/// # Errors
/// If a program that was accepted is not the same when written and read again, or shows something else by machine code.
pub fn check(bytes: &[u8]) -> Result<Fate, String> {
    let Ok(program) = Program::from_bytecode(bytes) else {
        return Ok(Fate::Refused);
    };
    let types: Vec<_> = program
        .globals()
        .members()
        .iter()
        .map(|m| m.ty().clone())
        .collect();
    let point: Point = point(&types, 1, 0, true);
    let shown = observe(&program, Engine::Point, &point)?;
    if Tier::Native.is_available() {
        let native = observe(&program, Engine::Native, &point)?;
        if let Some(difference) = shown.difference(&native, Extent::All) {
            return Err(format!("point and native code: {difference}"));
        }
    }
    let again = Program::from_bytecode(&program.to_bytecode())
        .map_err(|d| format!("accepted, and refused when written again: {}", d.message))?;
    match again.listing() == program.listing() {
        true => Ok(Fate::Run),
        false => Err("written and read again it is another program".to_owned()),
    }
}

/// A file with a few bytes changed, removed, doubled or exchanged, and the checksum made right again: what validation alone must catch.
pub fn mutate(file: &[u8], choices: &mut Choices) -> Vec<u8> {
    let mut payload = file.get(HEADER..).unwrap_or_default().to_vec();
    for _ in 0..choices.between(1, 3) {
        if payload.is_empty() {
            break;
        }
        let at = choices.word() as usize % payload.len();
        match choices.below(7) {
            0 => payload[at] = choices.byte(),
            1 => payload[at] ^= 1 << choices.below(8),
            2 => payload[at] = payload[at].wrapping_add(1),
            3 => {
                payload.remove(at);
            }
            4 => payload.insert(at, choices.byte()),
            // A number that is far too large for whatever it means.
            5 => drop(payload.splice(at..=at, [0xff, 0xff, 0xff, 0xff, 0x07])),
            _ => {
                let other = choices.word() as usize % payload.len();
                payload.swap(at, other);
            }
        }
    }
    seal(file.get(..8).unwrap_or_default(), &payload)
}

/// A file of this version with that payload, which only validation can refuse.
pub fn headed(payload: &[u8]) -> Vec<u8> {
    let empty = Sources::new("empty.adu", "shader main() {}");
    let program = compiler(&MODES[0]).compile(&empty);
    let file = program.expect("a shader without statements is one");
    seal(&file.to_bytecode()[..8], payload)
}

/// A file of magic and version, the payload's checksum (FNV-1a, 64 bits), and the payload.
fn seal(start: &[u8], payload: &[u8]) -> Vec<u8> {
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let checksum: u64 = payload.iter().fold(0xcbf2_9ce4_8422_2325, mix);
    [start, &checksum.to_le_bytes(), payload].concat()
}
