//! Expressions: literals, names, members, indices, choices. Operators, calls and places have files of their own.

use super::convert::Purpose;
use super::names::Value;
use super::tree::{Expr, ExprKind, Local, Stmt, Swizzle};
use super::types::{TypeId, TypeKind};
use super::{Checker, LocalFacts};
use crate::ast;
use crate::interner::Symbol;
use adumbra_ir::{Code, Diagnostic, Span};

impl<'a> Checker<'a, '_> {
    /// The meaning of an expression.
    pub(super) fn expr(&mut self, syntax: &ast::Expr<'a>) -> Expr<'a> {
        let span = syntax.span;
        if self.has_enough() {
            return Expr::error(span);
        }
        match syntax.kind {
            ast::ExprKind::Float(value) => Expr::constant(TypeId::FLOAT, value.to_bits(), span),
            ast::ExprKind::Int(value) => Expr::constant(TypeId::INT, value as u32, span),
            ast::ExprKind::Uint(value) => Expr::constant(TypeId::UINT, value, span),
            ast::ExprKind::Bool(value) => Expr::constant(TypeId::BOOL, u32::from(value), span),
            ast::ExprKind::String(_) => {
                self.report(
                    Diagnostic::new(Code::TextAsValue, span, "a text is not a value")
                        .here("a text")
                        .help("texts stand only at the beginning of a message: `printf(\"%f\\n\", x)`"),
                );
                Expr::error(span)
            }
            ast::ExprKind::Name(symbol) => self.name(symbol, span),
            ast::ExprKind::Unary(op, operand) => self.unary(op, operand, span),
            ast::ExprKind::Binary(..) => self.chain(syntax),
            ast::ExprKind::Assign { op, place, value } => self.assign(op, place, value, span),
            ast::ExprKind::Step {
                step,
                postfix,
                place,
            } => self.step(step, postfix, place, span),
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
            ast::ExprKind::Index(operand, index) => self.index(operand, index, span),
            ast::ExprKind::Member(operand, name) => self.member(operand, name, span),
            ast::ExprKind::GlobalValue(name) => self.global_value(name, span),
            ast::ExprKind::MakeClosure(name, args) => self.make_closure(name, args, span),
            ast::ExprKind::TextureSample(sample, name, args) => {
                self.sample(sample, name, args, span)
            }
            ast::ExprKind::Broken => Expr::error(span),
        }
    }

    /// Like [`expr`](Checker::expr), and as a bool.
    pub(super) fn truth(&mut self, syntax: &ast::Expr<'a>) -> Expr<'a> {
        let value = self.expr(syntax);
        self.assigned_condition(syntax);
        self.condition(value)
    }

    fn name(&mut self, symbol: Symbol, span: Span) -> Expr<'a> {
        let value = self.indexable_name(symbol, span);
        if let TypeKind::RunTimeArray(_) = self.types.kind(value.ty) {
            let text = self.text(symbol).to_owned();
            self.report(
                Diagnostic::new(
                    Code::RunTimeArray,
                    span,
                    format!("`{text}` has as many elements as turn out while shading, and can only be indexed"),
                )
                .here("used as a whole")
                .help("copy its elements in a loop; to pass it on, declare it with a constant length, as long as is ever needed"),
            );
            return Expr::error(span);
        }
        value
    }

    /// What a name means in front of an index, where arrays sized while shading may stand.
    fn indexable_name(&mut self, symbol: Symbol, span: Span) -> Expr<'a> {
        match self.names.value(symbol) {
            Value::Local(local) => {
                self.mentioned(local);
                let ty = self.body.locals[local.0 as usize].ty;
                match self.facts(local).bits {
                    Some(bits) => Expr::constant(ty, bits, span),
                    None => Expr {
                        kind: ExprKind::Local(local),
                        ty,
                        span,
                    },
                }
            }
            Value::Constant(number) if !self.is_library => self.constant(number, span),
            Value::Resource(number) if !self.is_library => Expr {
                kind: ExprKind::Resource(number),
                ty: TypeId::RESOURCE,
                span,
            },
            Value::Texture(_) if !self.is_library => {
                let text = self.text(symbol).to_owned();
                self.report(
                    Diagnostic::new(
                        Code::NotAValue,
                        span,
                        format!("`{text}` is a texture, not a value"),
                    )
                    .here("a texture")
                    .help(format!("sample it: `texture2d_sample<{text}>(u, v)`")),
                );
                Expr::error(span)
            }
            _ => match self.session_value(symbol, span) {
                Some(value) => value,
                None => self.unknown_value(symbol, span),
            },
        }
    }

    /// A constant of the file: its number, or, if it has to be indexed, a variable that holds it.
    fn constant(&mut self, number: u32, span: Span) -> Expr<'a> {
        let constant = self.constants[number as usize];
        let Some(bits) = constant.bits else {
            return Expr::error(span);
        };
        let kind = match (self.types.kind(constant.ty), bits) {
            (TypeKind::Scalar(_), &[bits]) => ExprKind::Constant(bits),
            _ => ExprKind::Constants(bits),
        };
        Expr {
            kind,
            ty: constant.ty,
            span,
        }
    }

    /// An array that is, or is part of, a constant, as part of the variable that holds the constant in this body.
    fn constant_in_memory(&mut self, operand: &ast::Expr<'a>, value: Expr<'a>) -> Expr<'a> {
        let symbol = match (operand.kind, value.kind) {
            (ast::ExprKind::Name(symbol), ExprKind::Constants(_)) => symbol,
            (ast::ExprKind::Member(operand, _), ExprKind::Member(inner, leaf)) => {
                let inner = self.constant_in_memory(operand, *inner);
                return Expr {
                    kind: ExprKind::Member(self.keep(inner), leaf),
                    ..value
                };
            }
            _ => return value,
        };
        let Value::Constant(number) = self.names.value(symbol) else {
            return value;
        };
        let constant = self.constants[number as usize];
        if self.current == super::NO_FUNCTION {
            self.not_constant(value.span);
            return Expr::error(value.span);
        }
        let local = match constant.local {
            Some((function, local)) if function == self.current => local,
            _ => {
                let local = self.hoist(constant.name, value);
                self.constants[number as usize].local = Some((self.current, local));
                local
            }
        };
        Expr {
            kind: ExprKind::Local(local),
            ..value
        }
    }

    /// A variable that is set before the first statement of the body.
    pub(super) fn hoist(&mut self, name: ast::Name, value: Expr<'a>) -> super::LocalId {
        let local = Local {
            name: name.symbol,
            ty: value.ty,
            span: name.span,
        };
        let facts = LocalFacts {
            constant: true,
            hoisted: true,
            bits: None,
        };
        let local = self.add_local(local, facts);
        let value = self.keep(value);
        self.body.hoisted.push(Stmt::Declare(local, Some(value)));
        local
    }

    fn ternary(
        &mut self,
        condition: &ast::Expr<'a>,
        yes: &ast::Expr<'a>,
        no: &ast::Expr<'a>,
        span: Span,
    ) -> Expr<'a> {
        let condition = self.truth(condition);
        let (yes, no) = (self.expr(yes), self.expr(no));
        let (yes, no) = self.alike(yes, no);
        if condition.is_error() || yes.is_error() || no.is_error() {
            return Expr::error(span);
        }
        let ty = yes.ty;
        Expr {
            kind: ExprKind::Ternary(self.arena.alloc([condition, yes, no])),
            ty,
            span,
        }
    }

    /// Two values between which is chosen, converted to a common type.
    pub(super) fn alike(&mut self, yes: Expr<'a>, no: Expr<'a>) -> (Expr<'a>, Expr<'a>) {
        if yes.ty == no.ty || yes.is_error() || no.is_error() {
            return (yes, no);
        }
        if super::convert::fit(yes.ty, no.ty).is_some() {
            (self.to_number(yes, no.ty), no)
        } else {
            let no = self.convert(no, yes.ty, Purpose::Choice);
            (yes, no)
        }
    }

    fn index(&mut self, operand: &ast::Expr<'a>, index: &ast::Expr<'a>, span: Span) -> Expr<'a> {
        let mut value = match operand.kind {
            ast::ExprKind::Name(symbol) => self.indexable_name(symbol, operand.span),
            _ => self.expr(operand),
        };
        let index_value = self.expr(index);
        let index = match index_value.ty {
            TypeId::UINT => self.to_number(index_value, TypeId::INT),
            _ => self.convert(index_value, TypeId::INT, Purpose::Index),
        };
        if index.is_error() {
            return Expr::error(span);
        }
        self.index_in_range(&value, &index);
        let ty = match self.types.kind(value.ty) {
            TypeKind::Error => return Expr::error(span),
            TypeKind::Array(element, _) | TypeKind::RunTimeArray(element) => element,
            TypeKind::Vector(_) => TypeId::FLOAT,
            TypeKind::Matrix(size) => TypeId::floats(size),
            _ => {
                let is = self.show(value.ty);
                self.report(
                    Diagnostic::new(Code::BadIndex, span, format!("{is} has no elements"))
                        .here("cannot be indexed")
                        .help(
                            "only arrays, vectors and matrices have elements; a struct has members, `.name`",
                        ),
                );
                return Expr::error(span);
            }
        };
        if is_constant(&value) && self.types.has_arrays(value.ty) {
            // Outside of bodies nothing is in memory; inside them, rows of an array are best left there.
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
        Expr {
            kind: ExprKind::Index(self.keep(value), self.keep(index)),
            ty,
            span,
        }
    }

    /// An element of a constant at a constant index in range.
    fn constant_element(
        &self,
        value: Expr<'a>,
        index: Expr<'a>,
        ty: TypeId,
        span: Span,
    ) -> Option<Expr<'a>> {
        let kind = ExprKind::Index(self.keep(value), self.keep(index));
        let bits = self.types.fold(&Expr { kind, ty, span })?;
        let kind = match (self.types.kind(ty), &bits[..]) {
            (TypeKind::Scalar(_), &[bits]) => ExprKind::Constant(bits),
            (_, bits) => ExprKind::Constants(self.arena.alloc_slice_copy(bits)),
        };
        Some(Expr { kind, ty, span })
    }

    fn member(&mut self, operand: &ast::Expr<'a>, name: ast::Name, span: Span) -> Expr<'a> {
        let value = self.expr(operand);
        match self.types.kind(value.ty) {
            TypeKind::Error => Expr::error(span),
            TypeKind::Struct(number) => {
                let members = self.types.members(number);
                match members.iter().find(|member| member.name == name.symbol) {
                    Some(member) => Expr {
                        ty: member.ty,
                        kind: ExprKind::Member(self.keep(value), member.leaf),
                        span,
                    },
                    None => self.unknown_member(operand, value.ty, name, span),
                }
            }
            TypeKind::Vector(width) => match swizzle(self.text(name.symbol), width) {
                Some(swizzle) => Expr {
                    ty: TypeId::floats(u32::from(swizzle.count)),
                    kind: ExprKind::Swizzle(self.keep(value), swizzle),
                    span,
                },
                None => self.unknown_member(operand, value.ty, name, span),
            },
            _ => self.unknown_member(operand, value.ty, name, span),
        }
    }

    fn global_value(&mut self, name: ast::Name, span: Span) -> Expr<'a> {
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
        Expr {
            kind: ExprKind::Global(global),
            ty,
            span,
        }
    }
}

/// Whether the value is a constant of the file or a member of one.
fn is_constant(value: &Expr) -> bool {
    match value.kind {
        ExprKind::Constants(_) => true,
        ExprKind::Member(inner, _) => is_constant(inner),
        _ => false,
    }
}

/// The components that a swizzle of a vector names: 1 to 4 of `xyzw` and `rgba`, mixed as one likes.
pub(super) fn swizzle(text: &str, width: u32) -> Option<Swizzle> {
    let mut components = [0; 4];
    if text.is_empty() || text.len() > components.len() {
        return None;
    }
    for (component, byte) in components.iter_mut().zip(text.bytes()) {
        *component = match byte {
            b'x' | b'r' => 0,
            b'y' | b'g' => 1,
            b'z' | b'b' => 2,
            b'w' | b'a' => 3,
            _ => return None,
        };
        if u32::from(*component) >= width {
            return None;
        }
    }
    Some(Swizzle {
        components,
        count: text.len() as u8,
    })
}
