//! An evaluation of a gradient through discontinuities: its arguments checked, and its planes read.

use crate::argument::{Argument, arg};
use crate::batch::check_capacity;
use crate::batch_globals::{AdumbraBatchGlobals, lend};
use crate::batch_options::known_setup;
use crate::guard::Result;
use crate::host::{AdumbraHost, SharedCallbacks};
use crate::instance::AdumbraInstance;
use crate::jumps::{AdumbraJumpGradient, AdumbraJumpOptions, AdumbraOutputPlane};
use crate::options::{check_part, from_number, output_at, part_from_number};
use crate::pointer::{borrow, out_slice};
use crate::sized_struct::read_struct_or_default;
use crate::status::AdumbraStatus;
use crate::sums::{end_of, thread_count};
use adumbra::Program;
use adumbra::batch::{BatchGlobals, Part};
use adumbra::gradient::{JumpBatch, QuietRules};
use std::ops::Range;
use std::sync::Arc;

/// Points of a batch, and what evaluates them.
pub(crate) struct Evaluation<'a> {
    /// The smooth program.
    pub(crate) program: &'a Program,
    pub(crate) batch: JumpBatch,
    globals: Argument<&'a AdumbraBatchGlobals>,
    pub(crate) host: SharedCallbacks<'a>,
    points: Range<usize>,
    /// The end of the points whose globals are read.
    reaches: usize,
}

impl<'a> Evaluation<'a> {
    /// # Safety
    /// The contract of the crate: the handles live as long as the call. The options are NULL or a
    /// struct of its size, and `host` is, whose callbacks may run on as many threads as the options
    /// say.
    pub(crate) unsafe fn new(
        jumps: Argument<*const AdumbraJumpGradient>,
        instance: Argument<*const AdumbraInstance>,
        options: Argument<*const AdumbraJumpOptions>,
        globals: Argument<*const AdumbraBatchGlobals>,
        first: usize,
        points: Argument<usize>,
        host: Argument<*const AdumbraHost>,
    ) -> Result<Evaluation<'a>> {
        // SAFETY: this function's contract is that of `borrow`.
        let (jumps, instance, globals): (&AdumbraJumpGradient, _, _) = unsafe {
            let instance = instance.with(borrow(instance)?);
            let globals = globals.with(borrow(globals)?);
            (borrow(jumps)?, instance, globals)
        };
        let program = jumps.program();
        // SAFETY: this function's contract is that of all three.
        let (options, setup, host) = unsafe {
            let options = read_struct_or_default(options)?;
            let batch = read_struct_or_default(arg!(options->batch))?;
            let setup = known_setup(&batch, program)?;
            (options, setup, SharedCallbacks::new(host, program)?)
        };
        let threads = thread_count(arg!(options->threads))?;
        let quiet = [QuietRules::Smooth, QuietRules::Secants];
        let quiet = from_number(&quiet, arg!(options->quiet))?;
        let own = instance.value.get()?;
        if !Arc::ptr_eq(own.program(), program) {
            let what = "is of another program than the smooth one of `jumps`";
            return Err(instance.error(AdumbraStatus::WrongType, what));
        }
        if program.quad().is_some() {
            let what = "is of a program whose points are evaluated in quads";
            return Err(instance.error(AdumbraStatus::Quads, what));
        }
        let end = end_of(first, points, options.numbered_from)?;
        let mut planes = first..end;
        if options.image_width > 0 {
            if jumps.jumps.axes().len() < 2 {
                let what = "is not 0, and `jumps` has one axis, where an image has two";
                return Err(arg!(options->image_width).error(AdumbraStatus::InvalidValue, what));
            }
            if options.planes_points > 0 {
                let start = options.planes_first;
                let count = arg!(options->planes_points);
                planes = start..end_of(start, count, options.numbered_from)?;
                if points.value > 0 && (planes.start > first || planes.end < end) {
                    let what = format!(
                        "says that there are points {} to {}, and {first} to {end} are evaluated",
                        planes.start, planes.end
                    );
                    return Err(count.error(AdumbraStatus::Size, what));
                }
            }
        }
        let reaches = if points.value == 0 { 0 } else { planes.end };
        let batch = JumpBatch::new(&jumps.jumps, &own)
            .setup(setup)
            .threads(threads)
            .numbered_from(options.numbered_from)
            .quiet(quiet)
            .image(options.image_width as usize, planes);
        Ok(Evaluation {
            program,
            batch,
            globals,
            host,
            points: first..end,
            reaches,
        })
    }

    /// Lends the globals to an evaluation.
    ///
    /// # Safety
    /// As for [`lend`].
    pub(crate) unsafe fn lend<T>(
        &self,
        evaluate: impl FnOnce(&BatchGlobals<'_>, Range<usize>) -> T,
    ) -> Result<T> {
        let mut done = None;
        let evaluate = |globals: &BatchGlobals<'_>| {
            done = Some(evaluate(globals, self.points.clone()));
        };
        // SAFETY: this function's contract is that of `lend`.
        unsafe { lend(self.globals, self.program.globals(), self.reaches, evaluate)? };
        Ok(done.expect("the globals were lent"))
    }
}

/// The output, the part and the scalar of each plane of the caller's, with its memory checked.
///
/// # Safety
/// The planes are memory as for [`out_slice`].
pub(crate) unsafe fn read_planes<'p>(
    planes: Argument<&[AdumbraOutputPlane]>,
    program: &'p Program,
    points: usize,
) -> Result<Vec<(&'p str, Part, usize)>> {
    let mut places = Vec::with_capacity(planes.value.len());
    for (at, plane) in planes.value.iter().enumerate() {
        let element = planes.element(at, ());
        let scalar = element.field(".scalar", plane.scalar);
        let part = part_from_number(element.field(".part", plane.part))?;
        let Some((output, of_it)) = output_at(program, plane.scalar) else {
            let outputs = program.outputs().iter();
            let count = outputs.map(|output| output.ty.scalar_count()).sum();
            return Err(scalar.beyond(count, "scalars of outputs"));
        };
        check_part(element.field(".part", part), program, output)?;
        let capacity = element.field(".capacity", plane.capacity);
        // SAFETY: this function's contract is that of `out_slice`.
        unsafe { out_slice::<u32>(element.field(".plane", plane.plane.cast()), plane.capacity)? };
        check_capacity(capacity, plane.stride, points)?;
        places.push((output.name.as_str(), part, of_it));
    }
    Ok(places)
}
