//! What a gradient is of and by, and where its parts are.

use adumbra_ir::Type;

/// The mode of a derivative: [`Forward`](Mode::Forward) or [`Backward`](Mode::Backward).
pub use adumbra_ir::module::DifferentiationMode as Mode;

/// A value that a gradient is of or by, and its derivative in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferentiatedValue {
    /// The name of the value.
    pub name: String,
    /// The type of its derivative: that of the value without what is no float.
    pub ty: Type,
    /// Where the derivative is.
    pub place: DerivativePlace,
}

/// Where a derivative is in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DerivativePlace {
    /// The program has an output of this name: `d(a)` for the value `a`; `d(global:a)` for a global
    /// `a` if the gradient is by an input `a`, too.
    Output(String),
    /// The host gives it for each point, by globals of these names and types, in the order of the
    /// value's floats: one, or one for each element of an array and each member of a struct. What
    /// is not set is zero.
    Globals(Vec<(String, Type)>),
    /// The host gives it by a buffer of this name, as long as the one that it is of.
    Buffer(String),
    /// The host answers samples of a texture of this name, at the places where it answers those of
    /// the one that it is of.
    Texture(String),
    /// Points pass the adjoint of each sample to the host, which adds them up:
    /// [`Host::texture_adjoint`](crate::Host::texture_adjoint).
    Adjoints,
    /// Points add to a sum, which the host takes from the evaluator:
    /// [`take_gradients`](crate::Evaluator::take_gradients).
    Sum,
}

/// A parameter that a gradient is by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, and its derivative.
    pub value: DifferentiatedValue,
    /// What kind of parameter it is.
    pub kind: ParameterKind,
    /// Whether its gradient is 0 at every point, since no derivative leads from it to an output.
    pub is_zero: bool,
}

/// The kind of a parameter of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParameterKind {
    /// An input, which the host sets once for all points.
    Input,
    /// A global, which has a value at each point.
    Global,
    /// A buffer, whose numbers all points share.
    Buffer,
    /// A texture, whose texels are the host's.
    Texture,
}
