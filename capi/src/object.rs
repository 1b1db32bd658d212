//! The C function that opens shaders which were compiled ahead of time, and linked.

use crate::argument::arg;
use crate::diagnostics::{AdumbraDiagnostics, bytecode_diagnostics, store_diagnostics};
use crate::guard::guard;
use crate::pointer::{borrow, optional_out_handle, out_handle, store_handle};
use crate::program::AdumbraProgram;
use crate::status::AdumbraStatus;
use adumbra::{Program, object::ObjectShader};

/// A shader in an object file that `adumbra aot` wrote, with its bytecode and machine code. The
/// header that goes with the file declares it.
#[derive(Debug)]
pub struct AdumbraObjectShader {
    _of_the_object: [u8; 0],
}

/// Makes a program of a shader that was compiled ahead of time, which has to stay for as long as
/// the process. Evaluators whose engine or tier is native run its machine code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_from_object(
    shader: *const AdumbraObjectShader,
    program: *mut *mut AdumbraProgram,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate; the header declares such shaders as constants of an
        // object file.
        let (program, diagnostics, shader) = unsafe {
            let (program, diagnostics) = (
                out_handle(arg!(program))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            (
                program,
                diagnostics,
                borrow(arg!(shader).cast::<ObjectShader>())?,
            )
        };
        match Program::from_object(shader) {
            Ok(linked) => {
                store_handle(program, AdumbraProgram::new(linked));
                Ok(())
            }
            Err(diagnostic) => {
                store_diagnostics(diagnostics, bytecode_diagnostics(diagnostic));
                Err(AdumbraStatus::Refused.into())
            }
        }
    })
}
