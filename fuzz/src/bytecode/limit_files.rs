//! Files as long as a file may be, each full of one thing that takes memory or time to load.

use super::tree::{BytecodeTree, Node, leb128};
use crate::oracle::chain::compiler;
use crate::oracle::modes::MODES;
use adumbra::Sources;
use adumbra_vm::bytecode::MAX_FILE_BYTES;

/// A list that fills a file.
#[derive(Clone, Copy, Debug)]
pub struct LimitFile {
    /// What the list has.
    pub name: &'static str,
    /// The section that it is, before the instructions if it is negative.
    section: isize,
    /// Elements that are written together, and how those from a position on are.
    together: u32,
    write: fn(u32, &mut Vec<u8>),
}

/// Files of each kind.
pub const LIMIT_FILES: [LimitFile; 8] = [
    LimitFile {
        name: "globals",
        section: -11,
        together: 1,
        write: |at, to| {
            // The shortest names that all differ.
            let name = (0..12).map(|digit| b'a' + (at >> (2 * digit)) as u8 % 4);
            to.push(12);
            to.extend(name);
            to.extend([0, 0]);
        },
    },
    LimitFile {
        name: "arrays of arrays",
        section: -11,
        together: 1,
        write: |_, to| {
            to.push(0);
            (0..31).for_each(|_| to.extend([3, 1]));
            to.extend([0, 0]);
        },
    },
    LimitFile {
        name: "structs",
        section: -11,
        together: 1,
        write: |_, to| {
            to.push(0);
            (0..31).for_each(|_| to.extend([4, 0, 1, 0]));
            to.extend([4, 0, 0]);
        },
    },
    LimitFile {
        name: "strings",
        section: -9,
        together: 1,
        write: |_, to| to.extend([1, b'a']),
    },
    LimitFile {
        name: "listed registers",
        section: -1,
        together: 1,
        write: |_, to| to.push(0),
    },
    LimitFile {
        name: "instructions",
        section: 0,
        together: 2,
        write: |_, to| to.extend([6, 0, 0, 0, 0x80, 0x80, 0, 0x80, 0, 18, 0, 0, 0]),
    },
    LimitFile {
        name: "loops",
        section: 0,
        together: 1,
        write: |at, to| {
            to.extend([5, 0, 0, 0]);
            leb128(at, to);
        },
    },
    LimitFile {
        name: "places",
        section: 7,
        together: 1,
        write: |at, to| {
            leb128(at, to);
            to.extend([0; 3]);
        },
    },
];

impl LimitFile {
    /// A file of `len` bytes, less a few.
    pub fn of_len(&self, len: usize) -> Vec<u8> {
        let empty = Sources::new("empty.adu", "shader main() {}");
        let program = compiler(&MODES[0]).compile(&empty);
        let file = program.expect("a shader without statements is one");
        let tree = BytecodeTree::of(&file.to_bytecode());
        let mut tree = tree.expect("it was compiled");
        let (mut elements, mut count) = (Vec::with_capacity(len), 0);
        let around = tree.bytes().len() + 5;
        while around + elements.len() < len.saturating_sub(100) {
            (self.write)(count, &mut elements);
            count += self.together;
        }
        let mut section = Vec::new();
        leb128(count, &mut section);
        section.append(&mut elements);
        let at = tree.code.checked_add_signed(self.section);
        tree.sections[at.expect("a section")] = Node::Raw(section);
        tree.sections[tree.code - 3] = Node::Word(1);
        tree.bytes()
    }

    /// The longest file.
    pub fn longest(&self) -> Vec<u8> {
        self.of_len(MAX_FILE_BYTES)
    }
}
