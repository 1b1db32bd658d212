//! Compilation: texts in, a program or findings out.

use crate::closures::AdumbraClosures;
use crate::findings::{AdumbraFindings, tell};
use crate::guard::{Result, guard};
use crate::layout::AdumbraLayout;
use crate::options::one_of;
use crate::pointer::{self, free, give, handle, name, optional_name, shared, wanted_handle};
use crate::prefixed::{Prefixed, read_or_usual};
use crate::program::AdumbraProgram;
use crate::sources::AdumbraSources;
use crate::status::AdumbraStatus;
use adumbra::{
    Compiler, Derivatives, Findings, Options, Sources,
    derivatives::{AtDivergence, Corner, Quad},
};
use std::ffi::c_char;

/// Where derivatives come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraDerivatives {
    /// From shadows beside the values.
    Dual = 0,
    /// From nowhere: all are zero.
    Off = 1,
    /// From the neighbours in a quad of points, of each point's own row and column.
    QuadFine = 2,
    /// From one row and one column of the quad, those that meet in the upper left point.
    QuadCoarse = 3,
    /// The same for the upper right point.
    QuadCoarseUpperRight = 4,
    /// The same for the lower left point.
    QuadCoarseLowerLeft = 5,
    /// The same for the lower right point.
    QuadCoarseLowerRight = 6,
}

/// What becomes of derivatives from quads where points may have parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraAtDivergence {
    /// They are refused.
    Refuse = 0,
    /// Both arms of such branches are evaluated where they only compute; the rest is refused.
    Live = 1,
}

/// What a compiler is asked for. Zero everywhere is the usual.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraCompilerOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// An `AdumbraDerivatives`.
    pub derivatives: u32,
    /// An `AdumbraAtDivergence`.
    pub at_divergence: u32,
    /// 1 if the host reads the derivatives of outputs. Else none is computed for its sake, and they read as 0.
    pub output_derivatives: u32,
    /// 1 for one body of each function, whoever calls it.
    pub merge_demand: u32,
    /// The name of the shader, if texts have several; or NULL.
    pub shader: *const c_char,
    /// The closures that the host knows; NULL to let shaders make any.
    pub closures: *const AdumbraClosures,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl Prefixed for AdumbraCompilerOptions {}

/// Compiles texts for a host with certain globals. Several threads may compile with it at once.
#[derive(Debug)]
pub struct AdumbraCompiler {
    compiler: Compiler,
}

/// What is said by 0 or 1.
fn flag(number: u32) -> Result<bool> {
    one_of(&[false, true], number)
}

/// # Safety
/// The texts are as [`optional_name`] wants them.
unsafe fn options(given: &AdumbraCompilerOptions) -> Result<Options> {
    let derivatives = [
        Derivatives::Dual,
        Derivatives::Off,
        Derivatives::Quad(Quad::Fine),
        Derivatives::Quad(Quad::Coarse(Corner::UpperLeft)),
        Derivatives::Quad(Quad::Coarse(Corner::UpperRight)),
        Derivatives::Quad(Quad::Coarse(Corner::LowerLeft)),
        Derivatives::Quad(Quad::Coarse(Corner::LowerRight)),
    ];
    // SAFETY: as promised.
    let shader = unsafe { optional_name(given.shader)? };
    Ok(Options {
        shader: shader.map(str::to_owned),
        derivatives: one_of(&derivatives, given.derivatives)?,
        at_divergence: one_of(
            &[AtDivergence::Refuse, AtDivergence::Live],
            given.at_divergence,
        )?,
        merge_demand: flag(given.merge_demand)?,
        output_derivatives: flag(given.output_derivatives)?,
    })
}

/// Makes a compiler for a host with these globals, or without any if `layout` is NULL; `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compiler_new(
    layout: *const AdumbraLayout,
    options: *const AdumbraCompilerOptions,
    compiler: *mut *mut AdumbraCompiler,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (to, layout, closures, options) = unsafe {
            let to = handle(compiler)?;
            let given = read_or_usual(options)?;
            let layout = (!layout.is_null()).then(|| shared(layout)).transpose()?;
            let closures = (!given.closures.is_null()).then(|| shared(given.closures));
            (to, layout, closures.transpose()?, self::options(&given)?)
        };
        let layout = layout.map(AdumbraLayout::get).transpose()?;
        let mut compiler = Compiler::new(layout.unwrap_or_default()).with_options(options);
        if let Some(closures) = closures {
            compiler = compiler.with_closures(closures.get()?);
        }
        give(to, AdumbraCompiler { compiler });
        Ok(())
    })
}

fn compile(
    compiler: &AdumbraCompiler,
    sources: &Sources,
    program: &mut *mut AdumbraProgram,
    findings: Option<&mut *mut AdumbraFindings>,
) -> Result {
    match compiler.compiler.compile(sources) {
        Ok(compiled) => {
            let warnings = compiled.warnings().to_vec();
            if !warnings.is_empty() {
                let sources = sources.clone();
                let diagnostics = warnings;
                tell(
                    findings,
                    Findings {
                        diagnostics,
                        sources,
                    },
                );
            }
            give(program, AdumbraProgram::new(compiled));
            Ok(())
        }
        Err(found) => {
            tell(findings, found);
            Err(AdumbraStatus::Refused)
        }
    }
}

/// Makes a program of a shader. The errors, or the warnings, go to `findings`, which is NULL afterwards if there is nothing to say; a host that does not
/// want to know gives NULL for the place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compile(
    compiler: *const AdumbraCompiler,
    sources: *const AdumbraSources,
    program: *mut *mut AdumbraProgram,
    findings: *mut *mut AdumbraFindings,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, findings, compiler, sources) = unsafe {
            let (program, findings) = (handle(program)?, wanted_handle(findings)?);
            (program, findings, shared(compiler)?, shared(sources)?)
        };
        compile(compiler, &sources.get()?, program, findings)
    })
}

/// The same of one text, which is not copied by the caller: of so many bytes, or one that ends with NUL if the length is `ADUMBRA_TO_NUL`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compile_text(
    compiler: *const AdumbraCompiler,
    name: *const c_char,
    text: *const c_char,
    length: usize,
    program: *mut *mut AdumbraProgram,
    findings: *mut *mut AdumbraFindings,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let (program, findings, compiler, name, text) = unsafe {
            let (program, findings) = (handle(program)?, wanted_handle(findings)?);
            (
                program,
                findings,
                shared(compiler)?,
                self::name(name)?,
                pointer::text(text, length)?,
            )
        };
        compile(compiler, &Sources::new(name, text), program, findings)
    })
}

/// Frees a compiler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_compiler_free(compiler: *mut AdumbraCompiler) {
    // SAFETY: the contract of the crate.
    guard(|| unsafe { free(compiler) });
}
