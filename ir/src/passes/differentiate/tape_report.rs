//! What the sweeps of reverse mode keep on tapes, and why: data for reports.
//!
//! Guarantees: each instruction of reachable functions that keeps a record has a [`KeptRecord`], of
//! the record's size. Its values are those of the plan, in the order of the fields. A record that a
//! derivative of a derivative keeps for a sweep of a lower order has no list of them.

use super::Differentiator;
use super::choose::KeepReason;
use super::plan::{Kept, KeptId};
use super::reverse::Analysis;
use crate::calls::CallGraph;
use crate::heap_of;
use crate::memory::HeapSize;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use rustc_hash::{FxHashMap, FxHashSet};

/// Records that a function puts on a tape, one in each iteration or call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    /// The function, as in IR text.
    pub function: String,
    /// How often it keeps one.
    pub per: KeptPer,
    /// The loop, or the declaration of the function.
    pub span: Span,
    /// Bytes of the values of one record.
    pub bytes: usize,
    /// How many loops or functions keep such records: copies by unrolling and inlining.
    pub copies: usize,
    /// Its values; empty if a derivative of a derivative keeps it for a sweep of a lower order.
    pub values: Vec<KeptValue>,
}

/// How often a record is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeptPer {
    /// At the end of each iteration of a loop that another one follows.
    Iteration,
    /// At the end of each call.
    Call,
}

/// A value of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptValue {
    /// What it is.
    pub kind: KeptKind,
    /// Its type.
    pub ty: Scalar,
    /// Whether it is that of the last iteration of a loop inside.
    pub is_of_last_iteration: bool,
    /// The span of its definition.
    pub span: Span,
    /// The first instruction that is reversed with it, or with what is computed from it.
    pub reader: Option<(KeptReader, Span)>,
    /// The reason why it is kept rather than computed again.
    pub reason: KeepReason,
}

/// A kind of kept value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptKind {
    /// A value of the function that is differentiated.
    Value {
        /// The variable that it is a definition of.
        name: Option<String>,
        /// The instruction that computes it, as in IR text; `None` for a loop-carried value.
        word: Option<&'static str>,
    },
    /// A value that the partials of an op compute, by an instruction of that word.
    Coefficient(&'static str),
    /// The way by which an iteration, a loop, a block or a call ended.
    Exit,
    /// The number of iterations of a loop inside.
    Count,
    /// What a call of that function needs for its reverse sweep.
    Call(String),
}

/// What a kept value is read for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptReader {
    /// The partials of an op of that name.
    Partial(&'static str),
    /// The index of an element of an array.
    Index,
    /// The condition of a branch.
    Branch,
    /// The custom derivative of that function.
    Rule(String),
}

heap_of! {
    KeptRecord { function, per, span, bytes, copies, values }
    KeptValue { kind, ty, is_of_last_iteration, span, reader, reason }
}

impl HeapSize for KeptPer {}
impl HeapSize for KeepReason {}

impl HeapSize for KeptKind {
    fn heap_bytes(&self) -> usize {
        match self {
            KeptKind::Value { name, .. } => name.heap_bytes(),
            KeptKind::Call(name) => name.heap_bytes(),
            KeptKind::Coefficient(_) | KeptKind::Exit | KeptKind::Count => 0,
        }
    }
}

impl HeapSize for KeptReader {
    fn heap_bytes(&self) -> usize {
        match self {
            KeptReader::Rule(name) => name.heap_bytes(),
            KeptReader::Partial(_) | KeptReader::Index | KeptReader::Branch => 0,
        }
    }
}

/// A record of a function: of the loop at that span, or of each call.
type RecordKey = (FuncId, RecordId, Option<Span>);

/// The values of records, as far as they were planned.
#[derive(Default)]
pub(super) struct RecordValues(FxHashMap<RecordKey, Vec<KeptValue>>);

impl Differentiator<'_> {
    /// Records the values that a forward sweep keeps, as function `id`: `of_call` is the record of
    /// what is kept at its end.
    pub(super) fn note_records(
        &mut self,
        id: FuncId,
        analysis: &Analysis,
        of_call: Option<RecordId>,
    ) {
        let mut noted = Vec::new();
        let Analysis { shape, plan, .. } = analysis;
        let function = &analysis.linear.function;
        for (&region, &record) in &analysis.records {
            let span = shape.loop_inst(function, region).map(|inst| inst.span);
            let mut values = self.described(analysis, plan.record(region));
            if values.len() < self.module.records[record.index()].fields.len() {
                values.push(exit(span.unwrap_or(function.span)));
            }
            noted.push(((id, record, span), values));
        }
        if let Some(record) = of_call {
            let mut values = self.described(analysis, &plan.outer);
            if values.len() < self.module.records[record.index()].fields.len() {
                values.push(exit(function.span));
            }
            noted.push(((id, record, None), values));
        }
        self.record_values.0.extend(noted);
    }

    fn described(&self, analysis: &Analysis, ids: &[KeptId]) -> Vec<KeptValue> {
        let described = ids.iter().map(|&id| self.describe(analysis, id));
        described.collect()
    }

    fn describe(&self, analysis: &Analysis, id: KeptId) -> KeptValue {
        let Analysis {
            linear,
            shape,
            plan,
            ..
        } = analysis;
        let function = &linear.function;
        let ty = plan.ty(id);
        let span_of = |region| {
            let owner = shape.owner(function, region);
            owner.map_or(function.span, |inst| inst.span)
        };
        match plan.what(id) {
            Kept::Value(value) => {
                let definition = function.value(value);
                let inst = shape.inst(function, value);
                let word = inst.map(|inst| inst.kind.description().word);
                let name = definition
                    .name
                    .map(|name| self.module.names[name.index()].clone());
                let kind = match word {
                    Some(word) if value.index() >= linear.primal_values => {
                        KeptKind::Coefficient(word)
                    }
                    word => KeptKind::Value { name, word },
                };
                let reader = plan.reader(id).map(|(region, at)| {
                    let inst = &function.region(region).insts[at];
                    (self.reader(inst), inst.span)
                });
                KeptValue {
                    kind,
                    ty,
                    is_of_last_iteration: false,
                    span: definition.span,
                    reader,
                    reason: plan.choices.reason(value),
                }
            }
            Kept::Exit(region) => exit(span_of(region)),
            Kept::Count(region) => KeptValue {
                kind: KeptKind::Count,
                ..exit(span_of(region))
            },
            Kept::Callee(region, at, _) => {
                let inst = &function.region(region).insts[at];
                let callee = match inst.kind {
                    InstKind::Call(callee, _) => self.function(callee).name.clone(),
                    _ => String::new(),
                };
                KeptValue {
                    kind: KeptKind::Call(callee),
                    ty,
                    reason: KeepReason::Call,
                    ..exit(inst.span)
                }
            }
            Kept::Last(_, inner) => KeptValue {
                is_of_last_iteration: true,
                ..self.describe(analysis, inner)
            },
        }
    }

    fn reader(&self, inst: &Inst) -> KeptReader {
        match inst.kind {
            InstKind::Op(op) => KeptReader::Partial(op.info().name),
            InstKind::If(..) => KeptReader::Branch,
            InstKind::Call(callee, _) => KeptReader::Rule(self.function(callee).name.clone()),
            _ => KeptReader::Index,
        }
    }
}

/// The value that distinguishes the ways by which something ended.
fn exit(span: Span) -> KeptValue {
    KeptValue {
        kind: KeptKind::Exit,
        ty: Scalar::I32,
        is_of_last_iteration: false,
        span,
        reader: None,
        reason: KeepReason::ControlFlow,
    }
}

/// The records that reachable functions of a module keep, in the order of the source.
pub(super) fn records(module: &Module, known: &RecordValues) -> Vec<KeptRecord> {
    let mut found: Vec<KeptRecord> = Vec::new();
    if module.records.is_empty() {
        return found;
    }
    for id in CallGraph::new(module).order {
        let function = module.function(id);
        let mut seen = FxHashSet::default();
        // Regions, with the innermost loop around them.
        let mut open = vec![(function.body, None)];
        while let Some((region, around)) = open.pop() {
            for inst in &function.region(region).insts {
                for inner in inst.kind.regions() {
                    let around = match inst.kind {
                        InstKind::Loop(body) => Some((body, inst.span)),
                        _ => around,
                    };
                    open.push((inner, around));
                }
                let InstKind::Keep(_, record) = inst.kind else {
                    continue;
                };
                // A loop keeps one wherever an iteration ends.
                if !seen.insert((around.map(|(body, _)| body), record)) {
                    continue;
                }
                let span = around.map(|(_, span)| span);
                let values = known.0.get(&(id, record, span));
                found.push(KeptRecord {
                    function: function.name.clone(),
                    per: around.map_or(KeptPer::Call, |_| KeptPer::Iteration),
                    span: span.unwrap_or(function.span),
                    bytes: module.records[record.index()].fields.len() * size_of::<u32>(),
                    copies: 1,
                    values: values.cloned().unwrap_or_default(),
                });
            }
        }
    }
    found.sort_by_key(|record| (record.span.file, record.span.start, record.bytes));
    found.dedup_by(|next, record| {
        let is_copy = KeptRecord {
            copies: record.copies,
            ..next.clone()
        } == *record;
        record.copies += usize::from(is_copy);
        is_copy
    });
    found
}
