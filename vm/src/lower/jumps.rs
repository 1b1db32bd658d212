//! Structured instructions as jumps: their ends, jumps that are not needed, and branch inversion.

use super::function::FunctionEmitter;
use super::labels::Label;
use super::linear_order::Arms;
use crate::bytecode::{BytecodeInstruction, Opcode, WORDS};
use adumbra_ir::module::{Inst, InstKind, RegionId, ValueId};

/// A structured instruction that is being emitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenScope {
    /// Its results.
    pub(super) first_result: ValueId,
    pub(super) results: u32,
    /// The target of breaks and yields.
    pub(super) end: Label,
    /// For an `If`: the start of its second region.
    pub(super) second: Label,
    /// For an `If`: whether its second region starts right after the branch.
    pub(super) falls_through: bool,
    /// For a loop: its start.
    pub(super) head: u32,
}

impl FunctionEmitter<'_, '_, '_> {
    /// Emits a jump to a label of an open instruction that is not bound yet; `words` come after the
    /// target.
    pub(super) fn emit_jump(
        &mut self,
        open: usize,
        label: fn(&mut OpenScope) -> &mut Label,
        opcode: Opcode,
        words: &[u32],
    ) {
        if self.reachable {
            let here = self.here();
            let target = label(&mut self.work.scopes[open]).add_jump(here);
            let mut all = [target; WORDS];
            all[1..].fill(0);
            all[1..][..words.len()].copy_from_slice(words);
            self.emit(opcode, all);
            self.jumps_to = open;
        }
        self.reachable &= opcode != Opcode::Jump;
    }

    /// Binds a label to the end of the code.
    pub(super) fn bind(&mut self, mut label: Label) {
        self.drop_jump_to_next(&mut label);
        self.invert_branch_over_jump(&mut label);
        if !label.is_unused() {
            let code = &mut self.lowering.out.code;
            label.bind(code);
            self.reachable = true;
            self.bound = code.len();
        }
    }

    /// Removes a jump to the next instruction.
    fn drop_jump_to_next(&mut self, label: &mut Label) {
        let code = &mut self.lowering.out.code;
        if let [
            ..,
            BytecodeInstruction {
                opcode: Opcode::Jump,
                ..
            },
        ] = code[..]
            && self.bound < code.len()
            && label.forget(code.len() - 1, code)
        {
            code.pop();
            self.reachable = true;
        }
    }

    /// Makes a branch over a jump a branch of the other sense to that jump's target.
    fn invert_branch_over_jump(&mut self, label: &mut Label) {
        let code = &mut self.lowering.out.code;
        let [.., branch, jump] = &mut code[..] else {
            return;
        };
        let (jump, Some(opposite)) = (*jump, branch.opcode.opposite()) else {
            return;
        };
        let at = self.here() - 2;
        let code = &mut self.lowering.out.code;
        if jump.opcode == Opcode::Jump && self.bound <= at && label.forget(at, code) {
            let goes_to = &mut self.work.scopes[self.jumps_to].end;
            goes_to.replace(at + 1, at);
            code[at].opcode = opposite;
            code[at].words[0] = jump.words[0];
            code.pop();
            self.reachable = true;
        }
    }

    /// Opens an `If` and emits its branch. An empty region is not jumped to; if it is the first,
    /// the sense is reversed.
    pub(super) fn branch(
        &mut self,
        inst: &Inst,
        opcode: impl FnOnce(bool) -> Opcode,
        words: &[u32],
    ) {
        let InstKind::If(yes, no) = inst.kind else {
            unreachable!("only an If branches");
        };
        self.open(inst);
        let arms = Arms::of(self.function, yes, no);
        let first_is_empty = self.is_empty(arms.first);
        let over_all = first_is_empty || self.is_empty(arms.second);
        let label: fn(&mut OpenScope) -> &mut Label = match over_all {
            true => |open| &mut open.end,
            false => |open| &mut open.second,
        };
        let open = self.work.scopes.len() - 1;
        self.emit_jump(open, label, opcode(arms.when != first_is_empty), words);
        if first_is_empty {
            // Control continues in the second one.
            self.work.scopes[open].falls_through = self.reachable;
            self.reachable = false;
        }
    }

    /// Whether a region has no instructions and no results.
    fn is_empty(&self, region: RegionId) -> bool {
        let insts = &self.function.region(region).insts;
        matches!(&insts[..], [Inst { kind: InstKind::Yield, args, .. }] if args.is_empty())
    }

    /// Opens a structured instruction.
    pub(super) fn open(&mut self, inst: &Inst) {
        for region in inst.kind.regions() {
            self.work.targets[region.index()] = self.work.scopes.len() as u32;
        }
        self.work.scopes.push(OpenScope {
            first_result: inst.results.first,
            results: inst.results.count,
            end: Label::NEW,
            second: Label::NEW,
            falls_through: false,
            head: 0,
        });
    }

    /// Starts the loop that was opened last.
    pub(super) fn begin_loop(&mut self) {
        let here = self.here();
        self.bound = here;
        let open = self.work.scopes.last_mut().expect("a loop is open");
        open.head = here as u32;
    }

    pub(super) fn target(&self, region: RegionId) -> usize {
        self.work.targets[region.index()] as usize
    }

    pub(super) fn jump_out(&mut self, open: usize, args: &[ValueId], at: u32) {
        self.move_to_results(open, args, at);
        self.release(args, at);
        self.emit_jump(open, |open| &mut open.end, Opcode::Jump, &[]);
    }
}
