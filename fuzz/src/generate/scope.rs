//! Names in generated code: types, variables in scope, functions.

/// A type of the generated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `float`.
    Float,
    /// `float2`, `float3`, `float4`.
    Vector(usize),
    /// `float2x2`, `float3x3`, `float4x4`.
    Matrix(usize),
    /// A struct of the program, by its number.
    Struct(usize),
    /// That many elements.
    Array(Box<Ty>, usize),
    /// As many elements as an int variable of the program says: its name.
    Sized(Box<Ty>, String),
    /// `closure`.
    Closure,
    /// `shader_resource`.
    Resource,
}

/// A struct of the program.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    /// Its name.
    pub(super) name: String,
    /// Its members. Structs only hold structs declared before them.
    pub(super) members: Vec<(String, Ty)>,
}

/// The passing mode of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Copied in.
    In,
    /// Copied out.
    Out,
    /// Both.
    InOut,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Its name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Ty,
    /// The passing mode.
    pub(super) mode: Mode,
    /// Whether calls may leave it out, and all that follow.
    pub(super) default: bool,
}

/// A function that can be called.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Its name; overloads share it.
    pub(super) name: String,
    /// Its result, if it has one.
    pub(super) result: Option<Ty>,
    /// Its parameters. A recursive function's last one counts the depth that is left.
    pub(super) parameters: Vec<Parameter>,
    /// Whether it calls itself.
    pub(super) recursive: bool,
    /// Whether it has a forward derivative of its own. Then it has no overloads.
    pub(super) has_rule: bool,
    /// About how many steps of the budget one call costs.
    pub(super) cost: u64,
}

/// A variable in scope.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// Its name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Ty,
    /// Whether it may be written: constants, and counters that end loops, may not.
    pub(super) writable: bool,
}

/// The variables in scope, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    variables: Vec<Variable>,
}

impl Scope {
    /// Adds a variable.
    pub(super) fn declare(&mut self, name: &str, ty: &Ty, writable: bool) {
        self.variables.push(Variable {
            name: name.to_owned(),
            ty: ty.clone(),
            writable,
        });
    }

    /// The scope's extent, to return to with [`Scope::leave`].
    pub(super) fn enter(&self) -> usize {
        self.variables.len()
    }

    /// Forgets what was declared since.
    pub(super) fn leave(&mut self, mark: usize) {
        self.variables.truncate(mark);
    }

    /// The variables that a name still reaches, innermost last.
    pub(super) fn visible(&self) -> impl DoubleEndedIterator<Item = &Variable> {
        self.variables.iter().enumerate().filter_map(|(i, v)| {
            let hidden = self.variables[i + 1..].iter().any(|w| w.name == v.name);
            (!hidden).then_some(v)
        })
    }
}

impl Ty {
    /// As the program writes it; an array's lengths come after the name.
    pub(super) fn text(&self, structs: &[Struct]) -> String {
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int => "int".into(),
            Ty::Uint => "uint".into(),
            Ty::Float => "float".into(),
            Ty::Vector(n) => format!("float{n}"),
            Ty::Matrix(n) => format!("float{n}x{n}"),
            Ty::Struct(i) => structs[*i].name.clone(),
            Ty::Array(element, _) | Ty::Sized(element, _) => element.text(structs),
            Ty::Closure => "closure".into(),
            Ty::Resource => "shader_resource".into(),
        }
    }

    /// The source after a variable's name: an array's lengths.
    pub(super) fn suffix(&self) -> String {
        match self {
            Ty::Array(element, n) => format!("[{n}]{}", element.suffix()),
            Ty::Sized(element, n) => format!("[{n}]{}", element.suffix()),
            _ => String::new(),
        }
    }

    /// Whether it is an array.
    pub(super) fn is_array(&self) -> bool {
        matches!(self, Ty::Array(..) | Ty::Sized(..))
    }

    /// Whether it is an array or holds one.
    pub(super) fn has_arrays(&self, structs: &[Struct]) -> bool {
        match self {
            Ty::Struct(i) => {
                let mut members = structs[*i].members.iter();
                members.any(|(_, ty)| ty.has_arrays(structs))
            }
            _ => self.is_array(),
        }
    }

    /// The number of its scalars; those of one element if it is sized while shading.
    pub(super) fn size(&self, structs: &[Struct]) -> usize {
        match self {
            Ty::Vector(n) => *n,
            Ty::Matrix(n) => n * n,
            Ty::Struct(i) => {
                let members = structs[*i].members.iter();
                members.map(|(_, ty)| ty.size(structs)).sum()
            }
            Ty::Array(element, n) => n * element.size(structs),
            Ty::Sized(element, _) => element.size(structs),
            _ => 1,
        }
    }

    /// Whether some part of it (or all) has the wanted type; parts of vectors are their components
    /// and swizzles, of matrices their rows.
    pub(super) fn holds(&self, wanted: &Ty, structs: &[Struct]) -> bool {
        if self == wanted {
            return true;
        }
        match (self, wanted) {
            (Ty::Vector(_), Ty::Float) => true,
            (Ty::Vector(n) | Ty::Matrix(n), Ty::Vector(m)) => m <= n,
            (Ty::Matrix(_), Ty::Float) => true,
            (Ty::Struct(i), _) => structs[*i]
                .members
                .iter()
                .any(|(_, ty)| ty.holds(wanted, structs)),
            (Ty::Array(element, _) | Ty::Sized(element, _), _) => element.holds(wanted, structs),
            _ => false,
        }
    }
}
