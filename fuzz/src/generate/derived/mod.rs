//! Random programs about derivatives of functions.
//!
//! A program has functions that say `[Differentiable]`, structs with a differential, custom
//! derivatives that are right by construction, and a shader that takes derivatives of the last
//! function. The shader gives the oracles what they need by the names of its outputs
//! ([`crate::oracle::derived`]): what it gives, along which directions, and which global moves
//! which parameter. So a program can be cut, as long as its shader stays as it is.
//!
//! What stops a gradient on purpose (`no_diff`, `detach`) occurs in some programs alone: in all
//! others every dependence is to be found in the gradient.

mod call;
mod expression;
mod function;
mod rule;
mod second;
mod shader;
mod statement;
mod types;
mod untaken;

use crate::buffers::{FIRST_WILD, name};
use crate::choices::Choices;
use crate::generate::source_lines::SourceLines;
use function::Function;
use types::{Struct, Ty};

/// The derivatives that the shader of a program takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivedKind {
    /// A tangent and a gradient.
    Gradient,
    /// A tangent along the screen, and nothing that stops gradients but not shadows.
    Shadow,
    /// Second derivatives, in four ways.
    Second,
    /// A tangent and a gradient, with samples of textures and messages on the way.
    Engines,
    /// A tangent and a gradient, with values on the way that are infinite or NaN and then not
    /// taken.
    Untaken,
}

/// What a gradient does not pass, and what does not say so.
const LOSSES: &str = "float plain_float(float x) { return x * x; }
struct Plain { float a; };
Plain plain_struct(float x) { Plain p; p.a = x; return p; }
[Differentiable]
float through_struct(float x) { Plain p; p.a = x; return p.a; }
void plain_out(float x, out float y) { y = x + x; }
[Differentiable]
float through_out(float x) { float y; plain_out(x, y); return y; }
float plain_array(float x) { float a[2] = { x, 1.0 }; return a[0]; }
";

/// The greatest number of expressions that a program has, about.
const MAX_EXPRESSIONS: usize = 60;

/// A variable in scope.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: Ty,
    is_writable: bool,
}

/// Writes one program.
struct Writer<'a> {
    choices: Choices<'a>,
    kind: DerivedKind,
    out: SourceLines,
    structs: Vec<Struct>,
    /// Buffers of floats and vectors: their names, and the components of their elements.
    buffers: Vec<(String, usize)>,
    functions: Vec<Function>,
    scope: Vec<Variable>,
    /// The number of expressions that may still be made.
    budget: usize,
    /// Whether gradients may be stopped on purpose.
    has_constants: bool,
    /// Whether gradients may be lost where the checker has to say so.
    has_losses: bool,
    /// Whether functions may have custom derivatives.
    has_rules: bool,
    /// The function around.
    own: Option<Function>,
    /// The number of loops around.
    loops: u32,
}

/// The program that these choices make.
pub(super) fn program(choices: Choices<'_>, kind: DerivedKind) -> String {
    let mut writer = Writer {
        choices,
        kind,
        out: SourceLines::default(),
        structs: Vec::new(),
        buffers: Vec::new(),
        functions: Vec::new(),
        scope: Vec::new(),
        budget: MAX_EXPRESSIONS,
        has_constants: false,
        has_losses: false,
        // They are made for finite numbers.
        has_rules: kind != DerivedKind::Untaken,
        own: None,
        loops: 0,
    };
    writer.file();
    writer.out.text
}

impl Writer<'_> {
    fn file(&mut self) {
        self.has_constants = match self.kind {
            DerivedKind::Shadow => false,
            DerivedKind::Gradient => self.choices.one_in(5),
            _ => self.choices.one_in(3),
        };
        self.has_losses = self.kind == DerivedKind::Gradient && self.choices.one_in(12);
        if self.kind == DerivedKind::Engines {
            self.out.line("texture2d t0;");
        }
        if self.has_losses {
            self.out.text.push_str(LOSSES);
        }
        for _ in 0..self.choices.below(3) {
            self.buffer();
        }
        for _ in 0..self.choices.below(3) {
            self.structure();
        }
        let count = self.choices.between(1, 3);
        for _ in 0..count {
            match self.choices.weighted(&[8, 2, 2]) {
                0 => self.function(),
                1 => self.recursive(),
                _ if self.has_rules => self.rule(),
                _ => self.function(),
            }
        }
        let top = self.top();
        match self.kind {
            DerivedKind::Second => self.second_shader(&top),
            _ => self.shader(&top),
        }
    }

    /// Declares a buffer, whose elements are constants to a derivative.
    fn buffer(&mut self) {
        let components = self.choices.between(1, 4) as usize;
        let element = match components {
            1 => "float".to_owned(),
            n => format!("float{n}"),
        };
        let name = name(&element, self.choices.below(FIRST_WILD));
        if self.buffers.iter().all(|(other, _)| *other != name) {
            self.out.line(&format!("buffer<{element}> {name};"));
            self.buffers.push((name, components));
        }
    }

    fn declare(&mut self, name: &str, ty: &Ty, is_writable: bool) {
        self.scope.push(Variable {
            name: name.to_owned(),
            ty: ty.clone(),
            is_writable,
        });
    }
}
