//! The reverse sweep over a kernel: adjoints of all values, by rules that read two samples.
//!
//! Assumes a doubled function and its flips. Guarantees the gradient of Σ *w·o* over the floats *o*
//! of some results. Coefficients read the samples alone, so the gradient is linear in the weights
//! *w*. An adjoint of a bool or an int is that by its whole change in the kernel.

use super::doubled::Doubled;
use super::roots::{Flip, Roots};
use super::secant::{Secants, is_finite};
use crate::module::*;
use crate::passes::decisions::{MarginOperands, margin_of};
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;

/// A sweep.
pub(super) struct Reverse<'d, 's> {
    doubled: &'d mut Doubled<'s>,
    roots: &'d Roots,
    /// By value: whether it depends on what is differentiated by.
    active: Vec<bool>,
    adjoints: Vec<Option<ValueId>>,
}

impl<'d, 's> Reverse<'d, 's> {
    /// A sweep to values for which `is_parameter` holds.
    pub(super) fn new(
        doubled: &'d mut Doubled<'s>,
        roots: &'d Roots,
        is_parameter: impl Fn(ValueId) -> bool,
    ) -> Reverse<'d, 's> {
        let mut active: Vec<bool> = (0..doubled.straight.values.len() as u32)
            .map(|value| is_parameter(ValueId(value)))
            .collect();
        for inst in doubled.insts() {
            let is_active = inst.args.iter().any(|arg| active[arg.index()]);
            let is_constant = matches!(inst.kind, InstKind::Detach | InstKind::Shadow(_));
            for result in inst.results.iter() {
                active[result.index()] |= is_active && !is_constant;
            }
        }
        Reverse {
            adjoints: vec![None; active.len()],
            doubled,
            roots,
            active,
        }
    }

    /// The adjoints of all values, where results have these.
    pub(super) fn run(mut self, seeds: &[(ValueId, ValueId)]) -> Vec<Option<ValueId>> {
        for &(value, weight) in seeds {
            self.add(value, weight);
        }
        for (at, inst) in self.doubled.insts().iter().enumerate().rev() {
            self.doubled.writer.span = inst.span;
            match inst.kind {
                InstKind::Op(op) => {
                    if let Some(adjoint) = self.adjoints[inst.results.first.index()] {
                        self.op(at, op, inst, adjoint);
                    }
                }
                InstKind::Sample(_, _, Slopes::Given) => self.sample(inst),
                _ => {}
            }
        }
        self.adjoints
    }

    fn add(&mut self, value: ValueId, term: ValueId) {
        if !self.active[value.index()] {
            return;
        }
        let sum = match self.adjoints[value.index()] {
            None => term,
            Some(sum) => self.doubled.writer.op(Op::Add, &[sum, term]),
        };
        self.adjoints[value.index()] = Some(sum);
    }

    /// Adds a term where a condition holds.
    fn add_where(&mut self, value: ValueId, condition: ValueId, term: ValueId) {
        let zero = self.doubled.writer.float(0.0);
        let term = self.doubled.writer.op(Op::Select, &[condition, term, zero]);
        self.add(value, term);
    }

    fn op(&mut self, at: usize, op: Op, inst: &Inst, adjoint: ValueId) {
        let args = &inst.args[..];
        let result = inst.results.first;
        match op {
            Op::FLt | Op::FLe | Op::Step => {
                let Some(flip) = self.roots.flip(at, 0) else {
                    return;
                };
                let change = match op {
                    Op::Step => {
                        let samples = self.doubled.at(result);
                        self.by_change(samples, adjoint)
                    }
                    _ => adjoint,
                };
                let MarginOperands::Difference(more, less) = margin_of(op) else {
                    unreachable!("the margin is a difference");
                };
                let term = self.over_margin(flip, change);
                self.add(args[more], term);
                let term = self.doubled.writer.op(Op::Neg, &[term]);
                self.add(args[less], term);
            }
            Op::FToI | Op::FToU => {
                if let Some(flip) = self.roots.flip(at, 0) {
                    let term = self.over_margin(flip, adjoint);
                    self.add(args[0], term);
                }
            }
            Op::Floor | Op::Ceil | Op::Round | Op::Trunc | Op::Sign | Op::Fract => {
                let samples = self.doubled.at(args[0]);
                let own = self.doubled.writer.coefficients(op, &samples[..1], &[true]);
                let own = own[0].map(|own| self.doubled.writer.term(own, adjoint));
                let zero = self.doubled.writer.float(0.0);
                let own = own.unwrap_or(zero);
                let term = match self.roots.flip(at, 0) {
                    None => own,
                    Some(flip) => {
                        let samples = self.doubled.at(result);
                        let change = self.by_change(samples, adjoint);
                        let flipped = self.over_margin(flip, change);
                        let args = [flip.is_flipped, flipped, own];
                        self.doubled.writer.op(Op::Select, &args)
                    }
                };
                self.add(args[0], term);
            }
            Op::Select => {
                if self.active[args[0].index()]
                    && let Some(differs) = self.doubled.differs(args[0])
                {
                    let [yes, no] = [1, 2].map(|arm| self.doubled.at(args[arm])[1]);
                    let samples = self.doubled.at(args[0]).map(|bool| self.float_of(bool));
                    let change = self.doubled.change(samples);
                    let writer = &mut self.doubled.writer;
                    let apart = writer.op(Op::Sub, &[yes, no]);
                    let jump = writer.op(Op::Mul, &[apart, change]);
                    // An arm need not have a value where it is not taken: the arms that are taken.
                    let is_finite = is_finite(self.doubled, jump);
                    let taken = self.doubled.at(result);
                    let taken = self.doubled.change(taken);
                    let writer = &mut self.doubled.writer;
                    let jump = writer.op(Op::Select, &[is_finite, jump, taken]);
                    let term = writer.op(Op::StrongMul, &[jump, adjoint]);
                    self.add_where(args[0], differs, term);
                }
                let condition = self.doubled.here(args[0]);
                self.add_where(args[1], condition, adjoint);
                let condition = self.doubled.writer.op(Op::LNot, &[condition]);
                self.add_where(args[2], condition, adjoint);
            }
            Op::IToF | Op::UToF | Op::AsFloat => {
                if let Some(differs) = self.doubled.differs(result) {
                    let samples = self.doubled.at(result);
                    let term = self.by_change(samples, adjoint);
                    self.add_where(args[0], differs, term);
                }
            }
            // The bits of a float are no decision.
            Op::AsInt => {}
            Op::ISel => {
                let Some(mut flips) = self.doubled.differs(result) else {
                    return;
                };
                if let Some(differs) = self.doubled.differs(args[0]) {
                    let taken = self.doubled.writer.op(Op::And, &[flips, differs]);
                    self.add_where(args[0], taken, adjoint);
                    let same = self.doubled.writer.op(Op::LNot, &[differs]);
                    flips = self.doubled.writer.op(Op::And, &[flips, same]);
                }
                let condition = self.doubled.here(args[0]);
                let taken = self.doubled.writer.op(Op::And, &[flips, condition]);
                self.add_where(args[1], taken, adjoint);
                let condition = self.doubled.writer.op(Op::LNot, &[condition]);
                let taken = self.doubled.writer.op(Op::And, &[flips, condition]);
                self.add_where(args[2], taken, adjoint);
            }
            _ if op.info().class == OpClass::Discrete => {
                self.first_that_flips(args, result, adjoint);
            }
            _ => self.float(at, op, inst, adjoint),
        }
    }

    /// A float op: plain partials, or secants.
    fn float(&mut self, at: usize, op: Op, inst: &Inst, adjoint: ValueId) {
        let args = &inst.args[..];
        let wanted: Vec<bool> = args.iter().map(|arg| self.active[arg.index()]).collect();
        let is_plain = matches!(
            op,
            Op::Neg | Op::Add | Op::Sub | Op::Min | Op::Max | Op::Clamp | Op::Saturate | Op::Abs
        ) || op.info().class == OpClass::Given;
        let is_decided = args.iter().any(|&arg| self.doubled.is_decided(arg));
        let is_rough = !is_plain && is_decided && self.doubled.varies(inst.results.first);
        let flips = (0..args.len()).map(|operand| self.roots.flip(at, operand));
        let flips: Vec<Option<Flip>> = flips.collect();
        if !is_rough && flips.iter().all(Option::is_none) {
            let here: Args = args.iter().map(|&arg| self.doubled.here(arg)).collect();
            let plain = self.doubled.writer.coefficients(op, &here, &wanted);
            for (&arg, coefficient) in args.iter().zip(plain) {
                if let Some(coefficient) = coefficient {
                    let term = self.doubled.writer.term(coefficient, adjoint);
                    self.add(arg, term);
                }
            }
            return;
        }
        let secants = Secants {
            op,
            args,
            result: inst.results.first,
            wanted: &wanted,
            flips: &flips,
            is_rough,
        };
        let slopes = secants.write(self.doubled);
        for (&arg, slope) in args.iter().zip(slopes) {
            if let Some(slope) = slope {
                let term = self.doubled.writer.op(Op::StrongMul, &[slope, adjoint]);
                self.add(arg, term);
            }
        }
    }

    /// The first operand that flips takes all of the adjoint, if the result flips.
    fn first_that_flips(&mut self, args: &[ValueId], result: ValueId, adjoint: ValueId) {
        let Some(mut flips) = self.doubled.differs(result) else {
            return;
        };
        for &arg in args {
            if let Some(differs) = self.doubled.differs(arg) {
                let taken = self.doubled.writer.op(Op::And, &[flips, differs]);
                self.add_where(arg, taken, adjoint);
                let same = self.doubled.writer.op(Op::LNot, &[differs]);
                flips = self.doubled.writer.op(Op::And, &[flips, same]);
            }
        }
    }

    /// An adjoint times the change of a value: 0 where the adjoint is, whatever the values are.
    fn by_change(&mut self, samples: [ValueId; 2], adjoint: ValueId) -> ValueId {
        let change = self.doubled.change(samples);
        self.doubled.writer.op(Op::StrongMul, &[change, adjoint])
    }

    /// A number over the change of a margin, if its decision flips, else 0.
    fn over_margin(&mut self, flip: Flip, number: ValueId) -> ValueId {
        let writer = &mut self.doubled.writer;
        let quotient = writer.op(Op::Div, &[number, flip.change]);
        let zero = writer.float(0.0);
        writer.op(Op::Select, &[flip.is_flipped, quotient, zero])
    }

    fn float_of(&mut self, bool: ValueId) -> ValueId {
        let writer = &mut self.doubled.writer;
        let (zero, one) = (writer.float(0.0), writer.float(1.0));
        writer.op(Op::Select, &[bool, one, zero])
    }

    /// A sample with slopes: plain partials.
    fn sample(&mut self, inst: &Inst) {
        let results: Vec<ValueId> = inst.results.iter().collect();
        for channel in 0..4 {
            let Some(adjoint) = self.adjoints[results[channel].index()] else {
                continue;
            };
            for along in 0..2 {
                let slope = self.doubled.here(results[4 + 4 * along + channel]);
                let term = self.doubled.writer.op(Op::StrongMul, &[slope, adjoint]);
                self.add(inst.args[along], term);
            }
        }
    }
}
