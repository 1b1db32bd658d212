//! Programs with one fault each.

mod hostile;

use super::*;
use crate::bytecode::{BytecodeArray, BytecodeInstruction, Opcode, validate};
use adumbra_ir::span::FileId;
use adumbra_ir::text::parse;
use adumbra_ir::types::{Direction, Lanes};

fn program(body: &str) -> Bytecode {
    let text = format!(
        "adumbra ir 1\nglobal uv: float2\nglobal flag: bool\nglobal k: int\nclosure Lambert(float)\nrecord (bool, f32, i32)\noutput o: float\nentry main\n{body}"
    );
    let module = parse(&text, FileId::MAIN).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    crate::lower(&module).expect("it fits")
}

/// A loop, a branch, an array and a function that calls itself.
fn rich() -> Bytecode {
    program(
        "fn main() -> (f32) ^0 {
        array &0: f32[8]
        %0: f32 = global uv[0]
        %1: bool = global flag[0]
        %2: i32 = global k[0]
        array_zero &0
        store &0[%2], %0
        %3: f32 = load &0[%2]
        %4: f32 = if %1 ^1 {
          %5: f32 = mul %3, %0
          yield %5
        } else ^2 {
          yield %0
        }
        %6: f32, %7: i32 = loop ^3 (%8: f32 = %4, %9: i32 = %2) {
          %10: i32 = const 1
          %11: i32 = isub %9, %10
          %12: f32 = sin %8
          %13: bool = ilt %11, %10
          if %13 ^4 { break ^3 %12, %11 } else ^5 { continue ^3 %12, %11 }
          unreachable
        }
        %14: f32 = call again(%6, %7) []
        return %14
        }
        fn again(%0: f32, %1: i32) -> (f32) ^0 {
        array &0: i32[300]
        %2: i32 = const 1
        %3: bool = ilt %1, %2
        %4: f32 = if %3 ^1 { yield %0 } else ^2 {
          %5: i32 = isub %1, %2
          store &0[%5], %1
          %6: f32 = call again(%0, %5) []
          %7: f32 = add %6, %0
          yield %7
        }
        return %4
        }",
    )
}

fn position(program: &Bytecode, fits: impl Fn(Opcode) -> bool) -> usize {
    let found = program.code.iter().position(|code| fits(code.opcode));
    found.expect("there is one")
}

/// The program is still memory-safe, and refused with this message.
fn is_refused(program: &Bytecode, why: &str) {
    assert_eq!(validate(program), Ok(()), "{program}");
    let error = check(program).expect_err(why);
    assert!(error.contains(why), "{error}\n{program}");
}

#[test]
fn lowered_programs_pass_the_check() {
    assert_eq!(check(&rich()), Ok(()));
}

#[test]
fn unwritten_words_are_refused() {
    let sound = rich();
    let each = sound.code.iter().enumerate();
    let ops = each.filter(|(_, code)| matches!(code.opcode, Opcode::Arithmetic(..)));
    let mut count = 0;
    for (position, _) in ops {
        // A register after all others, which is never written.
        let mut program = sound.clone();
        program.registers += 1;
        program.code[position].words[1] = sound.registers;
        is_refused(&program, "before it is written");
        count += 1;
    }
    assert!(count > 4, "{sound}");
    // A register that is written on one of two paths only.
    let mut program = sound.clone();
    let at = position(&program, |opcode| matches!(opcode, Opcode::Move(..)));
    program.code[at].words[0] = program.registers;
    program.registers += 1;
    is_refused(&program, "before it is written");
    // An array that is not cleared, and an output.
    let mut program = sound.clone();
    let zero = |code: &BytecodeInstruction| code.opcode == Opcode::ArrayZero;
    let at = program.code.iter().rposition(zero).expect("the shader's");
    program.code[at] = BytecodeInstruction::new(Opcode::Iteration, []);
    is_refused(&program, "array is read before");
    let mut program = sound;
    program.output_lanes[0] = Lanes::XY;
    program.output_derivatives = true;
    is_refused(&program, "before it is written");
}

#[test]
fn float_bits_as_integers_are_refused() {
    let sound = rich();
    let uv = position(&sound, |opcode| matches!(opcode, Opcode::Global(_)));
    let float = sound.code[uv].words[0];
    let mut program = sound.clone();
    let at = position(&program, |opcode| matches!(opcode, Opcode::Load(..)));
    program.code[at].words[2] = float;
    is_refused(&program, "holds another type");
    // Through a global that is read as another type: `k` where `uv` was stays a number, `uv` where
    // `k` was is none.
    let mut program = sound.clone();
    let k = sound
        .code
        .iter()
        .rposition(|code| matches!(code.opcode, Opcode::Global(_)));
    program.code[k.expect("the last")].words[1] = 0;
    is_refused(&program, "holds another type");
    // A boolean that may be 7.
    let mut program = sound;
    let flag = uv + 1;
    program.code[flag].words[1] = program.code[flag + 1].words[1];
    is_refused(&program, "holds another type");
}

#[test]
fn integers_as_closures_are_refused() {
    let mut program = program(
        "fn main() -> (f32) ^0 {
        %0: f32 = global uv[0]
        %1: i32 = global k[0]
        %2: closure = make_closure Lambert(%0)
        %3: closure = closure_add %2, %2
        %4: f32 = i2f %1
        return %4
        }",
    );
    let k = program.code[1].words[0];
    let at = position(&program, |opcode| opcode == Opcode::ClosureAdd);
    program.code[at].words[2] = k;
    is_refused(&program, "holds another type");
}

#[test]
fn calls_restore_and_pay_for_saved_registers() {
    let sound = rich();
    let save = position(&sound, |opcode| opcode == Opcode::Save);
    let call = save
        + position(
            &Bytecode {
                code: sound.code[save..].to_vec(),
                ..sound.clone()
            },
            |o| o == Opcode::Call,
        );
    let restore = position(&sound, |opcode| opcode == Opcode::Restore);

    let mut program = sound.clone();
    program.code[save].words[1] += 1;
    is_refused(&program, "restores what the call has not saved");

    let mut program = sound.clone();
    program.code.insert(restore + 1, program.code[restore]);
    program
        .functions
        .iter_mut()
        .for_each(|f| f.start += u32::from(f.start as usize > restore));
    is_refused(&program, "restores what the call has not saved");

    // 16 M words for one step.
    let mut program = sound.clone();
    program.registers = crate::bytecode::MAX_REGISTERS;
    for at in [
        save,
        sound
            .code
            .iter()
            .rposition(|c| c.opcode == Opcode::Restore)
            .expect("one"),
    ] {
        program.code[at].words.fill(0);
        program.code[at].words[1] = program.registers;
    }
    is_refused(&program, "more is saved than the call takes steps for");

    // Arrays take steps: without these they may not be saved.
    assert_eq!(sound.code[call].words[1], 1, "{sound}");

    let mut program = sound;
    let loops = position(&program, |opcode| matches!(opcode, Opcode::Branch(..)));
    program.code.insert(call, program.code[loops]);
    let error = check(&program).expect_err("a branch between");
    assert!(error.contains("is between"), "{error}");
}

#[test]
fn loops_are_entered_at_their_heads() {
    let mut program = rich();
    let at = position(&program, |opcode| matches!(opcode, Opcode::BranchIf(_)));
    let head = program.code[position(&program, |opcode| opcode == Opcode::Loop)].words[0];
    program.code[at].words[0] = head + 1;
    is_refused(&program, "jumps into a loop");
}

/// The hole of values with ddy alone has no use, and the rest of such arrays is as any.
#[test]
fn holes_in_arrays_stay_unread() {
    let mut program = program(
        "fn main() -> (f32) ^0 {
        array &0: f32:y[4]
        array &1: f32:y[4]
        %0: f32:y = global uv[0]
        %1: i32 = global k[0]
        array_zero &0
        store &0[%1], %0
        array_copy &1, &0
        %2: f32:y = load &1[%1]
        %3: f32 = ddy %2
        return %3
        }",
    );
    assert_eq!(check(&program), Ok(()));
    let BytecodeArray { base, .. } = program.arrays[1];
    let at = position(&program, |o| matches!(o, Opcode::Shadow(Direction::Y)));
    program.code[at].opcode = Opcode::Move(Lanes::NONE, Lanes::NONE);
    program.code[at].words[1] = base;
    assert_eq!(check(&program), Ok(()), "{program}");
    program.code[at].words[1] = base + 1;
    is_refused(&program, "before it is written");
}

#[test]
fn checking_is_bounded() {
    let mut budget = CheckBudget::default();
    assert_eq!(budget.spend(MAX_WORK as usize), Ok(()));
    assert!(budget.spend(1).is_err());
    let mut budget = CheckBudget {
        held: MAX_HELD,
        ..CheckBudget::default()
    };
    assert!(budget.keep(&[0]).is_err());
}

/// Records keep the types of their values, so what is taken can be read as what it is alone.
#[test]
fn taken_words_have_the_types_of_their_record() {
    let body = "fn main() -> (f32) ^0 {
        %0: f32 = global uv[0]
        %1: bool = global flag[0]
        %2: i32 = global k[0]
        keep 0 #0(%1, %0, %2)
        %3: bool, %4: f32, %5: i32 = take 0 #0
        %6: f32 = select %3, %4, %0
        %7: i32 = iadd %5, %2
        %8: f32 = i2f %7
        %9: f32 = add %6, %8
        return %9 }";
    let sound = program(body);
    assert_eq!(check(&sound), Ok(()));
    let at = |opcode| sound.code.iter().position(|code| code.opcode == opcode);
    let lists = [Opcode::Keep, Opcode::Take].map(|opcode| {
        let at = at(opcode).expect("it is there");
        sound.code[at].words[1] as usize
    });
    for list in lists {
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let mut wrong = sound.clone();
            wrong.lists.swap(list + one, list + other);
            assert_eq!(validate(&wrong), Ok(()));
            assert!(check(&wrong).is_err(), "{one} {other}\n{wrong}");
        }
    }
    // A word that is dropped leaves its register as it was.
    let mut dropped = program(
        "fn main() -> (f32) ^0 {
        %0: bool = const true
        %1: f32 = const 1.5
        %2: i32 = const 0
        keep 0 #0(%0, %1, %2)
        %3: bool, %4: f32, %5: i32 = take 0 #0
        return %4 }",
    );
    assert_eq!(check(&dropped), Ok(()));
    let takes = dropped.code.iter().find(|code| code.opcode == Opcode::Take);
    let list = takes.expect("it is there").words[1] as usize;
    dropped.lists[list + 1] = crate::bytecode::Register::constant(0).0;
    assert_eq!(validate(&dropped), Ok(()));
    assert!(check(&dropped).is_err_and(|what| what.contains("before it is written")));
}
