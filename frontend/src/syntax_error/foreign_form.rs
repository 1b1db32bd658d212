//! Forms of other languages: several tokens that the grammar does not take in that order.

use super::foreign_syntax::report;
use super::{Case, OPERANDS};
use crate::check::predeclared_type_names;
use crate::lexer::shortened;
use crate::token_kind::TokenKind;
use adumbra_ir::Diagnostic;

/// The diagnostic for a form of another language, if the failure is in one.
pub(super) fn recognise(case: &Case) -> Option<Diagnostic> {
    let found = case.kind(0)?;
    let span = case.span();
    let before = (case.kind(-2), case.kind(-1));
    let expects = |kind| case.expected.contains(kind);
    match found {
        _ if case.kind(-1).is_some_and(TokenKind::takes_name) && expects(TokenKind::Less) => {
            let (keyword, name) = (case.word(-1), case.word(1).trim_matches('"'));
            let is_name = found == TokenKind::LParen
                && matches!(
                    case.kind(1),
                    Some(TokenKind::Name | TokenKind::StringLiteral)
                );
            let name = if is_name { shortened(name) } else { "name" };
            let arguments = match case.kind(-1) {
                Some(TokenKind::GlobalValue) => "",
                Some(TokenKind::MakeClosure) => "(…)",
                _ => "(uv)",
            };
            report(
                span,
                format!("`{keyword}` is followed by a name in angle brackets"),
                "`<` belongs here",
                format!("write `{keyword}<{name}>{arguments}`"),
            )
        }
        TokenKind::LBracket
            if case.kind(-1).is_some_and(|k| k.type_keyword().is_some())
                && expects(TokenKind::LParen) =>
        {
            array_by_call(case, case.at - 1)
        }
        TokenKind::LParen if array_type_before(case).is_some() => {
            array_by_call(case, array_type_before(case)?)
        }
        TokenKind::Name
            if before == (Some(TokenKind::Closure), Some(TokenKind::Name))
                && case.word(-1) == "color" =>
        {
            report(
                case.previous_span(),
                "a closure has no colour of its own",
                "not part of the type",
                format!(
                    "write `closure {}`; closures are made by `make_closure<name>(…)`, and scaled by colours",
                    shortened(case.word(0))
                ),
            )
        }
        _ if is_trailing_qualifier(case) => report(
            span,
            format!("`{}` goes before a parameter's type", case.word(0)),
            "too late",
            format!(
                "write `{} {} {}`",
                case.word(0).trim_end_matches("put"),
                shortened(case.word(-2)),
                shortened(case.word(-1))
            ),
        ),
        _ if expects(TokenKind::RParen) && output_parameter(case).is_some() => report(
            case.tokens.span(output_parameter(case)?),
            "`output` is not a keyword here",
            "an ordinary name",
            "an output of a shader is written `out color c`",
        ),
        TokenKind::Comma
            if expects(TokenKind::RParen) && members_in_parentheses(case).is_some() =>
        {
            let members = members_in_parentheses(case)?;
            report(
                span,
                "several values in parentheses are not a vector",
                "parentheses hold only one value",
                match members {
                    2..=4 => format!("a vector is made by its type: `float{members}(…)`"),
                    _ => "a vector is made by its type, as in `float3(x, y, z)`".to_owned(),
                },
            )
        }
        TokenKind::Else if expects(TokenKind::If) => report(
            span,
            "`else` without its `if`",
            "no `if` before it",
            "`else` follows directly upon the body of its `if`; put several statements into braces",
        ),
        TokenKind::Case | TokenKind::Default if expects(TokenKind::If) => report(
            span,
            format!("{found} outside of a `switch`"),
            "no `switch` around it",
            "labels belong directly between the braces of a `switch`",
        ),
        TokenKind::In | TokenKind::Out | TokenKind::InOut if expects(TokenKind::Shader) => report(
            span,
            "inputs and outputs are not declared at file level",
            "not a declaration",
            "make them parameters of the shader: `shader name(float a, out color b) { … }`",
        ),
        TokenKind::In if expects(TokenKind::Semicolon) => report(
            span,
            "there is no loop over the members of something",
            "not part of a loop",
            "a loop is written `for (int i = 0; i < n; ++i) …`",
        ),
        TokenKind::LBrace if expects(TokenKind::FloatLiteral) => report(
            span,
            "a list in braces is not an expression",
            "only a declaration takes a list",
            "call a constructor, as in `float3(x, y, z)`, or declare a variable with the list and use that",
        ),
        TokenKind::RParen | TokenKind::Comma | TokenKind::Assign
            if is_parameter_without_type(case) =>
        {
            report(
                case.previous_span(),
                format!("the parameter `{}` has no type", case.word(-1)),
                "a type or a name is missing",
                format!("write its type before it: `float {}`", case.word(-1)),
            )
        }
        TokenKind::Star | TokenKind::Amp
            if expects(TokenKind::Name) && !expects(TokenKind::FloatLiteral) =>
        {
            report(
                span,
                "there are no pointers and no references",
                "not part of a type",
                "to hand a value back, make the parameter `out` or `inout`",
            )
        }
        TokenKind::Colon
            if case.kind(-1) == Some(TokenKind::RParen) && expects(TokenKind::LBrace) =>
        {
            report(
                span,
                "there are no semantics",
                "not part of a declaration",
                "remove the `:` and the word after it: the host finds outputs by their names",
            )
        }
        TokenKind::LBracket if expects(TokenKind::FloatLiteral) => report(
            span,
            "brackets make no value",
            "only an index is in brackets",
            "a vector is made by its type, as in `float3(x, y, z)`; a list in braces initialises an array",
        ),
        TokenKind::Colon if is_bound(case) => report(
            span,
            "there are no semantics and no registers",
            "not part of a declaration",
            "remove the `:` and what follows: the host finds inputs and textures by their names",
        ),
        TokenKind::LParen if case.struct_around().is_some() => {
            let name = shortened(case.text_of(case.struct_around()?));
            report(
                case.previous_span(),
                "a struct has no constructors",
                "a function without a result",
                format!(
                    "a call makes a struct of its members, `{name}(…)`; a method has a type before its name"
                ),
            )
        }
        TokenKind::LParen if is_constructor_call(case) => report(
            span,
            "a function cannot be inside a function, and a variable is not initialised by a call",
            "not expected after a variable's name",
            "move the function out to file level; initialise a variable with `=`",
        ),
        TokenKind::LParen
            if matches!(case.kind(-1), Some(TokenKind::RParen | TokenKind::RBracket)) =>
        {
            report(
                span,
                "only a function's name can be called",
                "the operand before it is a value",
                "remove the parentheses, or write an operator before them",
            )
        }
        found
            if OPERANDS.contains(found)
                && expects(TokenKind::LParen)
                && !case.is_at_line_start()
                && case.kind(-1) == Some(TokenKind::Name)
                && case.is_function(case.word(-1)) =>
        {
            let function = shortened(case.word(-1));
            let is_whole = matches!(
                found,
                TokenKind::Name | TokenKind::FloatLiteral | TokenKind::IntLiteral
            ) && matches!(
                case.kind(1),
                Some(TokenKind::Semicolon | TokenKind::RParen | TokenKind::Comma) | None
            );
            let argument = if is_whole {
                shortened(case.word(0))
            } else {
                "…"
            };
            report(
                case.previous_span(),
                format!("`{function}` is called with its arguments in parentheses"),
                "a function",
                format!("write `{function}({argument})`"),
            )
        }
        found if OPERANDS.contains(found) && is_cast_by_name(case) => report(
            case.tokens.span(case.at - 2),
            "a cast takes a keyword type such as `int` or `float3`",
            "a name, so this is not a cast",
            format!("convert by a call: `{}(…)`", case.word(-2)),
        ),
        TokenKind::Assign
        | TokenKind::LParen
        | TokenKind::Dot
        | TokenKind::LBracket
        | TokenKind::PlusPlus
            if case.is_at_file_level() && expects(TokenKind::Name) =>
        {
            report(
                span,
                "a statement cannot be at file level",
                "not a declaration",
                "move it into a function or a shader; a constant is declared by `const float name = 1.0;`",
            )
        }
        _ => None,
    }
}

/// `float[3](…)`, with the type at token `ty`.
fn array_by_call(case: &Case, ty: usize) -> Option<Diagnostic> {
    let text = shortened(case.text_of(ty));
    report(
        case.tokens.span(ty + 1),
        "an array is not made by a call",
        "not possible here",
        format!("a list in braces initialises it: `{text} w[2] = {{ …, … }};`"),
    )
}

/// The type in `vec3[](…)`, `vec3[2](…)`, with the failure at the parenthesis.
fn array_type_before(case: &Case) -> Option<usize> {
    if case.kind(-1)? != TokenKind::RBracket {
        return None;
    }
    let ty = case.before_brackets(case.at - 1)?;
    let is_type = match case.tokens.kinds[ty] {
        TokenKind::Name => is_type_name(case, ty),
        kind => kind.type_keyword().is_some(),
    };
    is_type.then_some(ty)
}

/// Whether the name at a token is a type: a predeclared one, or a struct of the source.
fn is_type_name(case: &Case, at: usize) -> bool {
    let text = case.text_of(at);
    let kinds = &case.tokens.kinds;
    let is_struct = |at: usize| kinds[at - 1] == TokenKind::Struct && case.text_of(at) == text;
    predeclared_type_names().any(|name| name == text) || (1..kinds.len()).any(is_struct)
}

/// OSL's `output` of a parameter: the token, whether its type is a keyword or a name.
fn output_parameter(case: &Case) -> Option<usize> {
    let at = [case.at.checked_sub(1)?, case.at.saturating_sub(2)]
        .into_iter()
        .find(|&at| case.text_of(at) == "output")?;
    let opens = matches!(
        case.tokens.kind(at.checked_sub(1)?),
        Some(TokenKind::LParen | TokenKind::Comma)
    );
    (opens && case.is_at_file_level()).then_some(at)
}

/// `color c out`, where parameters are declared.
fn is_trailing_qualifier(case: &Case) -> bool {
    let is_qualifier = match case.kind(0) {
        Some(TokenKind::Out | TokenKind::InOut | TokenKind::In) => true,
        Some(TokenKind::Name) => case.word(0) == "output",
        _ => false,
    };
    let ends = matches!(
        case.kind(1),
        Some(TokenKind::RParen | TokenKind::Comma | TokenKind::Assign)
    );
    is_qualifier
        && ends
        && case.kind(-1) == Some(TokenKind::Name)
        && case.expects(&[TokenKind::RParen, TokenKind::Comma])
        && case.is_at_file_level()
}

/// `(a, b, c)` without a function name, with the failure at a comma: the number of values. `None`
/// if it is not closed.
fn members_in_parentheses(case: &Case) -> Option<usize> {
    let step = |at: usize| case.tokens.kind(at).map(TokenKind::bracket_depth_change);
    let mut depth = 0;
    let open = (0..case.at).rev().find(|&at| {
        depth += step(at).unwrap_or(0);
        depth > 0
    })?;
    let called = open.checked_sub(1).and_then(|at| case.tokens.kind(at));
    let is_called = called.is_some_and(|kind| {
        kind.ends_operand() || kind.takes_name() || kind.type_keyword().is_some()
    });
    if case.tokens.kind(open) != Some(TokenKind::LParen) || is_called {
        return None;
    }
    let mut depth = 1;
    let mut members = 1;
    for at in open + 1.. {
        depth += step(at)?;
        match case.tokens.kind(at)? {
            _ if depth == 0 => return Some(members),
            TokenKind::Comma if depth == 1 => members += 1,
            _ => {}
        }
    }
    None
}

/// `f(x)`, `f(float a, x)` where parameters are declared.
fn is_parameter_without_type(case: &Case) -> bool {
    let opens = matches!(case.kind(-2), Some(TokenKind::LParen | TokenKind::Comma));
    opens
        && case.kind(-1) == Some(TokenKind::Name)
        && case.expected.contains(TokenKind::Name)
        && !case.expected.contains(TokenKind::FloatLiteral)
        && case.is_at_file_level()
}

/// `float x(` inside a function.
fn is_constructor_call(case: &Case) -> bool {
    let is_type = |kind: TokenKind| kind == TokenKind::Name || kind.type_keyword().is_some();
    case.kind(-2).is_some_and(is_type)
        && case.kind(-1) == Some(TokenKind::Name)
        && case.expects(&[TokenKind::Semicolon, TokenKind::Assign])
        && !case.is_at_file_level()
}

/// HLSL's `float2 uv : TEXCOORD0`, `Texture2D t : register(t0)`, with the failure at the colon.
fn is_bound(case: &Case) -> bool {
    let is_type = |kind: TokenKind| kind == TokenKind::Name || kind.type_keyword().is_some();
    let [ty, name, next] = [-2, -1, 1].map(|distance| case.kind(distance));
    ty.is_some_and(is_type)
        && name == Some(TokenKind::Name)
        && next == Some(TokenKind::Name)
        && case.expected.contains(TokenKind::Comma)
}

/// `(vector) x`
fn is_cast_by_name(case: &Case) -> bool {
    case.kind(-1) == Some(TokenKind::RParen)
        && case.kind(-2) == Some(TokenKind::Name)
        && case.kind(-3) == Some(TokenKind::LParen)
        && case
            .kind(-4)
            .is_none_or(|kind| !kind.ends_operand() && !kind.takes_name())
        && case.expects(&[TokenKind::Star])
}
