//! Traces samples of a block by a program that watches decisions.

use super::search::{Sampler, Traced};
use crate::gradient::jump::axes::AxisMoves;
use crate::gradient::jump::points::{Here, Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;

/// Traces samples of a block by a program that is watched: the outputs that are differentiated,
/// then what [`names_of_trace`] lists.
pub(super) struct BlockSampler<'b, H> {
    pub(super) here: &'b Here,
    pub(super) axes: &'b [AxisMoves],
    pub(super) program: &'b mut SampleProgram,
    pub(super) host: &'b mut H,
}

/// The outputs of a trace.
pub(super) fn names_of_trace() -> [&'static str; 6] {
    [
        decision_names::COUNT,
        decision_names::HASH[0],
        decision_names::HASH[1],
        decision_names::MARGIN,
        decision_names::VALUE,
        decision_names::SITE,
    ]
}

impl<H: Host> Sampler for BlockSampler<'_, H> {
    fn trace(&mut self, samples: &[Sample], traced: &mut Vec<Traced>, outputs: &mut Vec<f64>) {
        self.program.clear();
        for sample in samples {
            self.program.add(self.here, self.axes, sample, 0.0);
        }
        self.program.run(self.host);
        let program = &*self.program;
        let floats = program.scalars() - names_of_trace().len();
        for sample in 0..samples.len() {
            outputs.extend((0..floats).map(|float| program.float(sample, float)));
            traced.push(Traced {
                has_ended: program.has_ended(sample),
                count: program.word(sample, floats) as i32,
                hash: [1, 2].map(|at| program.word(sample, floats + at)),
                margin: program.float(sample, floats + 3),
                value: program.float(sample, floats + 4),
                site: program.word(sample, floats + 5) as i32,
            });
        }
    }
}
