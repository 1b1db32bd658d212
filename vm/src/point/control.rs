//! The routines for everything but rows: moves, globals, arrays, calls, textures, closures.

use super::rows::{jump, offset};
use super::state::{Caller, Handler, State, Threaded, next};
use crate::bytecode::{Array, Opcode, width};
use adumbra_ir::host::{
    ClosureRef, FaultKind, SampleRequest, Sampled, TextureHost, leaving, read_shadow,
};
use adumbra_ir::module::{ClosureId, TextureId};
use adumbra_ir::types::{Direction, Lanes, Scalar};

/// A file's slot.
///
/// # Safety
/// The slot is in the file.
#[inline(always)]
unsafe fn read(file: *mut u32, slot: u32) -> u32 {
    // SAFETY: asked of the caller.
    unsafe { *file.add(slot as usize) }
}

/// A value with shadows goes from one place to another; shadows that `FROM` lacks become zero. The places may overlap.
///
/// # Safety
/// Both places with these shadows are in the file.
#[inline(always)]
unsafe fn copy<const TO: u8, const FROM: u8>(to: *mut u32, from: *const u32) {
    // SAFETY: asked of the caller. Volatile as in `rows`: word by word.
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

/// Chooses a routine by two sets of shadows.
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
    unsafe fn body<const TO: u8, const FROM: u8>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked both places.
        unsafe {
            let words = &(*ip).words;
            copy::<TO, FROM>(file.add(words[0] as usize), file.add(words[1] as usize));
            next(ip, file, state)
        }
    }
    by_lanes!(body, to, from)
}

/// `words`: to, word of the value among the globals, words from there to its shadows.
pub(super) fn find_global(lanes: Lanes) -> Handler {
    unsafe fn body<const LANES: u8>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked the slots and that the three words are among the globals, whose length `run` checked.
        unsafe {
            let [to, word, stride, _] = (*ip).words;
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
        }
    }
    match lanes.bits() {
        0 => body::<0>,
        1 => body::<1>,
        2 => body::<2>,
        _ => body::<3>,
    }
}

/// `words`: to, from.
pub(super) fn find_shadow(direction: Direction) -> Handler {
    unsafe fn body<const OFFSET: usize>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked the slot that is written and the shadow that is read.
        unsafe {
            let words = &(*ip).words;
            let shadow = f32::from_bits(*file.add(words[1] as usize + OFFSET));
            *file.add(words[0] as usize) = read_shadow(shadow).to_bits();
            next(ip, file, state)
        }
    }
    match direction {
        Direction::X => body::<{ offset(Direction::X) }>,
        Direction::Y => body::<{ offset(Direction::Y) }>,
    }
}

/// The index as it is used, below `len`; a fault if it is not what was asked for.
#[inline(always)]
fn clamp(ip: *const Threaded, state: &mut State, index: u32, len: u32) -> u32 {
    if index < len {
        return index;
    }
    state.fault(ip, FaultKind::IndexOutOfRange);
    if (index as i32) < 0 { 0 } else { len - 1 }
}

/// `words`: to, index, first element, number of elements.
pub(super) fn find_load(to: Lanes, from: Lanes) -> Handler {
    unsafe fn body<const TO: u8, const FROM: u8>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked the slots and the array; the index is below its length.
        unsafe {
            let [to, index, base, len] = (*ip).words;
            let index = clamp(ip, state, read(file, index), len);
            let element = base + index * width(Lanes::from_bits(FROM));
            copy::<TO, FROM>(file.add(to as usize), file.add(element as usize));
            next(ip, file, state)
        }
    }
    by_lanes!(body, to, from)
}

/// `words`: first element, number of elements, index, from.
pub(super) fn find_store(to: Lanes, from: Lanes) -> Handler {
    unsafe fn body<const TO: u8, const FROM: u8>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked the slots and the array; the index is below its length.
        unsafe {
            let [base, len, index, from] = (*ip).words;
            let index = clamp(ip, state, read(file, index), len);
            let element = base + index * width(Lanes::from_bits(TO));
            copy::<TO, FROM>(file.add(element as usize), file.add(from as usize));
            next(ip, file, state)
        }
    }
    by_lanes!(body, to, from)
}

/// `words`: first slot, number of slots.
pub(super) unsafe fn array_zero(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the array.
    unsafe {
        let [base, slots, ..] = (*ip).words;
        file.add(base as usize).write_bytes(0, slots as usize);
        next(ip, file, state)
    }
}

/// Copies elements from one place to another; shadows that the source lacks become zero.
///
/// # Safety
/// At `to` are `array_to`'s slots, at `from` `array_from`'s; the two are the same or do not overlap.
unsafe fn copy_elements(to: *mut u32, array_to: Array, from: *const u32, array_from: Array) {
    // SAFETY: asked of the caller; the shorter length bounds both.
    unsafe {
        if array_to.lanes == array_from.lanes {
            let slots = array_to.slots().min(array_from.slots());
            std::ptr::copy(from, to, slots as usize);
            return;
        }
        for i in 0..array_to.len.min(array_from.len) {
            let to = to.add((i * array_to.stride()) as usize);
            let from = from.add((i * array_from.stride()) as usize);
            *to = *from;
            for direction in Direction::BOTH {
                if array_to.lanes.has(direction) {
                    let offset = offset(direction);
                    let has = array_from.lanes.has(direction);
                    *to.add(offset) = if has { *from.add(offset) } else { 0 };
                }
            }
        }
    }
}

/// The arrays that the first two words name.
///
/// # Safety
/// The instruction exists.
unsafe fn two_arrays(ip: *const Threaded, state: &State) -> [Array; 2] {
    // SAFETY: asked of the caller.
    let words = unsafe { (*ip).words };
    [words[0], words[1]].map(|array| state.program.arrays[array as usize])
}

/// `words`: to, from, as numbers of arrays.
pub(super) unsafe fn array_copy(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked both arrays, and that they are the same or do not overlap.
    unsafe {
        let [to, from] = two_arrays(ip, state);
        copy_elements(
            file.add(to.base as usize),
            to,
            file.add(from.base as usize),
            from,
        );
        next(ip, file, state)
    }
}

/// The saved words from `distance` below the top, if there are as many as the array has slots.
fn saved(state: &mut State, distance: u32, array: Array) -> Option<&mut [u32]> {
    let start = state.saved_top.checked_sub(distance as usize)?;
    let end = start.checked_add(array.slots() as usize)?;
    state.saved[..state.saved_top].get_mut(start..end)
}

/// `words`: to, from, as numbers of arrays; distance of the second below the top of the save stack.
pub(super) unsafe fn array_from_saved(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked both arrays; what is saved is no part of the file, and long enough.
    unsafe {
        let [to, from] = two_arrays(ip, state);
        match saved(state, (*ip).words[2], from) {
            Some(words) => copy_elements(file.add(to.base as usize), to, words.as_ptr(), from),
            None => return state.stop(ip, FaultKind::Unreachable),
        }
        next(ip, file, state)
    }
}

/// `words`: to, from, as numbers of arrays; distance of the first below the top of the save stack.
pub(super) unsafe fn array_to_saved(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked both arrays; what is saved is no part of the file, and long enough.
    unsafe {
        let [to, from] = two_arrays(ip, state);
        match saved(state, (*ip).words[2], to) {
            Some(words) => {
                copy_elements(words.as_mut_ptr(), to, file.add(from.base as usize), from)
            }
            None => return state.stop(ip, FaultKind::Unreachable),
        }
        next(ip, file, state)
    }
}

/// `words`: first slot, number of slots.
pub(super) unsafe fn save(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the range.
    unsafe {
        let [start, len, ..] = (*ip).words;
        let frame = std::slice::from_raw_parts(file.add(start as usize), len as usize);
        let end = state.saved_top + frame.len();
        let Some(free) = state.saved.get_mut(state.saved_top..end) else {
            return state.stop(ip, FaultKind::CallDepth);
        };
        free.copy_from_slice(frame);
        state.saved_top = end;
        next(ip, file, state)
    }
}

/// `words`: first slot, number of slots.
pub(super) unsafe fn restore(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the range; the words are no part of the file.
    unsafe {
        let [start, len, ..] = (*ip).words;
        let Some(bottom) = state.saved_top.checked_sub(len as usize) else {
            return state.stop(ip, FaultKind::Unreachable);
        };
        let words = &state.saved[bottom..state.saved_top];
        std::ptr::copy_nonoverlapping(words.as_ptr(), file.add(start as usize), words.len());
        state.saved_top = bottom;
        next(ip, file, state)
    }
}

/// `words`: distance to the target, condition.
pub(super) fn find_branch_if(when: bool) -> Handler {
    unsafe fn body<const WHEN: bool>(
        ip: *const Threaded,
        file: *mut u32,
        state: &mut State,
        _: f32,
        _: f32,
        _: f32,
    ) -> *const Threaded {
        // SAFETY: validation checked the slot and the target.
        unsafe {
            let holds = read(file, (*ip).words[1]) != 0;
            if holds == WHEN {
                next(ip, file, state)
            } else {
                jump(ip)
            }
        }
    }
    if when { body::<true> } else { body::<false> }
}

/// `words`: distance to the target.
pub(super) unsafe fn jump_to(
    ip: *const Threaded,
    _: *mut u32,
    _: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the target.
    unsafe { jump(ip) }
}

/// `words`: distance to the target.
pub(super) unsafe fn loop_to(
    ip: *const Threaded,
    _: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    if let Some(kind) = state.step() {
        return state.stop(ip, kind);
    }
    // SAFETY: validation checked the target.
    unsafe { jump(ip) }
}

/// `words`: distance to the function's first instruction, array elements that it holds.
pub(super) unsafe fn call(
    ip: *const Threaded,
    _: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked that the function and an instruction behind the call exist.
    unsafe {
        let elements = (*ip).words[1];
        if let Some(kind) = state.enter(state.calls.len() + 2, elements) {
            return state.stop(ip, kind);
        }
        if state.calls.len() == state.calls.capacity() {
            return state.stop(ip, FaultKind::CallDepth);
        }
        state.calls.push(Caller {
            ip: ip.add(1),
            elements,
        });
        jump(ip)
    }
}

pub(super) unsafe fn return_to(
    _: *const Threaded,
    _: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    match state.calls.pop() {
        Some(caller) => {
            state.elements += caller.elements;
            caller.ip
        }
        None => std::ptr::null(),
    }
}

pub(super) unsafe fn unreachable(
    ip: *const Threaded,
    _: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    state.stop(ip, FaultKind::Unreachable)
}

/// `words`: texture, u, v, list of the slots of the results.
pub(super) unsafe fn sample<const RESULTS: usize>(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked slots, shadows and the list; `run` lent the textures for as long as it goes on.
    unsafe {
        let [texture, u, v, list] = (*ip).words;
        let position = state.position(ip);
        let Opcode::Sample(_, u_lanes, v_lanes) = state.program.code[position as usize].opcode
        else {
            unreachable!("only samples are loaded as samples");
        };
        let shadow = |slot: u32, lanes: Lanes, direction: Direction| {
            let bits = if lanes.has(direction) {
                read(file, slot + offset(direction) as u32)
            } else {
                0
            };
            leaving(read_shadow(f32::from_bits(bits)))
        };
        let request = SampleRequest {
            texture: TextureId(texture),
            u: leaving(f32::from_bits(read(file, u))),
            v: leaving(f32::from_bits(read(file, v))),
            dudx: shadow(u, u_lanes, Direction::X),
            dudy: shadow(u, u_lanes, Direction::Y),
            dvdx: shadow(v, v_lanes, Direction::X),
            dvdy: shadow(v, v_lanes, Direction::Y),
        };
        let textures: &mut dyn TextureHost = &mut *state.textures;
        let Sampled::Ready(rgba) = textures.sample(&request);
        let channels = if RESULTS == 1 { &rgba[3..] } else { &rgba[..3] };
        let slots = &state.lists[list as usize..][..RESULTS];
        for (&slot, channel) in slots.iter().zip(channels) {
            *file.add(slot as usize) = channel.to_bits();
        }
        next(ip, file, state)
    }
}

impl State {
    /// A resource from a register; what the program does not have is its last one.
    pub(super) fn resource(&self, word: u32) -> u32 {
        let count = self.program.interface.resources.len() as u32;
        word.min(count.saturating_sub(1))
    }

    /// A closure from a register; what the arena did not make is the empty closure.
    pub(super) fn closure(&self, word: u32) -> ClosureRef {
        let closure = ClosureRef::from_word(word);
        match self.closures.node(closure) {
            Some(_) => closure,
            None => ClosureRef::EMPTY,
        }
    }

    /// Whether the point's closures are within their limit.
    fn closures_fit(&self) -> bool {
        self.closures.size() <= self.limits.closure_size as usize
    }

    /// Writes a closure and goes on, if the limit allows it.
    ///
    /// # Safety
    /// The instruction exists and its first word is a slot of the file.
    unsafe fn put_closure(
        &mut self,
        ip: *const Threaded,
        file: *mut u32,
        closure: ClosureRef,
    ) -> *const Threaded {
        if !self.closures_fit() {
            return self.stop(ip, FaultKind::ClosureSize);
        }
        // SAFETY: asked of the caller.
        unsafe {
            *file.add((*ip).words[0] as usize) = closure.word();
            next(ip, file, self)
        }
    }
}

/// `words`: to, shape, list of the arguments' slots.
pub(super) unsafe fn make_closure(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the shape, and the list's slots.
    unsafe {
        let [_, shape, list, _] = (*ip).words;
        let mut args = std::mem::take(&mut state.arguments);
        let mut at = list as usize;
        for ty in &state.program.interface.closures[shape as usize].params {
            ty.for_each_scalar(&mut |scalar| {
                let word = read(file, state.lists[at]);
                at += 1;
                args.push(match scalar {
                    Scalar::F32 => leaving(f32::from_bits(word)).to_bits(),
                    Scalar::Closure => state.closure(word).word(),
                    Scalar::Resource => state.resource(word),
                    _ => word,
                });
            });
        }
        let closure = state.closures.leaf(ClosureId(shape), args.drain(..));
        state.arguments = args;
        state.put_closure(ip, file, closure)
    }
}

/// `words`: to, closure, closure.
pub(super) unsafe fn closure_add(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the slots.
    unsafe {
        let [_, a, b, _] = (*ip).words;
        let (a, b) = (state.closure(read(file, a)), state.closure(read(file, b)));
        let closure = state.closures.add(a, b);
        state.put_closure(ip, file, closure)
    }
}

/// `words`: to, closure, weight.
pub(super) unsafe fn closure_scale(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the slots.
    unsafe {
        let [_, a, weight, _] = (*ip).words;
        let a = state.closure(read(file, a));
        let closure = state.closures.scale(a, f32::from_bits(read(file, weight)));
        state.put_closure(ip, file, closure)
    }
}

/// `words`: to, closure, list of the colour's slots.
pub(super) unsafe fn closure_tint(
    ip: *const Threaded,
    file: *mut u32,
    state: &mut State,
    _: f32,
    _: f32,
    _: f32,
) -> *const Threaded {
    // SAFETY: validation checked the slots and the list.
    unsafe {
        let [_, a, list, _] = (*ip).words;
        let a = state.closure(read(file, a));
        let color = [0, 1, 2].map(|i| {
            let slot = state.lists[list as usize + i];
            f32::from_bits(read(file, slot))
        });
        let closure = state.closures.tint(a, color);
        state.put_closure(ip, file, closure)
    }
}
