//! Parking: a point that waits for a texture leaves its machine, and resumes in it later, or in
//! another machine of the program.
//!
//! The state of a point is its register file, the two stacks, its tapes, its closures and a few
//! counters.
//! Frames are static, so registers and positions mean the same in every machine of the program. The
//! file is copied as it is.

use super::PointMachine;
use super::state::{PointState, ReturnAddress};
use crate::bytecode::Bytecode;
use adumbra_ir::host::{ClosureArena, Faults, Limits, SampleRequest};
use adumbra_ir::quad::{Lockstep, QuadPause};
use std::sync::Arc;

/// Memory for a point that is suspended outside of any machine, or is done while others of its quad
/// are suspended. [`PointMachine::park`] fills it. It can be reused, and is then as large as the
/// largest of its points.
#[derive(Debug, Default)]
pub struct Parked {
    point: Option<Point>,
    /// Registers, arrays and outputs, then the globals, then the frames that calls saved, then the
    /// words on each tape.
    words: Vec<u32>,
    /// How many words each tape has.
    tapes: Vec<u32>,
    calls: Vec<Call>,
    closures: ClosureArena,
}

/// The part of a point that has a fixed size.
#[derive(Debug)]
struct Point {
    program: Arc<Bytecode>,
    limits: Limits,
    /// Where it is suspended, as an index into the threaded code, and for which request; none if it
    /// is done.
    waits: Option<(u32, QuadPause)>,
    steps: u64,
    elements: u32,
    faults: Faults,
}

/// A [`ReturnAddress`], by index instead of address.
#[derive(Clone, Copy, Debug)]
struct Call {
    at: u32,
    elements: u32,
}

impl Parked {
    /// The request of the point, if it is suspended for the host.
    pub fn request(&self) -> Option<&SampleRequest> {
        self.point.as_ref()?.waits.as_ref()?.1.request()
    }

    /// The faults of the point so far.
    pub fn faults(&self) -> Option<&Faults> {
        Some(&self.point.as_ref()?.faults)
    }

    /// Drops the point but keeps the memory.
    pub fn clear(&mut self) {
        self.point = None;
    }

    /// Bytes that it takes, its own included.
    pub fn memory(&self) -> usize {
        size_of::<Parked>()
            + self.words.capacity() * size_of::<u32>()
            + self.tapes.capacity() * size_of::<u32>()
            + self.calls.capacity() * size_of::<Call>()
            + self.closures.memory()
    }
}

impl Lockstep for PointMachine {
    fn awaited(&self) -> Option<&QuadPause> {
        self.state.suspended.as_ref().map(|(_, awaited)| awaited)
    }

    fn is_at_same_instruction(&self, other: &PointMachine) -> bool {
        let place = |machine: &PointMachine| {
            let suspended = machine.state.suspended.as_ref();
            suspended.map(|(ip, _)| machine.state.index(*ip))
        };
        let (mine, others) = (&self.state.calls, &other.state.calls);
        let mut calls = mine.iter().zip(others);
        place(self) == place(other)
            && mine.len() == others.len()
            && calls.all(|(a, b)| self.state.index(a.ip) == other.state.index(b.ip))
    }
}

impl PointMachine {
    /// The request of the suspended point, if it is suspended for the host.
    pub fn request(&self) -> Option<&SampleRequest> {
        self.awaited()?.request()
    }

    /// Bytes that `into` would take with the suspended point.
    pub fn parked_memory(&self, into: &Parked) -> usize {
        let words = self.state.program.registers as usize
            + self.suspended_globals.len()
            + self.state.saved_top
            + self.state.tapes.len();
        let tapes = self.state.tapes.words.len();
        size_of::<Parked>()
            + into.words.capacity().max(words) * size_of::<u32>()
            + into.tapes.capacity().max(tapes) * size_of::<u32>()
            + into.calls.capacity().max(self.state.calls.len()) * size_of::<Call>()
            + into.closures.memory_for(&self.state.closures)
    }

    /// Moves the suspended point out of the machine. Allocates only if `into` is too small.
    ///
    /// # Panics
    /// If no point is suspended.
    pub fn park(&mut self, into: &mut Parked) {
        assert!(self.state.suspended.is_some(), "no point is suspended");
        self.move_out(into);
    }

    /// Moves the point out of the machine, whether it is suspended or done.
    pub(crate) fn move_out(&mut self, into: &mut Parked) {
        // Each field is named, so that none of a point's is forgotten.
        let PointState {
            program,
            code: _,
            output_types: _,
            lists: _,
            limits,
            query_period: _,
            steps,
            elements,
            calls,
            saved,
            saved_top,
            tapes,
            buffers: _,
            globals: _,
            host: _,
            closures,
            arguments: _,
            faults,
            suspended,
            is_reset: _,
            is_running: _,
            kernels: _,
        } = &self.state;
        let registers = &self.file[..program.registers as usize];
        let saved = &saved[..*saved_top];
        let words = &mut into.words;
        words.clear();
        let fixed = registers.len() + self.suspended_globals.len() + saved.len();
        words.reserve_exact(fixed + tapes.len());
        words.extend_from_slice(registers);
        words.extend_from_slice(&self.suspended_globals);
        words.extend_from_slice(saved);
        into.tapes.clear();
        into.tapes.reserve_exact(tapes.words.len());
        for tape in &tapes.words {
            words.extend_from_slice(tape);
            into.tapes.push(tape.len() as u32);
        }
        into.calls.clear();
        into.calls.reserve_exact(calls.len());
        into.calls.extend(calls.iter().map(|caller| Call {
            at: self.state.index(caller.ip),
            elements: caller.elements,
        }));
        into.closures.copy_from(closures);
        into.point = Some(Point {
            program: program.clone(),
            limits: *limits,
            waits: suspended.map(|(ip, awaited)| (self.state.index(ip), awaited)),
            steps: *steps,
            elements: *elements,
            faults: faults.clone(),
        });
        self.state.reset();
        // Nothing of the point remains visible here.
        self.file[..self.nothing.len()].fill(0);
    }

    /// Loads a parked point; one that is suspended here is dropped. The memory remains.
    ///
    /// # Panics
    /// If there is no point, or it was parked by a machine of another program or other limits.
    pub fn unpark(&mut self, from: &mut Parked) {
        let point = from.point.take().expect("a point is parked");
        let state = &mut self.state;
        let fits = Arc::ptr_eq(&point.program, &state.program) && point.limits == state.limits;
        assert!(fits, "the point is another program's");
        // The same program has the same registers, globals and threaded code, whatever machine
        // loaded it.
        let (registers, rest) = from.words.split_at(state.program.registers as usize);
        let (globals, rest) = rest.split_at(self.suspended_globals.len());
        let kept = from.tapes.iter().map(|&len| len as usize).sum::<usize>();
        let (saved, mut kept) = rest.split_at(rest.len() - kept);
        self.file[..registers.len()].copy_from_slice(registers);
        self.suspended_globals.copy_from_slice(globals);
        state.saved[..saved.len()].copy_from_slice(saved);
        state.saved_top = saved.len();
        state.tapes.load(from.tapes.iter().map(|&len| {
            let (tape, rest) = kept.split_at(len as usize);
            kept = rest;
            tape
        }));
        let code = state.code.first();
        let address = |at: u32| code.wrapping_add(at as usize);
        state.calls.clear();
        state
            .calls
            .extend(from.calls.iter().map(|call| ReturnAddress {
                ip: address(call.at),
                elements: call.elements,
            }));
        state.is_reset = false;
        state.closures.copy_from(&from.closures);
        state.steps = point.steps;
        state.elements = point.elements;
        state.faults = point.faults;
        state.suspended = point.waits.map(|(at, awaited)| (address(at), awaited));
        self.end();
    }
}
