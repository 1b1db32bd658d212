//! Programs that report each step of their points. The stages are the default ones; lowering alone
//! adds messages.

use super::{Compiler, MainSource, Origin};
use crate::diagnostics::Diagnostics;
use crate::program::Program;
use crate::sources::Sources;
use adumbra_frontend::lower::Observation;
use adumbra_ir::passes::Derivatives;
use adumbra_vm::FloatEnvironment;
use std::sync::Arc;

impl Compiler {
    /// Makes a program whose points report by messages what they do: the value of each variable,
    /// and the arm of each branch. It computes the results of [`compile`](Compiler::compile), more
    /// slowly; the derivatives of outputs are required. It gives no warnings.
    ///
    /// ```
    /// use adumbra::{Compiler, Evaluator, Globals, GlobalsLayout, Host, Instance, SampleRequest, Sampled, Sources, Type};
    /// use adumbra::{host::MessageId, inspect::{Observation, ObservedEvent}};
    /// let source = "shader s(out float o) { float y = 2 * global_value<x>; o = y > 1 ? y : 0; }";
    /// let layout = GlobalsLayout::new().with("x", Type::FLOAT)?;
    /// let (program, observations) = Compiler::new(layout).compile_observed(&Sources::new("s.adu", source))?;
    ///
    /// struct Log(Vec<Option<Observation>>, Vec<f32>);
    /// impl Host for Log {
    ///     fn sample(&mut self, _: &SampleRequest) -> Sampled {
    ///         Sampled::Ready([0.0; 4])
    ///     }
    ///     fn message(&mut self, message: MessageId, args: &[u32]) {
    ///         let Some(observation) = &self.0[message.index()] else { return };
    ///         if let ObservedEvent::Assign { place, .. } = &observation.event && place[0] == "y" {
    ///             let seen = observation.read(args);
    ///             self.1 = [seen.value[0], seen.shadows[0][0], seen.shadows[1][0]].map(f32::from_bits).to_vec();
    ///         }
    ///     }
    /// }
    /// let mut log = Log(observations, Vec::new());
    /// let mut globals = Globals::new(program.globals());
    /// globals.set("x", 3.0, 1.0, 0.0)?;
    /// Evaluator::new(&Instance::new(&program)).evaluate(&globals, &mut log);
    /// assert_eq!(log.1, [6.0, 2.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// With derivatives from quads, or without any, only values are reported. Set the inputs of
    /// such a program; folding them in ([`Instance::fold`](crate::Instance::fold)) renumbers its
    /// messages.
    ///
    /// # Errors
    /// As [`compile`](Compiler::compile).
    pub fn compile_observed(
        &self,
        sources: &Sources,
    ) -> Result<(Arc<Program>, Vec<Option<Observation>>), Diagnostics> {
        let _mode = FloatEnvironment::enter();
        let compiler = Compiler {
            observes: true,
            ..self.clone()
        };
        let origin = Origin::Sources(compiler, MainSource::File);
        let (program, front) = origin.compile(Some(sources))?;
        Ok((program, front.observations))
    }

    /// Whether values carry their derivatives.
    pub(super) fn has_shadows(&self) -> bool {
        self.options.derivatives == Derivatives::Dual
    }
}
