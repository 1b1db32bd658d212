//! Buffers: declarations at file level, elements and lengths.

use super::TypeChecker;
use super::symbol_table::{TypeBinding, ValueBinding};
use super::type_resolution::InferredLength;
use super::typed_tree::{TypedBuffer, TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind};
use crate::ast::{self, BUFFER, TypeName};
use adumbra_ir::{Code, Diagnostic, Span};

/// The method that gives the number of elements.
const LENGTH: &str = "length";

impl<'a> TypeChecker<'a, '_> {
    /// Whether a type is written as that of a buffer.
    pub(super) fn is_buffer_type(&self, ty: &ast::TypeExpr<'a>) -> bool {
        match ty.name {
            TypeName::Named(symbol) => {
                self.symbol_name(symbol) == BUFFER
                    && self.names.type_binding(symbol) == TypeBinding::Unknown
            }
            _ => false,
        }
    }

    /// Reports the type of a buffer where only that of a value can be.
    pub(super) fn report_buffer_type(&mut self, ty: &ast::TypeExpr<'a>) {
        self.report(
            Diagnostic::new(Code::BadVariableType, ty.span, "a buffer is not a value")
                .here("not possible here")
                .help("declare it at file level, `buffer<float> name;`; every function of the file reads it by its name, `name[i]`"),
        );
    }

    /// `buffer<float> weights;`
    pub(super) fn declare_buffer(
        &mut self,
        declaration: &'a ast::Declaration<'a>,
        declarator: &'a ast::Declarator<'a>,
    ) {
        let name = declarator.name;
        let text = self.symbol_name(name.symbol).to_owned();
        if let Some(init) = declarator.init {
            let message = "a buffer has no value in the source: the host gives it by its name";
            self.report(
                Diagnostic::new(Code::BadInitializer, init.span, message)
                    .here("not possible here")
                    .help(format!(
                        "leave it out; an array has a value: `float {text}[3] = {{ … }}`"
                    )),
            );
        }
        let ty = &declaration.ty;
        if let Some(dimension) = ty.dimensions.iter().chain(declarator.dimensions).last() {
            let message = "there are no arrays of buffers";
            self.report(
                Diagnostic::new(Code::BadVariableType, dimension.span, message)
                    .here("not possible here")
                    .help(format!(
                        "a buffer has any number of elements: `buffer<float> {text};`"
                    )),
            );
        }
        let element = self.element_type(ty, &text);
        let metadata = self.metadata(declarator.metadata);
        let number = self.buffers.len() as u32;
        self.buffers.push(TypedBuffer {
            name,
            element,
            metadata,
        });
        self.names
            .declare(name.symbol, ValueBinding::Buffer(number));
    }

    /// The type of the elements of a buffer; an error if it is none.
    fn element_type(&mut self, ty: &ast::TypeExpr<'a>, name: &str) -> TypeId {
        let help = format!(
            "elements are floats, vectors or ints: `buffer<float> {name};`, `buffer<float3> {name};`, `buffer<int> {name};`"
        );
        let [argument] = ty.arguments else {
            let message = "a buffer needs the type of its elements";
            self.report(
                Diagnostic::new(Code::BadVariableType, ty.span, message)
                    .here("of what?")
                    .help(help),
            );
            return TypeId::ERROR;
        };
        let element = self.resolve_type(argument, &[], InferredLength::Unknown);
        let is_element = matches!(element, TypeId::FLOAT | TypeId::INT)
            || matches!(self.types.kind(element), TypeKind::Vector(_));
        if element == TypeId::ERROR || is_element {
            return element;
        }
        let is = self.quoted_type(element);
        self.report(
            Diagnostic::new(
                Code::BadVariableType,
                argument.span,
                format!("no buffer has elements of type {is}"),
            )
            .here("not possible here")
            .help(help),
        );
        TypeId::ERROR
    }

    /// The buffer that an expression names.
    pub(super) fn buffer_named(&self, operand: &ast::Expr<'a>) -> Option<u32> {
        match operand.kind {
            ast::ExprKind::Name(symbol) if !self.is_library => match self.names.value(symbol) {
                ValueBinding::Buffer(number) if self.member_of_this(symbol).is_none() => {
                    Some(number)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `weights[i]`
    pub(super) fn buffer_element(
        &mut self,
        number: u32,
        index: TypedExpr<'a>,
        span: Span,
    ) -> TypedExpr<'a> {
        let ty = self.buffers[number as usize].element;
        if index.is_error() || ty == TypeId::ERROR {
            return TypedExpr::error(span);
        }
        TypedExpr {
            kind: TypedExprKind::BufferElement(number, self.alloc(index)),
            ty,
            span,
        }
    }

    /// `weights.length()`
    pub(super) fn buffer_length(
        &mut self,
        number: u32,
        object: &ast::Expr<'a>,
        method: ast::Ident,
        args: &'a [&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let text = self.symbol_name(self.buffers[number as usize].name.symbol);
        let given = self.symbol_name(method.symbol);
        let usage = format!(
            "write `{text}.{LENGTH}()` for the number of its elements, `{text}[i]` for one"
        );
        let (code, message) = match (given == LENGTH, args) {
            (true, []) => {
                return TypedExpr {
                    kind: TypedExprKind::BufferLength(number),
                    ty: TypeId::INT,
                    span,
                };
            }
            (true, _) => (
                Code::ArgumentCount,
                format!("`{LENGTH}` of a buffer takes no arguments"),
            ),
            (false, _) => (
                Code::UnknownFunction,
                format!("a buffer has no method `{given}`"),
            ),
        };
        self.report(
            Diagnostic::new(code, method.span, message)
                .here("not possible here")
                .label(object.span, "this is a buffer")
                .help(usage),
        );
        TypedExpr::error(span)
    }

    /// Reports a buffer that is used as a value.
    pub(super) fn report_whole_buffer(&mut self, number: u32, span: Span) {
        let name = self.buffers[number as usize].name;
        let text = self.symbol_name(name.symbol).to_owned();
        self.report(
            Diagnostic::new(
                Code::NotAValue,
                span,
                format!("`{text}` is a buffer, not a value"),
            )
            .here("a buffer")
            .label(name.span, "declared here")
            .help(format!(
                "read an element: `{text}[i]`; functions of the file need no parameter for it"
            )),
        );
    }
}
