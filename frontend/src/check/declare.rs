//! What files declare: structs, textures, resources, constants, signatures of functions and shaders.
//!
//! Names of structs come first, so that a type may be used before it is defined; then everything else, in the order of [`super::order`].

use super::names::{Named, Value};
use super::order::{Step, in_order};
use super::resolve::OpenLength;
use super::tree::{Expr, FunctionId, LocalId, Param};
use super::types::TypeId;
use super::{Checker, Constant, Declared};
use crate::ast::{self, ItemKind, TypeName};
use crate::interner::Symbol;
use crate::kind::TypeKeyword;
use crate::limits::{MAX_OVERLOADS, MAX_SHADER_SCALARS};
use adumbra_ir::metadata::MetadataValue;
use adumbra_ir::{Code, Diagnostic, Span};
use std::collections::HashMap;

impl<'a> Checker<'a, '_> {
    /// Declares what the host offers.
    pub(super) fn declare_globals(&mut self, globals: &[(String, adumbra_ir::Type)]) {
        for (name, ty) in globals {
            let ty = TypeId::of_host(ty).unwrap_or(TypeId::ERROR);
            let symbol = self.interner.intern(name);
            self.names.set_global(symbol, self.globals.len() as u32);
            self.globals.push((symbol, ty));
        }
    }

    /// Declares what the files declare.
    pub(super) fn declare_files(&mut self, files: &[ast::File<'a>]) {
        for item in files.iter().flat_map(|file| file.items) {
            match item.kind {
                ItemKind::Struct(item) => self.declare_struct(item),
                ItemKind::Broken(names) => {
                    for name in names {
                        self.names.set_named(name.symbol, Named::Broken);
                    }
                }
                _ => {}
            }
        }
        let steps = in_order(files);
        for step in &steps {
            if let Step::Name(_, declarator) = step {
                self.waiting.insert(declarator.name.symbol);
            }
        }
        for step in steps {
            match step {
                Step::Name(declaration, declarator) => {
                    self.declare_name(declaration, declarator);
                    self.waiting.remove(&declarator.name.symbol);
                }
                Step::Item(item) => match item.kind {
                    ItemKind::Struct(item) => {
                        if let Named::Struct(number) = self.names.named(item.name.symbol) {
                            self.define_struct(number, 0);
                        }
                    }
                    ItemKind::Function(function) => {
                        self.declare_function(function);
                    }
                    ItemKind::Declaration(_) | ItemKind::Broken(_) => {}
                },
            }
        }
        for index in 0..self.functions.len() {
            let Declared { syntax, name, .. } = self.functions[index];
            if syntax.is_some_and(|f| f.body.is_none()) {
                let text = self.text(name.symbol).to_owned();
                self.report(
                    Diagnostic::new(
                        Code::NeverDefined,
                        name.span,
                        format!("`{text}` is declared but never defined"),
                    )
                    .here("no body in any of the files")
                    .help("there are no external functions: define it in the language, or let the host offer its result as a global"),
                );
            }
        }
    }

    /// Reports a second declaration of a name.
    pub(super) fn redeclared(&mut self, name: ast::Name, first: Option<Span>) {
        let text = self.text(name.symbol).to_owned();
        let message = format!("`{text}` is declared twice in one scope");
        let mut diagnostic = Diagnostic::new(Code::Redeclared, name.span, message)
            .here("declared again")
            .help("rename one of them, or assign instead of declaring");
        if let Some(first) = first {
            diagnostic = diagnostic.label(first, "declared here first");
        }
        self.report(diagnostic);
    }

    /// A texture, resource or constant.
    fn declare_name(
        &mut self,
        declaration: &'a ast::Declaration<'a>,
        declarator: &'a ast::Declarator<'a>,
    ) {
        let name = declarator.name;
        let known = self.names.here(name.symbol);
        if let Some(known) = known {
            let first = match known {
                Value::Constant(number) => Some(self.constants[number as usize].name.span),
                Value::Texture(number) => Some(self.textures[number as usize].span),
                Value::Resource(number) => Some(self.resources[number as usize].span),
                Value::Local(_) | Value::Unknown => None,
            };
            self.redeclared(name, first);
            return;
        }
        if declaration.ty.name == TypeName::Keyword(TypeKeyword::Texture2d) {
            let number = self.textures.len() as u32;
            self.textures.push(name);
            self.names.declare(name.symbol, Value::Texture(number));
            self.names.set_texture(name.symbol, number);
            return;
        }
        let is_plain = declarator.dimensions.is_empty() && declarator.init.is_none();
        if declaration.ty.name == TypeName::Keyword(TypeKeyword::ShaderResource) && is_plain {
            let number = self.resources.len() as u32;
            self.resources.push(name);
            self.names.declare(name.symbol, Value::Resource(number));
            return;
        }
        let open = OpenLength::of(declarator.init);
        let ty = self.resolve_type(&declaration.ty, declarator.dimensions, open);
        let holds = ty != TypeId::ERROR && self.can_store(ty, declaration.ty.span);
        let bits = match declarator.init {
            _ if !holds => None,
            Some(init) => {
                let value = self.initializer(init, ty, name);
                self.constant_bits(&value)
            }
            None => {
                let count = self.types.scalar_count(ty) as usize;
                Some(&*self.arena.alloc_slice_fill_copy(count, 0))
            }
        };
        let ty = if holds { ty } else { TypeId::ERROR };
        let number = self.constants.len() as u32;
        self.constants.push(Constant {
            name,
            ty,
            bits,
            local: None,
        });
        self.names.declare(name.symbol, Value::Constant(number));
    }

    /// Declares a function of the user or, if so set, of the library.
    pub(super) fn declare_function(&mut self, syntax: &'a ast::Function<'a>) -> FunctionId {
        let result = match &syntax.result {
            Some(ty) if self.is_misspelt_shader(ty) => TypeId::ERROR,
            Some(ty) => self.resolve_type(ty, &[], OpenLength::Unknown),
            None => TypeId::VOID,
        };
        if let (TypeId::TEXTURE, Some(ty)) = (result, &syntax.result) {
            self.can_hold(result, ty.span);
        }
        let params = self.parameters(syntax);
        let mut declared = Declared {
            syntax: Some(syntax),
            name: syntax.name,
            is_library: self.is_library,
            result,
            params,
            next: self.names.functions(syntax.name.symbol, self.is_library),
            locals: &[],
            body: &[],
        };
        let id = FunctionId(self.functions.len() as u32);
        let mut count = 0;
        let mut other = declared.next;
        while let Some(known) = other {
            if self.same_signature(&declared, self.declared(known)) {
                return self.merge(known, declared);
            }
            other = self.declared(known).next;
            count += 1;
        }
        if count >= MAX_OVERLOADS {
            let text = self.text(syntax.name.symbol).to_owned();
            self.report(
                Diagnostic::new(
                    Code::TooManyOverloads,
                    syntax.name.span,
                    format!("too many functions are called `{text}`"),
                )
                .here("one too many")
                .help(format!(
                    "{MAX_OVERLOADS} functions of one name is the limit; rename some"
                )),
            );
            declared.next = None;
            self.functions.push(declared);
            return id;
        }
        self.functions.push(declared);
        self.names
            .set_functions(syntax.name.symbol, self.is_library, id);
        id
    }

    fn same_signature(&self, a: &Declared, b: &Declared) -> bool {
        let is_shader = |f: &Declared| f.syntax.is_some_and(ast::Function::is_shader);
        if is_shader(a) || is_shader(b) {
            return is_shader(a) == is_shader(b);
        }
        a.params.len() == b.params.len() && a.params.iter().zip(b.params).all(|(a, b)| a.ty == b.ty)
    }

    /// Joins a second declaration of a function with its first: one of them must be a prototype.
    fn merge(&mut self, known: FunctionId, new: Declared<'a>) -> FunctionId {
        let old = *self.declared(known);
        let has_body = |f: &Declared| f.syntax.is_some_and(|f| f.body.is_some());
        let directions =
            |f: &Declared<'a>| f.params.iter().map(|p| p.direction).collect::<Vec<_>>();
        if has_body(&old) && has_body(&new) {
            self.redeclared(new.name, Some(old.name.span));
            return known;
        }
        if old.result != new.result || directions(&old) != directions(&new) {
            let text = self.text(new.name.symbol).to_owned();
            self.report(
                Diagnostic::new(
                    Code::Redeclared,
                    new.name.span,
                    format!("`{text}` is declared with two different results or directions of parameters"),
                )
                .here("differs")
                .label(old.name.span, "from this")
                .help("make both alike"),
            );
            return known;
        }
        let (first, second) = match has_body(&new) {
            true => (new, old),
            false => (old, new),
        };
        let params = first.params.iter().zip(second.params);
        let params = params.map(|(a, b)| Param {
            default: a.default.or(b.default),
            metadata: match a.metadata {
                [] => b.metadata,
                metadata => metadata,
            },
            ..*a
        });
        let params = self.arena.alloc_slice_fill_iter(params);
        self.functions[known.0 as usize] = Declared {
            params,
            next: old.next,
            ..first
        };
        known
    }

    fn parameters(&mut self, syntax: &'a ast::Function<'a>) -> &'a [Param<'a>] {
        let mut params =
            bumpalo::collections::Vec::with_capacity_in(syntax.parameters.len(), self.arena);
        let mut scalars = [0u64; 2];
        for (index, parameter) in syntax.parameters.iter().enumerate() {
            let name = parameter.declarator.name;
            let dimensions = parameter.declarator.dimensions;
            let mut ty = self.resolve_type(&parameter.ty, dimensions, OpenLength::Unknown);
            let holds = match parameter.direction {
                ast::Direction::Out => self.can_store(ty, parameter.ty.span),
                _ => self.can_hold(ty, parameter.ty.span),
            };
            if !holds {
                ty = TypeId::ERROR;
            }
            self.defaults_of = Some(syntax);
            let default = parameter.declarator.init.map(|init| {
                let value = self.initializer(init, ty, name);
                self.keep(value)
            });
            self.defaults_of = None;
            if syntax.is_shader() {
                self.shader_parameter(parameter, ty, default, &mut scalars);
            }
            params.push(Param {
                name: name.symbol,
                ty,
                direction: parameter.direction,
                default,
                local: LocalId(index as u32),
                metadata: self.metadata(parameter.metadata),
                span: name.span,
            });
        }
        params.into_bump_slice()
    }

    /// What `<<< name = literal, flag >>>` says; a flag is true.
    fn metadata(&mut self, entries: &[ast::Metadata<'a>]) -> &'a [(Symbol, MetadataValue<Symbol>)] {
        let mut known = HashMap::new();
        for entry in entries {
            if let Some(first) = known.insert(entry.name.symbol, entry.name.span) {
                let text = self.text(entry.name.symbol);
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
            ast::ExprKind::String(text) if !negative => MetadataValue::Text(text),
            ast::ExprKind::Bool(flag) if !negative => MetadataValue::Bool(flag),
            _ => {
                self.report(
                    Diagnostic::new(
                        Code::BadOperand,
                        value.span,
                        "there is no `-` of a text or bool",
                    )
                    .here("this is no number")
                    .help("leave out the `-`"),
                );
                MetadataValue::Bool(false)
            }
        }
    }

    /// What holds for the parameters of shaders alone.
    fn shader_parameter(
        &mut self,
        parameter: &ast::Parameter<'a>,
        ty: TypeId,
        default: Option<&'a Expr<'a>>,
        scalars: &mut [u64; 2],
    ) {
        let span = parameter.declarator.name.span;
        let bad = |message: &str, help: &str| {
            Diagnostic::new(Code::BadShaderParameter, span, message)
                .here("not possible here")
                .help(help)
        };
        let is_input = parameter.direction == ast::Direction::In;
        if parameter.direction == ast::Direction::InOut {
            self.report(bad(
                "a shader has no `inout` parameters",
                "make it an input, or an output with `out`",
            ));
        }
        if is_input && ty == TypeId::RESOURCE {
            self.report(bad(
                "a resource is no input of a shader",
                "declare it at file level: `shader_resource name;`",
            ));
        }
        if let Some(default) = default {
            self.constant_bits(default);
        }
        let sum = &mut scalars[usize::from(is_input)];
        *sum += self.types.scalar_count(ty);
        if *sum > MAX_SHADER_SCALARS {
            *sum = 0;
            self.report(bad("the shader has too many parameters", "").help(format!(
                "{MAX_SHADER_SCALARS} numbers is the limit, in and out each"
            )));
        }
    }
}
