//! Samples of textures, with footprints of every kind.

use super::Generator;
use super::expression::Expr;
use super::range::ValueRange;
use super::scope::Ty;
use crate::feature::Feature;

impl Generator<'_> {
    /// A sample's colour.
    pub(super) fn sample_color(&mut self, depth: u32) -> Expr {
        self.sample("texture2d_sample", &Ty::Vector(3), depth)
    }

    /// A sample's alpha.
    pub(super) fn sample_alpha(&mut self, depth: u32) -> Expr {
        self.sample("texture2d_sample_alpha", &Ty::Float, depth)
    }

    /// A sample where the program has textures, or a leaf.
    fn sample(&mut self, word: &str, ty: &Ty, depth: u32) -> Expr {
        if self.textures == 0 {
            return self.leaf(ty);
        }
        let texture = format!("g{}", self.choices.below(self.textures));
        let numbers = self.choices.one_in(2);
        let at = self.pair(numbers, depth);
        // A footprint of one's own is no slope, so there is nothing to hold it against.
        let footprint = if self.profile.shadows { 2 } else { 0 };
        let (suffix, more) = match self.choices.weighted(&[7, 2, footprint]) {
            1 => ("_level", format!(", {}", self.kept(&Ty::Float, depth))),
            2 => {
                self.note(Feature::Footprint);
                let x = self.pair(numbers, depth);
                let y = self.pair(numbers, depth);
                ("_grad", format!(", {x}, {y}"))
            }
            _ => ("", String::new()),
        };
        Expr::new(
            format!("{word}{suffix}<{texture}>({at}{more})"),
            ValueRange::new(0.0, 1.0),
        )
    }

    /// Two floats that depend on what is around, as two numbers or as a vector.
    fn pair(&mut self, numbers: bool, depth: u32) -> String {
        if !numbers {
            return self.kept(&Ty::Vector(2), depth);
        }
        let u = self.kept(&Ty::Float, depth);
        let v = self.kept(&Ty::Float, depth);
        format!("{u}, {v}")
    }
}
