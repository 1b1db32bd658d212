//! Lowering: IR with lanes → bytecode.
//!
//! The input is a verified module whose values, results and arrays carry their lanes; lowering
//! makes no choice about derivatives. The register file is laid out statically: outputs, inputs,
//! then a range for each function. Callees come first, so a function's range starts after those of
//! all its callees. Functions of a recursive cycle have separate ranges, and save their range
//! around such calls.

mod constant_pool;
mod emit;
mod function;
mod jumps;
mod labels;
mod linear_order;
mod liveness;
mod parallel_moves;
mod register_allocation;
mod shadows;
mod spans;

use crate::bytecode::{
    Bytecode, BytecodeArray, BytecodeFunction, Interface, MAX_LISTED_REGISTERS, MAX_REGISTERS,
    MAX_SAVED_REGISTERS, Register, insert_queries, register_count, validate,
};
use adumbra_ir::calls::{CallGraph, SavedSteps, callees};
use adumbra_ir::codes::Code;
use adumbra_ir::diagnostic::Diagnostic;
use adumbra_ir::module::{FuncId, Module, RecordId, TapeId};
use adumbra_ir::span::Span;
use adumbra_ir::types::Lanes;
use constant_pool::ConstantPool;
use parallel_moves::RegisterOperand;
use rustc_hash::FxHashMap;

pub use spans::instruction_spans;

/// The registers of one function.
#[derive(Debug, Default)]
pub(crate) struct FunctionFrame {
    /// The registers of its results.
    results: Vec<RegisterOperand>,
    /// The registers of its parameters.
    params: Vec<RegisterOperand>,
    /// Its arrays, from this one on, among the program's.
    first_array: u32,
    /// Registers of parameters and arrays: start and end.
    storage: (u32, u32),
    /// One past its last register.
    end: u32,
    /// The component of mutual recursion that it belongs to.
    component: u32,
    /// Whether it can be active twice at once.
    cyclic: bool,
    /// Its number in the bytecode.
    number: u32,
}

/// Lowers a verified module to bytecode.
///
/// # Panics
/// If the verifier does not accept the module.
///
/// # Errors
/// `ProgramTooLarge` if registers and arrays do not fit into [`MAX_REGISTERS`], those that a
/// recursive call saves into [`MAX_SAVED_REGISTERS`], or lists into [`MAX_LISTED_REGISTERS`].
pub fn lower(module: &Module) -> Result<Bytecode, Diagnostic> {
    lower_with(module, None)
}

/// Lowers a module, and notes the source span of each instruction if that is asked for.
fn lower_with<'m>(
    module: &'m Module,
    spans: Option<&'m mut Vec<Span>>,
) -> Result<Bytecode, Diagnostic> {
    let output_lanes: Vec<Lanes> = module.entry().results.iter().map(|r| r.lanes).collect();
    let mut lowering = BytecodeLowering {
        module,
        constants: ConstantPool::new(),
        saved_steps: SavedSteps::new(module),
        frames: Vec::new(),
        out: Bytecode {
            interface: Interface {
                globals: module.globals.clone(),
                textures: module.textures.clone(),
                buffers: module.buffers.clone(),
                resources: module.resources.clone(),
                closures: module.closures.clone(),
                messages: module.messages.clone(),
                inputs: module.inputs.clone(),
                outputs: module.outputs.clone(),
            },
            output_derivatives: output_lanes.iter().any(|lanes| !lanes.is_none()),
            output_lanes,
            quad: module.quad,
            ..Bytecode::empty()
        },
        global_words: Vec::with_capacity(module.globals.len()),
        tapes: FxHashMap::default(),
        spans,
    };
    lowering
        .frames
        .resize_with(module.functions.len(), FunctionFrame::default);
    lowering.find_globals();
    let mut work = function::LoweringBuffers::default();
    let calls = CallGraph::new(module);
    for (number, component) in calls.components.iter().enumerate() {
        let functions = &calls.order[component.clone()];
        let cyclic = calls.recursive[functions[0].index()];
        let mut top = lowering.lay_out(number as u32, functions, cyclic)?;
        for &id in functions {
            let start = top;
            top = function::lower(&mut lowering, id, top, &mut work);
            if top > MAX_REGISTERS {
                return Err(too_large(module, id));
            }
            if lowering.out.lists.len() as u64 > MAX_LISTED_REGISTERS {
                return Err(too_much_listed(module, id));
            }
            if cyclic && lowering.parameter_slots(id) + (top - start) > MAX_SAVED_REGISTERS {
                return Err(too_much_to_save(module, id));
            }
        }
        for &id in functions {
            lowering.frames[id.index()].end = top;
        }
        lowering.out.registers = lowering.out.registers.max(top);
    }
    let mut out = lowering.out;
    out.constants = lowering.constants.finish();
    out.entry = lowering.frames[module.entry.index()].number;
    // Engines rely on it, whatever module was given.
    assert_eq!(validate(&out), Ok(()), "the module is not valid\n{out}");
    let queries = insert_queries(&mut out);
    if let Some(spans) = lowering.spans {
        // A query has the span of the instruction after it.
        for (inserted, position) in queries.into_iter().enumerate() {
            let at = inserted + position as usize;
            spans.insert(at, spans[at]);
        }
    }
    Ok(out)
}

/// A program while it is lowered.
pub(crate) struct BytecodeLowering<'m> {
    module: &'m Module,
    constants: ConstantPool,
    saved_steps: SavedSteps,
    frames: Vec<FunctionFrame>,
    out: Bytecode,
    /// Per global, its first word and its number of scalars.
    global_words: Vec<(u32, u32)>,
    /// The tape in the bytecode for each kind of record on each tape.
    tapes: FxHashMap<(TapeId, RecordId), u32>,
    /// The source span of each instruction, if it is asked for.
    spans: Option<&'m mut Vec<Span>>,
}

impl BytecodeLowering<'_> {
    /// Registers of a function's parameters that are no arrays.
    fn parameter_slots(&self, id: FuncId) -> u32 {
        let frame = &self.frames[id.index()];
        let arrays = self.out.arrays[frame.first_array as usize..].iter();
        let arrays = arrays.take(self.module.function(id).arrays.len());
        frame.storage.1 - frame.storage.0 - arrays.map(|a| a.registers()).sum::<u32>()
    }

    fn find_globals(&mut self) {
        let mut at = 0;
        for global in &self.module.globals {
            let scalars = global.ty.scalar_count() as u32;
            self.global_words.push((at, scalars));
            at += 3 * scalars;
        }
    }

    /// Gives each function of a component its results, parameters and arrays; its callees outside
    /// have their frames. Returns the first free register.
    fn lay_out(
        &mut self,
        number: u32,
        functions: &[FuncId],
        cyclic: bool,
    ) -> Result<u32, Diagnostic> {
        let outputs = 3 * self.module.entry().results.len() as u32;
        let inputs = self.module.entry().params().len() as u32;
        let mut top = outputs + inputs;
        self.out.registers = self.out.registers.max(top);
        self.out.recursive |= cyclic;
        for &id in functions {
            for callee in callees(self.module.function(id)) {
                top = top.max(self.frames[callee.index()].end);
            }
        }
        for &id in functions {
            let function = self.module.function(id);
            let mut frame = FunctionFrame {
                component: number,
                cyclic,
                number: self.out.functions.len() as u32,
                ..FunctionFrame::default()
            };
            let is_entry = id == self.module.entry;
            for (i, result) in (0..).zip(&function.results) {
                let register = Register(if is_entry { 3 * i } else { top });
                top += if is_entry {
                    0
                } else {
                    register_count(result.lanes)
                };
                frame.results.push(RegisterOperand {
                    register,
                    lanes: result.lanes,
                });
            }
            frame.storage.0 = top;
            for (i, &param) in (0..).zip(function.params()) {
                // The host's inputs are consecutive; they have no shadows.
                let lanes = function.value(param).lanes;
                let register = Register(if is_entry { outputs + i } else { top });
                top += if is_entry { 0 } else { register_count(lanes) };
                frame.params.push(RegisterOperand { register, lanes });
            }
            frame.first_array = self.out.arrays.len() as u32;
            for array in &function.arrays {
                let size = u64::from(array.len) * u64::from(register_count(array.lanes));
                if u64::from(top) + size > u64::from(MAX_REGISTERS) {
                    return Err(
                        too_large(self.module, id).label(array.span, "of which this takes much")
                    );
                }
                self.out.arrays.push(BytecodeArray {
                    base: top,
                    len: array.len,
                    lanes: array.lanes,
                });
                top += size as u32;
            }
            frame.storage.1 = top;
            self.out.functions.push(BytecodeFunction {
                name: function.name.clone(),
                variant: function.variant,
                start: 0,
                span: function.span,
                elements: function
                    .arrays
                    .iter()
                    .map(|a| a.len)
                    .fold(0, u32::saturating_add),
            });
            self.frames[id.index()] = frame;
        }
        Ok(top)
    }
}

fn too_large(module: &Module, function: FuncId) -> Diagnostic {
    let function = module.function(function);
    Diagnostic::new(
        Code::ProgramTooLarge,
        function.span,
        format!(
            "`{}` needs more memory than a program may have",
            function.name
        ),
    )
    .here(format!(
        "with its callees it takes more than {MAX_REGISTERS} words"
    ))
    .help("make its arrays smaller")
}

fn too_much_listed(module: &Module, function: FuncId) -> Diagnostic {
    let function = module.function(function);
    Diagnostic::new(
        Code::ProgramTooLarge,
        function.span,
        format!("`{}` needs more operands than a program may have", function.name),
    )
    .here(format!(
        "the records, closures and messages of the program have more than {MAX_LISTED_REGISTERS} words"
    ))
    .help("differentiate a smaller part, or make closures of fewer arguments")
}

fn too_much_to_save(module: &Module, function: FuncId) -> Diagnostic {
    let function = module.function(function);
    Diagnostic::new(
        Code::ProgramTooLarge,
        function.span,
        format!("`{}` keeps too much while it calls itself", function.name),
    )
    .here(format!(
        "its variables and intermediate values take more than {MAX_SAVED_REGISTERS} words"
    ))
    .help("hold fewer values across the call, or hold them in arrays")
}
