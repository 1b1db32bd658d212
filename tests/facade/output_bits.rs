//! The outputs of a point as bits, to be compared between engines.

use adumbra::access::AccessError;
use adumbra::{Evaluator, batch::BatchEvaluator, value::Part};

/// Of each scalar of the outputs its value, and its ddx and ddy if the program computes them.
pub(crate) fn output_bits(evaluator: &Evaluator) -> Vec<u32> {
    interleaved(|part| Ok(evaluator.words(part)?.collect()))
}

/// As [`output_bits`], of a point of a batch.
pub(crate) fn point_bits(evaluator: &BatchEvaluator, point: usize) -> Vec<u32> {
    interleaved(|part| Ok(evaluator.words(part, point)?.collect()))
}

fn interleaved(words: impl Fn(Part) -> Result<Vec<u32>, AccessError>) -> Vec<u32> {
    let parts: Vec<Vec<u32>> = (Part::ALL.into_iter())
        .filter_map(|part| words(part).ok())
        .collect();
    let scalars = 0..parts[0].len();
    let of_scalar = |scalar: usize| parts.iter().map(move |words| words[scalar]);
    scalars.flat_map(of_scalar).collect()
}
