//! Derivatives of functions: writes the bodies of derived functions, those with a
//! [`Recipe`](crate::derivative::Recipe).
//!
//! Assumes a module that the verifier accepts, whose calls and loops are
//! [straightened](super::straighten). Guarantees: no function has a recipe, or a custom derivative
//! but a forward one, which [makes shadows](super::shadow_rules) later; nothing is left of
//! `Detach`, and functions that have no derivative, and are called by none, are as before. It runs
//! before all other passes, so that shadows, inlining and engines see ordinary functions.
//!
//! - `field`: numbers that write IR, on which the partials of the op table run.
//! - `substitute`: calls of functions with substitutes, in derived code.
//! - `order`: orders of derivatives, and so their tapes.
//! - `activity`: the values that have a derivative that matters.
//! - `forward`: forward mode; `screen`: along the screen, so that backward mode has shadows as
//!   values; `array`: what both modes do with arrays.
//! - `coefficients`: the derivative rules of ops, for reverse mode; `slopes`: those of long ops.
//! - `linear`: the primal function with the coefficients of its linear part, which reverse mode
//!   transposes; `linearity`: whether a custom forward derivative has no other part, `zeros` aside.
//! - `choose`: which primal values the reverse sweep reads are kept, by a minimum `cut`; `plan`:
//!   where.
//! - `sweep`: the forward sweep of reverse mode, which keeps them.
//! - `tape`: records, and their derivatives; `tape_report`: what they have, for reports.
//! - `guards`: which products of the reverse sweep have strong zeros.
//! - `transpose`: the reverse sweep; `reverse` puts both into functions; `shape`: regions and
//!   exits.
//!
//! The way from a function to its linear part to its transpose is that of Radul et al. (2023), *You
//! only linearize once: tangents transpose to gradients*, POPL; the tape and the rules of control
//! flow are in Griewank and Walther (2008), *Evaluating derivatives*, chapters 4 and 12.

mod activity;
mod array;
mod choose;
pub(super) mod coefficients;
mod cut;
pub(super) mod field;
mod forward;
mod guards;
mod linear;
mod linearity;
mod loss;
mod order;
mod placeholder;
mod plan;
mod reverse;
mod screen;
mod shape;
mod slopes;
mod substitute;
mod sweep;
mod tape;
mod tape_report;
mod transpose;
mod zeros;

pub use choose::KeepReason;
pub use linearity::MAX_LINEAR_SETS;
pub use loss::{curvature_left_out, no_forward_rule, shadow_in_backward};
pub(super) use placeholder::forward_placeholder;
pub(super) use screen::shadow_reads;
pub(super) use slopes::expand as expand_slopes;
pub use tape_report::{KeptKind, KeptPer, KeptReader, KeptRecord, KeptValue};
pub use zeros::{MAX_ZERO_CALLS, MAX_ZERO_SETS};

use super::memory_reads::MemoryReads;
use super::shadow_flow::DerivativeWiring;
use crate::calls::CallGraph;
use crate::derivative::{Activity, DifferentiationMode, Recipe};
use crate::diagnostic::Diagnostic;
use crate::instruction::Effect;
use crate::limits::{MAX_ARRAY_ELEMENTS, MAX_RECORD_FIELDS};
use crate::module::*;
use crate::types::{Direction, Lanes, Scalar};
use coefficients::{CoefficientProvider, Partials};
use guards::ReverseFunction;
use loss::{DerivedLimit, Loss};
use order::FunctionOrder;
use placeholder::caller_of;
use rustc_hash::{FxHashMap, FxHashSet};
use tape_report::RecordValues;

/// The most instructions that derived functions of a module have together.
pub const MAX_DERIVED_INSTRUCTIONS: usize = 1 << 20;

/// The highest order of a derivative: derivatives within each other.
pub const MAX_ORDER: u8 = 8;

/// The most values that a forward sweep returns to its reverse sweep; more go on the tape.
pub const MAX_KEPT_RESULTS: usize = 64;

/// Writes the bodies of all derived functions. Returns what they keep on tapes.
pub(super) fn differentiate(module: &mut Module) -> Result<Vec<KeptRecord>, Diagnostic> {
    differentiate_by(module, &Partials)
}

/// [`differentiate`], where reverse mode goes by these rules.
fn differentiate_by(
    module: &mut Module,
    rules: &dyn CoefficientProvider,
) -> Result<Vec<KeptRecord>, Diagnostic> {
    if module.functions.iter().all(|f| f.recipe.is_none()) {
        finish(module);
        return Ok(Vec::new());
    }
    for function in &mut module.functions {
        expand_slopes(function, true, |_| true);
    }
    substitute::substitute(module);
    let recursive = CallGraph::of_all(module).recursive;
    let orders = order::orders(module);
    let reads = MemoryReads::new(module);
    let shadows = screen::shadow_reads(module);
    let count = module.functions.len();
    let mut differentiator = Differentiator {
        module,
        rules,
        recursive,
        orders,
        reads,
        shadows,
        uses_tape: vec![false; count],
        forwards: FxHashMap::default(),
        pairs: FxHashMap::default(),
        queue: Vec::new(),
        deferred: Vec::new(),
        linear: FxHashSet::default(),
        making: Vec::new(),
        waiting: 0,
        instructions: 0,
        record_values: RecordValues::default(),
        reverse: Vec::new(),
    };
    match differentiator.run(count) {
        Ok(()) => {
            let values = differentiator.record_values;
            guards::weaken(differentiator.module, &differentiator.reverse);
            finish(module);
            Ok(tape_report::records(module, &values))
        }
        Err(loss) => Err(loss.diagnostic()),
    }
}

/// Whether nothing is left to be written.
pub(super) fn is_done(module: &Module) -> bool {
    let functions = &module.functions;
    let mut insts = (functions.iter().flat_map(|f| &f.regions)).flat_map(|region| &region.insts);
    let is_derived = |f: &Function| f.recipe.is_none() && f.custom.is_forward_alone();
    module.hints.0.is_empty()
        && functions.iter().all(is_derived)
        && !insts.any(|inst| inst.kind == InstKind::Detach)
}

/// Removes what only this pass reads.
fn finish(module: &mut Module) {
    module.hints = DerivativeHints::default();
    for function in &mut module.functions {
        function.recipe = None;
        function.custom = std::mem::take(&mut function.custom).forward_alone();
        let detaches = |inst: &Inst| inst.kind == InstKind::Detach;
        if function
            .regions
            .iter()
            .any(|r| r.insts.iter().any(detaches))
        {
            remove_detaches(function);
        }
    }
}

/// Replaces every `Detach` by its operand.
fn remove_detaches(function: &mut Function) {
    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    let mut aliases = super::replacement::Replacements::new(function.values.len());
    for region in order {
        let mut insts = std::mem::take(&mut function.regions[region.index()].insts);
        insts.retain_mut(|inst| {
            aliases.rewrite(inst);
            if inst.kind == InstKind::Detach {
                aliases.replace(inst.results.first, inst.args[0]);
                return false;
            }
            true
        });
        function.regions[region.index()].insts = insts;
    }
}

/// The state of the pass.
struct Differentiator<'m> {
    module: &'m mut Module,
    /// The rules of reverse mode.
    rules: &'m dyn CoefficientProvider,
    /// By function: whether it calls itself, perhaps through others.
    recursive: Vec<bool>,
    /// By function; of those that are made for others only the order.
    orders: Vec<FunctionOrder>,
    /// The memory of the host that functions read.
    reads: MemoryReads,
    /// By function: the directions of the shadows that it reads, itself or by those that it calls.
    shadows: Vec<Lanes>,
    /// By function: whether it is a sweep, or a derivative of one, that keeps or takes records
    /// which another takes or kept. What it does then flows where no call shows it.
    uses_tape: Vec<bool>,
    /// Forward derivatives that are made or being made.
    forwards: FxHashMap<(FuncId, Activity, Option<Direction>), FuncId>,
    /// The two sweeps of backward derivatives, by function and by the tape of their records.
    pairs: FxHashMap<(FuncId, Activity, TapeId), SweepPair>,
    /// Derived functions whose bodies are to be written.
    queue: Vec<FuncId>,
    /// Sweeps whose bodies are to be written.
    deferred: Vec<(FuncId, Activity, SweepPair)>,
    /// Functions that are linear in what is active, by the parameters that are 0.
    linear: FxHashSet<(FuncId, Activity, Vec<bool>)>,
    /// Functions whose bodies are being written.
    making: Vec<FuncId>,
    /// How many functions wait for the sweeps of those that they call.
    waiting: usize,
    /// Instructions of all derived functions so far.
    instructions: usize,
    /// What records have, for the report.
    record_values: RecordValues,
    /// Functions that end in a reverse sweep, once they are written.
    reverse: Vec<ReverseFunction>,
}

/// The two sweeps of a function's backward derivative.
#[derive(Clone, Debug)]
struct SweepPair {
    /// The primal function with what it keeps as further results.
    forward_sweep: FuncId,
    /// From what is kept and the cotangents of active results to the gradients of active
    /// parameters; each active array parameter has an `InOut` array of its cotangents.
    reverse_sweep: FuncId,
    /// Types of the kept values; empty if they are on the tape.
    kept: Vec<Scalar>,
    tape: TapeId,
}

impl Differentiator<'_> {
    fn run(&mut self, count: usize) -> Result<(), Loss> {
        self.check_orders()?;
        for id in (0..count as u32).map(FuncId).rev() {
            if self.function(id).recipe.is_some() {
                self.queue.push(id);
            }
        }
        loop {
            if let Some(id) = self.queue.pop() {
                self.make(id)?;
            } else if let Some((of, activity, pair)) = self.deferred.pop() {
                self.make_sweeps(of, &activity, pair.tape, Some(&pair))?;
            } else {
                return Ok(());
            }
        }
    }

    /// The record with a tangent after the fields for each float, for derivatives of a function.
    fn record_with_tangents(&mut self, of: &Function, record: RecordId) -> Result<RecordId, Loss> {
        let fields = &self.module.records[record.index()].fields;
        let mut types: Vec<Scalar> = fields.iter().map(|field| field.ty).collect();
        types.extend(self.floats_of(record));
        self.record(of, types)
    }

    /// The floats of a record.
    fn floats_of(&self, record: RecordId) -> Vec<Scalar> {
        let fields = self.module.records[record.index()].fields.iter();
        let types = fields.map(|field| field.ty);
        types.filter(|&ty| ty == Scalar::F32).collect()
    }

    /// The record of these types, for derivatives of a function.
    fn record(&mut self, of: &Function, types: Vec<Scalar>) -> Result<RecordId, Loss> {
        if types.len() > MAX_RECORD_FIELDS {
            return Err(too_large(of, DerivedLimit::RecordFields));
        }
        let record = Record {
            fields: results(types),
        };
        let records = &mut self.module.records;
        let found = records.iter().position(|known| *known == record);
        let id = found.unwrap_or_else(|| {
            records.push(record);
            records.len() - 1
        });
        Ok(RecordId(id as u32))
    }

    /// Whether derivatives are differentiated again.
    fn nests(&self) -> bool {
        self.orders.iter().any(|own| own.nests())
    }

    fn function(&self, id: FuncId) -> &Function {
        self.module.function(id)
    }

    /// What calls do in the graph of a derivative, along the screen or not.
    fn wiring(&self, screen: Option<Direction>) -> DerivativeWiring<'_> {
        DerivativeWiring {
            screen,
            shadows: &self.shadows,
            functions: &self.module.functions,
            uses_tape: &self.uses_tape,
            rules: self.rules,
            reads: &self.reads,
        }
    }

    /// The activity of a call whose slots are active like this: none if nothing is, but everything
    /// if the callee uses the tape, so that both of its sweeps agree. With tangents along the
    /// screen, a call of what reads them is wanted for that.
    fn wanted(
        &self,
        callee: FuncId,
        mut active: Activity,
        screen: Option<Direction>,
    ) -> Option<Activity> {
        let function = self.function(callee);
        if self.uses_tape[callee.index()] {
            let float = |ty: Scalar| ty == Scalar::F32;
            let params = function.params().iter();
            return Some(Activity {
                params: params.map(|&p| float(function.value(p).ty)).collect(),
                results: function.results.iter().map(|r| float(r.ty)).collect(),
                arrays: active.arrays,
                memory: active.memory,
            });
        }
        if !self.reads.any(callee, &active.memory) {
            active.memory = ActiveMemory::default();
        }
        let is_plain = match screen {
            Some(_) => !self.wiring(screen).reads_shadows(callee) && active.lacks_outs(function),
            None => function.custom.is_zero || active.lacks_outs(function),
        };
        (!is_plain && !active.lacks_ins(function)).then_some(active)
    }

    /// Whether a function keeps or takes records, or calls one that others must know of.
    fn has_tape(&self, function: &Function) -> bool {
        let insts = function.regions.iter().flat_map(|region| &region.insts);
        let mut kinds = insts.map(|inst| &inst.kind);
        kinds.any(|kind| match kind {
            InstKind::Call(callee, _) => self.uses_tape[callee.index()],
            kind => kind.effect() == Effect::UsesTape,
        })
    }

    /// Writes the body of a derived function, and of those that it is a derivative of.
    fn make(&mut self, id: FuncId) -> Result<(), Loss> {
        let mut path = vec![id];
        while let Some(&at) = path.last() {
            let Some(recipe) = self.function(at).recipe.clone() else {
                path.pop();
                continue;
            };
            let of = recipe.of;
            if self.function(of).recipe.is_some() {
                if path.contains(&of) {
                    return Err(self.of_itself(of));
                }
                if path.len() > usize::from(MAX_ORDER) {
                    return Err(self.order_too_high(of));
                }
                path.push(of);
                continue;
            }
            if self.making.contains(&at) {
                return Err(self.of_itself(at));
            }
            path.pop();
            self.making.push(at);
            self.write(at, &recipe, of)?;
            self.making.pop();
        }
        Ok(())
    }

    /// The error of a derivative that needs itself.
    fn of_itself(&self, id: FuncId) -> Loss {
        let function = self.function(id);
        Loss::OfItself {
            name: primal_name(&function.name).to_owned(),
            span: function.span,
        }
    }

    fn order_too_high(&self, id: FuncId) -> Loss {
        let function = self.function(id);
        Loss::OrderTooHigh {
            name: primal_name(&function.name).to_owned(),
            span: function.span,
        }
    }

    /// Writes the body of a derived function whose primal function is complete.
    fn write(&mut self, id: FuncId, recipe: &Recipe, of: FuncId) -> Result<(), Loss> {
        self.complete(of)?;
        let primal = self.function(of).clone();
        // The derivative of a function with custom ones is that of a function which only calls it;
        // but shadows are those of its body.
        let is_own = primal.custom == CustomDerivatives::default() || recipe.screen.is_some();
        let primal = match is_own {
            true => primal,
            false => caller_of(&primal, of),
        };
        let made = match recipe.mode {
            DifferentiationMode::Forward => {
                let name = self.function(id).name.clone();
                forward::forward(self, name, &primal, &recipe.activity, recipe.screen)?
            }
            DifferentiationMode::Backward => {
                let tape = self.tape(of);
                reverse::backward(self, id, &primal, recipe, tape)?
            }
        };
        self.put(id, made)
    }

    /// Puts a body in place of a placeholder.
    fn put(&mut self, id: FuncId, mut made: Function) -> Result<(), Loss> {
        self.instructions += made.regions.iter().map(|r| r.insts.len()).sum::<usize>();
        if self.instructions > MAX_DERIVED_INSTRUCTIONS {
            return Err(too_large(self.function(id), DerivedLimit::Instructions));
        }
        let elements: u64 = made.arrays.iter().map(|array| u64::from(array.len)).sum();
        if elements > MAX_ARRAY_ELEMENTS {
            return Err(too_large(self.function(id), DerivedLimit::ArrayElements));
        }
        let place = &mut self.module.functions[id.index()];
        made.members = std::mem::take(&mut place.members);
        made.span = place.span;
        made.library = place.library;
        *place = made;
        Ok(())
    }

    /// Adds a function that is made later.
    fn reserve(&mut self, primal: FuncId, function: Function) -> Result<FuncId, Loss> {
        let order = self.next_order(primal)?;
        let id = FuncId(self.module.functions.len() as u32);
        self.module.functions.push(function);
        self.recursive.push(self.recursive[primal.index()]);
        self.reads.push_like(primal);
        self.shadows.push(self.shadows[primal.index()]);
        self.uses_tape.push(false);
        self.orders.push(order);
        Ok(id)
    }

    /// The forward derivative of a function, along the screen or not, which need not be made yet.
    fn forward_of(
        &mut self,
        of: FuncId,
        activity: &Activity,
        screen: Option<Direction>,
    ) -> Result<FuncId, Loss> {
        let key = (of, activity.clone(), screen);
        if let Some(&id) = self.forwards.get(&key) {
            return Ok(id);
        }
        let recipe = Recipe {
            mode: DifferentiationMode::Forward,
            of,
            activity: activity.clone(),
            with_results: false,
            screen,
        };
        let placeholder = forward_placeholder(self.function(of), recipe);
        let id = self.reserve(of, placeholder)?;
        self.uses_tape[id.index()] = self.uses_tape[of.index()];
        self.forwards.insert(key, id);
        self.queue.push(id);
        Ok(id)
    }
}

/// The error that derivatives of a function are beyond a limit.
fn too_large(function: &Function, limit: DerivedLimit) -> Loss {
    Loss::TooLarge {
        name: primal_name(&function.name).to_owned(),
        span: function.span,
        limit,
    }
}

/// What the names of sweeps end with.
const FORWARD_SWEEP: &str = ".forward_sweep";
const REVERSE_SWEEP: &str = ".reverse_sweep";

/// The name of the function that a derivative, or a sweep, is one of.
fn primal_name(mut name: &str) -> &str {
    fn inner(name: &str) -> Option<&str> {
        let derivative = name
            .strip_prefix("fwd_diff(")
            .or(name.strip_prefix("bwd_diff("));
        derivative
            .and_then(|name| name.strip_suffix(')'))
            .or(name.strip_suffix(FORWARD_SWEEP))
            .or(name.strip_suffix(REVERSE_SWEEP))
    }
    while let Some(inner) = inner(name) {
        name = inner;
    }
    name
}

/// Results, or fields of a record, of these types, without lanes.
fn results(types: impl IntoIterator<Item = Scalar>) -> Vec<FuncResult> {
    let result = |ty| FuncResult {
        ty,
        lanes: Lanes::NONE,
    };
    types.into_iter().map(result).collect()
}

/// The number of active slots.
fn count(active: &[bool]) -> usize {
    active.iter().filter(|active| **active).count()
}
