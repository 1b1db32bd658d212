//! Simplified nodes have the value of the original nodes.

use super::*;

/// The value of a node where planes hold these words.
fn value(graph: &Graph, id: NodeId, planes: &[u32]) -> u32 {
    let mut known = Graph::default();
    let mut ids: Vec<NodeId> = Vec::new();
    for node in &graph.nodes {
        ids.push(match node.op {
            NodeOp::Const => known.constant(node.a),
            NodeOp::Plane => known.constant(planes[node.a as usize]),
            _ => {
                let Node { op, a, b, c } = node.map_operands(|id| ids[id as usize]);
                known.push(op, a, b, c)
            }
        });
    }
    known.bits(ids[id as usize]).expect("all is known")
}

const WORDS: [[u32; 2]; 3] = [[0x89ab_cdef, 0x1234_5678], [u32::MAX, 0], [1, 0xffff_0001]];

#[test]
fn shifted_out_words_are_dropped() {
    for (op, unite) in [
        (NodeOp::Xor, (|x, y| x ^ y) as fn(u32, u32) -> u32),
        (NodeOp::Or, |x, y| x | y),
    ] {
        for (first, by) in (1..32).flat_map(|first| (1..32).map(move |by| (first, by))) {
            for turned in [false, true] {
                let mut graph = Graph::default();
                let [x, y] = [0, 1].map(|word| graph.push(NodeOp::Plane, word, 0, 0));
                let low = graph.push(NodeOp::ShrBy, y, first, 0);
                let (a, b) = if turned { (low, x) } else { (x, low) };
                let both = graph.push(op, a, b, 0);
                let id = graph.push(NodeOp::ShrBy, both, by, 0);
                assert_eq!(graph.node(id).a == x, first + by >= 32, "{first} {by}");
                for planes in WORDS {
                    let [x, y] = planes;
                    let expected = unite(x, y >> first) >> by;
                    assert_eq!(value(&graph, id, &planes), expected, "{first} {by}");
                }
            }
        }
    }
}

/// A shader may have any number of these.
#[test]
fn deep_shift_chains_need_no_stack() {
    let mut graph = Graph::default();
    let x = graph.push(NodeOp::Plane, 0, 0, 0);
    let mut hash = x;
    for word in 1..200_000 {
        let plane = graph.push(NodeOp::Plane, word, 0, 0);
        let top = graph.push(NodeOp::ShrBy, plane, 31, 0);
        hash = graph.push(NodeOp::Xor, hash, top, 0);
    }
    let id = graph.push(NodeOp::ShrBy, hash, 1, 0);
    assert_eq!(graph.node(id).a, x);
}

/// The second operand of a unary node is a number, not a node.
#[test]
fn products_of_unary_nodes_stay() {
    let mut graph = Graph::default();
    let x = graph.push(NodeOp::Plane, 0, 0, 0);
    let top = graph.push(NodeOp::ShrBy, x, 25, 0);
    let by = graph.constant(3);
    let product = graph.push(NodeOp::IMul, top, by, 0);
    assert_eq!(graph.node(product), Node::new(NodeOp::IMul, top, by, 0));
}

#[test]
fn neighbour_products_become_sums() {
    for (more, by) in [(1, 374_761_393), (u32::MAX, 3), (0x8000_0001, 0xdead_beef)] {
        let mut graph = Graph::default();
        let x = graph.push(NodeOp::Plane, 0, 0, 0);
        let [more_id, by_id] = [more, by].map(|bits| graph.constant(bits));
        let next = graph.push(NodeOp::IAdd, x, more_id, 0);
        let alone = graph.push(NodeOp::IMul, next, by_id, 0);
        assert_eq!(
            graph.node(alone).op,
            NodeOp::IMul,
            "of which nothing is known"
        );
        let further = graph.push(NodeOp::IAdd, next, more_id, 0);
        let product = graph.push(NodeOp::IMul, further, by_id, 0);
        let node = graph.node(product);
        assert_eq!((node.op, node.a), (NodeOp::IAdd, alone));
        for [x, _] in WORDS {
            let expected = x.wrapping_add(more).wrapping_add(more).wrapping_mul(by);
            assert_eq!(value(&graph, product, &[x]), expected, "{x} {more} {by}");
        }
    }
}
