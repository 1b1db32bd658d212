//! Emission: the bytecode of each kind of IR instruction.

use super::BytecodeLowering;
use super::function::{FunctionEmitter, ValueLocation};
use super::linear_order::InstVisitor;
use super::parallel_moves::RegisterOperand;
use crate::bytecode::{BytecodeTape, Opcode, Register, SampleMip};
use adumbra_ir::module::{
    ArrayId, FuncId, Inst, InstKind, MipSelection, PassingMode, RecordId, TapeId, ValueId,
};
use adumbra_ir::types::{Direction, Lanes, Scalar};

impl InstVisitor for FunctionEmitter<'_, '_, '_> {
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool {
        let args = &inst.args[..];
        let result = inst.results.first;
        match &inst.kind {
            InstKind::Op(op) => return self.arithmetic(at, inst, *op, next),
            InstKind::WithSlopes(op) => self.with_slopes(at, inst, *op),
            InstKind::Const(bits) => self.put_constant(result, *bits),
            InstKind::Resource(resource) => self.put_constant(result, resource.0),
            InstKind::Global(global, scalar) => {
                let (first, scalars) = self.lowering.global_words[global.index()];
                let register = self.define(result);
                let lanes = self.lanes(result);
                self.emit(Opcode::Global(lanes), [register, first + scalar, scalars]);
            }
            InstKind::Shadow(direction) => self.shadow(at, *direction, args, result),
            InstKind::Detach => {
                let from = self.register_of(args[0]);
                self.release(args, at);
                self.define(result);
                self.work.moves.add(self.register_of(result), from);
                self.flush_moves();
            }
            InstKind::Attach => self.attach(at, args, result),
            InstKind::Difference(direction) => {
                let from = self.register(args[0]);
                self.release(args, at);
                let register = self.define(result);
                self.emit(Opcode::Difference(*direction), [register, from]);
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
                        let start = self.register(start);
                        self.release(args, at);
                        self.emit_at(inst.span, Opcode::ArrayCopyPart, [to, from, start]);
                    }
                }
            }
            InstKind::ArrayResize(array, part) => {
                let (array, parts) = (self.array(*array), self.register(args[0]));
                self.release(args, at);
                let words = [self.define(result), array, parts, *part];
                self.emit_at(inst.span, Opcode::ArrayResize, words);
            }
            InstKind::Buffer(buffer, number, check) => {
                let index = self.register(args[0]);
                self.release(args, at);
                let words = [self.define(result), buffer.0, index, *number];
                let scalar = self.lowering.module.buffers[buffer.index()].scalar();
                self.emit_at(inst.span, Opcode::Buffer(scalar, *check), words);
            }
            InstKind::BufferLength(buffer) => {
                let register = self.define(result);
                self.emit(Opcode::BufferLength, [register, buffer.0]);
            }
            InstKind::BufferAdd(buffer, number) => {
                let [index, value] = [0, 1].map(|i| self.register(args[i]));
                self.release(args, at);
                let words = [buffer.0, index, value, *number];
                self.emit_at(inst.span, Opcode::BufferAdd, words);
            }
            InstKind::Load(array) => self.load(at, inst, *array),
            InstKind::Store(array) => self.store(inst, *array),
            InstKind::Sample(texture, MipSelection::Shadows, slopes) => {
                let (u, v) = (self.register_of(args[0]), self.register_of(args[1]));
                self.release(args, at);
                let registers: Vec<u32> = inst.results.iter().map(|r| self.define(r)).collect();
                let words = [texture.0, u.register.0, v.register.0, self.list(registers)];
                let opcode = Opcode::Sample(SampleMip::Shadows(u.lanes, v.lanes), *slopes);
                self.emit_at(inst.span, opcode, words);
            }
            InstKind::Sample(texture, MipSelection::Explicit(mip), slopes) => {
                let given: Vec<u32> = args.iter().map(|&a| self.register(a)).collect();
                let given = self.list(given);
                self.release(args, at);
                let registers: Vec<u32> = inst.results.iter().map(|r| self.define(r)).collect();
                let opcode = Opcode::Sample(SampleMip::Explicit(*mip), *slopes);
                let words = [texture.0, given, 0, self.list(registers)];
                self.emit_at(inst.span, opcode, words);
            }
            InstKind::TextureAdjoint(texture, mip, slopes) => {
                let given: Vec<u32> = args.iter().map(|&a| self.register(a)).collect();
                let given = self.list(given);
                self.release(args, at);
                let opcode = Opcode::TextureAdjoint(*mip, *slopes);
                self.emit_at(inst.span, opcode, [texture.0, given]);
            }
            InstKind::Message(message) => {
                let registers: Vec<u32> = args.iter().map(|&a| self.register(a)).collect();
                let list = self.list(registers);
                self.release(args, at);
                self.emit_at(inst.span, Opcode::Message, [message.0, list]);
            }
            InstKind::Keep(tape, record) => {
                let words = self.kept_words(inst, *record);
                let list = self.list(words);
                let tape = self.tape(*tape, *record);
                self.release(args, at);
                self.emit_at(inst.span, Opcode::Keep, [tape, list]);
            }
            InstKind::Take(tape, record) => {
                for result in inst.results.iter() {
                    self.define(result);
                }
                let words = self.taken_words(inst, *record);
                let list = self.list(words);
                let tape = self.tape(*tape, *record);
                self.emit_at(inst.span, Opcode::Take, [tape, list]);
            }
            InstKind::MakeClosure(shape) => {
                let registers: Vec<u32> = args.iter().map(|&a| self.register(a)).collect();
                let list = self.list(registers);
                self.release(args, at);
                let words = [self.define(result), shape.0, list];
                self.emit_at(inst.span, Opcode::MakeClosure, words);
            }
            InstKind::ClosureAdd => {
                self.closure(at, inst, Opcode::ClosureAdd, self.register(args[1]))
            }
            InstKind::ClosureScale if args.len() == 2 => {
                self.closure(at, inst, Opcode::ClosureScale, self.register(args[1]));
            }
            InstKind::ClosureScale => {
                let color = [1, 2, 3].map(|i| self.register(args[i]));
                let list = self.list(color);
                self.closure(at, inst, Opcode::ClosureTint, list);
            }
            InstKind::Call(callee, arrays) => self.call(at, inst, *callee, arrays),
            InstKind::EnterInlined(open) => self.emit_at(inst.span, Opcode::Enter, [*open]),
            InstKind::TakeStep => self.emit_at(inst.span, Opcode::Iteration, []),
            InstKind::Yield => {
                let innermost = self.work.scopes.len() - 1;
                self.jump_out(innermost, args, at);
            }
            InstKind::Break(region) => self.jump_out(self.target(*region), args, at),
            InstKind::Continue(region) => {
                for (&arg, &param) in args.iter().zip(&self.function.region(*region).params) {
                    if self.is_used(param) {
                        self.work
                            .moves
                            .add(self.register_of(param), self.register_of(arg));
                    }
                }
                self.flush_moves();
                self.release(args, at);
                let head = self.work.scopes[self.target(*region)].head;
                self.emit_at(inst.span, Opcode::Loop, [head]);
                self.reachable = false;
            }
            InstKind::Return => {
                for (i, &arg) in args.iter().enumerate() {
                    let to = self.frame().results[i];
                    self.work.moves.add(to, self.register_of(arg));
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
                    let condition = self.register(inst.args[0]);
                    self.release(&inst.args, at);
                    self.branch(inst, Opcode::BranchIf, &[condition]);
                }
            }
            InstKind::Loop(region) => {
                self.open(inst);
                let open = self.target(region) as u32;
                for (&arg, &param) in inst.args.iter().zip(&self.function.region(region).params) {
                    if self.is_used(param) {
                        self.place_hinted(param, arg, at);
                        let last_use = self.work.liveness.values[param.index()].end;
                        let location = &mut self.work.values[param.index()];
                        location.occupied = last_use;
                        location.loop_scope = Some(open);
                        self.work
                            .moves
                            .add(self.register_of(param), self.register_of(arg));
                    }
                }
                self.flush_moves();
                self.release(&inst.args, at);
                self.begin_loop();
            }
            _ => self.open(inst),
        }
    }

    fn second_arm(&mut self, _: u32, _: &Inst) {
        let open = *self.work.scopes.last().expect("an If is open");
        self.bind(open.second);
        self.reachable |= open.falls_through;
    }

    fn exit(&mut self, at: u32, inst: &Inst) {
        let open = self.work.scopes.pop().expect("what is left was entered");
        self.bind(open.end);
        if let InstKind::Loop(region) = inst.kind {
            for &param in &self.function.region(region).params {
                let ValueLocation {
                    register: operand,
                    loop_scope: carried_by,
                    ..
                } = &mut self.work.values[param.index()];
                if carried_by.take().is_some() {
                    let register = operand.register.0;
                    self.work.registers.give_back(register, operand.lanes);
                }
            }
            self.release_expired(at);
        }
        for result in inst.results.iter() {
            if self.is_used(result) && !self.is_placed(result) {
                // Control never leaves that way. The code after it is not emitted, but needs a
                // register to name.
                self.define(result);
            }
        }
    }
}

impl FunctionEmitter<'_, '_, '_> {
    pub(super) fn put_constant(&mut self, value: ValueId, bits: u32) {
        let register = self.lowering.constants.register(bits);
        self.put(
            value,
            RegisterOperand {
                register,
                lanes: Lanes::NONE,
            },
        );
    }

    /// The element at a constant index in range: a register like any other.
    fn element(&self, array: u32, index: ValueId) -> Option<RegisterOperand> {
        let constant = self.register_of(index).register.as_constant()?;
        let index = self.lowering.constants.word(constant);
        let array = self.lowering.out.arrays[array as usize];
        (index < array.len).then(|| RegisterOperand {
            register: Register(array.base + index * array.stride()),
            lanes: array.lanes,
        })
    }

    fn load(&mut self, at: u32, inst: &Inst, array: ArrayId) {
        let array = self.array(array);
        let result = inst.results.first;
        let index = self.register(inst.args[0]);
        let element = self.element(array, inst.args[0]);
        self.release(&inst.args, at);
        let register = self.define(result);
        let to = self.lanes(result);
        if let Some(from) = element {
            let opcode = Opcode::Move(to, from.lanes & to);
            self.emit(opcode, [register, from.register.0]);
        } else {
            let from = self.lowering.out.arrays[array as usize].lanes;
            self.emit_at(inst.span, Opcode::Load(to, from), [register, array, index]);
        }
    }

    fn store(&mut self, inst: &Inst, array: ArrayId) {
        let array = self.array(array);
        let from = self.register_of(inst.args[1]);
        let to = self.lowering.out.arrays[array as usize].lanes;
        let lanes = from.lanes & to;
        if let Some(element) = self.element(array, inst.args[0]) {
            self.emit(
                Opcode::Move(to, lanes),
                [element.register.0, from.register.0],
            );
        } else {
            let words = [array, self.register(inst.args[0]), from.register.0];
            self.emit_at(inst.span, Opcode::Store(to, lanes), words);
        }
    }

    /// The tape for records of a kind, if an instruction is emitted that names it.
    fn tape(&mut self, tape: TapeId, record: RecordId) -> u32 {
        if !self.reachable {
            return 0;
        }
        let BytecodeLowering {
            module, tapes, out, ..
        } = &mut *self.lowering;
        *tapes.entry((tape, record)).or_insert_with(|| {
            let fields = &module.records[record.index()].fields;
            let float = fields.iter().find(|field| field.ty == Scalar::F32);
            out.tapes.push(BytecodeTape {
                fields: fields.iter().map(|field| field.ty).collect(),
                lanes: float.map_or(Lanes::NONE, |float| float.lanes),
            });
            out.tapes.len() as u32 - 1
        })
    }

    /// The registers of the words that a record keeps of its values; zero for shadows that they
    /// lack.
    fn kept_words(&mut self, inst: &Inst, record: RecordId) -> Vec<u32> {
        self.record_words(&inst.args, record)
    }

    /// The registers for the words that a record has, a constant where its value has none.
    fn taken_words(&mut self, inst: &Inst, record: RecordId) -> Vec<u32> {
        let results: Vec<ValueId> = inst.results.iter().collect();
        self.record_words(&results, record)
    }

    fn record_words(&mut self, values: &[ValueId], record: RecordId) -> Vec<u32> {
        let module = self.lowering.module;
        let mut words = Vec::new();
        for (&value, field) in values.iter().zip(&module.records[record.index()].fields) {
            let from = self.register_of(value);
            words.push(from.register.0);
            for (direction, offset) in Direction::BOTH.into_iter().zip(1..) {
                if field.lanes.has(direction) {
                    words.push(match from.lanes.has(direction) {
                        true => from.register.0 + offset,
                        false => self.lowering.constants.register(0).0,
                    });
                }
            }
        }
        words
    }

    fn closure(&mut self, at: u32, inst: &Inst, opcode: Opcode, last: u32) {
        let first = self.register(inst.args[0]);
        self.release(&inst.args, at);
        let register = self.define(inst.results.first);
        self.emit_at(inst.span, opcode, [register, first, last]);
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
        let parameters: Vec<(u32, u32, PassingMode)> = pairs
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
                PassingMode::In | PassingMode::InOut if saves => {
                    let words = [theirs, own, saved(own, self)];
                    self.emit_at(inst.span, Opcode::ArrayFromSaved, words);
                }
                PassingMode::In | PassingMode::InOut => {
                    self.emit_at(inst.span, Opcode::ArrayCopy, [theirs, own]);
                }
                PassingMode::Out | PassingMode::Return => {}
            }
        }
        for (i, &arg) in inst.args.iter().enumerate() {
            let to = self.lowering.frames[callee.index()].params[i];
            self.work.moves.add(to, self.register_of(arg));
        }
        self.flush_moves();
        // Never more than the array elements of a function, which fit.
        let steps = self.lowering.saved_steps.of(self.id, callee) as u32;
        self.emit_at(inst.span, Opcode::Call, [number, steps]);
        for &(theirs, own, mode) in &parameters {
            match mode {
                PassingMode::Out | PassingMode::InOut if saves => {
                    let words = [own, theirs, saved(own, self)];
                    self.emit_at(inst.span, Opcode::ArrayToSaved, words);
                }
                PassingMode::Out | PassingMode::InOut => {
                    self.emit_at(inst.span, Opcode::ArrayCopy, [own, theirs]);
                }
                PassingMode::In | PassingMode::Return => {}
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
        // First those that can stay in their registers, so that nothing else is moved there.
        for (result, from) in inst.results.iter().zip(0..) {
            let from = self.lowering.frames[callee.index()].results[from];
            let lanes = self.lanes(result);
            let end = self.work.liveness.values[result.index()].end;
            if from.lanes.contains(lanes) && self.work.liveness.is_undisturbed(result, end + 1) {
                let register = from.register;
                self.put(result, RegisterOperand { register, lanes });
                self.resident = self.resident.max(end);
            }
        }
        for (result, from) in inst.results.iter().zip(0..) {
            if self.is_used(result) && !self.is_placed(result) {
                self.define(result);
                let from = self.lowering.frames[callee.index()].results[from];
                self.work.moves.add(self.register_of(result), from);
            }
        }
        self.flush_moves();
    }
}
