//! Gradients through discontinuities: programs, and what jumps add to planes and sums.

use crate::argument::{Argument, arg};
use crate::batch_globals::AdumbraBatchGlobals;
use crate::batch_options::AdumbraBatchOptions;
use crate::diagnostics::{AdumbraDiagnostics, store_diagnostics};
use crate::gradient::{AdumbraGradientRequest, read_request, store_ends};
use crate::guard::{Result, guard};
use crate::host::AdumbraHost;
use crate::instance::AdumbraInstance;
use crate::jump_evaluation::{Evaluation, read_planes};
use crate::options::from_number;
use crate::pointer::{
    PlainOldData, borrow, borrow_out, free_handle, optional_out_handle, out_buffer, out_handle,
    out_slice, read_name, read_slice, store_handle,
};
use crate::program::AdumbraProgram;
use crate::sized_struct::{SizedOut, SizedStruct, out_struct, read_struct_or_default};
use crate::status::AdumbraStatus;
use crate::sums::{AdumbraSums, summed_outputs};
use adumbra::Program;
use adumbra::batch::{BatchError, BatchGlobals, BatchReport, OutputPlane};
use adumbra::gradient::{Axis, JumpGradient, JumpPoint, JumpReport, JumpRules};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// The rules by which what jumps has a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraJumpRules {
    /// Secants between a point and its neighbour, in which one edge counts. Some control flow is
    /// refused.
    Pair = 0,
    /// Edges are located, up to four between a point and a neighbour, through any control flow.
    Edge = 1,
}

/// The rules of a point and a neighbour between which there is no edge, by
/// `ADUMBRA_JUMP_RULES_PAIR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraQuietRules {
    /// The gradient there is the smooth one.
    Smooth = 0,
    /// What depends on a decision has secants between the two.
    Secants = 1,
}

/// A gradient through discontinuities. It never changes, and any number of threads may use it at
/// once.
#[derive(Debug)]
pub struct AdumbraJumpGradient {
    pub(crate) jumps: JumpGradient,
}

/// A float of a global along which points have neighbours. Lists hold this struct element by
/// element, so it never grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraAxis {
    /// The name of the global.
    pub global: *const c_char,
    /// The number of the float among those of the global.
    pub scalar: usize,
    /// The distance of neighbouring points: above 0 and finite.
    pub spacing: f64,
}

// SAFETY: numbers and a pointer, of which any bits are one.
unsafe impl PlainOldData for AdumbraAxis {}

/// A plane of the caller's for one scalar of the outputs. Lists hold this struct element by
/// element, so it never grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraOutputPlane {
    /// An `AdumbraPart`. Jumps change values alone.
    pub part: u32,
    /// The scalar, numbered as `adumbra_program_find` numbers the scalars of outputs.
    pub scalar: usize,
    /// Numbers of four bytes. The points go to every `stride`th one; those between them stay.
    pub plane: *mut c_void,
    /// How many numbers the plane has.
    pub capacity: usize,
    /// The distance of two points in the plane.
    pub stride: usize,
}

// SAFETY: numbers and a pointer, of which any bits are one.
unsafe impl PlainOldData for AdumbraOutputPlane {}

/// Options of the evaluation of a gradient through discontinuities. Zero everywhere is the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraJumpOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// The most threads that evaluate points, up to 1024; 0 for one, the caller's. With more than
    /// one, callbacks of the host run on several at once.
    pub threads: u32,
    /// Options of the evaluators of each thread; may be NULL.
    pub batch: *const AdumbraBatchOptions,
    /// The number, among all points, of the point with which the planes of the globals begin. Sums,
    /// reports and what callbacks get have these numbers; `first` counts from the planes' first.
    pub numbered_from: u64,
    /// An `AdumbraQuietRules`.
    pub quiet: u32,
    /// The width of the image whose pixels the points are, numbered line by line; 0 if they are
    /// none. The first axis then leads from a pixel to the next, the second from line to line, and
    /// a pixel that is the neighbour of several is evaluated once.
    pub image_width: u32,
    /// In an image, the first point whose globals may be read, as neighbours need them.
    pub planes_first: usize,
    /// In an image, the number of these points, among which are those that are evaluated; 0 for
    /// these alone. Neighbours outside are evaluated once for each point that they are beside.
    pub planes_points: usize,
}

// SAFETY: numbers and a pointer, of which zeros are some.
unsafe impl SizedStruct for AdumbraJumpOptions {}

/// How the points went, and what jumps did to their gradient.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraJumpReport {
    /// Bytes of this struct.
    pub size: u32,
    /// The number of points that see an edge.
    pub points: u64,
    /// The number of edges, once for each point that sees them, and each side of it.
    pub roots: u64,
    /// The number of points beside which some edges do not count.
    pub nullified: u64,
    /// The first of these points.
    pub first_nullified: u64,
    /// The number of points that a limit stopped.
    pub stopped: u64,
    /// The number of points that the host left waiting for a texture.
    pub pending: u64,
    /// The number of points with faults.
    pub faulty: u64,
    /// The first point with a fault.
    pub first_faulty: u64,
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraJumpReport {}

/// A point that has neighbours which decide otherwise. Lists hold this struct element by element,
/// so it never grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraJumpPoint {
    /// Its number among those that are evaluated, from 0.
    pub point: usize,
    /// The number of the axis that supplies its gradient, if `has_axis`.
    pub axis: usize,
    /// The number of neighbours that decide otherwise.
    pub flips: usize,
    /// The number of edges.
    pub roots: usize,
    /// The number of those that count: others are seen along another axis, or do not reach an
    /// output.
    pub counted: usize,
    /// The number of neighbours to which edges do not count.
    pub nullified: usize,
    /// 1 if one axis supplies its gradient: by `ADUMBRA_JUMP_RULES_PAIR` if a neighbour has exactly
    /// one edge, by `ADUMBRA_JUMP_RULES_EDGE` if all edges that count are along it.
    pub has_axis: u32,
}

// SAFETY: numbers, of which any bits are one.
unsafe impl PlainOldData for AdumbraJumpPoint {}

impl AdumbraJumpGradient {
    pub(crate) fn program(&self) -> &Arc<Program> {
        self.jumps.smooth().program()
    }
}

impl AdumbraJumpReport {
    fn new(report: &BatchReport, jumps: &JumpReport) -> AdumbraJumpReport {
        AdumbraJumpReport {
            size: 0,
            points: jumps.points as u64,
            roots: jumps.roots as u64,
            nullified: jumps.nullified as u64,
            first_nullified: jumps.first_nullified.unwrap_or(0) as u64,
            stopped: report.stopped as u64,
            pending: report.pending as u64,
            faulty: report.faulty as u64,
            first_faulty: report.first_fault().map_or(0, |(point, _)| point as u64),
        }
    }
}

impl From<JumpPoint> for AdumbraJumpPoint {
    fn from(point: JumpPoint) -> AdumbraJumpPoint {
        AdumbraJumpPoint {
            point: point.point,
            axis: point.axis.unwrap_or(0),
            flips: point.flips,
            roots: point.roots,
            counted: point.counted,
            nullified: point.nullified,
            has_axis: u32::from(point.axis.is_some()),
        }
    }
}

/// Memory for a report, which the caller may do without.
///
/// # Safety
/// As for [`out_struct`].
unsafe fn optional_report(
    report: Argument<*mut AdumbraJumpReport>,
) -> Result<Option<SizedOut<AdumbraJumpReport>>> {
    if report.value.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { out_struct(report) }.map(Some)
}

/// Makes the gradient of `program` through discontinuities, by `rules`, an `AdumbraJumpRules`,
/// along `count` axes, one to four. `request` may be NULL for its default, and is backward.
///
/// Why it is refused goes to `diagnostics`, and so do the places where the gradient ends that would
/// matter (W0518), equalities that count nothing (W0519), and axes along which nothing moves
/// (W0520). It is NULL afterwards if there are none; the pointer may be NULL for a host that does
/// not need them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_jump_gradient(
    program: *const AdumbraProgram,
    request: *const AdumbraGradientRequest,
    axes: *const AdumbraAxis,
    count: usize,
    rules: u32,
    jumps: *mut *mut AdumbraJumpGradient,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, diagnostics, program, request, axes) = unsafe {
            let (to, diagnostics) = (
                out_handle(arg!(jumps))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            let all = read_slice(arg!(axes), count)?.iter().enumerate();
            let all = all.map(|(at, axis)| {
                let global = arg!(axes).element(at, ()).field(".global", axis.global);
                Ok(Axis::new(read_name(global)?, axis.scalar, axis.spacing))
            });
            let axes: Vec<Axis> = all.collect::<Result<_>>()?;
            let request = read_request(&read_struct_or_default(arg!(request))?)?;
            (to, diagnostics, borrow(arg!(program))?, request, axes)
        };
        let rules = from_number(&[JumpRules::Pair, JumpRules::Edge], arg!(rules))?;
        match program.program.jump_gradient(&request, &axes, rules) {
            Ok(jumps) => {
                store_ends(diagnostics, jumps.ends(), jumps.smooth().program());
                store_handle(to, AdumbraJumpGradient { jumps });
                Ok(())
            }
            Err(found) => {
                store_diagnostics(diagnostics, found);
                Err(AdumbraStatus::Refused.into())
            }
        }
    })
}

/// The program of the gradient of the smooth parts, as `adumbra_program_gradient` makes it. Its
/// instances and the globals of its batches are those of the gradient through discontinuities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_smooth(
    jumps: *const AdumbraJumpGradient,
    gradient: *mut *mut AdumbraProgram,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, jumps) = unsafe { (out_handle(arg!(gradient))?, borrow(arg!(jumps))?) };
        let smooth = jumps.jumps.smooth().clone();
        store_handle(to, AdumbraProgram::of_gradient(smooth));
        Ok(())
    })
}

/// Whether the gradient by a value is 0 at every point, with jumps: 1, or 0. `index` is its number
/// for `adumbra_program_differentiated`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_is_zero(
    jumps: *const AdumbraJumpGradient,
    index: usize,
    is_zero: *mut u32,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (jumps, to) = unsafe { (borrow(arg!(jumps))?, borrow_out(arg!(is_zero))?) };
        let smooth = jumps.jumps.smooth();
        let (outputs, parameters) = (smooth.outputs().len(), smooth.parameters());
        if index >= outputs + parameters.len() {
            let count = outputs + parameters.len();
            return Err(arg!(index).beyond(count, "differentiated values"));
        }
        let parameter = index.checked_sub(outputs).map(|at| &parameters[at]);
        to.write(parameter.is_some_and(|by| jumps.jumps.is_zero(by)).into());
        Ok(())
    })
}

/// Evaluates points `first` to `first + points` of a batch, and writes outputs of the smooth
/// program to `count` planes, with what jumps add to those that are gradients. `instance` and
/// `globals` are of that program. `options`, `host` and `report` may be NULL. Planes may be
/// interleaved. Gradients by buffers are in sums, `adumbra_jump_gradient_sums`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_planes(
    jumps: *const AdumbraJumpGradient,
    instance: *const AdumbraInstance,
    options: *const AdumbraJumpOptions,
    globals: *const AdumbraBatchGlobals,
    first: usize,
    points: usize,
    planes: *const AdumbraOutputPlane,
    count: usize,
    host: *const AdumbraHost,
    report: *mut AdumbraJumpReport,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, given, evaluation, places) = unsafe {
            let to = optional_report(arg!(report))?;
            let given = read_slice(arg!(planes), count)?;
            let (jumps, instance, globals) = (arg!(jumps), arg!(instance), arg!(globals));
            let (options, number, host) = (arg!(options), arg!(points), arg!(host));
            let evaluation =
                Evaluation::new(jumps, instance, options, globals, first, number, host)?;
            let places = read_planes(arg!(planes).with(given), evaluation.program, points)?;
            (to, given, evaluation, places)
        };
        // The caller's planes may be interleaved, so that none is a slice of its own.
        let mut values = vec![vec![0_u32; points]; places.len()];
        let places = places.into_iter().zip(&mut values);
        let mut outputs: Vec<OutputPlane<'_>> = places
            .map(|((output, part, scalar), plane)| OutputPlane::new(output, part, scalar, plane, 1))
            .collect();
        let evaluate = |globals: &BatchGlobals<'_>, points| {
            let host = || evaluation.host.of_thread();
            evaluation.batch.planes(globals, points, &mut outputs, host)
        };
        // SAFETY: by the contract of the crate all planes may be read during this call.
        let done = unsafe { evaluation.lend(evaluate)? };
        let (_, went, found) = done.map_err(|error| match error {
            BatchError::Engine(error) => error.into(),
            error => arg!(planes).unfit(AdumbraStatus::WrongType, error),
        })?;
        for ((at, plane), values) in given.iter().enumerate().zip(values) {
            let start = arg!(planes).element(at, plane.plane.cast::<u32>());
            // SAFETY: by the contract of the crate the plane has that capacity, which was checked;
            // no other plane is written meanwhile.
            let words = unsafe { out_slice::<u32>(start, plane.capacity)? };
            for (point, value) in values.into_iter().enumerate() {
                words[point * plane.stride].write(value);
            }
        }
        if let Some(to) = to {
            to.write(AdumbraJumpReport::new(&went, &found));
        }
        Ok(())
    })
}

/// Sums outputs over points, as `adumbra_sums_new` does, with what jumps add to those that are
/// gradients, and to the gradients by buffers. `options`, `host` and `report` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_sums(
    jumps: *const AdumbraJumpGradient,
    instance: *const AdumbraInstance,
    options: *const AdumbraJumpOptions,
    globals: *const AdumbraBatchGlobals,
    first: usize,
    points: usize,
    outputs: *const *const c_char,
    count: usize,
    host: *const AdumbraHost,
    sums: *mut *mut AdumbraSums,
    report: *mut AdumbraJumpReport,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, to_report, evaluation, outputs_of) = unsafe {
            let (to, to_report) = (out_handle(arg!(sums))?, optional_report(arg!(report))?);
            let names = read_slice(arg!(outputs), count)?;
            let (jumps, instance, globals) = (arg!(jumps), arg!(instance), arg!(globals));
            let (options, points, host) = (arg!(options), arg!(points), arg!(host));
            let evaluation =
                Evaluation::new(jumps, instance, options, globals, first, points, host)?;
            let outputs_of = summed_outputs(arg!(outputs).with(names), evaluation.program)?;
            (to, to_report, evaluation, outputs_of)
        };
        let evaluate = |globals: &BatchGlobals<'_>, points| {
            let host = || evaluation.host.of_thread();
            evaluation.batch.sums(globals, points, &outputs_of, host)
        };
        // SAFETY: by the contract of the crate all planes may be read during this call.
        let done = unsafe { evaluation.lend(evaluate)? };
        let (all, went, found) = done.map_err(|error| match error {
            BatchError::Engine(error) => error.into(),
            error => arg!(outputs).unfit(AdumbraStatus::WrongType, error),
        })?;
        if let Some(to) = to_report {
            to.write(AdumbraJumpReport::new(&went, &found));
        }
        store_handle(to, AdumbraSums::new(all, went));
        Ok(())
    })
}

/// The points of a batch, of `first` to `first + points`, that have neighbours which decide
/// otherwise, in order. `options` and `host` may be NULL. `needed`, unless it is NULL, is their
/// number, also if the memory is too small; `points` are always enough.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_points(
    jumps: *const AdumbraJumpGradient,
    instance: *const AdumbraInstance,
    options: *const AdumbraJumpOptions,
    globals: *const AdumbraBatchGlobals,
    first: usize,
    points: usize,
    host: *const AdumbraHost,
    found: *mut AdumbraJumpPoint,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, evaluation) = unsafe {
            let to = out_buffer(arg!(found), capacity, arg!(needed))?;
            let (jumps, instance, globals) = (arg!(jumps), arg!(instance), arg!(globals));
            let (options, points, host) = (arg!(options), arg!(points), arg!(host));
            let evaluation =
                Evaluation::new(jumps, instance, options, globals, first, points, host)?;
            (to, evaluation)
        };
        let evaluate = |globals: &BatchGlobals<'_>, points| {
            let host = || evaluation.host.of_thread();
            evaluation.batch.points(globals, points, host)
        };
        // SAFETY: by the contract of the crate all planes may be read during this call.
        let found = unsafe { evaluation.lend(evaluate)?? };
        to.fill(found.into_iter().map(AdumbraJumpPoint::from))
    })
}

/// Frees a gradient through discontinuities. What was made of it lives on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_jump_gradient_free(jumps: *mut AdumbraJumpGradient) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_handle(arg!(jumps)) });
}
