//! Unknown names, with suggestions of the known name that was probably meant.
//!
//! Candidates are all names visible at the place. The work is bounded: the search ends once enough
//! suggestions were made. A name that a function lacks is reported once, with its further uses as
//! labels; so is a name that a file lacks outside of functions.

use super::TypeChecker;
use super::builtin;
use super::call::CallArguments;
use super::derivative::names::{PAIR_BUILTINS, derivative_mode};
use super::foreign::{
    ForeignGlobal, foreign_function_fix, foreign_global, foreign_type_fix, foreign_value_fix,
};
use super::overload_resolution::is_shader;
use super::symbol_table::{
    HIT_GLOBALS, IMAGE_GLOBALS, TypeBinding, predeclared_type, predeclared_type_names,
};
use super::typed_tree::TypedExpr;
use super::types::{TypeId, TypeKind};
use crate::ast::{self, DERIVATIVE_MODES, PAIR};
use crate::edit_distance::closest_name;
use crate::interner::Symbol;
use crate::syntax_error::foreign_keyword;
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::{Code, Diagnostic, Label, Span};

/// Most names that a help lists.
const MAX_LISTED: usize = 12;

/// Most labels that a diagnostic has for further uses of the same name.
pub(crate) const MAX_REPEATS: usize = 3;

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn unknown_value(&mut self, symbol: Symbol, span: Span) -> TypedExpr<'a> {
        if self.names.type_binding(symbol) == TypeBinding::Broken {
            // Its declaration was reported.
            return TypedExpr::error(span);
        }
        let text = self.symbol_name(symbol).to_owned();
        if self.undeclared_constants.contains(&symbol) && !self.is_library {
            self.report(
                Diagnostic::new(
                    Code::ConstantCycle,
                    span,
                    format!("the value of `{text}` depends on `{text}` itself"),
                )
                .here("the cycle closes here")
                .help("give one of the constants on the way a value of its own"),
            );
            return TypedExpr::error(span);
        }
        if let Some(help) = self.other_parameter(symbol, &text) {
            let message = format!("a default is known before the call, and `{text}` is not");
            self.report(
                Diagnostic::new(Code::NotConstant, span, message)
                    .here("another parameter")
                    .help(help),
            );
            return TypedExpr::error(span);
        }
        if let Some((is, help)) = self.without_value(symbol, &text) {
            let message = format!("`{text}` is a {is}, not a value");
            self.report(
                Diagnostic::new(Code::NotAValue, span, message)
                    .here("no value")
                    .help(help),
            );
            return TypedExpr::error(span);
        }
        if self.is_known_to_lack(Code::UnknownName, symbol, span) {
            return TypedExpr::error(span);
        }
        if let Some(report) = self.parameter_of_shader(symbol, span) {
            self.report(report);
            return TypedExpr::error(span);
        }
        let in_session = self.session.is_some() && !self.is_library;
        let globals = self.globals.iter().map(|(symbol, _)| *symbol);
        let globals = globals.filter(|_| in_session);
        let names = self.names.visible().chain(globals);
        let known = self.closest(&text, names.map(|symbol| self.symbol_name(symbol)));
        let foreign =
            foreign_value_fix(&text).or_else(|| foreign_keyword::foreign_opener_fix(&text));
        let foreign_global = foreign_global(&text).and_then(|foreign| self.offered(foreign));
        let help = match known {
            _ if self.names.global(symbol).is_some() => {
                format!("read the host's global with `global_value<{text}>`")
            }
            _ if foreign.is_some() => foreign.unwrap_or_default().to_owned(),
            _ if foreign_global.is_some() => foreign_global.unwrap_or_default(),
            Some(known) => format!("did you mean `{known}`?"),
            None if in_session => {
                format!("give it a value: `{text} = 0.5` in a session, `-g {text}=0.5` to `eval`")
            }
            None => format!("declare it first: `float {text} = 0.0;`"),
        };
        self.report(
            Diagnostic::new(
                Code::UnknownName,
                span,
                format!("nothing is called `{text}`"),
            )
            .here("not declared")
            .help(help),
        );
        TypedExpr::error(span)
    }

    /// How to read what another language names differently, if the host has it or the name is
    /// unambiguous.
    fn offered(&self, foreign: &ForeignGlobal) -> Option<String> {
        let mut globals = self
            .globals
            .iter()
            .map(|(symbol, _)| self.symbol_name(*symbol));
        let is_there = globals.any(|name| name == foreign.global);
        let is = format!(
            "{}'s `{}` is `{}` here",
            foreign.language, foreign.name, foreign.read
        );
        match is_there {
            true => Some(is),
            false if foreign.is_unmistakable && self.is_host_struct => {
                Some(format!("{is}; the host has no such global"))
            }
            false if foreign.is_unmistakable => Some(format!(
                "{is}; `image` has that global, and `--globals picture` declares it"
            )),
            false => None,
        }
    }

    /// Whether this function is already reported to lack the name; then that diagnostic gets a
    /// label for the place. Otherwise the caller reports it.
    fn is_known_to_lack(&mut self, code: Code, symbol: Symbol, span: Span) -> bool {
        let next = self.diagnostics.len();
        let key = (code, self.current, span.file, symbol);
        let number = *self.lacking.entry(key).or_insert(next);
        let Some(said) = self.diagnostics.get_mut(number) else {
            return false;
        };
        if said.labels.len() < MAX_REPEATS {
            said.labels.push(Label {
                span,
                message: "and here".to_owned(),
            });
        }
        true
    }

    /// The meaning of a word that has no value, and its use.
    fn without_value(&self, symbol: Symbol, text: &str) -> Option<(&'static str, String)> {
        let function = self.names.newest_function(symbol, self.is_library);
        if function.is_some_and(|function| is_shader(self.declared(function))) {
            let help = "the host runs shaders: move what both need into a function, and call that";
            Some(("shader", help.to_owned()))
        } else if matches!(self.names.type_binding(symbol), TypeBinding::Struct(_)) {
            Some((
                "type",
                format!("declare a variable of that type: `{text} value;`"),
            ))
        } else if function.is_none() && predeclared_type(text).is_some() {
            Some(("type", format!("call it: `{text}(…)`")))
        } else if function.is_none() && derivative_mode(text).is_some() {
            Some((
                "function",
                format!("name what it differentiates, and call that: `{text}(f)(x)`"),
            ))
        } else if function.is_some() || super::is_built_in(text) {
            Some(("function", format!("call it: `{text}(…)`")))
        } else {
            None
        }
    }

    /// The fix for a default that names another parameter of its function.
    fn other_parameter(&self, symbol: Symbol, text: &str) -> Option<String> {
        let function = self.defaults_of?;
        let mut names = function.parameters.iter().map(|p| p.declarator.name);
        names.any(|name| name.symbol == symbol).then(|| {
            let name = self.symbol_name(function.name.symbol);
            match function.is_shader() {
                true => "give it a constant default, and compute in the shader what depends on other parameters".to_owned(),
                false => format!(
                    "leave the default out, and write a second `{name}` without this parameter that computes it from `{text}` and calls the first"
                ),
            }
        })
    }

    /// The report of a name that is a parameter of a shader, and is read outside of it.
    fn parameter_of_shader(&self, symbol: Symbol, span: Span) -> Option<Diagnostic> {
        let (shader, param) = self.functions.iter().find_map(|function| {
            let mut params = function.params.iter().filter(|_| is_shader(function));
            Some((function, params.find(|param| param.name == symbol)?))
        })?;
        let text = self.symbol_name(symbol);
        let name = self.symbol_name(shader.name.symbol);
        let is_input = param.direction == ast::ParamDirection::In;
        let what = if is_input { "an input" } else { "an output" };
        let ty = self.types.name(param.ty, self.interner);
        let here = match self.current {
            super::NO_FUNCTION => None,
            current => Some(self.declared(current)),
        };
        let help = match here {
            Some(here) if is_shader(here) && is_input => {
                format!("give this shader an input of its own: `{ty} {text}`")
            }
            Some(here) if !is_shader(here) && is_input => {
                let function = self.symbol_name(here.name.symbol);
                let passed = match here.params.len() - usize::from(here.owner.is_some()) {
                    0 => text.to_owned(),
                    _ => format!("…, {text}"),
                };
                format!(
                    "give `{function}` a parameter `{ty} {text}`, and pass the input to it: `{function}({passed})`"
                )
            }
            Some(_) => format!("write it in `{name}`: return the value, and assign it there"),
            None => {
                "a constant is computed from constants alone: compute this in the shader".to_owned()
            }
        };
        let message = format!("`{text}` is {what} of the shader `{name}`, which alone sees it");
        let report = Diagnostic::new(Code::UnknownName, span, message)
            .here("not declared here")
            .label(param.span, format!("{what} of `{name}`"))
            .help(help);
        Some(report)
    }

    /// Reports a call of an unknown function; its arguments' types are known unless the name is
    /// foreign.
    pub(super) fn unknown_function(
        &mut self,
        name: ast::Ident,
        args: Option<CallArguments<'_, 'a>>,
    ) {
        let text = self.symbol_name(name.symbol).to_owned();
        if let Some(help) = foreign_type_fix(&text) {
            self.unsupported_type(name.symbol, help, name.span);
            return;
        }
        if self.is_known_to_lack(Code::UnknownFunction, name.symbol, name.span) {
            return;
        }
        let names = self.names.visible().map(|symbol| self.symbol_name(symbol));
        let fixed: Vec<&str> = builtin::builtin_names()
            .chain(adumbra_stdlib::function_names())
            .chain(DERIVATIVE_MODES)
            .chain(PAIR_BUILTINS.iter().map(|(name, _)| *name))
            .collect();
        // A type makes its values by a call.
        let names = names.chain(fixed).chain(self.type_names());
        let help = match (foreign_function_fix(&text), self.closest(&text, names)) {
            (Some(help), _) => help.into_owned(),
            (_, Some(known)) => format!("did you mean `{known}`?"),
            _ => {
                let params = args.map(|args| self.parameters_for(args));
                let params = params.unwrap_or_else(|| "…".to_owned());
                format!("define it: `float {text}({params}) {{ … }}`")
            }
        };
        self.report(
            Diagnostic::new(
                Code::UnknownFunction,
                name.span,
                format!("no function is called `{text}`"),
            )
            .here("not declared")
            .help(help),
        );
    }

    /// Parameters for the arguments of a call: their types, with the names of the passed variables.
    fn parameters_for(&self, args: CallArguments<'_, 'a>) -> String {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        if args.values.len() > NAMES.len() {
            return "…".to_owned();
        }
        let mut names: Vec<&str> = Vec::new();
        for (syntax, free) in args.syntax.iter().zip(NAMES) {
            let own = match syntax.kind {
                ast::ExprKind::Name(symbol) => Some(self.symbol_name(symbol)),
                _ => None,
            };
            let own = own.filter(|own| !names.contains(own) && !NAMES.contains(own));
            names.push(own.unwrap_or(free));
        }
        let params = args
            .values
            .iter()
            .zip(names)
            .map(|(value, name)| match value.ty {
                TypeId::ERROR | TypeId::VOID => format!("float {name}"),
                ty => format!("{} {name}", self.types.name(ty, self.interner)),
            });
        params.collect::<Vec<_>>().join(", ")
    }

    fn unsupported_type(&mut self, symbol: Symbol, help: &str, span: Span) {
        if self.is_known_to_lack(Code::UnsupportedType, symbol, span) {
            return;
        }
        let message = format!("there is no type `{}`", self.symbol_name(symbol));
        self.report(
            Diagnostic::new(Code::UnsupportedType, span, message)
                .here("not a type of the language")
                .help(help),
        );
    }

    pub(super) fn unknown_type(&mut self, symbol: Symbol, span: Span) -> TypeId {
        let text = self.symbol_name(symbol).to_owned();
        let deduced = match &*text {
            "let" => Some("a constant without a type needs a value: `let x = 1.0;`"),
            "var" => Some("a variable without a type needs a value: `var x = 1.0;`"),
            "auto" => Some("write `var`: `var x = 1.0;`"),
            _ => None,
        };
        if let Some(help) = deduced
            .or_else(|| foreign_type_fix(&text))
            .or_else(|| foreign_keyword::foreign_opener_fix(&text))
        {
            self.unsupported_type(symbol, help, span);
            return TypeId::ERROR;
        }
        if self.is_known_to_lack(Code::UnknownType, symbol, span) {
            return TypeId::ERROR;
        }
        let help = match self.closest(&text, self.type_names()) {
            _ if text == PAIR => format!("write the type of its value: `{PAIR}<float>`"),
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("declare it: `struct {text} {{ … }};`"),
        };
        self.report(
            Diagnostic::new(
                Code::UnknownType,
                span,
                format!("no type is called `{text}`"),
            )
            .here("not declared")
            .help(help),
        );
        TypeId::ERROR
    }

    /// Every name of a type.
    pub(super) fn type_names(&self) -> impl Iterator<Item = &str> {
        let structs = self.names.types().map(|symbol| self.symbol_name(symbol));
        let keywords = TokenSet::TYPES.iter().map(TokenKind::text);
        let fixed: Vec<&str> = keywords.chain(predeclared_type_names()).collect();
        structs.chain(fixed)
    }

    pub(super) fn unknown_member(
        &mut self,
        operand: &ast::Expr<'a>,
        ty: TypeId,
        name: ast::Ident,
        span: Span,
    ) -> TypedExpr<'a> {
        let text = self.symbol_name(name.symbol).to_owned();
        let is = self.quoted_type(ty);
        let help = match self.types.kind(ty) {
            _ if let Some(derivative) = derivative_of(&text) => {
                format!("a derivative is taken by a call: `{derivative}(…)`")
            }
            TypeKind::Vector(_)
                if let ast::ExprKind::TextureSample(sample, texture, _) = operand.kind
                    && text.contains(['a', 'w']) =>
            {
                let alpha = ast::TextureSample {
                    alpha: true,
                    ..sample
                };
                let (alpha, texture) = (alpha.keyword(), self.symbol_name(texture.symbol));
                format!("a sample is a colour without alpha, which is `{alpha}<{texture}>(…)`")
            }
            TypeKind::Struct(number) => {
                let members = self
                    .types
                    .members(number)
                    .iter()
                    .map(|m| self.symbol_name(m.name));
                match self.closest(&text, members.clone()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("it has {}", listed(members)),
                }
            }
            TypeKind::Vector(width) => {
                let (a, b) = (&"xyzw"[..width as usize], &"rgba"[..width as usize]);
                format!("its components are `{a}` or `{b}`, up to four at once")
            }
            TypeKind::Array(..) => "elements are read with an index: `w[0]`".to_owned(),
            TypeKind::Matrix(_) => {
                "numbers are read by row and column, counted from 0: `m[0][1]`".to_owned()
            }
            _ => "only structs and vectors have members".to_owned(),
        };
        self.report(
            Diagnostic::new(
                Code::UnknownMember,
                name.span,
                format!("{is} has no member `{text}`"),
            )
            .here("not there")
            .help(help),
        );
        TypedExpr::error(span)
    }

    pub(super) fn unknown_global(&mut self, name: ast::Ident, span: Span) -> TypedExpr<'a> {
        if self.is_known_to_lack(Code::UnknownGlobal, name.symbol, name.span) {
            return TypedExpr::error(span);
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let globals = self
            .globals
            .iter()
            .map(|(symbol, _)| self.symbol_name(*symbol));
        let is_of_hit = HIT_GLOBALS.contains(&text.as_str());
        let is_of_image = IMAGE_GLOBALS.contains(&text.as_str());
        let similar = self.closest(&text, globals.clone());
        let there = match self.globals.is_empty() {
            true => "the host declares none".to_owned(),
            false => format!("there is {}", listed(globals)),
        };
        let help = match similar.filter(|_| !is_of_hit && !is_of_image) {
            Some(known) => format!("did you mean `{known}`?"),
            None if self.is_host_struct => there,
            None => {
                let fix = match is_of_hit {
                    _ if is_of_image => {
                        "`--globals picture` declares it, and `image` has it at each pixel"
                            .to_owned()
                    }
                    true => {
                        "`--globals hit` declares it; for an image, `--surface` does, with values"
                            .to_owned()
                    }
                    false => format!("`-g {text}=VALUE:DDX:DDY`, each as `0.5` or `1,2,3`"),
                };
                format!("{there}; on the command line, {fix}")
            }
        };
        self.report(
            Diagnostic::new(
                Code::UnknownGlobal,
                name.span,
                format!("the host has no global `{text}`"),
            )
            .here("not declared by the host")
            .help(help),
        );
        TypedExpr::error(span)
    }

    pub(super) fn unknown_texture(&mut self, name: ast::Ident) {
        if self.is_known_to_lack(Code::UnknownTexture, name.symbol, name.span) {
            return;
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let textures = self
            .textures
            .iter()
            .map(|texture| self.symbol_name(texture.name.symbol));
        let help = match self.closest(&text, textures) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("declare it at file level: `texture2d {text};`"),
        };
        self.report(
            Diagnostic::new(
                Code::UnknownTexture,
                name.span,
                format!("no texture is called `{text}`"),
            )
            .here("not declared")
            .help(help),
        );
    }

    pub(super) fn unknown_closure(&mut self, name: ast::Ident) {
        if self.is_known_to_lack(Code::UnknownClosure, name.symbol, name.span) {
            return;
        }
        let text = self.symbol_name(name.symbol).to_owned();
        let known = self.registry.iter().flatten();
        let mut known: Vec<&str> = known.map(|(&name, _)| self.symbol_name(name)).collect();
        known.sort_unstable();
        let help = match self.closest(&text, known.iter().copied()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("it knows {}", listed(known.into_iter())),
        };
        self.report(
            Diagnostic::new(
                Code::UnknownClosure,
                name.span,
                format!("the host knows no closure `{text}`"),
            )
            .here("not known")
            .help(help),
        );
    }

    /// The known name that was probably meant, while the limit of suggestions is not reached.
    fn closest<'n>(&self, text: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let is_sought = !self.is_error_limit_reached();
        let known = is_sought.then(|| closest_name(text, names)).flatten();
        known.map(str::to_owned)
    }
}

/// The function for a derivative that is written as a member.
fn derivative_of(member: &str) -> Option<&'static str> {
    match member {
        "ddx" | "dx" | "dFdx" => Some("ddx"),
        "ddy" | "dy" | "dFdy" => Some("ddy"),
        _ => None,
    }
}

/// Names in backquotes, the first few.
fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut all: Vec<String> = names
        .take(MAX_LISTED + 1)
        .map(|name| format!("`{name}`"))
        .collect();
    if all.len() > MAX_LISTED {
        all[MAX_LISTED] = "…".to_owned();
    }
    all.join(", ")
}
