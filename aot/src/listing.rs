//! Code to be looked at, for any processor on any host: its bytes, where kernels are, and what each part is for.

use crate::a64::A64;
use crate::emit::compile_in_parts;
use crate::target::Target;
use crate::x64::X64;
use adumbra_vm::native::Unit;

/// What a part of code is for. Numbers are positions in the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The distance to the pool, in front of a kernel: no instruction.
    Pool,
    /// A kernel is called: registers are saved, the frame is made.
    Entry,
    /// Values that are the same for all points are copied to the frame.
    Cells,
    /// The loop over runs of packs begins.
    Runs,
    /// The loop over the points of a run begins.
    Points,
    /// Nodes that were first made for an instruction; of a turn of a loop, the jump back.
    Row(u32),
    /// What such a node gives is stored: in its plane or, of a mask, for those who run later.
    Store(u32),
    /// Those who run a loop stand before its first block.
    Gather,
    /// Those who stand before a block run it, if there are any.
    Take,
    /// Who left a loop by which way, and how many steps each took.
    Tell,
    /// The loop over points goes on.
    NextPoints,
    /// What few points need, out of line: for an instruction.
    Rare(u32),
    /// The loop over runs goes on.
    NextRun,
    /// A kernel goes back to its caller.
    Exit,
    /// A routine for rare ways, which kernels share: first called for an instruction.
    Routine(u32),
    /// Calls a function for each lane.
    Calls,
}

/// Where a kernel is among the bytes of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it is called.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Bytes of its frame on the stack, registers that are saved left out.
    pub frame: usize,
}

/// The code of a program's units.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Instructions, and behind them constants.
    pub bytes: Vec<u8>,
    /// Where instructions end.
    pub end: usize,
    /// Where constants, tables and places for addresses begin.
    pub data: usize,
    /// The kernel of each unit; nothing where its frame would be too large, and steps are run instead.
    pub kernels: Vec<Option<Extent>>,
    /// Where each part begins, in order, and what it is for. The last one ends where instructions do.
    pub parts: Vec<(usize, Part)>,
}

/// The code that [`Native`](crate::Native) makes of units on that processor; nothing if it is too long for its own jumps.
pub fn listing(target: Target, units: &[Unit]) -> Option<Listing> {
    let compile = match target {
        Target::X86_64 => compile_in_parts::<X64>,
        Target::Aarch64 => compile_in_parts::<A64>,
    };
    let (code, parts) = compile(units)?;
    Some(Listing {
        bytes: code.bytes,
        end: code.end,
        data: code.data,
        kernels: code.kernels,
        parts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{compile, compile_in_parts};
    use crate::machine::Machine;
    use crate::trial::rows;

    /// Being told of the parts changes no byte; they follow one another, and each kernel has its own.
    fn check<M: Machine>(units: &[Unit]) {
        let code = compile::<M>(units).unwrap();
        let (in_parts, parts) = compile_in_parts::<M>(units).unwrap();
        assert_eq!(in_parts.bytes, code.bytes);
        assert_eq!(parts[0].0, 0);
        assert!(parts.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(parts.last().unwrap().0 <= code.end && code.end <= code.data);
        let mut end = 0;
        for extent in code.kernels.into_iter().flatten() {
            assert!(end <= extent.start && extent.start < extent.end && extent.end <= code.end);
            let own = parts
                .iter()
                .filter(|(at, _)| (extent.start..extent.end).contains(at));
            let own: Vec<Part> = own.map(|&(_, part)| part).collect();
            assert_eq!(own.first(), Some(&Part::Entry));
            assert_eq!(own.last(), Some(&Part::Exit));
            end = extent.end;
        }
    }

    #[test]
    fn parts_are_told_of_all_code_and_change_none() {
        let stretches = rows().into_iter().map(|trial| Unit::Stretch(trial.stretch));
        let units: Vec<Unit> = stretches.collect();
        for units in units.chunks(100) {
            check::<X64>(units);
            check::<A64>(units);
        }
    }
}
