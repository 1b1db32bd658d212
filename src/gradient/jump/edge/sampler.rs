//! Traces samples of a block by a program that watches decisions.

use super::search::{Sampler, Traced, Traces};
use crate::gradient::jump::axes::AxisMoves;
use crate::gradient::jump::points::{Here, Sample, SampleProgram};
use adumbra_ir::host::Host;
use adumbra_ir::passes::decision_names;

/// Traces samples of a block by a program that is watched: the outputs that are differentiated,
/// then what it is compared by, and what is seen.
pub(in crate::gradient::jump) struct BlockSampler<'b, H> {
    pub(in crate::gradient::jump) here: &'b Here<'b>,
    pub(in crate::gradient::jump) axes: &'b [AxisMoves],
    pub(in crate::gradient::jump) program: &'b mut SampleProgram,
    pub(in crate::gradient::jump) host: &'b mut H,
}

impl<H: Host> Sampler for BlockSampler<'_, H> {
    fn trace(&mut self, samples: &[Sample]) -> Traces {
        self.program.clear();
        for sample in samples {
            self.program.add(self.here, self.axes, sample, 0.0);
        }
        self.program.run(self.host);
        let program = &*self.program;
        let names = decision_names::COMPARED.len() + decision_names::SEEN.len();
        let floats = program.scalars() - names;
        let mut found = Traces::default();
        for sample in 0..samples.len() {
            let outputs = &mut found.outputs;
            outputs.extend((0..floats).map(|float| program.float(sample, float)));
            found.traced.push(Traced {
                has_ended: program.has_ended(sample),
                count: program.word(sample, floats) as i32,
                hash: [1, 2].map(|at| program.word(sample, floats + at)),
                margin: program.float(sample, floats + 3),
                value: program.float(sample, floats + 4),
                site: program.word(sample, floats + 5) as i32,
            });
        }
        found
    }
}
