//! What the sources of a session declare: names, signatures, parameters.

use super::session::{ReplSession, ScopeSource};
use adumbra::diagnostics::FileId;
use adumbra_frontend::Interner;
use adumbra_frontend::ast::{FunctionDef, Ident, ItemKind, TypeName};
use adumbra_frontend::token_kind::TypeKeyword;
use bumpalo::Bump;
use std::ops::Range;

/// A parameter of functions of the session.
pub struct DeclaredParameter {
    /// Its name, if they agree.
    pub name: Option<String>,
    pub is_float: bool,
}

/// The names that sources declare.
#[derive(Debug, Default)]
pub struct DeclaredNames {
    pub functions: Vec<String>,
    pub textures: Vec<String>,
    /// Structs, constants and resources.
    pub others: Vec<String>,
}

impl DeclaredNames {
    fn add(&mut self, text: &str) {
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
        for item in file.items {
            let (names, kind): (Vec<Ident>, _) = match item.kind {
                // Shaders cannot be called.
                ItemKind::Function(function) if function.result.is_none() => continue,
                ItemKind::Function(function) => (vec![function.name], &mut self.functions),
                ItemKind::Struct(of) => (vec![of.name], &mut self.others),
                ItemKind::TypeAlias(alias) => (vec![alias.name], &mut self.others),
                ItemKind::Declaration(declaration) => {
                    let is_texture =
                        declaration.ty.name == TypeName::Keyword(TypeKeyword::Texture2d);
                    let names = declaration.declarators.iter().map(|d| d.name).collect();
                    let kind = if is_texture {
                        &mut self.textures
                    } else {
                        &mut self.others
                    };
                    (names, kind)
                }
                _ => continue,
            };
            kind.extend(
                names
                    .iter()
                    .map(|name| interner.name(name.symbol).to_owned()),
            );
        }
    }
}

impl ReplSession {
    /// The names that the sources declare.
    pub fn declared(&self) -> DeclaredNames {
        let mut declared = DeclaredNames::default();
        self.sources_in_scope
            .iter()
            .for_each(|text| declared.add(&text.text));
        declared
    }

    /// The signatures of the functions of that name, as the sources declare them.
    pub fn signatures(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for ScopeSource { text, .. } in &self.sources_in_scope {
            for_each_function(text, |function, bytes, found_name| {
                if found_name == name {
                    let end = function.parameters_span.end as usize;
                    found.push(text[bytes.start..end].to_owned());
                }
            });
        }
        found
    }

    /// The parameters of a call of the session's functions of that name with that many arguments,
    /// as far as all that fit say the same.
    pub fn parameters(&self, name: &str, count: usize) -> Vec<DeclaredParameter> {
        let mut all: Option<Vec<DeclaredParameter>> = None;
        for ScopeSource { text, .. } in &self.sources_in_scope {
            for_each_function(text, |function, _, found| {
                let parameters = function.parameters;
                let needed = parameters.iter().rposition(|p| p.declarator.init.is_none());
                let fits = needed.map_or(0, |last| last + 1)..=parameters.len();
                if found != name || !fits.contains(&count) {
                    return;
                }
                let own = parameters[..count].iter().map(|parameter| {
                    let span = parameter.declarator.name.span;
                    DeclaredParameter {
                        name: Some(text[span.start as usize..span.end as usize].to_owned()),
                        is_float: parameter.ty.name == TypeName::Keyword(TypeKeyword::Float)
                            && parameter.ty.dimensions.is_empty()
                            && parameter.declarator.dimensions.is_empty(),
                    }
                });
                match &mut all {
                    None => all = Some(own.collect()),
                    Some(all) => {
                        for (known, other) in all.iter_mut().zip(own) {
                            known.is_float &= other.is_float;
                            known.name =
                                known.name.take().filter(|n| Some(n) == other.name.as_ref());
                        }
                    }
                }
            });
        }
        all.unwrap_or_default()
    }
}

/// Calls `visit` with each function of a source, its bytes and its name.
fn for_each_function(text: &str, mut visit: impl FnMut(&FunctionDef<'_>, Range<usize>, &str)) {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
    for item in file.items {
        if let ItemKind::Function(function) = item.kind {
            let bytes = item.span.start as usize..item.span.end as usize;
            visit(function, bytes, interner.name(function.name.symbol));
        }
    }
}
