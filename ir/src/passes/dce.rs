//! Dead code elimination (DCE), and renumbering.
//!
//! Assumes a function that the verifier accepts. Guarantees: every value left is used, but for
//! parameters of the function, results of calls, the four numbers of samples, and what a
//! `WithSlopes` gives beside a slope that is used. Calls and loops
//! stay, since their entries and iterations are counted; so do `If`s and `Block`s around them, and
//! what takes steps for the words that it moves. Stores to an array that is never read are
//! removed, unless their index could fault. Parameters of loops that feed only themselves are
//! removed. Values, regions and arrays are numbered in program order, each once: equal programs
//! have equal numbers.

use crate::copy::Copied;
use crate::host::move_steps;
use crate::instruction::{Effect, InstField};
use crate::module::*;
use crate::moved_words::moved_words;

/// Eliminates the dead code of a function in place.
pub(super) fn dce(function: &mut Function) {
    let index = Index::new(function);
    let mut marks = Marks {
        used: vec![false; function.values.len()],
        kept: vec![false; index.insts],
        pending: Vec::new(),
        function,
        index: &index,
    };
    marks.activate(function.body);
    marks.finish();
    let Marks { used, kept, .. } = marks;

    let mut sweep = Sweep {
        values: Vec::with_capacity(function.values.len()),
        regions: Vec::with_capacity(function.regions.len()),
        arrays: Vec::with_capacity(function.arrays.len()),
        copied: Copied::new(function),
        index: &index,
        used: &used,
        kept: &kept,
        old: function,
    };
    for param in 0..sweep.old.array_params().count() as u32 {
        sweep.array(ArrayId(param));
    }
    sweep.region(sweep.old.body);
    let Sweep {
        values,
        regions,
        arrays,
        ..
    } = sweep;
    function.values = values;
    function.regions = regions;
    function.arrays = arrays;
    function.body = RegionId(0);
}

/// Whether every value of a function is defined and every region reached.
pub(super) fn is_numbered(function: &Function) -> bool {
    let (mut regions, mut values) = (0, 0);
    function.for_each_region(|id| {
        let region = function.region(id);
        let results = region.insts.iter().map(|inst| inst.results.count as usize);
        values += region.params.len() + results.sum::<usize>();
        regions += 1;
    });
    regions == function.regions.len() && values == function.values.len()
}

/// Whether clearing or copying the array takes no steps. If it takes some it stays, as loops do, so
/// that the budget does not depend on passes.
fn is_free(function: &Function, array: ArrayId) -> bool {
    move_steps(function.arrays[array.index()].len) == 0
}

const NONE: u32 = u32::MAX;

/// The definition of a value.
#[derive(Clone, Copy)]
enum Def {
    /// By an instruction: region and position.
    Inst(RegionId, u32),
    /// As a parameter of a region: its position.
    Param(RegionId, u32),
}

/// How far out an instruction has an effect, as the depth of a region: 0 for observable effects and
/// leaving the function, the target's depth for a break, `NOWHERE` if only its results matter.
type Reach = u32;
const NOWHERE: Reach = u32::MAX;

/// The index of all definitions and regions.
struct Index {
    defs: Vec<Def>,
    /// By region: the number of its first instruction, counting through all of them.
    first: Vec<usize>,
    insts: usize,
    /// By region: the instruction that it belongs to.
    owner: Vec<(RegionId, u32)>,
    /// By region: the results of the instruction that it belongs to.
    gives: Vec<Results>,
    /// By region: the first of those whose terminators give its owner's results, then the next of
    /// the same target.
    exits: Vec<u32>,
    /// By loop region: the first of those whose terminators continue it.
    continues: Vec<u32>,
    next: Vec<u32>,
    /// By instruction number.
    reach: Vec<Reach>,
}

impl Index {
    fn new(function: &Function) -> Index {
        let regions = function.regions.len();
        let mut index = Index {
            defs: vec![Def::Param(function.body, 0); function.values.len()],
            first: vec![0; regions],
            insts: 0,
            owner: vec![(function.body, 0); regions],
            gives: vec![Results::NONE; regions],
            exits: vec![NONE; regions],
            continues: vec![NONE; regions],
            next: vec![NONE; regions],
            reach: Vec::new(),
        };
        let mut order = Vec::with_capacity(regions);
        let mut depth = vec![0; regions];
        let mut read = vec![false; function.arrays.len()];
        for (read, _) in read.iter_mut().zip(function.array_params()) {
            *read = true;
        }

        function.for_each_region(|id| {
            order.push(id);
            let region = function.region(id);
            index.first[id.index()] = index.insts;
            index.insts += region.insts.len();
            for (k, param) in region.params.iter().enumerate() {
                index.defs[param.index()] = Def::Param(id, k as u32);
            }
            for (at, inst) in region.insts.iter().enumerate() {
                for result in inst.results.iter() {
                    index.defs[result.index()] = Def::Inst(id, at as u32);
                }
                for nested in inst.kind.regions() {
                    index.owner[nested.index()] = (id, at as u32);
                    index.gives[nested.index()] = inst.results;
                    depth[nested.index()] = depth[id.index()] + 1;
                }
                inst.kind.for_each_field(|field| match field {
                    InstField::Read(array) => read[array.index()] = true,
                    InstField::Passed(arrays) => {
                        arrays.iter().for_each(|a| read[a.index()] = true);
                    }
                    _ => {}
                });
            }
            let (heads, target) = match function.terminator(id).kind {
                InstKind::Yield => (&mut index.exits, id),
                InstKind::Break(target) => (&mut index.exits, target),
                InstKind::Continue(target) => (&mut index.continues, target),
                _ => return,
            };
            index.next[id.index()] = std::mem::replace(&mut heads[target.index()], id.0);
        });

        index.reach = vec![NOWHERE; index.insts];
        // Inner regions before those around them.
        let mut felt = vec![NOWHERE; regions];
        for &id in order.iter().rev() {
            for (at, inst) in function.region(id).insts.iter().enumerate() {
                let in_range = |array: ArrayId| {
                    index
                        .constant(function, inst.args[0])
                        .is_some_and(|i| i < function.arrays[array.index()].len)
                };
                let reach = match &inst.kind {
                    InstKind::Load(array) if in_range(*array) => NOWHERE,
                    InstKind::Store(array) if in_range(*array) && !read[array.index()] => NOWHERE,
                    InstKind::ArrayZero(array) | InstKind::ArrayCopy { to: array, .. }
                        if !read[array.index()] && is_free(function, *array) =>
                    {
                        NOWHERE
                    }
                    InstKind::If(then, other) => felt[then.index()].min(felt[other.index()]),
                    InstKind::Block(body) => match felt[body.index()] {
                        reach if reach == depth[body.index()] => NOWHERE,
                        reach => reach,
                    },
                    InstKind::Yield => NOWHERE,
                    InstKind::Break(to) | InstKind::Continue(to) => depth[to.index()],
                    kind => match kind.effect() {
                        _ if move_steps(moved_words(function, inst)) > 0 => 0,
                        Effect::Pure | Effect::MakesClosure => NOWHERE,
                        _ => 0,
                    },
                };
                index.reach[index.first[id.index()] + at] = reach;
                let felt = &mut felt[id.index()];
                *felt = reach.min(*felt);
            }
        }
        index
    }

    fn constant(&self, function: &Function, value: ValueId) -> Option<u32> {
        match self.defs[value.index()] {
            Def::Inst(region, at) => match function.region(region).insts[at as usize].kind {
                InstKind::Const(bits) => Some(bits),
                _ => None,
            },
            Def::Param(..) => None,
        }
    }

    fn chain(&self, mut at: u32) -> impl Iterator<Item = RegionId> {
        std::iter::from_fn(move || {
            let id = (at != NONE).then_some(RegionId(at))?;
            at = self.next[id.index()];
            Some(id)
        })
    }
}

/// Marks live instructions, backwards from those with observable effects.
struct Marks<'f> {
    function: &'f Function,
    index: &'f Index,
    used: Vec<bool>,
    /// By instruction number; for those without results, and those with regions.
    kept: Vec<bool>,
    pending: Vec<Need>,
}

/// An item to be followed.
enum Need {
    /// Used, but its definition is not visited yet.
    Value(ValueId),
    /// Kept, but its instructions are not visited yet.
    Region(RegionId),
}

impl Marks<'_> {
    fn finish(&mut self) {
        while let Some(need) = self.pending.pop() {
            match need {
                Need::Region(id) => self.activate(id),
                Need::Value(value) => match self.index.defs[value.index()] {
                    Def::Inst(region, at) => self.result(value, region, at),
                    Def::Param(region, k) => self.param(region, k as usize),
                },
            }
        }
    }

    /// Keeps the instructions with effects outside of a region that is kept itself.
    fn activate(&mut self, id: RegionId) {
        for at in 0..self.function.region(id).insts.len() {
            if self.index.reach[self.index.first[id.index()] + at] != NOWHERE {
                self.keep(id, at as u32);
            }
        }
    }

    fn keep(&mut self, region: RegionId, at: u32) {
        let kept = &mut self.kept[self.index.first[region.index()] + at as usize];
        if std::mem::replace(kept, true) {
            return;
        }
        let inst = &self.function.region(region).insts[at as usize];
        for nested in inst.kind.regions() {
            self.pending.push(Need::Region(nested));
        }
        match inst.kind {
            // Each of these passes values; liveness is decided value by value.
            InstKind::Loop(_) | InstKind::Break(_) | InstKind::Continue(_) => {}
            _ => inst.args.iter().for_each(|&arg| self.need(arg)),
        }
    }

    fn need(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.used[value.index()], true) {
            self.pending.push(Need::Value(value));
        }
    }

    fn result(&mut self, value: ValueId, region: RegionId, at: u32) {
        self.keep(region, at);
        let inst = &self.function.region(region).insts[at as usize];
        let k = (value.0 - inst.results.first.0) as usize;
        for nested in inst.kind.regions() {
            self.need_argument(self.index.exits[nested.index()], k);
        }
    }

    fn param(&mut self, region: RegionId, k: usize) {
        if region != self.function.body {
            let (outer, at) = self.index.owner[region.index()];
            self.need(self.function.region(outer).insts[at as usize].args[k]);
            self.need_argument(self.index.continues[region.index()], k);
        }
    }

    fn need_argument(&mut self, chain: u32, k: usize) {
        for from in self.index.chain(chain) {
            self.need(self.function.terminator(from).args[k]);
        }
    }
}

/// Copies the marked instructions, and renumbers them.
struct Sweep<'f> {
    old: &'f mut Function,
    index: &'f Index,
    used: &'f [bool],
    kept: &'f [bool],
    values: Vec<Value>,
    regions: Vec<Region>,
    arrays: Vec<Array>,
    copied: Copied,
}

impl Sweep<'_> {
    fn value(&mut self, old: ValueId) -> ValueId {
        let new = ValueId(self.values.len() as u32);
        self.values.push(self.old.values[old.index()]);
        self.copied.set_value(old, new);
        new
    }

    fn array(&mut self, old: ArrayId) {
        if !self.copied.has_array(old) {
            let new = ArrayId(self.arrays.len() as u32);
            self.arrays.push(self.old.arrays[old.index()]);
            self.copied.set_array(old, new);
        }
    }

    fn region(&mut self, old: RegionId) {
        let new = RegionId(self.regions.len() as u32);
        self.copied.set_region(old, new);
        self.regions.push(Region::default());

        let mut params = self.old.region(old).params.clone();
        if old != self.old.body {
            params.retain(|p| self.used[p.index()]);
        }
        for param in &mut params {
            *param = self.value(*param);
        }

        let first = self.index.first[old.index()];
        let mut insts = std::mem::take(&mut self.old.regions[old.index()].insts);
        let mut at = first;
        insts.retain_mut(|inst| {
            let stays = self.kept[at] || inst.kind == InstKind::Yield;
            at += 1;
            if stays {
                self.inst(old, inst);
            }
            stays
        });
        self.regions[new.index()] = Region { params, insts };
    }

    fn inst(&mut self, region: RegionId, inst: &mut Inst) {
        self.drop_unused_args(region, inst);
        inst.kind.for_each_field(|field| match field {
            InstField::Region(&nested) => self.region(nested),
            InstField::Read(&array) | InstField::Written(&array) => self.array(array),
            InstField::Passed(arrays) => arrays.iter().for_each(|&array| self.array(array)),
            _ => {}
        });
        self.copied.rename(inst);
        self.drop_unused_slopes(inst);
        let all = inst.kind.regions().next().is_none();
        let mut results = Results::NONE;
        for old in inst.results.iter().filter(|r| all || self.used[r.index()]) {
            let new = self.value(old);
            if results.count == 0 {
                results.first = new;
            }
            results.count += 1;
        }
        inst.results = results;
    }

    /// Removes the slopes of a sample or an op if none is used.
    fn drop_unused_slopes(&self, inst: &mut Inst) {
        let (numbers, without) = match inst.kind {
            InstKind::Sample(texture, mip, Slopes::Given) => {
                let without = InstKind::Sample(texture, mip, Slopes::Omitted);
                (Slopes::Omitted.result_count(), without)
            }
            InstKind::WithSlopes(op) => (1, InstKind::Op(op)),
            _ => return,
        };
        let mut slopes = inst.results.iter().skip(numbers);
        if !slopes.any(|slope| self.used[slope.index()]) {
            inst.kind = without;
            inst.results.count = numbers as u32;
        }
    }

    /// Removes operands for unused results and parameters.
    fn drop_unused_args(&self, region: RegionId, inst: &mut Inst) {
        match inst.kind {
            InstKind::Yield | InstKind::Break(_) => {
                let target = match inst.kind {
                    InstKind::Break(to) => to,
                    _ => region,
                };
                let mut results = self.index.gives[target.index()].iter();
                inst.args
                    .retain(|_| results.next().is_some_and(|r| self.used[r.index()]));
            }
            InstKind::Loop(to) | InstKind::Continue(to) => {
                let mut params = self.old.region(to).params.iter();
                inst.args
                    .retain(|_| params.next().is_some_and(|p| self.used[p.index()]));
            }
            _ => {}
        }
    }
}
