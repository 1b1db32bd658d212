//! The operand location of a dual: the locations of a value and of its shadows.

use super::super::instruction::OperandLocation;
use adumbra_ir::types::{Direction, Lanes};
use adumbra_simd::OperandShape;

/// The locations of a value and of its shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DualLocation {
    pub(super) value: OperandLocation,
    pub(super) shadows: [Option<OperandLocation>; 2],
}

impl DualLocation {
    /// The number 0, without shadows.
    pub(super) const ZERO: DualLocation = DualLocation {
        value: OperandLocation::Zero,
        shadows: [None; 2],
    };

    /// The locations that exist, value first.
    pub(super) fn locations(self) -> impl Iterator<Item = OperandLocation> {
        let shadows = self.shadows.into_iter().flatten();
        std::iter::once(self.value).chain(shadows)
    }

    pub(super) fn has(self, location: OperandLocation) -> bool {
        self.locations().any(|own| own == location)
    }

    /// Whether both have a location in common.
    pub(super) fn overlaps(self, other: DualLocation) -> bool {
        self.locations().any(|location| other.has(location))
    }

    /// The shape as an operand, if routines are made for it.
    pub(super) fn shape(self) -> Option<OperandShape> {
        match self.shadows {
            [None, None] => Some(self.value.shape()),
            [Some(_), Some(_)] if !self.locations().any(OperandLocation::is_uniform) => {
                Some(OperandShape::Dual)
            }
            _ => None,
        }
    }
}

/// The registers of a value and its shadows.
pub(super) fn registers(register: u32, lanes: Lanes) -> impl Iterator<Item = u32> + Clone {
    let shadows = Direction::BOTH.into_iter().zip(register + 1..);
    let shadows = shadows.filter(move |&(direction, _)| lanes.has(direction));
    std::iter::once(register).chain(shadows.map(|(_, register)| register))
}
