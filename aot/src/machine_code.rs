//! Machine code for any processor on any host: its bytes, the extents of its kernels, and the
//! purpose of each part.

/// The purpose of a part of code. Numbers are positions in the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelPart {
    /// The distance to the pool, before a kernel: no instruction.
    Pool,
    /// The prologue of a kernel: registers are saved, the frame is allocated.
    Entry,
    /// Uniform values are copied to the frame.
    Uniforms,
    /// The loop over runs of vectors begins.
    Runs,
    /// The loop over the points of a run begins.
    Vectors,
    /// Nodes that were first made for an instruction.
    Instruction(u32),
    /// The result of such a node is stored in its plane.
    Store(u32),
    /// The loop over points goes on.
    NextVectors,
    /// The slow path of an instruction, out of line.
    SlowPath(u32),
    /// The loop over runs goes on.
    NextRun,
    /// The epilogue of a kernel: it returns to its caller.
    Exit,
    /// For single points: a conditional branch.
    Branch(u32),
    /// For single points: a step of the budget is taken, if one is left.
    Step(u32),
    /// For single points: changed values go to the register file, and control exits, to another
    /// label or to the caller.
    WriteBack(u32),
    /// A routine for slow paths, which kernels share: first called for an instruction.
    SlowRoutine(u32),
    /// Calls a function for each element.
    Libcalls,
}

/// The range of a kernel in the bytes of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelExtent {
    /// Its entry point.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Bytes of its frame on the stack, without saved registers.
    pub frame_bytes: usize,
}

/// The code of a program's segments, or of its point CFGs.
#[derive(Clone, Debug)]
pub struct MachineCode {
    /// Instructions, and constants after them.
    pub bytes: Vec<u8>,
    /// The end of the instructions.
    pub code_end: usize,
    /// The start of constants and tables.
    pub data_start: usize,
    /// The kernel of each segment, or of each entry of the point CFGs in order. `None` where its
    /// frame would be too large; its instructions are then interpreted.
    pub kernels: Vec<Option<KernelExtent>>,
    /// The start of each part, in order, and its purpose, if requested. The last part ends at
    /// `code_end`.
    pub parts: Vec<(usize, KernelPart)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::arithmetic_cases;
    use crate::target::Target;
    use adumbra_vm::native::{PointCfg, Segment};

    /// Parts change no byte; they are in order, and each kernel has its own.
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
    fn parts_cover_code_unchanged() {
        let cases = arithmetic_cases();
        for cases in cases.chunks(100) {
            let cfgs: Vec<PointCfg> = cases.iter().map(|case| case.point_cfg()).collect();
            let segments = cases.iter().map(|case| case.segment.clone());
            let segments: Vec<Segment> = segments.collect();
            for target in Target::ALL {
                let compile = |in_parts| target.compile_batch(&segments, in_parts).unwrap();
                for own in check(&compile(false), &compile(true)) {
                    assert_eq!(own.last(), Some(&KernelPart::Exit));
                }
                let compile = |in_parts| target.compile_points(&cfgs, in_parts).unwrap();
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
