//! Bytecode → what the point interpreter runs: routines chosen, constants, arrays and targets resolved.

use super::rows::{FindBranch, FindRow, Held, special};
use super::state::{CHAIN, Handler, Threaded, index, pause};
use super::{arrays, control, host, moves};
use crate::blocks::targets;
use crate::bytecode::{Bytecode, Instruction, Opcode, Role, Slot, WORDS};
use adumbra_packs::Level;

/// Resolves a whole program for a processor of that level.
pub(super) fn load(program: &Bytecode, level: Level) -> Box<[Threaded]> {
    let targets = targets(program);
    let mut code = Vec::with_capacity(index(program.code.len() as u32) as usize);
    let mut held = None;
    for (position, instruction) in (0..).zip(&program.code) {
        if code.len() % CHAIN == CHAIN - 1 {
            code.push(Threaded {
                handler: pause,
                words: [0; WORDS],
            });
            held = None;
        }
        if targets[position as usize] {
            held = None;
        }
        let words = words(program, position, instruction);
        code.push(Threaded {
            handler: handler(instruction.opcode, words, level, held),
            words,
        });
        held = hands_over(instruction, level);
    }
    code.into_boxed_slice()
}

/// What an instruction hands to the one behind it.
fn hands_over(instruction: &Instruction, level: Level) -> Option<Held> {
    match instruction.opcode {
        // The baseline is there to run anywhere, not to be fast; it has fewer routines.
        Opcode::Row(op, pattern)
            if op.info().differentiable() && !op.info().long && level != Level::Baseline =>
        {
            special(pattern).map(|_| Held {
                slot: instruction.words[0],
                lanes: pattern.result(),
            })
        }
        _ => None,
    }
}

fn handler(opcode: Opcode, words: [u32; WORDS], level: Level, held: Option<Held>) -> Handler {
    match opcode {
        Opcode::Row(op, pattern) => op.visit(FindRow {
            pattern,
            level,
            slots: words[1..]
                .try_into()
                .expect("the result is one of the words"),
            held,
        }),
        Opcode::Branch(op, when) => {
            let found = op.visit(FindBranch { when, level });
            found.expect("validation checked that the row is a truth value")
        }
        Opcode::BranchIf(when) => control::find_branch_if(when),
        Opcode::Jump => control::jump_to,
        Opcode::Loop => control::loop_to,
        Opcode::Move(to, from) => moves::find_move(to, from),
        Opcode::Global(lanes) => moves::find_global(lanes),
        Opcode::Shadow(direction) => moves::find_shadow(direction),
        Opcode::Difference(_) => host::difference,
        Opcode::Load(to, from) => arrays::find_load(to, from),
        Opcode::Store(to, from) => arrays::find_store(to, from),
        Opcode::ArrayZero => arrays::array_zero,
        Opcode::ArrayCopy => arrays::array_copy,
        Opcode::ArrayResize => arrays::array_resize,
        Opcode::ArrayCopyPart => arrays::array_copy_part,
        Opcode::ArrayFromSaved => arrays::array_from_saved,
        Opcode::ArrayToSaved => arrays::array_to_saved,
        Opcode::Save => control::save,
        Opcode::Restore => control::restore,
        Opcode::Call => control::call,
        Opcode::Enter => control::enter,
        Opcode::Turn => control::turn,
        Opcode::Return => control::return_to,
        Opcode::Sample(..) => host::sample,
        Opcode::SampleGradients(_) => host::sample_gradients,
        Opcode::SampleLevel(_) => host::sample_level,
        Opcode::Message => host::message,
        Opcode::MakeClosure => host::make_closure,
        Opcode::ClosureAdd => host::closure_add,
        Opcode::ClosureScale => host::closure_scale,
        Opcode::ClosureTint => host::closure_tint,
        Opcode::Unreachable => control::unreachable,
    }
}

/// The words as the routine wants them, which says so at its head.
fn words(program: &Bytecode, position: u32, instruction: &Instruction) -> [u32; WORDS] {
    let mut words = instruction.words;
    for (word, role) in words.iter_mut().zip(instruction.opcode.roles()) {
        match role {
            Role::Read(_) => *word = program.place(Slot(*word)),
            Role::Target => *word = index(*word).wrapping_sub(index(position)),
            _ => {}
        }
    }
    let array = |number: u32| program.arrays[number as usize];
    let [a, b, c, ..] = words;
    let mut replaced = |with: &[u32]| {
        words.fill(0);
        words[..with.len()].copy_from_slice(with);
    };
    match instruction.opcode {
        Opcode::Load(..) => replaced(&[a, c, array(b).base, array(b).len]),
        Opcode::Store(..) => replaced(&[array(a).base, array(a).len, b, c]),
        Opcode::ArrayZero => replaced(&[array(a).base, array(a).slots(), array(a).len]),
        Opcode::Call => {
            let function = &program.functions[a as usize];
            let distance = index(function.start).wrapping_sub(index(position));
            replaced(&[distance, function.elements, b]);
        }
        _ => {}
    }
    words
}
