//! Rewrites a function whose closures become weights and arguments.
//!
//! A closure has *parts*: the closures that the function gets, then the leaves that it makes. A
//! part's weight is three floats, or nothing where it is always 0. Where a closure passes from one
//! region to another, or to a caller, it is the weights of all parts that are known there.

use super::numbering::Numbering;
use super::{CHANNELS, LeafSummary, kept_scalars, result, scalars};
use crate::module::*;
use crate::passes::replacement::Replacements;
use crate::span::Span;
use crate::types::Scalar;
use adumbra_ops::Op;
use std::collections::HashMap;
use std::ops::Range;

/// The weight of a part, if it is not 0 everywhere.
type Weight = Option<[ValueId; CHANNELS]>;

/// The weights of a closure's parts. Those at the end that are 0 may be left out.
type Weights = Vec<Weight>;

/// The arguments of the leaves, as far as they are known.
type LeafArguments = Vec<Option<Vec<ValueId>>>;

/// Where values go: to the results of an instruction, or of the function.
#[derive(Clone, Debug)]
struct Target {
    /// The parts of closures that are passed: as many as these.
    parts: usize,
    /// The leaves whose arguments are passed.
    leaves: Range<usize>,
}

/// Rewrites a function.
pub(super) struct Rewriter<'m> {
    module: &'m Module,
    numbering: &'m Numbering,
    summaries: &'m [LeafSummary],
    function: Function,
    replacements: Replacements,
    /// The number of closures that the function gets.
    given: usize,
    /// The closures so far, by their values in the function as it was.
    closures: HashMap<ValueId, Weights>,
    /// By region: the arguments that are known where it begins.
    begins: Vec<LeafArguments>,
    /// By region that is jumped to the end of, or that yields: what it passes on.
    ends: Vec<Option<Target>>,
    /// By region of a loop: the parts of closures that its iterations pass on.
    iterates: Vec<usize>,
    arguments: LeafArguments,
    out: Vec<Inst>,
}

impl<'m> Rewriter<'m> {
    /// For a function of the module, with its leaves numbered.
    pub(super) fn new(
        module: &'m Module,
        function: Function,
        numbering: &'m Numbering,
        summaries: &'m [LeafSummary],
    ) -> Rewriter<'m> {
        Rewriter {
            module,
            numbering,
            summaries,
            replacements: Replacements::new(function.values.len()),
            given: 0,
            closures: HashMap::new(),
            begins: vec![Vec::new(); function.regions.len()],
            ends: vec![None; function.regions.len()],
            iterates: vec![0; function.regions.len()],
            arguments: Vec::new(),
            out: Vec::new(),
            function,
        }
    }

    /// The function without closures: for each that it returns the weights of all parts, and after
    /// all results the arguments of the leaves. Of its members, the entry's stay.
    pub(super) fn run(mut self, is_entry: bool) -> Function {
        let mut order = Vec::new();
        self.function.for_each_region(|region| order.push(region));
        let body = self.function.body;
        let params = std::mem::take(&mut self.function.regions[body.index()].params);
        let mut kept = Vec::with_capacity(params.len());
        for param in params {
            match self.is_closure(param) {
                false => kept.push(param),
                true => {
                    let mut weights = vec![None; self.given];
                    let span = self.function.value(param).span;
                    weights.push(Some(
                        [self.constant(Scalar::F32, 1.0_f32.to_bits(), span); 3],
                    ));
                    self.given += 1;
                    self.closures.insert(param, weights);
                }
            }
        }
        let mut start = std::mem::take(&mut self.out);
        self.function.regions[body.index()].params = kept;
        let leaves = 0..self.numbering.leaves.len();
        let all = Target {
            parts: self.given + leaves.len(),
            leaves,
        };
        let results = std::mem::take(&mut self.function.results);
        let types = results.iter().map(|result| result.ty);
        let types = self.types(types, &all);
        // What is the same already keeps its lanes: none has any yet.
        self.function.results = types.into_iter().map(result).collect();
        self.ends[body.index()] = Some(all);
        self.begins[body.index()] = vec![None; self.numbering.leaves.len()];
        if !is_entry {
            self.function.members.clear();
        }
        for region in order {
            self.arguments = std::mem::take(&mut self.begins[region.index()]);
            self.out = std::mem::take(&mut start);
            let insts = std::mem::take(&mut self.function.regions[region.index()].insts);
            for (at, inst) in insts.into_iter().enumerate() {
                self.inst(region, at, inst);
            }
            self.function.regions[region.index()].insts = std::mem::take(&mut self.out);
        }
        self.function
    }

    fn is_closure(&self, value: ValueId) -> bool {
        self.function.value(value).ty == Scalar::Closure
    }

    /// The scalars that values of these types become on their way to a target.
    fn types(&self, types: impl IntoIterator<Item = Scalar>, target: &Target) -> Vec<Scalar> {
        let mut all = self.weight_types(types, target.parts);
        for leaf in &self.numbering.leaves[target.leaves.clone()] {
            let shape = &self.module.closures[leaf.shape.index()];
            all.extend(kept_scalars(shape));
        }
        all
    }

    fn weight_types(&self, types: impl IntoIterator<Item = Scalar>, parts: usize) -> Vec<Scalar> {
        let mut all = Vec::new();
        for ty in types {
            match ty {
                Scalar::Closure => all.extend([Scalar::F32].repeat(CHANNELS * parts)),
                _ => all.push(ty),
            }
        }
        all
    }

    /// What values become on their way to a target.
    fn pass(&mut self, values: &[ValueId], target: &Target, span: Span) -> Args {
        let mut all = self.pass_weights(values, target.parts, span);
        for leaf in target.leaves.clone() {
            match self.arguments[leaf].clone() {
                Some(known) => all.extend(known),
                None => {
                    let shape = self.numbering.leaves[leaf].shape;
                    for ty in kept_scalars(&self.module.closures[shape.index()]) {
                        all.push(self.constant(ty, 0, span));
                    }
                }
            }
        }
        all
    }

    fn pass_weights(&mut self, values: &[ValueId], parts: usize, span: Span) -> Args {
        let mut all = Args::new();
        for &value in values {
            if !self.is_closure(value) {
                all.push(self.replacements.find(value));
                continue;
            }
            let weights = self.closures[&value].clone();
            debug_assert!(weights.len() <= parts);
            for part in 0..parts {
                match weights.get(part).copied().flatten() {
                    Some(weight) => all.extend(weight),
                    None => {
                        let zero = self.constant(Scalar::F32, 0, span);
                        all.extend([zero; CHANNELS]);
                    }
                }
            }
        }
        all
    }

    /// Takes values as `pass` gives them: the next of `from` become those of `values`.
    fn receive(
        &mut self,
        values: &[ValueId],
        parts: usize,
        from: &mut impl Iterator<Item = ValueId>,
    ) {
        let mut next = || from.next().expect("as many as types");
        for &value in values {
            match self.function.value(value).ty {
                Scalar::Closure => {
                    let weights = (0..parts).map(|_| Some([next(), next(), next()]));
                    self.closures.insert(value, weights.collect());
                }
                _ => {
                    let new = next();
                    let old = *self.function.value(value);
                    let known = &mut self.function.values[new.index()];
                    (known.name, known.span) = (old.name, old.span);
                    self.replacements.replace(value, new);
                }
            }
        }
    }

    /// Takes the arguments of leaves that follow.
    fn receive_arguments(
        &mut self,
        leaves: Range<usize>,
        from: &mut impl Iterator<Item = ValueId>,
    ) {
        for leaf in leaves {
            let shape = self.numbering.leaves[leaf].shape;
            let count = kept_scalars(&self.module.closures[shape.index()]).count();
            self.arguments[leaf] = Some(from.by_ref().take(count).collect());
        }
    }

    /// Appends what an instruction becomes.
    fn inst(&mut self, region: RegionId, at: usize, mut inst: Inst) {
        let span = inst.span;
        match inst.kind {
            InstKind::MakeClosure(shape) => {
                self.replacements.rewrite(&mut inst);
                let leaf = self.numbering.first(region, at);
                let scalars = scalars(&self.module.closures[shape.index()]);
                let kept = inst.args.iter().zip(scalars);
                let kept = kept.filter_map(|(&arg, (is_kept, _))| is_kept.then_some(arg));
                self.arguments[leaf] = Some(kept.collect());
                let mut weights = vec![None; self.given + leaf];
                let one = self.constant(Scalar::F32, 1.0_f32.to_bits(), span);
                weights.push(Some([one; CHANNELS]));
                self.closures.insert(inst.results.first, weights);
            }
            InstKind::Const(_) if self.is_closure(inst.results.first) => {
                self.closures.insert(inst.results.first, Weights::new());
            }
            InstKind::ClosureAdd => {
                let [a, b] = [0, 1].map(|at| self.closures[&inst.args[at]].clone());
                let sum = self.sum(&a, &b, span);
                self.closures.insert(inst.results.first, sum);
            }
            InstKind::ClosureScale => {
                let closure = self.closures[&inst.args[0]].clone();
                let by = |rewriter: &mut Self, at: usize| rewriter.replacements.find(inst.args[at]);
                let by = match inst.args.len() {
                    2 => [by(self, 1); CHANNELS],
                    _ => [1, 2, 3].map(|at| by(self, at)),
                };
                let scaled = self.scaled(&closure, by, span);
                self.closures.insert(inst.results.first, scaled);
            }
            InstKind::Call(callee, ref arrays) => match self.summaries[callee.index()].copy {
                None => self.push(inst),
                Some(copy) => {
                    let arrays = arrays.clone();
                    self.call(callee, InstKind::Call(copy, arrays), (region, at), &inst);
                }
            },
            InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => self.construct(inst),
            InstKind::Yield => self.end(self.ends[region.index()].clone(), inst),
            InstKind::Break(to) => self.end(self.ends[to.index()].clone(), inst),
            InstKind::Return => self.end(self.ends[self.function.body.index()].clone(), inst),
            InstKind::Continue(to) => {
                let parts = self.iterates[to.index()];
                inst.args = self.pass_weights(&inst.args.clone(), parts, span);
                self.out.push(inst);
            }
            _ => self.push(inst),
        }
    }

    /// Appends an instruction without closures.
    fn push(&mut self, mut inst: Inst) {
        self.replacements.rewrite(&mut inst);
        self.out.push(inst);
    }

    /// Appends a terminator that passes its operands on.
    fn end(&mut self, target: Option<Target>, mut inst: Inst) {
        let target = target.expect("regions around are entered before");
        inst.args = self.pass(&inst.args.clone(), &target, inst.span);
        self.out.push(inst);
    }

    /// Appends an instruction with regions.
    fn construct(&mut self, mut inst: Inst) {
        let leaves = self.numbering.within(&inst.kind);
        let regions: Vec<RegionId> = inst.kind.regions().collect();
        let target = Target {
            parts: self.given + leaves.end,
            leaves: leaves.clone(),
        };
        if let InstKind::Loop(body) = inst.kind {
            let parts = target.parts;
            self.iterates[body.index()] = parts;
            inst.args = self.pass_weights(&inst.args.clone(), parts, inst.span);
            let params = std::mem::take(&mut self.function.regions[body.index()].params);
            let types = params.iter().map(|&param| self.function.value(param).ty);
            let types = self.weight_types(types, parts);
            let new = self.new_values(types, inst.span);
            self.receive(&params, parts, &mut new.iter());
            self.function.regions[body.index()].params = new.iter().collect();
        } else {
            self.replacements.rewrite(&mut inst);
        }
        for region in &regions {
            self.begins[region.index()] = self.arguments.clone();
            self.ends[region.index()] = Some(target.clone());
        }
        let old: Vec<ValueId> = inst.results.iter().collect();
        let types = old.iter().map(|&old| self.function.value(old).ty);
        let types = self.types(types, &target);
        inst.results = self.new_values(types, inst.span);
        let mut from = inst.results.iter();
        self.receive(&old, target.parts, &mut from);
        self.receive_arguments(leaves, &mut from);
        self.out.push(inst);
    }

    /// Appends a call of a function that closures go through.
    fn call(&mut self, callee: FuncId, kind: InstKind, place: (RegionId, usize), call: &Inst) {
        let of = self.module.function(callee);
        let made = self.summaries[callee.index()].leaves.len();
        let first = self.numbering.first(place.0, place.1);
        let given: Vec<Weights> = (call.args.iter())
            .filter_map(|arg| self.closures.get(arg).cloned())
            .collect();
        let args = call.args.iter().copied();
        let args: Vec<ValueId> = args.filter(|&arg| !self.is_closure(arg)).collect();
        let args = args.into_iter().map(|arg| self.replacements.find(arg));
        let args: Args = args.collect();
        let results = of.results.iter().map(|result| result.ty);
        let mut types = self.weight_types(results, given.len() + made);
        for leaf in &self.numbering.leaves[first..first + made] {
            let shape = &self.module.closures[leaf.shape.index()];
            types.extend(kept_scalars(shape));
        }
        let results = self.new_values(types, call.span);
        self.out.push(Inst {
            kind,
            args,
            results,
            span: call.span,
        });
        let old: Vec<ValueId> = call.results.iter().collect();
        let mut from = results.iter();
        self.receive(&old, given.len() + made, &mut from);
        self.receive_arguments(first..first + made, &mut from);
        // What comes back is by the parts of the callee: those that it got are closures here.
        for old in old {
            let Some(by_parts) = self.closures.remove(&old) else {
                continue;
            };
            let mut by_parts = by_parts.into_iter();
            let got = by_parts.by_ref().take(given.len()).collect::<Vec<_>>();
            let mut sum = vec![None; self.given + first];
            sum.extend(by_parts);
            for (closure, weight) in given.iter().zip(got) {
                let weight = weight.expect("each part comes back");
                let scaled = self.scaled(closure, weight, call.span);
                sum = self.sum(&sum, &scaled, call.span);
            }
            self.closures.insert(old, sum);
        }
    }

    fn sum(&mut self, a: &Weights, b: &Weights, span: Span) -> Weights {
        let part = |of: &Weights, at: usize| of.get(at).copied().flatten();
        let parts = 0..a.len().max(b.len());
        let sums = parts.map(|at| match (part(a, at), part(b, at)) {
            (Some(a), Some(b)) => Some(std::array::from_fn(|channel| {
                self.op(Op::Add, [a[channel], b[channel]], span)
            })),
            (one, other) => one.or(other),
        });
        sums.collect()
    }

    fn scaled(&mut self, closure: &Weights, by: [ValueId; CHANNELS], span: Span) -> Weights {
        let scaled = closure.iter().map(|weight| {
            let weight = (*weight)?;
            Some(std::array::from_fn(|channel| {
                self.op(Op::Mul, [weight[channel], by[channel]], span)
            }))
        });
        scaled.collect()
    }

    fn new_values(&mut self, types: impl IntoIterator<Item = Scalar>, span: Span) -> Results {
        let results = Results::of_new(&mut self.function.values, types, span);
        self.replacements.extend(self.function.values.len());
        results
    }

    fn single(&mut self, kind: InstKind, args: &[ValueId], ty: Scalar, span: Span) -> ValueId {
        let results = self.new_values([ty], span);
        self.out.push(Inst {
            kind,
            args: Args::from_slice(args),
            results,
            span,
        });
        results.first
    }

    fn constant(&mut self, ty: Scalar, bits: u32, span: Span) -> ValueId {
        self.single(InstKind::Const(bits), &[], ty, span)
    }

    fn op(&mut self, op: Op, args: [ValueId; 2], span: Span) -> ValueId {
        self.single(InstKind::Op(op), &args, Scalar::F32, span)
    }
}
