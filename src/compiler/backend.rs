//! The backend: from a lowered module by passes to bytecode.

use crate::program::PreparedModule;
use crate::stats::{PhaseClock, Phases, micros};
use adumbra_ir::passes::{self, PassOptions};
use adumbra_ir::{Code, Diagnostic, Module, Span};
use adumbra_vm::Bytecode;

/// The result of the passes and of the machine's lowering.
pub(crate) struct BackendOutput {
    pub(crate) module: Module,
    pub(crate) bytecode: Bytecode,
    /// The module that can be folded with inputs as constants; `None` without inputs.
    pub(crate) prepared: Option<PreparedModule>,
    /// Those before are 0.
    pub(crate) phases: Phases,
}

/// Makes a program of a lowered module.
///
/// # Errors
/// If it needs too much memory.
pub(crate) fn run_backend(
    module: Module,
    options: PassOptions,
) -> Result<BackendOutput, Diagnostic> {
    let mut clock = PhaseClock::start();
    let (module, first) = passes::prepare(module, &options);
    let prepared = (!module.inputs.is_empty()).then(|| PreparedModule {
        module: module.clone(),
        options,
    });
    let (module, second) = passes::annotate(module, &options);
    clock.lap();
    let mut bytecode = adumbra_vm::lower(&module)?;
    if options.output_shadows {
        bytecode = bytecode.with_output_derivatives();
    }
    let times = first + second;
    Ok(BackendOutput {
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

/// The host reads the derivatives of all outputs, so a zero in place of a second-order one is not
/// silent. `spans` are those of the outputs, as far as they have any in the source.
pub(super) fn second_order_warnings(
    module: &Module,
    places: &[Span],
    second_order: &[bool],
) -> Vec<Diagnostic> {
    let mut rest = second_order;
    let outputs = module.outputs.iter().enumerate().filter(|(_, output)| {
        let (own, others) = rest.split_at(output.ty.scalar_count());
        rest = others;
        own.contains(&true)
    });
    outputs
        .map(|(at, output)| {
            let name = &output.name;
            let message = format!(
                "the output `{name}` is, or is partly made from, a derivative, whose own derivative counts as 0"
            );
            let span = places.get(at).copied();
            Diagnostic::new(Code::SecondDerivative, span.unwrap_or(module.entry().span), message)
                .here("its derivatives lack that part")
                .help(format!(
                    "derivatives are of first order: read the value of `{name}` alone, or give the derivative an output of its own"
                ))
        })
        .collect()
}
