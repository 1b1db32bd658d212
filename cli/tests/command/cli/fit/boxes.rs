//! The programs of boxes in `examples/fit`: a march and slabs are two ways to one image.

use super::*;

/// The gradient of an image of a program by all its inputs, one after the other.
fn gradient(program: &str) -> Vec<f64> {
    let file = project(&format!("examples/fit/{program}.adu"));
    let file = file.to_str().unwrap();
    // Colours that count differently, so that no part of the light is left out.
    let of = ["--rules", "edge", "--seed", "c=1,0.7,0.4", "--json"];
    let ran = adumbra([&["grad", file, "--size", "120x120"][..], &of].concat());
    let mut floats = Vec::new();
    collect(&json_of(&ran)["gradient"], &mut floats);
    floats
}

fn collect(value: &Value, floats: &mut Vec<f64>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, floats)),
        Value::Object(values) => values.values().for_each(|value| collect(value, floats)),
        number => floats.push(number.as_f64().unwrap()),
    }
}

/// Silhouettes and creases of four boxes that hide each other: within 2 % of the gradient.
#[test]
fn marched_boxes_have_the_gradient_of_cast_ones() {
    let (marched, cast) = (gradient("boxes_marched"), gradient("boxes_cast"));
    assert_eq!((marched.len(), cast.len()), (31, 31));
    let length = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let pairs = marched.iter().zip(&cast);
    let difference: Vec<f64> = pairs.map(|(marched, cast)| marched - cast).collect();
    let (difference, whole) = (length(&difference), length(&cast));
    assert!(difference < 0.02 * whole, "{difference} of {whole}");
}
