//! Steps of parameters to either side, as central differences take them.

use adumbra::Instance;
use adumbra::value::ValueView;

/// A float a step to either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovedFloat {
    /// Above, then below.
    pub sides: [f32; 2],
    /// How far these are apart. Rounding makes it other than two steps: 0 if they are too short.
    pub apart: f64,
}

impl MovedFloat {
    /// Moves a float.
    pub fn new(value: f32, step: f64) -> MovedFloat {
        let value = f64::from(value);
        let sides = [(value + step) as f32, (value - step) as f32];
        MovedFloat {
            sides,
            apart: f64::from(sides[0]) - f64::from(sides[1]),
        }
    }
}

/// The float of an input, by its number among the scalars of the input.
pub fn input_float(instance: &Instance, input: &str, scalar: usize) -> f32 {
    let view = instance.view(input).expect("it is an input");
    let word = view.words().nth(scalar);
    f32::from_bits(word.expect("it is one of its scalars"))
}

/// Sets floats of an input, by their numbers among the scalars of the input.
pub fn set_input_floats(instance: &mut Instance, input: &str, floats: &[(usize, f32)]) {
    let view = instance.view(input).expect("it is an input");
    let (ty, mut words) = (view.ty().clone(), view.words().collect::<Vec<u32>>());
    for &(scalar, float) in floats {
        words[scalar] = float.to_bits();
    }
    let set = instance.set_view(input, ValueView::new(&ty, &words));
    set.expect("it is of its type");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_sides_are_as_far_apart_as_floats() {
        let moved = MovedFloat::new(3.0, 0.25);
        assert_eq!((moved.sides, moved.apart), ([3.25, 2.75], 0.5));
        assert_eq!(MovedFloat::new(1e9, 1e-3).apart, 0.0);
    }
}
