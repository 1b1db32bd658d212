//! `switch`: cases that fall into the next, `default` anywhere, several labels at one place, nested
//! and in loops.

use super::Generator;
use super::range::ValueRange;
use super::scope::Ty;
use super::statement::MAX_DEPTH;
use crate::feature::Feature;

impl Generator<'_> {
    /// A `switch` over something that depends on the point.
    pub(super) fn switch(&mut self) {
        if self.place.depth >= MAX_DEPTH {
            return self.assign();
        }
        self.note(Feature::Switch);
        let ty = self.choices.pick(&[Ty::Int, Ty::Int, Ty::Uint]).clone();
        let value = self.within(&ty, 2, ValueRange::new(0.0, 3.0));
        self.line(&format!("switch ({value}) {{"));
        let mark = self.scope.enter();
        let cases = self.choices.between(1, 4) as usize;
        // One place more than there are cases: then there is no `default`.
        let default = self.choices.below(cases + 1);
        let mut label = i64::from(self.choices.one_in(3));
        for case in 0..cases {
            // The default is before the numbers of its case, after them, or alone.
            let place = match case == default {
                true => self.choices.between(1, 3),
                false => 0,
            };
            if place == 1 || place == 3 {
                self.line("default:");
            }
            if place != 3 {
                for _ in 0..self.choices.between(1, 2) {
                    self.label(&ty, label);
                    label += self.choices.between(1, 2);
                }
            }
            if place == 2 {
                self.line("default:");
            }
            self.case(case + 1 == cases);
        }
        self.scope.leave(mark);
        self.line("}");
    }

    fn label(&mut self, ty: &Ty, label: i64) {
        let text = match self.choices.below(4) {
            1 => format!("{} + 1", label - 1),
            2 => format!("{label:#x}"),
            3 if *ty == Ty::Uint => format!("{label}u"),
            _ => label.to_string(),
        };
        self.line(&format!("case {text}:"));
    }

    /// The statements of a case. What they declare is seen by later cases, too.
    fn case(&mut self, is_last: bool) {
        self.indent += 1;
        self.place.depth += 1;
        self.assign();
        for _ in 0..self.choices.below(3) {
            // An array sized while shading cannot be jumped past, nor a resource.
            let mark = self.scope.enter();
            self.line("{");
            self.indent += 1;
            self.statement();
            self.indent -= 1;
            self.line("}");
            self.scope.leave(mark);
        }
        match self.choices.weighted(&[5, 4, 1, 1]) {
            1 => {
                if !is_last {
                    self.note(Feature::FallThrough);
                }
            }
            2 if self.place.loops > 0 => self.line("continue;"),
            3 if self.place.result.is_some() => {
                let leave = self.returned(1);
                self.line(&leave);
            }
            _ => self.line("break;"),
        }
        self.place.depth -= 1;
        self.indent -= 1;
    }
}
