//! Lane assignment: writes lanes into functions, and makes variants functions of their own.
//!
//! Assumes a cleaned-up module without lanes. Guarantees: every value, array and result has the
//! lanes of its node; each call names the variant made for it; a `Shadow` of a value without that
//! lane is the constant 0, and so is the operand of an `Attach` for a missing lane; a `WithSlopes`
//! of which a result has lanes is expanded; what slopes along something without the demanded lanes,
//! and an `Attach` without lanes, is replaced by the value that it has. Demand found a reader for
//! each lane. If source and target of a value differ in lanes (arguments and parameters, yields and
//! results), a missing lane is zero.

use super::flow_signature::FlowSlot;
use super::pass_times::{PassClock, PassPhase};
use super::replacement::replace_all;
use super::shadow_flow::{FlowOptions, array_node, inner_out};
use super::specialise::{self, MAX_VARIANTS, Plan};
use super::summary::ShadowSummaries;
use super::{Derivatives, PassOptions, differentiate, quad};
use crate::calls::CallGraph;
use crate::module::*;
use crate::types::{Direction, Lanes, Scalar};
use adumbra_ops::Op;
use rustc_hash::FxHashSet;

/// Finds and assigns the lanes of every value; with `specialise`, functions get variants. Returns
/// how many `Shadow`s and operands became 0, values have no slope, and instructions were expanded.
pub(super) fn lanes(
    module: &mut Module,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> usize {
    if options.derivatives != Derivatives::Dual || !needs_shadows(module, options) {
        let zeroed = clear(module);
        if module.quad.is_some() && options.output_shadows {
            quad::mark_outputs(module);
        }
        return zeroed;
    }
    let calls = CallGraph::new(module);
    let mut found = plan(module, &calls, options, specialise, clock).1;
    let expanded = expand_slopes(module, &found);
    if expanded > 0 {
        found = plan(module, &calls, options, specialise, clock).1;
    }
    assign(module, found, specialise) + expanded
}

/// Expands the instructions with slopes of which a result has a lane in any variant, since their
/// results have none. Returns how many.
fn expand_slopes(module: &mut Module, plan: &Plan) -> usize {
    let functions = module.functions.iter_mut().zip(&plan.variants);
    let expanded = functions.map(|(function, variants)| {
        let has_lane = |value: ValueId| {
            let lanes = variants.iter().map(|v| v.lanes[value.index()]);
            lanes.fold(Lanes::NONE, |all, lanes| all | lanes) != Lanes::NONE
        };
        differentiate::expand_slopes(function, false, has_lane)
    });
    expanded.sum()
}

/// The variants for the options.
pub(super) fn plan<'m>(
    module: &'m Module,
    calls: &CallGraph,
    options: &PassOptions,
    specialise: bool,
    clock: &mut PassClock,
) -> (ShadowSummaries<'m>, Plan) {
    let merge = options.merge_demand;
    let flows = FlowOptions {
        sources: options.derivatives == Derivatives::Dual,
        merge_arms: merge,
        dropped: options.dropped,
    };
    let summaries = ShadowSummaries::new(module, calls, flows);
    clock.lap(PassPhase::Lineage);
    let max_variants = if specialise && !merge {
        MAX_VARIANTS
    } else {
        0
    };
    let entry = if options.output_shadows {
        Lanes::XY
    } else {
        Lanes::NONE
    };
    let plan = specialise::specialise(&summaries, calls, max_variants, entry, clock);
    (summaries, plan)
}

/// Whether any shadow is read, by the host or by the module.
pub(super) fn needs_shadows(module: &Module, options: &PassOptions) -> bool {
    let mut results = module.entry().results.iter();
    options.output_shadows && results.any(|r| r.ty == Scalar::F32) || reads_shadows(module)
}

/// Whether the module reads any shadow.
pub(super) fn reads_shadows(module: &Module) -> bool {
    let regions = module.functions.iter().flat_map(|f| &f.regions);
    regions.flat_map(|r| &r.insts).any(|inst| {
        matches!(
            inst.kind,
            InstKind::Shadow(_) | InstKind::Sample(_, MipSelection::Shadows, _)
        )
    })
}

/// Assigns the lanes of a plan. `number` says whether functions get the numbers of their variants.
/// Returns how many `Shadow`s and operands became 0.
fn assign(module: &mut Module, plan: Plan, number: bool) -> usize {
    // The first variant of each function keeps the function's order among those before it.
    let mut first = Vec::with_capacity(plan.variants.len());
    let mut count = 0;
    for variants in &plan.variants {
        first.push(count);
        count += variants.len() as u32;
    }
    let sources = std::mem::take(&mut module.functions);
    module.functions.reserve(count as usize);
    module.entry = FuncId(first[module.entry.index()]);
    records(module, Lanes::XY);
    let mut zeroed = 0;
    for (source, variants) in sources.into_iter().zip(plan.variants) {
        let last = variants.len().saturating_sub(1);
        let mut source = Some(source);
        for (at, variant) in variants.into_iter().enumerate() {
            let mut function = if at == last {
                source.take().expect("taken by the last alone")
            } else {
                source.clone().expect("taken by the last alone")
            };
            if number {
                function.variant = at as u32;
            }
            let mut calls = variant.calls.into_iter();
            zeroed += write(&mut function, &variant.lanes, |callee| {
                FuncId(first[callee.index()] + calls.next().expect("one for each call"))
            });
            module.functions.push(function);
        }
    }
    zeroed
}

/// Removes all lanes from a module, which are to be found anew, and leaves its `Shadow`s.
pub(super) fn forget(module: &mut Module) {
    records(module, Lanes::NONE);
    for function in &mut module.functions {
        let results = function.results.iter_mut().map(|r| &mut r.lanes);
        let arrays = function.arrays.iter_mut().map(|a| &mut a.lanes);
        let values = function.values.iter_mut().map(|v| &mut v.lanes);
        results
            .chain(arrays)
            .chain(values)
            .for_each(|lanes| *lanes = Lanes::NONE);
    }
}

/// Removes all lanes from a module whose shadows are never read, or whose globals have none.
/// Returns how many `Shadow`s and operands became 0.
fn clear(module: &mut Module) -> usize {
    records(module, Lanes::NONE);
    let functions = module.functions.iter_mut();
    functions.map(|f| write(f, &[], |callee| callee)).sum()
}

/// Gives the floats of all records these lanes. They are not found for each record: a variant of
/// one function may take what any variant of another one kept.
fn records(module: &mut Module, lanes: Lanes) {
    let fields = module
        .records
        .iter_mut()
        .flat_map(|record| &mut record.fields);
    for field in fields.filter(|field| field.ty == Scalar::F32) {
        field.lanes = lanes;
    }
}

/// Assigns the lanes of its nodes to one function, none past the end of `lanes`.
fn write(
    function: &mut Function,
    lanes: &[Lanes],
    mut callee: impl FnMut(FuncId) -> FuncId,
) -> usize {
    let of = |node: u32| lanes.get(node as usize).copied().unwrap_or_default();
    for i in 0..function.results.len() {
        function.results[i].lanes = of(inner_out(function, FlowSlot::Scalar(i as u32)));
    }
    for i in 0..function.arrays.len() {
        function.arrays[i].lanes = of(array_node(function, ArrayId(i as u32)));
    }
    for (node, value) in (0..).zip(&mut function.values) {
        value.lanes = of(node);
    }

    let mut zeroed = 0;
    let mut flat = Vec::new();
    // Operands that become 0, and values that are.
    let mut unread = Vec::new();
    let mut zeros = FxHashSet::default();
    let mut order = Vec::with_capacity(function.regions.len());
    function.for_each_region(|region| order.push(region));
    for region in order {
        for (at, inst) in function.regions[region.index()]
            .insts
            .iter_mut()
            .enumerate()
        {
            match &mut inst.kind {
                InstKind::Call(to, _) => *to = callee(*to),
                InstKind::Shadow(direction) if !of(inst.args[0].0).has(*direction) => {
                    inst.kind = InstKind::Const(0.0_f32.to_bits());
                    inst.args.clear();
                    zeroed += 1;
                }
                InstKind::Op(Op::Sloped) => {
                    let (result, along) = (inst.results.first, inst.args[2]);
                    if (of(result.0) & of(along.0)).is_none() {
                        flat.push((result, inst.args[0]));
                    }
                }
                InstKind::Const(0) => drop(zeros.insert(inst.results.first)),
                InstKind::Attach => {
                    let lanes = of(inst.results.first.0);
                    if lanes.is_none() {
                        flat.push((inst.results.first, inst.args[0]));
                        continue;
                    }
                    for (direction, operand) in Direction::BOTH.into_iter().zip(1..) {
                        if !lanes.has(direction) && !zeros.contains(&inst.args[operand]) {
                            unread.push((region, at, operand));
                        }
                    }
                }
                _ => {}
            }
        }
    }
    zeroed += unread.len();
    // From the last to the first, so that positions stay.
    for operand in unread.into_iter().rev() {
        make_zero(function, operand);
    }
    if !flat.is_empty() {
        zeroed += flat.len();
        replace_all(function, flat);
    }
    zeroed
}

/// Makes an operand of an instruction the constant 0.
fn make_zero(function: &mut Function, (region, at, operand): (RegionId, usize, usize)) {
    let insts = &mut function.regions[region.index()].insts;
    let span = insts[at].span;
    let first = ValueId(function.values.len() as u32);
    function.values.push(Value {
        ty: Scalar::F32,
        lanes: Lanes::NONE,
        span,
        name: None,
    });
    insts[at].args[operand] = first;
    let zero = Inst {
        kind: InstKind::Const(0.0_f32.to_bits()),
        args: Args::new(),
        results: Results { first, count: 1 },
        span,
    };
    insts.insert(at, zero);
}
