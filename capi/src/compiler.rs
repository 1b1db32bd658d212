//! The C functions that compile sources to a program or to diagnostics.

use crate::argument::arg;
use crate::closures::AdumbraClosures;
use crate::diagnostics::{AdumbraDiagnostics, store_diagnostics};
use crate::guard::{Result, guard, lock_or_busy};
use crate::layout::AdumbraLayout;
use crate::options::{flag, from_number};
use crate::pointer::{
    borrow, borrow_optional, free_handle, optional_out_handle, out_handle, read_name,
    read_optional_name, read_string, store_handle,
};
use crate::program::AdumbraProgram;
use crate::sized_struct::{SizedStruct, read_struct_or_default};
use crate::sources::AdumbraSources;
use crate::status::AdumbraStatus;
use adumbra::{
    Compiler, Derivatives, Diagnostics, Options, Sources,
    derivatives::{AtDivergence, Corner, Quad},
};
use std::ffi::c_char;

/// The source of derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraDerivatives {
    /// From shadows beside the values.
    Dual = 0,
    /// None: all derivatives are zero.
    Off = 1,
    /// Fine: from the neighbours in a quad, for each point its own.
    QuadFine = 2,
    /// Coarse: from the neighbours of the upper left point of the quad, for all four.
    QuadCoarse = 3,
    /// Coarse: from the neighbours of the upper right point of the quad, for all four.
    QuadCoarseUpperRight = 4,
    /// Coarse: from the neighbours of the lower left point of the quad, for all four.
    QuadCoarseLowerLeft = 5,
    /// Coarse: from the neighbours of the lower right point of the quad, for all four.
    QuadCoarseLowerRight = 6,
}

/// The treatment of derivatives from quads in non-uniform control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraAtDivergence {
    /// They are refused.
    Refuse = 0,
    /// Both arms of such branches are evaluated where they only compute; the rest is refused.
    Flatten = 1,
}

/// Options of a compiler. Zero everywhere is the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraCompilerOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// An `AdumbraDerivatives`.
    pub derivatives: u32,
    /// An `AdumbraAtDivergence`.
    pub at_divergence: u32,
    /// 1 if the host reads the derivatives of outputs. Else none is computed for the host, and
    /// reading one gives `ADUMBRA_STATUS_NO_DERIVATIVES`.
    pub output_derivatives: u32,
    /// 1 for one body of each function, for all its callers.
    pub merge_demand: u32,
    /// The name of the shader, if sources have several; or NULL.
    pub shader: *const c_char,
    /// The closures that the host knows; NULL to let shaders make any.
    pub closures: *const AdumbraClosures,
    /// 1 if results of textures have derivatives, for a host that answers with their slopes. Else
    /// they count as 0.
    pub texture_slopes: u32,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraCompilerOptions {}

/// Compiles sources for a host with certain globals. Several threads may compile with it at once.
#[derive(Debug)]
pub struct AdumbraCompiler {
    compiler: Compiler,
}

/// # Safety
/// The caller promises that the names are NULL or strings that end with NUL.
unsafe fn compile_options(options: &AdumbraCompilerOptions) -> Result<Options> {
    let derivatives = [
        Derivatives::Dual,
        Derivatives::Off,
        Derivatives::Quad(Quad::Fine),
        Derivatives::Quad(Quad::Coarse(Corner::UpperLeft)),
        Derivatives::Quad(Quad::Coarse(Corner::UpperRight)),
        Derivatives::Quad(Quad::Coarse(Corner::LowerLeft)),
        Derivatives::Quad(Quad::Coarse(Corner::LowerRight)),
    ];
    // SAFETY: the caller promises that the names are NULL or strings that end with NUL.
    let shader = unsafe { read_optional_name(arg!(options->shader))? };
    Ok(Options {
        shader: shader.map(str::to_owned),
        derivatives: from_number(&derivatives, arg!(options->derivatives))?,
        at_divergence: from_number(
            &[AtDivergence::Refuse, AtDivergence::Flatten],
            arg!(options->at_divergence),
        )?,
        merge_demand: flag(arg!(options->merge_demand))?,
        output_derivatives: flag(arg!(options->output_derivatives))?,
        ..Options::default()
    })
}

/// Makes a compiler for a host with these globals, or without any if `layout` is NULL; `options`
/// may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compiler_new(
    layout: *const AdumbraLayout,
    options: *const AdumbraCompilerOptions,
    compiler: *mut *mut AdumbraCompiler,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, layout, closures, options) = unsafe {
            let to = out_handle(arg!(compiler))?;
            let options = read_struct_or_default(arg!(options))?;
            let layout = borrow_optional(arg!(layout))?;
            let closures = borrow_optional(arg!(options->closures))?;
            (to, layout, closures, options)
        };
        let texture_slopes = flag(arg!(options->texture_slopes))?;
        // SAFETY: the contract of the crate.
        let options = unsafe { compile_options(&options)? };
        let layout = layout.map(AdumbraLayout::get).transpose()?;
        let mut compiler = Compiler::new(layout.unwrap_or_default())
            .with_options(options)
            .texture_slopes(texture_slopes);
        if let Some(closures) = closures {
            compiler = compiler.with_closures(closures.get()?);
        }
        store_handle(to, AdumbraCompiler { compiler });
        Ok(())
    })
}

fn compile(
    compiler: &AdumbraCompiler,
    sources: &Sources,
    program: &mut *mut AdumbraProgram,
    to: Option<&mut *mut AdumbraDiagnostics>,
) -> Result {
    match compiler.compiler.compile(sources) {
        Ok(compiled) => {
            let warnings = compiled.warnings().to_vec();
            if !warnings.is_empty() {
                let found = Diagnostics {
                    diagnostics: warnings,
                    sources: sources.clone(),
                };
                store_diagnostics(to, found);
            }
            store_handle(program, AdumbraProgram::new(compiled));
            Ok(())
        }
        Err(found) => {
            store_diagnostics(to, found);
            Err(AdumbraStatus::Refused.into())
        }
    }
}

/// Makes a program of a shader. Errors and warnings go to `diagnostics`, which is NULL afterwards
/// if there are none; the pointer may be NULL for a host that does not need them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compile(
    compiler: *const AdumbraCompiler,
    sources: *const AdumbraSources,
    program: *mut *mut AdumbraProgram,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, diagnostics, compiler, sources) = unsafe {
            let (program, diagnostics) = (
                out_handle(arg!(program))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            (
                program,
                diagnostics,
                borrow(arg!(compiler))?,
                borrow(arg!(sources))?,
            )
        };
        compile(
            compiler,
            &lock_or_busy(arg!(sources))?.clone(),
            program,
            diagnostics,
        )
    })
}

/// Compiles one source, which the caller need not copy: `length` bytes, or a string that ends with
/// NUL if the length is `ADUMBRA_TO_NUL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compile_source(
    compiler: *const AdumbraCompiler,
    name: *const c_char,
    text: *const c_char,
    length: usize,
    program: *mut *mut AdumbraProgram,
    diagnostics: *mut *mut AdumbraDiagnostics,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, diagnostics, compiler, name, text) = unsafe {
            let (program, diagnostics) = (
                out_handle(arg!(program))?,
                optional_out_handle(arg!(diagnostics))?,
            );
            (
                program,
                diagnostics,
                borrow(arg!(compiler))?,
                read_name(arg!(name))?,
                read_string(arg!(text), length)?,
            )
        };
        compile(compiler, &Sources::new(name, text), program, diagnostics)
    })
}

/// Frees a compiler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compiler_free(compiler: *mut AdumbraCompiler) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free_handle(arg!(compiler)) });
}
