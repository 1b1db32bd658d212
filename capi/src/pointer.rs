//! What callers point at, looked at before it is touched: null, alignment, lengths, UTF-8. Whether the memory is there, they alone know.

use crate::guard::Result;
use crate::status::AdumbraStatus;
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::{Mutex, TryLockError};

/// The length of a text that ends with NUL.
pub const ADUMBRA_TO_NUL: usize = usize::MAX;

/// Types whose values C can point at in rows.
///
/// # Safety
/// Every pattern of bits is a value.
pub(crate) unsafe trait PlainOldData: Copy {}

// SAFETY: numbers and pointers, of which any bits are one.
unsafe impl PlainOldData for u8 {}
// SAFETY: as above.
unsafe impl PlainOldData for u32 {}
// SAFETY: as above.
unsafe impl PlainOldData for usize {}
// SAFETY: as above.
unsafe impl PlainOldData for f32 {}
// SAFETY: as above.
unsafe impl<T> PlainOldData for *const T {}

/// A pointer that is neither null nor misaligned.
pub(crate) fn check_pointer<T>(pointer: *const T) -> Result<NonNull<T>> {
    let pointer = NonNull::new(pointer.cast_mut()).ok_or(AdumbraStatus::Null)?;
    match pointer.is_aligned() {
        true => Ok(pointer),
        false => Err(AdumbraStatus::Misaligned),
    }
}

/// The address of so many values, unless no memory has so many.
fn row<T>(pointer: *const T, count: usize) -> Result<NonNull<T>> {
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
/// If it is neither null nor misaligned, it points at a `T` that lives as long as the call, and that nobody writes but behind a lock.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: as promised.
    Ok(unsafe { check_pointer(pointer)?.as_ref() })
}

/// Where a result goes.
///
/// # Safety
/// If it is neither null nor misaligned, it points at room for a `T` that nobody else uses during the call.
pub(crate) unsafe fn borrow_out<'a, T>(pointer: *mut T) -> Result<&'a mut MaybeUninit<T>> {
    // SAFETY: as promised; whether it holds a value already does not matter.
    Ok(unsafe { check_pointer(pointer)?.cast().as_mut() })
}

/// Where a result goes that the caller may do without.
///
/// # Safety
/// As for [`out`].
pub(crate) unsafe fn borrow_optional_out<'a, T>(
    pointer: *mut T,
) -> Result<Option<&'a mut MaybeUninit<T>>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised.
    unsafe { borrow_out(pointer) }.map(Some)
}

/// Values to be read. None of no address at all is none.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at so many values, which nobody writes during the call.
pub(crate) unsafe fn read_slice<'a, T: PlainOldData>(
    pointer: *const T,
    count: usize,
) -> Result<&'a [T]> {
    let start = row(pointer, count)?;
    // SAFETY: as promised; there can be memory of this size, and any bits are values.
    Ok(unsafe { slice::from_raw_parts(start.as_ptr(), count) })
}

/// Words of four bytes, whatever they mean.
///
/// # Safety
/// As for [`values`].
pub(crate) unsafe fn read_words<'a>(pointer: *const c_void, count: usize) -> Result<&'a [u32]> {
    // SAFETY: as promised.
    unsafe { read_slice(pointer.cast(), count) }
}

/// Where many results go. What was there is not asked, since the caller need not have set it, and not changed where no result goes.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points at memory for so many values that nobody else uses during the call.
pub(crate) unsafe fn out_slice<'a, T: PlainOldData>(
    pointer: *mut T,
    count: usize,
) -> Result<&'a mut [MaybeUninit<T>]> {
    let start = row(pointer, count)?;
    // SAFETY: as promised; there can be memory of this size, and it is not taken for set.
    Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr().cast(), count) })
}

/// A text that ends with NUL.
///
/// # Safety
/// If it is not null, it points at a text that ends with NUL and that nobody writes during the call.
pub(crate) unsafe fn read_name<'a>(pointer: *const c_char) -> Result<&'a str> {
    // SAFETY: as promised.
    let text = unsafe { CStr::from_ptr(check_pointer(pointer)?.as_ptr()) };
    text.to_str().map_err(|_| AdumbraStatus::NotUtf8)
}

/// A text that the caller may do without.
///
/// # Safety
/// As for [`name`].
pub(crate) unsafe fn read_optional_name<'a>(pointer: *const c_char) -> Result<Option<&'a str>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised.
    unsafe { read_name(pointer) }.map(Some)
}

/// A text of so many bytes, or one that ends with NUL.
///
/// # Safety
/// As for [`values`], and for [`name`] if the length is [`ADUMBRA_TO_NUL`].
pub(crate) unsafe fn read_string<'a>(pointer: *const c_char, length: usize) -> Result<&'a str> {
    if length == ADUMBRA_TO_NUL {
        // SAFETY: as promised.
        return unsafe { read_name(pointer) };
    }
    // SAFETY: as promised.
    let bytes = unsafe { read_slice::<u8>(pointer.cast(), length)? };
    str::from_utf8(bytes).map_err(|_| AdumbraStatus::NotUtf8)
}

/// Copies what the caller asked for into the buffer that it brought, if there is room, and says in any case how much is needed.
///
/// # Safety
/// The buffer as for [`buffer`], `needed` as for [`out`].
pub(crate) unsafe fn fill_buffer<T: PlainOldData>(
    from: &[T],
    to: *mut T,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    // SAFETY: as promised.
    unsafe { fill_buffer_from(from.iter().copied(), to, capacity, needed) }
}

/// The same for values that stand nowhere yet; they are counted first.
///
/// # Safety
/// As for [`fill`].
pub(crate) unsafe fn fill_buffer_from<T: PlainOldData>(
    from: impl Iterator<Item = T> + Clone,
    to: *mut T,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    // SAFETY: as promised.
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

/// The same for a text, with a NUL behind it, which counts.
///
/// # Safety
/// As for [`fill`].
pub(crate) unsafe fn fill_string(
    mut text: String,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Result {
    text.push('\0');
    // SAFETY: as promised.
    unsafe { fill_buffer(text.as_bytes(), buffer.cast(), capacity, needed) }
}

/// Where a handle goes: null until there is one.
///
/// # Safety
/// As for [`out`].
pub(crate) unsafe fn out_handle<'a, T>(pointer: *mut *mut T) -> Result<&'a mut *mut T> {
    // SAFETY: as promised.
    Ok(unsafe { borrow_out(pointer)? }.write(null_mut()))
}

/// The same for a handle that the caller may do without.
///
/// # Safety
/// As for [`out`].
pub(crate) unsafe fn optional_out_handle<'a, T>(
    pointer: *mut *mut T,
) -> Result<Option<&'a mut *mut T>> {
    // SAFETY: as promised.
    let place = unsafe { borrow_optional_out(pointer)? };
    Ok(place.map(|place| place.write(null_mut())))
}

/// Puts a handle where the caller wants it. Any thread may use it, which C cannot check and this bound does.
pub(crate) fn store_handle<T: Send + Sync>(to: &mut *mut T, value: T) {
    *to = Box::into_raw(Box::new(value));
}

/// Frees a handle that nothing can be using.
///
/// # Safety
/// It is null, or was made by [`give`] and not freed yet.
pub(crate) unsafe fn free_handle<T>(handle: *mut T) -> Result {
    if !handle.is_null() {
        check_pointer(handle)?;
        // SAFETY: as promised.
        drop(unsafe { Box::from_raw(handle) });
    }
    Ok(())
}

/// Frees a handle with a lock, unless it is being used.
///
/// # Safety
/// As for [`free`].
pub(crate) unsafe fn free_locked_handle<T, L>(handle: *mut T, lock: fn(&T) -> &Mutex<L>) -> Result {
    if !handle.is_null() {
        // SAFETY: as promised.
        let inside = unsafe { borrow(handle)? };
        if let Err(TryLockError::WouldBlock) = lock(inside).try_lock() {
            return Err(AdumbraStatus::Busy);
        }
    }
    // SAFETY: as promised.
    unsafe { free_handle(handle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_known_of_a_pointer_is_looked_at() {
        let numbers = [1_u32, 2, 3];
        let odd = numbers.as_ptr().wrapping_byte_add(2);
        assert_eq!(
            check_pointer::<u32>(std::ptr::null()),
            Err(AdumbraStatus::Null)
        );
        assert_eq!(check_pointer(odd), Err(AdumbraStatus::Misaligned));
        assert_eq!(row(odd, 2), Err(AdumbraStatus::Misaligned));
        for count in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4 + 1] {
            assert_eq!(row(numbers.as_ptr(), count), Err(AdumbraStatus::Size));
        }
        let last = std::ptr::without_provenance::<u32>(usize::MAX - 3);
        assert_eq!(row(last, 2), Err(AdumbraStatus::Size));
        assert!(row(std::ptr::null::<u32>(), 0).is_ok());
        assert!(row(numbers.as_ptr(), 3).is_ok());
    }
}
