//! Points that are suspended apart from any evaluator.

use crate::argument::arg;
use crate::guard::{Locked, Result, guard, lock_or_busy};
use crate::host::AdumbraSampleRequest;
use crate::pointer::{borrow, free_locked_handle, store_handle};
use crate::sized_struct;
use crate::status::AdumbraStatus;
use adumbra::evaluator::{ParkError, ParkedPoint};
use std::ptr::null_mut;
use std::sync::Mutex;

/// A point that waits for a texture apart from any evaluator. Freeing it gives the point up.
#[derive(Debug)]
pub struct AdumbraParkedPoint {
    /// `None` once it was resumed.
    point: Mutex<Option<ParkedPoint>>,
}

impl Locked for AdumbraParkedPoint {
    type State = Option<ParkedPoint>;

    fn lock(&self) -> &Mutex<Option<ParkedPoint>> {
        &self.point
    }
}

pub(crate) fn store_parked(
    parked: std::result::Result<ParkedPoint, ParkError>,
    to: &mut *mut AdumbraParkedPoint,
) -> Result {
    let point = parked.map_err(|_| AdumbraStatus::TooManyParked)?;
    let point = Mutex::new(Some(point));
    store_handle(to, AdumbraParkedPoint { point });
    Ok(())
}

/// The request that the point waits for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_parked_point_request(
    parked: *const AdumbraParkedPoint,
    request: *mut AdumbraSampleRequest,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (parked, request) = unsafe {
            (
                borrow(arg!(parked))?,
                sized_struct::out_struct(arg!(request))?,
            )
        };
        let point = lock_or_busy(arg!(parked))?;
        let asked = point.as_ref().ok_or(AdumbraStatus::NotSuspended)?.request();
        request.write(AdumbraSampleRequest::new(asked, 0, false, null_mut()));
        Ok(())
    })
}

/// Gives a parked point up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_parked_point_free(parked: *mut AdumbraParkedPoint) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_locked_handle(arg!(parked)) });
}
