//! Arguments of calls with their names, so that an error says which one is wrong.

use crate::error::CallError;
use crate::status::AdumbraStatus;
use std::fmt;

/// A value of the caller's, and the C expression that names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument<T> {
    pub(crate) value: T,
    place: Place,
}

/// The C expression of a value: `globals`, `options->limits`, `members[3].name`.
#[derive(Clone, Copy, Debug)]
struct Place {
    name: &'static str,
    index: Option<usize>,
    field: &'static str,
}

/// An argument by the name of its variable, or a field of the struct that an argument points at.
/// The variables have the names that the header gives the arguments.
macro_rules! arg {
    ($name:ident) => {
        $crate::argument::Argument::new(stringify!($name), $name)
    };
    ($whole:ident->$field:ident) => {
        $crate::argument::Argument::new(
            concat!(stringify!($whole), "->", stringify!($field)),
            $whole.$field,
        )
    };
}
pub(crate) use arg;

impl<T> Argument<T> {
    /// Use [`arg!`].
    pub(crate) fn new(name: &'static str, value: T) -> Argument<T> {
        let place = Place {
            name,
            index: None,
            field: "",
        };
        Argument { value, place }
    }

    /// Another view of the argument.
    pub(crate) fn with<U>(self, value: U) -> Argument<U> {
        let place = self.place;
        Argument { value, place }
    }

    /// A value in the array that the argument points at.
    pub(crate) fn element<U>(self, index: usize, value: U) -> Argument<U> {
        let index = Some(index);
        let place = Place {
            index,
            ..self.place
        };
        Argument { value, place }
    }

    /// A field of that element; `field` is as in `.name`.
    pub(crate) fn field<U>(self, field: &'static str, value: U) -> Argument<U> {
        let place = Place {
            field,
            ..self.place
        };
        Argument { value, place }
    }

    /// The error that this argument is wrong; `what` continues the sentence that its name begins.
    pub(crate) fn error(self, status: AdumbraStatus, what: impl fmt::Display) -> CallError {
        CallError::new(status, format!("`{}` {what}", self.place))
    }

    /// The error that the library refuses this argument, with its sentence.
    pub(crate) fn unfit(self, status: AdumbraStatus, error: impl fmt::Display) -> CallError {
        self.error(status, format!("does not fit: {error}"))
    }

    /// The error that the program, or the host, has no such thing.
    pub(crate) fn unknown(self, name: &str, kind: &str) -> CallError {
        let what = format!("is `{name}`, and there is no {kind} of that name");
        self.error(AdumbraStatus::UnknownName, what)
    }
}

impl Argument<usize> {
    /// The error that a list has fewer entries.
    pub(crate) fn beyond(self, count: usize, entries: &str) -> CallError {
        let what = format!("is {}, and the number of {entries} is {count}", self.value);
        self.error(AdumbraStatus::Index, what)
    }
}

impl<T> Argument<*const T> {
    pub(crate) fn cast<U>(self) -> Argument<*const U> {
        self.with(self.value.cast())
    }
}

impl<T> Argument<*mut T> {
    pub(crate) fn cast<U>(self) -> Argument<*mut U> {
        self.with(self.value.cast())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // C has other keywords than Rust.
        f.write_str(self.name.trim_start_matches("r#"))?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        f.write_str(self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_expressions_of_c() {
        struct Options {
            limits: u32,
        }
        let (r#type, options) = (1, Options { limits: 2 });
        assert_eq!(arg!(r#type).place.to_string(), "type");
        let limits = arg!(options->limits);
        assert_eq!(limits.place.to_string(), "options->limits");
        assert_eq!(
            limits.element(3, ()).place.to_string(),
            "options->limits[3]"
        );
        let name = arg!(r#type).element(3, ()).field(".name", ());
        assert_eq!(name.place.to_string(), "type[3].name");
        let error = limits.error(AdumbraStatus::Size, "is wrong");
        assert_eq!(error.message(), c"`options->limits` is wrong");
    }
}
