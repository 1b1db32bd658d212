//! The C functions that evaluate batches of points.

use crate::argument::{Argument, arg};
use crate::batch_globals::{AdumbraBatchGlobals, lend};
use crate::batch_options::{AdumbraBatchOptions, AdumbraTier, known_setup};
use crate::closure::{self, AdumbraClosure, AdumbraLeaf, LeafMemory};
use crate::diagnostics::{AdumbraDiagnostics, fault_diagnostics, store_diagnostics};
use crate::evaluator::store_outcome;
use crate::guard::{Locked, Result, guard, lock_or_busy};
use crate::host::{
    AdumbraHost, AdumbraOutcome, AdumbraSampleRequest, Callbacks, RequestColumns, read_texel,
};
use crate::instance::AdumbraInstance;
use crate::options::{check_part, output_at, part_from_number};
use crate::parked::{AdumbraParkedPoint, store_parked};
use crate::pointer::{
    self, borrow, borrow_optional_out, borrow_out, free_locked_handle, out_buffer, out_handle,
    out_slice, store_handle,
};
use crate::sized_struct::{self, read_struct_or_default};
use crate::status::AdumbraStatus;
use adumbra::{
    Program,
    batch::{BatchEvaluator, SimdLevel, Tier},
};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// Evaluates an instance at hundreds of points at once, on one thread. Every point has, to the bit,
/// the results that it has alone. Results can be read until the next evaluation.
#[derive(Debug)]
pub struct AdumbraBatchEvaluator {
    inside: Mutex<Inside>,
}

impl Locked for AdumbraBatchEvaluator {
    type State = Inside;

    fn lock(&self) -> &Mutex<Inside> {
        &self.inside
    }
}

#[derive(Debug)]
pub(crate) struct Inside {
    evaluator: BatchEvaluator,
    program: Arc<Program>,
    columns: RequestColumns,
    /// The number of the first point of the last evaluation in its batch.
    first: usize,
    /// Which of its points were evaluated for their neighbours alone.
    helpers: Vec<bool>,
    leaves: LeafMemory,
}

impl Inside {
    /// # Errors
    /// If the last evaluation had no such point.
    fn check(&self, point: Argument<usize>) -> Result {
        let points = self.evaluator.outcomes().len();
        match point.value < points {
            true => Ok(()),
            false => Err(point.beyond(points, "points of the last evaluation")),
        }
    }

    /// The request of a suspended point.
    fn request(&self, point: Argument<usize>) -> Result<AdumbraSampleRequest> {
        self.check(point)?;
        let mut waiting = self.evaluator.suspended();
        let asked = waiting.find(|(waits, _)| *waits == point.value);
        let (_, request) = asked.ok_or_else(|| {
            let what = format!("is {}, which does not wait for a texture", point.value);
            point.error(AdumbraStatus::NotSuspended, what)
        })?;
        let point = point.value;
        let is_helper = self.helpers.get(point).is_some_and(|&helper| helper);
        Ok(AdumbraSampleRequest::new(
            request,
            self.first + point,
            is_helper,
            null_mut(),
        ))
    }
}

/// Requires that a plane of the caller's has a word of its own for each of that many points.
pub(crate) fn check_capacity(capacity: Argument<usize>, stride: usize, points: usize) -> Result {
    if let Some(last) = points.checked_sub(1) {
        let at = last.checked_mul(stride);
        if at.is_none_or(|at| at >= capacity.value) || (stride == 0 && last > 0) {
            let what = format!("is {}, too few for {points} points", capacity.value);
            return Err(capacity.error(AdumbraStatus::Size, what));
        }
    }
    Ok(())
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
        let (to, instance, options) = unsafe {
            let to = out_handle(arg!(evaluator))?;
            let options = read_struct_or_default(arg!(options))?;
            (to, borrow(arg!(instance))?, options)
        };
        let instance = instance.get()?;
        // SAFETY: the contract of the crate.
        let setup = unsafe { known_setup(&options, instance.program())? };
        let evaluator = BatchEvaluator::with(&instance, &setup);
        let inside = Inside {
            evaluator: evaluator?,
            program: instance.program().clone(),
            columns: RequestColumns::default(),
            first: 0,
            helpers: Vec::new(),
            leaves: LeafMemory::default(),
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
        let (evaluator, width) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(width))?) };
        width.write(lock_or_busy(arg!(evaluator))?.evaluator.width());
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
        let (evaluator, tier) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(tier))?) };
        let used = match lock_or_busy(arg!(evaluator))?.evaluator.tier() {
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
        let (evaluator, name) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(name))?) };
        let text: &CStr = match lock_or_busy(arg!(evaluator))?.evaluator.simd() {
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
        let (evaluator, globals) = unsafe { (borrow(arg!(evaluator))?, borrow(arg!(globals))?) };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        let width = inside.evaluator.width();
        if points > width {
            let what = format!("is {points}, and the evaluator's width is {width}");
            return Err(arg!(points).error(AdumbraStatus::Size, what));
        }
        let end = match points {
            0 => 0,
            _ => first.checked_add(points).ok_or_else(|| {
                arg!(first).error(AdumbraStatus::Size, "is greater than any number of points")
            })?,
        };
        let in_quads = inside.program.quad().is_some();
        if in_quads && !points.is_multiple_of(4) {
            let what = format!("is {points}, which is not a multiple of 4");
            return Err(arg!(points).error(AdumbraStatus::Quads, what));
        }
        if !in_quads && !helpers.is_null() {
            let what = "is not NULL, and points are not evaluated in quads";
            return Err(arg!(helpers).error(AdumbraStatus::Quads, what));
        }
        // SAFETY: by the contract of the crate `helpers` holds `points` bytes and `host` is NULL or
        // a struct of its size.
        let (helpers, mut host) = unsafe {
            let given = (!helpers.is_null()).then(|| pointer::read_slice(arg!(helpers), points));
            let host = Callbacks::new(arg!(host), &inside.program, &mut inside.columns)?;
            (given.transpose()?, host)
        };
        let (are_helpers, first_of_last) = (&mut inside.helpers, &mut inside.first);
        inside.leaves.clear();
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
        unsafe { lend(arg!(globals), inside.program.globals(), end, evaluate) }
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(outcomes).cast(), capacity, arg!(needed))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        let all = inside.evaluator.outcomes().iter();
        let all: Vec<u32> = all.map(|&o| AdumbraOutcome::from(o) as u32).collect();
        buffer.fill(all.iter().copied())
    })
}

/// Copies value, ddx or ddy (`part` is an `AdumbraPart`) of one scalar of the outputs for all
/// points of the last evaluation. `scalar` is numbered as `adumbra_program_find` numbers the
/// scalars of outputs. The points go to every `stride`th number of a plane of `capacity` numbers of
/// four bytes. The numbers between them stay. Derivatives are there if the program was compiled
/// with `output_derivatives`.
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
                borrow(arg!(evaluator))?,
                out_slice::<u32>(arg!(plane).cast(), capacity)?,
            )
        };
        let part = part_from_number(arg!(part))?;
        let inside = lock_or_busy(arg!(evaluator))?;
        let program = &inside.program;
        let Some((output, of_it)) = output_at(program, scalar) else {
            let outputs = program.outputs().iter();
            let count = outputs.map(|output| output.ty.scalar_count()).sum();
            return Err(arg!(scalar).beyond(count, "scalars of outputs"));
        };
        check_part(arg!(part), program, output)?;
        check_capacity(arg!(capacity), stride, inside.evaluator.outcomes().len())?;
        let copied = inside
            .evaluator
            .copy_uninit(&output.name, part, of_it, plane, stride);
        copied.expect("the output has the part and the scalar");
        Ok(())
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(points), capacity, arg!(needed))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        let all = 0..inside.evaluator.outcomes().len();
        let faulty: Vec<usize> = all
            .filter(|&point| !inside.evaluator.faults(point).is_empty())
            .collect();
        buffer.fill(faulty.iter().copied())
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
        let (to, evaluator) = unsafe { (out_handle(arg!(diagnostics))?, borrow(arg!(evaluator))?) };
        let inside = lock_or_busy(arg!(evaluator))?;
        inside.check(arg!(point))?;
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
        let (evaluator, to) = unsafe {
            (
                borrow(arg!(evaluator))?,
                sized_struct::out_struct(arg!(closure))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        inside.check(arg!(point))?;
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(to).cast(), capacity, arg!(needed))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        inside.check(arg!(point))?;
        let leaf = inside.evaluator.numbered_closure(number, point);
        closure::read_arguments(leaf, arg!(number), buffer)
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(leaves), capacity, arg!(needed))?,
            )
        };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        inside.check(arg!(point))?;
        let tree = inside.evaluator.numbered_closure(number, point);
        inside.leaves.fill(tree, buffer)
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(buffer).cast(), capacity, arg!(needed))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        inside.check(arg!(point))?;
        let tree = inside.evaluator.numbered_closure(number, point);
        closure::render_closure(tree, arg!(format), buffer)
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
        let (evaluator, buffer) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_buffer(arg!(points), capacity, arg!(needed))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        let waiting: Vec<usize> = inside
            .evaluator
            .suspended()
            .map(|(point, _)| point)
            .collect();
        buffer.fill(waiting.iter().copied())
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
        let (evaluator, to) = unsafe {
            (
                borrow(arg!(evaluator))?,
                sized_struct::out_struct(arg!(request))?,
            )
        };
        let inside = lock_or_busy(arg!(evaluator))?;
        to.write(inside.request(arg!(point))?);
        Ok(())
    })
}

/// Resumes a suspended point, alone or with its quad: `texel` is red, green, blue, alpha, `slopes`
/// its slopes as in `AdumbraSampleRequest`, or NULL. `host` and `outcome` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_answer(
    evaluator: *mut AdumbraBatchEvaluator,
    point: usize,
    texel: *const f32,
    slopes: *const f32,
    host: *const AdumbraHost,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, texel, outcome) = unsafe {
            (
                borrow(arg!(evaluator))?,
                read_texel(arg!(texel), arg!(slopes))?,
                borrow_optional_out(arg!(outcome))?,
            )
        };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        inside.request(arg!(point))?;
        // SAFETY: `host` by the contract of the crate.
        let mut host = unsafe { Callbacks::new(arg!(host), &inside.program, &mut inside.columns)? };
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
        let (to, evaluator) = unsafe { (out_handle(arg!(parked))?, borrow(arg!(evaluator))?) };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        inside.request(arg!(point))?;
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
        let (evaluator, bytes) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(bytes))?) };
        bytes.write(lock_or_busy(arg!(evaluator))?.evaluator.memory());
        Ok(())
    })
}

/// Frees a batch evaluator. One that is being used, as by the callback that calls this, is not
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_evaluator_free(evaluator: *mut AdumbraBatchEvaluator) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(evaluator)) });
}
