//! Sums of outputs over points, on several threads.

use crate::argument::{Argument, arg};
use crate::batch_globals::{AdumbraBatchGlobals, lend};
use crate::batch_options::{AdumbraBatchOptions, known_setup};
use crate::guard::{Locked, Result, guard, lock_blocking};
use crate::host::{AdumbraHost, SharedCallbacks};
use crate::instance::AdumbraInstance;
use crate::pointer::{
    borrow, free_locked_handle, out_buffer, out_handle, read_name, read_slice, store_handle,
};
use crate::sized_struct::{self, SizedStruct, read_struct_or_default};
use crate::status::AdumbraStatus;
use adumbra::Program;
use adumbra::batch::{BatchError, BatchReport, JoinError, OutputSums, PointFault, WholeBatch};
use std::ffi::c_char;
use std::sync::Mutex;

/// More threads than any sum has.
const MAX_THREADS: u32 = 1024;

/// Sums of outputs over points, in double precision. They are the same to the bit for every width,
/// tier and number of threads, and for every division of the points into sums that are joined.
#[derive(Debug)]
pub struct AdumbraSums {
    inside: Mutex<Inside>,
}

impl Locked for AdumbraSums {
    type State = Inside;

    fn lock(&self) -> &Mutex<Inside> {
        &self.inside
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Inside {
    sums: OutputSums,
    report: BatchReport,
}

/// Options of sums. Zero everywhere is the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraSumsOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// The most threads that evaluate points, up to 1024; 0 for one, the caller's. With more than
    /// one, callbacks of the host run on several at once.
    pub threads: u32,
    /// Options of the evaluator of each thread; may be NULL.
    pub batch: *const AdumbraBatchOptions,
    /// The number, among all points that are summed, of the point with which the planes of the
    /// globals begin: 0, but for a part of the points whose sums are to be joined to others. Sums,
    /// reports and what callbacks get have these numbers; `first` counts from the planes' first.
    pub numbered_from: u64,
}

// SAFETY: numbers and a pointer, of which zeros are some.
unsafe impl SizedStruct for AdumbraSumsOptions {}

/// How the points of sums went.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraSumsReport {
    /// Bytes of this struct.
    pub size: u32,
    /// The number of points that a limit stopped; they count as 0.
    pub stopped: u64,
    /// The number of points that the host left waiting for a texture; they count as 0.
    pub pending: u64,
    /// The number of points with faults.
    pub faulty: u64,
    /// The first point with a fault.
    pub first_faulty: u64,
    /// How many numbers are infinite or NaN, as their sum then is.
    pub not_finite: u64,
    /// The first point that has one.
    pub first_not_finite: u64,
    /// How many numbers, or sums of neighbours, are so small beside others that adding them changed
    /// nothing.
    pub vanished: u64,
    /// The first point that has one.
    pub first_vanished: u64,
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraSumsReport {}

impl AdumbraSums {
    pub(crate) fn new(sums: OutputSums, report: BatchReport) -> AdumbraSums {
        let inside = Mutex::new(Inside { sums, report });
        AdumbraSums { inside }
    }
}

/// The number of threads that options name; 0 is one.
pub(crate) fn thread_count(threads: Argument<u32>) -> Result<usize> {
    if threads.value > MAX_THREADS {
        let what = format!("is {}, and the most is {MAX_THREADS}", threads.value);
        return Err(threads.error(AdumbraStatus::Size, what));
    }
    Ok(threads.value.max(1) as usize)
}

/// The end of that many points from `first` on, where point 0 of the planes has the number `from`.
pub(crate) fn end_of(first: usize, points: Argument<usize>, from: u64) -> Result<usize> {
    let end = first.checked_add(points.value).filter(|&end| {
        let last = u64::try_from(end).ok();
        let last = last.and_then(|end| from.checked_add(end));
        last.is_some_and(|last| isize::try_from(last).is_ok())
    });
    end.ok_or_else(|| points.error(AdumbraStatus::Size, "is greater than any number of points"))
}

/// The names of outputs that are summed.
///
/// # Safety
/// Each is as [`read_name`] reads it.
pub(crate) unsafe fn summed_outputs<'a>(
    names: Argument<&[*const c_char]>,
    program: &Program,
) -> Result<Vec<&'a str>> {
    let mut outputs = Vec::with_capacity(names.value.len());
    for (at, &name) in names.value.iter().enumerate() {
        let place = names.element(at, name);
        // SAFETY: this function's contract is that of `read_name`.
        let name = unsafe { read_name(place)? };
        if let Err(error) = OutputSums::new(program, &[name]) {
            return Err(match error {
                BatchError::NoFloats(_) => place.unfit(AdumbraStatus::WrongType, error),
                _ => place.unknown(name, "output"),
            });
        }
        outputs.push(name);
    }
    Ok(outputs)
}

/// Evaluates an instance at points `first` to `first + points` of a batch, and sums the outputs of
/// these `count` names over them, 0 for none, and the gradients by buffers that the program has.
/// `options` and `host` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_new(
    instance: *const AdumbraInstance,
    options: *const AdumbraSumsOptions,
    globals: *const AdumbraBatchGlobals,
    first: usize,
    points: usize,
    outputs: *const *const c_char,
    count: usize,
    host: *const AdumbraHost,
    sums: *mut *mut AdumbraSums,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, instance, options, globals, names) = unsafe {
            let to = out_handle(arg!(sums))?;
            let options = read_struct_or_default(arg!(options))?;
            let (instance, globals) = (borrow(arg!(instance))?, borrow(arg!(globals))?);
            let names = read_slice(arg!(outputs), count)?;
            (to, instance, options, globals, names)
        };
        let threads = thread_count(arg!(options->threads))?;
        let instance = instance.get()?;
        let program = instance.program().clone();
        // SAFETY: by the contract of the crate the options are NULL or a struct of its size, and
        // `host` is, whose callbacks may run on as many threads as the options say.
        let (setup, host) = unsafe {
            let batch = read_struct_or_default(arg!(options->batch))?;
            (
                known_setup(&batch, &program)?,
                SharedCallbacks::new(arg!(host), &program)?,
            )
        };
        if program.quad().is_some() {
            let what = "is of a program whose points are evaluated in quads";
            return Err(arg!(instance).error(AdumbraStatus::Quads, what));
        }
        let end = end_of(first, arg!(points), options.numbered_from)?;
        // SAFETY: the names end with NUL, by the contract of the crate.
        let outputs_of = unsafe { summed_outputs(arg!(outputs).with(names), &program)? };
        let batch = WholeBatch::new(&instance)
            .setup(setup)
            .threads(threads)
            .numbered_from(options.numbered_from);
        let mut done = None;
        let evaluate = |globals: &adumbra::batch::BatchGlobals<'_>| {
            let host = || host.of_thread();
            done = Some(batch.sums(globals, first..end, &outputs_of, host));
        };
        let reaches = if points == 0 { 0 } else { end };
        // SAFETY: by the contract of the crate all planes may be read during this call.
        unsafe { lend(arg!(globals), program.globals(), reaches, evaluate)? };
        let (sums, report) = match done.expect("the globals were lent") {
            Ok(done) => done,
            Err(BatchError::Engine(error)) => return Err(error.into()),
            Err(error) => return Err(arg!(outputs).unfit(AdumbraStatus::WrongType, error)),
        };
        store_handle(to, AdumbraSums::new(sums, report));
        Ok(())
    })
}

/// Adds the points of `other`, which stays as it is, to `sums`. Both are of the same outputs, have
/// gradients by the same buffers, as long, and no point in common.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_join(
    sums: *mut AdumbraSums,
    other: *const AdumbraSums,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (sums, other) = unsafe { (borrow(arg!(sums))?, borrow(arg!(other))?) };
        // The two may be one handle, so its lock is not held any more.
        let added = lock_blocking(other)?.clone();
        let mut inside = lock_blocking(sums)?;
        let joined = inside.sums.join(added.sums);
        joined.map_err(|error| match error {
            JoinError::Twice(_) => arg!(other).unfit(AdumbraStatus::Duplicate, error),
            JoinError::Planes(..) | JoinError::Outputs => {
                arg!(other).error(AdumbraStatus::WrongType, "is of other outputs")
            }
            JoinError::Buffers => arg!(other).unfit(AdumbraStatus::Size, error),
        })?;
        inside.report.join(added.report);
        Ok(())
    })
}

/// The sum of each float of an output, in order. `needed`, unless it is NULL, is their number, also
/// if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_total(
    sums: *const AdumbraSums,
    output: *const c_char,
    totals: *mut f64,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (sums, output, buffer) = unsafe {
            let buffer = out_buffer(arg!(totals), capacity, arg!(needed))?;
            (borrow(arg!(sums))?, read_name(arg!(output))?, buffer)
        };
        let all = lock_blocking(sums)?.sums.total(output);
        let all = all.map_err(|_| arg!(output).unknown(output, "output that is summed"))?;
        buffer.fill(all.iter().copied())
    })
}

/// The gradient by a buffer, summed over the points: a number for each number of the buffer. The
/// bits do not depend on the order of the points. `needed`, unless it is NULL, is their number,
/// also if the memory is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_buffer(
    sums: *const AdumbraSums,
    buffer: *const c_char,
    totals: *mut f64,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (sums, buffer, memory) = unsafe {
            let memory = out_buffer(arg!(totals), capacity, arg!(needed))?;
            (borrow(arg!(sums))?, read_name(arg!(buffer))?, memory)
        };
        let all = lock_blocking(sums)?.sums.buffer(buffer);
        let all = all.map_err(|_| arg!(buffer).unknown(buffer, "gradient by a buffer"))?;
        memory.fill(all.iter().copied())
    })
}

/// Says how the points went. Points have their numbers among all that are summed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_report(
    sums: *const AdumbraSums,
    report: *mut AdumbraSumsReport,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (sums, to) = unsafe { (borrow(arg!(sums))?, sized_struct::out_struct(arg!(report))?) };
        let inside = lock_blocking(sums)?;
        let (report, faults) = (&inside.report, inside.sums.planes().faults());
        let first_faulty = report.first_fault().map_or(0, |(point, _)| point as u64);
        let counted = |fault: Option<PointFault>| fault.map_or((0, 0), |f| (f.count, f.point));
        let (not_finite, first_not_finite) = counted(faults.not_finite);
        let (vanished, first_vanished) = counted(faults.vanished);
        to.write(AdumbraSumsReport {
            size: 0,
            stopped: report.stopped as u64,
            pending: report.pending as u64,
            faulty: report.faulty as u64,
            first_faulty,
            not_finite,
            first_not_finite,
            vanished,
            first_vanished,
        });
        Ok(())
    })
}

/// Frees sums.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_sums_free(sums: *mut AdumbraSums) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(sums)) });
}
