//! Globals of a batch: addresses of the caller's planes, which are read during an evaluation alone.

use crate::argument::{Argument, arg};
use crate::guard::{Locked, Result, guard, lock_or_busy};
use crate::options::part_from_number;
use crate::pointer::{
    borrow, free_locked_handle, out_handle, read_name, read_slice, read_words, store_handle,
};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use adumbra::{
    GlobalsLayout,
    batch::{BatchGlobals, Part},
    globals::GlobalMember,
};
use std::ffi::{c_char, c_void};
use std::sync::Mutex;

/// The globals of a batch. Every scalar of a global, and of its ddx and ddy, is uniform or comes
/// from a plane of the caller's. All are zero until set.
///
/// Planes are not copied. They are read while points are evaluated, and must be valid whenever an
/// evaluation uses this handle. Between evaluations the caller may write them, as from one tile of
/// an image to the next.
#[derive(Debug)]
pub struct AdumbraBatchGlobals {
    inside: Mutex<Inside>,
}

impl Locked for AdumbraBatchGlobals {
    type State = Inside;

    fn lock(&self) -> &Mutex<Inside> {
        &self.inside
    }
}

#[derive(Debug)]
pub(crate) struct Inside {
    layout: GlobalsLayout,
    /// One for each word of the layout.
    words: Vec<Word>,
    /// Memory for the globals that an evaluation borrows; absent while one runs.
    kept: Option<BatchGlobals<'static>>,
}

/// The source of the values of one word.
#[derive(Clone, Copy, Debug)]
enum Word {
    Same(u32),
    Plane {
        start: *const u32,
        count: usize,
        stride: usize,
    },
}

// SAFETY: the address is the caller's, which promised that any thread that evaluates may read the
// plane.
unsafe impl Send for Word {}

/// Lends the globals to an evaluation of points up to `end`, by a program with that layout.
///
/// # Safety
/// All planes may be read, and no thread writes them, until `evaluate` has returned.
pub(crate) unsafe fn lend(
    globals: Argument<&AdumbraBatchGlobals>,
    layout: &GlobalsLayout,
    end: usize,
    evaluate: impl FnOnce(&BatchGlobals<'_>),
) -> Result {
    let mut inside = lock_or_busy(globals)?;
    if inside.layout != *layout {
        let what = "was made for a program with other globals";
        return Err(globals.error(AdumbraStatus::WrongGlobals, what));
    }
    if let Some(what) = inside.short_plane(end) {
        return Err(globals.error(AdumbraStatus::Size, what));
    }
    let mut lent: BatchGlobals<'_> = match inside.kept.take() {
        Some(kept) => kept,
        None => BatchGlobals::new(layout),
    };
    for (at, &word) in inside.words.iter().enumerate() {
        match word {
            Word::Same(value) => lent.uniform_word(at, value),
            Word::Plane {
                start,
                count,
                stride,
            } => {
                // SAFETY: the caller promises that the plane may be read; address and length were
                // checked when it was set.
                let plane = unsafe { read_slice(globals.with(start), count)? };
                lent.plane_word(at, plane, stride);
            }
        }
    }
    evaluate(&lent);
    inside.kept = Some(lent.without_planes());
    Ok(())
}

impl Word {
    /// Whether it has values for `count` points.
    fn reaches(self, points: usize) -> bool {
        let (Word::Plane { count, stride, .. }, Some(last)) = (self, points.checked_sub(1)) else {
            return true;
        };
        last.checked_mul(stride).is_some_and(|at| at < count)
    }
}

/// The words of a part of a global among those of the layout.
fn words_of(member: &GlobalMember, part: Part) -> std::ops::Range<usize> {
    let start = match part {
        Part::Value => member.value_offset(),
        Part::Ddx => member.ddx_offset(),
        Part::Ddy => member.ddy_offset(),
    };
    start / 4..start / 4 + member.ty().scalar_count()
}

impl Inside {
    fn find(&self, name: Argument<&str>) -> Result<&GlobalMember> {
        let member = self.layout.member(name.value);
        member.ok_or_else(|| name.unknown(name.value, "global"))
    }

    /// Which plane is too short for that number of points, in words.
    fn short_plane(&self, points: usize) -> Option<String> {
        let short = self.words.iter().position(|word| !word.reaches(points))?;
        let found = self.layout.members().iter().find_map(|member| {
            let parts = Part::ALL.into_iter();
            let mut ranges = parts.map(|part| (part, words_of(member, part)));
            let (part, range) = ranges.find(|(_, range)| range.contains(&short))?;
            Some((member.name(), part, short - range.start))
        });
        let (name, part, scalar) = found?;
        let part = match part {
            Part::Value => "value",
            Part::Ddx => "ddx",
            Part::Ddy => "ddy",
        };
        let plane = format!("scalar {scalar} of the {part} of `{name}`");
        Some(format!(
            "has a plane that is too short for {points} points: {plane}"
        ))
    }
}

/// Makes the globals of a batch for a program: all zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_globals_new(
    program: *const AdumbraProgram,
    globals: *mut *mut AdumbraBatchGlobals,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, program) = unsafe { (out_handle(arg!(globals))?, borrow(arg!(program))?) };
        let layout = program.program.globals().clone();
        let inside = Inside {
            words: vec![Word::Same(0); layout.size() / 4],
            kept: None,
            layout,
        };
        let inside = Mutex::new(inside);
        store_handle(to, AdumbraBatchGlobals { inside });
        Ok(())
    })
}

/// Takes value, ddx or ddy (`part` is an `AdumbraPart`) of one scalar of a global from a plane of
/// `count` numbers of four bytes: that of the first point, then every `stride`th one. With a stride
/// of 0 all points have the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_globals_plane(
    globals: *mut AdumbraBatchGlobals,
    name: *const c_char,
    part: u32,
    scalar: usize,
    plane: *const c_void,
    count: usize,
    stride: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (globals, name) = unsafe {
            read_words(arg!(plane), count)?;
            (borrow(arg!(globals))?, read_name(arg!(name))?)
        };
        let mut inside = lock_or_busy(arg!(globals))?;
        let range = words_of(inside.find(arg!(name))?, part_from_number(arg!(part))?);
        let word = range.start.saturating_add(scalar);
        if !range.contains(&word) {
            return Err(arg!(scalar).beyond(range.len(), "scalars of the global"));
        }
        inside.words[word] = Word::Plane {
            start: plane.cast(),
            count,
            stride,
        };
        Ok(())
    })
}

/// Sets value, ddx or ddy (`part` is an `AdumbraPart`) of a global for all points: all of its
/// scalars, `count` numbers of four bytes, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_globals_uniform(
    globals: *mut AdumbraBatchGlobals,
    name: *const c_char,
    part: u32,
    values: *const c_void,
    count: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (globals, name, values) = unsafe {
            (
                borrow(arg!(globals))?,
                read_name(arg!(name))?,
                read_words(arg!(values), count)?,
            )
        };
        let mut inside = lock_or_busy(arg!(globals))?;
        let range = words_of(inside.find(arg!(name))?, part_from_number(arg!(part))?);
        if range.len() != count {
            let what = format!("is {count}, and the global has {} scalars", range.len());
            return Err(arg!(count).error(AdumbraStatus::Size, what));
        }
        for (word, &value) in inside.words[range].iter_mut().zip(values) {
            *word = Word::Same(value);
        }
        Ok(())
    })
}

/// Takes all globals from an array of `points` structs, each as `adumbra_evaluator_evaluate` takes
/// those of one point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_globals_points(
    globals: *mut AdumbraBatchGlobals,
    array: *const c_void,
    points: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let globals = unsafe { borrow(arg!(globals))? };
        let mut inside = lock_or_busy(arg!(globals))?;
        let stride = inside.words.len();
        let count = points.saturating_mul(stride);
        // SAFETY: address and length were checked; `lend` reads under the contract of the crate.
        let whole = unsafe { read_words(arg!(array), count)? };
        for (at, word) in inside.words.iter_mut().enumerate() {
            let plane = whole.get(at..).unwrap_or_default();
            *word = Word::Plane {
                start: plane.as_ptr(),
                count: plane.len(),
                stride,
            };
        }
        Ok(())
    })
}

/// Frees the globals of a batch. Its planes are the caller's. Those that are being used, as by the
/// callback that calls this, are not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_batch_globals_free(globals: *mut AdumbraBatchGlobals) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(globals)) });
}
