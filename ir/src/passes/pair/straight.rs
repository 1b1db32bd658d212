//! Straight-line code of a shader: calls inlined, loops unrolled, branches if-converted (Allen et
//! al. 1983, *Conversion of control dependence to data dependence*, POPL).
//!
//! Assumes a verified module as lowering leaves it. Guarantees a function of one region with the
//! parameters and results of the entry: constants, globals, ops, reads of buffers, samples,
//! shadows and detached values, and the return. Equal values are one ([`Writer`]). Equality of
//! floats is two comparisons, a remainder is by its quotient's integer part, and `a < b ? a : b`,
//! `c < 0 ? -c : c` and what is like them are `min`, `max` and `abs`. Messages and closures are
//! left out: nothing that is differentiated depends on them.
//!
//! A region is executed on values: a branch whose condition is known takes its arm, another one
//! takes both. Ways out of a region are a tree of their conditions, by which values are selected
//! where ways meet.

use super::exits::{Exit, Exits, merge, merge_yields};
use super::refusal::{Refusal, refuse};
use super::selection::select;
use super::writer::Writer;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::passes::decisions::{OpDecisions, decisions_of, quotient, remainder};
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;

/// The most instructions that a shader becomes.
pub const MAX_STRAIGHT: usize = 1 << 15;

type Refused = Box<Diagnostic>;

/// The straight-line code of a module's entry.
///
/// # Errors
/// If a shader cannot be straight-line, or would be too long.
pub(super) fn straight(module: &Module) -> Result<Function, Refused> {
    let entry = module.entry();
    let mut straight = Straight {
        module,
        writer: Writer::new(&entry.name, entry.span),
        within: Vec::new(),
        hidden: None,
        guards: 0,
        iterations: 0,
    };
    let builder = &mut straight.writer.builder;
    let args = builder.params_like(entry, entry.params().len());
    let (results, _) = straight.call(module.entry, &args, Vec::new(), entry.span)?;
    let mut builder = straight.writer.builder;
    builder.terminate(InstKind::Return, results, entry.span);
    let mut function = builder.finish();
    function.results.clone_from(&entry.results);
    function.members.clone_from(&entry.members);
    Ok(function)
}

struct Straight<'m> {
    module: &'m Module,
    writer: Writer,
    /// The functions whose bodies are being written.
    within: Vec<FuncId>,
    /// The call of the library's function that is being written.
    hidden: Option<Span>,
    /// How many conditions have to hold for what is being written to be reached.
    guards: usize,
    /// Iterations so far.
    iterations: usize,
}

/// A call of a function.
struct Frame<'m> {
    function: &'m Function,
    values: Vec<Option<ValueId>>,
    /// The elements of its arrays.
    arrays: Vec<Vec<ValueId>>,
    /// The guards around the call.
    guards: usize,
}

impl Frame<'_> {
    fn value(&self, value: ValueId) -> ValueId {
        self.values[value.index()].expect("a definition dominates its uses")
    }

    fn args(&self, inst: &Inst) -> Vec<ValueId> {
        inst.args.iter().map(|&arg| self.value(arg)).collect()
    }

    fn set(
        &mut self,
        of: impl IntoIterator<Item = ValueId>,
        to: impl IntoIterator<Item = ValueId>,
    ) {
        for (of, to) in of.into_iter().zip(to) {
            self.values[of.index()] = Some(to);
        }
    }
}

impl<'m> Straight<'m> {
    /// The results of a call, and the elements of the arrays that are its parameters.
    fn call(
        &mut self,
        id: FuncId,
        args: &[ValueId],
        passed: Vec<Vec<ValueId>>,
        span: Span,
    ) -> Result<(Vec<ValueId>, Vec<Vec<ValueId>>), Refused> {
        let function = self.module.function(id);
        if self.within.contains(&id) {
            return Err(refuse(span, Refusal::Recursion(&function.name)));
        }
        if function.recipe.is_some() {
            return Err(refuse(span, Refusal::OwnDerivative));
        }
        if function.decides != Decides::Own {
            return Err(refuse(span, Refusal::March));
        }
        let custom = &function.custom;
        if custom.forward.is_some() || custom.backward.is_some() {
            return Err(refuse(span, Refusal::CustomDerivative(&function.name)));
        }
        if let Some(substitute) = custom.substitute {
            return self.call(substitute, args, passed, span);
        }
        self.within.push(id);
        let hidden = self.hidden;
        if function.library {
            self.hidden = hidden.or(Some(span));
        }
        let mut arrays = passed;
        for array in &function.arrays[arrays.len()..] {
            let zero = self.writer.constant(array.element, 0);
            arrays.push(vec![zero; array.len as usize]);
        }
        let mut frame = Frame {
            function,
            values: vec![None; function.values.len()],
            arrays,
            guards: self.guards,
        };
        frame.set(function.params().iter().copied(), args.iter().copied());
        let exit = self.region(&mut frame, function.body, 0)?;
        let returns = |exit: &Exit| match exit {
            Exit::Return(values) => Some(values.clone()),
            _ => None,
        };
        let zeros = || function.results.iter().map(|result| result.ty);
        let results = match merge(&mut self.writer, &exit, &returns) {
            Some(results) => results,
            // It never returns.
            None => zeros().map(|ty| self.writer.constant(ty, 0)).collect(),
        };
        self.guards = frame.guards;
        self.hidden = hidden;
        self.within.pop();
        let results = match custom.is_zero {
            false => results,
            true => results
                .into_iter()
                .map(|value| self.detached(value))
                .collect(),
        };
        let parameters = function.array_params().count();
        frame.arrays.truncate(parameters);
        Ok((results, frame.arrays))
    }

    fn detached(&mut self, value: ValueId) -> ValueId {
        match self.writer.ty(value) {
            Scalar::F32 => {
                let kind = InstKind::Detach;
                self.writer.inst(kind, &[value], &[Scalar::F32]).first
            }
            _ => value,
        }
    }

    /// Executes a region from an instruction on. Returns the ways out of it.
    fn region(
        &mut self,
        frame: &mut Frame<'m>,
        id: RegionId,
        from: usize,
    ) -> Result<Exits, Refused> {
        let region = frame.function.region(id);
        for (at, inst) in region.insts.iter().enumerate().skip(from) {
            let span = self.hidden.unwrap_or(inst.span);
            self.writer.span = span;
            if self.writer.len() > MAX_STRAIGHT {
                return Err(refuse(span, Refusal::TooLong));
            }
            let exits = match &inst.kind {
                InstKind::If(then, other) => self.branch(frame, inst, [*then, *other])?,
                InstKind::Block(body) => {
                    let guards = self.guards;
                    let exits = self.region(frame, *body, 0)?;
                    self.guards = guards;
                    exits.leave(*body)
                }
                InstKind::Loop(body) => self.repeat(frame, inst, *body)?,
                InstKind::Yield => return Ok(Exits::new(Exit::Yield(frame.args(inst)))),
                InstKind::Break(to) => {
                    return Ok(Exits::new(Exit::Break(*to, frame.args(inst))));
                }
                InstKind::Continue(to) => {
                    return Ok(Exits::new(Exit::Continue(*to, frame.args(inst))));
                }
                InstKind::Return => return Ok(Exits::new(Exit::Return(frame.args(inst)))),
                InstKind::Unreachable => return Ok(Exits::new(Exit::Unreachable)),
                _ => {
                    self.inst(frame, inst, span)?;
                    continue;
                }
            };
            let Some(values) = merge_yields(&mut self.writer, &exits) else {
                return Ok(exits);
            };
            frame.set(inst.results.iter(), values);
            if exits.only_yields() {
                continue;
            }
            // Some ways go elsewhere: the rest is reached by the others alone.
            self.guards += 1;
            let rest = self.region(frame, id, at + 1)?;
            return Ok(exits.then(&rest));
        }
        unreachable!("a region ends with a terminator")
    }

    fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        inst: &Inst,
        arms: [RegionId; 2],
    ) -> Result<Exits, Refused> {
        let condition = frame.value(inst.args[0]);
        match self.writer.known(condition) {
            Some(0) => self.region(frame, arms[1], 0),
            Some(_) => self.region(frame, arms[0], 0),
            None => {
                let guards = self.guards;
                let mut arm = |this: &mut Self, arm| {
                    this.guards = guards + 1;
                    this.region(frame, arm, 0)
                };
                let yes = arm(self, arms[0])?;
                let no = arm(self, arms[1])?;
                self.guards = guards;
                Ok(Exits::choice(condition, yes, no))
            }
        }
    }

    fn repeat(
        &mut self,
        frame: &mut Frame<'m>,
        inst: &Inst,
        body: RegionId,
    ) -> Result<Exits, Refused> {
        let params = &frame.function.region(body).params;
        let mut carried = frame.args(inst);
        let guards = self.guards;
        let span = self.hidden.unwrap_or(inst.span);
        loop {
            self.iterations += 1;
            if self.iterations > MAX_STRAIGHT {
                return Err(refuse(span, Refusal::TooLong));
            }
            frame.set(params.iter().copied(), carried);
            let exits = self.region(frame, body, 0)?;
            self.guards = guards;
            let continues = |exit: &Exit| match exit {
                Exit::Continue(to, values) if *to == body => Some(values.clone()),
                _ => None,
            };
            match exits.all(|exit| continues(exit).is_some()) {
                Some(true) => {
                    let values = merge(&mut self.writer, &exits, &continues);
                    carried = values.expect("all ways continue");
                }
                Some(false) => return Ok(exits.leave(body)),
                None => {
                    return Err(refuse(span, Refusal::Iterations));
                }
            }
        }
    }

    /// Writes an instruction without regions that is no terminator.
    fn inst(&mut self, frame: &mut Frame<'m>, inst: &Inst, span: Span) -> Result<(), Refused> {
        let args = frame.args(inst);
        let types: Vec<Scalar> = (inst.results.iter())
            .map(|result| frame.function.value(result).ty)
            .collect();
        let is_guarded = self.guards > 0;
        let refused = |what| Err(refuse(span, what));
        let results: Vec<ValueId> = match &inst.kind {
            InstKind::Const(bits) => vec![self.writer.constant(types[0], *bits)],
            InstKind::Op(op) => {
                let value = self.op(*op, &args);
                if is_guarded && op.info().fault.is_some() && self.writer.known(value).is_none() {
                    return refused(Refusal::EffectInArm("an op that may fault"));
                }
                vec![value]
            }
            InstKind::Global(id, scalar) => vec![self.writer.global(*id, *scalar, types[0])],
            InstKind::Buffer(id, number, _) => {
                // A fault is the shader's own, and reported there.
                let kind = InstKind::Buffer(*id, *number, IndexCheck::Silent);
                vec![self.writer.inst(kind, &args, &types).first]
            }
            InstKind::Resource(_)
            | InstKind::BufferLength(_)
            | InstKind::Shadow(_)
            | InstKind::Detach
            | InstKind::Sample(..) => {
                let results = self.writer.inst(inst.kind.clone(), &args, &types);
                results.iter().collect()
            }
            InstKind::MakeClosure(_) | InstKind::ClosureAdd | InstKind::ClosureScale => {
                vec![self.writer.constant(Scalar::Closure, 0)]
            }
            InstKind::Message(_) if is_guarded => {
                return refused(Refusal::EffectInArm("a message"));
            }
            InstKind::Message(_) | InstKind::EnterInlined(_) | InstKind::TakeStep => Vec::new(),
            InstKind::Call(callee, passed) => {
                let arrays = passed.iter().map(|array| &frame.arrays[array.index()]);
                let mut given: Vec<Vec<ValueId>> = arrays.cloned().collect();
                let callee_arrays = self.module.function(*callee).array_params();
                let modes: Vec<_> = callee_arrays.map(|array| array.mode).collect();
                for (given, mode) in given.iter_mut().zip(&modes) {
                    if *mode == Some(PassingMode::Out) {
                        let zero = given.first().map(|&first| self.writer.ty(first));
                        let zero = zero.map(|ty| self.writer.constant(ty, 0));
                        given.iter_mut().for_each(|element| {
                            *element = zero.expect("it has an element");
                        });
                    }
                }
                let (results, after) = self.call(*callee, &args, given, span)?;
                for ((array, after), mode) in passed.iter().zip(after).zip(modes) {
                    if mode != Some(PassingMode::In) {
                        self.written(frame, span)?;
                        frame.arrays[array.index()] = after;
                    }
                }
                results
            }
            InstKind::ArrayZero(array) => {
                self.written(frame, span)?;
                let ty = frame.function.arrays[array.index()].element;
                let zero = self.writer.constant(ty, 0);
                frame.arrays[array.index()].fill(zero);
                Vec::new()
            }
            InstKind::ArrayCopy { to, from } if args.is_empty() => {
                self.written(frame, span)?;
                frame.arrays[to.index()] = frame.arrays[from.index()].clone();
                Vec::new()
            }
            InstKind::Load(array) => {
                let elements = &frame.arrays[array.index()];
                let Some(at) = self.index(args[0], elements.len()) else {
                    return refused(Refusal::Index);
                };
                vec![elements[at]]
            }
            InstKind::Store(array) => {
                let elements = &frame.arrays[array.index()];
                let Some(at) = self.index(args[0], elements.len()) else {
                    return refused(Refusal::Index);
                };
                self.written(frame, span)?;
                frame.arrays[array.index()][at] = args[1];
                Vec::new()
            }
            InstKind::ArrayCopy { .. } | InstKind::ArrayResize(..) => {
                return refused(Refusal::Index);
            }
            _ => return refused(Refusal::Unknown),
        };
        frame.set(inst.results.iter(), results);
        Ok(())
    }

    /// Checks that an array of the frame may be written here.
    fn written(&self, frame: &Frame<'_>, span: Span) -> Result<(), Refused> {
        match self.guards == frame.guards {
            true => Ok(()),
            false => Err(refuse(span, Refusal::EffectInArm("a store"))),
        }
    }

    /// The element at a known index.
    fn index(&self, index: ValueId, len: usize) -> Option<usize> {
        let index = self.writer.known(index)? as i32;
        Some((index.max(0) as usize).min(len - 1))
    }

    /// An op, by the ops whose decisions are their own.
    fn op(&mut self, op: Op, args: &[ValueId]) -> ValueId {
        let writer = &mut self.writer;
        if let (OpDecisions::Remainder(kind), &[a, b]) = (decisions_of(op), args) {
            let [_, whole] = quotient(kind, [a, b], |op, args| writer.op(op, args));
            return remainder([a, b], whole, |op, args| writer.op(op, args));
        }
        match (op, args) {
            (Op::FEq | Op::FNe, &[a, b]) => {
                let (below, above) = (writer.op(Op::FLe, &[a, b]), writer.op(Op::FLe, &[b, a]));
                let same = writer.op(Op::And, &[below, above]);
                match op {
                    Op::FEq => same,
                    _ => writer.op(Op::LNot, &[same]),
                }
            }
            (Op::Select | Op::ISel, &[condition, yes, no]) => select(writer, condition, yes, no),
            _ => writer.op(op, args),
        }
    }
}
