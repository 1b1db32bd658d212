//! The bytecode file format.
//!
//! A file is `magic, version, checksum` in 16 bytes, then the program. Numbers are LEB128. Strings
//! and lists come after their lengths, opcodes as in [`encoding`](super::encoding), ops by a table
//! of the names in use. [`program`] describes the format once, for both directions.
//!
//! A file is read in three steps, and none trusts the one before. The checksum finds accidents,
//! reading bounds every length by the bytes that there are, and validation checks all that engines
//! rely on.

use super::instruction::{BytecodeInstruction, Opcode, OperandRole};
use super::{Bytecode, BytecodeArray, BytecodeFunction, BytecodeTape, Interface, TOO_LARGE};
use adumbra_ir::codes::Code;
use adumbra_ir::diagnostic::Diagnostic;
use adumbra_ir::limits::{MAX_GLOBALS, MAX_TYPE_DEPTH, MAX_TYPE_SCALARS};
use adumbra_ir::memory::ARC_OVERHEAD;
use adumbra_ir::metadata::{Metadata, MetadataValue};
use adumbra_ir::module::{Buffer, BufferId, ClosureShape, Global, Input, Message, Output, Texture};
use adumbra_ir::quad::Quad;
use adumbra_ir::span::{FileId, Span};
use adumbra_ir::types::{Lanes, Scalar, StructType, Type};
use adumbra_ops::Op;
use std::sync::Arc;

/// The first bytes of a bytecode file.
pub const MAGIC: [u8; 4] = *b"\x7fadb";

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 8;

const HEADER: usize = 16;

/// Most bytes of a file.
pub const MAX_FILE_BYTES: usize = 1 << 26;

/// Bytes of memory that what is read may take: elements of lists take many times as much as in the
/// file, and types too.
const MAX_READ_BYTES: usize = 1 << 28;

/// Bytes that an allocator takes for a block beside what is in it. A file of short strings costs
/// time for its blocks, not memory.
const BLOCK_OVERHEAD: usize = 32;

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl Bytecode {
    /// Writes the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer {
            bytes: vec![0; HEADER],
            ops: Vec::new(),
        };
        for instruction in &self.code {
            if let Opcode::Arithmetic(op, _) | Opcode::Branch(op, _) = instruction.opcode
                && !writer.ops.contains(&op)
            {
                writer.ops.push(op);
            }
        }
        let done = program(&mut writer, &mut self.clone());
        debug_assert!(done.is_ok(), "writing does not fail");
        let mut bytes = writer.bytes;
        let sum = checksum(&bytes[HEADER..]);
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..HEADER].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads a program from the bytes of a file, which may be anything.
    ///
    /// # Errors
    /// `NotBytecode`, `BytecodeVersion`, `BytecodeDamaged` or `BytecodeInvalid`, without a span.
    pub fn from_bytes(bytes: &[u8]) -> Result<Bytecode, Diagnostic> {
        let error = |code, message: String| {
            Diagnostic::new(code, Span::default(), message).help("compile the shader again")
        };
        let (Some(header), true) = (bytes.get(..HEADER), bytes.starts_with(&MAGIC)) else {
            let message = "this is not a bytecode file: its first bytes are others";
            return Err(error(Code::NotBytecode, message.to_owned()));
        };
        let invalid = |what: String| {
            let message = format!("the bytecode file is invalid: {what}");
            error(Code::BytecodeInvalid, message)
        };
        if bytes.len() > MAX_FILE_BYTES {
            return Err(invalid(format!("it has more than {MAX_FILE_BYTES} bytes")));
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i]));
        if word(4) != VERSION {
            let message = format!(
                "the file has format {}, and only {VERSION} is read",
                word(4)
            );
            return Err(error(Code::BytecodeVersion, message));
        }
        let payload = &bytes[HEADER..];
        if u64::from(word(8)) | u64::from(word(12)) << 32 != checksum(payload) {
            let message = "the bytecode file is damaged: its checksum is another";
            return Err(error(Code::BytecodeDamaged, message.to_owned()));
        }
        let mut reader = Reader {
            bytes: payload,
            ops: Vec::new(),
            free: MAX_READ_BYTES,
        };
        let mut out = Bytecode::empty();
        let read = program(&mut reader, &mut out).and_then(|()| match reader.bytes {
            [] => super::validate(&out).and_then(|()| super::check_flow(&out)),
            _ => Err("there are bytes after its end".to_owned()),
        });
        match read {
            Ok(()) => {
                super::insert_queries(&mut out);
                Ok(out)
            }
            Err(what) => Err(invalid(what)),
        }
    }
}

type Done = Result<(), String>;

/// One direction: every method takes a reference that is written to the file, or set from it.
trait Stream {
    fn byte(&mut self, byte: &mut u8) -> Done;
    fn word(&mut self, word: &mut u32) -> Done;
    fn text(&mut self, text: &mut String) -> Done;
    /// Counts bytes of memory that are about to be taken, against the bound of reading.
    fn take(&mut self, bytes: usize) -> Done;
    /// The same for a block of an allocator, unless it is empty.
    fn take_block(&mut self, bytes: usize) -> Done {
        match bytes {
            0 => Ok(()),
            _ => self.take(BLOCK_OVERHEAD + bytes),
        }
    }
    /// A list: its length, bounded by the bytes that there are, then its elements, each read into a
    /// copy of `blank`.
    fn list<T: Clone>(
        &mut self,
        list: &mut Vec<T>,
        blank: &T,
        each: impl FnMut(&mut Self, &mut T) -> Done,
    ) -> Done;
    /// Whether the last part of a file is there; one that has nothing to say there ends before it.
    fn has_last_part(&mut self, is_needed: bool) -> bool;
    fn ops(&mut self) -> &mut Vec<Op>;
    fn opcode(&mut self, opcode: &mut Opcode) -> Done;
}

struct Writer {
    bytes: Vec<u8>,
    ops: Vec<Op>,
}

impl Stream for Writer {
    fn byte(&mut self, byte: &mut u8) -> Done {
        self.bytes.push(*byte);
        Ok(())
    }

    fn word(&mut self, word: &mut u32) -> Done {
        let mut rest = *word;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
        Ok(())
    }

    fn text(&mut self, text: &mut String) -> Done {
        self.word(&mut (text.len() as u32))?;
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn take(&mut self, _: usize) -> Done {
        Ok(())
    }

    fn list<T: Clone>(
        &mut self,
        list: &mut Vec<T>,
        _: &T,
        mut each: impl FnMut(&mut Self, &mut T) -> Done,
    ) -> Done {
        self.word(&mut (list.len() as u32))?;
        list.iter_mut().try_for_each(|item| each(self, item))
    }

    fn has_last_part(&mut self, is_needed: bool) -> bool {
        is_needed
    }

    fn ops(&mut self) -> &mut Vec<Op> {
        &mut self.ops
    }

    fn opcode(&mut self, opcode: &mut Opcode) -> Done {
        let mut bytes = opcode.encode();
        if let Opcode::Arithmetic(op, _) | Opcode::Branch(op, _) = opcode {
            let number = self.ops.iter().position(|o| o == op);
            bytes[1] = number.expect("all ops in use were collected") as u8;
        }
        self.bytes.extend_from_slice(&bytes);
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    ops: Vec<Op>,
    /// Bytes of memory that may still be taken.
    free: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<u8, String> {
        let (&first, rest) = self.bytes.split_first().ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(first)
    }

    /// A length of something whose elements take at least one byte.
    fn len(&mut self) -> Result<usize, String> {
        let mut len = 0;
        self.word(&mut len)?;
        let len = len as usize;
        if len > self.bytes.len() {
            return Err("a list is longer than the file".to_owned());
        }
        Ok(len)
    }
}

impl Stream for Reader<'_> {
    fn byte(&mut self, byte: &mut u8) -> Done {
        *byte = self.next()?;
        Ok(())
    }

    fn word(&mut self, word: &mut u32) -> Done {
        let mut all = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.next()?;
            all |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                *word = u32::try_from(all).map_err(|_| "a number has more than 32 bits")?;
                return Ok(());
            }
        }
        Err("a number has more than 32 bits".to_owned())
    }

    fn text(&mut self, text: &mut String) -> Done {
        let len = self.len()?;
        self.take_block(len)?;
        let (bytes, rest) = self.bytes.split_at(len);
        self.bytes = rest;
        *text = String::from_utf8(bytes.to_vec()).map_err(|_| "a text is not UTF-8")?;
        Ok(())
    }

    fn take(&mut self, bytes: usize) -> Done {
        self.free = self.free.checked_sub(bytes).ok_or(TOO_LARGE)?;
        Ok(())
    }

    fn list<T: Clone>(
        &mut self,
        list: &mut Vec<T>,
        blank: &T,
        mut each: impl FnMut(&mut Self, &mut T) -> Done,
    ) -> Done {
        let len = self.len()?;
        self.take(if len == 0 { 0 } else { BLOCK_OVERHEAD })?;
        for _ in 0..len {
            self.take(size_of::<T>())?;
            let mut item = blank.clone();
            each(self, &mut item)?;
            list.push(item);
        }
        Ok(())
    }

    fn has_last_part(&mut self, _: bool) -> bool {
        !self.bytes.is_empty()
    }

    fn ops(&mut self) -> &mut Vec<Op> {
        &mut self.ops
    }

    fn opcode(&mut self, opcode: &mut Opcode) -> Done {
        let mut bytes = [self.next()?, self.next()?, self.next()?, self.next()?];
        const WITH_OP: [u8; 2] = [1, 2];
        if WITH_OP.contains(&bytes[0]) {
            let op = self.ops.get(usize::from(bytes[1]));
            bytes[1] = *op.ok_or("an instruction names no op")? as u8;
        }
        *opcode = Opcode::decode(bytes).ok_or("an instruction is unknown")?;
        Ok(())
    }
}

/// The whole file after its header.
fn program(s: &mut impl Stream, p: &mut Bytecode) -> Done {
    op_names(s)?;
    interface(s, &mut p.interface)?;
    s.list(&mut p.constants, &0, |s, constant| s.word(constant))?;
    s.word(&mut p.registers)?;
    let array = BytecodeArray {
        base: 0,
        len: 0,
        lanes: Lanes::NONE,
    };
    s.list(&mut p.arrays, &array, |s, array| {
        s.word(&mut array.base)?;
        s.word(&mut array.len)?;
        lanes(s, &mut array.lanes)
    })?;
    s.list(&mut p.lists, &0, |s, register| s.word(register))?;
    let instruction = BytecodeInstruction::new(Opcode::Return, []);
    s.list(&mut p.code, &instruction, |s, instruction| {
        s.opcode(&mut instruction.opcode)?;
        let roles = instruction.opcode.roles();
        for (word, role) in instruction.words.iter_mut().zip(roles) {
            if role != OperandRole::Unused {
                s.word(word)?;
            }
        }
        Ok(())
    })?;
    // Programs without tapes have no list of them.
    let names_tape = |code: &BytecodeInstruction| code.opcode.roles().contains(&OperandRole::Tape);
    if p.code.iter().any(names_tape) {
        s.list(&mut p.tapes, &BytecodeTape::default(), tape)?;
    }
    let function = BytecodeFunction {
        name: String::new(),
        variant: 0,
        start: 0,
        span: Span::default(),
        elements: 0,
    };
    s.list(&mut p.functions, &function, |s, function| {
        s.text(&mut function.name)?;
        s.word(&mut function.variant)?;
        s.word(&mut function.start)?;
        span(s, &mut function.span)?;
        s.word(&mut function.elements)
    })?;
    s.word(&mut p.entry)?;
    s.list(&mut p.output_lanes, &Lanes::NONE, lanes)?;
    flag(s, &mut p.output_derivatives)?;
    quad(s, &mut p.quad)?;
    flag(s, &mut p.recursive)?;
    s.list(&mut p.spans, &Default::default(), |s, (position, at)| {
        s.word(position)?;
        span(s, at)
    })?;
    match s.has_last_part(!p.interface.buffers.is_empty()) {
        true => buffers(s, &mut p.interface.buffers),
        false => Ok(()),
    }
}

fn buffers(s: &mut impl Stream, buffers: &mut Vec<Buffer>) -> Done {
    let blank = Buffer {
        name: String::new(),
        element: Type::FLOAT,
        sum_of: None,
        metadata: Vec::new(),
        span: Span::default(),
    };
    s.list(buffers, &blank, |s, buffer| {
        s.text(&mut buffer.name)?;
        whole_type(s, &mut buffer.element)?;
        // 0 for none, else one more than its number.
        let mut of = buffer.sum_of.map_or(0, |of| of.0 + 1);
        s.word(&mut of)?;
        buffer.sum_of = of.checked_sub(1).map(BufferId);
        metadata(s, &mut buffer.metadata)?;
        span(s, &mut buffer.span)
    })
}

fn flag(s: &mut impl Stream, flag: &mut bool) -> Done {
    let mut byte = (*flag).into();
    s.byte(&mut byte)?;
    *flag = byte != 0;
    Ok(())
}

/// 0 for none, else one more than its position among all rules.
fn quad(s: &mut impl Stream, quad: &mut Option<Quad>) -> Done {
    let position = Quad::ALL.iter().position(|rule| Some(*rule) == *quad);
    let mut number = position.map_or(0, |position| position as u8 + 1);
    s.byte(&mut number)?;
    *quad = match number {
        0 => None,
        n => {
            let rule = Quad::ALL.get(usize::from(n - 1));
            Some(*rule.ok_or("the rule of its quads is unknown")?)
        }
    };
    Ok(())
}

fn op_names(s: &mut impl Stream) -> Done {
    let mut names: Vec<String> = s.ops().iter().map(|op| op.info().name.to_owned()).collect();
    s.list(&mut names, &String::new(), |s, name| s.text(name))?;
    let unknown = |name: &String| format!("it uses an op that is not known here, `{name}`");
    let ops: Result<Vec<Op>, String> = names
        .iter()
        .map(|n| Op::from_name(n).ok_or_else(|| unknown(n)))
        .collect();
    *s.ops() = ops?;
    Ok(())
}

fn interface(s: &mut impl Stream, i: &mut Interface) -> Done {
    let (name, ty) = (String::new(), Type::FLOAT);
    let global = Global {
        name: name.clone(),
        ty: ty.clone(),
    };
    s.list(&mut i.globals, &global, |s, global| {
        s.text(&mut global.name)?;
        whole_type(s, &mut global.ty)
    })?;
    if i.globals.len() > MAX_GLOBALS {
        return Err(format!("it has more than {MAX_GLOBALS} globals"));
    }
    s.list(&mut i.textures, &Texture::default(), |s, texture| {
        s.text(&mut texture.name)?;
        metadata(s, &mut texture.metadata)?;
        span(s, &mut texture.span)
    })?;
    s.list(&mut i.resources, &name, |s, name| s.text(name))?;
    let shape = ClosureShape {
        name: name.clone(),
        params: Vec::new(),
    };
    s.list(&mut i.closures, &shape, |s, shape| {
        s.text(&mut shape.name)?;
        s.list(&mut shape.params, &ty, whole_type)
    })?;
    s.list(&mut i.messages, &Message::default(), |s, message| {
        s.text(&mut message.format)?;
        s.list(&mut message.params, &ty, whole_type)
    })?;
    let input = Input {
        name: name.clone(),
        ty: ty.clone(),
        default: Vec::new(),
        metadata: Vec::new(),
    };
    s.list(&mut i.inputs, &input, |s, input| {
        s.text(&mut input.name)?;
        whole_type(s, &mut input.ty)?;
        s.list(&mut input.default, &0, |s, word| s.word(word))?;
        metadata(s, &mut input.metadata)
    })?;
    let output = Output {
        name,
        ty,
        metadata: Vec::new(),
    };
    s.list(&mut i.outputs, &output, |s, output| {
        s.text(&mut output.name)?;
        whole_type(s, &mut output.ty)?;
        metadata(s, &mut output.metadata)
    })
}

/// Entries: a name, a tag, and a string for tag 0, or the bits of a scalar of the type that another
/// tag names.
fn metadata(s: &mut impl Stream, list: &mut Vec<Metadata>) -> Done {
    let blank = Metadata {
        name: String::new(),
        value: MetadataValue::String(String::new()),
    };
    s.list(list, &blank, |s, entry| {
        s.text(&mut entry.name)?;
        let (mut tag, mut bits) = match entry.value.scalar() {
            Ok((ty, bits)) => (ty as u8 + 1, bits),
            Err(_) => (0, 0),
        };
        s.byte(&mut tag)?;
        if tag == 0 {
            let mut text = entry.value.as_str().unwrap_or_default().to_owned();
            s.text(&mut text)?;
            entry.value = MetadataValue::String(text);
            return Ok(());
        }
        s.word(&mut bits)?;
        let ty = Scalar::ALL.get(usize::from(tag - 1));
        let value = ty.and_then(|&ty| MetadataValue::from_scalar(ty, bits));
        entry.value = value.ok_or("a value of metadata is none")?;
        Ok(())
    })
}

fn tape(s: &mut impl Stream, tape: &mut BytecodeTape) -> Done {
    s.list(&mut tape.fields, &Scalar::F32, scalar)?;
    lanes(s, &mut tape.lanes)
}

fn scalar(s: &mut impl Stream, scalar: &mut Scalar) -> Done {
    let mut number = *scalar as u8;
    s.byte(&mut number)?;
    let known = Scalar::ALL.get(usize::from(number));
    *scalar = *known.ok_or("a type is unknown")?;
    Ok(())
}

fn lanes(s: &mut impl Stream, lanes: &mut Lanes) -> Done {
    let mut bits = lanes.bits();
    s.byte(&mut bits)?;
    *lanes = Lanes::from_bits(bits);
    Ok(())
}

fn span(s: &mut impl Stream, span: &mut Span) -> Done {
    let mut file = span.file.0.into();
    s.word(&mut file)?;
    s.word(&mut span.start)?;
    s.word(&mut span.end)?;
    span.file = FileId(u16::try_from(file).map_err(|_| "a place is in no file")?);
    Ok(())
}

fn whole_type(s: &mut impl Stream, ty: &mut Type) -> Done {
    type_within(s, ty, MAX_TYPE_DEPTH).map(|_| ())
}

/// A type that nests at most `depth` deep. Returns its number of scalars.
fn type_within(s: &mut impl Stream, ty: &mut Type, depth: usize) -> Result<u64, String> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err("a type nests too deep".to_owned());
    };
    let mut tag = match ty {
        Type::Scalar(_) => 0,
        Type::Vector(_) => 1,
        Type::Matrix(_) => 2,
        Type::Array(..) => 3,
        Type::Struct(_) => 4,
    };
    s.byte(&mut tag)?;
    let scalars = match tag {
        0 => {
            let mut whole = Scalar::ALL[0];
            if let Type::Scalar(scalar) = ty {
                whole = *scalar;
            }
            scalar(s, &mut whole)?;
            *ty = Type::Scalar(whole);
            1
        }
        1 | 2 => {
            let mut n = 0;
            if let Type::Vector(m) | Type::Matrix(m) = ty {
                n = *m;
            }
            s.byte(&mut n)?;
            if !(2..=4).contains(&n) {
                return Err("a vector or matrix has not 2 to 4 rows".to_owned());
            }
            let matrix = tag == 2;
            *ty = if matrix {
                Type::Matrix(n)
            } else {
                Type::Vector(n)
            };
            let n = u64::from(n);
            if matrix { n * n } else { n }
        }
        3 => {
            let (mut element, mut len) = (Type::FLOAT, 0);
            if let Type::Array(e, n) = ty {
                (element, len) = ((**e).clone(), *n);
            }
            s.word(&mut len)?;
            let scalars = type_within(s, &mut element, depth)?;
            s.take_block(ARC_OVERHEAD + size_of::<Type>())?;
            *ty = Type::Array(Arc::new(element), len);
            scalars * u64::from(len)
        }
        4 => {
            let (mut name, mut members) = (String::new(), Vec::new());
            if let Type::Struct(whole) = ty {
                name.clone_from(&whole.name);
                members.clone_from(&whole.members);
            }
            s.text(&mut name)?;
            // The struct itself counts, so that arrays of empty ones are bounded too.
            let mut scalars = 1;
            let member = (String::new(), Type::FLOAT);
            s.list(&mut members, &member, |s, (name, ty)| {
                s.text(name)?;
                scalars += type_within(s, ty, depth)?;
                Ok(())
            })?;
            s.take_block(ARC_OVERHEAD + size_of::<StructType>())?;
            *ty = Type::Struct(Arc::new(StructType { name, members }));
            scalars
        }
        _ => return Err("a type is unknown".to_owned()),
    };
    if scalars > MAX_TYPE_SCALARS {
        return Err("a type has too many scalars".to_owned());
    }
    Ok(scalars)
}
