//! Shaders that were compiled ahead of time, and linked.

use crate::findings::{AdumbraFindings, of_bytes, tell};
use crate::guard::guard;
use crate::pointer::{give, handle, shared, wanted_handle};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use adumbra::{Program, object::ObjectShader};

/// A shader in an object file that `adumbra aot` wrote, with its bytecode and machine code. The header that goes with the file declares it.
#[derive(Debug)]
pub struct AdumbraObjectShader {
    _of_the_object: [u8; 0],
}

/// Makes a program of a shader that was compiled ahead of time, which has to stay for as long as the process. Evaluators whose engine or tier is native run
/// its machine code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_from_object(
    shader: *const AdumbraObjectShader,
    program: *mut *mut AdumbraProgram,
    findings: *mut *mut AdumbraFindings,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate; the header declares such shaders as constants of an object file.
        let (program, findings, shader) = unsafe {
            let (program, findings) = (handle(program)?, wanted_handle(findings)?);
            (program, findings, shared(shader.cast::<ObjectShader>())?)
        };
        match Program::from_object(shader) {
            Ok(linked) => {
                give(program, AdumbraProgram::new(linked));
                Ok(())
            }
            Err(diagnostic) => {
                tell(findings, of_bytes(diagnostic));
                Err(AdumbraStatus::Refused)
            }
        }
    })
}
