//! Type resolution: structs and their members, arrays, keywords and predeclared names.
//!
//! A struct is resolved when it is first named, so it may be used before it is defined. A struct
//! that is named while it is being resolved contains itself.

use super::symbol_table::{HIT, TypeBinding, predeclared_type};
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::{StructMember, TypeId, TypeKind};
use super::{StructItem, StructState, TypeChecker};
use crate::ast::{self, TypeName};
use crate::interner::Symbol;
use crate::limits::MAX_TYPE_DEPTH;
use crate::token_kind::TypeKeyword;
use adumbra_ir::limits::MAX_ARRAY_ELEMENTS;
use adumbra_ir::{Code, Diagnostic, Op, Span};

/// The length of an array without a written one (`float w[]`).
#[derive(Clone, Copy, Debug)]
pub(super) enum InferredLength {
    /// It is not.
    Unknown,
    /// From the list that initialises the variable.
    Known(u32),
}

impl InferredLength {
    /// From a variable's initialiser.
    pub(super) fn of(init: Option<&ast::Initializer>) -> InferredLength {
        match init.map(|init| init.kind) {
            Some(ast::InitializerKind::List(items)) => InferredLength::Known(items.len() as u32),
            _ => InferredLength::Unknown,
        }
    }
}

/// A name for a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct AliasItem<'a> {
    syntax: &'a ast::TypeAlias<'a>,
    state: StructState,
}

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn declare_alias(&mut self, syntax: &'a ast::TypeAlias<'a>) {
        let first = match self.names.type_binding(syntax.name.symbol) {
            TypeBinding::Struct(first) => self.structs[first as usize].syntax.name.span,
            TypeBinding::Alias(first) => self.aliases[first as usize].syntax.name.span,
            TypeBinding::Broken => return,
            TypeBinding::Unknown => {
                let number = self.aliases.len() as u32;
                self.names
                    .set_type_binding(syntax.name.symbol, TypeBinding::Alias(number));
                self.aliases.push(AliasItem {
                    syntax,
                    state: StructState::Waiting,
                });
                return;
            }
        };
        self.report_redeclared(syntax.name, Some(first));
    }

    /// The type that a name of `typedef` means.
    fn define_alias(&mut self, number: u32, depth: usize) -> TypeId {
        let AliasItem { syntax, state } = self.aliases[number as usize];
        match state {
            StructState::Done(ty) => return ty,
            StructState::Open => {
                let text = self.symbol_name(syntax.name.symbol);
                let message = format!("the type `{text}` is declared by itself");
                self.report(
                    Diagnostic::new(Code::RecursiveStruct, syntax.name.span, message)
                        .here("means itself")
                        .help("name another type"),
                );
                return TypeId::ERROR;
            }
            StructState::Waiting => {}
        }
        self.aliases[number as usize].state = StructState::Open;
        let ty = match depth > MAX_TYPE_DEPTH {
            true => self.too_large(syntax.name.span, "types are nested too deeply"),
            false => self.resolve(
                &syntax.ty,
                syntax.dimensions,
                InferredLength::Unknown,
                depth + 1,
            ),
        };
        self.aliases[number as usize].state = StructState::Done(ty);
        ty
    }

    /// Whether the type is written as this word, which no declaration gives another meaning.
    pub(super) fn is_word(&self, ty: &ast::TypeExpr<'a>, word: &str) -> bool {
        match ty.name {
            TypeName::Named(symbol) => {
                ty.arguments.is_empty()
                    && ty.dimensions.is_empty()
                    && self.symbol_name(symbol) == word
                    && self.names.type_binding(symbol) == TypeBinding::Unknown
            }
            _ => false,
        }
    }

    /// The value of `var x = e` or `let x = e`, which has the type of the variable.
    pub(super) fn inferred_value(
        &mut self,
        declaration: &ast::Declaration<'a>,
        declarator: &ast::Declarator<'a>,
    ) -> Option<TypedExpr<'a>> {
        let is_inferred =
            self.is_word(&declaration.ty, "var") || self.is_word(&declaration.ty, "let");
        let init = declarator.init?;
        let ast::InitializerKind::Expr(init) = init.kind else {
            return None;
        };
        (is_inferred && declarator.dimensions.is_empty()).then(|| self.expr(init))
    }

    pub(super) fn declare_struct(&mut self, syntax: &'a ast::StructDef<'a>) {
        if let TypeBinding::Struct(first) = self.names.type_binding(syntax.name.symbol) {
            let first = self.structs[first as usize].syntax.name.span;
            self.report_redeclared(syntax.name, Some(first));
            return;
        }
        let number = self.structs.len() as u32;
        self.names
            .set_type_binding(syntax.name.symbol, TypeBinding::Struct(number));
        self.structs.push(StructItem {
            syntax,
            state: StructState::Waiting,
        });
    }

    /// The type of a struct whose name means nothing.
    pub(super) fn define_apart(&mut self, syntax: &'a ast::StructDef<'a>) -> TypeId {
        let number = self.structs.len() as u32;
        self.structs.push(StructItem {
            syntax,
            state: StructState::Waiting,
        });
        self.define_struct(number, 0)
    }

    /// The type of a declared struct.
    pub(super) fn define_struct(&mut self, number: u32, depth: usize) -> TypeId {
        let syntax = match self.structs[number as usize] {
            StructItem {
                state: StructState::Done(ty),
                ..
            } => return ty,
            StructItem {
                syntax,
                state: StructState::Open,
            } => {
                let text = self.symbol_name(syntax.name.symbol).to_owned();
                let message = format!("the struct `{text}` contains itself");
                self.report(
                    Diagnostic::new(Code::RecursiveStruct, syntax.name.span, message)
                        .here("would need infinite memory")
                        .help(
                            "remove the member with it; an int can serve as an index into an array",
                        ),
                );
                return TypeId::ERROR;
            }
            StructItem { syntax, .. } => syntax,
        };
        self.structs[number as usize].state = StructState::Open;
        let mut members: Vec<StructMember> = Vec::new();
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
                let text = self.symbol_name(syntax.name.symbol).to_owned();
                let inner = self.structs[inner as usize].syntax.name;
                let message = match inner.symbol == syntax.name.symbol {
                    true => format!("the struct `{text}` contains itself"),
                    false => format!(
                        "the struct `{text}` contains `{}`, which contains it",
                        self.symbol_name(inner.symbol)
                    ),
                };
                self.report(
                    Diagnostic::new(Code::RecursiveStruct, declaration.ty.span, message)
                        .here("would need infinite memory")
                        .help("remove this member; an int can serve as an index into an array"),
                );
                broken = true;
                continue;
            }
            for declarator in declaration.declarators {
                self.refuse_metadata(declarator);
                let ty = self.resolve(
                    &declaration.ty,
                    declarator.dimensions,
                    InferredLength::Unknown,
                    depth + 1,
                );
                broken |= ty == TypeId::ERROR;
                if !self.can_store(ty, declaration.ty.span) {
                    continue;
                }
                if let Some(init) = declarator.init {
                    let name = self.symbol_name(syntax.name.symbol).to_owned();
                    self.report(
                        Diagnostic::new(
                            Code::BadInitializer,
                            init.span,
                            "a member of a struct has no initial value of its own",
                        )
                        .here("not possible here")
                        .help(format!(
                            "give values where a variable of the struct is declared: `{name} x = {{ … }};`"
                        )),
                    );
                }
                let name = declarator.name;
                if let Some(first) = seen.insert(name.symbol, name.span) {
                    self.report_redeclared(name, Some(first));
                    continue;
                }
                members.push(StructMember {
                    name: name.symbol,
                    ty,
                    leaf: 0,
                    is_no_diff: declaration.is_no_diff,
                    span: name.span,
                });
            }
        }
        let ty = match broken {
            true => TypeId::ERROR,
            false => match self.types.add_struct(syntax.name.symbol, &members) {
                Ok(ty) => ty,
                Err(_) => self.too_large(syntax.name.span, "this struct has too many parts"),
            },
        };
        self.structs[number as usize].state = StructState::Done(ty);
        self.conform(ty, syntax);
        ty
    }

    pub(super) fn too_large(&mut self, span: Span, message: &str) -> TypeId {
        self.report(
            Diagnostic::new(Code::TypeTooLarge, span, message)
                .here("too large")
                .help("keep large data in arrays of plain numbers"),
        );
        TypeId::ERROR
    }

    /// The struct that this name means, if its members are being resolved.
    fn open_struct(&self, name: TypeName) -> Option<u32> {
        let (TypeName::Named(symbol) | TypeName::Struct(symbol)) = name else {
            return None;
        };
        let TypeBinding::Struct(number) = self.names.type_binding(symbol) else {
            return None;
        };
        matches!(self.structs[number as usize].state, StructState::Open).then_some(number)
    }

    /// The type as written, with the dimensions after the name.
    pub(super) fn resolve_type(
        &mut self,
        ty: &ast::TypeExpr<'a>,
        dimensions: &[ast::Dimension<'a>],
        open: InferredLength,
    ) -> TypeId {
        self.resolve(ty, dimensions, open, 0)
    }

    pub(super) fn resolve(
        &mut self,
        ty: &ast::TypeExpr<'a>,
        dimensions: &[ast::Dimension<'a>],
        open: InferredLength,
        depth: usize,
    ) -> TypeId {
        match self.element_of(ty, dimensions, depth) {
            (ty, None) => ty,
            (element, Some(outermost)) => {
                let len = self.array_length(outermost, open);
                self.array_of(element, len, outermost.span)
            }
        }
    }

    /// The type of a local variable. If it is an array sized while shading, also its initial value.
    pub(super) fn variable_type(
        &mut self,
        ty: &ast::TypeExpr<'a>,
        declarator: &ast::Declarator<'a>,
    ) -> (TypeId, Option<TypedExpr<'a>>) {
        let (element, outermost) = self.element_of(ty, declarator.dimensions, 0);
        let Some(dimension) = outermost else {
            return (element, None);
        };
        let len = match dimension.size {
            None => self.array_length(dimension, InferredLength::of(declarator.init)),
            Some(size) => {
                let size = self.expr(size);
                if size.ty.is_integer() && self.fold_scalar(&size).is_none() {
                    return self.run_time_array(element, size, dimension.span);
                }
                self.written_length(&size)
            }
        };
        (self.array_of(element, len, dimension.span), None)
    }

    /// The type without the outermost dimension: `float[2] w[3]` is `float w[3][2]`, 3 elements of
    /// 2.
    fn element_of<'d>(
        &mut self,
        ty: &ast::TypeExpr<'a>,
        dimensions: &'d [ast::Dimension<'a>],
        depth: usize,
    ) -> (TypeId, Option<&'d ast::Dimension<'a>>)
    where
        'a: 'd,
    {
        let mut element = match ty.name {
            TypeName::Named(_) if self.is_buffer_type(ty) => {
                self.report_buffer_type(ty);
                TypeId::ERROR
            }
            TypeName::Named(symbol) if !ty.arguments.is_empty() => {
                self.parametrised_type(symbol, ty, depth)
            }
            TypeName::Keyword(keyword) => self.keyword_type(keyword),
            TypeName::Named(symbol) => match self.type_named(symbol, depth) {
                Some(known) => known,
                None => self.unknown_type(symbol, ty.span),
            },
            TypeName::Struct(symbol) => match self.names.type_binding(symbol) {
                TypeBinding::Struct(number) => self.define_struct(number, depth),
                TypeBinding::Broken => TypeId::ERROR,
                TypeBinding::Alias(_) | TypeBinding::Unknown => self.unknown_type(symbol, ty.span),
            },
        };
        for member in ty.path {
            element = self.differential_of(element, member.span);
        }
        let mut dimensions = dimensions.iter().chain(ty.dimensions);
        let outermost = dimensions.next();
        for dimension in dimensions.rev() {
            let len = self.array_length(dimension, InferredLength::Unknown);
            element = self.array_of(element, len, dimension.span);
        }
        (element, outermost)
    }

    /// The type that a name means, if any.
    pub(super) fn type_named(&mut self, symbol: Symbol, depth: usize) -> Option<TypeId> {
        if !self.is_library {
            match self.names.type_binding(symbol) {
                TypeBinding::Struct(number) => return Some(self.define_struct(number, depth)),
                TypeBinding::Alias(number) => return Some(self.define_alias(number, depth)),
                TypeBinding::Broken => return Some(TypeId::ERROR),
                TypeBinding::Unknown => {}
            }
        }
        if self.symbol_name(symbol) == HIT {
            return Some(self.hit_type());
        }
        let predeclared = predeclared_type(self.symbol_name(symbol));
        predeclared.or_else(|| self.own_differential(symbol))
    }

    /// The type of a keyword.
    pub(super) fn keyword_type(&self, keyword: TypeKeyword) -> TypeId {
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
            TypeKeyword::Float2x2 => TypeId::FLOAT2X2,
            TypeKeyword::Float3x3 => TypeId::FLOAT3X3,
            TypeKeyword::Float4x4 => TypeId::FLOAT4X4,
            TypeKeyword::ShaderResource => TypeId::RESOURCE,
        }
    }

    /// The array of `len` elements; an error type if the length was reported.
    fn array_of(&mut self, element: TypeId, len: Option<u32>, span: Span) -> TypeId {
        let Some(len) = len else {
            return TypeId::ERROR;
        };
        if element == TypeId::ERROR || !self.can_store(element, span) {
            return TypeId::ERROR;
        }
        let elements = u64::from(len) * self.types.scalar_count(element);
        if elements > MAX_ARRAY_ELEMENTS {
            self.report(
                Diagnostic::new(
                    Code::TooManyElements,
                    span,
                    format!("an array of {elements} numbers is too large"),
                )
                .here("too long")
                .help(format!("{MAX_ARRAY_ELEMENTS} numbers is the limit")),
            );
            return TypeId::ERROR;
        }
        match self.types.array(element, len) {
            Ok(ty) => ty,
            Err(_) => self.too_large(
                span,
                "this array has too many parts, or is nested too deeply",
            ),
        }
    }

    /// An array sized while shading.
    fn run_time_array(
        &mut self,
        element: TypeId,
        length: TypedExpr<'a>,
        span: Span,
    ) -> (TypeId, Option<TypedExpr<'a>>) {
        if element == TypeId::ERROR || !self.can_store(element, span) {
            return (TypeId::ERROR, None);
        }
        if self.types.run_time_capacity(element) == 0 {
            let what = "an element is too large for an array sized while shading";
            return (self.too_large(span, what), None);
        }
        let ty = match self.types.run_time_array(element) {
            Ok(ty) => ty,
            Err(_) => return (self.too_large(span, "this array has too many parts"), None),
        };
        // More than an int can hold is too many.
        let length = match length.ty {
            TypeId::UINT => {
                let most = TypedExpr::constant(TypeId::UINT, i32::MAX as u32, length.span);
                let kind = TypedExprKind::Op(Op::UMin, self.arena.alloc([length, most]));
                self.to_number(TypedExpr { kind, ..length }, TypeId::INT)
            }
            _ => length,
        };
        let kind = TypedExprKind::RunTimeArray(self.alloc(length));
        (ty, Some(TypedExpr { kind, ty, span }))
    }

    /// The compile-time length of an array; reported if it is none.
    fn array_length(
        &mut self,
        dimension: &ast::Dimension<'a>,
        open: InferredLength,
    ) -> Option<u32> {
        match (dimension.size, open) {
            (Some(size), _) => {
                let size = self.expr(size);
                self.written_length(&size)
            }
            (None, InferredLength::Known(len)) if len > 0 => Some(len),
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
                None
            }
        }
    }

    /// The same for a length that was checked.
    fn written_length(&mut self, size: &TypedExpr<'a>) -> Option<u32> {
        if size.is_error() {
            return None;
        }
        let (message, help) = match (size.ty, self.fold_scalar(size)) {
            (TypeId::INT, Some(bits)) if bits as i32 > 0 => return Some(bits),
            (TypeId::UINT, Some(bits)) if bits > 0 => return Some(bits),
            (TypeId::INT | TypeId::UINT, Some(_)) => (
                "the length of an array must be at least 1",
                "write a positive number",
            ),
            (TypeId::INT | TypeId::UINT, None) => {
                let message =
                    "only the first length of a local variable may be known while shading";
                self.report(
                    Diagnostic::new(Code::RunTimeLength, size.span, message)
                        .here("not a constant")
                        .help("write a constant, as long as is ever needed; or one array, with a computed index: `float w[n * m]`, `w[i * m + j]`"),
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

    /// Whether members, elements and other zero-initialised values may have the type; reported if
    /// not.
    pub(super) fn can_store(&mut self, ty: TypeId, span: Span) -> bool {
        if ty != TypeId::RESOURCE {
            return self.can_hold(ty, span);
        }
        self.report(
            Diagnostic::new(
                Code::BadVariableType,
                span,
                "a resource cannot be kept here, where it would have no value to begin with",
            )
            .here("not possible here")
            .help("pass it on: to a closure, as an `in` parameter, as a result, or in a variable that starts with it"),
        );
        false
    }

    /// Whether variables may have the type; reported if not.
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

    /// Whether the type is a struct, and which.
    pub(super) fn struct_of(&self, ty: TypeId) -> Option<u32> {
        match self.types.kind(ty) {
            TypeKind::Struct(number) => Some(number),
            _ => None,
        }
    }
}
