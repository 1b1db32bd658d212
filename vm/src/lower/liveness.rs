//! Liveness: the live range of each value of a function, and its register hint.
//!
//! A live range is one interval of positions (Poletto and Sarkar, "Linear Scan Register
//! Allocation", 1999). It goes from the value's definition to its last use, and to the end of every
//! loop that uses it but starts after its definition.
//!
//! Loop-carried values, results of regions, and parameters and results of functions have a register
//! that all paths write, like the phi nodes of SSA. A value whose last use is a move into such a
//! register is hinted to it (Wimmer and Mössenböck, "Optimized Interval Splitting in a Linear Scan
//! Register Allocator", 2005).

use super::linear_order::{Arms, InstVisitor, walk};
use adumbra_ir::module::{FuncId, Function, Inst, InstKind, RegionId, ValueId};

/// The register that a value is hinted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterHint {
    /// No hint.
    Any,
    /// The register of that value: a parameter or result of a structured instruction.
    Value(ValueId),
    /// The function's result of that number.
    Result(u32),
    /// The parameter of that number of a callee.
    Param(FuncId, u32),
}

/// The live range of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveRange {
    /// Position of its definition.
    pub(crate) start: u32,
    /// Position of its last use; `start` if it has none.
    pub(crate) end: u32,
    /// The last merge register that it is moved to.
    pub(crate) hint: RegisterHint,
    /// The position of that move.
    pub(crate) hint_at: u32,
}

/// Live ranges of the values of one function. The memory is kept from function to function.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    pub(crate) values: Vec<LiveRange>,
    /// Values that end where a loop is left, by rising position.
    pub(crate) expiring: Vec<(u32, ValueId)>,
    /// Positions of calls, rising.
    calls: Vec<u32>,
    /// Per region that can be the target of a break, continue or yield: the results of its owner.
    owners: Vec<Option<Owner>>,
    /// Open structured instructions, innermost last.
    open: Vec<Open>,
    /// Values used in an open loop and defined before it: linked lists, one for each loop.
    used: Vec<(ValueId, u32)>,
    /// Positions where open loops begin, and their lists in `used`.
    loops: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    first_result: ValueId,
    results: u32,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    region: RegionId,
    looping: bool,
}

const NONE: u32 = u32::MAX;

impl Liveness {
    /// Finds the live ranges of all values of a function.
    pub(crate) fn find(&mut self, function: &Function) {
        self.values.clear();
        self.values.resize(
            function.values.len(),
            LiveRange {
                start: 0,
                end: 0,
                hint: RegisterHint::Any,
                hint_at: 0,
            },
        );
        self.expiring.clear();
        self.calls.clear();
        self.owners.clear();
        self.owners.resize(function.regions.len(), None);
        self.used.clear();
        walk(
            function,
            &mut Finder {
                function,
                lives: self,
            },
        );
    }

    /// Whether no call is after the value's definition and before `end`, so that the registers of
    /// callees stay as they are.
    pub(crate) fn is_undisturbed(&self, value: ValueId, end: u32) -> bool {
        let start = self.values[value.index()].start;
        let next_call = self.calls.partition_point(|&call| call <= start);
        self.calls.get(next_call).is_none_or(|&call| call >= end)
    }

    fn define(&mut self, value: ValueId, at: u32) {
        let life = &mut self.values[value.index()];
        life.start = at;
        life.end = life.end.max(at);
    }

    fn use_at(&mut self, value: ValueId, at: u32) {
        let life = &mut self.values[value.index()];
        life.end = at;
        // The loops that start after the definition; the outermost one decides.
        let inner = self
            .loops
            .partition_point(|&(start, _)| start <= life.start);
        if let Some((_, list)) = self.loops.get_mut(inner) {
            self.used.push((value, *list));
            *list = self.used.len() as u32 - 1;
        }
    }

    fn wish(&mut self, value: ValueId, hint: RegisterHint, at: u32) {
        let life = &mut self.values[value.index()];
        life.hint = hint;
        life.hint_at = at;
    }
}

struct Finder<'f, 'l> {
    function: &'f Function,
    lives: &'l mut Liveness,
}

impl Finder<'_, '_> {
    fn uses(&mut self, at: u32, inst: &Inst) {
        for &arg in &inst.args {
            self.lives.use_at(arg, at);
        }
    }

    fn wishes_for_results(&mut self, at: u32, inst: &Inst, target: RegionId) {
        let Some(owner) = self.lives.owners[target.index()] else {
            return;
        };
        for (i, &arg) in (0..owner.results).zip(&inst.args) {
            let merge = ValueId(owner.first_result.0 + i);
            self.lives.wish(arg, RegisterHint::Value(merge), at);
        }
    }

    fn wishes_for_params(&mut self, at: u32, inst: &Inst, target: RegionId) {
        for (&arg, &param) in inst.args.iter().zip(&self.function.region(target).params) {
            self.lives.wish(arg, RegisterHint::Value(param), at);
        }
    }
}

impl InstVisitor for Finder<'_, '_> {
    fn inst(&mut self, at: u32, inst: &Inst, _: Option<&Inst>) -> bool {
        self.uses(at, inst);
        for value in inst.results.iter() {
            self.lives.define(value, at);
        }
        match &inst.kind {
            InstKind::Yield => {
                let region = self.lives.open.last().map(|o| o.region);
                if let Some(region) = region {
                    self.wishes_for_results(at, inst, region);
                }
            }
            InstKind::Break(target) => self.wishes_for_results(at, inst, *target),
            InstKind::Continue(target) => self.wishes_for_params(at, inst, *target),
            InstKind::Return => {
                for (i, &arg) in inst.args.iter().enumerate() {
                    self.lives.wish(arg, RegisterHint::Result(i as u32), at);
                }
            }
            InstKind::Call(callee, _) => {
                for (i, &arg) in (0..).zip(&inst.args) {
                    self.lives.wish(arg, RegisterHint::Param(*callee, i), at);
                }
                self.lives.calls.push(at);
            }
            _ => {}
        }
        false
    }

    fn enter(&mut self, at: u32, inst: &Inst, _: bool) {
        self.uses(at, inst);
        let owner = Owner {
            first_result: inst.results.first,
            results: inst.results.count,
        };
        for region in inst.kind.regions() {
            self.lives.owners[region.index()] = Some(owner);
        }
        let (region, looping) = match inst.kind {
            InstKind::Loop(region) => (region, true),
            InstKind::Block(region) => (region, false),
            InstKind::If(yes, no) => (Arms::of(self.function, yes, no).first, false),
            _ => unreachable!("only structured instructions are entered"),
        };
        if looping {
            self.wishes_for_params(at, inst, region);
            for &param in &self.function.region(region).params {
                self.lives.define(param, at);
            }
            self.lives.loops.push((at, NONE));
        }
        self.lives.open.push(Open { region, looping });
    }

    fn second_arm(&mut self, _: u32, inst: &Inst) {
        if let (&InstKind::If(yes, no), Some(open)) = (&inst.kind, self.lives.open.last_mut()) {
            open.region = Arms::of(self.function, yes, no).second;
        }
    }

    fn exit(&mut self, at: u32, inst: &Inst) {
        let open = self.lives.open.pop().expect("what is left was entered");
        if open.looping {
            let (_, mut list) = self.lives.loops.pop().expect("the loop was entered");
            while list != NONE {
                let (value, next) = self.lives.used[list as usize];
                list = next;
                let life = &mut self.lives.values[value.index()];
                if life.end < at {
                    life.end = at;
                    self.lives.expiring.push((at, value));
                }
            }
        }
        for value in inst.results.iter() {
            self.lives.define(value, at);
        }
    }
}
