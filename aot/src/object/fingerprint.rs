//! Fingerprints that tie linked code to its source: 64-bit FNV-1a over the bytes that this file
//! writes, field by field.
//!
//! A fingerprint depends on neither the compiler, nor the host, nor the order of the op table.
//! Linked code runs only if the library computes the same fingerprint from the program. Another
//! byte format is another [`VERSION`](super::VERSION) of objects.

use adumbra_ops::Op;
use adumbra_vm::native::{
    ArithmeticInst, ArithmeticKind, CfgEntry, CondBranch, Condition, DualOperand, Edge,
    KERNEL_WIDTH, PointBlock, PointCfg, PointTerminator, Segment, WordLocation,
};
use fnv::FnvHasher;
use std::hash::Hasher;

/// The fingerprint of segments or point CFGs: kernels are valid only for those that they were
/// compiled from.
pub(crate) fn fingerprint<T: FingerprintBytes>(all: &[T]) -> u64 {
    of_version(env!("CARGO_PKG_VERSION"), all)
}

/// The fingerprint for a version of the library: another one may compute an op differently.
fn of_version<T: FingerprintBytes>(version: &str, all: &[T]) -> u64 {
    let mut to = Fnv1a::default();
    version.write(&mut to);
    // The bound of the kernels' reads and writes.
    to.number(KERNEL_WIDTH as u32);
    all.write(&mut to);
    to.0.finish()
}

/// The hash FNV-1a (Fowler, Noll, Vo; RFC 9923), 64 bits.
#[derive(Default)]
pub(crate) struct Fnv1a(FnvHasher);

impl Fnv1a {
    fn byte(&mut self, byte: u8) {
        self.bytes(&[byte]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Little-endian.
    fn number(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }
}

/// A type with a fingerprint. No two values write the same bytes: lists begin with their length,
/// alternatives with a number of their own.
pub(crate) trait FingerprintBytes {
    /// Adds the bytes of the value.
    fn write(&self, to: &mut Fnv1a);
}

impl FingerprintBytes for u32 {
    fn write(&self, to: &mut Fnv1a) {
        to.number(*self);
    }
}

impl FingerprintBytes for u64 {
    fn write(&self, to: &mut Fnv1a) {
        to.bytes(&self.to_le_bytes());
    }
}

impl FingerprintBytes for bool {
    fn write(&self, to: &mut Fnv1a) {
        to.byte(u8::from(*self));
    }
}

impl FingerprintBytes for str {
    fn write(&self, to: &mut Fnv1a) {
        to.number(self.len() as u32);
        to.bytes(self.as_bytes());
    }
}

impl<T: FingerprintBytes> FingerprintBytes for [T] {
    fn write(&self, to: &mut Fnv1a) {
        to.number(self.len() as u32);
        self.iter().for_each(|item| item.write(to));
    }
}

/// The length is part of the type.
impl<T: FingerprintBytes, const N: usize> FingerprintBytes for [T; N] {
    fn write(&self, to: &mut Fnv1a) {
        self.iter().for_each(|item| item.write(to));
    }
}

impl<T: FingerprintBytes> FingerprintBytes for Vec<T> {
    fn write(&self, to: &mut Fnv1a) {
        self[..].write(to);
    }
}

impl<T: FingerprintBytes> FingerprintBytes for Option<T> {
    fn write(&self, to: &mut Fnv1a) {
        match self {
            None => to.byte(0),
            Some(item) => {
                to.byte(1);
                item.write(to);
            }
        }
    }
}

impl FingerprintBytes for Op {
    fn write(&self, to: &mut Fnv1a) {
        self.info().name.write(to);
    }
}

/// Writes structs as their fields in order. Each field is named, so that none is forgotten.
macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => { $(
        impl FingerprintBytes for $ty {
            fn write(&self, to: &mut Fnv1a) {
                let $ty { $($field),* } = self;
                $($field.write(to);)*
            }
        }
    )* };
}

fields! {
    CondBranch { condition, when, target, next }
    Segment { locations, instructions, live_out }
    PointCfg { locations, blocks, live_out, entries }
    CfgEntry { block, at, depth }
    DualOperand { value, shadows }
}

impl FingerprintBytes for PointBlock {
    fn write(&self, to: &mut Fnv1a) {
        // Last uses follow from the instructions, and from what is live-out.
        let PointBlock {
            instructions,
            last_uses: _,
            terminator,
            position,
        } = self;
        instructions.write(to);
        terminator.write(to);
        position.write(to);
    }
}

impl FingerprintBytes for PointTerminator {
    fn write(&self, to: &mut Fnv1a) {
        match self {
            PointTerminator::Jump(edge) => {
                to.byte(0);
                edge.write(to);
            }
            PointTerminator::StepJump { to: edge, out } => {
                to.byte(1);
                edge.write(to);
                out.write(to);
            }
            PointTerminator::Branch(branch) => {
                to.byte(2);
                branch.write(to);
            }
        }
    }
}

impl FingerprintBytes for Edge {
    fn write(&self, to: &mut Fnv1a) {
        let (kind, number) = match *self {
            Edge::Block(block) => (0, block),
            Edge::Exit(exit) => (1, exit),
        };
        to.byte(kind);
        to.number(number);
    }
}

impl FingerprintBytes for WordLocation {
    fn write(&self, to: &mut Fnv1a) {
        let (kind, number) = match *self {
            WordLocation::Plane => (0, 0),
            WordLocation::Uniform => (1, 0),
            WordLocation::Constant(bits) => (2, bits),
            WordLocation::Register(slot) => (3, slot),
            WordLocation::Global(word) => (4, word),
            WordLocation::RegisterPlane(distance) => (5, distance.cast_unsigned()),
        };
        to.byte(kind);
        to.number(number);
    }
}

impl FingerprintBytes for ArithmeticKind {
    fn write(&self, to: &mut Fnv1a) {
        match self {
            ArithmeticKind::Op(op) => {
                to.byte(0);
                op.write(to);
            }
            ArithmeticKind::Copy => to.byte(1),
            ArithmeticKind::ReadShadow => to.byte(2),
            ArithmeticKind::Canonicalise => to.byte(3),
        }
    }
}

impl FingerprintBytes for ArithmeticInst {
    fn write(&self, to: &mut Fnv1a) {
        let ArithmeticInst {
            kind,
            result,
            operands,
            position,
        } = self;
        kind.write(to);
        result.write(to);
        // Operands beyond the arity mean nothing.
        let operands = operands.iter().take(kind.arity());
        operands.for_each(|operand| operand.write(to));
        position.write(to);
    }
}

impl FingerprintBytes for Condition {
    fn write(&self, to: &mut Fnv1a) {
        let Condition { test, operands } = self;
        test.write(to);
        let operands = operands.iter().take(test.map_or(1, Op::arity));
        operands.for_each(|operand| operand.write(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn value(value: u32, shadows: [Option<u32>; 2]) -> DualOperand {
        DualOperand { value, shadows }
    }

    fn branch() -> CondBranch {
        let mut operands = [DualOperand::default(); _];
        operands[..2].copy_from_slice(&[value(2, [None; 2]), value(3, [None; 2])]);
        CondBranch {
            condition: Condition {
                test: Some(Op::FLt),
                operands,
            },
            when: true,
            target: Edge::Exit(5),
            next: Edge::Block(1),
        }
    }

    fn inst(kind: ArithmeticKind) -> ArithmeticInst {
        let mut operands = [DualOperand::default(); _];
        operands[0] = value(7, [Some(8), None]);
        operands[1] = value(1, [None, Some(2)]);
        ArithmeticInst {
            kind,
            result: value(3, [Some(4), Some(5)]),
            operands,
            position: 9,
        }
    }

    fn words() -> Vec<WordLocation> {
        vec![
            WordLocation::Plane,
            WordLocation::Uniform,
            WordLocation::Constant(0x3f80_0000),
            WordLocation::Register(6),
            WordLocation::Global(11),
        ]
    }

    fn segments() -> Vec<Segment> {
        let whats = [
            ArithmeticKind::Op(Op::Mul),
            ArithmeticKind::Copy,
            ArithmeticKind::ReadShadow,
            ArithmeticKind::Canonicalise,
        ];
        vec![
            Segment {
                locations: words(),
                instructions: whats.map(inst).into(),
                live_out: vec![3, 4],
            },
            Segment {
                locations: vec![WordLocation::Plane],
                instructions: vec![inst(ArithmeticKind::Copy)],
                live_out: vec![1],
            },
        ]
    }

    fn cfgs() -> Vec<PointCfg> {
        let thens = [
            PointTerminator::Jump(Edge::Block(1)),
            PointTerminator::StepJump {
                to: Edge::Block(2),
                out: 8,
            },
            PointTerminator::Branch(branch()),
        ];
        vec![PointCfg {
            locations: words(),
            blocks: thens
                .map(|terminator| PointBlock {
                    instructions: vec![inst(ArithmeticKind::Op(Op::Sqrt))],
                    last_uses: vec![[4, 5, 6]],
                    terminator,
                    position: 4,
                })
                .into(),
            live_out: Some(vec![0x8000_0000_0000_0001, 2, 3]),
            entries: vec![CfgEntry {
                block: 0,
                at: 13,
                depth: 1,
            }],
        }]
    }

    #[test]
    fn fingerprints_are_fixed() {
        // Released objects have these: if one changes, the version of objects changes.
        assert_eq!(super::super::VERSION, 3);
        let found = [
            of_version::<Segment>("1.2.3", &[]),
            of_version("1.2.3", &segments()),
            of_version("1.2.3", &cfgs()),
        ];
        // Computed in Python, from the description above.
        let published = [
            0xa098_9ae6_e605_55c0,
            0x2bda_e9b3_2d30_99b9,
            0x8570_2fe7_226e_71e9,
        ];
        assert_eq!(found, published, "{found:016x?}");
    }

    #[test]
    fn any_change_alters_fingerprint() {
        type Change<T> = fn(&mut T);
        let changes: [Change<Vec<Segment>>; 18] = [
            |_| {},
            |segments| segments.swap(0, 1),
            |segments| segments.truncate(1),
            |segments| segments[0].locations.swap(0, 1),
            |segments| segments[0].locations[2] = WordLocation::Constant(0xbf80_0000),
            |segments| segments[0].locations[2] = WordLocation::Register(0x3f80_0000),
            |segments| segments[0].locations[2] = WordLocation::Global(0x3f80_0000),
            |segments| segments[0].locations[2] = WordLocation::RegisterPlane(0x3f80_0000),
            |segments| segments[0].live_out[1] = 5,
            |segments| segments[0].live_out.truncate(1),
            |segments| segments[0].instructions[0].kind = ArithmeticKind::Op(Op::Add),
            |segments| segments[0].instructions[1].kind = ArithmeticKind::Canonicalise,
            |segments| segments[0].instructions[1].kind = ArithmeticKind::ReadShadow,
            |segments| segments[0].instructions[0].result.value = 2,
            |segments| segments[0].instructions[0].result.shadows[1] = None,
            |segments| segments[0].instructions[0].operands[0].shadows.swap(0, 1),
            |segments| segments[0].instructions[0].operands[1].value = 0,
            |segments| segments[0].instructions[0].position = 10,
        ];
        let found: BTreeSet<u64> = changes
            .iter()
            .map(|change| {
                let mut segments = segments();
                change(&mut segments);
                fingerprint(&segments)
            })
            .collect();
        assert_eq!(found.len(), changes.len());
        fn branch_of(cfg: &mut PointCfg) -> &mut CondBranch {
            match &mut cfg.blocks[2].terminator {
                PointTerminator::Branch(branch) => branch,
                _ => panic!("the last block branches"),
            }
        }
        let changes: [Change<PointCfg>; 15] = [
            |_| {},
            |cfg| branch_of(cfg).when = false,
            |cfg| branch_of(cfg).target = Edge::Exit(4),
            |cfg| branch_of(cfg).next = Edge::Block(2),
            |cfg| branch_of(cfg).condition.test = Some(Op::FLe),
            |cfg| branch_of(cfg).condition.operands[1].value = 2,
            |cfg| cfg.locations.truncate(4),
            |cfg| cfg.blocks[0].position = 5,
            |cfg| cfg.blocks[0].terminator = PointTerminator::Jump(Edge::Block(2)),
            |cfg| cfg.blocks.swap(1, 2),
            |cfg| cfg.live_out = None,
            |cfg| cfg.live_out = Some(vec![1, 2, 3]),
            |cfg| cfg.entries[0].block = 1,
            |cfg| cfg.entries[0].at = 14,
            |cfg| cfg.entries[0].depth = 0,
        ];
        let found: BTreeSet<u64> = changes
            .iter()
            .map(|change| {
                let mut cfgs = cfgs();
                change(&mut cfgs[0]);
                fingerprint(&cfgs)
            })
            .collect();
        assert_eq!(found.len(), changes.len());
        // Fields without a meaning are left out.
        let mut others = segments();
        others[0].instructions[1].operands[1] = value(4, [None; 2]);
        assert_eq!(fingerprint(&others), fingerprint(&segments()));
    }

    #[test]
    fn op_names_are_unique() {
        let names: BTreeSet<&str> = Op::ALL.iter().map(|op| op.info().name).collect();
        assert_eq!(names.len(), Op::ALL.len());
    }
}
