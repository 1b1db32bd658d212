//! Gradients of whole shaders, whose functions have no marks: against tangents, differences and
//! each other's engines.

use super::{
    DerivedCounts, HostNumber, Verdict, given, held, is_too_large, product_noise, refused,
    stops_gradients, wide,
};
use crate::buffers;
use crate::bundle;
use crate::choices::next;
use crate::generate::{GeneratedProgram, GlobalBits, Point};
use crate::oracle::Disagreement;
use crate::oracle::batch::{TestBatch, TierChoice, batch_engines, observe_together_with_sums};
use crate::oracle::chain::{compiler, observe_with_sums};
use crate::oracle::modes::MODES;
use crate::oracle::observation::ComparisonExtent;
use crate::oracle::reference::limits;
use adumbra::evaluator::Engine;
use adumbra::gradient::{Gradient, GradientRequest, ParameterKind};
use adumbra::{Diagnostics, Program};
use adumbra_ir::buffer::BufferNumbers;
use adumbra_ir::module::BufferId;
use adumbra_ir::passes::tangent_name;
use adumbra_ir::{Module, Type};
use std::sync::Arc;

/// Points that a program is looked at in f64.
const POINTS: u64 = 2;

/// The most points that engines are compared at.
const MAX_POINTS: u64 = 20;

/// The most numbers of a buffer that differences are taken by, where its gradient is not zero and
/// where it is.
const MAX_NUMBERS: usize = 4;

/// A difference between modes that terms which cancel within a shader leave.
const ABSOLUTE: f64 = 1e-12;

/// How far two modes may be apart, over the sum of all terms. Constants that are folded are rounded
/// to f32, and one mode folds what the other one calls or runs a loop for.
const FOLDED: f64 = 1e-6;

/// Why a generated shader may have no gradient: it becomes too large, or nothing of it is
/// differentiable.
pub(in crate::oracle) fn may_have_none(no: &Diagnostics) -> bool {
    let mut errors = no.diagnostics.iter().filter(|found| found.is_error());
    is_too_large(no) || errors.all(|found| found.code.to_string() == "E0570")
}

/// A module, with the places of what it differentiates by or of.
struct Derivative<'m> {
    module: &'m Module,
    /// The number of scalars of the outputs before the derivatives.
    outputs: usize,
    /// The number of the seeds, which are globals.
    seeds: usize,
}

impl<'m> Derivative<'m> {
    fn new(plain: &Program, gradient: &'m Gradient) -> Derivative<'m> {
        let module = gradient.program().module();
        let count = |types: &mut dyn Iterator<Item = &Type>| types.map(Type::scalar_count).sum();
        let globals = plain.globals().members();
        let globals: usize = count(&mut globals.iter().map(|member| member.ty()));
        let all: usize = count(&mut module.globals.iter().map(|global| &global.ty));
        Derivative {
            module,
            outputs: count(&mut plain.outputs().iter().map(|output| &output.ty)),
            seeds: all - globals,
        }
    }

    /// A point of the plain program with these seeds.
    fn at(&self, point: &Point, seeds: &[f32]) -> Point {
        let mut point = point.clone();
        let mut seeds = seeds.iter();
        for global in &self.module.globals[point.len()..] {
            let count = global.ty.scalar_count();
            let value = seeds.by_ref().take(count);
            point.push(GlobalBits {
                value: value.map(|seed| seed.to_bits()).collect(),
                ddx: vec![0; count],
                ddy: vec![0; count],
            });
        }
        point
    }
}

/// The numbers of the buffers that sums are by, in the order of the sums: which one it is of which
/// buffer, and its tangent.
fn summed(module: &Module) -> Vec<(BufferId, usize, f32)> {
    let of = module.buffers.iter().filter_map(|buffer| buffer.sum_of);
    let numbers = of.flat_map(|id| {
        let buffer = &module.buffers[id.index()];
        let tangents = buffers::numbers(&tangent_name(0, &buffer.name), &buffer.element);
        let BufferNumbers::Floats(tangents) = tangents else {
            unreachable!("a buffer with a gradient is of floats");
        };
        let tangents: Vec<f32> = tangents.to_vec();
        (0..)
            .zip(tangents)
            .map(move |(at, tangent)| (id, at, tangent))
    });
    numbers.collect()
}

/// Some numbers of a buffer by the gradient at each: those where it is not zero, and those where it
/// is, of which the first and last are read most.
fn chosen(gradient: &[f64], lot: &mut u64) -> Vec<usize> {
    let (mut zero, mut nonzero): (Vec<usize>, Vec<usize>) =
        (0..gradient.len()).partition(|&at| gradient[at] == 0.0);
    while nonzero.len() > MAX_NUMBERS {
        nonzero.swap_remove(next(lot) as usize % nonzero.len());
    }
    let last = zero.pop();
    zero.truncate(MAX_NUMBERS - 1);
    nonzero.into_iter().chain(zero).chain(last).collect()
}

/// Numbers between −1 and 1.
pub(in crate::oracle) fn drawn(lot: &mut u64, count: usize) -> Vec<f32> {
    let mut one = || (next(lot) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..count).map(|_| one()).collect()
}

/// The places of the floats among the scalars of some types.
fn floats<'t>(types: impl Iterator<Item = &'t Type>) -> Vec<usize> {
    let (mut floats, mut before) = (Vec::new(), 0);
    for ty in types {
        floats.extend(ty.float_scalars().into_iter().map(|at| before + at));
        before += ty.scalar_count();
    }
    floats
}

/// Checks the gradient of a shader by the globals and the buffers that it reads.
///
/// # Errors
/// The disagreement.
pub fn check_shader(
    program: &GeneratedProgram,
    at: TierChoice,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    counts.programs += 1;
    let sources = bundle::sources(&program.source);
    let plain = sources.and_then(|sources| compiler(&MODES[0]).compile(&sources));
    let plain = plain.map_err(|no| refused(program, &no))?;
    let request = GradientRequest::new().by_globals().by_buffers();
    let both = plain.gradient(&request).and_then(|backward| {
        let forward = plain.gradient(&request.forward())?;
        Ok((backward, forward))
    });
    let (backward, forward) = match both {
        Ok(both) => both,
        Err(no) if may_have_none(&no) => {
            counts.refused += 1;
            return Ok(());
        }
        Err(no) => return Err(refused(program, &no)),
    };
    let mut lot = program.seed;
    for number in 0..POINTS {
        check_point(
            program,
            &plain,
            [&backward, &forward],
            number,
            &mut lot,
            counts,
        )?;
    }
    check_engines(program, &plain, &backward, at, &mut lot, counts)
}

/// Both modes against each other, and the gradient against differences, at one point.
fn check_point(
    program: &GeneratedProgram,
    plain: &Program,
    [backward, forward]: [&Gradient; 2],
    number: u64,
    lot: &mut u64,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    let report = |what: String| Disagreement::new(program, Some(number), what);
    counts.points += 1;
    let (back, ahead) = (
        Derivative::new(plain, backward),
        Derivative::new(plain, forward),
    );
    let (weights, mut tangents) = (drawn(lot, back.seeds), drawn(lot, ahead.seeds));
    let point = program.point(number);
    let (at, beside) = (back.at(&point, &weights), ahead.at(&point, &tangents));
    let summed = summed(back.module);
    tangents.extend(summed.iter().map(|(.., tangent)| tangent));
    let here = given(back.module, &wide(back.module, &at));
    let there = given(ahead.module, &wide(ahead.module, &beside));
    if !here.is_tame || !there.is_tame {
        counts.skipped += 1;
        return Ok(());
    }
    let values = floats(plain.outputs().iter().map(|output| &output.ty));
    let sum = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
    };
    let products = |derivatives: &[f64], by: &[f32]| {
        let terms = derivatives.iter().zip(by);
        sum(&mut terms.map(|(derivative, by)| derivative * f64::from(*by)))
    };
    let pulled = |values: &[f64]| products(&values[back.outputs..], &tangents);
    let pushed = |values: &[f64]| products(&values[ahead.outputs..], &weights);
    counts.products += 1;
    let ((one, size), (other, more)) = (pulled(&here.values), pushed(&there.values));
    if (one - other).abs() > FOLDED * (size + more) + ABSOLUTE {
        let noise = product_noise(back.module, &at, &here, |values| pulled(values).0)
            + product_noise(ahead.module, &beside, &there, |values| pushed(values).0);
        if (one - other).abs() > 16.0 * noise {
            return Err(report(format!(
                "products: {other:e} forward, {one:e} backward"
            )));
        }
    }

    let weighted = |there: &[f64]| {
        let terms = values.iter().zip(&weights);
        terms
            .map(|(&at, weight)| there[at] * f64::from(*weight))
            .sum()
    };
    // By parameter: where its derivatives are among the values, and the numbers that they are by.
    let globals = plain.globals().members();
    let mut derivative = back.outputs;
    let first_sum = here.values.len() - summed.len();
    for parameter in backward.parameters() {
        let name = &parameter.value.name;
        let mut by = Vec::new();
        if parameter.kind == ParameterKind::Buffer {
            let is_of = |id: BufferId| back.module.buffers[id.index()].name == *name;
            let of: Vec<usize> = (0..summed.len()).filter(|&i| is_of(summed[i].0)).collect();
            let gradient: Vec<f64> = of.iter().map(|i| here.values[first_sum + i]).collect();
            by.extend(chosen(&gradient, lot).into_iter().map(|at| {
                let (id, number, _) = summed[of[at]];
                (first_sum + of[at], HostNumber::Buffer(id, number))
            }));
        } else {
            let member = globals.iter().position(|member| member.name() == name);
            let member = member.expect("it is by globals");
            let before = globals[..member].iter().map(|m| m.ty().scalar_count());
            let first: usize = before.sum();
            for scalar in first..first + parameter.value.ty.scalar_count() {
                by.push((derivative, HostNumber::Global(scalar)));
                derivative += 1;
            }
        }
        for (place, number) in by {
            let found = here.values[place];
            match held(back.module, &at, &here, place, number, weighted) {
                Verdict::Agrees => {
                    let is_by_buffer = parameter.kind == ParameterKind::Buffer;
                    counts.differences += 1;
                    counts.nonzero += usize::from(found != 0.0);
                    counts.by_buffers += usize::from(found != 0.0 && is_by_buffer);
                }
                Verdict::Unknown => {}
                // What is lost is said, or is meant.
                Verdict::Differs(_)
                    if !backward.ends().is_empty() || stops_gradients(&program.source) =>
                {
                    counts.explained += 1;
                }
                Verdict::Differs(slope) => {
                    return Err(report(format!(
                        "slopes: the gradient by {name}, {number:?}, is {found:e}, its slope {:e} ± {:e}",
                        slope.value, slope.error
                    )));
                }
            }
        }
    }
    Ok(())
}

/// The gradient's program on all engines, to the bit.
fn check_engines(
    program: &GeneratedProgram,
    plain: &Program,
    gradient: &Gradient,
    at: TierChoice,
    lot: &mut u64,
    counts: &mut DerivedCounts,
) -> Result<(), Disagreement> {
    let report = |point: Option<usize>, what: String| {
        Disagreement::new(program, point.map(|point| point as u64), what)
    };
    let derivative = Derivative::new(plain, gradient);
    let mut batch = TestBatch::random(program, lot, |number| 1 + number % MAX_POINTS);
    for point in &mut batch.points {
        *point = derivative.at(point, &drawn(lot, derivative.seeds));
    }
    let compiled: &Arc<Program> = gradient.program();
    let points = &batch.points;
    let run = |engine| observe_with_sums(limits(), compiled, engine, points);
    let (reference, sums) = run(Engine::Reference).map_err(|what| report(None, what))?;
    let singles = Engine::available().filter(|&engine| engine != Engine::Reference);
    let mut all = Vec::new();
    for engine in singles {
        let found = run(engine).map_err(|what| report(None, what))?;
        all.push((format!("{engine:?}"), found));
    }
    for engine in batch_engines(at, lot).map_err(|no| report(None, no))? {
        let mut setup = batch.setup(engine);
        setup.limits = limits();
        let waits = next(lot) & next(lot);
        let found = observe_together_with_sums(compiled, &setup, points, waits);
        all.push((
            format!("batch of {}, {engine}", batch.width),
            found.map_err(|what| report(None, what))?,
        ));
    }
    for (engine, (found, found_sums)) in all {
        counts.bits += sums.len();
        if found_sums != sums {
            let at = (0..sums.len()).find(|&at| found_sums.get(at) != sums.get(at));
            let what = format!(
                "sums: reference and {engine}: number {at:?} of {}",
                sums.len()
            );
            return Err(report(None, what));
        }
        for (i, (reference, found)) in reference.iter().zip(&found).enumerate() {
            counts.bits += 1;
            if let Some(difference) = reference.difference(found, ComparisonExtent::All) {
                let what = format!("engines: reference and {engine}: {difference}");
                return Err(report(Some(i), what));
            }
        }
    }
    Ok(())
}
