//! The surface that a ray meets, as a decision: the *choices* of the field at the place, which are
//! the sides of `min` and `max`, and of comparisons, of which both operands vary with the place.
//!
//! Two rays that reach surfaces by the same choices reach the same one, as far as the field says.
//! A choice with one operand that does not vary is none: there the field is often the very distance
//! that is compared with 0, whose sign at the surface means nothing.
//!
//! Functions that the field calls are traced by copies, as those of a shader; those with
//! derivatives of their own choose nothing.

use super::rewrite::{Context, HASH, MARGIN, Natural, Rewriter};
use super::{DecisionKind, Tracing, is_open, take_function};
use crate::calls::CallGraph;
use crate::module::*;
use crate::types::Scalar;
use adumbra_ops::Op;

/// The scalars of a place, among the parameters of a function that marks a surface.
const PLACE: std::ops::Range<usize> = 4..7;

/// Adds functions that trace the choices of fields. Returns, by function, that of each one that
/// marks a surface.
pub(super) fn trace_choices(module: &mut Module) -> Vec<Option<FuncId>> {
    let count = module.functions.len();
    let is_mark = |id: &FuncId| module.function(*id).decides == Decides::Surface;
    let marks: Vec<FuncId> = CallGraph::new(module)
        .order
        .into_iter()
        .filter(is_mark)
        .collect();
    let mut surfaces = vec![None; count];
    if marks.is_empty() {
        return surfaces;
    }
    let mut order = CallGraph::of(module, marks.clone()).order;
    order.retain(|&id| marks.contains(&id) || is_open(module.function(id)));
    // Callers first, so that it is known what varies of what they pass.
    order.reverse();
    let mut varied: Vec<Vec<bool>> = (module.functions.iter())
        .map(|function| vec![false; function.region(function.body).params.len()])
        .collect();
    for mark in &marks {
        varied[mark.index()][PLACE].fill(true);
    }
    let mut copies = vec![None; count];
    let mut chosen: Vec<Vec<bool>> = Vec::with_capacity(order.len());
    for &id in &order {
        let copy = FuncId(module.functions.len() as u32);
        copies[id.index()] = Some(copy);
        chosen.push(choices(module, id, &mut varied));
        let mut function = module.function(id).clone();
        function.decides = Decides::Own;
        module.functions.push(function);
    }
    let none = vec![None; count];
    let mut sites = Vec::new();
    for (id, is_chosen) in order.into_iter().zip(chosen) {
        let copy = copies[id.index()].expect("each has one");
        let function = take_function(module, copy);
        let context = Context {
            tracing: Tracing::Choices,
            globals: GlobalId(module.globals.len() as u32),
            copies: &copies,
            surfaces: &none,
        };
        let rewriter = Rewriter::new(function, is_chosen, context, &mut sites);
        module.functions[copy.index()] = rewriter.run(false);
        if marks.contains(&id) {
            surfaces[id.index()] = Some(copy);
        }
    }
    surfaces
}

/// By value of a function, whether it is what an op gives that chooses between values which vary.
/// Adds to what varies of the parameters of its callees.
fn choices(module: &Module, id: FuncId, varied: &mut [Vec<bool>]) -> Vec<bool> {
    let function = module.function(id);
    let mut varies = vec![false; function.values.len()];
    let mut chosen = vec![false; function.values.len()];
    let mut order = Vec::new();
    function.for_each_region(|region| order.push(region));
    let params = &function.region(function.body).params;
    for (&param, &is_varied) in params.iter().zip(&varied[id.index()]) {
        varies[param.index()] = is_varied;
    }
    for &region in &order {
        // What loops carry may come to vary.
        if region != function.body {
            for param in &function.region(region).params {
                varies[param.index()] = true;
            }
        }
    }
    for inst in order
        .iter()
        .flat_map(|&region| &function.region(region).insts)
    {
        let mut args = inst.args.iter().map(|arg| varies[arg.index()]);
        let is_varied = match &inst.kind {
            InstKind::Call(callee, _) => {
                let of_callee = &mut varied[callee.index()];
                for (known, is_varied) in of_callee.iter_mut().zip(args) {
                    *known |= is_varied;
                }
                true
            }
            InstKind::If(..) | InstKind::Loop(_) | InstKind::Block(_) => true,
            InstKind::Op(Op::Min | Op::Max | Op::FLt | Op::FLe) => {
                let are_both = args.clone().all(|is_varied| is_varied);
                chosen[inst.results.first.index()] = are_both;
                args.any(|is_varied| is_varied)
            }
            InstKind::Load(_) => true,
            _ => args.any(|is_varied| is_varied),
        };
        for result in inst.results.iter() {
            varies[result.index()] = is_varied;
        }
    }
    chosen
}

/// The arguments of a call that marks a surface: as [`Decides::Surface`] says.
struct SurfaceArguments {
    /// Where it is along the ray.
    depth: ValueId,
    /// The field there, with that held.
    field: ValueId,
    reaches: ValueId,
    grazes: ValueId,
}

impl SurfaceArguments {
    fn of(args: &[ValueId]) -> SurfaceArguments {
        SurfaceArguments {
            depth: args[0],
            field: args[1],
            reaches: args[2],
            grazes: args[3],
        }
    }
}

impl Rewriter<'_> {
    /// Appends a choice of a field, and adds to the trace.
    pub(super) fn choose(&mut self, inst: Inst) {
        let (args, span, result) = (inst.args.clone(), inst.span, inst.results.first);
        // Where both are equal, derivatives are those of the first.
        let is_first = match inst.kind {
            InstKind::Op(Op::Min) => self.op(Op::FLe, &[args[0], args[1]], span),
            InstKind::Op(Op::Max) => self.op(Op::FLe, &[args[1], args[0]], span),
            _ => result,
        };
        self.out.push(inst);
        let mixed = self.mixed(result.0, Natural::Bool(is_first), span);
        let hashes = self.hashes(mixed, span);
        for (at, hash) in HASH.into_iter().zip(hashes) {
            self.trace[at] = hash;
        }
        let margin = self.op(Op::Sub, &args, span);
        let [own, least] = [margin, self.trace[MARGIN]].map(|of| self.op(Op::Abs, &[of], span));
        let is_least = self.op(Op::FLt, &[own, least], span);
        let least = [is_least, margin, self.trace[MARGIN]];
        self.trace[MARGIN] = self.op(Op::Select, &least, span);
    }

    /// Replaces a call that marks a surface by one that traces the choices of the field, and takes
    /// the decision: which surface it is, by those choices, if the ray reaches one.
    pub(super) fn meet_surface(&mut self, mut inst: Inst) {
        let InstKind::Call(callee, arrays) = inst.kind else {
            unreachable!("a call marks a surface");
        };
        let span = inst.span;
        let tracing = self.context.surfaces[callee.index()].expect("it marks a surface");
        inst.kind = InstKind::Call(tracing, arrays);
        let given = SurfaceArguments::of(&inst.args);
        // No choice yet, and none that is near.
        let types: Vec<Scalar> = Tracing::Choices
            .outputs()
            .into_iter()
            .map(|(_, ty)| ty)
            .collect();
        for (at, &ty) in types.iter().enumerate() {
            let bits = match at {
                MARGIN => f32::INFINITY.to_bits(),
                _ => 0,
            };
            let initial = self.constant(ty, bits, span);
            inst.args.push(initial);
        }
        let choices = self.push_with(inst, &types);
        let infinity = self.float(f32::INFINITY, span);
        let least = self.op(Op::Abs, &[choices[MARGIN]], span);
        let has_choice = self.op(Op::FLt, &[least, infinity], span);
        let grazes_not = self.op(Op::LNot, &[given.grazes], span);
        let is_crease = self.op(Op::And, &[has_choice, grazes_not], span);
        let moved_by = [is_crease, choices[MARGIN], given.field];
        let moved_by = self.op(Op::Select, &moved_by, span);
        let one = self.float(1.0, span);
        let margin = self.op(Op::Sloped, &[given.depth, one, moved_by], span);
        // Whole numbers that floats have, 0 where no surface is.
        let eight = self.constant(Scalar::U32, 8, span);
        let number = self.op(Op::Shr, &[choices[HASH[0]], eight], span);
        let number = self.op(Op::UToF, &[number], span);
        let number = self.op(Op::Add, &[number, one], span);
        let zero = self.float(0.0, span);
        let number = self.op(Op::Select, &[given.reaches, number, zero], span);
        self.take(
            Op::Sloped,
            DecisionKind::Surface,
            margin,
            Natural::Float(number),
            span,
        );
    }
}
