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
//! summarised by their parameters, so that calls do not mix.

use super::dataflow::{FlowEdges, InBits, Joins, SummaryAnalysis, summarise};
use crate::calls::{CallGraph, callees};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::module::*;
use crate::span::Span;
use crate::types::Scalar;

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

/// A set: parameters of the function by [`INS`], globals with shadows and without, textures,
/// derivatives.
type From = u64;

const DERIVATIVE: From = 1 << 63;
const TEXTURE: From = 1 << 62;
const SHADOWLESS: From = 1 << 61;
const SHADOWED: From = 1 << 60;
const INS: InBits = InBits { shared: 59 };

/// The other bits that decide whether a derivative is 0 for lack of shadows.
const GLOBALS: From = SHADOWLESS | SHADOWED;

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
        InstKind::Global(global, _) => shadowless.get(global.index()) == Some(&true),
        _ => is_ask(inst),
    })
}

/// Whether an instruction requests a derivative.
fn is_ask(inst: &Inst) -> bool {
    matches!(
        inst.kind,
        InstKind::Shadow(_) | InstKind::Sample(_, MipSelection::Shadows, _)
    )
}

/// Analyses all functions. Those that `skip` names, and that call none but such, pass every
/// parameter to every result.
fn follow(
    module: &Module,
    graph: &CallGraph,
    shadowless: &[bool],
    skip: impl Fn(FuncId) -> bool,
) -> LostShadows {
    let mut analysis = OriginAnalysis {
        module,
        recursive: &graph.recursive,
        shadowless,
        skip,
        skipped: vec![false; module.functions.len()],
    };
    let summaries = summarise(module, graph, &mut analysis);
    let mut origins = nothing(module);
    for &id in &graph.order {
        if !module.function(id).library && !analysis.skipped[id.index()] {
            let flow = Flow::new(module, id, shadowless, &summaries);
            flow.warn(&summaries, &mut origins.warnings);
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

struct OriginAnalysis<'a, F> {
    module: &'a Module,
    recursive: &'a [bool],
    shadowless: &'a [bool],
    skip: F,
    /// By function: whether it was.
    skipped: Vec<bool>,
}

impl<F: Fn(FuncId) -> bool> SummaryAnalysis for OriginAnalysis<'_, F> {
    type Summary = Summary;

    fn least(&self, id: FuncId) -> Summary {
        Summary::of_all(self.module.function(id), 0)
    }

    fn greatest(&self, id: FuncId) -> Summary {
        let function = self.module.function(id);
        let insts = function.regions.iter().flat_map(|region| &region.insts);
        let asks = insts.filter(|inst| is_ask(inst)).map(|inst| Ask {
            from: INS.all(),
            span: inst.span,
            by_sample: matches!(inst.kind, InstKind::Sample(..)),
        });
        Summary {
            asks: asks.take(MAX_DERIVATIVE_READS).collect(),
            ..Summary::of_all(function, From::MAX)
        }
    }

    fn summarise(&mut self, id: FuncId, summaries: &[Summary]) -> Summary {
        let function = self.module.function(id);
        if !self.recursive[id.index()]
            && (self.skip)(id)
            && callees(function).all(|callee| self.skipped[callee.index()])
        {
            self.skipped[id.index()] = true;
            return Summary::of_all(function, INS.all());
        }
        let mut summary = Flow::new(self.module, id, self.shadowless, summaries).summary(summaries);
        // A rule has shadows of its own, whatever those of the body are.
        if let Some((_, activity)) = function.shadow_rule() {
            let params = activity.params.iter().enumerate();
            let params = params.filter(|param| *param.1);
            let params = params.fold(0, |all, (i, _)| all | INS.of(i));
            let results = summary.results.iter_mut().zip(&activity.results);
            results
                .filter(|r| *r.1)
                .for_each(|(from, _)| *from = params);
        }
        summary
    }
}

impl Summary {
    /// The summary of a function all of whose results contain this, and which reads no derivative.
    fn of_all(function: &Function, from: From) -> Summary {
        Summary {
            results: vec![from; function.results.len()],
            arrays: vec![from; function.array_params().count()],
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
                self.from[value.index()] = INS.of(index);
            }
        }
        for (index, array) in (0..).zip(&self.function.arrays) {
            if matches!(array.mode, Some(PassingMode::In | PassingMode::InOut))
                && array.element == Scalar::F32
            {
                let node = self.array(ArrayId(index));
                self.from[node] = INS.of(params.len() + index as usize);
            }
        }
    }

    /// The direct edges between values; sources are marked.
    fn connect(&mut self, summaries: &[Summary], edges: &mut Vec<(u32, u32)>) {
        let function = self.function;
        let joins = Joins::new(function);
        let mut edge = |from: usize, to: usize| edges.push((from as u32, to as u32));
        let regions = (0..).map(RegionId).zip(&function.regions);
        for (region, inst) in
            regions.flat_map(|(id, region)| region.insts.iter().map(move |inst| (id, inst)))
        {
            joins.for_each(function, region, inst, |from, to| {
                edge(from.index(), to.index())
            });
            let floats =
                |inst: &'m Inst| inst.args.iter().copied().filter(|&arg| self.is_float(arg));
            match &inst.kind {
                InstKind::Shadow(_) => self.from[inst.results.first.index()] |= DERIVATIVE,
                InstKind::Sample(_, _, Slopes::Omitted) => {
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
                InstKind::WithSlopes(_) => {
                    for result in inst.results.iter() {
                        floats(inst).for_each(|arg| edge(arg.index(), result.index()));
                    }
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
                        self.from[to] |= from & !INS.all();
                        let ways = given
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| from & INS.of(*i) != 0);
                        ways.for_each(|(_, &arg)| edge(arg, to));
                    }
                }
                _ => {}
            }
        }
    }

    /// Propagates along the edges; each node changes at most once for each bit.
    fn follow(&mut self, edges: &[(u32, u32)]) {
        let edges = FlowEdges::new(self.from.len() as u32, edges, |&edge| edge);
        edges.flood(&mut self.from, &mut Vec::new());
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
                _ if is_ask(inst) => f(Ask {
                    from: all.fold(0, |a, b| a | b),
                    span: inst.span,
                    by_sample: matches!(inst.kind, InstKind::Sample(..)),
                }),
                InstKind::Call(callee, arrays) => {
                    let arrays = arrays.iter().map(|&array| self.from[self.array(array)]);
                    let given: Vec<From> = all.chain(arrays).collect();
                    for ask in &summaries[callee.index()].asks {
                        f(Ask {
                            from: ask.from & GLOBALS | INS.passed(ask.from, &given),
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
                from: ask.from & (INS.all() | GLOBALS),
                ..ask
            };
            if of_params.from & INS.all() != 0
                && asks.len() < MAX_DERIVATIVE_READS
                && !asks.contains(&of_params)
            {
                asks.push(of_params);
            }
        });
        let first = self.function.values.len();
        Summary {
            results: self.results.clone(),
            arrays: self.from[first..][..self.function.array_params().count()].to_vec(),
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
            let is_known = self.is_entry || ask.from & INS.all() == 0;
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
        .help("`adumbra image` and hosts with `texture_slopes` give it; elsewhere take derivatives of what is computed from globals")
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
