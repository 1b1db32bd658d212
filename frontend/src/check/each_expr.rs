//! Every expression of typed statements, those within others too.
//!
//! Statements are visited in order, but for the updates of a loop, which come before its body; an
//! expression before its subexpressions.

use super::typed_tree::{TypedExpr, TypedStmt};

/// Calls a function with every expression of statements.
pub(super) fn for_each_expr<'a>(
    statements: &[TypedStmt<'a>],
    visit: &mut impl FnMut(&TypedExpr<'a>),
) {
    for statement in statements {
        match statement {
            TypedStmt::Expr(expr) => within(expr, visit),
            TypedStmt::Declare(_, expr) | TypedStmt::Return(expr, _) => {
                expr.iter().for_each(|expr| within(expr, visit));
            }
            TypedStmt::Block(body) => for_each_expr(body, visit),
            TypedStmt::If(choice) => {
                for arm in choice.arms {
                    within(arm.condition, visit);
                    for_each_expr(arm.body, visit);
                }
                for_each_expr(choice.otherwise, visit);
            }
            TypedStmt::Loop(repeated) => {
                let own = repeated.condition.into_iter().chain(repeated.updates);
                own.for_each(|expr| within(expr, visit));
                for_each_expr(repeated.body, visit);
            }
            TypedStmt::Switch(switch) => {
                within(switch.value, visit);
                for case in switch.cases {
                    for_each_expr(case.body, visit);
                }
            }
            TypedStmt::Break(_) | TypedStmt::Continue(_) => {}
        }
    }
}

fn within<'a>(expr: &TypedExpr<'a>, visit: &mut impl FnMut(&TypedExpr<'a>)) {
    visit(expr);
    for child in expr.children() {
        within(child, visit);
    }
}
