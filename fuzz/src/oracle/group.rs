//! A group does what its units do one by one, and all compilations and engines agree on it.
//!
//! Units that are run one by one pass values without shadows, so the group is compared with that
//! without derivatives. With derivatives it is compared with itself, as any program is: compiled in
//! every mode, run by every engine.

use super::chain::{self, ChainError, EngineChain};
use super::modes::MODES;
use super::observation::{ComparisonExtent, ObservedOutput, ObservedRun};
use super::reference::{TextureRecorder, limits};
use crate::buffers;
use crate::bundle;
use crate::choices::Choices;
use crate::generate::graph::{Face, Feed, Graph, converted};
use crate::generate::{GeneratedProgram, Point, Profile};
use adumbra::{
    Evaluator, Host, SampleRequest, Sampled, Scalar, Sources, Type, evaluator::Engine,
    group::Group, value::ValueView,
};
use adumbra_ir::host::Faults;
use adumbra_ir::module::{MessageId, TextureId};
use std::sync::Arc;

/// Bytes that the graph is made from; the others make the shaders.
const GRAPH_BYTES: usize = 96;

/// Points that are looked at.
const POINTS: u64 = 2;

/// The amount that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupComparison {
    /// Wires between units that something exposed depends on.
    pub wires: usize,
    /// Points at which the units were run by hand, to their end.
    pub points: usize,
}

/// Checks the group that these bytes generate.
///
/// # Errors
/// The disagreement, with the shaders and the graph.
pub fn check(bytes: &[u8]) -> Result<GroupComparison, String> {
    let (head, rest) = bytes.split_at(bytes.len().min(GRAPH_BYTES));
    let mut choices = Choices::new(head);
    let count = choices.between(1, 3) as usize;
    let shaders: Vec<GeneratedProgram> = (0..count)
        .map(|k| {
            let part = &rest[rest.len() * k / count..rest.len() * (k + 1) / count];
            GeneratedProgram::generate(part, Profile::UNIT)
        })
        .collect();
    let described = |what: String, graph: &Graph| {
        let sources: Vec<&str> = shaders.iter().map(|s| s.source.as_str()).collect();
        format!("{what}\n{graph:#?}\n{}", sources.join("\n// ---\n"))
    };
    let refused = |e| described(format!("refused though generated: {e}"), &Graph::default());
    let sources: Result<Vec<Sources>, _> = (shaders.iter())
        .map(|shader| bundle::sources(&shader.source))
        .collect();
    let sources = sources.map_err(refused)?;

    // Without derivatives.
    let off = &MODES[MODES.len() - 1];
    let alone: Result<Vec<_>, _> = sources
        .iter()
        .map(|t| chain::compiler(off).compile(t))
        .collect();
    let alone = alone.map_err(refused)?;
    let faces: Vec<Face> = alone.iter().map(|program| face(program)).collect();
    let graph = Graph::generate(&mut choices, &faces);
    let group = group(&graph, &faces, &sources, &alone);

    let lowered = chain::compiler(&MODES[0]).lowered_group(&group);
    let lowered =
        lowered.map_err(|e| described(format!("refused though generated: {e}"), &graph))?;
    let chain = EngineChain::of(lowered, |mode| chain::compiler(mode).compile_group(&group));
    let chain = chain.map_err(|no| {
        let (ChainError::Refused(what) | ChainError::Broken(what)) = no;
        described(what, &graph)
    })?;
    let points: Vec<Point> = (0..POINTS).map(|k| shaders[0].point(k)).collect();
    (chain.agree(&points))
        .map_err(|(point, what)| described(format!("point {point}: {what}"), &graph))?;
    chain
        .survive_bytes(&points[0])
        .map_err(|what| described(what, &graph))?;

    let needed = graph.needed(&faces);
    let mut compared = GroupComparison::default();
    let units = graph
        .units
        .iter()
        .zip(&needed)
        .filter(|(_, needed)| **needed);
    let feeds = units.flat_map(|(unit, _)| &unit.inputs);
    compared.wires = feeds
        .filter(|feed| matches!(feed, Feed::Wire { .. }))
        .count();
    let linked = &chain.programs[MODES.len() - 1];
    for point in &points {
        let Some(by_hand) = by_hand(&graph, &needed, &alone, linked, point) else {
            continue;
        };
        let mut found = chain::observe(linked, Engine::Point, point)?;
        if found.faults.iter().any(|fault| fault.kind.stops()) {
            continue;
        }
        // Sources are numbered otherwise, closures cannot be passed by hand, and messages are
        // numbered anew.
        (found.faults, found.more_faults, found.closures) = (Vec::new(), 0, Vec::new());
        found.messages.iter_mut().for_each(|said| said.1 = 0);
        if let Some(difference) = by_hand.difference_by_passes(&found, ComparisonExtent::All) {
            return Err(described(
                format!("by hand, and linked: {difference}"),
                &graph,
            ));
        }
        compared.points += 1;
    }
    Ok(compared)
}

fn face(program: &adumbra::Program) -> Face {
    Face {
        inputs: (program.inputs().iter())
            .map(|input| (input.name.clone(), input.ty.clone()))
            .collect(),
        outputs: (program.outputs().iter())
            .map(|output| (output.name.clone(), output.ty.clone()))
            .collect(),
    }
}

/// The name of a unit's texture.
fn texture(unit: usize, binds: bool, name: &str) -> String {
    match binds {
        true => format!("unit {unit}'s {name}"),
        false => name.to_owned(),
    }
}

fn group(
    graph: &Graph,
    faces: &[Face],
    sources: &[Sources],
    alone: &[Arc<adumbra::Program>],
) -> Group {
    let mut group = Group::new();
    for (k, unit) in graph.units.iter().enumerate() {
        let name = format!("u{k}");
        group.unit(&name, &sources[unit.shader], "main");
        for ((input, ty), feed) in faces[unit.shader].inputs.iter().zip(&unit.inputs) {
            match feed {
                Feed::Default => {}
                Feed::Value(words) => {
                    group.set_view(&name, input, ValueView::new(ty, words));
                }
                Feed::Wire {
                    unit: from,
                    output,
                    component,
                } => {
                    let (output, _) = &faces[graph.units[*from].shader].outputs[*output];
                    let path = match component {
                        Some(at) => format!("{output}.{}", &"xyzw"[*at as usize..][..1]),
                        None => output.clone(),
                    };
                    group.connect((&format!("u{from}"), &path), (&name, input));
                }
            }
        }
        for old in alone[unit.shader].textures() {
            let old = &old.name;
            group.bind_texture(&name, old, &texture(k, unit.binds, old));
        }
    }
    for (k, &(unit, output)) in graph.exposed.iter().enumerate() {
        let (output, _) = &faces[graph.units[unit].shader].outputs[output];
        group.expose_output(&format!("e{k}"), (&format!("u{unit}"), output));
    }
    group
}

/// Hands requests on under the numbers that textures have in the group.
struct Renamed<'r> {
    numbers: Vec<TextureId>,
    recorder: &'r mut TextureRecorder,
}

impl Host for Renamed<'_> {
    fn sample(&mut self, request: &SampleRequest) -> Sampled {
        let texture = self.numbers[request.texture.index()];
        self.recorder.sample(&SampleRequest {
            texture,
            ..*request
        })
    }

    fn message(&mut self, _: MessageId, args: &[u32]) {
        self.recorder.message(MessageId(0), args);
    }
}

/// Runs the units one by one; `None` if one is stopped.
fn by_hand(
    graph: &Graph,
    needed: &[bool],
    alone: &[Arc<adumbra::Program>],
    linked: &adumbra::Program,
    point: &Point,
) -> Option<ObservedRun> {
    let mut recorder = TextureRecorder::default();
    let mut given: Vec<Vec<Vec<u32>>> = Vec::new();
    for (k, unit) in graph.units.iter().enumerate() {
        given.push(Vec::new());
        if !needed[k] {
            continue;
        }
        let program = &alone[unit.shader];
        let mut instance = buffers::instance(program);
        for (input, feed) in program.inputs().iter().zip(&unit.inputs) {
            let words = match feed {
                Feed::Default => continue,
                _ if matches!(input.ty, Type::Scalar(Scalar::Closure)) => continue,
                Feed::Value(words) => words.clone(),
                Feed::Wire {
                    unit: from,
                    output,
                    component,
                } => {
                    let words = &given[*from][*output];
                    let ty = &alone[graph.units[*from].shader].outputs()[*output].ty;
                    let words = match component {
                        Some(at) => converted(&words[*at as usize..][..1], &Type::FLOAT, &input.ty),
                        None => converted(words, ty, &input.ty),
                    };
                    words.expect("only what converts is wired")
                }
            };
            let set = instance.set_view(&input.name, ValueView::new(&input.ty, &words));
            set.expect("the input is there");
        }
        let names = program.textures().iter();
        let names = names.map(|old| texture(k, unit.binds, &old.name));
        let number = |name: String| linked.textures().iter().position(|t| t.name == name);
        let numbers = names.map(|name| TextureId(number(name).map_or(u32::MAX, |at| at as u32)));
        let mut host = Renamed {
            numbers: numbers.collect(),
            recorder: &mut recorder,
        };
        let evaluator = Evaluator::with(&instance, Engine::Point, limits());
        let mut evaluator = evaluator.expect("the point engine runs everything");
        evaluator.evaluate(&chain::point_globals(program, point), &mut host);
        evaluator.faults().stopped().is_none().then_some(())?;
        let outputs = evaluator.outputs();
        given[k] = outputs.map(|o| o.value().words().collect()).collect();
    }
    let mut outputs = Vec::new();
    for &(unit, output) in &graph.exposed {
        let ty = &alone[graph.units[unit].shader].outputs()[output].ty;
        // A unit that nothing depends on was not run; what is exposed of it has no numbers.
        let mut words = given[unit].get(output).into_iter().flatten();
        ty.for_each_scalar(&mut |ty| {
            let &value = words.next().expect("one word for each scalar");
            let value = if ty == Scalar::Closure { 0 } else { value };
            outputs.push(ObservedOutput {
                ty,
                value,
                shadows: [0; 2],
            });
        });
    }
    Some(ObservedRun::new(
        outputs,
        &recorder,
        &Faults::default(),
        Vec::new(),
    ))
}
