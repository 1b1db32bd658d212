//! `:grad` and `:check`: derivatives of an expression by the variables that it names.
//!
//! The expression becomes the body of a function whose parameters are those variables, so that
//! `bwd_diff` and `fwd_diff` apply to it. Functions of the session that it reaches are marked in a
//! copy of their sources: at a prompt nothing has to be marked for a command.
//! Arguments of a call that name no variable are parameters too, by the callee's names, or by their
//! positions where those are not known.

use super::command::subject;
use super::failed;
use super::session::{CompiledEntry, ReplSession};
use crate::error::{CliError, CliResult};
use crate::report;
use crate::show;
use crate::tape::tape_line;
use adumbra::derivatives::{CentralDifference, central_differences};
use adumbra::diagnostics::FileId;
use adumbra::inspect::TapeStats;
use adumbra::value::{HumanFloat, ValueView};
use adumbra::{Dual, Globals, Type};
use adumbra_frontend::ast::{ExprKind, ReplEntry, StmtKind};
use adumbra_frontend::lexer::lex;
use adumbra_frontend::token_kind::TokenKind;
use adumbra_frontend::{Interner, ReplParse, parse_repl};
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

/// The function that the expression becomes.
const FUNCTION: &str = "differentiated_expression";

/// How far derivatives may be from differences, relative to the largest of them or to 1, to agree.
const TOLERANCE: f64 = 1e-3;

/// Executes `:grad EXPR`.
///
/// # Errors
/// If the expression is at fault, or a point was stopped.
pub fn gradient_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let expression = Differentiated::new(session, "grad", text)?;
    let value = expression.floats(&expression.text, &expression.globals)?;
    let components = expression.components();
    let mut header = vec![String::new(), "value".to_owned()];
    header.extend((0..components).map(|component| match components {
        1 => "derivative".to_owned(),
        _ => format!(
            "of {}",
            show::component_suffix(&expression.result, component)
        ),
    }));
    let mut rows = vec![header];
    for variable in &expression.variables {
        let mut row = vec![variable.label.clone(), expression.value_of(variable)];
        for component in 0..components {
            let gradient = expression.reverse(variable, component)?;
            row.push(shown(&variable.ty, &gradient));
        }
        rows.push(row);
    }
    let mut out = format!("value  {}\n", shown(&expression.result, &value));
    out.push_str(&show::table(&rows));
    let tape = expression.tape()?;
    if !tape.is_empty() {
        let _ = writeln!(out, "tape   {}", tape_line(&tape));
    }
    out.push_str(&expression.left_out());
    Ok(out)
}

/// Executes `:check EXPR`: derivatives by forward and reverse mode, shadows and differences.
///
/// # Errors
/// If the expression is at fault, or a point was stopped.
pub fn check_text(session: &ReplSession, text: &str) -> CliResult<String> {
    let expression = Differentiated::new(session, "check", text)?;
    let header = ["", "forward", "reverse", "shadow", "differences"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let (mut agree, mut smooth) = (true, true);
    let compiled = expression.compile(&expression.text, &expression.globals)?;
    for variable in &expression.variables {
        let reverse = (0..expression.components())
            .map(|component| expression.reverse(variable, component))
            .collect::<CliResult<Vec<Vec<f32>>>>()?;
        for scalar in 0..variable.ty.scalar_count() {
            let forward = expression.forward(variable, scalar)?;
            let seeded = expression.seeded(variable, scalar);
            let shadow = shadows(session, &compiled, &seeded)?;
            let differences = central_differences(&compiled.instance, &seeded, &mut session.host())
                .ok_or(CliError::Reported)?;
            for (component, reverse) in reverse.iter().enumerate() {
                let CentralDifference {
                    derivatives,
                    smooth: sides,
                    ..
                } = differences[component];
                let found = [forward[component], reverse[scalar], shadow[component]];
                let difference = derivatives[0];
                let scale = found
                    .iter()
                    .fold(1.0, |scale: f64, x| scale.max(f64::from(x.abs())));
                let near = |x: &f32| (f64::from(*x) - difference).abs() <= TOLERANCE * scale;
                smooth &= sides[0];
                agree &= !sides[0] || found.iter().all(near);
                let mut row = vec![format!(
                    "{}{}",
                    variable.label,
                    show::component_suffix(&variable.ty, scalar)
                )];
                if expression.components() > 1 {
                    let of = show::component_suffix(&expression.result, component);
                    let _ = write!(row[0], " to {of}");
                }
                row.extend(found.map(|x| HumanFloat(x).to_string()));
                row.push(HumanFloat(difference as f32).to_string());
                rows.push(row);
            }
        }
    }
    let mut out = show::table(&rows);
    out.push_str(match (agree, smooth) {
        (true, true) => "all agree\n",
        (true, false) => {
            "all agree where no kink or branch is near; elsewhere a difference means little\n"
        }
        (false, _) => {
            "they do not agree: floats may cancel here, or a derivative is 0 on purpose\n"
        }
    });
    out.push_str(&expression.left_out());
    Ok(out)
}

/// What an expression is differentiated by.
struct Variable {
    /// How reports name it.
    label: String,
    /// Its name among the globals.
    name: String,
    ty: Type,
}

/// An expression as a function of variables.
struct Differentiated<'s> {
    session: &'s ReplSession,
    /// It over `globals`.
    text: String,
    result: Type,
    /// The session's variables, and one for each argument that names none.
    globals: Globals,
    variables: Vec<Variable>,
    /// Variables that it names and that are left out, with their types.
    others: Vec<(String, Type)>,
    /// Functions that it reaches.
    marked: BTreeSet<String>,
}

impl<'s> Differentiated<'s> {
    fn new(session: &'s ReplSession, command: &str, text: &str) -> CliResult<Differentiated<'s>> {
        let text = subject(session, command, text)?
            .trim()
            .trim_end_matches(';');
        let compiled = session.compile_expression(text, session.globals());
        let compiled = compiled.map_err(|diagnostics| failed(&diagnostics))?;
        let output = compiled.program().outputs().first();
        let result = match output.map(|output| &output.ty) {
            Some(ty) if is_shown(ty) => ty.clone(),
            Some(ty) => {
                return Err(CliError::usage(format!(
                    "`:{command}` differentiates floats, vectors and matrices; `{text}` is of type `{ty}`{}",
                    match ty {
                        Type::Struct(_) => ": name a member of it",
                        _ => "",
                    }
                )));
            }
            None => {
                return Err(CliError::usage(format!(
                    "`:{command}` needs an expression with a value"
                )));
            }
        };
        let mut expression = Differentiated {
            session,
            text: text.to_owned(),
            result,
            globals: session.globals().clone(),
            variables: Vec::new(),
            others: Vec::new(),
            marked: session.reached(text),
        };
        for name in names(text) {
            let Some(member) = session.globals().layout().member(&name) else {
                continue;
            };
            let ty = member.ty().clone();
            match is_shown(&ty) {
                true => expression.variables.push(Variable {
                    label: name.clone(),
                    name,
                    ty,
                }),
                false => expression.others.push((name, ty)),
            }
        }
        expression.add_arguments()?;
        expression.read_others();
        if expression.variables.is_empty() {
            return Err(CliError::usage(format!(
                "there is nothing to differentiate `{text}` by: name a variable that is a float, a vector or a matrix (set one by `x = 0.5`), or write a call with such arguments, as in `sin(0.5)`"
            )));
        }
        Ok(expression)
    }

    /// Makes variables of the arguments of a call that name none.
    fn add_arguments(&mut self) -> CliResult {
        let Some((callee, arguments)) = call(&self.text) else {
            return Ok(());
        };
        let parameters = self.session.parameters(&callee, arguments.len());
        let mut text = self.text.clone();
        let first = self.variables.len();
        for (at, bytes) in arguments.into_iter().enumerate().rev() {
            let mut argument = self.text[bytes.clone()].to_owned();
            let parameter = parameters.get(at);
            let is_constant = names(&argument)
                .iter()
                .all(|name| self.globals.layout().member(name).is_none());
            // A list in braces is no expression of its own.
            if !is_constant || argument.starts_with('{') {
                continue;
            }
            if parameter.is_some_and(|parameter| parameter.is_float) {
                // As the call converts it: `2` is a float there.
                argument = format!("float({argument})");
            }
            // What is no value, such as a texture, is left to the function.
            let ty = match self.session.type_of(&argument) {
                Some(ty) if is_shown(&ty) => ty,
                _ => continue,
            };
            let value = self.floats(&argument, &self.globals)?;
            let label = parameter.map_or_else(
                || format!("argument {}", at + 1),
                |parameter| parameter.name.clone(),
            );
            let mut name = label.replace(' ', "_");
            while self.globals.layout().member(&name).is_some() {
                name.push('_');
            }
            let layout = self.globals.layout().clone();
            let layout = layout.with(&*name, ty.clone()).map_err(CliError::usage)?;
            self.globals = self.globals.adopt(&layout).map_err(CliError::usage)?;
            let words: Vec<u32> = value.iter().map(|x| x.to_bits()).collect();
            let zeros = vec![0; words.len()];
            let [value, ddx, ddy] =
                [&words, &zeros, &zeros].map(|words| ValueView::new(&ty, words));
            let set = self.globals.set_view(&name, Dual { value, ddx, ddy });
            set.map_err(CliError::usage)?;
            text.replace_range(bytes, &name);
            let variable = Variable { label, name, ty };
            self.variables.insert(first, variable);
        }
        self.text = text;
        Ok(())
    }

    /// Lets it read the variables that are left out from the host, as constants.
    fn read_others(&mut self) {
        for (bytes, name) in name_tokens(&self.text).into_iter().rev() {
            if self.others.iter().any(|(other, _)| *other == name) {
                self.text
                    .replace_range(bytes, &format!("global_value<{name}>"));
            }
        }
    }

    fn components(&self) -> usize {
        self.result.scalar_count()
    }

    /// The function, and a function `derivative` of the same parameters.
    fn declarations(&self, ty: &str, derivative: &str) -> String {
        let parameters: Vec<String> = (self.variables.iter())
            .map(|variable| format!("{} {}", variable.ty, variable.name))
            .collect();
        let (result, parameters, text) = (&self.result, parameters.join(", "), &self.text);
        format!(
            "[Differentiable]\n{result} {FUNCTION}({parameters}) {{ return {text}; }}\n\
             {ty} derivative_of_expression({parameters}) {{ {derivative} }}\n"
        )
    }

    fn compile(&self, text: &str, globals: &Globals) -> CliResult<CompiledEntry> {
        let compiled = self.session.compile_expression(text, globals);
        compiled.map_err(|diagnostics| failed(&diagnostics))
    }

    /// The floats of an expression's value.
    fn floats(&self, text: &str, globals: &Globals) -> CliResult<Vec<f32>> {
        let compiled = self.compile(text, globals)?;
        evaluated(self.session, &compiled, globals, |output| output.value())
    }

    /// A derivative, whose statements are these.
    fn compile_derivative(&self, ty: &Type, statements: &str) -> CliResult<CompiledEntry> {
        let names: Vec<&str> = self.variables.iter().map(|v| &*v.name).collect();
        let call = format!("derivative_of_expression({})", names.join(", "));
        let declarations = self.declarations(&ty.to_string(), statements);
        self.session
            .compile_marked(&call, &declarations, &self.marked, &self.globals)
            .map_err(|diagnostics| failed(&diagnostics))
    }

    /// The floats of a derivative, whose statements are these.
    fn derivative(&self, ty: &Type, statements: &str) -> CliResult<Vec<f32>> {
        let compiled = self.compile_derivative(ty, statements)?;
        evaluated(self.session, &compiled, &self.globals, |output| {
            output.value()
        })
    }

    /// What its reverse mode keeps: the same, whichever derivative is asked for.
    fn tape(&self) -> CliResult<Vec<TapeStats>> {
        let variable = &self.variables[0];
        let statements = self.reverse_statements(variable, 0);
        let compiled = self.compile_derivative(&variable.ty, &statements)?;
        Ok(compiled.program().stats().tape)
    }

    /// The gradient of a component of the result by a variable.
    fn reverse(&self, variable: &Variable, component: usize) -> CliResult<Vec<f32>> {
        self.derivative(&variable.ty, &self.reverse_statements(variable, component))
    }

    fn reverse_statements(&self, variable: &Variable, component: usize) -> String {
        let mut statements = String::new();
        for Variable { name, ty, .. } in &self.variables {
            let _ = write!(
                statements,
                "DifferentialPair<{ty}> pair_{name} = diffPair({name}); "
            );
        }
        let pairs: Vec<String> = (self.variables.iter())
            .map(|variable| format!("pair_{}", variable.name))
            .collect();
        let (pairs, seed) = (pairs.join(", "), unit(&self.result, component));
        let name = &variable.name;
        let _ = write!(
            statements,
            "bwd_diff({FUNCTION})({pairs}, {seed}); return pair_{name}.d;"
        );
        statements
    }

    /// The derivative of the result by a scalar of a variable.
    fn forward(&self, variable: &Variable, scalar: usize) -> CliResult<Vec<f32>> {
        let arguments: Vec<String> = (self.variables.iter())
            .map(|Variable { name, ty, .. }| match *name == variable.name {
                true => format!("diffPair({name}, {})", unit(ty, scalar)),
                false => name.clone(),
            })
            .collect();
        let arguments = arguments.join(", ");
        self.derivative(
            &self.result,
            &format!("return fwd_diff({FUNCTION})({arguments}).d;"),
        )
    }

    /// The globals with the shadow 1 along x of one scalar, and none else.
    fn seeded(&self, variable: &Variable, scalar: usize) -> Globals {
        let mut globals = self.globals.clone();
        for member in self.globals.layout().members() {
            let view = self.globals.view(member.name()).expect("its own member");
            let words: Vec<u32> = view.value.words().collect();
            let zeros = vec![0; words.len()];
            let mut ddx = zeros.clone();
            if member.name() == variable.name {
                ddx[scalar] = 1_f32.to_bits();
            }
            let ty = member.ty();
            let [value, ddx, ddy] = [&words, &ddx, &zeros].map(|words| ValueView::new(ty, words));
            let set = globals.set_view(member.name(), Dual { value, ddx, ddy });
            set.expect("its own member");
        }
        globals
    }

    fn value_of(&self, variable: &Variable) -> String {
        let view = self.globals.view(&variable.name).expect("it is a global");
        view.value.to_string()
    }

    /// Says which variables have no derivative.
    fn left_out(&self) -> String {
        let mut out = String::new();
        for (name, ty) in &self.others {
            let _ = match show::has_floats(ty) {
                true => writeln!(
                    out,
                    "{name} is left out: it is of type {ty}, and only floats, vectors and matrices are shown"
                ),
                false => writeln!(
                    out,
                    "{name} is left out: a value of type {ty} has no derivative"
                ),
            };
        }
        out
    }
}

/// A value of these floats, for people.
fn shown(ty: &Type, floats: &[f32]) -> String {
    let words: Vec<u32> = floats.iter().map(|x| x.to_bits()).collect();
    ValueView::new(ty, &words).to_string()
}

/// Whether derivatives by, and of, values of a type are shown.
fn is_shown(ty: &Type) -> bool {
    *ty == Type::FLOAT || matches!(ty, Type::Vector(_) | Type::Matrix(_))
}

/// The value of a type whose only scalar that is not 0 is a 1 there.
fn unit(ty: &Type, scalar: usize) -> String {
    let scalars: Vec<&str> = (0..ty.scalar_count())
        .map(|i| if i == scalar { "1.0" } else { "0.0" })
        .collect();
    format!("{ty}({})", scalars.join(", "))
}

/// The names in an expression, members excluded, each once.
pub fn names(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, name) in name_tokens(text) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The names in an expression with their bytes, members excluded.
fn name_tokens(text: &str) -> Vec<(Range<usize>, String)> {
    let lexed = lex(&mut Interner::new(), FileId::MAIN, text);
    let tokens = lexed.tokens.kinds.iter().zip(&lexed.tokens.tokens);
    let mut found = Vec::new();
    let mut is_member = false;
    for (kind, token) in tokens {
        let bytes = token.start as usize..token.end as usize;
        if *kind == TokenKind::Name && !is_member {
            found.push((bytes.clone(), text[bytes].to_owned()));
        }
        is_member = *kind == TokenKind::Dot;
    }
    found
}

/// The callee and the bytes of the arguments, if the expression is one call.
fn call(text: &str) -> Option<(String, Vec<Range<usize>>)> {
    let (arena, mut interner) = (Bump::new(), Interner::new());
    let ReplParse::Complete(entries) = parse_repl(&arena, &mut interner, FileId::MAIN, text) else {
        return None;
    };
    let [ReplEntry::Statement(statement)] = entries else {
        return None;
    };
    let StmtKind::Expr(expr) = statement.kind else {
        return None;
    };
    let ExprKind::Call(name, arguments) = expr.kind else {
        return None;
    };
    let bytes = |span: adumbra::diagnostics::Span| span.start as usize..span.end as usize;
    let arguments = arguments.iter().map(|argument| bytes(argument.span));
    Some((interner.name(name.symbol).to_owned(), arguments.collect()))
}

/// Evaluates a compiled expression; some floats of its result.
fn evaluated(
    session: &ReplSession,
    compiled: &CompiledEntry,
    globals: &Globals,
    part: impl for<'a> Fn(&adumbra::evaluator::OutputView<'a>) -> ValueView<'a>,
) -> CliResult<Vec<f32>> {
    let mut evaluator = session.evaluator(compiled)?;
    evaluator.evaluate(globals, &mut session.host());
    report::faults_to_stderr(&evaluator, &compiled.sources);
    if evaluator.faults().stopped().is_some() {
        return Err(CliError::Reported);
    }
    let output = evaluator.outputs().next().ok_or(CliError::Reported)?;
    Ok(part(&output).words().map(f32::from_bits).collect())
}

/// The shadows along x of an expression.
fn shadows(
    session: &ReplSession,
    compiled: &CompiledEntry,
    globals: &Globals,
) -> CliResult<Vec<f32>> {
    evaluated(session, compiled, globals, |output| output.ddx())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_members() {
        assert_eq!(names("f(x, p.y) + x /* z */"), ["f", "x", "p"]);
    }

    #[test]
    fn arguments_of_one_call_are_found() {
        let (callee, arguments) = call("f(1.5, g(x))").expect("a call");
        assert_eq!((&*callee, arguments), ("f", vec![2..5, 7..11]));
        assert!(call("f(1) + 2").is_none() && call("f(").is_none());
    }
}
