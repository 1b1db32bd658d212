//! Declarations of files: structs, textures, resources, constants, signatures of functions and
//! shaders.
//!
//! Names of structs come first, so that a type may be used before it is defined; then everything
//! else, in [topological order](super::topological_order).

use super::symbol_table::{TypeBinding, ValueBinding};
use super::topological_order::{PendingDeclaration, topological_order};
use super::type_resolution::InferredLength;
use super::typed_tree::{FunctionId, LocalId, TypedExpr, TypedParam, TypedTexture};
use super::types::TypeId;
use super::{DeclaredFunction, FileConstant, FunctionOrigin, TypeChecker};
use crate::ast::{self, ItemKind, TypeName};
use crate::limits::{MAX_OVERLOADS, MAX_SHADER_SCALARS};
use crate::token_kind::TypeKeyword;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> TypeChecker<'a, '_> {
    /// Declares the host's globals.
    pub(super) fn declare_globals(&mut self, globals: &[(String, adumbra_ir::Type)]) {
        for (name, ty) in globals {
            let ty = TypeId::from_host_type(ty).unwrap_or(TypeId::ERROR);
            let symbol = self.interner.intern(name);
            self.names.set_global(symbol, self.globals.len() as u32);
            self.globals.push((symbol, ty));
        }
    }

    /// Declares the items of the files.
    pub(super) fn declare_files(&mut self, files: &[ast::AstFile<'a>]) {
        for item in files.iter().flat_map(|file| file.items) {
            match item.kind {
                ItemKind::Struct(item) => self.declare_struct(item),
                ItemKind::TypeAlias(alias) => self.declare_alias(alias),
                ItemKind::Broken(names) => {
                    for name in names {
                        self.names
                            .set_type_binding(name.symbol, TypeBinding::Broken);
                    }
                }
                _ => {}
            }
        }
        let steps = topological_order(files);
        for step in &steps {
            if let PendingDeclaration::Name(_, declarator) = step {
                self.undeclared_constants.insert(declarator.name.symbol);
            }
        }
        for step in steps {
            match step {
                PendingDeclaration::Name(declaration, declarator) => {
                    self.declare_name(declaration, declarator);
                    self.undeclared_constants.remove(&declarator.name.symbol);
                }
                PendingDeclaration::Item(item) => match item.kind {
                    ItemKind::Struct(item) => {
                        if let TypeBinding::Struct(number) =
                            self.names.type_binding(item.name.symbol)
                        {
                            let ty = self.define_struct(number, 0);
                            self.declare_methods(ty, item);
                        }
                    }
                    ItemKind::Function(function) => {
                        self.declare_function(function);
                    }
                    ItemKind::TypeAlias(alias) => {
                        self.type_named(alias.name.symbol, 0);
                    }
                    ItemKind::Declaration(_) | ItemKind::Broken(_) => {}
                },
            }
        }
        self.resolve_attributes(files);
        for index in 0..self.functions.len() {
            let DeclaredFunction { syntax, name, .. } = self.functions[index];
            if syntax.is_some_and(|f| f.body.is_none()) {
                let text = self.symbol_name(name.symbol).to_owned();
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
    pub(super) fn report_redeclared(&mut self, name: ast::Ident, first: Option<Span>) {
        let text = self.symbol_name(name.symbol).to_owned();
        let message = format!("`{text}` is declared twice in one scope");
        let mut diagnostic = Diagnostic::new(Code::Redeclared, name.span, message)
            .here("declared again")
            .help("rename one of them, or assign instead of declaring");
        if let Some(first) = first {
            diagnostic = diagnostic.label(first, "declared here first");
        }
        self.report(diagnostic);
    }

    /// A texture, buffer, resource or constant.
    fn declare_name(
        &mut self,
        declaration: &'a ast::Declaration<'a>,
        declarator: &'a ast::Declarator<'a>,
    ) {
        let name = declarator.name;
        let known = self.names.innermost_value(name.symbol);
        if let Some(known) = known {
            let first = match known {
                ValueBinding::Constant(number) => Some(self.constants[number as usize].name.span),
                ValueBinding::Texture(number) => Some(self.textures[number as usize].name.span),
                ValueBinding::Buffer(number) => Some(self.buffers[number as usize].name.span),
                ValueBinding::Resource(number) => Some(self.resources[number as usize].span),
                ValueBinding::Local(_) | ValueBinding::Unknown => None,
            };
            self.report_redeclared(name, first);
            return;
        }
        if declaration.is_of_textures() {
            self.refuse_texture_parts(declaration, declarator);
            let number = self.textures.len() as u32;
            let metadata = self.texture_metadata(declarator.metadata);
            self.textures.push(TypedTexture {
                name,
                metadata,
                has_slopes: false,
            });
            self.names
                .declare(name.symbol, ValueBinding::Texture(number));
            self.names.set_texture(name.symbol, number);
            return;
        }
        if self.is_buffer_type(&declaration.ty) {
            self.declare_buffer(declaration, declarator);
            return;
        }
        self.refuse_metadata(declarator);
        let is_plain = declarator.dimensions.is_empty() && declarator.init.is_none();
        if declaration.ty.name == TypeName::Keyword(TypeKeyword::ShaderResource) && is_plain {
            let number = self.resources.len() as u32;
            self.resources.push(name);
            self.names
                .declare(name.symbol, ValueBinding::Resource(number));
            return;
        }
        let open = InferredLength::of(declarator.init);
        let inferred = self.inferred_value(declaration, declarator);
        let ty = match &inferred {
            Some(value) => value.ty,
            None => self.resolve_type(&declaration.ty, declarator.dimensions, open),
        };
        let holds = ty != TypeId::ERROR && self.can_store(ty, declaration.ty.span);
        let bits = match declarator.init {
            _ if !holds => None,
            Some(init) => {
                let value = match inferred {
                    Some(value) => value,
                    None => self.initializer(init, ty, name),
                };
                self.constant_bits(&value)
            }
            None => {
                let count = self.types.scalar_count(ty) as usize;
                Some(&*self.arena.alloc_slice_fill_copy(count, 0))
            }
        };
        let ty = if holds { ty } else { TypeId::ERROR };
        let number = self.constants.len() as u32;
        self.constants.push(FileConstant {
            name,
            ty,
            bits,
            local: None,
        });
        self.names
            .declare(name.symbol, ValueBinding::Constant(number));
    }

    /// Reports what a declaration of a texture has beside its name.
    fn refuse_texture_parts(
        &mut self,
        declaration: &'a ast::Declaration<'a>,
        declarator: &'a ast::Declarator<'a>,
    ) {
        let text = self.symbol_name(declarator.name.symbol).to_owned();
        if let Some(init) = declarator.init {
            self.report(
                Diagnostic::new(
                    Code::BadInitializer,
                    init.span,
                    "a texture has no value in the source: the host gives it by its name",
                )
                .here("not possible here")
                .help(self.texture_file_help(&text, init)),
            );
        }
        let dimensions = declaration
            .ty
            .dimensions
            .iter()
            .chain(declarator.dimensions);
        if let Some(dimension) = dimensions.last() {
            self.report(
                Diagnostic::new(
                    Code::BadVariableType,
                    dimension.span,
                    "there are no arrays of textures",
                )
                .here("not possible here")
                .help(format!(
                    "declare each by its name, `texture2d {text}0, {text}1;`, and choose between their samples"
                )),
            );
        }
    }

    /// Declares a function of the user or, if `library` is set, of the library.
    pub(super) fn declare_function(&mut self, syntax: &'a ast::FunctionDef<'a>) -> FunctionId {
        self.declare_method(syntax, None)
    }

    /// The same for a method, if `this` is a parameter.
    pub(super) fn declare_method(
        &mut self,
        syntax: &'a ast::FunctionDef<'a>,
        this: Option<TypedParam<'a>>,
    ) -> FunctionId {
        let result = match &syntax.result {
            Some(ty) if self.report_misspelt_shader(ty) => TypeId::ERROR,
            Some(ty) => self.resolve_type(ty, &[], InferredLength::Unknown),
            None => TypeId::VOID,
        };
        if let (TypeId::TEXTURE, Some(ty)) = (result, &syntax.result) {
            self.can_hold(result, ty.span);
        }
        let params = self.parameters(syntax, this);
        let owner = this.map(|this| this.ty);
        let mut declared = DeclaredFunction {
            syntax: Some(syntax),
            is_library: self.is_library,
            attributes: [syntax.attributes, &[]],
            owner,
            result,
            is_no_diff: syntax.is_no_diff,
            params,
            next: match owner {
                Some(owner) => self.newest_method(owner, syntax.name.symbol),
                None => self
                    .names
                    .newest_function(syntax.name.symbol, self.is_library),
            },
            ..DeclaredFunction::new(syntax.name, FunctionOrigin::Declared)
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
            let text = self.symbol_name(syntax.name.symbol).to_owned();
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
        match owner {
            Some(owner) => {
                self.methods.insert((owner, syntax.name.symbol), id);
            }
            None => {
                self.names
                    .set_newest_function(syntax.name.symbol, self.is_library, id);
            }
        }
        id
    }

    fn same_signature(&self, a: &DeclaredFunction, b: &DeclaredFunction) -> bool {
        let is_shader = |f: &DeclaredFunction| f.syntax.is_some_and(ast::FunctionDef::is_shader);
        if is_shader(a) || is_shader(b) {
            return is_shader(a) == is_shader(b);
        }
        // Types that were reported may differ.
        let is_same = |a: TypeId, b: TypeId| a == b && a != TypeId::ERROR;
        let mut pairs = a.params.iter().zip(b.params);
        a.params.len() == b.params.len() && pairs.all(|(a, b)| is_same(a.ty, b.ty))
    }

    /// Joins a second declaration of a function with its first: one of them must be a prototype.
    fn merge(&mut self, known: FunctionId, new: DeclaredFunction<'a>) -> FunctionId {
        let old = *self.declared(known);
        let has_body = |f: &DeclaredFunction| f.syntax.is_some_and(|f| f.body.is_some());
        let directions =
            |f: &DeclaredFunction<'a>| f.params.iter().map(|p| p.direction).collect::<Vec<_>>();
        if has_body(&old) && has_body(&new) {
            self.report_redeclared(new.name, Some(old.name.span));
            return known;
        }
        if old.result != new.result || directions(&old) != directions(&new) {
            let text = self.symbol_name(new.name.symbol).to_owned();
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
        let params = params.map(|(a, b)| TypedParam {
            is_no_diff: a.is_no_diff || b.is_no_diff,
            default: a.default.or(b.default),
            metadata: match a.metadata {
                [] => b.metadata,
                metadata => metadata,
            },
            ..*a
        });
        let params = self.arena.alloc_slice_fill_iter(params);
        self.functions[known.0 as usize] = DeclaredFunction {
            params,
            next: old.next,
            attributes: [first.attributes[0], second.attributes[0]],
            is_no_diff: first.is_no_diff || second.is_no_diff,
            ..first
        };
        known
    }

    pub(super) fn parameters(
        &mut self,
        syntax: &'a ast::FunctionDef<'a>,
        this: Option<TypedParam<'a>>,
    ) -> &'a [TypedParam<'a>] {
        let mut params =
            bumpalo::collections::Vec::with_capacity_in(syntax.parameters.len() + 1, self.arena);
        params.extend(this);
        let mut scalars = [0u64; 2];
        for parameter in syntax.parameters {
            let name = parameter.declarator.name;
            let dimensions = parameter.declarator.dimensions;
            let mut ty = self.resolve_type(&parameter.ty, dimensions, InferredLength::Unknown);
            let holds = match parameter.direction {
                ast::ParamDirection::Out => self.can_store(ty, parameter.ty.span),
                _ => self.can_hold(ty, parameter.ty.span),
            };
            if !holds {
                ty = TypeId::ERROR;
            }
            self.defaults_of = Some(syntax);
            let default = parameter.declarator.init.map(|init| {
                let value = self.initializer(init, ty, name);
                self.alloc(value)
            });
            self.defaults_of = None;
            if syntax.is_shader() {
                self.shader_parameter(parameter, ty, default, &mut scalars);
            }
            params.push(TypedParam {
                name: name.symbol,
                ty,
                direction: parameter.direction,
                is_no_diff: parameter.is_no_diff,
                default,
                local: LocalId(params.len() as u32),
                metadata: self.metadata(parameter.declarator.metadata),
                span: name.span,
            });
        }
        params.into_bump_slice()
    }

    /// Checks the rules for the parameters of shaders.
    fn shader_parameter(
        &mut self,
        parameter: &ast::ParamDecl<'a>,
        ty: TypeId,
        default: Option<&'a TypedExpr<'a>>,
        scalars: &mut [u64; 2],
    ) {
        let span = parameter.declarator.name.span;
        let bad = |message: &str, help: &str| {
            Diagnostic::new(Code::BadShaderParameter, span, message)
                .here("not possible here")
                .help(help)
        };
        let is_input = parameter.direction == ast::ParamDirection::In;
        if parameter.direction == ast::ParamDirection::InOut {
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
