//! The control flow graphs (CFGs) of a program for single points, for a native backend.
//!
//! A function's arithmetic instructions, moves, jumps and steps become a [`PointCfg`], and the
//! return of the shader. The interpreter's handlers run all other instructions. Control enters the
//! code after such an instruction, at the start of the function, and at loop heads: the interpreter
//! may have come that far by itself.

use super::state::index;
use crate::basic_blocks::{BasicBlocks, MAX_LIVENESS_WORDS};
use crate::bytecode::{Bytecode, BytecodeInstruction, Opcode, Operands, Register};
use crate::native::{
    ArithmeticInst, ArithmeticKind, CfgEntry, CondBranch, Condition, DualOperand, EXIT_FINISHED,
    Edge, LIVE_OUT, PointBlock, PointCfg, PointTerminator, WordLocation,
};
use adumbra_ir::types::{Direction, Lanes, Scalar};
use adumbra_ops::{MAX_OPERANDS, Op};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The fewest instructions of a block that are worth a call of its code, if control does not
/// continue within the code.
const MIN_INSTRUCTIONS: usize = 2;

/// A block of a function: positions, the last of which may be its terminator.
type Span = Range<u32>;

/// The code of single points for a native backend: the CFG of each function that has any block.
pub fn point_cfgs(program: &Bytecode) -> Vec<PointCfg> {
    let operands = Operands::new(program);
    let mut blocks = BasicBlocks::new(&operands, &[]);
    let (mut spans, mut last_uses) = (Vec::new(), Vec::new());
    let mut point_cfgs = Vec::new();
    let mut block = 0;
    for (number, function) in program.functions.iter().enumerate() {
        let next = program.functions.get(number + 1);
        let end = next.map_or(program.code.len() as u32, |next| next.start);
        let code = &program.code[function.start as usize..end as usize];
        let finishes = finishes(program, number as u32, code);
        spans.clear();
        last_uses.clear();
        let first = block;
        while block < blocks.len() && blocks.range(block).start < end {
            point_blocks(program, finishes, blocks.range(block), &mut spans);
            let found = blocks.last_uses(block);
            last_uses.extend(found.iter().map(|found| {
                let mut words = found.iter().copied();
                [(); 3].map(|()| words.next().unwrap_or(LIVE_OUT))
            }));
            block += 1;
        }
        let mut finder = Finder {
            program,
            function: function.start,
            finishes,
            spans: &spans,
            last_uses: &last_uses,
            in_array: &blocks.in_array,
            numbers: FxHashMap::default(),
            words: Vec::new(),
        };
        let cfg = finder.cfg(&blocks, first..block);
        if !cfg.entries.is_empty() {
            point_cfgs.push(cfg);
        }
    }
    point_cfgs
}

/// The role of an instruction in machine code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It computes or moves.
    Compute,
    /// It is a terminator.
    Control,
    /// The interpreter runs it.
    Other,
}

/// The role of an instruction. `finishes` says whether the code of its function may report that the
/// shader has returned.
fn role(opcode: Opcode, finishes: bool) -> Role {
    match opcode {
        Opcode::Return if finishes => Role::Control,
        // A fault is recorded with its position, by the interpreter.
        Opcode::Arithmetic(op, _) if op.info().fault.is_some() => Role::Other,
        Opcode::Arithmetic(..) | Opcode::Move(..) | Opcode::Global(_) | Opcode::Shadow(_) => {
            Role::Compute
        }
        Opcode::Branch(..) | Opcode::BranchIf(_) | Opcode::Jump => Role::Control,
        Opcode::Loop | Opcode::Enter | Opcode::Iteration => Role::Control,
        _ => Role::Other,
    }
}

/// The most instructions of code for the outputs at returns of the shader: it may return in many
/// places, and have many outputs.
const MAX_GIVEN: usize = 1 << 12;

/// Whether the code of a function can write the outputs at its return. The function is the shader,
/// has no callers, and its outputs are no closures and resources, which the interpreter keeps.
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

/// Adds the blocks for code within a basic block.
fn point_blocks(program: &Bytecode, finishes: bool, block: Span, to: &mut Vec<Span>) {
    let mut start = block.start;
    for position in block.clone() {
        match role(program.code[position as usize].opcode, finishes) {
            Role::Compute => {}
            Role::Control => {
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

/// Builds the CFG of a function.
struct Finder<'p> {
    program: &'p Bytecode,
    /// The first instruction of the function.
    function: u32,
    /// Whether its code may report that the shader has returned.
    finishes: bool,
    /// Its blocks, in order.
    spans: &'p [Span],
    /// For each of its instructions, the last uses of a value and shadows that it writes.
    last_uses: &'p [[u32; 3]],
    in_array: &'p [bool],
    numbers: FxHashMap<WordLocation, u32>,
    words: Vec<WordLocation>,
}

impl Finder<'_> {
    fn cfg(&mut self, blocks: &BasicBlocks<'_>, range: Range<usize>) -> PointCfg {
        let point_blocks: Vec<PointBlock> = (self.spans.iter())
            .map(|span| self.point_block(span.clone()))
            .collect();
        PointCfg {
            entries: self.entries(&point_blocks),
            live_out: self.live(blocks, range),
            locations: std::mem::take(&mut self.words),
            blocks: point_blocks,
        }
    }

    fn code(&self, position: u32) -> &BytecodeInstruction {
        &self.program.code[position as usize]
    }

    fn role(&self, position: u32) -> Role {
        role(self.code(position).opcode, self.finishes)
    }

    /// The block that starts at a position or contains it.
    fn at(&self, position: u32) -> usize {
        self.spans.partition_point(|span| span.end <= position)
    }

    /// The edge to an instruction: to a block that it starts, or an exit.
    fn edge(&self, position: u32) -> Edge {
        match self.role(position) {
            Role::Other => Edge::Exit(index(position)),
            Role::Compute | Role::Control => Edge::Block(self.at(position) as u32),
        }
    }

    fn point_block(&mut self, span: Span) -> PointBlock {
        let (mut instructions, mut last_uses) = (Vec::new(), Vec::new());
        for position in span.clone() {
            if let Some(inst) = self.arithmetic(position) {
                instructions.push(inst);
                last_uses.push(self.last_uses_at(position));
            }
        }
        let last = span.end - 1;
        let code = *self.code(last);
        let [a, ..] = code.words;
        let terminator = match code.opcode {
            Opcode::Jump => PointTerminator::Jump(self.edge(a)),
            Opcode::Loop | Opcode::Enter | Opcode::Iteration => PointTerminator::StepJump {
                to: self.edge(match code.opcode {
                    Opcode::Loop => a,
                    _ => span.end,
                }),
                out: index(last),
            },
            Opcode::Branch(op, when) => self.branch(Some(op), op.arity(), when, &code, span.end),
            Opcode::BranchIf(when) => self.branch(None, 1, when, &code, span.end),
            Opcode::Return if self.finishes => {
                self.outputs(last, &mut instructions);
                last_uses.resize(instructions.len(), [LIVE_OUT; 3]);
                PointTerminator::Jump(Edge::Exit(EXIT_FINISHED))
            }
            _ => PointTerminator::Jump(self.edge(span.end)),
        };
        PointBlock {
            instructions,
            last_uses,
            terminator,
            position: last,
        }
    }

    /// The last uses of what an instruction writes. Arrays are read as a whole.
    fn last_uses_at(&self, position: u32) -> [u32; 3] {
        let [register, ..] = self.code(position).words;
        match self.in_array[register as usize] {
            true => [LIVE_OUT; 3],
            false => self.last_uses[(position - self.function) as usize],
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
        for (operand, &register) in operands.iter_mut().zip(&code.words[1..]).take(arity) {
            *operand = self.value(register, Lanes::NONE);
        }
        PointTerminator::Branch(CondBranch {
            condition: Condition { test, operands },
            when,
            target: self.edge(code.words[0]),
            next: self.edge(next),
        })
    }

    /// Adds instructions that write the outputs when the shader returns.
    fn outputs(&mut self, position: u32, instructions: &mut Vec<ArithmeticInst>) {
        let program = self.program;
        let scalars = program.interface.output_scalars().into_iter();
        for ((scalar, &lanes), register) in scalars.zip(&program.output_lanes).zip((0..).step_by(3))
        {
            let mut operands = [DualOperand::default(); MAX_OPERANDS];
            operands[0] = self.value(register, lanes);
            instructions.push(ArithmeticInst {
                kind: match scalar {
                    Scalar::F32 => ArithmeticKind::Canonicalise,
                    _ => ArithmeticKind::Copy,
                },
                result: self.value(register, Lanes::XY),
                operands,
                position,
            });
        }
    }

    /// The arithmetic of an instruction, if it is an op or a move.
    fn arithmetic(&mut self, position: u32) -> Option<ArithmeticInst> {
        let code = *self.code(position);
        let [a, b, c, ..] = code.words;
        let mut operands = [DualOperand::default(); MAX_OPERANDS];
        let (kind, lanes) = match code.opcode {
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
                        // Where there are no shadows, the distance to them was not checked.
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
            kind,
            result: self.value(a, lanes),
            operands,
            position,
        })
    }

    /// The location of a value in the register file.
    fn value(&mut self, register: u32, lanes: Lanes) -> DualOperand {
        if let Some(constant) = Register(register).as_constant() {
            let bits = self.program.constants[constant as usize];
            return DualOperand {
                value: self.word(WordLocation::Constant(bits)),
                shadows: [None; 2],
            };
        }
        DualOperand {
            value: self.word(WordLocation::Register(register)),
            shadows: Direction::BOTH.map(|direction| {
                let has = lanes.has(direction);
                has.then(|| self.word(WordLocation::Register(register + 1 + direction as u32)))
            }),
        }
    }

    fn word(&mut self, location: WordLocation) -> u32 {
        let words = &mut self.words;
        *self.numbers.entry(location).or_insert_with(|| {
            words.push(location);
            words.len() as u32 - 1
        })
    }

    /// The entries, in order.
    fn entries(&self, point_blocks: &[PointBlock]) -> Vec<CfgEntry> {
        let mut is_entry = vec![false; point_blocks.len()];
        let mut worklist: Vec<usize> = Vec::new();
        for (point_block, span) in self.spans.iter().enumerate() {
            let before = (span.start > self.function).then(|| span.start - 1);
            let is_others = |position| {
                self.role(position) == Role::Other
                    && !self.code(position).opcode.never_falls_through()
            };
            if before.is_none_or(is_others) {
                worklist.push(point_block);
            }
            let last = self.code(span.end - 1);
            if last.opcode == Opcode::Loop
                && let Edge::Block(head) = self.edge(last.words[0])
            {
                worklist.push(head as usize);
            }
        }
        // The interpreter does hardly any work between these blocks, so they lead to others.
        let mut seen = vec![false; point_blocks.len()];
        while let Some(point_block) = worklist.pop() {
            if std::mem::replace(&mut seen[point_block], true) {
                continue;
            }
            let PointBlock {
                instructions,
                terminator,
                ..
            } = &point_blocks[point_block];
            let goes_on = terminator
                .edges()
                .any(|edge| matches!(edge, Edge::Block(_)));
            // A step that cannot be taken must be the interpreter's: else it would come here again.
            let is_step =
                instructions.is_empty() && matches!(terminator, PointTerminator::StepJump { .. });
            if !is_step && (instructions.len() >= MIN_INSTRUCTIONS || goes_on) {
                is_entry[point_block] = true;
            } else {
                let blocks = terminator.edges().filter_map(|edge| match edge {
                    Edge::Block(block) => Some(block as usize),
                    Edge::Exit(_) => None,
                });
                worklist.extend(blocks);
            }
        }
        let instructions = self.spans.iter().flat_map(|span| span.clone());
        let depths = instructions.filter_map(|position| {
            let code = self.code(position);
            let [open, ..] = code.words;
            (code.opcode == Opcode::Enter).then(|| open.saturating_add(2))
        });
        let depth = depths.max().unwrap_or(0);
        let entries = (0..point_blocks.len()).filter(|&point_block| is_entry[point_block]);
        let entries = entries.map(|point_block| CfgEntry {
            block: point_block as u32,
            at: index(self.spans[point_block].start),
            depth,
        });
        entries.collect()
    }

    /// For each block the live-out registers, a bit each; none if that is too much to compute.
    fn live(&self, blocks: &BasicBlocks<'_>, range: Range<usize>) -> Option<Vec<u64>> {
        let words = (self.program.registers as usize).div_ceil(64);
        let size = self.spans.len().checked_mul(words);
        size.filter(|&size| size <= MAX_LIVENESS_WORDS)?;
        let mut all = vec![0; self.spans.len() * words];
        let mut spans = self.spans.iter().enumerate().rev().peekable();
        let add = |live: &mut [u64], register: usize| live[register / 64] |= 1 << (register % 64);
        for block in range.rev() {
            blocks.for_each_live_after(block, |position, live| {
                // A terminator's operands are read by the block itself.
                if let Some((point_block, _)) = spans.next_if(|(_, span)| span.end == position + 1)
                {
                    all[point_block * words..][..words].copy_from_slice(live);
                }
            })?;
        }
        let mut arrays = vec![0; words];
        let in_array = (0..blocks.in_array.len()).filter(|&register| blocks.in_array[register]);
        in_array.for_each(|register| add(&mut arrays, register));
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

    /// Whether code reports that the shader has returned.
    fn finishes_in_code(program: &Bytecode) -> bool {
        let cfgs = point_cfgs(program);
        let point_blocks = cfgs.iter().flat_map(|cfg| &cfg.blocks);
        let mut edges = point_blocks.flat_map(|point_block| point_block.terminator.edges());
        edges.any(|edge| edge == Edge::Exit(EXIT_FINISHED))
    }

    #[test]
    fn code_gives_outputs_of_words_only() {
        let text = include_str!("../../../ir/src/text/every_kind.adir");
        let module = parse(text, FileId::MAIN).expect("it is IR");
        let mut program = crate::lower(&module).expect("it fits");
        assert!(!finishes_in_code(&program), "one is a closure");
        for output in &mut program.interface.outputs {
            if output.ty == Type::Scalar(Scalar::Closure) {
                output.ty = Type::Scalar(Scalar::I32);
            }
        }
        assert!(finishes_in_code(&program));

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
            assert_eq!(finishes_in_code(&program), is_given, "{count} scalars");
        }

        let calls = program.code.iter().position(|c| c.opcode == Opcode::Call);
        program.code[calls.expect("it calls")].words[0] = program.entry;
        assert!(!finishes_in_code(&program), "the shader is called");
    }
}
