//! The fixpoint iteration: walks functions until the states of their words do not change.

use super::partition::{RegisterPartition, inputs};
use super::structure::{LoopBounds, target};
use super::transfer::{DataflowState, INSTRUCTION_WORK, SavedRange, TransferFunction};
use super::{ALL_STALE, CheckBudget, WordKinds, word_kinds};
use crate::bytecode::{Opcode, Operands};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The summary of a function.
struct Summary {
    /// The atoms that it or its callees read or write, and those that they write.
    touched: Vec<bool>,
    written: Vec<bool>,
    /// The state at its start, joined over all calls so far; none if there was none.
    entry: Option<DataflowState>,
    /// The state where it returns; none if it has not.
    exit: Option<DataflowState>,
    /// Whether it was walked in this round, with the entry that it has.
    is_walked: bool,
    is_active: bool,
    /// Whether a call has used its exit in this round.
    is_used: bool,
}

/// The head of a loop.
struct LoopHead {
    /// The states that came there so far, joined.
    held: DataflowState,
    /// Whether that has changed since the loop was walked.
    is_changed: bool,
}

/// A function that is being walked.
struct Walk {
    function: usize,
    position: u32,
    /// The state there; none if control does not come there.
    state: Option<DataflowState>,
    /// The states that jumps carry to later positions.
    pending: BTreeMap<u32, DataflowState>,
    /// The heads of the loops around the position, with the positions of their last back edges.
    open: Vec<(u32, u32)>,
    /// The outermost of those, and all loops in it that were walked, by the positions of their
    /// heads. Walking a loop again goes on from what its inner loops had, so the walks of a loop
    /// are as many as the changes of the heads around it, whatever its depth.
    heads: BTreeMap<u32, LoopHead>,
    saves: Vec<SavedRange>,
}

struct Checker<'p> {
    transfer: TransferFunction<'p>,
    loops: &'p LoopBounds,
    summaries: Vec<Summary>,
    budget: CheckBudget,
    /// Whether another round may find more.
    again: bool,
}

/// Checks all functions that the shader reaches; returns what was spent.
pub(super) fn check(
    operands: &Operands<'_>,
    atoms: &RegisterPartition,
    loops: &LoopBounds,
    budget: CheckBudget,
) -> Result<CheckBudget, String> {
    let program = operands.program;
    let mut checker = Checker {
        transfer: TransferFunction::new(operands, atoms),
        loops,
        summaries: Vec::new(),
        budget,
        again: true,
    };
    checker.summarise()?;
    let entry = program.entry as usize;
    let mut state = vec![ALL_STALE; atoms.len()];
    for (registers, scalar) in inputs(program) {
        state[atoms.range(registers.start, registers.end - registers.start)]
            .fill(word_kinds(scalar));
    }
    checker.enter(entry, &state)?;
    while std::mem::take(&mut checker.again) {
        for summary in &mut checker.summaries {
            summary.is_walked = false;
            summary.is_used = false;
        }
        checker.round(entry)?;
    }
    Ok(checker.budget)
}

/// Joins one state into another; returns whether it grew.
fn join(to: &mut [WordKinds], from: &[WordKinds]) -> bool {
    let mut more = 0;
    for (to, from) in to.iter_mut().zip(from) {
        more |= from & !*to;
        *to |= from;
    }
    more != 0
}

/// Adds one set of atoms to another; returns whether it grew.
fn unite(to: &mut [bool], from: &[bool]) -> bool {
    let mut more = false;
    for (to, from) in to.iter_mut().zip(from) {
        more |= from & !*to;
        *to |= from;
    }
    more
}

impl Checker<'_> {
    /// Finds the atoms that each function touches, through calls.
    fn summarise(&mut self) -> Result<(), String> {
        let program = self.transfer.program;
        let none = vec![0; self.transfer.atoms.len()];
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); program.functions.len()];
        for (number, function) in program.functions.iter().enumerate() {
            let kept = [self.budget.keep(&none)?, self.budget.keep(&none)?];
            let [mut touched, mut written] = kept.map(|none| vec![false; none.len()]);
            let end = program.functions.get(number + 1);
            let end = end.map_or(program.code.len() as u32, |next| next.start);
            for code in &program.code[function.start as usize..end as usize] {
                if code.opcode == Opcode::Call {
                    callers[code.words[0] as usize].push(number);
                }
                self.budget.spend(self.transfer.work(code))?;
                self.transfer.touched(code, |atom, is_write| {
                    touched[atom] = true;
                    written[atom] |= is_write;
                });
            }
            self.summaries.push(Summary {
                touched,
                written,
                entry: None,
                exit: None,
                is_walked: false,
                is_active: false,
                is_used: false,
            });
        }
        let mut changed: Vec<usize> = (0..self.summaries.len()).collect();
        while let Some(callee) = changed.pop() {
            for &caller in &callers[callee] {
                self.budget.spend(INSTRUCTION_WORK + 2 * none.len())?;
                let Ok([from, to]) = self.summaries.get_disjoint_mut([callee, caller]) else {
                    continue;
                };
                let more = unite(&mut to.touched, &from.touched);
                if unite(&mut to.written, &from.written) | more {
                    changed.push(caller);
                }
            }
        }
        Ok(())
    }

    /// Joins a state into a function's entry. Atoms that the function does not touch do not matter
    /// to it.
    fn enter(&mut self, function: usize, state: &DataflowState) -> Result<(), String> {
        self.budget.spend(state.len())?;
        let summary = &mut self.summaries[function];
        let entry = match &mut summary.entry {
            Some(entry) => entry,
            none => {
                let entry = none.insert(self.budget.keep(state)?);
                let untouched = entry.iter_mut().zip(&summary.touched);
                let untouched = untouched.filter(|(_, touched)| !**touched);
                untouched.for_each(|(held, _)| *held = !0);
                return Ok(());
            }
        };
        if join(entry, state) {
            summary.is_walked = false;
            self.again |= summary.is_active;
        }
        Ok(())
    }

    /// Walks the shader and its callees.
    fn round(&mut self, entry: usize) -> Result<(), String> {
        let mut walks = vec![self.begin(entry)?];
        while let Some(walk) = walks.last_mut() {
            if let Some(callee) = self.advance(walk)? {
                let walk = self.begin(callee)?;
                walks.push(walk);
            } else {
                let done = walks.pop().expect("the last one");
                self.summaries[done.function].is_active = false;
            }
        }
        Ok(())
    }

    fn begin(&mut self, function: usize) -> Result<Walk, String> {
        let summary = &mut self.summaries[function];
        summary.is_walked = true;
        summary.is_active = true;
        let entry = summary.entry.as_ref().expect("it was entered");
        Ok(Walk {
            function,
            position: self.transfer.program.functions[function].start,
            state: Some(self.budget.keep(entry)?),
            pending: BTreeMap::new(),
            open: Vec::new(),
            heads: BTreeMap::new(),
            saves: Vec::new(),
        })
    }

    /// Continues to the end of the function, or to a call of one that has to be walked first.
    fn advance(&mut self, walk: &mut Walk) -> Result<Option<usize>, String> {
        let program = self.transfer.program;
        let end = program.functions.get(walk.function + 1);
        let end = end.map_or(program.code.len() as u32, |next| next.start);
        while walk.position < end {
            let callee = self.step(walk);
            let at = walk.position;
            if let Some(callee) = callee.map_err(|what| format!("instruction {at}: {what}"))? {
                return Ok(Some(callee));
            }
            walk.position += 1;
            self.end_loop(walk)?;
        }
        Ok(None)
    }

    /// Passes one instruction; returns the function that has to be walked before that.
    fn step(&mut self, walk: &mut Walk) -> Result<Option<usize>, String> {
        let (program, position) = (self.transfer.program, walk.position);
        let code = &program.code[position as usize];
        self.budget.spend(self.transfer.work(code))?;
        if let Some(arriving) = walk.pending.remove(&position) {
            self.arrive(&mut walk.state, arriving)?;
        }
        if walk.state.is_some()
            && let Some(end) = self.loops.end(position)
            && walk.open.last().is_none_or(|&(head, _)| head != position)
        {
            self.open_loop(walk, (position, end))?;
        }
        let Some(state) = &mut walk.state else {
            return Ok(None);
        };
        self.transfer.run(state, &mut walk.saves, code)?;
        let [first, second, ..] = code.words;
        match code.opcode {
            Opcode::Loop => {
                let head = walk.heads.get_mut(&first);
                let head = head.expect("control comes there by the head alone");
                self.budget.spend(state.len())?;
                head.is_changed |= join(&mut head.held, state);
                self.end_path(walk);
            }
            Opcode::Return => {
                if walk.function == program.entry as usize {
                    self.budget.spend(self.transfer.outputs_work())?;
                    self.transfer.outputs(state)?;
                }
                self.budget.spend(state.len())?;
                let summary = &mut self.summaries[walk.function];
                let is_more = match &mut summary.exit {
                    Some(exit) => join(exit, state),
                    none => {
                        *none = Some(self.budget.keep(state)?);
                        true
                    }
                };
                self.again |= is_more && summary.is_used;
                self.end_path(walk);
            }
            Opcode::Save => {
                let range = self.transfer.atoms.range(first, second);
                walk.saves.push(SavedRange {
                    register: first,
                    len: second,
                    held: self.budget.keep(&state[range])?,
                });
            }
            Opcode::Restore => {
                let saved = walk.saves.pop().expect("it restores what was saved");
                let range = self.transfer.atoms.range(first, second);
                state[range].copy_from_slice(&saved.held);
                self.budget.give_back(&saved.held);
            }
            Opcode::Call => return self.call(walk, first as usize),
            opcode => {
                if let Some(target) = target(code) {
                    let arriving = self.budget.keep(state)?;
                    let mut there = walk.pending.remove(&target);
                    self.arrive(&mut there, arriving)?;
                    walk.pending.extend(there.map(|there| (target, there)));
                }
                if opcode.never_falls_through() {
                    self.end_path(walk);
                }
            }
        }
        Ok(None)
    }

    fn call(&mut self, walk: &mut Walk, callee: usize) -> Result<Option<usize>, String> {
        let state = walk.state.as_mut().expect("control comes there");
        self.enter(callee, state)?;
        let summary = &mut self.summaries[callee];
        if !summary.is_walked && !summary.is_active {
            return Ok(Some(callee));
        }
        summary.is_used = true;
        let Some(exit) = &summary.exit else {
            // It does not return, or is not known to yet.
            for saved in walk.saves.drain(..) {
                self.budget.give_back(&saved.held);
            }
            self.end_path(walk);
            return Ok(None);
        };
        self.budget.spend(state.len())?;
        for ((held, exit), written) in state.iter_mut().zip(exit).zip(&summary.written) {
            if *written {
                *held = *exit;
            }
        }
        Ok(None)
    }

    /// Control comes to the head of a loop from outside. The state there is joined with those of
    /// earlier walks: what comes there in a later walk of the loops around it only grows.
    fn open_loop(&mut self, walk: &mut Walk, bounds: (u32, u32)) -> Result<(), String> {
        walk.open.push(bounds);
        let state = walk.state.as_mut().expect("control comes there");
        self.budget.spend(state.len())?;
        match walk.heads.entry(bounds.0) {
            Entry::Vacant(head) => drop(head.insert(LoopHead {
                held: self.budget.keep(state)?,
                is_changed: false,
            })),
            Entry::Occupied(mut head) => {
                join(&mut head.get_mut().held, state);
                state.copy_from_slice(&head.get().held);
            }
        }
        Ok(())
    }

    /// Ends a loop: walks it once more if the state at its head has changed.
    fn end_loop(&mut self, walk: &mut Walk) -> Result<(), String> {
        while let Some(&(head, end)) = walk.open.last()
            && end < walk.position
        {
            let head_state = walk.heads.get_mut(&head).expect("it was opened");
            if std::mem::take(&mut head_state.is_changed) {
                walk.position = head;
                walk.state = Some(self.budget.keep(&head_state.held)?);
            } else {
                walk.open.pop();
            }
        }
        if walk.open.is_empty() {
            for (_, head) in std::mem::take(&mut walk.heads) {
                self.budget.give_back(&head.held);
            }
        }
        Ok(())
    }

    /// Control cannot continue from there.
    fn end_path(&mut self, walk: &mut Walk) {
        if let Some(state) = walk.state.take() {
            self.budget.give_back(&state);
        }
    }

    /// Joins a state that arrives into the one that is there.
    fn arrive(
        &mut self,
        there: &mut Option<DataflowState>,
        arriving: DataflowState,
    ) -> Result<(), String> {
        self.budget.spend(arriving.len())?;
        match there {
            Some(there) => {
                join(there, &arriving);
                self.budget.give_back(&arriving);
            }
            none => *none = Some(arriving),
        }
        Ok(())
    }
}
