//! The work of a program between two steps, and queries for cancellation in straight code.
//!
//! Steps of the budget do not depend on how much code is between them, so that optimisation cannot
//! change them. Work bounds how long that code takes. An *interval* is code that runs without a
//! step, a return or a [query](Opcode::Query). Its work is at most [`MAX_INTERVAL_WORK`], or that
//! of one instruction: longer straight code has queries. From the longest interval follows after
//! how many steps an engine asks ([`query_period`]).

use super::{Bytecode, BytecodeInstruction, Opcode, OperandRole, Operands};
use adumbra_ir::host::{QueryPeriod, WORDS_PER_STEP};
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;

/// The most work of an interval.
const MAX_INTERVAL_WORK: u32 = 1 << 14;

/// Work of an op whose algorithm approximates, and of noise.
const APPROXIMATION_WORK: u32 = 16;
const NOISE_WORK: u32 = 256;

/// Registers that are saved or restored for one unit of work.
const SAVED_PER_WORK: u32 = 4;

/// The work of an instruction, in instructions that round once. Words that take steps are not
/// counted.
fn work(operands: &Operands<'_>, code: &BytecodeInstruction) -> u32 {
    match code.opcode {
        Opcode::Arithmetic(op, pattern) => op_work(op) * (1 + pattern.result().count()),
        Opcode::Branch(op, _) => op_work(op),
        Opcode::Query => 0,
        Opcode::Save | Opcode::Restore => 1 + code.words[1] / SAVED_PER_WORK,
        _ => {
            let lists = (0..code.words.len()).map(|word| operands.list(code, word).len() as u32);
            1 + operands
                .moved_words(code)
                .max(lists.sum())
                .min(3 * WORDS_PER_STEP)
        }
    }
}

fn op_work(op: Op) -> u32 {
    let info = op.info();
    match info.class {
        _ if info.shares_shadow_routine => NOISE_WORK,
        OpClass::Linear | OpClass::Given | OpClass::Discrete => 1,
        OpClass::Smooth | OpClass::Kink | OpClass::Jump => APPROXIMATION_WORK,
    }
}

/// Whether an instruction ends an interval: it takes a step whenever it is executed, or it is a
/// query. So does a return, after which control does not continue here.
fn ends_interval(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Loop | Opcode::Call | Opcode::Enter | Opcode::Iteration | Opcode::Query
    )
}

/// The longest interval, and the positions before which a query keeps intervals to `most`.
fn intervals(program: &Bytecode, most: u32) -> (u32, Vec<u32>) {
    let operands = Operands::new(program);
    let mut before = vec![0_u32; program.code.len()];
    let (mut longest, mut queries) = (0, Vec::new());
    // The work since the last step if control continues from the instruction before.
    let mut through = 0;
    for (position, code) in (0..).zip(&program.code) {
        let own = work(&operands, code);
        let mut interval = before[position as usize].max(through);
        if interval > 0 && interval.saturating_add(own) > most {
            queries.push(position);
            interval = 0;
        }
        interval = interval.saturating_add(own);
        longest = longest.max(interval);
        through = match ends_interval(code.opcode) || code.opcode.never_falls_through() {
            true => 0,
            false => interval,
        };
        // Only loops go back, by a step.
        if code.opcode.roles()[0] == OperandRole::Target && code.opcode != Opcode::Loop {
            let target = &mut before[code.words[0] as usize];
            *target = (*target).max(interval);
        }
    }
    (longest, queries)
}

/// Puts queries into the intervals of a valid program that are too long; returns their positions
/// among the instructions of before, in order.
pub(crate) fn insert_queries(program: &mut Bytecode) -> Vec<u32> {
    let (_, queries) = intervals(program, MAX_INTERVAL_WORK);
    if queries.is_empty() {
        return queries;
    }
    let mut code = Vec::with_capacity(program.code.len() + queries.len());
    let moved =
        |position: u32| position + queries.partition_point(|&query| query <= position) as u32;
    // Control that goes forward comes to the query first.
    let query =
        |position: u32| position + queries.partition_point(|&query| query < position) as u32;
    let mut rest = queries.iter().peekable();
    for (position, mut instruction) in (0..).zip(std::mem::take(&mut program.code)) {
        if rest.next_if_eq(&&position).is_some() {
            code.push(BytecodeInstruction::new(Opcode::Query, []));
        }
        if instruction.opcode.roles()[0] == OperandRole::Target {
            let target = &mut instruction.words[0];
            *target = match instruction.opcode {
                Opcode::Loop => moved(*target),
                _ => query(*target),
            };
        }
        code.push(instruction);
    }
    program.code = code;
    for function in &mut program.functions {
        function.start = query(function.start);
    }
    for (position, _) in &mut program.spans {
        *position = moved(*position);
    }
    queries
}

/// After how many steps an engine asks that runs a program for as many vectors of
/// [`QUERY_POINTS`](adumbra_ir::host::QUERY_POINTS) points at once.
pub(crate) fn query_period(program: &Bytecode, vectors: usize) -> QueryPeriod {
    let (longest, _) = intervals(program, u32::MAX);
    QueryPeriod::of(u64::from(longest.max(WORDS_PER_STEP)) * vectors as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::BytecodeFunction;
    use adumbra_ir::span::Span;

    fn program(code: Vec<BytecodeInstruction>) -> Bytecode {
        let mut program = Bytecode::empty();
        program.functions.push(BytecodeFunction {
            name: String::new(),
            variant: 0,
            start: 0,
            span: Span::default(),
            elements: 0,
        });
        program.spans = (0..code.len() as u32)
            .map(|at| (at, Span::default()))
            .collect();
        program.code = code;
        program
    }

    fn opcode<const N: usize>(opcode: Opcode, words: [u32; N]) -> BytecodeInstruction {
        BytecodeInstruction::new(opcode, words)
    }

    const COPY: Opcode = Opcode::Move(
        adumbra_ir::types::Lanes::NONE,
        adumbra_ir::types::Lanes::NONE,
    );

    #[test]
    fn long_straight_code_has_queries() {
        let count = 5 * MAX_INTERVAL_WORK / 2;
        let mut code = vec![opcode(COPY, []); count as usize];
        code.push(opcode(Opcode::Return, []));
        let mut program = program(code);
        assert_eq!(insert_queries(&mut program).len(), 2);
        let (longest, missing) = intervals(&program, MAX_INTERVAL_WORK);
        assert_eq!((longest, missing.len()), (MAX_INTERVAL_WORK, 0));
        assert_eq!(insert_queries(&mut program), [0; 0], "once is enough");
        for (position, _) in &program.spans {
            assert_ne!(program.code[*position as usize].opcode, Opcode::Query);
        }
    }

    /// No path is longer, whichever branches it takes: here each arm is short, and jumps over the
    /// other.
    #[test]
    fn branches_do_not_avoid_queries() {
        let arm = MAX_INTERVAL_WORK / 3;
        let mut code = Vec::new();
        for _ in 0..20 {
            let at = code.len() as u32;
            code.push(opcode(Opcode::BranchIf(true), [at + arm + 2]));
            code.extend((0..arm).map(|_| opcode(COPY, [])));
            code.push(opcode(Opcode::Jump, [at + arm + 3]));
            code.push(opcode(COPY, []));
        }
        code.push(opcode(Opcode::Return, []));
        let mut program = program(code);
        assert!(!insert_queries(&mut program).is_empty());
        let (longest, missing) = intervals(&program, MAX_INTERVAL_WORK);
        assert!(longest <= MAX_INTERVAL_WORK, "{longest}");
        assert_eq!(missing, []);
    }

    /// A loop whose head follows long code does not ask at each iteration.
    #[test]
    fn back_edges_pass_over_queries() {
        let mut code = vec![opcode(COPY, []); MAX_INTERVAL_WORK as usize];
        let head = code.len() as u32;
        code.extend([opcode(COPY, []), opcode(Opcode::Loop, [head])]);
        let mut program = program(code);
        assert_eq!(insert_queries(&mut program), [head]);
        assert_eq!(program.code[head as usize].opcode, Opcode::Query);
        assert_eq!(program.code[head as usize + 2].words[0], head + 1);
    }

    /// The more work between steps, the fewer steps between queries, and the fewer for more points.
    #[test]
    fn query_period_follows_longest_interval() {
        let period = |copies: usize, vectors| {
            let mut code = vec![opcode(COPY, []); copies];
            code.push(opcode(Opcode::Loop, [0]));
            query_period(&program(code), vectors).steps()
        };
        assert_eq!(period(10, 1), 1 << 10);
        assert_eq!(period(10, 128), 1 << 6);
        assert_eq!(period(10_000, 1), 1 << 7);
        assert_eq!(period(10_000, 128), 1);
    }
}
