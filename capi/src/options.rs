//! Limits of points, and the checks of numbers of an enumeration.

use crate::argument::Argument;
use crate::guard::Result;
use crate::sized_struct::{SizedStruct, read_struct_or_default};
use crate::status::AdumbraStatus;
use adumbra::{Limits, Program, batch::Part, derivatives::Corner, program::Output};

/// Value, ddx or ddy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraPart {
    /// The value itself.
    Value = 0,
    /// Its change per pixel along x.
    Ddx = 1,
    /// Its change per pixel along y.
    Ddy = 2,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraFormat {
    /// People.
    Text = 0,
    /// Programs: one JSON value.
    Json = 1,
}

/// A point of a quad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraCorner {
    /// The first point.
    UpperLeft = 0,
    /// One to the right of the first.
    UpperRight = 1,
    /// One below the first.
    LowerLeft = 2,
    /// One to the right and one below.
    LowerRight = 3,
}

/// The limits of a point's work, and of the points that may be suspended. Zero is the default
/// limit.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraLimits {
    /// Bytes of this struct.
    pub size: u32,
    /// Functions that may be active at once.
    pub call_depth: u32,
    /// Iterations of loops and calls of a point.
    pub steps: u64,
    /// Array elements that active functions may hold together.
    pub array_elements: u64,
    /// Nodes and argument words of a point's closures.
    pub closure_size: u32,
    /// Points of one evaluator that may be parked at once.
    pub parked: u32,
    /// Bytes that these may take together.
    pub parked_bytes: u64,
    /// Words that a point may keep for backward derivatives.
    pub kept_words: u64,
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraLimits {}

/// The one of an enumeration that a number of the caller's names; they are numbered from 0.
pub(crate) fn from_number<T: Copy>(all: &[T], number: Argument<u32>) -> Result<T> {
    let one = all.get(number.value as usize).copied();
    one.ok_or_else(|| {
        let what = format!(
            "is {}, which is not from 0 to {}",
            number.value,
            all.len() - 1
        );
        number.error(AdumbraStatus::InvalidValue, what)
    })
}

/// A flag, 0 or 1.
pub(crate) fn flag(number: Argument<u32>) -> Result<bool> {
    from_number(&[false, true], number)
}

pub(crate) fn part_from_number(number: Argument<u32>) -> Result<Part> {
    from_number(&Part::ALL, number)
}

/// The output that has a scalar, counted through all outputs, and the number of that scalar in it.
pub(crate) fn output_at(program: &Program, mut scalar: usize) -> Option<(&Output, usize)> {
    for output in program.outputs() {
        let count = output.ty.scalar_count();
        if scalar < count {
            return Some((output, scalar));
        }
        scalar -= count;
    }
    None
}

/// Requires that the program computes that part of an output.
pub(crate) fn check_part(part: Argument<Part>, program: &Program, output: &Output) -> Result {
    if part.value == Part::Value || program.output_derivatives() {
        return Ok(());
    }
    let what = format!(
        "asks for the derivatives of `{}`, and the program was compiled without `output_derivatives`",
        output.name
    );
    Err(part.error(AdumbraStatus::NoDerivatives, what))
}

pub(crate) fn corner_from_number(number: Argument<u32>) -> Result<Corner> {
    from_number(&Corner::ALL, number)
}

pub(crate) fn report_format(number: Argument<u32>) -> Result<AdumbraFormat> {
    from_number(&[AdumbraFormat::Text, AdumbraFormat::Json], number)
}

/// # Safety
/// As for [`read_struct_or_default`].
pub(crate) unsafe fn read_limits(limits: Argument<*const AdumbraLimits>) -> Result<Limits> {
    // SAFETY: the caller promises that `limits` is NULL or a struct of its size.
    let given = unsafe { read_struct_or_default(limits)? };
    fn or<T: Default + PartialEq>(given: T, limit: T) -> T {
        if given == T::default() { limit } else { given }
    }
    let limits = Limits::default();
    let elements = u32::try_from(given.array_elements).unwrap_or(u32::MAX);
    let kept = u32::try_from(given.kept_words).unwrap_or(u32::MAX);
    let bytes = usize::try_from(given.parked_bytes).unwrap_or(usize::MAX);
    Ok(Limits {
        steps: or(given.steps, limits.steps),
        call_depth: or(given.call_depth, limits.call_depth),
        array_elements: or(elements, limits.array_elements),
        closure_size: or(given.closure_size, limits.closure_size),
        kept_words: or(kept, limits.kept_words),
        parked: or(given.parked, limits.parked),
        parked_bytes: or(bytes, limits.parked_bytes),
    })
}
