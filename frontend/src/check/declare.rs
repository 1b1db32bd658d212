//! What files declare: structs, textures, constants, signatures of functions and shaders.
//!
//! Names of structs come first, so that a type may be used before it is defined; then everything else in the order of the text.

use super::names::{Named, Value, predeclared};
use super::tree::{Expr, FunctionId, LocalId, Param};
use super::types::{Member, TypeId, TypeKind};
use super::{Checker, Constant, Declared, StructItem, StructState};
use crate::ast::{self, ItemKind, TypeKeyword, TypeName};
use crate::interner::Symbol;
use crate::limits::{MAX_OVERLOADS, MAX_SHADER_SCALARS, MAX_TYPE_DEPTH};
use adumbra_ir::limits::MAX_ARRAY_ELEMENTS;
use adumbra_ir::{Code, Diagnostic, Scalar, Span};

/// How the length of an array without a written one (`float w[]`) is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum OpenLength {
    /// It is not.
    Unknown,
    /// From the list that the variable starts with.
    Known(u32),
}

impl OpenLength {
    /// From what a variable starts with.
    pub(super) fn of(init: Option<&ast::Initializer>) -> OpenLength {
        match init.map(|init| init.kind) {
            Some(ast::InitializerKind::List(items)) => OpenLength::Known(items.len() as u32),
            _ => OpenLength::Unknown,
        }
    }
}

impl<'a> Checker<'a, '_> {
    /// Declares what the host offers.
    pub(super) fn declare_globals(&mut self, globals: &[(String, adumbra_ir::Type)]) {
        for (name, ty) in globals {
            let ty = match ty {
                adumbra_ir::Type::Scalar(Scalar::F32) => TypeId::FLOAT,
                adumbra_ir::Type::Scalar(Scalar::I32) => TypeId::INT,
                adumbra_ir::Type::Scalar(Scalar::U32) => TypeId::UINT,
                adumbra_ir::Type::Scalar(Scalar::Bool) => TypeId::BOOL,
                adumbra_ir::Type::Vector(n) => TypeId::floats(u32::from(*n)),
                _ => TypeId::ERROR,
            };
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
                ItemKind::Broken(Some(name)) => self.names.set_named(name.symbol, Named::Broken),
                _ => {}
            }
        }
        for item in files.iter().flat_map(|file| file.items) {
            match item.kind {
                ItemKind::Struct(item) => {
                    if let Named::Struct(number) = self.names.named(item.name.symbol) {
                        self.define_struct(number, 0);
                    }
                }
                ItemKind::Declaration(declaration) => self.declare_constants(declaration),
                ItemKind::Function(function) => {
                    self.declare_function(function);
                }
                ItemKind::Broken(_) => {}
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

    fn declare_struct(&mut self, syntax: &'a ast::Struct<'a>) {
        if let Named::Struct(first) = self.names.named(syntax.name.symbol) {
            let first = self.structs[first as usize].syntax.name.span;
            self.redeclared(syntax.name, Some(first));
            return;
        }
        let number = self.structs.len() as u32;
        self.names
            .set_named(syntax.name.symbol, Named::Struct(number));
        self.structs.push(StructItem {
            syntax,
            state: StructState::Waiting,
        });
    }

    /// The type of a declared struct.
    fn define_struct(&mut self, number: u32, depth: usize) -> TypeId {
        let syntax = match self.structs[number as usize] {
            StructItem {
                state: StructState::Done(ty),
                ..
            } => return ty,
            StructItem {
                state: StructState::Open,
                ..
            } => return TypeId::ERROR,
            StructItem { syntax, .. } => syntax,
        };
        self.structs[number as usize].state = StructState::Open;
        let mut members: Vec<Member> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        let mut broken = depth > MAX_TYPE_DEPTH;
        if broken {
            self.too_large(syntax.name.span, "structs are nested too deeply");
        }
        for declaration in syntax.members {
            if broken {
                break;
            }
            if let Some(inner) = self.open_struct(declaration.ty.name) {
                let text = self.text(syntax.name.symbol).to_owned();
                let inner = self.structs[inner as usize].syntax.name;
                let message = match inner.symbol == syntax.name.symbol {
                    true => format!("the struct `{text}` contains itself"),
                    false => format!(
                        "the struct `{text}` contains `{}`, which contains it",
                        self.text(inner.symbol)
                    ),
                };
                self.report(
                    Diagnostic::new(Code::RecursiveStruct, declaration.ty.span, message)
                        .here("would need endless room")
                        .help("remove this member; an int can serve as an index into an array"),
                );
                broken = true;
                continue;
            }
            for declarator in declaration.declarators {
                let ty = self.resolve(
                    &declaration.ty,
                    declarator.dimensions,
                    OpenLength::Unknown,
                    depth + 1,
                );
                broken |= ty == TypeId::ERROR;
                if !self.can_hold(ty, declaration.ty.span) {
                    continue;
                }
                if let Some(init) = declarator.init {
                    self.report(
                        Diagnostic::new(
                            Code::BadInitializer,
                            init.span,
                            "a member of a struct has no initial value of its own",
                        )
                        .here("not possible here")
                        .help("give values where a variable of the struct is declared: `s x = { … };`"),
                    );
                }
                let name = declarator.name;
                if let Some(first) = seen.insert(name.symbol, name.span) {
                    self.redeclared(name, Some(first));
                    continue;
                }
                members.push(Member {
                    name: name.symbol,
                    ty,
                    leaf: 0,
                    span: name.span,
                });
            }
        }
        let ty = match broken {
            true => TypeId::ERROR,
            false => match self.types.structure(syntax.name.symbol, &members) {
                Ok(ty) => ty,
                Err(_) => self.too_large(syntax.name.span, "this struct has too many parts"),
            },
        };
        self.structs[number as usize].state = StructState::Done(ty);
        ty
    }

    fn too_large(&mut self, span: Span, message: &str) -> TypeId {
        self.report(
            Diagnostic::new(Code::TypeTooLarge, span, message)
                .here("too large")
                .help("keep large data in arrays of plain numbers"),
        );
        TypeId::ERROR
    }

    /// The struct that this name means, if its members are being looked at.
    fn open_struct(&self, name: TypeName) -> Option<u32> {
        let (TypeName::Named(symbol) | TypeName::Struct(symbol)) = name else {
            return None;
        };
        let Named::Struct(number) = self.names.named(symbol) else {
            return None;
        };
        matches!(self.structs[number as usize].state, StructState::Open).then_some(number)
    }

    /// The type that is written, with the dimensions behind the name.
    pub(super) fn resolve_type(
        &mut self,
        ty: &ast::Type<'a>,
        dimensions: &[ast::Dimension<'a>],
        open: OpenLength,
    ) -> TypeId {
        self.resolve(ty, dimensions, open, 0)
    }

    fn resolve(
        &mut self,
        ty: &ast::Type<'a>,
        dimensions: &[ast::Dimension<'a>],
        open: OpenLength,
        depth: usize,
    ) -> TypeId {
        let mut base = match ty.name {
            TypeName::Keyword(keyword) => self.keyword_type(keyword, ty.span),
            TypeName::Named(symbol) => match self.type_named(symbol, depth) {
                Some(known) => known,
                None => self.unknown_type(symbol, ty.span),
            },
            TypeName::Struct(symbol) => match self.names.named(symbol) {
                Named::Struct(number) => self.define_struct(number, depth),
                Named::Broken => TypeId::ERROR,
                Named::Unknown => self.unknown_type(symbol, ty.span),
            },
        };
        let mut dimensions = dimensions.iter().chain(ty.dimensions).rev();
        if let Some(dimension) = dimensions.next() {
            base = self.array_of(base, dimension, open);
        }
        if let Some(outer) = dimensions.next()
            && base != TypeId::ERROR
        {
            let help = "use one array and compute the index: `w[i * n + j]`";
            self.not_built(outer.span, "arrays of arrays are", help);
            base = TypeId::ERROR;
        }
        base
    }

    /// The type that a name means, if any.
    pub(super) fn type_named(&mut self, symbol: Symbol, depth: usize) -> Option<TypeId> {
        if !self.is_library {
            match self.names.named(symbol) {
                Named::Struct(number) => return Some(self.define_struct(number, depth)),
                Named::Broken => return Some(TypeId::ERROR),
                Named::Unknown => {}
            }
        }
        predeclared(self.text(symbol))
    }

    /// The type of a keyword.
    pub(super) fn keyword_type(&mut self, keyword: TypeKeyword, span: Span) -> TypeId {
        match keyword {
            TypeKeyword::Void => TypeId::VOID,
            TypeKeyword::Bool => TypeId::BOOL,
            TypeKeyword::Int => TypeId::INT,
            TypeKeyword::Uint => TypeId::UINT,
            TypeKeyword::Float => TypeId::FLOAT,
            TypeKeyword::Float2 => TypeId::FLOAT2,
            TypeKeyword::Float3 => TypeId::FLOAT3,
            TypeKeyword::Float4 => TypeId::FLOAT4,
            TypeKeyword::Closure => TypeId::CLOSURE,
            TypeKeyword::Texture2d => TypeId::TEXTURE,
            TypeKeyword::Float2x2 | TypeKeyword::Float3x3 | TypeKeyword::Float4x4 => {
                self.not_built(span, "matrices are", "use one vector for each row");
                TypeId::ERROR
            }
            TypeKeyword::ShaderResource => {
                self.not_built(span, "resources are", "pass numbers to the closure instead");
                TypeId::ERROR
            }
        }
    }

    fn array_of(
        &mut self,
        element: TypeId,
        dimension: &ast::Dimension<'a>,
        open: OpenLength,
    ) -> TypeId {
        let len = match (dimension.size, open) {
            (Some(size), _) => match self.array_length(size) {
                Some(len) => len,
                None => return TypeId::ERROR,
            },
            (None, OpenLength::Known(len)) if len > 0 => len,
            (None, _) => {
                self.report(
                    Diagnostic::new(
                        Code::BadArraySize,
                        dimension.span,
                        "an array needs a length",
                    )
                    .here("no length")
                    .help("write it: `float w[8]`, or give a list of values"),
                );
                return TypeId::ERROR;
            }
        };
        if element == TypeId::ERROR || !self.can_hold(element, dimension.span) {
            return TypeId::ERROR;
        }
        if self.types.has_arrays(element) {
            let help = "use one array and compute the index: `w[i * n + j]`";
            self.not_built(dimension.span, "arrays of arrays are", help);
            return TypeId::ERROR;
        }
        let elements = u64::from(len) * u64::from(self.types.leaf_count(element));
        if elements > MAX_ARRAY_ELEMENTS {
            self.report(
                Diagnostic::new(
                    Code::TooManyElements,
                    dimension.span,
                    format!("an array of {elements} numbers is too large"),
                )
                .here("too long")
                .help(format!("{MAX_ARRAY_ELEMENTS} numbers is the limit")),
            );
            return TypeId::ERROR;
        }
        match self.types.array(element, len) {
            Ok(ty) => ty,
            Err(_) => self.too_large(dimension.span, "too many large types"),
        }
    }

    /// The length of an array as written; reported if it is none.
    fn array_length(&mut self, size: &ast::Expr<'a>) -> Option<u32> {
        let size = self.expr(size);
        if size.is_error() {
            return None;
        }
        let (message, help) = match (size.ty, self.fold_scalar(&size)) {
            (TypeId::INT, Some(bits)) if bits as i32 > 0 => return Some(bits),
            (TypeId::UINT, Some(bits)) if bits > 0 => return Some(bits),
            (TypeId::INT | TypeId::UINT, Some(_)) => (
                "the length of an array must be at least 1",
                "write a positive number",
            ),
            (TypeId::INT | TypeId::UINT, None) => {
                let help = "write a constant length, as long as is ever needed";
                self.not_built(
                    size.span,
                    "arrays whose length is only known while shading are",
                    help,
                );
                return None;
            }
            _ => ("the length of an array is an int", "write a whole number"),
        };
        self.report(
            Diagnostic::new(Code::BadArraySize, size.span, message)
                .here("not a length")
                .help(help),
        );
        None
    }

    /// Whether variables, members and elements may have the type; reported if not.
    pub(super) fn can_hold(&mut self, ty: TypeId, span: Span) -> bool {
        let (what, help) = match ty {
            TypeId::VOID => (
                "`void` is not the type of a value",
                "write the type of the value",
            ),
            TypeId::TEXTURE => (
                "a texture is not a value",
                "declare it at file level, `texture2d name;`, and name it in `texture2d_sample<name>(u, v)`",
            ),
            _ => return true,
        };
        self.report(
            Diagnostic::new(Code::BadVariableType, span, what)
                .here("not possible here")
                .help(help),
        );
        false
    }

    /// File-scope declarations: textures and constants.
    fn declare_constants(&mut self, declaration: &'a ast::Declaration<'a>) {
        for declarator in declaration.declarators {
            let name = declarator.name;
            let known = self.names.here(name.symbol);
            if let Some(known) = known {
                let first = match known {
                    Value::Constant(number) => Some(self.constants[number as usize].name.span),
                    Value::Texture(number) => Some(self.textures[number as usize].span),
                    Value::Local(_) | Value::Unknown => None,
                };
                self.redeclared(name, first);
                continue;
            }
            if declaration.ty.name == TypeName::Keyword(TypeKeyword::Texture2d) {
                let number = self.textures.len() as u32;
                self.textures.push(name);
                self.names.declare(name.symbol, Value::Texture(number));
                self.names.set_texture(name.symbol, number);
                continue;
            }
            let open = OpenLength::of(declarator.init);
            let ty = self.resolve_type(&declaration.ty, declarator.dimensions, open);
            let holds = ty != TypeId::ERROR && self.can_hold(ty, declaration.ty.span);
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
    }

    /// Declares a function of the user or, if so set, of the library.
    pub(super) fn declare_function(&mut self, syntax: &'a ast::Function<'a>) -> FunctionId {
        let result = match &syntax.result {
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
            if !self.can_hold(ty, parameter.ty.span) {
                ty = TypeId::ERROR;
            }
            let default = parameter.declarator.init.and_then(|init| {
                let value = self.initializer(init, ty, name);
                (!value.is_error()).then(|| self.keep(value))
            });
            if syntax.is_shader() {
                self.shader_parameter(parameter, ty, default, &mut scalars);
            }
            params.push(Param {
                name: name.symbol,
                ty,
                direction: parameter.direction,
                default,
                local: LocalId(index as u32),
                span: name.span,
            });
        }
        params.into_bump_slice()
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
        let has_closure = self
            .types
            .leaves(ty)
            .iter()
            .any(|leaf| leaf.scalar == Scalar::Closure);
        if is_input && has_closure {
            self.report(bad(
                "a closure cannot come in from the host",
                "make the closure in the shader, with `make_closure<Name>(…)`",
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

    /// Whether the type is a struct, and which.
    pub(super) fn struct_of(&self, ty: TypeId) -> Option<u32> {
        match self.types.kind(ty) {
            TypeKind::Struct(number) => Some(number),
            _ => None,
        }
    }
}
