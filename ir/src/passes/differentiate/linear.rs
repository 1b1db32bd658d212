//! The primal function with the coefficients of its linear part.
//!
//! Assumes a complete function. Guarantees: its values, regions and arrays keep their numbers, and
//! what it computes is the same; after each active op come the instructions of its coefficients.
//! The linear part is a list beside it: what each active result is a sum of, and the sweeps of each
//! active call.

use super::activity::ActiveSlots;
use super::coefficients::AppliedOp;
use super::field::{Coefficient, Trace};
use super::{Differentiator, Loss, count};
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::MAX_OPERANDS;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A term of a sum: a coefficient and the value whose tangent it multiplies.
pub(super) type Term = (Coefficient, ValueId);

/// A function and its linear part.
pub(super) struct Linear {
    /// The function, with instructions for the coefficients.
    pub(super) function: Function,
    /// The number of values of the primal function; what comes after are coefficients.
    pub(super) primal_values: usize,
    pub(super) active: ActiveSlots,
    /// By result of an active op.
    pub(super) sums: FxHashMap<ValueId, SmallVec<[Term; 2]>>,
    /// By region and position.
    pub(super) calls: FxHashMap<(RegionId, usize), LinearCall>,
    /// The tape that the sweeps of the calls have their records on.
    tape: TapeId,
}

/// An active call.
#[derive(Clone, Debug)]
pub(super) struct LinearCall {
    /// The function that the forward sweep calls.
    pub(super) forward_sweep: FuncId,
    /// How many zeros it is passed after the primal arguments, and how many results it has after
    /// the primal ones that nothing reads: the tangents of a custom forward derivative.
    pub(super) zeros: usize,
    pub(super) ignored: usize,
    /// Tangent arrays of a custom forward derivative, by the caller's array.
    pub(super) zero_arrays: Vec<ArrayId>,
    /// What it keeps: its last results.
    pub(super) kept: Vec<Scalar>,
    /// The function that the reverse sweep calls.
    pub(super) reverse_sweep: FuncId,
    /// For a custom backward derivative, which has the canonical signature: the primal arguments
    /// and, by array of mode `In` or `InOut`, the elements before the call.
    pub(super) custom: Option<CustomBack>,
    /// By cotangent that `back` reads: the result that it belongs to.
    pub(super) results: Vec<ValueId>,
    /// By gradient that `back` returns: the argument that it is added to.
    pub(super) params: Vec<ValueId>,
    /// By array of cotangents: the caller's array, and the mode of the parameter.
    pub(super) arrays: Vec<(ArrayId, PassingMode)>,
}

/// What a custom backward derivative reads of the primal call.
#[derive(Clone, Debug)]
pub(super) struct CustomBack {
    pub(super) args: Vec<ValueId>,
    pub(super) arrays: Vec<(ArrayId, Vec<ValueId>)>,
}

/// Finds the linear part of a function, whose sweeps have their records on a tape.
pub(super) fn linear(
    differentiator: &mut Differentiator<'_>,
    primal: &Function,
    activity: &Activity,
    tape: TapeId,
) -> Result<Linear, Loss> {
    let active = ActiveSlots::new(differentiator.wiring(None), primal, activity);
    let mut linear = Linear {
        function: primal.clone(),
        primal_values: primal.values.len(),
        active,
        sums: FxHashMap::default(),
        calls: FxHashMap::default(),
        tape,
    };
    let mut order = Vec::new();
    primal.for_each_region(|region| order.push(region));
    for region in order {
        let insts = std::mem::take(&mut linear.function.regions[region.index()].insts);
        let mut out = Vec::with_capacity(insts.len() * 2);
        for inst in insts {
            linear.inst(differentiator, region, inst, &mut out)?;
        }
        linear.function.regions[region.index()].insts = out;
    }
    Ok(linear)
}

impl Linear {
    /// The primal values that reversing an instruction reads, regions inside of it excluded.
    pub(super) fn for_each_read(
        &self,
        at: (RegionId, usize),
        inst: &Inst,
        mut read: impl FnMut(ValueId),
    ) {
        match &inst.kind {
            InstKind::Op(_) => {
                let terms = self.sums.get(&inst.results.first).into_iter().flatten();
                terms.filter_map(|term| term.0.value()).for_each(read);
            }
            InstKind::Load(array) | InstKind::Store(array) if self.active.array(*array) => {
                read(inst.args[0]);
            }
            InstKind::Buffer(buffer, ..)
                if (self.active.derivative_of(inst.results.first, *buffer)).is_some() =>
            {
                read(inst.args[0]);
            }
            InstKind::Sample(texture, ..)
                if self.active.derivative_of_sample(inst, *texture).is_some() =>
            {
                inst.args.iter().copied().for_each(read);
            }
            InstKind::ArrayCopy { to, .. } if self.active.array(*to) => {
                inst.args.iter().copied().for_each(read);
            }
            InstKind::ArrayResize(array, _) if self.active.array(*array) => {
                read(inst.results.first);
            }
            InstKind::Call(..) => {
                let call = self.calls.get(&at);
                if let Some(custom) = call.and_then(|call| call.custom.as_ref()) {
                    let elements = custom.arrays.iter().flat_map(|(_, elements)| elements);
                    custom
                        .args
                        .iter()
                        .chain(elements)
                        .copied()
                        .for_each(&mut read);
                }
            }
            InstKind::If(..) => read(inst.args[0]),
            _ => {}
        }
    }

    fn inst(
        &mut self,
        differentiator: &mut Differentiator<'_>,
        region: RegionId,
        inst: Inst,
        out: &mut Vec<Inst>,
    ) -> Result<(), Loss> {
        let result = inst.results.first;
        match &inst.kind {
            InstKind::Op(op) if self.active.value(result) => {
                let wanted = inst.args.iter().map(|&a| self.active.value(a));
                let wanted: SmallVec<[bool; MAX_OPERANDS]> = wanted.collect();
                let (op, args, span) = (*op, inst.args.clone(), inst.span);
                let (rules, nests) = (differentiator.rules, differentiator.nests());
                out.push(inst);
                let coefficients =
                    Trace::run(&mut self.function.values, out, span, nests, |trace| {
                        let at = AppliedOp {
                            op,
                            args: &args,
                            result,
                            wanted: &wanted,
                        };
                        rules.coefficients(&at, trace)
                    });
                let terms = coefficients.into_iter().zip(&args);
                let terms = terms.filter_map(|(c, &arg)| Some((c?, arg))).collect();
                self.sums.insert(result, terms);
            }
            InstKind::Shadow(_) if self.active.value(result) => {
                return Err(Loss::Shadow {
                    name: super::primal_name(&self.function.name).to_owned(),
                    span: inst.span,
                });
            }
            InstKind::Call(callee, arrays) => {
                if let Some(call) = self.call(differentiator, *callee, arrays, &inst, out)? {
                    self.calls.insert((region, out.len()), call);
                }
                out.push(inst);
            }
            _ => out.push(inst),
        }
        Ok(())
    }

    /// The sweeps of a call, if it is active.
    fn call(
        &mut self,
        differentiator: &mut Differentiator<'_>,
        callee: FuncId,
        arrays: &[ArrayId],
        inst: &Inst,
        out: &mut Vec<Inst>,
    ) -> Result<Option<LinearCall>, Loss> {
        let wanted = self.active.of_call(inst, arrays);
        let Some(wanted) = differentiator.wanted(callee, wanted, None) else {
            return Ok(None);
        };
        let function = differentiator.function(callee);
        let modes: Vec<PassingMode> = function.array_params().filter_map(|a| a.mode).collect();
        let custom = function.custom.clone();
        // What goes with each scalar and array of an activity, in order.
        let params = |activity: &Activity| selected(&inst.args, &activity.params);
        let results = |activity: &Activity| {
            let results: Vec<ValueId> = inst.results.iter().collect();
            selected(&results, &activity.results)
        };
        let passed = |activity: &Activity| {
            let all: Vec<_> = arrays.iter().copied().zip(modes.iter().copied()).collect();
            selected(&all, &activity.arrays)
        };
        if let Some(back) = custom.backward {
            let kept = modes
                .iter()
                .zip(arrays)
                .filter(|a| *a.0 != PassingMode::Out);
            let kept: Vec<ArrayId> = kept.map(|(_, &array)| array).collect();
            let custom_back = CustomBack {
                args: inst.args.to_vec(),
                arrays: kept
                    .into_iter()
                    .map(|array| (array, self.elements(array, inst.span, out)))
                    .collect(),
            };
            return Ok(Some(LinearCall {
                forward_sweep: callee,
                zeros: 0,
                ignored: 0,
                zero_arrays: Vec::new(),
                kept: Vec::new(),
                reverse_sweep: back,
                custom: Some(custom_back),
                results: results(&custom.activity),
                params: params(&custom.activity),
                arrays: passed(&custom.activity),
            }));
        }
        if let Some(forward) = custom.forward {
            // Its transpose, with respect to its tangents.
            let activity = &custom.activity;
            let transposed = tangents_of(activity);
            let name = differentiator.function(callee).name.clone();
            differentiator.check_linear(forward, &transposed, &name, self.tape)?;
            let pair = differentiator.sweeps_of(forward, &transposed, self.tape)?;
            let tangent_params = count(&activity.params);
            let tangent_results = count(&activity.results);
            return Ok(Some(LinearCall {
                forward_sweep: pair.forward_sweep,
                zeros: tangent_params,
                ignored: tangent_results,
                zero_arrays: passed(activity)
                    .into_iter()
                    .map(|(array, _)| array)
                    .collect(),
                kept: pair.kept,
                reverse_sweep: pair.reverse_sweep,
                custom: None,
                results: results(activity),
                params: params(activity),
                arrays: passed(activity),
            }));
        }
        let pair = differentiator.sweeps_of(callee, &wanted, self.tape)?;
        Ok(Some(LinearCall {
            forward_sweep: pair.forward_sweep,
            zeros: 0,
            ignored: 0,
            zero_arrays: Vec::new(),
            kept: pair.kept,
            reverse_sweep: pair.reverse_sweep,
            custom: None,
            results: results(&wanted),
            params: params(&wanted),
            arrays: passed(&wanted),
        }))
    }

    /// Loads every element of an array.
    fn elements(&mut self, array: ArrayId, span: Span, out: &mut Vec<Inst>) -> Vec<ValueId> {
        let Array { element, len, .. } = self.function.arrays[array.index()];
        let mut add = |kind: InstKind, args: Args, ty: Scalar| {
            let results = Results::of_new(&mut self.function.values, [ty], span);
            out.push(Inst {
                kind,
                args,
                results,
                span,
            });
            results.first
        };
        (0..len)
            .map(|i| {
                let index = add(InstKind::Const(i), Args::new(), Scalar::I32);
                add(InstKind::Load(array), Args::from_slice(&[index]), element)
            })
            .collect()
    }
}

/// The items that are selected.
fn selected<T: Copy>(items: &[T], active: &[bool]) -> Vec<T> {
    let chosen = items.iter().zip(active).filter(|item| *item.1);
    chosen.map(|(&item, _)| item).collect()
}

/// The activity of a forward derivative in which only the tangents are active.
fn tangents_of(activity: &Activity) -> Activity {
    let tangents = |slots: &[bool]| {
        let mut all = vec![false; slots.len() + count(slots)];
        all[slots.len()..].fill(true);
        all
    };
    Activity {
        params: tangents(&activity.params),
        results: tangents(&activity.results),
        arrays: tangents(&activity.arrays),
        memory: ActiveMemory::default(),
    }
}
