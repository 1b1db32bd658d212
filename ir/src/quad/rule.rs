//! The rules of quads: which points of a quad take their differences from which.

use crate::types::Direction;

/// A point of a quad. Its row counts downwards, as pixels do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Corner {
    /// The first point, which is the point itself in an evaluation of a single one.
    #[default]
    UpperLeft,
    /// One to the right of the first.
    UpperRight,
    /// One below the first.
    LowerLeft,
    /// One to the right and one below.
    LowerRight,
}

impl Corner {
    /// All, row by row: the order of the points of a quad in every list.
    pub const ALL: [Corner; 4] = [
        Corner::UpperLeft,
        Corner::UpperRight,
        Corner::LowerLeft,
        Corner::LowerRight,
    ];

    /// The first and the second of the two points whose difference is taken in that direction:
    /// those of the corner's row, from left to right, or those of its column, from top to bottom.
    ///
    /// ```
    /// use adumbra_ir::{Direction, quad::Corner};
    /// let (above, below) = Corner::LowerRight.neighbours(Direction::Y);
    /// assert_eq!((above, below), (Corner::UpperRight, Corner::LowerRight));
    /// ```
    pub const fn neighbours(self, direction: Direction) -> (Corner, Corner) {
        let (row, column) = (self as usize / 2, self as usize % 2);
        match direction {
            Direction::X => (Corner::ALL[2 * row], Corner::ALL[2 * row + 1]),
            Direction::Y => (Corner::ALL[column], Corner::ALL[2 + column]),
        }
    }
}

/// Which neighbours the points of a quad take their differences from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quad {
    /// Each point from its own row and its own column.
    Fine,
    /// All four from one row and one column, which meet in this corner. GPUs differ in the corner.
    Coarse(Corner),
}

impl Quad {
    /// Every rule.
    pub const ALL: [Quad; 5] = [
        Quad::Fine,
        Quad::Coarse(Corner::UpperLeft),
        Quad::Coarse(Corner::UpperRight),
        Quad::Coarse(Corner::LowerLeft),
        Quad::Coarse(Corner::LowerRight),
    ];

    /// The two points whose difference, second minus first, is the derivative at a point.
    pub const fn neighbours(self, own: Corner, direction: Direction) -> (Corner, Corner) {
        let corner = match self {
            Quad::Fine => own,
            Quad::Coarse(corner) => corner,
        };
        corner.neighbours(direction)
    }
}
