//! Dropped outputs: the others have the bits of before.

use super::*;
use crate::eval::{EvalOptions, EvalPoint, evaluate};
use crate::host::ConstantTexture;
use crate::random::generate;
use crate::verify;

const MODULES: u64 = 200;

/// The bits of the outputs' scalars.
fn bits(module: &Module) -> Vec<(u32, u32)> {
    let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let point = EvalPoint::<f32>::new(module);
    let found = evaluate(module, &point, &EvalOptions::default(), &mut host);
    let outputs = found.outputs.iter();
    outputs
        .map(|value| (value.float.to_bits(), value.word))
        .collect()
}

#[test]
fn other_outputs_keep_their_bits() {
    for seed in 0..MODULES {
        let module = generate(seed);
        let all = bits(&module);
        let mut first = 0;
        for output in &module.outputs {
            let scalars = first..first + output.ty.scalar_count();
            first = scalars.end;
            let mut rest = module.clone();
            drop_outputs(&mut rest, |name| name == output.name);
            verify(&rest).unwrap();
            let expected = [&all[..scalars.start], &all[scalars.end..]].concat();
            assert_eq!(bits(&rest), expected, "seed {seed} {}", output.name);
        }
    }
}
