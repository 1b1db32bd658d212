//! Checks of each kind of instruction: operands, results and lanes.

use super::function::Checker;
use super::{Rule, is_constant};
use crate::instruction::{InstField, LaneSource, ScalarList, Types};
use crate::limits::MAX_TAPES;
use crate::module::*;
use crate::types::{Lanes, Scalar};
use Scalar::F32;
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;

impl<'a> Checker<'a> {
    /// Operand and result types, ids, and lanes. Edges are checked where the regions are known.
    pub(super) fn check_inst(&mut self, inst: &Inst) {
        inst.kind.for_each_field(|field| self.check_id(field));
        let description = inst.kind.description();
        match description.operands {
            Types::OfOp(op) => return self.check_op(inst, op),
            Types::OfFunction(callee) => return self.check_call(inst, callee),
            types => {
                if let Some(types) = self.resolve(types, inst.args.len()) {
                    self.check_operands(inst, &types);
                }
            }
        }
        let lanes = description.lanes;
        match description.results {
            Types::Any => drop(self.check_single(inst)),
            types => {
                let count = inst.results.count as usize;
                if let Some(types) = self.resolve(types, count) {
                    self.check_results(inst, &types, |checker, at| {
                        checker.available(inst, lanes, types[at], at)
                    });
                }
            }
        }
        self.check_kind(inst);
    }

    /// What the description of an instruction does not say.
    fn check_kind(&mut self, inst: &Inst) {
        match &inst.kind {
            InstKind::Const(bits) => {
                if let Some(ty) = self.ty(inst.results.first) {
                    self.report
                        .require(is_constant(ty, *bits), Rule::Constant, || {
                            format!("{bits:#x} is no constant {ty}")
                        });
                }
            }
            InstKind::WithSlopes(op) => {
                self.report
                    .require(InstKind::has_slopes(*op), Rule::Operands, || {
                        format!("`{}` has no slope along each operand", op.info().name)
                    });
            }
            InstKind::Difference(_) => {
                let joined = self.module.quad.is_some();
                self.report.require(joined, Rule::Quad, || {
                    "a difference between points that are not evaluated in quads".into()
                });
            }
            InstKind::ArrayCopy { to, from } => {
                if let (Some(to), Some(from)) = (self.array(*to), self.array(*from)) {
                    let whole = inst.args.is_empty();
                    let len = if whole { from.len } else { to.len };
                    let part = Array { len, ..*from };
                    self.same_shape(to, &part, Rule::Operands);
                }
            }
            InstKind::ArrayResize(array, part) => {
                if let Some(array) = self.array(*array) {
                    self.report
                        .require((1..=array.len).contains(part), Rule::Operands, || {
                            "a part has at least 1 element, and at most those of the array".into()
                        });
                }
            }
            InstKind::Buffer(buffer, number, _) | InstKind::BufferAdd(buffer, number) => {
                if let Some(buffer) = self.module.buffers.get(buffer.index()) {
                    let is_there = (*number as usize) < buffer.width();
                    self.report.require(is_there, Rule::Id, || {
                        format!("an element of `{}` has no number {number}", buffer.name)
                    });
                }
            }
            _ => {}
        }
    }

    /// Whether an id is that of a buffer, or of a sum.
    fn buffer(&mut self, id: BufferId, is_sum: bool) {
        let buffer = self.module.buffers.get(id.index());
        self.known(
            buffer.is_some_and(|buffer| buffer.is_sum() == is_sum),
            if is_sum { "sum" } else { "buffer" },
        );
    }

    /// Whether an id is one of the module or the function. Regions are checked where they are
    /// entered, a global with its scalar where its type is needed.
    fn check_id(&mut self, field: InstField<'_>) {
        let module = self.module;
        match field {
            InstField::Read(array) | InstField::Written(array) => self.check_array(*array),
            InstField::Function(id) => self.known(id.index() < module.functions.len(), "function"),
            InstField::Texture(id) => self.known(id.index() < module.textures.len(), "texture"),
            InstField::Buffer(id) => self.buffer(*id, false),
            InstField::Sum(id) => self.buffer(*id, true),
            InstField::Resource(id) => self.known(id.index() < module.resources.len(), "resource"),
            InstField::Closure(id) => self.known(id.index() < module.closures.len(), "closure"),
            InstField::Message(id) => self.known(id.index() < module.messages.len(), "message"),
            InstField::Record(id) => self.known(id.index() < module.records.len(), "record"),
            InstField::Tape(tape) => {
                self.report.require(tape.0 < MAX_TAPES, Rule::Tape, || {
                    format!("tape {} is not below {MAX_TAPES}", tape.0)
                });
            }
            InstField::Op(_)
            | InstField::Bits(_)
            | InstField::Number(_)
            | InstField::Region(_)
            | InstField::Target(_)
            | InstField::Passed(_)
            | InstField::Global(_) => {}
        }
    }

    /// The types of operands or results, unless an id is unknown or edges decide.
    fn resolve(&mut self, types: Types, count: usize) -> Option<ScalarList> {
        let arrays = &self.function.arrays;
        let known = types.resolve(count, self.interface, &self.module.records, arrays);
        if matches!(types, Types::OfGlobal(..)) {
            self.known(known.is_some(), "global");
        }
        known
    }

    /// The lanes that a result of that type and position can have.
    fn available(&self, inst: &Inst, source: LaneSource, ty: Scalar, at: usize) -> Option<Lanes> {
        let is_float = ty == F32;
        match source {
            LaneSource::Never | LaneSource::Function(_) | LaneSource::Edges => None,
            LaneSource::Host | LaneSource::Given => is_float.then_some(Lanes::XY),
            LaneSource::Operands => {
                let lanes = inst.args.iter().map(|&arg| self.lanes(arg));
                Some(lanes.fold(Lanes::NONE, |all, lanes| all | lanes))
            }
            LaneSource::Array(id) => Some(self.function.arrays.get(id.index())?.lanes),
            LaneSource::Record(id) => {
                let record = self.module.records.get(id.index())?;
                is_float.then_some(record.fields.get(at)?.lanes)
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
        self.check_results(inst, &[info.result.resolve(last)], |_, _| available);
    }

    fn check_call(&mut self, inst: &Inst, callee: FuncId) {
        let (Some(callee), InstKind::Call(_, arrays)) =
            (self.module.functions.get(callee.index()), &inst.kind)
        else {
            return;
        };
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
            self.check_array(given);
            if let Some(given) = self.array(given) {
                self.same_shape(given, wanted, Rule::Call);
            }
        }
        for (value, result) in results.iter().zip(&callee.results) {
            self.supplied(value, Some(result.lanes));
        }
    }

    fn known(&mut self, known: bool, what: &str) {
        self.report
            .require(known, Rule::Id, || format!("no such {what} in the module"));
    }

    fn check_array(&mut self, id: ArrayId) {
        self.report.require(self.array(id).is_some(), Rule::Id, || {
            format!("&{} is not an array of the function", id.0)
        });
    }

    fn array(&self, id: ArrayId) -> Option<&'a Array> {
        self.function.arrays.get(id.index())
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

    /// Results of these types, with lanes as [`supplied`](Checker::supplied) says, by position.
    fn check_results(
        &mut self,
        inst: &Inst,
        wanted: &[Scalar],
        available: impl Fn(&Self, usize) -> Option<Lanes>,
    ) {
        let results = self.results(inst).unwrap_or(Results::NONE);
        let given = results.iter().map(|r| self.ty(r));
        let fits = given.eq(wanted.iter().map(|&t| Some(t)));
        if self.report.require(fits, Rule::Operands, || {
            format!("results should be {wanted:?}")
        }) {
            for (at, value) in results.iter().enumerate() {
                self.supplied(value, available(self, at));
            }
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
