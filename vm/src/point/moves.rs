//! Handlers that move values: between registers, from the globals, from a shadow.

use super::state::offset;
use super::state::{Handler, handler, next};
use adumbra_ir::host::read_shadow;
use adumbra_ir::types::{Direction, Lanes};

/// The word in a register of the file.
///
/// # Safety
/// The register is in the file.
#[inline(always)]
pub(super) unsafe fn read(file: *mut u32, register: u32) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { *file.add(register as usize) }
}

/// Copies a value with shadows; shadows that `FROM` lacks become zero. Source and target may
/// overlap.
///
/// # Safety
/// Source and target with these lanes are in the file.
#[inline(always)]
pub(super) unsafe fn copy<const TO: u8, const FROM: u8>(to: *mut u32, from: *const u32) {
    // SAFETY: guaranteed by the caller. Volatile as in `arithmetic`: word by word.
    unsafe {
        let value = from.read_volatile();
        let shadow = |direction: Direction| {
            if const { Lanes::from_bits(FROM & TO) }.has(direction) {
                from.add(offset(direction)).read_volatile()
            } else {
                0
            }
        };
        let (x, y) = (shadow(Direction::X), shadow(Direction::Y));
        *to = value;
        if TO & 1 != 0 {
            *to.add(offset(Direction::X)) = x;
        }
        if TO & 2 != 0 {
            *to.add(offset(Direction::Y)) = y;
        }
    }
}

/// Chooses a handler by two lane sets.
macro_rules! by_lanes {
    ($routine:ident, $first:expr, $second:expr) => {
        by_lanes!(@ $routine, $first, $second; 0 0, 0 1, 0 2, 0 3, 1 0, 1 1, 1 2, 1 3, 2 0, 2 1, 2 2, 2 3, 3 0, 3 1, 3 2, 3 3)
    };
    (@ $routine:ident, $first:expr, $second:expr; $($a:literal $b:literal),*) => {
        match ($first.bits(), $second.bits()) {
            $(($a, $b) => $routine::<$a, $b> as Handler,)*
            _ => unreachable!("a set of shadows has two bits"),
        }
    };
}

/// `words`: to, from.
pub(super) fn find_move(to: Lanes, from: Lanes) -> Handler {
    handler!(body, [TO, FROM], |ip, file, state| {
        // SAFETY: validation checked source and target.
        let words = &(*ip).words;
        copy::<TO, FROM>(file.add(words[0] as usize), file.add(words[1] as usize));
        next(ip, file, state)
    });
    by_lanes!(body, to, from)
}

/// `words`: to, word of the value among the globals, words from there to its shadows.
pub(super) fn find_global(lanes: Lanes) -> Handler {
    handler!(body, [LANES], |ip, file, state| {
        // SAFETY: validation checked the registers and that the three words are among the globals,
        // whose length `run` checked.
        let [to, word, stride, ..] = (*ip).words;
        let to = file.add(to as usize);
        let from = state.globals.add(word as usize);
        *to = *from;
        for direction in Direction::BOTH {
            if Lanes::from_bits(LANES).has(direction) {
                let offset = offset(direction);
                *to.add(offset) = *from.add(offset * stride as usize);
            }
        }
        next(ip, file, state)
    });
    match lanes.bits() {
        0 => body::<0>,
        1 => body::<1>,
        2 => body::<2>,
        _ => body::<3>,
    }
}

/// `words`: to, from.
pub(super) fn find_shadow(direction: Direction) -> Handler {
    handler!(body, [OFFSET], |ip, file, state| {
        // SAFETY: validation checked the register that is written and the shadow that is read.
        let words = &(*ip).words;
        let shadow = f32::from_bits(*file.add(words[1] as usize + OFFSET as usize));
        *file.add(words[0] as usize) = read_shadow(shadow).to_bits();
        next(ip, file, state)
    });
    match direction {
        Direction::X => body::<{ offset(Direction::X) as u8 }>,
        Direction::Y => body::<{ offset(Direction::Y) as u8 }>,
    }
}

pub(super) use by_lanes;
