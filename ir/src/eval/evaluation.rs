//! Control of the reference evaluator: branches, loops, calls, and the step from each instruction
//! to the next. Instructions without control are in [`compute`], the state is in
//! [`suspended`](super::suspended).

mod compute;

use super::suspended::{EvalFrame, EvalState, RegionCursor};
use super::{EvalOptions, EvalOutcome, EvalPoint, EvalValue, Number};
use crate::calls::SavedSteps;
use crate::entry_steps::EntrySteps;
use crate::host::{FaultKind, Host, Texel, WORDS_PER_STEP, canonical_float, move_steps};
use crate::module::*;
use crate::quad::QuadPause;
use crate::span::Span;
use crate::types::{Direction, Lanes};
use smallvec::{SmallVec, smallvec};

/// Operands or results of an instruction: mostly few values.
type Values<F> = SmallVec<[EvalValue<F>; 4]>;

/// Work between two queries for cancellation: instructions executed, words moved, and
/// [`WORDS_PER_STEP`] for a step.
const EVALUATED_WORK: u64 = 1 << 14;

pub(super) struct Evaluation<'a, F> {
    module: &'a Module,
    point: &'a EvalPoint<F>,
    options: &'a EvalOptions,
    host: &'a mut dyn Host<F>,
    /// The start of each global's scalars.
    globals: Vec<usize>,
    saved: SavedSteps,
    entering: EntrySteps,
    /// Work since the host was asked whether to stop.
    unasked: u64,
    state: EvalState<F>,
}

/// The outcome of an execution up to its end or a wait.
pub(super) enum RegionExit<F> {
    Done(EvalOutcome<F>),
    /// It waits at the instruction under its innermost cursor.
    Pending(QuadPause<F>, EvalState<F>),
}

/// The reason of a halt before the shader's return.
enum Halt<F> {
    /// The point was stopped; the fault says why.
    Stopped,
    /// The answer is pending.
    Pending(QuadPause<F>),
}

impl<'a, F: Number> Evaluation<'a, F> {
    pub(super) fn new(
        module: &'a Module,
        point: &'a EvalPoint<F>,
        options: &'a EvalOptions,
        host: &'a mut dyn Host<F>,
        state: EvalState<F>,
    ) -> Evaluation<'a, F> {
        let globals = module.globals.iter().scan(0, |next, global| {
            let start = *next;
            *next += global.ty.scalar_count();
            Some(start)
        });
        Evaluation {
            module,
            point,
            options,
            host,
            globals: globals.collect(),
            saved: SavedSteps::new(module),
            entering: EntrySteps::new(module),
            unasked: 0,
            state,
        }
    }

    /// Runs from the shader's first instruction.
    pub(super) fn start(mut self) -> RegionExit<F> {
        let entry = self.module.entry;
        let inputs = self.point.inputs.iter().copied().collect();
        let span = self.module.entry().span;
        let entered = self.enter_function(entry, inputs, Vec::new(), 0, span);
        self.go_on(entered)
    }

    /// Resumes at the sample at which the point waits.
    pub(super) fn resume(mut self, texel: Texel) -> RegionExit<F> {
        let inst = self.inst();
        assert!(
            matches!(inst.kind, InstKind::Sample(..)),
            "the module is not the one that the evaluation began with"
        );
        let args = self.read(&inst.args);
        let results = self.answered(inst, texel);
        self.give(inst, &args, results);
        self.go_on(Ok(()))
    }

    /// Resumes at the difference at which the point waits.
    pub(super) fn resume_difference(mut self, difference: F) -> RegionExit<F> {
        let inst = self.inst();
        let InstKind::Difference(_) = inst.kind else {
            panic!("the module is not the one that the evaluation began with");
        };
        let args = self.read(&inst.args);
        let difference = EvalValue::float(difference, [F::default(); 2]);
        self.give(inst, &args, smallvec![difference]);
        self.go_on(Ok(()))
    }

    fn go_on(mut self, entered: Result<(), Halt<F>>) -> RegionExit<F> {
        let outputs = match entered.and_then(|()| self.execute()) {
            Ok(outputs) => outputs,
            Err(Halt::Stopped) => {
                self.state.closures.clear();
                smallvec![EvalValue::default(); self.module.entry().results.len()]
            }
            Err(Halt::Pending(awaited)) => return RegionExit::Pending(awaited, self.state),
        };
        let origins = outputs.iter().map(|output| self.state.origins.of(output));
        RegionExit::Done(EvalOutcome {
            origins: origins.collect(),
            observed_nan: self.state.origins.observed(),
            outputs: outputs.into_iter().map(canonical_value).collect(),
            faults: self.state.faults,
            closures: self.state.closures,
            steps: self.state.steps,
            path: self.state.path,
            added: self.state.added,
            tally: self.state.tally,
        })
    }

    /// Runs to the shader's return.
    fn execute(&mut self) -> Result<Values<F>, Halt<F>> {
        loop {
            let inst = self.inst();
            self.work(1, inst.span)?;
            match &inst.kind {
                InstKind::If(then, other) => {
                    let condition = self.frame().slots[inst.args[0].index()].word;
                    self.record(condition.into());
                    self.enter(if condition != 0 { *then } else { *other });
                }
                InstKind::Loop(body) => {
                    let initial = self.read(&inst.args);
                    self.enter(*body);
                    self.carry(*body, initial);
                }
                InstKind::Block(body) => self.enter(*body),
                InstKind::Call(callee, arrays) => {
                    let callee = *callee;
                    self.count_call(callee);
                    let args = self.read(&inst.args);
                    self.pass_arrays(callee, [PassingMode::In, PassingMode::InOut], inst.span)?;
                    let caller = self.frame().function;
                    let saved = self.saved.of(caller, callee);
                    let frame = self.frame();
                    let arrays = arrays.iter().map(|a| frame.arrays[a.index()].clone());
                    let arrays = arrays.collect();
                    self.enter_function(callee, args, arrays, saved, inst.span)?;
                }
                InstKind::Yield => {
                    let values = self.read(&inst.args);
                    self.frame().cursors.pop();
                    self.finish(values);
                }
                InstKind::Break(to) => {
                    let values = self.read(&inst.args);
                    let cursors = &mut self.frame().cursors;
                    while cursors.pop().is_some_and(|left| left.region != *to) {}
                    self.finish(values);
                }
                InstKind::Continue(to) => {
                    self.take_steps(1, inst.span)?;
                    self.state.tally.iterations += 1;
                    let values = self.read(&inst.args);
                    let cursors = &mut self.frame().cursors;
                    while cursors.pop().is_some_and(|left| left.region != *to) {}
                    self.enter(*to);
                    self.carry(*to, values);
                }
                InstKind::Return => {
                    let values = self.read(&inst.args);
                    if let Some(results) = self.leave_function(values)? {
                        return Ok(results);
                    }
                }
                InstKind::Unreachable => return self.stop(FaultKind::Unreachable, inst.span),
                _ => {
                    let args = self.read(&inst.args);
                    let values = self.compute(inst, &args)?;
                    self.give(inst, &args, values);
                }
            }
        }
    }

    fn frame(&mut self) -> &mut EvalFrame<F> {
        self.state
            .frames
            .last_mut()
            .expect("a function is being executed")
    }

    /// The function being executed.
    fn function(&self) -> &'a Function {
        let frame = self.state.frames.last();
        let frame = frame.expect("a function is being executed");
        self.module.function(frame.function)
    }

    /// The instruction at the innermost cursor.
    fn inst(&self) -> &'a Inst {
        let frame = self.state.frames.last();
        let cursor = frame.and_then(|frame| frame.cursors.last());
        let cursor = cursor.expect("a region is open");
        &self.function().region(cursor.region).insts[cursor.at]
    }

    fn fault(&mut self, kind: FaultKind, span: Span) {
        self.state.faults.add(kind, span);
    }

    fn stop<T>(&mut self, kind: FaultKind, span: Span) -> Result<T, Halt<F>> {
        self.fault(kind, span);
        Err(Halt::Stopped)
    }

    fn take_steps(&mut self, steps: u64, span: Span) -> Result<(), Halt<F>> {
        if steps > self.options.limits.steps - self.state.steps {
            return self.stop(FaultKind::StepBudget, span);
        }
        self.state.steps += steps;
        self.work(steps * u64::from(WORDS_PER_STEP), span)
    }

    /// Counts work, and asks the host from time to time whether to stop.
    fn work(&mut self, work: u64, span: Span) -> Result<(), Halt<F>> {
        self.unasked += work;
        if self.unasked >= EVALUATED_WORK {
            self.unasked = 0;
            if self.host.is_cancelled() {
                return self.stop(FaultKind::Cancelled, span);
            }
        }
        Ok(())
    }

    /// The steps for the callee's array parameters with these passing modes.
    fn pass_arrays(
        &mut self,
        callee: FuncId,
        ways: [PassingMode; 2],
        span: Span,
    ) -> Result<(), Halt<F>> {
        for array in self.module.function(callee).array_params() {
            if array.mode.is_some_and(|mode| ways.contains(&mode)) {
                self.take_steps(move_steps(array.len), span)?;
            }
        }
        Ok(())
    }

    fn count_call(&mut self, callee: FuncId) {
        let is_active = self.state.frames.iter().any(|f| f.function == callee);
        let mut modes = self.module.function(callee).members.iter().map(|m| m.mode);
        self.state.tally.calls += 1;
        self.state.tally.recursions += u64::from(is_active);
        self.state.tally.writes +=
            u64::from(modes.any(|m| matches!(m, PassingMode::Out | PassingMode::InOut)));
    }

    /// Adds a decision to the path's signature, by FNV-1a (Fowler, Noll, Vo).
    fn record(&mut self, decision: u64) {
        if self.options.path {
            // A step of FNV, with the high bits folded back so that every decision reaches every
            // bit.
            let mixed = (self.state.path ^ decision).wrapping_mul(0x0000_0100_0000_01b3);
            self.state.path = mixed ^ (mixed >> 29) ^ 0x9e37_79b9;
        }
    }

    fn read(&mut self, values: &[ValueId]) -> Values<F> {
        let slots = &self.frame().slots;
        values.iter().map(|v| slots[v.index()]).collect()
    }

    /// The shadows that a value has.
    fn lanes(&self, function: &Function, value: ValueId) -> Lanes {
        let value = function.value(value);
        self.options.shadows.of(value.ty, value.lanes)
    }

    /// Defines a value. Shadows that it does not have are dropped.
    fn assign(&mut self, to: ValueId, value: EvalValue<F>) {
        let function = self.function();
        let lanes = self.lanes(function, to);
        let value = masked(value, lanes);
        let [x, y] = value.shadows;
        let is_finite = |n: F| n.to_f64().is_finite();
        if !(is_finite(value.float) && is_finite(x) && is_finite(y)) {
            self.state.tally.nonfinite += 1;
        }
        self.frame().slots[to.index()] = value;
    }

    fn enter(&mut self, region: RegionId) {
        self.frame().cursors.push(RegionCursor { region, at: 0 });
    }

    /// Defines the parameters of a loop's region.
    fn carry(&mut self, region: RegionId, values: Values<F>) {
        let function = self.function();
        for (&param, value) in function.region(region).params.iter().zip(values) {
            self.assign(param, value);
        }
    }

    /// Defines the results computed from an instruction's operands, and steps over it.
    fn give(&mut self, inst: &Inst, args: &[EvalValue<F>], mut values: Values<F>) {
        if self.options.origins {
            for value in &mut values {
                self.state.origins.mark(inst, args, value);
            }
        }
        self.finish(values);
    }

    /// Defines the results of the instruction at the innermost cursor, and steps over it.
    fn finish(&mut self, values: Values<F>) {
        let inst = self.inst();
        let cursor = self.frame().cursors.last_mut();
        cursor.expect("a region is open").at += 1;
        for (result, value) in inst.results.iter().zip(values) {
            self.assign(result, value);
        }
    }

    /// Counts a call against the limits; `open` inlined calls are open around it.
    fn count_entry(&mut self, steps: u64, open: u32, span: Span) -> Result<(), Halt<F>> {
        self.take_steps(steps, span)?;
        let active = self.state.frames.len() as u64 + u64::from(open);
        if active >= self.options.limits.call_depth.into() {
            return self.stop(FaultKind::CallDepth, span);
        }
        Ok(())
    }

    fn enter_function(
        &mut self,
        callee: FuncId,
        args: Values<F>,
        given: Vec<Vec<EvalValue<F>>>,
        saved: u64,
        span: Span,
    ) -> Result<(), Halt<F>> {
        self.count_entry(1 + saved, 0, span)?;
        let function = self.module.function(callee);
        let limits = self.options.limits;
        let lens = function.arrays.iter().map(|a| u64::from(a.len));
        self.state.elements += lens.sum::<u64>();
        if self.state.elements > limits.array_elements.into() {
            return self.stop(FaultKind::ArraySize, span);
        }
        let mut given = given.into_iter();
        let arrays = function.arrays.iter().map(|array| {
            let given = given.next();
            match (array.mode, given) {
                (Some(PassingMode::In | PassingMode::InOut), Some(given)) => {
                    self.masked_array(array, given)
                }
                _ => vec![EvalValue::default(); array.len as usize],
            }
        });
        let arrays = arrays.collect();
        self.state.frames.push(EvalFrame {
            function: callee,
            slots: vec![EvalValue::default(); function.values.len()],
            arrays,
            cursors: Vec::new(),
        });
        self.enter(function.body);
        self.carry(function.body, args);
        for i in 0..self.entering.of(callee).len() {
            let steps = self.entering.of(callee)[i];
            self.take_steps(steps, function.span)?;
        }
        Ok(())
    }

    /// Passes results and arrays back to the caller, or to the host if there is none.
    fn leave_function(&mut self, values: Values<F>) -> Result<Option<Values<F>>, Halt<F>> {
        let function = self.function();
        let frame = self
            .state
            .frames
            .pop()
            .expect("a function is being executed");
        let lens = function.arrays.iter().map(|a| u64::from(a.len));
        self.state.elements -= lens.sum::<u64>();
        let results = function.results.iter().zip(values);
        let results = results
            .map(|(result, value)| masked(value, self.options.shadows.of(result.ty, result.lanes)));
        let results: Values<F> = results.collect();
        if self.state.frames.is_empty() {
            return Ok(Some(results));
        }
        let call = self.inst();
        if let InstKind::Call(callee, to) = &call.kind {
            self.pass_arrays(*callee, [PassingMode::Out, PassingMode::InOut], call.span)?;
            for ((array, elements), &to) in function.arrays.iter().zip(frame.arrays).zip(to) {
                if matches!(array.mode, Some(PassingMode::Out | PassingMode::InOut)) {
                    self.set_array(to, elements);
                }
            }
        }
        self.finish(results);
        Ok(None)
    }

    /// Elements as an array holds them, without the shadows that it does not have.
    fn masked_array(&self, array: &Array, elements: Vec<EvalValue<F>>) -> Vec<EvalValue<F>> {
        let lanes = self.options.shadows.of(array.element, array.lanes);
        elements.into_iter().map(|e| masked(e, lanes)).collect()
    }

    fn set_array(&mut self, to: ArrayId, elements: Vec<EvalValue<F>>) {
        let array = &self.function().arrays[to.index()];
        let elements = self.masked_array(array, elements);
        self.frame().arrays[to.index()] = elements;
    }
}

fn masked<F: Number>(mut value: EvalValue<F>, lanes: Lanes) -> EvalValue<F> {
    for direction in Direction::BOTH {
        if !lanes.has(direction) {
            value.shadows[direction as usize] = F::default();
        }
    }
    value
}

/// A shadow as it is read: the sign of a zero never shows.
fn read<F: Number>(shadow: F) -> F {
    shadow + F::default()
}

/// Canonicalises a value for the host: one NaN, no negative zero in shadows.
fn canonical_value<F: Number>(value: EvalValue<F>) -> EvalValue<F> {
    let canonical = |x: F| {
        if x.to_f64().is_nan() {
            F::from_f32(canonical_float(f32::NAN))
        } else {
            x
        }
    };
    EvalValue {
        word: value.word,
        float: canonical(value.float),
        shadows: value.shadows.map(|d| canonical(read(d))),
    }
}
