//! Structs that begin with their size, so that caller and library may be of different versions.

use crate::argument::Argument;
use crate::guard::Result;
use crate::pointer::{Pointer, check_pointer};
use crate::status::AdumbraStatus;
use std::mem::MaybeUninit;
use std::ptr::{addr_of, copy_nonoverlapping};
use std::slice;

/// More bytes than any version of a struct will have; a larger size is refused.
const MAX_STRUCT: usize = 1 << 12;

/// A struct that begins with its size in bytes.
///
/// # Safety
/// It is `repr(C)`, its first field is a `u32`, and zeros in all bytes are a value.
pub(crate) unsafe trait SizedStruct: Copy {
    /// Bytes of its first version, which every caller has.
    const FIRST: usize = size_of::<Self>();
}

/// The size that the caller says it has. No reference is made to it, since it may be shorter than
/// ours.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at a size.
unsafe fn size_of_callers<P: Pointer<Target: SizedStruct>>(argument: Argument<P>) -> Result<usize> {
    // SAFETY: the caller promises a struct there, and a `u32` comes first.
    let size = unsafe { *check_pointer(argument)?.as_ptr().cast::<u32>() } as usize;
    let first = P::Target::FIRST;
    match (first..=MAX_STRUCT).contains(&size) {
        true => Ok(size),
        false => {
            let what = format!("has a size of {size}, which is not from {first} to {MAX_STRUCT}");
            Err(argument.error(AdumbraStatus::Size, what))
        }
    }
}

/// A struct of the caller's. Fields that its version lacks are zero. Bytes after our version must
/// be zero, since their meaning is unknown here.
///
/// # Safety
/// If the pointer is neither null nor misaligned, as many bytes may be read there as the struct's
/// size says.
pub(crate) unsafe fn read_struct<T: SizedStruct>(argument: Argument<*const T>) -> Result<T> {
    // SAFETY: the caller promises a struct there, which begins with its size.
    let size = unsafe { size_of_callers(argument)? };
    let pointer = argument.value.cast::<u8>();
    let ours = size.min(size_of::<T>());
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller promises `size` bytes, and the copy is at most as long as the value.
    let beyond = unsafe {
        copy_nonoverlapping(pointer, value.as_mut_ptr().cast(), ours);
        slice::from_raw_parts(pointer.add(ours), size - ours)
    };
    if beyond.iter().any(|&byte| byte != 0) {
        let what = format!("has bytes other than 0 after its first {ours}, all that are known");
        return Err(argument.error(AdumbraStatus::Size, what));
    }
    // SAFETY: zeros are a value, and the caller has set what it has.
    Ok(unsafe { value.assume_init() })
}

/// As [`read_struct`], and all zeros if the pointer is null.
///
/// # Safety
/// As for [`read_struct`].
pub(crate) unsafe fn read_struct_or_default<T: SizedStruct>(
    argument: Argument<*const T>,
) -> Result<T> {
    if argument.value.is_null() {
        // SAFETY: zeros are a value.
        return Ok(unsafe { MaybeUninit::zeroed().assume_init() });
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { read_struct(argument) }
}

/// A struct of the caller's to be filled, of the size that it has.
#[derive(Debug)]
pub(crate) struct SizedOut<T> {
    to: *mut T,
    size: usize,
}

/// Memory for a struct of the caller's size.
///
/// # Safety
/// If the pointer is neither null nor misaligned, there is memory for as many bytes as the struct
/// says. Its size is set, and nothing else uses the memory before the call ends, which is when the
/// result is gone.
pub(crate) unsafe fn out_struct<T: SizedStruct>(argument: Argument<*mut T>) -> Result<SizedOut<T>> {
    // SAFETY: the caller promises a struct there, which begins with its size.
    let size = unsafe { size_of_callers(argument)? };
    let to = argument.value;
    Ok(SizedOut { to, size })
}

impl<T: SizedStruct> SizedOut<T> {
    /// Fills it but for its size, which is the caller's; bytes after our version become zero.
    pub(crate) fn write(self, value: T) {
        let head = size_of::<u32>();
        let ours = self.size.min(size_of::<T>());
        let to = self.to.cast::<u8>();
        // SAFETY: the caller promised `size` bytes there, and the value has at least as many as are
        // copied.
        unsafe {
            let from = addr_of!(value).cast::<u8>();
            copy_nonoverlapping(from.add(head), to.add(head), ours - head);
            to.add(ours).write_bytes(0, self.size - ours);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Second {
        size: u32,
        first: u32,
        second: u32,
    }

    // SAFETY: three numbers, of which zeros are some.
    unsafe impl SizedStruct for Second {
        const FIRST: usize = 8;
    }

    #[repr(C)]
    struct Third {
        size: u32,
        rest: [u32; 3],
    }

    fn read_of(third: &Third) -> std::result::Result<Second, AdumbraStatus> {
        let argument = Argument::new("third", std::ptr::from_ref(third).cast::<Second>());
        // SAFETY: every size here is at most the struct's, or refused.
        unsafe { read_struct(argument) }.map_err(|error| error.status)
    }

    #[test]
    fn structs_of_other_versions_are_read() {
        let third = |size, rest| Third { size, rest };
        let value = read_of(&third(8, [1, 2, 3])).unwrap();
        assert_eq!((value.first, value.second), (1, 0));
        let value = read_of(&third(12, [1, 2, 3])).unwrap();
        assert_eq!((value.first, value.second), (1, 2));
        let value = read_of(&third(16, [1, 2, 0])).unwrap();
        assert_eq!((value.first, value.second), (1, 2));
        // Its option is not known here.
        assert_eq!(read_of(&third(16, [1, 2, 3])), Err(AdumbraStatus::Size));
        for size in [0, 4, 7, MAX_STRUCT as u32 + 1, u32::MAX] {
            assert_eq!(read_of(&third(size, [1, 2, 3])), Err(AdumbraStatus::Size));
        }
    }

    #[test]
    fn struct_of_callers_version_is_filled() {
        let value = Second {
            size: 99,
            first: 1,
            second: 2,
        };
        for (size, rest) in [(8, [1, 7, 7]), (12, [1, 2, 7]), (16, [1, 2, 0])] {
            let mut third = Third { size, rest: [7; 3] };
            let place = Argument::new("third", std::ptr::from_mut(&mut third).cast::<Second>());
            // SAFETY: the buffer has the capacity for each of these sizes.
            unsafe { out_struct(place) }.unwrap().write(value);
            assert_eq!((third.size, third.rest), (size, rest));
        }
    }
}
