//! The numbers that hosts give to the buffers of generated programs.
//!
//! They hang on the buffer's name alone. So all hosts of a program give the same ones, those of
//! units of a group too, and a program may be cut. A name is the type of the elements and a number
//! ([`name`]), from which the length comes. `d(float3_17)`, the tangents by `float3_17`, is as long
//! as that.

use crate::fnv::FnvHasher;
use crate::generate::point::Draw;
use adumbra::{Instance, Program};
use adumbra_ir::buffer::{BufferNumbers, BufferSet};
use adumbra_ir::module::{Buffer, BufferId};
use adumbra_ir::{Scalar, Type};
use std::sync::Arc;

/// From this number on buffers have floats that hurt.
pub(crate) const FIRST_WILD: usize = 56;

/// The numbers of buffers.
pub(crate) const NUMBERS: usize = 64;

/// Elements, by number.
const LENGTHS: [usize; 8] = [5, 3, 1, 16, 40, 2, 0, 600];

/// The name of the buffer of a number with such elements.
pub(crate) fn name(element: &str, number: usize) -> String {
    format!("{element}_{number}")
}

/// The number of a name; 0 of one that was made otherwise.
fn number(name: &str) -> usize {
    let after = name.rsplit('_').next().unwrap_or_default();
    after.trim_end_matches(')').parse().unwrap_or(0)
}

/// The number of elements of the buffer of a number.
pub(crate) fn length(number: usize) -> usize {
    LENGTHS[number % LENGTHS.len()]
}

/// The numbers of a buffer.
pub fn numbers(name: &str, element: &Type) -> BufferNumbers {
    let number = number(name);
    let mut draw = Draw::new(FnvHasher::of(name.as_bytes()), number >= FIRST_WILD);
    let scalar = match element {
        Type::Scalar(scalar) => *scalar,
        _ => Scalar::F32,
    };
    let words = (0..length(number) * element.scalar_count()).map(|_| draw.value(scalar));
    match scalar {
        Scalar::I32 => words.map(u32::cast_signed).collect::<Vec<i32>>().into(),
        _ => words.map(f32::from_bits).collect::<Vec<f32>>().into(),
    }
}

/// The numbers of all buffers of a module.
pub fn buffer_set(buffers: &[Buffer]) -> BufferSet {
    let mut set = BufferSet::new(buffers);
    for (id, buffer) in (0..).map(BufferId).zip(buffers) {
        if !buffer.is_sum() {
            set.set(id, numbers(&buffer.name, &buffer.element));
        }
    }
    set
}

/// An instance whose buffers have their numbers.
pub fn instance(program: &Arc<Program>) -> Instance {
    let mut instance = Instance::new(program);
    for buffer in program.buffers() {
        // A changed bytecode file may have two of one name, of which one has no numbers.
        let _ = instance.set_buffer(&buffer.name, numbers(&buffer.name, &buffer.element));
    }
    instance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_hang_on_the_name() {
        let floats = |name: &str| match numbers(name, &Type::Vector(3)) {
            BufferNumbers::Floats(floats) => floats,
            BufferNumbers::Ints(_) => panic!("a buffer of vectors"),
        };
        let tangents = floats("d(float3_4)");
        assert_eq!(tangents.len(), 3 * length(4));
        assert_eq!(floats("float3_4").len(), tangents.len());
        assert!(floats("float3_4") == floats("float3_4") && floats("float3_4") != tangents);
        let is_tame = |number: usize| {
            floats(&name("float3", number))
                .iter()
                .all(|x| x.abs() <= 2.0)
        };
        assert!((0..FIRST_WILD).all(is_tame) && !(FIRST_WILD..NUMBERS).all(is_tame));
        assert!(numbers("int_3", &Type::Scalar(Scalar::I32)).scalar() == Scalar::I32);
    }
}
