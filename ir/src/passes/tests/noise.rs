//! Random variables: a shader sees its inputs at offsets, and nothing else changes.

use super::*;
use crate::eval::{EvalOptions, EvalPoint, EvalValue, evaluate};
use crate::host::ConstantTexture;
use crate::random::generate;
use crate::types::Type;
use crate::verify;

const MODULES: u64 = 200;

/// The bits of the outputs' scalars at a point.
fn bits(module: &Module, point: &EvalPoint<f32>) -> Vec<(u32, u32)> {
    let mut host = ConstantTexture([0.25, 0.5, 0.75, 1.0]);
    let found = evaluate(module, point, &EvalOptions::default(), &mut host);
    let outputs = found.outputs.iter();
    outputs
        .map(|value| (value.float.to_bits(), value.word))
        .collect()
}

fn float(value: f32) -> EvalValue<f32> {
    EvalValue::from_bits(Scalar::F32, value.to_bits())
}

#[test]
fn shader_sees_inputs_at_their_offsets() {
    let mut moved_modules = 0;
    for seed in 0..MODULES {
        let module = generate(seed);
        let inputs = module.inputs.iter().enumerate();
        let chosen = inputs.filter(|(_, input)| !input.ty.float_scalars().is_empty());
        let chosen: Vec<usize> = chosen.map(|(at, _)| at).collect();
        let mut noisy = module.clone();
        add_noise(&mut noisy, &chosen);
        verify(&noisy).unwrap();
        let mut expected = EvalPoint::<f32>::new(&module);
        let mut point = EvalPoint::<f32>::new(&noisy);
        let (mut scalar, mut number) = (0, 0);
        for input in &module.inputs {
            for float_at in input.ty.float_scalars() {
                let [scale, noise] = [0.5 + number as f32, 0.25 - 0.125 * number as f32];
                let scales = point.inputs.len()
                    - noisy.inputs[module.inputs.len()..]
                        .iter()
                        .map(|scale| scale.ty.scalar_count())
                        .sum::<usize>();
                let noises = expected.globals.len();
                point.inputs[scales + number] = float(scale);
                point.globals[noises + number] = float(noise);
                let value = &mut expected.inputs[scalar + float_at];
                *value = float(value.float + scale * noise);
                number += 1;
            }
            scalar += input.ty.scalar_count();
        }
        assert_eq!(
            bits(&noisy, &point),
            bits(&module, &expected),
            "seed {seed}"
        );
        moved_modules += usize::from(number > 0);
    }
    assert!(moved_modules > 20, "{moved_modules}");
}

#[test]
fn elements_of_arrays_have_noise_of_their_own() {
    let floats = Type::Array(std::sync::Arc::new(Type::Vector(2)), 2);
    let names: Vec<String> = noise_globals("w", &floats)
        .into_iter()
        .map(|global| global.name)
        .collect();
    assert_eq!(names, ["noise(w[0])", "noise(w[1])"]);
}
