//! Tests of superwords against the nodes that they were made of.

use super::write::MAX_PENDING;
use super::*;
use crate::control::ControlAction;
use crate::differential::TestRng;
use crate::graph_builder::{GraphStore, NodePositions, StoreTarget};

const VM_REGISTERS: u32 = 8;
/// Nodes that all copies read.
const SHARED: usize = 6;

/// Elements as on x86-64: of a value of a point the first element of each half is defined, and the
/// others are anything.
fn run(nodes: &[Node], vm_registers: &[u32]) -> Vec<[u32; SUPERWORD_WIDTH]> {
    let mut values: Vec<[u32; SUPERWORD_WIDTH]> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let of = |id: NodeId| values[id as usize];
        let each = |f: &dyn Fn(u32, u32) -> u32| {
            let (a, b) = (of(node.a), of(node.b));
            std::array::from_fn(|element| f(a[element], b[element]))
        };
        let float = f32::from_bits;
        values.push(match node.op {
            NodeOp::Const => [node.a; SUPERWORD_WIDTH],
            NodeOp::VmRegister => {
                let word = vm_registers[node.a as usize];
                [word, 0x7fa5_a5a5, word, 0x5a5a_5a5a]
            }
            NodeOp::Global => [vm_registers[node.a as usize]; SUPERWORD_WIDTH],
            NodeOp::Add => each(&|a, b| (float(a) + float(b)).to_bits()),
            NodeOp::Sub => each(&|a, b| (float(a) - float(b)).to_bits()),
            NodeOp::Lt => each(&|a, b| if float(a) < float(b) { u32::MAX } else { 0 }),
            NodeOp::Xor => each(&|a, b| a ^ b),
            NodeOp::And => each(&|a, b| a & b),
            NodeOp::Or => each(&|a, b| a | b),
            NodeOp::ISub => each(&u32::wrapping_sub),
            NodeOp::IAdd => each(&u32::wrapping_add),
            NodeOp::IMulEach => each(&u32::wrapping_mul),
            NodeOp::IMul => {
                let [x, _, y, _] = each(&u32::wrapping_mul);
                [x, !x, y, !y]
            }
            NodeOp::ShrBy => each(&|a, _| a >> node.b),
            NodeOp::Select => {
                let (mask, a, b) = (of(node.a), of(node.b), of(node.c));
                std::array::from_fn(|element| {
                    if mask[element] == 0 {
                        b[element]
                    } else {
                        a[element]
                    }
                })
            }
            NodeOp::Broadcast => [of(node.a)[node.b as usize]; SUPERWORD_WIDTH],
            NodeOp::Duplicate => [of(node.a)[0], of(node.a)[0], of(node.b)[0], of(node.b)[0]],
            NodeOp::Interleave => [of(node.a)[0], of(node.b)[0], of(node.a)[1], of(node.b)[1]],
            NodeOp::Join => [of(node.a)[0], of(node.a)[1], of(node.b)[0], of(node.b)[1]],
            _ => unreachable!("no other nodes are here"),
        });
    }
    values
}

/// Copies of one computation, each with operands of its own; now and then one reads a value of
/// another one.
fn copies(random: &mut TestRng, nodes: &mut Vec<Node>, count: usize) -> Vec<NodeId> {
    const OPS: [NodeOp; 8] = [
        NodeOp::Add,
        NodeOp::Sub,
        NodeOp::Xor,
        NodeOp::IAdd,
        NodeOp::IMul,
        NodeOp::ShrBy,
        NodeOp::Lt,
        NodeOp::Select,
    ];
    let length = 6 + random.below(20);
    // For each node its operation and its operands: a distance to a node before it, a node that all
    // read, or one that each copy reads.
    let mut template = Vec::new();
    for _ in 0..length {
        template.push((
            OPS[random.below(OPS.len())],
            [(); 3].map(|()| random.below(12)),
        ));
    }
    let mut last = Vec::new();
    let mut others: Vec<NodeId> = Vec::new();
    for _ in 0..count {
        let read = [(); 6].map(|()| (SHARED + random.below(VM_REGISTERS as usize)) as NodeId);
        let start = nodes.len();
        for (at, &(op, from)) in template.iter().enumerate() {
            let mut operand = |i: usize| match from[i] {
                _ if random.below(150) == 0 && !others.is_empty() => {
                    others[random.below(others.len())]
                }
                far @ 0..6 if far < at => (start + at - 1 - far) as NodeId,
                shared @ 8.. => shared as NodeId - 8,
                near => read[near % 6],
            };
            let [a, b, c] = [0, 1, 2].map(&mut operand);
            nodes.push(match op {
                NodeOp::ShrBy => Node::new(op, a, 3 + u32::from(random.below(20) == 0), 0),
                NodeOp::Select => Node::new(op, a, b, c),
                _ => Node::new(op, a, b, 0),
            });
            others.push(nodes.len() as NodeId - 1);
        }
        last.extend(nodes.len() as NodeId - 3..nodes.len() as NodeId);
    }
    last
}

#[test]
fn superwords_preserve_values() {
    let mut random = TestRng::new(3);
    let (mut made, mut saved, mut unchanged) = (0, 0, 0);
    for _ in 0..4000 {
        let [one, two] =
            [0x3f80_0000, 0x9e37_79b9].map(|bits| Node::new(NodeOp::Const, bits, 0, 0));
        let global = Node::new(NodeOp::Global, 0, 0, 0);
        let computed = [NodeOp::IMul, NodeOp::Add].map(|op| Node::new(op, 2, 1, 0));
        let mut nodes = vec![one, two, global, computed[0], computed[1]];
        nodes.push(Node::new(NodeOp::IAdd, 3, 2, 0));
        assert_eq!(nodes.len(), SHARED);
        nodes.extend(
            (0..VM_REGISTERS).map(|vm_register| Node::new(NodeOp::VmRegister, vm_register, 0, 0)),
        );
        let (mut stores, mut events) = (Vec::new(), Vec::new());
        for part in 0..2 {
            let count = 4 + random.below(28);
            let mut values = copies(&mut random, &mut nodes, count);
            values.push(random.below(nodes.len()) as NodeId);
            let after = nodes.len() as NodeId - 1;
            stores.extend(values.into_iter().map(|value| GraphStore {
                after,
                target: StoreTarget::Word(0),
                value,
            }));
            events.push(ControlEvent {
                after,
                action: ControlAction::Label(part),
                position: part,
            });
        }
        let mut positions = NodePositions::default();
        (0..nodes.len() as NodeId).for_each(|id| positions.start_at(id, 100 + id));
        let mut ebb = Computation {
            graph: Graph::from_nodes(nodes.clone(), &Graph::default()),
            stores: stores.clone(),
            positions,
        };
        form_superwords(&mut ebb, &mut events);
        let vm_registers: Vec<u32> = (0..VM_REGISTERS)
            .map(|_| (random.below(1 << 31) as u32) << 1)
            .collect();
        let (before, after) = (
            run(&nodes, &vm_registers),
            run(&ebb.graph.nodes, &vm_registers),
        );
        for (old, new) in stores.iter().zip(&ebb.stores) {
            assert!(new.value <= new.after, "it is computed where it is stored");
            let (old, new) = (before[old.value as usize], after[new.value as usize]);
            let is_nan = |word: u32| f32::from_bits(word).is_nan();
            let same =
                |element: usize| old[0] == new[element] || is_nan(old[0]) && is_nan(new[element]);
            assert!(same(0) && same(2), "{old:x?} {new:x?} {nodes:?} {ebb:?}");
        }
        let has = |op| ebb.graph.nodes.iter().any(|node| node.op == op);
        if !has(NodeOp::Broadcast) {
            unchanged += 1;
            continue;
        }
        made += 1;
        let all = 0..nodes.len() as NodeId;
        let tree_uses = ebb.use_counts();
        saved += nodes.len()
            - live_nodes(&ebb.graph, &tree_uses, 0..ebb.graph.nodes.len() as NodeId).count();
        // Nodes keep their origins, and their operands come before them.
        for (id, node) in (0..).zip(&ebb.graph.nodes) {
            assert!(operands(*node).all(|operand| operand < id));
            assert!(all.contains(&(ebb.positions.position_of(id) - 100)));
        }
    }
    println!("{made} blocks with superwords, {unchanged} without; {saved} nodes fewer");
    assert!(made > 600 && unchanged > 600, "{made} and {unchanged}");
}

/// Sums of eight of these each.
fn sums(nodes: &mut Vec<Node>, op: NodeOp, of: [NodeId; 8]) -> NodeId {
    let mut level = of.to_vec();
    while level.len() > 1 {
        let pairs = level.as_chunks::<2>().0.iter();
        let next = pairs.map(|&[a, b]| {
            nodes.push(Node::new(op, a, b, 0));
            nodes.len() as NodeId - 1
        });
        level = next.collect();
    }
    level[0]
}

#[test]
fn cyclic_superwords_are_refused() {
    for is_tangled in [false, true] {
        let mut nodes: Vec<Node> = (0..VM_REGISTERS)
            .map(|vm_register| Node::new(NodeOp::VmRegister, vm_register, 0, 0))
            .collect();
        nodes.extend((0..4).map(|bits| Node::new(NodeOp::Const, bits, 0, 0)));
        let vm_registers: [NodeId; 8] = std::array::from_fn(|i| i as NodeId + 4);
        let mut values = Vec::new();
        // The first depends on the one of the other operation; so does, with the order reversed,
        // the second.
        for copy in 0..4 {
            let codes = [NodeOp::IAdd, NodeOp::Xor];
            let [one, other] = if is_tangled && copy == 1 {
                [codes[1], codes[0]]
            } else {
                codes
            };
            let inner = sums(&mut nodes, one, vm_registers);
            let of = std::array::from_fn(|i| if i == 0 { inner } else { vm_registers[i] });
            values.extend([inner, sums(&mut nodes, other, of)]);
        }
        assert_eq!(packed(nodes, &values), !is_tangled);
    }
}

/// Combines nodes of which some are stored at the end, and checks the stored values; returns
/// whether there are superwords.
fn packed(nodes: Vec<Node>, stored: &[NodeId]) -> bool {
    let vm_registers: Vec<u32> = (0..VM_REGISTERS)
        .map(|vm_register| vm_register * 0x0101_0101)
        .collect();
    let before = run(&nodes, &vm_registers);
    let after = nodes.len() as NodeId - 1;
    let mut positions = NodePositions::default();
    positions.start_at(0, 0);
    let stores = stored.iter().map(|&value| GraphStore {
        after,
        target: StoreTarget::Word(0),
        value,
    });
    let mut ebb = Computation {
        graph: Graph::from_nodes(nodes, &Graph::default()),
        stores: stores.collect(),
        positions,
    };
    form_superwords(&mut ebb, &mut []);
    let after = run(&ebb.graph.nodes, &vm_registers);
    for (store, &old) in ebb.stores.iter().zip(stored) {
        assert!(store.value <= store.after);
        assert_eq!(after[store.value as usize][0], before[old as usize][0]);
    }
    let mut nodes = ebb.graph.nodes.iter();
    nodes.any(|node| node.op == NodeOp::Broadcast)
}

#[test]
fn latency_bound_code_is_unchanged() {
    // Four chains; each node takes four cycles, in which there is one of each chain.
    let mut nodes: Vec<Node> = (0..4)
        .map(|vm_register| Node::new(NodeOp::VmRegister, vm_register, 0, 0))
        .collect();
    for at in 4..404 {
        nodes.push(Node::new(NodeOp::Add, at - 4, at - 4, 0));
    }
    assert!(!packed(nodes, &[400, 401, 402, 403]));
}

/// `count` chains of `length` nodes, side by side.
fn chains(count: NodeId, length: NodeId) -> (Vec<Node>, Vec<NodeId>) {
    let mut nodes: Vec<Node> = (0..count)
        .map(|chain| Node::new(NodeOp::VmRegister, chain % VM_REGISTERS, 0, 0))
        .collect();
    nodes.push(Node::new(NodeOp::Const, 0x9e37_79b9, 0, 0));
    let mut last: Vec<NodeId> = (0..count).collect();
    for step in 0..length {
        for last in &mut last {
            let op = [NodeOp::Xor, NodeOp::IAdd][step as usize % 2];
            nodes.push(Node::new(op, *last, count, 0));
            *last = nodes.len() as NodeId - 1;
        }
    }
    (nodes, last)
}

#[test]
fn deep_and_wide_chains_keep_values() {
    // As many instructions as chains leave time for; deeper than `MAX_DEPTH`; more than
    // `MAX_NODES`.
    for (count, length, is_made) in [(16, 100, true), (12, 340, true), (16, 400, false)] {
        let (nodes, last) = chains(count, length);
        assert_eq!(nodes.len() <= MAX_NODES, is_made);
        assert_eq!(packed(nodes, &last), is_made, "{count} chains of {length}");
    }
}

/// Constants that chains use in turn, so that only nodes at the same position of one look alike.
const CONSTANTS: u32 = 20;

/// A chain of two alternating operations after a node, each with a constant.
fn chain(nodes: &mut Vec<Node>, mut last: NodeId, codes: [NodeOp; 2], length: usize) -> NodeId {
    for step in 0..length {
        let constant = VM_REGISTERS + step as NodeId % CONSTANTS;
        nodes.push(Node::new(codes[step % 2], last, constant, 0));
        last = nodes.len() as NodeId - 1;
    }
    last
}

#[test]
fn pending_nodes_are_bounded() {
    // The last of four like nodes is after a chain of this length, and the first one is used at
    // once.
    for (length, is_made) in [(MAX_PENDING - 100, true), (MAX_PENDING, false)] {
        let mut nodes: Vec<Node> = (0..VM_REGISTERS)
            .map(|vm_register| Node::new(NodeOp::VmRegister, vm_register, 0, 0))
            .collect();
        let constants = (0..CONSTANTS).map(|number| 0x9e37_79b9 ^ number);
        nodes.extend(constants.map(|bits| Node::new(NodeOp::Const, bits, 0, 0)));
        let mut stored = Vec::new();
        for copy in 0..4 {
            let from = match copy {
                3 => chain(&mut nodes, 3, [NodeOp::Xor, NodeOp::ISub], length),
                _ => copy,
            };
            let end = chain(
                &mut nodes,
                from,
                [NodeOp::IAdd, NodeOp::And],
                CONSTANTS as usize,
            );
            // Of these there are only three.
            if copy != 3 {
                nodes.push(Node::new(NodeOp::ShrBy, end, 3, 0));
            }
            stored.push(nodes.len() as NodeId - 1);
        }
        // The chain leaves time for these.
        for _ in 0..2800 {
            nodes.push(Node::new(NodeOp::Or, 0, 1, 0));
            stored.push(nodes.len() as NodeId - 1);
        }
        assert_eq!(packed(nodes, &stored), is_made, "a chain of {length}");
    }
}
