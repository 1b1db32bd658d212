//! Handlers of arithmetic instructions: one per op and lane pattern, made from the op's value, its
//! partials and the one tangent formula.
//!
//! Operands are read, and shadows written, one word at a time, by volatile accesses. Else LLVM
//! would join neighbours to vectors, and a wide read of words just written one by one stalls on
//! store forwarding.
//!
//! Each handler exists twice, for any processor and for one with AVX2 and FMA, from the same
//! source. Handlers are specialised for the patterns where each operand has all of the result's
//! shadows or none. Other patterns are read from the instruction as it runs, and so are those of
//! ops that share a routine.

use super::state::{Handler, PointState, ThreadedInstruction, next, offset};
use crate::bytecode::{Opcode, ShadowPattern, WORDS};
use adumbra_ir::types::{Direction, Lanes};
use adumbra_ops::definition::{BitOpDef, OpDef, OperandKind, tangent};
use adumbra_ops::scalar_eval::operand_float;
use adumbra_ops::{MAX_OPERANDS, OpVisitor};
use adumbra_simd::SimdLevel;

/// Names a handler for a level.
macro_rules! at_level {
    ($level:expr, $body:ident::<$($generic:tt),*>) => {
        match $level {
            // One point has no use for a higher level.
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 | SimdLevel::Avx512 => avx2::$body::<$($generic),*> as Handler,
            _ => baseline::$body::<$($generic),*> as Handler,
        }
    };
}

/// Names the handler of an op for a pattern, at a level. Where most processors have a higher level,
/// the baseline has to run, not to be fast: it uses the handler for any pattern.
macro_rules! made_for {
    ($level:expr, $op:ident, $n:ident, $($pattern:tt),*) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 | SimdLevel::Avx512 => avx2::float_op::<$op, $n, $($pattern),*> as Handler,
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Baseline => baseline::mixed_op::<$op, $n> as Handler,
            #[cfg(not(target_arch = "x86_64"))]
            _ => baseline::float_op::<$op, $n, $($pattern),*> as Handler,
        }
    };
}

/// The handlers at one level: bodies with that level's features.
macro_rules! level {
    ($name:ident $(, #[$attribute:meta])?) => {
        mod $name {
            use super::{BitOpDef, OpDef, PointState, ThreadedInstruction};

            /// # Safety
            /// As for [`Handler`](super::Handler).
            $(#[$attribute])?
            pub(super) unsafe fn float_op<
                R: OpDef<N>,
                const N: usize,
                const LANES: u8,
                const MASK: u8,
                const HELD: u8,
            >(
                ip: *const ThreadedInstruction,
                file: *mut u32,
                state: &mut PointState,
                value: f32,
                ddx: f32,
                ddy: f32,
            ) -> *const ThreadedInstruction {
                let held = [value, ddx, ddy];
                // SAFETY: the body requires the same as a `Handler`.
                unsafe { super::float_op::<R, N, LANES, MASK, HELD>(ip, file, state, held) }
            }

            /// # Safety
            /// As for [`Handler`](super::Handler).
            $(#[$attribute])?
            pub(super) unsafe fn mixed_op<R: OpDef<N>, const N: usize>(
                ip: *const ThreadedInstruction,
                file: *mut u32,
                state: &mut PointState,
                _: f32,
                _: f32,
                _: f32,
            ) -> *const ThreadedInstruction {
                // SAFETY: the body requires the same as a `Handler`.
                unsafe { super::mixed_op::<R, N>(ip, file, state) }
            }

            /// # Safety
            /// As for [`Handler`](super::Handler).
            $(#[$attribute])?
            pub(super) unsafe fn bit_op<R: BitOpDef<N>, const N: usize>(
                ip: *const ThreadedInstruction,
                file: *mut u32,
                state: &mut PointState,
                _: f32,
                _: f32,
                _: f32,
            ) -> *const ThreadedInstruction {
                // SAFETY: the body requires the same as a `Handler`.
                unsafe { super::bit_op::<R, N>(ip, file, state) }
            }

            /// # Safety
            /// As for [`Handler`](super::Handler).
            $(#[$attribute])?
            pub(super) unsafe fn branch_op<R: BitOpDef<N>, const N: usize, const WHEN: bool>(
                ip: *const ThreadedInstruction,
                file: *mut u32,
                state: &mut PointState,
                _: f32,
                _: f32,
                _: f32,
            ) -> *const ThreadedInstruction {
                // SAFETY: the body requires the same as a `Handler`.
                unsafe { super::branch_op::<R, N, WHEN>(ip, file, state) }
            }
        }
    };
}

level!(baseline);
#[cfg(target_arch = "x86_64")]
level!(avx2, #[target_feature(enable = "avx2,fma")]);

/// The word of an operand.
///
/// # Safety
/// As for a [`Handler`]; the operand is one that the op has.
#[inline(always)]
unsafe fn operand(words: &[u32; WORDS], file: *mut u32, index: usize) -> u32 {
    // SAFETY: validation checked that the operand's register is in the file.
    unsafe { file.add(words[index + 1] as usize).read_volatile() }
}

/// The words of an op's operands.
///
/// # Safety
/// As for [`operand`].
#[inline(always)]
unsafe fn operands<const N: usize>(words: &[u32; WORDS], file: *mut u32) -> [u32; N] {
    let mut all = [0; N];
    let mut i = 0;
    while i < N {
        // SAFETY: guaranteed by the caller.
        all[i] = unsafe { operand(words, file, i) };
        i += 1;
    }
    all
}

/// The operands of an op on floats, with booleans as 0 or 1; those in `held_by` are `held`.
///
/// # Safety
/// As for [`operand`].
#[inline(always)]
unsafe fn floats<R: OpDef<N>, const N: usize>(
    words: &[u32; WORDS],
    file: *mut u32,
    held_by: u8,
    held: f32,
) -> [f32; N] {
    let mut all = [held; N];
    let mut i = 0;
    while i < N {
        if held_by & (1 << i) == 0 {
            // SAFETY: guaranteed by the caller.
            all[i] = operand_float(R::INFO.operands[i], unsafe { operand(words, file, i) });
        }
        i += 1;
    }
    all
}

/// The shadows of the operands that `mask` has, along one direction; those of the operands in
/// `held_by` are `held`.
///
/// # Safety
/// As for [`operand`]; the operands in `mask` have that shadow.
#[inline(always)]
unsafe fn shadows<const N: usize>(
    words: &[u32; WORDS],
    file: *mut u32,
    mask: u8,
    direction: Direction,
    held_by: u8,
    held: f32,
) -> [Option<f32>; N] {
    let mut all = [None; N];
    let mut i = 0;
    while i < N {
        if mask & held_by & (1 << i) != 0 {
            all[i] = Some(held);
        } else if mask & (1 << i) != 0 {
            let register = words[i + 1] as usize + offset(direction);
            // SAFETY: validation checked that the shadow's register is in the file, too.
            all[i] = Some(f32::from_bits(unsafe {
                file.add(register).read_volatile()
            }));
        }
        i += 1;
    }
    all
}

/// `held` is the forwarded value of the previous instruction.
///
/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn float_op<R: OpDef<N>, const N: usize, const LANES: u8, const MASK: u8, const HELD: u8>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    held: [f32; 3],
) -> *const ThreadedInstruction {
    let lanes = const { Lanes::from_bits(LANES) };
    // SAFETY: a handler's instruction exists; validation checked its registers and their shadows.
    // All is read before anything is written, since the result may overlap an operand.
    unsafe {
        let words = &(*ip).words;
        let args = floats::<R, N>(words, file, HELD, held[0]);
        let value = R::value(args);
        let to = file.add(words[0] as usize);
        let (mut x, mut y) = (0.0, 0.0);
        if !lanes.is_none() {
            // The partials serve both directions. No closures here: LLVM does not always inline
            // them where features differ.
            let partials = R::partials(args, value);
            if lanes.has(Direction::X) {
                let shadows = shadows(words, file, MASK, Direction::X, HELD, held[1]);
                x = tangent(&partials, shadows, value);
            }
            if lanes.has(Direction::Y) {
                let shadows = shadows(words, file, MASK, Direction::Y, HELD, held[2]);
                y = tangent(&partials, shadows, value);
            }
        }
        if lanes.has(Direction::X) {
            to.add(offset(Direction::X)).write_volatile(x.to_bits());
        }
        if lanes.has(Direction::Y) {
            to.add(offset(Direction::Y)).write_volatile(y.to_bits());
        }
        *to = value.to_bits();
        let ip = ip.add(1);
        ((*ip).handler)(ip, file, state, value, x, y)
    }
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn mixed_op<R: OpDef<N>, const N: usize>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
) -> *const ThreadedInstruction {
    // SAFETY: a handler's instruction exists; validation checked its registers and their shadows.
    // All is read before anything is written.
    unsafe {
        let position = state.position(ip);
        let Opcode::Arithmetic(_, pattern) = state.program.code[position as usize].opcode else {
            unreachable!("only arithmetic instructions have this handler");
        };
        let words = &(*ip).words;
        let (value, partials) = R::value_and_partials(floats::<R, N>(words, file, 0, 0.0));
        let to = file.add(words[0] as usize);
        // No closure: one that is not inlined lacks the target features of this function.
        let mut all_shadows = [[None; N]; Direction::BOTH.len()];
        for direction in Direction::BOTH {
            let mut mask = 0;
            for i in 0..N {
                mask |= u8::from(pattern.operand(i).has(direction)) << i;
            }
            all_shadows[direction as usize] = shadows(words, file, mask, direction, 0, 0.0);
        }
        for direction in Direction::BOTH {
            if pattern.result().has(direction) {
                let shadow = tangent(&partials, all_shadows[direction as usize], value);
                *to.add(offset(direction)) = shadow.to_bits();
            }
        }
        *to = value.to_bits();
        next(ip, file, state)
    }
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn bit_op<R: BitOpDef<N>, const N: usize>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
) -> *const ThreadedInstruction {
    // SAFETY: a handler's instruction exists, and validation checked its registers.
    unsafe {
        let words = &(*ip).words;
        let args = operands::<N>(words, file);
        if let Some(kind) = R::INFO.fault
            && R::faults(args)
        {
            state.fault(ip, kind.into());
        }
        *file.add(words[0] as usize) = R::value(args);
        next(ip, file, state)
    }
}

/// # Safety
/// As for [`Handler`].
#[inline(always)]
unsafe fn branch_op<R: BitOpDef<N>, const N: usize, const WHEN: bool>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
) -> *const ThreadedInstruction {
    // SAFETY: a handler's instruction exists, validation checked its registers and its target.
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

/// The jump target: the instruction at the distance in the first word.
///
/// # Safety
/// The instruction exists and its first word is a target.
#[inline(always)]
pub(super) unsafe fn jump(ip: *const ThreadedInstruction) -> *const ThreadedInstruction {
    // SAFETY: validation checked that the target is an instruction; loading made it a distance.
    unsafe { ip.offset((*ip).words[0] as i32 as isize) }
}

/// The operands that have shadows, one bit each, if the pattern has handlers of its own.
pub(super) fn shadow_mask(pattern: ShadowPattern) -> Option<u8> {
    let result = pattern.result();
    let mut mask = 0;
    for i in 0..MAX_OPERANDS {
        let lanes = pattern.operand(i);
        if lanes != Lanes::NONE && lanes != result {
            return None;
        }
        mask |= u8::from(!lanes.is_none()) << i;
    }
    (result.is_none() == (mask == 0)).then_some(mask)
}

/// The value that the previous instruction forwards in processor registers: the register that holds
/// it as well, and its lanes.
#[derive(Clone, Copy)]
pub(super) struct ForwardedValue {
    pub(super) register: u32,
    pub(super) lanes: Lanes,
}

/// Finds the handler of an op.
pub(super) struct FindArithmetic {
    pub(super) pattern: ShadowPattern,
    pub(super) level: SimdLevel,
    /// The registers of the operands.
    pub(super) registers: [u32; MAX_OPERANDS],
    pub(super) forwarded: Option<ForwardedValue>,
}

impl FindArithmetic {
    /// The operands that are forwarded, one bit each. Handlers exist for one or two such operands,
    /// with no shadows or both.
    fn held_by(&self, kinds: &[OperandKind]) -> u8 {
        let result = self.pattern.result();
        let Some(held) = self.forwarded else { return 0 };
        if kinds.len() > 2 || !(result.is_none() || result == Lanes::XY) {
            return 0;
        }
        let mut mask = 0;
        for (i, &kind) in kinds.iter().enumerate() {
            let fits =
                self.registers[i] == held.register && held.lanes.contains(self.pattern.operand(i));
            mask |= u8::from(fits && kind == OperandKind::Float) << i;
        }
        mask
    }
}

impl OpVisitor for FindArithmetic {
    type Out = Handler;

    fn float<R: OpDef<N>, const N: usize>(self) -> Handler {
        // Handlers that are not specialised are not compiled for the patterns.
        if const { R::INFO.shares_shadow_routine } {
            return match self.pattern.result().is_none() {
                true => at_level!(self.level, float_op::<R, N, 0, 0, 0>),
                false => at_level!(self.level, mixed_op::<R, N>),
            };
        }
        let Some(mask) = shadow_mask(self.pattern) else {
            return at_level!(self.level, mixed_op::<R, N>);
        };
        macro_rules! find {
            ($($lanes:literal: $($mask:literal)*, held $($held:literal)*;)*) => {
                find!(@ $(($lanes: [$($mask)*] [$($held)*]))*)
            };
            (@ $(($lanes:literal: [$($mask:literal)*] $held:tt))*) => {
                match (self.pattern.result().bits(), mask) {
                    $($(($lanes, $mask) => find!(@@ $lanes $mask $held),)*)*
                    _ => unreachable!("the pattern is special"),
                }
            };
            (@@ $lanes:literal $mask:literal [$($held:literal)*]) => {
                // Masks of more operands than the op has are not compiled.
                if const { $mask < 1u8 << N } {
                    match self.held_by(R::INFO.operands) {
                        $($held => if const { N < 3 && $held < 1u8 << N } {
                            made_for!(self.level, R, N, $lanes, $mask, $held)
                        } else {
                            unreachable!("only operands are held")
                        })*
                        _ => made_for!(self.level, R, N, $lanes, $mask, 0),
                    }
                } else {
                    unreachable!("the mask has a bit for each operand")
                }
            };
        }
        find! {
            0: 0, held 1 2 3;
            1: 1 2 3 4 5 6 7, held;
            2: 1 2 3 4 5 6 7, held;
            3: 1 2 3 4 5 6 7, held 1 2 3;
        }
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Handler {
        at_level!(self.level, bit_op::<R, N>)
    }
}

/// Finds the handler that branches on an op.
pub(super) struct FindBranch {
    pub(super) when: bool,
    pub(super) level: SimdLevel,
}

impl OpVisitor for FindBranch {
    type Out = Option<Handler>;

    fn float<R: OpDef<N>, const N: usize>(self) -> Option<Handler> {
        None
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> Option<Handler> {
        if const { matches!(R::INFO.result, OperandKind::Bool) && R::INFO.fault.is_none() } {
            Some(match self.when {
                true => at_level!(self.level, branch_op::<R, N, true>),
                false => at_level!(self.level, branch_op::<R, N, false>),
            })
        } else {
            None
        }
    }
}
