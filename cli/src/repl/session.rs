//! The state of a session: variables with their derivatives, and the sources whose functions are in
//! scope.
//!
//! Variables are globals of the host, so an expression compiles as it would in a renderer. Each
//! typed source with a declaration, and each loaded file, stays among the sources of later
//! compilations. A redefinition blanks the earlier declaration in its source: lengths stay, so
//! spans into it stay right.

use super::failed;
use crate::blank::blanked;
use crate::checkerboard::{CheckerboardHost, Interrupt};
use crate::error::{CliError, CliResult};
use crate::files;
use crate::input;
use crate::report::{self, OutputFormat};
use crate::setup::Setup;
use crate::show;
use adumbra::{
    Compiler, Diagnostic, Diagnostics, Dual, Evaluator, Globals, GlobalsLayout, Instance, Program,
    Sources, Type,
    diagnostics::{Code, FileId, Span},
    globals::LayoutError,
    session::{SessionEntries, SessionEntry, SessionOutput, item_at, parse_entries},
    value::ValueView,
};
use adumbra_frontend::Interner;
use adumbra_frontend::ast::ItemKind;
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of an expression, in reports.
pub(super) const EXPRESSION: &str = "<expression>";

/// Whether an item needs further lines.
pub fn is_unfinished(text: &str) -> bool {
    !is_command(text) && matches!(parse_entries(text), SessionEntries::Incomplete(_))
}

/// Whether a line is a command of the REPL, not of the language.
pub fn is_command(text: &str) -> bool {
    text.trim_start().starts_with(':')
}

#[derive(Clone)]
pub(super) struct ScopeSource {
    name: String,
    pub(super) text: String,
}

/// A shader of a file, and the globals that it lacks.
struct UnrunnableShader {
    name: String,
    bytes: Range<usize>,
    globals: Vec<String>,
}

/// The state of a session: variables, and sources in scope.
pub struct ReplSession {
    setup: Setup,
    /// The files that the session began with.
    with: Vec<PathBuf>,
    pub(super) sources_in_scope: Vec<ScopeSource>,
    globals: Globals,
    /// Variables that were set without derivatives, and that depend on none which has any.
    shadowless: BTreeSet<String>,
    /// The number of typed sources.
    typed: usize,
    /// The expression or statement evaluated last.
    pub last: Option<String>,
    interrupt: Interrupt,
}

/// A compiled entry, which can be evaluated.
pub struct CompiledEntry {
    pub instance: Instance,
    pub given: Vec<SessionOutput>,
    pub sources: Sources,
}

impl CompiledEntry {
    pub fn program(&self) -> &Arc<Program> {
        self.instance.program()
    }
}

impl ReplSession {
    /// A new session: `u` and `v` change by a pixel of 512 along x and along y.
    ///
    /// # Errors
    /// If a file of `--with` is at fault; it was reported.
    pub fn new(setup: Setup, with: Vec<PathBuf>, interrupt: Interrupt) -> CliResult<ReplSession> {
        let mut session = ReplSession {
            globals: setup.globals.clone(),
            setup,
            with,
            sources_in_scope: Vec::new(),
            shadowless: BTreeSet::new(),
            typed: 0,
            last: None,
            interrupt,
        };
        session.begin()?;
        Ok(session)
    }

    /// Forgets everything but the files and options that the session began with.
    ///
    /// # Errors
    /// If a file of `--with` is at fault by now; it was reported.
    pub fn reset(&mut self) -> CliResult {
        self.sources_in_scope.clear();
        self.begin()
    }

    fn begin(&mut self) -> CliResult {
        self.globals = self.setup.globals.clone();
        self.shadowless = self.setup.shadowless.iter().cloned().collect();
        let pixel = 1.0 / 512.0;
        for (name, value, ddx, ddy) in [("u", 0.25, pixel, 0.0), ("v", 0.5, 0.0, pixel)] {
            if self.globals.layout().member(name).is_none() {
                let words = [value, ddx, ddy].map(f32::to_bits);
                let [value, ddx, ddy] = words
                    .each_ref()
                    .map(|word| ValueView::new(&Type::FLOAT, std::slice::from_ref(word)));
                self.set(name, Dual { value, ddx, ddy })
                    .map_err(CliError::usage)?;
            }
        }
        self.with
            .clone()
            .iter()
            .try_for_each(|path| self.load(path))
    }

    /// A texture host for one evaluation, which Ctrl-C cancels.
    pub fn host(&self) -> CheckerboardHost {
        self.interrupt.clear();
        CheckerboardHost::new(&self.interrupt)
    }

    /// An evaluator for a compiled entry.
    ///
    /// # Errors
    /// If the engine cannot run it.
    pub fn evaluator(&self, instance: &Instance) -> CliResult<Evaluator> {
        self.setup.evaluator(instance)
    }

    /// The variables.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// Brings a file into scope; a second time it replaces its earlier version. Shaders that read
    /// globals which the session lacks are left out, with a note.
    ///
    /// # Errors
    /// If it cannot be read, which is bad usage, or is at fault, which was reported.
    pub fn load(&mut self, path: &Path) -> CliResult {
        let (name, bytes) = input::read_bytes(path)?;
        let text =
            input::decode_source(&name, bytes).map_err(|diagnostics| failed(&diagnostics))?;
        let before = self.sources_in_scope.clone();
        self.sources_in_scope
            .retain(|text| !files::is_same_file(&text.name, &name));
        let shaders = self.shaders_without_globals(&name, &text);
        let runnable = (shaders.iter()).fold(text.clone(), |text, shader| {
            blanked(&text, shader.bytes.clone())
        });
        let added = self.add(name, runnable, &text);
        added.inspect_err(|_| self.sources_in_scope = before)?;
        for shader in shaders {
            let globals = shader.globals.join(", ");
            report::message(&format!(
                "the shader `{}` is left out: it reads {globals}, which a session does not have; `:image FILE -o OUT` draws it",
                shader.name
            ));
        }
        Ok(())
    }

    /// The shaders of a file that are its only errors, because they read globals that the session
    /// lacks.
    fn shaders_without_globals(&self, name: &str, text: &str) -> Vec<UnrunnableShader> {
        let Ok(sources) = self.sources(name, text) else {
            return Vec::new();
        };
        let diagnostics = self.compiler(&self.globals).check(&sources);
        let mut shaders: Vec<UnrunnableShader> = Vec::new();
        let (arena, mut interner) = (Bump::new(), Interner::new());
        let (file, _) = adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, text);
        for found in diagnostics.iter().filter(|found| found.is_error()) {
            let is_around =
                |around: Span| around.start <= found.span.start && found.span.end <= around.end;
            let is_global = found.code == Code::UnknownGlobal && found.span.file == FileId::MAIN;
            let shader = file.items.iter().find_map(|item| match item.kind {
                ItemKind::Function(function) if function.is_shader() && is_around(item.span) => {
                    Some((interner.name(function.name.symbol), item.span))
                }
                _ => None,
            });
            let (true, Some((name, span))) = (is_global, shader) else {
                return Vec::new();
            };
            let global = format!(
                "`{}`",
                &text[found.span.start as usize..found.span.end as usize]
            );
            match shaders.iter_mut().find(|shader| shader.name == name) {
                Some(shader) if shader.globals.contains(&global) => {}
                Some(shader) => shader.globals.push(global),
                None => shaders.push(UnrunnableShader {
                    name: name.to_owned(),
                    bytes: span.start as usize..span.end as usize,
                    globals: vec![global],
                }),
            }
        }
        shaders
    }

    /// The flag that Ctrl-C sets.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// A name for the next typed source.
    pub fn next_source_name(&mut self) -> String {
        self.typed += 1;
        format!("<input {}>", self.typed)
    }

    /// The sources of a compilation whose first one is this, with all that they include.
    ///
    /// # Errors
    /// If a file cannot be included.
    pub fn sources(&self, name: &str, text: &str) -> Result<Sources, Diagnostics> {
        files::with_includes(self.in_scope(name, text))
    }

    /// A source, and those in scope.
    fn in_scope(&self, name: &str, text: &str) -> Sources {
        let mut sources = Sources::new(name, text);
        for other in &self.sources_in_scope {
            sources.add(&*other.name, &*other.text);
        }
        sources
    }

    /// Keeps a declaration out of a typed source. The rest of the source is blanked, so that spans
    /// stay right.
    ///
    /// # Errors
    /// If it is wrong, or makes an earlier declaration wrong, which was reported; then nothing
    /// changes.
    pub fn declare(&mut self, name: &str, text: &str, item: Range<usize>) -> CliResult {
        let mut kept = blanked(text, 0..item.start);
        kept.truncate(item.end);
        // A session does without the last `;`; a file does not. On a line of its own no report
        // quotes it.
        if !kept.ends_with(';') {
            kept.push_str("\n;");
        }
        self.add(name.to_owned(), kept, text)
    }

    /// Adds a source; reports about it quote what was typed.
    fn add(&mut self, name: String, text: String, typed: &str) -> CliResult {
        input::check_source_count(self.sources_in_scope.len())?;
        let before = self.sources_in_scope.clone();
        let compiler = self.compiler(&self.globals);
        loop {
            let sources = match self.sources(&name, &text) {
                Ok(sources) => sources,
                Err(diagnostics) => {
                    self.sources_in_scope = before;
                    return Err(failed(&diagnostics));
                }
            };
            let diagnostics = compiler.check(&sources);
            if let Some((older, item)) = diagnostics.iter().find_map(|d| self.replaced(d)) {
                self.sources_in_scope[older].text =
                    blanked(&self.sources_in_scope[older].text, item);
                continue;
            }
            if diagnostics.iter().any(Diagnostic::is_error) {
                let sources = self.sources(&name, typed).unwrap_or(sources);
                self.sources_in_scope = before;
                return Err(failed(&Diagnostics {
                    diagnostics,
                    sources,
                }));
            }
            self.sources_in_scope
                .retain(|source| !is_replaced(&source.text));
            let own = diagnostics.iter().filter(|d| d.span.file == FileId::MAIN);
            let own: Vec<Diagnostic> = own.cloned().collect();
            let sources = self.sources(&name, typed).unwrap_or(sources);
            report::diagnostics_to_stderr(&own, &sources, OutputFormat::Text);
            self.sources_in_scope.push(ScopeSource { name, text });
            return Ok(());
        }
    }

    /// The earlier declaration, by its source and bytes, that a new one would replace.
    fn replaced(&self, diagnostic: &Diagnostic) -> Option<(usize, Range<usize>)> {
        let span = diagnostic.span;
        if diagnostic.code != Code::Redeclared || span.file == FileId::MAIN {
            return None;
        }
        let older = span.file.0 as usize - 1;
        let item = item_at(&self.sources_in_scope.get(older)?.text, span.start)?;
        Some((older, item))
    }

    /// The intermediate representation of an expression as a pass left it; `None` if the pass did
    /// not run.
    ///
    /// # Errors
    /// If the expression is wrong.
    pub fn ir_after(&self, text: &str, pass: &str) -> Result<Option<String>, Diagnostics> {
        let sources = self.sources(EXPRESSION, text)?;
        self.compiler(&self.globals).ir_after(&sources, pass)
    }

    /// The type of an expression; `None` if it has none, or is wrong.
    pub fn type_of(&self, text: &str) -> Option<Type> {
        let compiled = self.compile_expression(text, &self.globals).ok()?;
        Some(compiled.program().outputs().first()?.ty.clone())
    }

    /// The variables' names.
    pub fn variables(&self) -> Vec<String> {
        let members = self.globals.layout().members().iter();
        members.map(|member| member.name().to_owned()).collect()
    }

    fn compiler(&self, globals: &Globals) -> Compiler {
        Compiler::new(globals.layout().clone()).with_options(self.setup.options.clone())
    }

    /// Compiles an entry of a typed source.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn compile(
        &self,
        name: &str,
        text: &str,
        entry: usize,
    ) -> Result<CompiledEntry, Diagnostics> {
        let sources = self.sources(name, text)?;
        let mut layout = self.globals.layout().clone();
        for name in &self.shadowless {
            layout = layout.shadowless(name).expect("it is a variable");
        }
        let compiler = Compiler::new(layout).with_options(self.setup.options.clone());
        let (program, given) = compiler.compile_entry(&sources, entry)?;
        Ok(CompiledEntry {
            instance: Instance::new(&program),
            given,
            sources,
        })
    }

    /// Compiles the argument of a command, which is one expression over these variables.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn compile_expression(
        &self,
        text: &str,
        globals: &Globals,
    ) -> Result<CompiledEntry, Diagnostics> {
        expression_of(&self.compiler(globals), self.in_scope(EXPRESSION, text))
    }

    /// Compiles an expression, which may use the declarations of another source of that name; no
    /// function needs a mark to be differentiated.
    ///
    /// # Errors
    /// If a declaration is wrong, or a function cannot be differentiated.
    pub fn compile_marked(
        &self,
        expression: &str,
        declarations: Option<(&str, &str)>,
        globals: &Globals,
    ) -> Result<CompiledEntry, Diagnostics> {
        let mut sources = self.in_scope(EXPRESSION, expression);
        if let Some((name, text)) = declarations {
            sources.add(name, text);
        }
        expression_of(&self.compiler(globals).with_all_marked(), sources)
    }

    /// Sets a variable that was assigned; a value without derivatives makes asking for them worth a
    /// warning.
    ///
    /// # Errors
    /// As for [`set`](ReplSession::set).
    pub fn assign(&mut self, name: &str, value: Dual<ValueView<'_>>) -> Result<(), LayoutError> {
        self.set(name, value)?;
        let is_zero = |view: ValueView<'_>| view.words().all(|word| f32::from_bits(word) == 0.0);
        if show::has_floats(value.value.ty()) && is_zero(value.ddx) && is_zero(value.ddy) {
            self.shadowless.insert(name.to_owned());
        }
        Ok(())
    }

    /// Sets a variable; declares it, or changes its type, if need be.
    ///
    /// # Errors
    /// If variables cannot be of that type.
    pub fn set(&mut self, name: &str, value: Dual<ValueView<'_>>) -> Result<(), LayoutError> {
        self.shadowless.remove(name);
        if self.globals.set_view(name, value).is_ok() {
            return Ok(());
        }
        let others = self.globals.layout().members().iter();
        let others = others.filter(|member| member.name() != name);
        let layout = others
            .clone()
            .try_fold(GlobalsLayout::new(), |layout, member| {
                layout.with(member.name(), member.ty().clone())
            })
            .and_then(|layout| layout.with(name, value.value.ty().clone()))?;
        let mut globals = Globals::new(&layout);
        for member in others {
            let kept = self.globals.view(member.name()).expect("its own member");
            globals
                .set_view(member.name(), kept)
                .expect("the same member");
        }
        globals
            .set_view(name, value)
            .expect("the member just added");
        self.globals = globals;
        Ok(())
    }

    /// The entries of a typed source.
    pub fn entries(&self, text: &str) -> Result<Vec<SessionEntry>, Vec<Diagnostic>> {
        match parse_entries(text) {
            SessionEntries::Complete(entries) => Ok(entries),
            SessionEntries::Invalid(diagnostics) | SessionEntries::Incomplete(diagnostics) => {
                Err(diagnostics)
            }
        }
    }
}

/// Compiles the expression that is the first of these sources. Reports errors alone: warnings about
/// what is in scope came when it was entered.
fn expression_of(compiler: &Compiler, sources: Sources) -> Result<CompiledEntry, Diagnostics> {
    let sources = files::with_includes(sources)?;
    let program = compiler.compile_expression(&sources);
    let program = program.map_err(|mut found| {
        found.diagnostics.retain(Diagnostic::is_error);
        found
    })?;
    Ok(CompiledEntry {
        instance: Instance::new(&program),
        given: vec![SessionOutput::Value],
        sources,
    })
}

/// Whether nothing is left of a source in scope: its declarations were replaced, one by one.
fn is_replaced(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == ';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_never_unfinished() {
        assert!(!is_unfinished(":type f("));
        assert!(is_unfinished("f("));
        assert!(!is_unfinished(""));
    }
}
