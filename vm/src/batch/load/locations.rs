//! Where the words of slots are: at home, or elsewhere until their block ends.

use super::super::instruction::OperandLocation;
use super::{Loader, Triple, ends_basic_block, slots};
use crate::basic_blocks::LIVE_OUT;
use crate::bytecode::Register;
use adumbra_ir::types::{Direction, Lanes};

impl Loader<'_> {
    /// Where the word of a slot or a constant is.
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

    pub(super) fn dual_location(&mut self, word: u32, lanes: Lanes) -> Triple {
        let value = self.location(word);
        let shadow = |(direction, offset)| lanes.has(direction).then(|| word + offset);
        let [x, y] = [(Direction::X, 1), (Direction::Y, 2)].map(shadow);
        Triple {
            value,
            shadows: [x, y].map(|slot| slot.map(|slot| self.map[slot as usize])),
        }
    }

    /// The place of a word among the globals.
    pub(super) fn global_location(&mut self, word: u32, is_cell: bool) -> OperandLocation {
        let hosts = &mut self.out.globals;
        let host = *self.hosts.entry(word).or_insert_with(|| {
            hosts.push(word);
            hosts.len() as u32 - 1
        });
        match is_cell {
            true => OperandLocation::UniformGlobal(host),
            false => OperandLocation::Global(host),
        }
    }

    pub(super) fn new_uniform(&mut self) -> OperandLocation {
        // In a stretch cells are computed before all rows, so each has its own.
        let free = if self.native {
            None
        } else {
            self.free_cells.pop()
        };
        let cell = free.unwrap_or_else(|| {
            self.cells.push(0);
            self.cells.len() as u32 - 1
        });
        OperandLocation::Uniform(cell)
    }

    /// From now on a slot's word is there.
    pub(super) fn set_location(&mut self, slot: u32, place: OperandLocation) {
        let old = std::mem::replace(&mut self.map[slot as usize], place);
        match place {
            OperandLocation::Uniform(cell) => self.cells[cell as usize] += 1,
            OperandLocation::Plane(of) if of != slot => self.held[of as usize] += 1,
            _ => {}
        }
        match old {
            OperandLocation::Uniform(cell) => {
                self.cells[cell as usize] -= 1;
                if self.cells[cell as usize] == 0 {
                    self.free_cells.push(cell);
                }
            }
            OperandLocation::Plane(of) if of != slot => self.held[of as usize] -= 1,
            _ => {}
        }
        let is_home = place == self.homes[slot as usize];
        if !is_home && !std::mem::replace(&mut self.is_moved[slot as usize], true) {
            self.moved.push(slot);
        }
    }

    /// Before a slot's plane is written: those that have their words there get them into their own.
    pub(super) fn evict_aliases(&mut self, slot: u32) {
        if self.held[slot as usize] == 0 {
            return;
        }
        for i in 0..self.moved.len() {
            let guest = self.moved[i];
            if guest != slot && self.map[guest as usize] == OperandLocation::Plane(slot) {
                if self.deaths[guest as usize] > self.position {
                    self.copy(OperandLocation::Plane(guest), OperandLocation::Plane(slot));
                }
                self.set_location(guest, self.homes[guest as usize]);
            }
        }
    }

    /// The planes that an instruction writes, which nobody else has words in any more.
    pub(super) fn prepare_writes(&mut self, written: impl IntoIterator<Item = u32>) {
        for slot in written {
            self.evict_aliases(slot);
            self.set_location(slot, OperandLocation::Plane(slot));
        }
    }

    /// Words that are read behind the block go home.
    pub(super) fn flush_live(&mut self) {
        for i in 0..self.moved.len() {
            let slot = self.moved[i];
            let place = self.map[slot as usize];
            if place != self.homes[slot as usize] && self.deaths[slot as usize] == LIVE_OUT {
                self.copy(OperandLocation::Plane(slot), place);
                self.set_location(slot, self.homes[slot as usize]);
            }
        }
    }

    /// Forgets what is not at home.
    pub(super) fn end_block(&mut self) {
        self.candidates.clear();
        // What control falls through to begins another block.
        let last = self.program.code[self.position as usize].opcode;
        if !ends_basic_block(last) {
            self.flush_live();
        }
        while let Some(slot) = self.moved.pop() {
            self.is_moved[slot as usize] = false;
            self.set_location(slot, self.homes[slot as usize]);
        }
    }

    /// Whether slots can have their words at these places, which are read now, after the slots were written.
    pub(super) fn can_alias(&self, to: u32, lanes: Lanes, from: Triple) -> bool {
        let mut pairs = slots(to, lanes).zip(from.places());
        pairs.all(|(slot, place)| {
            let is_free = match place {
                OperandLocation::Plane(of) => {
                    of == slot
                        || !self.in_array[of as usize]
                            && self.map[of as usize] == place
                            && !slots(to, lanes).any(|written| written == of)
                }
                _ => true,
            };
            is_free && !self.in_array[slot as usize]
        })
    }

    /// Slots get their words from these places, if it can be without copying them. A value with shadows is wanted in planes.
    pub(super) fn alias_or_copy(&mut self, to: u32, lanes: Lanes, from: Triple, deaths: &[u32]) {
        let in_planes = lanes.is_none() || !from.value.is_uniform();
        if in_planes && self.can_alias(to, lanes, from) {
            for ((slot, place), &death) in slots(to, lanes).zip(from.places()).zip(deaths) {
                self.alias(slot, place, death);
            }
            return;
        }
        // All is read before anything is written.
        let written = slots(to, lanes);
        let overlap =
            |place| matches!(place, OperandLocation::Plane(of) if written.clone().any(|s| s == of));
        let by_scratch = from.places().any(overlap);
        let places: Vec<OperandLocation> = from.places().collect();
        if by_scratch {
            for (scratch, &place) in (0..).zip(&places) {
                self.copy(OperandLocation::Scratch(scratch), place);
            }
        }
        self.prepare_writes(written.clone());
        for (slot, (scratch, place)) in written.zip((0..).zip(places)) {
            let from = if by_scratch {
                OperandLocation::Scratch(scratch)
            } else {
                place
            };
            self.copy(OperandLocation::Plane(slot), from);
        }
    }

    /// A slot's word is at a place where it can stay.
    pub(super) fn alias(&mut self, slot: u32, place: OperandLocation, death: u32) {
        if place != OperandLocation::Plane(slot) {
            self.evict_aliases(slot);
        }
        self.set_location(slot, place);
        self.deaths[slot as usize] = death;
    }
}
