//! Lowering: from the typed tree to IR.
//!
//! It assumes a program without errors. Vectors and structs become scalars in SSA form, in the
//! order of the types' [leaves](crate::check::types). Arrays become memory, one per scalar leaf.
//! Control flow stays structured, so SSA needs no dominance frontiers: [`ssa`] logs the changes of
//! each arm of a branch, and the checker has listed those of each loop. Functions are lowered when
//! a call first reaches them; the entry has number 0.

mod access;
mod branch;
mod call;
mod derivative;
mod expression;
mod function;
mod initialise;
mod observe;
mod ssa;
mod statement;
mod switch;

use crate::check::typed_tree::{
    FunctionId, TypedBuffer, TypedFunction, TypedLoop, TypedProgram, TypedTexture,
};
use crate::check::types::{TypeId, TypeKind};
use crate::interner::{Interner, Symbol};
use crate::limits::MAX_BRANCH_ARGUMENTS;
use adumbra_ir::derivative::{DerivativeHint, HintKind};
use adumbra_ir::limits::{MAX_ARRAY_ELEMENTS, MAX_FUNCTIONS};
use adumbra_ir::metadata::{Metadata, MetadataValue};
use adumbra_ir::module::{
    Buffer, BufferId, ClosureId, ClosureShape, DifferentiationMode, FuncId, Global, Input,
    MessageId, Module, NameId, Output, ResourceId, Slopes, Texture, TextureId,
};
use adumbra_ir::{Code, Diagnostic, Span};
use derivative::RecipeKey;
pub(crate) use derivative::{SignatureSlot, signature_slots};
use observe::Observer;
pub use observe::{
    ConditionKind, MAX_OBSERVED_ELEMENTS, MAX_OBSERVED_SCALARS, Observation, ObservedArguments,
    ObservedEvent, ObservedShape,
};
use std::collections::HashMap;

/// What lowering is for, beside the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowerOptions {
    /// Whether samples have slopes, by which results of textures have derivatives.
    pub slopes: Slopes,
    /// Whether the entry is differentiated: then custom derivatives and `no_diff` count, although
    /// nothing in the program has a derivative.
    pub is_differentiated: bool,
}

/// Lowers the entry and the functions that it reaches. No diagnostic of the program may be an
/// error.
///
/// # Errors
/// [`Code::TooManyElements`] where a function needs more array elements than the IR allows,
/// [`Code::ProgramTooLarge`] beyond [`MAX_BRANCH_ARGUMENTS`] and [`MAX_FUNCTIONS`].
pub fn lower(
    program: &TypedProgram,
    interner: &Interner,
    entry: FunctionId,
    options: LowerOptions,
) -> Result<Module, Diagnostic> {
    Ok(lower_with(program, interner, entry, options, None)?.0)
}

/// Lowers like [`lower`], with messages for the debugger: what each variable becomes, and which way
/// is taken. Results and steps of the program are the same. `with_shadows` adds derivatives to the
/// values. The list says what each message of the module means; `None` for those of the source
/// itself.
///
/// # Errors
/// As for [`lower`].
pub fn lower_observed(
    program: &TypedProgram,
    interner: &Interner,
    entry: FunctionId,
    options: LowerOptions,
    with_shadows: bool,
) -> Result<(Module, Vec<Option<Observation>>), Diagnostic> {
    let observer = Observer::new(with_shadows);
    lower_with(program, interner, entry, options, Some(observer))
}

/// Where a function of a module comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoweredFrom {
    /// A function of the program.
    Function(FunctionId),
    /// A derivative of one.
    Derivative(DifferentiationMode, FunctionId),
    /// A custom derivative.
    Rule,
}

/// Functions without an entry, for analyses.
pub(crate) struct LoweredFunctions {
    /// The module.
    pub(crate) module: Module,
    /// By function.
    pub(crate) origins: Vec<LoweredFrom>,
    /// What is under `no_diff` or in `detach(…)`.
    pub(crate) detached: Vec<Span>,
}

/// Lowers these functions, and those that they reach.
///
/// # Errors
/// As for [`lower`].
pub(crate) fn lower_functions(
    program: &TypedProgram,
    interner: &Interner,
    functions: impl IntoIterator<Item = FunctionId>,
    slopes: Slopes,
) -> Result<LoweredFunctions, Diagnostic> {
    let options = LowerOptions {
        slopes,
        is_differentiated: true,
    };
    let mut lowering = ModuleLowering::new(program, interner, options, None);
    lowering.has_entry = false;
    for function in functions {
        lowering.reach(function);
    }
    lowering.work_off()?;
    let origin = |work: &Work| match *work {
        Work::Function(function) => LoweredFrom::Function(function),
        Work::Recipe((mode, of, _)) => LoweredFrom::Derivative(mode, of),
        Work::Adapter(..) => LoweredFrom::Rule,
    };
    Ok(LoweredFunctions {
        origins: lowering.queue.iter().map(origin).collect(),
        module: lowering.module,
        detached: lowering.detached,
    })
}

fn lower_with(
    program: &TypedProgram,
    interner: &Interner,
    entry: FunctionId,
    options: LowerOptions,
    watch: Option<Observer>,
) -> Result<(Module, Vec<Option<Observation>>), Diagnostic> {
    let mut lowering = ModuleLowering::new(program, interner, options, watch);
    lowering.reach(entry);
    lowering.work_off()?;
    let function = &program.functions[entry.0 as usize];
    let types = &program.types;
    for param in function.params {
        let name = interner.name(param.name).to_owned();
        let ty = types.host_type(param.ty, interner);
        let metadata = host_metadata(interner, param.metadata);
        match param.direction {
            crate::ast::ParamDirection::In => lowering.module.inputs.push(Input {
                default: match param.default {
                    Some(default) => types.fold(default).unwrap_or_default().into_vec(),
                    None => vec![0; ty.scalar_count()],
                },
                name,
                ty,
                metadata,
            }),
            _ => (lowering.module.outputs).push(Output { name, ty, metadata }),
        }
    }
    let global = |&(name, ty): &(Symbol, TypeId)| Global {
        name: interner.name(name).to_owned(),
        ty: types.host_type(ty, interner),
    };
    lowering.module.globals = program.globals.iter().map(global).collect();
    let watched = lowering.observer.map_or_else(Vec::new, Observer::finish);
    Ok((lowering.module, watched))
}

/// Metadata with strings of its own.
fn host_metadata(
    interner: &Interner,
    metadata: &[(Symbol, MetadataValue<Symbol>)],
) -> Vec<Metadata> {
    let entry = |&(name, value): &(Symbol, MetadataValue<Symbol>)| Metadata {
        name: interner.name(name).to_owned(),
        value: value.map_string(|text| interner.name(text).to_owned()),
    };
    metadata.iter().map(entry).collect()
}

/// A function that is yet to be lowered.
#[derive(Clone, Debug)]
enum Work {
    /// One of the program.
    Function(FunctionId),
    /// A derived one.
    Recipe(RecipeKey),
    /// A custom derivative of the first function, given by the second.
    Adapter(DifferentiationMode, FunctionId, FunctionId),
}

/// The state shared by all functions of the module being made.
struct ModuleLowering<'p, 'a> {
    program: &'p TypedProgram<'a>,
    interner: &'p Interner,
    /// Whether samples have slopes, but those of textures that are marked.
    slopes: Slopes,
    module: Module,
    /// The number of each function that is reached.
    reached: Vec<Option<FuncId>>,
    queue: Vec<Work>,
    /// Whether anything is differentiated; if not, nothing needs to be a constant for derivatives.
    has_derivatives: bool,
    /// Whether the first function is a shader.
    has_entry: bool,
    /// What is under `no_diff` or in `detach(…)`.
    detached: Vec<Span>,
    /// The derived functions that are reached.
    recipes: HashMap<RecipeKey, FuncId>,
    textures: Vec<Option<TextureId>>,
    buffers: Vec<Option<BufferId>>,
    resources: Vec<Option<ResourceId>>,
    closures: Vec<Option<ClosureId>>,
    messages: Vec<Option<MessageId>>,
    /// The names of scalar variables, by symbol.
    scalar_names: Vec<Option<NameId>>,
    /// The first name of the leaves of other variables.
    leaf_names: HashMap<(Symbol, TypeId), NameId>,
    /// The number of values that exits of loops and the like pass, so far.
    branch_arguments: u64,
    /// The observer, if a point is to be observed.
    observer: Option<Observer>,
}

impl<'p, 'a> ModuleLowering<'p, 'a> {
    fn new(
        program: &'p TypedProgram<'a>,
        interner: &'p Interner,
        options: LowerOptions,
        watch: Option<Observer>,
    ) -> ModuleLowering<'p, 'a> {
        ModuleLowering {
            program,
            interner,
            slopes: options.slopes,
            module: Module::default(),
            reached: vec![None; program.functions.len()],
            queue: Vec::new(),
            has_derivatives: options.is_differentiated
                || program.functions.iter().any(|f| f.derived.is_some()),
            has_entry: true,
            detached: Vec::new(),
            recipes: HashMap::new(),
            textures: vec![None; program.textures.len()],
            buffers: vec![None; program.buffers.len()],
            resources: vec![None; program.resources.len()],
            closures: vec![None; program.closures.len()],
            messages: vec![None; program.messages.len()],
            scalar_names: vec![None; interner.len()],
            leaf_names: HashMap::new(),
            branch_arguments: 0,
            observer: watch,
        }
    }

    /// The number of a function in the module; queues it for lowering if it is new.
    fn reach(&mut self, function: FunctionId) -> FuncId {
        let next = FuncId(self.queue.len() as u32);
        let number = &mut self.reached[function.0 as usize];
        *number.get_or_insert_with(|| {
            self.queue.push(Work::Function(function));
            next
        })
    }

    fn work_off(&mut self) -> Result<(), Diagnostic> {
        let mut next = 0;
        while let Some(work) = self.queue.get(next).cloned() {
            let function = match work {
                Work::Function(function) => {
                    function::lower(self, function, self.has_entry && next == 0)
                }
                Work::Recipe(key) => self.derived_function(key),
                Work::Adapter(mode, of, rule) => derivative::adapter(self, mode, of, rule),
            };
            let elements = function.arrays.iter().map(|array| u64::from(array.len));
            let elements: u64 = elements.sum();
            if elements > MAX_ARRAY_ELEMENTS {
                return Err(Diagnostic::new(
                    Code::TooManyElements,
                    function.span,
                    format!(
                        "the arrays of `{}` have {elements} elements together",
                        function.name
                    ),
                )
                .here("too many array elements")
                .help(format!("{MAX_ARRAY_ELEMENTS} is the limit")));
            }
            if self.branch_arguments > MAX_BRANCH_ARGUMENTS {
                return Err(Diagnostic::new(
                    Code::ProgramTooLarge,
                    function.span,
                    format!(
                        "with `{}`, loops and conditions pass too many values",
                        function.name
                    ),
                )
                .here("too many ways out of statements that change too many variables")
                .help(format!(
                    "{MAX_BRANCH_ARGUMENTS} is the limit: put variables into arrays, or cases into functions of their own"
                )));
            }
            if self.queue.len() > MAX_FUNCTIONS {
                return Err(Diagnostic::new(
                    Code::ProgramTooLarge,
                    function.span,
                    format!(
                        "with those that `{}` calls, there are too many functions",
                        function.name
                    ),
                )
                .here("too many functions")
                .help(format!(
                    "{MAX_FUNCTIONS} is the limit, derivatives included"
                )));
            }
            self.module.functions.push(function);
            next += 1;
        }
        Ok(())
    }

    /// Takes over what is said of how a function is differentiated.
    fn hint_function(&mut self, function: &TypedFunction<'_>) {
        if let Some((keeps, about, span)) = function.keeps {
            self.hint(about, span, preference(keeps));
        }
    }

    /// Takes over what is said of how a loop is differentiated.
    fn hint_loop(&mut self, statement: &TypedLoop<'_>) {
        let hints = statement.hints;
        let about = statement.span;
        if let Some((count, span)) = hints.max_iterations {
            self.hint(about, span, HintKind::MaxIterations(count));
        }
        if let Some((count, span)) = hints.unrolled {
            let kind = count.map_or(HintKind::Unroll, HintKind::UnrollBlocks);
            self.hint(about, span, kind);
        }
        if let Some((keeps, span)) = hints.keeps {
            self.hint(about, span, preference(keeps));
        }
    }

    fn hint(&mut self, about: Span, span: Span, kind: HintKind) {
        let hint = DerivativeHint { about, span, kind };
        self.module.hints.0.push(hint);
    }

    /// Whether samples of a texture have slopes.
    fn slopes_of(&self, texture: u32) -> Slopes {
        match self.program.textures[texture as usize].has_slopes {
            true => Slopes::Given,
            false => self.slopes,
        }
    }

    fn texture(&mut self, number: u32) -> TextureId {
        let textures = &mut self.module.textures;
        *self.textures[number as usize].get_or_insert_with(|| {
            let TypedTexture { name, metadata, .. } = self.program.textures[number as usize];
            textures.push(Texture {
                name: self.interner.name(name.symbol).to_owned(),
                metadata: host_metadata(self.interner, metadata),
                span: name.span,
            });
            TextureId(textures.len() as u32 - 1)
        })
    }

    fn buffer(&mut self, number: u32) -> BufferId {
        let buffers = &mut self.module.buffers;
        *self.buffers[number as usize].get_or_insert_with(|| {
            let TypedBuffer {
                name,
                element,
                metadata,
            } = self.program.buffers[number as usize];
            buffers.push(Buffer {
                name: self.interner.name(name.symbol).to_owned(),
                element: self.program.types.host_type(element, self.interner),
                sum_of: None,
                metadata: host_metadata(self.interner, metadata),
                span: name.span,
            });
            BufferId(buffers.len() as u32 - 1)
        })
    }

    fn resource(&mut self, number: u32) -> ResourceId {
        let resources = &mut self.module.resources;
        *self.resources[number as usize].get_or_insert_with(|| {
            let name = self.program.resources[number as usize];
            resources.push(self.interner.name(name).to_owned());
            ResourceId(resources.len() as u32 - 1)
        })
    }

    fn closure(&mut self, number: u32) -> ClosureId {
        let closures = &mut self.module.closures;
        *self.closures[number as usize].get_or_insert_with(|| {
            let (name, params) = &self.program.closures[number as usize];
            let param = |&ty: &TypeId| self.program.types.host_type(ty, self.interner);
            closures.push(ClosureShape {
                name: self.interner.name(*name).to_owned(),
                params: params.iter().map(param).collect(),
            });
            ClosureId(closures.len() as u32 - 1)
        })
    }

    fn message(&mut self, number: u32) -> MessageId {
        let messages = &mut self.module.messages;
        *self.messages[number as usize].get_or_insert_with(|| {
            messages.push(self.program.messages[number as usize].clone());
            MessageId(messages.len() as u32 - 1)
        })
    }

    fn name(&mut self, text: String) -> NameId {
        self.module.names.push(text);
        NameId(self.module.names.len() as u32 - 1)
    }

    /// The name of a variable's first leaf; the others' follow it.
    fn leaf_names(&mut self, symbol: Symbol, ty: TypeId) -> NameId {
        if let TypeKind::Scalar(_) = self.program.types.kind(ty) {
            if let Some(known) = self.scalar_names[symbol.0 as usize] {
                return known;
            }
            let name = self.name(self.interner.name(symbol).to_owned());
            self.scalar_names[symbol.0 as usize] = Some(name);
            return name;
        }
        if let Some(&known) = self.leaf_names.get(&(symbol, ty)) {
            return known;
        }
        let first = NameId(self.module.names.len() as u32);
        self.add_leaf_names(self.interner.name(symbol).to_owned(), ty);
        self.leaf_names.insert((symbol, ty), first);
        first
    }

    fn add_leaf_names(&mut self, name: String, ty: TypeId) {
        let program = self.program;
        match program.types.kind(ty) {
            TypeKind::Vector(width) => {
                for component in &["x", "y", "z", "w"][..width as usize] {
                    self.name(format!("{name}.{component}"));
                }
            }
            TypeKind::Matrix(size) => {
                for (row, column) in (0..size).flat_map(|r| (0..size).map(move |c| (r, c))) {
                    self.name(format!("{name}[{row}][{column}]"));
                }
            }
            TypeKind::Struct(number) => {
                for member in program.types.members(number) {
                    let member_name = self.interner.name(member.name);
                    self.add_leaf_names(format!("{name}.{member_name}"), member.ty);
                }
            }
            TypeKind::Array(element, _) => self.add_leaf_names(name, element),
            TypeKind::RunTimeArray(element) => {
                self.name(format!("{name}.length"));
                self.add_leaf_names(name, element);
            }
            TypeKind::Scalar(_) => {
                self.name(name);
            }
            TypeKind::Error | TypeKind::Void | TypeKind::Texture => {}
        }
    }
}

/// `[PreferCheckpoint]` or `[PreferRecompute]`.
fn preference(keeps: bool) -> HintKind {
    match keeps {
        true => HintKind::Checkpoint,
        false => HintKind::Recompute,
    }
}
