//! Bytecode: a program for the register machine, the same for every engine.
//!
//! A [`Bytecode`] is immutable, and sound to run once it exists: lowering alone makes it, and
//! validates it, so engines access registers without checks. All storage is laid out statically:
//! registers have absolute numbers, each function has its own range, and functions that are never
//! active together share theirs.

pub mod instruction;
mod listing;
mod operands;
mod validate;
mod work;

pub use instruction::{
    BytecodeInstruction, Opcode, OperandRole, Register, SampleMip, ShadowPattern, Successors,
    WORDS, register_count,
};

#[cfg(feature = "batch")]
pub(crate) use instruction::value_registers;
pub(crate) use operands::Operands;
pub(crate) use validate::validate;
pub(crate) use work::{insert_queries, query_period};

use adumbra_ir::heap_of;
use adumbra_ir::host::Limits;
use adumbra_ir::memory::HeapSize;
use adumbra_ir::module::{Buffer, ClosureShape, Global, Input, Message, Output, Texture};
use adumbra_ir::quad::Quad;
use adumbra_ir::span::Span;
use adumbra_ir::types::{Lanes, Scalar};

/// The most registers that a program may take: values, arrays with their shadows, outputs.
pub const MAX_REGISTERS: u32 = 1 << 24;

/// The most registers of a function that may be active twice, for its parameters and values, since
/// its calls save them.
pub const MAX_SAVED_REGISTERS: u32 = 1 << 15;

/// The most registers that the lists of all instructions name together: arguments of closures and
/// messages, words of records. Engines resolve them one by one.
pub const MAX_LISTED_REGISTERS: u64 = 1 << 22;

/// A local array in the register file: consecutive elements, each with its shadows like any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytecodeArray {
    /// The register of its first element.
    pub base: u32,
    /// Number of elements, at least 1.
    pub len: u32,
    /// The lanes of its elements.
    pub lanes: Lanes,
}

impl BytecodeArray {
    /// Registers from one element to the next.
    pub const fn stride(self) -> u32 {
        register_count(self.lanes)
    }

    /// How many registers it takes.
    pub const fn registers(self) -> u32 {
        self.len * self.stride()
    }
}

/// A tape of a point: records of one kind, the last of which is taken first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BytecodeTape {
    /// The types of a record's values.
    pub fields: Vec<Scalar>,
    /// The lanes of those that are floats.
    pub lanes: Lanes,
}

impl BytecodeTape {
    /// The lanes of a field.
    pub fn lanes_of(&self, field: Scalar) -> Lanes {
        match field {
            Scalar::F32 => self.lanes,
            _ => Lanes::NONE,
        }
    }

    /// The words of a record: each value, then those of its shadows that it has.
    pub fn words(&self) -> usize {
        let words = |&field: &Scalar| 1 + self.lanes_of(field).count() as usize;
        self.fields.iter().map(words).sum()
    }
}

/// A function of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytecodeFunction {
    /// Its name in the source.
    pub name: String,
    /// The number of the variant of the source function.
    pub variant: u32,
    /// Position of its first instruction; functions are in order.
    pub start: u32,
    /// Where it is declared.
    pub span: Span,
    /// Elements of its arrays, which count against the limit while it is active.
    pub elements: u32,
}

/// The interface of a program for a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interface {
    /// The members of the host's globals in order: of a member with n scalars n values, n ddx, n
    /// ddy.
    pub globals: Vec<Global>,
    /// The textures.
    pub textures: Vec<Texture>,
    /// The buffers, sums among them.
    pub buffers: Vec<Buffer>,
    /// Names of the resources.
    pub resources: Vec<String>,
    /// Shapes of the closures.
    pub closures: Vec<ClosureShape>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The parameters that the host may set.
    pub inputs: Vec<Input>,
    /// The outputs.
    pub outputs: Vec<Output>,
}

impl Interface {
    /// How many words the globals take: three for each scalar.
    pub fn global_words(&self) -> usize {
        self.globals.iter().map(|g| 3 * g.ty.scalar_count()).sum()
    }

    /// How many words the inputs take: one for each scalar.
    pub fn input_words(&self) -> usize {
        self.inputs.iter().map(|i| i.ty.scalar_count()).sum()
    }

    /// How many scalars the arguments of a closure shape have.
    pub(crate) fn arguments(&self, shape: usize) -> usize {
        let params = &self.closures[shape].params;
        params.iter().map(adumbra_ir::Type::scalar_count).sum()
    }

    /// The type of each scalar of the outputs, in order.
    pub fn output_scalars(&self) -> Vec<Scalar> {
        let mut scalars = Vec::new();
        for output in &self.outputs {
            output.ty.for_each_scalar(&mut |s| scalars.push(s));
        }
        scalars
    }
}

/// A program for the register machine. See the head of the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Bytecode {
    pub(crate) interface: Interface,
    pub(crate) code: Vec<BytecodeInstruction>,
    /// Registers that an instruction with too many operands refers to.
    pub(crate) lists: Vec<u32>,
    pub(crate) constants: Vec<u32>,
    pub(crate) arrays: Vec<BytecodeArray>,
    /// The tapes that instructions name.
    pub(crate) tapes: Vec<BytecodeTape>,
    pub(crate) functions: Vec<BytecodeFunction>,
    /// The shader itself, in `functions`.
    pub(crate) entry: u32,
    /// The lanes of each scalar of the outputs; those that it lacks read as zero.
    pub(crate) output_lanes: Vec<Lanes>,
    /// Whether the host reads the derivatives of the outputs. If not, no output has lanes.
    pub(crate) output_derivatives: bool,
    /// The rule of derivatives by differences, if points are evaluated in quads.
    pub(crate) quad: Option<Quad>,
    /// The number of registers, constants excluded. The outputs come first, three registers for
    /// each scalar; then the inputs.
    pub(crate) registers: u32,
    /// Whether a function can be active twice at once.
    pub(crate) recursive: bool,
    /// The source spans of instructions that can fault, by rising position.
    pub(crate) spans: Vec<(u32, Span)>,
}

impl HeapSize for BytecodeInstruction {}
impl HeapSize for BytecodeArray {}

heap_of! {
    BytecodeFunction { name, variant, start, span, elements }
    BytecodeTape { fields, lanes }
    Interface { globals, textures, buffers, resources, closures, messages, inputs, outputs }
    Bytecode {
        interface, code, lists, constants, arrays, tapes, functions, entry, output_lanes, output_derivatives, quad, registers,
        recursive, spans,
    }
}

/// The size of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BytecodeStats {
    /// Instructions.
    pub ops: usize,
    /// Bytes of instructions, and of the constants and lists that they name.
    pub bytes: usize,
    /// Shadows that arithmetic instructions compute.
    pub lanes: usize,
    /// Registers of values, arrays and outputs.
    pub registers: usize,
}

impl Bytecode {
    /// The empty program, from which lowering starts.
    pub(crate) fn empty() -> Bytecode {
        Bytecode {
            interface: Interface::default(),
            code: Vec::new(),
            lists: Vec::new(),
            constants: Vec::new(),
            arrays: Vec::new(),
            tapes: Vec::new(),
            functions: Vec::new(),
            entry: 0,
            output_lanes: Vec::new(),
            output_derivatives: false,
            quad: None,
            registers: 0,
            recursive: false,
            spans: Vec::new(),
        }
    }

    /// The interface for a host.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The rule by which points of a quad are joined, if they are evaluated in quads.
    pub fn quad(&self) -> Option<Quad> {
        self.quad
    }

    /// The lanes of each scalar of the outputs; in quads, those that are differences of output
    /// values.
    pub fn output_lanes(&self) -> &[Lanes] {
        &self.output_lanes
    }

    /// Whether the outputs have derivatives for the host. Where one lacks a lane, that derivative
    /// is then zero; otherwise it was not computed.
    pub fn output_derivatives(&self) -> bool {
        self.output_derivatives
    }

    /// The same program for a host that reads the derivatives of the outputs. Lowering finds that
    /// by their lanes, which none has where all derivatives are zero.
    pub fn with_output_derivatives(mut self) -> Bytecode {
        self.output_derivatives = true;
        self
    }

    /// The instructions.
    pub fn code(&self) -> &[BytecodeInstruction] {
        &self.code
    }

    /// Its size.
    pub fn stats(&self) -> BytecodeStats {
        let lanes = |i: &BytecodeInstruction| match i.opcode {
            Opcode::Arithmetic(_, pattern) => pattern.result().count() as usize,
            _ => 0,
        };
        BytecodeStats {
            ops: self.code.len(),
            bytes: size_of_val(&*self.code)
                + size_of_val(&*self.constants)
                + size_of_val(&*self.lists),
            lanes: self.code.iter().map(lanes).sum(),
            registers: self.registers as usize,
        }
    }

    /// The functions; each ends where the next one starts.
    pub fn functions(&self) -> &[BytecodeFunction] {
        &self.functions
    }

    /// The name of the shader itself.
    pub fn shader_name(&self) -> &str {
        &self.functions[self.entry as usize].name
    }

    /// The index of an operand when the constants are after all registers.
    pub(crate) fn register_index(&self, register: Register) -> u32 {
        register
            .as_constant()
            .map_or(register.0, |index| self.registers + index)
    }

    /// The most words that calls within these limits save at once.
    pub(crate) fn saved_words(&self, limits: &Limits) -> usize {
        let saves = self.code.iter().filter(|i| i.opcode == Opcode::Save);
        let longest = saves.map(|i| u64::from(i.words[1])).max().unwrap_or(0);
        let depth = u64::from(limits.call_depth);
        let elements = 3 * u64::from(limits.array_elements);
        // Two ranges a call; arrays are bounded by their own limit. A program never needs more, as
        // each of its functions keeps to the maximum.
        let words = (2 * longest * depth).min(u64::from(MAX_SAVED_REGISTERS) * depth + elements);
        usize::try_from(words).unwrap_or(usize::MAX)
    }

    /// The most arguments that a closure or a message has.
    pub(crate) fn most_arguments(&self) -> usize {
        let shapes = 0..self.interface.closures.len();
        let shapes = shapes.map(|s| self.interface.arguments(s));
        let messages = self.interface.messages.iter().map(Message::word_count);
        shapes.chain(messages).max().unwrap_or(0)
    }

    /// The source span of the instruction at that position, if it can fault.
    pub fn span(&self, position: u32) -> Option<Span> {
        let at = self
            .spans
            .binary_search_by_key(&position, |&(p, _)| p)
            .ok()?;
        Some(self.spans[at].1)
    }
}
