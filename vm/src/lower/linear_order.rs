//! The one linear order that a function's instructions are numbered in, for liveness and for emission.
//!
//! A structured instruction takes two positions: one where it is entered and reads its operands, one where it is left and its results
//! exist; the instructions of its regions lie between. The walk keeps its own stack, so nesting is bounded by memory only.

use adumbra_ir::module::{Function, Inst, InstKind, RegionId};

/// What to do on the way through a function. `at` is the position, rising by one from call to call.
pub(crate) trait InstVisitor {
    /// An instruction without regions, terminators included; `next` is the one behind it in its region.
    /// Returns whether the next one was dealt with too, as far as its operands go.
    fn inst(&mut self, at: u32, inst: &Inst, next: Option<&Inst>) -> bool;
    /// A structured instruction is entered. `fused` says that `inst` dealt with its operands.
    fn enter(&mut self, at: u32, inst: &Inst, fused: bool);
    /// The second region of an `If` begins.
    fn second_arm(&mut self, at: u32, inst: &Inst);
    /// A structured instruction is left.
    fn exit(&mut self, at: u32, inst: &Inst);
}

/// The regions of an `If` in the order in which they are walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arms {
    pub(crate) first: RegionId,
    pub(crate) second: RegionId,
    /// What the condition is when the first one runs.
    pub(crate) when: bool,
}

impl Arms {
    /// A second region that only leaves goes first: what it reads is dead in the other one then, which is often the rest of a loop's body
    /// and can compute what the loop carries where it is carried.
    pub(crate) fn of(function: &Function, yes: RegionId, no: RegionId) -> Arms {
        let leaves = |region: RegionId| {
            let last = function.region(region).insts.last();
            last.is_some_and(|i| matches!(i.kind, InstKind::Break(_) | InstKind::Return))
        };
        if leaves(no) && !leaves(yes) {
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

/// Regions of one structured instruction that are left to do.
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
