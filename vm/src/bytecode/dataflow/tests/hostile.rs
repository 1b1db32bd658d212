//! Files that are short and would take long to check: the work is in proportion to their size, or
//! they are refused.

use super::super::spend;
use super::*;
use crate::bytecode::{BytecodeFunction, BytecodeTape, MAX_LISTED_REGISTERS, TOO_LARGE};
use crate::point::PointMachine;
use adumbra_ir::Type;
use adumbra_ir::host::{FaultKind, Host, Limits, SampleRequest, Sampled, move_steps};
use adumbra_ir::limits::MAX_RECORD_FIELDS;
use adumbra_ir::module::{ClosureShape, Output};
use adumbra_ir::span::Span;
use std::sync::Arc;

/// A shader with one output and this code, in `registers` registers. Constants are 0 and 1.0.
fn shader(registers: u32, mut code: Vec<BytecodeInstruction>) -> Bytecode {
    let output = Output {
        name: "o".to_owned(),
        ty: Type::FLOAT,
        metadata: Vec::new(),
    };
    let end = [
        instruction(Opcode::Move(Lanes::NONE, Lanes::NONE), [0, ZERO]),
        instruction(Opcode::Return, []),
    ];
    code.extend(end);
    let function = BytecodeFunction {
        name: "s".to_owned(),
        variant: 0,
        start: 0,
        span: Span::default(),
        elements: 0,
    };
    let mut program = Bytecode::empty();
    program.interface.outputs.push(output);
    program.output_lanes.push(Lanes::NONE);
    program.constants = vec![0, 1.0_f32.to_bits()];
    program.functions.push(function);
    program.code = code;
    program.registers = registers;
    program
}

const ZERO: u32 = 1 << 31;
const ONE: u32 = ZERO + 1;

fn instruction<const N: usize>(opcode: Opcode, words: [u32; N]) -> BytecodeInstruction {
    BytecodeInstruction::new(opcode, words)
}

fn copy(to: u32, from: u32) -> BytecodeInstruction {
    instruction(Opcode::Move(Lanes::NONE, Lanes::NONE), [to, from])
}

/// The work of checking it as a file; none if it is refused as too large.
fn work_of(program: &Bytecode) -> Option<u64> {
    let spent = validate(program).and_then(|()| spend(program, CheckBudget::default()));
    let is_read = Bytecode::from_bytes(&program.to_bytes()).is_ok();
    assert_eq!(is_read, spent.is_ok());
    match spent {
        Ok(spent) => Some(spent.work),
        Err(what) if what.ends_with(TOO_LARGE) => None,
        Err(what) => panic!("{what}"),
    }
}

/// Closures that all have the same list of 65,536 arguments.
fn closures(count: u32) -> Bytecode {
    const ARGUMENTS: u32 = 1 << 16;
    let mut code = vec![copy(3, ZERO)];
    code.extend((0..count).map(|_| instruction(Opcode::MakeClosure, [4, 0, 0])));
    let mut program = shader(5, code);
    program.interface.closures.push(ClosureShape {
        name: "c".to_owned(),
        params: vec![Type::Array(Arc::new(Type::FLOAT), ARGUMENTS)],
    });
    program.lists = vec![3; ARGUMENTS as usize];
    program
}

#[test]
fn shared_lists_are_bounded() {
    let most = (MAX_LISTED_REGISTERS >> 16) as u32;
    let work = work_of(&closures(most)).expect("they fit");
    assert!(work < 1 << 30, "{work}");
    for count in [most + 1, 3_000, 33_000] {
        assert_eq!(work_of(&closures(count)), None, "{count}");
    }
}

/// Closures whose lists start at each place of one list of arguments.
/// Early returns that all check the same long outputs.
#[test]
fn outputs_are_work_at_each_return() {
    const OUTPUTS: u32 = 1 << 16;
    let with_returns = |count: u32| {
        let mut code = vec![instruction(Opcode::ArrayZero, [0])];
        for at in 0..count {
            let past = 2 * at + 3;
            code.push(instruction(Opcode::BranchIf(true), [past, ZERO]));
            code.push(instruction(Opcode::Return, []));
        }
        let mut program = shader(3 * OUTPUTS, code);
        program.interface.outputs[0].ty = Type::Array(Arc::new(Type::FLOAT), OUTPUTS);
        program.output_lanes = vec![Lanes::NONE; OUTPUTS as usize];
        program.arrays.push(BytecodeArray {
            base: 0,
            len: 3 * OUTPUTS,
            lanes: Lanes::NONE,
        });
        program
    };
    let work = |count| work_of(&with_returns(count)).expect("it is small");
    assert!(work(9) - work(8) > 64 * u64::from(OUTPUTS));
    assert_eq!(work_of(&with_returns(3_000)), None);
}

#[test]
fn overlapping_lists_are_cut_once() {
    let mut program = closures(MAX_LISTED_REGISTERS as u32 >> 16);
    program.lists = vec![3; 1 << 17];
    for (list, code) in (0..).zip(&mut program.code[1..]) {
        code.words[2] = list;
    }
    program.code.truncate(program.code.len() - 2);
    program
        .code
        .extend([copy(0, ZERO), instruction(Opcode::Return, [])]);
    assert!(work_of(&program).is_some());
}

/// `depth` loops within each other, in each of which a chain of `chain` moves takes as many walks
/// to become stable; `body` moves are innermost.
fn nested_loops(depth: u32, chain: u32, body: u32) -> Bytecode {
    fn nest(code: &mut Vec<BytecodeInstruction>, level: u32, [depth, chain, body]: [u32; 3]) {
        let register = |i: u32| 3 + level * (chain + 1) + i;
        code.extend((1..=chain).map(|i| copy(register(i), ZERO)));
        code.push(copy(register(0), ONE));
        let head = code.len();
        code.push(copy(0, ZERO));
        code.extend(
            (1..=chain)
                .rev()
                .map(|i| copy(register(i), register(i - 1))),
        );
        match level + 1 < depth {
            true => nest(code, level + 1, [depth, chain, body]),
            false => code.extend((0..body).map(|_| copy(register(0), register(0)))),
        }
        code.push(instruction(Opcode::Loop, [head as u32]));
        code[head] = instruction(Opcode::BranchIf(true), [code.len() as u32, ZERO]);
    }
    let mut code = Vec::new();
    nest(&mut code, 0, [depth, chain, body]);
    shader(3 + depth * (chain + 1), code)
}

#[test]
fn nested_loops_take_no_power_of_their_depth() {
    let shallow = work_of(&nested_loops(2, 12, 1_000)).expect("it is small");
    let deep = work_of(&nested_loops(5, 12, 1_000)).expect("it is small");
    assert!(deep < 3 * shallow, "{shallow} {deep}");
    let deepest = work_of(&nested_loops(100, 12, 1_000)).expect("it is small");
    assert!(deepest < 250 * shallow, "{shallow} {deepest}");
}

/// Counts queries, and cancels at one of them.
struct CountingHost {
    asked: u32,
    cancels_at: u32,
}

impl Host for CountingHost {
    fn sample(&mut self, _: &SampleRequest) -> Sampled {
        Sampled::Ready([0.0; 4])
    }

    fn is_cancelled(&mut self) -> bool {
        self.asked += 1;
        self.asked >= self.cancels_at
    }
}

/// `pairs` times `keep` and `take`, of the longest record, from a file.
fn records(pairs: usize, is_endless: bool) -> Arc<Bytecode> {
    let [keep, take] = [Opcode::Keep, Opcode::Take].map(|opcode| instruction(opcode, [0, 0]));
    let mut code = vec![copy(3, ZERO)];
    code.extend([keep, take].repeat(pairs));
    code.extend(is_endless.then(|| instruction(Opcode::Loop, [1])));
    let mut program = shader(4, code);
    let tape = BytecodeTape {
        fields: vec![Scalar::F32; MAX_RECORD_FIELDS],
        lanes: Lanes::XY,
    };
    program.lists = vec![3; tape.words()];
    program.tapes.push(tape);
    let file = Bytecode::from_bytes(&program.to_bytes());
    Arc::new(file.unwrap_or_else(|error| panic!("{error:?}")))
}

/// The fault that stops the point engine, and the queries before it.
fn run(program: &Arc<Bytecode>, steps: u64, cancels_at: u32) -> (Option<FaultKind>, u32) {
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let mut host = CountingHost {
        asked: 0,
        cancels_at,
    };
    let mut machine = PointMachine::new(program.clone(), limits);
    machine.run(&[], &[], &mut host);
    (machine.faults().stopped().map(|f| f.kind), host.asked)
}

/// Endless records once took no steps, and had no queries.
#[test]
#[cfg_attr(miri, ignore = "it moves millions of words")]
fn longest_records_take_steps_and_are_cancelled() {
    let (pairs, never) = (3, u32::MAX);
    let records_once = records(pairs, false);
    let each = Operands::new(&records_once).moved_words(&records_once.code[1]);
    let steps = 1 + 2 * pairs as u64 * move_steps(each);
    assert!(steps > 90, "{steps}");
    assert_eq!(run(&records_once, steps, never).0, None);
    let stopped = run(&records_once, steps - 1, never).0;
    assert_eq!(stopped, Some(FaultKind::StepBudget));

    let endless = records(100, true);
    let (stopped, asked) = run(&endless, 100_000, never);
    assert_eq!(stopped, Some(FaultKind::StepBudget));
    assert!(asked > 90, "{asked}");
    assert_eq!(run(&endless, 100_000, 2), (Some(FaultKind::Cancelled), 2));
}

/// Instructions that are passed are work, and work beyond the budget refuses the file.
#[test]
fn passed_instructions_spend_the_budget() {
    let program = nested_loops(2, 5, 1_000);
    let work = work_of(&program).expect("it is small");
    assert!(work > 5 * 1_000 * 256, "{work}");
    let within = |work| CheckBudget { work, held: 0 };
    assert!(spend(&program, within(MAX_WORK - work)).is_ok());
    let error = spend(&program, within(MAX_WORK - work + 1));
    assert!(error.is_err_and(|what| what.ends_with(TOO_LARGE)));
}
