//! An expression as a function of the variables that it names, for `:grad` and `:check`.
//!
//! The expression becomes the body of a function whose parameters are those variables, so that
//! `bwd_diff` and `fwd_diff` apply to it. No function needs a mark, since a command asks for
//! derivatives, not its functions. Arguments of a call that name no variable are parameters too, by
//! the callee's names, or by their positions where those are not known. Diagnostics quote the
//! expression, and nothing of the function around it.

mod quoting;

use super::expression_text::{call, names, reached, value_names};
use super::failed;
use super::session::{CompiledEntry, EXPRESSION, ReplSession};
use crate::error::{CliError, CliResult};
use crate::report;
use adumbra::access::AccessError;
use adumbra::derivatives::{CentralDifference, central_differences};
use adumbra::evaluator::OutputView;
use adumbra::gradient::GradientRequest;
use adumbra::inspect::TapeStats;
use adumbra::value::ValueView;
use adumbra::{Diagnostics, Dual, Globals, Instance, Type};
use std::cell::Cell;
use std::fmt::Write as _;
use std::ops::Range;

/// The name of the source around the expression.
const DERIVATIVES: &str = "<derivatives>";

/// What an expression is differentiated by.
pub struct Variable {
    /// How reports name it.
    pub label: String,
    /// Its name among the globals.
    name: String,
    pub ty: Type,
}

/// The derivatives that an expression has.
pub struct Modes {
    pub has_forward: bool,
    pub has_reverse: bool,
    /// Whether gradients end in what it reaches.
    pub is_lossy: bool,
}

/// An expression as a function of variables.
pub struct Differentiated<'s> {
    session: &'s ReplSession,
    /// The expression, over `globals`.
    text: String,
    /// The expression as it was typed.
    typed: String,
    /// The bytes of each argument, as it was typed, that a variable replaces, and the length of the
    /// variable's name; in order.
    replaced: Vec<(Range<usize>, usize)>,
    pub result: Type,
    /// The session's variables, and one for each argument that names none.
    globals: Globals,
    pub variables: Vec<Variable>,
    /// Variables that it names and that have no derivative.
    constants: Vec<Variable>,
    /// What the names of all that is written around it begin with, as no name of the session does.
    prefix: String,
}

impl<'s> Differentiated<'s> {
    pub fn new(
        session: &'s ReplSession,
        command: &str,
        text: &str,
    ) -> CliResult<Differentiated<'s>> {
        let text = text.trim().trim_end_matches(';');
        let compiled = session.compile_marked(text, None, session.globals());
        let compiled = compiled.map_err(|diagnostics| failed(&diagnostics))?;
        // A statement writes to variables alone.
        let outputs = compiled.program().outputs().iter();
        let value = outputs.clone().find(|output| output.name == "value");
        let result = match value.map(|output| &output.ty) {
            Some(ty) if is_shown(ty) => ty.clone(),
            Some(ty) => return Err(no_derivative(command, text, ty)),
            None => {
                return Err(CliError::usage(format!(
                    "`:{command}` needs an expression with a value; `{text}` has none: a function that returns one can call it"
                )));
            }
        };
        let declared = session.declared();
        let taken = [
            session.variables(),
            declared.functions,
            declared.others,
            declared.textures,
            names(text),
        ];
        let taken = taken.concat();
        let mut prefix = "of_expression".to_owned();
        while taken.iter().any(|name| name.starts_with(&prefix)) {
            prefix.push('_');
        }
        let mut expression = Differentiated {
            session,
            text: text.to_owned(),
            typed: text.to_owned(),
            replaced: Vec::new(),
            result,
            globals: session.globals().clone(),
            variables: Vec::new(),
            constants: Vec::new(),
            prefix,
        };
        for name in value_names(text) {
            let Some(member) = session.globals().layout().member(&name) else {
                continue;
            };
            let variable = Variable {
                label: name.clone(),
                name,
                ty: member.ty().clone(),
            };
            match is_shown(&variable.ty) {
                true => expression.variables.push(variable),
                false => expression.constants.push(variable),
            }
        }
        expression.add_arguments()?;
        if expression.variables.is_empty() {
            return Err(CliError::usage(format!(
                "there is nothing to differentiate `{text}` by: name a variable that is a float, a vector or a matrix (set one by `x = 0.5`), or write nothing but one call with such arguments, as in `sin(0.5)`; `2.0` is a float, and `2` an int"
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
            let is_constant = value_names(&argument)
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
            let value = self.floats(&argument)?;
            let position = format!("argument {}", at + 1);
            let known = parameter.and_then(|parameter| parameter.name.clone());
            let mut name = known.clone().unwrap_or_else(|| position.replace(' ', "_"));
            let is_taken = |label: &String| self.parameters().any(|v| v.label == *label);
            let label = match known {
                Some(known) if is_taken(&known) => format!("{known} ({position})"),
                Some(known) => known,
                None => position,
            };
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
            text.replace_range(bytes.clone(), &name);
            self.replaced.insert(0, (bytes, name.len()));
            let variable = Variable { label, name, ty };
            self.variables.insert(first, variable);
        }
        self.text = text;
        Ok(())
    }

    /// The number of scalars of the result.
    pub fn components(&self) -> usize {
        self.result.scalar_count()
    }

    /// The name of something that is written around the expression.
    fn own(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix)
    }

    /// The parameters of the expression: what it is differentiated by, then the constants.
    fn parameters(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().chain(&self.constants)
    }

    /// The function that the expression is, and one of the same parameters with these statements,
    /// of that type; and where the expression begins.
    fn declarations(&self, ty: &Type, statements: &str) -> (String, usize) {
        let parameters: Vec<String> = (self.parameters())
            .map(|variable| format!("{} {}", variable.ty, variable.name))
            .collect();
        let (result, parameters) = (&self.result, parameters.join(", "));
        let (primal, derivative) = (self.own("value"), self.own("derivative"));
        let before = format!("[Differentiable]\n{result} {primal}({parameters}) {{ return ");
        // The expression may end in a comment.
        let after = format!("\n; }}\n{ty} {derivative}({parameters}) {{ {statements} }}\n");
        let start = before.len();
        (before + &self.text + &after, start)
    }

    fn compile(&self, text: &str, globals: &Globals) -> CliResult<CompiledEntry> {
        let compiled = self.session.compile_marked(text, None, globals);
        compiled.map_err(|diagnostics| failed(&diagnostics))
    }

    /// The floats of an expression's value.
    fn floats(&self, text: &str) -> CliResult<Vec<f32>> {
        let compiled = self.compile(text, &self.globals)?;
        evaluated(self.session, &compiled, &self.globals, |output| {
            Ok(output.value())
        })
    }

    /// The value of the expression.
    pub fn value(&self) -> CliResult<Vec<f32>> {
        self.floats(&self.text)
    }

    /// A derivative, whose statements are these.
    ///
    /// # Errors
    /// If the expression has none, about the expression alone.
    fn compile_derivative(
        &self,
        ty: &Type,
        statements: &str,
    ) -> Result<CompiledEntry, Diagnostics> {
        let names: Vec<&str> = self.parameters().map(|v| &*v.name).collect();
        let call = format!("{}({})", self.own("derivative"), names.join(", "));
        let (declarations, _) = self.declarations(ty, statements);
        self.session
            .compile_marked(&call, Some((DERIVATIVES, &declarations)), &self.globals)
            .map_err(|found| self.quoted(&found.diagnostics, &found.sources))
    }

    /// The floats of a derivative, whose statements are these.
    fn derivative(&self, ty: &Type, statements: &str) -> CliResult<Vec<f32>> {
        let compiled = self.compile_derivative(ty, statements);
        let compiled = compiled.map_err(|diagnostics| failed(&diagnostics))?;
        let mut evaluator = self.session.evaluator(&compiled.instance)?;
        evaluator.evaluate(&self.globals, &mut self.session.host());
        if evaluator.faults().stopped().is_some() {
            let faults = report::fault_diagnostics(&evaluator);
            return Err(failed(&self.quoted(&faults, &compiled.sources)));
        }
        let output = evaluator.outputs().next().ok_or(CliError::Reported)?;
        Ok(output.value().words().map(f32::from_bits).collect())
    }

    /// What its reverse mode keeps: the same, whichever derivative is asked for. Warns of gradients
    /// that end.
    pub fn examine(&self) -> CliResult<Vec<TapeStats>> {
        let compiled = self.compile_reverse();
        let compiled = compiled.map_err(|diagnostics| failed(&diagnostics))?;
        self.warn_of_losses(&compiled);
        Ok(compiled.program().stats().tape)
    }

    /// Looks at the derivatives in both modes; says why if there is none. Warns of gradients that
    /// end.
    pub fn modes(&self) -> Modes {
        let statements = self.forward_statements(&self.variables[0], 0);
        let forward = self.compile_derivative(&self.result, &statements);
        let reverse = self.compile_reverse();
        let has_forward = forward.is_ok();
        let same = match (&forward, &reverse) {
            (Err(forward), Err(reverse)) => forward.diagnostics == reverse.diagnostics,
            _ => false,
        };
        if let Err(diagnostics) = forward.map(|_| ())
            && !same
        {
            failed(&diagnostics);
        }
        let is_lossy = reverse.map(|reverse| self.warn_of_losses(&reverse));
        Modes {
            has_forward,
            has_reverse: is_lossy.is_ok(),
            is_lossy: is_lossy.unwrap_or_else(|diagnostics| {
                failed(&diagnostics);
                false
            }),
        }
    }

    /// The functions with custom derivatives that it reaches.
    pub fn custom_derivatives(&self) -> Vec<String> {
        let Ok(sources) = self.session.sources(EXPRESSION, &self.text) else {
            return Vec::new();
        };
        let reached = reached(&self.text, &sources).into_iter();
        reached.filter(|of| of.has_rule).map(|of| of.name).collect()
    }

    fn compile_reverse(&self) -> Result<CompiledEntry, Diagnostics> {
        let variable = &self.variables[0];
        self.compile_derivative(&variable.ty, &self.reverse_statements(variable, 0))
    }

    /// By component of the result, its gradient by each variable: one program for all of them. The
    /// expression has been [examined](Differentiated::examine).
    pub fn gradients(&self) -> CliResult<Vec<Vec<Vec<f32>>>> {
        let compiled = self.compile(&self.text, &self.globals)?;
        let request = GradientRequest::new().of("value");
        let names = self.variables.iter().map(|variable| variable.name.as_str());
        let request = names.fold(request, GradientRequest::by_global);
        let gradient = compiled.program().gradient(&request);
        let gradient = gradient.map_err(|diagnostics| failed(&diagnostics))?;
        let program = gradient.program();
        let mut evaluator = self.session.evaluator(&Instance::new(program))?;
        let mut globals = self
            .globals
            .adopt(program.globals())
            .map_err(CliError::usage)?;
        let by_component = |component: usize| {
            let words = (0..self.components()).map(|at| f32::from(u8::from(at == component)));
            let words: Vec<u32> = words.map(f32::to_bits).collect();
            let zeros = vec![0; words.len()];
            let [value, ddx, ddy] =
                [&words, &zeros, &zeros].map(|words| ValueView::new(&self.result, words));
            let set = globals.set_view("d(value)", Dual { value, ddx, ddy });
            set.map_err(CliError::usage)?;
            evaluator.evaluate(&globals, &mut self.session.host());
            report::faults_to_stderr(&evaluator, &compiled.sources);
            if evaluator.faults().stopped().is_some() {
                return Err(CliError::Reported);
            }
            let of = |variable: &Variable| {
                let name = format!("d({})", variable.name);
                let mut outputs = evaluator.outputs();
                let output = outputs.find(|output| output.name() == name);
                let output = output.expect("the gradient is by it");
                output.value().words().map(f32::from_bits).collect()
            };
            Ok(self.variables.iter().map(of).collect())
        };
        (0..self.components()).map(by_component).collect()
    }

    /// The gradient of a component of the result by a variable.
    pub fn reverse(&self, variable: &Variable, component: usize) -> CliResult<Vec<f32>> {
        self.derivative(&variable.ty, &self.reverse_statements(variable, component))
    }

    fn reverse_statements(&self, variable: &Variable, component: usize) -> String {
        let pair = |variable: &Variable| self.own(&variable.name);
        let (mut statements, mut arguments) = (String::new(), Vec::new());
        for variable in &self.variables {
            let Variable { name, ty, .. } = variable;
            let pair = pair(variable);
            let _ = write!(
                statements,
                "DifferentialPair<{ty}> {pair} = diffPair({name}); "
            );
            arguments.push(pair);
        }
        arguments.extend(self.constants.iter().map(|constant| constant.name.clone()));
        arguments.push(unit(&self.result, component));
        let (primal, arguments) = (self.own("value"), arguments.join(", "));
        let _ = write!(
            statements,
            "bwd_diff({primal})({arguments}); return {}.d;",
            pair(variable)
        );
        statements
    }

    /// The derivative of the result by a scalar of a variable.
    pub fn forward(&self, variable: &Variable, scalar: usize) -> CliResult<Vec<f32>> {
        self.derivative(&self.result, &self.forward_statements(variable, scalar))
    }

    fn forward_statements(&self, variable: &Variable, scalar: usize) -> String {
        let arguments: Vec<String> = (self.parameters())
            .map(|Variable { name, ty, .. }| match *name == variable.name {
                true => format!("diffPair({name}, {})", unit(ty, scalar)),
                false => name.clone(),
            })
            .collect();
        let (primal, arguments) = (self.own("value"), arguments.join(", "));
        format!("return fwd_diff({primal})({arguments}).d;")
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

    /// The value of a variable, for people.
    pub fn value_of(&self, variable: &Variable) -> String {
        let view = self.globals.view(&variable.name).expect("it is a global");
        view.value.to_string()
    }

    /// The shadows of the result, and its central differences, by a scalar of a variable; `None` if
    /// the expression reads shadows, which the seeds of both change.
    pub fn compared(
        &self,
        variable: &Variable,
        scalar: usize,
    ) -> CliResult<Option<(Vec<f32>, Vec<CentralDifference>)>> {
        let compiled = self.compile(&self.text, &self.globals)?;
        let seeded = self.seeded(variable, scalar);
        let reads_shadows = Cell::new(false);
        let shadows = evaluated(self.session, &compiled, &seeded, |output| {
            reads_shadows.set(output.is_second_order());
            Ok(output.dual()?.ddx)
        })?;
        if reads_shadows.get() {
            return Ok(None);
        }
        let host = &mut self.session.host();
        let differences = central_differences(&compiled.instance, &seeded, host);
        Ok(Some((shadows, differences.ok_or(CliError::Reported)?)))
    }

    /// Says which variables have no derivative.
    pub fn left_out(&self) -> String {
        let line = |Variable { name, ty, .. }: &Variable| {
            format!("{name} is left out: a value of type {ty} has no derivative\n")
        };
        self.constants.iter().map(line).collect()
    }
}

/// The error of an expression whose type has no derivative.
fn no_derivative(command: &str, text: &str, ty: &Type) -> CliError {
    let fix = match ty {
        Type::Struct(_) => "name a member of it",
        Type::Array(..) => "name an element of it",
        Type::Scalar(scalar) if !scalar.is_handle() => "it changes in steps, and has no derivative",
        _ => "it has no derivative",
    };
    CliError::usage(format!(
        "`:{command}` differentiates floats, vectors and matrices; `{text}` is of type `{ty}`: {fix}"
    ))
}

/// A value of these floats, for people.
pub fn shown(ty: &Type, floats: &[f32]) -> String {
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

/// Evaluates a compiled expression, reports faults, and gives some floats of its result.
fn evaluated(
    session: &ReplSession,
    compiled: &CompiledEntry,
    globals: &Globals,
    part: impl for<'a> Fn(&OutputView<'a>) -> Result<ValueView<'a>, AccessError>,
) -> CliResult<Vec<f32>> {
    let mut evaluator = session.evaluator(&compiled.instance)?;
    evaluator.evaluate(globals, &mut session.host());
    report::faults_to_stderr(&evaluator, &compiled.sources);
    if evaluator.faults().stopped().is_some() {
        return Err(CliError::Reported);
    }
    let output = evaluator.outputs().next().ok_or(CliError::Reported)?;
    let part = part(&output).map_err(CliError::usage)?;
    Ok(part.words().map(f32::from_bits).collect())
}
