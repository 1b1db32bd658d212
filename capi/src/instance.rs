//! Instances: a program with values for its parameters.

use crate::guard::{Result, guard, lock_blocking};
use crate::options::from_number;
use crate::pointer::{borrow, free_locked_handle, out_handle, read_name, read_words, store_handle};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use crate::variable::AdumbraType;
use adumbra::{Instance, Scalar, value::ValueView};
use std::ffi::{c_char, c_void};
use std::sync::Mutex;

/// The highest number of a type.
const LAST_TYPE: u32 = AdumbraType::Struct as u32;

/// A program with values for its parameters: a material. Evaluators take a copy, so what is set
/// later does not reach them.
#[derive(Debug)]
pub struct AdumbraInstance {
    instance: Mutex<Instance>,
}

impl AdumbraInstance {
    pub(crate) fn get(&self) -> Result<Instance> {
        Ok(lock_blocking(&self.instance)?.clone())
    }
}

/// Makes an instance. Every parameter has the shader's default, or is zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_new(
    program: *const AdumbraProgram,
    instance: *mut *mut AdumbraInstance,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, program) = unsafe { (out_handle(instance)?, borrow(program)?) };
        let instance = Mutex::new(Instance::new(&program.program));
        store_handle(to, AdumbraInstance { instance });
        Ok(())
    })
}

/// Sets a parameter, or a member of one that is a struct, as in `ray.origin`: all of its scalars,
/// `count` numbers of four bytes, which are all of one type, `ADUMBRA_TYPE_FLOAT`, `_INT`, `_UINT`
/// or `_BOOL` (0 is false, all others are true).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_set(
    instance: *mut AdumbraInstance,
    path: *const c_char,
    scalar: u32,
    values: *const c_void,
    count: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (instance, path, words) = unsafe {
            let words = read_words(values, count)?;
            (borrow(instance)?, read_name(path)?, words)
        };
        let scalars = [Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::F32];
        // `ADUMBRA_TYPE_FLOAT3` is a type, but no scalar's.
        let scalar = from_number(&scalars, scalar).map_err(|unknown| match scalar {
            0..=LAST_TYPE => AdumbraStatus::WrongType,
            _ => unknown,
        })?;
        let mut instance = lock_blocking(&instance.instance)?;
        let program = instance.program().clone();
        let (_, ty) = program.find_input(path).ok_or(AdumbraStatus::UnknownName)?;
        let mut is_all_of_it = true;
        ty.for_each_scalar(&mut |has| is_all_of_it &= has == scalar);
        if !is_all_of_it {
            return Err(AdumbraStatus::WrongType);
        }
        if count != ty.scalar_count() {
            return Err(AdumbraStatus::Size);
        }
        let words = words.iter().map(|&word| match scalar {
            Scalar::Bool => u32::from(word != 0),
            _ => word,
        });
        let words: Vec<u32> = words.collect();
        let set = instance.set_view(path, ValueView::new(ty, &words));
        set.map_err(|_| AdumbraStatus::WrongType)
    })
}

/// Frees an instance. Evaluators that were made of it live on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_free(instance: *mut AdumbraInstance) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(instance, |instance| &instance.instance) });
}
