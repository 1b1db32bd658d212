//! Groups from JSON files: `docs/groups.md` describes the format.
//!
//! The file becomes the first source of the group's compilation, so that diagnostics about units
//! and wires point into it. Errors of its form are reported at once; its meaning is checked when
//! the group is compiled.

use super::spanned_json::{self, JsonEntry, JsonObject};
use super::{
    Binding, Connection, ExposedPort, Group, GroupUnit, MAX_GROUP_SOURCES, PortName, Setting,
    SettingValue,
};
use crate::diagnostics::Diagnostics;
use crate::sources::Sources;
use adumbra_ir::{Code, Diagnostic, FileId, Span};
use adumbra_vm::FloatEnvironment;
use std::collections::HashMap;

impl Group {
    /// A group from the text of a JSON file. `name` is the file's name in diagnostics. `read` gives
    /// the source of a unit's file by its path in the group: its name and its text, or the reason
    /// why there is none.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, group::Group};
    /// let json = r#"{
    ///     "units": {
    ///         "half": { "source": "scale.adu", "set": { "by": 0.5 } },
    ///         "tenth": { "source": "scale.adu", "set": { "by": 0.1 } }
    ///     },
    ///     "connections": [{ "from": "half.y", "to": "tenth.x" }],
    ///     "inputs": { "x": "half.x" },
    ///     "outputs": { "y": "tenth.y" }
    /// }"#;
    /// let scale = "shader scale(float x, float by = 1.0, out float y) { y = x * by; }";
    /// let group = Group::from_json("scales.json", json, |path| Ok((path.to_owned(), scale.to_owned())))?;
    /// let program = Compiler::new(GlobalsLayout::new()).compile_group(&group)?;
    /// assert_eq!((program.inputs()[0].name.as_str(), program.outputs()[0].name.as_str()), ("x", "y"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong with the file's form, and each file that cannot be read.
    pub fn from_json(
        name: &str,
        text: &str,
        mut read: impl FnMut(&str) -> Result<(String, String), String>,
    ) -> Result<Group, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let mut reader = Reader {
            group: Group::described(name, text),
            read: &mut read,
            sources: HashMap::new(),
            found: Vec::new(),
        };
        let whole = Span::new(FileId::MAIN, 0, text.len().min(u32::MAX as usize) as u32);
        match JsonObject::read(text, whole) {
            Ok(object) => reader.group(&object),
            Err(error) => {
                let at = offset(text, error.line(), error.column());
                let span = Span::new(FileId::MAIN, at, at);
                let what = error.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                reader.found.push(
                    Diagnostic::new(Code::GroupFile, span, format!("the group cannot be read: {what}"))
                        .here("up to here it could be read")
                        .help("a group is a JSON object with `units`, `connections`, `inputs` and `outputs`"),
                );
            }
        }
        match reader.found.is_empty() {
            true => Ok(reader.group),
            false => Err(Diagnostics {
                diagnostics: reader.found,
                sources: Sources::new(name, text),
            }),
        }
    }
}

/// The byte at a line and column as serde counts them: lines from 1, columns in bytes, 0 before the
/// first.
fn offset(text: &str, line: usize, column: usize) -> u32 {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    let at = text.floor_char_boundary((start + column.saturating_sub(1)).min(text.len()));
    at.min(u32::MAX as usize) as u32
}

type Read<'r> = dyn FnMut(&str) -> Result<(String, String), String> + 'r;

struct Reader<'r> {
    group: Group,
    read: &'r mut Read<'r>,
    /// The sources that were read, by the paths in the file; `None` where an error was reported.
    sources: HashMap<Vec<String>, Option<Sources>>,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(
            Diagnostic::new(Code::GroupFile, span, message)
                .here("here")
                .help(help),
        );
    }

    fn group(&mut self, object: &JsonObject<'_>) {
        let known = ["units", "connections", "inputs", "outputs", "$schema"];
        for entry in self.fields(object, &known, "a group") {
            match &*entry.key {
                "units" => self.each(entry, "units by name", Reader::unit),
                "connections" => self.connections(entry),
                "inputs" => self.each(entry, "`unit.port` by name", |reader, entry| {
                    let exposed = reader.exposed(entry);
                    reader.group.inputs.extend(exposed);
                }),
                "outputs" => self.each(entry, "`unit.port` by name", |reader, entry| {
                    let exposed = reader.exposed(entry);
                    reader.group.outputs.extend(exposed);
                }),
                _ => {}
            }
        }
    }

    /// The entries whose keys are known, each key once; the others are reported.
    fn fields<'o, 'a>(
        &mut self,
        object: &'o JsonObject<'a>,
        known: &[&str],
        what: &str,
    ) -> Vec<&'o JsonEntry<'a>> {
        let mut fields: Vec<&JsonEntry<'_>> = Vec::new();
        for entry in &object.entries {
            let key = &*entry.key;
            if !known.contains(&key) {
                let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                let help = format!("it can have {}", listed.join(", "));
                self.wrong(entry.key_span, format!("{what} has no `{key}`"), help);
            } else if fields.iter().any(|field| field.key == entry.key) {
                self.twice(entry);
            } else {
                fields.push(entry);
            }
        }
        fields
    }

    fn twice(&mut self, entry: &JsonEntry<'_>) {
        let message = format!("`{}` is here a second time", entry.key);
        self.wrong(entry.key_span, message, "leave out one of the two");
    }

    /// Calls `f` for each entry of an object that is a list of things by name.
    fn each(
        &mut self,
        entry: &JsonEntry<'_>,
        what: &str,
        mut f: impl FnMut(&mut Self, &JsonEntry<'_>),
    ) {
        match JsonObject::read(entry.value, entry.span) {
            Ok(object) => object.entries.iter().for_each(|entry| f(self, entry)),
            Err(_) => {
                let message = format!("`{}` is not an object", entry.key);
                self.wrong(entry.span, message, format!("write an object: {what}"));
            }
        }
    }

    fn string(&mut self, entry: &JsonEntry<'_>) -> Option<String> {
        self.text(&entry.key, entry.value, entry.span)
    }

    fn text(&mut self, what: &str, value: &str, span: Span) -> Option<String> {
        let text = spanned_json::string(value)
            .ok()
            .map(|text| text.into_owned());
        if text.is_none() {
            self.wrong(span, format!("`{what}` is not a string"), "write a string");
        }
        text
    }

    fn unit(&mut self, entry: &JsonEntry<'_>) {
        let Ok(object) = JsonObject::read(entry.value, entry.span) else {
            let message = format!("the unit `{}` is not an object", entry.key);
            return self.wrong(
                entry.span,
                message,
                r#"write one: `{ "source": "file.adu" }`"#,
            );
        };
        let name = entry.key.to_string();
        let (mut sources, mut shader, mut has_source) = (None, None, false);
        for field in self.fields(&object, &["source", "shader", "set", "textures"], "a unit") {
            match &*field.key {
                "source" => {
                    has_source = true;
                    sources = self.sources(field);
                }
                "shader" => shader = self.string(field),
                "set" => self.each(field, "values by input", |reader, entry| {
                    reader.group.settings.push(Setting {
                        port: PortName {
                            unit: name.clone(),
                            path: entry.key.to_string(),
                            span: entry.key_span,
                        },
                        value: SettingValue::Json(entry.value.to_owned(), entry.span),
                    });
                }),
                _ => self.each(field, "the host's names by texture", |reader, entry| {
                    if let Some(to) = reader.string(entry) {
                        reader.group.bindings.push(Binding {
                            unit: name.clone(),
                            texture: entry.key.to_string(),
                            name: to,
                            span: entry.key_span,
                        });
                    }
                }),
            }
        }
        if !has_source {
            let message = format!("the unit `{name}` has no `source`");
            self.wrong(
                entry.key_span,
                message,
                r#"say which file its shader is in: `"source": "file.adu"`"#,
            );
        }
        // Without its source a unit is treated as one whose errors were reported.
        self.group.units.push(GroupUnit {
            name,
            sources: sources.unwrap_or_else(|| Sources::new("", "")),
            shader,
            span: entry.key_span,
        });
    }

    /// The sources of a unit: one path, or several of which the first has the shader.
    fn sources(&mut self, field: &JsonEntry<'_>) -> Option<Sources> {
        let parts = match spanned_json::elements(field.value, field.span) {
            Ok(parts) if !parts.is_empty() => parts,
            _ => vec![(field.value, field.span)],
        };
        let mut paths = Vec::with_capacity(parts.len());
        for &(value, span) in &parts {
            paths.push(self.text("source", value, span)?);
        }
        if let Some(known) = self.sources.get(&paths) {
            return known.clone();
        }
        if paths.len() > MAX_GROUP_SOURCES {
            let message = format!("a unit of {} files", paths.len());
            let help = format!("{MAX_GROUP_SOURCES} is the limit of a whole group");
            self.wrong(field.span, message, help);
            return None;
        }
        let mut sources: Option<Sources> = None;
        let mut complete = true;
        for (path, (_, span)) in paths.iter().zip(parts) {
            match (self.read)(path) {
                Ok((name, text)) => match &mut sources {
                    Some(sources) => {
                        sources.add(name, text);
                    }
                    None => sources = Some(Sources::new(name, text)),
                },
                Err(why) => {
                    complete = false;
                    self.found.push(
                        Diagnostic::new(
                            Code::UnitSource,
                            span,
                            format!("cannot read `{path}`: {why}"),
                        )
                        .here("this file")
                        .help("paths are relative to the folder of the group's file"),
                    );
                }
            }
        }
        let sources = sources.filter(|_| complete);
        self.sources.insert(paths, sources.clone());
        sources
    }

    fn connections(&mut self, entry: &JsonEntry<'_>) {
        let form = r#"write `[{ "from": "unit.output", "to": "unit.input" }]`"#;
        let Ok(connections) = spanned_json::elements(entry.value, entry.span) else {
            return self.wrong(entry.span, "`connections` is not an array", form);
        };
        for (value, span) in connections {
            let Ok(object) = JsonObject::read(value, span) else {
                self.wrong(span, "a connection is not an object", form);
                continue;
            };
            let (mut from, mut to) = (None, None);
            let fields = self.fields(&object, &["from", "to"], "a connection");
            let both = fields.len() == 2;
            for field in fields {
                match &*field.key {
                    "from" => from = self.port(field),
                    _ => to = self.port(field),
                }
            }
            match (from, to) {
                (Some(from), Some(to)) => {
                    self.group.connections.push(Connection { from, to, span });
                }
                _ if both => {}
                _ => self.wrong(span, "a connection has a `from` and a `to`", form),
            }
        }
    }

    fn exposed(&mut self, entry: &JsonEntry<'_>) -> Option<ExposedPort> {
        Some(ExposedPort {
            name: entry.key.to_string(),
            port: self.port(entry)?,
            span: entry.key_span,
        })
    }

    /// `unit.port`, split at the first dot.
    fn port(&mut self, entry: &JsonEntry<'_>) -> Option<PortName> {
        let text = self.string(entry)?;
        let Some((unit, path)) = text.split_once('.') else {
            let message = format!("`{text}` names no port");
            self.wrong(entry.span, message, "write `unit.port`");
            return None;
        };
        Some(PortName {
            unit: unit.to_owned(),
            path: path.to_owned(),
            span: entry.span,
        })
    }
}
