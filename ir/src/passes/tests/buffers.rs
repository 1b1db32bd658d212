//! Derivatives by buffers: of whole shaders, in both modes.

use super::*;
use crate::buffer::BufferSet;
use crate::derivative::DifferentiationMode;
use crate::eval::{EvalOptions, EvalPoint, evaluate};
use crate::host::ConstantTexture;
use crate::module::*;
use crate::verify;
use std::sync::Arc;

const MODULES: u64 = 300;

/// Σ w·Jv of a random shader by forward mode, and v·Jᵀw by backward mode, by an input and a buffer.
/// None if a point is stopped, or a number is not finite.
fn entry_products(seed: u64) -> Option<[f64; 2]> {
    let primal = crate::random::generate(seed);
    let derivative = |mode| EntryDerivative {
        mode,
        outputs: vec![0],
        inputs: vec![0],
        globals: Vec::new(),
        textures: Vec::new(),
        buffers: vec![0],
        nested: 0,
        passes_shadows: true,
    };
    let run = |mode, seeds: &[f64]| {
        let mut module = primal.clone();
        differentiate_entry(&mut module, &derivative(mode));
        differentiate(&mut module).ok()?;
        verify(&module).unwrap();
        let mut buffers = BufferSet::new(&module.buffers);
        for (at, buffer) in module.buffers.iter().enumerate() {
            let number = |i: i16| f32::from(i * 3 % 7) * 0.25 - 0.5 + at as f32 / 8.0;
            if buffer.scalar() == Scalar::F32 && !buffer.is_sum() {
                let numbers: Vec<f32> = (0..10).map(number).collect();
                buffers.set(BufferId(at as u32), numbers.into());
            }
        }
        let mut point = EvalPoint::<f64>::new(&module);
        let first = point.globals.len() - seeds.len();
        for (at, global) in point.globals.iter_mut().enumerate() {
            global.float = match at.checked_sub(first) {
                Some(seed) => seeds[seed],
                None => 0.3 + at as f64,
            };
        }
        point.buffers = Arc::new(buffers);
        let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
        let outcome = evaluate(&module, &point, &EvalOptions::default(), &mut host);
        let is_finite = outcome.faults.stopped().is_none() && outcome.tally.nonfinite == 0;
        is_finite.then_some((outcome, point.buffers))
    };
    let (v, w) = (0.75, [0.5, -1.25, 2.0]);
    let (pushed, tangents) = run(DifferentiationMode::Forward, &[v])?;
    let (pulled, _) = run(DifferentiationMode::Backward, &w)?;
    let outputs = primal.entry().results.len();
    let wjv = pushed.outputs[outputs..].iter().zip(w);
    let wjv = wjv.map(|(tangent, w)| tangent.float * w).sum();
    // The tangents are the last buffer; the sum of the random shader itself is before it.
    let tangent = BufferId(3);
    let added = pulled.added.iter().filter(|added| added.buffer == tangent);
    let by_buffer: f64 = (added)
        .map(|added| {
            let word = tangents.word(tangent, added.index, added.number);
            added.value * f64::from(f32::from_bits(word))
        })
        .sum();
    Some([wjv, pulled.outputs[outputs].float * v + by_buffer])
}

#[test]
fn backward_is_the_transpose_of_forward_by_buffers() {
    let (mut compared, mut dependent) = (0, 0);
    for seed in 1..=MODULES {
        let Some([wjv, jtwv]) = entry_products(seed) else {
            continue;
        };
        let error = (wjv - jtwv).abs();
        assert!(
            error <= 1e-10 * (wjv.abs() + 1.0),
            "{seed}: forward {wjv}, backward {jtwv}"
        );
        compared += 1;
        dependent += u64::from(wjv != 0.0);
    }
    println!("{compared} {dependent}");
    assert!(compared > MODULES / 4 && dependent > MODULES / 20);
}
