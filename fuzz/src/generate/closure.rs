//! Closures, and the resources that go into them.

use super::Generator;
use super::expression::Expr;
use super::range::ValueRange;
use super::scope::Ty;
use crate::feature::Feature;

impl Generator<'_> {
    /// A closure: made, added, scaled.
    pub(super) fn closure(&mut self, depth: u32) -> Expr {
        let text = match self.choices.weighted(&[2, 2, 2, 2, 1, 2]) {
            0 => return self.leaf(&Ty::Closure),
            1 => {
                let color = self.kept(&Ty::Vector(3), depth);
                let normal = self.kept(&Ty::Vector(3), depth);
                format!("make_closure<Lambert>({color}, {normal})")
            }
            2 => {
                let (a, b) = (self.closure(0), self.expression(&Ty::Closure, depth).text);
                format!("({} + {b})", a.text)
            }
            4 => {
                let inner = self.expression(&Ty::Closure, depth).text;
                let (n, b) = (self.kept(&Ty::Int, depth), self.kept(&Ty::Bool, depth));
                format!("make_closure<coat>({inner}, {n}, {b})")
            }
            5 if self.resources > 0 => {
                self.note(Feature::Resource);
                let (r, x) = (self.resource(depth).text, self.kept(&Ty::Float, depth));
                format!("make_closure<table>({r}, {x})")
            }
            _ => {
                let weight = match self.choices.below(2) {
                    0 => self.kept(&Ty::Float, depth),
                    _ => self.kept(&Ty::Vector(3), depth),
                };
                let scaled = self.expression(&Ty::Closure, depth).text;
                match self.choices.below(2) {
                    0 => format!("({weight} * {scaled})"),
                    _ => format!("({scaled} * {weight})"),
                }
            }
        };
        Expr::new(text, ValueRange::ANY)
    }

    /// A resource by its name, that of a variable, or one of two.
    pub(super) fn resource(&mut self, depth: u32) -> Expr {
        match self.choices.below(3) {
            1 => self.ternary(&Ty::Resource, depth.min(1)),
            _ => self.leaf(&Ty::Resource),
        }
    }
}
