//! Loop fission: a long segment is split, and each part is a loop of its own over all points.
//!
//! Its code stays in the processor's caches. Values pass from part to part through the planes that
//! the instructions write anyway. Instructions that share their work stay together: the four slopes
//! of noise are two instructions with one hash.

use crate::critical_path::CriticalPath;
use crate::graph::NodeOp;
use crate::graph_builder::{Computation, GraphBuilder, StoreTarget};
use crate::optimisation::{Optimisation, Optimisations};
use crate::template::OpTemplates;
use adumbra_vm::native::{ArithmeticInst, ArithmeticKind, Segment};

/// The limit of a part: it ends after the instruction that reaches this number of nodes, or a
/// critical path of this many cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Length {
    nodes: usize,
    chain: u32,
}

/// A segment within this is one loop. Its instructions fit the µop cache of common processors
/// (1,536 µops on Intel's Skylake). The reorder window reaches into the next points, which depend
/// on nothing here.
const WHOLE: Length = Length {
    nodes: 512,
    chain: 128,
};

/// A longer segment is split into loops short enough for the reorder window to hold several
/// iterations (224 instructions on Skylake, 448 on Zen 5): the processor then overlaps vectors by
/// itself, and critical paths do not bound it. Values between loops cost less, as they are mostly
/// few.
const CUT: Length = Length {
    nodes: 96,
    chain: 48,
};

/// How far apart instructions may be that share their work: shadows of operands are moved between
/// them.
const SHARING_DISTANCE: usize = 8;

/// The graphs of a segment: one, or those of the parts that it is split into; none if nothing is
/// stored.
pub(crate) fn split_segment(
    optimisations: Optimisations,
    segment: &Segment,
    templates: &mut OpTemplates,
) -> Vec<Computation> {
    let mut writer = GraphBuilder::new(optimisations, &segment.locations);
    let cuts = optimisations.has(Optimisation::LoopFission);
    let mut parts = Vec::new();
    let mut chains = CriticalPath::default();
    // Nearly each instruction is a node or more, so a long segment is known to be long beforehand.
    let is_long = segment.instructions.len() >= WHOLE.nodes;
    let mut most = if is_long { CUT } else { WHOLE };
    // Instructions before this one are in one part with it.
    let mut together = 0;
    let mut instructions = (0..).zip(&segment.instructions);
    while let Some((index, inst)) = instructions.next() {
        writer.arithmetic(inst, templates);
        let is_long =
            writer.graph.len() >= most.nodes || chains.length(&writer.graph) >= most.chain;
        if let Some(other) = shares_work(inst, &segment.instructions[index as usize + 1..]) {
            together = together.max(index + 1 + other);
        }
        if !cuts || !is_long || index < together {
            continue;
        }
        chains.clear();
        let part = writer.finish(writer.changed_words());
        if most == WHOLE {
            // The first instruction is next again; the segment is split.
            most = CUT;
            together = 0;
            instructions = (0..).zip(&segment.instructions);
        } else {
            parts.push(part);
        }
    }
    parts.push(writer.finish(writer.changed_words()));
    drop_dead_stores(&mut parts, segment);
    parts
}

/// Drops the stores of words that are neither live-out nor read by a later part, and parts without
/// stores.
fn drop_dead_stores(parts: &mut Vec<Computation>, segment: &Segment) {
    let mut is_wanted = vec![false; segment.locations.len()];
    for &word in &segment.live_out {
        is_wanted[word as usize] = true;
    }
    for part in parts.iter_mut().rev() {
        part.stores.retain(|store| match store.target {
            StoreTarget::Word(word) => std::mem::take(&mut is_wanted[word as usize]),
            StoreTarget::Condition | StoreTarget::Result => unreachable!("segments store words"),
        });
        for node in &part.graph.nodes {
            if node.op == NodeOp::Plane {
                is_wanted[node.a as usize] = true;
            }
        }
    }
    parts.retain(|part| !part.stores.is_empty());
}

/// Of the instructions after a long one, the first that computes the same op of the same values:
/// shadows are all that differs, so one graph has most of it once.
fn shares_work(inst: &ArithmeticInst, after: &[ArithmeticInst]) -> Option<u32> {
    let ArithmeticKind::Op(op) = inst.kind else {
        return None;
    };
    if !op.info().shares_shadow_routine {
        return None;
    }
    let values = |inst: &ArithmeticInst| inst.operands.map(|operand| operand.value);
    let count = op.arity();
    let of = &values(inst)[..count];
    if of.contains(&inst.result.value) {
        return None;
    }
    for (at, other) in (0..).zip(&after[..after.len().min(SHARING_DISTANCE)]) {
        if other.kind == inst.kind && values(other)[..count] == *of {
            return Some(at);
        }
        if of.contains(&other.result.value) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::DifferentialCase;
    use adumbra_ops::{MAX_OPERANDS, Op};
    use adumbra_vm::native::{DualOperand, WordLocation};

    /// The node count and critical path of each part of a sum of `terms` terms.
    fn cut(terms: u32, of_sines: bool) -> Vec<(usize, u32)> {
        let segment = DifferentialCase::sum(terms, of_sines).segment;
        let parts = split_segment(Optimisations::ALL, &segment, &mut OpTemplates::new(false));
        let instructions = parts.iter().flat_map(|own| &own.positions.made);
        let instructions: Vec<u32> = instructions.map(|&(_, position)| position).collect();
        assert!(instructions.is_sorted(), "instructions stay in order");
        // The sum is passed from part to part in its own word, and no term is.
        let sum = StoreTarget::Word(segment.live_out[0]);
        for part in &parts {
            let targets: Vec<StoreTarget> = part.stores.iter().map(|own| own.target).collect();
            assert_eq!(targets, [sum]);
        }
        let length = |own: &Computation| {
            let chain = CriticalPath::default().length(&own.graph);
            (own.graph.len(), chain)
        };
        parts.iter().map(length).collect()
    }

    #[test]
    fn long_segments_become_short_loops() {
        for of_sines in [false, true] {
            for terms in 1..200 {
                let parts = cut(terms, of_sines);
                let [(nodes, chain), rest @ ..] = &parts[..] else {
                    panic!("{terms} terms have no part");
                };
                if rest.is_empty() {
                    assert!(*nodes < WHOLE.nodes && *chain < WHOLE.chain, "{terms}");
                    continue;
                }
                // One instruction may exceed the limit.
                let [inst] = cut(1, of_sines)[..] else {
                    panic!("an instruction is one part");
                };
                for (nodes, chain) in &parts {
                    assert!(*nodes < CUT.nodes + inst.0, "{terms}: {parts:?}");
                    assert!(*chain < CUT.chain + inst.1, "{terms}: {parts:?}");
                }
            }
            let many = cut(199, of_sines).len();
            assert!(many > 3, "{many}");
        }
    }

    /// Noise with its first two slopes, some instructions, and noise with its third; what the
    /// second is of may have been overwritten.
    fn slopes_of_noise(between: u32, is_overwritten: bool) -> Vec<usize> {
        let mut segment = Segment {
            locations: vec![WordLocation::Plane; 16],
            ..Segment::default()
        };
        let plain = |value| DualOperand {
            value,
            shadows: [None; 2],
        };
        let mut push = |kind, result, operands: [DualOperand; 4]| {
            let mut all = [DualOperand::default(); MAX_OPERANDS];
            all[..4].copy_from_slice(&operands);
            segment.instructions.push(ArithmeticInst {
                kind,
                result,
                operands: all,
                position: segment.instructions.len() as u32,
            });
        };
        let noise = ArithmeticKind::Op(Op::Perlin3);
        let with = |value, shadows| DualOperand { value, shadows };
        push(
            noise,
            with(4, [Some(5), Some(6)]),
            [
                with(0, [Some(14), None]),
                with(1, [None, Some(14)]),
                plain(2),
                plain(3),
            ],
        );
        for _ in 0..between {
            let to = plain(if is_overwritten { 2 } else { 7 });
            push(ArithmeticKind::Copy, to, [plain(8); 4]);
        }
        push(
            noise,
            with(9, [Some(10), None]),
            [plain(0), plain(1), with(2, [Some(14), None]), plain(3)],
        );
        segment.live_out = vec![4, 5, 6, 7, 10];
        let parts = split_segment(Optimisations::ALL, &segment, &mut OpTemplates::new(false));
        parts.iter().map(|part| part.graph.len()).collect()
    }

    #[test]
    fn slopes_of_one_noise_stay_together() {
        let [together] = slopes_of_noise(3, false)[..] else {
            panic!("they are one part");
        };
        let [first, second] = slopes_of_noise(3, true)[..] else {
            panic!("they are of different values");
        };
        assert!(
            together < (first + second) * 3 / 4,
            "{together} {first} {second}"
        );
        let most = SHARING_DISTANCE as u32 - 1;
        assert_eq!(slopes_of_noise(most, false).len(), 1);
        assert_eq!(slopes_of_noise(most + 1, false).len(), 2);
    }
}
