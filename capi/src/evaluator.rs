//! The C functions that evaluate single points.

use crate::argument::{Argument, arg};
use crate::closure::{self, AdumbraClosure, AdumbraLeaf, LeafMemory};
use crate::diagnostics::{AdumbraDiagnostics, fault_diagnostics, store_diagnostics};
use crate::guard::{Locked, Result, guard, lock_or_busy};
use crate::host::{
    AdumbraHost, AdumbraOutcome, AdumbraSampleRequest, Callbacks, RequestColumns, read_texel,
};
use crate::instance::AdumbraInstance;
use crate::options::{
    AdumbraLimits, check_part, corner_from_number, from_number, output_at, part_from_number,
    read_limits,
};
use crate::parked::{AdumbraParkedPoint, store_parked};
use crate::pointer::{
    borrow, borrow_optional_out, borrow_out, free_handle, free_locked_handle, out_buffer,
    out_handle, out_slice, read_slice, read_words, store_handle,
};
use crate::sized_struct::{self, SizedStruct, read_struct_or_default};
use crate::status::AdumbraStatus;
use adumbra::{
    Evaluator, Globals, Outcome, Program,
    evaluator::{Engine, ResumeError},
};
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// The engine of an evaluator. All engines give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraEngine {
    /// The point interpreter, the default.
    Point = 0,
    /// The reference interpreter, which is slow, and which the others are compared with. It needs a
    /// program made from source.
    Reference = 1,
    /// The batch interpreter, one point at a time.
    Batch = 2,
    /// The default engine with machine code, where `adumbra_tier_is_available` reports
    /// `ADUMBRA_TIER_NATIVE`.
    Native = 3,
    /// The engine that suits: for single points the default one.
    Auto = 4,
}

/// Options of an evaluator. Zero everywhere is the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraEvaluatorOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// An `AdumbraEngine`.
    pub engine: u32,
    /// The limits of points; may be NULL.
    pub limits: *const AdumbraLimits,
}

// SAFETY: numbers and a pointer, of which zeros are some.
unsafe impl SizedStruct for AdumbraEvaluatorOptions {}

/// Evaluates an instance at single points, on one thread. Results can be read until the next
/// evaluation.
#[derive(Debug)]
pub struct AdumbraEvaluator {
    inside: Mutex<Inside>,
}

impl Locked for AdumbraEvaluator {
    type State = Inside;

    fn lock(&self) -> &Mutex<Inside> {
        &self.inside
    }
}

#[derive(Debug)]
pub(crate) struct Inside {
    evaluator: Evaluator,
    program: Arc<Program>,
    /// The globals of a point, or of a quad.
    globals: [Globals; 4],
    columns: RequestColumns,
    scalars: usize,
    leaves: LeafMemory,
}

impl Inside {
    /// Copies the globals of one point.
    ///
    /// # Safety
    /// As for [`read_words`], of `bytes` bytes.
    unsafe fn set_globals(
        &mut self,
        at: usize,
        globals: Argument<*const c_void>,
        bytes: Argument<usize>,
    ) -> Result {
        let to = self.globals[at].words_mut();
        // SAFETY: the caller promises that the globals may be read; words do not reach further.
        let words = unsafe { read_words(globals, bytes.value / 4)? };
        if bytes.value != size_of_val(to) {
            let needed = size_of_val(to);
            let what = format!(
                "is {}, and the program's globals have {needed}",
                bytes.value
            );
            return Err(bytes.error(AdumbraStatus::WrongGlobals, what));
        }
        to.copy_from_slice(words);
        Ok(())
    }

    fn check_quads(&self) -> Result {
        match self.program.quad() {
            Some(_) => Ok(()),
            None => Err(AdumbraStatus::Quads.into()),
        }
    }
}

/// Stores how far a point came, for a caller that has a pointer for it.
pub(crate) fn store_outcome(
    to: Option<&mut std::mem::MaybeUninit<AdumbraOutcome>>,
    outcome: Outcome,
) {
    if let Some(to) = to {
        to.write(outcome.into());
    }
}

/// Makes an evaluator; `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_new(
    instance: *const AdumbraInstance,
    options: *const AdumbraEvaluatorOptions,
    evaluator: *mut *mut AdumbraEvaluator,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, instance, options, limits) = unsafe {
            let (to, options) = (
                out_handle(arg!(evaluator))?,
                read_struct_or_default(arg!(options))?,
            );
            (
                to,
                borrow(arg!(instance))?,
                options,
                read_limits(arg!(options->limits))?,
            )
        };
        let engines = [
            Engine::Point,
            Engine::Reference,
            Engine::Batch,
            Engine::Native,
            Engine::Auto,
        ];
        let engine = from_number(&engines, arg!(options->engine))?;
        let instance = instance.get()?;
        let evaluator = Evaluator::with(&instance, engine, limits)?;
        let program = instance.program().clone();
        let outputs = program.outputs().iter();
        let inside = Inside {
            evaluator,
            globals: [(); 4].map(|()| Globals::new(program.globals())),
            columns: RequestColumns::default(),
            leaves: LeafMemory::default(),
            scalars: outputs.map(|output| output.ty.scalar_count()).sum(),
            program,
        };
        let inside = Mutex::new(inside);
        store_handle(to, AdumbraEvaluator { inside });
        Ok(())
    })
}

/// Evaluates one point, whose globals are `bytes` bytes in the order of the layout. A point that is
/// suspended in the evaluator is given up. `host` and `outcome` may be NULL.
///
/// If points are evaluated in quads, this is the upper left one; its neighbours' globals are its
/// own plus their derivatives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_evaluate(
    evaluator: *mut AdumbraEvaluator,
    globals: *const c_void,
    bytes: usize,
    host: *const AdumbraHost,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, outcome) = unsafe {
            (
                borrow(arg!(evaluator))?,
                borrow_optional_out(arg!(outcome))?,
            )
        };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        // SAFETY: `globals` and `host` by the contract of the crate.
        let mut host = unsafe {
            inside.set_globals(0, arg!(globals), arg!(bytes))?;
            Callbacks::new(arg!(host), &inside.program, &mut inside.columns)?
        };
        inside.leaves.clear();
        let reached = inside.evaluator.evaluate(&inside.globals[0], &mut host);
        store_outcome(outcome, reached);
        Ok(())
    })
}

/// Evaluates the four points of a quad: upper left, upper right, lower left, lower right. `globals`
/// are four addresses of `bytes` bytes each. `helpers` are four numbers, other than 0 for points
/// that are evaluated for their neighbours alone, or NULL. `adumbra_evaluator_select` selects the
/// point that is read; `outcome` is that of the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_evaluate_quad(
    evaluator: *mut AdumbraEvaluator,
    globals: *const *const c_void,
    bytes: usize,
    helpers: *const u8,
    host: *const AdumbraHost,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, points, helpers, outcome) = unsafe {
            let helpers = match helpers.is_null() {
                true => &[0; 4],
                false => read_slice(arg!(helpers), 4)?,
            };
            (
                borrow(arg!(evaluator))?,
                read_slice(arg!(globals), 4)?,
                helpers,
                borrow_optional_out(arg!(outcome))?,
            )
        };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        inside.check_quads()?;
        for (at, &point) in points.iter().enumerate() {
            let globals = arg!(globals).element(at, point);
            // SAFETY: each of the four addresses has `bytes` bytes, by the contract of the crate.
            unsafe { inside.set_globals(at, globals, arg!(bytes))? };
        }
        let helpers = std::array::from_fn(|at| helpers[at] != 0);
        // SAFETY: `host` by the contract of the crate.
        let mut host = unsafe { Callbacks::new(arg!(host), &inside.program, &mut inside.columns)? };
        let globals = inside.globals.each_ref();
        inside.leaves.clear();
        let reached = inside.evaluator.evaluate_quad(globals, helpers, &mut host);
        store_outcome(outcome, reached);
        Ok(())
    })
}

/// Selects the point of the quad, an `AdumbraCorner`, that is read until the next evaluation.
/// `outcome` is that point's, or NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_select(
    evaluator: *mut AdumbraEvaluator,
    corner: u32,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, outcome) = unsafe {
            (
                borrow(arg!(evaluator))?,
                borrow_optional_out(arg!(outcome))?,
            )
        };
        let corner = corner_from_number(arg!(corner))?;
        let mut inside = lock_or_busy(arg!(evaluator))?;
        inside.check_quads()?;
        store_outcome(outcome, inside.evaluator.show(corner));
        Ok(())
    })
}

/// Reads value, ddx or ddy (`part` is an `AdumbraPart`) of `count` scalars of the outputs from the
/// one numbered `first`, as `adumbra_program_find` says of an output: numbers of four bytes. A
/// closure is a number to read its tree by. Derivatives are there if the program was compiled with
/// `output_derivatives`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_read(
    evaluator: *const AdumbraEvaluator,
    part: u32,
    first: usize,
    count: usize,
    to: *mut c_void,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, to) = unsafe {
            (
                borrow(arg!(evaluator))?,
                out_slice::<u32>(arg!(to).cast(), count)?,
            )
        };
        let part = part_from_number(arg!(part))?;
        let inside = lock_or_busy(arg!(evaluator))?;
        let end = first.checked_add(count);
        if end.is_none_or(|end| end > inside.scalars) {
            let scalars = inside.scalars;
            let what =
                format!("is {first}, and there are not {count} of {scalars} scalars from there on");
            return Err(arg!(first).error(AdumbraStatus::Index, what));
        }
        let Some((output, _)) = output_at(&inside.program, first) else {
            // No scalar is read.
            return Ok(());
        };
        check_part(arg!(part), &inside.program, output)?;
        let words = inside.evaluator.words(part).expect("it is computed");
        for (to, word) in to.iter_mut().zip(words.skip(first)) {
            to.write(word);
        }
        Ok(())
    })
}

/// The number of different faults of the last evaluation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_fault_count(
    evaluator: *const AdumbraEvaluator,
    count: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, count) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(count))?) };
        let inside = lock_or_busy(arg!(evaluator))?;
        count.write(inside.evaluator.faults().iter().count());
        Ok(())
    })
}

/// The faults of the last evaluation as diagnostics, perhaps none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_faults(
    evaluator: *const AdumbraEvaluator,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, evaluator) = unsafe { (out_handle(arg!(diagnostics))?, borrow(arg!(evaluator))?) };
        let inside = lock_or_busy(arg!(evaluator))?;
        let found = fault_diagnostics(inside.evaluator.faults(), &inside.program);
        store_diagnostics(Some(to), found);
        Ok(())
    })
}

/// A node of a closure tree of the last evaluation by its number; one that there is not is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_closure(
    evaluator: *const AdumbraEvaluator,
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
        closure::fill_closure(inside.evaluator.numbered_closure(number), to);
        Ok(())
    })
}

/// The scalars of the arguments of a leaf without gaps: numbers of four bytes. `needed`, unless it
/// is NULL, is their number, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_closure_arguments(
    evaluator: *const AdumbraEvaluator,
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
        let leaf = inside.evaluator.numbered_closure(number);
        closure::read_arguments(leaf, arg!(number), buffer)
    })
}

/// The leaves of a closure tree as a flat list, each once, with the product of the weights above
/// it. Leaves with weight 0 are left out. `needed`, unless it is NULL, is their number, also if the
/// buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_leaves(
    evaluator: *const AdumbraEvaluator,
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
        let tree = inside.evaluator.numbered_closure(number);
        inside.leaves.fill(tree, buffer)
    })
}

/// A whole closure tree as a string: by `format`, an `AdumbraFormat`, in the syntax of the
/// language, or as JSON. `ADUMBRA_STATUS_SIZE` reports that it has too many nodes to be written.
/// The string ends with NUL. `needed`, unless it is NULL, is its length with that NUL, also if the
/// buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_closure_render(
    evaluator: *const AdumbraEvaluator,
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
        let tree = inside.evaluator.numbered_closure(number);
        closure::render_closure(tree, arg!(format), buffer)
    })
}

/// The request of the point that is suspended in the evaluator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_request(
    evaluator: *const AdumbraEvaluator,
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
        let asked = inside.evaluator.request();
        let asked = asked.ok_or(AdumbraStatus::NotSuspended)?;
        to.write(AdumbraSampleRequest::new(asked, 0, false, null_mut()));
        Ok(())
    })
}

/// Resumes the suspended point: `texel` is red, green, blue, alpha, `slopes` its slopes as
/// in `AdumbraSampleRequest`, or NULL. All that follows has the bits
/// of an evaluation that was not suspended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_answer(
    evaluator: *mut AdumbraEvaluator,
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
        if inside.evaluator.request().is_none() {
            return Err(AdumbraStatus::NotSuspended.into());
        }
        // SAFETY: `host` by the contract of the crate.
        let mut host = unsafe { Callbacks::new(arg!(host), &inside.program, &mut inside.columns)? };
        store_outcome(outcome, inside.evaluator.answer(texel, &mut host));
        Ok(())
    })
}

/// Moves the suspended point out of the evaluator, which is then free for other points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_park(
    evaluator: *mut AdumbraEvaluator,
    parked: *mut *mut AdumbraParkedPoint,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, evaluator) = unsafe { (out_handle(arg!(parked))?, borrow(arg!(evaluator))?) };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        if inside.evaluator.request().is_none() {
            return Err(AdumbraStatus::NotSuspended.into());
        }
        store_parked(inside.evaluator.park(), to)
    })
}

/// Resumes a parked point as `adumbra_evaluator_answer` does, on any evaluator of the same
/// instance, engine and limits. With `ADUMBRA_STATUS_OK` the parked point is used up and freed;
/// else it stays parked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_resume(
    evaluator: *mut AdumbraEvaluator,
    parked: *mut AdumbraParkedPoint,
    texel: *const f32,
    slopes: *const f32,
    host: *const AdumbraHost,
    outcome: *mut AdumbraOutcome,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, point, texel, outcome) = unsafe {
            let (evaluator, parked) = (borrow(arg!(evaluator))?, borrow(arg!(parked))?);
            (
                evaluator,
                parked,
                read_texel(arg!(texel), arg!(slopes))?,
                borrow_optional_out(arg!(outcome))?,
            )
        };
        let mut inside = lock_or_busy(arg!(evaluator))?;
        let inside = &mut *inside;
        // SAFETY: `host` by the contract of the crate.
        let mut host = unsafe { Callbacks::new(arg!(host), &inside.program, &mut inside.columns)? };
        let mut place = lock_or_busy(arg!(parked).with(point))?;
        let point = place.take().ok_or(AdumbraStatus::NotSuspended)?;
        inside.leaves.clear();
        match inside.evaluator.resume(point, texel, &mut host) {
            Ok(reached) => store_outcome(outcome, reached),
            Err(ResumeError(point)) => {
                *place = Some(point);
                let what = "is of another instance, engine or limits than the evaluator";
                return Err(arg!(parked).error(AdumbraStatus::WrongEvaluator, what));
            }
        }
        drop(place);
        // SAFETY: `parked` came from this library by the contract of the crate; its lock is open
        // again, and no reference to it is left.
        unsafe { free_handle(arg!(parked)) }
    })
}

/// Bytes that the evaluator takes beside its program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_memory(
    evaluator: *const AdumbraEvaluator,
    bytes: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (evaluator, bytes) = unsafe { (borrow(arg!(evaluator))?, borrow_out(arg!(bytes))?) };
        bytes.write(lock_or_busy(arg!(evaluator))?.evaluator.memory());
        Ok(())
    })
}

/// Frees an evaluator. One that is being used, as by the callback that calls this, is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_evaluator_free(evaluator: *mut AdumbraEvaluator) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(evaluator)) });
}
