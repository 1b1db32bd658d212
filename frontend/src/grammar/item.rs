//! Items at file level, and the entry points of the grammar.

use super::attribute::attribute_list;
use super::declared_names::declared_names;
use super::statement::{StatementRules, declaration, statement_rules};
use super::without_meaning::{FILE_WORDS, METHOD_WORDS, no_parameters, precision, skip_words};
use super::{
    GrammarExtra, GrammarRule, enclosed, mark, name, one, seen, semicolon, skip_to_end, word,
};
use crate::ast::{
    Attribute, BlockStmt, Declaration, Expr, FunctionDef, Ident, Item, ItemKind, ParamDecl,
    ParamDirection, ReplEntry, StructDef, TypeAlias, TypeExpr,
};
use crate::token_kind::{TokenKind, TokenSet};
use adumbra_ir::Span;
use bumpalo::collections::Vec as BumpVec;
use chumsky::prelude::*;
use smallvec::SmallVec;

/// The tokens that certainly begin an item at the start of a line: recovery stops there.
const STARTS: TokenSet = TokenSet::TYPES.union(TokenSet::of(&[
    TokenKind::Const,
    TokenKind::Struct,
    TokenKind::Shader,
]));

const QUALIFIERS: TokenSet = TokenSet::of(&[
    TokenKind::In,
    TokenKind::Out,
    TokenKind::InOut,
    TokenKind::Const,
    TokenKind::NoDiff,
]);

/// A whole file.
pub(crate) fn source_file<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a [Item<'a>]> {
    item(&statement_rules())
        .repeated()
        .collect::<Vec<_>>()
        .map_with(|items: Vec<Option<Item>>, e| {
            let items = items.into_iter().flatten();
            BumpVec::from_iter_in(items, e.state().arena).into_bump_slice() as &[_]
        })
        .then_ignore(end())
        .boxed()
}

/// One expression and nothing else.
pub(crate) fn single_expression<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a Expr<'a>> {
    statement_rules()
        .expression
        .then_ignore(mark(TokenKind::Semicolon).or_not())
        .then_ignore(end())
        .map_with(|expr, e| {
            e.state().validate(|audit| audit.expr(expr));
            expr
        })
        .boxed()
}

/// An entry of the REPL.
pub(crate) fn repl_entries<'t, 'a: 't>() -> GrammarRule<'t, 'a, &'a [ReplEntry<'a>]> {
    let rules = statement_rules();
    let shadow = || mark(TokenKind::Colon).ignore_then(rules.expression.clone());
    let seed = name()
        .then_ignore(mark(TokenKind::Assign))
        .then(rules.expression.clone())
        .then(shadow())
        .then(shadow().or_not())
        .then_ignore(semicolon())
        .map(|(((name, value), ddx), ddy)| ReplEntry::Seed {
            name,
            value,
            ddx,
            ddy,
        });
    let item = declared(&rules).map_with(|(attributes, kind), e| {
        let (builder, span) = seen(e);
        ReplEntry::Item(builder.arena.alloc(Item {
            attributes,
            kind,
            span,
        }))
    });
    let statement = rules
        .statement
        .clone()
        .map_with(|statement, e| ReplEntry::Statement(e.state().arena.alloc(statement)));
    choice((seed, item, statement))
        .map_with(|entry, e| {
            e.state().validate(|audit| audit.entry(&entry));
            entry
        })
        .repeated()
        .collect::<SmallVec<[_; 4]>>()
        .map_with(|list, e| &*e.state().arena.alloc_slice_copy(&list))
        .then_ignore(end())
        .boxed()
}

/// One item; `None` for a lone `;` and for a default precision. Recovers at its end.
fn item<'t, 'a: 't>(rules: &StatementRules<'t, 'a>) -> GrammarRule<'t, 'a, Option<Item<'a>>> {
    let constant = mark(TokenKind::Const)
        .then_ignore(skip_words(FILE_WORDS))
        .or_not()
        .map(|written| written.is_some());
    let constant = skip_words(FILE_WORDS).ignore_then(constant);
    let declaration = declaration(constant, rules.ty.clone(), rules.declarator.clone())
        .then_ignore(semicolon())
        .map(ItemKind::Declaration);
    let skip = skip_to_end(STARTS).map_with(|(), e| {
        let range = e.span();
        let names = declared_names(e.state().0, range.start, range.end);
        (&[][..], ItemKind::Broken(names))
    });
    let declaration = attribute_list(rules.attribute.clone()).then(declaration);
    let item = declared(rules)
        .or(declaration)
        .map(Some)
        .or(mark(TokenKind::Semicolon).to(None));
    let item = precision().to(None).or(item);
    item.recover_with(via_parser(skip.map(Some)))
        .map_with(|kind, e| {
            let (builder, span) = seen(e);
            let item = kind.map(|(attributes, kind)| Item {
                attributes,
                kind,
                span,
            });
            builder.validate(|audit| item.iter().for_each(|item| audit.item(item)));
            item
        })
        .boxed()
}

/// The items that are allowed at file level only, with their attributes: functions, shaders,
/// structs, names of types. Textures and resources are parsed as declarations.
fn declared<'t, 'a: 't>(
    rules: &StatementRules<'t, 'a>,
) -> GrammarRule<'t, 'a, (&'a [Attribute<'a>], ItemKind<'a>)> {
    let signature = signature(rules);
    let ty = rules.ty.clone().map(Some);
    let result = ty.or(mark(TokenKind::Shader).to(None));
    let function = function(
        rules.attribute.clone(),
        FILE_WORDS,
        result,
        signature.clone(),
    );
    let functions = function.map_with(|function, e| {
        let kind = match function {
            Err(name) => ItemKind::Broken(e.state().arena.alloc_slice_copy(&[name])),
            Ok(function) => ItemKind::Function(e.state().arena.alloc(function)),
        };
        let attributes = match kind {
            ItemKind::Function(function) => function.attributes,
            _ => &[],
        };
        (attributes, kind)
    });
    let alias = word("typedef")
        .ignore_then(rules.ty.clone())
        .then(name())
        .then(rules.dimensions.clone())
        .then_ignore(semicolon())
        .map_with(|((ty, name), dimensions), e| {
            ItemKind::TypeAlias(e.state().arena.alloc(TypeAlias {
                ty,
                name,
                dimensions,
            }))
        });
    let others =
        attribute_list(rules.attribute.clone()).then(alias.or(structure(rules, signature)));
    functions.or(others).boxed()
}

/// What follows the result of a function: its name, its parameters if they can be parsed, its body
/// if it has one.
struct Signature<'a> {
    name: Ident,
    parameters: Option<&'a [ParamDecl<'a>]>,
    parameters_span: Span,
    body: Option<BlockStmt<'a>>,
}

fn signature<'t, 'a: 't>(rules: &StatementRules<'t, 'a>) -> GrammarRule<'t, 'a, Signature<'a>> {
    let body = rules
        .block
        .clone()
        .map(Some)
        .or(mark(TokenKind::Semicolon).to(None));
    name()
        .then(parameters(rules))
        .then(body)
        .map(|((name, (parameters, parameters_span)), body)| Signature {
            name,
            parameters,
            parameters_span,
            body,
        })
        .boxed()
}

/// A function, a shader where `result` is none, a prototype; its name if the parameters could not
/// be parsed. Before it `words` mean nothing.
fn function<'t, 'a: 't>(
    attribute: GrammarRule<'t, 'a, Attribute<'a>>,
    words: &'static [&'static str],
    result: impl Parser<'t, &'t [TokenKind], Option<TypeExpr<'a>>, GrammarExtra<'t, 'a>> + Clone + 't,
    signature: GrammarRule<'t, 'a, Signature<'a>>,
) -> impl Parser<'t, &'t [TokenKind], Result<FunctionDef<'a>, Ident>, GrammarExtra<'t, 'a>> + Clone
{
    attribute_list(attribute)
        .then_ignore(skip_words(words))
        .then(no_diff())
        .then(result)
        .then(signature)
        .map(|(((attributes, is_no_diff), result), signature)| {
            let Signature {
                name,
                parameters,
                parameters_span,
                body,
            } = signature;
            Ok(FunctionDef {
                attributes,
                is_no_diff,
                result,
                name,
                parameters: parameters.ok_or(name)?,
                parameters_span,
                body,
            })
        })
}

/// Whether `no_diff` is written.
fn no_diff<'t, 'a: 't>() -> impl Parser<'t, &'t [TokenKind], bool, GrammarExtra<'t, 'a>> + Copy {
    one(TokenSet::of(&[TokenKind::NoDiff]))
        .or_not()
        .map(|written| written.is_some())
}

/// `(float a, out float b = 1)`, `(void)` and its span; `None` if it cannot be parsed.
fn parameters<'t, 'a: 't>(
    rules: &StatementRules<'t, 'a>,
) -> GrammarRule<'t, 'a, (Option<&'a [ParamDecl<'a>]>, Span)> {
    let qualifiers = one(QUALIFIERS)
        .repeated()
        .collect::<SmallVec<[TokenKind; 2]>>()
        .map(|kinds| TokenSet::of(&kinds));
    let parameter = qualifiers
        .then(rules.ty.clone())
        .then(rules.declarator.clone())
        .map_with(|((qualifiers, ty), declarator), e| ParamDecl {
            direction: direction(qualifiers),
            is_const: qualifiers.contains(TokenKind::Const),
            is_no_diff: qualifiers.contains(TokenKind::NoDiff),
            ty,
            declarator,
            span: seen(e).1,
        })
        .boxed();
    let list = parameter
        .separated_by(mark(TokenKind::Comma))
        .collect::<SmallVec<[_; 4]>>()
        .map_with(|list, e| Some(&*e.state().arena.alloc_slice_copy(&list)));
    let list = no_parameters().to(Some(&[][..])).or(list);
    enclosed(TokenKind::LParen, list, TokenKind::RParen, |_, _| None)
        .map_with(|list, e| (list, seen(e).1))
        .boxed()
}

fn direction(qualifiers: TokenSet) -> ParamDirection {
    let both = TokenSet::of(&[TokenKind::In, TokenKind::Out]);
    if qualifiers.contains(TokenKind::InOut) || qualifiers.contains_all(both) {
        ParamDirection::InOut
    } else if qualifiers.contains(TokenKind::Out) {
        ParamDirection::Out
    } else {
        ParamDirection::In
    }
}

/// `struct pair { float a, b; };`
fn structure<'t, 'a: 't>(
    rules: &StatementRules<'t, 'a>,
    signature: GrammarRule<'t, 'a, Signature<'a>>,
) -> GrammarRule<'t, 'a, ItemKind<'a>> {
    let result = rules.ty.clone().map(Some);
    let method =
        function(rules.attribute.clone(), METHOD_WORDS, result, signature).map(
            |method| match method {
                Ok(method) => Part::Method(method),
                Err(_) => Part::Broken,
            },
        );
    let member = no_diff()
        .then(rules.declaration.clone())
        .then_ignore(semicolon())
        .map(|(is_no_diff, member)| {
            Part::Members(Declaration {
                is_no_diff,
                ..*member
            })
        });
    let alias = word("typealias")
        .ignore_then(name())
        .then_ignore(mark(TokenKind::Assign))
        .then(rules.ty.clone())
        .then(rules.dimensions.clone())
        .then_ignore(semicolon())
        .map(|((name, ty), dimensions)| {
            Part::Alias(TypeAlias {
                ty,
                name,
                dimensions,
            })
        });
    let parts = choice((alias, method, member))
        .repeated()
        .collect::<SmallVec<[_; 8]>>()
        .map(Some);
    let interfaces = mark(TokenKind::Colon)
        .ignore_then(
            name()
                .separated_by(mark(TokenKind::Comma))
                .at_least(1)
                .collect::<SmallVec<[Ident; 2]>>(),
        )
        .or_not()
        .map(Option::unwrap_or_default);
    mark(TokenKind::Struct)
        .ignore_then(name())
        .then(interfaces)
        .then(enclosed(
            TokenKind::LBrace,
            parts,
            TokenKind::RBrace,
            |_, _| None,
        ))
        .then_ignore(semicolon())
        .map_with(|((name, interfaces), parts), e| {
            let arena = e.state().arena;
            let Some(parts) = parts else {
                return ItemKind::Broken(arena.alloc_slice_copy(&[name]));
            };
            let members = parts.iter().filter_map(|part| match part {
                Part::Members(members) => Some(*members),
                _ => None,
            });
            let aliases = parts.iter().filter_map(|part| match part {
                Part::Alias(alias) => Some(*alias),
                _ => None,
            });
            let methods = parts.iter().filter_map(|part| match part {
                Part::Method(method) => Some(*method),
                _ => None,
            });
            ItemKind::Struct(arena.alloc(StructDef {
                name,
                interfaces: arena.alloc_slice_copy(&interfaces),
                members: BumpVec::from_iter_in(members, arena).into_bump_slice(),
                aliases: BumpVec::from_iter_in(aliases, arena).into_bump_slice(),
                methods: BumpVec::from_iter_in(methods, arena).into_bump_slice(),
            }))
        })
        .boxed()
}

/// A part of a struct.
#[derive(Clone, Copy)]
enum Part<'a> {
    Members(Declaration<'a>),
    Alias(TypeAlias<'a>),
    Method(FunctionDef<'a>),
    Broken,
}
