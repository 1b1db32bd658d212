//! Expressions of a wanted type, with the range of their values.

use super::Generator;
use super::range::Range;
use super::rows::{self, Rows, WrittenRow};
use super::scope::Ty;
use adumbra_ir::ops::row::{Class, Kind};

/// An expression that can stand anywhere: a name, a literal, a call, or in parentheses.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Its text.
    pub(super) text: String,
    /// Where its scalars are expected to lie.
    pub(super) range: Range,
}

impl Expr {
    pub(super) fn new(text: impl Into<String>, range: Range) -> Expr {
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
    /// An expression of the type, at most `depth` deep, within what variables of its type are kept in.
    pub(super) fn kept(&mut self, ty: &Ty, depth: u32) -> String {
        let made = self.expression(ty, depth);
        self.fit(made, ty, home(ty)).text
    }

    /// An expression of the type, at most `depth` deep.
    pub(super) fn expression(&mut self, ty: &Ty, depth: u32) -> Expr {
        self.budget = self.budget.saturating_sub(1);
        if depth == 0 || self.budget == 0 || self.choices.exhausted() {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match ty {
            Ty::Float => self.float(depth),
            Ty::Int => self.whole(ty, &rows::INT, depth),
            Ty::Uint => self.whole(ty, &rows::UINT, depth),
            Ty::Bool => self.truth(depth),
            Ty::Vector(n) => self.vector(*n, depth),
            Ty::Struct(_) => self.structure(ty, depth),
            Ty::Closure => self.closure(depth),
            Ty::Array(..) => self.leaf(ty),
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
            return Expr::new(path, home(ty));
        }
        let global = kind > 0;
        match ty {
            Ty::Float if global => {
                let name = *self.choices.pick(&["ga", "gb"]);
                Expr::new(format!("global_value<{name}>"), Range::new(-2.0, 2.0))
            }
            Ty::Float => self.float_literal(),
            Ty::Int if global => Expr::new("global_value<gn>", Range::new(-8.0, 7.0)),
            Ty::Int => {
                let n = self.choices.between(-8, 8);
                Expr::new(negative_in_parentheses(n), Range::new(n as f64, n as f64))
            }
            Ty::Uint if global => Expr::new("global_value<gm>", Range::new(0.0, 15.0)),
            Ty::Uint => {
                let n = self.choices.between(0, 15);
                Expr::new(format!("((uint){n})"), Range::new(n as f64, n as f64))
            }
            Ty::Bool => {
                let text = *self.choices.pick(&["true", "false", "global_value<gflag>"]);
                Expr::new(text, Range::new(0.0, 1.0))
            }
            Ty::Vector(n) => {
                let name = ["guv", "gpos", "gcol"][n - 2];
                Expr::new(format!("global_value<{name}>"), Range::new(-2.0, 2.0))
            }
            Ty::Struct(i) => {
                let maker = format!("make_{}", self.structs[*i].name);
                let seed = self.leaf(&Ty::Float);
                Expr::new(format!("{maker}({})", seed.text), Range::FLOAT)
            }
            Ty::Closure => {
                let weight = self.leaf(&Ty::Float).text;
                Expr::new(format!("make_closure<glow>({weight})"), Range::ANY)
            }
            Ty::Array(..) => unreachable!("arrays are only asked for where one is in scope"),
        }
    }

    fn float_literal(&mut self) -> Expr {
        if self.wild(24) {
            return Expr::new(*self.choices.pick(&WILD_FLOATS), Range::ANY);
        }
        let x = self.choices.between(-32, 32) as f64 / 16.0;
        let text = format!("{x:?}");
        let text = if x < 0.0 { format!("({text})") } else { text };
        Expr::new(text, Range::new(x, x))
    }

    fn float(&mut self, depth: u32) -> Expr {
        match self
            .choices
            .weighted(&[4, 24, 20, 6, 10, 6, 4, 4, 3, 4, 3, 4])
        {
            0 => self.leaf(&Ty::Float),
            1 => self.row(&rows::FLOAT.linear, &Ty::Float, depth),
            2 => self.row(&rows::FLOAT.smooth, &Ty::Float, depth),
            3 => self.row(&rows::FLOAT.jumping, &Ty::Float, depth),
            4 => self.call_or_leaf(&Ty::Float, depth),
            5 => self.path_or_leaf(&Ty::Float, depth),
            6 => self.ternary(&Ty::Float, depth),
            7 => {
                let n = self.choices.between(2, 4) as usize;
                let v = self.expression(&Ty::Vector(n), depth);
                let component = self.choices.pick(&COMPONENTS[..n]);
                Expr::new(format!("{}.{component}", v.text), v.range)
            }
            8 => self.measure(depth),
            9 => self.sample_alpha(depth),
            10 => self.shadow(&Ty::Float, depth),
            _ => self.assignment(&Ty::Float, depth),
        }
    }

    fn whole(&mut self, ty: &Ty, rows: &Rows, depth: u32) -> Expr {
        match self.choices.weighted(&[6, 14, 4, 4, 3, 3, 2]) {
            0 => self.leaf(ty),
            1 => self.row(&rows.jumping, ty, depth),
            2 => self.call_or_leaf(ty, depth),
            3 => self.path_or_leaf(ty, depth),
            4 => self.ternary(ty, depth),
            5 => self.assignment(ty, depth),
            _ => match self.path(ty, true, 0) {
                Some(path) if !self.choices.one_in(2) => Expr::new(
                    format!("({path}{})", self.choices.pick(&["++", "--"])),
                    home(ty).widened(0.1),
                ),
                Some(path) => Expr::new(
                    format!("({}{path})", self.choices.pick(&["++", "--"])),
                    home(ty).widened(0.1),
                ),
                None => self.leaf(ty),
            },
        }
    }

    fn truth(&mut self, depth: u32) -> Expr {
        let text = match self.choices.weighted(&[2, 16, 3, 3, 2, 2]) {
            0 => return self.leaf(&Ty::Bool),
            1 => return self.row(&rows::BOOL.jumping, &Ty::Bool, depth),
            2 => {
                let (a, b) = (self.condition(depth), self.condition(depth));
                format!("({a} && {b})")
            }
            3 => {
                let (a, b) = (self.condition(depth), self.condition(depth));
                format!("({a} || {b})")
            }
            4 => format!("(!{})", self.condition(depth)),
            _ => return self.ternary(&Ty::Bool, depth),
        };
        Expr::new(text, Range::new(0.0, 1.0))
    }

    fn vector(&mut self, n: usize, depth: u32) -> Expr {
        let ty = Ty::Vector(n);
        match self
            .choices
            .weighted(&[4, 8, 10, 8, 4, 5, 3, 3, 3, 3, 2, 2])
        {
            0 => self.leaf(&ty),
            1 => {
                let parts: Vec<Expr> = (0..n).map(|_| self.expression(&Ty::Float, depth)).collect();
                let texts: Vec<&str> = parts.iter().map(|p| p.text.as_str()).collect();
                let range = parts.iter().map(|p| p.range).reduce(Range::join);
                Expr::new(
                    format!("float{n}({})", texts.join(", ")),
                    range.unwrap_or(Range::FLOAT),
                )
            }
            2 => self.vector_operator(n, depth),
            3 => self.vector_row(n, depth),
            4 => self.call_or_leaf(&ty, depth),
            5 => self.path_or_leaf(&ty, depth),
            6 => self.ternary(&ty, depth),
            7 => {
                let from = self.choices.between(2, 4) as usize;
                let v = self.expression(&Ty::Vector(from), depth);
                let swizzle: String = (0..n)
                    .map(|_| *self.choices.pick(&COMPONENTS[..from]))
                    .collect();
                Expr::new(format!("{}.{swizzle}", v.text), v.range)
            }
            8 => self.vector_function(n, depth),
            9 if n == 3 => self.sample_color(depth),
            10 => self.shadow(&ty, depth),
            _ => self.assignment(&ty, depth),
        }
    }

    /// `+ − × ÷` on vectors, with a float on one side at times.
    fn vector_operator(&mut self, n: usize, depth: u32) -> Expr {
        let operators: Vec<&WrittenRow> = rows::FLOAT
            .linear
            .iter()
            .chain(&rows::FLOAT.smooth)
            .filter(|row| !row.is_call() && row.operands() == [Kind::Float; 2])
            .collect();
        let row = (*self.choices.pick(&operators)).clone();
        let scalar_side = self.choices.below(4);
        let (mut texts, mut ranges) = (Vec::new(), Vec::new());
        for side in 0..2 {
            let ty = if scalar_side == side + 1 {
                Ty::Float
            } else {
                Ty::Vector(n)
            };
            let operand = self.operand(&row, side, &ty, depth);
            texts.push(operand.text);
            ranges.push(operand.range);
        }
        Expr::new(row.write(&texts), row.image(&ranges))
    }

    /// A row component by component.
    fn vector_row(&mut self, n: usize, depth: u32) -> Expr {
        let row = self.choices.pick(&rows::FLOAT.smooth).clone();
        if !row.is_call() || row.operands().iter().any(|k| *k != Kind::Float) {
            return self.vector_operator(n, depth);
        }
        self.apply(&row, &Ty::Vector(n), depth)
    }

    /// A library function from vectors to a float.
    fn measure(&mut self, depth: u32) -> Expr {
        let n = self.choices.between(2, 4) as usize;
        let ty = Ty::Vector(n);
        let a = self.kept(&ty, depth);
        let reach = 16.0 * n as f64;
        match self.choices.below(3) {
            0 => Expr::new(format!("length({a})"), Range::new(0.0, reach)),
            1 => {
                let b = self.kept(&ty, depth);
                Expr::new(format!("distance({a}, {b})"), Range::new(0.0, reach))
            }
            _ => {
                let b = self.kept(&ty, depth);
                let reach = 64.0 * n as f64;
                Expr::new(format!("dot({a}, {b})"), Range::new(-reach, reach))
            }
        }
    }

    /// A library function from vectors to a vector.
    fn vector_function(&mut self, n: usize, depth: u32) -> Expr {
        let ty = Ty::Vector(n);
        let a = self.kept(&ty, depth);
        let unit = Range::new(-1.0, 1.0);
        match self.choices.below(5) {
            1 if n == 3 => {
                let b = self.kept(&ty, depth);
                Expr::new(format!("cross({a}, {b})"), Range::new(-128.0, 128.0))
            }
            2 => {
                let b = self.kept(&ty, depth);
                Expr::new(
                    format!("reflect({a}, normalize({b}))"),
                    Range::new(-24.0, 24.0),
                )
            }
            3 => {
                let (b, c) = (self.kept(&ty, depth), self.kept(&ty, depth));
                Expr::new(format!("faceforward({a}, {b}, {c})"), Range::FLOAT)
            }
            4 => {
                let b = self.kept(&ty, depth);
                Expr::new(
                    format!("refract(normalize({a}), normalize({b}), 0.75)"),
                    Range::new(-2.0, 2.0),
                )
            }
            _ => Expr::new(format!("normalize({a})"), unit),
        }
    }

    fn structure(&mut self, ty: &Ty, depth: u32) -> Expr {
        match self.choices.weighted(&[4, 3, 1, 1, 1]) {
            0 => self.leaf(ty),
            1 => self.call_or_leaf(ty, depth),
            2 => self.path_or_leaf(ty, depth),
            3 if !ty.has_arrays(&self.structs) => self.shadow(ty, depth),
            _ => self.ternary(ty, depth),
        }
    }

    fn closure(&mut self, depth: u32) -> Expr {
        let text = match self.choices.below(4) {
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
        Expr::new(text, Range::ANY)
    }

    fn ternary(&mut self, ty: &Ty, depth: u32) -> Expr {
        let condition = self.condition(depth);
        let (yes, no) = (self.expression(ty, depth), self.expression(ty, depth));
        Expr::new(
            format!("({condition} ? {} : {})", yes.text, no.text),
            yes.range.join(no.range),
        )
    }

    fn shadow(&mut self, ty: &Ty, depth: u32) -> Expr {
        if !self.profile.shadows {
            return self.expression(ty, depth);
        }
        let of = self.expression(ty, depth);
        let name = match ty {
            Ty::Struct(_) => *self.choices.pick(&["ddx", "ddy"]),
            _ => *self.choices.pick(&["ddx", "ddy", "dFdx", "Dy", "fwidth"]),
        };
        Expr::new(format!("{name}({})", of.text), Range::new(-8.0, 8.0))
    }

    /// An assignment, as an expression.
    fn assignment(&mut self, ty: &Ty, depth: u32) -> Expr {
        let value = self.kept(ty, depth);
        match self.path(ty, true, 0) {
            Some(place) => Expr::new(format!("({place} = {value})"), home(ty)),
            None => Expr::new(value, home(ty)),
        }
    }

    /// Two texture coordinates that depend on what is around.
    fn coordinates(&mut self, depth: u32) -> String {
        match self.choices.below(3) {
            0 => self.kept(&Ty::Vector(2), depth),
            _ => {
                let u = self.kept(&Ty::Float, depth);
                let v = self.kept(&Ty::Float, depth);
                format!("{u}, {v}")
            }
        }
    }

    /// A texture's name, if the program has textures.
    fn texture(&mut self) -> Option<String> {
        (self.textures > 0).then(|| format!("g{}", self.choices.below(self.textures)))
    }

    pub(super) fn sample_color(&mut self, depth: u32) -> Expr {
        match self.texture() {
            Some(texture) => {
                let at = self.coordinates(depth);
                Expr::new(
                    format!("texture2d_sample<{texture}>({at})"),
                    Range::new(0.0, 1.0),
                )
            }
            None => self.leaf(&Ty::Vector(3)),
        }
    }

    fn sample_alpha(&mut self, depth: u32) -> Expr {
        match self.texture() {
            Some(texture) => {
                let at = self.coordinates(depth);
                Expr::new(
                    format!("texture2d_sample_alpha<{texture}>({at})"),
                    Range::new(0.0, 1.0),
                )
            }
            None => self.leaf(&Ty::Float),
        }
    }

    /// One of the rows, on operands of the kinds that it takes, for a result of this type.
    fn row(&mut self, rows: &[WrittenRow], ty: &Ty, depth: u32) -> Expr {
        if rows.is_empty() {
            return self.leaf(ty);
        }
        let row = self.choices.pick(rows).clone();
        self.apply(&row, ty, depth)
    }

    fn apply(&mut self, row: &WrittenRow, ty: &Ty, depth: u32) -> Expr {
        // What stands for `Int` and `Word` must be the same type throughout the row.
        let generic = match ty {
            Ty::Int | Ty::Uint => ty.clone(),
            _ => self.choices.pick(&[Ty::Int, Ty::Uint]).clone(),
        };
        let (mut texts, mut ranges) = (Vec::new(), Vec::new());
        for (i, kind) in row.operands().iter().enumerate() {
            let operand_ty = match kind {
                Kind::Float
                    if matches!(ty, Ty::Vector(_)) && (i == 0 || !self.choices.one_in(6)) =>
                {
                    ty.clone()
                }
                Kind::Float => Ty::Float,
                Kind::I32 => Ty::Int,
                Kind::U32 => Ty::Uint,
                Kind::Bool => Ty::Bool,
                Kind::Int | Kind::Word => generic.clone(),
            };
            let operand = self.operand(row, i, &operand_ty, depth);
            texts.push(operand.text);
            ranges.push(operand.range);
        }
        Expr::new(row.write(&texts), row.image(&ranges))
    }

    /// An operand where the row is tame, nearly always.
    fn operand(&mut self, row: &WrittenRow, place: usize, ty: &Ty, depth: u32) -> Expr {
        let operand = self.expression(ty, depth);
        let divisor = row.op.info().fault.is_some() && place == 1;
        if self.wild(16) {
            return operand;
        }
        if divisor {
            return Expr::new(
                match ty {
                    Ty::Uint => format!("(({} & ((uint)7)) + ((uint)1))", operand.text),
                    _ => format!("(({} & 7) + 1)", operand.text),
                },
                Range::new(1.0, 8.0),
            );
        }
        match ty {
            Ty::Float | Ty::Vector(_) => self.fit(operand, ty, row.domain(place)),
            Ty::Int | Ty::Uint if row.op.info().class == Class::Discrete => {
                let reach = home(ty).widened(0.5);
                match reach.contains(operand.range) {
                    true => operand,
                    false => self.fit(operand, ty, home(ty)),
                }
            }
            _ => operand,
        }
    }

    /// The expression brought within the range, if it may lie outside.
    pub(super) fn fit(&mut self, e: Expr, ty: &Ty, range: Range) -> Expr {
        if range.contains(e.range) || self.wild(24) {
            return e;
        }
        let text = e.text;
        let text = match ty {
            Ty::Float | Ty::Vector(_) => {
                let (middle, half) = (range.middle(), range.width() / 2.0);
                let shape = match self.choices.below(8) {
                    0 | 1 => format!("sin({text})"),
                    2 | 3 => format!("tanh({text} * 0.25)"),
                    // Written twice, so only what is short.
                    4 if text.len() < 16 => format!("({text} / (2.0 + abs({text})))"),
                    5 => format!("(2.0 * fract({text} * 0.375) - 1.0)"),
                    6 if *ty == Ty::Float => {
                        let clamped = format!("clamp({text}, {:?}, {:?})", range.low, range.high);
                        return Expr::new(clamped, range);
                    }
                    _ => format!("cos({text})"),
                };
                match middle == 0.0 {
                    true => format!("({half:?} * {shape})"),
                    false => format!("({middle:?} + {half:?} * {shape})"),
                }
            }
            Ty::Int => {
                let mask = mask_below(range.width());
                let low = negative_in_parentheses(range.low as i64);
                format!("(({text} & {mask}) + {low})")
            }
            Ty::Uint => {
                let mask = mask_below(range.high);
                format!("({text} & ((uint){mask}))")
            }
            _ => return Expr::new(text, e.range),
        };
        Expr::new(text, range)
    }
}

/// What variables of the type are kept within.
pub(super) fn home(ty: &Ty) -> Range {
    match ty {
        Ty::Int => Range::INT,
        Ty::Uint => Range::UINT,
        Ty::Bool => Range::new(0.0, 1.0),
        _ => Range::FLOAT,
    }
}

/// The greatest 2ᵏ − 1 that is not above `x`.
fn mask_below(x: f64) -> u32 {
    (1 << (x as u32 + 1).ilog2()) - 1
}

/// So that no `--` comes about.
fn negative_in_parentheses(n: i64) -> String {
    if n < 0 {
        format!("({n})")
    } else {
        n.to_string()
    }
}
