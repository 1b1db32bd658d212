//! Expressions: literals, names, members, indices, `? :`. Operators, calls and places have own
//! files.

use super::convert::ConversionPurpose;
use super::symbol_table::ValueBinding;
use super::typed_tree::{Local, Swizzle, TypedExpr, TypedExprKind, TypedStmt};
use super::types::{TypeId, TypeKind};
use super::{LocalProperties, TypeChecker};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> TypeChecker<'a, '_> {
    /// Checks an expression.
    pub(super) fn expr(&mut self, syntax: &ast::Expr<'a>) -> TypedExpr<'a> {
        let span = syntax.span;
        if self.is_error_limit_reached() {
            return TypedExpr::error(span);
        }
        match syntax.kind {
            ast::ExprKind::Float(value) => {
                TypedExpr::constant(TypeId::FLOAT, value.to_bits(), span)
            }
            ast::ExprKind::Int(value) => TypedExpr::constant(TypeId::INT, value as u32, span),
            ast::ExprKind::Uint(value) => TypedExpr::constant(TypeId::UINT, value, span),
            ast::ExprKind::Bool(value) => TypedExpr::constant(TypeId::BOOL, u32::from(value), span),
            ast::ExprKind::String(_) => {
                self.report(
                    Diagnostic::new(Code::TextAsValue, span, "a string is not a value")
                        .here("a string")
                        .help("there are strings in messages and metadata alone: number the choices, and use an int"),
                );
                TypedExpr::error(span)
            }
            ast::ExprKind::Name(symbol) => self.name(symbol, span),
            ast::ExprKind::Unary(op, operand) => self.unary(op, operand, span),
            ast::ExprKind::Binary(..) => self.operator_chain(syntax),
            ast::ExprKind::Assign { op, place, value } => self.assign(op, place, value, span),
            ast::ExprKind::IncDec {
                step,
                postfix,
                place,
            } => self.increment(step, postfix, place, span),
            ast::ExprKind::Ternary { condition, yes, no } => self.ternary(condition, yes, no, span),
            ast::ExprKind::Cast(keyword, operand) => {
                let value = self.expr(operand);
                let to = self.keyword_type(keyword);
                self.cast(value, to, span)
            }
            ast::ExprKind::Construct(keyword, args) => {
                let to = self.keyword_type(keyword);
                self.construct(to, args, span)
            }
            ast::ExprKind::Call(name, args) => self.call(name, args, span),
            ast::ExprKind::Apply(callee, args) => self.apply(callee, args, span),
            ast::ExprKind::ConstructType(ty, args) => self.construct_type(ty, args, span),
            ast::ExprKind::List(list) => self.unexpected_list(list, span),
            ast::ExprKind::NoDiff(operand) => self.no_diff(operand, span),
            ast::ExprKind::Index(operand, index) => self.index(operand, index, span),
            ast::ExprKind::Member(operand, name) => self.member(operand, name, span),
            ast::ExprKind::GlobalValue(name) => self.global_value(name, span),
            ast::ExprKind::Raymarch(field, args) => self.raymarch(field, args, span),
            ast::ExprKind::MakeClosure(name, args) => self.make_closure(name, args, span),
            ast::ExprKind::TextureSample(sample, name, args) => {
                self.sample(sample, name, args, span)
            }
            ast::ExprKind::Broken => TypedExpr::error(span),
        }
    }

    /// Checks an expression, and converts it to a bool.
    pub(super) fn boolean(&mut self, syntax: &ast::Expr<'a>) -> TypedExpr<'a> {
        let value = self.expr(syntax);
        self.warn_assigned_condition(syntax);
        self.condition(value)
    }

    fn name(&mut self, symbol: Symbol, span: Span) -> TypedExpr<'a> {
        let value = self.indexable_name(symbol, span);
        if let TypeKind::RunTimeArray(_) = self.types.kind(value.ty) {
            let text = self.symbol_name(symbol).to_owned();
            self.report(
                Diagnostic::new(
                    Code::RunTimeArray,
                    span,
                    format!("`{text}` has as many elements as turn out while shading, and can only be indexed"),
                )
                .here("used as a whole")
                .help("copy its elements in a loop; to pass it on, declare it with a constant length, as long as is ever needed"),
            );
            return TypedExpr::error(span);
        }
        value
    }

    /// Checks a name before an index, where arrays sized while shading are allowed.
    fn indexable_name(&mut self, symbol: Symbol, span: Span) -> TypedExpr<'a> {
        match self.names.value(symbol) {
            ValueBinding::Local(local) => {
                self.count_read(local);
                let ty = self.body.locals[local.0 as usize].ty;
                match self.properties(local).bits {
                    Some(bits) => TypedExpr::constant(ty, bits, span),
                    None => TypedExpr {
                        kind: TypedExprKind::Local(local),
                        ty,
                        span,
                    },
                }
            }
            _ if self.member_of_this(symbol).is_some() => {
                let (this, ty, leaf) = self.member_of_this(symbol).expect("just found");
                self.count_read(this);
                self.this_member(this, ty, leaf, span)
            }
            ValueBinding::Constant(number) if !self.is_library => self.constant(number, span),
            ValueBinding::Resource(number) if !self.is_library => TypedExpr {
                kind: TypedExprKind::Resource(number),
                ty: TypeId::RESOURCE,
                span,
            },
            ValueBinding::Texture(_) if !self.is_library => {
                let text = self.symbol_name(symbol).to_owned();
                self.report(
                    Diagnostic::new(
                        Code::NotAValue,
                        span,
                        format!("`{text}` is a texture, not a value"),
                    )
                    .here("a texture")
                    .help(format!("sample it: `texture2d_sample<{text}>(u, v)`")),
                );
                TypedExpr::error(span)
            }
            ValueBinding::Buffer(number) if !self.is_library => {
                self.report_whole_buffer(number, span);
                TypedExpr::error(span)
            }
            _ => match self.session_value(symbol, span) {
                Some(value) => value,
                None => self.unknown_value(symbol, span),
            },
        }
    }

    /// A constant of the file: its number, or, if it has to be indexed, a variable that holds it.
    fn constant(&mut self, number: u32, span: Span) -> TypedExpr<'a> {
        let constant = self.constants[number as usize];
        let Some(bits) = constant.bits else {
            return TypedExpr::error(span);
        };
        let kind = match (self.types.kind(constant.ty), bits) {
            (TypeKind::Scalar(_), &[bits]) => TypedExprKind::Constant(bits),
            _ => TypedExprKind::Constants(bits),
        };
        TypedExpr {
            kind,
            ty: constant.ty,
            span,
        }
    }

    /// An array that is, or is part of, a constant, as part of the variable that holds the constant
    /// in this body.
    fn constant_in_memory(
        &mut self,
        operand: &ast::Expr<'a>,
        value: TypedExpr<'a>,
    ) -> TypedExpr<'a> {
        let symbol = match (operand.kind, value.kind) {
            (ast::ExprKind::Name(symbol), TypedExprKind::Constants(_)) => symbol,
            (ast::ExprKind::Member(operand, _), TypedExprKind::Member(inner, leaf)) => {
                let inner = self.constant_in_memory(operand, *inner);
                return TypedExpr {
                    kind: TypedExprKind::Member(self.alloc(inner), leaf),
                    ..value
                };
            }
            _ => return value,
        };
        let ValueBinding::Constant(number) = self.names.value(symbol) else {
            return value;
        };
        let constant = self.constants[number as usize];
        if self.current == super::NO_FUNCTION {
            self.report_not_constant(value.span);
            return TypedExpr::error(value.span);
        }
        let local = match constant.local {
            Some((function, local)) if function == self.current => local,
            _ => {
                let local = self.hoist(constant.name, value);
                self.constants[number as usize].local = Some((self.current, local));
                local
            }
        };
        TypedExpr {
            kind: TypedExprKind::Local(local),
            ..value
        }
    }

    /// A variable that is set before the first statement of the body.
    pub(super) fn hoist(&mut self, name: ast::Ident, value: TypedExpr<'a>) -> super::LocalId {
        let local = Local {
            name: name.symbol,
            ty: value.ty,
            span: name.span,
        };
        let facts = LocalProperties {
            is_const: true,
            is_hoisted: true,
            is_written: false,
            bits: None,
        };
        let local = self.add_local(local, facts);
        let value = self.alloc(value);
        self.body
            .hoisted
            .push(TypedStmt::Declare(local, Some(value)));
        local
    }

    fn ternary(
        &mut self,
        condition: &ast::Expr<'a>,
        yes: &ast::Expr<'a>,
        no: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let condition = self.boolean(condition);
        let (yes, no) = (self.expr(yes), self.expr(no));
        let (yes, no) = self.unify(yes, no);
        if condition.is_error() || yes.is_error() || no.is_error() {
            return TypedExpr::error(span);
        }
        let ty = yes.ty;
        TypedExpr {
            kind: TypedExprKind::Ternary(self.arena.alloc([condition, yes, no])),
            ty,
            span,
        }
    }

    /// Converts the two values of a selection to a common type.
    pub(super) fn unify(
        &mut self,
        yes: TypedExpr<'a>,
        no: TypedExpr<'a>,
    ) -> (TypedExpr<'a>, TypedExpr<'a>) {
        if yes.ty == no.ty || yes.is_error() || no.is_error() {
            return (yes, no);
        }
        if super::convert::conversion_rank(yes.ty, no.ty).is_some() {
            (self.to_number(yes, no.ty), no)
        } else {
            let no = self.convert(no, yes.ty, ConversionPurpose::Ternary);
            (yes, no)
        }
    }

    fn index(
        &mut self,
        operand: &ast::Expr<'a>,
        index: &ast::Expr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        if let Some(number) = self.buffer_named(operand) {
            let index = self.index_value(index);
            return self.buffer_element(number, index, span);
        }
        let mut value = match operand.kind {
            ast::ExprKind::Name(symbol) => self.indexable_name(symbol, operand.span),
            _ => self.expr(operand),
        };
        let index = self.index_value(index);
        if index.is_error() {
            return TypedExpr::error(span);
        }
        self.warn_constant_index(&value, &index);
        let ty = match self.types.kind(value.ty) {
            TypeKind::Error => return TypedExpr::error(span),
            TypeKind::Array(element, _) | TypeKind::RunTimeArray(element) => element,
            TypeKind::Vector(_) => TypeId::FLOAT,
            TypeKind::Matrix(size) => TypeId::floats(size),
            _ => {
                let is = self.quoted_type(value.ty);
                self.report(
                    Diagnostic::new(Code::BadIndex, span, format!("{is} has no elements"))
                        .here("cannot be indexed")
                        .help(
                            "only arrays, vectors and matrices have elements; a struct has members, `.name`",
                        ),
                );
                return TypedExpr::error(span);
            }
        };
        if is_constant(&value) && self.types.has_arrays(value.ty) {
            // Constants are in memory only inside bodies; there, elements of nested arrays are best
            // left in memory.
            if (self.current == super::NO_FUNCTION || !self.types.has_arrays(ty))
                && let Some(element) = self.constant_element(value, index, ty, span)
            {
                return element;
            }
            value = self.constant_in_memory(operand, value);
            if value.is_error() {
                return value;
            }
        }
        TypedExpr {
            kind: TypedExprKind::Index(self.alloc(value), self.alloc(index)),
            ty,
            span,
        }
    }

    /// An index, as an int.
    fn index_value(&mut self, index: &ast::Expr<'a>) -> TypedExpr<'a> {
        let value = self.expr(index);
        match value.ty {
            TypeId::UINT => self.to_number(value, TypeId::INT),
            _ => self.convert(value, TypeId::INT, ConversionPurpose::Index),
        }
    }

    /// An element of a constant at a constant index in range.
    fn constant_element(
        &self,
        value: TypedExpr<'a>,
        index: TypedExpr<'a>,
        ty: TypeId,
        span: Span,
    ) -> Option<TypedExpr<'a>> {
        let kind = TypedExprKind::Index(self.alloc(value), self.alloc(index));
        let bits = self.types.fold(&TypedExpr { kind, ty, span })?;
        let kind = match (self.types.kind(ty), &bits[..]) {
            (TypeKind::Scalar(_), &[bits]) => TypedExprKind::Constant(bits),
            (_, bits) => TypedExprKind::Constants(self.arena.alloc_slice_copy(bits)),
        };
        Some(TypedExpr { kind, ty, span })
    }

    fn member(&mut self, operand: &ast::Expr<'a>, name: ast::Ident, span: Span) -> TypedExpr<'a> {
        let value = self.expr(operand);
        match self.types.kind(value.ty) {
            TypeKind::Error => TypedExpr::error(span),
            TypeKind::Struct(number) => {
                let mut members = self.types.members(number).iter();
                let member = members.find(|member| member.name == name.symbol).copied();
                match member {
                    Some(member) => TypedExpr {
                        ty: member.ty,
                        kind: TypedExprKind::Member(self.alloc(value), member.leaf),
                        span,
                    },
                    None if self.is_pair_of_plain(operand, &value, name) => TypedExpr::error(span),
                    None => self.unknown_member(operand, value.ty, name, span),
                }
            }
            TypeKind::Vector(width) => match swizzle(self.symbol_name(name.symbol), width) {
                Some(swizzle) => TypedExpr {
                    ty: TypeId::floats(u32::from(swizzle.count)),
                    kind: TypedExprKind::Swizzle(self.alloc(value), swizzle),
                    span,
                },
                None => self.unknown_member(operand, value.ty, name, span),
            },
            _ => self.unknown_member(operand, value.ty, name, span),
        }
    }

    /// Whether a member of a pair is asked for where a derivative gives a plain struct; reported if
    /// so.
    fn is_pair_of_plain(
        &mut self,
        operand: &ast::Expr<'a>,
        value: &TypedExpr<'a>,
        name: ast::Ident,
    ) -> bool {
        match (value.kind, operand.kind) {
            (TypedExprKind::Call(derivative, _), ast::ExprKind::Apply(callee, _)) => {
                ["p", "d"].contains(&self.symbol_name(name.symbol))
                    && self.is_plain_output_asked(derivative, callee.span)
            }
            _ => false,
        }
    }

    fn global_value(&mut self, name: ast::Ident, span: Span) -> TypedExpr<'a> {
        let Some(global) = self.names.global(name.symbol) else {
            return self.unknown_global(name, span);
        };
        let (_, ty) = self.globals[global as usize];
        if ty == TypeId::ERROR {
            self.report(
                Diagnostic::new(
                    Code::BadVariableType,
                    span,
                    "no global can be an array or a struct",
                )
                .here("the host offers it as one")
                .help("let the host offer its parts as numbers and vectors"),
            );
        }
        TypedExpr {
            kind: TypedExprKind::Global(global),
            ty,
            span,
        }
    }
}

/// Whether the value is a constant of the file or a member of one.
fn is_constant(value: &TypedExpr) -> bool {
    match value.kind {
        TypedExprKind::Constants(_) => true,
        TypedExprKind::Member(inner, _) => is_constant(inner),
        _ => false,
    }
}

/// The most components that a swizzle names.
const MAX_PICKED: usize = 4;

/// The sets that the letters of a swizzle are of, each in the order of the components. Those of
/// `xyzw` and `rgba` may be mixed.
const COMPONENT_LETTERS: [&str; 2] = ["xyzwrgba", "stpq"];

/// The components that a swizzle of a vector names: 1 to 4 letters of one set.
pub(super) fn swizzle(text: &str, width: u32) -> Option<Swizzle> {
    let mut components = [0; MAX_PICKED];
    if text.len() > MAX_PICKED {
        return None;
    }
    let first = text.chars().next()?;
    let letters = COMPONENT_LETTERS.iter().find(|set| set.contains(first))?;
    for (component, letter) in components.iter_mut().zip(text.chars()) {
        *component = (letters.find(letter)? % MAX_PICKED) as u8;
        if u32::from(*component) >= width {
            return None;
        }
    }
    Some(Swizzle {
        components,
        count: text.len() as u8,
    })
}
