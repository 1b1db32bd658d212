//! The driver, which joins the stages: sources in, a program or diagnostics out.

use crate::arena_pool::ArenaPool;
use crate::closure::registry::ClosureRegistry;
use crate::diagnostics::Diagnostics;
use crate::globals::GlobalsLayout;
use crate::gradient::{GradientRequest, Transformation, layout_with_seeds};
use crate::program::{Compilation, Program};
use crate::sources::Sources;
use crate::stats::{PhaseClock, Phases};
use adumbra_frontend::Interner;
use adumbra_frontend::ast;
use adumbra_frontend::check::SessionOutput;
use adumbra_frontend::check::typed_tree::FunctionId;
use adumbra_frontend::lower::LowerOptions;
use adumbra_ir::module::Slopes;
use adumbra_ir::passes::{
    self, AtDivergence, Derivatives, FunctionReport, LostShadows, PassObserver, PassOptions,
};
use adumbra_ir::text::{self, SpanComments};
use adumbra_ir::{Diagnostic, FileId, Module};
use adumbra_ops::OpSet;
use adumbra_vm::FloatEnvironment;
use frontend::{fail_on_error, lower_module, parse_sources};
use std::sync::Arc;

mod backend;
mod frontend;
mod observed;
mod origin;

use backend::second_order_warnings;
pub(crate) use backend::{BackendOutput, run_backend};
pub(crate) use frontend::{FrontendOutput, MainSource};
pub(crate) use origin::Origin;

/// Compiles sources for a host with certain globals.
///
/// ```
/// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type};
/// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
/// let options = Options { output_derivatives: true, ..Options::default() };
/// let compiler = Compiler::new(layout).with_options(options);
///
/// let sources = Sources::new("square.adu", "shader square(out float o) { float x = global_value<x>; o = x * x; }");
/// let program = compiler.compile(&sources).map_err(|diagnostics| diagnostics.to_string())?;
///
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", 3.0, 1.0, 0.0)?;
/// evaluator.evaluate(&globals, &mut NoTextures);
/// let o = evaluator.get::<Dual<f32>>("o")?;
/// assert_eq!((o.value, o.ddx, o.ddy), (9.0, 6.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    layout: GlobalsLayout,
    closures: Option<Arc<ClosureRegistry>>,
    options: Options,
    arenas: ArenaPool,
    /// Whether programs report all that a point does.
    observes: bool,
    /// Whether functions are differentiable without a mark.
    all_marked: bool,
    /// Whether results of textures have derivatives.
    texture_slopes: bool,
    /// Whether lowering keeps what derivatives need, although none is taken yet.
    keeps_derivatives: bool,
    /// The blocks of the first source that are left out, by their numbers.
    eliminated: Vec<u32>,
    /// What shaders become before they are programs, each of what is before it.
    transformations: Vec<Transformation>,
}

/// Options of a compilation.
///
/// ```
/// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Options, Sources, Type};
/// let options = Options {
///     shader: Some("square".to_owned()),
///     output_derivatives: true,
///     ..Options::default()
/// };
/// let source = "shader square(out float o) { float x = global_value<x>; o = x * x; }
///             shader half(out float o) { o = 0.5 * global_value<x>; }";
/// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?).with_options(options);
/// let program = compiler.compile(&Sources::new("s.adu", source))?;
/// let mut globals = Globals::new(program.globals());
/// globals.set("x", 3.0_f32, 1.0, 0.0)?;
/// let mut evaluator = Evaluator::new(&Instance::new(&program));
/// evaluator.evaluate(&globals, &mut NoTextures);
/// let o = evaluator.get::<Dual<f32>>("o")?;
/// assert_eq!((o.value, o.ddx), (9.0, 6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The name of the shader, if the source has several.
    pub shader: Option<String>,
    /// The source of derivatives.
    pub derivatives: Derivatives,
    /// The treatment of derivatives from quads in non-uniform control flow.
    pub at_divergence: AtDivergence,
    /// One body for each function, which serves the demands of all its callers: the method of the
    /// SORT post, as a baseline.
    pub merge_demand: bool,
    /// Whether the host reads the outputs' derivatives. If not, none is computed for its sake, and
    /// reading one is an error.
    pub output_derivatives: bool,
    /// Ops whose results have no derivatives, as if their partials were zero: to emulate systems
    /// that differentiate some operations only. By default none. Values are the same with any. By
    /// quads derivatives are differences of values, so it has no effect there.
    pub dropped_derivatives: OpSet,
}

impl Compiler {
    /// A compiler for a host that fills these globals, with default options.
    pub fn new(layout: GlobalsLayout) -> Compiler {
        Compiler {
            layout,
            closures: None,
            options: Options::default(),
            arenas: ArenaPool::default(),
            observes: false,
            all_marked: false,
            texture_slopes: false,
            keeps_derivatives: false,
            eliminated: Vec::new(),
            transformations: Vec::new(),
        }
    }

    /// The same compiler whose programs compute a gradient, too: what
    /// [`Program::gradient`](crate::Program::gradient) gives, and the stages on the way to it. Of a
    /// compiler that has one already, the new one is that of its programs.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, gradient::GradientRequest};
    /// let sources = Sources::new("s.adu", "shader s(float a, out float o) { o = a * a; }");
    /// let compiler = Compiler::new(GlobalsLayout::new()).with_gradient(&GradientRequest::new());
    /// let module = compiler.lowered(&sources)?;
    /// assert_eq!(module.outputs[1].name, "d(a)");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn with_gradient(self, request: &GradientRequest) -> Compiler {
        self.with_transformation(Transformation::Gradient(request.clone()))
    }

    /// The same compiler whose shaders are transformed once more.
    pub(crate) fn with_transformation(mut self, transformation: Transformation) -> Compiler {
        self.transformations.push(transformation);
        self
    }

    /// The same compiler with other options.
    pub fn with_options(mut self, options: Options) -> Compiler {
        self.options = options;
        self
    }

    /// The same compiler where every function counts as `[Differentiable]`: for tools that ask for
    /// derivatives of functions without marks.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let mut sources = Sources::new("<expression>", "fwd_diff(square)(diffPair(3.0, 1.0)).d");
    /// sources.add("square.adu", "float square(float x) { return x * x; }");
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// let refused = compiler.compile_expression(&sources).unwrap_err();
    /// assert_eq!(refused.diagnostics[0].code.to_string(), "E0551");
    /// assert!(compiler.with_all_marked().compile_expression(&sources).is_ok());
    /// ```
    pub fn with_all_marked(mut self) -> Compiler {
        self.all_marked = true;
        self
    }

    /// The same compiler where results of textures have derivatives, for a host that answers with
    /// [`Sampled::Sloped`](crate::Sampled::Sloped): ∂t/∂x = ∂t/∂u·∂u/∂x + ∂t/∂v·∂v/∂x, with the
    /// level of detail held. Without, as by default, they count as 0. Derivatives by quads are
    /// differences of neighbours, and need no slopes.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, TexelSlopes};
    /// /// A texture of red u·v.
    /// struct Saddle;
    /// impl Host for Saddle {
    ///     fn sample(&mut self, request: &SampleRequest) -> Sampled {
    ///         let (u, v) = (request.u, request.v);
    ///         let slopes = TexelSlopes { u: [v, 0.0, 0.0, 0.0], v: [u, 0.0, 0.0, 0.0] };
    ///         Sampled::Sloped([u * v, 0.0, 0.0, 1.0], slopes)
    ///     }
    /// }
    ///
    /// let source = "texture2d saddle; shader s(out float red, out float slope) {
    ///     red = texture2d_sample<saddle>(global_value<uvw>.xy).x; slope = ddx(red); }";
    /// let compiler = Compiler::new(GlobalsLayout::hit()).texture_slopes(true);
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    /// let mut globals = Globals::new(program.globals());
    /// globals.set("uvw", [0.5, 0.25, 0.0], [2.0, 3.0, 0.0], [0.0; 3])?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&globals, &mut Saddle);
    /// assert_eq!(evaluator.get::<f32>("slope")?, 0.25 * 2.0 + 0.5 * 3.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn texture_slopes(mut self, given: bool) -> Compiler {
        self.texture_slopes = given;
        self
    }

    /// The same compiler that leaves out blocks after `[EliminateIfUnused]`, as if they were not
    /// written: those of these numbers, as
    /// [`eliminable_blocks`](crate::sources::eliminable_blocks) lists those of the source with the
    /// shader; in any order. By default none is, and the attribute changes no instruction. Another
    /// number is [E0574](crate::diagnostics::page). Expressions, sessions and groups have no such
    /// blocks.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources};
    /// let source = "shader s(out float o) { o = 1; [EliminateIfUnused] { o += 1; } }";
    /// let compiler = Compiler::new(GlobalsLayout::new()).without_blocks([0]);
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// evaluator.evaluate(&Globals::new(program.globals()), &mut NoTextures);
    /// assert_eq!(evaluator.get::<f32>("o")?, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without_blocks(mut self, numbers: impl Into<Vec<u32>>) -> Compiler {
        self.eliminated = numbers.into();
        self
    }

    /// The same compiler for a host that knows these closures and no others: shaders that make
    /// others, or give them other arguments, are refused.
    pub fn with_closures(mut self, closures: impl Into<Arc<ClosureRegistry>>) -> Compiler {
        self.closures = Some(closures.into());
        self
    }

    /// Every error and warning of the sources, whichever shaders they hold, or none.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// let diagnostics = compiler.check(&Sources::new("lib.adu", "int three() { return 3 }"));
    /// assert_eq!(diagnostics[0].code.to_string(), "E0105");
    /// ```
    pub fn check(&self, sources: &Sources) -> Vec<Diagnostic> {
        self.check_timed(sources).0
    }

    /// As [`check`](Compiler::check), with the time that it took to parse, to check, and to lower
    /// the shaders.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let (diagnostics, phases) = Compiler::new(GlobalsLayout::new()).check_timed(&sources);
    /// assert!(diagnostics.is_empty() && phases.parse > 0.0);
    /// ```
    pub fn check_timed(&self, sources: &Sources) -> (Vec<Diagnostic>, Phases) {
        let _mode = FloatEnvironment::enter();
        let (arena, mut interner) = (self.arenas.take(), Interner::new());
        let mut phases = Phases::default();
        let mut clock = PhaseClock::start();
        let parsed = parse_sources(&arena, &mut interner, sources.as_slice(), MainSource::File);
        phases.parse = clock.lap();
        let checked = self.check_parsed(&arena, &mut interner, parsed);
        phases.check = clock.lap();
        let mut diagnostics = checked.diagnostics;
        let mut news = Vec::new();
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let functions = checked.program.functions.iter().enumerate();
            for (i, _) in functions.filter(|(_, function)| function.is_shader) {
                let entry = FunctionId(i as u32);
                let options = self.lower_options();
                match lower_module(&checked.program, &interner, entry, options) {
                    Ok(module) => news.extend(self.derivative_diagnostics(&module)),
                    Err(diagnostic) => news.push(diagnostic),
                }
            }
            // Shaders share functions, and their diagnostics.
            news.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
            news.dedup();
            diagnostics.append(&mut news);
        }
        phases.lower = clock.lap();
        phases.total = clock.total();
        (diagnostics, phases)
    }

    /// Makes a program of a shader. The first source holds it; the others hold what it may use.
    ///
    /// # Errors
    /// Every error that was found, with warnings between them.
    pub fn compile(&self, sources: &Sources) -> Result<Arc<Program>, Diagnostics> {
        Ok(self.program(sources, MainSource::File)?.0)
    }

    /// Makes a program of an expression, with one output, `value`, whose derivatives are required.
    /// Bare names are the host's globals; functions come from the other sources.
    ///
    /// ```
    /// use adumbra::{Compiler, Dual, Evaluator, Globals, GlobalsLayout, Instance, NoTextures, Sources, Type};
    /// let compiler = Compiler::new(GlobalsLayout::new().with("t", Type::FLOAT)?);
    /// let program = compiler.compile_expression(&Sources::new("<expression>", "sin(t)"))?;
    /// let mut evaluator = Evaluator::new(&Instance::new(&program));
    /// let mut globals = Globals::new(program.globals());
    /// globals.set("t", 0.0, 0.5, 0.25)?;
    /// evaluator.evaluate(&globals, &mut NoTextures);
    /// let value = evaluator.get::<Dual<f32>>("value")?;
    /// assert_eq!((value.value, value.ddx, value.ddy), (0.0, 0.5, 0.25));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Every error that was found.
    pub fn compile_expression(&self, sources: &Sources) -> Result<Arc<Program>, Diagnostics> {
        Ok(self.program(sources, MainSource::Expression)?.0)
    }

    /// Makes a program of an entry of a session: number `index` of the first source, as
    /// [`parse_entries`](crate::session::parse_entries) counts them. Beside the program comes the
    /// meaning of each of its outputs for the session. Warnings about the other sources are left
    /// out, since they came when those were entered: [`check`](Compiler::check) gives them.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, session::SessionOutput};
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// let sources = Sources::new("<input>", "w = sqrt(2.0); w * w");
    /// let (_, given) = compiler.compile_entry(&sources, 0)?;
    /// assert_eq!(given, [SessionOutput::Variable("w".to_owned())]);
    /// // The second entry compiles once the host has a global `w`.
    /// assert!(compiler.compile_entry(&sources, 1).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Every error that was found.
    pub fn compile_entry(
        &self,
        sources: &Sources,
        index: usize,
    ) -> Result<(Arc<Program>, Vec<SessionOutput>), Diagnostics> {
        self.program(sources, MainSource::Entry(index))
    }

    /// The syntax tree of the first source, for people.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// let tree = compiler.syntax_tree(&Sources::new("f.adu", "int f(int n) { return n + 1; }"))?;
    /// assert!(tree.contains("(+ n 1)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it has errors of syntax.
    pub fn syntax_tree(&self, sources: &Sources) -> Result<String, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let (arena, mut interner) = (self.arenas.take(), Interner::new());
        let (tree, diagnostics) = match sources.get(FileId::MAIN) {
            Some(main) => adumbra_frontend::parse(&arena, &mut interner, FileId::MAIN, main.text()),
            None => return Ok(String::new()),
        };
        fail_on_error(diagnostics).map_err(|found| Diagnostics::new(found, sources))?;
        Ok(ast::print(&tree, &interner))
    }

    /// The lineage of each value of a shader: whether it can trace back to a global, whatever is
    /// demanded.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, derivatives::Lanes};
    /// let source = "shader s(out float o) { float x = global_value<uvw>.x; float two = 2.0; o = two * x; }";
    /// let reports = Compiler::new(GlobalsLayout::hit()).lineage(&Sources::new("s.adu", source))?;
    /// let o = reports[0].values.iter().find(|value| value.name == "o").unwrap();
    /// assert_eq!(o.lanes, Lanes::XY);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`compile`](Compiler::compile).
    pub fn lineage(&self, sources: &Sources) -> Result<Vec<FunctionReport>, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        Ok(self.lineage_of(self.lowered(sources)?))
    }

    pub(crate) fn lineage_of(&self, module: Module) -> Vec<FunctionReport> {
        // Everything is demanded: a value without demand has a lineage all the same.
        let options = PassOptions {
            output_shadows: true,
            ..self.pass_options()
        };
        passes::lineage_report(module, &options)
    }

    /// A shader's intermediate representation before all passes but the one that writes the bodies
    /// of derivatives of functions, to compare the passes with.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let module = Compiler::new(GlobalsLayout::new()).lowered(&sources)?;
    /// assert_eq!(module.entry().name, "half");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`compile`](Compiler::compile).
    pub fn lowered(&self, sources: &Sources) -> Result<Module, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        Ok(self
            .derived(sources, MainSource::File, &mut |_, _| {})?
            .module)
    }

    /// Sources to a lowered module.
    fn front_of(&self, sources: &Sources, main: MainSource) -> Result<FrontendOutput, Diagnostics> {
        let shader = self.options.shader.as_deref();
        let front = self.run_frontend(sources.as_slice(), main, shader);
        front.map_err(|found| Diagnostics::new(found, sources))
    }

    /// [`front_of`](Compiler::front_of), with the derivatives.
    fn derived(
        &self,
        sources: &Sources,
        main: MainSource,
        watch: &mut PassObserver,
    ) -> Result<FrontendOutput, Diagnostics> {
        let mut front = self.front_of(sources, main)?;
        match self.derive(&mut front, watch) {
            Ok(()) => Ok(front),
            Err(found) => Err(Diagnostics::new(found, sources)),
        }
    }

    /// The intermediate representation of an expression after the last run of a pass, as text;
    /// `None` if it did not run. [`PASSES`](crate::inspect::PASSES) has their names.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, Type};
    /// let compiler = Compiler::new(GlobalsLayout::new().with("x", Type::FLOAT)?);
    /// let sources = Sources::new("<expression>", "x * (1.0 + 2.0)");
    /// assert!(compiler.ir_after(&sources, "fold")?.unwrap().contains("3.0"));
    /// assert_eq!(compiler.ir_after(&sources, "inline")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Every error that was found.
    pub fn ir_after(&self, sources: &Sources, pass: &str) -> Result<Option<String>, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let mut left = 0;
        // A pass runs for each function, and in rounds: the first run counts its runs.
        self.observe_passes(sources, &mut |name, _| left += usize::from(name == pass))?;
        let mut last = None;
        self.observe_passes(sources, &mut |name, module| {
            left -= usize::from(name == pass);
            if name == pass && left == 0 {
                last = Some(text::print(module, SpanComments::Hidden));
            }
        })?;
        Ok(last)
    }

    /// Runs the passes on an expression, whose derivatives are required.
    fn observe_passes(
        &self,
        sources: &Sources,
        watch: &mut PassObserver,
    ) -> Result<(), Diagnostics> {
        let refused = |found| Diagnostics::new(found, sources);
        let options = PassOptions {
            output_shadows: true,
            ..self.pass_options()
        };
        let front = self.derived(sources, MainSource::Expression, watch);
        let mut module = front?.module;
        passes::expand(&mut module, &options, watch).map_err(refused)?;
        passes::run_observed(module, &options, watch);
        Ok(())
    }

    /// The positions where shaders ask for derivatives that count as 0.
    pub(crate) fn lost_derivatives(&self, module: &Module) -> LostShadows {
        match self.options.derivatives {
            // Neighbours differ in textures and derivatives, too: nothing counts as 0.
            Derivatives::Quad(_) => LostShadows {
                second_order: vec![false; module.entry().results.len()],
                ..LostShadows::default()
            },
            _ => passes::lost_shadows(module, self.layout.shadowless_members()),
        }
    }

    /// The warnings about the derivatives of a module that was lowered.
    pub(crate) fn derivative_diagnostics(&self, module: &Module) -> Vec<Diagnostic> {
        match self.options.derivatives {
            Derivatives::Quad(_) => self.expanded(module.clone()).err().unwrap_or_default(),
            _ => self.lost_derivatives(module).warnings,
        }
    }

    /// A lowered module as all but the first passes take it.
    fn expanded(&self, mut module: Module) -> Result<Module, Vec<Diagnostic>> {
        passes::expand(&mut module, &self.pass_options(), &mut |_, _| {})?;
        Ok(module)
    }

    fn lower_options(&self) -> LowerOptions {
        LowerOptions {
            slopes: self.slopes(),
            is_differentiated: self.keeps_derivatives || !self.transformations.is_empty(),
        }
    }

    /// Whether samples have slopes.
    fn slopes(&self) -> Slopes {
        match self.options.derivatives {
            // Neighbours differ in textures, too.
            Derivatives::Quad(_) => Slopes::Omitted,
            _ if self.texture_slopes => Slopes::Given,
            _ => Slopes::Omitted,
        }
    }

    fn pass_options(&self) -> PassOptions {
        PassOptions {
            derivatives: self.options.derivatives,
            at_divergence: self.options.at_divergence,
            merge_demand: self.options.merge_demand,
            output_shadows: self.options.output_derivatives,
            dropped: self.options.dropped_derivatives,
        }
    }

    fn program(
        &self,
        sources: &Sources,
        main: MainSource,
    ) -> Result<(Arc<Program>, Vec<SessionOutput>), Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let origin = Origin::Sources(self.clone(), main);
        let arenas = &origin.compiler().arenas;
        self.arenas.move_to(arenas);
        let made = origin.compile(Some(sources));
        arenas.move_to(&self.arenas);
        let (program, front) = made?;
        Ok((program, front.given))
    }

    /// Lowered module, with its derivatives, to program. Without sources to point into there are no
    /// warnings.
    fn finish(
        &self,
        front: &mut FrontendOutput,
        sources: Option<&Sources>,
        shadows: OutputShadows,
        origin: Origin,
    ) -> Result<Arc<Program>, Vec<Diagnostic>> {
        let mut clock = PhaseClock::start();
        let module = std::mem::take(&mut front.module);
        let mut warnings = std::mem::take(&mut front.warnings);
        let phases = front.phases;
        let origins = self.lost_derivatives(&module);
        warnings.extend(origins.warnings);
        let mut options = self.pass_options();
        let mut of_outputs = 0;
        match shadows {
            OutputShadows::Required => options.output_shadows = true,
            OutputShadows::FromOptions if options.output_shadows => {
                let lost = second_order_warnings(&module, &front.outputs, &origins.second_order);
                of_outputs = lost.len();
                warnings.extend(lost);
            }
            OutputShadows::FromOptions => {}
        }
        let module = match self.expanded(module) {
            Ok(module) => module,
            Err(found) => {
                warnings.extend(found);
                return Err(warnings);
            }
        };
        if sources.is_none() {
            warnings.clear();
            of_outputs = 0;
        }
        let lower = clock.lap();
        let layout = match self.transformations.is_empty() {
            true => self.layout.clone(),
            false => layout_with_seeds(&self.layout, &module),
        };
        match run_backend(module, options) {
            Ok(back) => {
                let phases = Phases {
                    parse: phases.parse,
                    check: phases.check,
                    lower: phases.lower + lower,
                    total: phases.total + lower + back.phases.total,
                    ..back.phases
                };
                let program = Program::new(
                    BackendOutput { phases, ..back },
                    Compilation {
                        layout,
                        sources: sources.cloned(),
                        origin,
                        warnings,
                        of_outputs,
                        second_order: origins.second_order,
                        kept: std::mem::take(&mut front.kept),
                    },
                );
                Ok(Arc::new(program))
            }
            Err(diagnostic) => {
                warnings.push(diagnostic);
                Err(warnings)
            }
        }
    }
}

/// The rule for derivatives of a program's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputShadows {
    /// By the options; then there is a warning for each that counts as 0.
    FromOptions,
    /// They have: those of an expression are shown, unless they would be of second order.
    Required,
}

impl OutputShadows {
    /// The rule for programs of that source. Where a session's derivatives would be of second
    /// order, it shows none, so there is nothing to warn of.
    fn of(main: MainSource) -> OutputShadows {
        match main {
            MainSource::File => OutputShadows::FromOptions,
            MainSource::Expression | MainSource::Entry(_) => OutputShadows::Required,
        }
    }
}
