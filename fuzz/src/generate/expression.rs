//! Expressions of a wanted type, with the range of their values.

use super::Generator;
use super::fit::{kept_range, negative_in_parentheses};
use super::ops::{self, WrittenOps};
use super::range::ValueRange;
use super::scope::Ty;

/// An expression that is valid anywhere: a name, a literal, a call, or in parentheses.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Its text.
    pub(super) text: String,
    /// Where its scalars are expected to lie.
    pub(super) range: ValueRange,
}

impl Expr {
    pub(super) fn new(text: impl Into<String>, range: ValueRange) -> Expr {
        Expr {
            text: text.into(),
            range,
        }
    }
}

/// The names of a vector's components.
pub(super) const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// Floats that hurt.
const WILD_FLOATS: [&str; 7] = [
    "0.0",
    "(-0.0)",
    "1e30",
    "(-3e38)",
    "1e-40",
    "16777217.0",
    "(1.0 / 0.0)",
];

impl Generator<'_> {
    /// An expression of the type, at most `depth` deep.
    pub(super) fn expression(&mut self, ty: &Ty, depth: u32) -> Expr {
        self.budget = self.budget.saturating_sub(1);
        if depth == 0 || self.budget == 0 || self.choices.exhausted() {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match ty {
            Ty::Float => self.float(depth),
            Ty::Int => self.whole(ty, &ops::INT, depth),
            Ty::Uint => self.whole(ty, &ops::UINT, depth),
            Ty::Bool => self.truth(depth),
            Ty::Vector(n) => self.vector(*n, depth),
            Ty::Matrix(n) => self.matrix(*n, depth),
            Ty::Struct(_) => self.structure(ty, depth),
            Ty::Closure => self.closure(depth),
            Ty::Resource => self.resource(depth),
            Ty::Array(..) | Ty::Sized(..) => self.leaf(ty),
        }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        let ty = match self.choices.weighted(&[14, 1, 1]) {
            1 => Ty::Int,
            2 => Ty::Float,
            _ => Ty::Bool,
        };
        self.expression(&ty, depth).text
    }

    /// A name or a literal. Arrays must be in scope.
    pub(super) fn leaf(&mut self, ty: &Ty) -> Expr {
        let kind = self.choices.weighted(&[2, 4, 5]);
        if kind == 2
            && let Some(path) = self.path(ty, false, 0)
        {
            return Expr::new(path, kept_range(ty));
        }
        let global = kind > 0;
        match ty {
            Ty::Float if global => {
                let name = *self.choices.pick(&["ga", "gb"]);
                Expr::new(format!("global_value<{name}>"), ValueRange::new(-2.0, 2.0))
            }
            Ty::Float => self.float_literal(),
            Ty::Int if global => Expr::new("global_value<gn>", ValueRange::new(-8.0, 7.0)),
            Ty::Int => {
                let n = self.choices.between(-8, 8);
                Expr::new(
                    negative_in_parentheses(n),
                    ValueRange::new(n as f64, n as f64),
                )
            }
            Ty::Uint if global => Expr::new("global_value<gm>", ValueRange::new(0.0, 15.0)),
            Ty::Uint => {
                let n = self.choices.between(0, 15);
                Expr::new(format!("((uint){n})"), ValueRange::new(n as f64, n as f64))
            }
            Ty::Bool => {
                let text = *self.choices.pick(&["true", "false", "global_value<gflag>"]);
                Expr::new(text, ValueRange::new(0.0, 1.0))
            }
            Ty::Vector(n) => {
                let name = ["guv", "gpos", "gcol"][n - 2];
                Expr::new(format!("global_value<{name}>"), ValueRange::new(-2.0, 2.0))
            }
            Ty::Matrix(n) => self.matrix_leaf(*n, global),
            Ty::Struct(i) => {
                let maker = format!("make_{}", self.structs[*i].name);
                let seed = self.leaf(&Ty::Float);
                Expr::new(format!("{maker}({})", seed.text), ValueRange::FLOAT)
            }
            Ty::Closure => {
                let weight = self.leaf(&Ty::Float).text;
                Expr::new(format!("make_closure<glow>({weight})"), ValueRange::ANY)
            }
            Ty::Resource => {
                let number = self.choices.below(self.resources);
                Expr::new(format!("r{number}"), ValueRange::ANY)
            }
            Ty::Array(..) | Ty::Sized(..) => {
                unreachable!("arrays are only asked for where one is in scope")
            }
        }
    }

    fn float_literal(&mut self) -> Expr {
        if self.wild(24) {
            return Expr::new(*self.choices.pick(&WILD_FLOATS), ValueRange::ANY);
        }
        let x = self.choices.between(-32, 32) as f64 / 16.0;
        let text = format!("{x:?}");
        let text = if x < 0.0 { format!("({text})") } else { text };
        Expr::new(text, ValueRange::new(x, x))
    }

    fn float(&mut self, depth: u32) -> Expr {
        let buffers = self.profile.younger(7);
        match self
            .choices
            .weighted(&[4, 24, 20, 6, 10, 6, 4, 4, 7, 4, 3, 4, 3, 3, buffers])
        {
            0 => self.leaf(&Ty::Float),
            1 => self.any_of(&ops::float(self.profile).linear, &Ty::Float, depth),
            2 => self.any_of(&ops::float(self.profile).smooth, &Ty::Float, depth),
            3 => self.any_of(&ops::float(self.profile).jumping, &Ty::Float, depth),
            4 => self.call_or_leaf(&Ty::Float, depth),
            5 => self.path_or_leaf(&Ty::Float, depth),
            6 => self.ternary(&Ty::Float, depth),
            7 => {
                let n = self.choices.between(2, 4) as usize;
                let v = self.expression(&Ty::Vector(n), depth);
                let component = self.choices.pick(&COMPONENTS[..n]);
                Expr::new(format!("{}.{component}", v.text), v.range)
            }
            8 => self.library(&Ty::Float, depth),
            9 => self.sample_alpha(depth),
            10 => self.shadow(&Ty::Float, depth),
            12 => self.float_of_matrix(depth),
            13 => self.any_of(&ops::float(self.profile).noise, &Ty::Float, depth),
            14 => self.element(&Ty::Float, depth),
            _ => self.assignment(&Ty::Float, depth),
        }
    }

    fn whole(&mut self, ty: &Ty, written: &WrittenOps, depth: u32) -> Expr {
        let [element, length] = [2, 1].map(|weight| self.profile.younger(weight));
        match self
            .choices
            .weighted(&[6, 14, 4, 4, 3, 3, 2, 1, element, length])
        {
            0 => self.leaf(ty),
            1 => self.any_of(&written.jumping, ty, depth),
            2 => self.call_or_leaf(ty, depth),
            3 => self.path_or_leaf(ty, depth),
            4 => self.ternary(ty, depth),
            5 => self.assignment(ty, depth),
            7 => self.library(ty, depth),
            8 if *ty == Ty::Int => self.element(ty, depth),
            9 if *ty == Ty::Int => self.buffer_length(),
            _ => match self.path(ty, true, 0) {
                Some(path) if !self.choices.one_in(2) => Expr::new(
                    format!("({path}{})", self.choices.pick(&["++", "--"])),
                    kept_range(ty).widened(0.1),
                ),
                Some(path) => Expr::new(
                    format!("({}{path})", self.choices.pick(&["++", "--"])),
                    kept_range(ty).widened(0.1),
                ),
                None => self.leaf(ty),
            },
        }
    }

    fn truth(&mut self, depth: u32) -> Expr {
        let text = match self.choices.weighted(&[2, 16, 3, 3, 2, 2, 1]) {
            0 => return self.leaf(&Ty::Bool),
            1 => return self.any_of(&ops::BOOL.jumping, &Ty::Bool, depth),
            2 => {
                let (a, b) = (self.condition(depth), self.condition(depth));
                format!("({a} && {b})")
            }
            3 => {
                let (a, b) = (self.condition(depth), self.condition(depth));
                format!("({a} || {b})")
            }
            4 => format!("(!{})", self.condition(depth)),
            6 => return self.library(&Ty::Bool, depth),
            _ => return self.ternary(&Ty::Bool, depth),
        };
        Expr::new(text, ValueRange::new(0.0, 1.0))
    }

    pub(super) fn ternary(&mut self, ty: &Ty, depth: u32) -> Expr {
        let condition = self.condition(depth);
        let (yes, no) = (self.expression(ty, depth), self.expression(ty, depth));
        Expr::new(
            format!("({condition} ? {} : {})", yes.text, no.text),
            yes.range.join(no.range),
        )
    }

    pub(super) fn shadow(&mut self, ty: &Ty, depth: u32) -> Expr {
        if !self.profile.shadows {
            return self.expression(ty, depth);
        }
        let of = self.expression(ty, depth);
        let name = match ty {
            Ty::Struct(_) | Ty::Matrix(_) => *self.choices.pick(&["ddx", "ddy"]),
            _ => *self.choices.pick(&["ddx", "ddy", "dFdx", "Dy", "fwidth"]),
        };
        Expr::new(format!("{name}({})", of.text), ValueRange::new(-8.0, 8.0))
    }

    /// An assignment, as an expression.
    pub(super) fn assignment(&mut self, ty: &Ty, depth: u32) -> Expr {
        let value = self.kept(ty, depth);
        match self.path(ty, true, 0) {
            Some(place) => Expr::new(format!("({place} = {value})"), kept_range(ty)),
            None => Expr::new(value, kept_range(ty)),
        }
    }
}
