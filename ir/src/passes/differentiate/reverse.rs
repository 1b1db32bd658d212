//! Reverse mode: the two sweeps of a function, and the functions that they are in.
//!
//! A backward derivative that is called by its recipe is one function, the forward sweep and then
//! the reverse sweep. Of a function that is called by another there are two, a [`SweepPair`].

use super::guards::{ReverseFunction, StrongProduct};
use super::linear::{Linear, linear};
use super::placeholder::placeholder;
use super::plan::{Kept, Plan};
use super::shape::{Shape, Target};
use super::sweep::{Returns, Sweep};
use super::tape;
use super::transpose::Transpose;
use super::{
    DerivedLimit, Differentiator, FORWARD_SWEEP, Loss, MAX_DERIVED_INSTRUCTIONS, REVERSE_SWEEP,
    SweepPair, count, results, too_large,
};
use crate::builder::FunctionBuilder;
use crate::copy::Copied;
use crate::instruction::InstField;
use crate::module::*;
use crate::types::Scalar;
use rustc_hash::FxHashMap;

/// A function with all that its two sweeps are written from.
pub(super) struct Analysis {
    pub(super) linear: Linear,
    pub(super) shape: Shape,
    pub(super) plan: Plan,
    /// By loop: the record of an iteration.
    pub(super) records: FxHashMap<RegionId, RecordId>,
    tape: TapeId,
    /// By record that the function keeps or takes itself: that of the adjoints of its floats.
    adjoint_records: FxHashMap<RecordId, RecordId>,
}

/// How what the forward sweep keeps at its end comes to the reverse sweep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handover {
    /// They are one function.
    WithinFunction,
    /// By results; on the tape if those are too many.
    ByResults,
    /// On the tape.
    OnTape,
}

impl Analysis {
    fn new(
        differentiator: &mut Differentiator<'_>,
        primal: &Function,
        activity: &Activity,
        tape: TapeId,
        handover: Handover,
    ) -> Result<Analysis, Loss> {
        let linear = linear(differentiator, primal, activity, tape)?;
        let shape = Shape::new(&linear.function);
        let on_tape = handover == Handover::OnTape;
        let mut plan = Plan::new(differentiator, &linear, &shape, on_tape)?;
        if handover == Handover::ByResults && kept(&plan, &shape).len() > super::MAX_KEPT_RESULTS {
            plan = Plan::new(differentiator, &linear, &shape, true)?;
        }
        if values_at_exits(primal, &plan, &shape) > MAX_DERIVED_INSTRUCTIONS {
            return Err(too_large(primal, DerivedLimit::Instructions));
        }
        let mut records = FxHashMap::default();
        let mut loops = Vec::new();
        primal.for_each_region(|region| loops.push(region));
        for region in loops {
            let continues = shape.ends(Target::Continue(region)).len();
            if continues == 0 || plan.id(Kept::Count(region)).is_none() {
                continue;
            }
            let mut types: Vec<Scalar> =
                plan.record(region).iter().map(|&id| plan.ty(id)).collect();
            if continues > 1 {
                types.push(Scalar::I32);
            }
            if !types.is_empty() {
                records.insert(region, differentiator.record(primal, types)?);
            }
        }
        let mut adjoint_records = FxHashMap::default();
        for inst in primal.regions.iter().flat_map(|region| &region.insts) {
            let mut record = None;
            inst.kind.for_each_field(|field| {
                if let InstField::Record(&of) = field {
                    record = Some(of);
                }
            });
            if let Some(record) = record {
                let floats = differentiator.floats_of(record);
                if !floats.is_empty() {
                    adjoint_records.insert(record, differentiator.record(primal, floats)?);
                }
            }
        }
        Ok(Analysis {
            linear,
            shape,
            plan,
            records,
            tape,
            adjoint_records,
        })
    }

    /// Types of what is kept at the end of the function.
    fn kept(&self) -> Vec<Scalar> {
        kept(&self.plan, &self.shape)
    }

    fn sweep(&self, builder: FunctionBuilder, copied: Copied, returns: Returns) -> Sweep<'_> {
        let mut sweep = Sweep::new(&self.linear, &self.shape, &self.plan, builder, copied);
        sweep.tape = self.tape;
        sweep.records.clone_from(&self.records);
        sweep.returns = returns;
        sweep
    }

    fn transpose(&self, builder: FunctionBuilder) -> Transpose<'_> {
        Transpose::new(
            &self.linear,
            &self.shape,
            &self.plan,
            (&self.records, &self.adjoint_records),
            self.tape,
            builder,
        )
    }
}

/// How many kept values the exits of a function pass on: each is an instruction.
fn values_at_exits(function: &Function, plan: &Plan, shape: &Shape) -> usize {
    let mut count = plan.outer.len() * shape.ends(Target::Return).len();
    function.for_each_region(|region| {
        let handed = plan.handed(region).len() + plan.last(region).len();
        if handed > 0 {
            count += handed * shape.ends_of(region).len();
        }
    });
    count
}

/// Types of what a plan keeps at the end of a function.
fn kept(plan: &Plan, shape: &Shape) -> Vec<Scalar> {
    let mut kept: Vec<Scalar> = plan.outer.iter().map(|&id| plan.ty(id)).collect();
    if shape.ends(Target::Return).len() > 1 {
        kept.push(Scalar::I32);
    }
    kept
}

/// Writes the body of a backward derivative, function `id`, by the canonical signature.
pub(super) fn backward(
    differentiator: &mut Differentiator<'_>,
    id: FuncId,
    primal: &Function,
    recipe: &Recipe,
    tape: TapeId,
) -> Result<Function, Loss> {
    let activity = &recipe.activity;
    let name = differentiator.function(id).name.clone();
    let within = Handover::WithinFunction;
    let analysis = Analysis::new(differentiator, primal, activity, tape, within)?;
    differentiator.note_records(id, &analysis, None);
    let span = primal.span;
    let mut builder = FunctionBuilder::new(name, span);
    let mut copied = Copied::new(&analysis.linear.function);
    for &param in primal.params() {
        copied.param(&mut builder, primal, param);
    }
    let cotangents: Vec<ValueId> = (0..count(&activity.results))
        .map(|_| builder.param(Scalar::F32, span))
        .collect();
    let returned = primal.results.iter().map(|result| result.ty);
    let returned: Vec<Scalar> = returned.filter(|_| recipe.with_results).collect();
    let gradients = std::iter::repeat_n(Scalar::F32, count(&activity.params));
    builder.function_mut().results = results(returned.iter().copied().chain(gradients));

    // Array parameters first: primal ones that have values, then cotangents.
    let params = primal.array_params().count();
    let mut adjoints = vec![None; primal.arrays.len()];
    for (i, array) in primal.arrays.iter().enumerate().take(params) {
        if array.mode != Some(PassingMode::Out) {
            copied.add_array(&mut builder, i, array, Some(PassingMode::In));
        }
    }
    for (i, array) in primal.arrays.iter().enumerate().take(params) {
        let mode = match array.mode {
            Some(PassingMode::In) => PassingMode::Out,
            Some(PassingMode::Out) => PassingMode::In,
            _ => PassingMode::InOut,
        };
        if activity.arrays[i] {
            adjoints[i] = Some(adjoint_array(&mut builder, array, Some(mode)));
        }
    }
    for (i, array) in primal.arrays.iter().enumerate() {
        if i >= params || array.mode == Some(PassingMode::Out) {
            copied.add_array(&mut builder, i, array, None);
        }
        if adjoints[i].is_none() && analysis.linear.active.array(ArrayId(i as u32)) {
            adjoints[i] = Some(adjoint_array(&mut builder, array, None));
        }
    }

    let body = primal.body;
    let own = analysis.shape.sites(body).1;
    let falls = analysis.shape.ends(Target::Return) == [own];
    let mut sweep;
    let primal_results: Vec<ValueId>;
    if falls {
        sweep = analysis.sweep(builder, copied, Returns::Fall);
        sweep.region(body);
        let last = analysis.linear.function.terminator(body);
        let last = last.args.iter().take(returned.len());
        primal_results = last.map(|&value| sweep.copied.value(value)).collect();
    } else {
        let params: Vec<ValueId> = primal.params().iter().map(|&p| copied.value(p)).collect();
        let block = builder.open_region();
        let returns = match recipe.with_results {
            true => Returns::BreakWithResults(block),
            false => Returns::Break(block),
        };
        sweep = analysis.sweep(builder, copied, returns);
        sweep.region(body);
        sweep.builder.close_region();
        sweep.copied.hide(&analysis.linear.function, body);
        for (&param, new) in primal.params().iter().zip(params) {
            sweep.copied.set_value(param, new);
        }
        let kind = InstKind::Block(block);
        let types = returned.iter().copied().chain(analysis.kept());
        let given = sweep.builder.inst(kind, [], types, span);
        primal_results = given.iter().take(returned.len()).collect();
        let kept = given.iter().skip(returned.len());
        sweep.forget();
        for (value, &id) in kept.clone().zip(&analysis.plan.outer) {
            sweep.show(id, value);
        }
        if analysis.shape.ends(Target::Return).len() > 1 {
            sweep.exit = kept.last();
        }
    }

    let visible: Vec<(_, ValueId)> = (analysis.plan.outer.iter())
        .filter_map(|&id| Some((id, sweep.resolve(id)?)))
        .collect();
    let (copied, exit) = (sweep.copied, sweep.exit);
    let mut transpose = analysis.transpose(sweep.builder);
    transpose.copied = Some(copied);
    for (id, value) in visible {
        transpose.show(id, value);
    }
    transpose.adjoint_arrays = adjoints;
    let seeds = cotangents.clone();
    let outcome = SweptBack {
        cotangents,
        exit,
        results: primal_results,
        ends: &[],
    };
    let (made, strong) = finish(transpose, primal, activity, outcome);
    differentiator
        .reverse
        .push(ReverseFunction { id, strong, seeds });
    Ok(made)
}

/// What a reverse sweep begins and ends with.
struct SweptBack<'a> {
    /// Of the active results.
    cotangents: Vec<ValueId>,
    /// The site by which the primal function ended, if there are several.
    exit: Option<ValueId>,
    /// What is returned before the gradients.
    results: Vec<ValueId>,
    /// Arrays of cotangents that the gradient of an array is added to.
    ends: &'a [(ArrayId, Option<ArrayId>)],
}

/// Reverses the body, and returns the gradients. Also gives its strong products.
fn finish(
    mut transpose: Transpose<'_>,
    primal: &Function,
    activity: &Activity,
    outcome: SweptBack<'_>,
) -> (Function, Vec<StrongProduct>) {
    let SweptBack {
        cotangents,
        exit,
        results: mut returned,
        ends,
    } = outcome;
    let span = primal.span;
    let mut cotangents = cotangents.into_iter();
    let seeds = activity.results.iter();
    let seeds = seeds.map(|&active| active.then(|| cotangents.next()).flatten());
    transpose.seed(Target::Return, seeds.collect());
    transpose.body(exit);
    for &(to, from) in ends {
        match from {
            Some(from) => transpose.add_array(to, from, span),
            None => {
                transpose
                    .builder
                    .inst(InstKind::ArrayZero(to), [], [], span);
            }
        }
    }
    let params = primal.params().iter().zip(&activity.params);
    let active: Vec<ValueId> = params.filter(|p| *p.1).map(|(&p, _)| p).collect();
    let gradients = (active.into_iter()).map(|param| transpose.adjoint_or_zero(param, span));
    returned.extend(gradients);
    transpose
        .builder
        .terminate(InstKind::Return, returned, span);
    (transpose.builder.finish(), transpose.strong)
}

fn adjoint_array(
    builder: &mut FunctionBuilder,
    array: &Array,
    mode: Option<PassingMode>,
) -> ArrayId {
    builder.array(Array {
        mode,
        name: None,
        ..*array
    })
}

/// The most functions that wait for the sweeps of those that they call. Deeper chains of calls keep
/// their values on the tape, so that the signatures of their sweeps are known before their bodies.
const MAX_WAITING: usize = 64;

impl Differentiator<'_> {
    /// The two sweeps of a function, for a caller whose own have that tape.
    pub(super) fn sweeps_of(
        &mut self,
        of: FuncId,
        activity: &Activity,
        tape: TapeId,
    ) -> Result<SweepPair, Loss> {
        let key = (of, activity.clone(), tape);
        if let Some(pair) = self.pairs.get(&key) {
            return Ok(pair.clone());
        }
        self.complete(of)?;
        if !self.recursive[of.index()] && self.waiting < MAX_WAITING {
            self.waiting += 1;
            let pair = self.make_sweeps(of, activity, tape, None);
            self.waiting -= 1;
            let pair = pair?;
            self.pairs.insert(key, pair.clone());
            return Ok(pair);
        }
        let (forward, reverse) = sweep_placeholders(self.function(of), activity);
        let pair = SweepPair {
            forward_sweep: self.reserve(of, forward)?,
            reverse_sweep: self.reserve(of, reverse)?,
            kept: Vec::new(),
            tape,
        };
        for id in [pair.forward_sweep, pair.reverse_sweep] {
            self.uses_tape[id.index()] = true;
        }
        self.pairs.insert(key, pair.clone());
        self.deferred.push((of, activity.clone(), pair.clone()));
        Ok(pair)
    }

    /// Writes the body of a function, if that is put off.
    pub(super) fn complete(&mut self, id: FuncId) -> Result<(), Loss> {
        if self.function(id).recipe.is_some() {
            self.make(id)?;
        }
        let waits = |(_, _, pair): &(FuncId, Activity, SweepPair)| {
            pair.forward_sweep == id || pair.reverse_sweep == id
        };
        if let Some(at) = self.deferred.iter().position(waits) {
            let (of, activity, pair) = self.deferred.swap_remove(at);
            self.make_sweeps(of, &activity, pair.tape, Some(&pair))?;
        }
        Ok(())
    }

    /// Writes the two sweeps of a function: with `on_tape`, in place of placeholders, and what is
    /// kept is on the tape.
    pub(super) fn make_sweeps(
        &mut self,
        of: FuncId,
        activity: &Activity,
        tape: TapeId,
        on_tape: Option<&SweepPair>,
    ) -> Result<SweepPair, Loss> {
        let primal = self.function(of).clone();
        let handover = match on_tape {
            Some(_) => Handover::OnTape,
            None => Handover::ByResults,
        };
        let analysis = Analysis::new(self, &primal, activity, tape, handover)?;
        let kept = analysis.kept();
        let is_on_tape = on_tape.is_some() || kept.len() > super::MAX_KEPT_RESULTS;
        let record = match is_on_tape && !kept.is_empty() {
            true => Some(self.record(&primal, kept.clone())?),
            false => None,
        };
        let returned = if is_on_tape { &[][..] } else { &kept };
        let returns = match record {
            Some(record) => Returns::Tape(tape, record),
            None => Returns::Results,
        };
        let forward = forward_sweep(&analysis, &primal, returns, returned);
        let (reverse, strong) = reverse_sweep(&analysis, &primal, activity, record, &kept);
        let (forward_sweep, reverse_sweep) = match on_tape {
            Some(pair) => (pair.forward_sweep, pair.reverse_sweep),
            None => {
                let forward_sweep = self.reserve(of, forward.clone())?;
                (forward_sweep, self.reserve(of, reverse.clone())?)
            }
        };
        self.note_records(forward_sweep, &analysis, record);
        self.reverse.push(ReverseFunction {
            id: reverse_sweep,
            strong,
            seeds: Vec::new(),
        });
        for (id, made) in [(forward_sweep, forward), (reverse_sweep, reverse)] {
            self.uses_tape[id.index()] = self.has_tape(&made);
            self.put(id, made)?;
        }
        Ok(SweepPair {
            forward_sweep,
            reverse_sweep,
            kept: returned.to_vec(),
            tape,
        })
    }
}

/// The two sweeps without their bodies, where what is kept is on the tape.
fn sweep_placeholders(primal: &Function, activity: &Activity) -> (Function, Function) {
    let params = primal.params().iter().map(|&p| primal.value(p).ty);
    let forward = placeholder(
        primal,
        sweep_name(primal, true),
        params,
        primal.results.iter().map(|r| r.ty),
        primal.array_params().copied(),
    );
    let floats = |active: &[bool]| std::iter::repeat_n(Scalar::F32, count(active));
    let arrays = primal.array_params().zip(&activity.arrays);
    let reverse = placeholder(
        primal,
        sweep_name(primal, false),
        floats(&activity.results),
        floats(&activity.params),
        arrays.filter(|a| *a.1).map(|(&array, _)| Array {
            mode: Some(PassingMode::InOut),
            ..array
        }),
    );
    (forward, reverse)
}

fn sweep_name(primal: &Function, forward: bool) -> String {
    let sweep = if forward {
        FORWARD_SWEEP
    } else {
        REVERSE_SWEEP
    };
    format!("{}{sweep}", primal.name)
}

/// The forward sweep as a function.
fn forward_sweep(
    analysis: &Analysis,
    primal: &Function,
    returns: Returns,
    returned: &[Scalar],
) -> Function {
    let mut builder = FunctionBuilder::new(sweep_name(primal, true), primal.span);
    let mut copied = Copied::new(&analysis.linear.function);
    for &param in primal.params() {
        copied.param(&mut builder, primal, param);
    }
    for (i, array) in primal.arrays.iter().enumerate() {
        copied.add_array(&mut builder, i, array, array.mode);
    }
    let types = primal.results.iter().map(|r| r.ty);
    builder.function_mut().results = results(types.chain(returned.iter().copied()));
    let mut sweep = analysis.sweep(builder, copied, returns);
    sweep.region(primal.body);
    sweep.builder.finish()
}

/// The reverse sweep as a function.
fn reverse_sweep(
    analysis: &Analysis,
    primal: &Function,
    activity: &Activity,
    record: Option<RecordId>,
    kept: &[Scalar],
) -> (Function, Vec<StrongProduct>) {
    let span = primal.span;
    let mut builder = FunctionBuilder::new(sweep_name(primal, false), span);
    let on_entry: Vec<ValueId> = match record {
        Some(_) => Vec::new(),
        None => kept.iter().map(|&ty| builder.param(ty, span)).collect(),
    };
    let cotangents: Vec<ValueId> = (0..count(&activity.results))
        .map(|_| builder.param(Scalar::F32, span))
        .collect();
    let params = primal.array_params().count();
    let mut adjoints = vec![None; primal.arrays.len()];
    for (i, array) in primal.arrays.iter().enumerate().take(params) {
        if activity.arrays[i] {
            adjoints[i] = Some(adjoint_array(&mut builder, array, Some(PassingMode::InOut)));
        }
    }
    // An `In` parameter is a copy, whose gradient is added to that of the caller's array. What an
    // `Out` one had before is overwritten.
    let mut ends = Vec::new();
    for (i, array) in primal.arrays.iter().enumerate() {
        let id = ArrayId(i as u32);
        match (adjoints[i], array.mode) {
            (Some(of_caller), Some(PassingMode::In)) => {
                let own = adjoint_array(&mut builder, array, None);
                ends.push((of_caller, Some(own)));
                adjoints[i] = Some(own);
            }
            (Some(of_caller), Some(PassingMode::Out)) => ends.push((of_caller, None)),
            (None, _) if analysis.linear.active.array(id) => {
                adjoints[i] = Some(adjoint_array(&mut builder, array, None));
            }
            _ => {}
        }
    }
    builder.function_mut().results =
        results(std::iter::repeat_n(Scalar::F32, count(&activity.params)));
    let taken: Vec<ValueId> = match record {
        Some(record) => {
            let types = kept.iter().copied();
            let taken = tape::take(&mut builder, analysis.tape, record, types, span);
            taken.iter().collect()
        }
        None => on_entry,
    };
    let mut transpose = analysis.transpose(builder);
    for (&value, &id) in taken.iter().zip(&analysis.plan.outer) {
        transpose.show(id, value);
    }
    transpose.adjoint_arrays = adjoints;
    let several = analysis.shape.ends(Target::Return).len() > 1;
    let exit = several.then(|| taken.last().copied()).flatten();
    let outcome = SweptBack {
        cotangents,
        exit,
        results: Vec::new(),
        ends: &ends,
    };
    finish(transpose, primal, activity, outcome)
}
