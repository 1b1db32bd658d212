//! Code as it is written, at any address, for any processor on any host: its bytes, where kernels are, and what each part is for.

/// What a part of code is for. Numbers are positions in the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelPart {
    /// The distance to the pool, in front of a kernel: no instruction.
    Pool,
    /// A kernel is called: registers are saved, the frame is made.
    Entry,
    /// Values that are the same for all points are copied to the frame.
    Uniforms,
    /// The loop over runs of packs begins.
    Runs,
    /// The loop over the points of a run begins.
    Vectors,
    /// Nodes that were first made for an instruction; of a turn of a loop for many points, the jump back.
    Instruction(u32),
    /// What such a node gives is stored: in its plane or, of a mask, for those who run later.
    Store(u32),
    /// Those who run a loop stand before its first block.
    GatherMasks,
    /// Those who stand before a block run it, if there are any.
    EnterBlock,
    /// Who left a loop by which way, and how many steps each took.
    StoreMasks,
    /// The loop over points goes on.
    NextVectors,
    /// What few points need, out of line: for an instruction.
    SlowPath(u32),
    /// The loop over runs goes on.
    NextRun,
    /// A kernel goes back to its caller.
    Exit,
    /// For single points: control parts.
    Branch(u32),
    /// For single points: a step of the budget is taken, if one is left.
    Step(u32),
    /// For single points: what changed goes to the register file, and control leaves, to another place or to the caller.
    WriteBack(u32),
    /// A routine for rare ways, which kernels share: first called for an instruction.
    SlowRoutine(u32),
    /// Calls a function for each lane.
    Libcalls,
}

/// Where a kernel is among the bytes of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelExtent {
    /// Where it is called.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Bytes of its frame on the stack, registers that are saved left out.
    pub frame_bytes: usize,
}

/// The code of a program's units, or of its flows.
#[derive(Clone, Debug)]
pub struct MachineCode {
    /// Instructions, and behind them constants.
    pub bytes: Vec<u8>,
    /// Where instructions end.
    pub code_end: usize,
    /// Where constants and tables begin.
    pub data_start: usize,
    /// The kernel of each unit, or that of each entry of the flows, which follow one another as entries do. Nothing where its frame would be too large, and its rows are
    /// interpreted.
    pub kernels: Vec<Option<KernelExtent>>,
    /// Where each part begins, in order, and what it is for, if that was asked for. The last one ends where instructions do.
    pub parts: Vec<(usize, KernelPart)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::arithmetic_cases;
    use crate::target::Target;
    use adumbra_vm::native::{CompileUnit, PointCfg};

    /// Being told of the parts changes no byte; they follow one another, and each kernel has its own.
    fn check(code: &MachineCode, in_parts: &MachineCode) -> Vec<Vec<KernelPart>> {
        let parts = &in_parts.parts;
        assert!(code.parts.is_empty());
        assert_eq!(in_parts.bytes, code.bytes);
        assert_eq!(parts[0].0, 0);
        assert!(parts.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(parts.last().unwrap().0 <= code.code_end && code.code_end <= code.data_start);
        let mut end = 0;
        let extents = code.kernels.iter().flatten().map(|extent| {
            assert!(
                end <= extent.start && extent.start < extent.end && extent.end <= code.code_end
            );
            end = extent.end;
            let own = parts
                .iter()
                .filter(|(at, _)| (extent.start..extent.end).contains(at));
            let own: Vec<KernelPart> = own.map(|&(_, part)| part).collect();
            assert_eq!(own.first(), Some(&KernelPart::Entry));
            own
        });
        extents.collect()
    }

    #[test]
    fn parts_are_told_of_all_code_and_change_none() {
        let trials = arithmetic_cases();
        for trials in trials.chunks(100) {
            let flows: Vec<PointCfg> = trials.iter().map(|trial| trial.point_cfg()).collect();
            let stretches = trials.iter().map(|trial| trial.segment.clone());
            let units: Vec<CompileUnit> = stretches.map(CompileUnit::Segment).collect();
            for target in Target::ALL {
                let compile = |in_parts| target.compile_batch(&units, in_parts).unwrap();
                for own in check(&compile(false), &compile(true)) {
                    assert_eq!(own.last(), Some(&KernelPart::Exit));
                }
                let compile = |in_parts| target.compile_points(&flows, in_parts).unwrap();
                for own in check(&compile(false), &compile(true)) {
                    assert!(
                        own.iter()
                            .any(|part| matches!(part, KernelPart::WriteBack(_)))
                    );
                }
            }
        }
    }
}
