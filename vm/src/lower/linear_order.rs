//! The linear order in which a function's instructions are numbered and laid out, for liveness and
//! emission.
//!
//! A structured instruction takes two positions. At the first one it is entered and reads its
//! operands; at the second it is left and its results exist. The instructions of its regions are
//! between. The walk keeps its own stack, so memory alone bounds nesting.

use adumbra_ir::module::{Function, Inst, InstKind, RegionId};

/// A visitor of a function's instructions. `at` is the position, rising by one from call to call.
pub(crate) trait InstVisitor {
    /// Visits an instruction without regions, terminators included; `next` is the one after it in
    /// its region. Returns whether the operands of the next one were visited too.
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool;
    /// Enters a structured instruction. `fused` says that `inst` visited its operands.
    fn enter(&mut self, at: u32, inst: &Inst, fused: bool);
    /// Starts the second region of an `If`.
    fn second_arm(&mut self, at: u32, inst: &Inst);
    /// Leaves a structured instruction.
    fn exit(&mut self, at: u32, inst: &Inst);
}

/// The regions of an `If` in the order in which they are walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arms {
    pub(crate) first: RegionId,
    pub(crate) second: RegionId,
    /// The condition for the first one.
    pub(crate) when: bool,
}

impl Arms {
    /// Orders the regions. A second region that only leaves goes first. Its operands are dead in
    /// the other region then, which is often the rest of a loop's body, and can compute
    /// loop-carried values in their own registers.
    pub(crate) fn of(function: &Function, yes: RegionId, no: RegionId) -> Arms {
        let only_exits = |region: RegionId| {
            let last = function.region(region).insts.last();
            last.is_some_and(|i| matches!(i.kind, InstKind::Break(_) | InstKind::Return))
        };
        if only_exits(no) && !only_exits(yes) {
            Arms {
                first: no,
                second: yes,
                when: false,
            }
        } else {
            Arms {
                first: yes,
                second: no,
                when: true,
            }
        }
    }
}

/// Regions of one structured instruction that are still to be walked.
struct Open<'f> {
    owner: Option<&'f Inst>,
    insts: std::slice::Iter<'f, Inst>,
    second: Option<RegionId>,
}

/// Walks the function.
pub(crate) fn walk(function: &Function, visitor: &mut impl InstVisitor) {
    let insts = |region: RegionId| function.region(region).insts.iter();
    let mut stack = Vec::with_capacity(8);
    let mut open = Open {
        owner: None,
        insts: insts(function.body),
        second: None,
    };
    let mut at = 0;
    let mut fused = false;
    loop {
        while let Some(inst) = open.insts.next() {
            at += 1;
            let (first, second) = match inst.kind {
                InstKind::If(yes, no) => {
                    let arms = Arms::of(function, yes, no);
                    (arms.first, Some(arms.second))
                }
                InstKind::Loop(body) | InstKind::Block(body) => (body, None),
                _ => {
                    fused = visitor.inst(at, inst, open.insts.as_slice().first());
                    continue;
                }
            };
            visitor.enter(at, inst, fused);
            fused = false;
            let inner = Open {
                owner: Some(inst),
                insts: insts(first),
                second,
            };
            stack.push(std::mem::replace(&mut open, inner));
        }
        let Some(owner) = open.owner else { return };
        at += 1;
        if let Some(second) = open.second.take() {
            visitor.second_arm(at, owner);
            open.insts = insts(second);
        } else {
            visitor.exit(at, owner);
            open = stack.pop().expect("an owner lies in an open region");
        }
    }
}
