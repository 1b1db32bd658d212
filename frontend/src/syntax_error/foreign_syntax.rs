//! Syntax of other languages, recognised where the grammar fails.

use super::foreign_keyword::{foreign_opener_fix, foreign_operator_fix};
use super::{Case, OPERANDS, misspelt_keyword};
use crate::check::{is_built_in, predeclared_type_names};
use crate::lexer::shortened;
use crate::token_kind::TokenKind;
use adumbra_ir::{Code, Diagnostic, Span};

/// The diagnostic for foreign syntax, if the failure is one.
pub(super) fn recognise_foreign_syntax(case: &Case) -> Option<Diagnostic> {
    double_brackets(case)
        .or_else(|| generics(case))
        .or_else(|| marks(case))
        .or_else(|| words(case))
        .or_else(|| misspelt(case))
        .or_else(|| shapes(case))
        .or_else(|| seeds(case))
}

pub(super) fn report(
    span: Span,
    message: impl Into<String>,
    label: &str,
    help: impl Into<String>,
) -> Option<Diagnostic> {
    let diagnostic = Diagnostic::new(Code::SyntaxError, span, message);
    Some(diagnostic.here(label).help(help))
}

/// Pairs of adjacent marks that are one operator in another language.
fn marks(case: &Case) -> Option<Diagnostic> {
    let pairs = [
        (-1, case.previous_span(), case.span()),
        (0, case.span(), case.tokens.span(case.at + 1)),
    ];
    for (first, left, right) in pairs {
        let (Some(a), Some(b)) = (case.kind(first), case.kind(first + 1)) else {
            continue;
        };
        // A parsed mark is an operator only if its right operand was expected.
        let is_operator = first == 0 || case.expects(&[TokenKind::FloatLiteral]);
        let help = match (a, b) {
            _ if left.end != right.start || !is_operator => continue,
            (TokenKind::Minus, TokenKind::Greater) => {
                "a member is read with `.`; the type that a function returns goes before its name"
            }
            (TokenKind::Colon, TokenKind::Colon) => "write the name alone: there are no namespaces",
            (TokenKind::Star, TokenKind::Star) => "write `pow(a, b)`",
            (TokenKind::EqualEqual | TokenKind::NotEqual, TokenKind::Assign) => {
                "write `==` or `!=`"
            }
            (TokenKind::Assign, TokenKind::Greater) => "write `>=`",
            (TokenKind::Assign, TokenKind::Less) => "write `<=`",
            (TokenKind::Less, TokenKind::Greater) => "write `!=`",
            _ => continue,
        };
        let operator = format!("{}{}", a.text(), b.text());
        return report(
            left.to(right),
            format!("there is no operator `{operator}`"),
            "not an operator",
            help,
        );
    }
    match case.kind(0)? {
        TokenKind::MetaClose if case.expects(&[TokenKind::Star]) => report(
            case.span(),
            "`>>>` closes metadata and nothing else",
            "not an operator",
            "write `>>`: on a uint it shifts in zeros",
        ),
        _ => None,
    }
}

/// OSL's metadata, `[[ … ]]`, in the statement or parameter before the failure.
fn double_brackets(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let at = (start..=case.at).find(|&at| {
        let pair = [case.tokens.kind(at), case.tokens.kind(at + 1)];
        pair == [Some(TokenKind::LBracket); 2]
            && case.tokens.span(at).end == case.tokens.span(at + 1).start
    })?;
    report(
        case.tokens.span(at).to(case.tokens.span(at + 1)),
        "metadata is not written in brackets",
        "not metadata here",
        "write `<<< label = \"Width\", min = 0.0 >>>` after the parameter",
    )
}

/// In a session, a variable with its shadows that is not written as `name = VALUE : DDX : DDY`.
fn seeds(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let kind = |at: usize| case.tokens.kind(start + at);
    let name = |at: usize| shortened(case.text_of(start + at));
    if !case.is_typed || case.at <= start {
        return None;
    }
    let help = match (case.kind(0)?, [kind(0), kind(1), kind(2)]) {
        (TokenKind::Comma, [Some(TokenKind::Name), Some(TokenKind::Assign), _]) => {
            let name = name(0);
            format!("a vector is made by its type: `{name} = float3(1, 2, 3) : float3(1, 0, 0)`")
        }
        (TokenKind::Colon, [Some(TokenKind::Name), Some(TokenKind::Colon), _]) => {
            format!("write `{} = VALUE : DDX : DDY`", name(0))
        }
        (TokenKind::Colon, [Some(ty), Some(TokenKind::Name), Some(TokenKind::Assign)])
            if ty == TokenKind::Name || ty.type_keyword().is_some() =>
        {
            let name = name(1);
            format!("derivatives go with a name alone: `{name} = VALUE : DDX : DDY`")
        }
        _ => return None,
    };
    let found = case.found();
    report(
        case.span(),
        format!("{found} was not expected here"),
        "not expected",
        help,
    )
}

/// Foreign words at the failure, before it, or at the start of its statement.
fn words(case: &Case) -> Option<Diagnostic> {
    for distance in [0, -1] {
        if case.kind(distance) != Some(TokenKind::Name) {
            continue;
        }
        let word = case.word(distance);
        if let Some(help) = foreign_operator_fix(word) {
            let span = match distance {
                0 => case.span(),
                _ => case.previous_span(),
            };
            return report(
                span,
                format!("`{word}` is not an operator here"),
                "an ordinary name",
                help,
            );
        }
    }
    let start = case.statement_start();
    let distance = start as isize - case.at as isize;
    if case.kind(distance) != Some(TokenKind::Name) {
        return None;
    }
    let word = case.word(distance);
    if word == "static" && (case.struct_around().is_some() || !case.is_at_file_level()) {
        return static_declaration(case, start);
    }
    let help = match case.text_of(start + 1) {
        "sampler2D" | "texture2D" | "Texture2D" if word == "uniform" => format!(
            "a texture is declared by `texture2d {};`",
            shortened(case.text_of(start + 2))
        ),
        _ => foreign_opener_fix(word)?.to_owned(),
    };
    report(
        case.tokens.span(start),
        format!("`{word}` is not a keyword here"),
        "an ordinary name",
        help,
    )
}

/// `static` inside a struct or a function, at token `start`.
fn static_declaration(case: &Case, start: usize) -> Option<Diagnostic> {
    let (message, help) = match case.struct_around() {
        Some(_) => (
            "static members do not exist yet",
            "write a function or a constant at file level",
        ),
        None => (
            "`static` variables do not exist: each point is shaded on its own, and keeps nothing",
            "remove `static`; a value that changes from image to image is an input of the shader, or a global",
        ),
    };
    report(case.tokens.span(start), message, "not possible here", help)
}

/// `T sq<T>(T x)`, `struct pair<T> { … }`, `sq<float>(x)`
fn generics(case: &Case) -> Option<Diagnostic> {
    let opens = case.kind(0)? == TokenKind::Less
        && case.kind(-1)? == TokenKind::Name
        && case.is_at_file_level()
        && (case.expects(&[TokenKind::LParen]) || case.expects(&[TokenKind::LBrace]));
    let is_called = case.kind(0)? == TokenKind::Greater
        && case.kind(-1)?.type_keyword().is_some()
        && [case.kind(-3)?, case.kind(-2)?] == [TokenKind::Name, TokenKind::Less];
    if !(opens || is_called) {
        return None;
    }
    let span = match opens {
        true => case.span(),
        false => case.tokens.span(case.at - 2).to(case.span()),
    };
    report(
        span,
        "generics do not exist yet",
        "types are no arguments",
        "write one overload or struct for each type, and call it without `<…>`",
    )
}

/// A misspelt keyword at the start of the statement.
fn misspelt(case: &Case) -> Option<Diagnostic> {
    let start = case.statement_start();
    let meant = case.misspelt_keyword(start)?;
    Some(misspelt_keyword::misspelt_keyword_diagnostic(
        case.tokens.span(start),
        case.text_of(start),
        meant,
    ))
}

/// Forms of other languages.
fn shapes(case: &Case) -> Option<Diagnostic> {
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

impl Case<'_> {
    /// The first token of the statement or item that the failure is in.
    pub(super) fn statement_start(&self) -> usize {
        let mut depth = 0;
        for at in (0..self.at.min(self.tokens.kinds.len())).rev() {
            let kind = self.tokens.kinds[at];
            depth -= kind.bracket_depth_change();
            let ends = matches!(
                kind,
                TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace
            );
            if depth < 0 && kind == TokenKind::LBrace
                || depth == i32::from(kind == TokenKind::RBrace) && ends
            {
                return at + 1;
            }
        }
        0
    }

    /// If the failure is directly within the braces of a struct, the token that names it.
    fn struct_around(&self) -> Option<usize> {
        let start = self.statement_start();
        let mut open = start.checked_sub(1)?;
        let mut depth = 0;
        loop {
            depth += self.tokens.kinds[open].bracket_depth_change();
            if depth > 0 {
                break;
            }
            open = open.checked_sub(1)?;
        }
        let name = open.checked_sub(1)?;
        let before = [name.checked_sub(1)?, name].map(|at| self.tokens.kinds[at]);
        (before == [TokenKind::Struct, TokenKind::Name]).then_some(name)
    }

    /// Whether the word is a function: a built-in one, or one that the source declares.
    fn is_function(&self, word: &str) -> bool {
        let is_type = |kind: TokenKind| kind == TokenKind::Name || kind.type_keyword().is_some();
        let kinds = &self.tokens.kinds;
        is_built_in(word)
            || (1..kinds.len()).any(|at| {
                is_type(kinds[at - 1])
                    && self.tokens.kind(at + 1) == Some(TokenKind::LParen)
                    && self.text_of(at) == word
            })
    }

    /// Whether no brace is open around the failure.
    pub(super) fn is_at_file_level(&self) -> bool {
        let before = &self.tokens.kinds[..self.at.min(self.tokens.kinds.len())];
        let braces = before.iter().map(|kind| match kind {
            TokenKind::LBrace => 1,
            TokenKind::RBrace => -1,
            _ => 0,
        });
        braces.sum::<i32>() == 0
    }
}
