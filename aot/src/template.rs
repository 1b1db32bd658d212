//! Templates: the algorithm of an op as a graph of its operands.
//!
//! Each is traced once, by running the op on [`TracedFloat`] or [`TracedWord`], and copied to each
//! use of the op, in any program. Its slow paths become routines, which all copies in a program's
//! code share.

use crate::graph::{Graph, Node, NodeId, NodeOp};
use crate::tracer::{TracedFloat, TracedSlowPath, TracedWord, Tracer};
use adumbra_ops::definition::{BitOpDef, OpDef, OperandKind, tangent};
use adumbra_ops::field::{FloatField, WordField};
use adumbra_ops::{Op, OpVisitor};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

/// The most templates that are cached for later programs, for each kind of target. Programs rarely
/// have that many different ops.
const MAX_CACHED: usize = 1 << 10;

/// The most nodes of a program's ops. Further code is interpreted: noise is thousands of nodes, and
/// a shader of many noises would be gigabytes of machine code.
pub(crate) const MAX_PROGRAM_NODES: usize = 1 << 21;

/// Which shadows the result and each operand of an op have, along x and y: two bits each, the
/// result's lowest.
pub(crate) type ShadowMask = u16;

/// The value of an op, and those of its shadows that it has.
pub(crate) type TracedResults = [Option<NodeId>; 3];

/// An op as a graph. Its parameters are the operands, each followed by its shadows.
#[derive(Debug)]
struct Template {
    graph: Graph,
    /// The nodes of the fast path: those outside of slow paths.
    fast_path: Vec<Range<usize>>,
    slow_paths: Vec<TemplateSlowPath>,
    results: TracedResults,
}

/// A slow path of a template.
#[derive(Debug)]
struct TemplateSlowPath {
    /// Its arguments: the nodes before it that it reads and that are no constants.
    inputs: Vec<NodeId>,
    /// A graph of its own, whose parameters are the arguments, and its result.
    routine: (Graph, NodeId),
}

/// Templates by op and shadows.
type ByOp<T> = FxHashMap<(Op, ShadowMask), T>;

/// The templates of this process, for targets without saturating conversions and for those with.
static CACHE: [RwLock<ByOp<Arc<Template>>>; 2] =
    [const { RwLock::new(HashMap::with_hasher(FxBuildHasher)) }; 2];

/// The templates of a program's ops, and the routines of their slow paths.
#[derive(Debug)]
pub(crate) struct OpTemplates {
    saturates: bool,
    /// Each with the numbers of its slow paths' routines, once in use.
    by_op: ByOp<(Arc<Template>, Vec<Option<u32>>)>,
    /// A template and one of its slow paths.
    routines: Vec<(Arc<Template>, u32)>,
    numbers: Vec<NodeId>,
    /// How many nodes may still be copied; `None` once an op did not fit.
    remaining: Option<usize>,
}

/// Traces an op.
struct OpTracer<'p> {
    tracer: &'p RefCell<Tracer>,
    shadows: ShadowMask,
}

/// Whether operand `index` (0 is the result, 1 the first operand) has a shadow along a direction.
fn has(shadows: ShadowMask, index: usize, direction: usize) -> bool {
    shadows >> (2 * index + direction) & 1 == 1
}

impl<'p> OpTracer<'p> {
    /// The operands of a float op, and their shadows along each direction.
    fn float_params<const N: usize>(
        &self,
        kinds: &[OperandKind],
    ) -> ([TracedFloat<'p>; N], [[Option<TracedFloat<'p>>; N]; 2]) {
        let mut number = 0..;
        let mut next = || {
            let number = number.next().expect("there are more");
            TracedWord::param(self.tracer, number)
        };
        let mut along = [[None; N]; 2];
        let operands = std::array::from_fn(|i| {
            let value = next();
            for (direction, along) in along.iter_mut().enumerate() {
                along[i] = has(self.shadows, i + 1, direction).then(|| next().float());
            }
            match kinds[i] {
                OperandKind::Float => value.float(),
                // A boolean, 0 or 1.
                _ => value.i32_to_float(),
            }
        });
        (operands, along)
    }

    /// The operands of a bit op.
    fn bit_params<const N: usize>(&self) -> [TracedWord<'p>; N] {
        std::array::from_fn(|i| TracedWord::param(self.tracer, i as u32))
    }
}

impl OpVisitor for OpTracer<'_> {
    type Out = TracedResults;

    fn float<R: OpDef<N>, const N: usize>(self) -> TracedResults {
        let (operands, along) = self.float_params::<N>(R::INFO.operands);
        let id = |float: TracedFloat<'_>| Some(float.bits().id());
        if self.shadows & 3 == 0 {
            return [id(R::value(operands)), None, None];
        }
        let (value, partials) = R::value_and_partials(operands);
        let [x, y] = [0, 1].map(|direction| {
            has(self.shadows, 0, direction)
                .then(|| tangent(&partials, along[direction], value).bits().id())
        });
        [id(value), x, y]
    }

    fn bits<R: BitOpDef<N>, const N: usize>(self) -> TracedResults {
        let operands = self.bit_params();
        [Some(R::value(operands).id()), None, None]
    }
}

impl Template {
    fn new(op: Op, shadows: ShadowMask, saturates: bool) -> Template {
        let tracer = RefCell::new(Tracer::new(saturates));
        let results = op.visit(OpTracer {
            tracer: &tracer,
            shadows,
        });
        let (graph, traced) = tracer.borrow_mut().take();
        let mut fast_path = Vec::with_capacity(traced.len() + 1);
        let mut start = 0;
        for TracedSlowPath { nodes, .. } in &traced {
            fast_path.push(start..nodes.start);
            start = nodes.end;
        }
        fast_path.push(start..graph.len());
        let slow_paths = traced
            .into_iter()
            .map(|traced| TemplateSlowPath::new(&graph, traced));
        Template {
            fast_path,
            slow_paths: slow_paths.collect(),
            results,
            graph,
        }
    }
}

impl TemplateSlowPath {
    fn new(graph: &Graph, traced: TracedSlowPath) -> TemplateSlowPath {
        let TracedSlowPath { nodes, result } = traced;
        let mut is_known = vec![false; nodes.start];
        let (mut inputs, mut constants) = (Vec::new(), Vec::new());
        let mut read = |id: NodeId| {
            let outside = is_known.get_mut(id as usize);
            if outside.is_some_and(|is_known| !std::mem::replace(is_known, true)) {
                match graph.node(id).op {
                    NodeOp::Const => constants.push(id),
                    _ => inputs.push(id),
                }
            }
        };
        for node in &graph.nodes[nodes.clone()] {
            node.for_each_operand(&mut read);
        }
        read(result);

        let params = (0..).map(|number| Node::new(NodeOp::Param, number, 0, 0));
        let known = constants.iter().map(|&id| graph.node(id));
        let mut own: Vec<Node> = params.take(inputs.len()).chain(known).collect();
        let mut numbers = vec![NodeId::MAX; nodes.end];
        for (&id, number) in inputs.iter().chain(&constants).zip(0..) {
            numbers[id as usize] = number;
        }
        own.reserve(nodes.len());
        for id in nodes {
            numbers[id] = own.len() as NodeId;
            own.push(graph.nodes[id].map_operands(|id| numbers[id as usize]));
        }
        TemplateSlowPath {
            inputs,
            routine: (Graph::from_nodes(own, graph), numbers[result as usize]),
        }
    }
}

/// The template of an op, from the cache or traced now.
fn template(op: Op, shadows: ShadowMask, saturates: bool) -> Arc<Template> {
    let cache = &CACHE[usize::from(saturates)];
    // A panic leaves the cache in order: it inserts whole templates only.
    let found = cache.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(template) = found.get(&(op, shadows)) {
        return Arc::clone(template);
    }
    drop(found);
    let template = Arc::new(Template::new(op, shadows, saturates));
    let mut cache = cache.write().unwrap_or_else(PoisonError::into_inner);
    if cache.len() < MAX_CACHED {
        cache.insert((op, shadows), Arc::clone(&template));
    }
    template
}

impl OpTemplates {
    /// No templates. `saturates` says whether the target has saturating conversions.
    pub(crate) fn new(saturates: bool) -> OpTemplates {
        OpTemplates {
            saturates,
            by_op: ByOp::default(),
            routines: Vec::new(),
            numbers: Vec::new(),
            remaining: Some(MAX_PROGRAM_NODES),
        }
    }

    /// Whether an op did not fit, and zeros replace it: the code that is being compiled is of no
    /// use.
    pub(crate) fn is_full(&self) -> bool {
        self.remaining.is_none()
    }

    /// A routine as a graph with parameters, and its result.
    pub(crate) fn routine(&self, number: u32) -> &(Graph, NodeId) {
        let (template, slow_path) = &self.routines[number as usize];
        &template.slow_paths[*slow_path as usize].routine
    }

    /// Copies the template of an op into a graph. Operands, each followed by its shadows, are nodes
    /// of the graph.
    pub(crate) fn instantiate(
        &mut self,
        op: Op,
        shadows: ShadowMask,
        operands: &[NodeId],
        to: &mut Graph,
    ) -> TracedResults {
        let OpTemplates {
            saturates,
            by_op,
            routines,
            numbers,
            remaining,
        } = self;
        let (template, own) = by_op.entry((op, shadows)).or_insert_with(|| {
            let template = template(op, shadows, *saturates);
            let own = vec![None; template.slow_paths.len()];
            (template, own)
        });
        let Template {
            graph,
            fast_path,
            slow_paths,
            results,
        } = &**template;
        *remaining = remaining.and_then(|remaining| remaining.checked_sub(graph.len()));
        if remaining.is_none() {
            let zero = to.constant(0);
            return results.map(|id| id.map(|_| zero));
        }
        numbers.resize(numbers.len().max(graph.len()), NodeId::MAX);
        for range in fast_path {
            for (at, node) in range.clone().zip(&graph.nodes[range.clone()]) {
                let Node {
                    op: node_op,
                    a,
                    b,
                    c,
                } = *node;
                numbers[at] = match node_op {
                    NodeOp::Param => operands[a as usize],
                    NodeOp::SlowPath => {
                        let (mask, fast) = (numbers[a as usize], numbers[b as usize]);
                        let never = to.node(mask) == Node::new(NodeOp::Const, 0, 0, 0);
                        if never {
                            fast
                        } else {
                            let routine = *own[c as usize].get_or_insert_with(|| {
                                routines.push((Arc::clone(template), c));
                                routines.len() as u32 - 1
                            });
                            let inputs = slow_paths[c as usize].inputs.iter();
                            let inputs = inputs.map(|&id| numbers[id as usize]);
                            to.slow_path(mask, fast, routine, inputs)
                        }
                    }
                    NodeOp::Lookup => {
                        let table = to.table(graph.tables[b as usize]);
                        to.push(NodeOp::Lookup, numbers[a as usize], table, 0)
                    }
                    _ => {
                        let node = node.map_operands(|id| numbers[id as usize]);
                        to.push(node_op, node.a, node.b, node.c)
                    }
                };
            }
        }
        results.map(|id| id.map(|id| numbers[id as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_cache_is_bounded() {
        let operands = |shadows: ShadowMask| (1..8).fold(0, |all, i| all | shadows >> (2 * i) & 3);
        let patterns = |op: Op| {
            let all = 0..1 << (2 + 2 * op.arity());
            all.filter(move |&shadows| shadows & 3 & !operands(shadows) == 0)
        };
        let ops = Op::ALL
            .iter()
            .flat_map(|&op| patterns(op).map(move |s| (op, s)));
        let ops: Vec<(Op, ShadowMask)> = ops.take(MAX_CACHED + 100).collect();
        assert_eq!(ops.len(), MAX_CACHED + 100);
        for saturates in [false, true] {
            for &(op, shadows) in &ops {
                let fresh = Template::new(op, shadows, saturates);
                for _ in 0..2 {
                    let found = template(op, shadows, saturates);
                    assert_eq!(found.graph.nodes, fresh.graph.nodes, "{op:?} {shadows:b}");
                }
            }
            let cache = CACHE[usize::from(saturates)].read().unwrap();
            assert_eq!(cache.len(), MAX_CACHED);
        }
    }
}
