//! Which globals a host has.

use crate::guard::{Result, guard, wait};
use crate::pointer::{free_unlocked, give, handle, name, out, shared};
use crate::status::AdumbraStatus;
use crate::variable::type_of;
use adumbra::{GlobalsLayout, globals::LayoutError};
use std::ffi::c_char;
use std::sync::Mutex;

/// The globals that a host fills for every point, in order: names and types.
///
/// In memory each stands as its value, its ddx and its ddy, one behind the other without gaps: numbers of four bytes, a bool as 0 or 1. An int, uint or
/// bool has room for derivatives, too, which nobody reads. So globals are a C struct of floats and integers:
/// `struct Hit { float uv[3][2]; float normal[3][3]; int32_t bounce[3]; }` has `uv[0]` as the value of a float2, `uv[1]` as its ddx, `uv[2]` as its ddy.
#[derive(Debug)]
pub struct AdumbraLayout {
    layout: Mutex<GlobalsLayout>,
}

impl AdumbraLayout {
    pub(crate) fn get(&self) -> Result<GlobalsLayout> {
        Ok(wait(&self.layout)?.clone())
    }
}

/// Makes a layout without globals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_new(layout: *mut *mut AdumbraLayout) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let to = unsafe { handle(layout)? };
        let layout = Mutex::default();
        give(to, AdumbraLayout { layout });
        Ok(())
    })
}

/// Makes a layout of the six float3 that a renderer knows of a hit point: uvw, position, normal, gnormal, I, tangent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_new_hit(layout: *mut *mut AdumbraLayout) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let to = unsafe { handle(layout)? };
        let layout = Mutex::new(GlobalsLayout::hit());
        give(to, AdumbraLayout { layout });
        Ok(())
    })
}

/// Adds a global behind the others: `type` is an `AdumbraType`, a number, a vector or a matrix. Compilers that were made before do not see it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_add(
    layout: *mut AdumbraLayout,
    name: *const c_char,
    r#type: u32,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, name) = unsafe { (shared(layout)?, self::name(name)?) };
        let ty = type_of(r#type)?;
        let mut layout = wait(&layout.layout)?;
        *layout = layout.clone().with(name, ty).map_err(|error| match error {
            LayoutError::Twice(_) => AdumbraStatus::Twice,
            LayoutError::Type(_) => AdumbraStatus::WrongType,
        })?;
        Ok(())
    })
}

/// Says that the derivatives of a global are never set: they stay 0, and a shader that asks for one is warned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_shadowless(
    layout: *mut AdumbraLayout,
    name: *const c_char,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, name) = unsafe { (shared(layout)?, self::name(name)?) };
        let mut layout = wait(&layout.layout)?;
        let said = layout.clone().shadowless(name);
        *layout = said.map_err(|_| AdumbraStatus::UnknownName)?;
        Ok(())
    })
}

/// The bytes of the globals of one point: what `sizeof` of the host's struct should be.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_bytes(
    layout: *const AdumbraLayout,
    bytes: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (layout, bytes) = unsafe { (shared(layout)?, out(bytes)?) };
        bytes.write(layout.get()?.size());
        Ok(())
    })
}

/// Frees a layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_layout_free(layout: *mut AdumbraLayout) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_unlocked(layout, |layout| &layout.layout) });
}
