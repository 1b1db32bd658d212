//! Programs: interface, size, and serialised form.

use crate::argument::arg;
use crate::diagnostics::{AdumbraDiagnostics, bytecode_diagnostics, store_diagnostics};
use crate::guard::guard;
use crate::options::from_number;
use crate::pointer::{
    borrow, borrow_out, free_handle, optional_out_handle, out_buffer, out_handle, read_name,
    read_slice, store_handle,
};
use crate::sized_struct::{self, SizedStruct};
use crate::status::AdumbraStatus;
use crate::variable::{AdumbraList, AdumbraVariable, LISTS, ProgramInterface};
use adumbra::{Program, gradient::Gradient, program::JsonInterface};
use std::ffi::c_char;
use std::sync::{Arc, OnceLock};

/// A compiled shader. It never changes, and any number of threads may use it at once.
#[derive(Debug)]
pub struct AdumbraProgram {
    pub(crate) program: Arc<Program>,
    /// What it computes, if it is that of a gradient.
    pub(crate) gradient: Option<Gradient>,
    /// Made on first use.
    interface: OnceLock<ProgramInterface>,
}

/// Statistics of a program: its size, and the time of its compilation.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraStats {
    /// Bytes of this struct.
    pub size: u32,
    /// 1 if points are evaluated in quads.
    pub in_quads: u32,
    /// Microseconds from source, or from the module of a file, to program.
    pub compile_microseconds: f64,
    /// Instructions of the intermediate representation.
    pub ir_ops: u64,
    /// Instructions of the register machine.
    pub bytecode_ops: u64,
    /// Bytes of the register machine's code, with its constants.
    pub bytecode_bytes: u64,
    /// Derivatives that instructions compute, counted per instruction and direction.
    pub lanes: u64,
    /// Words of registers, arrays and outputs.
    pub registers: u64,
    /// Bytes of the program in memory.
    pub memory: u64,
}

// SAFETY: numbers, of which zeros are some.
unsafe impl SizedStruct for AdumbraStats {}

impl AdumbraProgram {
    pub(crate) fn new(program: Arc<Program>) -> AdumbraProgram {
        AdumbraProgram {
            program,
            gradient: None,
            interface: OnceLock::new(),
        }
    }

    pub(crate) fn of_gradient(gradient: Gradient) -> AdumbraProgram {
        AdumbraProgram {
            program: gradient.program().clone(),
            gradient: Some(gradient),
            interface: OnceLock::new(),
        }
    }

    /// The name of an entry of a list, which lives as long as the program.
    pub(crate) fn name(&self, list: AdumbraList, index: usize) -> Option<*const c_char> {
        self.interface().name(list, index)
    }

    fn interface(&self) -> &ProgramInterface {
        self.interface
            .get_or_init(|| ProgramInterface::new(&self.program))
    }
}

/// The length of a list of the program, an `AdumbraList`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_count(
    program: *const AdumbraProgram,
    list: u32,
    count: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, count) = unsafe { (borrow(arg!(program))?, borrow_out(arg!(count))?) };
        let list = from_number(&LISTS, arg!(list))?;
        count.write(program.interface().count(list));
        Ok(())
    })
}

/// An entry of a list of the program, an `AdumbraList`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_variable(
    program: *const AdumbraProgram,
    list: u32,
    index: usize,
    variable: *mut AdumbraVariable,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, variable) = unsafe {
            (
                borrow(arg!(program))?,
                sized_struct::out_struct(arg!(variable))?,
            )
        };
        let list = from_number(&LISTS, arg!(list))?;
        variable.write(program.interface().variable(list, arg!(index))?);
        Ok(())
    })
}

/// An entry of a list of the program by its name; in outputs and parameters also a member of one
/// that is a struct, as in `ray.origin`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_find(
    program: *const AdumbraProgram,
    list: u32,
    path: *const c_char,
    variable: *mut AdumbraVariable,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, path, variable) = unsafe {
            let variable = sized_struct::out_struct(arg!(variable))?;
            (borrow(arg!(program))?, read_name(arg!(path))?, variable)
        };
        let (list, interface) = (from_number(&LISTS, arg!(list))?, program.interface());
        variable.write(interface.find(&program.program, list, arg!(path))?);
        Ok(())
    })
}

/// The name that an unknown path of a list of the program, an `AdumbraList`, probably means, as a
/// string that ends with NUL; a known path means itself. `ADUMBRA_STATUS_UNKNOWN_NAME` reports that
/// none is near. `needed`, unless it is NULL, is its length with that NUL, also if the buffer is
/// too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_closest(
    program: *const AdumbraProgram,
    list: u32,
    path: *const c_char,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, path, buffer) = unsafe {
            let buffer = out_buffer(arg!(buffer).cast(), capacity, arg!(needed))?;
            (borrow(arg!(program))?, read_name(arg!(path))?, buffer)
        };
        let list = from_number(&LISTS, arg!(list))?;
        let meant = program
            .interface()
            .closest(&program.program, list, arg!(path));
        let meant = meant.ok_or_else(|| {
            arg!(path).error(AdumbraStatus::UnknownName, "is near no name of the list")
        })?;
        buffer.fill_string(&meant)
    })
}

/// A parameter of a closure that the program may make; its `name` is empty, its `first` counts the
/// scalars before it among the arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_closure_parameter(
    program: *const AdumbraProgram,
    closure: usize,
    index: usize,
    variable: *mut AdumbraVariable,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, variable) = unsafe {
            (
                borrow(arg!(program))?,
                sized_struct::out_struct(arg!(variable))?,
            )
        };
        variable.write(program.interface().argument(arg!(closure), arg!(index))?);
        Ok(())
    })
}

/// Inputs, outputs and textures as the JSON that `adumbra info --json` prints, with defaults and
/// metadata. It ends with NUL, and `needed`, unless it is NULL, is its length with that NUL, also
/// if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_json(
    program: *const AdumbraProgram,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, buffer) = unsafe {
            (
                borrow(arg!(program))?,
                out_buffer(arg!(buffer).cast(), capacity, arg!(needed))?,
            )
        };
        let json = serde_json::to_string(&JsonInterface::new(&program.program));
        let json = json.expect("strings and numbers serialise");
        buffer.fill_string(&json)
    })
}

/// The statistics of the program. This call costs about as much as `adumbra_program_save`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_stats(
    program: *const AdumbraProgram,
    stats: *mut AdumbraStats,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, to) = unsafe {
            (
                borrow(arg!(program))?,
                sized_struct::out_struct(arg!(stats))?,
            )
        };
        let stats = program.program.stats();
        to.write(AdumbraStats {
            size: 0,
            in_quads: u32::from(program.program.quad().is_some()),
            compile_microseconds: stats.phases_us.total,
            ir_ops: stats.ir_ops as u64,
            bytecode_ops: stats.bytecode_ops as u64,
            bytecode_bytes: stats.bytecode_bytes as u64,
            lanes: stats.lanes as u64,
            registers: stats.registers as u64,
            memory: stats.memory.program as u64,
        });
        Ok(())
    })
}

/// The program as a file: the same bytes on every machine, for this version of the library.
/// `needed`, unless it is NULL, is their number, also if the buffer is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_save(
    program: *const AdumbraProgram,
    buffer: *mut u8,
    capacity: usize,
    needed: *mut usize,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, buffer) = unsafe {
            (
                borrow(arg!(program))?,
                out_buffer(arg!(buffer), capacity, arg!(needed))?,
            )
        };
        let bytes = program.program.to_bytecode();
        buffer.fill(bytes.iter().copied())
    })
}

/// Makes a program of a file. Any bytes may be given: they are checked in full.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_load(
    bytes: *const u8,
    length: usize,
    program: *mut *mut AdumbraProgram,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, diagnostics, bytes) = unsafe {
            let (program, diagnostics) = (
                out_handle(arg!(program))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            (program, diagnostics, read_slice(arg!(bytes), length)?)
        };
        match Program::from_bytecode(bytes) {
            Ok(loaded) => {
                store_handle(program, AdumbraProgram::new(loaded));
                Ok(())
            }
            Err(diagnostic) => {
                store_diagnostics(diagnostics, bytecode_diagnostics(diagnostic));
                Err(AdumbraStatus::Refused.into())
            }
        }
    })
}

/// Frees a program. Instances that were made of it live on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_program_free(program: *mut AdumbraProgram) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_handle(arg!(program)) });
}
