//! What each kind of instruction becomes.

use super::function::{Emitter, Location};
use super::moves::Place;
use super::walk::Visitor;
use crate::bytecode::{Opcode, Slot};
use adumbra_ir::module::{ArrayId, Detail, FuncId, Inst, InstKind, Mode, ValueId};
use adumbra_ir::types::{Direction, Lanes};

impl Visitor for Emitter<'_, '_, '_> {
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool {
        let args = &inst.args[..];
        let result = inst.results.first;
        match &inst.kind {
            InstKind::Op(op) => return self.row(at, inst, *op, next),
            InstKind::Const(bits) => self.put_constant(result, *bits),
            InstKind::Resource(resource) => self.put_constant(result, resource.0),
            InstKind::Global(global, scalar) => {
                let (first, scalars) = self.lowering.global_words[global.index()];
                let slot = self.define(result);
                let lanes = self.lanes(result);
                self.emit(Opcode::Global(lanes), [slot, first + scalar, scalars]);
            }
            InstKind::Shadow(direction) => self.shadow(at, *direction, args, result),
            InstKind::Difference(direction) => {
                let from = self.slot(args[0]);
                self.release(args, at);
                let slot = self.define(result);
                self.emit(Opcode::Difference(*direction), [slot, from]);
            }
            InstKind::ArrayZero(array) => {
                let array = self.array(*array);
                self.emit_at(inst.span, Opcode::ArrayZero, [array]);
            }
            InstKind::ArrayCopy { to, from } => {
                let (to, from) = (self.array(*to), self.array(*from));
                match args.first() {
                    None => self.emit_at(inst.span, Opcode::ArrayCopy, [to, from]),
                    Some(&start) => {
                        let start = self.slot(start);
                        self.release(args, at);
                        self.emit_at(inst.span, Opcode::ArrayCopyPart, [to, from, start]);
                    }
                }
            }
            InstKind::ArrayResize(array, part) => {
                let (array, parts) = (self.array(*array), self.slot(args[0]));
                self.release(args, at);
                let words = [self.define(result), array, parts, *part];
                self.emit_at(inst.span, Opcode::ArrayResize, words);
            }
            InstKind::Load(array) => self.load(at, inst, *array),
            InstKind::Store(array) => self.store(inst, *array),
            InstKind::Sample(texture, channels, Detail::Shadows) => {
                let (u, v) = (self.place(args[0]), self.place(args[1]));
                self.release(args, at);
                let slots: Vec<u32> = inst.results.iter().map(|r| self.define(r)).collect();
                let words = [texture.0, u.slot.0, v.slot.0, self.list(slots)];
                self.emit_at(
                    inst.span,
                    Opcode::Sample(*channels, u.lanes, v.lanes),
                    words,
                );
            }
            InstKind::Sample(texture, channels, detail) => {
                let given: Vec<u32> = args.iter().map(|&a| self.slot(a)).collect();
                let given = self.list(given);
                self.release(args, at);
                let slots: Vec<u32> = inst.results.iter().map(|r| self.define(r)).collect();
                let opcode = match detail {
                    Detail::Level => Opcode::SampleLevel(*channels),
                    _ => Opcode::SampleGradients(*channels),
                };
                let words = [texture.0, given, 0, self.list(slots)];
                self.emit_at(inst.span, opcode, words);
            }
            InstKind::Message(message) => {
                let slots: Vec<u32> = args.iter().map(|&a| self.slot(a)).collect();
                let list = self.list(slots);
                self.release(args, at);
                self.emit_at(inst.span, Opcode::Message, [message.0, list]);
            }
            InstKind::MakeClosure(shape) => {
                let slots: Vec<u32> = args.iter().map(|&a| self.slot(a)).collect();
                let list = self.list(slots);
                self.release(args, at);
                let words = [self.define(result), shape.0, list];
                self.emit_at(inst.span, Opcode::MakeClosure, words);
            }
            InstKind::ClosureAdd => self.closure(at, inst, Opcode::ClosureAdd, self.slot(args[1])),
            InstKind::ClosureScale if args.len() == 2 => {
                self.closure(at, inst, Opcode::ClosureScale, self.slot(args[1]));
            }
            InstKind::ClosureScale => {
                let color = [1, 2, 3].map(|i| self.slot(args[i]));
                let list = self.list(color);
                self.closure(at, inst, Opcode::ClosureTint, list);
            }
            InstKind::Call(callee, arrays) => self.call(at, inst, *callee, arrays),
            InstKind::Enter(open) => self.emit_at(inst.span, Opcode::Enter, [*open]),
            InstKind::Turn => self.emit_at(inst.span, Opcode::Turn, []),
            InstKind::Yield => {
                let innermost = self.work.open.len() - 1;
                self.leave_to(innermost, args, at);
            }
            InstKind::Break(region) => self.leave_to(self.target(*region), args, at),
            InstKind::Continue(region) => {
                for (&arg, &param) in args.iter().zip(&self.function.region(*region).params) {
                    if self.is_used(param) {
                        self.work.moves.add(self.place(param), self.place(arg));
                    }
                }
                self.flush_moves();
                self.release(args, at);
                let head = self.work.open[self.target(*region)].head;
                self.emit_at(inst.span, Opcode::Loop, [head]);
                self.reachable = false;
            }
            InstKind::Return => {
                for (i, &arg) in args.iter().enumerate() {
                    let to = self.frame().results[i];
                    self.work.moves.add(to, self.place(arg));
                }
                self.flush_moves();
                self.release(args, at);
                self.emit(Opcode::Return, []);
                self.reachable = false;
            }
            InstKind::Unreachable => {
                self.emit_at(inst.span, Opcode::Unreachable, []);
                self.reachable = false;
            }
            InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => {
                unreachable!("structured instructions are entered")
            }
        }
        self.release_results(inst, at);
        false
    }

    fn enter(&mut self, at: u32, inst: &Inst, fused: bool) {
        match inst.kind {
            InstKind::If(..) => {
                if !fused {
                    let condition = self.slot(inst.args[0]);
                    self.release(&inst.args, at);
                    self.branch(inst, Opcode::BranchIf, &[condition]);
                }
            }
            InstKind::Loop(region) => {
                self.open(inst);
                let open = self.target(region) as u32;
                for (&arg, &param) in inst.args.iter().zip(&self.function.region(region).params) {
                    if self.is_used(param) {
                        self.place_home(param, arg, at);
                        let last_use = self.work.lives.values[param.index()].end;
                        let location = &mut self.work.values[param.index()];
                        location.occupied = last_use;
                        location.carried_by = Some(open);
                        self.work.moves.add(self.place(param), self.place(arg));
                    }
                }
                self.flush_moves();
                self.release(&inst.args, at);
                self.begin_loop();
            }
            _ => self.open(inst),
        }
    }

    fn turn(&mut self, _: u32, _: &Inst) {
        let open = *self.work.open.last().expect("an If is open");
        self.bind(open.second);
        self.reachable |= open.falls_through;
    }

    fn leave(&mut self, at: u32, inst: &Inst) {
        let open = self.work.open.pop().expect("what is left was entered");
        self.bind(open.end);
        if let InstKind::Loop(region) = inst.kind {
            for &param in &self.function.region(region).params {
                let Location {
                    place, carried_by, ..
                } = &mut self.work.values[param.index()];
                if carried_by.take().is_some() {
                    let slot = place.slot.0;
                    self.work.registers.give_back(slot, place.lanes);
                }
            }
            self.release_expired(at);
        }
        for result in inst.results.iter() {
            if self.is_used(result) && !self.is_placed(result) {
                // Nothing ever leaves that way; what follows is not emitted but needs a place to name.
                self.define(result);
            }
        }
    }
}

impl Emitter<'_, '_, '_> {
    fn put_constant(&mut self, value: ValueId, bits: u32) {
        let slot = self.lowering.constants.slot(bits);
        self.put(
            value,
            Place {
                slot,
                lanes: Lanes::NONE,
            },
        );
    }

    fn shadow(&mut self, at: u32, direction: Direction, args: &[ValueId], result: ValueId) {
        let from = self.place(args[0]);
        self.release(args, at);
        if from.lanes.has(direction) {
            let slot = self.define(result);
            self.emit(Opcode::Shadow(direction), [slot, from.slot.0]);
        } else {
            self.put_constant(result, 0);
        }
    }

    /// The element at a constant index in range: a register like any other.
    fn element(&self, array: u32, index: ValueId) -> Option<Place> {
        let constant = self.place(index).slot.as_constant()?;
        let index = self.lowering.constants.word(constant);
        let array = self.lowering.out.arrays[array as usize];
        (index < array.len).then(|| Place {
            slot: Slot(array.base + index * array.stride()),
            lanes: array.lanes,
        })
    }

    fn load(&mut self, at: u32, inst: &Inst, array: ArrayId) {
        let array = self.array(array);
        let result = inst.results.first;
        let index = self.slot(inst.args[0]);
        let element = self.element(array, inst.args[0]);
        self.release(&inst.args, at);
        let slot = self.define(result);
        let to = self.lanes(result);
        if let Some(from) = element {
            let opcode = Opcode::Move(to, from.lanes & to);
            self.emit(opcode, [slot, from.slot.0]);
        } else {
            let from = self.lowering.out.arrays[array as usize].lanes;
            self.emit_at(inst.span, Opcode::Load(to, from), [slot, array, index]);
        }
    }

    fn store(&mut self, inst: &Inst, array: ArrayId) {
        let array = self.array(array);
        let from = self.place(inst.args[1]);
        let to = self.lowering.out.arrays[array as usize].lanes;
        let lanes = from.lanes & to;
        if let Some(element) = self.element(array, inst.args[0]) {
            self.emit(Opcode::Move(to, lanes), [element.slot.0, from.slot.0]);
        } else {
            let words = [array, self.slot(inst.args[0]), from.slot.0];
            self.emit_at(inst.span, Opcode::Store(to, lanes), words);
        }
    }

    fn closure(&mut self, at: u32, inst: &Inst, opcode: Opcode, last: u32) {
        let first = self.slot(inst.args[0]);
        self.release(&inst.args, at);
        let slot = self.define(inst.results.first);
        self.emit_at(inst.span, opcode, [slot, first, last]);
    }

    fn call(&mut self, at: u32, inst: &Inst, callee: FuncId, arrays: &[ArrayId]) {
        let module = self.lowering.module;
        let frames = &self.lowering.frames;
        let (caller, called) = (&frames[self.id.index()], &frames[callee.index()]);
        let number = called.number;
        let saves = called.component == caller.component;
        // The caller's range in two parts: parameters and arrays, then the registers in use.
        let storage = (caller.storage.0, caller.storage.1 - caller.storage.0);
        let registers = (self.start, self.work.registers.top() - self.start);
        let first_array = called.first_array;
        // An array's distance from the top of the save stack, once both parts are on it.
        let saved = |array: u32, e: &Self| {
            let base = e.lowering.out.arrays[array as usize].base;
            registers.1 + storage.1 - (base - storage.0)
        };
        let modes = module.function(callee).array_params().map(|a| a.mode);
        let pairs = (first_array..).zip(arrays).zip(modes);
        let parameters: Vec<(u32, u32, Mode)> = pairs
            .filter_map(|((theirs, &own), mode)| Some((theirs, self.array(own), mode?)))
            .collect();
        if saves {
            for (start, len) in [storage, registers] {
                if len > 0 {
                    self.emit_at(inst.span, Opcode::Save, [start, len]);
                }
            }
        }
        for &(theirs, own, mode) in &parameters {
            match mode {
                Mode::In | Mode::InOut if saves => {
                    let words = [theirs, own, saved(own, self)];
                    self.emit_at(inst.span, Opcode::ArrayFromSaved, words);
                }
                Mode::In | Mode::InOut => {
                    self.emit_at(inst.span, Opcode::ArrayCopy, [theirs, own]);
                }
                Mode::Out | Mode::Return => {}
            }
        }
        for (i, &arg) in inst.args.iter().enumerate() {
            let to = self.lowering.frames[callee.index()].params[i];
            self.work.moves.add(to, self.place(arg));
        }
        self.flush_moves();
        // Never more than the array elements of a function, which are few enough.
        let steps = self.lowering.saved_steps.of(self.id, callee) as u32;
        self.emit_at(inst.span, Opcode::Call, [number, steps]);
        for &(theirs, own, mode) in &parameters {
            match mode {
                Mode::Out | Mode::InOut if saves => {
                    let words = [own, theirs, saved(own, self)];
                    self.emit_at(inst.span, Opcode::ArrayToSaved, words);
                }
                Mode::Out | Mode::InOut => {
                    self.emit_at(inst.span, Opcode::ArrayCopy, [own, theirs]);
                }
                Mode::In | Mode::Return => {}
            }
        }
        if saves {
            for (start, len) in [registers, storage] {
                if len > 0 {
                    self.emit(Opcode::Restore, [start, len]);
                }
            }
        }
        self.release(&inst.args, at);
        // First those that can stay where they are, so that nothing else is put there.
        for (result, from) in inst.results.iter().zip(0..) {
            let from = self.lowering.frames[callee.index()].results[from];
            let lanes = self.lanes(result);
            let end = self.work.lives.values[result.index()].end;
            if from.lanes.contains(lanes) && self.work.lives.is_undisturbed(result, end + 1) {
                let slot = from.slot;
                self.put(result, Place { slot, lanes });
                self.resident = self.resident.max(end);
            }
        }
        for (result, from) in inst.results.iter().zip(0..) {
            if self.is_used(result) && !self.is_placed(result) {
                self.define(result);
                let from = self.lowering.frames[callee.index()].results[from];
                self.work.moves.add(self.place(result), from);
            }
        }
        self.flush_moves();
    }
}
