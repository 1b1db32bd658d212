//! The routines for rows of the op table: one per row and lane pattern, all made from the row's own value, partials and the one tangent
//! formula.
//!
//! Operands are read, and shadows written, one word at a time, which the compiler is told by calling it volatile: it would else join neighbours
//! to vectors, and a wide read of words just written one by one waits for them to arrive in the cache.
//!
//! Each exists twice, for any processor and for one with AVX2 and FMA; the text is the same, only the instructions chosen differ.
//! Specialised are the patterns where an operand has all of the result's shadows or none; others are read from the instruction as it runs.

use super::state::{Handler, State, Threaded, next};
use crate::bytecode::{Opcode, Pattern};
use adumbra_ir::host::FaultKind;
use adumbra_ir::ops::OpVisitor;
use adumbra_ir::ops::point::operand_float;
use adumbra_ir::ops::row::{Kind, Row, WordRow, tangent};
use adumbra_ir::types::{Direction, Lanes};

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Nothing beyond the target that this was compiled for.
    Baseline,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
}

impl Level {
    /// The best level that this processor has.
    pub(super) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Level::Avx2;
        }
        Level::Baseline
    }
}

/// Names a routine for the level that is wanted.
macro_rules! at_level {
    ($level:expr, $body:ident::<$($generic:tt),*>) => {
        match $level {
            Level::Baseline => baseline::$body::<$($generic),*> as Handler,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::$body::<$($generic),*> as Handler,
        }
    };
}

/// The routines at one level: bodies with that level's features.
macro_rules! level {
    ($name:ident $(, #[$attribute:meta])?) => {
        mod $name {
            use super::{Row, State, Threaded, WordRow};

            $(#[$attribute])?
            pub(super) unsafe fn float_row<
                R: Row<N>,
                const N: usize,
                const LANES: u8,
                const MASK: u8,
            >(
                ip: *const Threaded,
                file: *mut u32,
                state: &mut State,
            ) -> *const Threaded {
                // SAFETY: what a `Handler` may assume is what the body asks for.
                unsafe { super::float_row::<R, N, LANES, MASK>(ip, file, state) }
            }

            $(#[$attribute])?
            pub(super) unsafe fn mixed_row<R: Row<N>, const N: usize>(
                ip: *const Threaded,
                file: *mut u32,
                state: &mut State,
            ) -> *const Threaded {
                // SAFETY: as above.
                unsafe { super::mixed_row::<R, N>(ip, file, state) }
            }

            $(#[$attribute])?
            pub(super) unsafe fn word_row<R: WordRow<N>, const N: usize>(
                ip: *const Threaded,
                file: *mut u32,
                state: &mut State,
            ) -> *const Threaded {
                // SAFETY: as above.
                unsafe { super::word_row::<R, N>(ip, file, state) }
            }

            $(#[$attribute])?
            pub(super) unsafe fn branch_row<R: WordRow<N>, const N: usize, const WHEN: bool>(
                ip: *const Threaded,
                file: *mut u32,
                state: &mut State,
            ) -> *const Threaded {
                // SAFETY: as above.
                unsafe { super::branch_row::<R, N, WHEN>(ip, file, state) }
            }
        }
    };
}

level!(baseline);
#[cfg(target_arch = "x86_64")]
level!(avx2, #[target_feature(enable = "avx2,fma")]);

/// The words of an instruction's operands.
///
/// # Safety
/// As for a [`Handler`] whose first word is written and whose next `N` words are slots that are read.
#[inline(always)]
unsafe fn operands<const N: usize>(words: &[u32; 4], file: *mut u32) -> [u32; N] {
    let mut all = [0; N];
    let mut i = 0;
    while i < N {
        // SAFETY: validation checked that the operand's slot is in the file.
        all[i] = unsafe { file.add(words[i + 1] as usize).read_volatile() };
        i += 1;
    }
    all
}

/// The operands of a float row, with truth values as 0 or 1.
#[inline(always)]
fn floats<R: Row<N>, const N: usize>(words: [u32; N]) -> [f32; N] {
    let mut all = [0.0; N];
    let mut i = 0;
    while i < N {
        all[i] = operand_float(R::INFO.operands[i], words[i]);
        i += 1;
    }
    all
}

/// The shadows of the operands that `mask` has, along one direction.
///
/// # Safety
/// As for [`operands`]; the operands in `mask` have that shadow.
#[inline(always)]
unsafe fn shadows<const N: usize>(
    words: &[u32; 4],
    file: *mut u32,
    mask: u8,
    direction: Direction,
) -> [Option<f32>; N] {
    let mut all = [None; N];
    let mut i = 0;
    while i < N {
        if mask & (1 << i) != 0 {
            let slot = words[i + 1] as usize + offset(direction);
            // SAFETY: validation checked that the shadow's slot is in the file, too.
            all[i] = Some(f32::from_bits(unsafe { file.add(slot).read_volatile() }));
        }
        i += 1;
    }
    all
}

/// Slots from a value to its shadow.
pub(super) const fn offset(direction: Direction) -> usize {
    match direction {
        Direction::X => 1,
        Direction::Y => 2,
    }
}

#[inline(always)]
unsafe fn float_row<R: Row<N>, const N: usize, const LANES: u8, const MASK: u8>(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
) -> *const Threaded {
    let lanes = const { Lanes::from_bits(LANES) };
    // SAFETY: a handler's instruction exists; validation checked its slots and their shadows. All is read before anything is written,
    // since the result may stand where an operand stood.
    unsafe {
        let words = &(*ip).words;
        let args = floats::<R, N>(operands(words, file));
        let value = R::value(args);
        let to = file.add(words[0] as usize);
        if lanes.is_none() {
            *to = value.to_bits();
            return next(ip, file, state);
        }
        let partials = R::partials(args, value);
        // The partials serve both directions. No closures here: they are not always inlined where features differ.
        let x = if lanes.has(Direction::X) {
            let shadows = shadows(words, file, MASK, Direction::X);
            tangent(R::INFO.singular, &partials, shadows, value)
        } else {
            0.0
        };
        let y = if lanes.has(Direction::Y) {
            let shadows = shadows(words, file, MASK, Direction::Y);
            tangent(R::INFO.singular, &partials, shadows, value)
        } else {
            0.0
        };
        if lanes.has(Direction::X) {
            to.add(offset(Direction::X)).write_volatile(x.to_bits());
        }
        if lanes.has(Direction::Y) {
            to.add(offset(Direction::Y)).write_volatile(y.to_bits());
        }
        *to = value.to_bits();
        next(ip, file, state)
    }
}

#[inline(always)]
unsafe fn mixed_row<R: Row<N>, const N: usize>(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
) -> *const Threaded {
    // SAFETY: as for `float_row`.
    unsafe {
        let position = state.position(ip);
        let Opcode::Row(_, pattern) = state.program.code[position as usize].opcode else {
            unreachable!("only rows are loaded as rows");
        };
        let words = &(*ip).words;
        let args = floats::<R, N>(operands(words, file));
        let value = R::value(args);
        let partials = R::partials(args, value);
        let to = file.add(words[0] as usize);
        let shadows = Direction::BOTH.map(|direction| {
            let mut mask = 0;
            for i in 0..N {
                mask |= u8::from(pattern.operand(i).has(direction)) << i;
            }
            shadows(words, file, mask, direction)
        });
        for (direction, shadows) in Direction::BOTH.into_iter().zip(shadows) {
            if pattern.result().has(direction) {
                let shadow = tangent(R::INFO.singular, &partials, shadows, value);
                *to.add(offset(direction)) = shadow.to_bits();
            }
        }
        *to = value.to_bits();
        next(ip, file, state)
    }
}

#[inline(always)]
unsafe fn word_row<R: WordRow<N>, const N: usize>(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
) -> *const Threaded {
    // SAFETY: a handler's instruction exists, and validation checked its slots.
    unsafe {
        let words = &(*ip).words;
        let args = operands::<N>(words, file);
        if R::INFO.faulting && R::faults(args) {
            state.fault(ip, FaultKind::DivisionByZero);
        }
        *file.add(words[0] as usize) = R::value(args);
        next(ip, file, state)
    }
}

#[inline(always)]
unsafe fn branch_row<R: WordRow<N>, const N: usize, const WHEN: bool>(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
) -> *const Threaded {
    // SAFETY: a handler's instruction exists, validation checked its slots and its target.
    unsafe {
        let words = &(*ip).words;
        let holds = R::value(operands::<N>(words, file)) != 0;
        if holds == WHEN {
            next(ip, file, state)
        } else {
            jump(ip)
        }
    }
}

/// The instruction that the first word says, as a distance.
///
/// # Safety
/// The instruction exists and its first word is a target.
#[inline(always)]
pub(super) unsafe fn jump(ip: *const Threaded) -> *const Threaded {
    // SAFETY: validation checked that the target is an instruction; loading made it a distance.
    unsafe { ip.offset((*ip).words[0] as i32 as isize) }
}

/// Finds the routine of a row.
pub(super) struct FindRow {
    pub(super) pattern: Pattern,
    pub(super) level: Level,
}

impl OpVisitor for FindRow {
    type Out = Handler;

    fn float<R: Row<N>, const N: usize>(self) -> Handler {
        let result = self.pattern.result();
        let mut mask = 0;
        let mut uniform = true;
        for i in 0..N {
            let lanes = self.pattern.operand(i);
            mask |= u8::from(!lanes.is_none()) << i;
            uniform &= lanes.is_none() || lanes == result;
        }
        if !uniform {
            mask = 0;
        }
        macro_rules! find {
            ($($lanes:literal: $($mask:literal)*;)*) => {
                match (result.bits(), mask) {
                    (0, _) => at_level!(self.level, float_row::<R, N, 0, 0>),
                    $($(($lanes, $mask) => {
                        // Masks that the row has no operands for are not compiled.
                        if const { $mask < 1u8 << N } {
                            at_level!(self.level, float_row::<R, N, $lanes, $mask>)
                        } else {
                            unreachable!("the mask has a bit for each operand")
                        }
                    })*)*
                    _ => at_level!(self.level, mixed_row::<R, N>),
                }
            };
        }
        find! {
            1: 1 2 3 4 5 6 7;
            2: 1 2 3 4 5 6 7;
            3: 1 2 3 4 5 6 7;
        }
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> Handler {
        at_level!(self.level, word_row::<R, N>)
    }
}

/// Finds the routine that branches on a row.
pub(super) struct FindBranch {
    pub(super) when: bool,
    pub(super) level: Level,
}

impl OpVisitor for FindBranch {
    type Out = Option<Handler>;

    fn float<R: Row<N>, const N: usize>(self) -> Option<Handler> {
        None
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> Option<Handler> {
        if const { matches!(R::INFO.result, Kind::Bool) && !R::INFO.faulting } {
            Some(match self.when {
                true => at_level!(self.level, branch_row::<R, N, true>),
                false => at_level!(self.level, branch_row::<R, N, false>),
            })
        } else {
            None
        }
    }
}
