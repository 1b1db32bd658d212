//! The decisions that flip between two samples, and the roots among them that are visible.
//!
//! Assumes a doubled function. Guarantees: for each decision, whether it flips; for each value, the
//! roots that reach it. Of a set of roots all that matters is whether it is empty, which one it has
//! if it has one, or that it has more. So a set is an int: 0, the number of the root, or
//! [`MANY`]; a union is exact, and takes the same time however many roots there are. Where one
//! decision is *chosen*, by its number at run time, a set also says whether it has that one.

use super::doubled::Doubled;
use crate::module::*;
use crate::passes::decisions::{
    MarginOperands, OpDecisions, continuous_comparisons, decisions_of, margin_of,
};
use crate::passes::differentiate::field::Coefficient;
use crate::types::Scalar;
use adumbra_ops::Op;
use rustc_hash::FxHashMap;

/// A set of two roots or more.
const MANY: i32 = -1;

/// The least difference of margins of a decision that flips.
const LEAST_APART: f32 = 1e-8;

/// Four units in the last place of a float in [1, 2): 2^-21.
const FOUR_UNITS: f32 = f32::from_bits((127 - 21) << 23);

/// The float whose side or integer part a decision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Margin {
    Value(ValueId),
    /// The first less the second.
    Difference(ValueId, ValueId),
}

/// A decision between two samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flip {
    /// Whether it flips.
    pub(super) is_flipped: ValueId,
    /// The change of its margin, from "−" to "+".
    pub(super) change: ValueId,
}

/// A set of roots, at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RootSet {
    /// 0, the number of the root, or [`MANY`].
    roots: ValueId,
    /// Whether the chosen decision is one of them, if one is chosen.
    has_chosen: Option<ValueId>,
}

/// The decision that is chosen.
struct Chosen {
    /// Its number, in order of execution.
    number: ValueId,
    /// Whether it flips, and whether it is a root.
    flips: ValueId,
    is_root: ValueId,
}

/// The flips of a doubled function.
#[derive(Default)]
pub(super) struct Roots {
    /// By instruction and operand: the decision, if it can flip.
    flips: FxHashMap<(usize, usize), Flip>,
    numbers: FxHashMap<Margin, i32>,
    /// By root: how far its margins are apart.
    apart: Vec<ValueId>,
    /// By value: the set of roots that reach it; empty if it has none.
    reach: Vec<Option<RootSet>>,
    /// The decisions so far.
    decisions: i32,
    chosen: Option<Chosen>,
}

impl Roots {
    /// The roots, and where one is chosen what becomes of the decision of this number.
    pub(super) fn new(doubled: &mut Doubled<'_>, chosen: Option<ValueId>) -> Roots {
        let chosen = chosen.map(|number| Chosen {
            number,
            flips: doubled.writer.constant(Scalar::Bool, 0),
            is_root: doubled.writer.constant(Scalar::Bool, 0),
        });
        let mut roots = Roots {
            reach: vec![None; doubled.straight.values.len()],
            chosen,
            ..Roots::default()
        };
        // Decisions have the numbers that a trace gives them.
        let continuous = continuous_comparisons(doubled.straight);
        for (at, inst) in doubled.insts().iter().enumerate() {
            doubled.writer.span = inst.span;
            let is_continuous = inst.results.iter().any(|result| continuous[result.index()]);
            let reach = match is_continuous {
                true => None,
                false => roots.inst(doubled, at, inst),
            };
            for result in inst.results.iter() {
                roots.reach[result.index()] = reach;
            }
        }
        roots
    }

    /// The decision of an instruction on an operand, if it can flip.
    pub(super) fn flip(&self, inst: usize, operand: usize) -> Option<Flip> {
        self.flips.get(&(inst, operand)).copied()
    }

    /// How many roots reach one of these values, up to 2; and if it is one, how far its margins are
    /// apart.
    pub(super) fn visible(&self, doubled: &mut Doubled<'_>, of: &[ValueId]) -> [ValueId; 2] {
        let set = self.union(doubled, of);
        let writer = &mut doubled.writer;
        let (zero, one, two) = (writer.int(0), writer.int(1), writer.int(2));
        let mut apart = writer.float(0.0);
        let Some(RootSet { roots: set, .. }) = set else {
            return [zero, apart];
        };
        for (number, &of_root) in (1..).zip(&self.apart) {
            let number = writer.int(number);
            let is_this = writer.op(Op::IEq, &[set, number]);
            apart = writer.op(Op::Select, &[is_this, of_root, apart]);
        }
        let is_one = writer.op(Op::ILt, &[zero, set]);
        let is_many = writer.op(Op::ILt, &[set, zero]);
        let count = writer.op(Op::ISel, &[is_many, two, zero]);
        [writer.op(Op::ISel, &[is_one, one, count]), apart]
    }

    /// Whether the chosen decision flips, is a root, and is one that reaches one of these values.
    ///
    /// # Panics
    /// If none is chosen.
    pub(super) fn chosen(&self, doubled: &mut Doubled<'_>, of: &[ValueId]) -> [ValueId; 3] {
        let chosen = self.chosen.as_ref().expect("one is chosen");
        let set = self.union(doubled, of);
        let is_visible = set.and_then(|set| set.has_chosen);
        let never = doubled.writer.constant(Scalar::Bool, 0);
        [chosen.flips, chosen.is_root, is_visible.unwrap_or(never)]
    }

    /// The set of roots that reach an instruction's results.
    fn inst(&mut self, doubled: &mut Doubled<'_>, at: usize, inst: &Inst) -> Option<RootSet> {
        let args = &inst.args;
        let InstKind::Op(op) = inst.kind else {
            return self.union(doubled, args);
        };
        let result = inst.results.first;
        let decisions = decisions_of(op);
        match decisions {
            OpDecisions::Discrete(_) | OpDecisions::Value(_) => {
                let margin = match margin_of(op) {
                    MarginOperands::One(of) => Margin::Value(args[of]),
                    MarginOperands::Difference(a, b) => Margin::Difference(args[a], args[b]),
                };
                let differs = doubled.differs(result);
                return self.decide(doubled, (at, 0), margin, differs);
            }
            OpDecisions::Fraction => {
                let floors = doubled
                    .at(args[0])
                    .map(|arg| doubled.writer.op(Op::Floor, &[arg]));
                let differs = Some(doubled.samples_differ(floors));
                let own = self.decide(doubled, (at, 0), Margin::Value(args[0]), differs);
                return join(doubled, self.reach[args[0].index()], own);
            }
            OpDecisions::CopiedSign => {
                let signs = negative(doubled, args[1]);
                let differs = Some(doubled.samples_differ(signs));
                let own = self.decide(doubled, (at, 1), Margin::Value(args[1]), differs);
                return join(doubled, self.reach[args[0].index()], own);
            }
            OpDecisions::Angle => {
                // The cut is where x is negative.
                let signs = negative(doubled, args[0]);
                let differs = doubled.samples_differ(signs);
                let left = negative(doubled, args[1]);
                let is_cut = doubled.writer.op(Op::Or, &left);
                let differs = Some(doubled.writer.op(Op::And, &[differs, is_cut]));
                let own = self.decide(doubled, (at, 0), Margin::Value(args[0]), differs);
                let others = self.union(doubled, args);
                return join(doubled, others, own);
            }
            OpDecisions::IntegerParts => {
                let mut all = None;
                for (operand, &arg) in args.iter().enumerate() {
                    let floors = doubled
                        .at(arg)
                        .map(|arg| doubled.writer.op(Op::Floor, &[arg]));
                    let differs = Some(doubled.samples_differ(floors));
                    let own = self.decide(doubled, (at, operand), Margin::Value(arg), differs);
                    all = join(doubled, all, own);
                }
                return all;
            }
            OpDecisions::Remainder(_) => unreachable!("straight code has none"),
            OpDecisions::None => {}
        }
        match op {
            Op::Select | Op::ISel => {
                // A condition has roots only where it differs.
                let mut all = self.reach[args[0].index()];
                let is_taken = doubled.at(args[0]);
                let taken = doubled.writer.op(Op::Or, &is_taken);
                let arm = self.gated(doubled, args[1], Some(taken));
                all = join(doubled, all, arm);
                let both = doubled.writer.op(Op::And, &is_taken);
                let taken = doubled.writer.op(Op::LNot, &[both]);
                let arm = self.gated(doubled, args[2], Some(taken));
                all = join(doubled, all, arm);
                match op {
                    Op::Select => all,
                    _ => {
                        let differs = doubled.differs(result);
                        gate(doubled, all, differs)
                    }
                }
            }
            Op::Min | Op::Max | Op::Clamp | Op::Saturate => {
                if args.iter().all(|arg| self.reach[arg.index()].is_none()) {
                    return None;
                }
                let wanted = [true; 4];
                let taken = [0, 1].map(|sample| {
                    let args: Args = args.iter().map(|&arg| doubled.at(arg)[sample]).collect();
                    let coefficients =
                        doubled
                            .writer
                            .coefficients(op, &args, &wanted[..args.len()]);
                    coefficients
                        .into_iter()
                        .map(|taken| is_taken(doubled, taken))
                        .collect()
                });
                let [here, there]: [Vec<ValueId>; 2] = taken;
                let mut all = None;
                for ((&arg, here), there) in args.iter().zip(here).zip(there) {
                    let taken = doubled.writer.op(Op::Or, &[here, there]);
                    let operand = self.gated(doubled, arg, Some(taken));
                    all = join(doubled, all, operand);
                }
                all
            }
            _ => {
                let all = self.union(doubled, args);
                match doubled.straight.value(result).ty {
                    Scalar::F32 => all,
                    _ => {
                        let differs = doubled.differs(result);
                        gate(doubled, all, differs)
                    }
                }
            }
        }
    }

    fn union(&self, doubled: &mut Doubled<'_>, args: &[ValueId]) -> Option<RootSet> {
        let sets = args.iter().map(|arg| self.reach[arg.index()]);
        sets.fold(None, |one, other| join(doubled, one, other))
    }

    /// The roots that reach a value, where a condition holds; none if there is no condition.
    fn gated(
        &self,
        doubled: &mut Doubled<'_>,
        value: ValueId,
        condition: Option<ValueId>,
    ) -> Option<RootSet> {
        gate(doubled, self.reach[value.index()], condition)
    }

    /// The roots that a decision passes on: itself if it flips, or those that reach its margin.
    fn decide(
        &mut self,
        doubled: &mut Doubled<'_>,
        place: (usize, usize),
        margin: Margin,
        differs: Option<ValueId>,
    ) -> Option<RootSet> {
        let decision = self.decisions;
        self.decisions += 1;
        let samples = match margin {
            Margin::Value(value) => doubled.at(value),
            Margin::Difference(a, b) => {
                let (a, b) = (doubled.at(a), doubled.at(b));
                [0, 1].map(|at| doubled.writer.op(Op::Sub, &[a[at], b[at]]))
            }
        };
        if samples[0] == samples[1] {
            return None;
        }
        let differs = differs?;
        let change = doubled.change(samples);
        let writer = &mut doubled.writer;
        let apart = writer.op(Op::Abs, &[change]);
        let sizes = samples.map(|margin| writer.op(Op::Abs, &[margin]));
        let larger = writer.op(Op::Max, &sizes);
        // Four units in the last place: of a float 2^e·1.f that is 2^(e-21).
        let word = writer.op(Op::AsInt, &[larger]);
        let exponent = writer.int(0x7f80_0000);
        let word = writer.op(Op::And, &[word, exponent]);
        let power = writer.op(Op::AsFloat, &[word]);
        let units = writer.float(FOUR_UNITS);
        let units = writer.op(Op::Mul, &[power, units]);
        let least = writer.float(LEAST_APART);
        let least = writer.op(Op::Max, &[units, least]);
        let is_apart = writer.op(Op::FLt, &[least, apart]);
        let is_flipped = writer.op(Op::And, &[differs, is_apart]);
        self.flips.insert(place, Flip { is_flipped, change });
        let before = match margin {
            Margin::Value(value) => self.reach[value.index()],
            Margin::Difference(a, b) => self.union(doubled, &[a, b]),
        };
        let number = *self
            .numbers
            .entry(canonical(doubled, margin))
            .or_insert_with(|| {
                self.apart.push(apart);
                self.apart.len() as i32
            });
        let writer = &mut doubled.writer;
        let number = writer.int(number);
        let (zero, always) = (writer.int(0), writer.constant(Scalar::Bool, 1));
        let is_root = match before {
            None => always,
            Some(before) => writer.op(Op::IEq, &[before.roots, zero]),
        };
        let roots = match before {
            None => number,
            Some(before) => writer.op(Op::ISel, &[is_root, number, before.roots]),
        };
        let has_chosen = self.chosen.as_mut().map(|chosen| {
            let decision = writer.int(decision);
            let is_chosen = writer.op(Op::IEq, &[chosen.number, decision]);
            let flips = writer.op(Op::And, &[is_chosen, is_flipped]);
            chosen.flips = writer.op(Op::Or, &[chosen.flips, flips]);
            let flips = writer.op(Op::And, &[flips, is_root]);
            chosen.is_root = writer.op(Op::Or, &[chosen.is_root, flips]);
            let own = writer.op(Op::And, &[is_chosen, is_root]);
            match before.and_then(|before| before.has_chosen) {
                None => own,
                Some(before) => {
                    let is_other = writer.op(Op::LNot, &[is_root]);
                    let before = writer.op(Op::And, &[is_other, before]);
                    writer.op(Op::Or, &[own, before])
                }
            }
        });
        let set = RootSet { roots, has_chosen };
        gate(doubled, Some(set), Some(is_flipped))
    }
}

/// Whether a value is negative here and there.
fn negative(doubled: &mut Doubled<'_>, value: ValueId) -> [ValueId; 2] {
    let zero = doubled.writer.float(0.0);
    doubled
        .at(value)
        .map(|value| doubled.writer.op(Op::FLt, &[value, zero]))
}

/// Whether an operand is the one that is taken.
fn is_taken(doubled: &mut Doubled<'_>, coefficient: Option<Coefficient>) -> ValueId {
    let writer = &mut doubled.writer;
    match coefficient {
        Some(Coefficient::Where(condition, true)) => condition,
        Some(Coefficient::Where(condition, false)) => writer.op(Op::LNot, &[condition]),
        Some(_) => writer.constant(Scalar::Bool, 1),
        None => writer.constant(Scalar::Bool, 0),
    }
}

/// The set of the roots of both.
fn join(
    doubled: &mut Doubled<'_>,
    one: Option<RootSet>,
    other: Option<RootSet>,
) -> Option<RootSet> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.or(other);
    };
    if one == other {
        return Some(one);
    }
    let writer = &mut doubled.writer;
    let (zero, many) = (writer.int(0), writer.int(MANY));
    let is_empty = writer.op(Op::IEq, &[one.roots, zero]);
    let is_other_empty = writer.op(Op::IEq, &[other.roots, zero]);
    let is_same = writer.op(Op::IEq, &[one.roots, other.roots]);
    let is_one = writer.op(Op::Or, &[is_other_empty, is_same]);
    let joined = writer.op(Op::ISel, &[is_one, one.roots, many]);
    let have_chosen = one.has_chosen.zip(other.has_chosen);
    Some(RootSet {
        roots: writer.op(Op::ISel, &[is_empty, other.roots, joined]),
        has_chosen: have_chosen.map(|(one, other)| writer.op(Op::Or, &[one, other])),
    })
}

/// A set where a condition holds; none without a condition.
fn gate(
    doubled: &mut Doubled<'_>,
    set: Option<RootSet>,
    condition: Option<ValueId>,
) -> Option<RootSet> {
    let (set, condition) = (set?, condition?);
    let writer = &mut doubled.writer;
    let zero = writer.int(0);
    let gated = RootSet {
        roots: writer.op(Op::ISel, &[condition, set.roots, zero]),
        has_chosen: (set.has_chosen).map(|has| writer.op(Op::And, &[condition, has])),
    };
    (gated.roots != zero).then_some(gated)
}

/// The margin up to its sign, and to the order of what it is the difference of.
fn canonical(doubled: &Doubled<'_>, margin: Margin) -> Margin {
    match margin {
        Margin::Difference(a, b) if doubled.is_zero(b) => canonical(doubled, Margin::Value(a)),
        Margin::Difference(a, b) if doubled.is_zero(a) => canonical(doubled, Margin::Value(b)),
        Margin::Difference(a, b) => Margin::Difference(a.min(b), a.max(b)),
        Margin::Value(value) => {
            if let Some(args) = doubled.operands(value, Op::Neg) {
                return canonical(doubled, Margin::Value(args[0]));
            }
            match doubled.operands(value, Op::Sub) {
                Some(args) => canonical(doubled, Margin::Difference(args[0], args[1])),
                None => margin,
            }
        }
    }
}
