//! Tests of register allocation: no two values that are live at once share a location, for graphs
//! of all widths, with many registers and with few.

use super::*;

/// The last use of an unused or dead node.
const NEVER: NodeId = NodeId::MAX;

/// For each node the last one that uses it, or after which it is stored.
fn last_uses(graph: &Graph, stores: &[GraphStore]) -> Vec<NodeId> {
    let mut last = vec![NEVER; graph.nodes.len()];
    for store in stores.iter().rev() {
        let last = &mut last[store.value as usize];
        *last = if *last == NEVER { store.after } else { *last };
    }
    for (id, &node) in (0..graph.nodes.len() as NodeId).zip(&graph.nodes).rev() {
        if last[id as usize] != NEVER {
            graph.for_each_operand(node, |operand| {
                let last = &mut last[operand as usize];
                *last = if *last == NEVER { id } else { id.max(*last) };
            });
        }
    }
    last
}

/// Checks that no two values that are live at once share a location.
fn check(graph: &Graph, stores: &[GraphStore], vectors: usize, registers: u8) -> Allocation {
    check_with_masks(graph, stores, vectors, registers, 0..0)
}

/// The same with mask registers.
fn check_with_masks(
    graph: &Graph,
    stores: &[GraphStore],
    vectors: usize,
    registers: u8,
    masks: Range<u8>,
) -> Allocation {
    let mut allocator = LinearScan::new(vectors, registers, true).with_masks(masks);
    let allocation = allocator.allocate(graph, stores);
    // An inverted mask is in the same register as one that is not.
    let place = |id: NodeId, vector| match allocation.location(id, vector) {
        NodeLocation::MaskRegister(MaskRegister { number, .. }) => {
            NodeLocation::MaskRegister(MaskRegister {
                number,
                is_inverted: false,
            })
        }
        location => location,
    };
    for location in &allocation.of {
        if let NodeLocation::Register(register) = location {
            assert_eq!(allocation.used_registers >> register & 1, 1, "{register}");
        }
    }
    let last = last_uses(graph, stores);
    let values = || (0..graph.nodes.len()).flat_map(|id| (0..vectors).map(move |v| (id, v)));
    for (id, vector) in values() {
        for (other, other_vector) in values() {
            let location = place(id as NodeId, vector);
            // A value that is stored after a node outlives it.
            let is_stored =
                |store: &GraphStore| (store.value as usize, store.after as usize) == (id, other);
            let is_wanted = last[id] != NEVER && (last[id] as usize) > other;
            let meets = id < other && (is_wanted || stores.iter().any(is_stored))
                || id == other && vector != other_vector;
            let node = graph.node(id as NodeId);
            if location == NodeLocation::Plane {
                assert_eq!(node.op, NodeOp::Plane);
                let is_other = |store: &GraphStore| {
                    let writes =
                        store.target == StoreTarget::Word(node.a) && store.after < last[id];
                    !writes && store.value as usize != id
                };
                assert!(stores.iter().all(is_other), "{id} is written too early");
            } else if location != NodeLocation::Unallocated && meets {
                let other_location = place(other as NodeId, other_vector);
                assert_ne!(location, other_location, "{id} and {other}");
            }
        }
    }
    // A vector with a slow path is written while the arguments of the slow path, and all of later
    // vectors, may still be read.
    for (id, &node) in (0..).zip(&graph.nodes) {
        if last[id as usize] == NEVER || node.op != NodeOp::SlowPath {
            continue;
        }
        graph.for_each_operand(node, |operand| {
            for (to, from) in (0..vectors).flat_map(|to| (to..vectors).map(move |from| (to, from)))
            {
                let location = allocation.location(operand, from);
                let is_nowhere =
                    matches!(location, NodeLocation::Unallocated | NodeLocation::Plane);
                let call = &graph.slow_paths[node.c as usize];
                let is_given = operand == node.a || graph.inputs(call).contains(&operand);
                let is_default = operand == node.b && to == from && !is_given;
                let is_apart = is_nowhere || is_default || location != allocation.location(id, to);
                assert!(is_apart, "{operand} and {id}");
            }
        });
    }
    allocation
}

/// A graph with many long live ranges.
fn graph(width: u32) -> (Graph, Vec<GraphStore>) {
    let mut graph = Graph::default();
    let mut values: Vec<NodeId> = (0..width)
        .map(|word| graph.push(NodeOp::Plane, word, 0, 0))
        .collect();
    for round in 0..3 {
        for i in 0..values.len() {
            let other = values[(i * 7 + round) % values.len()];
            values[i] = graph.push(NodeOp::Add, values[i], other, 0);
        }
    }
    let stores = (0..width).zip(&values).map(|(word, &value)| GraphStore {
        after: value,
        target: StoreTarget::Word(word),
        value,
    });
    let mut stores: Vec<GraphStore> = stores.collect();
    stores.sort_by_key(|store| store.after);
    (graph, stores)
}

/// Words that are swapped, each stored after the read of the other, among values with slow paths.
fn with_slow_paths(width: u32) -> (Graph, Vec<GraphStore>) {
    let mut graph = Graph::default();
    let planes: Vec<NodeId> = (0..width)
        .map(|word| graph.push(NodeOp::Plane, word, 0, 0))
        .collect();
    let mut last = planes[0];
    for (i, &plane) in planes.iter().enumerate() {
        let mask = graph.push(NodeOp::Lt, last, plane, 0);
        let fast = graph.push(NodeOp::Sqrt, plane, 0, 0);
        // The default result of some is an argument too.
        let other = planes[(i * 5 + 1) % planes.len()];
        let inputs = [plane, last, if i % 3 == 1 { fast } else { other }];
        last = graph.slow_path(mask, fast, 0, inputs.into_iter());
    }
    let swapped = planes
        .iter()
        .rev()
        .zip(0..width)
        .map(|(&value, word)| GraphStore {
            after: value.max(planes[word as usize]),
            target: StoreTarget::Word(word),
            value,
        });
    let end = GraphStore {
        after: last,
        target: StoreTarget::Word(width),
        value: last,
    };
    let mut stores: Vec<GraphStore> = swapped.chain([end]).collect();
    stores.sort_by_key(|store| store.after);
    (graph, stores)
}

#[test]
fn slow_path_results_spare_arguments() {
    for width in [1, 2, 5, 13, 40] {
        let (graph, stores) = with_slow_paths(width);
        for vectors in [1, 2, 4] {
            for registers in [1, 3, 14] {
                for masks in [0..0, 2..3, 2..8] {
                    check_with_masks(&graph, &stores, vectors, registers, masks);
                }
            }
        }
    }
}

/// Masks that are read as such alone take mask registers, inverted if that saves an instruction.
#[test]
fn masks_take_free_mask_registers() {
    let mut graph = Graph::default();
    let [x, y] = [0, 1].map(|word| graph.push(NodeOp::Plane, word, 0, 0));
    let one = graph.constant(1);
    let [less, equal, both, stored, kept, left, words, other] = {
        let mut two = |op, a, b| graph.push(op, a, b, 0);
        let less = two(NodeOp::Lt, x, y);
        let equal = two(NodeOp::IEq, x, y);
        let stored = two(NodeOp::Le, y, x);
        let kept = two(NodeOp::Eq, x, one);
        let both = two(NodeOp::Or, less, stored);
        let left = two(NodeOp::Le, x, one);
        let words = two(NodeOp::And, left, kept);
        let other = two(NodeOp::IEq, y, one);
        [less, equal, both, stored, kept, left, words, other]
    };
    let results = [
        graph.push(NodeOp::AndNot, equal, x, 0),
        graph.push(NodeOp::Select, both, x, y),
        graph.push(NodeOp::And, kept, x, 0),
        graph.push(NodeOp::AndNot, kept, y, 0),
        graph.push(NodeOp::IAdd, words, x, 0),
        graph.push(NodeOp::And, other, x, 0),
        graph.push(NodeOp::AndNot, other, y, 0),
        stored,
    ];
    let end = graph.nodes.len() as NodeId - 1;
    let stores = (2..).zip(results).map(|(word, value)| GraphStore {
        after: end,
        target: StoreTarget::Word(word),
        value,
    });
    let stores: Vec<GraphStore> = stores.collect();
    let found = |masks: u8| {
        let allocation = check_with_masks(&graph, &stores, 1, 14, 2..2 + masks);
        [less, equal, both, stored, kept, left, words, other].map(|id| {
            match allocation.location(id, 0) {
                NodeLocation::MaskRegister(register) => Some(register.is_inverted),
                _ => None,
            }
        })
    };
    let upright = Some(false);
    assert_eq!(found(0), [None; 8]);
    let [less, equal, both, stored, kept, left, words, other] = found(6);
    assert_eq!(equal, Some(true), "0 where they are equal");
    assert_eq!([less, both], [upright; 2], "a combination of masks");
    assert_eq!(stored, None, "it is stored");
    assert_eq!([left, words, kept], [None; 3], "a sum reads words");
    assert_eq!(other, upright, "it is read both ways");
    let [less, equal, both, .., other] = found(1);
    assert_eq!(
        [equal, both],
        [None; 2],
        "they are read later than it is free"
    );
    assert_eq!([less, other], [upright; 2], "one after the other");
}

#[test]
fn live_values_have_distinct_locations() {
    let mut in_planes = 0;
    for width in [1, 2, 5, 13, 40] {
        let (graph, stores) = graph(width);
        for vectors in [1, 2, 4] {
            for registers in [1, 3, 14] {
                let allocation = check(&graph, &stores, vectors, registers);
                in_planes += allocation
                    .of
                    .iter()
                    .filter(|&&p| p == NodeLocation::Plane)
                    .count();
                let many = width as usize * vectors;
                assert!(allocation.spill_slots == 0 || many > registers as usize / 2);
                assert!(
                    allocation.spill_slots as usize <= 2 * many,
                    "slots are used again"
                );
                // All at the end, after the reads of some of them.
                let mut late = stores.clone();
                let end = graph.nodes.len() as NodeId - 1;
                late.iter_mut().for_each(|store| store.after = end);
                check(&graph, &late, vectors, registers);
            }
        }
    }
    assert!(in_planes > 0, "some stay where they are");
}

#[test]
fn most_used_constants_get_free_registers() {
    const WIDTH: u32 = 4;
    // Constant k is used k + 1 times, and one once.
    let mut graph = Graph::default();
    let mut sum = graph.push(NodeOp::Plane, 0, 0, 0);
    for k in 1..=WIDTH {
        let constant = graph.constant(k);
        for _ in 0..=k {
            sum = graph.push(NodeOp::Add, sum, constant, 0);
        }
    }
    let once = graph.constant(99);
    sum = graph.push(NodeOp::Add, sum, once, 0);
    let store = GraphStore {
        after: sum,
        target: StoreTarget::Word(1),
        value: sum,
    };
    for vectors in [1, 2] {
        for registers in 1..10 {
            let allocation =
                LinearScan::new(vectors, registers, true).allocate_loop(&graph, &[store]);
            let others = u32::from(registers).min(vectors as u32);
            let free = u32::from(registers) - others;
            let mut loaded = allocation.constant_registers.clone();
            loaded.sort_unstable();
            let bits: Vec<u32> = loaded.iter().map(|&(bits, _)| bits).collect();
            let mut most: Vec<u32> = (WIDTH.saturating_sub(free) + 1..=WIDTH).collect();
            if vectors > 1 && free > WIDTH {
                most.push(99);
            }
            assert_eq!(bits, most, "{registers} registers, {vectors} vectors");
            for (bits, register) in loaded {
                assert_eq!(
                    allocation.used_registers >> register & 1,
                    0,
                    "{register} is free"
                );
                let id = (graph.nodes.iter())
                    .position(|node| node.op == NodeOp::Const && node.a == bits)
                    .expect("it is there");
                for vector in 0..vectors {
                    assert_eq!(
                        allocation.location(id as NodeId, vector),
                        NodeLocation::ConstantRegister(register)
                    );
                }
            }
        }
    }
}

#[test]
fn unwritten_planes_keep_values() {
    const WIDTH: u32 = 12;
    // Each plane is used at the end; some are written before, some are stored elsewhere.
    let mut graph = Graph::default();
    let planes: Vec<NodeId> = (0..WIDTH)
        .map(|word| graph.push(NodeOp::Plane, word, 0, 0))
        .collect();
    let mut stores = Vec::new();
    let mut store = |after, word, value| {
        stores.push(GraphStore {
            after,
            target: StoreTarget::Word(word),
            value,
        });
    };
    let early = graph.push(NodeOp::Sqrt, planes[0], 0, 0);
    for word in (0..WIDTH).step_by(3) {
        store(early, word, early);
    }
    let sums = planes.iter().fold(vec![early], |mut sums, &plane| {
        sums.push(graph.push(NodeOp::Add, sums[sums.len() - 1], plane, 0));
        sums
    });
    let end = sums[WIDTH as usize];
    for word in (1..WIDTH).step_by(3) {
        store(end, WIDTH + word, planes[word as usize]);
    }
    store(end, 2 * WIDTH, end);
    for registers in [2, 14] {
        let allocation = check(&graph, &stores, 1, registers);
        // The first ones are in registers.
        for (word, &plane) in (0..WIDTH).zip(&planes).skip(3) {
            let stays = allocation.location(plane, 0) == NodeLocation::Plane;
            assert_eq!(stays, word % 3 == 2, "{word}");
        }
    }
}
