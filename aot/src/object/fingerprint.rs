//! A number that ties linked code to what it was made of.
//!
//! It is FNV-1a of 64 bits over bytes that this file writes out, field by field, so that it depends on
//! neither the compiler, nor the host, nor the order of the op table. Linked code runs only if the
//! library makes the same number from the program: another way of writing the bytes down is another
//! [`VERSION`](super::VERSION) of objects.

use adumbra_ops::Op;
use adumbra_vm::native::{
    AT_ONCE, Block, Branch, Computed, End, Entry, Flow, Home, Piece, Question, REACH, Region,
    Stretch, Then, Unit, Value, Way, What,
};

/// Tells units or flows from others: kernels are of use to those alone that they were made of.
pub(crate) fn fingerprint<T: Bytes>(all: &[T]) -> u64 {
    of_version(env!("CARGO_PKG_VERSION"), all)
}

/// The same for a version of the library: another one may compute a row otherwise.
fn of_version<T: Bytes>(version: &str, all: &[T]) -> u64 {
    let mut to = Fnv(Fnv::BASIS);
    version.write(&mut to);
    // What kernels may read and write.
    to.number(AT_ONCE as u32);
    to.number(REACH as u32);
    all.write(&mut to);
    to.0
}

/// FNV-1a (Fowler, Noll, Vo; RFC 9923), 64 bits.
pub(crate) struct Fnv(u64);

impl Fnv {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(Fnv::PRIME);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    /// Little-endian.
    fn number(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }
}

/// What a fingerprint can be taken of. Each way to write is such that no two values give the same
/// bytes: lists begin with their length, alternatives with a number of their own.
pub(crate) trait Bytes {
    /// Adds the bytes that stand for it.
    fn write(&self, to: &mut Fnv);
}

impl Bytes for u32 {
    fn write(&self, to: &mut Fnv) {
        to.number(*self);
    }
}

impl Bytes for u64 {
    fn write(&self, to: &mut Fnv) {
        to.bytes(&self.to_le_bytes());
    }
}

impl Bytes for bool {
    fn write(&self, to: &mut Fnv) {
        to.byte(u8::from(*self));
    }
}

impl Bytes for str {
    fn write(&self, to: &mut Fnv) {
        to.number(self.len() as u32);
        to.bytes(self.as_bytes());
    }
}

impl<T: Bytes> Bytes for [T] {
    fn write(&self, to: &mut Fnv) {
        to.number(self.len() as u32);
        self.iter().for_each(|item| item.write(to));
    }
}

/// As many as the type says.
impl<T: Bytes, const N: usize> Bytes for [T; N] {
    fn write(&self, to: &mut Fnv) {
        self.iter().for_each(|item| item.write(to));
    }
}

impl<T: Bytes> Bytes for Vec<T> {
    fn write(&self, to: &mut Fnv) {
        self[..].write(to);
    }
}

impl<T: Bytes> Bytes for Option<T> {
    fn write(&self, to: &mut Fnv) {
        match self {
            None => to.byte(0),
            Some(item) => {
                to.byte(1);
                item.write(to);
            }
        }
    }
}

impl Bytes for Op {
    fn write(&self, to: &mut Fnv) {
        self.info().name.write(to);
    }
}

/// Writes structs as their fields in order. Each field is named, so that none is forgotten.
macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => { $(
        impl Bytes for $ty {
            fn write(&self, to: &mut Fnv) {
                let $ty { $($field),* } = self;
                $($field.write(to);)*
            }
        }
    )* };
}

fields! {
    Region { words, blocks, exits, kept }
    Block { rows, steps, end, position }
    Branch { question, when, target, next }
    Stretch { words, rows, stored }
    Flow { words, pieces, live, entries }
    Piece { rows, then, position }
    Entry { piece, at, depth }
    Value { value, shadows }
}

impl Bytes for Unit {
    fn write(&self, to: &mut Fnv) {
        match self {
            Unit::Stretch(stretch) => {
                to.byte(0);
                stretch.write(to);
            }
            Unit::Region(region) => {
                to.byte(1);
                region.write(to);
            }
        }
    }
}

impl Bytes for End {
    fn write(&self, to: &mut Fnv) {
        match self {
            End::Jump(way) => {
                to.byte(0);
                way.write(to);
            }
            End::Loop(block) => {
                to.byte(1);
                block.write(to);
            }
            End::Branch(branch) => {
                to.byte(2);
                branch.write(to);
            }
        }
    }
}

impl Bytes for Then {
    fn write(&self, to: &mut Fnv) {
        match self {
            Then::Go(way) => {
                to.byte(0);
                way.write(to);
            }
            Then::Step { to: way, out } => {
                to.byte(1);
                way.write(to);
                out.write(to);
            }
            Then::Branch(branch) => {
                to.byte(2);
                branch.write(to);
            }
        }
    }
}

impl Bytes for Way {
    fn write(&self, to: &mut Fnv) {
        let (kind, number) = match *self {
            Way::Block(block) => (0, block),
            Way::Exit(exit) => (1, exit),
        };
        to.byte(kind);
        to.number(number);
    }
}

impl Bytes for Home {
    fn write(&self, to: &mut Fnv) {
        let (kind, number) = match *self {
            Home::Plane => (0, 0),
            Home::Cell => (1, 0),
            Home::Constant(bits) => (2, bits),
            Home::Slot(slot) => (3, slot),
            Home::Global(word) => (4, word),
        };
        to.byte(kind);
        to.number(number);
    }
}

impl Bytes for What {
    fn write(&self, to: &mut Fnv) {
        match self {
            What::Row(op) => {
                to.byte(0);
                op.write(to);
            }
            What::Copy => to.byte(1),
            What::ReadShadow => to.byte(2),
            What::Leaving => to.byte(3),
        }
    }
}

impl Bytes for Computed {
    fn write(&self, to: &mut Fnv) {
        let Computed {
            what,
            result,
            operands,
            position,
        } = self;
        what.write(to);
        result.write(to);
        // So many there are; those beyond mean nothing.
        let operands = operands.iter().take(what.arity());
        operands.for_each(|operand| operand.write(to));
        position.write(to);
    }
}

impl Bytes for Question {
    fn write(&self, to: &mut Fnv) {
        let Question { test, operands } = self;
        test.write(to);
        let operands = operands.iter().take(test.map_or(1, Op::arity));
        operands.for_each(|operand| operand.write(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn value(value: u32, shadows: [Option<u32>; 2]) -> Value {
        Value { value, shadows }
    }

    fn branch() -> Branch {
        let mut operands = [Value::default(); _];
        operands[..2].copy_from_slice(&[value(2, [None; 2]), value(3, [None; 2])]);
        Branch {
            question: Question {
                test: Some(Op::FLt),
                operands,
            },
            when: true,
            target: Way::Exit(5),
            next: Way::Block(1),
        }
    }

    fn row(what: What) -> Computed {
        let mut operands = [Value::default(); _];
        operands[0] = value(7, [Some(8), None]);
        operands[1] = value(1, [None, Some(2)]);
        Computed {
            what,
            result: value(3, [Some(4), Some(5)]),
            operands,
            position: 9,
        }
    }

    fn words() -> Vec<Home> {
        vec![
            Home::Plane,
            Home::Cell,
            Home::Constant(0x3f80_0000),
            Home::Slot(6),
            Home::Global(11),
        ]
    }

    /// One of everything that there is.
    fn units() -> Vec<Unit> {
        let whats = [
            What::Row(Op::Mul),
            What::Copy,
            What::ReadShadow,
            What::Leaving,
        ];
        let block = |end| Block {
            rows: vec![row(What::Copy)],
            steps: 1,
            end,
            position: 12,
        };
        vec![
            Unit::Stretch(Stretch {
                words: words(),
                rows: whats.map(row).into(),
                stored: vec![3, 4],
            }),
            Unit::Region(Region {
                words: vec![Home::Plane],
                blocks: vec![
                    block(End::Jump(Way::Block(1))),
                    block(End::Branch(branch())),
                    block(End::Loop(0)),
                ],
                exits: 6,
                kept: vec![1],
            }),
        ]
    }

    fn flows() -> Vec<Flow> {
        let thens = [
            Then::Go(Way::Block(1)),
            Then::Step {
                to: Way::Block(2),
                out: 8,
            },
            Then::Branch(branch()),
        ];
        vec![Flow {
            words: words(),
            pieces: thens
                .map(|then| Piece {
                    rows: vec![row(What::Row(Op::Sqrt))],
                    then,
                    position: 4,
                })
                .into(),
            live: Some(vec![0x8000_0000_0000_0001, 2, 3]),
            entries: vec![Entry {
                piece: 0,
                at: 13,
                depth: 1,
            }],
        }]
    }

    #[test]
    fn fnv_vectors_are_the_published_ones() {
        let of = |text: &str| {
            let mut to = Fnv(Fnv::BASIS);
            to.bytes(text.as_bytes());
            to.0
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn fingerprints_are_fixed() {
        // Objects in the world have these: if one changes, so does the version of objects.
        assert_eq!(super::super::VERSION, 2);
        let found = [
            of_version::<Unit>("1.2.3", &[]),
            of_version("1.2.3", &units()),
            of_version("1.2.3", &flows()),
        ];
        // Worked out in Python, from the description above.
        let kept = [
            0x4de5_46be_d2a7_d5e0,
            0xbe32_0f57_e34a_c645,
            0x032f_6eec_7473_ffc9,
        ];
        assert_eq!(found, kept, "{found:016x?}");
    }

    #[test]
    fn each_change_changes_the_fingerprint() {
        type Change<T> = fn(&mut T);
        fn stretch(units: &mut [Unit]) -> &mut Stretch {
            match &mut units[0] {
                Unit::Stretch(stretch) => stretch,
                Unit::Region(_) => panic!("the first is a stretch"),
            }
        }
        fn region(units: &mut [Unit]) -> &mut Region {
            match &mut units[1] {
                Unit::Region(region) => region,
                Unit::Stretch(_) => panic!("the second is a region"),
            }
        }
        fn branch_of(units: &mut [Unit]) -> &mut Branch {
            match &mut region(units).blocks[1].end {
                End::Branch(branch) => branch,
                _ => panic!("the second block branches"),
            }
        }
        let changes: [Change<Vec<Unit>>; 29] = [
            |_| {},
            |units| units.swap(0, 1),
            |units| units.truncate(1),
            |units| stretch(units).words.swap(0, 1),
            |units| stretch(units).words[2] = Home::Constant(0xbf80_0000),
            |units| stretch(units).words[2] = Home::Slot(0x3f80_0000),
            |units| stretch(units).words[2] = Home::Global(0x3f80_0000),
            |units| stretch(units).stored[1] = 5,
            |units| stretch(units).stored.truncate(1),
            |units| stretch(units).rows[0].what = What::Row(Op::Add),
            |units| stretch(units).rows[1].what = What::Leaving,
            |units| stretch(units).rows[1].what = What::ReadShadow,
            |units| stretch(units).rows[0].result.value = 2,
            |units| stretch(units).rows[0].result.shadows[1] = None,
            |units| stretch(units).rows[0].operands[0].shadows.swap(0, 1),
            |units| stretch(units).rows[0].operands[1].value = 0,
            |units| stretch(units).rows[0].position = 10,
            |units| region(units).words[0] = Home::Cell,
            |units| region(units).exits = 7,
            |units| region(units).kept[0] = 2,
            |units| region(units).blocks[0].steps = 2,
            |units| region(units).blocks[0].position = 13,
            |units| region(units).blocks[0].end = End::Jump(Way::Exit(1)),
            |units| region(units).blocks[0].end = End::Loop(1),
            |units| branch_of(units).when = false,
            |units| branch_of(units).target = Way::Exit(4),
            |units| branch_of(units).next = Way::Block(2),
            |units| branch_of(units).question.test = Some(Op::FLe),
            |units| branch_of(units).question.operands[1].value = 2,
        ];
        let found: BTreeSet<u64> = changes
            .iter()
            .map(|change| {
                let mut units = units();
                change(&mut units);
                fingerprint(&units)
            })
            .collect();
        assert_eq!(found.len(), changes.len());
        let changes: [Change<Flow>; 10] = [
            |_| {},
            |flow| flow.words.truncate(4),
            |flow| flow.pieces[0].position = 5,
            |flow| flow.pieces[0].then = Then::Go(Way::Block(2)),
            |flow| flow.pieces.swap(1, 2),
            |flow| flow.live = None,
            |flow| flow.live = Some(vec![1, 2, 3]),
            |flow| flow.entries[0].piece = 1,
            |flow| flow.entries[0].at = 14,
            |flow| flow.entries[0].depth = 0,
        ];
        let found: BTreeSet<u64> = changes
            .iter()
            .map(|change| {
                let mut flows = flows();
                change(&mut flows[0]);
                fingerprint(&flows)
            })
            .collect();
        assert_eq!(found.len(), changes.len());
        // What means nothing is left out.
        let mut others = units();
        stretch(&mut others).rows[1].operands[1] = value(4, [None; 2]);
        assert_eq!(fingerprint(&others), fingerprint(&units()));
    }

    #[test]
    fn op_names_tell_ops_apart() {
        let names: BTreeSet<&str> = Op::ALL.iter().map(|op| op.info().name).collect();
        assert_eq!(names.len(), Op::ALL.len());
    }
}
