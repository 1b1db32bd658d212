//! Lowered module to program: passes, then bytecode.

use crate::program::Prepared;
use crate::stats::{Clock, Phases, micros};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::{Code, Diagnostic, Module};
use adumbra_vm::Bytecode;

/// What came out of the passes and the machine's lowering.
pub(crate) struct Back {
    pub(crate) module: Module,
    pub(crate) bytecode: Bytecode,
    /// What can be made anew with inputs as constants; `None` without inputs.
    pub(crate) prepared: Option<Prepared>,
    /// Those before are 0.
    pub(crate) phases: Phases,
}

/// Makes a program of a lowered module.
///
/// # Errors
/// If it needs too much memory.
pub(crate) fn back(module: Module, options: PassOptions) -> Result<Back, Diagnostic> {
    let mut clock = Clock::start();
    let (module, first) = passes::prepare(module);
    let prepared = (!module.inputs.is_empty()).then(|| Prepared {
        module: module.clone(),
        options,
    });
    let (module, second) = passes::annotate(module, &options);
    clock.lap();
    let bytecode = adumbra_vm::lower(&module)?;
    let times = first + second;
    Ok(Back {
        module,
        bytecode,
        prepared,
        phases: Phases {
            bytecode: clock.lap(),
            lineage: micros(times.lineage),
            demand: micros(times.demand),
            optimise: micros(times.optimise),
            total: clock.total(),
            ..Phases::default()
        },
    })
}

/// The host reads the derivatives of all outputs: a zero that stands for one of second order is no silent one.
pub(super) fn second_order_outputs(module: &Module, second_order: &[bool]) -> Vec<Diagnostic> {
    let span = module.entry().span;
    let mut rest = second_order;
    let outputs = module.outputs.iter().filter(|output| {
        let (own, others) = rest.split_at(output.ty.scalar_count());
        rest = others;
        own.contains(&true)
    });
    outputs
        .map(|output| {
            let message = format!(
                "the derivatives of the output `{}` are of second order and count as 0",
                output.name
            );
            Diagnostic::new(Code::SecondDerivative, span, message)
                .here("its value is, or is made from, a derivative")
                .help("derivatives are of first order: read this output's value alone")
        })
        .collect()
}
