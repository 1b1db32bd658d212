//! Threads the trace through a function: as parameters, through branches and loops, to its results.

use super::kind::{
    DecisionKind, MarginOperands, OpDecisions, decisions_of, margin_of, quotient, remainder,
};
use super::{DecisionSite, MAX_FORCED_DECISIONS, Tracing, result};
use crate::module::*;
use crate::passes::replacement::Replacements;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use std::f32::consts::TAU;

/// Odd multipliers of the hash: the golden ratio's fraction, and primes of xxHash (Collet 2012).
const SITE_FACTOR: u32 = 0x9e37_79b1;
const VALUE_FACTOR: u32 = 0x85eb_ca77;
const HASH_FACTORS: [u32; 2] = [0xc2b2_ae3d, 0x27d4_eb2f];

/// The trace so far: the values of the outputs that are added, in order.
pub(super) type Trace = Vec<ValueId>;

/// Positions in a trace.
const COUNT: usize = 0;
pub(super) const HASH: [usize; 2] = [1, 2];
pub(super) const MARGIN: usize = 3;
const VALUE: usize = 4;
const SITE: usize = 5;

/// A decision as it is taken.
pub(super) struct Taken {
    /// Whether it is forced, and the value that it then has; none if decisions are not forced.
    forced: Option<(ValueId, ValueId)>,
}

/// What an op decides by itself.
#[derive(Clone, Copy)]
pub(super) enum Natural {
    /// A bool.
    Bool(ValueId),
    /// A float with an integer.
    Float(ValueId),
}

/// What functions of a module are rewritten with.
#[derive(Clone, Copy)]
pub(super) struct Context<'m> {
    pub(super) tracing: Tracing,
    /// The first of the added globals.
    pub(super) globals: GlobalId,
    /// By function: the one that is called in its place, with a trace.
    pub(super) copies: &'m [Option<FuncId>],
    /// By function: if its calls mark surfaces, the one that traces the choices of the field.
    pub(super) surfaces: &'m [Option<FuncId>],
}

/// Rewrites a function.
pub(super) struct Rewriter<'m> {
    function: Function,
    pub(super) context: Context<'m>,
    types: Vec<Scalar>,
    sites: &'m mut Vec<DecisionSite>,
    replacements: Replacements,
    /// By value: whether it is what an op gives that decides.
    is_taken: Vec<bool>,
    /// By region: whether what it belongs to passes a trace on.
    threaded: Vec<bool>,
    /// By region: the trace where it begins.
    begins: Vec<Trace>,
    pub(super) trace: Trace,
    pub(super) out: Vec<Inst>,
}

impl<'m> Rewriter<'m> {
    pub(super) fn new(
        function: Function,
        is_taken: Vec<bool>,
        context: Context<'m>,
        sites: &'m mut Vec<DecisionSite>,
    ) -> Rewriter<'m> {
        let outputs = context.tracing.outputs();
        let mut rewriter = Rewriter {
            types: outputs.into_iter().map(|(_, ty)| ty).collect(),
            replacements: Replacements::new(function.values.len()),
            is_taken,
            threaded: Vec::new(),
            begins: vec![Trace::new(); function.regions.len()],
            trace: Trace::new(),
            out: Vec::new(),
            function,
            context,
            sites,
        };
        rewriter.threaded = rewriter.find_threaded();
        rewriter
    }

    /// The function with a trace for further results, and, but for the entry, parameters.
    pub(super) fn run(mut self, is_entry: bool) -> Function {
        let mut order = Vec::new();
        self.function.for_each_region(|region| order.push(region));
        let body = self.function.body;
        let mut start = Vec::new();
        let trace: Trace = if is_entry {
            let outputs = self.context.tracing.outputs();
            let initial = outputs
                .iter()
                .map(|(name, ty)| (Tracing::initial(name), *ty));
            let span = self.function.span;
            let trace = initial
                .map(|(bits, ty)| self.constant(ty, bits, span))
                .collect();
            start = std::mem::take(&mut self.out);
            trace
        } else {
            let trace = self.new_trace(self.function.span);
            let params = &mut self.function.regions[body.index()].params;
            params.extend(&trace);
            trace
        };
        self.begins[body.index()] = trace;
        self.function
            .results
            .extend(self.types.iter().map(|&ty| result(ty)));
        for region in order {
            self.trace = std::mem::take(&mut self.begins[region.index()]);
            if region == body {
                self.out = std::mem::take(&mut start);
            }
            let insts = std::mem::take(&mut self.function.regions[region.index()].insts);
            for mut inst in insts {
                self.replacements.rewrite(&mut inst);
                self.inst(region, inst);
            }
            self.function.regions[region.index()].insts = std::mem::take(&mut self.out);
        }
        self.function
    }

    /// By region: whether anything in the instruction that it belongs to decides.
    fn find_threaded(&self) -> Vec<bool> {
        let function = &self.function;
        let mut order = Vec::new();
        function.for_each_region(|region| order.push(region));
        let mut decides = vec![false; function.regions.len()];
        let mut threaded = vec![false; function.regions.len()];
        for &region in order.iter().rev() {
            for inst in &function.region(region).insts {
                let nested: Vec<RegionId> = inst.kind.regions().collect();
                let is_within = nested.iter().any(|nested| decides[nested.index()]);
                nested
                    .iter()
                    .for_each(|nested| threaded[nested.index()] = is_within);
                let decides_here = match inst.kind {
                    InstKind::Op(_) => self.is_taken[inst.results.first.index()],
                    InstKind::Call(callee, _) => {
                        let Context {
                            copies, surfaces, ..
                        } = self.context;
                        copies[callee.index()]
                            .or(surfaces[callee.index()])
                            .is_some()
                    }
                    _ => is_within,
                };
                decides[region.index()] |= decides_here;
            }
        }
        threaded
    }

    /// Appends what an instruction of a region becomes.
    fn inst(&mut self, region: RegionId, mut inst: Inst) {
        let passes_on = match inst.kind {
            InstKind::Yield => self.threaded[region.index()],
            InstKind::Break(to) | InstKind::Continue(to) => self.threaded[to.index()],
            InstKind::Return => true,
            _ => false,
        };
        if passes_on {
            inst.args.extend_from_slice(&self.trace);
        }
        match inst.kind {
            InstKind::Op(op) if self.is_taken[inst.results.first.index()] => {
                match self.context.tracing {
                    Tracing::Choices => self.choose(inst),
                    Tracing::Compared | Tracing::Watched => self.decide(op, inst),
                }
            }
            InstKind::Call(callee, _) if self.context.surfaces[callee.index()].is_some() => {
                self.meet_surface(inst);
            }
            InstKind::Call(callee, ref arrays) => match self.context.copies[callee.index()] {
                None => self.out.push(inst),
                Some(copy) => {
                    inst.kind = InstKind::Call(copy, arrays.clone());
                    inst.args.extend_from_slice(&self.trace);
                    self.push_with_trace(inst);
                }
            },
            InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => {
                let nested: Vec<RegionId> = inst.kind.regions().collect();
                let is_threaded = self.threaded[nested[0].index()];
                let begin = match inst.kind {
                    InstKind::Loop(body) if is_threaded => {
                        inst.args.extend_from_slice(&self.trace);
                        let trace = self.new_trace(inst.span);
                        let params = &mut self.function.regions[body.index()].params;
                        params.extend(&trace);
                        trace
                    }
                    _ => self.trace.clone(),
                };
                for nested in nested {
                    self.begins[nested.index()] = begin.clone();
                }
                match is_threaded {
                    true => self.push_with_trace(inst),
                    false => self.out.push(inst),
                }
            }
            _ => self.out.push(inst),
        }
    }

    /// Appends an instruction that gives a trace after its results.
    fn push_with_trace(&mut self, inst: Inst) {
        let types = self.types.clone();
        self.trace = self.push_with(inst, &types);
    }

    /// Appends an instruction that gives values of these types after its results. Returns these.
    pub(super) fn push_with(&mut self, mut inst: Inst, further: &[Scalar]) -> Vec<ValueId> {
        let old = inst.results;
        let types: Vec<Scalar> = old
            .iter()
            .map(|result| self.function.value(result).ty)
            .collect();
        let all = types.into_iter().chain(further.iter().copied());
        let new = Results::of_new(&mut self.function.values, all, inst.span);
        self.replacements.extend(self.function.values.len());
        for (old, new) in old.iter().zip(new.iter()) {
            self.function.values[new.index()].name = self.function.value(old).name;
            self.function.values[new.index()].span = self.function.value(old).span;
            self.replacements.replace(old, new);
        }
        inst.results = new;
        self.out.push(inst);
        new.iter().skip(old.count as usize).collect()
    }

    fn value(&mut self, ty: Scalar, span: Span) -> ValueId {
        let results = Results::of_new(&mut self.function.values, [ty], span);
        self.replacements.extend(self.function.values.len());
        results.first
    }

    fn new_trace(&mut self, span: Span) -> Trace {
        let types = self.types.clone();
        types.into_iter().map(|ty| self.value(ty, span)).collect()
    }

    fn single(&mut self, kind: InstKind, args: &[ValueId], ty: Scalar, span: Span) -> ValueId {
        let first = self.value(ty, span);
        self.push(kind, args, first, span);
        first
    }

    /// Appends an instruction with that result.
    fn push(&mut self, kind: InstKind, args: &[ValueId], first: ValueId, span: Span) {
        self.out.push(Inst {
            kind,
            args: Args::from_slice(args),
            results: Results { first, count: 1 },
            span,
        });
    }

    pub(super) fn constant(&mut self, ty: Scalar, bits: u32, span: Span) -> ValueId {
        self.single(InstKind::Const(bits), &[], ty, span)
    }

    pub(super) fn float(&mut self, number: f32, span: Span) -> ValueId {
        self.constant(Scalar::F32, number.to_bits(), span)
    }

    pub(super) fn op(&mut self, op: Op, args: &[ValueId], span: Span) -> ValueId {
        let last = args.last().expect("ops have operands");
        let ty = op.info().result.resolve(self.function.value(*last).ty);
        self.single(InstKind::Op(op), args, ty, span)
    }

    fn global(&mut self, number: usize, ty: Scalar, span: Span) -> ValueId {
        let id = GlobalId(self.context.globals.0 + number as u32);
        self.single(InstKind::Global(id, 0), &[], ty, span)
    }

    /// Appends an op that decides, and adds to the trace.
    fn decide(&mut self, op: Op, inst: Inst) {
        let (args, span, result) = (inst.args.clone(), inst.span, inst.results.first);
        let decisions = decisions_of(op);
        if decisions == OpDecisions::IntegerParts {
            return self.decide_integer_parts(op, inst);
        }
        // What the op gives by itself has the result's place only if nothing can be forced.
        let own = match self.context.tracing {
            Tracing::Compared | Tracing::Choices => result,
            Tracing::Watched => self.value(self.function.value(result).ty, span),
        };
        self.push(inst.kind, &args, own, span);
        match decisions {
            OpDecisions::None | OpDecisions::IntegerParts => {}
            OpDecisions::Discrete(kind) => {
                let natural = match op {
                    Op::FLt | Op::FLe => Natural::Bool(own),
                    Op::FToI => Natural::Float(self.op(Op::IToF, &[own], span)),
                    _ => Natural::Float(self.op(Op::UToF, &[own], span)),
                };
                let margin = self.margin(op, &args, span);
                let taken = self.take(op, kind, margin, natural, span);
                if let Some((is_forced, forced)) = taken.forced {
                    let forced = match op {
                        Op::FLt | Op::FLe => self.is_not_zero(forced, span),
                        cast => self.op(cast, &[forced], span),
                    };
                    self.push(
                        InstKind::Op(Op::ISel),
                        &[is_forced, forced, own],
                        result,
                        span,
                    );
                }
            }
            OpDecisions::Value(kind) => {
                let margin = self.margin(op, &args, span);
                let taken = self.take(op, kind, margin, Natural::Float(own), span);
                self.select_forced(&taken, own, result, span, |_, forced| forced);
            }
            OpDecisions::Fraction => {
                let whole = self.op(Op::Floor, &[args[0]], span);
                let natural = Natural::Float(whole);
                let taken = self.take(op, DecisionKind::Floor, args[0], natural, span);
                self.select_forced(&taken, own, result, span, |rewriter, forced| {
                    rewriter.op(Op::Sub, &[args[0], forced], span)
                });
            }
            OpDecisions::Remainder(kind) => {
                let operands = [args[0], args[1]];
                let [quotient, whole] =
                    quotient(kind, operands, |op, args| self.op(op, args, span));
                let taken = self.take(op, kind, quotient, Natural::Float(whole), span);
                self.select_forced(&taken, own, result, span, |rewriter, forced| {
                    remainder(operands, forced, |op, args| rewriter.op(op, args, span))
                });
            }
            OpDecisions::CopiedSign => {
                let is_negative = self.is_negative(args[1], span);
                let natural = Natural::Bool(is_negative);
                let margin = self.margin(op, &args, span);
                let taken = self.take(op, DecisionKind::Sign, margin, natural, span);
                self.select_forced(&taken, own, result, span, |rewriter, forced| {
                    let magnitude = rewriter.op(Op::Abs, &[args[0]], span);
                    let negated = rewriter.op(Op::Neg, &[magnitude], span);
                    let is_negative = rewriter.is_not_zero(forced, span);
                    rewriter.op(Op::Select, &[is_negative, negated, magnitude], span)
                });
            }
            OpDecisions::Angle => {
                let is_negative = self.is_negative(args[0], span);
                let natural = Natural::Bool(is_negative);
                let taken = self.take(op, DecisionKind::Sign, args[0], natural, span);
                self.select_forced(&taken, own, result, span, |rewriter, forced| {
                    rewriter.turned_angle(own, is_negative, args[1], forced, span)
                });
            }
        }
    }

    /// The margin of an op that decides on operands.
    fn margin(&mut self, op: Op, args: &[ValueId], span: Span) -> ValueId {
        match margin_of(op) {
            MarginOperands::One(at) => args[at],
            MarginOperands::Difference(a, b) => self.op(Op::Sub, &[args[a], args[b]], span),
        }
    }

    /// The angle on the other side of its cut, where x is negative and the side is forced.
    fn turned_angle(
        &mut self,
        angle: ValueId,
        is_negative: ValueId,
        x: ValueId,
        forced: ValueId,
        span: Span,
    ) -> ValueId {
        let (zero, turn) = (self.float(0.0, span), self.float(TAU, span));
        let back = self.float(-TAU, span);
        let down = self.op(Op::Select, &[is_negative, zero, back], span);
        let up = self.op(Op::Select, &[is_negative, turn, zero], span);
        let is_forced_negative = self.is_not_zero(forced, span);
        let change = self.op(Op::Select, &[is_forced_negative, down, up], span);
        let is_cut = self.is_negative(x, span);
        let change = self.op(Op::Select, &[is_cut, change, zero], span);
        self.op(Op::Add, &[angle, change], span)
    }

    /// Appends an op whose value depends on the integer parts of its operands, a decision each.
    fn decide_integer_parts(&mut self, op: Op, mut inst: Inst) {
        let span = inst.span;
        for at in 0..inst.args.len() {
            let operand = inst.args[at];
            let whole = self.op(Op::Floor, &[operand], span);
            let natural = Natural::Float(whole);
            let taken = self.take(op, DecisionKind::Floor, operand, natural, span);
            if let Some((is_forced, forced)) = taken.forced {
                inst.args[at] = self.op(Op::Select, &[is_forced, forced, operand], span);
            }
        }
        self.out.push(inst);
    }

    /// Gives the result what it is if forced, else the op's own value.
    fn select_forced(
        &mut self,
        taken: &Taken,
        own: ValueId,
        result: ValueId,
        span: Span,
        forced_value: impl FnOnce(&mut Self, ValueId) -> ValueId,
    ) {
        if let Some((is_forced, forced)) = taken.forced {
            let forced = forced_value(self, forced);
            self.push(
                InstKind::Op(Op::Select),
                &[is_forced, forced, own],
                result,
                span,
            );
        }
    }

    fn is_negative(&mut self, value: ValueId, span: Span) -> ValueId {
        let zero = self.float(0.0, span);
        self.op(Op::FLt, &[value, zero], span)
    }

    fn is_not_zero(&mut self, value: ValueId, span: Span) -> ValueId {
        let zero = self.float(0.0, span);
        self.op(Op::FNe, &[value, zero], span)
    }

    /// Takes a decision: it gets the next number, and the trace has it.
    pub(super) fn take(
        &mut self,
        op: Op,
        kind: DecisionKind,
        margin: ValueId,
        natural: Natural,
        span: Span,
    ) -> Taken {
        let site = self.sites.len() as u32;
        self.sites.push(DecisionSite { op, kind, span });
        let (natural, watched) = match self.context.tracing {
            Tracing::Compared | Tracing::Choices => (natural, None),
            Tracing::Watched => {
                let value = self.float_of(natural, span);
                let (is_forced, forced) = self.forced(span);
                let value = self.op(Op::Select, &[is_forced, forced, value], span);
                let watched = Some((is_forced, forced, value));
                (Natural::Float(value), watched)
            }
        };
        let mixed = self.mixed(site, natural, span);
        let hashes = self.hashes(mixed, span);
        let count = self.trace[COUNT];
        match &watched {
            None => HASH
                .iter()
                .zip(hashes)
                .for_each(|(&at, hash)| self.trace[at] = hash),
            Some((_, _, value)) => {
                let watched = self.global(0, Scalar::I32, span);
                let is_before = self.op(Op::ILt, &[count, watched], span);
                for (at, hash) in HASH.into_iter().zip(hashes) {
                    self.trace[at] = self.op(Op::ISel, &[is_before, hash, self.trace[at]], span);
                }
                let is_watched = self.op(Op::IEq, &[count, watched], span);
                let site = self.constant(Scalar::I32, site, span);
                for (at, op, seen) in [
                    (MARGIN, Op::Select, margin),
                    (VALUE, Op::Select, *value),
                    (SITE, Op::ISel, site),
                ] {
                    self.trace[at] = self.op(op, &[is_watched, seen, self.trace[at]], span);
                }
            }
        }
        let one = self.constant(Scalar::I32, 1, span);
        self.trace[COUNT] = self.op(Op::IAdd, &[count, one], span);
        Taken {
            forced: watched.map(|(is_forced, forced, _)| (is_forced, forced)),
        }
    }

    /// Whether the next decision is forced, and to what.
    fn forced(&mut self, span: Span) -> (ValueId, ValueId) {
        let count = self.trace[COUNT];
        let mut found: Option<(ValueId, ValueId)> = None;
        for slot in 0..MAX_FORCED_DECISIONS {
            let number = self.global(1 + 2 * slot, Scalar::I32, span);
            let value = self.global(2 + 2 * slot, Scalar::F32, span);
            let is_this = self.op(Op::IEq, &[count, number], span);
            found = Some(match found {
                None => (is_this, value),
                Some((any, other)) => (
                    self.op(Op::Or, &[any, is_this], span),
                    self.op(Op::Select, &[is_this, value, other], span),
                ),
            });
        }
        found.expect("some can be forced")
    }

    /// A decision as a float.
    fn float_of(&mut self, natural: Natural, span: Span) -> ValueId {
        match natural {
            Natural::Float(value) => value,
            Natural::Bool(value) => {
                let word = self.op(Op::BToU, &[value], span);
                self.op(Op::UToF, &[word], span)
            }
        }
    }

    /// A decision at a site as a word: another one for each, but the same for both zeros.
    pub(super) fn mixed(&mut self, site: u32, natural: Natural, span: Span) -> ValueId {
        let at_site = (site + 1).wrapping_mul(SITE_FACTOR);
        match natural {
            Natural::Bool(value) => {
                let [taken, other] = [VALUE_FACTOR, 0].map(|word| {
                    let word = at_site.wrapping_add(word);
                    self.constant(Scalar::U32, word ^ (word >> 16), span)
                });
                self.op(Op::ISel, &[value, taken, other], span)
            }
            Natural::Float(value) => {
                let zero = self.float(0.0, span);
                let value = self.op(Op::Add, &[value, zero], span);
                let word = self.op(Op::AsInt, &[value], span);
                let word = self.op(Op::IToU, &[word], span);
                let factor = self.constant(Scalar::U32, VALUE_FACTOR, span);
                let at_site = self.constant(Scalar::U32, at_site, span);
                let half = self.constant(Scalar::U32, 16, span);
                let word = self.op(Op::IMul, &[word, factor], span);
                let word = self.op(Op::IAdd, &[word, at_site], span);
                let high = self.op(Op::Shr, &[word, half], span);
                self.op(Op::Xor, &[word, high], span)
            }
        }
    }

    /// The hashes of the trace with one more decision.
    pub(super) fn hashes(&mut self, mixed: ValueId, span: Span) -> [ValueId; 2] {
        let joined = [Op::IAdd, Op::Xor];
        std::array::from_fn(|at| {
            let joined = self.op(joined[at], &[self.trace[HASH[at]], mixed], span);
            let factor = self.constant(Scalar::U32, HASH_FACTORS[at], span);
            self.op(Op::IMul, &[joined, factor], span)
        })
    }
}
