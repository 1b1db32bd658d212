//! `printf`: a compile-time format, and its arguments.

use super::TypeChecker;
use super::typed_tree::{TypedExpr, TypedExprKind};
use super::types::TypeId;
use crate::ast;
use adumbra_ir::message::{Conversion, ConversionError, FormatPart, Message, format_parts};
use adumbra_ir::{Code, Diagnostic, Span};
use bumpalo::collections::Vec as BumpVec;

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn printf(
        &mut self,
        name: ast::Ident,
        args: &[&'a ast::Expr<'a>],
        span: Span,
    ) -> TypedExpr<'a> {
        let Some((format, args)) = args.split_first() else {
            self.bad_message(
                span,
                "`printf` takes a format string first",
                "no string",
                "write `printf(\"text\\n\")`",
            );
            return TypedExpr::error(span);
        };
        let mut values = BumpVec::with_capacity_in(args.len(), self.arena);
        for arg in args {
            values.push(self.expr(arg));
        }
        let ast::ExprKind::String(text) = format.kind else {
            if !matches!(format.kind, ast::ExprKind::Broken) {
                self.bad_message(
                    format.span,
                    "the first argument of `printf` is a string",
                    "not a string",
                    "write `printf(\"%f\\n\", x)`",
                );
            }
            return TypedExpr::error(span);
        };
        let text = self.symbol_name(text).to_owned();
        let mut conversions = Vec::new();
        for part in format_parts(&text) {
            match part {
                Ok(FormatPart::Literal(_)) => {}
                Ok(FormatPart::Conversion(conversion)) => conversions.push(conversion),
                Err(bad) => {
                    self.bad_conversion(bad, format.span);
                    return TypedExpr::error(span);
                }
            }
        }
        if conversions.len() != values.len() {
            self.miscounted(conversions.len(), format.span, &values, name.span.to(span));
            return TypedExpr::error(span);
        }
        let mut params = Vec::with_capacity(values.len());
        for (value, conversion) in values.iter_mut().zip(conversions) {
            *value = self.written_by(conversion, *value);
            if !value.is_error() {
                params.push(self.types.host_type(value.ty, self.interner));
            }
        }
        if params.len() != values.len() {
            return TypedExpr::error(span);
        }
        let number = self.messages.len() as u32;
        self.messages.push(Message {
            format: text,
            params,
        });
        TypedExpr {
            kind: TypedExprKind::Message(number, values.into_bump_slice()),
            ty: TypeId::VOID,
            span,
        }
    }

    /// Converts the argument for the conversion; reported if the types do not match.
    fn written_by(&mut self, conversion: Conversion, value: TypedExpr<'a>) -> TypedExpr<'a> {
        if value.is_error() {
            return value;
        }
        if conversion.is_float() && value.ty.is_integer() {
            return self.to_number(value, TypeId::FLOAT);
        }
        let is_plain = value.ty != TypeId::VOID && !self.types.has_arrays(value.ty);
        if is_plain && conversion.accepts(&self.types.host_type(value.ty, self.interner)) {
            return value;
        }
        let is = self.quoted_type(value.ty);
        let (writes, letter) = (conversion.accepted_types(), conversion.letter());
        let help = match value.ty {
            TypeId::BOOL => "write `%d`: 1 is true, 0 is false",
            TypeId::CLOSURE => "print what the closure is made from",
            TypeId::VOID => &self.void_fix(&value),
            TypeId::FLOAT => &format!("write `%f`, or convert it: `(int){}`", self.quoted(&value)),
            ty if ty.float_count() > 0 => "write `%f`: it writes all components",
            _ => "print its members or elements one by one",
        };
        let message = format!("`%{letter}` writes {writes}, and this is {is}");
        self.bad_message(value.span, &message, &format!("this is {is}"), help);
        TypedExpr::error(value.span)
    }

    fn miscounted(&mut self, wanted: usize, format: Span, values: &[TypedExpr<'a>], span: Span) {
        let given = values.len();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let message = format!(
            "the format has {wanted} conversion{}, and {given} argument{} follow{} it",
            plural(wanted),
            plural(given),
            if given == 1 { "s" } else { "" },
        );
        let (place, here, help) = match values.get(wanted) {
            Some(first) => (
                first.span,
                "no conversion in the format is for it",
                "add a conversion, such as `%f` or `%d`, or leave the argument out",
            ),
            None => (
                span,
                "too few arguments",
                "give a value for each conversion; `%%` is a percent sign",
            ),
        };
        self.report(
            Diagnostic::new(Code::BadMessage, place, message)
                .here(here)
                .label(format, format!("{wanted} conversion{}", plural(wanted)))
                .help(help),
        );
    }

    fn bad_conversion(&mut self, bad: ConversionError<'_>, format: Span) {
        let message = format!("`{}` is no conversion: {}", bad.text, bad.problem);
        self.bad_message(format, &message, "in this format", bad.help);
    }

    fn bad_message(&mut self, span: Span, message: &str, here: &str, help: &str) {
        self.report(
            Diagnostic::new(Code::BadMessage, span, message)
                .here(here)
                .help(help),
        );
    }
}
