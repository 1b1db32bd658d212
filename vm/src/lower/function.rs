//! One function → instructions, in one walk: registers are handed out and given back on the way.

use super::jumps::Open;
use super::liveness::{Home, Liveness};
use super::moves::{ParallelMoves, Place};
use super::places::Located;
use super::registers::Registers;
use super::walk::walk;
use super::{Frame, Lowering};
use crate::bytecode::{Instruction, Opcode, Pattern, Slot, WORDS, width};
use adumbra_ir::entry::cleared;
use adumbra_ir::module::{ArrayId, FuncId, Function, Inst, InstKind, ValueId};
use adumbra_ir::span::Span;
use adumbra_ir::types::Lanes;
use adumbra_ops::{MAX_OPERANDS, Op};

/// Working memory, kept from function to function.
#[derive(Default)]
pub(crate) struct Work {
    pub(super) lives: Liveness,
    pub(super) values: Vec<Location>,
    results: Vec<Occupied>,
    pub(super) registers: Registers,
    pub(super) moves: ParallelMoves,
    pub(super) open: Vec<Open>,
    /// Per region, its owner's position in `open`.
    pub(super) targets: Vec<u32>,
}

/// Up to where a home is used by another value than its own.
type Occupied = u32;

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) place: Place,
    /// Whether it has a place.
    placed: bool,
    /// Whether its register is given back when it dies.
    owned: bool,
    /// For homes: the last position where what is there now is needed.
    pub(super) occupied: Occupied,
    /// For parameters of loops whose register is given back with the loop: its position in `open`.
    pub(super) carried_by: Option<u32>,
    /// For results of loops: the parameter whose register they take over, so that both are one home.
    takes_over: Option<ValueId>,
}

const NOWHERE: Location = Location {
    place: Place {
        slot: Slot(0),
        lanes: Lanes::NONE,
    },
    placed: false,
    owned: false,
    occupied: 0,
    carried_by: None,
    takes_over: None,
};

/// Lowers one function, its registers beginning at `start`. Gives one past its last slot.
pub(crate) fn lower(lowering: &mut Lowering<'_>, id: FuncId, start: u32, work: &mut Work) -> u32 {
    let function = lowering.module.function(id);
    work.lives.find(function);
    work.values.clear();
    work.values.resize(function.values.len(), NOWHERE);
    work.results.clear();
    work.results.resize(function.results.len(), 0);
    work.targets.clear();
    work.targets.resize(function.regions.len(), 0);
    work.registers.reset(start);
    work.open.clear();
    let code_start = lowering.out.code.len();
    let mut emitter = Emitter {
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
    match emitter.lowering.places {
        None => walk(function, &mut emitter),
        Some(_) => walk(function, &mut Located::new(&mut emitter)),
    }
    work.registers.top()
}

pub(super) struct Emitter<'f, 'l, 'm> {
    pub(super) function: &'f Function,
    pub(super) id: FuncId,
    /// Where the function's registers begin.
    pub(super) start: u32,
    /// How many of the values that expire at loop ends did.
    expired: usize,
    /// Whether control can come to the end of the code.
    pub(super) reachable: bool,
    /// The last position that something jumps to.
    pub(super) bound: usize,
    /// The open instruction behind which the last jump or branch goes on.
    pub(super) jumps_to: usize,
    /// Up to where results of calls are read where their functions left them.
    pub(super) resident: u32,
    pub(super) lowering: &'l mut Lowering<'m>,
    pub(super) work: &'l mut Work,
}

impl Emitter<'_, '_, '_> {
    pub(super) fn frame(&self) -> &Frame {
        &self.lowering.frames[self.id.index()]
    }

    pub(super) fn here(&self) -> usize {
        self.lowering.out.code.len()
    }

    pub(super) fn emit<const N: usize>(&mut self, opcode: Opcode, words: [u32; N]) {
        if self.reachable {
            self.lowering.out.code.push(Instruction::new(opcode, words));
        }
        self.work.registers.pass();
    }

    /// Emits what can fault, or stop the point.
    pub(super) fn emit_at<const N: usize>(&mut self, span: Span, opcode: Opcode, words: [u32; N]) {
        if self.reachable {
            let at = self.here() as u32;
            self.lowering.out.spans.push((at, span));
            self.emit(opcode, words);
        }
    }

    pub(super) fn place(&self, value: ValueId) -> Place {
        self.work.values[value.index()].place
    }

    pub(super) fn slot(&self, value: ValueId) -> u32 {
        self.place(value).slot.0
    }

    pub(super) fn lanes(&self, value: ValueId) -> Lanes {
        self.function.value(value).lanes
    }

    /// Gives a value a place: the home that it wishes for if that is free, else a register.
    pub(super) fn define(&mut self, value: ValueId) -> u32 {
        let lanes = self.lanes(value);
        let work = &mut *self.work;
        let life = work.lives.values[value.index()];
        let mut location = Location {
            place: Place {
                slot: Slot(0),
                lanes,
            },
            placed: true,
            occupied: life.end,
            ..NOWHERE
        };
        let frames = &self.lowering.frames;
        let own = &frames[self.id.index()];
        let mut free = 0;
        let home = match life.home {
            _ if life.home_at != life.end => None,
            Home::Any => None,
            Home::Value(home) => {
                let home = work.values[home.index()].takes_over.unwrap_or(home);
                let home = &mut work.values[home.index()];
                home.placed.then_some((home.place, &mut home.occupied))
            }
            Home::Result(i) => {
                let place = own.results[i as usize];
                // Calls of itself would overwrite what waits there.
                (!own.cyclic).then_some((place, &mut work.results[i as usize]))
            }
            Home::Param(callee, i) => {
                let callee = &frames[callee.index()];
                let apart = callee.component != own.component;
                let waits = apart
                    && self.resident <= life.start
                    && work.lives.is_undisturbed(value, life.end);
                waits.then(|| (callee.params[i as usize], &mut free))
            }
        };
        match home {
            Some((place, occupied))
                if *occupied <= life.start && width(lanes) <= width(place.lanes) =>
            {
                *occupied = life.end;
                location.place.slot = place.slot;
            }
            _ => {
                location.place.slot = Slot(work.registers.take(lanes));
                location.owned = true;
            }
        }
        work.values[value.index()] = location;
        location.place.slot.0
    }

    /// The values that die here give their registers back.
    pub(super) fn release(&mut self, values: &[ValueId], at: u32) {
        let work = &mut *self.work;
        for &value in values {
            let location = &mut work.values[value.index()];
            if location.owned && work.lives.values[value.index()].end <= at {
                location.owned = false;
                work.registers
                    .give_back(location.place.slot.0, location.place.lanes);
            }
        }
    }

    /// Results that nothing uses give their registers back.
    pub(super) fn release_results(&mut self, inst: &Inst, at: u32) {
        for value in inst.results.iter() {
            self.release(&[value], at);
        }
    }

    /// Gives a home its register: that of the value which is moved there first, if it dies by that, else a new one.
    pub(super) fn place_home(&mut self, home: ValueId, from: ValueId, at: u32) {
        let lanes = self.lanes(home);
        let work = &mut *self.work;
        let source = &mut work.values[from.index()];
        let dies = work.lives.values[from.index()].end <= at;
        let slot = if source.owned && dies && width(source.place.lanes) == width(lanes) {
            source.owned = false;
            source.place.slot
        } else {
            Slot(work.registers.take(lanes))
        };
        let location = &mut work.values[home.index()];
        location.place = Place { slot, lanes };
        location.placed = true;
    }

    /// Gives the result of a loop the register of a parameter that leaves as that result, unless another one has it: nobody wants what the loop carries
    /// once it is left. Says whether it did.
    fn take_over(&mut self, result: ValueId, param: ValueId, open: usize) -> bool {
        let lanes = self.lanes(result);
        let carried = &mut self.work.values[param.index()];
        let takes =
            carried.carried_by == Some(open as u32) && width(carried.place.lanes) == width(lanes);
        if takes {
            carried.carried_by = None;
            let slot = carried.place.slot;
            let location = &mut self.work.values[result.index()];
            location.place = Place { slot, lanes };
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

    /// The operands become the results of a structured instruction.
    pub(super) fn move_to_results(&mut self, open: usize, args: &[ValueId], at: u32) {
        let Open {
            first_result,
            results,
            ..
        } = self.work.open[open];
        for (result, &arg) in (first_result.0..first_result.0 + results)
            .map(ValueId)
            .zip(args)
        {
            if !self.is_used(result) {
                continue;
            }
            if !self.is_placed(result) {
                if !self.take_over(result, arg, open) {
                    self.place_home(result, arg, at);
                }
                self.work.values[result.index()].owned = true;
            }
            self.work.moves.add(self.place(result), self.place(arg));
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
            // The shader's own parameters lie where the host writes them; calls do not save them there.
            if is_entry && cyclic && self.is_used(param) {
                self.define(param);
                let to = self.place(param);
                self.work.moves.add(to, from);
            } else {
                self.put(param, from);
            }
        }
        self.flush_moves();
        for (array, clears) in (first_array..).zip(cleared(self.function)) {
            if clears {
                self.emit_at(self.function.span, Opcode::ArrayZero, [array]);
            }
        }
    }

    /// A value is at a place that it does not own.
    pub(super) fn put(&mut self, value: ValueId, place: Place) {
        let location = &mut self.work.values[value.index()];
        location.place = place;
        location.placed = true;
    }

    /// Whether anything uses the value.
    pub(super) fn is_used(&self, value: ValueId) -> bool {
        let life = self.work.lives.values[value.index()];
        life.start != life.end
    }

    /// Whether the value has a place.
    pub(super) fn is_placed(&self, value: ValueId) -> bool {
        self.work.values[value.index()].placed
    }

    pub(super) fn array(&self, id: ArrayId) -> u32 {
        self.frame().first_array + id.0
    }

    /// Emits a row, or the branch that it decides.
    pub(super) fn row(&mut self, at: u32, inst: &Inst, op: Op, next: Option<&Inst>) -> bool {
        let mut words = [0; MAX_OPERANDS];
        let mut reads = [Lanes::NONE; MAX_OPERANDS];
        for (i, &arg) in inst.args.iter().enumerate() {
            let place = self.place(arg);
            words[i] = place.slot.0;
            reads[i] = place.lanes;
        }
        let info = op.info();
        let result = inst.results.first;
        if let Some(Inst {
            kind: InstKind::If(..),
            args,
            ..
        }) = next
            && args[0] == result
            && self.work.lives.values[result.index()].end == at + 1
            && Opcode::decides(op)
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
        let slot = self.define(result);
        let pattern = Pattern::new(self.lanes(result), reads);
        let mut all = [slot; WORDS];
        all[1..].copy_from_slice(&words);
        if info.fault.is_some() {
            self.emit_at(inst.span, Opcode::Row(op, pattern), all);
        } else {
            self.emit(Opcode::Row(op, pattern), all);
        }
        false
    }

    /// The values that were kept for the loop which is left at `at` give their registers back.
    pub(super) fn release_expired(&mut self, at: u32) {
        while let Some(&(end, value)) = self.work.lives.expiring.get(self.expired)
            && end <= at
        {
            self.expired += 1;
            self.release(&[value], at);
        }
    }

    /// Appends slots to the lists.
    pub(super) fn list(&mut self, slots: impl IntoIterator<Item = u32>) -> u32 {
        let lists = &mut self.lowering.out.lists;
        let at = lists.len() as u32;
        lists.extend(slots);
        at
    }
}
