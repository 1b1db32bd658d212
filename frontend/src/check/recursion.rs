//! Functions that call themselves on every path, so that no call of them ever returns.
//!
//! The functions that may return are a least fixed point: a function may return if some path
//! through its body calls only functions that may. Loops may end in any iteration and any condition
//! may hold, so the others certainly never return. Callees are mostly declared before their
//! callers, so nearly all is known after one pass. Nothing is reported if [`MAX_PASSES`] passes do
//! not suffice.

use super::typed_tree::{FunctionId, TypedExpr, TypedExprKind, TypedIf, TypedStmt, TypedSwitch};
use super::{DeclaredFunction, TypeChecker};
use crate::ast;
use adumbra_ir::{Code, Diagnostic, Span};

/// Most passes over all bodies.
const MAX_PASSES: usize = 8;

impl<'a> TypeChecker<'a, '_> {
    /// Warns of functions that never return because they call themselves.
    pub(super) fn warn_endless_recursion(&mut self) {
        let Some(returns) = self.may_return() else {
            return;
        };
        // The walk that reached each function first.
        let mut walks: Vec<Option<usize>> = vec![None; returns.len()];
        for start in 0..self.functions.len() {
            if returns[start] || walks[start].is_some() || self.functions[start].is_library {
                continue;
            }
            // Each step goes to a callee that never returns, so the walk closes a cycle.
            walks[start] = Some(start);
            let known = |callee: FunctionId, _: Span| returns[callee.0 as usize];
            let mut path = vec![start];
            let call = loop {
                let last = path[path.len() - 1];
                let Some((callee, span)) = first_call(self.functions[last].body, &known) else {
                    break None;
                };
                let callee = callee.0 as usize;
                match walks[callee].replace(start) {
                    None => path.push(callee),
                    Some(walk) if walk == start => {
                        let cycle = path.iter().position(|&on| on == callee);
                        path.drain(..cycle.unwrap_or(0));
                        break Some(span);
                    }
                    // Its cycle was reported by an earlier walk.
                    Some(_) => break None,
                }
            };
            let Some(call) = call else {
                continue;
            };
            let name = self.functions[path[0]].name;
            let text = self.symbol_name(name.symbol).to_owned();
            let message = match path.len() {
                1 => format!("`{text}` calls itself on every path, so it never returns"),
                _ => format!("`{text}` comes back to itself on every path, so it never returns"),
            };
            self.warn(
                Diagnostic::new(Code::EndlessRecursion, name.span, message)
                    .here("never returns")
                    .label(call, "called again here")
                    .help("let one path return without that call: `if (n <= 0) return …;`"),
            );
        }
    }

    /// The functions that may return; `None` if that took too many passes to find out.
    fn may_return(&self) -> Option<Vec<bool>> {
        // The library's functions return, and nothing asks whether a shader does.
        let is_known_to = |function: &DeclaredFunction<'_>| {
            let is_called =
                |syntax: &ast::FunctionDef<'_>| syntax.body.is_some() && !syntax.is_shader();
            function.is_library || !function.syntax.is_some_and(is_called)
        };
        let mut returns: Vec<bool> = self.functions.iter().map(is_known_to).collect();
        for _ in 0..MAX_PASSES {
            let mut is_settled = true;
            for index in 0..returns.len() {
                let known = |callee: FunctionId, _: Span| returns[callee.0 as usize];
                if !returns[index] && may_leave(self.functions[index].body, &known) {
                    returns[index] = true;
                    is_settled = false;
                }
            }
            if is_settled {
                return Some(returns);
            }
        }
        None
    }
}

/// Whether the call of a function, at that place, may return.
pub(super) type Returns<'r> = &'r dyn Fn(FunctionId, Span) -> bool;

/// Whether statements may be left, with calls that return or not.
pub(super) fn may_leave(statements: &[TypedStmt], returns: Returns<'_>) -> bool {
    ways(statements, returns).any()
}

/// The exits of statements that need no call that never returns.
#[derive(Clone, Copy, Debug, Default)]
struct Ways {
    /// At their end.
    falls: bool,
    /// By a `break` out of what is around them.
    breaks: bool,
    /// By a `return`, or by a `continue`, after which a loop may end.
    leaves: bool,
}

impl Ways {
    fn falling(falls: bool) -> Ways {
        Ways {
            falls,
            ..Ways::default()
        }
    }

    fn or(self, other: Ways) -> Ways {
        Ways {
            falls: self.falls || other.falls,
            breaks: self.breaks || other.breaks,
            leaves: self.leaves || other.leaves,
        }
    }

    fn any(self) -> bool {
        self.falls || self.breaks || self.leaves
    }
}

fn ways(statements: &[TypedStmt], returns: Returns<'_>) -> Ways {
    let mut all = Ways::falling(true);
    for statement in statements {
        all.falls = false;
        all = all.or(ways_of_one(statement, returns));
        if !all.falls {
            break;
        }
    }
    all
}

fn ways_of_one(statement: &TypedStmt, returns: Returns<'_>) -> Ways {
    let passes = |expr: &TypedExpr| sure_call(expr, returns).is_none();
    match statement {
        TypedStmt::Expr(expr) => Ways::falling(passes(expr)),
        TypedStmt::Declare(_, init) => Ways::falling(init.is_none_or(passes)),
        TypedStmt::Block(inner) => ways(inner, returns),
        TypedStmt::If(chosen) => {
            let mut all = Ways::default();
            for arm in chosen.arms {
                if !passes(arm.condition) {
                    return all;
                }
                all = all.or(ways(arm.body, returns));
            }
            all.or(ways(chosen.otherwise, returns))
        }
        TypedStmt::Loop(looped) if looped.tests_last => {
            let body = ways(looped.body, returns);
            let ends = body.falls && looped.condition.is_none_or(passes);
            Ways {
                falls: body.breaks || ends,
                breaks: false,
                leaves: body.leaves,
            }
        }
        // The loop may end before the first iteration.
        TypedStmt::Loop(looped) => Ways::falling(looped.condition.is_none_or(passes)),
        TypedStmt::Switch(switch) if !passes(switch.value) => Ways::default(),
        TypedStmt::Switch(switch) => {
            let cases = switch.cases.iter().map(|case| ways(case.body, returns));
            let all = cases.fold(Ways::falling(!switch.has_default), Ways::or);
            Ways {
                falls: all.falls || all.breaks,
                breaks: false,
                leaves: all.leaves,
            }
        }
        TypedStmt::Break(_) => Ways {
            breaks: true,
            ..Ways::default()
        },
        TypedStmt::Continue(_) => Ways {
            leaves: true,
            ..Ways::default()
        },
        TypedStmt::Return(value, _) => Ways {
            leaves: value.is_none_or(passes),
            ..Ways::default()
        },
    }
}

/// A call that never returns and that evaluating the expression certainly makes.
fn sure_call<'a>(expr: &TypedExpr<'a>, returns: Returns<'_>) -> Option<(FunctionId, Span)> {
    let mut waiting: Vec<&TypedExpr<'a>> = vec![expr];
    while let Some(expr) = waiting.pop() {
        match expr.kind {
            TypedExprKind::Call(function, args) => {
                if !returns(function, expr.span) {
                    return Some((function, expr.span));
                }
                waiting.extend(args);
            }
            TypedExprKind::And(first, _) | TypedExprKind::Or(first, _) => waiting.push(first),
            TypedExprKind::Ternary([condition, yes, no]) => {
                waiting.push(condition);
                if let (Some(call), Some(_)) = (sure_call(yes, returns), sure_call(no, returns)) {
                    return Some(call);
                }
            }
            _ => waiting.extend(expr.children()),
        }
    }
    None
}

/// The first call in statements that never returns and is certainly made if control reaches them.
pub(super) fn first_call(
    statements: &[TypedStmt],
    returns: Returns<'_>,
) -> Option<(FunctionId, Span)> {
    let find = |expr: &TypedExpr| sure_call(expr, returns);
    statements.iter().find_map(|statement| match statement {
        TypedStmt::Expr(expr)
        | TypedStmt::Declare(_, Some(expr))
        | TypedStmt::Return(Some(expr), _) => find(expr),
        TypedStmt::Block(inner) => first_call(inner, returns),
        TypedStmt::If(TypedIf {
            arms, otherwise, ..
        }) => (arms.iter())
            .find_map(|arm| find(arm.condition).or_else(|| first_call(arm.body, returns)))
            .or_else(|| first_call(otherwise, returns)),
        TypedStmt::Loop(looped) => {
            (looped.condition.and_then(find)).or_else(|| first_call(looped.body, returns))
        }
        TypedStmt::Switch(TypedSwitch { value, cases, .. }) => find(value).or_else(|| {
            let mut cases = cases.iter();
            cases.find_map(|case| first_call(case.body, returns))
        }),
        _ => None,
    })
}
