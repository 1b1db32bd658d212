//! The globals that a host has.

use crate::argument::arg;
use crate::diagnostics::{AdumbraDiagnostics, store_diagnostics};
use crate::guard::{Locked, Result, guard, lock_blocking};
use crate::pointer::{
    PlainOldData, borrow, borrow_out, free_locked_handle, optional_out_handle, out_buffer,
    out_handle, read_name, read_slice, store_handle,
};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use crate::variable::type_from_number;
use adumbra::access::closest_name;
use adumbra::globals::{HostMember, LayoutError};
use adumbra::{GlobalsLayout, Type};
use std::ffi::c_char;
use std::sync::Mutex;

/// The globals that a host fills for every point, in order: names and types.
///
/// Each global is its value, its ddx and its ddy in memory, without gaps: numbers of four bytes, a
/// bool as 0 or 1. An int, uint or bool has derivatives, too, which are never read. So globals are
/// a C struct of floats and integers: `struct Hit { float uv[3][2]; float normal[3][3]; int32_t
/// bounce[3]; }` has `uv[0]` as the value of a float2, `uv[1]` as its ddx, `uv[2]` as its ddy.
#[derive(Debug)]
pub struct AdumbraLayout {
    layout: Mutex<GlobalsLayout>,
}

impl Locked for AdumbraLayout {
    type State = GlobalsLayout;

    fn lock(&self) -> &Mutex<GlobalsLayout> {
        &self.layout
    }
}

/// A member of a host's struct of globals, to be compared with a layout: `{"uv",
/// ADUMBRA_TYPE_FLOAT2, offsetof(struct Hit, uv)}`. Lists hold this struct element by element, so
/// it never grows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraMember {
    /// The global that it is to be.
    pub name: *const c_char,
    /// The `AdumbraType` of its value, which ddx and ddy follow.
    pub r#type: u32,
    /// Bytes from the start of the struct to its value.
    pub offset: usize,
}

// SAFETY: numbers and a pointer, of which any bits are one.
unsafe impl PlainOldData for AdumbraMember {}

impl AdumbraLayout {
    pub(crate) fn get(&self) -> Result<GlobalsLayout> {
        Ok(lock_blocking(self)?.clone())
    }
}

/// Makes a layout without globals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_new(layout: *mut *mut AdumbraLayout) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let to = unsafe { out_handle(arg!(layout))? };
        let layout = Mutex::default();
        store_handle(to, AdumbraLayout { layout });
        Ok(())
    })
}

/// Makes a layout of the six float3 that a renderer knows of a hit point: uvw, position, normal,
/// gnormal, I, tangent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_new_hit(layout: *mut *mut AdumbraLayout) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let to = unsafe { out_handle(arg!(layout))? };
        let layout = Mutex::new(GlobalsLayout::hit());
        store_handle(to, AdumbraLayout { layout });
        Ok(())
    })
}

/// Adds a global after the others: `type` is an `AdumbraType`, a number, a vector or a matrix.
/// Compilers that were made before do not see it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_add(
    layout: *mut AdumbraLayout,
    name: *const c_char,
    r#type: u32,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (handle, name) = unsafe { (borrow(arg!(layout))?, read_name(arg!(name))?) };
        let ty = type_from_number(arg!(r#type))?;
        let mut locked = lock_blocking(handle)?;
        locked.add(name, ty).map_err(|error| match error {
            LayoutError::Duplicate(_) => arg!(name).unfit(AdumbraStatus::Duplicate, error),
            LayoutError::TooMany => arg!(layout).unfit(AdumbraStatus::Size, error),
            LayoutError::Type(_) => arg!(r#type).unfit(AdumbraStatus::WrongType, error),
        })?;
        Ok(())
    })
}

/// Declares that the derivatives of a global are never set: they stay 0, and a shader that asks for
/// one gets a warning.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_shadowless(
    layout: *mut AdumbraLayout,
    name: *const c_char,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, name) = unsafe { (borrow(arg!(layout))?, read_name(arg!(name))?) };
        let mut layout = lock_blocking(layout)?;
        let said = layout.clone().shadowless(name);
        *layout = said.map_err(|_| arg!(name).unknown(name, "global"))?;
        Ok(())
    })
}

/// The bytes of the globals of one point, for comparison with `sizeof` of the host's struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_bytes(
    layout: *const AdumbraLayout,
    bytes: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, bytes) = unsafe { (borrow(arg!(layout))?, borrow_out(arg!(bytes))?) };
        bytes.write(layout.get()?.size());
        Ok(())
    })
}

/// Compares a struct of the host, of `bytes` bytes, with the globals: names, types, offsets and
/// size. If anything differs the status is `ADUMBRA_STATUS_WRONG_GLOBALS`. `diagnostics`, unless it
/// is NULL, then name the member and the global that was probably meant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_check(
    layout: *const AdumbraLayout,
    members: *const AdumbraMember,
    count: usize,
    bytes: usize,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (diagnostics, layout, array) = unsafe {
            let diagnostics = optional_out_handle(arg!(diagnostics))?;
            (
                diagnostics,
                borrow(arg!(layout))?,
                read_slice(arg!(members), count)?,
            )
        };
        let given = array.iter().enumerate().map(|(at, member)| {
            let name = arg!(members).element(at, ()).field(".name", member.name);
            let ty = arg!(members).element(at, ()).field(".type", member.r#type);
            // SAFETY: the names are strings that end with NUL, by the contract of the crate.
            Ok((unsafe { read_name(name)? }, type_from_number(ty)?))
        });
        let given: Vec<(&str, Type)> = given.collect::<Result<_>>()?;
        let given = given.iter().zip(array);
        let given = given.map(|((name, ty), member)| HostMember {
            name,
            ty,
            offset: member.offset,
        });
        let given: Vec<HostMember<'_>> = given.collect();
        layout.get()?.check(&given, bytes).map_err(|found| {
            store_diagnostics(diagnostics, found);
            let what = "differs from the globals; the diagnostics say how";
            arg!(members).error(AdumbraStatus::WrongGlobals, what)
        })
    })
}

/// The global that an unknown name probably means, as a string that ends with NUL; a known name
/// means itself. `ADUMBRA_STATUS_UNKNOWN_NAME` reports that none is near. `needed`, unless it is
/// NULL, is its length with that NUL, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_closest(
    layout: *const AdumbraLayout,
    name: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, name, buffer) = unsafe {
            let buffer = out_buffer(arg!(buffer).cast(), capacity, arg!(needed))?;
            (borrow(arg!(layout))?, read_name(arg!(name))?, buffer)
        };
        let layout = layout.get()?;
        let meant = match layout.member(name) {
            Some(_) => Some(name),
            None => closest_name(name, layout.members().iter().map(|member| member.name())),
        };
        let meant = meant.ok_or_else(|| arg!(name).unknown(name, "near global"))?;
        buffer.fill_string(meant)
    })
}

/// Makes a layout of the globals that a program has, as of one that was loaded: to compare a struct
/// with it, or to compile other shaders for the same globals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_layout(
    program: *const AdumbraProgram,
    layout: *mut *mut AdumbraLayout,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, program) = unsafe { (out_handle(arg!(layout))?, borrow(arg!(program))?) };
        let layout = Mutex::new(program.program.globals().clone());
        store_handle(to, AdumbraLayout { layout });
        Ok(())
    })
}

/// Frees a layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_free(layout: *mut AdumbraLayout) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(layout)) });
}
