//! The globals that programs read, and the points that they are run on.

use crate::choices::next;
use adumbra_ir::{Scalar, Type};

/// A global that a program's host declares.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalVariable {
    /// Its name in `global_value<name>`.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
}

/// One global at one point: bits of its scalars and of their shadows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobalBits {
    /// Bits of each scalar.
    pub value: Vec<u32>,
    /// Bits of each scalar's shadow along x.
    pub ddx: Vec<u32>,
    /// Bits of each scalar's shadow along y.
    pub ddy: Vec<u32>,
}

impl GlobalBits {
    /// `value : ddx : ddy`, each as a number, or numbers with commas.
    pub fn text(&self, ty: &Type) -> String {
        let part = |words: &[u32]| {
            let mut words = words.iter();
            let mut numbers = Vec::new();
            ty.for_each_scalar(&mut |scalar| {
                let bits = words.next().copied().unwrap_or(0);
                numbers.push(match scalar {
                    Scalar::F32 => format!("{:?}", f32::from_bits(bits)),
                    _ => (bits as i32).to_string(),
                });
            });
            numbers.join(",")
        };
        [&self.value, &self.ddx, &self.ddy]
            .map(|p| part(p))
            .join(" : ")
    }
}

/// A point that a program is run on: a value for each of its globals, in order.
pub type Point = Vec<GlobalBits>;

/// The globals that every generated program may read.
pub fn globals() -> Vec<GlobalVariable> {
    let global = |name, ty| GlobalVariable { name, ty };
    vec![
        global("ga", Type::FLOAT),
        global("gb", Type::FLOAT),
        global("guv", Type::Vector(2)),
        global("gpos", Type::Vector(3)),
        global("gcol", Type::Vector(4)),
        global("gn", Type::Scalar(Scalar::I32)),
        global("gm", Type::Scalar(Scalar::U32)),
        global("gflag", Type::Scalar(Scalar::Bool)),
    ]
}

/// The point of that number in the sequence that `seed` names, for globals of these types. Floats
/// lie within ±2 and their shadows within ±1; one global in eight has zero shadows. If `wild`, one
/// point in eight holds infinities, NaN, denormals and the like.
pub fn point<'a>(
    types: impl IntoIterator<Item = &'a Type>,
    seed: u64,
    number: u64,
    wild: bool,
) -> Point {
    let mut draw = Draw::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93), false);
    draw.wild = wild && draw.below(8) == 7;
    let mut global = |ty: &Type| {
        let still = draw.below(8) == 7;
        let mut at = GlobalBits::default();
        ty.for_each_scalar(&mut |scalar| {
            at.value.push(draw.value(scalar));
            for shadow in [&mut at.ddx, &mut at.ddy] {
                shadow.push(match scalar {
                    Scalar::F32 if !still => draw.float(1.0).to_bits(),
                    _ => 0,
                });
            }
        });
        at
    };
    types.into_iter().map(&mut global).collect()
}

/// Floats that hurt.
const WILD: [f32; 12] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -1e-42,
    1e20,
    0.5,
];

/// Draws numbers of hosts.
pub(crate) struct Draw {
    state: u64,
    wild: bool,
}

impl Draw {
    /// Draws from a sequence; if `wild`, floats that hurt, too.
    pub(crate) fn new(state: u64, wild: bool) -> Draw {
        Draw { state, wild }
    }

    fn below(&mut self, n: usize) -> usize {
        (next(&mut self.state) >> 32) as usize % n
    }

    fn float(&mut self, scale: f32) -> f32 {
        if self.wild && self.below(3) == 2 {
            return WILD[self.below(WILD.len())];
        }
        (self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0) * scale
    }

    /// The bits of a number of that type.
    pub(crate) fn value(&mut self, scalar: Scalar) -> u32 {
        match scalar {
            Scalar::F32 => self.float(2.0).to_bits(),
            Scalar::Bool => self.below(2) as u32,
            Scalar::U32 => self.below(16) as u32,
            _ => (self.below(16) as i32 - 8) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_tame_unless_wild() {
        let types = [Type::FLOAT, Type::Vector(3)];
        let floats = |wild| {
            let points = (0..100).flat_map(|n| point(&types, 1, n, wild));
            let words = points.flat_map(|global| global.value);
            words.map(f32::from_bits).collect::<Vec<f32>>()
        };
        assert!(floats(false).iter().all(|x| x.abs() <= 2.0));
        assert!(floats(true).iter().any(|x| x.is_nan()));
        assert_ne!(point(&types, 1, 0, false), point(&types, 1, 1, false));
    }
}
