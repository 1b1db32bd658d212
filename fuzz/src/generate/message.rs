//! Messages with conversions of every kind.

use super::Generator;
use super::scope::Ty;

/// The most conversions of a message.
const MAX_CONVERSIONS: i64 = 3;

impl Generator<'_> {
    /// A `printf`.
    pub(super) fn message(&mut self) {
        let mut format = self.name("t");
        let mut arguments = String::new();
        for _ in 0..self.choices.between(0, MAX_CONVERSIONS) {
            let (conversion, ty) = match self.choices.below(10) {
                1 => ("%.3e", Ty::Float),
                2 => ("%g", Ty::Vector(self.choices.between(2, 4) as usize)),
                3 => ("%8.2f", Ty::Matrix(self.choices.between(2, 4) as usize)),
                4 => ("%d", Ty::Int),
                5 => ("%+i", Ty::Int),
                6 => ("%-6d", Ty::Bool),
                7 => ("%08x", Ty::Uint),
                8 => ("%u", Ty::Uint),
                // An int becomes a float.
                9 => ("% f", Ty::Int),
                _ => ("%f", Ty::Float),
            };
            format.push_str(&format!(" {conversion}"));
            arguments.push_str(&format!(", {}", self.kept(&ty, 2)));
        }
        if self.choices.one_in(6) {
            format.push_str(" 100%%\\n");
        }
        self.line(&format!("printf(\"{format}\"{arguments});"));
    }
}
