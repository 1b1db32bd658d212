//! Statements and declarations. Each statement recovers at its own end, so a broken one costs no
//! other.

use super::attribute::{attribute, attribute_list};
use super::declared_names::declared_names;
use super::expression::{ASSIGNMENT_OPERATORS, expression, initializer, literal, value};
use super::types::{dimensions, ty};
use super::without_meaning::precision;
use super::{
    GrammarExtra, GrammarRule, NodeBuilder, ParseError, Reader, enclosed, mark, name, one, seen,
    semicolon, skip_to_end,
};
use crate::ast::{
    Attribute, BlockStmt, Declaration, Declarator, Dimension, Expr, ExprKind, ForInit, ForLoop,
    IfArm, MetadataItem, Stmt, StmtKind, SwitchCase, TypeExpr, UnaryOp,
};
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::Span;
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The keywords that begin only a statement.
pub(crate) const STATEMENT_KEYWORDS: TokenSet = TokenSet::of(&[
    TokenKind::Const,
    TokenKind::Struct,
    TokenKind::If,
    TokenKind::For,
    TokenKind::While,
    TokenKind::Do,
    TokenKind::Switch,
    TokenKind::Break,
    TokenKind::Continue,
    TokenKind::Return,
]);

/// After a name, what only expressions go on with.
const USES: TokenSet = ASSIGNMENT_OPERATORS.union(TokenSet::of(&[TokenKind::LParen]));

/// The tokens that certainly begin a statement at the start of a line: recovery stops there.
const STARTS: TokenSet = TokenSet::TYPES.union(STATEMENT_KEYWORDS);

/// The rules that items consist of.
pub(super) struct StatementRules<'t, 'a> {
    pub(super) expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    pub(super) attribute: GrammarRule<'t, 'a, Attribute<'a>>,
    pub(super) dimensions: GrammarRule<'t, 'a, &'a [Dimension<'a>]>,
    pub(super) ty: GrammarRule<'t, 'a, TypeExpr<'a>>,
    pub(super) declarator: GrammarRule<'t, 'a, Declarator<'a>>,
    /// Without its `;`.
    pub(super) declaration: GrammarRule<'t, 'a, &'a Declaration<'a>>,
    /// Recovers at its end.
    pub(super) statement: GrammarRule<'t, 'a, Stmt<'a>>,
    pub(super) block: GrammarRule<'t, 'a, BlockStmt<'a>>,
}

pub(super) fn statement_rules<'t, 'a: 't>() -> StatementRules<'t, 'a> {
    let expression = expression();
    let dimensions = dimensions(expression.clone());
    let attribute = attribute(expression.clone());
    let ty = ty(dimensions.clone());
    let declarator = declarator(dimensions.clone(), expression.clone());
    let constant = one(TokenSet::of(&[TokenKind::Const]))
        .or_not()
        .map(|written| written.is_some());
    let declaration = declaration(constant, ty.clone(), declarator.clone());
    let statement = recursive(|statement| {
        let statement = statement.boxed();
        alternatives(
            &attribute,
            expression.clone(),
            declaration.clone(),
            statement.clone(),
            block(statement),
        )
    })
    .boxed();
    StatementRules {
        expression,
        attribute,
        dimensions,
        ty,
        declarator,
        declaration,
        block: block(statement.clone()),
        statement,
    }
}

/// Any statement, by its first words.
fn alternatives<'t, 'a: 't>(
    attribute: &GrammarRule<'t, 'a, Attribute<'a>>,
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    declaration: GrammarRule<'t, 'a, &'a Declaration<'a>>,
    statement: GrammarRule<'t, 'a, Stmt<'a>>,
    block: GrammarRule<'t, 'a, BlockStmt<'a>>,
) -> GrammarRule<'t, 'a, Stmt<'a>> {
    let condition = condition(expression.clone());
    let body = statement
        .clone()
        .map_with(|body, e| &*e.state().arena.alloc(body))
        .boxed();
    let declared = may_declare()
        .ignore_then(declaration.clone())
        .then_ignore(semicolon())
        .map(StmtKind::Declaration);
    let evaluated = expression
        .clone()
        .then_ignore(semicolon())
        .map(StmtKind::Expr);
    let arm = mark(TokenKind::If)
        .ignore_then(condition.clone())
        .then(body.clone())
        .map_with(|(condition, body), e| IfArm {
            condition,
            body,
            span: seen(e).1,
        })
        .boxed();
    // A chain is parsed in a loop, regardless of its length.
    let further = mark(TokenKind::Else).ignore_then(arm.clone()).repeated();
    let chosen = arm
        .map(|arm| SmallVec::<[IfArm<'a>; 4]>::from_elem(arm, 1))
        .foldl(further, |mut arms, arm| {
            arms.push(arm);
            arms
        })
        .then(mark(TokenKind::Else).ignore_then(body.clone()).or_not())
        .map_with(|(arms, otherwise), e| StmtKind::If {
            arms: e.state().arena.alloc_slice_copy(&arms),
            otherwise,
        });
    let repeated = mark(TokenKind::While)
        .ignore_then(condition.clone())
        .then(body.clone())
        .map(|(condition, body)| StmtKind::While { condition, body });
    let done = mark(TokenKind::Do)
        .ignore_then(body.clone())
        .then_ignore(mark(TokenKind::While))
        .then(condition.clone())
        .then_ignore(semicolon())
        .map(|(body, condition)| StmtKind::DoWhile { body, condition });
    let returned = mark(TokenKind::Return)
        .ignore_then(value(expression.clone()).or_not())
        .then_ignore(semicolon())
        .map(StmtKind::Return);
    let switched = switch(expression.clone(), condition, statement);
    let word = |kind, stmt: StmtKind<'a>| mark(kind).ignore_then(semicolon()).to(stmt);
    let kinds = choice((
        precision().to(StmtKind::Empty),
        declared,
        evaluated,
        block.map(StmtKind::Block),
        chosen,
        for_loop(expression, declaration, body),
        returned,
        repeated,
        done,
        word(TokenKind::Break, StmtKind::Break),
        word(TokenKind::Continue, StmtKind::Continue),
        switched,
        mark(TokenKind::Semicolon).to(StmtKind::Empty),
    ))
    .boxed();
    let attributed = attribute_list(attribute.clone()).then(kinds);
    let skip = skip_to_end(STARTS).map_with(|(), e| {
        let range = e.span();
        let names = declared_names(e.state().0, range.start, range.end);
        (&[][..], StmtKind::Broken(names))
    });
    attributed
        .recover_with(via_parser(skip))
        .map_with(|(attributes, kind), e| Stmt {
            attributes,
            kind,
            span: seen(e).1,
        })
        .boxed()
}

/// Nothing, where a declaration can begin: not at a name that is assigned to or called.
fn may_declare<'t, 'a: 't>() -> impl Parser<'t, &'t [TokenKind], (), GrammarExtra<'t, 'a>> + Copy {
    custom(|input: &mut Reader<'t, '_, 'a>| {
        let at = *input.cursor().inner();
        let after = input.state().tokens.kind(at + 1);
        let is_used =
            input.peek() == Some(TokenKind::Name) && after.is_some_and(|k| USES.contains(k));
        match is_used {
            false => Ok(()),
            true => Err(ParseError::expected(at, TokenSet::EMPTY)),
        }
    })
}

/// `{ … }`
fn block<'t, 'a: 't>(
    statement: GrammarRule<'t, 'a, Stmt<'a>>,
) -> GrammarRule<'t, 'a, BlockStmt<'a>> {
    enclosed(
        TokenKind::LBrace,
        statements(statement),
        TokenKind::RBrace,
        |builder: NodeBuilder<'t, 'a>, span: Span| {
            let kind = StmtKind::Broken(&[]);
            &*builder.arena.alloc_slice_copy(&[Stmt {
                attributes: &[],
                kind,
                span,
            }])
        },
    )
    .map_with(|statements, e| BlockStmt {
        statements,
        span: seen(e).1,
    })
    .boxed()
}

fn statements<'t, 'a: 't>(
    statement: GrammarRule<'t, 'a, Stmt<'a>>,
) -> impl Parser<'t, &'t [TokenKind], &'a [Stmt<'a>], GrammarExtra<'t, 'a>> + Clone {
    statement
        .repeated()
        .collect::<SmallVec<[_; 8]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list))
}

/// `(e)` after `if`, `while`, `switch`.
fn condition<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    enclosed(
        TokenKind::LParen,
        expression,
        TokenKind::RParen,
        |builder: NodeBuilder<'t, 'a>, span| builder.expr(ExprKind::Broken, span),
    )
    .boxed()
}

/// `for (init; conditions; steps) body`
fn for_loop<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    declaration: GrammarRule<'t, 'a, &'a Declaration<'a>>,
    body: GrammarRule<'t, 'a, &'a Stmt<'a>>,
) -> GrammarRule<'t, 'a, StmtKind<'a>> {
    let list = expression
        .separated_by(mark(TokenKind::Comma))
        .collect::<SmallVec<[_; 4]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list))
        .boxed();
    let init = declaration
        .map(ForInit::Declaration)
        .then_ignore(mark(TokenKind::Semicolon))
        .or(list
            .clone()
            .map(ForInit::Exprs)
            .then_ignore(mark(TokenKind::Semicolon)));
    let header = init
        .then(list.clone())
        .then_ignore(mark(TokenKind::Semicolon))
        .then(list)
        .map(|((init, conditions), steps)| (init, conditions, steps));
    let header = enclosed(
        TokenKind::LParen,
        header,
        TokenKind::RParen,
        |builder: NodeBuilder<'t, 'a>, span: Span| {
            let broken = builder.expr(ExprKind::Broken, span);
            let init = ForInit::Exprs(builder.arena.alloc_slice_copy(&[broken]));
            (init, &[][..], &[][..])
        },
    );
    mark(TokenKind::For)
        .ignore_then(header)
        .then(body)
        .map_with(|((init, conditions, steps), body), e| {
            StmtKind::For(e.state().arena.alloc(ForLoop {
                init,
                conditions,
                updates: steps,
                body,
            }))
        })
        .boxed()
}

/// `switch (value) { case 1: … default: … }`
fn switch<'t, 'a: 't>(
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
    condition: GrammarRule<'t, 'a, &'a Expr<'a>>,
    statement: GrammarRule<'t, 'a, Stmt<'a>>,
) -> GrammarRule<'t, 'a, StmtKind<'a>> {
    let label = mark(TokenKind::Case)
        .ignore_then(expression)
        .map(Some)
        .or(mark(TokenKind::Default).to(None))
        .then_ignore(mark(TokenKind::Colon));
    let case = label
        .then(statements(statement))
        .map_with(|(label, statements), e| SwitchCase {
            label,
            statements,
            span: seen(e).1,
        });
    let cases = case
        .repeated()
        .collect::<SmallVec<[_; 8]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list));
    let cases = enclosed(TokenKind::LBrace, cases, TokenKind::RBrace, |_, _| &[][..]);
    mark(TokenKind::Switch)
        .ignore_then(condition)
        .then(cases)
        .map(|(value, cases)| StmtKind::Switch { value, cases })
        .boxed()
}

/// `w[8] = { 1.0 }`, `gain = 0.5 <<< min = 0 >>>`
fn declarator<'t, 'a: 't>(
    dimensions: GrammarRule<'t, 'a, &'a [Dimension<'a>]>,
    expression: GrammarRule<'t, 'a, &'a Expr<'a>>,
) -> GrammarRule<'t, 'a, Declarator<'a>> {
    let init = mark(TokenKind::Assign)
        .ignore_then(initializer(expression))
        .map_with(|init, e| &*e.state().arena.alloc(init));
    name()
        .then(dimensions)
        .then(init.or_not())
        .then(metadata().or_not())
        .map_with(|(((name, dimensions), init), metadata), e| Declarator {
            name,
            dimensions,
            init,
            metadata: metadata.unwrap_or_default(),
            span: seen(e).1,
        })
        .boxed()
}

/// `<<< label = "count", hidden >>>`
fn metadata<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a [MetadataItem<'a>]> {
    let sign = mark(TokenKind::Minus).or_not();
    let value = sign.then(literal()).map_with(|(sign, kind), e| {
        let (builder, span) = seen(e);
        let literal = builder.expr(kind, span);
        match sign {
            Some(_) => builder.expr(ExprKind::Unary(UnaryOp::Minus, literal), span),
            None => literal,
        }
    });
    name()
        .then(mark(TokenKind::Assign).ignore_then(value).or_not())
        .map(|(name, value)| MetadataItem { name, value })
        .separated_by(mark(TokenKind::Comma))
        .allow_trailing()
        .collect::<SmallVec<[_; 4]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list))
        .delimited_by(mark(TokenKind::MetaOpen), mark(TokenKind::MetaClose))
        .boxed()
}

/// `const float a = 1, b`, where `constant` reads what is before the type: whether it has `const`.
pub(super) fn declaration<'t, 'a: 't>(
    constant: impl Parser<'t, &'t [TokenKind], bool, GrammarExtra<'t, 'a>> + Clone + 't,
    ty: GrammarRule<'t, 'a, TypeExpr<'a>>,
    declarator: GrammarRule<'t, 'a, Declarator<'a>>,
) -> GrammarRule<'t, 'a, &'a Declaration<'a>> {
    let list = declarator
        .separated_by(mark(TokenKind::Comma))
        .at_least(1)
        .collect::<SmallVec<[_; 2]>>();
    constant
        .then(ty)
        .then(list)
        .map_with(|((is_const, ty), list), e| {
            let (builder, span) = seen(e);
            &*builder.arena.alloc(Declaration {
                is_const,
                is_no_diff: false,
                ty,
                declarators: builder.arena.alloc_slice_copy(&list),
                span,
            })
        })
        .boxed()
}
