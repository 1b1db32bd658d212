//! Loading: bytecode to batch instructions, with chosen routines and operand locations.
//!
//! Within a block a register need not be in its own plane. A value that is the same for all points
//! is computed once, as a uniform. Moves, shadows that equal another value's, and globals are read
//! where they are: copy propagation (Aho, Lam, Sethi and Ullman, "Compilers", 2006, section 9.1.5).
//! At the end of the block a live-out register is copied to its plane, or to its own uniform if the
//! next blocks read it there ([`UniformRegisters`]). Those locations hold for whichever points run
//! the next block.

mod arithmetic;
mod dual_location;
mod locations;
mod segments;
mod sequence;
mod step_counts;
mod superinstruction;

use super::call_graph::BatchCalls;
use super::instruction::{BailOutValue, BatchInstruction, BatchOp, OperandLocation, RoutineCall};
use crate::basic_blocks::{
    BatchBlocks, LocationsAtEnd, UniformRegisters, ends_basic_block, gives_uniform,
};
use crate::bytecode::{
    Bytecode, BytecodeInstruction, Opcode, Operands, Register, SampleMip, ShadowPattern,
    value_registers,
};
use crate::closures::planes::NodeKind;
use crate::native::{ArithmeticKind, Segment, SegmentKey};
use adumbra_ir::host::move_steps;
use adumbra_ir::module::{ClosureId, ExplicitMip, MipSelection, Slopes};
use adumbra_ir::types::Direction;
use adumbra_simd::{
    ConditionRoutine, CopyKind, OpRoutines, find_boolean_test, find_copy, find_test,
};
use adumbra_simd::{SimdLevel, SuperinstructionSet};
use dual_location::DualLocation;
use rustc_hash::FxHashMap;
use superinstruction::FusionCandidate;

/// Scratch planes for copies that overlap: a value with its shadows.
pub(super) const SCRATCH_PLANES: u32 = 3;

/// A program as batch instructions.
#[derive(Default)]
pub(super) struct BatchCode {
    pub(super) instructions: Vec<BatchInstruction>,
    /// The operands of all instructions.
    pub(super) operands: Vec<OperandLocation>,
    /// The routine calls of all sequences.
    pub(super) routine_calls: Vec<RoutineCall>,
    /// Registers that are not in their planes at samples, differences, keeps and the starts of
    /// blocks.
    pub(super) bail_out_values: Vec<BailOutValue>,
    /// For the starts of blocks where there are such, in order: the batch instruction, and the
    /// range of those values.
    pub(super) block_values: Vec<(u32, (u32, u32))>,
    /// Operands that segments and sequences save for inactive points, by their number.
    pub(super) saved_operands: Vec<u32>,
    /// The segments that a native backend has to compile, if there is one.
    pub(super) segments: Vec<Segment>,
    /// Uniform values that instructions compute.
    pub(super) uniforms: u32,
    /// The constants that are used.
    pub(super) constants: Vec<u32>,
    /// The words among the globals that are used.
    pub(super) globals: Vec<u32>,
    /// Inputs that have planes, since something writes there.
    pub(super) written_inputs: Vec<u32>,
    /// The first instruction of the shader.
    pub(super) entry: u32,
    /// The most calls that are open at once.
    pub(super) depth: usize,
    /// The superinstructions that are used.
    pub(super) superinstructions: SuperinstructionSet,
}

impl BatchCode {
    /// The number of instructions before which inactive points may be: points of reconvergence, and
    /// returns from calls.
    pub(super) fn reconvergence_points(&self) -> usize {
        let batch_ops = self.instructions.iter().map(|inst| inst.op);
        batch_ops
            .filter(|batch_op| matches!(batch_op, BatchOp::Reconverge | BatchOp::Call { .. }))
            .count()
    }
}

/// Resolves a program for a level. A native backend gets segments in place of superinstructions.
/// Else all superinstructions are used except those in `without`.
pub(super) fn load(
    program: &Bytecode,
    level: SimdLevel,
    key: &SegmentKey,
    native: bool,
    without: SuperinstructionSet,
) -> BatchCode {
    let uniform = &key.uniform;
    let calls = BatchCalls::of(program);
    let operands = Operands::new(program);
    let mut blocks = BatchBlocks::new(&operands, &calls.bails_out);
    let mut written = vec![false; program.registers as usize];
    for code in &program.code {
        operands.for_each_def(code, |register| written[register as usize] = true);
    }
    let inputs = 3 * program.output_lanes.len() as u32;
    let inputs = inputs..inputs + program.interface.input_words() as u32;
    let own_location = |register: u32| {
        let is_input = inputs.contains(&register);
        let stays = !written[register as usize] && !blocks.in_array[register as usize];
        match is_input && stays {
            true => OperandLocation::Input(register - inputs.start),
            false => OperandLocation::Plane(register),
        }
    };
    let own_locations: Vec<OperandLocation> = (0..program.registers).map(own_location).collect();
    let is_input = |register: u32| own_locations[register as usize].is_uniform();
    let uniform_registers = UniformRegisters::of(&blocks, uniform, is_input);
    let relocated = inputs.clone().zip(0..);
    let relocated = relocated.filter(|&(register, _)| {
        own_locations[register as usize] == OperandLocation::Plane(register)
    });
    let written_inputs: Vec<u32> = relocated.map(|(_, input)| input).collect();
    let mut loader = Loader {
        program,
        operands: &operands,
        level,
        uniform,
        plane_bytes: key.plane_bytes,
        native,
        without,
        map: own_locations.clone(),
        own_locations,
        relocated: Vec::new(),
        is_relocated: vec![false; program.registers as usize],
        alias_counts: vec![0; program.registers as usize],
        last_uses: vec![0; program.registers as usize],
        in_array: blocks.in_array.clone(),
        live_in_inactive: None,
        at_end: LocationsAtEnd::default(),
        own_uniforms: FxHashMap::default(),
        uniform_uses: Vec::new(),
        free_uniforms: Vec::new(),
        constants: FxHashMap::default(),
        global_indices: FxHashMap::default(),
        candidates: Vec::new(),
        counts: Vec::new(),
        position: 0,
        out: BatchCode {
            written_inputs,
            depth: calls.depth,
            ..BatchCode::default()
        },
    };
    let mut first_steps = vec![0; program.code.len() + 1];
    for block in 0..blocks.len() {
        let range = blocks.range(block);
        let first = loader.out.instructions.len();
        first_steps[range.start as usize] = first as u32;
        loader.position = range.start;
        if blocks.targets[range.start as usize] {
            loader.emit(BatchOp::Reconverge, []);
        }
        let last_uses = blocks.last_uses(block);
        loader.live_in_inactive = blocks.live_in_inactive(block).map(Box::from);
        loader.at_end = uniform_registers.at_end(&blocks, block);
        for register in uniform_registers.at_start(block) {
            let last_use = blocks.last_use_of_live_in(block, register);
            loader.begin_as_uniform(register, last_use);
        }
        let values = loader.list_bail_out_values(range.start);
        if values.0 < values.1 {
            loader.out.block_values.push((first as u32, values));
        }
        for (position, last_uses) in range.clone().zip(last_uses.iter()) {
            loader.position = position;
            match calls.bails_out[position as usize] {
                true => {
                    loader.flush_live(&mut []);
                    loader.emit(BatchOp::BailOut, []);
                }
                false => loader.instruction(&program.code[position as usize], last_uses),
            }
        }
        loader.end_block();
        loader.merge_step_counts(first);
        if native {
            loader.find_segments(first, blocks.live_out(block));
        } else {
            loader.find_sequences(first);
        }
        // The operands of these instructions are not needed any more.
        loader.counts.resize(loader.out.instructions.len(), 0);
    }
    loader.find_targets(&first_steps);
    loader.finish(&first_steps)
}

struct Loader<'p> {
    program: &'p Bytecode,
    operands: &'p Operands<'p>,
    level: SimdLevel,
    uniform: &'p [bool],
    plane_bytes: usize,
    native: bool,
    /// Superinstructions that are not used.
    without: SuperinstructionSet,
    /// The current location of each register.
    map: Vec<OperandLocation>,
    /// The location of each register between blocks.
    own_locations: Vec<OperandLocation>,
    /// Registers that may not be in their own locations, each once.
    relocated: Vec<u32>,
    is_relocated: Vec<bool>,
    /// How many other registers alias each register's plane. It is in its own location then.
    alias_counts: Vec<u32>,
    /// The last use of each register that is not in its own location.
    last_uses: Vec<u32>,
    in_array: Vec<bool>,
    /// Registers that inactive points keep in this block, a bit each; none if they keep all.
    live_in_inactive: Option<Box<[u64]>>,
    /// The locations that the next blocks read live-out registers from.
    at_end: LocationsAtEnd,
    /// The uniform of each register that is a uniform between blocks.
    own_uniforms: FxHashMap<u32, u32>,
    /// How many registers are located in each uniform, and one more for a register's own.
    uniform_uses: Vec<u32>,
    free_uniforms: Vec<u32>,
    constants: FxHashMap<u32, u32>,
    global_indices: FxHashMap<u32, u32>,
    /// Arithmetic instructions of the block that may be fused with later ones.
    candidates: Vec<FusionCandidate>,
    /// The number of operands of each instruction.
    counts: Vec<u32>,
    position: u32,
    out: BatchCode,
}

/// How many words an arithmetic instruction writes: its value, and the shadows in the pattern.
fn written(pattern: ShadowPattern) -> usize {
    1 + pattern.result().count() as usize
}

impl Loader<'_> {
    fn emit(&mut self, batch_op: BatchOp, locations: impl IntoIterator<Item = OperandLocation>) {
        let refs = self.out.operands.len();
        self.out.operands.extend(locations);
        self.push_instruction(batch_op, refs);
    }

    /// Appends the instruction whose operands are those from `refs` on.
    fn push_instruction(&mut self, batch_op: BatchOp, refs: usize) {
        if !matches!(
            batch_op,
            BatchOp::Arithmetic { .. }
                | BatchOp::Uniform(..)
                | BatchOp::Fault(..)
                | BatchOp::CountStep(_)
        ) {
            self.candidates.clear();
        }
        self.counts.push((self.out.operands.len() - refs) as u32);
        self.out.instructions.push(BatchInstruction {
            op: batch_op,
            refs: refs as u32,
            position: self.position,
        });
    }

    /// Emits an instruction on planes. It writes the first ones, as many as the pattern has.
    fn emit_on_planes(
        &mut self,
        kind: ArithmeticKind,
        routines: OpRoutines,
        pattern: ShadowPattern,
        locations: impl IntoIterator<Item = OperandLocation>,
    ) {
        let refs = self.out.operands.len();
        self.out.operands.extend(locations);
        let written = &self.out.operands[refs..][..written(pattern)];
        let batch_op = BatchOp::Arithmetic {
            kind,
            routines,
            pattern,
            keeps_inactive: written
                .iter()
                .any(|&location| self.keeps_inactive(location)),
        };
        self.push_instruction(batch_op, refs);
    }

    /// The operands of an instruction, those that it writes first.
    fn locations(&self, inst: usize) -> &[OperandLocation] {
        let refs = self.out.instructions[inst].refs as usize;
        &self.out.operands[refs..][..self.counts[inst] as usize]
    }

    /// Whether inactive points keep the words at a location.
    fn keeps_inactive(&self, location: OperandLocation) -> bool {
        match (location, &self.live_in_inactive) {
            (OperandLocation::Plane(register), Some(live)) => {
                live[register as usize / 64] >> (register % 64) & 1 == 1
            }
            (OperandLocation::Plane(_), None) => true,
            _ => false,
        }
    }

    fn copy(&mut self, to: OperandLocation, from: OperandLocation) {
        let routines = find_copy(CopyKind::Plain, self.level, from.shape());
        self.emit_on_planes(
            ArithmeticKind::Copy,
            routines,
            ShadowPattern::default(),
            [to, from],
        );
    }

    fn instruction(&mut self, code: &BytecodeInstruction, last_uses: &[u32]) {
        let [a, b, c, ..] = code.words;
        let (program, lists) = (self.program, self.operands);
        let array = |number: u32| program.arrays[number as usize];
        let steps = move_steps(lists.moved_words(code)) as u32;
        match code.opcode {
            Opcode::Arithmetic(op, pattern) => self.arithmetic(op, pattern, code, last_uses),
            Opcode::Branch(op, when) => {
                let operands: Vec<OperandLocation> = (1..=op.arity())
                    .map(|i| self.location(code.words[i]))
                    .collect();
                let test = find_test(op, self.level);
                let test = test.expect("validation checked that the op is a boolean");
                self.branch(test, when, a, operands);
            }
            Opcode::BranchIf(when) => {
                let condition = self.location(b);
                self.branch(find_boolean_test(self.level), when, a, vec![condition]);
            }
            Opcode::Jump => self.control(BatchOp::Jump(a)),
            Opcode::Loop => self.control(BatchOp::Loop(a)),
            Opcode::Call => {
                let function = &program.functions[a as usize];
                self.control(BatchOp::Call {
                    target: function.start,
                    elements: function.elements,
                    steps: 1 + u64::from(b),
                });
            }
            Opcode::Enter => self.emit(BatchOp::CountStep(Some(a)), []),
            Opcode::Iteration => self.emit(BatchOp::CountStep(None), []),
            Opcode::Query => self.emit(BatchOp::Query, []),
            Opcode::Return => self.control(BatchOp::Return),
            Opcode::Unreachable => self.emit(BatchOp::Unreachable, []),
            Opcode::Move(to, from) => {
                let source = self.dual_location(b, from);
                let shadows = Direction::BOTH.map(|direction| {
                    let has = source.shadows[direction as usize];
                    to.has(direction)
                        .then(|| has.unwrap_or(OperandLocation::Zero))
                });
                let value = source.value;
                self.alias_or_copy(a, to, DualLocation { value, shadows }, last_uses);
            }
            Opcode::Global(lanes) => {
                let value = self.global_location(b, self.gives_uniform(code));
                let shadows = Direction::BOTH.map(|direction| {
                    // Where there are no shadows, the distance to them was not checked.
                    let has = lanes.has(direction);
                    has.then(|| self.global_location(b + c * (1 + direction as u32), false))
                });
                self.alias_or_copy(a, lanes, DualLocation { value, shadows }, last_uses);
            }
            Opcode::Shadow(direction) => {
                let from = self.map[b as usize + 1 + direction as usize];
                self.prepare_writes([a]);
                let routines = find_copy(CopyKind::ShadowRead, self.level, from.shape());
                let locations = [OperandLocation::Plane(a), from];
                self.emit_on_planes(
                    ArithmeticKind::ReadShadow,
                    routines,
                    ShadowPattern::default(),
                    locations,
                );
            }
            Opcode::Difference(direction) => {
                let from = self.location(b);
                self.prepare_writes([a]);
                let elsewhere = self.list_bail_out_values(self.position + 1);
                self.emit(
                    BatchOp::Difference {
                        direction,
                        elsewhere,
                    },
                    [OperandLocation::Plane(a), from],
                );
            }
            Opcode::Load(to, _) => {
                let index = self.location(c);
                let written = value_registers(a, to);
                self.prepare_writes(written.clone());
                let planes = written.map(OperandLocation::Plane).chain([index]);
                self.emit(
                    BatchOp::Load {
                        array: array(b),
                        to,
                    },
                    planes,
                );
            }
            Opcode::Buffer(_, check) => {
                let index = self.location(c);
                let (buffer, number) = (b, code.words[3]);
                let batch_op = BatchOp::Buffer {
                    buffer,
                    number,
                    check,
                };
                self.emit_number(batch_op, code, &[index], last_uses);
            }
            Opcode::BufferLength => {
                self.emit_number(BatchOp::BufferLength { buffer: b }, code, &[], last_uses);
            }
            Opcode::BufferAdd => {
                let (index, value) = (self.location(b), self.location(c));
                let (buffer, number) = (a, code.words[3]);
                self.emit(BatchOp::BufferAdd { buffer, number }, [index, value]);
            }
            Opcode::Store(_, from) => {
                let index = self.location(b);
                let value = self.dual_location(c, from);
                let array = array(a);
                let locations = [index].into_iter().chain(value.locations());
                self.emit(BatchOp::Store { array, from }, locations);
            }
            Opcode::ArrayZero => {
                let array = array(a);
                self.emit(BatchOp::ArrayZero { array, steps }, []);
            }
            Opcode::ArrayCopy => {
                let (to, from) = (array(a), array(b));
                self.emit(BatchOp::ArrayCopy { to, from, steps }, []);
            }
            Opcode::ArrayCopyPart => {
                let (to, from, start) = (array(a), array(b), self.location(c));
                self.emit(BatchOp::ArrayCopyPart { to, from, steps }, [start]);
            }
            Opcode::ArrayResize => {
                let (array, parts, part) = (array(b), self.location(c), code.words[3]);
                self.prepare_writes([a]);
                self.emit(
                    BatchOp::ArrayResize { array, part },
                    [OperandLocation::Plane(a), parts],
                );
            }
            Opcode::Save | Opcode::Restore | Opcode::ArrayFromSaved | Opcode::ArrayToSaved => {
                unreachable!("points leave the chunk before anything is saved")
            }
            Opcode::Sample(SampleMip::Shadows(u, v), slopes) => {
                let (u, v) = (self.dual_location(b, u), self.dual_location(c, v));
                let zero =
                    |location: Option<OperandLocation>| location.unwrap_or(OperandLocation::Zero);
                let mut operands = vec![u.value, v.value];
                operands.extend(u.shadows.map(zero));
                operands.extend(v.shadows.map(zero));
                self.sample(code, MipSelection::Shadows, slopes, operands);
            }
            Opcode::Sample(SampleMip::Explicit(mip), slopes) => {
                let operands = self.explicit_footprint(mip, b);
                self.sample(code, MipSelection::Explicit(mip), slopes, operands);
            }
            Opcode::TextureAdjoint(mip, slopes) => {
                let footprint = self.explicit_footprint(mip, b);
                let numbers = self.all(&lists.list(code, 1)[mip.operand_count()..]);
                let batch_op = BatchOp::TextureAdjoint {
                    texture: a,
                    mip: MipSelection::Explicit(mip),
                    slopes,
                };
                self.emit(batch_op, footprint.into_iter().chain(numbers));
            }
            Opcode::Message => {
                let operands = self.all(lists.list(code, 1));
                self.emit(BatchOp::Message { message: a, steps }, operands);
            }
            Opcode::Keep => {
                let operands = self.all(lists.list(code, 1));
                // A point that bails out keeps its record elsewhere.
                let elsewhere = self.list_bail_out_values(self.position);
                let keep = BatchOp::Keep {
                    tape: a,
                    steps,
                    elsewhere,
                };
                self.emit(keep, operands);
            }
            Opcode::Take => {
                let registers = lists.list(code, 1);
                let written = registers.iter().copied();
                let is_written = |register: &u32| Register(*register).as_constant().is_none();
                self.prepare_writes(written.filter(is_written));
                let operands = self.all(registers);
                self.emit(BatchOp::Take { tape: a, steps }, operands);
            }
            Opcode::MakeClosure => {
                let operands = self.all(lists.list(code, 2));
                self.closure(NodeKind::Leaf(ClosureId(b)), steps, a, operands);
            }
            Opcode::ClosureAdd | Opcode::ClosureScale => {
                let operands = vec![self.location(b), self.location(c)];
                let kind = match code.opcode {
                    Opcode::ClosureAdd => NodeKind::Add,
                    _ => NodeKind::Scale,
                };
                self.closure(kind, 0, a, operands);
            }
            Opcode::ClosureTint => {
                let [red, green, blue] = self.list(c);
                let operands = vec![self.location(b), red, green, blue];
                self.closure(NodeKind::Tint, 0, a, operands);
            }
        }
    }

    /// Whether the result of an instruction is the same for all points.
    fn gives_uniform(&self, code: &BytecodeInstruction) -> bool {
        gives_uniform(code, self.uniform, |word| {
            Register(word).as_constant().is_some() || self.map[word as usize].is_uniform()
        })
    }

    /// Whether the result of an instruction is computed once for all points.
    fn is_computed_once(&self, code: &BytecodeInstruction) -> bool {
        self.gives_uniform(code) && !self.in_array[code.words[0] as usize]
    }

    /// Emits an instruction that gives a number: once for all points, if its operands are uniform.
    fn emit_number(
        &mut self,
        batch_op: BatchOp,
        code: &BytecodeInstruction,
        operands: &[OperandLocation],
        last_uses: &[u32],
    ) {
        let to = code.words[0];
        let given = match self.is_computed_once(code) {
            true => self.new_uniform(),
            false => {
                self.prepare_writes([to]);
                OperandLocation::Plane(to)
            }
        };
        self.emit(
            batch_op,
            [given].into_iter().chain(operands.iter().copied()),
        );
        if given.is_uniform() {
            self.alias(to, given, last_uses[0]);
        }
    }

    /// The locations of the registers in a list.
    fn list<const N: usize>(&mut self, start: u32) -> [OperandLocation; N] {
        let program = self.program;
        std::array::from_fn(|i| self.location(program.lists[start as usize + i]))
    }

    /// The operands of a sample's footprint, whose list begins there.
    fn explicit_footprint(&mut self, mip: ExplicitMip, start: u32) -> Vec<OperandLocation> {
        match mip {
            ExplicitMip::Gradients => {
                let [u, v, dudx, dvdx, dudy, dvdy] = self.list(start);
                vec![u, v, dudx, dudy, dvdx, dvdy]
            }
            ExplicitMip::Level => {
                let [u, v, level] = self.list(start);
                let zero = OperandLocation::Zero;
                vec![u, v, zero, zero, zero, zero, level]
            }
        }
    }

    fn all(&mut self, registers: &[u32]) -> Vec<OperandLocation> {
        (registers.iter().map(|&register| self.location(register))).collect()
    }

    fn closure(&mut self, kind: NodeKind, steps: u32, to: u32, operands: Vec<OperandLocation>) {
        self.prepare_writes([to]);
        self.emit(
            BatchOp::MakeClosure { kind, steps },
            [OperandLocation::Plane(to)].into_iter().chain(operands),
        );
    }

    /// Emits an instruction without operands that ends a block.
    fn control(&mut self, batch_op: BatchOp) {
        self.flush_live(&mut []);
        self.emit(batch_op, []);
    }

    fn branch(
        &mut self,
        test: ConditionRoutine,
        when: bool,
        target: u32,
        mut operands: Vec<OperandLocation>,
    ) {
        self.flush_live(&mut operands);
        let uniform = operands.iter().all(|location| location.is_uniform());
        self.emit(
            BatchOp::Branch {
                test,
                when,
                target,
                uniform,
            },
            operands,
        );
    }

    fn sample(
        &mut self,
        code: &BytecodeInstruction,
        mip: MipSelection,
        slopes: Slopes,
        operands: Vec<OperandLocation>,
    ) {
        let results = self.operands.list(code, 3);
        self.prepare_writes(results.iter().copied());
        let elsewhere = self.list_bail_out_values(self.position + 1);
        let batch_op = BatchOp::Sample {
            texture: code.words[0],
            mip,
            slopes,
            elsewhere,
        };
        let results = results
            .iter()
            .map(|&register| OperandLocation::Plane(register));
        self.emit(batch_op, operands.into_iter().chain(results));
    }

    /// The registers that are not in their planes and are read from a position on, for a point that
    /// bails out there.
    fn list_bail_out_values(&mut self, position: u32) -> (u32, u32) {
        let first = self.out.bail_out_values.len() as u32;
        for &register in &self.relocated {
            let location = self.map[register as usize];
            let is_elsewhere = location != self.own_locations[register as usize];
            if is_elsewhere && self.last_uses[register as usize] >= position {
                self.out.bail_out_values.push(BailOutValue {
                    register,
                    operand: self.out.operands.len() as u32,
                });
                self.out.operands.push(location);
            }
        }
        (first, self.out.bail_out_values.len() as u32)
    }

    /// Makes jump targets batch instructions.
    fn find_targets(&mut self, first_steps: &[u32]) {
        for inst in &mut self.out.instructions {
            match &mut inst.op {
                BatchOp::Branch { target, .. }
                | BatchOp::Jump(target)
                | BatchOp::Loop(target)
                | BatchOp::Call { target, .. } => *target = first_steps[*target as usize],
                _ => {}
            }
        }
    }

    fn finish(self, first_steps: &[u32]) -> BatchCode {
        let entry = &self.program.functions[self.program.entry as usize];
        BatchCode {
            uniforms: self.uniform_uses.len() as u32,
            entry: first_steps[entry.start as usize],
            ..self.out
        }
    }
}
