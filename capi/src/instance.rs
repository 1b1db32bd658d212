//! Instances: a program with values for its parameters.

use crate::argument::{Argument, arg};
use crate::guard::{Locked, Result, guard, lock_blocking};
use crate::options::from_number;
use crate::pointer::{borrow, free_locked_handle, out_handle, read_name, read_words, store_handle};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use crate::variable::AdumbraType;
use adumbra::program::{BufferNumbers, MAX_BUFFER_NUMBERS};
use adumbra::{Instance, Scalar, access::AccessError, value::ValueView};
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

/// The scalar of a number of the caller's.
fn scalar_from_number(scalar: Argument<u32>) -> Result<Scalar> {
    let scalars = [Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::F32];
    // `ADUMBRA_TYPE_FLOAT3` is a type, but no scalar's.
    from_number(&scalars, scalar).map_err(|unknown| match scalar.value {
        0..=LAST_TYPE => {
            let what = format!("is {}, which is no type of scalars", scalar.value);
            scalar.error(AdumbraStatus::WrongType, what)
        }
        _ => unknown,
    })
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
        let named = scalar_from_number(arg!(scalar))?;
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

/// Sets the numbers of a buffer, element by element, which are copied: `count` of them, of type
/// `ADUMBRA_TYPE_FLOAT` for floats and vectors, or `ADUMBRA_TYPE_INT`. Until then it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_set_buffer(
    instance: *mut AdumbraInstance,
    name: *const c_char,
    scalar: u32,
    values: *const c_void,
    count: usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (instance, name, words) = unsafe {
            let words = read_words(arg!(values), count)?;
            (borrow(arg!(instance))?, read_name(arg!(name))?, words)
        };
        let named = scalar_from_number(arg!(scalar))?;
        let mut instance = lock_blocking(instance)?;
        let program = instance.program().clone();
        let buffer = program.buffers().find(|buffer| buffer.name == name);
        let buffer = buffer.ok_or_else(|| arg!(name).unknown(name, "buffer"))?;
        let (element, width) = (&buffer.element, buffer.width());
        if named != buffer.scalar() {
            let what = format!("is {scalar}, and a `buffer<{element}>` has none of that type");
            return Err(arg!(scalar).error(AdumbraStatus::WrongType, what));
        }
        if !count.is_multiple_of(width) {
            let what = format!("is {count}, and an element of `{element}` has {width} scalars");
            return Err(arg!(count).error(AdumbraStatus::Size, what));
        }
        let too_many = |most| {
            let what = format!("is {count}, and the buffer can have {most} scalars");
            arg!(count).error(AdumbraStatus::Size, what)
        };
        // Nothing is copied that no buffer can have.
        if count > MAX_BUFFER_NUMBERS {
            return Err(too_many(MAX_BUFFER_NUMBERS));
        }
        let words = words.iter().copied();
        let numbers = match named {
            Scalar::I32 => BufferNumbers::Ints(words.map(u32::cast_signed).collect()),
            _ => BufferNumbers::Floats(words.map(f32::from_bits).collect()),
        };
        instance
            .set_buffer(name, numbers)
            .map_err(|error| match error {
                AccessError::Length { most, .. } => too_many(most),
                error => arg!(values).unfit(AdumbraStatus::WrongType, error),
            })
    })
}

/// Frees an instance. Evaluators that were made of it live on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_instance_free(instance: *mut AdumbraInstance) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(instance)) });
}
