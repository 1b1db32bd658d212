//! Expressions: smooth for the most part, and of moderate size.

use super::types::Ty;
use super::{DerivedKind, Writer};
use crate::generate::Profile;
use crate::generate::ops::{self, WrittenOp};
use adumbra_ops::definition::OperandKind;

/// Expressions that keep within a few units. `A`, `B` and `C` are floats, `N` is an int.
const TEMPLATES: &[&str] = &[
    "sin(A)",
    "cos(A)",
    "tanh(A)",
    "(A + B)",
    "(A - B)",
    "(A * B)",
    "(A / (1.5 + sin(B)))",
    "exp(sin(A))",
    "log(1.5 + sin(A))",
    "sqrt(1.5 + sin(A))",
    "pow(1.5 + sin(A), cos(B))",
    "atan2(A, 1.5 + cos(B))",
    "mix(A, B, sin(C))",
    "smoothstep(-1.0, 1.5, A)",
    "clamp(A, -0.8, 0.9)",
    "max(A, B)",
    "min(A, B)",
    "abs(A)",
    "(A < B ? C : A)",
    "(A < B ? A * C : B)",
    "dot(float2(A, B), float2(C, 0.5))",
    "length(float3(A, B, 0.7))",
    "normalize(float2(A, 1.5 + cos(B))).y",
    "distance(float2(A, B), float2(0.3, 2.5))",
    "reflect(float2(A, B), float2(0.6, 0.8)).x",
    "cross(float3(A, B, 0.5), float3(0.2, C, 1.0)).z",
    "fract(A)",
    "(A * float(N))",
];

impl Writer<'_> {
    /// An expression of a type that is no struct and no array.
    pub(super) fn expression(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Int => self.int(depth),
            Ty::Vector(n) => self.vector(*n, depth),
            Ty::Float => self.float(depth),
            Ty::Array(_) | Ty::Struct(_) => self.place(ty),
        }
    }

    /// A float or an int.
    pub(super) fn scalar(&mut self, is_float: bool, depth: u32) -> String {
        match is_float {
            true => self.float(depth),
            false => self.int(depth),
        }
    }

    /// A float.
    pub(super) fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.budget == 0 {
            return self.leaf();
        }
        self.budget -= 1;
        let found = match self.choices.weighted(&[4, 14, 6, 3, 2, 2, 2, 1, 3]) {
            1 => Some(self.template(depth - 1)),
            2 => Some(self.operation(depth - 1)),
            3 => self.call(depth - 1),
            4 => self.inner_derivative(depth - 1),
            5 => self.constant(depth - 1),
            6 if self.kind == DerivedKind::Engines => {
                let [u, v] = [(); 2].map(|()| self.float(depth - 1));
                Some(format!("(no_diff texture2d_sample_alpha<t0>({u}, {v}))"))
            }
            7 => self.lossy(depth - 1),
            8 => self.element(depth - 1),
            _ => None,
        };
        found.unwrap_or_else(|| self.leaf())
    }

    /// A number of a buffer, at a constant index or at one that depends on the point.
    fn element(&mut self, depth: u32) -> Option<String> {
        if self.buffers.is_empty() {
            return None;
        }
        let (name, components) = self.choices.pick(&self.buffers).clone();
        let index = match self.choices.below(3) {
            0 => self.choices.between(-1, 4).to_string(),
            1 => self.int(1),
            _ => format!("(int)({} * {name}.length())", self.float(depth)),
        };
        let component = match components {
            1 => "",
            n => *self.choices.pick(&[".x", ".y", ".z", ".w"][..n]),
        };
        Some(format!("{name}[{index}]{component}"))
    }

    fn template(&mut self, depth: u32) -> String {
        let template = *self.choices.pick(TEMPLATES);
        self.filled(template, depth)
    }

    /// A template with expressions in place of its letters.
    pub(super) fn filled(&mut self, template: &str, depth: u32) -> String {
        let mut operands: [Option<String>; 3] = Default::default();
        let mut text = String::new();
        for c in template.chars() {
            match c {
                'A'..='C' => {
                    let place = c as usize - 'A' as usize;
                    let operand = match &operands[place] {
                        Some(operand) => operand.clone(),
                        None => self.float(depth),
                    };
                    text.push_str(&operand);
                    operands[place] = Some(operand);
                }
                'N' => text.push_str(&self.int(1)),
                _ => text.push(c),
            }
        }
        text
    }

    /// An op of the table, on operands for which it is tame.
    fn operation(&mut self, depth: u32) -> String {
        let ops = ops::float(Profile::GRADIENT);
        let group = match self.choices.weighted(&[2, 8, 1, 2]) {
            0 => &ops.linear,
            1 => &ops.smooth,
            2 => &ops.jumping,
            _ => &ops.noise,
        };
        let op = self.choices.pick(group).clone();
        let mut operands = Vec::new();
        for (i, kind) in op.operands().iter().enumerate() {
            operands.push(match kind {
                OperandKind::Float => {
                    let text = self.float(depth);
                    tamed(&op, i, text)
                }
                OperandKind::Bool => self.condition(depth),
                OperandKind::U32 => format!("((uint){})", self.int(1)),
                OperandKind::I32 | OperandKind::Int | OperandKind::Word => {
                    format!("({})", self.int(1))
                }
            });
        }
        op.write(&operands)
    }

    /// A value whose gradient stops on purpose, where that is allowed.
    fn constant(&mut self, depth: u32) -> Option<String> {
        if !self.has_constants {
            return None;
        }
        let value = self.float(depth);
        Some(match self.choices.one_in(2) {
            true => format!("detach({value})"),
            false => format!("(no_diff {value})"),
        })
    }

    /// A value whose gradient may be lost, which the checker has to say.
    fn lossy(&mut self, depth: u32) -> Option<String> {
        if !self.has_losses {
            return None;
        }
        let value = self.float(depth);
        Some(match self.choices.below(4) {
            0 => format!("plain_float({value})"),
            1 => format!("plain_struct({value}).a"),
            2 => format!("plain_array({value})"),
            _ => format!("float((int)({value} * 64.0)) / 64.0"),
        })
    }

    fn vector(&mut self, n: usize, depth: u32) -> String {
        let fits = |v: &&super::Variable| v.ty == Ty::Vector(n);
        let found: Vec<String> = (self.scope.iter().filter(fits))
            .map(|v| v.name.clone())
            .collect();
        if depth == 0 || self.budget == 0 || self.choices.one_in(4) {
            if !found.is_empty() {
                return self.choices.pick(&found).clone();
            }
            return format!("float{n}({})", self.leaf());
        }
        self.budget -= 1;
        match self.choices.below(5) {
            0 => {
                let [a, b] = [(); 2].map(|()| self.vector(n, depth - 1));
                let operator = self.choices.pick(&["+", "-", "*"]);
                format!("({a} {operator} {b})")
            }
            1 => format!("sin({})", self.vector(n, depth - 1)),
            2 => {
                let (a, b) = (self.vector(n, depth - 1), self.float(depth - 1));
                format!("({a} * {b})")
            }
            3 => {
                let [a, b] = [(); 2].map(|()| self.vector(n, depth - 1));
                format!("mix({a}, {b}, {})", self.float(0))
            }
            _ => {
                let parts: Vec<String> = (0..n).map(|_| self.float(depth - 1)).collect();
                format!("float{n}({})", parts.join(", "))
            }
        }
    }

    /// A scalar of a variable, or a number.
    fn leaf(&mut self) -> String {
        let count = self.scope.len();
        if count == 0 || self.choices.one_in(9) {
            let number = self.choices.between(-15, 19) as f64 / 10.0;
            // In parentheses, since `--1.0` is something else.
            return match number < 0.0 {
                true => format!("({number:.1})"),
                false => format!("{number:.1}"),
            };
        }
        let variable = self.scope[self.choices.below(count)].clone();
        match &variable.ty {
            Ty::Int => format!("float({})", variable.name),
            Ty::Array(n) => {
                let index = self.index(*n);
                format!("{}[{index}]", variable.name)
            }
            ty => {
                let leaves = self.leaves(ty);
                let leaf = self.choices.pick(&leaves);
                match leaf.is_float {
                    true => format!("{}{}", variable.name, leaf.path),
                    false => format!("float({}{})", variable.name, leaf.path),
                }
            }
        }
    }

    /// An index into that many elements.
    pub(super) fn index(&mut self, n: usize) -> String {
        match self.choices.below(3) {
            0 => self.choices.below(n).to_string(),
            _ if n == 3 => format!("(({} & 1) + 1)", self.int(1)),
            _ => format!("({} & {})", self.int(1), n - 1),
        }
    }

    /// An int, of a few units.
    pub(super) fn int(&mut self, depth: u32) -> String {
        let ints: Vec<String> = (self.scope.iter())
            .filter(|v| v.ty == Ty::Int)
            .map(|v| v.name.clone())
            .collect();
        if ints.is_empty() || self.choices.one_in(5) {
            return self.choices.between(0, 4).to_string();
        }
        let name = self.choices.pick(&ints).clone();
        if depth == 0 {
            return name;
        }
        match self.choices.below(6) {
            0 => format!("({name} + {})", self.int(depth - 1)),
            1 => format!("({} - {name})", self.choices.between(1, 5)),
            2 => format!("({name} & {})", self.choices.pick(&[1, 3])),
            3 => format!("({name} * {})", self.choices.between(2, 3)),
            _ => name,
        }
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: u32) -> String {
        match self.choices.below(4) {
            0 => format!("({} < {})", self.int(1), self.int(1)),
            1 => format!("(({} & 1) == 0)", self.int(1)),
            2 => {
                let [a, b] = [(); 2].map(|()| self.float(depth.min(1)));
                format!("({a} * {b} > 0.1 && {} != 2)", self.int(1))
            }
            _ => {
                let [a, b] = [(); 2].map(|()| self.float(depth.min(1)));
                format!("({a} < {b})")
            }
        }
    }
}

/// An operand brought to where an op is tame.
fn tamed(op: &WrittenOp, place: usize, text: String) -> String {
    let range = op.domain(place);
    if range.low <= -8.0 && range.high >= 8.0 {
        return text;
    }
    let middle = f64::midpoint(range.low, range.high);
    let reach = 0.45 * (range.high - range.low);
    format!("({middle:?} + {reach:?} * sin({text}))")
}
