//! The locations of a value and of its shadows in a batch.

use super::super::instruction::OperandLocation;
use crate::native::DualOperand;
use adumbra_simd::OperandShape;

pub(super) type DualLocation = DualOperand<OperandLocation>;

impl DualLocation {
    /// The number 0, without shadows.
    pub(super) const ZERO: DualLocation = DualLocation {
        value: OperandLocation::Zero,
        shadows: [None; 2],
    };

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
