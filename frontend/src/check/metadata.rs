//! Metadata, `<<< name = literal, flag >>>`: of shader parameters, where any is allowed, and of
//! textures, where four names have a meaning to hosts that read files.

use super::TypeChecker;
use crate::ast;
use crate::edit_distance::closest_name;
use crate::interner::Symbol;
use adumbra_ir::metadata::MetadataValue;
use adumbra_ir::module::Texture;
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::HashMap;

/// Names and values, in the order written.
pub(super) type CheckedMetadata<'a> = &'a [(Symbol, MetadataValue<Symbol>)];

/// Bytes of the longest name of a file that a help repeats.
const MAX_REPEATED_FILE: usize = 120;

impl<'a> TypeChecker<'a, '_> {
    /// The values of `<<< name = literal, flag >>>`; a flag is true.
    pub(super) fn metadata(&mut self, entries: &[ast::MetadataItem<'a>]) -> CheckedMetadata<'a> {
        let mut known = HashMap::new();
        for entry in entries {
            if let Some(first) = known.insert(entry.name.symbol, entry.name.span) {
                let text = self.symbol_name(entry.name.symbol);
                let message = format!("the metadata says `{text}` twice");
                self.report(
                    Diagnostic::new(Code::Redeclared, entry.name.span, message)
                        .here("said again")
                        .label(first, "said here first")
                        .help("keep one of them"),
                );
            }
        }
        let arena = self.arena;
        let said = entries.iter().map(|entry| {
            let value = entry.value.map_or(MetadataValue::Bool(true), |value| {
                self.metadata_value(value)
            });
            (entry.name.symbol, value)
        });
        arena.alloc_slice_fill_iter(said)
    }

    /// A literal, perhaps under a minus, as the grammar says.
    fn metadata_value(&mut self, value: &'a ast::Expr<'a>) -> MetadataValue<Symbol> {
        let (negative, literal) = match value.kind {
            ast::ExprKind::Unary(_, literal) => (true, literal),
            _ => (false, value),
        };
        match literal.kind {
            ast::ExprKind::Float(x) => MetadataValue::Float(if negative { -x } else { x }),
            ast::ExprKind::Int(n) if negative => MetadataValue::Int(n.wrapping_neg()),
            ast::ExprKind::Int(n) => MetadataValue::Int(n),
            ast::ExprKind::Uint(n) if negative => MetadataValue::Uint(n.wrapping_neg()),
            ast::ExprKind::Uint(n) => MetadataValue::Uint(n),
            ast::ExprKind::String(text) if !negative => MetadataValue::String(text),
            ast::ExprKind::Bool(flag) if !negative => MetadataValue::Bool(flag),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::BadOperand,
                        value.span,
                        "there is no `-` of a string or bool",
                    )
                    .here("this is no number")
                    .help("leave out the `-`"),
                );
                MetadataValue::Bool(false)
            }
        }
    }

    /// The metadata of a texture. Its file is a string, and its wrap modes and color space are
    /// among the known ones; other names are the host's own.
    pub(super) fn texture_metadata(
        &mut self,
        entries: &[ast::MetadataItem<'a>],
    ) -> CheckedMetadata<'a> {
        let metadata = self.metadata(entries);
        for (entry, &(name, value)) in entries.iter().zip(metadata) {
            let name = self.symbol_name(name).to_owned();
            let span = entry.value.map_or(entry.name.span, |value| value.span);
            match name.as_str() {
                Texture::FILE => self.check_texture_file(value, span),
                Texture::WRAP_U | Texture::WRAP_V => {
                    self.check_texture_choice(&name, value, &Texture::WRAPS, span);
                }
                Texture::COLOR_SPACE => {
                    self.check_texture_choice(&name, value, &Texture::COLOR_SPACES, span);
                }
                _ => self.warn_misspelt_texture_metadata(&name, entry.name.span),
            }
        }
        metadata
    }

    fn check_texture_file(&mut self, value: MetadataValue<Symbol>, span: Span) {
        let is_named = match value {
            MetadataValue::String(file) => !self.symbol_name(file).is_empty(),
            _ => false,
        };
        if !is_named {
            let message = "the `file` of a texture is the name of a file, a string";
            self.report(
                Diagnostic::new(Code::BadMetadata, span, message)
                    .here("not the name of a file")
                    .help(
                        "write `file = \"wood.png\"`; the path begins at the folder of this source",
                    ),
            );
        }
    }

    fn check_texture_choice(
        &mut self,
        name: &str,
        value: MetadataValue<Symbol>,
        known: &[&str],
        span: Span,
    ) {
        let value = match value {
            MetadataValue::String(value) => self.symbol_name(value),
            _ => "",
        };
        if known.contains(&value) {
            return;
        }
        let help = match closest_name(value, known.iter().copied()) {
            Some(meant) => format!("did you mean `{name} = {meant:?}`?"),
            None => {
                let known: Vec<String> = known.iter().map(|value| format!("{value:?}")).collect();
                format!("write one of {}", known.join(", "))
            }
        };
        let message = format!("`{name}` of a texture has no such value");
        self.report(
            Diagnostic::new(Code::BadMetadata, span, message)
                .here("not known")
                .help(help),
        );
    }

    /// Warns of a name that is nearly one with a meaning. `tile` is no `file`: a short name is
    /// meant if only its case differs.
    fn warn_misspelt_texture_metadata(&mut self, name: &str, span: Span) {
        let longer = [Texture::WRAP_U, Texture::WRAP_V, Texture::COLOR_SPACE];
        let meant = match name.eq_ignore_ascii_case(Texture::FILE) {
            true => Some(Texture::FILE),
            false => closest_name(name, longer.into_iter()),
        };
        if let Some(meant) = meant {
            let message =
                format!("`{name}` of a texture means nothing to the hosts that read files");
            self.warn(
                Diagnostic::new(Code::MisspeltMetadata, span, message)
                    .here("not obeyed")
                    .help(format!("did you mean `{meant}`?")),
            );
        }
    }

    /// Reports metadata of what the host never sees.
    pub(super) fn refuse_metadata(&mut self, declarator: &ast::Declarator<'a>) {
        if let [first, .., last] | [first @ last] = declarator.metadata {
            let message = "only parameters of shaders, textures and buffers have metadata";
            self.report(
                Diagnostic::new(
                    Code::BadMetadata,
                    first.name.span.to(last.name.span),
                    message,
                )
                .here("not possible here")
                .help("leave it out, or make this an input of the shader"),
            );
        }
    }

    /// The way to give a texture its file, for one that has an initialiser.
    pub(super) fn texture_file_help(&self, name: &str, init: &ast::Initializer<'a>) -> String {
        let file = match init.kind {
            ast::InitializerKind::Expr(&ast::Expr {
                kind: ast::ExprKind::String(file),
                ..
            }) => Some(self.symbol_name(file)),
            _ => None,
        };
        let file = file.filter(|file| !file.is_empty() && file.len() <= MAX_REPEATED_FILE);
        format!(
            "write `texture2d {name} <<< file = {:?} >>>;`, or name its file where it is drawn: `image --texture {name}=FILE`",
            file.unwrap_or("FILE")
        )
    }
}
