//! The result code of the C functions.

use std::ffi::{CStr, c_char};

/// The result code of a call. Any but `ADUMBRA_STATUS_OK` says why nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraStatus {
    /// It was done.
    Ok = 0,
    /// A pointer is NULL that must not be.
    Null = 1,
    /// A pointer is not aligned for what it should point at.
    Misaligned = 2,
    /// A size, a length or a count is wrong, or larger than there can be.
    Size = 3,
    /// The buffer is too small; the needed size was stored.
    BufferTooSmall = 4,
    /// A string is not UTF-8.
    NotUtf8 = 5,
    /// There is nothing of that name.
    UnknownName = 6,
    /// The name, or the point, is there already.
    Duplicate = 7,
    /// It has another type, or can have no such type.
    WrongType = 8,
    /// There is nothing of that number.
    Index = 9,
    /// A number names none of its enumeration.
    InvalidValue = 10,
    /// The source, the bytecode or the request is at fault; the diagnostics say how.
    Refused = 11,
    /// This machine cannot do it: instructions or machine code for another processor.
    Unavailable = 12,
    /// The handle is being used, by another thread or by the evaluation that calls back.
    Busy = 13,
    /// No point waits for a texture.
    NotSuspended = 14,
    /// As many points are parked as the limits allow, or the memory that they allow is full.
    TooManyParked = 15,
    /// The point was parked by an evaluator of another instance, engine or limits.
    WrongEvaluator = 16,
    /// Points are not evaluated in quads, or not in whole ones.
    Quads = 17,
    /// The globals are not those that the program was compiled for.
    WrongGlobals = 18,
    /// A bug in the library: it panicked, now or in an earlier call on the handle, which cannot be
    /// used after it.
    Panicked = 19,
    /// The derivatives of outputs were not computed: the program was compiled without
    /// `output_derivatives`.
    NoDerivatives = 20,
}

impl AdumbraStatus {
    /// Every status.
    pub(crate) const ALL: [AdumbraStatus; 21] = [
        AdumbraStatus::Ok,
        AdumbraStatus::Null,
        AdumbraStatus::Misaligned,
        AdumbraStatus::Size,
        AdumbraStatus::BufferTooSmall,
        AdumbraStatus::NotUtf8,
        AdumbraStatus::UnknownName,
        AdumbraStatus::Duplicate,
        AdumbraStatus::WrongType,
        AdumbraStatus::Index,
        AdumbraStatus::InvalidValue,
        AdumbraStatus::Refused,
        AdumbraStatus::Unavailable,
        AdumbraStatus::Busy,
        AdumbraStatus::NotSuspended,
        AdumbraStatus::TooManyParked,
        AdumbraStatus::WrongEvaluator,
        AdumbraStatus::Quads,
        AdumbraStatus::WrongGlobals,
        AdumbraStatus::Panicked,
        AdumbraStatus::NoDerivatives,
    ];

    pub(crate) const fn message(self) -> &'static CStr {
        match self {
            AdumbraStatus::Ok => c"all is well",
            AdumbraStatus::Null => c"a pointer is NULL that must not be",
            AdumbraStatus::Misaligned => c"a pointer is not aligned for its type",
            AdumbraStatus::Size => c"a size or a length is wrong",
            AdumbraStatus::BufferTooSmall => c"the buffer is too small",
            AdumbraStatus::NotUtf8 => c"a string is not UTF-8",
            AdumbraStatus::UnknownName => c"there is nothing of that name",
            AdumbraStatus::Duplicate => c"the name, or the point, is there already",
            AdumbraStatus::WrongType => c"it has another type",
            AdumbraStatus::Index => c"there is nothing of that number",
            AdumbraStatus::InvalidValue => c"a number names none of its enumeration",
            AdumbraStatus::Refused => c"the source, or the request, is at fault; see the diagnostics",
            AdumbraStatus::Unavailable => c"it cannot be done on this machine or with this program",
            AdumbraStatus::Busy => c"the handle is being used",
            AdumbraStatus::NotSuspended => c"no point waits for a texture",
            AdumbraStatus::TooManyParked => c"too many points are parked, or too large ones",
            AdumbraStatus::WrongEvaluator => {
                c"the point was parked by an evaluator of another instance, engine or limits"
            }
            AdumbraStatus::Quads => c"the points are not evaluated in quads, or not in whole ones",
            AdumbraStatus::WrongGlobals => c"the globals are not the program's",
            AdumbraStatus::Panicked => c"a mistake in the library",
            AdumbraStatus::NoDerivatives => {
                c"the derivatives of outputs were not computed: the program was compiled without `output_derivatives`"
            }
        }
    }
}

/// The meaning of a status, for people; "no status" for other numbers. The string lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn adumbra_status_message(status: u32) -> *const c_char {
    let known = AdumbraStatus::ALL.into_iter();
    let text = known.map(AdumbraStatus::message).nth(status as usize);
    text.unwrap_or(c"no status").as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_messages_are_distinct() {
        let strings = AdumbraStatus::ALL.map(AdumbraStatus::message);
        for (number, status) in AdumbraStatus::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
            assert_eq!(
                adumbra_status_message(number as u32),
                strings[number].as_ptr()
            );
            assert!(!strings[..number].contains(&strings[number]));
        }
        for other in [AdumbraStatus::ALL.len() as u32, u32::MAX] {
            // SAFETY: the string is a constant that ends with NUL.
            let text = unsafe { CStr::from_ptr(adumbra_status_message(other)) };
            assert_eq!(text, c"no status");
        }
    }
}
