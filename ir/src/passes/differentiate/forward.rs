//! Forward mode: the function with a tangent beside each active value.
//!
//! Guarantees: results and faults are those of the primal function; tangents are what its shadows
//! would be, to the bit, where parameters have these tangents for shadows and the same values are
//! active.

use super::activity::ActiveSlots;
use super::array::{clamped_index, zero_array};
use super::field::{Trace, TraceFloat};
use super::slopes;
use super::{Differentiator, Loss, count, results};
use crate::builder::FunctionBuilder;
use crate::copy::Copied;
use crate::instruction::Effect;
use crate::module::*;
use crate::types::{Direction, Scalar};
use adumbra_ops::OpVisitor;
use adumbra_ops::definition::{BitOpDef, OpDef, Partial, tangent};

/// Writes the body of a forward derivative, whose tangents may be along the screen.
pub(super) fn forward(
    differentiator: &mut Differentiator<'_>,
    name: String,
    primal: &Function,
    activity: &Activity,
    screen: Option<Direction>,
) -> Result<Function, Loss> {
    let active = ActiveSlots::new(differentiator.wiring(screen), primal, activity);
    let mut forward = Forward {
        differentiator,
        primal,
        screen,
        active,
        builder: FunctionBuilder::new(name, primal.span),
        copied: Copied::new(primal),
        tangents: vec![None; primal.values.len()],
        tangent_arrays: Vec::new(),
        results: vec![Vec::new(); primal.regions.len()],
        returned: activity.results.clone(),
    };
    forward.signature(activity);
    forward.region(primal.body)?;
    Ok(forward.builder.finish())
}

pub(super) struct Forward<'a, 'm> {
    pub(super) differentiator: &'a mut Differentiator<'m>,
    pub(super) primal: &'a Function,
    /// The direction of the screen that tangents are along.
    pub(super) screen: Option<Direction>,
    pub(super) active: ActiveSlots,
    pub(super) builder: FunctionBuilder,
    pub(super) copied: Copied,
    /// By value of the primal function.
    pub(super) tangents: Vec<Option<ValueId>>,
    /// By array of the primal function.
    tangent_arrays: Vec<Option<ArrayId>>,
    /// By region: which results of its instruction have tangents.
    results: Vec<Vec<bool>>,
    /// Which results of the function have tangents.
    returned: Vec<bool>,
}

impl Forward<'_, '_> {
    fn signature(&mut self, activity: &Activity) {
        let primal = self.primal;
        let builder = &mut self.builder;
        for &param in primal.params() {
            self.copied.param(builder, primal, param);
        }
        for (&param, _) in primal
            .params()
            .iter()
            .zip(&activity.params)
            .filter(|p| *p.1)
        {
            let tangent = builder.param(Scalar::F32, primal.value(param).span);
            self.tangents[param.index()] = Some(tangent);
        }
        let types = primal.results.iter().map(|r| r.ty);
        let tangents = std::iter::repeat_n(Scalar::F32, count(&activity.results));
        builder.function_mut().results = results(types.chain(tangents));
        // Parameters come before locals, and tangents of parameters after all parameters.
        self.tangent_arrays = vec![None; primal.arrays.len()];
        let params = primal.array_params().count();
        for (i, array) in primal.arrays.iter().enumerate().take(params) {
            self.copied.add_array(builder, i, array, array.mode);
        }
        for (i, array) in primal.arrays[..params].iter().enumerate() {
            if activity.arrays[i] {
                self.tangent_arrays[i] = Some(builder.array(Array {
                    name: None,
                    ..*array
                }));
            }
        }
        for (i, array) in primal.arrays.iter().enumerate().skip(params) {
            self.copied.add_array(builder, i, array, None);
        }
        for (i, array) in primal.arrays.iter().enumerate() {
            let is_there = self.tangent_arrays[i].is_some();
            if !is_there && self.active.array(ArrayId(i as u32)) {
                self.tangent_arrays[i] = Some(builder.array(Array {
                    name: None,
                    mode: None,
                    ..*array
                }));
            }
        }
    }

    fn region(&mut self, id: RegionId) -> Result<(), Loss> {
        self.copied.set_region(id, self.builder.current());
        let primal = self.primal;
        for inst in &primal.region(id).insts {
            self.inst(id, inst)?;
        }
        Ok(())
    }

    /// The tangent of a value, 0 if it has none.
    fn tangent(&mut self, value: ValueId, span: crate::span::Span) -> ValueId {
        match self.tangents[value.index()] {
            Some(tangent) => tangent,
            None => self.builder.float(0.0, span),
        }
    }

    /// The copied operands, then the tangents of those that are selected.
    pub(super) fn with_tangents(
        &mut self,
        inst: &Inst,
        selected: impl IntoIterator<Item = bool>,
    ) -> Args {
        let mut args = self.copied.args(&inst.args);
        for (&arg, selected) in inst.args.iter().zip(selected) {
            if selected {
                args.push(self.tangent(arg, inst.span));
            }
        }
        args
    }

    fn active_results(&self, inst: &Inst) -> Vec<bool> {
        inst.results.iter().map(|r| self.active.value(r)).collect()
    }

    fn active_params(&self, region: RegionId) -> Vec<bool> {
        let params = &self.primal.region(region).params;
        params.iter().map(|&p| self.active.value(p)).collect()
    }

    /// Says that the results after the copied ones are the tangents of those that are active.
    fn define(&mut self, inst: &Inst, results: Results) {
        self.copied
            .define(&mut self.builder, self.primal, inst, results);
        let mut tangents = results.iter().skip(inst.results.count as usize);
        for result in inst.results.iter().filter(|&r| self.active.value(r)) {
            self.tangents[result.index()] = tangents.next();
        }
    }

    pub(super) fn result_types(&self, inst: &Inst, active: &[bool]) -> Vec<Scalar> {
        let types = inst.results.iter().map(|r| self.primal.value(r).ty);
        let tangents = active.iter().filter(|a| **a).map(|_| Scalar::F32);
        types.chain(tangents).collect()
    }

    fn nested(&mut self, region: RegionId, results: &[bool]) -> Result<(), Loss> {
        self.results[region.index()] = results.to_vec();
        self.builder.open_region();
        let primal = self.primal;
        for &param in &primal.region(region).params {
            self.copied.param(&mut self.builder, primal, param);
        }
        for &param in &primal.region(region).params {
            if self.active.value(param) {
                let tangent = self.builder.param(Scalar::F32, primal.value(param).span);
                self.tangents[param.index()] = Some(tangent);
            }
        }
        self.region(region)?;
        self.builder.close_region();
        Ok(())
    }

    fn inst(&mut self, region: RegionId, inst: &Inst) -> Result<(), Loss> {
        let primal = self.primal;
        let span = inst.span;
        match &inst.kind {
            InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => {
                let active = self.active_results(inst);
                let carried = match inst.kind {
                    InstKind::Loop(body) => self.active_params(body),
                    _ => Vec::new(),
                };
                let args = self.with_tangents(inst, carried);
                for region in inst.kind.regions() {
                    self.nested(region, &active)?;
                }
                let types = self.result_types(inst, &active);
                let kind = self.copied.kind(&inst.kind);
                let results = self.builder.inst(kind, args, types, span);
                self.define(inst, results);
            }
            kind if kind.is_terminator() => {
                let selected = match *kind {
                    InstKind::Yield => self.results[region.index()].clone(),
                    InstKind::Break(to) => self.results[to.index()].clone(),
                    InstKind::Continue(to) => self.active_params(to),
                    InstKind::Return => self.returned.clone(),
                    _ => Vec::new(),
                };
                let args = self.with_tangents(inst, selected);
                let kind = self.copied.kind(kind);
                self.builder.terminate(kind, args, span);
            }
            InstKind::Call(callee, arrays) => self.call(inst, *callee, arrays)?,
            &InstKind::Shadow(direction) if self.screen == Some(direction) => {
                let tangent = self.tangent(inst.args[0], span);
                self.copied.set_value(inst.results.first, tangent);
            }
            kind if kind.effect() == Effect::UsesTape => self.record(inst)?,
            _ => {
                self.copied.copy(&mut self.builder, primal, inst);
                self.linear(inst);
            }
        }
        Ok(())
    }

    /// The tangents of an instruction that has been copied.
    fn linear(&mut self, inst: &Inst) {
        let primal = self.primal;
        let span = inst.span;
        match inst.kind {
            InstKind::Op(op) => {
                let result = inst.results.first;
                if !self.active.value(result) {
                    return;
                }
                let args = self.copied.args(&inst.args);
                let value = self.copied.value(result);
                let shadows = inst.args.iter().map(|arg| self.tangents[arg.index()]);
                let shadows: Vec<Option<ValueId>> = shadows.collect();
                let nests = self.differentiator.nests();
                let tangent = Trace::append(&mut self.builder, span, nests, |trace| {
                    op.visit(TangentOf {
                        trace,
                        args: &args,
                        value,
                        shadows: &shadows,
                    })
                });
                self.tangents[result.index()] = tangent;
            }
            InstKind::Shadow(direction) if self.screen.is_none() => self.shadow(inst, direction),
            InstKind::Detach if self.screen.is_some() => {
                let tangent = self.tangents[inst.args[0].index()];
                self.tangents[inst.results.first.index()] = tangent.map(|tangent| {
                    let detached =
                        self.builder
                            .inst(InstKind::Detach, [tangent], [Scalar::F32], span);
                    detached.first
                });
            }
            InstKind::Buffer(buffer, number, _) => {
                let result = inst.results.first;
                if let Some(tangents) = self.active.derivative_of(result, buffer) {
                    let index = self.copied.value(inst.args[0]);
                    let kind = InstKind::Buffer(tangents, number, IndexCheck::Silent);
                    let tangent = self.builder.inst(kind, [index], [Scalar::F32], span);
                    self.tangents[result.index()] = Some(tangent.first);
                }
            }
            InstKind::Sample(texture, mip, slopes) => {
                if let Some(tangents) = self.active.derivative_of_sample(inst, texture) {
                    let args = self.copied.args(&inst.args);
                    let types = std::iter::repeat_n(Scalar::F32, slopes.result_count());
                    let kind = InstKind::Sample(tangents, mip, slopes);
                    let coordinates = [args[0], args[1]];
                    let sampled = self.builder.inst(kind, args, types, span);
                    let mut tangents: Args = sampled.iter().collect();
                    // Tangents of texels change along the texture as texels do.
                    if slopes == Slopes::Given {
                        let numbers = self.builder.with_given_slopes(sampled, coordinates, span);
                        tangents[..numbers.len()].copy_from_slice(&numbers);
                    }
                    for (result, tangent) in inst.results.iter().zip(tangents) {
                        self.tangents[result.index()] = Some(tangent);
                    }
                }
            }
            InstKind::Load(array) if self.active.value(inst.results.first) => {
                if let Some(tangents) = self.tangent_arrays[array.index()] {
                    let index = self.index(inst, array);
                    let kind = InstKind::Load(tangents);
                    let loaded = self.builder.inst(kind, [index], [Scalar::F32], span);
                    self.tangents[inst.results.first.index()] = Some(loaded.first);
                }
            }
            InstKind::Store(array) => {
                if let Some(tangents) = self.tangent_arrays[array.index()] {
                    let index = self.index(inst, array);
                    let tangent = self.tangent(inst.args[1], span);
                    self.builder
                        .inst(InstKind::Store(tangents), [index, tangent], [], span);
                }
            }
            InstKind::ArrayZero(array) => {
                if let Some(tangents) = self.tangent_arrays[array.index()] {
                    self.builder
                        .inst(InstKind::ArrayZero(tangents), [], [], span);
                }
            }
            InstKind::ArrayResize(array, part) => {
                if let Some(tangents) = self.tangent_arrays[array.index()] {
                    // The parts that were begun: a negative number has faulted once.
                    let parts = self.copied.value(inst.results.first);
                    let kind = InstKind::ArrayResize(tangents, part);
                    self.builder.inst(kind, [parts], [Scalar::I32], span);
                }
            }
            InstKind::ArrayCopy { to, from } => {
                let Some(to) = self.tangent_arrays[to.index()] else {
                    return;
                };
                let args = self.copied.args(&inst.args);
                let from = match self.tangent_arrays[from.index()] {
                    Some(from) => from,
                    None => {
                        let shape = primal.arrays[from.index()];
                        zero_array(&mut self.builder, &shape, span)
                    }
                };
                let kind = InstKind::ArrayCopy { to, from };
                self.builder.inst(kind, args, [], span);
            }
            _ => {}
        }
    }

    fn shadow(&mut self, inst: &Inst, direction: Direction) {
        if let Some(tangent) = self.tangents[inst.args[0].index()] {
            let shadow = self.builder.shadow(direction, tangent, inst.span);
            self.tangents[inst.results.first.index()] = Some(shadow);
        }
    }

    /// The index of a load or store that has been copied, which faulted there if it is out of
    /// range.
    fn index(&mut self, inst: &Inst, array: ArrayId) -> ValueId {
        let index = self.copied.value(inst.args[0]);
        let len = self.primal.arrays[array.index()].len;
        clamped_index(&mut self.builder, index, len, inst.span)
    }

    fn call(&mut self, inst: &Inst, callee: FuncId, arrays: &[ArrayId]) -> Result<(), Loss> {
        let wanted = self.active.of_call(inst, arrays);
        let wanted = self.differentiator.wanted(callee, wanted, self.screen);
        let function = self.differentiator.function(callee);
        let Some(wanted) = wanted else {
            self.copied.copy(&mut self.builder, self.primal, inst);
            return Ok(());
        };
        // A function with custom derivatives stays called, for those; its shadows come beside it.
        let is_beside = self.screen.is_some() && function.custom != CustomDerivatives::default();
        if is_beside {
            if self.differentiator.has_effects(callee) {
                return Err(Loss::Shadow {
                    name: function.name.clone(),
                    span: inst.span,
                });
            }
            self.copied.copy(&mut self.builder, self.primal, inst);
        }
        let (derived, activity) = match function.custom.forward {
            Some(forward) => (forward, function.custom.activity.clone()),
            None if function.custom.backward.is_some() && self.screen.is_none() => {
                return Err(Loss::NoForwardRule {
                    name: function.name.clone(),
                    span: inst.span,
                });
            }
            None => {
                let derived = self
                    .differentiator
                    .forward_of(callee, &wanted, self.screen)?;
                (derived, wanted)
            }
        };
        let span = inst.span;
        let args = self.with_tangents(inst, activity.params.iter().copied());
        let types = self.result_types(inst, &activity.results);
        let mut passed: Vec<ArrayId> = arrays.iter().map(|&a| self.copied.array(a)).collect();
        for (&array, _) in arrays.iter().zip(&activity.arrays).filter(|a| *a.1) {
            passed.push(match self.tangent_arrays[array.index()] {
                Some(tangents) => tangents,
                None => {
                    let shape = self.primal.arrays[array.index()];
                    zero_array(&mut self.builder, &shape, span)
                }
            });
        }
        let kind = InstKind::Call(derived, passed.into_boxed_slice());
        let results = self.builder.inst(kind, args, types, span);
        if !is_beside {
            self.copied
                .define(&mut self.builder, self.primal, inst, results);
        }
        let mut tangents = results.iter().skip(inst.results.count as usize);
        for (result, _) in inst.results.iter().zip(&activity.results).filter(|r| *r.1) {
            let tangent = tangents.next();
            if self.active.value(result) {
                self.tangents[result.index()] = tangent;
            }
        }
        Ok(())
    }
}

/// The tangent of an op, by the formula of shadows.
struct TangentOf<'t> {
    trace: &'t Trace,
    args: &'t [ValueId],
    value: ValueId,
    shadows: &'t [Option<ValueId>],
}

impl<'t> TangentOf<'t> {
    /// The tangent by these partials.
    fn by_partials<const N: usize>(&self, partials: &[Partial<TraceFloat<'t>>; N]) -> ValueId {
        let trace = self.trace;
        let shadow = |i: usize| self.shadows[i].map(|shadow| trace.float(shadow));
        tangent(
            partials,
            std::array::from_fn(shadow),
            trace.float(self.value),
        )
        .value()
    }
}

impl OpVisitor for TangentOf<'_> {
    type Out = Option<ValueId>;

    fn float<R: OpDef<N>, const N: usize>(self) -> Option<ValueId> {
        let partials = slopes::partials::<R, N>(self.trace, self.args, self.value);
        Some(self.by_partials(&partials))
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Option<ValueId> {
        None
    }
}
