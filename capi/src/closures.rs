//! The closures that a host knows.

use crate::argument::arg;
use crate::guard::{Locked, Result, guard, lock_blocking};
use crate::pointer::{borrow, free_locked_handle, out_handle, read_name, read_slice, store_handle};
use crate::status::AdumbraStatus;
use crate::variable::type_from_number;
use adumbra::{
    Type,
    closure::{ClosureRegistry, RegistryError},
};
use std::ffi::c_char;
use std::sync::Mutex;

/// The closures that a host knows, with their parameters. A compiler that has such a list refuses
/// shaders that make others, or give them other arguments.
#[derive(Debug)]
pub struct AdumbraClosures {
    registry: Mutex<ClosureRegistry>,
}

impl Locked for AdumbraClosures {
    type State = ClosureRegistry;

    fn lock(&self) -> &Mutex<ClosureRegistry> {
        &self.registry
    }
}

impl AdumbraClosures {
    pub(crate) fn get(&self) -> Result<ClosureRegistry> {
        Ok(lock_blocking(self)?.clone())
    }
}

/// Makes a list without closures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_closures_new(
    closures: *mut *mut AdumbraClosures,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let to = unsafe { out_handle(arg!(closures))? };
        let registry = Mutex::default();
        store_handle(to, AdumbraClosures { registry });
        Ok(())
    })
}

/// Adds a closure with `count` parameters: names, and an `AdumbraType` each. Compilers that were
/// made before do not see it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_closures_add(
    closures: *mut AdumbraClosures,
    name: *const c_char,
    parameter_names: *const *const c_char,
    parameter_types: *const u32,
    parameters: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (closures, name, names, types) = unsafe {
            (
                borrow(arg!(closures))?,
                read_name(arg!(name))?,
                read_slice(arg!(parameter_names), parameters)?,
                read_slice(arg!(parameter_types), parameters)?,
            )
        };
        let given = names.iter().zip(types).enumerate();
        let given = given.map(|(at, (&name, &ty))| {
            let name = arg!(parameter_names).element(at, name);
            let ty = arg!(parameter_types).element(at, ty);
            // SAFETY: the names are strings that end with NUL, by the contract of the crate.
            Ok((unsafe { read_name(name)? }, type_from_number(ty)?))
        });
        let given: Vec<(&str, Type)> = given.collect::<Result<_>>()?;
        let mut registry = lock_blocking(closures)?;
        *registry = registry
            .clone()
            .with(name, &given)
            .map_err(|error| match error {
                RegistryError::Duplicate(_) => arg!(name).unfit(AdumbraStatus::Duplicate, error),
                RegistryError::DuplicateParameter(_) => {
                    arg!(parameter_names).unfit(AdumbraStatus::Duplicate, error)
                }
                RegistryError::Type(_) | RegistryError::Unregistered(_) => {
                    arg!(parameter_types).unfit(AdumbraStatus::WrongType, error)
                }
            })?;
        Ok(())
    })
}

/// Frees a list of closures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_closures_free(closures: *mut AdumbraClosures) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(closures)) });
}
