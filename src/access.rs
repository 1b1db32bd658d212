//! Access by name to globals, inputs and outputs: the way to a place, why there is none, and slots, which remember it.

pub use adumbra_frontend::closest_name;

use crate::closure::ClosureView;
use crate::value::HostValue;
use adumbra_ir::Type;
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
        }
    }
}

impl std::error::Error for AccessError {}

impl AccessError {
    /// What that name stands for is of another type than what was meant.
    pub(crate) fn other_type(name: &str, has: &Type, given: &Type) -> AccessError {
        AccessError::Type {
            name: name.to_owned(),
            has: has.to_string(),
            given: given.to_string(),
        }
    }
}

/// Named values that stand one behind the other.
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

/// The scalars before what a path names, and its type. A path is a name, or a name and members of structs: `ray.origin`.
///
/// # Errors
/// If it leads nowhere.
pub(crate) fn find<'v>(
    values: &'v [impl Named],
    path: &str,
) -> Result<(usize, &'v Type), AccessError> {
    let name = path.split('.').next().unwrap_or_default();
    let names = values.iter().map(|value| value.named().0);
    let at = names.clone().position(|known| known == name);
    let at = at.ok_or_else(|| no_step(path, 0, name, names))?;
    let before = values[..at].iter().map(|value| value.named().1);
    let mut start: usize = before.map(Type::scalar_count).sum();
    let mut ty = values[at].named().1;
    let mut passed = name.len() + 1;
    for step in path.split('.').skip(1) {
        let (member, members) = match ty {
            Type::Struct(whole) => (whole.member(step), &whole.members[..]),
            _ => (None, &[][..]),
        };
        let names = members.iter().map(|(name, _)| name.as_str());
        let (before, inner) = member.ok_or_else(|| no_step(path, passed, step, names))?;
        (start, ty) = (start + before, inner);
        passed += step.len() + 1;
    }
    Ok((start, ty))
}

/// Why a path leads nowhere: the step behind so many of its bytes is none of those that could be taken there.
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

/// Tells lists of named values apart: those with the same names and types in the same order have the same one.
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

/// Where a global, an input or an output of type `T` stands, found once by its name, so that no point has to look for it.
/// It belongs to everything that has the same values: `Of` says of which kind, [`OfGlobals`], [`OfInputs`] or [`OfOutputs`].
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

/// Where a global stands: [`GlobalsLayout::slot`](crate::GlobalsLayout::slot).
pub type GlobalSlot<T> = Slot<OfGlobals, T>;

/// Where an input stands: [`Program::input_slot`](crate::TypedProgram::input_slot).
pub type InputSlot<T> = Slot<OfInputs, T>;

/// Where an output stands: [`Program::output_slot`](crate::TypedProgram::output_slot).
pub type OutputSlot<T> = Slot<OfOutputs, T>;

/// Where an output of type closure stands: [`Program::closure_slot`](crate::TypedProgram::closure_slot).
pub type ClosureSlot = OutputSlot<ClosureView<'static>>;

impl<Of, T> Slot<Of, T> {
    /// What a path names, as values of that type.
    pub(crate) fn of_type(
        values: &[impl Named],
        path: &str,
        ty: &Type,
    ) -> Result<Slot<Of, T>, AccessError> {
        Ok(Slot {
            scalars: find_typed(values, path, ty)?,
            signature: Fingerprint::of(values),
            marker: PhantomData,
        })
    }

    /// The scalars before it.
    ///
    /// # Panics
    /// If it was found among other values.
    pub(crate) fn offset(&self, signature: Fingerprint) -> usize {
        assert_eq!(
            self.signature, signature,
            "the slot was found among these values"
        );
        self.scalars
    }
}

impl<Of, T: HostValue> Slot<Of, T> {
    /// What a path names.
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
