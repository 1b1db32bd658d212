//! Access by name to globals, inputs and outputs: paths, errors, and slots, which remember a
//! location.

pub use adumbra_frontend::closest_name;

use crate::closure::ClosureView;
use crate::value::{HostValue, OutputValue};
use adumbra_ir::Type;
use adumbra_ir::module::{Buffer, BufferId};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::marker::PhantomData;

/// Why something named cannot be set or read: a global, an input or an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessError {
    /// There is nothing of that name.
    Unknown {
        /// The name.
        name: String,
        /// The name that was probably meant.
        closest: Option<String>,
    },
    /// It has another type.
    Type {
        /// Its name.
        name: String,
        /// The type that it has.
        has: String,
        /// The type that was meant.
        given: String,
    },
    /// It has fewer scalars.
    Scalar {
        /// Its name.
        name: String,
        /// The scalar that was meant, counted from 0.
        scalar: usize,
        /// The type that it has.
        has: String,
    },
    /// A buffer cannot have that many numbers.
    Length {
        /// Its name.
        name: String,
        /// How many numbers were given.
        numbers: usize,
        /// How many an element has.
        width: usize,
        /// The most that there can be.
        most: usize,
    },
    /// Its program was compiled without
    /// [`output_derivatives`](crate::Options::output_derivatives), so none were computed.
    NoDerivatives {
        /// The name of the output.
        name: String,
    },
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Unknown { name, closest } => {
                write!(f, "there is no `{name}`")?;
                match closest {
                    Some(closest) => write!(f, "; did you mean `{closest}`?"),
                    None => Ok(()),
                }
            }
            AccessError::Type { name, has, given } => {
                write!(f, "`{name}` is of type `{has}`, not `{given}`")
            }
            AccessError::Scalar { name, scalar, has } => {
                write!(
                    f,
                    "`{name}` is of type `{has}`, which has no scalar {scalar}"
                )
            }
            AccessError::Length {
                name,
                numbers,
                width,
                most,
            } => match numbers > most {
                true => write!(f, "`{name}` can have {most} numbers, not {numbers}"),
                false => write!(
                    f,
                    "an element of `{name}` has {width} numbers, and {numbers} are no whole elements"
                ),
            },
            AccessError::NoDerivatives { name } => write!(
                f,
                "the derivatives of `{name}` were not computed: its program was compiled without `output_derivatives`"
            ),
        }
    }
}

impl std::error::Error for AccessError {}

impl AccessError {
    /// The named value is of another type than the one requested.
    pub(crate) fn other_type(name: &str, has: &Type, given: &Type) -> AccessError {
        AccessError::Type {
            name: name.to_owned(),
            has: has.to_string(),
            given: given.to_string(),
        }
    }
}

/// The buffer of that name, which the host sets.
///
/// # Errors
/// If there is none.
pub(crate) fn find_buffer(buffers: &[Buffer], name: &str) -> Result<BufferId, AccessError> {
    let own = (0..).map(BufferId).zip(buffers);
    let own = own.filter(|(_, buffer)| !buffer.is_sum());
    let named = own.clone().find(|(_, buffer)| buffer.name == name);
    let known = own.map(|(_, buffer)| buffer.name.as_str());
    named.map(|(id, _)| id).ok_or_else(|| AccessError::Unknown {
        name: name.to_owned(),
        closest: closest_name(name, known).map(str::to_owned),
    })
}

/// Named values whose scalars follow each other.
pub(crate) trait Named {
    /// A value's name and type.
    fn named(&self) -> (&str, &Type);
}

impl Named for adumbra_ir::module::Input {
    fn named(&self) -> (&str, &Type) {
        (&self.name, &self.ty)
    }
}

impl Named for adumbra_ir::module::Output {
    fn named(&self) -> (&str, &Type) {
        (&self.name, &self.ty)
    }
}

/// The scalars before what a path names, and its type. A path is a name, or a name and members of
/// structs: `ray.origin`.
///
/// # Errors
/// If it leads nowhere.
pub(crate) fn find<'v>(
    values: &'v [impl Named],
    path: &str,
) -> Result<(usize, &'v Type), AccessError> {
    let names = values.iter().map(|value| value.named().0);
    // Names of derivatives may have dots: `d(ray.origin)`.
    let whole = names.clone().find(|known| *known == path);
    let name = whole.or(path.split('.').next()).unwrap_or_default();
    let at = names.clone().position(|known| known == name);
    let at = at.ok_or_else(|| no_step(path, 0, name, names))?;
    let before = values[..at].iter().map(|value| value.named().1);
    let mut start: usize = before.map(Type::scalar_count).sum();
    let mut ty = values[at].named().1;
    let mut passed = name.len();
    while let Some(rest) = path[passed..].strip_prefix('.') {
        passed += 1;
        let step = rest.split('.').next().unwrap_or_default();
        let (member, members) = match ty {
            Type::Struct(whole) => (whole.member(step), &whole.members[..]),
            _ => (None, &[][..]),
        };
        let names = members.iter().map(|(name, _)| name.as_str());
        let (before, inner) = member.ok_or_else(|| no_step(path, passed, step, names))?;
        (start, ty) = (start + before, inner);
        passed += step.len();
    }
    Ok((start, ty))
}

/// The error of a path: the step after its first `at` bytes names nothing.
fn no_step<'n>(
    path: &str,
    passed: usize,
    step: &str,
    known: impl Iterator<Item = &'n str>,
) -> AccessError {
    AccessError::Unknown {
        name: path.to_owned(),
        closest: closest_name(step, known).map(|meant| path[..passed].to_owned() + meant),
    }
}

/// The scalars before what a path names, which is to be of that type.
///
/// # Errors
/// If it leads nowhere, or to another type.
pub(crate) fn find_typed(
    values: &[impl Named],
    path: &str,
    ty: &Type,
) -> Result<usize, AccessError> {
    let (start, has) = find(values, path)?;
    if has != ty {
        return Err(AccessError::other_type(path, has, ty));
    }
    Ok(start)
}

/// A fingerprint of a list of named values: lists with the same names and types in the same order
/// have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn of(values: &[impl Named]) -> Fingerprint {
        Fingerprint::of_hashes(values.iter().map(Named::named))
    }

    pub(crate) fn of_hashes(values: impl Iterator<Item = impl Hash>) -> Fingerprint {
        let mut hasher = DefaultHasher::new();
        values.for_each(|value| value.hash(&mut hasher));
        Fingerprint(hasher.finish())
    }
}

/// The location of a global, an input or an output of type `T`, found once by its name, so that no
/// point has to search for it. It is valid wherever the values are the same. `Of` says of which
/// kind they are: [`OfGlobals`], [`OfInputs`] or [`OfOutputs`].
pub struct Slot<Of, T> {
    scalars: usize,
    signature: Fingerprint,
    marker: PhantomData<fn() -> (Of, T)>,
}

/// Kind of slot: in the host's globals.
#[derive(Debug)]
pub enum OfGlobals {}

/// Kind of slot: in the inputs of an instance.
#[derive(Debug)]
pub enum OfInputs {}

/// Kind of slot: in the outputs of an evaluator.
#[derive(Debug)]
pub enum OfOutputs {}

/// The location of a global: [`GlobalsLayout::slot`](crate::GlobalsLayout::slot).
pub type GlobalSlot<T> = Slot<OfGlobals, T>;

/// The location of an input: [`Program::input_slot`](crate::Program::input_slot).
pub type InputSlot<T> = Slot<OfInputs, T>;

/// The location of an output, or with `T` a [`Dual`](crate::Dual) of an output and its derivatives:
/// [`Program::output_slot`](crate::Program::output_slot).
pub type OutputSlot<T> = Slot<OfOutputs, T>;

/// The location of an output of type closure:
/// [`Program::closure_slot`](crate::Program::closure_slot).
pub type ClosureSlot = OutputSlot<ClosureView<'static>>;

impl<Of, T> Slot<Of, T> {
    /// The location of the values that a path names, if they are of that type.
    pub(crate) fn of_type(
        values: &[impl Named],
        path: &str,
        ty: &Type,
    ) -> Result<Slot<Of, T>, AccessError> {
        Ok(Slot::at(find_typed(values, path, ty)?, values))
    }

    /// The location after that many scalars of the values.
    pub(crate) fn at(scalars: usize, values: &[impl Named]) -> Slot<Of, T> {
        Slot {
            scalars,
            signature: Fingerprint::of(values),
            marker: PhantomData,
        }
    }

    /// The scalars before it.
    ///
    /// # Panics
    /// If it was found among other values.
    pub(crate) fn offset(&self, signature: Fingerprint) -> usize {
        assert!(
            self.signature == signature,
            "the slot was found in another program or layout"
        );
        self.scalars
    }
}

impl<T: OutputValue> OutputSlot<T> {
    /// The scalars before it among the outputs of a program with that signature, which computes
    /// their derivatives or not.
    ///
    /// # Panics
    /// If it was found among other outputs, or has derivatives that the program does not compute.
    pub(crate) fn output(&self, signature: Fingerprint, computes_derivatives: bool) -> usize {
        assert!(
            computes_derivatives || !T::HAS_DERIVATIVES,
            "the slot has derivatives, and the program was compiled without `output_derivatives`"
        );
        self.offset(signature)
    }
}

impl<Of, T: HostValue> Slot<Of, T> {
    /// The offset and type of the value that a path names.
    pub(crate) fn find(values: &[impl Named], path: &str) -> Result<Slot<Of, T>, AccessError> {
        Slot::of_type(values, path, &T::ty())
    }
}

impl<Of, T> Clone for Slot<Of, T> {
    fn clone(&self) -> Slot<Of, T> {
        *self
    }
}

impl<Of, T> Copy for Slot<Of, T> {}

impl<Of, T> fmt::Debug for Slot<Of, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").field(&self.scalars).finish()
    }
}
