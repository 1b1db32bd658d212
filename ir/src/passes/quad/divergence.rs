//! Divergence analysis: the places that points of a quad may reach out of lockstep.
//!
//! Points start together and have the same inputs; differences between them begin with the host's
//! globals. A value *varies* if it may differ between points of a quad. A place is *partial* if not
//! all points of a quad need reach it in lockstep: after a varying condition, after a jump that
//! only some points take, in a loop that they leave in different iterations, in a function called
//! from such a place.
//!
//! Both are sets of bits of dependences ([`SOURCE`], [`ENTRY`], the function's own ins), so that
//! one walk over a function serves all calls of it; callers substitute their own sets. Where a walk
//! does not settle, everything counts as varying. The analysis is that of Coutinho et al. (2011),
//! *Divergence analysis and optimizations*, PACT.

use crate::calls::CallGraph;
use crate::instruction::Effect;
use crate::module::*;
use crate::passes::dataflow::{
    InBits, Joins, SummaryAnalysis, settles, summarise, visit_callers_first,
};
use crate::span::Span;

/// The dependences of a value or a place.
pub(super) type DependenceBits = u64;

/// It varies in any case.
const SOURCE: DependenceBits = 1 << 63;
/// Whether all points of a quad enter the function together.
const ENTRY: DependenceBits = 1 << 62;
/// What goes into a function.
const INS: InBits = InBits { shared: 61 };

/// The summary of a function for its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    results: Vec<DependenceBits>,
    /// By array parameter: the dependences of its final elements.
    arrays: Vec<DependenceBits>,
}

/// A derivative that not all points of a quad need reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct DivergentDerivative {
    /// Its span; for one in the library, that of the user's call.
    pub(super) span: Span,
    /// Whether a texture sample needs it.
    pub(super) by_sample: bool,
    /// Where points may diverge, if it is in the same function.
    pub(super) diverged_at: Option<Span>,
    /// The call from a place that is partial, if the function is called from one.
    pub(super) called_from: Option<Span>,
}

/// The divergent places of a module.
pub(super) struct DivergenceAnalysis {
    /// Every divergent derivative, in the order of the source.
    pub(super) derivatives: Vec<DivergentDerivative>,
    /// The arms of branches that make derivatives, or calls that reach one, divergent: of each the
    /// outermost, if it is a branch where points diverge first.
    pub(super) arms: Vec<(FuncId, RegionId)>,
}

/// Every divergent derivative of a module.
pub(super) fn find(module: &Module) -> DivergenceAnalysis {
    let calls = CallGraph::new(module);
    let mut analysis = WalkAnalysis(module.functions.iter().map(Walk::new).collect());
    let summaries = summarise(module, &calls, &mut analysis);
    let WalkAnalysis(mut walks) = analysis;
    let mut reach = Reach {
        module,
        masks: vec![SOURCE; module.functions.len()],
        entered: vec![None; module.functions.len()],
        wanted: vec![None; module.functions.len()],
    };
    visit_callers_first(&calls, |id| reach.pass_on(id, &walks[id.index()]));
    let mut asks = vec![false; module.functions.len()];
    let (mut derivatives, mut arms) = (Vec::new(), Vec::new());
    for &id in &calls.order {
        let walk = &mut walks[id.index()];
        asks[id.index()] = walk.places.iter().any(|place| place.asks(&asks));
        let found = reach.arms(id, walk, &asks);
        arms.extend(found.map(|arm| (id, arm)));
        reach.divergent(id, walk, &summaries, &mut derivatives);
    }
    derivatives.sort_by_key(|found| (found.span.file, found.span.start, found.by_sample));
    derivatives.dedup_by_key(|found| (found.span, found.by_sample));
    DivergenceAnalysis { derivatives, arms }
}

/// The walks over all functions.
struct WalkAnalysis<'m>(Vec<Walk<'m>>);

impl SummaryAnalysis for WalkAnalysis<'_> {
    type Summary = Summary;

    fn least(&self, id: FuncId) -> Summary {
        self.0[id.index()].summary()
    }

    fn greatest(&self, id: FuncId) -> Summary {
        let Summary { results, arrays } = self.least(id);
        Summary {
            results: vec![DependenceBits::MAX; results.len()],
            arrays: vec![DependenceBits::MAX; arrays.len()],
        }
    }

    fn summarise(&mut self, id: FuncId, summaries: &[Summary]) -> Summary {
        let walk = &mut self.0[id.index()];
        walk.settle(summaries);
        walk.summary()
    }
}

/// The dependences that callers substitute, from the entry on.
struct Reach<'m> {
    module: &'m Module,
    /// By function: which of its bits are set by some call of it.
    masks: Vec<DependenceBits>,
    /// By function: the first call of it from a place that is partial.
    entered: Vec<Option<Span>>,
    /// By function of the library: the first call for which it is reached.
    wanted: Vec<Option<Span>>,
}

impl Reach<'_> {
    /// Passes a function's dependences to its callees. Returns whether anything was new.
    fn pass_on(&mut self, id: FuncId, walk: &Walk<'_>) -> bool {
        let mask = self.masks[id.index()];
        let mut changed = false;
        for place in &walk.places {
            let InstKind::Call(callee, arrays) = &place.inst.kind else {
                continue;
            };
            let at = callee.index();
            let mut brought = SOURCE;
            for (position, bits) in walk.given(place.inst, arrays).enumerate() {
                if bits & mask != 0 {
                    brought |= INS.of(position);
                }
            }
            let call = self.in_text(id, place.inst.span);
            if place.partial & mask != 0 {
                brought |= ENTRY;
                self.entered[at].get_or_insert(call);
            }
            self.wanted[at].get_or_insert(call);
            changed |= brought & !self.masks[at] != 0;
            self.masks[at] |= brought;
        }
        changed
    }

    /// A span of a function; for one of the library, that of the user's call.
    fn in_text(&self, id: FuncId, span: Span) -> Span {
        let function = self.module.function(id);
        match self.wanted[id.index()] {
            Some(call) if function.library => self.entered[id.index()].unwrap_or(call),
            _ => span,
        }
    }

    /// The arms that make the derivative or call divergent.
    fn arms<'w>(
        &self,
        id: FuncId,
        walk: &'w Walk<'_>,
        asks: &'w [bool],
    ) -> impl Iterator<Item = RegionId> + use<'w> {
        let mask = self.masks[id.index()];
        let places = walk.places.iter();
        let places = places.filter(move |p| p.partial & mask != 0 && p.asks(asks));
        places.filter_map(move |place| walk.outermost(place.region, mask))
    }

    fn divergent(
        &self,
        id: FuncId,
        walk: &mut Walk<'_>,
        summaries: &[Summary],
        found: &mut Vec<DivergentDerivative>,
    ) {
        let mask = self.masks[id.index()];
        let is_wrong = |place: &Place<'_>| place.asks(&[]) && place.partial & mask != 0;
        if !walk.places.iter().any(is_wrong) {
            return;
        }
        walk.look_for(mask, summaries);
        let library = self.module.function(id).library;
        let called = self.entered[id.index()];
        found.extend(walk.places.iter().filter(|p| is_wrong(p)).map(|place| {
            let by_entry = place.partial & mask & ENTRY != 0;
            DivergentDerivative {
                span: self.in_text(id, place.inst.span),
                by_sample: matches!(place.inst.kind, InstKind::Sample(..)),
                diverged_at: place.diverged_at.filter(|_| !library),
                called_from: called.filter(|_| by_entry && !library),
            }
        }));
    }
}

/// A relevant place: a derivative, or a call.
#[derive(Clone, Copy, Debug)]
struct Place<'m> {
    inst: &'m Inst,
    region: RegionId,
    partial: DependenceBits,
    /// Where points diverge before it.
    diverged_at: Option<Span>,
}

impl Place<'_> {
    /// Whether it is a derivative, or a call of a function that reaches one, by `functions`.
    fn asks(&self, functions: &[bool]) -> bool {
        match self.inst.kind {
            InstKind::Call(callee, _) => functions.get(callee.index()).is_some_and(|asks| *asks),
            _ => true,
        }
    }
}

/// An open region of the walk.
struct Open {
    region: RegionId,
    /// The dependences of partial execution here; grows after a jump out of the region.
    partial: DependenceBits,
    diverged_at: Option<Span>,
}

/// The walk over one function, which is repeated until nothing changes.
struct Walk<'m> {
    function: &'m Function,
    /// By value, array and result: its dependences.
    values: Vec<DependenceBits>,
    arrays: Vec<DependenceBits>,
    results: Vec<DependenceBits>,
    /// By region of a loop: the dependences of leaving it in different iterations, and the place.
    iterations: Vec<(DependenceBits, Option<Span>)>,
    /// By region of a loop: the number of its `Continue`s.
    continues: Vec<u32>,
    joins: Joins,
    /// By region: whether it is a loop's.
    is_loop: Vec<bool>,
    /// By region: the one around it, and the dependences of partial entry.
    entered: Vec<(Option<RegionId>, DependenceBits)>,
    open: Vec<Open>,
    /// Found by the last walk, in the order of the program.
    places: Vec<Place<'m>>,
    /// The bits that points diverge by, while their place is sought.
    mask: DependenceBits,
    changed: bool,
}

impl<'m> Walk<'m> {
    fn new(function: &'m Function) -> Walk<'m> {
        let mut values = vec![0; function.values.len()];
        let params = function.params();
        for (position, param) in params.iter().enumerate() {
            values[param.index()] = INS.of(position);
        }
        let mut arrays = vec![0; function.arrays.len()];
        for (position, array) in function.array_params().enumerate() {
            if array.mode != Some(PassingMode::Out) {
                arrays[position] = INS.of(params.len() + position);
            }
        }
        let mut continues = vec![0; function.regions.len()];
        let mut is_loop = vec![false; function.regions.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            match inst.kind {
                InstKind::Continue(to) => continues[to.index()] += 1,
                InstKind::Loop(body) => is_loop[body.index()] = true,
                _ => {}
            }
        }
        Walk {
            function,
            values,
            arrays,
            results: vec![0; function.results.len()],
            iterations: vec![(0, None); function.regions.len()],
            continues,
            joins: Joins::new(function),
            is_loop,
            entered: vec![(None, 0); function.regions.len()],
            open: Vec::new(),
            places: Vec::new(),
            mask: 0,
            changed: false,
        }
    }

    fn summary(&self) -> Summary {
        Summary {
            results: self.results.clone(),
            arrays: self.arrays[..self.function.array_params().count()].to_vec(),
        }
    }

    /// Walks until nothing changes.
    fn settle(&mut self, summaries: &[Summary]) {
        let settled = settles(|| {
            self.changed = false;
            self.walk(summaries);
            self.changed
        });
        if settled {
            return;
        }
        let iterations = self.iterations.iter_mut().map(|(bits, _)| bits);
        let values = self.values.iter_mut().chain(&mut self.arrays);
        for bits in values.chain(&mut self.results).chain(iterations) {
            *bits |= SOURCE;
        }
        self.walk(summaries);
    }

    /// Walks again to find where points diverge by these bits. Loops know it only when their exits
    /// were visited.
    fn look_for(&mut self, mask: DependenceBits, summaries: &[Summary]) {
        self.mask = mask;
        for _ in 0..2 {
            self.walk(summaries);
        }
    }

    /// The outermost region around one that not all points enter.
    fn outermost(&self, region: RegionId, mask: DependenceBits) -> Option<RegionId> {
        let around = std::iter::successors(Some(region), |region| self.entered[region.index()].0);
        let partial = around.filter(|region| self.entered[region.index()].1 & mask != 0);
        partial.last()
    }

    fn walk(&mut self, summaries: &[Summary]) {
        self.places.clear();
        self.region(self.function.body, ENTRY, None, summaries);
    }

    fn region(
        &mut self,
        region: RegionId,
        partial: DependenceBits,
        diverged_at: Option<Span>,
        summaries: &[Summary],
    ) {
        let around = self.open.last().map(|open| open.region);
        self.entered[region.index()] = (around, partial);
        self.open.push(Open {
            region,
            partial,
            diverged_at,
        });
        let function = self.function;
        for inst in &function.region(region).insts {
            self.inst(region, inst, summaries);
        }
        self.open.pop();
    }

    fn inst(&mut self, region: RegionId, inst: &'m Inst, summaries: &[Summary]) {
        let here = self.open.last().expect("a region is open");
        let (partial, diverged_at) = (here.partial, here.diverged_at);
        let args = inst.args.iter();
        let all = args.fold(0, |all, arg| all | self.values[arg.index()]);
        let place = Place {
            inst,
            region,
            partial,
            diverged_at,
        };
        match &inst.kind {
            InstKind::Global(..) => self.give(inst.results, SOURCE),
            InstKind::Shadow(_)
            | InstKind::Difference(_)
            | InstKind::Sample(_, MipSelection::Shadows, _) => {
                self.places.push(place);
                self.give(inst.results, all);
            }
            InstKind::ArrayZero(array) => self.put(*array, partial),
            InstKind::ArrayResize(array, _) => {
                self.put(*array, all | partial);
                self.give(inst.results, all);
            }
            InstKind::ArrayCopy { to, from } => {
                self.put(*to, self.arrays[from.index()] | all | partial);
            }
            InstKind::Load(array) => self.give(inst.results, self.arrays[array.index()] | all),
            InstKind::Store(array) => self.put(*array, all | partial),
            InstKind::Call(callee, arrays) => {
                self.places.push(place);
                self.call(inst, arrays, partial, &summaries[callee.index()]);
            }
            InstKind::If(then, other) => {
                // Values that one of two arms yields differ where points are in both.
                self.give(inst.results, all);
                let inside = partial | all;
                let diverged_at = diverged_at.or((all & self.mask != 0).then_some(inst.span));
                for arm in [*then, *other] {
                    self.region(arm, inside, diverged_at, summaries);
                }
            }
            InstKind::Block(body) => self.region(*body, partial, diverged_at, summaries),
            InstKind::Loop(body) => {
                self.join(region, inst, 0);
                let (leaves, left) = self.iterations[body.index()];
                self.region(*body, partial | leaves, diverged_at.or(left), summaries);
            }
            InstKind::Yield => self.join(region, inst, 0),
            InstKind::Break(to) => {
                self.join(region, inst, partial);
                self.leave(Some(*to), true);
            }
            InstKind::Continue(to) => {
                // If there is only one `Continue`, all points in the next iteration pass the same
                // values.
                let is_only = self.continues[to.index()] == 1;
                self.join(region, inst, if is_only { 0 } else { partial });
                self.leave(Some(*to), false);
            }
            InstKind::Return => {
                for (at, arg) in inst.args.iter().enumerate() {
                    let bits = self.values[arg.index()] | partial;
                    grow(&mut self.results[at], bits, &mut self.changed);
                }
                self.leave(None, true);
            }
            // Points may have kept different records.
            kind if kind.effect() == Effect::UsesTape => self.give(inst.results, SOURCE),
            // Results of others are a function of their operands.
            _ => self.give(inst.results, all),
        }
    }

    /// Points leave for the instructions after the target, for its next iteration, or from the
    /// function: until there, execution is partial.
    fn leave(&mut self, target: Option<RegionId>, for_good: bool) {
        let here = self.open.last().expect("a region is open");
        let (partial, diverged_at) = (here.partial, here.diverged_at);
        for open in self.open.iter_mut().rev() {
            let is_target = Some(open.region) == target;
            open.partial |= partial;
            open.diverged_at = open.diverged_at.or(diverged_at);
            let is_loop = self.is_loop[open.region.index()];
            if is_loop && (for_good || !is_target) {
                let (bits, left) = &mut self.iterations[open.region.index()];
                grow(bits, partial, &mut self.changed);
                *left = left.or(diverged_at);
            }
            if is_target {
                break;
            }
        }
    }

    /// What a call passes, by position.
    fn given(&self, call: &Inst, arrays: &[ArrayId]) -> impl Iterator<Item = DependenceBits> {
        let args = call.args.iter().map(|arg| self.values[arg.index()]);
        args.chain(arrays.iter().map(|array| self.arrays[array.index()]))
    }

    fn call(&mut self, inst: &Inst, arrays: &[ArrayId], partial: DependenceBits, callee: &Summary) {
        let given: Vec<DependenceBits> = self.given(inst, arrays).collect();
        let through = |bits: DependenceBits| {
            let entered = if bits & ENTRY != 0 { partial } else { 0 };
            bits & SOURCE | entered | INS.passed(bits, &given)
        };
        for (result, &bits) in inst.results.iter().zip(&callee.results) {
            let bits = through(bits);
            grow(&mut self.values[result.index()], bits, &mut self.changed);
        }
        for (array, &bits) in arrays.iter().zip(&callee.arrays) {
            let bits = through(bits) | partial;
            grow(&mut self.arrays[array.index()], bits, &mut self.changed);
        }
    }

    fn give(&mut self, results: Results, bits: DependenceBits) {
        for result in results.iter() {
            grow(&mut self.values[result.index()], bits, &mut self.changed);
        }
    }

    fn put(&mut self, array: ArrayId, bits: DependenceBits) {
        grow(&mut self.arrays[array.index()], bits, &mut self.changed);
    }

    /// Values become others; which of them may depend on `partial`.
    fn join(&mut self, region: RegionId, inst: &Inst, partial: DependenceBits) {
        let (values, changed) = (&mut self.values, &mut self.changed);
        self.joins
            .for_each(self.function, region, inst, |from, to| {
                let bits = values[from.index()] | partial;
                grow(&mut values[to.index()], bits, changed);
            });
    }
}

fn grow(to: &mut DependenceBits, bits: DependenceBits, changed: &mut bool) {
    *changed |= bits & !*to != 0;
    *to |= bits;
}
