//! A bytecode file as a tree: its numbers, strings and lists, so that one of them can be changed
//! while everything around it stays readable.
//!
//! This is a second description of the format, which only has to follow files that are valid.

use crate::fnv::FnvHasher;
use adumbra_vm::Bytecode;
use adumbra_vm::bytecode::{BytecodeInstruction, OperandRole};

/// Bytes of a file before its payload: magic, version, checksum.
pub const HEADER: usize = 16;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A byte.
    Byte(u8),
    /// A number.
    Word(u32),
    /// The position of an instruction.
    Position(u32),
    /// Bytes as they are, as those of an opcode.
    Raw(Vec<u8>),
    /// A string.
    Text(Vec<u8>),
    /// A list.
    List(ListNode),
    /// Parts one after the other.
    Group(Vec<Node>),
}

/// A list of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListNode {
    /// Its elements.
    pub items: Vec<Node>,
    /// The length that is written, if it is not theirs.
    pub length: Option<u32>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytecodeTree {
    /// Magic and version.
    start: [u8; 8],
    /// Its lists and numbers, in order.
    pub sections: Vec<Node>,
    /// The position of the instructions among them.
    pub code: usize,
}

impl BytecodeTree {
    /// The tree of a file; none if it is not valid.
    pub fn of(file: &[u8]) -> Option<BytecodeTree> {
        let program = Bytecode::from_bytes(file).ok()?;
        let mut rest = Parser(&file[HEADER..]);
        let mut sections = rest.interface();
        let code = sections.len() + 4;
        sections.extend(rest.program(program.code()));
        assert!(rest.0.is_empty(), "the format has changed");
        Some(BytecodeTree {
            start: file[..8].try_into().ok()?,
            sections,
            code,
        })
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        self.sections
            .iter()
            .for_each(|node| write(node, &mut payload));
        seal(&self.start, &payload)
    }

    /// The instructions.
    pub fn instructions(&mut self) -> &mut Vec<Node> {
        match &mut self.sections[self.code] {
            Node::List(list) => &mut list.items,
            _ => unreachable!("instructions are a list"),
        }
    }
}

/// A file of magic and version, the payload's checksum, and the payload.
pub fn seal(start: &[u8], payload: &[u8]) -> Vec<u8> {
    let checksum = FnvHasher::of(payload);
    [start, &checksum.to_le_bytes(), payload].concat()
}

impl Node {
    /// Calls a function on it, and on all parts of it.
    pub fn each(&mut self, call: &mut impl FnMut(&mut Node)) {
        call(self);
        match self {
            Node::List(ListNode { items, .. }) | Node::Group(items) => {
                items.iter_mut().for_each(|item| item.each(call));
            }
            _ => {}
        }
    }
}

fn write(node: &Node, to: &mut Vec<u8>) {
    match node {
        Node::Byte(byte) => to.push(*byte),
        Node::Word(word) | Node::Position(word) => leb128(*word, to),
        Node::Raw(bytes) => to.extend(bytes),
        Node::Text(text) => {
            leb128(text.len() as u32, to);
            to.extend(text);
        }
        Node::List(list) => {
            leb128(list.length.unwrap_or(list.items.len() as u32), to);
            list.items.iter().for_each(|item| write(item, to));
        }
        Node::Group(items) => items.iter().for_each(|item| write(item, to)),
    }
}

pub(super) fn leb128(mut word: u32, to: &mut Vec<u8>) {
    while word >= 0x80 {
        to.push(word as u8 | 0x80);
        word >>= 7;
    }
    to.push(word as u8);
}

/// Reads what is left of a valid file.
struct Parser<'a>(&'a [u8]);

impl Parser<'_> {
    fn take(&mut self, count: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn byte(&mut self) -> Node {
        Node::Byte(self.take(1)[0])
    }

    fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.take(1)[0];
            number |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return number;
            }
        }
    }

    fn word(&mut self) -> Node {
        Node::Word(self.number())
    }

    fn position(&mut self) -> Node {
        Node::Position(self.number())
    }

    fn text(&mut self) -> Node {
        let len = self.number() as usize;
        Node::Text(self.take(len).to_vec())
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Node) -> Node {
        let items = (0..self.number()).map(|_| item(self)).collect();
        let length = None;
        Node::List(ListNode { items, length })
    }

    fn span(&mut self) -> Node {
        Node::Group([(); 3].map(|()| self.word()).into())
    }

    fn ty(&mut self) -> Node {
        let tag = self.take(1)[0];
        let rest = match tag {
            0..=2 => vec![self.byte()],
            3 => vec![self.word(), self.ty()],
            _ => vec![self.text(), self.list(Parser::named_type)],
        };
        Node::Group([vec![Node::Byte(tag)], rest].concat())
    }

    fn named_type(&mut self) -> Node {
        Node::Group(vec![self.text(), self.ty()])
    }

    fn metadata(&mut self) -> Node {
        self.list(|rest| {
            let name = rest.text();
            let tag = rest.take(1)[0];
            let value = match tag {
                0 => rest.text(),
                _ => rest.word(),
            };
            Node::Group(vec![name, Node::Byte(tag), value])
        })
    }

    /// The ops in use, and what the host sees.
    fn interface(&mut self) -> Vec<Node> {
        let types_of = |rest: &mut Self| Node::Group(vec![rest.text(), rest.list(Parser::ty)]);
        vec![
            self.list(Parser::text),
            self.list(Parser::named_type),
            self.list(|rest| Node::Group(vec![rest.text(), rest.metadata(), rest.span()])),
            self.list(Parser::text),
            self.list(types_of),
            self.list(types_of),
            self.list(|rest| {
                let default = |rest: &mut Self| rest.list(Parser::word);
                Node::Group(vec![rest.text(), rest.ty(), default(rest), rest.metadata()])
            }),
            self.list(|rest| Node::Group(vec![rest.text(), rest.ty(), rest.metadata()])),
        ]
    }

    /// Everything else: constants, registers, arrays, lists, instructions, tapes, functions, entry,
    /// lanes of outputs, whether their derivatives are read, quads, recursion, places, buffers.
    fn program(&mut self, code: &[BytecodeInstruction]) -> Vec<Node> {
        let mut sections = vec![
            self.list(Parser::word),
            self.word(),
            self.list(|rest| Node::Group(vec![rest.word(), rest.word(), rest.byte()])),
            self.list(Parser::word),
        ];
        let mut instructions = code.iter();
        sections.push(self.list(|rest| {
            let instruction = instructions
                .next()
                .expect("the file has these instructions");
            rest.instruction(instruction)
        }));
        let has_tapes = |i: &BytecodeInstruction| i.opcode.roles().contains(&OperandRole::Tape);
        if code.iter().any(has_tapes) {
            let tape = |rest: &mut Self| Node::Group(vec![rest.list(Parser::byte), rest.byte()]);
            sections.push(self.list(tape));
        }
        sections.extend([
            self.list(|rest| {
                let start = [rest.text(), rest.word(), rest.position()];
                Node::Group([start.to_vec(), vec![rest.span(), rest.word()]].concat())
            }),
            self.word(),
            self.list(Parser::byte),
            self.byte(),
            self.byte(),
            self.byte(),
            self.list(|rest| Node::Group(vec![rest.position(), rest.span()])),
        ]);
        // Without buffers nothing is written of them.
        if !self.0.is_empty() {
            sections.push(self.list(|rest| {
                let start = [rest.text(), rest.ty(), rest.word(), rest.metadata()];
                Node::Group([start.to_vec(), vec![rest.span()]].concat())
            }));
        }
        sections
    }

    fn instruction(&mut self, code: &BytecodeInstruction) -> Node {
        let opcode = Node::Raw(self.take(4).to_vec());
        let roles = code.opcode.roles().into_iter();
        let roles = roles.filter(|role| *role != OperandRole::Unused);
        let words = roles.map(|role| match role {
            OperandRole::Target => self.position(),
            _ => self.word(),
        });
        Node::Group([vec![opcode], words.collect()].concat())
    }
}
