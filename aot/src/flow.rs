//! Flows as trees: a piece that control comes to from one other alone, forward, is one graph with it, so that values stay in registers from one to the other. Each
//! tree begins with all words in the register file, and puts there what it changed where control leaves it.
//!
//! Nodes of one arm of a branch are not to be found from the other: pieces stand depth first, and with each arm everything is again as it was before the branch.

use crate::carry::carry;
use crate::choice::branch;
use crate::compute::{Accesses, Computation, Store, To, Writer, words};
use crate::graph::{Code, Id, ONES};
use crate::optimisation::{Optimisation, Optimisations};
use crate::pair::Half;
use crate::superword::pack;
use crate::template::Templates;
use adumbra_vm::native::{Branch, Flow, Home, Piece, Then, Way};

/// Nodes from which on a tree ends. Finding places takes time by the values that wait, and only few are worth to be kept from one end of a tree to the other. What is alike is found
/// within a tree: octaves of noise are some hundred nodes each.
const TREE: usize = 2048;

/// Steps that are taken at once, at most: machines have them in their instructions.
const MAX_STEPS: u32 = 64;
// Twelve bits in those of aarch64.
const _: () = assert!(MAX_STEPS < 1 << 12);

/// Pieces, or the rest of one, as one graph.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Where it begins.
    pub(crate) at: u32,
    /// What is computed. What is wanted at a turn counts as stored there.
    pub(crate) computation: Computation,
    /// What happens between nodes, in order.
    pub(crate) events: Vec<Event>,
    /// How many of its first nodes compute what it carries from turn to turn: [`Goal::Again`] is behind them.
    pub(crate) first: u32,
}

/// Something that happens behind a node.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) behind: Id,
    pub(crate) turn: Turn,
    /// The instruction of the bytecode that it is for.
    pub(crate) position: u32,
}

/// Something that control does.
#[derive(Debug)]
pub(crate) enum Turn {
    /// It comes to this place, from a branch.
    Come(u32),
    /// It leaves if a mask is as said, else goes on.
    Branch {
        mask: Id,
        is_set: bool,
        leave: Leave,
    },
    /// It takes so many steps, or leaves if not all of them are left.
    Step { steps: u32, leave: Leave },
    /// It leaves.
    Go(Leave),
}

impl Turn {
    /// How control leaves, if it may.
    pub(crate) fn leave(&mut self) -> Option<&mut Leave> {
        match self {
            Turn::Come(_) => None,
            Turn::Branch { leave, .. } | Turn::Step { leave, .. } | Turn::Go(leave) => Some(leave),
        }
    }
}

/// How control leaves where it is.
#[derive(Debug)]
pub(crate) struct Leave {
    pub(crate) stores: Vec<Put>,
    /// Behind that: nodes of the tree, and what is put in their places, all at once.
    pub(crate) carried: Vec<(Id, Id)>,
    pub(crate) to: Goal,
}

impl Leave {
    /// Nothing is done before.
    pub(crate) fn to(to: Goal) -> Leave {
        Leave {
            stores: Vec::new(),
            carried: Vec::new(),
            to,
        }
    }
}

/// What is put into a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Put {
    pub(crate) slot: u32,
    pub(crate) value: Id,
    pub(crate) half: Half,
}

/// Where control goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// To a place: a piece, or, behind their number, the rest of one.
    Place(u32),
    /// To another turn of the tree that it leaves.
    Again,
    /// Out of the flow.
    Exit(u32),
}

/// The trees of a flow, those of its entries in their order, and how many places they have.
pub(crate) fn trees(
    optimisations: Optimisations,
    flow: &Flow,
    templates: &mut Templates,
) -> (Vec<Tree>, u32) {
    let mut grower = Grower::new(optimisations, flow);
    let mut trees = Vec::new();
    while let Some(root) = grower.waiting.pop() {
        trees.push(grower.tree(root, templates));
    }
    (trees, grower.places)
}

/// Where a tree begins: a piece from a row on.
#[derive(Clone, Copy)]
struct Root {
    at: u32,
    piece: u32,
    row: usize,
}

/// A piece of the tree that is yet to be written, and how things were before it.
struct Arm {
    root: Root,
    /// Whether a branch leads to it; else control comes from what is written before.
    is_target: bool,
    nodes: usize,
    touched: usize,
    changes: usize,
}

/// Grows trees.
struct Grower<'f> {
    optimisations: Optimisations,
    flow: &'f Flow,
    writer: Writer<'f>,
    /// Whether a tree begins with each piece.
    is_root: Vec<bool>,
    /// Trees that are yet to be grown.
    waiting: Vec<Root>,
    /// Whether each piece's tree is among them, or done.
    is_known: Vec<bool>,
    places: u32,
    /// When the rows of the piece that was cut last access words.
    accesses: Option<(u32, Accesses)>,
    arms: Vec<Arm>,
    /// What words held before: now, and in the beginning.
    changes: Vec<(u32, [Option<Id>; 2])>,
    uses: Vec<Store>,
    events: Vec<Event>,
}

impl<'f> Grower<'f> {
    fn new(optimisations: Optimisations, flow: &'f Flow) -> Grower<'f> {
        let count = flow.pieces.len();
        let mut sources = vec![0_usize; count];
        let mut is_root = vec![false; count];
        for (number, piece) in flow.pieces.iter().enumerate() {
            for way in piece.then.ways() {
                if let Way::Block(to) = way {
                    sources[to as usize] += 1;
                    is_root[to as usize] |= to as usize <= number;
                }
            }
        }
        let joins = optimisations.has(Optimisation::ExtendedBlocks);
        for (is_root, sources) in is_root.iter_mut().zip(sources) {
            *is_root |= sources > 1 || !joins;
        }
        let mut grower = Grower {
            optimisations,
            flow,
            writer: Writer::in_pairs(optimisations, &flow.words),
            is_root,
            waiting: Vec::new(),
            is_known: vec![false; count],
            places: count as u32,
            accesses: None,
            arms: Vec::new(),
            changes: Vec::new(),
            uses: Vec::new(),
            events: Vec::new(),
        };
        // The last that is wanted is grown first.
        for entry in flow.entries.iter().rev() {
            grower.is_root[entry.piece as usize] = true;
            grower.want(entry.piece);
        }
        grower
    }

    /// A tree that begins with a piece will be grown.
    fn want(&mut self, piece: u32) {
        if !std::mem::replace(&mut self.is_known[piece as usize], true) {
            self.waiting.push(Root {
                at: piece,
                piece,
                row: 0,
            });
        }
    }

    fn tree(&mut self, root: Root, templates: &mut Templates) -> Tree {
        let Piece { position, .. } = self.flow.pieces[root.piece as usize];
        self.writer.begin(position);
        // There is always a node to be behind.
        self.writer.graph.constant(0);
        self.branch_off(root, false);
        while let Some(arm) = self.arms.pop() {
            self.go_back(&arm);
            if arm.is_target {
                self.turn(Turn::Come(arm.root.at));
            }
            self.arm(arm.root, templates);
        }
        let Computation { graph, lineage, .. } = self.writer.close(|_| false);
        self.changes.clear();
        let mut computation = Computation {
            graph,
            stores: std::mem::take(&mut self.uses),
            lineage,
        };
        let mut events = std::mem::take(&mut self.events);
        if self.optimisations.has(Optimisation::Superwords) {
            pack(&mut computation, &mut events);
        }
        if self.optimisations.has(Optimisation::SelectToBranch) {
            self.places = branch(&mut computation, &mut events, self.places);
        }
        let first = match self.optimisations.has(Optimisation::LoopCarriedValues) {
            true => carry(self.optimisations, &mut computation, &mut events, root.at),
            false => 0,
        };
        Tree {
            at: root.at,
            computation,
            events,
            first,
        }
    }

    /// A piece of this tree will be written, as things are now.
    fn branch_off(&mut self, root: Root, is_target: bool) {
        self.arms.push(Arm {
            root,
            is_target,
            nodes: self.writer.graph.len(),
            touched: self.writer.touched.len(),
            changes: self.changes.len(),
        });
    }

    fn go_back(&mut self, arm: &Arm) {
        for (word, [now, before]) in self.changes.drain(arm.changes..).rev() {
            self.writer.now[word as usize] = now;
            self.writer.before[word as usize] = before;
        }
        self.writer.touched.truncate(arm.touched);
        self.writer.graph.forget_from(arm.nodes);
    }

    fn is_full(&self) -> bool {
        self.writer.graph.len() >= TREE
    }

    /// Writes the rest of a piece, and where control goes from there.
    fn arm(&mut self, root: Root, templates: &mut Templates) {
        let Piece {
            rows,
            then,
            position,
        } = &self.flow.pieces[root.piece as usize];
        for (number, row) in rows.iter().enumerate().skip(root.row) {
            if self.is_full() && number > root.row {
                self.cut(root.piece, number);
                return;
            }
            let operands = row.operands[..row.what.arity()].iter();
            operands
                .flat_map(words)
                .chain(words(&row.result))
                .for_each(|word| self.note(word));
            self.writer.row(row, templates);
        }
        let piece = root.piece;
        self.writer.begin(*position);
        match then {
            Then::Go(way) => self.go(piece, *way),
            Then::Step { to, out } => {
                self.step(piece, *out);
                self.go(piece, *to);
            }
            Then::Branch(Branch {
                question,
                when,
                target,
                next,
            }) => {
                let count = question.test.map_or(1, |op| op.arity());
                for operand in &question.operands[..count] {
                    self.note(operand.value);
                }
                let is_false = self.writer.is_false(question, templates);
                let node = self.writer.graph.node(is_false);
                let ones = self.writer.graph.constant(ONES);
                // Control leaves where the answer is another one.
                let (mask, is_set) = match node.code {
                    Code::Xor if node.b == ones => (node.a, !when),
                    _ => (is_false, *when),
                };
                let child = self.child(*target);
                let leave = match child {
                    Some(child) => Leave::to(Goal::Place(child)),
                    None => self.leave_by(piece, *target),
                };
                self.uses.push(Store {
                    behind: self.behind(),
                    to: To::Test,
                    value: mask,
                });
                self.turn(Turn::Branch {
                    mask,
                    is_set,
                    leave,
                });
                if let Some(child) = child {
                    self.branch_off(self.whole(child), true);
                }
                self.go(piece, *next);
            }
        }
    }

    /// Control takes a step behind a piece. With one before it that nothing happens behind it is taken there: who has not both goes on outside from there.
    fn step(&mut self, piece: u32, out: u32) {
        if let Some(Event {
            turn: Turn::Step { steps, .. },
            ..
        }) = self.events.last_mut()
            && *steps < MAX_STEPS
            && self.optimisations.has(Optimisation::StepMerging)
        {
            *steps += 1;
            return;
        }
        let leave = self.leave(piece, Goal::Exit(out));
        self.turn(Turn::Step { steps: 1, leave });
    }

    fn whole(&self, piece: u32) -> Root {
        Root {
            at: piece,
            piece,
            row: 0,
        }
    }

    /// Before a word is accessed: what it holds may change.
    fn note(&mut self, word: u32) {
        let Writer { now, before, .. } = &self.writer;
        let held = [now[word as usize], before[word as usize]];
        self.changes.push((word, held));
    }

    /// The node that everything written so far is behind.
    fn behind(&self) -> Id {
        self.writer.graph.len() as Id - 1
    }

    fn turn(&mut self, turn: Turn) {
        self.events.push(Event {
            behind: self.behind(),
            turn,
            position: self.writer.position(),
        });
    }

    /// The piece that a way leads to, if it belongs to this tree.
    fn child(&mut self, way: Way) -> Option<u32> {
        let Way::Block(piece) = way else { return None };
        let is_root = &mut self.is_root[piece as usize];
        *is_root |= self.writer.graph.len() >= TREE;
        (!*is_root).then_some(piece)
    }

    /// Control goes a way: on, if what is there belongs to this tree.
    fn go(&mut self, piece: u32, way: Way) {
        match self.child(way) {
            Some(child) => self.branch_off(self.whole(child), false),
            None => {
                let leave = self.leave_by(piece, way);
                self.turn(Turn::Go(leave));
            }
        }
    }

    fn leave_by(&mut self, piece: u32, way: Way) -> Leave {
        let to = match way {
            Way::Exit(exit) => Goal::Exit(exit),
            Way::Block(to) => {
                self.want(to);
                Goal::Place(to)
            }
        };
        self.leave(piece, to)
    }

    /// Control leaves behind a piece.
    fn leave(&mut self, piece: u32, to: Goal) -> Leave {
        let flow = self.flow;
        let words = flow.live.as_ref().map(|live| {
            let each = live.len() / flow.pieces.len();
            &live[piece as usize * each..][..each]
        });
        let is_read =
            |slot: u32| words.is_none_or(|words| words[slot as usize / 64] >> (slot % 64) & 1 == 1);
        self.leave_with(|_, slot| is_read(slot), to)
    }

    /// The tree ends in front of a row, and another one begins.
    fn cut(&mut self, piece: u32, row: usize) {
        let flow = self.flow;
        let rows = &flow.pieces[piece as usize].rows;
        let mut accesses = match self.accesses.take() {
            Some((of, accesses)) if of == piece => accesses,
            _ => Accesses::of(rows, flow.words.len()),
        };
        let at = self.places;
        self.places += 1;
        let last = row as u32 - 1;
        let is_read = |word: u32, _| accesses.is_read(word, last).unwrap_or(true);
        let leave = self.leave_with(is_read, Goal::Place(at));
        self.accesses = Some((piece, accesses));
        self.turn(Turn::Go(leave));
        self.waiting.push(Root { at, piece, row });
    }

    fn leave_with(&mut self, mut is_read: impl FnMut(u32, u32) -> bool, to: Goal) -> Leave {
        let behind = self.behind();
        let Writer {
            now,
            before,
            touched,
            ..
        } = &self.writer;
        let mut stores = Vec::new();
        for &word in touched {
            let (now, before) = (now[word as usize], before[word as usize]);
            let (Home::Slot(slot), Some(value)) = (self.flow.words[word as usize], now) else {
                continue;
            };
            if now != before && is_read(word, slot) {
                let (value, half) = self.writer.graph.half(value);
                stores.push(Put { slot, value, half });
                self.uses.push(Store {
                    behind,
                    to: To::Word(word),
                    value,
                });
            }
        }
        Leave {
            stores,
            ..Leave::to(to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adumbra_vm::native::{Entry, Question, Value};

    /// Pieces that take a step each and then go on to the next one; the last one goes out.
    fn steps(count: u32) -> Flow {
        let piece = |number: u32| Piece {
            rows: Vec::new(),
            then: Then::Step {
                to: match number + 1 < count {
                    true => Way::Block(number + 1),
                    false => Way::Exit(0),
                },
                out: number,
            },
            position: number,
        };
        Flow {
            words: vec![Home::Slot(0)],
            pieces: (0..count).map(piece).collect(),
            live: None,
            entries: vec![Entry {
                piece: 0,
                at: 0,
                depth: 0,
            }],
        }
    }

    /// The steps that are taken at once, and the exits to where they are taken one by one.
    fn taken(flow: &Flow) -> Vec<(u32, u32)> {
        let (trees, _) = trees(Optimisations::ALL, flow, &mut Templates::new(false));
        let events = trees.iter().flat_map(|tree| &tree.events);
        let steps = events.filter_map(|event| match &event.turn {
            Turn::Step { steps, leave } => match leave.to {
                Goal::Exit(exit) => Some((*steps, exit)),
                Goal::Place(_) | Goal::Again => None,
            },
            _ => None,
        });
        steps.collect()
    }

    #[test]
    fn so_many_steps_are_taken_at_once() {
        for count in [1, 2, MAX_STEPS, MAX_STEPS + 1, 3 * MAX_STEPS + 7] {
            let taken = taken(&steps(count));
            let mut first = 0;
            for (steps, exit) in taken {
                assert_eq!((steps, exit), (MAX_STEPS.min(count - first), first));
                first += steps;
            }
            assert_eq!(first, count);
        }
    }

    #[test]
    fn steps_behind_a_branch_are_not_taken_in_front_of_it() {
        let mut flow = steps(6);
        flow.pieces[2].then = Then::Branch(Branch {
            question: Question {
                test: None,
                operands: [Value::default(); adumbra_ops::MAX_OPERANDS],
            },
            when: true,
            target: Way::Exit(9),
            next: Way::Block(3),
        });
        assert_eq!(taken(&flow), [(2, 0), (3, 3)]);
    }
}
