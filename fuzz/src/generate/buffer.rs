//! Buffers of the host: their declarations, elements at indices of every kind, sums in loops.

use super::Generator;
use super::expression::Expr;
use super::fit::kept_range;
use super::loops::MAX_LOOPS;
use super::range::ValueRange;
use super::scope::Ty;
use crate::buffers::{FIRST_WILD, NUMBERS, length, name};
use crate::feature::Feature;

/// The most elements that a loop adds.
const MAX_SUMMED: i64 = 4;

/// A buffer of the program.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    name: String,
    element: Ty,
    length: usize,
}

impl Buffer {
    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether its elements are floats.
    pub(super) fn is_of_floats(&self) -> bool {
        self.element == Ty::Float
    }
}

impl Generator<'_> {
    /// A buffer, empty, short or long.
    pub(super) fn buffer_item(&mut self) {
        let element = match self.choices.weighted(&[6, 1, 2, 1, 3]) {
            4 => Ty::Int,
            0 => Ty::Float,
            n => Ty::Vector(n + 1),
        };
        let numbers = if self.profile.wild {
            NUMBERS
        } else {
            FIRST_WILD
        };
        let number = self.choices.below(numbers);
        let text = element.text(&self.structs);
        let name = name(&text, number);
        if self.buffers.iter().any(|other| other.name == name) {
            return;
        }
        let metadata = self.metadata();
        self.line(&format!("buffer<{text}> {name}{metadata};"));
        self.buffers.push(Buffer {
            name,
            element,
            length: length(number),
        });
    }

    /// An element of a buffer, or a part of one; a leaf where no buffer has any.
    pub(super) fn element(&mut self, ty: &Ty, depth: u32) -> Expr {
        let buffers = self.buffers.iter();
        let able: Vec<Buffer> = buffers
            .filter(|buffer| buffer.element.holds(ty, &self.structs))
            .cloned()
            .collect();
        if able.is_empty() {
            return self.leaf(ty);
        }
        let buffer = self.choices.pick(&able).clone();
        let index = self.element_index(&buffer, depth);
        self.element_at(&buffer, &index, ty)
    }

    fn element_at(&mut self, buffer: &Buffer, index: &str, ty: &Ty) -> Expr {
        self.note(Feature::Buffer);
        if buffer.length == 0 {
            self.note(Feature::EmptyBuffer);
        }
        if !self.is_in_shader() {
            self.note(Feature::BufferInFunction);
        }
        let text = self.down(format!("{}[{index}]", buffer.name), &buffer.element, ty, 0);
        let range = match (self.profile.wild, ty) {
            (_, Ty::Int) => ValueRange::new(-8.0, 7.0),
            (true, _) => ValueRange::ANY,
            (false, _) => ValueRange::new(-2.0, 2.0),
        };
        Expr::new(text, range)
    }

    /// An index into a buffer: a constant, or one that depends on the point, by an int or by a
    /// float; beyond the ends at times.
    fn element_index(&mut self, buffer: &Buffer, depth: u32) -> String {
        let name = &buffer.name;
        if depth == 0 || self.choices.percent(35) {
            // Low ones are read at several places. The last is beyond the end of most buffers.
            let last = buffer.length as i64 - 1;
            return self.choices.pick(&[0, 1, 2, 3, last, 41]).to_string();
        }
        match self.choices.weighted(&[4, 4, 2, 2]) {
            1 => {
                let x = self.within(&Ty::Float, depth - 1, ValueRange::new(0.0, 1.0));
                format!("(int)({x} * {name}.length())")
            }
            2 => self.expression(&Ty::Int, depth - 1).text,
            3 => {
                let i = self.expression(&Ty::Int, depth - 1).text;
                format!("min({i} & 15, {name}.length() - 1)")
            }
            _ => {
                let i = self.expression(&Ty::Int, depth - 1).text;
                format!("({i} % {name}.length() + {name}.length()) % {name}.length()")
            }
        }
    }

    /// The number of elements of a buffer, or a leaf where there is none.
    pub(super) fn buffer_length(&mut self) -> Expr {
        if self.buffers.is_empty() {
            return self.leaf(&Ty::Int);
        }
        self.note(Feature::BufferLength);
        let buffer = self.choices.pick(&self.buffers);
        let length = buffer.length as f64;
        Expr::new(
            format!("{}.length()", buffer.name),
            ValueRange::new(length, length),
        )
    }

    /// A sum of elements, weighted, in a loop over indices that go on from some place.
    pub(super) fn buffer_sum(&mut self) {
        if self.buffers.is_empty() || self.place.loops >= MAX_LOOPS {
            return self.assign();
        }
        let buffer = self.choices.pick(&self.buffers).clone();
        let ty = buffer.element.clone();
        self.note(Feature::BufferLoop);
        let (sum, i) = (self.name("v"), self.name("i"));
        let first = match self.choices.below(3) {
            0 => self.element_index(&buffer, 2),
            _ => "0".to_owned(),
        };
        let count = self.choices.between(1, MAX_SUMMED);
        let end = match self.choices.below(3) {
            0 => count.to_string(),
            1 => {
                let x = self.within(&Ty::Float, 2, ValueRange::new(0.5, count as f64 + 0.5));
                format!("(int){x}")
            }
            _ => {
                self.note(Feature::BufferLength);
                format!("min({count}, {}.length())", buffer.name)
            }
        };
        let mark = self.scope.enter();
        self.scope.declare(&i, &Ty::Int, false);
        let times = self.place.times;
        self.place.times = times * MAX_SUMMED as u64;
        self.place.cost += self.place.times;
        let index = match first.as_str() {
            "0" if self.choices.one_in(3) => format!("2 * {i} + 1"),
            "0" => i.clone(),
            first => format!("{first} + {i}"),
        };
        let element = self.element_at(&buffer, &index, &ty);
        let term = match ty {
            Ty::Int => element.text,
            _ => {
                let weight = self.within(&Ty::Float, 2, ValueRange::new(-1.0, 1.0));
                format!(
                    "{} * {weight}",
                    self.fit(element, &ty, kept_range(&ty)).text
                )
            }
        };
        self.place.times = times;
        self.scope.leave(mark);
        let text = ty.text(&self.structs);
        self.line(&format!("{text} {sum};"));
        self.line(&format!("for (int {i} = 0; {i} < {end}; ++{i}) {{"));
        self.line(&format!("    {sum} += {term};"));
        self.line("}");
        self.scope.declare(&sum, &ty, true);
    }
}
