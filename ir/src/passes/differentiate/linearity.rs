//! Whether custom forward derivatives are linear in their tangents, so that they can be transposed.
//!
//! What depends on a tangent may only be multiplied by what does not, and be added to what does: else
//! the transpose would be the gradient of something else. A value depends on a tangent if one reaches
//! it by any instruction, also by those that pass no derivative.

use super::linear::{Linear, linear};
use super::{Differentiator, Loss};
use crate::module::*;
use crate::span::Span;
use adumbra_ops::Op;
use adumbra_ops::definition::OpClass;
use rustc_hash::FxHashMap;

impl Differentiator<'_> {
    /// Checks that a function is linear in what is active of its parameters.
    ///
    /// # Errors
    /// The first place where it is not; `name` is the function that has the derivative, and the sweeps
    /// of those that it calls are to have their records on that tape.
    pub(super) fn check_linear(
        &mut self,
        id: FuncId,
        activity: &Activity,
        name: &str,
        tape: TapeId,
    ) -> Result<(), Loss> {
        if !self.linear.insert((id, activity.clone())) {
            return Ok(());
        }
        self.complete(id)?;
        let function = self.function(id).clone();
        let linear = linear(self, &function, activity, tape)?;
        let mut summaries = FxHashMap::default();
        let mut check = Check {
            linear: &linear,
            activity,
            dependence: Dependence::new(&linear.function, &activity.params, &activity.arrays),
            constants: constants(&linear.function),
            calls: Vec::new(),
        };
        check
            .dependence
            .flood(&self.module.functions, &mut summaries);
        let not_linear = |span| Loss::NotLinear {
            name: name.to_owned(),
            span,
        };
        if let Some(span) = check.violation() {
            return Err(not_linear(span));
        }
        for (callee, wanted, span) in check.calls {
            let callee = self.substituted(callee);
            let custom = &self.function(callee).custom;
            if custom.is_zero {
                continue;
            }
            // Nothing is known of a function with derivatives of its own.
            if *custom != CustomDerivatives::default() {
                return Err(not_linear(span));
            }
            self.check_linear(callee, &wanted, name, tape)?;
        }
        Ok(())
    }
}

/// The bits of values that are constants.
fn constants(function: &Function) -> Vec<Option<u32>> {
    let mut constants = vec![None; function.values.len()];
    for inst in function.regions.iter().flat_map(|region| &region.insts) {
        if let InstKind::Const(bits) = inst.kind {
            constants[inst.results.first.index()] = Some(bits);
        }
    }
    constants
}

/// By function, and the parameters and arrays that depend on a tangent: the results and arrays that
/// do so after a call.
type Summaries = FxHashMap<(FuncId, Vec<bool>, Vec<bool>), (Vec<bool>, Vec<bool>)>;

/// What in a function depends on a tangent.
struct Dependence<'f> {
    function: &'f Function,
    /// Regions, outer ones first.
    order: Vec<RegionId>,
    values: Vec<bool>,
    arrays: Vec<bool>,
    results: Vec<bool>,
    has_changed: bool,
}

impl<'f> Dependence<'f> {
    fn new(function: &'f Function, params: &[bool], given: &[bool]) -> Dependence<'f> {
        let mut order = Vec::new();
        function.for_each_region(|region| order.push(region));
        let mut values = vec![false; function.values.len()];
        for (param, &depends) in function.params().iter().zip(params) {
            values[param.index()] = depends;
        }
        let mut arrays = vec![false; function.arrays.len()];
        for (array, &depends) in given.iter().enumerate() {
            arrays[array] = depends && function.arrays[array].mode != Some(PassingMode::Out);
        }
        Dependence {
            function,
            order,
            values,
            arrays,
            results: vec![false; function.results.len()],
            has_changed: true,
        }
    }

    fn value(&self, value: ValueId) -> bool {
        self.values[value.index()]
    }

    fn any(&self, values: &[ValueId]) -> bool {
        values.iter().any(|&value| self.value(value))
    }

    fn mark(&mut self, value: ValueId) {
        self.has_changed |= !self.values[value.index()];
        self.values[value.index()] = true;
    }

    fn mark_array(&mut self, array: ArrayId) {
        self.has_changed |= !self.arrays[array.index()];
        self.arrays[array.index()] = true;
    }

    fn flood(&mut self, functions: &[Function], summaries: &mut Summaries) {
        let function = self.function;
        while std::mem::take(&mut self.has_changed) {
            for at in 0..self.order.len() {
                for inst in &function.region(self.order[at]).insts {
                    self.inst(inst, functions, summaries);
                }
            }
        }
    }

    fn inst(&mut self, inst: &Inst, functions: &[Function], summaries: &mut Summaries) {
        let depends = self.any(&inst.args);
        match &inst.kind {
            InstKind::Load(array) if self.arrays[array.index()] => {
                self.mark(inst.results.first);
            }
            InstKind::Store(array) if depends => self.mark_array(*array),
            InstKind::ArrayCopy { to, from } if depends || self.arrays[from.index()] => {
                self.mark_array(*to);
            }
            InstKind::Call(callee, passed) => {
                return self.call(*callee, passed, inst, functions, summaries);
            }
            InstKind::If(then, other) => {
                self.pass_end(*then, inst.results);
                self.pass_end(*other, inst.results);
            }
            InstKind::Block(body) => {
                self.pass_end(*body, inst.results);
                return self.leave(*body, inst.results);
            }
            InstKind::Loop(body) => {
                self.begin(*body, &inst.args);
                return self.leave(*body, inst.results);
            }
            InstKind::Continue(to) => self.begin(*to, &inst.args),
            InstKind::Return => {
                for (result, &arg) in inst.args.iter().enumerate() {
                    self.results[result] |= self.values[arg.index()];
                }
            }
            _ => {}
        }
        if depends {
            inst.results.iter().for_each(|result| self.mark(result));
        }
    }

    fn call(
        &mut self,
        callee: FuncId,
        passed: &[ArrayId],
        inst: &Inst,
        functions: &[Function],
        summaries: &mut Summaries,
    ) {
        let params: Vec<bool> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        let arrays: Vec<bool> = passed.iter().map(|a| self.arrays[a.index()]).collect();
        if !params.contains(&true) && !arrays.contains(&true) {
            return;
        }
        let function = &functions[callee.index()];
        let key = (callee, params, arrays);
        let (results, arrays) = match summaries.get(&key) {
            Some(known) => known.clone(),
            None => {
                // What a call inside of itself gives, and one whose body is not there: everything.
                let all = (vec![true; function.results.len()], vec![true; passed.len()]);
                summaries.insert(key.clone(), all.clone());
                let given = match function.recipe {
                    Some(_) => all,
                    None => {
                        let mut inner = Dependence::new(function, &key.1, &key.2);
                        inner.flood(functions, summaries);
                        let arrays = inner.arrays[..passed.len()].to_vec();
                        (inner.results, arrays)
                    }
                };
                summaries.insert(key, given.clone());
                given
            }
        };
        for (result, _) in inst.results.iter().zip(results).filter(|r| r.1) {
            self.mark(result);
        }
        for (&array, _) in passed.iter().zip(arrays).filter(|a| a.1) {
            self.mark_array(array);
        }
    }

    /// What a region ends with becomes the results of its instruction.
    fn pass_end(&mut self, region: RegionId, results: Results) {
        let end = self.function.terminator(region);
        if end.kind == InstKind::Yield {
            self.pass(&end.args, results);
        }
    }

    /// Values become others.
    fn pass(&mut self, from: &[ValueId], to: Results) {
        for (&from, to) in from.iter().zip(to.iter()) {
            if self.value(from) {
                self.mark(to);
            }
        }
    }

    fn begin(&mut self, body: RegionId, args: &[ValueId]) {
        let function = self.function;
        for (&arg, &param) in args.iter().zip(&function.region(body).params) {
            if self.value(arg) {
                self.mark(param);
            }
        }
    }

    /// Values of the breaks to a region become the results.
    fn leave(&mut self, body: RegionId, results: Results) {
        let function = self.function;
        for at in 0..self.order.len() {
            let end = function.terminator(self.order[at]);
            if end.kind == InstKind::Break(body) {
                self.pass(&end.args, results);
            }
        }
    }
}

/// The search for a place where a function is not linear.
struct Check<'l> {
    linear: &'l Linear,
    activity: &'l Activity,
    dependence: Dependence<'l>,
    constants: Vec<Option<u32>>,
    /// Active calls, to be checked too.
    calls: Vec<(FuncId, Activity, Span)>,
}

impl Check<'_> {
    fn is_zero(&self, value: ValueId) -> bool {
        self.constants[value.index()].is_some_and(|bits| bits << 1 == 0)
    }

    /// Whether the value has a derivative by a tangent.
    fn is_active(&self, value: ValueId) -> bool {
        self.linear.active.value(value) && self.dependence.value(value)
    }

    /// Whether the value is something else than a tangent or 0.
    fn is_foreign(&self, value: ValueId) -> bool {
        !self.is_active(value) && !self.is_zero(value)
    }

    /// Where the function is not linear first.
    fn violation(&mut self) -> Option<Span> {
        let function = &self.linear.function;
        for at in 0..self.dependence.order.len() {
            let id = self.dependence.order[at];
            for (position, inst) in function.region(id).insts.iter().enumerate() {
                if self.is_violated(id, position, inst) {
                    return Some(inst.span);
                }
            }
        }
        None
    }

    fn is_violated(&mut self, region: RegionId, position: usize, inst: &Inst) -> bool {
        let linear = self.linear;
        let function = &linear.function;
        match &inst.kind {
            InstKind::Op(op) if self.is_active(inst.results.first) => {
                let terms = linear.sums.get(&inst.results.first).into_iter().flatten();
                let mut terms = terms.filter(|(_, operand)| self.dependence.value(*operand));
                let is_piecewise = matches!(op.info().class, OpClass::Kink | OpClass::Jump);
                let added = match op {
                    Op::Add | Op::Sub => &inst.args[..],
                    Op::Select => &inst.args[1..],
                    Op::Mix => &inst.args[..2],
                    _ => &[],
                };
                (is_piecewise && *op != Op::Select)
                    || terms.any(|(c, _)| c.value().is_some_and(|c| self.dependence.value(c)))
                    || added.iter().any(|&arg| self.is_foreign(arg))
            }
            InstKind::Load(array) | InstKind::Store(array) => {
                linear.active.array(*array) && self.dependence.value(inst.args[0])
            }
            InstKind::ArrayCopy { to, .. } => {
                linear.active.array(*to) && self.dependence.any(&inst.args)
            }
            InstKind::If(then, other) => {
                let leaves = |arm: RegionId| function.terminator(arm).kind != InstKind::Yield;
                let yields = inst.results.iter().any(|result| self.is_active(result));
                let is_added = |arm: RegionId| {
                    let end = function.terminator(arm);
                    let given = end.args.iter().zip(inst.results.iter());
                    (end.kind == InstKind::Yield)
                        && (given.into_iter())
                            .any(|(&arg, result)| self.is_active(result) && self.is_foreign(arg))
                };
                is_added(*then)
                    || is_added(*other)
                    || self.dependence.value(inst.args[0])
                        && (yields || leaves(*then) || leaves(*other))
            }
            InstKind::Call(callee, arrays) if linear.calls.contains_key(&(region, position)) => {
                let wanted = linear.active.of_call(inst, arrays);
                let values = |active: &[bool], values: &[ValueId]| -> Vec<bool> {
                    let all = values.iter().zip(active);
                    all.map(|(&v, &is)| is && self.dependence.value(v))
                        .collect()
                };
                let results: Vec<ValueId> = inst.results.iter().collect();
                let passed = arrays.iter().zip(&wanted.arrays);
                let wanted = Activity {
                    params: values(&wanted.params, &inst.args),
                    results: values(&wanted.results, &results),
                    arrays: passed
                        .map(|(array, &is)| is && self.dependence.arrays[array.index()])
                        .collect(),
                };
                let given = inst.args.iter().zip(&wanted.params);
                let is_violated =
                    (given.into_iter()).any(|(&arg, &is)| self.dependence.value(arg) && !is);
                self.calls.push((*callee, wanted, inst.span));
                is_violated
            }
            InstKind::Return => {
                // Of what depends on no tangent, only 0 is linear.
                let tangents = inst.args.iter().zip(&self.activity.results);
                (tangents.into_iter()).any(|(&arg, &is)| is && self.is_foreign(arg))
            }
            _ => false,
        }
    }
}
