//! Evaluation of instructions that neither branch nor call.

use super::{Evaluation, Halt, Values, canonical_value, masked, read};
use crate::eval::dual_number::DualNumber;
use crate::eval::number::{operand_bits, operand_floats};
use crate::eval::{AddedNumber, EvalValue, Number};
use crate::host::{ClosureRef, FaultKind, SampleRequest, Texel, canonical_float, move_steps};
use crate::module::*;
use crate::moved_words::moved_words;
use crate::quad::QuadPause;
use crate::span::Span;
use crate::types::{Direction, Lanes, Scalar};
use adumbra_ops::definition::OperandKind;
use adumbra_ops::{MAX_OPERANDS, Op};
use smallvec::{SmallVec, smallvec};

impl<F: Number> Evaluation<'_, F> {
    /// Clears `parts` parts of an array, one at least; returns the number of parts.
    fn resize(
        &mut self,
        array: ArrayId,
        part: u32,
        parts: i32,
        span: Span,
    ) -> Result<u32, Halt<F>> {
        if parts < 0 {
            self.fault(FaultKind::NegativeArraySize, span);
        }
        let parts = parts.max(0) as u32;
        let len = self.function().arrays[array.index()].len;
        let Some(elements) = parts.max(1).checked_mul(part).filter(|&n| n <= len) else {
            return self.stop(FaultKind::ArraySize, span);
        };
        self.take_steps(move_steps(elements), span)?;
        self.frame().arrays[array.index()][..elements as usize].fill(EvalValue::default());
        Ok(parts)
    }

    /// Copies the shorter array to or from the part of the longer that begins at `start`, moved so
    /// that it lies inside.
    fn copy_array(&mut self, to: ArrayId, from: ArrayId, start: i32) {
        let arrays = &self.frame().arrays;
        let (mut elements, source) = (arrays[to.index()].clone(), &arrays[from.index()]);
        let (longer, shorter) = match elements.len() > source.len() {
            true => (elements.len(), source.len()),
            false => (source.len(), elements.len()),
        };
        let start = usize::try_from(start).unwrap_or(0).min(longer - shorter);
        match elements.len() > source.len() {
            true => elements[start..start + shorter].copy_from_slice(source),
            false => elements.copy_from_slice(&source[start..start + shorter]),
        }
        self.set_array(to, elements);
    }

    /// An index within an array.
    fn index(&mut self, array: ArrayId, index: EvalValue<F>, span: Span) -> usize {
        let last = self.function().arrays[array.index()].len - 1;
        let index = index.word as i32;
        let clamped = i64::from(index).clamp(0, last.into());
        if clamped != index.into() {
            self.fault(FaultKind::IndexOutOfRange, span);
        }
        self.record(clamped as u64);
        self.state.tally.accesses += 1;
        clamped as usize
    }

    /// The results of instructions that neither branch nor call.
    pub(super) fn compute(
        &mut self,
        inst: &Inst,
        args: &[EvalValue<F>],
    ) -> Result<Values<F>, Halt<F>> {
        let steps = move_steps(moved_words(self.function(), inst));
        if steps > 0 {
            self.take_steps(steps, inst.span)?;
        }
        let value = match inst.kind {
            InstKind::Const(bits) => {
                let ty = self.function().value(inst.results.first).ty;
                EvalValue::from_bits(ty, bits)
            }
            InstKind::Op(op) => self.op(op, inst, args),
            InstKind::WithSlopes(op) => return Ok(self.with_slopes(op, args)),
            InstKind::Global(id, scalar) => {
                self.point.globals[self.globals[id.index()] + scalar as usize]
            }
            InstKind::Resource(id) => EvalValue::word(id.0),
            InstKind::Shadow(direction) => {
                self.state.tally.reads += 1;
                EvalValue::float(read(args[0].shadow(direction)), [F::default(); 2])
            }
            InstKind::Attach => EvalValue::float(args[0].float, [args[1].float, args[2].float]),
            InstKind::Detach => args[0],
            InstKind::Difference(direction) => {
                let awaited = QuadPause::Difference(direction, args[0].float);
                return Err(Halt::Pending(awaited));
            }
            InstKind::EnterInlined(open) => {
                self.state.tally.calls += 1;
                self.count_entry(1, open, inst.span)?;
                return Ok(Values::new());
            }
            InstKind::TakeStep => {
                self.take_steps(1, inst.span)?;
                self.state.tally.iterations += 1;
                return Ok(Values::new());
            }
            InstKind::ArrayZero(array) => {
                self.frame().arrays[array.index()].fill(EvalValue::default());
                return Ok(Values::new());
            }
            InstKind::ArrayCopy { to, from } => {
                let start = args.first().map_or(0, |start| start.word as i32);
                self.copy_array(to, from, start);
                return Ok(Values::new());
            }
            InstKind::ArrayResize(array, part) => {
                let parts = self.resize(array, part, args[0].word as i32, inst.span)?;
                EvalValue::word(parts)
            }
            InstKind::Buffer(buffer, number, check) => {
                let index = args[0].word;
                if check == IndexCheck::Faults && !self.point.buffers.has(buffer, index) {
                    self.fault(FaultKind::IndexOutOfRange, inst.span);
                }
                let element = self.point.buffers.position(buffer, index, number);
                self.record(element as u64);
                match self.point.replaced {
                    Some((of, at, value)) if (of, at) == (buffer, element) => {
                        EvalValue::float(value, [F::default(); 2])
                    }
                    _ => {
                        let ty = self.function().value(inst.results.first).ty;
                        EvalValue::from_bits(ty, self.point.buffers.word(buffer, index, number))
                    }
                }
            }
            InstKind::BufferLength(buffer) => EvalValue::word(self.point.buffers.len(buffer)),
            InstKind::BufferAdd(buffer, number) => {
                let value = args[1].float;
                if !value.to_f64().is_finite() && self.point.buffers.len(buffer) > 0 {
                    self.fault(FaultKind::SumNotFinite, inst.span);
                }
                self.state.added.push(AddedNumber {
                    buffer,
                    index: args[0].word,
                    number,
                    value,
                });
                return Ok(Values::new());
            }
            InstKind::Load(array) => {
                let index = self.index(array, args[0], inst.span);
                self.frame().arrays[array.index()][index]
            }
            InstKind::Store(id) => {
                let index = self.index(id, args[0], inst.span);
                let array = &self.function().arrays[id.index()];
                let lanes = self.options.shadows.of(array.element, array.lanes);
                self.frame().arrays[id.index()][index] = masked(args[1], lanes);
                return Ok(Values::new());
            }
            InstKind::Sample(texture, mip, slopes) => {
                return self.sample(inst, texture, mip, slopes, args);
            }
            InstKind::TextureAdjoint(texture, mip, slopes) => {
                self.texture_adjoint(texture, mip, slopes, args);
                return Ok(Values::new());
            }
            InstKind::Message(message) => {
                if self.options.origins {
                    self.state.origins.observe(args);
                }
                let words = self.canonical_words(inst, args);
                self.host.message(message, &words);
                return Ok(Values::new());
            }
            InstKind::Keep(tape, record) => {
                let fields = &self.module.records[record.index()].fields;
                let shadows = self.options.shadows;
                let values = fields.iter().zip(args);
                let values =
                    values.map(|(field, &value)| masked(value, shadows.of(field.ty, field.lanes)));
                let limit = self.options.limits.kept_words;
                if !self.state.tapes.keep(tape, record, values, limit) {
                    return self.stop(FaultKind::KeptWords, inst.span);
                }
                return Ok(Values::new());
            }
            InstKind::Take(tape, record) => {
                let fields = self.module.records[record.index()].fields.len();
                return match self.state.tapes.take(tape, record, fields) {
                    Some(values) => Ok(values.into()),
                    None => self.stop(FaultKind::NothingKept, inst.span),
                };
            }
            InstKind::MakeClosure(shape) => {
                let words = self.canonical_words(inst, args);
                let closure = self.state.closures.leaf(shape, words);
                self.closure(closure, inst.span)?
            }
            InstKind::ClosureAdd => {
                let [a, b] = [args[0], args[1]].map(|value| ClosureRef::from_word(value.word));
                let closure = self.state.closures.add(a, b);
                self.closure(closure, inst.span)?
            }
            InstKind::ClosureScale => {
                let closure = ClosureRef::from_word(args[0].word);
                let weight = |i: usize| args[i].float.to_f32();
                let closure = match args.len() {
                    2 => self.state.closures.scale(closure, weight(1)),
                    _ => self
                        .state
                        .closures
                        .tint(closure, [weight(1), weight(2), weight(3)]),
                };
                self.closure(closure, inst.span)?
            }
            _ => unreachable!("handled where control is"),
        };
        Ok(smallvec![value])
    }

    fn op(&mut self, op: Op, inst: &Inst, args: &[EvalValue<F>]) -> EvalValue<F> {
        let info = op.info();
        let mut value = F::apply(op, args);
        if !info.is_differentiable() {
            if let Some(kind) = info.fault
                && op.faults(&operand_bits(op, args))
            {
                self.fault(kind.into(), inst.span);
            }
            if info.operands.contains(&OperandKind::Float) {
                self.record(value.word.into());
            }
            return value;
        }
        let operands = operand_floats(op, args);
        self.record_segment(op, &operands);
        let function = self.function();
        let lanes = self.lanes(function, inst.results.first);
        for direction in Direction::BOTH.into_iter().filter(|&d| lanes.has(d)) {
            let shadows = inst.args.iter().zip(args).map(|(&id, value)| {
                let has = self.lanes(function, id).has(direction);
                has.then(|| value.shadow(direction))
            });
            let shadows: SmallVec<[Option<F>; MAX_OPERANDS]> = shadows.collect();
            let tangent = op.tangent(&operands, value.float, &shadows);
            value.shadows[direction as usize] = tangent;
        }
        value
    }

    /// Records the smooth segment that an op is on.
    fn record_segment(&mut self, op: Op, operands: &[F]) {
        if self.options.path {
            let wide: SmallVec<[f64; MAX_OPERANDS]> = operands.iter().map(|x| x.to_f64()).collect();
            self.record(op.smooth_segment(&wide) as u64);
        }
    }

    /// The value of an op, then its tangent for a shadow of 1 of each operand alone.
    fn with_slopes(&mut self, op: Op, args: &[EvalValue<F>]) -> Values<F> {
        self.record_segment(op, &operand_floats(op, args));
        let dual = |value: &EvalValue<F>| DualNumber {
            value: value.float,
            shadows: value.shadows,
        };
        let operands: SmallVec<[DualNumber<F>; MAX_OPERANDS]> = args.iter().map(dual).collect();
        let value = {
            let operands = operand_floats(op, args);
            let value = F::apply(op, args).float;
            let shadows = Direction::BOTH.map(|direction| {
                let shadows = args.iter().map(|arg| Some(arg.shadow(direction)));
                let shadows: SmallVec<[Option<F>; MAX_OPERANDS]> = shadows.collect();
                op.tangent(&operands, value, &shadows)
            });
            DualNumber { value, shadows }
        };
        let one = DualNumber::constant(F::from_f32(1.0));
        let slopes = (0..operands.len()).map(|along| {
            let mut shadows = [None; MAX_OPERANDS];
            shadows[along] = Some(one);
            op.tangent(&operands, value, &shadows[..operands.len()])
        });
        // They have lanes only where every float has.
        let lanes = self.options.shadows.of(Scalar::F32, Lanes::NONE);
        let numbers = std::iter::once(value).chain(slopes);
        numbers
            .map(|number| masked(EvalValue::float(number.value, number.shadows), lanes))
            .collect()
    }

    fn sample(
        &mut self,
        inst: &Inst,
        texture: TextureId,
        mip: MipSelection,
        slopes: Slopes,
        args: &[EvalValue<F>],
    ) -> Result<Values<F>, Halt<F>> {
        let request = sample_request(texture, mip, slopes, args);
        match self.host.sample(&request).texel() {
            Some(texel) => Ok(self.answered(inst, texel)),
            None => Err(Halt::Pending(QuadPause::Texel(request))),
        }
    }

    fn texture_adjoint(
        &mut self,
        texture: TextureId,
        mip: ExplicitMip,
        slopes: Slopes,
        args: &[EvalValue<F>],
    ) {
        let request = sample_request(texture, MipSelection::Explicit(mip), slopes, args);
        let number = |i: usize| canonical_value(args[i]).float;
        let numbers = (mip.operand_count()..args.len()).map(|i| number(i).to_f32());
        self.host
            .texture_adjoint(&request, &Texel::of_numbers(numbers));
    }

    /// The results of a sample that was answered.
    pub(super) fn answered(&mut self, inst: &Inst, texel: Texel) -> Values<F> {
        let is_wanted = matches!(inst.kind, InstKind::Sample(_, _, Slopes::Given));
        if texel.lacks_slopes(is_wanted) {
            self.fault(FaultKind::NoSlopes, inst.span);
        }
        let words = texel.words().take(inst.results.count as usize);
        words
            .map(|bits| EvalValue::from_bits(Scalar::F32, bits))
            .collect()
    }

    /// Canonical values for the host, by their bits.
    fn canonical_words(&self, inst: &Inst, args: &[EvalValue<F>]) -> Vec<u32> {
        let function = self.function();
        let args = inst.args.iter().zip(args);
        let words = args.map(|(&id, value)| match function.value(id).ty {
            Scalar::F32 => canonical_float(value.float.to_f32()).to_bits(),
            _ => value.word,
        });
        words.collect()
    }

    /// A closure just made, if the limit allows it.
    fn closure(&mut self, closure: ClosureRef, span: Span) -> Result<EvalValue<F>, Halt<F>> {
        if self.state.closures.size() > self.options.limits.closure_size as usize {
            return self.stop(FaultKind::ClosureSize, span);
        }
        Ok(EvalValue::word(closure.word()))
    }
}

/// The request of a sample with these operands, u and v first; canonical.
fn sample_request<F: Number>(
    texture: TextureId,
    mip: MipSelection,
    slopes: Slopes,
    args: &[EvalValue<F>],
) -> SampleRequest<F> {
    let at = |i: usize| canonical_value(args[i]);
    let (u, v) = (at(0), at(1));
    let zero = F::default();
    let ([dudx, dudy], [dvdx, dvdy], level) = match mip {
        MipSelection::Shadows => (u.shadows, v.shadows, None),
        MipSelection::GRADIENTS => {
            let [dudx, dvdx, dudy, dvdy] = [2, 3, 4, 5].map(|i| at(i).float);
            ([dudx, dudy], [dvdx, dvdy], None)
        }
        MipSelection::LEVEL => ([zero; 2], [zero; 2], Some(at(2).float)),
    };
    SampleRequest {
        texture,
        u: u.float,
        v: v.float,
        dudx,
        dudy,
        dvdx,
        dvdy,
        level,
        slopes: slopes == Slopes::Given,
    }
}
