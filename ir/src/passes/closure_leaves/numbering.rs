//! The numbers of a function's leaves: by place, so that those within a branch follow each other.

use super::{LeafSummary, MAX_CLOSURE_LEAVES, MadeLeaf, refused};
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;
use std::collections::HashMap;
use std::ops::Range;

/// The leaves that a function makes, and where.
#[derive(Debug)]
pub(super) struct Numbering {
    /// In the order of the text.
    pub(super) leaves: Vec<MadeLeaf>,
    /// By region: the numbers of the leaves that are made within it.
    within: Vec<Range<usize>>,
    /// The first leaf of each instruction that makes some, by region and position.
    first: HashMap<(RegionId, usize), usize>,
}

impl Numbering {
    /// Numbers the leaves of a function whose callees are summarised.
    ///
    /// # Errors
    /// If the function does with closures what has no fixed leaves.
    pub(super) fn new(
        module: &Module,
        id: FuncId,
        summaries: &[LeafSummary],
    ) -> Result<Numbering, Box<Diagnostic>> {
        let function = module.function(id);
        check(module, function)?;
        let mut order = Vec::new();
        function.for_each_region(|region| order.push(region));
        let made_by = |inst: &Inst| match inst.kind {
            InstKind::MakeClosure(_) => 1,
            InstKind::Call(callee, _) => summaries[callee.index()].leaves.len(),
            _ => 0,
        };
        // Nested regions come after those around them.
        let mut counts = vec![0_usize; function.regions.len()];
        for &region in order.iter().rev() {
            for inst in &function.region(region).insts {
                let nested: usize = inst.kind.regions().map(|at| counts[at.index()]).sum();
                if nested > 0 && matches!(inst.kind, InstKind::Loop(_)) {
                    let help = "make it after the loop, of the sums that the loop computes; or make each by a statement of its own";
                    return Err(refused(
                        first_within(function, inst, &counts, made_by),
                        "a closure that a loop makes has no fixed leaves",
                        help,
                    ));
                }
                counts[region.index()] =
                    counts[region.index()].saturating_add(nested + made_by(inst));
            }
        }
        let all = counts[function.body.index()];
        if all > MAX_CLOSURE_LEAVES {
            let message = format!("a closure of {all} leaves, which is too many");
            let help = format!("at most {MAX_CLOSURE_LEAVES} leaves have weights that are outputs");
            return Err(refused(function.span, message, &help));
        }
        let mut numbering = Numbering {
            leaves: Vec::with_capacity(all),
            within: vec![0..0; function.regions.len()],
            first: HashMap::new(),
        };
        let unmade = MadeLeaf {
            shape: ClosureId::default(),
            span: function.span,
        };
        numbering.leaves.resize(all, unmade);
        numbering.within[function.body.index()] = 0..all;
        for &region in &order {
            let mut next = numbering.within[region.index()].start;
            for (at, inst) in function.region(region).insts.iter().enumerate() {
                for nested in inst.kind.regions() {
                    let end = next + counts[nested.index()];
                    numbering.within[nested.index()] = next..end;
                    next = end;
                }
                let count = made_by(inst);
                if count == 0 {
                    continue;
                }
                numbering.first.insert((region, at), next);
                let made = &mut numbering.leaves[next..next + count];
                match inst.kind {
                    InstKind::Call(callee, _) => {
                        made.copy_from_slice(&summaries[callee.index()].leaves);
                    }
                    InstKind::MakeClosure(shape) => {
                        made[0] = MadeLeaf {
                            shape,
                            span: inst.span,
                        };
                    }
                    _ => {}
                }
                next += count;
            }
        }
        Ok(numbering)
    }

    /// The first leaf that an instruction makes, by its region and position.
    pub(super) fn first(&self, region: RegionId, at: usize) -> usize {
        self.first.get(&(region, at)).copied().unwrap_or_default()
    }

    /// The leaves that are made within the regions of an instruction.
    pub(super) fn within(&self, kind: &InstKind) -> Range<usize> {
        let mut regions = kind.regions().map(|region| &self.within[region.index()]);
        let first = regions.next().cloned().unwrap_or_default();
        match regions.next() {
            Some(second) => first.start..second.end,
            None => first,
        }
    }
}

/// The place of the first leaf within an instruction's regions.
fn first_within(
    function: &Function,
    around: &Inst,
    counts: &[usize],
    made_by: impl Fn(&Inst) -> usize,
) -> Span {
    let mut inst = around;
    loop {
        let makes = |inst: &&Inst| {
            let mut nested = inst.kind.regions();
            made_by(inst) > 0 || nested.any(|region| counts[region.index()] > 0)
        };
        let regions = inst.kind.regions();
        let mut insts = regions.flat_map(|region| &function.region(region).insts);
        match insts.find(makes) {
            Some(next) => inst = next,
            None => return inst.span,
        }
    }
}

/// Checks what a function does with closures.
fn check(module: &Module, function: &Function) -> Result<(), Box<Diagnostic>> {
    if function.recipe.is_some() || function.custom != CustomDerivatives::default() {
        let help = "leave closures out of the function: pass it what they are made of";
        return Err(refused(
            function.span,
            "closures go through a function with a derivative of its own",
            help,
        ));
    }
    let mut arrays = function.arrays.iter();
    if let Some(array) = arrays.find(|array| array.element == Scalar::Closure) {
        let help = "write a variable for each";
        return Err(refused(
            array.span,
            "closures in an array have no fixed leaves",
            help,
        ));
    }
    let insts = function.regions.iter().flat_map(|region| &region.insts);
    for inst in insts {
        let mut args = inst.args.iter();
        if let InstKind::MakeClosure(shape) = inst.kind
            && args.any(|&arg| function.value(arg).ty == Scalar::Closure)
        {
            let name = &module.closures[shape.index()].name;
            let message = format!("`{name}` has a closure among its arguments");
            let help =
                "leaves have weights only if no other closure is between them and the output";
            return Err(refused(inst.span, message, help));
        }
    }
    Ok(())
}
