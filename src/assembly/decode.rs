//! The disassembler: machine instructions as text, by libraries that are used here alone.

use super::MachineInstruction;
use adumbra_aot::Target;
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use yaxpeax_arch::{Arch, Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{ARMv8, Operand};

/// The instructions of these bytes, the first of which is at `address`.
pub(super) fn decode(target: Target, code: &[u8], address: usize) -> Vec<MachineInstruction> {
    match target {
        Target::X86_64 | Target::X86_64Avx512 => x86_64(code, address),
        Target::Aarch64 => aarch64(code, address),
    }
}

fn x86_64(code: &[u8], start: usize) -> Vec<MachineInstruction> {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_branch_leading_zeros(false);
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    let decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
    let instructions = decoder.into_iter().map(|instruction| {
        let address = instruction.ip() as usize;
        let mut text = String::new();
        formatter.format(&instruction, &mut text);
        MachineInstruction {
            address,
            bytes: code[address - start..][..instruction.len()].to_vec(),
            text,
        }
    });
    instructions.collect()
}

fn aarch64(code: &[u8], start: usize) -> Vec<MachineInstruction> {
    let decoder = <ARMv8 as Arch>::Decoder::default();
    let words = (start..).step_by(4).zip(code.chunks(4));
    let instructions = words.map(|(address, bytes)| {
        let text = match decoder.decode(&mut U8Reader::new(bytes)) {
            Ok(instruction) => {
                let text = instruction.to_string();
                let targets = instruction.operands.iter();
                let mut distance = targets.filter_map(|operand| match operand {
                    Operand::PCOffset(distance) => Some(*distance),
                    _ => None,
                });
                match (distance.next_back(), text.rsplit_once('$')) {
                    // A branch distance is shown as the target's address.
                    (Some(distance), Some((before, _))) => {
                        format!("{before}0x{:x}", (address as i64).wrapping_add(distance))
                    }
                    _ => text,
                }
            }
            Err(_) => "unknown".to_owned(),
        };
        MachineInstruction {
            address,
            bytes: bytes.to_vec(),
            text,
        }
    });
    instructions.collect()
}
