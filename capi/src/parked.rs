//! Points that wait for textures apart from any evaluator.

use crate::guard::{Result, guard, lock};
use crate::host::AdumbraSampleRequest;
use crate::pointer::{free_unlocked, give, shared};
use crate::prefixed;
use crate::status::AdumbraStatus;
use adumbra::evaluator::{ParkedPoint, TooManyParked};
use std::sync::Mutex;

/// A point that waits for a texture apart from any evaluator. Freeing it gives the point up.
#[derive(Debug)]
pub struct AdumbraParkedPoint {
    /// Nothing once it was resumed.
    pub(crate) point: Mutex<Option<ParkedPoint>>,
}

pub(crate) fn park(
    parked: std::result::Result<ParkedPoint, TooManyParked>,
    to: &mut *mut AdumbraParkedPoint,
) -> Result {
    let point = parked.map_err(|_| AdumbraStatus::TooManyParked)?;
    let point = Mutex::new(Some(point));
    give(to, AdumbraParkedPoint { point });
    Ok(())
}

/// What the point waits for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_parked_point_request(
    parked: *const AdumbraParkedPoint,
    request: *mut AdumbraSampleRequest,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (parked, request) = unsafe { (shared(parked)?, prefixed::place(request)?) };
        let point = lock(&parked.point)?;
        let asked = point.as_ref().ok_or(AdumbraStatus::NotWaiting)?.request();
        request.write(AdumbraSampleRequest::new(asked, 0, false));
        Ok(())
    })
}

/// Gives a parked point up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_parked_point_free(parked: *mut AdumbraParkedPoint) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_unlocked(parked, |parked| &parked.point) });
}
