//! Lost shadows: floats from derivatives, textures and shadowless globals, and the places where
//! their derivatives are lost.
//!
//! A derivative of a read shadow would be second order, that of a texture's result is unknown, and
//! some globals' shadows no host sets: all count as 0. Each request for one gets a warning
//! ([`LostShadows::warnings`]). An output that contains a read shadow is marked, so that its
//! derivative is not printed ([`LostShadows::second_order`]).
//!
//! Assumes a verified module before any pass. The analysis follows floats on all paths; a
//! condition, an index or an int computed from a derivative passes nothing. Functions are
//! summarised by their parameters, callees first, so that calls do not mix. Functions that call
//! each other in a cycle are repeated to the fixpoint, at most [`MAX_CYCLE_ROUNDS`] times.

use crate::calls::{CallGraph, callees};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;

/// How often functions in a cycle are analysed. Longer paths of a value through recursion go
/// unnoticed.
pub(super) const MAX_CYCLE_ROUNDS: usize = 16;

/// Most places of a function that read derivatives of its parameters. Further ones go unnoticed by
/// its callers.
pub(super) const MAX_DERIVATIVE_READS: usize = 16;

/// Most names that a warning lists.
const MAX_NAMES: usize = 4;

/// Most warnings of one module.
pub(super) const MAX_WARNINGS: usize = 32;

/// The result of [`lost_shadows`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostShadows {
    /// Per scalar of the outputs, whether it contains a read shadow: then its own derivative is of
    /// second order.
    pub second_order: Vec<bool>,
    /// The places that request a derivative that counts as 0, in order of the source.
    pub warnings: Vec<Diagnostic>,
}

/// A set: parameters of the function (scalars, then arrays; the last bit is shared by all further
/// ones), globals with shadows and without, textures, derivatives. without, textures, derivatives.
type From = u64;

const DERIVATIVE: From = 1 << 63;
const TEXTURE: From = 1 << 62;
const SHADOWLESS: From = 1 << 61;
const SHADOWED: From = 1 << 60;
const LAST_PARAM: u32 = 59;
const PARAMS: From = SHADOWED - 1;

/// The other bits that decide whether a derivative is 0 for lack of shadows.
const GLOBALS: From = SHADOWLESS | SHADOWED;

const fn param(index: usize) -> From {
    1 << if index < LAST_PARAM as usize {
        index as u32
    } else {
        LAST_PARAM
    }
}

/// A place that requests a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ask {
    from: From,
    span: Span,
    /// For texture coordinates, rather than by name.
    by_sample: bool,
}

/// The summary of a function for its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    /// Per scalar result.
    results: Vec<From>,
    /// Per array parameter, what it holds in the end.
    arrays: Vec<From>,
    /// The places that request derivatives of parameters.
    asks: Vec<Ask>,
}

/// Follows derivatives, texture results and the globals of these names, whose shadows the host
/// never sets, through a module.
pub fn lost_shadows(module: &Module, shadowless: &[String]) -> LostShadows {
    let globals = module.globals.iter().filter(|_| !shadowless.is_empty());
    let shadowless: Vec<bool> = globals.map(|g| shadowless.contains(&g.name)).collect();
    let has_sources = |function| has_sources(function, &shadowless);
    let sources: Vec<bool> = module.functions.iter().map(has_sources).collect();
    if !sources.contains(&true) {
        return nothing(module);
    }
    let graph = CallGraph::new(module);
    // Most modules have nothing to report, and most functions neither request nor make derivatives:
    // assuming the worst of those settles it.
    let roughly = follow(module, &graph, &shadowless, |id| !sources[id.index()]);
    if roughly == nothing(module) {
        return roughly;
    }
    follow(module, &graph, &shadowless, |_| false)
}

fn nothing(module: &Module) -> LostShadows {
    let results = module.functions[module.entry.index()].results.len();
    LostShadows {
        second_order: vec![false; results],
        warnings: Vec::new(),
    }
}

/// Whether the function itself samples a texture, or reads a shadow or one of these globals.
fn has_sources(function: &Function, shadowless: &[bool]) -> bool {
    let mut insts = function.regions.iter().flat_map(|region| &region.insts);
    insts.any(|inst| match inst.kind {
        InstKind::Shadow(_) | InstKind::Sample(_, _, MipSelection::Shadows) => true,
        InstKind::Global(global, _) => shadowless.get(global.index()) == Some(&true),
        _ => false,
    })
}

/// Analyses all functions. Those that `skip` names, and that call none but such, pass every
/// parameter to every result.
fn follow(
    module: &Module,
    graph: &CallGraph,
    shadowless: &[bool],
    skip: impl Fn(FuncId) -> bool,
) -> LostShadows {
    let mut origins = nothing(module);
    let mut summaries = vec![Summary::default(); module.functions.len()];
    let mut skipped = vec![false; module.functions.len()];
    for component in &graph.components {
        let members = &graph.order[component.clone()];
        let alone = !graph.recursive[members[0].index()];
        if alone
            && skip(members[0])
            && callees(module.function(members[0])).all(|id| skipped[id.index()])
        {
            skipped[members[0].index()] = true;
            summaries[members[0].index()] = Summary::worst(module.function(members[0]));
            continue;
        }
        for _ in 0..MAX_CYCLE_ROUNDS {
            let mut changed = false;
            for &id in members {
                let summary = Flow::new(module, id, shadowless, &summaries).summary(&summaries);
                changed |= summary != summaries[id.index()];
                summaries[id.index()] = summary;
            }
            if !changed || alone {
                break;
            }
        }
        for &id in members {
            if !module.function(id).library {
                let flow = Flow::new(module, id, shadowless, &summaries);
                flow.warn(&summaries, &mut origins.warnings);
            }
        }
    }
    let entry = &summaries[module.entry.index()];
    for (marked, from) in origins.second_order.iter_mut().zip(&entry.results) {
        *marked = from & DERIVATIVE != 0;
    }
    let place = |d: &Diagnostic| (d.span.file, d.span.start, d.span.end, d.code);
    origins.warnings.sort_by_key(place);
    origins.warnings.dedup_by_key(|d| place(d));
    origins.warnings.truncate(MAX_WARNINGS);
    origins
}

impl Summary {
    /// The summary of a function of which nothing is known but that it has no sources.
    fn worst(function: &Function) -> Summary {
        let arrays = function
            .arrays
            .iter()
            .take_while(|array| array.mode.is_some());
        Summary {
            results: vec![PARAMS; function.results.len()],
            arrays: vec![PARAMS; arrays.count()],
            asks: Vec::new(),
        }
    }
}

/// The analysis of one function: the sources of each of its values and arrays.
struct Flow<'m> {
    module: &'m Module,
    function: &'m Function,
    /// Whether it is the shader itself.
    is_entry: bool,
    /// Per global, whether no host sets its shadows; empty if there is none such.
    shadowless: &'m [bool],
    /// Per value, then per array.
    from: Vec<From>,
    results: Vec<From>,
}

impl<'m> Flow<'m> {
    fn new(
        module: &'m Module,
        id: FuncId,
        shadowless: &'m [bool],
        summaries: &[Summary],
    ) -> Flow<'m> {
        let function = module.function(id);
        let mut flow = Flow {
            module,
            function,
            is_entry: id == module.entry,
            shadowless,
            from: vec![0; function.values.len() + function.arrays.len()],
            results: vec![0; function.results.len()],
        };
        let mut edges = Vec::new();
        flow.begin();
        flow.connect(summaries, &mut edges);
        flow.follow(&edges);
        flow
    }

    fn array(&self, array: ArrayId) -> usize {
        self.function.values.len() + array.index()
    }

    fn is_float(&self, value: ValueId) -> bool {
        self.function.value(value).ty == Scalar::F32
    }

    /// Parameters come from themselves.
    fn begin(&mut self) {
        let params = self.function.params();
        for (index, &value) in params.iter().enumerate() {
            if self.is_float(value) {
                self.from[value.index()] = param(index);
            }
        }
        for (index, array) in (0..).zip(&self.function.arrays) {
            if matches!(array.mode, Some(PassingMode::In | PassingMode::InOut))
                && array.element == Scalar::F32
            {
                let node = self.array(ArrayId(index));
                self.from[node] = param(params.len() + index as usize);
            }
        }
    }

    /// The direct edges between values; sources are marked.
    fn connect(&mut self, summaries: &[Summary], edges: &mut Vec<(u32, u32)>) {
        let function = self.function;
        // Per region, the results that `Yield` and `Break` define.
        let mut owners = vec![Results::NONE; function.regions.len()];
        for inst in function.regions.iter().flat_map(|region| &region.insts) {
            for region in inst.kind.regions() {
                owners[region.index()] = inst.results;
            }
        }
        let mut edge = |from: usize, to: usize| edges.push((from as u32, to as u32));
        for (region, inst) in function
            .regions
            .iter()
            .enumerate()
            .flat_map(|(index, region)| region.insts.iter().map(move |inst| (index, inst)))
        {
            let floats =
                |inst: &'m Inst| inst.args.iter().copied().filter(|&arg| self.is_float(arg));
            match &inst.kind {
                InstKind::Shadow(_) => self.from[inst.results.first.index()] |= DERIVATIVE,
                InstKind::Sample(..) => {
                    for result in inst.results.iter() {
                        self.from[result.index()] |= TEXTURE;
                    }
                }
                InstKind::Global(global, _) if self.is_float(inst.results.first) => {
                    self.from[inst.results.first.index()] |=
                        match self.shadowless.get(global.index()) {
                            None => 0,
                            Some(true) => SHADOWLESS,
                            Some(false) => SHADOWED,
                        };
                }
                InstKind::Op(_) if self.is_float(inst.results.first) => {
                    floats(inst).for_each(|arg| edge(arg.index(), inst.results.first.index()));
                }
                InstKind::Load(array) if self.is_float(inst.results.first) => {
                    edge(self.array(*array), inst.results.first.index());
                }
                InstKind::Store(array) if self.is_float(inst.args[1]) => {
                    edge(inst.args[1].index(), self.array(*array));
                }
                InstKind::ArrayCopy { to, from } => edge(self.array(*from), self.array(*to)),
                InstKind::Call(callee, arrays) => {
                    let summary = &summaries[callee.index()];
                    let mut given = Vec::with_capacity(inst.args.len() + arrays.len());
                    given.extend(inst.args.iter().map(|arg| arg.index()));
                    given.extend(arrays.iter().map(|&array| self.array(array)));
                    let results = inst
                        .results
                        .iter()
                        .map(ValueId::index)
                        .zip(&summary.results);
                    let callee = self.module.function(*callee);
                    let written = arrays.iter().zip(&callee.arrays).zip(&summary.arrays);
                    let written = written
                        .filter(|((_, array), _)| array.mode != Some(PassingMode::In))
                        .map(|((&array, _), from)| (self.array(array), from));
                    for (to, &from) in results.chain(written).collect::<Vec<_>>() {
                        self.from[to] |= from & !PARAMS;
                        let ways = given
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| from & param(*i) != 0);
                        ways.for_each(|(_, &arg)| edge(arg, to));
                    }
                }
                InstKind::Loop(target) | InstKind::Continue(target) => {
                    let params = &function.region(*target).params;
                    let pairs = inst.args.iter().zip(params);
                    pairs.for_each(|(arg, to)| edge(arg.index(), to.index()));
                }
                InstKind::Break(target) => {
                    let pairs = inst.args.iter().zip(owners[target.index()].iter());
                    pairs.for_each(|(arg, to)| edge(arg.index(), to.index()));
                }
                InstKind::Yield => {
                    let pairs = inst.args.iter().zip(owners[region].iter());
                    pairs.for_each(|(arg, to)| edge(arg.index(), to.index()));
                }
                _ => {}
            }
        }
    }

    /// Propagates along the edges; each node changes at most once for each bit.
    fn follow(&mut self, edges: &[(u32, u32)]) {
        let nodes = self.from.len();
        let mut starts = vec![0u32; nodes + 1];
        for &(from, _) in edges {
            starts[from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut free = starts.clone();
        let mut targets = vec![0u32; edges.len()];
        for &(from, to) in edges {
            let slot = &mut free[from as usize];
            targets[*slot as usize] = to;
            *slot += 1;
        }
        let marked = (0..nodes as u32).rev();
        let mut open: Vec<u32> = marked
            .filter(|&node| self.from[node as usize] != 0)
            .collect();
        while let Some(node) = open.pop() {
            let from = self.from[node as usize];
            let range = starts[node as usize] as usize..starts[node as usize + 1] as usize;
            for &to in &targets[range] {
                let known = &mut self.from[to as usize];
                if from & !*known != 0 {
                    *known |= from;
                    open.push(to);
                }
            }
        }
        let function = self.function;
        for inst in function
            .regions
            .iter()
            .filter_map(|region| region.insts.last())
        {
            if inst.kind == InstKind::Return {
                for (result, arg) in self.results.iter_mut().zip(&inst.args) {
                    *result |= self.from[arg.index()];
                }
            }
        }
    }

    /// Every place that requests a derivative of a value with any source, those in callees
    /// included.
    fn for_each_ask(&self, summaries: &[Summary], mut f: impl FnMut(Ask)) {
        for inst in self
            .function
            .regions
            .iter()
            .flat_map(|region| &region.insts)
        {
            let all = inst.args.iter().map(|arg| self.from[arg.index()]);
            match &inst.kind {
                InstKind::Shadow(_) | InstKind::Sample(_, _, MipSelection::Shadows) => f(Ask {
                    from: all.fold(0, |a, b| a | b),
                    span: inst.span,
                    by_sample: matches!(inst.kind, InstKind::Sample(..)),
                }),
                InstKind::Call(callee, arrays) => {
                    let arrays = arrays.iter().map(|&array| self.from[self.array(array)]);
                    let given: Vec<From> = all.chain(arrays).collect();
                    for ask in &summaries[callee.index()].asks {
                        let asked = given
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| ask.from & param(*i) != 0);
                        f(Ask {
                            from: asked.fold(ask.from & GLOBALS, |a, (_, from)| a | from),
                            // The library's source is hidden: the call is the place.
                            span: match self.module.function(*callee).library {
                                true => inst.span,
                                false => ask.span,
                            },
                            by_sample: ask.by_sample,
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn summary(&self, summaries: &[Summary]) -> Summary {
        let mut asks: Vec<Ask> = Vec::new();
        self.for_each_ask(summaries, |ask| {
            let of_params = Ask {
                from: ask.from & (PARAMS | GLOBALS),
                ..ask
            };
            if of_params.from & PARAMS != 0
                && asks.len() < MAX_DERIVATIVE_READS
                && !asks.contains(&of_params)
            {
                asks.push(of_params);
            }
        });
        let arrays = self
            .function
            .arrays
            .iter()
            .take_while(|array| array.mode.is_some());
        let first = self.function.values.len();
        Summary {
            results: self.results.clone(),
            arrays: self.from[first..first + arrays.count()].to_vec(),
            asks,
        }
    }

    fn warn(&self, summaries: &[Summary], warnings: &mut Vec<Diagnostic>) {
        self.for_each_ask(summaries, |ask| {
            if ask.from & TEXTURE != 0 {
                warnings.push(of_texture(ask));
            }
            if ask.from & DERIVATIVE != 0 {
                warnings.push(of_derivative(ask));
            }
            // Callers report sources that are parameters; parameters of the shader have no shadows.
            let is_known = self.is_entry || ask.from & PARAMS == 0;
            if is_known && ask.from & GLOBALS == SHADOWLESS {
                warnings.push(self.of_shadowless(ask));
            }
        });
    }
}

impl Flow<'_> {
    fn of_shadowless(&self, ask: Ask) -> Diagnostic {
        let mut read = vec![false; self.shadowless.len()];
        let regions = self.module.functions.iter().flat_map(|f| &f.regions);
        for inst in regions.flat_map(|region| &region.insts) {
            if let InstKind::Global(global, _) = inst.kind {
                read[global.index()] = self.shadowless[global.index()];
            }
        }
        let read = self.module.globals.iter().zip(read);
        let names: Vec<String> = read
            .filter(|(_, read)| *read)
            .map(|(global, _)| format!("`{}`", global.name))
            .collect();
        let shown = names.len().min(MAX_NAMES);
        let more = if names.len() > shown { ", …" } else { "" };
        let which = match &names[..shown] {
            [one] => format!("{one} alone, whose derivatives the host never sets"),
            some => format!(
                "globals alone whose derivatives the host never sets ({}{more})",
                some.join(", ")
            ),
        };
        let message = match ask.by_sample {
            false => format!("this depends on {which}, so its own is 0"),
            true => format!("the coordinates depend on {which}, so theirs are 0"),
        };
        Diagnostic::new(Code::UnsetShadow, ask.span, message)
            .here("0 for want of them")
            .help("let the host set them; on the command line `-g name=value:ddx:ddy`, in a session `name = value : ddx : ddy`")
    }
}

fn of_texture(ask: Ask) -> Diagnostic {
    let message = match ask.by_sample {
        false => "the derivative of a texture's result counts as 0",
        true => "the coordinates depend on a texture's result, whose derivative counts as 0",
    };
    Diagnostic::new(Code::DerivativeOfTexture, ask.span, message)
        .here("depends on a texture")
        .help("textures give values only: take derivatives of what is computed from globals")
}

fn of_derivative(ask: Ask) -> Diagnostic {
    let message = match ask.by_sample {
        false => "the derivative of a derivative counts as 0",
        true => "the coordinates depend on a derivative, whose own derivative counts as 0",
    };
    Diagnostic::new(Code::SecondDerivative, ask.span, message)
        .here("depends on `ddx` or `ddy`")
        .help("derivatives are of first order: take them of expressions without derivatives")
}
