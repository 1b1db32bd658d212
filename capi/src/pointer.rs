//! Checks of the caller's pointers before they are used: null, alignment, lengths, UTF-8. Only the
//! caller knows whether the memory is valid.

use crate::argument::Argument;
use crate::guard::{Locked, Result, busy};
use crate::status::AdumbraStatus;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::TryLockError;

/// The length of a string that ends with NUL.
pub const ADUMBRA_TO_NUL: usize = usize::MAX;

/// Types of which C can pass arrays.
///
/// # Safety
/// Every pattern of bits is a value.
pub(crate) unsafe trait PlainOldData: Copy {}

// SAFETY: numbers and pointers, of which any bits are one.
unsafe impl PlainOldData for u8 {}
// SAFETY: a number, of which any bits are one.
unsafe impl PlainOldData for u32 {}
// SAFETY: a number, of which any bits are one.
unsafe impl PlainOldData for usize {}
// SAFETY: a number, of which any bits are one.
unsafe impl PlainOldData for f32 {}
// SAFETY: a number, of which any bits are one.
unsafe impl PlainOldData for f64 {}
// SAFETY: a raw pointer, of which any bits are one.
unsafe impl<T> PlainOldData for *const T {}

/// A pointer of C.
pub(crate) trait Pointer: Copy {
    type Target;

    fn address(self) -> *mut Self::Target;
}

impl<T> Pointer for *const T {
    type Target = T;

    fn address(self) -> *mut T {
        self.cast_mut()
    }
}

impl<T> Pointer for *mut T {
    type Target = T;

    fn address(self) -> *mut T {
        self
    }
}

/// A pointer that is neither null nor misaligned.
pub(crate) fn check_pointer<P: Pointer>(argument: Argument<P>) -> Result<NonNull<P::Target>> {
    let pointer = NonNull::new(argument.value.address());
    let pointer = pointer.ok_or_else(|| argument.error(AdumbraStatus::Null, "is NULL"))?;
    match pointer.is_aligned() {
        true => Ok(pointer),
        false => {
            let bytes = align_of::<P::Target>();
            let what = format!("is {pointer:p}, which is not a multiple of {bytes}");
            Err(argument.error(AdumbraStatus::Misaligned, what))
        }
    }
}

/// The address of `count` values, unless no memory has that many.
fn check_slice<P: Pointer>(argument: Argument<P>, count: usize) -> Result<NonNull<P::Target>> {
    if count == 0 {
        return Ok(NonNull::dangling());
    }
    let start = check_pointer(argument)?;
    let bytes = count.checked_mul(size_of::<P::Target>());
    let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    let end = bytes.and_then(|bytes| start.addr().get().checked_add(bytes));
    end.map(|_| start).ok_or_else(|| {
        let what = format!("has {count} values, for which no memory suffices");
        argument.error(AdumbraStatus::Size, what)
    })
}

/// A handle, or a value to be read.
///
/// # Safety
/// If it is neither null nor misaligned, it points at a value that lives as long as the call, and
/// that changes only under a lock.
pub(crate) unsafe fn borrow<'a, P: Pointer>(argument: Argument<P>) -> Result<&'a P::Target> {
    // SAFETY: it is neither null nor misaligned, so the caller promises a value there.
    Ok(unsafe { check_pointer(argument)?.as_ref() })
}

/// A handle, or a value to be read, that the caller may do without.
///
/// # Safety
/// As for [`borrow`].
pub(crate) unsafe fn borrow_optional<'a, P: Pointer>(
    argument: Argument<P>,
) -> Result<Option<&'a P::Target>> {
    if argument.value.address().is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { borrow(argument) }.map(Some)
}

/// Memory for a result.
///
/// # Safety
/// If it is neither null nor misaligned, it points at memory for a `T` that nothing else uses
/// during the call.
pub(crate) unsafe fn borrow_out<'a, T>(
    argument: Argument<*mut T>,
) -> Result<&'a mut MaybeUninit<T>> {
    // SAFETY: it is neither null nor misaligned, so the caller promises memory for a `T`; it need
    // not be initialised.
    Ok(unsafe { check_pointer(argument)?.cast().as_mut() })
}

/// Memory for a result that the caller may do without.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn borrow_optional_out<'a, T>(
    argument: Argument<*mut T>,
) -> Result<Option<&'a mut MaybeUninit<T>>> {
    if argument.value.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { borrow_out(argument) }.map(Some)
}

/// Values to be read. For a count of 0 the pointer may be anything.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at `count` values, which do not change
/// during the call.
pub(crate) unsafe fn read_slice<'a, T: PlainOldData>(
    argument: Argument<*const T>,
    count: usize,
) -> Result<&'a [T]> {
    let start = check_slice(argument, count)?;
    // SAFETY: the caller promises `count` values; the size was checked, and any bits are values.
    Ok(unsafe { slice::from_raw_parts(start.as_ptr(), count) })
}

/// Words of four bytes of any type.
///
/// # Safety
/// As for [`read_slice`].
pub(crate) unsafe fn read_words<'a>(
    argument: Argument<*const c_void>,
    count: usize,
) -> Result<&'a [u32]> {
    // SAFETY: this function's contract is that of `read_slice`.
    unsafe { read_slice(argument.cast(), count) }
}

/// The caller's memory for many results. It may be uninitialised, and does not change where no
/// result goes.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at memory for `count` values that
/// nothing else uses during the call.
pub(crate) unsafe fn out_slice<'a, T: PlainOldData>(
    argument: Argument<*mut T>,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>]> {
    let start = check_slice(argument, count)?;
    // SAFETY: the caller promises memory for `count` values; the size was checked, and it need not
    // be initialised.
    Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr().cast(), count) })
}

/// Bytes as a string.
fn utf8<T>(argument: Argument<T>, bytes: &[u8]) -> Result<&str> {
    str::from_utf8(bytes).map_err(|error| {
        let what = format!("is not UTF-8 at byte {}", error.valid_up_to());
        argument.error(AdumbraStatus::NotUtf8, what)
    })
}

/// A string that ends with NUL.
///
/// # Safety
/// If it is not null, it points at a string that ends with NUL and does not change during the call.
pub(crate) unsafe fn read_name<'a>(argument: Argument<*const c_char>) -> Result<&'a str> {
    // SAFETY: it is not null, so the caller promises a string that ends with NUL.
    let text = unsafe { CStr::from_ptr(check_pointer(argument)?.as_ptr()) };
    utf8(argument, text.to_bytes())
}

/// A string that the caller may do without.
///
/// # Safety
/// As for [`read_name`].
pub(crate) unsafe fn read_optional_name<'a>(
    argument: Argument<*const c_char>,
) -> Result<Option<&'a str>> {
    if argument.value.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { read_name(argument) }.map(Some)
}

/// A string of `length` bytes, or one that ends with NUL.
///
/// # Safety
/// As for [`read_slice`], and for [`read_name`] if the length is [`ADUMBRA_TO_NUL`].
pub(crate) unsafe fn read_string<'a>(
    argument: Argument<*const c_char>,
    length: usize,
) -> Result<&'a str> {
    if length == ADUMBRA_TO_NUL {
        // SAFETY: for this length, this function's contract is that of `read_name`.
        return unsafe { read_name(argument) };
    }
    // SAFETY: for any other length, this function's contract is that of `read_slice`.
    let bytes = unsafe { read_slice::<u8>(argument.cast(), length)? };
    utf8(argument, bytes)
}

/// The caller's buffer for a list, and memory for the length of that list.
#[derive(Debug)]
pub(crate) struct Buffer<'a, T> {
    to: Argument<&'a mut [MaybeUninit<T>]>,
    needed: Option<&'a mut MaybeUninit<usize>>,
}

/// A buffer of `capacity` values. The caller may do without the length.
///
/// # Safety
/// The buffer as for [`out_slice`], `needed` as for [`borrow_out`].
pub(crate) unsafe fn out_buffer<'a, T: PlainOldData>(
    to: Argument<*mut T>,
    capacity: usize,
    needed: Argument<*mut usize>,
) -> Result<Buffer<'a, T>> {
    // SAFETY: this function's contract has that of `out_slice` for `to`, of `borrow_optional_out`
    // for `needed`.
    let (memory, needed) = unsafe { (out_slice(to, capacity)?, borrow_optional_out(needed)?) };
    let to = to.with(memory);
    Ok(Buffer { to, needed })
}

impl<T: PlainOldData> Buffer<'_, T> {
    /// How many values there is space for.
    pub(crate) fn capacity(&self) -> usize {
        self.to.value.len()
    }

    /// Copies values if the capacity suffices, and reports in any case how much is needed. They are
    /// counted first.
    pub(crate) fn fill(self, from: impl Iterator<Item = T> + Clone) -> Result {
        let count = from.clone().count();
        if let Some(needed) = self.needed {
            needed.write(count);
        }
        let capacity = self.to.value.len();
        if count > capacity {
            let what = format!("has a capacity of {capacity}, and {count} is needed");
            return Err(self.to.error(AdumbraStatus::BufferTooSmall, what));
        }
        for (to, value) in self.to.value.iter_mut().zip(from) {
            to.write(value);
        }
        Ok(())
    }
}

impl Buffer<'_, u8> {
    /// Copies a string, with a NUL at its end, which counts.
    pub(crate) fn fill_string(self, text: &str) -> Result {
        self.fill(text.bytes().chain([0]))
    }
}

/// Memory for a handle, set to null until there is one.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn out_handle<'a, T>(argument: Argument<*mut *mut T>) -> Result<&'a mut *mut T> {
    // SAFETY: this function's contract is that of `borrow_out`.
    Ok(unsafe { borrow_out(argument)? }.write(null_mut()))
}

/// Memory for a handle that the caller may do without, set to null.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn optional_out_handle<'a, T>(
    argument: Argument<*mut *mut T>,
) -> Result<Option<&'a mut *mut T>> {
    // SAFETY: this function's contract is that of `borrow_optional_out`.
    let place = unsafe { borrow_optional_out(argument)? };
    Ok(place.map(|place| place.write(null_mut())))
}

/// Stores a handle for the caller. Any thread may use it, which C cannot check and this bound does.
pub(crate) fn store_handle<T: Send + Sync>(to: &mut *mut T, value: T) {
    *to = Box::into_raw(Box::new(value));
}

/// Frees a handle that nothing can be using.
///
/// # Safety
/// It is null, or was made by [`store_handle`] and not freed yet.
pub(crate) unsafe fn free_handle<T>(handle: Argument<*mut T>) -> Result {
    if !handle.value.is_null() {
        check_pointer(handle)?;
        // SAFETY: neither null nor misaligned; the caller promises that it came from
        // `Box::into_raw` and was not freed.
        drop(unsafe { Box::from_raw(handle.value) });
    }
    Ok(())
}

/// Frees a handle with a lock, unless it is being used.
///
/// # Safety
/// As for [`free_handle`].
pub(crate) unsafe fn free_locked_handle<T: Locked>(handle: Argument<*mut T>) -> Result {
    // SAFETY: the caller promises that it is null or a handle.
    if let Some(inside) = unsafe { borrow_optional(handle)? }
        && let Err(TryLockError::WouldBlock) = inside.lock().try_lock()
    {
        return Err(busy(handle));
    }
    // SAFETY: no other call has its lock; the rest is this function's contract.
    unsafe { free_handle(handle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_pointers_and_lengths_are_refused() {
        let numbers = [1_u32, 2, 3];
        let all = numbers.as_ptr();
        let pointer = |p: *const u32| check_pointer(Argument::new("p", p)).map_err(|e| e.status);
        let slice = |p: *const u32, count| {
            let checked = check_slice(Argument::new("p", p), count);
            checked.map(drop).map_err(|error| error.status)
        };
        let odd = all.wrapping_byte_add(2);
        assert_eq!(pointer(std::ptr::null()), Err(AdumbraStatus::Null));
        assert_eq!(pointer(odd), Err(AdumbraStatus::Misaligned));
        assert_eq!(slice(odd, 2), Err(AdumbraStatus::Misaligned));
        for count in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4 + 1] {
            assert_eq!(slice(all, count), Err(AdumbraStatus::Size));
        }
        let last = std::ptr::without_provenance::<u32>(usize::MAX - 3);
        assert_eq!(slice(last, 2), Err(AdumbraStatus::Size));
        assert_eq!(slice(std::ptr::null(), 0), Ok(()));
        assert_eq!(slice(all, 3), Ok(()));
    }
}
