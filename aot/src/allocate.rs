//! Places for values: registers while there are any, else slots of the frame.
//!
//! A value has one place for as long as it is wanted, so that code that is skipped or taken on a rare way finds everything where it was. When registers run
//! out, the one whose value is wanted longest goes to the frame, or stays in the plane that it came from. With `flight` vectors at once each node has a value for each of them.
//!
//! More vectors than registers serve are in flight in groups: a piece of the graph is computed for one group after the other, in the same registers. What a later piece wants is in the
//! frame, each group's in slots of its own.

use crate::compute::{Store, To};
use crate::graph::{Code, Graph, Id};
use std::cmp::Reverse;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nobody wants it, or it is a constant in memory.
    Nowhere,
    Register(u8),
    /// A slot of the frame. Who has more of them than fit here has a frame that is refused.
    Slot(u16),
    /// The plane that it would be loaded from, which nobody writes before it is wanted last.
    Plane,
    /// It is a constant, and stands in a register that nothing else has.
    Kept(u8),
}

/// Nodes of a piece at most. Two groups of two vectors are as many instructions as processors look ahead at (448 on Zen 5), so that one group's chains are computed while another's wait.
const PIECE: usize = 96;

/// Vectors at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    /// Those of a group, for all of which a node is computed before the next one.
    pub(crate) vectors: usize,
    pub(crate) groups: usize,
}

impl Flight {
    /// All in one group.
    pub(crate) fn one_group(vectors: usize) -> Flight {
        Flight { vectors, groups: 1 }
    }

    pub(crate) fn all(self) -> usize {
        self.vectors * self.groups
    }
}

/// The places of all values.
#[derive(Debug, Default)]
pub(crate) struct Places {
    of: Vec<Place>,
    /// Vectors of a group.
    pub(crate) flight: usize,
    /// Where each piece ends.
    pub(crate) pieces: Vec<Id>,
    /// Slots of the frame that each group has.
    pub(crate) slots: u32,
    /// Registers that are used, a bit each.
    pub(crate) registers: u32,
    /// Constants that stand in registers, to be loaded first: the bits, and the register.
    pub(crate) kept: Vec<(u32, u8)>,
}

impl Places {
    /// The place of a node's value in one of the vectors in flight, group by group.
    pub(crate) fn at(&self, id: Id, vector: usize) -> Place {
        let (mut own, mut slots) = (vector, 0);
        while own >= self.flight {
            (own, slots) = (own - self.flight, slots + self.slots as u16);
        }
        match self.of[id as usize * self.flight + own] {
            Place::Slot(slot) => Place::Slot(slot + slots),
            place => place,
        }
    }

    /// Whether a node is computed: somebody wants it, and it is no constant.
    pub(crate) fn has(&self, id: Id) -> bool {
        !matches!(self.at(id, 0), Place::Nowhere | Place::Kept(_))
    }
}

/// When a node is wanted last that nobody wants, or nobody any more.
const NEVER: Id = Id::MAX;

/// Until when nodes are wanted. Only what is wanted itself wants others.
#[derive(Debug, Default)]
struct Uses {
    /// For each node the last one that wants it, or behind which it is stored.
    last: Vec<Id>,
    /// How often nodes want each.
    counts: Vec<u32>,
    /// Nodes that nobody wants behind one that reads them, and that are not stored there: those that the last node reads first.
    read: Vec<Id>,
    /// Where those that each node reads begin; they end where those of the wanted node before it begin.
    starts: Vec<usize>,
}

impl Uses {
    /// Finds those of a graph's nodes.
    fn find(&mut self, graph: &Graph, mut stores: &[Store]) {
        let Uses {
            last,
            counts,
            read,
            starts,
        } = self;
        last.clear();
        last.resize(graph.nodes.len(), NEVER);
        counts.clear();
        counts.resize(graph.nodes.len(), 0);
        // Nobody foresees which use is the last one, so no branch is taken for it: what is read is written down in any case, and stays if it is.
        read.resize(graph.nodes.len() + 1, NEVER);
        starts.resize(graph.nodes.len(), 0);
        let mut count = 0;
        // Backwards, so that the first use that is met is the last one.
        for (id, &node) in (0..last.len() as Id).zip(&graph.nodes).rev() {
            while let [before @ .., store] = stores
                && store.behind == id
            {
                meet(last, store.value, id);
                stores = before;
            }
            if last[id as usize] != NEVER {
                starts[id as usize] = count;
                graph.each_operand(node, |operand| {
                    read[count] = operand;
                    let is_last = meet(last, operand, id);
                    counts[operand as usize] += 1;
                    count += usize::from(is_last);
                });
            }
        }
        read.truncate(count);
    }

    /// Whether nobody wants a value behind this node, behind which it is stored. It is said once.
    fn ends(&mut self, value: Id, at: Id) -> bool {
        let last = &mut self.last[value as usize];
        let ends = *last == at;
        if ends {
            *last = NEVER;
        }
        ends
    }
}

/// A node is wanted there; says whether nobody wants it later.
fn meet(last: &mut [Id], node: Id, at: Id) -> bool {
    let last = &mut last[node as usize];
    let is_last = *last == NEVER;
    *last = if is_last { at } else { *last };
    is_last
}

/// Finds places, of one graph after the other in the same memory.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    reads_planes: bool,
    /// Vectors of a group.
    flight: usize,
    groups: usize,
    registers: u8,
    /// Where the piece at hand ends.
    piece_end: Id,
    uses: Uses,
    free: Vec<u8>,
    /// Slots that are free, each with the node behind which it is.
    free_slots: Vec<(u16, Id)>,
    /// What each register holds, an index among the places; or held before it was free.
    held: Vec<usize>,
    /// When that is wanted last.
    until: Vec<Id>,
    /// Constants that are wanted more than once, each with how often for one vector.
    constants: Vec<(Reverse<u32>, Id)>,
    places: Places,
}

impl Finder {
    /// For these vectors, and so many registers; says whether values may stay in planes.
    pub(crate) fn new(flight: Flight, registers: u8, reads_planes: bool) -> Finder {
        Finder {
            reads_planes,
            flight: flight.vectors,
            groups: flight.groups,
            registers,
            held: vec![0; registers as usize],
            until: vec![0; registers as usize],
            ..Finder::default()
        }
    }

    /// Finds places for the nodes that somebody wants. Stores stand in the order in which they are done.
    pub(crate) fn places(&mut self, graph: &Graph, all: &[Store]) -> Places {
        let mut stores = all;
        self.uses.find(graph, stores);
        self.free.clear();
        self.free.extend((0..self.registers).rev());
        self.free_slots.clear();
        self.constants.clear();
        self.places.of = vec![Place::Nowhere; graph.nodes.len() * self.flight];
        self.places.flight = self.flight;
        let pieces = self.pieces(graph);
        let mut ends = pieces.iter().copied();
        self.piece_end = 0;
        self.places.pieces.clone_from(&pieces);
        let mut end = self.uses.read.len();
        for (id, &node) in (0..).zip(&graph.nodes) {
            if id == self.piece_end {
                self.piece_end = ends.next().expect("pieces reach to the end");
            }
            let is_wanted = self.uses.last[id as usize] != NEVER;
            if is_wanted && !node.code.is_fixed() {
                let start = self.uses.starts[id as usize];
                // A result that is written before all operands were read stands apart from them, but from the usual one, which it is already.
                let is_apart = node.code == Code::Rare;
                let is_early = |operand: Id| {
                    let given = || graph.inputs(&graph.detours[node.c as usize]);
                    is_apart && operand == node.b && node.b != node.a && !given().contains(&operand)
                };
                for vector in 0..self.flight {
                    for at in start..end {
                        let operand = self.uses.read[at];
                        if !is_apart || is_early(operand) {
                            self.free(operand, vector, id);
                        }
                    }
                    self.place(id, vector, graph, all);
                    for at in start..end {
                        let operand = self.uses.read[at];
                        if is_apart && !is_early(operand) {
                            self.free(operand, vector, id);
                        }
                    }
                }
                end = start;
            } else if node.code == Code::Const {
                let count = self.uses.counts[id as usize];
                if count as usize * self.flight > 1 {
                    self.constants.push((Reverse(count), id));
                }
            }
            while let [store, later @ ..] = stores
                && store.behind == id
            {
                if self.uses.ends(store.value, id) {
                    (0..self.flight).for_each(|vector| self.free(store.value, vector, id));
                }
                stores = later;
            }
        }
        std::mem::take(&mut self.places)
    }

    /// Where pieces of about the same length end: of a single group, all is one.
    fn pieces(&self, graph: &Graph) -> Vec<Id> {
        let end = graph.nodes.len() as Id;
        if self.groups == 1 {
            return vec![end];
        }
        let is_computed =
            |id: Id| self.uses.last[id as usize] != NEVER && !graph.node(id).code.is_fixed();
        let count = (0..end).filter(|&id| is_computed(id)).count();
        let length = count.div_ceil(count.div_ceil(PIECE).max(1)).max(1);
        let mut pieces = Vec::new();
        let mut so_far = 0;
        for id in 0..end {
            so_far += usize::from(is_computed(id));
            if so_far == length {
                pieces.push(id + 1);
                so_far = 0;
            }
        }
        if pieces.last() != Some(&end) {
            pieces.push(end);
        }
        pieces
    }

    /// The same, with constants in registers that nothing else needs, those that are wanted most: for code that is run many times behind where they are loaded. A processor of
    /// today computes four vectors a cycle from registers, and two if it has to load an operand of each.
    pub(crate) fn places_of_loop(&mut self, graph: &Graph, all: &[Store]) -> Places {
        let mut places = self.places(graph, all);
        let free = (0..self.registers).filter(|register| places.registers >> register & 1 == 0);
        let room = free.clone().count();
        if self.constants.len() > room {
            self.constants.select_nth_unstable(room);
        }
        for (&(_, id), register) in self.constants.iter().zip(free) {
            places.kept.push((graph.node(id).a, register));
            let of = id as usize * self.flight;
            places.of[of..of + self.flight].fill(Place::Kept(register));
        }
        places
    }

    fn place(&mut self, id: Id, vector: usize, graph: &Graph, stores: &[Store]) {
        let (value, last) = (
            id as usize * self.flight + vector,
            self.uses.last[id as usize],
        );
        // An instruction that reads its operand in a plane is as good as two.
        if self.uses.counts[id as usize] < 2 && self.stays(id, last, graph, stores) {
            self.places.of[value] = Place::Plane;
            return;
        }
        if last >= self.piece_end {
            // Other groups have the registers in between.
            self.places.of[value] = self.elsewhere(id, last, graph, stores);
            return;
        }
        let register = match self.free.pop() {
            Some(register) => register as usize,
            None => {
                let wanted_longest = (0..self.until.len()).max_by_key(|&r| self.until[r]);
                let register = wanted_longest.expect("there are registers");
                if self.until[register] <= last {
                    self.places.of[value] = self.elsewhere(id, last, graph, stores);
                    return;
                }
                // It is there from the beginning.
                let evicted = self.held[register];
                let id = (evicted / self.flight) as Id;
                self.places.of[evicted] = self.elsewhere(id, self.until[register], graph, stores);
                register
            }
        };
        self.held[register] = value;
        self.until[register] = last;
        self.places.registers |= 1 << register;
        self.places.of[value] = Place::Register(register as u8);
    }

    /// A place for a node that is in no register, and wanted until then.
    fn elsewhere(&mut self, id: Id, last: Id, graph: &Graph, stores: &[Store]) -> Place {
        match self.stays(id, last, graph, stores) {
            true => Place::Plane,
            false => self.slot(id),
        }
    }

    /// Whether a node that is wanted until then can be read in a plane.
    fn stays(&self, id: Id, last: Id, graph: &Graph, stores: &[Store]) -> bool {
        let node = graph.node(id);
        let is_left = || {
            let write = stores.iter().find(|store| store.to == To::Word(node.a));
            // What is stored behind a node may be written in front of it.
            let is_stored = stores.iter().any(|store| store.value == id);
            !is_stored && write.is_none_or(|write| last <= write.behind)
        };
        self.reads_planes && node.code == Code::Plane && is_left()
    }

    /// A slot that was free at a node, and has been since.
    fn slot(&mut self, at: Id) -> Place {
        let free = self.free_slots.iter().position(|&(_, behind)| behind < at);
        Place::Slot(match free {
            Some(index) => self.free_slots.swap_remove(index).0,
            None => {
                self.places.slots += 1;
                (self.places.slots - 1) as u16
            }
        })
    }

    fn free(&mut self, id: Id, vector: usize, behind: Id) {
        match self.places.of[id as usize * self.flight + vector] {
            Place::Nowhere | Place::Plane | Place::Kept(_) => {}
            Place::Register(register) => self.free.push(register),
            Place::Slot(slot) => self.free_slots.push((slot, behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether no two values that are wanted at once share a place, of a single group.
    fn check(graph: &Graph, stores: &[Store], flight: usize, registers: u8) -> Places {
        check_groups(graph, stores, Flight::one_group(flight), registers)
    }

    /// The same of each group, and none has a register for what a later piece wants, nor another one's slots.
    fn check_groups(graph: &Graph, stores: &[Store], flight: Flight, registers: u8) -> Places {
        let places = Finder::new(flight, registers, true).places(graph, stores);
        let Flight {
            vectors: flight,
            groups,
        } = flight;
        let mut uses = Uses::default();
        uses.find(graph, stores);
        let last = uses.last;
        assert_eq!(places.pieces.last(), Some(&(graph.nodes.len() as Id)));
        for (id, vector) in (0..last.len()).flat_map(|id| (0..flight).map(move |v| (id, v))) {
            let behind = places.pieces.partition_point(|&end| end as usize <= id);
            for group in 0..groups {
                match places.at(id as Id, group * flight + vector) {
                    Place::Register(_) => assert!(last[id] < places.pieces[behind], "{id}"),
                    Place::Slot(slot) => assert_eq!(u32::from(slot) / places.slots, group as u32),
                    place => assert_eq!(place, places.at(id as Id, vector)),
                }
            }
        }
        let values = || (0..graph.nodes.len()).flat_map(|id| (0..flight).map(move |v| (id, v)));
        for (id, vector) in values() {
            for (other, other_vector) in values() {
                let place = places.at(id as Id, vector);
                // What is stored behind a node outlives it.
                let is_stored =
                    |store: &Store| (store.value as usize, store.behind as usize) == (id, other);
                let is_wanted = last[id] != NEVER && (last[id] as usize) > other;
                let meets = id < other && (is_wanted || stores.iter().any(is_stored))
                    || id == other && vector != other_vector;
                let node = graph.node(id as Id);
                if place == Place::Plane {
                    assert_eq!(node.code, Code::Plane);
                    let is_other = |store: &Store| {
                        let writes = store.to == To::Word(node.a) && store.behind < last[id];
                        !writes && store.value as usize != id
                    };
                    assert!(stores.iter().all(is_other), "{id} is written too early");
                } else if place != Place::Nowhere && meets {
                    assert_ne!(
                        place,
                        places.at(other as Id, other_vector),
                        "{id} and {other}"
                    );
                }
            }
        }
        // A vector of what may need a rare way is written while all that the way is given, and all of later vectors, may still be read.
        for (id, &node) in (0..).zip(&graph.nodes) {
            if last[id as usize] == NEVER || node.code != Code::Rare {
                continue;
            }
            graph.each_operand(node, |operand| {
                for (to, from) in
                    (0..flight).flat_map(|to| (to..flight).map(move |from| (to, from)))
                {
                    let place = places.at(operand, from);
                    let is_nowhere = matches!(place, Place::Nowhere | Place::Plane);
                    let detour = &graph.detours[node.c as usize];
                    let is_given = operand == node.a || graph.inputs(detour).contains(&operand);
                    let is_usual = operand == node.b && to == from && !is_given;
                    let is_apart = is_nowhere || is_usual || place != places.at(id, to);
                    assert!(is_apart, "{operand} and {id}");
                }
            });
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

    /// Words that change places, each stored behind where the other was read, among values that need rare ways.
    fn rare(width: u32) -> (Graph, Vec<Store>) {
        let mut graph = Graph::default();
        let planes: Vec<Id> = (0..width)
            .map(|word| graph.push(Code::Plane, word, 0, 0))
            .collect();
        let mut last = planes[0];
        for (i, &plane) in planes.iter().enumerate() {
            let mask = graph.push(Code::Lt, last, plane, 0);
            let usual = graph.push(Code::Sqrt, plane, 0, 0);
            let inputs = [plane, last, planes[(i * 5 + 1) % planes.len()]];
            last = graph.detour(mask, usual, 0, inputs.into_iter());
        }
        let swapped = planes
            .iter()
            .rev()
            .zip(0..width)
            .map(|(&value, word)| Store {
                behind: value.max(planes[word as usize]),
                to: To::Word(word),
                value,
            });
        let end = Store {
            behind: last,
            to: To::Word(width),
            value: last,
        };
        let mut stores: Vec<Store> = swapped.chain([end]).collect();
        stores.sort_by_key(|store| store.behind);
        (graph, stores)
    }

    #[test]
    fn results_of_rare_ways_stand_apart_from_what_these_are_given() {
        for width in [1, 2, 5, 13, 40] {
            let (graph, stores) = rare(width);
            for flight in [1, 2, 4] {
                for registers in [1, 3, 14] {
                    check(&graph, &stores, flight, registers);
                }
            }
        }
    }

    #[test]
    fn values_that_are_wanted_at_once_have_places_of_their_own() {
        let mut in_planes = 0;
        for width in [1, 2, 5, 13, 40] {
            let (graph, stores) = graph(width);
            for flight in [1, 2, 4] {
                for registers in [1, 3, 14] {
                    let places = check(&graph, &stores, flight, registers);
                    in_planes += places.of.iter().filter(|&&p| p == Place::Plane).count();
                    let many = width as usize * flight;
                    assert!(places.slots == 0 || many > registers as usize / 2);
                    assert!(places.slots as usize <= 2 * many, "slots are used again");
                    // All at the end, behind what reads some of them.
                    let mut late = stores.clone();
                    let end = graph.nodes.len() as Id - 1;
                    late.iter_mut().for_each(|store| store.behind = end);
                    check(&graph, &late, flight, registers);
                }
            }
        }
        assert!(in_planes > 0, "some stay where they are");
    }

    #[test]
    fn groups_share_registers_within_a_piece_alone() {
        let mut in_registers = 0;
        for width in [1, 5, 40, 200] {
            for (graph, stores) in [graph(width), rare(width)] {
                let flight = Flight {
                    vectors: 2,
                    groups: 2,
                };
                let places = check_groups(&graph, &stores, flight, 14);
                let starts = [0].into_iter().chain(places.pieces.iter().copied());
                for (start, &end) in starts.zip(&places.pieces) {
                    let computed = (start..end).filter(|&id| places.has(id)).count();
                    assert!((1..=PIECE).contains(&computed), "{computed} nodes");
                }
                let whole = graph.nodes.len() <= PIECE;
                assert_eq!(places.pieces.len() == 1, whole, "{width}");
                let is_register = |place: &&Place| matches!(place, Place::Register(_));
                in_registers += places.of.iter().filter(is_register).count();
            }
        }
        assert!(in_registers > 1000, "{in_registers}");
    }

    #[test]
    fn constants_that_are_wanted_most_stand_in_registers_that_nothing_else_needs() {
        const WIDTH: u32 = 4;
        // Constant k is wanted k + 1 times, and one once.
        let mut graph = Graph::default();
        let mut sum = graph.push(Code::Plane, 0, 0, 0);
        for k in 1..=WIDTH {
            let constant = graph.constant(k);
            for _ in 0..=k {
                sum = graph.push(Code::Add, sum, constant, 0);
            }
        }
        let once = graph.constant(99);
        sum = graph.push(Code::Add, sum, once, 0);
        let store = Store {
            behind: sum,
            to: To::Word(1),
            value: sum,
        };
        for flight in [1, 2] {
            for registers in 1..10 {
                let places = Finder::new(Flight::one_group(flight), registers, true)
                    .places_of_loop(&graph, &[store]);
                let others = u32::from(registers).min(flight as u32);
                let room = u32::from(registers) - others;
                let mut kept = places.kept.clone();
                kept.sort_unstable();
                let bits: Vec<u32> = kept.iter().map(|&(bits, _)| bits).collect();
                let mut most: Vec<u32> = (WIDTH.saturating_sub(room) + 1..=WIDTH).collect();
                if flight > 1 && room > WIDTH {
                    most.push(99);
                }
                assert_eq!(bits, most, "{registers} registers, {flight} vectors");
                for (bits, register) in kept {
                    assert_eq!(places.registers >> register & 1, 0, "{register} is free");
                    let id = (graph.nodes.iter())
                        .position(|node| node.code == Code::Const && node.a == bits)
                        .expect("it is there");
                    for vector in 0..flight {
                        assert_eq!(places.at(id as Id, vector), Place::Kept(register));
                    }
                }
            }
        }
    }

    #[test]
    fn values_stay_in_planes_that_nobody_writes_first() {
        const WIDTH: u32 = 12;
        // Each plane is wanted at the end; some are written before, some are stored elsewhere.
        let mut graph = Graph::default();
        let planes: Vec<Id> = (0..WIDTH)
            .map(|word| graph.push(Code::Plane, word, 0, 0))
            .collect();
        let mut stores = Vec::new();
        let mut store = |behind, word, value| {
            stores.push(Store {
                behind,
                to: To::Word(word),
                value,
            });
        };
        let early = graph.push(Code::Sqrt, planes[0], 0, 0);
        for word in (0..WIDTH).step_by(3) {
            store(early, word, early);
        }
        let sums = planes.iter().fold(vec![early], |mut sums, &plane| {
            sums.push(graph.push(Code::Add, sums[sums.len() - 1], plane, 0));
            sums
        });
        let end = sums[WIDTH as usize];
        for word in (1..WIDTH).step_by(3) {
            store(end, WIDTH + word, planes[word as usize]);
        }
        store(end, 2 * WIDTH, end);
        let places = check(&graph, &stores, 1, 2);
        // The first ones are in registers.
        for (word, &plane) in (0..WIDTH).zip(&planes).skip(3) {
            let stays = places.at(plane, 0) == Place::Plane;
            assert_eq!(stays, word % 3 == 2, "{word}");
        }
    }
}
