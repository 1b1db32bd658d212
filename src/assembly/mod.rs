//! The disassembly of a program's machine code, beside its bytecode and source lines.

mod decode;
mod display;

use crate::program::Program;
use crate::sources::Sources;
use adumbra_aot::{self as aot, MachineCode, Target};
use adumbra_ir::Span;
use adumbra_vm::native::{PointCfg, Segment};
use adumbra_vm::{Bytecode, FloatEnvironment, batch_segments, lower, point_cfgs};
use decode::decode;
use serde::{Serialize, Serializer};

/// Bytes of the longest source line that is shown whole, and characters shown of a longer one: a
/// source may be one line.
pub const MAX_LINE_SHOWN: usize = 120;

/// The machine code of a program. `Display` prints a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assembly {
    /// The processor that it is for.
    #[serde(serialize_with = "as_name")]
    pub target: Target,
    /// The kernels of batch evaluators: each computes a segment of instructions of the bytecode, or
    /// a loop.
    #[serde(flatten)]
    pub batches: Listing,
    /// The kernels of single points: each is entered after an instruction that the interpreter
    /// executes, and continues as long as the point CFG has code.
    pub points: Listing,
}

/// Code of one allocation. Addresses count from its beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Bytes of all of it, constants included.
    pub bytes: usize,
    /// The kernels that the engine calls, in the order of the bytecode.
    pub kernels: Vec<Kernel>,
    /// Code that kernels share: routines of slow paths, and libcalls.
    pub shared: Vec<CodePart>,
    /// The data that instructions read: constants and tables.
    pub data: Vec<ConstantRun>,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// Its purpose.
    #[serde(flatten)]
    pub purpose: KernelPurpose,
    /// The extent of its code; `None` if its frame would be too large, so that the interpreter
    /// computes it.
    pub code: Option<CodeExtent>,
    /// Its code.
    pub parts: Vec<CodePart>,
}

/// The purpose of a kernel. Positions are those of instructions in the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum KernelPurpose {
    /// It computes arithmetic instructions for many points at once.
    Arithmetic {
        /// The number of arithmetic instructions that it computes.
        instructions: usize,
        /// The first and the last of its instructions.
        positions: [u32; 2],
    },
    /// A single point enters machine code here.
    Entry {
        /// The first instruction that it computes.
        position: u32,
    },
}

/// The extent of a kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CodeExtent {
    /// The address of its first instruction.
    pub address: usize,
    /// Its length.
    pub bytes: usize,
    /// Bytes that it takes on the stack, beside registers that it saves.
    pub frame: usize,
}

/// Instructions that follow one another and serve one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodePart {
    /// Their purpose. `compute` is for the result of an instruction of the bytecode, or for what
    /// several instructions share and the first of them needs. `store` writes the result to where
    /// later instructions read it. `slow path` and `routine` are the slow paths of points whose
    /// operands the fast path excludes. In code for single points, control flow diverges at a
    /// `branch`, takes a `step` of the budget, and may exit: a `write back` of changed values to
    /// the register file. The others are the frame around them.
    pub purpose: &'static str,
    /// The instruction of the bytecode that they implement.
    pub op: Option<BytecodeOrigin>,
    /// The instructions.
    pub instructions: Vec<MachineInstruction>,
}

/// An instruction of the bytecode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BytecodeOrigin {
    /// Its position.
    pub position: u32,
    /// As the listing of the bytecode shows it.
    pub text: String,
    /// Its source line; `None` for functions of the standard library, and for a program that was
    /// loaded.
    pub line: Option<SourceLine>,
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The source's name.
    pub file: String,
    /// Its number, from 1.
    pub line: u32,
    /// The line without space around it; of a longer one, [`MAX_LINE_SHOWN`] characters from the
    /// instruction's span on.
    pub text: String,
}

/// An instruction of a processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineInstruction {
    /// Its address.
    pub address: usize,
    /// Its bytes; in JSON, hexadecimal digits.
    #[serde(serialize_with = "as_digits")]
    pub bytes: Vec<u8>,
    /// In the processor's own notation.
    pub text: String,
}

/// A run of equal words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConstantRun {
    /// The address of the first.
    pub address: usize,
    /// Their bits.
    pub word: u32,
    /// Their number.
    pub count: usize,
}

fn as_name<S: Serializer>(target: &Target, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(target.name())
}

fn as_digits<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&digits)
}

impl Program {
    /// The machine code that [`Tier::Native`](crate::batch::Tier::Native) runs on a processor,
    /// which need not be this host's, if no globals are uniform.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, object::Target};
    /// let source = "shader s(out float o) { float x = global_value<uvw>.x;\n o = sqrt(x) * x; }";
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("s.adu", source))?;
    ///
    /// let assembly = program.assembly(Target::Aarch64);
    /// let parts = assembly.batches.kernels.iter().flat_map(|kernel| &kernel.parts);
    /// let root = parts.clone().find(|part| {
    ///     part.purpose == "compute" && part.op.as_ref().is_some_and(|op| op.text.starts_with("sqrt"))
    /// });
    /// let root = root.unwrap();
    /// assert!(root.instructions.iter().any(|instruction| instruction.text.starts_with("fsqrt v")));
    /// assert_eq!(root.op.as_ref().unwrap().line.as_ref().unwrap().line, 2);
    ///
    /// let listing = program.assembly(Target::X86_64).to_string();
    /// assert!(listing.contains("vsqrtps ymm") && listing.contains("o = sqrt(x) * x; }"));
    /// // A single point is in half a vector.
    /// assert!(listing.contains("single points: 1 entry") && listing.contains("vsqrtps xmm"));
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn assembly(&self, target: Target) -> Assembly {
        // Constants are folded, and floats are stored.
        let _mode = FloatEnvironment::enter();
        let bytecode = &**self.bytecode();
        let places = lower::instruction_spans(self.module()).ok();
        let lines = Lines {
            bytecode,
            sources: self.sources(),
            places: places.unwrap_or_default(),
        };
        let (segments, cfgs) = (batch_segments(bytecode, &[]), point_cfgs(bytecode));
        let batches = target.compile_batch(&segments, true);
        let points = target.compile_points(&cfgs, true);
        let entries = cfgs.iter().flat_map(entries);
        Assembly {
            target,
            batches: lines.code(target, batches, segments.iter().map(segment_purpose)),
            points: lines.code(target, points, entries),
        }
    }
}

/// The purpose of a segment's kernel.
fn segment_purpose(segment: &Segment) -> KernelPurpose {
    let instructions = segment.instructions.iter();
    let positions = instructions.map(|instruction| instruction.position);
    let first = positions.clone().min().unwrap_or_default();
    let last = positions.max().unwrap_or_default();
    KernelPurpose::Arithmetic {
        instructions: segment.instructions.len(),
        positions: [first, last],
    }
}

/// The purposes of the kernels of a point CFG.
fn entries(cfg: &PointCfg) -> impl Iterator<Item = KernelPurpose> {
    cfg.entries.iter().map(|entry| {
        let block = &cfg.blocks[entry.block as usize];
        let first = block
            .instructions
            .first()
            .map(|instruction| instruction.position);
        KernelPurpose::Entry {
            position: first.unwrap_or(block.position),
        }
    })
}

/// The data that instructions read, after all of them.
fn data(code: &MachineCode) -> Vec<ConstantRun> {
    let mut data: Vec<ConstantRun> = Vec::new();
    let words = code.bytes[code.data_start..].chunks(4);
    for (address, bytes) in (code.data_start..).step_by(4).zip(words) {
        let word = bytes.iter().rev();
        let word = word.fold(0, |word, &byte| word << 8 | u32::from(byte));
        match data.last_mut() {
            Some(last) if last.word == word => last.count += 1,
            _ => data.push(ConstantRun {
                address,
                word,
                count: 1,
            }),
        }
    }
    data
}

/// The printed name of a part's purpose, and the instruction of the bytecode that it is for.
fn purpose(part: aot::KernelPart) -> (&'static str, Option<u32>) {
    match part {
        aot::KernelPart::Pool => ("pool", None),
        aot::KernelPart::Entry => ("entry", None),
        aot::KernelPart::Uniforms => ("uniforms", None),
        aot::KernelPart::Runs => ("runs", None),
        aot::KernelPart::Vectors => ("points", None),
        aot::KernelPart::Instruction(position) => ("compute", Some(position)),
        aot::KernelPart::Store(position) => ("store", Some(position)),
        aot::KernelPart::NextVectors => ("next points", None),
        aot::KernelPart::SlowPath(position) => ("slow path", Some(position)),
        aot::KernelPart::NextRun => ("next run", None),
        aot::KernelPart::Exit => ("exit", None),
        aot::KernelPart::Branch(position) => ("branch", Some(position)),
        aot::KernelPart::Step(position) => ("step", Some(position)),
        aot::KernelPart::WriteBack(position) => ("write back", Some(position)),
        aot::KernelPart::SlowRoutine(position) => ("routine", Some(position)),
        aot::KernelPart::Libcalls => ("calls", None),
    }
}

/// The source lines of a program's instructions.
struct Lines<'p> {
    bytecode: &'p Bytecode,
    sources: Option<&'p Sources>,
    /// One for each instruction, or none at all.
    places: Vec<Span>,
}

impl Lines<'_> {
    /// Code whose kernels have these purposes, in this order. Nothing was compiled if it is too
    /// long for its own jumps.
    fn code(
        &self,
        target: Target,
        compiled: Option<MachineCode>,
        purposes: impl Iterator<Item = KernelPurpose>,
    ) -> Listing {
        let kernel = |purpose| Kernel {
            purpose,
            code: None,
            parts: Vec::new(),
        };
        let mut kernels: Vec<Kernel> = purposes.map(kernel).collect();
        let Some(compiled) = compiled else {
            return Listing {
                bytes: 0,
                kernels,
                shared: Vec::new(),
                data: Vec::new(),
            };
        };
        let mut parts = self.parts(target, &compiled).peekable();
        for (kernel, extent) in kernels.iter_mut().zip(&compiled.kernels) {
            let Some(extent) = *extent else { continue };
            let own = std::iter::from_fn(|| parts.next_if(|(at, _)| *at < extent.end));
            kernel.parts = own.map(|(_, part)| part).collect();
            kernel.code = Some(CodeExtent {
                address: extent.start,
                bytes: extent.end - extent.start,
                frame: extent.frame_bytes,
            });
        }
        Listing {
            bytes: compiled.bytes.len(),
            kernels,
            shared: parts.map(|(_, part)| part).collect(),
            data: data(&compiled),
        }
    }

    /// The parts of code, each with its first address.
    fn parts<'l>(
        &'l self,
        target: Target,
        compiled: &'l MachineCode,
    ) -> impl Iterator<Item = (usize, CodePart)> + 'l {
        let starts = compiled.parts.iter().map(|&(start, _)| start);
        let ends = starts.skip(1).chain([compiled.code_end]);
        compiled
            .parts
            .iter()
            .zip(ends)
            .map(move |(&(start, part), end)| {
                let (purpose, position) = purpose(part);
                let code = &compiled.bytes[start..end];
                let instructions = match part {
                    aot::KernelPart::Pool => vec![MachineInstruction {
                        address: start,
                        bytes: code.to_vec(),
                        text: "(the distance to the data)".to_owned(),
                    }],
                    _ => decode(target, code, start),
                };
                let part = CodePart {
                    purpose,
                    op: position.map(|position| self.op(position)),
                    instructions,
                };
                (start, part)
            })
    }

    fn op(&self, position: u32) -> BytecodeOrigin {
        BytecodeOrigin {
            position,
            text: self.bytecode.line(position).to_string(),
            line: self.line(position),
        }
    }

    fn line(&self, position: u32) -> Option<SourceLine> {
        let span = *self.places.get(position as usize)?;
        let file = self.sources?.get(span.file)?;
        let line = file.line_of(span.start);
        let range = file.line_range(line);
        let start = file.text().floor_char_boundary(span.start as usize);
        // The prefix of a long line is not scanned again for each of its instructions.
        let shown = match range.len() <= MAX_LINE_SHOWN {
            true => file.text()[range].trim(),
            false => &file.text()[start..range.end.max(start)],
        };
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let shown = shown.chars().take(MAX_LINE_SHOWN);
        Some(SourceLine {
            file: file.name().to_owned(),
            line,
            text: shown.map(printable).collect(),
        })
    }
}
