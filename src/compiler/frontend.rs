//! The frontend: from sources to a lowered module, before the passes.

use super::Compiler;
use crate::closure::registry::ClosureRegistry;
use crate::gradient::{self, Transformed};
use crate::session;
use crate::sources::SourceSlice;
use crate::stats::{PhaseClock, Phases};
use adumbra_frontend::ast::{self, ReplEntry};
use adumbra_frontend::check::typed_tree::{FunctionId, TypedProgram};
use adumbra_frontend::check::{self, CheckOutput, CheckRequest, SessionOutput};
use adumbra_frontend::lower::{LowerOptions, Observation};
use adumbra_frontend::{Interner, ReplParse, lower, lower_observed, parse_expression, parse_repl};
use adumbra_ir::passes::{self, KeptRecord, PassObserver, PassOptions};
use adumbra_ir::{Code, Diagnostic, FileId, Module, Span};
use bumpalo::Bump;

/// The grammar of the first source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MainSource {
    /// A file with shaders.
    File,
    /// One expression, whose bare names are globals.
    Expression,
    /// A session's source; one entry of it.
    Entry(usize),
}

/// The result of the frontend.
pub(crate) struct FrontendOutput {
    pub(crate) module: Module,
    /// The spans of the outputs' declarations; empty where no source declares them.
    pub(crate) outputs: Vec<Span>,
    pub(crate) given: Vec<SessionOutput>,
    /// The observation of each message; empty unless points are observed.
    pub(crate) observations: Vec<Option<Observation>>,
    /// What reverse mode keeps.
    pub(crate) kept: Vec<KeptRecord>,
    /// What the shader is differentiated of and by, if its derivative is asked for.
    pub(crate) transformed: Transformed,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) phases: Phases,
}

impl FrontendOutput {
    /// A module without sources.
    pub(crate) fn of(module: Module) -> FrontendOutput {
        FrontendOutput {
            module,
            outputs: Vec::new(),
            given: Vec::new(),
            observations: Vec::new(),
            kept: Vec::new(),
            transformed: Transformed::default(),
            warnings: Vec::new(),
            phases: Phases::default(),
        }
    }
}

/// The parsed sources.
pub(super) struct ParsedSources<'a> {
    files: Vec<ast::AstFile<'a>>,
    entry: Option<ReplEntry<'a>>,
    diagnostics: Vec<Diagnostic>,
}

/// The module of a shader, with the bodies of its derived functions.
pub(super) fn lower_module(
    program: &TypedProgram,
    interner: &Interner,
    entry: FunctionId,
    options: LowerOptions,
) -> Result<Module, Diagnostic> {
    let mut module = lower(program, interner, entry, options)?;
    differentiate(&mut module, &mut |_, _| {})?;
    Ok(module)
}

/// Writes the bodies of derivatives of functions. Returns what those keep. Derivatives by quads
/// follow later.
pub(super) fn differentiate(
    module: &mut Module,
    watch: &mut PassObserver,
) -> Result<Vec<KeptRecord>, Diagnostic> {
    let kept = passes::expand(module, &PassOptions::default(), watch);
    kept.map_err(|mut refused| refused.remove(0))
}

impl Compiler {
    /// Sources to a lowered module, whose derived functions have no bodies yet. The shader is the
    /// one named, or the only one.
    pub(crate) fn run_frontend(
        &self,
        sources: SourceSlice<'_>,
        main: MainSource,
        shader: Option<&str>,
    ) -> Result<FrontendOutput, Vec<Diagnostic>> {
        let (arena, mut interner) = (self.arenas.take(), Interner::new());
        let mut phases = Phases::default();
        let mut clock = PhaseClock::start();
        let parsed = parse_sources(&arena, &mut interner, sources, main);
        phases.parse = clock.lap();
        let checked = self.check_parsed(&arena, &mut interner, parsed);
        phases.check = clock.lap();
        let mut warnings = fail_on_error(checked.diagnostics)?;
        if let MainSource::Entry(_) = main {
            warnings.retain(|warning| warning.span.file == FileId::MAIN);
        }
        let (entry, given) = match checked.entry {
            Some((entry, given)) => (Ok(entry), given),
            None => (
                choose(&checked.program, &interner, sources.main(), shader),
                Vec::new(),
            ),
        };
        let outputs = match &entry {
            Ok(entry) => outputs(&checked.program, *entry),
            Err(_) => Vec::new(),
        };
        let (program, options) = (&checked.program, self.lower_options());
        let lowered = entry.and_then(|entry| match self.observes {
            true => lower_observed(program, &interner, entry, options, self.has_shadows()),
            false => Ok((lower(program, &interner, entry, options)?, Vec::new())),
        });
        phases.lower = clock.lap();
        phases.total = clock.total();
        match lowered {
            Ok((module, observations)) => Ok(FrontendOutput {
                observations,
                outputs,
                given,
                warnings,
                phases,
                ..FrontendOutput::of(module)
            }),
            Err(diagnostic) => {
                warnings.push(diagnostic);
                Err(warnings)
            }
        }
    }

    /// Makes the derivatives of the shader that are asked for, and writes the bodies of derived
    /// functions.
    ///
    /// # Errors
    /// With the warnings so far, why there is no such derivative.
    pub(crate) fn derive(
        &self,
        front: &mut FrontendOutput,
        watch: &mut PassObserver,
    ) -> Result<(), Vec<Diagnostic>> {
        let mut clock = PhaseClock::start();
        let made = gradient::transform(&mut front.module, &self.transformations, &self.options)
            .and_then(|transformed| {
                front.transformed = transformed;
                Ok(differentiate(&mut front.module, watch)?)
            });
        match made {
            Ok(kept) => front.kept = kept,
            Err(diagnostic) => {
                let mut found = std::mem::take(&mut front.warnings);
                found.push(*diagnostic);
                return Err(found);
            }
        }
        front.phases.lower += clock.lap();
        front.phases.total += clock.total();
        Ok(())
    }

    /// Resolves names and types. Does nothing if a source has errors of syntax.
    pub(super) fn check_parsed<'a>(
        &self,
        arena: &'a Bump,
        interner: &mut Interner,
        parsed: ParsedSources<'a>,
    ) -> CheckOutput<'a> {
        let members = self.layout.members().iter();
        let globals: Vec<_> = members
            .map(|member| (member.name().to_owned(), member.ty().clone()))
            .collect();
        let request = CheckRequest {
            files: &parsed.files,
            globals: &globals,
            closures: self.closures.as_deref().map(ClosureRegistry::closures),
            entry: parsed.entry,
            all_marked: self.all_marked,
            slopes: self.slopes(),
            is_host_struct: self.layout.is_host_struct(),
            eliminated: &self.eliminated,
        };
        let mut checked = check::check(arena, interner, request);
        if parsed.diagnostics.iter().any(Diagnostic::is_error) {
            // A part with errors of syntax may be what makes warnings go away.
            checked.diagnostics.retain(Diagnostic::is_error);
        }
        checked.diagnostics.splice(0..0, parsed.diagnostics);
        checked
    }
}

/// Where a shader's outputs are declared.
fn outputs(program: &check::typed_tree::TypedProgram<'_>, shader: FunctionId) -> Vec<Span> {
    let params = program.functions[shader.0 as usize].params.iter();
    let outputs = params.filter(|param| param.direction == ast::ParamDirection::Out);
    outputs.map(|param| param.span).collect()
}

/// The shader that was named; or the only one; or the only one of the first source, though others
/// come with what it includes.
fn choose(
    program: &check::typed_tree::TypedProgram<'_>,
    interner: &Interner,
    main: FileId,
    wanted: Option<&str>,
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
    let end = Span::new(main, 0, 0);
    let own = shaders.iter().filter(|(.., span)| span.file == main);
    let own: Vec<_> = own.collect();
    match (wanted, shaders.as_slice()) {
        (None, [(only, ..)]) => Ok(*only),
        (None, _) if own.len() == 1 => Ok(own[0].0),
        (_, []) => Err(Diagnostic::new(
            Code::UnknownShader,
            end,
            "there is no shader in this source, only what shaders may use",
        )
        .here("one could be here")
        .help("write one: `shader name(out float result) { result = 1.0; }`")),
        (None, [_, (_, _, second), ..]) => Err(Diagnostic::new(
            Code::ShaderChoice,
            *second,
            format!("there are several shaders: {}", listed()),
        )
        .here("a second one")
        .help(
            "say which is meant: `--shader NAME` on the command line, `Options::shader` in a host",
        )),
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
                .here("not in this source")
                .help(format!("there is {}", listed()))
            }),
    }
}

/// Parses all sources; the first one as `main` says.
pub(super) fn parse_sources<'a>(
    arena: &'a Bump,
    interner: &mut Interner,
    sources: SourceSlice<'_>,
    main: MainSource,
) -> ParsedSources<'a> {
    let mut parsed = ParsedSources {
        files: Vec::with_capacity(sources.iter().len()),
        entry: None,
        diagnostics: Vec::new(),
    };
    for (id, source) in sources.included_first() {
        if source.included().is_none() {
            parsed.diagnostics.extend(not_gathered(id, source.text()));
        }
        match main {
            MainSource::Expression if id == sources.main() => {
                let (expr, diagnostics) = parse_expression(arena, interner, id, source.text());
                parsed.entry = Some(session::expression_entry(expr, arena));
                parsed.diagnostics.extend(diagnostics);
            }
            MainSource::Entry(index) if id == sources.main() => {
                if let ReplParse::Complete(entries) = parse_repl(arena, interner, id, source.text())
                {
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

/// Reports the includes of a source where no loader was given.
fn not_gathered(id: FileId, text: &str) -> impl Iterator<Item = Diagnostic> {
    let includes = adumbra_frontend::find_includes(id, text).into_iter();
    includes.map(|include| {
        let message = format!("`{}` was not loaded", include.path);
        Diagnostic::new(Code::IncludeNotFound, include.span, message)
            .here("included here")
            .help(
                "the host loads included sources, by `Sources::including`, before it compiles them",
            )
    })
}

/// The warnings, if there is no error among them.
pub(super) fn fail_on_error(
    diagnostics: Vec<Diagnostic>,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    match diagnostics.iter().any(Diagnostic::is_error) {
        false => Ok(diagnostics),
        true => Err(diagnostics),
    }
}
