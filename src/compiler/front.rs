//! Text to lowered module: what a compilation does before the passes.

use super::{Compiler, Findings};
use crate::entry;
use crate::sources::Sources;
use crate::stats::{Clock, Phases};
use adumbra_frontend::ast::{self, Entry};
use adumbra_frontend::check::tree::FunctionId;
use adumbra_frontend::check::{self, Checked, Given, Request};
use adumbra_frontend::{Interner, Reply, lower, parse_expression, parse_repl};
use adumbra_ir::passes;
use adumbra_ir::{Code, Diagnostic, FileId, Module, Span};
use bumpalo::Bump;

/// What the texts' first one is.
#[derive(Clone, Copy)]
pub(super) enum Main {
    /// A file with shaders.
    File,
    /// One expression, whose bare names are globals.
    Expression,
    /// What was typed into a session; one entry of it.
    Entry(usize),
}

/// What came out of the frontend.
pub(super) struct Front {
    pub(super) module: Module,
    pub(super) given: Vec<Given>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Per scalar of the outputs, whether its derivative is of second order.
    pub(super) second_order: Vec<bool>,
    pub(super) phases: Phases,
}

impl Front {
    /// The host reads the derivatives of all outputs: a zero that stands for one of second order is no silent one.
    pub(super) fn warn_of_second_order(&mut self) {
        let span = self.module.entry().span;
        let mut end = 0;
        for output in &self.module.outputs {
            let start = end;
            end += output.ty.scalar_count();
            if self.second_order[start..end].contains(&true) {
                let message = format!(
                    "the derivatives of the output `{}` are of second order and count as 0",
                    output.name
                );
                self.warnings.push(
                    Diagnostic::new(Code::SecondDerivative, span, message)
                        .here("its value is, or is made from, a derivative")
                        .help("derivatives are of first order: read this output's value alone"),
                );
            }
        }
    }
}

/// The parsed texts.
pub(super) struct Parsed<'a> {
    files: Vec<ast::File<'a>>,
    entry: Option<Entry<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl Compiler {
    /// Text to lowered module.
    pub(super) fn front(&self, sources: &Sources, main: Main) -> Result<Front, Findings> {
        let (arena, mut interner) = (self.arenas.take(), Interner::new());
        let mut phases = Phases::default();
        let mut clock = Clock::start();
        let parsed = parse(&arena, &mut interner, sources, main);
        phases.parse = clock.lap();
        let checked = self.check_parsed(&arena, &mut interner, parsed);
        phases.check = clock.lap();
        let mut warnings = fail_on_error(checked.diagnostics, sources)?;
        let (shader, given) = match checked.entry {
            Some((entry, given)) => (Ok(entry), given),
            None => (self.choose(&checked.program, &interner), Vec::new()),
        };
        let module = shader.and_then(|shader| lower(&checked.program, &interner, shader));
        let module = module.map(|module| (passes::origins(&module), module));
        phases.lower = clock.lap();
        phases.total = clock.total();
        match module {
            Ok((origins, module)) => {
                warnings.extend(origins.warnings);
                Ok(Front {
                    module,
                    given,
                    warnings,
                    second_order: origins.second_order,
                    phases,
                })
            }
            Err(diagnostic) => Err(Findings {
                diagnostics: warnings.into_iter().chain([diagnostic]).collect(),
                sources: sources.clone(),
            }),
        }
    }

    /// Names and types. Does nothing where the texts could not even be read.
    pub(super) fn check_parsed<'a>(
        &self,
        arena: &'a Bump,
        interner: &mut Interner,
        parsed: Parsed<'a>,
    ) -> Checked<'a> {
        let members = self.layout.members().iter();
        let globals: Vec<_> = members
            .map(|member| (member.name().to_owned(), member.ty().clone()))
            .collect();
        let request = Request {
            files: &parsed.files,
            globals: &globals,
            entry: parsed.entry,
        };
        let mut checked = check::check(arena, interner, request);
        checked.diagnostics.splice(0..0, parsed.diagnostics);
        checked
    }

    /// The shader that was named, or the only one.
    fn choose(
        &self,
        program: &check::tree::Program<'_>,
        interner: &Interner,
    ) -> Result<FunctionId, Diagnostic> {
        let functions = program.functions.iter().enumerate();
        let shaders: Vec<(FunctionId, &str, Span)> = functions
            .filter(|(_, function)| function.is_shader)
            .map(|(i, f)| (FunctionId(i as u32), interner.name(f.name), f.span))
            .collect();
        let listed = || {
            let names = shaders.iter().map(|(_, name, _)| format!("`{name}`"));
            names.collect::<Vec<_>>().join(", ")
        };
        let end = Span::new(FileId::MAIN, 0, 0);
        let wanted = self.options.shader.as_deref();
        match (wanted, shaders.as_slice()) {
            (None, [(only, ..)]) => Ok(*only),
            (_, []) => Err(Diagnostic::new(
                Code::UnknownShader,
                end,
                "there is no shader in this text, only what shaders may use",
            )
            .here("here one could stand")
            .help("write one: `shader name(out float result) { result = 1.0; }`")),
            (None, [_, (_, _, second), ..]) => Err(Diagnostic::new(
                Code::ShaderChoice,
                *second,
                format!("there are several shaders: {}", listed()),
            )
            .here("a second one")
            .help("say which is meant; on the command line with `--shader NAME`")),
            (Some(wanted), shaders) => shaders
                .iter()
                .find(|(_, name, _)| *name == wanted)
                .map(|(id, ..)| *id)
                .ok_or_else(|| {
                    Diagnostic::new(
                        Code::UnknownShader,
                        end,
                        format!("there is no shader `{wanted}`"),
                    )
                    .here("not in this text")
                    .help(format!("there is {}", listed()))
                }),
        }
    }
}

/// Reads all texts; the first one as `main` says.
pub(super) fn parse<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    sources: &Sources,
    main: Main,
) -> Parsed<'a> {
    let mut parsed = Parsed {
        files: Vec::with_capacity(sources.iter().len()),
        entry: None,
        diagnostics: Vec::new(),
    };
    for (id, source) in sources.iter() {
        match main {
            Main::Expression if id == FileId::MAIN => {
                let (expr, diagnostics) = parse_expression(arena, interner, id, source.text());
                parsed.entry = Some(entry::of_expression(expr, arena));
                parsed.diagnostics.extend(diagnostics);
            }
            Main::Entry(index) if id == FileId::MAIN => {
                if let Reply::Complete(entries) = parse_repl(arena, interner, id, source.text()) {
                    parsed.entry = entries.get(index).copied();
                }
            }
            _ => {
                let (file, diagnostics) =
                    adumbra_frontend::parse(arena, interner, id, source.text());
                parsed.files.push(file);
                parsed.diagnostics.extend(diagnostics);
            }
        }
    }
    parsed
}

/// The warnings, if there is no error among them.
pub(super) fn fail_on_error(
    diagnostics: Vec<Diagnostic>,
    sources: &Sources,
) -> Result<Vec<Diagnostic>, Findings> {
    if !diagnostics.iter().any(Diagnostic::is_error) {
        return Ok(diagnostics);
    }
    Err(Findings {
        diagnostics,
        sources: sources.clone(),
    })
}
