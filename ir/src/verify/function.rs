//! The walk over one function: region tree, definitions and their scopes, edges.
//!
//! One pass in program order with a stack of open regions. A value is visible from its definition
//! to the end of the region that it is defined in; leaving a region hides what it defined, so every
//! value is shown once and hidden once.

use super::{Report, Rule};
use crate::instruction::TableScalars;
use crate::limits::{MAX_ARRAY_ELEMENTS, MAX_REGION_DEPTH};
use crate::module::*;
use crate::types::{Lanes, Scalar};

/// Checks one function of a module whose interface holds.
pub(super) fn check<'a>(
    module: &'a Module,
    interface: &'a TableScalars,
    function: &'a Function,
    report: &'a mut Report,
) {
    let mut checker = Checker {
        module,
        interface,
        function,
        report,
        scopes: vec![Scope::Undefined; function.values.len()],
        supply: vec![Lanes::NONE; function.values.len()],
        result_supply: vec![Lanes::NONE; function.results.len()],
        regions: vec![RegionState::default(); function.regions.len()],
        visible: Vec::new(),
    };
    checker.tables();
    checker.walk();
    checker.leftovers();
}

/// The scope of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Undefined,
    Visible,
    Hidden,
}

/// The properties of a region during the walk.
#[derive(Clone, Copy, Default)]
struct RegionState<'a> {
    entered: bool,
    open: bool,
    /// The instruction that it belongs to; none for the body.
    owner: Option<&'a Inst>,
}

/// A region being walked.
struct Open {
    region: RegionId,
    /// The current instruction.
    at: usize,
    /// The number of that instruction's regions that were walked.
    arms: usize,
    /// The number of values visible before it.
    visible: usize,
}

pub(super) struct Checker<'a> {
    pub(super) module: &'a Module,
    pub(super) interface: &'a TableScalars,
    pub(super) function: &'a Function,
    pub(super) report: &'a mut Report,
    scopes: Vec<Scope>,
    /// For values that edges pass: the lanes of the arriving values.
    supply: Vec<Lanes>,
    result_supply: Vec<Lanes>,
    regions: Vec<RegionState<'a>>,
    visible: Vec<ValueId>,
}

impl<'a> Checker<'a> {
    /// Arrays, members, names, and values that may have lanes.
    fn tables(&mut self) {
        let f = self.function;
        let mut elements = 0;
        let mut locals = false;
        for array in &f.arrays {
            elements += u64::from(array.len);
            locals |= array.mode.is_none();
            let fits = array.len > 0
                && array.mode != Some(PassingMode::Return)
                && !(locals && array.mode.is_some());
            self.report.require(fits, Rule::Array, || {
                "an array is empty, of mode `Return`, or a parameter after a local".into()
            });
            self.shadowless(array.element, array.lanes);
            self.check_name(array.name);
        }
        self.report
            .require(elements <= MAX_ARRAY_ELEMENTS, Rule::Array, || {
                format!("{elements} array elements are more than {MAX_ARRAY_ELEMENTS}")
            });
        for value in &f.values {
            self.shadowless(value.ty, value.lanes);
            self.check_name(value.name);
        }
        for result in &f.results {
            self.shadowless(result.ty, result.lanes);
        }

        let params = f.regions.get(f.body.index());
        let params = params.map_or(0, |body| body.params.len());
        let arrays = f.array_params().count();
        for member in &f.members {
            let within = |(start, count): (u32, u32), len: usize| {
                u64::from(start) + u64::from(count) <= len as u64
            };
            let fits = within(member.params, params)
                && within(member.results, f.results.len())
                && within(member.arrays, arrays);
            self.report.require(fits, Rule::Member, || {
                format!("member `{}` has positions out of range", member.name)
            });
        }
        if std::ptr::eq(f, self.module.entry()) {
            let params = f.regions.get(f.body.index());
            let mut params = params.into_iter().flat_map(|body| &body.params);
            let seeded = params.any(|&p| !self.lanes(p).is_none());
            self.report.require(!seeded, Rule::Shadowless, || {
                "a parameter of the shader has lanes".into()
            });
        }
    }

    fn shadowless(&mut self, ty: Scalar, lanes: Lanes) {
        let fits = ty == Scalar::F32 || lanes.is_none();
        self.report
            .require(fits, Rule::Shadowless, || format!("a {ty} has lanes"));
    }

    fn check_name(&mut self, name: Option<NameId>) {
        let known = name.is_none_or(|n| n.index() < self.module.names.len());
        self.report
            .require(known, Rule::Id, || "a name is not in the table".into());
    }

    fn walk(&mut self) {
        let mut stack = Vec::new();
        self.enter(self.function.body, None, &mut stack);
        while let Some(open) = stack.last_mut() {
            let region = &self.function.regions[open.region.index()];
            let (id, at) = (open.region, open.at);
            self.report.place = Some((id, at));
            let Some(inst) = region.insts.get(at) else {
                for value in self.visible.drain(open.visible..) {
                    self.scopes[value.index()] = Scope::Hidden;
                }
                self.regions[id.index()].open = false;
                stack.pop();
                continue;
            };
            if open.arms == 0 {
                let last = at + 1 == region.insts.len();
                self.report
                    .require(inst.kind.is_terminator() == last, Rule::Terminator, || {
                        "a region ends with its only terminator".into()
                    });
                for &arg in &inst.args {
                    self.check_use(arg);
                }
                self.check_inst(inst);
                self.check_edge(id, inst);
            }
            if let Some(inner) = inst.kind.regions().nth(open.arms) {
                open.arms += 1;
                self.enter(inner, Some(inst), &mut stack);
                continue;
            }
            open.at += 1;
            open.arms = 0;
            match self.results(inst) {
                Some(results) => results.iter().for_each(|v| self.define(v)),
                None => self
                    .report
                    .add(Rule::Definition, "a result is not a value of the function"),
            }
            if self.report.is_full() {
                return;
            }
        }
        self.report.place = None;
    }

    fn enter(&mut self, id: RegionId, owner: Option<&'a Inst>, stack: &mut Vec<Open>) {
        let Some(state) = self.regions.get_mut(id.index()) else {
            let message = format!("^{} is not a region of the function", id.0);
            return self.report.add(Rule::Tree, message);
        };
        if state.entered {
            let message = format!("^{} belongs to two places", id.0);
            return self.report.add(Rule::Tree, message);
        }
        *state = RegionState {
            entered: true,
            open: true,
            owner,
        };
        if stack.len() >= MAX_REGION_DEPTH {
            let message = format!("regions nest more than {MAX_REGION_DEPTH} deep");
            return self.report.add(Rule::Depth, message);
        }
        stack.push(Open {
            region: id,
            at: 0,
            arms: 0,
            visible: self.visible.len(),
        });
        let region = &self.function.regions[id.index()];
        self.report.place = Some((id, 0));
        self.report
            .require(!region.insts.is_empty(), Rule::Terminator, || {
                "a region is empty".into()
            });
        let takes = owner.is_none_or(|inst| matches!(inst.kind, InstKind::Loop(_)));
        self.report
            .require(takes || region.params.is_empty(), Rule::Parameters, || {
                "a region of an if or a block has parameters".into()
            });
        for &param in &region.params {
            if param.index() < self.function.values.len() {
                self.define(param);
            } else {
                self.report.add(
                    Rule::Definition,
                    "a parameter is not a value of the function",
                );
            }
        }
        if let Some(Inst {
            kind: InstKind::Loop(_),
            args,
            ..
        }) = owner
        {
            self.hand_over(args, region.params.iter().copied());
        }
    }

    fn define(&mut self, value: ValueId) {
        let scope = &mut self.scopes[value.index()];
        if *scope == Scope::Undefined {
            *scope = Scope::Visible;
            self.visible.push(value);
        } else {
            let message = format!("%{} is defined twice", value.0);
            self.report.add(Rule::Definition, message);
        }
    }

    fn check_use(&mut self, value: ValueId) {
        let visible = self.scopes.get(value.index()) == Some(&Scope::Visible);
        self.report.require(visible, Rule::Dominance, || {
            format!("%{} is not defined here", value.0)
        });
    }

    /// Terminators: the target, and whether the passed values fit.
    fn check_edge(&mut self, region: RegionId, inst: &'a Inst) {
        let target = match inst.kind {
            InstKind::Yield => self.regions[region.index()]
                .owner
                .filter(|owner| matches!(owner.kind, InstKind::If(..) | InstKind::Block(_))),
            InstKind::Break(to) => self
                .enclosing(to)
                .filter(|owner| matches!(owner.kind, InstKind::Loop(_) | InstKind::Block(_))),
            InstKind::Continue(to) => self
                .enclosing(to)
                .filter(|owner| matches!(owner.kind, InstKind::Loop(_))),
            InstKind::Return => return self.check_return(inst),
            _ => return,
        };
        let Some(target) = target else {
            return self.report.add(
                Rule::Jump,
                "a yield, break or continue has no such if, block or loop around it",
            );
        };
        if let InstKind::Continue(to) = inst.kind {
            let function = self.function;
            self.hand_over(&inst.args, function.region(to).params.iter().copied());
        } else if let Some(results) = self.results(target) {
            self.hand_over(&inst.args, results.iter());
        }
    }

    /// The instruction that an open region belongs to.
    fn enclosing(&self, region: RegionId) -> Option<&'a Inst> {
        let state = self.regions.get(region.index())?;
        state.owner.filter(|_| state.open)
    }

    /// The results of an instruction, if all of them are values of the function.
    pub(super) fn results(&self, inst: &Inst) -> Option<Results> {
        let Results { first, count } = inst.results;
        let end = u64::from(first.0) + u64::from(count);
        (count == 0 || end <= self.function.values.len() as u64).then_some(inst.results)
    }

    fn check_return(&mut self, inst: &Inst) {
        let function = self.function;
        let types = inst.args.iter().map(|&a| self.ty(a));
        let fits = types.eq(function.results.iter().map(|r| Some(r.ty)));
        if self.report.require(fits, Rule::Edge, || {
            "a return does not fit the function's results".into()
        }) {
            for (i, &arg) in inst.args.iter().enumerate() {
                let lanes = self.lanes(arg);
                self.result_supply[i] |= lanes;
            }
        }
    }

    /// An edge: operands become other values.
    fn hand_over(&mut self, from: &[ValueId], to: impl Iterator<Item = ValueId> + Clone) {
        let types = from.iter().map(|&v| self.ty(v));
        let fits = types.eq(to.clone().map(|v| self.ty(v)));
        if self.report.require(fits, Rule::Edge, || {
            "the passed values do not fit their targets".into()
        }) {
            for (&from, to) in from.iter().zip(to) {
                let lanes = self.lanes(from);
                if let Some(supply) = self.supply.get_mut(to.index()) {
                    *supply |= lanes;
                }
            }
        }
    }

    /// After the walk: regions that were not met, lanes that nothing supplies.
    fn leftovers(&mut self) {
        for (i, region) in self.function.regions.iter().enumerate() {
            let empty = region.params.is_empty() && region.insts.is_empty();
            let entered = self.regions[i].entered;
            self.report.require(entered || empty, Rule::Tree, || {
                format!("^{i} belongs to no instruction and is not empty")
            });
        }
        let owned = self.regions.iter().zip(&self.function.regions);
        let owned = owned.filter_map(|(state, region)| Some((state.owner?, region)));
        let fed = owned.flat_map(|(owner, region)| {
            let results = self.results(owner).unwrap_or(Results::NONE);
            region.params.iter().copied().chain(results.iter())
        });
        let starved = fed.filter(|v| {
            let supply = self.supply.get(v.index());
            supply.is_some_and(|s| !s.contains(self.lanes(*v)))
        });
        let starved: Vec<ValueId> = starved.collect();
        for value in starved {
            let message = format!("no edge to %{} brings all of its lanes", value.0);
            self.report.add(Rule::Supply, message);
        }
        let filled_in =
            self.module.quad.is_some() && std::ptr::eq(self.function, self.module.entry());
        for (result, supply) in self.function.results.iter().zip(&self.result_supply) {
            if filled_in {
                break;
            }
            self.report
                .require(supply.contains(result.lanes), Rule::Supply, || {
                    "no return brings all lanes of a result".into()
                });
        }
    }

    pub(super) fn ty(&self, value: ValueId) -> Option<Scalar> {
        Some(self.function.values.get(value.index())?.ty)
    }

    pub(super) fn lanes(&self, value: ValueId) -> Lanes {
        let value = self.function.values.get(value.index());
        value.map_or(Lanes::NONE, |v| v.lanes)
    }
}
