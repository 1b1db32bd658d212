//! One node for one vector.

use super::{Aside, Body, Emitter};
use crate::allocate::Place;
use crate::graph::{Code, Id, Node};
use crate::listing::Part;
use crate::machine::{Machine, Operand};
use adumbra_ops::CallOut;

impl<M: Machine> Emitter<M> {
    /// Where a node's value is.
    pub(super) fn operand(
        &mut self,
        body: &Body<'_>,
        id: Id,
        vector: usize,
    ) -> Operand<M::Constant> {
        match body.places.at(id, vector) {
            Place::Register(register) | Place::Kept(register) => {
                return Operand::Register(register);
            }
            Place::Slot(slot) => return Operand::Frame(body.slots + slot as i32 * M::VECTOR),
            Place::Nowhere | Place::Plane => {}
        }
        let node = body.graph.node(id);
        match node.code {
            Code::Plane => Operand::Plane(node.a, vector as u8),
            Code::Const => Operand::Constant(self.machine.constant(node.a)),
            Code::Cell => Operand::Frame(body.cells[&node.a]),
            Code::Active => Operand::Frame(body.crowds.active + vector as i32 * M::VECTOR),
            Code::Param => Operand::Frame(body.params + node.a as i32 * M::VECTOR),
            _ => unreachable!("an operand has a place"),
        }
    }

    /// Computes a node and puts it in its place, if it is not there.
    pub(super) fn node(&mut self, body: &Body<'_>, id: Id, vector: usize) {
        let node = body.graph.node(id);
        let [first, _] = M::SCRATCH;
        let place = body.places.at(id, vector);
        if place == Place::Plane {
            return;
        }
        let to = match place {
            Place::Register(register) => register,
            _ => first,
        };
        match node.code {
            Code::Plane => {
                let is_first = vector.is_multiple_of(body.places.flight);
                if is_first || body.places.at(id, vector - 1) == Place::Plane {
                    self.machine.plane(node.a);
                }
                self.machine.load_plane(to, vector as i32 * M::VECTOR);
            }
            Code::Slot => self.machine.load_slot(to, node.a),
            Code::Global => self.machine.load_global(to, node.a),
            Code::Rare => self.rare(body, id, to, vector),
            Code::GuessedMin | Code::GuessedMax => self.guessed(body, node, to),
            Code::CallOut => self.call_out(body, node, to, vector),
            Code::Lookup => {
                let index = self.operand(body, node.a, vector);
                let table = body.graph.tables[node.b as usize];
                self.machine.lookup(table, to, index);
            }
            code => match code.operands() {
                1 => {
                    let a = self.operand(body, node.a, vector);
                    self.machine.one(code, node.b, to, a);
                }
                2 => {
                    let mut a = self.operand(body, node.a, vector);
                    let mut b = self.operand(body, node.b, vector);
                    let is_turned = matches!(b, Operand::Register(_)) && code.commutes();
                    if !matches!(a, Operand::Register(_)) && is_turned {
                        (a, b) = (b, a);
                    }
                    self.machine.two(code, to, a, b);
                }
                _ => {
                    let a = self.operand(body, node.a, vector);
                    let b = self.operand(body, node.b, vector);
                    let c = self.operand(body, node.c, vector);
                    self.machine.three(code, to, a, b, c);
                }
            },
        }
        if let Place::Slot(slot) = place {
            self.machine.store(body.slots + slot as i32 * M::VECTOR, to);
        }
    }

    /// One of two operands, behind a branch.
    fn guessed(&mut self, body: &Body<'_>, node: Node, to: u8) {
        let [_, second] = M::SCRATCH;
        let [a, b] = [node.a, node.b].map(|id| self.operand(body, id, 0));
        // The other one is in the register of the result first.
        let (held, other, takes_a) = match a {
            Operand::Register(a) if a == to => (b, a, false),
            _ => (a, to, true),
        };
        if takes_a {
            self.machine.load(to, b);
        }
        let held = self.machine.register(held, second);
        let (a, b) = if takes_a {
            (held, other)
        } else {
            (other, held)
        };
        let (less, than) = match node.code {
            Code::GuessedMin => (a, b),
            _ => (b, a),
        };
        let stay = self.machine.label();
        self.machine.jump_if_less(less, than, !takes_a, stay);
        self.machine.load(to, Operand::Register(held));
        self.machine.bind(stay);
    }

    /// The usual result, and a way out of line where any lane needs another.
    fn rare(&mut self, body: &Body<'_>, id: Id, to: u8, vector: usize) {
        let node = body.graph.node(id);
        let fast = self.operand(body, node.b, vector);
        self.machine.load(to, fast);
        let mask = self.operand(body, node.a, vector);
        let (begin, back) = (self.machine.label(), self.machine.label());
        match body.graph.detours[node.c as usize].is_set {
            true => self.machine.jump_if_any(mask, begin),
            false => self.machine.jump_unless_all(mask, begin),
        }
        self.machine.bind(back);
        self.asides.push(Aside {
            node: id,
            vector,
            begin,
            back,
        });
    }

    /// The ways out of line.
    pub(super) fn asides(&mut self, body: &Body<'_>) {
        let [first, _] = M::SCRATCH;
        let mut asides = std::mem::take(&mut self.asides);
        for aside in asides.drain(..) {
            let Aside {
                node,
                vector,
                begin,
                back,
            } = aside;
            let position = body.lineage.of(node);
            self.part(Part::Rare(position));
            self.machine.bind(begin);
            let place = body.places.at(node, vector);
            let node = body.graph.node(node);
            // What is put into the frame ruins the register that the result may be on its way in.
            if let Place::Slot(slot) = place {
                self.machine
                    .store(body.slots + slot as i32 * M::VECTOR, first);
            }
            let way = &body.graph.detours[node.c as usize];
            for (index, &input) in (0..).zip(body.graph.inputs(way)) {
                let input = self.operand(body, input, vector);
                let input = self.machine.register(input, first);
                self.machine.store(body.params + index * M::VECTOR, input);
            }
            let routine = self.routine_label(way.routine, position);
            self.machine.call(routine);
            let (to, usual) = match place {
                Place::Register(register) => (register, Operand::Register(register)),
                Place::Slot(slot) => (first, Operand::Frame(body.slots + slot as i32 * M::VECTOR)),
                Place::Nowhere | Place::Plane | Place::Kept(_) => {
                    unreachable!("a result has a place")
                }
            };
            let mask = self.operand(body, node.a, vector);
            let rare = Operand::Frame(body.params);
            let (set, unset) = match way.is_set {
                true => (rare, usual),
                false => (usual, rare),
            };
            self.machine.three(Code::Select, to, mask, set, unset);
            self.machine.jump(back);
        }
        self.asides = asides;
    }

    fn call_out(&mut self, body: &Body<'_>, node: Node, to: u8, vector: usize) {
        let [first, second] = M::SCRATCH;
        let [a, b] = [node.a, node.b].map(|id| self.operand(body, id, vector));
        self.machine.load(first, a);
        self.machine.load(second, b);
        let function = CallOut::ALL[node.c as usize];
        self.machine.call_out(function, self.lanes);
        self.machine.load(to, Operand::Register(first));
    }
}
