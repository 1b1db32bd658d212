//! Lowering of one function in one walk, with register allocation on the way.

use super::jumps::OpenScope;
use super::linear_order::walk;
use super::liveness::{Liveness, RegisterHint};
use super::parallel_moves::{ParallelMoves, RegisterOperand};
use super::register_allocation::RegisterAllocator;
use super::spans::SpanRecorder;
use super::{BytecodeLowering, FunctionFrame};
use crate::bytecode::{
    BytecodeInstruction, Opcode, Register, ShadowPattern, WORDS, register_count,
};
use adumbra_ir::entry_steps::cleared_arrays;
use adumbra_ir::module::{ArrayId, FuncId, Function, Inst, InstKind, ValueId};
use adumbra_ir::span::Span;
use adumbra_ir::types::Lanes;
use adumbra_ops::{MAX_OPERANDS, Op};

/// Working memory, kept from function to function.
#[derive(Default)]
pub(crate) struct LoweringBuffers {
    pub(super) liveness: Liveness,
    pub(super) values: Vec<ValueLocation>,
    results: Vec<Occupied>,
    pub(super) registers: RegisterAllocator,
    pub(super) moves: ParallelMoves,
    pub(super) scopes: Vec<OpenScope>,
    /// Per region, its owner's position in `open`.
    pub(super) targets: Vec<u32>,
}

/// The last position at which a merge register holds another value than its own.
type Occupied = u32;

/// The location of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueLocation {
    pub(super) register: RegisterOperand,
    /// Whether it has a register.
    placed: bool,
    /// Whether its register is freed when it dies.
    owned: bool,
    /// For merge registers: the last position where their current value is needed.
    pub(super) occupied: Occupied,
    /// For parameters of loops whose register is freed with the loop: its position in `open`.
    pub(super) loop_scope: Option<u32>,
    /// For results of loops: the parameter whose register they take over, so that both have one.
    takes_over: Option<ValueId>,
}

const NOWHERE: ValueLocation = ValueLocation {
    register: RegisterOperand {
        register: Register(0),
        lanes: Lanes::NONE,
    },
    placed: false,
    owned: false,
    occupied: 0,
    loop_scope: None,
    takes_over: None,
};

/// Lowers one function, its registers starting at `start`. Returns one past its last register.
pub(crate) fn lower(
    lowering: &mut BytecodeLowering<'_>,
    id: FuncId,
    start: u32,
    work: &mut LoweringBuffers,
) -> u32 {
    let function = lowering.module.function(id);
    work.liveness.find(function);
    work.values.clear();
    work.values.resize(function.values.len(), NOWHERE);
    work.results.clear();
    work.results.resize(function.results.len(), 0);
    work.targets.clear();
    work.targets.resize(function.regions.len(), 0);
    work.registers.reset(start);
    work.scopes.clear();
    let code_start = lowering.out.code.len();
    let mut emitter = FunctionEmitter {
        function,
        id,
        start,
        expired: 0,
        reachable: true,
        bound: code_start,
        jumps_to: 0,
        resident: 0,
        lowering,
        work,
    };
    emitter.prologue(code_start as u32);
    match emitter.lowering.spans {
        None => walk(function, &mut emitter),
        Some(_) => walk(function, &mut SpanRecorder::new(&mut emitter)),
    }
    work.registers.top()
}

pub(super) struct FunctionEmitter<'f, 'l, 'm> {
    pub(super) function: &'f Function,
    pub(super) id: FuncId,
    /// Where the function's registers begin.
    pub(super) start: u32,
    /// How many of the values that expire at loop ends did.
    expired: usize,
    /// Whether control can come to the end of the code.
    pub(super) reachable: bool,
    /// The last position that is a jump target.
    pub(super) bound: usize,
    /// The open instruction after which the last jump or branch continues.
    pub(super) jumps_to: usize,
    /// The end of the registers in which results of calls are read where their functions left them.
    pub(super) resident: u32,
    pub(super) lowering: &'l mut BytecodeLowering<'m>,
    pub(super) work: &'l mut LoweringBuffers,
}

impl FunctionEmitter<'_, '_, '_> {
    pub(super) fn frame(&self) -> &FunctionFrame {
        &self.lowering.frames[self.id.index()]
    }

    pub(super) fn here(&self) -> usize {
        self.lowering.out.code.len()
    }

    pub(super) fn emit<const N: usize>(&mut self, opcode: Opcode, words: [u32; N]) {
        if self.reachable {
            self.lowering
                .out
                .code
                .push(BytecodeInstruction::new(opcode, words));
        }
        self.work.registers.next_instruction();
    }

    /// Emits an instruction that can fault, or stop the point.
    pub(super) fn emit_at<const N: usize>(&mut self, span: Span, opcode: Opcode, words: [u32; N]) {
        if self.reachable {
            let at = self.here() as u32;
            self.lowering.out.spans.push((at, span));
            self.emit(opcode, words);
        }
    }

    pub(super) fn register_of(&self, value: ValueId) -> RegisterOperand {
        self.work.values[value.index()].register
    }

    pub(super) fn register(&self, value: ValueId) -> u32 {
        self.register_of(value).register.0
    }

    pub(super) fn lanes(&self, value: ValueId) -> Lanes {
        self.function.value(value).lanes
    }

    /// Gives a value a register: the hinted one if that is free, else a new one.
    pub(super) fn define(&mut self, value: ValueId) -> u32 {
        let lanes = self.lanes(value);
        let work = &mut *self.work;
        let life = work.liveness.values[value.index()];
        let mut location = ValueLocation {
            register: RegisterOperand {
                register: Register(0),
                lanes,
            },
            placed: true,
            occupied: life.end,
            ..NOWHERE
        };
        let frames = &self.lowering.frames;
        let own = &frames[self.id.index()];
        let mut free = 0;
        let hinted = match life.hint {
            _ if life.hint_at != life.end => None,
            RegisterHint::Any => None,
            RegisterHint::Value(hinted) => {
                let hinted = work.values[hinted.index()].takes_over.unwrap_or(hinted);
                let hinted = &mut work.values[hinted.index()];
                hinted
                    .placed
                    .then_some((hinted.register, &mut hinted.occupied))
            }
            RegisterHint::Result(i) => {
                let register = own.results[i as usize];
                // Recursive calls would overwrite it.
                (!own.cyclic).then_some((register, &mut work.results[i as usize]))
            }
            RegisterHint::Param(callee, i) => {
                let callee = &frames[callee.index()];
                let apart = callee.component != own.component;
                let waits = apart
                    && self.resident <= life.start
                    && work.liveness.is_undisturbed(value, life.end);
                waits.then(|| (callee.params[i as usize], &mut free))
            }
        };
        match hinted {
            Some((register, occupied))
                if *occupied <= life.start
                    && register_count(lanes) <= register_count(register.lanes) =>
            {
                *occupied = life.end;
                location.register.register = register.register;
            }
            _ => {
                location.register.register = Register(work.registers.take(lanes));
                location.owned = true;
            }
        }
        work.values[value.index()] = location;
        location.register.register.0
    }

    /// Frees the registers of the values that die here.
    pub(super) fn release(&mut self, values: &[ValueId], at: u32) {
        let work = &mut *self.work;
        for &value in values {
            let location = &mut work.values[value.index()];
            if location.owned && work.liveness.values[value.index()].end <= at {
                location.owned = false;
                work.registers
                    .give_back(location.register.register.0, location.register.lanes);
            }
        }
    }

    /// Frees the registers of results without uses.
    pub(super) fn release_results(&mut self, inst: &Inst, at: u32) {
        for value in inst.results.iter() {
            self.release(&[value], at);
        }
    }

    /// Gives a merge value its register: that of the value which is moved there first, if it dies
    /// by that, else a new one.
    pub(super) fn place_hinted(&mut self, hinted: ValueId, from: ValueId, at: u32) {
        let lanes = self.lanes(hinted);
        let work = &mut *self.work;
        let source = &mut work.values[from.index()];
        let dies = work.liveness.values[from.index()].end <= at;
        let register = if source.owned
            && dies
            && register_count(source.register.lanes) == register_count(lanes)
        {
            source.owned = false;
            source.register.register
        } else {
            Register(work.registers.take(lanes))
        };
        let location = &mut work.values[hinted.index()];
        location.register = RegisterOperand { register, lanes };
        location.placed = true;
    }

    /// Gives the result of a loop the register of the parameter that becomes it, unless another
    /// result has that register. Loop-carried values are dead after the loop. Returns whether it
    /// did.
    fn take_over(&mut self, result: ValueId, param: ValueId, open: usize) -> bool {
        let lanes = self.lanes(result);
        let carried = &mut self.work.values[param.index()];
        let takes = carried.loop_scope == Some(open as u32)
            && register_count(carried.register.lanes) == register_count(lanes);
        if takes {
            carried.loop_scope = None;
            let register = carried.register.register;
            let location = &mut self.work.values[result.index()];
            location.register = RegisterOperand { register, lanes };
            location.placed = true;
            location.takes_over = Some(param);
        }
        takes
    }

    pub(super) fn flush_moves(&mut self) {
        let code = &mut self.lowering.out.code;
        let reachable = self.reachable;
        self.work
            .moves
            .emit(&mut self.work.registers, |instruction| {
                if reachable {
                    code.push(instruction);
                }
            });
    }

    /// Moves the operands to the results of a structured instruction.
    pub(super) fn move_to_results(&mut self, open: usize, args: &[ValueId], at: u32) {
        let OpenScope {
            first_result,
            results,
            ..
        } = self.work.scopes[open];
        for (result, &arg) in (first_result.0..first_result.0 + results)
            .map(ValueId)
            .zip(args)
        {
            if !self.is_used(result) {
                continue;
            }
            if !self.is_placed(result) {
                if !self.take_over(result, arg, open) {
                    self.place_hinted(result, arg, at);
                }
                self.work.values[result.index()].owned = true;
            }
            self.work
                .moves
                .add(self.register_of(result), self.register_of(arg));
        }
        self.flush_moves();
    }

    fn prologue(&mut self, code_start: u32) {
        let frame = &self.lowering.frames[self.id.index()];
        let (number, cyclic, first_array) = (frame.number, frame.cyclic, frame.first_array);
        self.lowering.out.functions[number as usize].start = code_start;
        let is_entry = self.id == self.lowering.module.entry;
        for (i, &param) in self.function.params().iter().enumerate() {
            let from = self.frame().params[i];
            // The shader's own parameters are where the host writes them; calls do not save them
            // there.
            if is_entry && cyclic && self.is_used(param) {
                self.define(param);
                let to = self.register_of(param);
                self.work.moves.add(to, from);
            } else {
                self.put(param, from);
            }
        }
        self.flush_moves();
        for (array, clears) in (first_array..).zip(cleared_arrays(self.function)) {
            if clears {
                self.emit_at(self.function.span, Opcode::ArrayZero, [array]);
            }
        }
    }

    /// Locates a value in a register that it does not own.
    pub(super) fn put(&mut self, value: ValueId, register: RegisterOperand) {
        let location = &mut self.work.values[value.index()];
        location.register = register;
        location.placed = true;
    }

    /// Whether the value has a use.
    pub(super) fn is_used(&self, value: ValueId) -> bool {
        let life = self.work.liveness.values[value.index()];
        life.start != life.end
    }

    /// Whether the value has a register.
    pub(super) fn is_placed(&self, value: ValueId) -> bool {
        self.work.values[value.index()].placed
    }

    pub(super) fn array(&self, id: ArrayId) -> u32 {
        self.frame().first_array + id.0
    }

    /// Emits an arithmetic instruction, or the branch that it decides.
    pub(super) fn arithmetic(&mut self, at: u32, inst: &Inst, op: Op, next: Option<&Inst>) -> bool {
        let mut words = [0; MAX_OPERANDS];
        let mut reads = [Lanes::NONE; MAX_OPERANDS];
        for (i, &arg) in inst.args.iter().enumerate() {
            let register = self.register_of(arg);
            words[i] = register.register.0;
            reads[i] = register.lanes;
        }
        let info = op.info();
        let result = inst.results.first;
        if let Some(Inst {
            kind: InstKind::If(..),
            args,
            ..
        }) = next
            && args[0] == result
            && self.work.liveness.values[result.index()].end == at + 1
            && Opcode::can_branch_on(op)
        {
            self.release(&inst.args, at);
            self.branch(
                next.expect("it was just seen"),
                |when| Opcode::Branch(op, when),
                &words[..op.arity()],
            );
            return true;
        }
        self.release(&inst.args, at);
        let register = self.define(result);
        let pattern = ShadowPattern::new(self.lanes(result), reads);
        let mut all = [register; WORDS];
        all[1..].copy_from_slice(&words);
        if info.fault.is_some() {
            self.emit_at(inst.span, Opcode::Arithmetic(op, pattern), all);
        } else {
            self.emit(Opcode::Arithmetic(op, pattern), all);
        }
        false
    }

    /// Frees the registers of the values that were kept for the loop which ends at `at`.
    pub(super) fn release_expired(&mut self, at: u32) {
        while let Some(&(end, value)) = self.work.liveness.expiring.get(self.expired)
            && end <= at
        {
            self.expired += 1;
            self.release(&[value], at);
        }
    }

    /// Appends registers to the lists.
    pub(super) fn list(&mut self, registers: impl IntoIterator<Item = u32>) -> u32 {
        let lists = &mut self.lowering.out.lists;
        let at = lists.len() as u32;
        lists.extend(registers);
        at
    }
}
