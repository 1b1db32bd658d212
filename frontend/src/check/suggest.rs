//! Unknown names, with the known one that was probably meant.
//!
//! Candidates are all names visible at the place. The work is bounded: a name is compared with at most [`MAX_COMPARED`] others of about
//! its length, and a compilation asks at most [`MAX_ASKED`] times.

use super::Checker;
use super::builtin;
use super::foreign::{foreign_function, foreign_type};
use super::tree::Expr;
use super::types::{TypeId, TypeKind};
use crate::ast;
use crate::explain::habits;
use crate::interner::Symbol;
use crate::limits::{MAX_COMPARED, MAX_COMPARED_LENGTH};
use adumbra_ir::{Code, Diagnostic, Span};

/// Most unknown names that suggestions are sought for.
const MAX_ASKED: usize = 32;

/// Most names that a help lists.
const MAX_LISTED: usize = 12;

impl<'a> Checker<'a, '_> {
    pub(super) fn unknown_value(&mut self, symbol: Symbol, span: Span) -> Expr<'a> {
        let text = self.text(symbol).to_owned();
        if self.names.functions(symbol, self.is_library).is_some() || Self::is_built_in(&text) {
            self.report(
                Diagnostic::new(
                    Code::NotAValue,
                    span,
                    format!("`{text}` is a function or type, not a value"),
                )
                .here("no value")
                .help(format!("call it: `{text}(…)`")),
            );
            return Expr::error(span);
        }
        let in_session = self.session.is_some() && !self.is_library;
        let globals = self.globals.iter().map(|(symbol, _)| *symbol);
        let globals = globals.filter(|_| in_session);
        let names = self.names.visible().chain(globals);
        let known = self.closest(&text, names.map(|symbol| self.text(symbol)));
        let help = match known {
            _ if self.names.global(symbol).is_some() => {
                format!("read the host's global with `global_value<{text}>`")
            }
            Some(known) => format!("did you mean `{known}`?"),
            None if in_session => {
                format!("give it a value first: `{text} = 0.5`; to `eval`, with `-g {text}=0.5`")
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
        Expr::error(span)
    }

    pub(super) fn unknown_function(&mut self, name: ast::Name) {
        let text = self.text(name.symbol).to_owned();
        if let Some(help) = foreign_type(&text) {
            self.unsupported_type(&text, help, name.span);
            return;
        }
        let names = self.names.visible().map(|symbol| self.text(symbol));
        let fixed: Vec<&str> = builtin::names().chain(adumbra_stdlib::names()).collect();
        let names = names.chain(fixed);
        let help = match (foreign_function(&text), self.closest(&text, names)) {
            (Some(help), _) => help.to_owned(),
            (_, Some(known)) => format!("did you mean `{known}`?"),
            _ => format!("define it: `float {text}(float x) {{ … }}`"),
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

    fn unsupported_type(&mut self, text: &str, help: &str, span: Span) {
        self.report(
            Diagnostic::new(
                Code::UnsupportedType,
                span,
                format!("there is no type `{text}`"),
            )
            .here("not a type of the language")
            .help(help),
        );
    }

    pub(super) fn unknown_type(&mut self, symbol: Symbol, span: Span) -> TypeId {
        let text = self.text(symbol).to_owned();
        if let Some(help) = foreign_type(&text).or_else(|| habits::opener(&text)) {
            self.unsupported_type(&text, help, span);
            return TypeId::ERROR;
        }
        const SIMPLE: [&str; 12] = [
            "bool", "int", "uint", "float", "float2", "float3", "float4", "closure", "color",
            "vector", "point", "normal",
        ];
        let structs = self.names.types().map(|symbol| self.text(symbol));
        let help = match self.closest(&text, structs.chain(SIMPLE)) {
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

    pub(super) fn unknown_member(&mut self, ty: TypeId, name: ast::Name, span: Span) -> Expr<'a> {
        let text = self.text(name.symbol).to_owned();
        let is = self.show(ty);
        let help = match self.types.kind(ty) {
            TypeKind::Struct(number) => {
                let members = self.types.members(number).iter().map(|m| self.text(m.name));
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
        Expr::error(span)
    }

    pub(super) fn unknown_global(&mut self, name: ast::Name, span: Span) -> Expr<'a> {
        let text = self.text(name.symbol).to_owned();
        let globals = self.globals.iter().map(|(symbol, _)| self.text(*symbol));
        let help = match self.closest(&text, globals.clone()) {
            Some(known) => format!("did you mean `{known}`?"),
            None if self.globals.is_empty() => {
                format!("the host declares none; on the command line: `-g {text}=0.5:1:0`")
            }
            None => format!(
                "there is {}; on the command line: `-g {text}=0.5:1:0`",
                listed(globals)
            ),
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
        Expr::error(span)
    }

    pub(super) fn unknown_texture(&mut self, name: ast::Name) {
        let text = self.text(name.symbol).to_owned();
        let textures = self.textures.iter().map(|name| self.text(name.symbol));
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

    pub(super) fn unknown_closure(&mut self, name: ast::Name) {
        let text = self.text(name.symbol).to_owned();
        let known = self.registry.iter().flatten();
        let mut known: Vec<&str> = known.map(|(&name, _)| self.text(name)).collect();
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

    /// The known name that is closest to `text`, if any is close.
    fn closest<'n>(&self, text: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let asked = self.diagnostics.len();
        if text.len() > MAX_COMPARED_LENGTH || asked > MAX_ASKED {
            return None;
        }
        let letters = match text.len() {
            0..=3 => 1,
            4..=6 => 2,
            _ => 3,
        };
        let mut best: Option<(usize, &str)> = None;
        let near = names.filter(|name| name.len().abs_diff(text.len()) <= letters);
        for name in near.take(MAX_COMPARED) {
            let distance = distance(text, name);
            let shares_nothing = distance >= 2 * name.len().max(text.len());
            if distance > 0
                && distance <= 2 * letters
                && !shares_nothing
                && best.is_none_or(|(least, _)| distance < least)
            {
                best = Some((distance, name));
            }
        }
        best.map(|(_, name)| name.to_owned())
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

/// Twice how many letters have to be changed, added, left out or swapped with their neighbour; another case counts half.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).map(|j| 2 * j).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(2 * i);
        for j in 1..=b.len() {
            let (x, y) = (a[i - 1], b[j - 1]);
            let change = match () {
                () if x == y => 0,
                () if x.eq_ignore_ascii_case(&y) => 1,
                () => 2,
            };
            let mut least = (last[j - 1] + change).min(last[j] + 2).min(row[j - 1] + 2);
            if i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y {
                least = least.min(before[j - 2] + 2);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances() {
        assert_eq!(distance("sin", "sin"), 0);
        assert_eq!(distance("sni", "sin"), 2);
        assert_eq!(distance("sinn", "sin"), 2);
        assert_eq!(distance("Sin", "sin"), 1);
        assert_eq!(distance("colour", "color"), 2);
        assert_eq!(distance("abc", "xyz"), 6);
    }
}
