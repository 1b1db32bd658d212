//! Options of batch evaluators: tier, width, limits, compilation.

use crate::argument::{Argument, arg};
use crate::guard::{Result, guard};
use crate::options::{AdumbraLimits, from_number, read_limits};
use crate::pointer::{borrow_out, read_name, read_optional_name, read_slice};
use crate::sized_struct::SizedStruct;
use crate::status::AdumbraStatus;
use adumbra::Program;
use adumbra::batch::{BatchSetup, CompileWhen, HOT_POINTS, MAX_WIDTH, SimdLevel, Tier, TierUp};
use std::ffi::c_char;
use std::mem::offset_of;

/// The tier that computes the arithmetic of a program. Results are the same to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraTier {
    /// The batch interpreter: no time goes into compiling.
    Interpreter = 0,
    /// Machine code that is compiled for the program. x86-64 with AVX2 and FMA, or aarch64.
    Native = 1,
    /// The interpreter first, and machine code after many points, if it is measured to be faster.
    /// Where there is no machine code, the interpreter.
    Auto = 2,
}

/// The thread that compiles a program for `ADUMBRA_TIER_AUTO`, and thereby when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AdumbraCompileWhen {
    /// The compile thread of the library, one for the process, while evaluators go on interpreting.
    /// It ends with the process. So a library that was loaded while the process ran must not be
    /// unloaded once there was such an evaluator.
    Background = 0,
    /// The evaluator whose count reaches the number, at once: its batch begins later.
    Immediately = 1,
    /// None: the program is never compiled.
    Never = 2,
}

/// Options of a batch evaluator. Zero everywhere is the default.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdumbraBatchOptions {
    /// Bytes of this struct.
    pub size: u32,
    /// The most points at once, up to 1024; 0 for what suits the program.
    pub width: u32,
    /// The limits of each point; may be NULL.
    pub limits: *const AdumbraLimits,
    /// `baseline`, `avx2` or `avx512`; NULL for what the environment names in `ADUMBRA_SIMD`, else
    /// the best.
    pub simd: *const c_char,
    /// Names of globals that are uniform in each call.
    pub uniform: *const *const c_char,
    /// The number of these names.
    pub uniform_count: usize,
    /// An `AdumbraTier`.
    pub tier: u32,
    /// With `ADUMBRA_TIER_AUTO`: an `AdumbraCompileWhen`.
    pub compile_when: u32,
    /// With `ADUMBRA_TIER_AUTO`: the number of evaluated points after which the program is
    /// compiled; 0 for the default.
    pub compile_after: u64,
}

// SAFETY: numbers and pointers, of which zeros are some.
unsafe impl SizedStruct for AdumbraBatchOptions {
    const FIRST: usize = offset_of!(AdumbraBatchOptions, tier);
}

/// # Safety
/// Names and limits are the caller's, by the contract of the crate.
unsafe fn batch_setup(options: &AdumbraBatchOptions) -> Result<BatchSetup> {
    let width = options.width as usize;
    if width > MAX_WIDTH {
        let what = format!("is {width}, and the greatest width is {MAX_WIDTH}");
        return Err(arg!(options->width).error(AdumbraStatus::Size, what));
    }
    // SAFETY: the caller promises that the names are NULL or strings that end with NUL.
    let (limits, simd, uniform) = unsafe {
        let uniform = arg!(options->uniform);
        let names = read_slice(uniform, options.uniform_count)?
            .iter()
            .enumerate();
        let names = names.map(|(at, &name)| Ok(read_name(uniform.element(at, name))?.to_owned()));
        (
            read_limits(arg!(options->limits))?,
            read_optional_name(arg!(options->simd))?,
            names.collect::<Result<_>>()?,
        )
    };
    let named = |name| {
        SimdLevel::from_name(name).ok_or_else(|| {
            let what = format!("is `{name}`, which is no SIMD level");
            arg!(options->simd).error(AdumbraStatus::Unavailable, what)
        })
    };
    Ok(BatchSetup {
        limits,
        width: (width > 0).then_some(width),
        simd: simd.map(named).transpose()?,
        uniform,
        tier: tier(arg!(options->tier))?,
        tier_up: TierUp {
            when: from_number(&WHEN, arg!(options->compile_when))?,
            after: match options.compile_after {
                0 => HOT_POINTS,
                after => after,
            },
        },
    })
}

/// The same for a program, which has the globals that are uniform.
///
/// # Safety
/// As for [`batch_setup`].
pub(crate) unsafe fn known_setup(
    options: &AdumbraBatchOptions,
    program: &Program,
) -> Result<BatchSetup> {
    // SAFETY: this function's contract is that of `batch_setup`.
    let setup = unsafe { batch_setup(options)? };
    let mut names = setup.uniform.iter();
    let layout = program.globals();
    if let Some(unknown) = names.position(|name| layout.member(name).is_none()) {
        let name = &setup.uniform[unknown];
        let uniform = arg!(options->uniform).element(unknown, ());
        return Err(uniform.unknown(name, "global"));
    }
    Ok(setup)
}

/// In the order of [`AdumbraCompileWhen`].
const WHEN: [CompileWhen; 3] = [
    CompileWhen::Background,
    CompileWhen::AtOnce,
    CompileWhen::Never,
];

fn tier(number: Argument<u32>) -> Result<Tier> {
    from_number(&[Tier::Interpreter, Tier::Native, Tier::Auto], number)
}

/// Whether this processor has an `AdumbraTier`: 1, or 0. Evaluators of a tier that it lacks get
/// `ADUMBRA_STATUS_UNAVAILABLE`, as they do for `ADUMBRA_TIER_NATIVE` together with the
/// instructions `baseline`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn adumbra_tier_is_available(
    tier: u32,
    available: *mut u32,
) -> AdumbraStatus {
    guard(|| {
        // SAFETY: the contract of the crate.
        let available = unsafe { borrow_out(arg!(available))? };
        available.write(self::tier(arg!(tier))?.is_available().into());
        Ok(())
    })
}
