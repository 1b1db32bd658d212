//! Templates: what a row computes, as a graph of its operands. Each is written down once, by running the row on [`Floats`] or [`Words`], and copied to
//! wherever the row occurs. Its rare ways become routines, which all copies share.

use crate::graph::{Code, Detour, Graph, Id, Node};
use crate::lane::{Floats, Pad, Rare, Words};
use adumbra_ir::ops::field::{Lane, Word};
use adumbra_ir::ops::row::{Kind, Row, WordRow, tangent};
use adumbra_ir::ops::{Op, OpVisitor};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;

/// Which shadows a row's result and each of its operands have, along x and y: two bits each, the result's lowest.
pub(crate) type Shadows = u16;

/// The value of a row, and those of its shadows that it has.
pub(crate) type Results = [Option<Id>; 3];

/// A row as a graph. Its parameters are the operands, each followed by its shadows.
#[derive(Debug)]
struct Template {
    graph: Graph,
    /// The nodes that are computed in any case: those between the rare ways.
    usual: Vec<Range<usize>>,
    ways: Vec<RareWay>,
    results: Results,
}

/// A rare way of a template.
#[derive(Debug)]
struct RareWay {
    nodes: Range<usize>,
    result: Id,
    /// The nodes before it that it reads: what it is given, and constants.
    inputs: Vec<Id>,
    constants: Vec<Id>,
    /// That of its routine, once somebody may take it.
    number: Option<u32>,
}

/// Rows as they were written down, and the routines for rare ways.
#[derive(Debug)]
pub(crate) struct Templates {
    /// What rows are written down on.
    pad: RefCell<Pad>,
    by_row: FxHashMap<(Op, Shadows), Template>,
    /// A graph with parameters, and its result.
    pub(crate) routines: Vec<(Graph, Id)>,
    numbers: Vec<Id>,
}

/// Writes a row down.
struct Write<'p> {
    pad: &'p RefCell<Pad>,
    shadows: Shadows,
}

/// Whether operand `index` (0 is the result, 1 the first operand) has a shadow along a direction.
fn has(shadows: Shadows, index: usize, direction: usize) -> bool {
    shadows >> (2 * index + direction) & 1 == 1
}

impl OpVisitor for Write<'_> {
    type Out = Results;

    fn float<R: Row<N>, const N: usize>(self) -> Results {
        let mut number = 0..;
        let mut next = || {
            let number = number.next().expect("there are more");
            Words::param(self.pad, number)
        };
        let mut along = [[None; N]; 2];
        let mut operand = |i: usize| {
            let value = next();
            for (direction, along) in along.iter_mut().enumerate() {
                along[i] = has(self.shadows, i + 1, direction).then(|| next().float());
            }
            match R::INFO.operands[i] {
                Kind::Float => value.float(),
                // A truth value, 0 or 1.
                _ => value.i32_to_float(),
            }
        };
        let operands: [Floats<'_>; N] = std::array::from_fn(&mut operand);
        let id = |float: Floats<'_>| Some(float.bits().id());
        if self.shadows & 3 == 0 {
            return [id(R::value(operands)), None, None];
        }
        let (value, partials) = R::both(operands);
        let [x, y] = [0, 1].map(|direction| {
            has(self.shadows, 0, direction).then(|| {
                tangent(R::INFO.singular, &partials, along[direction], value)
                    .bits()
                    .id()
            })
        });
        [id(value), x, y]
    }

    fn word<R: WordRow<N>, const N: usize>(self) -> Results {
        let operands = std::array::from_fn(|i| Words::param(self.pad, i as u32));
        [Some(R::value(operands).id()), None, None]
    }
}

impl Template {
    fn new(op: Op, shadows: Shadows, pad: &RefCell<Pad>) -> Template {
        let results = op.visit(Write { pad, shadows });
        let (graph, rare) = pad.borrow_mut().take();
        let mut usual = Vec::with_capacity(rare.len() + 1);
        let mut start = 0;
        for Rare { nodes, .. } in &rare {
            usual.push(start..nodes.start);
            start = nodes.end;
        }
        usual.push(start..graph.len());
        let ways = rare.into_iter().map(|rare| RareWay::new(&graph, rare));
        Template {
            usual,
            ways: ways.collect(),
            results,
            graph,
        }
    }
}

impl RareWay {
    fn new(graph: &Graph, rare: Rare) -> RareWay {
        let Rare { nodes, result } = rare;
        let mut is_known = vec![false; nodes.start];
        let (mut inputs, mut constants) = (Vec::new(), Vec::new());
        let mut read = |id: Id| {
            let outside = is_known.get_mut(id as usize);
            if outside.is_some_and(|is_known| !std::mem::replace(is_known, true)) {
                match graph.node(id).code {
                    Code::Const => constants.push(id),
                    _ => inputs.push(id),
                }
            }
        };
        for node in &graph.nodes[nodes.clone()] {
            node.each_operand(&mut read);
        }
        read(result);
        RareWay {
            nodes,
            result,
            inputs,
            constants,
            number: None,
        }
    }

    /// As a graph of its own, whose parameters are what it is given, and its result.
    fn routine(&self, graph: &Graph) -> (Graph, Id) {
        let params = (0..).map(|number| Node::new(Code::Param, number, 0, 0));
        let constants = self.constants.iter().map(|&id| graph.node(id));
        let mut nodes: Vec<Node> = params.take(self.inputs.len()).chain(constants).collect();
        let mut numbers = vec![Id::MAX; self.nodes.end];
        for (&id, number) in self.inputs.iter().chain(&self.constants).zip(0..) {
            numbers[id as usize] = number;
        }
        nodes.reserve(self.nodes.len());
        for id in self.nodes.clone() {
            numbers[id] = nodes.len() as Id;
            nodes.push(graph.nodes[id].renamed(|id| numbers[id as usize]));
        }
        let result = numbers[self.result as usize];
        (Graph::of(nodes, graph), result)
    }
}

impl Templates {
    /// None yet. Says whether the machine has instructions for conversions that saturate.
    pub(crate) fn new(saturates: bool) -> Templates {
        Templates {
            pad: RefCell::new(Pad::new(saturates)),
            by_row: FxHashMap::default(),
            routines: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Copies a row into a graph. Operands, each followed by its shadows, are nodes of the graph.
    pub(crate) fn copy(
        &mut self,
        op: Op,
        shadows: Shadows,
        operands: &[Id],
        to: &mut Graph,
    ) -> Results {
        let Templates {
            pad,
            by_row,
            routines,
            numbers,
        } = self;
        let Template {
            graph,
            usual,
            ways,
            results,
        } = by_row
            .entry((op, shadows))
            .or_insert_with(|| Template::new(op, shadows, pad));
        numbers.resize(numbers.len().max(graph.len()), Id::MAX);
        for at in usual.iter().cloned().flatten() {
            let Node { code, a, b, c } = graph.nodes[at];
            numbers[at] = match code {
                Code::Param => operands[a as usize],
                Code::Rare => {
                    let (mask, fast) = (numbers[a as usize], numbers[b as usize]);
                    let never = to.node(mask) == Node::new(Code::Const, 0, 0, 0);
                    if never {
                        fast
                    } else {
                        let way = &mut ways[c as usize];
                        let routine = way.number.unwrap_or_else(|| {
                            routines.push(way.routine(graph));
                            routines.len() as u32 - 1
                        });
                        way.number = Some(routine);
                        let inputs = way.inputs.iter().map(|&id| numbers[id as usize]).collect();
                        to.detours.push(Detour { routine, inputs });
                        to.push(Code::Rare, mask, fast, to.detours.len() as u32 - 1)
                    }
                }
                Code::Lookup => {
                    let table = to.table(graph.tables[b as usize]);
                    to.push(Code::Lookup, numbers[a as usize], table, 0)
                }
                _ => {
                    let node = graph.nodes[at].renamed(|id| numbers[id as usize]);
                    to.push(code, node.a, node.b, node.c)
                }
            };
        }
        results.map(|id| id.map(|id| numbers[id as usize]))
    }
}
