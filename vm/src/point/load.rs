//! Loading: bytecode to threaded code, with handlers chosen, and constants, arrays and targets
//! resolved.

use super::arithmetic::{FindArithmetic, FindBranch, ForwardedValue, shadow_mask};
use super::state::{Handler, MAX_TAIL_CALLS, MOVE_STEPS, ThreadedInstruction, index, pause};
use super::{arrays, buffers, control, host, moves, tapes};
use crate::basic_blocks::jump_targets;
use crate::bytecode::{
    Bytecode, BytecodeInstruction, Opcode, OperandRole, Operands, Register, SampleMip, WORDS,
};
use adumbra_ir::host::move_steps;
use adumbra_simd::SimdLevel;

/// Loads a whole program for a processor of that level.
pub(super) fn load(program: &Bytecode, level: SimdLevel) -> Box<[ThreadedInstruction]> {
    let targets = jump_targets(program);
    let operands = Operands::new(program);
    let mut code = Vec::with_capacity(index(program.code.len() as u32) as usize);
    let mut forwarded = None;
    for (position, instruction) in (0..).zip(&program.code) {
        if code.len() % MAX_TAIL_CALLS == MAX_TAIL_CALLS - 1 {
            code.push(ThreadedInstruction {
                handler: pause,
                words: [0; WORDS],
            });
            forwarded = None;
        }
        if targets[position as usize] {
            forwarded = None;
        }
        let words = words(&operands, position, instruction);
        code.push(ThreadedInstruction {
            handler: handler(instruction.opcode, words, level, forwarded),
            words,
        });
        forwarded = forwarded_by(instruction, level);
    }
    code.into_boxed_slice()
}

/// The value that an instruction forwards to the next one.
fn forwarded_by(instruction: &BytecodeInstruction, level: SimdLevel) -> Option<ForwardedValue> {
    match instruction.opcode {
        // The baseline has to run, not to be fast; it has fewer handlers.
        Opcode::Arithmetic(op, pattern)
            if op.info().is_differentiable()
                && !op.info().shares_shadow_routine
                && level != SimdLevel::Baseline =>
        {
            shadow_mask(pattern).map(|_| ForwardedValue {
                register: instruction.words[0],
                lanes: pattern.result(),
            })
        }
        _ => None,
    }
}

fn handler(
    opcode: Opcode,
    words: [u32; WORDS],
    level: SimdLevel,
    forwarded: Option<ForwardedValue>,
) -> Handler {
    match opcode {
        Opcode::Arithmetic(op, pattern) => op.visit(FindArithmetic {
            pattern,
            level,
            registers: words[1..]
                .try_into()
                .expect("the result is one of the words"),
            forwarded,
        }),
        Opcode::Branch(op, when) => {
            let found = op.visit(FindBranch { when, level });
            found.expect("validation checked that the op is a boolean")
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
        Opcode::Keep => tapes::keep,
        Opcode::Take => tapes::take,
        Opcode::Call => control::call,
        Opcode::Enter => control::enter,
        Opcode::Iteration => control::iteration,
        Opcode::Query => control::query,
        Opcode::Return => control::return_to,
        Opcode::Sample(SampleMip::Shadows(..), _) => host::sample,
        Opcode::Sample(SampleMip::Explicit(_), _) => host::sample_explicit,
        Opcode::Buffer(..) => buffers::buffer,
        Opcode::BufferLength => buffers::length,
        Opcode::BufferAdd => buffers::add,
        Opcode::TextureAdjoint(..) => host::texture_adjoint,
        Opcode::Message => host::message,
        Opcode::MakeClosure => host::make_closure,
        Opcode::ClosureAdd => host::closure_add,
        Opcode::ClosureScale => host::closure_scale,
        Opcode::ClosureTint => host::closure_tint,
        Opcode::Unreachable => control::unreachable,
    }
}

/// The words in the form that the handler documents.
fn words(
    operands: &Operands<'_>,
    position: u32,
    instruction: &BytecodeInstruction,
) -> [u32; WORDS] {
    let program = operands.program;
    let mut words = instruction.words;
    for (word, role) in words.iter_mut().zip(instruction.opcode.roles()) {
        match role {
            OperandRole::Read(..) => *word = program.register_index(Register(*word)),
            OperandRole::Target => *word = index(*word).wrapping_sub(index(position)),
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
        Opcode::ArrayZero => replaced(&[array(a).base, array(a).registers()]),
        Opcode::Call => {
            let function = &program.functions[a as usize];
            let distance = index(function.start).wrapping_sub(index(position));
            replaced(&[distance, function.elements, b]);
        }
        _ => {}
    }
    let moved = operands.moved_words(instruction);
    if moved > 0 {
        words[MOVE_STEPS] = move_steps(moved) as u32;
    }
    words
}
