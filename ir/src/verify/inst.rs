//! Checks of each kind of instruction: operands, results and lanes.

use super::function::Checker;
use super::{Rule, is_constant};
use crate::limits::MAX_TAPES;
use crate::module::*;
use crate::types::{Lanes, Scalar};
use Scalar::{Bool, Closure, F32, I32, Resource};
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;

impl<'a> Checker<'a> {
    /// Operand and result types, ids, and lanes. Edges are checked where the regions are known.
    pub(super) fn check_inst(&mut self, inst: &Inst) {
        match &inst.kind {
            InstKind::Const(bits) => {
                self.check_operands(inst, &[]);
                if let Some(ty) = self.check_single(inst) {
                    self.report
                        .require(is_constant(ty, *bits), Rule::Constant, || {
                            format!("{bits:#x} is no constant {ty}")
                        });
                }
            }
            InstKind::Op(op) => self.check_op(inst, *op),
            InstKind::Global(id, scalar) => {
                self.check_operands(inst, &[]);
                let global = self.interface.globals.get(id.index());
                let ty = global.and_then(|types| types.get(*scalar as usize));
                if let (Some(&ty), true) = (ty, self.known(ty.is_some(), "global")) {
                    let available = if ty == F32 { Some(Lanes::XY) } else { None };
                    self.check_results(inst, &[ty], available);
                }
            }
            InstKind::Resource(id) => {
                self.check_operands(inst, &[]);
                self.known(id.index() < self.module.resources.len(), "resource");
                self.check_results(inst, &[Resource], None);
            }
            InstKind::Shadow(_) => {
                self.check_operands(inst, &[F32]);
                self.check_results(inst, &[F32], None);
            }
            InstKind::Detach => {
                self.check_operands(inst, &[F32]);
                let lanes = inst.args.first().map(|&arg| self.lanes(arg));
                self.check_results(inst, &[F32], lanes);
            }
            InstKind::Difference(_) => {
                let joined = self.module.quad.is_some();
                self.report.require(joined, Rule::Quad, || {
                    "a difference between points that are not evaluated in quads".into()
                });
                self.check_operands(inst, &[F32]);
                self.check_results(inst, &[F32], None);
            }
            InstKind::EnterInlined(_) | InstKind::NextIteration => {
                self.check_operands(inst, &[]);
                self.check_results(inst, &[], None);
            }
            InstKind::ArrayZero(array) => {
                self.check_operands(inst, &[]);
                self.array(*array);
                self.check_results(inst, &[], None);
            }
            InstKind::ArrayCopy { to, from } => {
                let whole = inst.args.is_empty();
                self.check_operands(inst, if whole { &[] } else { &[I32] });
                if let (Some(to), Some(from)) = (self.array(*to), self.array(*from)) {
                    let len = if whole { from.len } else { to.len };
                    let part = Array { len, ..*from };
                    self.same_shape(to, &part, Rule::Operands);
                }
                self.check_results(inst, &[], None);
            }
            InstKind::ArrayResize(array, part) => {
                self.check_operands(inst, &[I32]);
                if let Some(array) = self.array(*array) {
                    self.report
                        .require((1..=array.len).contains(part), Rule::Operands, || {
                            "a part has at least 1 element, and at most those of the array".into()
                        });
                }
                self.check_results(inst, &[I32], None);
            }
            InstKind::Load(array) => {
                self.check_operands(inst, &[I32]);
                if let Some(array) = self.array(*array) {
                    self.check_results(inst, &[array.element], Some(array.lanes));
                }
            }
            InstKind::Store(array) => {
                if let Some(array) = self.array(*array) {
                    self.check_operands(inst, &[I32, array.element]);
                }
                self.check_results(inst, &[], None);
            }
            InstKind::Sample(texture, channels, detail) => {
                self.check_operands(inst, &[F32; 6][..detail.operand_count()]);
                self.known(texture.index() < self.module.textures.len(), "texture");
                self.check_results(inst, &[F32; 3][..channels.count() as usize], None);
            }
            InstKind::MakeClosure(id) => {
                let shape = self.interface.closures.get(id.index());
                if self.known(shape.is_some(), "closure") {
                    self.check_operands(inst, shape.map_or(&[], |s| s));
                }
                self.check_results(inst, &[Closure], None);
            }
            InstKind::ClosureAdd => {
                self.check_operands(inst, &[Closure; 2]);
                self.check_results(inst, &[Closure], None);
            }
            InstKind::ClosureScale => {
                let count = if inst.args.len() == 2 { 2 } else { 4 };
                self.check_operands(inst, &[Closure, F32, F32, F32][..count]);
                self.check_results(inst, &[Closure], None);
            }
            InstKind::Message(id) => {
                let message = self.interface.messages.get(id.index());
                if self.known(message.is_some(), "message") {
                    self.check_operands(inst, message.map_or(&[], |m| m));
                }
                self.check_results(inst, &[], None);
            }
            InstKind::Keep(tape, record) => {
                if let Some(record) = self.record(*tape, *record) {
                    let types: Vec<Scalar> = record.fields.iter().map(|f| f.ty).collect();
                    self.check_operands(inst, &types);
                }
                self.check_results(inst, &[], None);
            }
            InstKind::Take(tape, record) => {
                self.check_operands(inst, &[]);
                if let Some(record) = self.record(*tape, *record) {
                    self.check_taken(inst, record);
                }
            }
            InstKind::Call(callee, arrays) => self.check_call(inst, *callee, arrays),
            InstKind::If(..) => self.check_operands(inst, &[Bool]),
            InstKind::Block(_) => self.check_operands(inst, &[]),
            InstKind::Loop(_) => {}
            InstKind::Unreachable => {
                self.check_operands(inst, &[]);
                self.check_results(inst, &[], None);
            }
            InstKind::Yield | InstKind::Break(_) | InstKind::Continue(_) | InstKind::Return => {
                self.check_results(inst, &[], None);
            }
        }
    }

    fn check_op(&mut self, inst: &Inst, op: Op) {
        let info = op.info();
        let types: Vec<Option<Scalar>> = inst.args.iter().map(|&a| self.ty(a)).collect();
        // All operands of the kinds that cover several types have the same one.
        let mut shared = None;
        let fits = types.len() == info.operands.len()
            && types.iter().zip(info.operands).all(|(&ty, kind)| {
                let Some(ty) = ty else { return false };
                let open = matches!(kind, OperandKind::Int | OperandKind::Word);
                kind.accepts(ty) && (!open || *shared.get_or_insert(ty) == ty)
            });
        if !self.report.require(fits, Rule::Operands, || {
            format!("operands do not fit `{}`", info.name)
        }) {
            return;
        }
        let lanes = inst.args.iter().map(|&a| self.lanes(a));
        let available = lanes.fold(Lanes::NONE, |all, lanes| all | lanes);
        let available = info.is_differentiable().then_some(available);
        let last = types.last().copied().flatten().unwrap_or(F32);
        self.check_results(inst, &[info.result.resolve(last)], available);
    }

    fn check_call(&mut self, inst: &Inst, callee: FuncId, arrays: &[ArrayId]) {
        let callee = self.module.functions.get(callee.index());
        if !self.known(callee.is_some(), "function") {
            return;
        }
        let Some(callee) = callee else { return };
        let params = callee.regions.get(callee.body.index());
        let params = params.map_or(&[][..], |body| &body.params);
        let wanted = params
            .iter()
            .map(|p| callee.values.get(p.index()).map(|v| v.ty));
        let given = inst.args.iter().map(|&a| self.ty(a));
        let args_fit = given.eq(wanted);
        let results = self.results(inst).unwrap_or(Results::NONE);
        let returned = results.iter().map(|r| self.ty(r));
        let results_fit = returned.eq(callee.results.iter().map(|r| Some(r.ty)));
        // Counts no further than needed, so that a call costs what it writes.
        let params = callee.array_params().take(arrays.len() + 1);
        let arrays_fit = params.count() == arrays.len();
        let fits = args_fit && results_fit && arrays_fit;
        if !self.report.require(fits, Rule::Call, || {
            format!("a call does not fit the signature of `{}`", callee.name)
        }) {
            return;
        }
        for (&given, wanted) in arrays.iter().zip(callee.array_params()) {
            if let Some(given) = self.array(given) {
                self.same_shape(given, wanted, Rule::Call);
            }
        }
        for (value, result) in results.iter().zip(&callee.results) {
            self.supplied(value, Some(result.lanes));
        }
    }

    /// The record of a keep or a take on that tape.
    fn record(&mut self, tape: TapeId, record: RecordId) -> Option<&'a Record> {
        self.report.require(tape.0 < MAX_TAPES, Rule::Tape, || {
            format!("tape {} is not below {MAX_TAPES}", tape.0)
        });
        let record = self.module.records.get(record.index());
        self.known(record.is_some(), "record");
        record
    }

    /// Results that are the fields of a record.
    fn check_taken(&mut self, inst: &Inst, record: &Record) {
        let results = self.results(inst).unwrap_or(Results::NONE);
        let given = results.iter().map(|r| self.ty(r));
        let fits = given.eq(record.fields.iter().map(|f| Some(f.ty)));
        if !self.report.require(fits, Rule::Operands, || {
            "results should be the fields of the record".into()
        }) {
            return;
        }
        for (value, field) in results.iter().zip(&record.fields) {
            let lanes = (field.ty == F32).then_some(field.lanes);
            self.supplied(value, lanes);
        }
    }

    fn known(&mut self, known: bool, what: &str) -> bool {
        self.report
            .require(known, Rule::Id, || format!("no such {what} in the module"))
    }

    fn array(&mut self, id: ArrayId) -> Option<&'a Array> {
        let function = self.function;
        let array = function.arrays.get(id.index());
        self.report.require(array.is_some(), Rule::Id, || {
            format!("&{} is not an array of the function", id.0)
        });
        array
    }

    /// The lanes of a value are among those that its definition can give; `None` says that it has
    /// no shadow by its nature.
    fn supplied(&mut self, value: ValueId, available: Option<Lanes>) {
        let rule = available.map_or(Rule::Shadowless, |_| Rule::Supply);
        let available = available.unwrap_or(Lanes::NONE);
        let lanes = self.lanes(value);
        self.report.require(available.contains(lanes), rule, || {
            format!("%{} has lanes {lanes:?}, its source {available:?}", value.0)
        });
    }

    fn same_shape(&mut self, a: &Array, b: &Array, rule: Rule) {
        let same = (a.element, a.len) == (b.element, b.len);
        self.report.require(same, rule, || {
            "arrays differ in element type or length".into()
        });
    }

    fn check_operands(&mut self, inst: &Inst, wanted: &[Scalar]) {
        let given = inst.args.iter().map(|&a| self.ty(a));
        let fits = given.eq(wanted.iter().map(|&t| Some(t)));
        self.report.require(fits, Rule::Operands, || {
            format!("operands should be {wanted:?}")
        });
    }

    /// Results of these types, with lanes as [`supplied`](Checker::supplied) says.
    fn check_results(&mut self, inst: &Inst, wanted: &[Scalar], available: Option<Lanes>) {
        let results = self.results(inst).unwrap_or(Results::NONE);
        let given = results.iter().map(|r| self.ty(r));
        let fits = given.eq(wanted.iter().map(|&t| Some(t)));
        if self.report.require(fits, Rule::Operands, || {
            format!("results should be {wanted:?}")
        }) {
            results.iter().for_each(|v| self.supplied(v, available));
        }
    }

    /// One result of any type, without lanes.
    fn check_single(&mut self, inst: &Inst) -> Option<Scalar> {
        let first = inst.results.first;
        let ty = self.ty(first).filter(|_| inst.results.count == 1);
        if self.report.require(ty.is_some(), Rule::Operands, || {
            "there should be one result".into()
        }) {
            self.supplied(first, None);
        }
        ty
    }
}
