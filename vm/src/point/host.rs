//! Handlers of instructions that need the host or the quad: textures, messages, closures,
//! resources, differences.

use super::moves::read;
use super::state::offset;
use super::state::{PointState, ThreadedInstruction, handler, next};
use crate::bytecode::{Opcode, SampleMip};
use crate::canonicalise;
use adumbra_ir::host::{
    ClosureRef, FaultKind, Host, SampleRequest, Texel, canonical_float, read_shadow,
};
use adumbra_ir::module::{ClosureId, ExplicitMip, MessageId, Slopes, TextureId};
use adumbra_ir::quad::QuadPause;
use adumbra_ir::types::{Direction, Lanes, Type};

// `words`: texture, u, v, list of the registers of the results.
handler!(sample, |ip, file, state| {
    // SAFETY: validation checked registers, shadows and the list; the caller of `execute` has lent
    // the host (`PointMachine::lend`).
    let [texture, u, v, ..] = (*ip).words;
    let Opcode::Sample(SampleMip::Shadows(u_lanes, v_lanes), slopes) = state.opcode(ip) else {
        unreachable!("only samples are loaded as samples");
    };
    let shadow = |register: u32, lanes: Lanes, direction: Direction| {
        let bits = if lanes.has(direction) {
            read(file, register + offset(direction) as u32)
        } else {
            0
        };
        canonical_float(read_shadow(f32::from_bits(bits)))
    };
    let request = SampleRequest {
        texture: TextureId(texture),
        u: canonical_float(f32::from_bits(read(file, u))),
        v: canonical_float(f32::from_bits(read(file, v))),
        dudx: shadow(u, u_lanes, Direction::X),
        dudy: shadow(u, u_lanes, Direction::Y),
        dvdx: shadow(v, v_lanes, Direction::X),
        dvdy: shadow(v, v_lanes, Direction::Y),
        level: None,
        slopes: slopes == Slopes::Given,
    };
    ask(ip, file, state, request)
});

// `words`: texture, list of u, v and the partials or the level, unused, list of the registers of
// the results.
handler!(sample_explicit, |ip, file, state| {
    // SAFETY: validation checked the lists; the caller of `execute` has lent the host
    // (`PointMachine::lend`).
    let Opcode::Sample(SampleMip::Explicit(mip), slopes) = state.opcode(ip) else {
        unreachable!("only samples are loaded as samples");
    };
    let request = explicit_request(ip, file, state, mip, slopes == Slopes::Given);
    ask(ip, file, state, request)
});

/// The canonical floats in the list that is the second word.
///
/// # Safety
/// The instruction belongs to the program of the state and the file, and its second word is a list
/// of at least `N` registers.
unsafe fn floats<const N: usize>(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &PointState,
) -> [f32; N] {
    // SAFETY: guaranteed by the caller; validation checked the registers of all lists.
    unsafe {
        let list = (*ip).words[1] as usize;
        std::array::from_fn(|i| canonical_float(f32::from_bits(read(file, state.lists[list + i]))))
    }
}

/// The request of a sample, or of its adjoint, whose first word is the texture and whose second the
/// list of u, v, and the partials or the level.
///
/// # Safety
/// As for [`floats`], of as many registers as the operands of the sample.
unsafe fn explicit_request(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &PointState,
    mip: ExplicitMip,
    slopes: bool,
) -> SampleRequest {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (u, v, [dudx, dvdx, dudy, dvdy], level) = match mip {
            ExplicitMip::Gradients => {
                let [u, v, partials @ ..] = floats::<6>(ip, file, state);
                (u, v, partials, None)
            }
            ExplicitMip::Level => {
                let [u, v, level] = floats(ip, file, state);
                (u, v, [0.0; 4], Some(level))
            }
        };
        SampleRequest {
            texture: TextureId((*ip).words[0]),
            u,
            v,
            dudx,
            dudy,
            dvdx,
            dvdy,
            level,
            slopes,
        }
    }
}

/// Passes a request to the host, and continues with its answer.
///
/// # Safety
/// The instruction is a sample of the program that the state and the file belong to, and `run` or
/// `answer` lent the host.
unsafe fn ask(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    request: SampleRequest,
) -> *const ThreadedInstruction {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let host: &mut dyn Host = &mut *state.host;
        match host.sample(&request).texel() {
            Some(texel) => {
                answer(ip, file, state, texel);
                next(ip, file, state)
            }
            None => {
                state.suspended = Some((ip, QuadPause::Texel(request)));
                std::ptr::null()
            }
        }
    }
}

/// Writes the results of a sample.
///
/// # Safety
/// The instruction is a sample of the program that the state and the file belong to.
pub(super) unsafe fn answer(
    ip: *const ThreadedInstruction,
    file: *mut u32,
    state: &mut PointState,
    texel: Texel,
) {
    let Opcode::Sample(_, slopes) = state.opcode(ip) else {
        unreachable!("only samples are answered");
    };
    if texel.lacks_slopes(slopes == Slopes::Given) {
        state.fault(ip, FaultKind::NoSlopes);
    }
    // SAFETY: guaranteed by the caller; validation checked the list.
    unsafe {
        let list = (*ip).words[3] as usize;
        let registers = &state.lists[list..list + slopes.result_count()];
        for (&register, word) in registers.iter().zip(texel.words()) {
            *file.add(register as usize) = word;
        }
    }
}

// `words`: texture, list of u, v, the partials or the level, and the adjoint's numbers.
handler!(texture_adjoint, |ip, file, state| {
    // SAFETY: validation checked the list, which has as many registers as the opcode has operands;
    // the caller of `execute` has lent the host (`PointMachine::lend`).
    let Opcode::TextureAdjoint(mip, slopes) = state.opcode(ip) else {
        unreachable!("only adjoints are loaded as adjoints");
    };
    let request = explicit_request(ip, file, state, mip, slopes == Slopes::Given);
    let first = (*ip).words[1] as usize + mip.operand_count();
    let numbers = state.lists[first..][..slopes.result_count()].iter();
    let numbers = numbers.map(|&register| canonical_float(f32::from_bits(read(file, register))));
    let adjoint = Texel::of_numbers(numbers);
    (*state.host).texture_adjoint(&request, &adjoint);
    next(ip, file, state)
});

// `words`: to, from. Suspends until the other points of the quad are here.
handler!(difference, |ip, file, state| {
    // SAFETY: validation checked the register.
    let Opcode::Difference(direction) = state.opcode(ip) else {
        unreachable!("only differences are loaded as differences");
    };
    let value = f32::from_bits(read(file, (*ip).words[1]));
    state.suspended = Some((ip, QuadPause::Difference(direction, value)));
    std::ptr::null()
});

/// Writes the result of a difference.
///
/// # Safety
/// The instruction is a difference of the program that the file belongs to.
pub(super) unsafe fn join(ip: *const ThreadedInstruction, file: *mut u32, difference: f32) {
    // SAFETY: guaranteed by the caller; validation checked the register.
    unsafe { *file.add((*ip).words[0] as usize) = difference.to_bits() };
}

/// The canonical arguments in a list, of these types; in `buffer`, which is empty.
///
/// # Safety
/// The list has a register of the file for each scalar of the types.
unsafe fn arguments(
    file: *mut u32,
    state: &PointState,
    list: u32,
    params: &[Type],
    mut buffer: Vec<u32>,
) -> Vec<u32> {
    let mut at = list as usize;
    let resources = state.program.interface.resources.len();
    for ty in params {
        ty.for_each_scalar(&mut |scalar| {
            // SAFETY: guaranteed by the caller; validation checked the registers of all lists.
            let word = unsafe { read(file, state.lists[at]) };
            at += 1;
            buffer.push(canonicalise::value(
                scalar,
                word,
                || state.closures.count(),
                resources,
            ));
        });
    }
    buffer
}

// `words`: message, list of the arguments' registers.
handler!(message, |ip, file, state| {
    // SAFETY: validation checked the message and the list's registers; the caller of `execute` has
    // lent the host (`PointMachine::lend`).
    if let Some(kind) = state.take_move_steps(ip) {
        return state.stop(ip, kind);
    }
    let [message, list, ..] = (*ip).words;
    let buffer = std::mem::take(&mut state.arguments);
    let params = &state.program.interface.messages[message as usize].params;
    let mut args = arguments(file, state, list, params, buffer);
    (*state.host).message(MessageId(message), &args);
    args.clear();
    state.arguments = args;
    next(ip, file, state)
});

impl PointState {
    /// Whether the point's closures are within their limit.
    fn closures_fit(&self) -> bool {
        self.closures.size() <= self.limits.closure_size as usize
    }

    /// Writes a closure and continues, if the limit allows it.
    ///
    /// # Safety
    /// The instruction exists and its first word is a register of the file.
    unsafe fn put_closure(
        &mut self,
        ip: *const ThreadedInstruction,
        file: *mut u32,
        closure: ClosureRef,
    ) -> *const ThreadedInstruction {
        if !self.closures_fit() {
            return self.stop(ip, FaultKind::ClosureSize);
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            *file.add((*ip).words[0] as usize) = closure.word();
            next(ip, file, self)
        }
    }
}

// `words`: to, shape, list of the arguments' registers.
handler!(make_closure, |ip, file, state| {
    // SAFETY: validation checked the shape, and the list's registers.
    if let Some(kind) = state.take_move_steps(ip) {
        return state.stop(ip, kind);
    }
    let [_, shape, list, ..] = (*ip).words;
    let buffer = std::mem::take(&mut state.arguments);
    let params = &state.program.interface.closures[shape as usize].params;
    let mut args = arguments(file, state, list, params, buffer);
    let closure = state.closures.leaf(ClosureId(shape), args.drain(..));
    state.arguments = args;
    state.put_closure(ip, file, closure)
});

/// The closure in a register.
///
/// # Safety
/// The file has the register.
unsafe fn closure_in(file: *mut u32, state: &PointState, register: u32) -> ClosureRef {
    // SAFETY: guaranteed by the caller.
    canonicalise::closure(state.closures.count(), unsafe { read(file, register) })
}

// `words`: to, closure, closure.
handler!(closure_add, |ip, file, state| {
    // SAFETY: validation checked the registers.
    let [_, a, b, ..] = (*ip).words;
    let (a, b) = (closure_in(file, state, a), closure_in(file, state, b));
    let closure = state.closures.add(a, b);
    state.put_closure(ip, file, closure)
});

// `words`: to, closure, weight.
handler!(closure_scale, |ip, file, state| {
    // SAFETY: validation checked the registers.
    let [_, a, weight, ..] = (*ip).words;
    let a = closure_in(file, state, a);
    let closure = state.closures.scale(a, f32::from_bits(read(file, weight)));
    state.put_closure(ip, file, closure)
});

// `words`: to, closure, list of the colour's registers.
handler!(closure_tint, |ip, file, state| {
    // SAFETY: validation checked the registers and the list.
    let [_, a, list, ..] = (*ip).words;
    let a = closure_in(file, state, a);
    let color = [0, 1, 2].map(|i| {
        let register = state.lists[list as usize + i];
        f32::from_bits(read(file, register))
    });
    let closure = state.closures.tint(a, color);
    state.put_closure(ip, file, closure)
});
