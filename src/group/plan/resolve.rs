//! The resolution of port names, and the diagnostics of unknown ones.

use super::{MAX_LISTED, Planner, ResolvedPort, Side};
use crate::group::PortName;
use crate::group::port::{self, PortPart};
use adumbra_frontend::closest_name;
use adumbra_ir::{Code, Diagnostic, Module, Span, Type};

impl Planner<'_> {
    /// The unit of that name; reported if there is none.
    pub(super) fn unit(&mut self, name: &str, span: Span) -> Option<usize> {
        if let Some(&unit) = self.numbers.get(name) {
            return Some(unit);
        }
        let names = self.group.units.iter().map(|unit| unit.name.as_str());
        let help = match closest_name(name, names.clone()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => match list_names(names) {
                Some(list) => format!("add it, or take one of {list}"),
                None => "add it; the group has no units".to_owned(),
            },
        };
        let message = format!("there is no unit `{name}`");
        self.report(
            Diagnostic::new(Code::UnknownUnit, span, message)
                .here("not in the group")
                .help(help),
        );
        None
    }

    /// The port that a name means; reported if there is none. `None` as well if its unit has errors
    /// of its own.
    pub(super) fn resolve(&mut self, port: &PortName, side: Side) -> Option<ResolvedPort> {
        let unit = self.unit(&port.unit, port.span)?;
        let module = self.modules[unit]?;
        let (first, rest) = match port.path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (port.path.as_str(), None),
        };
        let mut at = 0;
        for (port_number, (known, ty)) in side.ports(module).into_iter().enumerate() {
            if known != first {
                at += ty.scalar_count() as u32;
                continue;
            }
            return match port::find_part(ty, rest) {
                Ok(part) => Some(ResolvedPort {
                    unit,
                    port: port_number,
                    part: PortPart {
                        first: at + part.first,
                        ..part
                    },
                }),
                Err((passed, ty)) => {
                    self.no_part(port, first.len() + passed, &ty);
                    None
                }
            };
        }
        self.no_port(port, first, side, module);
        None
    }

    /// `passed`: how much of the path leads somewhere, to a value of that type.
    fn no_part(&mut self, port: &PortName, passed: usize, ty: &Type) {
        let passed = port.path[..passed].trim_end_matches('.');
        let rest = port.path[passed.len()..].trim_start_matches('.');
        let wanted = rest.split('.').next().unwrap_or_default();
        let message = format!(
            "`{}.{passed}` is `{ty}` and has no part `{wanted}`",
            port.unit
        );
        let parts = port::part_names(ty);
        let help = match list_names(parts.iter().map(String::as_str)) {
            Some(list) => format!("its parts are {list}"),
            None => "take it as a whole".to_owned(),
        };
        self.report(
            Diagnostic::new(Code::UnknownPort, port.span, message)
                .here("no such part")
                .help(help),
        );
    }

    fn no_port(&mut self, port: &PortName, name: &str, side: Side, module: &Module) {
        let unit = &port.unit;
        let names = side.ports(module);
        let names = names.iter().map(|(name, _)| *name);
        let others = side.other().ports(module);
        let (here, other) = (side.name(), side.other().name());
        let message = match others.iter().any(|(known, _)| *known == name) {
            true => format!("`{unit}.{name}` is an {other}, and an {here} is wanted"),
            false => format!("the unit `{unit}` has no {here} `{name}`"),
        };
        let help = match (closest_name(name, names.clone()), list_names(names)) {
            (Some(known), _) => format!("did you mean `{unit}.{known}`?"),
            (None, Some(list)) => format!("its {here}s are {list}"),
            (None, None) => format!("its shader has no {here}s"),
        };
        self.report(
            Diagnostic::new(Code::UnknownPort, port.span, message)
                .here(format!("no such {here}"))
                .help(help),
        );
    }
}

/// Some names for people; `None` if there are none.
pub(super) fn list_names<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    let mut names = names;
    let mut list: Vec<String> = (names.by_ref().take(MAX_LISTED))
        .map(|name| format!("`{name}`"))
        .collect();
    let more = names.count();
    if more > 0 {
        list.push(format!("{more} more"));
    }
    (!list.is_empty()).then(|| list.join(", "))
}
