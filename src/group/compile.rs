//! Compilation of a group: each distinct shader through the frontend once, then the linker, then
//! the passes and lowering of any program.

use super::{Group, plan};
use crate::compiler::{Compiler, FrontendOutput, MainSource, Origin};
use crate::diagnostics::Diagnostics;
use crate::program::Program;
use crate::sources::Sources;
use crate::stats::{PhaseClock, Phases};
use adumbra_ir::limits::{MAX_ARRAY_ELEMENTS, MAX_FUNCTIONS};
use adumbra_ir::link::{self, LinkUnit, LinkedInterface, link};
use adumbra_ir::passes::FunctionReport;
use adumbra_ir::{Code, Diagnostic, Module, Span};
use adumbra_vm::FloatEnvironment;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of sources of a group, its own description included. Units that share theirs
/// count them once.
pub const MAX_GROUP_SOURCES: usize = 1 << 15;

/// The maximum number of instructions that the shaders of a group may have together, before any
/// optimisation; a shader counts once for each unit that it is.
pub const MAX_GROUP_INSTRUCTIONS: u64 = 1 << 21;

impl Compiler {
    /// Makes a program of a group. [`Options::shader`](crate::Options::shader) means nothing
    /// here: units say which shaders they are.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, group::Group};
    /// let twice = Sources::new("twice.adu", "shader twice(float x, out float y) { y = 2 * x; }");
    /// let mut group = Group::new();
    /// group.unit("a", &twice, None).connect(("a", "y"), ("b", "x"));
    /// let diagnostics = Compiler::new(GlobalsLayout::new()).compile_group(&group).unwrap_err();
    /// assert_eq!(diagnostics.diagnostics[0].message, "there is no unit `b`");
    /// ```
    ///
    /// # Errors
    /// All errors of the units' sources and of their wires, with warnings between.
    pub fn compile_group(&self, group: &Group) -> Result<Arc<Program>, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let origin = Origin::Group(self.clone(), group.clone());
        Ok(origin.compile(None)?.0)
    }

    /// Every error and warning of a group, with the sources that they point into.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, group::Group};
    /// let diagnostics = Compiler::new(GlobalsLayout::new()).check_group(&Group::new());
    /// assert_eq!(diagnostics.diagnostics[0].code.to_string(), "E0531");
    /// ```
    pub fn check_group(&self, group: &Group) -> Diagnostics {
        self.check_group_timed(group).0
    }

    /// As [`check_group`](Compiler::check_group), with the time that it took to parse and check the
    /// units, and to lower and link them; zero for a group with errors.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, group::Group};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let mut group = Group::new();
    /// group.unit("a", &sources, None).expose_output("y", ("a", "y"));
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// let (diagnostics, phases) = compiler.check_group_timed(&group);
    /// assert!(diagnostics.diagnostics.is_empty() && phases.total > 0.0);
    /// ```
    pub fn check_group_timed(&self, group: &Group) -> (Diagnostics, Phases) {
        let _mode = FloatEnvironment::enter();
        match self.derived_group(group) {
            Ok((front, sources)) => {
                let mut diagnostics = front.warnings;
                diagnostics.extend(self.derivative_diagnostics(&front.module));
                let diagnostics = Diagnostics {
                    diagnostics,
                    sources,
                };
                (diagnostics, front.phases)
            }
            Err(diagnostics) => (diagnostics, Phases::default()),
        }
    }

    /// As [`lowered`](Compiler::lowered), of a group: its units linked.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, group::Group};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let mut group = Group::new();
    /// group.unit("a", &sources, None).expose_output("y", ("a", "y"));
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// assert_eq!(compiler.lowered_group(&group)?.outputs[0].name, "y");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`compile_group`](Compiler::compile_group).
    pub fn lowered_group(&self, group: &Group) -> Result<Module, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        Ok(self.derived_group(group)?.0.module)
    }

    /// As [`lineage`](Compiler::lineage), of a group.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, group::Group};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let mut group = Group::new();
    /// group.unit("a", &sources, None).expose_output("y", ("a", "y"));
    /// let compiler = Compiler::new(GlobalsLayout::new());
    /// assert_eq!(compiler.lineage_group(&group)?[0].function, "group");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`compile_group`](Compiler::compile_group).
    pub fn lineage_group(&self, group: &Group) -> Result<Vec<FunctionReport>, Diagnostics> {
        let _mode = FloatEnvironment::enter();
        Ok(self.lineage_of(self.lowered_group(group)?))
    }

    /// The group as one module before all passes, with all its sources.
    pub(crate) fn linked(&self, group: &Group) -> Result<(FrontendOutput, Sources), Diagnostics> {
        let mut sources = Sources::new(group.name.clone(), group.text.clone());
        let mut fronts = Fronts::default();
        for unit in &group.units {
            if let Err(diagnostic) = fronts.add(self, unit, &mut sources) {
                fronts.found.push(diagnostic);
                break;
            }
        }
        let Fronts {
            modules,
            of_unit,
            mut found,
            mut phases,
            ..
        } = fronts;
        // Shaders of one source share its diagnostics.
        found.sort_by_key(|found| (found.span.file, found.span.start, found.code));
        found.dedup();
        let fail = |mut found: Vec<Diagnostic>, more: Vec<Diagnostic>| {
            found.extend(more);
            Err(Diagnostics::new(found, &sources))
        };
        if of_unit.len() < group.units.len() {
            return fail(found, Vec::new());
        }

        let mut clock = PhaseClock::start();
        let of_unit: Vec<Option<&Module>> =
            of_unit.iter().map(|&at| modules[at].as_ref()).collect();
        let plan = match plan::plan(group, &of_unit, &sources) {
            Ok(plan) if !found.iter().any(Diagnostic::is_error) => plan,
            Ok(_) => return fail(found, Vec::new()),
            Err(more) => return fail(found, more),
        };
        let units: Vec<LinkUnit<'_>> = (plan.units.iter())
            .map(|unit| LinkUnit {
                name: Some(&group.units[unit.number].name),
                module: of_unit[unit.number].expect("no unit has an error"),
                inputs: unit.feeds.clone(),
                textures: &unit.textures,
            })
            .collect();
        if let Err(diagnostic) = within_limits(&units) {
            return fail(found, vec![diagnostic]);
        }
        // Every shader has the host's globals, also where no unit is left in the whole.
        let globals = of_unit.iter().flatten().next();
        let shell = LinkedInterface {
            name: "group".to_owned(),
            span: Span::default(),
            globals: globals.map_or_else(Vec::new, |module| module.globals.clone()),
            inputs: plan.inputs,
            outputs: plan.outputs,
            results: plan.results,
        };
        let module = link(&units, shell);
        phases.lower += clock.lap();
        phases.total += clock.total();
        let front = FrontendOutput {
            warnings: found,
            phases,
            ..FrontendOutput::of(module)
        };
        Ok((front, sources))
    }

    /// [`linked`](Compiler::linked), with the derivatives.
    fn derived_group(&self, group: &Group) -> Result<(FrontendOutput, Sources), Diagnostics> {
        let (mut front, sources) = self.linked(group)?;
        match self.derive(&mut front, &mut |_, _| {}) {
            Ok(()) => Ok((front, sources)),
            Err(found) => Err(Diagnostics::new(found, &sources)),
        }
    }
}

/// The distinct shaders, and the shader of each unit.
#[derive(Default)]
struct Fronts<'g> {
    /// `None` where there are errors.
    modules: Vec<Option<Module>>,
    of_unit: Vec<usize>,
    found: Vec<Diagnostic>,
    phases: Phases,
    files: HashMap<Vec<(*const u8, *const u8)>, adumbra_ir::FileId>,
    known: HashMap<(adumbra_ir::FileId, Option<&'g str>), usize>,
}

impl<'g> Fronts<'g> {
    /// Takes a unit's shader through the frontend, unless another unit's is the same.
    fn add(
        &mut self,
        compiler: &Compiler,
        unit: &'g super::GroupUnit,
        sources: &mut Sources,
    ) -> Result<(), Diagnostic> {
        let count = unit.sources.iter().len();
        let first = match self.files.entry(unit.sources.identity()) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(new) => {
                if sources.iter().len() + count > MAX_GROUP_SOURCES {
                    return Err(Diagnostic::new(
                        Code::GroupTooLarge,
                        unit.span,
                        format!("with the unit `{}` the group has too many sources", unit.name),
                    )
                    .help(format!(
                        "{MAX_GROUP_SOURCES} is the limit; units whose `Sources` are clones of each other share theirs"
                    )));
                }
                *new.insert(sources.append(&unit.sources))
            }
        };
        let shader = unit.shader.as_deref();
        if let Some(&known) = self.known.get(&(first, shader)) {
            self.of_unit.push(known);
            return Ok(());
        }
        let unit_sources = sources.slice(first, count);
        let front = compiler.run_frontend(unit_sources, MainSource::File, shader);
        let module = match front {
            Ok(front) => {
                self.found.extend(front.warnings);
                self.phases = self.phases + front.phases;
                Some(front.module)
            }
            Err(mut found) => {
                for diagnostic in &mut found {
                    if matches!(diagnostic.code, Code::ShaderChoice | Code::UnknownShader) {
                        diagnostic.message =
                            format!("unit `{}`: {}", unit.name, diagnostic.message);
                    }
                    if diagnostic.code == Code::ShaderChoice {
                        diagnostic.help = Some("say which of them the unit is".to_owned());
                    }
                }
                self.found.extend(found);
                None
            }
        };
        self.known.insert((first, shader), self.modules.len());
        self.of_unit.push(self.modules.len());
        self.modules.push(module);
        Ok(())
    }
}

fn within_limits(units: &[LinkUnit<'_>]) -> Result<(), Diagnostic> {
    let too_large = |what: &str, count: u64, most: u64| {
        let message = format!("the shaders of the group have {count} {what} together");
        Diagnostic::new(Code::GroupTooLarge, Span::default(), message).help(format!(
            "{most} is the limit, counted before any optimisation; split the group"
        ))
    };
    let size = link::linked_size(units);
    if size.instructions > MAX_GROUP_INSTRUCTIONS {
        let most = MAX_GROUP_INSTRUCTIONS;
        return Err(too_large("instructions", size.instructions, most));
    }
    if size.functions > MAX_FUNCTIONS {
        let most = MAX_FUNCTIONS as u64;
        return Err(too_large("functions", size.functions as u64, most));
    }
    let arrays = units.iter().flat_map(|unit| &unit.module.entry().arrays);
    let elements: u64 = arrays.map(|array| u64::from(array.len)).sum();
    if elements > MAX_ARRAY_ELEMENTS {
        let message =
            format!("the arrays of the group's shaders have {elements} elements together");
        return Err(
            Diagnostic::new(Code::TooManyElements, Span::default(), message).help(format!(
                "{MAX_ARRAY_ELEMENTS} is the limit; put large ones into functions, which give them back"
            )),
        );
    }
    Ok(())
}
