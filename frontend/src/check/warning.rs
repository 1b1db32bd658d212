//! Warnings: unread variables, divisions by zero, assignments as conditions, and other likely
//! mistakes.
//!
//! Warnings are only for sources of the user, and only where there is no error: a missing part may
//! have avoided them.

use super::overload_resolution::is_shader;
use super::typed_tree::{FunctionId, LocalId, TypedExpr, TypedExprKind};
use super::types::{TypeId, TypeKind};
use super::{DeclaredFunction, TypeChecker};
use crate::ast::{self, BinaryOp, UnaryOp, has_attribute};
use crate::limits::MAX_DIAGNOSTICS;
use adumbra_ir::{Code, Diagnostic, Direction, Span};

impl<'a> TypeChecker<'a, '_> {
    pub(super) fn warn(&mut self, warning: Diagnostic) {
        if !self.is_library && self.warnings.len() < MAX_DIAGNOSTICS {
            self.warnings.push(super::truncate_messages(warning));
        }
    }

    /// Counts a mention of a variable, which is a read unless it is taken back.
    pub(super) fn count_read(&mut self, local: LocalId) {
        self.body.reads[local.0 as usize] += 1;
    }

    /// Takes back the mention of a variable that is only written there.
    pub(super) fn uncount_read(&mut self, place: &TypedExpr) {
        let mut root = place;
        while let TypedExprKind::Member(inner, _)
        | TypedExprKind::Swizzle(inner, _)
        | TypedExprKind::Index(inner, _) = root.kind
        {
            root = inner;
        }
        if let TypedExprKind::Local(local) = root.kind {
            let reads = &mut self.body.reads[local.0 as usize];
            *reads = reads.saturating_sub(1);
        }
    }

    /// Warns of the variables of a function that are never read; not of outputs, parameters of
    /// shaders and of hooks, whose bodies are yet to be written, and names that begin with `_`.
    pub(super) fn warn_unread_variables(&mut self, function: FunctionId) {
        let declared = *self.declared(function);
        let is_shader = declared.syntax.is_some_and(ast::FunctionDef::is_shader);
        let is_hook = (declared.attributes.iter())
            .any(|attributes| has_attribute(attributes, ast::ANIMATE, self.interner));
        for index in 0..self.body.locals.len() {
            let local = self.body.locals[index];
            let param = declared.params.get(index);
            let is_asked = match param {
                Some(param) => !is_shader && !is_hook && param.direction == ast::ParamDirection::In,
                None => !self.body.properties[index].is_hoisted,
            };
            if !is_asked || self.body.reads[index] > 0 {
                continue;
            }
            let text = self.symbol_name(local.name).to_owned();
            if text.starts_with('_') {
                continue;
            }
            let what = if param.is_some() {
                "parameter"
            } else {
                "variable"
            };
            self.warn(
                Diagnostic::new(
                    Code::UnreadVariable,
                    local.span,
                    format!("the {what} `{text}` is never read"),
                )
                .here("never read")
                .help(format!(
                    "remove it, or call it `_{text}` if it is to stay unread"
                )),
            );
        }
    }

    /// Warns of the inputs of a shader that are written as outputs are: nothing reads them
    /// afterwards, or the shader has no outputs.
    pub(super) fn warn_written_inputs(&mut self, function: FunctionId) {
        let declared = *self.declared(function);
        if !is_shader(&declared) {
            return;
        }
        let has_outputs = has_outputs(&declared);
        for (index, param) in declared.params.iter().enumerate() {
            let is_read = self.body.reads[index] > 0;
            let is_input = param.direction == ast::ParamDirection::In;
            let is_written = self.body.properties[index].is_written;
            if !is_input || !is_written || is_read && has_outputs {
                continue;
            }
            self.shaders_with_written_inputs.insert(function);
            let text = self.symbol_name(param.name).to_owned();
            let ty = self.types.name(param.ty, self.interner);
            self.warn(
                Diagnostic::new(
                    Code::NoOutput,
                    param.span,
                    format!("`{text}` is written, and is an input: no host gets what it becomes"),
                )
                .here("an input")
                .help(format!("write `out {ty} {text}` for an output")),
            );
        }
    }

    /// Warns of shaders that compute something and have no outputs, in a program without messages.
    pub(super) fn warn_shaders_without_effect(&mut self) {
        if !self.messages.is_empty() {
            return;
        }
        for index in 0..self.functions.len() {
            let declared = self.functions[index];
            let is_said = self
                .shaders_with_written_inputs
                .contains(&FunctionId(index as u32));
            if !is_shader(&declared)
                || has_outputs(&declared)
                || declared.body.is_empty()
                || is_said
            {
                continue;
            }
            let text = self.symbol_name(declared.name.symbol).to_owned();
            self.warn(
                Diagnostic::new(
                    Code::NoOutput,
                    declared.name.span,
                    format!("the shader `{text}` has no outputs, so nothing comes of it"),
                )
                .here("no `out` parameter")
                .help(format!("give it one: `shader {text}(out color c)`")),
            );
        }
    }

    /// Warns of a division by a constant that is zero.
    pub(super) fn warn_zero_divisor(
        &mut self,
        op: BinaryOp,
        a: &TypedExpr,
        b: &TypedExpr,
        span: Span,
    ) {
        let TypedExprKind::Constant(bits) = b.kind else {
            return;
        };
        let is_zero = match b.ty {
            TypeId::FLOAT => f32::from_bits(bits) == 0.0,
            _ => bits == 0,
        };
        if !matches!(op, BinaryOp::Div | BinaryOp::Rem) || !is_zero {
            return;
        }
        let gives = match (a.ty.is_integer() && b.ty.is_integer(), op) {
            (true, _) => "it gives 0, and a fault",
            (false, BinaryOp::Div) => "it gives an infinity or NaN",
            (false, _) => "it gives NaN",
        };
        self.warn(
            Diagnostic::new(
                Code::ZeroDivisor,
                span,
                format!("this divides by zero: {gives}"),
            )
            .here("divided by zero")
            .label(b.span, "this is 0")
            .help("divide by something else, or write the result that is meant"),
        );
    }

    /// Warns of `1 / 2`, whose result is 0.
    pub(super) fn warn_lost_remainder(
        &mut self,
        op: BinaryOp,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
    ) {
        let (Some(left), Some(right)) = (integer(a), integer(b)) else {
            return;
        };
        if op != BinaryOp::Div || right == 0 || left % right == 0 {
            return;
        }
        let (quotient, left, right) = (left / right, left as f32, right as f32);
        self.warn(
            Diagnostic::new(
                Code::LostRemainder,
                span,
                format!("this is a division of integers, which gives {quotient}"),
            )
            .here("the remainder is lost")
            .help(format!(
                "write `{left:?} / {right:?}` for a float, or `{quotient}` if that is meant"
            )),
        );
    }

    /// Warns of `if (a = b)`; another pair of parentheses says that it is meant.
    pub(super) fn warn_assigned_condition(&mut self, syntax: &ast::Expr) {
        let ast::ExprKind::Assign {
            op: None, place, ..
        } = syntax.kind
        else {
            return;
        };
        if place.span.start == syntax.span.start {
            self.warn(
                Diagnostic::new(
                    Code::AssignedCondition,
                    syntax.span,
                    "this condition is an assignment",
                )
                .here("assigns, then asks whether the value is not 0")
                .help("compare with `==`; if the assignment is meant, put parentheses around it"),
            );
        }
    }

    /// Warns of a constant index where no element is.
    pub(super) fn warn_constant_index(&mut self, value: &TypedExpr, index: &TypedExpr) {
        let len = match self.types.kind(value.ty) {
            TypeKind::Array(_, len) | TypeKind::Vector(len) | TypeKind::Matrix(len) => len,
            _ => return,
        };
        let Some(at) = self.fold_scalar(index).map(|bits| bits as i32) else {
            return;
        };
        if (0..i64::from(len)).contains(&i64::from(at)) {
            return;
        }
        let (is, last) = (self.quoted_type(value.ty), len - 1);
        let nearest = if at < 0 { 0 } else { last };
        self.warn(
            Diagnostic::new(
                Code::ConstantIndex,
                index.span,
                format!(
                    "{is} has no element {at}: the nearest one, {nearest}, is taken, with a fault"
                ),
            )
            .here("out of range")
            .help(format!("elements are counted from 0 to {last}")),
        );
    }

    /// Warns of a derivative of an expression that is piecewise constant.
    pub(super) fn warn_flat_derivative(
        &mut self,
        direction: Direction,
        value: &TypedExpr,
        span: Span,
    ) {
        if changes(value) != Changes::InSteps {
            return;
        }
        let axis = match direction {
            Direction::X => "x",
            Direction::Y => "y",
        };
        self.warn(
            Diagnostic::new(
                Code::FlatDerivative,
                span,
                format!("this changes in steps, so its derivative along {axis} is 0"),
            )
            .here("always 0")
            .label(value.span, "an integer, or rounded to one")
            .help("take the derivative of what is rounded or converted, before that is done"),
        );
    }
}

/// Whether a parameter of the function is an output.
fn has_outputs(declared: &DeclaredFunction<'_>) -> bool {
    let mut params = declared.params.iter();
    params.any(|param| param.direction != ast::ParamDirection::In)
}

/// A literal integer, perhaps under a sign.
fn integer(syntax: &ast::Expr) -> Option<i64> {
    match syntax.kind {
        ast::ExprKind::Int(value) => Some(value.into()),
        ast::ExprKind::Uint(value) => Some(value.into()),
        ast::ExprKind::Unary(UnaryOp::Minus, inner) => Some(-integer(inner)?),
        _ => None,
    }
}

/// How a float changes from pixel to pixel, as far as the expression shows; the greater of two
/// counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Changes {
    Never,
    /// Its derivative is 0 by rule.
    InSteps,
    Perhaps,
}

fn changes(value: &TypedExpr) -> Changes {
    let all = |parts: &[TypedExpr]| parts.iter().map(changes).max().unwrap_or(Changes::Never);
    match value.kind {
        TypedExprKind::Constant(_) | TypedExprKind::Constants(_) | TypedExprKind::Zero => {
            Changes::Never
        }
        TypedExprKind::Convert(_) => Changes::InSteps,
        TypedExprKind::Splat(inner) | TypedExprKind::Swizzle(inner, _) => changes(inner),
        TypedExprKind::Gather(parts) => all(parts),
        TypedExprKind::Op(op, operands) if op.info().is_differentiable() => {
            let carries = op.passes_shadows();
            let smooth = operands.iter().zip(carries).filter(|(_, carries)| *carries);
            let through = smooth.map(|(operand, _)| changes(operand)).max();
            match (all(operands), through) {
                (Changes::Never, _) => Changes::Never,
                (_, through) => through.unwrap_or(Changes::InSteps).max(Changes::InSteps),
            }
        }
        TypedExprKind::Op(..) => Changes::InSteps,
        _ => Changes::Perhaps,
    }
}
