//! Constant folding, of values and of control flow.
//!
//! Assumes a function that the verifier accepts. Guarantees: values keep their bits and
//! instructions their faults; no instruction is moved before another. Operations on constants are
//! constants, except where they would fault. An `If` on a constant is its arm. A `Loop` that never
//! continues is a `Block`, a `Block` that is left only at its end is its body. After an instruction
//! that never ends normally comes `Unreachable`. Derivatives are not folded: a `Shadow` stays.
//!
//! Identities are used where they hold for every operand, zeros and NaN included: `x·1`, `x/1`,
//! `x − 0`, `x + −0`. Their tangents are then the operand's too. A uint whose highest bit is known
//! to be 0, as of a masked or shifted word, becomes a float as an int does: SIMD instruction sets
//! have only the conversion of ints.

use super::replacement::{Replacements, pass_on_name};
use crate::host::CANONICAL_NAN;
use crate::module::{Args, Function, Inst, InstKind, Region, RegionId, Results, ValueId};
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::{MAX_OPERANDS, Op};

/// Folds a function in place.
pub(super) fn fold(function: &mut Function) {
    let mut fold = Fold {
        aliases: Replacements::new(function.values.len()),
        known: vec![None; function.values.len()],
        half: vec![false; function.values.len()],
        breaks: vec![0; function.regions.len()],
        continues: vec![0; function.regions.len()],
        late: false,
        cut: false,
        function,
    };
    let body = fold.function.body;
    fold.region(body);
    fold.tidy();
}

struct Fold<'f> {
    function: &'f mut Function,
    aliases: Replacements,
    /// The bits of values that are always the same.
    known: Vec<Option<u32>>,
    /// Words that are not constants and whose highest bit is always 0.
    half: Vec<bool>,
    /// By region: how many `Break`s to it remain.
    breaks: Vec<u32>,
    /// By region: how many `Continue`s to it remain.
    continues: Vec<u32>,
    /// Whether a value was replaced after instructions that use it had been folded.
    late: bool,
    /// Whether regions were removed unseen.
    cut: bool,
}

impl Fold<'_> {
    fn region(&mut self, id: RegionId) {
        let insts = self.take(id);
        let mut out = Vec::with_capacity(insts.len());
        self.list(insts, &mut out);
        self.function.regions[id.index()].insts = out;
    }

    fn take(&mut self, id: RegionId) -> Vec<Inst> {
        std::mem::take(&mut self.function.regions[id.index()].insts)
    }

    fn terminator(&self, id: RegionId) -> &InstKind {
        &self.function.terminator(id).kind
    }

    /// Repeats the rewriting for replacements found too late.
    fn tidy(&mut self) {
        if self.cut {
            let mut reached = vec![false; self.function.regions.len()];
            self.function
                .for_each_region(|id| reached[id.index()] = true);
            for (region, reached) in self.function.regions.iter_mut().zip(reached) {
                if !reached {
                    *region = Region::default();
                }
            }
        }
        if self.late {
            for inst in self.function.regions.iter_mut().flat_map(|r| &mut r.insts) {
                self.aliases.rewrite(inst);
            }
        }
    }

    /// Appends the instructions, folded, to `out`. The last one appended is the terminator that
    /// control reaches.
    fn list(&mut self, insts: Vec<Inst>, out: &mut Vec<Inst>) {
        for mut inst in insts {
            self.aliases.rewrite(&mut inst);
            let ended = match inst.kind {
                InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => {
                    self.structured(inst, out)
                }
                _ => {
                    self.simple(inst, out);
                    false
                }
            };
            if ended {
                self.cut = true;
                return;
            }
        }
    }

    /// An instruction without regions.
    fn simple(&mut self, mut inst: Inst, out: &mut Vec<Inst>) {
        match inst.kind {
            InstKind::Const(bits) => self.known[inst.results.first.index()] = Some(bits),
            InstKind::Op(op) => {
                let ty = self.function.value(inst.results.first).ty;
                let args = inst.args.iter().map(|arg| self.known[arg.index()]);
                if let Some(bits) = constant(op, args, ty) {
                    inst.kind = InstKind::Const(bits);
                    inst.args.clear();
                    self.known[inst.results.first.index()] = Some(bits);
                } else if let Some(same) = self.identity(op, &inst.args) {
                    self.replace(inst.results.first, same);
                    return;
                } else if op == Op::UToF && self.half[inst.args[0].index()] {
                    inst.kind = InstKind::Op(Op::IToF);
                } else {
                    self.half[inst.results.first.index()] = self.is_half(op, &inst.args);
                }
            }
            InstKind::WithSlopes(op) => {
                let operands = inst.args.iter().map(|arg| self.known[arg.index()]);
                if let Some(operands) = operands.collect::<Option<Vec<u32>>>() {
                    let numbers = value_and_slopes(op, &operands);
                    for (result, bits) in inst.results.iter().zip(numbers) {
                        self.known[result.index()] = Some(bits);
                        out.push(Inst {
                            kind: InstKind::Const(bits),
                            args: Args::new(),
                            results: Results {
                                first: result,
                                count: 1,
                            },
                            span: inst.span,
                        });
                    }
                    return;
                }
            }
            // The same number at all points; NaN and infinity have no difference of 0 from
            // themselves.
            InstKind::Difference(_)
                if self.known[inst.args[0].index()]
                    .is_some_and(|bits| f32::from_bits(bits).is_finite()) =>
            {
                let zero = 0.0_f32.to_bits();
                inst.kind = InstKind::Const(zero);
                inst.args.clear();
                self.known[inst.results.first.index()] = Some(zero);
            }
            InstKind::Break(to) => self.breaks[to.index()] += 1,
            InstKind::Continue(to) => self.continues[to.index()] += 1,
            _ => {}
        }
        out.push(inst);
    }

    /// An instruction with regions. Returns whether control cannot come after it; then `out` has
    /// its terminator.
    fn structured(&mut self, inst: Inst, out: &mut Vec<Inst>) -> bool {
        match inst.kind {
            InstKind::If(then, other) => {
                if let Some(condition) = self.known[inst.args[0].index()] {
                    let arm = if condition != 0 { then } else { other };
                    self.cut = true;
                    let insts = self.take(arm);
                    self.list(insts, out);
                    return self.leave(None, inst.results, out);
                }
                self.region(then);
                self.region(other);
                let span = inst.span;
                let results = inst.results;
                out.push(inst);
                let ends = self.join(then, other, results);
                !ends && unreachable(span, out)
            }
            InstKind::Loop(body) => {
                let start = self.into(body, out);
                if self.continues[body.index()] == 0 {
                    self.once(body, &inst);
                    return self.block(body, inst, start, out);
                }
                let span = inst.span;
                self.keep(body, inst, start, out);
                self.breaks[body.index()] == 0 && unreachable(span, out)
            }
            InstKind::Block(body) => {
                let start = self.into(body, out);
                self.block(body, inst, start, out)
            }
            _ => unreachable!("no regions"),
        }
    }

    /// Folds a region into `out`, where it stays if it dissolves, so that nothing is moved twice.
    /// Returns its start.
    fn into(&mut self, body: RegionId, out: &mut Vec<Inst>) -> usize {
        let start = out.len();
        let insts = self.take(body);
        self.list(insts, out);
        start
    }

    /// Takes a region that does not dissolve out of `out` again, and appends its instruction.
    fn keep(&mut self, body: RegionId, inst: Inst, start: usize, out: &mut Vec<Inst>) {
        self.function.regions[body.index()].insts = out.split_off(start);
        out.push(inst);
    }

    /// A loop that never continues: its parameters are their initial values.
    fn once(&mut self, body: RegionId, inst: &Inst) {
        let params = std::mem::take(&mut self.function.regions[body.index()].params);
        self.late |= !params.is_empty();
        for (param, &value) in params.into_iter().zip(&inst.args) {
            self.replace(param, value);
        }
    }

    /// A region that is run once, folded into `out`. Returns whether control cannot come after it.
    fn block(&mut self, body: RegionId, mut inst: Inst, start: usize, out: &mut Vec<Inst>) -> bool {
        let last = out.last().expect("a list ends with a terminator");
        let at_end = last.kind == InstKind::Break(body);
        if self.breaks[body.index()] == u32::from(at_end) {
            return self.leave(Some(body), inst.results, out);
        }
        inst.kind = InstKind::Block(body);
        inst.args.clear();
        self.keep(body, inst, start, out);
        false
    }

    /// Removes the terminator that ends the spliced region in `out`, if it only continues after it.
    /// Returns whether it does not.
    fn leave(&mut self, body: Option<RegionId>, results: Results, out: &mut Vec<Inst>) -> bool {
        let last = out.last().expect("a list ends with a terminator");
        let goes_on = match last.kind {
            InstKind::Yield => true,
            InstKind::Break(to) => Some(to) == body,
            _ => false,
        };
        if goes_on {
            let last = out.pop().expect("just seen");
            for (result, &value) in results.iter().zip(&last.args) {
                self.replace(result, value);
            }
        }
        !goes_on
    }

    /// Finds results that are the same from both arms. Returns whether either arm ends normally.
    fn join(&mut self, then: RegionId, other: RegionId, results: Results) -> bool {
        let then_yields = matches!(self.terminator(then), InstKind::Yield);
        let other_yields = matches!(self.terminator(other), InstKind::Yield);
        if then_yields && other_yields {
            for (k, result) in results.iter().enumerate() {
                let a = self.function.terminator(then).args[k];
                let b = self.function.terminator(other).args[k];
                if a == b {
                    self.replace(result, a);
                } else if self.known[a.index()] == self.known[b.index()] {
                    self.known[result.index()] = self.known[a.index()];
                }
            }
        }
        then_yields || other_yields
    }

    /// Uses `by` for `value`, and passes on its name.
    fn replace(&mut self, value: ValueId, by: ValueId) {
        self.aliases.replace(value, by);
        pass_on_name(&mut self.function.values, value, by);
    }

    /// Whether the highest bit of an operation's result is always 0, by what is known of its
    /// operands.
    fn is_half(&self, op: Op, args: &Args) -> bool {
        let known = |i: usize| self.known[args[i].index()];
        let is_half = |i: usize| match known(i) {
            Some(bits) => bits >> 31 == 0,
            None => self.half[args[i].index()],
        };
        match op {
            Op::And => is_half(0) || is_half(1),
            Op::Or | Op::Xor => is_half(0) && is_half(1),
            Op::Shr => is_half(0) || known(1).is_some_and(|by| by % u32::BITS != 0),
            Op::IToU | Op::UToI => is_half(0),
            Op::BToI | Op::BToU => true,
            _ => false,
        }
    }

    /// The operand that an operation always equals.
    fn identity(&self, op: Op, args: &Args) -> Option<ValueId> {
        const ONE: u32 = 1.0_f32.to_bits();
        const ZERO: u32 = 0.0_f32.to_bits();
        const MINUS_ZERO: u32 = (-0.0_f32).to_bits();
        let is = |i: usize, bits: u32| self.known[args[i].index()] == Some(bits);
        match op {
            Op::Mul if is(1, ONE) => Some(args[0]),
            Op::Mul if is(0, ONE) => Some(args[1]),
            Op::StrongMul if is(1, ONE) => Some(args[0]),
            Op::StrongMul if is(1, ZERO) => Some(args[1]),
            Op::Div if is(1, ONE) => Some(args[0]),
            Op::Sub if is(1, ZERO) => Some(args[0]),
            Op::Add if is(1, MINUS_ZERO) => Some(args[0]),
            Op::Add if is(0, MINUS_ZERO) => Some(args[1]),
            Op::Select | Op::ISel if args[1] == args[2] => Some(args[1]),
            Op::Select | Op::ISel => {
                let condition = self.known[args[0].index()]?;
                Some(args[if condition != 0 { 1 } else { 2 }])
            }
            _ => None,
        }
    }
}

/// The bits of an operation on operands that are all known, whose result has that type, if it does
/// not fault. NaN is the canonical one, so that code is the same on every machine.
pub(super) fn constant(op: Op, args: impl Iterator<Item = Option<u32>>, ty: Scalar) -> Option<u32> {
    let mut words = [0; MAX_OPERANDS];
    for (word, bits) in words.iter_mut().zip(args) {
        *word = bits?;
    }
    let words = &words[..op.arity()];
    if op.faults(words) {
        return None;
    }
    let bits = op.value(words);
    Some(match ty {
        Scalar::F32 => constant_float(f32::from_bits(bits)),
        _ => bits,
    })
}

/// The bits of a float as a constant.
fn constant_float(float: f32) -> u32 {
    match float.is_nan() {
        true => CANONICAL_NAN,
        false => float.to_bits(),
    }
}

/// The bits of an op's value, and of its slope along each of these operands.
fn value_and_slopes(op: Op, words: &[u32]) -> Vec<u32> {
    let operands: Vec<f32> = words.iter().map(|&bits| f32::from_bits(bits)).collect();
    let value = f32::from_bits(op.value(words));
    let slopes = (0..operands.len()).map(|along| {
        let mut shadows = vec![None; operands.len()];
        shadows[along] = Some(1.0);
        op.tangent(&operands, value, &shadows)
    });
    let numbers = std::iter::once(value).chain(slopes);
    numbers.map(constant_float).collect()
}

/// Ends a list whose end control does not reach.
fn unreachable(span: Span, out: &mut Vec<Inst>) -> bool {
    out.push(Inst::plain(InstKind::Unreachable, span));
    true
}
