//! Attributes: which there are, where they mean something, and their arguments.

use super::super::TypeChecker;
use super::super::call::count_phrase;
use super::super::typed_tree::LoopHints;
use super::super::types::TypeId;
use crate::ast::{self, ItemKind, StmtKind};
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic};

/// `[mutating]` before a method: `this` is `inout`.
pub(in crate::check) const MUTATING: &str = "mutating";
/// `[NoDiffThis]` before a method: `this` is a constant for its derivatives.
pub(in crate::check) const NO_DIFF_THIS: &str = "NoDiffThis";

/// `[Differentiable]` before a function: it has derivatives; before a texture: its samples have
/// slopes.
const DIFFERENTIABLE: &str = "Differentiable";

/// What an attribute is before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Function,
    Method,
    Loop,
    Block,
    Texture,
    Other,
}

/// What attributes an argument list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arguments {
    None,
    /// The name of a function.
    Function,
    /// A number of iterations.
    Count,
    /// The same, or nothing.
    PerhapsCount,
}

struct AttributeKind {
    name: &'static str,
    arguments: Arguments,
    positions: &'static [Position],
}

const fn kind(
    name: &'static str,
    arguments: Arguments,
    positions: &'static [Position],
) -> AttributeKind {
    AttributeKind {
        name,
        arguments,
        positions,
    }
}

const FUNCTIONS: &[Position] = &[Position::Function, Position::Method];
const METHODS: &[Position] = &[Position::Method];
const LOOPS: &[Position] = &[Position::Loop];
const BOTH: &[Position] = &[Position::Function, Position::Method, Position::Loop];
const BLOCKS: &[Position] = &[Position::Block];
const HOOKS: &[Position] = &[Position::Function];
const VALUES: &[Position] = &[Position::Function, Position::Method, Position::Texture];

const ATTRIBUTES: &[AttributeKind] = &[
    kind(DIFFERENTIABLE, Arguments::None, VALUES),
    kind("ForwardDerivative", Arguments::Function, FUNCTIONS),
    kind("BackwardDerivative", Arguments::Function, FUNCTIONS),
    kind("PrimalSubstitute", Arguments::Function, FUNCTIONS),
    kind("ForwardDerivativeOf", Arguments::Function, FUNCTIONS),
    kind("BackwardDerivativeOf", Arguments::Function, FUNCTIONS),
    kind("PrimalSubstituteOf", Arguments::Function, FUNCTIONS),
    kind("TreatAsDifferentiable", Arguments::None, FUNCTIONS),
    kind("PreferCheckpoint", Arguments::None, BOTH),
    kind("PreferRecompute", Arguments::None, BOTH),
    kind(NO_DIFF_THIS, Arguments::None, METHODS),
    kind(MUTATING, Arguments::None, METHODS),
    kind("MaxIters", Arguments::Count, LOOPS),
    kind("ForceUnroll", Arguments::PerhapsCount, LOOPS),
    kind(ast::ELIMINATE_IF_UNUSED, Arguments::None, BLOCKS),
    kind(ast::ANIMATE, Arguments::None, HOOKS),
];

const DIFFERENTIABLE_FIX: &str = "write `[Differentiable]`";

/// Attributes of other languages, with what does the same here.
const FOREIGN: &[(&str, &str)] = &[
    ("ForwardDifferentiable", DIFFERENTIABLE_FIX),
    ("BackwardDifferentiable", DIFFERENTIABLE_FIX),
    ("CUDAKernel", "remove it: hosts call shaders"),
    (
        "numthreads",
        "remove it: the host says which points are shaded",
    ),
    ("shader", "remove it: an entry is introduced by `shader`"),
    (
        "unroll",
        "remove it, or write `[ForceUnroll]` for derivatives",
    ),
    ("loop", "remove it: the compiler decides"),
    ("branch", "remove it: the compiler decides"),
    ("flatten", "remove it: the compiler decides"),
];

/// Whether an attribute of that name marks a function as differentiable. Names of other languages
/// were reported, and mark it, too.
pub(super) fn marks_differentiable(name: &str) -> bool {
    let is_foreign = |(foreign, fix): &(&str, &str)| *foreign == name && *fix == DIFFERENTIABLE_FIX;
    name == DIFFERENTIABLE || FOREIGN.iter().any(is_foreign)
}

/// Whether there is an attribute of that name.
pub(crate) fn is_attribute(name: &str) -> bool {
    attribute_kind(name).is_some()
}

/// The attribute of that name.
fn attribute_kind(name: &str) -> Option<&'static AttributeKind> {
    ATTRIBUTES.iter().find(|kind| kind.name == name)
}

impl<'a> TypeChecker<'a, '_> {
    /// Checks the attributes of all declarations, and gives functions their marks and rules.
    pub(in crate::check) fn resolve_attributes(&mut self, files: &[ast::AstFile<'a>]) {
        for item in files.iter().flat_map(|file| file.items) {
            match item.kind {
                ItemKind::Function(function) if !function.is_shader() => {
                    self.check_attributes(item.attributes, Position::Function);
                }
                ItemKind::Struct(structure) => {
                    self.check_attributes(item.attributes, Position::Other);
                    for method in structure.methods {
                        self.check_attributes(method.attributes, Position::Method);
                    }
                }
                ItemKind::Declaration(declaration) if declaration.is_of_textures() => {
                    self.check_attributes(item.attributes, Position::Texture);
                    self.give_slopes(item.attributes, declaration);
                }
                _ => self.check_attributes(item.attributes, Position::Other),
            }
        }
        self.resolve_marks();
    }

    /// Samples of the textures that are declared have slopes, if an attribute says so.
    fn give_slopes(
        &mut self,
        attributes: &[ast::Attribute<'a>],
        declaration: &ast::Declaration<'a>,
    ) {
        let mut names = attributes.iter().map(|a| self.symbol_name(a.name.symbol));
        if !names.any(marks_differentiable) {
            return;
        }
        for declarator in declaration.declarators {
            if let Some(number) = self.names.texture(declarator.name.symbol) {
                self.textures[number as usize].has_slopes = true;
            }
        }
    }

    /// Reports attributes that are unknown, misplaced or have other arguments.
    fn check_attributes(&mut self, attributes: &[ast::Attribute<'a>], position: Position) {
        for (at, attribute) in attributes.iter().enumerate() {
            self.check_attribute(attribute, &attributes[..at], position);
        }
    }

    /// Whether an attribute is not there before, nor its opposite; reported if so.
    fn check_repeated(
        &mut self,
        attribute: &ast::Attribute<'a>,
        before: &[ast::Attribute<'a>],
    ) -> bool {
        let name = self.symbol_name(attribute.name.symbol);
        // A function may be a rule of several functions.
        if attribute_kind(name).is_some_and(|kind| matches!(kind.arguments, Arguments::Function)) {
            return true;
        }
        let opposite = match name {
            "PreferCheckpoint" => "PreferRecompute",
            "PreferRecompute" => "PreferCheckpoint",
            "Differentiable" => "TreatAsDifferentiable",
            "TreatAsDifferentiable" => "Differentiable",
            _ => name,
        };
        let found = before.iter().find_map(|other| {
            let of_other = self.symbol_name(other.name.symbol);
            let is_again = of_other == name;
            let is_opposed = of_other == opposite && opposite != name;
            (is_again || is_opposed).then_some((other.span, is_opposed))
        });
        let Some((first, is_opposed)) = found else {
            return true;
        };
        let (message, here) = match is_opposed {
            true => (
                format!("`[{name}]` contradicts `[{opposite}]`"),
                "the opposite",
            ),
            false => (format!("`[{name}]` is given twice"), "again"),
        };
        self.report(
            Diagnostic::new(Code::MisplacedAttribute, attribute.span, message)
                .here(here)
                .label(first, "given first")
                .help("remove one of the two"),
        );
        false
    }

    /// Whether an attribute, after those before it, means something; reported if not.
    fn check_attribute(
        &mut self,
        attribute: &ast::Attribute<'a>,
        before: &[ast::Attribute<'a>],
        position: Position,
    ) -> bool {
        // Symbol 0 is a keyword: the attribute could not be parsed.
        if attribute.name.symbol == Symbol(0) {
            return false;
        }
        let name = self.symbol_name(attribute.name.symbol).to_owned();
        let Some(kind) = attribute_kind(&name) else {
            self.unknown_attribute(attribute, &name);
            return false;
        };
        if !kind.positions.contains(&position) {
            let places = match kind.positions {
                LOOPS => "a loop",
                METHODS => "a method",
                BLOCKS => "a block",
                BOTH => "a function or a loop",
                VALUES => "a function or a texture",
                _ => "a function",
            };
            self.report(
                Diagnostic::new(
                    Code::MisplacedAttribute,
                    attribute.span,
                    format!("`[{name}]` means nothing here"),
                )
                .here("not possible here")
                .help(format!("remove it: `[{name}]` goes before {places}")),
            );
            return false;
        }
        let given = attribute.arguments.len();
        let (fits, usage) = match kind.arguments {
            Arguments::None => (given == 0, format!("[{name}]")),
            Arguments::Function => (given == 1, format!("[{name}(function)]")),
            Arguments::Count => (given == 1, format!("[{name}(8)]")),
            Arguments::PerhapsCount => (given <= 1, format!("[{name}]` or `[{name}(8)]")),
        };
        if !fits {
            let given = count_phrase(given, "argument");
            self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    attribute.span,
                    format!("`[{name}]` does not take {given}"),
                )
                .here("other arguments")
                .help(format!("write `{usage}`")),
            );
        }
        fits && self.check_repeated(attribute, before)
    }

    fn unknown_attribute(&mut self, attribute: &ast::Attribute<'a>, name: &str) {
        let foreign = FOREIGN.iter().find(|(foreign, _)| *foreign == name);
        let names = ATTRIBUTES.iter().map(|kind| kind.name);
        let help = match foreign {
            Some((_, help)) => (*help).to_owned(),
            None => match crate::closest_name(name, names.clone()) {
                Some(known) => format!("did you mean `[{known}]`?"),
                None => {
                    let names: Vec<String> = names.map(|name| format!("`[{name}]`")).collect();
                    format!("there are {}", names.join(", "))
                }
            },
        };
        self.report(
            Diagnostic::new(
                Code::UnknownAttribute,
                attribute.name.span,
                format!("there is no attribute `{name}`"),
            )
            .here("unknown")
            .help(help),
        );
    }

    /// Checks the attributes before a statement, and reads the hints of a loop.
    pub(in crate::check) fn statement_attributes(
        &mut self,
        statement: &ast::Stmt<'a>,
    ) -> LoopHints {
        let mut hints = LoopHints::default();
        if statement.attributes.is_empty() {
            return hints;
        }
        let position = match statement.kind {
            StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => Position::Loop,
            StmtKind::Block(_) => Position::Block,
            // Whatever was broken may have been a loop.
            StmtKind::Broken(_) => return hints,
            _ => Position::Other,
        };
        for (at, attribute) in statement.attributes.iter().enumerate() {
            if !self.check_attribute(attribute, &statement.attributes[..at], position) {
                continue;
            }
            let count = match attribute.arguments {
                [count] => match self.iteration_count(count) {
                    Some(count) => Some(count),
                    None => continue,
                },
                _ => None,
            };
            let span = attribute.span;
            match self.symbol_name(attribute.name.symbol) {
                "MaxIters" => hints.max_iterations = count.map(|count| (count, span)),
                "ForceUnroll" => hints.unrolled = Some((count, span)),
                "PreferCheckpoint" => hints.keeps = Some((true, span)),
                "PreferRecompute" => hints.keeps = Some((false, span)),
                _ => {}
            }
        }
        hints
    }

    /// A number of iterations: a constant int of at least 1.
    fn iteration_count(&mut self, syntax: &'a ast::Expr<'a>) -> Option<u32> {
        let value = self.expr(syntax);
        if value.is_error() {
            return None;
        }
        match (value.ty, self.fold_scalar(&value)) {
            (TypeId::INT | TypeId::UINT, Some(count)) if count as i32 > 0 => Some(count),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::NotConstant,
                        value.span,
                        "a number of iterations is a constant of at least 1",
                    )
                    .here("not such a number")
                    .help("write a whole number, or the name of a constant"),
                );
                None
            }
        }
    }
}
