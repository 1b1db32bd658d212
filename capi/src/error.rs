//! Errors of calls: the status, and a sentence that names the argument that is wrong.

use crate::status::AdumbraStatus;
use adumbra::evaluator::EngineError;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// The reason why a call did nothing.
#[derive(Debug)]
pub(crate) struct CallError {
    pub(crate) status: AdumbraStatus,
    /// `None` if the status says all.
    message: Option<CString>,
}

impl CallError {
    pub(crate) fn new(status: AdumbraStatus, message: String) -> CallError {
        let message = Some(c_string(&message));
        CallError { status, message }
    }

    pub(crate) fn message(&self) -> &CStr {
        self.message.as_deref().unwrap_or(self.status.message())
    }

    /// Keeps the error for `adumbra_last_error`, and gives its status.
    pub(crate) fn keep(self) -> AdumbraStatus {
        let status = self.status;
        // A thread that ends has dropped its last error.
        let _ = LAST.try_with(|last| *last.borrow_mut() = Some(self));
        status
    }
}

impl From<AdumbraStatus> for CallError {
    fn from(status: AdumbraStatus) -> CallError {
        let message = None;
        CallError { status, message }
    }
}

impl From<EngineError> for CallError {
    fn from(error: EngineError) -> CallError {
        CallError::new(AdumbraStatus::Unavailable, error.to_string())
    }
}

/// A string for C. Bytes that would end it early are left out.
pub(crate) fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

thread_local! {
    static LAST: RefCell<Option<CallError>> = const { RefCell::new(None) };
}

/// Why the last call on this thread that did not give `ADUMBRA_STATUS_OK` did nothing: one
/// sentence, which names the argument that is wrong as the header does, as in "`members[3].name` is
/// NULL". It is empty if there was none. The string lives until the next such call on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn adumbra_last_error() -> *const c_char {
    let last = LAST.try_with(|last| {
        let last = last.borrow();
        last.as_ref().map(|error| error.message().as_ptr())
    });
    last.ok().flatten().unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the string ends with NUL, and is copied before the next call.
        let text = unsafe { CStr::from_ptr(adumbra_last_error()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn last_error_is_of_its_thread() {
        let on_new_thread = || std::thread::spawn(last).join().unwrap();
        assert_eq!(on_new_thread(), "");
        let error = CallError::new(AdumbraStatus::Null, "`a` is\0 NULL".to_owned());
        assert_eq!(error.keep(), AdumbraStatus::Null);
        assert_eq!(last(), "`a` is NULL");
        assert_eq!(on_new_thread(), "");
        CallError::from(AdumbraStatus::Busy).keep();
        assert_eq!(last(), AdumbraStatus::Busy.message().to_str().unwrap());
    }
}
