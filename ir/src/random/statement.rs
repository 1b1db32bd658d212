//! Random statements: instructions with operands that are visible where they are.

use super::ANY;
use super::function::Maker;
use crate::module::*;
use crate::span::{FileId, Span};
use crate::types::{Direction, Scalar};
use Scalar::{Bool, Closure, F32, I32, Resource, U32};
use adumbra_ops::Op;
use adumbra_ops::definition::OperandKind;

/// Ops that keep numbers small and pass shadows, so that chains of them grow long.
const FLOWING: [Op; 16] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Mix,
    Op::Min,
    Op::Max,
    Op::Clamp,
    Op::Select,
    Op::Abs,
    Op::Fract,
    Op::Saturate,
    Op::Sin,
    Op::Cos,
    Op::Tanh,
    Op::FLt,
    Op::FToI,
];

impl Maker<'_> {
    pub(super) fn span(&mut self) -> Span {
        self.place += 10;
        let start = self.index as u32 * 100_000 + self.place;
        Span::new(FileId(self.random.below(2) as u16), start, start + 5)
    }

    /// Any value of that type: mostly one that is there, else a constant.
    pub(super) fn value(&mut self, ty: Scalar) -> ValueId {
        let fitting: Vec<ValueId> = self
            .visible
            .iter()
            .copied()
            .filter(|&v| self.b.ty(v) == ty)
            .collect();
        if !fitting.is_empty() && !self.random.one_in(12) {
            // Mostly recent values, so that values depend on each other.
            let recent = fitting.len().saturating_sub(4);
            let from = if self.random.one_in(4) { 0 } else { recent };
            return self.random.pick(&fitting[from..]);
        }
        let span = self.span();
        if ty == Resource {
            return self.keep(InstKind::Resource(ResourceId(0)), &[], &[Resource])[0];
        }
        let bits = match ty {
            F32 => self.random.float().to_bits(),
            I32 | U32 => (self.random.below(9) as u32).wrapping_sub(2),
            Bool => self.random.below(2) as u32,
            Closure | Resource => 0,
        };
        let value = self.b.constant(ty, bits, span);
        self.visible.push(value);
        value
    }

    pub(super) fn values(&mut self, types: &[Scalar]) -> Vec<ValueId> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    /// Appends an instruction and remembers its results.
    pub(super) fn keep(
        &mut self,
        kind: InstKind,
        args: &[ValueId],
        results: &[Scalar],
    ) -> Vec<ValueId> {
        let span = self.span();
        let results = self
            .b
            .inst(kind, args.iter().copied(), results.iter().copied(), span);
        self.visible.extend(results.iter());
        for value in results.iter() {
            if self.random.one_in(3) {
                let name = NameId(self.random.below(3) as u32);
                self.b.name(value, name);
            }
        }
        results.iter().collect()
    }

    /// Appends an instruction of that many operands, whose types the table of instructions has.
    pub(super) fn described(&mut self, kind: InstKind, count: usize) -> Vec<ValueId> {
        let description = kind.description();
        let arrays = &self.b.function().arrays;
        let [operands, results] = [description.operands, description.results].map(|types| {
            let types = types.resolve(count, self.scalars, &self.tables.records, arrays);
            types.expect("types that are known from its ids")
        });
        let args = self.values(&operands);
        self.keep(kind, &args, &results)
    }

    pub(super) fn types(&mut self, most: usize) -> Vec<Scalar> {
        (0..self.random.below(most + 1))
            .map(|_| self.random.pick(&ANY))
            .collect()
    }

    pub(super) fn array(&mut self) -> ArrayId {
        ArrayId(self.random.below(self.b.function().arrays.len()) as u32)
    }

    pub(super) fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(6) {
            self.statement(depth);
        }
    }

    pub(super) fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 0 { 30 } else { 25 }) {
            0..9 => self.op(),
            11..=14 if self.b.function().arrays.is_empty() => self.op(),
            9 => {
                let (global, scalar) = self.random.pick(&[(0, 0), (1, 2), (2, 0)]);
                self.described(InstKind::Global(GlobalId(global), scalar), 0);
            }
            10 => {
                let direction = self.random.pick(&Direction::BOTH);
                self.described(InstKind::Shadow(direction), 1);
            }
            11 | 12 => {
                let array = self.array();
                self.described(InstKind::Store(array), 2);
            }
            13 => {
                let array = self.array();
                self.described(InstKind::Load(array), 1);
            }
            14 => {
                let (to, from) = (self.array(), self.array());
                let arrays = &self.b.function().arrays;
                let shape = |a: ArrayId| (arrays[a.index()].element, arrays[a.index()].len);
                let (copy, alike) = (
                    InstKind::ArrayCopy { to, from },
                    shape(to).0 == shape(from).0,
                );
                if shape(to) == shape(from) && !self.random.one_in(4) {
                    self.described(copy, 0);
                } else if alike {
                    self.described(copy, 1);
                } else if self.random.one_in(2) {
                    self.resize(to);
                } else {
                    self.described(InstKind::ArrayZero(to), 0);
                }
            }
            15 | 16 => {
                let mip = match self.random.below(6) {
                    0 => MipSelection::GRADIENTS,
                    1 => MipSelection::LEVEL,
                    _ => MipSelection::Shadows,
                };
                let slopes = match self.random.below(4) {
                    0 => Slopes::Given,
                    _ => Slopes::Omitted,
                };
                let kind = InstKind::Sample(TextureId(0), mip, slopes);
                self.described(kind, mip.operand_count());
            }
            17 => drop(self.described(InstKind::MakeClosure(ClosureId(0)), 4)),
            18 => drop(self.described(InstKind::ClosureAdd, 2)),
            19 => {
                let count = self.random.pick(&[2, 4]);
                self.described(InstKind::ClosureScale, count);
            }
            20 => drop(self.described(InstKind::Message(MessageId(0)), 3)),
            21 | 22 => self.call(),
            23 if self.random.one_in(4) => {
                let counted = match self.random.below(4) as u32 {
                    3 => InstKind::TakeStep,
                    open => InstKind::EnterInlined(open),
                };
                self.described(counted, 0);
            }
            23 if self.random.one_in(2) => self.buffer(),
            23 if self.random.one_in(2) => drop(self.described(InstKind::Attach, 3)),
            23 => self.with_slopes(),
            24 if self.random.one_in(3) => self.kept(),
            24 => self.op(),
            25 | 26 => self.branch(depth - 1),
            27 => self.counted(depth - 1),
            28 => self.taped(depth - 1),
            _ => self.block(depth - 1),
        }
    }

    /// An op of floats with its slopes: noise as often as another.
    fn with_slopes(&mut self) {
        let wants_long = self.random.one_in(2);
        let fits =
            |op: &Op| InstKind::has_slopes(*op) && op.info().shares_shadow_routine == wants_long;
        let ops: Vec<Op> = Op::ALL.iter().copied().filter(fits).collect();
        let op = self.random.pick(&ops);
        self.described(InstKind::WithSlopes(op), op.arity());
    }

    /// A buffer is read, a sum is added to, or the adjoint of a sample is passed on.
    fn buffer(&mut self) {
        let check = match self.random.below(3) {
            0 => IndexCheck::Silent,
            _ => IndexCheck::Faults,
        };
        let number = self.random.below(2) as u32;
        let (kind, operands) = match self.random.below(6) {
            0 => (InstKind::BufferLength(BufferId(0)), 0),
            1 => (InstKind::Buffer(BufferId(1), 0, check), 1),
            2 => (InstKind::BufferAdd(BufferId(2), number), 2),
            3 => self.texture_adjoint(),
            _ => (InstKind::Buffer(BufferId(0), number, check), 1),
        };
        self.described(kind, operands);
    }

    fn texture_adjoint(&mut self) -> (InstKind, usize) {
        let mip = self
            .random
            .pick(&[ExplicitMip::Gradients, ExplicitMip::Level]);
        let slopes = self.random.pick(&[Slopes::Omitted, Slopes::Given]);
        let operands = mip.operand_count() + slopes.result_count();
        (
            InstKind::TextureAdjoint(TextureId(0), mip, slopes),
            operands,
        )
    }

    /// An array begins anew, nearly always within its capacity.
    pub(super) fn resize(&mut self, array: ArrayId) {
        let len = self.b.function().arrays[array.index()].len;
        let part = 1 + self.random.below(2) as u32;
        let mut parts = self.value(I32);
        if !self.random.one_in(16) {
            let span = self.span();
            let most = self.b.constant(I32, (len / part).min(3), span);
            parts = self.b.op(Op::IMin, &[parts, most], span);
        }
        self.keep(InstKind::ArrayResize(array, part), &[parts], &[I32]);
    }

    pub(super) fn op(&mut self) {
        let op = if self.random.one_in(3) {
            self.random.pick(Op::ALL)
        } else {
            self.random.pick(&FLOWING)
        };
        let shared = self.random.pick(&[I32, U32, Bool]);
        let mut types = op.info().operands.iter().map(|kind| match kind {
            OperandKind::Float => F32,
            OperandKind::I32 => I32,
            OperandKind::U32 => U32,
            OperandKind::Bool => Bool,
            OperandKind::Int if shared == Bool => I32,
            OperandKind::Int | OperandKind::Word => shared,
        });
        let types: Vec<Scalar> = types.by_ref().collect();
        let args = self.values(&types);
        let span = self.span();
        let value = self.b.op(op, &args, span);
        self.visible.push(value);
    }

    pub(super) fn call(&mut self) {
        if self.index + 1 >= self.signatures.len() {
            return self.op();
        }
        let callee = self.index + 1 + self.random.below(self.signatures.len() - self.index - 1);
        let signature = self.signatures[callee].clone();
        if self.signatures[self.index].is_straight && !signature.is_straight {
            return self.op();
        }
        let mine = self.b.function().arrays.clone();
        let arrays: Option<Box<[ArrayId]>> = signature
            .arrays
            .iter()
            .map(|&(element, len, _)| {
                let fits = |a: &Array| (a.element, a.len) == (element, len);
                mine.iter().position(fits).map(|i| ArrayId(i as u32))
            })
            .collect();
        let Some(arrays) = arrays else {
            return self.op();
        };
        let args = self.values(&signature.params);
        self.keep(
            InstKind::Call(FuncId(callee as u32), arrays),
            &args,
            &signature.results,
        );
    }
}
