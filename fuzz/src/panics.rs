//! Panics of what is checked: caught, with their messages, on any number of threads.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread is within [`watched`].
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    /// The message of its last panic there, also of one that was caught within the call.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes a call; gives its result, none if it panicked, and the message of a panic within it.
pub fn watched<T>(call: impl FnOnce() -> T) -> (Option<T>, Option<String>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| match IS_WATCHED.get() {
            true => MESSAGE.with(|last| *last.borrow_mut() = Some(info.to_string())),
            false => others(info),
        }));
    });
    IS_WATCHED.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_WATCHED.set(false);
    (result.ok(), MESSAGE.with(|last| last.borrow_mut().take()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_reported_also_if_caught_within() {
        assert_eq!(watched(|| 7), (Some(7), None));
        let (result, message) = watched(|| panic!("so"));
        assert!(result.is_none_or(|()| false) && message.is_some_and(|why| why.contains("so")));
        let (result, message) = watched(|| catch_unwind(|| panic!("within")).is_err());
        assert!(result == Some(true) && message.is_some_and(|why| why.contains("within")));
        assert_eq!(watched(|| 7), (Some(7), None));
    }
}
