//! The closures that a host knows, which the compiler checks shaders against.

use adumbra_frontend::check::RegisteredClosure;
use adumbra_ir::Type;
use std::fmt;

/// The closures that a host knows: a name each, with names and types of the parameters.
///
/// A compiler that has one ([`Compiler::with_closures`](crate::Compiler::with_closures)) refuses
/// other closures, with the name that was probably meant, and arguments that do not fit; an int
/// given for a float is converted. So every leaf of a tree has the arguments that the registry
/// says. A [`ClosureReader`](crate::closure::ClosureReader) gives the leaves of a point, and slots
/// their arguments.
///
/// ```
/// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type, closure::ClosureRegistry};
/// let registry = ClosureRegistry::new()
///     .with("Lambert", &[("normal", Type::Vector(3))])?
///     .with("glow", &[("tint", Type::Vector(3)), ("strength", Type::FLOAT)])?;
/// let strength = registry.slot::<f32>("glow", "strength")?;
/// let compiler = Compiler::new(GlobalsLayout::new()).with_closures(registry.clone());
///
/// let source = "shader s(out closure c) { c = make_closure<glow>(color(1, 0.5, 0), 2); }";
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
/// let mut weights = Vec::new();
/// let c = evaluator.closure(program.closure_slot("c")?);
/// for leaf in registry.reader(&program)?.leaves(c, &mut weights) {
///     assert_eq!((leaf.kind, leaf.read(strength)), (registry.kind("glow")?, 2.0));
/// }
///
/// let wrong = Sources::new("w.adu", "shader w(out closure c) { c = make_closure<Lambart>(float3(0, 1, 0)); }");
/// let diagnostics = compiler.compile(&wrong).unwrap_err();
/// assert_eq!(diagnostics.diagnostics[0].help.as_deref(), Some("did you mean `Lambert`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClosureRegistry {
    closures: Vec<RegisteredClosure>,
}

/// Why a closure cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// A closure of this name is there already.
    Duplicate(String),
    /// Two parameters of the closure have this name.
    DuplicateParameter(String),
    /// A parameter cannot be of that type.
    Type(String),
    /// A program makes a closure of this name that is not registered, or with other arguments.
    Unregistered(String),
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Duplicate(name) => write!(f, "the closure `{name}` is registered twice"),
            RegistryError::DuplicateParameter(name) => {
                write!(f, "two parameters are called `{name}`")
            }
            RegistryError::Unregistered(name) => write!(
                f,
                "the program makes a closure `{name}` that is not registered with these arguments: compile it with the registry"
            ),
            RegistryError::Type(ty) => write!(
                f,
                "a closure's parameter cannot be of type `{ty}`: arrays and structs are taken apart, vectors and matrices are of 2 to 4"
            ),
        }
    }
}

impl std::error::Error for RegistryError {}

impl ClosureRegistry {
    /// A host that knows no closures.
    pub fn new() -> ClosureRegistry {
        ClosureRegistry::default()
    }

    /// One closure more, with its parameters in order.
    ///
    /// # Errors
    /// If the name is there already, two parameters have one name, or one is of a type that
    /// closures cannot take.
    pub fn with(
        mut self,
        name: &str,
        params: &[(&str, Type)],
    ) -> Result<ClosureRegistry, RegistryError> {
        if self.closures.iter().any(|closure| closure.name == name) {
            return Err(RegistryError::Duplicate(name.to_owned()));
        }
        for (index, (param, ty)) in params.iter().enumerate() {
            if params[..index].iter().any(|(earlier, _)| earlier == param) {
                return Err(RegistryError::DuplicateParameter((*param).to_owned()));
            }
            if !RegisteredClosure::accepts(ty) {
                return Err(RegistryError::Type(ty.to_string()));
            }
        }
        self.closures.push(RegisteredClosure {
            name: name.to_owned(),
            params: (params.iter())
                .map(|(name, ty)| ((*name).to_owned(), ty.clone()))
                .collect(),
        });
        Ok(self)
    }

    pub(crate) fn closures(&self) -> &[RegisteredClosure] {
        &self.closures
    }
}
