//! Locations of registers during loading: in their own planes or uniforms, or elsewhere until the
//! block ends.

use super::super::instruction::{BatchOp, OperandLocation};
use super::{DualLocation, Loader, ends_basic_block};
use crate::bytecode::Register;
use crate::bytecode::value_registers;
use crate::native::LIVE_OUT;
use adumbra_ir::types::{Direction, Lanes};

impl Loader<'_> {
    /// The location of a register or a constant.
    pub(super) fn location(&mut self, word: u32) -> OperandLocation {
        let Some(index) = Register(word).as_constant() else {
            return self.map[word as usize];
        };
        let constants = &mut self.out.constants;
        let constant = self.constants.entry(index).or_insert_with(|| {
            constants.push(self.program.constants[index as usize]);
            constants.len() as u32 - 1
        });
        OperandLocation::Constant(*constant)
    }

    pub(super) fn dual_location(&mut self, word: u32, lanes: Lanes) -> DualLocation {
        let value = self.location(word);
        let shadow = |(direction, offset)| lanes.has(direction).then(|| word + offset);
        let [x, y] = [(Direction::X, 1), (Direction::Y, 2)].map(shadow);
        DualLocation {
            value,
            shadows: [x, y].map(|register| register.map(|register| self.map[register as usize])),
        }
    }

    /// The location of a word among the globals.
    pub(super) fn global_location(&mut self, word: u32, is_uniform: bool) -> OperandLocation {
        let globals = &mut self.out.globals;
        let global = *self.global_indices.entry(word).or_insert_with(|| {
            globals.push(word);
            globals.len() as u32 - 1
        });
        match is_uniform {
            true => OperandLocation::UniformGlobal(global),
            false => OperandLocation::Global(global),
        }
    }

    pub(super) fn new_uniform(&mut self) -> OperandLocation {
        // In a segment uniforms are computed before all other instructions, so each has its own.
        let free = if self.native {
            None
        } else {
            self.free_uniforms.pop()
        };
        let uniform = free.unwrap_or_else(|| {
            self.uniform_uses.push(0);
            self.uniform_uses.len() as u32 - 1
        });
        OperandLocation::Uniform(uniform)
    }

    /// Sets the location of a register.
    pub(super) fn set_location(&mut self, register: u32, location: OperandLocation) {
        let old = std::mem::replace(&mut self.map[register as usize], location);
        match location {
            OperandLocation::Uniform(uniform) => self.uniform_uses[uniform as usize] += 1,
            OperandLocation::Plane(of) if of != register => self.alias_counts[of as usize] += 1,
            _ => {}
        }
        match old {
            OperandLocation::Uniform(uniform) => {
                self.uniform_uses[uniform as usize] -= 1;
                if self.uniform_uses[uniform as usize] == 0 {
                    self.free_uniforms.push(uniform);
                }
            }
            OperandLocation::Plane(of) if of != register => self.alias_counts[of as usize] -= 1,
            _ => {}
        }
        let is_own = location == self.own_locations[register as usize];
        if !is_own && !std::mem::replace(&mut self.is_relocated[register as usize], true) {
            self.relocated.push(register);
        }
    }

    /// Before the plane of a register is written: copies the registers that alias it into their own
    /// planes.
    pub(super) fn evict_aliases(&mut self, register: u32) {
        if self.alias_counts[register as usize] == 0 {
            return;
        }
        for i in 0..self.relocated.len() {
            let guest = self.relocated[i];
            if guest != register && self.map[guest as usize] == OperandLocation::Plane(register) {
                if self.last_uses[guest as usize] > self.position {
                    self.copy(
                        OperandLocation::Plane(guest),
                        OperandLocation::Plane(register),
                    );
                }
                self.set_location(guest, self.own_locations[guest as usize]);
            }
        }
    }

    /// Prepares the planes that an instruction writes; no other register aliases them afterwards.
    pub(super) fn prepare_writes(&mut self, written: impl IntoIterator<Item = u32>) {
        for register in written {
            self.evict_aliases(register);
            self.set_location(register, OperandLocation::Plane(register));
        }
    }

    /// Locates a register, live at the start of the block, where it is there: in its own uniform.
    pub(super) fn begin_as_uniform(&mut self, register: u32, last_use: u32) {
        let own = self.own_uniform(register);
        self.set_location(register, own);
        self.last_uses[register as usize] = last_use;
    }

    /// The uniform that a register has between blocks.
    fn own_uniform(&mut self, register: u32) -> OperandLocation {
        let uniforms = &mut self.uniform_uses;
        let own = self.own_uniforms.entry(register).or_insert_with(|| {
            uniforms.push(1);
            uniforms.len() as u32 - 1
        });
        OperandLocation::Uniform(*own)
    }

    /// Copies live-out registers to where the next blocks read them: their own planes, their own
    /// uniforms, or both. What the end of the block reads after that, `read`, stays as it is.
    pub(super) fn flush_live(&mut self, read: &mut [OperandLocation]) {
        let mut moved = Vec::new();
        for i in 0..self.relocated.len() {
            let register = self.relocated[i];
            let location = self.map[register as usize];
            if location == self.own_locations[register as usize]
                || self.last_uses[register as usize] != LIVE_OUT
            {
                continue;
            }
            if self.at_end.is_in_plane(register) {
                self.copy(OperandLocation::Plane(register), location);
            }
            match self.at_end.is_uniform(register) {
                true => moved.push((register, location)),
                false => self.set_location(register, self.own_locations[register as usize]),
            }
        }
        self.move_to_own_uniforms(moved, read);
    }

    /// Copies uniforms to those of these registers, at once: what is read before it is written gets
    /// a copy.
    fn move_to_own_uniforms(
        &mut self,
        moved: Vec<(u32, OperandLocation)>,
        read: &mut [OperandLocation],
    ) {
        debug_assert!(moved.iter().all(|(_, from)| from.is_uniform()));
        let own = moved
            .iter()
            .map(|&(register, _)| self.own_uniform(register));
        let mut moves: Vec<_> = own.collect::<Vec<_>>().into_iter().zip(moved).collect();
        moves.retain(|&(own, (_, from))| own != from);
        let written: Vec<OperandLocation> = moves.iter().map(|&(own, _)| own).collect();
        let sources = moves.iter_mut().map(|(_, (_, from))| from);
        for location in sources.chain(read) {
            if written.contains(location) {
                self.uniform_uses.push(1);
                let kept = OperandLocation::Uniform(self.uniform_uses.len() as u32 - 1);
                self.emit(BatchOp::UniformMove, [kept, *location]);
                *location = kept;
            }
        }
        for (own, (register, from)) in moves {
            self.emit(BatchOp::UniformMove, [own, from]);
            self.set_location(register, own);
        }
    }

    /// Resets all registers to their own planes.
    pub(super) fn end_block(&mut self) {
        self.candidates.clear();
        // The instruction after a fall-through starts another block.
        let last = self.program.code[self.position as usize].opcode;
        if !ends_basic_block(last) {
            self.flush_live(&mut []);
        }
        while let Some(register) = self.relocated.pop() {
            self.is_relocated[register as usize] = false;
            self.set_location(register, self.own_locations[register as usize]);
        }
    }

    /// Whether registers can alias these locations, which are read now, after the registers were
    /// written.
    pub(super) fn can_alias(&self, to: u32, lanes: Lanes, from: DualLocation) -> bool {
        let mut pairs = value_registers(to, lanes).zip(from.locations());
        pairs.all(|(register, location)| {
            let is_free = match location {
                OperandLocation::Plane(of) => {
                    of == register
                        || !self.in_array[of as usize]
                            && self.map[of as usize] == location
                            && !value_registers(to, lanes).any(|written| written == of)
                }
                _ => true,
            };
            is_free && !self.in_array[register as usize]
        })
    }

    /// Registers alias these locations, or get copies. A value with shadows needs planes.
    pub(super) fn alias_or_copy(
        &mut self,
        to: u32,
        lanes: Lanes,
        from: DualLocation,
        last_uses: &[u32],
    ) {
        let in_planes = lanes.is_none() || !from.value.is_uniform();
        if in_planes && self.can_alias(to, lanes, from) {
            for ((register, location), &last_use) in value_registers(to, lanes)
                .zip(from.locations())
                .zip(last_uses)
            {
                self.alias(register, location, last_use);
            }
            return;
        }
        // All is read before anything is written.
        let written = value_registers(to, lanes);
        let overlap = |location| matches!(location, OperandLocation::Plane(of) if written.clone().any(|s| s == of));
        let by_scratch = from.locations().any(overlap);
        let locations: Vec<OperandLocation> = from.locations().collect();
        if by_scratch {
            for (scratch, &location) in (0..).zip(&locations) {
                self.copy(OperandLocation::Scratch(scratch), location);
            }
        }
        self.prepare_writes(written.clone());
        for (register, (scratch, location)) in written.zip((0..).zip(locations)) {
            let from = if by_scratch {
                OperandLocation::Scratch(scratch)
            } else {
                location
            };
            self.copy(OperandLocation::Plane(register), from);
        }
    }

    /// A register aliases a location.
    pub(super) fn alias(&mut self, register: u32, location: OperandLocation, last_use: u32) {
        if location != OperandLocation::Plane(register) {
            self.evict_aliases(register);
        }
        self.set_location(register, location);
        self.last_uses[register as usize] = last_use;
    }
}
