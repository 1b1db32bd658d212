//! Files of programs: a module of the intermediate representation, and the options that the
//! backend makes a program of it with.
//!
//! A file is `magic, version, checksum` in 16 bytes, a line of options in JSON, and the module as
//! IR text: before all passes, so that a program that was read is like the one that was written,
//! its derivatives included. Derived functions have their bodies, though; a derivative of such a
//! module would lack what the shader writer said of derivatives.
//!
//! A file is read in three steps, and none trusts the one before. The checksum finds accidents,
//! the parser takes memory in proportion to what it understood, and the verifier checks all that
//! passes and lowering rely on.

use adumbra_ir::passes::{AtDivergence, Derivatives, PassOptions};
use adumbra_ir::quad::Quad;
use adumbra_ir::text::{self, SpanComments};
use adumbra_ir::{Code, Diagnostic, FileId, Module, Span, verify};
use adumbra_ops::{Op, OpSet};
use fnv::FnvHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

/// The first bytes of a file.
pub(super) const MAGIC: [u8; 4] = *b"\x7fadb";

/// The version of the format that is written, and the only one that is read.
const VERSION: u32 = 9;

const HEADER: usize = 16;

/// The most bytes of a file that is read.
pub const MAX_FILE_BYTES: usize = 1 << 24;

/// The most bytes of the line of options, which may name every op.
const MAX_OPTIONS: usize = 1 << 12;

/// What a file holds.
#[derive(Debug)]
pub(crate) struct ProgramFile {
    pub(crate) module: Module,
    pub(crate) options: PassOptions,
    /// Whether derivatives of the module can be taken.
    pub(crate) is_differentiable: bool,
}

/// The line of options.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsLine {
    derivatives: DerivativesName,
    flattens: bool,
    merges_demand: bool,
    output_derivatives: bool,
    dropped: Vec<String>,
    is_differentiable: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DerivativesName {
    Dual,
    Off,
    /// By the rule's position among all.
    Quad(usize),
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = FnvHasher::default();
    hash.write(bytes);
    hash.finish()
}

impl OptionsLine {
    fn of(file: &ProgramFile) -> OptionsLine {
        let PassOptions {
            derivatives,
            at_divergence,
            merge_demand,
            output_shadows,
            dropped,
        } = file.options;
        OptionsLine {
            derivatives: match derivatives {
                Derivatives::Dual => DerivativesName::Dual,
                Derivatives::Off => DerivativesName::Off,
                Derivatives::Quad(quad) => {
                    let position = Quad::ALL.iter().position(|rule| *rule == quad);
                    DerivativesName::Quad(position.expect("it is one of all"))
                }
            },
            flattens: at_divergence == AtDivergence::Flatten,
            merges_demand: merge_demand,
            output_derivatives: output_shadows,
            dropped: dropped.iter().map(|op| op.info().name.to_owned()).collect(),
            is_differentiable: file.is_differentiable,
        }
    }

    fn options(&self) -> Result<PassOptions, String> {
        let derivatives = match self.derivatives {
            DerivativesName::Dual => Derivatives::Dual,
            DerivativesName::Off => Derivatives::Off,
            DerivativesName::Quad(rule) => {
                let rule = Quad::ALL.get(rule);
                Derivatives::Quad(*rule.ok_or("the rule of its quads is unknown")?)
            }
        };
        let mut dropped = OpSet::NONE;
        for name in &self.dropped {
            let op = Op::from_name(name);
            dropped = dropped.with(op.ok_or_else(|| format!("there is no op `{name}`"))?);
        }
        Ok(PassOptions {
            derivatives,
            at_divergence: match self.flattens {
                true => AtDivergence::Flatten,
                false => AtDivergence::Refuse,
            },
            merge_demand: self.merges_demand,
            output_shadows: self.output_derivatives,
            dropped,
        })
    }
}

/// The error of a file that holds no program.
pub(crate) fn invalid(what: impl std::fmt::Display) -> Diagnostic {
    let message = format!("the bytecode file is invalid: {what}");
    error(Code::BytecodeInvalid, message)
}

fn error(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, Span::default(), message).help("compile the shader again")
}

impl ProgramFile {
    /// The bytes of the file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let options = serde_json::to_string(&OptionsLine::of(self));
        let options = options.expect("strings and numbers serialise");
        let module = text::print(&self.module, SpanComments::Shown);
        let payload = format!("{options}\n{module}").into_bytes();
        let checksum = checksum(&payload).to_le_bytes();
        [&MAGIC[..], &VERSION.to_le_bytes(), &checksum, &payload].concat()
    }

    /// Reads the bytes of a file, which may be anything.
    ///
    /// # Errors
    /// `NotBytecode`, `BytecodeVersion`, `BytecodeDamaged` or `BytecodeInvalid`, without a span.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<ProgramFile, Diagnostic> {
        let (Some(header), true) = (bytes.get(..HEADER), bytes.starts_with(&MAGIC)) else {
            let message = "this is not a bytecode file: its first bytes are others";
            return Err(error(Code::NotBytecode, message));
        };
        if bytes.len() > MAX_FILE_BYTES {
            return Err(invalid(format!("it has more than {MAX_FILE_BYTES} bytes")));
        }
        let (version, sum) = header[4..].split_at(4);
        if version != VERSION.to_le_bytes() {
            let version = version.iter().rev();
            let version = version.fold(0_u32, |all, &byte| all << 8 | u32::from(byte));
            let message = format!("the file has format {version}, and only {VERSION} is read");
            return Err(error(Code::BytecodeVersion, message));
        }
        let payload = &bytes[HEADER..];
        if sum != checksum(payload).to_le_bytes() {
            let message = "the bytecode file is damaged: its checksum is another";
            return Err(error(Code::BytecodeDamaged, message));
        }
        ProgramFile::from_payload(payload).map_err(invalid)
    }

    fn from_payload(payload: &[u8]) -> Result<ProgramFile, String> {
        let text = str::from_utf8(payload).map_err(|_| "it is not UTF-8")?;
        let (options, module) = text.split_once('\n').ok_or("it ends too early")?;
        if options.len() > MAX_OPTIONS {
            return Err(format!("its options have more than {MAX_OPTIONS} bytes"));
        }
        let line: OptionsLine = serde_json::from_str(options).map_err(|no| no.to_string())?;
        let options = line.options()?;
        let module = text::parse(module, FileId::MAIN).map_err(|no| no.message)?;
        verify(&module).map_err(|broken| broken[0].to_string())?;
        if module.functions.iter().any(|f| f.recipe.is_some()) {
            return Err("a derived function has no body".to_owned());
        }
        Ok(ProgramFile {
            module,
            options,
            is_differentiable: line.is_differentiable,
        })
    }
}
