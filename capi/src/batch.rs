//! The C functions that evaluate batches of points.

use crate::batch_globals::AdumbraBatchGlobals;
use crate::batch_options::{AdumbraBatchOptions, AdumbraTier, batch_setup};
use crate::closure::{self, AdumbraClosure, AdumbraLeaf};
use crate::diagnostics::{AdumbraDiagnostics, fault_diagnostics, store_diagnostics};
use crate::evaluator::store_outcome;
use crate::guard::{Result, guard, lock_or_busy};
use crate::host::{
    AdumbraHost, AdumbraOutcome, AdumbraSampleRequest, Callbacks, RequestColumns, texel,
};
use crate::instance::AdumbraInstance;
use crate::options::part_from_number;
use crate::parked::{AdumbraParkedPoint, store_parked};
use crate::pointer::{
    self, borrow, borrow_optional_out, borrow_out, fill_buffer, free_locked_handle, out_handle,
    out_slice, store_handle,
};
use crate::sized_struct::{self, read_struct_or_default};
use crate::status::AdumbraStatus;
use adumbra::{
    Program,
    batch::{BatchEvaluator, SimdLevel, Tier},
};
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex};

/// Evaluates an instance at hundreds of points at once, on one thread. Every point has, to the bit,
/// the results that it has alone. Results can be read until the next evaluation.
#[derive(Debug)]
pub struct AdumbraBatchEvaluator {
    inside: Mutex<Inside>,
}

#[derive(Debug)]
struct Inside {
    evaluator: BatchEvaluator,
    program: Arc<Program>,
    columns: RequestColumns,
    /// The number of the first point of the last evaluation in its batch.
    first: usize,
    /// Which of its points were evaluated for their neighbours alone.
    helpers: Vec<bool>,
    /// Memory for the weights of closures.
    weights: Vec<[f32; 3]>,
}

impl Inside {
    /// # Errors
    /// If the last evaluation had no such point.
    fn check(&self, point: usize) -> Result {
        match point < self.evaluator.outcomes().len() {
            true => Ok(()),
            false => Err(AdumbraStatus::Index),
        }
    }

    /// The request of a suspended point.
    fn request(&self, point: usize) -> Result<AdumbraSampleRequest> {
        self.check(point)?;
        let mut waiting = self.evaluator.suspended();
        let asked = waiting.find(|(waits, _)| *waits == point);
        let (_, request) = asked.ok_or(AdumbraStatus::NotSuspended)?;
        let is_helper = self.helpers.get(point).is_some_and(|&helper| helper);
        Ok(AdumbraSampleRequest::new(
            request,
            self.first + point,
            is_helper,
        ))
    }
}

/// Makes a batch evaluator; `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_new(
    instance: *const AdumbraInstance,
    options: *const AdumbraBatchOptions,
    evaluator: *mut *mut AdumbraBatchEvaluator,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, instance, setup) = unsafe {
            let (to, options) = (out_handle(evaluator)?, read_struct_or_default(options)?);
            (to, borrow(instance)?, batch_setup(&options)?)
        };
        let instance = instance.get()?;
        let layout = instance.program().globals();
        if setup
            .uniform
            .iter()
            .any(|name| layout.member(name).is_none())
        {
            return Err(AdumbraStatus::UnknownName);
        }
        let evaluator = BatchEvaluator::with(&instance, &setup);
        let inside = Inside {
            evaluator: evaluator.map_err(|_| AdumbraStatus::Unavailable)?,
            program: instance.program().clone(),
            columns: RequestColumns::default(),
            first: 0,
            helpers: Vec::new(),
            weights: Vec::new(),
        };
        let inside = Mutex::new(inside);
        store_handle(to, AdumbraBatchEvaluator { inside });
        Ok(())
    })
}

/// The most points that one evaluation may have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_width(
    evaluator: *const AdumbraBatchEvaluator,
    width: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, width) = unsafe { (borrow(evaluator)?, borrow_out(width)?) };
        width.write(lock_or_busy(&evaluator.inside)?.evaluator.width());
        Ok(())
    })
}

/// The tier of the last evaluation, or of the first one before it: `ADUMBRA_TIER_INTERPRETER` or
/// `ADUMBRA_TIER_NATIVE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_tier(
    evaluator: *const AdumbraBatchEvaluator,
    tier: *mut u32,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, tier) = unsafe { (borrow(evaluator)?, borrow_out(tier)?) };
        let used = match lock_or_busy(&evaluator.inside)?.evaluator.tier() {
            Tier::Native => AdumbraTier::Native,
            _ => AdumbraTier::Interpreter,
        };
        tier.write(used as u32);
        Ok(())
    })
}

/// The name of its SIMD level, which lives for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_simd(
    evaluator: *const AdumbraBatchEvaluator,
    name: *mut *const c_char,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, name) = unsafe { (borrow(evaluator)?, borrow_out(name)?) };
        let text: &CStr = match lock_or_busy(&evaluator.inside)?.evaluator.simd() {
            SimdLevel::Baseline => c"baseline",
            SimdLevel::Avx2 => c"avx2",
            SimdLevel::Avx512 => c"avx512",
        };
        name.write(text.as_ptr());
        Ok(())
    })
}

/// Evaluates points `first` to `first + points` of a batch, no more than the width; with 0 points,
/// `first` may be any. Points that are suspended here are given up. `host` may be NULL.
///
/// If points are evaluated in quads, each four points are a quad: upper left, upper right, lower
/// left, lower right. Then `helpers` holds a number other than 0 for each of the `points` that is
/// evaluated for its neighbours alone. It may be NULL, and must be for other programs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_evaluate(
    evaluator: *mut AdumbraBatchEvaluator,
    globals: *const AdumbraBatchGlobals,
    first: usize,
    points: usize,
    helpers: *const u8,
    host: *const AdumbraHost,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, globals) = unsafe { (borrow(evaluator)?, borrow(globals)?) };
        let mut inside = lock_or_busy(&evaluator.inside)?;
        let inside = &mut *inside;
        let end = match points {
            0 => 0,
            _ => first.checked_add(points).ok_or(AdumbraStatus::Size)?,
        };
        if points > inside.evaluator.width() {
            return Err(AdumbraStatus::Size);
        }
        let in_quads = inside.program.quad().is_some();
        if (in_quads && !points.is_multiple_of(4)) || (!in_quads && !helpers.is_null()) {
            return Err(AdumbraStatus::Quads);
        }
        // SAFETY: by the contract of the crate `helpers` holds `points` bytes and `host` is NULL or
        // a struct of its size.
        let (helpers, mut host) = unsafe {
            let given = (!helpers.is_null()).then(|| pointer::read_slice(helpers, points));
            let host = Callbacks::new(host, &inside.program, &mut inside.columns)?;
            (given.transpose()?, host)
        };
        let (are_helpers, first_of_last) = (&mut inside.helpers, &mut inside.first);
        let machine = &mut inside.evaluator;
        let evaluate = |globals: &adumbra::batch::BatchGlobals<'_>| {
            are_helpers.clear();
            *first_of_last = first;
            match helpers {
                None => machine.evaluate(globals, first, points, &mut host),
                Some(helpers) => {
                    are_helpers.extend(helpers.iter().map(|&helper| helper != 0));
                    machine.evaluate_quads(globals, first, are_helpers, &mut host);
                }
            }
        };
        // SAFETY: by the contract of the crate all planes may be read during this call.
        unsafe { globals.lend(inside.program.globals(), end, evaluate) }
    })
}

/// How far each point of the last evaluation came. `needed`, unless it is NULL, is how many points
/// there were, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_outcomes(
    evaluator: *const AdumbraBatchEvaluator,
    outcomes: *mut AdumbraOutcome,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let inside = lock_or_busy(&evaluator.inside)?;
        let all = inside.evaluator.outcomes().iter();
        let all: Vec<u32> = all.map(|&o| AdumbraOutcome::from(o) as u32).collect();
        // SAFETY: `outcomes` and `needed` by the contract of the crate; an outcome is a `u32`.
        unsafe { fill_buffer(&all, outcomes.cast(), capacity, needed) }
    })
}

/// Copies value, ddx or ddy (`part` is an `AdumbraPart`) of one scalar of the outputs for all
/// points of the last evaluation. `scalar` is numbered as `adumbra_program_find` numbers the
/// scalars of outputs. The points go to every `stride`th number of a plane of `capacity` numbers of
/// four bytes. The numbers between them stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_copy(
    evaluator: *const AdumbraBatchEvaluator,
    part: u32,
    scalar: usize,
    plane: *mut c_void,
    capacity: usize,
    stride: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, plane) = unsafe {
            (
                borrow(evaluator)?,
                out_slice::<u32>(plane.cast(), capacity)?,
            )
        };
        let part = self::part_from_number(part)?;
        let inside = lock_or_busy(&evaluator.inside)?;
        let mut left = scalar;
        let mut outputs = inside.program.outputs().iter();
        let output = outputs.find(|output| {
            let is_there = left < output.ty.scalar_count();
            left -= if is_there {
                0
            } else {
                output.ty.scalar_count()
            };
            is_there
        });
        let output = output.ok_or(AdumbraStatus::Index)?;
        if let Some(last) = inside.evaluator.outcomes().len().checked_sub(1) {
            let at = last.checked_mul(stride);
            if at.is_none_or(|at| at >= capacity) || (stride == 0 && last > 0) {
                return Err(AdumbraStatus::Size);
            }
        }
        let copied = inside
            .evaluator
            .copy_uninit(&output.name, part, left, plane, stride);
        copied.map_err(|_| AdumbraStatus::Index)
    })
}

/// The points of the last evaluation that have faults. `needed`, unless it is NULL, is their
/// number, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_faulty(
    evaluator: *const AdumbraBatchEvaluator,
    points: *mut usize,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let inside = lock_or_busy(&evaluator.inside)?;
        let all = 0..inside.evaluator.outcomes().len();
        let faulty: Vec<usize> = all
            .filter(|&point| !inside.evaluator.faults(point).is_empty())
            .collect();
        // SAFETY: `points` and `needed` by the contract of the crate.
        unsafe { fill_buffer(&faulty, points, capacity, needed) }
    })
}

/// The faults of a point of the last evaluation as diagnostics, perhaps none. Points are numbered
/// from the first of the evaluation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_faults(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, evaluator) = unsafe { (out_handle(diagnostics)?, borrow(evaluator)?) };
        let inside = lock_or_busy(&evaluator.inside)?;
        inside.check(point)?;
        let found = fault_diagnostics(inside.evaluator.faults(point), &inside.program);
        store_diagnostics(Some(to), found);
        Ok(())
    })
}

/// A node of a closure tree of a point of the last evaluation, as `adumbra_evaluator_closure` shows
/// one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_closure(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    number: u32,
    closure: *mut AdumbraClosure,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, to) = unsafe { (borrow(evaluator)?, sized_struct::out_struct(closure)?) };
        let inside = lock_or_busy(&evaluator.inside)?;
        inside.check(point)?;
        closure::fill_closure(inside.evaluator.numbered_closure(number, point), to);
        Ok(())
    })
}

/// The scalars of the arguments of a leaf of a point, as `adumbra_evaluator_closure_arguments`
/// gives them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_closure_arguments(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    number: u32,
    to: *mut c_void,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let inside = lock_or_busy(&evaluator.inside)?;
        inside.check(point)?;
        let leaf = inside.evaluator.numbered_closure(number, point);
        // SAFETY: `to` and `needed` by the contract of the crate.
        unsafe { closure::read_arguments(leaf, to.cast(), capacity, needed) }
    })
}

/// The leaves of a closure tree of a point as a flat list, as `adumbra_evaluator_leaves` gives
/// them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_leaves(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    number: u32,
    leaves: *mut AdumbraLeaf,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let mut inside = lock_or_busy(&evaluator.inside)?;
        let inside = &mut *inside;
        inside.check(point)?;
        let tree = inside.evaluator.numbered_closure(number, point);
        // SAFETY: `leaves` and `needed` by the contract of the crate.
        unsafe { closure::fill_leaves(tree, &mut inside.weights, leaves, capacity, needed) }
    })
}

/// A whole closure tree of a point as a string, as `adumbra_evaluator_closure_render` writes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_closure_render(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    number: u32,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let inside = lock_or_busy(&evaluator.inside)?;
        inside.check(point)?;
        let tree = inside.evaluator.numbered_closure(number, point);
        // SAFETY: `buffer` and `needed` by the contract of the crate.
        unsafe { closure::render_closure(tree, format, buffer, capacity, needed) }
    })
}

/// The suspended points of the last evaluation. `needed`, unless it is NULL, is their number, also
/// if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_suspended(
    evaluator: *const AdumbraBatchEvaluator,
    points: *mut usize,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let evaluator = unsafe { borrow(evaluator)? };
        let inside = lock_or_busy(&evaluator.inside)?;
        let waiting: Vec<usize> = inside
            .evaluator
            .suspended()
            .map(|(point, _)| point)
            .collect();
        // SAFETY: `points` and `needed` by the contract of the crate.
        unsafe { fill_buffer(&waiting, points, capacity, needed) }
    })
}

/// The request of a suspended point, numbered from the first of the evaluation. The request itself
/// has its number in the batch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_request(
    evaluator: *const AdumbraBatchEvaluator,
    point: usize,
    request: *mut AdumbraSampleRequest,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, to) = unsafe { (borrow(evaluator)?, sized_struct::out_struct(request)?) };
        let inside = lock_or_busy(&evaluator.inside)?;
        to.write(inside.request(point)?);
        Ok(())
    })
}

/// Resumes a suspended point, alone or with its quad: `texel` is red, green, blue, alpha. `host`
/// and `outcome` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_answer(
    evaluator: *mut AdumbraBatchEvaluator,
    point: usize,
    texel: *const f32,
    host: *const AdumbraHost,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, texel, outcome) = unsafe {
            (
                borrow(evaluator)?,
                self::texel(texel)?,
                borrow_optional_out(outcome)?,
            )
        };
        let mut inside = lock_or_busy(&evaluator.inside)?;
        let inside = &mut *inside;
        inside.request(point)?;
        // SAFETY: `host` by the contract of the crate.
        let mut host = unsafe { Callbacks::new(host, &inside.program, &mut inside.columns)? };
        store_outcome(outcome, inside.evaluator.answer(point, texel, &mut host));
        Ok(())
    })
}

/// Moves a suspended point out of the evaluator, with its quad if it is in one. It resumes in any
/// `AdumbraEvaluator` of the same instance and limits, with the engine `ADUMBRA_ENGINE_POINT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_park(
    evaluator: *mut AdumbraBatchEvaluator,
    point: usize,
    parked: *mut *mut AdumbraParkedPoint,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, evaluator) = unsafe { (out_handle(parked)?, borrow(evaluator)?) };
        let mut inside = lock_or_busy(&evaluator.inside)?;
        inside.request(point)?;
        store_parked(inside.evaluator.park(point), to)
    })
}

/// Bytes that the evaluator takes beside its program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_memory(
    evaluator: *const AdumbraBatchEvaluator,
    bytes: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, bytes) = unsafe { (borrow(evaluator)?, borrow_out(bytes)?) };
        bytes.write(lock_or_busy(&evaluator.inside)?.evaluator.memory());
        Ok(())
    })
}

/// Frees a batch evaluator. One that is being used, as by the callback that calls this, is not
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_free(evaluator: *mut AdumbraBatchEvaluator) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(evaluator, |evaluator| &evaluator.inside) });
}
