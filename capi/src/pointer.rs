//! Checks of the caller's pointers before they are used: null, alignment, lengths, UTF-8. Only the
//! caller knows whether the memory is valid.

use crate::guard::Result;
use crate::status::AdumbraStatus;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::{Mutex, TryLockError};

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
// SAFETY: a raw pointer, of which any bits are one.
unsafe impl<T> PlainOldData for *const T {}

/// A pointer that is neither null nor misaligned.
pub(crate) fn check_pointer<T>(pointer: *const T) -> Result<NonNull<T>> {
    let pointer = NonNull::new(pointer.cast_mut()).ok_or(AdumbraStatus::Null)?;
    match pointer.is_aligned() {
        true => Ok(pointer),
        false => Err(AdumbraStatus::Misaligned),
    }
}

/// The address of `count` values, unless no memory has that many.
fn check_slice<T>(pointer: *const T, count: usize) -> Result<NonNull<T>> {
    if count == 0 {
        return Ok(NonNull::dangling());
    }
    let start = check_pointer(pointer)?;
    let bytes = count.checked_mul(size_of::<T>());
    let bytes = bytes.filter(|&bytes| isize::try_from(bytes).is_ok());
    let end = bytes.and_then(|bytes| start.addr().get().checked_add(bytes));
    end.map(|_| start).ok_or(AdumbraStatus::Size)
}

/// A handle, or a value to be read.
///
/// # Safety
/// If it is neither null nor misaligned, it points at a `T` that lives as long as the call, and
/// that changes only under a lock.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: it is neither null nor misaligned, so the caller promises a `T` there.
    Ok(unsafe { check_pointer(pointer)?.as_ref() })
}

/// Memory for a result.
///
/// # Safety
/// If it is neither null nor misaligned, it points at memory for a `T` that nothing else uses
/// during the call.
pub(crate) unsafe fn borrow_out<'a, T>(pointer: *mut T) -> Result<&'a mut MaybeUninit<T>> {
    // SAFETY: it is neither null nor misaligned, so the caller promises memory for a `T`; it need
    // not be initialised.
    Ok(unsafe { check_pointer(pointer)?.cast().as_mut() })
}

/// Memory for a result that the caller may do without.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn borrow_optional_out<'a, T>(
    pointer: *mut T,
) -> Result<Option<&'a mut MaybeUninit<T>>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { borrow_out(pointer) }.map(Some)
}

/// Values to be read. For a count of 0 the pointer may be anything.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at `count` values, which do not change
/// during the call.
pub(crate) unsafe fn read_slice<'a, T: PlainOldData>(
    pointer: *const T,
    count: usize,
) -> Result<&'a [T]> {
    let start = check_slice(pointer, count)?;
    // SAFETY: the caller promises `count` values; the size was checked, and any bits are values.
    Ok(unsafe { slice::from_raw_parts(start.as_ptr(), count) })
}

/// Words of four bytes of any type.
///
/// # Safety
/// As for [`read_slice`].
pub(crate) unsafe fn read_words<'a>(pointer: *const c_void, count: usize) -> Result<&'a [u32]> {
    // SAFETY: this function's contract is that of `read_slice`.
    unsafe { read_slice(pointer.cast(), count) }
}

/// The caller's memory for many results. It may be uninitialised, and does not change where no
/// result goes.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at memory for `count` values that
/// nothing else uses during the call.
pub(crate) unsafe fn out_slice<'a, T: PlainOldData>(
    pointer: *mut T,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>]> {
    let start = check_slice(pointer, count)?;
    // SAFETY: the caller promises memory for `count` values; the size was checked, and it need not
    // be initialised.
    Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr().cast(), count) })
}

/// A string that ends with NUL.
///
/// # Safety
/// If it is not null, it points at a string that ends with NUL and does not change during the call.
pub(crate) unsafe fn read_name<'a>(pointer: *const c_char) -> Result<&'a str> {
    // SAFETY: it is not null, so the caller promises a string that ends with NUL.
    let text = unsafe { CStr::from_ptr(check_pointer(pointer)?.as_ptr()) };
    text.to_str().map_err(|_| AdumbraStatus::NotUtf8)
}

/// A string that the caller may do without.
///
/// # Safety
/// As for [`read_name`].
pub(crate) unsafe fn read_optional_name<'a>(pointer: *const c_char) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not null; the rest is this function's contract.
    unsafe { read_name(pointer) }.map(Some)
}

/// A string of `length` bytes, or one that ends with NUL.
///
/// # Safety
/// As for [`read_slice`], and for [`read_name`] if the length is [`ADUMBRA_TO_NUL`].
pub(crate) unsafe fn read_string<'a>(pointer: *const c_char, length: usize) -> Result<&'a str> {
    if length == ADUMBRA_TO_NUL {
        // SAFETY: for this length, this function's contract is that of `read_name`.
        return unsafe { read_name(pointer) };
    }
    // SAFETY: for any other length, this function's contract is that of `read_slice`.
    let bytes = unsafe { read_slice::<u8>(pointer.cast(), length)? };
    str::from_utf8(bytes).map_err(|_| AdumbraStatus::NotUtf8)
}

/// Copies values into the caller's buffer if its capacity suffices, and reports in any case how
/// much is needed.
///
/// # Safety
/// The buffer as for [`out_slice`], `needed` as for [`borrow_out`].
pub(crate) unsafe fn fill_buffer<T: PlainOldData>(
    from: &[T],
    to: *mut T,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    // SAFETY: this function's contract is that of `fill_buffer_from`.
    unsafe { fill_buffer_from(from.iter().copied(), to, capacity, needed) }
}

/// Copies values that an iterator yields, like [`fill_buffer`]; they are counted first.
///
/// # Safety
/// As for [`fill_buffer`].
pub(crate) unsafe fn fill_buffer_from<T: PlainOldData>(
    from: impl Iterator<Item = T> + Clone,
    to: *mut T,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    // SAFETY: this function's contract has that of `out_slice` for `to`, of `borrow_optional_out`
    // for `needed`.
    let (to, needed) = unsafe { (out_slice(to, capacity)?, borrow_optional_out(needed)?) };
    let count = from.clone().count();
    if let Some(needed) = needed {
        needed.write(count);
    }
    let to = to.get_mut(..count).ok_or(AdumbraStatus::BufferTooSmall)?;
    for (to, value) in to.iter_mut().zip(from) {
        to.write(value);
    }
    Ok(())
}

/// Copies a string, with a NUL at its end, which counts.
///
/// # Safety
/// As for [`fill_buffer`].
pub(crate) unsafe fn fill_string(
    mut text: String,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    text.push('\0');
    // SAFETY: this function's contract is that of `fill_buffer`.
    unsafe { fill_buffer(text.as_bytes(), buffer.cast(), capacity, needed) }
}

/// Memory for a handle, set to null until there is one.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn out_handle<'a, T>(pointer: *mut *mut T) -> Result<&'a mut *mut T> {
    // SAFETY: this function's contract is that of `borrow_out`.
    Ok(unsafe { borrow_out(pointer)? }.write(null_mut()))
}

/// Memory for a handle that the caller may do without, set to null.
///
/// # Safety
/// As for [`borrow_out`].
pub(crate) unsafe fn optional_out_handle<'a, T>(
    pointer: *mut *mut T,
) -> Result<Option<&'a mut *mut T>> {
    // SAFETY: this function's contract is that of `borrow_optional_out`.
    let place = unsafe { borrow_optional_out(pointer)? };
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
pub(crate) unsafe fn free_handle<T>(handle: *mut T) -> Result {
    if !handle.is_null() {
        check_pointer(handle)?;
        // SAFETY: neither null nor misaligned; the caller promises that it came from
        // `Box::into_raw` and was not freed.
        drop(unsafe { Box::from_raw(handle) });
    }
    Ok(())
}

/// Frees a handle with a lock, unless it is being used.
///
/// # Safety
/// As for [`free_handle`].
pub(crate) unsafe fn free_locked_handle<T, L>(handle: *mut T, lock: fn(&T) -> &Mutex<L>) -> Result {
    if !handle.is_null() {
        // SAFETY: it is not null, and the caller promises that it is a handle.
        let inside = unsafe { borrow(handle)? };
        if let Err(TryLockError::WouldBlock) = lock(inside).try_lock() {
            return Err(AdumbraStatus::Busy);
        }
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
        let odd = numbers.as_ptr().wrapping_byte_add(2);
        assert_eq!(
            check_pointer::<u32>(std::ptr::null()),
            Err(AdumbraStatus::Null)
        );
        assert_eq!(check_pointer(odd), Err(AdumbraStatus::Misaligned));
        assert_eq!(check_slice(odd, 2), Err(AdumbraStatus::Misaligned));
        for count in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4 + 1] {
            assert_eq!(
                check_slice(numbers.as_ptr(), count),
                Err(AdumbraStatus::Size)
            );
        }
        let last = std::ptr::without_provenance::<u32>(usize::MAX - 3);
        assert_eq!(check_slice(last, 2), Err(AdumbraStatus::Size));
        assert!(check_slice(std::ptr::null::<u32>(), 0).is_ok());
        assert!(check_slice(numbers.as_ptr(), 3).is_ok());
    }
}
