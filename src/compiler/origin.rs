//! What a program is made of: it can be compiled with more, with a derivative, and written to a
//! file.

use super::frontend::differentiate;
use super::{Compiler, FrontendOutput, MainSource, Options, OutputShadows};
use crate::diagnostics::Diagnostics;
use crate::globals::GlobalsLayout;
use crate::gradient::{Transformation, Transformed, transform};
use crate::group::Group;
use crate::program::{PreparedModule, Program, ProgramFile};
use crate::sources::Sources;
use adumbra_ir::memory::HeapSize;
use adumbra_ir::passes::PassOptions;
use adumbra_ir::{Code, Diagnostic, Module, Span, link};
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

/// The compiler of a program, and what it compiled beside the program's sources.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// The program's sources, by that grammar.
    Sources(Compiler, MainSource),
    /// A group.
    Group(Compiler, Group),
    /// The module of a file, and whether it is as the shader writer meant its derivatives.
    File(Compiler, Arc<Module>, bool),
    /// A module with inputs as constants: the bits of those that are.
    Folded(Compiler, Arc<PreparedModule>, Vec<Option<Box<[u32]>>>),
}

/// A compiler for a module before all passes, with these globals.
fn compiler_of(layout: GlobalsLayout, options: PassOptions) -> Compiler {
    Compiler::new(layout).with_options(Options {
        shader: None,
        derivatives: options.derivatives,
        at_divergence: options.at_divergence,
        merge_demand: options.merge_demand,
        output_derivatives: options.output_shadows,
        dropped_derivatives: options.dropped,
    })
}

impl Origin {
    /// That of a program in a file, which has these globals.
    pub(crate) fn of_file(file: ProgramFile, layout: GlobalsLayout) -> Origin {
        let compiler = compiler_of(layout, file.options);
        Origin::File(compiler, Arc::new(file.module), file.is_differentiable)
    }

    /// That of a program with inputs as constants.
    pub(crate) fn folded(
        prepared: Arc<PreparedModule>,
        constants: Vec<Option<Box<[u32]>>>,
        layout: GlobalsLayout,
    ) -> Origin {
        let compiler = compiler_of(layout, prepared.options);
        Origin::Folded(compiler, prepared, constants)
    }

    /// Whether derivatives can be taken of it.
    pub(crate) fn is_differentiable(&self) -> bool {
        match self {
            Origin::Sources(..) | Origin::Group(..) => true,
            Origin::File(.., is_differentiable) => *is_differentiable,
            Origin::Folded(..) => false,
        }
    }

    /// The program of the same shader, transformed by these, with what they report.
    ///
    /// # Errors
    /// If it cannot be.
    pub(crate) fn transformed(
        &self,
        sources: Option<&Sources>,
        transformations: &[Transformation],
    ) -> Result<(Arc<Program>, Transformed), Diagnostics> {
        let mut origin = self.clone();
        let all = &mut origin.compiler_mut().transformations;
        all.extend_from_slice(transformations);
        let (program, front) = origin.compile(sources)?;
        Ok((program, front.transformed))
    }

    pub(super) fn compiler(&self) -> &Compiler {
        let (Origin::Sources(compiler, _)
        | Origin::Group(compiler, _)
        | Origin::File(compiler, ..)
        | Origin::Folded(compiler, ..)) = self;
        compiler
    }

    fn compiler_mut(&mut self) -> &mut Compiler {
        let (Origin::Sources(compiler, _)
        | Origin::Group(compiler, _)
        | Origin::File(compiler, ..)
        | Origin::Folded(compiler, ..)) = self;
        compiler
    }

    fn output_shadows(&self) -> OutputShadows {
        match self {
            Origin::Sources(compiler, _) if compiler.observes => OutputShadows::Required,
            Origin::Sources(_, main) => OutputShadows::of(*main),
            _ => OutputShadows::FromOptions,
        }
    }

    /// The module as lowered, with the sources that its spans point into, if they are known.
    fn front(
        &self,
        sources: Option<&Sources>,
    ) -> Result<(FrontendOutput, Option<Sources>), Diagnostics> {
        match self {
            Origin::Sources(compiler, main) => {
                let sources = sources.cloned().unwrap_or_else(|| Sources::new("", ""));
                let mut front = compiler.front_of(&sources, *main)?;
                if compiler.observes {
                    front.warnings.clear();
                }
                Ok((front, Some(sources)))
            }
            Origin::Group(compiler, group) => {
                let (front, sources) = compiler.linked(group)?;
                Ok((front, Some(sources)))
            }
            Origin::File(_, module, _) => Ok((FrontendOutput::of((**module).clone()), None)),
            Origin::Folded(_, prepared, constants) => {
                let constants: Vec<_> = constants.iter().map(Option::as_deref).collect();
                let module = link::bind(&prepared.module, &constants);
                Ok((FrontendOutput::of(module), None))
            }
        }
    }

    /// Makes the program, of these sources if it has any. Beside it comes what else the frontend
    /// found.
    ///
    /// # Errors
    /// Every error that was found, with warnings between them.
    pub(crate) fn compile(
        &self,
        sources: Option<&Sources>,
    ) -> Result<(Arc<Program>, FrontendOutput), Diagnostics> {
        let (mut front, sources) = self.front(sources)?;
        let (compiler, shadows) = (self.compiler(), self.output_shadows());
        let made = compiler.derive(&mut front, &mut |_, _| {}).and_then(|()| {
            // A clone holds no arenas.
            let origin = self.clone();
            let program = compiler.finish(&mut front, sources.as_ref(), shadows, origin)?;
            Ok((program, front))
        });
        made.map_err(|found| {
            let sources = sources.unwrap_or_else(|| Sources::new("<program>", ""));
            Diagnostics::new(found, &sources)
        })
    }

    /// The file of its program, which has these sources. It was compiled, so it compiles again.
    pub(crate) fn file(&self, sources: Option<&Sources>) -> ProgramFile {
        let mut origin = self.clone();
        origin.compiler_mut().keeps_derivatives = true;
        let compiler = origin.compiler();
        let (mut front, _) = origin.front(sources).expect("it was compiled");
        let (module, options) = (&mut front.module, &compiler.options);
        transform(module, &compiler.transformations, options).expect("it was compiled");
        let is_derived = module.functions.iter().any(|f| f.recipe.is_some());
        if is_derived {
            differentiate(module, &mut |_, _| {}).expect("it was compiled");
        }
        let mut options = compiler.pass_options();
        options.output_shadows |= self.output_shadows() == OutputShadows::Required;
        ProgramFile {
            module: front.module,
            options,
            is_differentiable: self.is_differentiable() && !is_derived,
        }
    }
}

impl Program {
    /// The options that it was compiled with.
    pub fn options(&self) -> &Options {
        &self.origin().compiler().options
    }

    /// The program of the same shader by other options.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Options, Program, Sources};
    /// let sources = Sources::new("two.adu", "shader two(out float o) { o = 2.0; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let loaded = Program::from_bytecode(&program.to_bytecode()).unwrap();
    /// assert!(!loaded.output_derivatives());
    /// let options = Options { output_derivatives: true, ..loaded.options().clone() };
    /// assert!(loaded.with_options(options)?.output_derivatives());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As those of compilers; if it has inputs folded in, or was loaded and has derivatives of
    /// functions.
    pub fn with_options(&self, options: Options) -> Result<Arc<Program>, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let mut origin = self.differentiable_origin()?.clone();
        origin.compiler_mut().options = options;
        Ok(origin.compile(self.sources())?.0)
    }

    /// The program of the same source without blocks after `[EliminateIfUnused]`, and with all
    /// others: see [`Compiler::without_blocks`].
    ///
    /// # Errors
    /// If the source has no block of one of the numbers, or the program was loaded, has inputs
    /// folded in, or is that of a group (E0574).
    pub fn without_blocks(&self, numbers: &[u32]) -> Result<Arc<Program>, Diagnostics> {
        if let (Origin::Sources(compiler, MainSource::File), Some(sources)) =
            (self.origin(), self.sources())
        {
            return compiler.clone().without_blocks(numbers).compile(sources);
        }
        let refused = Diagnostic::new(
            Code::NoSuchBlock,
            Span::default(),
            "only the program of one source, as it was compiled, has blocks to be left out",
        );
        let none = Sources::new("<program>", "");
        Err(Diagnostics::new(
            vec![refused],
            self.sources().unwrap_or(&none),
        ))
    }
}

impl HeapSize for Origin {
    fn heap_bytes(&self) -> usize {
        match self {
            Origin::Sources(compiler, _) => compiler.heap_bytes(),
            Origin::Group(compiler, group) => compiler.heap_bytes() + group.heap_bytes(),
            Origin::File(compiler, module, _) => compiler.heap_bytes() + module.heap_bytes(),
            Origin::Folded(compiler, prepared, constants) => {
                compiler.heap_bytes() + prepared.heap_bytes() + constants.heap_bytes()
            }
        }
    }
}

impl HeapSize for Compiler {
    fn heap_bytes(&self) -> usize {
        // The registry of closures is the host's; a clone has no arenas.
        let Compiler {
            layout,
            closures: _,
            options,
            arenas: _,
            observes: _,
            all_marked: _,
            texture_slopes: _,
            keeps_derivatives: _,
            eliminated,
            transformations,
        } = self;
        layout.heap_bytes()
            + options.shader.heap_bytes()
            + eliminated.heap_bytes()
            + transformations.heap_bytes()
    }
}
