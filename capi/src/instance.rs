//! Instances: a program with values for its parameters.

use crate::argument::arg;
use crate::guard::{Locked, Result, guard, lock_blocking};
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

impl Locked for AdumbraInstance {
    type State = Instance;

    fn lock(&self) -> &Mutex<Instance> {
        &self.instance
    }
}

impl AdumbraInstance {
    pub(crate) fn get(&self) -> Result<Instance> {
        Ok(lock_blocking(self)?.clone())
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
        let (to, program) = unsafe { (out_handle(arg!(instance))?, borrow(arg!(program))?) };
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
            let words = read_words(arg!(values), count)?;
            (borrow(arg!(instance))?, read_name(arg!(path))?, words)
        };
        let scalars = [Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::F32];
        // `ADUMBRA_TYPE_FLOAT3` is a type, but no scalar's.
        let named = from_number(&scalars, arg!(scalar)).map_err(|unknown| match scalar {
            0..=LAST_TYPE => {
                let what = format!("is {scalar}, which is no type of scalars");
                arg!(scalar).error(AdumbraStatus::WrongType, what)
            }
            _ => unknown,
        })?;
        let mut instance = lock_blocking(instance)?;
        let program = instance.program().clone();
        let (_, ty) = program
            .find_input(path)
            .ok_or_else(|| arg!(path).unknown(path, "parameter"))?;
        let wrong_type = || {
            let what = format!("is {scalar}, and not all of `{ty}` is of that type");
            arg!(scalar).error(AdumbraStatus::WrongType, what)
        };
        let mut is_all_of_it = true;
        ty.for_each_scalar(&mut |has| is_all_of_it &= has == named);
        if !is_all_of_it {
            return Err(wrong_type());
        }
        if count != ty.scalar_count() {
            let what = format!(
                "is {count}, and the parameter has {} scalars",
                ty.scalar_count()
            );
            return Err(arg!(count).error(AdumbraStatus::Size, what));
        }
        let words = words.iter().map(|&word| match named {
            Scalar::Bool => u32::from(word != 0),
            _ => word,
        });
        let words: Vec<u32> = words.collect();
        let set = instance.set_view(path, ValueView::new(ty, &words));
        set.map_err(|_| wrong_type())
    })
}

/// Frees an instance. Evaluators that were made of it live on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_free(instance: *mut AdumbraInstance) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(instance)) });
}
