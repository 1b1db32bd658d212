//! The plan of a group, which the linker is given: names resolved, types checked, order found.
//!
//! All errors are collected, up to [`MAX_DIAGNOSTICS`]; a unit whose shader has errors of its own
//! is passed over in silence. Nothing recurses: a chain of units of any length is fine.

mod buffers;
mod resolve;
mod textures;
mod topological_order;

use super::port::{PortPart, conversion_help, wires};
use super::{Connection, ExposedPort, Group, PortName, setting_value};
use crate::sources::Sources;
use adumbra_frontend::limits::{MAX_DIAGNOSTICS, MAX_SHADER_SCALARS};
use adumbra_ir::link::InputSource;
use adumbra_ir::module::{Input, Output};
use adumbra_ir::{Code, Diagnostic, Module, Op, Span, Type};
use std::collections::HashMap;

/// The maximum number of names that a help or message lists.
const MAX_LISTED: usize = 8;

/// A group that can be linked.
pub(super) struct Plan {
    /// The units that outputs depend on, in the order in which they run.
    pub(super) units: Vec<PlannedUnit>,
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    /// For each scalar of the outputs, its position among `units` and the scalar of its outputs.
    pub(super) results: Vec<(usize, u32)>,
}

/// A unit that takes part.
pub(super) struct PlannedUnit {
    /// Its number in the group.
    pub(super) number: usize,
    /// The source of each scalar of its inputs; units are counted as in [`Plan::units`].
    pub(super) feeds: Vec<InputSource>,
    /// The names of its textures.
    pub(super) textures: Vec<String>,
}

/// The plan of a group, if it has no errors. `modules` has the shader of each unit, `None` where it
/// has errors.
pub(super) fn plan(
    group: &Group,
    modules: &[Option<&Module>],
    sources: &Sources,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut planner = Planner {
        group,
        modules,
        sources,
        numbers: HashMap::new(),
        slots: modules.iter().map(|module| slots(*module)).collect(),
        wires: Vec::new(),
        found: Vec::new(),
    };
    planner.name_units();
    planner.set();
    let inputs = planner.expose_inputs();
    planner.connect();
    planner.check_buffers();
    let textures = planner.bind_textures();
    let (outputs, results) = planner.expose_outputs();
    let order = planner.order(&results);
    if !planner.found.is_empty() {
        return Err(planner.found);
    }
    let mut place = vec![usize::MAX; modules.len()];
    for (at, &unit) in order.iter().enumerate() {
        place[unit] = at;
    }
    let units = order.iter().map(|&number| PlannedUnit {
        number,
        feeds: (planner.slots[number].iter())
            .map(|slot| slot.feed(&place))
            .collect(),
        textures: textures[number].clone(),
    });
    Ok(Plan {
        units: units.collect(),
        inputs,
        outputs,
        results: results.iter().map(|&(u, k)| (place[u], k)).collect(),
    })
}

/// A scalar of a unit's inputs.
#[derive(Clone, Copy)]
struct InputScalar {
    /// Its default, or the value that was set.
    bits: u32,
    set: Option<Span>,
    fed: Option<(ScalarSource, Span)>,
}

/// The source of a scalar.
#[derive(Clone, Copy)]
enum ScalarSource {
    Host(u32),
    Unit(usize, u32, &'static [Op]),
}

impl InputScalar {
    fn feed(&self, place: &[usize]) -> InputSource {
        match self.fed {
            None => InputSource::Constant(self.bits),
            Some((ScalarSource::Host(at), _)) => InputSource::Input(at),
            Some((ScalarSource::Unit(unit, scalar, steps), _)) => InputSource::Output {
                unit: place[unit],
                scalar,
                conversions: steps,
            },
        }
    }
}

/// The inputs of a shader with their defaults.
fn slots(module: Option<&Module>) -> Vec<InputScalar> {
    let inputs = module.into_iter().flat_map(|module| &module.inputs);
    let defaults = inputs.flat_map(|input| &input.default);
    let slot = |&bits| InputScalar {
        bits,
        set: None,
        fed: None,
    };
    defaults.map(slot).collect()
}

/// The side of a unit that a port is on.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    In,
    Out,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Side::In => "input",
            Side::Out => "output",
        }
    }

    const fn other(self) -> Side {
        match self {
            Side::In => Side::Out,
            Side::Out => Side::In,
        }
    }

    /// The ports of a shader on this side: names and types.
    fn ports(self, module: &Module) -> Vec<(&str, &Type)> {
        match self {
            Side::In => (module.inputs.iter())
                .map(|input| (input.name.as_str(), &input.ty))
                .collect(),
            Side::Out => (module.outputs.iter())
                .map(|output| (output.name.as_str(), &output.ty))
                .collect(),
        }
    }
}

/// A resolved port.
struct ResolvedPort {
    unit: usize,
    /// Its input or output, of which it is all or a part.
    port: usize,
    /// Its scalars among all of the unit's on that side.
    part: PortPart,
}

struct Planner<'g> {
    group: &'g Group,
    modules: &'g [Option<&'g Module>],
    /// The sources of all units.
    sources: &'g Sources,
    numbers: HashMap<&'g str, usize>,
    slots: Vec<Vec<InputScalar>>,
    /// Valid connections: from which unit to which.
    wires: Vec<(usize, usize, Span)>,
    found: Vec<Diagnostic>,
}

impl Planner<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        match self.found.len() {
            ..MAX_DIAGNOSTICS => self.found.push(diagnostic),
            MAX_DIAGNOSTICS => {
                let message = format!("the group has more than {MAX_DIAGNOSTICS} errors");
                self.found.push(
                    Diagnostic::new(Code::TooManyErrors, diagnostic.span, message)
                        .here("the next one")
                        .help("fix the first ones; the others may follow from them"),
                );
            }
            _ => {}
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() > MAX_DIAGNOSTICS
    }

    /// Reports two contradictory or duplicate settings.
    fn twice(&mut self, message: String, span: Span, earlier: Span) {
        self.report(
            Diagnostic::new(Code::FedTwice, span, message)
                .here("the second time")
                .label(earlier, "the first time")
                .help("leave out one of the two"),
        );
    }

    fn name_units(&mut self) {
        for (number, unit) in self.group.units.iter().enumerate() {
            let name = unit.name.as_str();
            if name.is_empty() || name.contains('.') {
                let message = format!("a unit cannot be called `{name}`");
                self.report(
                    Diagnostic::new(Code::UnitName, unit.span, message)
                        .here("this unit")
                        .help("give it a name without dots: they separate unit and port"),
                );
            }
            if let Some(&first) = self.numbers.get(name) {
                let message = format!("two units are called `{name}`");
                self.report(
                    Diagnostic::new(Code::UnitName, unit.span, message)
                        .here("the second one")
                        .label(self.group.units[first].span, "the first one")
                        .help("give each unit a name of its own"),
                );
            } else {
                self.numbers.insert(name, number);
            }
        }
    }

    fn set(&mut self) {
        let group = self.group;
        for setting in &group.settings {
            if self.is_full() {
                return;
            }
            let port = &setting.port;
            let Some(ResolvedPort { unit, part, .. }) = self.resolve(port, Side::In) else {
                continue;
            };
            let name = port.name();
            let words = match setting_value::value_words(&setting.value, &part.ty, port.span, &name)
            {
                Ok(words) => words,
                Err(misfit) => {
                    self.report(
                        Diagnostic::new(Code::PortMismatch, misfit.span, misfit.message)
                            .here("does not fit")
                            .help(misfit.help),
                    );
                    continue;
                }
            };
            let slots = &mut self.slots[unit][part.first as usize..][..words.len()];
            let earlier = slots.iter().find_map(|slot| slot.set);
            for (slot, bits) in slots.iter_mut().zip(words) {
                slot.bits = bits;
                slot.set = Some(port.span);
            }
            if let Some(earlier) = earlier {
                self.twice(format!("`{name}` is set twice"), port.span, earlier);
            }
        }
    }

    /// The inputs that the host may set.
    fn expose_inputs(&mut self) -> Vec<Input> {
        let group = self.group;
        self.exposed_once(&group.inputs);
        let mut inputs = Vec::with_capacity(group.inputs.len());
        let mut next = 0;
        for exposed in &group.inputs {
            if self.is_full() {
                break;
            }
            let Some(place) = self.resolve(&exposed.port, Side::In) else {
                continue;
            };
            let metadata = self.module_of(&place).inputs[place.port].metadata.clone();
            let ResolvedPort { unit, part, .. } = place;
            let mut has_handle = false;
            (part.ty).for_each_scalar(&mut |scalar| has_handle |= scalar.is_handle());
            if has_handle {
                let message = format!(
                    "`{}` is `{}`, which no host can set",
                    exposed.port.name(),
                    part.ty
                );
                self.report(
                    Diagnostic::new(Code::PortMismatch, exposed.span, message)
                        .here("cannot be exposed")
                        .help("connect an output of a unit to it"),
                );
                continue;
            }
            let scalars = part.ty.scalar_count();
            let slots = &self.slots[unit][part.first as usize..][..scalars];
            inputs.push(Input {
                name: exposed.name.clone(),
                ty: part.ty,
                default: slots.iter().map(|slot| slot.bits).collect(),
                metadata,
            });
            let sources = (next..next + scalars as u32).map(ScalarSource::Host);
            self.feed(&exposed.port, unit, part.first, sources);
            next += scalars as u32;
        }
        self.within(u64::from(next), Side::In);
        inputs
    }

    /// Connects scalars of an input to their source, unless they have one.
    fn feed(
        &mut self,
        port: &PortName,
        unit: usize,
        first: u32,
        sources: impl ExactSizeIterator<Item = ScalarSource>,
    ) {
        let slots = &mut self.slots[unit][first as usize..][..sources.len()];
        let earlier = slots.iter().find_map(|slot| slot.fed);
        for (slot, source) in slots.iter_mut().zip(sources) {
            slot.fed = Some((source, port.span));
        }
        if let Some((_, earlier)) = earlier {
            let message = format!("`{}` is fed twice", port.name());
            self.twice(message, port.span, earlier);
        }
    }

    fn connect(&mut self) {
        let group = self.group;
        for connection in &group.connections {
            if self.is_full() {
                return;
            }
            let Connection { from, to, span } = connection;
            let giver = self.resolve(from, Side::Out);
            let (Some(giver), Some(taker)) = (giver, self.resolve(to, Side::In)) else {
                continue;
            };
            let Some(wires) = wires(&giver.part.ty, &taker.part.ty) else {
                let (from_ty, to_ty) = (&giver.part.ty, &taker.part.ty);
                let message = format!(
                    "`{}` is `{from_ty}`, and `{}` is `{to_ty}`",
                    from.name(),
                    to.name()
                );
                self.report(
                    Diagnostic::new(Code::PortMismatch, *span, message)
                        .here("cannot be connected")
                        .help(conversion_help(from_ty, to_ty, &from.name())),
                );
                continue;
            };
            let slots = &self.slots[taker.unit][taker.part.first as usize..][..wires.len()];
            if let Some(set) = slots.iter().find_map(|slot| slot.set) {
                let message = format!("`{}` is set, and connected as well", to.name());
                self.report(
                    Diagnostic::new(Code::FedTwice, to.span, message)
                        .here("connected here")
                        .label(set, "set here")
                        .help("leave out one of the two"),
                );
            }
            let sources = wires.iter().map(|wire| {
                ScalarSource::Unit(giver.unit, giver.part.first + wire.from, wire.steps)
            });
            self.feed(to, taker.unit, taker.part.first, sources);
            self.wires.push((giver.unit, taker.unit, *span));
        }
    }

    /// The outputs that the host may read, and the unit of each of their scalars.
    fn expose_outputs(&mut self) -> (Vec<Output>, Vec<(usize, u32)>) {
        let group = self.group;
        self.exposed_once(&group.outputs);
        let (mut outputs, mut results) = (Vec::new(), Vec::new());
        for exposed in &group.outputs {
            if self.is_full() {
                break;
            }
            let Some(place) = self.resolve(&exposed.port, Side::Out) else {
                continue;
            };
            let metadata = self.module_of(&place).outputs[place.port].metadata.clone();
            let ResolvedPort { unit, part, .. } = place;
            let scalars = part.ty.scalar_count() as u32;
            results.extend((part.first..part.first + scalars).map(|k| (unit, k)));
            outputs.push(Output {
                name: exposed.name.clone(),
                ty: part.ty,
                metadata,
            });
        }
        if group.outputs.is_empty() {
            let message = match group.units.is_empty() {
                true => "the group has no units",
                false => "the group exposes no output, so nothing comes of it",
            };
            self.report(
                Diagnostic::new(Code::EmptyGroup, Span::default(), message)
                    .help("add units, and expose an output of one of them"),
            );
        }
        self.within(results.len() as u64, Side::Out);
        (outputs, results)
    }

    /// The shader that a port is one of.
    fn module_of(&self, place: &ResolvedPort) -> &Module {
        self.modules[place.unit].expect("a port was found in it")
    }

    fn exposed_once(&mut self, list: &[ExposedPort]) {
        let mut known: HashMap<&str, Span> = HashMap::new();
        for exposed in list {
            let name = exposed.name.as_str();
            if let Some(earlier) = known.insert(name, exposed.span) {
                let message = format!("the group exposes two things as `{name}`");
                self.report(
                    Diagnostic::new(Code::ExposedTwice, exposed.span, message)
                        .here("the second one")
                        .label(earlier, "the first one")
                        .help("give each a name of its own"),
                );
            }
        }
    }

    fn within(&mut self, scalars: u64, side: Side) {
        if scalars > MAX_SHADER_SCALARS {
            let message = format!(
                "the exposed {}s of the group have {scalars} numbers together",
                side.name()
            );
            self.report(
                Diagnostic::new(Code::GroupTooLarge, Span::default(), message)
                    .help(format!("{MAX_SHADER_SCALARS} is the limit")),
            );
        }
    }
}

impl PortName {
    /// Its name in messages.
    fn name(&self) -> String {
        format!("{}.{}", self.unit, self.path)
    }
}
