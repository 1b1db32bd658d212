//! Types of single values, and the sets of screen-space directions that shadows have.

use std::fmt;

/// The type of one IR value. Vectors, matrices and structs do not exist in the IR: lowering took
/// them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// IEEE binary32. The only type whose values can have shadows.
    F32,
    /// 32-bit two's complement.
    I32,
    /// 32-bit unsigned.
    U32,
    /// 0 or 1.
    Bool,
    /// A node of the evaluator's closure tree, or the empty closure. Integers cannot forge it.
    Closure,
    /// A resource of the host, passed through to closures. Integers cannot forge it.
    Resource,
}

impl Scalar {
    /// Every scalar type.
    pub const ALL: [Scalar; 6] = [
        Scalar::F32,
        Scalar::I32,
        Scalar::U32,
        Scalar::Bool,
        Scalar::Closure,
        Scalar::Resource,
    ];

    /// Whether it is an opaque handle, which no number can forge.
    pub const fn is_handle(self) -> bool {
        matches!(self, Scalar::Closure | Scalar::Resource)
    }

    /// The name in IR text.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::Bool => "bool",
            Scalar::Closure => "closure",
            Scalar::Resource => "resource",
        }
    }

    /// The type with that name in IR text.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A screen-space direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Along x: ddx.
    X,
    /// Along y: ddy.
    Y,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::X, Direction::Y];

    /// The name of the derivative along it: `ddx` or `ddy`.
    pub const fn derivative_name(self) -> &'static str {
        match self {
            Direction::X => "ddx",
            Direction::Y => "ddy",
        }
    }

    /// The set that holds this direction alone.
    pub const fn lanes(self) -> Lanes {
        match self {
            Direction::X => Lanes::X,
            Direction::Y => Lanes::Y,
        }
    }
}

/// A set of directions: the shadows that a value has, could have, or must have. It is the two-bit
/// lattice of lineage and demand.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lanes(u8);

impl Lanes {
    /// No shadow.
    pub const NONE: Lanes = Lanes(0);
    /// The shadow along x.
    pub const X: Lanes = Lanes(1);
    /// The shadow along y.
    pub const Y: Lanes = Lanes(2);
    /// Both shadows.
    pub const XY: Lanes = Lanes(3);
    /// Every set.
    pub const ALL: [Lanes; 4] = [Lanes::NONE, Lanes::X, Lanes::Y, Lanes::XY];

    /// The set with these two bits; higher bits are dropped.
    pub const fn from_bits(bits: u8) -> Lanes {
        Lanes(bits & 3)
    }

    /// Bit 0: x, bit 1: y.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether the direction is in the set.
    pub const fn has(self, direction: Direction) -> bool {
        self.0 & direction.lanes().0 != 0
    }

    /// Whether every direction of `other` is in the set.
    pub const fn contains(self, other: Lanes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it is the empty set.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// How many directions are in the set.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The directions of `self` that are not in `other`.
    pub const fn without(self, other: Lanes) -> Lanes {
        Lanes(self.0 & !other.0)
    }

    /// `""`, `"x"`, `"y"` or `"xy"`.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "",
            1 => "x",
            2 => "y",
            _ => "xy",
        }
    }
}

impl std::ops::BitOr for Lanes {
    type Output = Lanes;
    fn bitor(self, other: Lanes) -> Lanes {
        Lanes(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Lanes {
    fn bitor_assign(&mut self, other: Lanes) {
        self.0 |= other.0;
    }
}

impl std::ops::BitAnd for Lanes {
    type Output = Lanes;
    fn bitand(self, other: Lanes) -> Lanes {
        Lanes(self.0 & other.0)
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name())
    }
}
