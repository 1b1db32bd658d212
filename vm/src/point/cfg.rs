//! What of a program is code for single points, for a native backend.
//!
//! A function's rows, moves, jumps and steps become a [`Flow`], and that the shader returns; routines of the interpreter do the rest, one instruction at a time. Control comes into the
//! code where such an instruction is done, where the function begins, and where loops turn: the interpreter may have gone that far by itself.

use super::state::index;
use crate::basic_blocks::{BasicBlocks, MAX_LIVENESS_WORDS, for_each_def, for_each_use};
use crate::bytecode::{Bytecode, BytecodeInstruction, Opcode, Register};
use crate::native::{
    ArithmeticInst, ArithmeticKind, CfgEntry, CondBranch, Condition, DualOperand, EXIT_FINISHED,
    Edge, PointBlock, PointCfg, PointTerminator, WordLocation,
};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use adumbra_ops::{MAX_OPERANDS, Op};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Rows of a piece from which on code is worth its call, if control does not go on within the code.
const MIN_ROWS: usize = 2;

/// A piece of a function: positions, the last of which may be what control goes by.
type Span = Range<u32>;

/// What a native backend is given for single points: the flow of each function that has anything to be code.
pub fn point_cfgs(program: &Bytecode) -> Vec<PointCfg> {
    let blocks = BasicBlocks::new(program, &[]);
    let mut spans = Vec::new();
    let mut point_cfgs = Vec::new();
    let mut block = 0;
    for (number, function) in program.functions.iter().enumerate() {
        let next = program.functions.get(number + 1);
        let end = next.map_or(program.code.len() as u32, |next| next.start);
        let code = &program.code[function.start as usize..end as usize];
        let finishes = finishes(program, number as u32, code);
        spans.clear();
        let first = block;
        while block < blocks.len() && blocks.range(block).start < end {
            pieces(program, finishes, blocks.range(block), &mut spans);
            block += 1;
        }
        let mut finder = Finder {
            program,
            function: function.start,
            finishes,
            spans: &spans,
            numbers: FxHashMap::default(),
            words: Vec::new(),
        };
        let flow = finder.flow(&blocks, first..block);
        if !flow.entries.is_empty() {
            point_cfgs.push(flow);
        }
    }
    point_cfgs
}

/// What an instruction is to code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It computes or moves.
    Row,
    /// Control goes by it.
    Turn,
    /// It is the interpreter's.
    Other,
}

/// What an instruction is to code of a function that may say itself that the shader has returned, or may not.
fn role(opcode: Opcode, finishes: bool) -> Role {
    match opcode {
        Opcode::Return if finishes => Role::Turn,
        // A fault has to be noted, with its place.
        Opcode::Arithmetic(op, _) if op.info().fault.is_some() => Role::Other,
        Opcode::Arithmetic(..) | Opcode::Move(..) | Opcode::Global(_) | Opcode::Shadow(_) => {
            Role::Row
        }
        Opcode::Branch(..) | Opcode::BranchIf(_) | Opcode::Jump => Role::Turn,
        Opcode::Loop | Opcode::Enter | Opcode::Iteration => Role::Turn,
        _ => Role::Other,
    }
}

/// Rows that code has at most for what comes out, where the shader returns: it may return in many places, and have many outputs.
const MAX_GIVEN: usize = 1 << 12;

/// Whether code can give what comes out when a function, which is that code, returns: it is the shader, which nobody calls, and closures and resources, which the
/// interpreter keeps, are not among the outputs.
fn finishes(program: &Bytecode, function: u32, code: &[BytecodeInstruction]) -> bool {
    let returns = code.iter().filter(|code| code.opcode == Opcode::Return);
    let is_called =
        |code: &BytecodeInstruction| code.opcode == Opcode::Call && code.words[0] == function;
    let is_word = |scalar| !matches!(scalar, Scalar::Closure | Scalar::Resource);
    function == program.entry
        && returns.count().saturating_mul(program.output_lanes.len()) <= MAX_GIVEN
        && program.interface.output_scalars().into_iter().all(is_word)
        && !program.code.iter().any(is_called)
}

/// Adds the pieces of a block.
fn pieces(program: &Bytecode, finishes: bool, block: Span, to: &mut Vec<Span>) {
    let mut start = block.start;
    for position in block.clone() {
        match role(program.code[position as usize].opcode, finishes) {
            Role::Row => {}
            Role::Turn => {
                to.push(start..position + 1);
                start = position + 1;
            }
            Role::Other => {
                if start < position {
                    to.push(start..position);
                }
                start = position + 1;
            }
        }
    }
    if start < block.end {
        to.push(start..block.end);
    }
}

/// Finds the flow of a function.
struct Finder<'p> {
    program: &'p Bytecode,
    /// Where the function begins.
    function: u32,
    /// Whether it may say that the shader has returned.
    finishes: bool,
    /// Its pieces, in order.
    spans: &'p [Span],
    numbers: FxHashMap<WordLocation, u32>,
    words: Vec<WordLocation>,
}

impl Finder<'_> {
    fn flow(&mut self, blocks: &BasicBlocks<'_>, range: Range<usize>) -> PointCfg {
        let pieces: Vec<PointBlock> = (self.spans.iter())
            .map(|span| self.piece(span.clone()))
            .collect();
        PointCfg {
            entries: self.entries(&pieces),
            live_out: self.live(blocks, range),
            locations: std::mem::take(&mut self.words),
            blocks: pieces,
        }
    }

    fn code(&self, position: u32) -> &BytecodeInstruction {
        &self.program.code[position as usize]
    }

    fn role(&self, position: u32) -> Role {
        role(self.code(position).opcode, self.finishes)
    }

    /// The piece that begins there, or holds what does.
    fn at(&self, position: u32) -> usize {
        self.spans.partition_point(|span| span.end <= position)
    }

    /// The way to an instruction, which begins a piece if it is in one.
    fn way(&self, position: u32) -> Edge {
        match self.role(position) {
            Role::Other => Edge::Exit(index(position)),
            Role::Row | Role::Turn => Edge::Block(self.at(position) as u32),
        }
    }

    fn piece(&mut self, span: Span) -> PointBlock {
        let rows = span.clone().filter_map(|position| self.row(position));
        let mut rows: Vec<ArithmeticInst> = rows.collect();
        let last = span.end - 1;
        let code = *self.code(last);
        let [a, ..] = code.words;
        let then = match code.opcode {
            Opcode::Jump => PointTerminator::Jump(self.way(a)),
            Opcode::Loop | Opcode::Enter | Opcode::Iteration => PointTerminator::StepJump {
                to: self.way(match code.opcode {
                    Opcode::Loop => a,
                    _ => span.end,
                }),
                out: index(last),
            },
            Opcode::Branch(op, when) => self.branch(Some(op), op.arity(), when, &code, span.end),
            Opcode::BranchIf(when) => self.branch(None, 1, when, &code, span.end),
            Opcode::Return if self.finishes => {
                self.outputs(last, &mut rows);
                PointTerminator::Jump(Edge::Exit(EXIT_FINISHED))
            }
            _ => PointTerminator::Jump(self.way(span.end)),
        };
        PointBlock {
            instructions: rows,
            terminator: then,
            position: last,
        }
    }

    fn branch(
        &mut self,
        test: Option<Op>,
        arity: usize,
        when: bool,
        code: &BytecodeInstruction,
        next: u32,
    ) -> PointTerminator {
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        for (operand, &slot) in operands.iter_mut().zip(&code.words[1..]).take(arity) {
            *operand = self.value(slot, Lanes::NONE);
        }
        PointTerminator::Branch(CondBranch {
            condition: Condition { test, operands },
            when,
            target: self.way(code.words[0]),
            next: self.way(next),
        })
    }

    /// Adds rows that put in place what comes out when the shader returns.
    fn outputs(&mut self, position: u32, rows: &mut Vec<ArithmeticInst>) {
        let program = self.program;
        let scalars = program.interface.output_scalars().into_iter();
        for ((scalar, &lanes), slot) in scalars.zip(&program.output_lanes).zip((0..).step_by(3)) {
            let mut operands = [DualOperand::default(); MAX_OPERANDS];
            operands[0] = self.value(slot, lanes);
            rows.push(ArithmeticInst {
                kind: match scalar {
                    Scalar::F32 => ArithmeticKind::Canonicalise,
                    _ => ArithmeticKind::Copy,
                },
                result: self.value(slot, Lanes::XY),
                operands,
                position,
            });
        }
    }

    /// What an instruction computes, if it is a row or a move.
    fn row(&mut self, position: u32) -> Option<ArithmeticInst> {
        let code = *self.code(position);
        let [a, b, c, ..] = code.words;
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        let (what, lanes) = match code.opcode {
            Opcode::Arithmetic(op, pattern) => {
                for (i, operand) in operands.iter_mut().enumerate().take(op.arity()) {
                    *operand = self.value(code.words[1 + i], pattern.operand(i));
                }
                (ArithmeticKind::Op(op), pattern.result())
            }
            Opcode::Move(to, from) => {
                operands[0] = self.value(b, from);
                (ArithmeticKind::Copy, to)
            }
            Opcode::Global(lanes) => {
                operands[0] = DualOperand {
                    value: self.word(WordLocation::Global(b)),
                    shadows: Direction::BOTH.map(|direction| {
                        // Where there are no shadows, nobody has looked at the distance to them.
                        let has = lanes.has(direction);
                        has.then(|| self.word(WordLocation::Global(b + c * (1 + direction as u32))))
                    }),
                };
                (ArithmeticKind::Copy, lanes)
            }
            Opcode::Shadow(direction) => {
                operands[0].value = self.word(WordLocation::Register(b + 1 + direction as u32));
                (ArithmeticKind::ReadShadow, Lanes::NONE)
            }
            _ => return None,
        };
        Some(ArithmeticInst {
            kind: what,
            result: self.value(a, lanes),
            operands,
            position,
        })
    }

    /// A value in the register file.
    fn value(&mut self, slot: u32, lanes: Lanes) -> DualOperand {
        if let Some(constant) = Register(slot).as_constant() {
            let bits = self.program.constants[constant as usize];
            return DualOperand {
                value: self.word(WordLocation::Constant(bits)),
                shadows: [None; 2],
            };
        }
        DualOperand {
            value: self.word(WordLocation::Register(slot)),
            shadows: Direction::BOTH.map(|direction| {
                let has = lanes.has(direction);
                has.then(|| self.word(WordLocation::Register(slot + 1 + direction as u32)))
            }),
        }
    }

    fn word(&mut self, home: WordLocation) -> u32 {
        let words = &mut self.words;
        *self.numbers.entry(home).or_insert_with(|| {
            words.push(home);
            words.len() as u32 - 1
        })
    }

    /// Where control comes in, in order.
    fn entries(&self, pieces: &[PointBlock]) -> Vec<CfgEntry> {
        let mut is_entry = vec![false; pieces.len()];
        let mut waiting: Vec<usize> = Vec::new();
        for (piece, span) in self.spans.iter().enumerate() {
            let before = (span.start > self.function).then(|| span.start - 1);
            let is_others = |position| {
                self.role(position) == Role::Other
                    && !self.code(position).opcode.never_falls_through()
            };
            if before.is_none_or(is_others) {
                waiting.push(piece);
            }
            let last = self.code(span.end - 1);
            if last.opcode == Opcode::Loop
                && let Edge::Block(head) = self.way(last.words[0])
            {
                waiting.push(head as usize);
            }
        }
        // What the interpreter does, since it is hardly anything, leads it to others.
        let mut seen = vec![false; pieces.len()];
        while let Some(piece) = waiting.pop() {
            if std::mem::replace(&mut seen[piece], true) {
                continue;
            }
            let PointBlock {
                instructions: rows,
                terminator: then,
                ..
            } = &pieces[piece];
            let goes_on = then.edges().any(|way| matches!(way, Edge::Block(_)));
            // A step that cannot be taken has to be the interpreter's: it would come here again.
            let is_step = rows.is_empty() && matches!(then, PointTerminator::StepJump { .. });
            if !is_step && (rows.len() >= MIN_ROWS || goes_on) {
                is_entry[piece] = true;
            } else {
                let blocks = then.edges().filter_map(|way| match way {
                    Edge::Block(block) => Some(block as usize),
                    Edge::Exit(_) => None,
                });
                waiting.extend(blocks);
            }
        }
        let instructions = self.spans.iter().flat_map(|span| span.clone());
        let depths = instructions.filter_map(|position| {
            let code = self.code(position);
            let [open, ..] = code.words;
            (code.opcode == Opcode::Enter).then(|| open.saturating_add(2))
        });
        let depth = depths.max().unwrap_or(0);
        let entries = (0..pieces.len()).filter(|&piece| is_entry[piece]);
        let entries = entries.map(|piece| CfgEntry {
            block: piece as u32,
            at: index(self.spans[piece].start),
            depth,
        });
        entries.collect()
    }

    /// For each piece the slots that are read behind it, a bit each; nothing if that is too much to find out.
    fn live(&self, blocks: &BasicBlocks<'_>, range: Range<usize>) -> Option<Vec<u64>> {
        let words = (self.program.registers as usize).div_ceil(64);
        let size = self.spans.len().checked_mul(words);
        size.filter(|&size| size <= MAX_LIVENESS_WORDS)?;
        let mut all = vec![0; self.spans.len() * words];
        let mut spans = self.spans.iter().enumerate().rev().peekable();
        let add = |live: &mut [u64], slot: usize| live[slot / 64] |= 1 << (slot % 64);
        for block in range.rev() {
            let mut live = blocks.live_out(block)?.to_vec();
            for position in blocks.range(block).rev() {
                let code = self.code(position);
                // What a branch reads it reads as one of the piece.
                if let Some((piece, _)) = spans.next_if(|(_, span)| span.end == position + 1) {
                    all[piece * words..][..words].copy_from_slice(&live);
                }
                for_each_def(self.program, code, |slot| {
                    live[slot as usize / 64] &= !(1 << (slot % 64));
                });
                for_each_use(self.program, code, |slot| add(&mut live, slot as usize));
            }
        }
        let mut arrays = vec![0; words];
        let in_array = (0..blocks.in_array.len()).filter(|&slot| blocks.in_array[slot]);
        in_array.for_each(|slot| add(&mut arrays, slot));
        for live in all.chunks_exact_mut(words.max(1)) {
            live.iter_mut()
                .zip(&arrays)
                .for_each(|(to, own)| *to |= own);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_ir::span::FileId;
    use adumbra_ir::text::parse;
    use adumbra_ir::types::Type;

    /// Whether code says that the shader has returned.
    fn says(program: &Bytecode) -> bool {
        let flows = point_cfgs(program);
        let pieces = flows.iter().flat_map(|flow| &flow.blocks);
        let mut ways = pieces.flat_map(|piece| piece.terminator.edges());
        ways.any(|way| way == Edge::Exit(EXIT_FINISHED))
    }

    #[test]
    fn code_gives_outputs_that_are_words_and_few() {
        let text = include_str!("../../../ir/src/text/every_kind.adir");
        let module = parse(text, FileId::MAIN).expect("it is IR");
        let mut program = crate::lower(&module).expect("it fits");
        assert!(!says(&program), "one is a closure");
        for output in &mut program.interface.outputs {
            if output.ty == Type::Scalar(Scalar::Closure) {
                output.ty = Type::Scalar(Scalar::I32);
            }
        }
        assert!(says(&program));

        let start = program.functions[program.entry as usize].start as usize;
        let next = program.functions.get(program.entry as usize + 1);
        let end = next.map_or(program.code.len(), |next| next.start as usize);
        let code = &program.code[start..end];
        let returns = code.iter().filter(|code| code.opcode == Opcode::Return);
        let most = MAX_GIVEN / returns.count();
        for (count, is_given) in [(most, true), (most + 1, false)] {
            let mut program = program.clone();
            program.output_lanes = vec![Lanes::NONE; count];
            program.registers += 3 * count as u32;
            assert_eq!(says(&program), is_given, "{count} scalars");
        }

        let calls = program.code.iter().position(|c| c.opcode == Opcode::Call);
        program.code[calls.expect("it calls")].words[0] = program.entry;
        assert!(!says(&program), "the shader is called");
    }
}
