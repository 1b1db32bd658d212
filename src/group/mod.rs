//! Shader groups: shaders wired output to input, compiled as one.
//!
//! A [`Group`] is only a description; all of its errors are found, at once, when it is compiled.

// `port` says what may be wired to what, `plan` resolves names and finds the order, `compile` joins
// frontend, linker and passes. `file` reads descriptions from JSON.

mod compile;
mod json_file;
mod plan;
mod port;
mod setting_value;
mod spanned_json;

use crate::diagnostics::Diagnostics;
use crate::includes::Loader;
use crate::sources::Sources;
use crate::value::{HostValue, ValueView};
use adumbra_ir::memory::HeapSize;
use adumbra_ir::{Span, Type, heap_of};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

pub(crate) use setting_value::convert_value;

pub use compile::{MAX_GROUP_INSTRUCTIONS, MAX_GROUP_SOURCES};

/// Shaders, called units, that are wired output to input and compiled as one program, so that
/// demand and folding see the whole graph.
///
/// - A unit has a name, sources, and the name of its shader in them. The same shader can be used
///   any number of times.
/// - An input of a unit is set here ([`set`](Group::set)), comes from another unit
///   ([`connect`](Group::connect)) or from the host ([`expose_input`](Group::expose_input)); else
///   it is the shader's default.
/// - The host reads the exposed outputs ([`expose_output`](Group::expose_output)). A unit that none
///   of them depends on is no part of the program: it takes no steps, samples nothing and cannot
///   fault.
/// - Units run in the order in which they were added, as far as the wires allow. Running one takes
///   no step of the budget.
/// - A port is an input or an output, or a part of one: `"uv"`, `"uv.x"`, `"hit.normal"`. A
///   connection converts as the language does implicitly (int to float), and a number becomes a
///   vector of that number in all components. An array is wired as a whole.
/// - Textures of one name are one texture for the host, whichever units sample it;
///   [`bind_texture`](Group::bind_texture) gives a unit's texture another name.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, group::Group};
/// let uv = Sources::new("uv.adu", "shader uv(float scale = 1.0, out float2 st) { st = scale * global_value<uvw>.xy; }");
/// let paint = Sources::new("paint.adu", "texture2d map; shader paint(float2 at, out color c) { c = texture2d_sample<map>(at); }");
///
/// let mut group = Group::new();
/// group
///     .unit("uv", &uv, None)
///     .unit("paint", &paint, None)
///     .set("uv", "scale", 4)
///     .connect(("uv", "st"), ("paint", "at"))
///     .bind_texture("paint", "map", "oak")
///     .expose_output("color", ("paint", "c"));
/// let program = Compiler::new(GlobalsLayout::hit()).compile_group(&group)?;
/// assert_eq!(program.textures()[0].name, "oak");
///
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// assert_eq!(evaluator.get::<[f32; 3]>("color")?, [1.0, 1.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    /// The name of the description, and its text, if it was read from a file: diagnostics point
    /// into it.
    name: Arc<str>,
    text: Arc<str>,
    units: Vec<GroupUnit>,
    settings: Vec<Setting>,
    connections: Vec<Connection>,
    bindings: Vec<Binding>,
    inputs: Vec<ExposedPort>,
    outputs: Vec<ExposedPort>,
}

/// A shader in the group.
#[derive(Clone, Debug)]
struct GroupUnit {
    name: String,
    sources: Sources,
    shader: Option<String>,
    span: Span,
}

/// An input or output of a unit, or a part of one, by name.
#[derive(Clone, Debug)]
struct PortName {
    unit: String,
    path: String,
    span: Span,
}

/// An input with a value.
#[derive(Clone, Debug)]
struct Setting {
    port: PortName,
    value: SettingValue,
}

/// A value that an input is given.
#[derive(Clone, Debug)]
enum SettingValue {
    /// A Rust value, of its own type.
    Typed(Type, Vec<u32>),
    /// JSON, to be read by the input's type, and its span.
    Json(String, Span),
}

/// A wire.
#[derive(Clone, Debug)]
struct Connection {
    from: PortName,
    to: PortName,
    span: Span,
}

/// A texture of a unit with the name that the host knows it by.
#[derive(Clone, Debug)]
struct Binding {
    unit: String,
    texture: String,
    name: String,
    span: Span,
}

/// An input or output of the group, under a name of its own.
#[derive(Clone, Debug)]
struct ExposedPort {
    name: String,
    port: PortName,
    span: Span,
}

heap_of! {
    Group { name, text, units, settings, connections, bindings, inputs, outputs }
    GroupUnit { name, sources, shader, span }
    PortName { unit, path, span }
    Setting { port, value }
    Connection { from, to, span }
    Binding { unit, texture, name, span }
    ExposedPort { name, port, span }
}

impl HeapSize for SettingValue {
    fn heap_bytes(&self) -> usize {
        match self {
            SettingValue::Typed(ty, words) => ty.heap_bytes() + words.heap_bytes(),
            SettingValue::Json(text, _) => text.heap_bytes(),
        }
    }
}

impl Default for Group {
    fn default() -> Group {
        Group::new()
    }
}

impl Group {
    /// A group without units.
    pub fn new() -> Group {
        Group::described("<group>", "")
    }

    fn described(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Group {
        Group {
            name: name.into(),
            text: text.into(),
            units: Vec::new(),
            settings: Vec::new(),
            connections: Vec::new(),
            bindings: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Adds a shader under a name: the one called `shader`, or the only one of the sources. Names
    /// have no dots. Units with the same [`Sources`], or clones of them, share one run of the
    /// compiler's frontend.
    pub fn unit<'s>(
        &mut self,
        name: &str,
        sources: &Sources,
        shader: impl Into<Option<&'s str>>,
    ) -> &mut Group {
        self.units.push(GroupUnit {
            name: name.to_owned(),
            sources: sources.clone(),
            shader: shader.into().map(str::to_owned),
            span: Span::default(),
        });
        self
    }

    /// The same group, its units' sources with all that they include.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, group::Group, sources::Loader};
    /// struct Half;
    /// impl Loader for Half {
    ///     fn resolve(&self, path: &str, _from: &str) -> Result<String, String> {
    ///         Ok(path.to_owned())
    ///     }
    ///     fn load(&self, _name: &str) -> Result<String, String> {
    ///         Ok("float half(float x) { return 0.5 * x; }".to_owned())
    ///     }
    /// }
    /// let unit = Sources::new("u.adu", "#include \"half.adu\"\nshader u(float x, out float y) { y = half(x); }");
    /// let mut group = Group::new();
    /// group.unit("a", &unit, None).expose_output("y", ("a", "y"));
    /// Compiler::new(GlobalsLayout::new()).compile_group(&group.including(&Half)?)?;
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sources::including`], for the first unit that has any.
    pub fn including(mut self, loader: &dyn Loader) -> Result<Group, Diagnostics> {
        let mut known: HashMap<_, Sources> = HashMap::new();
        for unit in &mut self.units {
            let sources = match known.entry(unit.sources.identity()) {
                Entry::Occupied(known) => known.get().clone(),
                Entry::Vacant(new) => new.insert(unit.sources.including(loader)?).clone(),
            };
            unit.sources = sources;
        }
        Ok(self)
    }

    /// Gives an input of a unit a value, which converts as a connection does. Setting what is also
    /// exposed sets the host's default.
    pub fn set<T: HostValue>(&mut self, unit: &str, input: &str, value: T) -> &mut Group {
        let ty = T::ty();
        let mut words = vec![0; ty.scalar_count()];
        value.write(&mut words);
        self.set_view(unit, input, ValueView::new(&ty, &words))
    }

    /// Gives an input of a unit a value of any type.
    pub fn set_view(&mut self, unit: &str, input: &str, value: ValueView<'_>) -> &mut Group {
        let words = value.words().collect();
        self.settings.push(Setting {
            port: PortName::new((unit, input)),
            value: SettingValue::Typed(value.ty().clone(), words),
        });
        self
    }

    /// Wires an output of a unit to an input of another: unit and port of both.
    pub fn connect(&mut self, from: (&str, &str), to: (&str, &str)) -> &mut Group {
        self.connections.push(Connection {
            from: PortName::new(from),
            to: PortName::new(to),
            span: Span::default(),
        });
        self
    }

    /// Lets the host know a texture of a unit by another name.
    pub fn bind_texture(&mut self, unit: &str, texture: &str, name: &str) -> &mut Group {
        self.bindings.push(Binding {
            unit: unit.to_owned(),
            texture: texture.to_owned(),
            name: name.to_owned(),
            span: Span::default(),
        });
        self
    }

    /// Lets the host set an input of a unit, under a name of the group.
    pub fn expose_input(&mut self, name: &str, port: (&str, &str)) -> &mut Group {
        self.inputs.push(ExposedPort::new(name, port));
        self
    }

    /// Lets the host read an output of a unit, under a name of the group.
    pub fn expose_output(&mut self, name: &str, port: (&str, &str)) -> &mut Group {
        self.outputs.push(ExposedPort::new(name, port));
        self
    }
}

impl PortName {
    fn new((unit, path): (&str, &str)) -> PortName {
        PortName {
            unit: unit.to_owned(),
            path: path.to_owned(),
            span: Span::default(),
        }
    }
}

impl ExposedPort {
    fn new(name: &str, port: (&str, &str)) -> ExposedPort {
        ExposedPort {
            name: name.to_owned(),
            port: PortName::new(port),
            span: Span::default(),
        }
    }
}
