//! Types of IR values, and the shapes of what a host sees.

use std::fmt;
use std::sync::Arc;

/// The type of one IR value. Vectors, matrices and structs do not exist in the IR: lowering took them apart.
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

    /// Whether it stands for something else, which no number can forge.
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

/// A type as the host and the shader writer see it: what a global, an input, an output or a closure parameter is.
/// Its scalars in order (`for_each_scalar`) are what lowering made of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One scalar.
    Scalar(Scalar),
    /// 2, 3 or 4 floats.
    Vector(u8),
    /// n×n floats, row by row.
    Matrix(u8),
    /// That many elements of one type.
    Array(Arc<Type>, u32),
    /// Named members in order.
    Struct(Arc<StructType>),
}

/// A struct as the host sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// The struct's name.
    pub name: String,
    /// Name and type of each member.
    pub members: Vec<(String, Type)>,
}

impl StructType {
    /// The member of that name: how many scalars stand before it, and its type.
    pub fn member(&self, name: &str) -> Option<(usize, &Type)> {
        let mut before = 0;
        for (known, ty) in &self.members {
            if known == name {
                return Some((before, ty));
            }
            before += ty.scalar_count();
        }
        None
    }
}

impl Type {
    /// A float.
    pub const FLOAT: Type = Type::Scalar(Scalar::F32);

    /// How many scalars it has. Arrays count their elements.
    pub fn scalar_count(&self) -> usize {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(n) => *n as usize,
            Type::Matrix(n) => *n as usize * *n as usize,
            Type::Array(element, n) => element.scalar_count() * *n as usize,
            Type::Struct(s) => s.members.iter().map(|(_, t)| t.scalar_count()).sum(),
        }
    }

    /// The type of each scalar, in order.
    pub fn for_each_scalar(&self, f: &mut impl FnMut(Scalar)) {
        match self {
            Type::Scalar(s) => f(*s),
            Type::Vector(n) => (0..*n).for_each(|_| f(Scalar::F32)),
            Type::Matrix(n) => (0..*n * *n).for_each(|_| f(Scalar::F32)),
            Type::Array(element, n) => (0..*n).for_each(|_| element.for_each_scalar(f)),
            Type::Struct(s) => s.members.iter().for_each(|(_, t)| t.for_each_scalar(f)),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(Scalar::F32) => f.write_str("float"),
            Type::Scalar(Scalar::I32) => f.write_str("int"),
            Type::Scalar(Scalar::U32) => f.write_str("uint"),
            Type::Scalar(Scalar::Bool) => f.write_str("bool"),
            Type::Scalar(Scalar::Closure) => f.write_str("closure"),
            Type::Scalar(Scalar::Resource) => f.write_str("shader_resource"),
            Type::Vector(n) => write!(f, "float{n}"),
            Type::Matrix(n) => write!(f, "float{n}x{n}"),
            Type::Array(element, n) => {
                // As it is declared, the outermost length comes first.
                let (mut innermost, mut lengths) = (element, format!("[{n}]"));
                while let Type::Array(element, n) = &**innermost {
                    lengths.push_str(&format!("[{n}]"));
                    innermost = element;
                }
                write!(f, "{innermost}{lengths}")
            }
            Type::Struct(s) => f.write_str(&s.name),
        }
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

    /// The set that holds this direction alone.
    pub const fn lanes(self) -> Lanes {
        match self {
            Direction::X => Lanes::X,
            Direction::Y => Lanes::Y,
        }
    }
}

/// A set of directions: which shadows a value has, could have, or is asked for. The two-bit lattice of lineage and demand.
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
