//! Gradients of programs, and what they are of and by.

use crate::argument::{Argument, arg};
use crate::diagnostics::{AdumbraDiagnostics, sources_of, store_diagnostics};
use crate::guard::{Result, guard};
use crate::options::{flag, from_number};
use crate::pointer::{
    borrow, borrow_out, optional_out_handle, out_handle, read_name, read_slice, store_handle,
};
use crate::program::AdumbraProgram;
use crate::sized_struct::{self, SizedStruct, read_struct_or_default};
use crate::status::AdumbraStatus;
use crate::variable::AdumbraList;
use adumbra::gradient::{
    DerivativePlace, DifferentiatedValue, GradientRequest, Mode, ParameterKind,
};
use adumbra::{Diagnostic, Diagnostics, Program};
use std::ffi::c_char;
use std::mem::offset_of;
use std::ptr::null;

/// The mode of a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraGradientMode {
    /// The host gives cotangents, a weight for each number of the outputs, and gets the gradient by
    /// each parameter.
    Backward = 0,
    /// The host gives tangents, a direction among the parameters, and gets those of the outputs,
    /// their change along it.
    Forward = 1,
}

/// The gradient that a program is asked for. Zero everywhere is that of all outputs by all inputs,
/// backward.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraGradientRequest {
    /// Bytes of this struct.
    pub size: u32,
    /// An `AdumbraGradientMode`.
    pub mode: u32,
    /// Names of the outputs that it is of.
    pub of: *const *const c_char,
    /// The number of these names; 0 for all outputs that have floats.
    pub of_count: usize,
    /// Names of inputs that it is by.
    pub inputs: *const *const c_char,
    /// The number of these names.
    pub input_count: usize,
    /// Names of globals that it is by.
    pub globals: *const *const c_char,
    /// The number of these names.
    pub global_count: usize,
    /// 1 for all inputs that have floats. If nothing else says what it is by, it is by these.
    pub all_inputs: u32,
    /// 1 for all globals that have floats and are read.
    pub all_globals: u32,
    /// Names of buffers that it is by.
    pub buffers: *const *const c_char,
    /// The number of these names.
    pub buffer_count: usize,
    /// 1 for all buffers that have floats and are read.
    pub all_buffers: u32,
    /// Names of textures that it is by.
    pub textures: *const *const c_char,
    /// The number of these names.
    pub texture_count: usize,
    /// 1 for all textures.
    pub all_textures: u32,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraGradientRequest {
    // The first versions had no buffers.
    const FIRST: usize = offset_of!(AdumbraGradientRequest, buffers);
}

/// A value that the gradient of a program is of or by, and the place of its derivative in that
/// program.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraDifferentiated {
    /// Bytes of this struct.
    pub size: u32,
    /// The `AdumbraList` that has the value: `ADUMBRA_LIST_OUTPUTS` if the gradient is of it,
    /// `ADUMBRA_LIST_PARAMETERS`, `ADUMBRA_LIST_GLOBALS`, `ADUMBRA_LIST_BUFFERS` or
    /// `ADUMBRA_LIST_TEXTURES` if it is by it.
    pub list: u32,
    /// Its number in that list.
    pub index: usize,
    /// Its name, which lives as long as the program.
    pub name: *const c_char,
    /// The `AdumbraList` that has its derivative: `ADUMBRA_LIST_OUTPUTS` if the program computes
    /// it, `ADUMBRA_LIST_GLOBALS` if the host gives it for each point, `ADUMBRA_LIST_BUFFERS` for a
    /// buffer, with the buffer itself if points add to a sum, `ADUMBRA_LIST_TEXTURES` for a texture
    /// of tangents, with the texture itself if the host gets adjoints.
    pub derivative_list: u32,
    /// 1 if the gradient by it is 0 at every point, since no derivative leads from it to an output.
    pub is_zero: u32,
    /// The number of the derivative in that list.
    pub derivative_index: usize,
    /// How many entries of that list it is, one after the other: one, or, where the host gives it,
    /// one for each element of an array and each member of a struct; 0 where points add it to a
    /// sum, which `adumbra_sums_buffer` gives, or the host adds up adjoints, `texture_adjoint`.
    pub derivative_count: usize,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraDifferentiated {}

/// # Safety
/// If the pointer is neither null nor misaligned, it points at `count` names, as
/// [`read_name`] reads them.
unsafe fn read_names<'a>(
    names: Argument<*const *const c_char>,
    count: usize,
) -> Result<Vec<&'a str>> {
    // SAFETY: this function's contract is that of both.
    unsafe {
        let all = read_slice(names, count)?.iter().enumerate();
        all.map(|(at, &name)| read_name(names.element(at, name)))
            .collect()
    }
}

/// # Safety
/// The names are the caller's, by the contract of the crate.
pub(crate) unsafe fn read_request(request: &AdumbraGradientRequest) -> Result<GradientRequest> {
    // SAFETY: the caller promises names that end with NUL.
    let (of, inputs, globals, buffers, textures) = unsafe {
        (
            read_names(arg!(request->of), request.of_count)?,
            read_names(arg!(request->inputs), request.input_count)?,
            read_names(arg!(request->globals), request.global_count)?,
            read_names(arg!(request->buffers), request.buffer_count)?,
            read_names(arg!(request->textures), request.texture_count)?,
        )
    };
    let modes = [Mode::Backward, Mode::Forward];
    let mut asked = match from_number(&modes, arg!(request->mode))? {
        Mode::Forward => GradientRequest::new().forward(),
        Mode::Backward => GradientRequest::new(),
    };
    if flag(arg!(request->all_inputs))? {
        asked = asked.by_inputs();
    }
    if flag(arg!(request->all_globals))? {
        asked = asked.by_globals();
    }
    if flag(arg!(request->all_buffers))? {
        asked = asked.by_buffers();
    }
    if flag(arg!(request->all_textures))? {
        asked = asked.by_textures();
    }
    asked = of.into_iter().fold(asked, GradientRequest::of);
    asked = inputs.into_iter().fold(asked, GradientRequest::by_input);
    asked = globals.into_iter().fold(asked, GradientRequest::by_global);
    asked = buffers.into_iter().fold(asked, GradientRequest::by_buffer);
    Ok(textures
        .into_iter()
        .fold(asked, GradientRequest::by_texture))
}

/// Stores the places where a gradient ends, if there are any.
pub(crate) fn store_ends(
    to: Option<&mut *mut AdumbraDiagnostics>,
    ends: &[Diagnostic],
    program: &Program,
) {
    if !ends.is_empty() {
        let (diagnostics, sources) = (ends.to_vec(), sources_of(program));
        let found = Diagnostics {
            diagnostics,
            sources,
        };
        store_diagnostics(to, found);
    }
}

/// The number of the entry of that name.
fn position<'n>(mut names: impl Iterator<Item = &'n str>, name: &str) -> usize {
    let found = names.position(|other| other == name);
    found.expect("the program has what its gradient is of, and by, and its derivatives")
}

impl AdumbraProgram {
    fn position(&self, list: AdumbraList, name: &str) -> usize {
        let program = &self.program;
        match list {
            AdumbraList::Outputs => position(program.outputs().iter().map(|o| &*o.name), name),
            AdumbraList::Globals => {
                position(program.globals().members().iter().map(|m| m.name()), name)
            }
            AdumbraList::Buffers => position(program.buffers().map(|b| &*b.name), name),
            AdumbraList::Textures => position(program.textures().iter().map(|t| &*t.name), name),
            _ => position(program.inputs().iter().map(|i| &*i.name), name),
        }
    }

    /// The values that its gradient is of, then those that it is by, each with its list, and
    /// whether its gradient is zero.
    fn differentiated(&self) -> Vec<(AdumbraList, &DifferentiatedValue, bool)> {
        let Some(gradient) = &self.gradient else {
            return Vec::new();
        };
        let outputs = gradient.outputs().iter();
        let outputs = outputs.map(|value| (AdumbraList::Outputs, value, false));
        let parameters = gradient.parameters().iter().map(|by| {
            let list = match by.kind {
                ParameterKind::Input => AdumbraList::Parameters,
                ParameterKind::Global => AdumbraList::Globals,
                ParameterKind::Buffer => AdumbraList::Buffers,
                ParameterKind::Texture => AdumbraList::Textures,
            };
            (list, &by.value, by.is_zero)
        });
        outputs.chain(parameters).collect()
    }
}

/// Makes a program that computes the outputs of `program` and their gradient. It is a program as
/// any, and has gradients of its own. `request` may be NULL for its default.
///
/// Backward, the cotangent of an output `o` is the global `d(o)`, zero until set, and the gradient
/// by a parameter `a` is the output `d(a)`. Forward, the tangent of `a` is the global `d(a)`, and
/// that of `o` the output `d(o)`. `adumbra_program_differentiated` says where each is. The gradient
/// by a buffer `w` is in sums, `adumbra_sums_buffer`; its tangent is the buffer `d(w)`. That by a
/// texture `t` the host adds up from what `texture_adjoint` gets; its tangent is the texture
/// `d(t)`.
///
/// Why a request is refused goes to `diagnostics`, and so do the places where a gradient ends that
/// would matter (W0518). It is NULL afterwards if there are none; the pointer may be NULL for a
/// host that does not need them. A program that was loaded has no gradient if it has derivatives of
/// functions itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_gradient(
    program: *const AdumbraProgram,
    request: *const AdumbraGradientRequest,
    gradient: *mut *mut AdumbraProgram,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, diagnostics, program, request) = unsafe {
            let (to, diagnostics) = (
                out_handle(arg!(gradient))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            let request = read_request(&read_struct_or_default(arg!(request))?)?;
            (to, diagnostics, borrow(arg!(program))?, request)
        };
        match program.program.gradient(&request) {
            Ok(made) => {
                store_ends(diagnostics, made.ends(), made.program());
                store_handle(to, AdumbraProgram::of_gradient(made));
                Ok(())
            }
            Err(found) => {
                store_diagnostics(diagnostics, found);
                Err(AdumbraStatus::Refused.into())
            }
        }
    })
}

/// The number of values that the gradient of a program is of and by: 0 for a program that
/// `adumbra_program_gradient` did not make.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_differentiated_count(
    gradient: *const AdumbraProgram,
    count: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (gradient, count) = unsafe { (borrow(arg!(gradient))?, borrow_out(arg!(count))?) };
        count.write(gradient.differentiated().len());
        Ok(())
    })
}

/// One of the values that the gradient of a program is of and by: outputs first, then inputs,
/// globals and buffers, each in the order of their lists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_differentiated(
    gradient: *const AdumbraProgram,
    index: usize,
    value: *mut AdumbraDifferentiated,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (gradient, to) = unsafe {
            (
                borrow(arg!(gradient))?,
                sized_struct::out_struct(arg!(value))?,
            )
        };
        let all = gradient.differentiated();
        let Some(&(list, value, is_zero)) = all.get(index) else {
            return Err(arg!(index).beyond(all.len(), "differentiated values"));
        };
        let (derivative_list, first, derivative_count) = match &value.place {
            DerivativePlace::Output(name) => (AdumbraList::Outputs, Some(name), 1),
            DerivativePlace::Globals(globals) => {
                let first = globals.first().map(|(name, _)| name);
                (AdumbraList::Globals, first, globals.len())
            }
            DerivativePlace::Buffer(name) => (AdumbraList::Buffers, Some(name), 1),
            DerivativePlace::Sum => (AdumbraList::Buffers, Some(&value.name), 0),
            DerivativePlace::Texture(name) => (AdumbraList::Textures, Some(name), 1),
            DerivativePlace::Adjoints => (AdumbraList::Textures, Some(&value.name), 0),
        };
        let index = gradient.position(list, &value.name);
        to.write(AdumbraDifferentiated {
            size: 0,
            list: list as u32,
            index,
            name: gradient.name(list, index).unwrap_or(null()),
            derivative_list: derivative_list as u32,
            is_zero: u32::from(is_zero),
            derivative_index: first.map_or(0, |name| gradient.position(derivative_list, name)),
            derivative_count,
        });
        Ok(())
    })
}
