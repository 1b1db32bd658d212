//! Structured instructions as jumps: where their ends are, and which jumps can be saved.

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
    /// Where breaks and yields go.
    pub(super) end: Label,
    /// For an `If`: where its second region begins.
    pub(super) second: Label,
    /// For an `If`: whether its second region begins right behind the branch.
    pub(super) falls_through: bool,
    /// For a loop: where it begins.
    pub(super) head: u32,
}

impl FunctionEmitter<'_, '_, '_> {
    /// Emits a jump to a place of an open instruction that is not known yet; `words` are those behind the target.
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

    /// The end of the code is what the label stands for.
    pub(super) fn bind(&mut self, mut label: Label) {
        self.drop_jump_to_next(&mut label);
        self.turn_branch_over_jump(&mut label);
        if !label.is_unused() {
            let code = &mut self.lowering.out.code;
            label.bind(code);
            self.reachable = true;
            self.bound = code.len();
        }
    }

    /// A jump to the next instruction is none.
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

    /// A branch over a jump becomes a branch of the other sense to where that goes.
    fn turn_branch_over_jump(&mut self, label: &mut Label) {
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

    /// Opens an `If` and emits its branch. An empty region is not jumped to; if it is the first, the sense is turned round.
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
            // Control goes on in the second one.
            self.work.scopes[open].falls_through = self.reachable;
            self.reachable = false;
        }
    }

    /// Whether a region does nothing and gives nothing.
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

    /// The loop that was opened last begins here.
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
