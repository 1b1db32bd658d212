//! Compiled shaders, and instances with their inputs set: what threads share.

pub use crate::interface::JsonInterface;
pub use adumbra_ir::buffer::{BufferNumbers, MAX_BUFFER_NUMBERS, MAX_SUM_NUMBERS};
pub use adumbra_ir::metadata::{Metadata, MetadataValue};
pub use adumbra_ir::module::{Buffer, Input, Output, Texture};

use crate::compiler::{BackendOutput, Origin};
use crate::globals::GlobalsLayout;
use crate::native::{self, NativeCompiler};
use crate::sources::Sources;
use crate::stats::{MemoryStats, NativeStats, Phases, Stats, micros};
use crate::tape_stats::TapeStats;
use crate::tier::shared::TierState;
use adumbra_ir::memory::{ARC_OVERHEAD, HeapSize};
use adumbra_ir::passes::{self, FunctionReport, KeptRecord, PassOptions};
use adumbra_ir::quad::Quad;
use adumbra_ir::{Diagnostic, Module};
#[cfg(feature = "batch")]
use adumbra_vm::LoadedCode;
use adumbra_vm::bytecode::{Interface, Opcode};
use adumbra_vm::native::NativeBackend;
use adumbra_vm::{Bytecode, FloatEnvironment};
use std::sync::{Arc, OnceLock};

mod file;
mod fold;
mod instance;
mod interface;

pub use file::MAX_FILE_BYTES;
pub(crate) use file::ProgramFile;
pub use fold::FoldError;
pub use instance::Instance;

/// A compiled shader, or group of shaders: immutable, shared by `Arc` between threads and
/// evaluators.
#[derive(Debug)]
pub struct Program {
    /// The module that the reference engine walks.
    module: Module,
    bytecode: Arc<Bytecode>,
    layout: GlobalsLayout,
    /// A program that was loaded has none.
    sources: Option<Sources>,
    origin: Box<Origin>,
    warnings: Vec<Diagnostic>,
    /// How many of them, the last ones, say that an output's own derivative is of second order: one
    /// for each such output, in order.
    of_outputs: usize,
    /// Per scalar of the outputs, whether it depends on a derivative.
    second_order: Vec<bool>,
    /// The module that folding starts from; `None` without inputs.
    prepared: Option<Arc<PreparedModule>>,
    /// What reverse mode keeps; empty for a program that was loaded.
    kept: Vec<KeptRecord>,
    phases: Phases,
    /// Its machine code, once it is first needed; `None` if there is none for this processor.
    native: OnceLock<Option<Arc<NativeCompiler>>>,
    /// What batch machines of it were loaded to.
    #[cfg(feature = "batch")]
    loaded_code: Arc<LoadedCode>,
    /// The state of its tiers, which evaluators share.
    pub(crate) tiers: Arc<TierState>,
}

/// A module before shadows, and the options of the passes.
#[derive(Debug)]
pub(crate) struct PreparedModule {
    pub(crate) module: Module,
    pub(crate) options: PassOptions,
}

impl HeapSize for PreparedModule {
    fn heap_bytes(&self) -> usize {
        self.module.heap_bytes()
    }
}

/// What a program has of its compilation beside its code.
#[derive(Debug)]
pub(crate) struct Compilation {
    pub(crate) layout: GlobalsLayout,
    pub(crate) sources: Option<Sources>,
    pub(crate) origin: Origin,
    pub(crate) warnings: Vec<Diagnostic>,
    pub(crate) of_outputs: usize,
    pub(crate) second_order: Vec<bool>,
    pub(crate) kept: Vec<KeptRecord>,
}

impl Program {
    pub(crate) fn new(back: BackendOutput, of: Compilation) -> Program {
        let bytecode = Arc::new(back.bytecode);
        Program {
            module: back.module,
            #[cfg(feature = "batch")]
            loaded_code: Arc::new(LoadedCode::new(&bytecode)),
            bytecode,
            layout: of.layout,
            sources: of.sources,
            origin: Box::new(of.origin),
            warnings: of.warnings,
            of_outputs: of.of_outputs,
            second_order: of.second_order,
            prepared: back.prepared.map(Arc::new),
            kept: of.kept,
            phases: back.phases,
            native: OnceLock::new(),
            tiers: Arc::default(),
        }
    }

    /// Whether a file is a serialised program, perhaps a damaged one.
    pub fn is_bytecode(bytes: &[u8]) -> bool {
        bytes.starts_with(&file::MAGIC)
    }

    /// Reads a serialised program, and makes its bytecode. Any bytes may be passed. It is the
    /// program that was written, but for its sources and warnings.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Program, Sources};
    /// let sources = Sources::new("one.adu", "shader one(out int o) { o = 1; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let bytes = program.to_bytecode();
    /// assert!(Program::is_bytecode(&bytes));
    /// assert_eq!(Program::from_bytecode(&bytes).unwrap().outputs()[0].name, "o");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are invalid.
    pub fn from_bytecode(bytes: &[u8]) -> Result<Arc<Program>, Diagnostic> {
        let _mode = FloatEnvironment::enter();
        let file = ProgramFile::from_bytes(bytes)?;
        let layout = GlobalsLayout::of_program(&file.module.globals).map_err(file::invalid)?;
        match Origin::of_file(file, layout).compile(None) {
            Ok((program, _)) => Ok(program),
            Err(mut refused) => Err(refused.diagnostics.remove(0)),
        }
    }

    /// The serialised form: versioned, checksummed, the same on every machine.
    pub fn to_bytecode(&self) -> Vec<u8> {
        let _mode = FloatEnvironment::enter();
        self.origin.file(self.sources()).to_bytes()
    }

    /// The sources that it was compiled from, which spans of warnings and faults point into. `None`
    /// for a program that was loaded.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.as_ref()
    }

    /// How it was compiled.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The [`warnings`](Program::warnings) for a host that reads one output alone: none is about
    /// the derivatives of the others.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Options, Sources};
    /// let source = "shader s(out float a, out float slope) { a = global_value<x>; slope = ddx(a); }";
    /// let layout = GlobalsLayout::new().with("x", adumbra::Type::FLOAT)?;
    /// let options = Options { output_derivatives: true, ..Options::default() };
    /// let compiler = Compiler::new(layout).with_options(options);
    /// let program = compiler.compile(&Sources::new("s.adu", source))?;
    /// assert_eq!(program.warnings().len(), 1);
    /// assert_eq!(program.warnings_for("slope").len(), 1);
    /// assert_eq!(program.warnings_for("a").len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings_for(&self, output: &str) -> Vec<Diagnostic> {
        let (all, of_outputs) = self
            .warnings
            .split_at(self.warnings.len() - self.of_outputs);
        let mut rest = &self.second_order[..];
        let lost = self.outputs().iter().filter(|output| {
            let (own, others) = rest.split_at(output.ty.scalar_count().min(rest.len()));
            rest = others;
            own.contains(&true)
        });
        let own = lost.zip(of_outputs).filter(|(lost, _)| lost.name == output);
        let own = own.map(|(_, warning)| warning);
        all.iter().chain(own).cloned().collect()
    }

    /// The rule by which points take their derivatives from their neighbours, if they are evaluated
    /// in quads.
    ///
    /// ```
    /// use adumbra::{Compiler, Derivatives, GlobalsLayout, Options, Sources, derivatives::Quad};
    /// let options = Options { derivatives: Derivatives::Quad(Quad::Fine), ..Options::default() };
    /// let compiler = Compiler::new(GlobalsLayout::new()).with_options(options);
    /// let program = compiler.compile(&Sources::new("one.adu", "shader one(out int o) { o = 1; }"))?;
    /// assert_eq!(program.quad(), Some(Quad::Fine));
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn quad(&self) -> Option<Quad> {
        self.bytecode.quad()
    }

    /// The globals that it was compiled for.
    pub fn globals(&self) -> &GlobalsLayout {
        &self.layout
    }

    /// Whether anything of a global is read. A host need not compute one that is not read.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let source = "shader s(out float o) { float3 p = global_value<position>; o = global_value<uvw>.x; }";
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("s.adu", source))?;
    /// let read = ["uvw", "position", "nosuch"].map(|name| program.reads(name));
    /// assert_eq!(read, [true, false, false]);
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn reads(&self, global: &str) -> bool {
        let Some(member) = self.layout.member(global) else {
            return false;
        };
        let words = member.part(0);
        let mut code = self.bytecode.code().iter();
        code.any(|i| {
            matches!(i.opcode, Opcode::Global(_)) && words.contains(&(i.words[1] as usize))
        })
    }

    /// Bytes that it takes in memory, its own included: the intermediate representation, bytecode,
    /// sources, warnings. Values that it shares with others by `Arc`, such as the layout of the
    /// globals, count in proportion.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, GlobalsLayout, Instance, Sources};
    /// let sources = Sources::new("one.adu", "shader one(int n, out int o) { o = n; }");
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&sources)?;
    /// let material = Instance::new(&program);
    /// // One for all materials and threads; one for each material; one for each thread and material.
    /// let bytes = [program.memory(), material.memory(), Evaluator::new(&material).memory()];
    /// assert!(bytes.iter().all(|&n| n > 0 && n < 20_000), "{bytes:?}");
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn memory(&self) -> usize {
        // Each field is named, so that the compiler reports a new one.
        let Program {
            module,
            bytecode,
            layout,
            sources,
            origin,
            warnings,
            of_outputs: _,
            second_order,
            prepared,
            kept,
            phases: _,
            native,
            #[cfg(feature = "batch")]
            loaded_code,
            tiers,
        } = self;
        // Evaluators hold the bytecode, too, but it is the program's.
        let bytecode = ARC_OVERHEAD + size_of::<Bytecode>() + (**bytecode).heap_bytes();
        let module = module.heap_bytes() + prepared.heap_bytes();
        let rest = layout.heap_bytes()
            + sources.heap_bytes()
            + size_of::<Origin>()
            + origin.heap_bytes()
            + warnings.heap_bytes()
            + second_order.heap_bytes()
            + kept.heap_bytes();
        let code = match native.get() {
            Some(Some(native)) => {
                ARC_OVERHEAD
                    + size_of::<NativeCompiler>()
                    + native.heap_bytes()
                    + native.stats().bytes
            }
            _ => 0,
        };
        let tiers = ARC_OVERHEAD + size_of::<TierState>() + tiers.heap();
        #[cfg(feature = "batch")]
        let loaded = ARC_OVERHEAD + size_of::<LoadedCode>() + loaded_code.heap();
        #[cfg(not(feature = "batch"))]
        let loaded = 0;
        ARC_OVERHEAD + size_of::<Program>() + bytecode + module + rest + code + loaded + tiers
    }

    /// What batch machines of it were loaded to, which all evaluators share.
    #[cfg(feature = "batch")]
    pub(crate) fn loaded_code(&self) -> &Arc<LoadedCode> {
        &self.loaded_code
    }

    /// Gives a program that has no machine code yet that which was linked.
    #[cfg(feature = "objects")]
    pub(crate) fn set_native(&self, native: Option<Arc<NativeCompiler>>) {
        self.native.set(native).expect("there is none yet");
    }

    /// The compiler of its machine code, which all evaluators share.
    pub(crate) fn native_backend(&self) -> Option<Arc<dyn NativeBackend>> {
        let name = self.bytecode.shader_name();
        let native = self
            .native
            .get_or_init(|| NativeCompiler::new(name).map(Arc::new));
        native.as_ref().map(native::native_backend)
    }

    /// For each block of machine code that evaluators made of it so far, a line by which `perf
    /// report` knows it: address, bytes, and a name. `SHADER::kernelN` is the kernel that
    /// [`assembly`](Program::assembly) gives that number where no globals are uniform.
    /// `SHADER::entryN` is an entry of the code of single points. Empty if there is none.
    ///
    /// A host under a profiler appends it to `/tmp/perf-PID.map`, where PID is its process.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Instance, Sources, batch::{BatchEvaluator, BatchSetup, Tier}};
    /// let source = "shader bump(out float o) { float x = global_value<uvw>.x; o = exp(-x * x); }";
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("bump.adu", source))?;
    /// assert_eq!(program.perf_map(), "", "no evaluator requested machine code");
    /// let setup = BatchSetup { tier: Tier::Native, ..BatchSetup::default() };
    /// if let Ok(_evaluator) = BatchEvaluator::with(&Instance::new(&program), &setup) {
    ///     let map = program.perf_map();
    ///     assert!(map.lines().next().unwrap().ends_with(" bump::kernel0"), "{map}");
    /// }
    /// # Ok::<(), adumbra::Diagnostics>(())
    /// ```
    pub fn perf_map(&self) -> String {
        let native = self.native.get().and_then(Option::as_ref);
        native.map_or_else(String::new, |native| native.perf_map())
    }

    /// Statistics of the compilation and the program.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// let stats = program.stats();
    /// assert!(stats.ir_ops > 0 && stats.lanes == 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let code = self.bytecode.stats();
        let count = |module: &Module| {
            let regions = module.functions.iter().flat_map(|f| &f.regions);
            regions.map(|region| region.insts.len()).sum()
        };
        Stats {
            phases_us: self.phases,
            ir_ops: count(&self.module),
            bytecode_ops: code.ops,
            bytecode_bytes: code.bytes,
            lanes: code.lanes,
            registers: code.registers,
            tape: self.sources.as_ref().map_or_else(Vec::new, |sources| {
                let records = self.kept.iter();
                records
                    .map(|record| TapeStats::new(record, sources))
                    .collect()
            }),
            memory: MemoryStats {
                program: self.memory(),
                ..MemoryStats::default()
            },
            tier: None,
            native: None,
        }
    }

    /// Statistics of its machine code, if there is any for this processor and an evaluator
    /// requested it.
    pub(crate) fn native_stats(&self) -> Option<NativeStats> {
        let stats = self.native.get()?.as_ref()?.stats();
        Some(NativeStats {
            compile_us: micros(stats.compile_time),
            code_bytes: stats.bytes,
            linked_bytes: stats.linked_bytes,
            refused: stats.refused,
            panicked: self.tiers.panicked(),
            speedup: None,
        })
    }

    /// The intermediate representation as text: the input of the engines, optimised and with lanes.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// assert!(program.ir().contains("mul"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ir(&self) -> String {
        crate::inspect::ir_text(&self.module)
    }

    /// The demanded derivatives of each value.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources, derivatives::Lanes};
    /// let source = "shader s(out float o) { float x = global_value<uvw>.x; o = ddx(x * x); }";
    /// let program = Compiler::new(GlobalsLayout::hit()).compile(&Sources::new("s.adu", source))?;
    /// let demand = program.demand();
    /// let x = demand[0].values.iter().find(|value| value.name == "x").unwrap();
    /// assert_eq!(x.lanes, Lanes::X);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn demand(&self) -> Vec<FunctionReport> {
        passes::demand_report(&self.module)
    }

    /// The instructions of the register machine, for people.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// assert!(program.listing().contains("mul"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn listing(&self) -> String {
        let _mode = FloatEnvironment::enter();
        self.bytecode.to_string()
    }

    pub(crate) fn interface(&self) -> &Interface {
        self.bytecode.interface()
    }

    /// The intermediate representation that the bytecode was made from, and that the reference
    /// engine walks.
    ///
    /// ```
    /// use adumbra::{Compiler, GlobalsLayout, Sources};
    /// let sources = Sources::new("half.adu", "shader half(float x, out float y) { y = 0.5 * x; }");
    /// let program = Compiler::new(GlobalsLayout::new()).compile(&sources)?;
    /// assert_eq!(program.module().entry().name, "half");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn module(&self) -> &Module {
        &self.module
    }

    pub(crate) fn bytecode(&self) -> &Arc<Bytecode> {
        &self.bytecode
    }

    pub(crate) fn second_order(&self) -> &[bool] {
        &self.second_order
    }
}
