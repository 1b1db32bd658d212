//! The closures of a whole batch: the leaves of all points, kind by kind.

use super::{BatchError, BatchReport, WholeBatch};
use crate::access::{ClosureSlot, Fingerprint};
use crate::batch::{BatchEvaluator, BatchGlobals};
use crate::program::Program;
use adumbra_ir::Scalar;
use adumbra_ir::host::Host;
use std::ops::Range;

/// The leaves of one kind that a closure has at the points of a batch, in the order of the points,
/// and of a point in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosureLeaves {
    points: Vec<u64>,
    weights: Vec<[f32; 3]>,
    arguments: Vec<u32>,
    width: usize,
}

impl ClosureLeaves {
    /// How many leaves there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// By leaf, the number of its point.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// By leaf, the product of all numbers and colours on the way to it; their sum, if it is
    /// reached along several ways. Leaves with weight 0 are left out.
    pub fn weights(&self) -> &[[f32; 3]] {
        &self.weights
    }

    /// The scalars of the arguments, leaf by leaf: [`width`](ClosureLeaves::width) words each.
    pub fn arguments(&self) -> &[u32] {
        &self.arguments
    }

    /// The number of scalars that the arguments of a leaf have.
    pub fn width(&self) -> usize {
        self.width
    }

    /// No leaves of each kind of a program.
    fn none_of(program: &Program) -> Vec<ClosureLeaves> {
        let width = program.closures().iter().map(|shape| {
            let scalars = shape.params.iter().map(adumbra_ir::Type::scalar_count);
            scalars.sum()
        });
        let none = |width| ClosureLeaves {
            width,
            ..ClosureLeaves::default()
        };
        width.map(none).collect()
    }

    fn append(&mut self, other: &mut ClosureLeaves) {
        self.points.append(&mut other.points);
        self.weights.append(&mut other.weights);
        self.arguments.append(&mut other.arguments);
    }
}

/// The leaves that a thread has found: by block, and there by kind.
#[derive(Default)]
struct FoundLeaves {
    blocks: Vec<(usize, Vec<ClosureLeaves>)>,
    weights: Vec<[f32; 3]>,
}

impl WholeBatch {
    /// Evaluates these points, and lists the leaves of an output of type closure: of each kind, in
    /// the order of [`Program::closures`], those of all points. Trees are flattened: a leaf has the
    /// product of all that it is multiplied by. Points that were stopped, or that the host leaves
    /// waiting, have none.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// use adumbra::batch::{BatchGlobals, Part, WholeBatch};
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let source = "shader s(out closure c) {
    ///     float x = global_value<x>;
    ///     c = 0.5 * make_closure<diffuse>();
    ///     if (x > 1.0) c += color(x, 0, 1) * make_closure<glossy>(x, 2.0 * x);
    /// }";
    /// let program = Compiler::new(layout).compile(&Sources::new("s.adu", source))?;
    /// let x = [0.0_f32, 3.0, 1.0, 2.0];
    /// let mut globals = BatchGlobals::new(program.globals());
    /// globals.plane("x", Part::Value, 0, &x, 1)?;
    /// let batch = WholeBatch::new(&Instance::new(&program)).threads(2);
    /// let (leaves, _) = batch.closures(&globals, 0..4, "c", || NoTextures)?;
    ///
    /// let kind = |name: &str| program.closures().iter().position(|shape| shape.name == name);
    /// let glossy = &leaves[kind("glossy").unwrap()];
    /// assert_eq!((leaves[kind("diffuse").unwrap()].len(), glossy.points()), (4, &[1, 3][..]));
    /// assert_eq!(glossy.weights(), [[3.0, 0.0, 1.0], [2.0, 0.0, 1.0]]);
    /// assert_eq!(glossy.arguments(), [3.0_f32, 6.0, 2.0, 4.0].map(f32::to_bits));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such output, or it is no closure; if a kind has a closure as an argument,
    /// which is read point by point; if a plane of the globals is too short.
    ///
    /// # Panics
    /// If a host panics.
    pub fn closures<H: Host>(
        &self,
        globals: &BatchGlobals<'_>,
        points: Range<usize>,
        output: &str,
        host: impl Fn() -> H + Sync,
    ) -> Result<(Vec<ClosureLeaves>, BatchReport), BatchError> {
        self.check_globals(globals, &points)?;
        let program = self.instance.program();
        let slot: ClosureSlot = program.closure_slot(output)?;
        for shape in program.closures() {
            let mut is_nested = false;
            for param in &shape.params {
                param.for_each_scalar(&mut |scalar| is_nested |= scalar == Scalar::Closure);
            }
            if is_nested {
                return Err(BatchError::NestedClosure(shape.name.clone()));
            }
        }
        let before = slot.offset(Fingerprint::of(program.outputs()));
        let add =
            |block: usize, evaluator: &BatchEvaluator, within: usize, found: &mut FoundLeaves| {
                if found.blocks.last().is_none_or(|(last, _)| *last != block) {
                    let none = ClosureLeaves::none_of(program);
                    found.blocks.push((block, none));
                }
                let Some((_, kinds)) = found.blocks.last_mut() else {
                    return;
                };
                let first = self.number_of(&points, block, within);
                for point in 0..evaluator.outcomes().len() {
                    let closure = evaluator.closure_at(before, point);
                    for (weight, leaf) in closure.leaves(&mut found.weights) {
                        let kind = &mut kinds[leaf.shape()];
                        kind.points.push(first + point as u64);
                        kind.weights.push(weight);
                        kind.arguments.extend(leaf.words());
                    }
                }
            };
        let done = self.on_threads(globals, &points, &host, FoundLeaves::default, add)?;
        let found = done.states.into_iter().flat_map(|found| found.blocks);
        let mut blocks: Vec<(usize, Vec<ClosureLeaves>)> = found.collect();
        blocks.sort_unstable_by_key(|(block, _)| *block);
        let mut all = ClosureLeaves::none_of(program);
        for (_, mut kinds) in blocks {
            for (all, kind) in all.iter_mut().zip(&mut kinds) {
                all.append(kind);
            }
        }
        Ok((all, done.report))
    }
}
