//! What a program keeps on tapes for reverse mode, with reasons, as people and programs see it.

use crate::sources::Sources;
use adumbra_ir::passes::{KeepReason, KeptKind, KeptPer, KeptReader, KeptRecord, KeptValue};
use adumbra_ir::{Span, Type};
use serde::Serialize;

/// A kind of record that the forward sweep of a derivative keeps for the reverse sweep, one in each
/// iteration of a loop, or in each call of a function that calls itself.
///
/// ```
/// use adumbra::{Compiler, GlobalsLayout, Sources};
/// let source = "[Differentiable] float f(float x, int n) {
///                   for (int i = 0; i < n; i++)
///                       x = x * x;
///                   return x;
///               }
///               shader s(float x, int n, out float o) {
///                   var dx = diffPair(x); bwd_diff(f)(dx, n, 1); o = dx.d;
///               }";
/// let program = Compiler::new(GlobalsLayout::new()).compile(&Sources::new("s.adu", source))?;
/// let tape = program.stats().tape;
/// assert_eq!((tape[0].at.line, tape[0].bytes, &*tape[0].values[0].value), (Some(2), 4, "x"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TapeStats {
    /// The function, by its name in the intermediate representation.
    pub function: String,
    /// `iteration` or `call`.
    pub per: &'static str,
    /// The loop, or the declaration of the function.
    #[serde(flatten)]
    pub at: SourcePlace,
    /// Bytes of its values. Each shadow of one that is needed takes as much again.
    pub bytes: usize,
    /// The number of loops or functions that keep such records: inlining and unrolling make copies.
    pub copies: usize,
    /// Its values; empty if a derivative of a derivative keeps them for a sweep of a lower order.
    pub values: Vec<KeptStats>,
}

/// A value that is kept for the reverse sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptStats {
    /// The variable, or what else it is.
    pub value: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its definition.
    #[serde(flatten)]
    pub at: SourcePlace,
    /// What needs it first: itself, or what is computed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_by: Option<String>,
    /// Where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_at: Option<SourcePlace>,
    /// The reason why it is kept, rather than computed again.
    pub reason: String,
}

/// A line of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourcePlace {
    /// The name of the source.
    pub file: String,
    /// Counted from 1; `None` in the library, whose source is not the shader writer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl SourcePlace {
    fn new(span: Span, sources: &Sources) -> SourcePlace {
        match sources.get(span.file) {
            Some(file) => SourcePlace {
                file: file.name().to_owned(),
                line: Some(file.line_column(span.start).line),
            },
            None => SourcePlace {
                file: "the library".to_owned(),
                line: None,
            },
        }
    }
}

impl TapeStats {
    pub(crate) fn new(record: &KeptRecord, sources: &Sources) -> TapeStats {
        let values = record.values.iter();
        TapeStats {
            function: record.function.clone(),
            per: match record.per {
                KeptPer::Iteration => "iteration",
                KeptPer::Call => "call",
            },
            at: SourcePlace::new(record.span, sources),
            bytes: record.bytes,
            copies: record.copies,
            values: values.map(|value| KeptStats::new(value, sources)).collect(),
        }
    }
}

impl KeptStats {
    fn new(kept: &KeptValue, sources: &Sources) -> KeptStats {
        let reader = kept.reader.as_ref();
        let last = match kept.is_of_last_iteration {
            true => ", from the last iteration",
            false => "",
        };
        KeptStats {
            value: value_name(&kept.kind) + last,
            ty: Type::Scalar(kept.ty).to_string(),
            at: SourcePlace::new(kept.span, sources),
            needed_by: reader.map(|(reader, _)| reader_name(reader)),
            needed_at: reader.map(|(_, span)| SourcePlace::new(*span, sources)),
            reason: reason(kept),
        }
    }
}

fn value_name(kind: &KeptKind) -> String {
    match kind {
        KeptKind::Value {
            name: Some(name), ..
        } => name.clone(),
        KeptKind::Value {
            word: Some(word), ..
        } => format!("result of `{word}`"),
        KeptKind::Value { .. } => "loop-carried value".to_owned(),
        KeptKind::Coefficient(word) => format!("`{word}` of a partial"),
        KeptKind::Exit => "exit".to_owned(),
        KeptKind::Count => "iterations".to_owned(),
        KeptKind::Call(callee) => format!("value of `{callee}`"),
    }
}

fn reader_name(reader: &KeptReader) -> String {
    match reader {
        KeptReader::Partial(op) => format!("derivative of `{op}`"),
        KeptReader::Index => "array index".to_owned(),
        KeptReader::Branch => "branch".to_owned(),
        KeptReader::Rule(function) => format!("derivative of `{function}`"),
    }
}

fn reason(kept: &KeptValue) -> String {
    let text = match kept.reason {
        KeepReason::LoopCarried => "earlier iterations computed it",
        KeepReason::NotRepeatable => match &kept.kind {
            KeptKind::Value {
                word: Some(word), ..
            } => return format!("`{word}` cannot run again"),
            _ => "it cannot be computed again",
        },
        KeepReason::Preferred => "`[PreferCheckpoint]`",
        KeepReason::Cheaper => "computing it again costs more",
        KeepReason::TooManyValues => "there are too many values to choose from",
        KeepReason::Argument => "it is an argument of the call",
        KeepReason::AtHand => "the call has computed it anyway",
        KeepReason::ControlFlow => "the reverse sweep takes the same way",
        KeepReason::Call => "the reverse sweep of the call needs it",
    };
    text.to_owned()
}
