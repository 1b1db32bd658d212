//! Places for values: registers while there are any, else slots of the frame.
//!
//! A value has one place for as long as it is wanted, so that code that is skipped or taken on a rare way finds everything where it was. When registers run
//! out, the one whose value is wanted longest goes to the frame. With `flight` vectors at once each node has a value for each of them.

use crate::compute::Store;
use crate::graph::{Code, Graph, Id};

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nobody wants it, or it is a constant in memory.
    Nowhere,
    Register(u8),
    /// A slot of the frame.
    Slot(u32),
}

/// The places of all values.
#[derive(Debug)]
pub(crate) struct Places {
    pub(crate) of: Vec<Place>,
    pub(crate) flight: usize,
    /// Slots of the frame.
    pub(crate) slots: u32,
    /// Registers that are used, a bit each.
    pub(crate) registers: u32,
}

impl Places {
    /// The place of a node's value in one of the vectors in flight.
    pub(crate) fn at(&self, id: Id, vector: usize) -> Place {
        self.of[id as usize * self.flight + vector]
    }

    /// Finds places for the nodes that are live, given so many registers. Stores stand in the order in which they are done.
    pub(crate) fn find(
        graph: &Graph,
        live: &[bool],
        stores: &[Store],
        flight: usize,
        registers: u8,
    ) -> Places {
        let last = last_uses(graph, live, stores);
        let mut finder = Finder {
            free: (0..registers).rev().collect(),
            free_slots: Vec::new(),
            held: vec![None; registers as usize],
            last: &last,
            is_gone: vec![false; graph.nodes.len()],
            places: Places {
                of: vec![Place::Nowhere; graph.nodes.len() * flight],
                flight,
                slots: 0,
                registers: 0,
            },
        };
        let mut stores = stores.iter().peekable();
        // Operands that nobody wants behind the node.
        let mut ends: Vec<Id> = Vec::new();
        for (id, &node) in (0..).zip(&graph.nodes) {
            if live[id as usize] {
                ends.clear();
                graph.each_operand(node, |operand| {
                    if last[operand as usize] == id && !finder.is_gone[operand as usize] {
                        finder.is_gone[operand as usize] = true;
                        ends.push(operand);
                    }
                });
                // A result that is written before all operands were read stands apart from them.
                let apart = matches!(node.code, Code::Rare);
                for vector in 0..flight {
                    if !apart {
                        ends.iter().for_each(|&end| finder.free(end, vector, id));
                    }
                    if !node.code.is_fixed() {
                        finder.place(id, vector);
                    }
                    if apart {
                        ends.iter().for_each(|&end| finder.free(end, vector, id));
                    }
                }
            }
            while let Some(store) = stores.next_if(|store| store.behind == id) {
                let is_gone = &mut finder.is_gone[store.value as usize];
                if last[store.value as usize] == id && !std::mem::replace(is_gone, true) {
                    (0..flight).for_each(|vector| finder.free(store.value, vector, id));
                }
            }
        }
        finder.places
    }
}

/// For each node the last one that wants it, or behind which it is stored.
fn last_uses(graph: &Graph, live: &[bool], stores: &[Store]) -> Vec<Id> {
    let mut last: Vec<Id> = (0..graph.nodes.len() as Id).collect();
    for (id, &node) in graph.nodes.iter().enumerate() {
        if live[id] {
            graph.each_operand(node, |operand| last[operand as usize] = id as Id);
        }
    }
    for store in stores {
        let last = &mut last[store.value as usize];
        *last = (*last).max(store.behind);
    }
    last
}

struct Finder<'g> {
    free: Vec<u8>,
    /// Slots that are free, each with the node behind which it is.
    free_slots: Vec<(u32, Id)>,
    /// What each register holds: an index among the places.
    held: Vec<Option<usize>>,
    last: &'g [Id],
    /// Whether nobody wants a node any more.
    is_gone: Vec<bool>,
    places: Places,
}

impl Finder<'_> {
    fn id(&self, value: usize) -> usize {
        value / self.places.flight
    }

    fn place(&mut self, id: Id, vector: usize) {
        let value = id as usize * self.places.flight + vector;
        let register = match self.free.pop() {
            Some(register) => register,
            None => {
                let held = |register: usize| self.held[register].expect("no register is free");
                let wanted = |register: &usize| self.last[self.id(held(*register))];
                let longest = (0..self.held.len()).max_by_key(wanted);
                let register = longest.expect("there are registers");
                let evicted = held(register);
                if self.last[self.id(evicted)] <= self.last[id as usize] {
                    self.places.of[value] = self.slot(id);
                    return;
                }
                // It is in the frame from the beginning.
                let since = self.id(evicted) as Id;
                self.places.of[evicted] = self.slot(since);
                register as u8
            }
        };
        self.held[register as usize] = Some(value);
        self.places.registers |= 1 << register;
        self.places.of[value] = Place::Register(register);
    }

    /// A slot that was free at a node, and has been since.
    fn slot(&mut self, at: Id) -> Place {
        let free = self.free_slots.iter().position(|&(_, behind)| behind < at);
        Place::Slot(match free {
            Some(index) => self.free_slots.swap_remove(index).0,
            None => {
                self.places.slots += 1;
                self.places.slots - 1
            }
        })
    }

    fn free(&mut self, id: Id, vector: usize, behind: Id) {
        let value = id as usize * self.places.flight + vector;
        match self.places.of[value] {
            Place::Nowhere => {}
            Place::Register(register) => {
                self.held[register as usize] = None;
                self.free.push(register);
            }
            Place::Slot(slot) => self.free_slots.push((slot, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::To;

    /// Whether no two values that are wanted at once share a place.
    fn check(graph: &Graph, stores: &[Store], flight: usize, registers: u8) -> Places {
        let live = graph.live(stores.iter().map(|store| store.value));
        let places = Places::find(graph, &live, stores, flight, registers);
        let last = last_uses(graph, &live, stores);
        let values = || (0..graph.nodes.len()).flat_map(|id| (0..flight).map(move |v| (id, v)));
        for (id, vector) in values() {
            for (other, other_vector) in values() {
                let place = places.at(id as Id, vector);
                let meets = id < other && (last[id] as usize) > other
                    || id == other && vector != other_vector;
                if place != Place::Nowhere && meets {
                    assert_ne!(
                        place,
                        places.at(other as Id, other_vector),
                        "{id} and {other}"
                    );
                }
            }
        }
        places
    }

    /// A graph in which many values are wanted long.
    fn graph(width: u32) -> (Graph, Vec<Store>) {
        let mut graph = Graph::default();
        let mut values: Vec<Id> = (0..width)
            .map(|word| graph.push(Code::Plane, word, 0, 0))
            .collect();
        for round in 0..3 {
            for i in 0..values.len() {
                let other = values[(i * 7 + round) % values.len()];
                values[i] = graph.push(Code::Add, values[i], other, 0);
            }
        }
        let stores = (0..width).zip(&values).map(|(word, &value)| Store {
            behind: value,
            to: To::Word(word),
            value,
        });
        let mut stores: Vec<Store> = stores.collect();
        stores.sort_by_key(|store| store.behind);
        (graph, stores)
    }

    #[test]
    fn values_that_are_wanted_at_once_have_places_of_their_own() {
        for width in [1, 2, 5, 13, 40] {
            let (graph, stores) = graph(width);
            for flight in [1, 2, 4] {
                for registers in [1, 3, 14] {
                    let places = check(&graph, &stores, flight, registers);
                    let many = width as usize * flight;
                    assert!(places.slots == 0 || many > registers as usize / 2);
                    assert!(places.slots as usize <= 2 * many, "slots are used again");
                }
            }
        }
    }
}
